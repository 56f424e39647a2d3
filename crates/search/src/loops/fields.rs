//! Memory that the original's loops read at addresses that do not change: fields behind pointers that live in the frame,
//! and globals. Compilers load these once, before the loop.

use graph::interpreter::{Layout, WatchBase, WatchedLoad};
use graph::loops::Loops;
use graph::{Function, ObjectKind, Op, Register};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, Linear, TermId, VarId};

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
    for head in &loops.heads {
        for point in loops.body(*head) {
            // What a register or temporary holds: the word at an offset of the frame.
            let mut slots: FxHashMap<VarId, i64> = FxHashMap::default();
            for (_, op) in &function.point(point).ops {
                match op {
                    Op::Load { var, address, bytes } => {
                        slots.remove(var);
                        if let Some(offset) = frame_offset(arena, *address) {
                            if *bytes == 8 {
                                slots.insert(*var, offset);
                            }
                        } else if let Some((text, watched)) = field(arena, function, layout, &slots, *address, *bytes) {
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
                        stored.extend(field(arena, function, layout, &slots, *address, bytes).map(|(text, _)| text));
                    }
                    Op::Fault { .. } => {}
                }
            }
        }
    }
    let field = |(text, watched)| Field { watched, stored: stored.contains(&text), text };
    found.into_iter().take(MOST_FIELDS).map(field).collect()
}

/// What the candidate's loops read and write at constant distances from its registers.
pub(crate) fn behind_registers(arena: &Arena, function: &Function, loops: &Loops) -> Vec<Field> {
    let mut found: BTreeMap<String, WatchedLoad> = BTreeMap::new();
    for point in loops.heads.iter().flat_map(|head| loops.body(*head)) {
        for (_, op) in &function.point(point).ops {
            let (address, bytes) = match op {
                Op::Load { address, bytes, .. } => (address, *bytes),
                Op::Store { address, value } => (address, arena.width(*value) / 8),
                _ => continue,
            };
            if !matches!(bytes, 1 | 2 | 4 | 8) {
                continue;
            }
            let linear = Linear::of(arena, *address);
            let [(term, factor)] = &linear.terms[..] else { continue };
            let register = arena.as_var(*term).and_then(Register::of_var);
            if let Some(register @ Register::General(number)) = register
                && register != Register::RSP
                && factor.to_u64() == Some(1)
            {
                let offset = linear.constant.low() as i64;
                let text = format!("(peek {bytes} (add c.{} #64:{offset}))", register.name());
                found.insert(text, WatchedLoad { base: WatchBase::Register(number), offset, bytes });
            }
        }
    }
    let field = |(text, watched)| Field { watched, text, stored: false };
    found.into_iter().take(MOST_FIELDS).map(field).collect()
}

/// `rbp + k` as an offset from the entry stack pointer.
pub(super) fn frame_offset(arena: &Arena, address: TermId) -> Option<i64> {
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
    slots: &FxHashMap<VarId, i64>,
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
    let object = function.objects.get(&var)?;
    if object.kind == ObjectKind::Section || object.content.is_some() {
        return None;
    }
    let name = arena.var_name(var);
    let plain = !name.chars().any(|c| c.is_whitespace() || c == '(' || c == ')');
    let watched = WatchedLoad { base: WatchBase::Address(layout.address(var)?), offset, bytes };
    plain.then(|| (format!("(load {bytes} (add &{name} #64:{offset}))"), watched))
}
