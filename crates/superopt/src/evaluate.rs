//! Two ways to find out how wrong programs are, and one that is there to be compared with.
//!
//! [`Lanes`] is the fast one for instructions that it has steps for. [`Native`] lets the processor do it, many programs at a time, in a
//! process that can only compute; it takes any instruction, at the same speed. [`Plain`] runs every instruction of one
//! program after another: what the other two are measured against.

use crate::cells;
use crate::lanes::{LANES, Lanes};
use crate::pool::{Pool, Slot};
use crate::steps::popcount;
use crate::task::{State, Task};
use native::NativeError;
use native::batch::{Batch, Flags, Interface, PROGRAM_BYTES, PROGRAMS, Status};
use program::Register;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

/// Says how wrong programs are: the number of wrong bits over all states, each result in its own register. `None` for a program
/// that reads what has no value, or does not come to its end.
pub trait Evaluate {
    /// The costs of some programs.
    fn costs(&mut self, programs: &[Vec<Slot>]) -> Vec<Option<u32>>;

    /// Programs that are best given at once.
    fn at_once(&self) -> usize;
}

/// An evaluator that knows nothing of what it did before.
pub struct Plain(
    /// Does the work.
    pub Lanes,
);

/// Programs on the processor.
pub struct Native {
    batch: Batch,
    /// Says which programs read only what has a value.
    lanes: Lanes,
    pool: Arc<Pool>,
    encodings: FxHashMap<u64, Option<Bytes>>,
    wanted: Vec<Column>,
}

/// The bytes of an instruction.
#[derive(Clone, Copy)]
struct Bytes {
    code: [u8; 16],
    length: usize,
}

impl Bytes {
    fn of(instruction: &x86::Instruction) -> Option<Bytes> {
        let bytes = x86::encode(instruction, 0).ok()?;
        let mut code = [0; 16];
        code.get_mut(..bytes.len())?.copy_from_slice(&bytes);
        Some(Bytes { code, length: bytes.len() })
    }
}

/// A result: its word among the child's results, the bits that count, the value in each state.
struct Column {
    word: usize,
    bit: u32,
    mask: u64,
    values: [u64; LANES],
}

/// Why a task cannot be run on the processor.
#[derive(Debug)]
pub enum NoNative {
    /// It uses memory, whose addresses are not for the child to choose.
    Memory,
    /// The original cannot be run on the states.
    NoStates,
    /// The system refuses.
    Refused(NativeError),
}

impl fmt::Display for NoNative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoNative::Memory => write!(f, "code that uses memory is not run on the processor"),
            NoNative::NoStates => write!(f, "the original runs to its end on none of the test states"),
            NoNative::Refused(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for NoNative {}

impl Evaluate for Lanes {
    fn costs(&mut self, programs: &[Vec<Slot>]) -> Vec<Option<u32>> {
        programs.iter().map(|program| self.propose(program, u32::MAX)).collect()
    }

    fn at_once(&self) -> usize {
        1
    }
}

impl Evaluate for Plain {
    fn costs(&mut self, programs: &[Vec<Slot>]) -> Vec<Option<u32>> {
        let cost = |program: &Vec<Slot>| {
            self.0.forget();
            self.0.propose(program, u32::MAX)
        };
        programs.iter().map(cost).collect()
    }

    fn at_once(&self) -> usize {
        1
    }
}

impl Native {
    /// An evaluator for a task without memory, on up to 32 states.
    pub fn new(pool: Arc<Pool>, task: &Task, states: &[State], original: &[Slot]) -> Result<Native, NoNative> {
        let mut lanes = Lanes::new(pool.clone(), task);
        let states = &states[..states.len().min(LANES)];
        if !lanes.load(states, task, original) {
            return Err(NoNative::NoStates);
        }
        if lanes.changes_memory() || pool.has_memory() {
            return Err(NoNative::Memory);
        }
        let interface = interface(task);
        let mut wanted = Vec::new();
        for (cell, mask, values) in lanes.wanted_columns() {
            let (word, bit) = place(cell, &interface).ok_or(NoNative::Memory)?;
            wanted.push(Column { word, bit, mask, values });
        }
        let inputs: Vec<Vec<u64>> = (0..LANES).map(|i| input(&interface, &states[i % states.len()])).collect();
        let batch = Batch::new(interface, &inputs).map_err(NoNative::Refused)?;
        Ok(Native { batch, lanes, pool, encodings: FxHashMap::default(), wanted })
    }

    /// Adds a program to the batch; `None` if it has no bytes or there is no room.
    fn push(&mut self, program: &[Slot]) -> Option<usize> {
        let mut code = [0u8; PROGRAM_BYTES + 16];
        let mut length = 0;
        for slot in program.iter().filter(|slot| !slot.is_empty()) {
            let bytes = match self.encodings.get(&slot.number()) {
                Some(bytes) => *bytes,
                None => {
                    let bytes = self.pool.instruction(*slot).and_then(|instruction| Bytes::of(&instruction));
                    self.encodings.insert(slot.number(), bytes);
                    bytes
                }
            }?;
            // All of them at once: what is behind is overwritten by the next one.
            code.get_mut(length..length + 16)?.copy_from_slice(&bytes.code);
            length += bytes.length;
        }
        self.batch.push(&code[..length])
    }

    /// Wrong bits of a program that leaves these results.
    fn cost(&self, (program, defined): (usize, u64)) -> Option<u32> {
        if self.batch.status(program) != Status::Done {
            return None;
        }
        let missing = self.wanted.iter().enumerate().filter(|(k, _)| defined >> k & 1 == 0);
        let mut wrong = missing.map(|(_, column)| LANES as u32 * column.mask.count_ones()).sum();
        let results = self.batch.results(program);
        let width = results.len() / LANES;
        for (_, column) in self.wanted.iter().enumerate().filter(|(k, _)| defined >> k & 1 == 1) {
            let words = results.iter().skip(column.word).step_by(width);
            let different = |(word, value): (&u64, &u64)| popcount((word >> column.bit ^ value) & column.mask) as u32;
            wrong += words.zip(&column.values).map(different).sum::<u32>();
        }
        Some(wrong)
    }
}

impl Evaluate for Native {
    fn costs(&mut self, programs: &[Vec<Slot>]) -> Vec<Option<u32>> {
        let mut out = Vec::with_capacity(programs.len());
        for part in programs.chunks(PROGRAMS) {
            self.batch.clear();
            let pushed: Vec<Option<(usize, u64)>> = part
                .iter()
                .map(|program| {
                    let defined = self.lanes.defined_results(program)?;
                    Some((self.push(program)?, defined))
                })
                .collect();
            let ran = self.batch.run().is_ok();
            out.extend(pushed.into_iter().map(|number| number.filter(|_| ran).and_then(|number| self.cost(number))));
        }
        out
    }

    fn at_once(&self) -> usize {
        PROGRAMS
    }
}

/// Registers that programs of a task get and leave.
fn interface(task: &Task) -> Interface {
    let mut out = Interface::default();
    for register in task.live_in.iter() {
        match register {
            Register::RSP => {}
            Register::General(n) => out.general_in.push(n),
            Register::Vector(n) => out.vector_in.push(n),
            _ => {}
        }
    }
    for output in &task.live_out {
        match output {
            crate::Output::Flag(_) => out.flags = Flags::Kept,
            crate::Output::Lane(lane) => match lane.register {
                Register::General(n) => out.general_out.push(n),
                Register::Vector(n) | Register::VectorHigh(n) => out.vector_out.push(n),
                _ => {}
            },
        }
    }
    out.vector_out.sort_unstable();
    out.vector_out.dedup();
    out
}

/// Word and first bit of a cell among the results.
fn place(cell: usize, interface: &Interface) -> Option<(usize, u32)> {
    let general = interface.general_out.len();
    let flags = usize::from(interface.flags == Flags::Kept);
    match cell {
        0..16 => interface.general_out.iter().position(|n| usize::from(*n) == cell).map(|word| (word, 0)),
        16..cells::FLAGS => {
            let (register, word) = ((cell - 16) / 4, (cell - 16) % 4);
            let vector = interface.vector_out.iter().position(|n| usize::from(*n) == register)?;
            Some((general + flags + 4 * vector + word, 0))
        }
        // CF, PF, AF, ZF, SF, OF, DF in the flags register.
        _ => Some((general, *[0u32, 2, 4, 6, 7, 11, 10].get(cell - cells::FLAGS)?)),
    }
}

fn input(interface: &Interface, state: &State) -> Vec<u64> {
    let general = interface.general_in.iter().map(|n| state.general[usize::from(*n)]);
    let vectors = interface.vector_in.iter().flat_map(|n| state.vector[usize::from(*n)]);
    general.chain(vectors).collect()
}
