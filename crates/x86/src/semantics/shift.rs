//! Shifts of general registers: `shl`, `shr`, `sar`, `shld`, `shrd`.
//!
//! The count is taken modulo 32 (64 for 64-bit operands); with count 0 no flag changes. For a constant count that
//! is decided here, for a variable one every flag is an `ite` on the count.

use crate::Unsupported;
use crate::flags::{is_negative, is_zero, parity};
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use program::Flag;
use term::{Arena, Sort, TermId};

const SOMETIMES: &[Flag] = &[Flag::Carry, Flag::Overflow, Flag::Adjust];

pub(crate) const ROWS: &[Row] = &[
    Row::new("shl", Base, |s| shift(s, Kind::Left)).sometimes(SOMETIMES),
    Row::new("sal", Base, |s| shift(s, Kind::Left)).sometimes(SOMETIMES),
    Row::new("shr", Base, |s| shift(s, Kind::Right)).sometimes(SOMETIMES),
    Row::new("sar", Base, |s| shift(s, Kind::Arithmetic)).sometimes(SOMETIMES),
    Row::new("shld", Base, |s| double(s, Kind::Left))
        .sometimes(&[Flag::Carry, Flag::Overflow, Flag::Adjust, Flag::Zero, Flag::Sign, Flag::Parity])
        .undefined_result("16-bit, count above 16"),
    Row::new("shrd", Base, |s| double(s, Kind::Right))
        .sometimes(&[Flag::Carry, Flag::Overflow, Flag::Adjust, Flag::Zero, Flag::Sign, Flag::Parity])
        .undefined_result("16-bit, count above 16"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Left,
    Right,
    Arithmetic,
}

/// The count operand, masked, at the width of the shifted value.
pub(crate) fn masked_count(s: &mut Step, operand: usize, width: u16) -> Result<TermId, Unsupported> {
    let count = s.read_general(operand)?;
    let count = s.arena.truncate(count, 8);
    let mask = s.bv(8, if width == 64 { 63 } else { 31 });
    let masked = s.arena.and(count, mask);
    Ok(s.arena.zext(masked, width))
}

/// A shift by a masked count: the result, then flags that hold where the count is not 0.
struct Shifted {
    result: TermId,
    carry: TermId,
    overflow_if_one: TermId,
    /// Where the carry is defined.
    carry_defined: TermId,
    /// Where the result and the flags that follow from it are.
    defined: TermId,
}

fn shift(s: &mut Step, kind: Kind) -> Lifted {
    let a = s.read_general(0)?;
    let width = s.arena.width(a);
    let count = masked_count(s, 1, width)?;
    let before = s.arena.add_const(count, -1);
    let size = s.bv(width, u64::from(width));
    let in_range = s.arena.ult(count, size);
    let always = s.arena.bool(true);
    let arena = &mut *s.arena;
    let shifted = match kind {
        Kind::Left => {
            let result = arena.shl(a, count);
            let carry = carry_left(arena, a, count);
            let sign = is_negative(arena, result);
            let overflow_if_one = arena.bool_xor(sign, carry);
            // Intel SDM vol. 2B, SHL: CF is undefined if the count reaches the operand's size.
            Shifted { result, carry, overflow_if_one, carry_defined: in_range, defined: always }
        }
        Kind::Right => {
            let result = arena.lshr(a, count);
            let last = arena.lshr(a, before);
            let carry = arena.bit(last, 0);
            Shifted { result, carry, overflow_if_one: is_negative(arena, a), carry_defined: in_range, defined: always }
        }
        Kind::Arithmetic => {
            let result = arena.ashr(a, count);
            let last = arena.ashr(a, before);
            let carry = arena.bit(last, 0);
            Shifted { result, carry, overflow_if_one: arena.bool(false), carry_defined: always, defined: always }
        }
    };
    set_flags(s, count, &shifted);
    s.write(0, shifted.result)
}

/// The bit that a left shift by 1 to `width` moves out last.
fn carry_left(arena: &mut Arena, a: TermId, count: TermId) -> TermId {
    let width = arena.width(a);
    match arena.as_u64(count) {
        Some(n) if (1..=u64::from(width)).contains(&n) => arena.bit(a, width - n as u16),
        _ => {
            let (wide, count) = (arena.zext(a, width + 1), arena.zext(count, width + 1));
            let moved = arena.shl(wide, count);
            arena.bit(moved, width)
        }
    }
}

fn double(s: &mut Step, kind: Kind) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let width = s.arena.width(a);
    let count = masked_count(s, 2, width)?;
    let size = s.bv(width, u64::from(width));
    let rest = s.arena.sub(size, count);
    let before = s.arena.add_const(count, -1);
    let beyond = s.arena.ult(size, count);
    let arena = &mut *s.arena;
    let defined = arena.bool_not(beyond);
    let (result, carry) = match kind {
        Kind::Left => {
            let (high, low) = (arena.shl(a, count), arena.lshr(b, rest));
            (arena.or(high, low), carry_left(arena, a, count))
        }
        _ => {
            let (low, high) = (arena.lshr(a, count), arena.shl(b, rest));
            let last = arena.lshr(a, before);
            (arena.or(high, low), arena.bit(last, 0))
        }
    };
    let (old_sign, new_sign) = (is_negative(arena, a), is_negative(arena, result));
    let overflow_if_one = arena.bool_xor(old_sign, new_sign);
    let result = match s.arena.as_bool(defined) {
        Some(true) => result,
        _ => {
            let unknown = s.unknown(Sort::Bv(width));
            s.arena.ite(defined, result, unknown)
        }
    };
    set_flags(s, count, &Shifted { result, carry, overflow_if_one, carry_defined: defined, defined });
    s.write(0, result)
}

fn set_flags(s: &mut Step, count: TermId, shifted: &Shifted) {
    let none = is_zero(s.arena, count);
    if s.arena.as_bool(none) == Some(true) {
        return;
    }
    let zero = is_zero(s.arena, shifted.result);
    let sign = is_negative(s.arena, shifted.result);
    let parity = parity(s.arena, shifted.result);
    let zero = defined_if(s, Flag::Zero, shifted.defined, zero);
    let sign = defined_if(s, Flag::Sign, shifted.defined, sign);
    let parity = defined_if(s, Flag::Parity, shifted.defined, parity);
    let carry = defined_if(s, Flag::Carry, shifted.carry_defined, shifted.carry);
    let one = s.bv(s.arena.width(count), 1);
    let by_one = s.arena.eq(count, one);
    let overflow = defined_if(s, Flag::Overflow, by_one, shifted.overflow_if_one);
    let adjust = s.unknown_flag(Flag::Adjust);
    let flags = [
        (Flag::Zero, zero),
        (Flag::Sign, sign),
        (Flag::Parity, parity),
        (Flag::Carry, carry),
        (Flag::Overflow, overflow),
        (Flag::Adjust, adjust),
    ];
    set_unless(s, none, &flags);
}

/// A flag that is undefined where the condition does not hold.
pub(crate) fn defined_if(s: &mut Step, flag: Flag, condition: TermId, value: TermId) -> TermId {
    if s.arena.as_bool(condition) == Some(true) {
        return value;
    }
    let unknown = s.unknown_flag(flag);
    s.arena.ite(condition, value, unknown)
}

/// New values of flags, kept where the condition holds.
pub(crate) fn set_unless(s: &mut Step, kept: TermId, flags: &[(Flag, TermId)]) {
    for (flag, value) in flags {
        let old = s.flag(*flag);
        let value = s.arena.ite(kept, old, *value);
        s.set_flag(*flag, value);
    }
}
