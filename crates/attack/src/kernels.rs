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
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// What became of the pairs.
#[derive(Clone, Default, Debug)]
pub struct Score {
    verdicts: BTreeMap<String, u64>,
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
        for wrong in &self.wrong {
            text.push_str(&format!("WRONG {wrong}\n"));
        }
        text
    }
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
    ran: bool,
    wrong: Option<String>,
}

impl Score {
    fn add(&mut self, judged: Judged) {
        *self.verdicts.entry(judged.verdict).or_default() += 1;
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
        Ok((verdict, ran, None)) => {
            let _ = std::fs::remove_dir_all(&directory);
            Judged { verdict, ran, wrong: None }
        }
        Ok((verdict, ran, Some(what))) => {
            Judged { verdict, ran, wrong: Some(format!("{} ({how}): {what}", directory.display())) }
        }
        Err(what) => {
            let _ = std::fs::remove_dir_all(&directory);
            Judged { verdict: format!("not judged ({what})"), ran: false, wrong: None }
        }
    }
}

type Opinion = (String, bool, Option<String>);

fn judge(lockstep: &Path, directory: &Path, original: &Kernel, candidate: &Kernel) -> Result<Opinion, String> {
    std::fs::create_dir_all(directory).map_err(|e| e.to_string())?;
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|e| e.to_string())
    };
    let (a, b) = (write("a.c", &original.text())?, write("b.c", &candidate.text())?);
    let main = write("main.c", &original.main())?;
    let mut check = Command::new(lockstep);
    check.arg("check").args([&a, &b]).args(["--timeout", "5", "--format", "json"]).stderr(Stdio::null());
    let output = check.output().map_err(|e| e.to_string())?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdict = report["functions"][0]["verdict"].as_str().unwrap_or("error").to_string();
    if verdict != "equivalent" {
        let kind = report["functions"][0]["reason"]["kind"].as_str().unwrap_or_default();
        return Ok((format!("{verdict} {kind}").trim().to_string(), false, None));
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
    Ok((verdict, true, different.then(|| "outputs differ".to_string())))
}
