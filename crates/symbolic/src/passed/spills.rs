//! Words of the frame that hold something for the function itself.
//!
//! Forward analysis (lattice: sets of stores to constant places of the frame, join: union; a store ends those that it covers). A store
//! whose value a load of the function may find was made for that load; one that nobody finds, for a callee. Only unoptimised code is
//! asked: it writes each stack argument once, for the call.
//!
//! Trust: full. A store that is taken for the function's own is not compared at a call behind it.

use super::slots::{depths, offset, step};
use program::{Function, Next, Op, PointId};
use std::collections::BTreeSet;
use term::Arena;

/// Most stores to the frame that are followed.
const MOST_STORES: usize = 8192;

/// Which stores reach each point's end, and which of them are found by a load.
pub(crate) struct Spills {
    /// First byte and end of each store, as offsets from the entry stack pointer.
    stores: Vec<(i64, i64)>,
    /// Is it found by a load?
    found: BTreeSet<usize>,
    /// At the end of each point; nothing if it is not reached.
    ends: Vec<Option<BTreeSet<usize>>>,
}

impl Spills {
    /// Is what lies at some bytes (offsets from the entry stack pointer) at the end of a point there for the function itself? So it is if
    /// every store that reaches them is found by a load.
    pub fn is_own(&self, point: PointId, from: i64, to: i64) -> bool {
        let Some(Some(reaching)) = self.ends.get(point.index()) else { return false };
        let mut here = reaching.iter().filter(|s| self.stores[**s].0 < to && from < self.stores[**s].1).peekable();
        here.peek().is_some() && here.all(|s| self.found.contains(s))
    }

    /// Looks at a function.
    pub fn of(arena: &Arena, function: &Function) -> Spills {
        let depths = depths(arena, function);
        let mut out = Spills { stores: Vec::new(), found: BTreeSet::new(), ends: vec![None; function.points.len()] };
        // What each operation does to the frame, by point.
        let mut steps: Vec<Vec<Step>> = Vec::with_capacity(function.points.len());
        for (point, at) in function.points.iter().zip(depths) {
            let mut here = Vec::new();
            let Some(mut at) = at else {
                steps.push(here);
                continue;
            };
            for (_, op) in &point.ops {
                match op {
                    Op::Store { address, value } => {
                        if let Some(place) = offset(arena, at, *address) {
                            here.push(Step::Store(out.stores.len()));
                            out.stores.push((place, place.saturating_add(i64::from(arena.width(*value) / 8))));
                        }
                    }
                    Op::Load { address, bytes, .. } => {
                        if let Some(place) = offset(arena, at, *address) {
                            here.push(Step::Load(place, place.saturating_add(i64::from(*bytes))));
                        }
                    }
                    _ => {}
                }
                step(arena, &mut at, op);
            }
            steps.push(here);
        }
        if out.stores.len() <= MOST_STORES {
            out.follow(function, &steps);
        }
        out
    }

    fn follow(&mut self, function: &Function, steps: &[Vec<Step>]) {
        let mut starts: Vec<Option<BTreeSet<usize>>> = vec![None; function.points.len()];
        if let Some(first) = starts.first_mut() {
            *first = Some(BTreeSet::new());
        }
        let mut open = BTreeSet::from([Function::ENTRY]);
        while let Some(id) = open.pop_first() {
            let Some(mut reaching) = starts.get(id.index()).cloned().flatten() else { continue };
            for step in &steps[id.index()] {
                match *step {
                    Step::Store(store) => {
                        let (start, end) = self.stores[store];
                        reaching.retain(|s| self.stores[*s].0 < start || self.stores[*s].1 > end);
                        reaching.insert(store);
                    }
                    Step::Load(from, to) => {
                        let met = reaching.iter().filter(|s| self.stores[**s].0 < to && from < self.stores[**s].1);
                        self.found.extend(met.copied());
                    }
                }
            }
            let targets: Vec<PointId> = match &function.point(id).next {
                Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
                Next::Call(call) => call.returns.into_iter().collect(),
                Next::Return | Next::Fault(_) => Vec::new(),
            };
            for target in targets {
                let Some(there) = starts.get_mut(target.index()) else { continue };
                let known = there.as_ref().map_or(usize::MAX, BTreeSet::len);
                there.get_or_insert_default().extend(&reaching);
                if there.as_ref().map(BTreeSet::len) != Some(known) {
                    open.insert(target);
                }
            }
            self.ends[id.index()] = Some(reaching);
        }
    }
}

enum Step {
    Store(usize),
    Load(i64, i64),
}
