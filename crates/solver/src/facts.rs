//! What the hypotheses of a question say about conditions on addresses.
//!
//! A condition is decided by conjunction: the arena folds comparisons of one sum with constants to one interval, so
//! `condition ∧ fact₁ ∧ fact₂ …` becomes false if the facts about that sum exclude the condition. This costs no
//! solver and decides most questions of aliasing.
//!
//! Trust: full, as far as the arena's rules are.

use rustc_hash::FxHashMap;
use term::{Arena, Op, TermId};

/// More facts than this are not looked at one by one.
const MAX_FACTS: usize = 256;

/// Truth-valued terms taken for granted.
#[derive(Default)]
pub(crate) struct Facts {
    literals: Vec<TermId>,
    decided: FxHashMap<TermId, Option<bool>>,
}

impl Facts {
    /// Takes one more term for granted.
    pub(crate) fn add(&mut self, fact: TermId) {
        if self.literals.len() < MAX_FACTS {
            self.literals.push(fact);
            self.decided.retain(|_, decided| decided.is_some());
        }
    }

    /// The truth value of a condition wherever the facts hold, if they tell.
    pub(crate) fn decide(&mut self, arena: &mut Arena, condition: TermId) -> Option<bool> {
        if let Some(value) = arena.as_bool(condition) {
            return Some(value);
        }
        if let Some(decided) = self.decided.get(&condition) {
            return *decided;
        }
        let opposite = arena.bool_not(condition);
        let value = if self.excludes(arena, condition) {
            Some(false)
        } else if self.excludes(arena, opposite) {
            Some(true)
        } else {
            None
        };
        self.decided.insert(condition, value);
        value
    }

    fn excludes(&self, arena: &mut Arena, condition: TermId) -> bool {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;

    fn facts(literals: &[TermId]) -> Facts {
        let mut facts = Facts::default();
        literals.iter().for_each(|literal| facts.add(*literal));
        facts
    }

    #[test]
    fn disjoint_ranges_decide_overlap() {
        let mut arena = Arena::new();
        let (p, q) = (arena.var("p", Sort::Bv(64)), arena.var("q", Sort::Bv(64)));
        let (d, e, eight) = (arena.sub(p, q), arena.sub(q, p), arena.bv(64, 8));
        let (after, before) = (arena.ule(eight, d), arena.ule(eight, e));
        let mut both = facts(&[after, before]);
        let (reach, span) = (arena.add_const(d, 3), arena.bv(64, 11));
        let overlap = arena.ult(reach, span);
        assert_eq!(both.decide(&mut arena, overlap), Some(false));
        let apart = arena.bool_not(overlap);
        assert_eq!(both.decide(&mut arena, apart), Some(true));
        let far = arena.bv(64, 9);
        let near = arena.ult(d, far);
        assert_eq!(both.decide(&mut arena, near), None);
        let mut only_one_side = facts(&[after]);
        assert_eq!(only_one_side.decide(&mut arena, overlap), None);
    }

    #[test]
    fn a_literal_decides_itself() {
        let mut arena = Arena::new();
        let (a, b) = (arena.var("a", Sort::Bool), arena.var("b", Sort::Bool));
        let not_b = arena.bool_not(b);
        let mut facts = facts(&[a, not_b]);
        assert_eq!(facts.decide(&mut arena, a), Some(true));
        assert_eq!(facts.decide(&mut arena, b), Some(false));
        let c = arena.var("c", Sort::Bool);
        assert_eq!(facts.decide(&mut arena, c), None);
    }
}
