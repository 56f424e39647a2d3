//! Variables of the original that its loops compare with one another: where runs are too few or too far from the
//! bounds to tell, these are the orders worth claiming.

use super::fields::{field, frame_offset, general_registers, keeps_registers, kept_registers};
use super::guess::NOWHERE;
use interpreter::Layout;
use kernel::{Location, Spot};
use program::loops::Loops;
use program::{Function, Next, Op, Register, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use term::{Arena, TermId, VarId};

/// How the loops use the variables of the frame, by their offsets, and registers of optimised code, by their keys.
#[derive(Clone, Default, Debug)]
pub(crate) struct Compared {
    /// Pairs that are compared, each both ways round.
    pub pairs: BTreeSet<(i64, i64)>,
    /// Variables and the constants that they are compared with.
    pub limits: BTreeSet<(i64, i64)>,
    /// Variables and the memory that they are compared with, as certificates read it.
    pub fields: BTreeSet<(i64, String)>,
    /// Variables that are extended with their sign.
    pub signed: BTreeSet<i64>,
}

/// What stands for the offset of a variable that is a register.
fn register_key(register: Register) -> i64 {
    (1 << 20) + register.index() as i64
}

impl Compared {
    /// What stands for a place of the original in these sets.
    pub fn key(location: &Location) -> Option<i64> {
        match location.spot {
            Spot::Slot { offset, .. } => Some(offset % NOWHERE),
            Spot::Register(register @ Register::General(_)) => {
                (location.side == Side::Original && location.low == 0).then(|| register_key(register))
            }
            Spot::Register(_) => None,
        }
    }

    /// Is the variable compared with anything, or extended as an index is?
    pub fn mentions(&self, offset: i64) -> bool {
        self.pairs.iter().any(|(at, _)| *at == offset)
            || self.limits.iter().any(|(at, _)| *at == offset)
            || self.fields.iter().any(|(at, _)| *at == offset)
            || self.signed.contains(&offset)
    }
}

/// What the loops of a function compare.
pub(crate) fn compared(arena: &Arena, function: &Function, loops: &Loops, layout: &Layout) -> Compared {
    let mut out = Compared::default();
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let kept = kept_registers(arena, function, loops);
    let registers = keeps_registers(function);
    for point in loops.heads.iter().flat_map(|head| loops.body(*head)) {
        if !seen.insert(point.0) {
            continue;
        }
        let point = function.point(point);
        // What a register or temporary holds: a variable of the frame.
        let mut slots: FxHashMap<VarId, i64> = FxHashMap::default();
        if registers {
            slots.extend(general_registers(arena).map(|(var, register)| (var, register_key(register))));
        }
        let mut loaded: FxHashMap<VarId, String> = FxHashMap::default();
        let mut constants: FxHashMap<VarId, i64> = FxHashMap::default();
        for (_, op) in &point.ops {
            match op {
                Op::Load { var, address, bytes } => {
                    let read = field(arena, function, layout, (&slots, &kept), *address, *bytes);
                    slots.remove(var);
                    loaded.remove(var);
                    constants.remove(var);
                    if let Some(offset) = frame_offset(arena, function, *address) {
                        slots.insert(*var, offset);
                    } else if let Some((text, _)) = read {
                        loaded.insert(*var, text);
                    }
                }
                Op::Set { var, value } => {
                    comparisons(arena, (&slots, &loaded, &constants), *value, &mut out);
                    constants.remove(var);
                    constants.extend(limit(arena, &constants, *value).map(|c| (*var, c)));
                    let copied = slot(arena, &slots, *value);
                    let read = arena.as_var(*value).and_then(|v| loaded.get(&v).cloned());
                    slots.remove(var);
                    loaded.remove(var);
                    if let Some(text) = read {
                        loaded.insert(*var, text);
                    }
                    // A register that is changed and then compared is its own variable.
                    let own = Register::of_var(*var).filter(|r| registers && matches!(r, Register::General(_)));
                    if let Some(key) = copied.or(own.map(register_key)) {
                        slots.insert(*var, key);
                    }
                }
                Op::Unknown { var } => {
                    slots.remove(var);
                    loaded.remove(var);
                    constants.remove(var);
                }
                // What was put into a variable is still at hand.
                Op::Store { address, value } => {
                    let held = match arena.op(*value) {
                        term::Op::Extract { .. } => arena.as_var(arena.arg(*value, 0)),
                        _ => arena.as_var(*value),
                    };
                    if let (Some(offset), Some(var)) = (frame_offset(arena, function, *address), held) {
                        slots.insert(var, offset);
                    }
                }
                Op::Fault { .. } => {}
            }
        }
        if let Next::Edges(edges) = &point.next {
            edges.iter().for_each(|edge| comparisons(arena, (&slots, &loaded, &constants), edge.guard, &mut out));
        }
    }
    out
}

/// The number that a term is, perhaps held by a register or temporary.
fn limit(arena: &Arena, constants: &FxHashMap<VarId, i64>, term: TermId) -> Option<i64> {
    match arena.op(term) {
        term::Op::Const(_) => arena.as_const(term).filter(|c| c.width() <= 64)?.to_i64(),
        term::Op::Extract { lo: 0, .. } => limit(arena, constants, arena.arg(term, 0)),
        _ => constants.get(&arena.as_var(term)?).copied(),
    }
}

/// The variable whose value, perhaps extended or cut, a term is.
fn slot(arena: &Arena, slots: &FxHashMap<VarId, i64>, term: TermId) -> Option<i64> {
    match arena.op(term) {
        term::Op::Zext(_) | term::Op::Sext(_) | term::Op::Extract { .. } => slot(arena, slots, arena.arg(term, 0)),
        _ => slots.get(&arena.as_var(term)?).copied(),
    }
}

/// What registers and temporaries hold: variables of the frame, memory, numbers.
type Held<'h> = (&'h FxHashMap<VarId, i64>, &'h FxHashMap<VarId, String>, &'h FxHashMap<VarId, i64>);

/// Notes every comparison of two variables in a term, and every extension of one.
fn comparisons(arena: &Arena, (slots, loaded, constants): Held, term: TermId, out: &mut Compared) {
    let mut open = vec![term];
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    while let Some(term) = open.pop() {
        if !seen.insert(term) {
            continue;
        }
        let args = arena.args(term);
        if matches!(arena.op(term), term::Op::Eq | term::Op::Ult | term::Op::Slt) {
            for (a, b) in [(args[0], args[1]), (args[1], args[0])] {
                let Some(left) = slot(arena, slots, a) else { continue };
                out.pairs.extend(slot(arena, slots, b).map(|right| (left, right)));
                out.fields.extend(arena.as_var(b).and_then(|v| loaded.get(&v)).map(|text| (left, text.clone())));
                out.limits.extend(limit(arena, constants, b).map(|c| (left, c)));
            }
        }
        if let term::Op::Sext(_) = arena.op(term) {
            out.signed.extend(slot(arena, slots, args[0]));
        }
        open.extend_from_slice(args);
    }
}
