//! Runs under a condition, and what the inference of conditions reads off them.
//!
//! Trust: none. Whether an input satisfies a condition decides only which inputs are tried.

use super::{Judged, Runner, start};
use crate::objects::condition::{self, Entry};
use crate::objects::inputs::{Input, Stream};
use kernel::Precondition;
use program::Side;
use term::Arena;

impl<'a> Runner<'a> {
    /// Only start states that satisfy the condition count from here on.
    pub fn under(mut self, precondition: &Precondition) -> Runner<'a> {
        self.condition = precondition.conjuncts().to_vec();
        self.real = self.floats && !precondition.axioms().is_empty();
        self
    }

    /// What an input means to conditions.
    fn entry<'r>(&'r self, arena: &'r Arena) -> Entry<'r> {
        let (arguments, layout, constants) = (self.arguments.as_slice(), &self.layout, self.constants.words());
        Entry { arena, arguments, layout, constants, floats: self.floats }
    }

    /// Does the start state of an input satisfy the condition?
    pub(crate) fn satisfies(&mut self, arena: &Arena, input: &Input) -> bool {
        self.place(arena, input);
        condition::holds(&self.entry(arena), input, &self.condition)
    }

    /// Changes an input until it satisfies the condition, if that is easy.
    pub(crate) fn project(&self, arena: &Arena, input: &mut Input) {
        if !self.condition.is_empty() {
            let mut stream = Stream::new(input.seed.split(0x00c0_4d17));
            condition::project(&self.entry(arena), input, &self.condition, &mut stream);
        }
    }

    /// What both programs do on an input that somebody has made.
    pub fn judged(&mut self, arena: &Arena, input: &Input) -> Judged {
        let (steps, path) = (self.steps, self.path.take());
        let found = self.try_input(arena, input);
        let compared = std::mem::replace(&mut self.path, path).is_some();
        match found {
            Some(found) => Judged::Differs(Box::new(found)),
            None if compared => Judged::Agrees { steps: self.steps - steps },
            None => Judged::Open,
        }
    }

    /// Numbers that the programs mention.
    pub fn constants(&self) -> &[u64] {
        self.constants.words()
    }

    /// Up to eight bytes of memory as they are at entry.
    pub fn initial_bytes(&mut self, arena: &Arena, input: &Input, address: u64, bytes: u16) -> u64 {
        self.place(arena, input);
        let start = start(&self.layout, &self.constants, self.floats, Side::Original, input);
        self.untouched.peek(&start, address, bytes)
    }

    /// Words outside the frame that the last run of a side accessed: address, bytes read before they were written, bytes written.
    pub fn accesses(&self, side: Side) -> Vec<(u64, u8, u8)> {
        self.memories[side.index()].accesses().collect()
    }
}
