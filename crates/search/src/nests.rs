//! Strategy `updates`: kernels with known control, compared by what they leave in each cell.
//!
//! The kernel first compares hashes, which is fast. If they differ, terms decide, with choices by cases. If those
//! differ too, a concrete input is looked for on which the numbers differ; without one there is no `different`.
//!
//! Trust: none for `equivalent`, which is the kernel's word; a `different` is a run of both programs.

use crate::watchdog::interrupt_at;
use crate::{Reason, ReasonKind};
use kernel::CheckedProof;
use kernel::nests::{Claim, Method, UpdateRejection, base_assumptions, check_updates};
use program::{Assumption, Side};
use std::time::{Duration, Instant};
use updates::{Fault, FaultKind, Floating, Program};

mod code;
mod explain;
mod inputs;
mod instances;
mod lost;
mod race;
mod trace;
mod witness;

pub use code::check_object_code;
pub use explain::{Broken, Inside, Instance, Kind, Reading};
pub use inputs::{CORNERS, Inputs};
pub use witness::{KernelWitness, WitnessInput};

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct KernelOptions {
    /// Which floating-point rewriting is allowed.
    pub mode: Floating,
    /// Must every intermediate value agree, too?
    pub strict: bool,
    /// May subscripts leave their row inside the array?
    pub flat: bool,
    /// Is a proof without `hash-128` wanted, for a certificate?
    pub exact: bool,
    /// Seed of concrete inputs.
    pub seed: u64,
    /// Time limit.
    pub timeout: Duration,
}

/// The answer.
#[derive(Debug)]
pub enum KernelVerdict {
    /// The kernel accepted.
    Equivalent(CheckedProof),
    /// A run of both shows it.
    Different(Box<KernelWitness>),
    /// Neither.
    Unknown(Reason),
    /// The question is not complete: this parameter needs a value.
    Parameter(String),
}

/// The answer and what belongs to it.
#[derive(Debug)]
pub struct KernelOutcome {
    /// The answer.
    pub verdict: KernelVerdict,
    /// What every answer at these sizes assumes.
    pub assumptions: Vec<Assumption>,
    /// Updates of both programs, if they ran.
    pub updates: u64,
}

/// Compares two kernels.
pub fn check_kernels(original: &Program, candidate: &Program, options: KernelOptions) -> KernelOutcome {
    let deadline = Instant::now() + options.timeout;
    let method = if options.exact || options.mode == Floating::Reassoc { Method::Terms } else { Method::Hashes };
    let claim = Claim { mode: options.mode, method, strict: options.strict, flat: options.flat };
    let verdict = match race::find_races(original, candidate, options, deadline) {
        Some(found) => found,
        None => decide(original, candidate, claim, options, deadline),
    };
    let (assumptions, updates) = match &verdict {
        KernelVerdict::Equivalent(proof) => (proof.assumptions().to_vec(), proof.counts().obligations as u64),
        _ => (base_assumptions(original, candidate, claim).into_iter().collect(), 0),
    };
    KernelOutcome { verdict, assumptions, updates }
}

fn decide(
    original: &Program,
    candidate: &Program,
    claim: Claim,
    options: KernelOptions,
    deadline: Instant,
) -> KernelVerdict {
    let first = match check_updates(original, candidate, claim, &interrupt_at(deadline)) {
        Ok(proof) => return KernelVerdict::Equivalent(proof),
        Err(rejection) => rejection,
    };
    // Terms know more than hashes: choices by cases, conversions there and back.
    let rejection = match (&first, claim.method) {
        (UpdateRejection::Different { cases: true, .. }, Method::Hashes) => {
            let exact = Claim { method: Method::Terms, ..claim };
            match check_updates(original, candidate, exact, &interrupt_at(deadline)) {
                Ok(proof) => return KernelVerdict::Equivalent(proof),
                Err(UpdateRejection::OutOfBudget | UpdateRejection::OutOfTerms) => first,
                Err(other) => other,
            }
        }
        _ => first,
    };
    match rejection {
        UpdateRejection::Malformed(what) => unknown(ReasonKind::Unsupported, what),
        UpdateRejection::Unmatched(name) => {
            unknown(ReasonKind::Unsupported, format!("the global `{name}` is changed by one of the programs only"))
        }
        UpdateRejection::Start(name) => {
            let nowhere = kernel::nests::CellPair { original: 0, candidate: 0, cell: 0 };
            witness::differing(original, candidate, claim, (&nowhere, 0), options, deadline).map_or_else(
                || unknown(ReasonKind::Unsupported, format!("`{name}` starts with other values in the candidate")),
                KernelVerdict::Different,
            )
        }
        UpdateRejection::OutOfTerms => unknown(ReasonKind::OutOfMemory, "more terms than there is room for"),
        UpdateRejection::OutOfBudget => unknown(ReasonKind::Timeout, "out of time for comparing terms"),
        // A division that the original does not make traps on some input, or nothing is known about it.
        UpdateRejection::Division(line) => {
            let what = format!("line {line} of the candidate divides values that the original does not divide");
            witness::undefined_candidate(original, candidate, None, options, deadline)
                .map_or_else(|| unknown(ReasonKind::NoInvariant, what), KernelVerdict::Different)
        }
        UpdateRejection::Fault(Side::Original, fault) => unknown_fault(original, &fault, Side::Original),
        UpdateRejection::Fault(Side::Candidate, fault) => match fault.kind {
            FaultKind::Undefined => witness::undefined_candidate(original, candidate, Some(&fault), options, deadline)
                .map_or_else(|| unknown_fault(candidate, &fault, Side::Candidate), KernelVerdict::Different),
            _ => unknown_fault(candidate, &fault, Side::Candidate),
        },
        UpdateRejection::Different { count, first, .. } => {
            match witness::differing(original, candidate, claim, (&first, count), options, deadline) {
                Some(found) => return KernelVerdict::Different(found),
                None if options.strict => return strict_only(original, &first, count),
                None => {}
            }
            // What the candidate makes of the same values may be undefined for some.
            match witness::undefined_candidate(original, candidate, None, options, deadline) {
                Some(found) => KernelVerdict::Different(found),
                None => {
                    let cell = original.objects[first.original as usize].cell_name(first.cell);
                    let what = format!(
                        "{count} cells hold other expressions, the first is `{cell}`, but every input that was tried gives the same numbers"
                    );
                    unknown(ReasonKind::NoInvariant, what)
                }
            }
        }
    }
}

/// Only the intermediate values differ: the results agree on every input that was tried.
fn strict_only(original: &Program, first: &kernel::nests::CellPair, count: u64) -> KernelVerdict {
    let cell = original.objects[first.original as usize].cell_name(first.cell);
    let what = format!(
        "{count} cells go through other intermediate values, the first is `{cell}`; no input changes the results"
    );
    unknown(ReasonKind::NoInvariant, what)
}

fn unknown(kind: ReasonKind, detail: impl Into<String>) -> KernelVerdict {
    KernelVerdict::Unknown(Reason::new(kind, detail))
}

/// File and line of a fault, with the iterators.
pub(crate) fn place(program: &Program, fault: &Fault) -> String {
    let instance = Instance::new(program, fault.site, Vec::new());
    let file = program.file.rsplit('/').next().unwrap_or(&program.file);
    let at = if fault.instance.is_empty() { String::new() } else { format!(" at {}", fault.instance) };
    // Memory is there before the first line.
    let line = if instance.line == 0 { String::new() } else { format!(":{}", instance.line) };
    format!("{file}{line}{at}{}", explain::inside(&instance.inside))
}

fn unknown_fault(program: &Program, fault: &Fault, side: Side) -> KernelVerdict {
    let detail = format!("{}: {}", place(program, fault), fault.detail);
    let kind = match (&fault.kind, side) {
        (FaultKind::Undefined, Side::Original) if fault.conditional => {
            return unknown(ReasonKind::Unsupported, format!("{detail}, if the data lets it happen"));
        }
        (FaultKind::Undefined, Side::Original) => ReasonKind::UndefinedOriginal,
        (FaultKind::Undefined, Side::Candidate) => {
            return unknown(
                ReasonKind::Unsupported,
                format!("{detail} in the candidate, but no input was found that does it"),
            );
        }
        (FaultKind::Parameter(name), _) => return KernelVerdict::Parameter(name.clone()),
        (FaultKind::Unsupported, _) => ReasonKind::Unsupported,
        (FaultKind::Time, _) => ReasonKind::Timeout,
        (FaultKind::Memory, _) => ReasonKind::OutOfMemory,
    };
    unknown(kind, detail)
}
