//! The table of `lockstep regalloc`: one row an allocator.

use crate::Colour;
use crate::allocation;
use crate::palette::printable;
use search::regalloc::AllocationError;
use serde_json::json;
use std::time::Duration;

/// What was found about one allocator.
#[derive(Clone, Debug, Default)]
pub struct AllocatorRow {
    /// Its name.
    pub allocator: String,
    /// Functions proved.
    pub equivalent: usize,
    /// Functions with a mistake.
    pub different: usize,
    /// Neither.
    pub unknown: usize,
    /// Processor time for all functions.
    pub time: Duration,
    /// Processor time for the slowest.
    pub slowest: Duration,
    /// The mistakes.
    pub mistakes: Vec<AllocationError>,
    /// Functions without an answer, and why.
    pub reasons: Vec<(String, String)>,
}

impl AllocatorRow {
    /// An empty row.
    pub fn new(allocator: &str) -> AllocatorRow {
        AllocatorRow { allocator: allocator.to_string(), ..AllocatorRow::default() }
    }

    fn functions(&self) -> usize {
        self.equivalent + self.different + self.unknown
    }
}

fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// The table for people, then the mistakes and the open cases.
pub fn render_allocators_text(rows: &[AllocatorRow]) -> String {
    let mut out = format!(
        "  {:9} {:>9} {:>11} {:>10} {:>8} {:>12} {:>10}\n",
        "allocator", "functions", "equivalent", "different", "unknown", "mean CPU ms", "slowest"
    );
    for row in rows {
        let mean = millis(row.time) / row.functions().max(1) as f64;
        out.push_str(&format!(
            "  {:9} {:>9} {:>11} {:>10} {:>8} {mean:>12.3} {:>10.3}\n",
            printable(&row.allocator),
            row.functions(),
            row.equivalent,
            row.different,
            row.unknown,
            millis(row.slowest)
        ));
    }
    for row in rows {
        for error in &row.mistakes {
            out.push('\n');
            out.push_str(&allocation::render(&format!("{}, {}", row.allocator, error.function), error, Colour::Plain));
        }
        for (function, reason) in &row.reasons {
            out.push_str(&format!("\n  {}, {}: unknown: {}\n", row.allocator, printable(function), printable(reason)));
        }
    }
    out
}

/// The table for programs.
pub fn render_allocators_json(file: &str, rows: &[AllocatorRow]) -> String {
    let rows: Vec<serde_json::Value> = rows
        .iter()
        .map(|row| {
            let mistakes: Vec<serde_json::Value> = row.mistakes.iter().map(|e| json!(allocation::json(e))).collect();
            let reasons: Vec<serde_json::Value> =
                row.reasons.iter().map(|(name, reason)| json!({"name": name, "reason": reason})).collect();
            json!({
                "allocator": row.allocator,
                "functions": row.functions(),
                "equivalent": row.equivalent,
                "different": row.different,
                "unknown": row.unknown,
                "time_ms": millis(row.time),
                "slowest_ms": millis(row.slowest),
                "mistakes": mistakes,
                "reasons": reasons,
            })
        })
        .collect();
    format!("{}\n", json!({"version": 1, "file": file, "allocators": rows}))
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn a_table() {
        let row = AllocatorRow {
            equivalent: 3,
            unknown: 1,
            time: Duration::from_millis(2),
            slowest: Duration::from_micros(1500),
            reasons: vec![("f".to_string(), "timeout: gave up".to_string())],
            ..AllocatorRow::new("greedy")
        };
        let lines = [
            "  allocator functions  equivalent  different  unknown  mean CPU ms    slowest",
            "  greedy            4           3          0        1        0.500      1.500",
            "",
            "  greedy, f: unknown: timeout: gave up",
            "",
        ];
        assert_eq!(render_allocators_text(std::slice::from_ref(&row)), lines.join("\n"));
        expect![[r#"
            {"allocators":[{"allocator":"greedy","different":0,"equivalent":3,"functions":4,"mistakes":[],"reasons":[{"name":"f","reason":"timeout: gave up"}],"slowest_ms":1.5,"time_ms":2.0,"unknown":1}],"file":"x.c","version":1}
        "#]]
        .assert_eq(&render_allocators_json("x.c", &[row]));
    }
}
