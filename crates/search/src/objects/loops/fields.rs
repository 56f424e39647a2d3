//! Memory that the original's loops read at addresses that do not change: fields behind pointers that live in the frame or,
//! of optimised code, in registers, and globals. Compilers load these once, before the loop.

use interpreter::{Layout, WatchBase, WatchedLoad};
use program::loops::Loops;
use program::{Function, Next, ObjectKind, Op, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, Bits, Linear, TermId, VarId};

/// A piece of memory: how it is watched, and how a certificate reads it.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub watched: WatchedLoad,
    pub text: String,
    /// Is it written in a loop, too?
    pub stored: bool,
}

impl Field {
    /// The address alone.
    pub fn address(&self) -> &str {
        let inner = self.text.splitn(3, ' ').nth(2).unwrap_or("");
        inner.strip_suffix(')').unwrap_or(inner)
    }
}

/// Fields that are watched.
const MOST_FIELDS: usize = 40;
/// Distance of the frame pointer from the entry stack pointer in unoptimised code.
const FRAME_POINTER: i64 = -8;

/// The fields that the original's loops read.
pub(crate) fn fields(arena: &Arena, function: &Function, loops: &Loops, layout: &Layout) -> Vec<Field> {
    let mut found: BTreeMap<String, WatchedLoad> = BTreeMap::new();
    let mut stored: BTreeSet<String> = BTreeSet::new();
    let kept = kept_registers(arena, function, loops);
    for head in &loops.heads {
        for point in loops.body(*head) {
            // What a register or temporary holds: the word at an offset of the frame.
            let mut slots: FxHashMap<VarId, i64> = FxHashMap::default();
            for (_, op) in &function.point(point).ops {
                match op {
                    Op::Load { var, address, bytes } => {
                        slots.remove(var);
                        if let Some(offset) = frame_offset(arena, function, *address) {
                            if *bytes == 8 {
                                slots.insert(*var, offset);
                            }
                        } else if let Some((text, watched)) =
                            field(arena, function, layout, (&slots, &kept), *address, *bytes)
                        {
                            found.insert(text, watched);
                        }
                    }
                    Op::Set { var, value } => {
                        let copied = arena.as_var(*value).and_then(|v| slots.get(&v).copied());
                        slots.remove(var);
                        if let Some(offset) = copied {
                            slots.insert(*var, offset);
                        }
                    }
                    Op::Unknown { var } => {
                        slots.remove(var);
                    }
                    Op::Store { address, value } => {
                        let bytes = arena.width(*value) / 8;
                        stored.extend(
                            field(arena, function, layout, (&slots, &kept), *address, bytes).map(|(text, _)| text),
                        );
                    }
                    Op::Fault { .. } => {}
                }
            }
        }
    }
    let field = |(text, watched)| Field { watched, stored: stored.contains(&text), text };
    found.into_iter().take(MOST_FIELDS).map(field).collect()
}

/// What the candidate's loops read and write at constant distances from its registers, and behind a register and an index;
/// of these also what the turn before has accessed there.
pub(crate) fn behind_registers(arena: &Arena, function: &Function, loops: &Loops) -> Vec<Field> {
    let mut plain: BTreeMap<String, WatchedLoad> = BTreeMap::new();
    let mut indexed: BTreeMap<String, WatchedLoad> = BTreeMap::new();
    for head in &loops.heads {
        let body = loops.body(*head);
        let ops = || body.iter().flat_map(|point| function.point(*point).ops.iter().map(|(_, op)| op));
        let steps: FxHashMap<VarId, i64> = ops().filter_map(|op| step(arena, op)).collect();
        for op in ops() {
            let (address, bytes) = match op {
                Op::Load { address, bytes, .. } => (address, *bytes),
                Op::Store { address, value } => (address, arena.width(*value) / 8),
                _ => continue,
            };
            if !matches!(bytes, 1 | 2 | 4 | 8) {
                continue;
            }
            let linear = Linear::of(arena, *address);
            let offset = linear.constant.low() as i64;
            let general = |(term, factor): &(TermId, Bits)| {
                let var = arena.as_var(*term)?;
                match Register::of_var(var) {
                    Some(Register::RSP) => None,
                    Some(Register::RBP) if function.unoptimised => None,
                    Some(register @ Register::General(number)) => Some((var, register, number, factor.to_u64()?)),
                    _ => None,
                }
            };
            let parts: Option<Vec<_>> = linear.terms.iter().map(general).collect();
            match parts.as_deref() {
                Some(&[(_, register, number, 1)]) => {
                    let text = format!("(peek {bytes} (add c.{} #64:{offset}))", register.name());
                    plain.insert(text, WatchedLoad { base: WatchBase::Register(number), offset, bytes });
                }
                Some(&[first, second]) => {
                    let (base, index) = if first.3 == 1 { (first, second) } else { (second, first) };
                    let Some(scale) = u8::try_from(index.3).ok().filter(|_| base.3 == 1) else { continue };
                    let moved = |var: VarId| steps.get(&var).copied().unwrap_or(0);
                    let turn = moved(base.0).wrapping_add(moved(index.0).wrapping_mul(i64::from(scale)));
                    for offset in [offset, offset.wrapping_sub(turn)] {
                        let scaled = format!("(mul #64:{scale} c.{})", index.1.name());
                        let text = format!("(peek {bytes} (add c.{} {scaled} #64:{offset}))", base.1.name());
                        let base = WatchBase::Indexed { base: base.2, index: index.2, scale };
                        indexed.insert(text, WatchedLoad { base, offset, bytes });
                    }
                }
                _ => {}
            }
        }
    }
    let all = plain.into_iter().take(MOST_FIELDS).chain(indexed.into_iter().take(MOST_FIELDS));
    all.map(|(text, watched)| Field { watched, text, stored: false }).collect()
}

/// A register to which a constant is added, and which.
fn step(arena: &Arena, op: &Op) -> Option<(VarId, i64)> {
    let Op::Set { var, value } = op else { return None };
    let Some(Register::General(_)) = Register::of_var(*var) else { return None };
    let linear = Linear::of(arena, *value);
    let [(term, factor)] = &linear.terms[..] else { return None };
    let same = arena.as_var(*term) == Some(*var) && factor.to_u64() == Some(1);
    same.then(|| (*var, linear.constant.low() as i64))
}

/// Does the function keep its variables in registers, `rbp` among them, by its debug information?
pub(super) fn keeps_registers(function: &Function) -> bool {
    !function.unoptimised && function.signature.is_some()
}

/// The general registers but `rsp`, and their variables.
pub(super) fn general_registers(arena: &Arena) -> impl Iterator<Item = (VarId, Register)> {
    let general = (0..16).map(Register::General).filter(|r| *r != Register::RSP);
    general.filter_map(|r| Some((arena.find_var(&r.name())?, r)))
}

/// Registers that the loops of optimised code only read: what pointers in them point to has a name.
pub(super) fn kept_registers(arena: &Arena, function: &Function, loops: &Loops) -> FxHashSet<VarId> {
    if !keeps_registers(function) {
        return FxHashSet::default();
    }
    let mut kept: FxHashSet<VarId> = general_registers(arena).map(|(var, _)| var).collect();
    for point in loops.heads.iter().flat_map(|head| loops.body(*head)).map(|point| function.point(point)) {
        for (_, op) in &point.ops {
            if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op {
                kept.remove(var);
            }
        }
        if let Next::Call(_) = point.next {
            kept.retain(|var| Register::of_var(*var).is_some_and(|r| Register::CALLEE_SAVED.contains(&r)));
        }
    }
    kept
}

/// The offset of a variable in the frame from the entry stack pointer.
pub(super) fn frame_offset(arena: &Arena, function: &Function, address: TermId) -> Option<i64> {
    if keeps_registers(function) { None } else { rbp_offset(arena, address) }
}

/// `rbp + k` as an offset from the entry stack pointer.
pub(super) fn rbp_offset(arena: &Arena, address: TermId) -> Option<i64> {
    let linear = Linear::of(arena, address);
    match &linear.terms[..] {
        [(term, factor)] if factor.to_u64() == Some(1) => {
            let register = arena.as_var(*term).and_then(Register::of_var)?;
            (register == Register::RBP).then(|| linear.constant.low() as i64 + FRAME_POINTER)
        }
        _ => None,
    }
}

pub(super) fn field(
    arena: &Arena,
    function: &Function,
    layout: &Layout,
    (slots, kept): (&FxHashMap<VarId, i64>, &FxHashSet<VarId>),
    address: TermId,
    bytes: u16,
) -> Option<(String, WatchedLoad)> {
    if !matches!(bytes, 1 | 2 | 4 | 8) {
        return None;
    }
    let linear = Linear::of(arena, address);
    let [(term, factor)] = &linear.terms[..] else { return None };
    let var = arena.as_var(*term).filter(|_| factor.to_u64() == Some(1))?;
    let offset = linear.constant.low() as i64;
    if let Some(slot) = slots.get(&var) {
        let watched = WatchedLoad { base: WatchBase::Slot(*slot), offset, bytes };
        return Some((format!("(load {bytes} (add o[{slot},8] #64:{offset}))"), watched));
    }
    if let Some(register @ Register::General(number)) = Register::of_var(var).filter(|_| kept.contains(&var)) {
        let watched = WatchedLoad { base: WatchBase::Register(number), offset, bytes };
        return Some((format!("(load {bytes} (add o.{} #64:{offset}))", register.name()), watched));
    }
    let object = function.objects.get(&var)?;
    if object.kind == ObjectKind::Section || object.content.is_some() {
        return None;
    }
    let name = arena.var_name(var);
    let plain = !name.chars().any(|c| c.is_whitespace() || c == '(' || c == ')');
    let watched = WatchedLoad { base: WatchBase::Address(layout.address(var)?), offset, bytes };
    plain.then(|| (format!("(load {bytes} (add &{name} #64:{offset}))"), watched))
}
