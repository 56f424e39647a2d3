//! The execution of one function alone: from its entry to its returns, over calls and loop heads.
//!
//! Pieces between events are executed by [`symbolic::Context::execute`], as in the product walk. Edges that lead to the same
//! call or loop head are merged there; the order is that of the loops' ranks, so that all have arrived.

use super::forgets::{Given, Taint};
use super::heads::{Heads, Holds};
use super::judge::in_range;
use crate::objects::claims::is_scratch;
use crate::objects::location::{Location, Spot};
use crate::objects::obligation::FactKind;
use crate::objects::product::{Checker, Point};
use program::{Call, Callee, Function, Next, Place, PointId, Register, Side};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use symbolic::{Event, Joins, Known, Run, State, Stuck};
use term::{Sort, TermId};

const SIDE: Side = Side::Original;

/// What was seen on the way.
#[derive(Default)]
pub(super) struct Seen {
    /// The state at the entry.
    pub entry: Option<State>,
    /// What happens before anything can be seen; nothing is known if the entry is a loop head.
    pub first: Option<First>,
    /// Where it returns.
    pub returns: Vec<(Point, State)>,
    /// Where it calls somebody by name: the state before the call.
    pub calls: Vec<(Point, String, State)>,
    /// Other places where others, or the next turn of a loop, look at memory.
    pub elsewhere: Vec<(Point, State)>,
    /// Is anything written outside the frame?
    pub writes: bool,
    /// Is anything read there?
    pub reads: bool,
    /// Can an instruction fault?
    pub faults: bool,
    /// Arguments whose addresses others can find when it is done.
    pub kept: Given,
}

/// The piece from the entry to the first events.
pub(super) struct First {
    /// Addresses and bytes of the loads that every path makes.
    pub reads: BTreeSet<(TermId, u16)>,
    /// The first calls, by name.
    pub calls: Vec<(String, State)>,
    /// Are all first events among these?
    pub only_calls: bool,
}

/// What edges lead to: a call, or a loop head.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stop {
    Head,
    Call,
}

/// A head that has been entered.
struct Entered {
    base: TermId,
    point: Point,
}

/// One attempt.
pub(super) struct Walk<'w, 'c, 'a> {
    checker: &'w mut Checker<'c, 'a>,
    function: &'w Function,
    heads: &'w mut Heads,
    cut: FxHashSet<PointId>,
    open: BTreeMap<(usize, Stop, PointId), Vec<Point>>,
    entered: BTreeMap<PointId, Entered>,
    taint: Taint,
    /// What was seen; worth something only if nothing must be done again.
    pub seen: Seen,
    /// Was more found that a loop changes, or a claim that does not hold?
    pub again: bool,
}

impl<'w, 'c, 'a> Walk<'w, 'c, 'a> {
    pub fn new(checker: &'w mut Checker<'c, 'a>, function: &'w Function, heads: &'w mut Heads) -> Self {
        let cut = heads.loops.heads.iter().copied().collect();
        let (open, entered) = (BTreeMap::new(), BTreeMap::new());
        Walk {
            checker,
            function,
            heads,
            cut,
            open,
            entered,
            taint: Taint::default(),
            seen: Seen::default(),
            again: false,
        }
    }

    /// Executes everything.
    pub fn run(&mut self) -> Result<(), Stuck> {
        let state = self.checker.context.entry_state(SIDE);
        let condition = self.checker.context.entry_condition();
        let held = self.checker.context.static_condition(state.world);
        let condition = self.checker.context.arena.bool_and(condition, held);
        self.seen.entry = Some(state.clone());
        let forgets = self.function.contracts.get(&self.function.name).map(|c| c.forgets.clone());
        self.taint.begin(self.checker.context, &state, forgets.unwrap_or_default().into_iter());
        self.taint.always(self.checker.context, condition);
        let start = point(condition, Vec::new(), state);
        if self.cut.contains(&Function::ENTRY) {
            self.arrive(Function::ENTRY, start);
        } else {
            self.go(Function::ENTRY, start)?;
        }
        while let Some(((_, stop, id), incoming)) = self.open.pop_first() {
            let unused = self.checker.context.arena.var("world", Sort::Memory);
            let (merged, _) = self.checker.merge(incoming, |_| false, true, unused);
            match stop {
                Stop::Head => {
                    let inside = self.enter(id, merged);
                    self.go(id, inside)?;
                }
                Stop::Call => self.call(id, merged)?,
            }
        }
        self.seen.kept = self.taint.kept;
        Ok(())
    }

    /// Executes from a point to the next events.
    fn go(&mut self, from: PointId, start: Point) -> Result<(), Stuck> {
        let known = self.checker.known(&start);
        let state = start.states[0].clone();
        let run = self.checker.context.execute(SIDE, from, state, &self.cut, &known, Joins::Merge)?;
        self.note(&run);
        if self.seen.first.is_none() && from == Function::ENTRY && !self.cut.contains(&from) {
            self.seen.first = Some(self.first(&run));
        }
        let mut facts = start.facts.clone();
        self.checker.learn(&mut facts, start.condition, &run);
        for arrival in run.arrivals {
            let condition = self.checker.context.arena.bool_and(start.condition, arrival.guard);
            if self.checker.context.arena.as_bool(condition) == Some(false) {
                continue;
            }
            let at = point(condition, facts.clone(), arrival.state);
            match arrival.event {
                Event::Return(_) => self.returned(at),
                Event::Head(head) => self.arrive(head, at),
                Event::Call(id) => {
                    let rank = self.heads.loops.ranks[id.index()];
                    self.open.entry((rank, Stop::Call, id)).or_default().push(at);
                }
            }
        }
        Ok(())
    }

    /// What the piece from the entry does.
    fn first(&self, run: &Run) -> First {
        let arena = &self.checker.context.arena;
        let certain = run.accesses.iter().filter(|a| !a.write && arena.as_bool(a.guard) == Some(true));
        let reads = certain.map(|a| (a.address, a.bytes)).collect();
        let mut out = First { reads, calls: Vec::new(), only_calls: true };
        for arrival in run.arrivals.iter().filter(|a| arena.as_bool(a.guard) != Some(false)) {
            let callee = match arrival.event {
                Event::Call(id) => match &self.function.point(id).next {
                    Next::Call(Call { callee: Callee::Named(name), .. }) => Some(name.clone()),
                    _ => None,
                },
                Event::Return(_) | Event::Head(_) => None,
            };
            out.only_calls &= callee.is_some();
            out.calls.extend(callee.map(|name| (name, arrival.state.clone())));
        }
        out
    }

    /// The function is done.
    fn returned(&mut self, at: Point) {
        let state = at.states[0].clone();
        self.taint.look(self.checker.context, at.condition, &state);
        let signature = self.function.signature.as_ref().filter(|s| s.unsupported.is_none());
        for register in [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)] {
            let place = Place::Register(register);
            if signature.is_none_or(|s| s.results.iter().any(|v| v.place == place)) {
                self.taint.kept |= self.taint.of(self.checker.context, state.get(register));
            }
        }
        self.seen.returns.push((at, state));
    }

    /// What a piece does to memory.
    fn note(&mut self, run: &Run) {
        let context = &*self.checker.context;
        let happens = |guard: TermId| context.arena.as_bool(guard) != Some(false);
        let own = |address: TermId| matches!(context.base_object(address), Some((_, Some(_))));
        let accesses = run.accesses.iter().filter(|a| happens(a.guard)).map(|a| (a.address, a.write));
        let blocks = run.blocks.iter().filter(|b| happens(b.guard)).map(|b| (b.address, b.write));
        for (_, write) in accesses.chain(blocks).filter(|(address, _)| !own(*address)) {
            self.seen.writes |= write;
            self.seen.reads |= !write;
        }
        self.seen.reads |= run.pure_calls.iter().any(|call| call.reads);
        self.seen.faults |= run.faults.iter().any(|f| happens(f.guard));
    }

    /// A call: what the callee may do is done.
    fn call(&mut self, id: PointId, mut at: Point) -> Result<(), Stuck> {
        let function = self.function;
        let Next::Call(Call { callee, returns, tail, .. }) = &function.point(id).next else { return Ok(()) };
        let place = function.point(id).last_address();
        let state = &at.states[0];
        let name = match callee {
            Callee::Named(name) => Some(name.clone()),
            Callee::Pointer(_) => self.checker.context.callee_name(callee, state),
        };
        match &name {
            Some(name) => self.seen.calls.push((at.clone(), name.clone(), state.clone())),
            None => self.seen.elsewhere.push((at.clone(), state.clone())),
        }
        let state = state.clone();
        let shape = self.checker.context.shape(name.as_deref(), Some(id), &state);
        self.taint.look(self.checker.context, at.condition, &state);
        let mut handed = self.passed_on(name.as_deref(), &state);
        let mut own: Vec<bool> = state.escaped.iter().map(|escaped| !escaped).collect();
        for argument in &shape.arguments {
            let forgotten = matches!(argument.place, Place::Register(r) if shape.forgets.contains(&r));
            let one = symbolic::Shape { arguments: vec![*argument], moved: BTreeMap::new(), ..shape.clone() };
            let values = self.checker.context.arguments(SIDE, place, &at.states[0], &one)?;
            self.checker.context.publish(&mut at.states[0]);
            if !forgotten {
                for value in &values {
                    handed |= self.taint.of(self.checker.context, *value);
                }
            }
            for (local, own) in own.iter_mut().enumerate().filter(|_| !forgotten) {
                *own &= !values.iter().any(|value| self.checker.context.mentions_local(*value, local));
            }
        }
        // What was published since then, others see, too.
        self.taint.look(self.checker.context, at.condition, &at.states[0].clone());
        let row = name.as_deref().and_then(|n| self.checker.context.contract(n));
        if !row.is_some_and(|row| row.forgets() && !library::prints(row)) {
            self.taint.kept |= handed;
        }
        if shape.noreturn {
            return Ok(());
        }
        let hint = name.unwrap_or_else(|| "pointer".to_string());
        self.checker.context.tick();
        let mut results = self.checker.context.fresh_results(&shape, &hint);
        for result in &results {
            // It may return where it found something.
            self.note_result(*result, handed);
        }
        let after = self.checker.context.fresh("world", Sort::Memory);
        if let Some(holds) = results.first().and_then(|r| self.checker.context.result_in_range(&shape, *r)) {
            let not = self.checker.context.arena.bool_not(holds);
            let fact = self.checker.fact(at.condition, FactKind::Not(not));
            at.facts.push(fact);
        }
        let state = &mut at.states[0];
        if let Some(known) = self.checker.context.known_result(SIDE, &shape, state, 0) {
            results[0] = known;
        }
        let world = if shape.preserves { state.world } else { after };
        self.checker.context.after_call(SIDE, state, &shape, &results, world);
        for local in (0..own.len()).filter(|local| own[*local]) {
            self.checker.context.take_back(state, local);
        }
        at.states[1] = at.states[0].clone();
        if !shape.preserves {
            self.checker.learn_statics(&mut at);
        }
        match returns {
            _ if *tail => {
                self.returned(at);
                Ok(())
            }
            Some(next) if self.cut.contains(next) => {
                self.arrive(*next, at);
                Ok(())
            }
            Some(next) => self.go(*next, at),
            // The code ends here: the callee does not return, as far as the function knows.
            None => Ok(()),
        }
    }

    /// What a call hands on besides the arguments that are known: anything, if none are.
    fn passed_on(&mut self, name: Option<&str>, state: &State) -> Given {
        if self.taint.is_idle() {
            return 0;
        }
        let target = state.call_target.map_or(0, |target| self.taint.of(self.checker.context, target));
        let declared = name.is_some_and(|name| {
            let declared = self.function.callees.get(name).is_some_and(|s| s.unsupported.is_none() && !s.variadic);
            declared || self.checker.context.contract(name).is_some()
        });
        if declared { target } else { Given::MAX }
    }

    /// What a call returns may be made of what it was handed.
    fn note_result(&mut self, result: TermId, handed: Given) {
        for var in self.checker.context.arena.free_vars(result) {
            let term = self.checker.context.arena.var_term(var);
            self.taint.note(self.checker.context, term, handed);
        }
    }

    /// An edge arrives at a loop head.
    fn arrive(&mut self, head: PointId, mut at: Point) {
        self.checker.context.publish_all(&mut at.states[0]);
        at.states[1] = at.states[0].clone();
        let mut here = self.heads.all.remove(&head).unwrap_or_default();
        let known = self.checker.known(&at);
        let claims = std::mem::take(&mut here.claims);
        for (place, range) in claims {
            let value = place.read(self.checker.context.arena, &at.states[0]);
            if in_range(self.checker, &at, value, &range) {
                here.claims.push((place, range));
            } else {
                self.again |= self.entered.contains_key(&head);
            }
        }
        self.seen.elsewhere.push((at.clone(), at.states[0].clone()));
        self.taint.look(self.checker.context, at.condition, &at.states[0]);
        for local in &at.states[0].locals {
            // It is not followed through objects that loops change.
            self.taint.kept |= self.taint.of(self.checker.context, *local);
        }
        for (place, holds) in &mut here.forgotten {
            let value = place.read(self.checker.context.arena, &at.states[0]);
            let framed = holds.framed || self.checker.context.depends_on_frame(value);
            let given = holds.given | self.taint.of(self.checker.context, value);
            let mixed = holds.mixed || !self.taint.is_pointer(self.checker.context, value);
            let now = Holds { framed, given, mixed };
            if now != *holds {
                *holds = now;
                self.again |= self.entered.contains_key(&head);
            }
        }
        match self.entered.remove(&head) {
            None => {
                let rank = self.heads.loops.ranks[head.index()];
                self.open.entry((rank, Stop::Head, head)).or_default().push(at);
            }
            Some(entered) => {
                self.check_kept(&mut here, &at, &entered, &known);
                self.entered.insert(head, entered);
            }
        }
        self.heads.all.insert(head, here);
    }

    /// What a head keeps must be as it was when it was entered; what is not is forgotten next time.
    fn check_kept(&mut self, here: &mut super::heads::Head, at: &Point, entered: &Entered, known: &Known) {
        let (now, then) = (&at.states[0], &entered.point.states[0]);
        let before = (here.forgotten.len(), here.world, here.locals.len(), here.blank);
        let mut changed = |walk: &mut Self, place: Location| {
            if here.forgotten.contains_key(&place) {
                return;
            }
            let arena = &mut *walk.checker.context.arena;
            let (a, b) = (place.read(arena, now), place.read(arena, then));
            if a != b {
                let framed = walk.checker.context.depends_on_frame(a) || walk.checker.context.depends_on_frame(b);
                let given = walk.taint.of(walk.checker.context, a) | walk.taint.of(walk.checker.context, b);
                let mixed = [a, b].iter().any(|v| !walk.taint.is_pointer(walk.checker.context, *v));
                here.forgotten.insert(place, Holds { framed, given, mixed });
            }
        };
        for register in Register::all().filter(|r| !is_scratch(*r)) {
            if let Some(place) = Location::whole(SIDE, Spot::Register(register)) {
                changed(self, place);
            }
        }
        for (offset, bytes) in self.checker.slots(&[now, then]) {
            changed(self, Location { side: SIDE, spot: Spot::Slot { offset, bytes }, low: 0, width: 8 * bytes });
        }
        let flag = Register::Flag(program::Flag::Direction);
        here.world |= now.world != then.world;
        // Nobody leaves it set; such a loop is not followed.
        self.again |= now.get(flag) != then.get(flag);
        for local in 0..now.locals.len() {
            if !then.escaped[local] && (now.escaped[local] || now.locals[local] != then.locals[local]) {
                here.locals.extend(self.checker.context.bindings[local].original.map(|i| i.offset));
            }
        }
        let numbers: FxHashSet<u32> = at.facts.iter().map(|f| f.number).collect();
        let known_here = entered.point.facts.iter().all(|f| numbers.contains(&f.number));
        let holds = here.blank || known_here && self.checker.ask(at, known, entered.base).is_ok();
        if !holds {
            here.blank = true;
        }
        self.again |= before != (here.forgotten.len(), here.world, here.locals.len(), here.blank);
    }

    /// A head with everything forgotten that its loop changes, and what is claimed of it.
    fn enter(&mut self, head: PointId, mut point: Point) -> Point {
        let here = self.heads.all.get(&head).cloned().unwrap_or_default();
        let context = &mut *self.checker.context;
        let base = point.condition;
        let state = &mut point.states[0];
        context.publish_all(state);
        context.tick();
        for (place, holds) in &here.forgotten {
            let sort = Sort::Bv(place.width);
            let hint = format!("{place}@{}", head.index());
            let fresh = if holds.framed { context.fresh_frame_value(&hint, sort) } else { context.fresh(&hint, sort) };
            match holds.mixed {
                true => self.taint.note(context, fresh, holds.given),
                false => self.taint.note_pointer(context, fresh, holds.given),
            }
            place.write(context.arena, state, fresh);
        }
        for register in Register::all().filter(|r| is_scratch(*r)) {
            let value = context.fresh_undefined(&register.name(), register.sort());
            state.set(register, value);
        }
        state.frame.base = context.fresh("frame", Sort::Memory);
        (state.call_target, state.renamed, state.tail) = (None, None, false);
        if here.world {
            state.world = context.fresh("world", Sort::Memory);
        }
        for local in 0..state.locals.len() {
            let held = context.bindings[local].original;
            if held.is_some_and(|held| here.locals.iter().any(|start| held.contains(*start))) {
                state.locals[local] = context.fresh("local", Sort::Memory);
            }
        }
        if here.blank {
            point.condition = context.arena.bool(true);
            point.facts.clear();
        }
        for (place, range) in &here.claims {
            let value = place.read(context.arena, state);
            let holds = context.in_range(value, range);
            point.condition = context.arena.bool_and(point.condition, holds);
        }
        point.states[1] = point.states[0].clone();
        point.touched.clear();
        let entered = Entered { base, point: point.clone() };
        self.entered.insert(head, entered);
        if here.world {
            self.checker.learn_statics(&mut point);
        }
        point
    }
}

fn point(condition: TermId, facts: Vec<crate::objects::obligation::Fact>, state: State) -> Point {
    Point { condition, facts, states: [state.clone(), state], gone: Vec::new(), touched: Vec::new() }
}
