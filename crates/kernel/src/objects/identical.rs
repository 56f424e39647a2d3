//! Functions that are the same code.
//!
//! Both make the same steps from equal states, whatever these steps do: what the candidate does, the original may do too,
//! and nothing has to be assumed. So it does not matter whether the code has loops, uses its frame in a way that is not
//! understood, or is never defined. What must be the same besides the operations:
//! - what the addresses in them mean: variables stand for objects by name and, where that is known, by content;
//! - where arguments are: a private function of which the candidate expects its arguments elsewhere has callers that put
//!   them there, and such a caller is not what it looks like;
//! - what callees leave: their own comparison is about results and what the convention keeps, so the code may read no other
//!   register, no flag and nothing below the stack pointer behind a call.
//!
//! Trust: full. What is compared here is all that a graph's meaning depends on.

use program::{Callee, FaultKind, Function, LocalContract, Next, Object, Point};
use term::Arena;

/// Are both functions the same code, with the same data and called in the same way?
pub fn are_identical(arena: &Arena, original: &Function, candidate: &Function) -> bool {
    original.points.len() == candidate.points.len()
        && original.points.iter().zip(&candidate.points).all(|(a, b)| are_same_steps(a, b))
        && original.objects.len() == candidate.objects.len()
        && original.objects.iter().all(|(var, a)| candidate.objects.get(var).is_some_and(|b| are_same_data(a, b)))
        && contracts_of(original).all(keeps_places)
        && !runs_off_the_end(original)
        && (are_of_one_file(original, candidate) || !symbolic::reads_what_callees_overwrite(arena, original))
}

fn are_same_steps(a: &Point, b: &Point) -> bool {
    a.next == b.next && a.ops.len() == b.ops.len() && a.ops.iter().zip(&b.ops).all(|((_, x), (_, y))| x == y)
}

fn are_same_data(a: &Object, b: &Object) -> bool {
    (a.kind, a.size, a.read_only, a.linkage) == (b.kind, b.size, b.read_only, b.linkage)
        && a.shared == b.shared
        && a.align <= b.align
        && a.content == b.content
        && a.start_identity == b.start_identity
        && a.members == b.members
}

/// Do both come from the same file? Then their callees are the same, too, down to the last register.
fn are_of_one_file(original: &Function, candidate: &Function) -> bool {
    original.surroundings.file.is_some() && original.surroundings.file == candidate.surroundings.file
}

/// May the code run on behind its end? What lies there is not compared. (Behind the entries of jump tables nothing is run.)
fn runs_off_the_end(function: &Function) -> bool {
    let off = |point: &Point| point.next == Next::Fault(FaultKind::OffTheEnd);
    function.surroundings.table_loads.is_empty() && function.points.iter().any(off)
}

/// The contracts of the function and of those that it calls by name.
fn contracts_of(function: &Function) -> impl Iterator<Item = &LocalContract> {
    let callees = function.points.iter().filter_map(|point| match &point.next {
        Next::Call(call) => match &call.callee {
            Callee::Named(name) => Some(name),
            Callee::Pointer(_) => None,
        },
        _ => None,
    });
    callees.chain([&function.name]).filter_map(|name| function.contracts.get(name))
}

/// Does the candidate expect each argument that it reads where the original does?
fn keeps_places(contract: &LocalContract) -> bool {
    contract.promoted.is_empty() && contract.moved.iter().all(|(from, to)| to.is_none_or(|to| to == *from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use program::{Call, Content, Contracts, ObjectKind, Op, Place, PointId, Register, Signature, Value};
    use std::collections::BTreeMap;
    use std::sync::Arc;
    use term::Sort;

    /// A loop that calls `g` with a table.
    fn function(arena: &mut Arena, step: u64) -> Function {
        let table = arena.var("&table", Sort::Bv(64));
        let (var, register) = (arena.as_var(table).expect("a variable"), arena.var("rdi", Sort::Bv(64)));
        let (add, target) = (arena.bv(64, step), arena.as_var(register).expect("a variable"));
        let value = arena.add(table, add);
        let call = Call { callee: Callee::Named("g".to_string()), returns: Some(PointId(0)), tail: false };
        let point = Point { address: 0, ops: vec![(0, Op::Set { var: target, value })], next: Next::Call(call) };
        let kind = ObjectKind::Named { defined: true, local: false, weak: false, function: false };
        let content = Some(Content { bytes: vec![1, 2], pointers: Vec::new() });
        let object = Object {
            var,
            name: "table".to_string(),
            kind,
            size: Some(2),
            align: 1,
            read_only: true,
            content,
            constant_static: false,
            unaliased: false,
            linkage: Default::default(),
            shared: false,
            tails: Default::default(),
            constancy: Default::default(),
            promised_align: 1,
            volatile: false,
            start: None,
            initial: None,
            start_identity: None,
            members: Vec::new(),
        };
        let place = Place::Register(Register::ARGUMENTS[0]);
        let takes = vec![Value { place, bytes: 8, boolean: false, narrow: None }];
        let declared = Signature { arguments: takes, ..Signature::default() };
        let callees = BTreeMap::from([("g".to_string(), declared)]);
        Function { points: vec![point], objects: BTreeMap::from([(var, object)]), callees, ..Function::default() }
    }

    #[test]
    fn steps_and_data_must_be_the_same() {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        let original = function(&mut arena, 4);
        let same = function(&mut arena, 4);
        assert!(are_identical(&arena, &original, &same));
        let same = function(&mut arena, 8);
        assert!(!are_identical(&arena, &original, &same));
        // Nobody says that `g` of this file does not look at what it left in other registers the last time.
        let defined = std::collections::BTreeSet::from(["g".to_string()]);
        let mut undeclared = Function { callees: BTreeMap::new(), defined, ..function(&mut arena, 4) };
        assert!(!are_identical(&arena, &undeclared, &undeclared));
        // In one file it is the same `g`.
        undeclared.surroundings.file = Some([7; 32]);
        assert!(are_identical(&arena, &undeclared, &undeclared));
        let mut other = function(&mut arena, 4);
        other.objects.values_mut().for_each(|o| o.content = None);
        assert!(!are_identical(&arena, &original, &other));
        let mut other = function(&mut arena, 4);
        other.points.push(other.points[0].clone());
        assert!(!are_identical(&arena, &original, &other));
    }

    #[test]
    fn arguments_must_be_where_they_were() {
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        let candidate = function(&mut arena, 4);
        let with = |to: Option<Register>, name: &str, arena: &mut Arena| {
            let contract = LocalContract {
                private: true,
                ranges: BTreeMap::new(),
                result_range: None,
                noreturn: false,
                arguments: BTreeMap::new(),
                moved: BTreeMap::from([(Register::ARGUMENTS[0], to)]),
                promoted: BTreeMap::new(),
                reads: Default::default(),
                forgets: Default::default(),
                result_unused: false,
                result: None,
                returns_fresh: false,
                result_bytes: 0,
                assumptions: Default::default(),
                effect: program::contract::LocalEffect::Unknown,
            };
            let mut contracts = Contracts::new();
            contracts.insert(name.to_string(), contract);
            Function { contracts: Arc::new(contracts), ..function(arena, 4) }
        };
        let [first, second] = [Register::ARGUMENTS[0], Register::ARGUMENTS[1]].map(Some);
        let other = with(first, "g", &mut arena);
        assert!(are_identical(&arena, &other, &candidate));
        let other = with(None, "g", &mut arena);
        assert!(are_identical(&arena, &other, &candidate));
        let other = with(second, "g", &mut arena);
        assert!(!are_identical(&arena, &other, &candidate));
        // Nobody here calls it.
        let other = with(second, "h", &mut arena);
        assert!(are_identical(&arena, &other, &candidate));
    }
}
