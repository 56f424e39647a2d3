//! Tokens to a syntax tree: declarations and the machinery; expressions and statements are in their own modules.
//!
//! A hand-written recursive descent. The parser crates that were measured either forget pragmas, which say where
//! OpenMP loops and kernels are, or need milliseconds for a file; and nothing bounds their recursion. Here depth is
//! bounded, and declarations of system headers that make no sense are skipped.

use crate::ast::{Basic, File, Function, Initializer, Parameter, Stmt, StmtKind, Struct, Type, Variable};
use crate::error::Error;
use crate::lexer::{Kind, Name, Names, Token};
use crate::preprocess::Unit;
use rustc_hash::{FxHashMap, FxHashSet};

mod declarator;
mod expressions;
mod specifiers;
mod statements;

use specifiers::Specifiers;

/// Nesting of statements, types and parentheses is refused beyond this.
const DEEPEST: u32 = 250;

/// The state of parsing.
pub(crate) struct Parser<'a> {
    tokens: &'a [Token],
    files: &'a [String],
    names: &'a Names,
    at: usize,
    depth: u32,
    file: File,
    /// Names of types, by scope; `None` hides an outer one.
    types: Vec<FxHashMap<Name, Option<Type>>>,
    tags: FxHashMap<Name, u32>,
    /// Enumerations by tag: their type.
    enums: FxHashMap<Name, Type>,
    /// Names of variables, functions, parameters and types, at any scope.
    declared: FxHashSet<Name>,
    declarations: u32,
    scop: bool,
}

/// Parses a preprocessed file.
pub(crate) fn parse(unit: &Unit, names: &Names) -> Result<File, Error> {
    let mut parser = Parser {
        tokens: &unit.tokens,
        files: &unit.files,
        names,
        at: 0,
        depth: 0,
        file: File::default(),
        types: vec![FxHashMap::default()],
        tags: FxHashMap::default(),
        enums: FxHashMap::default(),
        declared: FxHashSet::default(),
        declarations: 0,
        scop: false,
    };
    while parser.peek().kind != Kind::End {
        let start = parser.at;
        let system = parser.in_system_header();
        if let Err(error) = parser.external() {
            if !system {
                return Err(error);
            }
            parser.at = start;
            parser.skip_external();
        }
    }
    parser.one_meaning()?;
    Ok(parser.file)
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn text(&self) -> &'a str {
        self.text_at(0)
    }

    fn text_at(&self, ahead: usize) -> &'a str {
        let token = self.tokens[(self.at + ahead).min(self.tokens.len() - 1)];
        match token.kind {
            Kind::Text | Kind::Pragma | Kind::End => "",
            _ => self.names.text(token.name),
        }
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.at += usize::from(token.kind != Kind::End);
        token
    }

    /// Takes the token if it has this text.
    fn eat(&mut self, text: &str) -> bool {
        let found = self.text() == text && !text.is_empty();
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<(), Error> {
        if self.eat(text) { Ok(()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> Error {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => "the end of the file".to_string(),
            Kind::Pragma => "a pragma".to_string(),
            _ => format!("`{}`", self.names.text(token.name)),
        };
        self.malformed(format!("expected {wanted}, found {found}"))
    }

    fn malformed(&self, what: impl Into<String>) -> Error {
        let token = self.peek();
        let file = self.files.get(token.file as usize).cloned().unwrap_or_default();
        Error::Malformed { file, line: token.line, what: what.into() }
    }

    fn enter(&mut self) -> Result<(), Error> {
        self.depth += 1;
        if self.depth > DEEPEST { Err(self.malformed("nested too deeply")) } else { Ok(()) }
    }

    fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Enumerators are kept without their scopes, so a name of one may have no other meaning anywhere.
    fn one_meaning(&self) -> Result<(), Error> {
        let mut seen = FxHashSet::default();
        for (name, _) in &self.file.constants {
            if !seen.insert(*name) || self.declared.contains(name) {
                return Err(
                    self.unsupported(format!("the enumerator `{}`, a name with two meanings", self.names.text(*name)))
                );
            }
        }
        Ok(())
    }

    fn unsupported(&self, what: impl Into<String>) -> Error {
        let token = self.peek();
        let file = self.files.get(token.file as usize).cloned().unwrap_or_default();
        Error::Unsupported { file, line: token.line, what: what.into() }
    }

    fn in_system_header(&self) -> bool {
        self.peek().file != 0
    }

    /// Skips to behind the next `;` or `}` outside brackets.
    fn skip_external(&mut self) {
        let mut depth = 0i64;
        while self.peek().kind != Kind::End {
            let text = self.text();
            self.at += 1;
            match text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
            if depth <= 0 && (text == ";" || text == "}") {
                break;
            }
        }
        self.depth = 0;
        self.types.truncate(1);
    }

    fn word(&mut self) -> Result<Name, Error> {
        let token = self.peek();
        if token.kind == Kind::Word && !specifiers::is_keyword(self.text()) {
            self.at += 1;
            Ok(token.name)
        } else {
            Err(self.unexpected("a name"))
        }
    }

    /// A declaration or definition at file scope.
    fn external(&mut self) -> Result<(), Error> {
        if self.peek().kind == Kind::Pragma {
            // Copies of globals, reductions of the file's own, code for other devices: they change what loops mean.
            if self.names.text(self.peek().name).starts_with("omp ") {
                let text = self.names.text(self.peek().name).to_string();
                return Err(self.unsupported(format!("`#pragma {text}` outside functions")));
            }
            self.at += 1;
            return Ok(());
        }
        if self.eat(";") {
            return Ok(());
        }
        if self.text() == "_Static_assert" || self.text() == "__asm__" || self.text() == "asm" {
            self.skip_external();
            return Ok(());
        }
        let (first, line, main_file) = (self.at, self.peek().line, self.peek().file == 0);
        let specifiers = self.specifiers()?;
        if self.eat(";") {
            return Ok(());
        }
        let (name, ty) = self.declarator(specifiers.ty.clone())?;
        let name = name.ok_or_else(|| self.unexpected("a name"))?;
        self.skip_attributes();
        if self.text() == "{" {
            let Type::Function(result, parameters) = ty else { return Err(self.unexpected("`;`")) };
            return self.definition(name, (*result, parameters), &specifiers, first, (line, main_file));
        }
        for variable in self.rest_of_declaration(specifiers, name, ty)? {
            self.file.file_names.push(variable.name);
            self.file.globals.push(variable);
        }
        Ok(())
    }

    fn definition(
        &mut self,
        name: Name,
        (result, parameters): (Type, Vec<Parameter>),
        specifiers: &Specifiers,
        first: usize,
        (line, main_file): (u32, bool),
    ) -> Result<(), Error> {
        self.scop = false;
        self.types.push(FxHashMap::default());
        for parameter in parameters.iter().filter_map(|p| p.name) {
            self.hide(parameter);
        }
        let body = match self.block()?.kind {
            StmtKind::Block(body) => body,
            _ => Vec::new(),
        };
        self.types.pop();
        self.declared.insert(name);
        self.file.file_names.push(name);
        let function = Function {
            name,
            result,
            parameters,
            body,
            line,
            is_static: specifiers.is_static,
            scop: self.scop,
            main_file,
            tokens: first..self.at,
        };
        self.file.functions.push(function);
        Ok(())
    }

    /// What follows the first declarator, up to the semicolon. Types and functions leave no variable.
    fn rest_of_declaration(&mut self, specifiers: Specifiers, name: Name, ty: Type) -> Result<Vec<Variable>, Error> {
        let mut variables = Vec::new();
        let (mut name, mut ty) = (name, ty);
        loop {
            let line = self.peek().line;
            if specifiers.is_typedef {
                self.file.file_names.push(name);
                self.declared.insert(name);
                if let (Type::Struct(number), 1) = (&ty, self.types.len()) {
                    self.file.structs[*number as usize].alias = Some(name);
                }
                if let Some(scope) = self.types.last_mut() {
                    scope.insert(name, Some(ty));
                }
            } else {
                self.hide(name);
                let init = if self.eat("=") { Some(self.initializer()?) } else { None };
                if !matches!(ty, Type::Function(..)) {
                    self.declarations += 1;
                    variables.push(Variable {
                        name,
                        ty,
                        init,
                        constant: specifiers.constant,
                        is_static: specifiers.is_static,
                        is_extern: specifiers.is_extern,
                        volatile: specifiers.volatile,
                        line,
                        number: self.declarations,
                    });
                }
            }
            if !self.eat(",") {
                break;
            }
            let (next, next_type) = self.declarator(specifiers.ty.clone())?;
            name = next.ok_or_else(|| self.unexpected("a name"))?;
            ty = next_type;
            self.skip_attributes();
        }
        self.expect(";")?;
        Ok(variables)
    }

    fn initializer(&mut self) -> Result<Initializer, Error> {
        if self.text() != "{" {
            return Ok(Initializer::Value(self.assignment()?));
        }
        Ok(Initializer::List(self.initializer_list()?))
    }

    fn initializer_list(&mut self) -> Result<Vec<Initializer>, Error> {
        self.enter()?;
        self.expect("{")?;
        let mut list = Vec::new();
        while !self.eat("}") {
            list.push(self.designated()?);
            if !self.eat(",") && self.text() != "}" {
                return Err(self.unexpected("`,` or `}`"));
            }
        }
        self.leave();
        Ok(list)
    }

    /// An initializer, perhaps for a place that is named.
    fn designated(&mut self) -> Result<Initializer, Error> {
        self.enter()?;
        let made = if self.eat("[") {
            let index = self.conditional()?;
            self.expect("]")?;
            Initializer::At(index, Box::new(self.after_designator()?))
        } else if self.eat(".") {
            let name = self.word()?;
            Initializer::Member(name, Box::new(self.after_designator()?))
        } else {
            self.initializer()?
        };
        self.leave();
        Ok(made)
    }

    fn after_designator(&mut self) -> Result<Initializer, Error> {
        if matches!(self.text(), "[" | ".") {
            return self.designated();
        }
        self.expect("=")?;
        self.initializer()
    }

    /// The name is a variable from here on, whatever type had it before.
    fn hide(&mut self, name: Name) {
        self.declared.insert(name);
        if self.types.iter().any(|scope| scope.contains_key(&name))
            && let Some(scope) = self.types.last_mut()
        {
            scope.insert(name, None);
        }
    }

    fn typedef(&self, name: Name) -> Option<&Type> {
        self.types.iter().rev().find_map(|scope| scope.get(&name)).and_then(Option::as_ref)
    }

    fn add_struct(&mut self, name: String, union: bool) -> u32 {
        self.file.structs.push(Struct { name, members: None, union, alias: None });
        self.file.structs.len() as u32 - 1
    }

    fn statement_at(&self, kind: StmtKind, line: u32) -> Stmt {
        Stmt { kind, line }
    }
}

/// The type of a basic one.
pub(crate) fn basic(basic: Basic) -> Type {
    Type::Basic(basic)
}
