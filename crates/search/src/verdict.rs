//! What lockstep says about one pair of functions.

use crate::Reason;
use kernel::{Certificate, CheckedProof};
use program::SourceLine;
use term::Bits;

/// The answer for one pair of functions.
#[derive(Debug)]
pub enum Verdict {
    /// The kernel accepted a certificate.
    Equivalent(CheckedProof),
    /// An input, replayed, on which the two functions disagree.
    Different(Box<Witness>),
    /// Neither, and why.
    Unknown(Reason),
}

/// What a witness shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WitnessKind {
    /// An input on which results differ.
    Input,
    /// An input on which results are different NaNs.
    OperandOrder,
    /// An input on which the candidate does something undefined.
    Undefined,
    /// Iterations that conflict.
    Race,
    /// A use that gets another value, whatever the instructions compute.
    Uninterpreted,
}

impl WitnessKind {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            WitnessKind::Input => "input",
            WitnessKind::OperandOrder => "operand-order",
            WitnessKind::Undefined => "undefined",
            WitnessKind::Race => "race",
            WitnessKind::Uninterpreted => "uninterpreted",
        }
    }
}

/// What a difference needs, besides an input.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WitnessClass {
    /// Nothing.
    Plain,
    /// Two arguments that point into one object, so that what is written through one is read through the other.
    Overlap,
    /// A callee that writes to memory.
    CalleeWrites,
    /// Something that C leaves undefined, or open.
    Undefined,
}

impl WitnessClass {
    /// All of them.
    pub const ALL: [WitnessClass; 4] =
        [WitnessClass::Plain, WitnessClass::Overlap, WitnessClass::CalleeWrites, WitnessClass::Undefined];

    /// Name in reports and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            WitnessClass::Plain => "plain",
            WitnessClass::Overlap => "overlap",
            WitnessClass::CalleeWrites => "callee-writes",
            WitnessClass::Undefined => "undefined",
        }
    }

    /// What to tell beside a difference that needs something.
    pub fn in_words(self) -> Option<&'static str> {
        match self {
            WitnessClass::Plain => None,
            WitnessClass::Overlap => Some("needs two arguments that point into one object (class overlap)"),
            WitnessClass::CalleeWrites => Some("needs a callee that writes what is shown (class callee-writes)"),
            WitnessClass::Undefined => Some("needs what C leaves undefined or open (class undefined)"),
        }
    }
}

impl Witness {
    /// What the difference needs. Witnesses are minimal: what could be left out, and separate pointers that could be, are.
    pub fn class(&self) -> WitnessClass {
        if matches!(self.kind, WitnessKind::Undefined | WitnessKind::OperandOrder | WitnessKind::Race) {
            return WitnessClass::Undefined;
        }
        if self.calls.iter().any(|call| !call.writes.is_empty()) {
            return WitnessClass::CalleeWrites;
        }
        let pointers: Vec<u64> =
            self.registers.iter().filter_map(|r| r.value.to_u64()).filter(|v| buffer(*v).is_some()).collect();
        let overlap = pointers.iter().enumerate().any(|(i, p)| pointers[..i].iter().any(|q| buffer(*q) == buffer(*p)));
        if overlap { WitnessClass::Overlap } else { WitnessClass::Plain }
    }
}

/// Which of the buffers that pointers lead to an address is in.
fn buffer(address: u64) -> Option<u64> {
    let (start, size) = (interpreter::BUFFERS, interpreter::BUFFER_SPACING);
    let number = address.checked_sub(start)? / size;
    (number < MOST_BUFFERS).then_some(number)
}

/// Buffers that runs have, and more.
const MOST_BUFFERS: u64 = 256;

/// A concrete input on which the two functions disagree. It exists only after the interpreter has replayed it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Witness {
    /// What it shows.
    pub kind: WitnessKind,
    /// Registers that matter, with the parameter they carry if known.
    pub registers: Vec<WitnessRegister>,
    /// Memory that matters.
    pub memory: Vec<WitnessBytes>,
    /// Results assumed of unknown callees, in order of the calls.
    pub calls: Vec<WitnessCall>,
    /// What the original does.
    pub original: Behaviour,
    /// What the candidate does.
    pub candidate: Behaviour,
    /// Who replayed it: `interpreter`, `cpu`.
    pub replayed: Vec<&'static str>,
    /// The mistake of a register allocator that it shows.
    pub allocation: Option<Box<crate::regalloc::AllocationError>>,
}

/// A register of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessRegister {
    /// Name of the register.
    pub name: String,
    /// Name of the parameter.
    pub parameter: Option<String>,
    /// Value at entry.
    pub value: Bits,
}

/// Bytes of memory of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessBytes {
    /// Address of the first byte.
    pub address: u64,
    /// Object that holds them, e.g. `g+8`.
    pub object: Option<String>,
    /// The bytes at entry.
    pub bytes: Vec<u8>,
}

/// A call of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WitnessCall {
    /// Callee.
    pub callee: String,
    /// Arguments, in registers or otherwise, as text.
    pub arguments: Vec<String>,
    /// Assumed result, as text.
    pub result: String,
    /// What the callee is assumed to write.
    pub writes: Vec<WitnessBytes>,
}

/// What one function did on the witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Behaviour {
    /// In words, such as `returns 1` or `calls puts("x")`.
    pub summary: String,
    /// Where the difference shows.
    pub line: Option<SourceLine>,
}

/// Counts that do not depend on the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Statistics {
    /// Product points.
    pub points: usize,
    /// Obligations discharged.
    pub obligations: usize,
    /// Questions that reached a solver.
    pub solver_calls: usize,
    /// Loops of the original.
    pub loops: usize,
    /// Correlations of loops tried.
    pub plans: usize,
    /// Guesses made about loops.
    pub guesses: usize,
    /// Guesses that were left in the last certificates.
    pub survivors: usize,
}

/// Everything about one pair.
#[derive(Debug)]
pub struct Outcome {
    /// The answer.
    pub verdict: Verdict,
    /// Which strategy found it.
    pub strategy: Option<&'static str>,
    /// Counts.
    pub statistics: Statistics,
    /// The certificate behind an `equivalent`.
    pub certificate: Option<Certificate>,
    /// What was run of both programs themselves, or is to be.
    pub native: NativeRuns,
    /// The condition that was inferred, under which an `equivalent` holds.
    pub inferred: Option<crate::Inferred>,
    /// The one condition without which the programs would agree on the input of a `different`; no verdict.
    pub hint: Option<crate::Hint>,
    /// What was tried, if [`crate::Options::journal`] asks for it.
    pub journal: crate::Journal,
}

/// Runs of both programs on the CPU, beside a proof.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NativeRuns {
    /// Inputs to be run.
    pub samples: Vec<crate::Sample>,
    /// Inputs on which both were run and agree.
    pub inputs: usize,
    /// Why there were none, in words, if somebody asked for them.
    pub reason: Option<String>,
}

/// The outcome of a pair of which nothing is known, and why.
pub(crate) fn unknown(reason: Reason) -> Outcome {
    Outcome {
        verdict: Verdict::Unknown(reason),
        strategy: None,
        statistics: Statistics::default(),
        certificate: None,
        native: NativeRuns::default(),
        journal: crate::Journal::default(),
        inferred: None,
        hint: None,
    }
}
