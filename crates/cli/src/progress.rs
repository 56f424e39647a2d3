//! A progress bar on stderr, when stderr is a terminal: how many are decided, how, and about how long it will take.

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use report::Summary;
use std::fmt::Write;
use std::time::Duration;

pub struct Progress {
    bar: ProgressBar,
}

/// Between two looks at the clock.
const TICK: Duration = Duration::from_millis(200);

impl Progress {
    /// A bar of that many functions. Draws nothing unless stderr is a terminal.
    pub fn new(functions: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(functions as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} functions  {elapsed}, {left}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("left", |state: &ProgressState, out: &mut dyn Write| {
                // Without anything decided there is nothing to reckon with.
                let _ = match state.pos() {
                    0 => write!(out, "time left not known yet"),
                    _ => write!(out, "about {:#} left", HumanDuration(state.eta())),
                };
            });
        bar.set_style(style);
        bar.enable_steady_tick(TICK);
        Progress { bar }
    }

    /// One more function is finished.
    pub fn advance(&self, name: &str) {
        // Names come from files: control characters must not reach the terminal.
        self.bar.set_message(name.chars().filter(|c| !c.is_control()).take(60).collect::<String>());
        self.bar.inc(1);
    }

    /// One more function is decided.
    pub fn decided(&self, summary: Summary) {
        let Summary { equivalent, different, unknown, .. } = summary;
        self.bar.set_message(format!("{equivalent} equivalent, {different} different, {unknown} unknown"));
        self.bar.inc(1);
    }

    /// Prints something without the bar in between.
    pub fn around<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
