//! Many small programs on the CPU at once: written into shared memory, then run one after another on the same inputs by a
//! forked child.
//!
//! Running code that was just written is slow, since the processor must throw away what it has fetched: so programs
//! are written many at a time ([`Batch::push`]) and then run in one request ([`Batch::run`]). The memory is writable here and
//! executable only in the child, at an address of the system's choice.
//!
//! The child may compute, read and write its pipes, and end; the system kills it for anything else. A program that faults is noted and
//! skipped; one that never ends, or spoils the child, costs a child and is noted; the others are run by the next one. What a
//! program scribbles over the shared memory can spoil results of the same batch: they are numbers for a search, whose
//! finds are run again elsewhere and proved.
//!
//! Trust: none.

mod driver;
mod serve;

#[cfg(test)]
mod tests;

use crate::runner::{Child, Scratch, Waited};
use crate::state::{NativeError, Signal};
use driver::Driver;
use serve::Shared;
use std::time::Duration;

/// Most programs in a batch.
pub const PROGRAMS: usize = 256;
/// Most bytes of a program.
pub const PROGRAM_BYTES: usize = 512 - driver::JUMP;

/// Which registers programs get and leave, by their encoding.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// General registers that are set before. All but `rsp`, if they are not here, hold anything.
    pub general_in: Vec<u8>,
    /// Vector registers that are set before, 32 bytes each.
    pub vector_in: Vec<u8>,
    /// General registers that are looked at afterwards.
    pub general_out: Vec<u8>,
    /// Vector registers that are looked at afterwards.
    pub vector_out: Vec<u8>,
    /// Are flags looked at?
    pub flags: Flags,
    /// Memory that programs may use, given and looked at for every input.
    pub memory: Option<Scratch>,
}

/// Whether flags are a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flags {
    /// The flags register is the word behind the general registers.
    Kept,
    /// They are not.
    #[default]
    Ignored,
}

/// What became of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// It ran on all inputs; its results are there.
    Done,
    /// It faulted on some input.
    Fault(Signal),
    /// It took too long.
    Timeout,
    /// The system ended its child.
    Killed,
}

/// Programs, inputs, results, and the child that runs them.
pub struct Batch {
    shared: Shared,
    driver: Driver,
    interface: Interface,
    child: Option<Child>,
    programs: usize,
    statuses: Vec<Status>,
    /// How long the child may take for a batch.
    pub limit: Duration,
}

impl Interface {
    /// Words of an input: general registers, four for each vector, then memory.
    pub fn words_in(&self) -> usize {
        self.general_in.len() + 4 * self.vector_in.len() + self.memory_words()
    }

    /// Words of a result: general registers, flags, four for each vector, then memory.
    pub fn words_out(&self) -> usize {
        let flags = usize::from(self.flags == Flags::Kept);
        self.general_out.len() + flags + 4 * self.vector_out.len() + self.memory_words()
    }

    fn memory_words(&self) -> usize {
        self.memory.map_or(0, |scratch| scratch.length.div_ceil(8))
    }

    fn is_sound(&self) -> bool {
        let general = self.general_in.iter().chain(&self.general_out).all(|n| *n < 16 && *n != driver::RSP);
        let vector = self.vector_in.iter().chain(&self.vector_out).all(|n| *n < 16);
        general && vector && self.memory.is_none_or(|scratch| scratch.length.is_multiple_of(8))
    }
}

impl Batch {
    /// A batch for these inputs, each of [`Interface::words_in`] words.
    pub fn new(interface: Interface, inputs: &[Vec<u64>]) -> Result<Batch, NativeError> {
        let fits = inputs.iter().all(|input| input.len() == interface.words_in());
        if !fits || inputs.is_empty() || !interface.is_sound() {
            return Err(NativeError::TooLarge);
        }
        let mut shared = Shared::new(inputs.len(), interface.words_in(), interface.words_out())?;
        inputs.iter().enumerate().for_each(|(i, input)| shared.set_input(i, input));
        let driver = driver::assemble(&interface, &shared.layout());
        shared.write_code(0, &driver.bytes);
        let limit = Duration::from_millis(200);
        Ok(Batch { shared, driver, interface, child: None, programs: 0, statuses: Vec::new(), limit })
    }

    /// Forgets the programs.
    pub fn clear(&mut self) {
        self.programs = 0;
        self.statuses.clear();
    }

    /// Adds a program, straight-line code or with jumps inside of it; it ends by running off its end. `None` if there is no room.
    pub fn push(&mut self, code: &[u8]) -> Option<usize> {
        let number = self.programs;
        if number >= PROGRAMS || code.len() > PROGRAM_BYTES {
            return None;
        }
        let at = driver::program_offset(number);
        self.shared.write_code(at, code);
        self.shared.write_code(at + code.len(), &driver::jump(at + code.len(), self.driver.finish));
        self.programs += 1;
        Some(number)
    }

    /// Runs all programs on all inputs.
    pub fn run(&mut self) -> Result<(), NativeError> {
        self.statuses.clear();
        let mut retried = None;
        while self.statuses.len() < self.programs {
            let from = self.statuses.len();
            self.shared.begin(from, self.programs);
            let child = match self.child.take() {
                Some(child) => child,
                None => self.start()?,
            };
            let waited = if child.request() { child.wait(self.limit) } else { Waited::Died };
            let done = self.shared.done().clamp(from, self.programs);
            let statuses = (from..done).map(|i| self.shared.signal(i).map_or(Status::Done, Status::Fault));
            self.statuses.extend(statuses);
            if waited == Waited::Answered {
                self.child = Some(child);
                if done == from {
                    // A program forged an answer.
                    self.statuses.push(Status::Killed);
                }
                continue;
            }
            // A child may have died before it began: what only died gets a second chance.
            let again = waited == Waited::Died && retried != Some(self.statuses.len());
            retried = Some(self.statuses.len());
            if self.statuses.len() < self.programs && !again {
                self.statuses.push(if waited == Waited::TimedOut { Status::Timeout } else { Status::Killed });
            }
        }
        Ok(())
    }

    fn start(&mut self) -> Result<Child, NativeError> {
        let (shared, entry, abort) = (&self.shared, self.driver.entry, self.driver.abort);
        let memory = self.interface.memory;
        Child::start(|requests, answers| serve::serve(shared, (entry, abort), memory, (requests, answers)))
    }

    /// What became of a program of the last run.
    pub fn status(&self, program: usize) -> Status {
        self.statuses.get(program).copied().unwrap_or(Status::Killed)
    }

    /// What a program left on all inputs, one after another; meaningless unless it is [`Status::Done`].
    pub fn results(&self, program: usize) -> &[u64] {
        self.shared.results(program)
    }

    /// What a program left on an input; meaningless unless it is [`Status::Done`].
    pub fn result(&self, program: usize, input: usize) -> &[u64] {
        self.shared.result(program, input)
    }
}
