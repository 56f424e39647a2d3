//! The condition that a user states: what is compared only where it holds says so.

use crate::Colour;
use crate::palette::{Look, printable};
use serde::Serialize;

/// A part of the condition under which a function was compared.
#[derive(Clone, PartialEq, Eq, Serialize, Debug)]
pub struct AssumedPart {
    /// What it is about, in a word: `alignment`, `apart`, `multiple`, `range`, `axiom`.
    pub kind: &'static str,
    /// In the source's words; `--assume` reads it.
    pub text: String,
    /// As the certificate states it.
    pub expression: String,
}

/// Parts shown to people before the rest is only counted.
const MOST_SHOWN: usize = 16;

/// The parts for people.
pub(crate) fn render(title: &str, parts: &[AssumedPart], colour: Colour) -> String {
    let mut out = format!("  {}: compared only where\n", colour.paint(Look::Name, title));
    for part in parts.iter().take(MOST_SHOWN) {
        out.push_str(&format!("      {}\n", printable(&part.text)));
    }
    if parts.len() > MOST_SHOWN {
        out.push_str(&format!("      … and {} more (--format json lists all)\n", parts.len() - MOST_SHOWN));
    }
    out
}
