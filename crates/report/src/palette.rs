//! Colours of the text report, as data.

use anstyle::{AnsiColor, Style};
use std::fmt;

/// Does the reader's terminal want colour?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// Plain text.
    Plain,
    /// ANSI escape sequences.
    Ansi,
}

/// What a piece of text is; each has its own look.
#[derive(Clone, Copy)]
pub(crate) enum Look {
    Equivalent,
    Different,
    Unknown,
    Name,
    Aside,
}

impl Look {
    fn style(self) -> Style {
        match self {
            Look::Equivalent => AnsiColor::Green.on_default(),
            Look::Different => AnsiColor::Red.on_default().bold(),
            Look::Unknown => AnsiColor::Yellow.on_default(),
            Look::Name => Style::new().bold(),
            Look::Aside => Style::new().dimmed(),
        }
    }
}

impl Colour {
    /// The text in the look, or the text alone. Pad the text before: escape sequences have no width.
    pub(crate) fn paint(self, look: Look, text: impl fmt::Display) -> String {
        match self {
            Colour::Plain => text.to_string(),
            Colour::Ansi => {
                let style = look.style();
                format!("{style}{text}{style:#}")
            }
        }
    }
}

/// The text with control characters escaped: symbol names come from files and must not drive the terminal.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() }).collect()
}
