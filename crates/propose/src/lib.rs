//! Finders: what may be true of the functions of two files.
//!
//! A compiler that sees a whole file knows more about its functions than their declarations say: constants that all call sites
//! pass, results, effects, addresses that are not kept, arguments that nobody reads. These modules look for such facts in the
//! code of all functions of both files, by patterns and abstract interpretation, and state them as lemmas.
//! - From the original: the constants and ranges that all call sites pass ([`passed`], [`ranges`]), what a function
//!   returns ([`results`]), what it does to memory, which addresses it forgets ([`forgets`]), what statics hold ([`stored`]).
//! - From the candidate: which argument registers its body reads, and whether any call site reads the result. If it dropped
//!   arguments, the later ones move up (LLVM does that), and what is loaded through a pointer may be passed in its place
//!   ([`promotion`]): guesses that body and calls are held to.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`), or it does not exist.

mod forgets;
mod passed;
mod promotion;
mod ranges;
mod results;
mod stored;
mod value_range;

use kernel::lemma::{Claim, Convention, Effect, Lemma, Parts, RegisterName, Surroundings};
use passed::passed_constants;
use program::contract::{Fixed, FixedResult, LocalEffect};
use program::order::has_cycle;
use program::{
    Call, Callee, Function, Next, ObjectKind, Op, Place, Point, PointId, Register, Signature, Undefined,
    call_that_returns_twice, jump_to_twice,
};
use results::{allocators, computed_result, fixed_result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use stored::stored_values;
use symbolic::{liveness, liveness_where};
use term::{Arena, Linear, TermId, VarId};
use value_range::ValueRange;

/// All functions of one file.
struct File<'a> {
    /// Owner of the functions' terms.
    arena: &'a mut Arena,
    /// The functions that could be lifted.
    functions: &'a [Function],
    /// Could all functions be lifted? Otherwise there may be call sites that nobody saw.
    complete: bool,
    /// Names of local functions whose address is never taken.
    private: &'a BTreeSet<String>,
    /// Names of functions that another file's definition can replace.
    replaceable: &'a BTreeSet<String>,
    /// As an original: may it be taken to have no undefined behaviour?
    undefined: Undefined,
}

/// Lemmas about functions of two files.
pub fn propose(around: &mut Surroundings) -> Vec<Lemma> {
    let undefined = around.undefined();
    let [mut original, mut candidate] = around.parts().map(|file| {
        let Parts { arena, functions, complete, private, replaceable } = file;
        File { arena, functions, complete, private, replaceable, undefined }
    });
    find(&mut original, &mut candidate)
}

fn find(original: &mut File, candidate: &mut File) -> Vec<Lemma> {
    let mut twice = jump_to_twice(original.functions);
    twice.extend(jump_to_twice(candidate.functions));
    let private: BTreeSet<String> = original.private.intersection(candidate.private).cloned().collect();
    let nobody = BTreeSet::new();
    let enclosed = if original.complete { &private } else { &nobody };
    let ranges = ranges::ranges(original.arena, original.functions, enclosed, original.undefined, &twice);
    let passed = if original.complete { passed_constants(original, &twice) } else { FxHashMap::default() };
    let effects = effects(original);
    let mut forgotten = forgets::forgotten(original, candidate.functions, &twice);
    let wrappers = allocators(original.arena, original.functions, original.replaceable, &twice);
    let by_name: FxHashMap<&str, &Function> = original.functions.iter().map(|f| (f.name.as_str(), f)).collect();
    let candidates: FxHashMap<&str, &Function> = candidate.functions.iter().map(|f| (f.name.as_str(), f)).collect();
    let mut read_results: FxHashSet<String> = FxHashSet::default();
    let mut live: FxHashMap<String, u64> = FxHashMap::default();
    let mut called: FxHashSet<&str> = FxHashSet::default();
    for function in candidate.functions {
        called.extend(function.points.iter().filter_map(named_callee));
        // An optimiser that changed how a function is called leaves its signature out.
        let signature_of = |name: &str| by_name.get(name).and_then(|f| f.signature.clone());
        let live_in = liveness(candidate.arena, function, &signature_of);
        live.insert(function.name.clone(), live_in[Function::ENTRY.index()]);
        // What a local function takes where is not always what its declaration says.
        let cautious = liveness_where(candidate.arena, function, &signature_of, &|name| private.contains(name));
        read_results.extend(results_read(function, &cautious, &signature_of));
    }
    let mut search =
        promotion::Search::new(original.functions, candidate.functions, candidate.arena, original.replaceable);
    let mut out = Vec::new();
    if original.complete {
        let statics = stored_values(original.arena, original.functions).into_iter();
        out.extend(statics.map(|(object, holds)| Lemma::Static { object, holds }));
    }
    let mut names: Vec<String> = by_name.keys().map(|name| name.to_string()).collect();
    names.sort();
    for name in names {
        let Some(before) = by_name.get(name.as_str()) else { continue };
        let after = candidates.get(name.as_str());
        // A local function that the candidate has no use for any more.
        let dropped = after.is_none() && original.private.contains(&name) && !called.contains(name.as_str());
        if after.is_none() && !dropped {
            continue;
        }
        if original.replaceable.contains(&name) || candidate.replaceable.contains(&name) {
            continue;
        }
        let private = private.contains(&name);
        let arguments = if private { passed.get(&name).cloned().unwrap_or_default() } else { BTreeMap::new() };
        let live_in = live.get(&name).copied().unwrap_or(u64::MAX);
        let put = |register: Register| !private || search.is_put(&name, register);
        let Some(moved) = moved(original.arena, before, live_in, &arguments, &put) else { continue };
        let signature = before.signature.as_ref().filter(|_| private);
        let guess = signature.zip(after).and_then(|(s, f)| search.infer(original.arena, f, s, live_in, &arguments));
        let reads = if guess.is_some() { search.reads(original.arena, &name) } else { BTreeSet::new() };
        let (moved, promoted) = guess.map_or((moved, BTreeMap::new()), |g| (g.moved, g.promoted));
        let result_unused = private && candidate.complete && !read_results.contains(&name);
        let known = ranges.get(&name).filter(|r| r.called).cloned().unwrap_or_default();
        let noreturn = known.called && !known.returns;
        let only = |r: &ValueRange| FixedResult::Value(Fixed::Number(r.low));
        let settled = before.volatile.is_none() && call_that_returns_twice(before, &twice).is_none();
        let result = if settled { fixed_result(original.arena, before) } else { None };
        let result = result.or(known.result.as_ref().filter(|r| r.span == 0).map(only));
        let effect = effects.get(&name).copied().unwrap_or(LocalEffect::Unknown);
        let result = if dropped { result.or_else(|| computed_result(original.arena, before)) } else { result };
        let mut claims: Vec<Claim> = Vec::new();
        claims.extend(result.as_ref().map(|result| Claim::Returns(result.into())));
        claims.extend(known.result.map(|range| Claim::ReturnsIn(range.into())));
        claims.extend(noreturn.then_some(Claim::NeverReturns));
        claims.extend(wrappers.contains(&name).then_some(Claim::ReturnsNew));
        let forgets = forgotten.remove(&name).unwrap_or_default();
        claims.extend(forgets.into_iter().map(|register| Claim::Forgets(RegisterName(register))));
        claims.extend(Effect::of(effect).map(Claim::Does));
        for (register, values) in arguments {
            let values = values.iter().map(Into::into).collect();
            claims.push(Claim::Given { register: RegisterName(register), values });
        }
        for (register, range) in known.arguments {
            claims.push(Claim::GivenIn { register: RegisterName(register), range: range.into() });
        }
        claims.extend(reads.iter().map(|loaded| Claim::ReadsFirst(loaded.into())));
        for (point, slots) in known.heads {
            let at = |(slot, range): (i64, ValueRange)| Claim::AtHead { point: point.0, slot, range: range.into() };
            claims.extend(slots.into_iter().map(at));
        }
        let mut conventions: Vec<Convention> = Vec::new();
        for (from, to) in moved.into_iter().filter(|(from, to)| *to != Some(*from)) {
            conventions.push(Convention::Takes { register: RegisterName(from), place: to.map(RegisterName) });
        }
        for (register, loaded) in &promoted {
            conventions.push(Convention::TakesLoaded { register: RegisterName(*register), chain: loaded.into() });
        }
        conventions.extend(result_unused.then_some(Convention::ResultUnread));
        out.extend(claims.into_iter().map(|claim| Lemma::Original { function: name.clone(), claim }));
        out.extend(conventions.into_iter().map(|convention| Lemma::Candidate { function: name.clone(), convention }));
    }
    out
}

/// Where the candidate's body, which reads the registers `live_in`, expects the original's arguments. `None` if the
/// original's are not known. `put` says into which registers its call sites put something: a
/// constant that none passes is not read, though a call through a pointer in the body might read any register.
fn moved(
    arena: &Arena,
    original: &Function,
    live_in: u64,
    constants: &BTreeMap<Register, BTreeSet<Fixed>>,
    put: &dyn Fn(Register) -> bool,
) -> Option<BTreeMap<Register, Option<Register>>> {
    let signature = original.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic)?;
    let (mut places, mut over_stack) = (Vec::new(), false);
    for value in &signature.arguments {
        match value.place {
            Place::Register(register) => places.push(register),
            // It is passed there in any case.
            Place::Stack(_) => over_stack = true,
        }
    }
    let reads = |register: Register| live_in & 1 << register.index() != 0;
    let general: Vec<Register> = places.iter().copied().filter(|r| Register::ARGUMENTS.contains(r)).collect();
    // Optimised code does not touch what it does not use.
    let signature_of = |name: &str| original.callees.get(name).cloned();
    let used = (!original.is_unoptimised()).then(|| liveness(arena, original, &signature_of)[Function::ENTRY.index()]);
    let gone = |r: &Register| {
        let constant = constants.get(r).is_some_and(|values| values.len() == 1);
        constant || used.is_some_and(|used| used & 1 << r.index() == 0) || is_unused(arena, original, *r)
    };
    let left: Vec<Register> = general.iter().copied().filter(|r| !gone(r)).collect();
    let dropped = &Register::ARGUMENTS[left.len()..general.len().max(left.len())];
    let shifted = !over_stack && left.len() < general.len() && !dropped.iter().any(|r| reads(*r) && put(*r));
    let mut out = BTreeMap::new();
    for register in places {
        let to = match left.iter().position(|r| *r == register) {
            Some(i) if shifted => Some(Register::ARGUMENTS[i]),
            None if shifted && general.contains(&register) => None,
            _ => Some(register),
        };
        out.insert(register, to.filter(|r| reads(*r) && (!gone(&register) || put(*r))));
    }
    Some(out)
}

/// Is an argument of unoptimised code stored to its home and never loaded again? (Only a guess of what an optimiser
/// drops hangs on it.)
fn is_unused(arena: &Arena, function: &Function, register: Register) -> bool {
    let ops = || function.points.iter().flat_map(|p| &p.ops).map(|(_, op)| op);
    let is_it = |value: TermId| arena.free_vars(value).iter().any(|v| v.index() == register.index());
    let entry = &function.point(Function::ENTRY).ops;
    let home = entry.iter().find_map(|(_, op)| match op {
        Op::Store { address, value } if is_it(*value) => Some((*address, arena.width(*value) / 8)),
        _ => None,
    });
    let Some((home, bytes)) = home.filter(|_| function.is_unoptimised()) else { return false };
    let near = |address: TermId, n: u16| {
        arena.difference(address, home).is_some_and(|d| {
            let d = d.low() as i64;
            d < i64::from(bytes) && d > -i64::from(n)
        })
    };
    !ops().any(|op| match op {
        Op::Load { address, bytes, .. } => near(*address, *bytes),
        Op::Set { value, .. } => arena.sort(*value).width() == Some(64) && near(*value, 1),
        _ => false,
    })
}

/// Values of registers at the end of a point, as far as the point itself fixes them.
fn block_values(arena: &mut Arena, function: &Function, id: PointId) -> FxHashMap<VarId, TermId> {
    values_after(arena, &function.point(id).ops)
}

/// Values of registers behind operations, as far as these fix them.
fn values_after(arena: &mut Arena, ops: &[(u64, Op)]) -> FxHashMap<VarId, TermId> {
    let mut values: FxHashMap<VarId, TermId> = FxHashMap::default();
    for (_, op) in ops {
        match op {
            Op::Set { var, value } => {
                let mut memo = FxHashMap::default();
                let new = arena.substitute(*value, &mut |v| values.get(&v).copied(), &mut memo);
                values.insert(*var, new);
            }
            Op::Load { var, .. } | Op::Unknown { var } => {
                let sort = arena.var_sort(*var);
                let unknown = arena.fresh("unknown", sort);
                values.insert(*var, unknown);
            }
            Op::Store { .. } | Op::Fault { .. } => {}
        }
    }
    values
}

fn fixed(arena: &Arena, function: &Function, value: TermId) -> Option<Fixed> {
    if let Some(number) = arena.as_u64(value) {
        return Some(Fixed::Number(number));
    }
    if arena.sort(value).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, value);
    let [(base, one)] = linear.terms[..] else { return None };
    let var = arena.as_var(base).filter(|_| one.to_u64() == Some(1))?;
    let object = function.objects.get(&var).filter(|o| o.kind != ObjectKind::Section)?;
    Some(Fixed::Address(arena.var_name(object.var).to_string(), linear.constant.low() as i64))
}
/// The function that is called at the end of a point, if it has a name.
fn named_callee(point: &Point) -> Option<&str> {
    match &point.next {
        Next::Call(Call { callee: Callee::Named(name), .. }) => Some(name),
        _ => None,
    }
}

/// Callees whose result some call site of the function reads.
fn results_read(function: &Function, live_in: &[u64], signature_of: &dyn Fn(&str) -> Option<Signature>) -> Vec<String> {
    let places = |name: &str| match signature_of(name).filter(|s| s.unsupported.is_none()) {
        Some(signature) => signature.results.iter().map(|value| value.place).collect::<Vec<_>>(),
        None => {
            let all = [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)];
            all.map(Place::Register).to_vec()
        }
    };
    let result = |name: &str| {
        places(name).into_iter().fold(0u64, |mask, place| match place {
            Place::Register(register) => mask | 1 << register.index(),
            Place::Stack(_) => mask,
        })
    };
    // Who calls the function knows it as the original's file declares it.
    let own = signature_of(&function.name);
    let returns_nothing = own.is_some_and(|s| s.unsupported.is_none() && s.results.is_empty());
    let calls = function.points.iter().filter_map(|point| match &point.next {
        Next::Call(call) => match &call.callee {
            Callee::Named(name) => Some((name, call.returns)),
            Callee::Pointer(_) => None,
        },
        _ => None,
    });
    let read = calls.filter(|(name, returns)| match returns {
        Some(next) => live_in[next.index()] & result(name) != 0,
        None => !returns_nothing,
    });
    read.map(|(name, _)| name.clone()).collect()
}

/// `rbp + constant` or `rsp + constant`.
fn is_frame_address(arena: &Arena, address: TermId) -> bool {
    let linear = Linear::of(arena, address);
    let [(base, one)] = linear.terms[..] else { return false };
    let register = arena.as_var(base).and_then(Register::of_var);
    one.to_u64() == Some(1) && matches!(register, Some(Register::General(4 | 5)))
}

/// What each function of the original does, calls included.
fn effects(file: &File) -> FxHashMap<String, LocalEffect> {
    let mut out: FxHashMap<String, LocalEffect> = FxHashMap::default();
    let defined: FxHashSet<&str> = file.functions.iter().map(|f| f.name.as_str()).collect();
    // Callees first would be best; a few rounds do the same. A cycle of calls stays unknown.
    for _ in 0..4 {
        for function in file.functions {
            let effect = effect(file.arena, function, &out, &defined);
            out.insert(function.name.clone(), effect);
        }
    }
    out
}

fn effect(
    arena: &Arena,
    function: &Function,
    known: &FxHashMap<String, LocalEffect>,
    defined: &FxHashSet<&str>,
) -> LocalEffect {
    let (rbp, rsp) = (Register::RBP.index(), Register::RSP.index());
    let mut effect = LocalEffect::Pure;
    if !function.volatile.is_none() {
        return LocalEffect::Unknown;
    }
    for (n, point) in function.points.iter().enumerate() {
        // The caller's until it is set up, and again once it is restored.
        let mut others = if n == Function::ENTRY.index() { vec![rbp] } else { Vec::new() };
        for (_, op) in &point.ops {
            let in_frame = |address: TermId| {
                let others = |var: &VarId| others.contains(&var.index());
                is_frame_address(arena, address) && !arena.free_vars(address).iter().any(others)
            };
            match op {
                Op::Store { address, .. } if !in_frame(*address) => return LocalEffect::Unknown,
                Op::Load { var, address, .. } => {
                    if !in_frame(*address) {
                        effect = effect.max(LocalEffect::Reads);
                    }
                    let restores = matches!(point.next, Next::Return) || matches!(&point.next, Next::Call(c) if c.tail);
                    if var.index() == rsp || var.index() == rbp && !restores {
                        return LocalEffect::Unknown;
                    }
                    if var.index() == rbp {
                        others.push(rbp);
                    }
                }
                Op::Set { var, value } if var.index() == rbp || var.index() == rsp => {
                    let restored = matches!(point.next, Next::Return);
                    let framed = in_frame(*value);
                    if !framed && !restored {
                        return LocalEffect::Unknown;
                    }
                    others.retain(|register| *register != var.index());
                    if !framed {
                        others.push(var.index());
                    }
                }
                Op::Unknown { var } if var.index() == rbp || var.index() == rsp => return LocalEffect::Unknown,
                Op::Fault { .. } => return LocalEffect::Unknown,
                Op::Store { .. } | Op::Set { .. } | Op::Unknown { .. } => {}
            }
        }
        match &point.next {
            Next::Edges(_) | Next::Return => {}
            Next::Fault(_) => return LocalEffect::Unknown,
            Next::Call(call) => {
                let Callee::Named(name) = &call.callee else { return LocalEffect::Unknown };
                // The program's own, even if it could not be lifted.
                let callee = if defined.contains(name.as_str()) || function.defined.contains(name) {
                    known.get(name).copied().unwrap_or(LocalEffect::Unknown)
                } else {
                    let row = library::row(name, function.callees.get(name));
                    match row.map(|c| c.effect) {
                        Some(library::Effect::Pure { reads_memory: false, .. }) => LocalEffect::Pure,
                        Some(library::Effect::Pure { .. } | library::Effect::ReadsThreadLocalAddress) => {
                            LocalEffect::Reads
                        }
                        _ if row.is_some() && library::manages_heap(name) => LocalEffect::Heap,
                        _ => LocalEffect::Unknown,
                    }
                };
                if call.tail && callee != LocalEffect::Heap || call.returns.is_none() && !call.tail {
                    return LocalEffect::Unknown;
                }
                effect = effect.max(callee);
            }
        }
    }
    if has_cycle(function) { effect.max(LocalEffect::Preserves) } else { effect }
}
