//! The files that a process has loaded, where they lie and what they name.

use crate::error::Error;
use native::traced::Thread;
use object::{Architecture, Object, ObjectSection, ObjectSegment, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file in a process.
#[derive(Clone, Debug)]
pub(crate) struct Module {
    pub path: PathBuf,
    /// What is added to its addresses.
    pub bias: u64,
    pub symbols: Arc<Symbols>,
}

/// What a file names.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    pub functions: Vec<Symbol>,
    /// By address.
    pub data: Vec<Symbol>,
    /// Sections by name: address.
    pub sections: BTreeMap<String, u64>,
    /// The lowest address of a segment.
    pub base: u64,
    /// Do addresses stay as they are?
    pub fixed: bool,
}

/// A name and its bytes, as the file counts addresses.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Symbol {
    pub start: u64,
    pub size: u64,
    pub name: String,
}

/// Files that were read before.
pub(crate) type Known = BTreeMap<PathBuf, Option<Arc<Symbols>>>;

/// The type of the auxiliary vector's entry that holds the address of the program's first instruction (elf.h).
const AT_ENTRY: u64 = 9;

/// Where a process's program begins, if that is for x86-64.
pub(crate) fn entry(process: Thread) -> Result<u64, Error> {
    let program = format!("/proc/{process}/exe");
    let path = std::fs::read_link(&program).map_or(program.clone(), |path| path.display().to_string());
    let gone = |error: std::io::Error| Error::System(format!("cannot look at the program: {error}"));
    let bytes = std::fs::read(&program).map_err(gone)?;
    // ELFCLASS64, EM_X86_64.
    if !bytes.starts_with(b"\x7fELF\x02\x01") || bytes.get(18..20) != Some(&[62, 0]) {
        return Err(Error::NotOurs(path));
    }
    let vector = std::fs::read(format!("/proc/{process}/auxv")).map_err(gone)?;
    let words: Vec<u64> = vector.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let entry = words.as_chunks::<2>().0.iter().find(|[kind, _]| *kind == AT_ENTRY);
    entry
        .map(|[_, entry]| *entry)
        .ok_or_else(|| Error::System("the system does not say where the program begins".to_string()))
}

/// The files of a process, the program itself first.
pub(crate) fn modules(process: Thread, known: &mut Known) -> Vec<Module> {
    let maps = std::fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    let mut starts: Vec<(PathBuf, u64)> = Vec::new();
    for line in maps.lines() {
        let mut words = line.split_whitespace();
        let (Some(range), Some(_), Some(offset)) = (words.next(), words.next(), words.next()) else { continue };
        let Some(path) = line.find('/').map(|at| PathBuf::from(&line[at..])) else { continue };
        let start = range.split_once('-').and_then(|(from, _)| u64::from_str_radix(from, 16).ok());
        let offset = u64::from_str_radix(offset, 16).ok();
        if let (Some(start), Some(0)) = (start, offset)
            && starts.iter().all(|(other, _)| *other != path)
        {
            starts.push((path, start));
        }
    }
    let program = std::fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
    starts.sort_by_key(|(path, _)| *path != program);
    let module = |(path, start): (PathBuf, u64)| {
        let symbols = known.entry(path.clone()).or_insert_with(|| symbols(&path).map(Arc::new)).clone()?;
        let bias = if symbols.fixed { 0 } else { start.wrapping_sub(symbols.base) };
        Some(Module { path, bias, symbols })
    };
    starts.into_iter().filter_map(module).collect()
}

/// What a file names; `None` if it is no ELF file for x86-64.
fn symbols(path: &Path) -> Option<Symbols> {
    let bytes = std::fs::read(path).ok().filter(|bytes| bytes.starts_with(b"\x7fELF"))?;
    let file = object::File::parse(&*bytes).ok().filter(|file| file.architecture() == Architecture::X86_64)?;
    let mut out = Symbols { fixed: file.kind() == object::ObjectKind::Executable, ..Symbols::default() };
    out.base = file.segments().map(|segment| segment.address()).min()? / 4096 * 4096;
    out.sections = file.sections().filter_map(|s| Some((s.name().ok()?.to_string(), s.address()))).collect();
    for symbol in file.symbols().chain(file.dynamic_symbols()).filter(|symbol| symbol.is_definition()) {
        let Ok(name) = symbol.name() else { continue };
        // A versioned name is one of several.
        let name = name.split('@').next().unwrap_or(name).to_string();
        let one = Symbol { start: symbol.address(), size: symbol.size(), name };
        match symbol.kind() {
            SymbolKind::Text => out.functions.push(one),
            SymbolKind::Data if one.size > 0 => out.data.push(one),
            _ => {}
        }
    }
    for list in [&mut out.functions, &mut out.data] {
        list.sort();
        list.dedup_by(|a, b| (a.start, &a.name) == (b.start, &b.name));
    }
    Some(out)
}

impl Module {
    /// Where a function lies in the process.
    pub fn function(&self, name: &str) -> Result<Option<u64>, Error> {
        let mut starts: Vec<u64> = self.symbols.functions.iter().filter(|s| s.name == name).map(|s| s.start).collect();
        starts.dedup();
        match starts[..] {
            [] => Ok(None),
            [start] => Ok(Some(start.wrapping_add(self.bias))),
            _ => Err(Error::Ambiguous(name.to_string(), self.path.display().to_string())),
        }
    }

    /// Where an object of a name lies, if only one has it.
    pub fn data(&self, name: &str) -> Option<u64> {
        let mut starts = self.symbols.data.iter().filter(|s| s.name == name).map(|s| s.start);
        let start = starts.next()?;
        starts.all(|other| other == start).then(|| start.wrapping_add(self.bias))
    }

    /// The object with a byte, and the offset of that.
    pub fn object_at(&self, address: u64) -> Option<(&Symbol, u64)> {
        let at = address.wrapping_sub(self.bias);
        let after = self.symbols.data.partition_point(|s| s.start <= at);
        let near = self.symbols.data[..after].iter().rev().take(4);
        near.map(|s| (s, at - s.start)).find(|(s, offset)| *offset < s.size)
    }

    /// The end of the part of the process, from an address on, that is in the same object or in none.
    pub fn border(&self, address: u64) -> u64 {
        if let Some((symbol, offset)) = self.object_at(address) {
            return address + (symbol.size - offset);
        }
        let at = address.wrapping_sub(self.bias);
        let after = self.symbols.data.partition_point(|s| s.start <= at);
        self.symbols.data.get(after).map_or(u64::MAX, |s| s.start.wrapping_add(self.bias))
    }
}
