//! Variables of the original that its loops compare with one another: where runs are too few or too far from the
//! bounds to tell, these are the orders worth claiming.

use super::fields::frame_offset;
use graph::loops::Loops;
use graph::{Function, Next, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use term::{Arena, TermId, VarId};

/// Pairs of offsets in the frame, each both ways round.
pub(crate) type Compared = BTreeSet<(i64, i64)>;

/// What the loops of a function compare.
pub(crate) fn compared(arena: &Arena, function: &Function, loops: &Loops) -> Compared {
    let mut out = Compared::new();
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    for point in loops.heads.iter().flat_map(|head| loops.body(*head)) {
        if !seen.insert(point.0) {
            continue;
        }
        let point = function.point(point);
        // What a register or temporary holds: a variable of the frame.
        let mut slots: FxHashMap<VarId, i64> = FxHashMap::default();
        for (_, op) in &point.ops {
            match op {
                Op::Load { var, address, .. } => {
                    slots.remove(var);
                    if let Some(offset) = frame_offset(arena, *address) {
                        slots.insert(*var, offset);
                    }
                }
                Op::Set { var, value } => {
                    comparisons(arena, &slots, *value, &mut out);
                    let copied = slot(arena, &slots, *value);
                    slots.remove(var);
                    if let Some(offset) = copied {
                        slots.insert(*var, offset);
                    }
                }
                Op::Unknown { var } => {
                    slots.remove(var);
                }
                Op::Store { .. } | Op::Fault { .. } => {}
            }
        }
        if let Next::Edges(edges) = &point.next {
            edges.iter().for_each(|edge| comparisons(arena, &slots, edge.guard, &mut out));
        }
    }
    out
}

/// The variable whose value, perhaps extended or cut, a term is.
fn slot(arena: &Arena, slots: &FxHashMap<VarId, i64>, term: TermId) -> Option<i64> {
    match arena.op(term) {
        term::Op::Zext(_) | term::Op::Sext(_) | term::Op::Extract { .. } => slot(arena, slots, arena.arg(term, 0)),
        _ => slots.get(&arena.as_var(term)?).copied(),
    }
}

/// Notes every comparison of two variables in a term.
fn comparisons(arena: &Arena, slots: &FxHashMap<VarId, i64>, term: TermId, out: &mut Compared) {
    let mut open = vec![term];
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        let args = arena.args(term);
        if matches!(arena.op(term), term::Op::Eq | term::Op::Ult | term::Op::Slt)
            && let [a, b] = [args[0], args[1]].map(|t| slot(arena, slots, t))
            && let (Some(a), Some(b)) = (a, b)
        {
            out.extend([(a, b), (b, a)]);
        }
        open.extend_from_slice(args);
    }
}
