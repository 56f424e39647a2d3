//! Why a certificate was not accepted.
//!
//! Whoever reacts to a rejection looks at variants; sentences are made here, for people only.

use crate::objects::claims::FailedClaim;
use crate::objects::obligation::Failure;
use program::{Assumption, FaultKind, Register, Side};
use std::fmt;
use symbolic::{Event, Stuck};

/// Why a certificate was not accepted.
#[derive(Clone, Debug)]
pub enum Rejection {
    /// The certificate itself makes no sense.
    Malformed(String),
    /// Symbolic execution could not go on.
    Stuck(Stuck),
    /// A frame address is used as data on both sides and no local object is claimed there.
    Unbound {
        /// Offset in the original's frame.
        original: i64,
        /// Offset in the candidate's frame.
        candidate: i64,
    },
    /// Claims about loops that do not hold; without them more may be provable than with them.
    Claims(Vec<FailedClaim>),
    /// Something that must hold could not be shown.
    Obligation {
        /// What.
        what: Obligation,
        /// Instruction addresses of the two sides.
        places: [u64; 2],
        /// Why.
        failure: Failure,
    },
}

/// What must hold of two programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obligation {
    /// Only what the user allows is assumed.
    Allowed(Assumption),
    /// A name means the same object or function in both.
    SameObject {
        /// What must be the same of it.
        property: &'static str,
        /// The name.
        name: String,
    },
    /// Both sides are at events that go together.
    SameEvent([EventKind; 2]),
    /// Memory is the same.
    Memory {
        /// At which kind of event.
        at: MemoryAt,
        /// What of it could not be shown.
        part: MemoryPart,
    },
    /// A local object that changes ahead does not escape meanwhile.
    KeepsChanging,
    /// What was known where a loop was entered holds again.
    EnteredAgain,
    /// One edge leads to where the original rests.
    OneEdge,
    /// Something leaves a loop that the original goes round alone.
    IsLeft,
    /// A loop that this side goes round alone ends.
    Ends(Side),
    /// Loops of the candidate alone come one after the other.
    AloneInOrder,
    /// The candidate does not fault.
    NoFault(FaultKind),
    /// The candidate reads, here, what the original accesses.
    UnmadeRead(String),
    /// The candidate writes, here, what the original writes.
    UnmadeWrite(String),
    /// The candidate accesses blocks of memory that the original accesses.
    UnmadeBlock,
    /// The candidate's `memcpy` copies between blocks that are apart.
    Overlap,
    /// The candidate calls library functions on what the original calls them on.
    UnmadeCall,
    /// A call has the same shape on all edges.
    OneShape,
    /// The same function is called.
    SameCallee([String; 2]),
    /// A call goes somewhere.
    Target,
    /// The same address is called.
    SameTarget,
    /// Both call by name, or neither.
    NamedAlike,
    /// An argument, counted from one, is the same.
    Argument {
        /// The function called.
        callee: String,
        /// Which argument.
        number: usize,
    },
    /// What a function that takes values instead of addresses is given is the same.
    Given {
        /// The function called.
        callee: String,
        /// Where.
        register: Register,
    },
    /// A variadic callee saves enough vector registers.
    VectorCount,
    /// Escaped objects of a side are in its frame at a call.
    InFrame(Side),
    /// The candidate leaves alone the stack arguments that it passes on.
    PassedOn,
    /// The stack is aligned at a call.
    StackAligned,
    /// Code follows a call that returns.
    CodeAfterCall,
    /// The result is the same.
    Result,
    /// The candidate gives its caller this register back.
    Restored(Register),
    /// The candidate leaves the direction flag clear.
    DirectionFlag,
}

/// What a side does at an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventKind {
    /// Calls a function.
    Call,
    /// Returns.
    Return,
    /// Is at the head of a loop.
    Loop,
}

/// Where memory is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemoryAt {
    /// At a pair of loop heads.
    LoopHead,
    /// At the call of this function.
    Call(String),
    /// At the return.
    Return,
}

/// Which memory could not be shown to be the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MemoryPart {
    /// All of it.
    Whole,
    /// Bytes at this address.
    Bytes(String),
    /// A block whose length is not known.
    Block,
    /// Two memories that do not come from one.
    Roots,
}

impl From<Event> for EventKind {
    fn from(event: Event) -> EventKind {
        match event {
            Event::Call(_) => EventKind::Call,
            Event::Return(_) => EventKind::Return,
            Event::Head(_) => EventKind::Loop,
        }
    }
}

impl Rejection {
    /// The places where the original is at a loop head and the candidate at something that does not go with it.
    pub fn lone_loop(&self) -> Option<[u64; 2]> {
        match self {
            Rejection::Obligation { what: Obligation::SameEvent([EventKind::Loop, _]), places, .. } => Some(*places),
            _ => None,
        }
    }

    /// Does the candidate read what the original is not known to access?
    pub fn is_unmade_read(&self) -> bool {
        matches!(self, Rejection::Obligation { what: Obligation::UnmadeRead(_), .. })
    }
}

impl From<Stuck> for Rejection {
    fn from(stuck: Stuck) -> Rejection {
        Rejection::Stuck(stuck)
    }
}

impl Obligation {
    /// Is it that two values or memories are the same? The words of the others say themselves what is wrong.
    pub fn is_equality(&self) -> bool {
        use Obligation::*;
        match self {
            Memory { .. } | SameTarget | Argument { .. } | Given { .. } | Result | EnteredAgain | VectorCount => true,
            Allowed(_)
            | SameObject { .. }
            | SameEvent(_)
            | KeepsChanging
            | OneEdge
            | IsLeft
            | Ends(_)
            | AloneInOrder
            | NoFault(_)
            | UnmadeRead(_)
            | UnmadeWrite(_)
            | UnmadeBlock
            | Overlap
            | UnmadeCall
            | OneShape
            | SameCallee(_)
            | Target
            | NamedAlike
            | InFrame(_)
            | PassedOn
            | StackAligned
            | CodeAfterCall
            | Restored(_)
            | DirectionFlag => false,
        }
    }
}

/// What is wrong, in words.
impl fmt::Display for Obligation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obligation::Allowed(assumption) => write!(f, "the proof needs {assumption}"),
            Obligation::SameObject { property, name } => write!(f, "the {property} of `{name}` is another"),
            Obligation::SameEvent([original, candidate]) => {
                write!(f, "the original {original}, the candidate {candidate}")
            }
            Obligation::Memory { at, part } => write!(f, "{at}{part}"),
            Obligation::KeepsChanging => f.write_str("a local object that escapes while it changes"),
            Obligation::EnteredAgain => f.write_str("what was known where the loop was entered"),
            Obligation::OneEdge => f.write_str("several edges where the original rests"),
            Obligation::IsLeft => f.write_str("a loop of the original that nothing leaves"),
            Obligation::Ends(side) => write!(f, "a loop of the {} that may never end", side.name()),
            Obligation::AloneInOrder => f.write_str("loops of the candidate alone that are not in order"),
            Obligation::NoFault(kind) => write!(f, "the candidate may fault ({})", kind.name()),
            Obligation::UnmadeRead(address) => {
                write!(f, "the candidate reads {address}, which the original does not")
            }
            Obligation::UnmadeWrite(address) => {
                write!(f, "the candidate writes {address}, which the original does not")
            }
            Obligation::UnmadeBlock => f.write_str("the candidate accesses a block that the original does not"),
            Obligation::Overlap => f.write_str("the candidate copies with memcpy what may overlap"),
            Obligation::UnmadeCall => {
                f.write_str("the candidate calls a library function on what the original does not")
            }
            Obligation::OneShape => f.write_str("the same call has two shapes"),
            Obligation::SameCallee([original, candidate]) => {
                write!(f, "the original calls {original}, the candidate calls {candidate}")
            }
            Obligation::Target => f.write_str("a call without a target"),
            Obligation::SameTarget => f.write_str("the address called"),
            Obligation::NamedAlike => f.write_str("one side calls a function by name, the other a pointer"),
            Obligation::Argument { callee, number } => write!(f, "argument {number} of {callee}"),
            Obligation::Given { callee, register } => write!(f, "what {callee} is given in {}", register.name()),
            Obligation::VectorCount => f.write_str("number of vector arguments"),
            Obligation::InFrame(side) => {
                write!(f, "a local object of the {} is no longer in its frame at a call", side.name())
            }
            Obligation::PassedOn => write!(f, "the stack arguments that are passed on"),
            Obligation::StackAligned => f.write_str("the candidate's stack is misaligned at a call"),
            Obligation::CodeAfterCall => f.write_str("the candidate's code ends after a call that returns"),
            Obligation::Result => f.write_str("the result"),
            Obligation::Restored(register) => write!(f, "the candidate does not restore {}", register.name()),
            Obligation::DirectionFlag => f.write_str("the candidate leaves the direction flag set"),
        }
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EventKind::Call => "calls",
            EventKind::Return => "returns",
            EventKind::Loop => "loops",
        })
    }
}

impl fmt::Display for MemoryAt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryAt::LoopHead => f.write_str("memory at a loop head"),
            MemoryAt::Call(callee) => write!(f, "memory at the call of {callee}"),
            MemoryAt::Return => f.write_str("memory at the return"),
        }
    }
}

impl fmt::Display for MemoryPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MemoryPart::Whole => Ok(()),
            MemoryPart::Bytes(address) => write!(f, ", at {address}"),
            MemoryPart::Block => f.write_str(": a block of variable length"),
            MemoryPart::Roots => f.write_str(": unrelated memories"),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rejection::Malformed(what) => f.write_str(what),
            Rejection::Stuck(Stuck::Unsupported { side, address, what }) => {
                write!(f, "{what} at +{address:#x} of the {}", side.name())
            }
            Rejection::Stuck(Stuck::Loop { side, address }) => {
                write!(f, "loop without an invariant at +{address:#x} of the {}", side.name())
            }
            Rejection::Stuck(Stuck::Unbound { side, address, .. }) => {
                write!(f, "no local object is claimed for the frame address at +{address:#x} of the {}", side.name())
            }
            Rejection::Stuck(Stuck::OutOfBudget) => f.write_str("out of time or memory"),
            Rejection::Claims(failed) => write!(f, "{} claims about loops do not hold", failed.len()),
            Rejection::Unbound { .. } => f.write_str("no local object is claimed for a frame address of both sides"),
            Rejection::Obligation { what, places: [ours, theirs], failure } => {
                write!(f, "{what} at +{ours:#x} of the original, +{theirs:#x} of the candidate: {failure}")
            }
        }
    }
}
