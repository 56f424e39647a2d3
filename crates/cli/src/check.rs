//! `lockstep check`: compares every function of one file with its counterpart in another.

use crate::applies::{self, Engine};
use crate::arguments::{CheckArguments, ColourChoice, ReportFormat};
use crate::objects::comparison::{Effort, Task, compare_all};
use crate::objects::{native, start_states, units};
use crate::pairing::Matched;
use crate::pool::{self, Finished};
use crate::regalloc::machine_ir;
use crate::status::{Failure, Status};
use crate::stop::Stop;
use crate::stream::Output;
use crate::{complain, deliver, nests};
use kernel::lemma::Facts;
use pair::{File, Files};
use report::{CheckReport, Colour, Detail, FunctionReport, TextStyle, Title};
use search::{Native, Options, Outcome, Reason, ReasonKind, Session, StartState, Statistics, Strategy, Verdict};
use std::io::IsTerminal;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Kernels and register allocation take nothing for granted that the option could switch off.
pub const NO_UB_ELSEWHERE: &str = "--no-ub is for functions of object files";

/// The text itself says how functions of others are called.
pub const INTERFACE_ELSEWHERE: &str =
    "--prototype, --header, --live-in and --live-out are for functions of object files";

/// The conditions of others are the C text itself.
pub const ASSUME_ELSEWHERE: &str = "--assume is for functions of object files";

/// Compares, reports, and says how it went.
pub fn run(arguments: &CheckArguments) -> Result<Status, Failure> {
    let machine_ir = machine_ir::is_machine_ir(&arguments.original);
    let c = nests::is_c(&arguments.original) || nests::is_c(&arguments.candidate);
    let nest = c || arguments.strategy == "updates" || arguments.interface.is_some();
    let engine = match (machine_ir, nest) {
        (true, _) => Engine::Allocations,
        (_, true) => Engine::Kernels,
        _ => Engine::Objects,
    };
    applies::check(arguments, engine)?;
    if machine_ir {
        return machine_ir::run(arguments);
    }
    if nest {
        return nests::check(arguments);
    }
    let start = Instant::now();
    let mut stop = Stop::watch(arguments.stream.time_limit)?;
    let units = units::read(arguments)?;
    let assumed = match &units[..] {
        [unit] => arguments.assume.read(&unit.files, &unit.pairs)?,
        _ if arguments.assume.is_empty() => None,
        _ => return Err(Failure("--assume is about one function of two object files".to_string())),
    };
    for directory in [&arguments.certificates, &arguments.dump_queries].into_iter().flatten() {
        std::fs::create_dir_all(directory).map_err(|e| Failure(format!("{}: {e}", directory.display())))?;
    }
    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    let nowhere = |name: &&String| units.iter().all(|unit| unit.files.original().find(name).is_none());
    if let Some(name) = tests.iter().filter_map(|test| test.function.as_ref()).find(nowhere) {
        return Err(Failure(format!("{}: no function `{name}`, which a test names", arguments.original.display())));
    }
    let titles = units.iter().flat_map(|unit| unit.pairs.iter().map(move |pair| (unit, pair)));
    let titles: Vec<Title<'_>> = titles
        .map(|(unit, pair)| {
            let candidate_name = candidate_name(pair, unit.files.candidate());
            Title { file: unit.label.as_deref(), name: &pair.name, candidate_name }
        })
        .collect();
    let mut output = Output::new(arguments, &titles);
    let session = Arc::new(Session::new(options(arguments, tests)));
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    let effort = Effort { workers: arguments.jobs.unwrap_or(cores), timeout: arguments.timeout };
    let (mut stopped, mut before) = (stop.now(), 0);
    for unit in &units {
        if stop.now().is_some() {
            break;
        }
        let task = Task {
            files: Arc::clone(&unit.files),
            pairs: unit.pairs.clone(),
            session: Arc::clone(&session),
            assumed: assumed.clone(),
            conditional: arguments.conditional,
            objects: (!arguments.no_run).then(|| native::Objects::link(&unit.files)),
        };
        stopped = compare_all(task, &effort, &mut stop, &mut |index, outcome, time, stop| {
            let Title { file, name, candidate_name } = titles[before + index];
            let [file, candidate_name] = [file, candidate_name].map(|text| text.map(str::to_string));
            let name = name.to_string();
            let assumed = match &assumed {
                Some(assumed) if assumed.function == unit.pairs[index].original => assumed.parts.clone(),
                _ => Vec::new(),
            };
            let (cpu, certificate) = (None, None);
            let function = FunctionReport { file, candidate_name, name, outcome, time, cpu, certificate, assumed };
            output.tell(before + index, function, stop);
        });
        before += unit.pairs.len();
    }
    output.finish(start.elapsed(), stopped.or(stop.now().filter(|_| before < titles.len())))
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
        Some(Finished::Panicked(message)) => {
            complain(&no_facts(&message));
            Facts::default()
        }
        Some(Finished::Overdue) | None => Facts::default(),
    }
}

/// What to say where the search for facts has failed.
pub fn no_facts(message: &str) -> String {
    format!("internal error: no facts about functions: {message}; less can be proved")
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
        inferred: None,
        hint: None,
    }
}

/// The candidate's name for the function, if it is another. An alias of the same function is not another.
fn candidate_name<'a>(pair: &Matched, candidate: &'a File) -> Option<&'a str> {
    let other = pair.candidate?;
    (candidate.find(&pair.name) != Some(other)).then(|| candidate.name(other))
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
