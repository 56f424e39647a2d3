//! C against object code: the C file says how the function is called.

use super::{Job, Names, is_c, unknown};
use crate::input::{Program, new_arena};
use crate::status::Failure;
use graph::Side;
use kernel::updates::Subject;
use lift_c::{Error, Settings, Source};
use search::updates::{KernelOutcome, KernelVerdict, check_object_code};
use search::{Reason, ReasonKind};
use std::path::Path;

impl Job {
    /// Which side is C.
    fn c_side(&self) -> Side {
        if is_c(&self.original) { Side::Original } else { Side::Candidate }
    }

    fn c_source(&self, values: &[(String, i64)]) -> Result<Source, Failure> {
        let settings = Settings { parameters: values.to_vec(), ..self.settings.clone() };
        let path: &Path = if self.c_side() == Side::Original { &self.original } else { &self.candidate };
        Source::read(path, &settings).map_err(|error| Failure(error.to_string()))
    }

    /// The names to compare: the C kernel's, unless they are given.
    pub(super) fn object_pairs(&self, values: &[(String, i64)]) -> Result<Vec<Names>, Failure> {
        if self.selections.is_empty() {
            let name = self.c_source(values)?.kernel().map_err(|error| Failure(error.to_string()))?;
            return Ok(vec![Names { original: name.clone(), candidate: name }]);
        }
        let pair = |s: &crate::arguments::Selection| Names {
            original: s.name.clone(),
            candidate: s.other.clone().unwrap_or_else(|| s.name.clone()),
        };
        Ok(self.selections.iter().map(pair).collect())
    }

    /// Compares one function of the C file with one of the object.
    pub(super) fn object_outcome(&self, names: &Names, values: &[(String, i64)]) -> Result<KernelOutcome, Failure> {
        let side = self.c_side();
        let (c_name, code_name, code_path) = match side {
            Side::Original => (&names.original, &names.candidate, &self.candidate),
            Side::Candidate => (&names.candidate, &names.original, &self.original),
        };
        let missing = |whose: &str, name: &str| {
            unknown(Reason::new(ReasonKind::MissingFunction, format!("the {whose} has no function `{name}`")))
        };
        let source = self.c_source(values)?;
        let object = Program::read(code_path)?;
        let (has_c, found) = (source.has_function(c_name), object.find(code_name));
        let Some(found) = found.filter(|_| has_c) else {
            let original_missing = if side == Side::Original { !has_c } else { has_c };
            if original_missing {
                return Err(Failure(format!(
                    "--function {}: the original has no function of that name",
                    names.original
                )));
            }
            return Ok(missing("candidate", &names.candidate));
        };
        let interface = match source.lower(c_name, values) {
            Ok(program) => program,
            Err(error @ Error::Unsupported { .. }) => {
                return Ok(unknown(Reason::new(ReasonKind::Unsupported, error.to_string())));
            }
            Err(error) => return Err(Failure(error.to_string())),
        };
        if let Some((name, _)) = values.iter().find(|(name, _)| !interface.parameters.iter().any(|(p, _)| p == name)) {
            return Err(Failure(format!("--param {name}: {} has no parameter of that name", source.path())));
        }
        let mut arena = new_arena();
        let code_side = if side == Side::Original { Side::Candidate } else { Side::Original };
        let function = match object.lift(found, code_side, &mut arena) {
            Ok(function) => function,
            Err(reason) => return Ok(unknown(reason)),
        };
        let code = Subject::Code(code::Code { arena: &arena, function: &function });
        let sides = if side == Side::Original { [Subject::C, code] } else { [code, Subject::C] };
        let outcome = check_object_code(&interface, sides, self.options);
        match outcome.verdict {
            KernelVerdict::Parameter(name) => Err(Failure(Error::Parameter(name).to_string())),
            _ => Ok(outcome),
        }
    }
}
