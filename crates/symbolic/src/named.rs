//! What a function accesses by the names of objects.

use program::{Function, ObjectKind, Op};
use rustc_hash::FxHashMap;
use term::{Arena, Linear, TermId, VarId};

/// Bytes of named objects that a function accesses: offset and length, by the object's variable.
pub(crate) type NamedAccesses = FxHashMap<VarId, Vec<(i64, u16)>>;

/// What a function accesses at constant distances from the addresses of named objects.
pub(crate) fn named_accesses(arena: &Arena, function: &Function) -> NamedAccesses {
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
pub(crate) fn place(
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
