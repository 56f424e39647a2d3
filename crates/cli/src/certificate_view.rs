//! `lockstep show --certificate`: what a certificate claims, in words. Nothing is checked here; that is `verify`.

use crate::arguments::{Drawing, ShowArguments};
use crate::deliver;
use crate::input::{Program, new_arena};
use crate::pool::{self, Finished};
use crate::status::{Failure, Status};
use crate::verify::read_text;
use graph::Side;
use kernel::Certificate;
use kernel::regalloc::AllocationCertificate;
use kernel::updates::UpdateCertificate;
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
    let names = [certificate.original.clone(), certificate.candidate.clone()];
    let mut programs = Vec::new();
    for (file, name) in files.iter().zip(&names) {
        let program = Program::read(file).map_err(|Failure(what)| what)?;
        let index = program.find(name);
        let missing = || format!("{} has no function `{}`", file.display(), name.escape_debug());
        programs.push((index.ok_or_else(missing)?, program));
    }
    let work = move |_| {
        let mut arena = new_arena();
        let mut lifted = Vec::new();
        for (side, (index, program)) in Side::BOTH.into_iter().zip(&programs) {
            lifted.push(program.lift(*index, side, &mut arena).map_err(|reason| reason.to_string())?);
        }
        let view = CertificateView::new(&certificate, Some([&lifted[0], &lifted[1]]))?;
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
