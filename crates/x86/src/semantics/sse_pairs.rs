//! Packed operations that combine neighbouring lanes: multiply-add, sums of differences, horizontal sums.

use super::sse_int::saturate_signed;
use crate::vector::{Binary, join, split};
use term::{Arena, TermId};

/// `pmaddwd` on one 32-bit lane: the sum of two signed products.
pub(crate) fn multiply_add_words(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let (a, b) = (split(arena, a, 16), split(arena, b, 16));
    let mut products = Vec::with_capacity(2);
    for (a, b) in a.into_iter().zip(b) {
        let (a, b) = (arena.sext(a, 32), arena.sext(b, 32));
        products.push(arena.mul(a, b));
    }
    arena.add(products[0], products[1])
}

/// `pmaddubsw` on one 16-bit lane: the saturated sum of two products, unsigned by signed.
pub(crate) fn multiply_add_bytes(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let (a, b) = (split(arena, a, 8), split(arena, b, 8));
    let mut products = Vec::with_capacity(2);
    for (a, b) in a.into_iter().zip(b) {
        let (a, b) = (arena.zext(a, 18), arena.sext(b, 18));
        products.push(arena.mul(a, b));
    }
    let sum = arena.add(products[0], products[1]);
    saturate_signed(arena, sum, 16)
}

/// `psadbw` on one 64-bit lane: the sum of eight absolute differences of bytes.
pub(crate) fn absolute_differences(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let (a, b) = (split(arena, a, 8), split(arena, b, 8));
    let mut sum = arena.bv(64, 0);
    for (a, b) in a.into_iter().zip(b) {
        let below = arena.ult(a, b);
        let (up, down) = (arena.sub(a, b), arena.sub(b, a));
        let difference = arena.ite(below, down, up);
        let wide = arena.zext(difference, 64);
        sum = arena.add(sum, wide);
    }
    sum
}

/// Neighbouring lanes combined, those of `a` in the low half of the result and those of `b` above.
pub(crate) fn horizontal(arena: &mut Arena, a: TermId, b: TermId, width: u16, op: Binary) -> TermId {
    let mut lanes = split(arena, a, width);
    lanes.extend(split(arena, b, width));
    let sums: Vec<TermId> = lanes.chunks(2).map(|pair| op(arena, pair[0], pair[1])).collect();
    join(arena, &sums)
}
