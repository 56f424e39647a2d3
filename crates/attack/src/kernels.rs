//! The area `c`: random C kernels against mutants of themselves. Every pair that lockstep calls `equivalent` is compiled with
//! optimisation and run on inputs of its own; one whose outputs differ is a wrong proof.
//!
//! This shares nothing with lockstep: no parser, no evaluator, another driver, other inputs, other optimisation.

mod kernel;
mod mutate;

use crate::command::Options;
use crate::random::Random;
use kernel::Kernel;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What became of the pairs.
#[derive(Clone, Default, Debug)]
pub struct Score {
    verdicts: BTreeMap<String, u64>,
    /// Why there was no verdict, with quoted names and places left out.
    reasons: BTreeMap<String, u64>,
    ran: u64,
    /// Wrong proofs: where, and what.
    pub wrong: Vec<String>,
}

impl Score {
    /// As text.
    pub fn render(&self) -> String {
        let total: u64 = self.verdicts.values().sum();
        let verdicts: Vec<String> = self.verdicts.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let mut text = format!("{total} pairs: {}; {} equivalent ones were run\n", verdicts.join(", "), self.ran);
        let mut reasons: Vec<(&String, &u64)> = self.reasons.iter().collect();
        reasons.sort_by_key(|(reason, count)| (std::cmp::Reverse(**count), *reason));
        for (reason, count) in reasons.into_iter().take(MOST_REASONS) {
            text.push_str(&format!("{count:>8} {:>5.1} % {reason}\n", 100.0 * *count as f64 / total.max(1) as f64));
        }
        for wrong in &self.wrong {
            text.push_str(&format!("WRONG {wrong}\n"));
        }
        text
    }
}

/// Reasons that are printed.
const MOST_REASONS: usize = 12;

/// A reason without the file, the line and the names in it, so that alike ones are counted together.
fn kind_of(kind: &str, detail: &str) -> String {
    let bare = match detail.split_once(".c:") {
        Some((_, rest)) => rest.split_once(": ").map_or(rest, |(_, what)| what),
        None => detail,
    };
    let quoted = bare.split('`').enumerate().map(|(i, part)| if i % 2 == 0 { part } else { "…" });
    let words: String = quoted.collect();
    let numbers = words.chars().filter(|c| !c.is_ascii_digit()).take(90).collect::<String>();
    format!("{kind}: {numbers}")
}

/// Attacks `lockstep` with kernels; reproducers go to `directory`. A batch is one pair.
pub fn run(options: &Options, lockstep: &Path, directory: &Path) -> Result<Score, String> {
    std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let (next, score, start) = (AtomicU64::new(0), Mutex::new(Score::default()), Instant::now());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.max(1) {
            scope.spawn(|| {
                while options.time.is_none_or(|time| start.elapsed() < time) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if options.batches.is_some_and(|most| number >= most) {
                        break;
                    }
                    let judged = one(lockstep, directory, options.seed, number);
                    if let Ok(mut score) = score.lock() {
                        score.add(judged);
                    }
                }
            });
        }
    });
    score.into_inner().map_err(|_| "a worker failed".to_string())
}

/// What became of a pair.
struct Judged {
    verdict: String,
    reason: Option<String>,
    ran: bool,
    wrong: Option<String>,
}

impl Score {
    fn add(&mut self, judged: Judged) {
        *self.verdicts.entry(judged.verdict).or_default() += 1;
        if let Some(reason) = judged.reason {
            *self.reasons.entry(reason).or_default() += 1;
        }
        self.ran += u64::from(judged.ran);
        self.wrong.extend(judged.wrong);
    }
}

fn one(lockstep: &Path, base: &Path, seed: u64, number: u64) -> Judged {
    let mut random = Random::new(seed, number);
    let original = kernel::generate(&mut random);
    let (candidate, how) = mutate::mutate(&original, &mut random);
    let directory = base.join(format!("{seed}-{number}"));
    let judged = judge(lockstep, &directory, &original, &candidate);
    match judged {
        Ok(Opinion { verdict, reason, ran, wrong: None }) => {
            let _ = std::fs::remove_dir_all(&directory);
            Judged { verdict, reason, ran, wrong: None }
        }
        Ok(Opinion { verdict, reason, ran, wrong: Some(what) }) => {
            Judged { verdict, reason, ran, wrong: Some(format!("{} ({how}): {what}", directory.display())) }
        }
        Err(what) => {
            let _ = std::fs::remove_dir_all(&directory);
            Judged { verdict: format!("not judged ({what})"), reason: None, ran: false, wrong: None }
        }
    }
}

/// What was found out about a pair.
struct Opinion {
    verdict: String,
    reason: Option<String>,
    ran: bool,
    wrong: Option<String>,
}

fn judge(lockstep: &Path, directory: &Path, original: &Kernel, candidate: &Kernel) -> Result<Opinion, String> {
    std::fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|e| e.to_string())
    };
    let (a, b) = (write("a.c", &original.text())?, write("b.c", &candidate.text())?);
    let main = write("main.c", &original.main())?;
    let mut check = Command::new(lockstep);
    check.arg("check").args([&a, &b]).args(["--timeout", "5", "--format", "json"]);
    let output = check.output().map_err(|e| e.to_string())?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdict = report["functions"][0]["verdict"].as_str().unwrap_or("error").to_string();
    if verdict != "equivalent" {
        let reason = &report["functions"][0]["reason"];
        let kind = reason["kind"].as_str().unwrap_or_default();
        let detail = reason["detail"].as_str().map(|detail| kind_of(kind, detail));
        let detail = detail.or_else(|| (verdict == "error").then(|| kind_of("error", &complaint(&output.stderr))));
        let verdict = format!("{verdict} {kind}").trim().to_string();
        return Ok(Opinion { verdict, reason: detail, ran: false, wrong: None });
    }
    let mut outputs = Vec::new();
    for (name, file) in [("a", &a), ("b", &b)] {
        let program = directory.join(name);
        let mut cc = Command::new("cc");
        cc.args(["-w", "-O2", "-fwrapv", "-ffp-contract=off", "-o"]).arg(&program).args([file, &main]).arg("-lm");
        if !cc.status().is_ok_and(|s| s.success()) {
            return Err("the compiler refuses it".to_string());
        }
        outputs.push(Command::new(&program).output().map_err(|e| e.to_string())?);
    }
    if outputs[0].status.code() != Some(0) {
        return Err("the original fails".to_string());
    }
    let different = outputs[0].stdout != outputs[1].stdout || outputs[0].status != outputs[1].status;
    Ok(Opinion { verdict, reason: None, ran: true, wrong: different.then(|| "outputs differ".to_string()) })
}

/// The first line of what a program complains about.
fn complaint(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).lines().next().unwrap_or_default().to_string()
}
