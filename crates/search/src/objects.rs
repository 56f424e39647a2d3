//! Functions of object files: random runs that tell them apart (`refute`), and guesses that the kernel proves (`bindings`,
//! `loops`), in the order that `session` decides.
//!
//! Trust: none, but for what `refute` says about itself.

pub(crate) mod bindings;
pub(crate) mod condition;
pub(crate) mod conditional;
pub(crate) mod constants;
pub(crate) mod inputs;
pub(crate) mod journal;
pub(crate) mod loops;
pub(crate) mod refute;
mod offered;
pub(crate) mod session;
pub(crate) mod start_state;
pub(crate) mod start_samples;
pub(crate) mod strategy;
pub(crate) mod timed;
