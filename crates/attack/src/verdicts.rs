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
    /// Inputs on which lockstep itself ran both sides natively.
    pub inputs: u64,
}

impl Answer {
    /// Whether lockstep's own native run contradicts its proof.
    pub fn is_refuted_by_a_run(&self) -> bool {
        self.verdict == Verdict::Unknown && self.reason.starts_with("internal") && self.reason.contains("run natively")
    }
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

    /// Checks all functions of two objects; nothing is run natively.
    pub fn check(&self, original: &Path, candidate: &Path) -> Result<Answers, String> {
        self.check_only(original, candidate, &[])
    }

    /// Checks these functions, or all if there are none.
    pub fn check_only(&self, original: &Path, candidate: &Path, functions: &[String]) -> Result<Answers, String> {
        self.ask(original, candidate, functions, self.quiet)
    }

    /// The same, with lockstep's own native run of what it proves.
    pub fn check_and_run(&self, original: &Path, candidate: &Path, functions: &[String]) -> Result<Answers, String> {
        self.ask(original, candidate, functions, false)
    }

    fn ask(&self, original: &Path, candidate: &Path, functions: &[String], quiet: bool) -> Result<Answers, String> {
        let mut command = Command::new(&self.binary);
        command.arg("check").arg(original).arg(candidate);
        command.args(["--jobs", "1", "--format", "json", "--timeout", &self.timeout.to_string()]);
        command.args(functions.iter().flat_map(|f| ["--function", f]));
        if quiet {
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
    Some((
        function["name"].as_str()?.to_string(),
        Answer { verdict, assumptions, reason, inputs: function["run"]["inputs"].as_u64().unwrap_or(0) },
    ))
}

/// Is it one of these functions, or a version that a compiler made of one?
pub fn is_version(name: &str, functions: &[String]) -> bool {
    functions.iter().any(|f| name == f || name.strip_prefix(f.as_str()).is_some_and(|rest| rest.starts_with('.')))
}

/// What the answers say about several functions together: equivalent if all are. The versions that a compiler makes of a function
/// (`f.constprop.0`) count with it; one that the original does not have, or that the candidate needs no more, says nothing.
pub fn together(answers: &Answers, functions: &[String]) -> Verdict {
    let said =
        answers.iter().filter(|(name, a)| is_version(name, functions) && !a.reason.starts_with("missing-function"));
    let verdicts: Vec<Verdict> = said.map(|(_, a)| a.verdict).collect();
    if verdicts.contains(&Verdict::Different) {
        Verdict::Different
    } else if verdicts.is_empty() || verdicts.contains(&Verdict::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Equivalent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_count_with_their_function() {
        let answer =
            |verdict, reason: &str| Answer { verdict, assumptions: Vec::new(), reason: reason.into(), inputs: 0 };
        let mut answers: Answers =
            [("f", Verdict::Equivalent), ("g.isra.0", Verdict::Equivalent), ("fg", Verdict::Different)]
                .map(|(name, verdict)| (name.to_string(), answer(verdict, "")))
                .into();
        let [f, both, other] = [vec!["f".to_string()], vec!["f".into(), "g".into()], vec!["h".to_string()]];
        assert_eq!(together(&answers, &f), Verdict::Equivalent);
        assert_eq!(together(&answers, &both), Verdict::Equivalent);
        assert_eq!(together(&answers, &other), Verdict::Unknown);
        answers.insert("g".into(), answer(Verdict::Unknown, "missing-function: g"));
        assert_eq!(together(&answers, &both), Verdict::Equivalent);
        answers.insert("g.part.0".into(), answer(Verdict::Unknown, "timeout: 2 s"));
        assert_eq!(together(&answers, &both), Verdict::Unknown);
        assert_eq!(together(&answers, &f), Verdict::Equivalent);
    }
}
