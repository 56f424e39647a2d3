//! What a run found, as text and as JSON.

use crate::assembly::{Body, Piece};
use crate::rank::Speed;
use crate::request::Goal;
use serde::{Serialize, Serializer};
use std::fmt::Write;

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Of this form.
    pub version: u32,
    /// The function.
    pub function: String,
    /// Its file.
    pub file: String,
    /// What was to be small.
    #[serde(serialize_with = "goal")]
    pub goal: Goal,
    /// What was to be beaten.
    pub rival: String,
    /// Bytes of its code.
    pub rival_bytes: usize,
    /// What the run was told, and learned on the way.
    pub given: Given,
    /// What was written, if something better was found.
    pub winner: Option<Winner>,
    /// All versions, the best first.
    pub rows: Vec<Row>,
    /// How long it took.
    pub seconds: f64,
}

/// What a run was told.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Given {
    /// Conditions, in the user's words.
    pub assumed: Vec<String>,
    /// The processor.
    pub cpu: &'static str,
    /// Failed proofs that became tests.
    pub counterexamples: usize,
}

/// What was written.
#[derive(Clone, Debug, Serialize)]
pub struct Winner {
    /// Who proposed it.
    pub origin: String,
    /// The assembly file.
    pub file: String,
    /// The object with the function exchanged.
    pub merged: Option<String>,
    /// The certificate.
    pub certificate: Option<String>,
    /// The object that the certificate is about, beside the output.
    pub original: Option<String>,
    /// How fast it is.
    pub speed: Option<Speed>,
    /// Bytes of its code.
    pub bytes: usize,
    /// How long the proof took.
    pub proof_seconds: f64,
    /// What the proof takes for granted.
    pub assumptions: Vec<String>,
    /// The condition under which alone it holds.
    pub condition: Vec<String>,
    /// Instructions of what was beaten.
    pub before: Vec<String>,
    /// Its own.
    pub after: Vec<String>,
}

/// A version.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Who proposed it.
    pub origin: String,
    /// Bytes of its code.
    pub bytes: usize,
    /// How fast it is.
    pub speed: Option<Speed>,
    /// What has become of it.
    pub state: RowState,
    /// Why it is not proved.
    pub reason: Option<String>,
}

/// What has become of a version.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowState {
    /// Proved.
    Proved,
    /// Wrong.
    Refuted,
    /// Nobody knows.
    Unknown,
    /// A better one was proved before its turn came.
    NotTried,
}

fn goal<S: Serializer>(goal: &Goal, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match goal {
        Goal::Latency => "latency",
        Goal::Throughput => "throughput",
        Goal::Size => "size",
        Goal::Model => "model",
    })
}

/// Most versions without a proof that are listed.
const MOST_UNPROVED: usize = 10;
/// Width of a column of instructions.
const COLUMN: usize = 44;

impl Report {
    /// As JSON.
    pub fn render_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// As text.
    pub fn render_text(&self) -> String {
        let mut out = String::new();
        match &self.winner {
            Some(winner) => self.describe(winner, &mut out),
            None => {
                let proved = self.rows.iter().filter(|row| row.state == RowState::Proved).count();
                let _ = writeln!(
                    out,
                    "{}  nothing better than {}: {} versions, {proved} proved  {:.1} s",
                    self.function,
                    self.rival,
                    self.rows.len(),
                    self.seconds
                );
                let best = self.rows.iter().find(|row| row.state == RowState::Proved);
                if let Some((row, speed)) =
                    best.and_then(|row| Some((row, row.speed?))).filter(|(_, s)| s.speedup > 1.0)
                {
                    let [low, high] = speed.interval;
                    let _ = writeln!(
                        out,
                        "  best     {}: {:.2}x [{low:.2}, {high:.2}], which noise or layout could explain",
                        row.origin, speed.speedup
                    );
                }
            }
        }
        self.unproved(&mut out);
        out
    }

    fn describe(&self, winner: &Winner, out: &mut String) {
        let gain = match (&winner.speed, self.goal) {
            (Some(s), Goal::Latency | Goal::Throughput) => {
                format!(
                    "{:.2}x faster [{:.2}, {:.2}], at worst {:.2}x",
                    s.speedup, s.interval[0], s.interval[1], s.worst
                )
            }
            _ => format!("{} bytes instead of {}", winner.bytes, self.rival_bytes),
        };
        let _ =
            writeln!(out, "{}  {gain}, than {}  proved in {:.1} s", self.function, self.rival, winner.proof_seconds);
        let _ = writeln!(out, "  from     {}", winner.origin);
        let condition = if winner.condition.is_empty() { "none".to_string() } else { winner.condition.join(" && ") };
        let _ = writeln!(out, "  needs    {condition}");
        if !winner.assumptions.is_empty() {
            let _ = writeln!(out, "  assumes  {}", winner.assumptions.join(", "));
        }
        let _ = writeln!(out, "  written  {}", winner.file);
        if let Some(merged) = &winner.merged {
            let _ = writeln!(out, "  merged   {merged}");
        }
        if let (Some(certificate), Some(original)) = (&winner.certificate, &winner.original) {
            let _ = writeln!(out, "  verify   lockstep verify {certificate} {original} {}", winner.file);
        }
        if !winner.before.is_empty() {
            let _ = writeln!(out, "\n  {:COLUMN$}   now", self.rival);
            for (mark, left, right) in side_by_side(&winner.before, &winner.after) {
                let _ = writeln!(out, "  {:COLUMN$} {mark} {right}", cut(left));
            }
        }
    }

    /// Versions that are better than what was written, and why they are not proved.
    fn unproved(&self, out: &mut String) {
        let better = self.rows.iter().take_while(|row| row.state != RowState::Proved);
        let better = better.filter(|row| row.state == RowState::Unknown);
        let better: Vec<&Row> = better.collect();
        if better.is_empty() {
            return;
        }
        let _ = writeln!(out, "\nbetter, but not proved:");
        for row in better.iter().take(MOST_UNPROVED) {
            let gain = row.speed.map_or(format!("{} bytes", row.bytes), |speed| format!("{:.2}x", speed.speedup));
            let _ = writeln!(out, "  {gain:>8}  {}: {}", row.origin, row.reason.as_deref().unwrap_or(""));
        }
        if better.len() > MOST_UNPROVED {
            let _ = writeln!(out, "  and {} more", better.len() - MOST_UNPROVED);
        }
    }
}

fn cut(text: &str) -> String {
    text.chars().take(COLUMN).collect()
}

/// The instructions of a function and the labels that they name, in one form.
pub fn instructions(body: &Body) -> Vec<String> {
    let lines = body.code.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(text.split('#').next().unwrap_or("").trim()),
        Piece::Home => None,
    });
    let lines: Vec<&str> = lines.filter(|text| !text.is_empty()).collect();
    let (labels, code): (Vec<&str>, Vec<&str>) = lines.iter().partition(|text| text.ends_with(':'));
    let is_named = |label: &str| {
        let label = label.trim_end_matches(':');
        let words = |text: &str| text.split([' ', '\t', ',', '(', '-', '*']).any(|word| word == label);
        code.iter().any(|text| !text.starts_with(".size") && !text.starts_with(".cfi") && words(text))
    };
    let named: Vec<&str> = labels.into_iter().filter(|label| is_named(label)).collect();
    let shown = |text: &&str| if text.ends_with(':') { named.contains(text) } else { !text.starts_with('.') };
    let form = |text: &str| {
        let words: Vec<&str> = text.split_whitespace().collect();
        if text.ends_with(':') { words.join(" ") } else { format!("  {}", words.join(" ")) }
    };
    lines.iter().filter(|text| shown(text)).map(|text| form(text)).collect()
}

/// Two listings beside each other: what is the same stands in one line.
fn side_by_side<'a>(left: &'a [String], right: &'a [String]) -> Vec<(char, &'a str, &'a str)> {
    /// Longer listings are shown one after another.
    const LONGEST: usize = 2000;
    let (n, m) = (left.len().min(LONGEST), right.len().min(LONGEST));
    let mut common = vec![vec![0u32; m + 1]; n + 1];
    for i in (0..n).rev() {
        for j in (0..m).rev() {
            common[i][j] =
                if left[i] == right[j] { common[i + 1][j + 1] + 1 } else { common[i + 1][j].max(common[i][j + 1]) };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < n || j < m {
        if i < n && j < m && left[i] == right[j] {
            out.push((' ', left[i].as_str(), right[j].as_str()));
            (i, j) = (i + 1, j + 1);
            continue;
        }
        // What was taken out and what was put in for it stand beside each other.
        let gone = i < n && (j >= m || common[i + 1][j] == common[i][j]);
        let come = j < m && (i >= n || common[i][j + 1] == common[i][j]);
        match (gone, come) {
            (true, true) if i < n && j < m && common[i + 1][j + 1] == common[i][j] => {
                out.push(('|', left[i].as_str(), right[j].as_str()));
                (i, j) = (i + 1, j + 1);
            }
            (true, _) => {
                out.push(('<', left[i].as_str(), ""));
                i += 1;
            }
            _ => {
                out.push(('>', "", right[j].as_str()));
                j += 1;
            }
        }
    }
    out
}
