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
use std::path::{Path, PathBuf};
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

/// Attacks `lockstep` with kernels; reproducers go to `directory`. A batch is one original with its mutants.
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
                    let judged =
                        batch(lockstep, &directory.join(format!("{}-{number}", options.seed)), options, number);
                    if let Ok(mut score) = score.lock() {
                        judged.into_iter().for_each(|judged| score.add(judged));
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

impl Judged {
    fn not(what: &str) -> Judged {
        Judged { verdict: format!("not judged ({what})"), reason: None, ran: false, wrong: None }
    }
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

/// Mutants of one original: they are checked by one process, and the original is compiled once.
const MUTANTS: usize = 8;

/// Checks and runs one original and its mutants. The directory stays if something is wrong.
fn batch(lockstep: &Path, directory: &Path, options: &Options, number: u64) -> Vec<Judged> {
    let mut random = Random::new(options.seed, number);
    let original = kernel::generate(&mut random);
    let mutants: Vec<(Kernel, String)> = (0..MUTANTS).map(|_| mutate::mutate(&original, &mut random)).collect();
    let judged = match judge(lockstep, directory, &original, &mutants) {
        Ok(judged) => judged,
        Err(what) => mutants.iter().map(|_| Judged::not(&what)).collect(),
    };
    if judged.iter().all(|judged| judged.wrong.is_none()) {
        let _ = std::fs::remove_dir_all(directory);
    }
    judged
}

fn judge(
    lockstep: &Path,
    directory: &Path,
    original: &Kernel,
    mutants: &[(Kernel, String)],
) -> Result<Vec<Judged>, String> {
    std::fs::create_dir_all(directory.join("set")).map_err(|e| e.to_string())?;
    let write = |name: &str, text: &str| {
        let path = directory.join(name);
        std::fs::write(&path, text).map(|()| path).map_err(|e| e.to_string())
    };
    let (file, main) = (write("a.c", &original.text())?, write("main.c", &original.main())?);
    let mut files = Vec::new();
    for (number, (mutant, _)) in mutants.iter().enumerate() {
        files.push(write(&format!("set/{number}.c"), &mutant.text())?);
    }
    let mut check = Command::new(lockstep);
    check.arg("check").arg(&file).arg(directory.join("set"));
    check.args(["--timeout", "5", "--format", "json", "--jobs", "1"]);
    let output = check.output().map_err(|e| e.to_string())?;
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let functions = report["functions"].as_array().map_or(&[][..], Vec::as_slice);
    let mut runs = Runs { directory, main: &main, harness: None, original: None };
    let judged = files.iter().zip(mutants).map(|(candidate, (_, how))| {
        let name = candidate.display().to_string();
        let Some(function) = functions.iter().find(|f| f["candidate_file"] == name.as_str()) else {
            let reason = Some(kind_of("error", &complaint(&output.stderr)));
            return Judged { verdict: "error".to_string(), reason, ran: false, wrong: None };
        };
        let verdict = function["verdict"].as_str().unwrap_or("error").to_string();
        if verdict != "equivalent" {
            let reason = &function["reason"];
            let kind = reason["kind"].as_str().unwrap_or_default();
            let detail = reason["detail"].as_str().map(|detail| kind_of(kind, detail));
            return Judged {
                verdict: format!("{verdict} {kind}").trim().to_string(),
                reason: detail,
                ran: false,
                wrong: None,
            };
        }
        match runs.differ(&file, candidate) {
            Ok(differ) => {
                let wrong = differ.then(|| format!("{name} ({how}): outputs differ"));
                Judged { verdict, reason: None, ran: true, wrong }
            }
            Err(what) => Judged::not(&what),
        }
    });
    Ok(judged.collect())
}

/// What a program printed, and how it ended.
type Outcome = (Vec<u8>, Option<i32>);

/// Native runs of a batch.
struct Runs<'a> {
    directory: &'a Path,
    main: &'a Path,
    /// The driver as an object.
    harness: Option<PathBuf>,
    original: Option<Outcome>,
}

impl Runs<'_> {
    /// Do original and candidate print something else?
    fn differ(&mut self, original: &Path, candidate: &Path) -> Result<bool, String> {
        let ours = match self.original.take() {
            Some(known) => known,
            None => self.outcome(original)?,
        };
        let known = self.original.insert(ours).clone();
        if known.1 != Some(0) {
            return Err("the original fails".to_string());
        }
        Ok(self.outcome(candidate)? != known)
    }

    fn outcome(&mut self, file: &Path) -> Result<Outcome, String> {
        let compile = |arguments: &[&Path], output: &Path| {
            let mut cc = Command::new("cc");
            cc.args(["-w", "-O2", "-fwrapv", "-ffp-contract=off"]).args(arguments).arg("-o").arg(output);
            let done = cc.arg("-lm").status().is_ok_and(|status| status.success());
            if done { Ok(()) } else { Err("the compiler refuses it".to_string()) }
        };
        let harness = match self.harness.clone() {
            Some(harness) => harness,
            None => {
                let made = self.directory.join("main.o");
                compile(&[Path::new("-c"), self.main], &made)?;
                self.harness.insert(made).clone()
            }
        };
        let program = self.directory.join("program");
        compile(&[file, &harness], &program)?;
        let output = Command::new(&program).output().map_err(|e| e.to_string())?;
        Ok((output.stdout, output.status.code()))
    }
}

/// The first line of what a program complains about.
fn complaint(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).lines().next().unwrap_or_default().to_string()
}
