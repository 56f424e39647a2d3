//! The files that are compared. The kind of file decides the frontend; for now there is one, for ELF and `.s`.

use crate::pairing::Names;
use crate::status::Failure;
use graph::contract::File;
use graph::{Contracts, Function, Register, Side, Undefined};
use lift_elf::{Error, Image};
use search::{Reason, ReasonKind};
use std::collections::BTreeSet;
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

    /// Is there any code, with or without names?
    pub fn has_code(&self) -> bool {
        self.image.has_code()
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

    /// The file as it was read.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// Position of a function in [`Program::names`].
    pub fn find(&self, name: &str) -> Option<usize> {
        let index = self.image.find(name)?;
        self.functions.binary_search(&index).ok()
    }

    /// Local functions whose address is never taken.
    fn private(&self) -> BTreeSet<String> {
        let facts = self.image.statics();
        facts.into_iter().filter(|f| f.function && !f.address_taken).map(|f| f.name).collect()
    }

    /// Functions that another file's definition can replace.
    fn replaceable(&self) -> BTreeSet<String> {
        let entries = self.image.functions().iter().filter(|entry| entry.weak);
        entries.flat_map(|entry| std::iter::once(&entry.name).chain(&entry.aliases)).cloned().collect()
    }

    /// Whose names the places of the candidate get that have none of their own: of the same file twice they are the same.
    pub fn naming(&self, original: &Program) -> Side {
        if self.image.is_copy_of(&original.image) { Side::Original } else { Side::Candidate }
    }

    /// All functions in one arena, and whether none is missing.
    fn lift_all(&self, side: Side, arena: &mut Arena) -> (Vec<Function>, bool) {
        let all: Vec<Option<Function>> =
            self.functions.iter().map(|index| self.image.lift(*index, side, arena).ok()).collect();
        let complete = all.iter().all(Option::is_some);
        (all.into_iter().flatten().collect(), complete)
    }

    /// The graph of a function.
    pub fn lift(&self, function: usize, side: Side, arena: &mut Arena) -> Result<Function, Reason> {
        self.image.lift(self.functions[function], side, arena).map_err(|error| match error {
            Error::Unsupported { gap, .. } => Reason::new(ReasonKind::Unsupported, gap.to_string()),
            other => Reason::new(ReasonKind::Unsupported, other.to_string()),
        })
    }
}

/// The graphs of a pair, in one arena. Where the candidate calls itself at fewer places, tail calls of the original to itself
/// are jumps. Of the same file twice, a function need not be understood to be the same.
pub fn lift_pair(
    [original, candidate]: [&Program; 2],
    [ours, theirs]: [usize; 2],
    arena: &mut Arena,
) -> Result<[Function; 2], Reason> {
    let lifted = original.lift(ours, Side::Original, arena);
    let counterpart = candidate.lift(theirs, candidate.naming(original), arena);
    match (lifted, counterpart) {
        (Ok(a), Ok(b)) => {
            let weak = original.image.functions()[original.functions[ours]].weak;
            // A recursion that became a loop.
            let folds = !weak && graph::own_calls(&b) < graph::own_calls(&a);
            let folded = folds.then(|| graph::fold_tail_calls(arena, &a)).flatten();
            Ok([folded.unwrap_or(a), b])
        }
        (Err(_), Err(_)) if ours == theirs && candidate.image.is_copy_of(&original.image) => {
            Ok([(original, ours), (candidate, theirs)].map(|(program, i)| program.image.unread(program.functions[i])))
        }
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
    }
}

/// What the visible call sites say about the local functions of two files.
pub fn contracts(original: &Program, candidate: &Program, undefined: Undefined) -> Contracts {
    let (first, second) = (original.private(), candidate.private());
    let mut arenas = [new_arena(), new_arena()];
    let (ours, complete) = original.lift_all(Side::Original, &mut arenas[0]);
    let (theirs, all) = candidate.lift_all(candidate.naming(original), &mut arenas[1]);
    let [a, b] = &mut arenas;
    let (ours_replaceable, theirs_replaceable) = (original.replaceable(), candidate.replaceable());
    let mut before =
        File { arena: a, functions: &ours, complete, private: first, replaceable: ours_replaceable, undefined };
    let mut after = File {
        arena: b,
        functions: &theirs,
        complete: all,
        private: second,
        replaceable: theirs_replaceable,
        undefined,
    };
    graph::contract::contracts(&mut before, &mut after)
}

/// An arena with the registers declared, as frontends expect it.
pub fn new_arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}
