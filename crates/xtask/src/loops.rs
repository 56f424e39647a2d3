//! The table of `cargo xtask bench loops`: a row for each file, compiler and level.

use crate::baseline::Case;
use std::collections::BTreeMap;

/// Names of the columns.
pub const HEADER: &str = "file                              pairs  proved  different  unknown  median ms   mean ms    calls  guesses  proofs/s";

/// Times and counts are those of the proofs.
pub fn row(label: &str, cases: &[Case]) -> String {
    let number = |verdict: &str| cases.iter().filter(|c| c.verdict == verdict).count();
    let proofs: Vec<&Case> = cases.iter().filter(|c| c.verdict == "equivalent").collect();
    let mut times: Vec<f64> = proofs.iter().map(|c| c.millis).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).copied().unwrap_or(0.0);
    let total = times.iter().fold(0.0, |sum, t| sum + t);
    let each = proofs.len().max(1) as f64;
    let calls: u64 = proofs.iter().map(|c| c.solver_calls).sum();
    let guesses: Option<u64> = proofs.iter().map(|c| c.guesses).sum();
    let guesses = match guesses {
        Some(guesses) if !proofs.is_empty() => format!("{:.1}", guesses as f64 / each),
        _ => "-".to_string(),
    };
    format!(
        "{label:<32} {:>6} {:>7} {:>10} {:>8} {median:>10.1} {:>9.1} {:>8.1} {guesses:>8} {:>9.2}",
        cases.len(),
        proofs.len(),
        number("different"),
        number("unknown"),
        total / each,
        calls as f64 / each,
        if total > 0.0 { 1e3 * proofs.len() as f64 / total } else { 0.0 }
    )
}

/// A row for each compiler and level, all files together.
pub fn totals(cases: &[Case]) -> Vec<String> {
    let mut levels: BTreeMap<String, Vec<Case>> = BTreeMap::new();
    for case in cases {
        let level: Vec<&str> = case.name.split(' ').take(2).collect();
        levels.entry(level.join(" ")).or_default().push(case.clone());
    }
    levels.iter().map(|(level, cases)| row(&format!("{level}, all files"), cases)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str, verdict: &str, millis: f64, guesses: Option<u64>) -> Case {
        let (name, verdict) = (name.to_string(), verdict.to_string());
        Case { name, verdict, millis, points: 1, obligations: 1, solver_calls: 4, guesses }
    }

    fn words(row: &str) -> Vec<&str> {
        row.split_whitespace().collect()
    }

    #[test]
    fn rows_count_verdicts_and_average_over_proofs() {
        let cases = [
            case("gcc-12 O2 a f", "equivalent", 100.0, Some(6)),
            case("gcc-12 O2 a g", "equivalent", 300.0, Some(2)),
            case("gcc-12 O2 a h", "unknown", 9000.0, None),
        ];
        let shown = row("a", &cases);
        assert_eq!(words(&shown), ["a", "3", "2", "0", "1", "300.0", "200.0", "4.0", "4.0", "5.00"]);
        let shown = row("b", &cases[2..]);
        assert_eq!(words(&shown), ["b", "1", "0", "0", "1", "0.0", "0.0", "0.0", "-", "0.00"]);
    }

    #[test]
    fn totals_are_by_compiler_and_level() {
        let cases = [
            case("gcc-12 O2 a f", "equivalent", 100.0, None),
            case("gcc-12 O2 b f", "unknown", 100.0, None),
            case("gcc-12 O3 a f", "different", 100.0, None),
        ];
        let shown = totals(&cases);
        assert_eq!(shown.len(), 2);
        assert_eq!(words(&shown[0])[..6], ["gcc-12", "O2,", "all", "files", "2", "1"]);
    }
}
