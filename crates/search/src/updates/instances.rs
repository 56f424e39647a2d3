//! Which update of the candidate is which of the original.
//!
//! A transformation that reorders statement instances leaves each with the cells that it reads and writes. So an
//! update is named by those cells; of several with the same name the first corresponds to the first, and so on. What
//! the source calls its locals does not have to agree on both sides, but then their updates stay unmatched.

use super::explain::Side;
use super::trace::Read;
use ::updates::{Origin, name_key};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;

/// Update of the candidate for each update of the original, and the reverse.
pub(super) struct Matching {
    pub candidate: Vec<Option<u32>>,
    /// Is there a counterpart for every update on both sides?
    pub complete: bool,
}

/// A number for each object, the same on both sides.
fn object_keys(side: &Side<'_>) -> Vec<u64> {
    let key = |object: &::updates::Object| match ::updates::input_key(&object.origin) {
        Some(key) => key,
        None if matches!(object.origin, Origin::Table(_)) => name_key(&object.name) ^ 1,
        None => name_key(&object.name) ^ 2,
    };
    side.program.objects.iter().map(key).collect()
}

/// Updates by name, in order.
fn names(side: &Side<'_>) -> FxHashMap<u64, Vec<u32>> {
    let keys = object_keys(side);
    let mut map: FxHashMap<u64, Vec<u32>> = FxHashMap::default();
    for (number, update) in side.trace.updates.iter().enumerate() {
        let cell = |read: &Read| (keys[read.object as usize], read.cell);
        let mut reads: Vec<(u64, u64)> = side.trace.reads(update).iter().map(cell).collect();
        // The order of operands may be changed without changing the statement.
        reads.sort_unstable();
        let name = FxBuildHasher.hash_one((keys[update.object as usize], update.cell, reads));
        map.entry(name).or_default().push(number as u32);
    }
    map
}

impl Matching {
    pub fn of(ours: &Side<'_>, theirs: &Side<'_>) -> Matching {
        let (first, second) = (names(ours), names(theirs));
        let mut candidate = vec![None; ours.trace.updates.len()];
        let mut complete = ours.trace.updates.len() == theirs.trace.updates.len();
        for (name, updates) in &first {
            let others = second.get(name).map_or(&[][..], Vec::as_slice);
            complete &= others.len() == updates.len();
            for (a, b) in updates.iter().zip(others) {
                candidate[*a as usize] = Some(*b);
            }
        }
        Matching { candidate, complete }
    }
}
