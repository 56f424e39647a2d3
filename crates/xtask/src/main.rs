//! Automation: `cargo xtask demo|test|bench`.
//!
//! Each command installs what it needs where it can (root on a Debian-like system) and otherwise prints the line
//! that would. Nothing here is part of the prover, so its dependencies stay few: this compiles first.

mod attack;
mod baseline;
mod bench;
mod build;
mod conditional;
mod guards;
mod demo;
mod inferred;
mod kernels;
mod harmless;
mod regalloc;
mod loops;
mod measure;
mod optimize;
mod rooms;
mod test;
mod tools;

use std::path::PathBuf;
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask COMMAND

  demo                             build lockstep and show it at work on the bundled examples
  test                             install what the tests need and run all of them
  bench [sample|corpus] [--save]   verdicts, times and counts of a fixed set of functions, against the stored ones;
                                   --save stores them. The sample is bundled, the corpus is in target/corpus.
  bench loops [--save]             the same for bundled functions with loops, -O0 against -O2, -O3 and -O3 -mavx2: a row
                                   for each file and level
  bench conditional [FUNCTION…] [--guards] [--lockstep FILE]
                                   pairs of bench/conditional under the conditions written there, or behind guards that check them
  bench kernels [--limit N]        generated variants of C loop kernels (at most N of each kernel), right and wrong
  bench measure [--aa N]           N measurements of functions against themselves, in which nothing may be claimed
  bench conditional --infer [FUNCTION…] [--no-twins] [--lockstep FILE]
                                   conditions that are inferred for pairs of bench/conditional, against those of a paper, and
                                   what is said of conditions that are weaker; fails if one of these is accepted
  attack [--minutes M] [--seed S] [--area A] [--batches N] [--timeout T] [--inputs N] [--jobs N] [--planted PERCENT] [--lockstep FILE]
                                   generated pairs with a known answer; every `equivalent` is run natively. Fails if one is wrong.
                                   A: calls, contracts, library, statics, addresses, data, memory, loops, float, assembly, all,
                                   or c: random C kernels against mutants of themselves (a batch is one pair)
  attack --mutate DIR [--minutes M] [--seed S]
                                   changes one instruction or relocation of the candidates that corpus.py built in DIR
  attack --show BATCH [--seed S] [--area A]
                                   writes the sources of one batch to target/attack/shown
  bench optimize [--only NAME] [--limit N] [--time SECONDS] [--cpu CPU] [--wrong N] [--lockstep FILE]
                                   how much faster `lockstep optimize` makes known kernels (a function or a group: conditional, loops,
                                   strings, delight); --wrong: N wrong versions in one run, of which none may get out
  bench evaluators                 proposals a second of the search for faster code: chains, the processor, whole programs
  rooms                            lines, tests and circles of modules by room; the largest types and functions
  bench regalloc [mutants] [--lockstep FILE]
                                   register allocation of the Machine IR in target/mir, wrong allocations, and llc's time";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["demo"] => demo::run(),
        ["rooms"] => rooms::run(),
        ["test"] => test::run(),
        ["bench", "kernels", rest @ ..] => match kernels::Request::parse(rest) {
            Some(request) => kernels::run(request),
            None => Err(USAGE.to_string()),
        },
        ["bench", "conditional", "--infer", rest @ ..] => match inferred::Request::parse(rest) {
            Some(request) => inferred::run(&request),
            None => Err(USAGE.to_string()),
        },
        ["bench", "conditional", rest @ ..] => match conditional::Request::parse(rest) {
            Some(request) => conditional::run(&request),
            None => Err(USAGE.to_string()),
        },
        ["attack", rest @ ..] => match attack::Request::parse(rest) {
            Some(request) => attack::run(request),
            None => Err(USAGE.to_string()),
        },
        ["bench", "regalloc", rest @ ..] => match regalloc::Request::parse(rest) {
            Some(request) => regalloc::run(request),
            None => Err(USAGE.to_string()),
        },
        ["bench", "measure", rest @ ..] => match measure::parse(rest) {
            Some(sessions) => measure::run(sessions),
            None => Err(USAGE.to_string()),
        },
        ["bench", "evaluators"] => build::example("superopt", "evaluators", &["rates"]),
        ["bench", "optimize", rest @ ..] => match optimize::Request::parse(rest) {
            Some(request) => optimize::run(request),
            None => Err(USAGE.to_string()),
        },
        ["bench", rest @ ..] => match bench::Request::parse(rest) {
            Some(request) => bench::run(request),
            None => Err(USAGE.to_string()),
        },
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(USAGE.to_string()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Root of the workspace.
fn root() -> PathBuf {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).map_or(here.clone(), PathBuf::from)
}
