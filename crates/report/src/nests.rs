//! Reports about C kernels: the verdict, the broken dependence, and the table of a sweep.

use crate::{Colour, Summary};
use search::ReasonKind;
use search::nests::{KernelOutcome, KernelVerdict};
use std::time::Duration;

mod dependence;
mod json;
mod text;

pub use dependence::render_broken;

/// One run of `lockstep check` on two C files.
#[derive(Debug)]
pub struct KernelReport {
    /// Path of the original, as given.
    pub original: String,
    /// Path of the candidate, as given.
    pub candidate: String,
    /// The kernels, in the order of the original.
    pub functions: Vec<KernelFunction>,
    /// Wall-clock time of the whole run.
    pub time: Duration,
}

/// What was found about one kernel.
#[derive(Debug)]
pub struct KernelFunction {
    /// Name in the original.
    pub name: String,
    /// Name in the candidate, if it differs.
    pub candidate_name: Option<String>,
    /// The verdict: of a sweep the worst one.
    pub outcome: KernelOutcome,
    /// Time spent.
    pub time: Duration,
    /// The candidate's file, if there are several.
    pub file: Option<String>,
    /// Where the certificate was written, if it was.
    pub certificate: Option<String>,
    /// Verdicts at all sizes of a sweep; empty without one.
    pub sweep: Vec<SweepRow>,
    /// Other sizes at which no difference was found, by our own reading alone.
    pub also: Vec<(String, i64)>,
}

/// The verdict at one size.
#[derive(Debug)]
pub struct SweepRow {
    /// Name of the parameter.
    pub parameter: String,
    /// Its value.
    pub value: i64,
    /// The verdict.
    pub outcome: KernelOutcome,
    /// Time spent.
    pub time: Duration,
}

/// The verdict's word, the same in text and JSON.
pub(crate) fn word(verdict: &KernelVerdict) -> &'static str {
    match verdict {
        KernelVerdict::Equivalent(_) => "equivalent",
        KernelVerdict::Different(_) => "different",
        KernelVerdict::Unknown(_) | KernelVerdict::Parameter(_) => "unknown",
    }
}

/// Kind and detail of an `unknown`.
pub(crate) fn reason(verdict: &KernelVerdict) -> Option<(&'static str, String)> {
    match verdict {
        KernelVerdict::Unknown(reason) => Some((reason.kind.name(), reason.detail.clone())),
        KernelVerdict::Parameter(name) => {
            Some((ReasonKind::Unsupported.name(), format!("parameter `{name}` has no value")))
        }
        _ => None,
    }
}

/// The assumptions as printed: sorted, each once.
pub(crate) fn assumptions(outcome: &KernelOutcome) -> Vec<String> {
    let mut list: Vec<String> = outcome.assumptions.iter().map(|a| a.to_string()).collect();
    list.sort();
    list.dedup();
    list
}

impl KernelReport {
    /// Counts the verdicts.
    pub fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for function in &self.functions {
            match function.outcome.verdict {
                KernelVerdict::Equivalent(_) => summary.equivalent += 1,
                KernelVerdict::Different(_) => summary.different += 1,
                KernelVerdict::Unknown(_) | KernelVerdict::Parameter(_) => summary.unknown += 1,
            }
        }
        summary
    }

    /// The report for people.
    pub fn render_text(&self, colour: Colour) -> String {
        text::render(self, colour)
    }

    /// The report for programs: one JSON object and a newline.
    pub fn render_json(&self) -> String {
        json::render(self)
    }

    /// The same as lines of JSON.
    pub fn render_jsonl(&self) -> String {
        json::render_lines(self)
    }
}
