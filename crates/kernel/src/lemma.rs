//! Facts about the functions of the original's file, each proved by executing code.
//!
//! A proposal (`graph::Contracts`, found by whoever likes) says of functions what they return, what they do to memory,
//! whether they return at all, and what their callers pass. [`prove`] keeps what it can show and drops the rest; a call
//! of a function of which nothing is left is an ordinary event.
//!
//! Every function is executed alone, with the engine that executes pairs ([`walk`]): from its entry, under what its callers
//! are said to pass, to its returns. At a loop head whatever the loop changes is forgotten; ranges of slots may be claimed
//! there, which every edge to the head must establish. At a call the callee's facts hold behind it, and what its
//! callers are said to pass must hold before it.
//!
//! *Theorem.* What is kept is true of every run of the file's code in which the original has no undefined behaviour.
//! *Proof.* All facts but termination say: whenever a run gets there, this holds. Take the first moment, in the order of the
//! run, at which one is violated. Every fact that the execution up to there has used is about an earlier moment, so it
//! held; but then the execution shows this one, too. So facts may use each other, and themselves for recursive calls, as
//! one inductive set: a fact that fails is dropped, and who used it is executed again, until nothing fails. Termination,
//! which a function without effects needs, is no such statement: it is granted only to functions without loops whose
//! callees have it, by induction over the call graph.
//!
//! Trust: full.

mod walk;
mod heads;
mod forgets;
mod judge;

use crate::lemma::judge::{Failed, Judged, Said};
use graph::contract::{LocalContract, LocalEffect, has_cycle};
use graph::{Assumption, Call, Callee, Contracts, Function, Next, Signature};
use rustc_hash::{FxHashMap, FxHashSet};
use solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;
use term::Arena;

/// Functions with more points are not executed.
const MOST_POINTS: usize = 700;
/// Executions of all functions together, in times of their number.
const MOST_ROUNDS: usize = 6;

/// The file that the facts are about: all its functions, with their declarations, in one arena.
pub struct OriginalFile<'a> {
    /// Owner of the functions' terms.
    pub arena: &'a mut Arena,
    /// The functions that could be lifted.
    pub functions: &'a mut [Function],
    /// Could all be lifted? Otherwise there may be call sites that nobody saw.
    pub complete: bool,
    /// Names of functions that another file's definition can replace.
    pub replaceable: &'a BTreeSet<String>,
}

/// What of a proposal is true of the file.
pub fn prove(file: OriginalFile, mut proposed: Contracts, solver: &mut Solver, until: Instant) -> Contracts {
    let heads = std::mem::take(&mut proposed.heads);
    let ending = ending(file.functions, file.replaceable);
    let index: FxHashMap<String, usize> = file.functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect();
    for (name, contract) in proposed.iter_mut() {
        prepare(contract, ending.contains(name));
        if !index.contains_key(name) || file.replaceable.contains(name) {
            forget_body(contract);
        }
        if !file.complete {
            forget_callers(contract);
        }
    }
    if !file.complete {
        proposed.statics.clear();
    }
    let callers = callers(file.functions);
    let signatures: FxHashMap<String, Signature> =
        file.functions.iter().filter_map(|f| Some((f.name.clone(), f.signature.clone()?))).collect();
    let mut open: BTreeSet<usize> = (0..file.functions.len()).collect();
    let mut left = MOST_ROUNDS * file.functions.len();
    let mut used: Vec<Judged> = vec![Judged::default(); file.functions.len()];
    while !open.is_empty() {
        let shared = Arc::new(as_events(&proposed));
        file.functions.iter_mut().for_each(|f| f.contracts = Arc::clone(&shared));
        let mut again: BTreeSet<usize> = BTreeSet::new();
        for i in std::mem::take(&mut open) {
            let function = &file.functions[i];
            if !is_needed(file.arena, function, &proposed) {
                continue;
            }
            let Some(rest) = left.checked_sub(1) else { return nothing(proposed) };
            left = rest;
            let claims = heads.get(&function.name);
            let small = function.points.len() <= MOST_POINTS && Instant::now() < until;
            let said = Said { contracts: &proposed, signatures: &signatures, claims };
            used[i] = judge::judge(file.arena, function, small, &said, solver);
            for failed in &used[i].failed {
                if let Failed::Static(name) = failed {
                    if proposed.statics.remove(name).is_some() {
                        let mentions = |f: &Function| f.objects.values().any(|o| o.name == *name);
                        again.extend((0..file.functions.len()).filter(|i| mentions(&file.functions[*i])));
                    }
                    continue;
                }
                let about = drop_fact(&mut proposed, &function.name, failed);
                let Some(about) = about else { continue };
                // Whoever may have used it: the function itself, and who calls it.
                again.extend(index.get(&about));
                again.extend(callers.get(&about).into_iter().flatten());
            }
        }
        open = again;
    }
    proposed.retain(|_, contract| contract.says_something());
    note_assumptions(&mut proposed, file.functions, &callers, &index, &used);
    file.functions.iter_mut().for_each(|f| f.contracts = Arc::default());
    proposed
}

/// The same, but every call is an event: what is passed is looked at there.
fn as_events(proposed: &Contracts) -> Contracts {
    let mut out = proposed.clone();
    for contract in out.values_mut() {
        contract.effect = contract.effect.max(LocalEffect::Preserves);
    }
    out
}

/// What needs an end is said only of functions that come to one.
fn prepare(contract: &mut LocalContract, ends: bool) {
    contract.assumptions.clear();
    if !ends {
        contract.effect = contract.effect.max(LocalEffect::Preserves);
    }
}

/// Nothing is known that the body would show.
fn forget_body(contract: &mut LocalContract) {
    contract.result = None;
    contract.result_range = None;
    contract.noreturn = false;
    contract.returns_fresh = false;
    contract.forgets.clear();
    contract.effect = LocalEffect::Unknown;
}

/// Nothing is known that the callers would show.
fn forget_callers(contract: &mut LocalContract) {
    contract.arguments.clear();
    contract.ranges.clear();
}

fn nothing(mut proposed: Contracts) -> Contracts {
    for contract in proposed.values_mut() {
        forget_body(contract);
        forget_callers(contract);
    }
    proposed.statics.clear();
    proposed.retain(|_, contract| contract.says_something());
    proposed
}

/// Named callees of a function.
fn callees(function: &Function) -> impl Iterator<Item = &str> {
    function.points.iter().filter_map(|point| match &point.next {
        Next::Call(Call { callee: Callee::Named(name), .. }) => Some(name.as_str()),
        _ => None,
    })
}

/// By name: who calls it.
fn callers(functions: &[Function]) -> BTreeMap<String, BTreeSet<usize>> {
    let mut out: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for (i, function) in functions.iter().enumerate() {
        for name in callees(function) {
            out.entry(name.to_string()).or_default().insert(i);
        }
    }
    out
}

/// Functions that come to an end, whatever they are given: no loops, and callees of the same kind.
fn ending(functions: &[Function], replaceable: &BTreeSet<String>) -> FxHashSet<String> {
    let defined: FxHashSet<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    let mut out: FxHashSet<String> = FxHashSet::default();
    let mut changed = true;
    while changed {
        changed = false;
        for function in functions.iter().filter(|f| !replaceable.contains(&f.name)) {
            if out.contains(&function.name) {
                continue;
            }
            let ends = |point: &graph::Point| match &point.next {
                Next::Edges(_) | Next::Return => true,
                Next::Fault(_) => false,
                Next::Call(Call { callee: Callee::Pointer(_), .. }) => false,
                Next::Call(Call { callee: Callee::Named(name), .. }) => {
                    let own = defined.contains(name.as_str()) || function.defined.contains(name);
                    if own { out.contains(name) } else { judge::is_computed(name) }
                }
            };
            if function.points.iter().all(ends) && !has_cycle(function) {
                out.insert(function.name.clone());
                changed = true;
            }
        }
    }
    out
}

/// Is there anything to prove by executing the function?
fn is_needed(arena: &Arena, function: &Function, proposed: &Contracts) -> bool {
    let body = |c: &LocalContract| {
        c.result.is_some()
            || c.result_range.is_some()
            || c.noreturn
            || c.returns_fresh
            || c.effect != LocalEffect::Unknown
            || !c.forgets.is_empty()
    };
    let passed = |c: &LocalContract| !c.arguments.is_empty() || !c.ranges.is_empty();
    proposed.get(&function.name).is_some_and(body)
        || !judge::stored_statics(arena, function, proposed).is_empty()
        || callees(function).filter_map(|name| proposed.get(name)).any(passed)
}

/// Takes a fact back. The function it was about, if that changes anything.
fn drop_fact(proposed: &mut Contracts, function: &str, failed: &Failed) -> Option<String> {
    let about = match failed {
        Failed::Passed { callee, .. } | Failed::Range { callee, .. } => callee,
        _ => function,
    };
    let contract = proposed.get_mut(about)?;
    let before = contract.clone();
    match failed {
        Failed::Everything => forget_body(contract),
        Failed::Keeps(register) => drop(contract.forgets.remove(register)),
        Failed::Static(_) => {}
        Failed::Result => contract.result = None,
        Failed::ResultRange => contract.result_range = None,
        Failed::Returns => contract.noreturn = false,
        Failed::Fresh => contract.returns_fresh = false,
        Failed::Effect(effect) => contract.effect = contract.effect.max(*effect),
        Failed::Passed { register, .. } => drop(contract.arguments.remove(register)),
        Failed::Range { register, .. } => drop(contract.ranges.remove(register)),
    }
    (*contract != before).then(|| about.to_string())
}

/// What executions took for granted goes with the facts that they showed, and with the facts that rest on those.
fn note_assumptions(
    proposed: &mut Contracts,
    functions: &[Function],
    callers: &BTreeMap<String, BTreeSet<usize>>,
    index: &FxHashMap<String, usize>,
    used: &[Judged],
) {
    let mut changed = true;
    while changed {
        changed = false;
        for name in proposed.keys().cloned().collect::<Vec<_>>() {
            let contract = &proposed[&name];
            let passed = contract.private && !(contract.arguments.is_empty() && contract.ranges.is_empty());
            let own = index.get(&name).into_iter().copied();
            let others = callers.get(&name).filter(|_| passed).into_iter().flatten().copied();
            let mut all = contract.assumptions.clone();
            for i in own.chain(others) {
                all.extend(used[i].assumptions.iter().filter(|a| goes_with_facts(a)).cloned());
                let below = callees(&functions[i]).filter_map(|callee| proposed.get(callee));
                all.extend(below.flat_map(|contract| contract.assumptions.iter().cloned()));
            }
            if let Some(contract) = proposed.get_mut(&name).filter(|c| c.assumptions.len() != all.len()) {
                contract.assumptions = all;
                changed = true;
            }
        }
    }
}

/// Is it more than what every call of the function says by its own name?
fn goes_with_facts(assumption: &Assumption) -> bool {
    let more = matches!(
        assumption,
        Assumption::LocalExtent { .. }
            | Assumption::DescribedLocals
            | Assumption::Library(_)
            | Assumption::FreshAllocation
    );
    more || assumption.needs_defined_source()
}
