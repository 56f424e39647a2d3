//! The product walk: follow the original, ask where the candidate goes, discharge what must hold there.
//!
//! A product point is a pair of calls made together, or a pair of loop heads that the certificate claims. Between two
//! product points both sides are executed as a whole. Calls need no invariant: the states of both sides, terms over
//! shared inputs and shared results of earlier calls, are carried through and merged where several edges arrive. Order:
//! by how often heads were passed and by topological rank, which every product edge increases.
//!
//! A segment begins at the entry or at a claimed pair of heads. On the way a side may pass loop heads: it goes on alone
//! until both are at calls, at returns, or at a claimed pair as often as the certificate says. So every cycle of the
//! product advances both sides.
//!
//! Trust: full. Every condition of docs/soundness.md, "what the kernel checks", is here or in the siblings.

use crate::certificate::Certificate;
use crate::claims::{Abstraction, FailedClaim};
use crate::location::Location;
use crate::obligation::{Fact, FactKind, Failure, Ignored, MemoryFailure};
use crate::proof::Counts;
use graph::contract::FixedResult;
use graph::loops::Loops;
use graph::{
    Access, Arrival, Assumption, Call, Context, Event, Interval, Joins, Known, Next, PointId, Register, Run, Shape,
    Side, State, Stuck, Value,
};
use rustc_hash::FxHashSet;
use solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use term::{Sort, TermId, VarId};

/// Why a certificate was not accepted.
#[derive(Clone, Debug)]
pub enum Rejection {
    /// The certificate itself makes no sense.
    Malformed(String),
    /// Symbolic execution could not go on.
    Stuck(Stuck),
    /// A frame address is used as data on both sides and no local object is claimed there.
    Unbound {
        /// Offset in the original's frame.
        original: i64,
        /// Offset in the candidate's frame.
        candidate: i64,
    },
    /// Claims about loops that do not hold; without them more may be provable than with them.
    Claims(Vec<FailedClaim>),
    /// Something that must hold could not be shown.
    Obligation {
        /// What, in words.
        what: String,
        /// Instruction addresses of the two sides.
        places: [u64; 2],
        /// Why.
        failure: Failure,
    },
}

impl From<Stuck> for Rejection {
    fn from(stuck: Stuck) -> Rejection {
        Rejection::Stuck(stuck)
    }
}

/// State of a check.
pub(crate) struct Checker<'c, 'a> {
    pub context: &'c mut Context<'a>,
    pub solver: &'c mut Solver,
    pub counts: Counts,
    /// The candidate's registers at entry.
    pub entry: Vec<TermId>,
    /// The pairs of loop heads that the certificate claims.
    pub points: Vec<Abstraction>,
    /// What each was entered with.
    pub entered: Vec<Option<Entered>>,
    /// Variables of forgotten places in the segment under way.
    pub free: FxHashSet<VarId>,
    /// What the original does behind the claimed point that the edge under way leads to.
    pub ahead: Vec<Access>,
    /// Is there a loop on the way, or was there?
    pub delays: bool,
    /// Forgotten places of points that hold frame addresses on some edge.
    pub frames: BTreeSet<(usize, Location)>,
    /// Was one of them found after its point had been entered?
    pub late: bool,
    /// Memories that are being compared part by part.
    pub depth: u32,
    /// Facts learned so far, for their numbers.
    pub learned: u32,
    /// Claims that do not hold.
    pub failed: BTreeSet<FailedClaim>,
    /// Edges that lead to points not yet entered.
    incoming: Vec<Vec<Point>>,
    certificate: &'c Certificate,
    pending: BTreeMap<Key, Pending>,
    loops: [Loops; 2],
    heads: [FxHashSet<PointId>; 2],
}

/// How far a side has come in its segment: how often each head was reached, in all and one by one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
struct Passed {
    all: u32,
    each: BTreeMap<PointId, u32>,
}

impl Passed {
    fn reach(&mut self, head: PointId) {
        self.all += 1;
        *self.each.entry(head).or_default() += 1;
    }

    fn times(&self, head: PointId) -> u32 {
        self.each.get(&head).copied().unwrap_or(0)
    }
}

/// The position of a pair of calls in its segment; every edge of the product goes up.
type Key = ((u32, usize), (u32, usize), [Passed; 2]);

/// Where a segment began and how far both sides have come.
#[derive(Clone, Default)]
struct Segment {
    from: Option<usize>,
    passed: [Passed; 2],
}

/// Both sides at an event each, and what they did on the way.
#[derive(Clone)]
struct Pair {
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

/// Where both sides are, when, and what is known there.
#[derive(Clone)]
pub(crate) struct Point {
    pub condition: TermId,
    pub facts: Vec<Fact>,
    pub states: [State; 2],
    /// Variables that the condition has determined.
    pub gone: Vec<VarId>,
}

/// A claimed point that edges led to.
#[derive(Clone)]
pub(crate) struct Entered {
    /// When, without what is claimed.
    pub base: TermId,
    /// The states, what the loop changes forgotten.
    pub point: Point,
}

/// A pair of calls that edges lead to.
struct Pending {
    segment: Segment,
    calls: [PointId; 2],
    shape: Shape,
    hint: String,
    incoming: Vec<Point>,
}

/// Where a side goes on.
#[derive(Clone, Copy)]
enum Onward {
    At(PointId),
    /// The callee of a tail jump has returned to our caller.
    Returned(PointId),
}

/// Heads that the original passes while one looks what it is going to access.
const LOOK_AHEAD: usize = 3;
/// Steps of one side alone that are not certain, besides those that the certificate asks for: a loop without a claim.
const MOST_OPEN_STEPS: u32 = 16;
/// Heads that a side passes in one segment.
const MOST_PASSES: u32 = 600;

impl<'c, 'a> Checker<'c, 'a> {
    pub fn new(
        context: &'c mut Context<'a>,
        solver: &'c mut Solver,
        certificate: &'c Certificate,
    ) -> Result<Self, Rejection> {
        let loops = context.functions.map(Loops::of);
        let heads = [0, 1].map(|i| match certificate.cuts[i].as_slice() {
            [] => loops[i].heads.iter().copied().collect::<FxHashSet<_>>(),
            cuts => cuts.iter().map(|c| PointId(*c)).collect(),
        });
        if (0..2).any(|i| heads[i].iter().any(|h| h.index() >= context.functions[i].points.len())) {
            return Err(Rejection::Malformed("a cut is no point of the function".to_string()));
        }
        if (0..2).any(|i| !Loops::are_cut(context.functions[i], &heads[i])) {
            return Err(Rejection::Malformed("a cycle is not cut".to_string()));
        }
        let mut points = Vec::new();
        for claim in &certificate.points {
            let point = Abstraction::read(claim).map_err(Rejection::Malformed)?;
            let exists = point.heads[1].index() < context.functions[1].points.len();
            if !heads[0].contains(&point.heads[0]) || !(heads[1].contains(&point.heads[1]) || (point.waits && exists)) {
                return Err(Rejection::Malformed("a claimed point is no pair of loop heads".to_string()));
            }
            points.push(point);
        }
        context.widens = heads.iter().any(|h| !h.is_empty());
        let incoming = points.iter().map(|_| Vec::new()).collect();
        Ok(Checker {
            context,
            solver,
            counts: Counts::default(),
            entry: Vec::new(),
            entered: points.iter().map(|_| None).collect(),
            points,
            free: FxHashSet::default(),
            ahead: Vec::new(),
            delays: false,
            frames: BTreeSet::new(),
            late: false,
            depth: 0,
            learned: 0,
            failed: BTreeSet::new(),
            incoming,
            certificate,
            pending: BTreeMap::new(),
            loops,
            heads,
        })
    }

    /// Checks the whole product.
    pub fn walk(&mut self) -> Result<(), Rejection> {
        let result = self.walk_segments();
        if !self.failed.is_empty() {
            return Err(Rejection::Claims(std::mem::take(&mut self.failed).into_iter().collect()));
        }
        result
    }

    fn walk_segments(&mut self) -> Result<(), Rejection> {
        if let Some(what) = self.context.functions[0].signature.as_ref().and_then(|s| s.unsupported.clone()) {
            let what = format!("own signature: {what}");
            return Err(Stuck::Unsupported { side: Side::Original, address: 0, what }.into());
        }
        let states = Side::BOTH.map(|side| self.context.entry_state(side));
        self.entry = states[1].registers().to_vec();
        let condition = self.context.entry_condition();
        let entry = graph::Function::ENTRY;
        let start = Point { condition, facts: Vec::new(), states, gone: Vec::new() };
        self.segment(start, [entry; 2], None)?;
        if !self.failed.is_empty() {
            return Ok(());
        }
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        order.sort_by_key(|i| [0, 1].map(|side: usize| self.rank(side, self.points[*i].heads[side])));
        // An edge may lead to an earlier one that was not entered yet.
        while let Some(index) = order.iter().copied().find(|i| !self.incoming[*i].is_empty()) {
            let incoming = std::mem::take(&mut self.incoming[index]);
            let unused = self.context.arena.var("world", Sort::Memory);
            let (point, _) = self.merge(incoming, |_| false, true, unused);
            let base = point.condition;
            let point = self.forget(index, point)?;
            self.entered[index] = Some(Entered { base, point: point.clone() });
            self.counts.points += 1;
            self.segment(point, self.points[index].heads, Some(index))?;
        }
        Ok(())
    }

    fn rank(&self, side: usize, point: PointId) -> usize {
        self.loops[side].ranks[point.index()]
    }

    /// Everything that can happen from a start until the next claimed points.
    fn segment(&mut self, start: Point, from: [PointId; 2], index: Option<usize>) -> Result<(), Rejection> {
        self.advance(start, from.map(Onward::At), Segment { from: index, ..Segment::default() })?;
        while let Some((_, pending)) = self.pending.pop_first() {
            self.counts.points += 1;
            self.after_calls(pending)?;
        }
        Ok(())
    }

    /// The states after a pair of calls, and on from there.
    fn after_calls(&mut self, pending: Pending) -> Result<(), Rejection> {
        let Pending { segment, calls, shape, hint, incoming } = pending;
        let returned = match shape.fixed {
            Some(FixedResult::Argument(register)) => Some(register),
            _ => None,
        };
        let overwritten =
            |r: &Register| !Register::CALLEE_SAVED.contains(r) && *r != Register::RSP && Some(*r) != returned;
        self.context.tick();
        let results = self.context.fresh_results(&shape, &hint);
        let after = self.context.fresh("world", Sort::Memory);
        let (mut point, afterwards) = self.merge(incoming, overwritten, shape.preserves, after);
        if let Some(holds) = results.first().and_then(|r| self.context.result_in_range(&shape, *r)) {
            let not = self.context.arena.bool_not(holds);
            let fact = self.fact(point.condition, FactKind::Not(not));
            point.facts.push(fact);
        }
        let mut onward = [Onward::At(calls[0]); 2];
        for side in Side::BOTH {
            let i = side.index();
            let mut returned = results.clone();
            if let Some(known) = self.context.known_result(side, &shape, &point.states[i], 0) {
                returned[0] = known;
            }
            let world = if shape.preserves { point.states[i].world } else { afterwards[i] };
            self.context.after_call(side, &mut point.states[i], &shape, &returned, world);
            let call = self.call(side, calls[i]);
            onward[i] = match (call.tail, call.returns) {
                (true, _) => Onward::Returned(calls[i]),
                (false, Some(next)) => Onward::At(next),
                // The original's code ends here: the callee does not return, as far as the original knows.
                (false, None) if side == Side::Original => return Ok(()),
                (false, None) => {
                    return Err(self.refuse("the candidate's code ends after a call that returns", calls, unknown()));
                }
            };
        }
        self.advance(point, onward, segment)
    }

    fn call(&self, side: Side, point: PointId) -> &'a Call {
        let function = self.context.functions[side.index()];
        match &function.point(point).next {
            Next::Call(call) => call,
            _ => unreachable!("a call event is at a call"),
        }
    }

    /// One point for all edges that arrive, what is known there, and the worlds that a callee leaves, given that it
    /// leaves `after`: on an edge where a local object has not escaped, the callee did not touch it. Registers that are
    /// overwritten next, and a world that is, need not be merged.
    fn merge(
        &mut self,
        mut incoming: Vec<Point>,
        overwritten: impl Fn(&Register) -> bool,
        world_matters: bool,
        after: TermId,
    ) -> (Point, [TermId; 2]) {
        let escaped: Vec<bool> = (0..self.context.bindings.len())
            .map(|local| incoming.iter().any(|p| p.states.iter().any(|s| s.escaped[local])))
            .collect();
        let mut merged = incoming.pop().expect("at least one edge");
        let mut worlds = [0, 1].map(|i| self.context.kept_private(&merged.states[i], &escaped, after));
        while let Some(mut point) = incoming.pop() {
            let left = [0, 1].map(|i| self.context.kept_private(&point.states[i], &escaped, after));
            for i in 0..2 {
                for register in Register::all().filter(&overwritten) {
                    point.states[i].set(register, merged.states[i].get(register));
                }
                if !world_matters {
                    point.states[i].world = merged.states[i].world;
                }
            }
            let (common, rest) = self.context.factor(&[point.condition, merged.condition]);
            for (world, left) in worlds.iter_mut().zip(left) {
                *world = if *world == left { left } else { self.context.arena.ite(rest[0], left, *world) };
            }
            for (state, arriving) in merged.states.iter_mut().zip(point.states) {
                *state = self.context.merge(rest[0], arriving, state.clone());
            }
            let any = self.context.arena.bool_or_all(&rest);
            merged.condition = self.context.arena.bool_and(common, any);
            let seen = merged.facts.iter().zip(&point.facts).take_while(|(a, b)| a == b).count();
            merged.facts.extend_from_slice(&point.facts[seen..]);
        }
        (merged, worlds)
    }

    fn run(
        &mut self,
        side: Side,
        onward: Onward,
        state: &State,
        known: &Known,
        joins: Joins,
    ) -> Result<Run, Rejection> {
        match onward {
            Onward::At(point) => {
                let heads = &self.heads[side.index()];
                Ok(self.context.execute(side, point, state.clone(), heads, known, joins)?)
            }
            Onward::Returned(point) => {
                let guard = self.context.arena.bool(true);
                let arrival = Arrival { event: Event::Return(point), guard, state: state.clone() };
                Ok(Run { arrivals: vec![arrival], ..Run::default() })
            }
        }
    }

    /// Follows the original from a product point to its next events, and the candidate under each.
    fn advance(&mut self, start: Point, onward: [Onward; 2], segment: Segment) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, start.condition);
        let unrolled = self.certificate.edges.iter().any(|e| e.from == segment.from && e.original > 1);
        let joins = if unrolled { Joins::Merge } else { Joins::Split };
        let mut original = self.run(Side::Original, onward[0], &start.states[0], &known, joins)?;
        let arrivals = std::mem::take(&mut original.arrivals);
        let original = Rc::new(original);
        let mut facts = start.facts.clone();
        self.learn(&mut facts, start.condition, &original);
        for arrival in arrivals {
            let condition = self.context.arena.bool_and(start.condition, arrival.guard);
            if self.context.arena.as_bool(condition) == Some(false) {
                continue;
            }
            let states = [arrival.state, start.states[1].clone()];
            let mut point = Point { condition, facts: facts.clone(), states, gone: start.gone.clone() };
            let mut logs = [vec![original.clone()], Vec::new()];
            self.eliminate(&mut point, &mut logs);
            let original = logs[0].pop().expect("one run");
            let mut segment = segment.clone();
            if let Event::Head(head) = arrival.event {
                segment.passed[0].reach(head);
                if let Some(index) = self.waiting(head, onward[1]) {
                    self.go_round(point, index, original, segment)?;
                    continue;
                }
            }
            self.follow(point, arrival.event, &original, onward[1], segment)?;
        }
        Ok(())
    }

    fn fact(&mut self, when: TermId, kind: FactKind) -> Fact {
        self.learned += 1;
        Fact { number: self.learned, when, kind }
    }

    /// The point at which the candidate waits while the original is at a loop head.
    fn waiting(&self, head: PointId, onward: Onward) -> Option<usize> {
        let Onward::At(waits_at) = onward else { return None };
        self.points.iter().position(|p| p.waits && p.heads == [head, waits_at])
    }

    /// The original goes round a loop alone. It can be taken to end: nothing in it can be observed.
    fn go_round(&mut self, at: Point, index: usize, run: Rc<Run>, segment: Segment) -> Result<(), Rejection> {
        let heads = self.points[index].heads;
        let events = [Event::Head(heads[0]), Event::Head(heads[1])];
        if !self.loops[0].can_be_left(self.context.functions[0], heads[0]) {
            return Err(self.refuse("a loop of the original that nothing leaves", heads, unknown()));
        }
        if !self.context.may_assume("finite-loops") {
            return Err(self.refuse("a loop of the original that may never end", heads, unknown()));
        }
        let address = self.context.functions[0].point(heads[0]).address;
        let name = self.context.functions[0].name.clone();
        self.context.assume(Assumption::about("finite-loops", format!("{name}+{address:#x}")));
        let logs = [vec![run], Vec::new()];
        let pair = Pair { at, events, segment, logs, decided: false, open_steps: 0 };
        self.arrive_at_point(&pair, index)
    }

    /// What the original's defined behaviour on an edge says.
    fn learn(&mut self, facts: &mut Vec<Fact>, condition: TermId, run: &Run) {
        let mut seen: FxHashSet<(TermId, TermId)> = FxHashSet::default();
        for fault in &run.faults {
            facts.push(self.fact(condition, FactKind::Not(fault.guard)));
        }
        for (guard, holds) in &run.facts {
            let when = self.context.arena.bool_and(condition, *guard);
            let not = self.context.arena.bool_not(*holds);
            facts.push(self.fact(when, FactKind::Not(not)));
        }
        for access in &run.accesses {
            if seen.insert((access.guard, access.address)) {
                let when = self.context.arena.bool_and(condition, access.guard);
                facts.push(self.fact(when, FactKind::Access { address: access.address, bytes: access.bytes }));
            }
        }
    }

    /// The candidate's moves while the original moves to one event.
    fn follow(
        &mut self,
        at: Point,
        event: Event,
        original: &Rc<Run>,
        onward: Onward,
        segment: Segment,
    ) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let mut candidate = self.run(Side::Candidate, onward, &at.states[1], &known, Joins::Merge)?;
        let arrivals = std::mem::take(&mut candidate.arrivals);
        let is_head = |event: Event| matches!(event, Event::Head(_));
        let logs = if is_head(event) || arrivals.iter().any(|a| is_head(a.event)) {
            self.check_faults(&at, &known, event.point(), &candidate, true)?;
            [vec![original.clone()], vec![Rc::new(candidate)]]
        } else {
            // Nobody goes on alone: what the candidate did can be looked at for all its arrivals at once.
            let original = self.with_first_reads(original, event, &at.states[0]);
            self.check_run(&at, &known, event.point(), &original, &candidate)?;
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
                what: format!("the candidate may fault ({})", fault.kind.name()),
                places: here,
                failure,
            })?;
        }
        Ok(())
    }

    /// Both sides at an event: what must hold there, or who goes on.
    fn settle(&mut self, pair: Pair, open: &mut Vec<Pair>) -> Result<(), Rejection> {
        if self.context.out_of_budget() {
            return Err(Stuck::OutOfBudget.into());
        }
        let points = pair.events.map(Event::point);
        let result = match self.next_move(&pair) {
            Move::Point(index) if self.entered[index].is_none() && self.is_impossible(&pair) => return Ok(()),
            Move::Stop => self.arrive(&pair),
            Move::Point(index) => self.arrive_at_point(&pair, index),
            Move::Pass(side) => {
                let head = pair.events[side.index()].point();
                let again = pair.segment.passed[side.index()].times(head) > 1;
                // A side that is through while the other is where both should meet again.
                let other = pair.events[1 - side.index()];
                let claimed = self.points.iter().any(|p| !p.waits && p.heads[side.index()] == head);
                let late = claimed && !matches!(other, Event::Head(_));
                if (again || late) && self.is_impossible(&pair) {
                    return Ok(());
                }
                let turns = self.certificate.edges.iter().map(|e| e.original.max(e.candidate)).max().unwrap_or(1);
                let turns = turns.min(MOST_PASSES);
                let most = if side == Side::Candidate { 1 } else { 2 * turns + 2 };
                let lost = pair.open_steps > MOST_OPEN_STEPS + 4 * turns;
                if lost || (late && pair.segment.passed[side.index()].times(head) > most) {
                    let [a, b] = pair.events.map(event_name);
                    return Err(self.refuse(&format!("the original {a}, the candidate {b}"), points, unknown()));
                }
                return self.pass(pair, side, open);
            }
            Move::Refuse => {
                let [a, b] = pair.events.map(event_name);
                Err(self.refuse(&format!("the original {a}, the candidate {b}"), points, unknown()))
            }
        };
        let Err(rejection) = result else { return Ok(()) };
        // Perhaps the two never get here together.
        if !pair.decided && matches!(rejection, Rejection::Obligation { .. }) {
            let never = self.context.arena.bool(false);
            let known = Known::from_condition(self.context.arena, pair.at.condition);
            match self.prove(&pair.at, &known, never) {
                Ok(()) => return Ok(()),
                Err(failure @ Failure::Refuted(_)) => {
                    if let Rejection::Obligation { what, places, failure: Failure::Unknown(_) } = rejection {
                        return Err(Rejection::Obligation { what, places, failure });
                    }
                }
                Err(Failure::Unknown(_)) => {}
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
    fn next_move(&self, pair: &Pair) -> Move {
        let (a, b) = match pair.events {
            [Event::Head(a), Event::Head(b)] => (a, b),
            [Event::Head(_), _] => return self.may_pass(pair, Side::Original),
            [_, Event::Head(_)] => return self.may_pass(pair, Side::Candidate),
            _ => return Move::Stop,
        };
        let times = [pair.segment.passed[0].times(a), pair.segment.passed[1].times(b)];
        let mut wanted = None;
        for (index, point) in self.points.iter().enumerate().filter(|(_, p)| !p.waits) {
            let passes = self.certificate.passes(pair.segment.from, index);
            if point.heads == [a, b] {
                if times == passes {
                    return Move::Point(index);
                }
                if times[0] < passes[0] {
                    return self.may_pass(pair, Side::Original);
                }
                if times[1] < passes[1] {
                    return self.may_pass(pair, Side::Candidate);
                }
            } else if point.heads[1] == b && times[1] == passes[1] {
                wanted = wanted.or(Some(Side::Original));
            } else if point.heads[0] == a && times[0] == passes[0] {
                wanted = wanted.or(Some(Side::Candidate));
            }
        }
        let claimed = |i: usize, head: PointId| self.points.iter().any(|p| !p.waits && p.heads[i] == head);
        if !claimed(0, a) {
            self.may_pass(pair, Side::Original)
        } else if !claimed(1, b) {
            self.may_pass(pair, Side::Candidate)
        } else {
            wanted.map_or(Move::Refuse, |side| self.may_pass(pair, side))
        }
    }

    fn may_pass(&self, pair: &Pair, side: Side) -> Move {
        if pair.segment.passed[side.index()].all < MOST_PASSES { Move::Pass(side) } else { Move::Refuse }
    }

    /// One side passes its loop head.
    fn pass(&mut self, pair: Pair, side: Side, open: &mut Vec<Pair>) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, pair.at.condition);
        let i = side.index();
        let from = Onward::At(pair.events[i].point());
        let mut run = self.run(side, from, &pair.at.states[i], &known, Joins::Merge)?;
        let arrivals = std::mem::take(&mut run.arrivals);
        let mut next = pair;
        if side == Side::Original {
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
            let result = self.check_logs(pair);
            self.ahead.clear();
            result?;
        }
        let mut at = pair.at.clone();
        let before = self.failed.clone();
        self.check_arrival(index, &mut at)?;
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
        self.check_logs(pair)?;
        let points = pair.events.map(Event::point);
        match pair.events {
            [Event::Call(_), Event::Call(_)] => self.arrive_at_calls(pair.at.clone(), points, &pair.segment),
            [Event::Return(_), Event::Return(_)] => self.check_return(&pair.at, points),
            [a, b] => {
                let what = format!("the original {}, the candidate {}", event_name(a), event_name(b));
                Err(self.refuse(&what, points, unknown()))
            }
        }
    }

    fn arrive_at_calls(&mut self, mut at: Point, calls: [PointId; 2], segment: &Segment) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let (shape, hint) = self.check_call(&mut at, &known, calls)?;
        if shape.noreturn {
            return Ok(());
        }
        let [a, b] = [0, 1].map(|i| (segment.passed[i].all, self.rank(i, calls[i])));
        let pending = self.pending.entry((a, b, segment.passed.clone())).or_insert_with(|| Pending {
            segment: segment.clone(),
            calls,
            shape: shape.clone(),
            hint,
            incoming: Vec::new(),
        });
        // A result at which nobody looks on one edge is not looked at on the others.
        let results = shape.results.clone();
        let alike = results == pending.shape.results || results.is_empty() || pending.shape.results.is_empty();
        if results.is_empty() {
            pending.shape.results.clear();
        }
        let same = Shape { arguments: shape.arguments.clone(), results, ..pending.shape.clone() } == shape;
        if !(same && alike) {
            return Err(self.refuse("the same call has two shapes", calls, unknown()));
        }
        // The callee may overwrite every stack argument of any edge.
        for argument in shape.arguments {
            if !pending.shape.arguments.contains(&argument) {
                pending.shape.arguments.push(argument);
            }
        }
        pending.incoming.push(at);
        Ok(())
    }

    fn check_call(&mut self, at: &mut Point, known: &Known, calls: [PointId; 2]) -> Result<(Shape, String), Rejection> {
        let places = [self.address(Side::Original, calls[0]), self.address(Side::Candidate, calls[1])];
        let callees = Side::BOTH.map(|side| &self.call(side, calls[side.index()]).callee);
        let renamed = [0, 1].map(|i| at.states[i].renamed.clone());
        let names = [0, 1].map(|i| match &renamed[i] {
            Some(renamed) => Some(renamed.callee.to_string()),
            None => self.context.callee_name(callees[i], &at.states[i]),
        });
        match (&names[0], &names[1]) {
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => {
                return Err(self.refuse(&format!("the original calls {a}, the candidate calls {b}"), calls, unknown()));
            }
            (None, None) => {
                let (Some(a), Some(b)) = (at.states[0].call_target, at.states[1].call_target) else {
                    return Err(self.refuse("a call without a target", calls, unknown()));
                };
                self.prove_equal(at, known, a, b)
                    .map_err(|failure| self.refuse("the address called", calls, failure))?;
            }
            _ => return Err(self.refuse("one side calls a function by name, the other a pointer", calls, unknown())),
        }
        let name = names[0].clone();
        let hint = name.clone().unwrap_or_else(|| "pointer".to_string());
        if let Some(what) = name.as_deref().and_then(|n| self.context.contract(n)).and_then(|c| c.unsupported) {
            let stuck = Stuck::Unsupported {
                side: Side::Original,
                address: places[0],
                what: format!("call of {hint}: {what}"),
            };
            return Err(stuck.into());
        }
        let mut shape = self.context.shape(name.as_deref(), Some(calls[0]), &at.states[0]);
        if renamed.iter().flatten().any(|r| !r.keeps_result) {
            // Nobody looks at it: that is when a call may be renamed so.
            shape.results.clear();
        }
        self.context.assume(Assumption::about("signature", hint.clone()));
        let arguments = self.call_arguments(at, &shape, places)?;
        if arguments[0].iter().any(|a| self.context.is_literal(*a)) {
            self.context.assume(Assumption::global("literal-address-opaque"));
        }
        for (i, (a, b)) in arguments[0].iter().zip(&arguments[1]).enumerate() {
            self.prove_equal(at, known, *a, *b).map_err(|failure| Rejection::Obligation {
                what: format!("argument {} of {hint}", i + 1),
                places,
                failure,
            })?;
        }
        self.check_promoted(at, known, &shape, places, &hint)?;
        if shape.variadic {
            self.check_vector_count(at, known, calls)?;
        }
        // What `free` is given is gone: nobody may read it any more.
        let freed = (name.as_deref() == Some("free")).then(|| arguments[0].first().copied()).flatten();
        let ignored = if freed.is_some() && self.context.contract("free").is_some() {
            Ignored::Freed(freed)
        } else {
            Ignored::Nothing
        };
        self.check_worlds(at, known, calls, ignored, &format!("memory at the call of {hint}"))?;
        let depths = [0, 1].map(|i| at.states[i].stack_depth(self.context));
        let aligned = |depth: Option<i64>| depth.is_some_and(|d| d.rem_euclid(16) == 8);
        let tail = Side::BOTH.map(|side| self.call(side, calls[side.index()]).tail);
        for (side, depth) in Side::BOTH.into_iter().zip(depths) {
            let frame = if tail[side.index()] { Some(0) } else { depth };
            let lost = (0..at.states[1].escaped.len()).any(|local| {
                let interval = self.context.bindings[local].interval(side);
                // A callee that was jumped to owns the stack arguments, too.
                let gone = |i: Interval| frame.is_none_or(|f| i.offset < f) || tail[side.index()] && i.offset > 0;
                at.states[side.index()].escaped[local] && interval.is_some_and(gone)
            });
            if lost {
                let what = format!("a local object of the {} is no longer in its frame at a call", side.name());
                return Err(self.refuse(&what, calls, unknown()));
            }
        }
        if tail[1] {
            self.check_unwound(at, known, calls)?;
        } else if !aligned(depths[1]) && (tail[0] || aligned(depths[0])) {
            return Err(self.refuse("the candidate's stack is misaligned at a call", calls, unknown()));
        }
        Ok((shape, hint))
    }

    /// The arguments of both sides. A frame address without a local object names both places, so that the search can
    /// claim one.
    fn call_arguments(
        &mut self,
        at: &mut Point,
        shape: &Shape,
        places: [u64; 2],
    ) -> Result<[Vec<TermId>; 2], Rejection> {
        let mut out = [Vec::new(), Vec::new()];
        for argument in &shape.arguments {
            let mut offsets = [None; 2];
            for side in Side::BOTH {
                let i = side.index();
                let Some(argument) = shape.on_side(argument, side) else { continue };
                let raw = self.context.value_at(&at.states[i], &argument, side, places[i])?;
                offsets[i] = self.context.frame_offset(raw).map(|(offset, _)| offset);
            }
            let one = Shape { arguments: vec![*argument], ..shape.clone() };
            for side in Side::BOTH {
                let i = side.index();
                if let Some(given) = self.renamed_argument(at, argument, side, places[i])? {
                    self.context.publish(&mut at.states[i]);
                    out[i].push(given);
                    continue;
                }
                match self.context.arguments(side, places[i], &at.states[i], &one) {
                    Ok(values) => out[i].extend(values),
                    Err(Stuck::Unbound { .. }) if offsets.iter().all(Option::is_some) => {
                        let [original, candidate] = offsets.map(|o| o.expect("checked"));
                        return Err(Rejection::Unbound { original, candidate });
                    }
                    Err(stuck) => return Err(stuck.into()),
                }
                self.context.publish(&mut at.states[i]);
            }
        }
        let [a, b] = &mut at.states;
        self.context.align_escapes(a, b);
        Ok(out)
    }

    /// An argument of a call under another name.
    fn renamed_argument(
        &mut self,
        at: &Point,
        argument: &Value,
        side: Side,
        place: u64,
    ) -> Result<Option<TermId>, Rejection> {
        let Some(renamed) = &at.states[side.index()].renamed else { return Ok(None) };
        let position = Register::ARGUMENTS.iter().position(|r| argument.place == graph::Place::Register(*r));
        let Some(given) = position.and_then(|i| renamed.arguments.get(i)).copied() else {
            let what = format!("arguments of {} under another name", renamed.callee);
            return Err(Stuck::Unsupported { side, address: place, what }.into());
        };
        let value = self.context.arena.truncate(given, 8 * argument.bytes);
        let value = self.context.canonical_value(value);
        Ok(Some(self.context.outward(side, place, value, true)?))
    }

    /// `al` bounds the vector registers that a variadic callee saves; the candidate may not pass less.
    fn check_vector_count(&mut self, at: &Point, known: &Known, calls: [PointId; 2]) -> Result<(), Rejection> {
        let count = |context: &mut Context, i: usize| {
            let al = at.states[i].get(Register::General(0));
            context.arena.truncate(al, 8)
        };
        let (a, b) = (count(self.context, 0), count(self.context, 1));
        if self.context.arena.as_u64(a) == Some(0) || self.context.is_undefined(at.states[0].get(Register::General(0)))
        {
            return Ok(());
        }
        // Unoptimised code sets `al` to a number just before a call that looks at it.
        if self.context.arena.as_u64(a).is_none() && self.context.functions[0].is_unoptimised() {
            return Ok(());
        }
        let fewer = self.context.arena.ult(b, a);
        let goal = self.context.arena.bool_not(fewer);
        self.prove(at, known, goal).map_err(|failure| self.refuse("number of vector arguments", calls, failure))
    }

    pub(crate) fn check_worlds(
        &mut self,
        at: &Point,
        known: &Known,
        points: [PointId; 2],
        ignored: Ignored,
        what: &str,
    ) -> Result<(), Rejection> {
        let [a, b] = [0, 1].map(|i| at.states[i].world);
        self.prove_same_memory(at, known, a, b, ignored).map_err(|failure| match failure {
            MemoryFailure::Bytes { address, failure } => {
                let where_ = self.context.arena.text(address);
                self.refuse(&format!("{what}, at {where_}"), points, failure)
            }
            MemoryFailure::Block => self.refuse(&format!("{what}: a block of variable length"), points, unknown()),
            MemoryFailure::Roots => self.refuse(&format!("{what}: unrelated memories"), points, unknown()),
        })
    }

    pub(crate) fn refuse(&self, what: &str, points: [PointId; 2], failure: Failure) -> Rejection {
        let places = [self.address(Side::Original, points[0]), self.address(Side::Candidate, points[1])];
        Rejection::Obligation { what: what.to_string(), places, failure }
    }

    /// Address of the last instruction of a point.
    pub(crate) fn address(&self, side: Side, point: PointId) -> u64 {
        let point = self.context.functions[side.index()].point(point);
        point.ops.last().map_or(point.address, |(place, _)| *place)
    }

    /// Accesses of the original on this edge, in the form that coverage needs.
    pub(crate) fn originals<'r>(&self, run: &'r Run, write: bool) -> Vec<&'r Access> {
        run.accesses.iter().filter(|a| !write || a.write).collect()
    }
}

/// A failure without a solver's reason: the two sides do not have the same shape.
pub(crate) fn unknown() -> Failure {
    Failure::Unknown("not shown".to_string())
}

fn event_name(event: Event) -> &'static str {
    match event {
        Event::Call(_) => "calls",
        Event::Return(_) => "returns",
        Event::Head(_) => "loops",
    }
}
