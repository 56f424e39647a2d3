//! Words and signs of a condition, with their columns.

use crate::Error;

/// A piece of a text.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Token {
    /// Where it begins, in characters from 0.
    pub column: usize,
    pub kind: TokenKind,
}

/// What a piece is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TokenKind {
    Name(String),
    Integer {
        value: u64,
        unsigned: bool,
        long: bool,
        decimal: bool,
    },
    Character(i32),
    /// Of 4 or 8 bytes.
    Float {
        value: f64,
        bytes: u16,
    },
    Sign(&'static str),
    /// What stands between braces: an expression of a proof.
    Raw(String),
    End,
}

/// Longer ones first.
const SIGNS: [&str; 38] = [
    "<<=", ">>=", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=",
    "|=", "^=", "(", ")", "[", "]", ".", ",", "?", ":", "+", "-", "*", "/", "%", "<", ">", "!", "~",
];
const MORE_SIGNS: [&str; 4] = ["&", "|", "^", "="];

/// Takes a text apart; the last token is its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, Error> {
    let chars: Vec<char> = text.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let column = at;
        let kind = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let word: String = chars[at..].iter().take_while(|c| is_word(**c)).collect();
                at += word.chars().count();
                TokenKind::Name(word)
            }
            c if c.is_ascii_digit() || c == '.' && chars.get(at + 1).is_some_and(char::is_ascii_digit) => {
                number(&chars, &mut at).map_err(|message| Error { column, message })?
            }
            '\'' => character(&chars, &mut at).map_err(|message| Error { column, message })?,
            '{' => raw(&chars, &mut at).ok_or_else(|| Error::new(column, "a brace that is not closed"))?,
            _ => sign(&chars, &mut at)
                .ok_or_else(|| Error { column, message: format!("`{}` has no meaning here", chars[column]) })?,
        };
        out.push(Token { column, kind });
    }
    out.push(Token { column: chars.len(), kind: TokenKind::End });
    Ok(out)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn sign(chars: &[char], at: &mut usize) -> Option<TokenKind> {
    let starts = |sign: &str| sign.chars().enumerate().all(|(i, c)| chars.get(*at + i) == Some(&c));
    let sign = SIGNS.into_iter().chain(MORE_SIGNS).find(|sign| starts(sign))?;
    *at += sign.len();
    Some(TokenKind::Sign(sign))
}

fn raw(chars: &[char], at: &mut usize) -> Option<TokenKind> {
    let end = chars[*at..].iter().position(|c| *c == '}')? + *at;
    let text = chars[*at + 1..end].iter().collect();
    *at = end + 1;
    Some(TokenKind::Raw(text))
}

/// A number with its suffixes.
fn number(chars: &[char], at: &mut usize) -> Result<TokenKind, String> {
    let mut word = String::new();
    let hexadecimal = chars[*at] == '0' && matches!(chars.get(*at + 1), Some('x' | 'X'));
    while let Some(c) = chars.get(*at) {
        let exponent = !hexadecimal && matches!(word.chars().last(), Some('e' | 'E')) && matches!(c, '+' | '-');
        if !(is_word(*c) || *c == '.' || exponent) {
            break;
        }
        word.push(*c);
        *at += 1;
    }
    let wrong = || format!("`{word}` is no number");
    if !hexadecimal && word.contains(['.', 'e', 'E']) {
        let (digits, bytes) = match word.strip_suffix(['f', 'F']) {
            Some(digits) => (digits, 4),
            None => (&word[..], 8),
        };
        // What is written as a float is rounded once.
        let value: f64 = match bytes {
            4 => f64::from(digits.parse::<f32>().map_err(|_| wrong())?),
            _ => digits.parse().map_err(|_| wrong())?,
        };
        return Ok(TokenKind::Float { value, bytes });
    }
    let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
    let suffix = word[digits.len()..].to_ascii_lowercase();
    let (radix, digits) = match digits {
        "0" => (10, "0"),
        _ if hexadecimal => (16, &digits[2..]),
        _ => match digits.strip_prefix("0b").or_else(|| digits.strip_prefix("0B")) {
            Some(binary) => (2, binary),
            None => digits.strip_prefix('0').map_or((10, digits), |octal| (8, octal)),
        },
    };
    if !matches!(&suffix[..], "" | "u" | "l" | "ll" | "ul" | "ull" | "lu" | "llu") || digits.is_empty() {
        return Err(wrong());
    }
    let value = u64::from_str_radix(digits, radix).map_err(|error| match error.kind() {
        std::num::IntErrorKind::PosOverflow => format!("`{word}` does not fit into 64 bits"),
        _ => wrong(),
    })?;
    let (unsigned, long) = (suffix.contains('u'), suffix.contains('l'));
    Ok(TokenKind::Integer { value, unsigned, long, decimal: radix == 10 })
}

/// A character between quotes is an `int`.
fn character(chars: &[char], at: &mut usize) -> Result<TokenKind, String> {
    let wrong = || "a character between quotes expected".to_string();
    let mut rest = chars[*at + 1..].iter().copied();
    let (value, used) = match rest.next().ok_or_else(wrong)? {
        '\\' => match rest.next().ok_or_else(wrong)? {
            'n' => ('\n' as u32, 2),
            't' => ('\t' as u32, 2),
            'r' => ('\r' as u32, 2),
            '0' => (0, 2),
            c @ ('\\' | '\'' | '"') => (c as u32, 2),
            'x' => {
                let digits: String = rest.take_while(char::is_ascii_hexdigit).collect();
                let value = u8::from_str_radix(&digits, 16).map_err(|_| wrong())?;
                // `char` has a sign here.
                (i32::from(value as i8) as u32, 2 + digits.len())
            }
            _ => return Err(wrong()),
        },
        c if c.is_ascii() && c != '\'' => (c as u32, 1),
        _ => return Err(wrong()),
    };
    if chars.get(*at + 1 + used) != Some(&'\'') {
        return Err(wrong());
    }
    *at += used + 2;
    Ok(TokenKind::Character(value as i32))
}
