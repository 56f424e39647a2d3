//! What a certificate says about the work that it takes: how much one question may cost, and which questions were hard.
//!
//! A proof that was found once is checked faster by whoever knows where the work is. And since all limits are counts,
//! and stand in the certificate, a check gives the same answer on every machine.
//!
//! Trust: none. What is written here makes the check ask a process sooner, or leave a question open; what is proved is
//! proved in the same way. A wrong entry costs time, or the proof.

use serde::{Deserialize, Serialize};
use solver::{Effort, Hard, Record};
use std::collections::BTreeMap;

/// What questions may cost, and what became of the hard ones.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffortClaim {
    /// Resources of a process and propagations of the SAT solver that one question may cost: whoever tries several ways tries
    /// all of them with the first, then all of them with the next.
    pub limits: Vec<[u64; 2]>,
    /// Hard questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hard: Vec<HardClaim>,
}

/// What became of a hard question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardClaim {
    /// Hash of the question: 16 hexadecimal digits.
    pub question: String,
    /// Who answered.
    pub by: Answerer,
    /// With what: propagations that were not enough, conflicts, resources that were enough.
    pub effort: u64,
}

/// Who answered a hard question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answerer {
    /// Nobody.
    Nobody,
    /// The SAT solver.
    Clauses,
    /// A solver process.
    Process,
}

const MOST_LIMITS: usize = 4;
const MOST_HARD: usize = 100_000;
/// More than a question is ever worth.
const MOST: u64 = 1_000_000_000;

impl EffortClaim {
    /// What a check was allowed and what it found hard.
    pub fn of(efforts: &[Effort], record: &Record) -> EffortClaim {
        let hard = record.0.iter().map(|(key, hard)| {
            let (by, effort) = match *hard {
                Hard::Open(effort) => (Answerer::Nobody, effort),
                Hard::Clauses(effort) => (Answerer::Clauses, effort),
                Hard::Process(effort) => (Answerer::Process, effort),
            };
            HardClaim { question: format!("{key:016x}"), by, effort }
        });
        let limits = efforts.iter().map(|effort| [effort.resources, effort.propagations]).collect();
        EffortClaim { limits, hard: hard.collect() }
    }

    /// What questions may cost, or what is wrong with it.
    pub fn limits(&self) -> Result<Vec<Effort>, String> {
        let fits = |limit: &[u64; 2]| limit.iter().all(|count| *count <= MOST);
        if self.limits.is_empty() || self.limits.len() > MOST_LIMITS || !self.limits.iter().all(fits) {
            return Err("impossible limits of effort".to_string());
        }
        Ok(self
            .limits
            .iter()
            .map(|[resources, propagations]| Effort { resources: *resources, propagations: *propagations })
            .collect())
    }

    /// The record, or what is wrong with it.
    pub fn record(&self) -> Result<Record, String> {
        if self.hard.len() > MOST_HARD {
            return Err("too many hard questions".to_string());
        }
        let mut record = BTreeMap::new();
        for claim in &self.hard {
            let digits = claim.question.len() == 16 && claim.question.bytes().all(|b| b.is_ascii_hexdigit());
            let key = u64::from_str_radix(&claim.question, 16).ok().filter(|_| digits);
            let key = key.ok_or_else(|| format!("`{}` is no hash of a question", claim.question))?;
            let hard = match claim.by {
                Answerer::Nobody => Hard::Open(claim.effort),
                Answerer::Clauses => Hard::Clauses(claim.effort),
                Answerer::Process => Hard::Process(claim.effort),
            };
            if record.insert(key, hard).is_some() {
                return Err(format!("question {} is there twice", claim.question));
            }
        }
        Ok(Record(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let record = Record([(7, Hard::Open(5)), (u64::MAX, Hard::Process(6)), (0, Hard::Clauses(9))].into());
        let efforts = [Effort { resources: 3, propagations: 4 }];
        let claim = EffortClaim::of(&efforts, &record);
        let text = serde_json::to_string(&claim).expect("plain data");
        let read: EffortClaim = serde_json::from_str(&text).expect("what was written");
        assert_eq!((read.limits(), read.record()), (Ok(efforts.to_vec()), Ok(record)));
    }

    #[test]
    fn nonsense_is_refused() {
        let hard = |question: &str| HardClaim { question: question.to_string(), by: Answerer::Nobody, effort: 1 };
        let claim = |questions: &[&str]| EffortClaim {
            limits: vec![[1, 1]],
            hard: questions.iter().map(|question| hard(question)).collect(),
        };
        assert!(claim(&["00000000000000aF"]).record().is_ok());
        for wrong in [&["1"][..], &["+00000000000000a"], &["0000000000000000", "0000000000000000"]] {
            assert!(claim(wrong).record().is_err(), "{wrong:?}");
        }
        for limits in [vec![], vec![[MOST + 1, 1]], vec![[1, 1]; MOST_LIMITS + 1]] {
            assert!(EffortClaim { limits, hard: Vec::new() }.limits().is_err());
        }
    }
}
