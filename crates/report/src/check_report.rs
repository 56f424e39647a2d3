//! What one run of `lockstep check` found.

use crate::row::{Finding, Row};
use crate::text::{Lines, Title};
use crate::{AssumedPart, Detail, TextStyle, json, text};
use search::{Outcome, ReasonKind, Verdict};
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
    /// What was left undone.
    pub stopped: Option<Stopped>,
}

/// A run that ended early.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stopped {
    /// Why, in a word.
    pub why: &'static str,
    /// Functions that are not in the report.
    pub undecided: usize,
}

/// What was found about one function pair.
#[derive(Debug)]
pub struct FunctionReport {
    /// The file that it is in, where several are compared.
    pub file: Option<String>,
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
    /// Part of other functions in the candidate: no verdict of their own.
    pub inlined: usize,
}

impl CheckReport {
    /// Counts the verdicts.
    pub fn summary(&self) -> Summary {
        Summary::of(&self.rows())
    }

    /// The report for people.
    pub fn render_text(&self, style: TextStyle) -> String {
        let lines = TextLines::new(self.functions.iter().map(FunctionReport::title), style);
        let above: String = self.functions.iter().map(|function| lines.line(function)).collect();
        above + &self.render_text_end(style)
    }

    /// What comes below the lines of the functions: witnesses and the summary.
    pub fn render_text_end(&self, style: TextStyle) -> String {
        text::render_end(&self.rows(), self.time, style, self.stopped)
    }

    /// The report for programs: one JSON object and a newline. Statistics appear only when asked for, because the
    /// fields of the plain form are fixed.
    pub fn render_json(&self, detail: Detail) -> String {
        json::render(self, &self.rows(), detail)
    }

    /// The last line of the report as lines of JSON.
    pub fn render_jsonl_end(&self) -> String {
        json::render_last(self, &self.rows())
    }

    /// The report as lines of JSON.
    pub fn render_jsonl(&self, detail: Detail) -> String {
        let mut out = render_jsonl_start([&self.original, &self.candidate], self.functions.len());
        out.extend(self.functions.iter().map(|function| function.render_jsonl(detail)));
        out + &self.render_jsonl_end()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        self.functions.iter().map(Row::of).collect()
    }
}

impl FunctionReport {
    /// What the function is called in a report.
    pub fn title(&self) -> Title<'_> {
        Title { file: self.file.as_deref(), name: &self.name, candidate_name: self.candidate_name.as_deref() }
    }

    /// The function's line in a report as lines of JSON.
    pub fn render_jsonl(&self, detail: Detail) -> String {
        json::render_function(&Row::of(self), detail)
    }
}

/// The first line of a report as lines of JSON: the two files, and how many functions will be compared.
pub fn render_jsonl_start([original, candidate]: [&str; 2], functions: usize) -> String {
    json::render_first(original, candidate, functions)
}

/// The lines of a report for people, each as soon as its function is decided.
pub struct TextLines(Lines);

impl TextLines {
    /// Lines for functions of these names.
    pub fn new<'a>(names: impl Iterator<Item = Title<'a>>, style: TextStyle) -> TextLines {
        TextLines(Lines::new(names, style))
    }

    /// The line of a function.
    pub fn line(&self, function: &FunctionReport) -> String {
        self.0.line(&Row::of(function))
    }
}

impl Summary {
    /// The summary with one answer more.
    pub fn with(mut self, outcome: &Outcome) -> Summary {
        match &outcome.verdict {
            Verdict::Equivalent(_) if outcome.inferred.is_some() => self.equivalent_if += 1,
            Verdict::Equivalent(_) => self.equivalent += 1,
            Verdict::Different(_) => self.different += 1,
            Verdict::Unknown(reason) if reason.kind == ReasonKind::Inlined => self.inlined += 1,
            Verdict::Unknown(_) => self.unknown += 1,
        }
        self
    }

    pub(crate) fn of(rows: &[Row<'_>]) -> Summary {
        let mut summary = Summary::default();
        for row in rows {
            match row.finding {
                Finding::Equivalent(_) => summary.equivalent += 1,
                Finding::EquivalentIf(..) => summary.equivalent_if += 1,
                Finding::Different(..) => summary.different += 1,
                Finding::Unknown(_) => summary.unknown += 1,
                Finding::Inlined(_) => summary.inlined += 1,
            }
        }
        summary
    }

    /// Number of functions.
    pub fn total(self) -> usize {
        self.equivalent + self.equivalent_if + self.different + self.unknown + self.inlined
    }
}
