//! Why nothing could be recorded.

use std::fmt;
use std::io;

/// Why nothing could be recorded.
#[derive(Debug)]
pub enum Error {
    /// The command cannot be started, or not be traced.
    Start(String, io::Error),
    /// What it executes is no program for x86-64: its path.
    NotOurs(String),
    /// Neither the program nor a library that it loaded has such a function.
    NoFunction(String),
    /// Several functions of one file have the name: the file.
    Ambiguous(String, String),
    /// The function is not understood: why.
    NotUnderstood(String, String),
    /// The system refused something on the way.
    System(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Start(command, error) => write!(f, "cannot run `{command}`: {error}"),
            Error::NotOurs(path) => write!(f, "{path}: not a program for x86-64"),
            Error::NoFunction(name) => {
                write!(f, "neither the program nor a library that it loaded has a symbol for the function `{name}`")
            }
            Error::Ambiguous(name, path) => write!(f, "{path}: several functions are called `{name}`"),
            Error::NotUnderstood(name, why) => write!(f, "`{name}` cannot be followed: {why}"),
            Error::System(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

impl From<native::NativeError> for Error {
    fn from(error: native::NativeError) -> Error {
        Error::System(error.to_string())
    }
}
