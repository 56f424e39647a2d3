//! The report for programs. Field names and their order are part of the command line's contract, version 1.

use crate::check_report::{CheckReport, Stopped};
use crate::conditional::{self, JsonConjunct};
use crate::reasons::{Cause, cause};
use crate::row::{Finding, Row};
use crate::witness::hexadecimal;
use crate::{AssumedPart, Detail, Summary, readable};
use program::Assumption;
use search::{Behaviour, Statistics, Witness, WitnessBytes};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use std::time::Duration;

#[derive(Serialize)]
struct JsonReport<'a> {
    version: u32,
    original: &'a str,
    candidate: &'a str,
    functions: Vec<JsonFunction<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading_cpu_ms: Option<f64>,
    summary: JsonSummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<JsonStopped>,
}

/// What was left undone by a run that ended early.
#[derive(Serialize)]
struct JsonStopped {
    why: &'static str,
    undecided: usize,
}

/// The lines of the other form: each says what it is.
#[derive(Serialize)]
#[serde(tag = "line", rename_all = "lowercase")]
enum JsonLine<'a> {
    Start { version: u32, original: &'a str, candidate: &'a str, total: usize },
    Function(Box<JsonFunction<'a>>),
    End { time_ms: f64, summary: JsonSummary, stopped: Option<JsonStopped> },
}

#[derive(Serialize)]
struct JsonFunction<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    demangled: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    candidate_name: Option<&'a str>,
    verdict: &'static str,
    reason: Option<JsonReason<'a>>,
    strategy: Option<&'a str>,
    time_ms: f64,
    assumptions: Vec<String>,
    #[serde(skip_serializing_if = "<[AssumedPart]>::is_empty")]
    assumed: &'a [AssumedPart],
    #[serde(skip_serializing_if = "Option::is_none")]
    condition: Option<Vec<JsonConjunct<'a>>>,
    witness: Option<JsonWitness<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<JsonHint<'a>>,
    certificate: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    run: Option<JsonRun<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<JsonStatistics>,
}

#[derive(Serialize)]
struct JsonHint<'a> {
    kind: &'static str,
    text: &'a str,
}

#[derive(Serialize)]
struct JsonRun<'a> {
    inputs: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonReason<'a> {
    kind: &'static str,
    detail: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<&'a str>,
    cause: String,
    advice: &'static str,
}

#[derive(Serialize)]
pub(crate) struct JsonWitness<'a> {
    kind: &'a str,
    class: &'static str,
    /// Register name to value, in hexadecimal: JSON numbers lose bits above 53.
    #[serde(serialize_with = "in_order")]
    registers: Vec<(&'a str, String)>,
    memory: Vec<JsonBytes<'a>>,
    calls: Vec<JsonCall<'a>>,
    original: JsonBehaviour<'a>,
    candidate: JsonBehaviour<'a>,
    replayed: &'a [&'static str],
    #[serde(skip_serializing_if = "Option::is_none")]
    allocation: Option<crate::regalloc::allocation::JsonAllocation<'a>>,
}

#[derive(Serialize)]
struct JsonBytes<'a> {
    address: String,
    object: Option<&'a str>,
    bytes: String,
}

#[derive(Serialize)]
struct JsonCall<'a> {
    callee: &'a str,
    arguments: &'a [String],
    result: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    writes: Vec<JsonBytes<'a>>,
}

#[derive(Serialize)]
struct JsonBehaviour<'a> {
    summary: &'a str,
    line: Option<String>,
}

#[derive(Serialize)]
struct JsonStatistics {
    points: usize,
    obligations: usize,
    solver_calls: usize,
    loops: usize,
    plans: usize,
    guesses: usize,
    survivors: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu_ms: Option<f64>,
}

#[derive(Serialize)]
struct JsonSummary {
    equivalent: usize,
    #[serde(skip_serializing_if = "is_zero")]
    equivalent_if: usize,
    different: usize,
    unknown: usize,
    #[serde(skip_serializing_if = "is_zero")]
    inlined: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(crate) fn render(report: &CheckReport, rows: &[Row<'_>], detail: Detail) -> String {
    line(&JsonReport {
        version: 1,
        original: &report.original,
        candidate: &report.candidate,
        functions: rows.iter().map(|row| function(row, detail)).collect(),
        reading_cpu_ms: report.reading.filter(|_| detail == Detail::Statistics).map(milliseconds),
        summary: summary(rows),
        stopped: report.stopped.map(stopped),
    })
}

pub(crate) fn render_first(original: &str, candidate: &str, total: usize) -> String {
    line(&JsonLine::Start { version: 1, original, candidate, total })
}

pub(crate) fn render_function(row: &Row<'_>, detail: Detail) -> String {
    line(&JsonLine::Function(Box::new(function(row, detail))))
}

pub(crate) fn render_last(report: &CheckReport, rows: &[Row<'_>]) -> String {
    let (time_ms, stopped) = (milliseconds(report.time), report.stopped.map(stopped));
    line(&JsonLine::End { time_ms, summary: summary(rows), stopped })
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, numbers and lists always serialise") + "\n"
}

fn summary(rows: &[Row<'_>]) -> JsonSummary {
    let Summary { equivalent, equivalent_if, different, unknown, inlined } = Summary::of(rows);
    JsonSummary { equivalent, equivalent_if, different, unknown, inlined }
}

fn stopped(Stopped { why, undecided }: Stopped) -> JsonStopped {
    JsonStopped { why, undecided }
}

fn function<'a>(row: &'a Row<'a>, detail: Detail) -> JsonFunction<'a> {
    let shown = readable(row.name);
    let mut function = JsonFunction {
        file: row.file,
        name: row.name,
        demangled: (shown != row.name).then_some(shown),
        candidate_name: row.candidate_name,
        verdict: row.finding.word(),
        reason: None,
        strategy: row.strategy,
        time_ms: milliseconds(row.time),
        assumptions: Vec::new(),
        assumed: row.assumed,
        condition: None,
        witness: None,
        hint: None,
        certificate: row.certificate,
        run: row.run.map(|(inputs, reason)| JsonRun { inputs, reason }),
        statistics: (detail == Detail::Statistics).then(|| statistics(row)),
    };
    match &row.finding {
        Finding::Equivalent(assumptions) => {
            function.assumptions = assumptions.iter().map(Assumption::to_string).collect()
        }
        Finding::EquivalentIf(assumptions, inferred) => {
            function.assumptions = assumptions.iter().map(Assumption::to_string).collect();
            function.condition = Some(conditional::json(inferred));
        }
        Finding::Different(found, hint) => {
            function.witness = Some(witness(found));
            function.hint = hint.map(|hint| JsonHint { kind: hint.kind.name(), text: &hint.text });
        }
        Finding::Unknown(reason) | Finding::Inlined(reason) => {
            let Cause { what, advice } = cause(reason);
            let (kind, detail, tried) = (reason.kind.name(), &*reason.detail, reason.tried.as_deref());
            function.reason = Some(JsonReason { kind, detail, tried, cause: what, advice });
        }
    }
    function
}

/// Microseconds are as fine as a reader can use, and keep the text short.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn statistics(row: &Row<'_>) -> JsonStatistics {
    let Statistics { points, obligations, solver_calls, loops, plans, guesses, survivors } = row.statistics;
    let cpu_ms = row.cpu.map(milliseconds);
    JsonStatistics { points, obligations, solver_calls, loops, plans, guesses, survivors, cpu_ms }
}

pub(crate) fn witness(witness: &Witness) -> JsonWitness<'_> {
    JsonWitness {
        kind: witness.kind.name(),
        class: witness.class().name(),
        registers: witness.registers.iter().map(|r| (r.name.as_str(), hexadecimal(r.value))).collect(),
        memory: witness.memory.iter().map(json_bytes).collect(),
        calls: witness
            .calls
            .iter()
            .map(|c| JsonCall {
                callee: &c.callee,
                arguments: &c.arguments,
                result: &c.result,
                writes: c.writes.iter().map(json_bytes).collect(),
            })
            .collect(),
        original: behaviour(&witness.original),
        candidate: behaviour(&witness.candidate),
        replayed: &witness.replayed,
        allocation: witness.allocation.as_deref().map(crate::regalloc::allocation::json),
    }
}

fn json_bytes(memory: &WitnessBytes) -> JsonBytes<'_> {
    JsonBytes {
        address: format!("{:#x}", memory.address),
        object: memory.object.as_deref(),
        bytes: memory.bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

fn behaviour(behaviour: &Behaviour) -> JsonBehaviour<'_> {
    JsonBehaviour {
        summary: &behaviour.summary,
        line: behaviour.line.as_ref().map(|line| format!("{}:{}", line.file, line.line)),
    }
}

fn in_order<S: Serializer>(pairs: &[(&str, String)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(pairs.len()))?;
    for (name, value) in pairs {
        map.serialize_entry(name, value)?;
    }
    map.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::samples;
    use expect_test::{Expect, expect};
    use search::{Reason, ReasonKind};

    fn renders_to(row: Row<'_>, detail: Detail, expect: Expect) {
        let report = CheckReport {
            original: "old.o".to_string(),
            candidate: "new.o".to_string(),
            functions: Vec::new(),
            time: Duration::ZERO,
            reading: Some(Duration::from_micros(1_500)),
            stopped: None,
        };
        expect.assert_eq(&render(&report, &[row], detail));
    }

    #[test]
    fn a_proof() {
        let mut row = samples::row(
            "f",
            samples::equivalent(&[Assumption::FramePrivate, Assumption::InBounds("g".to_string())]),
            2,
        );
        row.candidate_name = Some("f_new");
        row.certificate = Some("proofs/f.json");
        renders_to(
            row,
            Detail::Brief,
            expect![[r#"
            {"version":1,"original":"old.o","candidate":"new.o","functions":[{"name":"f","candidate_name":"f_new","verdict":"equivalent","reason":null,"strategy":"static","time_ms":2.0,"assumptions":["frame-private","in-bounds(g)"],"witness":null,"certificate":"proofs/f.json"}],"summary":{"equivalent":1,"different":0,"unknown":0}}
        "#]],
        );
    }

    #[test]
    fn a_witness() {
        let witness = samples::witness();
        renders_to(
            samples::row("f", Finding::Different(&witness, None), 9),
            Detail::Brief,
            expect![[r#"
                {"version":1,"original":"old.o","candidate":"new.o","functions":[{"name":"f","verdict":"different","reason":null,"strategy":"static","time_ms":9.0,"assumptions":[],"witness":{"kind":"input","class":"callee-writes","registers":{"rdi":"0x8000000000000000","rsi":"0x7000"},"memory":[{"address":"0x7000","object":null,"bytes":"2a000000"},{"address":"0x601008","object":"g+8","bytes":"ff"}],"calls":[{"callee":"getc","arguments":["0x7000"],"result":"0xffffffff","writes":[{"address":"0x601010","object":"h","bytes":"07"}]}],"original":{"summary":"returns 1","line":"count.c:14"},"candidate":{"summary":"returns 0","line":null},"replayed":["interpreter","cpu"]},"certificate":null}],"summary":{"equivalent":0,"different":1,"unknown":0}}
            "#]],
        );
    }

    #[test]
    fn a_timeout_says_what_was_tried() {
        let tried = Some("memory at a loop head at f+0x8 / f+0x4".to_string());
        let reason = Reason { tried, ..Reason::new(ReasonKind::Timeout, "after 3 s") };
        assert_eq!(reason.to_string(), "timeout: after 3 s; tried first: memory at a loop head at f+0x8 / f+0x4");
        renders_to(
            samples::row("f", Finding::Unknown(&reason), 3000),
            Detail::Brief,
            expect![[r#"
            {"version":1,"original":"old.o","candidate":"new.o","functions":[{"name":"f","verdict":"unknown","reason":{"kind":"timeout","detail":"after 3 s","tried":"memory at a loop head at f+0x8 / f+0x4","cause":"time ran out","advice":"give it more with --timeout; `lockstep show --why` shows what was tried"},"strategy":null,"time_ms":3000.0,"assumptions":[],"witness":null,"certificate":null}],"summary":{"equivalent":0,"different":0,"unknown":1}}
        "#]],
        );
    }

    #[test]
    fn an_unknown_with_statistics() {
        let reason = samples::unsupported();
        renders_to(
            Row { cpu: Some(Duration::from_micros(20)), ..samples::row("f", Finding::Unknown(&reason), 0) },
            Detail::Statistics,
            expect![[r#"
            {"version":1,"original":"old.o","candidate":"new.o","functions":[{"name":"f","verdict":"unknown","reason":{"kind":"unsupported","detail":"render+0x41 `fsincos` (render.c:88)","cause":"`fsincos` is not modelled","advice":"compile without it (-mno-…, or another spelling in the source); docs/supported-instructions.md lists what is modelled"},"strategy":null,"time_ms":0.0,"assumptions":[],"witness":null,"certificate":null,"statistics":{"points":3,"obligations":7,"solver_calls":1,"loops":0,"plans":0,"guesses":0,"survivors":0,"cpu_ms":0.02}}],"reading_cpu_ms":1.5,"summary":{"equivalent":0,"different":0,"unknown":1}}
        "#]],
        );
    }
}
