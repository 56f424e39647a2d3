//! Conditions of several paths.

use super::Context;
use rustc_hash::FxHashSet;
use term::{Arena, Op, TermId};

impl Context<'_> {
    /// Splits conditions into their common conjuncts and what is left of each.
    pub fn factor(&mut self, conditions: &[TermId]) -> (TermId, Vec<TermId>) {
        let conjuncts = |arena: &Arena, term: TermId| -> Vec<TermId> {
            if arena.op(term) == Op::And { arena.args(term).to_vec() } else { vec![term] }
        };
        let mut common: FxHashSet<TermId> = conjuncts(self.arena, conditions[0]).into_iter().collect();
        for condition in &conditions[1..] {
            let set: FxHashSet<TermId> = conjuncts(self.arena, *condition).into_iter().collect();
            common.retain(|t| set.contains(t));
        }
        let rest = conditions
            .iter()
            .map(|condition| {
                let left: Vec<TermId> =
                    conjuncts(self.arena, *condition).into_iter().filter(|t| !common.contains(t)).collect();
                self.arena.bool_and_all(&left)
            })
            .collect();
        let mut common: Vec<TermId> = common.into_iter().collect();
        common.sort_unstable();
        (self.arena.bool_and_all(&common), rest)
    }
}
