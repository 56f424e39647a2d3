//! Certificates and the checker that turns them into proofs.
//!
//! [`check`] is the only way to a [`CheckedProof`]. It believes the two functions as lifted, the term layer, symbolic
//! execution and a solver's `unsat`; it believes nothing that the certificate says.
//!
//! Trust: full, and therefore small.

mod certificate;
mod pair;
mod proof;
mod identical;
mod same_objects;
mod product;
mod promised;
mod location;
mod expression;
mod aligned;
mod changes;
mod claims;
mod pointers;
mod restrict;
mod eliminate;
mod rows;
mod choices;
mod obligation;
mod exits;
pub mod lemma;
pub mod regalloc;
pub mod updates;

pub use certificate::{
    BlockClaim, Certificate, Change, ChangeClaim, EdgeClaim, LocalClaim, MemoryClaim, PointClaim, VERSION,
};
pub use claims::FailedClaim;
pub use expression::Expression;
pub use identical::are_identical;
pub use location::{Location, Spot};
pub use obligation::Failure;
pub use pair::Pair;
pub use product::{EventKind, MemoryAt, MemoryPart, Obligation, Rejection};
pub use proof::{CheckedProof, Counts};

use program::{Assumption, Folded, Function};
use solver::Solver;
use std::time::Instant;
use symbolic::{Binding, Context};
use term::Arena;

/// Checks a certificate for two functions. The arena is the one that was prepared with them.
pub fn check(
    arena: &mut Arena,
    pair: &Pair,
    certificate: &Certificate,
    solver: &mut Solver,
    deadline: Option<Instant>,
) -> Result<CheckedProof, Rejection> {
    let [original, candidate] = pair.functions();
    for (function, hash) in [(original, &certificate.original_hash), (candidate, &certificate.candidate_hash)] {
        if function.hash != *hash {
            return Err(Rejection::Malformed(format!("the certificate is about another version of {}", function.name)));
        }
    }
    let bindings = certificate.bindings().map_err(Rejection::Malformed)?;
    let extents = check_extents(original, &bindings).map_err(Rejection::Malformed)?;
    same_objects::check_objects(original, candidate)?;
    same_objects::check_aligned_locals(original, &bindings)?;
    let definitions: Vec<Assumption> = same_objects::meant_otherwise(original, candidate);
    // Whoever claims more is held to it.
    if certificate.is_plain() && are_identical(arena, original, candidate) {
        return Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), definitions, Counts::default()));
    }
    let mut frames = claims::Frames::new();
    let (mut context, counts) = loop {
        let mut context = Context::new(&mut *arena, original, candidate, bindings.clone());
        context.deadline = deadline;
        context.assumptions.extend(extents.iter().chain(&definitions).cloned());
        if let Some(folded) = original.folded {
            context.assume(Assumption::Definition(original.name.clone()));
            if folded == Folded::WithLocals {
                context.assume(Assumption::UninitUnread(None));
            }
        }
        let mut checker = product::Checker::new(&mut context, solver, certificate)?;
        checker.frames.clone_from(&frames);
        checker.walk()?;
        let (counts, late) = (checker.counts, checker.late);
        // If late, some edge brings something else to a place than was taken to be there.
        frames = checker.frames;
        if !late {
            break (context, counts);
        }
    };
    if !context.bindings.is_empty() {
        context.assume(Assumption::LocalAddressOpaque);
    }
    if context.arena.used_nan_payload() {
        context.assume(Assumption::NanPayload);
    }
    if let Some(assumption) = context.assumptions.iter().find(|a| !original.undefined.grants(a)) {
        let what = Obligation::Allowed(assumption.clone());
        return Err(Rejection::Obligation { what, places: [0, 0], failure: Failure::NotShown });
    }
    let assumptions = context.assumptions.iter().cloned().collect();
    Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), assumptions, counts))
}

/// The original's objects are what its debug information says; a claim may not cut one. Where there is none, the
/// extent is an assumption.
fn check_extents(original: &Function, bindings: &[Binding]) -> Result<Vec<Assumption>, String> {
    let mut assumed = Vec::new();
    for interval in bindings.iter().filter_map(|b| b.original) {
        let end = interval.offset.saturating_add_unsigned(interval.size);
        let mut known = false;
        if end > original.argument_limit() {
            return Err("a local object lies in the caller's frame".to_string());
        }
        for local in &original.locals {
            let local_end = local.offset.saturating_add_unsigned(local.size);
            if local.offset >= end || local_end <= interval.offset {
                continue;
            }
            if local.offset < interval.offset || local_end > end {
                return Err(format!("a local object cuts the original's `{}`", local.name));
            }
            known = true;
        }
        if !known {
            assumed.push(Assumption::LocalExtent { offset: interval.offset, size: interval.size });
        }
    }
    Ok(assumed)
}
