//! BMI1 and BMI2: bit manipulation with a separate destination.

use super::rotate::{Direction, rotated};
use crate::Unsupported;
use crate::flags::{is_negative, is_zero};
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row, Vex};
use program::Flag;
use term::{Arena, TermId};

const ADJUST_PARITY: &[Flag] = &[Flag::Adjust, Flag::Parity];

pub(crate) const ROWS: &[Row] = &[
    Row::new("andn", Bmi1, andn).vex(Vex::Only).undefined(ADJUST_PARITY),
    Row::new("bextr", Bmi1, bextr).vex(Vex::Only).undefined(&[Flag::Adjust, Flag::Sign, Flag::Parity]),
    Row::new("blsi", Bmi1, blsi).vex(Vex::Only).undefined(ADJUST_PARITY),
    Row::new("blsmsk", Bmi1, blsmsk).vex(Vex::Only).undefined(ADJUST_PARITY),
    Row::new("blsr", Bmi1, blsr).vex(Vex::Only).undefined(ADJUST_PARITY),
    Row::new("bzhi", Bmi2, bzhi).vex(Vex::Only).undefined(ADJUST_PARITY),
    Row::new("rorx", Bmi2, rorx).vex(Vex::Only),
    Row::new("sarx", Bmi2, |s| shift(s, Arena::ashr)).vex(Vex::Only),
    Row::new("shlx", Bmi2, |s| shift(s, Arena::shl)).vex(Vex::Only),
    Row::new("shrx", Bmi2, |s| shift(s, Arena::lshr)).vex(Vex::Only),
];

/// Writes a result with ZF, SF, OF = 0 and the given CF.
fn finish(s: &mut Step, result: TermId, carry: TermId) -> Lifted {
    let (zero, negative) = (is_zero(s.arena, result), is_negative(s.arena, result));
    s.set_flag(Flag::Zero, zero);
    s.set_flag(Flag::Sign, negative);
    s.clear_flags(&[Flag::Overflow]);
    s.set_flag(Flag::Carry, carry);
    s.write(0, result)
}

fn andn(s: &mut Step) -> Lifted {
    let (a, b) = s.read_pair(1, 2)?;
    let keep = s.arena.not(a);
    let result = s.arena.and(keep, b);
    let clear = s.arena.bool(false);
    finish(s, result, clear)
}

/// The low `n` bits of a value, all of them if `n` reaches the width.
fn low_bits(arena: &mut Arena, value: TermId, n: TermId) -> TermId {
    let width = arena.width(value);
    let one = arena.bv(width, 1);
    // A shift by the width or more gives 0, and 0 - 1 keeps everything.
    let power = arena.shl(one, n);
    let mask = arena.add_const(power, -1);
    arena.and(value, mask)
}

/// Bits `lo..=hi` of an operand, extended to its width.
fn field(s: &mut Step, value: TermId, hi: u16, lo: u16) -> TermId {
    let width = s.arena.width(value);
    let part = s.arena.extract(value, hi, lo);
    s.arena.zext(part, width)
}

fn bextr(s: &mut Step) -> Lifted {
    let (a, control) = s.read_pair(1, 2)?;
    let (start, length) = (field(s, control, 7, 0), field(s, control, 15, 8));
    let moved = s.arena.lshr(a, start);
    let result = low_bits(s.arena, moved, length);
    let zero = is_zero(s.arena, result);
    s.set_flag(Flag::Zero, zero);
    s.clear_flags(&[Flag::Carry, Flag::Overflow]);
    s.write(0, result)
}

/// The source, the source less one, and whether the source is zero.
fn source(s: &mut Step) -> Result<(TermId, TermId, TermId), Unsupported> {
    let a = s.read_general(1)?;
    let less = s.arena.add_const(a, -1);
    let zero = is_zero(s.arena, a);
    Ok((a, less, zero))
}

fn blsi(s: &mut Step) -> Lifted {
    let (a, _, zero) = source(s)?;
    let negative = s.arena.neg(a);
    let result = s.arena.and(a, negative);
    let carry = s.arena.bool_not(zero);
    finish(s, result, carry)
}

fn blsmsk(s: &mut Step) -> Lifted {
    let (a, less, zero) = source(s)?;
    let result = s.arena.xor(a, less);
    finish(s, result, zero)
}

fn blsr(s: &mut Step) -> Lifted {
    let (a, less, zero) = source(s)?;
    let result = s.arena.and(a, less);
    finish(s, result, zero)
}

fn bzhi(s: &mut Step) -> Lifted {
    let (a, index) = s.read_pair(1, 2)?;
    let width = s.arena.width(a);
    let n = field(s, index, 7, 0);
    let result = low_bits(s.arena, a, n);
    let last = s.bv(width, u64::from(width) - 1);
    let beyond = s.arena.ult(last, n);
    finish(s, result, beyond)
}

fn rorx(s: &mut Step) -> Lifted {
    let a = s.read_general(1)?;
    let count = s.constant(2)?;
    let count = s.bv(s.arena.width(a), count);
    let result = rotated(s.arena, a, count, Direction::Right);
    s.write(0, result)
}

fn shift(s: &mut Step, op: fn(&mut Arena, TermId, TermId) -> TermId) -> Lifted {
    let (a, count) = s.read_pair(1, 2)?;
    let width = s.arena.width(a);
    let mask = s.bv(width, u64::from(width) - 1);
    let count = s.arena.and(count, mask);
    let result = op(s.arena, a, count);
    s.write(0, result)
}
