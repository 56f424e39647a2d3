//! Accesses that must be made exactly as written: to volatile and atomic objects.
//!
//! What happened so far is one number, the *trace*: each volatile access makes a new one of the old one, the address and,
//! if it writes, the value, by a function that nobody knows anything about. So two traces are known to be equal only if the
//! same accesses were made in the same order. What a volatile read finds is a function of the trace before it and the address:
//! the same on both sides, and otherwise anything; where nobody can tell whether an access is volatile, also of what memory
//! holds there: that covers both cases. The trace lies in the world, at an address that nothing else has: wherever the worlds are compared, at
//! calls, returns and loop heads, the traces are.
//!
//! Volatile accesses are not among those that an edge logs: an ordinary access of the candidate cannot be excused by them.
//!
//! Trust: full. Which accesses of the original are volatile is the frontend's word; of the candidate a guess is enough.

use crate::execute::Executor;
use crate::{Context, State};
use program::{Care, Side};
use term::{Sort, TermId};

/// With more such addresses it is not looked for them.
const MOST_NOTED: usize = 64;

impl Context<'_> {
    /// Where the trace lies.
    fn trace_address(&mut self) -> TermId {
        self.arena.var("§trace", Sort::Bv(64))
    }

    /// Is this the address of the trace?
    pub(crate) fn is_trace(&mut self, address: TermId) -> bool {
        self.accesses.has_trace && address == self.trace_address()
    }

    /// Makes a new trace of the old one.
    fn extend_trace(&mut self, state: &mut State, what: &str, operands: &[TermId]) {
        self.accesses.has_trace = true;
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
    /// How an access outside the slots of the frame must be made, if not in the ordinary way. The candidate's is like one that the original
    /// makes there; elsewhere as its own debug information says.
    pub(crate) fn care(&mut self, place: u64, address: TermId) -> Option<Care> {
        let known = self.context.functions[self.side.index()].volatile.care(place);
        match (self.side, known) {
            (Side::Original, Some(care)) => {
                let noted = self.context.accesses.volatile.entry(address).or_insert(care);
                *noted = care.max(*noted);
                known
            }
            (Side::Original, None) => None,
            (Side::Candidate, Some(Care::Volatile)) if !self.context.accesses.original.contains(&address) => known,
            (Side::Candidate, _) => self.context.accesses.volatile.get(&address).copied(),
        }
    }

    /// The candidate's address as the original wrote it for an access that may be volatile, if what is known of the path makes
    /// them the same.
    pub(crate) fn as_noted(&mut self, address: TermId) -> TermId {
        let noted = &self.context.accesses.volatile;
        if self.side == Side::Original || noted.contains_key(&address) || noted.len() > MOST_NOTED {
            return address;
        }
        let mut noted: Vec<TermId> = noted.keys().copied().collect();
        noted.sort_unstable();
        let same = noted.into_iter().find(|other| self.known.settle(self.context.arena, *other) == address);
        same.unwrap_or(address)
    }

    /// Reads what nobody can foresee, or may be unable to.
    pub(crate) fn careful_read(
        &mut self,
        care: Care,
        state: &mut State,
        memory: TermId,
        address: TermId,
        bytes: u16,
    ) -> TermId {
        let place = self.context.trace_address();
        self.context.accesses.has_trace = true;
        let mut operands = vec![self.context.read(state.world, place, 8), address];
        let what = match care {
            Care::Volatile => "value",
            Care::Doubtful => {
                operands.push(self.context.read(memory, address, bytes));
                "found"
            }
        };
        let value = self.context.arena.apply(&format!("§volatile.{what}.{bytes}"), Sort::Bv(8 * bytes), &operands);
        self.context.extend_trace(state, &format!("read.{bytes}"), &[address]);
        value
    }

    /// Notes a write, apart from what it writes.
    pub(crate) fn note_careful_write(&mut self, state: &mut State, address: TermId, value: TermId) {
        let bytes = self.context.arena.width(value) / 8;
        self.context.extend_trace(state, &format!("write.{bytes}"), &[address, value]);
    }
}
