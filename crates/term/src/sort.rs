//! Types of terms.

use std::fmt;

/// The type of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// Truth value.
    Bool,
    /// Bit vector of 1 to 512 bits.
    Bv(u16),
    /// Map from 64-bit addresses to bytes.
    Memory,
}

impl Sort {
    /// Width of a bit vector; `None` for the other sorts.
    pub fn width(self) -> Option<u16> {
        match self {
            Sort::Bv(width) => Some(width),
            Sort::Bool | Sort::Memory => None,
        }
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => write!(f, "bool"),
            Sort::Bv(width) => write!(f, "bv{width}"),
            Sort::Memory => write!(f, "memory"),
        }
    }
}
