//! What an earlier run of the benchmark said, stored beside the sources.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A run of the benchmark.
pub struct Baseline {
    /// Milliseconds of the calibration on that machine.
    pub unit_millis: f64,
    /// One entry a function.
    pub cases: Vec<Case>,
}

/// One function pair.
#[derive(Clone)]
pub struct Case {
    /// Compiler, level, file, function.
    pub name: String,
    /// `equivalent`, `different` or `unknown`.
    pub verdict: String,
    /// Time.
    pub millis: f64,
    /// Product points.
    pub points: u64,
    /// Obligations.
    pub obligations: u64,
    /// Questions that reached a solver.
    pub solver_calls: u64,
    /// Guesses about loops, if they are counted.
    pub guesses: Option<u64>,
}

/// Cases below this time are noise when compared one by one.
const COMPARABLE_MILLIS: f64 = 20.0;

impl Baseline {
    /// Reads a stored run; `None` if there is none.
    pub fn read(file: &Path) -> Result<Option<Baseline>, String> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{}: {error}", file.display())),
        };
        let value: Value = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", file.display()))?;
        let cases = value["cases"].as_array().ok_or_else(|| format!("{}: no cases", file.display()))?;
        let count = |case: &Value, key: &str| case[key].as_u64().unwrap_or(0);
        let cases = cases
            .iter()
            .map(|case| Case {
                name: case["name"].as_str().unwrap_or_default().to_string(),
                verdict: case["verdict"].as_str().unwrap_or_default().to_string(),
                millis: case["millis"].as_f64().unwrap_or(0.0),
                points: count(case, "points"),
                obligations: count(case, "obligations"),
                solver_calls: count(case, "solver_calls"),
                guesses: case["guesses"].as_u64(),
            })
            .collect();
        Ok(Some(Baseline { unit_millis: value["unit_millis"].as_f64().unwrap_or(1.0), cases }))
    }

    /// Stores the run, one case a line so that a change of it can be reviewed.
    pub fn write(&self, file: &Path) -> Result<(), String> {
        let tenth = |millis: f64| (millis * 10.0).round() / 10.0;
        let lines: Vec<String> = self
            .cases
            .iter()
            .map(|c| {
                let mut line = json!({"name": c.name, "verdict": c.verdict, "millis": tenth(c.millis),
                    "points": c.points, "obligations": c.obligations, "solver_calls": c.solver_calls});
                if let Some(guesses) = c.guesses {
                    line["guesses"] = json!(guesses);
                }
                line.to_string()
            })
            .collect();
        let text = format!("{{\"unit_millis\":{},\"cases\":[\n{}\n]}}\n", tenth(self.unit_millis), lines.join(",\n"));
        std::fs::write(file, text).map_err(|e| format!("{}: {e}", file.display()))
    }
}

/// Prints what changed. A verdict that was had before and is lost now is an error, slower times are not.
pub fn compare(before: &Baseline, now: &Baseline) -> Result<(), String> {
    let old: BTreeMap<&str, &Case> = before.cases.iter().map(|c| (c.name.as_str(), c)).collect();
    let both: Vec<(&Case, &Case)> =
        now.cases.iter().filter_map(|c| old.get(c.name.as_str()).map(|o| (*o, c))).collect();
    let scale = now.unit_millis / before.unit_millis.max(f64::MIN_POSITIVE);
    let (mut old_time, mut new_time, mut old_calls, mut new_calls) = (0.0, 0.0, 0, 0);
    let (mut lost, mut won) = (0, 0);
    for (o, n) in &both {
        match (o.verdict.as_str(), n.verdict.as_str()) {
            (a, b) if a == b => {}
            ("unknown", _) => won += 1,
            (a, b) => {
                println!("LOST {}: was {a}, is {b}", n.name);
                lost += 1;
            }
        }
        old_time += o.millis * scale;
        new_time += n.millis;
        old_calls += o.solver_calls;
        new_calls += n.solver_calls;
        let ratio = n.millis / (o.millis * scale).max(f64::MIN_POSITIVE);
        if n.millis.max(o.millis * scale) > COMPARABLE_MILLIS && !(0.5..2.0).contains(&ratio) {
            println!("{ratio:.2} times the time: {} ({:.0} ms)", n.name, n.millis);
        }
    }
    println!(
        "against the baseline: {} of {} cases in common, {won} verdicts won, {lost} lost; {:.2} times the time, solver calls {old_calls} then, {new_calls} now",
        both.len(),
        before.cases.len(),
        if old_time > 0.0 { new_time / old_time } else { 1.0 }
    );
    if lost == 0 { Ok(()) } else { Err(format!("bench: {lost} verdicts lost")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(verdict: &str, millis: f64) -> Baseline {
        let case = Case {
            name: "cc O2 a f".to_string(),
            verdict: verdict.to_string(),
            millis,
            points: 1,
            obligations: 2,
            solver_calls: 3,
            guesses: None,
        };
        Baseline { unit_millis: 1.0, cases: vec![case] }
    }

    #[test]
    fn a_lost_verdict_fails_and_a_slow_one_does_not() {
        assert!(compare(&run("equivalent", 1.0), &run("unknown", 1.0)).is_err());
        assert!(compare(&run("equivalent", 1.0), &run("different", 1.0)).is_err());
        assert!(compare(&run("equivalent", 1.0), &run("equivalent", 900.0)).is_ok());
        assert!(compare(&run("unknown", 1.0), &run("equivalent", 1.0)).is_ok());
    }
}
