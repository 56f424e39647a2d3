//! Guards: code that checks a condition and goes to the candidate where it holds, and to the original elsewhere.
//!
//! A proof under a condition is of use to a program only if somebody checks the condition. [`build`] makes an object from the
//! original's file in which the function's name stands for that check, followed by the candidate's code; the original's code stays. The
//! check writes no memory, keeps the frame and the arguments, and uses registers that calls leave free.
//!
//! Trust: none. The object is an ordinary candidate: who writes it has the kernel prove it equivalent to the original, without a condition, from its
//! bytes. A wrong check, a cell that the original need not read, a relocation that went astray: all are rejected proofs.

mod refusal;
mod listing;
mod instruction;
mod compiler;
mod sum;
mod number;
mod float;
mod truth;
mod dispatcher;
mod elf;
mod piece;
mod import;
mod unwind;
mod join;
mod compose;
mod assembly;
mod source;

#[cfg(test)]
mod tests;

pub use assembly::assembly;
pub use compose::{Part, compose};
pub use join::{Guarded, GuardedObject, Variadic, build};
pub use piece::ObjectPiece;
pub use refusal::Refusal;
pub use source::source;
