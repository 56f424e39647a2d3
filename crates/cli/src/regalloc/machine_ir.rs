//! `lockstep check` on two files of LLVM Machine IR: before and after register allocation.

use crate::arguments::{CheckArguments, VerifyArguments};
use crate::certificates::file_name;
use crate::check::{describe_extras, outcome, patience, present, unknown};
use crate::pairing::{Matched, Names as FunctionNames, Pairing, Selection, pair_functions};
use crate::pool::{self, Finished, Timed};
use crate::progress::Progress;
use crate::status::{Failure, Status};
use crate::{complain, deliver, processor_time};
use kernel::regalloc::AllocationCertificate;
use lift_mir::Module;
use machine::Names;
use report::FunctionReport;
use search::regalloc::{self, Answer};
use search::{Outcome, Reason, ReasonKind, Statistics, Verdict};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Is it Machine IR, by its name?
pub fn is_machine_ir(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mir")
}

/// Two modules with common names.
pub struct Modules {
    pub original: Module,
    pub candidate: Module,
    pub names: Names,
    /// Processor time for reading both.
    pub reading: Duration,
}

/// Reads two files.
pub fn read(original: &Path, candidate: &Path) -> Result<Modules, Failure> {
    let start = processor_time::used();
    let mut names = Names::new();
    let mut module = |path: &Path| {
        let failed = |what: String| Failure(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("this is no text".to_string()))?;
        Module::parse(&text, &mut names).map_err(|e| Failure(format!("{}:{e}", path.display())))
    };
    let original = module(original)?;
    let candidate = module(candidate)?;
    Ok(Modules { original, candidate, names, reading: processor_time::used() - start })
}

fn names_of(module: &Module) -> Vec<FunctionNames<'_>> {
    module.functions.iter().map(|function| vec![function.name.as_str()]).collect()
}

/// Compares, reports, and says how it went.
pub fn run(arguments: &CheckArguments) -> Result<Status, Failure> {
    let start = Instant::now();
    let modules = Arc::new(read(&arguments.original, &arguments.candidate)?);
    let (ours, theirs) = (names_of(&modules.original), names_of(&modules.candidate));
    let Pairing { pairs, extras } = pair_functions(&ours, &theirs, &arguments.functions)?;
    if !extras.is_empty() {
        let names: Vec<&str> = extras.iter().map(|e| theirs[*e][0]).collect();
        complain(&describe_extras(&arguments.candidate, &names));
    }
    let effort =
        Effort { timeout: arguments.timeout, jobs: arguments.jobs, certificates: arguments.certificates.as_deref() };
    let functions = report_all(&modules, pairs, &effort)?;
    Ok(present(arguments, functions, start.elapsed(), Some(modules.reading)))
}

/// How much may be spent, and what is kept.
pub struct Effort<'a> {
    /// Time limit for each function.
    pub timeout: Duration,
    pub jobs: Option<NonZeroUsize>,
    /// Where certificates go.
    pub certificates: Option<&'a Path>,
}

/// The functions of both modules that belong together.
pub fn pairs(modules: &Modules, selected: &[Selection]) -> Result<Vec<Matched>, Failure> {
    let (ours, theirs) = (names_of(&modules.original), names_of(&modules.candidate));
    Ok(pair_functions(&ours, &theirs, selected)?.pairs)
}

/// Compares pairs and saves their certificates.
pub fn report_all(
    modules: &Arc<Modules>,
    pairs: Vec<Matched>,
    effort: &Effort<'_>,
) -> Result<Vec<FunctionReport>, Failure> {
    if let Some(directory) = effort.certificates {
        std::fs::create_dir_all(directory).map_err(|e| Failure(format!("{}: {e}", directory.display())))?;
    }
    let results = compare_all(modules, &pairs, effort);
    let mut taken = BTreeSet::new();
    let mut functions: Vec<FunctionReport> = Vec::with_capacity(results.len());
    for (pair, Timed { finished, time }) in pairs.into_iter().zip(results) {
        let other = pair.candidate.map(|c| modules.candidate.functions[c].name.clone());
        let (finished, certificate, cpu) = match finished {
            Finished::Done(Compared { outcome, certificate, cpu }) => (Finished::Done(outcome), certificate, Some(cpu)),
            Finished::Panicked(message) => (Finished::Panicked(message), None, None),
            Finished::Overdue => (Finished::Overdue, None, None),
        };
        let certificate = match (effort.certificates, certificate) {
            (Some(directory), Some(text)) => {
                let path = directory.join(file_name(&pair.name, &mut taken));
                std::fs::write(&path, text + "\n").map_err(|e| Failure(format!("{}: {e}", path.display())))?;
                Some(path.display().to_string())
            }
            _ => None,
        };
        functions.push(FunctionReport {
            file: None,
            candidate_name: other.filter(|other| *other != pair.name),
            name: pair.name,
            assumed: Vec::new(),
            outcome: outcome(finished, time),
            time,
            cpu,
            certificate,
        });
    }
    Ok(functions)
}

/// What came of one pair of functions.
pub struct Compared {
    pub outcome: Outcome,
    /// If one is wanted.
    pub certificate: Option<String>,
    /// Processor time, the kernel's included.
    pub cpu: Duration,
}

fn compare_all(modules: &Arc<Modules>, pairs: &[Matched], effort: &Effort<'_>) -> Vec<Timed<Compared>> {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let settings = pool::Settings { workers: effort.jobs.unwrap_or(cores), patience: patience(effort.timeout) };
    let progress = Progress::new(pairs.len());
    let names: Vec<String> = pairs.iter().map(|pair| pair.name.clone()).collect();
    let certify = if effort.certificates.is_some() { Certify::Yes } else { Certify::No };
    let groups = groups(modules, pairs);
    let work = {
        let (modules, pairs, groups) = (Arc::clone(modules), pairs.to_vec(), groups.clone());
        move |group: usize| {
            groups[group].clone().map(|index| timed(&modules, &pairs[index], certify)).collect::<Vec<Timed<Compared>>>()
        }
    };
    let done = |group: usize| groups[group].clone().for_each(|index| progress.advance(&names[index]));
    let mut results = Vec::with_capacity(pairs.len());
    for (group, found) in pool::run_in_order(groups.len(), settings, work, done).into_iter().enumerate() {
        match found.finished {
            Finished::Done(all) => results.extend(all),
            // One function of the group took too long: the others deserve a try of their own.
            _ => {
                let (modules, pairs, start) = (Arc::clone(modules), pairs.to_vec(), groups[group].start);
                let alone = move |index: usize| compare(&modules, &pairs[start + index], certify);
                results.extend(pool::run_in_order(groups[group].len(), settings, alone, |_| {}));
            }
        }
    }
    results
}

/// Most instructions of both sides in one job.
const LARGEST_GROUP: usize = 8000;

/// Most functions take less time than a thread to run them: neighbours share one.
fn groups(modules: &Modules, pairs: &[Matched]) -> Vec<Range<usize>> {
    let size = |pair: &Matched| {
        let theirs = pair.candidate.map_or(0, |c| modules.candidate.functions[c].instructions.len());
        modules.original.functions[pair.original].instructions.len() + theirs
    };
    let mut groups: Vec<Range<usize>> = Vec::new();
    let mut total = 0;
    for (index, pair) in pairs.iter().enumerate() {
        let size = size(pair);
        match groups.last_mut() {
            Some(group) if total + size <= LARGEST_GROUP => group.end = index + 1,
            _ => {
                groups.push(index..index + 1);
                total = 0;
            }
        }
        total += size;
    }
    groups
}

/// One function of a group. A panic is this function's own.
fn timed(modules: &Modules, pair: &Matched, certify: Certify) -> Timed<Compared> {
    let start = Instant::now();
    let result = std::panic::catch_unwind(AssertUnwindSafe(|| compare(modules, pair, certify)));
    let finished = match result {
        Ok(compared) => Finished::Done(compared),
        Err(_) => Finished::Panicked("a panic while comparing".to_string()),
    };
    Timed { finished, time: start.elapsed() }
}

/// Should a certificate be written?
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Certify {
    Yes,
    No,
}

/// Compares one pair of functions.
pub fn compare(modules: &Modules, pair: &Matched, certify: Certify) -> Compared {
    let start = processor_time::used();
    let (outcome, certificate) = decide(modules, pair, certify);
    Compared { outcome, certificate, cpu: processor_time::used() - start }
}

fn decide(modules: &Modules, pair: &Matched, certify: Certify) -> (Outcome, Option<String>) {
    let Some(candidate) = pair.candidate else {
        let reason = Reason::new(ReasonKind::MissingFunction, "the candidate has no function of that name");
        return (unknown(reason), None);
    };
    let (ours, theirs) = (&modules.original.functions[pair.original], &modules.candidate.functions[candidate]);
    let mut statistics = Statistics::default();
    let mut certificate = None;
    let verdict = match regalloc::decide(ours, theirs, &modules.names) {
        Answer::Proved(proof, claim) => {
            statistics.points = proof.counts().points;
            statistics.obligations = proof.counts().obligations;
            if certify == Certify::Yes {
                certificate = Some(AllocationCertificate::new(&claim, ours, theirs, &modules.names).to_json());
            }
            Verdict::Equivalent(proof)
        }
        Answer::Refuted(error) => Verdict::Different(Box::new(regalloc::witness(&error))),
        Answer::Unknown(reason) => Verdict::Unknown(reason),
    };
    (
        Outcome {
            verdict,
            strategy: Some("regalloc"),
            statistics,
            certificate: None,
            native: Default::default(),
            journal: Default::default(),
            inferred: None,
            hint: None,
        },
        certificate,
    )
}

/// Checks a saved certificate against two files.
pub fn verify(arguments: &VerifyArguments) -> Result<Status, Failure> {
    let shown = arguments.certificate.display();
    let text = std::fs::read_to_string(&arguments.certificate).map_err(|e| Failure(format!("{shown}: {e}")))?;
    let certificate = AllocationCertificate::from_json(&text).map_err(|what| Failure(format!("{shown}: {what}")))?;
    let mut modules = read(&arguments.original, &arguments.candidate)?;
    let find = |module: &Module, path: &Path, name: &str| {
        let missing = || Failure(format!("{}: no function `{name}`, which the certificate is about", path.display()));
        module.functions.iter().position(|f| f.name == name).ok_or_else(missing)
    };
    let ours = find(&modules.original, &arguments.original, &certificate.original)?;
    let theirs = find(&modules.candidate, &arguments.candidate, &certificate.candidate)?;
    let (ours, theirs) =
        (modules.original.functions.swap_remove(ours), modules.candidate.functions.swap_remove(theirs));
    let claim =
        certificate.claim(&ours, &theirs, &mut modules.names).map_err(|what| Failure(format!("{shown}: {what}")))?;
    let name = certificate.original.clone();
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: pool::NO_LIMIT };
    let work = move |_| kernel::regalloc::check(&ours, &theirs, &claim);
    let result = pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished);
    let (status, line) = match result {
        Some(Finished::Done(Ok(proof))) => {
            let assumptions: Vec<String> = proof.assumptions().iter().map(|a| a.to_string()).collect();
            let assumes =
                if assumptions.is_empty() { String::new() } else { format!("   assumes {}", assumptions.join(", ")) };
            (Status::Good, format!("accepted{assumes}"))
        }
        Some(Finished::Done(Err(rejected))) => {
            (Status::Unknown, format!("rejected   {}", regalloc::rejection(&rejected)))
        }
        Some(Finished::Panicked(message)) => {
            complain(&format!("internal: {message}"));
            (Status::Unknown, "rejected   internal".to_string())
        }
        Some(Finished::Overdue) | None => (Status::Unknown, "rejected   timeout".to_string()),
    };
    deliver(&format!("  {name}   {line}\n"));
    Ok(status)
}
