//! Certificates and the checker that turns them into proofs.
//!
//! [`check`] is the only way to a [`CheckedProof`]. It believes the two functions as lifted, the term layer, symbolic
//! execution and a solver's `unsat`; it believes nothing that the certificate says.
//!
//! Trust: full, and therefore small.

mod certificate;
mod proof;
mod product;
mod obligation;
mod exits;

pub use certificate::{Certificate, LocalClaim, VERSION};
pub use obligation::Failure;
pub use product::Rejection;
pub use proof::{CheckedProof, Counts};

use graph::{Context, Function};
use solver::Solver;
use std::time::Instant;
use term::Arena;

/// Checks a certificate for two functions. The arena must have its registers declared and own the functions' terms.
pub fn check(
    arena: &mut Arena,
    original: &Function,
    candidate: &Function,
    certificate: &Certificate,
    solver: &mut Solver,
    deadline: Option<Instant>,
) -> Result<CheckedProof, Rejection> {
    for (function, hash) in [(original, &certificate.original_hash), (candidate, &certificate.candidate_hash)] {
        if function.hash != *hash {
            return Err(Rejection::Malformed(format!("the certificate is about another version of {}", function.name)));
        }
    }
    let bindings = certificate.bindings().map_err(Rejection::Malformed)?;
    let mut context = Context::new(arena, original, candidate, bindings);
    context.deadline = deadline;
    let mut checker = product::Checker::new(&mut context, solver)?;
    checker.walk()?;
    let counts = checker.counts;
    if context.arena.used_nan_payload() {
        context.assume(graph::Assumption::global("nan-payload"));
    }
    let assumptions = context.assumptions.iter().cloned().collect();
    Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), assumptions, counts))
}
