//! The state at the entry of a function: the call that its caller has made.
//!
//! Trust: full. What is shared between the sides here is what the kernel takes to be equal inputs.

use super::significant_bits;
use crate::{Context, Given, State};
use program::{Assumption, Narrow, Place, Register, Side, Value};
use term::{Sort, TermId};

impl Context<'_> {
    /// The state at entry, inputs shared between the sides and everything else unknown per side.
    pub fn entry_state(&mut self, side: Side) -> State {
        let signature = self.functions[0].signature.clone().filter(|s| s.unsupported.is_none());
        let mut registers = Vec::with_capacity(Register::COUNT);
        for register in Register::all() {
            if let Some(value) = self.promoted_at_entry(side, register) {
                registers.push(value);
                continue;
            }
            let taken_from = self.taken_from(side, register);
            let passed = signature.as_ref().and_then(|s| {
                let source = taken_from?;
                s.arguments.iter().find(|a| a.place == Place::Register(source)).map(|a| (*a, source))
            });
            let could_be_argument = Register::ARGUMENTS.contains(&register)
                || matches!(register, Register::Vector(0..8) | Register::VectorHigh(0..8))
                || register == Register::General(0);
            let variadic = signature.as_ref().is_some_and(|s| s.variadic);
            let value = match (register, passed) {
                (Register::RSP, _) => self.entry_rsp(side),
                (Register::Flag(program::Flag::Direction), _) => self.arena.bool(false),
                (Register::FsBase | Register::GsBase, _) => self.arena.var(&register.name(), register.sort()),
                (_, Some((value, source))) => {
                    let low = self.given_argument(&value, source);
                    self.widen(side, register, low)
                }
                _ if (signature.is_none() || variadic) && could_be_argument => {
                    self.arena.var(&register.name(), register.sort())
                }
                _ => self.fresh_undefined(&Self::register_hint(side, register), register.sort()),
            };
            registers.push(value);
        }
        let base = self.arena.var(&format!("frame.{}", side.name()), Sort::Memory);
        let world = self.arena.var("world", Sort::Memory);
        let locals = (0..self.bindings.len()).map(|i| self.arena.var(&format!("local.{i}"), Sort::Memory)).collect();
        let arguments = self.arena.var("stack-arguments", Sort::Memory);
        let return_address = self.return_address();
        State::new(registers, crate::frame::Frame::new(base, arguments, return_address), world, locals)
    }

    /// An argument at entry, or the one value that all callers pass.
    pub(crate) fn given_argument(&mut self, value: &Value, source: Register) -> TermId {
        match self.only_value(source) {
            Some(only) if !value.boolean && value.narrow.is_none() => self.arena.truncate(only, 8 * value.bytes),
            _ => self.entry_argument(value, source),
        }
    }

    /// Which of the original's argument registers the content of a register comes from.
    fn taken_from(&self, side: Side, register: Register) -> Option<Register> {
        let Some(contract) = self.own_contract() else { return Some(register) };
        if side == Side::Original || !matches!(register, Register::General(_) | Register::Vector(_)) {
            return Some(register);
        }
        contract.moved.iter().find(|(_, to)| **to == Some(register)).map(|(from, _)| *from)
    }

    /// An argument of the original in the state at its entry.
    pub fn argument_at_entry(&mut self, value: &Value, state: &State) -> TermId {
        match value.place {
            Place::Register(register) => self.arena.truncate(state.get(register), 8 * value.bytes),
            Place::Stack(offset) => {
                state.frame.read(self.arena, crate::frame::ARGUMENTS + i64::from(offset), value.bytes)
            }
        }
    }

    /// The one value that all callers pass in a register, or that a precondition gives it.
    fn only_value(&mut self, register: Register) -> Option<TermId> {
        if let Some(Given::Value(bits)) = self.given.get(&register) {
            // As wide as the register: whoever asks takes as much as the argument has.
            return Some(self.arena.constant(bits.zext(64)));
        }
        let values = self.own_contract()?.arguments.get(&register)?;
        let mut values = values.iter();
        let only = values.next().filter(|_| values.len() == 0)?;
        Some(self.fixed_term(only))
    }

    /// What all visible callers of a local function guarantee about its arguments.
    pub fn entry_condition(&mut self) -> TermId {
        let mut all = self.arena.bool(true);
        let function = self.functions[0];
        let (Some(contract), Some(signature)) = (self.own_contract(), function.signature.as_ref()) else { return all };
        self.assume(Assumption::Callers(function.name.clone()));
        self.assumptions.extend(contract.assumptions.iter().cloned());
        let convention = contract.convention();
        self.assumptions.extend(convention.map(|how| Assumption::Convention { function: function.name.clone(), how }));
        for (register, values) in contract.arguments.iter().filter(|(_, values)| values.len() > 1) {
            let passed = signature.arguments.iter().find(|a| a.place == Place::Register(*register));
            let Some(value) = passed.filter(|v| v.narrow.is_none() && !v.boolean) else { continue };
            let held = self.entry_argument(value, *register);
            let mut any = Vec::new();
            for known in values {
                let known = self.fixed_term(known);
                let known = self.arena.truncate(known, 8 * value.bytes);
                any.push(self.arena.eq(held, known));
            }
            let any = self.arena.bool_or_all(&any);
            all = self.arena.bool_and(all, any);
        }
        for (register, range) in &contract.ranges {
            let passed = signature.arguments.iter().find(|a| a.place == Place::Register(*register));
            let Some(value) = passed.filter(|v| v.narrow.is_none() && !v.boolean && 8 * v.bytes == range.width) else {
                continue;
            };
            if self.only_value(*register).is_some() {
                continue;
            }
            if range.width == 64 && self.may_assume_defined() {
                // It may come from what pointers can be.
                self.assume(Assumption::UserAddresses);
            }
            let held = self.entry_argument(value, *register);
            let holds = self.in_range(held, range);
            all = self.arena.bool_and(all, holds);
        }
        all
    }

    /// What statics that both programs know can hold in the original's memory (`stored-values`).
    pub fn static_condition(&mut self, world: TermId) -> TermId {
        let mut all = self.arena.bool(true);
        let [original, candidate] = self.functions;
        if original.contracts.statics.is_empty() || !self.may_assume_defined() {
            return all;
        }
        for object in original.objects.values().filter(|o| candidate.objects.contains_key(&o.var)) {
            let Some(numbers) = original.contracts.statics.get(&object.name).filter(|_| object.unaliased) else {
                continue;
            };
            let Some(bytes) = object.size.filter(|s| matches!(s, 1 | 2 | 4 | 8)) else { continue };
            let address = self.arena.var_term(object.var);
            let held = self.read(world, address, bytes as u16);
            let any: Vec<TermId> = numbers
                .iter()
                .map(|number| {
                    let number = self.arena.bv(8 * bytes as u16, *number);
                    self.arena.eq(held, number)
                })
                .collect();
            let any = self.arena.bool_or_all(&any);
            self.assume(Assumption::StoredValues(object.name.clone()));
            all = self.arena.bool_and(all, any);
        }
        all
    }

    /// An argument at entry: its defined bytes.
    fn entry_argument(&mut self, value: &Value, register: Register) -> TermId {
        let width = 8 * value.bytes;
        let name = register.name();
        let range = self.own_contract().and_then(|c| c.ranges.get(&register)).filter(|r| r.width == width);
        let given = match self.given.get(&register) {
            Some(Given::Bits(bits)) => Some(*bits),
            _ => None,
        };
        let bits = range.map(significant_bits).into_iter().chain(given).min().filter(|bits| *bits < width);
        if value.boolean {
            self.assume(Assumption::AbiEntry);
            let bit = self.arena.var(&format!("{name}.0"), Sort::Bv(1));
            // Compilers rely on more than the 8 bits of the ABI's text.
            return self.arena.zext(bit, width.max(32));
        }
        match value.narrow {
            Some(Narrow { bytes, signed }) => {
                self.assume(Assumption::AbiEntry);
                let low = self.arena.var(&format!("{name}.{}", 8 * bytes), Sort::Bv(8 * bytes));
                if signed { self.arena.sext(low, width) } else { self.arena.zext(low, width) }
            }
            // What all callers pass, or what a precondition allows, fits in fewer bits.
            None if bits.is_some() => {
                let bits = bits.unwrap_or(width);
                let low = self.arena.var(&format!("{name}.{bits}"), Sort::Bv(bits));
                self.arena.zext(low, width)
            }
            // The register's own variable is 64 bits wide: a narrower argument is its low part.
            None => {
                let whole = self.arena.var(&name, register.sort());
                self.arena.truncate(whole, width)
            }
        }
    }
}
