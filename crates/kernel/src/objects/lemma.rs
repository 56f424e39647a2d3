//! Lemmas: facts about the functions of the original's file, each proved by executing code.
//!
//! A certificate states them ([`Lemma`]; found by whoever likes): what functions return, what they do to memory, whether they
//! return at all, what their callers pass, what statics hold. [`prove`] keeps what it can show and drops the rest; a call
//! of a function of which nothing is left is an ordinary event. [`prove_stated`] refuses a list of which anything fails.
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
//! Limits count executions, terms and questions; nothing here looks at a clock.
//!
//! Trust: full.

mod statement;
mod set;
mod needed;
mod walk;
mod heads;
mod forgets;
mod judge;

pub use needed::Wanted;
pub use statement::{Chain, Claim, Constant, Convention, Effect, Lemma, Range, RegisterName, Returned};

use crate::objects::lemma::judge::{Failed, Judged, Said};
use crate::objects::lemma::needed::CallGraph;
use crate::objects::lemma::set::Set;
use program::contract::{LocalContract, LocalEffect};
use program::order::has_cycle;
use program::{Assumption, Call, Callee, Contracts, Function, Next, Signature, Undefined, jump_to_twice};
use rustc_hash::{FxHashMap, FxHashSet};
use solver::Solver;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use term::Arena;

/// Functions with more points are not executed.
const MOST_POINTS: usize = 700;
/// Executions of all functions together, in times of their number.
const MOST_ROUNDS: usize = 6;
/// Terms that all of them may make.
const MOST_TERMS: usize = 3_000_000;

/// All functions of a file. The fields are private: whoever looks for lemmas gets no more than [`File::parts`].
pub struct File {
    arena: Arena,
    functions: Vec<Function>,
    complete: bool,
    private: BTreeSet<String>,
    replaceable: BTreeSet<String>,
}

/// What a file shows of itself.
pub struct Parts<'a> {
    /// Owner of the functions' terms.
    pub arena: &'a mut Arena,
    /// The functions that could be lifted.
    pub functions: &'a [Function],
    /// Could all be lifted? Otherwise there may be call sites that nobody saw.
    pub complete: bool,
    /// Names of local functions whose address is never taken.
    pub private: &'a BTreeSet<String>,
    /// Names of functions that another file's definition can replace.
    pub replaceable: &'a BTreeSet<String>,
}

/// Two files as they surround their functions.
pub struct Surroundings {
    original: File,
    candidate: File,
    undefined: Undefined,
    /// Functions that were proved without lemmas, called as the original is.
    alone: BTreeSet<String>,
}

impl File {
    /// The functions of a file that could be lifted, with the owner of their terms; whether that is all of them; names of
    /// local functions whose address is never taken, and of those that another file's definition can replace. Only
    /// for the crate `pair`: everything is believed.
    pub fn new(
        arena: Arena,
        functions: Vec<Function>,
        complete: bool,
        private: BTreeSet<String>,
        replaceable: BTreeSet<String>,
    ) -> File {
        File { arena, functions, complete, private, replaceable }
    }

    /// What it shows.
    pub fn parts(&mut self) -> Parts<'_> {
        let File { arena, functions, complete, private, replaceable } = self;
        Parts { arena, functions, complete: *complete, private, replaceable }
    }
}

impl Surroundings {
    /// The original's file and the candidate's, and whether the original's source may be taken to be defined.
    pub fn new(original: File, candidate: File, undefined: Undefined) -> Surroundings {
        Surroundings { original, candidate, undefined, alone: BTreeSet::new() }
    }

    /// Says which functions are compared without lemmas. What is proved of them is proved for the convention of the original, so no
    /// lemma may say that their callers use another.
    pub fn compared_alone(&mut self, functions: BTreeSet<String>) {
        self.alone = functions;
    }

    /// What both files show, the original's first.
    pub fn parts(&mut self) -> [Parts<'_>; 2] {
        [self.original.parts(), self.candidate.parts()]
    }

    /// May the original's source be taken to be defined?
    pub fn undefined(&self) -> Undefined {
        self.undefined
    }

    /// Functions of either file that return twice because they jump to one that does.
    pub fn returning_twice(&self) -> BTreeSet<String> {
        let mut out = jump_to_twice(&self.original.functions);
        out.extend(jump_to_twice(&self.candidate.functions));
        out
    }

    /// Makes the original's functions ready to be executed alone.
    fn adopt(&mut self) {
        let theirs: FxHashMap<&str, &Function> =
            self.candidate.functions.iter().map(|f| (f.name.as_str(), f)).collect();
        for function in &mut self.original.functions {
            function.undefined = self.undefined;
            if let Some(counterpart) = theirs.get(function.name.as_str()) {
                function.adopt_declarations(counterpart);
            }
        }
    }
}

/// Facts about functions of two files that were proved. By default none: then less is provable. The fields are private and
/// only [`prove`] and [`prove_stated`] make one that says anything.
#[derive(Clone, Default)]
pub struct Facts(Arc<Proved>);

#[derive(Default)]
struct Proved {
    set: Set,
    calls: CallGraph,
}

impl Facts {
    /// What the comparison of two functions may use, and the lemmas that state it, with those that their proofs need.
    pub(crate) fn about(&self, functions: [&Function; 2]) -> (Contracts, Vec<Lemma>) {
        let needed = self.0.calls.for_pair(&self.0.set, functions);
        let lemmas = needed.stated();
        (needed.contracts, lemmas)
    }
}

/// Why a list of lemmas is refused.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unproved {
    /// One makes no sense of these files.
    Senseless {
        /// Which.
        lemma: Box<Lemma>,
        /// Why, in words.
        what: String,
    },
    /// One could not be shown.
    NotShown(Box<Lemma>),
}

impl fmt::Display for Unproved {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unproved::Senseless { lemma, what } => write!(f, "the lemma that {lemma} makes no sense: {what}"),
            Unproved::NotShown(lemma) => write!(f, "the lemma that {lemma} was not shown"),
        }
    }
}

/// What of some lemmas is true of the files, as far as the comparisons of some pairs may need it.
pub fn prove(around: &mut Surroundings, lemmas: &[Lemma], wanted: &[Wanted], solver: &mut Solver) -> Facts {
    let read = Set::read(lemmas, around, |_, _| Ok::<(), std::convert::Infallible>(()));
    let Ok(set) = read;
    let calls = CallGraph::of(&around.original);
    let set = calls.for_pairs(&set, around, wanted);
    Facts(Arc::new(Proved { set: prove_set(around, set, solver), calls }))
}

/// The same for a list that must be true as a whole.
pub fn prove_stated(around: &mut Surroundings, lemmas: &[Lemma], solver: &mut Solver) -> Result<Facts, Unproved> {
    let senseless = |lemma: &Lemma, what| Err(Unproved::Senseless { lemma: Box::new(lemma.clone()), what });
    let set = Set::read(lemmas, around, senseless)?;
    let calls = CallGraph::of(&around.original);
    let set = prove_set(around, set, solver);
    let shown: BTreeSet<Lemma> = set.stated().into_iter().collect();
    let is_hint = |lemma: &&Lemma| matches!(lemma, Lemma::Original { claim: Claim::AtHead { .. }, .. });
    match lemmas.iter().find(|lemma| !is_hint(lemma) && !shown.contains(lemma)) {
        Some(lemma) => Err(Unproved::NotShown(Box::new(lemma.clone()))),
        None => Ok(Facts(Arc::new(Proved { set, calls }))),
    }
}

/// What of a set is true.
fn prove_set(around: &mut Surroundings, set: Set, solver: &mut Solver) -> Set {
    let Set { contracts: mut proposed, heads } = set;
    proposed.twice = around.returning_twice();
    around.adopt();
    let file = &mut around.original;
    let ending = ending(&file.functions, &file.replaceable);
    let index: FxHashMap<String, usize> = file.functions.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect();
    let circles = Circles::of(&around.candidate.functions);
    for (name, contract) in proposed.iter_mut() {
        prepare(contract, ending.contains(name) && !circles.contains(name));
    }
    let callers = callers(&file.functions);
    let signatures: FxHashMap<String, Signature> =
        file.functions.iter().filter_map(|f| Some((f.name.clone(), f.signature.clone()?))).collect();
    let mut open: BTreeSet<usize> = (0..file.functions.len()).collect();
    let most_terms = file.arena.len().saturating_add(MOST_TERMS);
    let mut left = MOST_ROUNDS * file.functions.len();
    let mut used: Vec<Judged> = vec![Judged::default(); file.functions.len()];
    while !open.is_empty() {
        let shared = Arc::new(as_events(&proposed));
        file.functions.iter_mut().for_each(|f| f.contracts = Arc::clone(&shared));
        let mut again: BTreeSet<usize> = BTreeSet::new();
        for i in std::mem::take(&mut open) {
            let function = &file.functions[i];
            if !is_needed(&file.arena, function, &proposed) {
                continue;
            }
            let Some(rest) = left.checked_sub(1) else { return nothing(proposed, heads) };
            left = rest;
            let claims = heads.get(&function.name);
            let small = function.points.len() <= MOST_POINTS && file.arena.len() < most_terms;
            let said = Said { contracts: &proposed, signatures: &signatures, claims };
            used[i] = judge::judge(&mut file.arena, function, small, &said, solver);
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
    proposed.retain(|_, contract| set::says_something(contract));
    note_assumptions(&mut proposed, &file.functions, &callers, &index, &used);
    file.functions.iter_mut().for_each(|f| f.contracts = Arc::default());
    Set { contracts: proposed, heads }
}

/// The same, but every call is an event: what is passed is looked at there.
fn as_events(proposed: &Contracts) -> Contracts {
    let mut out = proposed.clone();
    for contract in out.values_mut() {
        contract.effect = contract.effect.max(LocalEffect::Preserves);
        set::forget_convention(contract);
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
    contract.reads.clear();
    contract.effect = LocalEffect::Unknown;
}

/// Nothing is known that the callers would show.
fn forget_callers(contract: &mut LocalContract) {
    contract.arguments.clear();
    contract.ranges.clear();
}

fn nothing(mut proposed: Contracts, heads: BTreeMap<String, heads::SlotRanges>) -> Set {
    for contract in proposed.values_mut() {
        forget_body(contract);
        forget_callers(contract);
    }
    proposed.statics.clear();
    proposed.retain(|_, contract| set::says_something(contract));
    Set { contracts: proposed, heads }
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
            let ends = |point: &program::Point| match &point.next {
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

/// Functions of the candidate's file, and those that it calls, whose calls may lead back to them.
///
/// A call that only computes is no event, so the candidate may make one that the original does not make. That it comes to an end is
/// what the callee's own pair says, and that pair may rest on this one: there is no end to calls in a circle.
struct Circles(BTreeSet<String>);

impl Circles {
    fn of(functions: &[Function]) -> Circles {
        let defined: FxHashSet<&str> = functions.iter().map(|f| f.name.as_str()).collect();
        let mut founded: FxHashSet<&str> = FxHashSet::default();
        loop {
            let known = founded.len();
            for function in functions {
                let is_own = |name: &&str| defined.contains(name) || function.defined.contains(*name);
                if callees(function).filter(is_own).all(|name| founded.contains(name)) {
                    founded.insert(&function.name);
                }
            }
            if founded.len() == known {
                break;
            }
        }
        let all = defined.iter().copied().chain(functions.iter().flat_map(callees));
        Circles(all.filter(|name| !founded.contains(name)).map(str::to_string).collect())
    }

    /// Is the candidate's version of a function among them, or something that a compiler has made of it? One that its file only
    /// calls is; one that it does not mention has no calls.
    fn contains(&self, name: &str) -> bool {
        let from = self.0.range(name.to_string()..).take_while(|other| other.starts_with(name));
        from.map(|other| &other[name.len()..]).any(|rest| rest.is_empty() || rest.starts_with('.'))
    }
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
            || !c.reads.is_empty()
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
        Failed::Later(loaded) => drop(contract.reads.remove(loaded)),
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
            // The caller may make no access of its own for which it would say these.
            | Assumption::NoVolatileCasts(_)
            | Assumption::FramePrivate
            | Assumption::Sequential
    );
    more || assumption.needs_defined_source()
}
