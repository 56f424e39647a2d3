//! The program form: blocks of instructions, each a few steps over lanes of locations.
//!
//! A frontend has already said what an instruction does as far as that is known: moves between lanes, linear sums,
//! loads and stores. Everything else is [`Step::Apply`]: an uninterpreted function of all that the instruction reads,
//! and, unless known otherwise, an event that reads and writes memory.

use crate::Symbol;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// Where values live: a physical register unit, a virtual register, a spill slot, or a temporary of one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Location(u32);

/// A [`Location`], taken apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A unit of [`Target::units`]: all registers that share storage.
    Physical(u32),
    /// A virtual register by number.
    Virtual(u32),
    /// A spill slot by number.
    Slot(u32),
    /// Exists only inside one instruction.
    Temporary(u32),
}

/// Numbers above this do not fit; frontends refuse them.
pub const LARGEST_NUMBER: u32 = (1 << 28) - 1;

impl Location {
    /// A physical unit.
    pub fn physical(unit: u32) -> Location {
        Location(unit & LARGEST_NUMBER)
    }

    /// A virtual register.
    pub fn virtual_register(number: u32) -> Location {
        Location(1 << 28 | number & LARGEST_NUMBER)
    }

    /// A spill slot.
    pub fn slot(number: u32) -> Location {
        Location(2 << 28 | number & LARGEST_NUMBER)
    }

    /// A temporary.
    pub fn temporary(number: u32) -> Location {
        Location(3 << 28 | number & LARGEST_NUMBER)
    }

    /// Taken apart.
    pub fn place(self) -> Place {
        let number = self.0 & LARGEST_NUMBER;
        match self.0 >> 28 {
            0 => Place::Physical(number),
            1 => Place::Virtual(number),
            2 => Place::Slot(number),
            _ => Place::Temporary(number),
        }
    }

    /// As a plain number.
    pub fn number(self) -> u32 {
        self.0
    }

    /// The inverse of [`Location::number`].
    pub fn from_number(number: u32) -> Location {
        Location(number)
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.place())
    }
}

/// A bit range of a location.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lane {
    /// Location.
    pub location: Location,
    /// First bit.
    pub low: u16,
    /// Number of bits.
    pub bits: u16,
}

impl Lane {
    /// A lane.
    pub fn new(location: Location, low: u16, bits: u16) -> Lane {
        Lane { location, low, bits }
    }

    /// Do two lanes share a bit?
    pub fn overlaps(self, other: Lane) -> bool {
        self.location == other.location
            && u32::from(self.low) < u32::from(other.low) + u32::from(other.bits)
            && u32::from(other.low) < u32::from(self.low) + u32::from(self.bits)
    }
}

/// What a step reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Arg {
    /// A lane.
    Lane(Lane),
    /// A lane padded at the top with bits that do not matter, to this width.
    Padded(Lane, u16),
    /// A value that does not matter.
    Undefined(u16),
    /// A number.
    Constant(u64, u16),
    /// Something that stays the same, known by its text: a global, a stack object, a block address.
    Symbol(Symbol, u16),
}

/// A range of one of the pools of a [`Function`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    /// First index.
    pub start: u32,
    /// Number of entries.
    pub len: u32,
}

impl Span {
    /// As a range of indices.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// May the first two arguments change places?
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Commute {
    /// No.
    Never,
    /// Not known: it is not relied on, and an exchange is not taken for a mistake either.
    Unknown,
    /// LLVM exchanges operands and changes the immediate or the opcode with them. It is not relied on, and what depends
    /// on it is not taken for a mistake.
    Rewritten,
    /// Yes.
    FirstTwo,
    /// Up to the payload of a NaN: recorded as an assumption where it is used.
    FloatingPoint,
}

/// What an application does besides computing its results.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Effect {
    /// Nothing.
    Pure,
    /// It may fault: the candidate does it where the original does, and nowhere else.
    Faults,
    /// It asks something of its arguments, such as that an address is aligned: the candidate may do it only where the
    /// original does.
    Aligned,
    /// It reads memory and may fault.
    Reads,
    /// It may read and write memory, and its order is observed.
    Event,
}

/// How a load or store relates to memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MemoryKind {
    /// Contents never change and the access cannot fault.
    Immutable,
    /// Contents never change, as far as the program says, but the access may fault.
    Invariant,
    /// An ordinary access.
    Plain,
    /// Volatile, atomic, or unknown: an event.
    Ordered,
}

/// One step of an instruction. Spans point into the pools of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// `to` := `from`.
    Move {
        /// Written.
        to: Lane,
        /// Read.
        from: Arg,
    },
    /// `to` := constant + sum of coefficient times term, modulo 2^bits.
    Linear {
        /// Written.
        to: Lane,
        /// Constant part.
        constant: i64,
        /// Terms, in [`Function::terms`].
        terms: Span,
    },
    /// Results := an uninterpreted function of the arguments.
    Apply {
        /// Name of the function.
        name: Symbol,
        /// Arguments, in [`Function::args`].
        args: Span,
        /// Lanes written, in [`Function::lanes`].
        results: Span,
        /// Order of arguments.
        commute: Commute,
        /// Besides.
        effect: Effect,
        /// Physical registers that survive; the others hold nothing known afterwards.
        preserved: Option<Mask>,
    },
    /// `to` := memory at the address, which is a 64-bit lane.
    Load {
        /// Written; its width is that of the access.
        to: Lane,
        /// Address.
        address: Lane,
        /// Segment register, if any.
        segment: Option<Lane>,
        /// What memory.
        kind: MemoryKind,
    },
    /// Memory at the address := value.
    Store {
        /// Written to memory; its width is that of the access.
        value: Arg,
        /// Address.
        address: Lane,
        /// Segment register, if any.
        segment: Option<Lane>,
        /// What memory.
        kind: MemoryKind,
    },
    /// The lane's value no longer matters (original) or is not known (candidate).
    Undefine(Lane),
    /// The lane holds nothing known.
    Forget(Lane),
    /// Control may leave here.
    Leave(Exit),
}

/// Where control goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exit {
    /// When.
    pub when: Condition,
    /// Index of the block.
    pub target: u32,
}

/// When control leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Always; nothing follows.
    Always,
    /// If the condition code holds for the flags. Codes come in pairs: the lowest bit negates.
    Flags(u8, Lane),
    /// As decided by the event before it: an indirect jump, an asm goto, an exception.
    Event,
}

/// Which physical units survive a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mask {
    /// The units of a named mask.
    Known(u16),
    /// The units of one of [`Function::masks`].
    Own(u16),
    /// Not known to preserve anything.
    Unknown,
}

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Line in the file, from 1.
    pub line: u32,
    /// Byte range of its text in the file.
    pub text: (u32, u32),
    /// Opcode.
    pub opcode: Symbol,
    /// Steps, in [`Function::steps`].
    pub steps: Span,
}

/// A value chosen by the edge on which a block is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Phi {
    /// Written on entry.
    pub to: Lane,
    /// Index of the predecessor and what is read at its end.
    pub sources: Vec<(u32, Arg)>,
    /// Line in the file.
    pub line: u32,
}

/// A block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Block {
    /// Number in the text.
    pub number: u32,
    /// Line in the file.
    pub line: u32,
    /// Phis.
    pub phis: Vec<Phi>,
    /// Instructions, in [`Function::instructions`].
    pub instructions: Span,
    /// What its address is known by, if it is taken.
    pub address: Option<Symbol>,
}

/// Something of the frame or of the function's data that both programs must agree on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Object {
    /// Name as operands spell it, e.g. `%stack.0`.
    pub name: String,
    /// What it is, e.g. size and alignment.
    pub description: String,
}

/// A register unit: registers that share storage.
#[derive(Clone, Copy, Debug)]
pub struct Unit {
    /// Name of the widest register.
    pub name: &'static str,
    /// Its width.
    pub bits: u16,
    /// May the allocator not write it?
    pub reserved: bool,
}

/// What is known of the machine.
#[derive(Debug)]
pub struct Target {
    /// Register units.
    pub units: Vec<Unit>,
    /// Units that calls preserve, by mask.
    pub masks: Vec<Vec<u32>>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// The machine.
    pub target: &'static Target,
    /// The file it comes from.
    pub source: Arc<str>,
    /// Its byte range in the file.
    pub text: (u32, u32),
    /// Blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Widths of the virtual registers, by number; 0 if there is none.
    pub virtuals: Vec<u16>,
    /// Widths of the spill slots in bits, by number; 0 if the slot is none.
    pub slots: Vec<u16>,
    /// What else the frame and the function's data hold; sorted.
    pub objects: Vec<Object>,
    /// Jump tables: indices of blocks.
    pub tables: Vec<Vec<u32>>,
    /// Units that calls of this function preserve, where the mask has no name.
    pub masks: Vec<Vec<u32>>,
    /// Units that this function reserves besides [`Unit::reserved`].
    pub reserved: Vec<u32>,
    /// Instructions of all blocks.
    pub instructions: Vec<Instruction>,
    /// Steps of all instructions.
    pub steps: Vec<Step>,
    /// Pool of arguments.
    pub args: Vec<Arg>,
    /// Pool of results.
    pub lanes: Vec<Lane>,
    /// Pool of linear terms.
    pub terms: Vec<(i64, Arg)>,
    /// The first thing that could not be given a meaning: line and what.
    pub gap: Option<(u32, String)>,
    /// The first instruction that breaks a constraint of the machine: line and what.
    pub violation: Option<(u32, String)>,
    /// What its instructions need of the processor and its attributes do not list.
    pub needs: Vec<&'static str>,
    /// The first access to a spill slot that faults or leaves it: line and what. It is a violation too.
    pub forbidden: Option<(u32, String)>,
    /// The module that the function belongs to, as text: attributes, globals.
    pub module: Option<Symbol>,
    /// Steps that clear what the program leaves undefined: the upper half of `undef %1.sub_32bit = COPY …`. A proof keeps
    /// the zeros, because an earlier pass may rely on them; their absence alone is no mistake.
    pub weak: Vec<u32>,
    /// Steps that forget an upper half which is clear if a later pass does not delete the copy. A proof may not rely on
    /// it; that it is not clear is no mistake.
    pub deletable: Vec<u32>,
    /// Does a call preserve only a part of some registers? Of these nothing is known afterwards, which is no mistake.
    pub keeps_parts: bool,
    /// As the original: may a later pass have brought loads and stores into another order?
    pub may_reorder: bool,
}

impl Function {
    /// Width of a location.
    pub fn width(&self, location: Location) -> u16 {
        let at = |widths: &[u16], n: u32| widths.get(n as usize).copied().filter(|w| *w > 0).unwrap_or(512);
        match location.place() {
            Place::Physical(unit) => self.target.units.get(unit as usize).map_or(512, |unit| unit.bits),
            Place::Virtual(n) => at(&self.virtuals, n),
            Place::Slot(n) => at(&self.slots, n),
            Place::Temporary(_) => 1024,
        }
    }

    /// The same function where what the program leaves undefined is undefined; `None` if that changes nothing.
    pub fn lenient(&self) -> Option<Function> {
        let mut function = (!self.weak.is_empty()).then(|| self.clone())?;
        for index in &self.weak {
            if let Some(step) = function.steps.get_mut(*index as usize)
                && let Step::Move { to, .. } = *step
            {
                *step = Step::Undefine(to);
            }
        }
        function.weak.clear();
        Some(function)
    }

    /// The same function where no later pass deletes a copy; `None` if that changes nothing.
    pub fn undeleted(&self) -> Option<Function> {
        let mut function = (!self.deletable.is_empty()).then(|| self.clone())?;
        for index in &self.deletable {
            if let Some(step) = function.steps.get_mut(*index as usize)
                && let Step::Forget(to) = *step
            {
                *step = Step::Move { to, from: Arg::Constant(0, to.bits) };
            }
        }
        function.deletable.clear();
        Some(function)
    }

    /// Name of a location in reports.
    pub fn location_name(&self, location: Location) -> String {
        match location.place() {
            Place::Physical(unit) => {
                let name = self.target.units.get(unit as usize).map_or("?", |unit| unit.name);
                format!("${name}")
            }
            Place::Virtual(n) => format!("%{n}"),
            Place::Slot(n) => format!("%stack.{n}"),
            Place::Temporary(n) => format!("temporary {n}"),
        }
    }

    /// Text of an instruction, without the line's indentation.
    pub fn instruction_text(&self, index: u32) -> &str {
        let Some(instruction) = self.instructions.get(index as usize) else { return "" };
        let (start, end) = instruction.text;
        self.source.get(start as usize..end as usize).map_or("", str::trim)
    }

    /// The text of the function.
    pub fn source_text(&self) -> &str {
        self.source.get(self.text.0 as usize..self.text.1 as usize).unwrap_or("")
    }

    /// Index of the block with a number.
    pub fn block_index(&self, number: u32) -> Option<u32> {
        // Blocks are nearly always numbered in order.
        let guess = self.blocks.get(number as usize).is_some_and(|b| b.number == number);
        if guess {
            return Some(number);
        }
        self.blocks.iter().position(|b| b.number == number).map(|i| i as u32)
    }
}
