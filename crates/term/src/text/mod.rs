//! The text form of terms: printed for people, read back for fixtures.
//!
//! [`write`] prints a term so that [`read`] makes the same term of it. Both rest on one list of words ([`words`]) and one
//! division of text into [`tokens`], which the text form of programs uses, too.

mod read;
mod tokens;
mod words;
mod write;

pub use read::{Form, TermReader, read_sort};
pub use tokens::{TextError, Token, Tokens, quoted, quoted_text};
