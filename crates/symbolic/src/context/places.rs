//! Where values point to in the frame, and what they are made of.
//!
//! Trust: full. What is taken for an input of the function is taken to be the same on both sides.

use super::Context;
use program::{ObjectKind, Side};
use term::{Bits, Linear, Sort, TermId, VarId};

impl Context<'_> {
    /// Splits `rsp₀ + offset + rest` of either side into offset and the other linear terms.
    pub fn frame_offset(&self, term: TermId) -> Option<(i64, Vec<(TermId, Bits)>)> {
        if self.arena.sort(term) != Sort::Bv(64) {
            return None;
        }
        let linear = Linear::of(self.arena, term);
        let at = linear.terms.iter().position(|(t, c)| {
            c.to_u64() == Some(1) && self.arena.as_var(*t).is_some_and(|var| self.origins.entry_rsp.contains(&var))
        })?;
        let mut rest = linear.terms;
        rest.remove(at);
        Some((linear.constant.low() as i64, rest.into_vec()))
    }

    /// The first border of a local object strictly inside an access: its distance from the access's start.
    pub(crate) fn border_inside(&self, side: Side, offset: i64, bytes: u16) -> Option<u16> {
        let borders = self.bindings.iter().filter_map(|b| b.interval(side));
        let borders = borders.flat_map(|i| [i.offset, i.offset.saturating_add_unsigned(i.size)]);
        let inside =
            borders.filter_map(|border| border.checked_sub(offset)).filter(|d| *d > 0 && *d < i64::from(bytes));
        inside.min().map(|d| d as u16)
    }

    /// The local object whose interval holds the frame offset.
    pub fn local_at(&self, side: Side, offset: i64) -> Option<usize> {
        self.bindings.iter().position(|b| b.interval(side).is_some_and(|i| i.contains(offset)))
    }

    /// Is a value made of something that is no input of the function: a register that nobody gave it, the place of its stack, its
    /// return address?
    pub fn is_made_of_more(&mut self, term: TermId) -> bool {
        let return_address = self.return_address();
        let more = |var: &VarId| {
            self.origins.undefined.contains(var)
                || self.origins.entry_rsp.contains(var)
                || self.origins.frame_values.contains(var)
                || self.arena.as_var(return_address) == Some(*var)
        };
        self.arena.free_vars(term).iter().any(more)
    }

    /// What the call has pushed.
    pub(crate) fn return_address(&mut self) -> TermId {
        self.arena.var("return-address", Sort::Bv(64))
    }

    /// `&local + (offset - start) + rest`.
    pub(crate) fn local_pointer(&mut self, side: Side, local: usize, offset: i64, rest: Vec<(TermId, Bits)>) -> TermId {
        let start = self.bindings[local].interval(side).expect("bound on this side").offset;
        let base = self.local_address(local);
        let mut terms = rest;
        terms.push((base, Bits::new(64, 1)));
        Linear { terms: terms.into(), constant: Bits::from_i64(64, offset - start) }.build(self.arena)
    }

    /// Is an address made of that of a function? What code consists of is not the same in both programs.
    pub(crate) fn is_code(&self, address: TermId) -> bool {
        let is_function =
            |var| self.object(var).is_some_and(|o| matches!(o.kind, ObjectKind::Named { function: true, .. }));
        let terms = Linear::of(self.arena, address).terms;
        terms.iter().filter_map(|(term, _)| self.arena.as_var(*term)).any(is_function)
    }

    /// The one object whose address is part of the sum, with coefficient 1.
    pub fn base_object(&self, address: TermId) -> Option<(VarId, Option<usize>)> {
        let linear = Linear::of(self.arena, address);
        let mut found = None;
        for (term, coefficient) in &linear.terms {
            let Some(var) = self.arena.as_var(*term) else { continue };
            let local = self.origins.locals.iter().position(|v| *v == var);
            let is_object = local.is_some()
                || self.origins.allocations.contains_key(&var)
                || self.object(var).is_some_and(|o| o.kind != ObjectKind::Section);
            if is_object {
                if found.is_some() || coefficient.to_u64() != Some(1) {
                    return None;
                }
                found = Some((var, local));
            }
        }
        found
    }
}
