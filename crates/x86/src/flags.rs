//! Flags as truth values, in shapes that the term rules fold back to the comparison they mean.
//!
//! After `cmp a, b` CF is `a <u b`, ZF is `a = b`, SF is `a - b <s 0` and OF is `(a <s b) xor SF`, so that `jl`,
//! SF xor OF, becomes `a <s b` again.

use crate::step::Step;
use program::Flag;
use term::{Arena, TermId};

/// Flags undefined after logic operations.
pub(crate) const ADJUST: &[Flag] = &[Flag::Adjust];

/// `a <s 0`.
pub(crate) fn is_negative(arena: &mut Arena, a: TermId) -> TermId {
    let zero = arena.bv(arena.width(a), 0);
    arena.slt(a, zero)
}

/// `a = 0`.
pub(crate) fn is_zero(arena: &mut Arena, a: TermId) -> TermId {
    let zero = arena.bv(arena.width(a), 0);
    arena.eq(a, zero)
}

/// Even number of ones in the low byte.
pub(crate) fn parity(arena: &mut Arena, a: TermId) -> TermId {
    let low = arena.truncate(a, 8);
    let ones = arena.popcount(low);
    let odd = arena.bit(ones, 0);
    arena.bool_not(odd)
}

impl Step<'_> {
    /// ZF, SF and PF of a result.
    pub fn set_result_flags(&mut self, result: TermId) {
        let zero = is_zero(self.arena, result);
        let negative = is_negative(self.arena, result);
        self.set_flag(Flag::Zero, zero);
        self.set_flag(Flag::Sign, negative);
        let parity = parity(self.arena, result);
        self.set_flag(Flag::Parity, parity);
    }

    /// AF of a sum or difference: the carry into bit 4.
    fn set_adjust(&mut self, a: TermId, b: TermId, result: TermId) {
        let mixed = self.arena.xor(a, b);
        let mixed = self.arena.xor(mixed, result);
        let carry = self.arena.bit(mixed, 4);
        self.set_flag(Flag::Adjust, carry);
    }

    /// Difference and the flags of `cmp a, b`.
    pub fn subtract(&mut self, a: TermId, b: TermId) -> TermId {
        let result = self.arena.sub(a, b);
        self.set_result_flags(result);
        self.set_adjust(a, b, result);
        let (carry, equal) = (self.arena.ult(a, b), self.arena.eq(a, b));
        self.set_flag(Flag::Carry, carry);
        self.set_flag(Flag::Zero, equal);
        let less = self.arena.slt(a, b);
        self.set_overflow(less, result);
        result
    }

    /// Sum and its flags.
    pub fn sum(&mut self, a: TermId, b: TermId) -> TermId {
        let result = self.arena.add(a, b);
        self.set_result_flags(result);
        self.set_adjust(a, b, result);
        let carry = self.arena.ult(result, a);
        self.set_flag(Flag::Carry, carry);
        let wide = self.arena.width(a) + 1;
        let (wide_a, wide_b) = (self.arena.sext(a, wide), self.arena.sext(b, wide));
        let exact = self.arena.add(wide_a, wide_b);
        let negative = is_negative(self.arena, exact);
        self.set_overflow(negative, result);
        result
    }

    /// OF: the sign of the exact result differs from that of the result.
    fn set_overflow(&mut self, exact_is_negative: TermId, result: TermId) {
        let negative = is_negative(self.arena, result);
        let overflow = self.arena.bool_xor(exact_is_negative, negative);
        self.set_flag(Flag::Overflow, overflow);
    }

    /// `a + b + CF` and its flags.
    pub fn sum_with_carry(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.arena.width(a);
        let carry = self.flag(Flag::Carry);
        let carry_in = self.arena.bool_to_bv(carry, width);
        let sum = self.arena.add(a, b);
        let result = self.arena.add(sum, carry_in);
        self.set_result_flags(result);
        self.set_adjust(a, b, result);
        let (at_most, below) = (self.arena.ule(result, a), self.arena.ult(result, a));
        let carry_out = self.arena.ite(carry, at_most, below);
        self.set_flag(Flag::Carry, carry_out);
        let (wide_a, wide_b) = (self.arena.sext(a, width + 1), self.arena.sext(b, width + 1));
        let wide_carry = self.arena.bool_to_bv(carry, width + 1);
        let exact = self.arena.add(wide_a, wide_b);
        let exact = self.arena.add(exact, wide_carry);
        let negative = is_negative(self.arena, exact);
        self.set_overflow(negative, result);
        result
    }

    /// `a - b - CF` and its flags.
    pub fn subtract_with_borrow(&mut self, a: TermId, b: TermId) -> TermId {
        let width = self.arena.width(a);
        let borrow = self.flag(Flag::Carry);
        let borrow_in = self.arena.bool_to_bv(borrow, width);
        let difference = self.arena.sub(a, b);
        let result = self.arena.sub(difference, borrow_in);
        self.set_result_flags(result);
        self.set_adjust(a, b, result);
        let (at_most, below) = (self.arena.ule(a, b), self.arena.ult(a, b));
        let borrow_out = self.arena.ite(borrow, at_most, below);
        self.set_flag(Flag::Carry, borrow_out);
        let (wide_a, wide_b) = (self.arena.sext(a, width + 1), self.arena.sext(b, width + 1));
        let wide_borrow = self.arena.bool_to_bv(borrow, width + 1);
        let exact = self.arena.sub(wide_a, wide_b);
        let exact = self.arena.sub(exact, wide_borrow);
        let negative = is_negative(self.arena, exact);
        self.set_overflow(negative, result);
        result
    }

    /// Flags of a logic operation: CF and OF clear, AF undefined by the row.
    pub fn set_logic_flags(&mut self, result: TermId) {
        self.set_result_flags(result);
        self.clear_flags(&[Flag::Carry, Flag::Overflow]);
    }

    pub fn clear_flags(&mut self, flags: &[Flag]) {
        let clear = self.arena.bool(false);
        flags.iter().for_each(|flag| self.set_flag(*flag, clear));
    }

    /// Withdraws a flag's new value: the instruction leaves it alone.
    pub fn keep_flag(&mut self, flag: Flag) {
        let old = self.flag(flag);
        self.set_flag(flag, old);
    }
}
