//! Choices in a goal: the nearest one, and goals that are true whichever way they go.
//!
//! A condition is put in as true and then as false. If the goal becomes true by its terms both times, it holds.
//!
//! Trust: full.

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use term::{Arena, Op, TermId};

/// Choices that a goal is freed of before a solver sees it, and terms of such a goal.
const MOST_CHOICES: u32 = 5;
const MOST_TERMS: usize = 3000;

/// The condition of the choice nearest to the top of a term.
pub(crate) fn nearest_choice(arena: &Arena, goal: TermId) -> Option<TermId> {
    let mut open = VecDeque::from([goal]);
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    while let Some(term) = open.pop_front() {
        if arena.op(term) == Op::Ite {
            return Some(arena.arg(term, 0));
        }
        open.extend(arena.args(term).iter().filter(|t| seen.insert(**t)));
    }
    None
}

/// Is a goal true by its terms alone, whichever way its choices go? Sums of choices are hard for a solver, and often the
/// same sum in each case.
pub(crate) fn is_true_either_way(arena: &mut Arena, goal: TermId) -> bool {
    arena.topological(&[goal]).len() <= MOST_TERMS && is_true_for_choices(arena, goal, MOST_CHOICES)
}

fn is_true_for_choices(arena: &mut Arena, goal: TermId, most: u32) -> bool {
    if let Some(truth) = arena.as_bool(goal) {
        return truth;
    }
    let Some(condition) = nearest_choice(arena, goal).filter(|_| most > 0) else { return false };
    [true, false].into_iter().all(|truth| {
        let mut memo = FxHashMap::from_iter([(condition, arena.bool(truth))]);
        let case = arena.substitute(goal, &mut |_| None, &mut memo);
        is_true_for_choices(arena, case, most - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Sort;

    /// Is the sum of two choices between `x` and `y`, by these conditions, `x + y`?
    fn is_sum(conditions: [&str; 2]) -> bool {
        let mut arena = Arena::new();
        let [x, y] = ["x", "y"].map(|name| arena.var(name, Sort::Bv(64)));
        let [p, q] = conditions.map(|name| arena.var(name, Sort::Bool));
        let (first, second) = (arena.ite(p, x, y), arena.ite(q, y, x));
        let (sum, expected) = (arena.add(first, second), arena.add(x, y));
        let goal = arena.eq(sum, expected);
        is_true_either_way(&mut arena, goal)
    }

    #[test]
    fn a_goal_holds_if_both_cases_do() {
        assert!(is_sum(["p", "p"]));
        // Near miss: the choices are not made together.
        assert!(!is_sum(["p", "q"]));
    }
}
