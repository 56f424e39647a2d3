//! Attacks on lockstep's proofs: a generator of pairs with a known answer, and the command that runs it.
//!
//! An area writes random C programs in which it marks *spots*: places with a right text and wrong ones. The original is the
//! right text, compiled; the candidate is the same text compiled otherwise, or a text with one spot changed. Whatever lockstep
//! calls `equivalent` is run: both sides, linked with one harness that plays the rest of the program, on seeded inputs that
//! include those which make rare conditions true. What differs there is a wrong proof, and is made small.
//!
//! Trust: none, but it should share nothing with what it attacks: real compilers make the calls, a real linker the addresses.
//! Start at [`command`], then [`batch`].

mod areas;
mod batch;
mod builder;
mod case;
mod command;
pub mod kernels;
mod minimise;
mod mutate;
mod native;
mod random;
mod spot;
mod summary;
mod toolchain;
mod types;
mod verdicts;

#[cfg(test)]
mod tests;

pub use areas::{AREAS, Area};
pub use command::{Options, run, write_batch};
pub use mutate::{Mutants, run as run_mutants};
pub use summary::{Counts, Summary};
pub use verdicts::Prover;
