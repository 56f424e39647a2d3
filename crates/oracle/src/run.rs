//! One run of one side.

use crate::input::Input;
use crate::link::Linked;
use crate::map;
use crate::seed::{Garbage, Seed};
use crate::shape::Shape;
use crate::stubs::{self, Called};
use crate::world::{Changes, World, fixed_segments, input_segments};
use native::{Fault, Limits, NativeError, Processor, Sandbox, Stop};
use std::collections::BTreeMap;

/// A side in its sandbox.
pub(crate) struct Machine<'l> {
    linked: &'l Linked,
    entry: u64,
    sandbox: Sandbox,
    /// What the sandbox holds from the last run.
    known: BTreeMap<u64, Vec<u8>>,
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

/// Calls after which a run is given up.
const MOST_CALLS: usize = 64;
const CALLEE_SAVED: [usize; 6] = [3, 5, 12, 13, 14, 15];

impl<'l> Machine<'l> {
    /// A sandbox with everything that these inputs need.
    pub fn new((linked, entry): (&'l Linked, u64), inputs: &[Input]) -> Result<Machine<'l>, NativeError> {
        let mut segments = fixed_segments(linked);
        segments.extend(input_segments(inputs)?);
        Ok(Machine { linked, entry, sandbox: Sandbox::start(&segments)?, known: BTreeMap::new() })
    }

    /// Runs the function once.
    pub fn run(&mut self, input: &Input, garbage: Garbage, shape: &Shape, limits: Limits) -> Result<Run, NativeError> {
        let mut world = World::new(self.linked, input, garbage)?;
        world.load(&mut self.sandbox, &self.known)?;
        let entry = entry((self.linked, self.entry), input, garbage);
        self.sandbox.set_processor(&entry)?;
        let mut calls = Vec::new();
        let mut heap = map::HEAP;
        let end = loop {
            let stop = self.sandbox.run(limits)?;
            let processor = self.sandbox.processor()?;
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
        let processor = self.sandbox.processor()?;
        world.refresh(&mut self.sandbox)?;
        let changes = world.changes();
        self.known = world.areas.iter_mut().map(|area| (area.address, std::mem::take(&mut area.now))).collect();
        Ok(Run { end, processor, calls, changes, world, entry })
    }

    /// Is a fault the attempt to execute something that is no code, with a return address that is? Then it is a call through a pointer.
    fn is_call(&mut self, processor: &Processor, fault: Fault) -> bool {
        let mut back = [0; 8];
        let stands = fault.address == processor.rip && self.sandbox.read(processor.general[4], &mut back).is_ok();
        let back = u64::from_le_bytes(back);
        let code = |s: &&crate::link::Loaded| s.access == native::Access::Execute;
        let ours = |s: &crate::link::Loaded| back.wrapping_sub(s.address) < s.bytes.len() as u64;
        stands && (back == map::STUBS || self.linked.sections.iter().filter(code).any(ours))
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
        let mut back = [0; 8];
        if self.sandbox.read(rsp, &mut back).is_err() {
            return Ok(Some(End::Fault(format!("a call without a return address at {rsp:#x}"))));
        }
        let called = stubs::call(&mut self.sandbox, name, prototype, &processor, heap)?;
        let event = matches!(called, Called::Event(_) | Called::Ends);
        if event {
            world.refresh(&mut self.sandbox)?;
            let stack = (1..=16u64).map(|i| {
                let mut word = [0; 8];
                let there = self.sandbox.read(rsp.wrapping_add(8 * i), &mut word).is_ok();
                if there { u64::from_le_bytes(word) } else { 0 }
            });
            let stack = stack.collect();
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
        (processor.rip, processor.general[4]) = (u64::from_le_bytes(back), rsp.wrapping_add(8));
        self.sandbox.set_processor(&processor)?;
        Ok(None)
    }
}

impl Run {
    /// A register that the function should have kept and has not.
    pub fn spoiled(&self) -> Option<usize> {
        let kept = |i: &usize| self.processor.general[*i] == self.entry.general[*i];
        let stack = self.processor.general[4] != self.entry.general[4].wrapping_add(8);
        CALLEE_SAVED.into_iter().find(|i| !kept(i)).or(stack.then_some(4))
    }
}

/// The registers at entry.
fn entry((linked, first): (&Linked, u64), input: &Input, garbage: Garbage) -> Processor {
    let mut processor = Processor { rip: first, fs_base: map::THREAD_POINTER, ..Processor::default() };
    for (i, register) in processor.general.iter_mut().enumerate() {
        *register = garbage.number(0xe0 + i as u64);
    }
    for (register, value) in [7, 6, 2, 1, 8, 9].into_iter().zip(input.general) {
        processor.general[register] = input.translate(linked, value);
    }
    processor.general[0] = input.rax;
    processor.general[4] = map::STACK_TOP;
    for (i, vector) in processor.vectors.iter_mut().enumerate() {
        *vector = match input.vectors.get(i) {
            Some(bytes) => std::array::from_fn(|k| crate::world::word(&bytes[8 * k..8 * k + 8])),
            None => std::array::from_fn(|k| garbage.number(0x3e0 + 4 * i as u64 + k as u64)),
        };
    }
    processor
}
