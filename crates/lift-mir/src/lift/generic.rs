//! Everything else: an uninterpreted function of all that the instruction reads.

use super::*;
use crate::opcode::writes_first_source;

impl Lifter<'_> {
    /// An uninterpreted function of all that the instruction reads.
    pub(super) fn generic(&mut self, known: &Known, line: &Line, operands: &Operands, meaning: &Meaning) {
        let opaque = ["INLINEASM", "STATEPOINT", "PATCHPOINT", "STACKMAP"].iter().any(|p| line.opcode.starts_with(p));
        let at = (0..operands.used.len()).find(|i| !opaque && Self::is_address(&operands.used[*i..]));
        let loads = line.memory.iter().any(|m| m.load);
        let stores = line.memory.iter().any(|m| m.store);
        // Without memory operands only the constant pool is known to be read and nothing else.
        let has_memory = loads || stores || line.strange_memory || at.is_some();
        let mut name = known.symbol;
        let mut meaning = meaning.clone();
        let mut args: Vec<Arg> = Vec::with_capacity(operands.used.len());
        let mut slot = None;
        if let Some(at) = at {
            args.extend(operands.used[..at].iter().map(|o| self.generic_arg(o, known.float)).collect::<Vec<Arg>>());
            let unfolded = match &known.register {
                Some((register, meaning)) if (loads && !stores) || line.memory.is_empty() => {
                    self.memory_source(line, operands, at).map(|value| (*register, meaning.clone(), value))
                }
                _ => None,
            };
            match unfolded {
                Some((register, of_register, value)) => {
                    name = register;
                    if meaning == Meaning::Event {
                        meaning = of_register;
                    }
                    args.push(match known.float {
                        Some((bits, _)) => cut(value, bits),
                        None => self.pad(value, known.scalar),
                    });
                }
                None => match self.address(&operands.used[at..], 64) {
                    Some(Address::Memory(address, segment)) => {
                        args.push(Arg::Lane(address));
                        args.extend(segment.map(Arg::Lane));
                        meaning = Meaning::Event;
                    }
                    Some(Address::Slot(location, offset)) => {
                        // A result that goes straight to its slot.
                        let access = if loads { None } else { self.access(line, |m| m.store) };
                        let lane = access.and_then(|(_, bits)| self.slot_lane(location, offset, bits));
                        match (&known.register, lane) {
                            (Some((register, of_register)), Some(lane)) if operands.defined.is_empty() => {
                                name = *register;
                                meaning = of_register.clone();
                                slot = Some(lane);
                            }
                            _ => return self.gap(format!("`{}` uses a spill slot", line.opcode)),
                        }
                    }
                    None => return self.gap(format!("`{}` has an unusual address", line.opcode)),
                },
            }
            args.extend(operands.used[at + 5..].iter().map(|o| self.generic_arg(o, known.float)).collect::<Vec<Arg>>());
        } else {
            args.extend(operands.used.iter().map(|o| self.generic_arg(o, known.float)).collect::<Vec<Arg>>());
            if has_memory && !(loads && !stores && self.only_immutable(line)) {
                meaning = Meaning::Event;
            }
        }
        // Intel SDM, BT: with a register the offset is taken modulo the operand's width.
        let offset = match line.opcode.as_ref() {
            "BT16rr" => Some(4),
            "BT32rr" => Some(5),
            "BT64rr" => Some(6),
            _ => None,
        };
        if let (Some(bits), [_, index]) = (offset, &mut args[..]) {
            *index = cut(*index, bits);
        }
        for (lane, flags) in &operands.implicit_uses {
            args.push(if flags.undefined { Arg::Undefined(lane.bits) } else { Arg::Lane(*lane) });
        }
        // Equal, unordered and their negations do not care which operand comes first.
        let symmetric = matches!(operands.used.last(), Some(Operand::Immediate(0 | 3 | 4 | 7)));
        let compares = line.opcode.trim_start_matches('V').starts_with("CMP") && meaning != Meaning::Event;
        let (effect, commute) = match meaning {
            Meaning::Pure { .. } if compares && symmetric => (Effect::Pure, Commute::FirstTwo),
            Meaning::Pure { faults, commutes } => (
                if faults { Effect::Faults } else { Effect::Pure },
                match commutes {
                    Order::Fixed => Commute::Unknown,
                    Order::Free => Commute::FirstTwo,
                    Order::FreeButNan => Commute::FloatingPoint,
                },
            ),
            // A load with an effect of its own kind that was taken apart: what is left only computes.
            Meaning::Move(_) | Meaning::Binary { .. } if slot.is_some() => (Effect::Pure, Commute::Never),
            _ => (Effect::Event, Commute::Never),
        };
        self.emit_generic(line, operands, name, &args, commute, effect, slot);
        if let Some((_, bits)) = known.float {
            // Only the low part of the result means anything.
            for (lane, _) in operands.defined.iter().filter(|(lane, _)| lane.bits > bits) {
                if registers::is_vector(lane.location) || lane.bits >= 128 {
                    self.push(Step::Undefine(Lane::new(lane.location, lane.low + bits, lane.bits - bits)));
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn emit_generic(
        &mut self,
        line: &Line,
        operands: &Operands,
        name: Symbol,
        args: &[Arg],
        commute: Commute,
        effect: Effect,
        slot: Option<Lane>,
    ) {
        let mut definitions: Vec<(Lane, RegisterFlags)> =
            slot.map(|lane| (lane, RegisterFlags::default())).into_iter().collect();
        definitions.extend(operands.defined.iter().chain(&operands.implicit_definitions).copied());
        let partial = |lane: &Lane| {
            matches!(lane.location.place(), Place::Virtual(_)) && lane.bits < self.function.width(lane.location)
        };
        let careful = definitions.iter().any(|(lane, flags)| flags.undefined && partial(lane));
        let results: Vec<Lane> = if careful {
            definitions
                .iter()
                .map(|(lane, _)| lane.bits)
                .collect::<Vec<u16>>()
                .into_iter()
                .map(|b| self.temporary(b))
                .collect()
        } else {
            definitions.iter().map(|(lane, _)| *lane).collect()
        };
        let call = line.opcode.starts_with("CALL") || operands.mask.is_some();
        // A call that does not say what it preserves preserves nothing.
        let mask = operands.mask.or(line.opcode.starts_with("CALL").then_some(Mask::Unknown));
        self.apply(name, args, &results, commute, effect, mask);
        for (i, (lane, flags)) in definitions.iter().enumerate() {
            if careful {
                self.before(*lane, *flags);
                self.push(Step::Move { to: *lane, from: Arg::Lane(results[i]) });
            }
            if operands.defined.iter().any(|(d, _)| d == lane) || registers::is_vector(lane.location) {
                self.after(*lane);
            }
        }
        for (lane, _) in operands.implicit_definitions.iter().filter(|(lane, _)| lane.bits == 32) {
            if !call && general(lane.location) && effect != Effect::Event {
                self.after(*lane);
            }
        }
        // What is above the result of an event, such as inline assembly, is not known to be zero.
        if effect == Effect::Event {
            let defined = operands.defined.iter().chain(&operands.implicit_definitions);
            for (lane, _) in defined.filter(|(lane, _)| lane.bits == 32 && lane.low == 0).copied().collect::<Vec<_>>() {
                if self.function.width(lane.location) == 64 {
                    self.push(Step::Forget(Lane::new(lane.location, 32, 32)));
                }
            }
        }
        self.check_ties(operands);
        if writes_first_source(&line.opcode, &operands.used) && !Self::is_tied(operands) {
            for (lane, _) in operands.defined.clone() {
                self.push(Step::Forget(lane));
            }
        }
        for operand in &operands.used {
            if let Operand::Block(target) = operand {
                self.push(Step::Leave(Exit { when: Condition::Event, target: *target }));
            }
        }
        if call && self.current.guarded {
            self.unwind(&definitions);
        }
    }

    /// Inline assembly says which operands must share a register.
    pub(super) fn check_ties(&mut self, operands: &Operands) {
        let uses =
            operands.used.iter().filter_map(|o| if let Operand::Register(l, f) = o { Some((l, f)) } else { None });
        for (lane, _) in uses.filter(|(_, flags)| flags.tied.is_some()).collect::<Vec<_>>() {
            let physical = matches!(lane.location.place(), Place::Physical(_));
            if physical && !operands.defined.iter().any(|(d, _)| d.location == lane.location) {
                for (lane, _) in operands.defined.clone() {
                    self.push(Step::Forget(lane));
                }
            }
        }
    }

    /// A call that may throw also leads to the landing pads, with the exception in two registers.
    pub(super) fn unwind(&mut self, definitions: &[(Lane, RegisterFlags)]) {
        let landing: Vec<u32> =
            self.current.successors.iter().flatten().filter(|n| self.landing.contains(n)).copied().collect();
        if landing.is_empty() {
            return;
        }
        let saved: Vec<(Lane, Lane)> = definitions.iter().map(|(lane, _)| (*lane, self.temporary(lane.bits))).collect();
        for (lane, copy) in &saved {
            self.push(Step::Move { to: *copy, from: Arg::Lane(*lane) });
        }
        let exception: Vec<Lane> = ["rax", "rdx"].iter().filter_map(|name| registers::lane(name)).collect();
        let name = self.names.intern("exception");
        self.apply(name, &[], &exception, Commute::Never, Effect::Event, None);
        for target in landing {
            self.push(Step::Leave(Exit { when: Condition::Event, target }));
        }
        for lane in exception {
            self.push(Step::Forget(lane));
        }
        for (lane, copy) in saved {
            self.push(Step::Move { to: lane, from: Arg::Lane(copy) });
        }
    }

    pub(super) fn only_immutable(&self, line: &Line) -> bool {
        line.memory.iter().all(|m| m.load && !m.store && !m.ordered && (m.invariant || m.base == Base::Constant))
    }

    /// An operand of an instruction about which nothing is known. A narrow floating-point register is read as wide as
    /// the candidate's register; what is above its class does not matter.
    pub(super) fn generic_arg(&mut self, operand: &Operand, float: Option<(u16, u16)>) -> Arg {
        let arg = self.arg(operand);
        if let (Some((bits, _)), Operand::Register(lane, _)) = (float, operand)
            && (self.is_narrow_vector(*lane) || registers::is_vector(lane.location) || lane.bits >= 128)
        {
            return cut(arg, bits);
        }
        match arg {
            Arg::Lane(lane) if self.is_narrow_vector(lane) => Arg::Padded(lane, 128),
            Arg::Undefined(bits)
                if bits < 128 && matches!(operand, Operand::Register(lane, _) if self.is_narrow_vector(*lane)) =>
            {
                Arg::Undefined(128)
            }
            other => other,
        }
    }

    pub(super) fn is_narrow_vector(&self, lane: Lane) -> bool {
        match lane.location.place() {
            Place::Virtual(n) => self.narrow.contains(&n),
            _ => false,
        }
    }

    pub(super) fn pad(&self, value: Arg, scalar: bool) -> Arg {
        match value {
            Arg::Lane(lane) if !scalar && lane.bits < 128 => Arg::Padded(lane, 128),
            other => other,
        }
    }

    pub(super) fn jump_targets(&mut self) {
        let successors = self.current.successors.clone().unwrap_or_default();
        // The table that is meant is one whose entries are all successors.
        let tables = self.function.tables.iter().filter(|table| table.iter().all(|n| successors.contains(n)));
        let mut targets: Vec<u32> = tables.flatten().copied().collect();
        if targets.is_empty() {
            targets = successors;
            self.indirect.extend(&targets);
        }
        for target in targets {
            self.push(Step::Leave(Exit { when: Condition::Event, target }));
        }
    }
}
