//! `cargo xtask attack-c`: random C kernels against mutants of themselves. Every pair that lockstep calls `equivalent` is compiled with
//! optimisation and run on inputs of its own; one whose outputs differ is a wrong proof.
//!
//! This shares nothing with lockstep: no parser, no evaluator, another driver, other inputs, other optimisation.

mod kernel;
mod mutate;

use crate::{build, root, tools};
use kernel::{Kernel, Random};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What is asked for.
pub struct Request {
    time: Duration,
    pairs: u64,
    seed: u64,
    lockstep: Option<PathBuf>,
}

impl Request {
    /// From the words after `attack-c`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request = Request { time: Duration::from_secs(60), pairs: u64::MAX, seed: 1, lockstep: None };
        let mut rest = words.iter();
        while let Some(word) = rest.next() {
            let value = rest.next()?;
            match *word {
                "--minutes" => request.time = Duration::from_secs_f64(60.0 * value.parse::<f64>().ok()?),
                "--pairs" => request.pairs = value.parse().ok()?,
                "--seed" => request.seed = value.parse().ok()?,
                "--lockstep" => request.lockstep = Some(value.into()),
                _ => return None,
            }
        }
        Some(request)
    }
}

#[derive(Default)]
struct Score {
    verdicts: BTreeMap<String, u64>,
    ran: u64,
    wrong: Vec<String>,
}

/// Runs the attack; an error if a wrong proof is found.
pub fn run(request: Request) -> Result<(), String> {
    tools::require(&[&tools::CC])?;
    let lockstep = match &request.lockstep {
        Some(path) => path.clone(),
        None => build::lockstep()?,
    };
    let base = root().join("target/attack-c");
    std::fs::create_dir_all(&base).map_err(|e| format!("{}: {e}", base.display()))?;
    let (next, score, start) = (AtomicU64::new(0), Mutex::new(Score::default()), Instant::now());
    let workers = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while start.elapsed() < request.time {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= request.pairs {
                        break;
                    }
                    let seed = request.seed.wrapping_mul(1 << 32).wrapping_add(number);
                    let judged = one(&lockstep, &base, seed);
                    if let Ok(mut score) = score.lock() {
                        score.add(judged);
                    }
                }
            });
        }
    });
    let score = score.into_inner().map_err(|_| "a worker failed".to_string())?;
    let total: u64 = score.verdicts.values().sum();
    let verdicts: Vec<String> = score.verdicts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    println!("{total} pairs: {}; {} equivalent ones were run", verdicts.join(", "), score.ran);
    for wrong in &score.wrong {
        println!("WRONG {wrong}");
    }
    if score.wrong.is_empty() { Ok(()) } else { Err(format!("{} wrong proofs", score.wrong.len())) }
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

fn one(lockstep: &Path, base: &Path, seed: u64) -> Judged {
    let mut random = Random::new(seed);
    let original = kernel::generate(&mut random);
    let (candidate, how) = mutate::mutate(&original, &mut random);
    let directory = base.join(format!("{seed:016x}"));
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
