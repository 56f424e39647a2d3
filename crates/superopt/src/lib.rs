//! The search for faster code: a function without branches, or a piece of one, given by instructions and start states.
//!
//! [`Task`] says what the code must leave behind, [`State`] is one start, and [`Search`] proposes other code that does
//! the same on all states it knows. Two methods look for it, since neither covers the other: stochastic chains
//! ([`chain`]) and enumeration of short sequences ([`enumerate`]). Both ask an evaluator ([`lanes`]) that runs a program on
//! 32 states at once and, after a change, runs again only what the change reaches. What an instruction does comes
//! from its row in `x86` ([`template`]); there is no second table.
//!
//! Trust: none. A [`Proposal`] is code that passed tests. Whoever uses it proves it, and tells the search of every state that
//! refutes one ([`Search::add_state`]).
//!
//! The result depends on the task, the states, the seed and the number of epochs, and on nothing else: threads only
//! run islands side by side.

mod cells;
mod random;
mod task;
mod steps;
mod template;
mod operands;
mod nature;
mod pool;
mod memory;
mod lanes;
mod evaluate;
mod price;
mod moves;
mod chain;
mod herd;
mod enumerate;
mod search;
mod flow;
mod windows;
mod templates;

pub use evaluate::{Evaluate, Native, NoNative, Plain};
pub use flow::{Block, Code, Located};
pub use herd::Herd;
pub use lanes::{LANES, Lanes};
pub use pool::{Pool, Slot};
pub use price::price;
pub use search::{Method, Options, Proposal, Search, SearchError};

pub use task::{DeadStack, Goal, Level, Output, State, Task};
pub use templates::{Returns, string_functions};
pub use windows::{Window, states, windows};
