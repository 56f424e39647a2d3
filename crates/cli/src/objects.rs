//! Functions of object files on the command line: reading them, start states from a file, proofs tried on the CPU, and
//! why there is none.

pub mod assume;
pub mod comparison;
pub mod input;
pub mod native;
pub mod start_states;
pub mod units;
pub mod why;
