//! Runs machine code on the real CPU, in a forked child with limits.
//!
//! [`Runner`] runs a snippet of straight-line code on many machine states: the tests of the instruction semantics
//! ask it what the CPU does. [`run_function`] runs a whole function on one state with memory at chosen addresses:
//! witnesses are replayed with it.
//!
//! [`batch`] runs many small programs on the same inputs, for a search.
//!
//! [`Sandbox`] runs code of files that nobody vouches for; [`timing`] times calls of functions in one.
//!
//! The child shares a region of memory with us, loads the state with a small
//! trampoline, and after its setup may only read, write and exit (seccomp), so that code
//! under test cannot touch anything outside. A fault is caught by a signal handler in the child, an endless loop
//! ends when we kill the child.
//!
//! Trust: none for proofs; the answers are evidence in tests and beside witnesses. This crate is the only home of
//! `unsafe` in the workspace.

mod state;
mod region;
mod trampoline;
mod child;
mod runner;
mod function;
mod sandbox;
pub mod batch;
pub mod timing;
pub mod traced;

pub use function::{Access, Block, FunctionRun, run_function};
pub use runner::{Runner, Scratch, run_batch};
pub use sandbox::{Clock, Image, Limits, Processor, Sandbox, Segment, Stop, Vectors, Zeros};
pub use state::{Fault, Input, NativeError, Outcome, Signal, State};
