//! The answers of `verify`, and of an audit, as text and JSON.

use crate::AssumedPart;
use audit::{RuleRow, proved_elsewhere};
use kernel::Counts;
use serde::Serialize;
use solver::{SolverStatistics, Word};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What became of some certificates.
pub struct VerifyReport {
    /// The original's file.
    pub original: String,
    /// The candidate's file.
    pub candidate: String,
    /// In the order in which they were given.
    pub certificates: Vec<VerifiedCertificate>,
    /// What the proofs rest on, if that was asked.
    pub audit: Option<AuditReport>,
}

/// What became of one certificate.
pub struct VerifiedCertificate {
    /// Its file.
    pub certificate: String,
    /// The function that it is about.
    pub function: String,
    /// What the kernel says.
    pub verdict: CertificateVerdict,
}

/// What the kernel says of a certificate.
pub enum CertificateVerdict {
    /// It is a proof.
    Accepted {
        /// What the proof takes for granted.
        assumptions: Vec<String>,
        /// The condition under which the statement holds.
        condition: Condition,
        /// How much work it was.
        counts: Counts,
        /// Questions that the check proved, by whose word: the terms', checked clauses', a process's.
        questions: [u64; 3],
    },
    /// It is none; why.
    Rejected(String),
    /// It makes no sense, or is about another program; why.
    Malformed(String),
}

/// The condition of a proof.
#[derive(Default)]
pub struct Condition {
    /// Its parts, none if the statement holds always.
    pub parts: Vec<AssumedPart>,
    /// Does it follow from what the user assumes?
    pub assumed: bool,
}

/// What proofs rest on.
pub struct AuditReport {
    /// Questions that were asked for proofs, lemmas included.
    pub questions: SolverStatistics,
    /// Rewrite rules that fired.
    pub rules: BTreeMap<&'static str, RuleRow>,
}

#[derive(Serialize)]
struct JsonVerify<'a> {
    version: u32,
    original: &'a str,
    candidate: &'a str,
    certificates: Vec<JsonVerified<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<JsonAudit<'a>>,
}

#[derive(Serialize)]
struct JsonVerified<'a> {
    certificate: &'a str,
    function: &'a str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    assumptions: &'a [String],
    #[serde(skip_serializing_if = "<[AssumedPart]>::is_empty")]
    condition: &'a [AssumedPart],
    #[serde(skip_serializing_if = "Option::is_none")]
    obligations: Option<JsonWords>,
}

/// By whose word something is proved.
#[derive(Serialize, Clone, Copy)]
struct JsonWords {
    terms: u64,
    clauses: u64,
    process: u64,
}

#[derive(Serialize)]
struct JsonAudit<'a> {
    /// Proofs by the weakest word that they need.
    proofs: JsonWords,
    obligations: JsonWords,
    questions: JsonWords,
    refutations: u64,
    refutations_confirmed: u64,
    refutations_not_confirmed: u64,
    clauses_checked: u64,
    rules: Vec<JsonRule<'a>>,
}

#[derive(Serialize)]
struct JsonRule<'a> {
    rule: &'a str,
    firings: u64,
    instances: u64,
    by_clauses: u64,
    by_process: u64,
    elsewhere: u64,
    open: u64,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    examples: &'a [String],
    wrong: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    because: Option<&'static str>,
}

impl JsonWords {
    fn of(counts: Counts) -> JsonWords {
        let terms = counts.obligations.saturating_sub(counts.by_clauses + counts.by_process);
        JsonWords { terms: terms as u64, clauses: counts.by_clauses as u64, process: counts.by_process as u64 }
    }

    fn all(self) -> u64 {
        self.terms + self.clauses + self.process
    }

    fn sum(self, other: JsonWords) -> JsonWords {
        JsonWords {
            terms: self.terms + other.terms,
            clauses: self.clauses + other.clauses,
            process: self.process + other.process,
        }
    }

    /// One, for the weakest word.
    fn weakest(self) -> JsonWords {
        let process = u64::from(self.process > 0);
        let clauses = u64::from(self.clauses > 0 && process == 0);
        JsonWords { terms: 1 - process - clauses, clauses, process }
    }
}

impl Condition {
    fn said(&self) -> String {
        let loose = |text: &str| text.contains("||") || text.contains('?');
        let one = |part: &AssumedPart| if loose(&part.text) { format!("({})", part.text) } else { part.text.clone() };
        let parts: Vec<String> = self.parts.iter().map(one).collect();
        match (parts.is_empty(), self.assumed) {
            (true, _) => String::new(),
            (false, true) => " under --assume".to_string(),
            (false, false) => format!(" if {}", parts.join(" && ")),
        }
    }
}

const NOBODY: JsonWords = JsonWords { terms: 0, clauses: 0, process: 0 };

impl VerifyReport {
    /// Has a rule fired wrongly, or was a refutation not confirmed?
    pub fn found_something(&self) -> bool {
        let wrong = |audit: &AuditReport| audit.rules.values().any(|row| !row.wrong.is_empty());
        self.audit.as_ref().is_some_and(|audit| wrong(audit) || audit.questions.doubtful > 0)
    }

    /// Of each proof its obligations and its questions, by whose word.
    fn accepted(&self) -> impl Iterator<Item = [JsonWords; 2]> {
        self.certificates.iter().filter_map(|certificate| match &certificate.verdict {
            CertificateVerdict::Accepted { counts, questions: [terms, clauses, process], .. } => {
                let questions = JsonWords { terms: *terms, clauses: *clauses, process: *process };
                Some([JsonWords::of(*counts), questions])
            }
            _ => None,
        })
    }

    fn audited<'a>(&self, audit: &'a AuditReport) -> JsonAudit<'a> {
        let asked = &audit.questions;
        let rules = audit.rules.iter().map(|(rule, row)| JsonRule {
            rule,
            firings: row.firings,
            instances: row.instances,
            by_clauses: row.by_clauses,
            by_process: row.by_process,
            elsewhere: row.elsewhere,
            open: row.open,
            examples: &row.examples,
            wrong: &row.wrong,
            because: proved_elsewhere(rule),
        });
        JsonAudit {
            proofs: self.accepted().map(|[_, asked]| asked.weakest()).fold(NOBODY, JsonWords::sum),
            obligations: self.accepted().map(|[obligations, _]| obligations).fold(NOBODY, JsonWords::sum),
            questions: JsonWords {
                terms: asked.proved_by(Word::Terms),
                clauses: asked.proved_by(Word::Clauses),
                process: asked.proved_by(Word::Process),
            },
            refutations: asked.refutations,
            refutations_confirmed: asked.confirmed,
            refutations_not_confirmed: asked.doubtful,
            clauses_checked: asked.clauses,
            rules: rules.collect(),
        }
    }

    /// As JSON.
    pub fn render_json(&self) -> String {
        let certificates = self.certificates.iter().map(|certificate| {
            let (result, detail) = match &certificate.verdict {
                CertificateVerdict::Accepted { .. } => ("accepted", None),
                CertificateVerdict::Rejected(why) => ("rejected", Some(why.as_str())),
                CertificateVerdict::Malformed(why) => ("malformed", Some(why.as_str())),
            };
            let (assumptions, condition, obligations) = match &certificate.verdict {
                CertificateVerdict::Accepted { assumptions, condition, counts, .. } => {
                    (&assumptions[..], &condition.parts[..], Some(JsonWords::of(*counts)))
                }
                _ => (&[][..], &[][..], None),
            };
            let (file, function) = (certificate.certificate.as_str(), certificate.function.as_str());
            JsonVerified { certificate: file, function, result, detail, assumptions, condition, obligations }
        });
        let report = JsonVerify {
            version: 1,
            original: &self.original,
            candidate: &self.candidate,
            certificates: certificates.collect(),
            audit: self.audit.as_ref().map(|audit| self.audited(audit)),
        };
        serde_json::to_string_pretty(&report).expect("a report is plain data") + "\n"
    }

    /// As text: a line for each certificate that makes sense, and what the proofs rest on.
    pub fn render_text(&self) -> String {
        let mut out = String::new();
        for VerifiedCertificate { function, verdict, .. } in &self.certificates {
            let _ = match verdict {
                CertificateVerdict::Accepted { assumptions, condition, .. } => {
                    let mut line = format!("  {function}   accepted{}", condition.said());
                    if !assumptions.is_empty() {
                        line += &format!("   assumes {}", assumptions.join(", "));
                    }
                    writeln!(out, "{line}")
                }
                CertificateVerdict::Rejected(why) => writeln!(out, "  {function}   rejected   {why}"),
                CertificateVerdict::Malformed(_) => Ok(()),
            };
        }
        if let Some(audit) = &self.audit {
            self.render_audit(&self.audited(audit), &mut out);
        }
        out
    }

    fn render_audit(&self, audit: &JsonAudit<'_>, out: &mut String) {
        let _ = writeln!(out, "\naudit");
        for (what, words) in
            [("proofs", audit.proofs), ("obligations", audit.obligations), ("questions proved", audit.questions)]
        {
            let all = words.all();
            let share = |n: u64| if all == 0 { 0.0 } else { 100.0 * n as f64 / all as f64 };
            let line = |word, n: u64| format!("{word} {n} ({:.1} %)", share(n));
            let words =
                [line("terms and rules alone", words.terms), line("clauses", words.clauses), line("z3", words.process)];
            let _ = writeln!(out, "  {what:<18}{all:>7}   {}", words.join(", "));
        }
        let _ = writeln!(
            out,
            "  {:<18}{:>7}   confirmed {}, not confirmed {}; {} learnt clauses checked. They are about the clauses that \
             lockstep made of its questions; that these say the same is believed",
            "clausal proofs",
            audit.refutations,
            audit.refutations_confirmed,
            audit.refutations_not_confirmed,
            audit.clauses_checked
        );
        let sum = |count: fn(&JsonRule) -> u64| audit.rules.iter().map(count).sum::<u64>();
        let _ = writeln!(
            out,
            "  {:<18}{:>7}   fired {} times, {} instances: proved by clauses {}, by z3 {}, elsewhere {}, not shown {}",
            "rewrite rules",
            audit.rules.len(),
            sum(|r| r.firings),
            sum(|r| r.instances),
            sum(|r| r.by_clauses),
            sum(|r| r.by_process),
            sum(|r| r.elsewhere),
            sum(|r| r.open)
        );
        for rule in audit.rules.iter().filter(|r| r.elsewhere + r.open + r.by_process > 0 || !r.wrong.is_empty()) {
            let mut notes = Vec::new();
            let counted = [("by z3", rule.by_process), ("elsewhere", rule.elsewhere), ("not shown", rule.open)];
            notes.extend(counted.iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{what} {n}")));
            notes.extend(rule.because.map(str::to_string));
            let _ = writeln!(out, "    {:<24}{:>7}   {}", rule.rule, rule.instances, notes.join(", "));
            for wrong in rule.wrong {
                let _ = writeln!(out, "      WRONG: {wrong}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(wrong: &[&str]) -> VerifyReport {
        let counts = Counts { points: 1, obligations: 8, by_clauses: 1, by_process: 1 };
        let questions = [5, 4, 1];
        let condition = Condition::default();
        let accepted =
            CertificateVerdict::Accepted { assumptions: vec!["in-bounds".to_string()], condition, counts, questions };
        let certificate = |name: &str, verdict| VerifiedCertificate {
            certificate: format!("{name}.json"),
            function: name.to_string(),
            verdict,
        };
        let row = RuleRow {
            firings: 5,
            instances: 2,
            by_clauses: 2,
            wrong: wrong.iter().map(|text| text.to_string()).collect(),
            ..RuleRow::default()
        };
        let questions =
            SolverStatistics { proved: [3, 2, 1], refutations: 4, confirmed: 4, clauses: 9, ..Default::default() };
        VerifyReport {
            original: "a.o".to_string(),
            candidate: "b.o".to_string(),
            certificates: vec![
                certificate("f", accepted),
                certificate("g", CertificateVerdict::Rejected("why".to_string())),
            ],
            audit: Some(AuditReport { questions, rules: [("add-zero", row)].into() }),
        }
    }

    #[test]
    fn text_says_who_is_believed() {
        let text = report(&[]).render_text();
        assert!(text.starts_with("  f   accepted   assumes in-bounds\n  g   rejected   why\n"), "{text}");
        assert!(text.contains("terms and rules alone 6 (75.0 %), clauses 1 (12.5 %), z3 1 (12.5 %)"), "{text}");
        assert!(text.contains("fired 5 times, 2 instances: proved by clauses 2, by z3 0"), "{text}");
    }

    #[test]
    fn a_condition_is_part_of_what_is_accepted() {
        let part = |text: &str| AssumedPart { kind: "range", text: text.to_string(), expression: String::new() };
        let mut condition = Condition { parts: vec![part("n < 4"), part("aligned(p, 16)")], assumed: false };
        assert_eq!(condition.said(), " if n < 4 && aligned(p, 16)");
        condition.assumed = true;
        assert_eq!(condition.said(), " under --assume");
        assert_eq!(Condition::default().said(), "");
    }

    #[test]
    fn what_is_wrong_is_said() {
        assert!(!report(&[]).found_something());
        let report = report(&["x is not y"]);
        assert!(report.found_something() && report.render_text().contains("WRONG: x is not y"));
    }

    #[test]
    fn json_has_the_same_counts() {
        let json: serde_json::Value = serde_json::from_str(&report(&[]).render_json()).expect("json");
        assert_eq!(json["certificates"][0]["obligations"]["terms"], 6);
        assert_eq!(json["certificates"][1]["detail"], "why");
        assert_eq!(json["audit"]["proofs"]["process"], 1);
        assert_eq!(json["audit"]["rules"][0]["rule"], "add-zero");
    }
}
