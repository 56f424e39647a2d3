//! Results of the original that do not depend on its input: constants, and arguments that are returned.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`).

use super::{Fixed, FixedResult, block_values, fixed, has_cycle, is_frame_address};
use program::{Assumption, Call, Callee, Function, Next, Op, Place, PointId, Register, Side, call_that_returns_twice};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use symbolic::{Context, Joins, Known};
use term::{Arena, TermId};

/// What the function returns on every path, if one value fits all.
pub(super) fn fixed_result(arena: &mut Arena, function: &Function) -> Option<FixedResult> {
    let signature = function.signature.as_ref().filter(|s| s.unsupported.is_none())?;
    let [result] = signature.results[..] else { return None };
    if result.place != Place::Register(Register::General(0)) {
        return None;
    }
    let mut predecessors: Vec<Vec<PointId>> = vec![Vec::new(); function.points.len()];
    let mut work: Vec<PointId> = Vec::new();
    for (i, point) in function.points.iter().enumerate() {
        match &point.next {
            Next::Edges(edges) => edges.iter().for_each(|e| predecessors[e.target.index()].push(PointId(i as u32))),
            Next::Call(call) if call.tail => return None,
            Next::Return => work.push(PointId(i as u32)),
            Next::Call(_) | Next::Fault(_) => {}
        }
    }
    let after_call: FxHashSet<PointId> = function
        .points
        .iter()
        .filter_map(|p| match &p.next {
            Next::Call(call) => call.returns,
            _ => None,
        })
        .collect();
    let rax = Register::General(0).index();
    let mut seen: FxHashSet<PointId> = work.iter().copied().collect();
    let mut found: Option<FixedResult> = None;
    while let Some(point) = work.pop() {
        let values = block_values(arena, function, point);
        let value = match values.iter().find(|(var, _)| var.index() == rax).map(|(_, v)| *v) {
            Some(value) => Some(value),
            None if after_call.contains(&point) || point == Function::ENTRY => return None,
            None => None,
        };
        let Some(value) = value else {
            for p in &predecessors[point.index()] {
                if seen.insert(*p) {
                    work.push(*p);
                }
            }
            continue;
        };
        let here = match fixed(arena, function, value) {
            Some(value) => FixedResult::Value(value),
            None => slot_result(arena, function, point, result.bytes)?,
        };
        if found.as_ref().is_some_and(|f| *f != here) {
            return None;
        }
        found = Some(here);
    }
    found
}

/// The one number that a function without loops and calls returns on all paths, by executing it.
pub(super) fn computed_result(arena: &mut Arena, function: &Function) -> Option<FixedResult> {
    let signature = function.signature.as_ref().filter(|s| s.unsupported.is_none())?;
    let [result] = signature.results[..] else { return None };
    let Place::Register(register @ Register::General(0)) = result.place else { return None };
    if has_cycle(function) || function.points.iter().any(|p| matches!(p.next, Next::Call(_))) {
        return None;
    }
    let mut context = Context::new(arena, function, function, Vec::new());
    let state = context.entry_state(Side::Original);
    let heads = FxHashSet::default();
    let run = context.execute(Side::Original, Function::ENTRY, state, &heads, &Known::default(), Joins::Merge).ok()?;
    // Nothing may hang on it that a verdict would have to name.
    if context
        .assumptions
        .iter()
        .any(|a| !matches!(a, Assumption::FramePrivate | Assumption::Sequential | Assumption::NoVolatileCasts(_)))
    {
        return None;
    }
    let mut found = None;
    for arrival in &run.arrivals {
        let value = context.arena.truncate(arrival.state.get(register), 8 * result.bytes);
        let value = context.arena.as_u64(value)?;
        if found.is_some_and(|other| other != value) {
            return None;
        }
        found = Some(value);
    }
    found.map(|number| FixedResult::Value(Fixed::Number(number)))
}

/// The frame slot that the function returns at this point, and its bytes.
fn returned_slot(arena: &Arena, function: &Function, point: PointId) -> Option<(TermId, u16)> {
    let rax = Register::General(0).index();
    let ops = &function.point(point).ops;
    let writes = |op: &Op, index: usize| matches!(op, Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } if var.index() == index);
    let last = ops.iter().rposition(|(_, op)| writes(op, rax))?;
    // What reaches rax must be a load, or an unchanged or zero-extended copy of one.
    let (loaded, bytes) = match &ops[last].1 {
        Op::Load { address, bytes, .. } => (*address, *bytes),
        Op::Set { value, .. } => {
            let copied = if arena.op(*value) == term::Op::Zext(64) { arena.arg(*value, 0) } else { *value };
            let source = arena.as_var(copied)?;
            let at = ops[..last].iter().rposition(|(_, op)| writes(op, source.index()))?;
            match &ops[at].1 {
                Op::Load { address, bytes, .. } => (*address, *bytes),
                _ => return None,
            }
        }
        _ => return None,
    };
    // Relative to the frame pointer a slot has one name everywhere.
    let by_frame_pointer = arena.free_vars(loaded).iter().any(|var| var.index() == Register::RBP.index());
    if !is_frame_address(arena, loaded) || !by_frame_pointer || !function.is_unoptimised() {
        return None;
    }
    Some((loaded, bytes))
}

/// The function returns a frame slot to which only one value is ever stored.
fn slot_result(arena: &mut Arena, function: &Function, point: PointId, wanted: u16) -> Option<FixedResult> {
    let (loaded, bytes) = returned_slot(arena, function, point).filter(|(_, bytes)| *bytes >= wanted)?;
    let mut stored = None;
    for (i, p) in function.points.iter().enumerate() {
        for (n, (_, op)) in p.ops.iter().enumerate() {
            let Op::Store { address, value } = op else { continue };
            let overlap = arena.difference(*address, loaded).map(|d| d.low() as i64);
            if *address != loaded {
                if overlap.is_some_and(|d| d.unsigned_abs() < 64) && overlap.is_some_and(|d| near(arena, *value, d)) {
                    return None;
                }
                continue;
            }
            if arena.width(*value) != 8 * bytes {
                return None;
            }
            let here = match fixed(arena, function, *value) {
                Some(value) => FixedResult::Value(value),
                None => {
                    let var = arena.as_var(*value)?;
                    let register = Register::of_var(var).filter(|r| Register::ARGUMENTS.contains(r))?;
                    let untouched = i == Function::ENTRY.index()
                        && !p.ops[..n]
                            .iter()
                            .any(|(_, o)| matches!(o, Op::Set { var: v, .. } | Op::Load { var: v, .. } if *v == var));
                    if !untouched {
                        return None;
                    }
                    FixedResult::Argument(register)
                }
            };
            if stored.as_ref().is_some_and(|s| *s != here) {
                return None;
            }
            stored = Some(here);
        }
    }
    stored
}

/// Could a store of this value at distance `d` touch the 8 bytes at distance 0?
fn near(arena: &Arena, value: TermId, d: i64) -> bool {
    let bytes = i64::from(arena.width(value) / 8);
    d < 8 && d + bytes > 0
}

/// Functions that return null or what an allocating function has just given them: `xmalloc` and its like.
pub(super) fn allocators(
    arena: &mut Arena,
    functions: &[Function],
    replaceable: &BTreeSet<String>,
    twice: &BTreeSet<String>,
) -> FxHashSet<String> {
    let defined: FxHashSet<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    let mut known: FxHashSet<String> = FxHashSet::default();
    // Some call others.
    for _ in 0..3 {
        for function in functions {
            let fresh = |name: &str| match defined.contains(name) || function.defined.contains(name) {
                true => known.contains(name) && !replaceable.contains(name),
                false => {
                    let row = library::row(name, function.callees.get(name));
                    row.is_some_and(library::Contract::returns_fresh)
                }
            };
            let once = function.volatile.is_none() && call_that_returns_twice(function, twice).is_none();
            if once && !known.contains(&function.name) && returns_fresh(arena, function, &fresh) {
                known.insert(function.name.clone());
            }
        }
    }
    known
}

/// Where an allocating function has just returned, and nothing else leads to.
fn after_allocation(function: &Function, fresh: &dyn Fn(&str) -> bool) -> FxHashSet<PointId> {
    let mut given = FxHashSet::default();
    for point in &function.points {
        if let Next::Call(Call { callee: Callee::Named(name), returns: Some(returns), .. }) = &point.next
            && fresh(name)
        {
            given.insert(*returns);
        }
    }
    for point in &function.points {
        match &point.next {
            Next::Edges(edges) => given.retain(|p| edges.iter().all(|e| e.target != *p)),
            Next::Call(call) if !matches!(&call.callee, Callee::Named(name) if fresh(name)) => {
                given.retain(|p| call.returns != Some(*p));
            }
            _ => {}
        }
    }
    given
}

fn returns_fresh(arena: &Arena, function: &Function, fresh: &dyn Fn(&str) -> bool) -> bool {
    let Some(signature) = function.signature.as_ref().filter(|s| s.unsupported.is_none()) else { return false };
    let [result] = signature.results[..] else { return false };
    let given = after_allocation(function, fresh);
    if result.place != Place::Register(Register::General(0)) || result.bytes != 8 || given.is_empty() {
        return false;
    }
    let rax = Register::General(0).index();
    let writes =
        |op: &Op| matches!(op, Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } if var.index() == rax);
    let mut exits = 0;
    for (i, point) in function.points.iter().enumerate() {
        let exit = PointId(i as u32);
        let fine = match &point.next {
            Next::Return => {
                let at_once = given.contains(&exit) && !point.ops.iter().any(|(_, op)| writes(op));
                let kept = |(slot, bytes): (TermId, u16)| {
                    function.points.iter().enumerate().all(|(i, p)| {
                        let just_given = given.contains(&PointId(i as u32));
                        p.ops.iter().enumerate().all(|(n, (_, op))| {
                            let Op::Store { address, value } = op else { return true };
                            if *address != slot {
                                let distance = arena.difference(*address, slot).map(|d| d.low() as i64);
                                return distance.is_none_or(|d| !near(arena, *value, d));
                            }
                            let whole = bytes == 8 && arena.width(*value) == 64;
                            let untouched = whole && !p.ops[..n].iter().any(|(_, op)| writes(op));
                            let is_result = arena.as_var(*value).is_some_and(|var| var.index() == rax);
                            whole && arena.as_u64(*value) == Some(0) || is_result && just_given && untouched
                        })
                    })
                };
                at_once || returned_slot(arena, function, exit).is_some_and(kept)
            }
            Next::Call(call) if call.tail => matches!(&call.callee, Callee::Named(name) if fresh(name)),
            _ => continue,
        };
        if !fine {
            return false;
        }
        exits += 1;
    }
    exits > 0
}
