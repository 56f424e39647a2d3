//! Simplification under what is known to hold: the literals of a path condition, and the ranges that they give to
//! terms compared with constants.

use crate::distances::Distances;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Bits, Op, Sort, TermId, VarId};

/// Truth values of conditions that are known at a point.
#[derive(Clone, Default, Debug)]
pub struct Known {
    literals: FxHashMap<TermId, TermId>,
    ranges: FxHashMap<TermId, Range>,
    pub(crate) orders: Vec<Order>,
    /// `x`, `y` and a lower bound of `y − x`, signed.
    pub(crate) gaps: Vec<(TermId, TermId, i128)>,
    /// How far pointers are from each other.
    pub(crate) distances: Distances,
    /// The conditions that were learned.
    pub(crate) conditions: Vec<TermId>,
}

/// `base + offset` is below something, or at most that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Order {
    /// The smaller side without its constant, and the constant.
    pub base: TermId,
    pub offset: i128,
    /// The larger side without its constant, and the constant.
    pub above: TermId,
    pub above_offset: i128,
    pub strict: bool,
    pub signed: bool,
}

/// Bounds of a term of up to 64 bits, inclusive.
#[derive(Clone, Copy, Debug)]
struct Range {
    signed: (i128, i128),
    unsigned: (i128, i128),
}

impl Range {
    fn full(width: u16) -> Range {
        let half = 1i128 << (width - 1);
        Range { signed: (-half, half - 1), unsigned: (0, 2 * half - 1) }
    }

    fn has_no_sign(&self, width: u16) -> bool {
        self.signed.0 >= 0 || self.unsigned.1 <= Range::full(width).signed.1
    }

    /// Excludes one value at either end.
    fn exclude(&mut self, signed: i128, unsigned: i128) {
        for (range, value) in [(&mut self.signed, signed), (&mut self.unsigned, unsigned)] {
            if range.0 == value {
                range.0 += 1;
            }
            if range.1 == value {
                range.1 -= 1;
            }
        }
    }
}

/// `x + k < c` (unsigned): the term x, k and c.
fn offset_bound(arena: &Arena, term: TermId) -> Option<(TermId, Bits, Bits)> {
    if arena.op(term) != Op::Ult {
        return None;
    }
    let (sum, limit) = (arena.arg(term, 0), arena.arg(term, 1));
    let limit = arena.as_const(limit).filter(|c| c.width() <= 64 && !c.is_zero())?;
    match arena.args(sum) {
        [x, k] if arena.op(sum) == Op::Add => Some((*x, arena.as_const(*k)?, limit)),
        _ => None,
    }
}

/// The signed and unsigned intervals of x with `x + k < c`, each if it does not wrap.
fn offset_interval(k: Bits, limit: Bits) -> [Option<(i128, i128)>; 2] {
    let low = k.neg();
    let size = i128::from(limit.low());
    let full = Range::full(k.width());
    let interval = |start: i128, end: i128| Some((start, start + size - 1)).filter(|(_, last)| *last <= end);
    [interval(number(low, true), full.signed.1), interval(number(low, false), full.unsigned.1)]
}

/// `x < c`: the term, the constant, and whether the comparison is signed.
fn bound(arena: &Arena, term: TermId) -> Option<(TermId, Bits, bool)> {
    let signed = match arena.op(term) {
        Op::Slt => true,
        Op::Ult => false,
        _ => return None,
    };
    let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
    let constant = arena.as_const(b).filter(|c| c.width() <= 64)?;
    arena.as_const(a).is_none().then_some((a, constant, signed))
}

/// `x < y` where y is a narrower number, zero-extended: the term x, the largest y, and whether the comparison is signed.
fn extended_bound(arena: &Arena, term: TermId) -> Option<(TermId, i128, bool)> {
    let signed = match arena.op(term) {
        Op::Slt => true,
        Op::Ult => false,
        _ => return None,
    };
    let (x, y) = (arena.arg(term, 0), arena.arg(term, 1));
    let Op::Zext(width) = arena.op(y) else { return None };
    let narrow = arena.width(arena.arg(y, 0));
    (narrow < width && width <= 64 && arena.as_const(x).is_none()).then(|| (x, (1i128 << narrow) - 1, signed))
}

fn number(constant: Bits, signed: bool) -> i128 {
    if signed { i128::from(constant.to_i64().unwrap_or(0)) } else { i128::from(constant.low()) }
}

impl Known {
    /// Has the condition compared distances of what could be addresses?
    pub fn compares_distances(&self) -> bool {
        !self.distances.is_empty()
    }

    /// Notes that a variable is an address of the program and a multiple of a power of two.
    pub fn note_pointer(&mut self, var: VarId, bytes: u16) {
        self.distances.note_pointer(var, bytes);
    }
}

impl Known {
    /// What a conjunction says about its conjuncts.
    pub fn from_condition(arena: &mut Arena, condition: TermId) -> Known {
        let mut known = Known::default();
        known.learn(arena, condition);
        known.learn_other_orders(arena);
        known
    }

    /// Of numbers without a sign, the two orders say the same.
    fn learn_other_orders(&mut self, arena: &mut Arena) {
        let mut found: Vec<(TermId, TermId)> = Vec::new();
        for (term, value) in &self.literals {
            let other = match arena.op(*term) {
                Op::Slt => Op::Ult,
                Op::Ult => Op::Slt,
                _ => continue,
            };
            let (a, b) = (arena.arg(*term, 0), arena.arg(*term, 1));
            if self.has_no_sign(arena, a) && self.has_no_sign(arena, b) {
                found.push((arena.make(other, &[a, b]), *value));
            }
        }
        // In an order that does not depend on hashing.
        found.sort_unstable();
        for (term, value) in found {
            if arena.as_bool(term).is_none() {
                self.literals.entry(term).or_insert(value);
            }
        }
    }

    /// Adds the conjuncts of a condition.
    pub fn learn(&mut self, arena: &mut Arena, condition: TermId) {
        let mut stack = vec![condition];
        self.conditions.push(condition);
        while let Some(term) = stack.pop() {
            match arena.op(term) {
                Op::And => stack.extend_from_slice(arena.args(term)),
                Op::Not => {
                    let inner = arena.arg(term, 0);
                    if arena.op(inner) == Op::Or {
                        for part in arena.args(inner).to_vec() {
                            let negated = arena.bool_not(part);
                            stack.push(negated);
                        }
                    }
                    if arena.op(inner) == Op::And {
                        let parts = arena.args(inner).to_vec();
                        let parts: Vec<TermId> = parts.into_iter().map(|part| arena.bool_not(part)).collect();
                        self.distances.learn_clause(arena, &parts);
                    }
                    self.learn_extremum(arena, inner);
                    self.learn_range(arena, inner, false);
                    self.learn_order(arena, inner, false);
                    self.distances.learn(arena, inner, false);
                    let no = arena.bool(false);
                    self.literals.insert(inner, no);
                }
                Op::True | Op::False => {}
                _ => {
                    if arena.op(term) == Op::Eq {
                        self.learn_equality(arena, term);
                    }
                    if arena.op(term) == Op::Or {
                        self.distances.learn_clause(arena, arena.args(term));
                    }
                    self.learn_reverse(arena, term);
                    self.learn_range(arena, term, true);
                    self.learn_order(arena, term, true);
                    self.distances.learn(arena, term, true);
                    let yes = arena.bool(true);
                    self.literals.insert(term, yes);
                }
            }
        }
    }

    fn learn_range(&mut self, arena: &Arena, term: TermId, holds: bool) {
        if let (Some((x, k, limit)), true) = (offset_bound(arena, term), holds) {
            let [signed, unsigned] = offset_interval(k, limit);
            let range = self.ranges.entry(x).or_insert_with(|| Range::full(k.width()));
            for (ends, known) in [(&mut range.signed, signed), (&mut range.unsigned, unsigned)] {
                if let Some((low, high)) = known {
                    *ends = (ends.0.max(low), ends.1.min(high));
                }
            }
        }
        if let Some((x, limit, signed)) = extended_bound(arena, term) {
            let range = self.ranges.entry(x).or_insert_with(|| Range::full(arena.width(x)));
            match (signed, holds) {
                (true, true) => range.signed.1 = range.signed.1.min(limit - 1),
                (false, true) => range.unsigned.1 = range.unsigned.1.min(limit - 1),
                (true, false) => range.signed.0 = range.signed.0.max(0),
                (false, false) => {}
            }
        }
        if let Some((x, constant, signed)) = bound(arena, term) {
            let range = self.ranges.entry(x).or_insert_with(|| Range::full(constant.width()));
            let ends = if signed { &mut range.signed } else { &mut range.unsigned };
            let c = number(constant, signed);
            if holds {
                ends.1 = ends.1.min(c - 1);
            } else {
                ends.0 = ends.0.max(c);
                if signed {
                    self.learn_gap(arena, x, c);
                }
            }
        } else if arena.op(term) == Op::Eq && !holds {
            let (x, c) = (arena.arg(term, 0), arena.arg(term, 1));
            if let Some(c) = arena.as_const(c).filter(|c| c.width() <= 64 && arena.as_const(x).is_none()) {
                let range = self.ranges.entry(x).or_insert_with(|| Range::full(c.width()));
                range.exclude(number(c, true), number(c, false));
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bounds from comparisons with constants.
    pub(crate) fn bounds_of(&self, term: TermId, signed: bool) -> Option<(i128, i128)> {
        self.ranges.get(&term).map(|r| if signed { r.signed } else { r.unsigned })
    }

    /// What the ranges say about a comparison with a constant.
    fn decide(&self, arena: &Arena, term: TermId) -> Option<bool> {
        if let Some(decided) = self.decide_order(arena, term) {
            return Some(decided);
        }
        if let Some((x, k, limit)) = offset_bound(arena, term)
            && let Some(range) = self.ranges.get(&x)
        {
            for (ends, interval) in [range.signed, range.unsigned].into_iter().zip(offset_interval(k, limit)) {
                let Some((low, high)) = interval else { continue };
                if ends.0 >= low && ends.1 <= high {
                    return Some(true);
                }
                if ends.1 < low || ends.0 > high {
                    return Some(false);
                }
            }
        }
        if let Some((x, constant, signed)) = bound(arena, term) {
            let range = self.ranges.get(&x)?;
            let ends = if signed { range.signed } else { range.unsigned };
            let c = number(constant, signed);
            return if ends.1 < c {
                Some(true)
            } else if ends.0 >= c {
                Some(false)
            } else {
                None
            };
        }
        if arena.op(term) != Op::Eq {
            return None;
        }
        let range = self.ranges.get(&arena.arg(term, 0))?;
        let constant = arena.as_const(arena.arg(term, 1)).filter(|c| c.width() <= 64)?;
        let outside = |ends: (i128, i128), value: i128| value < ends.0 || value > ends.1;
        let impossible =
            outside(range.signed, number(constant, true)) || outside(range.unsigned, number(constant, false));
        impossible.then_some(false)
    }

    /// The upper bits of a number tell its range.
    fn learn_upper_bits(&mut self, arena: &Arena, part: TermId, value: TermId) {
        let (Op::Extract { hi, lo }, Some(value)) = (arena.op(part), arena.as_const(value)) else { return };
        let inner = arena.arg(part, 0);
        let top = hi + 1 == arena.width(inner);
        let whole = if top { Some(inner) } else { arena.lookup(Op::Extract { hi, lo: 0 }, &[inner]) };
        let Some(whole) = whole.filter(|w| lo > 0 && arena.width(*w) <= 64) else { return };
        let low = number(value, false) << lo;
        let (least, most) = (low, low + (1i128 << lo) - 1);
        let full = Range::full(arena.width(whole));
        let range = self.ranges.entry(whole).or_insert(full);
        range.unsigned = (range.unsigned.0.max(least), range.unsigned.1.min(most));
        if most <= full.signed.1 {
            range.signed = (range.signed.0.max(least), range.signed.1.min(most));
        }
    }

    /// Of two numbers of which the first is less, the second is not.
    fn learn_reverse(&mut self, arena: &mut Arena, comparison: TermId) {
        let op = arena.op(comparison);
        if matches!(op, Op::Ult | Op::Slt) {
            let reverse = arena.make(op, &[arena.arg(comparison, 1), arena.arg(comparison, 0)]);
            if arena.op(reverse) == op {
                let no = arena.bool(false);
                self.literals.entry(reverse).or_insert(no);
                self.learn_extremum(arena, reverse);
            }
        }
    }

    /// Of two numbers of which the first is not less, the second is the smaller one, whichever way a choice asks.
    fn learn_extremum(&mut self, arena: &mut Arena, comparison: TermId) {
        let op = arena.op(comparison);
        if !matches!(op, Op::Ult | Op::Slt) {
            return;
        }
        let (large, small) = (arena.arg(comparison, 0), arena.arg(comparison, 1));
        let less = arena.make(op, &[small, large]);
        for (then, other) in [(small, large), (large, small)] {
            let choice = arena.ite(less, then, other);
            if arena.op(choice) == Op::Ite {
                self.literals.entry(choice).or_insert(then);
            }
        }
    }

    /// `x = constant` lets `x` be replaced.
    fn learn_equality(&mut self, arena: &Arena, term: TermId) {
        let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
        self.learn_upper_bits(arena, a, b);
        if arena.as_const(b).is_some() && arena.as_const(a).is_none() {
            self.literals.insert(a, b);
        } else {
            for (x, y) in [(a, b), (b, a)] {
                if arena
                    .as_var(x)
                    .is_some_and(|var| arena.var_name(var).contains('@') && !arena.free_vars(y).contains(&var))
                {
                    self.literals.insert(x, y);
                    return;
                }
            }
        }
    }

    /// A condition, simplified through its boolean structure only.
    pub fn simplify(&self, arena: &mut Arena, condition: TermId) -> TermId {
        if self.literals.is_empty() {
            return condition;
        }
        let mut memo = FxHashMap::default();
        self.simplify_bool(arena, condition, &mut memo)
    }

    fn simplify_bool(&self, arena: &mut Arena, term: TermId, memo: &mut FxHashMap<TermId, TermId>) -> TermId {
        if let Some(value) = self.literals.get(&term).or_else(|| memo.get(&term)) {
            return *value;
        }
        if let Some(value) = self.decide(arena, term) {
            return arena.bool(value);
        }
        let node = arena.node(term).clone();
        let boolean = |arena: &Arena, t: TermId| arena.sort(t) == Sort::Bool;
        let descend = match node.op {
            Op::Not | Op::And | Op::Or => true,
            Op::Ite | Op::Eq => node.args.iter().all(|a| boolean(arena, *a)),
            _ => false,
        };
        let out = if descend {
            let args: Vec<TermId> = node.args.iter().map(|a| self.simplify_bool(arena, *a, memo)).collect();
            if args[..] == node.args[..] { term } else { arena.make(node.op, &args) }
        } else if matches!(node.op, Op::Eq | Op::Ult | Op::Slt)
            && node.args.iter().any(|a| self.literals.contains_key(a))
        {
            let args: Vec<TermId> = node.args.iter().map(|a| self.literals.get(a).copied().unwrap_or(*a)).collect();
            arena.make(node.op, &args)
        } else {
            term
        };
        memo.insert(term, out);
        out
    }

    /// A value whose outermost choices are decided, looking through a few operators only.
    pub fn settle(&self, arena: &mut Arena, term: TermId) -> TermId {
        if self.literals.is_empty() { term } else { self.settle_within(arena, term, 4) }
    }

    /// The same for a value that is to be computed with: it keeps its sign extension, which may be the beginning of a
    /// division.
    pub fn settle_operand(&self, arena: &mut Arena, term: TermId) -> TermId {
        let narrow = matches!(arena.op(term), Op::Sext(_)) && arena.width(arena.arg(term, 0)) <= 32;
        if narrow { term } else { self.settle(arena, term) }
    }

    fn settle_within(&self, arena: &mut Arena, term: TermId, depth: usize) -> TermId {
        match arena.op(term) {
            Op::Ite if self.literals.contains_key(&term) => self.literals[&term],
            Op::Ite => {
                let (condition, then, other) = (arena.arg(term, 0), arena.arg(term, 1), arena.arg(term, 2));
                let decided = self.simplify(arena, condition);
                match arena.as_bool(decided) {
                    Some(true) => self.settle_within(arena, then, depth),
                    Some(false) => self.settle_within(arena, other, depth),
                    None => term,
                }
            }
            Op::Sext(width) if self.has_no_sign(arena, arena.arg(term, 0)) => {
                let inner = arena.arg(term, 0);
                let inner = self.settle_within(arena, inner, depth.saturating_sub(1));
                arena.zext(inner, width)
            }
            Op::Mul if by_magic_number(arena, term) => term,
            Op::Zext(_) | Op::Sext(_) | Op::Extract { .. } | Op::Concat | Op::Add | Op::Mul if depth > 0 => {
                let node = arena.node(term).clone();
                let args: Vec<TermId> = node.args.iter().map(|a| self.settle_within(arena, *a, depth - 1)).collect();
                if args[..] == node.args[..] { term } else { arena.make(node.op, &args) }
            }
            _ => term,
        }
    }

    /// Any term, with known conditions and values replaced everywhere inside.
    pub fn rewrite(&self, arena: &mut Arena, term: TermId) -> TermId {
        if self.literals.is_empty() {
            return term;
        }
        if self.ranges.is_empty() {
            return arena.replace(term, &self.literals);
        }
        // Comparisons that only the ranges decide are replaced too.
        let mut known = self.literals.clone();
        let parts = arena.topological(&[term]);
        let multiplied: FxHashSet<TermId> =
            parts.iter().filter(|p| by_magic_number(arena, **p)).map(|p| arena.arg(*p, 0)).collect();
        for part in parts {
            if let Some(value) = self.decide(arena, part) {
                let value = arena.bool(value);
                known.entry(part).or_insert(value);
            }
            if let Op::Sext(width) = arena.op(part)
                && !multiplied.contains(&part)
                && self.has_no_sign(arena, arena.arg(part, 0))
            {
                let extended = arena.zext(arena.arg(part, 0), width);
                known.entry(part).or_insert(extended);
            }
        }
        arena.replace(term, &known)
    }

    /// Is a number, or a number with a constant added, known not to be negative?
    fn has_no_sign(&self, arena: &Arena, term: TermId) -> bool {
        let width = arena.width(term);
        if width > 64 {
            return false;
        }
        let wider = |t: TermId| arena.op(t) == Op::Zext(width) && arena.width(arena.arg(t, 0)) < width;
        let positive = |t: TermId| arena.as_const(t).is_some_and(|c| !c.sign());
        if wider(term) || positive(term) || self.ranges.get(&term).is_some_and(|r| r.has_no_sign(width)) {
            return true;
        }
        let [x, k] = arena.args(term) else { return false };
        let (Op::Add, Some(k)) = (arena.op(term), arena.as_const(*k)) else { return false };
        let Some(range) = self.ranges.get(x) else { return false };
        let (k, full) = (number(k, true), Range::full(width).signed);
        range.signed.0 + k >= 0 && range.signed.1 + k <= full.1
    }
}

/// A product with a constant that is too large for the size of anything: a division in the making, whose pattern is no
/// longer found once its parts were simplified one by one.
fn by_magic_number(arena: &Arena, term: TermId) -> bool {
    const LARGEST_SIZE: u64 = 1 << 14;
    let [_, factor] = arena.args(term) else { return false };
    arena.op(term) == Op::Mul
        && arena.as_const(*factor).is_some_and(|c| {
            let size = if c.sign() { c.neg() } else { c };
            size.count_ones() > 1 && size.to_u64().is_none_or(|n| n > LARGEST_SIZE)
        })
}
