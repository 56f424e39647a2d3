//! One object, linked: sections at their addresses, relocations applied, undefined symbols resolved.

use crate::map;
use crate::names::{Name, Names};
use crate::places::{File, Places, loaded};
use crate::relocate::Relocator;
use native::{Access, Image, NativeError, Segment};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;

/// Why a pair cannot be linked, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CannotLink(pub String);

impl fmt::Display for CannotLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotLink {}

/// A section in memory.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    pub address: u64,
    pub bytes: Vec<u8>,
    pub access: Access,
    pub thread: bool,
    pub index: object::SectionIndex,
}

/// One object, ready to run.
#[derive(Debug)]
pub(crate) struct Linked {
    /// Sections, the global offset table, and common symbols.
    pub sections: Vec<Loaded>,
    /// What lies where.
    pub names: Names,
    /// Code that cannot be run: from, to, and why.
    pub broken: Vec<(u64, u64, String)>,
    /// Undefined functions by the address of their stub, and what may be one.
    pub stubs: BTreeMap<u64, String>,
    /// Is an allocation function among them?
    pub allocates: bool,
    /// Undefined data by address.
    pub externs: BTreeMap<u64, String>,
    /// Images for sandboxes that no sandbox has now.
    spare: Mutex<Vec<Image>>,
}

impl Linked {
    /// Links an object at these places.
    pub fn new(file: &File, places: &Places) -> Result<Linked, CannotLink> {
        let mut sections = load(file, places)?;
        let threads = thread_offsets(&sections)?;
        for section in sections.iter_mut().filter(|s| s.thread) {
            section.address = map::THREAD_POINTER.wrapping_add_signed(threads[&section.index.0]);
        }
        let mut relocator = Relocator::new(file, places, &sections, threads);
        relocator.apply(&mut sections);
        let (table, broken) = (relocator.table(), relocator.broken());
        if !table.is_empty() {
            let index = object::SectionIndex(usize::MAX);
            sections.push(Loaded { address: places.table, bytes: table, access: Access::Read, thread: false, index });
        }
        for (address, size) in places.commons.values() {
            let bytes = vec![0; usize::try_from(*size).unwrap_or(0)];
            let index = object::SectionIndex(usize::MAX);
            sections.push(Loaded { address: *address, bytes, access: Access::Write, thread: false, index });
        }
        let names = names(file, places, &sections);
        let of = |known: &BTreeMap<String, u64>| known.iter().map(|(name, at)| (*at, name.clone())).collect();
        let allocates = ["malloc", "calloc"].into_iter().any(|name| places.functions.contains_key(name));
        let (stubs, externs) = (of(&places.functions), of(&places.externs));
        Ok(Linked { sections, names, broken, stubs, allocates, externs, spare: Mutex::default() })
    }

    /// The first instruction of a function.
    pub fn function(&self, name: &str) -> Result<u64, CannotLink> {
        let mut starts: Vec<u64> =
            self.names.all().iter().filter(|n| n.function && n.name == name).map(|n| n.start).collect();
        starts.retain(|start| !self.stubs.contains_key(start));
        starts.dedup();
        let start = match starts[..] {
            [start] => start,
            [] => return Err(CannotLink(format!("`{name}` is not defined"))),
            _ => return Err(CannotLink(format!("several functions are called `{name}`"))),
        };
        match self.broken.iter().find(|(from, to, _)| (*from..*to).contains(&start)) {
            Some((_, _, why)) => Err(CannotLink(why.clone())),
            None => Ok(start),
        }
    }

    /// An image for a sandbox: everything that does not depend on the input.
    pub fn image(&self) -> Result<Image, NativeError> {
        let spare = self.spare.lock().ok().and_then(|mut spare| spare.pop());
        spare.map_or_else(|| Image::new(&crate::world::fixed_segments(self)), Ok)
    }

    /// Keeps an image for the next sandbox.
    pub fn keep(&self, image: Image) {
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(image);
        }
    }

    /// What the sandbox maps for it, without what depends on the input.
    pub fn segments(&self) -> impl Iterator<Item = Segment> + '_ {
        let ours = self.sections.iter().filter(|s| !s.thread && !s.bytes.is_empty());
        ours.map(|s| Segment { address: s.address / 4096 * 4096, bytes: padded(s), access: s.access })
    }
}

/// The bytes of a section from the start of its page.
pub(crate) fn padded(section: &Loaded) -> Vec<u8> {
    let mut bytes = vec![0; (section.address % 4096) as usize];
    bytes.extend_from_slice(&section.bytes);
    bytes
}

fn load(file: &File, places: &Places) -> Result<Vec<Loaded>, CannotLink> {
    let mut out = Vec::new();
    for (key, index) in loaded(file) {
        let section = file.section_by_index(index).map_err(|e| CannotLink(e.to_string()))?;
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        let has = |flag: u32| sh_flags & u64::from(flag) != 0;
        let access = match (has(elf::SHF_EXECINSTR), has(elf::SHF_WRITE)) {
            (true, true) => return Err(CannotLink("a section is writable and executable".to_string())),
            (true, false) => Access::Execute,
            (false, true) => Access::Write,
            (false, false) => Access::Read,
        };
        let Some(address) = places.sections.get(&key).copied() else { continue };
        let mut bytes = section.uncompressed_data().map_err(|e| CannotLink(e.to_string()))?.into_owned();
        bytes.resize(usize::try_from(section.size()).map_err(|_| CannotLink("too large".to_string()))?, 0);
        // Relocated data that is read-only afterwards.
        let fixed = key.0.starts_with(".data.rel.ro");
        let access = if fixed && access == Access::Write { Access::Read } else { access };
        out.push(Loaded { address, bytes, access, thread: has(elf::SHF_TLS), index });
    }
    Ok(out)
}

/// Offsets of the thread-local sections from the thread pointer, by section.
fn thread_offsets(sections: &[Loaded]) -> Result<BTreeMap<usize, i64>, CannotLink> {
    // Undefined ones are right below the pointer.
    let mut below = 0x400i64;
    let mut out = BTreeMap::new();
    for section in sections.iter().filter(|s| s.thread) {
        below += (section.bytes.len() as i64 + 63) / 64 * 64;
        out.insert(section.index.0, -below);
    }
    if below as u64 > map::THREAD_SIZE / 2 {
        Err(CannotLink("too much thread-local data".to_string()))
    } else {
        Ok(out)
    }
}

/// Everything that has a name.
fn names(file: &File, places: &Places, sections: &[Loaded]) -> Names {
    let mut out = Vec::new();
    for symbol in file.symbols() {
        let (Ok(name), Some(index)) = (symbol.name(), symbol.section_index()) else { continue };
        let Some(section) = sections.iter().find(|s| s.index == index && !s.thread) else { continue };
        if name.is_empty() || symbol.kind() == SymbolKind::Section || name.starts_with(".L") {
            continue;
        }
        let start = section.address.wrapping_add(symbol.address());
        let function = section.access == Access::Execute;
        out.push(Name { start, size: symbol.size(), name: name.to_string(), local: symbol.is_local(), function });
    }
    let named = |(name, start): (&String, &u64), size, function| Name {
        start: *start,
        size,
        name: name.clone(),
        local: false,
        function,
    };
    out.extend(places.functions.iter().map(|f| named(f, 1, true)));
    out.extend(places.externs.iter().map(|f| named(f, map::EXTERN_SIZE, false)));
    out.extend(places.commons.iter().map(|(name, (start, size))| named((name, start), *size, false)));
    Names::new(out)
}
