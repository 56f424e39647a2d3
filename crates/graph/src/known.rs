//! Simplification under what is known to hold: the literals of a path condition.

use crate::Context;
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Op, Sort, TermId};

/// Truth values of conditions that are known at a point.
#[derive(Clone, Default, Debug)]
pub struct Known {
    literals: FxHashMap<TermId, TermId>,
}

impl Known {
    /// What a conjunction says about its conjuncts.
    pub fn from_condition(arena: &mut Arena, condition: TermId) -> Known {
        let mut known = Known::default();
        known.learn(arena, condition);
        known
    }

    /// Adds the conjuncts of a condition.
    pub fn learn(&mut self, arena: &mut Arena, condition: TermId) {
        let mut stack = vec![condition];
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
                    let no = arena.bool(false);
                    self.literals.insert(inner, no);
                }
                Op::True | Op::False => {}
                _ => {
                    if arena.op(term) == Op::Eq {
                        self.learn_equality(arena, term);
                    }
                    let yes = arena.bool(true);
                    self.literals.insert(term, yes);
                }
            }
        }
    }

    /// `x = constant` lets `x` be replaced.
    fn learn_equality(&mut self, arena: &Arena, term: TermId) {
        let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
        if arena.as_const(b).is_some() && arena.as_const(a).is_none() {
            self.literals.insert(a, b);
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
        } else if matches!(node.op, Op::Eq | Op::Ult | Op::Slt) && node.args.iter().any(|a| self.literals.contains_key(a)) {
            let args: Vec<TermId> = node.args.iter().map(|a| self.literals.get(a).copied().unwrap_or(*a)).collect();
            arena.make(node.op, &args)
        } else {
            term
        };
        memo.insert(term, out);
        out
    }

    /// Any term, with known conditions and values replaced everywhere inside.
    pub fn rewrite(&self, arena: &mut Arena, term: TermId) -> TermId {
        if self.literals.is_empty() { term } else { arena.replace(term, &self.literals) }
    }
}

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
