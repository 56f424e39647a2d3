//! Accesses to volatile objects, by the declared types of what the addresses are made of.
//!
//! Each load and store of a function is ordinary, volatile, or unclear: its address comes from nowhere that a type is known
//! of. Unclear accesses matter only in functions in whose reach something volatile is: its parameters and locals, the
//! objects that it names and the results of its callees, and what these lead to.
//!
//! Trust: full, of the original. A volatile access that is taken for an ordinary one may be dropped by the candidate. A
//! cast to a volatile type that no variable has leaves no trace in the debug information.

use super::{Analysis, Known, State};
use crate::Image;
use crate::dwarf::{Care, TypedLocal};
use crate::layout::Base;
use graph::{Callee, Next, Op, Point, Volatile};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use term::VarId;

impl Image {
    /// Is a named object volatile, or a part of it, as any unit declares it?
    pub(crate) fn is_volatile(&self, base: Base) -> bool {
        let Base::Symbol(symbol) = base else { return false };
        let Some(symbol) = self.symbols.get(symbol as usize) else { return false };
        let declared = || self.debug.other_variables.iter().filter(|((_, name), _)| *name == symbol.name);
        let types = &self.debug.types;
        symbol.place().is_some_and(|place| self.debug.volatile.contains(&place))
            || types.has_volatile() && declared().any(|(_, id)| types.has_volatile_part(*id))
    }
}

impl Analysis<'_> {
    /// Is something volatile in reach of the function?
    pub(super) fn reaches_volatile<'t>(
        &self,
        points: &[Point],
        mut locals: impl Iterator<Item = &'t TypedLocal>,
    ) -> bool {
        let leads = |id| self.types.leads_to_volatile(id);
        let called = |point: &Point| match &point.next {
            Next::Call(call) => match &call.callee {
                Callee::Named(name) => self.result_of(name).is_some_and(leads),
                Callee::Pointer(_) => false,
            },
            _ => false,
        };
        self.objects.values().any(|id| leads(*id))
            || self.described.parameter_types.iter().flatten().any(|id| leads(*id))
            || locals.any(|local| local.type_id.is_some_and(leads))
            || points.iter().any(called)
    }

    /// Notes how an operation accesses memory.
    pub(super) fn note_care(&self, place: u64, op: &Op, state: &State, temporaries: &FxHashMap<VarId, Known>) {
        let Some(cares) = &self.cares else { return };
        let (address, bytes) = match op {
            Op::Load { address, bytes, .. } => (*address, u64::from(*bytes)),
            Op::Store { address, value } => {
                (*address, u64::from(self.arena.sort(*value).width().unwrap_or(512).div_ceil(8)))
            }
            Op::Set { .. } | Op::Unknown { .. } | Op::Fault { .. } => return,
        };
        let care = match self.value(state, temporaries, address) {
            Known::Pointer(type_id, offset) => self.types.care_at(type_id, offset, bytes),
            Known::Frame(_) => return,
            Known::Number { .. } => Care::Unclear,
        };
        cares.borrow_mut().insert((place, care));
    }

    /// What was found about the accesses of the function.
    pub(super) fn volatile<'t>(&self, mut locals: impl Iterator<Item = &'t TypedLocal>) -> Volatile {
        let Some(cares) = &self.cares else { return Volatile::default() };
        let cares = cares.borrow();
        let with = |care: Care| cares.iter().filter(|(_, c)| *c == care).map(|(place, _)| *place).collect();
        let [ordinary, volatile, unclear]: [BTreeSet<u64>; 3] =
            [Care::Ordinary, Care::Volatile, Care::Unclear].map(with);
        let doubtful = unclear.iter().chain(volatile.intersection(&ordinary)).min();
        let doubt = doubtful.map(|place| (*place, "an access that may be volatile".to_string()));
        let local = locals.find(|local| local.type_id.is_some_and(|id| self.types.has_volatile_part(id)));
        let local = local.map(|local| (0, format!("the volatile local `{}`", local.local.name)));
        Volatile { places: volatile, unclear: local.or(doubt) }
    }
}
