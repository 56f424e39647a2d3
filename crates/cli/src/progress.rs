//! A progress bar on stderr, when stderr is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of that many functions. Draws nothing unless stderr is a terminal.
    pub fn new(functions: usize) -> Progress {
        let bar = ProgressBar::with_draw_target(Some(functions as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} functions  {elapsed}  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.set_style(style);
        Progress { bar }
    }

    /// One more function is finished.
    pub fn advance(&self, name: &str) {
        // Names come from files: control characters must not reach the terminal.
        self.bar.set_message(name.chars().filter(|c| !c.is_control()).take(60).collect::<String>());
        self.bar.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
