//! Variables that a path determines: where a loop ends at `i + 4 = 4·(n >> 2)`, what comes after is about `n` alone.
//!
//! A forgotten place is a variable. If the condition of a path has an equation with it (or two bounds that meet), the
//! variable is replaced by the other side in everything that is still to be compared, so that addresses of both sides
//! get one form. The equation stays in the condition.
//!
//! Trust: full. Replacing a variable by what the condition says it equals changes no truth under that condition.

use crate::obligation::FactKind;
use crate::product::{Checker, Point};
use graph::{Known, Run, Side};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use term::{Bits, Linear, Op, TermId, VarId};

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
        }
    }

    /// A variable of ours and what it must be.
    fn determined(&mut self, at: &Point) -> Option<(VarId, TermId)> {
        let condition = at.condition;
        let conjuncts: Vec<TermId> = match self.context.arena.op(condition) {
            Op::And => self.context.arena.args(condition).to_vec(),
            _ => vec![condition],
        };
        for conjunct in &conjuncts {
            if self.context.arena.op(*conjunct) == Op::Eq {
                let (a, b) = (self.context.arena.arg(*conjunct, 0), self.context.arena.arg(*conjunct, 1));
                if let Some(found) = self.solve(at, a, b) {
                    return Some(found);
                }
            }
        }
        // `x ≤ y` and `y ≤ x`, or `x < y + 1`.
        let arena = &mut *self.context.arena;
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
            let meets = at_most[..i].iter().any(|(c, d, s)| a == d && b == c && s == signed);
            if meets && let Some(found) = self.solve(at, *a, *b) {
                return Some(found);
            }
        }
        None
    }

    /// Solves `a = b` for one of our variables.
    fn solve(&mut self, at: &Point, a: TermId, b: TermId) -> Option<(VarId, TermId)> {
        let width = self.context.arena.sort(a).width().filter(|w| *w <= 64)?;
        let arena = &mut *self.context.arena;
        let mut linear = Linear::of(arena, a);
        linear.add_scaled(arena, b, Bits::from_i64(width, -1));
        for (i, (term, factor)) in linear.terms.iter().enumerate() {
            let inner = match arena.op(*term) {
                Op::Sext(_) | Op::Zext(_) => arena.arg(*term, 0),
                _ => *term,
            };
            let Some(var) = arena.as_var(inner).filter(|v| self.free.contains(v) && !at.gone.contains(v)) else {
                continue;
            };
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
            if arena.free_vars(value).contains(&var) {
                continue;
            }
            // A frame address means something on its own side only.
            if !self.context.depends_on_frame(value) {
                return Some((var, value));
            }
            return None;
        }
        None
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
                FactKind::Not(condition) => *condition = put(*condition),
                FactKind::Access { address, .. } => *address = put(*address),
            }
        }
        for state in &mut at.states {
            state.map(&mut put);
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
        at.gone.push(var);
    }
}
