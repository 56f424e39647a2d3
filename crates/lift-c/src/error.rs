//! What is wrong with a C file, and whose fault it is.

use std::fmt;

/// Why a file or a function could not be lifted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// The text is not C, or not C that makes sense.
    Malformed {
        /// File.
        file: String,
        /// Line, or zero if it is about the whole file.
        line: u32,
        /// What is wrong.
        what: String,
    },
    /// C that lockstep does not handle.
    Unsupported {
        /// File.
        file: String,
        /// Line.
        line: u32,
        /// The construct.
        what: String,
    },
    /// A parameter has no value and is needed.
    Parameter(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Malformed { file, line: 0, what } => write!(f, "{file}: {what}"),
            Error::Malformed { file, line, what } | Error::Unsupported { file, line, what } => {
                write!(f, "{file}:{line}: {what}")
            }
            Error::Parameter(name) => write!(f, "parameter `{name}` needs a value: --param {name}=NUMBER"),
        }
    }
}

impl std::error::Error for Error {}
