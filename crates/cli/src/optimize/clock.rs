//! The clock of a run: versions are timed beside what they must beat, all on the same start states, as `lockstep measure` does it.

use super::door::alone;
use crate::measuring::{relocate, session};
use crate::objects::native;
use crate::pool::Finished;
use crate::status::Failure;
use kernel::lemma::Facts;
use measure::Claim;
use optimize::rank::{Care, Race, Speed};
use oracle::{Input, Limits, Options, Piece, Shape};
use pair::{File, Files};
use program::Undefined;
use search::{Sample, StartState, Wanted, start_samples};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use term::Bits;

/// Times versions of one function.
#[derive(Default)]
pub struct Clock {
    starts: OnceLock<Result<Starts, String>>,
}

/// What the function is run on.
struct Starts {
    inputs: Vec<Input>,
    results: Vec<Piece>,
}

/// Start states that are timed.
const STATES: usize = 16;
/// Time to look for them.
const LOOKING: Duration = Duration::from_secs(10);
/// For a call that is tried.
const LIMITS: Limits = Limits { processor: Duration::from_secs(1), clock: Duration::from_secs(30) };

impl Clock {
    /// Times two objects.
    pub fn time(&self, race: &Race<'_>) -> Result<Speed, String> {
        let starts = self.starts.get_or_init(|| Starts::find(race)).as_ref().map_err(Clone::clone)?;
        let read = |path: &Path| std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        let (rival, candidate) = (read(race.rival)?, read(race.candidate)?);
        let (rounds, layouts) = match race.care {
            Care::Quick => (41, 1),
            Care::Thorough => (201, 5),
        };
        let options = Options { rounds, layouts, seed: race.seed, limits: LIMITS };
        let (measurement, _) =
            session([&rival, &candidate], [race.function; 2], &starts.inputs, &starts.results, options)
                .map_err(|Failure(what)| what)?;
        Ok(Speed {
            speedup: measurement.speedup.median,
            interval: [measurement.speedup.low, measurement.speedup.high],
            worst: measurement.worst().speedup.median,
            faster: measurement.claim == Claim::Faster,
        })
    }
}

impl Starts {
    fn find(race: &Race<'_>) -> Result<Starts, String> {
        let arguments: Vec<(String, Bits)> =
            race.arguments.iter().map(|(name, value)| (name.clone(), Bits::new(64, *value).sext(128))).collect();
        let found = look(race.specification, race.function, race.tests, &arguments, STATES)?;
        let inputs = found.iter().filter_map(native::input).map(relocate::into_sandbox).collect();
        let file = File::read(race.specification).map_err(|error| error.to_string())?;
        let images = [file.image(), file.image()];
        let results = Shape::of(images, race.function, &[]).own.map_or_else(Vec::new, |own| own.results);
        Ok(Starts { inputs, results })
    }
}

/// Start states on which a function of a file is defined.
pub fn look(
    path: &Path,
    function: &str,
    tests: &[StartState],
    arguments: &[(String, Bits)],
    most: usize,
) -> Result<Vec<Sample>, String> {
    let read = || File::read(path).map_err(|error| error.to_string());
    let files = Files::new(read()?, read()?, Undefined::default());
    let index = files.original().find(function).ok_or_else(|| format!("no function `{function}`"))?;
    let (tests, arguments, function) = (tests.to_vec(), arguments.to_vec(), function.to_string());
    let work = move || {
        let prepared = files.prepare([index, index], &Facts::default()).map_err(|error| error.to_string())?;
        if prepared.pair.original().points.is_empty() {
            return Err(format!("`{function}` is not understood"));
        }
        let until = Instant::now() + LOOKING;
        let wanted = Wanted { tests: &tests, arguments: &arguments, most, seed: 1, until };
        let found = start_samples(&prepared.arena, &prepared.pair, &wanted);
        if let Some(name) = found.unknown.first() {
            return Err(format!("`{function}` has no argument `{name}`"));
        }
        if found.samples.is_empty() {
            let why = found.left_out.into_iter().max_by_key(|(_, count)| *count);
            let why = why.map(|(why, _)| format!(", mostly: {why}")).unwrap_or_default();
            return Err(format!("no start state on which the original's run is defined{why}"));
        }
        Ok(found.samples)
    };
    match alone(LOOKING * 2, work).0 {
        Some(Finished::Done(found)) => found,
        _ => Err("the search for start states did not end".to_string()),
    }
}
