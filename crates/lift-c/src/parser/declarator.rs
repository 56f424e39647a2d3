//! Declarators: pointers, arrays, functions and parentheses around a name.

use super::Parser;
use crate::ast::{Parameter, Type};
use crate::error::Error;
use crate::lexer::{Kind, Name};

impl<'a> Parser<'a> {
    /// A declarator, named or not, for a base type.
    pub(super) fn declarator(&mut self, base: Type) -> Result<(Option<Name>, Type), Error> {
        self.enter()?;
        let mut ty = base;
        self.skip_attributes();
        while self.eat("*") {
            ty = Type::Pointer(Box::new(ty));
            if self.skip_qualifiers() {
                ty = Type::Other("volatile".to_string());
            }
        }
        let found = self.direct(ty)?;
        self.leave();
        Ok(found)
    }

    /// Skips them; is `volatile` among them?
    fn skip_qualifiers(&mut self) -> bool {
        let mut volatile = false;
        loop {
            self.skip_attributes();
            match self.text() {
                "volatile" | "__volatile__" => volatile = true,
                "const" | "restrict" | "__restrict" | "__restrict__" | "__const" | "_Nonnull" => {}
                _ => return volatile,
            }
            self.at += 1;
        }
    }

    fn direct(&mut self, ty: Type) -> Result<(Option<Name>, Type), Error> {
        // `(` opens a nested declarator unless a parameter list starts there.
        if self.text() == "(" && self.nested_declarator() {
            let inner = self.at + 1;
            self.skip_brackets();
            let outer = self.suffixes(ty)?;
            let end = std::mem::replace(&mut self.at, inner);
            let found = self.declarator(outer)?;
            self.expect(")")?;
            self.at = end;
            return Ok(found);
        }
        let token = self.peek();
        let name = match token.kind {
            Kind::Word if !super::specifiers::is_keyword(self.text()) => Some(self.word()?),
            _ => None,
        };
        Ok((name, self.suffixes(ty)?))
    }

    fn nested_declarator(&self) -> bool {
        match self.text_at(1) {
            "*" | "(" | "__attribute__" => true,
            _ => {
                let token = self.tokens[(self.at + 1).min(self.tokens.len() - 1)];
                token.kind == Kind::Word
                    && !super::specifiers::is_keyword(self.text_at(1))
                    && self.typedef(token.name).is_none()
            }
        }
    }

    fn suffixes(&mut self, ty: Type) -> Result<Type, Error> {
        if self.text() == "[" {
            let mut dims = Vec::new();
            while self.eat("[") {
                while let "static" | "const" | "restrict" | "__restrict" | "__restrict__" | "volatile" = self.text() {
                    self.at += 1;
                }
                let star = self.text() == "*" && self.text_at(1) == "]";
                self.at += usize::from(star);
                let length = if self.text() == "]" { None } else { Some(Box::new(self.assignment()?)) };
                self.expect("]")?;
                dims.push(length);
                if dims.len() > 16 {
                    return Err(self.malformed("more than 16 dimensions"));
                }
            }
            let element = if self.text() == "(" { return Err(self.unexpected("`;`")) } else { ty };
            return Ok(dims.into_iter().rev().fold(element, |ty, length| Type::Array(Box::new(ty), length)));
        }
        if self.eat("(") {
            let parameters = self.parameters()?;
            let result = self.suffixes(ty)?;
            return Ok(Type::Function(Box::new(result), parameters));
        }
        Ok(ty)
    }

    fn parameters(&mut self) -> Result<Vec<Parameter>, Error> {
        let mut list = Vec::new();
        if self.eat(")") {
            return Ok(list);
        }
        if self.text() == "void" && self.text_at(1) == ")" {
            self.at += 2;
            return Ok(list);
        }
        loop {
            if self.eat("...") {
                break;
            }
            let line = self.peek().line;
            let specifiers = self.specifiers()?;
            let (name, ty) = self.declarator(specifiers.ty)?;
            self.skip_attributes();
            list.push(Parameter { name, ty, line });
            if !self.eat(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(list)
    }

    /// A type without a name: of casts and `sizeof`.
    pub(super) fn type_name(&mut self) -> Result<Type, Error> {
        let specifiers = self.specifiers()?;
        let (name, ty) = self.declarator(specifiers.ty)?;
        if name.is_some() { Err(self.malformed("a name inside a cast")) } else { Ok(ty) }
    }
}
