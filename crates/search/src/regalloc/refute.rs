//! From a need that cannot be met to a mistake that a run shows.
//!
//! The needs form chains: an event or branch needs an equation at its block's entry, which the blocks before need in turn,
//! back to where the two values differ. That is a path; a shortest way from the entry to its start makes it a whole run.
//! Both sides are run along it with concrete numbers ([`machine::Trial`]), unknown functions being seeded hashes. Only if
//! the event at the end reads different numbers is there a mistake.

use super::explain::render;
use super::infer::{Because, Inference, Need, Source, Unmet};
use machine::{
    Agreement, Edge, Function, Id, Kind, Lane, Location, Mismatch, Names, Place, Product, Side, Stage, Trial, Values,
    is_input,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// An instruction that uses a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Used {
    /// Line in the file.
    pub line: u32,
    /// Text.
    pub text: String,
}

/// A mistake of the register allocator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllocationError {
    /// The function.
    pub function: String,
    /// Numbers of the blocks from the entry to where it shows.
    pub path: Vec<u32>,
    /// The original's instruction that needs the value.
    pub original: Used,
    /// The candidate's instruction that gets another.
    pub candidate: Used,
    /// What is needed.
    pub needs: String,
    /// What is there instead.
    pub holds: String,
    /// Which location of the candidate is read.
    pub location: Option<String>,
    /// Where the right value is.
    pub lives: Option<String>,
    /// In one sentence.
    pub summary: String,
}

/// Seeds of the runs; all must show the difference.
pub(super) const SEEDS: [u64; 2] = [0x5eed, 0xfeed];

/// Looks for a run that shows the difference.
pub fn refute(unmet: &mut Unmet<'_>, names: &Names) -> Option<AllocationError> {
    let chain = chain_of(&unmet.inference, unmet.need);
    let first = unmet.inference.needs[unmet.need].point;
    let mut path = way_to(&unmet.inference.product.edges, unmet.inference.product.points.len(), first)?;
    let start = path.len();
    path.extend(chain.edges.iter());
    let root = unmet.inference.needs[chain.root];
    let observed = matches!(root.source, Source::Event(..) | Source::Branch(_));
    if observed && differs(&mut unmet.inference.product, &path, root.original, root.candidate) {
        return Some(explain(unmet, names, &chain, &path, start));
    }
    // The chain may have followed a wrong pairing. Then any path on which the two sides do something else will do.
    let (need, path) = stray(&mut unmet.inference)?;
    let chain = Chain { root: need, edges: Vec::new(), equation: None };
    let Need { original, candidate, .. } = unmet.inference.needs[need];
    unmet.mismatch = Mismatch { trail: vec![(original, candidate)] };
    let start = path.len();
    Some(explain(unmet, names, &chain, &path, start))
}

/// Do the two values have different numbers at the end of the path, in every run?
fn differs(product: &mut Product<'_>, path: &[usize], a: Id, b: Id) -> bool {
    SEEDS.into_iter().all(|seed| {
        let mut trial = Trial::along(&product.edges, path, seed);
        let Product { original, candidate, values, points, edges } = product;
        let mut stage = Stage { original, candidate, points, edges };
        if !is_possible(&mut trial, values, &mut stage, path) {
            return false;
        }
        has_other_bits(&mut trial, values, &mut stage, path.len(), (a, b))
    })
}

/// Parts of a value, from the lowest bit on. What is above may be undefined, and then only these tell anything.
const PARTS: [u16; 5] = [128, 64, 32, 16, 8];

/// Does the candidate's value have another number at a visit, as a whole or in a part?
fn has_other_bits(
    trial: &mut Trial,
    values: &mut Values,
    stage: &mut Stage<'_>,
    visit: usize,
    (a, b): (Id, Id),
) -> bool {
    let whole = values.bits(a);
    let parts: &[u16] = if values.bits(b) == whole { &PARTS } else { &[] };
    std::iter::once(whole).chain(parts.iter().copied().filter(|bits| *bits < whole)).any(|bits| {
        let (a, b) = if bits == whole { (a, b) } else { (values.extract(a, 0, bits), values.extract(b, 0, bits)) };
        let x = trial.at(values, stage, visit, Side::Original, a);
        let y = trial.at(values, stage, visit, Side::Candidate, b);
        Agreement::of(x, y) == Agreement::Differ
    })
}

/// An event or branch that reads different numbers on some path: its need, and the path.
fn stray(inference: &mut Inference<'_>) -> Option<(usize, Vec<usize>)> {
    let mut by_point: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
    for (index, need) in inference.needs.iter().enumerate() {
        if matches!(need.source, Source::Event(..) | Source::Branch(_)) {
            by_point.entry(need.point).or_default().push(index);
        }
    }
    let mut trial = Trial::everywhere(&inference.product.points, &inference.product.edges, SEEDS[0]);
    for (visit, point) in trial.visits() {
        for need in by_point.get(&point).into_iter().flatten() {
            let Need { original: a, candidate: b, .. } = inference.needs[*need];
            let Product { original, candidate, values, points, edges } = &mut inference.product;
            let mut stage = Stage { original, candidate, points, edges };
            if !has_other_bits(&mut trial, values, &mut stage, visit, (a, b)) {
                continue;
            }
            let path = trial.path_to(visit);
            if differs(&mut inference.product, &path, a, b) {
                return Some((*need, path));
            }
        }
    }
    None
}

/// From a need to the event that started it.
struct Chain {
    root: usize,
    /// Edges from the need's point to the root's.
    edges: Vec<usize>,
    /// The equation nearest to the root, with its reason.
    equation: Option<((Id, Id), Because, usize)>,
}

fn chain_of(inference: &Inference<'_>, need: usize) -> Chain {
    let mut chain = Chain { root: need, edges: Vec::new(), equation: None };
    // Each step goes to an earlier need, so this ends.
    while let Source::Edge(edge, equation) = inference.needs[chain.root].source {
        let to = inference.product.edges[edge].to;
        let Some(because) = inference.equations[to].get(&equation) else { break };
        chain.edges.push(edge);
        chain.equation = Some((equation, *because, to));
        chain.root = because.need;
    }
    chain
}

/// The edges of a shortest way from the entry to a point.
pub(super) fn way_to(edges: &[Edge], points: usize, target: usize) -> Option<Vec<usize>> {
    let mut before: Vec<Option<usize>> = vec![None; points];
    let mut seen = vec![false; points];
    let mut out: Vec<Vec<usize>> = vec![Vec::new(); points];
    edges.iter().enumerate().for_each(|(i, edge)| out[edge.from].push(i));
    let mut queue = VecDeque::from([0]);
    seen[0] = true;
    while let Some(point) = queue.pop_front() {
        if point == target {
            let mut way = Vec::new();
            let mut at = point;
            while let Some(edge) = before[at] {
                way.push(edge);
                at = edges[edge].from;
            }
            way.reverse();
            return Some(way);
        }
        for edge in &out[point] {
            let to = edges[*edge].to;
            if !seen[to] {
                seen[to] = true;
                before[to] = Some(*edge);
                queue.push_back(to);
            }
        }
    }
    None
}

/// Can the original take this path? Not if it takes one condition both ways, or one that does not depend on anything.
pub(super) fn is_possible(trial: &mut Trial, values: &mut Values, stage: &mut Stage<'_>, path: &[usize]) -> bool {
    let mut taken: FxHashMap<([u64; 8], u8), bool> = FxHashMap::default();
    for (visit, edge) in path.iter().enumerate() {
        let (from, next) = (stage.edges[*edge].from, stage.edges[*edge].original.next);
        let exits = stage.points[from].original.leaving.clone();
        // The first exit to the block is the one that is meant; those before it are not taken.
        for exit in exits {
            let Some((code, flags)) = exit.when else {
                if exit.target == next {
                    break;
                }
                continue;
            };
            let chosen = exit.target == next;
            let Some(number) = trial.at(values, stage, visit, Side::Original, flags) else { return false };
            if is_constant(values, flags) {
                return false;
            }
            let holds = chosen == (code & 1 == 0);
            if *taken.entry((number.words, code & !1)).or_insert(holds) != holds {
                return false;
            }
            if chosen {
                break;
            }
        }
    }
    true
}

/// Does the value depend on nothing but numbers?
pub(super) fn is_constant(values: &Values, id: Id) -> bool {
    match values.kind(id) {
        Kind::Constant(_) => true,
        Kind::Linear(_) => values.terms(id).1.iter().all(|(_, term)| is_constant(values, *term)),
        Kind::Apply(..) | Kind::Result(_) | Kind::Extract(_) | Kind::Concat => {
            values.args(id).all(|arg| is_constant(values, arg))
        }
        _ => false,
    }
}

pub(super) fn used(function: &Function, instruction: u32) -> Used {
    let line = function.instructions.get(instruction as usize).map_or(0, |i| i.line);
    Used { line, text: function.instruction_text(instruction).to_string() }
}

/// The instructions of both sides that read the two values of a need or of an equation.
fn users(inference: &Inference<'_>, need: usize, user: Option<(Id, Id)>) -> (u32, u32) {
    let at = inference.needs[need];
    let point = &inference.product.points[at.point];
    if let Some((a, b)) = user
        && let (Some(ours), Some(theirs)) = (point.original.producer(a), point.candidate.producer(b))
    {
        return (ours, theirs);
    }
    match at.source {
        Source::Event(i, j, _) => (point.original.events[i].instruction, point.candidate.events[j].instruction),
        Source::Branch(k) => point.flags[k].2,
        Source::Fault(i, j) => (
            point.original.faultable.get(i).map_or(0, |f| f.instruction),
            point.candidate.faultable.get(j).map_or(0, |f| f.instruction),
        ),
        Source::Edge(..) => (0, 0),
    }
}

fn explain(unmet: &mut Unmet<'_>, names: &Names, chain: &Chain, path: &[usize], start: usize) -> AllocationError {
    let trail = unmet.mismatch.trail.clone();
    let need = unmet.inference.needs[unmet.need];
    let (a, b) = trail.last().copied().unwrap_or((need.original, need.candidate));
    let inner = trail
        .iter()
        .rev()
        .skip(1)
        .find(|(x, _)| matches!(unmet.inference.product.values.kind(*x), Kind::Apply(..) | Kind::Load(_)));
    // The use: of the equation nearest to the event, or, if the values differ in the event's own block, of the innermost
    // operation whose operands differ.
    let (users, wanted, visit) = match &chain.equation {
        Some((equation, because, _)) => (users(&unmet.inference, because.need, because.user), *equation, path.len()),
        None => (users(&unmet.inference, chain.root, inner.copied()), (a, b), start),
    };
    let Product { original, candidate, values, points, edges } = &mut unmet.inference.product;
    let (original, candidate): (&Function, &Function) = (original, candidate);
    let mut blocks: Vec<u32> = vec![original.blocks[points[0].blocks.0 as usize].number];
    blocks.extend(path.iter().map(|e| original.blocks[points[edges[*e].to].blocks.0 as usize].number));
    let mut stage = Stage { original, candidate, points, edges };
    let mut trial = Trial::along(stage.edges, path, SEEDS[0]);
    let lives = find_value(&mut trial, values, &mut stage, visit, wanted);
    let show = |id: Id| render(values, names, original, candidate, id, 3);
    let (needs, holds) = if chain.equation.is_some() {
        let (mut needs, mut holds) = (show(wanted.0), show(wanted.1));
        if wanted.0 != a {
            needs = format!("{needs} = {}", show(a));
        }
        if wanted.1 != b {
            holds = format!("{holds} = {}", show(b));
        }
        (needs, holds)
    } else {
        (show(a), show(b))
    };
    let location = lane_of(values, wanted.1).map(|lane| candidate.location_name(lane.location));
    let summary = summary(candidate, values, location.as_deref(), lives, b);
    AllocationError {
        function: original.name.clone(),
        path: blocks,
        original: used(original, users.0),
        candidate: used(candidate, users.1),
        needs,
        holds,
        location,
        lives: lives.map(|l| candidate.location_name(l)),
        summary,
    }
}

fn summary(
    candidate: &Function,
    values: &Values,
    location: Option<&str>,
    lives: Option<Location>,
    holds: Id,
) -> String {
    let slot = |l: &Location| matches!(l.place(), Place::Slot(_));
    let from_slot = |l: Option<&str>| l.is_some_and(|l| l.starts_with("%stack."));
    let held = lane_of(values, holds).map(|lane| lane.location);
    match (lives.filter(slot), location) {
        (Some(slot), _) => format!("missing reload of {}", candidate.location_name(slot)),
        (None, Some(location)) if from_slot(Some(location)) => match lives {
            Some(register) => format!("missing spill of {} to {location}", candidate.location_name(register)),
            None => format!("wrong value in {location}"),
        },
        (None, _) if held.as_ref().is_some_and(slot) => {
            let name = held.map(|l| candidate.location_name(l)).unwrap_or_default();
            format!("missing spill to {name}, or a reload of the wrong slot")
        }
        (None, Some(location)) => match lives {
            Some(register) => format!("missing copy of {} to {location}", candidate.location_name(register)),
            None if values.has_junk(holds) => format!("{location} was overwritten"),
            None => format!("wrong value in {location}"),
        },
        (None, None) if values.has_junk(holds) => "the value was overwritten".to_string(),
        (None, None) => match lives {
            Some(register) => format!("the right value is in {}", candidate.location_name(register)),
            None => "wrong operand".to_string(),
        },
    }
}

fn lane_of(values: &Values, id: Id) -> Option<Lane> {
    if !is_input(values, id) {
        return None;
    }
    let (of, low) = match values.kind(id) {
        Kind::Extract(low) => (values.arg(id, 0), low),
        _ => (id, 0),
    };
    match values.kind(of) {
        Kind::Input(_, location) => Some(Lane::new(location, low, values.bits(id))),
        _ => None,
    }
}

/// A location of the candidate that holds the wanted value where the block of the use is entered.
fn find_value(
    trial: &mut Trial,
    values: &mut Values,
    stage: &mut Stage<'_>,
    visit: usize,
    wanted: (Id, Id),
) -> Option<Location> {
    let bits = values.bits(wanted.0);
    let number = trial.at(values, stage, visit, Side::Original, wanted.0)?;
    let avoid = lane_of(values, wanted.1).map(|lane| lane.location);
    let slots = (0..stage.candidate.slots.len() as u32).map(Location::slot);
    let registers = (0..64).map(Location::physical);
    let mut seen = FxHashSet::default();
    for location in slots.chain(registers).filter(|l| Some(*l) != avoid) {
        let width = stage.candidate.width(location);
        let spill = !matches!(location.place(), Place::Slot(n) if stage.candidate.slots[n as usize] == 0);
        if width < bits || !spill || !seen.insert(location) {
            continue;
        }
        let whole = values.input(Side::Candidate, location, width);
        let part = values.extract(whole, 0, bits);
        if trial.at(values, stage, visit, Side::Candidate, part).is_some_and(|n| n.words == number.words) {
            return Some(location);
        }
    }
    None
}
