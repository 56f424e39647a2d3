//! What is wrong with a text, and where.

use std::fmt;

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// The text is not Machine IR.
    Malformed,
    /// It is, but not of a kind that we read.
    Unsupported,
}

/// An error with its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// Whose fault.
    pub fault: Fault,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What.
    pub what: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unsupported = if self.fault == Fault::Unsupported { "unsupported: " } else { "" };
        write!(f, "{}:{}: {unsupported}{}", self.line, self.column, self.what)
    }
}

impl std::error::Error for Error {}
