//! The `lockstep` binary: flags, files, progress, exit codes. The only crate that prints.
//!
//! Data goes to stdout, everything else to stderr, and stdout stays empty when the run fails (exit status 3). What
//! is decided here is which functions are compared and how the answer is shown; what the answer is comes from
//! `search` and the kernel.

mod arguments;
mod certificate_view;
mod certificates;
mod check;
mod instruction_set;
mod measuring;
mod recording;
mod pairing;
mod pool;
mod processor_time;
mod progress;
mod show;
mod status;
mod verify;
mod objects;
mod regalloc;
mod nests;
mod optimize;

use arguments::{Arguments, Command};
use clap::Parser;
use status::{Failure, Status};
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // A closed stdout or stderr is no reason to fail differently.
            let _ = error.print();
            return if error.use_stderr() { Status::Failed.into() } else { ExitCode::SUCCESS };
        }
    };
    explain_search();
    let result = match &arguments.command {
        Command::Check(arguments) => check::run(arguments),
        Command::Verify(arguments) => verify::run(arguments),
        Command::Record(arguments) => recording::run(arguments),
        Command::Measure(arguments) => measuring::run(arguments),
        Command::Show(arguments) => show::run(arguments),
        Command::Guard(arguments) => objects::guard::run(arguments),
        Command::Regalloc(arguments) => regalloc::run(arguments),
        Command::Optimize(arguments) => optimize::run(arguments),
    };
    match result {
        Ok(status) => status.into(),
        Err(Failure(message)) => {
            complain(&format!("error: {message}"));
            Status::Failed.into()
        }
    }
}

/// Prints what the search tries to stderr if `LOCKSTEP_LOG` asks for it (`debug`, or `search=debug`).
fn explain_search() {
    let Ok(filter) = tracing_subscriber::EnvFilter::try_from_env("LOCKSTEP_LOG") else { return };
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(false).init();
}

/// Writes data to stdout. A reader that has gone away (`| head`) does not change the exit status.
fn deliver(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Writes a message to stderr.
fn complain(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "lockstep: {message}");
}
