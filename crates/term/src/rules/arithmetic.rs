//! Sums and products: one canonical linear form ([`Linear`]), and the few idioms in which sums hide something else.

use super::{FOLD, Rule, division, magic, rule, view};
use crate::{Arena, Bits, Linear, Op, TermId};
use smallvec::SmallVec;

/// Rules for sums.
pub(super) const ADD: &[Rule] = &[
    FOLD,
    rule("sum", sum),
    rule("sum-rotated", sum_rotated),
    rule("sum-pieces", sum_pieces),
    rule("sum-aligned", sum_aligned),
    rule("sum-signed-product", sum_signed_product),
    rule("sum-choice", sum_choice),
    rule("sum-signed-quotient", magic::sum_signed_quotient),
    rule("sum-remainder", division::sum_remainder),
];

/// Rules for products.
pub(super) const MUL: &[Rule] = &[
    FOLD,
    rule("product-order", product_order),
    rule("product-constant", product_constant),
    rule("product-low-bits", product_low_bits),
    rule("product-repeated", product_repeated),
    rule("product-factor", product_factor),
    rule("product-choice", product_choice),
];

/// The canonical linear form.
fn sum(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if is_canonical_sum(arena, args) {
        return None;
    }
    let width = arena.width(args[0]);
    let one = Bits::new(width, 1);
    let mut sum = Linear::zero(width);
    for arg in args {
        sum.add_scaled(arena, *arg, one);
    }
    let canonical = sum.build(arena);
    (arena.op(canonical) != Op::Add || arena.args(canonical) != args).then_some(canonical)
}

/// Are these operands what [`Linear::build`] would produce? Must never say yes wrongly; no is always right.
fn is_canonical_sum(arena: &Arena, args: &[TermId]) -> bool {
    let terms = match args.split_last() {
        Some((last, rest)) => match arena.as_const(*last) {
            Some(c) if !c.is_zero() => rest,
            Some(_) => return false,
            None => args,
        },
        None => return false,
    };
    let mut previous = None;
    for term in terms {
        let atom = match arena.op(*term) {
            Op::Mul if arena.as_const(arena.arg(*term, 1)).is_some() => arena.arg(*term, 0),
            _ => *term,
        };
        if Linear::is_sum(arena, atom) || previous.is_some_and(|p| p >= atom) {
            return false;
        }
        previous = Some(atom);
    }
    // A single term must have its complement form, if any, checked.
    terms.len() > 1 || (terms.len() == 1 && arena.op(terms[0]) != Op::Mul)
}

/// Terms shifted so that no two of them have a common one bit are pieces of one number.
fn sum_pieces(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > 16 {
        return None;
    }
    let width = arena.width(args[0]);
    let mut ranges: SmallVec<[(u16, u16, TermId); 8]> = SmallVec::new();
    for arg in args {
        let low = match (arena.op(*arg), arena.as_const(*arg)) {
            (_, Some(_)) => return None,
            (Op::Zext(_) | Op::Concat, _) => 0,
            (Op::Mul, _) => match arena.as_const(arena.arg(*arg, 1)) {
                Some(c) if c.count_ones() == 1 => c.trailing_zeros(),
                _ => return None,
            },
            _ => return None,
        };
        let high = width - view::leading_zeros(arena, *arg);
        if arena.op(*arg) == Op::Mul && high == width {
            let (x, k) = (arena.arg(*arg, 0), low);
            // The product may have lost high bits: then it is no piece.
            if view::leading_zeros(arena, x) < k {
                return None;
            }
        }
        ranges.push((low, high, *arg));
    }
    ranges.sort_unstable();
    if ranges.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return None;
    }
    let mut parts: SmallVec<[TermId; 8]> = SmallVec::new();
    let mut end = width;
    for (low, high, term) in ranges.into_iter().rev() {
        if end > high {
            parts.push(arena.constant(Bits::zero(end - high)));
        }
        if high > low {
            parts.push(arena.extract(term, high - 1, low));
        }
        end = low;
    }
    if end > 0 {
        parts.push(arena.constant(Bits::zero(end)));
    }
    Some(arena.concat_all(&parts))
}

/// `2^k·x + (x >> (w − k))` is a rotation.
fn sum_rotated(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let [a, b] = *args else { return None };
    for (shifted, rest) in [(a, b), (b, a)] {
        if arena.op(shifted) != Op::Mul {
            continue;
        }
        let Some(factor) = arena.as_const(arena.arg(shifted, 1)).filter(|c| c.count_ones() == 1) else { continue };
        let (x, k, width) = (arena.arg(shifted, 0), factor.trailing_zeros(), factor.width());
        let high = arena.extract(x, width - 1, width - k);
        if arena.zext(high, width) != rest {
            continue;
        }
        let low = arena.extract(x, width - 1 - k, 0);
        return Some(arena.concat(low, high));
    }
    None
}

/// `y − 2^k·(y >> k)` is the low part of `y`, also when `y`'s terms are spread over the sum.
fn sum_aligned(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    for arg in args {
        if arena.op(*arg) != Op::Mul {
            continue;
        }
        let (high, factor) = (arena.arg(*arg, 0), arena.as_const(arena.arg(*arg, 1))?);
        let Op::Zext(_) = arena.op(high) else { continue };
        let part = arena.arg(high, 0);
        let Op::Extract { hi, lo: k } = arena.op(part) else { continue };
        if hi + 1 > width || k == 0 || factor.trailing_zeros() < k {
            continue;
        }
        let y = arena.extract(arena.arg(part, 0), hi, 0);
        let y = arena.zext(y, width);
        // factor = −m·2^k: then factor·high = m·(low part of y) − m·y.
        let m = factor.neg().ashr(Bits::new(16, u64::from(k)));
        let whole = Linear::of(arena, arena.lookup(op, args)?);
        let inner = Linear::of(arena, y);
        let (first, c) = *inner.terms.first()?;
        let cancels = whole.terms.iter().any(|(t, e)| *t == first && *e == c.mul(m));
        if !cancels {
            continue;
        }
        let mut out = whole;
        out.add_scaled(arena, high, factor.neg());
        out.add_scaled(arena, y, m.neg());
        let low = arena.truncate(y, k);
        let low = arena.zext(low, width);
        out.add_scaled(arena, low, m);
        return Some(out.build(arena));
    }
    None
}

/// The high half of an unsigned product, corrected for negative operands, is that of the signed product.
fn sum_signed_product(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if !args.iter().any(|arg| matches!(arena.op(*arg), Op::Extract { .. })) {
        return None;
    }
    let whole = Linear::of(arena, arena.lookup(op, args)?);
    let n = whole.constant.width();
    for (high, e) in whole.terms.iter() {
        let Op::Extract { hi, lo } = arena.op(*high) else { continue };
        let (kind, factors) = view::open(arena, arena.arg(*high, 0));
        if kind != Op::Mul || lo != n || hi + 1 != 2 * n {
            continue;
        }
        let (Op::Zext(_), Op::Zext(_)) = (arena.op(factors[0]), arena.op(factors[1])) else { continue };
        let (x, y) = (arena.arg(factors[0], 0), arena.arg(factors[1], 0));
        if arena.width(x) != n || arena.width(y) != n || arena.width(factors[0]) != 2 * n {
            continue;
        }
        let mut out = whole.clone();
        out.terms.retain(|(t, _)| t != high);
        let mut corrected = 0;
        for (a, b) in [(x, y), (y, x)] {
            let zero = arena.constant(Bits::zero(n));
            let (negative, minus) = (arena.slt(a, zero), arena.neg(b));
            let (plain, opposite) = (arena.ite(negative, b, zero), arena.ite(negative, minus, zero));
            let before = out.terms.len();
            out.terms.retain(|(t, c)| !((*t == plain && *c == e.neg()) || (*t == opposite && c == e)));
            corrected += before - out.terms.len();
        }
        if corrected != 2 {
            continue;
        }
        let (x, y) = (arena.sext(x, 2 * n), arena.sext(y, 2 * n));
        let product = arena.mul(x, y);
        let signed = arena.extract(product, 2 * n - 1, n);
        out.add_scaled(arena, signed, *e);
        return Some(out.build(arena));
    }
    None
}

/// `ite(c, x, y) + m·[c] = ite(c, x + m, y)`, the condition's bit `[c]` being in the same sum.
fn sum_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let one = Bits::new(width, 1);
    if !args.iter().any(|arg| arena.op(*arg) == Op::Ite || arena.op(*arg) == Op::Mul) {
        return None;
    }
    let whole = Linear::of(arena, arena.lookup(op, args)?);
    for (choice, e) in whole.terms.iter() {
        if arena.op(*choice) != Op::Ite || (*e != one && *e != one.neg()) {
            continue;
        }
        let (c, x, y) = (arena.arg(*choice, 0), arena.arg(*choice, 1), arena.arg(*choice, 2));
        if arena.as_const(x).is_some() && arena.as_const(y).is_some() {
            continue;
        }
        let bit = arena.bool_to_bv(c, width);
        let Some((_, m)) = whole.terms.iter().find(|(t, _)| *t == bit) else { continue };
        let m = m.mul(*e);
        let m = arena.constant(m);
        let x = arena.add(x, m);
        let merged = arena.ite(c, x, y);
        let mut out = whole.clone();
        out.terms.retain(|(t, _)| t != choice && *t != bit);
        out.add_scaled(arena, merged, *e);
        return Some(out.build(arena));
    }
    None
}

fn product_order(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let wrong = match (arena.as_const(args[0]), arena.as_const(args[1])) {
        (Some(_), _) => true,
        (None, None) => args[1] < args[0],
        (None, Some(_)) => false,
    };
    wrong.then(|| arena.make(op, &[args[1], args[0]]))
}

/// A constant factor is distributed over sums and choices between constants; zero, one, and minus one times a bit.
fn product_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let width = c.width();
    if c.is_zero() {
        return Some(args[1]);
    }
    if c == Bits::new(width, 1) {
        return Some(args[0]);
    }
    if let (Op::Ite, parts) = view::open(arena, args[0])
        && let (Some(a), Some(b)) = (arena.as_const(parts[1]), arena.as_const(parts[2]))
    {
        let (a, b) = (arena.constant(a.mul(c)), arena.constant(b.mul(c)));
        return Some(arena.ite(parts[0], a, b));
    }
    if c.is_ones()
        && let Some(bit) = view::extended_bit(arena, args[0])
    {
        return Some(arena.sext(bit, width));
    }
    if !Linear::is_sum(arena, args[0]) {
        return None;
    }
    let product = Linear::of(arena, args[0]).scaled(c).build(arena);
    (arena.op(product) != op || arena.args(product) != args).then_some(product)
}

/// A factor with k low zero bits makes the k high bits of the other factor irrelevant.
fn product_low_bits(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let k = arena.as_const(args[1])?.trailing_zeros();
    let width = arena.width(args[0]);
    if k > 0 && arena.op(args[0]) == Op::Concat {
        return without_high_pieces(arena, args[0], k).map(|rest| arena.make(op, &[rest, args[1]]));
    }
    let (kind, inner) = view::open(arena, args[0]);
    if k == 0 || !matches!(kind, Op::Zext(_) | Op::Sext(_)) || arena.width(inner[0]) < width - k {
        return None;
    }
    if let Op::Extract { lo: 0, .. } = arena.op(inner[0]) {
        let whole = arena.arg(inner[0], 0);
        if arena.width(whole) >= width {
            let whole = arena.truncate(whole, width);
            return Some(arena.make(op, &[whole, args[1]]));
        }
    }
    if kind == Op::Sext(width) {
        let other = arena.zext(inner[0], width);
        return Some(arena.make(op, &[other, args[1]]));
    }
    None
}

/// `0x01010101 · x`, with a byte `x`, is that byte four times: what compilers fill memory with.
fn product_repeated(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let (Op::Zext(width), [piece]) = (arena.op(args[0]), arena.args(args[0])) else { return None };
    let (piece, width) = (*piece, width);
    let n = arena.width(piece);
    if n < 8 || width > 64 || !width.is_multiple_of(n) || width == n {
        return None;
    }
    let times = width / n;
    let repeated = (0..times).fold(0, |sum, i| sum | 1u64 << (i * n));
    (c.to_u64() == Some(repeated)).then(|| arena.concat_all(&vec![piece; usize::from(times)]))
}

/// A concatenation with zeros in place of the pieces that lie in its k high bits, if there are any.
fn without_high_pieces(arena: &mut Arena, whole: TermId, k: u16) -> Option<TermId> {
    let pieces: SmallVec<[TermId; 8]> = arena.args(whole).into();
    let mut dropped = 0;
    let mut high = 0;
    while let Some(piece) = pieces.get(dropped)
        && high + arena.width(*piece) <= k
    {
        high += arena.width(*piece);
        dropped += 1;
    }
    let zeros = pieces[..dropped].iter().all(|piece| arena.as_const(*piece).is_some_and(Bits::is_zero));
    if zeros || dropped == pieces.len() {
        return None;
    }
    let rest = arena.concat_all(&pieces[dropped..]);
    Some(arena.zext(rest, arena.width(whole)))
}

/// Constant factors of the operands move outside.
fn product_factor(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if arena.as_const(args[1]).is_some() {
        return None;
    }
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        if arena.op(x) == Op::Mul && arena.as_const(arena.arg(x, 1)).is_some() {
            let (inner, c) = (arena.arg(x, 0), arena.arg(x, 1));
            let rest = arena.make(op, &[inner, other]);
            return Some(arena.make(op, &[rest, c]));
        }
    }
    None
}

/// A product with a choice between zero and a constant is a choice.
fn product_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if arena.as_const(args[1]).is_some() {
        return None;
    }
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        let Some((c, a, b)) = view::two_valued(arena, x) else { continue };
        if !a.is_zero() && !b.is_zero() {
            continue;
        }
        let (a, b) = (arena.constant(a), arena.constant(b));
        let (a, b) = (arena.make(op, &[other, a]), arena.make(op, &[other, b]));
        return Some(arena.ite(c, a, b));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::{Arena, TermId};
    use expect_test::expect;

    /// Four times, or twice, two bits of y in front of thirty of x.
    fn product(arena: &mut Arena, factor: u64) -> TermId {
        let (x, y) = words(arena);
        let (high, low) = (arena.extract(y, 9, 8), arena.extract(x, 30, 1));
        let (whole, factor) = (arena.concat(high, low), arena.bv(32, factor));
        arena.mul(whole, factor)
    }

    #[test]
    fn pieces_above_a_product_are_dropped() {
        gives(|a| product(a, 4), expect!["4*zext32(x[30:1])"]);
        // One of the two bits is still there.
        gives(|a| product(a, 2), expect!["2*(y[9:8] ++ x[30:1])"]);
    }
}
