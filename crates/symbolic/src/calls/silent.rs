//! Calls that are no events: pure functions, local functions that write nothing, and those that copy or fill memory.
//!
//! Trust: full. They are executed in place, on each side alone.

use crate::execute::{Block, Exclusive, Executor, PureCall};
use crate::{Shape, State, Stuck};
use library::Effect;
use program::contract::LocalEffect;
use program::{Assumption, Call, Callee, Place, Side};
use term::{Op as TermOp, Sort, TermId};

/// Blocks of at most this many bytes are copied as values.
const SMALL_BLOCK: u64 = 256;
const CHUNK: u64 = 32;

impl Executor<'_, '_> {
    /// A call that is no event: a pure function, or one that copies or fills memory.
    pub(crate) fn silent_call(
        &mut self,
        place: u64,
        call: &Call,
        guard: TermId,
        state: &mut State,
    ) -> Result<(), Stuck> {
        let Callee::Named(name) = &call.callee else { return Ok(()) };
        let Some(contract) = self.context.contract(name) else {
            return self.silent_local_call(place, name, guard, state);
        };
        self.context.assume(Assumption::Library(name.clone()));
        let signature = contract.signature();
        let shape =
            Shape { arguments: signature.arguments.clone(), results: signature.results.clone(), ..Shape::default() };
        let mut arguments = Vec::new();
        for argument in &shape.arguments {
            let value = self.context.value_at(state, argument, self.side, place)?;
            arguments.push(self.context.canonical_value(value));
        }
        let results = match contract.effect {
            Effect::CopyMemory => {
                if contract.forbids_overlap() {
                    let [to, from, length] = [0, 1, 2].map(|i| arguments[i]);
                    self.run.exclusive.push(Exclusive { guard, to, from, length, place });
                }
                self.copy(place, guard, state, arguments[0], arguments[1], arguments[2])?;
                vec![arguments[0]]
            }
            Effect::FillMemory => {
                self.fill(place, guard, state, arguments[0], arguments[1], arguments[2])?;
                vec![arguments[0]]
            }
            _ if self.context.expands(contract.name) => {
                vec![self.changed_case(place, guard, state, contract.name, arguments[0])?]
            }
            _ => {
                let reads = matches!(contract.effect, Effect::Pure { reads_memory: true, .. });
                let mut operands = Vec::new();
                for argument in &arguments {
                    // Its result may be an address that it was given, or tell something of it.
                    operands.push(self.context.outward(self.side, place, *argument, true)?);
                }
                self.context.publish(state);
                if reads {
                    operands.push(state.world);
                }
                let width = 8 * signature.results.first().map_or(8, |r| r.bytes);
                if let Some(comparison) = self.context.comparison(contract, &arguments).filter(|_| width == 32) {
                    let returned = self.context.arena.apply(contract.name, Sort::Bv(width), &operands);
                    // Each byte is an access of its own.
                    let other = operands[comparison.other];
                    let value = self.compare(place, guard, state, &comparison, (other, returned))?;
                    return self.finish_silent(state, &shape, &[value]);
                }
                // `bcmp` reads what `memcmp` reads, and is zero when that is.
                let name = if contract.name == "bcmp" { "memcmp" } else { contract.name };
                let value = self.context.arena.apply(name, Sort::Bv(width), &operands);
                if reads {
                    self.run.pure_calls.push(PureCall { guard, value, place, reads });
                }
                vec![if name == contract.name { value } else { self.zero_like(contract.name, value, &operands) }]
            }
        };
        self.finish_silent(state, &shape, &results)
    }

    /// Puts the results where the convention says.
    fn finish_silent(&mut self, state: &mut State, shape: &Shape, results: &[TermId]) -> Result<(), Stuck> {
        let world = state.world;
        self.context.after_call(self.side, state, shape, results, world);
        Ok(())
    }

    /// `tolower` and `toupper` as the C library's header defines them for optimised code: an entry of a table.
    fn changed_case(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        name: &str,
        letter: TermId,
    ) -> Result<TermId, Stuck> {
        self.context.assume(Assumption::HeaderDefinition(name.to_string()));
        let arena = &mut *self.context.arena;
        let location = arena.apply(&format!("__ctype_{name}_loc"), Sort::Bv(64), &[]);
        let (shifted, limit) = (arena.add_const(letter, 128), arena.bv(32, 384));
        let inside = arena.ult(shifted, limit);
        let guard = arena.bool_and(guard, inside);
        let wide = arena.sext(letter, 64);
        let four = arena.bv(64, 4);
        let offset = arena.mul(wide, four);
        let table = self.load(place, guard, state, location, 8)?;
        let address = self.context.arena.add(table, offset);
        let entry = self.load(place, guard, state, address, 4)?;
        Ok(self.context.arena.ite(inside, entry, letter))
    }

    /// Zero where `value` is, else what `name` gives if that is not zero.
    fn zero_like(&mut self, name: &str, value: TermId, operands: &[TermId]) -> TermId {
        let arena = &mut *self.context.arena;
        let width = arena.width(value);
        let (zero, one) = (arena.bv(width, 0), arena.bv(width, 1));
        let given = arena.apply(name, Sort::Bv(width), operands);
        let (same, nothing) = (arena.eq(value, zero), arena.eq(given, zero));
        let other = arena.ite(nothing, one, given);
        arena.ite(same, zero, other)
    }

    /// A call of a local function that only computes a result.
    fn silent_local_call(&mut self, place: u64, name: &str, guard: TermId, state: &mut State) -> Result<(), Stuck> {
        let Some(contract) = self.context.local_contract(name) else { return Ok(()) };
        let shape = self.context.shape(Some(name), None, state);
        let reads = contract.effect != LocalEffect::Pure;
        let mut operands = Vec::new();
        // An address that it is given may come back as its result, or in parts.
        let returns = !shape.results.is_empty();
        for argument in &shape.arguments {
            let forgotten = matches!(argument.place, Place::Register(r) if shape.forgets.contains(&r));
            let Some(argument) = shape.on_side(argument, self.side) else { continue };
            let value = self.context.value_at(state, &argument.as_passed(), self.side, place)?;
            let value = self.context.canonical_value(value);
            let escapes = reads || returns && !forgotten;
            operands.push(self.context.outward(self.side, place, value, escapes)?);
        }
        operands.extend(self.context.promoted_arguments(self.side, place, state, &shape)?);
        if self.side == Side::Original {
            for (address, bytes) in self.context.first_reads(name, state) {
                self.log(guard, address, bytes, false, place);
            }
        }
        self.context.publish(state);
        if reads {
            operands.push(state.world);
        }
        // The body of a private function was compared for what its callers pass: the candidate's call must be one of the original's.
        if reads || contract.private {
            let made = self.context.arena.apply(&format!("{name}.call"), Sort::Bv(1), &operands);
            self.run.pure_calls.push(PureCall { guard, value: made, place, reads });
        }
        let mut results = Vec::new();
        for (i, value) in shape.results.iter().enumerate() {
            if shape.result_unused && self.side == Side::Candidate {
                // The candidate's callee may return anything.
                results.push(self.context.fresh_undefined(name, Sort::Bv(8 * value.bytes)));
                continue;
            }
            let result = match self.context.known_result(self.side, &shape, state, i) {
                Some(known) => known,
                None => {
                    let bits = if value.boolean { 1 } else { shape.significant_bits(value) };
                    let result = self.context.arena.apply(&format!("{name}.{i}"), Sort::Bv(bits), &operands);
                    let result = self.context.arena.zext(result, 8 * value.bytes);
                    if let (Some(holds), Side::Original) = (self.context.result_in_range(&shape, result), self.side) {
                        self.run.facts.push((guard, holds));
                    }
                    result
                }
            };
            results.push(result);
        }
        self.finish_silent(state, &shape, &results)
    }

    fn copy(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        to: TermId,
        from: TermId,
        len: TermId,
    ) -> Result<(), Stuck> {
        if let Some(len) = self.context.arena.as_u64(len).filter(|n| *n <= SMALL_BLOCK) {
            let mut parts = Vec::new();
            for (at, n) in chunks(len) {
                let address = self.context.arena.add_const(from, at as i64);
                parts.push((at, self.load(place, guard, state, address, n)?));
            }
            for (at, value) in parts {
                let address = self.context.arena.add_const(to, at as i64);
                self.store(place, guard, state, address, value)?;
            }
            return Ok(());
        }
        let to = self.block(place, guard, state, to, len, true)?;
        let from = self.block(place, guard, state, from, len, false)?;
        let source = from.1.map_or(state.world, |local| state.locals[local]);
        let memory = to.1.map_or(state.world, |local| state.locals[local]);
        let copied = self.context.arena.make(TermOp::Copy, &[memory, to.0, source, from.0, len]);
        match to.1 {
            Some(local) => state.locals[local] = copied,
            None => state.world = copied,
        }
        Ok(())
    }

    fn fill(
        &mut self,
        place: u64,
        guard: TermId,
        state: &mut State,
        to: TermId,
        byte: TermId,
        len: TermId,
    ) -> Result<(), Stuck> {
        let byte = self.context.arena.truncate(byte, 8);
        if let Some(len) = self.context.arena.as_u64(len).filter(|n| *n <= SMALL_BLOCK) {
            for (at, n) in chunks(len) {
                let address = self.context.arena.add_const(to, at as i64);
                let value = self.context.arena.concat_all(&vec![byte; usize::from(n)]);
                self.store(place, guard, state, address, value)?;
            }
            return Ok(());
        }
        let to = self.block(place, guard, state, to, len, true)?;
        let memory = to.1.map_or(state.world, |local| state.locals[local]);
        let filled = self.context.arena.make(TermOp::Fill, &[memory, to.0, byte, len]);
        match to.1 {
            Some(local) => state.locals[local] = filled,
            None => state.world = filled,
        }
        Ok(())
    }

    /// Where a block begins, and in which private local object, if it is in one.
    fn block(
        &mut self,
        place: u64,
        guard: TermId,
        state: &State,
        start: TermId,
        len: TermId,
        write: bool,
    ) -> Result<(TermId, Option<usize>), Stuck> {
        let address = self.context.outward(self.side, place, start, false)?;
        let address = self.context.canonical_address(address);
        if self.side == Side::Original {
            self.context.note_original_block(address, len);
        }
        let local = self.context.region(address, 0).and_then(|r| r.local).filter(|l| !state.escaped[*l]);
        self.run.blocks.push(Block { guard, address, length: len, write, place });
        Ok((address, local))
    }
}

fn chunks(len: u64) -> impl Iterator<Item = (u64, u16)> {
    (0..len).step_by(CHUNK as usize).map(move |at| (at, (len - at).min(CHUNK) as u16))
}
