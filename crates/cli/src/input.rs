//! The files that are compared. The kind of file decides the frontend; for now there is one, for ELF and `.s`.

use crate::pairing::Names;
use crate::status::Failure;
use graph::{Function, Register, Side};
use lift_elf::{Error, Image};
use search::{Reason, ReasonKind};
use std::path::Path;
use term::Arena;

/// A file and the functions in it that are compared by themselves.
pub struct Program {
    image: Image,
    /// Indices of those functions in the image, in address order.
    functions: Vec<usize>,
}

impl Program {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Program, Failure> {
        let image = Image::read(path).map_err(|error| Failure(error.to_string()))?;
        // Outlined pieces (`f.cold`) belong to their parent.
        let functions = (0..image.functions().len()).filter(|i| image.functions()[*i].parent.is_none()).collect();
        Ok(Program { image, functions })
    }

    /// Names of the functions, in address order.
    pub fn names(&self) -> Vec<Names<'_>> {
        let names = |index: &usize| {
            let entry = &self.image.functions()[*index];
            std::iter::once(&entry.name).chain(&entry.aliases).map(String::as_str).collect()
        };
        self.functions.iter().map(names).collect()
    }

    /// The name under which a function is reported.
    pub fn name(&self, function: usize) -> &str {
        &self.image.functions()[self.functions[function]].name
    }

    /// Position of a function in [`Program::names`].
    pub fn find(&self, name: &str) -> Option<usize> {
        let index = self.image.find(name)?;
        self.functions.binary_search(&index).ok()
    }

    /// The graph of a function.
    pub fn lift(&self, function: usize, side: Side, arena: &mut Arena) -> Result<Function, Reason> {
        self.image.lift(self.functions[function], side, arena).map_err(|error| match error {
            Error::Unsupported { gap, .. } => Reason::new(ReasonKind::Unsupported, gap.to_string()),
            other => Reason::new(ReasonKind::Unsupported, other.to_string()),
        })
    }
}

/// An arena with the registers declared, as frontends expect it.
pub fn new_arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}
