//! Code that relies on what a callee need not keep.
//!
//! The comparison of a callee is about its results, memory, and the registers that the convention keeps. Code that reads something else
//! behind a call (`rcx`, a flag, a word below the stack pointer) relies on how the callee is written, as gcc does with `-fipa-ra`. Callees of
//! other files are the same in both programs. Compilers do not do so in unoptimised code, and nobody relies on what the code itself has
//! not put into a register.
//!
//! Trust: full, for functions that are the same code.

use super::evidence::{Evidence, Mark};
use super::slots::Slots;
use crate::liveness;
use program::{Callee, Function, Next, Place, PointId, Register, Signature};
use term::Arena;

/// Does a function read, behind one of its calls, what the callee may have overwritten and is not its result?
pub fn reads_what_callees_overwrite(arena: &Arena, function: &Function) -> bool {
    let may_differ = |callee: &Callee| match callee {
        Callee::Named(name) => function.defined.contains(name),
        Callee::Pointer(_) => true,
    };
    let calls = |point: &program::Point| matches!(&point.next, Next::Call(call) if may_differ(&call.callee));
    if function.is_unoptimised() || !function.points.iter().any(calls) {
        return false;
    }
    let evidence = Evidence::of(arena, function);
    let own = function.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic);
    let arrives = |r: Register| own.is_none_or(|s| s.arguments.iter().any(|a| a.place == Place::Register(r)));
    let live = liveness(arena, function, &|_| None);
    let slots = Slots::of(arena, function);
    let kept = |r: &Register| {
        Register::CALLEE_SAVED.contains(r)
            || matches!(*r, Register::RSP | Register::FsBase | Register::GsBase)
            || *r == Register::Flag(program::Flag::Direction)
    };
    function.points.iter().enumerate().any(|(i, point)| {
        let Next::Call(call) = &point.next else { return false };
        if !may_differ(&call.callee) {
            return false;
        }
        let id = PointId(i as u32);
        let declared = match &call.callee {
            Callee::Named(name) => function.callees.get(name),
            Callee::Pointer(_) => function.pointer_calls.get(&id),
        };
        let returned = returned(declared.filter(|s| s.unsupported.is_none()));
        let reads = call.returns.and_then(|next| live.get(next.index())).copied().unwrap_or(0);
        let marks = evidence.behind(arena, function, id);
        let held = |r: Register| {
            let mark = marks[r.index()];
            mark.any(Mark::WRITTEN) || mark.any(Mark::ENTRY) && arrives(r)
        };
        let foreign = |r: Register| reads & 1 << r.index() != 0 && !kept(&r) && !returned.contains(&r) && held(r);
        slots.is_read_below(id) || Register::all().any(foreign)
    })
}

/// Registers in which a callee returns something.
fn returned(declared: Option<&Signature>) -> Vec<Register> {
    let any = [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)];
    let place = |place: Place| match place {
        Place::Register(register) => Some(register),
        Place::Stack(_) => None,
    };
    match declared {
        Some(signature) => signature.results.iter().filter_map(|value| place(value.place)).collect(),
        None => any.to_vec(),
    }
}
