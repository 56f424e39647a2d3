//! What is asked: code, what it may use, what it must leave behind, and states to try it on.

use crate::random::Random;
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

/// Bytes of a piece of memory that a state gets on demand.
const PIECE: u64 = 64;

impl State {
    /// A state with registers at random: corner values, small and large ones, addresses, equal ones.
    pub fn random(seed: u64, number: u64) -> State {
        let mut random = Random::new(seed, number);
        let mut state = State::default();
        let addresses = random.below(2) == 0;
        for n in 0..16 {
            let word = random.next();
            state.general[n] = match random.below(10) {
                0 => word % 5,
                1 => (word % 5).wrapping_neg(),
                2 => 1 << (word % 64),
                3 => (1u64 << (word % 32)).wrapping_sub(1) ^ if word & 64 == 0 { 0 } else { 0xffff_ffff },
                4 => word >> (word % 64),
                5 => word % 64,
                6 if n > 0 => state.general[random.below(n)],
                _ if addresses => (n as u64 + 1) << 40 | (word & 0xffff_ffc0),
                _ => word,
            };
        }
        state.general[4] = STACK;
        for words in &mut state.vector {
            let kind = random.below(4);
            for word in words {
                let bits = random.next();
                let single = |bits: u64| ((bits % 2000) as f32 / 16.0 - 60.0).to_bits();
                *word = match kind {
                    0 => bits,
                    1 => u64::from(single(bits)) | u64::from(single(bits >> 32)) << 32,
                    2 => ((bits % 4000) as f64 / 16.0 - 120.0).to_bits(),
                    _ => bits & 0x0000_00ff_0000_00ff,
                };
            }
        }
        for flag in 0..6 {
            state.flags[flag] = random.below(2) == 0;
        }
        state
    }

    /// Changes a byte of memory that is there.
    pub fn set_byte(&mut self, address: u64, byte: u8) {
        for (start, bytes) in &mut self.memory {
            if let Some(place) = bytes.get_mut(address.wrapping_sub(*start) as usize) {
                *place = byte;
            }
        }
    }

    /// Puts memory with bytes at random around an address.
    pub fn map(&mut self, address: u64) {
        let start = address / PIECE * PIECE;
        let taken = |place: u64| {
            let holds = |(first, bytes): &(u64, Vec<u8>)| place.wrapping_sub(*first) < bytes.len() as u64;
            self.memory.iter().any(holds)
        };
        let end = (address..start.saturating_add(PIECE)).find(|place| taken(*place));
        let end = end.unwrap_or(start.saturating_add(PIECE));
        let begin = (start..address).rev().find(|place| taken(*place)).map_or(start, |place| place + 1);
        let mut random = Random::new(begin, 5);
        let kind = random.below(3);
        let bytes = (begin..end).map(|place| match kind {
            0 => random.next() as u8,
            1 if place % 4 != 0 => 0,
            _ => (random.next() % 8) as u8,
        });
        let bytes = bytes.collect();
        self.memory.push((begin, bytes));
    }
}

/// The stack pointer of random states.
const STACK: u64 = 0x7ffd_0000_0008;

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
