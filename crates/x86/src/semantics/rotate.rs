//! Rotations of general registers: `rol`, `ror`, `rcl`, `rcr`.
//!
//! They change only CF and OF, and with count 0 (after masking) not even those. OF is defined for count 1 only.

use super::shift::{defined_if, masked_count, set_unless};
use crate::flags::{is_negative, is_zero};
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use program::Flag;
use term::{Arena, TermId};

const OVERFLOW: &[Flag] = &[Flag::Overflow];

pub(crate) const ROWS: &[Row] = &[
    Row::new("rol", Base, |s| rotate(s, Direction::Left)).sometimes(OVERFLOW),
    Row::new("ror", Base, |s| rotate(s, Direction::Right)).sometimes(OVERFLOW),
    Row::new("rcl", Base, |s| through_carry(s, Direction::Left)).sometimes(OVERFLOW),
    Row::new("rcr", Base, |s| through_carry(s, Direction::Right)).sometimes(OVERFLOW),
];

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Left,
    Right,
}

/// A value rotated by a count at its own width, which is a power of two. The shape is the one that compilers
/// write without a rotate instruction: `x << n | x >> (-n & (width - 1))`.
pub(crate) fn rotated(arena: &mut Arena, a: TermId, count: TermId, direction: Direction) -> TermId {
    let mask = arena.bv(arena.width(a), u64::from(arena.width(a)) - 1);
    let there = arena.and(count, mask);
    let negative = arena.neg(count);
    let back = arena.and(negative, mask);
    let (left, right) = match direction {
        Direction::Left => (there, back),
        Direction::Right => (back, there),
    };
    let (high, low) = (arena.shl(a, left), arena.lshr(a, right));
    arena.or(high, low)
}

fn rotate(s: &mut Step, direction: Direction) -> Lifted {
    let a = s.read_general(0)?;
    let width = s.arena.width(a);
    let count = masked_count(s, 1, width)?;
    let result = rotated(s.arena, a, count, direction);
    let carry = match direction {
        Direction::Left => s.arena.bit(result, 0),
        Direction::Right => is_negative(s.arena, result),
    };
    set_flags(s, count, result, carry, direction);
    s.write(0, result)
}

fn through_carry(s: &mut Step, direction: Direction) -> Lifted {
    let a = s.read_general(0)?;
    let width = s.arena.width(a);
    let count = masked_count(s, 1, width)?;
    let carry = s.flag(Flag::Carry);
    let carry = s.arena.bool_to_bv(carry, 1);
    let whole = s.arena.concat(carry, a);
    let size = s.bv(width + 1, u64::from(width) + 1);
    let amount = s.arena.zext(count, width + 1);
    // Counts of 8- and 16-bit operands may exceed the width; those of wider ones cannot.
    let amount = if width < 32 { s.arena.urem(amount, size) } else { amount };
    let rest = s.arena.sub(size, amount);
    let (left, right) = match direction {
        Direction::Left => (amount, rest),
        Direction::Right => (rest, amount),
    };
    let (high, low) = (s.arena.shl(whole, left), s.arena.lshr(whole, right));
    let whole = s.arena.or(high, low);
    let (carry, result) = (s.arena.bit(whole, width), s.arena.truncate(whole, width));
    set_flags(s, count, result, carry, direction);
    s.write(0, result)
}

fn set_flags(s: &mut Step, count: TermId, result: TermId, carry: TermId, direction: Direction) {
    let none = is_zero(s.arena, count);
    if s.arena.as_bool(none) == Some(true) {
        return;
    }
    let width = s.arena.width(result);
    let sign = is_negative(s.arena, result);
    // Intel SDM vol. 2B, RCL/RCR/ROL/ROR: the top bit and the carry, or the two top bits.
    let other = match direction {
        Direction::Left => carry,
        Direction::Right => s.arena.bit(result, width - 2),
    };
    let overflow = s.arena.bool_xor(sign, other);
    let one = s.bv(width, 1);
    let by_one = s.arena.eq(count, one);
    let overflow = defined_if(s, Flag::Overflow, by_one, overflow);
    set_unless(s, none, &[(Flag::Carry, carry), (Flag::Overflow, overflow)]);
}
