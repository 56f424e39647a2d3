//! Operands as arguments, addresses, and what memory operands say about an access.

use super::*;

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
            Operand::Mask(_) => Arg::Constant(0, 1),
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
        let rip = registers::lane("rip");
        match operands[0] {
            Operand::Stack(number) if self.is_spill(number) => {
                return match (operands[2], operands[3], operands[4]) {
                    (Operand::NoRegister, Operand::Immediate(offset), Operand::NoRegister) => {
                        Some(Address::Slot(Location::slot(number), offset))
                    }
                    _ => None,
                };
            }
            // An address relative to the program counter is that of its symbol.
            Operand::Register(lane, _) if Some(lane) == rip => {}
            Operand::Register(lane, _) if lane.bits >= bits => terms.push((1, cut(self.arg(&operands[0]), bits))),
            Operand::NoRegister => {}
            Operand::Stack(_) => terms.push((1, cut(self.arg(&operands[0]), bits))),
            Operand::Text(symbol, addend) => {
                terms.push((1, Arg::Symbol(symbol, bits)));
                constant = addend;
            }
            _ => return None,
        }
        match operands[2] {
            Operand::Register(lane, _) if lane.bits >= bits => terms.push((scale, cut(self.arg(&operands[2]), bits))),
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

    /// How the instruction's memory operands say it reads or writes: kind and width.
    pub(super) fn access(&self, line: &Line, wanted: impl Fn(&MemoryOperand) -> bool) -> Option<(MemoryKind, u16)> {
        if line.strange_memory {
            return None;
        }
        let mut found = line.memory.iter().filter(|m| wanted(m));
        let first = found.next()?;
        if found.next().is_some() || first.bits == 0 || first.bits % 8 != 0 || first.bits > 512 {
            return None;
        }
        let immutable = first.load
            && !first.store
            && match first.base {
                Base::Constant => true,
                Base::FixedStack(n) => self.immutable.contains(&n),
                _ => first.invariant,
            };
        let kind = match (first.ordered, immutable) {
            (true, _) => MemoryKind::Ordered,
            (false, true) => MemoryKind::Immutable,
            (false, false) => MemoryKind::Plain,
        };
        Some((kind, first.bits as u16))
    }

    /// The same for memory that is read and perhaps written. A spill slot needs no memory operand: it is private.
    pub(super) fn read_access(&self, line: &Line, operands: &[Operand], bits: u16) -> Option<(MemoryKind, u16)> {
        match operands.first() {
            Some(Operand::Stack(number)) if self.is_spill(*number) => Some((MemoryKind::Plain, bits)),
            _ => self.access(line, |m| m.load),
        }
    }

    /// Loads from the address that starts at an explicit use. `None` if the operands do not say enough.
    pub(super) fn memory_source(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Arg> {
        if let Some(constant) = self.pool_constant(line, operands, at) {
            return constant;
        }
        let (kind, bits) = self.access(line, |m| m.load)?;
        let address = self.address(operands.used.get(at..)?, 64)?;
        self.load_from(&address, kind, bits)
    }

    /// An entry of the constant pool. A rematerialised constant has no memory operand; its width follows from the opcode.
    pub(super) fn pool_constant(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Option<Arg>> {
        let address = operands.used.get(at..at + 5)?;
        let [_, _, Operand::NoRegister, Operand::Text(symbol, 0), Operand::NoRegister] = address else { return None };
        let content = *self.constants.get(symbol)?;
        let bits = match self.access(line, |m| m.load) {
            Some((_, bits)) => bits,
            None if line.strange_memory || !line.memory.is_empty() => return None,
            None if line.opcode.contains("SSrm") => 32,
            None if line.opcode.contains("SDrm") => 64,
            None => operands
                .defined
                .first()
                .map_or(128, |(lane, _)| if registers::is_vector(lane.location) { lane.bits } else { 128 }),
        };
        Some(match content {
            Content::Zeros => Some(Arg::Constant(0, bits)),
            Content::Ones if bits == 128 => {
                let name = self.names.intern("V_SETALLONES");
                let to = self.temporary(bits);
                self.apply(name, &[], &[to], Commute::Unknown, Effect::Pure, None);
                Some(Arg::Lane(to))
            }
            _ => {
                let address = self.address(address, 64)?;
                self.load_from(&address, MemoryKind::Immutable, bits)
            }
        })
    }

    pub(super) fn load_from(&mut self, address: &Address, kind: MemoryKind, bits: u16) -> Option<Arg> {
        match *address {
            Address::Slot(location, offset) => self.slot_lane(location, offset, bits).map(Arg::Lane),
            Address::Memory(address, segment) => {
                let to = self.temporary(bits);
                self.push(Step::Load { to, address, segment, kind });
                Some(Arg::Lane(to))
            }
        }
    }

    pub(super) fn slot_lane(&mut self, location: Location, offset: i64, bits: u16) -> Option<Lane> {
        let width = i64::from(self.function.width(location));
        let low = offset.checked_mul(8)?;
        if low < 0 || low + i64::from(bits) > width {
            self.gap("an access leaves its spill slot");
            return None;
        }
        Some(Lane::new(location, low as u16, bits))
    }

    pub(super) fn store_to(&mut self, address: &Address, kind: MemoryKind, value: Arg) {
        match *address {
            Address::Slot(location, offset) => {
                if let Some(to) = self.slot_lane(location, offset, arg_bits(value)) {
                    self.push(Step::Move { to, from: value });
                }
            }
            Address::Memory(address, segment) => {
                let kind = if kind == MemoryKind::Ordered { kind } else { MemoryKind::Plain };
                self.push(Step::Store { value, address, segment, kind });
            }
        }
    }
}
