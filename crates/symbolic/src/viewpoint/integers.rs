//! Sums as integers: what orders of pointers and indices say about the distance of two accesses.
//!
//! `a + 4·n ≤ b` and `i + 4 ≤ n` keep `a[i]` and `b[n − 1 − i]` apart, if no sum wraps: then each is the integer that it
//! is meant to be, and the distance is a combination of what is known with factors that are not negative.
//!
//! Trust: full. An order counts only where the intervals of both sides show that they do not wrap.

use crate::Known;
use rustc_hash::FxHashMap;
use term::{Arena, Linear, Op, TermId, VarId};

/// A term, read as a signed or unsigned number.
type Atom = (TermId, bool);

/// `Σ factor·atom + constant`, over the integers.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Sum {
    terms: Vec<(Atom, i128)>,
    constant: i128,
}

/// Addresses of the program are below this.
const END_OF_ADDRESSES: i128 = 1 << 47;
const FIRST_ADDRESS: i128 = 4096;
/// Larger factors and longer sums are not looked at.
const LARGEST_FACTOR: i64 = 1 << 32;
const MOST_TERMS: usize = 6;
/// Known orders that are combined, and attempts to do so.
const MOST_COMBINED: usize = 4;
const MOST_ATTEMPTS: usize = 400;
const LARGEST_MULTIPLE: i128 = 64;
/// What unrolled loops leave over has at most so many bits.
const LONGEST_REST: u16 = 7;

impl Sum {
    fn add(&mut self, other: &Sum, factor: i128) {
        for (atom, f) in &other.terms {
            match self.terms.iter_mut().find(|(a, _)| a == atom) {
                Some((_, g)) => *g += factor * f,
                None => self.terms.push((*atom, factor * f)),
            }
        }
        self.terms.retain(|(_, f)| *f != 0);
        self.constant += factor * other.constant;
    }

    fn minus(&self, other: &Sum, factor: i128) -> Sum {
        let mut out = self.clone();
        out.add(other, -factor);
        out
    }
}

/// What is known, in the form of integers.
pub(super) struct Integers {
    known: Known,
    pointers: Vec<VarId>,
    /// What numbers are at most, because of those that they are below.
    most: FxHashMap<Atom, i128>,
    /// Sums that are not negative.
    facts: Vec<Sum>,
}

impl Integers {
    /// Reads the orders of what is known, given variables that are addresses of the program.
    pub fn new(arena: &Arena, known: Known, pointers: Vec<VarId>) -> Self {
        let mut out = Integers { known, pointers, most: FxHashMap::default(), facts: Vec::new() };
        // Of orders between the same sums, the strongest.
        let mut strongest: FxHashMap<Vec<(Atom, i128)>, i128> = FxHashMap::default();
        for (x, y, least) in &out.known.gaps {
            let (low, high) = Known::limits(arena.width(*x), true);
            let mut gap = Sum { terms: vec![((*y, true), 1), ((*x, true), -1)], constant: 0 };
            let (a, b) = out.interval(arena, &gap);
            if arena.width(*x) < 64 && a >= low && b <= high {
                gap.terms.sort_unstable();
                let constant = strongest.entry(gap.terms).or_insert(-least);
                *constant = (-least).min(*constant);
            }
        }
        // Each order says that a number can grow a little without wrapping: small constants first.
        let mut orders = out.known.orders.clone();
        orders.sort_by_key(|o| o.offset.unsigned_abs() + o.above_offset.unsigned_abs());
        for order in &orders {
            let width = arena.width(order.base);
            let (low, high) = Known::limits(width, order.signed);
            let sides = [(order.base, order.offset), (order.above, order.above_offset)].map(|(term, offset)| {
                let mut sum = out.sum(arena, term, order.signed)?;
                sum.constant += offset;
                let (a, b) = out.interval(arena, &sum);
                (a >= low && b <= high).then_some(sum)
            });
            let [Some(below), Some(above)] = sides else { continue };
            if let [(atom, 1)] = below.terms[..] {
                let most = out.interval(arena, &above).1 - i128::from(order.strict) - below.constant;
                let known = out.most.entry(atom).or_insert(most);
                *known = most.min(*known);
            }
            let mut gap = above.minus(&below, 1);
            gap.constant -= i128::from(order.strict);
            gap.terms.sort_unstable();
            let constant = strongest.entry(gap.terms).or_insert(gap.constant);
            *constant = gap.constant.min(*constant);
        }
        let mut facts: Vec<Sum> = strongest.into_iter().map(|(terms, constant)| Sum { terms, constant }).collect();
        facts.sort_by(|a, b| (&a.terms, a.constant).cmp(&(&b.terms, b.constant)));
        out.facts = facts;
        out
    }

    /// Does no access of `n` bytes at `a` overlap one of `m` bytes at `b`?
    pub fn keep_apart(&self, arena: &Arena, (a, n): (TermId, u16), (b, m): (TermId, u16)) -> bool {
        let (Some(a), Some(b)) = (self.sum(arena, a, false), self.sum(arena, b, false)) else { return false };
        let (n, m) = (i128::from(n), i128::from(m));
        let gap = a.minus(&b, 1);
        let (low, high) = self.interval(arena, &gap);
        // Not so far from each other that the distance wraps.
        let all = 1i128 << 64;
        if low < m - all || high > all - n {
            return false;
        }
        let mut behind = gap.clone();
        behind.constant -= m;
        let mut before = b.minus(&a, 1);
        before.constant -= n;
        [behind, before].iter().any(|goal| {
            let mut facts = self.facts.clone();
            facts.extend(self.parts(arena, goal));
            self.is_positive(arena, &facts, goal, MOST_COMBINED, &mut MOST_ATTEMPTS.clone())
        })
    }

    /// What numbers have to do with their upper bits: `n = 2^k·(n >> k) + rest`.
    fn parts(&self, arena: &Arena, goal: &Sum) -> Vec<Sum> {
        let mut atoms: Vec<Atom> =
            goal.terms.iter().chain(self.facts.iter().flat_map(|f| &f.terms)).map(|t| t.0).collect();
        atoms.sort_unstable();
        atoms.dedup();
        let mut out = Vec::new();
        for (part, signed) in &atoms {
            let Op::Extract { hi, lo: k @ 1..=LONGEST_REST } = arena.op(*part) else { continue };
            let inner = arena.arg(*part, 0);
            for whole in atoms.iter().filter(|(w, _)| w != part && !signed) {
                let same = match arena.op(whole.0) {
                    Op::Extract { hi: top, lo: 0 } => arena.arg(whole.0, 0) == inner && top >= hi,
                    _ => whole.0 == inner,
                };
                let (low, high) = self.known.range(arena, whole.0, whole.1);
                if !same || low < 0 || high >= 1i128 << (hi + 1) {
                    continue;
                }
                let mut gap = Sum { terms: vec![(*whole, 1), ((*part, false), -(1i128 << k))], constant: 0 };
                let rest = arena.lookup(Op::Extract { hi: k - 1, lo: 0 }, &[inner]);
                let most = match rest {
                    Some(rest) => {
                        gap.terms.push(((rest, self.canonical(arena, (rest, false)).1), -1));
                        0
                    }
                    None => (1 << k) - 1,
                };
                let mut back = Sum { terms: Vec::new(), constant: most };
                back.add(&gap, -1);
                out.extend([gap, back]);
            }
        }
        out
    }

    /// Is the sum at least zero because some known ones are?
    fn is_positive(&self, arena: &Arena, facts: &[Sum], goal: &Sum, depth: usize, left: &mut usize) -> bool {
        if self.interval(arena, goal).0 >= 0 {
            return true;
        }
        if depth == 0 || goal.terms.len() > MOST_TERMS {
            return false;
        }
        for fact in facts {
            for (atom, f) in &fact.terms {
                let Some((_, g)) = goal.terms.iter().find(|(a, _)| a == atom) else { continue };
                let multiple = g / f;
                if g % f != 0 || !(1..=LARGEST_MULTIPLE).contains(&multiple) || *left == 0 {
                    continue;
                }
                *left -= 1;
                if self.is_positive(arena, facts, &goal.minus(fact, multiple), depth - 1, left) {
                    return true;
                }
            }
        }
        false
    }

    /// The integer that a term is, up to multiples of two to the power of its width.
    fn sum(&self, arena: &Arena, term: TermId, signed: bool) -> Option<Sum> {
        let linear = Linear::of(arena, term);
        let width = arena.width(term);
        let mut out = Sum { terms: Vec::new(), constant: i128::from(linear.constant.to_i64()?) };
        for (part, factor) in &linear.terms {
            let factor = factor.to_i64().filter(|f| f.unsigned_abs() <= LARGEST_FACTOR as u64)?;
            let atom = match arena.op(*part) {
                Op::Zext(_) => (arena.arg(*part, 0), false),
                Op::Sext(_) => (arena.arg(*part, 0), true),
                _ => (*part, signed && width < 64),
            };
            let atom = self.canonical(arena, atom);
            out.add(&Sum { terms: vec![(atom, 1)], constant: 0 }, i128::from(factor));
        }
        (out.terms.len() <= MOST_TERMS).then_some(out)
    }

    /// A number without a sign is the same either way.
    fn canonical(&self, arena: &Arena, (term, signed): Atom) -> Atom {
        let small = !signed && arena.width(term) < 64 && self.known.range(arena, term, true).0 >= 0;
        (term, signed || small)
    }

    fn interval(&self, arena: &Arena, sum: &Sum) -> (i128, i128) {
        sum.terms.iter().fold((sum.constant, sum.constant), |(low, high), ((term, signed), factor)| {
            let (mut a, mut b) = self.known.range(arena, *term, *signed);
            b = self.most.get(&(*term, *signed)).map_or(b, |most| b.min(*most));
            if arena.as_var(*term).is_some_and(|var| self.pointers.contains(&var)) {
                (a, b) = (a.max(FIRST_ADDRESS), b.min(END_OF_ADDRESSES));
            }
            let ends = [a * factor, b * factor];
            (low + ends[0].min(ends[1]), high + ends[0].max(ends[1]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::eval::{Evaluator, Model};
    use term::{Bits, Sort};

    /// A sum over two pointers and two indices.
    type Shape = (usize, [i64; 2], i64);

    fn address(arena: &mut Arena, (base, factors, constant): Shape, signed: bool) -> TermId {
        let mut out = arena.var(["p", "q"][base], Sort::Bv(64));
        for (name, factor) in ["i", "n"].into_iter().zip(factors) {
            let index = arena.var(name, Sort::Bv(32));
            let wide = if signed { arena.sext(index, 64) } else { arena.zext(index, 64) };
            let factor = arena.constant(Bits::from_i64(64, factor));
            let part = arena.mul(wide, factor);
            out = arena.add(out, part);
        }
        arena.add_const(out, constant)
    }

    fn shape() -> impl Strategy<Value = Shape> {
        let factor = prop::sample::select(vec![0i64, 0, 4, 4, -4, 8]);
        (0..2usize, prop::array::uniform2(factor), -20i64..20)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20000, failure_persistence: None, ..ProptestConfig::default() })]

        /// In a state where everything holds that is known, accesses that are said to be apart are.
        #[test]
        fn what_is_kept_apart_does_not_overlap(
            places in prop::array::uniform2(4096u64..4400), near_end: bool,
            indices in prop::array::uniform2(prop_oneof![0u32..40, u32::MAX - 8..=u32::MAX, (1u32 << 31) - 4..(1u32 << 31) + 4]),
            orders in prop::collection::vec((shape(), shape(), any::<bool>()), 0..3),
            narrow in prop::collection::vec((-4i64..5, any::<bool>(), any::<bool>()), 0..3),
            rounded: bool, accesses in prop::array::uniform2(shape()), sizes in prop::array::uniform2(1u16..17), signed: bool,
        ) {
            let mut arena = Arena::new();
            let [p, q] = ["p", "q"].map(|name| arena.var(name, Sort::Bv(64)));
            let [i, n] = ["i", "n"].map(|name| arena.var(name, Sort::Bv(32)));
            let mut model = Model::seeded(1);
            let shift = if near_end { (1u64 << 47) - 4500 } else { 0 };
            for (term, value) in [(p, places[0] + shift), (q, places[1] + shift)] {
                model.set_bits(arena.as_var(term).expect("a variable"), Bits::new(64, value));
            }
            for (term, value) in [(i, indices[0]), (n, indices[1])] {
                model.set_bits(arena.as_var(term).expect("a variable"), Bits::new(32, u64::from(value)));
            }
            let mut facts = Vec::new();
            for (a, b, holds) in orders {
                let (a, b) = (address(&mut arena, a, signed), address(&mut arena, b, signed));
                let fact = arena.ult(a, b);
                facts.push(if holds { fact } else { arena.bool_not(fact) });
            }
            for (constant, sign, turned) in narrow {
                let sum = arena.add_const(i, constant);
                let (a, b) = if turned { (n, sum) } else { (sum, n) };
                facts.push(if sign { arena.slt(a, b) } else { arena.ult(a, b) });
                facts.push(if sign { arena.slt(i, n) } else { arena.bool(true) });
                let (gap, least) = (arena.sub(n, i), arena.bv(32, 2));
                let near = arena.slt(gap, least);
                facts.push(if turned { arena.bool(true) } else { arena.bool_not(near) });
                let zero = arena.bv(32, 0);
                let negative = arena.slt(i, zero);
                facts.push(arena.bool_not(negative));
            }
            let condition = arena.bool_and_all(&facts);
            let known = Known::from_condition(&mut arena, condition);
            let [mut a, b] = accesses.map(|shape| address(&mut arena, shape, signed));
            if rounded {
                let upper = arena.extract(n, 30, 2);
                let upper = arena.zext(upper, 64);
                let four = arena.bv(64, 16);
                let part = arena.mul(upper, four);
                a = arena.add(a, part);
            }
            let pointers = [p, q].map(|t| arena.as_var(t).expect("a variable")).to_vec();
            let integers = Integers::new(&arena, known, pointers);
            let apart = integers.keep_apart(&arena, (a, sizes[0]), (b, sizes[1]));
            let mut evaluator = Evaluator::new(&arena, &model);
            if apart && evaluator.bool(condition) {
                let gap = evaluator.bits(a).low().wrapping_sub(evaluator.bits(b).low());
                prop_assert!(gap >= u64::from(sizes[1]) && gap.wrapping_neg() >= u64::from(sizes[0]));
            }
        }
    }

    #[test]
    fn blocks_that_do_not_overlap_have_no_elements_in_common() {
        let mut arena = Arena::new();
        // p + 4·n ≤ q, 0 < n, 0 ≤ i, and i, i + 1, i + 2 and i + 3 below n.
        let end = address(&mut arena, (0, [0, 4], 0), true);
        let q = arena.var("q", Sort::Bv(64));
        let [i, n] = ["i", "n"].map(|name| arena.var(name, Sort::Bv(32)));
        let near = arena.ult(q, end);
        let zero = arena.bv(32, 0);
        let negative = arena.slt(i, zero);
        let one = arena.bv(32, 1);
        let nothing = arena.slt(n, one);
        let mut facts = vec![arena.bool_not(near), arena.bool_not(negative), arena.bool_not(nothing)];
        for k in 0..4 {
            let later = arena.add_const(i, k);
            facts.push(arena.slt(later, n));
        }
        let condition = arena.bool_and_all(&facts);
        let known = Known::from_condition(&mut arena, condition);
        let p = arena.var("p", Sort::Bv(64));
        let pointers = [p, q].map(|t| arena.as_var(t).expect("a variable")).to_vec();
        // p[i + k] and q[n − 1 − i − j]
        let mut apart = |k: i64, j: i64, pointers: &[VarId]| {
            let ours = address(&mut arena, (0, [4, 0], 4 * k), true);
            let theirs = address(&mut arena, (1, [-4, 4], -4 - 4 * j), true);
            Integers::new(&arena, known.clone(), pointers.to_vec()).keep_apart(&arena, (ours, 4), (theirs, 4))
        };
        assert!(apart(0, 0, &pointers) && apart(3, 3, &pointers));
        assert!(!apart(4, 4, &pointers), "the fifth element may be q's first");
        assert!(!apart(0, 0, &[]), "a pointer that is none may wrap");
    }
}
