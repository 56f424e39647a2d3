//! C kernels: the compiler's preprocessor, a parser, and lowering to programs with known control.
//!
//! [`Source`] reads a file, [`Source::lower`] makes the [`updates::Program`] of one of its functions once its integer
//! parameters have values. Types, conversions, evaluation and undefined behaviour are those of C11 on x86-64.
//!
//! Trust: full. A mistake here compares other programs than the ones in the files.

mod error;
mod lexer;
mod preprocess;
mod certain;
mod ast;
mod parser;
mod literals;
mod ctype;
mod lower;
mod source;
pub mod fuzz;
#[cfg(test)]
mod tests;

pub use certain::is_hint;
pub use error::Error;
pub use preprocess::{Preprocessed, Settings, Texts};
pub use source::{FunctionEntry, Source};
