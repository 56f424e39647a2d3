//! Vector operands as lanes. Lane 0 is the least significant one.

use crate::Unsupported;
use crate::step::{Lifted, Step};
use term::{Arena, TermId};

/// An operation on two terms.
pub(crate) type Binary = fn(&mut Arena, TermId, TermId) -> TermId;

/// The lanes of a vector.
pub(crate) fn split(arena: &mut Arena, value: TermId, width: u16) -> Vec<TermId> {
    let count = arena.width(value) / width;
    (0..count).map(|i| arena.extract(value, width * i + width - 1, width * i)).collect()
}

/// The vector of some lanes.
pub(crate) fn join(arena: &mut Arena, lanes: &[TermId]) -> TermId {
    let parts: Vec<TermId> = lanes.iter().rev().copied().collect();
    arena.concat_all(&parts)
}

/// All ones where the condition holds, else zero.
pub(crate) fn mask(arena: &mut Arena, condition: TermId, width: u16) -> TermId {
    let (ones, zero) = (arena.bv_i64(width, -1), arena.bv(width, 0));
    arena.ite(condition, ones, zero)
}

impl Step<'_> {
    /// Index of the first source operand: the destination itself in the legacy form, the next one with VEX.
    pub fn first_source(&self) -> usize {
        usize::from(self.is_vex())
    }

    /// The two sources, which must be vectors of the destination's width.
    pub fn full_sources(&mut self) -> Result<(TermId, TermId), Unsupported> {
        let first = self.first_source();
        Ok((self.read_full(first)?, self.read_full(first + 1)?))
    }

    /// An operand of 128 or 256 bits.
    pub fn read_vector(&mut self, i: usize) -> Result<TermId, Unsupported> {
        match self.bits(i)? {
            128 | 256 => self.read(i),
            _ => self.unsupported(),
        }
    }

    /// A vector of the destination's width.
    pub fn read_full(&mut self, i: usize) -> Result<TermId, Unsupported> {
        if self.bits(i)? == self.bits(0)? { self.read_vector(i) } else { self.unsupported() }
    }

    /// Number of lanes of the destination.
    pub fn lanes(&self, width: u16) -> Result<u16, Unsupported> {
        match self.bits(0)? {
            bits @ (128 | 256) => Ok(bits / width),
            _ => self.unsupported(),
        }
    }

    /// The low `bits` of an operand, which may be exactly so wide in memory.
    pub fn read_low(&mut self, i: usize, bits: u16) -> Result<TermId, Unsupported> {
        let value = self.read(i)?;
        if self.arena.width(value) < bits { self.unsupported() } else { Ok(self.arena.truncate(value, bits)) }
    }

    /// The trailing immediate of an instruction.
    pub fn selector(&self) -> Result<u64, Unsupported> {
        self.constant(self.count().saturating_sub(1))
    }

    /// `dst := op(src)` lane by lane.
    pub fn map(&mut self, width: u16, op: impl Fn(&mut Arena, TermId) -> TermId) -> Lifted {
        let a = self.read_full(1)?;
        let lanes = split(self.arena, a, width);
        let lanes: Vec<TermId> = lanes.into_iter().map(|lane| op(self.arena, lane)).collect();
        let value = join(self.arena, &lanes);
        self.write(0, value)
    }

    /// `dst := op(a, b)` lane by lane.
    pub fn zip(&mut self, width: u16, op: impl Fn(&mut Arena, TermId, TermId) -> TermId) -> Lifted {
        let (a, b) = self.full_sources()?;
        let value = zip(self.arena, a, b, width, op);
        self.write(0, value)
    }

    /// `dst := op(a, b)` on each 128-bit half, the unit of most shuffles.
    pub fn halves(&mut self, op: impl Fn(&mut Arena, TermId, TermId) -> TermId) -> Lifted {
        self.zip(128, op)
    }

    /// The first source with its low bits replaced: the result of a scalar operation.
    pub fn write_scalar(&mut self, value: TermId) -> Lifted {
        let old = self.read_full(self.first_source())?;
        let whole = self.insert(old, 0, value);
        self.write(0, whole)
    }

    /// A value extended with zeros to the destination.
    pub fn write_extended(&mut self, value: TermId) -> Lifted {
        let bits = self.bits(0)?;
        if self.arena.width(value) > bits {
            return self.unsupported();
        }
        let whole = self.arena.zext(value, bits);
        self.write(0, whole)
    }
}

/// Two vectors combined lane by lane.
pub(crate) fn zip(
    arena: &mut Arena,
    a: TermId,
    b: TermId,
    width: u16,
    op: impl Fn(&mut Arena, TermId, TermId) -> TermId,
) -> TermId {
    let (a, b) = (split(arena, a, width), split(arena, b, width));
    let lanes: Vec<TermId> = a.into_iter().zip(b).map(|(a, b)| op(arena, a, b)).collect();
    join(arena, &lanes)
}
