//! Operands as arguments, addresses, and what memory operands say about an access.

use super::*;
use crate::table::{Encoding, Kind};

/// What System V keeps the stack pointer aligned to, in bytes.
const STACK_ALIGNMENT: u64 = 16;

impl Lifter<'_> {
    /// What an operand reads.
    pub(super) fn arg(&mut self, operand: &Operand) -> Arg {
        match *operand {
            Operand::Register(lane, flags) if flags.undefined => Arg::Undefined(lane.bits),
            Operand::Register(lane, _) => Arg::Lane(lane),
            Operand::NoRegister => Arg::Constant(0, 1),
            Operand::Immediate(value) => Arg::Constant(value as u64, 64),
            // Where it leads is compared by the ways out, not by number.
            Operand::Block(_) => Arg::Constant(0, 32),
            Operand::Stack(number) => {
                if self.is_spill(number) {
                    self.gap(format!("the address of spill slot %stack.{number} is used"));
                }
                Arg::Symbol(self.names.intern(&format!("%stack.{number}")), 64)
            }
            Operand::Subregister(low, bits) => Arg::Constant(u64::from(low) << 16 | u64::from(bits), 32),
            Operand::Text(symbol, 0) => Arg::Symbol(symbol, 64),
            Operand::Text(symbol, addend) => {
                let text = format!("{} + {addend}", self.names.text(symbol));
                Arg::Symbol(self.names.intern(&text), 64)
            }
            Operand::Mask(_, text) => Arg::Symbol(text, 64),
        }
    }

    pub(super) fn is_spill(&self, number: u32) -> bool {
        self.function.slots.get(number as usize).is_some_and(|bits| *bits > 0)
    }

    /// The five operands of an address from here on.
    pub(super) fn is_address(operands: &[Operand]) -> bool {
        matches!(
            operands,
            [
                Operand::Register(..) | Operand::NoRegister | Operand::Stack(_) | Operand::Text(..),
                Operand::Immediate(1 | 2 | 4 | 8),
                Operand::Register(..) | Operand::NoRegister,
                Operand::Immediate(_) | Operand::Text(..),
                Operand::Register(..) | Operand::NoRegister,
                ..
            ]
        )
    }

    pub(super) fn address(&mut self, operands: &[Operand], bits: u16) -> Option<Address> {
        if !Self::is_address(operands) {
            return None;
        }
        let Operand::Immediate(scale) = operands[1] else { return None };
        let mut constant = 0i64;
        let mut terms: Vec<(i64, Arg)> = Vec::with_capacity(3);
        match operands[0] {
            Operand::Stack(number) if self.is_spill(number) => {
                return match (operands[2], operands[3], operands[4]) {
                    (Operand::NoRegister, Operand::Immediate(offset), Operand::NoRegister) => {
                        Some(Address::Slot(Location::slot(number), offset))
                    }
                    _ => None,
                };
            }
            // An address relative to the program counter is that of its symbol; without one, each instruction means
            // another place. It stays apart from the absolute address: relocations may differ.
            Operand::Register(lane, _) if is_program_counter(lane) => {
                if !matches!((operands[2], operands[3]), (Operand::NoRegister, Operand::Text(..))) {
                    return None;
                }
                terms.push((1, Arg::Symbol(self.names.intern("$rip"), bits)));
            }
            Operand::Register(lane, _) if is_pointer(lane, bits) => terms.push((1, cut(self.arg(&operands[0]), bits))),
            Operand::NoRegister => {}
            Operand::Stack(_) => terms.push((1, cut(self.arg(&operands[0]), bits))),
            Operand::Text(symbol, addend) => {
                terms.push((1, Arg::Symbol(symbol, bits)));
                constant = addend;
            }
            _ => return None,
        }
        match operands[2] {
            Operand::Register(lane, _) if is_pointer(lane, bits) => {
                terms.push((scale, cut(self.arg(&operands[2]), bits)));
            }
            Operand::NoRegister => {}
            _ => return None,
        }
        match operands[3] {
            Operand::Immediate(offset) => constant = constant.wrapping_add(offset),
            Operand::Text(symbol, addend) => {
                terms.push((1, Arg::Symbol(symbol, bits)));
                constant = constant.wrapping_add(addend);
            }
            _ => return None,
        }
        let segment = match operands[4] {
            Operand::Register(lane, _) => Some(lane),
            _ => None,
        };
        let terms = self.terms(&terms);
        let to = self.temporary(bits);
        self.push(Step::Linear { to, constant, terms });
        Some(Address::Memory(to, segment))
    }

    /// How the instruction reads or writes at the address that starts at an explicit use: kind and width. The width is
    /// the opcode's. The memory operand may only say that the access is ordered, or that nobody writes there; without
    /// one it may be anything. A spill slot needs none: it is private.
    pub(super) fn access(
        &self,
        line: &Line,
        operands: &Operands,
        at: usize,
        wanted: impl Fn(&MemoryOperand) -> bool,
    ) -> Option<(MemoryKind, u16)> {
        let bits = self.row.memory().map(|(bits, _)| bits).filter(|bits| (8..=512).contains(bits) && bits % 8 == 0)?;
        let address = operands.used.get(at..at + 5)?;
        if matches!(address[0], Operand::Stack(number) if self.is_spill(number)) {
            return Some((MemoryKind::Plain, bits));
        }
        if line.strange_memory {
            return None;
        }
        let mut found = line.memory.iter().filter(|m| wanted(m));
        let first = found.next()?;
        if found.next().is_some() {
            return None;
        }
        // PUSH of a memory operand stores elsewhere.
        let only_loaded = !self.row.stores || self.row.forms.iter().any(|(_, fold)| *fold == Fold::Load);
        let reads_only = first.load && !first.store && only_loaded;
        let kind = if line.memory.iter().any(|m| m.ordered) {
            MemoryKind::Ordered
        } else if reads_only && self.never_changes(address, bits) {
            MemoryKind::Immutable
        } else if reads_only && (first.invariant || first.base == Base::Constant) {
            MemoryKind::Invariant
        } else {
            MemoryKind::Plain
        };
        Some((kind, bits))
    }

    /// Memory operands tell later passes what an access may overlap. Those of a spill slot must speak of that slot; the
    /// others must be the original's ([`Lifter::say`]).
    pub(super) fn memory_said(&mut self, line: &Line, operands: &Operands) {
        self.said.clear();
        if line.said.is_empty() {
            return;
        }
        let first = self.row.memory_at().and_then(|at| operands.used.get(at));
        let Some(Operand::Stack(slot)) = first.filter(|o| matches!(o, Operand::Stack(n) if self.is_spill(*n))) else {
            self.said.extend(&line.said);
            self.said.sort_unstable();
            if line.memory.iter().any(|m| matches!(m.base, Base::Stack(n) if self.is_spill(n))) {
                self.doubt("a memory operand speaks of a spill slot");
            }
            return;
        };
        let width = self.row.memory().map_or(0, |(bits, _)| u32::from(bits));
        // What PUSH stores goes elsewhere: the original says the same of its own.
        let pushed = |m: &MemoryOperand| line.opcode == "PUSH64rmm" && m.store && !m.load && m.base == Base::Other;
        if line.memory.len() == line.said.len() {
            let texts = line.memory.iter().zip(&line.said).filter(|(m, _)| pushed(m));
            self.said.extend(texts.map(|(_, text)| *text));
        }
        let own = |m: &MemoryOperand| {
            m.base == Base::Stack(*slot)
                && (!m.load || self.row.loads)
                && (!m.store || self.row.stores)
                && !m.invariant
                && (m.bits == 0 || width == 0 || m.bits >= width)
        };
        // What only says that it loads is no store to the pass that takes reloads out of loops.
        let complete = !self.row.stores || line.memory.iter().any(|m| m.store);
        if line.strange_memory || !complete || !line.memory.iter().all(|m| own(m) || pushed(m)) {
            self.doubt(format!("a memory operand does not speak of %stack.{slot}"));
        }
    }

    /// What the memory operands say of this address may only be said where the original says it.
    fn say(&mut self, address: Lane, segment: Option<Lane>) {
        for name in std::mem::take(&mut self.said) {
            let mut args = vec![Arg::Lane(address)];
            args.extend(segment.map(Arg::Lane));
            self.apply(name, &args, &[], Commute::Never, Effect::Aligned, None);
        }
    }

    /// Is it a place whose contents stay and which is there in every run: an immutable argument on the stack, the GOT?
    fn never_changes(&self, address: &[Operand], bits: u16) -> bool {
        match address {
            [
                Operand::Text(symbol, addend),
                Operand::Immediate(1),
                Operand::NoRegister,
                Operand::Immediate(offset),
                Operand::NoRegister,
            ] => {
                let fixed = self.names.text(*symbol).strip_prefix("%fixed-stack.").and_then(|n| n.parse::<i64>().ok());
                let size = fixed.and_then(|n| self.frame.immutable.get(&n));
                let start = addend.checked_add(*offset).and_then(|start| u64::try_from(start).ok());
                let end = start.and_then(|start| start.checked_add(u64::from(bits / 8)));
                size.zip(end).is_some_and(|(size, end)| end <= *size)
            }
            [
                Operand::Register(base, _),
                Operand::Immediate(1),
                Operand::NoRegister,
                Operand::Text(symbol, 0),
                Operand::NoRegister,
            ] if is_program_counter(*base) => {
                bits <= 64 && self.names.text(*symbol).starts_with("target-flags(x86-gotpcrel")
            }
            _ => false,
        }
    }

    /// Loads from the address that starts at an explicit use. `None` if the operands do not say enough.
    pub(super) fn memory_source(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Arg> {
        if let Some(constant) = self.pool_constant(line, operands, at) {
            return constant;
        }
        let (kind, bits) = self.access(line, operands, at, |m| m.load)?;
        let address = self.address(operands.used.get(at..)?, 64)?;
        self.load_from(&address, kind, bits)
    }

    /// An entry of the constant pool. A rematerialised constant has no memory operand.
    pub(super) fn pool_constant(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Option<Arg>> {
        let address = operands.used.get(at..at + 5)?;
        let Constant { content, bits: size, alignment } = *self.pool_entry(address)?;
        let (bits, aligned) = self.row.memory()?;
        let clean = line.memory.iter().all(|m| !m.ordered && !m.store) && !line.strange_memory && !self.row.stores;
        if !clean || !(8..=512).contains(&bits) || u32::from(bits) > size {
            return None;
        }
        if aligned && alignment < u64::from(bits / 8) {
            self.violate("an aligned access to a constant that is not aligned so");
        }
        Some(match content {
            Content::Zeros => Some(Arg::Constant(0, bits)),
            Content::Ones => Some(self.ones(bits)),
            _ => {
                let address = self.address(address, 64)?;
                self.load_from(&address, MemoryKind::Immutable, bits)
            }
        })
    }

    /// Ones in all bits. A number has 64 at most, so they are a function without arguments, the same for all widths.
    pub(super) fn ones(&mut self, bits: u16) -> Arg {
        let name = self.names.intern("all ones");
        let to = self.temporary(bits);
        self.apply(name, &[], &[to], Commute::Never, Effect::Pure, None);
        Arg::Lane(to)
    }

    /// The entry of the constant pool that an address is.
    pub(super) fn pool_entry(&self, address: &[Operand]) -> Option<&Constant> {
        match address {
            [
                base @ (Operand::NoRegister | Operand::Register(..)),
                _,
                Operand::NoRegister,
                Operand::Text(symbol, 0),
                Operand::NoRegister,
            ] => match base {
                Operand::Register(lane, _) if !is_program_counter(*lane) => None,
                _ => self.constants.get(symbol),
            },
            _ => None,
        }
    }

    /// A symbol of which an instruction holds fewer bits than it computes with is known by their number too.
    pub(super) fn encoded(&mut self, symbol: Symbol) -> Symbol {
        let mut encodings = self.row.operands.iter().filter_map(|spec| match spec.kind {
            Kind::Number(Encoding::Signed(bits)) => Some((bits, "sign")),
            Kind::Number(Encoding::Unsigned(bits)) => Some((bits, "zero")),
            _ => None,
        });
        match encodings.next_back() {
            Some((bits, kind)) => {
                let text = format!("{} ({kind}-extended from {bits} bits)", self.names.text(symbol));
                self.names.intern(&text)
            }
            None => symbol,
        }
    }

    pub(super) fn load_from(&mut self, address: &Address, kind: MemoryKind, bits: u16) -> Option<Arg> {
        self.align(address, kind, bits);
        match *address {
            Address::Slot(location, offset) => self.slot_lane(location, offset, bits).map(Arg::Lane),
            Address::Memory(address, segment) => {
                if kind != MemoryKind::Immutable {
                    self.say(address, segment);
                }
                let to = self.temporary(bits);
                self.push(Step::Load { to, address, segment, kind });
                Some(Arg::Lane(to))
            }
        }
    }

    /// An access that must be aligned faults elsewhere. A spill slot must have the alignment.
    pub(super) fn align(&mut self, address: &Address, kind: MemoryKind, bits: u16) {
        if !self.row.memory().is_some_and(|(_, aligned)| aligned) {
            return;
        }
        match *address {
            Address::Slot(location, offset) => {
                let bytes = u64::from(bits / 8);
                let Place::Slot(number) = location.place() else { return };
                let alignment = self.frame.alignments.get(&number).copied().unwrap_or(1);
                let offset = u64::try_from(offset).unwrap_or(1);
                // The stack itself is aligned to 16 bytes; more takes a frame that is realigned.
                let kept = if self.frame.realigned { alignment } else { alignment.min(STACK_ALIGNMENT) };
                if kept < bytes || offset % bytes != 0 {
                    self.forbid(format!("an aligned access to %stack.{number}, which is not aligned so"));
                }
            }
            Address::Memory(..) if kind == MemoryKind::Immutable => {}
            Address::Memory(address, segment) => {
                let name = self.names.intern(&format!("aligned to {bits}"));
                let mut args = vec![Arg::Lane(address)];
                args.extend(segment.map(Arg::Lane));
                self.apply(name, &args, &[], Commute::Never, Effect::Aligned, None);
            }
        }
    }

    pub(super) fn slot_lane(&mut self, location: Location, offset: i64, bits: u16) -> Option<Lane> {
        let width = i64::from(self.function.width(location));
        let low = offset.checked_mul(8)?;
        if low < 0 || low.checked_add(i64::from(bits)).is_none_or(|end| end > width) {
            self.forbid("an access leaves its spill slot");
            // What it reads is not known, and what it writes is lost: a temporary that nobody writes or reads.
            return Some(self.temporary(bits));
        }
        Some(Lane::new(location, low as u16, bits))
    }

    pub(super) fn store_to(&mut self, address: &Address, kind: MemoryKind, value: Arg) {
        self.align(address, MemoryKind::Plain, arg_bits(value));
        match *address {
            Address::Slot(location, offset) => {
                if let Some(to) = self.slot_lane(location, offset, arg_bits(value)) {
                    let lost = self.violated;
                    self.push(if lost { Step::Forget(to) } else { Step::Move { to, from: value } });
                }
            }
            Address::Memory(address, segment) => {
                self.say(address, segment);
                let kind = if kind == MemoryKind::Ordered { kind } else { MemoryKind::Plain };
                self.push(Step::Store { value, address, segment, kind });
            }
        }
    }
}

fn is_program_counter(lane: Lane) -> bool {
    registers::lane("rip") == Some(lane)
}

/// Can it be part of an address of so many bits? A vector of addresses is none.
fn is_pointer(lane: Lane, bits: u16) -> bool {
    (bits..=64).contains(&lane.bits)
}
