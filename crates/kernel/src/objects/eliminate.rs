//! Variables that a path determines: where a loop ends at `i + 4 = 4·(n >> 2)`, what comes after is about `n` alone.
//!
//! A forgotten place is a variable. If the condition of a path has an equation with it (or two bounds that meet), the
//! variable is replaced by the other side in everything that is still to be compared, so that addresses of both sides
//! get one form. The equation stays in the condition.
//!
//! Trust: full. Replacing a variable by what the condition says it equals changes no truth under that condition.

use crate::objects::obligation::{Fact, FactKind};
use crate::objects::product::{Checker, Point};
use program::{Register, Side};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use symbolic::{Known, Run};
use term::eval::{Evaluator, Model};
use term::{Arena, Bits, Linear, Op, TermId, VarId};

/// Numbers of turns that are left over have at most so many bits, and so many of them are looked for.
const LONGEST_REST: u16 = 7;
const MOST_RESTS: usize = 6;
/// Equations that are used on one path.
const MOST_ROUNDS: usize = 4;

impl Checker<'_, '_> {
    /// Replaces the variables that the condition determines.
    pub(crate) fn eliminate(&mut self, at: &mut Point, logs: &mut [Vec<Rc<Run>>; 2]) {
        if self.free.is_empty() {
            return;
        }
        for _ in 0..MOST_ROUNDS {
            let Some((var, value)) = self.determined(at) else { return };
            self.replace(at, logs, var, value);
            at.gone.push(var);
        }
    }

    /// A variable of ours and what it must be.
    fn determined(&mut self, at: &Point) -> Option<(VarId, TermId)> {
        for (a, b) in equations(self.context.arena, at.condition) {
            let ours = |var: &VarId| self.free.contains(var) && !at.gone.contains(var);
            // A frame address means something on its own side only.
            if let Some((var, value)) = solve(self.context.arena, a, b, ours)
                && !self.context.depends_on_frame(value)
            {
                return Some((var, value));
            }
        }
        None
    }

    /// Puts what the condition says about parts of variables into everything: where a loop left so many turns over, the
    /// low bits of its bound are known, and what both sides did with the rest has no choices any more.
    pub(crate) fn fix_parts(&mut self, at: &mut Point, logs: &mut [Vec<Rc<Run>>; 2]) {
        let mut done: Vec<(TermId, TermId)> = Vec::new();
        while done.len() < MOST_ROUNDS {
            let found = equations(self.context.arena, at.condition)
                .into_iter()
                .filter(|equation| !done.contains(equation))
                .find_map(|equation| Some((equation, self.part(at, equation)?)));
            let Some((equation, (var, value))) = found else { return };
            done.push(equation);
            self.replace(at, logs, var, value);
        }
    }

    /// How many turns are left over, if the path tells: the bits below the places where numbers are cut, and their signs,
    /// have the values that they have in one state of the path, if no other is possible. These are put into everything.
    pub(crate) fn find_rests(&mut self, at: &mut Point, logs: &mut [Vec<Rc<Run>>; 2], state: &Model) {
        let mut roots = vec![at.condition];
        roots.extend(at.states.iter().flat_map(|s| [s.world, s.get(Register::General(0)), s.get(Register::Vector(0))]));
        let mut rests: Vec<(TermId, u16, u16)> = Vec::new();
        for term in self.context.arena.topological(&roots) {
            if let Op::Extract { hi, lo: k @ 1..=LONGEST_REST } = self.context.arena.op(term) {
                let whole = self.context.arena.arg(term, 0);
                rests.extend([(whole, k - 1, 0), (whole, hi, hi)]);
            }
        }
        rests.sort_by_key(|(whole, hi, lo)| (std::cmp::Reverse(hi - lo), *whole, *hi));
        rests.dedup();
        for (whole, hi, lo) in rests.into_iter().take(MOST_RESTS) {
            let rest = self.context.arena.extract(whole, hi, lo);
            let value = Evaluator::new(self.context.arena, state).bits(rest);
            let value = self.context.arena.constant(value);
            let holds = self.context.arena.eq(rest, value);
            let known = Known::from_condition(self.context.arena, at.condition);
            if self.context.arena.as_const(rest).is_some() || self.prove(at, &known, holds).is_err() {
                continue;
            }
            let plain = self.is_plain(at, whole);
            match self.context.arena.as_var(whole).filter(|_| plain) {
                Some(var) => {
                    let value = with_part(self.context.arena, whole, hi, lo, value);
                    self.replace(at, logs, var, value);
                }
                None => at.condition = self.context.arena.bool_and(at.condition, holds),
            }
        }
    }

    /// The variable of which an equation determines a part, and what it is.
    fn part(&mut self, at: &Point, (a, b): (TermId, TermId)) -> Option<(VarId, TermId)> {
        for (part, other) in [(a, b), (b, a)] {
            let arena = &mut *self.context.arena;
            let (Op::Extract { hi, lo }, Some(_)) = (arena.op(part), arena.as_const(other)) else { continue };
            let whole = arena.arg(part, 0);
            if let Some(var) = arena.as_var(whole)
                && self.is_plain(at, whole)
            {
                return Some((var, with_part(self.context.arena, whole, hi, lo, other)));
            }
        }
        None
    }

    /// Is it no address of an object or of the frame, and no pointer that the original follows? These stay as they are.
    fn is_plain(&mut self, at: &Point, variable: TermId) -> bool {
        let framed = self.context.depends_on_frame(variable);
        let arena = &*self.context.arena;
        let pointer = |fact: &Fact| match fact.kind {
            FactKind::Access { address, .. } => {
                Linear::of(arena, address).terms.iter().any(|(t, f)| *t == variable && f.to_u64() == Some(1))
            }
            FactKind::Not(_) | FactKind::Apart(_) | FactKind::Aligned { .. } => false,
        };
        let object = arena.as_var(variable).is_some_and(|var| self.context.object(var).is_some());
        !object && !framed && !at.facts.iter().any(pointer)
    }

    fn replace(&mut self, at: &mut Point, logs: &mut [Vec<Rc<Run>>; 2], var: VarId, value: TermId) {
        let mut memo: FxHashMap<TermId, TermId> = FxHashMap::default();
        let arena = &mut *self.context.arena;
        at.condition = arena.substitute(at.condition, &mut |v| (v == var).then_some(value), &mut memo);
        let known = Known::from_condition(arena, at.condition);
        let mut wide: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut put = |term: TermId| {
            let term = arena.substitute(term, &mut |v| (v == var).then_some(value), &mut memo);
            known.widen_all(arena, term, &mut wide)
        };
        let wider = put(at.condition);
        for fact in &mut at.facts {
            fact.when = put(fact.when);
            match &mut fact.kind {
                FactKind::Not(condition) | FactKind::Apart(condition) => *condition = put(*condition),
                FactKind::Access { address, .. } | FactKind::Aligned { address, .. } => *address = put(*address),
            }
        }
        for state in &mut at.states {
            state.map(&mut put);
        }
        for block in &mut at.touched {
            (block.address, block.length) = (put(block.address), put(block.length));
        }
        for runs in logs.iter_mut() {
            for run in runs.iter_mut() {
                Rc::make_mut(run).map(&mut put);
            }
        }
        for (side, runs) in Side::BOTH.into_iter().zip(logs.iter()) {
            for run in runs {
                self.context.note_accesses(side, run);
            }
        }
        let variable = self.context.arena.var_term(var);
        let same = self.context.arena.eq(variable, value);
        // The wider form follows from the condition and does not replace it: conditions also tell edges apart.
        at.condition = self.context.arena.bool_and_all(&[at.condition, wider, same]);
        // Facts with the variable replaced hold where the condition does.
        for fact in &mut at.facts {
            fact.when = self.context.arena.bool_and(fact.when, at.condition);
        }
    }
}

/// A number with some of its bits replaced, as a sum: that is the form in which what rounds a number down is written.
fn with_part(arena: &mut Arena, whole: TermId, hi: u16, lo: u16, part: TermId) -> TermId {
    let width = arena.width(whole);
    let mut placed = vec![(part, lo)];
    if lo > 0 {
        placed.push((arena.extract(whole, lo - 1, 0), 0));
    }
    if hi + 1 < width {
        placed.push((arena.extract(whole, width - 1, hi + 1), hi + 1));
    }
    let mut sum = arena.bv(width, 0);
    for (part, at) in placed {
        let wide = arena.zext(part, width);
        let amount = arena.bv(width, u64::from(at));
        let shifted = arena.shl(wide, amount);
        sum = arena.add(sum, shifted);
    }
    sum
}

/// Pairs of terms that are equal where the condition holds.
fn equations(arena: &mut Arena, condition: TermId) -> Vec<(TermId, TermId)> {
    let conjuncts: Vec<TermId> = match arena.op(condition) {
        Op::And => arena.args(condition).to_vec(),
        _ => vec![condition],
    };
    let mut out = Vec::new();
    for conjunct in &conjuncts {
        if arena.op(*conjunct) == Op::Eq {
            out.push((arena.arg(*conjunct, 0), arena.arg(*conjunct, 1)));
        }
    }
    // `x ≤ y` and `y ≤ x`, or `x < y + 1`.
    let mut at_most: Vec<(TermId, TermId, bool)> = Vec::new();
    for conjunct in &conjuncts {
        let (inner, holds) = match arena.op(*conjunct) {
            Op::Not => (arena.arg(*conjunct, 0), false),
            _ => (*conjunct, true),
        };
        let signed = match arena.op(inner) {
            Op::Slt => true,
            Op::Ult => false,
            _ => continue,
        };
        let (a, b) = (arena.arg(inner, 0), arena.arg(inner, 1));
        if holds {
            // `a < b`: `a + 1` does not wrap and is at most b.
            let next = arena.add_const(a, 1);
            at_most.push((next, b, signed));
        } else {
            at_most.push((b, a, signed));
        }
    }
    for (i, (a, b, signed)) in at_most.iter().enumerate() {
        if at_most[..i].iter().any(|(c, d, s)| a == d && b == c && s == signed) {
            out.push((*a, *b));
        }
    }
    out
}

/// Solves `a = b` for the first variable of ours that it determines.
fn solve(arena: &mut Arena, a: TermId, b: TermId, ours: impl Fn(&VarId) -> bool) -> Option<(VarId, TermId)> {
    let width = arena.sort(a).width().filter(|w| *w <= 64)?;
    let mut linear = Linear::of(arena, a);
    linear.add_scaled(arena, b, Bits::from_i64(width, -1));
    for (i, (term, factor)) in linear.terms.iter().enumerate() {
        let inner = match arena.op(*term) {
            Op::Sext(_) | Op::Zext(_) => arena.arg(*term, 0),
            _ => *term,
        };
        let Some(var) = arena.as_var(inner).filter(&ours) else { continue };
        let negated = match factor.to_i64() {
            Some(1) => true,
            Some(-1) => false,
            _ => continue,
        };
        let mut rest = Linear { terms: linear.terms.clone(), constant: linear.constant };
        rest.terms.remove(i);
        let rest = if negated { rest.scaled(Bits::from_i64(width, -1)) } else { rest };
        let value = rest.build(arena);
        let narrow = arena.width(inner);
        let value = arena.truncate(value, narrow);
        if !arena.free_vars(value).contains(&var) {
            return Some((var, value));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use term::Sort;

    const NAMES: [&str; 3] = ["x@0", "y@0", "n"];

    /// Factors of the variables and a constant, or of their extensions to sixteen bits.
    type Sum = ([i8; 3], i8);

    fn sum() -> impl Strategy<Value = Sum> {
        let factor = prop::sample::select(vec![0i8, 0, 1, 1, -1, 2, -128]);
        (prop::array::uniform3(factor), prop_oneof![-3..=3i8, Just(-128i8), Just(127i8), any::<i8>()])
    }

    #[derive(Clone, Copy, Debug)]
    enum Wide {
        No,
        Signed,
        Unsigned,
    }

    fn build(arena: &mut Arena, (factors, constant): &Sum, wide: Wide) -> TermId {
        let width = if matches!(wide, Wide::No) { 8 } else { 16 };
        let mut out = arena.constant(Bits::from_i64(width, i64::from(*constant)));
        for (name, factor) in NAMES.iter().zip(factors) {
            let var = arena.var(name, Sort::Bv(8));
            let var = match wide {
                Wide::No => var,
                Wide::Signed => arena.sext(var, 16),
                Wide::Unsigned => arena.zext(var, 16),
            };
            let factor = arena.constant(Bits::from_i64(width, i64::from(*factor)));
            let part = arena.mul(factor, var);
            out = arena.add(out, part);
        }
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// The facts hold in one state; in every state where they do, a variable has the value that it is replaced by.
        #[test]
        fn a_variable_is_what_it_is_replaced_by(
            at in prop::array::uniform3(prop_oneof![0..6u8, 125..131u8, 250..=255u8]),
            facts in prop::collection::vec(
                (0..3usize, sum(), sum(), prop::sample::select(vec![Wide::No, Wide::Signed, Wide::Unsigned])), 1..5),
        ) {
            let mut arena = Arena::new();
            let vars = NAMES.map(|name| {
                let var = arena.var(name, Sort::Bv(8));
                arena.as_var(var).expect("a variable")
            });
            let model = |values: [u8; 3]| {
                let mut model = Model::seeded(1);
                for (var, value) in vars.iter().zip(values) {
                    model.set_bits(*var, Bits::new(8, u64::from(value)));
                }
                model
            };
            let here = model(at);
            let mut conjuncts = Vec::new();
            for (kind, a, b, wide) in &facts {
                let (a, b) = (build(&mut arena, a, *wide), build(&mut arena, b, *wide));
                let both = match kind {
                    0 => {
                        // Made equal here by a constant.
                        let (x, y) = (Evaluator::new(&arena, &here).bits(a), Evaluator::new(&arena, &here).bits(b));
                        let gap = arena.constant(x.sub(y));
                        let b = arena.add(b, gap);
                        vec![arena.eq(a, b)]
                    }
                    1 => vec![arena.slt(a, b), arena.slt(b, a)],
                    _ => {
                        let next = arena.add_const(a, 1);
                        vec![arena.ult(a, b), arena.ult(next, b), arena.ult(b, next)]
                    }
                };
                for fact in both {
                    let holds = Evaluator::new(&arena, &here).bool(fact);
                    conjuncts.push(if holds { fact } else { arena.bool_not(fact) });
                }
            }
            let condition = arena.bool_and_all(&conjuncts);
            let mut found = Vec::new();
            for (a, b) in equations(&mut arena, condition) {
                found.extend(solve(&mut arena, a, b, |var| vars[..2].contains(var)));
            }
            let near = (0..18usize).map(|i| {
                let mut values = at;
                values[i % 3] = values[i % 3].wrapping_add([1u8, 255, 2, 254, 128, 127][i / 3]);
                values
            });
            for values in std::iter::once(at).chain(near) {
                let state = model(values);
                let mut evaluator = Evaluator::new(&arena, &state);
                if !evaluator.bool(condition) {
                    continue;
                }
                for (var, value) in &found {
                    let index = vars.iter().position(|v| v == var).expect("one of ours");
                    prop_assert_eq!(evaluator.bits(*value).low(), u64::from(values[index]), "{} is not {} under {} in {:?}",
                        NAMES[index], arena.text(*value), arena.text(condition), values);
                }
            }
        }
    }

    proptest! {
        /// A number with one of its parts put in again is itself, and with another part it is not.
        #[test]
        fn a_part_is_put_where_it_was(number in any::<u16>(), a in 0..16u16, b in 0..16u16, flip in any::<bool>()) {
            let (hi, lo) = (a.max(b), a.min(b));
            let mut arena = Arena::new();
            let whole = arena.var("n", Sort::Bv(16));
            let mut model = Model::seeded(1);
            model.set_bits(arena.as_var(whole).expect("a variable"), Bits::new(16, u64::from(number)));
            let part = Bits::new(16, u64::from(number)).extract(hi, lo);
            let part = arena.constant(if flip { part.not() } else { part });
            let value = with_part(&mut arena, whole, hi, lo, part);
            let same = Evaluator::new(&arena, &model).bits(value).low() == u64::from(number);
            prop_assert_eq!(same, !flip);
        }
    }

    /// What a condition nearly determines.
    #[test]
    fn near_misses_determine_nothing() {
        let mut arena = Arena::new();
        let [x, n] = ["x@0", "n"].map(|name| arena.var(name, Sort::Bv(32)));
        let ours = arena.as_var(x).expect("a variable");
        let solved = |arena: &mut Arena, facts: &[TermId]| -> Option<String> {
            let condition = arena.bool_and_all(facts);
            let equations = equations(arena, condition);
            let found = equations.into_iter().find_map(|(a, b)| solve(arena, a, b, |var| *var == ours));
            found.map(|(_, value)| arena.text(value))
        };
        let (below, above) = (arena.slt(x, n), arena.slt(n, x));
        let (at_least, at_most) = (arena.bool_not(below), arena.bool_not(above));
        assert_eq!(solved(&mut arena, &[at_least, at_most]).as_deref(), Some("n"));
        // One bound only, or one of another order.
        assert_eq!(solved(&mut arena, &[at_least]), None);
        let unsigned = arena.ult(n, x);
        let unsigned = arena.bool_not(unsigned);
        assert_eq!(solved(&mut arena, &[at_least, unsigned]), None);
        // Twice the variable is known, which leaves its highest bit open.
        let two = arena.bv(32, 2);
        let double = arena.mul(two, x);
        let equal = arena.eq(double, n);
        assert_eq!(solved(&mut arena, &[equal]), None);
        // An equation with the variable on both sides.
        let product = arena.mul(x, n);
        let equal = arena.eq(product, x);
        assert_eq!(solved(&mut arena, &[equal]), None);
        let different = arena.eq(x, n);
        let different = arena.bool_not(different);
        assert_eq!(solved(&mut arena, &[different]), None);
    }
}
