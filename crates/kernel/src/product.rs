//! The product walk: follow the original, ask where the candidate goes, discharge what must hold there.
//!
//! A product point is a pair of calls made together. Between two product points both sides are executed as a whole.
//! Calls need no invariant: the states of both sides, terms over shared inputs and shared results of earlier calls, are
//! carried through and merged where several edges arrive. Order: by the original's topological rank, which every
//! product edge increases.
//!
//! Trust: full. Every condition of docs/soundness.md, "what the kernel checks", is here or in the siblings.

use crate::obligation::{Fact, FactKind, Failure, Ignored, MemoryFailure};
use crate::proof::Counts;
use graph::contract::FixedResult;
use graph::{
    Access, Arrival, Assumption, Call, Context, Event, Interval, Joins, Known, Next, PointId, Register, Run, Shape,
    Side, State, Stuck, Value,
};
use rustc_hash::FxHashSet;
use solver::Solver;
use std::collections::BTreeMap;
use term::{Sort, TermId};

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
    pending: BTreeMap<(usize, usize), Pending>,
    ranks: [Vec<usize>; 2],
}

/// Where both sides are, when, and what is known there.
#[derive(Clone)]
pub(crate) struct Point {
    pub condition: TermId,
    pub facts: Vec<Fact>,
    pub states: [State; 2],
}

/// A pair of calls that edges lead to.
struct Pending {
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

impl<'c, 'a> Checker<'c, 'a> {
    pub fn new(context: &'c mut Context<'a>, solver: &'c mut Solver) -> Result<Self, Rejection> {
        let ranks = [rank(context, Side::Original)?, rank(context, Side::Candidate)?];
        Ok(Checker { context, solver, counts: Counts::default(), entry: Vec::new(), pending: BTreeMap::new(), ranks })
    }

    /// Checks the whole product.
    pub fn walk(&mut self) -> Result<(), Rejection> {
        if let Some(what) = self.context.functions[0].signature.as_ref().and_then(|s| s.unsupported.clone()) {
            let what = format!("own signature: {what}");
            return Err(Stuck::Unsupported { side: Side::Original, address: 0, what }.into());
        }
        let states = Side::BOTH.map(|side| self.context.entry_state(side));
        self.entry = states[1].registers().to_vec();
        let condition = self.context.entry_condition();
        let entry = graph::Function::ENTRY;
        let start = Point { condition, facts: Vec::new(), states };
        self.advance(start, [Onward::At(entry), Onward::At(entry)])?;
        while let Some((_, pending)) = self.pending.pop_first() {
            self.counts.points += 1;
            self.after_calls(pending)?;
        }
        Ok(())
    }

    /// The states after a pair of calls, and on from there.
    fn after_calls(&mut self, pending: Pending) -> Result<(), Rejection> {
        let Pending { calls, shape, hint, incoming } = pending;
        self.context.tick();
        let results = self.context.fresh_results(&shape, &hint);
        let after = self.context.fresh("world", Sort::Memory);
        let (mut point, afterwards) = self.merge(incoming, &shape, after);
        if let Some(holds) = results.first().and_then(|r| self.context.result_in_range(&shape, *r)) {
            let not = self.context.arena.bool_not(holds);
            point.facts.push(Fact { when: point.condition, kind: FactKind::Not(not) });
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
        self.advance(point, onward)
    }

    fn call(&self, side: Side, point: PointId) -> &'a Call {
        let function = self.context.functions[side.index()];
        match &function.point(point).next {
            Next::Call(call) => call,
            _ => unreachable!("a call event is at a call"),
        }
    }

    /// One point for all edges that arrive, what is known there, and the worlds that the callee leaves, given that it
    /// leaves `after`: on an edge where a local object has not escaped, the callee did not touch it.
    fn merge(&mut self, mut incoming: Vec<Point>, shape: &Shape, after: TermId) -> (Point, [TermId; 2]) {
        let escaped: Vec<bool> = (0..self.context.bindings.len())
            .map(|local| incoming.iter().any(|p| p.states.iter().any(|s| s.escaped[local])))
            .collect();
        let returned = match shape.fixed {
            Some(FixedResult::Argument(register)) => Some(register),
            _ => None,
        };
        let overwritten =
            |r: &Register| !Register::CALLEE_SAVED.contains(r) && *r != Register::RSP && Some(*r) != returned;
        let mut merged = incoming.pop().expect("at least one edge");
        let mut worlds = [0, 1].map(|i| self.context.kept_private(&merged.states[i], &escaped, after));
        while let Some(mut point) = incoming.pop() {
            let left = [0, 1].map(|i| self.context.kept_private(&point.states[i], &escaped, after));
            for i in 0..2 {
                // What the call overwrites need not be merged.
                for register in Register::all().filter(overwritten) {
                    point.states[i].set(register, merged.states[i].get(register));
                }
                if !shape.preserves {
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

    fn run(&mut self, side: Side, onward: Onward, state: &State, known: &Known) -> Result<Run, Rejection> {
        let none = FxHashSet::default();
        match onward {
            Onward::At(point) => {
                let joins = if side == Side::Original { Joins::Split } else { Joins::Merge };
                Ok(self.context.execute(side, point, state.clone(), &none, known, joins)?)
            }
            Onward::Returned(point) => {
                let guard = self.context.arena.bool(true);
                let arrival = Arrival { event: Event::Return(point), guard, state: state.clone() };
                Ok(Run { arrivals: vec![arrival], ..Run::default() })
            }
        }
    }

    /// Follows the original from a product point to its next events, and the candidate under each.
    fn advance(&mut self, start: Point, onward: [Onward; 2]) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, start.condition);
        let original = self.run(Side::Original, onward[0], &start.states[0], &known)?;
        let mut facts = start.facts.clone();
        self.learn(&mut facts, start.condition, &original);
        for arrival in &original.arrivals {
            let condition = self.context.arena.bool_and(start.condition, arrival.guard);
            if self.context.arena.as_bool(condition) == Some(false) {
                continue;
            }
            let states = [arrival.state.clone(), start.states[1].clone()];
            let point = Point { condition, facts: facts.clone(), states };
            self.follow(point, arrival.event, &original, onward[1])?;
        }
        Ok(())
    }

    /// What the original's defined behaviour on an edge says.
    fn learn(&mut self, facts: &mut Vec<Fact>, condition: TermId, run: &Run) {
        let mut seen: FxHashSet<(TermId, TermId)> = FxHashSet::default();
        for fault in &run.faults {
            facts.push(Fact { when: condition, kind: FactKind::Not(fault.guard) });
        }
        for (guard, holds) in &run.facts {
            let when = self.context.arena.bool_and(condition, *guard);
            let not = self.context.arena.bool_not(*holds);
            facts.push(Fact { when, kind: FactKind::Not(not) });
        }
        for access in &run.accesses {
            if seen.insert((access.guard, access.address)) {
                let when = self.context.arena.bool_and(condition, access.guard);
                facts.push(Fact { when, kind: FactKind::Access { address: access.address, bytes: access.bytes } });
            }
        }
    }

    /// The candidate's moves while the original moves to one event.
    fn follow(&mut self, at: Point, event: Event, original: &Run, onward: Onward) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let candidate = self.run(Side::Candidate, onward, &at.states[1], &known)?;
        let place = event.point();
        for fault in &candidate.faults {
            let goal = self.context.arena.bool_not(fault.guard);
            let here = [self.address(Side::Original, place), fault.place];
            self.prove(&at, &known, goal).map_err(|failure| Rejection::Obligation {
                what: format!("the candidate may fault ({})", fault.kind.name()),
                places: here,
                failure,
            })?;
        }
        self.check_accesses(&at, &known, place, original, &candidate)?;
        for arrival in candidate.arrivals {
            let guard = known.simplify(self.context.arena, arrival.guard);
            let condition = self.context.arena.bool_and(at.condition, guard);
            if self.context.arena.as_bool(condition) == Some(false) {
                continue;
            }
            let mut point = Point { condition, facts: at.facts.clone(), states: at.states.clone() };
            point.states[1] = arrival.state;
            self.arrive(point, guard, event, arrival.event)?;
        }
        Ok(())
    }

    /// Both sides at an event.
    fn arrive(&mut self, at: Point, guard: TermId, original: Event, candidate: Event) -> Result<(), Rejection> {
        let points = [original.point(), candidate.point()];
        let decided = self.context.arena.as_bool(guard) == Some(true);
        let result = match (original, candidate) {
            (Event::Call(_), Event::Call(_)) => self.arrive_at_calls(at.clone(), points),
            (Event::Return(_), Event::Return(_)) => self.check_return(&at, points),
            _ => {
                let what = format!("the original {}, the candidate {}", event_name(original), event_name(candidate));
                Err(self.refuse(&what, points, unknown()))
            }
        };
        let Err(rejection) = result else { return Ok(()) };
        // Perhaps the two never get here together.
        if !decided && matches!(rejection, Rejection::Obligation { .. }) {
            let never = self.context.arena.bool(false);
            let known = Known::default();
            match self.prove(&at, &known, never) {
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

    fn arrive_at_calls(&mut self, mut at: Point, calls: [PointId; 2]) -> Result<(), Rejection> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let (shape, hint) = self.check_call(&mut at, &known, calls)?;
        if shape.noreturn {
            return Ok(());
        }
        let key = (self.ranks[0][calls[0].index()], self.ranks[1][calls[1].index()]);
        let pending = self.pending.entry(key).or_insert_with(|| Pending {
            calls,
            shape: shape.clone(),
            hint,
            incoming: Vec::new(),
        });
        let same = Shape { arguments: shape.arguments.clone(), ..pending.shape.clone() } == shape;
        if !same {
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

/// Topological rank of every point, calls passed through. A cycle is a loop without an abstraction point.
fn rank(context: &Context, side: Side) -> Result<Vec<usize>, Rejection> {
    let function = context.functions[side.index()];
    let successors = |point: PointId| -> Vec<PointId> {
        match &function.point(point).next {
            Next::Edges(edges) => edges.iter().map(|e| e.target).collect(),
            Next::Call(call) => call.returns.into_iter().collect(),
            Next::Return | Next::Fault(_) => Vec::new(),
        }
    };
    let mut open: Vec<Option<bool>> = vec![None; function.points.len()];
    let mut ranks = vec![0; function.points.len()];
    let mut next_rank = function.points.len();
    let entry = graph::Function::ENTRY;
    let mut stack = vec![(entry, successors(entry), 0)];
    open[entry.index()] = Some(true);
    while let Some((point, next, at)) = stack.last_mut() {
        if let Some(target) = next.get(*at).copied() {
            *at += 1;
            match open[target.index()] {
                Some(true) => {
                    let address = function.point(target).address;
                    return Err(Stuck::Loop { side, address }.into());
                }
                Some(false) => {}
                None => {
                    open[target.index()] = Some(true);
                    stack.push((target, successors(target), 0));
                }
            }
        } else {
            open[point.index()] = Some(false);
            next_rank -= 1;
            ranks[point.index()] = next_rank;
            stack.pop();
        }
    }
    Ok(ranks)
}
