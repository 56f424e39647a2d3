//! A whole function without branches, as a task.

use crate::task::{DeadStack, Goal, Level, Output, Task};
use program::{Place, Register, Signature, Value};
use std::fmt;
use x86::{DecodeError, Flow, Instruction, Lane, Registers, decode};

/// Most instructions that new code for a whole function may have.
const MOST: usize = 16;

/// Why a function cannot be searched as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotStraight {
    /// The code branches, calls, or ends without returning: at this offset.
    Branches(usize),
    /// Bytes that are no instruction.
    Undecodable(DecodeError),
    /// An argument or a result that is not in a register.
    Convention(String),
    /// An address that depends on where the code lies.
    Address(String),
}

impl fmt::Display for NotStraight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotStraight::Branches(offset) => write!(f, "control does not go straight at +{offset:#x}"),
            NotStraight::Undecodable(error) => write!(f, "{error}"),
            NotStraight::Convention(what) => write!(f, "the search does not know where {what} lies"),
            NotStraight::Address(text) => write!(f, "`{text}` has an address that only a linker knows"),
        }
    }
}

impl std::error::Error for NotStraight {}

/// The instructions of straight-line code up to its `ret`.
pub fn straight_line(bytes: &[u8]) -> Result<Vec<Instruction>, NotStraight> {
    let (mut at, mut out) = (0, Vec::new());
    loop {
        let decoded = decode(&bytes[at..], at as u64).map_err(NotStraight::Undecodable)?;
        match decoded.instruction.flow() {
            Flow::Next => {}
            Flow::Return => return Ok(out),
            _ => return Err(NotStraight::Branches(at)),
        }
        if decoded.fields.rip_relative {
            return Err(NotStraight::Address(decoded.instruction.to_string()));
        }
        at += decoded.length;
        if !matches!(decoded.instruction.mnemonic.name(), "nop" | "endbr64") {
            out.push(decoded.instruction);
        }
    }
}

/// The task of a function with this code and signature. Constant fields that a relocation fills in are the caller's to
/// refuse.
pub fn function_task(bytes: &[u8], signature: &Signature, level: Level, goal: Goal) -> Result<Task, NotStraight> {
    let original = straight_line(bytes)?;
    if let Some(what) = &signature.unsupported {
        return Err(NotStraight::Convention(what.clone()));
    }
    let mut arguments = Registers::NONE;
    for value in &signature.arguments {
        match value.place {
            Place::Register(register) => arguments.insert(register),
            Place::Stack(offset) => {
                return Err(NotStraight::Convention(format!("the argument at [rsp+{:#x}]", offset + 8)));
            }
        }
    }
    let results = signature.results.iter().map(result).collect::<Result<Vec<Output>, NotStraight>>()?;
    let mut task = Task::of_function(original, arguments, results);
    task.slots = task.original.len().clamp(6, MOST);
    (task.level, task.goal, task.dead_below_stack) = (level, goal, DeadStack::Yes);
    Ok(task)
}

fn result(value: &Value) -> Result<Output, NotStraight> {
    match value.place {
        Place::Register(register @ (Register::General(_) | Register::Vector(_))) => {
            Ok(Output::Lane(Lane { register, offset: 0, bits: 8 * value.bytes }))
        }
        place => Err(NotStraight::Convention(format!("the result at {place:?}"))),
    }
}
