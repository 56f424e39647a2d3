//! Functions of object files: what is compared and claimed, and the walk over both in step.
//!
//! The theorem and its proof stand in the header of the crate. From what is claimed to what is checked: `certificate` with
//! `location` and `expression`; `lemma`, facts about other functions; `product`, the walk, with `claims` at loop heads,
//! `obligation` and `exits` for what has to hold, and the rest for how it is shown.
//!
//! Trust: full.

pub(crate) mod certificate;
pub(crate) mod effort;
pub(crate) mod pair;
pub(crate) mod identical;
pub(crate) mod same_objects;
pub(crate) mod product;
mod promised;
pub(crate) mod location;
pub(crate) mod expression;
pub(crate) mod precondition;
pub(crate) mod entailment;
mod aligned;
mod changes;
pub(crate) mod claims;
mod pointers;
mod restrict;
mod eliminate;
mod rows;
mod choices;
pub(crate) mod obligation;
mod exits;
pub mod lemma;
