//! Bitwise complement, and, or, exclusive or.
//!
//! Operands are sorted, the constant last. A mask with one run of ones is an extraction; operations on extended terms
//! are done before extension; operations on disjoint pieces are concatenations or sums.

use super::{FOLD, Rule, rule, view};
use crate::{Arena, Bits, Linear, Op, TermId};
use smallvec::SmallVec;

/// Longer chains of one operation are not sorted any further.
const MAX_CHAIN: usize = 8;

/// Rules for the complement.
pub(super) const NOT: &[Rule] = &[
    FOLD,
    rule("complement-twice", complement_twice),
    rule("complement-sum", complement_sum),
    rule("complement-xor", complement_xor),
    rule("complement-parts", complement_parts),
    rule("complement-choice", complement_choice),
];

/// Rules for bitwise and.
pub(super) const AND: &[Rule] = &[
    FOLD,
    rule("bits-order", order),
    rule("bits-same", same),
    rule("bits-neutral", neutral),
    rule("bits-chain", chain),
    rule("bits-absorb", absorb),
    rule("and-run", and_run),
    rule("and-narrow", and_narrow),
    rule("and-extended", and_extended),
    rule("bits-extended", extended),
    rule("bits-choice", choice),
    rule("bits-pieces", pieces),
];

/// Rules for bitwise or.
pub(super) const OR: &[Rule] = &[
    FOLD,
    rule("bits-order", order),
    rule("bits-same", same),
    rule("bits-neutral", neutral),
    rule("bits-chain", chain),
    rule("bits-absorb", absorb),
    rule("bits-extended", extended),
    rule("bits-choice", choice),
    rule("bits-pieces", pieces),
    rule("or-rotation", rotation),
    rule("or-disjoint", disjoint),
];

/// Rules for bitwise exclusive or.
pub(super) const XOR: &[Rule] = &[
    FOLD,
    rule("bits-order", order),
    rule("bits-same", same),
    rule("bits-neutral", neutral),
    rule("bits-chain", chain),
    rule("xor-complement", xor_complement),
    rule("bits-extended", extended),
    rule("bits-choice", choice),
    rule("bits-pieces", pieces),
    rule("xor-disjoint", disjoint),
    super::axioms::NEGATE,
];

fn complement_twice(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    (arena.op(args[0]) == Op::BvNot).then(|| arena.arg(args[0], 0))
}

/// `~x = −x − 1` where `x` is a sum already.
fn complement_sum(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if !Linear::is_sum(arena, args[0]) {
        return None;
    }
    let minus_one = Bits::ones(arena.width(args[0]));
    let mut sum = Linear::of(arena, args[0]).scaled(minus_one);
    sum.constant = sum.constant.add(minus_one);
    Some(sum.build(arena))
}

fn complement_xor(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if arena.op(args[0]) != Op::BvXor {
        return None;
    }
    let (a, b) = (arena.arg(args[0], 0), arena.arg(args[0], 1));
    let c = arena.as_const(b)?;
    let c = arena.constant(c.not());
    Some(arena.xor(a, c))
}

/// The complement of pieces, piece by piece, and of copies of a sign.
fn complement_parts(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, parts) = view::open(arena, args[0]);
    match kind {
        Op::Sext(width) => {
            let inner = arena.make(op, &[parts[0]]);
            Some(arena.sext(inner, width))
        }
        Op::Concat if parts.iter().any(|part| arena.as_const(*part).is_some()) => {
            let parts: Vec<TermId> = parts.iter().map(|part| arena.make(op, &[*part])).collect();
            Some(arena.concat_all(&parts))
        }
        _ => None,
    }
}

fn complement_choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (kind, parts) = view::open(arena, args[0]);
    if kind != Op::Ite || (arena.as_const(parts[1]).is_none() && arena.as_const(parts[2]).is_none()) {
        return None;
    }
    let (a, b) = (arena.make(op, &[parts[1]]), arena.make(op, &[parts[2]]));
    Some(arena.ite(parts[0], a, b))
}

/// Operands sorted by handle, constant last; in chains see [`chain`].
fn order(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.iter().any(|arg| arena.op(*arg) == op) {
        return None;
    }
    let wrong = match (arena.as_const(args[0]), arena.as_const(args[1])) {
        (Some(_), _) => true,
        (None, None) => args[1] < args[0],
        (None, Some(_)) => false,
    };
    wrong.then(|| arena.make(op, &[args[1], args[0]]))
}

/// `x & x`, `x | x`, `x ^ x`, and the same with `~x`.
fn same(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    if args[0] == args[1] {
        return Some(if op == Op::BvXor { arena.constant(Bits::zero(width)) } else { args[0] });
    }
    let opposite = (arena.op(args[1]) == Op::BvNot && arena.arg(args[1], 0) == args[0])
        || (arena.op(args[0]) == Op::BvNot && arena.arg(args[0], 0) == args[1]);
    opposite.then(|| arena.constant(if op == Op::BvAnd { Bits::zero(width) } else { Bits::ones(width) }))
}

/// Zero and all ones as the second operand.
fn neutral(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    match op {
        Op::BvAnd if c.is_zero() => Some(args[1]),
        Op::BvAnd if c.is_ones() => Some(args[0]),
        Op::BvOr if c.is_zero() => Some(args[0]),
        Op::BvOr if c.is_ones() => Some(args[1]),
        Op::BvXor if c.is_zero() => Some(args[0]),
        Op::BvXor if c.is_ones() => Some(arena.not(args[0])),
        _ => None,
    }
}

/// Chains of one operation: operands sorted, constant last, repeated operands merged or cancelled.
fn chain(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if !args.iter().any(|arg| arena.op(*arg) == op) {
        return None;
    }
    let mut leaves: SmallVec<[TermId; 8]> = SmallVec::new();
    let mut todo: SmallVec<[TermId; 8]> = args.into();
    let mut constant: Option<Bits> = None;
    while let Some(term) = todo.pop() {
        if arena.op(term) == op && leaves.len() + todo.len() < MAX_CHAIN {
            todo.extend_from_slice(arena.args(term));
        } else if let Some(c) = arena.as_const(term) {
            constant = Some(match (constant, op) {
                (None, _) => c,
                (Some(d), Op::BvAnd) => d.and(c),
                (Some(d), Op::BvOr) => d.or(c),
                (Some(d), _) => d.xor(c),
            });
        } else {
            leaves.push(term);
        }
    }
    leaves.sort_unstable();
    let mut kept: SmallVec<[TermId; 8]> = SmallVec::new();
    for leaf in leaves {
        match (kept.last() == Some(&leaf), op) {
            (false, _) => kept.push(leaf),
            (true, Op::BvXor) => {
                kept.pop();
            }
            (true, _) => {}
        }
    }
    if op != Op::BvXor && kept.iter().any(|t| arena.op(*t) == Op::BvNot && kept.contains(&arena.arg(*t, 0))) {
        let width = arena.width(args[0]);
        return Some(arena.constant(if op == Op::BvAnd { Bits::zero(width) } else { Bits::ones(width) }));
    }
    if let Some(c) = constant {
        kept.push(arena.constant(c));
    }
    let Some((first, rest)) = kept.split_first() else {
        return Some(arena.constant(Bits::zero(arena.width(args[0]))));
    };
    if let Some((last, middle)) = rest.split_last()
        && args[1] == *last
        && middle.iter().try_fold(*first, |term, leaf| arena.lookup(op, &[term, *leaf])) == Some(args[0])
    {
        return None;
    }
    Some(rest.iter().fold(*first, |term, leaf| arena.make(op, &[term, *leaf])))
}

/// `a & (a | b) = a` and the dual.
fn absorb(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let dual = if op == Op::BvAnd { Op::BvOr } else { Op::BvAnd };
    [(args[0], args[1]), (args[1], args[0])]
        .into_iter()
        .find(|(a, whole)| arena.op(*whole) == dual && arena.args(*whole).contains(a))
        .map(|(a, _)| a)
}

/// A mask with a single run of ones takes a part of the term.
fn and_run(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let mask = arena.as_const(args[1])?;
    let width = mask.width();
    let (low, high) = (mask.trailing_zeros(), width - mask.leading_zeros());
    if u32::from(high - low) != mask.count_ones() {
        return None;
    }
    let part = arena.extract(args[0], high - 1, low);
    let part = arena.zext(part, width);
    let factor = Bits::new(width, 1).shl(Bits::new(16, u64::from(low)));
    let factor = arena.constant(factor);
    Some(arena.mul(part, factor))
}

/// A mask with zeros above keeps the low part only: `x & 10 = zext(x[3:0] & 10)`.
fn and_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let mask = arena.as_const(args[1])?;
    let width = mask.width();
    let used = width - mask.leading_zeros();
    if used == width || used == 0 {
        return None;
    }
    let part = arena.truncate(args[0], used);
    let mask = arena.constant(mask.resize(used));
    let both = arena.make(op, &[part, mask]);
    Some(arena.zext(both, width))
}

/// `zext(a) & b = zext(a & low bits of b)`.
fn and_extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        let Op::Zext(width) = arena.op(x) else { continue };
        let inner = arena.arg(x, 0);
        let n = arena.width(inner);
        let other = arena.truncate(other, n);
        let both = arena.make(op, &[inner, other]);
        return Some(arena.zext(both, width));
    }
    None
}

/// Operations on two terms extended in the same way, or on an extended term and a constant among its values.
fn extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let kind = arena.op(args[0]);
    let other = arena.op(args[1]);
    let width = arena.width(args[0]);
    let (a, b) = match (kind, other, arena.as_const(args[1])) {
        (Op::Zext(_), _, Some(c)) => {
            let inner = arena.arg(args[0], 0);
            let n = arena.width(inner);
            if c.leading_zeros() < width - n {
                return None;
            }
            (inner, arena.constant(c.resize(n)))
        }
        (Op::Sext(_), _, Some(c)) => {
            let inner = arena.arg(args[0], 0);
            let n = arena.width(inner);
            if c.resize(n).sext(width) != c {
                return None;
            }
            (inner, arena.constant(c.resize(n)))
        }
        _ => view::same_extension(arena, args[0], args[1])?,
    };
    let both = arena.make(op, &[a, b]);
    Some(if matches!(kind, Op::Zext(_)) { arena.zext(both, width) } else { arena.sext(both, width) })
}

/// A choice between constants combined with a constant or with another such choice; a choice between zero and all
/// ones selects.
fn choice(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    // How instructions without a conditional move choose: `(c ? a : 0) | (c ? 0 : b)`.
    let ((p, ours), (q, theirs)) = (view::open(arena, args[0]), view::open(arena, args[1]));
    if p == Op::Ite && q == Op::Ite && ours[0] == theirs[0] {
        let plain = |i: usize| arena.as_const(ours[i]).is_some() || arena.as_const(theirs[i]).is_some();
        if plain(1) && plain(2) {
            let (a, b) = (arena.make(op, &[ours[1], theirs[1]]), arena.make(op, &[ours[2], theirs[2]]));
            return Some(arena.ite(ours[0], a, b));
        }
    }
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        let chosen = matches!(arena.op(x), Op::Ite | Op::Mul | Op::Add) || view::repeated_bit(arena, x).is_some();
        if !chosen {
            continue;
        }
        let Some((c, a, b)) = view::two_valued(arena, x) else { continue };
        let simple = |k: Bits| k.is_zero() || k.is_ones();
        let same_condition = match view::two_valued(arena, other) {
            Some((d, p, q)) => c == d || ((a, b) == (p, q)),
            None => false,
        };
        if !(same_condition || arena.as_const(other).is_some() || (simple(a) && simple(b))) {
            continue;
        }
        let (a, b) = (arena.constant(a), arena.constant(b));
        let (a, b) = (arena.make(op, &[a, other]), arena.make(op, &[b, other]));
        return Some(arena.ite(c, a, b));
    }
    None
}

/// Both operands split at one place, and at least one piece is trivial: piece by piece.
fn pieces(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let cut = [args[0], args[1]].iter().find_map(|t| low_piece(arena, *t))?;
    let useful = match arena.as_const(args[1]) {
        Some(_) => matches!(arena.op(args[0]), Op::Concat),
        None => piece_is_zero(arena, args[0], cut) || piece_is_zero(arena, args[1], cut),
    };
    if !useful {
        return None;
    }
    let whole = |arena: &Arena, t: TermId| splits_at(arena, t, cut) || arena.as_const(t).is_some();
    if !whole(arena, args[0]) || !whole(arena, args[1]) {
        return None;
    }
    let high: Vec<TermId> = args.iter().map(|t| arena.extract(*t, width - 1, cut)).collect();
    let low: Vec<TermId> = args.iter().map(|t| arena.truncate(*t, cut)).collect();
    let (high, low) = (arena.make(op, &high), arena.make(op, &low));
    Some(arena.concat(high, low))
}

/// Width of the lowest piece of a term made of pieces.
fn low_piece(arena: &Arena, term: TermId) -> Option<u16> {
    match arena.op(term) {
        Op::Concat => arena.args(term).last().map(|low| arena.width(*low)),
        Op::Mul => shift(arena, term),
        _ => None,
    }
}

/// The number of zero bits below the factor of a product with a power of two, the factor losing no bits.
fn shift(arena: &Arena, term: TermId) -> Option<u16> {
    let (x, factor) = (arena.arg(term, 0), arena.as_const(arena.arg(term, 1))?);
    let k = factor.trailing_zeros();
    (factor.count_ones() == 1 && view::leading_zeros(arena, x) >= k).then_some(k)
}

fn splits_at(arena: &Arena, term: TermId, cut: u16) -> bool {
    match arena.op(term) {
        Op::Concat => {
            let mut base = 0;
            arena.args(term).iter().rev().any(|part| {
                base += arena.width(*part);
                base == cut
            })
        }
        Op::Zext(_) => arena.width(arena.arg(term, 0)) <= cut,
        Op::Mul => shift(arena, term).is_some_and(|k| k == cut),
        _ => false,
    }
}

fn piece_is_zero(arena: &Arena, term: TermId, cut: u16) -> bool {
    match arena.op(term) {
        Op::Mul => shift(arena, term).is_some_and(|k| k >= cut),
        Op::Zext(_) => arena.width(arena.arg(term, 0)) <= cut,
        _ => false,
    }
}

/// `a | b` and `a ^ b` of terms without a common one bit are `a + b`.
/// The high bits of a sum in the place of the zeros that a shift to the left leaves: a rotation, as `rol` gives it.
fn rotation(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    for (low, high) in [(args[0], args[1]), (args[1], args[0])] {
        let Op::Zext(_) = arena.op(low) else { continue };
        let part = arena.arg(low, 0);
        let by = arena.width(part);
        let Op::Extract { hi, lo } = arena.op(part) else { continue };
        let sum = arena.arg(part, 0);
        if arena.op(sum) != Op::Add || arena.width(sum) != width || hi + 1 != width || lo + by != width {
            continue;
        }
        let amount = arena.bv(width, u64::from(by));
        if arena.shl(sum, amount) == high {
            let rest = arena.truncate(sum, lo);
            return Some(arena.concat(rest, part));
        }
    }
    None
}

fn disjoint(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let apart =
        |low: TermId, high: TermId| width - view::leading_zeros(arena, low) <= view::trailing_zeros(arena, high);
    (apart(args[0], args[1]) || apart(args[1], args[0])).then(|| arena.add(args[0], args[1]))
}

fn xor_complement(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    for (x, other) in [(args[0], args[1]), (args[1], args[0])] {
        if arena.op(x) == Op::BvNot {
            let inner = arena.arg(x, 0);
            let rest = arena.make(op, &[inner, other]);
            return Some(arena.not(rest));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::Sort;
    use expect_test::expect;

    #[test]
    fn masks_take_parts() {
        gives(
            |a| {
                let (x, m) = (words(a).0, a.bv(32, 0xff));
                a.and(x, m)
            },
            expect!["zext32(x[7:0])"],
        );
        gives(
            |a| {
                let (x, m) = (words(a).0, a.bv_i64(32, -16));
                a.and(x, m)
            },
            expect!["16*zext32(x[31:4])"],
        );
        gives(
            |a| {
                let (x, m) = (words(a).0, a.bv(32, 0xf0f));
                a.and(x, m)
            },
            expect!["zext32(x[11:0] & 0xf0f)"],
        );
    }

    #[test]
    fn chains_are_sorted_and_cancel() {
        gives(
            |a| {
                let (x, y) = words(a);
                let z = a.var("z", Sort::Bv(32));
                let (left, right) = (a.xor(z, y), a.xor(x, z));
                a.xor(left, right)
            },
            expect!["x ^ y"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let z = a.var("z", Sort::Bv(32));
                let left = a.and(z, y);
                let both = a.and(left, x);
                a.and(y, both)
            },
            expect!["(x & y) & z"],
        );
    }

    #[test]
    fn disjoint_or_is_a_sum() {
        gives(
            |a| {
                let (x, one) = (words(a).0, a.bv(32, 1));
                let twice = a.shl(x, one);
                a.or(twice, one)
            },
            expect!["2*x + 1"],
        );
        gives(
            |a| {
                let x = words(a).0;
                let (left, right) = (a.bv(32, 7), a.bv(32, 25));
                let (high, low) = (a.shl(x, left), a.lshr(x, right));
                a.or(high, low)
            },
            expect!["x[24:0] ++ x[31:25]"],
        );
    }

    #[test]
    fn a_sum_is_rotated_as_a_whole() {
        let rotated = |left: u64, right: u64| {
            move |a: &mut crate::Arena| {
                let (x, y) = words(a);
                let prime = a.bv(32, 0x85eb_ca77);
                let product = a.mul(y, prime);
                let sum = a.add(x, product);
                let (left, right) = (a.bv(32, left), a.bv(32, right));
                let (high, low) = (a.shl(sum, left), a.lshr(sum, right));
                a.or(high, low)
            }
        };
        gives(rotated(13, 19), expect!["x[18:0] + 0x3ca77*y[18:0] ++ (x - 0x7a143589*y)[31:19]"]);
        // Some bits are missing.
        gives(rotated(13, 20), expect!["0x2000*x + 0x794ee000*y + zext32((x - 0x7a143589*y)[31:20])"]);
    }

    #[test]
    fn masks_of_conditions_choose() {
        gives(
            |a| {
                let (x, y) = words(a);
                let below = a.ult(x, y);
                let bit = a.bool_to_bv(below, 32);
                let mask = a.neg(bit);
                a.and(mask, y)
            },
            expect!["x <u y ? y : 0"],
        );
    }
}
