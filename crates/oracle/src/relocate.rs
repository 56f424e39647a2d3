//! Relocations, as the System V ABI for AMD64 (table 4.9) defines them.
//!
//! What is not supported does not fail: a function with such a relocation is filled with `int3`, so that a run that enters it stops and
//! says nothing. Only the function itself must be whole.

use crate::link::Loaded;
use crate::places::{File, Places};
use native::Access;
use object::{Object, ObjectSection, ObjectSymbol, RelocationFlags, RelocationTarget, SymbolKind, elf};
use std::collections::BTreeMap;

pub(crate) struct Relocator<'f, 'd> {
    file: &'f File<'d>,
    places: &'f Places,
    /// Addresses of the sections.
    addresses: BTreeMap<usize, u64>,
    /// Offsets of thread-local sections from the thread pointer.
    threads: BTreeMap<usize, i64>,
    /// Slots of the global offset table.
    table: Vec<u64>,
    /// Slots by what they hold.
    slots: BTreeMap<u64, u64>,
    /// Code that cannot be run: from, to, and why.
    broken: Vec<(u64, u64, String)>,
}

impl<'f, 'd> Relocator<'f, 'd> {
    pub fn new(file: &'f File<'d>, places: &'f Places, sections: &[Loaded], threads: BTreeMap<usize, i64>) -> Self {
        let addresses = sections.iter().map(|s| (s.index.0, s.address)).collect();
        let (table, slots, broken) = Default::default();
        Relocator { file, places, addresses, threads, table, slots, broken }
    }

    /// Content of the global offset table.
    pub fn table(&self) -> Vec<u8> {
        self.table.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Code that cannot be run: from, to, and why.
    pub fn broken(self) -> Vec<(u64, u64, String)> {
        self.broken
    }

    /// Applies all relocations.
    pub fn apply(&mut self, sections: &mut [Loaded]) {
        for symbol in self.file.symbols().filter(|s| symbol_type(s) == elf::STT_GNU_IFUNC) {
            if let Some(start) = self.defined(&symbol) {
                let why = format!("`{}` is resolved at load time", symbol.name().unwrap_or(""));
                self.broken.push((start, start.saturating_add(symbol.size().max(1)), why));
            }
        }
        for section in sections {
            let Ok(source) = self.file.section_by_index(section.index) else { continue };
            for (offset, relocation) in source.relocations() {
                if let Err(what) = self.one(section, offset, &relocation) {
                    self.give_up(section, offset, what);
                }
            }
            for (from, to, _) in &self.broken {
                let inside =
                    |address: u64| address.checked_sub(section.address).and_then(|at| usize::try_from(at).ok());
                if let (Some(from), Some(to)) = (inside(*from), inside(*to))
                    && let Some(code) = section.bytes.get_mut(from..to)
                {
                    code.fill(0xcc);
                }
            }
        }
    }

    fn one(&mut self, section: &mut Loaded, offset: u64, relocation: &object::Relocation) -> Result<(), String> {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return Err("unknown relocation".to_string()) };
        let place = section.address.wrapping_add(offset);
        let addend = relocation.addend();
        let plus = |value: u64| value.wrapping_add_signed(addend);
        let RelocationTarget::Symbol(index) = relocation.target() else {
            return Err("a relocation without a symbol".to_string());
        };
        let symbol = self.file.symbol_by_index(index).map_err(|e| e.to_string())?;
        let (value, width) = match r_type {
            elf::R_X86_64_NONE => return Ok(()),
            elf::R_X86_64_64 => (plus(self.resolve(&symbol)?), 8),
            elf::R_X86_64_32 | elf::R_X86_64_32S => (plus(self.resolve(&symbol)?), 4),
            elf::R_X86_64_16 => (plus(self.resolve(&symbol)?), 2),
            elf::R_X86_64_8 => (plus(self.resolve(&symbol)?), 1),
            elf::R_X86_64_PC32 | elf::R_X86_64_PLT32 => (plus(self.resolve(&symbol)?).wrapping_sub(place), 4),
            elf::R_X86_64_PC64 => (plus(self.resolve(&symbol)?).wrapping_sub(place), 8),
            elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX => {
                let value = self.resolve(&symbol)?;
                (plus(self.slot(value)).wrapping_sub(place), 4)
            }
            elf::R_X86_64_TPOFF32 => (self.thread_offset(&symbol)?.wrapping_add(addend) as u64, 4),
            elf::R_X86_64_GOTTPOFF => {
                let value = self.thread_offset(&symbol)? as u64;
                (plus(self.slot(value)).wrapping_sub(place), 4)
            }
            other => return Err(format!("relocation type {other} is not supported")),
        };
        let at = usize::try_from(offset).ok();
        let field = at.and_then(|at| section.bytes.get_mut(at..at.checked_add(width)?));
        let field = field.ok_or("a relocation outside its section")?;
        field.copy_from_slice(&value.to_le_bytes()[..width]);
        Ok(())
    }

    /// Address of a slot that holds a value.
    fn slot(&mut self, value: u64) -> u64 {
        let next = self.places.table + 8 * self.table.len() as u64;
        let slot = *self.slots.entry(value).or_insert(next);
        if slot == next {
            self.table.push(value);
        }
        slot
    }

    fn resolve<'s>(&self, symbol: &impl ObjectSymbol<'s>) -> Result<u64, String> {
        let name = symbol.name().unwrap_or("");
        if symbol.kind() == SymbolKind::Tls {
            return Err(format!("`{name}` is thread-local"));
        }
        if symbol_type(symbol) == elf::STT_GNU_IFUNC {
            return Err(format!("`{name}` is resolved at load time"));
        }
        if symbol.is_common() {
            return self.places.commons.get(name).map(|(at, _)| *at).ok_or_else(|| format!("`{name}` has no place"));
        }
        if symbol.is_undefined() {
            let known = self.places.functions.get(name).or_else(|| self.places.externs.get(name));
            return known.copied().ok_or_else(|| format!("`{name}` has no place"));
        }
        self.defined(symbol).ok_or_else(|| format!("`{name}` is in no section that is loaded"))
    }

    fn defined<'s>(&self, symbol: &impl ObjectSymbol<'s>) -> Option<u64> {
        let section = symbol.section_index()?;
        Some(self.addresses.get(&section.0)?.wrapping_add(symbol.address()))
    }

    fn thread_offset<'s>(&self, symbol: &impl ObjectSymbol<'s>) -> Result<i64, String> {
        let name = symbol.name().unwrap_or("");
        match symbol.section_index() {
            Some(section) => {
                let base = self.threads.get(&section.0).ok_or_else(|| format!("`{name}` is not thread-local"))?;
                Ok(base.wrapping_add(symbol.address() as i64))
            }
            None => self.places.threads.get(name).copied().ok_or_else(|| format!("`{name}` has no place")),
        }
    }

    /// The function around a place stops whoever enters it.
    fn give_up(&mut self, section: &Loaded, offset: u64, what: String) {
        if section.access != Access::Execute {
            return;
        }
        let around =
            self.file.symbols().filter(|s| s.section_index() == Some(section.index) && s.kind() == SymbolKind::Text);
        let around = around.filter(|s| s.address() <= offset && offset - s.address() < s.size());
        let ranges: Vec<(u64, u64)> = around.map(|s| (s.address(), s.size())).collect();
        // Code without a symbol: nobody can tell who comes by.
        let ranges = if ranges.is_empty() { vec![(0, section.bytes.len() as u64)] } else { ranges };
        for (start, size) in ranges {
            let length = section.bytes.len() as u64;
            let (from, to) = (start.min(length), start.saturating_add(size).min(length));
            self.broken.push((section.address + from, section.address + to, what.clone()));
        }
    }
}

fn symbol_type<'s>(symbol: &impl ObjectSymbol<'s>) -> u8 {
    match symbol.flags() {
        object::SymbolFlags::Elf { st_info, .. } => st_info & 0xf,
        _ => 0,
    }
}
