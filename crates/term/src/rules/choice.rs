//! `ite`.
//!
//! The condition is never negated. Choices between truth values are junctions where a branch is constant. Nested
//! choices with a common branch are one choice. Extensions and common parts of the branches move outside; a choice
//! between two constants by a bit is that bit times a constant.

use super::{FOLD, Rule, interval, rule, view};
use crate::{Arena, Bits, Linear, Op, Sort, TermId};
use smallvec::SmallVec;

/// Minima and maxima of more operands than this are left alone.
const MAX_EXTREMUM: usize = 160;

/// Rules for choices.
pub(super) const ITE: &[Rule] = &[
    FOLD,
    rule("ite-decided", decided),
    rule("ite-same", same),
    rule("ite-negated", negated),
    rule("ite-truth", truth),
    rule("ite-repeated", repeated),
    rule("ite-merge", merge),
    rule("ite-equal", equal),
    rule("ite-extremum", extremum),
    rule("ite-extremum-chain", extremum_chain),
    rule("ite-clamp", clamp),
    rule("ite-bit", bit),
    rule("ite-extended", extended),
    rule("ite-offset", offset),
    rule("ite-store", store),
];

fn decided(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    arena.as_bool(args[0]).map(|c| if c { args[1] } else { args[2] })
}

fn same(_: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (args[1] == args[2]).then_some(args[1])
}

/// Of a condition and its negation the one that was made first is used.
fn negated(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let opposite = arena.bool_not(args[0]);
    (opposite < args[0]).then(|| arena.make(op, &[opposite, args[2], args[1]]))
}

fn truth(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let (c, a, b) = (args[0], args[1], args[2]);
    if arena.sort(a) != Sort::Bool {
        return None;
    }
    let not_c = arena.bool_not(c);
    if a == c || arena.as_bool(a) == Some(true) {
        return Some(arena.bool_or(c, b));
    }
    if b == c || arena.as_bool(b) == Some(false) {
        return Some(arena.bool_and(c, a));
    }
    if a == not_c || arena.as_bool(a) == Some(false) {
        return Some(arena.bool_and(not_c, b));
    }
    if b == not_c || arena.as_bool(b) == Some(true) {
        return Some(arena.bool_or(not_c, a));
    }
    let not_a = arena.bool_not(a);
    (b == not_a).then(|| arena.eq(c, a))
}

/// Inside a branch the condition is known.
fn repeated(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let not_c = arena.bool_not(args[0]);
    let resolve = |term: TermId, holds: bool| {
        if arena.op(term) != Op::Ite {
            return term;
        }
        match arena.arg(term, 0) {
            c if c == args[0] => arena.arg(term, if holds { 1 } else { 2 }),
            c if c == not_c => arena.arg(term, if holds { 2 } else { 1 }),
            _ => term,
        }
    };
    let (a, b) = (resolve(args[1], true), resolve(args[2], false));
    ([a, b] != args[1..]).then(|| arena.make(op, &[args[0], a, b]))
}

/// Two nested choices that share a branch.
fn merge(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (c, a, b) = (args[0], args[1], args[2]);
    if arena.op(a) == Op::Ite {
        let (d, x, y) = (arena.arg(a, 0), arena.arg(a, 1), arena.arg(a, 2));
        if y == b {
            let both = arena.bool_and(c, d);
            return Some(arena.make(op, &[both, x, b]));
        }
        if x == b {
            let not_d = arena.bool_not(d);
            let both = arena.bool_and(c, not_d);
            return Some(arena.make(op, &[both, y, b]));
        }
    }
    if arena.op(b) == Op::Ite {
        let (d, x, y) = (arena.arg(b, 0), arena.arg(b, 1), arena.arg(b, 2));
        if x == a {
            let either = arena.bool_or(c, d);
            return Some(arena.make(op, &[either, a, y]));
        }
        if y == a {
            let not_d = arena.bool_not(d);
            let either = arena.bool_or(c, not_d);
            return Some(arena.make(op, &[either, a, x]));
        }
    }
    None
}

/// `ite(x = y, x, y) = y`.
fn equal(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if arena.op(args[0]) != Op::Eq {
        return None;
    }
    let (x, y) = (arena.arg(args[0], 0), arena.arg(args[0], 1));
    ((args[1], args[2]) == (x, y) || (args[1], args[2]) == (y, x)).then_some(args[2])
}

/// Minimum and maximum: `ite(a < b, a, b) = ite(b < a, b, a)`; the operand that was made first stands first.
fn extremum(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let less = arena.op(args[0]);
    if !matches!(less, Op::Ult | Op::Slt) {
        return None;
    }
    let (a, b) = (arena.arg(args[0], 0), arena.arg(args[0], 1));
    let of_both = [args[1], args[2]] == [a, b] || [args[1], args[2]] == [b, a];
    if !of_both || a < b || arena.as_const(b).is_some() {
        return None;
    }
    let greater = arena.make(less, &[b, a]);
    Some(arena.make(op, &[greater, args[2], args[1]]))
}

/// Order, largest or smallest, and the operands of a minimum or maximum.
fn extremum_of(arena: &Arena, [condition, yes, no]: [TermId; 3]) -> Option<(Op, bool, [TermId; 2])> {
    let less = arena.op(condition);
    if !matches!(less, Op::Ult | Op::Slt) {
        return None;
    }
    let (a, b) = (arena.arg(condition, 0), arena.arg(condition, 1));
    match () {
        _ if [yes, no] == [b, a] => Some((less, true, [a, b])),
        _ if [yes, no] == [a, b] => Some((less, false, [a, b])),
        _ => None,
    }
}

/// Nested minima or maxima do not depend on the order of their operands: one chain, with the operands sorted and each once.
fn extremum_chain(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let &[condition, yes, no] = args else { return None };
    let (less, most, operands) = extremum_of(arena, [condition, yes, no])?;
    let inner = |arena: &Arena, term: TermId| -> Option<[TermId; 2]> {
        let &[condition, yes, no] = arena.args(term) else { return None };
        let of = extremum_of(arena, [condition, yes, no]).filter(|_| arena.op(term) == Op::Ite)?;
        ((of.0, of.1) == (less, most)).then_some(of.2)
    };
    if !operands.iter().any(|operand| inner(arena, *operand).is_some()) {
        return None;
    }
    let mut leaves: SmallVec<[TermId; 8]> = SmallVec::new();
    let mut open: SmallVec<[TermId; 8]> = operands.into_iter().collect();
    while let Some(term) = open.pop() {
        match inner(arena, term) {
            Some(parts) if leaves.len() + open.len() < MAX_EXTREMUM => open.extend(parts),
            Some(_) => return None,
            None => leaves.push(term),
        }
    }
    leaves.sort_unstable();
    leaves.dedup();
    let (first, rest) = leaves.split_first()?;
    let mut chain = *first;
    for leaf in rest {
        let (a, b) = if chain < *leaf { (chain, *leaf) } else { (*leaf, chain) };
        let below = arena.make(less, &[a, b]);
        if arena.op(below) != less || arena.args(below) != [a, b] {
            return None;
        }
        let parts = if most { [below, b, a] } else { [below, a, b] };
        chain = arena.raw(Op::Ite, &parts);
    }
    let same = arena.op(chain) == Op::Ite && arena.args(chain) == args;
    (!same).then_some(chain)
}

/// `ite(x ∈ S, x, k)` does not depend on whether k is in S: it is put in where that gives an interval, so that the
/// condition is the strict comparison that programs usually write.
fn clamp(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (x, k, inside) = match (arena.as_const(args[1]), arena.as_const(args[2])) {
        (None, Some(k)) => (args[1], k, true),
        (Some(k), None) => (args[2], k, false),
        _ => return None,
    };
    let condition = if inside { args[0] } else { arena.bool_not(args[0]) };
    let with = interval::with(arena, condition, x, k)?;
    Some(if inside { arena.make(op, &[with, args[1], args[2]]) } else { arena.make(op, &[with, args[2], args[1]]) })
}

/// A choice between constants by the value of a bit (a sign included) is linear in that bit.
fn bit(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b) = (arena.as_const(args[1])?, arena.as_const(args[2])?);
    let width = a.width();
    let condition = args[0];
    let bit = match view::as_bit_test(arena, condition) {
        Some(bit) => bit,
        None if arena.op(condition) == Op::Slt
            && arena.as_const(arena.arg(condition, 1)).is_some_and(Bits::is_zero) =>
        {
            let x = arena.arg(condition, 0);
            let top = arena.width(x) - 1;
            arena.extract(x, top, top)
        }
        None => {
            // Sums refer to choices between constants through the choice between one and zero: it must exist.
            let (one, zero) = (arena.bv(width, 1), arena.bv(width, 0));
            arena.make(op, &[condition, one, zero]);
            return None;
        }
    };
    let mut sum = Linear::zero(width);
    let bit = arena.zext(bit, width);
    sum.add_scaled(arena, bit, a.sub(b));
    sum.constant = sum.constant.add(b);
    Some(sum.build(arena))
}

/// The extension of both branches moves outside.
fn extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.sort(args[1]).width()?;
    let (a, b) = (arena.op(args[1]), arena.op(args[2]));
    let inner = |arena: &Arena, t: TermId| arena.width(arena.arg(t, 0));
    if matches!(a, Op::Zext(_)) || matches!(b, Op::Zext(_)) {
        let mut n = 0;
        for (term, kind) in [(args[1], a), (args[2], b)] {
            let bits = width - view::leading_zeros(arena, term);
            n = n.max(match kind {
                Op::Zext(_) => inner(arena, term),
                Op::Const(_) | Op::Ite | Op::Mul | Op::Add => bits,
                _ => return None,
            });
        }
        let exact = [(args[1], a), (args[2], b)]
            .iter()
            .any(|(term, kind)| matches!(kind, Op::Zext(_)) && inner(arena, *term) == n);
        if !exact {
            n = n.next_power_of_two().max(8);
        }
        if n >= width {
            return None;
        }
        let (x, y) = (arena.truncate(args[1], n), arena.truncate(args[2], n));
        let choice = arena.make(op, &[args[0], x, y]);
        return Some(arena.zext(choice, width));
    }
    let n = match (a, b) {
        (Op::Sext(_), Op::Sext(_)) => inner(arena, args[1]).max(inner(arena, args[2])),
        (Op::Sext(_), Op::Const(_)) => inner(arena, args[1]),
        (Op::Const(_), Op::Sext(_)) => inner(arena, args[2]),
        _ => return None,
    };
    let fits = |t: TermId| arena.as_const(t).is_none_or(|c| c.resize(n).sext(width) == c);
    if n >= width || !fits(args[1]) || !fits(args[2]) {
        return None;
    }
    let (x, y) = (arena.truncate(args[1], n), arena.truncate(args[2], n));
    let choice = arena.make(op, &[args[0], x, y]);
    Some(arena.sext(choice, width))
}

/// `ite(c, x + d, x) = x + ite(c, d, 0)`.
fn offset(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.sort(args[1]).width()?;
    if arena.as_const(args[1]).is_some() {
        return None;
    }
    let d = arena.difference(args[1], args[2])?;
    let (d, zero) = (arena.constant(d), arena.constant(Bits::zero(width)));
    let choice = arena.make(op, &[args[0], d, zero]);
    Some(arena.add(args[2], choice))
}

/// Stores of one width to one address in both branches become one store.
fn store(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (Op::Store(m), Op::Store(n)) = (arena.op(args[1]), arena.op(args[2])) else { return None };
    let (_, a) = view::open(arena, args[1]);
    let (_, b) = view::open(arena, args[2]);
    if m != n || a[1] != b[1] {
        return None;
    }
    let memory = arena.make(op, &[args[0], a[0], b[0]]);
    let value = arena.make(op, &[args[0], a[2], b[2]]);
    Some(arena.store(memory, a[1], value))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, truths, words};
    use expect_test::expect;

    #[test]
    fn nested_choices_that_share_a_branch_are_one() {
        gives(
            |a| {
                let ((p, q), (x, y)) = (truths(a), words(a));
                let inner = a.ite(q, x, y);
                a.ite(p, inner, y)
            },
            expect!["p && q ? x : y"],
        );
        gives(
            |a| {
                let ((p, q), (x, y)) = (truths(a), words(a));
                let inner = a.ite(q, x, y);
                a.ite(p, x, inner)
            },
            expect!["p || q ? x : y"],
        );
    }

    #[test]
    fn minimum_has_one_form() {
        gives(
            |a| {
                let (x, y) = words(a);
                let greater = a.slt(y, x);
                a.ite(greater, y, x)
            },
            expect!["x <s y ? x : y"],
        );
        gives(
            |a| {
                let (x, five) = (words(a).0, a.bv(32, 5));
                let at_most = a.sle(x, five);
                a.ite(at_most, x, five)
            },
            expect!["x <s 6 ? x : 5"],
        );
    }

    #[test]
    fn conditional_increment_meets_added_carry() {
        gives(
            |a| {
                let (x, y) = words(a);
                let below = a.ult(x, y);
                let more = a.add_const(x, 1);
                a.ite(below, more, x)
            },
            expect!["x + (x <u y ? 1 : 0)"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let not_below = a.ule(y, x);
                let bit = a.bool_to_bv(not_below, 32);
                let more = a.add_const(x, 1);
                a.sub(more, bit)
            },
            expect!["x + (x <u y ? 1 : 0)"],
        );
    }

    #[test]
    fn absolute_value_has_one_form() {
        gives(
            |a| {
                let (x, shift) = (words(a).0, a.bv(32, 31));
                let sign = a.ashr(x, shift);
                let flipped = a.xor(x, sign);
                a.sub(flipped, sign)
            },
            expect!["x <s 0 ? -x : x"],
        );
    }
}
