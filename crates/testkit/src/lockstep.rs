//! Asks the `lockstep` binary about two object files.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What was said about one function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Name in the original.
    pub name: String,
    /// The verdict.
    pub verdict: Verdict,
    /// For `unknown`: kind and detail; for `different`: what the two functions do.
    pub detail: String,
    /// Kind of the reason of an `unknown`.
    pub reason: Option<String>,
    /// What an `equivalent` assumes.
    pub assumptions: Vec<String>,
    /// The parts of the condition of an `equivalent-if`.
    pub condition: Vec<String>,
}

/// The verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Verdict {
    Equivalent,
    EquivalentIf,
    Different,
    Unknown,
}

impl Verdict {
    /// Parses the name in reports and expectations.
    pub fn parse(name: &str) -> Option<Verdict> {
        match name {
            "equivalent" => Some(Verdict::Equivalent),
            "equivalent-if" => Some(Verdict::EquivalentIf),
            "different" => Some(Verdict::Different),
            "unknown" => Some(Verdict::Unknown),
            _ => None,
        }
    }

    /// Name in reports and expectations.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Equivalent => "equivalent",
            Verdict::EquivalentIf => "equivalent-if",
            Verdict::Different => "different",
            Verdict::Unknown => "unknown",
        }
    }
}

/// Seconds that one function may take.
const TIMEOUT: &str = "10";

/// Runs `lockstep check` on two objects, on all functions or only one.
pub fn check(binary: &Path, original: &Path, candidate: &Path, function: Option<&str>) -> Result<Vec<Answer>, String> {
    check_under(binary, original, candidate, function, &[])
}

/// The same with further options.
pub fn check_under(
    binary: &Path,
    original: &Path,
    candidate: &Path,
    function: Option<&str>,
    options: &[String],
) -> Result<Vec<Answer>, String> {
    let mut command = Command::new(binary);
    command.args(["check", "--format", "json", "--jobs", "1", "--timeout", TIMEOUT]).arg(original).arg(candidate);
    if let Some(name) = function {
        command.args(["--function", name]);
    }
    command.args(options);
    let output = command.output().map_err(|e| format!("{}: {e}", binary.display()))?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{}: {e}: {}", output.status, String::from_utf8_lossy(&output.stderr)))?;
    let functions = report["functions"].as_array().ok_or("a report without functions")?;
    let answers = functions.iter().map(answer).collect::<Result<Vec<_>, _>>()?;
    check_status(output.status.code(), &answers)?;
    Ok(answers)
}

fn answer(function: &Value) -> Result<Answer, String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let name = text(&function["name"]);
    let verdict = Verdict::parse(function["verdict"].as_str().unwrap_or_default())
        .ok_or_else(|| format!("{name}: no verdict in {function}"))?;
    let reason = function["reason"]["kind"].as_str().map(str::to_string);
    let detail = match verdict {
        Verdict::Equivalent | Verdict::EquivalentIf => String::new(),
        Verdict::Unknown => format!("{}: {}", text(&function["reason"]["kind"]), text(&function["reason"]["detail"])),
        Verdict::Different => {
            let witness = &function["witness"];
            if witness["replayed"].as_array().is_none_or(Vec::is_empty) {
                return Err(format!("{name}: a witness that nobody replayed"));
            }
            format!("{} against {}", witness["original"], witness["candidate"])
        }
    };
    let assumptions = function["assumptions"].as_array().into_iter().flatten().map(text).collect();
    let condition = function["condition"].as_array().into_iter().flatten().map(|part| text(&part["text"])).collect();
    Ok(Answer { name, verdict, detail, reason, assumptions, condition })
}

/// The exit status must say what the report says.
fn check_status(code: Option<i32>, answers: &[Answer]) -> Result<(), String> {
    let any = |verdict| answers.iter().any(|a| a.verdict == verdict);
    let expected = match (any(Verdict::Different), any(Verdict::Unknown)) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) if any(Verdict::EquivalentIf) => 4,
        (false, false) => 0,
    };
    if code == Some(expected) { Ok(()) } else { Err(format!("exit status {code:?}, expected {expected}")) }
}
