//! Object code with known control, executed over the values of `updates`.
//!
//! The machine code of a kernel with constant bounds is one fixed sequence of loads, operations and stores. Integers,
//! addresses and control are numbers here; floating-point values and array contents are values of an
//! [`updates::Domain`], so that C and machine code meet in the same hashes or terms. Branches on data are followed on both
//! sides (`fork`). What does not fit (an address that depends on data, bit tricks on floats) becomes a *lost* value, and using one where it matters is
//! reported with the instruction's place.
//!
//! The C program says how the function is called and which cells the caller sees ([`Code::execute`]). Arrays get concrete
//! addresses, so a run says something about one [`Placement`]; `kernel` runs more than one.
//!
//! Trust: full. `kernel` compares these executions with those of C programs.

mod lane;
mod values;
mod expression;
mod memory;
mod interface;
mod machine;
mod fork;
mod calls;

pub use machine::{Code, Placement};
