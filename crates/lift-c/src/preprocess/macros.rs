//! Definition and expansion of macros. A macro is not expanded inside its own expansion (C11 6.10.3.4); `#` and `##`
//! are left to the system's preprocessor.

use super::{MOST_TOKENS, Trouble, Worker};
use crate::lexer::{Kind, Name, Token, tokens};
use std::rc::Rc;

/// A macro.
#[derive(Clone, Debug)]
pub(super) struct Macro {
    /// Parameters of a function-like one.
    parameters: Option<Vec<Name>>,
    body: Rc<[Token]>,
}

/// Macros inside macros deeper than this are refused.
const DEEPEST: usize = 200;

impl Worker<'_> {
    pub(super) fn define_text(&mut self, name: &str, value: &str) -> Result<(), Trouble> {
        let body = tokens(value, 0, self.names).map_err(|(_, what)| self.wrong(0, 0, format!("-D{name}: {what}")))?;
        let body = body.into_iter().filter(|t| t.kind != Kind::Newline).collect();
        let name = self.names.intern(name);
        self.macros.insert(name, Macro { parameters: None, body });
        Ok(())
    }

    pub(super) fn define(&mut self, rest: &[Token]) -> Result<(), Trouble> {
        let Some((name, mut rest)) = rest.split_first() else { return Err(Trouble::Beyond) };
        if name.kind != Kind::Word {
            return Err(self.wrong(name.line, name.file, "`#define` without a name"));
        }
        let mut parameters = None;
        if rest.first().is_some_and(|t| !t.spaced && self.names.text(t.name) == "(") {
            let end = rest.iter().position(|t| self.names.text(t.name) == ")").ok_or(Trouble::Beyond)?;
            let mut list = Vec::new();
            for token in &rest[1..end] {
                match (token.kind, self.names.text(token.name)) {
                    (Kind::Word, _) => list.push(token.name),
                    (_, ",") => {}
                    _ => return Err(Trouble::Beyond),
                }
            }
            parameters = Some(list);
            rest = &rest[end + 1..];
        }
        if rest.iter().any(|t| self.names.text(t.name).starts_with('#')) {
            return Err(Trouble::Beyond);
        }
        let mut body: Rc<[Token]> = rest.into();
        let text = self.names.text(name.name);
        let parameter = self.settings.parameters.iter().find(|(p, _)| p == text);
        if let (Some((text, value)), None) = (parameter, &parameters) {
            let (text, value) = (text.clone(), *value);
            let number = self.names.intern(&value.unsigned_abs().to_string());
            let make = |kind, text| Token { kind, name: text, line: name.line, file: name.file, spaced: true };
            let mut list = Vec::new();
            if value < 0 {
                list.push(make(Kind::Punct, self.names.intern("-")));
            }
            list.push(make(Kind::Number, number));
            body = list.into();
            if !self.replaced.contains(&text) {
                self.replaced.push(text);
            }
        }
        self.macros.insert(name.name, Macro { parameters, body });
        Ok(())
    }

    pub(super) fn expand(&mut self, input: Vec<Token>) -> Result<Vec<Token>, Trouble> {
        let mut out = Vec::with_capacity(input.len());
        self.expand_into(&input, &mut Vec::new(), &mut out)?;
        Ok(out)
    }

    fn expand_into(&mut self, input: &[Token], hidden: &mut Vec<Name>, out: &mut Vec<Token>) -> Result<(), Trouble> {
        if hidden.len() > DEEPEST || out.len() > MOST_TOKENS {
            let place = input.first().map_or((0, 0), |t| (t.line, t.file));
            return Err(self.wrong(place.0, place.1, "macros expand too far"));
        }
        let mut at = 0;
        while at < input.len() {
            let token = input[at];
            at += 1;
            let found = match token.kind {
                Kind::Word if !hidden.contains(&token.name) => self.macros.get(&token.name).cloned(),
                _ => None,
            };
            let Some(found) = found else {
                out.push(token);
                continue;
            };
            let place = |t: &Token| Token { line: token.line, file: token.file, ..*t };
            let Some(parameters) = &found.parameters else {
                let body: Vec<Token> = found.body.iter().map(place).collect();
                hidden.push(token.name);
                self.expand_into(&body, hidden, out)?;
                hidden.pop();
                continue;
            };
            if input.get(at).is_none_or(|t| self.names.text(t.name) != "(") {
                out.push(token);
                continue;
            }
            let (arguments, end) = self.arguments(input, at, token)?;
            at = end;
            if arguments.len() != parameters.len() && !(parameters.is_empty() && arguments.iter().all(Vec::is_empty)) {
                let text = self.names.text(token.name);
                let what = format!("macro `{text}` takes {} arguments, {} given", parameters.len(), arguments.len());
                return Err(self.wrong(token.line, token.file, what));
            }
            let mut expanded = Vec::with_capacity(arguments.len());
            for argument in &arguments {
                let mut list = Vec::new();
                self.expand_into(argument, hidden, &mut list)?;
                expanded.push(list);
            }
            let mut body = Vec::new();
            for part in found.body.iter() {
                match parameters.iter().position(|p| *p == part.name && part.kind == Kind::Word) {
                    Some(index) => body.extend_from_slice(&expanded[index]),
                    None => body.push(place(part)),
                }
                if body.len() > MOST_TOKENS {
                    return Err(self.wrong(token.line, token.file, "macros expand too far"));
                }
            }
            hidden.push(token.name);
            self.expand_into(&body, hidden, out)?;
            hidden.pop();
        }
        Ok(())
    }

    /// Arguments of a call whose parenthesis is at `open`, and where it ends.
    fn arguments(&self, input: &[Token], open: usize, name: Token) -> Result<(Vec<Vec<Token>>, usize), Trouble> {
        let mut list = vec![Vec::new()];
        let mut depth = 0;
        for (at, token) in input.iter().enumerate().skip(open) {
            let text = self.names.text(token.name);
            match text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            match (text, depth) {
                (")", 0) => return Ok((list, at + 1)),
                (",", 1) => list.push(Vec::new()),
                ("(", 1) if at == open => {}
                _ => {
                    if let Some(last) = list.last_mut() {
                        last.push(*token);
                    }
                }
            }
        }
        let what = format!("call of macro `{}` without an end", self.names.text(name.name));
        Err(self.wrong(name.line, name.file, what))
    }
}
