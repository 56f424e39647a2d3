//! A C file with its functions, ready to be lowered for given parameters.

use crate::ast::File;
use crate::error::Error;
use crate::lexer::{Kind, Name, Names, Token};
use crate::lower::lower;
use crate::parser::parse;
use crate::preprocess::{Settings, preprocess, preprocess_text};
use rustc_hash::FxHashSet;
use sha2::{Digest, Sha256};
use std::path::Path;
use updates::Program;

/// A parsed file.
#[derive(Debug)]
pub struct Source {
    file: File,
    names: Names,
    path: String,
    tokens: Vec<Token>,
    /// Macros that parameters replaced.
    replaced: Vec<String>,
    /// Identity of the text.
    hash: String,
}

/// What is known about a function before it is lowered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionEntry {
    /// Name.
    pub name: String,
    /// Line.
    pub line: u32,
}

impl Source {
    /// Reads, preprocesses and parses a file.
    pub fn read(path: &Path, settings: &Settings) -> Result<Source, Error> {
        let mut names = Names::default();
        let unit = preprocess(path, settings, &mut names)?;
        Source::parse(path, unit, names)
    }

    /// The same for a text.
    pub fn from_text(path: &Path, text: &str, settings: &Settings) -> Result<Source, Error> {
        let mut names = Names::default();
        let unit = preprocess_text(path, text, settings, &mut names)?;
        Source::parse(path, unit, names)
    }

    fn parse(path: &Path, unit: crate::preprocess::Unit, names: Names) -> Result<Source, Error> {
        let file = parse(&unit, &names)?;
        let mut source = Source {
            file,
            names,
            path: path.display().to_string(),
            tokens: unit.tokens,
            replaced: unit.replaced,
            hash: String::new(),
        };
        let text = source.renamed("");
        let digest = Sha256::digest(text.as_bytes());
        source.hash = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(source)
    }

    /// The preprocessed text, with this suffix on every name that the file defines outside functions; so two files fit
    /// into one.
    pub fn renamed(&self, suffix: &str) -> String {
        self.renamed_without(suffix, &[])
    }

    /// The same, without the functions that this one does not need: what prints and allocates around a kernel uses
    /// headers that are no longer there.
    pub fn renamed_for(&self, function: &str, suffix: &str) -> String {
        let functions = &self.file.functions;
        let mut needed = vec![false; functions.len()];
        let mut open: Vec<usize> =
            (0..functions.len()).filter(|f| self.names.text(functions[*f].name) == function).collect();
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut needed[number], true) {
                let named = |name: Name| self.tokens[functions[number].tokens.clone()].iter().any(|t| t.name == name);
                open.extend((0..functions.len()).filter(|f| !needed[*f] && named(functions[*f].name)));
            }
        }
        let left_out: Vec<_> =
            functions.iter().zip(needed).filter(|(_, needed)| !needed).map(|(f, _)| f.tokens.clone()).collect();
        self.renamed_without(suffix, &left_out)
    }

    fn renamed_without(&self, suffix: &str, left_out: &[std::ops::Range<usize>]) -> String {
        let own: FxHashSet<Name> = self.file.file_names.iter().copied().collect();
        let mut text = String::new();
        let mut line = (0, 0);
        let kept = self.tokens.iter().enumerate().filter(|(at, _)| !left_out.iter().any(|range| range.contains(at)));
        for (_, token) in kept {
            if line != (token.file, token.line) || token.kind == Kind::Pragma {
                text.push('\n');
                line = (token.file, token.line);
            }
            match token.kind {
                Kind::Pragma => text.push_str("#pragma "),
                Kind::End => continue,
                _ => {}
            }
            text.push_str(self.names.text(token.name));
            if token.kind == Kind::Word && own.contains(&token.name) {
                text.push_str(suffix);
            }
            text.push(if token.kind == Kind::Pragma { '\n' } else { ' ' });
        }
        text
    }

    /// Parameters that nobody declares: a program that compiles needs them as macros.
    pub fn undeclared(&self, function: &str, parameters: &[(String, i64)]) -> Vec<(String, i64)> {
        let found = self.file.functions.iter().find(|f| self.names.text(f.name) == function);
        let declared = |name: &str| {
            let own = self.file.file_names.iter().any(|n| self.names.text(*n) == name);
            let argument =
                found.is_some_and(|f| f.parameters.iter().filter_map(|p| p.name).any(|n| self.names.text(n) == name));
            own || argument || self.replaced.iter().any(|r| r == name)
        };
        parameters.iter().filter(|(name, _)| !declared(name)).cloned().collect()
    }

    /// Identity of the preprocessed text.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Path as given.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// All functions of the main file, in order.
    pub fn functions(&self) -> Vec<FunctionEntry> {
        let of_main = self.file.functions.iter().filter(|f| f.main_file);
        of_main.map(|f| FunctionEntry { name: self.names.text(f.name).to_string(), line: f.line }).collect()
    }

    /// Names that the file defines outside functions, types included.
    pub fn file_names(&self) -> Vec<&str> {
        self.file.file_names.iter().map(|name| self.names.text(*name)).collect()
    }

    /// The kernel if there is no doubt: the function with `#pragma scop`, or the only one that no other calls.
    pub fn kernel(&self) -> Result<String, Error> {
        let of_main: Vec<_> = self.file.functions.iter().filter(|f| f.main_file).collect();
        let name = |f: &crate::ast::Function| self.names.text(f.name).to_string();
        let marked: Vec<_> = of_main.iter().filter(|f| f.scop).collect();
        if let [only] = marked.as_slice() {
            return Ok(name(only));
        }
        let candidates: Vec<_> = of_main.iter().filter(|f| !f.is_static && self.names.text(f.name) != "main").collect();
        let what = match (candidates.as_slice(), of_main.as_slice()) {
            ([only], _) => return Ok(name(only)),
            ([], [only]) => return Ok(name(only)),
            ([], []) => "no function".to_string(),
            (several, all) => {
                let listed = if several.is_empty() {
                    all.iter().map(|f| name(f)).collect()
                } else {
                    several.iter().map(|f| name(f)).collect::<Vec<_>>()
                };
                format!("which function? choose with --function: {}", listed.join(", "))
            }
        };
        Err(Error::Malformed { file: self.path.clone(), line: 0, what })
    }

    /// Is there a function of this name?
    pub fn has_function(&self, name: &str) -> bool {
        self.file.functions.iter().any(|f| self.names.text(f.name) == name)
    }

    /// The program of a function with values for its parameters.
    pub fn lower(&self, function: &str, parameters: &[(String, i64)]) -> Result<Program, Error> {
        let found = self.file.functions.iter().find(|f| self.names.text(f.name) == function);
        let Some(found) = found else {
            let what = format!("no function `{function}`");
            return Err(Error::Malformed { file: self.path.clone(), line: 0, what });
        };
        let lowered = lower(&self.file, &self.names, &self.path, found, parameters)?;
        let mut program = lowered.program;
        let used = |name: &String| lowered.used.contains(name) || self.replaced.contains(name);
        program.parameters = parameters.iter().filter(|(name, _)| used(name)).cloned().collect();
        program.hash = self.hash.clone();
        Ok(program)
    }
}
