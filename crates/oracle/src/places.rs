//! Where the sections and undefined symbols of both objects lie.
//!
//! What has the same name lies at the same address on both sides, as far as that goes: a section of a name begins where the other
//! side's does. Objects inside it may be in another order; [`crate::same`] compares their addresses by name.

use crate::link::CannotLink;
use crate::map;
use object::read::elf::{ElfFile64, FileHeader};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SymbolKind, elf};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) type File<'d> = ElfFile64<'d>;

/// Most bytes of the sections of an object.
const MOST_BYTES: u64 = 16 << 20;
const PAGE: u64 = 4096;

/// Addresses by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    /// Start of a section by its name and how many of that name come before it.
    pub sections: BTreeMap<(String, usize), u64>,
    /// Addresses of undefined functions.
    pub functions: BTreeMap<String, u64>,
    /// Addresses of undefined data, and of what may be either.
    pub externs: BTreeMap<String, u64>,
    /// Addresses of common symbols: start and size.
    pub commons: BTreeMap<String, (u64, u64)>,
    /// Offsets of undefined thread-local objects from the thread pointer.
    pub threads: BTreeMap<String, i64>,
    /// Address of the global offset table.
    pub table: u64,
}

/// Where the parts of an object lie.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Region {
    pub stubs: u64,
    pub sections: u64,
    pub sections_end: u64,
    pub externs: u64,
    pub externs_end: u64,
    pub table: u64,
    /// Sections begin so many of their alignments behind the start of a page, but within a cache line.
    pub skew: u64,
}

impl Region {
    /// For an object that has an address space of its own, or both of a pair. `slide` moves everything that has no address of its own.
    pub fn whole(slide: u64) -> Region {
        Region {
            stubs: map::STUBS,
            sections: map::SECTIONS + slide,
            sections_end: map::EXTERNS,
            externs: map::EXTERNS + slide,
            externs_end: map::THREAD,
            table: map::TABLE,
            skew: 0,
        }
    }
}

/// Takes an object apart.
pub(crate) fn parse(bytes: &[u8]) -> Result<File<'_>, CannotLink> {
    let file = File::parse(bytes).map_err(|e| CannotLink(e.to_string()))?;
    let header = file.elf_header();
    let endian = file.endian();
    if header.e_type(endian) != elf::ET_REL || header.e_machine(endian) != elf::EM_X86_64 {
        return Err(CannotLink("not a relocatable object for x86-64".to_string()));
    }
    Ok(file)
}

/// Is the section in memory when the program runs?
pub(crate) fn is_loaded<'d>(section: &impl ObjectSection<'d>) -> bool {
    matches!(section.flags(), SectionFlags::Elf { sh_flags } if sh_flags & u64::from(elf::SHF_ALLOC) != 0)
}

/// The loaded sections with their names' numbers.
pub(crate) fn loaded<'d, 'f>(file: &'f File<'d>) -> Vec<((String, usize), object::SectionIndex)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut out = Vec::new();
    for section in file.sections().filter(is_loaded) {
        let name = section.name().unwrap_or("").to_string();
        let number = seen.entry(name.clone()).or_default();
        out.push(((name, *number), section.index()));
        *number += 1;
    }
    out
}

impl Places {
    /// Chooses addresses for these objects, which share them.
    pub fn new(files: &[&File], region: Region) -> Result<Places, CannotLink> {
        let mut places = Places { table: region.table, ..Places::default() };
        places.place_sections(files, region)?;
        let called = called(files);
        let mut undefined: BTreeSet<String> = BTreeSet::new();
        let mut common: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        let mut thread: BTreeSet<String> = BTreeSet::new();
        for symbol in files.iter().flat_map(|file| file.symbols()) {
            let Ok(name) = symbol.name() else { continue };
            if symbol.is_common() {
                let (size, align) = common.entry(name.to_string()).or_default();
                (*size, *align) = ((*size).max(symbol.size()), (*align).max(symbol.address()));
            } else if symbol.is_undefined() && !name.is_empty() {
                let tls = symbol.kind() == SymbolKind::Tls;
                if tls { &mut thread } else { &mut undefined }.insert(name.to_string());
            }
        }
        let mut offset = 0x40i64;
        for name in thread {
            offset += 0x40;
            places.threads.insert(name, -offset);
        }
        let (mut stub, mut next) = (region.stubs + 16, region.externs);
        for name in undefined {
            if called.contains(&name) {
                places.functions.insert(name, stub);
                stub += 16;
            } else {
                places.externs.insert(name, next);
                next += map::EXTERN_SPACING;
            }
        }
        for (name, (size, align)) in common {
            next = next.next_multiple_of(align.clamp(1, PAGE));
            places.commons.insert(name, (next, size));
            next = (next + size.min(MOST_BYTES)).next_multiple_of(PAGE) + map::EXTERN_SPACING;
        }
        if stub > region.stubs + 0x10_0000 || next > region.externs_end {
            return Err(CannotLink("too many undefined symbols".to_string()));
        }
        Ok(places)
    }

    fn place_sections(&mut self, files: &[&File], region: Region) -> Result<(), CannotLink> {
        let mut sizes: BTreeMap<(String, usize), (u64, u64)> = BTreeMap::new();
        for file in files {
            for (key, index) in loaded(file) {
                let Ok(section) = file.section_by_index(index) else { continue };
                let (size, align) = sizes.entry(key).or_default();
                (*size, *align) = ((*size).max(section.size()), (*align).max(section.align()));
            }
        }
        let mut next = region.sections;
        let mut total = 0u64;
        for (key, (size, align)) in sizes {
            total = total.saturating_add(size);
            if total > MOST_BYTES || align > 1 << 20 {
                return Err(CannotLink("too large".to_string()));
            }
            next = next.next_multiple_of(align.max(PAGE));
            let start = next + if align < 64 { region.skew * align.max(1) % 64 } else { 0 };
            self.sections.insert(key, start);
            // A hole behind each, so that who runs off its end is seen.
            next = (start + size).next_multiple_of(PAGE) + 16 * PAGE;
        }
        if next > region.sections_end {
            return Err(CannotLink("too many sections".to_string()));
        }
        Ok(())
    }
}

/// Names that some relocation calls.
fn called(files: &[&File]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for file in files {
        for section in file.sections().filter(is_loaded) {
            for (_, relocation) in section.relocations() {
                let object::RelocationFlags::Elf { r_type } = relocation.flags() else { continue };
                let object::RelocationTarget::Symbol(index) = relocation.target() else { continue };
                if r_type == elf::R_X86_64_PLT32
                    && let Ok(symbol) = file.symbol_by_index(index)
                    && let Ok(name) = symbol.name()
                {
                    out.insert(name.to_string());
                }
            }
        }
    }
    out
}
