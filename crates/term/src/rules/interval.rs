//! Comparisons with constants as sets of values.
//!
//! Every comparison of one term with a constant, signed or unsigned, says that the term lies in a circular interval
//! `[lo, hi]` of Z/2^w. [`member`] is the only place that writes such a statement as a term, so equal sets are equal
//! terms, and conjunctions are intersections.
//!
//! The canonical statement about a set, in this order: `x = k` or its negation for one value (or all but one);
//! `x <s 0` or its negation for the sign; `x <u c` or its negation for sets that begin at zero or end at the
//! maximum; `x <s c` likewise at the signed ends; `x[w−1:n] = k` or its negation for an aligned block of 2^n values;
//! `x − lo <u length` otherwise, negated if the set is the larger half. Constants added to `x`, extensions, choices between constants and parts that the set does not depend on are
//! removed from `x` first.

use super::view;
use crate::{Arena, Bits, Linear, Op, TermId};

/// A set of bit vectors of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Set {
    Empty,
    Full,
    /// From `lo` upwards (wrapping) to `hi` inclusive; neither empty nor full.
    Range {
        lo: Bits,
        hi: Bits,
    },
}

fn one(width: u16) -> Bits {
    Bits::new(width, 1)
}

/// The most negative number.
pub(super) fn signed_min(width: u16) -> Bits {
    one(width).shl(Bits::new(16, u64::from(width - 1)))
}

fn signed_max(width: u16) -> Bits {
    signed_min(width).not()
}

impl Set {
    /// From `lo` to `hi`, wrapping; never empty.
    pub(super) fn range(lo: Bits, hi: Bits) -> Set {
        if hi.add(one(lo.width())) == lo { Set::Full } else { Set::Range { lo, hi } }
    }

    /// The `length` values from `lo`.
    fn counted(lo: Bits, length: Bits) -> Set {
        if length.is_zero() { Set::Empty } else { Set::range(lo, lo.add(length).sub(one(lo.width()))) }
    }

    /// All values unsigned below `c`.
    pub(super) fn below(c: Bits) -> Set {
        Set::counted(Bits::zero(c.width()), c)
    }

    /// All values signed below `c`.
    pub(super) fn signed_below(c: Bits) -> Set {
        let min = signed_min(c.width());
        Set::counted(min, c.sub(min))
    }

    pub(super) fn complement(self) -> Set {
        match self {
            Set::Empty => Set::Full,
            Set::Full => Set::Empty,
            Set::Range { lo, hi } => {
                let one = one(lo.width());
                Set::Range { lo: hi.add(one), hi: lo.sub(one) }
            }
        }
    }

    pub(super) fn contains(self, value: Bits) -> bool {
        match self {
            Set::Empty => false,
            Set::Full => true,
            Set::Range { lo, hi } => value.sub(lo).ule(hi.sub(lo)),
        }
    }

    fn shifted(self, by: Bits) -> Set {
        match self {
            Set::Range { lo, hi } => Set::Range { lo: lo.add(by), hi: hi.add(by) },
            other => other,
        }
    }

    fn negated(self) -> Set {
        match self {
            Set::Range { lo, hi } => Set::Range { lo: hi.neg(), hi: lo.neg() },
            other => other,
        }
    }

    /// The intersection, if it is again one circular interval.
    pub(super) fn intersect(self, other: Set) -> Option<Set> {
        let (lo, hi, from, to) = match (self, other) {
            (Set::Empty, _) | (_, Set::Empty) => return Some(Set::Empty),
            (Set::Full, set) | (set, Set::Full) => return Some(set),
            (Set::Range { lo, hi }, Set::Range { lo: from, hi: to }) => (lo, hi, from, to),
        };
        let end = hi.sub(lo);
        let (start, stop) = (from.sub(lo), to.sub(lo));
        // Relative to `lo` this set is [0, end]; the other is [start, stop], wrapping if stop < start.
        if start.ule(stop) {
            if end.ult(start) {
                return Some(Set::Empty);
            }
            let stop = if stop.ult(end) { stop } else { end };
            return Some(Set::range(from, lo.add(stop)));
        }
        // The other contains 0 and the maximum: what is left is [0, stop] and [start, end].
        if end.ult(start) {
            let stop = if stop.ult(end) { stop } else { end };
            return Some(Set::range(lo, lo.add(stop)));
        }
        None
    }
}

/// The statement that a comparison makes about one term: `base ∈ set`.
pub(super) fn statement(arena: &mut Arena, literal: TermId) -> Option<(TermId, Set)> {
    let (atom, positive) = match arena.op(literal) {
        Op::Not => (arena.arg(literal, 0), false),
        _ => (literal, true),
    };
    let set_of = match arena.op(atom) {
        Op::Eq => |c: Bits| Set::Range { lo: c, hi: c },
        Op::Ult => Set::below,
        Op::Slt => Set::signed_below,
        _ => return None,
    };
    let (x, c) = (arena.arg(atom, 0), arena.as_const(arena.arg(atom, 1))?);
    let set = if c.width() == 1 && arena.op(atom) == Op::Eq { Set::range(c, c) } else { set_of(c) };
    let set = if positive { set } else { set.complement() };
    let (base, set) = strip_offset(arena, x, set);
    // A statement about the high bits is one about the whole.
    if let (Op::Extract { hi, lo: n }, Set::Range { lo, hi: last }) = (arena.op(base), set)
        && n > 0
        && hi + 1 == arena.width(arena.arg(base, 0))
    {
        let whole = Set::range(lo.concat(Bits::zero(n)), last.concat(Bits::ones(n)));
        return Some(strip_offset(arena, arena.arg(base, 0), whole));
    }
    Some((base, set))
}

/// `x ∈ set` as a statement about `factor·x`, if it says that `x` has one value, or has not, and the factor is odd.
pub(super) fn scaled(arena: &Arena, x: TermId, set: Set, product: TermId) -> Option<Set> {
    if arena.op(product) != Op::Mul || arena.arg(product, 0) != x {
        return None;
    }
    let factor = arena.as_const(arena.arg(product, 1))?;
    let Set::Range { lo, hi } = set else { return None };
    let single = |value: Bits| Set::range(value.mul(factor), value.mul(factor));
    let next = hi.add(one(hi.width()));
    match factor.trailing_zeros() {
        0 if lo == hi => Some(single(lo)),
        0 if next.add(one(hi.width())) == lo => Some(single(next).complement()),
        _ => None,
    }
}

/// `x ∈ set` as a statement about `x` without added constants and leading minus sign.
pub(super) fn strip_offset(arena: &mut Arena, x: TermId, set: Set) -> (TermId, Set) {
    let mut stripped = (x, set);
    // What is left of a sum may turn out to be another sum when it is built.
    for _ in 0..3 {
        let next = strip_once(arena, stripped.0, stripped.1);
        if next.0 == stripped.0 {
            break;
        }
        stripped = next;
    }
    stripped
}

fn strip_once(arena: &mut Arena, x: TermId, set: Set) -> (TermId, Set) {
    if !Linear::is_sum(arena, x) {
        return (x, set);
    }
    let mut sum = Linear::of(arena, x);
    if sum.terms.is_empty() {
        return (x, set);
    }
    let set = set.shifted(sum.constant.neg());
    sum.constant = Bits::zero(sum.constant.width());
    let min = signed_min(sum.constant.width());
    if sum.terms.iter().find(|(_, c)| *c != min).is_some_and(|(_, c)| c.sign()) {
        let minus_one = Bits::ones(min.width());
        return (sum.scaled(minus_one).build(arena), set.negated());
    }
    (sum.build(arena), set)
}

/// `p ∧ q` as one comparison, where `p` and `q` are statements about `x`, if the result is an interval.
pub(super) fn both(arena: &mut Arena, x: TermId, p: (TermId, Set), q: (TermId, Set)) -> Option<TermId> {
    let both = p.1.intersect(q.1)?;
    // Keep the operand's own form where it already says everything.
    if both == p.1 {
        return Some(p.0);
    }
    if both == q.1 {
        return Some(q.0);
    }
    Some(member(arena, x, both))
}

/// If `condition` says that `x` lies in an interval next to `k`: the condition for the interval with `k`.
pub(super) fn with(arena: &mut Arena, condition: TermId, x: TermId, k: Bits) -> Option<TermId> {
    let (base, set) = statement(arena, condition)?;
    let Set::Range { lo, hi } = set else { return None };
    // The statement is about x without constant and sign; k moves along.
    let (own, at) = strip_offset(arena, x, Set::Range { lo: k, hi: k });
    let Set::Range { lo: k, .. } = at else { return None };
    if own != base {
        return None;
    }
    let one = one(k.width());
    let more = if k.add(one) == lo {
        Set::range(k, hi)
    } else if hi.add(one) == k {
        Set::range(lo, k)
    } else {
        return None;
    };
    Some(member(arena, base, more))
}

/// The canonical term for `x ∈ set`.
pub(super) fn member(arena: &mut Arena, x: TermId, set: Set) -> TermId {
    let (x, set) = strip_offset(arena, x, set);
    let set = possible(arena, x, set);
    let (lo, hi) = match set {
        Set::Empty => return arena.bool(false),
        Set::Full => return arena.bool(true),
        Set::Range { lo, hi } => (lo, hi),
    };
    if let Some(narrower) = arena.nested(|arena| narrow(arena, x, set)) {
        return narrower;
    }
    if let Some(opposite) = arena.nested(|arena| narrow(arena, x, set.complement())) {
        return arena.bool_not(opposite);
    }
    let width = lo.width();
    let one = one(width);
    let zero = Bits::zero(width);
    if width == 1 {
        // Both one-element sets are written with the constant one.
        let c = arena.constant(one);
        let is_one = arena.make(Op::Eq, &[x, c]);
        return if lo == one { is_one } else { arena.bool_not(is_one) };
    }
    let compare = |arena: &mut Arena, op: Op, x: TermId, c: Bits| {
        let c = arena.constant(c);
        // Order atoms are final as they are, but products may be divisibility tests, and a sum may turn out to be
        // something else when it is built.
        let product = |t: TermId| arena.op(t) == Op::Mul || arena.args(t).iter().any(|t| arena.op(*t) == Op::Mul);
        let rebuilt = Linear::is_sum(arena, x) && arena.op(x) != Op::Add;
        if op == Op::Eq || product(x) || rebuilt { arena.make(op, &[x, c]) } else { arena.raw(op, &[x, c]) }
    };
    let not = |arena: &mut Arena, t: TermId| arena.bool_not(t);
    let (min, max) = (signed_min(width), signed_max(width));
    let next = hi.add(one);
    if lo == hi {
        return compare(arena, Op::Eq, x, lo);
    }
    if next.add(one) == lo {
        let is = compare(arena, Op::Eq, x, next);
        return not(arena, is);
    }
    if lo == min && hi.is_ones() {
        return compare(arena, Op::Slt, x, zero);
    }
    if lo.is_zero() && hi == max {
        let negative = compare(arena, Op::Slt, x, zero);
        return not(arena, negative);
    }
    if lo.is_zero() {
        return compare(arena, Op::Ult, x, next);
    }
    if next.is_zero() {
        let below = compare(arena, Op::Ult, x, lo);
        return not(arena, below);
    }
    if lo == min {
        return compare(arena, Op::Slt, x, next);
    }
    if hi == max {
        let below = compare(arena, Op::Slt, x, lo);
        return not(arena, below);
    }
    if let Some(block) = block(lo, next.sub(lo)) {
        let (high, lo) = (arena.extract(x, width - 1, block), lo.extract(width - 1, block));
        return compare(arena, Op::Eq, high, lo);
    }
    if let Some(block) = self::block(next, lo.sub(next)) {
        let (high, lo) = (arena.extract(x, width - 1, block), next.extract(width - 1, block));
        let is = compare(arena, Op::Eq, high, lo);
        return not(arena, is);
    }
    let length = next.sub(lo);
    let smaller = length.ult(min) || (length == min && !lo.sign());
    let (from, length) = if smaller { (lo, length) } else { (next, length.neg()) };
    let mut sum = Linear::of(arena, x);
    sum.constant = sum.constant.sub(from);
    let offset = sum.build(arena);
    let inside = compare(arena, Op::Ult, offset, length);
    if smaller { inside } else { not(arena, inside) }
}

/// The set without values that `x` cannot have because its high bits are zero, or low bits. What `x` cannot have is left
/// in where that gives a set that ends at the maximum or with a whole block.
fn possible(arena: &Arena, x: TermId, set: Set) -> Set {
    let set = multiples(set, view::trailing_zeros(arena, x));
    let zeros = view::leading_zeros(arena, x);
    if zeros == 0 {
        return set;
    }
    let width = arena.width(x);
    let last = if zeros == width { Bits::zero(width) } else { Bits::ones(width - zeros).zext(width) };
    match set.intersect(Set::Range { lo: Bits::zero(width), hi: last }) {
        None => set,
        Some(Set::Range { lo, hi }) if hi == last => Set::range(lo, Bits::ones(width)),
        Some(inside) => inside,
    }
}

/// The set as far as multiples of 2^n are concerned: a single one, all but one, or from one until before another.
fn multiples(set: Set, n: u16) -> Set {
    let Set::Range { lo, hi } = set else { return set };
    if n == 0 || n >= lo.width() {
        return set;
    }
    let block = Bits::ones(n).zext(lo.width());
    let first = lo.neg().and(block);
    if hi.sub(lo).ult(first) {
        return Set::Empty;
    }
    let (lo, hi) = (lo.add(first), hi.or(block));
    let one = one(lo.width());
    if hi.sub(lo) == block {
        return Set::range(lo, lo);
    }
    let next = hi.add(one);
    if lo.sub(next) == block.add(one) {
        return Set::range(next, next).complement();
    }
    Set::range(lo, hi)
}

/// Number of low bits that the set `[from, from + length)` does not depend on, if it is one aligned block.
fn block(from: Bits, length: Bits) -> Option<u16> {
    let n = length.trailing_zeros();
    (length.count_ones() == 1 && from.trailing_zeros() >= n && n > 0).then_some(n)
}

/// `x ∈ set` as a statement about a part of `x`.
fn narrow(arena: &mut Arena, x: TermId, set: Set) -> Option<TermId> {
    let Set::Range { lo, hi } = set else { return None };
    let width = lo.width();
    match arena.op(x) {
        Op::Zext(_) => {
            let inner = arena.arg(x, 0);
            let n = arena.width(inner);
            let range = Set::Range { lo: Bits::zero(width), hi: Bits::ones(n).zext(width) };
            within(arena, inner, set, range, n)
        }
        Op::Sext(_) => {
            let inner = arena.arg(x, 0);
            let n = arena.width(inner);
            let range = Set::Range { lo: signed_min(n).sext(width), hi: signed_max(n).sext(width) };
            within(arena, inner, set, range, n)
        }
        Op::Ite => {
            let (c, a, b) = (arena.arg(x, 0), arena.arg(x, 1), arena.arg(x, 2));
            if arena.as_const(a).is_none() && arena.as_const(b).is_none() {
                return None;
            }
            let (in_a, in_b) = (member(arena, a, set), member(arena, b, set));
            Some(arena.ite(c, in_a, in_b))
        }
        Op::Const(_) => {
            let value = arena.as_const(x)?;
            Some(arena.bool(set.contains(value)))
        }
        Op::Mul => {
            // A bit times a constant has two values.
            let (inner, factor) = (arena.arg(x, 0), arena.as_const(arena.arg(x, 1))?);
            let bit = (matches!(arena.op(inner), Op::Zext(_)) && arena.width(arena.arg(inner, 0)) == 1)
                .then(|| arena.arg(inner, 0))?;
            let c = arena.bit(bit, 0);
            let (a, b) = (set.contains(factor), set.contains(Bits::zero(width)));
            let (a, b) = (arena.bool(a), arena.bool(b));
            Some(arena.ite(c, a, b))
        }
        Op::Concat if lo.is_zero() && hi.leading_zeros() >= arena.width(arena.arg(x, 0)) => {
            // The high part must be zero.
            let high = arena.arg(x, 0);
            let n = width - arena.width(high);
            let low = arena.truncate(x, n);
            let zero = Bits::zero(arena.width(high));
            let high = member(arena, high, Set::range(zero, zero));
            let low = member(arena, low, Set::range(lo.resize(n), hi.resize(n)));
            Some(arena.bool_and(high, low))
        }
        Op::Concat => {
            // The low part does not matter when the set consists of whole blocks.
            let low = *arena.args(x).last().expect("operands");
            let n = arena.width(low);
            let (first, last) = (lo.extract(n - 1, 0), hi.extract(n - 1, 0));
            if !first.is_zero() || !last.is_ones() {
                return None;
            }
            let high = arena.extract(x, width - 1, n);
            Some(member(arena, high, Set::range(lo.extract(width - 1, n), hi.extract(width - 1, n))))
        }
        Op::Extract { hi: top, lo: n } if n > 0 && top + 1 == arena.width(arena.arg(x, 0)) => {
            // A statement about the top bits is one about the whole.
            let whole = arena.arg(x, 0);
            let (first, last) = (lo.concat(Bits::zero(n)), hi.concat(Bits::ones(n)));
            let min = signed_min(first.width());
            let simple = first.is_zero() || last.is_ones() || first == min || last == min.not();
            simple.then(|| member(arena, whole, Set::range(first, last)))
        }
        _ => None,
    }
}

/// `extension(inner) ∈ set`, the extension's values being `range`.
fn within(arena: &mut Arena, inner: TermId, set: Set, range: Set, n: u16) -> Option<TermId> {
    let inside = range.intersect(set)?;
    Some(match inside {
        Set::Range { lo, hi } => {
            let set = Set::range(lo.extract(n - 1, 0), hi.extract(n - 1, 0));
            member(arena, inner, set)
        }
        Set::Empty => arena.bool(false),
        Set::Full => arena.bool(true),
    })
}
