//! When a run ends before its work is done: somebody interrupts it, its time is over, or what it was to find is found.
//!
//! Whatever was decided until then is reported, and what was not is counted. The first interrupt asks for that; a second
//! one ends the process at once, as does the first where nobody asks for it.

use crate::status::{Failure, Status};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Why a run ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Why {
    /// Ctrl-C, or a polite kill.
    Interrupted,
    /// The limit of `--time-limit`.
    TimeLimit,
    /// The first difference, with `--fail-fast`.
    FailFast,
}

impl Why {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Why::Interrupted => "interrupted",
            Why::TimeLimit => "time-limit",
            Why::FailFast => "fail-fast",
        }
    }
}

/// Watches for reasons to stop.
pub struct Stop {
    interrupted: Arc<AtomicBool>,
    deadline: Option<Instant>,
    found: bool,
}

impl Stop {
    /// From now on interrupts are noted. The limit is for the whole run, from now on.
    pub fn watch(limit: Option<Duration>) -> Result<Stop, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let failed = |e: std::io::Error| Failure(format!("interrupts cannot be noted: {e}"));
            // In this order: the second signal finds what the first one has set.
            let status = i32::from(Status::INTERRUPTED);
            signal_hook::flag::register_conditional_shutdown(signal, status, Arc::clone(&interrupted))
                .map_err(failed)?;
            signal_hook::flag::register(signal, Arc::clone(&interrupted)).map_err(failed)?;
        }
        Ok(Stop { interrupted, deadline: limit.and_then(|limit| Instant::now().checked_add(limit)), found: false })
    }

    /// What was looked for is found.
    pub fn found(&mut self) {
        self.found = true;
    }

    /// Why to stop now, if there is a reason.
    pub fn now(&self) -> Option<Why> {
        if self.interrupted.load(Ordering::Relaxed) {
            Some(Why::Interrupted)
        } else if self.found {
            Some(Why::FailFast)
        } else {
            self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Why::TimeLimit)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_by_rank() {
        let mut stop = Stop::watch(None).expect("signals can be watched");
        assert_eq!(stop.now(), None);
        stop.deadline = Some(Instant::now());
        assert_eq!(stop.now(), Some(Why::TimeLimit));
        stop.found();
        assert_eq!(stop.now(), Some(Why::FailFast));
        stop.interrupted.store(true, Ordering::Relaxed);
        assert_eq!(stop.now(), Some(Why::Interrupted));
    }
}
