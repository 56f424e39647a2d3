//! What is asked and what comes back.

use std::fmt;
use term::TermId;
use term::eval::Model;

/// A question: does the goal follow from the hypotheses, for all values of the variables?
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Query {
    /// Truth-valued terms taken for granted.
    pub hypotheses: Vec<TermId>,
    /// Truth-valued term to prove.
    pub goal: TermId,
}

impl Query {
    /// A question without hypotheses.
    pub fn goal(goal: TermId) -> Query {
        Query { hypotheses: Vec::new(), goal }
    }

    /// A question.
    pub fn new(hypotheses: impl Into<Vec<TermId>>, goal: TermId) -> Query {
        Query { hypotheses: hypotheses.into(), goal }
    }
}

/// The answer to a [`Query`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// The goal follows: no state satisfies the hypotheses and falsifies the goal.
    Proved,
    /// A state, checked with the evaluator, that satisfies the hypotheses and falsifies the goal.
    Refuted(Model),
    /// Neither, and why.
    Unknown(Why),
}

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Why {
    /// The work was interrupted: whoever waited has no more time.
    Timeout,
    /// The solver used up its resource limit.
    ResourceLimit,
    /// The solver ran out of its memory.
    OutOfMemory,
    /// The solver said `unknown`, with its reason.
    GaveUp(String),
    /// The solver's model does not satisfy the question under the evaluator: it depends on what the solver does not
    /// see, such as the meaning of an opaque function or a load that was too costly to expand.
    ModelRejected,
    /// Two solvers contradict each other.
    Disagreement,
    /// No solver could be run, or it died or spoke another language; with the details.
    SolverFailed(String),
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Timeout => write!(f, "time limit reached"),
            Why::ResourceLimit => write!(f, "resource limit of the solver reached"),
            Why::OutOfMemory => write!(f, "the solver ran out of memory"),
            Why::GaveUp(reason) => write!(f, "the solver gave up: {reason}"),
            Why::ModelRejected => write!(f, "the solver's model does not hold under evaluation"),
            Why::Disagreement => write!(f, "the solvers contradict each other"),
            Why::SolverFailed(detail) => write!(f, "{detail}"),
        }
    }
}
