//! `lockstep guard`: an object that checks a condition, goes to the candidate where it holds and to the original elsewhere.
//!
//! The crate `guard` writes it; it is written to a file beside the output, read again as any candidate is, and proved equivalent to the
//! original without a condition. Only then the file gets its name. Nothing else decides whether it is right.

mod condition_of;
mod output;
mod proof;
mod timing;

use crate::arguments::{Format, parse_seconds, parse_selection};
use crate::check::find_facts;
use crate::objects::assume::AssumeArguments;
use crate::objects::input::{read, unsupported};
use crate::objects::start_states;
use crate::pairing::{Matched, Selection, pair_functions};
use crate::status::{Failure, Status};
use crate::{complain, deliver};
use ::guard::{Guarded, ObjectPiece, Variadic};
use clap::Args;
use condition_of::Condition;
use kernel::lemma::Facts;
use output::{Cost, Form, Report};
use pair::{File, Files, Prepared};
use program::{Function, Undefined};
use search::Native;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use timing::Sizes;

/// Exit status: 0 written, 2 not written because there is no proof, 3 bad input or usage, or a condition that no code can check.
#[derive(Args, Debug)]
pub struct GuardArguments {
    /// The program that says what is right: an x86-64 object or `.s` file
    pub original: PathBuf,
    /// What is to run where the condition holds
    pub candidate: PathBuf,
    /// The function, or NAME with OTHER of the candidate
    #[arg(long = "function", value_name = "NAME[=OTHER]", value_parser = parse_selection)]
    pub function: Selection,
    /// Where to write it: `.o` is the original's object with the guarded function in it, `.s` a listing of the new code, `.c` the check as
    /// source text, which is not what was proved
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub assume: AssumeArguments,
    /// Take the condition from this certificate of a proof under a condition
    #[arg(long, value_name = "FILE", conflicts_with = "assume")]
    pub certificate: Option<PathBuf>,
    /// Save the proof that the guarded function is the original in this directory
    #[arg(long, value_name = "DIR")]
    pub certificates: Option<PathBuf>,
    /// Time limit for the proof, in seconds
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub timeout: Duration,
    /// Also try the start states in this JSON file (docs/tests-format.md)
    #[arg(long, value_name = "FILE")]
    pub tests: Option<PathBuf>,
    /// Time original, candidate and guarded function at these values of an argument, in the sandbox
    #[arg(long, value_name = "[NAME=]N,N,…", value_parser = Sizes::parse, conflicts_with = "no_run")]
    pub sizes: Option<Sizes>,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// Execute nothing of either file
    #[arg(long)]
    pub no_run: bool,
}

/// Builds, proves and writes.
pub fn run(arguments: &GuardArguments) -> Result<Status, Failure> {
    let form = Form::of(&arguments.output)?;
    let start = Instant::now();
    let files = Arc::new(Files::new(read(&arguments.original)?, read(&arguments.candidate)?, Undefined::Excused));
    let names = [files.original().names(), files.candidate().names()];
    let pairing = pair_functions(&names[0], &names[1], std::slice::from_ref(&arguments.function))?;
    let [Matched { original, candidate: Some(candidate), name, .. }] = &pairing.pairs[..] else {
        let what = format!("the candidate has no function `{}`", arguments.function.name);
        return Err(Failure(what));
    };
    let both = [*original, *candidate];
    let tests = match &arguments.tests {
        Some(path) => start_states::read(path)?,
        None => Vec::new(),
    };
    let condition = Condition::read(arguments, &files, both)?;
    let symbols = pieces(&files, both);
    let guarded = Guarded {
        conjuncts: condition.precondition.conjuncts(),
        axioms: condition.precondition.axioms(),
        interface: &condition.interface,
        variadic: condition.variadic,
    };
    let object = ::guard::build(&symbols.piece(0), &symbols.piece(1), &guarded)
        .map_err(|refusal| Failure(format!("{name}: {refusal}")))?;
    let draft = form.draft(&arguments.output, &object)?;
    let (condition, object) = (Arc::new(condition), Arc::new(object));
    let attempt = proof::Attempt {
        files: Arc::clone(&files),
        both,
        condition: Arc::clone(&condition),
        object: Arc::clone(&object),
        original: arguments.original.clone(),
        guarded: draft.path().to_path_buf(),
        timeout: arguments.timeout,
        tests,
        native: if arguments.no_run { Native::Forbidden } else { Native::Allowed },
    };
    let outcome = proof::prove(attempt)?;
    let time = start.elapsed();
    let proved = matches!(outcome.verdict, search::Verdict::Equivalent(_));
    let rows = match &arguments.sizes {
        Some(sizes) if proved => {
            let names = [symbols.symbols[0].as_str(), symbols.symbols[1].as_str()];
            let measured = timing::measure(sizes, &files, both, names, &condition, &object.bytes);
            // A guard without times is a guard.
            measured.unwrap_or_else(|Failure(what)| {
                complain(&format!("warning: {what}"));
                Vec::new()
            })
        }
        _ => Vec::new(),
    };
    let cost = Cost::of(&object, rows);
    let report = Report { name, condition: &condition, cost, outcome: &outcome, form, time };
    if proved {
        form.publish(&arguments.output, draft, &report)?;
        if let (Some(directory), Some(certificate)) = (&arguments.certificates, &outcome.certificate) {
            save(directory, name, certificate)?;
        }
    }
    match arguments.format {
        Format::Text => deliver(&report.text(&arguments.output)),
        Format::Json => deliver(&report.json(&arguments.output)),
    }
    if !proved {
        complain(&format!("{}: not written: there is no proof", arguments.output.display()));
    }
    Ok(if proved { Status::Good } else { Status::Unknown })
}

fn save(directory: &Path, name: &str, certificate: &kernel::Certificate) -> Result<(), Failure> {
    let path = directory.join(crate::certificates::harmless_name(name));
    let written = std::fs::create_dir_all(directory).and_then(|()| std::fs::write(&path, certificate.to_json() + "\n"));
    written.map_err(|error| Failure(format!("{}: {error}", path.display())))
}

/// The two functions as the linker knows them.
struct Pieces<'f> {
    bytes: [&'f [u8]; 2],
    symbols: [String; 2],
}

impl Pieces<'_> {
    fn piece(&self, side: usize) -> ObjectPiece<'_> {
        ObjectPiece { bytes: self.bytes[side], function: &self.symbols[side] }
    }
}

fn pieces(files: &Files, both: [usize; 2]) -> Pieces<'_> {
    let programs = [files.original(), files.candidate()];
    Pieces { bytes: programs.map(|file| file.image().file()), symbols: [0, 1].map(|i| symbol(programs[i], both[i])) }
}

/// The function in a file that was written here.
fn find(file: &File, name: &str) -> Result<usize, Failure> {
    file.find(name).ok_or_else(|| Failure(format!("{}: no function `{name}`", file.image().name)))
}

/// The linker's name of a function.
fn symbol(file: &File, function: usize) -> String {
    let name = file.name(function);
    name.rsplit(':').next().and_then(|name| name.split('#').next()).unwrap_or(name).to_string()
}

/// May a function have more arguments than it names? Only debug information knows.
fn variadic(original: &Function) -> Variadic {
    match &original.signature {
        Some(signature) if !signature.variadic => Variadic::No,
        _ => Variadic::Perhaps,
    }
}

/// Two functions, without facts about others.
fn prepared(files: &Files, both: [usize; 2]) -> Result<Prepared, Failure> {
    files.prepare(both, &Facts::default()).map_err(|error| Failure(unsupported(error).to_string()))
}

/// What is known of the functions around a pair.
fn facts(files: &Arc<Files>, both: [usize; 2]) -> Facts {
    find_facts(files, vec![both])
}
