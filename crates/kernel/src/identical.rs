//! Functions that are the same code.
//!
//! Both make the same steps from equal states, whatever these steps do: what the candidate does, the original may do too,
//! and nothing has to be assumed. So it does not matter whether the code has loops, uses its frame in a way that is not
//! understood, or is never defined. What must be the same besides the operations:
//! - what the addresses in them mean: variables stand for objects by name and, where that is known, by content;
//! - where arguments are: a private function of which the candidate expects its arguments elsewhere has callers that put
//!   them there, and such a caller is not what it looks like.
//!
//! Trust: full. What is compared here is all that a graph's meaning depends on.

use graph::{Callee, Function, LocalContract, Next, Object, Point};

/// Are both functions the same code, with the same data and called in the same way?
pub fn are_identical(original: &Function, candidate: &Function) -> bool {
    original.points.len() == candidate.points.len()
        && original.points.iter().zip(&candidate.points).all(|(a, b)| are_same_steps(a, b))
        && original.objects.len() == candidate.objects.len()
        && original.objects.iter().all(|(var, a)| candidate.objects.get(var).is_some_and(|b| are_same_data(a, b)))
        && contracts_of(original).all(keeps_places)
}

fn are_same_steps(a: &Point, b: &Point) -> bool {
    a.next == b.next && a.ops.len() == b.ops.len() && a.ops.iter().zip(&b.ops).all(|((_, x), (_, y))| x == y)
}

fn are_same_data(a: &Object, b: &Object) -> bool {
    (a.kind, a.size, a.read_only) == (b.kind, b.size, b.read_only)
        && a.content == b.content
        && a.start_identity == b.start_identity
        && a.members == b.members
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
