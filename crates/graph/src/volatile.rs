//! Accesses that must be made exactly as written: to volatile and atomic objects.
//!
//! What happened so far is one number, the *trace*: each volatile access makes a new one of the old one, the address and,
//! if it writes, the value, by a function that nobody knows anything about. So two traces are known to be equal only if the
//! same accesses were made in the same order. What a volatile read finds is a function of the trace before it and the address:
//! the same on both sides, and otherwise anything. The trace lies in the world, at an address that nothing else has: wherever the worlds are compared, at
//! calls, returns and loop heads, the traces are.
//!
//! Volatile accesses are not among those that an edge logs: an ordinary access of the candidate cannot be excused by them.
//!
//! Trust: full. Which accesses of the original are volatile is the frontend's word; of the candidate a guess is enough.

use crate::execute::Executor;
use crate::{Context, Side, State};
use term::{Sort, TermId};

impl Context<'_> {
    /// Where the trace lies.
    fn trace_address(&mut self) -> TermId {
        self.arena.var("§trace", Sort::Bv(64))
    }

    /// Is this the address of the trace?
    pub(crate) fn is_trace(&mut self, address: TermId) -> bool {
        self.has_trace && address == self.trace_address()
    }

    /// Makes a new trace of the old one.
    fn extend_trace(&mut self, state: &mut State, what: &str, operands: &[TermId]) {
        self.has_trace = true;
        let place = self.trace_address();
        let trace = self.read(state.world, place, 8);
        let operands: Vec<TermId> = [trace].iter().chain(operands).copied().collect();
        let next = self.arena.apply(&format!("§volatile.{what}"), Sort::Bv(64), &operands);
        state.world = self.write(state.world, place, next);
    }

    /// Is the object at this address volatile, or a part of it, as either program declares it?
    pub fn is_volatile_object(&self, address: TermId) -> bool {
        let object = self.base_object(address);
        object.is_some_and(|(var, _)| self.functions.iter().any(|f| f.objects.get(&var).is_some_and(|o| o.volatile)))
    }
}

impl Executor<'_, '_> {
    /// Is an access to the world volatile? The candidate's is, too, if the original makes such a one there.
    pub(crate) fn is_volatile(&mut self, place: u64, address: TermId) -> bool {
        let known = self.context.functions[self.side.index()].volatile.places.contains(&place);
        if known && self.side == Side::Original {
            self.context.volatile_addresses.insert(address);
        }
        known || self.side == Side::Candidate && self.context.volatile_addresses.contains(&address)
    }

    /// Reads what nobody can foresee.
    pub(crate) fn volatile_read(&mut self, state: &mut State, address: TermId, bytes: u16) -> TermId {
        let place = self.context.trace_address();
        self.context.has_trace = true;
        let trace = self.context.read(state.world, place, 8);
        let sort = Sort::Bv(8 * bytes);
        let value = self.context.arena.apply(&format!("§volatile.value.{bytes}"), sort, &[trace, address]);
        self.context.extend_trace(state, &format!("read.{bytes}"), &[address]);
        value
    }

    /// Notes a write, apart from what it writes.
    pub(crate) fn note_volatile_write(&mut self, state: &mut State, address: TermId, value: TermId) {
        let bytes = self.context.arena.width(value) / 8;
        self.context.extend_trace(state, &format!("write.{bytes}"), &[address, value]);
    }
}
