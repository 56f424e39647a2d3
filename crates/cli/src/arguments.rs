//! The command line. Its form is fixed: scripts depend on it.

mod optimize;

pub use optimize::{ConditionalName, GoalName, OptimizeArguments, SpecificationName};

use crate::help;
use crate::instruction_set::Level;
use crate::nests::Sweep;
use crate::objects::assume::AssumeArguments;
use crate::objects::conditional::ConditionalArguments;
use crate::objects::guard::GuardArguments;
use crate::objects::interface::InterfaceArguments;
use crate::objects::start_states;
use crate::pairing::Selection;
use clap::{Args, Parser, Subcommand, ValueEnum};
use program::{AssertTexts, Undefined};
use search::WitnessClass;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use term::Bits;

/// Decides whether two versions of a function do the same thing.
#[derive(Parser, Debug)]
#[command(name = "lockstep", version, about, after_help = help::TOP, infer_subcommands = false)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compare every function of ORIGINAL with its namesake in CANDIDATE
    #[command(after_help = help::CHECK)]
    Check(Box<CheckArguments>),
    /// Re-check a saved proof with the kernel alone
    #[command(after_help = help::VERIFY)]
    Verify(VerifyArguments),
    /// Print what lockstep understood: graph, objects, unsupported instructions; or what a certificate claims
    #[command(after_help = help::SHOW)]
    Show(ShowArguments),
    /// Run a program and record start states of a function, as tests
    Record(RecordArguments),
    /// Time two functions against each other and say which is faster, if that can be said
    Measure(MeasureArguments),
    /// Write an object that checks a condition and runs CANDIDATE where it holds, ORIGINAL elsewhere
    Guard(Box<GuardArguments>),
    /// Compile with LLVM and check what its register allocators did
    #[command(after_help = help::REGALLOC)]
    Regalloc(RegallocArguments),
    /// Look for faster code for a function, and write it if it is proved
    Optimize(Box<OptimizeArguments>),
    /// What a word in a report means: a reason, a class of differences, an assumption
    Explain(ExplainArguments),
    /// A proof, a refutation and an `unknown` on examples that come with lockstep
    Demo(DemoArguments),
    /// Install man pages and completions for shells
    Setup(SetupArguments),
}

/// Compare every function of ORIGINAL with its namesake in CANDIDATE.
#[derive(Args, Debug)]
pub struct CheckArguments {
    /// The program that says what is right: an x86-64 object, shared object, executable or `.s` file; an archive or a directory
    /// of objects; Machine IR (`.mir`); or a C kernel (`.c`)
    pub original: PathBuf,
    /// The program that should do the same
    pub candidate: PathBuf,
    /// Compare only this function, or NAME with OTHER of the candidate; may be repeated
    #[arg(long = "function", value_name = "NAME[=OTHER]", value_parser = parse_selection)]
    pub functions: Vec<Selection>,
    #[command(flatten, next_help_heading = "What counts as the same")]
    pub assume: AssumeArguments,
    #[command(flatten)]
    pub calls: InterfaceArguments,
    #[command(flatten)]
    pub conditional: ConditionalArguments,
    /// How to search for a proof. Loops: from the code alone (static), from runs (data). No loops: events. Kernels: updates
    #[arg(help_heading = "Search", long, value_name = "S", default_value = "auto", value_parser = ["auto", "events", "static", "data", "updates"])]
    pub strategy: String,
    /// Time limit for each function, in seconds
    #[arg(help_heading = "Search", long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Never pass a loop head more often than this in one step
    #[arg(help_heading = "Search", long, value_name = "N", default_value_t = 128)]
    pub unroll: u32,
    /// Functions compared at the same time [default: all cores]
    #[arg(help_heading = "Run", long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Solver to ask instead of z3, as a command that reads SMT-LIB 2 from its input; several race
    #[arg(help_heading = "Search", long = "solver", value_name = "CMD", value_parser = parse_solver)]
    pub solvers: Vec<String>,
    /// Form of the report: jsonl is one line of JSON for each function, as soon as it is decided
    #[arg(help_heading = "Report", long, value_enum, default_value_t = ReportFormat::Text)]
    pub format: ReportFormat,
    /// Save the certificate of each proof in this directory
    #[arg(help_heading = "Report", long, value_name = "DIR")]
    pub certificates: Option<PathBuf>,
    /// Take nothing for granted that only undefined behaviour of the original's source could violate, such as
    /// accesses inside their objects; proofs that need it become unknown (docs/soundness.md)
    #[arg(help_heading = "What counts as the same", long)]
    pub no_ub: bool,
    /// Compare also in which file, line and function `__assert_fail` says that an assertion failed; otherwise proofs assume
    /// `assert-text` where they differ
    #[arg(help_heading = "What counts as the same", long)]
    pub strict_assert: bool,
    /// Seed of the concrete states
    #[arg(help_heading = "Search", long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run both objects in a sandbox beside a proof, where they can be linked (docs/security.md); so it is by default
    #[arg(help_heading = "Run", long, overrides_with = "no_run")]
    pub run: bool,
    /// Execute nothing of either file, not even to replay a witness; proofs of C kernels then assume `not-run`
    #[arg(help_heading = "Run", long)]
    pub no_run: bool,
    /// Also try the start states in this JSON file (docs/tests-format.md)
    #[arg(help_heading = "Search", long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// Save each question to the solver in this directory, as an SMT-LIB 2 file
    #[arg(help_heading = "Search", long, value_name = "DIR")]
    pub dump_queries: Option<PathBuf>,
    #[command(flatten)]
    pub stream: StreamArguments,
    /// Also report product points, obligations, solver calls and guesses
    #[arg(help_heading = "Report", long)]
    pub stats: bool,
    /// Value of an integer parameter of C kernels; may be repeated
    #[arg(help_heading = "C kernels", long = "param", value_name = "NAME=NUMBER", value_parser = parse_parameter, allow_hyphen_values = true)]
    pub parameters: Vec<(String, i64)>,
    /// Check C kernels at all these values of a parameter
    #[arg(help_heading = "C kernels", long, value_name = "NAME=FIRST..LAST", value_parser = Sweep::parse)]
    pub sweep: Option<Sweep>,
    /// Which floating-point rewriting counts as the same computation in C kernels
    #[arg(help_heading = "C kernels", long, value_name = "MODE", default_value = "ieee", value_parser = ["ieee", "ordered", "reassoc", "contract"])]
    pub fp: String,
    /// In C kernels every intermediate value of a cell must agree, too
    #[arg(help_heading = "C kernels", long)]
    pub strict_updates: bool,
    /// Compare the kernels in two object files, called as the function of this C file says
    #[arg(help_heading = "C kernels", long, value_name = "FILE.c")]
    pub interface: Option<PathBuf>,
    /// In C kernels a subscript may leave its row inside the array
    #[arg(help_heading = "C kernels", long)]
    pub flat_arrays: bool,
    /// Macro for preprocessing C files, NAME or NAME=TEXT
    #[arg(help_heading = "C kernels", short = 'D', value_name = "NAME[=TEXT]")]
    pub defines: Vec<String>,
    /// Directory for included C files
    #[arg(help_heading = "C kernels", short = 'I', value_name = "DIR")]
    pub includes: Vec<PathBuf>,
    /// Options that were given, by their names here.
    #[arg(skip)]
    pub given: Vec<String>,
    /// Colour the text report
    #[arg(help_heading = "Report", long, value_enum, default_value_t = ColourChoice::Auto)]
    pub color: ColourChoice,
}

/// What a word in a report means.
#[derive(Args, Debug)]
pub struct ExplainArguments {
    /// A word such as `no-correlation`, `overlap` or `in-bounds`; without one all are listed
    pub word: Option<String>,
}

/// Examples that need no file.
#[derive(Args, Debug)]
pub struct DemoArguments {
    /// Keep the examples in this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
}

/// Where man pages and completions go.
#[derive(Args, Debug)]
pub struct SetupArguments {
    /// Below this directory, as share/man/man1, share/bash-completion and so on
    #[arg(long, value_name = "DIR", default_value_os_t = crate::setup::home_prefix())]
    pub prefix: PathBuf,
    /// Only say what would be written
    #[arg(long)]
    pub dry_run: bool,
}

/// In which order answers come, and when to stop.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Run")]
pub struct StreamArguments {
    /// Print functions in the order of the original, as when stdout is no terminal, instead of as they are decided
    #[arg(long)]
    pub sorted: bool,
    /// Time limit for the whole run, in seconds; what is not decided until then is counted, and the exit status is at least 2
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub time_limit: Option<Duration>,
    /// Stop at the first function that makes the exit status 1
    #[arg(long)]
    pub fail_fast: bool,
    /// Classes of differences that make the exit status 1; others count as unknown: plain, overlap, callee-writes, undefined
    #[arg(long, value_name = "CLASSES", value_delimiter = ',', value_parser = parse_class, default_value = "plain,overlap,callee-writes,undefined")]
    pub fail_on: Vec<WitnessClass>,
}

/// Re-check a saved proof with the kernel alone.
#[derive(Args, Debug)]
pub struct VerifyArguments {
    /// A certificate that `check --certificates` saved, or a directory of certificates about functions of these files
    pub certificate: PathBuf,
    /// The original it was made for
    pub original: PathBuf,
    /// The candidate it was made for
    pub candidate: PathBuf,
    /// The C file that was given to `check` as the interface of two object files
    #[arg(long, value_name = "FILE.c")]
    pub interface: Option<PathBuf>,
    /// Take nothing for granted that only undefined behaviour of the original's source could violate
    #[arg(long)]
    pub no_ub: bool,
    /// Take where an assertion failed for observable
    #[arg(long)]
    pub strict_assert: bool,
    /// Also prove again every rewrite rule that fired, believe the SAT solver only where a checker confirms its clauses,
    /// and say what rests on whose word (docs/solver.md)
    #[arg(long)]
    pub audit: bool,
    /// Certificates checked at the same time [default: all cores; one in an audit]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    pub assume: AssumeArguments,
    #[command(flatten)]
    pub calls: InterfaceArguments,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// What `--no-ub` asks for.
pub fn undefined(no_ub: bool) -> Undefined {
    if no_ub { Undefined::Counted } else { Undefined::Excused }
}

/// What `--strict-assert` asks for.
pub fn assert_texts(strict: bool) -> AssertTexts {
    if strict { AssertTexts::Compared } else { AssertTexts::Ignored }
}

/// What lockstep understood of a file, or what a certificate claims.
#[derive(Args, Debug)]
#[command(override_usage = "lockstep show FILE [--function NAME]\n       \
    lockstep show --certificate FILE [ORIGINAL CANDIDATE] [--format text|dot]\n       \
    lockstep show --why FUNCTION ORIGINAL CANDIDATE [--timeout SECONDS]")]
pub struct ShowArguments {
    /// An x86-64 object, shared object, executable or `.s` file; with --certificate the original it was made for
    #[arg(value_name = "FILE", required_unless_present = "certificate")]
    pub file: Option<PathBuf>,
    /// With --certificate: the candidate it was made for. With --why: the candidate
    #[arg(value_name = "CANDIDATE", requires = "of_two")]
    pub candidate: Option<PathBuf>,
    /// Show only this function
    #[arg(long = "function", value_name = "NAME", conflicts_with = "certificate")]
    pub function: Option<String>,
    /// Show what this certificate claims: pairs of loop heads, invariants, edges. With ORIGINAL and CANDIDATE also
    /// addresses, source lines and names of variables
    #[arg(long, value_name = "FILE", group = "of_two")]
    pub certificate: Option<PathBuf>,
    /// Search for a proof of this function of FILE and CANDIDATE and show what was tried: which loops were paired, what each
    /// attempt failed at, in which state
    #[arg(long, value_name = "FUNCTION", conflicts_with = "function", group = "of_two")]
    pub why: Option<String>,
    #[command(flatten)]
    pub calls: InterfaceArguments,
    /// With --why: time limit in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds, requires = "why")]
    pub timeout: Duration,
    /// Form in which a certificate is shown; dot is for graphviz
    #[arg(long, value_enum, default_value_t = Drawing::Text)]
    pub format: Drawing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Drawing {
    Text,
    Dot,
}

/// Exit status: 0 measured, whatever came out; 3 bad input or usage, or nothing could be timed.
#[derive(Args, Debug)]
pub struct MeasureArguments {
    /// An x86-64 object or `.s` file
    pub original: PathBuf,
    /// The one that may be faster
    pub candidate: PathBuf,
    /// The function, or NAME of the original with OTHER of the candidate
    #[arg(long, value_name = "NAME[=OTHER]", value_parser = parse_selection)]
    pub function: Selection,
    /// Time on the start states in this JSON file (docs/tests-format.md) instead of on random ones
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// Value of an argument in every start state, by parameter or register; may be repeated
    #[arg(long = "arg", value_name = "NAME=NUMBER", value_parser = parse_argument, allow_hyphen_values = true)]
    pub values: Vec<(String, Bits)>,
    /// Most start states
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub states: u32,
    /// Rounds in each layout, in each of which both are timed; fewer if they take long
    #[arg(long, value_name = "N", default_value_t = 401, value_parser = clap::value_parser!(u32).range(21..=20_001))]
    pub rounds: u32,
    /// Layouts: where code, data and stack lie
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub layouts: u32,
    /// The instruction set that the files are made for; refused if this machine has less
    #[arg(long, value_enum, default_value_t = Level::Native)]
    pub cpu: Level,
    /// Seed of start states, layouts and orders
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

/// Exit status: 0 recorded, 2 the function was never entered, 3 bad input or usage.
#[derive(Args, Debug)]
pub struct RecordArguments {
    /// The function, by its symbol in the program or in a library that it loads
    #[arg(long, value_name = "NAME")]
    pub function: String,
    /// Where the start states go (docs/tests-format.md)
    #[arg(short, long, value_name = "TESTS.json")]
    pub output: PathBuf,
    /// Most start states
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max: u32,
    /// How long to record from the first entry on; the program runs on without
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub seconds: Duration,
    /// Also record processes that the program forks, and programs that these execute
    #[arg(long)]
    pub forks: bool,
    /// The program and its arguments, behind --
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Compile with LLVM and check what its register allocators did.
#[derive(Args, Debug)]
pub struct RegallocArguments {
    /// A C file, LLVM IR or bitcode
    pub file: PathBuf,
    /// The llc to run
    #[arg(long, value_name = "CMD", default_value = "llc-19")]
    pub llc: String,
    /// The clang that turns C into bitcode [default: the one beside llc]
    #[arg(long, value_name = "CMD")]
    pub clang: Option<String>,
    /// Allocators to check [default: all four; at -O0 only fast exists]
    #[arg(long = "regalloc", value_name = "NAMES", value_delimiter = ',')]
    pub allocators: Vec<String>,
    /// Optimisation level
    #[arg(short = 'O', value_name = "LEVEL", default_value = "2", value_parser = ["0", "1", "2", "3"])]
    pub level: String,
    /// From where: right before the allocator, or from SSA form
    #[arg(long, value_enum, default_value_t = Span::Pre)]
    pub span: Span,
    /// Flag for clang; may be repeated
    #[arg(long = "cflag", value_name = "FLAG", allow_hyphen_values = true)]
    pub cflags: Vec<String>,
    /// Check only this function; may be repeated
    #[arg(long = "function", value_name = "NAME", value_parser = parse_selection)]
    pub functions: Vec<Selection>,
    /// Time limit for each function, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Functions checked at the same time [default: all cores]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// Save the certificates of each allocator in a directory of its name inside this one
    #[arg(long, value_name = "DIR")]
    pub certificates: Option<PathBuf>,
    /// Keep the Machine IR that was compared in this directory
    #[arg(long, value_name = "DIR")]
    pub save_mir: Option<PathBuf>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Span {
    /// The allocator alone
    Pre,
    /// PHI elimination, two-address form, coalescing, scheduling and the allocator
    Ssa,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Format {
    Text,
    Json,
}

/// Forms of the report of `check`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReportFormat {
    Text,
    Json,
    Jsonl,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ColourChoice {
    /// When stdout is a terminal and NO_COLOR is not set
    Auto,
    Always,
    Never,
}

pub fn parse_selection(text: &str) -> Result<Selection, String> {
    let (name, other) = match text.split_once('=') {
        Some((name, other)) => (name, Some(other)),
        None => (text, None),
    };
    if name.is_empty() || other == Some("") {
        return Err("expected NAME or NAME=OTHER".to_string());
    }
    Ok(Selection { name: name.to_string(), other: other.map(str::to_string) })
}

fn parse_argument(text: &str) -> Result<(String, Bits), String> {
    let wrong = || "expected NAME=NUMBER".to_string();
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(wrong)?;
    Ok((name.to_string(), start_states::number(value.trim()).ok_or_else(wrong)?))
}

fn parse_parameter(text: &str) -> Result<(String, i64), String> {
    let wrong = || "expected NAME=NUMBER".to_string();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value = value.trim().parse().map_err(|_| wrong())?;
    if name.is_empty() { Err(wrong()) } else { Ok((name.to_string(), value)) }
}

pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        // A year: beyond it deadlines overflow the clock.
        Ok(limit) if !limit.is_zero() && seconds <= 31_536_000.0 => Ok(limit),
        _ => Err("expected more than zero and at most 31536000 seconds".to_string()),
    }
}

fn parse_class(text: &str) -> Result<WitnessClass, String> {
    let names = || WitnessClass::ALL.map(WitnessClass::name).join(", ");
    let found = WitnessClass::ALL.into_iter().find(|class| class.name() == text);
    found.ok_or_else(|| format!("expected some of {}", names()))
}

fn parse_solver(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("expected a command".to_string()) } else { Ok(text.to_string()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use expect_test::{Expect, expect};

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    fn parses_to(line: &str, expect: Expect) {
        let words = std::iter::once("lockstep").chain(line.split_whitespace());
        let text = match Arguments::try_parse_from(words) {
            Ok(Arguments { command: Command::Check(c) }) => {
                format!("{:?} {:?} {:?} {} {:?}", c.functions, c.timeout, c.jobs, c.unroll, c.solvers)
            }
            Ok(other) => format!("{other:?}"),
            Err(error) => error.to_string().lines().next().unwrap_or_default().to_string(),
        };
        expect.assert_eq(&text);
    }

    #[test]
    fn defaults() {
        parses_to("check a.o b.o", expect!["[] 60s None 128 []"]);
    }

    #[test]
    fn functions_by_name_and_by_two_names() {
        parses_to(
            "check a.o b.o --function f --function g=h --timeout 0.5 --solver yices --jobs 2",
            expect![[
                r#"[Selection { name: "f", other: None }, Selection { name: "g", other: Some("h") }] 500ms Some(2) 128 ["yices"]"#
            ]],
        );
    }

    #[test]
    fn usage_errors() {
        parses_to("check a.o", expect!["error: the following required arguments were not provided:"]);
        parses_to(
            "check a.o b.o --timeout 0",
            expect![
                "error: invalid value '0' for '--timeout <SECONDS>': expected more than zero and at most 31536000 seconds"
            ],
        );
        parses_to(
            "check a.o b.o --timeout nan",
            expect![
                "error: invalid value 'nan' for '--timeout <SECONDS>': expected more than zero and at most 31536000 seconds"
            ],
        );
        parses_to(
            "check a.o b.o --jobs 0",
            expect!["error: invalid value '0' for '--jobs <N>': number would be zero for non-zero type"],
        );
        parses_to(
            "check a.o b.o --function =h",
            expect!["error: invalid value '=h' for '--function <NAME[=OTHER]>': expected NAME or NAME=OTHER"],
        );
        parses_to("check a.o b.o --frobnicate", expect!["error: unexpected argument '--frobnicate' found"]);
        parses_to("show", expect!["error: the following required arguments were not provided:"]);
        parses_to("show a.o b.o", expect!["error: the following required arguments were not provided:"]);
        parses_to(
            "show --certificate c.json --function f",
            expect!["error: the argument '--certificate <FILE>' cannot be used with '--function <NAME>'"],
        );
        parses_to("optimize a.o", expect!["error: the following required arguments were not provided:"]);
        parses_to("frobnicate a.o", expect!["error: unrecognized subcommand 'frobnicate'"]);
    }
}
