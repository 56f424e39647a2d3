//! What lockstep says about the functions of two objects.

use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Proved.
    Equivalent,
    /// Refuted.
    Different,
    /// Neither.
    Unknown,
}

/// What was said about one function.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// What it assumes.
    pub assumptions: Vec<String>,
    /// Why it is unknown.
    pub reason: String,
}

/// The answers by function.
pub type Answers = HashMap<String, Answer>;

/// The prover under attack.
#[derive(Clone, Debug)]
pub struct Prover {
    binary: PathBuf,
    timeout: u64,
    quiet: bool,
}

impl Prover {
    /// The binary, with a time limit in seconds for each function.
    pub fn new(binary: &Path, timeout: u64) -> Result<Prover, String> {
        let help = Command::new(binary)
            .args(["check", "--help"])
            .output()
            .map_err(|e| format!("{}: {e}", binary.display()))?;
        // The proof alone is under attack: its own native run would hide what is looked for.
        let quiet = String::from_utf8_lossy(&help.stdout).contains("--no-run");
        Ok(Prover { binary: binary.into(), timeout, quiet })
    }

    /// The command line, for reports.
    pub fn command(&self, original: &str, candidate: &str) -> String {
        format!(
            "lockstep check {original} {candidate} --timeout {}{}",
            self.timeout,
            if self.quiet { " --no-run" } else { "" }
        )
    }

    /// Checks two objects.
    pub fn check(&self, original: &Path, candidate: &Path) -> Result<Answers, String> {
        let mut command = Command::new(&self.binary);
        command.arg("check").arg(original).arg(candidate).args([
            "--jobs",
            "1",
            "--format",
            "json",
            "--timeout",
            &self.timeout.to_string(),
        ]);
        if self.quiet {
            command.arg("--no-run");
        }
        let output = command.stdin(Stdio::null()).output().map_err(|e| format!("{}: {e}", self.binary.display()))?;
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| format!("lockstep: {}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))?;
        let functions = report["functions"].as_array().ok_or("lockstep: no functions in its report")?;
        Ok(functions.iter().filter_map(answer).collect())
    }
}

fn answer(function: &Value) -> Option<(String, Answer)> {
    let verdict = match function["verdict"].as_str()? {
        "equivalent" => Verdict::Equivalent,
        "different" => Verdict::Different,
        _ => Verdict::Unknown,
    };
    let assumptions = function["assumptions"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|a| a.as_str().map(str::to_string))
        .collect();
    let reason = format!(
        "{}: {}",
        function["reason"]["kind"].as_str().unwrap_or(""),
        function["reason"]["detail"].as_str().unwrap_or("")
    );
    Some((function["name"].as_str()?.to_string(), Answer { verdict, assumptions, reason }))
}

/// What the answers say about several functions together: equivalent if all are.
pub fn together(answers: &Answers, functions: &[String]) -> Verdict {
    let verdicts: Vec<Verdict> =
        functions.iter().map(|f| answers.get(f).map_or(Verdict::Unknown, |a| a.verdict)).collect();
    if verdicts.contains(&Verdict::Different) {
        Verdict::Different
    } else if verdicts.is_empty() || verdicts.contains(&Verdict::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Equivalent
    }
}
