//! Shifts right, and shifts left by a variable amount.
//!
//! A shift by a constant is an extraction (right) or a product (left).

use super::{FOLD, Rule, rule};
use crate::{Arena, Bits, Op, TermId};

/// Rules for shifts left.
pub(super) const SHL: &[Rule] = &[FOLD, rule("shl-constant", shl_constant), rule("shift-of-zero", shift_of_zero)];

/// Rules for logical shifts right.
pub(super) const LSHR: &[Rule] = &[FOLD, rule("lshr-constant", lshr_constant), rule("shift-of-zero", shift_of_zero)];

/// Rules for arithmetic shifts right.
pub(super) const ASHR: &[Rule] = &[
    FOLD,
    rule("ashr-constant", ashr_constant),
    rule("shift-of-zero", shift_of_zero),
    rule("ashr-nonnegative", ashr_nonnegative),
];

/// Without a sign there is nothing to copy.
fn ashr_nonnegative(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (super::view::leading_zeros(arena, args[0]) > 0).then(|| arena.lshr(args[0], args[1]))
}

fn shl_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let amount = arena.as_const(args[1])?;
    let factor = arena.constant(Bits::new(amount.width(), 1).shl(amount));
    Some(arena.mul(args[0], factor))
}

fn lshr_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    match arena.as_const(args[1])?.to_u64() {
        Some(n) if n < u64::from(width) => {
            let part = arena.extract(args[0], width - 1, n as u16);
            Some(arena.zext(part, width))
        }
        _ => Some(arena.constant(Bits::zero(width))),
    }
}

fn ashr_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let most = u64::from(width - 1);
    let n = arena.as_const(args[1])?.to_u64().map_or(most, |n| n.min(most)) as u16;
    let part = arena.extract(args[0], width - 1, n);
    Some(arena.sext(part, width))
}

fn shift_of_zero(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    arena.as_const(args[0])?.is_zero().then_some(args[0])
}
