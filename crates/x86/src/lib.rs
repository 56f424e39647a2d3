//! x86-64 instructions: our own form and its semantics as graph operations.
//!
//! [`decode`] turns bytes into an [`Instruction`], [`Instruction::flow`] says where control goes after it, and
//! [`lift`] appends what it does to registers and memory as `program::Op`s. The form does not mention the decoder,
//! so that a frontend for compiler-internal code uses the same semantics. One table ([`table::AREAS`]) drives
//! everything: adding an instruction is one row and one function (docs/adding-an-instruction.md).
//!
//! Trust: full. A wrong row makes wrong proofs; therefore every form is run against the CPU in the tests, and
//! what is not modelled exactly is [`Unsupported`] by name.

mod form;
mod decode;
mod flow;
mod builder;
mod step;
mod flags;
mod vector;
mod semantics;
mod effects;
mod forms;
mod encode;
mod text;
pub mod table;

pub use builder::Builder;
pub use decode::{DecodeError, Decoded, Field, Fields, decode};
pub use effects::{Effects, Registers, effects};
pub use encode::{EncodeError, encode};
pub use flow::{Flow, condition, lift_target};
pub use form::{Condition, Encoding, Immediate, Instruction, Lane, Memory, Mnemonic, Operand, Repeat};
pub use forms::{Choice, Form, forms};
pub use step::{MaskedLane, Unsupported, is_masked, lift, lift_lanes};
pub use text::{Nameless, Names, Syntax, text};

#[cfg(test)]
mod tests;
