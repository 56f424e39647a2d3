//! Strategy `regalloc`: did the register allocator keep the program?
//!
//! The paper's idea, generalised: both programs are walked in step ([`plan`]), what the events of the candidate read must
//! be what the events of the original read, and each such need is carried backwards over the blocks until it is met by an
//! equal computation or becomes an equation between a virtual register and the location that took its place ([`infer`]).
//! A need that cannot be met is an error of the allocator, or a gap of ours.
//!
//! Trust: none. The kernel checks the equations; a difference is shown by running both sides.

mod plan;
mod infer;
mod refute;
mod astray;
mod fork;
mod conditions;
mod explain;

pub use explain::{reason, rejection};
pub use infer::{Because, Failure, Inference, Need, Source, Unmet, infer};
pub use refute::{AllocationError, Used};

use crate::{Behaviour, Reason, Witness, WitnessKind};
use kernel::CheckedProof;
use kernel::regalloc::Claim;
use machine::{Function, Names};

/// What came of a pair.
pub enum Answer {
    /// The kernel accepted the equations.
    Proved(CheckedProof, Claim),
    /// The allocator made a mistake, seen in a run of both sides.
    Refuted(Box<AllocationError>),
    /// Neither.
    Unknown(Reason),
}

/// Decides about a pair.
pub fn decide(original: &Function, candidate: &Function, names: &Names) -> Answer {
    match infer(original, candidate) {
        Ok(inference) => {
            let claim = inference.claim();
            drop(inference);
            match kernel::regalloc::check(original, candidate, &claim) {
                Ok(proof) => Answer::Proved(proof, claim),
                Err(rejected) => Answer::Unknown(rejection(&rejected)),
            }
        }
        Err(mut failure) => {
            let gap = original.gap.as_ref().or(candidate.gap.as_ref());
            if let (None, false, Failure::Need(unmet)) = (gap, original.keeps_parts, &mut *failure)
                && let Some(error) = refute::refute(unmet, names)
            {
                return if is_lenient_too(original, candidate, names) {
                    Answer::Refuted(Box::new(error))
                } else {
                    Answer::Unknown(reason(original, candidate, names, &failure))
                };
            }
            if let (None, Failure::OutOfStep(_, product, point) | Failure::Events(_, product, point)) =
                (gap, &mut *failure)
                && let Some(error) = astray::refute(product, *point, names)
            {
                return Answer::Refuted(Box::new(error));
            }
            let product = match &mut *failure {
                Failure::Need(unmet) => &mut unmet.inference.product,
                Failure::OutOfStep(_, product, _) | Failure::Events(_, product, _) => &mut **product,
            };
            if let (None, Some(forbidden)) = (gap, &candidate.forbidden)
                && let Some(error) = astray::forbidden(product, forbidden)
            {
                return Answer::Refuted(Box::new(error));
            }
            if let (None, Some(error)) = (gap, fork::refute(product, names)) {
                return Answer::Refuted(Box::new(error));
            }
            let violation = original.violation.as_ref().or(candidate.violation.as_ref());
            Answer::Unknown(match (gap, violation) {
                (Some((line, what)), _) => rejection(&kernel::regalloc::Rejected::Unsupported(*line, what.clone())),
                (_, Some((line, what))) => rejection(&kernel::regalloc::Rejected::Violation(*line, what.clone())),
                _ => reason(original, candidate, names, &failure),
            })
        }
    }
}

/// Is there a mistake even where the original leaves values undefined that hardware clears, and no later pass deletes a
/// copy of the candidate?
fn is_lenient_too(original: &Function, candidate: &Function, names: &Names) -> bool {
    let (lenient, undeleted) = (original.lenient(), candidate.undeleted());
    if lenient.is_none() && undeleted.is_none() {
        return true;
    }
    match infer(lenient.as_ref().unwrap_or(original), undeleted.as_ref().unwrap_or(candidate)) {
        Ok(_) => false,
        Err(mut failure) => match &mut *failure {
            Failure::Need(unmet) => refute::refute(unmet, names).is_some(),
            _ => false,
        },
    }
}

/// The witness of an error, in the common form.
pub fn witness(error: &AllocationError) -> Witness {
    let behaviour = |used: &Used, what: String| Behaviour {
        summary: format!("{what} (line {}: {})", used.line, used.text),
        line: None,
    };
    Witness {
        kind: WitnessKind::Uninterpreted,
        registers: Vec::new(),
        memory: Vec::new(),
        calls: Vec::new(),
        original: behaviour(&error.original, format!("uses {}", error.needs)),
        candidate: behaviour(&error.candidate, format!("uses {}", error.holds)),
        replayed: vec!["interpreter"],
        allocation: Some(Box::new(error.clone())),
    }
}
