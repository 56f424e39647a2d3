//! `cargo xtask bench conditional --guards`: the same pairs behind guards that `lockstep guard` writes, proves and times.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Sizes of the pairs that have one.
const SIZES: [&str; 3] = ["8", "64", "1024"];

/// A function and the conditions under which it is compared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// The function's name.
    pub name: String,
    /// What `--assume` is given, one each.
    pub conditions: Vec<String>,
}

/// Can code check these conditions, and are there any?
fn is_guardable(kernel: &Kernel) -> bool {
    !kernel.conditions.is_empty() && !kernel.conditions.iter().any(|condition| condition.contains("fp("))
}

/// Guards all pairs that need a guard and prints a row for each. Fails if one has no proof.
pub fn run(
    lockstep: &Path,
    [original, candidate]: &[PathBuf; 2],
    kernels: &[Kernel],
    folder: &Path,
) -> Result<(), String> {
    println!(
        "{:<12} {:>10} {:>8} {:>6} {:>6}  {:>6} {:>10} {:>10} {:>10} {:>7}",
        "function", "verdict", "seconds", "instr", "cells", "size", "original", "candidate", "guarded", "guard"
    );
    let (mut proved, mut all) = (0, 0);
    for kernel in kernels.iter().filter(|kernel| is_guardable(kernel)) {
        let start = Instant::now();
        let mut command = Command::new(lockstep);
        command.args(["guard", "--format", "json", "--function", &kernel.name]).args([original, candidate]);
        command.arg("-o").arg(folder.join(format!("guarded_{}.o", kernel.name)));
        command.args(kernel.conditions.iter().flat_map(|condition| ["--assume", condition]));
        if kernel.conditions.iter().any(|condition| condition.contains("n %") || condition.starts_with("n <")) {
            command.arg("--sizes").arg(format!("n={}", SIZES.join(",")));
        }
        let output = command.output().map_err(|e| format!("{}: {e}", lockstep.display()))?;
        let seconds = start.elapsed().as_secs_f64();
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|e| format!("{}: {e}: {}", kernel.name, String::from_utf8_lossy(&output.stderr)))?;
        let verdict = report["verdict"].as_str().unwrap_or_default();
        (all, proved) = (all + 1, proved + usize::from(verdict == "guarded"));
        let count = |name: &str| report["guard"][name].as_u64().unwrap_or_default();
        let head = format!(
            "{:<12} {verdict:>10} {seconds:>8.2} {:>6} {:>6}",
            kernel.name,
            count("instructions"),
            count("cells")
        );
        let rows = report["guard"]["times"].as_array().cloned().unwrap_or_default();
        if rows.is_empty() {
            println!("{head}  {}", report["reason"].as_str().unwrap_or_default());
        }
        for row in rows {
            let time = |name: &str| row[name].as_f64().unwrap_or_default();
            println!(
                "{head}  {:>6} {:>10.1} {:>10.1} {:>10.1} {:>7.1}",
                row["size"],
                time("original"),
                time("candidate"),
                time("guarded"),
                time("guard")
            );
        }
    }
    println!("{proved} of {all} guards proved; times in ns a call");
    if proved == all { Ok(()) } else { Err(format!("{} guards without a proof", all - proved)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_of_reals_cannot_be_guarded() {
        let kernel = |conditions: &[&str]| Kernel {
            name: "f".to_string(),
            conditions: conditions.iter().map(|condition| condition.to_string()).collect(),
        };
        assert!(is_guardable(&kernel(&["n % 2 == 0"])));
        assert!(!is_guardable(&kernel(&[])));
        assert!(!is_guardable(&kernel(&["aligned(a, 16)", "fp(reassoc)"])));
    }
}
