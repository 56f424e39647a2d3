//! Object code: against C, or against other object code with a C file as the interface. The C file says how the function is
//! called, and which cells the caller sees.

use super::agreement::{self, Agreement};
use super::{Job, Names, Run, is_c, native, replay, unknown};
use crate::objects::input::{read, unsupported};
use crate::status::Failure;
use kernel::nests::Subject;
use lift_c::{Error, Settings, Source};
use pair::new_arena;
use program::{Function, Side};
use search::nests::{KernelOutcome, KernelVerdict, check_object_code};
use search::{Reason, ReasonKind, WitnessKind};
use std::path::{Path, PathBuf};
use term::Arena;

/// The files of a comparison.
#[derive(Clone, Copy)]
pub(super) struct Files<'a> {
    pub original: &'a Path,
    pub candidate: &'a Path,
    /// The C file that says how the function is called, if neither of the others does.
    pub interface: Option<&'a Path>,
}

impl<'a> Files<'a> {
    /// Is one of the two object code?
    pub fn with_object(self) -> bool {
        !is_c(self.original) || !is_c(self.candidate)
    }

    /// The C file of a comparison with object code.
    fn c_file(self) -> Result<&'a Path, Failure> {
        let own = [self.original, self.candidate].into_iter().find(|path| is_c(path));
        match (own, self.interface) {
            (Some(_), Some(path)) => {
                Err(Failure(format!("--interface {}: one of the files is C and is the interface", path.display())))
            }
            (Some(path), None) | (None, Some(path)) => Ok(path),
            (None, None) => Err(Failure(
                "two object files need --interface FILE.c: a C file that says what the arguments are".to_string(),
            )),
        }
    }
}

/// A lifted function with the owner of its terms.
struct Lifted {
    arena: Arena,
    function: Function,
}

/// Two programs that are called alike.
pub(super) struct Loaded {
    source: Source,
    pub interface: updates::Program,
    code: [Option<Lifted>; 2],
}

impl Loaded {
    /// The two programs.
    pub fn subjects(&self) -> [Subject<'_>; 2] {
        self.code.each_ref().map(|side| match side {
            None => Subject::C,
            Some(Lifted { arena, function }) => Subject::Code(code::Code { arena, function }),
        })
    }

    /// Identities of the two programs' texts.
    pub fn hashes(&self) -> [String; 2] {
        self.code.each_ref().map(|side| match side {
            None => self.source.hash().to_string(),
            Some(lifted) => lifted.function.hash.clone(),
        })
    }

    /// Identity of the interface's text.
    pub fn interface_hash(&self) -> &str {
        self.source.hash()
    }
}

/// Reads two programs of which at least one is object code. The inner error is an answer.
pub(super) fn load(
    files: Files<'_>,
    names: [&str; 2],
    settings: &Settings,
) -> Result<Result<Loaded, Box<KernelOutcome>>, Failure> {
    let path = files.c_file()?;
    let source = Source::read(path, settings).map_err(|error| Failure(error.to_string()))?;
    let sides = [(Side::Original, files.original), (Side::Candidate, files.candidate)];
    let c_name = sides.iter().zip(names).find(|((_, file), _)| is_c(file)).map(|(_, name)| name);
    let c_name = c_name.unwrap_or(if source.has_function(names[0]) { names[0] } else { names[1] }).to_string();
    let mut code = [None, None];
    for (((side, file), name), made) in sides.into_iter().zip(names).zip(&mut code) {
        let object = if is_c(file) { None } else { Some(read(file)?) };
        let found = match &object {
            None => source.has_function(name).then_some(0),
            Some(object) => object.find(name),
        };
        let Some(found) = found else {
            if side == Side::Original {
                return Err(Failure(format!("--function {name}: the original has no function of that name")));
            }
            let what = format!("the candidate has no function `{name}`");
            return Ok(Err(Box::new(unknown(Reason::new(ReasonKind::MissingFunction, what)))));
        };
        let Some(object) = object else { continue };
        let mut arena = new_arena();
        match object.lift(found, side, &mut arena) {
            Ok(function) => *made = Some(Lifted { arena, function }),
            Err(error) => return Ok(Err(Box::new(unknown(unsupported(error))))),
        }
    }
    if !source.has_function(&c_name) {
        return Err(Failure(format!("{}: no function `{c_name}`, which the objects have", source.path())));
    }
    let interface = match source.lower(&c_name, &settings.parameters) {
        Ok(program) => program,
        Err(error @ Error::Unsupported { .. }) => {
            return Ok(Err(Box::new(unknown(Reason::new(ReasonKind::Unsupported, error.to_string())))));
        }
        Err(error) => return Err(Failure(error.to_string())),
    };
    let known = |name: &String| interface.parameters.iter().any(|(p, _)| p == name);
    if let Some((name, _)) = settings.parameters.iter().find(|(name, _)| !known(name)) {
        return Err(Failure(format!("--param {name}: {} has no parameter of that name", source.path())));
    }
    Ok(Ok(Loaded { source, interface, code }))
}

impl Job {
    pub(super) fn files(&self) -> Files<'_> {
        Files { original: &self.original, candidate: &self.candidate, interface: self.interface.as_deref() }
    }

    /// The names to compare: the C kernel's, unless they are given.
    pub(super) fn object_pairs(&self, values: &[(String, i64)]) -> Result<Vec<Names>, Failure> {
        if self.selections.is_empty() {
            let settings = Settings { parameters: values.to_vec(), ..self.settings.clone() };
            let failed = |error: Error| Failure(error.to_string());
            let source = Source::read(self.files().c_file()?, &settings).map_err(failed)?;
            let name = source.kernel().map_err(failed)?;
            return Ok(vec![Names { original: name.clone(), candidate: name }]);
        }
        let pair = |s: &crate::pairing::Selection| Names {
            original: s.name.clone(),
            candidate: s.other.clone().unwrap_or_else(|| s.name.clone()),
        };
        Ok(self.selections.iter().map(pair).collect())
    }

    /// Compares one pair of functions.
    pub(super) fn object_outcome(&self, names: &Names, values: &[(String, i64)]) -> Result<KernelOutcome, Failure> {
        let settings = Settings { parameters: values.to_vec(), ..self.settings.clone() };
        let loaded = match load(self.files(), [&names.original, &names.candidate], &settings)? {
            Ok(loaded) => loaded,
            Err(outcome) => return Ok(*outcome),
        };
        let mut outcome = check_object_code(&loaded.interface, loaded.subjects(), self.options);
        let object = |path: &PathBuf| (!is_c(path)).then(|| path.clone());
        let side = |path: &PathBuf, name| native::Side {
            source: &loaded.source,
            program: &loaded.interface,
            name,
            object: object(path),
        };
        let [first, second] = [&names.original, &names.candidate];
        let sides = [side(&self.original, first), side(&self.candidate, second)];
        match &mut outcome.verdict {
            KernelVerdict::Parameter(name) => Err(Failure(Error::Parameter(name.clone()).to_string())),
            KernelVerdict::Different(witness) if witness.kind == WitnessKind::Input && self.run == Run::Always => {
                let verdict = replay::replay(&sides, witness, &self.known.executables);
                Ok(super::replayed(outcome, verdict, super::Memory::OfOneCall))
            }
            KernelVerdict::Equivalent(_) => {
                let agreement = match self.run {
                    Run::Always => agreement::check(&sides, self.options, &self.known.executables),
                    Run::Never | Run::OwnReading => Agreement::NoCompiler,
                };
                match agreement {
                    Agreement::Agree => {}
                    Agreement::Disagree(what) => return Ok(unknown(Reason::new(ReasonKind::Internal, what))),
                    // Code that cannot be linked alone was still executed, instruction by instruction.
                    _ => outcome.assumptions.push(program::Assumption::NotRun),
                }
                if is_c(&self.original) || is_c(&self.candidate) {
                    outcome.assumptions.push(program::Assumption::OwnFrontEnd);
                }
                Ok(outcome)
            }
            _ => Ok(outcome),
        }
    }
}
