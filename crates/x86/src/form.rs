//! The instruction form: what is to be done to which operands, independent of any encoding.

use crate::table::{self, Row};
use program::Register;
use smallvec::SmallVec;
use std::fmt;
use term::{Bits, TermId};

/// An instruction with its operands, destination first.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    /// What is done.
    pub mnemonic: Mnemonic,
    /// Explicit operands, the destination first as in Intel's manuals.
    pub operands: SmallVec<[Operand; 4]>,
    /// Operand size in bits: the first operand's, or that of the elements of a string instruction.
    pub width: u16,
    /// Condition of `jcc`, `setcc`, `cmovcc`.
    pub condition: Option<Condition>,
    /// How it is encoded; VEX forms have one more operand and clear the upper half of their destination.
    pub encoding: Encoding,
    /// Has a `lock` prefix.
    pub lock: bool,
    /// Repeat prefix of a string instruction.
    pub repeat: Option<Repeat>,
}

/// Name of an instruction and, if it is modelled, its row in the table.
#[derive(Clone, Copy)]
pub struct Mnemonic {
    name: &'static str,
    row: Option<&'static Row>,
}

/// An operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// Bits of a register.
    Register(Lane),
    /// A place in memory.
    Memory(Memory),
    /// A constant.
    Immediate(Immediate),
}

/// Bits of a register: `al`, `ah`, `ax`, `eax`, `rax`, `xmm0`, `ymm0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lane {
    /// The register; for `ymm` its low half.
    pub register: Register,
    /// First bit: 8 for `ah`, `bh`, `ch`, `dh`, else 0.
    pub offset: u16,
    /// Number of bits.
    pub bits: u16,
}

/// A memory operand: `segment + base + scale * index + displacement + symbol`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Memory {
    /// `fs` or `gs` base, if overridden.
    pub segment: Option<Register>,
    /// Base register.
    pub base: Option<Register>,
    /// Index register.
    pub index: Option<Register>,
    /// Factor of the index: 1, 2, 4 or 8.
    pub scale: u8,
    /// Constant part.
    pub displacement: i64,
    /// 64-bit address that a relocation or RIP-relative reference resolved to; added to the rest.
    pub symbol: Option<TermId>,
    /// The displacement is an address that still depends on where the code lies. Whoever resolves it moves
    /// the displacement into `symbol` and clears this; [`crate::lift`] refuses it otherwise.
    pub rip_relative: bool,
    /// Width of the address computation, 64 or (with an address-size prefix) 32.
    pub address_bits: u16,
    /// Number of bytes accessed; 0 where nothing is accessed (`lea`, `nop`, `prefetch`).
    pub bytes: u16,
}

/// An immediate operand.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Immediate {
    /// The value, already extended to the operand's width. For direct branches the 64-bit target address.
    pub value: Bits,
    /// 64-bit address from a relocation, added to the value (and truncated to its width).
    pub symbol: Option<TermId>,
}

/// How an instruction is encoded, as far as it changes what it does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// Legacy.
    Legacy,
    /// VEX.
    Vex,
    /// EVEX, XOP and others that are not modelled.
    Other,
}

/// Repeat prefix of a string instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Repeat {
    /// `rep`/`repe`.
    Equal,
    /// `repne`.
    NotEqual,
}

/// Condition codes in the order of their encoding.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Condition {
    /// OF.
    Overflow,
    /// Not OF.
    NoOverflow,
    /// CF.
    Below,
    /// Not CF.
    AboveEqual,
    /// ZF.
    Equal,
    /// Not ZF.
    NotEqual,
    /// CF or ZF.
    BelowEqual,
    /// Neither CF nor ZF.
    Above,
    /// SF.
    Sign,
    /// Not SF.
    NoSign,
    /// PF.
    Parity,
    /// Not PF.
    NoParity,
    /// SF ≠ OF.
    Less,
    /// SF = OF.
    GreaterEqual,
    /// ZF or SF ≠ OF.
    LessEqual,
    /// Not ZF and SF = OF.
    Greater,
}

impl Condition {
    /// All conditions, in the order of their encoding.
    pub const ALL: [Condition; 16] = [
        Condition::Overflow,
        Condition::NoOverflow,
        Condition::Below,
        Condition::AboveEqual,
        Condition::Equal,
        Condition::NotEqual,
        Condition::BelowEqual,
        Condition::Above,
        Condition::Sign,
        Condition::NoSign,
        Condition::Parity,
        Condition::NoParity,
        Condition::Less,
        Condition::GreaterEqual,
        Condition::LessEqual,
        Condition::Greater,
    ];

    /// The condition with this encoding (the low four bits count).
    pub fn from_code(code: u8) -> Condition {
        Condition::ALL[usize::from(code & 15)]
    }
}

impl Mnemonic {
    /// A mnemonic whose semantics are those of the table's row `row`; not modelled if there is no such row.
    pub fn new(name: &'static str, row: &str) -> Mnemonic {
        Mnemonic { name, row: table::find(row) }
    }

    /// A modelled instruction by the name of its row.
    pub fn of_row(row: &str) -> Option<Mnemonic> {
        table::find(row).map(|row| Mnemonic { name: row.name, row: Some(row) })
    }

    /// Name as assemblers write it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// The row of the table, if it is modelled.
    pub fn row(self) -> Option<&'static Row> {
        self.row
    }
}

impl PartialEq for Mnemonic {
    fn eq(&self, other: &Mnemonic) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Mnemonic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Operand {
    /// Number of bits read or written.
    pub fn bits(&self) -> u16 {
        match self {
            Operand::Register(lane) => lane.bits,
            Operand::Memory(memory) => 8 * memory.bytes,
            Operand::Immediate(immediate) => immediate.value.width(),
        }
    }

    /// Is it in memory?
    pub fn is_memory(&self) -> bool {
        matches!(self, Operand::Memory(_))
    }
}

impl Instruction {
    /// Mnemonic with the prefixes that change the meaning, as messages show it.
    pub fn name(&self) -> String {
        let prefix = match (self.lock, self.repeat) {
            (true, _) => "lock ",
            (_, Some(Repeat::Equal)) => "rep ",
            (_, Some(Repeat::NotEqual)) => "repne ",
            _ => "",
        };
        format!("{prefix}{}", self.mnemonic.name)
    }
}

const WORDS: [(u16, &str); 6] =
    [(1, "byte"), (2, "word"), (4, "dword"), (8, "qword"), (16, "xmmword"), (32, "ymmword")];

impl fmt::Display for Lane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.register.name();
        match (self.register, self.bits) {
            (Register::General(i @ 0..4), 8) => {
                let letter = ["a", "c", "d", "b"][usize::from(i)];
                write!(f, "{letter}{}", if self.offset == 8 { "h" } else { "l" })
            }
            (Register::General(0..8), 8) => write!(f, "{}l", &name[1..]),
            (Register::General(0..8), 16) => write!(f, "{}", &name[1..]),
            (Register::General(0..8), 32) => write!(f, "e{}", &name[1..]),
            (Register::General(_), 8) => write!(f, "{name}b"),
            (Register::General(_), 16) => write!(f, "{name}w"),
            (Register::General(_), 32) => write!(f, "{name}d"),
            (Register::Vector(i), 256) => write!(f, "ymm{i}"),
            _ => write!(f, "{name}"),
        }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, word)) = WORDS.iter().find(|(bytes, _)| *bytes == self.bytes) {
            write!(f, "{word} ")?;
        }
        if let Some(segment) = self.segment {
            write!(f, "{}:", segment.name())?;
        }
        write!(f, "[")?;
        let mut plus = "";
        if self.rip_relative {
            write!(f, "rip:")?;
        }
        for (register, scale) in [(self.base, 1), (self.index, self.scale)] {
            if let Some(register) = register {
                let lane = Lane { register, offset: 0, bits: self.address_bits };
                write!(f, "{plus}{lane}")?;
                if scale != 1 {
                    write!(f, "*{scale}")?;
                }
                plus = "+";
            }
        }
        if self.symbol.is_some() {
            write!(f, "{plus}symbol")?;
            plus = "+";
        }
        match self.displacement {
            0 if !plus.is_empty() => {}
            d if d < 0 && !plus.is_empty() => write!(f, "-{:#x}", d.unsigned_abs())?,
            d => write!(f, "{plus}{d:#x}")?,
        }
        write!(f, "]")
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(lane) => write!(f, "{lane}"),
            Operand::Memory(memory) => write!(f, "{memory}"),
            Operand::Immediate(Immediate { value, symbol: None }) => write!(f, "{value}"),
            Operand::Immediate(Immediate { value, symbol: Some(_) }) => write!(f, "symbol+{value}"),
        }
    }
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name())?;
        for (i, operand) in self.operands.iter().enumerate() {
            write!(f, "{}{operand}", if i == 0 { " " } else { ", " })?;
        }
        Ok(())
    }
}
