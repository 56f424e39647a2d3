//! Loops of the original that are never left.
//!
//! Where the candidate is elsewhere while the original is at a loop head, the original may be in a loop that it cannot leave
//! (`for (i = 0; i <= n; i++)` with the largest `n`). Compilers take a loop that has an exit, and in which nothing can be
//! observed, to end; so does `finite-loops(point)`, and then such a pair is no pair of a run.
//!
//! What is shown: with everything forgotten that a turn changes (`changed`), each way from a head of the loop leads to
//! a head of the loop, and the conditions of all others contradict what is known. So no turn is the last one.
//!
//! Trust: full. Following more ways is always sound.

use super::{Checker, Point};
use program::{Assumption, Next, PointId};
use rustc_hash::FxHashSet;
use symbolic::{Event, Known};
use term::TermId;

impl Checker<'_, '_> {
    /// Is the original, which is at a loop head, in a loop that it never leaves? Recorded as an assumption if so.
    pub(super) fn never_ends(&mut self, at: &Point, head: PointId) -> bool {
        if !self.context.may_assume_defined() {
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
                let address = function.point(outer).address;
                self.context.assume(Assumption::FiniteLoops { function: function.name.clone(), address });
                return true;
            }
        }
        false
    }

    /// A loop that the original goes round alone is taken to end: in some state that its turns lead to, one of its exits is
    /// taken. What the turns do not change is the same there (`i <= n` is false for some `i`, so `n` is not the largest number).
    pub(super) fn learn_end(&mut self, index: usize, point: &mut Point) {
        let body: FxHashSet<PointId> = self.innermost(self.points[index].heads[0]).into_iter().collect();
        if self.check_ends(index).is_err() {
            return;
        }
        let Some(turn) = self.any_turn(point, &point.states[0].clone(), &body) else { return };
        let inside = |event: &Event| matches!(event, Event::Head(next) if body.contains(next));
        let leaves: Vec<TermId> = turn
            .runs
            .iter()
            .flat_map(|run| run.arrivals.iter().filter(|arrival| !inside(&arrival.event)).map(|arrival| arrival.guard))
            .collect();
        let leaves = self.context.arena.bool_or_all(&leaves);
        if self.context.arena.as_bool(leaves).is_none() {
            point.condition = self.context.arena.bool_and(point.condition, leaves);
        }
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
        let Some(turn) = self.any_turn(at, &at.states[0], body) else { return false };
        let inside = |event: &Event| matches!(event, Event::Head(next) if body.contains(next));
        turn.runs.iter().flat_map(|run| &run.arrivals).filter(|arrival| !inside(&arrival.event)).all(|arrival| {
            let stays = self.context.arena.bool_not(arrival.guard);
            self.prove(at, &known, stays).is_ok()
        })
    }
}
