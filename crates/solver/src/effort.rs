//! What questions may cost, in counts that are the same on every machine.

/// What one question may cost.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Effort {
    /// Of a solver process, in Z3's units (about four million a second). The SAT solver in this process may have one
    /// conflict for thirty of them.
    pub resources: u64,
    /// Propagations of the SAT solver in this process (one to five million a second).
    pub propagations: u64,
}

/// What is allowed where nobody says anything else: first a little, since what is too hard as it stands is often easy
/// in another form, then as much as is ever worth it.
pub const EFFORTS: [Effort; 2] = [
    Effort { resources: 1_800_000, propagations: 6_000_000 },
    Effort { resources: 60_000_000, propagations: 60_000_000 },
];

impl Effort {
    /// So many times as much.
    pub fn times(self, factor: u32) -> Effort {
        let factor = u64::from(factor);
        Effort {
            resources: self.resources.saturating_mul(factor),
            propagations: self.propagations.saturating_mul(factor),
        }
    }

    /// Is nothing of the other one more?
    pub(crate) fn covers(self, other: Effort) -> bool {
        self.resources >= other.resources && self.propagations >= other.propagations
    }
}

/// What the SAT solver did.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Work {
    pub(crate) conflicts: u64,
    pub(crate) propagations: u64,
    /// Refutations, and those of them whose clauses were checked again, and those that were not confirmed.
    pub(crate) refutations: u64,
    pub(crate) confirmed: u64,
    pub(crate) doubtful: u64,
    /// Learnt clauses that were checked.
    pub(crate) clauses: u64,
}

/// Whose word a proof rests on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Word {
    /// Nobody's: the terms, the rewrite rules and the flattening of memories decided.
    Terms,
    /// The SAT solver in this process refuted clauses. Such a refutation can be checked.
    Clauses,
    /// A solver process said `unsat`.
    Process,
}
