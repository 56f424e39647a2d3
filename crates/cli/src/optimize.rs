//! `lockstep optimize`: looks for faster code for a function, and writes it if it is proved.
//!
//! The job is in the crate `optimize`. Here are its tools: the door to the kernel, as `check` uses it, with the same native runs beside
//! each proof; the conditions of `--assume`; and the display.

mod clock;
mod display;
mod door;

use crate::arguments::{ConditionalName, Format, GoalName, OptimizeArguments, SpecificationName};
use crate::objects::start_states;
use crate::status::{Failure, Status};
use crate::{complain, deliver};
use clock::Clock;
use display::Display;
use optimize::cpu::Cpu;
use optimize::emit::Output;
use optimize::request::{Conditional, Goal, Request, Specification, Until};
use optimize::subject::Kind;
use optimize::{Proposal, Tools, assembly};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// Start states of the search.
const SEARCHED: usize = 32;

/// Looks, reports, and says how it went.
pub fn run(arguments: &OptimizeArguments) -> Result<Status, Failure> {
    let request = request(arguments)?;
    let output = output(arguments)?;
    let display = Display::new(arguments.journal.as_deref())?;
    let clock = Clock::default();
    let found = {
        let tools = Tools {
            door: &door::ask,
            recheck: &door::recheck,
            timer: &|race| clock.time(race),
            condition: &|path, function| door::condition(&arguments.assume, path, function),
            samples: &|path, function| clock::look(path, function, &request.tests, &[], SEARCHED).unwrap_or_default(),
            tell: &|event| display.tell(&event),
            stopped: &|| display.is_stopped(),
        };
        optimize::run(&request, proposals(arguments)?, &output, &tools)
    };
    display.close();
    let report = found.map_err(|refused| Failure(refused.0))?;
    match arguments.format {
        Format::Text => deliver(&report.render_text()),
        Format::Json => deliver(&report.render_json()),
    }
    Ok(if report.winner.is_some() { Status::Good } else { Status::Unknown })
}

fn request(arguments: &OptimizeArguments) -> Result<Request, Failure> {
    let cpu = Cpu::ALL.into_iter().find(|(name, _)| *name == arguments.cpu).map_or(Cpu::Baseline, |(_, cpu)| cpu);
    let goal = match arguments.goal {
        GoalName::Latency => Goal::Latency,
        GoalName::Throughput => Goal::Throughput,
        GoalName::Size => Goal::Size,
        GoalName::Model => Goal::Model,
    };
    if !cpu.is_here() && matches!(goal, Goal::Latency | Goal::Throughput) {
        let what = format!("this machine cannot run code for {cpu}, so it cannot time it: use --goal size or model");
        return Err(Failure(what));
    }
    let kind = Kind::of(&arguments.file);
    if kind == Kind::Source && arguments.source.is_some() {
        return Err(Failure("--source is for assembly files and objects: this file is the source".to_string()));
    }
    if kind != Kind::Object && arguments.merge.is_some() {
        return Err(Failure("--merge is for objects".to_string()));
    }
    let specification = match arguments.spec {
        SpecificationName::File => Specification::File,
        SpecificationName::Source if arguments.source.is_none() && kind != Kind::Source => {
            return Err(Failure("--spec source needs --source".to_string()));
        }
        SpecificationName::Source => Specification::Source,
    };
    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    let defines = arguments.defines.iter().map(|text| format!("-D{text}"));
    let includes = arguments.includes.iter().map(|path| format!("-I{}", path.display()));
    let cores = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    Ok(Request {
        file: arguments.file.clone(),
        function: arguments.function.clone(),
        source: arguments.source.clone(),
        specification,
        context: defines.chain(includes).collect(),
        goal,
        cpu,
        until: arguments.epochs.map_or(Until::Time(arguments.time), Until::Epochs),
        jobs: arguments.jobs.unwrap_or(cores).get(),
        seed: arguments.seed,
        tests,
        arguments: arguments.values.clone(),
        assumed: arguments.assume.assume.clone(),
        conditional: match arguments.conditional {
            None => Conditional::No,
            Some(ConditionalName::Assumed) => Conditional::Assumed,
        },
    })
}

fn output(arguments: &OptimizeArguments) -> Result<Output, Failure> {
    let stem = arguments.file.file_stem().map_or("out".into(), |stem| stem.to_string_lossy());
    let assembly = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{stem}.opt.s")));
    if Kind::of(&assembly) != Kind::Assembly {
        return Err(Failure(format!("{}: the output is assembly; its name must end in .s", assembly.display())));
    }
    let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
    let inputs = std::iter::once(&arguments.file).chain(&arguments.source);
    for input in inputs {
        for output in std::iter::once(&assembly).chain(&arguments.merge) {
            if same(input, output) {
                return Err(Failure(format!("{}: the output would replace the input", output.display())));
            }
        }
    }
    Ok(Output { assembly, merged: arguments.merge.clone(), certificates: arguments.certificates.clone() })
}

/// Versions of the function that the user has.
fn proposals(arguments: &OptimizeArguments) -> Result<Vec<Proposal>, Failure> {
    let read = |path: &PathBuf| {
        let failed = |what: String| Failure(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
        let body = assembly::Listing::parse(&text).extract(&arguments.function);
        let body = body.map_err(|error| failed(error.to_string()))?;
        Ok(Proposal { origin: path.display().to_string(), body })
    };
    arguments.propose.iter().map(read).collect()
}

/// Shows something that is no data.
fn note(text: &str) {
    complain(&format!("note: {text}"));
}
