//! The file with the winner: written, read again, and proved again by the winner's certificate. What does not stand is removed.

use crate::candidate::Candidate;
use crate::process::{Ran, run};
use crate::prove::Proved;
use crate::rank::Speed;
use crate::report::Winner;
use crate::request::Request;
use crate::subject::{Kind, Refused, Subject};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where things are written.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// The assembly file.
    pub assembly: PathBuf,
    /// The object with the function exchanged, if the input is one.
    pub merged: Option<PathBuf>,
    /// The folder for the certificate and the object that it is about.
    pub certificates: Option<PathBuf>,
}

/// What is written.
pub struct Chosen<'a> {
    /// The version.
    pub candidate: &'a Candidate,
    /// Its proof.
    pub proved: &'a Proved,
    /// How fast it is.
    pub speed: Option<Speed>,
    /// What it is faster than.
    pub rival: &'a str,
    /// How long the proof took.
    pub time: Duration,
    /// The condition under which alone it holds.
    pub condition: &'a [String],
}

/// Proves the statement about the file of this name.
pub type Again<'a> = dyn Fn(&Path) -> Result<Proved, String> + 'a;

/// Writes everything. The statement is proved about each file that is written, as it is read back.
pub fn write(
    request: &Request,
    subject: &Subject,
    chosen: &Chosen<'_>,
    output: &Output,
    again: &Again<'_>,
) -> Result<Winner, Refused> {
    let proof = chosen.proved.proof();
    let assumptions: Vec<String> = proof.assumptions().iter().map(ToString::to_string).collect();
    let text = format!("{}{}", header(request, chosen, &assumptions), chosen.candidate.text);
    keep(&output.assembly, text.as_bytes(), again)?;
    let merged = match &output.merged {
        Some(path) if subject.kind == Kind::Object => {
            let merged = merge(request, &chosen.candidate.object, path).map_err(Refused)?;
            keep(path, &merged, again)?;
            Some(path.display().to_string())
        }
        _ => None,
    };
    let mut saved = None;
    if let Some(folder) = &output.certificates {
        let failed = |error: std::io::Error| Refused(format!("{}: {error}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        let safe = |c: char| if c.is_ascii_alphanumeric() || "_.-$".contains(c) { c } else { '_' };
        let name: String = request.function.chars().map(safe).take(100).collect();
        let certificate = folder.join(format!("{name}.json"));
        std::fs::write(&certificate, chosen.proved.certificate().to_json() + "\n").map_err(failed)?;
        let original = if request.file.canonicalize().is_ok_and(|file| file == subject.specification) {
            request.file.clone()
        } else {
            let kept = folder.join(format!("{name}.original.o"));
            std::fs::copy(&subject.specification, &kept).map_err(failed)?;
            kept
        };
        saved = Some((certificate.display().to_string(), original.display().to_string()));
    }
    let (certificate, original) = saved.unzip();
    Ok(Winner {
        origin: chosen.candidate.origin.clone(),
        file: output.assembly.display().to_string(),
        merged,
        certificate,
        original,
        speed: chosen.speed,
        bytes: chosen.candidate.code.bytes.len(),
        proof_seconds: chosen.time.as_secs_f64(),
        assumptions,
        condition: chosen.condition.to_vec(),
        before: Vec::new(),
        after: Vec::new(),
    })
}

/// Writes a file, and removes it if the statement cannot be proved about it.
fn keep(path: &Path, bytes: &[u8], again: &Again<'_>) -> Result<(), Refused> {
    let failed = |error: std::io::Error| Refused(format!("{}: {error}", path.display()));
    std::fs::write(path, bytes).map_err(failed)?;
    again(path).map(drop).map_err(|what| {
        let _ = std::fs::remove_file(path);
        Refused(format!("internal: {}: the file as written is not proved: {what}; it was removed", path.display()))
    })
}

/// What a reader of the file must know.
fn header(request: &Request, chosen: &Chosen<'_>, assumptions: &[String]) -> String {
    let plain = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let mut lines = vec![format!("{}: {}", request.function, plain(&chosen.candidate.origin))];
    if let Some(speed) = chosen.speed {
        lines.push(format!(
            "{:.2}x faster than {} [{:.2}, {:.2}], measured on the machine that wrote this",
            speed.speedup, chosen.rival, speed.interval[0], speed.interval[1]
        ));
    }
    lines.push(format!("may use instructions of {}", request.cpu));
    match chosen.condition {
        [] => lines.push("proved equivalent by lockstep".to_string()),
        assumed => {
            lines.push("PRECONDITION: proved equivalent by lockstep only where this holds at entry:".to_string());
            lines.extend(assumed.iter().map(|text| format!("  {}", plain(text))));
        }
    }
    if !assumptions.is_empty() {
        lines.push(format!("assumes: {}", assumptions.join(", ")));
    }
    lines.iter().map(|line| format!("# {line}\n")).collect()
}

/// The object with the function exchanged: the old one made weak, so that the linker takes the new one.
fn merge(request: &Request, new: &[u8], output: &Path) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let [weak, better, merged] = ["weak.o", "better.o", "merged.o"].map(|name| folder.path().join(name));
    std::fs::write(&better, new).map_err(|error| error.to_string())?;
    let limit = Duration::from_secs(60);
    let done = |what: &str, ran: Ran| match ran {
        Ran::Good => Ok(()),
        Ran::Failed(said) => Err(format!("{}: {what}: {said}", output.display())),
        Ran::Overdue => Err(format!("{what} takes too long")),
        Ran::Missing(why) => Err(format!("cannot run {what}: {why}")),
    };
    let file = request.file.canonicalize().map_err(|error| error.to_string())?;
    let symbol = format!("--weaken-symbol={}", request.function);
    done("objcopy", run(Command::new("objcopy").arg(symbol).arg(file).arg(&weak), limit))?;
    done("ld", run(Command::new("ld").arg("-r").arg("-o").arg(&merged).arg(&better).arg(&weak), limit))?;
    std::fs::read(&merged).map_err(|error| error.to_string())
}
