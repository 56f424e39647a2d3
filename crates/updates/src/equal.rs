//! Are two terms equal whatever the data? By structure, and by cases where choices are nested differently.
//!
//! A choice whose condition is settled by an assumed case is replaced by its side, and what is computed from sides that
//! are constants becomes a constant. Where the terms meet a condition that is not settled, both cases must hold. The number of steps is bounded; out of steps means "not shown".

use crate::domain::Floating;
use crate::scalar::{Cmp, Constant, Op, compare, convert, fold};
use crate::symbolic::Backing;
use crate::terms::{Shape, TermRef, Terms};
use rustc_hash::FxHashMap;

/// Decides equality of terms of one arena.
#[derive(Debug)]
pub struct Equality<'a> {
    terms: &'a Terms,
    mode: Floating,
    steps: u64,
    /// Pairs already decided without any assumed case.
    settled: FxHashMap<(TermRef, TermRef), bool>,
}

/// Assumed truth of conditions.
type Cases = Vec<(TermRef, bool)>;

/// Most cases assumed at the same time.
const DEEPEST: usize = 24;
/// Most operators and conversions that an assumed case is followed through at one place.
const NESTED: u32 = 8;
/// Most operators between the root and a difference that is followed.
const LONGEST: usize = 4000;

impl<'a> Equality<'a> {
    /// In a mode, with a bound on the steps of all questions together.
    pub fn new(terms: &'a Terms, mode: Floating, steps: u64) -> Equality<'a> {
        Equality { terms, mode, steps, settled: FxHashMap::default() }
    }

    /// Are they equal?
    pub fn equal(&mut self, a: TermRef, b: TermRef) -> bool {
        self.under(a, b, &mut Vec::new(), 0)
    }

    fn under(&mut self, a: TermRef, b: TermRef, cases: &mut Cases, depth: usize) -> bool {
        if a == b {
            return true;
        }
        if cases.is_empty()
            && let Some(known) = self.settled.get(&(a, b))
        {
            return *known;
        }
        if self.steps == 0 || depth > LONGEST {
            return false;
        }
        self.steps -= 1;
        let result = self.decide(a, b, cases, depth);
        if cases.is_empty() {
            self.settled.insert((a, b), result);
        }
        result
    }

    fn decide(&mut self, a: TermRef, b: TermRef, cases: &mut Cases, depth: usize) -> bool {
        let (a, b) = (self.reduce(a, cases), self.reduce(b, cases));
        if a == b {
            return true;
        }
        if let (Some(x), Some(y)) = (self.settled_constant(a, cases, NESTED), self.settled_constant(b, cases, NESTED)) {
            return x == y;
        }
        if let Some(cond) = self.open_condition(a, cases).or_else(|| self.open_condition(b, cases)) {
            return self.in_both_cases(cond, a, b, cases, depth);
        }
        if self.same_operands(a, b, cases, depth) {
            return true;
        }
        // What differs before a conversion may be the same after it.
        let converted = |term| match (self.terms.shape(term), self.terms.operands(term)) {
            (Shape::Convert(..), [value]) => self.open_condition(self.reduce(*value, cases), cases),
            _ => None,
        };
        match converted(a).or_else(|| converted(b)) {
            Some(cond) => self.in_both_cases(cond, a, b, cases, depth),
            None => false,
        }
    }

    fn in_both_cases(&mut self, cond: TermRef, a: TermRef, b: TermRef, cases: &mut Cases, depth: usize) -> bool {
        if cases.len() >= DEEPEST {
            return false;
        }
        for side in [true, false] {
            cases.push((cond, side));
            let same = self.under(a, b, cases, depth + 1);
            cases.pop();
            if !same {
                return false;
            }
        }
        true
    }

    /// Are they the same operation on the same operands?
    fn same_operands(&mut self, a: TermRef, b: TermRef, cases: &mut Cases, depth: usize) -> bool {
        if a.flag() != b.flag() || self.terms.shape(a) != self.terms.shape(b) {
            return false;
        }
        let (left, right) = (self.terms.operands(a), self.terms.operands(b));
        if left.is_empty() || left.len() != right.len() {
            return false;
        }
        let commutes =
            self.mode != Floating::Ordered && matches!(self.terms.shape(a), Shape::Binary(Op::Add | Op::Mul, _));
        let (left, right) = (left.to_vec(), right.to_vec());
        let straight = left.iter().zip(&right).all(|(x, y)| self.under(*x, *y, cases, depth + 1));
        straight
            || commutes
                && left.len() == 2
                && self.under(left[0], right[1], cases, depth + 1)
                && self.under(left[1], right[0], cases, depth + 1)
    }

    /// The constant that the term is, its flag applied: a side of a negated choice may be a negated constant.
    fn effective(&self, term: TermRef) -> Option<Constant> {
        Some(turned(self.terms.known(term)?, term.flag()))
    }

    /// The constant that the term is in the assumed cases: the terms themselves are folded where they are made, but
    /// not those whose operands are choices.
    fn settled_constant(&self, term: TermRef, cases: &Cases, left: u32) -> Option<Constant> {
        let term = self.reduce(term, cases);
        if let Some(constant) = self.effective(term) {
            return Some(constant);
        }
        let left = left.checked_sub(1).filter(|_| !cases.is_empty())?;
        let constant = match (self.terms.shape(term), self.terms.operands(term)) {
            (Shape::Convert(_, to), [value]) => convert(self.settled_constant(*value, cases, left)?, to),
            (Shape::Binary(op, ty), [a, b]) => {
                fold(op, ty, self.settled_constant(*a, cases, left)?, self.settled_constant(*b, cases, left)?)
            }
            (Shape::Compare(cmp, _), [a, b]) => {
                if let Some(holds) = self.assumed(term.plain(), cases) {
                    return Some(turned(Constant::Int(i64::from(holds)), term.flag()));
                }
                let (a, b) = (self.settled_constant(*a, cases, left)?, self.settled_constant(*b, cases, left)?);
                Ok(Constant::Int(i64::from(compare(cmp, a, b))))
            }
            _ => return None,
        };
        // What is undefined is no constant.
        constant.ok().map(|constant| turned(constant, term.flag()))
    }

    /// The term with settled choices at its root replaced; a truth value that is settled becomes its choice's side.
    fn reduce(&self, term: TermRef, cases: &Cases) -> TermRef {
        self.reduce_within(term, cases, NESTED)
    }

    fn reduce_within(&self, mut term: TermRef, cases: &Cases, left: u32) -> TermRef {
        while let Shape::Choice = self.terms.shape(term) {
            let [cond, yes, no] = *self.terms.operands(term) else { return term };
            match self.truth(cond, cases) {
                Some(true) => term = yes.turn(term.flag()),
                Some(false) => term = no.turn(term.flag()),
                None if self.is_not_below(cond, yes, no, cases) => term = yes.turn(term.flag()),
                None => return term,
            }
        }
        // An integer that was converted to a type that fits is not changed by another conversion.
        if let (Shape::Convert(_, to), [value], 1..) = (self.terms.shape(term), self.terms.operands(term), left)
            && !(cases.is_empty() || to.is_float() || term.flag())
        {
            let inner = self.reduce_within(*value, cases, left - 1);
            if let Shape::Convert(_, of) = self.terms.shape(inner)
                && !(of.is_float() || inner.flag())
                && to.range().0 <= of.range().0
                && of.range().1 <= to.range().1
            {
                return inner;
            }
        }
        term
    }

    /// Is it `a < b ? a : b` or `a < b ? b : a` of integers where `b < a` is known not to hold? Then the sides are
    /// equal if the first is not right.
    fn is_not_below(&self, cond: TermRef, yes: TermRef, no: TermRef, cases: &Cases) -> bool {
        let Shape::Compare(Cmp::Lt, ty) = self.terms.shape(cond) else { return false };
        let [a, b] = *self.terms.operands(cond) else { return false };
        let reversed = |known: TermRef| {
            self.terms.shape(known) == Shape::Compare(Cmp::Lt, ty) && self.terms.operands(known) == [b, a]
        };
        !ty.is_float()
            && !cond.flag()
            && ((yes, no) == (a, b) || (yes, no) == (b, a))
            && cases.iter().any(|(known, side)| !side && reversed(*known))
    }

    /// Is the truth value settled?
    fn truth(&self, cond: TermRef, cases: &Cases) -> Option<bool> {
        let flag = cond.flag();
        let plain = self.reduce(cond.plain(), cases);
        if let Some(constant) = self.effective(plain) {
            return Some(constant.is_true() != flag);
        }
        let flag = flag != plain.flag();
        let plain = plain.plain();
        let folded = || Some(self.settled_constant(plain, cases, NESTED)?.is_true());
        self.assumed(plain, cases).or_else(folded).map(|holds| holds != flag)
    }

    /// What the assumed cases say about a condition.
    fn assumed(&self, cond: TermRef, cases: &Cases) -> Option<bool> {
        let found = cases.iter().find(|(known, _)| *known == cond).map(|(_, side)| *side);
        found.or_else(|| self.implied(cond, cases)).or_else(|| self.bounded(cond, cases))
    }

    /// What the assumed comparisons say about another one of the same operands.
    fn implied(&self, cond: TermRef, cases: &Cases) -> Option<bool> {
        let Shape::Compare(cmp, ty) = self.terms.shape(cond) else { return None };
        let [a, b] = *self.terms.operands(cond) else { return None };
        for (known, side) in cases {
            let Shape::Compare(other, of) = self.terms.shape(*known) else { continue };
            let [x, y] = *self.terms.operands(*known) else { continue };
            if of != ty {
                continue;
            }
            let (same, swapped) = ((x, y) == (a, b), (x, y) == (b, a));
            // A comparison that holds rules out NaN; one that fails says nothing about floats.
            let says = match (other, *side, cmp) {
                (Cmp::Lt, true, Cmp::Lt) if swapped => Some(false),
                (Cmp::Lt, true, Cmp::Le) if same => Some(true),
                (Cmp::Lt, true, Cmp::Le) if swapped => Some(false),
                (Cmp::Lt, true, Cmp::Eq) if same || swapped => Some(false),
                (Cmp::Le, true, Cmp::Lt) if swapped => Some(false),
                (Cmp::Le, false, Cmp::Lt) if same => Some(false),
                (Cmp::Eq, true, Cmp::Lt) if same || swapped => Some(false),
                (Cmp::Eq, true, Cmp::Le) if same || swapped => Some(true),
                _ => None,
            };
            if says.is_some() {
                return says;
            }
        }
        None
    }

    /// An integer comparison with a constant, whose other side is left and its constant right or the other way round.
    fn with_constant(&self, cond: TermRef) -> Option<(Cmp, TermRef, i128, bool)> {
        let Shape::Compare(cmp @ (Cmp::Lt | Cmp::Eq), ty) = self.terms.shape(cond) else { return None };
        let [a, b] = *self.terms.operands(cond) else { return None };
        let number = |term: TermRef| self.terms.known(term).and_then(Constant::as_integer);
        match (number(a), number(b)) {
            _ if ty.is_float() => None,
            (None, Some(c)) => Some((cmp, a, c, true)),
            (Some(c), None) => Some((cmp, b, c, false)),
            _ => None,
        }
    }

    /// What the assumed comparisons of an integer with constants say about another one.
    fn bounded(&self, cond: TermRef, cases: &Cases) -> Option<bool> {
        let (cmp, value, limit, left) = self.with_constant(cond)?;
        let (mut low, mut high) = (i128::MIN, i128::MAX);
        for (known, side) in cases {
            let Some((other, of, c, on_left)) = self.with_constant(*known) else { continue };
            if of != value {
                continue;
            }
            match (other, on_left, *side) {
                (Cmp::Lt, true, true) => high = high.min(c - 1),
                (Cmp::Lt, true, false) => low = low.max(c),
                (Cmp::Lt, false, true) => low = low.max(c + 1),
                (Cmp::Lt, false, false) => high = high.min(c),
                (Cmp::Eq, _, true) => (low, high) = (low.max(c), high.min(c)),
                _ => {}
            }
        }
        match (cmp, left) {
            (Cmp::Lt, true) if high < limit => Some(true),
            (Cmp::Lt, true) if low >= limit => Some(false),
            (Cmp::Lt, false) if low > limit => Some(true),
            (Cmp::Lt, false) if high <= limit => Some(false),
            (Cmp::Eq, _) if limit < low || limit > high => Some(false),
            (Cmp::Eq, _) if low == limit && high == limit => Some(true),
            _ => None,
        }
    }

    /// A condition at the root of the term that is not settled, without its own choices.
    fn open_condition(&self, term: TermRef, cases: &Cases) -> Option<TermRef> {
        match self.terms.shape(term) {
            Shape::Choice => {
                let mut cond = self.reduce(self.terms.operands(term)[0].plain(), cases).plain();
                while let Shape::Choice = self.terms.shape(cond) {
                    cond = self.reduce(self.terms.operands(cond)[0].plain(), cases).plain();
                }
                Some(self.inner_condition(cond, cases, NESTED).unwrap_or(cond))
            }
            // A comparison is itself a choice of one and zero.
            Shape::Compare(..) => Some(term.plain()),
            _ => None,
        }
        .filter(|cond| self.truth(*cond, cases).is_none())
    }
}

impl Equality<'_> {
    /// A condition that decides a comparison of numbers which are constants in every case: the comparison of such a
    /// number says nothing of its own.
    fn inner_condition(&self, cond: TermRef, cases: &Cases, left: u32) -> Option<TermRef> {
        let Shape::Compare(..) = self.terms.shape(cond) else { return None };
        let operands = self.terms.operands(cond);
        if !operands.iter().all(|o| self.is_constant_by_cases(*o, left)) {
            return None;
        }
        operands.iter().find_map(|o| self.open_inside(*o, cases, left))
    }

    /// Is the term made of constants and choices between them?
    fn is_constant_by_cases(&self, term: TermRef, left: u32) -> bool {
        let Some(left) = left.checked_sub(1) else { return false };
        let all = |list: &[TermRef]| list.iter().all(|o| self.is_constant_by_cases(*o, left));
        match self.terms.shape(term) {
            Shape::Constant(_) | Shape::Compare(..) => true,
            Shape::Choice => all(&self.terms.operands(term)[1..]),
            Shape::Binary(..) | Shape::Convert(..) => all(self.terms.operands(term)),
            _ => false,
        }
    }

    fn open_inside(&self, term: TermRef, cases: &Cases, left: u32) -> Option<TermRef> {
        let left = left.checked_sub(1)?;
        let term = self.reduce(term, cases);
        match self.terms.shape(term) {
            Shape::Choice | Shape::Compare(..) => self.open_condition(term, cases),
            _ => self.terms.operands(term).iter().find_map(|o| self.open_inside(*o, cases, left)),
        }
    }
}

/// A constant with the flag of its term applied.
fn turned(constant: Constant, flag: bool) -> Constant {
    match constant {
        other if !flag => other,
        Constant::F64(bits) => Constant::F64(bits ^ (1 << 63)),
        Constant::F32(bits) => Constant::F32(bits ^ (1 << 31)),
        truth => Constant::Int(i64::from(!truth.is_true())),
    }
}
