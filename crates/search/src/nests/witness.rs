//! Inputs on which two kernels give different numbers.

use super::explain::{self, Broken};
use super::inputs::{Inputs, NANS, PATTERNS, is_input};
use super::{KernelOptions, place};
use crate::WitnessKind;
use crate::watchdog::interrupt_at;
use kernel::nests::{CellPair, Claim, Method, Pairing, check_updates};
use std::time::Instant;
use updates::{
    Constant, Fault, FaultKind, Final, Floating, Limits, Nobody, Number, Numbers, Origin, Overflow, Program, Scalar,
    execute,
};

/// Start value of one object.
#[derive(Clone, PartialEq, Debug)]
pub struct WitnessInput {
    /// Name of the object in the original.
    pub name: String,
    /// Which input it is.
    pub origin: Origin,
    /// Types of the cells of one element.
    pub types: Vec<Scalar>,
    /// All its cells.
    pub cells: Vec<Constant>,
}

/// Why two kernels are different.
#[derive(Clone, PartialEq, Debug)]
pub struct KernelWitness {
    /// What it shows.
    pub kind: WitnessKind,
    /// How the inputs were made, to make them again.
    pub inputs: Inputs,
    /// The start values.
    pub memory: Vec<WitnessInput>,
    /// The first cell that differs on this input, with its values.
    pub cell: String,
    /// What the original leaves there, or does.
    pub original: String,
    /// What the candidate leaves there, or does.
    pub candidate: String,
    /// Place of the candidate's undefined behaviour or of the writes: file and line on both sides.
    pub lines: [Option<String>; 2],
    /// Cells whose expression differs.
    pub wrong_cells: u64,
    /// Which dependence broke.
    pub broken: Option<Broken>,
    /// A weaker floating-point mode in which the kernels are equivalent.
    pub weaker: Option<Floating>,
    /// Who replayed it.
    pub replayed: Vec<&'static str>,
}

/// Runs on numbers that are tried.
const MOST_TRIES: u64 = 60;
/// The same for kernels with few cells.
const MOST_TRIES_IF_FEW: u64 = 450;
/// So many are few.
const FEW_CELLS: u64 = 128;

/// A cell by name and what the two programs leave there.
pub(super) type Difference = (String, Number, Number);

struct Runs {
    original: Final<Number>,
    candidate: Result<Final<Number>, Box<Fault>>,
}

/// Both programs on one input; nothing if the original's run does not count.
fn run(original: &Program, candidate: &Program, inputs: Inputs, pairing: &Pairing, limits: &Limits) -> Option<Runs> {
    let mut numbers = Numbers { inputs: inputs.for_program(original), overflow: Overflow::Undefined };
    let ours = execute(original, &mut numbers, &mut Nobody, limits, &[]).ok()?;
    let extents = pairing.extents_for(&ours, candidate);
    let mut numbers = Numbers { inputs: inputs.for_program(candidate), overflow: Overflow::Wraps };
    let theirs = execute(candidate, &mut numbers, &mut Nobody, limits, &extents);
    if let Err(fault) = &theirs
        && fault.kind != FaultKind::Undefined
    {
        return None;
    }
    Some(Runs { original: ours, candidate: theirs })
}

/// Are the numbers the same, up to the payload of a NaN? Where sums may be regrouped, also if rounding explains the
/// difference.
pub(super) fn same(a: Number, b: Number, mode: Floating) -> bool {
    let (Number::Value(x), Number::Value(y)) = (a, b) else { return a == b };
    if x == y {
        return true;
    }
    let (Some(left), Some(right)) = (x.as_float(), y.as_float()) else { return false };
    if left.is_nan() && right.is_nan() {
        return true;
    }
    let tolerance = if matches!(x, Constant::F32(_)) { 1e-2 } else { 1e-6 };
    mode == Floating::Reassoc && (left - right).abs() <= tolerance * left.abs().max(right.abs())
}

/// The payload of a NaN; signs move through sums and products in every mode.
fn payload(number: Number) -> Option<u64> {
    match number {
        Number::Value(Constant::F64(bits)) if f64::from_bits(bits).is_nan() => Some(bits << 13),
        Number::Value(Constant::F32(bits)) if f32::from_bits(bits).is_nan() => Some(u64::from(bits << 10)),
        _ => None,
    }
}

/// The inputs to try: more of them where there is little to fill, so that each cell meets the rare values.
pub(super) fn attempts(
    original: &Program,
    options: KernelOptions,
    deadline: Instant,
) -> impl Iterator<Item = Inputs> + use<> {
    let cells = original.objects.iter().filter_map(|o| o.cells).fold(0u64, u64::saturating_add);
    let most = if cells <= FEW_CELLS { MOST_TRIES_IF_FEW } else { MOST_TRIES };
    let tries = (0..most).take_while(move |i| *i < 2 || Instant::now() < deadline);
    let ordered = (options.mode == Floating::Ordered).then_some(Inputs { seed: options.seed, pattern: NANS });
    let patterns = tries.map(move |i| Inputs {
        seed: options.seed.wrapping_add(i / u64::from(PATTERNS)),
        pattern: (i % u64::from(PATTERNS)) as u32,
    });
    patterns.chain(ordered)
}

/// The first output cell in which two runs differ.
fn first_difference(
    runs: &Runs,
    theirs: &Final<Number>,
    original: &Program,
    pairing: &Pairing,
    (inputs, mode): (Inputs, Floating),
) -> Option<(CellPair, Number, Number)> {
    let mut numbers = Numbers { inputs: inputs.for_program(original), overflow: Overflow::Wraps };
    let mut found = None;
    let told_apart = inputs.pattern == NANS;
    let compared = pairing.each(&runs.original, theirs, original, &mut numbers, |pair, a, b| {
        if (!same(a, b, mode) || told_apart && payload(a) != payload(b)) && found.is_none() {
            found = Some((pair, a, b));
        }
    });
    compared.ok()?;
    found
}

pub(super) fn show(value: Number) -> String {
    match value {
        Number::Value(constant) => constant.to_string(),
        Number::Unwritten => "nothing".to_string(),
    }
}

pub(super) fn memory(original: &Program, runs: &Final<Number>, inputs: Inputs) -> Vec<WitnessInput> {
    let mut fill = inputs.for_program(original);
    let mut list = Vec::new();
    for (number, object) in original.objects.iter().enumerate() {
        let Some(key) = updates::input_key(&object.origin).filter(|_| is_input(&object.origin)) else { continue };
        let cells = runs.objects[number].len() as u64;
        let types = object.fields.iter().map(|f| f.ty).collect();
        let origin = object.origin.clone();
        let cells = (0..cells).map(|cell| fill(key, cell, object.cell_type(cell))).collect();
        list.push(WitnessInput { name: object.name.clone(), origin, types, cells });
    }
    list
}

/// The original's run and the first difference to the candidate's run under other limits, if both are defined.
pub(super) fn run_alone(
    original: &Program,
    candidate: &Program,
    inputs: Inputs,
    limits: &Limits,
    other: &Limits,
) -> Option<(Final<Number>, Option<Difference>)> {
    let pairing = Pairing::of(original, candidate).ok()?;
    let mut numbers = Numbers { inputs: inputs.for_program(original), overflow: Overflow::Undefined };
    let ours = execute(original, &mut numbers, &mut Nobody, limits, &[]).ok()?;
    let extents = pairing.extents_for(&ours, candidate);
    let mut numbers = Numbers { inputs: inputs.for_program(candidate), overflow: Overflow::Wraps };
    let theirs = execute(candidate, &mut numbers, &mut Nobody, other, &extents).ok()?;
    let runs = Runs { original: ours, candidate: Ok(theirs) };
    let Ok(theirs) = &runs.candidate else { return None };
    let difference = first_difference(&runs, theirs, original, &pairing, (inputs, Floating::Ieee))
        .map(|(pair, a, b)| (original.objects[pair.original as usize].cell_name(pair.cell), a, b));
    Some((runs.original, difference))
}

/// A witness for two programs whose final expressions differ.
pub(super) fn differing(
    original: &Program,
    candidate: &Program,
    claim: Claim,
    (_, count): (&CellPair, u64),
    options: KernelOptions,
    deadline: Instant,
) -> Option<Box<KernelWitness>> {
    let pairing = Pairing::of(original, candidate).ok()?;
    let limits = &Limits { interrupt: interrupt_at(deadline), flat: options.flat, ..Limits::default() };
    for inputs in attempts(original, options, deadline) {
        let Some(runs) = run(original, candidate, inputs, &pairing, limits) else { continue };
        let Ok(theirs) = &runs.candidate else { continue };
        let Some((pair, a, b)) = first_difference(&runs, theirs, original, &pairing, (inputs, claim.mode)) else {
            continue;
        };
        let broken = explain::explain(original, candidate, &pairing, claim, limits);
        let cell = original.objects[pair.original as usize].cell_name(pair.cell);
        let line =
            |file: &str, line: u32| (line > 0).then(|| format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)));
        let lines = match &broken {
            Some(found) => [
                found.original.as_ref().and_then(|i| line(&original.file, i.line)),
                found.candidate.as_ref().and_then(|i| line(&candidate.file, i.line)),
            ],
            None => [None, None],
        };
        return Some(Box::new(KernelWitness {
            kind: if inputs.pattern == NANS { WitnessKind::OperandOrder } else { WitnessKind::Input },
            inputs,
            memory: memory(original, &runs.original, inputs),
            original: format!("leaves {} in {cell}", show(a)),
            candidate: format!("leaves {} in {cell}", show(b)),
            cell,
            lines,
            wrong_cells: count,
            broken,
            weaker: weaker(original, candidate, claim, deadline),
            replayed: vec!["interpreter"],
        }));
    }
    None
}

/// The strictest weaker mode in which the kernels are equivalent.
fn weaker(original: &Program, candidate: &Program, claim: Claim, deadline: Instant) -> Option<Floating> {
    let modes: &[Floating] = match claim.mode {
        Floating::Ordered => &[Floating::Ieee, Floating::Contract, Floating::Reassoc],
        Floating::Ieee => &[Floating::Contract, Floating::Reassoc],
        Floating::Contract => &[Floating::Reassoc],
        Floating::Reassoc => &[],
    };
    // Without such calls contraction changes nothing.
    let fma = |p: &Program| p.functions.iter().any(|f| f.starts_with("fma"));
    let useful = |mode: &Floating| *mode != Floating::Contract || fma(original) || fma(candidate);
    modes.iter().copied().filter(useful).find(|mode| {
        let claim = Claim { mode: *mode, method: Method::Terms, ..claim };
        check_updates(original, candidate, claim, &interrupt_at(deadline)).is_ok()
    })
}

/// A witness for a candidate that does something undefined where the original does not.
pub(super) fn undefined_candidate(
    original: &Program,
    candidate: &Program,
    fault: Option<&Fault>,
    options: KernelOptions,
    deadline: Instant,
) -> Option<Box<KernelWitness>> {
    let pairing = Pairing::of(original, candidate).ok()?;
    let limits = &Limits { interrupt: interrupt_at(deadline), flat: options.flat, ..Limits::default() };
    for inputs in attempts(original, options, deadline) {
        let Some(runs) = run(original, candidate, inputs, &pairing, limits) else { continue };
        let Err(found) = &runs.candidate else { continue };
        let where_ = place(candidate, found);
        let line = candidate.sites.get(found.site as usize).map_or(0, |s| s.line);
        let file = candidate.file.rsplit('/').next().unwrap_or(&candidate.file);
        return Some(Box::new(KernelWitness {
            kind: WitnessKind::Undefined,
            inputs,
            memory: memory(original, &runs.original, inputs),
            cell: String::new(),
            original: "is defined".to_string(),
            candidate: format!("{}: {}", where_, found.detail),
            lines: [None, Some(format!("{file}:{line}"))],
            wrong_cells: 0,
            broken: Some(Broken::undefined(candidate, fault.filter(|f| !f.conditional).unwrap_or(found))),
            weaker: None,
            replayed: vec!["interpreter"],
        }));
    }
    None
}
