//! Conditions of `#if`: integers, comparisons, logic and `defined`.

use super::{Trouble, Worker};
use crate::lexer::{Kind, Token};

impl Worker<'_> {
    pub(super) fn condition(&mut self, rest: &[Token]) -> Result<bool, Trouble> {
        let mut replaced = Vec::new();
        let mut at = 0;
        // `defined` must be answered before macros are expanded.
        while at < rest.len() {
            if self.names.text(rest[at].name) != "defined" {
                replaced.push(rest[at]);
                at += 1;
                continue;
            }
            let bracket = rest.get(at + 1).is_some_and(|t| self.names.text(t.name) == "(");
            let name = rest.get(at + 1 + usize::from(bracket)).ok_or(Trouble::Beyond)?;
            let known = self.macros.contains_key(&name.name);
            let number = self.names.intern(if known { "1" } else { "0" });
            replaced.push(Token { kind: Kind::Number, name: number, ..*name });
            at += if bracket { 4 } else { 2 };
        }
        let expanded = self.expand(replaced)?;
        let words: Vec<&str> = expanded
            .iter()
            // An identifier that is no macro counts as zero.
            .map(|t| if t.kind == Kind::Word { "0" } else { self.names.text(t.name) })
            .collect();
        let mut reader = Reader { words: &words, at: 0, depth: 0 };
        let value = reader.binary(0).ok_or(Trouble::Beyond)?;
        if reader.at == words.len() { Ok(value != 0) } else { Err(Trouble::Beyond) }
    }
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: u32,
}

const LEVELS: [&[&str]; 8] =
    [&["||"], &["&&"], &["|"], &["^"], &["&"], &["==", "!="], &["<", ">", "<=", ">="], &["+", "-"]];

impl Reader<'_> {
    fn binary(&mut self, level: usize) -> Option<i64> {
        let Some(operators) = LEVELS.get(level) else { return self.product() };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.words.get(self.at).filter(|w| operators.contains(w)) {
            self.at += 1;
            let right = self.binary(level + 1)?;
            left = match *operator {
                "||" => i64::from(left != 0 || right != 0),
                "&&" => i64::from(left != 0 && right != 0),
                "|" => left | right,
                "^" => left ^ right,
                "&" => left & right,
                "==" => i64::from(left == right),
                "!=" => i64::from(left != right),
                "<" => i64::from(left < right),
                ">" => i64::from(left > right),
                "<=" => i64::from(left <= right),
                ">=" => i64::from(left >= right),
                "+" => left.checked_add(right)?,
                _ => left.checked_sub(right)?,
            };
        }
        Some(left)
    }

    fn product(&mut self) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some(operator) = self.words.get(self.at).filter(|w| ["*", "/", "%"].contains(w)) {
            self.at += 1;
            let right = self.unary()?;
            left = match *operator {
                "*" => left.checked_mul(right)?,
                "/" => left.checked_div(right)?,
                _ => left.checked_rem(right)?,
            };
        }
        Some(left)
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > 100 {
            return None;
        }
        let word = *self.words.get(self.at)?;
        self.at += 1;
        let value = match word {
            "!" => i64::from(self.unary()? == 0),
            "-" => self.unary()?.checked_neg()?,
            "+" => self.unary()?,
            "(" => {
                let value = self.binary(0)?;
                if *self.words.get(self.at)? != ")" {
                    return None;
                }
                self.at += 1;
                value
            }
            number => number.trim_end_matches(['u', 'U', 'l', 'L']).parse().ok()?,
        };
        self.depth -= 1;
        Some(value)
    }
}
