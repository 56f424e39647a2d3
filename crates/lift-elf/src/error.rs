//! What can go wrong with a file: it cannot be read, it is broken, or it holds something that is not modelled.

use program::SourceLine;
use std::fmt;

/// Why a file or a function of it cannot be lifted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The file cannot be opened or read.
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        what: String,
    },
    /// The assembler rejects the file.
    Assembly {
        /// The file.
        file: String,
        /// The assembler's own words.
        message: String,
    },
    /// The file breaks its format.
    Malformed {
        /// The file.
        file: String,
        /// Where, in bytes from the start of the file.
        offset: u64,
        /// How.
        what: String,
    },
    /// The file is in order, but we do not model something in it.
    Unsupported {
        /// The file.
        file: String,
        /// What, and where.
        gap: Box<Gap>,
    },
}

/// Something that is not modelled, and its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gap {
    /// Function and offset in it; `None` if it concerns the whole file.
    pub place: Option<(String, u64)>,
    /// What to count it under: the instruction's name or a kind of construct.
    pub construct: String,
    /// The instruction as text, or the construct in words.
    pub text: String,
    /// Source line, if debug information knows it.
    pub line: Option<SourceLine>,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((function, offset)) = &self.place {
            write!(f, "{function}+{offset:#x} ")?;
        }
        write!(f, "{}", self.text)?;
        match &self.line {
            Some(line) => write!(f, " ({}:{})", line.file, line.line),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unreadable { file, what } => write!(f, "{file}: {what}"),
            Error::Assembly { file, message } => write!(f, "{file}: the assembler says: {message}"),
            Error::Malformed { file, offset, what } => write!(f, "{file}: at offset {offset:#x}: {what}"),
            Error::Unsupported { file, gap } => write!(f, "{file}: unsupported: {gap}"),
        }
    }
}

impl std::error::Error for Error {}
