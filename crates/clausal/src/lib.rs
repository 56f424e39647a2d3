//! A checker of clausal proofs.
//!
//! A SAT solver that says "no model" has learnt clauses on its way, each of which follows from those before it by unit
//! propagation: assume that all its literals are false, and propagation finds a contradiction ("reverse unit
//! propagation", Goldberg and Novikov, DATE 2003). Listed in order they are a proof that anybody can check who can
//! propagate. [`Proof`] is such a list, with the clauses that were given and those that the solver forgot; [`check`]
//! goes through it and accepts it if every learnt clause follows and propagation contradicts itself in the end.
//!
//! Nothing here is shared with the SAT solver: no code, no data, no order of literals. Deletions only make the check
//! faster, and one of a clause that is not there is ignored: fewer clauses prove less, never more.
//!
//! Trust: an accepted proof means that the *given clauses* have no model, if `checker.rs` is right. What they say about
//! anything else is not its matter.

mod checker;
mod proof;

pub use checker::{Counts, Invalid, check};
pub use proof::{Literal, Proof};
