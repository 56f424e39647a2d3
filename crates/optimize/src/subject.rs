//! The function that is optimised: where it is, what says what is right, and where a better version goes.

use crate::assembly::{Body, Listing};
use crate::compilers::{Compiler, Family};
use crate::cpu::Cpu;
use crate::recipe::alone;
use crate::request::{Request, Specification};
use std::fmt;
use std::path::{Path, PathBuf};

/// What cannot be optimised, and why: bad input.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused(pub String);

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// The kinds of files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// C: what is written is the compiler's assembly of the file with one function exchanged.
    Source,
    /// Assembly: what is written is the file with one function exchanged.
    Assembly,
    /// An object: what is written is the function alone.
    Object,
}

/// A function and its surroundings.
#[derive(Debug)]
pub struct Subject {
    /// The function's name.
    pub function: String,
    /// Its file, for messages.
    pub shown: String,
    /// The kind of its file.
    pub kind: Kind,
    /// The object or assembly file that says what is right.
    pub specification: PathBuf,
    /// The text in which the function is exchanged.
    pub base: Option<Listing>,
    /// The C file that compilers read.
    pub source: Option<PathBuf>,
    /// The object that somebody has who does nothing: what is to be beaten.
    pub own: PathBuf,
}

impl Kind {
    /// The kind of a file by the ending of its name.
    pub fn of(path: &Path) -> Kind {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("c" | "i") => Kind::Source,
            Some("s" | "S") => Kind::Assembly,
            _ => Kind::Object,
        }
    }
}

impl Subject {
    /// Finds the function, and compiles what has to be compiled into the folder.
    pub fn new(request: &Request, compilers: &[Compiler], folder: &Path) -> Result<Subject, Refused> {
        let kind = Kind::of(&request.file);
        let shown = request.file.display().to_string();
        let bytes = std::fs::metadata(&request.file).map_err(|error| Refused(format!("{shown}: {error}")))?;
        if !bytes.is_file() {
            return Err(Refused(format!("{shown}: not a file")));
        }
        let file = absolute(&request.file)?;
        let source = match (&request.source, kind) {
            (Some(path), _) => Some(absolute(path)?),
            (None, Kind::Source) => Some(file.clone()),
            (None, _) => None,
        };
        let compiled = |output: &str, flags: &[String], context: &[String]| {
            let source = source.as_ref().ok_or(Refused("no C source to compile".to_string()))?;
            let Some(compiler) = usual(compilers) else {
                return Err(Refused(
                    "neither gcc nor clang is on the PATH, and the source must be compiled".to_string(),
                ));
            };
            let output = folder.join(output);
            let flags: Vec<String> = [flags, context, &alone(compiler.family)].concat();
            compiler.compile(&flags, source, &output).map_err(|error| Refused(error.0))?;
            Ok(output)
        };
        let plain = || compiled("original.o", &["-O0", "-g", "-c"].map(str::to_string), &request.context);
        let specification = match (kind, request.specification) {
            (Kind::Source, _) | (_, Specification::Source) => plain()?,
            _ => file.clone(),
        };
        let flags = ["-O2".to_string(), format!("-march={}", request.cpu.march()), "-S".to_string()];
        let (base, own) = match kind {
            Kind::Source => {
                let path = compiled("base.s", &flags, &request.context)?;
                (Some(listing(&path)?), path)
            }
            Kind::Assembly if request.file.extension().is_some_and(|extension| extension == "s") => {
                (Some(listing(&file)?), file)
            }
            Kind::Assembly => {
                return Err(Refused(format!("{shown}: needs the preprocessor; give its output, or the object")));
            }
            Kind::Object => (None, file),
        };
        let function = request.function.clone();
        Ok(Subject { function, shown, kind, specification, base, source, own })
    }

    /// The text of a file with this version of the function.
    pub fn with(&self, body: &Body) -> Result<String, crate::assembly::CannotExchange> {
        match &self.base {
            Some(base) => base.exchange(&self.function, body),
            None => Ok(body.alone(&self.function)),
        }
    }

    /// The code that is optimised, as a version like others.
    pub fn body(&self) -> Option<Body> {
        self.base.as_ref().and_then(|base| base.extract(&self.function).ok())
    }

    /// Compiler and processor of the version that is to be beaten, if it is not the file itself.
    pub fn rival(&self, compilers: &[Compiler], cpu: Cpu) -> Option<(Family, &'static str, Cpu)> {
        let compiler = usual(compilers).filter(|_| self.kind == Kind::Source)?;
        Some((compiler.family, "O3", cpu))
    }
}

/// The compiler that most programs here are made with.
fn usual(compilers: &[Compiler]) -> Option<&Compiler> {
    compilers.iter().min_by_key(|compiler| compiler.family)
}

fn listing(path: &Path) -> Result<Listing, Refused> {
    let text = std::fs::read(path).map_err(|error| Refused(format!("{}: {error}", path.display())))?;
    Ok(Listing::parse(&String::from_utf8_lossy(&text)))
}

fn absolute(path: &Path) -> Result<PathBuf, Refused> {
    path.canonicalize().map_err(|error| Refused(format!("{}: {error}", path.display())))
}
