//! `lockstep optimize`: looks for faster code for a function, and writes it if it is proved.
//!
//! The job is in the crate `optimize`. Here are its tools: the door to the kernel, as `check` uses it, with the same native runs beside
//! each proof; the conditions of `--assume`; and the display.

mod display;
mod door;

use crate::arguments::Format;
use crate::objects::assume::AssumeArguments;
use crate::objects::start_states;
use crate::status::{Failure, Status};
use crate::{complain, deliver};
use clap::{Args, ValueEnum};
use display::Display;
use optimize::cpu::Cpu;
use optimize::emit::Output;
use optimize::request::{Conditional, Goal, Request, Specification, Until};
use optimize::subject::Kind;
use optimize::{Proposal, Tools, assembly};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Exit status: 0 something faster was found, proved and written, 2 nothing better, 3 bad input or usage.
#[derive(Args, Debug)]
pub struct OptimizeArguments {
    /// A C file, an assembly file or an object
    pub file: PathBuf,
    /// The function
    #[arg(long, value_name = "NAME")]
    pub function: String,
    /// The assembly file to be written [default: FILE.opt.s, in the current folder]
    #[arg(short = 'o', long = "output", value_name = "OUT.s")]
    pub output: Option<PathBuf>,
    /// Of an object: also write the object with the function exchanged
    #[arg(long, value_name = "OUT.o")]
    pub merge: Option<PathBuf>,
    /// The C source of an assembly file or object: compilers make proposals from it
    #[arg(long, value_name = "F.c")]
    pub source: Option<PathBuf>,
    /// What says what is right: the file, or the unoptimised object of --source
    #[arg(long, value_enum, default_value_t = SpecificationName::File, requires_if("source", "source"))]
    pub spec: SpecificationName,
    /// Assembly with a version of the function, one more proposal; may be repeated
    #[arg(long = "propose", value_name = "FILE.s")]
    pub propose: Vec<PathBuf>,
    /// Start states to run it on, and to time it with (docs/tests-format.md)
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// How long to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = crate::arguments::parse_seconds)]
    pub time: Duration,
    /// Look for so many epochs instead: two runs write the same bytes. Prices decide then, not the clock
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub epochs: Option<u32>,
    /// What shall be small
    #[arg(long, value_enum, default_value_t = GoalName::Latency)]
    pub goal: GoalName,
    #[command(flatten)]
    pub assume: AssumeArguments,
    /// Which instructions may be used
    #[arg(long, value_name = "CPU", default_value = "x86-64", value_parser = ["native", "x86-64", "v2", "v3"])]
    pub cpu: String,
    /// Proofs and compilations at the same time [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Save the proof's certificate in this directory
    #[arg(long, value_name = "DIR")]
    pub certificates: Option<PathBuf>,
    /// Write what happens to this file, a JSON object a line
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Macro for C files, NAME or NAME=TEXT
    #[arg(short = 'D', value_name = "NAME[=TEXT]")]
    pub defines: Vec<String>,
    /// Directory for included C files
    #[arg(short = 'I', value_name = "DIR")]
    pub includes: Vec<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SpecificationName {
    File,
    Source,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum GoalName {
    /// Time of calls that wait for each other
    Latency,
    /// Time of calls that do not
    Throughput,
    /// Bytes of code
    Size,
    /// The price by a table, the same on every machine
    Model,
}

/// Looks, reports, and says how it went.
pub fn run(arguments: &OptimizeArguments) -> Result<Status, Failure> {
    let request = request(arguments)?;
    let output = output(arguments)?;
    let display = Display::new(arguments.journal.as_deref())?;
    let found = {
        let tools = Tools {
            door: &door::ask,
            recheck: &door::recheck,
            timer: &door::time,
            condition: &|path, function| door::condition(&arguments.assume, path, function),
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
        assumed: arguments.assume.assume.clone(),
        conditional: Conditional::No,
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
