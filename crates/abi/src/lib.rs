//! Where the System V calling convention for x86-64 puts arguments and results: which bytes of which registers and of
//! which stack words.
//!
//! The source is the psABI, AMD64 supplement, section 3.2.3. A type is a list of scalars at offsets ([`Type`]); [`classify`]
//! gives each of its eightbytes a [`Class`]; [`Convention`] hands out registers and stack words in the order of the
//! parameters. What gcc and clang do not agree about, or what depends on how a file was compiled (`-mavx`), is a [`Refusal`]:
//! there is no guess.
//!
//! Trust: full. A byte that is left out here is a byte that no proof compares.

mod class;
mod convention;
mod types;

pub use class::{Class, classify};
pub use convention::{Convention, Piece, Place, Returned};
pub use types::{Member, Scalar, Type};

/// Why a type cannot be placed, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal(pub String);

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refusal {}
