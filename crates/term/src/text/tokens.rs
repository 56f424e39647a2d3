//! Text as tokens with places: names, numbers, signs, texts in quotes, ends of lines.
//!
//! A name is what a program calls something: letters, digits and `_ . $ @ # ' §`, with `&` before it for an address. Any other
//! name stands between backquotes.

use std::borrow::Cow;
use std::fmt;

/// What is wrong with a text, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// A piece of text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// A name or a word.
    Name(String),
    /// A name between backquotes: never a word of the language.
    Quoted(String),
    /// Digits, decimal or `0x…`.
    Number(String),
    /// Bytes between quotation marks.
    Text(Vec<u8>),
    /// An operator or punctuation.
    Sign(&'static str),
    /// End of a line that has something on it.
    Newline,
    /// Nothing is left.
    End,
}

/// Longest first where one begins another.
const SIGNS: &[&str] = &[
    "..=", ">=u", ">=s", "<=u", "<=s", ">>u", ">>s", ":=", "++", "&&", "||", "==", "!=", "<u", "<s", ">u", ">s", "<<",
    "/u", "/s", "%u", "%s", "->", "→", "…", "?", ":", ",", "(", ")", "[", "]", "{", "}", "+", "-", "*", "~", "!", "&",
    "|", "^", "=", "@",
];

/// Words that no name may be without backquotes.
const RESERVED: &[&str] = &["true", "false", "let", "unknown", "if"];

#[derive(Clone, Debug)]
struct Place {
    token: Token,
    line: usize,
    column: usize,
    /// Does it follow the token before without a space?
    glued: bool,
}

/// The tokens of a text, read one after another.
#[derive(Clone, Debug)]
pub struct Tokens {
    places: Vec<Place>,
    at: usize,
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || "_.$§".contains(c)
}

fn goes_on(c: char) -> bool {
    c.is_alphanumeric() || "_.$@#'§".contains(c)
}

/// Number of characters of the name at the start, 0 if there is none.
fn name_length(chars: &[char]) -> usize {
    let address = chars.first() == Some(&'&');
    let mut at = usize::from(address);
    if address && chars.get(1) == Some(&'"') {
        at = 2;
    }
    let begins = chars.get(at).is_some_and(|c| if address { goes_on(*c) } else { starts_name(*c) });
    if !begins || chars[at..].starts_with(&['.', '.']) {
        return 0;
    }
    let letter_behind = |at: usize| chars.get(at + 1).is_some_and(|c| starts_name(*c));
    while chars.get(at).is_some_and(|c| goes_on(*c) || (address && *c == ':' && letter_behind(at))) {
        at += 1;
    }
    at
}

/// A name as the text form has it: between backquotes if it would not be read as one name.
pub fn quoted(name: &str) -> Cow<'_, str> {
    let chars: Vec<char> = name.chars().collect();
    if name_length(&chars) == chars.len() && !chars.is_empty() && !RESERVED.contains(&name) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("`{}`", escaped(name.chars(), '`')))
}

/// Any text as the text form has it, between quotation marks.
pub fn quoted_text(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b'\n' => out.push_str("\\n"),
            b'\t' => out.push_str("\\t"),
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

fn escaped(chars: impl Iterator<Item = char>, end: char) -> String {
    let mut out = String::new();
    for c in chars {
        if c == end || c == '\\' {
            out.extend(['\\', c]);
        } else if c.is_control() {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}

impl Tokens {
    /// Divides a text. What follows `//` on a line is a remark.
    pub fn new(text: &str) -> Result<Tokens, TextError> {
        let mut places: Vec<Place> = Vec::new();
        let mut line = 1;
        for line_text in text.split('\n') {
            let chars: Vec<char> = line_text.chars().collect();
            let (mut at, mut glued) = (0, false);
            let first = places.len();
            while at < chars.len() {
                if chars[at].is_whitespace() {
                    (at, glued) = (at + 1, false);
                    continue;
                }
                if chars[at..].starts_with(&['/', '/']) {
                    break;
                }
                let column = at + 1;
                let (token, length) =
                    token(&chars[at..]).map_err(|message| TextError { line, column, message: message.to_string() })?;
                places.push(Place { token, line, column, glued });
                (at, glued) = (at + length, true);
            }
            if places.len() > first {
                places.push(Place { token: Token::Newline, line, column: chars.len() + 1, glued: false });
            }
            line += 1;
        }
        let last = text.rsplit('\n').next().map_or(0, |line| line.chars().count());
        places.push(Place { token: Token::End, line: line - 1, column: last + 1, glued: false });
        Ok(Tokens { places, at: 0 })
    }

    /// The next token.
    pub fn peek(&self) -> &Token {
        &self.places[self.at].token
    }

    /// The token after the next.
    pub fn peek_second(&self) -> &Token {
        &self.places[(self.at + 1).min(self.places.len() - 1)].token
    }

    /// Does the next token follow the last one without a space?
    pub fn is_glued(&self) -> bool {
        self.places[self.at].glued
    }

    /// Are the next two tokens `:` and what follows it, all without a space?
    pub fn is_suffix(&self) -> bool {
        let behind = &self.places[(self.at + 1).min(self.places.len() - 1)];
        self.is_glued() && *self.peek() == Token::Sign(":") && behind.glued
    }

    /// Takes the next token.
    pub fn take(&mut self) -> Token {
        let token = self.places[self.at].token.clone();
        self.at = (self.at + 1).min(self.places.len() - 1);
        token
    }

    /// Takes a sign if it is the next token.
    pub fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(next) if *next == sign || (sign == "→" && *next == "->"));
        if found {
            self.take();
        }
        found
    }

    /// Takes a word if it is the next token.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.take();
        }
        found
    }

    /// Is a word the next token?
    pub fn at_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(next) if next == word)
    }

    /// Takes words that stand one after another, if they do.
    pub fn eat_words(&mut self, words: &str) -> bool {
        let start = self.at;
        let found = words.split(' ').all(|word| self.eat_word(word));
        if !found {
            self.at = start;
        }
        found
    }

    /// Takes a sign.
    pub fn expect(&mut self, sign: &str) -> Result<(), TextError> {
        if self.eat(sign) { Ok(()) } else { Err(self.error(format!("`{sign}` expected"))) }
    }

    /// Takes a name, quoted or not.
    pub fn name(&mut self) -> Result<String, TextError> {
        match self.peek() {
            Token::Name(name) | Token::Quoted(name) => {
                let name = name.clone();
                self.take();
                Ok(name)
            }
            _ => Err(self.error("a name expected")),
        }
    }

    /// Takes a number.
    pub fn number(&mut self) -> Result<u64, TextError> {
        let Token::Number(digits) = self.peek() else { return Err(self.error("a number expected")) };
        let number = match digits.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let number = number.map_err(|_| self.error("a number of at most 64 bits expected"))?;
        self.take();
        Ok(number)
    }

    /// Takes a number that fits.
    pub fn small<N: TryFrom<u64>>(&mut self) -> Result<N, TextError> {
        let error = self.error("the number is too large");
        N::try_from(self.number()?).map_err(|_| error)
    }

    /// Takes a number with or without a sign.
    pub fn signed(&mut self) -> Result<i64, TextError> {
        let negative = self.eat("-");
        if !negative {
            self.eat("+");
        }
        let error = self.error("the number is too large");
        let number = i128::from(self.number()?);
        i64::try_from(if negative { -number } else { number }).map_err(|_| error)
    }

    /// Ends of lines do not count here.
    pub fn skip_newlines(&mut self) {
        while *self.peek() == Token::Newline {
            self.take();
        }
    }

    /// Takes the end of a line.
    pub fn end_of_line(&mut self) -> Result<(), TextError> {
        match self.peek() {
            Token::Newline => {
                self.take();
                Ok(())
            }
            Token::End => Ok(()),
            _ => Err(self.error("the line should end here")),
        }
    }

    /// An error at the next token.
    pub fn error(&self, message: impl Into<String>) -> TextError {
        let (line, column) = self.spot();
        TextError { line, column, message: message.into() }
    }

    /// Line and column of the next token.
    pub fn spot(&self) -> (usize, usize) {
        let place = &self.places[self.at];
        (place.line, place.column)
    }
}

/// The token at the start and its length.
fn token(chars: &[char]) -> Result<(Token, usize), &'static str> {
    let c = chars[0];
    if c.is_ascii_digit() {
        let length = chars.iter().take_while(|c| c.is_ascii_alphanumeric()).count();
        let digits: String = chars[..length].iter().collect();
        let sane = match digits.strip_prefix("0x") {
            Some(hex) => !hex.is_empty() && hex.chars().all(|c| c.is_ascii_hexdigit()),
            None => digits.chars().all(|c| c.is_ascii_digit()),
        };
        return if sane { Ok((Token::Number(digits), length)) } else { Err("not a number") };
    }
    if c == '`' {
        let (text, length) = quotation(chars, '`')?;
        let name: Option<String> = text.into_iter().map(Piece::into_char).collect();
        return name.filter(|name| !name.is_empty()).map(|name| (Token::Quoted(name), length)).ok_or("not a name");
    }
    if c == '"' {
        let (text, length) = quotation(chars, '"')?;
        return Ok((Token::Text(text.into_iter().flat_map(Piece::into_bytes).collect()), length));
    }
    let length = name_length(chars);
    if length > 0 {
        return Ok((Token::Name(chars[..length].iter().collect()), length));
    }
    let sign = SIGNS.iter().find(|sign| {
        let length = sign.chars().count();
        let letters = sign.ends_with(['u', 's']);
        let ends = !letters || chars.get(length).is_none_or(|c| !goes_on(*c));
        ends && chars.len() >= length && sign.chars().zip(chars).all(|(a, b)| a == *b)
    });
    sign.map(|sign| (Token::Sign(sign), sign.chars().count())).ok_or("nothing begins with this character")
}

/// A piece of a quotation: a character, or a byte that is none.
enum Piece {
    Char(char),
    Byte(u8),
}

impl Piece {
    fn into_char(self) -> Option<char> {
        match self {
            Piece::Char(c) => Some(c),
            Piece::Byte(_) => None,
        }
    }

    fn into_bytes(self) -> Vec<u8> {
        match self {
            Piece::Char(c) => c.to_string().into_bytes(),
            Piece::Byte(byte) => vec![byte],
        }
    }
}

fn quotation(chars: &[char], end: char) -> Result<(Vec<Piece>, usize), &'static str> {
    let mut out = Vec::new();
    let mut at = 1;
    loop {
        let c = *chars.get(at).ok_or("the quotation does not end")?;
        at += 1;
        if c == end {
            return Ok((out, at));
        }
        if c != '\\' {
            out.push(Piece::Char(c));
            continue;
        }
        let escape = *chars.get(at).ok_or("the quotation does not end")?;
        at += 1;
        let hex = |digits: &[char]| u32::from_str_radix(&digits.iter().collect::<String>(), 16).ok();
        match escape {
            'n' => out.push(Piece::Char('\n')),
            't' => out.push(Piece::Char('\t')),
            'x' => {
                let byte = chars.get(at..at + 2).and_then(hex).ok_or("two digits expected after `\\x`")?;
                out.push(Piece::Byte(byte as u8));
                at += 2;
            }
            'u' => {
                let length = chars[at..].iter().position(|c| *c == '}').ok_or("`}` expected after `\\u{`")?;
                let digits = chars[at..at + length].strip_prefix(&['{']).ok_or("`{` expected after `\\u`")?;
                out.push(Piece::Char(hex(digits).and_then(char::from_u32).ok_or("not a character")?));
                at += length + 1;
            }
            c if c == end || c == '\\' => out.push(Piece::Char(c)),
            _ => return Err("no such escape"),
        }
    }
}
