//! Questions to SMT solvers: process pool, time limits, cache, models.
//!
//! ```no_run
//! use solver::{Answer, Query, Solver, SolverOptions};
//! use term::{Arena, Sort};
//!
//! let mut arena = Arena::new();
//! let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
//! let (and, or) = (arena.and(x, y), arena.or(x, y));
//! let goal = arena.ule(and, or);
//! let mut solver = Solver::new(SolverOptions::default());
//! match solver.ask(&mut arena, &Query::goal(goal)) {
//!     Answer::Proved => {}                        // unsat: holds for all values of the variables
//!     Answer::Refuted(model) => drop(model),      // a state, already checked with the evaluator
//!     Answer::Unknown(why) => println!("{why}"),
//! }
//! ```
//!
//! - [`Solver::ask`] never hangs: everything ends at [`SolverOptions::deadline`], by killing the solver if need be.
//! - [`Solver::learn`] adds states that refute later questions without a solver; `Refuted` answers add themselves.
//! - [`SolverPool::take`] gives each function pair a solver of its own and keeps the processes alive in between.
//!
//! From question to answer: [`Solver`] (`solver.rs`) asks the terms, the known states and the cache; `memory.rs`
//! removes stores; `smt.rs` prints; `backend.rs` knows the tiers and limits of a solver, `process.rs` its pipes;
//! `sexpr.rs` and `model.rs` turn what it says into a checked model.
//!
//! Trust: `Proved` is believed, so `memory.rs` and `smt.rs` are trusted, and the solver's `unsat`.

mod backend;
mod basis;
mod counting;
mod dump;
mod facts;
mod memory;
mod model;
mod oracle;
mod pool;
mod process;
mod query;
mod ranges;
mod sexpr;
mod smt;
mod solver;
mod store;

pub use pool::SolverPool;
pub use query::{Answer, Query, Why};
pub use solver::{Solver, SolverOptions, SolverStatistics};
