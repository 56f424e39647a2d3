//! Instructions to steps.
//!
//! Reading comes before writing: a step that writes a register comes after all steps of the instruction that read. What
//! hardware does and the text does not say is made explicit here: a 32-bit definition clears the upper half, a write to a
//! vector register loses what is above it, two definitions of one register leave nothing known.

use crate::opcode::{Form, Meaning, Order, loads_scalar, meaning, register_form, scalar_float};
use crate::operand::{Base, Line, MemoryOperand, Operand, RegisterFlags};
use crate::registers::{self, Class, FLAGS};
use machine::{
    Arg, Commute, Condition, Effect, Exit, Function, Instruction, Lane, Location, Mask, MemoryKind, Names, Phi, Place,
    Span, Step, Symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// What is known of an opcode, with the names of its functions.
pub struct Known {
    pub symbol: Symbol,
    pub meaning: Meaning,
    /// Function that yields the value.
    value: Symbol,
    /// Function that yields the flags.
    flags: Symbol,
    /// The opcode on registers, if this one reads memory.
    register: Option<(Symbol, Meaning)>,
    scalar: bool,
    /// Widths that a scalar floating-point operation reads and yields.
    float: Option<(u16, u16)>,
}

/// What is known of opcodes, looked up once each.
#[derive(Default)]
pub struct Opcodes {
    known: FxHashMap<Box<str>, Rc<Known>>,
}

impl Opcodes {
    fn get(&mut self, opcode: &str, names: &mut Names) -> Rc<Known> {
        if let Some(known) = self.known.get(opcode) {
            return Rc::clone(known);
        }
        let meaning = meaning(opcode);
        let stem = match &meaning {
            Meaning::Binary { name, bits, .. }
            | Meaning::Unary { name, bits, .. }
            | Meaning::Shift { name, bits, .. } => {
                format!("{name}{bits}")
            }
            Meaning::Choose { bits, .. } => format!("CMOV{bits}"),
            Meaning::DoubleShift { bits, .. } => format!("SHLD{bits}"),
            Meaning::SignExtend(from, to, _) => format!("sign-extend {from} to {to}"),
            Meaning::Condition(_) => "SETCC".to_string(),
            _ => opcode.to_string(),
        };
        let register = register_form(opcode).map(|form| {
            let meaning = crate::opcode::meaning(&form);
            (names.intern(&form), meaning)
        });
        let known = Rc::new(Known {
            symbol: names.intern(opcode),
            value: names.intern(&stem),
            flags: names.intern(&format!("{stem} flags")),
            register,
            scalar: loads_scalar(opcode),
            float: scalar_float(opcode),
            meaning,
        });
        self.known.insert(opcode.into(), Rc::clone(&known));
        known
    }
}

/// What an entry of the constant pool holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    Zeros,
    Ones,
    Other,
}

/// The block that is being read.
#[derive(Default)]
pub struct Current {
    /// Numbers of the successors, if the text says them.
    pub successors: Option<Vec<u32>>,
    /// Between two labels around a call that may throw?
    pub guarded: bool,
    /// Has control left for good?
    pub ended: bool,
}

/// Turns instructions into steps of a function.
pub struct Lifter<'a> {
    pub names: &'a mut Names,
    pub opcodes: &'a mut Opcodes,
    pub function: &'a mut Function,
    pub immutable: &'a FxHashSet<i64>,
    pub landing: &'a FxHashSet<u32>,
    /// Entries of the constant pool, by their operands.
    pub constants: FxHashMap<Symbol, Content>,
    pub current: Current,
    /// Phis of the current block; blocks by number until the whole function is read.
    pub phis: Vec<Phi>,
    /// Where the current instruction is.
    pub line: u32,
    temporaries: u32,
    /// Virtual registers that hold less than a vector register.
    narrow: FxHashSet<u32>,
    /// Blocks that are reached by their addresses.
    pub indirect: Vec<u32>,
}

/// An address that was computed.
enum Address {
    Memory(Lane, Option<Lane>),
    Slot(Location, i64),
}

/// The register operands of an instruction.
struct Operands {
    /// Defined before the `=`, or marked `def`.
    defined: Vec<(Lane, RegisterFlags)>,
    /// Explicit uses.
    used: Vec<Operand>,
    implicit_uses: Vec<(Lane, RegisterFlags)>,
    implicit_definitions: Vec<(Lane, RegisterFlags)>,
    mask: Option<Mask>,
}

impl<'a> Lifter<'a> {
    pub fn new(
        names: &'a mut Names,
        opcodes: &'a mut Opcodes,
        function: &'a mut Function,
        immutable: &'a FxHashSet<i64>,
        landing: &'a FxHashSet<u32>,
    ) -> Lifter<'a> {
        Lifter {
            names,
            opcodes,
            function,
            immutable,
            landing,
            constants: FxHashMap::default(),
            current: Current::default(),
            phis: Vec::new(),
            line: 0,
            temporaries: 0,
            narrow: FxHashSet::default(),
            indirect: Vec::new(),
        }
    }

    fn gap(&mut self, what: impl Into<String>) {
        if self.function.gap.is_none() {
            self.function.gap = Some((self.line, what.into()));
        }
    }

    /// One instruction.
    pub fn instruction(&mut self, line: &Line, number: u32, text: (u32, u32)) {
        self.line = number;
        self.temporaries = 0;
        for (register, class) in &line.classes {
            self.declare(*register, *class);
        }
        let known = self.opcodes.get(&line.opcode, self.names);
        let start = self.function.steps.len();
        let operands = self.sort(line);
        self.dispatch(&known, line, &operands);
        self.refuse_conflicts(&known, &operands);
        let len = (self.function.steps.len() - start) as u32;
        if len > 0 {
            let steps = Span { start: start as u32, len };
            self.function.instructions.push(Instruction { line: number, text, opcode: known.symbol, steps });
        }
    }

    /// Control goes on with the next block.
    pub fn fall_through(&mut self, exit: Exit, line: u32) {
        let start = self.function.steps.len() as u32;
        self.push(Step::Leave(exit));
        let opcode = self.names.intern("fall through");
        self.function.instructions.push(Instruction { line, text: (0, 0), opcode, steps: Span { start, len: 1 } });
    }

    /// Notes the width of a virtual register.
    pub fn declare(&mut self, register: u32, class: Class) {
        let widths = &mut self.function.virtuals;
        // Numbers are dense in real files; a stray large one must not cost memory.
        if register as usize > widths.len() + 1_000_000 {
            self.gap(format!("virtual register %{register} has an impossible number"));
            return;
        }
        if widths.len() <= register as usize {
            widths.resize(register as usize + 1, 0);
        }
        if widths[register as usize] == 0 {
            widths[register as usize] = class.bits;
            if class.narrow {
                self.narrow.insert(register);
            }
        }
    }

    fn resolve(&self, lane: Lane) -> Lane {
        if lane.bits == 0 { Lane { bits: self.function.width(lane.location), ..lane } } else { lane }
    }

    fn sort(&mut self, line: &Line) -> Operands {
        let mut sorted = Operands {
            defined: Vec::new(),
            used: Vec::new(),
            implicit_uses: Vec::new(),
            implicit_definitions: Vec::new(),
            mask: None,
        };
        for operand in &line.operands {
            match *operand {
                Operand::Register(lane, flags) => {
                    let lane = self.resolve(lane);
                    match (flags.implicit, flags.define) {
                        (false, true) => sorted.defined.push((lane, flags)),
                        (false, false) => sorted.used.push(Operand::Register(lane, flags)),
                        (true, true) => sorted.implicit_definitions.push((lane, flags)),
                        (true, false) => sorted.implicit_uses.push((lane, flags)),
                    }
                }
                Operand::Mask(mask) => sorted.mask = Some(mask),
                other => sorted.used.push(other),
            }
        }
        // The rewriter notes the liveness of a whole register beside an explicit part of it: no operand of its own.
        let explicit: Vec<Lane> = sorted
            .used
            .iter()
            .filter_map(|o| if let Operand::Register(lane, _) = o { Some(*lane) } else { None })
            .chain(sorted.defined.iter().map(|(lane, _)| *lane))
            .collect();
        let is_own = |(lane, _): &(Lane, RegisterFlags)| {
            !explicit.iter().any(|e| e.location == lane.location && e.bits < lane.bits)
        };
        sorted.implicit_uses.retain(is_own);
        sorted.implicit_definitions.retain(is_own);
        sorted
    }

    /// Definitions that share bits, or that are written before another operand is read, leave nothing known.
    fn refuse_conflicts(&mut self, known: &Known, operands: &Operands) {
        if operands.defined.len() + operands.implicit_definitions.len() < 2
            && !operands.defined.iter().any(|(_, flags)| flags.early)
        {
            return;
        }
        // What is known by name defines its result and the flags; anything else there is a note about liveness.
        let generic = matches!(known.meaning, Meaning::Pure { .. } | Meaning::Event | Meaning::Jump | Meaning::Return);
        if !generic {
            return;
        }
        let all: Vec<(Lane, RegisterFlags)> =
            operands.defined.iter().chain(&operands.implicit_definitions).copied().collect();
        for (i, (lane, flags)) in all.iter().enumerate() {
            let twice = all.iter().enumerate().any(|(j, (other, _))| i != j && lane.overlaps(*other));
            let too_early = flags.early
                && operands.used.iter().any(|o| {
                    matches!(o, Operand::Register(used, f) if used.overlaps(*lane) && f.tied.is_none() && !f.undefined)
                });
            if twice || too_early {
                self.push(Step::Forget(*lane));
            }
        }
    }

    fn dispatch(&mut self, known: &Known, line: &Line, operands: &Operands) {
        match &known.meaning {
            Meaning::Nothing => {
                if line.opcode == "EH_LABEL" {
                    self.current.guarded = !self.current.guarded;
                }
            }
            Meaning::Kill => self.kill(operands),
            Meaning::Copy => self.copy(operands),
            Meaning::Undefined => {
                for (lane, _) in &operands.defined {
                    self.push(Step::Undefine(*lane));
                }
            }
            Meaning::Phi => self.phi(line),
            Meaning::SubregisterToRegister => match operands.used[..] {
                [_, ref value, Operand::Subregister(low, bits)] => {
                    let arg = self.arg(value);
                    self.assemble(operands, None, &[(arg, low, bits)]);
                }
                _ => self.gap("SUBREG_TO_REG with unusual operands"),
            },
            Meaning::InsertSubregister => match operands.used[..] {
                [ref base, ref value, Operand::Subregister(low, bits)] => {
                    let (base, value) = (self.arg(base), self.arg(value));
                    self.assemble(operands, Some(base), &[(value, low, bits)]);
                }
                _ => self.gap("INSERT_SUBREG with unusual operands"),
            },
            Meaning::ExtractSubregister => match (&operands.used[..], &operands.defined[..]) {
                ([Operand::Register(from, _), Operand::Subregister(low, bits)], [(to, flags)]) => {
                    let from = Lane::new(from.location, from.low + low, *bits);
                    self.set(*to, *flags, Arg::Lane(from));
                }
                _ => self.gap("EXTRACT_SUBREG with unusual operands"),
            },
            Meaning::RegisterSequence => {
                let mut parts = Vec::new();
                for pair in operands.used.chunks(2) {
                    let [value, Operand::Subregister(low, bits)] = pair else {
                        return self.gap("REG_SEQUENCE with unusual operands");
                    };
                    parts.push((self.arg(value), *low, *bits));
                }
                self.assemble(operands, Some(Arg::Undefined(0)), &parts);
            }
            Meaning::Zero => {
                for (lane, flags) in &operands.defined {
                    self.set(*lane, *flags, Arg::Constant(0, lane.bits));
                }
                self.forget_implicit(operands);
            }
            Meaning::Immediate => match (&operands.used[..], &operands.defined[..]) {
                ([Operand::Immediate(value)], [(lane, flags)]) => {
                    self.set(*lane, *flags, Arg::Constant(*value as u64, lane.bits));
                }
                ([Operand::Text(symbol, addend)], [(lane, flags)]) => {
                    let terms = self.terms(&[(1, Arg::Symbol(*symbol, lane.bits))]);
                    let to = self.temporary(lane.bits);
                    self.push(Step::Linear { to, constant: *addend, terms });
                    self.set(*lane, *flags, Arg::Lane(to));
                }
                _ => self.generic(known, line, operands, &Meaning::Pure { faults: false, commutes: Order::Fixed }),
            },
            Meaning::Move(bits) => match (&operands.used[..], &operands.defined[..]) {
                ([value @ Operand::Register(from, _)], [(lane, flags)]) => {
                    let bits = if *bits == 0 { lane.bits.min(from.bits) } else { *bits };
                    let arg = self.arg(value);
                    self.extend(*lane, *flags, arg, bits);
                }
                _ => self.generic(known, line, operands, &Meaning::Event),
            },
            Meaning::Load => match (&operands.defined[..], self.memory_source(line, operands, 0)) {
                ([(lane, flags)], Some(value)) => {
                    let bits = arg_bits(value);
                    self.extend(*lane, *flags, value, bits);
                }
                _ => self.generic(known, line, operands, &Meaning::Event),
            },
            Meaning::Store(bits) => self.store(known, line, operands, *bits),
            Meaning::Address(bits) => self.address_arithmetic(known, line, operands, *bits),
            Meaning::Binary { name, bits, form } => self.binary(known, line, operands, name, *bits, *form),
            Meaning::Unary { name, bits, form } => self.unary(known, line, operands, name, *bits, *form),
            Meaning::Shift { name, bits, form, once } => self.shift(known, line, operands, name, *bits, *form, *once),
            Meaning::DoubleShift { left, bits, form } => self.double_shift(known, line, operands, *left, *bits, *form),
            Meaning::Choose { bits, form } => self.choose(known, line, operands, *bits, *form),
            Meaning::Condition(form) => self.condition(known, line, operands, *form),
            Meaning::ZeroExtend(from, form) => {
                let value = match form {
                    Form::Registers => operands.used.first().map(|o| self.arg(o)),
                    _ => self.memory_source(line, operands, 0),
                };
                match (value, &operands.defined[..]) {
                    (Some(value), [(lane, flags)]) => self.extend(*lane, *flags, value, *from),
                    _ => self.generic(known, line, operands, &Meaning::Event),
                }
            }
            Meaning::SignExtend(from, to, form) => {
                let value = match form {
                    Form::Registers => operands.used.first().map(|o| self.arg(o)),
                    _ => self.memory_source(line, operands, 0),
                };
                match (value, &operands.defined[..]) {
                    (Some(value), [(lane, flags)]) if lane.bits == *to => {
                        let value = cut(value, *from);
                        let result = self.temporary(*to);
                        self.apply(known.value, &[value], &[result], Commute::Never, Effect::Pure, None);
                        self.set(*lane, *flags, Arg::Lane(result));
                    }
                    _ => self.generic(known, line, operands, &Meaning::Event),
                }
            }
            Meaning::BranchIf => match (&operands.used[..], &operands.implicit_uses[..]) {
                ([Operand::Block(target), Operand::Immediate(code @ 0..=15)], [(flags, _)]) => {
                    let when = Condition::Flags(*code as u8, *flags);
                    self.push(Step::Leave(Exit { when, target: *target }));
                }
                _ => self.generic(known, line, operands, &Meaning::Event),
            },
            Meaning::Branch => match operands.used[..] {
                [Operand::Block(target)] => {
                    self.push(Step::Leave(Exit { when: Condition::Always, target }));
                    self.current.ended = true;
                }
                _ => self.gap("JMP without a block"),
            },
            Meaning::Jump => {
                self.generic(known, line, operands, &Meaning::Event);
                self.jump_targets();
                self.current.ended = true;
            }
            Meaning::Return => {
                self.generic(known, line, operands, &Meaning::Event);
                self.current.ended = !line.opcode.ends_with("cc");
            }
            other => {
                let other = other.clone();
                self.generic(known, line, operands, &other);
            }
        }
    }

    // ---- pools

    fn push(&mut self, step: Step) {
        self.function.steps.push(step);
    }

    fn temporary(&mut self, bits: u16) -> Lane {
        self.temporaries += 1;
        Lane::new(Location::temporary(self.temporaries), 0, bits)
    }

    fn args(&mut self, args: &[Arg]) -> Span {
        let start = self.function.args.len() as u32;
        self.function.args.extend_from_slice(args);
        Span { start, len: args.len() as u32 }
    }

    fn lanes(&mut self, lanes: &[Lane]) -> Span {
        let start = self.function.lanes.len() as u32;
        self.function.lanes.extend_from_slice(lanes);
        Span { start, len: lanes.len() as u32 }
    }

    fn terms(&mut self, terms: &[(i64, Arg)]) -> Span {
        let start = self.function.terms.len() as u32;
        self.function.terms.extend_from_slice(terms);
        Span { start, len: terms.len() as u32 }
    }

    fn apply(
        &mut self,
        name: Symbol,
        args: &[Arg],
        results: &[Lane],
        commute: Commute,
        effect: Effect,
        preserved: Option<Mask>,
    ) {
        let effect = if results.iter().any(|lane| self.is_reserved(*lane)) { Effect::Event } else { effect };
        let (args, results) = (self.args(args), self.lanes(results));
        self.push(Step::Apply { name, args, results, commute, effect, preserved });
    }

    fn is_reserved(&self, lane: Lane) -> bool {
        match lane.location.place() {
            Place::Physical(unit) => {
                self.function.target.units.get(unit as usize).is_none_or(|u| u.reserved)
                    || self.function.reserved.contains(&unit)
            }
            _ => false,
        }
    }

    // ---- operands

    /// What an operand reads.
    fn arg(&mut self, operand: &Operand) -> Arg {
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

    fn is_spill(&self, number: u32) -> bool {
        self.function.slots.get(number as usize).is_some_and(|bits| *bits > 0)
    }

    /// The five operands of an address from here on.
    fn is_address(operands: &[Operand]) -> bool {
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

    fn address(&mut self, operands: &[Operand], bits: u16) -> Option<Address> {
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
    fn access(&self, line: &Line, wanted: impl Fn(&MemoryOperand) -> bool) -> Option<(MemoryKind, u16)> {
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
    fn read_access(&self, line: &Line, operands: &[Operand], bits: u16) -> Option<(MemoryKind, u16)> {
        match operands.first() {
            Some(Operand::Stack(number)) if self.is_spill(*number) => Some((MemoryKind::Plain, bits)),
            _ => self.access(line, |m| m.load),
        }
    }

    /// Loads from the address that starts at an explicit use. `None` if the operands do not say enough.
    fn memory_source(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Arg> {
        if let Some(constant) = self.pool_constant(line, operands, at) {
            return constant;
        }
        let (kind, bits) = self.access(line, |m| m.load)?;
        let address = self.address(operands.used.get(at..)?, 64)?;
        self.load_from(&address, kind, bits)
    }

    /// An entry of the constant pool. A rematerialised constant has no memory operand; its width follows from the opcode.
    fn pool_constant(&mut self, line: &Line, operands: &Operands, at: usize) -> Option<Option<Arg>> {
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

    fn load_from(&mut self, address: &Address, kind: MemoryKind, bits: u16) -> Option<Arg> {
        match *address {
            Address::Slot(location, offset) => self.slot_lane(location, offset, bits).map(Arg::Lane),
            Address::Memory(address, segment) => {
                let to = self.temporary(bits);
                self.push(Step::Load { to, address, segment, kind });
                Some(Arg::Lane(to))
            }
        }
    }

    fn slot_lane(&mut self, location: Location, offset: i64, bits: u16) -> Option<Lane> {
        let width = i64::from(self.function.width(location));
        let low = offset.checked_mul(8)?;
        if low < 0 || low + i64::from(bits) > width {
            self.gap("an access leaves its spill slot");
            return None;
        }
        Some(Lane::new(location, low as u16, bits))
    }

    fn store_to(&mut self, address: &Address, kind: MemoryKind, value: Arg) {
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

    // ---- definitions

    /// Writes a definition.
    fn set(&mut self, lane: Lane, flags: RegisterFlags, value: Arg) {
        if self.is_reserved(lane) {
            let name = self.names.intern("write a reserved register");
            let unit = Arg::Constant(u64::from(lane.location.number()), 32);
            self.apply(name, &[unit, value], &[], Commute::Never, Effect::Event, None);
        }
        self.before(lane, flags);
        self.push(Step::Move { to: lane, from: value });
        self.after(lane);
    }

    /// Zero extension of the low bits of a value into a definition.
    fn extend(&mut self, lane: Lane, flags: RegisterFlags, value: Arg, bits: u16) {
        if bits >= lane.bits {
            return self.set(lane, flags, cut(value, lane.bits));
        }
        let whole = self.temporary(lane.bits);
        self.push(Step::Move { to: whole, from: Arg::Constant(0, lane.bits) });
        self.push(Step::Move { to: Lane { bits, ..whole }, from: cut(value, bits) });
        self.set(lane, flags, Arg::Lane(whole));
    }

    /// What a definition does to the rest of its register before it is written.
    fn before(&mut self, lane: Lane, flags: RegisterFlags) {
        let width = self.function.width(lane.location);
        let partial = lane.bits < width;
        if flags.undefined && partial && matches!(lane.location.place(), Place::Virtual(_)) {
            self.push(Step::Undefine(Lane::new(lane.location, 0, width)));
        }
    }

    /// What a definition does to the rest of its register.
    fn after(&mut self, lane: Lane) {
        let width = self.function.width(lane.location);
        if lane.bits >= width {
            return;
        }
        if lane.bits == 32 && lane.low == 0 && width == 64 {
            self.push(Step::Move { to: Lane::new(lane.location, 32, 32), from: Arg::Constant(0, 32) });
        } else if lane.bits >= 128 || registers::is_vector(lane.location) {
            self.push(Step::Forget(Lane::new(lane.location, lane.bits, width - lane.bits)));
        }
    }

    fn forget_implicit(&mut self, operands: &Operands) {
        for (lane, _) in &operands.implicit_definitions {
            // A part of the result is a note about liveness.
            if !operands.defined.iter().any(|(d, _)| d.location == lane.location) {
                self.push(Step::Forget(*lane));
            }
        }
    }

    fn kill(&mut self, operands: &Operands) {
        for (lane, _) in &operands.defined {
            let own = operands.used.iter().any(|o| matches!(o, Operand::Register(l, _) if l.location == lane.location));
            if !own {
                self.push(Step::Forget(*lane));
            }
        }
    }

    fn copy(&mut self, operands: &Operands) {
        let (&[(to, flags)], [source]) = (&operands.defined[..], &operands.used[..]) else {
            return self.gap("COPY with unusual operands");
        };
        let Operand::Register(from, source_flags) = *source else { return self.gap("COPY of something else") };
        // A copy of a register to itself is no instruction.
        if from == to && matches!(to.location.place(), Place::Physical(_)) {
            return;
        }
        if source_flags.undefined {
            self.before(to, flags);
            self.push(Step::Undefine(to));
            return self.after(to);
        }
        let value = if from.bits < to.bits { Arg::Padded(from, to.bits) } else { cut(Arg::Lane(from), to.bits) };
        self.set(to, flags, value);
    }

    /// Puts parts into a register that is otherwise `base`, or zero.
    fn assemble(&mut self, operands: &Operands, base: Option<Arg>, parts: &[(Arg, u16, u16)]) {
        let [(to, flags)] = operands.defined[..] else {
            return self.gap("a register is put together without a target");
        };
        let whole = self.temporary(to.bits);
        match base {
            Some(Arg::Undefined(_)) => self.push(Step::Undefine(whole)),
            Some(Arg::Lane(lane)) if lane.bits < to.bits => {
                self.push(Step::Move { to: whole, from: Arg::Padded(lane, to.bits) });
            }
            Some(base) => self.push(Step::Move { to: whole, from: base }),
            None => self.push(Step::Move { to: whole, from: Arg::Constant(0, to.bits) }),
        }
        for (value, low, bits) in parts {
            if low + bits > to.bits {
                return self.gap("a part does not fit its register");
            }
            let lane = Lane::new(whole.location, *low, *bits);
            match value {
                Arg::Undefined(_) => self.push(Step::Undefine(lane)),
                value if arg_bits(*value) < *bits => return self.gap("a part is narrower than its place"),
                value => self.push(Step::Move { to: lane, from: cut(*value, *bits) }),
            }
        }
        self.set(to, flags, Arg::Lane(whole));
    }

    fn phi(&mut self, line: &Line) {
        let mut operands = line.operands.iter();
        let Some(Operand::Register(to, _)) = operands.next() else { return self.gap("PHI without a target") };
        let to = self.resolve(*to);
        let mut sources = Vec::new();
        let rest: Vec<&Operand> = operands.collect();
        for pair in rest.chunks(2) {
            let [Operand::Register(lane, flags), Operand::Block(block)] = pair else {
                return self.gap("PHI with unusual operands");
            };
            let arg = if flags.undefined { Arg::Undefined(to.bits) } else { Arg::Lane(self.resolve(*lane)) };
            sources.push((*block, arg));
        }
        if to.bits != self.function.width(to.location) {
            return self.gap("PHI of a part of a register");
        }
        self.phis.push(Phi { to, sources, line: self.line });
    }

    // ---- known operations

    /// Puts the flags into their register, if the instruction defines them.
    fn set_flags(&mut self, known: &Known, operands: &Operands, args: &[Arg], commute: Commute) {
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
    fn source(&mut self, operand: &Operand, bits: u16) -> Arg {
        match operand {
            Operand::Immediate(value) => Arg::Constant(*value as u64, bits),
            other => cut(self.arg(other), bits),
        }
    }

    /// In the candidate a two-address instruction must have its result where its first source is.
    fn is_tied(operands: &Operands) -> bool {
        match (operands.defined.first(), operands.used.first()) {
            (Some((to, _)), Some(Operand::Register(from, flags))) => {
                let physical = |lane: &Lane| matches!(lane.location.place(), Place::Physical(_));
                flags.undefined || !physical(to) || !physical(from) || to == from
            }
            _ => true,
        }
    }

    fn binary(&mut self, known: &Known, line: &Line, operands: &Operands, name: &str, bits: u16, form: Form) {
        let used = &operands.used;
        let mut target = None;
        let sources = match form {
            Form::Registers if used.len() == 2 => Some((self.source(&used[0], bits), self.source(&used[1], bits))),
            Form::Load if used.len() == 6 => {
                let left = self.source(&used[0], bits);
                self.memory_source(line, operands, 1).map(|right| (left, right))
            }
            Form::Memory if used.len() == 6 => {
                let access = self.read_access(line, used, bits);
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
        args.extend(
            operands
                .implicit_uses
                .iter()
                .map(|(lane, flags)| if flags.undefined { Arg::Undefined(lane.bits) } else { Arg::Lane(*lane) }),
        );
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
    fn deliver(&mut self, operands: &Operands, target: Option<(Address, MemoryKind)>, result: Lane) {
        match (target, &operands.defined[..]) {
            (Some((address, kind)), []) => self.store_to(&address, kind, Arg::Lane(result)),
            (None, [(lane, flags)]) if lane.bits == result.bits => {
                self.set(*lane, *flags, Arg::Lane(result));
                if !Self::is_tied(operands) {
                    self.push(Step::Forget(*lane));
                }
            }
            _ => self.gap("an instruction with unusual definitions"),
        }
    }

    /// The only source of an operation: a register or memory that is also the target.
    fn single(
        &mut self,
        line: &Line,
        operands: &Operands,
        bits: u16,
        form: Form,
    ) -> Option<(Arg, Option<(Address, MemoryKind)>)> {
        if form == Form::Registers {
            return operands.used.first().map(|o| (self.source(o, bits), None));
        }
        let (kind, width) = self.read_access(line, &operands.used, bits)?;
        let address = self.address(&operands.used, 64)?;
        if width != bits {
            return None;
        }
        let value = self.load_from(&address, kind, bits)?;
        Some((value, Some((address, kind))))
    }

    fn unary(&mut self, known: &Known, line: &Line, operands: &Operands, name: &str, bits: u16, form: Form) {
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
    fn shift(
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
        args.extend(operands.implicit_uses.iter().map(|(lane, _)| Arg::Lane(*lane)));
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

    fn double_shift(&mut self, known: &Known, line: &Line, operands: &Operands, left: bool, bits: u16, form: Form) {
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

    fn choose(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16, form: Form) {
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
        let (Some((first, second, Operand::Immediate(code @ 0..=15))), [(flags, _)]) =
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
            &[first, second, code, Arg::Lane(*flags)],
            &[result],
            Commute::Never,
            Effect::Pure,
            None,
        );
        self.deliver(operands, None, result);
    }

    fn condition(&mut self, known: &Known, line: &Line, operands: &Operands, form: Form) {
        let at = if form == Form::Registers { 0 } else { 5 };
        let (Some(Operand::Immediate(code)), [(flags, _)]) = (operands.used.get(at), &operands.implicit_uses[..])
        else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let target = match form {
            Form::Registers => None,
            _ => {
                let access = self.access(line, |m| m.store);
                match (access, self.address(&operands.used, 64)) {
                    (Some((kind, 8)), Some(address)) => Some((address, kind)),
                    _ => return self.generic(known, line, operands, &Meaning::Event),
                }
            }
        };
        let result = self.temporary(8);
        let args = [Arg::Constant(*code as u64, 8), Arg::Lane(*flags)];
        self.apply(known.value, &args, &[result], Commute::Never, Effect::Pure, None);
        match (target, &operands.defined[..]) {
            (Some((address, kind)), _) => self.store_to(&address, kind, Arg::Lane(result)),
            (None, [(lane, flags)]) if lane.bits == 8 => self.set(*lane, *flags, Arg::Lane(result)),
            _ => self.gap("SETCC with unusual definitions"),
        }
    }

    fn store(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16) {
        let access = self.access(line, |m| m.store);
        let (Some((kind, width)), true) = (access, operands.used.len() == 6) else {
            return self.generic(known, line, operands, &Meaning::Event);
        };
        let bits = if bits == 0 { width } else { bits };
        let value = match &operands.used[5] {
            Operand::Immediate(value) => Arg::Constant(*value as u64, bits),
            Operand::Text(symbol, addend) => {
                let terms = self.terms(&[(1, Arg::Symbol(*symbol, bits))]);
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

    fn address_arithmetic(&mut self, known: &Known, line: &Line, operands: &Operands, bits: u16) {
        let [(lane, flags)] = operands.defined[..] else { return self.gap("LEA with unusual definitions") };
        match self.address(&operands.used, bits) {
            Some(Address::Memory(value, None)) => self.set(lane, flags, cut(Arg::Lane(value), lane.bits)),
            Some(Address::Slot(..)) => self.gap("the address of a spill slot is taken"),
            _ => self.generic(known, line, operands, &Meaning::Pure { faults: false, commutes: Order::Fixed }),
        }
    }

    // ---- everything else

    /// An uninterpreted function of all that the instruction reads.
    fn generic(&mut self, known: &Known, line: &Line, operands: &Operands, meaning: &Meaning) {
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
    fn emit_generic(
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
        self.apply(name, args, &results, commute, effect, operands.mask);
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
            if !call && general(lane.location) {
                self.after(*lane);
            }
        }
        self.check_ties(operands);
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
    fn check_ties(&mut self, operands: &Operands) {
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
    fn unwind(&mut self, definitions: &[(Lane, RegisterFlags)]) {
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

    fn only_immutable(&self, line: &Line) -> bool {
        line.memory.iter().all(|m| m.load && !m.store && !m.ordered && (m.invariant || m.base == Base::Constant))
    }

    /// An operand of an instruction about which nothing is known. A narrow floating-point register is read as wide as
    /// the candidate's register; what is above its class does not matter.
    fn generic_arg(&mut self, operand: &Operand, float: Option<(u16, u16)>) -> Arg {
        let arg = self.arg(operand);
        if let (Some((bits, _)), Operand::Register(lane, _)) = (float, operand) {
            if self.is_narrow_vector(*lane) || registers::is_vector(lane.location) || lane.bits >= 128 {
                return cut(arg, bits);
            }
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

    fn is_narrow_vector(&self, lane: Lane) -> bool {
        match lane.location.place() {
            Place::Virtual(n) => self.narrow.contains(&n),
            _ => false,
        }
    }

    fn pad(&self, value: Arg, scalar: bool) -> Arg {
        match value {
            Arg::Lane(lane) if !scalar && lane.bits < 128 => Arg::Padded(lane, 128),
            other => other,
        }
    }

    fn jump_targets(&mut self) {
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

fn general(location: Location) -> bool {
    matches!(location.place(), Place::Physical(unit) if unit < 32)
}

fn arg_bits(arg: Arg) -> u16 {
    match arg {
        Arg::Lane(lane) => lane.bits,
        Arg::Padded(_, bits) | Arg::Undefined(bits) | Arg::Constant(_, bits) | Arg::Symbol(_, bits) => bits,
    }
}

/// The low bits of an argument, if it has as many.
fn cut(arg: Arg, bits: u16) -> Arg {
    match arg {
        Arg::Lane(lane) if lane.bits > bits => Arg::Lane(Lane { bits, ..lane }),
        Arg::Undefined(width) if width > bits => Arg::Undefined(bits),
        Arg::Constant(value, width) if width != bits => Arg::Constant(value, bits),
        Arg::Symbol(symbol, width) if width != bits => Arg::Symbol(symbol, bits),
        other => other,
    }
}
