//! What statics can hold.
//!
//! A static whose address is never taken is written by the stores of its file alone. If all of these store constants, it
//! holds one of them, or what it held at the start. Compilers know that. Printed as `stored-values(object)`.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`).

use super::values_after;
use program::{Function, Object, ObjectKind, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, VarId};

/// More different constants are not worth knowing.
const MOST_VALUES: usize = 8;

/// The values of the statics of a file of which that is known, by name. All its functions must be there.
pub(super) fn stored_values(arena: &mut Arena, functions: &[Function]) -> BTreeMap<String, BTreeSet<u64>> {
    let mut known: FxHashMap<VarId, (String, u64, BTreeSet<u64>)> = FxHashMap::default();
    for object in functions.iter().flat_map(|f| f.objects.values()).filter(|o| is_number(o)) {
        if let (Some(initial), Some(size)) = (object.initial, object.size) {
            known.insert(object.var, (object.name.clone(), size, BTreeSet::from([initial])));
        }
    }
    let mut lost: FxHashSet<VarId> = FxHashSet::default();
    for function in functions {
        for point in &function.points {
            if !point.ops.iter().any(|(_, op)| matches!(op, Op::Store { .. })) {
                continue;
            }
            let mentioned = |op: &Op| match op {
                Op::Store { address, .. } => arena.free_vars(*address).into_iter().find(|v| known.contains_key(v)),
                _ => None,
            };
            let stores: Vec<(usize, VarId)> =
                point.ops.iter().enumerate().filter_map(|(n, (_, op))| Some((n, mentioned(op)?))).collect();
            for (n, var) in stores {
                let Op::Store { address, value } = point.ops[n].1 else { continue };
                let values = values_after(arena, &point.ops[..n]);
                let mut memo = FxHashMap::default();
                let value = arena.substitute(value, &mut |v| values.get(&v).copied(), &mut memo);
                let bits = arena.width(value);
                let (_, size, numbers) = known.get_mut(&var).expect("it is mentioned");
                let whole = arena.as_var(address) == Some(var) && u64::from(bits) == 8 * *size;
                let fine = arena.as_u64(value).filter(|_| whole).map(|number| numbers.insert(number));
                if fine.is_none() {
                    lost.insert(var);
                }
            }
        }
    }
    known.retain(|var, (_, _, numbers)| !lost.contains(var) && numbers.len() <= MOST_VALUES);
    known.into_values().map(|(name, _, numbers)| (name, numbers)).collect()
}

/// Could the object be a static number of which all uses are known?
fn is_number(object: &Object) -> bool {
    let local = matches!(object.kind, ObjectKind::Named { local: true, defined: true, function: false, .. });
    local && object.unaliased && !object.volatile && object.content.is_none() && !object.read_only
}
