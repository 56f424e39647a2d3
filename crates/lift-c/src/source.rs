//! A C file with its functions, ready to be lowered for given parameters.

use crate::ast::File;
use crate::certain;
use crate::error::Error;
use crate::lexer::{Kind, Names, Token};
use crate::lower::lower;
use crate::parser::parse;
use crate::preprocess::{Preprocessed, Settings, Unit, own_unit, preprocess_text, preprocessed, unit_of};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use updates::{Constant, Program};

/// A parsed file.
#[derive(Debug)]
pub struct Source {
    file: File,
    names: Names,
    path: String,
    tokens: Vec<Token>,
    /// Macros that parameters replaced.
    replaced: Vec<String>,
    /// The preprocessed text.
    text: String,
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
        Source::parsed(path, preprocessed(path, settings)?)
    }

    /// Parses what the preprocessor made of a file.
    pub fn parsed(path: &Path, text: Preprocessed) -> Result<Source, Error> {
        let mut names = Names::default();
        let unit = own_unit(path, text, &mut names)?;
        Source::parse(path, unit, names)
    }

    /// Parses a text that is already preprocessed.
    pub fn from_preprocessed(path: &Path, text: &str) -> Result<Source, Error> {
        let mut names = Names::default();
        let unit = unit_of(path, text.to_string(), &mut names)?;
        Source::parse_unit(path, unit, names)
    }

    /// The same for a text.
    pub fn from_text(path: &Path, text: &str, settings: &Settings) -> Result<Source, Error> {
        Source::parsed(path, preprocess_text(path, text.to_string(), settings)?)
    }

    /// What the parser does not read although the compiler does is a gap of ours.
    fn parse(path: &Path, unit: Unit, names: Names) -> Result<Source, Error> {
        let text = unit.text.clone();
        Source::parse_unit(path, unit, names).map_err(|error| as_gap(error, &text))
    }

    fn parse_unit(path: &Path, unit: Unit, names: Names) -> Result<Source, Error> {
        certain::check(&unit, &names)?;
        let file = parse(&unit, &names)?;
        // Of the tokens, not of the text: that names the file's path.
        let mut digest = Sha256::new();
        for token in &unit.tokens {
            digest.update([token.kind as u8, 0]);
            digest.update(names.text(token.name).as_bytes());
            digest.update([0]);
        }
        let digest = digest.finalize();
        Ok(Source {
            file,
            names,
            path: path.display().to_string(),
            tokens: unit.tokens,
            replaced: unit.replaced,
            hash: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
            text: unit.text,
        })
    }

    /// The preprocessed text, as the compiler made it.
    pub fn preprocessed(&self) -> &str {
        &self.text
    }

    /// The numbers that are written in the main file.
    pub fn numbers(&self) -> Vec<Constant> {
        let written = self.tokens.iter().filter(|t| t.kind == Kind::Number && t.file == 0);
        written.filter_map(|t| Some(crate::literals::number(self.names.text(t.name))?.0)).collect()
    }

    /// Is a variable of this name declared outside functions?
    pub fn has_global(&self, name: &str) -> bool {
        self.file.globals.iter().any(|g| self.names.text(g.name) == name)
    }

    /// The structure that is passed to a function at a position, if it has a tag.
    pub fn structure_of(&self, function: &str, position: usize) -> Option<String> {
        let found = self.file.functions.iter().find(|f| self.names.text(f.name) == function)?;
        let crate::ast::Type::Struct(number) = found.parameters.get(position)?.ty else { return None };
        let found = self.file.structs.get(number as usize)?;
        match found.alias {
            Some(alias) => Some(self.names.text(alias).to_string()),
            None => (found.name != "structure").then(|| format!("struct {}", found.name)),
        }
    }

    /// What the functions besides the kernel do, as text, if they may touch a variable of the file: they and all that they
    /// call. Nothing if none of them mentions it.
    pub fn others_with(&self, kernel: &str, variable: &str) -> Vec<String> {
        let functions = &self.file.functions;
        let tokens = |number: usize| &self.tokens[functions[number].tokens.clone()];
        let closure = |start: Vec<usize>| {
            let (mut found, mut open) = (vec![false; functions.len()], start);
            while let Some(number) = open.pop() {
                if !std::mem::replace(&mut found[number], true) {
                    let named = |other: &usize| tokens(number).iter().any(|t| t.name == functions[*other].name);
                    open.extend((0..functions.len()).filter(|other| !found[*other] && named(other)));
                }
            }
            found
        };
        let is_kernel = |f: &usize| self.names.text(functions[*f].name) == kernel;
        let inside = closure((0..functions.len()).filter(is_kernel).collect());
        let others = closure((0..functions.len()).filter(|f| !inside[*f]).collect());
        let others: Vec<usize> = (0..functions.len()).filter(|f| others[*f]).collect();
        if !others.iter().any(|f| tokens(*f).iter().any(|t| self.names.text(t.name) == variable)) {
            return Vec::new();
        }
        let text = |f: usize| tokens(f).iter().map(|t| self.names.text(t.name)).collect::<Vec<_>>().join(" ");
        let mut texts: Vec<String> = others.into_iter().map(text).collect();
        texts.sort();
        texts
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
        let lowered = lower(&self.file, &self.names, &self.path, found, parameters);
        let lowered = lowered.map_err(|error| as_gap(error, &self.text))?;
        let mut program = lowered.program;
        let used = |name: &String| lowered.used.contains(name) || self.replaced.contains(name);
        program.parameters = parameters.iter().filter(|(name, _)| used(name)).cloned().collect();
        program.hash = self.hash.clone();
        Ok(program)
    }
}

/// An error that is ours if the compiler takes the text.
fn as_gap(error: Error, text: &str) -> Error {
    match error {
        Error::Malformed { file, line, what } if compiles(text) => Error::Unsupported { file, line, what },
        other => other,
    }
}

fn compiles(text: &str) -> bool {
    let mut command = Command::new("cc");
    command.args(["-w", "-fsyntax-only", "-xcpp-output", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut pipe) = child.stdin.take() {
        // A compiler that stops reading has its reasons; its status says what matters.
        let _ = pipe.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}
