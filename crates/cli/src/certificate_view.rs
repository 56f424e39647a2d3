//! `lockstep show --certificate`: what a certificate claims, in words. Nothing is checked here; that is `verify`.

use crate::arguments::{Drawing, ShowArguments};
use crate::deliver;
use crate::objects::input::{read, unsupported};
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use crate::verify::read_text;
use kernel::Certificate;
use kernel::lemma::Facts;
use kernel::nests::UpdateCertificate;
use kernel::regalloc::AllocationCertificate;
use pair::Files;
use program::Undefined;
use report::{CertificateView, render_allocation_claim, render_update_claim};
use serde_json::Value;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Two functions are lifted; even the largest take seconds at most.
const SETTINGS: pool::Settings = pool::Settings { workers: NonZeroUsize::MIN, patience: Duration::from_secs(600) };

/// Prints the certificate.
pub fn run(arguments: &ShowArguments, path: &Path) -> Result<Status, Failure> {
    let failed = |what: String| Failure(format!("{}: {what}", path.display()));
    let files = match (&arguments.file, &arguments.candidate) {
        (Some(original), Some(candidate)) => Some([original.clone(), candidate.clone()]),
        (None, None) => None,
        _ => return Err(Failure("a certificate is about two programs: give both or neither".to_string())),
    };
    let text = read_text(path)?;
    let json: Value = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
    let shown = match json.get("kind").and_then(Value::as_str) {
        None => {
            let certificate = Certificate::from_json(&text).map_err(failed)?;
            product(certificate, files, arguments.format).map_err(failed)?
        }
        // They name cells and registers by themselves, and have no product graph.
        Some(_) if files.is_some() => {
            return Err(failed("ORIGINAL and CANDIDATE are for certificates about objects".into()));
        }
        Some(_) if arguments.format == Drawing::Dot => {
            return Err(failed("no product graph that could be drawn".into()));
        }
        Some("updates") => render_update_claim(&UpdateCertificate::from_json(&text).map_err(failed)?),
        Some("regalloc") => {
            AllocationCertificate::from_json(&text).map_err(failed)?;
            render_allocation_claim(&json).map_err(failed)?
        }
        Some(other) => {
            return Err(failed(format!("certificates of the kind `{}` are not known", other.escape_debug())));
        }
    };
    deliver(&shown);
    Ok(Status::Good)
}

fn product(certificate: Certificate, files: Option<[PathBuf; 2]>, format: Drawing) -> Result<String, String> {
    let Some(files) = files else {
        return CertificateView::new(&certificate, None).map(|view| draw(&view, format));
    };
    let find = |path: &PathBuf, name: &str| {
        let file = read(path).map_err(|Failure(what)| what)?;
        let missing = || format!("{} has no function `{}`", path.display(), name.escape_debug());
        let index = file.find(name).ok_or_else(missing)?;
        Ok::<_, String>((index, file))
    };
    let [original, candidate] = &files;
    let (ours, original) = find(original, &certificate.original)?;
    let (theirs, candidate) = find(candidate, &certificate.candidate)?;
    let files = Files::new(original, candidate, Undefined::default());
    let work = move |_| {
        // What is claimed does not depend on what is known of other functions.
        let prepared = files.prepare([ours, theirs], &Facts::default());
        let pair = prepared.map_err(|error| unsupported(error).to_string())?.pair;
        let view = CertificateView::new(&certificate, Some(pair.functions()))?;
        Ok(draw(&view, format))
    };
    match pool::run_in_order(1, SETTINGS, work, |_| {}).pop().map(|timed| timed.finished) {
        Some(Finished::Done(shown)) => shown,
        Some(Finished::Panicked(message)) => Err(format!("internal: {message}")),
        Some(Finished::Overdue) | None => Err("lifting takes too long".to_string()),
    }
}

fn draw(view: &CertificateView, format: Drawing) -> String {
    match format {
        Drawing::Text => view.render_text(),
        Drawing::Dot => view.render_dot(),
    }
}
