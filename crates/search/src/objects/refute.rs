//! Refutation: runs both programs on concrete inputs until they disagree.
//!
//! An input counts only if the original's run is defined: nothing that a proof may assume was violated. A difference is
//! made small, replayed, and only then shown.
//!
//! Trust: none for finding, full for what [`compare`] and [`Runner::try_input`] call a difference: it is reported as
//! one.

mod compare;
mod family;
mod minimise;
mod models;
mod repair;
mod replay;
mod runner;
mod samples;
mod witness;

pub(crate) use replay::Refutation;
pub(crate) use runner::{Found, Judged, Runner};
pub use samples::{Sample, usual_pages};
