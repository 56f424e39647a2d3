//! Text to tokens. Comments and spliced lines disappear, lines are kept.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A token's text, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Name(pub u32);

/// Texts of tokens, each once.
#[derive(Debug, Default)]
pub struct Names {
    texts: Vec<Arc<str>>,
    index: FxHashMap<Arc<str>, u32>,
}

impl Names {
    /// The number of a text.
    pub fn intern(&mut self, text: &str) -> Name {
        if let Some(known) = self.index.get(text) {
            return Name(*known);
        }
        let shared: Arc<str> = text.into();
        self.texts.push(Arc::clone(&shared));
        let number = self.texts.len() as u32 - 1;
        self.index.insert(shared, number);
        Name(number)
    }

    /// The text of a number.
    pub fn text(&self, name: Name) -> &str {
        &self.texts[name.0 as usize]
    }
}

/// What kind of token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Identifier or keyword.
    Word,
    /// Preprocessing number.
    Number,
    /// String literal with its quotes.
    Text,
    /// Character constant with its quotes.
    Char,
    /// Operator or punctuation.
    Punct,
    /// `#` at the start of a line.
    Hash,
    /// End of a line; only directives see it.
    Newline,
    /// The text of a `#pragma`.
    Pragma,
    /// End of the file.
    End,
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// Kind.
    pub kind: Kind,
    /// Text.
    pub name: Name,
    /// Line in its file.
    pub line: u32,
    /// File, by number; zero is the main one.
    pub file: u16,
    /// Was there a blank before it? Tells `#define f (x)` from `#define f(x)`.
    pub spaced: bool,
}

/// Longest first.
const PUNCTUATION: [&str; 47] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=", "/=", "%=", "+=",
    "-=", "&=", "^=", "|=", "##", "(", ")", "[", "]", "{", "}", ".", "&", "*", "+", "-", "~", "!", "/", "%", "<", ">",
    "^", "|", "?", ":", ";", ",", "=",
];

/// Splits a text; directives are left in, with newlines. The error names a line.
pub fn tokens(source: &str, file: u16, names: &mut Names) -> Result<Vec<Token>, (u32, String)> {
    let bytes = source.as_bytes();
    let mut out = Vec::with_capacity(bytes.len() / 3);
    let (mut at, mut line, mut spaced, mut fresh) = (0, 1, false, true);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\n' => {
                out.push(Token { kind: Kind::Newline, name: names.intern("\n"), line, file, spaced });
                (at, line, spaced, fresh) = (at + 1, line + 1, false, true);
                continue;
            }
            b'\\' if matches!(bytes.get(at + 1), Some(b'\n')) => {
                (at, line, spaced) = (at + 2, line + 1, true);
                continue;
            }
            b'\\' if bytes[at + 1..].starts_with(b"\r\n") => {
                (at, line, spaced) = (at + 3, line + 1, true);
                continue;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                (at, spaced) = (at + 1, true);
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'/') => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let start = line;
                at += 2;
                while !bytes[at.min(bytes.len())..].starts_with(b"*/") {
                    if at >= bytes.len() {
                        return Err((start, "comment without an end".to_string()));
                    }
                    line += u32::from(bytes[at] == b'\n');
                    at += 1;
                }
                (at, spaced) = (at + 2, true);
                continue;
            }
            _ => {}
        }
        let start = at;
        let kind = if byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' {
            at = end_of_word(bytes, at);
            Kind::Word
        } else if byte.is_ascii_digit() || byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            at = end_of_number(bytes, at);
            Kind::Number
        } else if byte == b'"' || byte == b'\'' {
            at = end_of_literal(bytes, at).ok_or((line, "literal without an end".to_string()))?;
            if byte == b'"' { Kind::Text } else { Kind::Char }
        } else if byte == b'#' && fresh {
            at += 1;
            Kind::Hash
        } else if byte == b'#' {
            at += if bytes.get(at + 1) == Some(&b'#') { 2 } else { 1 };
            Kind::Punct
        } else {
            let rest = &bytes[at..];
            let Some(punct) = PUNCTUATION.iter().find(|p| rest.starts_with(p.as_bytes())) else {
                let shown = source[at..].chars().next().unwrap_or('?').escape_default().to_string();
                return Err((line, format!("stray character `{shown}`")));
            };
            at += punct.len();
            Kind::Punct
        };
        // Tokens are ASCII at both ends, so these are character boundaries.
        out.push(Token { kind, name: names.intern(&source[start..at]), line, file, spaced });
        (spaced, fresh) = (false, false);
    }
    out.push(Token { kind: Kind::Newline, name: names.intern("\n"), line, file, spaced: false });
    Ok(out)
}

fn end_of_word(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] == b'$') {
        at += 1;
    }
    at
}

fn end_of_number(bytes: &[u8], start: usize) -> usize {
    let hex = bytes[start..].starts_with(b"0x") || bytes[start..].starts_with(b"0X");
    let mut at = start + 1;
    while at < bytes.len() {
        let exponent = if hex { b"pP" } else { b"eE" };
        let sign = matches!(bytes[at], b'+' | b'-') && exponent.contains(&bytes[at - 1]);
        if !(bytes[at].is_ascii_alphanumeric() || bytes[at] == b'.' || bytes[at] == b'_' || sign) {
            break;
        }
        at += 1;
    }
    at
}

fn end_of_literal(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = bytes[start];
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}
