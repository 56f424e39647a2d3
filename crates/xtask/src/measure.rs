//! `cargo xtask bench measure --aa N`: functions measured against themselves. Every claim is wrong.

use crate::build::{compile, lockstep};
use crate::{root, tools};
use serde_json::Value;
use std::process::Command;

/// Functions of the kinds that are measured: short and long, with memory, calls, floating point.
const SOURCE: &str = "
    int sum(const int *p, long n) { int s = 0; for (long i = 0; i < n; i++) s += p[i]; return s; }
    unsigned digit(unsigned char c) { return c >= '0' && c <= '9'; }
    void scale(double *p, double by, unsigned char n) { for (int i = 0; i < n; i++) p[i] *= by; }
    unsigned bits(unsigned long x) { unsigned n = 0; for (; x; x &= x - 1) n++; return n; }
    int next(void *); int five(void *p) { int s = 0; for (int i = 0; i < 5; i++) s += next(p); return s; }
    void reverse(unsigned char *p, unsigned char n)
      { for (int i = 0, k = n - 1; i < k; i++, k--) { unsigned char c = p[i]; p[i] = p[k]; p[k] = c; } }
";
const FUNCTIONS: [&str; 6] = ["sum", "digit", "scale", "bits", "five", "reverse"];

/// How many sessions, from the words after `bench measure`.
pub fn parse(words: &[&str]) -> Option<u64> {
    match words {
        [] => Some(200),
        ["--aa", count] => count.parse().ok().filter(|count| *count > 0),
        _ => None,
    }
}

/// Measures so many times; an error if anything is claimed.
pub fn run(sessions: u64) -> Result<(), String> {
    tools::require(&[&tools::CC])?;
    let lockstep = lockstep()?;
    let directory = root().join("target/bench-measure");
    let (source, object) = (directory.join("aa.c"), directory.join("aa.o"));
    std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    std::fs::write(&source, SOURCE).map_err(|e| format!("{}: {e}", source.display()))?;
    let compiler = tools::CC.find().ok_or("no C compiler")?;
    compile(&compiler, &["-O2", "-g", "-w"], &source, &object)?;
    let (mut claims, mut measured, mut widest, mut furthest) = (Vec::new(), 0, 0f64, 0f64);
    for seed in 0..sessions {
        let function = FUNCTIONS[(seed % FUNCTIONS.len() as u64) as usize];
        let mut command = Command::new(&lockstep);
        command.args(["measure", "--format", "json", "--function", function, "--seed", &seed.to_string()]);
        let output = command.arg(&object).arg(&object).output().map_err(|e| format!("lockstep: {e}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let value: Value =
            serde_json::from_slice(&output.stdout).map_err(|_| format!("{function}: {}", said.trim()))?;
        measured += 1;
        let number = |path: &str| value.pointer(path).and_then(Value::as_f64).unwrap_or(f64::NAN);
        widest = widest.max(number("/threshold"));
        furthest = furthest.max((number("/speedup/median") - 1.0).abs());
        if value["claim"] != "none" {
            claims.push(format!("{function}, seed {seed}: {} {}", value["claim"], value["speedup"]));
        }
    }
    println!(
        "{measured} sessions of a function against itself: {} claims; medians at most {:.2} % off, threshold at most {widest:.3}",
        claims.len(),
        100.0 * furthest
    );
    if claims.is_empty() { Ok(()) } else { Err(claims.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests() {
        assert_eq!(parse(&[]), Some(200));
        assert_eq!(parse(&["--aa", "7"]), Some(7));
        assert_eq!(parse(&["--aa", "0"]), None);
        assert_eq!(parse(&["--bb"]), None);
    }
}
