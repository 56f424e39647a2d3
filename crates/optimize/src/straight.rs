//! Functions without branches, for the search: what they are in instructions, and states to try versions on.
//!
//! Trust: none. States and the list of what a function takes and returns only decide what is found; it is proved afterwards.

use crate::assembly::{Body, Piece, Syntax};
use crate::code::Code;
use crate::cpu::Cpu;
use crate::request::Goal;
use program::{Place, Register, Side, Signature};
use search::{Sample, Witness};
use std::path::Path;
use superopt::{Level, Output, State, Task};
use x86::{Flow, Instruction, Lane, Nameless, Registers};

/// How a function is called.
#[derive(Clone, Debug)]
pub struct Interface {
    arguments: Vec<Lane>,
    results: Vec<Lane>,
}

/// The instructions of code that runs through to its return, without it. Nothing of what it does is left to a linker.
pub fn instructions(code: &Code) -> Option<Vec<Instruction>> {
    if !code.relocations.is_empty() {
        return None;
    }
    let (mut at, mut out) = (0, Vec::new());
    while at < code.bytes.len() {
        let decoded = x86::decode(&code.bytes[at..], at as u64).ok()?;
        at += decoded.length;
        match decoded.instruction.flow() {
            Flow::Next => out.push(decoded.instruction),
            Flow::Return => return Some(out),
            _ => return None,
        }
    }
    None
}

impl Interface {
    /// How a function of a file is called, by its declaration.
    pub fn of(path: &Path, function: &str) -> Option<Interface> {
        let file = pair::File::read(path).ok()?;
        let mut arena = pair::new_arena();
        let lifted = file.lift(file.find(function)?, Side::Original, &mut arena).ok()?;
        Interface::new(lifted.signature.as_ref()?)
    }

    fn new(signature: &Signature) -> Option<Interface> {
        if signature.variadic || signature.unsupported.is_some() {
            return None;
        }
        let lane = |value: &program::Value| match value.place {
            Place::Register(register) => Some(Lane { register, offset: 0, bits: 8 * value.bytes }),
            Place::Stack(_) => None,
        };
        let lanes = |values: &[program::Value]| values.iter().map(lane).collect::<Option<Vec<Lane>>>();
        Some(Interface { arguments: lanes(&signature.arguments)?, results: lanes(&signature.results)? })
    }

    /// What the caller looks at.
    pub fn outputs(&self) -> Vec<Output> {
        self.results.iter().map(|lane| Output::Lane(*lane)).collect()
    }

    /// What is searched for: something that does what this code does.
    pub fn task(&self, original: Vec<Instruction>, goal: Goal, cpu: Cpu) -> Task {
        let arguments: Registers = self.arguments.iter().map(|lane| lane.register).collect();
        let mut task = Task::of_function(original, arguments, self.outputs());
        (task.goal, task.level) = (of_goal(goal), of_cpu(cpu));
        task
    }

    /// States with numbers of all kinds as arguments; what is passed narrowly has anything above.
    pub fn states(&self, seed: u64) -> Vec<State> {
        /// As many as run at once, twice.
        const COUNT: u64 = 64;
        (0..COUNT).map(|i| self.state(|j| number(seed, i, j as u64))).collect()
    }

    fn state(&self, argument: impl Fn(usize) -> [u64; 2]) -> State {
        let mut state = empty();
        for (i, lane) in self.arguments.iter().enumerate() {
            put(&mut state, lane.register, argument(i), u32::from(lane.bits));
        }
        state
    }

    /// A start state of the search, with the memory that the runs look at.
    pub fn of_sample(&self, sample: &Sample) -> Option<State> {
        if !sample.objects.is_empty() || !sample.results.is_empty() {
            return None;
        }
        let mut state = empty();
        for (place, bits) in &sample.arguments {
            let Place::Register(register) = place else { return None };
            let bytes = bits.to_bytes();
            let word = |at: usize| (0..8).map(|i| u64::from(*bytes.get(at + i).unwrap_or(&0)) << (8 * i)).sum();
            put(&mut state, *register, [word(0), word(8)], 8 * bytes.len() as u32);
        }
        state.memory.extend(sample.memory.iter().cloned());
        Some(state)
    }

    /// The state that a counterexample begins in.
    pub fn of_witness(&self, witness: &Witness) -> Option<State> {
        let value = |lane: &Lane| witness.registers.iter().find(|r| r.name == lane.register.name()).map(|r| r.value);
        let mut state = self.state(|i| {
            value(&self.arguments[i]).map_or([0; 2], |bits| [bits.low_u128() as u64, (bits.low_u128() >> 64) as u64])
        });
        state.memory.extend(witness.memory.iter().map(|bytes| (bytes.address, bytes.bytes.clone())));
        Some(state)
    }
}

/// What the search makes less.
pub fn of_goal(goal: Goal) -> superopt::Goal {
    match goal {
        Goal::Latency | Goal::Model => superopt::Goal::Latency,
        Goal::Throughput => superopt::Goal::Throughput,
        Goal::Size => superopt::Goal::Size,
    }
}

/// What the search may use.
pub fn of_cpu(cpu: Cpu) -> Level {
    match cpu {
        Cpu::Baseline => Level::V1,
        Cpu::V2 => Level::V2,
        Cpu::V3 => Level::V3,
        Cpu::Native if Cpu::V3.is_here() => Level::V3,
        Cpu::Native if Cpu::V2.is_here() => Level::V2,
        Cpu::Native => Level::V1,
    }
}

/// Where the stack pointer is at entry, and what is there.
const STACK: u64 = 0x7ffd_0000_0000;
const FRAME: u64 = 512;

fn empty() -> State {
    let mut state = State::default();
    state.general[4] = STACK;
    state.memory.push((STACK - FRAME, vec![0; FRAME as usize]));
    state
}

fn put(state: &mut State, register: Register, words: [u64; 2], bits: u32) {
    match register {
        Register::General(i) => {
            // Above a narrow argument there is anything.
            let above = 0xdead_beef_0bad_cafe_u64.rotate_left(u32::from(i));
            let mask = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
            state.general[usize::from(i)] = words[0] & mask | above & !mask;
        }
        Register::Vector(i) => state.vector[usize::from(i)] = [words[0], words[1], 0, 0],
        _ => {}
    }
}

/// Two words of a number that tells programs apart: small ones, borders, few bits, many.
fn number(seed: u64, state: u64, argument: u64) -> [u64; 2] {
    const BORDERS: [u64; 16] = [
        0,
        1,
        u64::MAX,
        2,
        0x8000_0000,
        0x7fff_ffff,
        0xffff_ffff,
        0x8000_0000_0000_0000,
        3,
        0x80,
        0xff,
        0x100,
        0xffff_fffe,
        5,
        0x1_0000,
        0xaaaa_aaaa,
    ];
    let random = mix(seed ^ mix(state << 8 | argument));
    let word = match random % 8 {
        0..3 => BORDERS[(random >> 8) as usize % BORDERS.len()],
        3 => (random >> 8) % 64,
        4 => 1 << (random >> 8 & 63),
        // The same as another argument has, or nearly.
        5 => mix(seed ^ mix(state)).wrapping_add(random >> 62),
        _ => mix(random),
    };
    [word, mix(word)]
}

/// A number from a number (splitmix64's last steps).
fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ word >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ word >> 31
}

/// Instructions as the assembler reads them.
pub fn lines(code: &[Instruction], syntax: x86::Syntax) -> Option<Vec<String>> {
    let line = |instruction| Some(format!("\t{}", x86::text(instruction, syntax, &Nameless).ok()?));
    code.iter().map(line).collect()
}

/// Code as the assembler reads it, with its return.
pub fn body(code: &[Instruction]) -> Option<Body> {
    let mut lines = [vec!["\t.cfi_startproc".to_string()], lines(code, x86::Syntax::Att)?].concat();
    lines.push("\tret".to_string());
    lines.push("\t.cfi_endproc".to_string());
    let code = lines.into_iter().map(Piece::Text).collect();
    Some(Body { code, data: Vec::new(), syntax: Syntax::Att })
}
