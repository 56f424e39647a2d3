//! Proofs of functions with loops: runs tell which loop heads are reached together and what holds there, the kernel
//! says which of these guesses are true.
//!
//! 1. [`samples`] runs both programs on inputs that make loops go round and notes the states at loop heads.
//! 2. [`correlate`] pairs the heads: how often each is reached, calls and memory at the visits.
//! 3. [`guess`] finds relations between the values seen at each pair.
//! 4. [`refine`] asks the kernel, drops what does not hold and forgets what changes, until it accepts or nothing is left
//!    to give up.
//!
//! Where no run is to be looked at, [`in_order`] pairs the heads and [`from_code`] guesses, from the code alone.
//!
//! Trust: none.

mod samples;
mod correlate;
pub(crate) mod affine;
mod columns;
mod slots;
mod fields;
mod compared;
mod conditions;
mod guards;
mod merged;
mod lanes;
mod cases;
mod loaded;
mod guess;
mod streams;
mod alone;
mod in_order;
mod from_code;
mod refine;

use crate::Journal;
use crate::budgets::{self, LOOP_QUESTIONS, MOST_MODELS, MOST_PLANS, MOST_WAITS, Patience};
use crate::objects::bindings::Bindings;
use crate::objects::inputs::Input;
use crate::objects::refute::Runner;
use correlate::Plan;
use kernel::{Certificate, CheckedProof, Failure, Pair, Rejection};
use program::Function;
use program::loops::Loops;
use refine::Choice;
use solver::Solver;
use std::time::Instant;
use symbolic::Stuck;
use term::Arena;

/// What tells a search which loops meet and what may hold there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Guidance {
    /// Runs of both programs.
    Runs,
    /// The code alone.
    Code,
}

impl Guidance {
    /// Name of the strategy in reports.
    pub fn name(self) -> &'static str {
        match self {
            Guidance::Runs => "data",
            Guidance::Code => "static",
        }
    }
}

/// What a search has done, for reports.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Effort {
    /// Correlations tried.
    pub plans: usize,
    /// Guesses made about loops, and those that held.
    pub guesses: usize,
    pub survivors: usize,
    /// Was a correlation given up because its share of the time was over?
    pub hurried: bool,
}

/// A search for the proof of one pair.
pub(crate) struct LoopSearch<'s, 'a> {
    pub pair: &'a Pair,
    pub runner: &'s mut Runner<'a>,
    pub solver: &'s mut Solver,
    pub deadline: Instant,
    pub seed: u64,
    pub unroll: u32,
    pub guidance: Guidance,
    pub patience: Patience,
    pub effort: Effort,
    pub fields: Vec<fields::Field>,
    pub compared: compared::Compared,
    /// Memory that the candidate reads, behind what it shares with the original in every visit.
    pub behind: Vec<fields::Field>,
    /// What the first correlation failed at.
    pub first: Option<String>,
    /// The local objects that the correlation before this one needed: most of them have nothing to do with it.
    pub bindings: Bindings,
    /// What was tried.
    pub journal: &'s mut Journal,
}

/// Has one of the functions a loop?
pub(crate) fn has_loops(functions: [&Function; 2]) -> bool {
    functions.iter().any(|f| !Loops::of(f).heads.is_empty())
}

impl<'a> LoopSearch<'_, 'a> {
    /// Looks for a certificate that the kernel accepts.
    pub fn prove(&mut self, arena: &mut Arena) -> (Result<CheckedProof, Rejection>, Certificate) {
        let loops = [Loops::of(self.pair.original()), Loops::of(self.pair.candidate())];
        let left = self.deadline.saturating_duration_since(Instant::now());
        let until = Instant::now() + budgets::SAMPLING.of(left);
        self.fields = fields::fields(arena, self.pair.original(), &loops[0], &self.runner.layout);
        self.compared = compared::compared(arena, self.pair.original(), &loops[0], &self.runner.layout);
        self.behind = fields::behind_registers(arena, self.pair.candidate(), &loops[1]);
        if self.guidance == Guidance::Code {
            let plans = in_order::plans(arena, self.pair.functions(), &loops, self.unroll);
            return self.try_plans(arena, plans, &[]);
        }
        let watched: Vec<_> = self.fields.iter().map(|f| f.watched).collect();
        let theirs = watched.iter().copied().chain(self.behind.iter().map(|f| f.watched)).collect();
        let watched = [watched, theirs];
        let functions = self.pair.functions();
        let mut inputs = Vec::new();
        let mut runs = samples::collect(self.runner, arena, &loops, watched.clone(), &inputs, self.seed, until);
        let mut plans = correlate::plans(functions, &loops, &runs, self.unroll);
        // Loops that no run has seen: what a solver says against a first guess tells how to get there.
        for _ in 0..MOST_MODELS {
            let missing = samples::unseen(&loops, &runs);
            let Some(plan) = plans.first().filter(|_| missing > 0) else { break };
            let near = self.near_counterexample(arena, plan, &runs);
            if near.is_empty() {
                break;
            }
            inputs.extend(near);
            let left = self.deadline.saturating_duration_since(Instant::now());
            let until = Instant::now() + budgets::SAMPLING.of(left);
            let more = samples::collect(self.runner, arena, &loops, watched.clone(), &inputs, self.seed, until);
            if samples::unseen(&loops, &more) >= missing {
                break;
            }
            plans = correlate::plans(functions, &loops, &more, self.unroll);
            runs = more;
        }
        self.try_plans(arena, plans, &runs)
    }

    fn try_plans(
        &mut self,
        arena: &mut Arena,
        plans: Vec<Plan>,
        runs: &[samples::Run],
    ) -> (Result<CheckedProof, Rejection>, Certificate) {
        let mut last = None;
        let deadline = self.deadline;
        let mut open: Vec<Plan> = plans.into_iter().take(MOST_PLANS).collect();
        self.effort.plans += open.len();
        for patience in LOOP_QUESTIONS {
            self.patience = patience;
            self.patience.apply(self.solver);
            let mut hard = Vec::new();
            for plan in open {
                // A plan with hard questions leaves something to the next.
                let left = deadline.saturating_duration_since(Instant::now());
                self.deadline = Instant::now() + budgets::ONE_PLAN.of(left);
                tracing::debug!(
                    guidance = self.guidance.name(),
                    resources = patience.effort.resources,
                    ?plan,
                    ?left,
                    "plan"
                );
                let given_up = self.solver.statistics().given_up;
                let (result, certificate) = self.try_plan(arena, &plan, runs);
                self.effort.hurried |= Instant::now() >= self.deadline;
                if let Err(rejection) = &result
                    && self.first.is_none()
                    && !matches!(rejection, Rejection::Stuck(Stuck::OutOfBudget))
                {
                    self.first =
                        Some(crate::reason::reason(rejection, self.pair.original(), self.pair.candidate()).detail);
                }
                self.deadline = deadline;
                if result.is_ok() || Instant::now() >= deadline {
                    return (result, certificate);
                }
                last.get_or_insert((result, certificate));
                if !patience.guards || self.solver.statistics().given_up > given_up {
                    hard.push(plan);
                }
            }
            open = hard;
        }
        match last {
            Some(last) => last,
            None => {
                let certificate = Bindings::default().certificate(self.pair.original(), self.pair.candidate());
                let nothing = Rejection::Malformed("nothing tells which loop heads are reached together".to_string());
                (Err(nothing), certificate)
            }
        }
    }

    /// Inputs near a state that refutes the claims of a plan.
    fn near_counterexample(&mut self, arena: &mut Arena, plan: &Plan, runs: &[samples::Run]) -> Vec<Input> {
        let deadline = self.deadline;
        self.deadline =
            Instant::now() + budgets::NEAR_COUNTEREXAMPLE.of(deadline.saturating_duration_since(Instant::now()));
        self.patience.apply(self.solver);
        let rows = correlate::align(plan, runs).rows;
        let (result, certificate) = refine::refine(self, arena, plan, &rows, Choice::default());
        self.deadline = deadline;
        match result {
            Err(Rejection::Obligation { failure: Failure::Refuted(model), .. }) => {
                self.runner.inputs_near(arena, &model, &certificate.locals, self.seed)
            }
            _ => Vec::new(),
        }
    }

    /// Asks the kernel about a plan. Where the candidate is through while the original is at a loop head, it may have left out
    /// turns in which nothing happens: it waits there.
    fn try_plan(
        &mut self,
        arena: &mut Arena,
        plan: &Plan,
        runs: &[samples::Run],
    ) -> (Result<CheckedProof, Rejection>, Certificate) {
        let (mut result, mut certificate) = self.try_choices(arena, plan, runs);
        let mut plan = plan.clone();
        for _ in 0..MOST_WAITS {
            let Some(places) = result.as_ref().err().and_then(Rejection::lone_loop) else { break };
            let mut further = None;
            for longer in correlate::with_waiting(self.pair.functions(), &plan, places) {
                if Instant::now() >= self.deadline {
                    return (result, certificate);
                }
                tracing::debug!(point = ?longer.points.last(), "the candidate waits");
                let (next, claims) = self.try_choices(arena, &longer, runs);
                if next.is_ok() {
                    return (next, claims);
                }
                if next.as_ref().is_err_and(|rejection| rejection.lone_loop().is_some_and(|at| at != places)) {
                    further = Some((longer, next, claims));
                    break;
                }
            }
            match further {
                Some(next) => (plan, result, certificate) = next,
                None => break,
            }
        }
        (result, certificate)
    }

    fn try_choices(
        &mut self,
        arena: &mut Arena,
        plan: &Plan,
        runs: &[samples::Run],
    ) -> (Result<CheckedProof, Rejection>, Certificate) {
        let rows = correlate::align(plan, runs).rows;
        let ways = self.guidance == Guidance::Runs && refine::has_merged(self, arena, plan);
        if ways {
            let choice = Choice { merged: true, ..Choice::default() };
            let (result, certificate) = refine::refine(self, arena, plan, &rows, choice);
            if result.is_ok() || Instant::now() >= self.deadline {
                return (result, certificate);
            }
        }
        let (result, certificate) = refine::refine(self, arena, plan, &rows, Choice::default());
        // Where only one side writes a block turn by turn, it is ahead or behind.
        if result.is_err() && plan.loose && correlate::calls_blocks(self.pair.candidate()) {
            for apart in program::Side::BOTH {
                let choice = Choice { apart: Some(apart), ..Choice::default() };
                let (result, certificate) = refine::refine(self, arena, plan, &rows, choice);
                if result.is_ok() || Instant::now() >= self.deadline {
                    return (result, certificate);
                }
            }
        }
        // What the original loads each time is the same term for both sides then.
        let obliged = matches!(result, Err(Rejection::Obligation { .. }));
        if obliged && refine::has_loaded(&certificate) && Instant::now() < self.deadline {
            let choice = Choice { loaded: true, ..Choice::default() };
            let (result, certificate) = refine::refine(self, arena, plan, &rows, choice);
            if result.is_ok() {
                return (result, certificate);
            }
        }
        // Small numbers do not tell how they are extended.
        let extends = |text: &String| text.contains("sext") || text.contains("zext");
        let doubtful = certificate.points.iter().any(|p| p.define.iter().any(|(_, text)| extends(text)));
        if !matches!(result, Err(Rejection::Obligation { .. })) || !doubtful || Instant::now() >= self.deadline {
            return (result, certificate);
        }
        match refine::refine(self, arena, plan, &rows, Choice { flip: true, ..Choice::default() }) {
            (Ok(proof), certificate) => (Ok(proof), certificate),
            _ => (result, certificate),
        }
    }
}
