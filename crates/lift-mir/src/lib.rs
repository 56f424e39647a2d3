//! LLVM Machine IR as `llc -stop-before/-stop-after` prints it, for x86-64, to [`machine::Function`]s.
//!
//! Trust: full. What an opcode is said to do here is believed by the checker.

mod error;
mod features;
mod registers;
mod table;
mod operand;
mod opcode;
mod lift;
mod document;

pub use document::Module;
pub use error::{Error, Fault};
