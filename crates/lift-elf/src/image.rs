//! A file with everything that a check needs to know about it.

use crate::container::{self, AddressMap, Container, Kind, Place, Section, Symbol};
use crate::functions::{self, FunctionEntry};
use crate::{Error, assemble};
use crate::dwarf::{Addresses, Debug};
use crate::labels::Reference;
use crate::layout::Layout;
use rustc_hash::FxHashMap;
use std::path::Path;
use std::sync::OnceLock;

/// A file taken apart.
pub struct Image {
    /// Name of the file, for messages.
    pub name: String,
    /// What kind of file it is.
    pub kind: Kind,
    pub(crate) bytes: Vec<u8>,
    pub(crate) map: AddressMap,
    pub(crate) sections: Vec<Section>,
    pub(crate) symbols: Vec<Symbol>,
    /// Unique names of the symbols.
    pub(crate) names: Vec<String>,
    pub(crate) layout: Layout,
    pub(crate) debug: Debug,
    /// References from data to code, once somebody asks.
    pub(crate) code_labels: OnceLock<Vec<(Place, Place, Reference)>>,
    /// Hash of the bytes, once somebody asks.
    pub(crate) digest: OnceLock<[u8; 32]>,
    functions: Vec<FunctionEntry>,
    by_name: FxHashMap<String, usize>,
}

impl Image {
    /// Reads a file. Assembly files (`.s`, `.S`) are assembled first.
    pub fn read(path: &Path) -> Result<Image, Error> {
        let name = path.display().to_string();
        let unreadable = |e: std::io::Error| Error::Unreadable { file: name.clone(), what: e.to_string() };
        let size = std::fs::metadata(path).map_err(unreadable)?.len();
        if size > container::MAX_FILE {
            return Err(Error::Unreadable { file: name, what: format!("{size} bytes are too many") });
        }
        let bytes = match assemble::is_assembly(path) {
            true => assemble::assemble(path)?,
            false => std::fs::read(path).map_err(unreadable)?,
        };
        Image::parse(bytes, &name)
    }

    /// Takes the bytes of a file apart.
    pub fn parse(bytes: Vec<u8>, name: &str) -> Result<Image, Error> {
        let file = container::parse(name, &bytes)?;
        let layout = Layout::new(&file, &bytes);
        let Container { kind, map, sections, symbols } = file;
        let debug = Debug::read(&bytes, Addresses { kind, map: &map, sections: &sections, symbols: &symbols });
        let names = functions::unique_names(&symbols, &debug);
        let functions = functions::functions(&sections, &symbols, &names);
        let mut by_name = FxHashMap::default();
        for (i, function) in functions.iter().enumerate().rev() {
            for alias in &function.aliases {
                by_name.insert(alias.clone(), i);
            }
        }
        by_name.extend(functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)));
        Ok(Image {
            name: name.to_string(),
            kind,
            bytes,
            map,
            sections,
            symbols,
            names,
            layout,
            debug,
            code_labels: OnceLock::new(),
            digest: OnceLock::new(),
            functions,
            by_name,
        })
    }

    /// Sections, in the file's order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Symbols, in the file's order.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// Functions in address order. Those with a parent are its pieces and not compared by themselves.
    pub fn functions(&self) -> &[FunctionEntry] {
        &self.functions
    }

    /// The function of this unique name or alias.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The function that begins at a place.
    pub fn function_at(&self, place: Place) -> Option<usize> {
        self.functions.binary_search_by_key(&place, |f| f.place).ok()
    }

    /// The bytes of a section.
    pub fn data(&self, section: u32) -> &[u8] {
        self.sections.get(section as usize).and_then(|s| self.bytes.get(s.range.clone())).unwrap_or(&[])
    }
}
