//! The checked statement.

use crate::Precondition;
use program::Assumption;

/// A statement whose certificate this kernel accepted. Fields are private and [`crate::check`] is the only
/// constructor: holding the value is the evidence.
#[derive(Debug)]
pub struct CheckedProof {
    original: String,
    candidate: String,
    assumptions: Vec<Assumption>,
    precondition: Precondition,
    counts: Counts,
}

/// How much work the check was; does not depend on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Product points visited.
    pub points: usize,
    /// Obligations discharged.
    pub obligations: usize,
    /// Those of them for which the SAT solver's word was needed.
    pub by_clauses: usize,
    /// Those of them for which a solver process's word was needed.
    pub by_process: usize,
}

impl CheckedProof {
    pub(crate) fn new(
        original: String,
        candidate: String,
        assumptions: Vec<Assumption>,
        counts: Counts,
    ) -> CheckedProof {
        CheckedProof { original, candidate, assumptions, precondition: Precondition::default(), counts }
    }

    /// The same statement about fewer start states.
    pub(crate) fn under(self, precondition: Precondition) -> CheckedProof {
        CheckedProof { precondition, ..self }
    }

    /// The condition on start states under which the statement holds.
    pub fn precondition(&self) -> &Precondition {
        &self.precondition
    }

    /// Name of the original function.
    pub fn original(&self) -> &str {
        &self.original
    }

    /// Name of the candidate function.
    pub fn candidate(&self) -> &str {
        &self.candidate
    }

    /// What the proof takes for granted, sorted.
    pub fn assumptions(&self) -> &[Assumption] {
        &self.assumptions
    }

    /// How much work the check was.
    pub fn counts(&self) -> Counts {
        self.counts
    }
}
