//! Operations whose meaning is known: arithmetic, shifts, conditions, stores.

use super::*;

impl Lifter<'_> {
    /// Puts the flags into their register, if the instruction defines them.
    pub(super) fn set_flags(&mut self, known: &Known, operands: &Operands, args: &[Arg], commute: Commute) {
        for (lane, flags) in &operands.implicit_definitions {
            if operands.defined.iter().any(|(d, _)| d.location == lane.location) {
                continue;
            }
            if flags.dead || lane.location != Location::physical(FLAGS) {
                self.push(Step::Forget(*lane));
            } else {
                self.apply(known.flags, args, &[*lane], commute, Effect::Pure, None);
            }
        }
    }

    /// The second source: a register or a number.
    pub(super) fn source(&mut self, operand: &Operand, bits: u16) -> Arg {
        match operand {
            Operand::Immediate(value) => Arg::Constant(*value as u64, bits),
            Operand::Text(symbol, addend) => {
                let symbol = self.encoded(*symbol);
                cut(self.arg(&Operand::Text(symbol, *addend)), bits)
            }
            other => cut(self.arg(other), bits),
        }
    }

    pub(super) fn binary(
        &mut self,
        known: &Known,
        line: &Line,
        operands: &Operands,
        name: &str,
        bits: u16,
        form: Form,
    ) {
        let used = &operands.used;
        let mut target = None;
        let sources = match form {
            Form::Registers if used.len() == 2 => Some((self.source(&used[0], bits), self.source(&used[1], bits))),
            Form::Load if used.len() == 6 => {
                let left = self.source(&used[0], bits);
                self.memory_source(line, operands, 1).map(|right| (left, right))
            }
            Form::Memory if used.len() == 6 => {
                let access = self.access(line, operands, 0, |m| m.load);
                let address = if access.is_some() { self.address(used, 64) } else { None };
                match (access, address) {
                    (Some((kind, width)), Some(address)) if width == bits => {
                        let left = self.load_from(&address, kind, width);
                        let right = self.source(&used[5], bits);
                        target = Some((address, kind));
                        left.map(|left| (left, right))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let Some((left, right)) = sources.filter(|(l, r)| arg_bits(*l) == bits && arg_bits(*r) == bits) else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let mut args = vec![left, right];
        args.extend(operands.implicit_uses.iter().map(|used| self.implicit_arg(used)));
        if line.opcode.ends_with("_DB") {
            // An OR of operands without common bits, which is then their sum. The original promises it; the candidate
            // may rely on it where the original does.
            let disjoint = self.names.intern(&format!("disjoint {bits}"));
            self.apply(disjoint, &[left, right], &[], Commute::FirstTwo, Effect::Aligned, None);
        }
        let commutes = matches!(name, "ADD" | "AND" | "OR" | "XOR" | "ADC" | "TEST");
        let commute = if commutes { Commute::FirstTwo } else { Commute::Never };
        if matches!(name, "CMP" | "TEST") {
            if name == "TEST" && left == right && !matches!(left, Arg::Undefined(_)) {
                // Intel SDM: TEST x,x and CMP x,0 both clear CF and OF and set SF, ZF, PF by x.
                let compare = self.names.intern(&format!("CMP{bits} flags"));
                let zero = Arg::Constant(0, bits);
                for (lane, flags) in &operands.implicit_definitions {
                    if flags.dead || lane.location != Location::physical(FLAGS) {
                        self.push(Step::Forget(*lane));
                    } else {
                        self.apply(compare, &[left, zero], &[*lane], Commute::Never, Effect::Pure, None);
                    }
                }
                return;
            }
            return self.set_flags(known, operands, &args, commute);
        }
        let result = self.temporary(bits);
        match name {
            "ADD" | "SUB" => {
                let terms = self.terms(&[(1, left), (if name == "ADD" { 1 } else { -1 }, right)]);
                self.push(Step::Linear { to: result, constant: 0, terms });
            }
            _ => self.apply(known.value, &args, &[result], commute, Effect::Pure, None),
        }
        self.set_flags(known, operands, &args, commute);
        self.deliver(operands, target, result);
    }

    /// The result goes to the definition, or back to memory.
    pub(super) fn deliver(&mut self, operands: &Operands, target: Option<(Address, MemoryKind)>, result: Lane) {
        match (target, &operands.defined[..]) {
            (Some((address, kind)), []) => self.store_to(&address, kind, Arg::Lane(result)),
            (None, [(lane, flags)]) if lane.bits == result.bits => {
                self.set(*lane, *flags, Arg::Lane(result));
            }
            _ => self.gap("an instruction with unusual definitions"),
        }
    }

    /// The only source of an operation: a register or memory that is also the target.
    pub(super) fn single(
        &mut self,
        line: &Line,
        operands: &Operands,
        bits: u16,
        form: Form,
    ) -> Option<(Arg, Option<(Address, MemoryKind)>)> {
        if form == Form::Registers {
            return operands.used.first().map(|o| (self.source(o, bits), None));
        }
        let (kind, width) = self.access(line, operands, 0, |m| m.load)?;
        let address = self.address(&operands.used, 64)?;
        if width != bits {
            return None;
        }
        let value = self.load_from(&address, kind, bits)?;
        Some((value, Some((address, kind))))
    }

    pub(super) fn unary(&mut self, known: &Known, line: &Line, operands: &Operands, name: &str, bits: u16, form: Form) {
        let Some((value, target)) = self.single(line, operands, bits, form).filter(|(v, _)| arg_bits(*v) == bits)
        else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let result = self.temporary(bits);
        let sum = match name {
            "INC" => Some((1, 1)),
            "DEC" => Some((1, -1)),
            "NEG" => Some((-1, 0)),
            _ => None,
        };
        match sum {
            Some((factor, constant)) => {
                let terms = self.terms(&[(factor, value)]);
                self.push(Step::Linear { to: result, constant, terms });
            }
            None => self.apply(known.value, &[value], &[result], Commute::Never, Effect::Pure, None),
        }
        self.set_flags(known, operands, &[value], Commute::Never);
        self.deliver(operands, target, result);
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn shift(
        &mut self,
        known: &Known,
        line: &Line,
        operands: &Operands,
        name: &str,
        bits: u16,
        form: Form,
        once: bool,
    ) {
        let Some((value, target)) = self.single(line, operands, bits, form).filter(|(v, _)| arg_bits(*v) == bits)
        else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let at = if form == Form::Registers { 1 } else { 5 };
        let mut args = vec![value];
        let mut known_count = None;
        match operands.used.get(at) {
            _ if once => known_count = Some(1),
            Some(Operand::Immediate(count)) => known_count = Some(*count as u64 & 63),
            None => {}
            Some(_) => return self.generic(known, line, operands, &Meaning::Event),
        }
        match known_count {
            Some(count) => args.push(Arg::Constant(count, 8)),
            // `implicit $cl`
            None if operands.implicit_uses.is_empty() => return self.generic(known, line, operands, &Meaning::Event),
            None => {}
        }
        args.extend(operands.implicit_uses.iter().map(|used| self.implicit_arg(used)));
        let result = self.temporary(bits);
        match known_count {
            Some(count) if name == "SHL" && count < u64::from(bits) => {
                let terms = self.terms(&[(1i64 << count, value)]);
                self.push(Step::Linear { to: result, constant: 0, terms });
            }
            _ => self.apply(known.value, &args, &[result], Commute::Never, Effect::Pure, None),
        }
        self.set_flags(known, operands, &args, Commute::Never);
        self.deliver(operands, target, result);
    }

    pub(super) fn double_shift(
        &mut self,
        known: &Known,
        line: &Line,
        operands: &Operands,
        left: bool,
        bits: u16,
        form: Form,
    ) {
        let at = if form == Form::Registers { 1 } else { 5 };
        let (Some(second), Some(&Operand::Immediate(count))) = (operands.used.get(at), operands.used.get(at + 1))
        else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let b = self.source(second, bits);
        let Some((a, target)) = self.single(line, operands, bits, form) else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        if count <= 0 || count >= i64::from(bits) || arg_bits(a) != bits || arg_bits(b) != bits {
            return self.generic(known, line, operands, &Meaning::Event);
        }
        // SHRD(a, b, n) = SHLD(b, a, bits - n).
        let args = if left {
            [a, b, Arg::Constant(count as u64, 8)]
        } else {
            [b, a, Arg::Constant((i64::from(bits) - count) as u64, 8)]
        };
        let result = self.temporary(bits);
        self.apply(known.value, &args, &[result], Commute::Never, Effect::Pure, None);
        let kind = Arg::Constant(u64::from(left), 1);
        self.set_flags(known, operands, &[args[0], args[1], args[2], kind], Commute::Never);
        self.deliver(operands, target, result);
    }

    pub(super) fn choose(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16, form: Form) {
        let used = &operands.used;
        let sources = match form {
            Form::Registers if used.len() == 3 => {
                Some((self.source(&used[0], bits), self.source(&used[1], bits), &used[2]))
            }
            Form::Load if used.len() == 7 => {
                let first = self.source(&used[0], bits);
                self.memory_source(line, operands, 1).map(|second| (first, second, &used[6]))
            }
            _ => None,
        };
        let (Some((first, second, Operand::Immediate(code @ 0..=15))), [flags]) =
            (sources, &operands.implicit_uses[..])
        else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        // Codes come in pairs; the odd one is the negation of the even one.
        let (first, second) = if code & 1 == 1 { (second, first) } else { (first, second) };
        let code = Arg::Constant(*code as u64 & !1, 8);
        let result = self.temporary(bits);
        self.apply(
            known.value,
            &[first, second, code, self.implicit_arg(flags)],
            &[result],
            Commute::Never,
            Effect::Pure,
            None,
        );
        self.deliver(operands, None, result);
    }

    pub(super) fn condition(&mut self, known: &Known, line: &Line, operands: &Operands, form: Form) {
        let at = if form == Form::Registers { 0 } else { 5 };
        let (Some(Operand::Immediate(code)), [flags]) = (operands.used.get(at), &operands.implicit_uses[..]) else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let target = match form {
            Form::Registers => None,
            _ => {
                let access = self.access(line, operands, 0, |m| m.store);
                match (access, self.address(&operands.used, 64)) {
                    (Some((kind, 8)), Some(address)) => Some((address, kind)),
                    _ => return self.generic(known, line, operands, &Meaning::Event),
                }
            }
        };
        let result = self.temporary(8);
        let args = [Arg::Constant(*code as u64, 8), self.implicit_arg(flags)];
        self.apply(known.value, &args, &[result], Commute::Never, Effect::Pure, None);
        match (target, &operands.defined[..]) {
            (Some((address, kind)), _) => self.store_to(&address, kind, Arg::Lane(result)),
            (None, [(lane, flags)]) if lane.bits == 8 => self.set(*lane, *flags, Arg::Lane(result)),
            _ => self.gap("SETCC with unusual definitions"),
        }
    }

    pub(super) fn store(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16) {
        let access = self.access(line, operands, 0, |m| m.store);
        let (Some((kind, width)), true) = (access, operands.used.len() == 6) else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let bits = if bits == 0 { width } else { bits };
        let value = match &operands.used[5] {
            Operand::Immediate(value) => Arg::Constant(*value as u64, bits),
            Operand::Text(symbol, addend) => {
                let symbol = self.encoded(*symbol);
                let terms = self.terms(&[(1, Arg::Symbol(symbol, bits))]);
                let to = self.temporary(bits);
                self.push(Step::Linear { to, constant: *addend, terms });
                Arg::Lane(to)
            }
            other => cut(self.arg(other), bits),
        };
        let address = self.address(&operands.used, 64);
        match address {
            Some(address) if width == bits && arg_bits(value) == bits => self.store_to(&address, kind, value),
            _ => self.generic(known, line, operands, &Meaning::Event),
        }
    }

    pub(super) fn address_arithmetic(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16) {
        let [(lane, flags)] = operands.defined[..] else { return self.gap("LEA with unusual definitions") };
        match self.address(&operands.used, bits) {
            Some(Address::Memory(value, None)) => self.set(lane, flags, cut(Arg::Lane(value), lane.bits)),
            Some(Address::Slot(..)) => self.gap("the address of a spill slot is taken"),
            _ => self.generic(known, line, operands, &Meaning::Pure { faults: false, commutes: Order::Fixed }),
        }
    }
}
