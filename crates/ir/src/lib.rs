//! Programs as a C compiler lowers them, executed over the values of `updates`.
//!
//! The compiler says what C means: which type an operation has, how structures are laid out, what a macro, an enumeration or an
//! initial value is. This crate has the form of what it says ([`Module`]: functions of blocks, instructions and
//! registers) and a machine that runs a function with known control ([`execute`]). Integers, addresses and control are numbers;
//! what comes from the caller's memory is a value of an [`updates::Domain`].
//!
//! An integer is a mathematical number of some type, of which a register holds the low bits; signed and unsigned operations take it as the
//! number that they mean. So nothing has to be known about the types of C. A condition on data runs both ways to where they meet
//! ([`fork`]).
//!
//! What cannot be said exactly (bytes of a symbolic value, an address that depends on data, an operation that is not known) stops the run.
//!
//! Trust: full. `kernel` compares the ends of two runs.

mod module;
mod datum;
mod region;
mod values;
mod machine;
mod integers;
mod memory;
mod fork;
mod linear;
mod stride;
mod calls;
mod entry;

pub use datum::Leaf;
pub use entry::{Ended, Held, Place, Setting, execute};
pub use machine::Pace;
pub use module::{
    Block, Callee, Cell, Comparison, Conversion, Edge, End, Function, Global, Inst, IntOp, Kind, Known, Linkage,
    Module, Parameter, Start,
};
