//! `lockstep verify`: the kernel alone on a saved certificate.

use crate::arguments::{VerifyArguments, undefined};
use crate::check::NO_UB_ELSEWHERE;
use crate::input::{self, unsupported};
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use crate::{complain, deliver, kernels, machine_ir};
use kernel::lemma::Unproved;
use kernel::{Certificate, CheckedProof, Rejection};
use pair::{File, Files, Prepared};
use solver::{Solver, SolverOptions};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time for one certificate.
const LIMIT: Duration = Duration::from_secs(600);
/// One check, given up a little after its own limit.
const SETTINGS: pool::Settings = pool::Settings { workers: NonZeroUsize::MIN, patience: Duration::from_secs(620) };
/// Certificates are small; a larger file is something else.
const LARGEST: u64 = 64 << 20;

/// Why there is no proof.
enum Refused {
    /// A lemma that the certificate states.
    Lemma(Unproved),
    /// The rest of it.
    Certificate(Rejection),
}

/// Checks the certificate against the two files.
pub fn run(arguments: &VerifyArguments) -> Result<Status, Failure> {
    let machine_ir = machine_ir::is_machine_ir(&arguments.original);
    let c = kernels::is_c(&arguments.original) || kernels::is_c(&arguments.candidate);
    let kernel = c || arguments.interface.is_some();
    if arguments.no_ub && (machine_ir || kernel) {
        return Err(Failure(NO_UB_ELSEWHERE.to_string()));
    }
    if machine_ir {
        return machine_ir::verify(arguments);
    }
    if kernel {
        return kernels::verify(arguments);
    }
    let certificate = read(&arguments.certificate)?;
    let (original, candidate) = (input::read(&arguments.original)?, input::read(&arguments.candidate)?);
    let files = Files::new(original, candidate, undefined(arguments.no_ub));
    let find = |file: &File, path: &Path, name: &str| {
        let missing = || Failure(format!("{}: no function `{name}`, which the certificate is about", path.display()));
        file.find(name).ok_or_else(missing)
    };
    let ours = find(files.original(), &arguments.original, &certificate.original)?;
    let theirs = find(files.candidate(), &arguments.candidate, &certificate.candidate)?;
    let name = certificate.original.clone();
    let work = move |_| {
        let facts = match files.prove_stated(&certificate.lemmas) {
            Ok(facts) => facts,
            Err(unproved) => return Ok(Err(Refused::Lemma(unproved))),
        };
        let prepared = files.prepare([ours, theirs], &facts);
        Ok(check(prepared.map_err(|error| Failure(unsupported(error).to_string()))?, &certificate)
            .map_err(Refused::Certificate))
    };
    let result = pool::run_in_order(1, SETTINGS, work, |_| {}).pop().map(|timed| timed.finished);
    match result {
        Some(Finished::Done(Ok(Ok(proof)))) => {
            let assumptions: Vec<String> = proof.assumptions().iter().map(|a| a.to_string()).collect();
            let assumes =
                if assumptions.is_empty() { String::new() } else { format!("   assumes {}", assumptions.join(", ")) };
            deliver(&format!("  {name}   accepted{assumes}\n"));
            Ok(Status::Good)
        }
        Some(Finished::Done(Ok(Err(refused)))) => match refused {
            Refused::Certificate(Rejection::Malformed(what)) => {
                Err(Failure(format!("{}: {what}", arguments.certificate.display())))
            }
            Refused::Lemma(senseless @ Unproved::Senseless { .. }) => {
                Err(Failure(format!("{}: {senseless}", arguments.certificate.display())))
            }
            Refused::Certificate(rejection) => {
                deliver(&format!("  {name}   rejected   {rejection}\n"));
                Ok(Status::Unknown)
            }
            Refused::Lemma(unproved) => {
                deliver(&format!("  {name}   rejected   {unproved}\n"));
                Ok(Status::Unknown)
            }
        },
        Some(Finished::Done(Err(failure))) => Err(failure),
        Some(Finished::Panicked(message)) => {
            complain(&format!("internal: {message}"));
            deliver(&format!("  {name}   rejected   internal\n"));
            Ok(Status::Unknown)
        }
        Some(Finished::Overdue) | None => {
            deliver(&format!("  {name}   rejected   timeout\n"));
            Ok(Status::Unknown)
        }
    }
}

fn read(path: &Path) -> Result<Certificate, Failure> {
    Certificate::from_json(&read_text(path)?).map_err(|what| Failure(format!("{}: {what}", path.display())))
}

/// The text of a certificate of any kind.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let failed = |what: String| Failure(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("{size} bytes are too many for a certificate")));
    }
    std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))
}

fn check(Prepared { mut arena, pair }: Prepared, certificate: &Certificate) -> Result<CheckedProof, Rejection> {
    let deadline = Instant::now() + LIMIT;
    let mut solver = Solver::new(SolverOptions { deadline, ..SolverOptions::default() });
    kernel::check(&mut arena, &pair, certificate, &mut solver, Some(deadline))
}
