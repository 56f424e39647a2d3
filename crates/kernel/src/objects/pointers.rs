//! Parameters that are pointers because the original follows them (`pointer`).
//!
//! A parameter that debug information declares as a pointer is itself an address of the program, if the original accesses
//! memory at some distance from it: both are inside one object. It is a multiple of the size of the numbers that it is
//! declared to point to, if the original accesses such a number. Where compilers ask how far two pointers are from each
//! other, they count in whole elements, and no end of an array wraps.
//!
//! Trust: full. Without an access the pointer may be anything.

use crate::objects::obligation::{Fact, FactKind};
use crate::objects::product::{Checker, Point};
use program::{Assumption, Function, Parameter, Place};
use rustc_hash::FxHashMap;
use symbolic::Known;
use term::{Arena, Linear, TermId, VarId};

impl Checker<'_, '_> {
    /// What holds at a point: its condition, and which parameters are pointers.
    pub(crate) fn known(&mut self, at: &Point) -> Known {
        let mut known = Known::from_condition(self.context.arena, at.condition);
        if known.compares_distances() {
            for (var, bytes) in self.pointers(at, &known) {
                known.note_pointer(var, bytes);
            }
            // Objects that exist are somewhere.
            for var in self.context.arena.free_vars(at.condition) {
                if self.context.is_certain_object(var) && self.context.may_assume_defined() {
                    self.context.assume(Assumption::UserAddresses);
                    known.note_pointer(var, 1);
                }
            }
        }
        known
    }

    /// Resolves the reads of both sides again: on the way one of them may not have known yet what was apart.
    pub(crate) fn settle_reads(&mut self, at: &mut Point) {
        let known = self.known(at);
        if !known.compares_distances() {
            return;
        }
        let before = self.context.look_from(&known);
        let mut memo = FxHashMap::default();
        for state in &mut at.states {
            state.map(&mut |term| self.context.resolve(term, &mut memo));
        }
        self.context.stand(before);
    }

    /// The pointers that the original has followed on the way to a point, and what they are multiples of.
    pub(crate) fn pointers(&mut self, at: &Point, known: &Known) -> Vec<(VarId, u16)> {
        let mut out = Vec::new();
        if !self.context.may_assume_defined() {
            return out;
        }
        let declared = pointer_parameters(self.context.arena, self.context.functions[0]);
        let declared: Vec<(VarId, TermId, &Parameter)> =
            declared.into_iter().map(|(var, p)| (var, self.context.arena.var_term(var), p)).collect();
        for (var, variable, parameter) in &declared {
            let others: Vec<TermId> = declared.iter().map(|(_, t, _)| *t).filter(|t| t != variable).collect();
            let arena = &*self.context.arena;
            let followed = at.facts.iter().rev().filter(|f| follows(arena, f, *variable, parameter.element, &others));
            let followed: Vec<TermId> = followed.map(|f| f.when).collect();
            let certain = followed.into_iter().any(|when| {
                let when = known.simplify(self.context.arena, when);
                self.context.arena.as_bool(when) == Some(true)
            });
            if certain {
                self.context.assume(Assumption::Pointer(parameter.name.clone()));
                out.push((*var, parameter.element));
            }
        }
        out
    }
}

/// The pointer parameters that arrive in registers, with the variable that each is at entry.
pub(crate) fn pointer_parameters<'f>(arena: &Arena, function: &'f Function) -> Vec<(VarId, &'f Parameter)> {
    let mut out = Vec::new();
    for parameter in function.parameters.iter().filter(|p| p.pointer) {
        let [value] = parameter.values[..] else { continue };
        let Place::Register(register) = value.place else { continue };
        out.extend(arena.find_var(&register.name()).map(|var| (var, parameter)));
    }
    out
}

/// Is it an access to an element behind the pointer?
fn follows(arena: &Arena, fact: &Fact, pointer: TermId, element: u16, others: &[TermId]) -> bool {
    let FactKind::Access { address, bytes, .. } = fact.kind else { return false };
    let sum = Linear::of(arena, address);
    let whole = |n: u64| n.is_multiple_of(u64::from(element));
    let one = |(term, factor): &(TermId, term::Bits)| *term == pointer && factor.to_u64() == Some(1);
    (bytes == element || element == 1)
        && sum.terms.iter().any(one)
        && !sum.terms.iter().any(|(term, _)| others.contains(term))
        && sum.terms.iter().filter(|part| !one(part)).all(|(_, factor)| whole(factor.low()))
        && whole(sum.constant.low())
}
