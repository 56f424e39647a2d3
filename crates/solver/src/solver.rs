//! The solver as the rest of lockstep sees it: a question in, an answer out, cheapest means first.
//!
//! Order: the terms themselves; a state that refuted an earlier question; the cache; clauses in this process with a small
//! limit; the same with a large one, after small questions about addresses; all solvers at once with the rest of the
//! time.

use crate::backend::{Backend, Limits, Reply};
use crate::basis::{self, Basis};
use crate::effort::{EFFORTS, Effort, Word};
use crate::facts::Facts;
use crate::memory::Flattener;
use crate::model::{is_evaluable, model_of, refutes};
use crate::oracle::{AddressMemory, Oracle};
use crate::pool::Shared;
use crate::process::Stop;
use crate::record::{self, Hard, Record};
use crate::sat::{self, BitLimits};
use crate::smt::Question;
use crate::statistics::SolverStatistics;
use crate::{Answer, Query, Why, comparisons, dump, opaque};
use interrupt::Interrupt;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
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

/// A process is asked at once where a record says so; it may take so many times as much as it says, but not more than this.
const SLACK: u64 = 2;
const MOST_RECORDED: u64 = 200_000_000;

/// How solvers are run.
#[derive(Clone, Debug)]
pub struct SolverOptions {
    /// Solver commands; several race for the questions that the SAT solver left open.
    pub commands: Vec<String>,
    /// Ends every question from outside.
    pub interrupt: Interrupt,
    /// What one question may cost: those who try several ways try all of them with each of these, in this order.
    pub efforts: Vec<Effort>,
    /// What all questions together may cost, in propagations.
    pub total: u64,
    /// Conflicts of the SAT solver at first; none, and it is not asked.
    pub few_conflicts: u64,
    /// Conflicts of the SAT solver at most.
    pub most_conflicts: u64,
    /// Memory limit of each solver process.
    pub memory_mb: u32,
    /// How many pairs of a load and a store one question may expand.
    pub expansion_budget: usize,
    /// Are the SAT solver's refutations believed only if a checker confirms them?
    pub audited: bool,
    /// Writes each question as a file into this directory.
    pub dump_queries: Option<PathBuf>,
}

impl Default for SolverOptions {
    fn default() -> SolverOptions {
        SolverOptions {
            commands: vec!["z3".to_string()],
            interrupt: Interrupt::never(),
            efforts: EFFORTS.to_vec(),
            total: u64::MAX,
            few_conflicts: 1000,
            most_conflicts: 60_000,
            memory_mb: 2048,
            expansion_budget: 20_000,
            audited: false,
            dump_queries: None,
        }
    }
}

/// What was said about a question.
#[derive(Clone)]
struct Said {
    reply: Result<Reply, Why>,
    /// What it was allowed to cost.
    allowed: Effort,
    word: Word,
    /// What is worth remembering of it.
    hard: Option<Hard>,
}

/// Answers questions about the terms of one arena.
pub struct Solver {
    options: SolverOptions,
    backends: Vec<Backend>,
    cache: FxHashMap<u128, Said>,
    known: VecDeque<Model>,
    addresses: AddressMemory,
    statistics: SolverStatistics,
    /// What a question may cost now.
    effort: Effort,
    /// What is said to be hard.
    expected: Record,
    /// What was.
    record: Record,
    home: Option<Arc<Shared>>,
}

impl Solver {
    /// A solver of its own. Processes start with the first question that needs them.
    pub fn new(options: SolverOptions) -> Solver {
        let backends = options.commands.iter().map(|command| Backend::new(command, options.memory_mb)).collect();
        Solver::with_backends(options, backends, None)
    }

    pub(crate) fn with_backends(options: SolverOptions, backends: Vec<Backend>, home: Option<Arc<Shared>>) -> Solver {
        let effort = full(&options.efforts);
        Solver {
            options,
            backends,
            cache: FxHashMap::default(),
            known: VecDeque::new(),
            addresses: AddressMemory::default(),
            statistics: SolverStatistics::default(),
            effort,
            expected: Record::default(),
            record: Record::default(),
            home,
        }
    }

    /// What has happened so far.
    pub fn statistics(&self) -> SolverStatistics {
        self.statistics
    }

    /// What ends a question from outside.
    pub fn interrupt(&self) -> &Interrupt {
        &self.options.interrupt
    }

    /// From now on this ends questions from outside.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.options.interrupt = interrupt;
    }

    /// What one question may cost, for those who try several ways with little first.
    pub fn efforts(&self) -> &[Effort] {
        &self.options.efforts
    }

    /// From now on questions may cost so much; the last is for those who ask once.
    pub fn set_efforts(&mut self, efforts: &[Effort]) {
        self.options.efforts = efforts.to_vec();
        self.effort = full(efforts);
    }

    /// What the next questions may cost.
    pub fn set_effort(&mut self, effort: Effort) {
        self.effort = effort;
    }

    /// What a question may cost now.
    pub fn effort(&self) -> Effort {
        self.effort
    }

    /// Begins a new record of hard questions, and says which ones are expected to be hard.
    pub fn expect(&mut self, expected: Record) {
        self.expected = expected;
        self.record = Record::default();
    }

    /// The hard questions since then.
    pub fn record(&self) -> &Record {
        &self.record
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
            if matches!(answer, Answer::Proved) {
                self.statistics.proved[Word::Terms as usize] += 1;
            }
            return answer;
        }
        if self.options.interrupt.is_tripped() {
            return Answer::Unknown(Why::Timeout);
        }
        if self.statistics.propagations >= self.options.total {
            return Answer::Unknown(Why::ResourceLimit);
        }
        let mut roots = query.hypotheses.clone();
        roots.push(query.goal);
        let evaluable = is_evaluable(arena, &roots);
        if evaluable && let Some(state) = self.known_refutation(arena, query) {
            self.statistics.known_state += 1;
            return Answer::Refuted(state);
        }
        // What rewrites while flattening is no business of whoever logs the rules, but for an audit.
        let log = if self.options.audited { None } else { arena.log.take() };
        let decision = self.decide(arena, query, evaluable);
        arena.log = log.or(arena.log.take());
        match decision {
            Ok(Decision::Proved(word)) => {
                self.statistics.proved[word as usize] += 1;
                Answer::Proved
            }
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
        let known = (!self.expected.0.is_empty()).then(|| record::key_of(arena, query));
        let expected = known.and_then(|key| self.expected.0.get(&key).copied());
        let effort = self.effort;
        if let Some(hard @ Hard::Open(propagations)) = expected
            && propagations >= effort.propagations
        {
            self.record.note(known.unwrap_or_default(), hard);
            return Err(Why::ResourceLimit);
        }
        // What was proved once may have been allowed more, by whoever asked first.
        if matches!(expected, Some(Hard::Clauses(_) | Hard::Process(_))) {
            self.effort.propagations = effort.propagations.max(EFFORTS[1].propagations);
        }
        let mut hard = None;
        let decision = self.decide_within(arena, query, (evaluable, expected), &mut hard);
        self.effort = effort;
        if let Some(hard) = hard {
            let key = known.unwrap_or_else(|| record::key_of(arena, query));
            self.record.note(key, hard);
        }
        decision
    }

    fn decide_within(
        &mut self,
        arena: &mut Arena,
        query: &Query,
        (evaluable, expected): (bool, Option<Hard>),
        hard: &mut Option<Hard>,
    ) -> Result<Decision, Why> {
        let Some(mut prepared) = self.prepare(arena, query, Care::Little) else {
            self.statistics.trivial += 1;
            return Ok(Decision::Proved(Word::Terms));
        };
        let key = key_of(&prepared.question);
        let effort = self.effort;
        match self.cache.get(&key) {
            Some(said) if said.reply.is_ok() || said.allowed.covers(effort) => {
                self.statistics.cached += 1;
                *hard = said.hard;
                let said = said.clone();
                return judged(arena, query, &prepared.question, evaluable, &said.reply?, said.word);
            }
            _ => {}
        }
        let judge = |arena: &Arena, question: &Question, reply: &Reply| {
            judged(arena, query, question, evaluable, reply, Word::Clauses).is_ok()
        };
        let few = self.options.few_conflicts;
        let mut key_asked = key;
        let (mut word, mut conflicts) = (Word::Clauses, 0);
        let wants_much = matches!(expected, Some(Hard::Process(_) | Hard::Clauses(_)));
        let mut reply = None;
        if !wants_much {
            reply = self.consult_bits(arena, &prepared, few, &judge, &mut conflicts);
        }
        if reply.is_none() {
            // A choice less may be worth more than a thousand conflicts.
            let Some(careful) = self.prepare(arena, query, Care::Much) else {
                // Small questions may have made it so.
                self.remember(key, Ok(Reply::Unsat), Word::Clauses, None);
                return Ok(Decision::Proved(Word::Clauses));
            };
            prepared = careful;
            key_asked = key_of(&prepared.question);
            if let Some(Said { reply: Ok(known), word, .. }) = self.cache.get(&key_asked) {
                self.statistics.cached += 1;
                let (known, word) = (known.clone(), *word);
                return judged(arena, query, &prepared.question, evaluable, &known, word);
            }
            if let Some(Hard::Process(resources)) = expected
                && resources > 0
            {
                let resources = resources.saturating_mul(SLACK).min(MOST_RECORDED);
                let accept = |_: &Reply| false;
                let answer = self.consult(&prepared.question, Effort { resources, ..effort }, &accept);
                if answer == Ok(Reply::Unsat) {
                    (reply, word) = (Some(Reply::Unsat), Word::Process);
                }
            }
            if few > 0 && reply.is_none() {
                let recorded = match expected {
                    Some(Hard::Clauses(conflicts)) => conflicts.saturating_mul(SLACK),
                    _ => 0,
                };
                let many = self.options.most_conflicts.min(recorded.max(effort.resources / RESOURCES_A_CONFLICT));
                reply = self.consult_bits(arena, &prepared, many, &judge, &mut conflicts);
            }
        }
        let reply = match reply {
            Some(reply) => Ok(reply),
            None if few > 0 && effort.resources < LEAST_RESOURCES && prepared.opaque.is_none() => {
                Err(Why::ResourceLimit)
            }
            None => {
                word = Word::Process;
                let question = &prepared.question;
                let accept = |reply: &Reply| judge(arena, question, reply);
                self.consult(question, effort, &accept)
            }
        };
        if let Some(dir) = &self.options.dump_queries
            && dump::write(dir, key_asked, arena, &prepared.question, &reply).is_err()
        {
            self.statistics.dump_failures += 1;
        }
        *hard = match (&reply, word) {
            (Ok(Reply::Unsat), Word::Process) => Some(Hard::Process(effort.resources)),
            (Ok(Reply::Unsat), _) if conflicts > few => Some(Hard::Clauses(conflicts)),
            (Err(Why::ResourceLimit | Why::GaveUp(_)), _) => Some(Hard::Open(effort.propagations)),
            _ => None,
        };
        // The values of a model are in the order of the question that was asked.
        let under = if matches!(reply, Ok(Reply::Sat(_))) { key_asked } else { key };
        self.remember(under, reply.clone(), word, *hard);
        judged(arena, query, &prepared.question, evaluable, &reply?, word)
    }

    /// Keeps what was said. A process that failed, or was interrupted, says nothing about the question.
    fn remember(&mut self, key: u128, reply: Result<Reply, Why>, word: Word, hard: Option<Hard>) {
        if !matches!(reply, Err(Why::SolverFailed(_) | Why::Timeout)) {
            self.cache.insert(key, Said { reply, allowed: self.effort, word, hard });
        }
    }

    /// The question without stores; `None` if it has no model by that alone.
    fn prepare(&mut self, arena: &mut Arena, query: &Query, care: Care) -> Option<Prepared> {
        let mut terms = query.hypotheses.clone();
        terms.push(arena.bool_not(query.goal));
        let oracle = (care == Care::Much && self.options.few_conflicts > 0).then_some(Oracle {
            interrupt: &self.options.interrupt,
            audited: self.options.audited,
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
        judge: &dyn Fn(&Arena, &Question, &Reply) -> bool,
        needed: &mut u64,
    ) -> Option<Reply> {
        if conflicts == 0 {
            return None;
        }
        let (propagations, interrupt) = (self.effort.propagations, &self.options.interrupt);
        let limits = BitLimits { conflicts, propagations, interrupt, audited: self.options.audited };
        self.statistics.bit_calls += 1;
        // Without products and quotients there are more models: none then, none at all.
        let opaque = prepared.opaque.as_ref();
        let mut reply = None;
        if let Some((basis, question)) = opaque {
            let (said, work) = sat::ask(arena, basis, question, limits);
            self.statistics.worked(&work);
            (reply, *needed) = (said.ok(), work.conflicts);
        }
        if reply != Some(Reply::Unsat) {
            let few = BitLimits { conflicts: conflicts.min(self.options.few_conflicts), ..limits };
            // Their bits are seldom worth more.
            let limits = if opaque.is_some() { few } else { limits };
            let (said, work) = sat::ask(arena, &prepared.basis, &prepared.question, limits);
            self.statistics.worked(&work);
            (reply, *needed) = (said.ok(), work.conflicts);
        }
        reply.filter(|reply| *reply == Reply::Unsat || judge(arena, &prepared.question, reply))
    }

    /// Asks the solver processes.
    fn consult(&mut self, question: &Question, effort: Effort, accept: &dyn Fn(&Reply) -> bool) -> Result<Reply, Why> {
        if self.backends.is_empty() {
            return Err(Why::SolverFailed("no solver is configured".to_string()));
        }
        if self.options.interrupt.is_tripped() {
            return Err(Why::Timeout);
        }
        self.statistics.full_calls += 1;
        let decided = AtomicBool::new(false);
        let stop = Stop { interrupt: &self.options.interrupt, decided: &decided };
        let limits = Limits { resources: effort.resources, stop };
        let reply = match self.backends.as_mut_slice() {
            [backend] => backend.ask(question, &self.options, limits),
            backends => race(backends, question, &self.options, limits, accept),
        };
        self.statistics.consulted(effort, reply.is_err());
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
    Proved(Word),
    Refuted(Model),
}

impl Drop for Solver {
    fn drop(&mut self) {
        if let Some(home) = &self.home {
            home.give_back(std::mem::take(&mut self.backends), &self.statistics);
        }
    }
}

/// What those may spend who ask once.
fn full(efforts: &[Effort]) -> Effort {
    efforts.last().copied().unwrap_or(EFFORTS[1])
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
fn judged(
    arena: &Arena,
    query: &Query,
    question: &Question,
    evaluable: bool,
    reply: &Reply,
    word: Word,
) -> Result<Decision, Why> {
    let Reply::Sat(values) = reply else { return Ok(Decision::Proved(word)) };
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
                    limits.stop.decided.store(true, Ordering::Relaxed);
                    return if rejected.is_some() { Err(Why::Disagreement) } else { Ok(Reply::Unsat) };
                }
                Ok(reply) if accept(&reply) => {
                    limits.stop.decided.store(true, Ordering::Relaxed);
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
