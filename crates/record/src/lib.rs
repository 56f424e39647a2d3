//! Start states of a function, from a program that runs.
//!
//! The program runs under our eyes ([`native::traced`]) with a breakpoint at the function's entry. At each hit the registers are read,
//! and the interpreter runs the function from that state on the memory of the process that stands: what it looks at is what the start
//! state needs ([`follower`]). The process itself goes on as if nothing had happened. A call of another function ends what can be followed: the
//! state is *partial* then. Of all hits a few are kept, some of each path through the function ([`kept`]), and written as tests
//! ([`tests_file`]).
//!
//! Of a sample of the hits the process is stopped again where the function returns: what it has returned and written must be what the
//! interpreter said. That tries the interpreter and the lifter on real states.
//!
//! Trust: none. Start states are only inputs; no `unsafe` here.

mod error;
mod modules;
mod target;
mod pages;
mod follower;
mod kept;
mod tests_file;
mod processes;
mod recorder;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use native::traced::Ended;
pub use recorder::{Forks, Limits, Recording, record};
pub use tests_file::render;
