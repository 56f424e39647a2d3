//! Objects of other files: how much of one is certainly there.
//!
//! The linker finds a definition for every name that is not weak, and the source's declaration of it says how large the
//! object is. Code shows a part of that: bytes that the original accesses by the object's name, in whatever run, belong
//! to it in every run (`declared-object`). So the candidate may read them where the original does not.
//!
//! Trust: full.

use crate::Context;
use program::{Assumption, Function, ObjectKind, Op};
use rustc_hash::FxHashMap;
use term::{Arena, Linear, TermId, VarId};

/// Bytes of named objects that a function accesses: offset and length, by the object's variable.
pub(crate) type NamedAccesses = FxHashMap<VarId, Vec<(i64, u16)>>;

impl Context<'_> {
    /// Are these bytes part of an object that both programs know by name, as the original's own accesses show?
    pub fn is_declared(&mut self, address: TermId, bytes: u16) -> bool {
        if !self.may_assume_defined() {
            return false;
        }
        let [original, _] = self.functions;
        let Some((var, offset)) = place(self.arena, original, &FxHashMap::default(), address) else { return false };
        let Some(object) = original.objects.get(&var).filter(|_| self.is_certain_object(var)) else { return false };
        if !matches!(object.kind, ObjectKind::Named { function: false, .. }) {
            return false;
        }
        let accesses = self.named_accesses.get_or_insert_with(|| named_accesses(self.arena, original));
        let Some(accessed) = accesses.get(&var) else { return false };
        let covered = |byte: i64| accessed.iter().any(|(at, n)| byte >= *at && byte - at < i64::from(*n));
        let all = (0..i64::from(bytes)).all(|i| offset.checked_add(i).is_some_and(covered));
        if all {
            let name = object.name.clone();
            self.assume(Assumption::DeclaredObject(name));
        }
        all
    }
}

/// What a function accesses at constant distances from the addresses of named objects.
fn named_accesses(arena: &Arena, function: &Function) -> NamedAccesses {
    let mut out = NamedAccesses::default();
    for point in &function.points {
        // Registers and temporaries that hold such an address.
        let mut held: FxHashMap<VarId, (VarId, i64)> = FxHashMap::default();
        for (_, op) in &point.ops {
            let access = match op {
                Op::Load { address, bytes, .. } => Some((*address, *bytes)),
                Op::Store { address, value } => Some((*address, arena.width(*value) / 8)),
                _ => None,
            };
            if let Some((address, bytes)) = access
                && let Some((var, offset)) = place(arena, function, &held, address)
            {
                out.entry(var).or_default().push((offset, bytes));
            }
            if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op {
                let value = if let Op::Set { value, .. } = op { place(arena, function, &held, *value) } else { None };
                match value {
                    Some(value) => held.insert(*var, value),
                    None => held.remove(var),
                };
            }
        }
    }
    out
}

/// The named object that a term is at a constant distance from.
fn place(
    arena: &Arena,
    function: &Function,
    held: &FxHashMap<VarId, (VarId, i64)>,
    term: TermId,
) -> Option<(VarId, i64)> {
    if arena.sort(term).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, term);
    let [(base, one)] = linear.terms[..] else { return None };
    let var = arena.as_var(base).filter(|_| one.to_u64() == Some(1))?;
    let constant = linear.constant.low() as i64;
    match held.get(&var) {
        Some((var, offset)) => Some((*var, offset.checked_add(constant)?)),
        None => {
            let named = |o: &program::Object| matches!(o.kind, ObjectKind::Named { .. });
            function.objects.get(&var).filter(|o| named(o)).map(|_| (var, constant))
        }
    }
}
