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
