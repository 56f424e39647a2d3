//! The job of finding faster code for a function and proving it: `lockstep optimize`.
//!
//! Compilers, searches and the user propose; everybody may be wrong. A proposal becomes a file, is assembled, read again, run, timed,
//! and written out only if the kernel proves that what stands in the file does what the original does. docs/optimize.md says more.
//!
//! Trust: none, but for one thing: [`code::Code::spares`], by which a function is not put beside callers that count on registers
//! that it changes.

mod process;
pub mod request;
pub mod cpu;
mod compilers;
pub mod assembly;
mod hints;
mod mined;
mod recipe;
pub mod event;
mod seeds;
pub mod subject;
pub mod code;
mod candidate;
pub mod prove;
pub mod rank;
mod tests;
mod straight;
mod improve;
mod pieces;
pub mod report;
pub mod emit;
mod job;

pub use job::{Tools, run};
pub use seeds::Proposal;
