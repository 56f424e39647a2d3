//! Contracts of local functions: what a compiler can see about a function that nobody outside its file can call.
//!
//! A local function whose address is never taken is called from the visible call sites only, so compilers drop
//! arguments that are constant or unread, propagate constant results, ignore unused ones, and delete calls without an
//! effect, even with inlining off. The contract is computed from all functions of both files:
//! - from the original: the constants that all its call sites pass, its constant result or the argument it returns,
//!   and what it does to memory;
//! - from the candidate: which argument registers its body reads, and whether any call site reads the result.
//!
//! The function is then compared under the contract, and every call of it against the contract: an argument that the
//! candidate's body does not read need not be passed, a result that no call site reads need not be returned. If the
//! candidate dropped arguments, the later ones move up (LLVM does that); which register carries which argument is a guess
//! that is safe because the body and all call sites are held to the same one; so is which register carries a value that
//! the original loads through a pointer (see [`crate::promotion`]). Printed as `callers(f)`.
//!
//! Trust: what is said of the original and of its callers is a proposal, which the kernel proves or drops
//! (`kernel::lemma`); how the candidate takes its arguments (`moved`, `promoted`, `result_unused`) is a convention that body
//! and calls are both held to. `reads` is believed.

mod forgets;
mod passed;
mod results;
mod stored;

use crate::promotion::{self, Loaded};
use crate::range_analysis;
use crate::twice::{call_that_returns_twice, jump_to_twice};
use crate::{Assumption, Undefined, ValueRange, library};
use crate::{Call, Callee, Function, Next, ObjectKind, Op, Place, Point, PointId, Register, Signature};
use passed::passed_constants;
use results::{allocators, computed_result, fixed_result};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use stored::stored_values;
use term::{Arena, Linear, TermId, VarId};

/// A value that does not depend on an arena.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fixed {
    /// A number.
    Number(u64),
    /// An address: variable and offset.
    Address(String, i64),
}

/// What a function always returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FixedResult {
    /// This value.
    Value(Fixed),
    /// What it was given in this register.
    Argument(Register),
}

/// What a local function does besides returning a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LocalEffect {
    /// Nothing, whatever memory holds: its result is a function of the arguments.
    Pure,
    /// Nothing: its result is a function of the arguments and memory.
    Reads,
    /// It writes no memory outside its frame and calls nobody, but may not return.
    Preserves,
    /// The same, but for calls of functions that manage the heap.
    Heap,
    /// Anything.
    Unknown,
}

/// The contract of one local function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalContract {
    /// Is it called from the visible call sites only? If not, the contract says nothing about its arguments.
    pub private: bool,
    /// Ranges of arguments at every call site of the original, at the argument's width.
    pub ranges: BTreeMap<Register, ValueRange>,
    /// Range of the original's result, at its width.
    pub result_range: Option<ValueRange>,
    /// Does the original never return?
    pub noreturn: bool,
    /// Argument registers whose value is one of these at every call site of the original.
    pub arguments: BTreeMap<Register, BTreeSet<Fixed>>,
    /// Where the candidate expects what the original takes in a register; `None` if nowhere.
    pub moved: BTreeMap<Register, Option<Register>>,
    /// What the candidate takes instead of a pointer: the value that a chain of loads has at the call.
    pub promoted: BTreeMap<Register, Loaded>,
    /// Loads that the original makes before anything else, in every run; known if something is promoted.
    pub reads: BTreeSet<Loaded>,
    /// Does no call site of the candidate read the result?
    pub result_unused: bool,
    /// What the original always returns.
    pub result: Option<FixedResult>,
    /// Bytes of its result that this is said of.
    pub result_bytes: u16,
    /// Is what the original returns null, or what it has just been given by an allocating function?
    pub returns_fresh: bool,
    /// Argument registers whose address nobody can find when the original is done.
    pub forgets: BTreeSet<Register>,
    /// What the original does.
    pub effect: LocalEffect,
    /// What was taken for granted where this was proved.
    pub assumptions: BTreeSet<Assumption>,
}

impl LocalContract {
    /// Is there anything in it that is not true of every function?
    pub fn says_something(&self) -> bool {
        self.changes_calls() || !self.forgets.is_empty()
    }

    /// May a compiler that knows it change calls of the function, other than by what happens to local objects?
    pub fn changes_calls(&self) -> bool {
        self.private
            || self.moved.values().any(Option::is_none)
            || self.result.is_some()
            || self.result_range.is_some()
            || self.noreturn
            || self.returns_fresh
            || self.effect != LocalEffect::Unknown
    }
}

/// What all code of the original's file says.
#[derive(Clone, Default, Debug)]
pub struct Contracts {
    /// Contracts by name of the function.
    functions: BTreeMap<String, LocalContract>,
    /// By name: the numbers that a static can hold, as every store of the file is one of a constant.
    pub statics: BTreeMap<String, BTreeSet<u64>>,
    /// Functions that return twice, in either file, because they jump to one that does.
    pub twice: BTreeSet<String>,
    /// By name of a function and loop head: ranges that slots seem to have there. Nothing is believed because of them.
    pub heads: BTreeMap<String, SlotRanges>,
}

/// By loop head: ranges of slots, by their offset from the stack pointer at the entry.
pub type SlotRanges = BTreeMap<PointId, Vec<(i64, ValueRange)>>;

impl Contracts {
    /// None.
    pub fn new() -> Contracts {
        Contracts::default()
    }
}

impl std::ops::Deref for Contracts {
    type Target = BTreeMap<String, LocalContract>;

    fn deref(&self) -> &Self::Target {
        &self.functions
    }
}

impl std::ops::DerefMut for Contracts {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.functions
    }
}

/// All functions of one file, lifted into one arena.
pub struct File<'a> {
    /// Owner of the functions' terms.
    pub arena: &'a mut Arena,
    /// The functions that could be lifted.
    pub functions: &'a [Function],
    /// Could all functions be lifted? Otherwise there may be call sites that nobody saw.
    pub complete: bool,
    /// Names of local functions whose address is never taken.
    pub private: BTreeSet<String>,
    /// Names of functions that another file's definition can replace.
    pub replaceable: BTreeSet<String>,
    /// As an original: may it be taken to have no undefined behaviour?
    pub undefined: Undefined,
}

/// Argument registers: the six general ones and eight vector ones.
fn argument_registers() -> impl Iterator<Item = Register> {
    Register::ARGUMENTS.into_iter().chain((0..8).map(Register::Vector))
}

/// The contracts of the functions that are private in both files.
pub fn contracts(original: &mut File, candidate: &mut File) -> Contracts {
    let mut twice = jump_to_twice(original.functions);
    twice.extend(jump_to_twice(candidate.functions));
    let private: BTreeSet<String> = original.private.intersection(&candidate.private).cloned().collect();
    let nobody = BTreeSet::new();
    let enclosed = if original.complete { &private } else { &nobody };
    let ranges = range_analysis::ranges(original.arena, original.functions, enclosed, original.undefined, &twice);
    let passed = if original.complete { passed_constants(original, &twice) } else { FxHashMap::default() };
    let effects = effects(original);
    let mut forgotten = forgets::forgotten(original, candidate.functions, &twice);
    let wrappers = allocators(original.arena, original.functions, &original.replaceable, &twice);
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
        promotion::Search::new(original.functions, candidate.functions, candidate.arena, &original.replaceable);
    let mut out = Contracts::new();
    out.twice = twice;
    if original.complete {
        out.statics = stored_values(original.arena, original.functions);
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
        let settled = before.volatile.is_none() && call_that_returns_twice(before, &out.twice).is_none();
        let result = if settled { fixed_result(original.arena, before) } else { None };
        let result = result.or(known.result.as_ref().filter(|r| r.span == 0).map(only));
        let result_bytes = match before.signature.as_ref().map(|s| &s.results[..]) {
            Some([value]) if value.place == Place::Register(Register::General(0)) => value.bytes,
            _ => 0,
        };
        let effect = effects.get(&name).copied().unwrap_or(LocalEffect::Unknown);
        let result = if dropped { result.or_else(|| computed_result(original.arena, before)) } else { result };
        let (ranges, result_range) = (known.arguments, known.result);
        if !known.heads.is_empty() {
            out.heads.insert(name.clone(), known.heads);
        }
        let contract = LocalContract {
            private,
            ranges,
            result_range,
            noreturn,
            arguments,
            moved,
            promoted,
            reads,
            result_unused,
            result,
            returns_fresh: wrappers.contains(&name),
            forgets: forgotten.remove(&name).unwrap_or_default(),
            effect,
            result_bytes,
            assumptions: BTreeSet::new(),
        };
        if contract.says_something() {
            out.insert(name, contract);
        }
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

/// Registers that are read before they are written, at the start of each point. `signature_of` gives signatures that the
/// function's own debug information lacks.
pub fn liveness(arena: &Arena, function: &Function, signature_of: &dyn Fn(&str) -> Option<Signature>) -> Vec<u64> {
    liveness_where(arena, function, signature_of, &|_| false)
}

/// The same, if some callees may read any argument register, whatever their signatures say.
fn liveness_where(
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

/// Can a run of the function come back to a point?
pub fn has_cycle(function: &Function) -> bool {
    let none = FxHashSet::default();
    crate::order::Region::explore(function, Function::ENTRY, &none, |_| crate::order::Passing::Goes).is_err()
}
