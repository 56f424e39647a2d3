//! What is asked for.

use crate::cpu::Cpu;
use search::StartState;
use std::path::PathBuf;
use std::time::Duration;

/// What shall be small.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Time of a call, calls one after another.
    Latency,
    /// Time of many calls that do not wait for each other.
    Throughput,
    /// Bytes of code.
    Size,
    /// The price by the table of instructions, the same on every machine.
    Model,
}

/// Which program says what is right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Specification {
    /// The file that is optimised; of a C file, its unoptimised object.
    File,
    /// The unoptimised object of the C source that was given beside it.
    Source,
}

/// What conditions the fast code may need.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Conditional {
    /// None.
    No,
    /// Those that are printed with the code.
    Assumed,
}

/// When the search is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Until {
    /// After so much time.
    Time(Duration),
    /// After so much work: two such runs write the same bytes.
    Epochs(u32),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The file: `.c`, `.s`, or an object.
    pub file: PathBuf,
    /// The function.
    pub function: String,
    /// A C file from which compilers make proposals, if the file is none.
    pub source: Option<PathBuf>,
    /// Who says what is right.
    pub specification: Specification,
    /// Flags of the source: macros and folders.
    pub context: Vec<String>,
    /// What shall be small.
    pub goal: Goal,
    /// Which instructions may be used.
    pub cpu: Cpu,
    /// When it is over.
    pub until: Until,
    /// Proofs at the same time.
    pub jobs: usize,
    /// Seed of everything random.
    pub seed: u64,
    /// Start states of the user.
    pub tests: Vec<StartState>,
    /// Values of arguments when it is timed, by name or register.
    pub arguments: Vec<(String, u64)>,
    /// A condition under which alone the code must be right, in the user's words.
    pub assumed: Vec<String>,
    /// What conditions the fast code may need beyond it.
    pub conditional: Conditional,
}
