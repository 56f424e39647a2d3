//! What calls through pointers can pass at most.
//!
//! The type of a pointer says what a call through it passes, unless the pointer is cast. Unoptimised code of clang describes
//! every type that something is cast to. So where a pointer was loaded from a place with a declared type, and its value goes
//! nowhere but into the call, no argument is in a register that no function type of the unit names: not in what merely holds
//! the address of another argument. A value that was kept on the way (assigned, spilled, chosen from two) may have come to be of
//! a type that only an undescribed object has, and is left alone.
//!
//! Trust: full. Registers that are set up for nobody else are compared whatever is said here.

use super::{Analysis, Known};
use program::{Op, Point, PointId, Register, Signature};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use term::{TermId, VarId};

/// Loads of a point so far, by what they have set last: the operation, and has its place a declared type?
pub(super) type Loads = FxHashMap<VarId, (usize, bool)>;

impl Analysis<'_> {
    /// Is there a declared type of what lies at an address?
    pub(super) fn is_declared(&self, address: Known) -> bool {
        match address {
            Known::Pointer(..) => true,
            Known::Frame(offset) => self.local(offset, 8).is_some(),
            Known::Number { .. } | Known::Plain | Known::Undescribed => false,
        }
    }

    /// Notes that what an instruction has loaded goes to a register, or that something else does.
    pub(super) fn note_copy(&self, number: usize, op: &Op, loads: &mut Loads) {
        let Op::Set { var, value } = op else { return };
        let temporary = self.arena.as_var(*value).filter(|from| Register::of_var(*from).is_none());
        match temporary.and_then(|from| loads.get(&from)).copied() {
            Some((_, declared)) => drop(loads.insert(*var, (number, declared))),
            None => drop(loads.remove(var)),
        }
    }

    /// Is the target of the call that ends a point loaded for that call only, from a place with a declared type?
    pub(super) fn is_loaded_for_call(&self, point: &Point, target: TermId, loads: &Loads) -> bool {
        let Some(var) = self.arena.as_var(target) else { return false };
        let Some((at, true)) = loads.get(&var) else { return false };
        let reads = |term: &TermId| self.arena.free_vars(*term).contains(&var);
        point.ops[at + 1..].iter().all(|(_, op)| match op {
            Op::Set { var: set, value } => *set != var && !reads(value),
            Op::Load { var: set, address, .. } => *set != var && !reads(address),
            Op::Unknown { var: set } => *set != var,
            Op::Store { address, value } => !reads(address) && !reads(value),
            Op::Fault { condition, .. } => !reads(condition),
        })
    }

    /// Registers that the calls with a known type can pass: those that the function types of the unit name.
    pub(super) fn pointer_arguments(
        &self,
        unoptimised: bool,
        typed: &BTreeMap<PointId, Signature>,
    ) -> BTreeMap<PointId, BTreeSet<Register>> {
        let (debug, unit) = (&self.image.debug, self.described.unit);
        let told = unoptimised && debug.described_casts.contains(&unit) && !debug.foreign_types.contains(&unit);
        let Some(Some(most)) = debug.function_arguments.get(&unit).filter(|_| told) else { return BTreeMap::new() };
        let loaded = self.loaded.borrow();
        loaded.iter().filter(|id| typed.contains_key(id)).map(|id| (*id, most.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{compiled, lifted};

    /// What the calls through pointers of `f` can pass, in order; `?` where nothing is known.
    fn at_most(text: &str, command: &str) -> String {
        let (_, function) = lifted(&compiled(text, command), "f");
        let function = function.expect("a graph");
        let known = &function.surroundings.pointer_arguments;
        let calls = function.points.iter().enumerate().filter_map(|(i, point)| match &point.next {
            program::Next::Call(call) if matches!(call.callee, program::Callee::Pointer(_)) => {
                Some(program::PointId(i as u32))
            }
            _ => None,
        });
        let shown = calls.map(|id| match known.get(&id) {
            Some(registers) => registers.iter().map(|r| r.name()).collect::<Vec<_>>().join(" "),
            None => "?".to_string(),
        });
        shown.collect::<Vec<_>>().join(", ")
    }

    const HOOKS: &str = "struct s { int (*get)(long, long); long x; }; ";

    #[test]
    fn function_types_of_the_unit_bound_a_call() {
        let found = |rest: &str| at_most(&format!("{HOOKS}{rest}"), "clang-19 -c -g -O0 -w");
        assert_eq!(found("int f(struct s *s) { return s->get(s->x, 1); }"), "rsi rdi");
        // A cast anywhere in the unit is a type that the call could be made by.
        let wide = "int g(void *p) { return ((int (*)(long, long, double, long))p)(1, 2, 3, 4); }";
        assert_eq!(found(&format!("{wide} int f(struct s *s) {{ return s->get(s->x, 1); }}")), "rdx rsi rdi xmm0");
        assert_eq!(
            found("int f(struct s *s) { return ((int (*)(long, long, long))s->get)(s->x, 1, 2); }"),
            "rdx rsi rdi"
        );
        // Types that say nothing.
        assert_eq!(found("int f(struct s *s) { return ((int (*)())s->get)(s->x, 1, 2); }"), "?");
        assert_eq!(found("int f(struct s *s) { return ((int (*)(long, ...))s->get)(s->x, 1, 2); }"), "?");
    }

    #[test]
    fn values_on_their_way_are_left_alone() {
        let found = |rest: &str| {
            at_most(&format!("{HOOKS}{rest}"), "clang-19 -c -g -O0 -w -Wno-incompatible-function-pointer-types")
        };
        // The object of another file has a type that nothing describes.
        let assigned =
            "extern int (*wide)(long, long, long); int f(struct s *s) { return (wide = s->get)(1, 2, s->x); }";
        assert_eq!(found(assigned), "?");
        let element = "extern int (*wide)(long, long, long);
            int f(struct s *s) { return (__typeof__(wide)[1]){s->get}[0](1, 2, s->x); }";
        assert_eq!(found(element), "?");
        assert_eq!(found("extern int (*wide)(long, long, long); int f(struct s *s) { return wide(1, 2, s->x); }"), "?");
        assert_eq!(found("int g(long); int f(struct s *s) { return s->get(g(s->x), 1); }"), "?");
    }

    #[test]
    fn only_unoptimised_code_of_clang_tells() {
        let text = format!("{HOOKS}int f(struct s *s) {{ return s->get(s->x, 1); }}");
        for command in ["cc -c -g -O0", "clang-19 -c -g -O1", "clang-19 -c -g -gdwarf-4 -O0", "clang-19 -c -O0"] {
            assert_eq!(at_most(&text, command), "?", "{command}");
        }
    }
}
