//! One function pair as the renderers see it.
//!
//! A `CheckedProof` can only be made by the kernel, so a renderer that demanded one could not be tested alone. Rows
//! are private to this crate: outside it an `equivalent` still needs the proof.

use crate::text::Title;
use crate::{AssumedPart, FunctionReport};
use program::Assumption;
use search::{Hint, Inferred, Reason, ReasonKind, Statistics, Verdict, Witness};
use std::time::Duration;

pub(crate) struct Row<'a> {
    pub file: Option<&'a str>,
    pub name: &'a str,
    pub candidate_name: Option<&'a str>,
    pub finding: Finding<'a>,
    pub strategy: Option<&'a str>,
    pub statistics: Statistics,
    pub time: Duration,
    pub cpu: Option<Duration>,
    pub certificate: Option<&'a str>,
    /// The condition that the user stated.
    pub assumed: &'a [AssumedPart],
    /// Inputs on which both programs were run on the CPU, or why none, if that was asked for.
    pub run: Option<(usize, Option<&'a str>)>,
}

pub(crate) enum Finding<'a> {
    /// Proved, under these assumptions: sorted, without repetition.
    Equivalent(Vec<Assumption>),
    /// The same under a condition that was inferred.
    EquivalentIf(Vec<Assumption>, &'a Inferred),
    /// With the hint at what is missing.
    Different(&'a Witness, Option<&'a Hint>),
    Unknown(&'a Reason),
    /// The candidate has it in other functions, which have verdicts of their own; which.
    Inlined(&'a Reason),
}

impl<'a> Row<'a> {
    pub fn of(function: &'a FunctionReport) -> Row<'a> {
        let finding = match &function.outcome.verdict {
            Verdict::Equivalent(proof) => {
                let mut assumptions = proof.assumptions().to_vec();
                assumptions.sort();
                assumptions.dedup();
                match &function.outcome.inferred {
                    Some(inferred) => Finding::EquivalentIf(assumptions, inferred),
                    None => Finding::Equivalent(assumptions),
                }
            }
            Verdict::Different(witness) => Finding::Different(witness, function.outcome.hint.as_ref()),
            Verdict::Unknown(reason) if reason.kind == ReasonKind::Inlined => Finding::Inlined(reason),
            Verdict::Unknown(reason) => Finding::Unknown(reason),
        };
        Row {
            file: function.file.as_deref(),
            name: &function.name,
            candidate_name: function.candidate_name.as_deref(),
            finding,
            strategy: function.outcome.strategy,
            statistics: function.outcome.statistics,
            time: function.time,
            cpu: function.cpu,
            certificate: function.certificate.as_deref(),
            assumed: &function.assumed,
            run: {
                let native = &function.outcome.native;
                let tried = native.inputs > 0 || native.reason.is_some();
                tried.then_some((native.inputs, native.reason.as_deref()))
            },
        }
    }

    pub fn title(&self) -> Title<'a> {
        Title { file: self.file, name: self.name, candidate_name: self.candidate_name }
    }
}

impl Finding<'_> {
    /// The verdict's word, the same in text and JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Finding::Equivalent(_) => "equivalent",
            Finding::EquivalentIf(..) => "equivalent-if",
            Finding::Different(..) => "different",
            Finding::Unknown(_) => "unknown",
            Finding::Inlined(_) => "inlined",
        }
    }
}

#[cfg(test)]
pub(crate) mod samples {
    //! The rows that the golden tests render.

    use super::*;
    use program::SourceLine;
    use search::{Behaviour, WitnessBytes, WitnessCall, WitnessKind, WitnessRegister};
    use term::Bits;

    pub fn row<'a>(name: &'a str, finding: Finding<'a>, millis: u64) -> Row<'a> {
        let strategy = match finding {
            Finding::Unknown(_) | Finding::Inlined(_) => None,
            _ => Some("static"),
        };
        let statistics = Statistics { points: 3, obligations: 7, solver_calls: 1, ..Statistics::default() };
        Row {
            file: None,
            name,
            candidate_name: None,
            finding,
            strategy,
            statistics,
            time: Duration::from_millis(millis),
            cpu: None,
            certificate: None,
            assumed: &[],
            run: None,
        }
    }

    pub fn equivalent(assumptions: &[Assumption]) -> Finding<'static> {
        Finding::Equivalent(assumptions.to_vec())
    }

    pub fn unsupported() -> Reason {
        Reason::new(ReasonKind::Unsupported, "render+0x41 `fsincos` (render.c:88)")
    }

    pub fn witness() -> Witness {
        let register = |name: &str, parameter: Option<&str>, value: u64| WitnessRegister {
            name: name.to_string(),
            parameter: parameter.map(str::to_string),
            value: Bits::new(64, value),
        };
        Witness {
            kind: WitnessKind::Input,
            registers: vec![register("rdi", Some("bits"), 1 << 63), register("rsi", None, 0x7000)],
            memory: vec![
                WitnessBytes { address: 0x7000, object: None, bytes: vec![0x2a, 0, 0, 0] },
                WitnessBytes { address: 0x60_1008, object: Some("g+8".to_string()), bytes: vec![0xff] },
            ],
            calls: vec![WitnessCall {
                callee: "getc".to_string(),
                arguments: vec!["0x7000".to_string()],
                result: "0xffffffff".to_string(),
                writes: vec![WitnessBytes { address: 0x60_1010, object: Some("h".to_string()), bytes: vec![7] }],
            }],
            original: Behaviour {
                summary: "returns 1".to_string(),
                line: Some(SourceLine { file: "count.c".to_string(), line: 14 }),
            },
            candidate: Behaviour { summary: "returns 0".to_string(), line: None },
            replayed: vec!["interpreter", "cpu"],
            allocation: None,
        }
    }
}
