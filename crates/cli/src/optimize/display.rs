//! What a run shows while it goes on: on a terminal lines that change, elsewhere a line for each improvement. And its journal.

use super::note;
use crate::status::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use optimize::event::Event;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The display of a run.
pub struct Display {
    bar: ProgressBar,
    stopped: Arc<AtomicBool>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    journal: Option<File>,
    phase: &'static str,
    best: Option<String>,
    now: String,
    versions: usize,
    tried: usize,
    proved: usize,
    refuted: usize,
    unknown: usize,
    search: String,
}

impl Display {
    /// A display, and a journal if there is a name for one.
    pub fn new(journal: Option<&Path>) -> Result<Display, Failure> {
        let journal = match journal {
            Some(path) => Some(File::create(path).map_err(|e| Failure(format!("{}: {e}", path.display())))?),
            None => None,
        };
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        if std::io::stderr().is_terminal() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Ok(Display { bar, stopped: interrupts()?, state: Mutex::new(State { journal, ..State::default() }) })
    }

    /// Has the user had enough?
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Something happened.
    pub fn tell(&self, event: &Event) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(journal) = &mut state.journal {
            // A full disk does not end the search.
            let _ = writeln!(journal, "{}", event.line());
        }
        let line = state.hear(event);
        self.bar.set_message(state.message());
        drop(state);
        if let Some(line) = line {
            self.bar.suspend(|| note(&line));
        }
    }

    /// The end.
    pub fn close(&self) {
        self.bar.finish_and_clear();
    }
}

/// A flag that Ctrl-C sets. The second one ends the process.
fn interrupts() -> Result<Arc<AtomicBool>, Failure> {
    /// What shells say of a process that Ctrl-C ended.
    const ENDED: i32 = 130;
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let failed = |error: std::io::Error| Failure(format!("interrupts cannot be noted: {error}"));
        signal_hook::flag::register_conditional_shutdown(signal, ENDED, Arc::clone(&flag)).map_err(failed)?;
        signal_hook::flag::register(signal, Arc::clone(&flag)).map_err(failed)?;
    }
    Ok(flag)
}

impl State {
    /// Counts; the line that is shown for good, if there is one.
    fn hear(&mut self, event: &Event) -> Option<String> {
        let gain = |speedup: &Option<f64>, bytes: usize| match speedup {
            Some(speedup) => format!("{speedup:.2}x"),
            None => format!("{bytes} bytes"),
        };
        match event {
            Event::Phase { name } => self.phase = name,
            Event::Note { what } => return Some(harmless(what)),
            Event::Proposed { .. } => self.versions += 1,
            Event::Timed { origin, speedup } => self.now = format!("{origin} {speedup:.2}x"),
            Event::Proving { origin } => {
                self.tried += 1;
                self.now.clone_from(origin);
            }
            Event::Proved { .. } => self.proved += 1,
            Event::Refuted { .. } => self.refuted += 1,
            Event::Unknown { .. } => self.unknown += 1,
            Event::Searching { name, proposals, seconds } => {
                let rate = *proposals as f64 / seconds.max(1e-3) / 1e6;
                self.search = format!(", {name}: {rate:.1} M proposals/s");
            }
            Event::Best { origin, speedup, bytes } => {
                let best = format!("{} {}", gain(speedup, *bytes), harmless(origin));
                self.best = Some(best.clone());
                return Some(format!("best proved: {best}"));
            }
            Event::Begin { .. } | Event::Useless { .. } | Event::Written { .. } => {}
        }
        None
    }

    fn message(&self) -> String {
        let best = self.best.as_ref().map_or(String::new(), |best| format!("  best {best}"));
        let counts = format!(
            "{} versions, {} tried, {} proved, {} refuted, {} unknown",
            self.versions, self.tried, self.proved, self.refuted, self.unknown
        );
        let now: String = harmless(&self.now).chars().take(48).collect();
        format!("{}{}  {counts}{best}  {now}", self.phase, self.search)
    }
}

/// Names come from files: control characters must not reach the terminal.
fn harmless(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
