//! What is written and printed about a guard.

use super::Condition;
use super::timing::Row;
use crate::status::Failure;
use ::guard::GuardedObject;
use search::{Outcome, Verdict};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;
use tempfile::NamedTempFile;

/// What kind of file is wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The object.
    Object,
    /// The object as assembly text, proved as it is assembled again.
    Assembly,
    /// The check as C text, which is not proved; the object is all the same.
    Source,
}

impl Form {
    /// By the ending of the file's name.
    pub fn of(path: &Path) -> Result<Form, Failure> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("o") => Ok(Form::Object),
            Some("s") => Ok(Form::Assembly),
            Some("c") => Ok(Form::Source),
            _ => Err(Failure(format!("{}: the name of a guard ends in .o, .s or .c", path.display()))),
        }
    }

    /// The file that is to be proved, beside the output.
    pub fn draft(self, output: &Path, object: &GuardedObject) -> Result<NamedTempFile, Failure> {
        match self {
            Form::Object | Form::Source => draft(output, ".o", &object.bytes),
            Form::Assembly => {
                let text = ::guard::assembly(&object.bytes)
                    .map_err(|what| Failure(format!("{}: {what}; -o FILE.o writes it", output.display())))?;
                draft(output, ".s", text.as_bytes())
            }
        }
    }

    /// Gives the proved file its name, or writes the text that was asked for.
    pub fn publish(self, output: &Path, draft: NamedTempFile, report: &Report) -> Result<(), Failure> {
        let written = match self {
            Form::Object | Form::Assembly => publish(draft, output),
            Form::Source => {
                let interface = &report.condition.interface;
                let Some(parameters) = interface.declared_parameters() else {
                    let what = "the parameters have no names: compile the original with -g";
                    return Err(Failure(format!("{}: {what}", output.display())));
                };
                std::fs::write(output, ::guard::source(report.name, &parameters, &report.condition.texts))
            }
        };
        written.map_err(|error| Failure(format!("{}: {error}", output.display())))
    }

    /// What is said of the file that was written.
    fn note(self) -> &'static str {
        match self {
            Form::Object => "proved equivalent to the original without a condition",
            Form::Assembly => "what it is assembled to is proved equivalent to the original without a condition",
            Form::Source => "not proved; the object of -o FILE.o is",
        }
    }
}

/// A file beside another, which goes when it is dropped.
pub fn draft(beside: &Path, ending: &str, bytes: &[u8]) -> Result<NamedTempFile, Failure> {
    let folder = beside.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::Builder::new().prefix(".guard").suffix(ending).tempfile_in(folder);
    let written = file.and_then(|file| std::fs::write(file.path(), bytes).map(|()| file));
    written.map_err(|error| Failure(format!("{}: {error}", folder.display())))
}

/// Gives the proved file its name. Its bytes are those that were read for the proof.
fn publish(draft: NamedTempFile, path: &Path) -> std::io::Result<()> {
    readable(draft.path())?;
    draft.persist(path).map(drop).map_err(|error| error.error)
}

/// Temporary files are their owner's alone; an object is for whoever links it.
fn readable(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))
}

/// What the guard costs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cost {
    /// Instructions in front of the candidate.
    pub instructions: usize,
    /// Bytes in front of the candidate, with those that align it.
    pub bytes: u64,
    /// Parts of the condition that read memory.
    pub cells: usize,
    /// What was measured.
    pub times: Vec<Row>,
}

impl Cost {
    pub fn of(object: &GuardedObject, times: Vec<Row>) -> Cost {
        Cost { instructions: object.instructions, bytes: object.front, cells: object.cells, times }
    }
}

/// What is said at the end.
pub struct Report<'a> {
    pub name: &'a str,
    pub condition: &'a Condition,
    pub cost: Cost,
    pub outcome: &'a Outcome,
    pub form: Form,
    pub time: Duration,
}

#[derive(Serialize)]
struct JsonReport<'a> {
    function: &'a str,
    verdict: &'static str,
    condition: Vec<JsonPart<'a>>,
    guard: &'a Cost,
    output: Option<String>,
    assumptions: Vec<String>,
    reason: Option<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct JsonPart<'a> {
    text: &'a str,
    expression: String,
}

impl Report<'_> {
    fn assumptions(&self) -> Vec<String> {
        match &self.outcome.verdict {
            Verdict::Equivalent(proof) => proof.assumptions().iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        }
    }

    fn reason(&self) -> Option<String> {
        match &self.outcome.verdict {
            Verdict::Equivalent(_) => None,
            Verdict::Different(witness) => Some(format!(
                "the guarded function differs from the original: it {}, the original {}",
                witness.candidate.summary, witness.original.summary
            )),
            Verdict::Unknown(reason) => Some(reason.to_string()),
        }
    }

    /// For people.
    pub fn text(&self, output: &Path) -> String {
        let mut out = String::new();
        let milliseconds = self.time.as_millis();
        let assumed = self.assumptions();
        let assumed = if assumed.is_empty() { String::new() } else { format!("   assumes {}", assumed.join(", ")) };
        let _ = match self.reason() {
            None => writeln!(out, "  {}   guarded   {milliseconds} ms{assumed}", self.name),
            Some(reason) => writeln!(out, "  {}   not guarded   {milliseconds} ms   {reason}", self.name),
        };
        for text in &self.condition.texts {
            let _ = writeln!(out, "      if {text}");
        }
        let Cost { instructions, bytes, cells, times } = &self.cost;
        let _ = writeln!(
            out,
            "      the check: {}, {bytes} bytes, reads {}",
            counted(*instructions, "instruction"),
            counted(*cells, "cell")
        );
        if !times.is_empty() {
            let [a, b, c, d] = ["original", "candidate", "guarded", "guard"];
            let _ = writeln!(out, "      {:>8} {a:>12} {b:>12} {c:>12} {d:>10}   ns a call", "size");
        }
        for row in times {
            let Row { size, original, candidate, guarded, guard, share } = row;
            let share = 100.0 * share;
            let _ = writeln!(
                out,
                "      {size:>8} {original:>12.1} {candidate:>12.1} {guarded:>12.1} {guard:>10.1}   {share:.1} %"
            );
        }
        if self.reason().is_none() {
            let _ = writeln!(out, "      {}: {}", output.display(), self.form.note());
        }
        out
    }

    /// For programs.
    pub fn json(&self, output: &Path) -> String {
        let parts = self.condition.texts.iter().zip(self.condition.precondition.conjuncts());
        let reason = self.reason();
        let report = JsonReport {
            function: self.name,
            verdict: if reason.is_none() { "guarded" } else { "unknown" },
            condition: parts.map(|(text, part)| JsonPart { text, expression: part.to_string() }).collect(),
            guard: &self.cost,
            output: reason.is_none().then(|| output.display().to_string()),
            assumptions: self.assumptions(),
            reason,
            seconds: self.time.as_secs_f64(),
        };
        serde_json::to_string_pretty(&report).unwrap_or_default() + "\n"
    }
}

fn counted(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}
