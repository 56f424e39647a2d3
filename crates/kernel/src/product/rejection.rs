//! Why a certificate was not accepted.

use crate::claims::FailedClaim;
use crate::obligation::Failure;
use graph::Stuck;

/// Why a certificate was not accepted.
#[derive(Clone, Debug)]
pub enum Rejection {
    /// The certificate itself makes no sense.
    Malformed(String),
    /// Symbolic execution could not go on.
    Stuck(Stuck),
    /// A frame address is used as data on both sides and no local object is claimed there.
    Unbound {
        /// Offset in the original's frame.
        original: i64,
        /// Offset in the candidate's frame.
        candidate: i64,
    },
    /// Claims about loops that do not hold; without them more may be provable than with them.
    Claims(Vec<FailedClaim>),
    /// Something that must hold could not be shown.
    Obligation {
        /// What, in words.
        what: String,
        /// Instruction addresses of the two sides.
        places: [u64; 2],
        /// Why.
        failure: Failure,
    },
}

/// How the description of a read begins that the original does not make.
pub(crate) const UNMADE_READ: &str = "the candidate reads";

/// What is said where the two sides are at events that do not go together.
pub(crate) fn apart([original, candidate]: [&str; 2]) -> String {
    format!("the original {original}, the candidate {candidate}")
}

/// What a side does that is at a loop head.
pub(crate) const LOOPS: &str = "loops";

impl Rejection {
    /// The places where the original is at a loop head and the candidate at something that does not go with it.
    pub fn lone_loop(&self) -> Option<[u64; 2]> {
        match self {
            Rejection::Obligation { what, places, .. } if what.starts_with(&apart([LOOPS, ""])) => Some(*places),
            _ => None,
        }
    }

    /// Does the candidate read what the original is not known to access?
    pub fn is_unmade_read(&self) -> bool {
        matches!(self, Rejection::Obligation { what, .. } if what.starts_with(UNMADE_READ))
    }
}

impl From<Stuck> for Rejection {
    fn from(stuck: Stuck) -> Rejection {
        Rejection::Stuck(stuck)
    }
}

/// A failure without a solver's reason: the two sides do not have the same shape.
pub(crate) fn unknown() -> Failure {
    Failure::Unknown("not shown".to_string())
}
