//! Conditions under which two programs do the same: guessed from runs, proved like any other.
//!
//! A condition is a conjunction of atoms (alignments, multiples, blocks that do not overlap, bounds, equalities, contents of cells).
//! Start states on which the programs disagree are changed so that atoms hold; what makes the programs agree explains the
//! difference. Afterwards every part has a start state that shows that it is needed, or is left out if there is a proof without it.
//!
//! Trust: none. What comes out is a text that `--assume` takes, and the kernel proves the pair under what that text means. Too
//! strong a condition is a loss, a wrong one cannot be proved.

mod number;
mod atom;
mod lab;
mod survey;
mod templates;
mod explain;
mod learn;
mod weaken;
mod infer;
mod hint;

pub use atom::Kind;
pub use hint::Hint;
pub use infer::{Conjunct, FloatAxioms, Inferred, Need, Question};
