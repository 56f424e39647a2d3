//! What a run did.

use super::callee::CalleeInfo;
use super::memory::Change;
use super::program::{ByteUse, Extent};
use program::{FaultKind, Register};
use std::rc::Rc;
use term::Bits;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Returned.
    Return,
    /// Called a function that does not return.
    NoReturn,
    /// Faulted, at an instruction.
    Fault(FaultKind, u64),
    /// Accessed an address that no program may access: the address, and the instruction.
    BadAddress(u64, u64),
    /// Ran out of fuel.
    Fuel,
    /// Came back to a point with nothing changed, so it never ends. Only looked for in candidates.
    Forever,
    /// Something the interpreter does not do.
    Unsupported,
}

/// A value and its undefined bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed {
    /// The value.
    pub bits: Bits,
    /// A bit for each byte that nobody defined.
    pub taint: u64,
}

/// How an argument register came to its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SetUp {
    /// It holds what it held at entry.
    Entry,
    /// Written since the last call and not read since.
    Written(Extent),
    /// Anything else.
    Unknown,
}

/// Whether `rax` holds a result at the return.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ResultUse {
    /// It was not written since the last call, or it was used otherwise.
    None,
    /// It was written and not used.
    Possible,
    /// It was written behind the last branch, and for nothing else.
    Certain,
}

/// A value in the general form of a library call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormArgument {
    /// A number or address.
    Word(u64),
    /// Read-only bytes.
    Text(Vec<u8>),
}

/// The general form of a library call: another call that does the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Form {
    /// Who is called.
    pub callee: &'static str,
    /// With what.
    pub arguments: Vec<FormArgument>,
}

/// Bytes behind a pointer to a local object that a call passes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pointed {
    /// Which argument register (position in [`Register::ARGUMENTS`]).
    pub argument: usize,
    /// The bytes from the pointer to the end of the object, and whether each is defined.
    pub bytes: Vec<(u8, bool)>,
}

/// A call that is an event.
#[derive(Clone, Debug)]
pub struct Called<'a> {
    /// Callee.
    pub callee: Rc<CalleeInfo<'a>>,
    /// General argument registers, vector ones, then `rax`.
    pub registers: Vec<Passed>,
    /// How the general argument registers came to their values.
    pub set_up: [SetUp; 6],
    /// First outgoing stack words.
    pub stack: Vec<Passed>,
    /// General form, if it differs.
    pub form: Option<Form>,
    /// The result in `rax`.
    pub result: u64,
    /// Changed words of the world at the call.
    pub changes: Vec<Change>,
    /// Content of local objects whose address is passed.
    pub pointed: Vec<Pointed>,
    /// Was the stack aligned?
    pub aligned: bool,
    /// What the callee writes.
    pub writes: Vec<Write>,
    /// Is the result looked at right behind the call?
    pub result_used: bool,
    /// Instruction.
    pub place: u64,
}

impl Called<'_> {
    /// Position of a register in [`Called::registers`].
    pub fn position(register: Register) -> Option<usize> {
        match register {
            Register::Vector(i) if i < 8 => Some(6 + usize::from(i)),
            Register::General(0) => Some(14),
            other => Register::ARGUMENTS.iter().position(|r| *r == other),
        }
    }
}

/// Where a callee writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// At an address of the world.
    World(u64),
    /// Into a local object that a call passed, by the number of that pointer, at this offset from it.
    Passed(usize, u64),
    /// At this offset from the original's entry stack pointer.
    Frame(i64),
}

/// Bytes that a callee writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Write {
    /// Where.
    pub target: Target,
    /// What.
    pub bytes: Vec<u8>,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Trace<'a> {
    /// How it ended.
    pub end: End,
    /// Calls in order.
    pub calls: Vec<Called<'a>>,
    /// `rax`, `rdx`, `xmm0`, `xmm1` at the end.
    pub results: [Passed; 4],
    /// A register that should have been left alone and was not.
    pub spoiled: Option<Register>,
    /// Changed words of the world at the end.
    pub changes: Vec<Change>,
    /// The first thing that makes the run no evidence, if it is an original's.
    pub undefined: Option<String>,
    /// Where it accessed memory that no program has, if it did.
    pub wild: Option<u64>,
    /// Where control was last.
    pub place: u64,
    /// A bit for each point that was entered.
    pub entered: Vec<u64>,
    /// What compilers may count on and this run of an original violates: it is no witness.
    pub doubtful: Option<&'static str>,
    /// Pure calls that nobody evaluated: their results are made up. A number for each.
    pub made_up: Vec<u64>,
    /// Bytes of the world that were loaded one at a time and are not 0 or 1, and what for.
    pub odd_bytes: Vec<(u64, ByteUse)>,
    /// Was a local function called, of which compilers know more than we?
    pub local_calls: bool,
    /// Did a result matter of which only the sign is defined?
    pub sign_only: bool,
    /// Did an original access a local variable at an address that is computed?
    pub computed_locals: bool,
    /// Freed memory of unknown extent, and heap objects that are gone.
    pub freed: Vec<(u64, u64)>,
    /// Does `rax` hold a result, by the look of the code?
    pub result: ResultUse,
    /// Values made up for what the architecture leaves undefined.
    pub unknowns: u64,
    /// Points entered.
    pub steps: usize,
    /// States at watched points.
    pub visits: Vec<super::watch::Visit>,
    /// Accesses behind the last of them, the first ones.
    pub touches: Vec<super::watch::Touch>,
}

impl Trace<'_> {
    /// The final value of a result register.
    pub fn result(&self, register: Register) -> Option<Passed> {
        match register {
            Register::General(0) => Some(self.results[0]),
            Register::General(2) => Some(self.results[1]),
            Register::Vector(0) => Some(self.results[2]),
            Register::Vector(1) => Some(self.results[3]),
            _ => None,
        }
    }
}
