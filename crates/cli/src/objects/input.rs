//! The object files that are compared, in the words of the command line.

use crate::status::Failure;
use pair::{Error, File};
use search::{Reason, ReasonKind};
use std::path::Path;

/// Reads a file.
pub fn read(path: &Path) -> Result<File, Failure> {
    File::read(path).map_err(|error| Failure(error.to_string()))
}

/// Why there is no answer about a function that could not be lifted.
pub fn unsupported(error: Error) -> Reason {
    match error {
        Error::Unsupported { gap, .. } => Reason::new(ReasonKind::Unsupported, gap.to_string()),
        other => Reason::new(ReasonKind::Unsupported, other.to_string()),
    }
}
