//! Expressions, by precedence.

use super::Parser;
use crate::ast::{Binary, Expr, ExprKind, StmtKind, Unary};
use crate::error::Error;
use crate::lexer::Kind;

/// Operators by level, the weakest first.
const LEVELS: [&[(&str, Binary)]; 10] = [
    &[("||", Binary::LogicalOr)],
    &[("&&", Binary::LogicalAnd)],
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("==", Binary::Eq), ("!=", Binary::Ne)],
    &[("<", Binary::Lt), (">", Binary::Gt), ("<=", Binary::Le), (">=", Binary::Ge)],
    &[("<<", Binary::Shl), (">>", Binary::Shr)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];

fn level_of(text: &str) -> Option<(usize, Binary)> {
    LEVELS.iter().enumerate().find_map(|(level, operators)| {
        operators.iter().find(|(name, _)| *name == text).map(|(_, operator)| (level, *operator))
    })
}

fn assignment_operator(text: &str) -> Option<Option<Binary>> {
    Some(match text {
        "=" => None,
        "+=" => Some(Binary::Add),
        "-=" => Some(Binary::Sub),
        "*=" => Some(Binary::Mul),
        "/=" => Some(Binary::Div),
        "%=" => Some(Binary::Rem),
        "<<=" => Some(Binary::Shl),
        ">>=" => Some(Binary::Shr),
        "&=" => Some(Binary::And),
        "^=" => Some(Binary::Xor),
        "|=" => Some(Binary::Or),
        _ => return None,
    })
}

impl<'a> Parser<'a> {
    pub(super) fn expression(&mut self) -> Result<Expr, Error> {
        let mut left = self.assignment()?;
        while self.text() == "," {
            let line = self.next().line;
            let right = self.assignment()?;
            let depth = left.depth.max(right.depth);
            left = self.with_depth(ExprKind::Comma(Box::new(left), Box::new(right)), line, depth)?;
        }
        Ok(left)
    }

    pub(super) fn assignment(&mut self) -> Result<Expr, Error> {
        self.enter()?;
        let left = self.conditional()?;
        let found = match assignment_operator(self.text()) {
            Some(operator) => {
                let line = self.next().line;
                let right = self.assignment()?;
                let depth = left.depth.max(right.depth);
                self.with_depth(ExprKind::Assign(operator, Box::new(left), Box::new(right)), line, depth)
            }
            None => Ok(left),
        };
        self.leave();
        found
    }

    pub(super) fn conditional(&mut self) -> Result<Expr, Error> {
        let cond = self.binary(0)?;
        if self.text() != "?" {
            return Ok(cond);
        }
        self.enter()?;
        let line = self.next().line;
        let yes = self.expression()?;
        self.expect(":")?;
        let no = self.conditional()?;
        self.leave();
        let depth = cond.depth.max(yes.depth).max(no.depth);
        self.with_depth(ExprKind::Choice(Box::new(cond), Box::new(yes), Box::new(no)), line, depth)
    }

    /// Operators of at least this level; left-associative.
    fn binary(&mut self, lowest: usize) -> Result<Expr, Error> {
        let mut left = self.unary()?;
        while let Some((level, operator)) = level_of(self.text()) {
            if level < lowest || self.peek().kind != Kind::Punct {
                break;
            }
            let line = self.next().line;
            let right = self.binary(level + 1)?;
            let depth = left.depth.max(right.depth);
            left = self.with_depth(ExprKind::Binary(operator, Box::new(left), Box::new(right)), line, depth)?;
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Error> {
        self.enter()?;
        let line = self.peek().line;
        let operator = match (self.peek().kind, self.text()) {
            (Kind::Punct, "+") => Some(Unary::Plus),
            (Kind::Punct, "-") => Some(Unary::Minus),
            (Kind::Punct, "!") => Some(Unary::Not),
            (Kind::Punct, "~") => Some(Unary::Complement),
            (Kind::Punct, "&") => Some(Unary::Address),
            (Kind::Punct, "*") => Some(Unary::Deref),
            (Kind::Punct, "++") => Some(Unary::PreIncrement),
            (Kind::Punct, "--") => Some(Unary::PreDecrement),
            _ => None,
        };
        let found = if let Some(operator) = operator {
            self.at += 1;
            let inner = self.unary()?;
            let depth = inner.depth;
            self.with_depth(ExprKind::Unary(operator, Box::new(inner)), line, depth)
        } else if self.text() == "sizeof" {
            self.sizeof(line)
        } else if self.text() == "__extension__" {
            self.at += 1;
            self.unary()
        } else if self.text() == "(" && self.type_in_brackets() {
            self.cast(line)
        } else {
            self.postfix()
        };
        self.leave();
        found
    }

    fn type_in_brackets(&mut self) -> bool {
        self.at += 1;
        let found = self.at_type();
        self.at -= 1;
        found
    }

    fn cast(&mut self, line: u32) -> Result<Expr, Error> {
        self.expect("(")?;
        let ty = self.type_name()?;
        self.expect(")")?;
        if self.text() == "{" {
            let list = self.initializer_list()?;
            return self.with_depth(ExprKind::Compound(Box::new(ty), list), line, 0);
        }
        let inner = self.unary()?;
        let depth = inner.depth;
        self.with_depth(ExprKind::Cast(Box::new(ty), Box::new(inner)), line, depth)
    }

    fn sizeof(&mut self, line: u32) -> Result<Expr, Error> {
        self.at += 1;
        if self.text() == "(" && self.type_in_brackets() {
            self.expect("(")?;
            let ty = self.type_name()?;
            self.expect(")")?;
            return self.with_depth(ExprKind::SizeofType(Box::new(ty)), line, 0);
        }
        let inner = self.unary()?;
        let depth = inner.depth;
        self.with_depth(ExprKind::SizeofExpr(Box::new(inner)), line, depth)
    }

    fn postfix(&mut self) -> Result<Expr, Error> {
        let mut left = self.primary()?;
        loop {
            let (line, kind) = (self.peek().line, self.peek().kind);
            if kind != Kind::Punct {
                return Ok(left);
            }
            let depth = left.depth;
            left = match self.text() {
                "[" => {
                    self.at += 1;
                    let index = self.expression()?;
                    self.expect("]")?;
                    let depth = depth.max(index.depth);
                    self.with_depth(ExprKind::Index(Box::new(left), Box::new(index)), line, depth)?
                }
                "(" => {
                    self.at += 1;
                    let mut arguments = Vec::new();
                    while !self.eat(")") {
                        arguments.push(self.assignment()?);
                        if !self.eat(",") && self.text() != ")" {
                            return Err(self.unexpected("`,` or `)`"));
                        }
                    }
                    let depth = arguments.iter().map(|a| a.depth).max().unwrap_or(0).max(depth);
                    self.with_depth(ExprKind::Call(Box::new(left), arguments), line, depth)?
                }
                "." => {
                    self.at += 1;
                    let name = self.word()?;
                    self.with_depth(ExprKind::Member(Box::new(left), name), line, depth)?
                }
                "->" => {
                    self.at += 1;
                    let name = self.word()?;
                    self.with_depth(ExprKind::Arrow(Box::new(left), name), line, depth)?
                }
                "++" => {
                    self.at += 1;
                    self.with_depth(ExprKind::Unary(Unary::PostIncrement, Box::new(left)), line, depth)?
                }
                "--" => {
                    self.at += 1;
                    self.with_depth(ExprKind::Unary(Unary::PostDecrement, Box::new(left)), line, depth)?
                }
                _ => return Ok(left),
            };
        }
    }

    fn primary(&mut self) -> Result<Expr, Error> {
        let token = self.peek();
        match token.kind {
            Kind::Number => {
                self.at += 1;
                self.with_depth(ExprKind::Number(token.name), token.line, 0)
            }
            Kind::Char => {
                self.at += 1;
                self.with_depth(ExprKind::Char(token.name), token.line, 0)
            }
            Kind::Text => {
                while self.peek().kind == Kind::Text {
                    self.at += 1;
                }
                self.with_depth(ExprKind::Text, token.line, 0)
            }
            Kind::Word => {
                let name = self.word().map_err(|_| self.unexpected("an expression"))?;
                self.with_depth(ExprKind::Name(name), token.line, 0)
            }
            Kind::Punct if self.text() == "(" => {
                self.at += 1;
                if self.text() == "{" {
                    let StmtKind::Block(list) = self.block()?.kind else { return Err(self.unexpected("a block")) };
                    self.expect(")")?;
                    return self.with_depth(ExprKind::Statements(list), token.line, 0);
                }
                let inner = self.expression()?;
                self.expect(")")?;
                Ok(inner)
            }
            _ => Err(self.unexpected("an expression")),
        }
    }

    fn with_depth(&self, kind: ExprKind, line: u32, below: u16) -> Result<Expr, Error> {
        // Trees are walked recursively, on a stack that bears this.
        if below >= 1500 {
            return Err(self.malformed("the expression is nested too deeply"));
        }
        Ok(Expr { kind, line, depth: below + 1 })
    }
}
