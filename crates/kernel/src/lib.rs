//! Certificates and the checker that turns them into proofs.
//!
//! [`check`] is the only way to a [`CheckedProof`]. It believes the two functions as lifted, the term layer, symbolic
//! execution and a solver's `unsat`; it believes nothing that the certificate says. It counts what it does and looks at
//! no clock: who has no more time trips the solver's interrupt.
//!
//! # The theorem (functions of object files)
//!
//! Let T be the original and R the candidate. A *run* goes from *event* to event: a call that is not executed in passing, or the
//! return. If `check` returns a proof with the assumptions A and the condition C, then for every start state in which A and C hold and on which T does
//! nothing undefined: R does nothing that faults; both make the same events in the same order, with equal callees, arguments and
//! world at each; if T returns so does R, with equal results and an equal world, the registers of its caller restored; and if T
//! makes no further event for ever, neither does R return or call. Undefined behaviour of T behind an event excuses nothing at or
//! before that event. Values that nobody defined are chosen once: R's by whoever wants to tell the two apart, T's not at all.
//!
//! # Why it holds
//!
//! A [`objects::product::Point`] *describes* a pair of states under a valuation v of the term variables if the terms of both states have
//! the states' values under v, v satisfies the condition, and each [`objects::obligation::Fact`] is true of T's run so far. The walk
//! (`product`) keeps this **invariant**: whenever both runs are at a pair of product points together, some point that the walk has
//! followed describes them. By induction over the pairs of events and claimed heads that a pair of runs passes:
//!
//! - *Base.* `walk_segments` begins with both entries, in states that satisfy the certificate's condition if it states one
//!   ([`Precondition`]: over entry values that both sides share, nothing else). Inputs are the same variables on both sides; what is not an input (the rest
//!   of a frame, flags, upper parts of narrow arguments) is a variable for each side. The condition is what A says of the entry:
//!   contracts (`entry_condition`), values of statics.
//! - *Step of T.* `advance` executes T to its next events: `symbolic` returns arrivals whose guards cover every run that does
//!   not fault, `eliminate` and `restrict` only put equal terms for equal terms. T's faults, accesses and copies become facts
//!   (`learn`): T would be undefined otherwise.
//! - *Step of R.* `follow` and `pass` execute R under the condition of one arrival. Every arrival goes on, unless its condition cannot
//!   hold (`reach`, `is_impossible`: proved, never guessed). A fault of R is refuted (`check_faults`), before R is taken to have
//!   arrived if the path ends in it. Each access of R to the world is one that T makes possible on the same edge (`check_accesses`):
//!   a write by T's writes or a writable object that exists; a read also by a chunk or page that T touches.
//! - *Who moves.* `next_move` is free to choose: soundness needs only that no pair of arrivals is dropped, and that every cycle of the
//!   product moves both sides, or is bounded (below). It reads the certificate; a bad choice ends in a rejection.
//! - *Calls* (`calls::check_call`). Callee, arguments, memory, alignment of the stack are proved equal or good. Then one callee in
//!   one state does one thing: results and world behind the call are the same new variables. What a callee cannot know keeps its
//!   terms (locals that have not escaped); what it may have freed is no longer readable (`Fact::called`).
//! - *Returns* (`exits::check_return`). Results, world, kept registers, stack pointer and direction flag are compared.
//! - *Loop heads* (`claims`). The states that reach a claimed pair of heads first are its start; what the claim forgets becomes new variables, the
//!   memories too if the claim says so (`forget`). The claim itself is assumed there, and proved on **every** edge that leads to
//!   the pair, the first ones included (`check_arrival`): definitions and conditions hold, what was kept is unchanged
//!   (`check_kept`), what was known at the first entry is known again (`check_entered`), memories are the same but for the stated
//!   changes (`check_memories`). So the start describes the states of every later visit as well: induction over visits.
//! - *Every cycle is cut.* `Checker::new` refuses a certificate whose heads leave a cycle of either program uncut
//!   (`Loops::are_cut`), so a segment has finitely many moves, and the order of pairs of calls (`Key`) goes up on each edge.
//!
//! **Termination.** A cycle of the product that moves both sides makes R diverge where T does. R alone may go round only with a term that
//! becomes smaller as an unsigned number in each round (`check_alone`). T alone may go round only where nothing of the loop can be observed and
//! some state leaves it (`check_ends`); `finite-loops` is printed then.
//!
//! **Side conditions**, each checked where it is named: bindings cut no object of T and lie in no caller's frame (`check_extents`);
//! objects that share a name are the same (`same_objects`); neither function is called in another convention than it declares, calls
//! something that returns twice, or has accesses that may be volatile and cannot be followed (`walk_segments`); what `symbolic` finds
//! no words for is an error, never a skip; an assumption that the original's `Undefined` does not grant is refused at the end of
//! [`check`], wherever it was made. Facts about other functions are lemmas with a proof of their own ([`lemma`]), by induction
//! over the depth of calls.
//!
//! **Identical code** (`identical`) is proved by comparing everything that a graph's meaning depends on, without a walk.
//!
//! The checkers of register allocations ([`regalloc`]) and of C kernels ([`nests`]) state theirs in their own headers.
//!
//! Trust: full.

mod proof;
mod objects;
pub mod regalloc;
pub mod nests;

pub use objects::certificate::{
    BlockClaim, Certificate, Change, ChangeClaim, EdgeClaim, LocalClaim, MemoryClaim, PointClaim, VERSION,
};
pub use objects::claims::FailedClaim;
pub use objects::effort::{Answerer, EffortClaim, HardClaim};
pub use objects::entailment::Entailment;
pub use objects::expression::{Expression, FloatWord, Operator};
pub use objects::identical::are_identical;
pub use objects::lemma;
pub use objects::location::{Location, Spot};
pub use objects::obligation::Failure;
pub use objects::pair::Pair;
pub use objects::precondition::Precondition;
pub use objects::product::{EventKind, MemoryAt, MemoryPart, Obligation, Rejection};
pub use proof::{CheckedProof, Counts};

use objects::{claims, product, same_objects};
use program::{Assumption, Folded, Function};
use solver::{Record, Solver};
use symbolic::{Binding, Context};
use term::Arena;

/// Checks a certificate for two functions. The arena is the one that was prepared with them.
pub fn check(
    arena: &mut Arena,
    pair: &Pair,
    certificate: &Certificate,
    solver: &mut Solver,
) -> Result<CheckedProof, Rejection> {
    let [original, candidate] = pair.functions();
    for (function, hash) in [(original, &certificate.original_hash), (candidate, &certificate.candidate_hash)] {
        if function.hash != *hash {
            return Err(Rejection::Malformed(format!("the certificate is about another version of {}", function.name)));
        }
    }
    let bindings = certificate.bindings().map_err(Rejection::Malformed)?;
    let precondition = certificate.precondition(original, arena).map_err(Rejection::Malformed)?;
    // Terms that were made with an axiom are no others' business.
    if let Some(axiom) = arena.allowed_axioms().into_iter().find(|axiom| !precondition.axioms().contains(axiom)) {
        return Err(Rejection::Malformed(format!(
            "the programs were read with the axiom {axiom}, which is not stated"
        )));
    }
    match &certificate.effort {
        Some(effort) => {
            solver.set_efforts(&effort.limits().map_err(Rejection::Malformed)?);
            solver.expect(effort.record().map_err(Rejection::Malformed)?);
        }
        None => solver.expect(Record::default()),
    }
    let extents = check_extents(original, &bindings).map_err(Rejection::Malformed)?;
    same_objects::check_objects(original, candidate)?;
    same_objects::check_aligned_locals(original, &bindings)?;
    let definitions: Vec<Assumption> = same_objects::meant_otherwise(original, candidate);
    // Whoever claims more is held to it.
    if certificate.is_plain() && are_identical(arena, original, candidate) {
        // Terms may be the same because of an axiom.
        let stated = Precondition::default().with_axioms(arena.used_axioms());
        let counts = Counts::default();
        return Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), definitions, counts).under(stated));
    }
    let mut frames = claims::Frames::new();
    let (mut context, counts) = loop {
        let mut context = Context::new(&mut *arena, original, candidate, bindings.clone());
        context.interrupt = solver.interrupt().clone();
        context.assumptions.extend(extents.iter().chain(&definitions).cloned());
        if pair.is_called_as_told() {
            context.assume(Assumption::Interface(original.name.clone()));
        }
        if let Some(folded) = original.folded {
            context.assume(Assumption::Definition(original.name.clone()));
            if folded == Folded::WithLocals {
                context.assume(Assumption::UninitUnread(None));
            }
        }
        context.stated = precondition.stated(original);
        context.keeps_apart = precondition.keeps_apart();
        let mut checker = product::Checker::new(&mut context, solver, certificate, &precondition)?;
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
    let stated = precondition.with_axioms(context.arena.used_axioms());
    Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), assumptions, counts).under(stated))
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
