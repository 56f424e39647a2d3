//! Reads that the candidate makes before a loop and the original behind it.
//!
//! Compilers move a load up if every way from there makes it, loops being taken to end: `if (one) { for (; *s == *c; s++) }
//! else { for (; *c; c++) ..; for (; *s; s++) .. }` reads `*s` first of all. So where the original is at a loop head, a read
//! of the candidate is allowed if the original makes it on every way out of the loop, before any call and before it returns.
//!
//! What is shown: with everything forgotten that a turn changes (`changed`), each way from a head of the loop makes the
//! read, leads to a head of the loop again, or to a head of another loop of which the same holds. `finite-loops(point)` is
//! recorded for each of these loops, and `no-fault(address)`: what can be read then can be read now.
//!
//! Trust: full. The read must be made under the condition of the way, at an address that has not changed since.

use super::{Checker, Point};
use crate::objects::exits::Gaps;
use program::{Assumption, PointId};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use symbolic::{Access, Event, Known, State};

/// Loops behind one another that are looked at.
const MOST_LOOPS: usize = 4;

impl Checker<'_, '_> {
    /// Is the original, which is at a loop head, going to make a read of the candidate if its loops end? Recorded as
    /// assumptions if so.
    pub(crate) fn made_later(&mut self, at: &Point, head: PointId, access: &Access) -> bool {
        let allowed = self.context.may_assume_defined() && self.context.may_assume_defined();
        if access.write || !allowed || !self.context.functions[0].volatile.is_none() {
            return false;
        }
        let mut ended = BTreeSet::new();
        if !self.reads_behind(at, &at.states[0], head, access, MOST_LOOPS, &mut ended) {
            return false;
        }
        let function = self.context.functions[0];
        for outer in ended {
            let address = function.point(outer).address;
            self.context.assume(Assumption::FiniteLoops { function: function.name.clone(), address });
        }
        let text = self.context.arena.text(access.address);
        self.context.assume(Assumption::NoFault(text));
        true
    }

    /// Does the original make a read on every way from a loop head at which it is in a state?
    fn reads_behind(
        &mut self,
        at: &Point,
        state: &State,
        head: PointId,
        access: &Access,
        most: usize,
        ended: &mut BTreeSet<PointId>,
    ) -> bool {
        let around: Vec<PointId> = self.loops[0].heads.iter().rev().copied().collect();
        for outer in around {
            let body: FxHashSet<PointId> = self.loops[0].body(outer).into_iter().collect();
            if !body.contains(&head) || most == 0 {
                continue;
            }
            if !self.loops[0].can_be_left(self.context.functions[0], outer) || !self.is_silent(&body) {
                return false;
            }
            if self.every_way_reads(at, state, &body, access, most - 1, ended) {
                ended.insert(outer);
                return true;
            }
        }
        false
    }

    /// Does every way out of a loop make a read?
    fn every_way_reads(
        &mut self,
        at: &Point,
        state: &State,
        body: &FxHashSet<PointId>,
        access: &Access,
        most: usize,
        ended: &mut BTreeSet<PointId>,
    ) -> bool {
        let Some(turn) = self.any_turn(at, state, body) else { return false };
        for run in turn.runs {
            for arrival in &run.arrivals {
                if matches!(arrival.event, Event::Head(next) if body.contains(&next)) {
                    continue;
                }
                let mut way = at.clone();
                way.condition = self.context.arena.bool_and_all(&[at.condition, arrival.guard, access.guard]);
                if self.context.arena.as_bool(way.condition) == Some(false) {
                    continue;
                }
                let known = Known::from_condition(self.context.arena, way.condition);
                let others: Vec<&Access> = run.accesses.iter().collect();
                let made = self.covers(&way, &known, access, &others, Gaps::Filled);
                let Event::Head(next) = arrival.event else {
                    if made {
                        continue;
                    }
                    return false;
                };
                if !made && !self.reads_behind(&way, &arrival.state, next, access, most, ended) {
                    return false;
                }
            }
        }
        true
    }
}
