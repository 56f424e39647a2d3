//! Who goes on: the candidate's moves under an event of the original, loop heads that one side passes alone, and what is
//! checked where both have arrived.
//!
//! The certificate says how often heads are passed between two points. Whoever lags behind goes on; what the candidate did
//! on the way is looked at where both meet. A pair of events that no path leads to need not be settled.
//!
//! Trust: full. A path that is dropped here is never compared; it is dropped only if its condition cannot hold.

use super::{Checker, EventKind, Obligation, Onward, Point, Rejection, Segment};
use crate::objects::claims::Abstraction;
use crate::objects::obligation::Failure;
use program::{Assumption, Function, Place, PointId, Side};
use std::cmp::Reverse;
use std::rc::Rc;
use symbolic::{Access, Arrival, Event, Joins, Known, Run, Stuck};
use term::TermId;

/// Both sides at an event each, and what they did on the way.
#[derive(Clone)]
pub(super) struct Pair {
    at: Point,
    events: [Event; 2],
    segment: Segment,
    logs: [Vec<Rc<Run>>; 2],
    /// Is it certain that both get here together?
    decided: bool,
    /// Steps of one side alone that are not certain.
    open_steps: u32,
}

/// Who goes on from a pair of events.
enum Move {
    /// Both have arrived.
    Stop,
    /// Both are at the heads of this point.
    Point(usize),
    /// One side passes its loop head.
    Pass(Side),
    /// Nobody: they should not be here together.
    Refuse,
}

/// Heads that the original passes while one looks what it is going to access.
const LOOK_AHEAD: usize = 3;
/// Steps of one side alone that are not certain, besides those that the certificate asks for: a loop without a claim.
const MOST_OPEN_STEPS: u32 = 16;
/// Heads that a side passes in one segment.
const MOST_PASSES: u32 = 600;

impl Checker<'_, '_> {
    /// The candidate's moves while the original moves to one event.
    pub(super) fn follow(
        &mut self,
        at: Point,
        event: Event,
        original: &Rc<Run>,
        onward: Onward,
        segment: Segment,
    ) -> Result<(), Rejection> {
        let known = self.known(&at);
        let joins = self.joins(&segment);
        let mut candidate = self.run(Side::Candidate, onward, &at.states[1], &known, joins)?;
        let arrivals = std::mem::take(&mut candidate.arrivals);
        let is_head = |event: Event| matches!(event, Event::Head(_));
        let logs = if is_head(event) || arrivals.iter().any(|a| is_head(a.event)) {
            self.check_faults(&at, &known, event.point(), &candidate, true)?;
            [vec![original.clone()], vec![Rc::new(candidate)]]
        } else {
            // Nobody goes on alone: what the candidate did can be looked at for all its arrivals at once.
            let original = self.with_first_reads(original, event, &at.states[0]);
            self.delays = segment.from.is_some();
            let result = self.check_run(&at, &known, event.point(), &original, &candidate);
            self.delays = false;
            result?;
            [Vec::new(), Vec::new()]
        };
        let decided = logs[1].is_empty();
        let pair = Pair { at, events: [event; 2], segment, logs, decided, open_steps: 0 };
        let mut open = Vec::new();
        self.reach_all(pair, Side::Candidate, arrivals, &mut open);
        while let Some(pair) = open.pop() {
            self.settle(pair, &mut open)?;
        }
        Ok(())
    }

    /// The point at which the candidate waits while the original is at a loop head.
    pub(super) fn waiting(&self, head: PointId, onward: Onward) -> Option<usize> {
        let (Onward::At(waits_at) | Onward::Behind(waits_at)) = onward else { return None };
        self.points.iter().position(|p| p.waits && p.heads == [head, waits_at])
    }

    /// The original goes round a loop alone. It can be taken to end: nothing in it can be observed.
    pub(super) fn go_round(
        &mut self,
        at: Point,
        index: usize,
        run: Rc<Run>,
        segment: Segment,
    ) -> Result<(), Rejection> {
        self.check_ends(index)?;
        let events = self.points[index].heads.map(Event::Head);
        let logs = [vec![run], Vec::new()];
        let pair = Pair { at, events, segment, logs, decided: false, open_steps: 0 };
        self.arrive_at_point(&pair, index)
    }

    /// A loop that the original goes round alone can be taken to end.
    pub(super) fn check_ends(&mut self, index: usize) -> Result<(), Rejection> {
        let heads = self.points[index].heads;
        if !self.loops[0].can_be_left(self.context.functions[0], heads[0]) {
            return Err(self.refuse(Obligation::IsLeft, heads, Failure::NotShown));
        }
        let body = self.innermost(heads[0]);
        if !self.context.may_assume_defined() || !self.is_silent(&body) {
            return Err(self.refuse(Obligation::Ends(Side::Original), heads, Failure::NotShown));
        }
        let address = self.context.functions[0].point(heads[0]).address;
        let function = self.context.functions[0].name.clone();
        self.context.assume(Assumption::FiniteLoops { function, address });
        Ok(())
    }

    /// The innermost loop of the original around a point.
    pub(super) fn innermost(&self, point: PointId) -> Vec<PointId> {
        let around = self.loops[0].heads.iter().rev().map(|head| self.loops[0].body(*head));
        around.into_iter().find(|body| body.contains(&point)).unwrap_or_default()
    }

    /// The original is at a head inside the loop that it goes round alone, and the candidate still waits.
    pub(super) fn go_on_inside(
        &mut self,
        at: Point,
        events: [Event; 2],
        run: Rc<Run>,
        segment: Segment,
    ) -> Result<(), Rejection> {
        let logs = [vec![run], Vec::new()];
        let mut open = vec![Pair { at, events, segment, logs, decided: false, open_steps: 0 }];
        while let Some(pair) = open.pop() {
            self.settle(pair, &mut open)?;
        }
        Ok(())
    }

    /// Does the candidate wait where the segment began, while the original has come to a head inside the loop that it goes
    /// round alone?
    pub(super) fn is_inside(&self, segment: &Segment, head: PointId) -> bool {
        let Some(point) = segment.from.map(|index| &self.points[index]) else { return false };
        point.waits && segment.passed[1].all == 0 && self.innermost(point.heads[0]).contains(&head)
    }

    /// Where the candidate goes round a loop alone, the original rests at the event that it has come to: a point of its own
    /// for each. It goes on first at a loop head of which nothing is claimed, and where both heads meet.
    fn rest(&mut self, pair: &Pair) {
        let [event, Event::Head(head)] = pair.events else { return };
        let claimed = |p: &Abstraction| p.heads[0] == event.point() && p.alone.is_none();
        let met = |p: &Abstraction| claimed(p) && p.heads[1] == head && !p.waits;
        let passes = matches!(event, Event::Head(_)) && !self.points.iter().any(claimed);
        let known = |p: &Abstraction| p.resting == Some(event) && p.heads[1] == head;
        if passes || self.points.iter().any(|p| met(p) || known(p)) {
            return;
        }
        let claim = self.points.iter().find(|p| p.alone.is_some() && p.heads[1] == head && p.resting.is_none());
        if let Some(claim) = claim {
            let claim = claim.resting_at(event);
            self.points.push(claim);
            self.entered.push(None);
            self.incoming.push(Vec::new());
        }
    }

    /// The candidate goes round a loop alone while the original rests at an event.
    pub(super) fn go_on_alone(
        &mut self,
        start: Point,
        event: Event,
        head: PointId,
        index: Option<usize>,
    ) -> Result<(), Rejection> {
        let mut segment = Segment { from: index, ..Segment::default() };
        if let Event::Head(head) = event {
            segment.passed[0].reach(head);
        }
        self.follow(start, event, &Rc::new(Run::default()), Onward::At(head), segment)
    }

    /// A turn of the candidate alone comes to its end: turns must come to an end. A turn is one from a point back to itself;
    /// between different points the candidate only goes on in the order of its points.
    fn check_alone(&mut self, pair: &Pair, index: usize) -> Result<(), Rejection> {
        let (Some(rank), false) = (self.points[index].alone.clone(), pair.segment.moved) else { return Ok(()) };
        let heads = self.points[index].heads;
        let Some(from) = pair.segment.from else { return Ok(()) };
        if from != index {
            if self.is_before(1, self.points[from].heads[1], heads[1]) {
                return Ok(());
            }
            return Err(self.refuse(Obligation::AloneInOrder, heads, Failure::NotShown));
        }
        let Some(entered) = self.entered[index].clone() else { return Ok(()) };
        let [then, now] = [&entered.point.states, &pair.at.states].map(|states| rank.term(self.context, states));
        let (then, now) = (then.map_err(Rejection::Malformed)?, now.map_err(Rejection::Malformed)?);
        if self.context.arena.sort(now).width().is_none() {
            return Err(Rejection::Malformed("what becomes smaller is no number".to_string()));
        }
        let known = Known::from_condition(self.context.arena, pair.at.condition);
        let smaller = self.context.arena.ult(now, then);
        self.prove(&pair.at, &known, smaller)
            .map_err(|failure| self.refuse(Obligation::Ends(Side::Candidate), heads, failure))
    }

    /// A side of a pair goes on to each of its arrivals.
    fn reach_all(&mut self, pair: Pair, side: Side, arrivals: Vec<Arrival>, open: &mut Vec<Pair>) {
        for arrival in arrivals.into_iter().rev() {
            let mut next = pair.clone();
            if self.reach(&mut next, side, arrival) {
                self.eliminate(&mut next.at, &mut next.logs);
                open.push(next);
            }
        }
    }

    /// A side of a pair goes on to an arrival. False if that cannot be.
    fn reach(&mut self, pair: &mut Pair, side: Side, arrival: Arrival) -> bool {
        let known = Known::from_condition(self.context.arena, pair.at.condition);
        let guard = known.simplify(self.context.arena, arrival.guard);
        let certain = self.context.arena.as_bool(guard) == Some(true);
        pair.decided &= certain;
        pair.open_steps += u32::from(!certain);
        pair.at.condition = self.context.arena.bool_and(pair.at.condition, guard);
        pair.at.states[side.index()] = arrival.state;
        pair.events[side.index()] = arrival.event;
        if let Event::Head(head) = arrival.event {
            pair.segment.passed[side.index()].reach(head);
        }
        self.context.arena.as_bool(pair.at.condition) != Some(false)
    }

    /// What a side did besides arriving: faults and accesses of the candidate need the original's leave.
    fn check_run(
        &mut self,
        at: &Point,
        known: &Known,
        place: PointId,
        original: &Run,
        candidate: &Run,
    ) -> Result<(), Rejection> {
        self.check_faults(at, known, place, candidate, false)?;
        self.check_accesses(at, known, place, original, candidate)
    }

    /// The candidate does not fault. A path that ends in a fault arrives nowhere: it must be looked at before the
    /// candidate is taken to have arrived (`ends_only`).
    fn check_faults(
        &mut self,
        at: &Point,
        known: &Known,
        place: PointId,
        candidate: &Run,
        ends_only: bool,
    ) -> Result<(), Rejection> {
        for fault in candidate.faults.iter().filter(|f| f.ends || !ends_only) {
            let goal = self.context.arena.bool_not(fault.guard);
            let here = [self.address(Side::Original, place), fault.place];
            self.prove(at, known, goal).map_err(|failure| Rejection::Obligation {
                what: Obligation::NoFault(fault.kind),
                places: here,
                failure,
            })?;
        }
        Ok(())
    }

    /// Both sides at an event: what must hold there, or who goes on.
    pub(super) fn settle(&mut self, pair: Pair, open: &mut Vec<Pair>) -> Result<(), Rejection> {
        if self.context.out_of_budget() {
            return Err(Stuck::OutOfBudget.into());
        }
        self.rest(&pair);
        let out_of_step = self.out_of_step(&pair);
        let result = match self.next_move(&pair, &out_of_step) {
            // Claims that do not hold are found at loop heads; only if all hold do returns matter. Without claims a difference
            // is looked for, and returns tell.
            Move::Stop if !self.points.is_empty() && !self.returning && is_return(&pair) => {
                self.returns.push(pair);
                return Ok(());
            }
            Move::Point(index) if self.entered[index].is_none() && self.is_impossible(&pair) => return Ok(()),
            Move::Stop => self.arrive(&pair),
            Move::Point(index) if self.points[index].waits => {
                self.check_ends(index).and_then(|()| self.arrive_at_point(&pair, index))
            }
            Move::Point(index) => self.arrive_at_point(&pair, index),
            Move::Pass(side) => {
                let head = pair.events[side.index()].point();
                let again = pair.segment.passed[side.index()].times(head) > 1;
                // A side that is through while the other is where both should meet again.
                let other = pair.events[1 - side.index()];
                let claimed = self.points.iter().any(|p| p.is_meeting() && p.heads[side.index()] == head);
                let late = claimed && !matches!(other, Event::Head(_));
                if (again || late) && self.is_impossible(&pair) {
                    return Ok(());
                }
                let turns = self
                    .certificate
                    .edges
                    .iter()
                    .map(|e| e.original.saturating_add(e.more).max(e.candidate))
                    .max()
                    .unwrap_or(1);
                let turns = turns.min(MOST_PASSES);
                let most = if side == Side::Candidate { 1 } else { 2 * turns + 2 };
                // Turns that are certain come to an end, or to the most that are passed at all.
                let uncertain = pair.segment.passed[side.index()].times(head).min(pair.open_steps);
                let lost = pair.open_steps > MOST_OPEN_STEPS + 4 * turns || (late && uncertain > most);
                if side == Side::Original && lost && self.never_ends(&pair.at, head) {
                    return Ok(());
                }
                if lost {
                    return Err(self.not_together(pair.events));
                }
                return self.pass(pair, side, open);
            }
            Move::Refuse => Err(self.not_together(pair.events)),
        };
        let Err(rejection) = result else { return Ok(()) };
        // Perhaps the two never get here together.
        if !pair.decided && matches!(rejection, Rejection::Obligation { .. }) {
            let never = self.context.arena.bool(false);
            let known = Known::from_condition(self.context.arena, pair.at.condition);
            match self.prove(&pair.at, &known, never) {
                Ok(()) => return Ok(()),
                Err(failure @ Failure::Refuted(_)) => {
                    if let Rejection::Obligation { what, places, failure: Failure::Unknown(_) | Failure::NotShown } =
                        rejection
                    {
                        return Err(Rejection::Obligation { what, places, failure });
                    }
                }
                Err(Failure::Unknown(_) | Failure::NotShown) => {}
            }
        }
        Err(rejection)
    }

    /// Can the two never be here together? Asked where a wrong answer would cost more than the question.
    fn is_impossible(&mut self, pair: &Pair) -> bool {
        if pair.decided || pair.segment.passed.iter().all(|p| p.all == 0) {
            return false;
        }
        let never = self.context.arena.bool(false);
        let known = Known::from_condition(self.context.arena, pair.at.condition);
        self.prove(&pair.at, &known, never).is_ok()
    }

    /// Who goes on, by what the certificate says about the edges of the segment.
    fn next_move(&self, pair: &Pair, out_of_step: &[usize]) -> Move {
        let rests = |p: &Abstraction| p.resting == Some(pair.events[0]) && Event::Head(p.heads[1]) == pair.events[1];
        if let Some(index) = self.points.iter().position(rests) {
            return Move::Point(index);
        }
        let (a, b) = match pair.events {
            [Event::Head(a), Event::Head(b)] => (a, b),
            [Event::Head(_), _] => return self.may_pass(pair, Side::Original),
            [_, Event::Head(_)] => return self.may_pass(pair, Side::Candidate),
            _ => return Move::Stop,
        };
        if let Some(index) = self.points.iter().position(|p| p.waits && p.heads == [a, b]) {
            // Not on the way from a point where this loop meets another: turns are left over there, as elsewhere if the
            // certificate says so.
            let meets = |from: usize| self.points[from].is_meeting() && self.points[from].heads[0] == a;
            if !pair.segment.from.is_some_and(meets) {
                let left_over = pair.segment.passed[0].times(a) < self.certificate.passes(pair.segment.from, index)[0];
                return if left_over { self.may_pass(pair, Side::Original) } else { Move::Point(index) };
            }
        }
        if self.is_inside(&pair.segment, a) {
            return self.may_pass(pair, Side::Original);
        }
        let times = [pair.segment.passed[0].times(a), pair.segment.passed[1].times(b)];
        let mut wanted: Vec<(Side, bool)> = Vec::new();
        let claimed = |i: usize, head: PointId| self.points.iter().any(|p| p.is_meeting() && p.heads[i] == head);
        for (index, point) in self.points.iter().enumerate().filter(|(_, p)| p.is_meeting()) {
            let passes = self.certificate.passes(pair.segment.from, index);
            if point.heads == [a, b] {
                let more = self.certificate.more(pair.segment.from, index).min(MOST_PASSES);
                let enough = (passes[0]..=passes[0].saturating_add(more)).contains(&times[0]);
                if enough && times[1] == passes[1] {
                    let last = times[0] == passes[0].saturating_add(more);
                    return if last || !out_of_step.contains(&index) {
                        Move::Point(index)
                    } else {
                        self.may_pass(pair, Side::Original)
                    };
                }
                if times[0] < passes[0] {
                    return self.may_pass(pair, Side::Original);
                }
                if times[1] < passes[1] {
                    return self.may_pass(pair, Side::Candidate);
                }
            } else if point.heads[1] == b && times[1] == passes[1] {
                wanted.push((Side::Original, self.is_before(0, a, point.heads[0])));
            } else if point.heads[0] == a && times[0] == passes[0] {
                wanted.push((Side::Candidate, self.is_before(1, b, point.heads[1])));
            }
        }
        // Whoever has come less far goes on; of two that have come as far, the one that has the other's head before it.
        let [ours, theirs] = [(0, a), (1, b)].map(|(side, head)| self.progress(pair, side, head));
        if !wanted.is_empty() && claimed(0, a) && claimed(1, b) && ours != theirs {
            return self.may_pass(pair, if ours < theirs { Side::Original } else { Side::Candidate });
        }
        let wanted = wanted.iter().find(|(_, before)| *before).or(wanted.first()).map(|(side, _)| *side);
        if !claimed(0, a) {
            self.may_pass(pair, Side::Original)
        } else if !claimed(1, b) {
            self.may_pass(pair, Side::Candidate)
        } else {
            wanted.map_or(Move::Refuse, |side| self.may_pass(pair, side))
        }
    }

    /// Points where both sides are, with definitions that do not hold here: the original has turns to take before they meet.
    fn out_of_step(&mut self, pair: &Pair) -> Vec<usize> {
        let heads = pair.events.map(Event::point);
        let may_be = |i: &usize| self.points[*i].heads == heads && self.certificate.more(pair.segment.from, *i) > 0;
        let open: Vec<usize> = (0..self.points.len()).filter(may_be).collect();
        open.into_iter().filter(|index| self.is_refuted(*index, &pair.at)).collect()
    }

    /// Does the path take turns that are to be told from others?
    fn joins(&self, segment: &Segment) -> Joins {
        let varies = self.certificate.edges.iter().any(|e| e.from == segment.from && e.more > 0);
        if varies { Joins::Split } else { Joins::Merge }
    }

    /// Does a point come before another, loops apart?
    fn is_before(&self, side: usize, point: PointId, other: PointId) -> bool {
        self.rank(side, point) < self.rank(side, other)
    }

    /// How far a side that is at a head has come in its segment, more being later: which of the loops around its start it is
    /// still in (it has left the others), and whether it has come round in the innermost of these.
    fn progress(&self, pair: &Pair, side: usize, head: PointId) -> (Reverse<usize>, bool) {
        let start = pair.segment.from.map_or(Function::ENTRY, |index| self.points[index].heads[side]);
        let loops = &self.loops[side];
        let around = loops.heads.iter().filter(|h| {
            let body = loops.body(**h);
            body.contains(&start) && body.contains(&head)
        });
        let round = loops.ranks[head.index()] <= loops.ranks[start.index()];
        (Reverse(around.count()), round || pair.segment.passed[side].times(head) > 1)
    }

    fn may_pass(&self, pair: &Pair, side: Side) -> Move {
        if pair.segment.passed[side.index()].all < MOST_PASSES { Move::Pass(side) } else { Move::Refuse }
    }

    /// One side passes its loop head.
    fn pass(&mut self, pair: Pair, side: Side, open: &mut Vec<Pair>) -> Result<(), Rejection> {
        let known = self.known(&pair.at);
        let i = side.index();
        let from = Onward::At(pair.events[i].point());
        let joins = if side == Side::Candidate { self.joins(&pair.segment) } else { Joins::Merge };
        let mut run = self.run(side, from, &pair.at.states[i], &known, joins)?;
        let arrivals = std::mem::take(&mut run.arrivals);
        let mut next = pair;
        if side == Side::Original {
            next.segment.moved = true;
            let mut facts = std::mem::take(&mut next.at.facts);
            self.learn(&mut facts, next.at.condition, &run);
            next.at.facts = facts;
        } else {
            self.check_faults(&next.at, &known, next.events[0].point(), &run, true)?;
        }
        next.logs[i].push(Rc::new(run));
        self.reach_all(next, side, arrivals, open);
        Ok(())
    }

    /// What the candidate did on the way, if that was not looked at yet.
    fn check_logs(&mut self, pair: &Pair) -> Result<(), Rejection> {
        if pair.logs[1].is_empty() {
            return Ok(());
        }
        let [original, candidate] = [0, 1].map(|i| Rc::new(Run::joined(&pair.logs[i])));
        let original = self.with_first_reads(&original, pair.events[0], &pair.at.states[0]);
        let known = Known::from_condition(self.context.arena, pair.at.condition);
        self.delays = pair.segment.from.is_some() || matches!(pair.events[1], Event::Head(_));
        let result = self.check_run(&pair.at, &known, pair.events[0].point(), &original, &candidate);
        self.delays = false;
        result
    }

    /// What the original is going to access from the head of a claimed point on, before anything else can happen.
    fn look_ahead(&mut self, pair: &Pair) {
        let yes = self.context.arena.bool(true);
        let mut open = vec![(pair.events[0], pair.at.states[0].clone(), yes, 0)];
        while let Some((event, state, before, depth)) = open.pop() {
            let condition = self.context.arena.bool_and(pair.at.condition, before);
            let known = Known::from_condition(self.context.arena, condition);
            let Ok(run) = self.run(Side::Original, Onward::At(event.point()), &state, &known, Joins::Merge) else {
                return;
            };
            for access in run.accesses {
                let guard = self.context.arena.bool_and(before, access.guard);
                self.ahead.push(Access { guard, ..access });
            }
            for arrival in run.arrivals {
                if matches!(arrival.event, Event::Head(_)) && depth < LOOK_AHEAD {
                    let guard = self.context.arena.bool_and(before, arrival.guard);
                    open.push((arrival.event, arrival.state, guard, depth + 1));
                }
            }
        }
    }

    /// Both sides at the heads of a claimed point.
    fn arrive_at_point(&mut self, pair: &Pair, index: usize) -> Result<(), Rejection> {
        if self.check_logs(pair).is_err() {
            // A loop of the original may delay what the candidate reads already.
            self.look_ahead(pair);
            let mut result = self.check_logs(pair);
            if let (Err(_), Event::Head(head)) = (&result, pair.events[0]) {
                (self.behind, self.stuck) = (Some(head), None);
                result = self.check_logs(pair);
                self.behind = None;
                result = result.map_err(|rejection| self.stuck.take().unwrap_or(rejection));
            }
            self.ahead.clear();
            result?;
        }
        self.check_alone(pair, index)?;
        let mut at = pair.at.clone();
        self.settle_reads(&mut at);
        let before = self.failed.clone();
        let original = Run::joined(&pair.logs[0]);
        self.check_arrival(index, &mut at, &original)?;
        if self.failed != before && self.is_impossible(pair) {
            self.failed = before;
            return Ok(());
        }
        if self.entered[index].is_none() {
            self.incoming[index].push(at);
        }
        Ok(())
    }

    /// Both sides at calls or returns.
    fn arrive(&mut self, pair: &Pair) -> Result<(), Rejection> {
        let mut pair = pair.clone();
        self.settle_reads(&mut pair.at);
        if self.unrolls() && !self.points.is_empty() && is_return(&pair) {
            if !pair.decided {
                // What is asked most is asked first: most pairs of returns never happen.
                let never = self.context.arena.bool(false);
                let known = Known::from_condition(self.context.arena, pair.at.condition);
                match self.prove(&pair.at, &known, never) {
                    Ok(()) => return Ok(()),
                    Err(_) if self.has_no_choice(&pair.at) && self.observe(&pair).is_ok() => return Ok(()),
                    Err(Failure::Refuted(state)) => self.find_rests(&mut pair.at, &mut pair.logs, &state),
                    Err(Failure::Unknown(_) | Failure::NotShown) => {}
                }
            }
            self.fix_parts(&mut pair.at, &mut pair.logs);
        }
        self.observe(&pair)
    }

    /// The two sides are at events that do not go together.
    fn not_together(&self, events: [Event; 2]) -> Rejection {
        self.refuse(Obligation::SameEvent(events.map(EventKind::from)), events.map(Event::point), Failure::NotShown)
    }

    /// What can be observed of both sides, at calls or returns.
    fn observe(&mut self, pair: &Pair) -> Result<(), Rejection> {
        self.check_logs(pair)?;
        let points = pair.events.map(Event::point);
        match pair.events {
            [Event::Call(_), Event::Call(_)] => self.arrive_at_calls(pair.at.clone(), points, &pair.segment),
            [Event::Return(_), Event::Return(_)] => self.check_return(&pair.at, points),
            events => Err(self.not_together(events)),
        }
    }

    /// Do memory and results depend on no choice? Then it does not matter how many turns were left over. Only a hint at
    /// what is worth asking first.
    fn has_no_choice(&self, at: &Point) -> bool {
        let results = self.context.functions[0].signature.as_ref().map_or(&[][..], |s| &s.results);
        let registers = results.iter().filter_map(|value| match value.place {
            Place::Register(register) => Some(register),
            Place::Stack(_) => None,
        });
        let mut values: Vec<TermId> = at.states.iter().map(|s| s.world).collect();
        values.extend(registers.flat_map(|r| [0, 1].map(|i| at.states[i].get(r))));
        values[0] == values[1] && values[2..].chunks(2).all(|pair| pair[0] == pair[1])
            || values.into_iter().all(|value| self.choice(value).is_none())
    }
}

impl Checker<'_, '_> {
    /// Does one side go round several times while the other does once? Then turns are left over.
    fn unrolls(&self) -> bool {
        self.certificate.edges.iter().any(|edge| edge.original.max(edge.candidate) > 1)
    }
}

fn is_return(pair: &Pair) -> bool {
    pair.events.iter().all(|event| matches!(event, Event::Return(_)))
}
