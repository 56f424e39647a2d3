//! What one run of `lockstep check` found.

use crate::row::{Finding, Row};
use crate::{AssumedPart, Detail, TextStyle, json, text};
use search::Outcome;
use std::time::Duration;

/// All function pairs of two files, in the order of the original.
#[derive(Debug)]
pub struct CheckReport {
    /// Path of the original, as given.
    pub original: String,
    /// Path of the candidate, as given.
    pub candidate: String,
    /// One entry a function.
    pub functions: Vec<FunctionReport>,
    /// Wall-clock time of the whole run.
    pub time: Duration,
    /// Processor time for reading both files, where it was measured.
    pub reading: Option<Duration>,
}

/// What was found about one function pair.
#[derive(Debug)]
pub struct FunctionReport {
    /// Unique name in the original.
    pub name: String,
    /// Name in the candidate, if it differs.
    pub candidate_name: Option<String>,
    /// The condition under which both were compared, as the user stated it.
    pub assumed: Vec<AssumedPart>,
    /// The verdict and what led to it.
    pub outcome: Outcome,
    /// Time spent on the pair, the kernel included.
    pub time: Duration,
    /// Processor time of the same, where it was measured.
    pub cpu: Option<Duration>,
    /// Where the certificate was written, if it was.
    pub certificate: Option<String>,
}

/// How many functions got each verdict.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Summary {
    /// Proved.
    pub equivalent: usize,
    /// Proved under a condition that was inferred.
    pub equivalent_if: usize,
    /// Refuted.
    pub different: usize,
    /// Neither.
    pub unknown: usize,
}

impl CheckReport {
    /// Counts the verdicts.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.rows())
    }

    /// The report for people.
    pub fn render_text(&self, style: TextStyle) -> String {
        text::render(&self.rows(), self.time, style)
    }

    /// The report for programs: one JSON object and a newline. Statistics appear only when asked for, because the
    /// fields of the plain form are fixed.
    pub fn render_json(&self, detail: Detail) -> String {
        json::render(&self.original, &self.candidate, &self.rows(), self.reading, detail)
    }

    fn rows(&self) -> Vec<Row<'_>> {
        self.functions.iter().map(Row::of).collect()
    }
}

impl Summary {
    pub(crate) fn of(rows: &[Row<'_>]) -> Summary {
        let mut summary = Summary::default();
        for row in rows {
            match row.finding {
                Finding::Equivalent(_) => summary.equivalent += 1,
                Finding::EquivalentIf(..) => summary.equivalent_if += 1,
                Finding::Different(..) => summary.different += 1,
                Finding::Unknown(_) => summary.unknown += 1,
            }
        }
        summary
    }

    /// Number of functions.
    pub fn total(self) -> usize {
        self.equivalent + self.equivalent_if + self.different + self.unknown
    }
}
