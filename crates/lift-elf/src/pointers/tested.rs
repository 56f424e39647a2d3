//! Truth values, by the form in which unoptimised code of clang tests them.
//!
//! It tests a `_Bool` by the lowest bit of its byte in memory, `test byte ptr [x], 1`, and nothing else so: what the source
//! masks itself, `x & 1`, and bit fields are loaded into a register first. That is so because only its fast selector puts an operand
//! in memory into an instruction, and only where a value is truncated to one bit, which C has for a `_Bool` alone.
//! - An object of another file, of which its debug information says nothing, is a `_Bool` wherever a function that tests it so loads it.
//! - Behind a pointer, and in what is declared, the type must say the same. The type alone says nothing, for the access may be through a
//!   cast; only the instruction with that form is taken to load a `_Bool`.
//!
//! Trust: full, as `truth-values`.

use crate::layout::Base;
use program::{Op, Point, Register};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use term::{Arena, Op as TermOp, TermId, VarId};

/// Instructions that load such a byte. `typed` are the objects of which a declaration is known.
pub(super) fn tested_bytes(
    arena: &Arena,
    points: &[Point],
    bases: &FxHashMap<VarId, Base>,
    typed: &dyn Fn(VarId) -> bool,
) -> BTreeSet<u64> {
    let undeclared = |address: TermId| arena.as_var(address).is_some_and(|v| bases.contains_key(&v) && !typed(v));
    let mut tested: FxHashSet<TermId> = FxHashSet::default();
    let mut loads: Vec<(TermId, u64)> = Vec::new();
    for point in points {
        // Registers that hold the address of an object: position-independent code loads it first.
        let mut held: FxHashMap<VarId, TermId> = FxHashMap::default();
        for (i, (place, op)) in point.ops.iter().enumerate() {
            match op {
                Op::Set { var, value } => match undeclared(*value) {
                    true => drop(held.insert(*var, *value)),
                    false => drop(held.remove(var)),
                },
                Op::Load { var, .. } | Op::Unknown { var } => drop(held.remove(var)),
                Op::Store { .. } | Op::Fault { .. } => {}
            }
            let Op::Load { var, address, bytes: 1 } = op else { continue };
            let through = arena.as_var(*address).and_then(|register| held.get(&register));
            let address = through.copied().unwrap_or(*address);
            if !undeclared(address) {
                continue;
            }
            loads.push((address, *place));
            if tests_lowest_bit(arena, point, i, *var) {
                tested.insert(address);
            }
        }
    }
    loads.into_iter().filter(|(address, _)| tested.contains(address)).map(|(_, place)| place).collect()
}

/// Instructions that test the lowest bit of a byte in memory, and do nothing else with it.
pub(super) fn tested_in_memory<'a>(arena: &'a Arena, points: &'a [Point]) -> impl Iterator<Item = u64> + 'a {
    points.iter().flat_map(move |point| {
        let ops = point.ops.iter().enumerate();
        ops.filter_map(move |(i, (place, op))| {
            let Op::Load { var, bytes: 1, .. } = op else { return None };
            let alone = i.checked_sub(1).is_none_or(|before| point.ops[before].0 != *place);
            (alone && tests_lowest_bit(arena, point, i, *var)).then_some(*place)
        })
    })
}

/// Does an instruction look at nothing but the lowest bit of the byte that its operation `i` loads?
fn tests_lowest_bit(arena: &Arena, point: &Point, i: usize, byte: VarId) -> bool {
    let place = point.ops[i].0;
    let rest = point.ops[i + 1..].iter().take_while(|(at, _)| *at == place);
    let looks: Vec<Look> = rest.map(|(_, op)| look(arena, op, byte)).collect();
    looks.contains(&Look::LowestBit) && !looks.contains(&Look::Other)
}

/// What an operation looks at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    Nothing,
    /// It sets a flag by the lowest bit of the byte.
    LowestBit,
    Other,
}

fn look(arena: &Arena, op: &Op, byte: VarId) -> Look {
    let value = match op {
        Op::Set { var, value } if matches!(Register::of_var(*var), Some(Register::Flag(_))) => *value,
        Op::Unknown { .. } => return Look::Nothing,
        _ => return Look::Other,
    };
    let (mut open, mut seen) = (vec![value], Look::Nothing);
    while let Some(term) = open.pop() {
        let lowest = matches!(arena.op(term), TermOp::Extract { hi: 0, lo: 0 });
        if lowest && arena.as_var(arena.arg(term, 0)) == Some(byte) {
            seen = Look::LowestBit;
        } else if arena.as_var(term).is_some() {
            return Look::Other;
        } else {
            open.extend(arena.args(term).iter().copied());
        }
    }
    seen
}
