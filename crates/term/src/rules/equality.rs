//! Equality.
//!
//! Over truth values: nested equivalences are sums modulo two; operands that occur twice cancel and negations move
//! outside. That is what turns `SF ≠ OF` back into the comparison it came from. Over bit vectors: both sides are one
//! linear form that is compared with zero; its terms with negative coefficients and its constant stand on the right.

use super::interval::{self, Set};
use super::{FOLD, Rule, bit_set, division, rule, view};
use crate::{Arena, Bits, Linear, Op, Sort, TermId};
use smallvec::SmallVec;

/// Rules for equality of truth values.
pub(super) const IFF: &[Rule] = &[FOLD, rule("iff-cancel", iff_cancel)];

/// Rules for equality of memories.
pub(super) const MEMORY: &[Rule] = &[rule("eq-same", eq_same)];

/// Rules for equality of bit vectors.
pub(super) const EQ: &[Rule] = &[
    FOLD,
    rule("eq-same", eq_same),
    rule("eq-constant-last", eq_constant_last),
    rule("eq-constant", eq_constant),
    rule("eq-one-bit", eq_one_bit),
    rule("eq-extended", eq_extended),
    rule("eq-xor", eq_xor),
    rule("eq-or-zero", eq_or_zero),
    rule("eq-no-bit", bit_set::eq_no_bit),
    rule("eq-concat", eq_concat),
    rule("eq-choice", eq_choice),
    rule("eq-quotient-fits", division::eq_quotient_fits),
    rule("eq-linear", eq_linear),
];

/// Equivalences of more operands than this are left alone.
const MAX_IFF: usize = 16;

fn eq_same(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (args[0] == args[1]).then(|| arena.bool(true))
}

/// The operands of nested equivalences, pairs cancelled, and whether the whole is negated.
fn iff_cancel(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let mut negated = false;
    let mut parts: SmallVec<[TermId; 8]> = SmallVec::new();
    let mut todo: SmallVec<[TermId; 8]> = args.into();
    while let Some(term) = todo.pop() {
        match arena.op(term) {
            Op::True => {}
            Op::False => negated = !negated,
            Op::Not => {
                negated = !negated;
                todo.push(arena.arg(term, 0));
            }
            Op::Eq if arena.sort(arena.arg(term, 0)) == Sort::Bool && parts.len() + todo.len() < MAX_IFF => {
                todo.extend_from_slice(arena.args(term));
            }
            _ => match parts.iter().position(|t| *t == term) {
                Some(i) => {
                    parts.swap_remove(i);
                }
                None => parts.push(term),
            },
        }
    }
    // A negated junction is a junction again: choose the one that was made first.
    for part in &mut parts {
        let opposite = arena.bool_not(*part);
        if opposite < *part {
            *part = opposite;
            negated = !negated;
        }
    }
    // The opposite may even be a constant.
    parts.retain(|part| {
        let value = arena.as_bool(*part);
        negated ^= value == Some(false);
        value.is_none()
    });
    parts.sort_unstable();
    let mut left: SmallVec<[TermId; 8]> = SmallVec::new();
    for part in parts {
        if left.last() == Some(&part) {
            left.pop();
        } else {
            left.push(part)
        }
    }
    let same = match left[..] {
        [] => arena.bool(true),
        [one] => one,
        [first, ref rest @ ..] => rest.iter().fold(first, |sum, t| arena.raw(Op::Eq, &[sum, *t])),
    };
    Some(if negated { arena.bool_not(same) } else { same })
}

fn eq_constant_last(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    arena.as_const(args[0]).is_some().then(|| arena.make(op, &[args[1], args[0]]))
}

/// `x = c` as a statement about the part of `x` that decides it.
fn eq_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    if c.width() == 1 && c.is_zero() {
        let one = arena.bv(1, 1);
        let is_one = arena.make(op, &[args[0], one]);
        return Some(arena.bool_not(is_one));
    }
    Some(interval::member(arena, args[0], Set::range(c, c)))
}

/// Equality of two single bits that are choices or tests is an equivalence.
fn eq_one_bit(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if arena.width(args[0]) != 1 || arena.as_const(args[1]).is_some() {
        return None;
    }
    let (a, b) = (arena.bit(args[0], 0), arena.bit(args[1], 0));
    Some(arena.eq(a, b))
}

fn eq_extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b) = view::same_extension(arena, args[0], args[1])?;
    Some(arena.make(op, &[a, b]))
}

/// `a ^ b = 0` is `a = b`; `a ^ k = c` is `a = k ^ c`; `a ^ b = a` is `b = 0`.
fn eq_xor(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        if arena.op(x) != Op::BvXor {
            continue;
        }
        let (a, b) = (arena.arg(x, 0), arena.arg(x, 1));
        match (arena.as_const(other), arena.as_const(b)) {
            (Some(c), _) if c.is_zero() => return Some(arena.make(op, &[a, b])),
            (Some(c), Some(k)) => {
                let c = arena.constant(c.xor(k));
                return Some(arena.make(op, &[a, c]));
            }
            _ => {}
        }
        let rest = if other == a {
            b
        } else if other == b {
            a
        } else {
            continue;
        };
        let zero = arena.constant(Bits::zero(arena.width(rest)));
        return Some(arena.make(op, &[rest, zero]));
    }
    None
}

/// `a | b = 0` is `a = 0 ∧ b = 0`.
fn eq_or_zero(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if arena.op(args[0]) != Op::BvOr || !arena.as_const(args[1])?.is_zero() {
        return None;
    }
    let (a, b) = (arena.arg(args[0], 0), arena.arg(args[0], 1));
    let (a, b) = (arena.make(op, &[a, args[1]]), arena.make(op, &[b, args[1]]));
    Some(arena.bool_and(a, b))
}

/// Equality with a concatenation, part by part, when the other side splits at the same place.
fn eq_concat(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let splits = |arena: &Arena, t: TermId| matches!(arena.op(t), Op::Concat | Op::Zext(_) | Op::Const(_));
    let (a, b) = (args[0], args[1]);
    if !splits(arena, a) || !splits(arena, b) {
        return None;
    }
    let low_width = |arena: &Arena, t: TermId| match arena.op(t) {
        Op::Concat => Some(arena.width(*arena.args(t).last().expect("operands"))),
        Op::Zext(_) => Some(arena.width(arena.arg(t, 0))),
        _ => None,
    };
    let low = match (low_width(arena, a), low_width(arena, b)) {
        (Some(x), Some(y)) if x == y => x,
        (Some(x), None) | (None, Some(x)) => x,
        _ => return None,
    };
    let top = arena.width(a) - 1;
    let (high_a, high_b) = (arena.extract(a, top, low), arena.extract(b, top, low));
    let (low_a, low_b) = (arena.truncate(a, low), arena.truncate(b, low));
    let high = arena.make(op, &[high_a, high_b]);
    let low = arena.make(op, &[low_a, low_b]);
    Some(arena.bool_and(high, low))
}

/// Equality with a choice between constants is a choice between truth values if the other side is such a choice too;
/// choices by the same condition are compared branch by branch; `ite(c, x, y) = x` is `c ∨ x = y`.
fn eq_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        let (kind, parts) = view::open(arena, x);
        if kind != Op::Ite {
            continue;
        }
        let (c, a, b) = (parts[0], parts[1], parts[2]);
        if arena.op(other) == Op::Ite {
            let (d, p, q) = (arena.arg(other, 0), arena.arg(other, 1), arena.arg(other, 2));
            let constant = |t: TermId| arena.as_const(t).is_some();
            if c == d {
                let (yes, no) = (arena.make(op, &[a, p]), arena.make(op, &[b, q]));
                return Some(arena.ite(c, yes, no));
            }
            if constant(a) && constant(b) && constant(p) && constant(q) {
                let (yes, no) = (arena.make(op, &[other, a]), arena.make(op, &[other, b]));
                return Some(arena.ite(c, yes, no));
            }
        }
        if other == a {
            let same = arena.make(op, &[b, a]);
            return Some(arena.bool_or(c, same));
        }
        if other == b {
            let same = arena.make(op, &[a, b]);
            let not_c = arena.bool_not(c);
            return Some(arena.bool_or(not_c, same));
        }
    }
    None
}

/// `Σ cᵢ·tᵢ + c = 0`: common factors are divided out, the first term gets a positive coefficient, negative terms and
/// the constant move to the right.
fn eq_linear(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if !Linear::is_sum(arena, args[0]) && !Linear::is_sum(arena, args[1]) {
        return (args[1] < args[0]).then(|| arena.eq(args[1], args[0]));
    }
    let width = arena.width(args[0]);
    let one = Bits::new(width, 1);
    let mut sum = Linear::zero(width);
    sum.add_scaled(arena, args[0], one);
    sum.add_scaled(arena, args[1], one.neg());
    if let Some(c) = sum.as_const() {
        return Some(arena.bool(c.is_zero()));
    }
    // The difference may be a remainder, or something else that sums hide.
    let built = sum.build(arena);
    if Linear::of(arena, built) != sum {
        let zero = arena.constant(Bits::zero(width));
        return Some(arena.eq(built, zero));
    }
    // A common power of two: the equality only concerns the low bits of the rest.
    let twos = sum.terms.iter().map(|(_, c)| c.trailing_zeros()).min().unwrap_or(0);
    if twos > 0 {
        if sum.constant.trailing_zeros() < twos {
            return Some(arena.bool(false));
        }
        let by = Bits::new(16, u64::from(twos));
        sum.terms.iter_mut().for_each(|(_, c)| *c = c.ashr(by));
        sum.constant = sum.constant.lshr(by);
        let rest = sum.build(arena);
        let rest = arena.truncate(rest, width - twos);
        let zero = arena.constant(Bits::zero(width - twos));
        return Some(arena.eq(rest, zero));
    }
    if let [(_, c)] = sum.terms[..]
        && c != one
    {
        sum = sum.scaled(inverse(c));
    } else if let Some(odd) = common_odd_factor(&sum) {
        let inverse = inverse(odd);
        sum = sum.scaled(inverse);
    }
    let negative = sum.terms.iter().find(|(_, c)| *c != interval::signed_min(width)).is_some_and(|(_, c)| c.sign());
    if negative {
        sum = sum.scaled(one.neg());
    }
    let mut right = Linear::zero(width);
    right.constant = sum.constant.neg();
    sum.constant = Bits::zero(width);
    let mut left = Linear::zero(width);
    for (term, c) in sum.terms {
        if c.sign() && c != interval::signed_min(width) {
            right.terms.push((term, c.neg()))
        } else {
            left.terms.push((term, c))
        }
    }
    let (left, right) = (left.build(arena), right.build(arena));
    if [left, right] == args {
        return None;
    }
    Some(arena.eq(left, right))
}

/// The odd number by which all coefficients are divisible as signed numbers, if it is not one.
fn common_odd_factor(sum: &Linear) -> Option<Bits> {
    let mut factor = 0u64;
    for (_, c) in &sum.terms {
        let size = c.to_i64()?.unsigned_abs();
        let (mut a, mut b) = (factor, size);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        factor = a;
    }
    factor >>= factor.trailing_zeros();
    (factor > 1).then(|| Bits::new(sum.constant.width(), factor))
}

/// The multiplicative inverse of an odd number modulo 2^w (Newton's iteration doubles the correct bits).
pub(super) fn inverse(odd: Bits) -> Bits {
    let width = odd.width();
    let two = Bits::new(width, 1).add(Bits::new(width, 1));
    let mut inverse = odd;
    for _ in 0..9 {
        inverse = inverse.mul(two.sub(odd.mul(inverse)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, truths, words};
    use crate::Sort;
    use expect_test::expect;

    #[test]
    fn sums_are_compared_in_one_linear_form() {
        gives(
            |a| {
                let (x, y) = words(a);
                let (left, right) = (a.add_const(x, 3), a.add_const(y, 5));
                a.eq(right, left)
            },
            expect!["x == y + 2"],
        );
        gives(
            |a| {
                let (x, six) = (words(a).0, a.bv(32, 6));
                let three = a.bv(32, 3);
                let left = a.mul(x, three);
                a.eq(left, six)
            },
            expect!["x == 2"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let eight = a.bv(32, 8);
                let (left, right) = (a.mul(x, eight), a.mul(y, eight));
                a.eq(left, right)
            },
            expect!["x[28:0] == y[28:0]"],
        );
        gives(
            |a| {
                let (x, four) = (words(a).0, a.bv(32, 4));
                let (left, one) = (a.mul(x, four), a.bv(32, 1));
                a.eq(left, one)
            },
            expect!["false"],
        );
    }

    #[test]
    fn bits_have_one_test() {
        gives(
            |a| {
                let (x, mask) = (words(a).0, a.bv(32, 8));
                let (masked, zero) = (a.and(x, mask), a.bv(32, 0));
                a.ne(masked, zero)
            },
            expect!["x[3] == 1"],
        );
        gives(
            |a| {
                let x = words(a).0;
                a.bit(x, 31)
            },
            expect!["x <s 0"],
        );
        gives(
            |a| {
                let c = a.var("c", Sort::Bv(8));
                let (wide, k) = (a.zext(c, 32), a.bv(32, 300));
                a.eq(wide, k)
            },
            expect!["false"],
        );
    }

    #[test]
    fn equivalences_cancel() {
        gives(
            |a| {
                let (p, q) = truths(a);
                let not_q = a.bool_not(q);
                let inner = a.bool_xor(p, not_q);
                a.bool_xor(inner, p)
            },
            expect!["!q"],
        );
    }
}
