//! Programs with known control: their cells, updates and values.
//!
//! A kernel with constant bounds is one fixed sequence of updates of cells. This crate has the form of such a program
//! ([`Program`]), a machine that executes it ([`execute`]), and what its values may be: 128-bit hashes for speed, terms
//! for certificates and explanations, numbers for replaying a witness. Polyhedral verification by update
//! sequences: Schordan et al., ISoLA 2014.
//!
//! Trust: full. Frontends make programs, `kernel` compares their executions.

mod scalar;
mod program;
mod strided;
mod fault;
mod domain;
mod symbolic;
mod hash;
mod terms;
mod number;
mod observe;
mod machine;
mod equal;
mod reassoc;

pub use domain::{Domain, Floating};
pub use equal::Equality;
pub use fault::{Fault, FaultKind};
pub use hash::{Hashed, Hashes, chain, name_key};
pub use machine::{Division, Final, Limits, Schedule, execute, input_key};
pub use number::{Number, Numbers, Overflow, is_evaluated};
pub use observe::{Nobody, Observer};
pub use program::*;
pub use reassoc::Regroup;
pub use scalar::{Cmp, Constant, Op, Scalar, Undefined, convert, fold};
pub use strided::Strided;
pub use symbolic::{Backing, Symbolic, Tag};
pub use terms::{Parts, Shape, TermRef, Terms};
