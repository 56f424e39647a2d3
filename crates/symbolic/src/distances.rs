//! Distances of pointers that a path has compared with constants, which is how compilers ask whether a loop may do several
//! elements at once.
//!
//! Trust: full. A distance is used only under the condition that says so.

use term::{Arena, Bits, Linear, Op, Sort, TermId, VarId};

/// A sum without its constant, and the interval that it lies in; from `low` up to `high`, perhaps through zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Distance {
    base: TermId,
    low: u64,
    high: u64,
}

/// What is known about distances and about alignment, for [`crate::Context::alias`].
#[derive(Clone, Default, Debug)]
pub(crate) struct Distances {
    known: Vec<Distance>,
    /// Sums without their constants, and a value that each does not have.
    other: Vec<(TermId, u64)>,
    /// Is there an order of two sums that could be addresses?
    ordered: bool,
    /// Of these conditions, one at least holds.
    pub clauses: Vec<Vec<TermId>>,
    /// Variables that are addresses of the program and multiples of a power of two.
    pub pointers: Vec<(VarId, u16)>,
}

/// More comparisons of one condition are not looked at.
const MOST_DISTANCES: usize = 16;
/// Conditions of which one holds: so many at most, and so many of them.
const MOST_ALTERNATIVES: usize = 4;
const MOST_CLAUSES: usize = 4;

impl Distances {
    /// Are there distances at all?
    pub fn is_empty(&self) -> bool {
        self.known.is_empty() && !self.ordered && self.clauses.is_empty()
    }

    /// Notes conditions of which one holds, if they compare what could be addresses.
    pub fn learn_clause(&mut self, arena: &Arena, alternatives: &[TermId]) {
        let compares = |term: &TermId| {
            let literals = if arena.op(*term) == Op::And { arena.args(*term).to_vec() } else { vec![*term] };
            literals.into_iter().any(|literal| {
                let inner = if arena.op(literal) == Op::Not { arena.arg(literal, 0) } else { literal };
                arena.op(inner) == Op::Ult && compares_sums(arena, inner)
            })
        };
        let few = alternatives.len() <= MOST_ALTERNATIVES && self.clauses.len() < MOST_CLAUSES;
        if few && alternatives.iter().all(compares) {
            self.clauses.push(alternatives.to_vec());
        }
    }

    /// Learns from a comparison, or from its negation.
    pub fn learn(&mut self, arena: &mut Arena, term: TermId, holds: bool) {
        let compares = matches!(arena.op(term), Op::Ult | Op::Eq) && arena.sort(arena.arg(term, 0)) == Sort::Bv(64);
        if !compares || self.known.len() + self.other.len() >= MOST_DISTANCES {
            return;
        }
        let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
        if arena.op(term) == Op::Eq {
            let mut gap = Linear::of(arena, a);
            gap.add_scaled(arena, b, Bits::from_i64(64, -1));
            let value = gap.constant.low().wrapping_neg();
            if gap.terms.len() >= 2 && !holds {
                let base = without_constant(arena, gap);
                self.other.push((base, value));
            }
            return;
        }
        // The interval of the side that is no constant.
        let (sum, low, high) = match (arena.as_u64(a), arena.as_u64(b), holds) {
            (None, Some(0), _) | (Some(u64::MAX), None, _) => return,
            (None, Some(c), true) => (a, 0, c - 1),
            (None, Some(c), false) => (a, c, u64::MAX),
            (Some(c), None, true) => (b, c + 1, u64::MAX),
            (Some(c), None, false) => (b, 0, c),
            _ => {
                self.ordered |= compares_sums(arena, term);
                return;
            }
        };
        let linear = Linear::of(arena, sum);
        if linear.terms.len() < 2 {
            return;
        }
        let constant = linear.constant.low();
        let base = without_constant(arena, linear);
        let distance = Distance { base, low: low.wrapping_sub(constant), high: high.wrapping_sub(constant) };
        if !self.known.contains(&distance) {
            self.known.push(distance);
        }
    }

    /// Notes that a variable is an address of the program and a multiple of a power of two.
    pub fn note_pointer(&mut self, var: VarId, bytes: u16) {
        if bytes.is_power_of_two() && !self.pointers.contains(&(var, bytes)) {
            self.pointers.push((var, bytes));
            self.pointers.sort_unstable();
        }
    }

    /// Does no access of `n` bytes at `a` overlap one of `m` bytes at `b`?
    pub fn keep_apart(&self, arena: &mut Arena, (a, n): (TermId, u16), (b, m): (TermId, u16)) -> bool {
        if self.known.is_empty() {
            return false;
        }
        // `a − b` must be at least m, and `b − a` at least n.
        [((a, b), (n, m)), ((b, a), (m, n))].into_iter().any(|((a, b), (n, m))| {
            let mut gap = Linear::of(arena, a);
            gap.add_scaled(arena, b, Bits::from_i64(64, -1));
            let constant = gap.constant.low();
            let stride = self.stride(arena, &gap);
            let base = without_constant(arena, gap.clone());
            let turned = without_constant(arena, gap.scaled(Bits::from_i64(64, -1)));
            let never = |value: u64| {
                self.other.contains(&(base, value)) || self.other.contains(&(turned, value.wrapping_neg()))
            };
            self.known.iter().filter(|d| d.base == base).any(|d| {
                let Some((mut low, mut high)) = on_grid(d.low, d.high, stride) else { return false };
                if low != high && never(low) {
                    low = low.wrapping_add(stride);
                }
                if low != high && never(high) {
                    high = high.wrapping_sub(stride);
                }
                let (low, high) = (low.wrapping_add(constant), high.wrapping_add(constant));
                low <= high && low >= u64::from(m) && high <= 0u64.wrapping_sub(u64::from(n))
            })
        })
    }

    /// A power of two that the sum without its constant is a multiple of.
    fn stride(&self, arena: &Arena, sum: &Linear) -> u64 {
        let each = sum.terms.iter().map(|(term, factor)| {
            let of_term = arena.as_var(*term).and_then(|v| self.pointers.iter().find(|(a, _)| *a == v));
            let zeros = factor.low().trailing_zeros() + of_term.map_or(0, |(_, bytes)| bytes.trailing_zeros());
            1u64 << zeros.min(12)
        });
        each.min().unwrap_or(1)
    }
}

fn without_constant(arena: &mut Arena, linear: Linear) -> TermId {
    Linear { constant: Bits::zero(64), ..linear }.build(arena)
}

/// The first and the last multiple of the stride in an interval, if it has any.
fn on_grid(low: u64, high: u64, stride: u64) -> Option<(u64, u64)> {
    let up = low.wrapping_neg() % stride;
    let down = high % stride;
    let length = high.wrapping_sub(low);
    (up.checked_add(down)? <= length).then(|| (low.wrapping_add(up), high - down))
}

/// Are the two sides of a comparison sums of addresses' width that are no constants?
fn compares_sums(arena: &Arena, comparison: TermId) -> bool {
    let sides = [0, 1].map(|i| arena.arg(comparison, i));
    arena.sort(sides[0]) == Sort::Bv(64) && sides.iter().all(|side| arena.as_const(*side).is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::eval::{Evaluator, Model};

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

        /// In every state where the comparison holds, accesses that are said to be apart have no byte in common.
        #[test]
        fn what_is_kept_apart_does_not_overlap(
            p in 0u64..200, q in 0u64..200, align in prop::sample::select(vec![1u16, 2, 4, 8]),
            offset in -40i64..40, limit in 0u64..64, holds: bool, turned: bool, constant_first: bool, other in -40i64..40,
            distances in prop::array::uniform2(-48i64..48), sizes in prop::array::uniform2(1u16..17),
        ) {
            let mut arena = Arena::new();
            let [x, y] = ["p", "q"].map(|name| arena.var(name, Sort::Bv(64)));
            let gap = arena.sub(x, y);
            let sum = arena.add_const(gap, offset);
            let limit = arena.bv(64, if turned { limit.wrapping_neg() } else { limit });
            let fact = if constant_first { arena.ult(limit, sum) } else { arena.ult(sum, limit) };
            let mut set = Distances::default();
            if arena.op(fact) == Op::Not {
                let inner = arena.arg(fact, 0);
                set.learn(&mut arena, inner, !holds);
            } else {
                set.learn(&mut arena, fact, holds);
            }
            let far = arena.add_const(y, other);
            let same = arena.eq(x, far);
            set.learn(&mut arena, same, false);
            let mut model = Model::seeded(1);
            for (term, value) in [(x, p), (y, q)] {
                let var = arena.as_var(term).expect("a variable");
                let value = value / u64::from(align) * u64::from(align);
                set.note_pointer(var, align);
                model.set_bits(var, Bits::new(64, 4096 + value));
            }
            let [a, b] = [(x, distances[0]), (y, distances[1])].map(|(t, d)| arena.add_const(t, d));
            let apart = set.keep_apart(&mut arena, (a, sizes[0]), (b, sizes[1]));
            let mut evaluator = Evaluator::new(&arena, &model);
            if evaluator.bool(fact) == holds && !evaluator.bool(same) && apart {
                let (a, b) = (evaluator.bits(a).low(), evaluator.bits(b).low());
                prop_assert!(a + u64::from(sizes[0]) <= b || b + u64::from(sizes[1]) <= a);
            }
        }
    }

    #[test]
    fn a_compilers_check_keeps_four_elements_apart() {
        let mut arena = Arena::new();
        let [a, b] = ["a", "b"].map(|name| arena.var(name, Sort::Bv(64)));
        // `a − (b + 4) > 8`: of aligned pointers, no element of b is one of the three before it in a.
        let gap = arena.sub(a, b);
        let sum = arena.add_const(gap, -4);
        let nine = arena.bv(64, 9);
        let near = arena.ult(sum, nine);
        let mut set = Distances::default();
        set.learn(&mut arena, near, false);
        let next = |arena: &mut Arena, set: &Distances, k: i64| {
            let later = arena.add_const(b, 4 * k);
            set.keep_apart(arena, (later, 4), (a, 4))
        };
        assert!(!next(&mut arena, &set, 1), "a could be three bytes behind b");
        for var in [a, b] {
            let var = arena.as_var(var).expect("a variable");
            set.note_pointer(var, 4);
        }
        assert_eq!([0, 1, 2, 3, 4].map(|k| next(&mut arena, &set, k)), [false, true, true, true, false]);
    }
}
