//! Ranges of values: intervals on the circle of numbers modulo 2^w, so that `-1..=255` is one of them.
//!
//! Every operation here gives a range that holds all results that the term can have; the full range where nothing
//! better is known.
//!
//! Trust: none. Proposals about functions are made from these ranges; `kernel::lemma` proves them.

use kernel::lemma::Range;
use rustc_hash::FxHashMap;
use term::{Arena, Bits, Op, Sort, TermId, VarId};

/// The numbers `low, low + 1, …, low + span` modulo 2^width; width at most 64.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ValueRange {
    /// Bits of the value.
    pub width: u16,
    /// First number.
    pub low: u64,
    /// Distance of the last one.
    pub span: u64,
}

fn mask(width: u16) -> u64 {
    u64::MAX >> (64 - width)
}

impl ValueRange {
    /// All numbers of a width.
    pub fn full(width: u16) -> ValueRange {
        ValueRange { width, low: 0, span: mask(width) }
    }

    /// One number.
    pub fn only(width: u16, value: u64) -> ValueRange {
        ValueRange { width, low: value & mask(width), span: 0 }
    }

    /// From `low` to `high` without passing zero; both included.
    fn between(width: u16, low: u64, high: u64) -> ValueRange {
        ValueRange { width, low, span: high.wrapping_sub(low) & mask(width) }
    }

    /// Says nothing?
    pub fn is_full(&self) -> bool {
        self.span == mask(self.width)
    }

    /// The last number.
    pub fn high(&self) -> u64 {
        self.low.wrapping_add(self.span) & mask(self.width)
    }

    /// Smallest and largest number without a sign.
    pub fn unsigned(&self) -> (u64, u64) {
        if self.high() < self.low || self.is_full() { (0, mask(self.width)) } else { (self.low, self.high()) }
    }

    /// Smallest and largest number with a sign.
    pub fn signed(&self) -> (i64, i64) {
        let half = 1u64 << (self.width - 1);
        let shifted = ValueRange { low: self.low.wrapping_add(half) & mask(self.width), ..*self };
        let (low, high) = shifted.unsigned();
        let back = |v: u64| (i128::from(v) - i128::from(half)) as i64;
        (back(low), back(high))
    }

    /// Is every number of the other one in here?
    fn holds(&self, other: &ValueRange) -> bool {
        let start = other.low.wrapping_sub(self.low) & mask(self.width);
        u128::from(start) + u128::from(other.span) <= u128::from(self.span)
    }

    /// A range that holds both.
    pub fn join(&self, other: &ValueRange) -> ValueRange {
        if self.holds(other) {
            return *self;
        }
        if other.holds(self) {
            return *other;
        }
        let cover = |a: &ValueRange, b: &ValueRange| {
            let start = b.low.wrapping_sub(a.low) & mask(a.width);
            let span = u128::from(start) + u128::from(b.span);
            (span < u128::from(mask(a.width))).then_some(ValueRange { span: (span as u64).max(a.span), ..*a })
        };
        let covers = [cover(self, other), cover(other, self)];
        let best = covers.into_iter().flatten().min_by_key(|r| (r.span, r.low));
        best.unwrap_or(ValueRange::full(self.width))
    }

    /// A range that holds what both hold; `None` if they have nothing in common.
    pub(crate) fn meet(&self, other: &ValueRange) -> Option<ValueRange> {
        if self.holds(other) {
            return Some(*other);
        }
        if other.holds(self) {
            return Some(*self);
        }
        let inside = |outer: &ValueRange, v: u64| v.wrapping_sub(outer.low) & mask(outer.width) <= outer.span;
        match (inside(other, self.low), inside(self, other.low)) {
            (false, false) => None,
            // They meet at both ends: either one is right.
            (true, true) => Some(if self.span <= other.span { *self } else { *other }),
            (true, false) => Some(ValueRange::between(self.width, self.low, other.high())),
            (false, true) => Some(ValueRange::between(self.width, other.low, self.high())),
        }
    }

    fn add(&self, other: &ValueRange) -> ValueRange {
        let span = u128::from(self.span) + u128::from(other.span);
        if span >= u128::from(mask(self.width)) {
            return ValueRange::full(self.width);
        }
        let low = self.low.wrapping_add(other.low) & mask(self.width);
        ValueRange { width: self.width, low, span: span as u64 }
    }

    fn scaled(&self, factor: u64) -> ValueRange {
        let span = u128::from(self.span) * u128::from(factor);
        if span >= u128::from(mask(self.width)) {
            return ValueRange::full(self.width);
        }
        let low = self.low.wrapping_mul(factor) & mask(self.width);
        ValueRange { width: self.width, low, span: span as u64 }
    }

    /// The low bits.
    pub fn truncate(&self, width: u16) -> ValueRange {
        if self.span >= mask(width) {
            return ValueRange::full(width);
        }
        ValueRange { width, low: self.low & mask(width), span: self.span }
    }

    fn sext(&self, width: u16) -> ValueRange {
        let (low, high) = self.signed();
        ValueRange::between(width, low as u64 & mask(width), high as u64 & mask(width))
    }

    fn zext(&self, width: u16) -> ValueRange {
        let (low, high) = self.unsigned();
        ValueRange::between(width, low, high)
    }
}

impl From<ValueRange> for Range {
    fn from(ValueRange { width, low, span }: ValueRange) -> Range {
        Range { width, low, span }
    }
}

/// What is known of variables; also of their low bits, where the rest is unknown.
pub(crate) type Environment<'e> = dyn Fn(VarId) -> Option<ValueRange> + 'e;

fn width_of(arena: &Arena, term: TermId) -> Option<u16> {
    match arena.sort(term) {
        Sort::Bool => Some(1),
        Sort::Bv(width) => Some(width).filter(|w| *w <= 64),
        Sort::Memory => None,
    }
}

/// The range of a term of at most 64 bits (a truth value is one bit). `known` gives ranges of variables, perhaps
/// narrower than they are: then they are about the low bits.
pub(crate) fn range_of(arena: &Arena, term: TermId, known: &Environment) -> ValueRange {
    let mut memo: FxHashMap<TermId, ValueRange> = FxHashMap::default();
    let wanted = |t: TermId| width_of(arena, t).is_some();
    for part in arena.topological_where(&[term], wanted) {
        let Some(width) = width_of(arena, part) else { continue };
        let range = evaluate(arena, part, width, known, &memo);
        memo.insert(part, range);
    }
    memo.get(&term).copied().unwrap_or_else(|| ValueRange::full(width_of(arena, term).unwrap_or(64)))
}

fn evaluate(
    arena: &Arena,
    term: TermId,
    width: u16,
    known: &Environment,
    memo: &FxHashMap<TermId, ValueRange>,
) -> ValueRange {
    let full = ValueRange::full(width);
    let args = arena.args(term);
    let of = |i: usize| memo.get(&args[i]).copied();
    let constant = |i: usize| arena.as_const(args[i]).filter(|c| c.width() <= 64).map(Bits::low);
    let result = match arena.op(term) {
        Op::True => Some(ValueRange::only(1, 1)),
        Op::False => Some(ValueRange::only(1, 0)),
        Op::Const(_) => arena.as_const(term).map(|c| ValueRange::only(width, c.low())),
        Op::Var(var) => known(var).filter(|r| r.width == width),
        Op::Add => {
            let mut sum = ValueRange::only(width, 0);
            for i in 0..args.len() {
                sum = sum.add(&of(i).unwrap_or(full));
            }
            Some(sum)
        }
        Op::Mul => constant(1).and_then(|factor| Some(of(0)?.scaled(factor))),
        Op::BvNot => of(0).map(|r| ValueRange { low: mask(width) - r.high(), ..r }),
        Op::BvAnd => {
            let (a, b) = (of(0).unwrap_or(full).unsigned().1, of(1).unwrap_or(full).unsigned().1);
            Some(ValueRange::between(width, 0, a.min(b)))
        }
        Op::BvOr | Op::BvXor => {
            let (a, b) = (of(0).unwrap_or(full).unsigned().1, of(1).unwrap_or(full).unsigned().1);
            let bits = 64 - (a | b).leading_zeros() as u16;
            Some(if bits == 0 { ValueRange::only(width, 0) } else { ValueRange::between(width, 0, mask(bits)) })
        }
        Op::Lshr => {
            let (low, high) = of(0).unwrap_or(full).unsigned();
            match constant(1) {
                Some(n) if n < u64::from(width) => Some(ValueRange::between(width, low >> n, high >> n)),
                _ => Some(ValueRange::between(width, 0, high)),
            }
        }
        Op::Udiv => constant(1).filter(|c| *c > 0).map(|c| {
            let (low, high) = of(0).unwrap_or(full).unsigned();
            ValueRange::between(width, low / c, high / c)
        }),
        Op::Urem => constant(1).filter(|c| *c > 0).map(|c| {
            let high = of(0).unwrap_or(full).unsigned().1;
            ValueRange::between(width, 0, high.min(c - 1))
        }),
        Op::Extract { lo: 0, .. } => match arena.op(args[0]) {
            // The low bits of a variable of which only they are known.
            Op::Var(var) => known(var).filter(|r| r.width >= width).map(|r| r.truncate(width)),
            _ => of(0).map(|r| r.truncate(width)),
        },
        Op::Extract { lo, .. } => of(0).map(|r| {
            let (low, high) = r.unsigned();
            let (low, high) = (low >> lo, high >> lo);
            if high <= mask(width) { ValueRange::between(width, low, high) } else { full }
        }),
        Op::Concat => {
            let (mut low, mut high) = (0u64, 0u64);
            for (i, arg) in args.iter().enumerate() {
                let bits = width_of(arena, *arg);
                let part = of(i).or(bits.map(ValueRange::full)).map(|r| (r.width, r.unsigned()));
                let Some((bits, (a, b))) = part else { return full };
                low = if bits == 64 { a } else { low << bits | a };
                high = if bits == 64 { b } else { high << bits | b };
            }
            Some(ValueRange::between(width, low, high))
        }
        Op::Zext(_) => of(0).map(|r| r.zext(width)),
        Op::Sext(_) => of(0).map(|r| r.sext(width)),
        Op::Ite => match of(0).map(|r| (r.span, r.low)) {
            Some((0, 1)) => of(1),
            Some((0, _)) => of(2),
            _ => Some(of(1).unwrap_or(full).join(&of(2).unwrap_or(full))),
        },
        Op::Not => of(0).filter(|r| r.span == 0).map(|r| ValueRange::only(1, 1 - r.low)),
        Op::And | Op::Or => {
            let deciding = u64::from(arena.op(term) == Op::Or);
            let parts: Vec<ValueRange> = (0..args.len()).map(|i| of(i).unwrap_or(full)).collect();
            if parts.iter().any(|r| r.span == 0 && r.low == deciding) {
                Some(ValueRange::only(1, deciding))
            } else if parts.iter().all(|r| r.span == 0) {
                Some(ValueRange::only(1, 1 - deciding))
            } else {
                None
            }
        }
        Op::Ult | Op::Slt | Op::Eq => match (of(0), of(1)) {
            (Some(a), Some(b)) => decided(arena.op(term), &a, &b).map(|v| ValueRange::only(1, u64::from(v))),
            _ => None,
        },
        _ => None,
    };
    result.filter(|r| r.width == width).unwrap_or(full)
}

/// What two ranges say about a comparison.
fn decided(op: Op, a: &ValueRange, b: &ValueRange) -> Option<bool> {
    let order = |(low, high): (i128, i128), (other_low, other_high): (i128, i128)| {
        if high < other_low {
            Some(true)
        } else if low >= other_high {
            Some(false)
        } else {
            None
        }
    };
    let wide = |(low, high): (u64, u64)| (i128::from(low), i128::from(high));
    let wide_signed = |(low, high): (i64, i64)| (i128::from(low), i128::from(high));
    match op {
        Op::Ult => order(wide(a.unsigned()), wide(b.unsigned())),
        Op::Slt => order(wide_signed(a.signed()), wide_signed(b.signed())),
        _ if a.span == 0 && b.span == 0 => Some(a.low == b.low),
        _ => a.meet(b).is_none().then_some(false),
    }
}

/// What a condition says about variables: ranges that they have where it holds, given what is known already. `None` if
/// it cannot hold.
pub(crate) fn consequences(arena: &Arena, condition: TermId, known: &Environment) -> Option<Vec<(VarId, ValueRange)>> {
    let mut out = Vec::new();
    let mut open = vec![(condition, true)];
    while let Some((term, holds)) = open.pop() {
        let range = range_of(arena, term, known);
        if range.span == 0 && (range.low == 1) != holds {
            return None;
        }
        match arena.op(term) {
            Op::Not => open.push((arena.arg(term, 0), !holds)),
            Op::And if holds => open.extend(arena.args(term).iter().map(|t| (*t, true))),
            Op::Or if !holds => open.extend(arena.args(term).iter().map(|t| (*t, false))),
            Op::Ult | Op::Slt | Op::Eq => {
                let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
                for (subject, other, first) in [(a, b, true), (b, a, false)] {
                    let Some(c) = arena.as_const(other).filter(|c| c.width() <= 64) else { continue };
                    let before = range_of(arena, subject, known);
                    let range = compared(arena.op(term), holds, first, c, &before)?;
                    push_down(arena, subject, range, known, &mut out)?;
                }
            }
            _ => {}
        }
    }
    Some(out)
}

/// The numbers that compare so with a constant; `first` if they are on the left.
fn compared(op: Op, holds: bool, first: bool, c: Bits, before: &ValueRange) -> Option<ValueRange> {
    let width = c.width();
    let c = c.low();
    let half = 1u64 << (width - 1);
    let (least, greatest) = if op == Op::Slt { (half, half - 1) } else { (0, mask(width)) };
    let next = |v: u64, d: i64| v.wrapping_add_signed(d) & mask(width);
    let range = match (op, holds, first) {
        (Op::Eq, true, _) => ValueRange::only(width, c),
        (Op::Eq, false, _) => {
            if before.span == 0 {
                return (before.low != c).then_some(*before);
            }
            return Some(if before.is_full() {
                ValueRange::between(width, next(c, 1), next(c, -1))
            } else if before.low == c {
                ValueRange { low: next(c, 1), span: before.span - 1, ..*before }
            } else if before.high() == c {
                ValueRange { span: before.span - 1, ..*before }
            } else {
                *before
            });
        }
        (_, true, true) if c == least => return None,
        (_, true, false) if c == greatest => return None,
        (_, true, true) => ValueRange::between(width, least, next(c, -1)),
        (_, true, false) => ValueRange::between(width, next(c, 1), greatest),
        (_, false, true) => ValueRange::between(width, c, greatest),
        (_, false, false) => ValueRange::between(width, least, c),
    };
    before.meet(&range)
}

/// A range of a term as ranges of the variable inside.
fn push_down(
    arena: &Arena,
    term: TermId,
    range: ValueRange,
    known: &Environment,
    out: &mut Vec<(VarId, ValueRange)>,
) -> Option<()> {
    let (mut term, mut range) = (term, range);
    loop {
        match arena.op(term) {
            Op::Var(var) => {
                out.push((var, range));
                return Some(());
            }
            Op::Extract { lo: 0, .. } => {
                // Only about the low bits, unless the rest is known to be nothing.
                let inner = arena.arg(term, 0);
                let Op::Var(var) = arena.op(inner) else { return Some(()) };
                match known(var) {
                    Some(whole) if whole.width > range.width && whole.unsigned().1 <= mask(range.width) => {
                        out.push((var, whole.meet(&range.zext(whole.width))?));
                    }
                    Some(whole) if whole.width > range.width && !whole.is_full() => {}
                    _ => out.push((var, range)),
                }
                return Some(());
            }
            Op::Zext(_) => {
                let inner = arena.arg(term, 0);
                let bits = arena.width(inner);
                range = range.meet(&ValueRange::full(bits).zext(range.width))?.truncate(bits);
                term = inner;
            }
            Op::Sext(_) => {
                let inner = arena.arg(term, 0);
                let bits = arena.width(inner);
                range = range.meet(&ValueRange::full(bits).sext(range.width))?.truncate(bits);
                term = inner;
            }
            Op::Add => {
                let [x, c] = arena.args(term) else { return Some(()) };
                let Some(c) = arena.as_const(*c) else { return Some(()) };
                range = range.add(&ValueRange::only(range.width, c.neg().low()));
                term = *x;
            }
            _ => return Some(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(range: &ValueRange) -> Vec<u64> {
        (0..=range.span).map(|d| range.low.wrapping_add(d) & mask(range.width)).collect()
    }

    fn all() -> Vec<ValueRange> {
        let mut out = Vec::new();
        for low in 0..8 {
            for span in 0..8 {
                out.push(ValueRange { width: 3, low, span });
            }
        }
        out
    }

    /// Every operation against all numbers of three bits.
    #[test]
    fn operations_hold_all_results() {
        for a in all() {
            for b in all() {
                let (join, meet, sum) = (a.join(&b), a.meet(&b), a.add(&b));
                for x in numbers(&a) {
                    assert!(numbers(&join).contains(&x), "{a:?} {b:?}");
                    let common = numbers(&b).contains(&x);
                    assert!(!common || meet.is_some_and(|m| numbers(&m).contains(&x)), "{a:?} {b:?}");
                    assert!(numbers(&b).iter().all(|y| numbers(&sum).contains(&((x + y) & 7))), "{a:?} {b:?}");
                    for op in [Op::Ult, Op::Slt, Op::Eq] {
                        let holds = |x: u64, y: u64| match op {
                            Op::Ult => x < y,
                            Op::Slt => (x ^ 4) < (y ^ 4),
                            _ => x == y,
                        };
                        if let Some(value) = decided(op, &a, &b) {
                            assert!(numbers(&b).iter().all(|y| holds(x, *y) == value), "{op:?} {a:?} {b:?}");
                        }
                        for (y, wanted) in (0..8).flat_map(|y| [(y, true), (y, false)]) {
                            let first = compared(op, wanted, true, Bits::new(3, y), &a);
                            let kept = first.is_some_and(|r| numbers(&r).contains(&x));
                            assert!(kept || holds(x, y) != wanted, "{op:?} {a:?} {y} {wanted}");
                            let second = compared(op, wanted, false, Bits::new(3, y), &a);
                            let kept = second.is_some_and(|r| numbers(&r).contains(&x));
                            assert!(kept || holds(y, x) != wanted, "{op:?} {a:?} {y} {wanted}");
                        }
                    }
                }
            }
            for x in numbers(&a) {
                assert!(numbers(&a.zext(6)).contains(&x));
                assert!(numbers(&a.sext(6)).contains(&(if x >= 4 { x | 56 } else { x })));
                assert!(numbers(&a.truncate(2)).contains(&(x & 3)));
                assert!((0..8).all(|f| numbers(&a.scaled(f)).contains(&((x * f) & 7))));
            }
        }
    }

    /// Terms over one variable of four bits, against all its values.
    #[test]
    fn terms_hold_all_results() {
        let mut arena = Arena::new();
        let x = arena.var("x", Sort::Bv(4));
        let var = arena.as_var(x).expect("a variable");
        let mut terms = Vec::new();
        for c in 0..16 {
            let c = arena.bv(4, c);
            terms.push(arena.raw(Op::BvAnd, &[x, c]));
            terms.push(arena.raw(Op::BvOr, &[x, c]));
            terms.push(arena.raw(Op::BvXor, &[x, c]));
            terms.push(arena.raw(Op::Lshr, &[x, c]));
            terms.push(arena.raw(Op::Udiv, &[x, c]));
            terms.push(arena.raw(Op::Urem, &[x, c]));
            terms.push(arena.raw(Op::Concat, &[c, x]));
        }
        terms.push(arena.raw(Op::BvNot, &[x]));
        terms.push(arena.raw(Op::Extract { hi: 2, lo: 1 }, &[x]));
        terms.push(arena.raw(Op::Extract { hi: 2, lo: 0 }, &[x]));
        for term in terms {
            for low in 0..16 {
                for span in 0..16 {
                    let known = ValueRange { width: 4, low, span };
                    let range = range_of(&arena, term, &|v| (v == var).then_some(known));
                    for value in numbers(&known) {
                        let number = arena.bv(4, value);
                        let mut memo = FxHashMap::default();
                        let result = arena.substitute(term, &mut |v| (v == var).then_some(number), &mut memo);
                        let result = arena.as_u64(result).expect("a constant");
                        assert!(numbers(&range).contains(&result), "{} {known:?} {value}", arena.text(term));
                    }
                }
            }
        }
    }
}
