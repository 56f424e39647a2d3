//! Loops of the original that are never left.
//!
//! Where the candidate is elsewhere while the original is at a loop head, the original may be in a loop that it cannot leave
//! (`for (i = 0; i <= n; i++)` with the largest `n`). Compilers take a loop that has an exit, and in which nothing can be
//! observed, to end; so does `finite-loops(point)`, and then such a pair is no pair of a run.
//!
//! What is shown: with everything forgotten that a turn changes, memory included, each way from a head of the loop leads to
//! a head of the loop, and the conditions of all others contradict what is known. So no turn is the last one.
//!
//! Trust: full. Forgetting more, or following more ways, is always sound; a place that a turn changes must be forgotten.

use super::{Checker, Onward, Point};
use crate::claims::is_scratch;
use crate::location::{Location, Spot};
use graph::{Assumption, Event, Joins, Known, Next, PointId, Register, Side, State};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use term::{Sort, TermId};

/// Rounds in which changing places are found.
const MOST_ROUNDS: usize = 8;

impl Checker<'_, '_> {
    /// Is the original, which is at a loop head, in a loop that it never leaves? Recorded as an assumption if so.
    pub(super) fn never_ends(&mut self, at: &Point, head: PointId) -> bool {
        if !self.context.may_assume("finite-loops") {
            return false;
        }
        let around: Vec<PointId> = self.loops[0].heads.iter().rev().copied().collect();
        for outer in around {
            let body: FxHashSet<PointId> = self.loops[0].body(outer).into_iter().collect();
            if !body.contains(&head) || !self.loops[0].can_be_left(self.context.functions[0], outer) {
                continue;
            }
            if !self.is_silent(&body) {
                return false;
            }
            if self.is_never_left(at, &body) {
                let function = self.context.functions[0];
                let place = format!("{}+{:#x}", function.name, function.point(outer).address);
                self.context.assume(Assumption::about("finite-loops", place));
                return true;
            }
        }
        false
    }

    /// Can nothing that the original does at these points be observed while it is there: no call, no volatile access?
    pub(super) fn is_silent<'p>(&self, points: impl IntoIterator<Item = &'p PointId>) -> bool {
        let function = self.context.functions[0];
        points.into_iter().map(|p| function.point(*p)).all(|point| {
            let volatile = point.ops.iter().any(|(place, _)| function.volatile.care(*place).is_some());
            !volatile && !matches!(point.next, Next::Call(_))
        })
    }

    /// Does no way lead out of the points of a loop, whatever its turns change?
    fn is_never_left(&mut self, at: &Point, body: &FxHashSet<PointId>) -> bool {
        let known = Known::from_condition(self.context.arena, at.condition);
        let mut heads: Vec<PointId> = self.heads[0].iter().copied().filter(|h| body.contains(h)).collect();
        heads.sort();
        let mut changed: BTreeSet<Location> = BTreeSet::new();
        for _ in 0..MOST_ROUNDS {
            let Some(start) = self.forgetting(&at.states[0], &changed) else { return false };
            let mut exits: Vec<TermId> = Vec::new();
            let before = changed.len();
            for head in &heads {
                let Ok(run) = self.run(Side::Original, Onward::At(*head), &start, &known, Joins::Merge) else {
                    return false;
                };
                for arrival in run.arrivals {
                    match arrival.event {
                        Event::Head(next) if body.contains(&next) => {
                            if !self.note_changes(&start, &arrival.state, &mut changed) {
                                return false;
                            }
                        }
                        _ => exits.push(arrival.guard),
                    }
                }
            }
            if changed.len() == before {
                return exits.into_iter().all(|guard| {
                    let stays = self.context.arena.bool_not(guard);
                    self.prove(at, &known, stays).is_ok()
                });
            }
        }
        false
    }

    /// A state of the original in which nothing is known of some places, nor of memory. None if one of them holds an address
    /// of the frame: a variable would be a pointer to the world.
    fn forgetting(&mut self, state: &State, changed: &BTreeSet<Location>) -> Option<State> {
        let mut out = state.clone();
        for location in changed {
            let old = location.read(self.context.arena, state);
            if self.context.depends_on_frame(old) {
                return None;
            }
            let fresh = self.context.fresh(&format!("{location}@endless"), Sort::Bv(location.width));
            location.write(self.context.arena, &mut out, fresh);
        }
        for register in Register::all().filter(|r| is_scratch(*r)) {
            let value = self.context.fresh_undefined(&register.name(), register.sort());
            out.set(register, value);
        }
        out.world = self.context.fresh("world", Sort::Memory);
        for local in &mut out.locals {
            *local = self.context.fresh("local", Sort::Memory);
        }
        Some(out)
    }

    /// Adds the places that differ between two states. False if one holds an address of the frame, or is no place.
    fn note_changes(&mut self, then: &State, now: &State, changed: &mut BTreeSet<Location>) -> bool {
        for register in Register::all().filter(|r| !is_scratch(*r)) {
            if now.get(register) == then.get(register) {
                continue;
            }
            let Some(location) = Location::whole(Side::Original, Spot::Register(register)) else { return false };
            if register == Register::RSP || self.context.depends_on_frame(now.get(register)) {
                return false;
            }
            changed.insert(location);
        }
        for (offset, bytes) in self.slots(&[now, then]) {
            let spot = Spot::Slot { offset, bytes };
            let location = Location { side: Side::Original, spot, low: 0, width: 8 * bytes };
            let [a, b] = [now, then].map(|state| location.read(self.context.arena, state));
            if a == b {
                continue;
            }
            if self.context.depends_on_frame(a) {
                return false;
            }
            changed.insert(location);
        }
        true
    }
}
