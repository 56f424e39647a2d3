//! Why there is no answer, in kinds for programs and in words for people.

use kernel::{EventKind, Failure, Obligation, Rejection};
use program::{Call, Callee, Function, Next, Side};
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
    Inlined,
    Vacuous,
    UndefinedOriginal,
    Race,
    OutOfMemory,
    Internal,
}

impl ReasonKind {
    /// All of them.
    pub const ALL: [ReasonKind; 12] = [
        ReasonKind::Unsupported,
        ReasonKind::Timeout,
        ReasonKind::NoCorrelation,
        ReasonKind::NoInvariant,
        ReasonKind::SolverUnknown,
        ReasonKind::MissingFunction,
        ReasonKind::Inlined,
        ReasonKind::Vacuous,
        ReasonKind::UndefinedOriginal,
        ReasonKind::Race,
        ReasonKind::OutOfMemory,
        ReasonKind::Internal,
    ];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            ReasonKind::Unsupported => "unsupported",
            ReasonKind::Timeout => "timeout",
            ReasonKind::NoCorrelation => "no-correlation",
            ReasonKind::NoInvariant => "no-invariant",
            ReasonKind::SolverUnknown => "solver-unknown",
            ReasonKind::MissingFunction => "missing-function",
            ReasonKind::Inlined => "inlined",
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

/// What an obligation says. Where only one side calls, by the name of the callee: an optimiser has put its code there.
fn in_words(what: &Obligation, places: &[u64; 2], functions: [&Function; 2]) -> String {
    let Obligation::SameEvent(kinds) = what else { return what.to_string() };
    let callee = |i: usize| {
        let called = functions[i].points.iter().filter(|point| point.last_address() == places[i]);
        let mut names = called.filter_map(|point| match &point.next {
            Next::Call(Call { callee: Callee::Named(name), .. }) => Some(name),
            _ => None,
        });
        names.next().filter(|_| kinds[i] == EventKind::Call).map_or(String::new(), |name| format!(" {name}"))
    };
    let [ours, theirs] = [callee(0), callee(1)];
    format!("the original {}{ours}, the candidate {}{theirs}", kinds[0], kinds[1])
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
            let claims = if failed.len() == 1 { "1 claim".to_string() } else { format!("{} claims", failed.len()) };
            let what = format!("{claims} about how the two versions' loops are related could not be shown");
            Reason::new(ReasonKind::NoInvariant, what)
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
                    let text = in_words(what, places, [original, candidate]);
                    // Some say by themselves what was not shown.
                    let not = if what.is_equality() && !text.contains("not ") { " not shown equal" } else { "" };
                    Reason::new(ReasonKind::NoCorrelation, format!("{text}{not} at {at}"))
                }
                Failure::NotShown => {
                    let text = in_words(what, places, [original, candidate]);
                    Reason::new(ReasonKind::NoCorrelation, format!("{text} at {at}"))
                }
                Failure::Unknown(why) => Reason::new(ReasonKind::SolverUnknown, format!("{what} at {at}: {why}")),
            }
        }
    }
}
