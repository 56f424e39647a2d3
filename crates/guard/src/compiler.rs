//! What code for a condition may use: registers that calls leave free, and the places of arguments.
//!
//! `rax`, `r10` and `r11` hold nothing that a called function is given, except `al` where the function may be variadic. Vector
//! registers from `xmm8` on hold nothing. Nothing is ever stored, the stack pointer stays where it is, and arguments keep their
//! registers; only a division borrows `rdx`.

use crate::Refusal;
use crate::listing::Listing;
use condition::Interface;
use kernel::Expression;
use program::Register;

/// May `rax` be overwritten?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Accumulator {
    /// It holds nothing at entry.
    Free,
    /// `al` bounds the vector registers that a variadic function is given.
    Kept,
}

/// Registers by their numbers in instructions.
pub(crate) const RAX: u8 = 0;
pub(crate) const RDX: u8 = 2;
const RSP: u8 = 4;
const R10: u8 = 10;
const R11: u8 = 11;

/// Compiles conditions.
pub(crate) struct Compiler<'a> {
    pub interface: &'a Interface,
    pub code: Listing,
    /// General registers that hold nothing.
    pub free: Vec<u8>,
    /// Vector registers that hold nothing.
    pub free_vectors: Vec<u8>,
}

/// A number in a general register.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Held {
    pub register: u8,
    pub owner: Owner,
    pub rest: Rest,
}

/// Who may change a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// It holds an argument.
    Caller,
    /// It holds an intermediate result.
    Guard,
}

/// What is in the bits above a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rest {
    Zeros,
    Anything,
}

/// Where an argument is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Argument {
    General(u8),
    Vector(u8),
    /// Distance from the stack pointer at entry.
    Stack(i64),
}

impl<'a> Compiler<'a> {
    pub fn new(interface: &'a Interface, accumulator: Accumulator) -> Compiler<'a> {
        let mut free = vec![R10, R11];
        if accumulator == Accumulator::Free {
            free.insert(0, RAX);
        }
        Compiler { interface, code: Listing::default(), free, free_vectors: (8..16).collect() }
    }

    /// Why a part of the condition is refused.
    pub fn refuse(&self, part: &Expression, why: impl Into<String>) -> Refusal {
        Refusal::Condition { part: part.to_string(), why: why.into() }
    }

    /// A register for an intermediate result.
    pub fn take(&mut self, part: &Expression) -> Result<u8, Refusal> {
        self.free.pop().ok_or_else(|| self.refuse(part, "it needs more registers than calls leave free"))
    }

    pub fn take_vector(&mut self, part: &Expression) -> Result<u8, Refusal> {
        self.free_vectors.pop().ok_or_else(|| self.refuse(part, "it needs more vector registers than calls leave free"))
    }

    pub fn release(&mut self, held: &Held) {
        if held.owner == Owner::Guard {
            self.free.push(held.register);
        }
    }

    /// Number of bits of a number.
    pub fn width(&self, expression: &Expression) -> Result<u16, Refusal> {
        let sort = self.interface.sort(expression).and_then(|sort| sort.width());
        sort.ok_or_else(|| self.refuse(expression, "it is no number of this function"))
    }

    /// The place of an argument.
    pub fn argument(&self, expression: &Expression, name: &str) -> Result<Argument, Refusal> {
        if let Some(offset) = name.strip_prefix("stack.").and_then(|offset| offset.parse::<i64>().ok()) {
            return Ok(Argument::Stack(offset + 8));
        }
        let register = Register::all().find(|register| register.name() == name);
        match register {
            Some(Register::General(number)) if number != RSP => Ok(Argument::General(number)),
            Some(Register::Vector(number)) if number < 8 => Ok(Argument::Vector(number)),
            _ => Err(self.refuse(expression, format!("`{name}` is no register that arguments arrive in"))),
        }
    }
}

/// What a general register that an argument arrives in holds; else nothing.
pub(crate) fn plain_argument(expression: &Expression) -> Option<u8> {
    let Expression::Named(name) = expression else { return None };
    match Register::all().find(|register| register.name() == *name)? {
        register @ Register::General(number) if Register::ARGUMENTS.contains(&register) => Some(number),
        _ => None,
    }
}
