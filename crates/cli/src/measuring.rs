//! `lockstep measure`: two functions timed against each other. docs/measure.md says what the figures mean.

pub mod relocate;
mod show;

use crate::arguments::MeasureArguments;
use crate::deliver;
use crate::objects::input::read;
use crate::objects::{native, start_states};
use crate::status::{Failure, Status};
use kernel::lemma::Facts;
use measure::{Layout, Measurement, Round};
use oracle::{Input, Limits, Options, Piece, Shape};
use pair::Files;
use program::Undefined;
use search::{Samples, StartState, Wanted, start_samples};
use std::time::{Duration, Instant};

/// What came out.
pub struct Outcome {
    pub measurement: Measurement,
    pub times: oracle::Times,
    /// Why start states were left out before anything ran, by how many.
    pub undefined: Vec<(String, usize)>,
    /// Rounds of each layout.
    pub rounds: usize,
}

/// For a call that is tried.
const LIMITS: Limits = Limits { processor: Duration::from_secs(2), clock: Duration::from_secs(60) };
/// Time to look for start states.
const LOOKING: Duration = Duration::from_secs(10);
/// Lifting and proving recurse over expressions.
const STACK: usize = 256 << 20;

/// Times the functions and prints what that says.
pub fn run(arguments: &MeasureArguments) -> Result<Status, Failure> {
    arguments.cpu.require()?;
    let outcome = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || outcome(arguments));
        let thread = thread.map_err(|error| Failure(format!("no thread: {error}")))?;
        thread
            .join()
            .unwrap_or_else(|_| Err(Failure("internal: the measurement panicked; please report it".to_string())))
    })?;
    deliver(&show::render(&arguments.function, &outcome, arguments.format));
    Ok(Status::Good)
}

fn outcome(arguments: &MeasureArguments) -> Result<Outcome, Failure> {
    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    let files = Files::new(read(&arguments.original)?, read(&arguments.candidate)?, Undefined::Excused);
    let names =
        [arguments.function.name.as_str(), arguments.function.other.as_deref().unwrap_or(&arguments.function.name)];
    for (file, (path, name)) in [files.original(), files.candidate()]
        .into_iter()
        .zip([&arguments.original, &arguments.candidate].into_iter().zip(names))
    {
        if file.find(name).is_none() {
            return Err(Failure(format!("{}: no function of the name `{name}`", path.display())));
        }
    }
    if let (Some(path), false) = (&arguments.tests, tests.iter().any(|test| test.concerns(names[0]))) {
        return Err(Failure(format!("{}: no test is for `{}`", path.display(), names[0])));
    }
    let samples = samples(arguments, &files, names, &tests)?;
    if let Some(name) = samples.unknown.first() {
        return Err(Failure(format!("`{}` has no argument `{name}`", names[0])));
    }
    let inputs: Vec<Input> = samples.samples.iter().filter_map(native::input).map(relocate::into_sandbox).collect();
    if inputs.is_empty() {
        let why = samples.left_out.iter().max_by_key(|(_, n)| **n).map(|(why, _)| format!(", mostly: {why}"));
        return Err(Failure(format!(
            "no start state on which the original's run is defined{}",
            why.unwrap_or_default()
        )));
    }
    let images = [files.original().image(), files.candidate().image()];
    let results = Shape::of(images, names[0], &[]).own.map_or_else(Vec::new, |own| own.results);
    let options = Options {
        rounds: arguments.rounds as usize,
        layouts: arguments.layouts as usize,
        seed: arguments.seed,
        limits: LIMITS,
    };
    let (measurement, times) = session(images.map(|image| image.file()), names, &inputs, &results, options)?;
    let rounds = times.layouts.iter().map(Vec::len).min().unwrap_or(0);
    // Of its own inputs the search tries as many as it needs.
    let undefined = if tests.is_empty() { Vec::new() } else { samples.left_out.into_iter().collect() };
    Ok(Outcome { measurement, times, undefined, rounds })
}

/// Times a function of each of two relocatable objects, and what that says.
pub fn session(
    objects: [&[u8]; 2],
    functions: [&str; 2],
    inputs: &[Input],
    results: &[Piece],
    options: Options,
) -> Result<(Measurement, oracle::Times), Failure> {
    let times =
        oracle::time(objects, functions, inputs, results, options).map_err(|error| Failure(error.to_string()))?;
    let round = |[original, candidate, control]: &[u64; 3]| Round {
        original: *original,
        candidate: *candidate,
        control: *control,
    };
    let layout = |rounds: &Vec<[u64; 3]>| Layout::of(&rounds.iter().map(round).collect::<Vec<_>>());
    let layouts: Option<Vec<Layout>> = times.layouts.iter().map(layout).collect();
    let measurement = layouts.and_then(Measurement::of);
    let measurement = measurement.ok_or_else(|| Failure("the clock of this machine stands still".to_string()))?;
    Ok((measurement, times))
}

/// Start states, by the interpreter; where it does not understand the candidate, the original alone decides.
fn samples(
    arguments: &MeasureArguments,
    files: &Files,
    names: [&str; 2],
    tests: &[StartState],
) -> Result<Samples, Failure> {
    let find = |file: &pair::File, name: &str| file.find(name).unwrap_or(0);
    let positions = [find(files.original(), names[0]), find(files.candidate(), names[1])];
    let wanted = Wanted {
        tests,
        arguments: &arguments.values,
        most: arguments.states as usize,
        seed: arguments.seed,
        until: Instant::now() + LOOKING,
    };
    if let Ok(prepared) = files.prepare(positions, &Facts::default()) {
        return Ok(start_samples(&prepared.arena, &prepared.pair, &wanted));
    }
    let twice = Files::new(read(&arguments.original)?, read(&arguments.original)?, Undefined::Excused);
    let prepared = twice.prepare([positions[0]; 2], &Facts::default());
    let prepared = prepared.map_err(|error| Failure(format!("no start states: {error}")))?;
    if prepared.pair.original().points.is_empty() {
        return Err(Failure(format!("no start states: `{}` is not understood", names[0])));
    }
    Ok(start_samples(&prepared.arena, &prepared.pair, &wanted))
}
