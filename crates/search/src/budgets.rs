//! What each phase of a decision may cost: the one table of budgets.
//!
//! Time is shared out here and nowhere else; what a proof believes gets counts ([`Patience`]), and an interrupt for the
//! end of its phase ([`crate::watchdog`]).

use solver::{EFFORTS, Effort, Solver};
use std::time::Duration;

/// A phase: its part of some time, and a bound.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phase {
    numerator: u32,
    denominator: u32,
    bound: Bound,
}

#[derive(Clone, Copy, Debug)]
enum Bound {
    None,
    AtMost(Duration),
    AtLeast(Duration),
}

const fn part(numerator: u32, denominator: u32) -> Phase {
    Phase { numerator, denominator, bound: Bound::None }
}

const fn at_most(phase: Phase, ms: u64) -> Phase {
    Phase { bound: Bound::AtMost(Duration::from_millis(ms)), ..phase }
}

const fn at_least(phase: Phase, ms: u64) -> Phase {
    Phase { bound: Bound::AtLeast(Duration::from_millis(ms)), ..phase }
}

// Of the whole limit:
/// The start states that the user gave.
pub(crate) const TESTS: Phase = part(1, 4);
/// The first random runs.
pub(crate) const FIRST_RUNS: Phase = part(1, 10);
/// The search for a proof of loops: of proofs that are found at all, one in a hundred takes longer, and most files have
/// loops without a proof.
pub(crate) const LOOPS: Phase = at_least(part(1, 10), 6000);
/// Following loops without claims, once there is no proof; never more than half of what is left.
pub(crate) const UNROLLING: Phase = at_least(part(1, 15), 4000);
pub(crate) const UNROLLING_AT_MOST: Phase = part(1, 2);

/// Without a condition, where one may be inferred.
pub(crate) const PLAIN_CHECK: Phase = at_most(part(1, 4), 4000);

// Of what is left:
/// One check under a condition that is inferred.
pub(crate) const CONDITIONAL_CHECK: Phase = at_most(part(1, 3), 5000);
/// What the search for a proof of loops leaves for a second look at a pair that has none.
pub(crate) const LEFT_TO_REFUTE: Phase = at_most(part(1, 4), 5000);
/// The second random runs.
pub(crate) const SECOND_RUNS: Phase = at_most(part(1, 4), 1500);
/// A second way to a proof of loops.
pub(crate) const SECOND_STRATEGY: Phase = at_most(part(1, 4), 3000);
/// Runs from which claims about loops are guessed.
pub(crate) const SAMPLING: Phase = at_most(part(1, 8), 1000);
/// One correlation: one with hard questions leaves something to the next.
pub(crate) const ONE_PLAN: Phase = part(2, 3);
/// A counterexample that leads to loops which no run has seen.
pub(crate) const NEAR_COUNTEREXAMPLE: Phase = part(1, 8);

/// Random inputs tried before the proof, and at most after it failed.
pub(crate) const FIRST_ROUNDS: u64 = 60;
pub(crate) const SECOND_ROUNDS: u64 = 4000;
/// Points entered in these runs.
pub(crate) const FIRST_STEPS: usize = 20_000;
pub(crate) const SECOND_STEPS: usize = 20_000_000;
/// Turns for which loops are followed without claims.
pub(crate) const UNROLLED: [u32; 3] = [2, 12, 60];
/// How often a proof is tried again with one more local object.
pub(crate) const BINDING_ROUNDS: usize = 64;
/// Correlations that are tried.
pub(crate) const MOST_PLANS: usize = 24;
/// Places where the candidate waits that are added to one of them.
pub(crate) const MOST_WAITS: usize = 4;
/// Counterexamples that are used to get to loops that no run has seen.
pub(crate) const MOST_MODELS: usize = 4;

/// How much a question about loops may cost: there are many, and some are about guesses that are wrong. All correlations
/// are tried with little first, because the questions about a wrong one are often the hard ones; where nothing else
/// speaks against it, the hard ones get three times as much.
pub(crate) const LOOP_QUESTIONS: [Patience; 3] = [
    Patience { effort: Effort { resources: 600_000, propagations: 2_500_000 }, more: Some(3), guards: false },
    Patience { effort: Effort { resources: 600_000, propagations: 2_500_000 }, more: Some(3), guards: true },
    Patience { effort: Effort { resources: 1_500_000, propagations: 20_000_000 }, more: Some(5), guards: true },
];

/// How much a question to the solver may cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    pub effort: Effort,
    /// How much more where nothing else is left to try.
    more: Option<u32>,
    /// Is claimed what branches say?
    pub guards: bool,
}

impl Phase {
    /// How long it may take.
    pub fn of(self, time: Duration) -> Duration {
        let part = time * self.numerator / self.denominator;
        match self.bound {
            Bound::None => part,
            Bound::AtMost(most) => part.min(most),
            Bound::AtLeast(least) => part.max(least),
        }
    }
}

impl Patience {
    /// From now on questions may cost so much. Where that is a lot, less is tried first.
    pub fn apply(self, solver: &mut Solver) {
        let [short, _] = EFFORTS;
        if self.effort.resources > short.resources {
            solver.set_efforts(&[short, self.effort]);
        } else {
            solver.set_efforts(&[self.effort]);
        }
    }

    /// What is tried where nothing else is left.
    pub fn more(self) -> Option<Patience> {
        Some(Patience { effort: self.effort.times(self.more?), more: None, ..self })
    }
}

impl Default for Patience {
    fn default() -> Patience {
        LOOP_QUESTIONS[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_share_out_time() {
        let seconds = Duration::from_secs;
        assert_eq!(LOOPS.of(seconds(60)), seconds(6));
        assert_eq!(LOOPS.of(seconds(1)), seconds(6));
        assert_eq!(LOOPS.of(seconds(600)), seconds(60));
        assert_eq!(LEFT_TO_REFUTE.of(seconds(4)), seconds(1));
        assert_eq!(LEFT_TO_REFUTE.of(seconds(400)), seconds(5));
        assert_eq!(ONE_PLAN.of(seconds(3)), seconds(2));
    }

    #[test]
    fn little_is_tried_before_much() {
        let mut solver = Solver::new(solver::SolverOptions::default());
        Patience::default().apply(&mut solver);
        assert_eq!(solver.efforts(), [LOOP_QUESTIONS[0].effort]);
        let more = LOOP_QUESTIONS[2].more().expect("more");
        more.apply(&mut solver);
        assert_eq!(solver.efforts(), [EFFORTS[0], LOOP_QUESTIONS[2].effort.times(5)]);
        assert!(more.more().is_none());
    }
}
