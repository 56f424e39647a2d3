//! Everything else: an uninterpreted function of all that the instruction reads.

use super::normal::Normal;
use super::*;
use crate::table::{Kind, RegisterClass};

impl Lifter<'_> {
    /// An uninterpreted function of all that the instruction reads.
    pub(super) fn generic(&mut self, known: &Known, line: &Line, operands: &Operands, meaning: &Meaning) {
        let row = Rc::clone(&self.row);
        let at = row.memory_at().filter(|at| operands.used.len() >= at + 5);
        let mut name = known.symbol;
        let mut normal = known.normal;
        let mut meaning = meaning.clone();
        let mut args: Vec<Arg> = Vec::with_capacity(operands.used.len() + 2);
        let mut slot = None;
        if let Some(at) = at {
            self.generic_args(operands, 0..at, &mut args);
            let load = known.register.as_ref().filter(|form| {
                row.loads
                    && match form.fold {
                        Fold::Load => true,
                        Fold::NarrowLoad => self.cannot_fault(line, operands, at),
                        Fold::Store | Fold::Both => false,
                    }
            });
            let unfolded = load.cloned().and_then(|form| Some((form, self.memory_source(line, operands, at)?)));
            match unfolded {
                Some((form, value)) => {
                    (name, meaning, normal) = (form.symbol, form.meaning, form.normal);
                    args.push(value);
                }
                None => match self.address(&operands.used[at..], 64) {
                    Some(Address::Memory(address, segment)) => {
                        args.push(Arg::Lane(address));
                        args.extend(segment.map(Arg::Lane));
                        meaning = Meaning::Event;
                    }
                    Some(Address::Slot(location, offset)) => {
                        // A result that goes straight to its slot.
                        let address = Address::Slot(location, offset);
                        let form = known.register.clone().filter(|form| form.fold == Fold::Store);
                        let access = self.access(line, operands, at, |m| m.store).filter(|_| !row.loads);
                        match (form, access) {
                            (Some(form), Some((_, bits))) if operands.defined.is_empty() => {
                                self.align(&address, MemoryKind::Plain, bits);
                                (name, meaning) = (form.symbol, form.meaning);
                                slot = self.slot_lane(location, offset, bits);
                            }
                            _ => return self.gap(format!("`{}` uses a spill slot", line.opcode)),
                        }
                    }
                    // Each element of a vector of addresses is another one.
                    None if self.is_gathered(operands, at) => {
                        self.generic_args(operands, at..at + 5, &mut args);
                        meaning = Meaning::Event;
                    }
                    None => return self.gap(format!("`{}` has an unusual address", line.opcode)),
                },
            }
            self.generic_args(operands, at + 5..operands.used.len(), &mut args);
        } else {
            self.generic_args(operands, 0..operands.used.len(), &mut args);
            if row.loads || row.stores || line.strange_memory || !line.memory.is_empty() {
                meaning = Meaning::Event;
            }
        }
        if let (Some(bits), [_, index, ..]) = (index_bits(&line.opcode), &mut args[..]) {
            *index = cut(*index, bits);
        }
        let mut factors = false;
        if let (Some((common, order)), Meaning::Pure { .. }) = (normal, &meaning)
            && self.normalise(order, &mut args)
        {
            name = common;
            factors = matches!(order, Normal::Fused(_));
        }
        args.extend(operands.implicit_uses.iter().map(|used| self.implicit_arg(used)));
        if operands.open {
            args.push(Arg::Symbol(self.signature(operands), 64));
            args.extend(operands.mask.map(|(_, text)| Arg::Symbol(text, 64)));
        }
        if row.variadic {
            self.identities(operands, &mut args);
        }
        // Equal, unordered and their negations do not care which operand comes first.
        let symmetric = matches!(operands.used.last(), Some(Operand::Immediate(0 | 3 | 4 | 7)));
        // An intrinsic form keeps the rest of its first operand.
        let compares = line.opcode.trim_start_matches('V').starts_with("CMP")
            && !line.opcode.contains("_Int")
            && meaning != Meaning::Event;
        let (effect, commute) = match meaning {
            Meaning::Pure { .. } if factors => (Effect::Pure, Commute::FloatingPoint),
            Meaning::Pure { .. } if compares && symmetric => (Effect::Pure, Commute::FirstTwo),
            Meaning::Pure { faults, commutes } => (
                if faults { Effect::Faults } else { Effect::Pure },
                match commutes {
                    Order::Fixed => Commute::Unknown,
                    Order::Rewritten => Commute::Rewritten,
                    Order::Free => Commute::FirstTwo,
                    Order::FreeButNan => Commute::FloatingPoint,
                },
            ),
            // A load with an effect of its own kind that was taken apart: what is left only computes.
            Meaning::Move(_) | Meaning::Binary { .. } if slot.is_some() => (Effect::Pure, Commute::Never),
            _ => (Effect::Event, Commute::Never),
        };
        // Where rounding and exceptions are looked at, a floating-point operation stays between the same events.
        let rounds = || registers::lane("mxcsr").is_some_and(|lane| row.uses.contains(&lane));
        let effect = if effect == Effect::Pure && self.frame.strict && rounds() { Effect::Faults } else { effect };
        if effect == Effect::Event {
            for text in std::mem::take(&mut self.said) {
                self.apply(text, &[], &[], Commute::Never, Effect::Aligned, None);
            }
        }
        self.emit_generic(operands, name, &args, commute, effect, slot);
    }

    /// Where the text names a register the other program must name the same, and no later pass may take another; a
    /// virtual register stands for any.
    fn identities(&mut self, operands: &Operands, args: &mut Vec<Arg>) {
        let used = operands.used.iter().filter_map(|o| match o {
            Operand::Register(lane, flags) => Some((*lane, flags.renamable)),
            _ => None,
        });
        let defined = operands.defined.iter().map(|(lane, flags)| (*lane, flags.renamable));
        let members = operands.members.iter().map(|lane| (*lane, false));
        args.extend(defined.chain(used).chain(members).map(|(lane, renamable)| {
            let code = u64::from(lane.location.number()) << 32 | u64::from(lane.low) << 16 | u64::from(lane.bits);
            let code = code | u64::from(renamable) << 63;
            if is_physical(lane) { Arg::Constant(code, 64) } else { Arg::Undefined(64) }
        }));
    }

    /// Does the instruction take a vector of addresses, none of them that of a spill slot?
    fn is_gathered(&self, operands: &Operands, at: usize) -> bool {
        let slot = matches!(operands.used[at], Operand::Stack(number) if self.is_spill(number));
        let vector = |class: &RegisterClass| class.bits > 64;
        let index = self.row.operands.iter().find_map(|spec| match spec.kind {
            Kind::Memory { index, .. } => index,
            _ => None,
        });
        !slot && index.is_some_and(vector)
    }

    /// Is the address that of a spill slot or of memory that is always there?
    fn cannot_fault(&self, line: &Line, operands: &Operands, at: usize) -> bool {
        let slot = matches!(operands.used[at], Operand::Stack(number) if self.is_spill(number));
        let constant = operands.used.get(at..at + 5).is_some_and(|address| self.pool_entry(address).is_some());
        let access = self.access(line, operands, at, |m| m.load);
        slot || constant || access.is_some_and(|(kind, _)| kind == MemoryKind::Immutable)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn emit_generic(
        &mut self,
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
        // Of some results only the low part means anything.
        let slots = usize::from(slot.is_some());
        let meant = |i: usize, lane: Lane| {
            let bits = i.checked_sub(slots).and_then(|i| operands.yields.get(i)).copied().unwrap_or(0);
            if bits == 0 { lane } else { Lane { bits, ..lane } }
        };
        let lanes: Vec<Lane> = definitions.iter().enumerate().map(|(i, (lane, _))| meant(i, *lane)).collect();
        let results: Vec<Lane> =
            if careful { lanes.iter().map(|lane| self.temporary(lane.bits)).collect() } else { lanes.clone() };
        let call = self.row.calls || operands.mask.is_some();
        // A call that does not say what it preserves preserves nothing.
        let mask = operands.mask.map(|(mask, _)| mask).or(self.row.calls.then_some(Mask::Unknown));
        self.apply(name, args, &results, commute, effect, mask);
        for (i, (lane, flags)) in definitions.iter().enumerate() {
            if careful {
                self.before(*lane, *flags);
                self.push(Step::Move { to: lanes[i], from: Arg::Lane(results[i]) });
            }
            if lanes[i].bits < lane.bits {
                let rest = lane.bits - lanes[i].bits;
                self.push(Step::Undefine(Lane::new(lane.location, lane.low + lanes[i].bits, rest)));
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
        for operand in &operands.used {
            if let Operand::Block(target) = operand {
                self.push(Step::Leave(Exit { when: Condition::Event, target: *target }));
            }
        }
        if call && self.current.guarded {
            self.unwind(&definitions);
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

    /// Operands of an instruction about which nothing is known but how much of each it reads.
    fn generic_args(&mut self, operands: &Operands, range: std::ops::Range<usize>, args: &mut Vec<Arg>) {
        for i in range {
            let arg = self.arg(&operands.used[i]);
            let bits = operands.reads.get(i).copied().unwrap_or(0);
            args.push(if bits > 0 && matches!(operands.used[i], Operand::Register(..)) { cut(arg, bits) } else { arg });
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

/// How many low bits of the second operand are looked at. Intel SDM: BT on a register, SHLX, SHRX and SARX take the
/// offset or count modulo the operand's width, BZHI reads a byte, BEXTR two.
fn index_bits(opcode: &str) -> Option<u16> {
    Some(match opcode {
        "BT16rr" => 4,
        "BT32rr" | "SHLX32rr" | "SHRX32rr" | "SARX32rr" | "SHLX32rm" | "SHRX32rm" | "SARX32rm" => 5,
        "BT64rr" | "SHLX64rr" | "SHRX64rr" | "SARX64rr" | "SHLX64rm" | "SHRX64rm" | "SARX64rm" => 6,
        "BZHI32rr" | "BZHI64rr" | "BZHI32rm" | "BZHI64rm" => 8,
        "BEXTR32rr" | "BEXTR64rr" | "BEXTR32rm" | "BEXTR64rm" => 16,
        _ => return None,
    })
}
