//! Object code against C: the kernel's comparison, then a concrete input that shows a difference.

use super::race;
use super::witness::{attempts, memory, same, show};
use super::{KernelOptions, KernelOutcome, KernelVerdict, KernelWitness, unknown};
use crate::ReasonKind;
use crate::WitnessKind;
use crate::watchdog::interrupt_at;
use ::code::Placement;
use kernel::nests::{Claim, Method, Pairing, Subject, UpdateRejection, check_code, code_assumptions};
use program::Side;
use std::time::Instant;
use updates::{Fault, FaultKind, Final, Floating, Limits, Nobody, Number, Numbers, Overflow, Program, execute};

/// Compares two programs of which at least one is object code; `interface` is the C program that says how they are
/// called.
pub fn check_object_code(interface: &Program, sides: [Subject<'_>; 2], options: KernelOptions) -> KernelOutcome {
    let deadline = Instant::now() + options.timeout;
    let method = if options.exact || options.mode == Floating::Reassoc { Method::Terms } else { Method::Hashes };
    let claim = Claim { mode: options.mode, method, strict: options.strict, flat: options.flat };
    let verdict = decide(interface, sides, claim, options, deadline);
    let (assumptions, updates) = match &verdict {
        KernelVerdict::Equivalent(proof) => (proof.assumptions().to_vec(), proof.counts().obligations as u64),
        _ => (code_assumptions(interface, claim).into_iter().collect(), 0),
    };
    KernelOutcome { verdict, assumptions, updates }
}

fn decide(
    interface: &Program,
    sides: [Subject<'_>; 2],
    claim: Claim,
    options: KernelOptions,
    deadline: Instant,
) -> KernelVerdict {
    // Compiled without OpenMP the code is one of the schedules; the C program may have others.
    if race::find_races(interface, interface, options, deadline).is_some() {
        return unknown(
            ReasonKind::Race,
            "the C program's parallel loops conflict, or it was not shown that they do not",
        );
    }
    let mut rejection = match check_code(interface, sides, claim, &interrupt_at(deadline)) {
        Ok(proof) => return KernelVerdict::Equivalent(proof),
        Err(rejection) => rejection,
    };
    if matches!(rejection, UpdateRejection::Different { cases: true, .. }) && claim.method == Method::Hashes {
        match check_code(interface, sides, Claim { method: Method::Terms, ..claim }, &interrupt_at(deadline)) {
            Ok(proof) => return KernelVerdict::Equivalent(proof),
            Err(UpdateRejection::OutOfBudget | UpdateRejection::OutOfTerms) => {}
            Err(other) => rejection = other,
        }
    }
    match rejection {
        UpdateRejection::Malformed(what) => unknown(ReasonKind::Unsupported, what),
        UpdateRejection::Unmatched(name) => unknown(ReasonKind::Unsupported, format!("the global `{name}`")),
        UpdateRejection::Start(name) => unknown(
            ReasonKind::Unsupported,
            format!("the global `{name}`, which starts with values that code may not share"),
        ),
        UpdateRejection::OutOfTerms => unknown(ReasonKind::OutOfMemory, "more terms than there is room for"),
        UpdateRejection::OutOfBudget => unknown(ReasonKind::Timeout, "out of time for comparing terms"),
        UpdateRejection::Division(_) => {
            unknown(ReasonKind::NoInvariant, "the candidate divides values that the original does not divide")
        }
        UpdateRejection::Fault(side, fault) => stopped(interface, sides, &fault, side, options, deadline),
        UpdateRejection::Different { count, first, .. } => {
            let cell = interface.objects[first.original as usize].cell_name(first.cell);
            let found = differing(interface, sides, claim, count, options, deadline);
            found.map(KernelVerdict::Different).unwrap_or_else(|| {
                let what = format!(
                    "{count} cells hold other expressions, the first is `{cell}`, but every input that was tried gives the same numbers"
                );
                unknown(ReasonKind::NoInvariant, what)
            })
        }
    }
}

/// A run did not reach its end.
fn stopped(
    interface: &Program,
    sides: [Subject<'_>; 2],
    fault: &Fault,
    side: Side,
    options: KernelOptions,
    deadline: Instant,
) -> KernelVerdict {
    let subject = sides[usize::from(side == Side::Candidate)];
    let detail = match subject {
        Subject::C => format!("{}: {}", super::place(interface, fault), fault.detail),
        Subject::Code(_) => fault.detail.clone(),
    };
    let kind = match (&fault.kind, side) {
        (FaultKind::Parameter(name), _) => return KernelVerdict::Parameter(name.clone()),
        (FaultKind::Undefined, Side::Original) if !fault.conditional => ReasonKind::UndefinedOriginal,
        (FaultKind::Undefined, Side::Candidate) => {
            let found = undefined(interface, sides, options, deadline);
            return found.map(KernelVerdict::Different).unwrap_or_else(|| {
                unknown(ReasonKind::Unsupported, format!("{detail}, but no input was found that does it"))
            });
        }
        (FaultKind::Undefined | FaultKind::Unsupported, _) => ReasonKind::Unsupported,
        (FaultKind::Time, _) => ReasonKind::Timeout,
        (FaultKind::Memory, _) => ReasonKind::OutOfMemory,
    };
    unknown(kind, detail)
}

type Ended = Result<Final<Number>, Box<Fault>>;

/// Both programs on one input and placement, and the start values; nothing if the original's run does not count.
fn run(
    interface: &Program,
    [original, candidate]: [Subject<'_>; 2],
    pairing: &Pairing,
    inputs: super::Inputs,
    limits: &Limits,
    placement: Placement,
) -> Option<(Final<Number>, Ended)> {
    let mut numbers = Numbers { inputs: inputs.for_program(interface), overflow: Overflow::Undefined };
    let ours = original.run(interface, &mut numbers, limits, &[], placement).ok()?;
    let extents = pairing.extents_for(&ours, interface);
    numbers.overflow = Overflow::Wraps;
    Some((ours, candidate.run(interface, &mut numbers, limits, &extents, placement)))
}

fn witness(interface: &Program, inputs: super::Inputs, limits: &Limits) -> Option<KernelWitness> {
    let mut numbers = Numbers { inputs: inputs.for_program(interface), overflow: Overflow::Wraps };
    let start = execute(interface, &mut numbers, &mut Nobody, limits, &[]).ok()?;
    Some(KernelWitness {
        kind: WitnessKind::Input,
        inputs,
        memory: memory(interface, &start, inputs),
        cell: String::new(),
        original: String::new(),
        candidate: String::new(),
        lines: [None, None],
        wrong_cells: 0,
        broken: None,
        weaker: None,
        replayed: vec!["interpreter"],
    })
}

fn differing(
    interface: &Program,
    sides: [Subject<'_>; 2],
    claim: Claim,
    count: u64,
    options: KernelOptions,
    deadline: Instant,
) -> Option<Box<KernelWitness>> {
    let pairing = Pairing::of(interface, interface).ok()?;
    let limits = &Limits { interrupt: interrupt_at(deadline), flat: options.flat, ..Limits::default() };
    for inputs in attempts(interface, options, deadline) {
        for placement in Placement::ALL {
            let Some((ours, Ok(theirs))) = run(interface, sides, &pairing, inputs, limits, placement) else { continue };
            let mut numbers = Numbers { inputs: inputs.for_program(interface), overflow: Overflow::Wraps };
            let mut found = None;
            let compared = pairing.each(&ours, &theirs, interface, &mut numbers, |pair, a, b| {
                if found.is_none() && !same(a, b, claim.mode) {
                    found = Some((pair, a, b));
                }
            });
            let (Ok(_), Some((pair, a, b))) = (compared, found) else { continue };
            let cell = interface.objects[pair.original as usize].cell_name(pair.cell);
            let mut shown = witness(interface, inputs, limits)?;
            shown.original = format!("leaves {} in {cell}", show(a));
            shown.candidate = format!("leaves {} in {cell}", show(b));
            shown.cell = cell;
            shown.wrong_cells = count;
            shown.weaker = weaker(interface, sides, claim, deadline);
            return Some(Box::new(shown));
        }
    }
    None
}

/// The strictest weaker mode in which the programs are equivalent.
fn weaker(interface: &Program, sides: [Subject<'_>; 2], claim: Claim, deadline: Instant) -> Option<Floating> {
    let weaker = Floating::ALL.into_iter().skip_while(|mode| *mode != claim.mode).skip(1);
    weaker.into_iter().find(|mode| {
        let claim = Claim { mode: *mode, method: Method::Terms, ..claim };
        check_code(interface, sides, claim, &interrupt_at(deadline)).is_ok()
    })
}

fn undefined(
    interface: &Program,
    sides: [Subject<'_>; 2],
    options: KernelOptions,
    deadline: Instant,
) -> Option<Box<KernelWitness>> {
    let pairing = Pairing::of(interface, interface).ok()?;
    let limits = &Limits { interrupt: interrupt_at(deadline), flat: options.flat, ..Limits::default() };
    for inputs in attempts(interface, options, deadline) {
        for placement in Placement::ALL {
            let Some((_, Err(fault))) = run(interface, sides, &pairing, inputs, limits, placement) else { continue };
            if fault.kind == FaultKind::Undefined {
                let mut shown = witness(interface, inputs, limits)?;
                shown.kind = WitnessKind::Undefined;
                shown.original = "is defined".to_string();
                shown.candidate = fault.detail.clone();
                return Some(Box::new(shown));
            }
        }
    }
    None
}
