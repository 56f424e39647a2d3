//! Multiplication and division of general registers.
//!
//! A division usually follows `xor edx, edx` or `cdq`, which make the double-width dividend an extension of its
//! low half. The terms test for that first: then quotient and remainder are those of the operand's width, and
//! the `ite` folds away once the high half is known.

use crate::flags::is_zero;
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use crate::{Lane, Unsupported};
use program::{FaultKind, Flag, Register};
use term::{Arena, Bits, TermId};

const AFTER_MUL: &[Flag] = &[Flag::Sign, Flag::Zero, Flag::Adjust, Flag::Parity];
const AFTER_DIV: &[Flag] = &[Flag::Carry, Flag::Overflow, Flag::Sign, Flag::Zero, Flag::Adjust, Flag::Parity];

pub(crate) const ROWS: &[Row] = &[
    Row::new("mul", Base, |s| widening(s, Arena::zext)).undefined(AFTER_MUL),
    Row::new("imul", Base, imul).undefined(AFTER_MUL),
    Row::new("mulx", Bmi2, mulx).vex(crate::table::Vex::Only),
    Row::new("div", Base, div).undefined(AFTER_DIV),
    Row::new("idiv", Base, idiv).undefined(AFTER_DIV),
];

type Extend = fn(&mut Arena, TermId, u16) -> TermId;

fn imul(s: &mut Step) -> Lifted {
    if s.count() == 1 {
        return widening(s, Arena::sext);
    }
    let first = if s.count() == 3 { 1 } else { 0 };
    let (a, b) = s.read_pair(first, first + 1)?;
    let width = s.arena.width(a);
    let result = s.arena.mul(a, b);
    let (wide_a, wide_b) = (s.arena.sext(a, 2 * width), s.arena.sext(b, 2 * width));
    let exact = s.arena.mul(wide_a, wide_b);
    set_lost(s, exact, result, Arena::sext);
    s.write(0, result)
}

/// CF and OF: the product does not fit the low half.
fn set_lost(s: &mut Step, exact: TermId, low: TermId, extend: Extend) {
    let extended = extend(s.arena, low, s.arena.width(exact));
    let lost = s.arena.ne(exact, extended);
    s.set_flag(Flag::Carry, lost);
    s.set_flag(Flag::Overflow, lost);
}

/// rdx:rax (ax for bytes) as high and low lanes of the operand's width.
fn pair(width: u16) -> (Lane, Lane) {
    let low = Lane { register: Register::General(0), offset: 0, bits: width };
    let high = match width {
        8 => Lane { register: Register::General(0), offset: 8, bits: 8 },
        _ => Lane { register: Register::General(2), offset: 0, bits: width },
    };
    (high, low)
}

fn write_pair(s: &mut Step, width: u16, high: TermId, low: TermId) -> Lifted {
    if width == 8 {
        let both = s.arena.concat(high, low);
        return s.write_lane(Lane { register: Register::General(0), offset: 0, bits: 16 }, both);
    }
    let (high_lane, low_lane) = pair(width);
    s.write_lane(low_lane, low)?;
    s.write_lane(high_lane, high)
}

/// `mul` and one-operand `imul`.
fn widening(s: &mut Step, extend: Extend) -> Lifted {
    let b = s.read_general(0)?;
    let width = s.arena.width(b);
    let a = s.general(0, width);
    let (wide_a, wide_b) = (extend(s.arena, a, 2 * width), extend(s.arena, b, 2 * width));
    let exact = s.arena.mul(wide_a, wide_b);
    let low = s.arena.mul(a, b);
    let high = s.arena.extract(exact, 2 * width - 1, width);
    set_lost(s, exact, low, extend);
    write_pair(s, width, high, low)
}

fn mulx(s: &mut Step) -> Lifted {
    let b = s.read_general(2)?;
    let width = s.arena.width(b);
    let a = s.general(2, width);
    let (wide_a, wide_b) = (s.arena.zext(a, 2 * width), s.arena.zext(b, 2 * width));
    let exact = s.arena.mul(wide_a, wide_b);
    let low = s.arena.mul(a, b);
    let high = s.arena.extract(exact, 2 * width - 1, width);
    // Intel SDM vol. 2A, MULX: if both destinations are the same register, it gets the high half.
    s.write(1, low)?;
    s.write(0, high)
}

/// High and low half of the dividend, and the divisor.
fn dividend(s: &mut Step) -> Result<(TermId, TermId, TermId), Unsupported> {
    let divisor = s.read_general(0)?;
    let (high, low) = pair(s.arena.width(divisor));
    Ok((s.read_lane(high), s.read_lane(low), divisor))
}

fn div(s: &mut Step) -> Lifted {
    let (high, low, divisor) = dividend(s)?;
    let width = s.arena.width(low);
    // The quotient fits exactly if the high half is below the divisor, which also excludes 0.
    let fits = s.arena.ult(high, divisor);
    let overflow = s.arena.bool_not(fits);
    s.fault(overflow, FaultKind::Divide);
    let arena = &mut *s.arena;
    let narrow = is_zero(arena, high);
    let (wide, wide_divisor) = (arena.concat(high, low), arena.zext(divisor, 2 * width));
    let (quotient, wide_quotient) = (arena.udiv(low, divisor), arena.udiv(wide, wide_divisor));
    let (rest, wide_rest) = (arena.urem(low, divisor), arena.urem(wide, wide_divisor));
    let (wide_quotient, wide_rest) = (arena.truncate(wide_quotient, width), arena.truncate(wide_rest, width));
    let quotient = arena.ite(narrow, quotient, wide_quotient);
    let rest = arena.ite(narrow, rest, wide_rest);
    write_pair(s, width, rest, quotient)
}

fn idiv(s: &mut Step) -> Lifted {
    let (high, low, divisor) = dividend(s)?;
    let arena = &mut *s.arena;
    let width = arena.width(low);
    let amount = arena.bv(width, u64::from(width) - 1);
    let sign = arena.ashr(low, amount);
    let narrow = arena.eq(high, sign);
    let (wide, wide_divisor) = (arena.concat(high, low), arena.sext(divisor, 2 * width));
    let wide_quotient = arena.sdiv(wide, wide_divisor);
    let wide_rest = arena.srem(wide, wide_divisor);
    let (cut_quotient, cut_rest) = (arena.truncate(wide_quotient, width), arena.truncate(wide_rest, width));

    let by_zero = is_zero(arena, divisor);
    let extended = arena.sext(cut_quotient, 2 * width);
    let wide_overflow = arena.ne(extended, wide_quotient);
    let minus_one = arena.constant(Bits::ones(width));
    let smallest = arena.constant(Bits::ones(width).sub(Bits::ones(width - 1).zext(width)));
    let (is_smallest, is_minus_one) = (arena.eq(low, smallest), arena.eq(divisor, minus_one));
    let narrow_overflow = arena.bool_and(is_smallest, is_minus_one);
    let overflow = arena.ite(narrow, narrow_overflow, wide_overflow);
    let fault = arena.bool_or(by_zero, overflow);

    let (quotient, rest) = (arena.sdiv(low, divisor), arena.srem(low, divisor));
    let quotient = arena.ite(narrow, quotient, cut_quotient);
    let rest = arena.ite(narrow, rest, cut_rest);
    s.fault(fault, FaultKind::Divide);
    write_pair(s, width, rest, quotient)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_operands_use_the_two_halves_of_ax() {
        assert_eq!(pair(8).0.offset, 8);
        assert_eq!(pair(32).0.register, Register::General(2));
    }
}
