//! Accesses to volatile objects, by the declared types of what the addresses are made of.
//!
//! Each load and store of a function is ordinary, volatile, or unclear: its address comes from nowhere that a type is known
//! of. Unclear accesses matter only where something volatile of that size is in reach: in parameters and locals, the objects that
//! the function names and the results of its callees, what these lead to, and members of the types of its unit.
//!
//! Trust: full, of the original. A volatile access that is taken for an ordinary one may be dropped by the candidate. A
//! cast to a volatile type that no variable has leaves no trace in the debug information.

use super::{Analysis, Known, State};
use crate::Image;
use crate::container::Definition;
use crate::dwarf::{Care, Described, TypeId, TypedLocal};
use crate::layout::Base;
use program::{Call, Callee, Constancy, Next, Op, Point, Volatile};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use term::{TermId, VarId};

/// How a function's instructions access memory.
pub(super) struct Cares {
    /// Sizes of what is volatile in reach, or a member of any type of the unit.
    pub widths: BTreeSet<u64>,
    /// Sizes of what the unit has pointers to volatile types for: any access of that size may be through a cast to one.
    pub targets: BTreeSet<u64>,
    /// What was found, on some way.
    pub found: RefCell<BTreeSet<(u64, Care)>>,
}

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

    /// What declarations say about changes of an object that another file defines.
    pub(crate) fn constancy(&self, base: Base) -> Constancy {
        let Base::Symbol(symbol) = base else { return Constancy::Changing };
        let Some(symbol) = self.symbols.get(symbol as usize) else { return Constancy::Changing };
        match self.debug.constants.get(&symbol.name) {
            _ if symbol.definition != Definition::Undefined => Constancy::Changing,
            None => Constancy::Unclear,
            Some(false) => Constancy::Changing,
            Some(true) => Constancy::Declared,
        }
    }

    /// Is it an object that the debug information of a function's unit does not describe? clang describes none of other files.
    pub(super) fn is_undescribed(&self, described: &Described, base: Base) -> bool {
        let Base::Symbol(symbol) = base else { return false };
        let Some(info) = self.symbols.get(symbol as usize) else { return false };
        let code = info.is_function() || info.place().is_some_and(|p| self.sections[p.section as usize].is_code());
        !code && self.variable_type(described, base).is_none()
    }

    /// Could something at the base be volatile?
    pub(super) fn may_be_volatile(&self, base: Base) -> bool {
        match base {
            Base::Symbol(_) => self.is_volatile(base),
            Base::Section(section) => self.debug.volatile.iter().any(|place| place.section == section),
            Base::Literal { .. } | Base::Whole(_) => false,
            Base::Number => true,
        }
    }
}

impl Analysis<'_> {
    /// Sizes of the volatile numbers and pointers in reach of the function.
    pub(super) fn volatile_widths<'t>(
        &self,
        points: &[Point],
        locals: impl Iterator<Item = &'t TypedLocal>,
    ) -> BTreeSet<u64> {
        let mut from: Vec<TypeId> = self.objects.values().copied().collect();
        from.extend(self.described.parameter_types.iter().flatten());
        from.extend(locals.filter_map(|local| local.type_id));
        for point in points {
            if let Next::Call(Call { callee: Callee::Named(name), .. }) = &point.next {
                from.extend(self.result_of(name));
            }
        }
        self.types.volatile_widths(from)
    }

    /// May something be accessed at an address that is a number? Smaller ones are no addresses.
    pub(super) fn has_fixed_address(&self, points: &[Point]) -> bool {
        let number = |term: TermId| self.arena.as_u64(term).is_some_and(|n| n >= 4096 && self.arena.width(term) == 64);
        points.iter().flat_map(|point| &point.ops).any(|(_, op)| match op {
            Op::Load { address, .. } => number(*address),
            Op::Store { address, value } => number(*address) || number(*value),
            Op::Set { value, .. } => number(*value),
            Op::Unknown { .. } | Op::Fault { .. } => false,
        })
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
            Known::Pointer(type_id, offset) => match self.types.care_at(type_id, offset, bytes) {
                // What lies around an object of that type may be the end of a longer array, or a larger structure.
                Care::Ordinary if cares.widths.contains(&bytes) && !self.types.holds(type_id, offset, bytes) => {
                    Care::Unclear
                }
                care => care,
            },
            Known::Frame(offset) => match self.local(offset, bytes as i64) {
                Some((type_id, inside)) => match self.types.care_at(type_id, inside, bytes) {
                    // An ordinary local by its name.
                    Care::Ordinary => return,
                    care => care,
                },
                None => return,
            },
            // What is volatile is accessed as a whole.
            Known::Undescribed => Care::Unclear,
            // A device, or what the linker put there.
            Known::Number { factor: 0, .. } => Care::Unclear,
            Known::Number { .. } if cares.widths.contains(&bytes) => Care::Unclear,
            Known::Number { .. } | Known::Plain => Care::Ordinary,
        };
        let cast = care == Care::Ordinary && cares.targets.contains(&bytes);
        cares.found.borrow_mut().insert((place, if cast { Care::Unclear } else { care }));
    }

    /// What was found about the accesses of the function.
    pub(super) fn volatile<'t>(&self, mut locals: impl Iterator<Item = &'t TypedLocal>) -> Volatile {
        let Some(cares) = &self.cares else { return Volatile::default() };
        let cares = cares.found.borrow();
        let with = |care: Care| cares.iter().filter(|(_, c)| *c == care).map(|(place, _)| *place).collect();
        let [ordinary, volatile, unclear]: [BTreeSet<u64>; 3] =
            [Care::Ordinary, Care::Volatile, Care::Unclear].map(with);
        let doubtful: BTreeSet<u64> = unclear.iter().chain(volatile.intersection(&ordinary)).copied().collect();
        // Where variables move, it cannot be told which accesses are theirs.
        let moves = self.described.moves_variables;
        let hidden = |id: TypeId| moves && self.types.has_volatile_part(id) && !self.types.is_volatile(id);
        let local = locals.find(|local| local.type_id.is_some_and(hidden));
        let local = local.map(|local| (0, format!("the volatile local `{}`", local.local.name)));
        Volatile { places: &volatile - &doubtful, doubtful, unmodelled: local, ..Volatile::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{compiled, lifted};

    /// How many instructions of `f` make volatile accesses, and how many may make some.
    fn found(text: &str, command: &str) -> String {
        let (_, function) = lifted(&compiled(text, command), "f");
        let volatile = function.expect("a graph").volatile;
        let doubtful =
            if volatile.doubtful.is_empty() { "".into() } else { format!(", {} in doubt", volatile.doubtful.len()) };
        let unmodelled = volatile.unmodelled.map_or(String::new(), |(_, what)| format!(", {what}"));
        format!("{}{doubtful}{unmodelled}", volatile.places.len())
    }

    fn is_found(text: &str, expected: &str) {
        for command in ["cc -c -g -O0", "clang-19 -c -g -O0"] {
            assert_eq!(found(text, command), expected, "{command}: {text}");
        }
    }

    #[test]
    fn declared_types_tell_volatile_accesses() {
        is_found("int f(volatile int *p) { return *p + p[1]; }", "2");
        is_found("int f(int *volatile *p) { return **p; }", "1");
        is_found("volatile int x; int f(void) { x = 1; return x; }", "2");
        is_found("struct s { int a; volatile int b; }; int f(struct s *s) { return s->a + s->b; }", "1");
        is_found("struct s { int a; int b; }; int f(volatile struct s *s) { return s->a + s->b; }", "2");
        is_found("struct s { volatile int a[4]; int b; }; int f(struct s *s, int i) { return s->a[i] + s->b; }", "1");
        is_found("_Atomic int x; int f(void) { return x; }", "1");
    }

    #[test]
    fn what_is_not_in_reach_does_not_matter() {
        is_found("volatile int x; int f(int *p, long a) { return *p + *(int *)(a * 3); }", "0");
        is_found("int f(int *p) { return *p; }", "0");
    }

    #[test]
    fn what_nothing_describes_may_be_volatile() {
        // gcc describes variables of other files, clang does not.
        for (text, gcc, clang) in [
            ("extern volatile int g; int f(void) { return g - g; }", "2", "0, 2 in doubt"),
            ("extern int g; int f(void) { return g; }", "0", "0, 1 in doubt"),
            ("extern volatile int *g; int f(void) { return *g; }", "1", "0, 2 in doubt"),
            ("int *g(void); int f(void) { return *g(); }", "0", "0, 1 in doubt"),
        ] {
            assert_eq!(found(text, "cc -c -g -O0"), gcc, "{text}");
            assert_eq!(found(text, "clang-19 -c -g -O0"), clang, "{text}");
        }
    }

    #[test]
    fn what_lies_at_a_number_may_be_volatile() {
        is_found("int f(void) { return *(volatile int *)0x40001000; }", "0, 1 in doubt");
        is_found("void f(int *p) { *(int *)0x40001000 = *p; *p = 70000; }", "0, 1 in doubt");
        is_found("int f(int *p) { return p[0x40001000]; }", "0");
    }

    #[test]
    fn casts_leave_a_trace_in_unoptimised_code_of_clang() {
        let hides = |text: &str, command: &str| {
            let (_, function) = lifted(&compiled(text, command), "f");
            let volatile = function.expect("a graph").volatile;
            [1, 4, 8].map(|bytes| volatile.may_be_cast(bytes))
        };
        let plain = "int f(int *p) { return *p; }";
        assert_eq!(hides(plain, "clang-19 -c -g -O0"), [false; 3]);
        for command in ["cc -c -g -O0", "clang-19 -c -g -O1", "clang-19 -c -g -gdwarf-4 -O0", "clang-19 -c -O0"] {
            assert_eq!(hides(plain, command), [true; 3], "{command}");
        }
        let member = "struct s { char c; volatile int a; } s; int f(int *p) { return *p; }";
        assert_eq!(hides(member, "clang-19 -c -g -O0"), [false, true, false]);
    }

    #[test]
    fn doubt_is_told() {
        let text = "int f(volatile int *p, long a) { return *p + *(int *)(a * 3); }";
        is_found(text, "1, 1 in doubt");
        is_found("int f(int x) { volatile int y = x; return y; }", "2");
        let text = "struct s { volatile unsigned a : 3; int b; }; int f(struct s *s) { return s->a; }";
        is_found(text, "0, 1 in doubt");
        let text = "union u { volatile int a; char b; }; int f(union u *u) { return u->b; }";
        is_found(text, "0, 1 in doubt");
    }
}
