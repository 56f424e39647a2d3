//! Why there is no guard.

use std::fmt;

/// What stands in the way of a guarded object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// Part of the condition that no code can find out, and why.
    Condition {
        /// The part, as certificates write it.
        part: String,
        /// What is wrong with it.
        why: String,
    },
    /// Something about one of the two files.
    Object {
        /// Whose: `the original` or `the candidate`.
        whose: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

impl Refusal {
    pub(crate) fn original(why: impl Into<String>) -> Refusal {
        Refusal::Object { whose: "the original", why: why.into() }
    }

    pub(crate) fn candidate(why: impl Into<String>) -> Refusal {
        Refusal::Object { whose: "the candidate", why: why.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Condition { part, why } => {
                write!(f, "the condition `{part}` cannot be checked at run time: {why}")
            }
            Refusal::Object { whose, why } => write!(f, "{whose}: {why}"),
        }
    }
}

impl std::error::Error for Refusal {}
