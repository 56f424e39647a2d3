//! Extraction, concatenation, extension.
//!
//! Extraction moves inwards until it meets a term it cannot enter; sums and products lose the high bits nobody asks
//! for. Concatenations are flat; adjacent pieces of one term are one piece. A zero high part is a zero extension, a
//! zero low part a product with a power of two.

use super::{FOLD, Rule, bit_set, division, magic, rule, view};
use crate::{Arena, Bits, Linear, Op, TermId};
use smallvec::SmallVec;

/// Rules for extraction.
pub(super) const EXTRACT: &[Rule] = &[
    FOLD,
    rule("extract-all", extract_all),
    rule("extract-extract", extract_extract),
    rule("extract-concat", extract_concat),
    rule("extract-extension", extract_extension),
    rule("extract-choice", extract_choice),
    rule("extract-bitwise", extract_bitwise),
    rule("extract-shifted", extract_shifted),
    rule("extract-shl", extract_shl),
    rule("extract-quotient", magic::extract_quotient),
    rule("extract-quotient-narrow", division::extract_quotient_narrow),
    rule("extract-product-sign", magic::extract_product_sign),
    rule("extract-sum", extract_sum),
    rule("extract-aligned", extract_aligned),
    rule("extract-two-valued", extract_two_valued),
    rule("extract-load", extract_load),
    rule("extract-constant-bit", bit_set::extract_of_shifted_constant),
];

/// Rules for concatenation.
pub(super) const CONCAT: &[Rule] = &[
    FOLD,
    rule("concat-merge", concat_merge),
    rule("concat-zero-high", concat_zero_high),
    rule("concat-zero-low", concat_zero_low),
    rule("concat-sign-high", concat_sign_high),
];

/// Rules for zero extension.
pub(super) const ZEXT: &[Rule] = &[
    FOLD,
    rule("zext-zext", zext_zext),
    rule("zext-choice", extend_choice),
    rule("zext-sign-bits", zext_sign_bits),
    rule("zext-low-part", zext_low_part),
    rule("zext-sum", zext_sum),
];

/// Rules for sign extension.
pub(super) const SEXT: &[Rule] = &[
    FOLD,
    rule("sext-sext", sext_sext),
    rule("sext-nonnegative", sext_nonnegative),
    rule("sext-choice", sext_choice),
    rule("sext-low-part", sext_low_part),
];

fn bounds(op: Op) -> (u16, u16) {
    match op {
        Op::Extract { hi, lo } => (hi, lo),
        other => unreachable!("{other:?} is no extraction"),
    }
}

fn extract_all(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    (lo == 0 && hi + 1 == arena.width(args[0])).then_some(args[0])
}

fn extract_extract(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    match arena.op(args[0]) {
        Op::Extract { lo: base, .. } => {
            let inner = arena.arg(args[0], 0);
            Some(arena.extract(inner, hi + base, lo + base))
        }
        _ => None,
    }
}

fn extract_concat(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    let (kind, parts) = view::open(arena, args[0]);
    if kind != Op::Concat {
        return None;
    }
    let mut taken: SmallVec<[TermId; 4]> = SmallVec::new();
    let mut base = arena.width(args[0]);
    for part in parts {
        let width = arena.width(part);
        base -= width;
        let (from, to) = (lo.max(base), hi.min(base + width - 1));
        if from <= to {
            taken.push(arena.extract(part, to - base, from - base));
        }
    }
    Some(arena.concat_all(&taken))
}

fn extract_extension(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    let (kind, inner) = view::open(arena, args[0]);
    if !matches!(kind, Op::Zext(_) | Op::Sext(_)) {
        return None;
    }
    let (inner, n) = (inner[0], arena.width(inner[0]));
    if hi < n {
        return Some(arena.extract(inner, hi, lo));
    }
    let width = hi - lo + 1;
    Some(match kind {
        Op::Zext(_) if lo >= n => arena.constant(Bits::zero(width)),
        Op::Zext(_) => {
            let part = arena.extract(inner, n - 1, lo);
            arena.zext(part, width)
        }
        _ => {
            let part = arena.extract(inner, n - 1, lo.min(n - 1));
            arena.sext(part, width)
        }
    })
}

fn extract_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, parts) = view::open(arena, args[0]);
    if kind != Op::Ite {
        return None;
    }
    let (a, b) = (arena.make(op, &[parts[1]]), arena.make(op, &[parts[2]]));
    Some(arena.ite(parts[0], a, b))
}

fn extract_bitwise(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, parts) = view::open(arena, args[0]);
    if !matches!(kind, Op::BvNot | Op::BvAnd | Op::BvOr | Op::BvXor) {
        return None;
    }
    let parts: SmallVec<[TermId; 2]> = parts.iter().map(|part| arena.make(op, &[*part])).collect();
    Some(arena.make(kind, &parts))
}

/// The product with 2^k has k zero bits and then the factor.
fn extract_shifted(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    let (kind, parts) = view::open(arena, args[0]);
    if kind != Op::Mul {
        return None;
    }
    let factor = arena.as_const(parts[1])?;
    if factor.count_ones() != 1 {
        return None;
    }
    let k = factor.trailing_zeros();
    if hi < k {
        return Some(arena.constant(Bits::zero(hi - lo + 1)));
    }
    if lo >= k {
        return Some(arena.extract(parts[0], hi - k, lo - k));
    }
    if lo == 0 {
        return None;
    }
    let high = arena.extract(parts[0], hi - k, 0);
    let low = arena.constant(Bits::zero(k - lo));
    Some(arena.concat(high, low))
}

/// Low bits of a left shift do not depend on higher bits of what is shifted.
fn extract_shl(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    if lo != 0 || arena.op(args[0]) != Op::Shl {
        return None;
    }
    let (x, amount) = (arena.arg(args[0], 0), arena.arg(args[0], 1));
    let width = arena.width(x);
    let low = arena.truncate(x, hi + 1);
    let cut = arena.zext(low, width);
    if cut == x {
        return None;
    }
    let shifted = arena.shl(cut, amount);
    Some(arena.extract(shifted, hi, 0))
}

/// Bits of a sum or product do not depend on higher bits of the operands.
fn extract_sum(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    let (kind, parts) = view::open(arena, args[0]);
    if !matches!(kind, Op::Add | Op::Mul) || hi + 1 == arena.width(args[0]) {
        return None;
    }
    let parts: SmallVec<[TermId; 4]> = parts.iter().map(|part| arena.truncate(*part, hi + 1)).collect();
    let narrow = arena.make(kind, &parts);
    Some(arena.extract(narrow, hi, lo))
}

/// The high bits of a multiple of 2^k and a constant are those of the quotient: nothing is carried over.
fn extract_aligned(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    if arena.op(args[0]) != Op::Add || lo == 0 {
        return None;
    }
    let width = arena.width(args[0]);
    let sum = Linear::of(arena, args[0]);
    let k = sum.terms.iter().map(|(_, c)| c.trailing_zeros()).min()?.min(lo);
    if k == 0 {
        return None;
    }
    let shifted = |c: Bits| c.extract(width - 1, k);
    let mut quotient = Linear::zero(width - k);
    quotient.constant = shifted(sum.constant);
    for (term, c) in &sum.terms {
        let term = arena.truncate(*term, width - k);
        quotient.add_scaled(arena, term, shifted(*c));
    }
    let quotient = quotient.build(arena);
    Some(arena.extract(quotient, hi - k, lo - k))
}

fn extract_two_valued(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    if !matches!(arena.op(args[0]), Op::Add | Op::Mul) {
        return None;
    }
    let (c, a, b) = view::two_valued(arena, args[0])?;
    let (a, b) = (arena.constant(a.extract(hi, lo)), arena.constant(b.extract(hi, lo)));
    Some(arena.ite(c, a, b))
}

/// Part of a loaded value needs only the bytes that it lies in.
fn extract_load(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (hi, lo) = bounds(op);
    let (kind, parts) = view::open(arena, args[0]);
    let Op::Load(bytes) = kind else { return None };
    let (first, last) = (lo / 8, hi / 8);
    // A sign bit alone stays with its number: that is how comparisons write it.
    if last - first + 1 == bytes || (lo == hi && hi + 1 == 8 * bytes) {
        return None;
    }
    let address = arena.add_const(parts[1], i64::from(first));
    let narrow = arena.load(parts[0], address, last - first + 1);
    Some(arena.extract(narrow, hi - 8 * first, lo - 8 * first))
}

/// Flattens, and joins neighbours that are pieces of one constant, term or stretch of memory.
fn concat_merge(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let mut parts: SmallVec<[TermId; 8]> = SmallVec::new();
    let mut todo: SmallVec<[TermId; 8]> = args.iter().rev().copied().collect();
    while let Some(part) = todo.pop() {
        if arena.op(part) == Op::Concat {
            todo.extend(arena.args(part).iter().rev().copied().collect::<SmallVec<[TermId; 8]>>());
            continue;
        }
        if let (Op::Zext(_), false) = (arena.op(part), parts.is_empty()) {
            let inner = arena.arg(part, 0);
            let zeros = arena.constant(Bits::zero(arena.width(part) - arena.width(inner)));
            todo.extend([inner, zeros]);
            continue;
        }
        match parts.last().copied().and_then(|high| join(arena, high, part)) {
            Some(both) => {
                parts.pop();
                todo.push(both);
            }
            None => parts.push(part),
        }
    }
    match parts[..] {
        [one] => Some(one),
        _ if parts[..] == *args => None,
        _ => Some(arena.make(op, &parts)),
    }
}

/// Two neighbours as one term.
fn join(arena: &mut Arena, high: TermId, low: TermId) -> Option<TermId> {
    if let (Some(a), Some(b)) = (arena.as_const(high), arena.as_const(low)) {
        return Some(arena.constant(a.concat(b)));
    }
    match (arena.op(high), arena.op(low)) {
        (Op::Extract { hi, lo }, Op::Extract { hi: next, lo: end }) if lo == next + 1 => {
            let (x, y) = (arena.arg(high, 0), arena.arg(low, 0));
            (x == y).then(|| arena.extract(x, hi, end))
        }
        (Op::Extract { hi, lo }, _) if lo > 0 && lo == arena.width(low) => {
            // The low bits of a term may look different from an extraction of it.
            let x = arena.arg(high, 0);
            if arena.as_const(low).is_some() || matches!(arena.op(x), Op::Var(_) | Op::Load(_) | Op::Apply(_)) {
                return None;
            }
            (arena.truncate(x, lo) == low).then(|| arena.extract(x, hi, 0))
        }
        (Op::Load(m), Op::Load(n)) if m + n <= 64 => {
            let (memory, address) = (arena.arg(low, 0), arena.arg(low, 1));
            let apart = arena.difference(arena.arg(high, 1), address)?;
            let adjacent = arena.arg(high, 0) == memory && apart.to_u64() == Some(u64::from(n));
            adjacent.then(|| arena.load(memory, address, m + n))
        }
        (Op::Ite, Op::Ite) if arena.arg(high, 0) == arena.arg(low, 0) => {
            let c = arena.arg(high, 0);
            let (a, b) = (arena.arg(high, 1), arena.arg(high, 2));
            let (p, q) = (arena.arg(low, 1), arena.arg(low, 2));
            let (yes, no) = (arena.concat(a, p), arena.concat(b, q));
            Some(arena.ite(c, yes, no))
        }
        _ => None,
    }
}

fn concat_zero_high(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if !arena.as_const(args[0])?.is_zero() {
        return None;
    }
    let width = args.iter().map(|arg| arena.width(*arg)).sum();
    let rest = arena.concat_all(&args[1..]);
    Some(arena.zext(rest, width))
}

fn concat_zero_low(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let (last, high) = args.split_last()?;
    let low = arena.as_const(*last)?;
    if !low.is_zero() {
        return None;
    }
    let width = args.iter().map(|arg| arena.width(*arg)).sum();
    let high = arena.concat_all(high);
    let high = arena.zext(high, width);
    let factor = Bits::new(width, 1).shl(Bits::new(16, u64::from(low.width())));
    let factor = arena.constant(factor);
    Some(arena.mul(high, factor))
}

/// Copies of the sign bit above a term are its sign extension.
fn concat_sign_high(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let (first, rest) = args.split_first()?;
    let bit = match arena.op(*first) {
        Op::Sext(_) => view::repeated_bit(arena, *first)?,
        _ if arena.width(*first) == 1 => *first,
        _ => return None,
    };
    let n = arena.width(rest[0]);
    if arena.extract(rest[0], n - 1, n - 1) != bit {
        return None;
    }
    let width = args.iter().map(|arg| arena.width(*arg)).sum();
    let rest = arena.concat_all(rest);
    Some(arena.sext(rest, width))
}

fn extended_width(op: Op) -> u16 {
    match op {
        Op::Zext(width) | Op::Sext(width) => width,
        other => unreachable!("{other:?} is no extension"),
    }
}

fn zext_zext(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    matches!(arena.op(args[0]), Op::Zext(_)).then(|| {
        let inner = arena.arg(args[0], 0);
        arena.make(op, &[inner])
    })
}

fn sext_sext(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    matches!(arena.op(args[0]), Op::Sext(_)).then(|| {
        let inner = arena.arg(args[0], 0);
        arena.make(op, &[inner])
    })
}

/// The sign extension of a number whose sign bit is zero is its zero extension.
fn sext_nonnegative(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    (view::leading_zeros(arena, args[0]) > 0).then(|| arena.zext(args[0], extended_width(op)))
}

/// As for zero extension.
fn sext_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if arena.width(args[0]) == 1 {
        // Sums refer to copies of a bit through the zero-extended bit: it must exist.
        arena.zext(args[0], extended_width(op));
    }
    extend_choice(arena, op, args)
}

/// Extensions enter choices between constants.
fn extend_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if arena.op(args[0]) != Op::Ite && !matches!(arena.op(args[0]), Op::Add | Op::Mul) {
        return None;
    }
    let (c, a, b) = view::two_valued(arena, args[0])?;
    let width = extended_width(op);
    let (a, b) = match op {
        Op::Zext(_) => (a.zext(width), b.zext(width)),
        _ => (a.sext(width), b.sext(width)),
    };
    let (a, b) = (arena.constant(a), arena.constant(b));
    Some(arena.ite(c, a, b))
}

/// Copies of one bit, zero-extended, are a choice between zero and a mask.
fn zext_sign_bits(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let bit = view::repeated_bit(arena, args[0])?;
    let (n, width) = (arena.width(args[0]), extended_width(op));
    let mask = arena.constant(Bits::ones(n).zext(width));
    let one = arena.zext(bit, width);
    Some(arena.mul(one, mask))
}

/// The low part of a number whose high part is zero is the number.
fn zext_low_part(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo: 0 } = arena.op(args[0]) else { return None };
    let whole = arena.arg(args[0], 0);
    let n = arena.width(whole);
    if n - view::leading_zeros(arena, whole) > hi + 1 {
        return None;
    }
    let width = extended_width(op);
    Some(if width >= n { arena.zext(whole, width) } else { arena.truncate(whole, width) })
}

/// The low part of a number that is its sign extension anyway is the number.
fn sext_low_part(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo: 0 } = arena.op(args[0]) else { return None };
    let whole = arena.arg(args[0], 0);
    if view::signed_bits(arena, whole) > hi + 1 {
        return None;
    }
    let (n, width) = (arena.width(whole), extended_width(op));
    Some(if width >= n { arena.sext(whole, width) } else { arena.truncate(whole, width) })
}

/// A sum that cannot overflow may be computed in the wider type.
fn zext_sum(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if !matches!(arena.op(args[0]), Op::Add | Op::Mul) {
        return None;
    }
    let n = arena.width(args[0]);
    let sum = Linear::of(arena, args[0]);
    // Every partial sum of the terms' largest values must stay below 2^n.
    let wide = 2 * n + 16;
    if wide > 512 || sum.terms.len() >= 1 << 16 {
        return None;
    }
    let mut largest = sum.constant.zext(wide);
    for (term, c) in &sum.terms {
        let bits = n - view::leading_zeros(arena, *term);
        let most = if bits == 0 { Bits::zero(wide) } else { Bits::ones(bits).zext(wide) };
        largest = largest.add(most.mul(c.zext(wide)));
    }
    if !largest.lshr(Bits::new(16, u64::from(n))).is_zero() {
        return None;
    }
    let width = extended_width(op);
    let mut out = Linear::zero(width);
    out.constant = sum.constant.zext(width);
    for (term, c) in &sum.terms {
        let term = arena.zext(*term, width);
        out.add_scaled(arena, term, c.zext(width));
    }
    Some(out.build(arena))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::Sort;
    use expect_test::expect;

    #[test]
    fn thirty_two_bit_arithmetic_in_wide_registers() {
        gives(
            |a| {
                let (rdi, rsi) = (a.var("rdi", Sort::Bv(64)), a.var("rsi", Sort::Bv(64)));
                let sum = a.add(rdi, rsi);
                let sum = a.add_const(sum, 1 << 40 | 7);
                let low = a.truncate(sum, 32);
                a.zext(low, 64)
            },
            expect!["zext64(rdi[31:0] + rsi[31:0] + 7)"],
        );
    }

    #[test]
    fn pieces_join() {
        gives(
            |a| {
                let x = words(a).0;
                let (high, low) = (a.extract(x, 31, 16), a.extract(x, 15, 0));
                a.concat(high, low)
            },
            expect!["x"],
        );
        gives(
            |a| {
                let x = words(a).0;
                let shift = a.bv(32, 31);
                let sign = a.ashr(x, shift);
                a.concat(sign, x)
            },
            expect!["sext64(x)"],
        );
        gives(
            |a| {
                let (memory, rdi) = (a.var("mem", Sort::Memory), a.var("rdi", Sort::Bv(64)));
                let mut value = a.bv(32, 0);
                for i in 0..4 {
                    let address = a.add_const(rdi, i);
                    let byte = a.load(memory, address, 1);
                    let (byte, shift) = (a.zext(byte, 32), a.bv(32, 8 * i as u64));
                    let byte = a.shl(byte, shift);
                    value = a.or(value, byte);
                }
                value
            },
            expect!["mem[rdi, 4]"],
        );
    }

    #[test]
    fn extensions_move_outside_or_vanish() {
        gives(
            |a| {
                let x = words(a).0;
                let wide = a.zext(x, 64);
                a.sext(wide, 128)
            },
            expect!["zext128(x)"],
        );
        gives(
            |a| {
                let c = a.var("c", Sort::Bv(8));
                let word = a.zext(c, 32);
                let four = a.bv(32, 4);
                let index = a.mul(word, four);
                a.sext(index, 64)
            },
            expect!["4*zext64(c)"],
        );
    }
}
