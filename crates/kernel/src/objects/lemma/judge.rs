//! Which facts a function's execution shows, and which it does not.

use super::heads::{Heads, SlotRanges};
use super::walk::{Seen, Walk};
use crate::Precondition;
use crate::objects::certificate::{Certificate, VERSION};
use crate::objects::product::{Checker, Point};
use library::Effect;
use program::contract::{FixedResult, LocalContract, LocalEffect};
use program::{Assumption, Call, Callee, Function, Next, Op, Place, Register};
use program::{Contracts, Loaded, Signature, ValueRange};
use rustc_hash::FxHashMap;
use solver::{Effort, Solver};
use std::collections::{BTreeMap, BTreeSet};
use symbolic::State;
use symbolic::{Binding, Context, Interval, Stuck};
use term::{Arena, Linear, Op as TermOp, TermId};

/// How often a function may be executed: each time something more is forgotten, or one more local object is known.
const MOST_ATTEMPTS: usize = 24;
/// Terms that the executions of one function and the questions about it may make.
const MOST_TERMS: usize = 100_000;
/// Questions about one function, and those that may stay open.
const MOST_QUESTIONS: u64 = 3000;
const MOST_OPEN: u64 = 40;
/// What one question may cost: the SAT solver alone, a few thousand conflicts.
const EFFORT: Effort = Effort { resources: 100_000, propagations: 100_000_000 };

/// A fact that was not shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failed {
    /// Nothing is known of the function's body.
    Everything,
    /// What it returns.
    Result,
    /// In which range that is.
    ResultRange,
    /// That it never returns.
    Returns,
    /// That its result is new.
    Fresh,
    /// What it does is this, or more than was said.
    Effect(LocalEffect),
    /// That a static holds one of its values wherever others look.
    Static(String),
    /// That it forgets an argument.
    Keeps(Register),
    /// That it makes a load before anything else.
    Later(Loaded),
    /// What it passes is one of several constants.
    Passed { callee: String, register: Register },
    /// What it passes is in a range.
    Range { callee: String, register: Register },
}

/// What is said of the functions of a file.
pub(super) struct Said<'s> {
    /// The facts.
    pub contracts: &'s Contracts,
    /// The functions' own signatures.
    pub signatures: &'s FxHashMap<String, Signature>,
    /// Ranges of slots at the function's loop heads.
    pub claims: Option<&'s SlotRanges>,
}

/// What became of a function.
#[derive(Clone, Default, Debug)]
pub(super) struct Judged {
    /// Facts that do not hold, or could not be shown.
    pub failed: Vec<Failed>,
    /// What the others rest on.
    pub assumptions: BTreeSet<Assumption>,
}

/// Is a call of this library function executed in passing: does it only compute, copy or fill?
pub(super) fn is_computed(name: &str) -> bool {
    let effect = library::contract(name).map(|c| c.effect);
    matches!(
        effect,
        Some(Effect::Pure { .. } | Effect::ReadsThreadLocalAddress | Effect::CopyMemory | Effect::FillMemory)
    )
}

/// Executes a function and looks which of the facts hold that its contracts say of it and of what it passes.
pub(super) fn judge(arena: &mut Arena, function: &Function, small: bool, said: &Said, solver: &mut Solver) -> Judged {
    let twice = program::call_that_returns_twice(function, &function.contracts.twice).is_some();
    let hopeless = twice || !small || function.volatile.unmodelled.is_some();
    let seen = if hopeless { None } else { execute(arena, function, said, solver) };
    let Some((failed, assumptions)) = seen else {
        return Judged { failed: all(arena, function, said.contracts), assumptions: BTreeSet::new() };
    };
    Judged { failed, assumptions }
}

/// Statics with known values that the function's code stores to by their names. Nobody else's stores reach them
/// (`unaliased-static`).
pub(super) fn stored_statics(arena: &Arena, function: &Function, contracts: &Contracts) -> BTreeSet<String> {
    if contracts.statics.is_empty() {
        return BTreeSet::new();
    }
    let stored = super::needed::stored_objects(arena, function).into_iter();
    stored.filter(|name| contracts.statics.contains_key(*name)).map(str::to_string).collect()
}

/// Nothing is shown.
fn all(arena: &Arena, function: &Function, contracts: &Contracts) -> Vec<Failed> {
    let mut out = vec![Failed::Everything];
    for name in super::callees(function).collect::<BTreeSet<&str>>() {
        let Some(contract) = contracts.get(name) else { continue };
        let callee = || name.to_string();
        out.extend(contract.arguments.keys().map(|r| Failed::Passed { callee: callee(), register: *r }));
        out.extend(contract.ranges.keys().map(|r| Failed::Range { callee: callee(), register: *r }));
    }
    out.extend(stored_statics(arena, function, contracts).into_iter().map(Failed::Static));
    out
}

fn execute(
    arena: &mut Arena,
    function: &Function,
    said: &Said,
    solver: &mut Solver,
) -> Option<(Vec<Failed>, BTreeSet<Assumption>)> {
    let before = solver.statistics();
    let tired = |solver: &Solver| {
        let now = solver.statistics();
        now.queries - before.queries > MOST_QUESTIONS || now.given_up - before.given_up > MOST_OPEN
    };
    let most_terms = arena.len().saturating_add(MOST_TERMS);
    let mut bindings = first_bindings(arena, function);
    let mut heads = Heads::new(function, said.claims);
    for _ in 0..MOST_ATTEMPTS {
        if tired(solver) {
            tracing::debug!(function = function.name, "lemmas: too many questions");
            return None;
        }
        let extents = crate::check_extents(function, &bindings).ok()?;
        let certificate = Certificate {
            version: VERSION,
            original: function.name.clone(),
            candidate: function.name.clone(),
            original_hash: function.hash.clone(),
            candidate_hash: function.hash.clone(),
            assume: Vec::new(),
            axioms: Vec::new(),
            locals: Vec::new(),
            cuts: Default::default(),
            points: Vec::new(),
            edges: Vec::new(),
            lemmas: Vec::new(),
            effort: None,
        };
        let mut context = Context::new(&mut *arena, function, function, bindings.clone());
        context.most_terms = most_terms;
        context.assumptions.extend(extents);
        solver.set_effort(EFFORT);
        let everywhere = Precondition::default();
        let mut checker = Checker::new(&mut context, solver, &certificate, &everywhere).ok()?;
        let mut walk = Walk::new(&mut checker, function, &mut heads);
        match walk.run() {
            Ok(()) if walk.again => continue,
            Ok(()) => {
                let seen = walk.seen;
                let failed = decide(&mut checker, function, said, seen);
                let assumptions = std::mem::take(&mut context.assumptions);
                let granted = assumptions.iter().all(|a| function.undefined.grants(a));
                tracing::debug!(function = function.name, ?failed, granted, "lemmas: executed");
                return (granted && !tired(solver)).then_some((failed, assumptions));
            }
            Err(Stuck::Unbound { offset, escapes, span, .. }) => bind(function, &mut bindings, offset, escapes, span)?,
            Err(stuck) => {
                tracing::debug!(function = function.name, ?stuck, "lemmas: not executed");
                return None;
            }
        }
    }
    tracing::debug!(function = function.name, "lemmas: too many attempts");
    None
}

/// Local objects whose addresses the code visibly makes, or that it indexes.
fn first_bindings(arena: &Arena, function: &Function) -> Vec<Binding> {
    let mut out = Vec::new();
    if !function.is_unoptimised() {
        return out;
    }
    let is_base = |term: TermId| arena.as_var(term).and_then(Register::of_var).is_some_and(|r| r == Register::RBP);
    for (_, op) in function.points.iter().flat_map(|point| &point.ops) {
        let (address, taken) = match op {
            Op::Set { var, value } => {
                let own = matches!(Register::of_var(*var), Some(Register::General(4 | 5)));
                (*value, !own)
            }
            Op::Load { address, .. } | Op::Store { address, .. } => (*address, false),
            Op::Unknown { .. } | Op::Fault { .. } => continue,
        };
        if arena.sort(address).width() != Some(64) {
            continue;
        }
        let linear = Linear::of(arena, address);
        let framed = linear.terms.iter().any(|(term, factor)| factor.to_u64() == Some(1) && is_base(*term));
        if framed && (taken || linear.terms.len() > 1) {
            // The frame pointer is eight bytes below the return address.
            let offset = (linear.constant.low() as i64).saturating_sub(8);
            let _ = bind(function, &mut out, offset, taken, None);
        }
    }
    out
}

/// Adds the local object at an offset, or lets it escape. Nothing if no local lies there, or if nothing changes.
fn bind(
    function: &Function,
    bindings: &mut Vec<Binding>,
    offset: i64,
    escapes: bool,
    span: Option<Interval>,
) -> Option<()> {
    if let Some(known) = bindings.iter_mut().find(|b| b.original.is_some_and(|i| i.contains(offset)) && span.is_none())
    {
        let changed = escapes && !known.escapes;
        known.escapes |= escapes;
        return changed.then_some(());
    }
    let end = |i: &Interval| i.offset.saturating_add_unsigned(i.size);
    let around = function.locals.iter().map(|l| Interval { offset: l.offset, size: l.size });
    let mut interval = span.or_else(|| around.clone().find(|i| i.contains(offset)))?;
    let mut escapes = escapes;
    // Objects that overlap are one.
    loop {
        let overlaps = |i: &Interval| i.offset < end(&interval) && end(i) > interval.offset;
        let mut parts: Vec<Interval> = around.clone().filter(overlaps).collect();
        for known in bindings.iter().filter(|b| b.original.as_ref().is_some_and(overlaps)) {
            parts.extend(known.original);
            escapes |= known.escapes;
        }
        let start = parts.iter().map(|i| i.offset).min()?.min(interval.offset);
        let stop = parts.iter().map(end).max()?.max(end(&interval));
        let whole = Interval { offset: start, size: stop.checked_sub(start)?.try_into().ok()? };
        bindings.retain(|b| !b.original.as_ref().is_some_and(overlaps));
        if whole == interval {
            break;
        }
        interval = whole;
    }
    bindings.push(Binding { original: Some(interval), candidate: Some(interval), escapes });
    Some(())
}

/// Which facts hold of what was seen.
fn decide(checker: &mut Checker, function: &Function, said: &Said, seen: Seen) -> Vec<Failed> {
    let mut failed = Vec::new();
    if let Some(contract) = said.contracts.get(&function.name) {
        body(checker, function, said, contract, &seen, &mut failed);
    }
    let mut passed: BTreeMap<(String, Register, bool), bool> = BTreeMap::new();
    for (at, callee, state) in &seen.calls {
        let Some(contract) = said.contracts.get(callee) else { continue };
        let bytes = |register: Register| {
            let signature = said.signatures.get(callee).filter(|s| s.unsupported.is_none());
            let value = signature.and_then(|s| s.arguments.iter().find(|v| v.place == Place::Register(register)));
            value.map_or(8, |v| v.bytes.min(8))
        };
        for (register, values) in &contract.arguments {
            let known = passed.entry((callee.clone(), *register, false)).or_insert(true);
            if *known {
                let value = state.get(*register);
                let value = checker.context.canonical_value(value);
                let mut any = Vec::new();
                for wanted in values {
                    let wanted = checker.context.fixed_term(wanted);
                    let width = 8 * bytes(*register);
                    let arena = &mut *checker.context.arena;
                    let (a, b) = (arena.truncate(value, width), arena.truncate(wanted, width));
                    any.push(arena.eq(a, b));
                }
                let goal = checker.context.arena.bool_or_all(&any);
                let holds = holds(checker, at, goal);
                *passed.entry((callee.clone(), *register, false)).or_insert(true) &= holds;
            }
        }
        for (register, range) in &contract.ranges {
            if passed.get(&(callee.clone(), *register, true)) == Some(&false) {
                continue;
            }
            let value = state.get(*register);
            let holds = in_range(checker, at, value, range);
            *passed.entry((callee.clone(), *register, true)).or_insert(true) &= holds;
        }
    }
    for name in stored_statics(checker.context.arena, function, said.contracts) {
        let places =
            seen.calls.iter().map(|(at, _, state)| (at, state)).chain(seen.returns.iter().map(|(at, s)| (at, s)));
        let places = places.chain(seen.elsewhere.iter().map(|(at, state)| (at, state)));
        let held = places.collect::<Vec<_>>().into_iter().all(|(at, state)| {
            let goal = checker.context.static_condition(state.world);
            holds(checker, at, goal)
        });
        if !held {
            failed.push(Failed::Static(name));
        }
    }
    for ((callee, register, range), holds) in passed {
        match (holds, range) {
            (true, _) => {}
            (false, false) => failed.push(Failed::Passed { callee, register }),
            (false, true) => failed.push(Failed::Range { callee, register }),
        }
    }
    failed
}

fn body(
    checker: &mut Checker,
    function: &Function,
    said: &Said,
    contract: &LocalContract,
    seen: &Seen,
    failed: &mut Vec<Failed>,
) {
    let rax = Register::General(0);
    let single = function.signature.as_ref().filter(|s| s.unsupported.is_none()).and_then(|s| match s.results[..] {
        [value] if value.place == Place::Register(rax) && value.bytes <= 8 => Some(value.bytes),
        _ => None,
    });
    let mut results = contract.result.is_some() && single.is_some_and(|b| b == contract.result_bytes);
    let mut range = contract.result_range.is_some() && single.is_some();
    let (mut never, mut fresh) = (contract.noreturn, contract.returns_fresh && single == Some(8));
    for (at, state) in &seen.returns {
        let value = checker.context.canonical_value(state.get(rax));
        if let (true, Some(result), Some(bytes)) = (results, &contract.result, single) {
            let wanted = match result {
                FixedResult::Value(fixed) => checker.context.fixed_term(fixed),
                FixedResult::Argument(register) => seen.entry.as_ref().map_or(value, |e| e.get(*register)),
            };
            let known = matches!(result, FixedResult::Value(_)) || seen.entry.is_some();
            let arena = &mut *checker.context.arena;
            let (a, b) = (arena.truncate(value, 8 * bytes), arena.truncate(wanted, 8 * bytes));
            let goal = arena.eq(a, b);
            results = known && holds(checker, at, goal);
        }
        if let (true, Some(wanted), Some(bytes)) = (range, &contract.result_range, single) {
            range = wanted.width == 8 * bytes && in_range(checker, at, value, wanted);
        }
        if never {
            let no = checker.context.arena.bool(false);
            never = holds(checker, at, no);
        }
        fresh = fresh && is_new(checker.context, value);
    }
    if contract.result.is_some() && !results {
        failed.push(Failed::Result);
    }
    if contract.result_range.is_some() && !range {
        failed.push(Failed::ResultRange);
    }
    if contract.noreturn && !never {
        failed.push(Failed::Returns);
    }
    if contract.returns_fresh && !fresh {
        failed.push(Failed::Fresh);
    }
    // What it returns is known whatever volatile reads find. What it does is not: they are seen, and so is their order.
    let steady = function.volatile.is_none();
    for register in &contract.forgets {
        let position = Register::ARGUMENTS.iter().position(|r| r == register);
        if !steady || position.is_none_or(|i| seen.kept & 1 << i != 0) {
            failed.push(Failed::Keeps(*register));
        }
    }
    for loaded in &contract.reads {
        if !steady || !is_read_first(checker.context, said, seen, loaded) {
            failed.push(Failed::Later(loaded.clone()));
        }
    }
    let effect = if steady { effect(checker.context, function, said, seen) } else { LocalEffect::Unknown };
    if effect > contract.effect {
        failed.push(Failed::Effect(effect));
    }
}

/// Proves a goal where a function is.
fn holds(checker: &mut Checker, at: &Point, goal: TermId) -> bool {
    if checker.context.out_of_budget() {
        return false;
    }
    let known = checker.known(at);
    checker.ask(at, &known, goal).is_ok()
}

/// Are the low bits of a register in a range? Addresses of locals are in memory.
pub(super) fn in_range(checker: &mut Checker, at: &Point, value: TermId, range: &ValueRange) -> bool {
    let own = range.width == 64
        && checker.context.may_assume_defined()
        && checker.context.frame_offset(value).is_some_and(|(at, rest)| rest.is_empty() && is_near(at));
    if own && holds_all_addresses(range) {
        checker.context.assume(Assumption::UserAddresses);
        return true;
    }
    let value = checker.context.canonical_value(value);
    let value = checker.context.arena.truncate(value, range.width);
    let goal = checker.context.in_range(value, range);
    holds(checker, at, goal)
}

/// Is a distance from the stack pointer at the entry one that a frame has?
fn is_near(offset: i64) -> bool {
    (-(1 << 24)..=4096).contains(&offset)
}

/// Is every user address in the range?
fn holds_all_addresses(range: &ValueRange) -> bool {
    let distance = |address: u64| address.wrapping_sub(range.low);
    distance(4096) <= distance(1 << 47) && distance(1 << 47) <= range.span
}

/// Is a value null, or what an allocating function has given here?
fn is_new(context: &Context, value: TermId) -> bool {
    let mut open = vec![value];
    let mut steps = 0;
    while let Some(term) = open.pop() {
        steps += 1;
        match context.arena.op(term) {
            TermOp::Ite => open.extend([context.arena.arg(term, 1), context.arena.arg(term, 2)]),
            TermOp::Var(var) if context.is_allocation(var) => {}
            _ if context.arena.as_u64(term) == Some(0) => {}
            _ => return false,
        }
        if steps > 64 {
            return false;
        }
    }
    true
}

/// Is a load made in every run before anything else can be seen: by the function itself, or by whomever it calls first?
fn is_read_first(context: &mut Context, said: &Said, seen: &Seen, loaded: &Loaded) -> bool {
    let (Some(entry), Some(first)) = (&seen.entry, &seen.first) else { return false };
    let Some(wanted) = end_of(context, entry, loaded) else { return false };
    if first.reads.contains(&wanted) {
        return true;
    }
    let mut calls = first.calls.iter();
    let reads = |context: &mut Context, (callee, state): &(String, State)| {
        let theirs = said.contracts.get(callee).into_iter().flat_map(|contract| &contract.reads);
        theirs.into_iter().any(|loaded| end_of(context, state, loaded) == Some(wanted))
    };
    first.only_calls && !first.calls.is_empty() && calls.all(|call| reads(context, call))
}

/// Where the last load of a chain reads, and how much.
fn end_of(context: &mut Context, state: &State, loaded: &Loaded) -> Option<(TermId, u16)> {
    let base = context.canonical_value(state.get(loaded.argument));
    context.chain_end(state.world, base, loaded)
}

/// Is a result made of something else than arguments and memory: of where the stack is, who called, or what other registers held (a
/// global variable in one)? Which path is taken says as much as a value does.
fn is_made_of_more(context: &mut Context, function: &Function, seen: &Seen) -> bool {
    let signature = function.signature.as_ref().filter(|s| s.unsupported.is_none());
    if signature.is_some_and(|s| s.results.is_empty()) {
        return false;
    }
    let bits = |register: Register| match signature {
        Some(s) => s.results.iter().find(|v| v.place == Place::Register(register)).map(|v| 8 * v.bytes),
        None => matches!(register, Register::General(0 | 2)).then_some(64),
    };
    let several = seen.returns.len() > 1;
    let mut told: Vec<TermId> = Vec::new();
    for (at, state) in &seen.returns {
        for register in Register::all() {
            if let Some(bits) = bits(register) {
                told.push(context.arena.truncate(state.get(register), bits.min(register_width(register))));
            }
        }
        told.extend(several.then_some(at.condition));
    }
    told.into_iter().any(|term| context.is_made_of_more(term))
}

fn register_width(register: Register) -> u16 {
    register.sort().width().unwrap_or(1)
}

/// What the function does besides returning a result, as far as its execution shows.
fn effect(context: &mut Context, function: &Function, said: &Said, seen: &Seen) -> LocalEffect {
    let mut effect = match (seen.writes, seen.reads) {
        (true, _) => return LocalEffect::Unknown,
        (false, true) => LocalEffect::Reads,
        (false, false) => LocalEffect::Pure,
    };
    if seen.faults || is_made_of_more(context, function, seen) {
        effect = effect.max(LocalEffect::Preserves);
    }
    for point in &function.points {
        let Next::Call(Call { callee, returns, tail, .. }) = &point.next else { continue };
        let Callee::Named(name) = callee else { return LocalEffect::Unknown };
        let theirs = match said.contracts.get(name) {
            Some(contract) => contract.effect,
            None => match context.contract(name).map(|row| row.effect) {
                Some(Effect::Pure { reads_memory: false, .. } | Effect::CopyMemory | Effect::FillMemory) => {
                    LocalEffect::Pure
                }
                Some(Effect::Pure { .. } | Effect::ReadsThreadLocalAddress) => LocalEffect::Reads,
                Some(_) if library::manages_heap(name) => LocalEffect::Heap,
                _ => return LocalEffect::Unknown,
            },
        };
        // A call that does not return, and a jump out of the function, are more than was looked at.
        if *tail && theirs != LocalEffect::Heap || returns.is_none() && !tail {
            return LocalEffect::Unknown;
        }
        effect = effect.max(theirs);
    }
    effect
}
