//! Puts addresses into an instruction's operands: relocations of object files, numbers of linked files.
//!
//! A linker checks that an absolute address fits its field, so a 32-bit field under a relocation holds the whole
//! address: `mov $x, %edi` puts `&x` into `rdi`. A load from a slot of the global offset table is replaced by
//! the address that the linker puts there. `%fs:0` holds the thread pointer itself (System V, x86-64 TLS).
//!
//! Section-relative addresses become addresses of objects here if no register is added to them; otherwise
//! symbolic execution finds the object at the access.

use crate::Image;
use crate::container::{Kind, Place};
use crate::layout::{Base, Location, Use};
use crate::objects::Objects;
use crate::relocation::{Meaning, Relocation};
use program::{Register, Side};
use term::{Arena, Bits, TermId};
use x86::{Decoded, Field, Immediate, Instruction, Memory, Operand};

/// Where the canary of stack protectors lies, from the thread pointer (System V leaves it to the C library; all agree).
const CANARY: u64 = 0x28;

/// No structure is larger; executables lie higher.
const FAR: i64 = 0x10_0000;

/// An instruction of a function.
#[derive(Clone, Debug)]
pub(crate) struct Resolved {
    /// The instruction, its addresses resolved.
    pub instruction: Instruction,
    /// What a direct or linkage-table branch goes to.
    pub branch: Option<Location>,
    /// The thread-local object that this instruction asks `__tls_get_addr` for; `None` inside for the module.
    pub thread: Option<Option<Location>>,
}

/// Resolves the addresses of an instruction. The error is what is not modelled, in words.
pub(crate) fn resolve(
    image: &Image,
    arena: &mut Arena,
    objects: &mut Objects,
    place: Place,
    decoded: &Decoded,
) -> Result<Resolved, String> {
    let instruction = decoded.instruction.clone();
    let mut resolver = Resolver { image, arena, objects, place, decoded, instruction, branch: None, thread: None };
    resolver.resolve()?;
    let Resolver { instruction, branch, thread, .. } = resolver;
    Ok(Resolved { instruction, branch, thread })
}

struct Resolver<'a, 'b> {
    image: &'a Image,
    arena: &'a mut Arena,
    objects: &'a mut Objects<'b>,
    place: Place,
    decoded: &'a Decoded,
    instruction: Instruction,
    branch: Option<Location>,
    thread: Option<Option<Location>>,
}

/// What becomes of a memory operand under a relocation.
enum Address {
    /// An address to be added to the registers.
    Add(TermId),
    /// The operand's value itself: the linker's slot is never written.
    Value(TermId),
}

impl Resolver<'_, '_> {
    fn resolve(&mut self) -> Result<(), String> {
        let image = self.image;
        let section = &image.sections[self.place.section as usize];
        let end = self.place.offset + self.decoded.length as u64;
        let relocations = match image.kind {
            Kind::Relocatable => section.relocations_in(self.place.offset..end),
            // Code of linked files is final; what the loader still changes there is not modelled.
            _ if section.relocations_in(self.place.offset..end).is_empty() => &[],
            _ => return Err("code that the loader changes".to_string()),
        };
        let fields = self.decoded.fields;
        let (mut displaced, mut immediate) = (false, false);
        for relocation in relocations.iter().filter(|r| r.width() > 0) {
            let at = (relocation.offset - self.place.offset) as usize;
            let field = |field: Option<Field>| field.filter(|f| f.offset == at && f.size as u64 == relocation.width());
            if let Some(field) = field(fields.displacement) {
                displaced = true;
                self.relocate_memory(relocation, field)?;
            } else if let Some(field) = field(fields.immediate) {
                immediate = true;
                self.relocate_immediate(relocation, field)?;
            } else {
                return Err(format!("{} on no field of the instruction", relocation.name()));
            }
        }
        if !displaced {
            self.plain_memory()?;
        }
        if !immediate {
            self.plain_immediate();
        }
        Ok(())
    }

    fn symbol(&self, relocation: &Relocation, more: i64) -> Location {
        let addend = relocation.addend.wrapping_add(more);
        match relocation.symbol {
            Some(symbol) => self.image.layout.symbol(&self.image.symbols, symbol, addend),
            None => Location { base: Base::Number, offset: addend },
        }
    }

    fn is_undefined(&self, relocation: &Relocation) -> bool {
        let symbol = relocation.symbol.and_then(|symbol| self.image.symbols.get(symbol as usize));
        symbol.is_some_and(|s| s.definition == crate::container::Definition::Undefined)
    }

    /// An operand that accesses code: what that consists of is nobody's to compare.
    fn check_not_code(&self, location: Location, memory: &Memory) -> Result<(), String> {
        let place = self.image.place_of(location).filter(|_| memory.bytes > 0);
        match place.is_some_and(|place| self.image.sections[place.section as usize].is_code()) {
            true => Err("an access to code".to_string()),
            false => Ok(()),
        }
    }

    fn memory(&self) -> Option<(usize, Memory)> {
        self.instruction.operands.iter().enumerate().find_map(|(i, operand)| match operand {
            Operand::Memory(memory) => Some((i, *memory)),
            _ => None,
        })
    }

    /// The address of a memory operand, taken to its object if no register is added.
    fn address(&mut self, location: Location, memory: &Memory) -> TermId {
        let indexed = memory.base.is_some() || memory.index.is_some();
        let location = match location.base {
            Base::Section(_) if indexed => self.only_object(location),
            Base::Section(_) if memory.bytes == 0 => self.pointer(location),
            Base::Section(_) => self.image.layout.resolve(&self.image.sections, location, Use::Access),
            _ => location,
        };
        self.objects.term(self.arena, location)
    }

    /// A section with a single object is that object; otherwise the address stays section-relative.
    fn only_object(&self, location: Location) -> Location {
        match location.base {
            Base::Section(section) if self.image.is_only_object(section) => {
                self.image.layout.resolve(&self.image.sections, location, Use::Pointer)
            }
            _ => location,
        }
    }

    /// A pointer. What the original means by one is seen where it is used: the object that it falls in is not the one that is
    /// meant if an index is added. The candidate means no object, only an address.
    fn pointer(&self, location: Location) -> Location {
        match location.base {
            Base::Section(section) if self.objects.side() == Side::Original && self.image.is_divided(section) => {
                location
            }
            _ => self.image.layout.resolve(&self.image.sections, location, Use::Pointer),
        }
    }

    fn relocate_memory(&mut self, relocation: &Relocation, field: Field) -> Result<(), String> {
        let Some((i, memory)) = self.memory() else {
            return Err(format!("{} on an operand that is not memory", relocation.name()));
        };
        let rest = (self.decoded.length - field.offset) as i64;
        let relative = memory.rip_relative;
        self.check_not_code(self.symbol(relocation, if relative { rest } else { 0 }), &memory)?;
        let exact = relocation.addend == -rest;
        let address = match relocation.meaning() {
            Meaning::Relative if relative && relocation.is_linkage() && self.is_undefined(relocation) => {
                return Err("the address of an entry of the linkage table".to_string());
            }
            Meaning::Relative if relative => {
                let location = self.symbol(relocation, rest);
                Address::Add(self.address(location, &memory))
            }
            Meaning::Absolute if !relative => {
                let location = self.symbol(relocation, 0);
                Address::Add(self.address(location, &memory))
            }
            Meaning::GotSlot if relative && exact && memory.bytes == 8 => {
                let location = self.symbol(relocation, rest);
                if matches!(self.instruction.mnemonic.name(), "call" | "jmp") {
                    self.branch = Some(location);
                }
                Address::Value(self.objects.term(self.arena, location))
            }
            Meaning::ThreadOffsetSlot if relative && exact && memory.bytes == 8 => {
                let location = self.thread_local(relocation, rest);
                Address::Value(self.objects.thread_offset(self.arena, location))
            }
            Meaning::ThreadOffset if !relative => {
                let location = self.thread_local(relocation, 0);
                Address::Add(self.objects.thread_offset(self.arena, location))
            }
            Meaning::ThreadDescriptor if relative && exact => {
                self.thread = Some(Some(self.thread_local(relocation, rest)));
                Address::Add(self.arena.bv(64, 0))
            }
            Meaning::ThreadModule if relative && exact => {
                self.thread = Some(None);
                Address::Add(self.arena.bv(64, 0))
            }
            Meaning::ThreadModuleOffset if !relative => {
                let location = self.thread_local(relocation, 0);
                let address = self.objects.term(self.arena, location);
                let module = thread_module(self.arena);
                Address::Add(self.arena.sub(address, module))
            }
            _ => return Err(format!("{} on a memory operand", relocation.name())),
        };
        self.put(i, memory, address);
        Ok(())
    }

    fn put(&mut self, operand: usize, memory: Memory, address: Address) {
        self.instruction.operands[operand] = match address {
            Address::Add(symbol) => {
                Operand::Memory(Memory { displacement: 0, symbol: Some(symbol), rip_relative: false, ..memory })
            }
            Address::Value(value) => Operand::Immediate(Immediate { value: Bits::zero(64), symbol: Some(value) }),
        };
    }

    /// A thread-local symbol; section-relative ones are resolved to the object that holds them.
    fn thread_local(&self, relocation: &Relocation, more: i64) -> Location {
        let location = self.symbol(relocation, more);
        self.image.layout.resolve(&self.image.sections, location, Use::Access)
    }

    fn relocate_immediate(&mut self, relocation: &Relocation, field: Field) -> Result<(), String> {
        let rest = (self.decoded.length - field.offset) as i64;
        let Some(i) = self.instruction.operands.iter().position(|o| matches!(o, Operand::Immediate(_))) else {
            return Err(format!("{} on an operand that is no constant", relocation.name()));
        };
        if is_branch(&self.instruction) {
            if relocation.meaning() != Meaning::Relative || field.size != 4 {
                return Err(format!("{} on a branch", relocation.name()));
            }
            self.branch = Some(self.symbol(relocation, rest));
            return Ok(());
        }
        let term = match relocation.meaning() {
            Meaning::Absolute if field.size >= 4 => {
                let location = self.pointer(self.symbol(relocation, 0));
                self.objects.term(self.arena, location)
            }
            Meaning::ThreadOffset => {
                let location = self.thread_local(relocation, 0);
                self.objects.thread_offset(self.arena, location)
            }
            Meaning::ThreadModuleOffset => {
                let location = self.thread_local(relocation, 0);
                let address = self.objects.term(self.arena, location);
                let module = thread_module(self.arena);
                self.arena.sub(address, module)
            }
            _ => return Err(format!("{} on a constant", relocation.name())),
        };
        self.put_constant(i, term);
        Ok(())
    }

    fn put_constant(&mut self, operand: usize, term: TermId) {
        let mut width = self.instruction.operands[operand].bits();
        // The linker made sure that the upper half is zero: the register gets the whole address.
        if let ("mov", [Operand::Register(lane), _]) =
            (self.instruction.mnemonic.name(), &mut self.instruction.operands[..])
            && lane.bits == 32
        {
            lane.bits = 64;
            width = 64;
            self.instruction.width = 64;
        }
        let value = Bits::zero(width);
        self.instruction.operands[operand] = Operand::Immediate(Immediate { value, symbol: Some(term) });
    }

    /// A memory operand without a relocation.
    fn plain_memory(&mut self) -> Result<(), String> {
        let Some((i, memory)) = self.memory() else { return Ok(()) };
        let address = memory.displacement as u64;
        let bare = memory.base.is_none() && memory.index.is_none();
        // The linker has turned names into distances; only the canary is at one that everybody knows.
        let thread = memory.segment == Some(Register::FsBase) && self.image.kind != Kind::Relocatable;
        if thread && !(bare && address == CANARY && !memory.rip_relative) {
            return Err("thread-local storage of a linked file".to_string());
        }
        if memory.segment == Some(Register::FsBase) && bare && address == 0 && memory.bytes == 8 && !memory.rip_relative
        {
            if self.instruction.mnemonic.name() == "mov" && i == 1 {
                let pointer = Register::FsBase.term(self.arena);
                self.put(i, memory, Address::Value(pointer));
            }
            return Ok(());
        }
        let location = match (self.image.kind, memory.rip_relative) {
            (Kind::Relocatable, true) => {
                Location { base: Base::Section(self.place.section), offset: memory.displacement }
            }
            (Kind::Executable, false) if memory.segment.is_none() => {
                // A displacement that lies in a section is an address; small ones are offsets in structures.
                match self.image.at_address(address) {
                    Some(location) if bare => location,
                    // `a[i - 100]` lies at another object's place, or at none.
                    found if found.is_some() || !bare && memory.displacement > FAR => {
                        let what = "an indexed address of a linked file: nothing says of which object";
                        return Err(what.to_string());
                    }
                    _ => return Ok(()),
                }
            }
            (_, true) => match self.image.at_address(address) {
                Some(location) => location,
                None => return Err("an address outside of all sections".to_string()),
            },
            _ => return Ok(()),
        };
        self.check_not_code(location, &memory)?;
        let address = match self.slot(location) {
            Some(target) if memory.bytes == 8 && bare => {
                if matches!(self.instruction.mnemonic.name(), "call" | "jmp") {
                    self.branch = Some(target);
                }
                Address::Value(self.objects.term(self.arena, target))
            }
            _ => Address::Add(self.address(location, &memory)),
        };
        self.put(i, memory, address);
        Ok(())
    }

    /// What the loader puts into a slot of the global offset table of a linked file.
    fn slot(&self, location: Location) -> Option<Location> {
        let Base::Section(section) = location.base else { return None };
        let home = &self.image.sections[section as usize];
        if self.image.kind == Kind::Relocatable || !matches!(home.name.as_str(), ".got" | ".got.plt") {
            return None;
        }
        let offset = u64::try_from(location.offset).ok()?;
        let relocation = home.relocations_in(offset..offset + 1).first()?;
        if relocation.is_pointer() { self.image.pointer(relocation) } else { None }
    }

    /// A constant without a relocation: in a file at fixed addresses it may be an address all the same.
    fn plain_immediate(&mut self) {
        if self.image.kind != Kind::Executable || is_branch(&self.instruction) {
            return;
        }
        let address_like =
            |o: &Operand| matches!(o, Operand::Immediate(imm) if imm.symbol.is_none() && imm.value.width() >= 32);
        let Some(i) = self.instruction.operands.iter().position(address_like) else { return };
        let Operand::Immediate(Immediate { value, .. }) = self.instruction.operands[i] else { return };
        let whole = value.width() == 64 || self.instruction.mnemonic.name() == "mov";
        let moved = matches!(self.instruction.mnemonic.name(), "mov" | "push" | "cmp" | "add" | "sub");
        if let (true, true, Some(location)) = (whole, moved, value.to_u64().and_then(|v| self.image.at_address(v))) {
            let resolved = self.pointer(location);
            let term = self.objects.term(self.arena, resolved);
            self.put_constant(i, term);
        }
    }
}

fn is_branch(instruction: &Instruction) -> bool {
    let name = instruction.mnemonic.name();
    name.starts_with('j') || name.starts_with("loop") || name == "call" || name == "xbegin"
}

/// Start of this module's thread-local storage, as `__tls_get_addr` returns it.
pub(crate) fn thread_module(arena: &mut Arena) -> TermId {
    arena.var("§tls", term::Sort::Bv(64))
}
