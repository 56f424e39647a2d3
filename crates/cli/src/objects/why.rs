//! `lockstep show --why FUNCTION`: what the search tried for one function, and what each attempt failed at.

use crate::arguments::{Drawing, ShowArguments};
use crate::objects::input::{read, unsupported};
use crate::pairing::Matched;
use crate::pool::{self, Finished};
use crate::regalloc::machine_ir;
use crate::status::{Failure, Status};
use crate::{check, deliver, nests};
use pair::{Files, Prepared};
use program::Undefined;
use search::{Options, Session};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

/// Searches for a proof of the function and prints the attempts.
pub fn run(arguments: &ShowArguments, name: &str) -> Result<Status, Failure> {
    let (Some(original), Some(candidate)) = (&arguments.file, &arguments.candidate) else {
        return Err(Failure("--why is about two programs: give ORIGINAL and CANDIDATE".to_string()));
    };
    let elsewhere = |path: &Path| nests::is_c(path) || machine_ir::is_machine_ir(path);
    if elsewhere(original) || elsewhere(candidate) {
        return Err(Failure("--why is for functions of object files".to_string()));
    }
    if arguments.format == Drawing::Dot {
        return Err(Failure("--format dot is for certificates".to_string()));
    }
    let files = Files::new(read(original)?, read(candidate)?, Undefined::default());
    let find = |path: &Path, file: &pair::File| {
        let missing = || Failure(format!("{}: no function of the name `{}`", path.display(), name.escape_debug()));
        file.find(name).ok_or_else(missing)
    };
    let places = [find(original, files.original())?, find(candidate, files.candidate())?];
    let [ours, theirs] = places;
    let pair = Matched { name: name.to_string(), original: ours, candidate: Some(theirs) };
    let files = arguments.calls.apply(files, &[pair])?;
    let timeout = arguments.timeout;
    let session = Session::new(Options { timeout, journal: true, ..Options::default() });
    let settings = pool::Settings { workers: NonZeroUsize::MIN, patience: check::LEMMAS_HANG + timeout };
    let files = Arc::new(files);
    let facts = check::find_facts(&files, vec![places]);
    let work = move |_| {
        let Prepared { mut arena, pair } = files.prepare(places, &facts).map_err(|e| unsupported(e).to_string())?;
        let outcome = session.check_pair(&mut arena, &pair);
        Ok::<_, String>(report::render_attempts(pair.functions(), &outcome))
    };
    match pool::run_in_order(1, settings, work, |_| {}).pop().map(|timed| timed.finished) {
        Some(Finished::Done(Ok(text))) => deliver(&text),
        Some(Finished::Done(Err(what))) => deliver(&format!("{}: {what}\n", name.escape_debug())),
        Some(Finished::Panicked(message)) => return Err(Failure(format!("internal: {message}"))),
        Some(Finished::Overdue) | None => return Err(Failure("the search takes too long".to_string())),
    }
    Ok(Status::Good)
}
