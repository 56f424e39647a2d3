//! Constants that all call sites pass, through several functions.
//!
//! A call site passes a constant, or what its own function was given in an argument register and keeps in its home, or
//! something else. What a local function can be given is the union over its call sites, to a fixed point: if every
//! caller of `f` passes on its own argument, and that is always 7, then `f` is always given 7.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`). Printed as `callers(f)`.

use super::{File, Fixed, fixed, is_frame_address, values_after};
use program::{Call, Callee, Function, Next, Op, Register, call_that_returns_twice};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, TermId, VarId};

/// Distinct constants of an argument that are worth knowing.
const MOST_VALUES: usize = 16;

/// What a call site passes in a register.
#[derive(Clone, Debug)]
enum Passed {
    Constant(Fixed),
    /// What the caller itself was given there.
    Own(Register),
}

struct Site<'a> {
    caller: &'a str,
    callee: &'a str,
    passed: BTreeMap<Register, Passed>,
}

/// Constants that all call sites pass, by callee.
pub(super) fn passed_constants(
    file: &mut File,
    twice: &BTreeSet<String>,
) -> FxHashMap<String, BTreeMap<Register, BTreeSet<Fixed>>> {
    let mut sites: Vec<Site> = Vec::new();
    for function in file.functions {
        let homes = match call_that_returns_twice(function, twice) {
            None => homes(file.arena, function),
            Some(_) => FxHashMap::default(),
        };
        for point in &function.points {
            if let Next::Call(Call { callee: Callee::Named(callee), .. }) = &point.next
                && file.private.contains(callee)
            {
                let passed = passed_at(file.arena, function, &point.ops, &homes);
                sites.push(Site { caller: &function.name, callee, passed });
            }
        }
    }
    let mut out: FxHashMap<String, BTreeMap<Register, BTreeSet<Fixed>>> = FxHashMap::default();
    let mut lost: FxHashSet<(&str, Register)> = FxHashSet::default();
    let mut changed = true;
    while changed {
        changed = false;
        for site in &sites {
            for register in Register::ARGUMENTS {
                if lost.contains(&(site.callee, register)) {
                    continue;
                }
                let more = match site.passed.get(&register) {
                    Some(Passed::Constant(value)) => Some(BTreeSet::from([value.clone()])),
                    Some(Passed::Own(own)) if file.private.contains(site.caller) => {
                        let known = || out.get(site.caller).and_then(|o| o.get(own)).cloned().unwrap_or_default();
                        (!lost.contains(&(site.caller, *own))).then(known)
                    }
                    _ => None,
                };
                let all = out.entry(site.callee.to_string()).or_default().entry(register).or_default();
                let before = all.len();
                all.extend(more.iter().flatten().cloned());
                changed |= all.len() > before;
                if more.is_none() || all.len() > MOST_VALUES {
                    lost.insert((site.callee, register));
                    changed = true;
                }
            }
        }
    }
    for (callee, arguments) in &mut out {
        // Nothing arrives where only calls among functions that nobody calls lead.
        arguments.retain(|register, values| !lost.contains(&(callee.as_str(), *register)) && !values.is_empty());
    }
    out
}

/// What the operations before a call put into argument registers.
fn passed_at(
    arena: &mut Arena,
    function: &Function,
    ops: &[(u64, Op)],
    homes: &FxHashMap<TermId, Register>,
) -> BTreeMap<Register, Passed> {
    let values = values_after(arena, ops);
    let mut own: FxHashMap<VarId, Register> = FxHashMap::default();
    for (_, op) in ops {
        let (var, from) = match op {
            Op::Load { var, address, bytes: 8 } => (*var, homes.get(address).copied()),
            Op::Set { var, value } => (*var, arena.as_var(*value).and_then(|source| own.get(&source).copied())),
            Op::Load { var, .. } | Op::Unknown { var } => (*var, None),
            Op::Store { .. } | Op::Fault { .. } => continue,
        };
        match from {
            Some(register) => own.insert(var, register),
            None => own.remove(&var),
        };
    }
    let mut out = BTreeMap::new();
    for register in Register::ARGUMENTS {
        let here = |var: &VarId| var.index() == register.index();
        let value = values.iter().find(|(var, _)| here(var)).map(|(_, value)| *value);
        if let Some(value) = value.and_then(|value| fixed(arena, function, value)) {
            out.insert(register, Passed::Constant(value));
        } else if let Some((_, from)) = own.iter().find(|(var, _)| here(var)) {
            out.insert(register, Passed::Own(*from));
        }
    }
    out
}

/// Slots of unoptimised code that hold an argument register from the entry on, and nothing else ever.
fn homes(arena: &Arena, function: &Function) -> FxHashMap<TermId, Register> {
    let mut homes: FxHashMap<TermId, Register> = FxHashMap::default();
    if !function.is_unoptimised() {
        return homes;
    }
    let by_frame_pointer = |address: TermId| {
        let rbp = arena.free_vars(address).iter().any(|var| var.index() == Register::RBP.index());
        rbp && is_frame_address(arena, address)
    };
    let entry = &function.point(Function::ENTRY).ops;
    for (n, (_, op)) in entry.iter().enumerate() {
        let Op::Store { address, value } = op else { continue };
        let Some(var) = arena.as_var(*value).filter(|_| by_frame_pointer(*address)) else { continue };
        let written = |op: &Op| matches!(op, Op::Set { var: v, .. } | Op::Load { var: v, .. } | Op::Unknown { var: v } if *v == var);
        let untouched = !entry[..n].iter().any(|(_, op)| written(op));
        let register = Register::of_var(var).filter(|r| Register::ARGUMENTS.contains(r) && untouched);
        if let Some(register) = register {
            homes.insert(*address, register);
        }
    }
    // Other stores there, and addresses of it in other hands.
    let touches = |home: TermId, address: TermId, bytes: i64| {
        let distance = arena.difference(address, home).map(|d| d.low() as i64);
        distance.is_none_or(|d| d < 8 && d + bytes > 0)
    };
    let mut stores: FxHashMap<TermId, usize> = FxHashMap::default();
    for (_, op) in function.points.iter().flat_map(|p| &p.ops) {
        match op {
            Op::Store { address, value } if by_frame_pointer(*address) => {
                let bytes = i64::from(arena.width(*value) / 8);
                for home in homes.keys().filter(|home| touches(**home, *address, bytes)) {
                    *stores.entry(*home).or_default() += 1;
                }
            }
            Op::Set { var, value } => {
                let frame_register = matches!(Register::of_var(*var), Some(Register::General(4 | 5)));
                if !frame_register && arena.sort(*value).width() == Some(64) && by_frame_pointer(*value) {
                    homes.retain(|home, _| !touches(*home, *value, 1));
                }
            }
            _ => {}
        }
    }
    homes.retain(|home, _| stores.get(home) == Some(&1));
    homes
}
