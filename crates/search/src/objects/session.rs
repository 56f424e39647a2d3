//! One run of the tool: options, the pool of solvers, and the decision about each pair.

use crate::budgets::{self, BINDING_ROUNDS, FIRST_ROUNDS, FIRST_STEPS, SECOND_ROUNDS, SECOND_STEPS, UNROLLED};
use crate::objects::bindings::Bindings;
use crate::objects::loops::{Effort, LoopSearch, has_loops};
use crate::objects::refute::{Refutation, Runner};
use crate::objects::timed::check_until;
use crate::reason::reason;
use crate::watchdog::interrupt_at;
use crate::{Journal, NativeRuns, Outcome, Reason, ReasonKind, StartState, Statistics, Strategy, Verdict};
use kernel::{Certificate, CheckedProof, EdgeClaim, Failure, Pair, Rejection};
use solver::{Solver, SolverOptions, SolverPool};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use symbolic::Stuck;
use term::Arena;

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// Time limit per function pair.
    pub timeout: Duration,
    /// Seed of everything random.
    pub seed: u64,
    /// Largest unroll factor.
    pub unroll: u32,
    /// Solver commands; empty for the default.
    pub solvers: Vec<String>,
    /// How to look for a proof.
    pub strategy: Strategy,
    /// Where to write every question.
    pub dump_queries: Option<PathBuf>,
    /// Start states to be tried first.
    pub tests: Vec<StartState>,
    /// May code of the programs run on the CPU? Then witnesses are replayed there, and proofs come with samples.
    pub native: Native,
    /// Is it to be written down what was tried?
    pub journal: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            timeout: Duration::from_secs(60),
            seed: 1,
            unroll: 128,
            solvers: Vec::new(),
            strategy: Strategy::Auto,
            dump_queries: None,
            tests: Vec::new(),
            native: Native::Allowed,
            journal: false,
        }
    }
}

/// Whether code of the programs may run on the CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Native {
    /// In a sandbox.
    Allowed,
    /// Not at all.
    Forbidden,
}

/// Decides pairs of functions. Shared by the threads of a run.
pub struct Session {
    options: Options,
    pool: SolverPool,
}

impl Session {
    /// A session with its own pool of solvers.
    pub fn new(options: Options) -> Session {
        let mut solver_options = SolverOptions::default();
        if !options.solvers.is_empty() {
            solver_options.commands = options.solvers.clone();
        }
        solver_options.dump_queries = options.dump_queries.clone();
        Session { options, pool: SolverPool::new(solver_options) }
    }

    /// The start states that the user gave.
    pub fn tests(&self) -> &[StartState] {
        &self.options.tests
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.options.timeout
    }

    pub(crate) fn native(&self) -> Native {
        self.options.native
    }

    /// A solver that is interrupted at a time.
    pub(crate) fn solver(&self, deadline: Instant) -> Solver {
        self.pool.take(interrupt_at(deadline))
    }

    /// What the user asked for.
    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Decides one pair. The arena is the one that was prepared with it.
    pub fn check_pair(&self, arena: &mut Arena, pair: &Pair) -> Outcome {
        self.decide(arena, pair, self.options.timeout, Second::Look)
    }

    /// Decides one pair within a time.
    pub(crate) fn check_within(&self, arena: &mut Arena, pair: &Pair, timeout: Duration) -> Outcome {
        self.decide(arena, pair, timeout, Second::Look)
    }

    /// A proof, if one is found at once. Whoever asks will ask again when more is known of the pair.
    pub fn prove_pair(&self, arena: &mut Arena, pair: &Pair) -> Option<Outcome> {
        let outcome = self.decide(arena, pair, self.options.timeout, Second::None);
        matches!(outcome.verdict, Verdict::Equivalent(_)).then_some(outcome)
    }

    fn decide(&self, arena: &mut Arena, pair: &Pair, timeout: Duration, second: Second) -> Outcome {
        let [original, candidate] = pair.functions();
        let deadline = Instant::now() + timeout;
        let start = Instant::now();
        let budget = deadline.saturating_duration_since(start);
        let seed = self.options.seed;
        // Under a condition something is assumed even of the same code: that a state satisfies it.
        if pair.precondition().is_true()
            && kernel::are_identical(arena, original, candidate)
            && let Some(outcome) = self.identical(arena, pair, deadline)
        {
            return outcome;
        }
        let mut runner = Runner::new(arena, original, candidate).under(pair.precondition());
        runner.native = self.options.native;
        if let Some(refutation) = runner.start_states(arena, &self.options.tests, start + budgets::TESTS.of(budget)) {
            return refuted(refutation, "tests");
        }
        let first = runner.random(arena, seed, 0..FIRST_ROUNDS, FIRST_STEPS, start + budgets::FIRST_RUNS.of(budget));
        if let Some(refutation) = first {
            return refuted(refutation, "random");
        }
        let mut solver = self.pool.take(interrupt_at(deadline));
        // Something is left for a second look at a pair that has no proof.
        let left = deadline.saturating_duration_since(Instant::now());
        let proof_deadline = deadline - budgets::LEFT_TO_REFUTE.of(left);
        let proof_deadline = proof_deadline.min(Instant::now() + budgets::LOOPS.of(budget));
        let mut statistics = Statistics::default();
        let guidances = if has_loops([original, candidate]) { self.options.strategy.guidances() } else { &[] };
        let (mut strategy, mut hurried) = ("events", false);
        let mut tried = None;
        let mut journal = Journal::new(self.options.journal);
        let (result, certificate) = if guidances.is_empty() {
            self.prove(arena, pair, (&mut solver, &mut journal), deadline, 0)
        } else {
            let mut best = None;
            for guidance in guidances {
                let left = proof_deadline.saturating_duration_since(Instant::now());
                // Whatever comes second gets a small share.
                let share = if best.is_some() { budgets::SECOND_STRATEGY.of(left) } else { left };
                if best.is_some() && share.is_zero() {
                    break;
                }
                let mut search = LoopSearch {
                    pair,
                    runner: &mut runner,
                    solver: &mut solver,
                    deadline: Instant::now() + share,
                    seed,
                    unroll: self.options.unroll,
                    guidance: *guidance,
                    patience: Default::default(),
                    effort: Effort::default(),
                    fields: Vec::new(),
                    compared: Default::default(),
                    behind: Vec::new(),
                    first: None,
                    bindings: Bindings::default(),
                    journal: &mut journal,
                };
                let found = search.prove(arena);
                tried = tried.or(search.first.take());
                let Effort { plans, guesses, survivors, hurried: too_long } = search.effort;
                hurried |= too_long;
                statistics.plans += plans;
                statistics.guesses += guesses;
                statistics.survivors += survivors;
                if found.0.is_ok() {
                    strategy = guidance.name();
                    best = Some(found);
                    break;
                }
                best.get_or_insert(found);
            }
            best.expect("one was tried")
        };
        statistics.solver_calls = solver_calls(&solver);
        let rejection = match result {
            Ok(proof) => {
                let certificate = stating(pair, certificate);
                return self.proved(arena, &mut runner, (proof, certificate), strategy, statistics, deadline);
            }
            Err(rejection) => rejection,
        };
        if second == Second::None {
            let verdict = Verdict::Unknown(reason(&rejection, original, candidate));
            let native = NativeRuns::default();
            let (strategy, certificate, inferred, hint) = (None, None, None, None);
            return Outcome { verdict, strategy, statistics, certificate, native, journal, inferred, hint };
        }
        let late = hurried || Instant::now() >= proof_deadline;
        let gave_up = late && matches!(rejection, Rejection::Stuck(Stuck::OutOfBudget));
        let searched = start.elapsed();
        let left = deadline.saturating_duration_since(Instant::now());
        let until = Instant::now() + budgets::SECOND_RUNS.of(left);
        if let Rejection::Obligation { failure: Failure::Refuted(model), .. } = &rejection
            && let Some(refutation) = runner.model(arena, model, &certificate.locals, seed, until)
        {
            return refuted(refutation, "model");
        }
        if let Some(refutation) = runner.random(arena, seed, FIRST_ROUNDS..SECOND_ROUNDS, SECOND_STEPS, until) {
            return refuted(refutation, "random");
        }
        if has_loops([original, candidate]) {
            let left = deadline.saturating_duration_since(Instant::now());
            let most = budgets::UNROLLING_AT_MOST.of(left);
            let until = Instant::now() + budgets::UNROLLING.of(budget).min(most);
            match self.unroll(arena, pair, &mut runner, (&mut solver, &mut journal), until) {
                Some(Unrolled::Different(refutation)) => return refuted(refutation, "unrolling"),
                Some(Unrolled::Equivalent(proof, certificate)) => {
                    let certificate = stating(pair, *certificate);
                    return self.proved(arena, &mut runner, (proof, certificate), "unrolling", statistics, deadline);
                }
                None => {}
            }
        }
        let reason = if gave_up || Instant::now() >= deadline {
            let detail = if Instant::now() >= deadline {
                format!("after {:.0} s", budget.as_secs_f64())
            } else {
                format!("no proof of the loops after {:.0} s", searched.as_secs_f64())
            };
            Reason { tried, ..Reason::new(ReasonKind::Timeout, detail) }
        } else {
            reason(&rejection, original, candidate)
        };
        Outcome {
            verdict: Verdict::Unknown(reason),
            strategy: None,
            statistics,
            certificate: None,
            native: NativeRuns::default(),
            journal,
            inferred: None,
            hint: None,
        }
    }

    /// The same code twice. Nothing is assumed, so no run of the original is needed to show that the assumptions can hold.
    fn identical(&self, arena: &mut Arena, pair: &Pair, deadline: Instant) -> Option<Outcome> {
        let certificate = Bindings::default().certificate(pair.original(), pair.candidate());
        let mut solver = self.pool.take(interrupt_at(deadline));
        let proof = kernel::check(arena, pair, &certificate, &mut solver).ok()?;
        let verdict = Verdict::Equivalent(proof);
        let statistics = Statistics::default();
        let mut native = NativeRuns::default();
        let (original, candidate) = (pair.original(), pair.candidate());
        if self.options.native == Native::Allowed && !original.points.is_empty() && !candidate.points.is_empty() {
            let mut runner = Runner::new(arena, original, candidate);
            native.samples = runner.samples(arena, self.options.seed, deadline);
        }
        Some(Outcome {
            verdict,
            strategy: Some("identical"),
            statistics,
            certificate: Some(certificate),
            native,
            journal: Journal::default(),
            inferred: None,
            hint: None,
        })
    }

    /// The verdict of a proof, which says something only if the original has a run that it is about.
    pub(crate) fn proved(
        &self,
        arena: &Arena,
        runner: &mut Runner,
        (proof, certificate): (CheckedProof, Certificate),
        strategy: &'static str,
        mut statistics: Statistics,
        deadline: Instant,
    ) -> Outcome {
        statistics.points = proof.counts().points;
        statistics.obligations = proof.counts().obligations;
        let (verdict, certificate) = match self.find_evidence(arena, runner, deadline) {
            Ok(()) => (Verdict::Equivalent(proof), Some(certificate)),
            Err(detail) => (Verdict::Unknown(Reason::new(ReasonKind::Vacuous, detail)), None),
        };
        let mut native = NativeRuns::default();
        if self.options.native == Native::Allowed && matches!(verdict, Verdict::Equivalent(_)) {
            native.samples = runner.samples(arena, self.options.seed, deadline);
        }
        let journal = Journal::default();
        Outcome {
            verdict,
            strategy: Some(strategy),
            statistics,
            certificate,
            native,
            journal,
            inferred: None,
            hint: None,
        }
    }

    /// Looks for a defined run of the original that reaches an exit. The error says why there was none.
    fn find_evidence(&self, arena: &Arena, runner: &mut Runner, deadline: Instant) -> Result<(), String> {
        let mut round = FIRST_ROUNDS;
        while runner.evidence == 0 && round < SECOND_ROUNDS && Instant::now() < deadline {
            if round > SECOND_ROUNDS / 4 {
                runner.layout.free = true;
            }
            runner.random(arena, self.options.seed, round..round + 50, SECOND_STEPS, deadline);
            round += 50;
        }
        if runner.evidence > 0 {
            return Ok(());
        }
        let why = runner.commonest_rejection().map_or(String::new(), |what| format!(", mostly: {what}"));
        Err(format!("no defined run of the original to an exit was found{why}"))
    }

    /// Follows loops for a few turns, with no claims about them. The kernel accepts that only if they end so soon; else
    /// its model of the first difference on the way speaks of the start.
    fn unroll(
        &self,
        arena: &mut Arena,
        pair: &Pair,
        runner: &mut Runner,
        (solver, journal): (&mut Solver, &mut Journal),
        until: Instant,
    ) -> Option<Unrolled> {
        for turns in UNROLLED {
            if Instant::now() >= until {
                return None;
            }
            let (result, certificate) = self.prove(arena, pair, (solver, journal), until, turns);
            match result {
                Ok(proof) => return Some(Unrolled::Equivalent(proof, Box::new(certificate))),
                Err(Rejection::Obligation { failure: Failure::Refuted(model), .. }) => {
                    let replayed = runner.model(arena, &model, &certificate.locals, self.options.seed, until);
                    if let Some(refutation) = replayed {
                        return Some(Unrolled::Different(refutation));
                    }
                }
                Err(_) => {}
            }
        }
        None
    }

    /// Asks the kernel, claiming local objects as it finds frame addresses without one. Loops without claims are followed
    /// for about so many turns.
    fn prove(
        &self,
        arena: &mut Arena,
        pair: &Pair,
        (solver, journal): (&mut Solver, &mut Journal),
        deadline: Instant,
        turns: u32,
    ) -> (Result<CheckedProof, Rejection>, Certificate) {
        let [original, candidate] = pair.functions();
        let mut bindings = Bindings::default();
        let mut rounds = 0;
        loop {
            let mut certificate = bindings.certificate(original, candidate);
            if turns > 0 {
                certificate.edges.push(EdgeClaim { from: None, to: 0, original: turns, candidate: turns, more: 0 });
            }
            let result = check_until(deadline, arena, pair, &mut certificate, solver);
            rounds += 1;
            let claimed = match &result {
                Err(Rejection::Unbound { original: at, candidate: other }) => bindings.pair(original, *at, *other),
                Err(Rejection::Stuck(Stuck::Unbound { offset, span: Some(span), index, escapes, .. })) => {
                    bindings.span(original, candidate, *span, (*offset, *index, *escapes))
                }
                Err(Rejection::Stuck(Stuck::Unbound { side, offset, escapes, index, .. })) => {
                    bindings.single(original, *side, *offset, *escapes, *index)
                }
                _ => false,
            };
            if !claimed || rounds >= BINDING_ROUNDS {
                if let Err(rejection) = &result {
                    let strategy = if turns > 0 { "unrolling" } else { "events" };
                    journal.note(arena, pair, strategy, rounds, (&certificate, rejection));
                }
                return (result, certificate);
            }
        }
    }
}

/// What following loops without claims has shown.
enum Unrolled {
    Different(Refutation),
    Equivalent(CheckedProof, Box<Certificate>),
}

/// The certificate with the lemmas that the proof may have used.
pub(crate) fn stating(pair: &Pair, mut certificate: Certificate) -> Certificate {
    certificate.lemmas = pair.lemmas().to_vec();
    certificate
}

/// The verdict of a refutation.
fn refuted(refutation: Refutation, strategy: &'static str) -> Outcome {
    let verdict = match refutation {
        Refutation::Different(witness) => Verdict::Different(witness),
        Refutation::Disputed(what) => {
            let detail = format!("interpreter and cpu disagree about an input: {what}");
            Verdict::Unknown(Reason::new(ReasonKind::Internal, detail))
        }
    };
    Outcome {
        verdict,
        strategy: Some(strategy),
        statistics: Statistics::default(),
        certificate: None,
        native: NativeRuns::default(),
        journal: Journal::default(),
        inferred: None,
        hint: None,
    }
}

/// Questions that reached a solver.
/// What follows where there is no proof.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Second {
    /// Another look for a difference.
    Look,
    /// Nothing.
    None,
}

fn solver_calls(solver: &Solver) -> usize {
    (solver.statistics().bit_calls + solver.statistics().full_calls) as usize
}
