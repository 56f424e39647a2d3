//! One instruction being lifted: reads operands, emits loads and stores, and assigns results at the end.
//!
//! Invariant: while a row's function runs, nothing that it emits changes a register. Results are collected and
//! assigned together at the end, so every term that it builds is meant in the state before the instruction.

use crate::semantics::masked::{self, Selected};
use crate::table::{Alignment, Row, Vex};
use crate::{Builder, Encoding, Instruction, Lane, Memory, Operand};
use program::{FaultKind, Flag, Op, Register};
use std::fmt;
use term::{Arena, Sort, TermId};

/// An instruction that is not modelled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsupported {
    /// What, as an assembler writes it: `rep stosq`, `vpermq`, `xchg with memory`.
    pub name: String,
}

impl Unsupported {
    pub(crate) fn of(instruction: &Instruction) -> Unsupported {
        Unsupported { name: instruction.name() }
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction `{}` is not modelled", self.name)
    }
}

impl std::error::Error for Unsupported {}

/// Appends what the instruction does to registers and memory. Control flow is not among it: `call` and `ret`
/// neither push nor pop, jumps do nothing.
pub fn lift(instruction: &Instruction, arena: &mut Arena, builder: &mut Builder) -> Result<(), Unsupported> {
    let start = builder.ops.len();
    let mut step = Step::new(instruction, arena, builder)?;
    let row = step.row;
    let result = (row.lift)(&mut step).map(|()| {
        row.undefined.iter().for_each(|flag| step.set_unknown(Register::Flag(*flag)));
        let writes = std::mem::take(&mut step.writes);
        step.builder.assign(step.arena, &writes);
    });
    if result.is_err() {
        builder.ops.truncate(start);
    }
    result
}

/// One lane of an instruction that accesses memory only where a mask says so.
#[derive(Clone, Debug)]
pub struct MaskedLane {
    /// When the lane is selected, in the state in which the lanes before it are done.
    pub selected: TermId,
    /// What is done then.
    pub yes: Vec<(u64, Op)>,
    /// What is done otherwise.
    pub no: Vec<(u64, Op)>,
}

/// Does the instruction access memory lane by lane, as a mask says?
pub fn is_masked(instruction: &Instruction) -> bool {
    instruction.encoding == Encoding::Vex && masked::lane_width(instruction.mnemonic.name()).is_some()
}

/// The lanes of a masked access, to be done one after the other; the operations get this address.
pub fn lift_lanes(instruction: &Instruction, arena: &mut Arena, address: u64) -> Result<Vec<MaskedLane>, Unsupported> {
    let unsupported = || Unsupported::of(instruction);
    let width = masked::lane_width(instruction.mnemonic.name()).ok_or_else(unsupported)?;
    let mask = instruction.operands.get(1).ok_or_else(unsupported)?;
    let mut out = Vec::new();
    for lane in 0..mask.bits() / width {
        let mut builder = Builder::new();
        builder.address = address;
        let mut ops = Vec::new();
        for selected in [Selected::Yes, Selected::No] {
            let mut step = Step::new(instruction, arena, &mut builder)?;
            masked::lane(&mut step, lane, width, selected)?;
            let writes = std::mem::take(&mut step.writes);
            step.builder.assign(step.arena, &writes);
            ops.push(builder.take());
        }
        let mut step = Step::new(instruction, arena, &mut builder)?;
        let selected = masked::condition(&mut step, lane, width)?;
        if let (Some(no), Some(yes)) = (ops.pop(), ops.pop()) {
            out.push(MaskedLane { selected, yes, no });
        }
    }
    Ok(out)
}

/// The instruction being lifted.
pub(crate) struct Step<'a> {
    pub instruction: &'a Instruction,
    pub arena: &'a mut Arena,
    pub builder: &'a mut Builder,
    pub row: &'static Row,
    writes: Vec<(Register, Option<TermId>)>,
}

pub(crate) type Lifted = Result<(), Unsupported>;

impl<'a> Step<'a> {
    pub fn new(
        instruction: &'a Instruction,
        arena: &'a mut Arena,
        builder: &'a mut Builder,
    ) -> Result<Step<'a>, Unsupported> {
        let row = instruction.mnemonic.row().ok_or_else(|| Unsupported::of(instruction))?;
        let encoded = match instruction.encoding {
            Encoding::Legacy => true,
            Encoding::Vex => row.vex != Vex::No,
            Encoding::Other => false,
        };
        if !encoded || instruction.lock || instruction.repeat.is_some() {
            return Err(Unsupported::of(instruction));
        }
        builder.begin();
        Ok(Step { instruction, arena, builder, row, writes: Vec::new() })
    }

    pub fn unsupported<T>(&self) -> Result<T, Unsupported> {
        Err(Unsupported::of(self.instruction))
    }

    pub fn is_vex(&self) -> bool {
        self.instruction.encoding == Encoding::Vex
    }

    /// Number of explicit operands.
    pub fn count(&self) -> usize {
        self.instruction.operands.len()
    }

    pub fn operand(&self, i: usize) -> Result<Operand, Unsupported> {
        self.instruction.operands.get(i).copied().ok_or_else(|| Unsupported::of(self.instruction))
    }

    pub fn bits(&self, i: usize) -> Result<u16, Unsupported> {
        self.operand(i).map(|operand| operand.bits())
    }

    pub fn register(&mut self, register: Register) -> TermId {
        self.builder.register(self.arena, register)
    }

    pub fn general(&mut self, number: u8, bits: u16) -> TermId {
        let term = self.register(Register::General(number));
        self.arena.truncate(term, bits)
    }

    pub fn flag(&mut self, flag: Flag) -> TermId {
        self.register(Register::Flag(flag))
    }

    /// The value of an operand at its own width. A memory operand is loaded, after the alignment check.
    pub fn read(&mut self, i: usize) -> Result<TermId, Unsupported> {
        match self.operand(i)? {
            Operand::Register(lane) => Ok(self.read_lane(lane)),
            Operand::Memory(memory) => self.read_memory(&memory),
            Operand::Immediate(immediate) => {
                let value = self.arena.constant(immediate.value);
                Ok(match immediate.symbol {
                    None => value,
                    Some(symbol) => {
                        let wide = self.arena.sext(value, 64);
                        let sum = self.arena.add(symbol, wide);
                        self.arena.truncate(sum, immediate.value.width())
                    }
                })
            }
        }
    }

    /// The value of an operand of 8, 16, 32 or 64 bits.
    pub fn read_general(&mut self, i: usize) -> Result<TermId, Unsupported> {
        match self.bits(i)? {
            8 | 16 | 32 | 64 => self.read(i),
            _ => self.unsupported(),
        }
    }

    /// The values of two general operands of the same width.
    pub fn read_pair(&mut self, i: usize, j: usize) -> Result<(TermId, TermId), Unsupported> {
        if self.bits(i)? != self.bits(j)? {
            return self.unsupported();
        }
        Ok((self.read_general(i)?, self.read_general(j)?))
    }

    /// An operand as a signed or unsigned constant of up to 64 bits; for immediates that select what is done.
    pub fn constant(&self, i: usize) -> Result<u64, Unsupported> {
        match self.operand(i)? {
            Operand::Immediate(immediate) if immediate.symbol.is_none() => Ok(immediate.value.low()),
            _ => self.unsupported(),
        }
    }

    pub fn read_lane(&mut self, lane: Lane) -> TermId {
        let low = self.register(lane.register);
        if let (Register::Vector(number), 256) = (lane.register, lane.bits) {
            let high = self.register(Register::VectorHigh(number));
            return self.arena.concat(high, low);
        }
        self.arena.extract(low, lane.offset + lane.bits - 1, lane.offset)
    }

    fn read_memory(&mut self, memory: &Memory) -> Result<TermId, Unsupported> {
        let address = self.address(memory)?;
        if !(1..=64).contains(&memory.bytes) {
            return self.unsupported();
        }
        self.check_alignment(address, memory.bytes);
        Ok(self.load(address, memory.bytes))
    }

    /// Address of a memory operand.
    pub fn address(&mut self, memory: &Memory) -> Result<TermId, Unsupported> {
        let offset = self.offset(memory)?;
        Ok(match memory.segment {
            Some(segment) => {
                let base = self.register(segment);
                self.arena.add(base, offset)
            }
            None => offset,
        })
    }

    /// Address of a memory operand within its segment: what `lea` computes.
    pub fn offset(&mut self, memory: &Memory) -> Result<TermId, Unsupported> {
        if memory.rip_relative {
            return Err(Unsupported { name: format!("{} with an unresolved address", self.instruction.name()) });
        }
        let mut sum = self.arena.bv_i64(64, memory.displacement);
        if let Some(symbol) = memory.symbol {
            sum = self.arena.add(symbol, sum);
        }
        if let Some(base) = memory.base {
            let base = self.register(base);
            sum = self.arena.add(base, sum);
        }
        if let Some(index) = memory.index {
            let index = self.register(index);
            let scale = self.arena.bv(64, u64::from(memory.scale));
            let scaled = self.arena.mul(index, scale);
            sum = self.arena.add(scaled, sum);
        }
        if memory.address_bits < 64 {
            let low = self.arena.truncate(sum, memory.address_bits);
            sum = self.arena.zext(low, 64);
        }
        Ok(sum)
    }

    /// Faults where the instruction demands an aligned address.
    // Intel SDM vol. 1, 14.9: legacy SSE operands of 16 bytes must be aligned unless the instruction says
    // otherwise; VEX operands need not be, except for those of the explicitly aligned moves.
    pub fn check_alignment(&mut self, address: TermId, bytes: u16) {
        let checked = match self.row.alignment {
            Alignment::Never => false,
            Alignment::Legacy => !self.is_vex() && bytes == 16,
            Alignment::Always => bytes >= 16,
        };
        if checked {
            let mask = self.arena.bv(64, u64::from(bytes) - 1);
            let zero = self.arena.bv(64, 0);
            let rest = self.arena.and(address, mask);
            let misaligned = self.arena.ne(rest, zero);
            self.builder.fault(self.arena, misaligned, FaultKind::Misaligned);
        }
    }

    pub fn fault(&mut self, condition: TermId, kind: FaultKind) {
        self.builder.fault(self.arena, condition, kind);
    }

    pub fn load(&mut self, address: TermId, bytes: u16) -> TermId {
        let (var, term) = self.builder.temporary(self.arena, Sort::Bv(8 * bytes));
        self.builder.push(Op::Load { var, address, bytes });
        term
    }

    pub fn store(&mut self, address: TermId, value: TermId) {
        self.builder.push(Op::Store { address, value });
    }

    /// A value that the architecture leaves undefined.
    pub fn unknown(&mut self, sort: Sort) -> TermId {
        let (var, term) = self.builder.temporary(self.arena, sort);
        self.builder.push(Op::Unknown { var });
        term
    }

    /// Writes an operand at its own width, with the effects on the rest of the register: 32-bit results clear
    /// the upper half of a general register, narrower ones keep the rest; VEX results clear what is above.
    pub fn write(&mut self, i: usize, value: TermId) -> Lifted {
        match self.operand(i)? {
            Operand::Register(lane) => self.write_lane(lane, value),
            Operand::Memory(memory) => {
                let address = self.address(&memory)?;
                if memory.bytes == 0 || self.arena.width(value) != 8 * memory.bytes {
                    return self.unsupported();
                }
                self.check_alignment(address, memory.bytes);
                self.store(address, value);
                Ok(())
            }
            Operand::Immediate(_) => self.unsupported(),
        }
    }

    pub fn write_lane(&mut self, lane: Lane, value: TermId) -> Lifted {
        if self.arena.width(value) != lane.bits {
            return self.unsupported();
        }
        match lane.register {
            Register::Vector(_) => self.write_vector(lane, value),
            register => {
                let whole = match lane.bits {
                    64 => value,
                    32 => self.arena.zext(value, 64),
                    _ => {
                        let old = self.register(register);
                        self.insert(old, lane.offset, value)
                    }
                };
                self.set(register, whole);
                Ok(())
            }
        }
    }

    fn write_vector(&mut self, lane: Lane, value: TermId) -> Lifted {
        let Register::Vector(number) = lane.register else { return self.unsupported() };
        match (lane.bits, self.is_vex()) {
            (256, true) => {
                let (high, low) = (self.arena.extract(value, 255, 128), self.arena.truncate(value, 128));
                self.set(Register::Vector(number), low);
                self.set(Register::VectorHigh(number), high);
            }
            (128, vex) => {
                self.set(Register::Vector(number), value);
                if vex {
                    let zero = self.arena.bv(128, 0);
                    self.set(Register::VectorHigh(number), zero);
                }
            }
            _ => return self.unsupported(),
        }
        Ok(())
    }

    /// `old` with the bits from `offset` on replaced by `value`.
    pub fn insert(&mut self, old: TermId, offset: u16, value: TermId) -> TermId {
        let (width, bits) = (self.arena.width(old), self.arena.width(value));
        let mut parts = Vec::with_capacity(3);
        if offset + bits < width {
            parts.push(self.arena.extract(old, width - 1, offset + bits));
        }
        parts.push(value);
        if offset > 0 {
            parts.push(self.arena.truncate(old, offset));
        }
        self.arena.concat_all(&parts)
    }

    /// A register's new value. Replaces an earlier one of the same instruction.
    pub fn set(&mut self, register: Register, value: TermId) {
        self.writes.retain(|(written, _)| *written != register);
        self.writes.push((register, Some(value)));
    }

    /// A register's new value is undefined.
    pub fn set_unknown(&mut self, register: Register) {
        self.writes.retain(|(written, _)| *written != register);
        self.writes.push((register, None));
    }

    pub fn set_flag(&mut self, flag: Flag, value: TermId) {
        self.set(Register::Flag(flag), value);
    }

    /// An undefined flag under a condition that the row declares as `sometimes`.
    pub fn unknown_flag(&mut self, flag: Flag) -> TermId {
        debug_assert!(self.row.sometimes.contains(&flag), "{}: {flag:?} is not declared", self.row.name);
        self.unknown(Sort::Bool)
    }

    pub fn bv(&mut self, width: u16, value: u64) -> TermId {
        self.arena.bv(width, value)
    }
}
