//! Registers that are read before they are written.
//!
//! Backward liveness (lattice: sets of registers, join: union). What a callee reads is what it is declared to take; any argument
//! register if nobody knows.
//!
//! Trust: full. Renamed library calls and arguments that a function does not take rest on it.

use program::{Callee, Function, Next, Op, Place, Register, Signature};
use rustc_hash::FxHashMap;
use term::{Arena, Linear, TermId, VarId};

/// Argument registers: the six general ones and eight vector ones.
pub fn argument_registers() -> impl Iterator<Item = Register> {
    Register::ARGUMENTS.into_iter().chain((0..8).map(Register::Vector))
}
/// Registers that are read before they are written, at the start of each point. `signature_of` gives signatures that the
/// function's own debug information lacks.
pub fn liveness(arena: &Arena, function: &Function, signature_of: &dyn Fn(&str) -> Option<Signature>) -> Vec<u64> {
    liveness_where(arena, function, signature_of, &|_| false)
}

/// The same, if some callees may read any argument register, whatever their signatures say.
pub fn liveness_where(
    arena: &Arena,
    function: &Function,
    signature_of: &dyn Fn(&str) -> Option<Signature>,
    reads_any: &dyn Fn(&str) -> bool,
) -> Vec<u64> {
    let mut memo: FxHashMap<TermId, u64> = FxHashMap::default();
    let mut reads = |term: TermId| -> u64 {
        *memo.entry(term).or_insert_with(|| {
            let vars = arena.free_vars(term);
            vars.iter().filter(|v| v.index() < Register::COUNT).fold(0, |mask, v| mask | 1 << v.index())
        })
    };
    let bit = |var: VarId| if var.index() < Register::COUNT { 1u64 << var.index() } else { 0 };
    let mask = |registers: &mut dyn Iterator<Item = Register>| registers.fold(0u64, |m, r| m | 1 << r.index());
    let own = || function.signature.clone().filter(|s| s.unsupported.is_none());
    let results = match signature_of(&function.name).or_else(own) {
        Some(signature) if signature.unsupported.is_none() => {
            mask(&mut signature.results.iter().filter_map(|v| match v.place {
                Place::Register(register) => Some(register),
                Place::Stack(_) => None,
            }))
        }
        _ => mask(
            &mut [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)].into_iter(),
        ),
    };
    let kept = mask(&mut Register::CALLEE_SAVED.into_iter().chain([Register::RSP, Register::FsBase, Register::GsBase]));
    let called = |callee: &Callee| match callee {
        Callee::Named(name) => {
            let declared = function.callees.get(name).filter(|s| s.unsupported.is_none()).cloned();
            let row = || library::row(name, function.callees.get(name)).filter(|_| !function.defined.contains(name));
            let known = declared.or_else(|| signature_of(name)).or_else(|| row().map(library::Contract::signature));
            match known.filter(|s| s.unsupported.is_none() && !s.variadic && !reads_any(name)) {
                Some(signature) => mask(&mut signature.arguments.iter().filter_map(|v| match v.place {
                    Place::Register(register) => Some(register),
                    Place::Stack(_) => None,
                })),
                None => mask(&mut argument_registers().chain([Register::General(0)])),
            }
        }
        Callee::Pointer(_) => mask(&mut argument_registers().chain([Register::General(0)])),
    };
    let rax = Register::General(0).index();
    let mut live_in = vec![0u64; function.points.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (i, point) in function.points.iter().enumerate().rev() {
            let mut live = match &point.next {
                Next::Edges(edges) => edges.iter().fold(0, |l, e| l | reads(e.guard) | live_in[e.target.index()]),
                Next::Call(call) => {
                    let after = match call.returns {
                        Some(next) => live_in[next.index()],
                        None => results | kept,
                    };
                    let target = if let Callee::Pointer(term) = &call.callee { reads(*term) } else { 0 };
                    after & kept | called(&call.callee) | target | 1 << Register::RSP.index()
                }
                Next::Return => results | kept,
                Next::Fault(_) => 0,
            };
            // A callee looks at the low byte of rax only: how many vector registers it was given.
            let mut count_only = matches!(point.next, Next::Call(_));
            for (_, op) in point.ops.iter().rev() {
                let writes_rax = matches!(op, Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } if var.index() == rax);
                let counted = count_only && writes_rax;
                count_only &= !writes_rax;
                live = match op {
                    // Its other bytes are left over from before.
                    Op::Set { var, value } if counted && has_constant_low_byte(arena, *value) => live & !bit(*var),
                    Op::Set { var, value } => live & !bit(*var) | reads(*value),
                    Op::Load { var, address, .. } => live & !bit(*var) | reads(*address),
                    Op::Store { address, value } => live | reads(*address) | reads(*value),
                    Op::Unknown { var } => live & !bit(*var),
                    Op::Fault { condition, .. } => live | reads(*condition),
                };
            }
            changed |= live_in[i] != live;
            live_in[i] = live;
        }
    }
    live_in
}

/// `256·x + c`.
fn has_constant_low_byte(arena: &Arena, value: TermId) -> bool {
    let wide = arena.sort(value).width() == Some(64);
    wide && Linear::of(arena, value).terms.iter().all(|(_, factor)| factor.trailing_zeros() >= 8)
}
