//! Hash-consed terms over truth values, bit vectors and byte memories.
//!
//! Everything lockstep reasons about is a [`TermId`] in an [`Arena`]. Building a term normalises it: the named
//! rewrite rules of [`rules`] run in every constructor, so that two programs that compute the same thing in
//! slightly different ways usually end in the same handle and need no solver.
//!
//! Trust: full. A wrong rule or a wrong evaluator makes wrong proofs; therefore every rule is proved by the
//! solver and fuzzed against [`eval`] in the tests.

mod arena;
mod axiom;
mod bits;
mod build;
pub mod eval;
mod float;
pub mod generate;
mod linear;
mod node;
pub mod rules;
mod sort;
mod substitute;
mod text;

pub use arena::{Arena, Firing};
pub use axiom::Axiom;
pub use bits::Bits;
pub use float::{FloatOp, Rounding};
pub use linear::Linear;
pub use node::{Func, FuncId, Node, Op, TermId, VarId};
pub use sort::Sort;
pub use text::{Form, TermReader, TextError, Token, Tokens, quoted, quoted_text, read_sort};
