//! `verify` for C kernels: the kernel alone, with terms, on a saved claim.

use super::objects::{self, Files};
use crate::arguments::VerifyArguments;
use crate::deliver;
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use kernel::CheckedProof;
use kernel::updates::{UpdateCertificate, UpdateRejection, check_code, check_updates};
use lift_c::{Settings, Source};
use std::num::NonZeroUsize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time for one certificate.
const LIMIT: Duration = Duration::from_secs(600);
const SETTINGS: pool::Settings = pool::Settings { workers: NonZeroUsize::MIN, patience: Duration::from_secs(620) };
/// Certificates are small; a larger file is something else.
const LARGEST: u64 = 1 << 20;

/// Checks the certificate against the two files.
pub fn verify(arguments: &VerifyArguments) -> Result<Status, Failure> {
    let path = &arguments.certificate;
    let failed = |what: String| Failure(format!("{}: {what}", path.display()));
    let size = std::fs::metadata(path).map_err(|e| failed(e.to_string()))?.len();
    if size > LARGEST {
        return Err(failed(format!("{size} bytes are too many for a certificate")));
    }
    let text = std::fs::read_to_string(path).map_err(|e| failed(e.to_string()))?;
    let certificate = UpdateCertificate::from_json(&text).map_err(failed)?;
    let name = certificate.original.clone();
    let (original, candidate) = (arguments.original.clone(), arguments.candidate.clone());
    let interface = arguments.interface.clone();
    let work = move |_| {
        let files = Files { original: &original, candidate: &candidate, interface: interface.as_deref() };
        check(&certificate, files)
    };
    match pool::run_in_order(1, SETTINGS, work, |_| {}).pop().map(|timed| timed.finished) {
        Some(Finished::Done(Ok(Ok(proof)))) => {
            let assumptions: Vec<String> = proof.assumptions().iter().map(|a| a.to_string()).collect();
            deliver(&format!("  {name}   accepted   assumes {}\n", assumptions.join(", ")));
            Ok(Status::Good)
        }
        Some(Finished::Done(Ok(Err(UpdateRejection::Malformed(what))))) => Err(failed(what)),
        Some(Finished::Done(Ok(Err(rejection)))) => rejected(&name, &describe(&rejection)),
        Some(Finished::Done(Err(failure))) => Err(failure),
        Some(Finished::Panicked(_)) => rejected(&name, "internal"),
        Some(Finished::Overdue) | None => rejected(&name, "timeout"),
    }
}

fn rejected(name: &str, why: &str) -> Result<Status, Failure> {
    deliver(&format!("  {name}   rejected   {why}\n"));
    Ok(Status::Unknown)
}

fn check(certificate: &UpdateCertificate, files: Files<'_>) -> Result<Result<CheckedProof, UpdateRejection>, Failure> {
    let settings = Settings {
        defines: certificate.defines.clone(),
        includes: certificate.includes.iter().map(Into::into).collect(),
        parameters: certificate.parameters.clone(),
    };
    let claim = certificate.claim().map_err(Failure)?;
    let deadline = Some(Instant::now() + LIMIT);
    if files.with_object() {
        let loaded = match objects::load(files, [&certificate.original, &certificate.candidate], &settings)? {
            Ok(loaded) => loaded,
            Err(_) => return Ok(Err(UpdateRejection::Malformed("one of the functions cannot be read".to_string()))),
        };
        let about = [&certificate.original_hash, &certificate.candidate_hash];
        let same =
            loaded.hashes().iter().eq(about) && certificate.interface_hash.as_deref() == Some(loaded.interface_hash());
        if !same {
            let what = "the certificate is about another version of one of the files";
            return Ok(Err(UpdateRejection::Malformed(what.to_string())));
        }
        return Ok(check_code(&loaded.interface, loaded.subjects(), claim, deadline));
    }
    let read = |path: &Path, hash: &str| {
        let source = Source::read(path, &settings).map_err(|e| Failure(e.to_string()))?;
        if source.hash() != hash {
            return Err(Failure(format!("{}: the certificate is about another version", path.display())));
        }
        Ok(source)
    };
    let ours = read(files.original, &certificate.original_hash)?;
    let theirs = read(files.candidate, &certificate.candidate_hash)?;
    let lower = |source: &Source, name: &str| {
        source.lower(name, &certificate.parameters).map_err(|e| Failure(format!("{}: {e}", source.path())))
    };
    let ours = lower(&ours, &certificate.original)?;
    let theirs = lower(&theirs, &certificate.candidate)?;
    Ok(check_updates(&ours, &theirs, claim, deadline))
}

pub(super) fn describe(rejection: &UpdateRejection) -> String {
    match rejection {
        UpdateRejection::Malformed(what) => what.clone(),
        UpdateRejection::Fault(side, fault) => format!("the {}: {}", side.name(), fault.detail),
        UpdateRejection::Different { count, .. } => format!("{count} cells differ"),
        UpdateRejection::Division(line) => format!("line {line} of the candidate divides something else"),
        UpdateRejection::Unmatched(name) => format!("the global `{name}` is changed by one side only"),
        UpdateRejection::Start(name) => format!("`{name}` starts with other values in the candidate"),
        UpdateRejection::OutOfTerms => "out of memory".to_string(),
        UpdateRejection::OutOfBudget => "out of time".to_string(),
    }
}
