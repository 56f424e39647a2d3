//! Variables of the original that its loops compare with one another: where runs are too few or too far from the
//! bounds to tell, these are the orders worth claiming.

use super::fields::frame_offset;
use graph::loops::Loops;
use graph::{Function, Next, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use term::{Arena, TermId, VarId};

/// How the loops use the variables of the frame, by their offsets.
#[derive(Clone, Default, Debug)]
pub(crate) struct Compared {
    /// Pairs that are compared, each both ways round.
    pub pairs: BTreeSet<(i64, i64)>,
    /// Variables that are extended with their sign.
    pub signed: BTreeSet<i64>,
    /// Values of one byte value that are stored outside the frame: how to write the byte, and how many.
    pub fills: BTreeSet<(String, u16)>,
}

/// What the loops of a function compare.
pub(crate) fn compared(arena: &Arena, function: &Function, loops: &Loops) -> Compared {
    let mut out = Compared::default();
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
                Op::Store { address, value } if frame_offset(arena, *address).is_none() => {
                    out.fills.extend(fill(arena, &slots, *value));
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

/// The byte that a stored value repeats, and how often.
fn fill(arena: &Arena, slots: &FxHashMap<VarId, i64>, value: TermId) -> Option<(String, u16)> {
    let bytes = arena.width(value) / 8;
    if let Some(constant) = arena.as_u64(value) {
        let all = constant.to_le_bytes();
        let same = all[..usize::from(bytes.min(8))].iter().all(|b| *b == all[0]);
        return same.then(|| (format!("#8:{}", all[0] as i8), bytes));
    }
    (bytes == 1).then(|| slot(arena, slots, value)).flatten().map(|at| (format!("o[{at},1]"), 1))
}

/// The variable whose value, perhaps extended or cut, a term is.
fn slot(arena: &Arena, slots: &FxHashMap<VarId, i64>, term: TermId) -> Option<i64> {
    match arena.op(term) {
        term::Op::Zext(_) | term::Op::Sext(_) | term::Op::Extract { .. } => slot(arena, slots, arena.arg(term, 0)),
        _ => slots.get(&arena.as_var(term)?).copied(),
    }
}

/// Notes every comparison of two variables in a term, and every extension of one.
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
            out.pairs.extend([(a, b), (b, a)]);
        }
        if let term::Op::Sext(_) = arena.op(term) {
            out.signed.extend(slot(arena, slots, args[0]));
        }
        open.extend_from_slice(args);
    }
}
