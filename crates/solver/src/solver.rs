//! The solver as the rest of lockstep sees it: a question in, an answer out, cheapest means first.
//!
//! Order: the terms themselves; a state that refuted an earlier question; a state in which pointers are far apart, where
//! loads read behind stores; the cache; the solver under push and pop with a small limit; a state with far pointers for
//! the other questions; all solvers at once with the rest of the time.

use crate::backend::{Backend, Limits, Reply};
use crate::basis::{self, Basis};
use crate::facts::Facts;
use crate::memory::{Flattener, has_operations};
use crate::model::{is_evaluable, model_of, refutes};
use crate::oracle::{AddressMemory, Oracle};
use crate::pool::Shared;
use crate::scattered::Scattered;
use crate::smt::Question;
use crate::{Answer, Query, Why, comparisons, dump, opaque};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use term::eval::{Batch, Column, Model, Value};
use term::{Arena, TermId};

/// How many states that refuted something are kept.
const KNOWN_STATES: usize = 64;

/// How many known states are evaluated at a time.
const CHUNK: usize = 16;

/// Z3 does not count everything it does: the time of the first tier is limited, too.
const QUICK_TIME: Duration = Duration::from_secs(1);

/// Resource limit of a question with opaque products and quotients.
const OPAQUE_RESOURCES: u64 = 4_000_000;

/// Resource limit of the search for a state in which pointers are far from each other.
const SCATTERED_RESOURCES: u64 = 50_000;

/// How solvers are run.
#[derive(Clone, Debug)]
pub struct SolverOptions {
    /// Solver commands; several race for the questions that survive the first tier.
    pub commands: Vec<String>,
    /// No answer takes longer than this, whatever happens.
    pub deadline: Instant,
    /// Longest time for one question.
    pub question_time: Duration,
    /// Resource limit of the first tier, in Z3's units (about four million a second).
    pub quick_resources: u64,
    /// Resource limit of the second tier.
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
            quick_resources: 100_000,
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
    /// Sent to the first tier.
    pub quick_calls: u64,
    /// Sent to the second tier.
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
        self.quick_calls += other.quick_calls;
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

    /// Limits what one question may cost: resources of the second tier, and time.
    pub fn set_effort(&mut self, resources: u64, time: Duration) {
        self.options.full_resources = resources;
        self.options.question_time = time;
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
        // Cheaper than to find out which accesses meet.
        let early = evaluable && has_operations(arena, &roots);
        if early && let Some(state) = self.scattered_refutation(arena, query) {
            return Answer::Refuted(state);
        }
        // What rewrites while flattening is no business of whoever logs the rules.
        let log = arena.log.take();
        let basis = self.assertions(arena, query);
        let question = basis.as_ref().map(|basis| Question::new(arena, basis));
        let opaque = basis.and_then(|basis| {
            let assertions = opaque::abstracted(arena, &basis.assertions)?;
            Some(Question::new(arena, &Basis { assertions, ..basis }))
        });
        arena.log = log;
        let Some(question) = question else {
            self.statistics.trivial += 1;
            return Answer::Proved;
        };
        let key = key_of(&question);
        let resources = self.options.full_resources;
        let cached = self.cache.get(&key).filter(|(reply, allowed)| reply.is_ok() || *allowed >= resources);
        let reply = match cached {
            Some((reply, _)) => {
                self.statistics.cached += 1;
                reply.clone()
            }
            None => {
                let start = Instant::now();
                let until = self.options.deadline.min(start + self.options.question_time);
                let quick = self.consult_quick(&question, until);
                if quick.is_err()
                    && evaluable
                    && !early
                    && let Some(state) = self.scattered_refutation(arena, query)
                {
                    return Answer::Refuted(state);
                }
                let start = Instant::now();
                let judge = |values: &[Value]| judge_values(arena, query, &question, evaluable, values);
                let reply = match quick {
                    Ok(reply) => Ok(reply),
                    Err(()) => self.consult(&question, opaque.as_ref(), until, &judge),
                };
                self.statistics.solver_time += start.elapsed();
                if let Some(dir) = &self.options.dump_queries
                    && dump::write(dir, key, arena, &question, &reply).is_err()
                {
                    self.statistics.dump_failures += 1;
                }
                // A failed process says nothing about the question.
                if !matches!(reply, Err(Why::SolverFailed(_))) {
                    self.cache.insert(key, (reply.clone(), resources));
                }
                reply
            }
        };
        match reply {
            Ok(Reply::Unsat) => Answer::Proved,
            Ok(Reply::Sat(values)) => match judge_values(arena, query, &question, evaluable, &values) {
                Some(model) => {
                    self.learn(model.clone());
                    Answer::Refuted(model)
                }
                None => Answer::Unknown(Why::ModelRejected),
            },
            Err(why) => {
                self.statistics.given_up += 1;
                Answer::Unknown(why)
            }
        }
    }

    /// The flat assertions whose conjunction has to be refuted; `None` if one of them is false.
    fn assertions(&mut self, arena: &mut Arena, query: &Query) -> Option<Basis> {
        let mut terms = query.hypotheses.clone();
        terms.push(arena.bool_not(query.goal));
        let oracle = self.backends.iter_mut().find(|backend| backend.has_quick()).map(|backend| Oracle {
            backend,
            options: &self.options,
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
        (!basis.assertions.iter().any(|term| arena.as_bool(*term) == Some(false))).then_some(basis)
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

    /// The first tier: a small limit under push and pop.
    fn consult_quick(&mut self, question: &Question, until: Instant) -> Result<Reply, ()> {
        let backend = self.backends.iter_mut().find(|backend| backend.has_quick()).ok_or(())?;
        self.statistics.quick_calls += 1;
        let until = until.min(Instant::now() + QUICK_TIME);
        let limits = Limits { resources: self.options.quick_resources, until, stop: &AtomicBool::new(false) };
        let start = Instant::now();
        let reply = backend.ask_quick(question, &self.options, limits).map_err(|_| ());
        self.statistics.solver_time += start.elapsed();
        reply
    }

    /// Looks for a state in which pointers are far from each other.
    fn scattered_refutation(&mut self, arena: &mut Arena, query: &Query) -> Option<Model> {
        let start = Instant::now();
        let log = arena.log.take();
        let scattered = Scattered::new(arena, query, self.options.expansion_budget);
        arena.log = log;
        let scattered = scattered?;
        let question = &scattered.question;
        // It has been asked before, without success.
        let key = key_of(question);
        if self.cache.contains_key(&key) {
            return None;
        }
        let backend = self.backends.iter_mut().find(|backend| backend.has_quick())?;
        self.statistics.quick_calls += 1;
        let until = self.options.deadline.min(start + self.options.question_time.min(QUICK_TIME));
        let limits = Limits { resources: SCATTERED_RESOURCES, until, stop: &AtomicBool::new(false) };
        let reply = backend.ask_quick(question, &self.options, limits);
        if let Some(dir) = &self.options.dump_queries
            && dump::write(dir, key, arena, question, &reply).is_err()
        {
            self.statistics.dump_failures += 1;
        }
        self.statistics.solver_time += start.elapsed();
        let state = match &reply {
            Ok(Reply::Sat(values)) => scattered.refutation(arena, query, values),
            _ => None,
        };
        match &state {
            Some(state) => self.learn(state.clone()),
            None if !matches!(reply, Err(Why::SolverFailed(_))) => {
                self.cache.insert(key, (reply, SCATTERED_RESOURCES));
            }
            None => {}
        }
        state
    }

    /// Asks the solvers. `opaque` has every model that the question has: without one, there is none.
    fn consult(
        &mut self,
        question: &Question,
        opaque: Option<&Question>,
        until: Instant,
        judge: &dyn Fn(&[Value]) -> Option<Model>,
    ) -> Result<Reply, Why> {
        if self.backends.is_empty() {
            return Err(Why::SolverFailed("no solver is configured".to_string()));
        }
        let stop = AtomicBool::new(false);
        if let Some(backend) = self.backends.iter_mut().find(|backend| backend.has_quick()) {
            if let Some(opaque) = opaque {
                self.statistics.quick_calls += 1;
                let until = until.min(Instant::now() + QUICK_TIME);
                let limits = Limits { resources: OPAQUE_RESOURCES, until, stop: &stop };
                if let Ok(Reply::Unsat) = backend.ask_full(opaque, &self.options, limits) {
                    return Ok(Reply::Unsat);
                }
            }
            if Instant::now() >= until {
                return Err(Why::Timeout);
            }
        }
        self.statistics.full_calls += 1;
        let limits = Limits { resources: self.options.full_resources, until, stop: &stop };
        match self.backends.as_mut_slice() {
            [backend] => backend.ask_full(question, &self.options, limits),
            backends => race(backends, question, &self.options, limits, judge),
        }
    }
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

/// The state that a solver's values describe, if it refutes the query.
fn judge_values(arena: &Arena, query: &Query, question: &Question, evaluable: bool, values: &[Value]) -> Option<Model> {
    let model = evaluable.then(|| model_of(arena, question, values))?;
    refutes(arena, query, &model).then_some(model)
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
    judge: &dyn Fn(&[Value]) -> Option<Model>,
) -> Result<Reply, Why> {
    std::thread::scope(|scope| {
        let (sender, replies) = mpsc::channel();
        for backend in backends {
            let sender = sender.clone();
            scope.spawn(move || {
                // Nobody listens any more once the race is decided.
                let _ = sender.send(backend.ask_full(question, options, limits));
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
                Ok(Reply::Sat(values)) if judge(&values).is_some() => {
                    limits.stop.store(true, Ordering::Relaxed);
                    return Ok(Reply::Sat(values));
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
