//! `lockstep check` on two files of LLVM Machine IR: before and after register allocation.

use crate::arguments::{CheckArguments, Format};
use crate::check::{colour, describe_extras, outcome, patience, unknown};
use crate::pairing::{Names as FunctionNames, Pair, Pairing, pair_functions};
use crate::pool::{self, Timed};
use crate::progress::Progress;
use crate::status::{Failure, Status};
use crate::{complain, deliver};
use lift_mir::Module;
use machine::Names;
use report::{CheckReport, Detail, FunctionReport, TextStyle};
use search::regalloc::{self, Answer};
use search::{Outcome, Reason, ReasonKind, Statistics, Verdict};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// Is it Machine IR, by its name?
pub fn is_machine_ir(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "mir")
}

/// Two modules with common names.
pub struct Modules {
    pub original: Module,
    pub candidate: Module,
    pub names: Names,
}

/// Reads two files.
pub fn read(original: &Path, candidate: &Path) -> Result<Modules, Failure> {
    let mut names = Names::new();
    let mut module = |path: &Path| {
        let failed = |what: String| Failure(format!("{}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|e| failed(e.to_string()))?;
        let text = String::from_utf8(bytes).map_err(|_| failed("this is no text".to_string()))?;
        Module::parse(&text, &mut names).map_err(|e| Failure(format!("{}:{e}", path.display())))
    };
    let original = module(original)?;
    let candidate = module(candidate)?;
    Ok(Modules { original, candidate, names })
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
    let results = compare_all(&modules, &pairs, arguments);
    let functions: Vec<FunctionReport> = pairs
        .into_iter()
        .zip(results)
        .map(|(pair, Timed { finished, time })| {
            let other = pair.candidate.map(|c| theirs[c][0].to_string());
            FunctionReport {
                candidate_name: other.filter(|other| *other != pair.name),
                name: pair.name,
                outcome: outcome(finished, time),
                time,
                certificate: None,
            }
        })
        .collect();
    let shown = |path: &Path| path.display().to_string();
    let (original, candidate) = (shown(&arguments.original), shown(&arguments.candidate));
    let report = CheckReport { original, candidate, functions, time: start.elapsed() };
    let detail = if arguments.stats { Detail::Statistics } else { Detail::Brief };
    match arguments.format {
        Format::Text => deliver(&report.render_text(TextStyle { colour: colour(arguments.color), detail })),
        Format::Json => deliver(&report.render_json(detail)),
    }
    Ok(Status::of(report.summary()))
}

fn compare_all(modules: &Arc<Modules>, pairs: &[Pair], arguments: &CheckArguments) -> Vec<Timed<Outcome>> {
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let settings = pool::Settings { workers: arguments.jobs.unwrap_or(cores), patience: patience(arguments.timeout) };
    let progress = Progress::new(pairs.len());
    let names: Vec<String> = pairs.iter().map(|pair| pair.name.clone()).collect();
    let (modules, pairs) = (Arc::clone(modules), pairs.to_vec());
    let work = move |index: usize| compare(&modules, &pairs[index]);
    pool::run_in_order(names.len(), settings, work, |index| progress.advance(&names[index]))
}

fn compare(modules: &Modules, pair: &Pair) -> Outcome {
    let Some(candidate) = pair.candidate else {
        return unknown(Reason::new(ReasonKind::MissingFunction, "the candidate has no function of that name"));
    };
    let (ours, theirs) = (&modules.original.functions[pair.original], &modules.candidate.functions[candidate]);
    let answer = regalloc::decide(ours, theirs, &modules.names);
    let (verdict, points, obligations) = match answer {
        Answer::Proved(proof, _) => {
            let counts = proof.counts();
            (Verdict::Equivalent(proof), counts.points, counts.obligations)
        }
        Answer::Refuted(error) => (Verdict::Different(Box::new(regalloc::witness(&error))), 0, 0),
        Answer::Unknown(reason) => (Verdict::Unknown(reason), 0, 0),
    };
    let statistics = Statistics { points, obligations, ..Statistics::default() };
    Outcome { verdict, strategy: Some("regalloc"), statistics, certificate: None }
}
