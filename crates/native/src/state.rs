//! Machine states, and what comes out of a run.

use std::fmt;

/// The registers that a run begins and ends with.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8–r15.
    pub general: [u64; 16],
    /// The flags register; only CF, PF, AF, ZF, SF, DF and OF are loaded and saved.
    pub flags: u64,
    /// Keeps the vectors aligned.
    padding: [u64; 3],
    /// ymm0–ymm15 as words, least significant first; only the low half without AVX.
    pub vector: [[u64; 4]; 16],
}

impl State {
    /// Bits of the flags register that a run sees: CF, PF, AF, ZF, SF, DF, OF.
    pub const FLAGS: u64 = 0xcd5;
}

/// Start of a run: registers and the content of the scratch memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    /// Registers.
    pub state: State,
    /// Content of the scratch memory; missing bytes are zero.
    pub memory: Vec<u8>,
}

/// End of a run.
// Nearly every value is the large variant: boxing it would only add allocations.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The code ran to its end.
    Done {
        /// Registers.
        state: State,
        /// Content of the memory: the scratch memory, or the blocks of a function run one after another.
        memory: Vec<u8>,
    },
    /// The CPU stopped it.
    Fault(Fault),
    /// It did not end in time.
    Timeout,
    /// The child died otherwise: the code made a system call or overwrote the child.
    Killed,
}

/// A fault of the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Kind.
    pub signal: Signal,
    /// The address that the kernel reports with it.
    pub address: u64,
}

/// Signals that stand for faults of the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Signal {
    /// No or no permitted memory, or a misaligned vector access.
    Segv,
    /// A memory object's end.
    Bus,
    /// Division.
    Fpe,
    /// No instruction.
    Ill,
    /// `int3` or single step.
    Trap,
}

impl Signal {
    pub(crate) const ALL: [(Signal, libc::c_int); 5] = [
        (Signal::Segv, libc::SIGSEGV),
        (Signal::Bus, libc::SIGBUS),
        (Signal::Fpe, libc::SIGFPE),
        (Signal::Ill, libc::SIGILL),
        (Signal::Trap, libc::SIGTRAP),
    ];

    pub(crate) fn of_number(number: u64) -> Option<Signal> {
        Signal::ALL.iter().find(|(_, n)| *n as u64 == number).map(|(signal, _)| *signal)
    }
}

/// Why nothing could be run.
#[derive(Debug)]
pub enum NativeError {
    /// The operating system refused something.
    System {
        /// What.
        what: &'static str,
        /// Its answer.
        error: std::io::Error,
    },
    /// The code or the number of states exceeds the space made for it.
    TooLarge,
    /// The system cannot confine code, in words.
    Unavailable(&'static str),
    /// The process is gone: its code made a system call.
    Killed,
    /// It did not get enough processor time to finish within its limit by the clock.
    Busy,
}

impl NativeError {
    pub(crate) fn last(what: &'static str) -> NativeError {
        NativeError::System { what, error: std::io::Error::last_os_error() }
    }
}

impl fmt::Display for NativeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NativeError::System { what, error } => write!(f, "cannot run native code: {what}: {error}"),
            NativeError::TooLarge => write!(f, "cannot run native code: too large"),
            NativeError::Unavailable(why) => write!(f, "cannot run native code: {why}"),
            NativeError::Killed => write!(f, "the code made a system call"),
            NativeError::Busy => write!(f, "cannot run native code: the machine is too busy"),
        }
    }
}

impl std::error::Error for NativeError {}
