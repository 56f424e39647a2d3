//! What the conjuncts of a question say about conditions on addresses.
//!
//! Cheapest first: [`Ranges`] tells accesses apart by the ranges of sums; conjunction with the facts one by one lets
//! the arena find contradictions between comparisons; what needs several facts at once goes to the [`Oracle`].
//!
//! Trust: full, as far as the arena's rules and the solver's `unsat` are.

use crate::oracle::Oracle;
use crate::ranges::Ranges;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Op, Sort, TermId, VarId};

/// More facts than this are not looked at one by one.
const MAX_FACTS: usize = 256;

/// How many facts a small question may have, and how many terms each of them.
const MAX_RELEVANT: usize = 64;
const MAX_TERMS: usize = 500;

/// Truth-valued terms taken for granted.
#[derive(Default)]
pub(crate) struct Facts<'a> {
    literals: Vec<TermId>,
    ranges: Ranges,
    /// Variables of the facts that are small enough for small questions, of as many as have been needed.
    vars: Vec<Option<Vec<VarId>>>,
    excluded: FxHashMap<TermId, bool>,
    oracle: Option<Oracle<'a>>,
}

impl<'a> Facts<'a> {
    /// No facts yet.
    pub(crate) fn new(oracle: Option<Oracle<'a>>) -> Facts<'a> {
        Facts { oracle, ..Facts::default() }
    }

    /// Takes one more term for granted.
    pub(crate) fn add(&mut self, arena: &Arena, fact: TermId) {
        if self.literals.len() < MAX_FACTS {
            self.literals.push(fact);
            self.ranges.add(arena, fact);
            self.excluded.retain(|_, excluded| *excluded);
        }
    }

    /// The truth value of a condition wherever the facts hold, if they tell.
    pub(crate) fn decide(&mut self, arena: &mut Arena, condition: TermId) -> Option<bool> {
        if self.excludes(arena, condition) {
            return Some(false);
        }
        let opposite = arena.bool_not(condition);
        self.excludes(arena, opposite).then_some(true)
    }

    /// Is the condition false wherever the facts hold?
    pub(crate) fn excludes(&mut self, arena: &mut Arena, condition: TermId) -> bool {
        if let Some(value) = arena.as_bool(condition) {
            return !value;
        }
        if let Some(excluded) = self.excluded.get(&condition) {
            return *excluded;
        }
        let excluded = self.ranges.excludes(arena, condition)
            || self.folds_to_false(arena, condition)
            || self.oracle_excludes(arena, condition);
        self.excluded.insert(condition, excluded);
        excluded
    }

    fn folds_to_false(&self, arena: &mut Arena, condition: TermId) -> bool {
        let mut rest = condition;
        for fact in &self.literals {
            let both = arena.bool_and(rest, *fact);
            match arena.op(both) {
                Op::False => return true,
                // Not folded to one comparison: the fact speaks about something else.
                Op::And => {}
                _ => rest = both,
            }
        }
        false
    }

    fn oracle_excludes(&mut self, arena: &mut Arena, condition: TermId) -> bool {
        let Some(oracle) = self.oracle.as_mut().filter(|oracle| !oracle.is_tired()) else { return false };
        let Some(vars) = small_vars(arena, condition) else { return false };
        self.vars.extend(self.literals[self.vars.len()..].iter().map(|fact| small_vars(arena, *fact)));
        // Facts that share a variable with the condition, or with such a fact, and so on.
        let mut reached: FxHashSet<VarId> = vars.into_iter().collect();
        let mut relevant = vec![false; self.literals.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (i, vars) in self.vars.iter().enumerate() {
                let Some(vars) = vars else { continue };
                if !relevant[i] && vars.iter().any(|var| reached.contains(var)) {
                    relevant[i] = true;
                    changed = true;
                    reached.extend(vars);
                }
            }
        }
        let facts: Vec<TermId> = self
            .literals
            .iter()
            .zip(&relevant)
            .filter(|(_, r)| **r)
            .map(|(fact, _)| *fact)
            .take(MAX_RELEVANT)
            .collect();
        oracle.excludes(arena, &facts, condition)
    }
}

/// The variables of a term that is small, memories excepted: those would relate everything with everything.
fn small_vars(arena: &Arena, term: TermId) -> Option<Vec<VarId>> {
    let mut seen = FxHashSet::from_iter([term]);
    let mut open = vec![term];
    let mut vars = Vec::new();
    while let Some(term) = open.pop() {
        vars.extend(arena.as_var(term).filter(|var| arena.var_sort(*var) != Sort::Memory));
        open.extend(arena.args(term).iter().copied().filter(|arg| seen.insert(*arg)));
        if seen.len() > MAX_TERMS {
            return None;
        }
    }
    Some(vars)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(arena: &Arena, literals: &[TermId]) -> Facts<'static> {
        let mut facts = Facts::default();
        literals.iter().for_each(|literal| facts.add(arena, *literal));
        facts
    }

    #[test]
    fn disjoint_ranges_decide_overlap() {
        let mut arena = Arena::new();
        let (p, q) = (arena.var("p", Sort::Bv(64)), arena.var("q", Sort::Bv(64)));
        let (d, e, eight) = (arena.sub(p, q), arena.sub(q, p), arena.bv(64, 8));
        let (after, before) = (arena.ule(eight, d), arena.ule(eight, e));
        let mut both = facts(&arena, &[after, before]);
        let (reach, span) = (arena.add_const(d, 3), arena.bv(64, 11));
        let overlap = arena.ult(reach, span);
        assert_eq!(both.decide(&mut arena, overlap), Some(false));
        let apart = arena.bool_not(overlap);
        assert_eq!(both.decide(&mut arena, apart), Some(true));
        let far = arena.bv(64, 9);
        let near = arena.ult(d, far);
        assert_eq!(both.decide(&mut arena, near), None);
        let mut only_one_side = facts(&arena, &[after]);
        assert_eq!(only_one_side.decide(&mut arena, overlap), None);
    }

    #[test]
    fn a_literal_decides_itself() {
        let mut arena = Arena::new();
        let (a, b, c) = (arena.var("a", Sort::Bool), arena.var("b", Sort::Bool), arena.var("c", Sort::Bool));
        let not_b = arena.bool_not(b);
        let mut facts = facts(&arena, &[a, not_b]);
        assert_eq!(facts.decide(&mut arena, a), Some(true));
        assert_eq!(facts.decide(&mut arena, b), Some(false));
        assert_eq!(facts.decide(&mut arena, c), None);
    }
}
