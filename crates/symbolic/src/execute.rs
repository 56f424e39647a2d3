//! Symbolic execution of an acyclic piece of a function.
//!
//! From a point, all paths are executed at once up to the next *events*: calls, returns, and the loop heads that
//! the caller names. Where paths join, states are merged with `ite` over the parts of the path conditions that
//! differ. The result is, per event, the condition under which it is reached and the state there, and a log of the
//! world accesses and possible faults on the way, each with the condition under which it happens.

use crate::context::unsupported;
use crate::known::Known;
use crate::{Context, RenamedCall, State, Stuck};
use program::order::{Passing, Region as Piece};
use program::{Assumption, Call, Callee, Care, FaultKind, Function, Next, Op, PointId, Register, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use term::{Op as TermOp, TermId, VarId};

/// An event that ends a piece.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Event {
    /// The call that ends this point.
    Call(PointId),
    /// The return that ends this point.
    Return(PointId),
    /// This loop head.
    Head(PointId),
}

impl Event {
    /// The point of the event.
    pub fn point(self) -> PointId {
        match self {
            Event::Call(point) | Event::Return(point) | Event::Head(point) => point,
        }
    }
}

/// An event that can be reached.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// What.
    pub event: Event,
    /// When, relative to the start of the piece.
    pub guard: TermId,
    /// The state there (for calls and returns: before the event).
    pub state: State,
}

/// An access to the world.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// When.
    pub guard: TermId,
    /// Where.
    pub address: TermId,
    /// How many bytes.
    pub bytes: u16,
    /// Write or read?
    pub write: bool,
    /// Instruction.
    pub place: u64,
}

/// A read or write of a block whose length is not a small constant.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// When.
    pub guard: TermId,
    /// First byte.
    pub address: TermId,
    /// Length in bytes, a term.
    pub length: TermId,
    /// Write or read?
    pub write: bool,
    /// Instruction.
    pub place: u64,
}

/// A possible fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// When.
    pub guard: TermId,
    /// Why.
    pub kind: FaultKind,
    /// Instruction.
    pub place: u64,
    /// Does the path end here? If not, the log goes on as if nothing had happened.
    pub ends: bool,
}

/// What one execution found.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Events, in order of their points.
    pub arrivals: Vec<Arrival>,
    /// World accesses.
    pub accesses: Vec<Access>,
    /// Blocks read and written by library functions.
    pub blocks: Vec<Block>,
    /// Copies that must not overlap.
    pub exclusive: Vec<Exclusive>,
    /// Calls that only compute, of the library and of the file: name, arguments, guard. The candidate's must be among the original's.
    pub pure_calls: Vec<PureCall>,
    /// Faults.
    pub faults: Vec<Fault>,
    /// What holds of results of the original's callees, and of truth values that it loads: when, and what.
    pub facts: Vec<(TermId, TermId)>,
}

impl Run {
    /// The logs of several runs one after another, without their arrivals.
    pub fn joined(runs: &[std::rc::Rc<Run>]) -> Run {
        let mut out = Run::default();
        for run in runs {
            out.accesses.extend_from_slice(&run.accesses);
            out.blocks.extend_from_slice(&run.blocks);
            out.exclusive.extend_from_slice(&run.exclusive);
            out.pure_calls.extend_from_slice(&run.pure_calls);
            out.faults.extend_from_slice(&run.faults);
        }
        out
    }
}

impl Run {
    /// Changes every term of the logs.
    pub fn map(&mut self, change: &mut dyn FnMut(TermId) -> TermId) {
        for access in &mut self.accesses {
            (access.guard, access.address) = (change(access.guard), change(access.address));
        }
        for block in &mut self.blocks {
            block.guard = change(block.guard);
            (block.address, block.length) = (change(block.address), change(block.length));
        }
        for copy in &mut self.exclusive {
            (copy.guard, copy.length) = (change(copy.guard), change(copy.length));
            (copy.to, copy.from) = (change(copy.to), change(copy.from));
        }
        for call in &mut self.pure_calls {
            (call.guard, call.value) = (change(call.guard), change(call.value));
        }
        for fault in &mut self.faults {
            fault.guard = change(fault.guard);
        }
    }
}

/// A copy whose operands must not overlap (`memcpy`).
#[derive(Clone, Copy, Debug)]
pub struct Exclusive {
    /// When.
    pub guard: TermId,
    /// Destination.
    pub to: TermId,
    /// Source.
    pub from: TermId,
    /// Length in bytes.
    pub length: TermId,
    /// Instruction.
    pub place: u64,
}

/// A call of a pure function that reads memory.
#[derive(Clone, Debug)]
pub struct PureCall {
    /// When.
    pub guard: TermId,
    /// The value of the call: a term over name, arguments and memory.
    pub value: TermId,
    /// Instruction.
    pub place: u64,
    /// Does it look at memory?
    pub reads: bool,
}

/// What became of a call.
pub(crate) enum Outcome {
    /// It is as written.
    AsWritten,
    /// It is done: no event was left.
    Done,
    /// It is an event under another name.
    Event(RenamedCall),
}

pub(crate) struct Executor<'c, 'a> {
    pub context: &'c mut Context<'a>,
    pub side: Side,
    pub(crate) known: &'c Known,
    /// The same, with the condition of the path.
    here: Option<Known>,
    pub run: Run,
    /// Calls that turned out to do nothing: execution goes on behind them.
    vanished: FxHashSet<PointId>,
}

impl<'a> Context<'a> {
    /// Executes from the operations of `from` (or, if that is the point of a call just made, from its return
    /// point: the caller passes the point to start at) to the next events. `heads` are events too.
    ///
    /// With [`Joins::Split`], paths stay apart as long as there are only a few: then each arrival is one path and needs
    /// no `ite`.
    pub fn execute(
        &mut self,
        side: Side,
        from: PointId,
        state: State,
        heads: &FxHashSet<PointId>,
        known: &Known,
        joins: Joins,
    ) -> Result<Run, Stuck> {
        let (run, vanished) = (Run::default(), FxHashSet::default());
        let mut executor = Executor { context: self, side, known, here: None, run, vanished };
        let before = executor.context.look_from(known);
        let result = executor.piece(from, state, heads, joins);
        executor.context.stand(before);
        result.map(|()| executor.run)
    }

    /// Notes the addresses of a run again, after its terms were changed.
    pub fn note_accesses(&mut self, side: Side, run: &Run) {
        // What does not happen says nothing.
        let happens = |a: &&Access| self.arena.as_bool(a.guard) != Some(false);
        for (address, bytes) in run.accesses.iter().filter(happens).map(|a| (a.address, a.bytes)).collect::<Vec<_>>() {
            match side {
                Side::Original => self.note_original_address(address, bytes),
                Side::Candidate => self.claim_in_bounds(address),
            }
        }
    }
}

/// What to do where paths meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Joins {
    /// Merge the states.
    Merge,
    /// Keep the paths apart while they are few.
    Split,
}

/// Offsets beyond this are no frame.
const FRAME_REACH: u64 = 1 << 40;

/// Paths that are worth following one by one.
const FEW_PATHS: u64 = 32;
/// As many stay apart where they are no more than the points that they go through: the cases of a `switch`.
const MOST_CASES: u64 = 300;

/// A path condition and the state under it.
type Incoming = Vec<(TermId, State)>;

impl Executor<'_, '_> {
    fn piece(&mut self, from: PointId, state: State, heads: &FxHashSet<PointId>, joins: Joins) -> Result<(), Stuck> {
        loop {
            let known = self.vanished.len();
            let Some(lost) = self.attempt(from, state.clone(), heads, joins)? else { return Ok(()) };
            if self.vanished.len() == known {
                let function = self.context.functions[self.side.index()];
                return Err(Stuck::Loop { side: self.side, address: function.point(lost).address });
            }
            // A call that was taken for an event is none: what lies behind it belongs to the piece.
            self.run = Run::default();
        }
    }

    /// Executes a piece. A point that a path leads to and that is not in it, if there is one: that path would be lost.
    fn attempt(
        &mut self,
        from: PointId,
        state: State,
        heads: &FxHashSet<PointId>,
        joins: Joins,
    ) -> Result<Option<PointId>, Stuck> {
        let function = self.context.functions[self.side.index()];
        let inner = |point: PointId| if self.vanished.contains(&point) { Passing::Goes } else { self.passing(point) };
        let piece = Piece::explore(function, from, heads, inner)
            .map_err(|point| Stuck::Loop { side: self.side, address: function.point(point).address })?;
        let few = FEW_PATHS.max(MOST_CASES.min(piece.order.len() as u64));
        if joins == Joins::Split && piece.paths <= few {
            return self.paths(from, state, heads).map(|()| None);
        }
        let mut incoming: FxHashMap<PointId, Incoming> = FxHashMap::default();
        let mut guards: FxHashMap<PointId, TermId> = FxHashMap::default();
        let yes = self.context.arena.bool(true);
        incoming.insert(from, vec![(yes, state)]);
        let mut at_heads: BTreeMap<PointId, Incoming> = BTreeMap::new();
        for point in &piece.order {
            if self.context.out_of_budget() {
                return Err(Stuck::OutOfBudget);
            }
            let Some(arriving) = incoming.remove(point) else { continue };
            let (mut guard, state) = self.join(arriving);
            if let Some(dominator) = piece.rejoins(*point)
                && let Some(known) = guards.get(&dominator)
            {
                guard = *known;
            }
            guards.insert(*point, guard);
            for (target, taken, state) in self.point(*point, guard, state)? {
                let into = if heads.contains(&target) {
                    at_heads.entry(target).or_default()
                } else {
                    incoming.entry(target).or_default()
                };
                into.push((taken, state));
            }
        }
        for (head, arriving) in at_heads {
            let (guard, state) = self.join(arriving);
            self.run.arrivals.push(Arrival { event: Event::Head(head), guard, state });
        }
        Ok(incoming.into_keys().min())
    }

    /// Path by path, depth first.
    fn paths(&mut self, from: PointId, state: State, heads: &FxHashSet<PointId>) -> Result<(), Stuck> {
        let yes = self.context.arena.bool(true);
        let mut open = vec![(from, yes, state)];
        let mut first = true;
        while let Some((point, guard, state)) = open.pop() {
            if self.context.out_of_budget() {
                return Err(Stuck::OutOfBudget);
            }
            if heads.contains(&point) && !first {
                self.run.arrivals.push(Arrival { event: Event::Head(point), guard, state });
                continue;
            }
            first = false;
            let mut next = self.point(point, guard, state)?;
            next.reverse();
            open.extend(next);
        }
        Ok(())
    }

    /// Does execution go on after the call at this point, without an event?
    fn passing(&self, point: PointId) -> Passing {
        let function = self.context.functions[self.side.index()];
        match &function.point(point).next {
            Next::Call(Call { callee: Callee::Named(name), .. }) => {
                if self.context.is_silent(name) {
                    Passing::Goes
                } else if self.context.contract(name).is_some() && library::may_vanish(name) {
                    Passing::Perhaps
                } else {
                    Passing::Stops
                }
            }
            _ => Passing::Stops,
        }
    }

    fn join(&mut self, mut incoming: Incoming) -> (TermId, State) {
        if incoming.len() == 1 {
            return incoming.pop().expect("one");
        }
        let conditions: Vec<TermId> = incoming.iter().map(|(guard, _)| *guard).collect();
        let (common, rest) = self.context.factor(&conditions);
        let mut states = incoming.into_iter().map(|(_, state)| state).rev();
        let mut state = states.next().expect("at least one");
        for (condition, then) in rest.iter().rev().skip(1).zip(states) {
            state = self.context.merge(*condition, then, state);
        }
        let any = self.context.arena.bool_or_all(&rest);
        (self.context.arena.bool_and(common, any), state)
    }

    /// Executes one point; returns where control goes, and when.
    fn point(&mut self, id: PointId, guard: TermId, mut state: State) -> Result<Vec<(PointId, TermId, State)>, Stuck> {
        let point = self.context.functions[self.side.index()].point(id);
        self.here = None;
        if (self.context.widens || self.context.keeps_apart) && self.context.arena.as_bool(guard).is_none() {
            let mut here = self.known.clone();
            here.learn(self.context.arena, guard);
            self.here = Some(here);
        }
        self.context.look_from(self.here.as_ref().unwrap_or(self.known));
        let mut temporaries: FxHashMap<VarId, TermId> = FxHashMap::default();
        for (place, op) in &point.ops {
            self.op(*place, op, guard, &mut state, &mut temporaries)?;
        }
        let last = point.last_address();
        match &point.next {
            Next::Edges(edges) => {
                let mut out = Vec::new();
                for edge in edges {
                    let condition = self.value(&state, &temporaries, edge.guard);
                    let condition = self.known.simplify(self.context.arena, condition);
                    let taken = self.context.arena.bool_and(guard, condition);
                    let taken = self.known.simplify(self.context.arena, taken);
                    if self.context.arena.as_bool(taken) != Some(false) {
                        out.push((edge.target, taken, state.clone()));
                    }
                }
                return Ok(out);
            }
            Next::Call(call) => {
                // Whoever is called finds it clear (System V, 3.2.1).
                let direction = state.get(Register::Flag(program::Flag::Direction));
                if self.context.arena.as_bool(direction) != Some(false) {
                    return Err(crate::context::unsupported(self.side, last, "a call with the direction flag set"));
                }
                for register in (0..16).map(Register::General) {
                    let value = self.context.canonical_value(state.get(register));
                    state.restate(register, value);
                }
                state.tail = call.tail;
                if let Callee::Pointer(target) = &call.callee {
                    let target = self.value(&state, &temporaries, *target);
                    state.call_target = Some(target);
                }
                let silent = self.passing(id) == Passing::Goes;
                let renamed =
                    if silent { Outcome::AsWritten } else { self.rename_call(last, id, call, guard, &mut state)? };
                if silent || matches!(renamed, Outcome::Done) {
                    if silent {
                        self.silent_call(last, call, guard, &mut state)?;
                    } else {
                        self.vanished.insert(id);
                    }
                    match call.returns {
                        _ if call.tail => self.run.arrivals.push(Arrival { event: Event::Return(id), guard, state }),
                        Some(next) => return Ok(vec![(next, guard, state)]),
                        None => {
                            self.run.faults.push(Fault { guard, kind: FaultKind::OffTheEnd, place: last, ends: true })
                        }
                    }
                } else {
                    if let Outcome::Event(renamed) = renamed {
                        state.renamed = Some(renamed);
                    }
                    self.run.arrivals.push(Arrival { event: Event::Call(id), guard, state });
                }
            }
            Next::Return => self.run.arrivals.push(Arrival { event: Event::Return(id), guard, state }),
            Next::Fault(kind) if self.side == Side::Original && *kind == FaultKind::Trap => {
                // A compiler puts one where nobody may come. Whoever wrote one meant it: so it is said.
                let name = self.context.functions[0].name.clone();
                self.context.assume(Assumption::TrapFree(name));
                self.run.faults.push(Fault { guard, kind: *kind, place: last, ends: true });
            }
            Next::Fault(kind) => self.run.faults.push(Fault { guard, kind: *kind, place: last, ends: true }),
        }
        Ok(Vec::new())
    }

    fn value(&mut self, state: &State, temporaries: &FxHashMap<VarId, TermId>, term: TermId) -> TermId {
        let mut memo = FxHashMap::default();
        let registers = state.registers();
        let mut lookup = |var: VarId| registers.get(var.index()).or_else(|| temporaries.get(&var)).copied();
        self.context.arena.substitute(term, &mut lookup, &mut memo)
    }

    fn op(
        &mut self,
        place: u64,
        op: &Op,
        guard: TermId,
        state: &mut State,
        temporaries: &mut FxHashMap<VarId, TermId>,
    ) -> Result<(), Stuck> {
        let (var, value) = match op {
            Op::Set { var, value } => {
                let made_of = *value;
                let value = self.value(state, temporaries, *value);
                self.note_end(state, temporaries, made_of, value);
                let value = self.known.settle_operand(self.context.arena, value);
                let value = self.widen(value);
                (*var, self.aligned(value))
            }
            Op::Load { var, address, bytes } => {
                let mut address = self.value(state, temporaries, *address);
                if self.context.is_in_constant_data(address) {
                    // Which element it is, the way may tell.
                    address = self.known.rewrite(self.context.arena, address);
                }
                let loaded = self.load(place, guard, state, address, *bytes)?;
                if *bytes == 1 && self.side == Side::Original {
                    self.note_truth(place, guard, loaded);
                }
                (*var, loaded)
            }
            Op::Unknown { var } => {
                let sort = self.context.arena.var_sort(*var);
                (*var, self.context.fresh_undefined(&format!("undefined.{}", self.side.name()), sort))
            }
            Op::Store { address, value } => {
                let address = self.value(state, temporaries, *address);
                let made_of = *value;
                let value = self.value(state, temporaries, *value);
                self.note_end(state, temporaries, made_of, value);
                return self.store(place, guard, state, address, value);
            }
            Op::Fault { condition, kind } => {
                let condition = self.value(state, temporaries, *condition);
                let condition = self.context.settle_alignment(self.side, condition);
                if self.side == Side::Original
                    && self.context.arena.as_bool(condition).is_none()
                    && let Some(name) = self.context.less_aligned_object(condition)
                {
                    // That the original's is aligned in a run says nothing about the candidate's.
                    let what = format!("the candidate aligns `{name}` less");
                    return Err(unsupported(self.side, place, what));
                }
                let when = self.context.arena.bool_and(guard, condition);
                if self.context.arena.as_bool(when) != Some(false) {
                    self.run.faults.push(Fault { guard: when, kind: *kind, place, ends: false });
                }
                return Ok(());
            }
        };
        match Register::of_var(var) {
            Some(register) => state.set(register, value),
            None => {
                temporaries.insert(var, value);
            }
        }
        Ok(())
    }

    /// Notes an address in the frame that the original makes of one in a local that it leaves: it is the end of that one, whatever
    /// lies there.
    fn note_end(&mut self, state: &State, temporaries: &FxHashMap<VarId, TermId>, made_of: TermId, value: TermId) {
        let named = |register: Register| register == Register::RSP || register == Register::RBP;
        if self.side == Side::Candidate || self.context.arena.sort(value) != term::Sort::Bv(64) {
            return;
        }
        let Some((to, rest)) = self.context.frame_offset(value) else { return };
        for var in self.context.arena.free_vars(made_of) {
            let register = Register::of_var(var);
            if register.is_some_and(named) || !rest.is_empty() {
                continue;
            }
            let held = register.map(|r| state.get(r)).or_else(|| temporaries.get(&var).copied());
            if let Some((from, rest)) = held.and_then(|held| self.context.frame_offset(held))
                && rest.is_empty()
            {
                self.context.note_step(from, to);
            }
        }
    }

    /// Indices in the form of addresses.
    fn widen(&mut self, value: TermId) -> TermId {
        if !self.context.widens || self.context.arena.sort(value) != term::Sort::Bv(64) {
            return value;
        }
        let known = self.here.as_ref().unwrap_or(self.known);
        known.widen(self.context.arena, value)
    }

    /// `(rsp₀ + k) & -16` is a constant distance from `rsp₀`, because `rsp₀ ≡ 8 (mod 16)`. Terms write it as
    /// `16 · zext(part of the sum)`.
    fn aligned(&mut self, value: TermId) -> TermId {
        let arena = &*self.context.arena;
        if arena.op(value) != TermOp::Mul || arena.sort(value).width() != Some(64) {
            return value;
        }
        let (part, factor) = (arena.arg(value, 0), arena.as_u64(arena.arg(value, 1)));
        let (TermOp::Zext(64), Some(factor @ (2 | 4 | 8 | 16))) = (arena.op(part), factor) else { return value };
        let slice = arena.arg(part, 0);
        let TermOp::Extract { hi: 63, lo } = arena.op(slice) else { return value };
        let base = arena.arg(slice, 0);
        match self.context.frame_offset(base) {
            Some((offset, rest)) if rest.is_empty() && 1 << lo == factor => {
                self.context.assume(Assumption::AbiEntry);
                let down = (offset + 8).rem_euclid(factor as i64);
                self.context.arena.add_const(base, -down)
            }
            _ => value,
        }
    }

    /// A `_Bool` that the original loads is 0 or 1.
    fn note_truth(&mut self, place: u64, guard: TermId, byte: TermId) {
        if self.context.functions[0].truths.contains(&place) && self.context.may_assume_defined() {
            let two = self.context.arena.bv(8, 2);
            let holds = self.context.arena.ult(byte, two);
            if self.context.arena.as_bool(holds).is_none() {
                self.context.assume(Assumption::TruthValues);
                self.run.facts.push((guard, holds));
            }
        }
    }

    pub(crate) fn load(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        address: TermId,
        bytes: u16,
    ) -> Result<TermId, Stuck> {
        if let Some(cut) = self.border(address, bytes) {
            let low = self.load(place, guard, state, address, cut)?;
            let rest = self.context.arena.add_const(address, i64::from(cut));
            let high = self.load(place, guard, state, rest, bytes - cut)?;
            return Ok(self.context.arena.concat(high, low));
        }
        match self.locate(place, guard, state, address, bytes, false)? {
            Spot::World(address) => Ok(match self.care(place, address) {
                Some(care) => self.careful_read(care, state, state.world, address, bytes),
                None => self.context.read(state.world, address, bytes),
            }),
            Spot::Slot(offset) => {
                state.frame.note_read(offset, bytes);
                Ok(state.frame.read(self.context.arena, offset, bytes))
            }
            Spot::Local(local, address) => Ok(match self.care(place, address) {
                Some(care) => self.careful_read(care, state, state.locals[local], address, bytes),
                None => self.context.read(state.locals[local], address, bytes),
            }),
        }
    }

    pub(crate) fn store(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        address: TermId,
        value: TermId,
    ) -> Result<(), Stuck> {
        let bytes = self.context.arena.width(value) / 8;
        if let Some(cut) = self.border(address, bytes) {
            let low = self.context.arena.truncate(value, 8 * cut);
            let high = self.context.arena.extract(value, 8 * bytes - 1, 8 * cut);
            self.store(place, guard, state, address, low)?;
            let rest = self.context.arena.add_const(address, i64::from(cut));
            return self.store(place, guard, state, rest, high);
        }
        match self.locate(place, guard, state, address, bytes, true)? {
            Spot::Slot(offset) => state.frame.write(self.context.arena, offset, value),
            Spot::Local(local, address) => {
                let value = self.context.outward(self.side, place, value, true)?;
                self.context.publish(state);
                if self.care(place, address).is_some() {
                    self.note_careful_write(state, address, value);
                }
                if state.escaped[local] {
                    state.world = self.context.write(state.world, address, value);
                    return Ok(());
                }
                state.locals[local] = self.context.write(state.locals[local], address, value);
            }
            Spot::World(address) => {
                let value = self.context.canonical_value(value);
                let value = self.context.outward(self.side, place, value, true)?;
                self.context.publish(state);
                if self.care(place, address).is_some() {
                    self.note_careful_write(state, address, value);
                }
                state.world = self.context.write(state.world, address, value);
            }
        }
        Ok(())
    }

    /// Where a frame access crosses the border of a local object: bytes before the border. (A `push` may make room for
    /// a smaller object.)
    fn border(&mut self, address: TermId, bytes: u16) -> Option<u16> {
        if self.context.bindings.is_empty() {
            return None;
        }
        let address = self.known.settle(self.context.arena, address);
        let (offset, rest) = self.context.frame_offset(address)?;
        if rest.is_empty() { self.context.border_inside(self.side, offset, bytes) } else { None }
    }

    /// What is known under the condition of an access with an index, whose range matters.
    fn known_under(&mut self, guard: TermId) -> Known {
        let mut known = self.here.as_ref().unwrap_or(self.known).clone();
        known.learn(self.context.arena, guard);
        known
    }

    /// Where an access goes; world accesses are logged.
    fn locate(
        &mut self,
        place: u64,
        guard: TermId,
        state: &State,
        address: TermId,
        bytes: u16,
        write: bool,
    ) -> Result<Spot, Stuck> {
        let address = self.known.settle(self.context.arena, address);
        let address = self.widen(address);
        if let Some((offset, rest)) = self.context.frame_offset(address) {
            let care = self.context.functions[self.side.index()].volatile.care(place);
            let care = care.filter(|c| self.side == Side::Original || *c == Care::Volatile);
            if offset.unsigned_abs() > FRAME_REACH {
                return Err(unsupported(self.side, place, "access far outside the frame"));
            }
            let index = rest.first().map(|(index, _)| *index);
            let ranged = !rest.is_empty() && self.side == Side::Original;
            let under = ranged.then(|| self.known_under(guard));
            let known = under.as_ref().or(self.here.as_ref()).unwrap_or(self.known);
            let (local, span) = self.context.claimed_object(self.side, place, known, (offset, &rest), Some(bytes))?;
            let unbound = Stuck::Unbound { side: self.side, address: place, offset, escapes: false, index, span };
            if care.is_some() && local.is_none() {
                // Its address must be one that both programs have.
                return Err(unbound);
            }
            if let Some(local) = local {
                let variable = !rest.is_empty();
                let address = self.context.local_pointer(self.side, local, offset, rest);
                if variable {
                    let name = self.context.local_name(local);
                    if !self.context.may_assume_defined() {
                        return Err(unsupported(
                            self.side,
                            place,
                            format!("access that only in-bounds({name}) confines"),
                        ));
                    }
                    self.context.assume(Assumption::InBounds(name));
                }
                if self.side == Side::Original {
                    self.context.note_original_address(address, bytes);
                }
                if self.care(place, address).is_none() {
                    self.log_ordinary(guard, address, bytes, write, place);
                }
                return Ok(if state.escaped[local] { Spot::World(address) } else { Spot::Local(local, address) });
            }
            if self.context.is_beyond_arguments(offset) {
                return Err(unsupported(self.side, place, "access to incoming arguments behind those of `va_start`"));
            }
            if index.is_some() {
                return Err(unbound);
            }
            let Some(depth) = state.stack_depth(self.context) else {
                return Err(unsupported(
                    self.side,
                    place,
                    "frame access with the stack pointer at a variable distance",
                ));
            };
            let end = offset + i64::from(bytes);
            let fault = if offset < 0 && offset < depth - 128 {
                Some(FaultKind::BelowStack)
            } else if offset < 8 && end > 0 && write {
                Some(FaultKind::ReturnAddress)
            } else if end > self.context.argument_limit() || write && self.is_callers_word(offset, end) {
                // The caller's frame belongs to the world; nobody reaches it by name.
                Some(FaultKind::CallersFrame)
            } else {
                None
            };
            if self.side == Side::Candidate && offset < 0 {
                self.context.assume(Assumption::EnoughStack);
            }
            match fault {
                // Not to be mistaken for undefined behaviour that excuses the candidate: we may have misread the code.
                Some(kind) if self.side == Side::Original => return Err(unsupported(self.side, place, kind.name())),
                Some(kind) => self.run.faults.push(Fault { guard, kind, place, ends: false }),
                None => {}
            }
            return Ok(Spot::Slot(offset));
        }
        if self.context.depends_on_frame(address) {
            return Err(unsupported(self.side, place, "access through a computed frame address"));
        }
        let indexed = self.side == Side::Original && self.context.is_indexed_section(address);
        let under = indexed.then(|| self.known_under(guard));
        let known = under.as_ref().or(self.here.as_ref()).unwrap_or(self.known);
        let address = self.context.member_address(address, Some(bytes), known);
        let address = self.as_noted(address);
        if self.context.is_code(address) {
            return Err(unsupported(self.side, place, "access to code"));
        }
        match self.side {
            Side::Original => self.context.note_original_address(address, bytes),
            Side::Candidate => self.context.claim_in_bounds(address),
        }
        self.context.assume(Assumption::Sequential);
        if self.context.region(address, bytes).is_none() {
            self.context.assume(Assumption::FramePrivate);
        }
        if self.care(place, address).is_none() {
            self.log_ordinary(guard, address, bytes, write, place);
        }
        Ok(Spot::World(address))
    }

    /// Without a declaration nobody knows how many words arrive on the stack: does the candidate write one there that the original
    /// never looks at?
    fn is_callers_word(&mut self, offset: i64, end: i64) -> bool {
        let open = self.side == Side::Candidate && offset >= 8 && self.context.argument_limit() == Function::NO_LIMIT;
        open && !(offset..end).all(|at| self.context.original_mentions(at))
    }

    /// Logs an access that is taken to be an ordinary one.
    fn log_ordinary(&mut self, guard: TermId, address: TermId, bytes: u16, write: bool, place: u64) {
        let function = self.context.functions[0];
        if self.side == Side::Original && function.volatile.may_be_cast(bytes) {
            self.context.assume(Assumption::NoVolatileCasts(function.name.clone()));
        }
        self.log(guard, address, bytes, write, place);
    }

    pub(crate) fn log(&mut self, guard: TermId, address: TermId, bytes: u16, write: bool, place: u64) {
        self.run.accesses.push(Access { guard, address, bytes, write, place });
    }
}

enum Spot {
    Slot(i64),
    Local(usize, TermId),
    World(TermId),
}
