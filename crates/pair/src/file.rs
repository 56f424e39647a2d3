//! One file and the functions in it.

use lift_elf::{Error, Image};
use program::{Function, Register, Side};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use term::Arena;

/// A file and the functions in it that are compared by themselves.
pub struct File {
    image: Image,
    /// Indices of those functions in the image, in address order.
    functions: Vec<usize>,
}

impl File {
    /// Reads a file: ELF, or assembly by the ending of its name.
    pub fn read(path: &Path) -> Result<File, Error> {
        Ok(File::new(Image::read(path)?))
    }

    /// Takes the bytes of an ELF file of this name apart.
    pub fn parse(bytes: Vec<u8>, name: &str) -> Result<File, Error> {
        Ok(File::new(Image::parse(bytes, name)?))
    }

    fn new(image: Image) -> File {
        // Outlined pieces (`f.cold`) belong to their parent.
        let functions = (0..image.functions().len()).filter(|i| image.functions()[*i].parent.is_none()).collect();
        File { image, functions }
    }

    /// Is there any code, with or without names?
    pub fn has_code(&self) -> bool {
        self.image.has_code()
    }

    /// Names of the functions, each with its aliases, in address order.
    pub fn names(&self) -> Vec<Vec<&str>> {
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

    /// Position of a function in [`File::names`].
    pub fn find(&self, name: &str) -> Option<usize> {
        let index = self.image.find(name)?;
        self.functions.binary_search(&index).ok()
    }

    /// The file as it was read.
    pub fn image(&self) -> &Image {
        &self.image
    }

    /// The graph of a function by itself, to be shown or executed. To be compared, it must be prepared with its counterpart.
    pub fn lift(&self, function: usize, side: Side, arena: &mut Arena) -> Result<Function, Error> {
        self.image.lift(self.functions[function], side, arena)
    }

    /// Local functions whose address is never taken.
    pub(crate) fn private(&self) -> BTreeSet<String> {
        let facts = self.image.statics();
        facts.into_iter().filter(|f| f.function && !f.address_taken).map(|f| f.name).collect()
    }

    /// Functions that another file's definition can replace.
    pub(crate) fn replaceable(&self) -> BTreeSet<String> {
        let entries = self.image.functions().iter().filter(|entry| entry.weak);
        entries.flat_map(|entry| std::iter::once(&entry.name).chain(&entry.aliases)).cloned().collect()
    }

    /// Can another file's definition replace this function?
    pub(crate) fn is_replaceable(&self, function: usize) -> bool {
        self.image.functions()[self.functions[function]].weak
    }

    /// Is it visible in its own file only?
    pub fn is_local(&self, function: usize) -> bool {
        self.image.functions()[self.functions[function]].local
    }

    /// For each function the functions that call it or have its address, by their positions. Only for reports.
    pub fn users(&self) -> BTreeMap<usize, BTreeSet<usize>> {
        let position = |index: &usize| self.functions.binary_search(index).ok();
        let users = self.image.users();
        let named =
            users.iter().filter_map(|(used, by)| Some((position(used)?, by.iter().filter_map(position).collect())));
        named.collect()
    }

    pub(crate) fn is_copy_of(&self, other: &File) -> bool {
        self.image.is_copy_of(&other.image)
    }

    /// All functions in one arena, and whether none is missing.
    pub(crate) fn lift_all(&self, side: Side, arena: &mut Arena) -> (Vec<Function>, bool) {
        let all: Vec<Option<Function>> =
            self.functions.iter().map(|index| self.image.lift(*index, side, arena).ok()).collect();
        let complete = all.iter().all(Option::is_some);
        (all.into_iter().flatten().collect(), complete)
    }

    /// A function that could not be lifted. It is the same as that of a copy of the file, and as nothing else.
    pub(crate) fn unread(&self, function: usize) -> Function {
        self.image.unread(self.functions[function])
    }
}

/// An arena with the registers declared, as lifting expects it.
pub fn new_arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}
