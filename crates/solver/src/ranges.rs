//! Ranges of sums, from facts about their parts.
//!
//! A fact that compares a sum with a constant puts it into a circular interval of Z/2^w. The range of another sum is
//! the sum of the ranges of its parts: known sums that occur in it (the distance of two arrays) and terms left over,
//! each times its coefficient (four times an index in bounds). If that range misses the set of a condition, the
//! condition is excluded. This is how `a[i]` and `b[j]` are told apart, in a microsecond and without a solver.
//!
//! Definition. A range `[lo, hi]` is `{lo, lo+1, …, hi}` modulo 2^w, never everything. `[a, b] + [c, d] = [a+c, b+d]` if
//! the lengths add up to less than 2^w; `k·[a, b]` likewise, with the ends exchanged for negative `k`.
//!
//! What would go wrong if this module were wrong: false proofs. The tests compare it with enumeration.

use smallvec::SmallVec;
use term::{Arena, Bits, Linear, Op, TermId};

/// How deep ranges of terms inside extensions are looked for.
const MAX_DEPTH: u32 = 4;

/// Consecutive values of up to 64 bits, wrapping; not all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Range {
    lo: u64,
    hi: u64,
    width: u16,
}

fn mask(width: u16) -> u64 {
    u64::MAX >> (64 - width)
}

/// A number of that width read as signed.
fn signed(value: u64, width: u16) -> i64 {
    let unused = 64 - width;
    ((value << unused) as i64) >> unused
}

impl Range {
    /// `None` for all values.
    fn new(lo: u64, hi: u64, width: u16) -> Option<Range> {
        let (lo, hi) = (lo & mask(width), hi & mask(width));
        let range = Range { lo, hi, width };
        (range.length() < mask(width)).then_some(range)
    }

    /// One less than the number of values.
    fn length(self) -> u64 {
        self.hi.wrapping_sub(self.lo) & mask(self.width)
    }

    fn plus(self, other: Range) -> Option<Range> {
        let length = u128::from(self.length()) + u128::from(other.length());
        (length < u128::from(mask(self.width))).then_some(())?;
        Range::new(self.lo.wrapping_add(other.lo), self.hi.wrapping_add(other.hi), self.width)
    }

    fn times(self, factor: i64) -> Option<Range> {
        let length = u128::from(self.length()) * u128::from(factor.unsigned_abs());
        (length < u128::from(mask(self.width))).then_some(())?;
        let (lo, hi) = (self.lo.wrapping_mul(factor as u64), self.hi.wrapping_mul(factor as u64));
        if factor < 0 { Range::new(hi, lo, self.width) } else { Range::new(lo, hi, self.width) }
    }

    fn complement(self) -> Option<Range> {
        Range::new(self.hi.wrapping_add(1), self.lo.wrapping_sub(1), self.width)
    }

    fn contains(self, value: u64) -> bool {
        value.wrapping_sub(self.lo) & mask(self.width) <= self.length()
    }

    fn meets(self, other: Range) -> bool {
        self.contains(other.lo) || other.contains(self.lo)
    }

    /// A range that contains all common values: the intersection, or one of both where that is no range.
    fn meet(self, other: Range) -> Range {
        match (self.contains(other.lo), other.contains(self.lo)) {
            // Each begins inside the other: the intersection may have two parts.
            (true, true) => {
                if self.length() <= other.length() {
                    self
                } else {
                    other
                }
            }
            (true, false) => {
                if self.contains(other.hi) && !other.contains(self.hi) {
                    other
                } else {
                    Range { lo: other.lo, ..self }
                }
            }
            (false, true) => {
                if other.contains(self.hi) && !self.contains(other.hi) {
                    self
                } else {
                    Range { hi: other.hi, ..self }
                }
            }
            // Contradictory facts: either will do.
            (false, false) => self,
        }
    }
}

/// A sum without constant, and where it lies.
struct Fact {
    terms: SmallVec<[(TermId, Bits); 4]>,
    range: Range,
}

/// What is known about sums.
#[derive(Default)]
pub(crate) struct Ranges {
    facts: Vec<Fact>,
}

impl Ranges {
    /// Takes a truth-valued term for granted.
    pub(crate) fn add(&mut self, arena: &Arena, fact: TermId) {
        let Some((sum, Some(range))) = statement(arena, fact) else { return };
        let minus_one = Bits::ones(range.width);
        for known in &mut self.facts {
            if known.range.width != range.width {
                continue;
            }
            let other = if known.terms == sum.terms {
                Some(range)
            } else if known.terms == sum.clone().scaled(minus_one).terms {
                range.times(-1)
            } else {
                None
            };
            if let Some(other) = other {
                known.range = known.range.meet(other);
                return;
            }
        }
        self.facts.push(Fact { terms: sum.terms, range });
    }

    /// Is the condition false wherever the facts hold? `false` says nothing.
    pub(crate) fn excludes(&self, arena: &Arena, condition: TermId) -> bool {
        match arena.op(condition) {
            Op::And => arena.args(condition).iter().any(|part| self.excludes_literal(arena, *part)),
            Op::Or => arena.args(condition).iter().all(|part| self.excludes_literal(arena, *part)),
            _ => self.excludes_literal(arena, condition),
        }
    }

    fn excludes_literal(&self, arena: &Arena, condition: TermId) -> bool {
        let Some((sum, Some(wanted))) = statement(arena, condition) else { return false };
        self.range_of(arena, &sum, MAX_DEPTH).is_some_and(|range| !range.meets(wanted))
    }

    /// Where a sum lies.
    fn range_of(&self, arena: &Arena, sum: &Linear, depth: u32) -> Option<Range> {
        let width = sum.constant.width();
        let constant = sum.constant.low();
        let mut total = Range { lo: constant, hi: constant, width };
        let mut rest = sum.terms.clone();
        for fact in self.facts.iter().filter(|fact| fact.range.width == width) {
            for sign in [1, -1] {
                let part = fact.terms.iter().all(|(term, c)| {
                    let c = if sign == 1 { *c } else { c.neg() };
                    rest.iter().any(|(t, d)| t == term && *d == c)
                });
                if part && let Some(sum) = fact.range.times(sign).and_then(|range| total.plus(range)) {
                    rest.retain(|(term, _)| !fact.terms.iter().any(|(t, _)| t == term));
                    total = sum;
                }
            }
        }
        for (term, coefficient) in rest {
            let factor = signed(coefficient.low(), width);
            total = total.plus(self.range_of_term(arena, term, width, depth)?.times(factor)?)?;
        }
        Some(total)
    }

    /// Where a term lies that is no sum.
    fn range_of_term(&self, arena: &Arena, term: TermId, width: u16, depth: u32) -> Option<Range> {
        let known = self
            .facts
            .iter()
            .find(|f| {
                f.range.width == width && matches!(f.terms[..], [(t, c)] if t == term && c == Bits::new(width, 1))
            })
            .map(|fact| fact.range);
        let shape = self.range_of_shape(arena, term, width, depth);
        match (known, shape) {
            (Some(a), Some(b)) => Some(a.meet(b)),
            (a, b) => a.or(b),
        }
    }

    fn range_of_shape(&self, arena: &Arena, term: TermId, width: u16, depth: u32) -> Option<Range> {
        let args = arena.args(term);
        let inner = |i: usize| {
            let inner_width = arena.width(args[i]);
            let range = (depth > 0).then(|| self.range_of(arena, &Linear::of(arena, args[i]), depth - 1)).flatten();
            (inner_width, range)
        };
        match arena.op(term) {
            Op::Zext(_) => {
                let (from, range) = inner(0);
                let straight = range.filter(|range| range.lo <= range.hi);
                straight.map_or(Range::new(0, mask(from), width), |range| Range::new(range.lo, range.hi, width))
            }
            Op::Sext(_) => {
                let (from, range) = inner(0);
                let min = 1u64 << (from - 1);
                let ends = |range: Range| (signed(range.lo, from), signed(range.hi, from));
                let straight = range.map(ends).filter(|(lo, hi)| lo <= hi);
                let (lo, hi) = straight.unwrap_or((signed(min, from), signed(min - 1, from)));
                Range::new(lo as u64, hi as u64, width)
            }
            Op::BvAnd => Range::new(0, arena.as_u64(args[1])?, width),
            Op::Lshr => {
                let amount = arena.as_u64(args[1]).filter(|amount| *amount < u64::from(width))?;
                Range::new(0, mask(width) >> amount, width)
            }
            _ => None,
        }
    }
}

/// What a comparison says about a sum without constant: where it lies, `None` inside for a set that is no range.
fn statement(arena: &Arena, literal: TermId) -> Option<(Linear, Option<Range>)> {
    let (atom, positive) = match arena.op(literal) {
        Op::Not => (arena.arg(literal, 0), false),
        _ => (literal, true),
    };
    if !matches!(arena.op(atom), Op::Eq | Op::Ult | Op::Slt) {
        return None;
    }
    let (x, y) = (arena.arg(atom, 0), arena.arg(atom, 1));
    let width = arena.sort(x).width().filter(|width| *width <= 64)?;
    let constant = arena.as_u64(y);
    let (mut sum, range) = match (arena.op(atom), constant) {
        (Op::Eq, Some(c)) => match arena.op(x) {
            // The high bits of a number say in which block it lies.
            Op::Extract { hi, lo } if hi < 64 && hi + 1 == arena.width(arena.arg(x, 0)) && lo > 0 => {
                let whole = Linear::of(arena, arena.arg(x, 0));
                (whole, Range::new(c << lo, c << lo | mask(lo), hi + 1))
            }
            _ => (Linear::of(arena, x), Range::new(c, c, width)),
        },
        (Op::Eq, None) => {
            let mut sum = Linear::of(arena, x);
            sum.add_scaled(arena, y, Bits::ones(width));
            (sum, Range::new(0, 0, width))
        }
        (Op::Ult, Some(c)) if c > 0 => (Linear::of(arena, x), Range::new(0, c - 1, width)),
        (Op::Slt, Some(c)) => {
            let min = 1 << (width - 1);
            (c != min).then_some(())?;
            (Linear::of(arena, x), Range::new(min, c.wrapping_sub(1), width))
        }
        _ => return None,
    };
    let range = if positive { range } else { range?.complement() };
    let width = sum.constant.width();
    let offset = sum.constant.low();
    let range = range.and_then(|r| Range::new(r.lo.wrapping_sub(offset), r.hi.wrapping_sub(offset), width));
    sum.constant = Bits::zero(width);
    (!sum.terms.is_empty()).then_some((sum, range))
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;
    use term::eval::{Model, eval};

    fn all(width: u16) -> Vec<Range> {
        let values = 0..=mask(width);
        values.clone().flat_map(|lo| values.clone().filter_map(move |hi| Range::new(lo, hi, width))).collect()
    }

    #[test]
    fn ranges_agree_with_enumeration() {
        for a in all(3) {
            for factor in -4..4 {
                let product = a.times(factor);
                for x in (0..8).filter(|x| a.contains(*x)) {
                    assert!(product.is_none_or(|range| range.contains((x as i64).wrapping_mul(factor) as u64 & 7)));
                }
            }
            for x in 0..8 {
                assert!(a.complement().is_none_or(|rest| rest.contains(x) != a.contains(x)));
            }
            for b in all(3) {
                let (sum, meet) = (a.plus(b), a.meet(b));
                let meets = (0..8).any(|x| a.contains(x) && b.contains(x));
                assert_eq!(a.meets(b), meets);
                for x in (0..8).filter(|x| a.contains(*x)) {
                    assert!(!meets || !b.contains(x) || meet.contains(x), "{a:?} {b:?} {meet:?} {x}");
                    for y in (0..8).filter(|y| b.contains(*y)) {
                        assert!(sum.is_none_or(|range| range.contains((x + y) & 7)));
                    }
                }
            }
        }
    }

    #[test]
    fn arrays_in_bounds_do_not_meet() {
        let mut arena = Arena::new();
        let (a, b) = (arena.var("a", Sort::Bv(64)), arena.var("b", Sort::Bv(64)));
        let (i, j) = (arena.var("i", Sort::Bv(32)), arena.var("j", Sort::Bv(32)));
        let hundred = arena.bv(32, 100);
        let (d, e) = (arena.sub(a, b), arena.sub(b, a));
        let size = arena.bv(64, 400);
        let facts = [arena.ult(i, hundred), arena.ult(j, hundred), arena.ule(size, d), arena.ule(size, e)];
        let (zi, sj) = (arena.zext(i, 64), arena.sext(j, 64));
        let four = arena.bv(64, 4);
        let (oi, oj) = (arena.mul(zi, four), arena.mul(sj, four));
        let (p, q) = (arena.add(a, oi), arena.add(b, oj));
        let distance = arena.sub(p, q);
        let overlap = |arena: &mut Arena, by: i64, span: u64| {
            let (reach, span) = (arena.add_const(distance, by), arena.bv(64, span));
            arena.ult(reach, span)
        };
        let mut ranges = Ranges::default();
        let four_bytes = overlap(&mut arena, 3, 7);
        assert!(!ranges.excludes(&arena, four_bytes));
        facts.iter().for_each(|fact| ranges.add(&arena, *fact));
        assert!(ranges.excludes(&arena, four_bytes));
        let eight_bytes = overlap(&mut arena, 7, 11);
        assert!(!ranges.excludes(&arena, eight_bytes));
    }

    #[test]
    fn facts_about_a_sum_and_its_negation_meet() {
        let mut arena = Arena::new();
        let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
        let (d, e) = (arena.sub(x, y), arena.sub(y, x));
        let (ten, four) = (arena.bv(64, 10), arena.bv_i64(64, -4));
        let mut ranges = Ranges::default();
        // x − y in [0, 9], y − x in [−4, −1]: together x − y in [1, 4].
        let facts = [arena.raw(Op::Ult, &[d, ten]), arena.raw(Op::Ult, &[e, four])];
        ranges.add(&arena, facts[0]);
        let is = |arena: &mut Arena, value: u64| {
            let value = arena.bv(64, value);
            arena.raw(Op::Eq, &[d, value])
        };
        let (three, five) = (is(&mut arena, 3), is(&mut arena, 5));
        assert!(!ranges.excludes(&arena, five));
        let not = arena.raw(Op::Not, &[facts[1]]);
        ranges.add(&arena, not);
        assert!(ranges.excludes(&arena, five));
        assert!(!ranges.excludes(&arena, three));
    }

    /// A random condition that is excluded by random facts is false in every random state in which they hold.
    #[test]
    fn excluded_conditions_are_false() {
        let mut seed = 3u64;
        let mut roll = |sides: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % sides
        };
        let mut excluded = 0;
        for _ in 0..4000 {
            let mut arena = Arena::new();
            let literal = |arena: &mut Arena, roll: &mut dyn FnMut(u64) -> u64| {
                let wide = roll(3) > 0;
                let mut atom = |arena: &mut Arena| {
                    let x = arena.var(["x", "y"][roll(2) as usize], Sort::Bv(4));
                    match roll(4) {
                        _ if !wide => x,
                        0 => arena.sext(x, 6),
                        1 => arena.zext(x, 6),
                        n => arena.var(["v", "w"][n as usize - 2], Sort::Bv(6)),
                    }
                };
                let (a, b) = (atom(arena), atom(arena));
                let width = arena.width(a);
                let factor = arena.bv(width, roll(6));
                let scaled = arena.mul(b, factor);
                let sum = arena.add(a, scaled);
                let mut sum = arena.add_const(sum, roll(16) as i64);
                if roll(2) == 0 {
                    sum = arena.neg(sum);
                }
                let (lo, bound) = (1 + roll(u64::from(width) - 1) as u16, roll(64));
                // As written: the arena's normal form would hide some of the cases.
                let (x, width, op) = match roll(4) {
                    0 => (arena.raw(Op::Extract { hi: width - 1, lo }, &[sum]), width - lo, Op::Eq),
                    n => (sum, width, [Op::Ult, Op::Slt, Op::Eq][n as usize - 1]),
                };
                let bound = arena.bv(width, bound);
                let atom = arena.raw(op, &[x, bound]);
                if roll(2) == 0 { atom } else { arena.bool_not(atom) }
            };
            let facts: Vec<TermId> = (0..3).map(|_| literal(&mut arena, &mut roll)).collect();
            let condition = literal(&mut arena, &mut roll);
            let mut ranges = Ranges::default();
            facts.iter().for_each(|fact| ranges.add(&arena, *fact));
            if arena.as_bool(condition).is_some() || !ranges.excludes(&arena, condition) {
                continue;
            }
            excluded += 1;
            for _ in 0..1000 {
                let mut model = Model::default();
                for name in ["x", "y", "v", "w"] {
                    if let Some(var) = arena.find_var(name) {
                        let width = arena.var_sort(var).width().unwrap_or(1);
                        model.set_bits(var, Bits::new(width, roll(64)));
                    }
                }
                let holds = facts.iter().all(|fact| eval(&arena, *fact, &model).bool());
                assert!(!holds || !eval(&arena, condition, &model).bool(), "{}", arena.text(condition));
            }
        }
        assert!(excluded > 50, "{excluded}");
    }
}
