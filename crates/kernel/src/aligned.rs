//! Pointers that are aligned because the original follows them (`aligned`).
//!
//! A parameter that debug information declares as a pointer to numbers points to a multiple of their size, if the
//! original accesses such a number through it. Where compilers ask how far two pointers are from each other, they count
//! in whole elements.
//!
//! Trust: full. Without an access the pointer may be anything.

use crate::obligation::{Fact, FactKind};
use crate::product::{Checker, Point};
use graph::{Assumption, Known, Place};
use term::{Arena, Linear, TermId, VarId};

impl Checker<'_, '_> {
    /// What holds at a point: its condition, and which pointers are aligned.
    pub(crate) fn known(&mut self, at: &Point) -> Known {
        let mut known = Known::from_condition(self.context.arena, at.condition);
        if known.compares_distances() {
            for (var, bytes) in self.aligned(at, &known) {
                known.note_aligned(var, bytes);
            }
        }
        known
    }

    /// The pointers that the original has followed on the way to a point, and what they are multiples of.
    pub(crate) fn aligned(&mut self, at: &Point, known: &Known) -> Vec<(VarId, u16)> {
        let mut out = Vec::new();
        if !self.context.may_assume("aligned") {
            return out;
        }
        for parameter in self.context.functions[0].parameters.iter().filter(|p| p.element > 1) {
            let [value] = parameter.values[..] else { continue };
            let Place::Register(register) = value.place else { continue };
            let Some(var) = self.context.arena.find_var(&register.name()) else { continue };
            let variable = self.context.arena.var_term(var);
            let followed = at.facts.iter().rev().filter(|f| follows(self.context.arena, f, variable, parameter.element));
            let followed: Vec<TermId> = followed.map(|f| f.when).collect();
            let certain = followed.into_iter().any(|when| {
                let when = known.simplify(self.context.arena, when);
                self.context.arena.as_bool(when) == Some(true)
            });
            if certain {
                self.context.assume(Assumption::about("aligned", parameter.name.clone()));
                out.push((var, parameter.element));
            }
        }
        out
    }
}

/// Is it an access to an element behind the pointer?
fn follows(arena: &Arena, fact: &Fact, pointer: TermId, element: u16) -> bool {
    let FactKind::Access { address, bytes } = fact.kind else { return false };
    let sum = Linear::of(arena, address);
    let whole = |n: u64| n % u64::from(element) == 0;
    let one = |(term, factor): &(TermId, term::Bits)| *term == pointer && factor.to_u64() == Some(1);
    bytes == element
        && sum.terms.iter().any(one)
        && sum.terms.iter().filter(|part| !one(part)).all(|(_, factor)| whole(factor.low()))
        && whole(sum.constant.low())
}
