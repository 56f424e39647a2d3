//! Extensions pushed into sums: `sext64(i + 1)` is `sext64(i) + 1` where what is known says that `i + 1` does not wrap.
//!
//! Indices are narrow and addresses wide. Only with all addresses in the wide form do their distances become constants,
//! so that memory can be resolved without a solver.

use crate::Known;
use crate::known::Order;
use rustc_hash::FxHashMap;
use term::{Arena, Bits, Linear, Op, TermId};

/// Deeper terms are not looked into.
const DEEPEST: usize = 12;
/// Sums inside sums, and parts of one, whose ranges are looked at.
const DEEPEST_SUM: usize = 3;
const MOST_PARTS: usize = 4;

/// A term without its constant part, and that part.
fn split(arena: &mut Arena, term: TermId) -> (TermId, i128) {
    let linear = Linear::of(arena, term);
    let constant = linear.constant;
    if constant.is_zero() || linear.terms.is_empty() {
        return (term, 0);
    }
    let width = constant.width();
    let base = Linear { terms: linear.terms, constant: Bits::zero(width) }.build(arena);
    (base, i128::from(constant.to_i64().unwrap_or(0)))
}

impl Known {
    /// Notes an order between two terms that are no constants.
    pub(crate) fn learn_order(&mut self, arena: &mut Arena, term: TermId, holds: bool) {
        let signed = match arena.op(term) {
            Op::Slt => true,
            Op::Ult => false,
            _ => return,
        };
        let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
        if arena.as_const(a).is_some() || arena.as_const(b).is_some() || arena.width(a) > 64 {
            return;
        }
        let (low, high) = if holds { (a, b) } else { (b, a) };
        let ((base, offset), (above, above_offset)) = (split(arena, low), split(arena, high));
        self.orders.push(Order { base, offset, above, above_offset, strict: holds, signed });
    }

    /// Notes `least ≤ y − x` (signed) for two terms, given as a comparison of the difference with a constant.
    pub(crate) fn learn_gap(&mut self, arena: &Arena, difference: TermId, least: i128) {
        let linear = Linear::of(arena, difference);
        if let ([a, b], true) = (&linear.terms[..], linear.constant.is_zero()) {
            match (a.1.to_i64(), b.1.to_i64()) {
                (Some(1), Some(-1)) => self.gaps.push((b.0, a.0, least)),
                (Some(-1), Some(1)) => self.gaps.push((a.0, b.0, least)),
                _ => {}
            }
        }
    }

    /// Is `a < b` (or not) because of what is known about the distance of the two?
    pub(crate) fn decide_order(&self, arena: &Arena, term: TermId) -> Option<bool> {
        let compares = matches!(arena.op(term), Op::Slt | Op::Ult);
        if !compares || self.gaps.is_empty() || arena.width(arena.arg(term, 0)) > 64 {
            return None;
        }
        let [a, b] = [0, 1].map(|i| Linear::of(arena, arena.arg(term, i)));
        let one = |l: &Linear| match &l.terms[..] {
            [(base, factor)] if factor.to_i64() == Some(1) => Some((*base, i128::from(l.constant.to_i64()?))),
            _ => None,
        };
        let ((x, up), (y, more)) = (one(&a)?, one(&b)?);
        // `x < y` (signed) and x not negative, so that the difference is a true one; then `x + up` does not wrap below y,
        // and the two orders agree.
        let below = |o: &Order| (o.base, o.offset, o.above, o.above_offset) == (x, 0, y, 0) && o.strict && o.signed;
        let positive = self.bounds_of(x, true).is_some_and(|(low, _)| low >= 0);
        let least = self.gaps.iter().filter(|g| g.0 == x && g.1 == y).map(|g| g.2).max()?;
        let fits = positive && self.orders.iter().any(below) && more == 0 && (0..least).contains(&up);
        fits.then_some(true)
    }

    /// Largest and smallest value of the width.
    pub(crate) fn limits(width: u16, signed: bool) -> (i128, i128) {
        let half = 1i128 << (width - 1);
        if signed { (-half, half - 1) } else { (0, 2 * half - 1) }
    }

    pub(crate) fn range(&self, arena: &Arena, term: TermId, signed: bool) -> (i128, i128) {
        self.range_within(arena, term, signed, DEEPEST_SUM)
    }

    fn range_within(&self, arena: &Arena, term: TermId, signed: bool, depth: usize) -> (i128, i128) {
        let width = arena.width(term);
        let full = Known::limits(width, signed);
        if let Some(constant) = arena.as_const(term) {
            let value = if signed { i128::from(constant.to_i64().unwrap_or(0)) } else { i128::from(constant.low()) };
            return (value, value);
        }
        let inner = match arena.op(term) {
            Op::Zext(_) => {
                let (low, high) = self.range_within(arena, arena.arg(term, 0), false, depth);
                (full.0.max(low), full.1.min(high))
            }
            Op::Sext(_) if signed => Known::limits(arena.width(arena.arg(term, 0)), true),
            // A number shifted to the right, if it is not negative.
            Op::Extract { hi, lo } if lo > 0 => {
                let inner = arena.arg(term, 0);
                let whole = if hi + 1 == arena.width(inner) {
                    Some(inner)
                } else {
                    arena.lookup(Op::Extract { hi, lo: 0 }, &[inner])
                };
                match whole.filter(|w| arena.width(*w) <= 64).map(|w| self.range_within(arena, w, true, depth)) {
                    Some((low, high)) if low >= 0 => (full.0.max(low >> lo), full.1.min(high >> lo)),
                    _ => full,
                }
            }
            // The low bits of a number that has no others.
            Op::Extract { lo: 0, .. } if arena.width(arena.arg(term, 0)) <= 64 => {
                let (low, high) = self.range_within(arena, arena.arg(term, 0), signed, depth);
                if low >= full.0 && high <= full.1 { (low, high) } else { full }
            }
            // A mask only takes away, if there is no sign that it could take.
            Op::BvAnd if depth > 0 && width <= 64 => arena.args(term).iter().fold(full, |(low, high), part| match self
                .range_within(arena, *part, signed, depth - 1)
            {
                (least, most) if least >= 0 => (low.max(0), high.min(most)),
                _ => (low, high),
            }),
            // What is put behind the bits of a number that is not negative.
            Op::Concat if depth > 0 && width <= 64 => {
                let first = arena.arg(term, 0);
                let behind = width - arena.width(first);
                match self.range_within(arena, first, signed, depth - 1) {
                    (least, most) if least >= 0 => (least << behind, ((most + 1) << behind) - 1),
                    _ => full,
                }
            }
            Op::Ite if depth > 0 && width <= 64 => {
                let [a, b] = [1, 2].map(|i| self.range_within(arena, arena.arg(term, i), signed, depth - 1));
                (a.0.min(b.0), a.1.max(b.1))
            }
            // A sum whose parts say that it does not wrap: `8·((n − 1) >> 3)`, where a vectorised loop ends.
            Op::Add | Op::Mul if depth > 0 && width <= 64 => {
                self.sum_range(arena, term, signed, depth - 1).unwrap_or(full)
            }
            _ => full,
        };
        let (low, high) = self.bounds_of(term, signed).unwrap_or(full);
        // Of numbers without a sign, both readings have the same bounds.
        let (others, end) = (self.bounds_of(term, !signed), Known::limits(width, true).1);
        let (least, most) = others.filter(|(a, b)| *a >= 0 && *b <= end).unwrap_or(full);
        (inner.0.max(low).max(least), inner.1.min(high).min(most))
    }

    /// The range of a sum, if its parts keep it inside its width.
    fn sum_range(&self, arena: &Arena, term: TermId, signed: bool, depth: usize) -> Option<(i128, i128)> {
        let linear = Linear::of(arena, term);
        let itself = linear.terms.len() == 1 && linear.terms[0].0 == term;
        if itself || linear.terms.is_empty() || linear.terms.len() > MOST_PARTS {
            return None;
        }
        let constant = i128::from(linear.constant.to_i64()?);
        let (mut low, mut high) = (constant, constant);
        for (part, factor) in &linear.terms {
            let (a, b) = self.range_within(arena, *part, signed, depth);
            let factor = i128::from(factor.to_i64()?);
            let ends = [a.checked_mul(factor)?, b.checked_mul(factor)?];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
        }
        let limits = Known::limits(arena.width(term), signed);
        (low >= limits.0 && high <= limits.1).then_some((low, high))
    }

    /// The interval of `base`, from comparisons with constants and with other terms.
    fn interval(&self, arena: &mut Arena, base: TermId, signed: bool) -> (i128, i128) {
        let width = arena.width(base);
        let limits = Known::limits(width, signed);
        let (mut low, mut high) = self.range(arena, base, signed);
        // Each fact `base + k < y` needs that `base + k` itself does not wrap: smaller k first.
        let mut orders: Vec<Order> = self.orders.iter().filter(|o| o.signed == signed).copied().collect();
        orders.sort_by_key(|o| o.offset.unsigned_abs());
        for order in orders.iter().filter(|o| o.base == base && o.offset >= 0) {
            if high + order.offset > limits.1 {
                continue;
            }
            let mut top = self.range(arena, order.above, signed).1;
            top = if order.above_offset == 0 { top } else { limits.1 };
            high = high.min(top - order.offset - i128::from(order.strict));
            // `y - base` at least m, neither side negative: `base` at most y - m.
            if order.above_offset == 0 && order.offset == 0 && low >= 0 {
                let gap = arena.sub(order.above, base);
                // The difference is a true one, so both readings of it hold.
                let least = self.range(arena, gap, true).0.max(self.range(arena, gap, false).0);
                if least > 0 {
                    high = high.min(top - least);
                }
            }
        }
        for order in orders.iter().filter(|o| o.above == base && o.above_offset <= 0) {
            if low + order.above_offset < limits.0 {
                continue;
            }
            let bottom = if order.offset == 0 { self.range(arena, order.base, signed).0 } else { limits.0 };
            low = low.max(bottom - order.above_offset + i128::from(order.strict));
        }
        (low, high)
    }

    /// A term with extensions pushed into sums that do not wrap.
    pub fn widen(&self, arena: &mut Arena, term: TermId) -> TermId {
        if self.orders.is_empty() && self.is_empty() {
            return term;
        }
        let mut memo = FxHashMap::default();
        self.widen_within(arena, term, DEEPEST, &mut memo)
    }

    /// The same for a whole term, memories included.
    pub fn widen_all(&self, arena: &mut Arena, term: TermId, memo: &mut FxHashMap<TermId, TermId>) -> TermId {
        for next in arena.topological_where(&[term], |t| !memo.contains_key(&t)) {
            let node = arena.node(next).clone();
            let args: Vec<TermId> = node.args.iter().map(|a| memo[a]).collect();
            let rebuilt = if args[..] == node.args[..] { next } else { arena.make(node.op, &args) };
            let out = match arena.op(rebuilt) {
                Op::Sext(to) | Op::Zext(to) if to <= 64 => {
                    let signed = matches!(arena.op(rebuilt), Op::Sext(_));
                    let inner = arena.arg(rebuilt, 0);
                    self.distribute(arena, inner, to, signed).unwrap_or(rebuilt)
                }
                _ => rebuilt,
            };
            memo.insert(next, out);
        }
        memo[&term]
    }

    fn widen_within(
        &self,
        arena: &mut Arena,
        term: TermId,
        depth: usize,
        memo: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        if depth == 0 || arena.args(term).is_empty() {
            return term;
        }
        if let Some(done) = memo.get(&term) {
            return *done;
        }
        let node = arena.node(term).clone();
        let out = match node.op {
            Op::Sext(to) | Op::Zext(to) if to <= 64 => {
                let signed = matches!(node.op, Op::Sext(_));
                self.distribute(arena, node.args[0], to, signed).unwrap_or(term)
            }
            Op::Add
            | Op::Mul
            | Op::Extract { .. }
            | Op::Concat
            | Op::Ite
            | Op::Eq
            | Op::Ult
            | Op::Slt
            | Op::Not
            | Op::And
            | Op::Or
            | Op::Apply(_)
            | Op::Load(_) => {
                let args: Vec<TermId> =
                    node.args.iter().map(|a| self.widen_within(arena, *a, depth - 1, memo)).collect();
                if args[..] == node.args[..] { term } else { arena.make(node.op, &args) }
            }
            _ => term,
        };
        memo.insert(term, out);
        out
    }

    /// Is it a number shifted to the right that is not negative? What was shifted after it was extended has zeros above.
    fn is_quotient(&self, arena: &Arena, term: TermId) -> bool {
        matches!(arena.op(term), Op::Extract { lo: 1.., .. }) && self.range(arena, term, true).0 >= 0
    }

    /// The number of which a term is the low bits, if it has the width to extend to and no other bits than these say.
    fn whole(&self, arena: &mut Arena, part: TermId, to: u16, signed: bool) -> Option<TermId> {
        let Op::Extract { lo: 0, .. } = arena.op(part) else { return None };
        let (whole, limits) = (arena.arg(part, 0), Known::limits(arena.width(part), signed));
        if arena.width(whole) != to {
            return None;
        }
        let (low, high) = self.interval(arena, whole, signed);
        (low >= limits.0 && high <= limits.1).then_some(whole)
    }

    /// A sum shifted to the right and then extended, as one that was extended before. Where the low bits of what was
    /// shifted are all that is used, the sum has lost the others and has a width that no program computes with.
    fn shifted(&self, arena: &mut Arena, part: TermId, to: u16, depth: usize) -> Option<TermId> {
        let Op::Extract { hi, lo: lo @ 1.. } = arena.op(part) else { return None };
        let sum = arena.arg(part, 0);
        let computed = matches!(hi + 1, 8 | 16 | 32 | 64);
        if depth == 0 || hi + 1 != arena.width(sum) || hi >= to || computed {
            return None;
        }
        let wide = self.distribute_within(arena, sum, to, false, depth - 1)?;
        let upper = arena.extract(wide, to - 1, lo);
        Some(arena.zext(upper, to))
    }

    fn extended(&self, arena: &mut Arena, part: TermId, to: u16, signed: bool, depth: usize) -> TermId {
        if let Some(whole) = self.whole(arena, part, to, signed) {
            return whole;
        }
        let plain = !signed || self.is_quotient(arena, part);
        if !plain {
            return arena.sext(part, to);
        }
        self.shifted(arena, part, to, depth).unwrap_or_else(|| arena.zext(part, to))
    }

    /// The extension of a sum as a sum of extensions.
    fn distribute(&self, arena: &mut Arena, sum: TermId, to: u16, signed: bool) -> Option<TermId> {
        self.distribute_within(arena, sum, to, signed, DEEPEST_SUM)
    }

    fn distribute_within(&self, arena: &mut Arena, sum: TermId, to: u16, signed: bool, depth: usize) -> Option<TermId> {
        let width = arena.width(sum);
        let linear = Linear::of(arena, sum);
        let single = linear.terms.len() == 1 && linear.constant.is_zero();
        if width < 8 || linear.terms.is_empty() {
            return None;
        }
        if single && linear.terms[0].1.to_u64() == Some(1) {
            if let Some(whole) = self.whole(arena, sum, to, signed) {
                return Some(whole);
            }
            let is_plain = !signed || self.is_quotient(arena, sum);
            let shifted = if is_plain { self.shifted(arena, sum, to, depth) } else { None };
            return shifted.or_else(|| (signed && is_plain).then(|| arena.zext(sum, to)));
        }
        let limits = Known::limits(width, signed);
        let constant = i128::from(linear.constant.to_i64()?);
        // The whole sum term by term.
        let (mut low, mut high) = (constant, constant);
        let mut parts: Vec<(TermId, i64)> = Vec::new();
        for (part, factor) in &linear.terms {
            let factor = factor.to_i64()?;
            let (a, b) = self.interval(arena, *part, signed);
            let ends = [a * i128::from(factor), b * i128::from(factor)];
            low = low.checked_add(ends[0].min(ends[1]))?;
            high = high.checked_add(ends[0].max(ends[1]))?;
            parts.push((*part, factor));
        }
        let mut wide = Linear::zero(to);
        if low >= limits.0 && high <= limits.1 {
            for (part, factor) in parts {
                let part = self.extended(arena, part, to, signed, depth);
                wide.add_scaled(arena, part, Bits::from_i64(to, factor));
            }
        } else {
            // Only the constant.
            let (base, offset) = split(arena, sum);
            let (a, b) = self.interval(arena, base, signed);
            if offset == 0 || a + offset < limits.0 || b + offset > limits.1 {
                return None;
            }
            let base = match self.whole(arena, base, to, signed) {
                Some(whole) => whole,
                None if signed => arena.sext(base, to),
                None => arena.zext(base, to),
            };
            wide.add_scaled(arena, base, Bits::from_i64(to, 1));
        }
        let constant = Bits::from_i64(to, i64::try_from(constant).ok()?);
        wide.constant = wide.constant.add(constant);
        Some(wide.build(arena))
    }
}
