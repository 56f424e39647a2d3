//! Conditions on start states, for concrete inputs: does an input satisfy them ([`holds`]), and what is the nearest one that does
//! ([`project`])?
//!
//! A proof under a condition is about the states that satisfy it. An input that does not says nothing: it is no witness, no evidence,
//! and no row from which invariants are guessed. Few random inputs satisfy `n % 16 == 0` and `q == p + 1`, so they are changed until they
//! do.
//!
//! Trust: of [`holds`] what that of a run is: a `different` under a condition rests on it. [`project`] has none.

mod entry;
mod project;

pub(crate) use entry::{Entry, holds};
pub(crate) use project::project;

#[cfg(test)]
mod tests;
