//! Why there is no answer, in kinds for programs and in words for people.

use kernel::{Failure, Rejection};
use program::{Function, Side};
use std::fmt;
use symbolic::Stuck;

/// Why there is no answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// Machine-readable kind.
    pub kind: ReasonKind,
    /// What and where, for people.
    pub detail: String,
    /// Of a timeout: what the first try to prove the pair failed at.
    pub tried: Option<String>,
}

/// Kinds of reasons, in the words of the JSON report.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum ReasonKind {
    Unsupported,
    Timeout,
    NoCorrelation,
    NoInvariant,
    SolverUnknown,
    MissingFunction,
    Vacuous,
    UndefinedOriginal,
    Race,
    OutOfMemory,
    Internal,
}

impl ReasonKind {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ReasonKind::Unsupported => "unsupported",
            ReasonKind::Timeout => "timeout",
            ReasonKind::NoCorrelation => "no-correlation",
            ReasonKind::NoInvariant => "no-invariant",
            ReasonKind::SolverUnknown => "solver-unknown",
            ReasonKind::MissingFunction => "missing-function",
            ReasonKind::Vacuous => "vacuous",
            ReasonKind::UndefinedOriginal => "undefined-original",
            ReasonKind::Race => "race",
            ReasonKind::OutOfMemory => "out-of-memory",
            ReasonKind::Internal => "internal",
        }
    }
}

impl Reason {
    /// A reason.
    pub fn new(kind: ReasonKind, detail: impl Into<String>) -> Reason {
        Reason { kind, detail: detail.into(), tried: None }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.detail)?;
        self.tried.iter().try_for_each(|what| write!(f, "; tried first: {what}"))
    }
}

/// What to tell the user about a rejected certificate.
pub(crate) fn reason(rejection: &Rejection, original: &Function, candidate: &Function) -> Reason {
    let place = |side: Side, address: u64| {
        let function = if side == Side::Original { original } else { candidate };
        let line = function.lines.find(address).map_or(String::new(), |l| format!(" ({}:{})", l.file, l.line));
        format!("{}+{address:#x}{line}", function.name)
    };
    match rejection {
        Rejection::Malformed(what) => Reason::new(ReasonKind::NoCorrelation, what),
        Rejection::Stuck(Stuck::Unsupported { side, address, what }) => {
            Reason::new(ReasonKind::Unsupported, format!("{what} at {} of the {}", place(*side, *address), side.name()))
        }
        Rejection::Stuck(Stuck::Loop { side, address }) => {
            Reason::new(ReasonKind::Unsupported, format!("loop at {}", place(*side, *address)))
        }
        Rejection::Claims(failed) => {
            Reason::new(ReasonKind::NoInvariant, format!("{} claims about loops do not hold", failed.len()))
        }
        Rejection::Stuck(Stuck::OutOfBudget) => Reason::new(ReasonKind::OutOfMemory, "too many terms"),
        Rejection::Stuck(Stuck::Unbound { side, address, .. }) => Reason::new(
            ReasonKind::NoCorrelation,
            format!("no local object for the frame address at {} of the {}", place(*side, *address), side.name()),
        ),
        Rejection::Unbound { .. } => {
            Reason::new(ReasonKind::NoCorrelation, "the local objects of the two frames do not correspond")
        }
        Rejection::Obligation { what, places, failure } => {
            let at = format!("{} / {}", place(Side::Original, places[0]), place(Side::Candidate, places[1]));
            match failure {
                Failure::Refuted(_) => {
                    let not = if what.is_equality() { " not shown equal" } else { "" };
                    Reason::new(ReasonKind::NoCorrelation, format!("{what}{not} at {at}"))
                }
                Failure::NotShown => Reason::new(ReasonKind::NoCorrelation, format!("{what} at {at}")),
                Failure::Unknown(why) => Reason::new(ReasonKind::SolverUnknown, format!("{what} at {at}: {why}")),
            }
        }
    }
}
