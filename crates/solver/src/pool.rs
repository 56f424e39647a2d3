//! Solver processes shared by the threads that work on function pairs.
//!
//! A thread takes a [`Solver`] for one function pair and returns its processes by dropping it. Processes are reset in
//! between, the cache and the known states belong to one pair: no answer depends on which pairs went before, hence
//! not on the number of threads.

use crate::backend::Backend;
use crate::{Solver, SolverOptions, SolverStatistics};
use interrupt::Interrupt;
use std::sync::{Arc, Mutex, PoisonError};

/// Hands out solvers.
#[derive(Clone)]
pub struct SolverPool {
    shared: Arc<Shared>,
}

/// What the solvers of one pool give back.
pub(crate) struct Shared {
    options: SolverOptions,
    idle: Mutex<Idle>,
}

#[derive(Default)]
struct Idle {
    backends: Vec<Vec<Backend>>,
    statistics: SolverStatistics,
}

impl SolverPool {
    /// A pool whose solvers run with these options.
    pub fn new(options: SolverOptions) -> SolverPool {
        SolverPool { shared: Arc::new(Shared { options, idle: Mutex::default() }) }
    }

    /// A solver for one function pair.
    pub fn take(&self, interrupt: Interrupt) -> Solver {
        let options = SolverOptions { interrupt, ..self.shared.options.clone() };
        let idle = self.shared.lock().backends.pop();
        let backends = idle.unwrap_or_else(|| {
            options.commands.iter().map(|command| Backend::new(command, options.memory_mb)).collect()
        });
        Solver::with_backends(options, backends, Some(Arc::clone(&self.shared)))
    }

    /// What the returned solvers did, all together.
    pub fn statistics(&self) -> SolverStatistics {
        self.shared.lock().statistics
    }
}

impl Shared {
    // A thread that panicked while it held the lock left a list of backends, which is always valid.
    fn lock(&self) -> std::sync::MutexGuard<'_, Idle> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn give_back(&self, mut backends: Vec<Backend>, statistics: &SolverStatistics) {
        backends.iter_mut().for_each(Backend::reset);
        let mut idle = self.lock();
        idle.statistics.add(statistics);
        idle.backends.push(backends);
    }
}
