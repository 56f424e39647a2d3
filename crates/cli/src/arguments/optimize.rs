//! The command line of `lockstep optimize`.

use super::{Format, parse_seconds};
use crate::objects::assume::AssumeArguments;
use clap::{Args, ValueEnum};
use std::num::NonZeroUsize;
use std::path::PathBuf;
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
    /// Value of an argument when code is timed, by parameter or register; may be repeated
    #[arg(long = "arg", value_name = "NAME=NUMBER", value_parser = parse_argument, allow_hyphen_values = true)]
    pub values: Vec<(String, u64)>,
    /// How long to look, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub time: Duration,
    /// Look for so many epochs instead: two runs write the same bytes. Prices decide then, not the clock
    #[arg(long, value_name = "N", conflicts_with = "time")]
    pub epochs: Option<u32>,
    /// What shall be small
    #[arg(long, value_enum, default_value_t = GoalName::Latency)]
    pub goal: GoalName,
    #[command(flatten)]
    pub assume: AssumeArguments,
    /// Also take code that is right only under a condition, which is inferred, printed, and stands in the file
    #[arg(long, value_enum)]
    pub conditional: Option<ConditionalName>,
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
pub enum ConditionalName {
    /// Whoever calls the function sees to it
    Assumed,
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

fn parse_argument(text: &str) -> Result<(String, u64), String> {
    let wrong = || "expected NAME=NUMBER".to_string();
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    let value = value.trim();
    let number = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.parse::<u64>().ok().or_else(|| value.parse::<i64>().ok().map(|number| number as u64)),
    };
    Ok((name.to_string(), number.ok_or_else(wrong)?))
}
