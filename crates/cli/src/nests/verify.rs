//! `verify` for C kernels: the kernel alone, with terms, on a saved claim.

use super::lowered::{self, Confirmation};
use super::modules::Modules;
use super::native::Side;
use super::objects::{self, Files};
use super::{has_pragmas, is_c};
use crate::arguments::VerifyArguments;
use crate::deliver;
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use interrupt::Interrupt;
use kernel::CheckedProof;
use kernel::nests::{UpdateCertificate, UpdateRejection, check_code, check_updates};
use lift_c::{Settings, Source};
use program::Assumption;
use search::nests::KernelOptions;
use std::num::NonZeroUsize;
use std::path::Path;

const SETTINGS: pool::Settings = pool::Settings { workers: NonZeroUsize::MIN, patience: pool::NO_LIMIT };
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
        Some(Finished::Done(Ok(Ok((proof, more))))) => {
            let mut assumptions: Vec<String> = proof.assumptions().iter().chain(&more).map(|a| a.to_string()).collect();
            assumptions.sort();
            deliver(&format!("  {name}   accepted   assumes {}\n", assumptions.join(", ")));
            Ok(Status::Good)
        }
        Some(Finished::Done(Ok(Err(Refused::Claim(UpdateRejection::Malformed(what)))))) => Err(failed(what)),
        Some(Finished::Done(Ok(Err(Refused::Claim(rejection))))) => rejected(&name, &describe(&rejection)),
        Some(Finished::Done(Ok(Err(Refused::Unconfirmed(what))))) => rejected(&name, &what),
        Some(Finished::Done(Err(failure))) => Err(failure),
        Some(Finished::Panicked(_)) => rejected(&name, "internal"),
        Some(Finished::Overdue) | None => rejected(&name, "timeout"),
    }
}

fn rejected(name: &str, why: &str) -> Result<Status, Failure> {
    deliver(&format!("  {name}   rejected   {why}\n"));
    Ok(Status::Unknown)
}

/// A proof, and what it assumes besides.
type Accepted = (CheckedProof, Vec<Assumption>);

/// Why there is none.
enum Refused {
    Claim(UpdateRejection),
    /// The compiler's code does not show it.
    Unconfirmed(String),
}

impl From<UpdateRejection> for Refused {
    fn from(rejection: UpdateRejection) -> Refused {
        Refused::Claim(rejection)
    }
}

fn check(certificate: &UpdateCertificate, files: Files<'_>) -> Result<Result<Accepted, Refused>, Failure> {
    let settings = Settings {
        defines: certificate.defines.clone(),
        includes: certificate.includes.iter().map(Into::into).collect(),
        parameters: certificate.parameters.clone(),
    };
    let claim = certificate.claim().map_err(Failure)?;
    let never = Interrupt::never();
    if files.with_object() {
        let loaded = match objects::load(files, [&certificate.original, &certificate.candidate], &settings)? {
            Ok(loaded) => loaded,
            Err(_) => {
                let what = "one of the functions cannot be read".to_string();
                return Ok(Err(UpdateRejection::Malformed(what).into()));
            }
        };
        let about = [&certificate.original_hash, &certificate.candidate_hash];
        let same =
            loaded.hashes().iter().eq(about) && certificate.interface_hash.as_deref() == Some(loaded.interface_hash());
        if !same {
            let what = "the certificate is about another version of one of the files";
            return Ok(Err(UpdateRejection::Malformed(what.to_string()).into()));
        }
        let from_c = is_c(files.original) || is_c(files.candidate);
        let more = from_c.then_some(Assumption::OwnFrontEnd).into_iter().collect();
        let checked = check_code(&loaded.interface, loaded.subjects(), claim, &never);
        return Ok(checked.map(|proof| (proof, more)).map_err(Refused::Claim));
    }
    let read = |path: &Path, hash: &str| {
        let source = Source::read(path, &settings).map_err(|e| Failure(e.to_string()))?;
        if source.hash() != hash {
            return Err(Failure(format!("{}: the certificate is about another version", path.display())));
        }
        Ok(source)
    };
    let original = read(files.original, &certificate.original_hash)?;
    let candidate = read(files.candidate, &certificate.candidate_hash)?;
    let lower = |source: &Source, name: &str| {
        source.lower(name, &certificate.parameters).map_err(|e| Failure(format!("{}: {e}", source.path())))
    };
    let ours = lower(&original, &certificate.original)?;
    let theirs = lower(&candidate, &certificate.candidate)?;
    let proof = match check_updates(&ours, &theirs, claim, &never) {
        Ok(proof) => proof,
        Err(rejection) => return Ok(Err(rejection.into())),
    };
    let side = |source, program, name| Side { source, program, name, object: None };
    let sides = [side(&original, &ours, &certificate.original), side(&candidate, &theirs, &certificate.candidate)];
    let options = KernelOptions {
        mode: claim.mode,
        strict: claim.strict,
        flat: claim.flat,
        exact: true,
        seed: 0,
        timeout: pool::NO_LIMIT,
    };
    let pragmas = has_pragmas(&sides).then_some(Assumption::PragmasAsRead);
    Ok(match lowered::confirm(&sides, options, &Modules::default()) {
        Confirmation::Proved(proof) => Ok((proof, pragmas.into_iter().collect())),
        Confirmation::Assumed(assumption) => Ok((proof, pragmas.into_iter().chain([assumption]).collect())),
        Confirmation::Refused(reason) => Err(Refused::Unconfirmed(reason.detail)),
    })
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
