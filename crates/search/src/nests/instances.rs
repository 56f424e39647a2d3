//! Which update of the candidate is which of the original.
//!
//! A transformation that reorders statement instances leaves each with the cells that it reads and writes. So an
//! update is named by those cells; of several with the same name the first corresponds to the first, and so on. Only
//! temporaries are cells of many values that have nothing to do with each other, and which of them is computed first says
//! nothing: there, updates of the same value correspond first, then those that read the same values. What the source calls its locals does not have to agree on both sides, but then their updates stay unmatched.

use super::explain::Side;
use super::trace::{CONDITION, Read};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::VecDeque;
use std::hash::BuildHasher;
use updates::{Origin, TermRef, name_key};

/// Update of the candidate for each update of the original, and the reverse.
pub(super) struct Matching {
    pub candidate: Vec<Option<u32>>,
    /// Is there a counterpart for every update on both sides?
    pub complete: bool,
}

/// A number for each object, the same on both sides.
fn object_keys(side: &Side<'_>) -> Vec<u64> {
    let key = |object: &updates::Object| match updates::input_key(&object.origin) {
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
        let written = if update.object == CONDITION { u64::MAX } else { keys[update.object as usize] };
        let name = FxBuildHasher.hash_one((written, update.cell, reads));
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
            for (a, b) in in_order(ours, theirs, updates, others) {
                candidate[a as usize] = Some(b);
            }
        }
        Matching { candidate, complete }
    }
}

/// Which of these updates with the same name is which.
fn in_order(ours: &Side<'_>, theirs: &Side<'_>, updates: &[u32], others: &[u32]) -> Vec<(u32, u32)> {
    let passing = updates.first().is_some_and(|u| ours.is_passing(ours.update(*u)));
    if !passing || updates.len().max(others.len()) < 2 {
        return updates.iter().copied().zip(others.iter().copied()).collect();
    }
    let value = |side: &Side<'_>, number: u32| vec![side.update(number).value];
    let read = |side: &Side<'_>, number: u32| {
        let mut values: Vec<TermRef> = side.trace.reads(side.update(number)).iter().map(|r| r.value).collect();
        values.sort_unstable();
        values
    };
    let (mut pairs, rest) = alike(ours, theirs, (updates.to_vec(), others.to_vec()), value);
    // A statement that is wrong makes something else of the same values.
    let (more, (first, second)) = alike(ours, theirs, rest, read);
    pairs.extend(more);
    pairs.extend(first.into_iter().zip(second));
    pairs
}

/// Updates of both sides that have not found each other, in order.
type Rest = (Vec<u32>, Vec<u32>);

/// Pairs of updates that have the same values, each side in order; and the rest.
fn alike(
    ours: &Side<'_>,
    theirs: &Side<'_>,
    (updates, others): Rest,
    values: impl Fn(&Side<'_>, u32) -> Vec<TermRef>,
) -> (Vec<(u32, u32)>, Rest) {
    let mut by_values: FxHashMap<Vec<TermRef>, VecDeque<u32>> = FxHashMap::default();
    for other in others {
        by_values.entry(values(theirs, other)).or_default().push_back(other);
    }
    let (mut pairs, mut alone) = (Vec::new(), Vec::new());
    for update in updates {
        match by_values.get_mut(&values(ours, update)).and_then(VecDeque::pop_front) {
            Some(other) => pairs.push((update, other)),
            None => alone.push(update),
        }
    }
    let mut rest: Vec<u32> = by_values.into_values().flatten().collect();
    rest.sort_unstable();
    (pairs, (alone, rest))
}
