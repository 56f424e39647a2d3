//! What is asked: code, what it may use, what it must leave behind, and states to try it on.

use program::{Flag, Register};
use x86::table::{Feature, Row, Vex};
use x86::{Instruction, Lane, Registers};

/// Straight-line code that is to be replaced.
#[derive(Clone, Debug)]
pub struct Task {
    /// The code, without control flow.
    pub original: Vec<Instruction>,
    /// Registers with a value at the start that new code may read.
    pub live_in: Registers,
    /// Registers that new code may change: what the original changes, and what is dead behind it.
    pub scratch: Registers,
    /// What must be as after the original. Memory always must, apart from `dead_below`.
    pub live_out: Vec<Output>,
    /// Memory below the start value of `rsp` is dead at the end, as it is when a function returns.
    pub dead_below_stack: DeadStack,
    /// What the CPU has.
    pub level: Level,
    /// What is to become less.
    pub goal: Goal,
    /// Most instructions of new code.
    pub slots: usize,
}

/// Whether the frame below the stack pointer matters afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeadStack {
    /// Nobody reads it: the function returns.
    Yes,
    /// Code that follows may read it.
    No,
}

/// One thing that code must leave behind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    /// Bits of a register.
    Lane(Lane),
    /// A flag.
    Flag(Flag),
}

/// What is to become less.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Goal {
    /// Time from the inputs to the results.
    Latency,
    /// Time per run when many run after one another.
    Throughput,
    /// Bytes.
    Size,
}

/// The x86-64 levels that compilers know.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Level {
    /// `x86-64`: SSE2.
    V1,
    /// `x86-64-v2`: SSE4.2 and POPCNT.
    V2,
    /// `x86-64-v3`: AVX2, BMI, FMA, LZCNT, MOVBE.
    V3,
}

/// One start.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// General registers by their encoding.
    pub general: [u64; 16],
    /// Vector registers, least significant word first.
    pub vector: [[u64; 4]; 16],
    /// Flags in the order of `program::Flag`.
    pub flags: [bool; 7],
    /// Memory that may be accessed: address and bytes, apart from each other.
    pub memory: Vec<(u64, Vec<u8>)>,
}

impl Level {
    /// Does every CPU of this level have the instructions of the row, in this encoding?
    pub fn has(self, row: &Row, vex: bool) -> bool {
        let feature = match row.feature {
            Feature::Base | Feature::Sse | Feature::Sse2 => Level::V1,
            Feature::Sse3 | Feature::Ssse3 | Feature::Sse41 | Feature::Sse42 | Feature::Popcnt => Level::V2,
            Feature::Lzcnt | Feature::Movbe | Feature::Bmi1 | Feature::Bmi2 => Level::V3,
            Feature::Avx | Feature::Avx2 | Feature::Fma => Level::V3,
            // No level promises it.
            Feature::Adx => return false,
        };
        let encoding = if vex && row.vex != Vex::No { Level::V3 } else { Level::V1 };
        self >= feature.max(encoding)
    }
}

impl Task {
    /// A task for a whole function without branches that gets its arguments in these registers and leaves its result
    /// in `results`; registers that the callee need not keep may be used.
    pub fn of_function(original: Vec<Instruction>, arguments: Registers, results: Vec<Output>) -> Task {
        let slots = original.len().clamp(8, 16);
        let mut live_in = arguments;
        live_in.insert(Register::RSP);
        let kept = Register::CALLEE_SAVED.into_iter().chain([Register::RSP, Register::FsBase, Register::GsBase]);
        let kept: Registers = kept.collect();
        let scratch = Register::all().collect::<Registers>().without(kept);
        Task {
            original,
            live_in,
            scratch,
            live_out: results,
            dead_below_stack: DeadStack::Yes,
            level: Level::V3,
            goal: Goal::Latency,
            slots,
        }
    }
}
