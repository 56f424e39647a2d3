//! Arguments that no declaration names: those of variadic calls, of calls of which nothing is known, and of calls whose
//! declaration is not the original's own word.
//!
//! Everything that the original may have meant is an argument, with all bytes that it defined:
//! - a register that was written for nobody else ([`crate::passed`]), wherever it stands in the order of the convention, and all
//!   that stand before it;
//! - behind those, registers that were also read, or still hold what arrived, up to the first that is certainly none: the register
//!   that unoptimised code calls through a pointer; what gcc's loaded for one use that it has made of it ([`Mark::spent`]); and, at calls
//!   through pointers, what no type names that the pointer may have been cast to ([`program::Surroundings::pointer_arguments`]);
//! - stack words that were written since the last call (in unoptimised code: and not read), that are no described local, and that the original does not
//!   read behind the call: the callee owns its arguments, so what is read there is not one ([`crate::passed`]).
//!
//! A known format tells exactly. `al`, where it is set up, bounds the vector registers.
//!
//! Trust: full, under `signature(callee)`.

use crate::passed::evidence::{self, Evidence, Mark, Marks, Spent};
use crate::passed::{Slots, Spills};
use crate::{Context, State};
use library::{Contract, Known};
use program::{Next, Op, Place, PointId, Register, Value};
use std::collections::BTreeSet;
use std::rc::Rc;
use term::{Op as TermOp, TermId};

/// Who says what a call passes at least.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prototype {
    /// Nobody, or somebody else.
    Open,
    /// A declaration that goes on (`...`).
    Variadic,
    /// The type of the pointer that the original calls through.
    Own,
}

/// Most stack words of a call that nobody declares.
const MOST_WORDS: i64 = 64;

impl<'a> Context<'a> {
    /// The arguments of a variadic function of the library, if a literal format tells.
    pub(super) fn asked_for(&mut self, contract: &Contract, state: &State) -> Option<Vec<Value>> {
        let known = self.named_arguments(contract, state)?;
        library::variadic_arguments(contract, &|i| known.get(i).cloned().flatten())
    }

    /// The argument registers that a function which prints does not print.
    pub(super) fn unprinted(&mut self, contract: &Contract, state: &State) -> BTreeSet<Register> {
        let known = if state.renamed.is_none() { self.named_arguments(contract, state) } else { None };
        let known = known.unwrap_or_default();
        library::unprinted(contract, &|i| known.get(i).cloned().flatten())
    }

    /// What is known about the named arguments of a function of the library.
    fn named_arguments(&mut self, contract: &Contract, state: &State) -> Option<Vec<Option<Known>>> {
        let mut known: Vec<Option<Known>> = Vec::new();
        for argument in contract.signature().arguments {
            let Place::Register(register) = argument.place else { return None };
            let value = self.canonical_value(state.get(register));
            let value = if argument.bytes < 8 { self.arena.truncate(value, 8 * argument.bytes) } else { value };
            known.push(self.literal(value));
        }
        Some(known)
    }

    fn evidence(&mut self) -> Rc<Evidence> {
        if self.shown.evidence.is_none() {
            self.shown.evidence = Some(Rc::new(Evidence::of(self.arena, self.functions[0])));
        }
        Rc::clone(self.shown.evidence.as_ref().expect("just made"))
    }

    fn slots(&mut self) -> Rc<Slots> {
        if self.shown.slots.is_none() {
            self.shown.slots = Some(Rc::new(Slots::of(self.arena, self.functions[0])));
        }
        Rc::clone(self.shown.slots.as_ref().expect("just made"))
    }

    fn spills(&mut self) -> Rc<Spills> {
        if self.shown.spills.is_none() {
            self.shown.spills = Some(Rc::new(Spills::of(self.arena, self.functions[0])));
        }
        Rc::clone(self.shown.spills.as_ref().expect("just made"))
    }

    /// Does the original's code read or write the byte of its frame at an offset from the entry stack pointer?
    pub(crate) fn original_mentions(&mut self, offset: i64) -> bool {
        self.slots().is_mentioned(offset)
    }

    /// What shows that the original does not keep to System V as the declarations say: where, and what.
    pub fn foreign_convention(&mut self) -> Option<(u64, String)> {
        let evidence = self.evidence();
        evidence::foreign_convention(self.arena, self.functions[0], &evidence)
    }

    /// Is an address in the frame given to a callee in `r10`, as nested functions are?
    pub fn passes_static_chain(&self, state: &State) -> bool {
        self.frame_offset(state.get(Register::General(10))).is_some()
    }

    /// Marks of the registers at a call or return of the original.
    pub(super) fn marks(&mut self, point: PointId) -> Marks {
        let evidence = self.evidence();
        evidence.behind(self.arena, self.functions[0], point)
    }

    /// Everything that the original may have meant to pass beyond the arguments that a declaration names; `None` if nobody can
    /// tell.
    pub(super) fn set_up(
        &mut self,
        call: PointId,
        state: &State,
        named: &[Value],
        by: Prototype,
    ) -> Option<Vec<Value>> {
        let marks = self.marks(call);
        let mut general = self.further(&Register::ARGUMENTS, &marks, state, named, by);
        let vectors: Vec<Register> =
            (0..self.vector_limit(&marks, state, by == Prototype::Variadic)).map(Register::Vector).collect();
        let mut vectors = self.further(&vectors, &marks, state, named, by);
        // No type that the pointer may have been cast to names what is left of other values.
        let most = self.functions[0].surroundings.pointer_arguments.get(&call).filter(|_| by == Prototype::Own);
        let for_nobody_else = |r: &Register| marks[r.index()].any(Mark::UNREAD.or(Mark::ASIDE));
        if let Some(most) = most
            && !general.iter().chain(&vectors).any(for_nobody_else)
        {
            general.retain(|r| most.contains(r));
            vectors.retain(|r| most.contains(r));
        }
        let mut out = Vec::new();
        for register in general.into_iter().chain(vectors).chain(self.chain(&marks, state)) {
            out.push(plain(Place::Register(register), self.defined_bytes(state.get(register))));
            if let Register::Vector(i) = register {
                let high = Register::VectorHigh(i);
                let held = marks[high.index()].any(Mark::WRITTEN.or(Mark::ENTRY));
                if held && !self.is_undefined(state.get(high)) {
                    out.push(plain(Place::Register(high), 16));
                }
            }
        }
        let words = self.outgoing_words(call, state, named)?;
        let far = |word: &Value| matches!(word.place, Place::Stack(offset) if i64::from(offset) >= 8 * MOST_WORDS);
        if words.iter().any(far) {
            return None;
        }
        out.extend(words);
        if state.tail {
            self.pass_on_words(named, &mut out);
        }
        Some(out)
    }

    /// `r10`, if optimised code may have meant it as a static chain; what it writes there and does not read is refused.
    fn chain(&self, marks: &Marks, state: &State) -> Option<Register> {
        let chain = Register::General(10);
        let written = !self.functions[0].is_unoptimised() && marks[chain.index()].any(Mark::WRITTEN);
        (written && !self.is_undefined(state.get(chain))).then_some(chain)
    }

    /// Registers behind the declared ones that optimised code may have meant for a callee of another file, which its declaration need not
    /// describe: the call may be made by another type. What unoptimised code sets up for a call it does not read, and is refused
    /// ([`evidence::foreign_convention`]).
    pub(super) fn registers_behind(&mut self, call: PointId, state: &State, named: &[Value]) -> Vec<Value> {
        if self.functions[0].is_unoptimised() {
            return Vec::new();
        }
        let marks = self.marks(call);
        let vectors: Vec<Register> = (0..8).map(Register::Vector).collect();
        let general = self.further(&Register::ARGUMENTS, &marks, state, named, Prototype::Open);
        let vectors = self.further(&vectors, &marks, state, named, Prototype::Open);
        // What a callee may have left there on some path is set up for nobody.
        let left = |r: &Register| marks[r.index()].any(Mark::CLOBBERED);
        let further = general.into_iter().chain(vectors).chain(self.chain(&marks, state)).filter(|r| !left(r));
        further.map(|r| plain(Place::Register(r), self.defined_bytes(state.get(r)))).collect()
    }

    /// Adds the words that a tail jump passes on where they arrived, for whoever they are.
    fn pass_on_words(&self, named: &[Value], out: &mut Vec<Value>) {
        let own = self.functions[0].signature.as_ref().filter(|s| s.unsupported.is_none());
        for argument in own.into_iter().flat_map(|s| &s.arguments) {
            let Place::Stack(offset) = argument.place else { continue };
            for at in (0..argument.bytes).step_by(8) {
                let word = plain(Place::Stack(offset + u32::from(at)), (argument.bytes - at).min(8));
                if !named.iter().chain(out.iter()).any(|v| v.place == word.place) {
                    out.push(word);
                }
            }
        }
    }

    /// Vector registers that may carry arguments: `al`, if it was set up for the call.
    fn vector_limit(&mut self, marks: &Marks, state: &State, variadic: bool) -> u8 {
        let rax = Register::General(0);
        // Where nobody says that the callee looks at it, only a compiler's own code is known to write it for the call.
        if !marks[rax.index()].any(Mark::UNREAD) || !(variadic || self.functions[0].is_unoptimised()) {
            return 8;
        }
        let al = self.arena.truncate(state.get(rax), 8);
        self.arena.as_u64(al).map_or(8, |n| n.min(8)) as u8
    }

    fn further(
        &self,
        order: &[Register],
        marks: &Marks,
        state: &State,
        named: &[Value],
        by: Prototype,
    ) -> Vec<Register> {
        let is_named = |r: &Register| named.iter().any(|v| v.place == Place::Register(*r));
        let defined = |r: &Register| !self.is_undefined(state.get(*r));
        let evident = |r: &Register| defined(r) && marks[r.index()].any(Mark::UNREAD.or(Mark::ASIDE));
        // Unoptimised code loads what it calls for nothing else, and its own parameters anew from their homes.
        let anew = by == Prototype::Own && self.functions[0].is_unoptimised();
        let target = state.call_target.filter(|_| anew);
        let set = if anew { Mark::WRITTEN } else { Mark::WRITTEN.or(Mark::ENTRY) };
        let possible = |r: &Register| {
            let meant = marks[r.index()].any(set);
            meant && defined(r) && (target != Some(state.get(*r)) || evident(r))
        };
        let first = order.iter().take_while(|r| is_named(r)).count();
        let last = order.iter().rposition(|r| evident(r) && !is_named(r)).map_or(first, |i| i + 1);
        let (before, behind) = order.split_at(last.max(first));
        let before = before.iter().skip(first).filter(|r| !is_named(r) && possible(r));
        // What was loaded to reach another argument is none itself.
        let spent = |r: &Register| match marks[r.index()].spent().filter(|_| self.functions[0].surroundings.loads_once)
        {
            Some(Spent::Address) => true,
            Some(Spent::Moved(to)) => {
                let earlier = order.iter().take_while(|other| *other != r).any(|other| *other == to);
                earlier && marks[to.index()].is_moved() && state.get(to) == state.get(*r)
            }
            None => false,
        };
        before.chain(behind.iter().take_while(|r| possible(r) && !spent(r))).copied().collect()
    }

    /// Bytes of a register that its value defines: less than all if nobody defined what is above.
    pub fn defined_bytes(&self, held: TermId) -> u16 {
        let whole = self.arena.width(held) / 8;
        let high = self.arena.args(held).first().copied();
        let undefined = high.filter(|t| self.arena.op(held) == TermOp::Concat && self.is_undefined(*t));
        undefined.map_or(whole, |t| whole - self.arena.width(t) / 8)
    }

    /// A declared argument as the code sets it up: where it defines more than the declaration says, and not just zeros, the
    /// declaration is not what the call was made by. With `whole` zeros count, too.
    pub(super) fn as_set_up(&mut self, state: &State, value: &Value, whole: bool) -> Value {
        let declared = value.as_passed().bytes;
        let held = match value.place {
            Place::Register(register) => state.get(register),
            Place::Stack(_) if declared >= 8 => return *value,
            Place::Stack(offset) => {
                let Some(depth) = state.stack_depth(self) else { return *value };
                let first = depth.saturating_add(if state.tail { 8 } else { 0 });
                match state.frame.stored(self.arena, first.saturating_add(i64::from(offset)), 8) {
                    Some(held) => held,
                    None if state.tail => return self.as_arrived(value),
                    None => return *value,
                }
            }
        };
        let defined = self.defined_bytes(held);
        // Eight bytes at a time: what one part of a vector register holds says nothing about the next.
        let ends = [8u16.max(declared), 16];
        let mut bytes = declared;
        for end in ends.into_iter().filter(|end| *end <= defined && *end > declared) {
            let above = self.arena.extract(held, 8 * end - 1, 8 * bytes.max(end - 8));
            // What is made of something undefined was not meant.
            let undefined = self.arena.free_vars(above).iter().any(|var| self.origins.undefined.contains(var));
            if (whole || self.arena.as_u64(above) != Some(0)) && !undefined {
                bytes = end;
            }
        }
        if bytes == declared { *value } else { plain(value.place, bytes) }
    }

    /// A stack argument of a tail jump that nobody wrote: as wide as it arrived.
    fn as_arrived(&self, value: &Value) -> Value {
        let own = self.functions[0].signature.as_ref().filter(|s| s.unsupported.is_none());
        let arrived = own.and_then(|s| s.arguments.iter().find(|a| a.place == value.place));
        match arrived {
            Some(arrived) if arrived.bytes > value.as_passed().bytes => plain(value.place, arrived.bytes.min(8)),
            _ => *value,
        }
    }

    /// Could the original have left something in a register, anywhere: does it write it, or call somebody who might?
    fn may_write(&self, register: Register) -> bool {
        let writes = |op: &Op| match op {
            Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => {
                Register::of_var(*var) == Some(register)
            }
            Op::Store { .. } | Op::Fault { .. } => false,
        };
        let mut points = self.functions[0].points.iter();
        points.any(|point| matches!(point.next, Next::Call(_)) || point.ops.iter().any(|(_, op)| writes(op)))
    }

    /// What the original may have meant to return at a point, if nobody declares it: `rax` if it is written at all (no caller leaves
    /// anything there that could be returned), `xmm0` if either side touches it, and
    /// each further result register that the original has written, or a callee has left a result in, or that arrived and the
    /// candidate has changed.
    pub fn possible_results(&mut self, point: PointId, states: &[State; 2]) -> Vec<Value> {
        let marks = self.marks(point);
        let rax = Register::General(0);
        let mut out = Vec::new();
        if self.may_write(rax) {
            out.push(plain(Place::Register(rax), self.defined_bytes(states[0].get(rax))));
        }
        let first = Register::Vector(0);
        let untouched = first.term(self.arena);
        let touched = states.iter().any(|s| s.get(first) != untouched);
        let further = [Register::General(2), Register::Vector(1), Register::VectorHigh(0), Register::VectorHigh(1)];
        let left = |r: &Register| {
            marks[r.index()].any(Mark::WRITTEN.or(Mark::CLOBBERED)) || states[0].get(*r) != states[1].get(*r)
        };
        for register in [first].into_iter().filter(|_| touched).chain(further.into_iter().filter(left)) {
            let held = states[0].get(register);
            if !self.is_undefined(held) {
                out.push(plain(Place::Register(register), self.defined_bytes(held)));
            }
        }
        out
    }

    /// Stack words that the original sets up right behind the declared ones, or behind one that alignment leaves out; `None` if nobody
    /// can tell.
    pub(super) fn words_behind(&mut self, call: PointId, state: &State, named: &[Value]) -> Option<Vec<Value>> {
        let end = |v: &Value| match v.place {
            Place::Stack(offset) => Some(offset.saturating_add(u32::from(v.bytes.next_multiple_of(8)))),
            Place::Register(_) => None,
        };
        let mut next = named.iter().filter_map(end).max().unwrap_or(0);
        let mut words = self.outgoing_words(call, state, named)?;
        words.sort_by_key(|word| end(word));
        let spills = self.functions[0].is_unoptimised().then(|| self.spills());
        let first = state.stack_depth(self)?.saturating_add(if state.tail { 8 } else { 0 });
        let own = |word: &Value| match (word.place, &spills) {
            (Place::Stack(offset), Some(spills)) => {
                let start = first.saturating_add(i64::from(offset));
                spills.is_own(call, start, start.saturating_add(i64::from(word.bytes)))
            }
            _ => false,
        };
        let mut out = Vec::new();
        for word in words {
            let Place::Stack(offset) = word.place else { continue };
            if offset > next.saturating_add(8) || own(&word) {
                break;
            }
            next = next.max(offset.saturating_add(8));
            if i64::from(next) > 8 * MOST_WORDS {
                return None;
            }
            out.push(word);
        }
        Some(out)
    }

    /// Stack words that may be arguments beyond the declared ones, however far; `None` where the stack depth is not known.
    fn outgoing_words(&mut self, call: PointId, state: &State, named: &[Value]) -> Option<Vec<Value>> {
        let depth = state.stack_depth(self)?;
        let slots = self.slots();
        let first = depth.saturating_add(if state.tail { 8 } else { 0 });
        let function = self.functions[0];
        let mut out: Vec<Value> = Vec::new();
        // Optimised code may pass a word that it has read itself.
        let cells = match function.is_unoptimised() {
            true => state.frame.unread_cells(),
            false => state.frame.cells().collect(),
        };
        for (start, value) in cells {
            let bytes = i64::from(self.arena.width(value) / 8);
            let end = start.saturating_add(bytes);
            let below = if state.tail { start < first } else { start < first || end > 0 };
            let described = |at: i64| {
                function.locals.iter().any(|l| l.offset <= at && at < l.offset.saturating_add_unsigned(l.size))
            };
            let own = (start..end).all(|at| described(at) || slots.is_read_behind(call, at));
            let unknown = self.is_undefined(value) || value == Register::General(0).term(self.arena);
            if below || own || unknown {
                continue;
            }
            for at in start..end {
                let word = (at - first) / 8;
                let (offset, upto) = (u32::try_from(8 * word).ok()?, (at - first - 8 * word + 1) as u16);
                let place = Place::Stack(offset);
                if named.iter().any(|v| v.place == place) {
                    continue;
                }
                match out.iter_mut().find(|v| v.place == place) {
                    Some(known) => known.bytes = known.bytes.max(upto),
                    None => out.push(plain(place, upto)),
                }
            }
        }
        Some(out)
    }
}

fn plain(place: Place, bytes: u16) -> Value {
    Value { place, bytes, boolean: false, narrow: None }
}
