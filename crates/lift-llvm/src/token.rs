//! Tokens of a line.

/// A token.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// `%name`.
    Local(String),
    /// `@name`.
    Global(String),
    /// `!name` or `!5`.
    Meta(String),
    /// `#5`.
    Attributes,
    /// `c"…"`, with its bytes.
    Bytes(Vec<u8>),
    /// `"…"`.
    Text(String),
    /// A word or number.
    Word(String),
    /// Anything else.
    Mark(char),
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '$')
}

/// The text up to the closing quote, and the rest.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    text.split_once('"').ok_or_else(|| "a quote that does not end".to_string())
}

/// Bytes with escapes such as `\0A`.
fn unescaped(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let digits: Vec<u8> = rest.by_ref().take(2).collect();
        let digits = String::from_utf8_lossy(&digits).into_owned();
        bytes.push(u8::from_str_radix(&digits, 16).map_err(|_| "an escape that is no number".to_string())?);
    }
    Ok(bytes)
}

/// The tokens of a line, without its comment.
pub(crate) fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut list = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        let next;
        match first {
            ';' => break,
            '%' | '@' | '!' => {
                let name;
                if let Some(text) = after.strip_prefix('"') {
                    let (inside, tail) = quoted(text)?;
                    (name, next) = (inside.to_string(), tail);
                } else {
                    let end = after.find(|c| !is_word(c)).unwrap_or(after.len());
                    (name, next) = (after[..end].to_string(), &after[end..]);
                }
                list.push(match first {
                    '%' => Token::Local(name),
                    '@' => Token::Global(name),
                    _ if name.is_empty() => Token::Mark('!'),
                    _ => Token::Meta(name),
                });
            }
            '#' => {
                let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
                list.push(Token::Attributes);
                next = &after[end..];
            }
            '"' => {
                let (inside, tail) = quoted(after)?;
                list.push(Token::Text(inside.to_string()));
                next = tail;
            }
            'c' if after.starts_with('"') => {
                let (inside, tail) = quoted(&after[1..])?;
                list.push(Token::Bytes(unescaped(inside)?));
                next = tail;
            }
            _ if rest.starts_with("...") => {
                list.push(Token::Word("...".to_string()));
                next = &rest[3..];
            }
            _ if is_word(first) => {
                let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
                list.push(Token::Word(rest[..end].to_string()));
                next = &rest[end..];
            }
            _ => {
                list.push(Token::Mark(first));
                next = after;
            }
        }
        rest = next.trim_start();
    }
    Ok(list)
}

/// Reads tokens one after the other.
pub(crate) struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Reader<'t> {
    pub fn new(tokens: &'t [Token]) -> Reader<'t> {
        Reader { tokens, at: 0 }
    }

    pub fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    pub fn next(&mut self) -> Result<&'t Token, String> {
        let token = self.tokens.get(self.at).ok_or_else(|| "a line that ends too early".to_string())?;
        self.at += 1;
        Ok(token)
    }

    pub fn is_mark(&self, mark: char) -> bool {
        self.peek() == Some(&Token::Mark(mark))
    }

    /// Takes a mark if it is next.
    pub fn take(&mut self, mark: char) -> bool {
        let found = self.is_mark(mark);
        self.at += usize::from(found);
        found
    }

    pub fn expect(&mut self, mark: char) -> Result<(), String> {
        if self.take(mark) { Ok(()) } else { Err(format!("no `{mark}` where one is expected: {:?}", self.peek())) }
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(next)) if next == word)
    }

    /// Takes a word if it is next.
    pub fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn word(&mut self) -> Result<&'t str, String> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => Err(format!("no word where one is expected: {other:?}")),
        }
    }

    pub fn local(&mut self) -> Result<&'t str, String> {
        match self.next()? {
            Token::Local(name) => Ok(name),
            other => Err(format!("no register where one is expected: {other:?}")),
        }
    }

    /// Skips from an opening bracket to the one that closes it.
    pub fn skip_brackets(&mut self, open: char, close: char) -> Result<(), String> {
        self.expect(open)?;
        let mut depth = 1;
        while depth > 0 {
            match self.next()? {
                Token::Mark(mark) if *mark == open => depth += 1,
                Token::Mark(mark) if *mark == close => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    pub fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_into_tokens() {
        let list = tokens("  %\"a b\" = load i8, ptr @x.1, align 1, !range !7 ; comment").expect("tokens");
        let word = |w: &str| Token::Word(w.to_string());
        assert_eq!(list[0], Token::Local("a b".to_string()));
        assert_eq!(list[2..4], [word("load"), word("i8")]);
        assert_eq!(list[6], Token::Global("x.1".to_string()));
        assert_eq!(list[list.len() - 2..], [Token::Meta("range".to_string()), Token::Meta("7".to_string())]);
        assert_eq!(tokens("c\"a\\0A;\"").expect("bytes"), [Token::Bytes(vec![b'a', 10, b';'])]);
        assert!(tokens("\"open").is_err());
    }
}
