//! Unsigned and signed less-than.
//!
//! A comparison with a constant is a statement about a set ([`interval`]); a comparison of two extended terms is one
//! of the terms before extension.

use super::interval::{self, Set, signed_min};
use super::{FOLD, Rule, divisible, rule, view};
use crate::{Arena, Bits, Linear, Op, TermId};

/// Rules for unsigned less-than.
pub(super) const ULT: &[Rule] = &[
    FOLD,
    rule("less-same", less_same),
    rule("ult-divisible", divisible::ult_divisible),
    rule("less-constant", less_constant),
    rule("ult-offset", ult_offset),
    rule("less-aligned", less_aligned),
    rule("ult-extended", ult_extended),
    rule("less-choice", less_choice),
];

/// Rules for signed less-than.
pub(super) const SLT: &[Rule] = &[
    FOLD,
    rule("less-same", less_same),
    rule("less-constant", less_constant),
    rule("slt-offset", slt_offset),
    rule("less-aligned", less_aligned),
    rule("slt-extended", slt_extended),
    rule("slt-flipped", slt_flipped),
    rule("slt-nonnegative", slt_nonnegative),
    rule("less-choice", less_choice),
];

fn less_same(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (args[0] == args[1]).then(|| arena.bool(false))
}

/// `x < c` and `c < x` in the canonical form of the set of such `x`.
fn less_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let below = if op == Op::Ult { Set::below } else { Set::signed_below };
    if let Some(c) = arena.as_const(args[1]) {
        let out = interval::member(arena, args[0], below(c));
        return Some(out);
    }
    // c < x is not x < c + 1, and false for the largest c.
    let c = arena.as_const(args[0])?;
    let next = c.add(Bits::new(c.width(), 1));
    let largest = if op == Op::Ult { Bits::ones(c.width()) } else { signed_min(c.width()).not() };
    if c == largest {
        return Some(arena.bool(false));
    }
    let not_above = interval::member(arena, args[1], below(next));
    Some(arena.bool_not(not_above))
}

/// `b + c <u b` says that the sum overflows, `b <u b + c` that it does not (c ≠ 0).
fn ult_offset(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.difference(args[0], args[1])?;
    if c.is_zero() {
        return Some(arena.bool(false));
    }
    // Which operand is the base does not matter: a = b + c and b = a − c.
    let overflow = Set::range(c.neg(), Bits::ones(c.width()));
    Some(interval::member(arena, args[1], overflow))
}

/// `b + c <s b`: for c > 0 the sum overflows, b > max − c; for c < 0 it does not, b >= min − c.
fn slt_offset(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.difference(args[0], args[1])?;
    if c.is_zero() {
        return Some(arena.bool(false));
    }
    let min = signed_min(c.width());
    Some(interval::member(arena, args[1], Set::range(min.sub(c), min.not())))
}

/// `2^k·(y >> k) + j` and `y` differ in their lowest k bits only, where j < 2^k: these decide, whatever the sign.
fn less_aligned(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    for (i, arg) in args.iter().enumerate() {
        let Some((y, low, rest)) = view::aligned(arena, *arg) else { continue };
        if y == args[1 - i] {
            return Some(if i == 0 { arena.ult(rest, low) } else { arena.ult(low, rest) });
        }
    }
    None
}

/// Extensions keep the unsigned order.
fn ult_extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b) = view::same_extension(arena, args[0], args[1])?;
    Some(arena.make(op, &[a, b]))
}

/// Sign extension keeps the signed order; zero-extended numbers compare as unsigned ones.
fn slt_extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let zero = matches!(arena.op(args[0]), Op::Zext(_));
    let (a, b) = view::same_extension(arena, args[0], args[1])?;
    Some(arena.make(if zero { Op::Ult } else { op }, &[a, b]))
}

/// With both signs flipped numbers compare as unsigned ones: how vectors are compared that have no such instruction.
fn slt_flipped(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b) = (without_flip(arena, args[0])?, without_flip(arena, args[1])?);
    Some(arena.ult(a, b))
}

/// The number of which this one differs in the sign bit only, by a sum or by exclusive or.
fn without_flip(arena: &mut Arena, term: TermId) -> Option<TermId> {
    let min = signed_min(arena.width(term));
    if arena.op(term) == Op::BvXor {
        let parts = arena.args(term).to_vec();
        let at = parts.iter().position(|part| arena.as_const(*part) == Some(min))?;
        let rest = parts.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, part)| *part);
        return rest.reduce(|x, y| arena.xor(x, y));
    }
    let mut sum = Linear::of(arena, term);
    if sum.constant != min || sum.terms.is_empty() {
        return None;
    }
    sum.constant = Bits::zero(min.width());
    Some(sum.build(arena))
}

/// Two numbers whose sign bits are zero compare as unsigned ones.
fn slt_nonnegative(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let both = args.iter().all(|arg| view::leading_zeros(arena, *arg) > 0);
    both.then(|| arena.make(Op::Ult, args))
}

/// Comparison of choices by the same condition.
fn less_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b) = (args[0], args[1]);
    if arena.op(a) == Op::Ite && arena.op(b) == Op::Ite && arena.arg(a, 0) == arena.arg(b, 0) {
        let c = arena.arg(a, 0);
        let (a1, a2, b1, b2) = (arena.arg(a, 1), arena.arg(a, 2), arena.arg(b, 1), arena.arg(b, 2));
        let (yes, no) = (arena.make(op, &[a1, b1]), arena.make(op, &[a2, b2]));
        return Some(arena.ite(c, yes, no));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::{Arena, Sort, TermId};
    use expect_test::expect;

    /// CF, ZF, SF, OF of `cmp a, b` as the instruction semantics emit them.
    fn flags(arena: &mut Arena, a: TermId, b: TermId) -> [TermId; 4] {
        let zero = arena.bv(arena.width(a), 0);
        let difference = arena.sub(a, b);
        let (carry, equal) = (arena.ult(a, b), arena.eq(difference, zero));
        let (less, sign) = (arena.slt(a, b), arena.slt(difference, zero));
        let overflow = arena.bool_xor(less, sign);
        [carry, equal, sign, overflow]
    }

    fn jl(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
        let [_, _, sign, overflow] = flags(arena, a, b);
        arena.bool_xor(sign, overflow)
    }

    #[test]
    fn conditions_of_a_comparison_fold_back() {
        gives(
            |a| {
                let (x, y) = words(a);
                jl(a, x, y)
            },
            expect!["x <s y"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let less = jl(a, x, y);
                let [_, equal, ..] = flags(a, x, y);
                a.bool_or(equal, less)
            },
            expect!["y >=s x"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let [carry, equal, ..] = flags(a, x, y);
                let not_above = a.bool_or(carry, equal);
                a.bool_not(not_above)
            },
            expect!["y <u x"],
        );
        gives(
            |a| {
                let (x, five) = (words(a).0, a.bv(32, 5));
                let less = jl(a, x, five);
                let [_, equal, ..] = flags(a, x, five);
                a.bool_or(equal, less)
            },
            expect!["x <s 6"],
        );
    }

    #[test]
    fn setcc_and_test_fold_to_the_condition() {
        gives(
            |a| {
                let (x, y) = words(a);
                let less = jl(a, x, y);
                let al = a.bool_to_bv(less, 8);
                let rax = a.var("rax", Sort::Bv(64));
                let high = a.extract(rax, 63, 8);
                let rax = a.concat(high, al);
                let al = a.truncate(rax, 8);
                let eax = a.zext(al, 32);
                let zero = a.bv(32, 0);
                let masked = a.and(eax, eax);
                a.ne(masked, zero)
            },
            expect!["x <s y"],
        );
    }

    #[test]
    fn comparisons_narrow_to_the_operand_before_extension() {
        gives(
            |a| {
                let c = a.var("c", Sort::Bv(8));
                let (wide, low, nine) = (a.zext(c, 32), a.bv(32, 48), a.bv(32, 9));
                let moved = a.sub(wide, low);
                a.ult(nine, moved)
            },
            expect!["c - 48 >=u 10"],
        );
        gives(
            |a| {
                let (c, d) = (a.var("c", Sort::Bv(8)), a.var("d", Sort::Bv(16)));
                let (c, d) = (a.sext(c, 32), a.sext(d, 32));
                a.slt(c, d)
            },
            expect!["sext16(c) <s d"],
        );
    }

    #[test]
    fn bounds_of_one_term_are_one_comparison() {
        gives(
            |a| {
                let x = words(a).0;
                let (low, high) = (a.bv(32, 48), a.bv(32, 57));
                let (below, above) = (a.slt(x, low), a.slt(high, x));
                a.bool_or(below, above)
            },
            expect!["x - 48 >=u 10"],
        );
        gives(
            |a| {
                let x = words(a).0;
                let (five, six) = (a.bv(32, 5), a.bv(32, 6));
                let (p, q) = (a.eq(x, five), a.eq(x, six));
                a.bool_and(p, q)
            },
            expect!["false"],
        );
        // Near miss: different terms.
        gives(
            |a| {
                let (x, y) = words(a);
                let (five, six) = (a.bv(32, 5), a.bv(32, 6));
                let (p, q) = (a.ult(x, five), a.ult(y, six));
                a.bool_and(p, q)
            },
            expect!["x <u 5 && y <u 6"],
        );
    }

    #[test]
    fn numbers_with_flipped_signs_compare_without() {
        gives(
            |a| {
                let (x, y) = words(a);
                let flip = a.bv(32, 1 << 31);
                let (x, y) = (a.xor(x, flip), a.xor(y, flip));
                a.slt(x, y)
            },
            expect!["x <u y"],
        );
        // One sign only, or another bit.
        gives(
            |a| {
                let (x, y) = words(a);
                let (flip, other) = (a.bv(32, 1 << 31), a.bv(32, 1 << 30));
                let (x, y) = (a.xor(x, flip), a.xor(y, other));
                a.slt(x, y)
            },
            expect!["x ^ 0x80000000 <s y ^ 0x40000000"],
        );
    }
}
