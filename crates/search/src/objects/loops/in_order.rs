//! Which loop heads are reached together, from the code alone: loops meet in their order, and the numbers by which they
//! count say how many turns of the original are one of the candidate's.
//!
//! Trust: none.

use super::correlate::{Meeting, Plan, complete};
use super::fields::frame_offset;
use program::loops::Loops;
use program::{Function, Op, PointId, Register};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use term::{Arena, Linear, TermId, VarId};

/// Ways to give the candidate's loops to the original's that are looked at.
const MOST_ASSIGNMENTS: usize = 40;

/// Plans, the likeliest first.
pub(crate) fn plans(arena: &Arena, functions: [&Function; 2], loops: &[Loops; 2], unroll: u32) -> Vec<Plan> {
    let mut out: Vec<Plan> = Vec::new();
    for assigned in assignments(loops[0].heads.len(), loops[1].heads.len()) {
        for turns in [Turns::Fewest, Turns::Most] {
            for (cut, peeled) in [(Cut::Behind, 0), (Cut::Head, 0), (Cut::Last, 0), (Cut::Behind, 1), (Cut::Head, 1)] {
                let meeting = |(theirs, ours): (&PointId, &usize)| {
                    let own = loops[0].heads[*ours];
                    let alternatives = loops[0].alternatives(functions[0], own);
                    let point = match cut {
                        Cut::Head => own,
                        Cut::Behind => *alternatives.get(1).unwrap_or(&own),
                        Cut::Last => *alternatives.last().unwrap_or(&own),
                    };
                    let bodies = [loops[0].body(own), loops[1].body(*theirs)];
                    let ratios = ratios(arena, functions, &bodies, unroll);
                    let ratio = match turns {
                        Turns::Fewest => ratios.first(),
                        Turns::Most => ratios.last(),
                    };
                    let turns = [ratio.copied().unwrap_or(1), 1];
                    Meeting { turns, peeled, ..Meeting::plain([point, *theirs]) }
                };
                let points: Vec<Meeting> = loops[1].heads.iter().zip(&assigned).map(meeting).collect();
                let plan = complete(loops, functions[0], points);
                out.extend(plan.filter(|plan| !out.contains(plan)));
            }
        }
    }
    out
}

/// Where the original's loop is cut.
#[derive(Clone, Copy)]
enum Cut {
    Head,
    /// At the point behind the head: behind the test, for a loop that a compiler turns round.
    Behind,
    /// At the last point that every turn passes.
    Last,
}

/// Which of the possible numbers of turns is taken.
#[derive(Clone, Copy)]
enum Turns {
    Fewest,
    Most,
}

/// Ways to give `theirs` loops to `ours`, in order: the nearest to one by one first.
fn assignments(ours: usize, theirs: usize) -> Vec<Vec<usize>> {
    if ours == 0 || theirs == 0 {
        return Vec::new();
    }
    let mut out: Vec<Vec<usize>> = vec![Vec::new()];
    for j in 0..theirs {
        let mut next: Vec<Vec<usize>> = Vec::new();
        for chosen in &out {
            for i in chosen.last().copied().unwrap_or(0)..ours {
                next.push(chosen.iter().copied().chain([i]).collect());
            }
        }
        // A loop of the candidate more or less moves the others by as much.
        let apart = |chosen: &Vec<usize>| -> usize { chosen.iter().enumerate().map(|(j, i)| i.abs_diff(j)).sum() };
        next.sort_by_key(|chosen| (apart(chosen), chosen.clone()));
        next.truncate(MOST_ASSIGNMENTS * (j + 1));
        out = next;
    }
    let left_out = |chosen: &Vec<usize>| (0..ours).filter(|i| !chosen.contains(i)).count();
    out.sort_by_key(left_out);
    out.truncate(MOST_ASSIGNMENTS);
    out
}

/// Turns of the original that could be one of the candidate's, the fewest first.
fn ratios(arena: &Arena, functions: [&Function; 2], bodies: &[Vec<PointId>; 2], unroll: u32) -> Vec<u32> {
    let ours = strides(arena, functions[0], &bodies[0]);
    let theirs = strides(arena, functions[1], &bodies[1]);
    let sizes = sizes(arena, functions[1], &bodies[1]);
    let mut each: Vec<BTreeSet<u32>> = Vec::new();
    for step in &theirs {
        let mut possible = BTreeSet::new();
        for own in ours.iter().chain(&[1]) {
            for size in sizes.iter().chain(&[1]) {
                let by = u64::from(*size) * own;
                if by > 0 && step.is_multiple_of(by) && step / by <= u64::from(unroll) {
                    possible.insert((step / by) as u32);
                }
            }
        }
        if !possible.is_empty() {
            each.push(possible);
        }
    }
    // What counts by the fewest says the most.
    each.into_iter().min_by_key(|p| p.last().copied()).unwrap_or_default().into_iter().collect()
}

/// The numbers by which variables of a loop are counted up or down.
fn strides(arena: &Arena, function: &Function, body: &[PointId]) -> BTreeSet<u64> {
    let mut out = BTreeSet::new();
    for point in body {
        let mut slots: FxHashMap<VarId, i64> = FxHashMap::default();
        for (_, op) in &function.point(*point).ops {
            match op {
                Op::Load { var, address, .. } => {
                    slots.remove(var);
                    slots.extend(frame_offset(arena, function, *address).map(|offset| (*var, offset)));
                }
                Op::Set { var, value } => {
                    if let Some((base, step)) = counted(arena, *value)
                        && base == *var
                        && Register::of_var(base) != Some(Register::RSP)
                    {
                        out.insert(step);
                    }
                    let copied = narrow_var(arena, *value).and_then(|v| slots.get(&v).copied());
                    slots.remove(var);
                    slots.extend(copied.map(|offset| (*var, offset)));
                }
                Op::Store { address, value } => {
                    if let (Some(offset), Some((base, step))) =
                        (frame_offset(arena, function, *address), counted(arena, *value))
                        && slots.get(&base) == Some(&offset)
                    {
                        out.insert(step);
                    }
                }
                Op::Unknown { var } => {
                    slots.remove(var);
                }
                Op::Fault { .. } => {}
            }
        }
    }
    out
}

/// `x + c` for a variable, perhaps cut and extended: the variable and |c|.
fn counted(arena: &Arena, value: TermId) -> Option<(VarId, u64)> {
    let value = match arena.op(value) {
        term::Op::Zext(_) | term::Op::Sext(_) => arena.arg(value, 0),
        _ => value,
    };
    let width = arena.sort(value).width().filter(|w| *w <= 64)?;
    let linear = Linear::of(arena, value);
    let [(term, factor)] = &linear.terms[..] else { return None };
    let shift = 64 - u32::from(width);
    let step = ((linear.constant.low() << shift) as i64 >> shift).unsigned_abs();
    let var = narrow_var(arena, *term)?;
    (factor.to_u64() == Some(1) && step > 0).then_some((var, step))
}

/// The variable that a term is, perhaps cut or extended.
fn narrow_var(arena: &Arena, term: TermId) -> Option<VarId> {
    match arena.op(term) {
        term::Op::Zext(_) | term::Op::Sext(_) | term::Op::Extract { .. } => narrow_var(arena, arena.arg(term, 0)),
        _ => arena.as_var(term),
    }
}

/// Bytes of the accesses of a loop.
pub(super) fn sizes(arena: &Arena, function: &Function, body: &[PointId]) -> BTreeSet<u16> {
    let ops = body.iter().flat_map(|point| &function.point(*point).ops);
    let bytes = |(_, op): &(u64, Op)| match op {
        Op::Load { bytes, .. } => Some(*bytes),
        Op::Store { value, .. } => arena.sort(*value).width().map(|width| width / 8),
        _ => None,
    };
    ops.filter_map(bytes).filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_given_out_in_order() {
        assert_eq!(assignments(1, 1), [[0]]);
        assert_eq!(assignments(2, 2)[0], [0, 1]);
        // A loop and its remainder.
        assert_eq!(assignments(1, 2), [[0, 0]]);
        assert_eq!(assignments(2, 1), [[0], [1]]);
        assert!(assignments(2, 3).iter().all(|a| a.is_sorted()));
        assert!(assignments(0, 1).is_empty() && assignments(1, 0).is_empty());
        assert!(assignments(9, 9).len() <= MOST_ASSIGNMENTS);
    }
}
