//! Packed integer arithmetic and comparison.

use super::sse_pairs as pairs;
use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{Binary, mask};
use term::{Arena, Bits, TermId};

const fn packed(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx2)
}

pub(crate) const ROWS: &[Row] = &[
    packed("paddb", Sse2, |s| s.zip(8, Arena::add)),
    packed("paddw", Sse2, |s| s.zip(16, Arena::add)),
    packed("paddd", Sse2, |s| s.zip(32, Arena::add)),
    packed("paddq", Sse2, |s| s.zip(64, Arena::add)),
    packed("psubb", Sse2, |s| s.zip(8, Arena::sub)),
    packed("psubw", Sse2, |s| s.zip(16, Arena::sub)),
    packed("psubd", Sse2, |s| s.zip(32, Arena::sub)),
    packed("psubq", Sse2, |s| s.zip(64, Arena::sub)),
    packed("paddsb", Sse2, |s| s.zip(8, |a, x, y| saturating_signed(a, x, y, Arena::add))),
    packed("paddsw", Sse2, |s| s.zip(16, |a, x, y| saturating_signed(a, x, y, Arena::add))),
    packed("psubsb", Sse2, |s| s.zip(8, |a, x, y| saturating_signed(a, x, y, Arena::sub))),
    packed("psubsw", Sse2, |s| s.zip(16, |a, x, y| saturating_signed(a, x, y, Arena::sub))),
    packed("paddusb", Sse2, |s| s.zip(8, saturating_add)),
    packed("paddusw", Sse2, |s| s.zip(16, saturating_add)),
    packed("psubusb", Sse2, |s| s.zip(8, saturating_sub)),
    packed("psubusw", Sse2, |s| s.zip(16, saturating_sub)),
    packed("pavgb", Sse2, |s| s.zip(8, average)),
    packed("pavgw", Sse2, |s| s.zip(16, average)),
    packed("pmullw", Sse2, |s| s.zip(16, Arena::mul)),
    packed("pmulld", Sse41, |s| s.zip(32, Arena::mul)),
    packed("pmulhw", Sse2, |s| s.zip(16, |a, x, y| product_bits(a, x, y, Arena::sext, 31, 16))),
    packed("pmulhuw", Sse2, |s| s.zip(16, |a, x, y| product_bits(a, x, y, Arena::zext, 31, 16))),
    packed("pmulhrsw", Ssse3, |s| s.zip(16, rounded_product)),
    packed("pmuludq", Sse2, |s| s.zip(64, |a, x, y| low_product(a, x, y, Arena::zext))),
    packed("pmuldq", Sse41, |s| s.zip(64, |a, x, y| low_product(a, x, y, Arena::sext))),
    packed("pmaddwd", Sse2, |s| s.zip(32, pairs::multiply_add_words)),
    packed("pmaddubsw", Ssse3, |s| s.zip(16, pairs::multiply_add_bytes)),
    packed("psadbw", Sse2, |s| s.zip(64, pairs::absolute_differences)),
    packed("pminub", Sse2, |s| s.zip(8, |a, x, y| select(a, Arena::ult, x, y))),
    packed("pminuw", Sse41, |s| s.zip(16, |a, x, y| select(a, Arena::ult, x, y))),
    packed("pminud", Sse41, |s| s.zip(32, |a, x, y| select(a, Arena::ult, x, y))),
    packed("pminsb", Sse41, |s| s.zip(8, |a, x, y| select(a, Arena::slt, x, y))),
    packed("pminsw", Sse2, |s| s.zip(16, |a, x, y| select(a, Arena::slt, x, y))),
    packed("pminsd", Sse41, |s| s.zip(32, |a, x, y| select(a, Arena::slt, x, y))),
    packed("pmaxub", Sse2, |s| s.zip(8, |a, x, y| select(a, above, x, y))),
    packed("pmaxuw", Sse41, |s| s.zip(16, |a, x, y| select(a, above, x, y))),
    packed("pmaxud", Sse41, |s| s.zip(32, |a, x, y| select(a, above, x, y))),
    packed("pmaxsb", Sse41, |s| s.zip(8, |a, x, y| select(a, greater, x, y))),
    packed("pmaxsw", Sse2, |s| s.zip(16, |a, x, y| select(a, greater, x, y))),
    packed("pmaxsd", Sse41, |s| s.zip(32, |a, x, y| select(a, greater, x, y))),
    packed("pabsb", Ssse3, |s| s.map(8, absolute)),
    packed("pabsw", Ssse3, |s| s.map(16, absolute)),
    packed("pabsd", Ssse3, |s| s.map(32, absolute)),
    packed("psignb", Ssse3, |s| s.zip(8, with_sign)),
    packed("psignw", Ssse3, |s| s.zip(16, with_sign)),
    packed("psignd", Ssse3, |s| s.zip(32, with_sign)),
    packed("phaddw", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 16, Arena::add))),
    packed("phaddd", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 32, Arena::add))),
    packed("phaddsw", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 16, saturating_sum))),
    packed("phsubw", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 16, Arena::sub))),
    packed("phsubd", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 32, Arena::sub))),
    packed("phsubsw", Ssse3, |s| s.halves(|a, x, y| pairs::horizontal(a, x, y, 16, saturating_difference))),
    packed("pcmpeqb", Sse2, |s| compare(s, 8, Arena::eq)),
    packed("pcmpeqw", Sse2, |s| compare(s, 16, Arena::eq)),
    packed("pcmpeqd", Sse2, |s| compare(s, 32, Arena::eq)),
    packed("pcmpeqq", Sse41, |s| compare(s, 64, Arena::eq)),
    packed("pcmpgtb", Sse2, |s| compare(s, 8, greater)),
    packed("pcmpgtw", Sse2, |s| compare(s, 16, greater)),
    packed("pcmpgtd", Sse2, |s| compare(s, 32, greater)),
    packed("pcmpgtq", Sse42, |s| compare(s, 64, greater)),
];

fn above(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    arena.ult(b, a)
}

fn greater(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    arena.slt(b, a)
}

fn select(arena: &mut Arena, first: Binary, a: TermId, b: TermId) -> TermId {
    let condition = first(arena, a, b);
    arena.ite(condition, a, b)
}

fn compare(s: &mut Step, width: u16, op: Binary) -> Lifted {
    s.zip(width, |arena, a, b| {
        let condition = op(arena, a, b);
        mask(arena, condition, width)
    })
}

/// A signed value cut to `width` bits, the nearest representable one if it does not fit.
pub(crate) fn saturate_signed(arena: &mut Arena, value: TermId, width: u16) -> TermId {
    let wide = arena.width(value);
    let most = Bits::ones(width - 1).zext(width);
    let (largest, smallest) = (arena.constant(most), arena.constant(most.not()));
    let (wide_largest, wide_smallest) = (arena.sext(largest, wide), arena.sext(smallest, wide));
    let (over, under) = (arena.slt(wide_largest, value), arena.slt(value, wide_smallest));
    let cut = arena.truncate(value, width);
    let low = arena.ite(under, smallest, cut);
    arena.ite(over, largest, low)
}

/// A signed value cut to `width` unsigned bits, the nearest representable one if it does not fit.
pub(crate) fn saturate_unsigned(arena: &mut Arena, value: TermId, width: u16) -> TermId {
    let wide = arena.width(value);
    let (largest, zero) = (arena.constant(Bits::ones(width)), arena.bv(width, 0));
    let (wide_largest, wide_zero) = (arena.zext(largest, wide), arena.bv(wide, 0));
    let (over, under) = (arena.slt(wide_largest, value), arena.slt(value, wide_zero));
    let cut = arena.truncate(value, width);
    let low = arena.ite(under, zero, cut);
    arena.ite(over, largest, low)
}

fn saturating_signed(arena: &mut Arena, a: TermId, b: TermId, op: Binary) -> TermId {
    let width = arena.width(a);
    let (a, b) = (arena.sext(a, width + 1), arena.sext(b, width + 1));
    let exact = op(arena, a, b);
    saturate_signed(arena, exact, width)
}

pub(crate) fn saturating_sum(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    saturating_signed(arena, a, b, Arena::add)
}

fn saturating_difference(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    saturating_signed(arena, a, b, Arena::sub)
}

fn saturating_add(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let sum = arena.add(a, b);
    let over = arena.ult(sum, a);
    let largest = arena.constant(Bits::ones(arena.width(a)));
    arena.ite(over, largest, sum)
}

fn saturating_sub(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let difference = arena.sub(a, b);
    let under = arena.ult(a, b);
    let zero = arena.bv(arena.width(a), 0);
    arena.ite(under, zero, difference)
}

fn average(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let width = arena.width(a);
    let (a, b) = (arena.zext(a, width + 1), arena.zext(b, width + 1));
    let sum = arena.add(a, b);
    let sum = arena.add_const(sum, 1);
    arena.extract(sum, width, 1)
}

fn product_bits(
    arena: &mut Arena,
    a: TermId,
    b: TermId,
    extend: fn(&mut Arena, TermId, u16) -> TermId,
    hi: u16,
    lo: u16,
) -> TermId {
    let wide = 2 * arena.width(a);
    let (a, b) = (extend(arena, a, wide), extend(arena, b, wide));
    let product = arena.mul(a, b);
    arena.extract(product, hi, lo)
}

/// Intel SDM vol. 2B, PMULHRSW: bits 16..1 of (product >> 14) + 1.
fn rounded_product(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let top = product_bits(arena, a, b, Arena::sext, 31, 14);
    let rounded = arena.add_const(top, 1);
    arena.extract(rounded, 16, 1)
}

fn low_product(arena: &mut Arena, a: TermId, b: TermId, extend: fn(&mut Arena, TermId, u16) -> TermId) -> TermId {
    let (a, b) = (arena.truncate(a, 32), arena.truncate(b, 32));
    let (a, b) = (extend(arena, a, 64), extend(arena, b, 64));
    arena.mul(a, b)
}

fn absolute(arena: &mut Arena, a: TermId) -> TermId {
    let zero = arena.bv(arena.width(a), 0);
    let negative = arena.slt(a, zero);
    let negated = arena.neg(a);
    arena.ite(negative, negated, a)
}

fn with_sign(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let zero = arena.bv(arena.width(a), 0);
    let (negative, none) = (arena.slt(b, zero), arena.eq(b, zero));
    let negated = arena.neg(a);
    let positive = arena.ite(none, zero, a);
    arena.ite(negative, negated, positive)
}
