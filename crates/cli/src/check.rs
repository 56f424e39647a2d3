//! `lockstep check`: compares every function of one file with its counterpart in another.

use crate::arguments::{CheckArguments, ColourChoice, ReportFormat, assert_texts, undefined};
use crate::objects::assume::Assumed;
use crate::objects::comparison::{Effort, Task, compare_all};
use crate::objects::input::read;
use crate::objects::{native, start_states};
use crate::pairing::{Matched, Pairing, pair_functions};
use crate::pool::{self, Finished};
use crate::regalloc::machine_ir;
use crate::status::{Failure, Status};
use crate::stop::Stop;
use crate::stream::Output;
use crate::{complain, deliver, nests};
use kernel::lemma::Facts;
use pair::{File, Files};
use report::{CheckReport, Colour, Detail, FunctionReport, TextStyle};
use search::{Native, Options, Outcome, Reason, ReasonKind, Session, StartState, Statistics, Strategy, Verdict};
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kernels and register allocation take nothing for granted that the option could switch off.
pub const NO_UB_ELSEWHERE: &str = "--no-ub is for functions of object files";

/// The conditions of others are the C text itself.
pub const ASSUME_ELSEWHERE: &str = "--assume is for functions of object files";

/// Compares, reports, and says how it went.
pub fn run(arguments: &CheckArguments) -> Result<Status, Failure> {
    let machine_ir = machine_ir::is_machine_ir(&arguments.original);
    let c = nests::is_c(&arguments.original) || nests::is_c(&arguments.candidate);
    let nest = c || arguments.strategy == "updates" || arguments.interface.is_some();
    if arguments.no_ub && (machine_ir || nest) {
        return Err(Failure(NO_UB_ELSEWHERE.to_string()));
    }
    if !arguments.assume.is_empty() && (machine_ir || nest) {
        return Err(Failure(ASSUME_ELSEWHERE.to_string()));
    }
    if machine_ir {
        return machine_ir::run(arguments);
    }
    if nest {
        return nests::check(arguments);
    }
    let start = Instant::now();
    let mut stop = Stop::watch(arguments.stream.time_limit)?;
    let files = Files::new(read(&arguments.original)?, read(&arguments.candidate)?, undefined(arguments.no_ub));
    let files = Arc::new(files.with_assert_texts(assert_texts(arguments.strict_assert)));
    let (original, candidate) = (files.original(), files.candidate());
    let Pairing { pairs, extras } = pair_functions(&original.names(), &candidate.names(), &arguments.functions)?;
    let assumed = arguments.assume.read(&files, &pairs)?;
    for directory in [&arguments.certificates, &arguments.dump_queries].into_iter().flatten() {
        std::fs::create_dir_all(directory).map_err(|e| Failure(format!("{}: {e}", directory.display())))?;
    }
    if !extras.is_empty() {
        complain(&describe_extras(
            &arguments.candidate,
            &extras.iter().map(|e| candidate.name(*e)).collect::<Vec<_>>(),
        ));
    }

    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    if let Some(name) = tests.iter().filter_map(|test| test.function.as_ref()).find(|n| original.find(n).is_none()) {
        return Err(Failure(format!("{}: no function `{name}`, which a test names", arguments.original.display())));
    }
    let report = |pair: &Matched, outcome, time| {
        let other = pair.candidate.map(|c| candidate.name(c));
        FunctionReport {
            file: None,
            candidate_name: candidate_name(pair, candidate, other),
            name: pair.name.clone(),
            outcome,
            time,
            cpu: None,
            certificate: None,
        }
    };
    let mut output = Output::new(arguments, pairs.iter().map(|pair| pair.name.clone()).collect());
    let task = task(&files, &pairs, arguments, tests, assumed);
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let effort = Effort { workers: arguments.jobs.unwrap_or(cores), timeout: arguments.timeout };
    let stopped = compare_all(task, &effort, &mut stop, &mut |index, outcome, time, stop| {
        output.tell(index, report(&pairs[index], outcome, time), stop);
    });
    output.finish(start.elapsed(), stopped)
}

/// Prints the report in the form that was asked for. `reading` is the processor time for the files, if it was measured.
pub fn present(
    arguments: &CheckArguments,
    functions: Vec<FunctionReport>,
    time: Duration,
    reading: Option<Duration>,
) -> Status {
    let shown = |path: &Path| path.display().to_string();
    let (original, candidate) = (shown(&arguments.original), shown(&arguments.candidate));
    let report = CheckReport { original, candidate, functions, time, reading, stopped: None };
    let style = style(arguments);
    match arguments.format {
        ReportFormat::Text => deliver(&report.render_text(style)),
        ReportFormat::Json => deliver(&report.render_json(style.detail)),
        ReportFormat::Jsonl => deliver(&report.render_jsonl(style.detail)),
    }
    Status::of(report.summary())
}

/// How the text looks, and how much is told.
pub fn style(arguments: &CheckArguments) -> TextStyle {
    let detail = if arguments.stats { Detail::Statistics } else { Detail::Brief };
    TextStyle { colour: colour(arguments.color), detail }
}

fn options(arguments: &CheckArguments, tests: Vec<StartState>) -> Options {
    let solvers = if arguments.solvers.is_empty() { vec!["z3".to_string()] } else { arguments.solvers.clone() };
    for solver in solvers.iter().filter(|solver| !is_program(solver)) {
        complain(&format!("warning: solver `{solver}` is not on the PATH; questions to it stay unanswered"));
    }
    Options {
        timeout: arguments.timeout,
        seed: arguments.seed,
        unroll: arguments.unroll,
        solvers,
        strategy: Strategy::from_name(&arguments.strategy).unwrap_or_default(),
        dump_queries: arguments.dump_queries.clone(),
        tests,
        native: if arguments.no_run { Native::Forbidden } else { Native::Allowed },
        journal: false,
    }
}

/// Does the command's first word name a file that exists, directly or on the PATH?
fn is_program(command: &str) -> bool {
    let Some(word) = command.split_whitespace().next() else { return false };
    if word.contains('/') {
        return Path::new(word).is_file();
    }
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|d| d.join(word).is_file()))
}

/// What is to be compared.
fn task(
    files: &Arc<Files>,
    pairs: &[Matched],
    arguments: &CheckArguments,
    tests: Vec<StartState>,
    assumed: Option<Assumed>,
) -> Task {
    Task {
        files: Arc::clone(files),
        pairs: pairs.to_vec(),
        session: Arc::new(Session::new(options(arguments, tests))),
        assumed,
        objects: (!arguments.no_run).then(|| native::Objects::link(files)),
    }
}

/// Work on lemmas is counted, not timed; this only ends what hangs.
pub const LEMMAS_HANG: Duration = Duration::from_secs(600);

/// What can be proved of functions around the pairs, like a job: lifting all functions may need a large stack. Without it nothing is
/// wrong, only less is provable.
pub fn find_facts(files: &Arc<Files>, pairs: Vec<[usize; 2]>) -> Facts {
    let files = Arc::clone(files);
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: LEMMAS_HANG };
    let work = move |_| {
        let mut around = files.surroundings();
        let lemmas = propose::propose(&mut around);
        files.prove(around, &lemmas, &pairs, &[])
    };
    match pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished) {
        Some(Finished::Done(facts)) => facts,
        _ => Facts::default(),
    }
}

/// The search keeps to its limit by itself; this is when we stop believing that it will. Less than the 10 % or half
/// a second by which a limit may be missed.
pub fn patience(timeout: Duration) -> Duration {
    timeout + (timeout / 12).max(Duration::from_millis(350))
}

pub fn outcome(finished: Finished<Outcome>, time: Duration) -> Outcome {
    match finished {
        Finished::Done(outcome) => outcome,
        Finished::Panicked(message) => unknown(Reason::new(ReasonKind::Internal, message)),
        Finished::Overdue => {
            unknown(Reason::new(ReasonKind::Timeout, format!("gave up after {:.1} s", time.as_secs_f64())))
        }
    }
}

pub fn unknown(reason: Reason) -> Outcome {
    Outcome {
        verdict: Verdict::Unknown(reason),
        strategy: None,
        statistics: Statistics::default(),
        certificate: None,
        native: Default::default(),
        journal: Default::default(),
    }
}

/// The candidate's name for the function, if it is another. An alias of the same function is not another.
fn candidate_name(pair: &Matched, candidate: &File, other: Option<&str>) -> Option<String> {
    let other = other?;
    let same = candidate.find(&pair.name) == pair.candidate;
    (!same).then(|| other.to_string())
}

pub fn colour(choice: ColourChoice) -> Colour {
    let wanted = match choice {
        ColourChoice::Always => true,
        ColourChoice::Never => false,
        ColourChoice::Auto => {
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            std::io::stdout().is_terminal() && !refused && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    };
    if wanted { Colour::Ansi } else { Colour::Plain }
}

/// Extras named before the rest is only counted.
const MOST_EXTRAS: usize = 20;

pub fn describe_extras(file: &Path, names: &[&str]) -> String {
    let shown = names[..names.len().min(MOST_EXTRAS)].join(", ");
    let more = match names.len().saturating_sub(MOST_EXTRAS) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let text = format!("{}: only in the candidate: {shown}{more}", file.display());
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
