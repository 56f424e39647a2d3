//! Statements.

use super::Parser;
use crate::ast::{For, Stmt, StmtKind};
use crate::error::Error;
use crate::lexer::Kind;
use rustc_hash::FxHashMap;

impl<'a> Parser<'a> {
    pub(super) fn block(&mut self) -> Result<Stmt, Error> {
        self.enter()?;
        let line = self.peek().line;
        self.expect("{")?;
        self.types.push(FxHashMap::default());
        let mut list = Vec::new();
        while !self.eat("}") {
            if self.peek().kind == Kind::End {
                return Err(self.unexpected("`}`"));
            }
            list.push(self.statement()?);
        }
        self.types.pop();
        self.leave();
        Ok(self.statement_at(StmtKind::Block(list), line))
    }

    fn declaration(&mut self) -> Result<StmtKind, Error> {
        let specifiers = self.specifiers()?;
        if self.eat(";") {
            return Ok(StmtKind::Empty);
        }
        let (name, ty) = self.declarator(specifiers.ty.clone())?;
        let name = name.ok_or_else(|| self.unexpected("a name"))?;
        self.skip_attributes();
        Ok(StmtKind::Declare(self.rest_of_declaration(specifiers, name, ty)?))
    }

    pub(super) fn statement(&mut self) -> Result<Stmt, Error> {
        self.enter()?;
        let line = self.peek().line;
        let kind = self.statement_kind()?;
        self.leave();
        Ok(self.statement_at(kind, line))
    }

    fn statement_kind(&mut self) -> Result<StmtKind, Error> {
        let token = self.peek();
        if token.kind == Kind::Pragma {
            self.at += 1;
            self.scop |= self.names.text(token.name).starts_with("scop");
            return Ok(StmtKind::Pragma(token.name));
        }
        Ok(match self.text() {
            "{" => self.block()?.kind,
            ";" => {
                self.at += 1;
                StmtKind::Empty
            }
            "if" => {
                self.at += 1;
                let cond = self.bracketed()?;
                let yes = self.statement_after_pragmas()?;
                let no = if self.eat("else") { Some(Box::new(self.statement_after_pragmas()?)) } else { None };
                StmtKind::If(cond, Box::new(yes), no)
            }
            "for" => self.for_loop()?,
            "while" => {
                self.at += 1;
                let cond = self.bracketed()?;
                StmtKind::While(cond, Box::new(self.statement_after_pragmas()?))
            }
            "do" => {
                self.at += 1;
                let body = self.statement_after_pragmas()?;
                self.expect("while")?;
                let cond = self.bracketed()?;
                self.expect(";")?;
                StmtKind::DoWhile(Box::new(body), cond)
            }
            "switch" => {
                self.at += 1;
                let value = self.bracketed()?;
                StmtKind::Switch(value, Box::new(self.statement()?))
            }
            "case" => {
                self.at += 1;
                let value = self.conditional()?;
                self.expect(":")?;
                StmtKind::Case(value)
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                StmtKind::Default
            }
            "break" => self.jump(StmtKind::Break)?,
            "continue" => self.jump(StmtKind::Continue)?,
            "return" => {
                self.at += 1;
                let value = if self.text() == ";" { None } else { Some(self.expression()?) };
                self.expect(";")?;
                StmtKind::Return(value)
            }
            "goto" => {
                self.at += 1;
                self.word()?;
                self.expect(";")?;
                StmtKind::Unsupported("`goto`".to_string())
            }
            "asm" | "__asm__" => {
                self.skip_external();
                StmtKind::Unsupported("inline assembly".to_string())
            }
            "__extension__" => {
                self.at += 1;
                self.statement_kind()?
            }
            _ if self.text_at(1) == ":" && token.kind == Kind::Word => {
                self.at += 2;
                // A label nobody jumps to does nothing, and `goto` itself is reported.
                StmtKind::Empty
            }
            _ if self.at_type() => self.declaration()?,
            _ => {
                let value = self.expression()?;
                self.expect(";")?;
                StmtKind::Expr(value)
            }
        })
    }

    fn jump(&mut self, kind: StmtKind) -> Result<StmtKind, Error> {
        self.at += 1;
        self.expect(";")?;
        Ok(kind)
    }

    fn bracketed(&mut self) -> Result<crate::ast::Expr, Error> {
        self.expect("(")?;
        let value = self.expression()?;
        self.expect(")")?;
        Ok(value)
    }

    /// The statement of a loop or branch. A pragma is no statement of its own there.
    fn statement_after_pragmas(&mut self) -> Result<Stmt, Error> {
        let line = self.peek().line;
        if self.peek().kind != Kind::Pragma {
            return self.statement();
        }
        let mut list = Vec::new();
        while self.peek().kind == Kind::Pragma {
            list.push(self.statement()?);
        }
        list.push(self.statement()?);
        Ok(self.statement_at(StmtKind::Block(list), line))
    }

    fn for_loop(&mut self) -> Result<StmtKind, Error> {
        self.at += 1;
        self.expect("(")?;
        self.types.push(FxHashMap::default());
        let line = self.peek().line;
        let init = if self.eat(";") {
            None
        } else if self.at_type() {
            let kind = self.declaration()?;
            Some(self.statement_at(kind, line))
        } else {
            let value = self.expression()?;
            self.expect(";")?;
            Some(self.statement_at(StmtKind::Expr(value), line))
        };
        let cond = if self.text() == ";" { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.text() == ")" { None } else { Some(self.expression()?) };
        self.expect(")")?;
        let body = self.statement_after_pragmas()?;
        self.types.pop();
        Ok(StmtKind::For(Box::new(For { init, cond, step, body })))
    }
}
