//! What happens to symbols that no other file can see: the facts behind `unaliased-static`, `constant-static` and
//! `unread-static`.
//!
//! Every reference to such a symbol is in this file: in data, where it takes the address, or in code, where the
//! instruction says what it does. All code is decoded from the start of each function to its end; where that fails, or a
//! reference cannot be told from a neighbour's, the answer is the cautious one.
//!
//! Objects of sections whose bounds the linker makes visible (`__start_counters`), or that a loader or runtime looks through,
//! are reachable without a reference, and so is everything if there is code that no symbol covers.
//!
//! If this is wrong, a local object is believed to be out of every pointer's reach, or constant, and is not.

use crate::Image;
use crate::container::{Binding, Definition, Kind, Place, Section};
use crate::layout::{Base, Location, Use};
use crate::relocation::{Meaning, Relocation};
use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// Instructions behind one that makes a pointer that are looked at.
const MAX_LOADS: usize = 16;

/// What happens to a local symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StaticFacts {
    /// Unique name.
    pub name: String,
    /// Is it a function?
    pub function: bool,
    /// Can a pointer to it exist?
    pub address_taken: bool,
    /// Does code write to it directly?
    pub written: bool,
    /// Does code read it directly?
    pub read: bool,
    /// Is it data of this file that keeps its initial value?
    pub constant: bool,
    /// Does code form addresses of it with registers, or access bytes past its end?
    pub computed: bool,
}

/// What a reference does to its target.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Read,
    Write,
    ReadWrite,
    TakeAddress,
    /// Makes a pointer that is only loaded through.
    LoadThrough,
    Nothing,
}

impl Image {
    /// Facts about all local functions and objects, in the order of their places.
    pub fn statics(&self) -> Vec<StaticFacts> {
        self.survey().facts.into_values().collect()
    }

    fn survey(&self) -> Survey<'_> {
        let mut survey = Survey { image: self, facts: BTreeMap::new(), taken: FxHashSet::default() };
        survey.find_locals();
        survey.read_data();
        survey.read_code();
        if self.kind != Kind::Relocatable {
            // The linker has resolved what it could without leaving a trace: any number may be an address or a distance.
            survey.note_everything();
        }
        survey.find_constants();
        survey
    }

    /// Does a symbol of a writable section stand for data that nothing can write?
    pub(crate) fn is_constant_static(&self, symbol: u32) -> bool {
        let constants = self.constant_statics.get_or_init(|| {
            let facts = self.survey().facts;
            facts.into_iter().filter(|(_, fact)| fact.constant).map(|((_, symbol), _)| symbol).collect()
        });
        constants.contains(&symbol)
    }
}

impl Image {
    /// Does a local symbol stand for data whose address is never taken?
    pub(crate) fn is_unaliased_static(&self, symbol: u32) -> bool {
        let unaliased = self.unaliased_statics.get_or_init(|| {
            let facts = self.survey().facts.into_iter();
            facts.filter(|(_, fact)| !fact.function && !fact.address_taken).map(|((_, symbol), _)| symbol).collect()
        });
        unaliased.contains(&symbol)
    }

    /// Does a local symbol stand for data that no code writes by its name?
    pub(crate) fn is_unwritten_static(&self, symbol: u32) -> bool {
        let unwritten = self.unwritten_statics.get_or_init(|| {
            let facts = self.survey().facts.into_iter();
            facts.filter(|(_, fact)| !fact.function && !fact.written).map(|((_, symbol), _)| symbol).collect()
        });
        unwritten.contains(&symbol)
    }

    /// Data that code only reads and writes at fixed places inside it.
    pub(crate) fn plainly_accessed_statics(&self) -> FxHashSet<u32> {
        let facts = self.survey().facts.into_iter();
        facts.filter(|(_, f)| !(f.function || f.address_taken || f.computed)).map(|((_, symbol), _)| symbol).collect()
    }
}

struct Survey<'a> {
    image: &'a Image,
    /// By section, start and symbol of the object.
    facts: BTreeMap<(Place, u32), StaticFacts>,
    /// Sections all of whose objects have their address taken.
    taken: FxHashSet<u32>,
}

/// Is a section one of those to whose objects nothing but their names leads? Of sections with other names the
/// linker makes the ends visible, or somebody looks through them.
fn is_ordinary(section: &Section) -> bool {
    let named =
        |name: &str| section.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    !section.is_thread_local() && [".text", ".data", ".bss", ".rodata"].into_iter().any(named)
}

/// Is this a name that the linker gives to a place between objects: where a section, or all data, begins or ends?
pub(crate) fn is_border(name: &str) -> bool {
    let ends = ["_start", "_end"].iter().any(|end| name.ends_with(end));
    let table = |of: &str| name.starts_with(of) && ends;
    ["__start_", "__stop_", ".startof.", ".sizeof."].iter().any(|of| name.starts_with(of))
        || ["__preinit_array", "__init_array", "__fini_array", "__rela_iplt", "__rel_iplt"].into_iter().any(table)
        || BORDERS.contains(&name)
}

/// Borders that the linkers of GNU and LLVM name.
#[rustfmt::skip]
const BORDERS: &[&str] = &[
    "__executable_start", "__ehdr_start", "__etext", "_etext", "etext", "__data_start", "data_start", "_edata", "edata",
    "__bss_start", "_end", "end",
    "__tls_start", "__tls_end", "__bss_end", "__end", "__text_start", "__text_end",
    "__TMC_END__", "__TMC_LIST__", "_DYNAMIC", "_GLOBAL_OFFSET_TABLE_", "_PROCEDURE_LINKAGE_TABLE_", "__GNU_EH_FRAME_HDR",
    "__EH_FRAME_BEGIN__", "__FRAME_END__", "__CTOR_LIST__", "__CTOR_END__", "__DTOR_LIST__", "__DTOR_END__", "__JCR_LIST__",
    "__JCR_END__", "__dso_handle", "_TLS_MODULE_BASE_",
];

impl Survey<'_> {
    fn find_locals(&mut self) {
        let image = self.image;
        // Who names a border reaches what lies there.
        let borders = image.symbols.iter().any(|s| s.definition == Definition::Undefined && is_border(&s.name));
        for (index, extents) in image.layout.extents.iter().enumerate() {
            let section = &image.sections[index];
            for extent in extents.iter().filter(|_| section.is_loaded()) {
                let Base::Symbol(symbol) = extent.base else { continue };
                let info = &image.symbols[symbol as usize];
                if info.binding != Binding::Local {
                    continue;
                }
                let place = Place { section: index as u32, offset: extent.start };
                let fact = StaticFacts {
                    name: image.names[symbol as usize].clone(),
                    function: section.is_code(),
                    address_taken: borders && !section.is_code() || !is_ordinary(section),
                    written: false,
                    read: false,
                    constant: false,
                    computed: false,
                };
                self.facts.insert((place, symbol), fact);
            }
        }
        // A visible name inside a local object makes it reachable.
        for (symbol, info) in image.symbols.iter().enumerate().filter(|(_, s)| s.is_name()) {
            if let Some(place) = info.place().filter(|_| info.binding != Binding::Local) {
                let location = image.layout.symbol(&image.symbols, symbol as u32, 0);
                self.note(location, Effect::TakeAddress);
                // A weak name at the place of another object is one of its own.
                let inside = image.layout.extent(place).map(|extent| extent.base);
                inside.into_iter().for_each(|base| self.note_base(base, Effect::TakeAddress));
            }
        }
        // The linker calls what chooses a function (IFUNC), and uses its result; any local function may be that one.
        let chooses = image.symbols.iter().any(|s| s.kind == object::elf::STT_GNU_IFUNC);
        for fact in self.facts.values_mut() {
            fact.address_taken |= chooses && fact.function;
        }
    }

    fn note_base(&mut self, base: Base, effect: Effect) {
        let Base::Symbol(symbol) = base else { return };
        let Some((section, start, _, _)) = self.image.extent_of(base) else { return };
        if let Some(fact) = self.facts.get_mut(&(Place { section, offset: start }, symbol)) {
            match effect {
                Effect::Read => fact.read = true,
                Effect::LoadThrough => (fact.read, fact.computed) = (true, true),
                Effect::Write => fact.written = true,
                Effect::ReadWrite => (fact.read, fact.written) = (true, true),
                Effect::TakeAddress => fact.address_taken = true,
                Effect::Nothing => {}
            }
        }
    }

    fn note_indexed(&mut self, base: Base, effect: Effect) {
        self.note_base(base, effect);
        self.note_computed(base);
    }

    fn note_computed(&mut self, base: Base) {
        let Base::Symbol(symbol) = base else { return };
        let Some((section, start, _, _)) = self.image.extent_of(base) else { return };
        if let Some(fact) = self.facts.get_mut(&(Place { section, offset: start }, symbol)) {
            fact.computed = true;
        }
    }

    /// Notes an access that may reach past the end of its object.
    fn note_end(&mut self, location: Location, instruction: &Instruction) {
        let resolved = self.image.layout.resolve(&self.image.sections, location, Use::Access);
        let size = self.image.extent_of(resolved.base).map_or(0, |(_, _, size, _)| size);
        let bytes = instruction.memory_size().size() as u64;
        let end = u64::try_from(resolved.offset).ok().and_then(|at| at.checked_add(bytes));
        if bytes == 0 || end.is_none_or(|end| end > size) {
            self.note_computed(resolved.base);
        }
    }

    /// Notes what happens at a location. One that is at no certain object concerns its whole section.
    fn note(&mut self, location: Location, effect: Effect) {
        let pointer = matches!(effect, Effect::TakeAddress | Effect::LoadThrough);
        let usage = if pointer { Use::Pointer } else { Use::Access };
        let resolved = self.image.layout.resolve(&self.image.sections, location, usage);
        match resolved.base {
            Base::Section(section) => self.take_section(section),
            base => {
                self.note_base(base, effect);
                // A pointer or access past the object may mean a neighbour.
                let size = self.image.extent_of(base).map_or(0, |(_, _, size, _)| size);
                let inside = resolved.offset >= 0 && resolved.offset as u64 <= size;
                if let (false, Some((section, ..))) = (inside, self.image.extent_of(base)) {
                    self.take_section(section);
                }
            }
        }
    }

    fn take_section(&mut self, section: u32) {
        if self.taken.insert(section) {
            let extents = &self.image.layout.extents[section as usize];
            extents.iter().for_each(|extent| self.note_base(extent.base, Effect::TakeAddress));
        }
    }

    fn note_everything(&mut self) {
        self.facts.values_mut().for_each(|fact| fact.address_taken = true);
    }

    /// Objects of ordinary data that nothing writes and no pointer reaches.
    fn find_constants(&mut self) {
        let image = self.image;
        for ((place, symbol), fact) in &mut self.facts {
            let section = &image.sections[place.section as usize];
            let sized = image.extent_of(Base::Symbol(*symbol)).is_some_and(|(.., sized)| sized);
            fact.constant = image.kind == Kind::Relocatable
                && sized
                && !section.is_code()
                && !section.is_read_only()
                && !image.debug.volatile.contains(place)
                && !(fact.function || fact.address_taken || fact.written);
        }
    }

    /// Pointers in data take addresses.
    fn read_data(&mut self) {
        let image = self.image;
        let data = |s: &Section| s.is_loaded() && !s.is_code() && !s.is_unwind();
        for (index, section) in image.sections.iter().enumerate().filter(|(_, s)| data(s)) {
            for relocation in &section.relocations {
                let location = match relocation.symbol {
                    Some(symbol) => image.layout.symbol(&image.symbols, symbol, relocation.addend),
                    None => match image.at_address(relocation.addend as u64) {
                        Some(location) if image.kind != Kind::Relocatable => location,
                        _ => continue,
                    },
                };
                // Entries of jump tables have no name; what a program has named may be called.
                let place = Place { section: index as u32, offset: relocation.offset };
                let named = image.layout.extent(place).is_some_and(|extent| matches!(extent.base, Base::Symbol(_)));
                let entry = relocation.is_pointer() && section.is_read_only() && !named;
                if !(entry && self.is_inside_function(location)) {
                    self.note(location, Effect::TakeAddress);
                }
            }
        }
    }

    /// Is this behind the first instruction of a function, such as a target in a jump table? Nobody calls it there.
    fn is_inside_function(&self, location: Location) -> bool {
        let resolved = self.image.layout.resolve(&self.image.sections, location, Use::Pointer);
        let Some((section, _, size, _)) = self.image.extent_of(resolved.base) else { return false };
        let code = self.image.sections[section as usize].is_code();
        code && resolved.offset > 0 && (resolved.offset as u64) < size
    }

    fn read_code(&mut self) {
        let image = self.image;
        let mut factory = InstructionInfoFactory::new();
        for (index, section) in image.sections.iter().enumerate().filter(|(_, s)| s.is_code()) {
            let data = image.data(index as u32);
            // Relocations of code that no function covers stay unexplained and count as taking addresses.
            let mut explained = vec![false; section.relocations.len()];
            if self.has_loose_code(index as u32) {
                return self.note_everything();
            }
            let mut end = 0;
            let first = image.functions().partition_point(|f| (f.place.section as usize) < index);
            for function in image.functions()[first..].iter().take_while(|f| f.place.section as usize == index) {
                let start = function.place.offset.max(end);
                end = end.max(function.place.offset + function.size);
                if start >= end {
                    continue;
                }
                let bytes = &data[start as usize..(end as usize).min(data.len())];
                let ip = section.address.wrapping_add(start);
                let mut decoder = Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE);
                let mut instruction = Instruction::default();
                let (mut starts, mut targets) = (FxHashSet::default(), Vec::new());
                while decoder.can_decode() {
                    decoder.decode_out(&mut instruction);
                    if instruction.is_invalid() {
                        return self.note_everything();
                    }
                    let at = instruction.ip().wrapping_sub(section.address);
                    starts.insert(at);
                    let offsets = decoder.get_constant_offsets(&instruction);
                    let place = Place { section: index as u32, offset: at };
                    let rest = bytes.get(decoder.position()..).unwrap_or(&[]);
                    let step = Step { place, instruction: &instruction, offsets: &offsets, rest };
                    if !self.instruction(&mut factory, section, step, &mut explained) {
                        return self.note_everything();
                    }
                    targets.extend(near_target(section, &instruction));
                }
                // Code that runs on into the next function calls it.
                let runs_on = matches!(instruction.flow_control(), FlowControl::Next | FlowControl::ConditionalBranch);
                let behind = Place { section: index as u32, offset: end };
                if runs_on && let Some(next) = image.function_at(behind) {
                    let base = Base::Section(image.functions()[next].place.section);
                    self.note(Location { base, offset: end as i64 }, Effect::TakeAddress);
                }
                // Code that jumps into what was taken for one instruction holds others.
                if targets.iter().any(|at| (start..end).contains(at) && !starts.contains(at)) {
                    return self.note_everything();
                }
            }
            for (relocation, explained) in section.relocations.iter().zip(explained) {
                if !explained && let Some(symbol) = relocation.symbol {
                    let location = image.layout.symbol(&image.symbols, symbol, relocation.addend);
                    self.note(location, Effect::TakeAddress);
                }
            }
        }
    }

    /// Is there code in a section that belongs to no function, more than what fills the room between them? It may call any
    /// function, without a relocation.
    fn has_loose_code(&self, index: u32) -> bool {
        let image = self.image;
        let section = &image.sections[index as usize];
        if image.kind != Kind::Relocatable && section.name.starts_with(".plt") {
            return false;
        }
        let data = image.data(index);
        let first = image.functions().partition_point(|f| f.place.section < index);
        let functions = image.functions()[first..].iter().take_while(|f| f.place.section == index);
        let mut end = 0;
        for (start, next) in functions
            .map(|f| (f.place.offset, f.place.offset.saturating_add(f.size)))
            .chain([(data.len() as u64, data.len() as u64)])
        {
            let between = data.get(end as usize..start as usize).unwrap_or(&[]);
            if !is_filling(between) {
                return true;
            }
            end = end.max(next);
        }
        false
    }

    /// Notes what an instruction does. Nothing is known if a relocation lies on none of its fields: that is other code, or data.
    fn instruction(
        &mut self,
        factory: &mut InstructionInfoFactory,
        section: &Section,
        step: Step,
        explained: &mut [bool],
    ) -> bool {
        let image = self.image;
        let Step { place, instruction, offsets, .. } = step;
        let (start, length) = (place.offset, instruction.len() as u64);
        let first = section.relocations.partition_point(|r| r.offset < start);
        let mut displaced = false;
        for (i, relocation) in section.relocations.iter().enumerate().skip(first) {
            if relocation.offset >= start + length {
                break;
            }
            explained[i] = true;
            let at = (relocation.offset - start) as usize;
            let in_memory = offsets.has_displacement() && at == offsets.displacement_offset();
            let constant = offsets.has_immediate() && at == offsets.immediate_offset();
            if !(in_memory || constant || relocation.width() == 0) {
                return false;
            }
            displaced |= in_memory;
            self.relocated(factory, step, relocation, in_memory, length - at as u64);
        }
        let relocatable = image.kind == Kind::Relocatable;
        if instruction.is_ip_rel_memory_operand() && !displaced {
            let address = instruction.ip_rel_memory_address();
            let location = match relocatable {
                true => Some(Location { base: Base::Section(place.section), offset: address as i64 }),
                false => image.at_address(address),
            };
            if let Some(location) = location {
                self.note(location, access(factory, instruction));
                self.note_end(location, instruction);
            }
        }
        true
    }

    fn relocated(
        &mut self,
        factory: &mut InstructionInfoFactory,
        step: Step,
        relocation: &Relocation,
        in_memory: bool,
        rest: u64,
    ) {
        let image = self.image;
        let instruction = step.instruction;
        let Some(symbol) = relocation.symbol else { return };
        let branch = instruction.flow_control() != FlowControl::Next;
        let more = if relocation.meaning() == Meaning::Relative { rest as i64 } else { 0 };
        let location = image.layout.symbol(&image.symbols, symbol, relocation.addend.wrapping_add(more));
        let effect = match (relocation.meaning(), in_memory) {
            (Meaning::Relative, false) if branch => Effect::Nothing,
            (Meaning::GotSlot, true) if branch => return,
            (Meaning::Relative | Meaning::Absolute, true) => access(factory, instruction),
            _ => Effect::TakeAddress,
        };
        let pointer = matches!(relocation.meaning(), Meaning::Relative | Meaning::Absolute)
            && effect == Effect::TakeAddress
            && loaded_through(factory, instruction, step.rest);
        let effect = if pointer { Effect::LoadThrough } else { effect };
        // The addend of a slot's relocation does not count from the symbol.
        let location = match relocation.meaning() {
            Meaning::GotSlot => image.layout.symbol(&image.symbols, symbol, 0),
            _ => location,
        };
        // What is computed from a section-relative pointer to data may be meant for another object than the one that it hits.
        if let (Base::Section(section), Effect::TakeAddress | Effect::LoadThrough) = (location.base, effect)
            && !image.sections[section as usize].is_code()
            && !image.is_only_object(section)
        {
            self.take_section(section);
        }
        let indexed = in_memory
            && (instruction.memory_index() != iced_x86::Register::None
                || !matches!(instruction.memory_base(), iced_x86::Register::None | iced_x86::Register::RIP));
        match location.base {
            // A register may carry a section-relative address to any object of the section.
            Base::Section(section) if indexed => match image.layout.extents[section as usize][..] {
                [only] if image.is_only_object(section) => self.note_indexed(only.base, effect),
                _ => self.take_section(section),
            },
            base if indexed => self.note_indexed(base, effect),
            _ => {
                self.note(location, effect);
                if in_memory {
                    self.note_end(location, instruction);
                }
            }
        }
    }
}

/// An instruction with its surroundings.
#[derive(Clone, Copy)]
struct Step<'a> {
    place: Place,
    instruction: &'a Instruction,
    offsets: &'a iced_x86::ConstantOffsets,
    /// The code behind it.
    rest: &'a [u8],
}

/// Does an instruction make a pointer (`lea`, `mov` of a number) that the next instructions only load through, until it is
/// overwritten, without a branch on the way?
fn loaded_through(factory: &mut InstructionInfoFactory, instruction: &Instruction, rest: &[u8]) -> bool {
    if !matches!(instruction.mnemonic(), Mnemonic::Lea | Mnemonic::Mov) || instruction.op0_kind() != OpKind::Register {
        return false;
    }
    let pointer = instruction.op0_register().full_register();
    let mut decoder = Decoder::new(64, rest, DecoderOptions::NONE);
    for _ in 0..MAX_LOADS {
        if !decoder.can_decode() {
            return false;
        }
        let next = decoder.decode();
        if next.is_invalid() || next.flow_control() != FlowControl::Next {
            return false;
        }
        let info = factory.info(&next);
        let mut uses =
            info.used_registers().iter().filter(|used| used.register().full_register() == pointer).peekable();
        if uses.peek().is_none() {
            continue;
        }
        let (mut reads, mut overwritten) = (false, false);
        for used in uses {
            let whole = used.register().is_gpr64() || used.register().is_gpr32();
            match used.access() {
                OpAccess::Read => reads = true,
                OpAccess::Write if whole => overwritten = true,
                _ => return false,
            }
        }
        let loads = matches!(next.mnemonic(), Mnemonic::Mov | Mnemonic::Movzx | Mnemonic::Movsx | Mnemonic::Movsxd)
            && next.op0_kind() == OpKind::Register
            && next.op1_kind() == OpKind::Memory;
        if reads && !loads {
            return false;
        }
        if overwritten {
            return true;
        }
    }
    false
}

/// The offset in its section that a branch leads to, where the linker has no say in it.
fn near_target(section: &Section, instruction: &Instruction) -> Option<u64> {
    let at = instruction.ip().wrapping_sub(section.address);
    let branch = instruction.is_jmp_short_or_near() || instruction.is_jcc_short_or_near() || instruction.is_call_near();
    let bound = section.relocations_in(at..at + instruction.len() as u64).is_empty();
    (branch && bound).then(|| instruction.near_branch_target().wrapping_sub(section.address))
}

/// Do bytes of code do nothing?
fn is_filling(bytes: &[u8]) -> bool {
    if bytes.iter().all(|b| *b == 0) {
        return true;
    }
    let nothing = |i: Instruction| matches!(i.mnemonic(), Mnemonic::Nop | Mnemonic::Int3);
    Decoder::new(64, bytes, DecoderOptions::NONE).into_iter().all(nothing)
}

/// What an instruction does to its memory operand.
fn access(factory: &mut InstructionInfoFactory, instruction: &Instruction) -> Effect {
    match instruction.mnemonic() {
        Mnemonic::Lea => return Effect::TakeAddress,
        Mnemonic::Nop => return Effect::Nothing,
        _ => {}
    }
    let (mut read, mut written) = (false, false);
    for memory in factory.info(instruction).used_memory() {
        match memory.access() {
            OpAccess::Read | OpAccess::CondRead => read = true,
            OpAccess::Write | OpAccess::CondWrite => written = true,
            OpAccess::ReadWrite | OpAccess::ReadCondWrite => (read, written) = (true, true),
            OpAccess::None | OpAccess::NoMemAccess => {}
        }
    }
    match (read, written) {
        (true, true) => Effect::ReadWrite,
        (true, false) => Effect::Read,
        (false, true) => Effect::Write,
        (false, false) => Effect::TakeAddress,
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled};
    use expect_test::expect;

    fn facts(image: &crate::Image) -> String {
        let word = |holds: bool, word: &str| if holds { format!(" {word}") } else { String::new() };
        let line = |f: super::StaticFacts| {
            let facts =
                [(f.address_taken, "taken"), (f.written, "written"), (f.read, "read"), (f.constant, "constant")];
            let words: String = facts.iter().map(|(holds, text)| word(*holds, text)).collect();
            format!("{}{words}", f.name)
        };
        image.statics().into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn each_reference_counts_for_what_it_does() {
        let text = "static int counter, limit = 3, unread, shown, array[4]; static int *pointer = &array[1];
            static int helper(int x) { return x + limit; } static int (*called)(int) = helper;
            static int other(int x) { return x - 1; }
            int f(int x) { unread = x; counter++; int *volatile p = &shown; return other(x) + called(*p) + *pointer; }";
        let facts = |flags: &str| {
            let mut lines: Vec<String> =
                facts(&compiled(text, &format!("cc -c -O0 {flags}"))).lines().map(str::to_string).collect();
            lines.sort();
            lines.join("\n")
        };
        expect![[r#"
            array taken
            called read constant
            counter written read
            helper taken
            limit read constant
            other
            pointer read constant
            shown taken
            unread written"#]]
        .assert_eq(&facts("-fPIC -fdata-sections"));
        assert_eq!(facts("-fPIC -fdata-sections"), facts("-fno-pic -fdata-sections"));
        // A pointer into a section with several objects may be meant for each of them.
        assert!(facts("-fPIC").contains("counter taken"));
    }

    #[test]
    fn an_index_into_a_section_may_reach_all_of_it() {
        let text = ".globl f\nf: mov eax, [.data + rdi*4]\nmov [rip + c], eax\nret
            .data\n.type a, @object\na: .quad 0\n.size a, 8\n.type b, @object\nb: .quad 0\n.size b, 8
            .bss\n.type c, @object\nc: .zero 4\n.size c, 4";
        expect![[r#"
            a taken
            b taken
            c written"#]]
        .assert_eq(&facts(&assembled(text)));
    }

    #[test]
    fn tables_that_are_only_loaded_from_are_constant() {
        let text = "static const char *names[] = {\"a\", \"b\"}; static int numbers[4] = {1, 2}, zeros[3], changed[3], given[2];
            static volatile int flag = 1; void use(int *);
            const char *f(int i) { changed[i] = 1; return names[i] + numbers[i + 1] + zeros[i] + changed[i] + flag; }
            void g(void) { use(given); }";
        for command in ["cc -c -g -O0 -fdata-sections -fPIC", "cc -c -g -O0 -fdata-sections -fno-pic"] {
            let mut constants: Vec<String> =
                compiled(text, command).statics().into_iter().filter(|f| f.constant).map(|f| f.name).collect();
            constants.sort();
            assert_eq!(constants, ["names", "numbers", "zeros"], "{command}");
        }
    }

    #[test]
    fn a_pointer_that_is_only_loaded_through_is_not_taken() {
        let one = |body: &str| {
            let data = ".section .data.a, \"aw\"\n.type a, @object\na: .quad 1, 2\n.size a, 16";
            facts(&assembled(&format!(".globl f\nf: {body}\nret\n{data}")))
        };
        assert_eq!(one("lea rax, [rip + a]\nmov rax, [rax + rdi*8]"), "a read constant");
        assert_eq!(one("mov eax, offset a\nmov ecx, [rax + 8]\nmovzx eax, byte ptr [rax]"), "a read constant");
        for taken in [
            "lea rax, [rip + a]",
            "lea rax, [rip + a]\nmov [rax], rdi\nmov eax, 0",
            "lea rax, [rip + a]\nmov [rdi], rax\nmov eax, 0",
            "lea rax, [rip + a]\nmov rcx, rax\nmov eax, 0",
            "lea rax, [rip + a]\nadd rax, rdi\nmov rax, [rax]",
            "lea rax, [rip + a]\ncall g\nmov eax, 0",
            "lea rax, [rip + a]\ncmovz rax, rcx\nmov eax, 0",
            "lea rax, [rip + a]\nmov al, 1\nmov rdx, rax\nmov eax, 0",
            "lea rsi, [rip + a]\nmovsb\nxor esi, esi",
        ] {
            assert_eq!(one(taken), "a taken", "{taken}");
        }
    }

    #[test]
    fn targets_of_a_jump_table_are_no_addresses_of_functions() {
        let named = |name: &str, table: &str| {
            let code = format!(
                ".type a, @function\na: jmp [{name} + rdi*8]\n1: ret\n2: ret\n.size a, . - a\n.globl f\nf: call a\nret"
            );
            facts(&assembled(&format!("{code}\n.section .rodata\n{name}: {table}")))
        };
        let one = |table: &str| named(".Lt", table);
        assert!(!one(".quad 1b, 2b").contains("a taken"));
        assert!(one(".quad 1b, a").contains("a taken"));
        assert!(one(".long 1b - .Lt, 2b - .Lt").contains("a taken"));
        // What has a name may be called from elsewhere.
        assert!(named("table", ".quad 1b, 2b").contains("a taken"));
    }

    #[test]
    fn a_pointer_into_a_section_may_be_meant_for_a_neighbour() {
        let text = ".globl f\nf: lea rax, [rip + .data]\nmov [rax + rdi*8], rsi\nmov eax, 0\nret
            .globl g\ng: mov rax, [rip + b]\nret
            .data\n.type a, @object\na: .quad 0\n.size a, 8\n.type b, @object\nb: .quad 0\n.size b, 8";
        expect![[r#"
            a taken
            b taken read"#]]
        .assert_eq(&facts(&assembled(text)));
    }
}
