//! The candidate's code in the original's file.
//!
//! Code is copied with its relocations, and so is constant data that it refers to. Everything else has to be there already: functions and
//! variables that other files see, by their names; variables of the file's own, by name and size, so that none is there
//! twice; the file's own functions if they are the same, byte for byte.

use crate::elf::{Elf, Relocation, Section, Symbol};
use crate::piece::{self, Extent};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};
use object::elf;
use std::collections::BTreeMap;

/// Code that has a place in the new section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub extent: Extent,
    /// Offset in the new section.
    pub at: u64,
}

/// Copies code from one object to a section of another.
pub(crate) struct Import<'a> {
    from: &'a Elf,
    to: &'a mut Elf,
    /// The new section, and its symbol.
    home: usize,
    home_symbol: usize,
    /// Pieces of the function, the function itself first.
    pub placed: Vec<Placed>,
    /// Sections of constants that were copied, by their symbols there.
    constants: BTreeMap<usize, usize>,
    /// Content of the new section.
    pub content: Vec<u8>,
    relocations: Vec<Relocation>,
}

/// How code refers to code.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reference {
    Call,
    Other,
}

/// What a relocation refers to in the other file.
enum Meant {
    /// The symbol, and what is added to the addend.
    Symbol(usize, i64),
    /// Nothing that this function can reach.
    Nothing,
}

impl<'a> Import<'a> {
    /// Prepares to copy a function behind what the section has by now.
    pub fn new(from: &'a Elf, to: &'a mut Elf, home: usize, content: Vec<u8>) -> Import<'a> {
        let home_symbol = to.section_symbol(home);
        let (placed, constants, relocations) = Default::default();
        Import { from, to, home, home_symbol, placed, constants, content, relocations }
    }

    /// Copies a function and its pieces. Code keeps its distance from multiples of its section's alignment.
    pub fn function(mut self, function: Extent, at: u64) -> Result<(Vec<u8>, Vec<Placed>), String> {
        let name = self.from.symbols[function.symbol].title();
        self.placed.push(Placed { extent: function, at });
        let mut end = at + (function.end - function.start);
        for (index, symbol) in self.from.symbols.iter().enumerate() {
            let outlined = symbol.kind == elf::STT_FUNC && symbol.is_placed() && belongs(&symbol.title(), &name);
            if !outlined {
                continue;
            }
            let extent = piece::extent(self.from, index)?;
            if self.placed.iter().any(|placed| placed.extent.contains(extent.section, extent.start)) {
                continue;
            }
            let at = congruent(end, extent.start, self.from.sections[extent.section].align);
            end = at + (extent.end - extent.start);
            self.placed.push(Placed { extent, at });
        }
        for placed in self.placed.clone() {
            self.code(placed)?;
        }
        let (home, relocations) = (self.home, std::mem::take(&mut self.relocations));
        self.to.add_relocations(home, &relocations);
        Ok((self.content, self.placed))
    }

    fn code(&mut self, placed: Placed) -> Result<(), String> {
        let Extent { section, start, end, .. } = placed.extent;
        let source = &self.from.sections[section];
        let (Ok(first), Ok(last)) = (usize::try_from(start), usize::try_from(end)) else {
            return Err("code is too large".to_string());
        };
        let mut bytes = source.content.get(first..last).ok_or("code leaves its section")?.to_vec();
        let all = self.from.relocations(section)?;
        let within: Vec<Relocation> = all.into_iter().filter(|r| (start..end).contains(&r.offset)).collect();
        let copy = bytes.clone();
        let mut decoder = Decoder::with_ip(64, &copy, start, DecoderOptions::NONE);
        while decoder.can_decode() {
            let instruction = decoder.decode();
            let range = instruction.ip()..instruction.next_ip();
            let fields: Vec<&Relocation> = within.iter().filter(|r| range.contains(&r.offset)).collect();
            for field in &fields {
                // What is added for the distance from the field to the end of the instruction.
                let bias = if is_relative(field.kind) { (range.end - field.offset) as i64 } else { 0 };
                let at = placed.at + (field.offset - start);
                self.field(field, bias, at)?;
            }
            if fields.is_empty() && !instruction.is_invalid() {
                let offsets = decoder.get_constant_offsets(&instruction);
                self.unnamed(&instruction, &offsets, placed, &mut bytes)?;
            }
        }
        let at = usize::try_from(placed.at).map_err(|_| "code is too large".to_string())?;
        if self.content.len() > at {
            return Err("pieces of code overlap".to_string());
        }
        // Nothing runs into the gaps.
        self.content.resize(at, 0xcc);
        self.content.extend(bytes);
        Ok(())
    }

    /// A reference without a relocation, which the assembler has resolved: into the same section.
    fn unnamed(
        &mut self,
        instruction: &Instruction,
        offsets: &iced_x86::ConstantOffsets,
        placed: Placed,
        bytes: &mut [u8],
    ) -> Result<(), String> {
        let branches = matches!(
            instruction.flow_control(),
            FlowControl::Call | FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch
        ) && instruction.is_jcc_short_or_near()
            || instruction.is_call_near()
            || instruction.is_jmp_short_or_near()
            || instruction.is_jcx_short()
            || instruction.is_loop()
            || instruction.is_loopcc();
        let (target, field, size) = if branches {
            (instruction.near_branch_target(), offsets.immediate_offset(), offsets.immediate_size())
        } else if instruction.is_ip_rel_memory_operand() {
            (instruction.ip_rel_memory_address(), offsets.displacement_offset(), offsets.displacement_size())
        } else {
            return Ok(());
        };
        let section = placed.extent.section;
        let own_entry = target == self.placed[0].extent.start && section == self.placed[0].extent.section;
        if placed.extent.contains(section, target) && !(own_entry && instruction.is_call_near()) {
            return Ok(());
        }
        if size != 4 {
            return Err(format!(
                "a short branch leaves the function at +{:#x}",
                instruction.ip() - placed.extent.start
            ));
        }
        let offset = instruction.ip() + field as u64;
        let bias = (instruction.next_ip() - offset) as i64;
        let by = if instruction.is_call_near() { Reference::Call } else { Reference::Other };
        let (symbol, added) = match self.code_at(section, target, by)? {
            Meant::Symbol(symbol, added) => (symbol, added),
            Meant::Nothing => return Err(self.nowhere(section, target)),
        };
        let at = (offset - placed.extent.start) as usize;
        bytes[at..at + 4].fill(0);
        let place = placed.at + at as u64;
        let relocation = Relocation { offset: place, kind: elf::R_X86_64_PC32, symbol, addend: added - bias };
        self.relocations.push(relocation);
        Ok(())
    }

    /// A relocation of code.
    fn field(&mut self, field: &Relocation, bias: i64, at: u64) -> Result<(), String> {
        let (symbol, added) = match self.meant(field, bias)? {
            Meant::Symbol(symbol, added) => (symbol, added),
            Meant::Nothing => {
                let symbol = &self.from.symbols[field.symbol];
                let target = symbol.value.wrapping_add_signed(field.addend + bias);
                return Err(self.nowhere(usize::from(symbol.section), target));
            }
        };
        self.relocations.push(Relocation { offset: at, kind: field.kind, symbol, addend: field.addend + added });
        Ok(())
    }

    fn nowhere(&self, section: usize, offset: u64) -> String {
        let title = self.from.sections.get(section).map_or_else(String::new, Section::title);
        format!("it refers to {title}+{offset:#x}, which is neither a function nor data that can be copied")
    }

    /// What a relocation refers to, and what its addend changes by.
    fn meant(&mut self, relocation: &Relocation, bias: i64) -> Result<Meant, String> {
        let from = self.from;
        let symbol = &from.symbols[relocation.symbol];
        if !symbol.is_local() && symbol.kind != elf::STT_SECTION {
            return self.global(relocation.symbol).map(|symbol| Meant::Symbol(symbol, 0));
        }
        if relocation.symbol == 0 || !symbol.is_placed() {
            return Err("it has a relocation without a symbol".to_string());
        }
        let section = usize::from(symbol.section);
        let target = symbol.value.wrapping_add_signed(relocation.addend.wrapping_add(bias));
        if from.sections[section].is_code() {
            let by = |delta: i64| delta.wrapping_sub(relocation.addend.wrapping_add(bias));
            return Ok(match self.code_at(section, target, Reference::Other)? {
                Meant::Symbol(symbol, added) => Meant::Symbol(symbol, by(added)),
                Meant::Nothing => Meant::Nothing,
            });
        }
        if from.sections[section].is_constant() {
            let copied = self.constant(section)?;
            return Ok(Meant::Symbol(copied, symbol.value as i64));
        }
        self.variable(section, target).map(|(found, start)| {
            let inside = target.wrapping_sub(start) as i64;
            Meant::Symbol(found, inside.wrapping_sub(relocation.addend.wrapping_add(bias)))
        })
    }

    /// Code at a place of the candidate's file: the symbol there, and the distance from it.
    fn code_at(&mut self, section: usize, target: u64, by: Reference) -> Result<Meant, String> {
        let first = self.placed[0].extent;
        if by == Reference::Call && (section, target) == (first.section, first.start) {
            let name = self.from.symbols[first.symbol].title();
            return match self.named(&name) {
                Some(symbol) => Ok(Meant::Symbol(symbol, 0)),
                None => Err(format!("it calls itself by the name `{name}`, which the original's file does not have")),
            };
        }
        if let Some(placed) = self.placed.iter().find(|placed| placed.extent.contains(section, target)) {
            let at = placed.at + (target - placed.extent.start);
            return Ok(Meant::Symbol(self.home_symbol, at as i64));
        }
        let there =
            |symbol: &Symbol| usize::from(symbol.section) == section && symbol.value == target && symbol.names_code();
        match self.from.symbols.iter().position(there) {
            Some(symbol) if self.from.symbols[symbol].is_local() => {
                self.same_function(symbol).map(|symbol| Meant::Symbol(symbol, 0))
            }
            Some(symbol) => self.global(symbol).map(|symbol| Meant::Symbol(symbol, 0)),
            None => Ok(Meant::Nothing),
        }
    }

    /// A symbol of the original's file that other files see.
    fn named(&self, name: &str) -> Option<usize> {
        self.to.symbols.iter().position(|s| !s.is_local() && s.name == name.as_bytes())
    }

    /// What the linker knows by a name.
    fn global(&mut self, index: usize) -> Result<usize, String> {
        let symbol = self.from.symbols[index].clone();
        if let Some(known) = self.named(&symbol.title()) {
            return Ok(known);
        }
        if symbol.is_undefined() {
            return Ok(self.to.add_symbol(symbol));
        }
        let section = usize::from(symbol.section);
        let constant = symbol.is_placed() && self.from.sections[section].is_constant();
        if !constant {
            return Err(format!("it refers to `{}`, which only the candidate's file defines", symbol.title()));
        }
        self.constant(section)?;
        let copied = self.to.symbols[self.constants[&section]].section;
        Ok(self.to.add_symbol(Symbol { binding: elf::STB_LOCAL, section: copied, ..symbol }))
    }

    /// A function of the candidate's file alone: the original's file must have the same.
    fn same_function(&mut self, index: usize) -> Result<usize, String> {
        let name = self.from.symbols[index].title();
        let refused = |why: &str| Err(format!("it uses the file's own function `{name}`, which {why}"));
        let theirs = piece::extent(self.from, index)?;
        let Ok(ours) = piece::find(self.to, &name) else { return refused("the original's file does not have") };
        let bytes = |elf: &Elf, extent: Extent| {
            elf.sections[extent.section].content.get(extent.start as usize..extent.end as usize).map(<[u8]>::to_vec)
        };
        let plain = |elf: &Elf, extent: Extent| {
            let relocations = elf.relocations(extent.section).unwrap_or_default();
            relocations.iter().all(|r| !(extent.start..extent.end).contains(&r.offset))
        };
        if bytes(self.from, theirs) != bytes(self.to, ours) {
            return refused("is another in the original's file");
        }
        if !plain(self.from, theirs) || !plain(self.to, ours) {
            return refused("refers to others");
        }
        Ok(ours.symbol)
    }

    /// A variable of the file's own: the one of the same name and size in the original's file, and where it begins in the candidate's.
    fn variable(&mut self, section: usize, target: u64) -> Result<(usize, u64), String> {
        let holds = |s: &&Symbol| {
            let data = matches!(s.kind, elf::STT_OBJECT | elf::STT_TLS);
            data && usize::from(s.section) == section && target.wrapping_sub(s.value) < s.size.max(1)
        };
        let title = self.from.sections[section].title();
        let refused =
            |what: &str| format!("it refers to writable data of its file, {what}, which would be there twice");
        let found = self.from.symbols.iter().find(holds).ok_or_else(|| refused(&format!("in {title}")))?;
        let plain = |name: &str| {
            let number = name.rsplit_once('.').filter(|(_, n)| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
            number.map_or(name, |(front, _)| front).to_string()
        };
        let name = found.title();
        let same = |s: &Symbol| {
            let data = s.is_placed() && s.kind == found.kind && s.size == found.size;
            data && plain(&s.title()) == plain(&name)
        };
        let all: Vec<usize> = (0..self.to.symbols.len()).filter(|i| same(&self.to.symbols[*i])).collect();
        match all[..] {
            [one] => Ok((one, found.value)),
            _ => Err(refused(&format!("`{name}`"))),
        }
    }

    /// A section of constants, copied once; its symbol.
    fn constant(&mut self, section: usize) -> Result<usize, String> {
        if let Some(known) = self.constants.get(&section) {
            return Ok(*known);
        }
        let source = self.from.sections[section].clone();
        if source.has(elf::SHF_GROUP) || source.has(elf::SHF_TLS) {
            return Err(format!("it refers to {}, which cannot be copied", source.title()));
        }
        let copied = self.to.add_section(Section { link: 0, info: 0, ..source });
        let symbol = self.to.section_symbol(copied);
        self.constants.insert(section, symbol);
        let mut relocations = Vec::new();
        for relocation in self.from.relocations(section)? {
            let target = &self.from.symbols[relocation.symbol];
            let code = target.is_placed() && self.from.sections[usize::from(target.section)].is_code();
            if code && is_relative(relocation.kind) {
                return Err(format!(
                    "it refers to {}, which has tables of distances to code",
                    self.from.sections[section].title()
                ));
            }
            match self.meant(&relocation, 0) {
                Ok(Meant::Symbol(symbol, added)) => {
                    relocations.push(Relocation { symbol, addend: relocation.addend + added, ..relocation });
                }
                Ok(Meant::Nothing) => {
                    return Err(format!(
                        "it refers to {}, which leads to other code",
                        self.from.sections[section].title()
                    ));
                }
                Err(why) => return Err(why),
            }
        }
        self.to.add_relocations(copied, &relocations);
        Ok(symbol)
    }
}

/// The first offset from `end` on that is as far from a multiple of the alignment as another.
pub(crate) fn congruent(end: u64, like: u64, align: u64) -> u64 {
    end + like.wrapping_sub(end) % align.max(1)
}

/// Is the field a distance from itself?
fn is_relative(kind: u32) -> bool {
    matches!(
        kind,
        elf::R_X86_64_PC32
            | elf::R_X86_64_PLT32
            | elf::R_X86_64_PC64
            | elf::R_X86_64_GOTPCREL
            | elf::R_X86_64_GOTPCRELX
            | elf::R_X86_64_REX_GOTPCRELX
            | elf::R_X86_64_GOTTPOFF
    )
}

/// Is it an outlined piece of a function?
fn belongs(name: &str, function: &str) -> bool {
    let mut name = name;
    while let Some(parent) = piece::parent(name) {
        if parent == function {
            return true;
        }
        name = parent;
    }
    false
}
