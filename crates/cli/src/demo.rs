//! `lockstep demo`: what a first session looks like, on examples that come with the binary.
//!
//! They are assembly as gcc makes it, so that nothing but `as` is needed: the same functions without and with
//! optimisation, and once more with a mistake in one.

use crate::arguments::{Arguments, Command, DemoArguments};
use crate::status::{Failure, Status};
use crate::{check, deliver};
use clap::Parser;
use std::path::Path;

const FILES: [(&str, &str); 5] = [
    ("account.c", include_str!("../demo/account.c")),
    ("old.s", include_str!("../demo/old.s")),
    ("new.s", include_str!("../demo/new.s")),
    ("wrong.s", include_str!("../demo/wrong.s")),
    ("account_wrong.c", include_str!("../demo/account_wrong.c")),
];

/// What is shown: a sentence, and the words behind `lockstep`.
const STEPS: [(&str, &str); 3] = [
    ("The same source without and with optimisation. Each proof lists what it takes for granted.", "check old.s new.s"),
    (
        "A version with a mistake in `clamp`: an input on which both disagree, replayed.",
        "check old.s wrong.s --function clamp",
    ),
    ("What a word in a report means.", "explain in-bounds"),
];

/// Shows the steps.
pub fn run(arguments: &DemoArguments) -> Result<Status, Failure> {
    let scratch = tempfile::tempdir().map_err(|e| Failure(format!("no scratch directory: {e}")))?;
    let folder = arguments.keep.as_deref().unwrap_or(scratch.path());
    let failed = |path: &Path, e: std::io::Error| Failure(format!("{}: {e}", path.display()));
    std::fs::create_dir_all(folder).map_err(|e| failed(folder, e))?;
    for (name, text) in FILES {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| failed(&path, e))?;
    }
    std::env::set_current_dir(folder).map_err(|e| failed(folder, e))?;
    for (sentence, words) in STEPS {
        deliver(&format!("# {sentence}\n$ lockstep {words}\n"));
        let parsed = Arguments::try_parse_from(std::iter::once("lockstep").chain(words.split(' ')));
        match parsed.map_err(|e| Failure(e.to_string()))?.command {
            Command::Check(arguments) => drop(check::run(&arguments)?),
            Command::Explain(arguments) => drop(crate::explain::run(&arguments)?),
            _ => {}
        }
        deliver("\n");
    }
    let kept =
        arguments.keep.as_ref().map_or(String::new(), |folder| format!(" The files are in {}.", folder.display()));
    deliver(&format!("Now with your own: lockstep check old.o new.o; see lockstep help check.{kept}\n"));
    Ok(Status::Good)
}
