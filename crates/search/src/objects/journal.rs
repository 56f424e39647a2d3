//! What a search tried, and why each attempt failed: for people who want to know what is missing.

use crate::Reason;
use crate::reason::reason;
use kernel::{Certificate, Failure, Pair, Rejection};
use program::PointId;
use term::Arena;
use term::eval::Value;

/// Variables of a counterexample that are kept.
const MOST_VARIABLES: usize = 24;
/// Attempts that are kept; the others are only counted.
const MOST_ATTEMPTS: usize = 64;

/// One certificate that the kernel did not accept, the last of its rounds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// Who guessed it.
    pub strategy: &'static str,
    /// Places of the pairs of loop heads, addresses in both functions.
    pub heads: Vec<[u64; 2]>,
    /// How often the kernel was asked, giving up what did not hold.
    pub rounds: usize,
    /// Definitions and conditions that were left.
    pub claims: usize,
    /// What the kernel said at last.
    pub reason: Reason,
    /// A state in which what had to hold does not: variables and their values, if the solver gave one.
    pub state: Vec<(String, String)>,
}

/// The attempts of one search. Nothing is written down unless somebody wants it.
#[derive(Clone, Default, Debug)]
pub struct Journal {
    wanted: bool,
    /// In the order in which they were made.
    pub attempts: Vec<Attempt>,
    /// How many more there were.
    pub left_out: usize,
}

impl Journal {
    pub(crate) fn new(wanted: bool) -> Journal {
        Journal { wanted, ..Journal::default() }
    }

    /// Writes down why the kernel refused a certificate.
    pub(crate) fn note(
        &mut self,
        arena: &Arena,
        pair: &Pair,
        strategy: &'static str,
        rounds: usize,
        (certificate, rejection): (&Certificate, &Rejection),
    ) {
        if !self.wanted {
            return;
        }
        if self.attempts.len() >= MOST_ATTEMPTS {
            self.left_out += 1;
            return;
        }
        let place = |i: usize, point: u32| {
            let function = pair.functions()[i];
            if PointId(point).index() < function.points.len() { function.point(PointId(point)).address } else { 0 }
        };
        let heads = certificate.points.iter().map(|p| [place(0, p.original), place(1, p.candidate)]).collect();
        let claims = certificate.points.iter().map(|p| p.define.len() + p.hold.len()).sum();
        let reason = reason(rejection, pair.original(), pair.candidate());
        let attempt = Attempt { strategy, heads, rounds, claims, reason, state: state(arena, rejection) };
        // The same correlation with another effort often fails in the same way.
        if !self.attempts.contains(&attempt) {
            self.attempts.push(attempt);
        }
    }
}

/// The solver's state against an obligation.
fn state(arena: &Arena, rejection: &Rejection) -> Vec<(String, String)> {
    let Rejection::Obligation { failure: Failure::Refuted(model), .. } = rejection else { return Vec::new() };
    let text = |value: Value| match value {
        Value::Bits(bits) => Some(bits.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        Value::Memory(_) => None,
    };
    let mut out: Vec<(String, String)> =
        model.stated().filter_map(|(var, value)| Some((arena.var_name(var).to_string(), text(value)?))).collect();
    out.sort();
    out.truncate(MOST_VARIABLES);
    out
}
