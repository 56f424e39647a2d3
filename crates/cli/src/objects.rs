//! Functions of object files on the command line: reading them, start states from a file, proofs tried on the CPU, guards, and
//! why there is none.

pub mod assume;
pub mod comparison;
pub mod guard;
pub mod conditional;
pub mod input;
pub mod interface;
pub mod native;
pub mod start_states;
pub mod units;
pub mod why;
