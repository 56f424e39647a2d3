//! Rebuilding terms with parts replaced, and walks over the term graph. Nothing here recurses: terms may be very deep.

use crate::{Arena, Op, TermId, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

impl Arena {
    /// All terms beneath `roots` that satisfy `wanted` and are reached through such terms, operands first.
    pub fn topological_where(&self, roots: &[TermId], mut wanted: impl FnMut(TermId) -> bool) -> Vec<TermId> {
        let mut seen = FxHashSet::default();
        let mut todo: Vec<TermId> = roots.to_vec();
        let mut out = Vec::new();
        while let Some(term) = todo.pop() {
            if seen.contains(&term) || !wanted(term) {
                continue;
            }
            seen.insert(term);
            out.push(term);
            todo.extend_from_slice(self.args(term));
        }
        // Operands are made before the terms that use them.
        out.sort_unstable();
        out
    }

    /// All terms beneath `roots`, operands first.
    pub fn topological(&self, roots: &[TermId]) -> Vec<TermId> {
        self.topological_where(roots, |_| true)
    }

    /// The variables that occur in a term, sorted.
    pub fn free_vars(&self, term: TermId) -> Vec<VarId> {
        let mut vars: Vec<VarId> = self.topological(&[term]).into_iter().filter_map(|t| self.as_var(t)).collect();
        vars.sort_unstable();
        vars
    }

    /// `term` with variables replaced as `map` says (`None` keeps the variable), rebuilt in normal form. `memo`
    /// remembers results between calls with the same `map`.
    pub fn substitute(
        &mut self,
        term: TermId,
        map: &mut impl FnMut(VarId) -> Option<TermId>,
        memo: &mut FxHashMap<TermId, TermId>,
    ) -> TermId {
        for next in self.topological_where(&[term], |t| !memo.contains_key(&t)) {
            let new = match self.op(next) {
                Op::Var(var) => map(var).unwrap_or(next),
                _ => self.rebuild(next, memo),
            };
            memo.insert(next, new);
        }
        memo[&term]
    }

    /// `term` with each occurrence of a key of `map` replaced by its value, rebuilt in normal form. Inside a
    /// replaced term nothing else is replaced.
    pub fn replace(&mut self, term: TermId, map: &FxHashMap<TermId, TermId>) -> TermId {
        let mut memo = map.clone();
        for next in self.topological_where(&[term], |t| !map.contains_key(&t)) {
            let new = self.rebuild(next, &memo);
            memo.insert(next, new);
        }
        memo[&term]
    }

    fn rebuild(&mut self, term: TermId, memo: &FxHashMap<TermId, TermId>) -> TermId {
        let old = self.args(term);
        let new: SmallVec<[TermId; 4]> = old.iter().map(|arg| memo.get(arg).copied().unwrap_or(*arg)).collect();
        if new[..] == *old { term } else { self.make(self.op(term), &new) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{Model, eval};
    use crate::{Bits, FloatOp, Sort};

    /// A term nested 100,000 levels deep that no rule flattens.
    fn deep(arena: &mut Arena) -> TermId {
        let x = arena.var("x", Sort::Bv(32));
        let (y, memory) = (arena.var("y", Sort::Bv(32)), arena.var("m", Sort::Memory));
        let mut term = x;
        let mut memory = memory;
        for i in 0..100_000u32 {
            term = match i % 8 {
                0 => arena.xor(term, y),
                1 => arena.mul(term, term),
                2 => {
                    let below = arena.ult(term, y);
                    arena.ite(below, term, x)
                }
                3 => arena.float(FloatOp::Sqrt(32), &[term]),
                4 => {
                    let wide = arena.zext(term, 64);
                    memory = arena.store(memory, wide, x);
                    arena.load(memory, wide, 2);
                    let low = arena.truncate(term, 16);
                    arena.sext(low, 32)
                }
                5 => arena.and(term, y),
                6 => arena.or(term, x),
                _ => arena.add(term, y),
            };
        }
        term
    }

    #[test]
    fn depth_costs_no_stack() {
        let mut arena = Arena::new();
        let term = deep(&mut arena);
        let var = arena.find_var("x").expect("declared");
        let one = arena.bv(32, 1);
        let mut memo = FxHashMap::default();
        let replaced = arena.substitute(term, &mut |v| (v == var).then_some(one), &mut memo);
        let mut model = Model::seeded(1);
        model.set_bits(var, Bits::new(32, 1));
        assert_eq!(eval(&arena, term, &model), eval(&arena, replaced, &model));
        assert!(arena.free_vars(term).contains(&var));
        assert!(arena.text(term).contains("let t1"));
        // Pushing through the whole depth stops somewhere instead of overflowing.
        let bit = arena.extract(term, 3, 3);
        assert_eq!(eval(&arena, bit, &model).bits().low(), eval(&arena, term, &model).bits().low() >> 3 & 1);
    }

    #[test]
    fn deep_conditions_cost_no_stack() {
        let mut arena = Arena::new();
        let mut condition = arena.var("c0", Sort::Bool);
        for i in 1..50_000 {
            let var = arena.var(&format!("c{}", i % 1000), Sort::Bool);
            condition = if i % 2 == 0 { arena.bool_and(condition, var) } else { arena.bool_or(condition, var) };
        }
        let opposite = arena.bool_not(condition);
        let model = Model::seeded(3);
        assert_ne!(eval(&arena, condition, &model), eval(&arena, opposite, &model));
    }

    #[test]
    fn deep_choices_cost_no_stack() {
        let mut arena = Arena::new();
        let mut chain = arena.bv(32, 7);
        for i in 0..50_000u64 {
            let var = arena.var(&format!("c{i}"), Sort::Bool);
            let value = arena.bv(32, i % 300);
            chain = arena.ite(var, value, chain);
        }
        let nine = arena.bv(32, 9);
        let (equal, below) = (arena.eq(chain, nine), arena.ult(chain, nine));
        let (low, wide) = (arena.truncate(chain, 8), arena.sext(chain, 64));
        let (sum, masked) = (arena.add(chain, nine), arena.and(chain, nine));
        let model = Model::seeded(5);
        let value = eval(&arena, chain, &model).bits().low();
        assert_eq!(eval(&arena, equal, &model).bool(), value == 9);
        assert_eq!(eval(&arena, below, &model).bool(), value < 9);
        assert_eq!(eval(&arena, low, &model).bits().low(), value & 0xff);
        assert_eq!(eval(&arena, wide, &model).bits().low(), value);
        assert_eq!(eval(&arena, sum, &model).bits().low(), value + 9);
        assert_eq!(eval(&arena, masked, &model).bits().low(), value & 9);
    }

    #[test]
    fn replaces_facts() {
        let mut arena = Arena::new();
        let (x, y) = (arena.var("x", Sort::Bv(8)), arena.var("y", Sort::Bv(8)));
        let below = arena.ult(x, y);
        let choice = arena.ite(below, x, y);
        let truth = arena.bool(true);
        let map = FxHashMap::from_iter([(below, truth)]);
        assert_eq!(arena.replace(choice, &map), x);
    }
}
