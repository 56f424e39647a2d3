//! C kernels on the command line: `check`, `verify` and `show` for `.c` and `.i` files.

use crate::arguments::{CheckArguments, ReportFormat};
use crate::check::colour;
use crate::pairing::Selection;
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use crate::{certificates, deliver};
use agreement::Agreement;
use lift_c::{Error, Preprocessed, Settings, Source, Texts};
use lowered::Confirmation;
use program::Assumption;
use report::nests::{KernelFunction, KernelReport};
use search::nests::{KernelOptions, KernelOutcome, KernelVerdict, check_kernels};
use search::{Reason, ReasonKind, WitnessKind};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use updates::Floating;

mod agreement;
mod driver;
mod lowered;
mod modules;
mod native;
mod objects;
mod replay;
mod set;
mod sizes;
mod show;
mod sweep;
mod verify;

pub use show::show;
pub use sweep::Sweep;
pub use verify::verify;

/// Is the file C, by its name?
pub fn is_c(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "i")
}

/// What is needed to lower and compare, shared with the worker.
#[derive(Clone)]
struct Job {
    original: std::path::PathBuf,
    candidate: std::path::PathBuf,
    interface: Option<std::path::PathBuf>,
    settings: Settings,
    selections: Vec<Selection>,
    parameters: Vec<(String, i64)>,
    /// Which of them are the files' own: nobody gave them.
    own: Vec<String>,
    sweep: Option<Sweep>,
    options: KernelOptions,
    run: Run,
    known: Arc<Known>,
}

/// What compilers said before: sizes and functions of one job have texts in common.
#[derive(Default)]
struct Known {
    texts: Texts,
    modules: modules::Modules,
    executables: native::Executables,
}

/// What compilers are asked about an `equivalent`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Run {
    /// It is proved on the compiler's code, and both kernels are compiled and run; so are witnesses.
    Always,
    /// It is proved on the compiler's code; nothing is run.
    Never,
    /// Nothing: our own reading is enough for a second opinion.
    OwnReading,
}

/// Compares the kernels of two C files, or of a C file and object code; or of a C file and all those in a directory.
pub fn check(arguments: &CheckArguments) -> Result<Status, Failure> {
    if arguments.candidate.is_dir() {
        return set::check(arguments);
    }
    let start = Instant::now();
    let job = Arc::new(Job::new(arguments, &arguments.candidate, Arc::default())?);
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: patience(&job) };
    let work = Arc::clone(&job);
    // On a thread of its own: trees are walked recursively, and a panic becomes an answer.
    let finished = pool::run_in_order(1, settings, move |_| work.run(), |_| {}).pop().map(|timed| timed.finished);
    let mut functions = job.answers(finished, start.elapsed())?;
    if let Some(directory) = &arguments.certificates {
        save_all(directory, &job, &mut functions)?;
    }
    show_report(arguments, functions, start)
}

/// Prints what was found.
fn show_report(arguments: &CheckArguments, functions: Vec<KernelFunction>, start: Instant) -> Result<Status, Failure> {
    let shown = |path: &Path| path.display().to_string();
    let report = KernelReport {
        original: shown(&arguments.original),
        candidate: shown(&arguments.candidate),
        functions,
        time: start.elapsed(),
    };
    match arguments.format {
        ReportFormat::Text => deliver(&report.render_text(colour(arguments.color))),
        ReportFormat::Json => deliver(&report.render_json()),
        ReportFormat::Jsonl => deliver(&report.render_jsonl()),
    }
    Ok(Status::of(report.summary()))
}

fn save_all(directory: &Path, job: &Job, functions: &mut [KernelFunction]) -> Result<(), Failure> {
    std::fs::create_dir_all(directory).map_err(|e| Failure(format!("{}: {e}", directory.display())))?;
    functions.iter_mut().try_for_each(|function| save(directory, job, function))
}

/// Longest time for finding out which parameters have no value.
const ASKING: Duration = Duration::from_secs(1);
/// Time for running what was proved.
const RUN_PATIENCE: Duration = Duration::from_secs(5);

fn patience(job: &Job) -> Duration {
    let sizes = job.sweep.as_ref().map_or(1, Sweep::len) as u32;
    let limit = job.options.timeout.saturating_mul(sizes.max(1));
    // The compiler's code has the same time as our own reading.
    limit.saturating_mul(2) + (limit / 12).max(Duration::from_millis(350)) + RUN_PATIENCE
}

fn parameters(given: &[(String, i64)]) -> Result<Vec<(String, i64)>, Failure> {
    let mut list: Vec<(String, i64)> = Vec::new();
    for (name, value) in given {
        if list.iter().any(|(known, _)| known == name) {
            return Err(Failure(format!("--param {name}: given twice")));
        }
        list.push((name.clone(), *value));
    }
    Ok(list)
}

/// What was found out about the functions of a pair of files.
type Answers = Result<Vec<KernelFunction>, Failure>;

/// A pair of functions by name.
struct Names {
    original: String,
    candidate: String,
}

impl Job {
    /// What the command line asks for, with this candidate.
    fn new(arguments: &CheckArguments, candidate: &Path, known: Arc<Known>) -> Result<Job, Failure> {
        let mode = Floating::from_name(&arguments.fp)
            .ok_or_else(|| Failure(format!("--fp {}: no such mode", arguments.fp)))?;
        let mut parameters = parameters(&arguments.parameters)?;
        let object = arguments.interface.is_some() || !is_c(&arguments.original) || !is_c(candidate);
        let swept = |name: &str| arguments.sweep.as_ref().is_some_and(|sweep| sweep.parameter == name);
        let mut own = Vec::new();
        if !object {
            for (name, value) in sizes::own([&arguments.original, candidate], &arguments.defines) {
                if !swept(&name) && !parameters.iter().any(|(given, _)| *given == name) {
                    own.push(name.clone());
                    parameters.push((name, value));
                }
            }
        }
        Ok(Job {
            original: arguments.original.clone(),
            candidate: candidate.to_path_buf(),
            interface: arguments.interface.clone(),
            settings: Settings {
                defines: arguments.defines.clone(),
                includes: arguments.includes.clone(),
                parameters: parameters.clone(),
            },
            selections: arguments.functions.clone(),
            parameters,
            own,
            sweep: arguments.sweep.clone(),
            options: KernelOptions {
                mode,
                strict: arguments.strict_updates,
                flat: arguments.flat_arrays,
                exact: arguments.certificates.is_some(),
                seed: arguments.seed,
                timeout: arguments.timeout,
            },
            run: if arguments.no_run { Run::Never } else { Run::Always },
            known,
        })
    }

    /// What a worker left.
    fn answers(&self, finished: Option<Finished<Answers>>, time: Duration) -> Answers {
        match finished {
            Some(Finished::Done(result)) => result,
            Some(Finished::Panicked(message)) => Ok(vec![self.failed(Reason::new(ReasonKind::Internal, message))]),
            Some(Finished::Overdue) | None => {
                let what = format!("gave up after {:.1} s", time.as_secs_f64());
                Ok(vec![self.failed(Reason::new(ReasonKind::Timeout, what))])
            }
        }
    }

    /// Reads both files and compares what was asked for.
    fn run(&self) -> Answers {
        let mut values = self.parameters.clone();
        if let Some(sweep) = &self.sweep {
            if values.iter().any(|(name, _)| *name == sweep.parameter) {
                return Err(Failure(format!("--sweep {0}: --param {0} is given, too", sweep.parameter)));
            }
            values.push((sweep.parameter.clone(), sweep.first));
        }
        let pairs = if self.files().with_object() {
            self.object_pairs(&values)?
        } else {
            match self.sources(&values)? {
                Ok((original, candidate)) => self.pairs(&original, &candidate)?,
                Err(reason) => return Ok(vec![self.failed(reason)]),
            }
        };
        let mut functions = Vec::new();
        for names in &pairs {
            functions.push(match &self.sweep {
                None => self.compare_twice(names)?,
                Some(sweep) => self.sweep(names, sweep)?,
            });
        }
        Ok(functions)
    }

    /// Both files; the inner error is an answer.
    fn sources(&self, values: &[(String, i64)]) -> Result<Result<(Source, Source), Reason>, Failure> {
        let settings = Settings { parameters: values.to_vec(), ..self.settings.clone() };
        let texts = &self.known.texts;
        let (first, second) = std::thread::scope(|scope| {
            // Each file waits for the compiler's preprocessor.
            let other = scope.spawn(|| texts.preprocessed(&self.candidate, &settings));
            (texts.preprocessed(&self.original, &settings), other.join())
        });
        let second = second.unwrap_or_else(|_| {
            Err(Error::Malformed {
                file: self.candidate.display().to_string(),
                line: 0,
                what: "cannot be read".to_string(),
            })
        });
        let parse = |path: &Path, unit: Result<Preprocessed, Error>| unit.and_then(|unit| Source::parsed(path, unit));
        match (parse(&self.original, first), parse(&self.candidate, second)) {
            (Ok(original), Ok(candidate)) => Ok(Ok((original, candidate))),
            (Err(error @ Error::Unsupported { .. }), Ok(_) | Err(Error::Unsupported { .. }))
            | (Ok(_), Err(error @ Error::Unsupported { .. })) => {
                Ok(Err(Reason::new(ReasonKind::Unsupported, error.to_string())))
            }
            (Err(error), _) | (_, Err(error)) => Err(Failure(error.to_string())),
        }
    }

    fn pairs(&self, original: &Source, candidate: &Source) -> Result<Vec<Names>, Failure> {
        let failed = |error: Error| Failure(error.to_string());
        if self.selections.is_empty() {
            let name = original.kernel().map_err(failed)?;
            let other =
                if candidate.has_function(&name) { name.clone() } else { candidate.kernel().map_err(failed)? };
            return Ok(vec![Names { original: name, candidate: other }]);
        }
        let mut pairs = Vec::new();
        for Selection { name, other } in &self.selections {
            if !original.has_function(name) {
                return Err(Failure(format!("--function {name}: the original has no function of that name")));
            }
            let other = other.clone().unwrap_or_else(|| name.clone());
            pairs.push(Names { original: name.clone(), candidate: other });
        }
        Ok(pairs)
    }

    /// Compares one pair of functions at the sizes given, and if they are equivalent there, at odd ones that have no factor in common
    /// with them: a mistake in what is left over after unrolling or tiling does not show at a multiple.
    fn compare_twice(&self, names: &Names) -> Result<KernelFunction, Failure> {
        let first = self.compare(names, &self.parameters, self.run)?;
        let proved = matches!(first.outcome.verdict, KernelVerdict::Equivalent(_));
        if !proved || self.parameters.is_empty() || self.files().with_object() {
            return Ok(first);
        }
        // Sizes at which the kernels make no sense are nobody's fault.
        let others = self.other_sizes(names)?;
        if others == self.parameters {
            return Ok(first);
        }
        match self.compare(names, &others, Run::OwnReading) {
            Ok(second) if self.is_shown(&second.outcome) => Ok(second),
            Ok(second) if matches!(second.outcome.verdict, KernelVerdict::Equivalent(_)) => {
                Ok(KernelFunction { also: others, ..first })
            }
            _ => Ok(first),
        }
    }

    /// Odd sizes close to those that were checked. Numbers of the files' own are sizes if arrays of the interface have them.
    fn other_sizes(&self, names: &Names) -> Result<Vec<(String, i64)>, Failure> {
        let mut others = sizes::other(&self.parameters);
        let first = if self.own.is_empty() { None } else { self.interface_at(names, &self.parameters)? };
        for at in 0..others.len() {
            let (name, value) = &self.parameters[at];
            if self.own.contains(name) && others[at].1 != *value {
                let mut values = self.parameters.clone();
                values[at].1 = others[at].1;
                let second = self.interface_at(names, &values)?;
                if first.is_none() || second.is_none() || first == second {
                    others[at].1 = *value;
                }
            }
        }
        Ok(others)
    }

    /// Numbers of cells of what the original's caller passes and sees, at these sizes.
    fn interface_at(&self, names: &Names, values: &[(String, i64)]) -> Result<Option<Vec<Option<u64>>>, Failure> {
        let Ok((original, _)) = self.sources(values)? else { return Ok(None) };
        let Ok(program) = original.lower(&names.original, values) else { return Ok(None) };
        let outer = program.objects.iter().filter(|o| updates::input_key(&o.origin).is_some() && !o.is_static());
        Ok(Some(outer.map(|o| o.cells).collect()))
    }

    /// Is it a difference that the compiled programs show, or the interpreter if nothing may be run? Nobody can order iterations of a
    /// compiled loop, so races are what the interpreter says.
    fn is_shown(&self, outcome: &KernelOutcome) -> bool {
        match &outcome.verdict {
            KernelVerdict::Different(witness) => {
                let kind = witness.kind;
                let unreplayed = kind == WitnessKind::Race || kind == WitnessKind::Input && self.run == Run::Never;
                witness.replayed.contains(&"cpu") || unreplayed
            }
            _ => false,
        }
    }

    /// Compares one pair of functions at given sizes.
    fn compare(&self, names: &Names, values: &[(String, i64)], run: Run) -> Result<KernelFunction, Failure> {
        let start = Instant::now();
        let outcome = self.outcome(names, values, run)?;
        Ok(KernelFunction {
            name: names.original.clone(),
            candidate_name: (names.original != names.candidate).then(|| names.candidate.clone()),
            outcome,
            time: start.elapsed(),
            file: None,
            certificate: None,
            sweep: Vec::new(),
            also: Vec::new(),
        })
    }

    fn outcome(&self, names: &Names, values: &[(String, i64)], run: Run) -> Result<KernelOutcome, Failure> {
        if self.files().with_object() {
            return self.object_outcome(names, values);
        }
        let (original, candidate) = match self.sources(values)? {
            Ok(sources) => sources,
            Err(reason) => return Ok(unknown(reason)),
        };
        if !candidate.has_function(&names.candidate) {
            let what = format!("the candidate has no function `{}`", names.candidate);
            return Ok(unknown(Reason::new(ReasonKind::MissingFunction, what)));
        }
        let both = [(&original, names.original.as_str()), (&candidate, names.candidate.as_str())];
        let lower = |source: &Source, name: &str| match source.lower(name, values) {
            Ok(program) => Ok(Ok(program)),
            Err(error @ Error::Unsupported { .. }) => {
                Ok(Err(unknown(Reason::new(ReasonKind::Unsupported, error.to_string()))))
            }
            Err(Error::Parameter(first)) => Err(Failure(missing(&both, values, first))),
            Err(error) => Err(Failure(error.to_string())),
        };
        let ours = match lower(&original, &names.original)? {
            Ok(program) => program,
            Err(outcome) => return Ok(outcome),
        };
        let theirs = match lower(&candidate, &names.candidate)? {
            Ok(program) => program,
            Err(outcome) => return Ok(outcome),
        };
        let used = |name: &String| ours.parameters.iter().chain(&theirs.parameters).any(|(p, _)| p == name);
        if let Some((name, _)) = values.iter().find(|(name, _)| !used(name)) {
            return Err(Failure(format!("--param {name}: neither file has a parameter of that name")));
        }
        // Whatever a file keeps for itself, its caller calls both alike.
        if let Some(name) = other_static(&ours, &theirs) {
            let what = format!("`{name}`, which has another type in the candidate");
            return Ok(unknown(Reason::new(ReasonKind::Unsupported, what)));
        }
        kernel::nests::Pairing::of(&ours, &theirs)
            .map_err(|what| Failure(format!("{} and {}: {what}", original.path(), candidate.path())))?;
        let mut outcome = check_kernels(&ours, &theirs, self.options);
        let side = |source, program, name| native::Side { source, program, name, object: None };
        let sides = [side(&original, &ours, &names.original), side(&candidate, &theirs, &names.candidate)];
        match &mut outcome.verdict {
            KernelVerdict::Parameter(name) => Err(Failure(missing(&both, values, name.clone()))),
            KernelVerdict::Different(witness) if witness.kind == WitnessKind::Input && self.run == Run::Always => {
                let verdict = replay::replay(&sides, witness, &self.known.executables);
                let lasting = sides.iter().any(|side| side.program.objects.iter().any(updates::Object::is_static));
                Ok(replayed(outcome, verdict, if lasting { Memory::Lasting } else { Memory::OfOneCall }))
            }
            KernelVerdict::Equivalent(_) => Ok(self.run_natively(&sides, outcome, run)),
            _ => Ok(outcome),
        }
    }

    /// The outcome after both kernels were run as the compiler makes them.
    fn run_natively(&self, sides: &[native::Side<'_>; 2], mut outcome: KernelOutcome, run: Run) -> KernelOutcome {
        // A variable of the file's own is what other functions leave in it, and those are not compared.
        let variable = |o: &updates::Object| o.is_static().then(|| o.name.clone());
        for name in sides.iter().flat_map(|side| side.program.objects.iter().filter_map(variable)) {
            let [first, second] = sides.each_ref().map(|side| side.source.others_with(side.name, &name));
            if first != second {
                let what = format!("`{name}`, which other functions touch that are not the same in both files");
                return unknown(Reason::new(ReasonKind::Unsupported, what));
            }
        }
        let agreement = match run {
            Run::Always => std::thread::scope(|scope| {
                // One compiler works while the other does.
                scope.spawn(|| self.known.modules.fetch(sides, self.options.flat));
                agreement::check(sides, self.options, &self.known.executables)
            }),
            Run::Never => return with_not_run(self.confirmed(sides, outcome)),
            Run::OwnReading => Agreement::NoCompiler,
        };
        let (kind, what) = match agreement {
            Agreement::Agree => return self.confirmed(sides, outcome),
            Agreement::NoCompiler => {
                outcome.assumptions.extend([Assumption::NotRun, Assumption::OwnFrontEnd]);
                return outcome;
            }
            Agreement::Disagree(what) => (ReasonKind::Internal, what),
            Agreement::NotRun(what) => (ReasonKind::Unsupported, what),
            Agreement::NoInput => {
                (ReasonKind::UndefinedOriginal, "no input was found on which the original is defined".to_string())
            }
        };
        unknown(Reason::new(kind, what))
    }

    /// The outcome after it was proved on the compiler's code.
    fn confirmed(&self, sides: &[native::Side<'_>; 2], outcome: KernelOutcome) -> KernelOutcome {
        let pragmas = has_pragmas(sides).then_some(Assumption::PragmasAsRead);
        match lowered::confirm(sides, self.options, &self.known.modules) {
            Confirmation::Proved(proof) => {
                let assumptions = proof.assumptions().iter().cloned().chain(pragmas).collect();
                KernelOutcome { assumptions, verdict: KernelVerdict::Equivalent(proof), ..outcome }
            }
            Confirmation::Assumed(assumption) => {
                let assumptions = outcome.assumptions.into_iter().chain([assumption]).chain(pragmas).collect();
                KernelOutcome { assumptions, ..outcome }
            }
            Confirmation::Refused(reason) => unknown(reason),
        }
    }

    /// The report if no comparison took place.
    fn failed(&self, reason: Reason) -> KernelFunction {
        let name = self.selections.first().map_or_else(|| "kernel".to_string(), |s| s.name.clone());
        KernelFunction {
            name,
            candidate_name: None,
            outcome: unknown(reason),
            time: Duration::ZERO,
            file: None,
            certificate: None,
            sweep: Vec::new(),
            also: Vec::new(),
        }
    }
}

/// A variable of the files' own that is not of one shape in both.
fn other_static(ours: &updates::Program, theirs: &updates::Program) -> Option<String> {
    let shape = |o: &updates::Object| (o.cells, o.element_bytes, o.fields.iter().map(|f| f.ty).collect::<Vec<_>>());
    let other = |o: &&updates::Object| theirs.objects.iter().any(|t| t.origin == o.origin && shape(t) != shape(o));
    ours.objects.iter().filter(|o| o.is_static()).find(other).map(|o| o.name.clone())
}

/// Does one of the files have pragmas of OpenMP?
fn has_pragmas(sides: &[native::Side<'_>; 2]) -> bool {
    let pragma = |line: &str| line.trim_start().starts_with('#') && line.contains("pragma") && line.contains("omp");
    sides.iter().any(|side| side.source.preprocessed().lines().any(pragma))
}

/// Names all parameters that need values: with some value for one, the next is asked for, by the lowering or by a run.
fn missing(sources: &[(&Source, &str)], values: &[(String, i64)], first: String) -> String {
    let mut tried = values.to_vec();
    let mut names = vec![first];
    for (source, name) in sources {
        while let Some(last) = names.last().filter(|_| names.len() < 32) {
            if !tried.iter().any(|(known, _)| known == last) {
                tried.push((last.clone(), 4));
            }
            let next = match source.lower(name, &tried) {
                Err(Error::Parameter(next)) => Some(next),
                Ok(program) => asked(&program),
                Err(_) => None,
            };
            match next.filter(|next| !names.contains(next)) {
                Some(next) => names.push(next),
                None => break,
            }
        }
    }
    match names.as_slice() {
        [only] => Error::Parameter(only.clone()).to_string(),
        several => {
            let options: Vec<String> = several.iter().map(|n| format!("--param {n}=NUMBER")).collect();
            format!("parameters `{}` need values: {}", several.join("`, `"), options.join(" "))
        }
    }
}

/// The parameter that a run asks for.
fn asked(program: &updates::Program) -> Option<String> {
    let mut domain = updates::Symbolic::new(updates::Hashes, Floating::Ieee);
    let limits =
        &updates::Limits { interrupt: search::interrupt_at(Instant::now() + ASKING), ..updates::Limits::default() };
    let ended = updates::execute(program, &mut domain, &mut updates::Nobody, limits, &[]);
    match ended.err()?.kind {
        updates::FaultKind::Parameter(name) => Some(name),
        _ => None,
    }
}

/// The outcome of something that was not run.
fn with_not_run(mut outcome: KernelOutcome) -> KernelOutcome {
    if matches!(outcome.verdict, KernelVerdict::Equivalent(_)) {
        outcome.assumptions.push(Assumption::NotRun);
    }
    outcome
}

/// Are there variables that keep their content from call to call? A witness fills them, a first call finds them as they start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    OfOneCall,
    Lasting,
}

/// The outcome after its witness was replayed on the CPU.
fn replayed(mut outcome: KernelOutcome, result: replay::Result, memory: Memory) -> KernelOutcome {
    match (&mut outcome.verdict, result) {
        (KernelVerdict::Different(witness), replay::Result::Differs) => witness.replayed.push("cpu"),
        (_, replay::Result::Agrees) if memory == Memory::Lasting => {
            let what = "a difference that needs other contents of static variables than the first call finds";
            return unknown(Reason::new(ReasonKind::NoInvariant, what));
        }
        (_, replay::Result::Agrees) => {
            let what = "the interpreter finds a difference that the compiled programs do not show";
            return unknown(Reason::new(ReasonKind::Internal, what));
        }
        _ => {}
    }
    outcome
}

fn unknown(reason: Reason) -> KernelOutcome {
    KernelOutcome { verdict: KernelVerdict::Unknown(reason), assumptions: Vec::new(), updates: 0 }
}

fn save(directory: &Path, job: &Job, function: &mut KernelFunction) -> Result<(), Failure> {
    if !matches!(function.outcome.verdict, KernelVerdict::Equivalent(_)) || job.sweep.is_some() {
        return Ok(());
    }
    let candidate_name = function.candidate_name.clone().unwrap_or_else(|| function.name.clone());
    let ([original_hash, candidate_hash], interface_hash) = if job.files().with_object() {
        let settings = Settings { parameters: job.parameters.clone(), ..job.settings.clone() };
        match objects::load(job.files(), [&function.name, &candidate_name], &settings)? {
            Ok(loaded) => (loaded.hashes(), Some(loaded.interface_hash().to_string())),
            Err(_) => return Err(Failure("the files changed".to_string())),
        }
    } else {
        let Ok((original, candidate)) = job.sources(&job.parameters)? else {
            return Err(Failure("the files changed".to_string()));
        };
        ([original.hash().to_string(), candidate.hash().to_string()], None)
    };
    let certificate = kernel::nests::UpdateCertificate {
        kind: "updates".to_string(),
        version: kernel::nests::UPDATES_VERSION,
        original: function.name.clone(),
        candidate: candidate_name,
        original_hash,
        candidate_hash,
        interface_hash,
        parameters: job.parameters.clone(),
        defines: job.settings.defines.clone(),
        includes: job.settings.includes.iter().map(|p| p.display().to_string()).collect(),
        fp: job.options.mode.name().to_string(),
        strict: job.options.strict,
        flat: job.options.flat,
    };
    let path = directory.join(certificates::harmless_name(&function.name));
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", path.display()));
    std::fs::write(&path, certificate.to_json() + "\n").map_err(failed)?;
    function.certificate = Some(path.display().to_string());
    Ok(())
}
