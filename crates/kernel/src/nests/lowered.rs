//! Kernels as a C compiler lowered them: the same comparison of cells, on its code instead of our own reading of C.
//!
//! The programs that our front end made say how the functions are called: which argument is an array, how large it is, and which
//! integers have values. What they do is taken from the compiler's code alone. Objects behind arguments are paired by
//! position, globals by name; a global of both files must start with the same values, and functions besides the kernel that touch a static
//! variable must be the same in both files.

use super::{Claim, MOST_TERMS, Method, Pairing, UpdateRejection, base_assumptions, fault, same_terms};
use crate::nests::CellPair;
use crate::proof::{CheckedProof, Counts};
use interrupt::Interrupt;
use ir::{Ended, Function, Global, Known, Leaf, Linkage, Module, Pace, Place, Setting, Start, execute};
use program::{Assumption, Side};
use std::collections::{BTreeMap, BTreeSet};
use updates::{
    Backing, Constant, Division, Domain, Floating, Hashes, Limits, Program, Scalar, Symbolic, TermRef, Terms,
};

/// A kernel as a compiler lowered it.
#[derive(Clone, Copy)]
pub struct Lowered<'a> {
    /// The compiler's code.
    pub module: &'a Module,
    /// Name of the function.
    pub name: &'a str,
    /// How it is called.
    pub interface: &'a Program,
}

/// Why a claim about the compiler's code was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LoweredRejection {
    /// A cell does not hold the same at the end.
    Unequal {
        /// Its name.
        cell: String,
        /// Were there choices or conversions, which terms understand better than hashes?
        cases: bool,
    },
    /// What any two programs may be rejected for.
    Other(UpdateRejection),
}

impl From<UpdateRejection> for LoweredRejection {
    fn from(rejection: UpdateRejection) -> LoweredRejection {
        LoweredRejection::Other(rejection)
    }
}

/// Checks a claim by executing the compiler's code of both kernels.
pub fn check_lowered(
    sides: [Lowered<'_>; 2],
    claim: Claim,
    interrupt: &Interrupt,
) -> Result<CheckedProof, LoweredRejection> {
    if claim.strict {
        let what = "intermediate updates of the compiler's code are not compared";
        return Err(UpdateRejection::Malformed(what.to_string()).into());
    }
    let [original, candidate] = sides;
    let pairing = Pairing::of(original.interface, candidate.interface).map_err(UpdateRejection::Malformed)?;
    let limits = &Limits { interrupt: interrupt.clone(), flat: claim.flat, ..Limits::default() };
    let compared = match claim.method {
        Method::Hashes => hashes(sides, &pairing, claim, limits),
        Method::Terms => terms(sides, &pairing, claim, limits),
    }?;
    let mut assumptions = base_assumptions(original.interface, candidate.interface, claim);
    assumptions.extend(pairing.extents.iter().map(|name| Assumption::Extent(name.clone())));
    if compared.nan_payload {
        assumptions.insert(Assumption::NanPayload);
    }
    if compared.mathematical {
        assumptions.insert(Assumption::MathFunctions);
    }
    if compared.allocates {
        assumptions.insert(Assumption::EnoughMemory);
    }
    if claim.method == Method::Hashes {
        assumptions.insert(Assumption::Hash128);
    }
    let counts = Counts { points: compared.cells, obligations: compared.updates as usize, ..Counts::default() };
    let assumptions = assumptions.into_iter().collect();
    Ok(CheckedProof::new(original.name.to_string(), candidate.name.to_string(), assumptions, counts))
}

struct Compared {
    cells: usize,
    updates: u64,
    nan_payload: bool,
    mathematical: bool,
    allocates: bool,
}

/// A cell of an object that both programs have.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct CellName {
    place: Place,
    offset: u64,
    bytes: u8,
}

/// What a cell holds at the end, as a number of its type if it is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content<V> {
    Bits(u64),
    Value(V, Scalar),
}

/// The end of one side.
struct Settled<V> {
    cells: BTreeMap<CellName, Content<V>>,
    /// What the cells started as: key, number and type.
    inputs: BTreeMap<CellName, (u64, u64, Scalar)>,
    result: Option<Content<V>>,
    divisions: Vec<Division<V>>,
    reached: Vec<u64>,
    globals: Vec<u32>,
    updates: u64,
    mathematical: bool,
    allocates: bool,
    nan_payload: bool,
    cases: bool,
}

/// The signed type of so many bytes.
fn plain(bytes: u8) -> Option<Scalar> {
    Some(match bytes {
        1 => Scalar::I8,
        2 => Scalar::I16,
        4 => Scalar::I32,
        8 => Scalar::I64,
        _ => return None,
    })
}

fn malformed(what: &str) -> UpdateRejection {
    UpdateRejection::Malformed(what.to_string())
}

/// The number that a leaf is in a type.
fn settle<D: Domain>(leaf: Leaf<D::Value>, ty: Scalar, domain: &mut D) -> Result<Content<D::Value>, UpdateRejection> {
    let other = || malformed("a value of one type is left where one of another is expected");
    match leaf {
        Leaf::Bits(bits) => Ok(Content::Bits(bits)),
        Leaf::Value(value, of) if of == ty => Ok(Content::Value(value, ty)),
        // Bits are no truth value, and a conversion to one is no conversion of bits.
        Leaf::Value(value, of) if !of.is_float() && !ty.is_float() && ty != Scalar::Bool => {
            let value = domain.convert(of, ty, value).map_err(|_| other())?;
            Ok(domain.known(value).map_or(Content::Value(value, ty), |known| Content::Bits(bits_of(known, ty))))
        }
        Leaf::Value(..) => Err(other()),
    }
}

fn bits_of(constant: Constant, ty: Scalar) -> u64 {
    let bits = match constant {
        Constant::Int(value) => value as u64,
        Constant::Big(value) | Constant::F64(value) => value,
        Constant::F32(value) => u64::from(value),
    };
    if ty.bytes() == 8 { bits } else { bits & ((1 << (8 * ty.bytes())) - 1) }
}

fn constant_of(bits: u64, ty: Scalar) -> Constant {
    match ty {
        Scalar::F64 => Constant::F64(bits),
        Scalar::F32 => Constant::F32(bits as u32),
        _ => Constant::integer(ty.wrap(i128::from(bits))),
    }
}

/// Runs a side and brings what it leaves into one form.
fn run<B: Backing>(
    side: Lowered<'_>,
    extents: &[Option<u64>],
    domain: &mut Symbolic<B>,
    limits: &Limits,
    of: Side,
) -> Result<Settled<B::Value>, UpdateRejection> {
    let setting = Setting { interface: side.interface, extents, pace: Pace::Strides };
    let ended: Ended<B::Value> = execute(side.module, side.name, setting, domain, limits).map_err(fault(of))?;
    let (mut cells, mut inputs) = (BTreeMap::new(), BTreeMap::new());
    for held in &ended.held {
        for (offset, bytes, leaf) in &held.cells {
            let read = match leaf {
                // A truth value in a wider cell is a number there.
                Leaf::Value(_, ty) if ty.is_float() || *ty == Scalar::Bool && *bytes == 1 => Some(*ty),
                _ => plain(*bytes),
            };
            let Some((number, ty)) = read.and_then(|ty| held.input(*offset, ty)) else {
                return Err(malformed("something is left between the fields of a structure"));
            };
            let place = shared(&held.place, side.interface);
            let name = CellName { place, offset: *offset, bytes: *bytes };
            cells.insert(name.clone(), settle(*leaf, ty, domain)?);
            inputs.insert(name, (held.key, number, ty));
        }
    }
    let result = match (ended.result, side.interface.result) {
        (None, None) => None,
        (Some((leaf, bits)), Some(object)) => {
            let field = side.interface.objects[object as usize].fields.first().map(|f| f.ty);
            let Some(ty) = field.filter(|ty| ty.bits() == u32::from(bits)) else {
                return Err(malformed("the result has another type than was read"));
            };
            Some(settle(leaf, ty, domain)?)
        }
        _ => return Err(malformed("the result has another type than was read")),
    };
    Ok(Settled {
        cells,
        inputs,
        result,
        divisions: ended.divisions,
        reached: ended.reached,
        globals: ended.globals,
        updates: ended.updates,
        mathematical: ended.mathematical,
        allocates: ended.allocates,
        nan_payload: domain.used_nan_payload,
        cases: domain.used_cases,
    })
}

/// Objects behind arguments are known by the argument's position on both sides.
fn shared(place: &Place, interface: &Program) -> Place {
    match place {
        Place::Object(object) => {
            let argument =
                interface.arguments.iter().position(|a| *a == updates::Argument::Memory(*object)).unwrap_or(usize::MAX);
            Place::Object(argument as u32)
        }
        other => other.clone(),
    }
}

/// Two values that must be equal, and which cell they are of; the result has none.
type Pair<'a, V> = (Option<&'a CellName>, V, V);

fn name_of(name: Option<&CellName>, interface: &Program) -> String {
    let Some(name) = name else { return "the result".to_string() };
    match &name.place {
        Place::Object(argument) => {
            let object = match interface.arguments.get(*argument as usize) {
                Some(updates::Argument::Memory(object)) => interface.objects.get(*object as usize),
                _ => None,
            };
            object.map_or("an argument".to_string(), |o| {
                o.cell_name(name.offset / o.element_bytes.max(1) * o.fields.len() as u64)
            })
        }
        Place::Global(of) | Place::Static(of) => format!("{of}+{}", name.offset),
    }
}

/// All pairs of values that the caller sees, or the first cell that cannot be equal.
fn pairs<'a, D: Domain>(
    sides: [Lowered<'_>; 2],
    [ours, theirs]: [&'a Settled<D::Value>; 2],
    domain: &mut D,
) -> Result<Vec<Pair<'a, D::Value>>, LoweredRejection> {
    let mut list = Vec::new();
    let names: BTreeSet<&CellName> = ours.cells.keys().chain(theirs.cells.keys()).collect();
    for name in names {
        // A variable of one file only is that file's own business.
        if let Place::Static(of) = &name.place
            && sides.iter().any(|side| global(side, of).is_none())
        {
            continue;
        }
        let mut content = |side: &Settled<D::Value>, other: &Settled<D::Value>| match side.cells.get(name) {
            Some(content) => *content,
            // Where this side did nothing, there is what there was.
            None => match other.inputs.get(name) {
                Some((key, number, ty)) => Content::Value(domain.input(*key, *number, *ty), *ty),
                None => Content::Bits(0),
            },
        };
        let (a, b) = (content(ours, theirs), content(theirs, ours));
        let unequal = |name| LoweredRejection::Unequal { cell: name_of(name, sides[0].interface), cases: true };
        match (a, b) {
            (Content::Bits(x), Content::Bits(y)) if x == y => {}
            (Content::Bits(x), Content::Value(y, ty)) => {
                list.push((Some(name), domain.constant(constant_of(x, ty)), y));
            }
            (Content::Value(x, ty), Content::Bits(y)) => {
                list.push((Some(name), x, domain.constant(constant_of(y, ty))));
            }
            (Content::Value(x, ty), Content::Value(y, of)) if ty == of => list.push((Some(name), x, y)),
            _ => return Err(unequal(Some(name))),
        }
    }
    match (ours.result, theirs.result) {
        (None, None) => {}
        (Some(Content::Bits(x)), Some(Content::Bits(y))) if x == y => {}
        (Some(Content::Bits(x)), Some(Content::Value(y, ty))) => {
            list.push((None, domain.constant(constant_of(x, ty)), y));
        }
        (Some(Content::Value(x, ty)), Some(Content::Bits(y))) => {
            list.push((None, x, domain.constant(constant_of(y, ty))));
        }
        (Some(Content::Value(x, ty)), Some(Content::Value(y, of))) if ty == of => {
            list.push((None, x, y));
        }
        _ => return Err(LoweredRejection::Unequal { cell: "the result".to_string(), cases: true }),
    }
    Ok(list)
}

/// The global that both programs know by a name.
fn global<'a>(side: &Lowered<'a>, shared: &str) -> Option<(u32, &'a Global)> {
    let named = |global: &Global| match (global.linkage, shared.strip_prefix(updates::STATIC)) {
        (Linkage::Internal, Some(name)) if name.starts_with('.') => global.name.strip_prefix(side.name) == Some(name),
        (Linkage::Internal, Some(name)) => global.name == name,
        (Linkage::Internal, None) | (_, Some(_)) => false,
        (_, None) => global.name == shared,
    };
    let position = side.module.globals.iter().position(named)?;
    Some((position as u32, &side.module.globals[position]))
}

/// The name that both programs know a global by.
fn shared_name(side: &Lowered<'_>, number: u32) -> String {
    let global = &side.module.globals[number as usize];
    match (global.linkage, global.name.strip_prefix(side.name)) {
        (Linkage::Internal, Some(rest)) if rest.starts_with('.') => format!("{}{rest}", updates::STATIC),
        (Linkage::Internal, _) => format!("{}{}", updates::STATIC, global.name),
        _ => global.name.clone(),
    }
}

/// Globals that either side touches must be the same variable in both files. If others may change a static variable between two
/// calls, what they do must be the same, and that may depend on anything in the file: so must all of it that is not the kernel's own.
fn check_globals(sides: [Lowered<'_>; 2], touched: [&[u32]; 2]) -> Result<(), UpdateRejection> {
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut shared = None;
    for (side, numbers) in sides.iter().zip(touched) {
        for number in numbers {
            let global = &side.module.globals[*number as usize];
            // The content of a constant of the file's own is known wherever it is read.
            if !(global.constant && global.linkage == Linkage::Internal) {
                names.insert(shared_name(side, *number));
                let is_shared = global.linkage == Linkage::Internal && is_known_to_others(side, *number);
                shared = shared.or(is_shared.then_some(global));
            }
        }
    }
    for name in names {
        let [Some((_, ours)), Some((_, theirs))] = sides.each_ref().map(|side| global(side, &name)) else { continue };
        let starts = [(&sides[0], ours), (&sides[1], theirs)].map(|(side, global)| start(side.module, global));
        if ours.bytes != theirs.bytes || starts[0] != starts[1] || ours.constant != theirs.constant {
            return Err(UpdateRejection::Start(ours.name.clone()));
        }
    }
    match shared {
        Some(global) if others(&sides[0]) != others(&sides[1]) => Err(UpdateRejection::Malformed(format!(
            "`{}`, which others touch: functions and variables beside the kernel are not the same in both files",
            global.name
        ))),
        _ => Ok(()),
    }
}

/// Do functions that may run without the kernel mention a global, or the definition of another one?
fn is_known_to_others(side: &Lowered<'_>, number: u32) -> bool {
    let mentions = |f: &&Function| f.mentions.contains(&number);
    beside(side).iter().any(mentions) || side.module.globals.iter().any(|global| global.mentions.contains(&number))
}

/// Everything of a file that is not the kernel's own: by name, what it is. Constants that nothing mentions are nobody's.
fn others<'a>(side: &Lowered<'a>) -> BTreeSet<(&'a str, &'a str)> {
    let own = |name: &str| name.strip_prefix(side.name).is_some_and(|rest| rest.starts_with('.'));
    let counts = |(number, global): &(usize, &Global)| {
        let seen = global.linkage != Linkage::Internal || is_known_to_others(side, *number as u32);
        (seen || !global.mentions.is_empty()) && !own(&global.name)
    };
    let globals = side.module.globals.iter().enumerate().filter(counts).map(|(_, global)| global);
    let functions = beside(side).into_iter().map(|f| (f.name.as_str(), f.hash.as_str()));
    globals.map(|global| (global.name.as_str(), global.hash.as_str())).chain(functions).collect()
}

/// Initial values, with names instead of numbers.
type Cells = Option<Vec<(u64, u8, Result<u64, (String, i64)>)>>;

fn start(module: &Module, global: &Global) -> Cells {
    let Start::Cells(cells) = &global.start else { return None };
    let value = |known: &Known| match known {
        Known::Bits(bits) => Ok(*bits),
        Known::Address(number, offset) => Err((module.globals[*number as usize].name.clone(), *offset)),
        Known::Poison => Err((String::new(), 0)),
    };
    Some(cells.iter().map(|cell| (cell.offset, cell.bytes, value(&cell.value))).collect())
}

/// Functions that may run without the kernel, and all that they call.
fn beside<'a>(side: &Lowered<'a>) -> Vec<&'a Function> {
    let others = |f: &&Function| f.entered && f.name != side.name;
    reached(side, side.module.functions.iter().filter(others).collect())
}

/// Functions besides the kernel and all that they call.
fn reached<'a>(side: &Lowered<'a>, mut open: Vec<&'a Function>) -> Vec<&'a Function> {
    let mut found: BTreeMap<&str, &Function> = BTreeMap::new();
    while let Some(function) = open.pop() {
        if function.name != side.name && found.insert(&function.name, function).is_none() {
            open.extend(function.calls.iter().filter_map(|name| side.module.function(name)));
        }
    }
    found.into_values().collect()
}

fn check_divisions<V: PartialEq>(ours: &[Division<V>], theirs: &[Division<V>]) -> Result<(), UpdateRejection> {
    match theirs.iter().all(|division| ours.iter().any(|d| d.covers(division))) {
        true => Ok(()),
        false => Err(UpdateRejection::Division(0)),
    }
}

/// Extents of the candidate's objects that it does not state: what the original touched.
fn extents_for(pairing: &Pairing, reached: &[u64], candidate: &Program) -> Vec<Option<u64>> {
    let mut extents = vec![None; candidate.objects.len()];
    for (original, other) in &pairing.outputs {
        if candidate.objects[*other as usize].cells.is_none() {
            extents[*other as usize] = Some(reached.get(*original as usize).copied().unwrap_or(0));
        }
    }
    extents
}

fn hashes(
    sides: [Lowered<'_>; 2],
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
) -> Result<Compared, LoweredRejection> {
    let [original, candidate] = sides;
    let domain = || Symbolic::new(Hashes, claim.mode);
    let stated = pairing.extents.is_empty() && candidate.interface.objects.iter().all(|o| o.cells.is_some());
    // Hashes need no table, so the two sides may run at once.
    let (ours, theirs) = if stated {
        std::thread::scope(|scope| {
            let other = scope.spawn(|| run(candidate, &[], &mut domain(), limits, Side::Candidate));
            let ours = run(original, &[], &mut domain(), limits, Side::Original);
            let theirs = other.join().unwrap_or_else(|_| Err(malformed("internal")));
            (ours, theirs)
        })
    } else {
        let ours = run(original, &[], &mut domain(), limits, Side::Original)?;
        let extents = extents_for(pairing, &ours.reached, candidate.interface);
        (Ok(ours), run(candidate, &extents, &mut domain(), limits, Side::Candidate))
    };
    let (ours, theirs) = (ours?, theirs?);
    check_globals(sides, [&ours.globals, &theirs.globals])?;
    let cells = ours.cells.len().max(theirs.cells.len());
    let list = pairs(sides, [&ours, &theirs], &mut domain())?;
    if let Some((name, ..)) = list.into_iter().find(|(_, a, b)| a != b) {
        let cell = name_of(name, original.interface);
        return Err(LoweredRejection::Unequal { cell, cases: ours.cases || theirs.cases });
    }
    check_divisions(&ours.divisions, &theirs.divisions)?;
    Ok(Compared {
        cells,
        updates: ours.updates + theirs.updates,
        nan_payload: ours.nan_payload || theirs.nan_payload,
        mathematical: ours.mathematical || theirs.mathematical,
        allocates: ours.allocates || theirs.allocates,
    })
}

fn terms(
    sides: [Lowered<'_>; 2],
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
) -> Result<Compared, LoweredRejection> {
    let [original, candidate] = sides;
    let mut domain = Symbolic::new(Terms::new(MOST_TERMS), claim.mode);
    // What a run over a full table says means nothing.
    let full = |domain: &Symbolic<Terms>| domain.backing.exhausted().then_some(UpdateRejection::OutOfTerms);
    let ours = run(original, &[], &mut domain, limits, Side::Original);
    let ours = full(&domain).map_or(ours, Err)?;
    let extents = extents_for(pairing, &ours.reached, candidate.interface);
    let theirs = run(candidate, &extents, &mut domain, limits, Side::Candidate);
    let theirs = full(&domain).map_or(theirs, Err)?;
    check_globals(sides, [&ours.globals, &theirs.globals])?;
    let list = pairs(sides, [&ours, &theirs], &mut domain)?;
    let numbered = |(cell, (_, a, b)): (usize, &Pair<'_, TermRef>)| {
        (CellPair { original: 0, candidate: 0, cell: cell as u64 }, *a, *b)
    };
    let compared = same_terms(list.iter().enumerate().map(numbered).collect(), &mut domain, claim, limits);
    compared.map_err(|rejection| match rejection {
        UpdateRejection::Different { first, .. } => {
            let cell = name_of(list.get(first.cell as usize).and_then(|(name, ..)| *name), original.interface);
            LoweredRejection::Unequal { cell, cases: false }
        }
        other => other.into(),
    })?;
    check_divisions(&ours.divisions, &theirs.divisions)?;
    Ok(Compared {
        cells: ours.cells.len().max(theirs.cells.len()),
        updates: ours.updates + theirs.updates,
        nan_payload: theirs.nan_payload || claim.mode == Floating::Reassoc,
        mathematical: ours.mathematical || theirs.mathematical,
        allocates: ours.allocates || theirs.allocates,
    })
}
