//! Signatures of calls through pointers, from the declared types of what the pointers were loaded from.
//!
//! Forward analysis over the points of one function. A value is a number (with what it is a multiple of), an address in
//! the frame, or a pointer to some offset of a type; two paths that disagree leave any number. Pointers come from
//! parameters in registers, results of calls, and loads: of a local or a named object, whose declared type says what
//! it holds, of a member of what a pointer points to, and of a slot that only holds temporaries. What a cast
//! changes is seen when the value goes through a variable of the new type; what leaves the bounds of its type has
//! no type any more.
//!
//! Trust: the signatures found here become assumptions of a verdict, like those of direct callees.

mod called;
mod care;
mod tested;

use crate::Image;
use crate::dwarf::{Described, Packed, Producer, Type, TypeId, TypeTable, WIDTHS};
use crate::layout::Base;
use care::Cares;
use program::{Callee, Casts, Next, Op, Place, Point, PointId, Register, Signature, Volatile};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, Linear, TermId, VarId};

/// What is known about a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Known {
    /// `factor · x + constant` for some `x`; the same `x` wherever the source is the same.
    Number { source: Option<u32>, factor: i64, constant: i64 },
    /// An address in the frame, relative to `rsp` at entry.
    Frame(i64),
    /// An address at some offset of a type.
    Pointer(TypeId, i64),
    /// An address of an object without a type that is not volatile.
    Plain,
    /// An address of, or from, something that debug information does not describe: it may be volatile.
    Undescribed,
}

const ANY: Known = Known::Number { source: None, factor: 1, constant: 0 };

impl Known {
    fn constant(value: i64) -> Known {
        Known::Number { source: None, factor: 0, constant: value }
    }

    fn join(self, other: Known) -> Known {
        match (self, other) {
            _ if self == other => self,
            (Known::Undescribed, _) | (_, Known::Undescribed) => Known::Undescribed,
            _ => ANY,
        }
    }

    /// Sources mean something within one point only.
    fn forget_source(self) -> Known {
        match self {
            Known::Number { factor, constant, .. } => Known::Number { source: None, factor, constant },
            other => other,
        }
    }
}

/// What is known at a place in the code.
#[derive(Clone, PartialEq, Debug)]
struct State {
    general: [Known; 16],
    /// Eight-byte slots of the frame that are no variables.
    slots: BTreeMap<i64, Known>,
    /// Callee-saved registers that still hold what they held at entry, a bit each.
    untouched: u16,
}

impl State {
    /// Joins another state; did anything change?
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        for (mine, theirs) in self.general.iter_mut().zip(other.general) {
            *mine = mine.join(theirs);
        }
        self.slots.retain(|offset, known| {
            *known = known.join(other.slots.get(offset).copied().unwrap_or(ANY));
            *known != ANY
        });
        let doubtful = other.slots.iter().filter(|(_, known)| **known == Known::Undescribed);
        self.slots.extend(doubtful);
        self.untouched &= other.untouched;
        *self != before
    }
}

/// A local variable's bytes.
struct Slot {
    offset: i64,
    size: u64,
    type_id: Option<TypeId>,
}

struct Analysis<'a> {
    image: &'a Image,
    described: &'a Described,
    arena: &'a Arena,
    types: &'a TypeTable,
    locals: Vec<Slot>,
    /// Types of named objects by their address variables.
    objects: FxHashMap<VarId, TypeId>,
    /// Other objects, if they are not volatile.
    plain: FxHashSet<VarId>,
    /// Objects that debug information does not describe.
    undescribed: FxHashSet<VarId>,
    /// Can pointers reach slots that are no variables?
    exposed: Cell<bool>,
    /// Is something stored to such slots, other than registers of the caller?
    stored: Cell<bool>,
    /// How instructions access memory, on some way; nothing if nothing volatile is in reach.
    cares: Option<Cares>,
    /// Alignments of what instructions access, by their addresses.
    alignments: RefCell<BTreeMap<u64, u64>>,
    likely_alignments: RefCell<BTreeMap<u64, u64>>,
    /// Bytes between members that instructions store, by their addresses.
    paddings: RefCell<BTreeMap<u64, u64>>,
    /// Is what an instruction loads a `_Bool` by the types on every way? By the instructions' addresses.
    booleans: RefCell<BTreeMap<u64, bool>>,
    /// Points whose calls go through a pointer that was loaded for nothing else.
    loaded: RefCell<BTreeSet<PointId>>,
}

/// What declared types say about a function's code.
#[derive(Default)]
pub(crate) struct Typed {
    /// Signatures of the calls through pointers, by the points that end with them.
    pub pointer_calls: BTreeMap<PointId, Signature>,
    /// Registers that such calls can pass at most, where that is known.
    pub pointer_arguments: BTreeMap<PointId, BTreeSet<Register>>,
    /// Addresses of the instructions that load a `_Bool` from memory.
    pub truths: BTreeSet<u64>,
    /// Instructions that access what is volatile.
    pub volatile: Volatile,
    /// Alignments, above 1, of what instructions access through typed pointers, by their addresses.
    pub alignments: BTreeMap<u64, u64>,
    /// The same, if no structure is packed.
    pub likely_alignments: BTreeMap<u64, u64>,
    /// Bytes between members that instructions store, by their addresses.
    pub paddings: BTreeMap<u64, u64>,
    /// Does code use bytes of the frame that no described local holds?
    pub undescribed_frame: bool,
    /// Where locals end, as far as an address may be meant to be there.
    pub local_ends: BTreeSet<i64>,
    /// Where members of local structures begin, apart from the first of each.
    pub member_starts: BTreeSet<i64>,
}

impl Image {
    /// What declared types say about the function's calls and loads.
    pub(crate) fn typed(&self, index: usize, points: &[Point], bases: &FxHashMap<VarId, Base>, arena: &Arena) -> Typed {
        let volatile = self.debug.types.has_volatile();
        let Some(described) = self.described(index) else { return Typed::default() };
        let slot = |typed: &crate::dwarf::TypedLocal| Slot {
            offset: typed.local.offset,
            size: typed.local.size,
            // A slot may hold something else where the variable is elsewhere; a volatile one stays.
            type_id: typed.type_id.filter(|id| !described.moves_variables || self.debug.types.is_volatile(*id)),
        };
        // A single function can be optimised where its file is not.
        let unoptimised = described.unoptimised && self.sets_up_rbp(index);
        let locals = self.typed_locals(index, points, arena);
        let variable = |(var, base): (&VarId, &Base)| Some((*var, self.variable_type(described, *base)?));
        let mut analysis = Analysis {
            image: self,
            described,
            arena,
            types: &self.debug.types,
            locals: locals.iter().map(slot).collect(),
            objects: bases.iter().filter_map(variable).collect(),
            plain: FxHashSet::default(),
            undescribed: bases.iter().filter(|(_, b)| self.is_undescribed(described, **b)).map(|(v, _)| *v).collect(),
            exposed: Cell::new(false),
            stored: Cell::new(false),
            cares: None,
            alignments: RefCell::default(),
            likely_alignments: RefCell::default(),
            paddings: RefCell::default(),
            booleans: RefCell::default(),
            loaded: RefCell::default(),
        };
        let undescribed = !analysis.undescribed.is_empty() || analysis.calls_undeclared(points);
        let targets = self.debug.volatile_targets.iter().filter(|(unit, _)| *unit == described.unit);
        let mut targets: BTreeSet<u64> = targets.map(|(_, size)| *size).collect();
        // What is described elsewhere may be volatile.
        targets.extend(WIDTHS.into_iter().filter(|_| self.debug.foreign_types.contains(&described.unit)));
        let members = self.debug.volatile_members.iter().filter(|(unit, _)| *unit == described.unit);
        let members: BTreeSet<u64> = members.map(|(_, size)| *size).collect();
        // What lies at a number is described by nothing.
        let numbered = analysis.has_fixed_address(points);
        if volatile || undescribed || numbered || !targets.is_empty() || !members.is_empty() {
            let mut widths = analysis.volatile_widths(points, locals.iter());
            // What no type is known of may be a structure with such a member.
            widths.extend(members.iter().copied());
            let careful = undescribed || numbered || !widths.is_empty() || !targets.is_empty();
            analysis.cares = careful.then(|| Cares { widths, targets, found: RefCell::default() });
            let plain = |(var, base): (&VarId, &Base)| (!self.may_be_volatile(*base)).then_some(*var);
            analysis.plain = bases.iter().filter_map(plain).collect();
        }
        let entry = analysis.entry(self.is_called(index, &described.name));
        loop {
            let exposed = analysis.exposed.get();
            let found = analysis.run(points, &entry);
            if exposed == analysis.exposed.get() {
                let pointer_arguments = analysis.pointer_arguments(unoptimised, &found);
                let mut volatile = analysis.volatile(locals.iter());
                // gcc's optimisers give another place to a parameter that lies below the stack pointer.
                let is_volatile = |id: &Option<TypeId>| id.is_some_and(|id| self.debug.types.has_volatile_part(id));
                let parameter = !unoptimised && described.parameter_types.iter().any(is_volatile);
                if parameter || described.unplaced_volatile {
                    volatile.unmodelled.get_or_insert_with(|| (0, "a volatile variable that moves".to_string()));
                }
                // Optimisers leave out functions of which no instruction is left, and the types of their results. And a
                // pointer of another type may be cast to a structure or an array with a volatile part.
                if unoptimised && self.debug.described_casts.contains(&described.unit) {
                    volatile.casts = Casts::Sizes(members);
                }
                let mut alignments = analysis.alignments.into_inner();
                alignments.retain(|_, align| *align > 1);
                let mut likely_alignments = analysis.likely_alignments.into_inner();
                likely_alignments.retain(|_, align| *align > 1);
                let mut truths = BTreeSet::new();
                if unoptimised && self.knows_truth_values() {
                    let typed = |var: VarId| analysis.objects.contains_key(&var);
                    truths.extend(tested::tested_bytes(arena, points, bases, &typed));
                    if described.producer == Producer::Clang {
                        let booleans = analysis.booleans.take();
                        let boolean = |place: &u64| booleans.get(place) == Some(&true);
                        truths.extend(tested::tested_in_memory(arena, points).filter(boolean));
                    }
                }
                let mut paddings = analysis.paddings.into_inner();
                paddings.retain(|_, mask| *mask != 0);
                let undescribed_frame = analysis.exposed.get() || analysis.stored.get();
                let ends =
                    |local: &&crate::dwarf::TypedLocal| !unoptimised || self.debug.types.may_end_with_array(local);
                let end = |local: &crate::dwarf::TypedLocal| local.local.offset.checked_add_unsigned(local.local.size);
                let local_ends = locals.iter().filter(ends).filter_map(end).collect();
                let starts = |local: &crate::dwarf::TypedLocal| {
                    let (offset, starts) =
                        (local.local.offset, local.type_id.map(|id| self.debug.types.member_starts(id)));
                    starts.into_iter().flatten().filter_map(move |start| offset.checked_add_unsigned(start))
                };
                let member_starts = locals.iter().flat_map(starts).collect();
                return Typed {
                    pointer_arguments,
                    pointer_calls: found,
                    truths,
                    volatile,
                    alignments,
                    likely_alignments,
                    paddings,
                    undescribed_frame,
                    local_ends,
                    member_starts,
                };
            }
            analysis.alignments.take();
            analysis.likely_alignments.take();
            analysis.paddings.take();
            analysis.booleans.take();
            analysis.cares.iter().for_each(|cares| cares.found.borrow_mut().clear());
        }
    }

    /// The declared type of a named object.
    fn variable_type(&self, described: &Described, base: Base) -> Option<TypeId> {
        let Base::Symbol(symbol) = base else { return None };
        match self.symbols.get(symbol as usize)?.place() {
            Some(place) => self.debug.variables.get(&place).copied(),
            None => {
                let name = self.symbols[symbol as usize].name.clone();
                self.debug.other_variables.get(&(described.unit, name)).copied()
            }
        }
    }
}

/// Bytes that an operation accesses.
fn access_bytes(arena: &Arena, op: &Op) -> u64 {
    match op {
        Op::Load { bytes, .. } => u64::from(*bytes),
        Op::Store { value, .. } => u64::from(arena.sort(*value).width().unwrap_or(0) / 8),
        _ => 0,
    }
}

impl Analysis<'_> {
    fn entry(&self, own_signature: bool) -> State {
        let untouched = (0..16).filter(|i| Register::CALLEE_SAVED.contains(&Register::General(*i)));
        let untouched = untouched.fold(0, |all, i| all | 1 << i);
        let mut state = State { general: [ANY; 16], slots: BTreeMap::new(), untouched };
        state.general[4] = Known::Frame(0);
        let described = self.described;
        if own_signature && described.parameter_types.len() == described.parameters.len() {
            for (parameter, type_id) in described.parameters.iter().zip(&described.parameter_types) {
                if let [value] = parameter.values[..]
                    && let (Place::Register(Register::General(register)), Some(type_id)) = (value.place, type_id)
                {
                    state.general[register as usize & 15] = self.value_of(*type_id);
                }
            }
        }
        state
    }

    /// What a value of a type is known to be.
    fn value_of(&self, type_id: TypeId) -> Known {
        match self.types.get(type_id) {
            Type::Pointer(Some(target)) => Known::Pointer(*target, 0),
            _ => ANY,
        }
    }

    fn run(&self, points: &[Point], entry: &State) -> BTreeMap<PointId, Signature> {
        let mut states: Vec<Option<State>> = vec![None; points.len()];
        let mut found = BTreeMap::new();
        let mut waiting = vec![PointId(0)];
        if let Some(first) = states.first_mut() {
            *first = Some(entry.clone());
        }
        while let Some(id) = waiting.pop() {
            let (Some(point), Some(Some(state))) = (points.get(id.index()), states.get(id.index())) else { continue };
            let mut state = state.clone();
            let (mut temporaries, mut loads) = (FxHashMap::default(), called::Loads::default());
            for (number, (place, op)) in point.ops.iter().enumerate() {
                if let Op::Load { address, .. } | Op::Store { address, .. } = op {
                    let known = self.value(&state, &temporaries, *address);
                    if let Op::Load { var, .. } = op {
                        loads.insert(*var, (number, self.is_declared(known)));
                    }
                    self.note_alignment(*place, known, access_bytes(self.arena, op));
                    self.note_boolean(*place, known, op);
                    if let Op::Store { value, .. } = op {
                        self.note_padding(*place, known, *value);
                    }
                }
                self.note_copy(number, op, &mut loads);
                self.note_care(*place, op, &state, &temporaries);
                self.op(number as u32, op, &mut state, &mut temporaries);
            }
            let mut targets: Vec<PointId> = Vec::new();
            match &point.next {
                Next::Edges(edges) => targets.extend(edges.iter().map(|edge| edge.target)),
                Next::Call(call) => {
                    let result = match &call.callee {
                        Callee::Named(name) if self.is_undeclared(name) => Some(Known::Undescribed),
                        Callee::Named(name) => self.result_of(name).map(|result| self.value_of(result)),
                        Callee::Pointer(target) => {
                            match self.is_loaded_for_call(point, *target, &loads) {
                                true => self.loaded.borrow_mut().insert(id),
                                false => self.loaded.borrow_mut().remove(&id),
                            };
                            let target = self.value(&state, &temporaries, *target);
                            let (signature, result) = self.called(target);
                            match signature {
                                Some(signature) => found.insert(id, signature.clone()),
                                None => found.remove(&id),
                            };
                            result.map(|result| self.value_of(result))
                        }
                    };
                    self.after_call(&mut state, result);
                    targets.extend(call.returns);
                }
                Next::Return | Next::Fault(_) => {}
            }
            state.general.iter_mut().for_each(|known| *known = known.forget_source());
            state.slots.values_mut().for_each(|known| *known = known.forget_source());
            for target in targets {
                let Some(there) = states.get_mut(target.index()) else { continue };
                let changed = match there {
                    Some(there) => there.join(&state),
                    None => {
                        *there = Some(state.clone());
                        true
                    }
                };
                if changed {
                    waiting.push(target);
                }
            }
        }
        found
    }

    /// Notes how the bytes at an address are aligned: no more than what is accessed needs, for the type may be that of a
    /// pointer which the access has cast.
    fn note_alignment(&self, place: u64, address: Known, bytes: u64) {
        let natural = if bytes == 0 { 1 } else { 1 << bytes.ilog2() };
        for (packed, all) in [(Packed::Possible, &self.alignments), (Packed::Unlikely, &self.likely_alignments)] {
            let align = match address {
                Known::Pointer(type_id, offset) => self.types.alignment_at(type_id, offset, packed).min(natural),
                // The own frame is another matter.
                Known::Frame(_) => return,
                Known::Number { .. } | Known::Plain | Known::Undescribed => 1,
            };
            let mut alignments = all.borrow_mut();
            let least = alignments.entry(place).or_insert(align);
            *least = align.min(*least);
        }
    }

    /// Notes whether an instruction loads a `_Bool`, by the type of where it does.
    fn note_boolean(&self, place: u64, address: Known, op: &Op) {
        let by_type = match address {
            Known::Pointer(type_id, offset) => Some((type_id, offset)),
            Known::Frame(offset) => self.local(offset, 1),
            Known::Number { .. } | Known::Plain | Known::Undescribed => None,
        };
        let loads = matches!(op, Op::Load { bytes: 1, .. });
        let boolean = loads && by_type.is_some_and(|(type_id, offset)| self.types.is_boolean_at(type_id, offset));
        *self.booleans.borrow_mut().entry(place).or_insert(boolean) &= boolean;
    }

    /// Notes which of the bytes that are stored at an address lie between the members of a structure.
    fn note_padding(&self, place: u64, address: Known, value: TermId) {
        let bytes = u64::from(self.arena.sort(value).width().unwrap_or(512).div_ceil(8));
        let mask = match address {
            Known::Pointer(type_id, offset) => self.types.padding_at(type_id, offset, bytes),
            Known::Frame(_) | Known::Number { .. } | Known::Plain | Known::Undescribed => 0,
        };
        let mut paddings = self.paddings.borrow_mut();
        *paddings.entry(place).or_insert(mask) &= mask;
    }

    /// Signature and result of what a value points to, if that is a function with a prototype.
    fn called(&self, target: Known) -> (Option<&Signature>, Option<TypeId>) {
        match target {
            Known::Pointer(type_id, 0) => match self.types.get(type_id) {
                Type::Function { signature: Some(signature), result } => (Some(signature), *result),
                _ => (None, None),
            },
            _ => (None, None),
        }
    }

    fn result_of(&self, name: &str) -> Option<TypeId> {
        match self.image.find(name) {
            Some(index) => {
                let described = self.image.described(index)?;
                described.result.filter(|_| self.image.is_called(index, &described.name))
            }
            None => self.image.debug.other_results.get(&(self.described.unit, name.to_string())).copied(),
        }
    }

    /// Is nothing known about a function of another file? Its result may point to what is volatile.
    fn is_undeclared(&self, name: &str) -> bool {
        self.image.find(name).is_none()
            && !self.image.debug.signatures.contains_key(name)
            && library::contract(name).is_none()
    }

    fn calls_undeclared(&self, points: &[Point]) -> bool {
        points.iter().any(|point| match &point.next {
            Next::Call(program::Call { callee: Callee::Named(name), .. }) => self.is_undeclared(name),
            _ => false,
        })
    }

    fn after_call(&self, state: &mut State, result: Option<Known>) {
        for (i, known) in state.general.iter_mut().enumerate() {
            let register = Register::General(i as u8);
            if register != Register::RSP && !Register::CALLEE_SAVED.contains(&register) {
                *known = ANY;
            }
        }
        if let Some(result) = result {
            state.general[0] = result;
        }
        if self.exposed.get() {
            state.slots.clear();
        }
        // The callee owns what lies below the stack pointer.
        match state.general[4] {
            Known::Frame(depth) => state.slots.retain(|offset, _| *offset >= depth),
            _ => state.slots.clear(),
        }
    }

    fn op(&self, number: u32, op: &Op, state: &mut State, temporaries: &mut FxHashMap<VarId, Known>) {
        let fresh = Known::Number { source: Some(number), factor: 1, constant: 0 };
        let (var, known) = match op {
            Op::Set { var, value } => (*var, self.value(state, temporaries, *value)),
            Op::Load { var, address, bytes: 8 } => {
                let address = self.value(state, temporaries, *address);
                (*var, self.load(state, address))
            }
            Op::Load { var, .. } | Op::Unknown { var } => (*var, fresh),
            Op::Store { address, value } => {
                let bytes = i64::from(self.arena.sort(*value).width().unwrap_or(512).div_ceil(8));
                let saved = self.arena.as_var(*value).and_then(Register::of_var);
                let saved = matches!(saved, Some(Register::General(i)) if state.untouched & 1 << (i & 15) != 0);
                let address = self.value(state, temporaries, *address);
                if let Known::Frame(offset) = address {
                    let described = (0..bytes).all(|i| self.covering(offset.saturating_add(i), 1).next().is_some());
                    self.stored.set(self.stored.get() || !(saved || described));
                }
                let value = self.value(state, temporaries, *value);
                return self.store(state, address, value, bytes);
            }
            Op::Fault { .. } => return,
        };
        let known = if known == ANY { fresh } else { known };
        match Register::of_var(var) {
            Some(Register::General(i)) => {
                if !matches!(Register::General(i), Register::RSP | Register::RBP) {
                    self.expose(known);
                }
                state.general[i as usize & 15] = known;
                state.untouched &= !(1 << (i & 15));
            }
            Some(_) => {}
            None => {
                temporaries.insert(var, known);
            }
        }
    }

    /// Notes an address in the frame that may come to be known elsewhere.
    fn expose(&self, known: Known) {
        if let Known::Frame(offset) = known {
            let known = self.covering(offset, 1).next().is_some();
            self.exposed.set(self.exposed.get() || !known);
        }
    }

    /// Locals that share bytes with a part of the frame.
    fn covering(&self, offset: i64, bytes: i64) -> impl Iterator<Item = &Slot> {
        self.locals.iter().filter(move |slot| {
            let end = slot.offset.saturating_add_unsigned(slot.size);
            slot.offset < offset.saturating_add(bytes) && offset < end
        })
    }

    /// The type of the one local that a place in the frame belongs to, and the offset in it.
    fn local(&self, offset: i64, bytes: i64) -> Option<(TypeId, i64)> {
        let mut covering = self.covering(offset, bytes).map(|slot| (slot.type_id, slot.offset));
        let (type_id, start) = covering.next()?;
        let inside = offset.checked_sub(start)?;
        covering.all(|other| other == (type_id, start)).then_some((type_id?, inside))
    }

    fn load(&self, state: &State, address: Known) -> Known {
        let (type_id, offset) = match address {
            Known::Pointer(type_id, offset) => (type_id, offset),
            Known::Frame(offset) => match self.local(offset, 8) {
                Some(local) => local,
                None => return state.slots.get(&offset).copied().unwrap_or(ANY),
            },
            Known::Undescribed => return Known::Undescribed,
            Known::Number { .. } | Known::Plain => return ANY,
        };
        self.types.pointer_at(type_id, offset).map_or(ANY, |pointer| self.value_of(pointer))
    }

    fn store(&self, state: &mut State, address: Known, value: Known, bytes: i64) {
        self.expose(value);
        match address {
            Known::Frame(offset) => {
                let after = offset.saturating_add(bytes);
                state.slots.retain(|at, _| at.saturating_add(8) <= offset || after <= *at);
                if bytes == 8 && value != ANY && self.covering(offset, 8).next().is_none() {
                    state.slots.insert(offset, value);
                }
            }
            _ if self.exposed.get() => state.slots.clear(),
            _ => {}
        }
    }

    fn value(&self, state: &State, temporaries: &FxHashMap<VarId, Known>, term: TermId) -> Known {
        if self.arena.sort(term).width() != Some(64) {
            return ANY;
        }
        let sum = Linear::of(self.arena, term);
        let number = |bits: term::Bits| bits.low() as i64;
        let mut total = Known::constant(number(sum.constant));
        for (atom, coefficient) in &sum.terms {
            let known = match self.arena.as_var(*atom) {
                Some(var) => match (Register::of_var(var), self.objects.get(&var)) {
                    (Some(Register::General(i)), _) => state.general[i as usize & 15],
                    (None, Some(type_id)) => Known::Pointer(*type_id, 0),
                    (None, None) if self.undescribed.contains(&var) => Known::Undescribed,
                    (None, None) if self.plain.contains(&var) => Known::Plain,
                    (None, None) => temporaries.get(&var).copied().unwrap_or(ANY),
                    _ => ANY,
                },
                None => ANY,
            };
            total = self.add(total, scaled(known, number(*coefficient)));
        }
        total
    }

    fn add(&self, a: Known, b: Known) -> Known {
        use Known::{Frame, Number, Plain, Pointer, Undescribed};
        match (a, b) {
            (Number { source: s, factor: f, constant: c }, Number { source: t, factor: g, constant: d }) => {
                let constant = c.wrapping_add(d);
                let (source, factor) = match (f, g) {
                    (_, 0) => (s, Some(f)),
                    (0, _) => (t, Some(g)),
                    _ if s == t && s.is_some() => (s, f.checked_add(g)),
                    _ => (None, Some(common_divisor(f, g))),
                };
                factor.map_or(ANY, |factor| Number { source, factor, constant })
            }
            (Undescribed, _) | (_, Undescribed) => Undescribed,
            (Number { .. }, _) => self.add(b, a),
            (Plain, Number { .. }) => Plain,
            (Frame(at), Number { factor: 0, constant, .. }) => at.checked_add(constant).map_or(ANY, Frame),
            (Pointer(type_id, at), Number { factor: 0, constant, .. }) => {
                at.checked_add(constant).map_or(ANY, |at| Pointer(type_id, at))
            }
            (Frame(at), Number { factor, constant, .. }) => {
                self.expose(Frame(at.saturating_add(constant)));
                let place = at.checked_add(constant).and_then(|at| self.local(at, 1));
                place.map_or(ANY, |(type_id, offset)| self.element(type_id, offset, factor))
            }
            (Pointer(type_id, at), Number { factor, constant, .. }) => {
                at.checked_add(constant).map_or(ANY, |offset| self.element(type_id, offset, factor))
            }
            (Frame(_) | Pointer(..) | Plain, Frame(_) | Pointer(..) | Plain) => ANY,
        }
    }

    fn element(&self, type_id: TypeId, offset: i64, step: i64) -> Known {
        let element = self.types.element(type_id, offset, step.unsigned_abs());
        element.map_or(ANY, |(type_id, offset)| Known::Pointer(type_id, offset))
    }
}

fn scaled(known: Known, by: i64) -> Known {
    match known {
        known if by == 1 => known,
        Known::Number { source, factor, constant } => match (factor.checked_mul(by), constant.checked_mul(by)) {
            (Some(factor), Some(constant)) => Known::Number { source, factor, constant },
            _ => ANY,
        },
        _ => ANY,
    }
}

fn common_divisor(a: i64, b: i64) -> i64 {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i64::try_from(a).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use crate::testing::{assembled, compiled, lifted};
    use program::{Callee, Next, Place, Register, Value};

    /// The arguments and results of the calls through pointers of `f`, in order; `?` where no signature is known.
    fn signatures(text: &str, command: &str) -> String {
        let (_, function) = lifted(&compiled(text, command), "f");
        let function = function.expect("a graph");
        let value = |value: &Value| match value.place {
            Place::Register(register) => format!("{}:{}", Register::name(register), value.bytes),
            Place::Stack(offset) => format!("stack+{offset}:{}", value.bytes),
        };
        let list = |values: &[Value]| values.iter().map(value).collect::<Vec<_>>().join(" ");
        let mut out = Vec::new();
        for (i, point) in function.points.iter().enumerate() {
            if let Next::Call(call) = &point.next
                && matches!(call.callee, Callee::Pointer(_))
            {
                out.push(match function.pointer_calls.get(&program::PointId(i as u32)) {
                    Some(s) => {
                        format!("{}{}→{}", list(&s.arguments), if s.variadic { "…" } else { "" }, list(&s.results))
                    }
                    None => "?".to_string(),
                });
            }
        }
        out.join(", ")
    }

    fn is_known_unoptimised(text: &str, expected: &str) {
        for command in ["cc -c -g -O0", "cc -c -g -O0 -fno-pic", "clang-19 -c -g -O0", "clang-19 -c -g -O0 -fPIC"] {
            assert_eq!(signatures(text, command), expected, "{command}: {text}");
        }
    }

    fn is_known(text: &str, expected: &str) {
        is_known_unoptimised(text, expected);
        for command in ["cc -c -g -O2", "clang-19 -c -g -O2"] {
            assert_eq!(signatures(text, command), expected, "{command}: {text}");
        }
    }

    #[test]
    fn members_of_what_parameters_point_to() {
        let text = "struct s { int n; struct { void *ud; void *(*get)(void *, int); } in; };
            void *f(struct s *s, int n) { return s->in.get(s->in.ud, n); }";
        is_known(text, "rdi:8 rsi:4→rax:8");
        let text = "struct hook { void (*run)(short); }; struct s { long x; struct hook *hooks[3]; };
            int f(struct s *s) { s->hooks[1]->run(7); return 1; }";
        is_known(text, "rdi:4→");
    }

    #[test]
    fn parameters_globals_and_results() {
        is_known("int f(double (*g)(float), int x) { return g(x) > 0; }", "xmm0:4→xmm0:8");
        is_known("int (*hook)(long); int f(void) { return hook(1) + 1; }", "rdi:8→rax:4");
        // Only gcc describes variables of other files.
        let text = "extern int (*hook)(long); int f(void) { return hook(1) + 1; }";
        assert_eq!(signatures(text, "cc -c -g -O0"), "rdi:8→rax:4");
        is_known("static int (*volatile hook)(long); int f(void) { return hook(1) + 1; }", "rdi:8→rax:4");
        let text =
            "typedef int (*cb)(char *); struct s { cb c; }; __attribute__((weak)) struct s *find(int x) { return 0; }
            int f(int x) { return find(x)->c(0) + 1; }";
        is_known(text, "rdi:8→rax:4");
        let text = "typedef int (*cb)(char *); __attribute__((weak)) cb find(int x) { return 0; }
            int f(int x) { return find(x)(0) + 1; }";
        is_known(text, "rdi:8→rax:4");
        let text = "typedef int (*cb)(char *); int f(cb (*find)(int)) { return find(2)(0) + 1; }";
        is_known(text, "rdi:4→rax:8, rdi:8→rax:4");
    }

    #[test]
    fn elements_of_tables() {
        let text = "typedef int (*cb)(int, long); struct row { int a; long b; cb c; }; struct row rows[5];
            int f(int i, int j) { return rows[i].c(j, 1) + 1; }";
        is_known(text, "rdi:4 rsi:8→rax:4");
        let text = "typedef int (*cb)(int, long); struct row { int a; cb c[4]; int b; };
            int f(struct row *r, int i, int j) { return r[i].c[j](j, 1) + 1; }";
        is_known_unoptimised(text, "rdi:4 rsi:8→rax:4");
        let text = "typedef int (*cb)(int, long); int one(int, long), two(int, long);
            int f(int i) { cb table[2] = { one, two }; return table[i](i, 1) + 1; }";
        is_known_unoptimised(text, "rdi:4 rsi:8→rax:4");
    }

    #[test]
    fn targets_survive_calls_between() {
        let text = "struct s { int (*c)(int, int); }; int g(int);
            int f(struct s *s, int x) { return s->c(g(x), g(x + 1)) + 1; }";
        is_known(text, "rdi:4 rsi:4→rax:4");
    }

    #[test]
    fn variable_arguments_are_kept_and_missing_prototypes_left_out() {
        is_known("int f(int (*g)(const char *, ...)) { return g(\"x\", 1) + 1; }", "rdi:8…→rax:4");
        is_known("int f(int (*g)()) { return g(1, 2) + 1; }", "?");
    }

    #[test]
    fn doubt_leaves_out() {
        // Both members of a union may be meant; a pointer to an object is not.
        let text = "union u { int (*a)(int); int (*b)(long, long); }; int f(union u *u) { return u->b(1, 2) + 1; }";
        is_known(text, "?");
        let text = "union u { int (*a)(int); void *b; }; int f(union u *u) { return u->a(1) + 1; }";
        is_known(text, "?");
        let text = "union u { int (*a)(int); char *b; }; int f(union u *u) { return u->a(1) + 1; }";
        is_known(text, "rdi:4→rax:4");
        // Nothing says what `void *` points to.
        is_known("int f(void *p) { return ((int (*)(int))p)(1) + 1; }", "?");
        // Beyond the declared type lies another one.
        let text = "struct a { int (*c)(int); }; struct b { struct a a; int (*d)(long, long); };
            int f(struct a *a) { return ((struct b *)a)->d(1, 2) + 1; }";
        is_known(text, "?");
        // An index that is never zero may reach over the end of the array before.
        let text = "struct s { int (*a[2])(int); int (*b[2])(long, long); };
            int f(struct s *s, long i) { return (*(s->b + i - 1))(1, 2) + 1; }";
        for command in ["cc -c -g -O0", "cc -c -g -O2", "clang-19 -c -g -O0", "clang-19 -c -g -O2"] {
            let found = signatures(text, command);
            assert!(["?", "rdi:8 rsi:8→rax:4"].contains(&&found[..]), "{command}: {found}");
        }
        // Two paths with different types.
        let text = "typedef int (*one)(int); typedef int (*two)(long, long); one a; two b;
            int f(int x) { return (x ? (two)a : b)(1, 2) + 1; }";
        for command in [
            "cc -c -g -O1 -fno-if-conversion -fno-if-conversion2 -fno-crossjumping",
            "cc -c -g -O2",
            "clang-19 -c -g -O2",
        ] {
            let found = signatures(text, command);
            assert!(!found.starts_with("rdi:4→"), "{command}: {found}");
        }
    }

    #[test]
    fn without_debug_information_nothing_is_known() {
        let (_, function) = lifted(&assembled(".globl f\nf: sub rsp, 8\ncall rdi\nadd rsp, 8\nret"), "f");
        assert!(function.expect("a graph").pointer_calls.is_empty());
    }
}
