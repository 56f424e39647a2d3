//! What is known of memory outside the frame: fields that a condition or an access has looked at.
//!
//! Unoptimised code loads a field each time it uses it: `if (s->next) f(s->next)`. A field is named by the way to it: a private slot
//! or an object, and the distances of the loads from there. What is known of it holds until anything is stored outside the
//! private slots, or called, or the slot is stored to.

use crate::value_range::ValueRange;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use term::{Arena, Linear, VarId};

/// Loads on the way to a field at most.
const MOST_LOADS: usize = 3;

/// Where the way to a field begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Root {
    /// The pointer in a private slot.
    Slot(i64),
    /// An object, by its address.
    Object(u32),
}

/// The way to a field: each distance is one load.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Path {
    root: Root,
    distances: Vec<u64>,
}

impl Path {
    /// The field at an address: a sum of a constant and an object's address, or a pointer that came from a slot or a field.
    pub fn of(
        arena: &Arena,
        address: term::TermId,
        slots: &[(VarId, i64)],
        fields: &FxHashMap<VarId, Path>,
        is_object: impl Fn(VarId) -> bool,
    ) -> Option<Path> {
        let linear = Linear::of(arena, address);
        let &[(base, one)] = &linear.terms[..] else { return None };
        let var = arena.as_var(base).filter(|_| one.to_u64() == Some(1))?;
        let distance = linear.constant.low();
        if is_object(var) {
            return Some(Path { root: Root::Object(var.index() as u32), distances: vec![distance] });
        }
        if let Some((_, slot)) = slots.iter().find(|(v, _)| *v == var) {
            return Some(Path { root: Root::Slot(*slot), distances: vec![distance] });
        }
        let mut path = fields.get(&var).filter(|p| p.distances.len() < MOST_LOADS)?.clone();
        path.distances.push(distance);
        Some(path)
    }

    /// Does the way begin in a slot that shares a byte with an interval? Slots hold pointers of eight bytes.
    pub fn begins_in(&self, from: i64, to: i64) -> bool {
        matches!(self.root, Root::Slot(slot) if slot < to && slot + 8 > from)
    }
}

/// Ranges of fields; the width of a range is that of the loads it is about.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Fields(BTreeMap<Path, ValueRange>);

impl Fields {
    /// What a load of so many bytes finds.
    pub fn get(&self, path: &Path, bytes: u16) -> Option<ValueRange> {
        self.0.get(path).filter(|range| range.width == 8 * bytes).copied()
    }

    /// Learns about a field.
    pub fn learn(&mut self, path: &Path, range: ValueRange) {
        self.0.insert(path.clone(), range);
    }

    /// Memory outside the private slots may have changed.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// A slot has changed, and with it the ways that begin there.
    pub fn forget_from(&mut self, from: i64, to: i64) {
        self.0.retain(|path, _| !path.begins_in(from, to));
    }

    /// Holds in both states.
    pub fn join(&mut self, other: &Fields, impatient: bool) {
        self.0.retain(|path, range| match other.0.get(path) {
            Some(theirs) if theirs.width == range.width => {
                let joined = range.join(theirs);
                let keep = joined == *range || !impatient;
                *range = joined;
                keep && !joined.is_full()
            }
            _ => false,
        });
    }
}
