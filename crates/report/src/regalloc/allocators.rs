//! What `lockstep regalloc` found: the report of `lockstep check` for each allocator, and a table of them all.

use super::allocation;
use crate::palette::printable;
use crate::{CheckReport, Colour, Detail, FunctionReport};
use search::Verdict;
use serde_json::json;
use std::time::Duration;

/// What was found about one allocator.
#[derive(Debug)]
pub struct AllocatorReport {
    /// Its name.
    pub allocator: String,
    /// The comparison of what it was given with what it made.
    pub report: CheckReport,
}

impl AllocatorReport {
    /// Processor time, where it was measured, for all functions and for the slowest.
    fn times(&self) -> (Duration, Duration) {
        let times = self.report.functions.iter().map(|f: &FunctionReport| f.cpu.unwrap_or(f.time));
        times.fold((Duration::ZERO, Duration::ZERO), |(all, slowest), time| (all + time, slowest.max(time)))
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The table for people, then the mistakes and the open cases.
pub fn render_allocators_text(reports: &[AllocatorReport]) -> String {
    let mut out = format!(
        "  {:9} {:>9} {:>11} {:>10} {:>8} {:>12} {:>10}\n",
        "allocator", "functions", "equivalent", "different", "unknown", "mean CPU ms", "slowest"
    );
    for one in reports {
        let (summary, (all, slowest)) = (one.report.summary(), one.times());
        let functions = one.report.functions.len();
        let mean = millis(all) / functions.max(1) as f64;
        out.push_str(&format!(
            "  {:9} {functions:>9} {:>11} {:>10} {:>8} {mean:>12.3} {:>10.3}\n",
            printable(&one.allocator),
            summary.equivalent,
            summary.different,
            summary.unknown,
            millis(slowest)
        ));
    }
    for AllocatorReport { allocator, report } in reports {
        for function in &report.functions {
            match &function.outcome.verdict {
                Verdict::Different(witness) => {
                    let title = format!("{allocator}, {}", function.name);
                    let shown = witness.allocation.as_ref().map(|e| allocation::render(&title, e, Colour::Plain));
                    out.push_str(&format!("\n{}", shown.unwrap_or_default()));
                }
                Verdict::Unknown(reason) => {
                    let (name, reason) = (printable(&function.name), printable(&reason.to_string()).to_string());
                    out.push_str(&format!("\n  {allocator}, {name}: unknown: {reason}\n"));
                }
                Verdict::Equivalent(_) => {}
            }
        }
    }
    out
}

/// The same for programs: of each allocator the object that `lockstep check` prints.
pub fn render_allocators_json(file: &str, reports: &[AllocatorReport]) -> String {
    let one = |one: &AllocatorReport| {
        let report = one.report.render_json(Detail::Statistics);
        format!("{{\"allocator\":{},\"report\":{}}}", json!(one.allocator), report.trim_end())
    };
    let all: Vec<String> = reports.iter().map(one).collect();
    format!("{{\"version\":1,\"file\":{},\"allocators\":[{}]}}\n", json!(file), all.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use search::{Outcome, Reason, ReasonKind, Statistics};

    fn example() -> AllocatorReport {
        let verdict = Verdict::Unknown(Reason::new(ReasonKind::Timeout, "gave up"));
        let outcome = Outcome {
            verdict,
            strategy: Some("regalloc"),
            statistics: Statistics::default(),
            certificate: None,
            native: Default::default(),
            journal: Default::default(),
            inferred: None,
            hint: None,
        };
        let function = FunctionReport {
            file: None,
            name: "f".to_string(),
            candidate_name: None,
            assumed: Vec::new(),
            outcome,
            time: Duration::from_millis(9),
            cpu: Some(Duration::from_micros(1500)),
            certificate: None,
        };
        let report = CheckReport {
            original: "before.mir".to_string(),
            candidate: "after.mir".to_string(),
            functions: vec![function],
            time: Duration::from_millis(10),
            reading: None,
            stopped: None,
        };
        AllocatorReport { allocator: "greedy".to_string(), report }
    }

    #[test]
    fn a_table() {
        let lines = [
            "  allocator functions  equivalent  different  unknown  mean CPU ms    slowest",
            "  greedy            1           0          0        1        1.500      1.500",
            "",
            "  greedy, f: unknown: timeout: gave up",
            "",
        ];
        assert_eq!(render_allocators_text(&[example()]), lines.join("\n"));
    }

    #[test]
    fn programs_get_the_report_of_check() {
        let text = render_allocators_json("x.c", &[example()]);
        let inner = example().report.render_json(Detail::Statistics);
        assert_eq!(text.matches(inner.trim_end()).count(), 1);
        let value: serde_json::Value = serde_json::from_str(&text).expect("an object");
        assert_eq!(value["allocators"][0]["allocator"], "greedy");
        assert_eq!(value["allocators"][0]["report"]["functions"][0]["verdict"], "unknown");
    }
}
