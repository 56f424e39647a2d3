//! Start states for whoever runs functions without comparing them: those that a user gives, or some of the search's own.
//!
//! Trust: none. Nothing is concluded from them.

use crate::objects::refute::{Runner, Sample};
use crate::objects::start_state::{FUEL, StartState};
use interpreter::{Effects, Seed};
use kernel::Pair;
use std::collections::{BTreeMap, HashMap};
use std::time::Instant;
use term::{Arena, Bits};

/// What start states are wanted.
#[derive(Clone, Debug)]
pub struct Wanted<'w> {
    /// The user's; if there are none, the search's own.
    pub tests: &'w [StartState],
    /// Values of arguments, by name, register or place, that win over what a start state has.
    pub arguments: &'w [(String, Bits)],
    /// How many.
    pub most: usize,
    /// Seed of the search's own.
    pub seed: u64,
    /// When to stop looking.
    pub until: Instant,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// Start states on which the original's run is defined and returns.
    pub samples: Vec<Sample>,
    /// Why others were left out, by how many.
    pub left_out: BTreeMap<String, usize>,
    /// Names of arguments that the function does not have.
    pub unknown: Vec<String>,
}

/// Random inputs that are tried.
const MOST_ROUNDS: u64 = 600;
/// Points of a run on a random input: many a random number of turns is larger than any fuel.
const OWN_FUEL: usize = 20_000;
/// Inputs of one path.
const MOST_OF_PATH: usize = 2;

/// Start states of a pair. Functions that the files do not define leave memory alone in them.
pub fn start_samples(arena: &Arena, pair: &Pair, wanted: &Wanted) -> Samples {
    let [original, candidate] = pair.functions();
    let mut runner = Runner::new(arena, original, candidate).under(pair.precondition());
    let forced = StartState { registers: wanted.arguments.to_vec(), ..StartState::default() };
    let mut found = Samples::default();
    let names = wanted.arguments.iter().map(|(name, _)| name);
    found.unknown = names.filter(|name| !runner.has_argument(name)).cloned().collect();
    if wanted.tests.is_empty() {
        let mut paths: HashMap<u64, usize> = HashMap::new();
        for round in 0..MOST_ROUNDS {
            if found.samples.len() >= wanted.most || Instant::now() >= wanted.until {
                break;
            }
            let mut input = runner.random_input(arena, Seed(wanted.seed), round);
            runner.apply(&forced, &mut input);
            runner.project(arena, &mut input);
            runner.apply(&forced, &mut input);
            (input.effects, input.fuel) = (Effects::Quiet, if wanted.arguments.is_empty() { OWN_FUEL } else { FUEL });
            match runner.sample_of(arena, &input) {
                Ok(sample) => {
                    let known = paths.entry(sample.path).or_default();
                    *known += 1;
                    if *known <= MOST_OF_PATH {
                        found.samples.push(sample);
                    }
                }
                Err(why) => *found.left_out.entry(why).or_default() += 1,
            }
        }
        return found;
    }
    for state in wanted.tests.iter().filter(|state| state.concerns(&original.name)) {
        if found.samples.len() >= wanted.most || Instant::now() >= wanted.until {
            break;
        }
        let mut input = runner.random_input(arena, Seed(state.seed), 0);
        runner.apply(state, &mut input);
        let scripts = std::mem::take(&mut input.scripts);
        runner.apply(&forced, &mut input);
        (input.effects, input.scripts) = (Effects::Quiet, scripts);
        match runner.sample_of(arena, &input) {
            Ok(sample) => found.samples.push(sample),
            Err(why) => *found.left_out.entry(why).or_default() += 1,
        }
    }
    found
}
