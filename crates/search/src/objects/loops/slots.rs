//! Slots of a frame that a loop stores to, whether debug information has a variable there or not.
//!
//! Which offset from the entry stack pointer a store has is read from the code: registers that hold a frame address at a
//! constant distance are followed from the entry. Where ways disagree nothing is known.

use kernel::{Location, Spot};
use program::{Function, Next, Op, PointId, Register, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeSet, VecDeque};
use term::{Arena, Linear, TermId};

/// Registers and temporaries that hold a frame address, by the number of their variable: its distance from the entry stack
/// pointer.
type Distances = FxHashMap<usize, i64>;

/// Widest piece of a slot that is looked at as a number.
const WORD: i64 = 8;

/// The slots that the given points store to, in pieces of at most eight bytes that do not overlap, widest first.
pub(super) fn stored(arena: &Arena, function: &Function, side: Side, body: &[PointId]) -> BTreeSet<Location> {
    let entries = entry_distances(arena, function);
    let mut found: Vec<Location> = Vec::new();
    for point in body {
        let Some(mut now) = entries[point.index()].clone() else { continue };
        for (_, op) in &function.point(*point).ops {
            if let Op::Store { address, value } = op
                && let Some(offset) = distance(arena, &now, *address)
                && let Some(width) = arena.sort(*value).width()
            {
                let bytes = i64::from(width / 8);
                let pieces = (0..bytes).step_by(WORD as usize).map(|at| (offset + at, (bytes - at).min(WORD)));
                let slot = |(offset, bytes)| Location::whole(side, Spot::Slot { offset, bytes: bytes as u16 });
                found.extend(pieces.filter_map(slot));
            }
            step(arena, &mut now, op);
        }
    }
    found.sort_by_key(|l| (std::cmp::Reverse(l.width), *l));
    let mut out: BTreeSet<Location> = BTreeSet::new();
    for location in found {
        if !out.iter().any(|l| l.overlaps(&location)) {
            out.insert(location);
        }
    }
    out
}

/// What is known where each point begins; nothing for points that no way leads to.
fn entry_distances(arena: &Arena, function: &Function) -> Vec<Option<Distances>> {
    let mut out: Vec<Option<Distances>> = vec![None; function.points.len()];
    out[Function::ENTRY.index()] = Some(FxHashMap::from_iter([(Register::RSP.index(), 0)]));
    let kept = |r: &Register| *r == Register::RSP || Register::CALLEE_SAVED.contains(r);
    let registers: FxHashSet<usize> = Register::all().map(Register::index).collect();
    let saved: FxHashSet<usize> = Register::all().filter(kept).map(Register::index).collect();
    let mut open = VecDeque::from([Function::ENTRY]);
    while let Some(id) = open.pop_front() {
        let Some(mut now) = out[id.index()].clone() else { continue };
        let point = function.point(id);
        point.ops.iter().for_each(|(_, op)| step(arena, &mut now, op));
        // Temporaries end with their point.
        now.retain(|number, _| registers.contains(number));
        let targets: Vec<PointId> = match &point.next {
            Next::Edges(edges) => edges.iter().map(|e| e.target).collect(),
            Next::Call(call) => {
                now.retain(|number, _| saved.contains(number));
                call.returns.into_iter().collect()
            }
            Next::Return | Next::Fault(_) => Vec::new(),
        };
        for target in targets {
            let known = &mut out[target.index()];
            let joined = match known.as_ref() {
                None => now.clone(),
                Some(before) => before.iter().filter(|(v, d)| now.get(v) == Some(d)).map(|(v, d)| (*v, *d)).collect(),
            };
            if known.as_ref() != Some(&joined) {
                *known = Some(joined);
                open.push_back(target);
            }
        }
    }
    out
}

fn step(arena: &Arena, now: &mut Distances, op: &Op) {
    match op {
        Op::Set { var, value } => match distance(arena, now, *value) {
            Some(at) => drop(now.insert(var.index(), at)),
            None => drop(now.remove(&var.index())),
        },
        Op::Load { var, .. } | Op::Unknown { var } => drop(now.remove(&var.index())),
        Op::Store { .. } | Op::Fault { .. } => {}
    }
}

/// The distance of a value from the entry stack pointer.
fn distance(arena: &Arena, now: &Distances, value: TermId) -> Option<i64> {
    if arena.sort(value).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, value);
    let [(term, factor)] = &linear.terms[..] else { return None };
    let at = now.get(&arena.as_var(*term)?.index()).filter(|_| factor.to_u64() == Some(1))?;
    Some(at.wrapping_add(linear.constant.low() as i64))
}
