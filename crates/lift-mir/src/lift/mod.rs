//! Instructions to steps.
//!
//! Reading comes before writing: a step that writes a register comes after all steps of the instruction that read. What
//! hardware does and the text does not say is made explicit here: a 32-bit definition clears the upper half, a write to a
//! vector register loses what is above it, two definitions of one register leave nothing known.

mod sort;
mod normal;
mod constraints;
mod liveness;
mod later;
mod address;
mod definitions;
mod operations;
mod generic;

use self::constraints::is_physical;
use self::later::Copied;
pub use self::liveness::Live;
use crate::features::Features;
use crate::opcode::{Form, Meaning, Order, meaning, register_form};
use crate::operand::{Base, Line, MemoryOperand, Operand, RegisterFlags};
use crate::registers::{self, FLAGS};
use crate::table::{self, Fold, Row};
use machine::{
    Arg, Commute, Condition, Effect, Exit, Function, Instruction, Lane, Location, Mask, MemoryKind, Names, Phi, Place,
    Span, Step, Symbol,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::LazyLock;

/// The MMX registers.
static MULTIMEDIA: LazyLock<Vec<Lane>> =
    LazyLock::new(|| (0..8).filter_map(|i| registers::lane(&format!("mm{i}"))).collect());

/// What is known of an opcode, with the names of its functions.
pub struct Known {
    pub symbol: Symbol,
    pub meaning: Meaning,
    /// Function that yields the value.
    value: Symbol,
    /// Function that yields the flags.
    flags: Symbol,
    /// The opcode on registers, if this one reads or writes memory.
    register: Option<RegisterForm>,
    /// The common name of opcodes that only order their operands differently.
    normal: Option<(Symbol, normal::Normal)>,
    /// What LLVM says of it; `None` if it has no such opcode.
    row: Option<Rc<Row>>,
}

/// The register form of an opcode with a memory operand.
#[derive(Clone)]
struct RegisterForm {
    symbol: Symbol,
    meaning: Meaning,
    fold: Fold,
    normal: Option<(Symbol, normal::Normal)>,
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
        let row = table::row(opcode);
        let meaning = row.as_ref().map_or(Meaning::Event, |row| described(opcode, row));
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
        let register = row.as_ref().and_then(|row| {
            let named = register_form(opcode);
            let preferred = row.forms.iter().find(|(form, _)| named.as_deref() == Some(*form));
            let (form, fold) = match *preferred.or(row.forms.first()).unwrap_or(&("", Fold::Load)) {
                // LLVM folds these by hand, because the immediate changes.
                ("", _) => (named.as_deref().filter(|form| form.contains("INSERTPS"))?, Fold::Load),
                known => known,
            };
            let meaning = described(form, &table::row(form)?);
            let normal = normal::normal(form).map(|(name, order)| (names.intern(&name), order));
            Some(RegisterForm { symbol: names.intern(form), meaning, fold, normal })
        });
        let normal = normal::normal(opcode).map(|(name, order)| (names.intern(&name), order));
        let known = Rc::new(Known {
            symbol: names.intern(opcode),
            value: names.intern(&stem),
            flags: names.intern(&format!("{stem} flags")),
            register,
            normal,
            row: row.map(Rc::new),
            meaning,
        });
        self.known.insert(opcode.into(), Rc::clone(&known));
        known
    }
}

/// What an opcode's name says, as far as LLVM's description agrees.
fn described(opcode: &str, row: &Row) -> Meaning {
    match meaning(opcode) {
        Meaning::Pure { faults: false, .. } if row.stores || row.effects || row.calls || row.terminates => {
            Meaning::Event
        }
        Meaning::Pure { faults, .. } if !row.commutes && !row.loads => Meaning::Pure { faults, commutes: Order::Fixed },
        // LLVM commutes it by changing an immediate or the opcode.
        Meaning::Pure { faults, commutes: Order::Fixed } if row.commutes => {
            Meaning::Pure { faults, commutes: Order::Rewritten }
        }
        // What has no operands at all may look at hidden state.
        Meaning::Event
            if row.computes_only()
                && row.operands.first().is_some_and(|spec| spec.defined)
                && row.operands.iter().any(|spec| !spec.defined) =>
        {
            Meaning::Pure { faults: false, commutes: if row.commutes { Order::Rewritten } else { Order::Fixed } }
        }
        other => other,
    }
}

/// An entry of the constant pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constant {
    pub content: Content,
    /// Its width in bits; 0 if it is not known.
    pub bits: u32,
    /// In bytes.
    pub alignment: u64,
}

/// What an entry of the constant pool holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    Zeros,
    Ones,
    Other,
}

/// What the header says of the frame, and the attributes of the function.
#[derive(Default, Debug)]
pub struct Frame {
    /// May the function look at, or change, how floating-point operations round and what they raise?
    pub strict: bool,
    /// Sizes in bytes of the fixed objects that never change.
    pub immutable: FxHashMap<i64, u64>,
    /// Alignments in bytes of the spill slots.
    pub alignments: FxHashMap<u32, u64>,
    /// What the attributes say that the processor has.
    pub features: Features,
    /// Does the frame keep objects that need more than the stack's own alignment?
    pub realigned: bool,
}

/// The block that is being read.
#[derive(Default)]
pub struct Current {
    /// Numbers of the successors, if the text says them.
    pub successors: Option<Vec<u32>>,
    /// Between two labels around a call that may throw?
    pub guarded: bool,
    /// A landing pad whose own label has not come yet?
    pub unlabelled: bool,
    /// Has control left for good?
    pub ended: bool,
}

/// Turns instructions into steps of a function.
pub struct Lifter<'a> {
    pub names: &'a mut Names,
    pub opcodes: &'a mut Opcodes,
    pub function: &'a mut Function,
    pub frame: &'a Frame,
    pub landing: &'a FxHashSet<u32>,
    /// Entries of the constant pool, by their operands.
    pub constants: FxHashMap<Symbol, Constant>,
    pub current: Current,
    /// Phis of the current block; blocks by number until the whole function is read.
    pub phis: Vec<Phi>,
    /// Where the current instruction is.
    pub line: u32,
    temporaries: u32,
    /// What LLVM says of the current instruction.
    row: Rc<Row>,
    /// What its memory operands say of memory that is no spill slot.
    said: Vec<Symbol>,
    /// Does the current instruction break a constraint?
    violated: bool,
    /// Virtual registers that were defined, by number.
    defined: Vec<bool>,
    /// Is a virtual register defined twice?
    pub redefines: bool,
    /// Has an instruction on two addresses virtual registers that are not the same?
    pub untied: bool,
    /// Blocks that are reached by their addresses.
    pub indirect: Vec<u32>,
    /// Does the text say which physical registers are live?
    pub tracks_liveness: bool,
    /// Which are, after the current instruction.
    pub live: Live,
    /// Which were where inline assembly may have left the block.
    pub live_at_jump: Option<Live>,
    /// Copies between physical registers.
    copied: Vec<Copied>,
}

/// Are these the bits of the physical register themselves?
fn is_part(part: Lane, whole: Lane, low: u16, bits: u16) -> bool {
    matches!(whole.location.place(), Place::Physical(_)) && part == Lane::new(whole.location, whole.low + low, bits)
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
    /// As the row says or, where the row leaves them open, as the text does, by register.
    implicit_uses: Vec<(Lane, RegisterFlags)>,
    implicit_definitions: Vec<(Lane, RegisterFlags)>,
    mask: Option<(Mask, Symbol)>,
    /// How many low bits of each explicit use are read; 0 if all.
    reads: Vec<u16>,
    /// How many low bits of each explicit definition mean anything; 0 if all.
    yields: Vec<u16>,
    /// Registers that the text defines although the row does not.
    clobbered: Vec<Lane>,
    /// Definitions that the text says nobody reads.
    dead: Vec<Lane>,
    /// What inline assembly defines implicitly, in the order of its groups.
    members: Vec<Lane>,
    /// Are the implicit operands part of what the instruction is?
    open: bool,
}

impl<'a> Lifter<'a> {
    pub fn new(
        names: &'a mut Names,
        opcodes: &'a mut Opcodes,
        function: &'a mut Function,
        frame: &'a Frame,
        landing: &'a FxHashSet<u32>,
    ) -> Lifter<'a> {
        Lifter {
            names,
            opcodes,
            function,
            frame,
            landing,
            constants: FxHashMap::default(),
            current: Current::default(),
            phis: Vec::new(),
            line: 0,
            temporaries: 0,
            row: Rc::default(),
            said: Vec::new(),
            violated: false,
            defined: Vec::new(),
            redefines: false,
            untied: false,
            indirect: Vec::new(),
            tracks_liveness: false,
            live: Live::default(),
            live_at_jump: None,
            copied: Vec::new(),
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
        let Some(row) = known.row.clone().filter(|row| !row.strange) else {
            return self.gap(format!("LLVM's table has no opcode `{}`", line.opcode));
        };
        self.row = row;
        self.violated = false;
        self.ask_processor();
        if self.current.ended && !line.opcode.starts_with("DBG_") {
            self.doubt("an instruction behind the end of its block");
        }
        if let Some(why) = unmodelled(&line.opcode) {
            return self.gap(format!("`{}`, {why}", line.opcode));
        }
        let operands = self.sort(line);
        let is_multimedia = |(lane, _): &(Lane, _)| MULTIMEDIA.contains(lane);
        let written = line.opcode == "COPY" && operands.defined.iter().any(is_multimedia);
        if written || line.opcode.starts_with("MMX_") {
            // It leaves the registers of x87 occupied until EMMS, for the caller, too.
            self.gap("MMX, which takes the registers of x87");
        }
        self.check_marks(&known, line);
        self.follow_liveness(line, &operands);
        self.memory_said(line, &operands);
        for note in &line.notes {
            let name = self.names.intern("note");
            self.apply(name, &[Arg::Symbol(*note, 64)], &[], Commute::Never, Effect::Event, None);
        }
        self.dispatch(&known, line, &operands);
        self.lose_rest(line, &operands);
        // Where the branch leads, what is said to be written is lost too.
        if !operands.clobbered.is_empty()
            && self.function.steps[start..].iter().any(|step| matches!(step, Step::Leave(_)))
        {
            self.doubt("a branch that writes a register");
        }
        for lane in operands.clobbered.iter().chain(&operands.dead) {
            self.push(Step::Forget(*lane));
        }
        if self.violated {
            for (lane, _) in operands.defined.iter().chain(&operands.implicit_definitions) {
                self.push(Step::Forget(*lane));
            }
        }
        let len = (self.function.steps.len() - start) as u32;
        if len > 0 {
            let steps = Span { start: start as u32, len };
            self.function.instructions.push(Instruction { line: number, text, opcode: known.symbol, steps });
        }
    }

    /// Notes what the processor must have besides what the attributes say.
    fn ask_processor(&mut self) {
        for need in &self.row.needs {
            if !self.frame.features.has(need) && !self.function.needs.contains(need) {
                self.function.needs.push(need);
            }
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
    pub fn declare(&mut self, register: u32, bits: u16) {
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
            widths[register as usize] = bits;
        }
    }

    fn resolve(&self, lane: Lane) -> Lane {
        if lane.bits == 0 { Lane { bits: self.function.width(lane.location), ..lane } } else { lane }
    }

    fn dispatch(&mut self, known: &Known, line: &Line, operands: &Operands) {
        match &known.meaning {
            Meaning::Nothing => {
                if line.opcode == "EH_LABEL" {
                    // The table of exceptions knows calls and landing pads by their labels.
                    if !std::mem::take(&mut self.current.unlabelled) {
                        self.current.guarded = !self.current.guarded;
                    }
                    self.generic(known, line, operands, &Meaning::Event);
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
                // Into the register where it already is: no instruction, so the rest stays what it was.
                [_, Operand::Register(from, _), Operand::Subregister(low, bits)] if matches!(operands.defined[..], [(to, _)] if is_part(from, to, low, bits)) =>
                    {}
                // A copy to the part, which clears the rest only if it is wide enough.
                [_, Operand::Register(from, _), Operand::Subregister(low, bits)] if matches!(operands.defined[..], [(to, _)] if is_physical(to) && bits < 32) =>
                {
                    let [(to, flags)] = operands.defined[..] else { return };
                    if from.bits != bits {
                        return self.gap("SUBREG_TO_REG with unusual operands");
                    }
                    self.set(Lane::new(to.location, to.low + low, bits), flags, Arg::Lane(from));
                }
                [_, ref value, Operand::Subregister(low, bits)] => {
                    let arg = self.arg(value);
                    self.assemble(operands, None, &[(arg, low, bits)]);
                }
                _ => self.gap("SUBREG_TO_REG with unusual operands"),
            },
            Meaning::InsertSubregister | Meaning::ExtractSubregister | Meaning::RegisterSequence
                if operands.defined.iter().any(|(lane, _)| is_physical(*lane)) =>
            {
                self.gap(format!("`{}` of a physical register", line.opcode));
            }
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
            Meaning::Ones => {
                for (lane, flags) in &operands.defined {
                    let ones = self.ones(lane.bits);
                    self.set(*lane, *flags, ones);
                }
                self.forget_implicit(operands);
            }
            Meaning::Immediate => match (&operands.used[..], &operands.defined[..]) {
                ([Operand::Immediate(value)], [(lane, flags)]) => {
                    self.set(*lane, *flags, Arg::Constant(*value as u64, lane.bits));
                }
                ([Operand::Text(symbol, addend)], [(lane, flags)]) => {
                    let symbol = self.encoded(*symbol);
                    let terms = self.terms(&[(1, Arg::Symbol(symbol, lane.bits))]);
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
                ([Operand::Block(target), Operand::Immediate(code @ 0..=15)], [(flags, said)]) => {
                    let mut flags = *flags;
                    if said.undefined {
                        flags = self.temporary(flags.bits);
                        self.push(Step::Undefine(flags));
                    }
                    let when = Condition::Flags(*code as u8, flags);
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

    /// An implicit operand, as an argument.
    fn implicit_arg(&self, (lane, flags): &(Lane, RegisterFlags)) -> Arg {
        if flags.undefined { Arg::Undefined(lane.bits) } else { Arg::Lane(*lane) }
    }

    pub fn is_reserved(&self, lane: Lane) -> bool {
        match lane.location.place() {
            Place::Physical(unit) => {
                self.function.target.units.get(unit as usize).is_none_or(|u| u.reserved)
                    || self.function.reserved.contains(&unit)
            }
            _ => false,
        }
    }
}

/// Why nothing is said about functions with an instruction.
fn unmodelled(opcode: &str) -> Option<&'static str> {
    Some(match opcode {
        // A runtime may put code there, and finds values by where they are.
        "STACKMAP" | "PATCHPOINT" | "STATEPOINT" => "whose operands a runtime reads",
        // LLVM does not say so, and puts other instructions between.
        "RDFLAGS32" | "RDFLAGS64" => "which reads all flags",
        // Intel SDM vol. 2A, Jcc: the 16-bit form may cut off the instruction pointer.
        "JMP_2" | "JCC_2" => "which some processors cut to 16 bits",
        _ => return None,
    })
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
