//! What code shows of the values that it sets up for calls, by its form alone: no terms are executed here.
//!
//! `evidence` follows registers and stack words that were written for nobody else, `slots` and `spills` tell those of the frame
//! from arguments, `overwritten` finds code that takes its callees to keep what the convention lets them overwrite.
//!
//! Trust: full. What is taken for a temporary here is not compared at a call.

pub(crate) mod evidence;
mod overwritten;
mod slots;
mod spills;

pub(crate) use evidence::Evidence;
pub use overwritten::reads_what_callees_overwrite;
pub(crate) use slots::Slots;
pub(crate) use spills::Spills;
