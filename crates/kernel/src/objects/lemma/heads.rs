//! What is forgotten at the loop heads of a function that is executed alone, and what is claimed there.
//!
//! Nothing here is believed: what is not forgotten must come back unchanged on every edge to the head, and what is
//! claimed must hold on every edge. What does not is forgotten, or no longer claimed, in the next attempt.

use super::forgets::Given;
use crate::objects::location::{Location, Spot};
use program::loops::Loops;
use program::{Function, Next, Op, PointId, Register, Side, ValueRange};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// By loop head: ranges of slots, by their offset from the stack pointer at the entry.
pub(super) type SlotRanges = BTreeMap<PointId, Vec<(i64, ValueRange)>>;

/// Claims at one head at most.
const MOST_CLAIMS: usize = 24;

/// What a forgotten place may hold.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct Holds {
    /// Addresses in the frame.
    pub framed: bool,
    /// What is made of arguments.
    pub given: Given,
    /// More than an argument and a distance.
    pub mixed: bool,
}

/// One head.
#[derive(Clone, Default, Debug)]
pub(super) struct Head {
    /// Places that the loop changes, and what they may hold.
    pub forgotten: BTreeMap<Location, Holds>,
    /// Is memory outside the frame changed?
    pub world: bool,
    /// Local objects that are changed, by where they begin: their numbers change with what is known of the frame.
    pub locals: BTreeSet<i64>,
    /// Is nothing known of how the loop was entered?
    pub blank: bool,
    /// Ranges of places.
    pub claims: Vec<(Location, ValueRange)>,
}

/// All heads of a function.
pub(super) struct Heads {
    pub loops: Loops,
    pub all: BTreeMap<PointId, Head>,
}

impl Heads {
    /// What the code of the loops visibly changes, and the claims that were given.
    pub fn new(function: &Function, claims: Option<&SlotRanges>) -> Heads {
        let loops = Loops::of(function);
        let mut all = BTreeMap::new();
        for head in loops.heads.clone() {
            let mut here = Head::default();
            let mut changed: BTreeSet<Register> = BTreeSet::new();
            let body: FxHashSet<PointId> = loops.body(head).into_iter().collect();
            for point in body.iter().map(|p| function.point(*p)) {
                for (_, op) in &point.ops {
                    if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op {
                        changed.extend(Register::of_var(*var));
                    }
                }
                if matches!(point.next, Next::Call(_)) {
                    let kept = |r: &Register| *r == Register::RSP || Register::CALLEE_SAVED.contains(r);
                    changed.extend(Register::all().filter(|r| !kept(r)));
                }
            }
            for register in changed.into_iter().filter(|r| *r != Register::RSP) {
                if let Some(place) = Location::whole(Side::Original, Spot::Register(register)) {
                    here.forgotten.insert(place, Holds::default());
                }
            }
            for (offset, range) in claims.and_then(|c| c.get(&head)).into_iter().flatten().take(MOST_CLAIMS) {
                let bytes = range.width / 8;
                if range.width % 8 == 0 && matches!(bytes, 1 | 2 | 4 | 8) {
                    let spot = Spot::Slot { offset: *offset, bytes };
                    here.claims.extend(Location::whole(Side::Original, spot).map(|place| (place, *range)));
                }
            }
            all.insert(head, here);
        }
        Heads { loops, all }
    }
}
