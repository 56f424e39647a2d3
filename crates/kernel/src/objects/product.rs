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
//! Here are the checker's state, the order of segments and the original's moves; `moves` has the pairs of events and who
//! goes on from them, `calls` the pairs of calls.
//!
//! Trust: full. Every condition of docs/soundness.md, "what the kernel checks", is here, below or in the siblings.

mod rejection;
mod moves;
mod changed;
mod endless;
mod later;
pub(crate) mod calls;

pub use rejection::{EventKind, MemoryAt, MemoryPart, Obligation, Rejection};

use crate::Precondition;
use crate::objects::certificate::Certificate;
use crate::objects::claims::{Abstraction, FailedClaim, Frames};
use crate::objects::obligation::{Fact, FactKind, Failure, Ignored, MemoryFailure};
use crate::proof::Counts;
use calls::Pending;
use program::loops::Loops;
use program::{Callee, Next, PointId, Side};
use rustc_hash::FxHashSet;
use solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use symbolic::{Access, Arrival, Block, Context, Event, Exclusive, Joins, Known, Run, State, Stuck};
use term::{Sort, TermId, VarId};

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
    /// The loop head of the original that the edge under way leads to, if the loops behind it count.
    pub behind: Option<PointId>,
    /// Why that could not be followed: a local object may be missing.
    pub stuck: Option<Rejection>,
    /// Is there a loop on the way, or was there?
    pub delays: bool,
    /// Whether forgotten places of points hold frame addresses.
    pub frames: Frames,
    /// Was more found after a point had been entered?
    pub late: bool,
    /// Pairs of returns of the segment under way, which are looked at last, and whether that is being done.
    returns: Vec<moves::Pair>,
    returning: bool,
    /// Memories that are being compared part by part.
    pub depth: u32,
    /// Facts learned so far, for their numbers.
    pub learned: u32,
    /// Claims that do not hold.
    pub failed: BTreeSet<FailedClaim>,
    /// Edges that lead to points not yet entered.
    incoming: Vec<Vec<Point>>,
    certificate: &'c Certificate,
    precondition: &'c Precondition,
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

/// The position of a pair of calls in its segment, and who is called there in effect; every edge of the product goes up.
type Key = ((u32, usize), (u32, usize), [Passed; 2], String);

/// Where a segment began and how far both sides have come.
#[derive(Clone, Default)]
struct Segment {
    from: Option<usize>,
    passed: [Passed; 2],
    /// Has the original moved since then?
    moved: bool,
}

/// Where both sides are, when, and what is known there.
#[derive(Clone)]
pub(crate) struct Point {
    pub condition: TermId,
    pub facts: Vec<Fact>,
    pub states: [State; 2],
    /// Variables that the condition has determined.
    pub gone: Vec<VarId>,
    /// What the original had accessed where the segment began, unless a call came between.
    pub touched: Vec<Block>,
}

/// A claimed point that edges led to.
#[derive(Clone)]
pub(crate) struct Entered {
    /// When, without what is claimed.
    pub base: TermId,
    /// The states, what the loop changes forgotten.
    pub point: Point,
}

/// Where a side goes on.
#[derive(Clone, Copy)]
enum Onward {
    At(PointId),
    /// Behind a call: if this is a loop head, it is reached now.
    Behind(PointId),
    /// The callee of a tail jump has returned to our caller.
    Returned(PointId),
}

impl<'c, 'a> Checker<'c, 'a> {
    pub fn new(
        context: &'c mut Context<'a>,
        solver: &'c mut Solver,
        certificate: &'c Certificate,
        precondition: &'c Precondition,
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
        for (number, claim) in certificate.points.iter().enumerate() {
            let point = Abstraction::read(number, claim).map_err(Rejection::Malformed)?;
            let exists = point.heads[1].index() < context.functions[1].points.len();
            let found = [0, 1].map(|i| heads[i].contains(&point.heads[i]));
            if !(found[0] || point.alone.is_some()) || !(found[1] || point.waits && exists) {
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
            behind: None,
            stuck: None,
            delays: false,
            frames: Frames::new(),
            late: false,
            returns: Vec::new(),
            returning: false,
            depth: 0,
            learned: 0,
            failed: BTreeSet::new(),
            incoming,
            certificate,
            precondition,
            pending: BTreeMap::new(),
            loops,
            heads,
        })
    }

    /// Checks the whole product.
    pub fn walk(&mut self) -> Result<(), Rejection> {
        let result = self.walk_segments();
        if !self.failed.is_empty() {
            let failed = std::mem::take(&mut self.failed).into_iter().map(|claim| claim.of_claim(&self.points));
            let failed: BTreeSet<FailedClaim> = failed.collect();
            return Err(Rejection::Claims(failed.into_iter().collect()));
        }
        result
    }

    fn walk_segments(&mut self) -> Result<(), Rejection> {
        // Where both are called in another way than declared, what arrives in a register is the same for both: calls of
        // them are compared by what the original puts there.
        let changed = |f: &program::Function| f.signature.as_ref().is_some_and(|s| s.changed_results().is_some());
        let both_changed = self.context.functions.iter().all(|f| changed(f));
        if let Some(what) = self.context.functions[0].signature.as_ref().and_then(|s| s.unsupported.clone())
            && !both_changed
        {
            let what = format!("own signature: {what}");
            return Err(Stuck::Unsupported { side: Side::Original, address: 0, what }.into());
        }
        if let Some((address, what)) = self.context.foreign_convention() {
            return Err(Stuck::Unsupported { side: Side::Original, address, what }.into());
        }
        if let Some((address, what)) = self.context.functions[0].volatile.unmodelled.clone() {
            return Err(Stuck::Unsupported { side: Side::Original, address, what }.into());
        }
        let twice = &self.context.functions[0].contracts.twice;
        for side in Side::BOTH {
            let function = self.context.functions[side.index()];
            if let Some((name, address)) = program::call_that_returns_twice(function, twice) {
                let what = format!("call of {name}: a call that returns twice");
                return Err(Stuck::Unsupported { side, address, what }.into());
            }
        }
        let states = Side::BOTH.map(|side| self.context.entry_state(side));
        self.entry = states[1].registers().to_vec();
        let condition = self.context.entry_condition();
        let held = self.context.static_condition(states[0].world);
        let condition = self.context.arena.bool_and(condition, held);
        let wanted = self.precondition.term(self.context, &states).map_err(Rejection::Malformed)?;
        let condition = self.context.arena.bool_and(condition, wanted);
        let entry = program::Function::ENTRY;
        let start = Point { condition, facts: Vec::new(), states, gone: Vec::new(), touched: Vec::new() };
        self.segment(start, [entry; 2], None)?;
        if !self.failed.is_empty() {
            return Ok(());
        }
        // In order; but an edge may lead to an earlier one that was not entered yet.
        let ranks =
            |checker: &Self, i: usize| [0, 1].map(|side: usize| checker.rank(side, checker.points[i].heads[side]));
        while let Some(index) =
            (0..self.points.len()).filter(|i| !self.incoming[*i].is_empty()).min_by_key(|i| ranks(self, *i))
        {
            let incoming = std::mem::take(&mut self.incoming[index]);
            if matches!(self.points[index].resting, Some(Event::Call(_))) && incoming.len() > 1 {
                // States of several edges do not remember how the call is made.
                return Err(self.refuse(Obligation::OneEdge, self.points[index].heads, Failure::NotShown));
            }
            let unused = self.context.arena.var("world", Sort::Memory);
            let (point, _) = self.merge(incoming, |_| false, true, unused);
            let base = point.condition;
            let mut point = self.forget(index, point)?;
            if self.calls_on_a_way_back(index) {
                point.facts.iter_mut().for_each(Fact::called);
            }
            self.entered[index] = Some(Entered { base, point: point.clone() });
            self.counts.points += 1;
            let mut point = self.with_seen(index, point)?;
            self.learn_statics(&mut point);
            if self.points[index].waits {
                self.learn_end(index, &mut point);
            }
            self.segment(point, self.points[index].heads, Some(index))?;
        }
        Ok(())
    }

    /// Does the original call somebody between two visits of a point's head?
    fn calls_on_a_way_back(&self, index: usize) -> bool {
        let function = self.context.functions[0];
        let head = self.points[index].heads[0];
        let next = |point: PointId| match &function.point(point).next {
            Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
            Next::Call(call) => call.returns.into_iter().collect(),
            Next::Return | Next::Fault(_) => Vec::new(),
        };
        let reached = |from: PointId| {
            let (mut open, mut seen) = (next(from), FxHashSet::default());
            while let Some(point) = open.pop() {
                if seen.insert(point) {
                    open.extend(next(point));
                }
            }
            seen
        };
        let calls = |point: PointId| match &function.point(point).next {
            Next::Call(call) => !matches!(&call.callee, Callee::Named(name) if self.context.is_silent(name)),
            _ => false,
        };
        let mut body = reached(head);
        body.insert(head);
        body.into_iter().filter(|point| calls(*point)).any(|point| reached(point).contains(&head))
    }

    fn rank(&self, side: usize, point: PointId) -> usize {
        self.loops[side].ranks[point.index()]
    }

    /// Everything that can happen from a start until the next claimed points.
    fn segment(&mut self, start: Point, from: [PointId; 2], index: Option<usize>) -> Result<(), Rejection> {
        match index.and_then(|i| self.points[i].resting) {
            Some(event) => self.go_on_alone(start, event, from[1], index)?,
            None => self.advance(start, from.map(Onward::At), Segment { from: index, ..Segment::default() })?,
        }
        while let Some((_, pending)) = self.pending.pop_first() {
            self.counts.points += 1;
            self.after_calls(pending)?;
        }
        let returns = std::mem::take(&mut self.returns);
        if !self.failed.is_empty() {
            return Ok(());
        }
        self.returning = true;
        let result = returns.into_iter().try_for_each(|pair| self.settle(pair, &mut Vec::new()));
        self.returning = false;
        result
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
            Onward::Behind(point) if self.heads[side.index()].contains(&point) => {
                Ok(self.arrived(Event::Head(point), state))
            }
            Onward::Behind(point) => self.run(side, Onward::At(point), state, known, joins),
            Onward::Returned(point) => Ok(self.arrived(Event::Return(point), state)),
        }
    }

    /// A run that is at an event already.
    fn arrived(&mut self, event: Event, state: &State) -> Run {
        let arrival = Arrival { event, guard: self.context.arena.bool(true), state: state.clone() };
        Run { arrivals: vec![arrival], ..Run::default() }
    }

    /// Follows the original from a product point to its next events, and the candidate under each.
    fn advance(&mut self, start: Point, onward: [Onward; 2], mut segment: Segment) -> Result<(), Rejection> {
        segment.moved = true;
        let known = self.known(&start);
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
            let (gone, touched) = (start.gone.clone(), start.touched.clone());
            let mut point = Point { condition, facts: facts.clone(), states, gone, touched };
            let mut logs = [vec![original.clone()], Vec::new()];
            self.eliminate(&mut point, &mut logs);
            let original = logs[0].pop().expect("one run");
            self.learn_restrict(&mut point, &original);
            let mut segment = segment.clone();
            if let Event::Head(head) = arrival.event {
                segment.passed[0].reach(head);
                if let Some(index) = self.waiting(head, onward[1]) {
                    self.go_round(point, index, original, segment)?;
                    continue;
                }
                if let Onward::At(waits_at) = onward[1]
                    && self.heads[1].contains(&waits_at)
                    && self.is_inside(&segment, head)
                {
                    let events = [arrival.event, Event::Head(waits_at)];
                    self.go_on_inside(point, events, original, segment)?;
                    continue;
                }
            }
            self.follow(point, arrival.event, &original, onward[1], segment)?;
        }
        Ok(())
    }

    pub(crate) fn fact(&mut self, when: TermId, kind: FactKind) -> Fact {
        self.learned += 1;
        Fact { number: self.learned, when, kind }
    }

    /// What statics can hold in a memory that nothing is known about.
    pub(crate) fn learn_statics(&mut self, point: &mut Point) {
        let held = self.context.static_condition(point.states[0].world);
        if self.context.arena.as_bool(held).is_none() {
            let not = self.context.arena.bool_not(held);
            let fact = self.fact(point.condition, FactKind::Not(not));
            point.facts.push(fact);
        }
    }

    /// What the original's defined behaviour on an edge says.
    pub(crate) fn learn(&mut self, facts: &mut Vec<Fact>, condition: TermId, run: &Run) {
        let mut seen: FxHashSet<(TermId, TermId)> = FxHashSet::default();
        for fault in &run.faults {
            facts.push(self.fact(condition, FactKind::Not(fault.guard)));
        }
        for (guard, holds) in &run.facts {
            let when = self.context.arena.bool_and(condition, *guard);
            let not = self.context.arena.bool_not(*holds);
            facts.push(self.fact(when, FactKind::Not(not)));
        }
        for copy in &run.exclusive {
            let overlap = self.partly_overlaps(copy);
            if self.context.arena.as_bool(overlap) != Some(false) {
                let when = self.context.arena.bool_and(condition, copy.guard);
                facts.push(self.fact(when, FactKind::Apart(overlap)));
            }
        }
        for access in &run.accesses {
            if seen.insert((access.guard, access.address)) {
                let when = self.context.arena.bool_and(condition, access.guard);
                let kind = FactKind::Access { address: access.address, bytes: access.bytes, called_since: false };
                facts.push(self.fact(when, kind));
                // How the original aligns an object says nothing about the candidate's of the same name.
                let named = matches!(self.context.base_object(access.address), Some((_, None)));
                let align = self.context.functions[0].alignments.get(&access.place).copied();
                if let Some(align) = align.filter(|_| !named) {
                    facts.push(self.fact(when, FactKind::Aligned { address: access.address, align }));
                }
            }
        }
    }

    /// Source and destination of a copy are neither the same nor apart.
    fn partly_overlaps(&mut self, copy: &Exclusive) -> TermId {
        let arena = &mut *self.context.arena;
        let same = arena.eq(copy.to, copy.from);
        let [behind, before] = [(copy.to, copy.from), (copy.from, copy.to)].map(|(a, b)| {
            let distance = arena.sub(a, b);
            arena.ule(copy.length, distance)
        });
        let apart = arena.bool_and(behind, before);
        let fine = arena.bool_or(same, apart);
        arena.bool_not(fine)
    }

    pub(crate) fn check_worlds(
        &mut self,
        at: &Point,
        known: &Known,
        points: [PointId; 2],
        ignored: Ignored,
        place: MemoryAt,
    ) -> Result<(), Rejection> {
        let [a, b] = [0, 1].map(|i| at.states[i].world);
        self.prove_same_memory(at, known, a, b, ignored).map_err(|failure| {
            let (part, failure) = match failure {
                MemoryFailure::Bytes { address, failure } => {
                    (MemoryPart::Bytes(self.context.arena.text(address)), failure)
                }
                MemoryFailure::Block => (MemoryPart::Block, Failure::NotShown),
                MemoryFailure::Roots => (MemoryPart::Roots, Failure::NotShown),
            };
            self.refuse(Obligation::Memory { at: place, part }, points, failure)
        })
    }

    pub(crate) fn refuse(&self, what: Obligation, points: [PointId; 2], failure: Failure) -> Rejection {
        let places = [self.address(Side::Original, points[0]), self.address(Side::Candidate, points[1])];
        Rejection::Obligation { what, places, failure }
    }

    /// Address of the last instruction of a point.
    pub(crate) fn address(&self, side: Side, point: PointId) -> u64 {
        self.context.functions[side.index()].point(point).last_address()
    }

    /// Accesses of the original on this edge, in the form that coverage needs.
    pub(crate) fn originals<'r>(&self, run: &'r Run, write: bool) -> Vec<&'r Access> {
        run.accesses.iter().filter(|a| !write || a.write).collect()
    }
}
