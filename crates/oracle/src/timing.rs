//! Times of two functions on the same start states, in one sandbox and in several layouts.
//!
//! Three *contenders* share an address space: the original, the candidate, and the original again at another place, which is the control.
//! In each layout code, data and stack lie elsewhere: other pages, other offsets inside a cache line. Each start state is first tried
//! with all contenders; one on which somebody faults or does not end is left out. What a call has written is put back before the next
//! one, outside the timed part; only calls that leave memory as it was are repeated inside it.
//!
//! Trust: none. What the times mean says crate `measure`.

mod callees;
mod contender;

use crate::input::Input;
use crate::link::CannotLink;
use crate::places::parse;
use crate::seed::Seed;
use crate::shape::Piece;
use contender::Session;
use native::{Limits, NativeError};
use std::fmt;

/// How to time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Rounds in each layout; fewer if a round takes long.
    pub rounds: usize,
    /// Layouts.
    pub layouts: usize,
    /// Seed of layouts, orders and results of callees.
    pub seed: u64,
    /// For one call that is tried.
    pub limits: Limits,
}

/// What was timed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// By layout and round: ticks of the original, of the candidate, and of the original's copy.
    pub layouts: Vec<Vec<[u64; 3]>>,
    /// Calls of one contender in a round.
    pub calls: u64,
    /// Start states that were timed, by their place in the list.
    pub states: Vec<usize>,
    /// Start states that were left out, and why.
    pub left_out: Vec<(usize, String)>,
    /// Timed start states on which the contenders did not return the same, or left other memory.
    pub differing: usize,
    /// Timed start states on which denormal numbers were met.
    pub denormal: usize,
    /// Functions that neither object defines and that are called: they return at once what a list says.
    pub stand_ins: Vec<String>,
}

/// Why nothing could be timed.
#[derive(Debug)]
pub enum CannotTime {
    /// The objects cannot be linked: whose and why.
    Link(&'static str, CannotLink),
    /// The system, or code that ran away.
    Native(NativeError),
    /// No start state is left; why the first one is not.
    NoState(String),
}

impl fmt::Display for CannotTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CannotTime::Link(whose, why) => write!(f, "the {whose} cannot be linked: {why}"),
            CannotTime::Native(error) => write!(f, "{error}"),
            CannotTime::NoState(why) => write!(f, "no start state can be timed: {why}"),
        }
    }
}

impl std::error::Error for CannotTime {}

impl From<NativeError> for CannotTime {
    fn from(error: NativeError) -> CannotTime {
        CannotTime::Native(error)
    }
}

/// Ticks that a round of one contender should take, so that reading the clock does not count.
const BATCH: u64 = 20_000;
/// Ticks of all start states together: further ones are left out.
const MOST_STATES: u64 = 2_000_000;
/// Ticks of a layout: then there are fewer rounds.
const MOST_LAYOUT: u64 = 6_000_000_000;
/// The fewest rounds.
const FEWEST_ROUNDS: u64 = 21;

/// Times a function of each of two relocatable objects on these inputs. `results` is where the functions return something.
pub fn time(
    objects: [&[u8]; 2],
    functions: [&str; 2],
    inputs: &[Input],
    results: &[Piece],
    options: Options,
) -> Result<Times, CannotTime> {
    let whose = ["original", "candidate"];
    let link = |side: usize| move |error| CannotTime::Link(whose[side], error);
    let files = [parse(objects[0]).map_err(link(0))?, parse(objects[1]).map_err(link(1))?];
    let mut times = Times { states: (0..inputs.len()).collect(), ..Times::default() };
    for layout in 0..options.layouts.max(1) {
        let seed = Seed(options.seed).of(layout as u64);
        let mut session = Session::new([&files[0], &files[1]], functions, inputs, seed, layout).map_err(
            |(side, error)| match error {
                contender::Error::Link(error) => link(side)(error),
                contender::Error::Native(error) => CannotTime::Native(error),
            },
        )?;
        let tried = session.try_all(&times.states, results, options.limits)?;
        let why = tried.left_out.first().map(|(_, why)| why.clone());
        times.left_out.extend(tried.left_out);
        times.states = tried.states;
        if times.states.is_empty() {
            return Err(CannotTime::NoState(why.unwrap_or_else(|| "there is none".to_string())));
        }
        let ticks = session.ticks(&times.states)?;
        if layout == 0 {
            times.stand_ins = session.stand_ins();
            times.drop_long(&ticks);
        }
        let left: Vec<u64> = ticks.into_iter().filter(|(state, _)| times.states.contains(state)).map(|t| t.1).collect();
        let kept = |states: &[usize]| states.iter().filter(|state| times.states.contains(state)).count();
        times.differing = times.differing.max(kept(&tried.differing));
        times.denormal = times.denormal.max(kept(&tried.denormal));
        let (calls, round) = session.plan(&times.states, &left, BATCH);
        times.calls = calls;
        let most = MOST_LAYOUT / (3 * round.max(1));
        let rounds = (options.rounds as u64).min(most.max(FEWEST_ROUNDS)) as usize;
        let rounds = session.time(rounds, seed.number(0x5eed))?;
        times.layouts.push(rounds);
    }
    Ok(times)
}

impl Times {
    /// Leaves out start states behind the first ones that take long enough together.
    fn drop_long(&mut self, ticks: &[(usize, u64)]) {
        let mut total = 0u64;
        for (i, (state, ticks)) in ticks.iter().enumerate() {
            total = total.saturating_add(*ticks);
            if total > MOST_STATES && i > 0 {
                self.states.retain(|s| s != state);
                self.left_out.push((*state, "others take long enough".to_string()));
            }
        }
    }
}

#[cfg(test)]
mod tests;
