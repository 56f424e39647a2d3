//! `lockstep show`: what lockstep understood of a file, or what a certificate claims.

use crate::arguments::{Drawing, ShowArguments};
use crate::objects::input::{read, unsupported};
use crate::objects::why;
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use crate::{certificate_view, deliver, nests};
use pair::{File, new_arena};
use program::{CallInterface, Side, write_function};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::time::Duration;

/// Functions are lifted one by one; even the largest takes seconds at most.
const SETTINGS: pool::Settings = pool::Settings { workers: NonZeroUsize::MIN, patience: Duration::from_secs(600) };

/// Prints the functions of the file, or the chosen one. Functions that cannot be lifted are shown with the reason.
pub fn run(arguments: &ShowArguments) -> Result<Status, Failure> {
    if let Some(certificate) = &arguments.certificate {
        return certificate_view::run(arguments, certificate);
    }
    if let Some(name) = &arguments.why {
        return why::run(arguments, name);
    }
    let Some(path) = &arguments.file else { return Err(Failure("no file to show".to_string())) };
    if arguments.format == Drawing::Dot {
        return Err(Failure("--format dot is for certificates".to_string()));
    }
    if nests::is_c(path) {
        return nests::show(arguments, path);
    }
    let file = path.display();
    let program = read(path)?;
    let chosen = match &arguments.function {
        Some(name) => {
            let missing = || Failure(format!("{file}: no function of the name `{name}`"));
            let index = program.find(name).ok_or_else(missing)?;
            index..index + 1
        }
        None => 0..program.names().len(),
    };
    if chosen.is_empty() {
        return Err(Failure(format!("{file}: no function")));
    }
    let first = chosen.start;
    let names: Vec<String> = chosen.clone().map(|i| program.name(i).to_string()).collect();
    let interfaces = arguments.calls.interfaces(&names, &program)?;
    let shown = pool::run_in_order(chosen.len(), SETTINGS, move |i| render(&program, first + i, &interfaces), |_| {});
    for part in shown {
        match part.finished {
            Finished::Done(text) => deliver(&text),
            Finished::Panicked(message) => deliver(&format!("internal: {message}\n\n")),
            Finished::Overdue => deliver("internal: lifting takes too long\n\n"),
        }
    }
    Ok(Status::Good)
}

fn render(program: &File, function: usize, interfaces: &BTreeMap<String, CallInterface>) -> String {
    // A fresh arena each, so that a function looks the same whatever is shown with it.
    let mut arena = new_arena();
    match program.lift(function, Side::Original, &mut arena) {
        Ok(mut lifted) => {
            if let Some(interface) = interfaces.get(program.name(function)) {
                lifted.take_interface(interface);
            }
            format!("{}\n", write_function(&arena, &lifted))
        }
        Err(error) => format!("{}: {}\n\n", program.name(function).escape_debug(), unsupported(error)),
    }
}
