//! Questions of bits and memory, to a SAT solver in this process and to SMT solvers: limits, cache, models.
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
//! - [`Solver::ask`] reads no clock: what a question may cost is counted ([`Effort`]), so an answer does not depend on how
//!   busy the machine is. [`SolverOptions::interrupt`] ends everything from outside, by killing the solver if need be.
//! - [`Solver::learn`] adds states that refute later questions without a solver; `Refuted` answers add themselves.
//! - [`SolverPool::take`] gives each function pair a solver of its own and keeps the processes alive in between.
//! - Are hypotheses satisfiable? Ask for the goal `false`: `Refuted` is a state in which they hold.
//!
//! From question to answer, in reading order: `query.rs` what is asked; `effort.rs` what it may cost; `record.rs` which
//! questions were hard; `solver.rs` asks the terms, the known states
//! and the cache first; `memory.rs` and `store.rs` remove stores with the help of `facts.rs`, `ranges.rs` and
//! `oracle.rs`; `basis.rs` makes differences of addresses variables; `opaque.rs` makes products and quotients variables
//! where bits do not help; `comparisons.rs` adds what comparisons of floats imply; `circuit.rs`, `blast.rs`,
//! `functions.rs` and `sat.rs` answer with clauses in this process; `smt.rs` prints; `backend.rs` knows the limits of a
//! solver command, `process.rs` its pipes; `sexpr.rs` and `model.rs` turn what it says into a checked model; `pool.rs`
//! keeps processes alive between function pairs.
//!
//! Trust: `Proved` is believed, so everything between the question and the clauses or the printed text is trusted, and the solvers'
//! `unsat`. Models are not: they are evaluated.

mod query;
mod effort;
mod record;
mod solver;
mod memory;
mod store;
mod facts;
mod ranges;
mod oracle;
mod basis;
mod opaque;
mod comparisons;
mod smt;
mod counting;
mod circuit;
mod blast;
mod functions;
mod sat;
mod backend;
mod process;
mod sexpr;
mod model;
mod pool;
mod statistics;
mod dump;

pub use effort::{EFFORTS, Effort, Word};
#[doc(hidden)]
pub use opaque::theorems;
pub use pool::SolverPool;
pub use query::{Answer, Query, Why};
pub use record::{Hard, Record};
pub use solver::{Solver, SolverOptions};
pub use statistics::SolverStatistics;
