//! The interpreter on a hit: which memory the function looks at, and what it would do.

use crate::pages::Pages;
use crate::target::Target;
use interpreter::{
    Callees, Cells, Change, Effects, End, Fabric, Faults, Layout, Memory, Program, Seed, Situation, Start, is_stack,
    run,
};
use native::Processor;
use native::traced::{Thread, Traced};
use program::{Place, Register, Side};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use term::Bits;

/// Points that a followed run may enter.
const FUEL: usize = 200_000;

/// The function, ready to be run on states of a process.
pub(crate) struct Follower<'t> {
    target: &'t Target,
    program: Program<'t>,
    layout: Layout<'t>,
    callees: Callees<'t>,
    cells: Cells,
    memory: Memory,
    arguments: Vec<(Place, u16)>,
}

/// A start state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Capture {
    /// Arguments by place.
    pub arguments: Vec<(Place, Bits)>,
    /// Memory that the function looks at or writes, as it was: blocks by address.
    pub memory: Vec<(u64, Vec<u8>)>,
    /// Equal for runs through the same parts of the function.
    pub path: u64,
    /// Why the function was not followed to its end.
    pub partial: Option<&'static str>,
}

/// What the interpreter says that the function will do.
#[derive(Clone, Debug)]
pub(crate) struct Prediction {
    /// Register, bytes, value.
    pub results: Vec<(Register, u16, Bits)>,
    pub changes: Vec<Change>,
}

impl<'t> Follower<'t> {
    pub fn new(target: &'t Target) -> Follower<'t> {
        let program = Program::new(&target.arena, &target.function);
        let layout = Layout::of_process(&target.arena, &target.function, &target.places);
        let cells = Cells::new(&program, &layout);
        let callees = Callees::new([&target.function; 2]);
        Follower { target, program, layout, callees, cells, memory: Memory::default(), arguments: target.arguments() }
    }

    /// Follows the function from the state of a thread that stands at its entry. `Err` says why that state is of no use.
    pub fn follow(
        &mut self,
        traced: &Traced,
        process: Thread,
        processor: &Processor,
    ) -> Result<(Capture, Option<Prediction>), &'static str> {
        let pages = Pages::new(traced, process, processor.general[4]);
        if is_stack(processor.general[4]) {
            return Err("its stack lies where the interpreter has its own");
        }
        let registers = registers(processor);
        let (fixed, seed) = (FxHashMap::default(), Seed(1));
        let start = Start {
            layout: &self.layout,
            fixed: &fixed,
            seed,
            garbage: seed,
            constants: &[],
            pointers: &[],
            floats: false,
            fabric: Fabric::Mixed,
            alike: false,
            backing: Some(&pages),
        };
        let situation = Situation {
            arena: &self.target.arena,
            start,
            callees: &self.callees,
            side: Side::Candidate,
            arguments: &registers,
            reachable: &[],
            scripts: &[],
            effects: Effects::Quiet,
            magnitude: 1,
            earlier: &[],
            fuel: FUEL,
            watch: None,
            aligned: false,
            pages: None,
            faults: Faults::End,
        };
        let trace = run(&self.program, &mut self.cells, &mut self.memory, situation);
        let partial = match trace.end {
            End::Return => None,
            // Calls are edges to nowhere here.
            End::Unsupported => Some("it calls another function"),
            End::Fuel | End::Forever => Some("it runs long"),
            End::Fault(..) | End::BadAddress(..) => return Err("it faults"),
            End::NoReturn => return Err("it does not return"),
        };
        if pages.was_missing() {
            return Err("it looks at memory that is not there");
        }
        let words = self
            .memory
            .initial_words()
            .filter(|(address, _)| !is_stack(*address) && self.layout.object_at(*address).is_none());
        let mut words: Vec<(u64, u64)> = words.collect();
        words.sort_unstable();
        let mut memory: Vec<(u64, Vec<u8>)> = Vec::new();
        for (address, word) in words {
            match memory.last_mut() {
                Some((at, bytes)) if *at + bytes.len() as u64 == address => bytes.extend(word.to_le_bytes()),
                _ => memory.push((address, word.to_le_bytes().to_vec())),
            }
        }
        let arguments =
            self.arguments.iter().map(|(place, bytes)| (*place, argument(*place, *bytes, processor, &pages)));
        let mut hasher = FxHasher::default();
        (&trace.entered, trace.steps.ilog2(), partial).hash(&mut hasher);
        let capture = Capture { arguments: arguments.collect(), memory, path: hasher.finish(), partial };
        let results = self.target.results().iter().filter_map(|value| {
            let Place::Register(register) = value.place else { return None };
            let bits = self.cells.register(register);
            (!is_stack(bits.low())).then_some((register, value.bytes, bits))
        });
        let prediction = Prediction { results: results.collect(), changes: trace.changes };
        Ok((capture, partial.is_none().then_some(prediction)))
    }
}

impl Prediction {
    /// Has the function done that, at its return?
    pub fn has_come_true(&self, traced: &Traced, process: Thread, processor: &Processor) -> bool {
        let result = |(register, bytes, bits): &(Register, u16, Bits)| {
            let now = value_of(*register, processor);
            let width = (8 * bytes).min(now.width()).min(bits.width());
            width == 0 || now.extract(width - 1, 0) == bits.extract(width - 1, 0)
        };
        let change = |change: &Change| {
            let mut now = [0; 8];
            let there = traced.read(process, change.address, &mut now) == now.len();
            let mask = change.mask & change.written;
            there && (0..8).all(|i| mask >> i & 1 == 0 || now[i] == change.now.to_le_bytes()[i])
        };
        self.results.iter().all(result) && self.changes.iter().all(change)
    }
}

fn value_of(register: Register, processor: &Processor) -> Bits {
    match register {
        Register::General(i) => Bits::new(64, processor.general[usize::from(i & 15)]),
        Register::Vector(i) => Bits::from_limbs(128, &processor.vectors[usize::from(i & 15)][..2]),
        Register::VectorHigh(i) => Bits::from_limbs(128, &processor.vectors[usize::from(i & 15)][2..]),
        Register::FsBase => Bits::new(64, processor.fs_base),
        _ => Bits::new(64, 0),
    }
}

/// All registers that hold something at a function's entry, but for the stack pointer, which the interpreter has its own of.
fn registers(processor: &Processor) -> Vec<(Register, Bits)> {
    let general = (0..16).filter(|i| *i != 4).map(Register::General);
    let vectors = (0..16).flat_map(|i| [Register::Vector(i), Register::VectorHigh(i)]);
    general.chain(vectors).chain([Register::FsBase]).map(|register| (register, value_of(register, processor))).collect()
}

fn argument(place: Place, bytes: u16, processor: &Processor, pages: &Pages) -> Bits {
    match place {
        Place::Register(register) => {
            let value = value_of(register, processor);
            value.extract((8 * bytes).clamp(1, value.width()) - 1, 0)
        }
        Place::Stack(offset) => {
            use interpreter::Backing;
            let at = processor.general[4].wrapping_add(8 + u64::from(offset));
            let words: Vec<u64> = (0..u64::from(bytes).div_ceil(8).clamp(1, 2))
                .map(|i| pages.word((at + 8 * i) & !7).unwrap_or(0))
                .collect();
            Bits::from_limbs(64 * words.len() as u16, &words).resize((8 * bytes).clamp(8, 128))
        }
    }
}
