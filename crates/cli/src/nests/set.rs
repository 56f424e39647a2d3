//! A directory of candidates against one original, all in one process.
//!
//! Starting compilers is most of what a small kernel costs. The original is preprocessed, lowered and compiled once, and
//! the candidates of a batch are lowered by one process of the compiler.

use super::{Job, Known, is_c, native, patience, save_all, show_report};
use crate::arguments::CheckArguments;
use crate::pool;
use crate::progress::Progress;
use crate::status::{Failure, Status};
use search::{Reason, ReasonKind};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Candidates that are lowered by one process of the compiler.
const BATCH: usize = 24;
/// Longest time that a candidate waits until its batch is lowered.
const LOWERING: Duration = Duration::from_secs(60);

/// Compares the original with every C file of a directory but itself.
pub fn check(arguments: &CheckArguments) -> Result<Status, Failure> {
    let start = Instant::now();
    let known: Arc<Known> = Arc::default();
    let candidates = candidates(&arguments.candidate, &arguments.original)?;
    let new = |candidate: &PathBuf| Job::new(arguments, candidate, Arc::clone(&known));
    let jobs: Arc<Vec<Job>> = Arc::new(candidates.iter().map(new).collect::<Result<_, _>>()?);
    let Some(first) = jobs.first() else {
        return Err(Failure(format!("{}: no C files", arguments.candidate.display())));
    };
    let workers = arguments.jobs.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    let settings = pool::Settings { workers, patience: patience(first) + LOWERING };
    let lowered: Vec<OnceLock<()>> = jobs.chunks(BATCH).map(|_| OnceLock::new()).collect();
    let work = {
        let jobs = Arc::clone(&jobs);
        move |number: usize| {
            let batch = number / BATCH;
            // Whoever comes first to a batch has all of it lowered.
            lowered[batch].get_or_init(|| lower(jobs.chunks(BATCH).nth(batch).unwrap_or_default()));
            jobs[number].run()
        }
    };
    let progress = Progress::new(jobs.len());
    let finished = pool::run_in_order(jobs.len(), settings, work, |number| {
        progress.advance(&candidates[number].display().to_string());
    });
    drop(progress);
    let (mut functions, mut failures) = (Vec::new(), 0);
    for ((job, path), timed) in jobs.iter().zip(&candidates).zip(finished) {
        let mut answers = match job.answers(Some(timed.finished), timed.time) {
            Ok(answers) => answers,
            // One file that cannot be read says nothing about the others.
            Err(Failure(what)) => {
                failures += 1;
                if failures == jobs.len() {
                    return Err(Failure(what));
                }
                vec![job.failed(Reason::new(ReasonKind::Unsupported, what))]
            }
        };
        for function in &mut answers {
            function.file = Some(path.display().to_string());
        }
        if let Some(directory) = &arguments.certificates {
            // Functions of several files have one name.
            save_all(&directory.join(path.file_name().unwrap_or_default()), job, &mut answers)?;
        }
        functions.extend(answers);
    }
    show_report(arguments, functions, start)
}

/// The C files of a directory, in order, without the original.
fn candidates(directory: &Path, original: &Path) -> Result<Vec<PathBuf>, Failure> {
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", directory.display()));
    let same = original.canonicalize().ok();
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if is_c(&path) && path.is_file() && (same.is_none() || path.canonicalize().ok() != same) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Has the compiler lower all candidates of a batch and the original. What cannot be read is told when its turn comes.
fn lower(jobs: &[Job]) {
    let Some(flat) = jobs.first().map(|job| job.options.flat) else { return };
    let mut read = Vec::new();
    for job in jobs.iter().filter(|job| job.sweep.is_none()) {
        let Ok(Ok((original, candidate))) = job.sources(&job.parameters) else { continue };
        let Ok(pairs) = job.pairs(&original, &candidate) else { continue };
        let Some(names) = pairs.into_iter().next() else { continue };
        for (source, name) in [(original, names.original), (candidate, names.candidate)] {
            if let Ok(program) = source.lower(&name, &job.parameters) {
                read.push((source, program, name));
            }
        }
    }
    let sides: Vec<native::Side<'_>> =
        read.iter().map(|(source, program, name)| native::Side { source, program, name, object: None }).collect();
    if let Some(job) = jobs.first() {
        job.known.modules.fetch(&sides, flat);
    }
}
