//! The ELF container: sections, symbols and relocations, copied out of the file's own structures.
//!
//! Everything is addressed by [`Place`]: a section and an offset in it. Relocatable objects say it so themselves; in
//! linked files (executables, shared objects) virtual addresses are turned into places here, so that the rest of
//! the crate sees one form.
//!
//! If this is wrong, code or data of another place is lifted.

use crate::Error;
use crate::relocation::Relocation;
use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, SectionHeader as _, Sym as _};
use object::{LittleEndian, SectionIndex, SymbolIndex};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Largest file that is read.
pub(crate) const MAX_FILE: u64 = 1 << 30;
/// Bytes of all names together: names of a broken file may overlap without end.
const MAX_NAMES: usize = 1 << 27;

/// What kind of ELF file it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An object file, to be linked.
    Relocatable,
    /// An executable at fixed addresses.
    Executable,
    /// A shared object or position-independent executable.
    Shared,
}

/// A section and an offset in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Place {
    /// Index of the section.
    pub section: u32,
    /// Offset in the section.
    pub offset: u64,
}

/// A section.
#[derive(Clone, Debug)]
pub struct Section {
    /// Name.
    pub name: String,
    /// Virtual address; 0 in relocatable objects.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment, at least 1.
    pub align: u64,
    /// Size of the entities of a mergeable section, else 0.
    pub entity: u64,
    /// Relocations, sorted by offset.
    pub relocations: Vec<Relocation>,
    pub(crate) flags: u64,
    pub(crate) kind: u32,
    /// Bytes of the file; empty for sections without content.
    pub(crate) range: Range<usize>,
    /// Is it writable for the loader only?
    pub(crate) sealed: bool,
}

impl Section {
    fn has(&self, flag: u32) -> bool {
        self.flags & u64::from(flag) != 0
    }

    /// Is it part of the running program?
    pub fn is_loaded(&self) -> bool {
        self.has(elf::SHF_ALLOC)
    }

    /// Does it hold code?
    pub fn is_code(&self) -> bool {
        self.is_loaded() && self.has(elf::SHF_EXECINSTR) && self.kind == elf::SHT_PROGBITS
    }

    /// Does its content never change?
    pub fn is_read_only(&self) -> bool {
        self.is_loaded()
            && self.kind == elf::SHT_PROGBITS
            && !self.is_code()
            && (!self.has(elf::SHF_WRITE) || self.sealed)
    }

    /// Does it hold thread-local data?
    pub fn is_thread_local(&self) -> bool {
        self.has(elf::SHF_TLS)
    }

    /// Does it describe how to unwind the stack? Its references to code take no addresses.
    pub(crate) fn is_unwind(&self) -> bool {
        self.name == ".eh_frame" || self.kind == elf::SHT_X86_64_UNWIND
    }

    /// Does it hold NUL-terminated strings that the linker may merge?
    pub(crate) fn has_strings(&self) -> bool {
        self.has(elf::SHF_MERGE) && self.has(elf::SHF_STRINGS) && self.entity > 0
    }

    /// Does it hold constants of one size that the linker may merge?
    pub(crate) fn has_constants(&self) -> bool {
        self.has(elf::SHF_MERGE) && !self.has(elf::SHF_STRINGS) && self.entity > 0
    }

    /// Relocations at offsets of the range.
    pub fn relocations_in(&self, range: Range<u64>) -> &[Relocation] {
        let first = self.relocations.partition_point(|r| r.offset < range.start);
        let last = self.relocations.partition_point(|r| r.offset < range.end);
        &self.relocations[first..last.max(first)]
    }
}

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Name; empty for section symbols.
    pub name: String,
    /// Source file that a local symbol belongs to.
    pub file: Option<Arc<str>>,
    /// Where it is defined.
    pub definition: Definition,
    /// Size in bytes, 0 if unknown.
    pub size: u64,
    /// Binding.
    pub binding: Binding,
    /// Who else sees it.
    pub visibility: Visibility,
    pub(crate) kind: u8,
}

/// Where a symbol is defined.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Definition {
    /// Elsewhere.
    Undefined,
    /// At a place of this file.
    At(Place),
    /// A number.
    Absolute(u64),
    /// Storage that the linker allocates, with this alignment.
    Common(u64),
}

/// Binding of a symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Binding {
    /// Visible everywhere.
    Global,
    /// Visible everywhere, may be replaced by another definition or be missing.
    Weak,
    /// Visible in its file only.
    Local,
}

/// Which other files of a program see a symbol, and whether one of theirs can take its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Visibility {
    /// All of them; one that is loaded earlier may define it instead.
    Default,
    /// All of them, but it stays this file's own.
    Protected,
    /// Only those that are linked together with it.
    Hidden,
}

impl Symbol {
    /// Does the file say that it is code?
    pub fn is_function(&self) -> bool {
        matches!(self.kind, elf::STT_FUNC | elf::STT_GNU_IFUNC)
    }

    /// Does it name something in memory? (Compilers' own labels are not names.)
    pub(crate) fn is_name(&self) -> bool {
        !self.name.is_empty() && !self.name.starts_with(".L") && !matches!(self.kind, elf::STT_SECTION | elf::STT_FILE)
    }

    /// Has it no type (a label of an assembly file)?
    pub(crate) fn is_label(&self) -> bool {
        self.kind == elf::STT_NOTYPE
    }

    /// The place, if it is defined at one.
    pub fn place(&self) -> Option<Place> {
        match self.definition {
            Definition::At(place) => Some(place),
            _ => None,
        }
    }
}

/// A file taken apart.
pub(crate) struct Container {
    pub kind: Kind,
    pub map: AddressMap,
    pub sections: Vec<Section>,
    pub symbols: Vec<Symbol>,
    /// Versions of the names that the file takes from others.
    pub versions: FxHashMap<String, String>,
}

/// Takes a file apart.
pub(crate) fn parse(file: &str, bytes: &[u8]) -> Result<Container, Error> {
    Parser { file, bytes, names: Cell::new(0) }.parse()
}

struct Parser<'a> {
    file: &'a str,
    bytes: &'a [u8],
    /// Bytes of names so far.
    names: Cell<usize>,
}

const LE: LittleEndian = LittleEndian;

impl Parser<'_> {
    fn malformed(&self, offset: u64, what: impl ToString) -> Error {
        Error::Malformed { file: self.file.to_string(), offset, what: what.to_string() }
    }

    fn name(&self, at: u64, name: &[u8]) -> Result<String, Error> {
        self.names.set(self.names.get().saturating_add(name.len()));
        match self.names.get() > MAX_NAMES {
            true => Err(self.malformed(at, "the names are too long")),
            false => Ok(String::from_utf8_lossy(name).into_owned()),
        }
    }

    fn unsupported(&self, text: &str) -> Error {
        let gap = crate::Gap { place: None, construct: text.to_string(), text: text.to_string(), line: None };
        Error::Unsupported { file: self.file.to_string(), gap: Box::new(gap) }
    }

    fn parse(&self) -> Result<Container, Error> {
        if !self.bytes.starts_with(b"\x7fELF") {
            return Err(self.malformed(0, "not an ELF file"));
        }
        if self.bytes.get(4..6) != Some(&[elf::ELFCLASS64, elf::ELFDATA2LSB]) {
            return Err(self.unsupported("an ELF file that is not 64-bit little-endian"));
        }
        let header = FileHeader64::<LittleEndian>::parse(self.bytes).map_err(|e| self.malformed(0, e))?;
        if header.e_machine(LE) != elf::EM_X86_64 {
            return Err(self.unsupported("an ELF file for another machine than x86-64"));
        }
        let kind = match header.e_type(LE) {
            elf::ET_REL => Kind::Relocatable,
            elf::ET_EXEC => Kind::Executable,
            elf::ET_DYN => Kind::Shared,
            _ => return Err(self.unsupported("an ELF file that is neither object, executable nor shared object")),
        };
        let headers = header.sections(LE, self.bytes).map_err(|e| self.malformed(header.e_shoff(LE), e))?;
        let mut sections = Vec::with_capacity(headers.len());
        for section in headers.iter() {
            sections.push(self.section(kind, &headers, section)?);
        }
        let mut symbols = Vec::new();
        // Where the symbols of each symbol table begin in our list, by the table's section.
        let mut tables = vec![None; sections.len()];
        let mut versions = FxHashMap::default();
        for wanted in [elf::SHT_SYMTAB, elf::SHT_DYNSYM] {
            let table = headers.symbols(LE, self.bytes, wanted).map_err(|e| self.malformed(header.e_shoff(LE), e))?;
            if let Some(slot) = tables.get_mut(table.section().0).filter(|_| !table.is_empty()) {
                *slot = Some(symbols.len());
                let first = symbols.len();
                self.symbols(kind, &sections, &table, &mut symbols)?;
                if wanted == elf::SHT_DYNSYM {
                    versions = self.versions(&headers, &mut symbols[first..])?;
                }
            }
        }
        let map = AddressMap::new(&sections);
        for section in headers.iter() {
            self.relocations(kind, &map, &tables, &symbols, &mut sections, section)?;
        }
        for section in &mut sections {
            section.relocations.sort_by_key(|r| r.offset);
        }
        let protected = self.protected(header)?;
        crate::sealed::note_sealed(self.bytes, kind, &symbols, &map, &protected, &mut sections);
        Ok(Container { kind, map, sections, symbols, versions })
    }

    /// The addresses that the loader makes read-only when it is done: whole pages. Nobody does it for an executable that needs no
    /// loader, and only executables have an entry.
    fn protected(&self, header: &FileHeader64<LittleEndian>) -> Result<Vec<Range<u64>>, Error> {
        let headers = header.program_headers(LE, self.bytes).map_err(|e| self.malformed(header.e_phoff(LE), e))?;
        let has = |kind: u32| headers.iter().any(|h| h.p_type.get(LE) == kind);
        let loaded = has(elf::PT_DYNAMIC) && (has(elf::PT_INTERP) || header.e_entry(LE) == 0);
        let relro = headers.iter().filter(|h| loaded && h.p_type.get(LE) == elf::PT_GNU_RELRO);
        Ok(relro
            .map(|h| {
                let start = h.p_vaddr.get(LE);
                start..start.saturating_add(h.p_memsz.get(LE)) / 4096 * 4096
            })
            .collect())
    }

    fn section(
        &self,
        kind: Kind,
        headers: &Headers<'_>,
        section: &elf::SectionHeader64<LittleEndian>,
    ) -> Result<Section, Error> {
        let at = section.sh_offset.get(LE);
        let name = headers.section_name(LE, section).map_err(|e| self.malformed(at, e))?;
        let range = match section.file_range(LE) {
            None => 0..0,
            Some((start, size)) => {
                let end = start.checked_add(size).filter(|end| *end <= self.bytes.len() as u64);
                let end = end.ok_or_else(|| {
                    let name = String::from_utf8_lossy(name);
                    self.malformed(start, format!("section {name} reaches beyond the end of the file"))
                })?;
                start as usize..end as usize
            }
        };
        Ok(Section {
            name: self.name(at, name)?,
            address: if kind == Kind::Relocatable { 0 } else { section.sh_addr.get(LE) },
            size: section.sh_size.get(LE),
            align: section.sh_addralign.get(LE).max(1),
            entity: section.sh_entsize.get(LE),
            relocations: Vec::new(),
            flags: section.sh_flags.get(LE),
            kind: section.sh_type.get(LE),
            range,
            sealed: false,
        })
    }

    /// Versions of the dynamic symbols that other files define. A name of several versions is several names.
    fn versions(&self, headers: &Headers<'_>, symbols: &mut [Symbol]) -> Result<FxHashMap<String, String>, Error> {
        let table = headers.versions(LE, self.bytes).map_err(|e| self.malformed(0, e))?;
        let mut known: Vec<(usize, String)> = Vec::new();
        for (i, symbol) in symbols.iter().enumerate() {
            let Some(table) = table.as_ref().filter(|_| symbol.definition == Definition::Undefined) else { continue };
            let index = table.version_index(LE, SymbolIndex(i));
            if let Some(version) = table.version(index).map_err(|e| self.malformed(0, e))? {
                known.push((i, self.name(0, version.name())?));
            }
        }
        let mut versions: FxHashMap<String, String> = FxHashMap::default();
        let mut several = FxHashSet::default();
        for (i, version) in &known {
            let name = &symbols[*i].name;
            if versions.insert(name.clone(), version.clone()).is_some_and(|other| other != *version) {
                several.insert(name.clone());
            }
        }
        for (i, version) in known {
            let symbol = &mut symbols[i];
            if several.contains(&symbol.name) {
                symbol.name = format!("{}@{version}", symbol.name);
            }
        }
        versions.retain(|name, _| !several.contains(name));
        Ok(versions)
    }

    fn symbols(
        &self,
        kind: Kind,
        sections: &[Section],
        table: &Symbols<'_>,
        out: &mut Vec<Symbol>,
    ) -> Result<(), Error> {
        let start = sections[table.section().0].range.start as u64;
        let mut file: Option<Arc<str>> = None;
        for (index, symbol) in table.enumerate() {
            let at = start + 24 * index.0 as u64;
            let name = table.symbol_name(LE, symbol).map_err(|e| self.malformed(at, e))?;
            let name = self.name(at, name)?;
            let binding = match symbol.st_bind() {
                elf::STB_LOCAL => Binding::Local,
                // Of several definitions of a unique name the first is everybody's.
                elf::STB_WEAK | elf::STB_GNU_UNIQUE => Binding::Weak,
                _ => Binding::Global,
            };
            if symbol.st_type() == elf::STT_FILE {
                file = (!name.is_empty()).then(|| name.as_str().into());
            }
            let value = symbol.st_value.get(LE);
            let definition = match symbol.st_shndx(LE) {
                // What lies there is the function that chooses one, when the program starts.
                _ if symbol.st_type() == elf::STT_GNU_IFUNC => Definition::Undefined,
                elf::SHN_UNDEF => Definition::Undefined,
                elf::SHN_ABS => Definition::Absolute(value),
                elf::SHN_COMMON => Definition::Common(value),
                _ => self.definition(kind, sections, table, symbol, index, at)?,
            };
            let file = file.clone().filter(|_| binding == Binding::Local);
            let visibility = match symbol.st_visibility() {
                elf::STV_DEFAULT => Visibility::Default,
                elf::STV_PROTECTED => Visibility::Protected,
                _ => Visibility::Hidden,
            };
            let (size, kind) = (symbol.st_size.get(LE), symbol.st_type());
            out.push(Symbol { name, file, definition, size, binding, visibility, kind });
        }
        Ok(())
    }

    fn definition(
        &self,
        kind: Kind,
        sections: &[Section],
        table: &Symbols<'_>,
        symbol: &elf::Sym64<LittleEndian>,
        index: SymbolIndex,
        at: u64,
    ) -> Result<Definition, Error> {
        let section = table.symbol_section(LE, symbol, index).map_err(|e| self.malformed(at, e))?;
        let value = symbol.st_value.get(LE);
        let Some(SectionIndex(section)) = section else { return Ok(Definition::Absolute(value)) };
        let Some(home) = sections.get(section) else {
            return Err(self.malformed(at, format!("a symbol lies in section {section}, which does not exist")));
        };
        // Thread-local symbols of linked files count from the start of the thread-local image.
        let linked = kind != Kind::Relocatable && symbol.st_type() != elf::STT_TLS;
        let offset = if linked { value.wrapping_sub(home.address) } else { value };
        if offset > home.size && home.is_loaded() && !(kind != Kind::Relocatable && symbol.st_type() == elf::STT_TLS) {
            // Linkers place some of their own labels (`_end`) outside every section.
            if linked {
                return Ok(Definition::Absolute(value));
            }
            return Err(self.malformed(at, format!("a symbol lies beyond the end of section {}", home.name)));
        }
        Ok(Definition::At(Place { section: section as u32, offset }))
    }

    fn relocations(
        &self,
        kind: Kind,
        map: &AddressMap,
        tables: &[Option<usize>],
        symbols: &[Symbol],
        sections: &mut [Section],
        section: &elf::SectionHeader64<LittleEndian>,
    ) -> Result<(), Error> {
        let at = section.sh_offset.get(LE);
        if section.sh_type.get(LE) == elf::SHT_REL {
            return Err(self.malformed(at, "x86-64 files have no relocations without addends"));
        }
        if section.sh_type.get(LE) == elf::SHT_RELR {
            return self.packed_relocations(map, sections, section);
        }
        let Some((entries, table)) = section.rela(LE, self.bytes).map_err(|e| self.malformed(at, e))? else {
            return Ok(());
        };
        // Symbol 0 means none; tables without symbols refer to nothing else.
        let base = tables.get(table.0).copied().flatten();
        for (i, entry) in entries.iter().enumerate() {
            let at = at + 24 * i as u64;
            let symbol = match (entry.r_sym(LE, false), base) {
                (0, _) => None,
                (symbol, Some(base)) if base + (symbol as usize) < symbols.len() => Some(base as u32 + symbol),
                (symbol, _) => {
                    return Err(self.malformed(at, format!("a relocation names symbol {symbol}, which does not exist")));
                }
            };
            let address = entry.r_offset.get(LE);
            let (target, offset) = if kind == Kind::Relocatable {
                (section.sh_info.get(LE) as usize, address)
            } else {
                match map.find(address) {
                    Some(place) => (place.section as usize, place.offset),
                    None => continue,
                }
            };
            let Some(home) = sections.get_mut(target) else {
                return Err(self.malformed(at, format!("relocations for section {target}, which does not exist")));
            };
            // The size of a compressed section is not that of its content.
            if offset >= home.size && !home.has(elf::SHF_COMPRESSED) {
                return Err(self.malformed(at, format!("a relocation beyond the end of section {}", home.name)));
            }
            let addend = entry.r_addend.get(LE);
            home.relocations.push(Relocation { offset, kind: entry.r_type(LE, false), symbol, addend });
        }
        Ok(())
    }

    /// Relative relocations as places and bit maps; the addends are in the words that they change.
    fn packed_relocations(
        &self,
        map: &AddressMap,
        sections: &mut [Section],
        section: &elf::SectionHeader64<LittleEndian>,
    ) -> Result<(), Error> {
        let at = section.sh_offset.get(LE);
        let entries = section.relr(LE, self.bytes).map_err(|e| self.malformed(at, e))?;
        for address in entries.into_iter().flatten() {
            let beyond = || self.malformed(at, "a packed relocation outside of all sections");
            let place = map.find(address).ok_or_else(beyond)?;
            let home = &mut sections[place.section as usize];
            let word = home.range.start.checked_add(place.offset as usize).filter(|_| place.offset + 8 <= home.size);
            let word = word.and_then(|start| self.bytes.get(start..start.checked_add(8)?));
            let addend = i64::from_le_bytes(word.and_then(|w| w.try_into().ok()).ok_or_else(beyond)?);
            let kind = elf::R_X86_64_RELATIVE;
            home.relocations.push(Relocation { offset: place.offset, kind, symbol: None, addend });
        }
        Ok(())
    }
}

type Headers<'a> = object::read::elf::SectionTable<'a, FileHeader64<LittleEndian>>;
type Symbols<'a> = object::read::elf::SymbolTable<'a, FileHeader64<LittleEndian>>;

/// Sections of a linked file by their addresses.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddressMap {
    /// First address, size, section; sorted.
    sections: Vec<(u64, u64, u32)>,
}

impl AddressMap {
    fn new(sections: &[Section]) -> AddressMap {
        // Thread-local zero pages overlap the sections after them.
        let mapped = |s: &Section| s.is_loaded() && s.size > 0 && !(s.is_thread_local() && s.kind == elf::SHT_NOBITS);
        let entries = sections.iter().enumerate().filter(|(_, s)| mapped(s));
        let mut sections: Vec<_> = entries.map(|(i, s)| (s.address, s.size, i as u32)).collect();
        sections.sort_unstable();
        AddressMap { sections }
    }

    /// The place of an address. The end of a section is a place of it if no other section begins there.
    pub fn find(&self, address: u64) -> Option<Place> {
        let after = self.sections.partition_point(|(start, _, _)| *start <= address);
        let (start, size, section) = *self.sections[..after].last()?;
        (address - start <= size).then_some(Place { section, offset: address - start })
    }
}
