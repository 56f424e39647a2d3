//! One run of one side.

use crate::input::Input;
use crate::link::Linked;
use crate::map;
use crate::seed::{Garbage, Seed};
use crate::shape::Shape;
use crate::stubs::{self, Called};
use crate::world::{Changes, Filling, PAGE, World, fixed_zeros, ranges, zeros};
use native::{Fault, Limits, NativeError, Processor, Sandbox, Stop, Zeros};
use std::collections::{BTreeMap, BTreeSet};

/// A side in its sandbox.
pub(crate) struct Machine<'l> {
    linked: &'l Linked,
    role: Role,
    sandbox: Sandbox,
    /// What the sandbox holds from the last run that could write it, by address.
    known: BTreeMap<u64, Vec<u8>>,
    /// Pages of inputs that it has, by number.
    pages: BTreeSet<u64>,
}

/// Whose code a machine runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Original,
    Candidate,
}

/// How a run ended.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum End {
    /// With a return.
    Return,
    /// With a call that does not return.
    NoReturn,
    /// With a fault: its name and where.
    Fault(String),
    /// Not within its time.
    OutOfTime,
    /// It cannot be told: why.
    Impossible(String),
}

/// A call of an undefined function.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    /// Its name; none for an address that has none.
    pub callee: Option<String>,
    /// Where it is.
    pub target: u64,
    /// Registers at its entry.
    pub processor: Processor,
    /// Stack words behind the return address.
    pub stack: Vec<u64>,
    /// Memory that has changed so far.
    pub changes: Changes,
}

/// What a run did.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub end: End,
    /// Registers at the end.
    pub processor: Processor,
    pub calls: Vec<Call>,
    pub changes: Changes,
    /// Memory at the start.
    pub world: World,
    /// Registers at the start.
    pub entry: Processor,
}

/// How a run begins, besides its input.
#[derive(Clone, Copy)]
pub(crate) struct Begin<'f> {
    /// The first instruction.
    pub entry: u64,
    /// The stack pointer.
    pub rsp: u64,
    /// What nobody defines.
    pub garbage: Garbage,
    pub filling: &'f Filling,
}

/// Pages that are closer to each other are looked at together.
const WINDOW: u64 = 64;
/// Calls after which a run is given up.
const MOST_CALLS: usize = 64;
/// Stack words that a call may have as arguments.
const STACK_WORDS: usize = 16;
const CALLEE_SAVED: [usize; 6] = [3, 5, 12, 13, 14, 15];

impl<'l> Machine<'l> {
    /// A sandbox for inputs with these pages.
    pub fn new(role: Role, linked: &'l Linked, pages: BTreeSet<u64>) -> Result<Machine<'l>, NativeError> {
        let all: Vec<Zeros> = fixed_zeros(linked).into_iter().chain(zeros(&pages)).collect();
        let sandbox = Sandbox::of(linked.image()?, &all)?;
        Ok(Machine { linked, role, sandbox, known: BTreeMap::new(), pages })
    }

    /// The pages of inputs that it has.
    pub fn pages(&self) -> &BTreeSet<u64> {
        &self.pages
    }

    /// Has the code written to a page of inputs other than these? No run looks there, and no other run may find it.
    pub fn has_strayed(&mut self, pages: &BTreeSet<u64>) -> Result<bool, NativeError> {
        for (start, count) in ranges(&self.pages, WINDOW) {
            for address in self.sandbox.written(start * PAGE, count as usize)? {
                if pages.contains(&(address / PAGE)) {
                    continue;
                }
                let mut now = [0; PAGE as usize];
                let Some(known) = self.known.get(&address) else { return Ok(true) };
                self.sandbox.read(address, &mut now)?;
                if *known != now {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Ends the sandbox; others may use its image.
    pub fn end(self) {
        self.linked.keep(self.sandbox.end());
    }

    /// Runs a function once.
    pub fn run(&mut self, begin: Begin, input: &Input, shape: &Shape, limits: Limits) -> Result<Run, NativeError> {
        let garbage = begin.garbage;
        let mut world = World::new(self.linked, input, begin.filling, begin.rsp)?;
        world.load(&mut self.sandbox, &self.known)?;
        let entry = self.registers(begin, input);
        self.sandbox.set_processor(&entry)?;
        let mut calls = Vec::new();
        let mut heap = map::HEAP;
        let mut processor;
        let end = loop {
            let stop = self.sandbox.run(limits)?;
            processor = self.sandbox.processor()?;
            let target = match stop {
                Stop::OutOfTime => break End::OutOfTime,
                Stop::Trap if processor.rip == map::STUBS + 1 => break End::Return,
                Stop::Trap if self.linked.stubs.contains_key(&(processor.rip - 1)) => processor.rip - 1,
                Stop::Fault(fault) if self.is_call(&processor, fault) => processor.rip,
                Stop::Trap => break End::Fault("a trap".to_string()),
                Stop::Fault(fault) => break End::Fault(format!("{:?} at {:#x}", fault.signal, fault.address)),
            };
            if calls.len() >= MOST_CALLS {
                break End::Impossible("too many calls".to_string());
            }
            if let Some(end) =
                self.call(target, processor, &mut world, &mut calls, &mut heap, (input, garbage, shape))?
            {
                break end;
            }
        };
        world.refresh(&mut self.sandbox)?;
        let changes = world.changes();
        self.known.extend(world.areas.iter_mut().map(|area| (area.address, std::mem::take(&mut area.now))));
        Ok(Run { end, processor, calls, changes, world, entry })
    }

    /// The registers at entry.
    fn registers(&self, begin: Begin, input: &Input) -> Processor {
        registers(self.linked, self.role, begin, input)
    }

    /// Is a fault the attempt to execute something that is no code, with a return address that is? Then it is a call through a pointer.
    fn is_call(&mut self, processor: &Processor, fault: Fault) -> bool {
        if fault.address != processor.rip {
            return false;
        }
        let Some((back, _)) = self.stack(processor.general[4]) else { return false };
        let code = |s: &&crate::link::Loaded| s.access == native::Access::Execute;
        let ours = |s: &crate::link::Loaded| back.wrapping_sub(s.address) < s.bytes.len() as u64;
        back == map::STUBS || self.linked.sections.iter().filter(code).any(ours)
    }

    /// The return address that lies at the top of the stack, and the words behind it; those that are not there are zero.
    fn stack(&mut self, rsp: u64) -> Option<(u64, Vec<u64>)> {
        let mut bytes = [0; 8 * (1 + STACK_WORDS)];
        // Near the end of the stack there are fewer.
        let there = (1..=1 + STACK_WORDS).rev().find(|n| self.sandbox.read(rsp, &mut bytes[..8 * n]).is_ok())?;
        bytes[8 * there..].fill(0);
        let mut words = bytes.chunks_exact(8).map(crate::world::word);
        Some((words.next()?, words.collect()))
    }

    /// Carries out a call; the end of the run if it is one.
    fn call(
        &mut self,
        target: u64,
        mut processor: Processor,
        world: &mut World,
        calls: &mut Vec<Call>,
        heap: &mut u64,
        (input, garbage, shape): (&Input, Garbage, &Shape),
    ) -> Result<Option<End>, NativeError> {
        let callee = self.linked.stubs.get(&target).or_else(|| self.linked.externs.get(&target)).cloned();
        let prototype = callee.as_ref().and_then(|name| shape.callees.get(name));
        let name = callee.as_deref().unwrap_or("");
        let rsp = processor.general[4];
        let Some((back, stack)) = self.stack(rsp) else {
            return Ok(Some(End::Fault(format!("a call without a return address at {rsp:#x}"))));
        };
        let called = stubs::call(&mut self.sandbox, name, prototype, &processor, heap)?;
        let event = matches!(called, Called::Event(_) | Called::Ends);
        if event {
            world.refresh(&mut self.sandbox)?;
            calls.push(Call { callee: callee.clone(), target, processor, stack, changes: world.changes() });
        }
        let times = calls.iter().filter(|c| c.callee == callee).count().max(1);
        let result = match called {
            Called::Silent(result) | Called::Event(result) => result,
            Called::Ends => return Ok(Some(End::NoReturn)),
            Called::Faults(address) => return Ok(Some(End::Fault(format!("`{name}` at {address:#x}")))),
            Called::Impossible => return Ok(Some(End::Impossible(format!("`{name}` cannot be a stub")))),
        };
        let script = input.script.iter().filter(|s| s.callee == name).nth(times - 1).filter(|_| event);
        let result = result.or_else(|| script.map(|s| input.translate(self.linked, s.result)));
        let number = calls.len() as u64;
        let seed = Seed(input.seed).of(number).named(name);
        stubs::after(&mut processor, prototype, result, seed, garbage.of(number));
        (processor.rip, processor.general[4]) = (back, rsp.wrapping_add(8));
        self.sandbox.set_processor(&processor)?;
        Ok(None)
    }
}

/// The registers of a side at entry.
pub(crate) fn registers(linked: &Linked, role: Role, begin: Begin, input: &Input) -> Processor {
    let garbage = begin.garbage;
    let general = match (role, input.convention) {
        (Role::Candidate, Some(general)) => general,
        _ => input.general,
    };
    let mut processor = Processor { rip: begin.entry, fs_base: map::THREAD_POINTER, ..Processor::default() };
    for (i, register) in processor.general.iter_mut().enumerate() {
        *register = garbage.number(0xe0 + i as u64);
    }
    for (register, value) in [7, 6, 2, 1, 8, 9].into_iter().zip(general) {
        processor.general[register] = input.translate(linked, value);
    }
    processor.general[0] = input.rax;
    processor.general[4] = begin.rsp;
    for (i, vector) in processor.vectors.iter_mut().enumerate() {
        *vector = match input.vectors.get(i) {
            Some(bytes) => std::array::from_fn(|k| crate::world::word(&bytes[8 * k..8 * k + 8])),
            None => std::array::from_fn(|k| garbage.number(0x3e0 + 4 * i as u64 + k as u64)),
        };
    }
    processor
}

impl Run {
    /// A register that the function should have kept and has not.
    pub fn spoiled(&self) -> Option<usize> {
        let kept = |i: &usize| self.processor.general[*i] == self.entry.general[*i];
        let stack = self.processor.general[4] != self.entry.general[4].wrapping_add(8);
        CALLEE_SAVED.into_iter().find(|i| !kept(i)).or(stack.then_some(4))
    }
}
