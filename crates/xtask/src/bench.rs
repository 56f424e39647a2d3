//! `cargo xtask bench`: a fixed set of functions, what lockstep says about each, and at what cost.
//!
//! Counts (product points, obligations, solver calls) do not depend on the machine. Times do, so they are measured
//! in units of a fixed computation that runs beside them, and only compared as a ratio.

use crate::baseline::{Baseline, Case, compare};
use crate::tools::Tool;
use crate::{build, loops, root, tools};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    set: Set,
    after: After,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    /// The bundled sources, compiled here.
    Sample,
    /// The bundled functions with loops, compiled here.
    Loops,
    /// The objects of real programs in `target/corpus`, -O0 against -O2.
    Corpus,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    Compare,
    Save,
}

impl Request {
    /// From the words after `bench`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request = Request { set: Set::Sample, after: After::Compare };
        for word in words {
            match *word {
                "sample" => request.set = Set::Sample,
                "loops" => request.set = Set::Loops,
                "corpus" => request.set = Set::Corpus,
                "--save" => request.after = After::Save,
                _ => return None,
            }
        }
        Some(request)
    }
}

/// Two objects of the same functions.
struct ObjectPair {
    label: String,
    original: PathBuf,
    candidate: PathBuf,
}

/// Flags of the sample: those under which a compiler keeps to the calling convention inside one file.
const FLAGS: [&str; 6] = ["-g", "-w", "-fno-inline", "-fwrapv", "-fno-strict-aliasing", "-ffunction-sections"];
/// Levels of the candidates: name and flags.
type Level = (&'static str, &'static [&'static str]);
const LEVELS: &[Level] = &[("O1", &["-O1"]), ("O2", &["-O2"]), ("O3", &["-O3"])];
const LOOP_LEVELS: &[Level] = &[("O2", &["-O2"]), ("O3", &["-O3"]), ("O3-avx2", &["-O3", "-mavx2"])];
/// Seconds for each function: enough for a slow proof, short enough that the sample stays quick.
const TIMEOUT: &str = "10";

/// Measures, prints, compares. An error if a verdict of the baseline is lost.
pub fn run(request: Request) -> Result<(), String> {
    tools::require(&[&tools::CC, &tools::Z3])?;
    let lockstep = build::lockstep()?;
    let (pairs, stored) = match request.set {
        Set::Sample => {
            let compilers = [("cc", &tools::CC), ("clang-19", &tools::CLANG_19)];
            (compiled("bench/sample", &compilers, LEVELS)?, root().join("bench/baseline.json"))
        }
        Set::Loops => {
            tools::prefer(&[&tools::GCC_12, &tools::CLANG_19]);
            let compilers = [("gcc-12", &tools::GCC_12), ("clang-19", &tools::CLANG_19)];
            (compiled("bench/loops", &compilers, LOOP_LEVELS)?, root().join("bench/baseline-loops.json"))
        }
        Set::Corpus => (corpus()?, root().join("bench/baseline-corpus.json")),
    };
    let unit = calibrate();
    let start = Instant::now();
    let mut cases = Vec::new();
    if request.set == Set::Loops {
        println!("{}", loops::HEADER);
    } else {
        println!(
            "{:44} {:>10} {:>9} {:>7} {:>12} {:>13}",
            "case", "verdict", "ms", "points", "obligations", "solver calls"
        );
    }
    for pair in &pairs {
        let measured = measure(&lockstep, pair)?;
        if request.set == Set::Loops {
            println!("{}", loops::row(&pair.label, &measured));
        } else {
            measured.iter().for_each(print_case);
        }
        cases.extend(measured);
    }
    if request.set == Set::Loops {
        loops::totals(&cases).iter().for_each(|row| println!("{row}"));
    }
    print_totals(&cases, start.elapsed().as_secs_f64());
    let now = Baseline { unit_millis: unit, cases };
    match request.after {
        After::Save => {
            now.write(&stored)?;
            println!("saved {}", stored.display());
            Ok(())
        }
        After::Compare => match Baseline::read(&stored)? {
            Some(before) => compare(&before, &now),
            None => {
                println!("no {} to compare with; --save makes one", stored.display());
                Ok(())
            }
        },
    }
}

fn print_case(case: &Case) {
    println!(
        "{:44} {:>10} {:>9.1} {:>7} {:>12} {:>13}",
        case.name, case.verdict, case.millis, case.points, case.obligations, case.solver_calls
    );
}

fn print_totals(cases: &[Case], wall: f64) {
    let proofs: Vec<&Case> = cases.iter().filter(|c| c.verdict == "equivalent").collect();
    let number = |verdict: &str| cases.iter().filter(|c| c.verdict == verdict).count();
    let calls: u64 = proofs.iter().map(|c| c.solver_calls).sum();
    let seconds: f64 = proofs.iter().map(|c| c.millis).sum::<f64>() / 1e3;
    let mut times: Vec<f64> = proofs.iter().map(|c| c.millis).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let without = proofs.iter().filter(|c| c.solver_calls == 0).count();
    let each = proofs.len().max(1) as f64;
    println!();
    println!(
        "{} functions: {} equivalent, {} different, {} unknown; {wall:.1} s in all",
        cases.len(),
        proofs.len(),
        number("different"),
        number("unknown")
    );
    println!(
        "proofs: {:.1} a second, median {median:.1} ms, mean {:.1} ms; {:.2} solver calls a proof, {without} without any",
        if seconds > 0.0 { proofs.len() as f64 / seconds } else { 0.0 },
        1e3 * seconds / each,
        calls as f64 / each
    );
}

/// Runs lockstep on one pair of objects, on one thread.
fn measure(lockstep: &Path, pair: &ObjectPair) -> Result<Vec<Case>, String> {
    let failed = |why: String| format!("{}: {why}", pair.label);
    let output = Command::new(lockstep)
        .arg("check")
        .args([&pair.original, &pair.candidate])
        .args(["--format", "json", "--stats", "--jobs", "1", "--timeout", TIMEOUT])
        .output()
        .map_err(|e| failed(e.to_string()))?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|_| {
        failed(format!("no report ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
    })?;
    let functions = report["functions"].as_array().ok_or_else(|| failed("no functions in the report".to_string()))?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    Ok(functions
        .iter()
        .map(|f| Case {
            name: format!("{} {}", pair.label, text(&f["name"])),
            verdict: text(&f["verdict"]),
            millis: f["time_ms"].as_f64().unwrap_or(0.0),
            points: f["statistics"]["points"].as_u64().unwrap_or(0),
            obligations: f["statistics"]["obligations"].as_u64().unwrap_or(0),
            solver_calls: f["statistics"]["solver_calls"].as_u64().unwrap_or(0),
            guesses: f["statistics"]["guesses"].as_u64(),
        })
        .collect())
}

/// The sources of a folder, compiled without optimisation and at these levels.
fn compiled(folder: &str, compilers: &[(&str, &Tool)], levels: &[Level]) -> Result<Vec<ObjectPair>, String> {
    let sources = sorted_files(&root().join(folder), "c")?;
    let directory = root().join("target").join(folder);
    let mut pairs = Vec::new();
    for (name, tool) in compilers {
        let Some(compiler) = tool.find() else {
            println!("no {name}: its half of the sample is left out");
            continue;
        };
        for source in &sources {
            let stem = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let object = |level: &str| directory.join(format!("{name}-{level}/{stem}.o"));
            let build = |level: &str, own: &[&str]| {
                let flags: Vec<&str> = FLAGS.iter().chain(own).copied().collect();
                build::compile(&compiler, &flags, source, &object(level))
            };
            build("O0", &["-O0"])?;
            for (level, flags) in levels {
                build(level, flags)?;
                let label = format!("{name} {level} {stem}");
                pairs.push(ObjectPair { label, original: object("O0"), candidate: object(level) });
            }
        }
    }
    Ok(pairs)
}

fn corpus() -> Result<Vec<ObjectPair>, String> {
    let base = root().join("target/corpus/paper");
    let mut pairs = Vec::new();
    for program in sorted_files(&base, "").map_err(|e| format!("{e}\nbuild the corpus first"))? {
        for compiler in ["gcc-12", "clang-19"] {
            let old = program.join(format!("{compiler}-O0"));
            for original in if old.is_dir() { sorted_files(&old, "o")? } else { Vec::new() } {
                let file = original.file_name().unwrap_or_default().to_owned();
                let candidate = program.join(format!("{compiler}-O2")).join(&file);
                if candidate.exists() {
                    let of = program.file_name().unwrap_or_default().to_string_lossy();
                    let label = format!("{compiler} O2 {of}/{}", Path::new(&file).with_extension("").display());
                    pairs.push(ObjectPair { label, original, candidate });
                }
            }
        }
    }
    Ok(pairs)
}

/// Files of a directory with the extension (empty: without one), sorted by name.
fn sorted_files(directory: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let entries = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().unwrap_or_default() == extension)
        .collect();
    files.sort();
    Ok(files)
}

/// Milliseconds of a fixed computation: the unit in which times of different machines are compared. The best of
/// several runs, because anything else on the machine only adds.
fn calibrate() -> f64 {
    (0..5)
        .map(|_| {
            let start = Instant::now();
            let mut table = vec![0u64; 1 << 16];
            let mut x = 1u64;
            for _ in 0..4_000_000 {
                x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let slot = (x >> 48) as usize;
                table[slot] = table[slot].rotate_left(5) ^ x;
            }
            std::hint::black_box(&table);
            start.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::INFINITY, f64::min)
}
