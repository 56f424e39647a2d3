//! `cargo xtask attack`: workers that make batches until the time is up, and what they found.

use crate::areas::{AREAS, Area};
use crate::batch::{self, Environment, Report};
use crate::minimise::{self, Mistake};
use crate::native::Comparison;
use crate::summary::Summary;
use crate::toolchain::{self, Runtime};
use crate::verdicts::{Prover, Verdict};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Options {
    /// No new batch begins after this time.
    pub time: Option<Duration>,
    /// No more batches than this.
    pub batches: Option<u64>,
    /// Of everything random.
    pub seed: u64,
    /// One area, or all.
    pub area: Option<Area>,
    /// Seconds for each function.
    pub timeout: u64,
    /// Inputs of each native run.
    pub inputs: usize,
    /// Batches at the same time.
    pub jobs: usize,
    /// How many pairs of a hundred carry a planted change; the others are right.
    pub planted: usize,
}

impl Default for Options {
    fn default() -> Self {
        let jobs = std::thread::available_parallelism().map_or(2, usize::from);
        Options {
            time: None,
            batches: None,
            seed: 1,
            area: None,
            timeout: 2,
            inputs: 2000,
            jobs,
            planted: batch::PLANTED,
        }
    }
}

/// At most this many reproducers of one class are made small and kept.
const KEPT: usize = 2;

struct Shared {
    options: Options,
    directory: PathBuf,
    runtime: Runtime,
    prover: Prover,
    next: AtomicU64,
    end: Option<Instant>,
    found: Mutex<Found>,
}

#[derive(Default)]
struct Found {
    summary: Summary,
    classes: HashMap<String, usize>,
    /// Reproducers, in the order in which they were found.
    lines: Vec<String>,
}

/// Attacks `binary`; reproducers go to `directory`. The summary, which the caller prints.
pub fn run(options: Options, binary: &Path, directory: &Path) -> Result<Summary, String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let shared = Shared {
        runtime: Runtime::build(directory)?,
        prover: Prover::new(binary, options.timeout)?,
        next: AtomicU64::new(0),
        end: options.time.map(|t| Instant::now() + t),
        found: Mutex::default(),
        directory: directory.into(),
        options,
    };
    let results: Vec<Result<(), String>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..shared.options.jobs.max(1))
            .map(|w| {
                scope.spawn({
                    let shared = &shared;
                    move || work(shared, w)
                })
            })
            .collect();
        workers.into_iter().map(|w| w.join().unwrap_or_else(|_| Err("a worker panicked".into()))).collect()
    });
    results.into_iter().collect::<Result<(), String>>()?;
    let found = shared.found.into_inner().map_err(|_| "a worker panicked")?;
    toolchain::write(&directory.join("pairs.tsv"), &found.summary.log)?;
    for line in &found.lines {
        println!("{line}");
    }
    Ok(found.summary)
}

fn work(shared: &Shared, worker: usize) -> Result<(), String> {
    let scratch = batch::scratch(&shared.directory, worker)?;
    let environment = Environment {
        scratch: scratch.clone(),
        runtime: shared.runtime.clone(),
        prover: shared.prover.clone(),
        inputs: shared.options.inputs,
        seed: shared.options.seed,
        planted: shared.options.planted,
    };
    loop {
        let number = shared.next.fetch_add(1, Ordering::Relaxed);
        let late = shared.end.is_some_and(|end| Instant::now() >= end);
        if late || shared.options.batches.is_some_and(|most| number >= most) {
            break;
        }
        let area = shared.options.area.unwrap_or(AREAS[(number % AREAS.len() as u64) as usize]);
        match batch::run(&environment, number, area) {
            Ok(report) => judge(shared, &environment, number, area, &report)?,
            Err(complaint) => lock(shared)?.summary.failed.push(format!("{} batch {number}: {complaint}", area.name)),
        }
    }
    std::fs::remove_dir_all(&scratch).map_err(|e| format!("{}: {e}", scratch.display()))
}

fn lock(shared: &Shared) -> Result<std::sync::MutexGuard<'_, Found>, String> {
    shared.found.lock().map_err(|_| "a worker panicked".to_string())
}

fn judge(shared: &Shared, environment: &Environment, number: u64, area: Area, report: &Report) -> Result<(), String> {
    for outcome in &report.outcomes {
        let reason = outcome
            .pair
            .judged
            .iter()
            .filter_map(|f| report.answers.get(f))
            .find(|a| a.verdict == Verdict::Unknown)
            .map_or("", |a| &a.reason);
        lock(shared)?.summary.add(area.name, number, outcome, reason);
        let (mistake, input) = match outcome.native {
            Some(Comparison::Different(input)) => (Mistake::WrongProof, input),
            None if outcome.pair.planted.is_none() && outcome.verdict == Verdict::Different => (Mistake::FalseAlarm, 0),
            _ => continue,
        };
        let (word, folder) = match mistake {
            Mistake::WrongProof => ("WRONG", "wrong"),
            Mistake::FalseAlarm => ("ALARM", "alarms"),
        };
        let kind = outcome.pair.planted.as_ref().map_or("nothing planted", |p| &p.kind);
        let class = format!("{word} {}: {}: {kind}", area.name, outcome.pair.shape);
        let seen = {
            let mut found = lock(shared)?;
            let seen = found.classes.entry(class.clone()).or_default();
            *seen += 1;
            *seen
        };
        if seen > KEPT {
            continue;
        }
        let name = format!("{}-{}-{number}-{}", area.name, environment.seed, outcome.pair.id);
        let directory = shared.directory.join(folder).join(name);
        let place = match minimise::minimise(environment, &outcome.pair, &report.compilations, mistake) {
            Some(reproducer) => reproducer.save(&directory, environment, &report.compilations)?,
            None => save_batch(&directory, &shared.options, number, area, outcome.pair.id, input)?,
        };
        lock(shared)?.lines.push(format!("{class}: {}", place.display()));
    }
    Ok(())
}

/// Writes the sources of one batch and how they are compiled, to be looked at.
pub fn write_batch(options: &Options, number: u64, area: Area, directory: &Path) -> Result<(), String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let (pairs, compilations) = batch::pairs(options.seed, number, area, options.planted);
    for folder in ["a", "b"] {
        std::fs::create_dir_all(directory.join(folder)).map_err(|e| format!("{}: {e}", directory.display()))?;
    }
    for (file, text) in ["a/program.c", "b/program.c", "harness.c"].iter().zip(batch::texts(&pairs)) {
        toolchain::write(&directory.join(file), &text)?;
    }
    toolchain::write(&directory.join("README"), &format!("{}\n{}\n", compilations.original, compilations.candidate))
}

/// A mistake that needs the other pairs of its file: all of them.
fn save_batch(
    directory: &Path,
    options: &Options,
    number: u64,
    area: Area,
    case: usize,
    input: usize,
) -> Result<PathBuf, String> {
    write_batch(options, number, area, directory)?;
    let (_, compilations) = batch::pairs(options.seed, number, area, options.planted);
    let text = format!(
        "case {case}, input {input}, only with the other pairs of the file\n{}\n{}\n",
        compilations.original, compilations.candidate
    );
    toolchain::write(&directory.join("README"), &text)?;
    Ok(directory.into())
}
