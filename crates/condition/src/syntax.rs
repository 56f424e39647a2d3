//! The grammar: C's expressions without assignments, and a few names with a meaning of their own.
//!
//! Precedences are those of C. What looks like a type in parentheses begins a cast; only the interface knows which names are types.

use crate::token::{Token, TokenKind, tokens};
use crate::types::Type;
use crate::{Error, Interface};

/// A part of a condition, and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub column: usize,
    pub kind: NodeKind,
}

#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    Integer {
        value: u64,
        unsigned: bool,
        long: bool,
        decimal: bool,
    },
    Character(i32),
    Float {
        value: f64,
        bytes: u16,
    },
    Name(String),
    Raw(String),
    Unary(&'static str, Box<Node>),
    Binary(&'static str, Box<Node>, Box<Node>),
    Choice(Box<Node>, Box<Node>, Box<Node>),
    Index(Box<Node>, Box<Node>),
    /// Of what the first points to, if it is written with an arrow.
    Member {
        of: Box<Node>,
        name: String,
        arrow: bool,
    },
    Call(String, Vec<Node>),
    /// Names of axioms.
    Axioms(Vec<(usize, String)>),
    Cast(Type, Box<Node>),
    SizeOf(Type),
    SizeOfValue(Box<Node>),
}

/// Binary operators, the weakest first.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];
const UNARY: [&str; 6] = ["!", "~", "-", "+", "*", "&"];
const ASSIGNMENTS: [&str; 13] = ["=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"];
/// Nested deeper than this is refused.
const DEEPEST: u32 = 60;
/// Operators of a level in a row; members and indices of one thing.
const LONGEST_CHAIN: usize = 64;
/// Parts of a conjunction or disjunction.
const LONGEST_LIST: usize = 1_000;

/// Reads a whole text.
pub(crate) fn read(text: &str, interface: &Interface) -> Result<Node, Error> {
    let mut parser = Parser { tokens: tokens(text)?, at: 0, depth: 0, interface };
    let node = parser.choice()?;
    match parser.peek() {
        TokenKind::End => Ok(node),
        _ => Err(parser.unexpected("an operator or the end expected")),
    }
}

struct Parser<'i> {
    tokens: Vec<Token>,
    at: usize,
    depth: u32,
    interface: &'i Interface,
}

impl Parser<'_> {
    fn peek(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    fn column(&self) -> usize {
        self.tokens[self.at].column
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn unexpected(&self, what: &str) -> Error {
        match self.peek() {
            TokenKind::Sign(sign) if ASSIGNMENTS.contains(sign) => {
                let hint = if *sign == "=" { "; equality is `==`" } else { "" };
                Error::new(self.column(), format!("`{sign}` changes something, a condition cannot{hint}"))
            }
            _ => Error::new(self.column(), what),
        }
    }

    fn eat(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Sign(s) if *s == sign);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<(), Error> {
        if self.eat(sign) { Ok(()) } else { Err(self.unexpected(&format!("`{sign}` expected"))) }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<T, Error> {
        if self.depth >= DEEPEST {
            return Err(Error::new(self.column(), "the expression is nested too deeply"));
        }
        self.depth += 1;
        let out = read(self);
        self.depth -= 1;
        out
    }

    fn choice(&mut self) -> Result<Node, Error> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            let column = parser.column();
            if !parser.eat("?") {
                return Ok(condition);
            }
            let first = parser.choice()?;
            parser.expect(":")?;
            let second = parser.choice()?;
            let kind = NodeKind::Choice(Box::new(condition), Box::new(first), Box::new(second));
            Ok(Node { column, kind })
        })
    }

    /// Operators of a level and above, from left to right.
    fn binary(&mut self, level: usize) -> Result<Node, Error> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let most = if level < 2 { LONGEST_LIST } else { LONGEST_CHAIN };
        for _ in 0..most {
            let column = self.column();
            let found = operators.iter().find(|sign| matches!(self.peek(), TokenKind::Sign(s) if s == *sign));
            let Some(sign) = found else { return Ok(left) };
            self.advance();
            let right = self.binary(level + 1)?;
            left = Node { column, kind: NodeKind::Binary(sign, Box::new(left), Box::new(right)) };
        }
        Err(Error::new(self.column(), "the expression is too long"))
    }

    fn unary(&mut self) -> Result<Node, Error> {
        let column = self.column();
        let sign = UNARY.into_iter().find(|sign| matches!(self.peek(), TokenKind::Sign(s) if s == sign));
        if let Some(sign) = sign {
            self.advance();
            let operand = self.deeper(Self::unary)?;
            return Ok(Node { column, kind: NodeKind::Unary(sign, Box::new(operand)) });
        }
        if matches!(self.peek(), TokenKind::Name(name) if name == "sizeof") {
            self.advance();
            let kind = match self.type_in_parentheses()? {
                Some(ty) => NodeKind::SizeOf(ty),
                None => NodeKind::SizeOfValue(Box::new(self.deeper(Self::unary)?)),
            };
            return Ok(Node { column, kind });
        }
        if let Some(ty) = self.type_in_parentheses()? {
            let operand = self.deeper(Self::unary)?;
            return Ok(Node { column, kind: NodeKind::Cast(ty, Box::new(operand)) });
        }
        self.postfix()
    }

    /// `(type)`, if that is what follows.
    fn type_in_parentheses(&mut self) -> Result<Option<Type>, Error> {
        let start = self.at;
        if !self.eat("(") {
            return Ok(None);
        }
        let mut words = Vec::new();
        let column = self.column();
        while let TokenKind::Name(word) = self.peek() {
            words.push(word.clone());
            self.advance();
        }
        let words: Vec<&str> = words.iter().map(String::as_str).filter(|w| *w != "const" && *w != "volatile").collect();
        let Some(mut ty) = self.interface.type_named(&words) else {
            if let [word @ ("struct" | "union" | "enum"), name, ..] = words[..] {
                return Err(Error::new(column, format!("no `{word} {name}` is known")));
            }
            self.at = start;
            return Ok(None);
        };
        loop {
            match self.peek() {
                TokenKind::Sign("*") => ty = Type::Pointer(Box::new(ty)),
                TokenKind::Name(word) if matches!(&word[..], "const" | "volatile" | "restrict") => {}
                _ => break,
            }
            self.advance();
        }
        self.expect(")")?;
        Ok(Some(ty))
    }

    fn postfix(&mut self) -> Result<Node, Error> {
        let mut node = self.primary()?;
        for _ in 0..LONGEST_CHAIN {
            let column = self.column();
            let kind = if self.eat("[") {
                let index = self.choice()?;
                self.expect("]")?;
                NodeKind::Index(Box::new(node), Box::new(index))
            } else if self.eat(".") {
                NodeKind::Member { of: Box::new(node), name: self.name()?, arrow: false }
            } else if self.eat("->") {
                NodeKind::Member { of: Box::new(node), name: self.name()?, arrow: true }
            } else {
                return Ok(node);
            };
            node = Node { column, kind };
        }
        Err(Error::new(self.column(), "the expression is too long"))
    }

    fn name(&mut self) -> Result<String, Error> {
        match self.peek() {
            TokenKind::Name(name) => {
                let name = name.clone();
                self.advance();
                Ok(name)
            }
            _ => Err(self.unexpected("a name expected")),
        }
    }

    fn primary(&mut self) -> Result<Node, Error> {
        let column = self.column();
        let kind = match self.peek().clone() {
            TokenKind::Integer { value, unsigned, long, decimal } => {
                NodeKind::Integer { value, unsigned, long, decimal }
            }
            TokenKind::Character(value) => NodeKind::Character(value),
            TokenKind::Float { value, bytes } => NodeKind::Float { value, bytes },
            TokenKind::Raw(text) => NodeKind::Raw(text),
            TokenKind::Name(name) => {
                self.advance();
                let kind = if self.eat("(") { self.call(name)? } else { NodeKind::Name(name) };
                return Ok(Node { column, kind });
            }
            TokenKind::Sign("(") => {
                self.advance();
                let inside = self.choice()?;
                self.expect(")")?;
                return Ok(inside);
            }
            _ => return Err(self.unexpected("a value expected")),
        };
        self.advance();
        Ok(Node { column, kind })
    }

    fn call(&mut self, name: String) -> Result<NodeKind, Error> {
        if name == "fp" {
            return self.axioms();
        }
        let mut operands = Vec::new();
        while !self.eat(")") {
            if !operands.is_empty() {
                self.expect(",")?;
            }
            operands.push(self.choice()?);
        }
        Ok(NodeKind::Call(name, operands))
    }

    /// Names with hyphens, separated by commas.
    fn axioms(&mut self) -> Result<NodeKind, Error> {
        let mut names = Vec::new();
        loop {
            let column = self.column();
            let mut name = self.name()?;
            while self.eat("-") {
                name = format!("{name}-{}", self.name()?);
            }
            names.push((column, name));
            if self.eat(")") {
                return Ok(NodeKind::Axioms(names));
            }
            self.expect(",")?;
        }
    }
}
