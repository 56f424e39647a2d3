//! A version of the function: where it comes from, its file, and what has become of it.

use crate::assembly::Body;
use crate::code::Code;
use crate::subject::{Kind, Subject};
use std::path::{Path, PathBuf};

/// A version of the function that was proposed.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Who proposed it, in words.
    pub origin: String,
    /// The function.
    pub body: Body,
    /// The text of the whole file with it.
    pub text: String,
    /// That file.
    pub path: PathBuf,
    /// The object that the assembler makes of it.
    pub object: Vec<u8>,
    /// What is in it.
    pub code: Code,
}

/// Functions that a compiler may call whatever the source says, and every C library has.
const ALWAYS_THERE: &[&str] = &["memcpy", "memmove", "memset", "memcmp", "_GLOBAL_OFFSET_TABLE_"];

/// Puts versions of a function into files, and tells those apart that are of no use.
pub struct Maker<'a> {
    subject: &'a Subject,
    folder: &'a Path,
    own: Code,
}

/// Why a version is of no use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Useless(pub String);

impl<'a> Maker<'a> {
    /// A maker whose files go to the folder.
    pub fn new(subject: &'a Subject, folder: &'a Path) -> Result<Maker<'a>, String> {
        let object = object(&subject.own)?;
        let own = Code::of(&object, &subject.function).map_err(|what| format!("{}: {what}", subject.shown))?;
        Ok(Maker { subject, folder, own })
    }

    /// The code that is there now.
    pub fn own(&self) -> &Code {
        &self.own
    }

    /// The file with this version, assembled. The number names the file.
    pub fn make(&self, number: usize, origin: String, body: &Body) -> Result<Candidate, Useless> {
        let text = self.subject.with(body).map_err(|error| Useless(error.to_string()))?;
        let path = self.folder.join(format!("candidate{number}.s"));
        std::fs::write(&path, &text).map_err(|error| Useless(error.to_string()))?;
        let object = object(&path).map_err(Useless)?;
        let code = Code::of(&object, &self.subject.function).map_err(Useless)?;
        let there = |name: &&String| {
            let known = self.own.undefined.contains(*name) || self.own.global.contains(*name);
            known || ALWAYS_THERE.contains(&name.as_str())
        };
        if let Some(name) = code.undefined.iter().find(|name| !there(name)) {
            return Err(Useless(format!("it refers to `{name}`, which it cannot reach by that name")));
        }
        let base = self.subject.base.as_ref();
        // The compiler of a C file is told not to count on more; of an object it is not known who calls it there.
        let counted = match self.subject.kind {
            Kind::Source => false,
            Kind::Assembly => base.is_some_and(|base| base.is_called(&self.subject.function)),
            Kind::Object => self.own.is_called,
        };
        if counted && !code.spares(&self.own) {
            return Err(Useless("it changes registers that callers in this file may count on".to_string()));
        }
        Ok(Candidate { origin, body: body.clone(), text, path, object, code })
    }
}

/// The bytes of an object, or of what the assembler makes of assembly.
pub fn object(path: &Path) -> Result<Vec<u8>, String> {
    let file = pair::File::read(path).map_err(|error| error.to_string())?;
    Ok(file.image().file().to_vec())
}
