//! Counts of what happened, for reports, benchmarks and audits.

use crate::effort::{Effort, Word, Work};

/// Counts of what happened.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SolverStatistics {
    /// Questions asked of us.
    pub queries: u64,
    /// Decided by the terms alone.
    pub trivial: u64,
    /// Refuted by a known state.
    pub known_state: u64,
    /// Found in the cache.
    pub cached: u64,
    /// Small questions about addresses, asked on the way.
    pub address_calls: u64,
    /// Asked of the SAT solver in this process.
    pub bit_calls: u64,
    /// Sent to solver processes.
    pub full_calls: u64,
    /// Questions that no solver answered within its limits.
    pub given_up: u64,
    /// Question files that could not be written.
    pub dump_failures: u64,
    /// Propagations of the SAT solver, and what the processes' work counts as.
    pub propagations: u64,
    /// Questions that were proved, by whose word that is: the terms', the SAT solver's, a process's.
    pub proved: [u64; 3],
    /// Refutations by the SAT solver, those of them that the clausal checker confirmed, and those that it did not.
    pub refutations: u64,
    /// See above.
    pub confirmed: u64,
    /// See above.
    pub doubtful: u64,
    /// Learnt clauses that were checked.
    pub clauses: u64,
}

impl SolverStatistics {
    /// Adds another count.
    pub fn add(&mut self, other: &SolverStatistics) {
        self.queries += other.queries;
        self.trivial += other.trivial;
        self.known_state += other.known_state;
        self.cached += other.cached;
        self.address_calls += other.address_calls;
        self.bit_calls += other.bit_calls;
        self.full_calls += other.full_calls;
        self.given_up += other.given_up;
        self.dump_failures += other.dump_failures;
        self.propagations += other.propagations;
        for (sum, more) in self.proved.iter_mut().zip(other.proved) {
            *sum += more;
        }
        self.refutations += other.refutations;
        self.confirmed += other.confirmed;
        self.doubtful += other.doubtful;
        self.clauses += other.clauses;
    }

    /// How many questions were proved by such a word.
    pub fn proved_by(&self, word: Word) -> u64 {
        self.proved[word as usize]
    }

    pub(crate) fn worked(&mut self, work: &Work) {
        self.propagations += work.propagations;
        self.refutations += work.refutations;
        self.confirmed += work.confirmed;
        self.doubtful += work.doubtful;
        self.clauses += work.clauses;
    }

    /// A process has worked: it counts as much as the SAT solver may do, if it did all that it may.
    pub(crate) fn consulted(&mut self, effort: Effort, gave_up: bool) {
        self.propagations += if gave_up { effort.propagations } else { effort.propagations / 10 };
    }
}
