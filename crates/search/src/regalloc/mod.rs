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
mod explain;

pub use explain::{reason, rejection};
pub use infer::{Failure, Inference, Need, Source, infer};

use kernel::CheckedProof;
use kernel::regalloc::{Claim, Rejected};
use machine::{Function, Names};

/// What came of a pair.
pub enum Answer {
    /// The kernel accepted the equations.
    Proved(CheckedProof, Claim),
    /// A need was not met.
    Unmet(Box<Failure>),
    /// The kernel does not see it.
    Rejected(Rejected),
}

/// Decides about a pair.
pub fn decide(original: &Function, candidate: &Function, _names: &Names) -> Answer {
    match infer(original, candidate) {
        Ok(inference) => {
            let claim = inference.claim();
            match kernel::regalloc::check(original, candidate, &claim) {
                Ok(proof) => Answer::Proved(proof, claim),
                Err(rejected) => Answer::Rejected(rejected),
            }
        }
        Err(failure) => Answer::Unmet(failure),
    }
}
