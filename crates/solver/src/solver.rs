//! The solver as the rest of lockstep sees it: a question in, an answer out, cheapest means first.
//!
//! Order: the terms themselves; a state that refuted an earlier question; the cache; clauses in this process with a small
//! limit; the same with a large one, after small questions about addresses; all solvers at once with the rest of the
//! time.

use crate::backend::{Backend, Limits, Reply};
use crate::basis::{self, Basis};
use crate::facts::Facts;
use crate::memory::Flattener;
use crate::model::{is_evaluable, model_of, refutes};
use crate::oracle::{AddressMemory, Oracle};
use crate::pool::Shared;
use crate::smt::Question;
use crate::{Answer, Query, Why, comparisons, dump, opaque, sat};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use term::eval::{Batch, Column, Model};
use term::{Arena, TermId};

/// How many states that refuted something are kept.
const KNOWN_STATES: usize = 64;

/// How many known states are evaluated at a time.
const CHUNK: usize = 16;

/// How many of Z3's resource units count as much as a conflict of the SAT solver.
const RESOURCES_A_CONFLICT: u64 = 30;

/// Where so little is allowed, a question that the SAT solver left open is left open.
const LEAST_RESOURCES: u64 = 1_000_000;

/// How solvers are run.
#[derive(Clone, Debug)]
pub struct SolverOptions {
    /// Solver commands; several race for the questions that the SAT solver left open.
    pub commands: Vec<String>,
    /// No answer takes longer than this, whatever happens.
    pub deadline: Instant,
    /// Longest time for one question.
    pub question_time: Duration,
    /// Conflicts of the SAT solver at first; none, and it is not asked.
    pub few_conflicts: u64,
    /// Conflicts of the SAT solver at most.
    pub most_conflicts: u64,
    /// Resource limit of a question, in Z3's units (about four million a second).
    pub full_resources: u64,
    /// Memory limit of each solver process.
    pub memory_mb: u32,
    /// How many pairs of a load and a store one question may expand.
    pub expansion_budget: usize,
    /// Writes each question as a file into this directory.
    pub dump_queries: Option<PathBuf>,
}

impl Default for SolverOptions {
    fn default() -> SolverOptions {
        SolverOptions {
            commands: vec!["z3".to_string()],
            deadline: Instant::now() + Duration::from_secs(60),
            question_time: Duration::from_secs(20),
            few_conflicts: 1000,
            most_conflicts: 60_000,
            full_resources: 60_000_000,
            memory_mb: 2048,
            expansion_budget: 20_000,
            dump_queries: None,
        }
    }
}

/// Counts of what happened, for reports and benchmarks.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SolverStatistics {
    /// Questions asked of us.
    pub queries: u64,
    /// Decided by the terms alone.
    pub trivial: u64,
    /// Refuted by a known state.
    pub known_state: u64,
    /// Found in the cache.
    pub cached: u64,
    /// Small questions about addresses, asked on the way.
    pub address_calls: u64,
    /// Asked of the SAT solver in this process.
    pub bit_calls: u64,
    /// Sent to solver processes.
    pub full_calls: u64,
    /// Questions that no solver answered within its limits.
    pub given_up: u64,
    /// Time spent waiting for solvers.
    pub solver_time: Duration,
    /// Question files that could not be written.
    pub dump_failures: u64,
}

impl SolverStatistics {
    /// Adds another count.
    pub fn add(&mut self, other: &SolverStatistics) {
        self.queries += other.queries;
        self.trivial += other.trivial;
        self.known_state += other.known_state;
        self.cached += other.cached;
        self.address_calls += other.address_calls;
        self.bit_calls += other.bit_calls;
        self.full_calls += other.full_calls;
        self.given_up += other.given_up;
        self.solver_time += other.solver_time;
        self.dump_failures += other.dump_failures;
    }
}

/// Answers questions about the terms of one arena.
pub struct Solver {
    options: SolverOptions,
    backends: Vec<Backend>,
    /// What was said, and the resources it was allowed.
    cache: FxHashMap<u128, (Result<Reply, Why>, u64)>,
    known: VecDeque<Model>,
    addresses: AddressMemory,
    statistics: SolverStatistics,
    home: Option<Arc<Shared>>,
}

impl Solver {
    /// A solver of its own. Processes start with the first question that needs them.
    pub fn new(options: SolverOptions) -> Solver {
        let backends = options.commands.iter().map(|command| Backend::new(command, options.memory_mb)).collect();
        Solver::with_backends(options, backends, None)
    }

    pub(crate) fn with_backends(options: SolverOptions, backends: Vec<Backend>, home: Option<Arc<Shared>>) -> Solver {
        Solver {
            options,
            backends,
            cache: FxHashMap::default(),
            known: VecDeque::new(),
            addresses: AddressMemory::default(),
            statistics: SolverStatistics::default(),
            home,
        }
    }

    /// What has happened so far.
    pub fn statistics(&self) -> SolverStatistics {
        self.statistics
    }

    /// No answer takes longer than this.
    pub fn deadline(&self) -> Instant {
        self.options.deadline
    }

    /// Limits what one question may cost: resources, and time.
    pub fn set_effort(&mut self, resources: u64, time: Duration) {
        self.options.full_resources = resources;
        self.options.question_time = time;
    }

    /// What one question may cost: resources, and time.
    pub fn effort(&self) -> (u64, Duration) {
        (self.options.full_resources, self.options.question_time)
    }

    /// How long one question may take.
    pub fn question_time(&self) -> Duration {
        self.options.question_time
    }

    /// Moves the deadline.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.options.deadline = deadline;
    }

    /// Limits the time for one question.
    pub fn set_question_time(&mut self, time: Duration) {
        self.options.question_time = time;
    }

    /// Adds a state that may refute later questions.
    pub fn learn(&mut self, state: Model) {
        if self.known.len() == KNOWN_STATES {
            self.known.pop_back();
        }
        self.known.push_front(state);
    }

    /// Is the goal a consequence of the hypotheses?
    pub fn ask(&mut self, arena: &mut Arena, query: &Query) -> Answer {
        self.statistics.queries += 1;
        if let Some(answer) = decided(arena, query) {
            self.statistics.trivial += 1;
            return answer;
        }
        if Instant::now() >= self.options.deadline {
            return Answer::Unknown(Why::Timeout);
        }
        let mut roots = query.hypotheses.clone();
        roots.push(query.goal);
        let evaluable = is_evaluable(arena, &roots);
        if evaluable && let Some(state) = self.known_refutation(arena, query) {
            self.statistics.known_state += 1;
            return Answer::Refuted(state);
        }
        // What rewrites while flattening is no business of whoever logs the rules.
        let log = arena.log.take();
        let decision = self.decide(arena, query, evaluable);
        arena.log = log;
        match decision {
            Ok(Decision::Proved) => Answer::Proved,
            Ok(Decision::Refuted(model)) => {
                self.learn(model.clone());
                Answer::Refuted(model)
            }
            Err(why) => {
                self.statistics.given_up += 1;
                Answer::Unknown(why)
            }
        }
    }

    /// Flattens the question and asks, with more and more effort.
    fn decide(&mut self, arena: &mut Arena, query: &Query, evaluable: bool) -> Result<Decision, Why> {
        let Some(mut prepared) = self.prepare(arena, query, Care::Little) else {
            self.statistics.trivial += 1;
            return Ok(Decision::Proved);
        };
        let key = key_of(&prepared.question);
        let resources = self.options.full_resources;
        match self.cache.get(&key) {
            Some((Ok(reply), _)) => {
                self.statistics.cached += 1;
                return judged(arena, query, &prepared.question, evaluable, &reply.clone());
            }
            Some((Err(why), allowed)) if *allowed >= resources => {
                self.statistics.cached += 1;
                return Err(why.clone());
            }
            _ => {}
        }
        let until = self.options.deadline.min(Instant::now() + self.options.question_time);
        let judge = |arena: &Arena, question: &Question, reply: &Reply| {
            judged(arena, query, question, evaluable, reply).is_ok()
        };
        let few = self.options.few_conflicts;
        let mut key_asked = key;
        let mut reply = self.consult_bits(arena, &prepared, few, until, &judge);
        if reply.is_none() {
            // A choice less may be worth more than a thousand conflicts.
            let Some(careful) = self.prepare(arena, query, Care::Much) else {
                self.cache.insert(key, (Ok(Reply::Unsat), resources));
                return Ok(Decision::Proved);
            };
            prepared = careful;
            key_asked = key_of(&prepared.question);
            if let Some((Ok(known), _)) = self.cache.get(&key_asked) {
                self.statistics.cached += 1;
                let known = known.clone();
                return judged(arena, query, &prepared.question, evaluable, &known);
            }
            if few > 0 {
                let many = self.options.most_conflicts.min(resources / RESOURCES_A_CONFLICT);
                reply = self.consult_bits(arena, &prepared, many, until, &judge);
            }
        }
        let reply = match reply {
            Some(reply) => Ok(reply),
            None if few > 0 && resources < LEAST_RESOURCES && prepared.opaque.is_none() => Err(Why::ResourceLimit),
            None => {
                let question = &prepared.question;
                let accept = |reply: &Reply| judge(arena, question, reply);
                self.consult(question, until, &accept)
            }
        };
        if let Some(dir) = &self.options.dump_queries
            && dump::write(dir, key_asked, arena, &prepared.question, &reply).is_err()
        {
            self.statistics.dump_failures += 1;
        }
        match &reply {
            // A failed process says nothing about the question.
            Err(Why::SolverFailed(_)) => {}
            // The values of a model are in the order of the question that was asked.
            Ok(Reply::Sat(_)) => drop(self.cache.insert(key_asked, (reply.clone(), resources))),
            _ => drop(self.cache.insert(key, (reply.clone(), resources))),
        }
        judged(arena, query, &prepared.question, evaluable, &reply?)
    }

    /// The question without stores; `None` if it has no model by that alone.
    fn prepare(&mut self, arena: &mut Arena, query: &Query, care: Care) -> Option<Prepared> {
        let mut terms = query.hypotheses.clone();
        terms.push(arena.bool_not(query.goal));
        let oracle = (care == Care::Much && self.options.few_conflicts > 0).then_some(Oracle {
            deadline: self.options.deadline,
            memory: &mut self.addresses,
            statistics: &mut self.statistics,
            fruitless: 0,
        });
        let mut flattener = Flattener::new(arena, Facts::new(oracle), self.options.expansion_budget);
        let flat = flattener.conjunction(&terms);
        let distances = flattener.into_distances();
        let mut basis = basis::change(arena, &flat, &distances);
        let theorems = comparisons::theorems(arena, &basis.assertions);
        basis.assertions.extend(theorems);
        basis.assertions.retain(|term| arena.as_bool(*term) != Some(true));
        if basis.assertions.iter().any(|term| arena.as_bool(*term) == Some(false)) {
            return None;
        }
        let question = Question::new(arena, &basis);
        let opaque = opaque::abstracted(arena, &basis.assertions).map(|assertions| {
            let basis = Basis { assertions, ..basis.clone() };
            let question = Question::new(arena, &basis);
            (basis, question)
        });
        Some(Prepared { basis, question, opaque })
    }

    fn known_refutation(&mut self, arena: &Arena, query: &Query) -> Option<Model> {
        let batch = Batch::new(arena, &[query.goal]);
        let states = self.known.make_contiguous();
        for chunk in states.chunks(CHUNK) {
            // Most states satisfy the goal: the hypotheses need not be evaluated there.
            let columns = batch.run(chunk);
            let [Column::Narrow(goal)] = &columns[..] else { return None };
            let candidates = chunk.iter().zip(goal).filter(|(_, goal)| **goal == 0);
            if let Some((state, _)) = candidates.into_iter().find(|(state, _)| refutes(arena, query, state)) {
                return Some(state.clone());
            }
        }
        None
    }

    /// Asks the SAT solver in this process. A model that is none counts as no answer.
    fn consult_bits(
        &mut self,
        arena: &Arena,
        prepared: &Prepared,
        conflicts: u64,
        until: Instant,
        judge: &dyn Fn(&Arena, &Question, &Reply) -> bool,
    ) -> Option<Reply> {
        if conflicts == 0 {
            return None;
        }
        let start = Instant::now();
        let limits = Limits { resources: conflicts, until, stop: &AtomicBool::new(false) };
        self.statistics.bit_calls += 1;
        // Without products and quotients there are more models: none then, none at all.
        let opaque = prepared.opaque.as_ref();
        let mut reply = opaque.and_then(|(basis, question)| sat::ask(arena, basis, question, limits).ok());
        if reply != Some(Reply::Unsat) {
            let few = Limits { resources: conflicts.min(self.options.few_conflicts), ..limits };
            // Their bits are seldom worth more.
            let limits = if opaque.is_some() { few } else { limits };
            reply = sat::ask(arena, &prepared.basis, &prepared.question, limits).ok();
        }
        self.statistics.solver_time += start.elapsed();
        reply.filter(|reply| *reply == Reply::Unsat || judge(arena, &prepared.question, reply))
    }

    /// Asks the solver processes.
    fn consult(&mut self, question: &Question, until: Instant, accept: &dyn Fn(&Reply) -> bool) -> Result<Reply, Why> {
        if self.backends.is_empty() {
            return Err(Why::SolverFailed("no solver is configured".to_string()));
        }
        let start = Instant::now();
        if start >= until {
            return Err(Why::Timeout);
        }
        self.statistics.full_calls += 1;
        let stop = AtomicBool::new(false);
        let limits = Limits { resources: self.options.full_resources, until, stop: &stop };
        let reply = match self.backends.as_mut_slice() {
            [backend] => backend.ask(question, &self.options, limits),
            backends => race(backends, question, &self.options, limits, accept),
        };
        self.statistics.solver_time += start.elapsed();
        reply
    }
}

/// How much is done to make a question easy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Care {
    Little,
    Much,
}

/// What is asked of solvers.
struct Prepared {
    basis: Basis,
    question: Question,
    /// The same with products and quotients as variables, if there are any.
    opaque: Option<(Basis, Question)>,
}

/// What is known about a query in the end.
enum Decision {
    Proved,
    Refuted(Model),
}

impl Drop for Solver {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            home.give_back(std::mem::take(&mut self.backends), &self.statistics);
        }
    }
}

/// What the terms alone say.
fn decided(arena: &Arena, query: &Query) -> Option<Answer> {
    let is = |term: &TermId, value: bool| arena.as_bool(*term) == Some(value);
    let contradiction = query.hypotheses.iter().any(|h| is(h, false));
    if is(&query.goal, true) || contradiction || query.hypotheses.contains(&query.goal) {
        return Some(Answer::Proved);
    }
    let vacuous = query.hypotheses.iter().all(|h| is(h, true));
    (vacuous && is(&query.goal, false)).then(|| Answer::Refuted(Model::default()))
}

/// What a reply says about the query: a model has to refute it.
fn judged(arena: &Arena, query: &Query, question: &Question, evaluable: bool, reply: &Reply) -> Result<Decision, Why> {
    let Reply::Sat(values) = reply else { return Ok(Decision::Proved) };
    let model = evaluable.then(|| model_of(arena, question, values));
    let model = model.filter(|model| refutes(arena, query, model));
    model.map(Decision::Refuted).ok_or(Why::ModelRejected)
}

/// 128 bits: two questions never share a key by accident.
pub(crate) fn key_of(question: &Question) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &question.text).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Asks all solvers at once. The first proof or checked model wins and the others are stopped.
fn race(
    backends: &mut [Backend],
    question: &Question,
    options: &SolverOptions,
    limits: Limits<'_>,
    accept: &dyn Fn(&Reply) -> bool,
) -> Result<Reply, Why> {
    std::thread::scope(|scope| {
        let (sender, replies) = mpsc::channel();
        for backend in backends {
            let sender = sender.clone();
            scope.spawn(move || {
                // Nobody listens any more once the race is decided.
                let _ = sender.send(backend.ask(question, options, limits));
            });
        }
        drop(sender);
        let mut rejected = None;
        let mut why = None;
        for reply in replies {
            match reply {
                Ok(Reply::Unsat) => {
                    limits.stop.store(true, Ordering::Relaxed);
                    return if rejected.is_some() { Err(Why::Disagreement) } else { Ok(Reply::Unsat) };
                }
                Ok(reply) if accept(&reply) => {
                    limits.stop.store(true, Ordering::Relaxed);
                    return Ok(reply);
                }
                Ok(reply) => rejected = Some(reply),
                Err(reason) => why = Some(why.map_or(reason.clone(), |known: Why| graver(known, reason))),
            }
        }
        match (rejected, why) {
            (Some(reply), _) => Ok(reply),
            (None, Some(why)) => Err(why),
            (None, None) => Err(Why::SolverFailed("no solver is configured".to_string())),
        }
    })
}

/// Of two reasons, the one that says more about the question than about one solver.
fn graver(a: Why, b: Why) -> Why {
    if matches!(a, Why::SolverFailed(_)) { b } else { a }
}
