//! The report about kernels for programs. The fields of the general report, and below `witness` what is known about
//! the broken dependence.

use super::{KernelFunction, KernelReport, SweepRow, assumptions, reason, render_broken, word};
use search::updates::{Broken, Instance, KernelOutcome, KernelVerdict, KernelWitness};
use serde_json::{Map, Value, json};

/// Cells of one object that are listed before the rest is left out.
const MOST_CELLS: usize = 8192;

pub(super) fn render(report: &KernelReport) -> String {
    let summary = report.summary();
    let functions: Vec<Value> = report.functions.iter().map(function).collect();
    let mut top = Map::new();
    top.insert("version".into(), json!(1));
    top.insert("original".into(), json!(report.original));
    top.insert("candidate".into(), json!(report.candidate));
    top.insert("functions".into(), Value::Array(functions));
    top.insert(
        "summary".into(),
        json!({"equivalent": summary.equivalent, "different": summary.different, "unknown": summary.unknown}),
    );
    format!("{}\n", Value::Object(top))
}

fn milliseconds(time: std::time::Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn function(function: &KernelFunction) -> Value {
    let mut object = Map::new();
    object.insert("name".into(), json!(function.name));
    if let Some(other) = &function.candidate_name {
        object.insert("candidate_name".into(), json!(other));
    }
    outcome(&function.outcome, &mut object);
    object.insert("time_ms".into(), json!(milliseconds(function.time)));
    object.insert("certificate".into(), json!(function.certificate));
    if !function.sweep.is_empty() {
        object.insert("sweep".into(), Value::Array(function.sweep.iter().map(sweep_row).collect()));
    }
    Value::Object(object)
}

fn outcome(outcome: &KernelOutcome, object: &mut Map<String, Value>) {
    object.insert("verdict".into(), json!(word(&outcome.verdict)));
    let why = reason(&outcome.verdict).map(|(kind, detail)| json!({"kind": kind, "detail": detail}));
    object.insert("reason".into(), json!(why));
    object.insert("strategy".into(), json!("updates"));
    object.insert("assumptions".into(), json!(assumptions(outcome)));
    let witness = match &outcome.verdict {
        KernelVerdict::Different(found) => Some(witness(found)),
        _ => None,
    };
    object.insert("witness".into(), json!(witness));
    if outcome.updates > 0 {
        object.insert("updates".into(), json!(outcome.updates));
    }
}

fn sweep_row(row: &SweepRow) -> Value {
    let mut object = Map::new();
    object.insert("parameter".into(), json!(row.parameter));
    object.insert("value".into(), json!(row.value));
    object.insert("verdict".into(), json!(word(&row.outcome.verdict)));
    let why = reason(&row.outcome.verdict).map(|(kind, detail)| json!({"kind": kind, "detail": detail}));
    object.insert("reason".into(), json!(why));
    object.insert("time_ms".into(), json!(milliseconds(row.time)));
    Value::Object(object)
}

fn instance(instance: &Option<Instance>) -> Value {
    match instance {
        Some(instance) => {
            let iterators: Map<String, Value> =
                instance.iterators.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
            json!({"line": instance.line, "iterators": iterators})
        }
        None => Value::Null,
    }
}

fn dependence(broken: &Broken) -> Value {
    let reading = broken.reading.as_ref().map(|reading| {
        json!({
            "cell": reading.cell,
            "expected": instance(&reading.expected),
            "found_cell": reading.found_cell,
            "found": instance(&reading.found),
        })
    });
    json!({
        "kind": broken.kind.name(),
        "cell": broken.cell,
        "original": instance(&broken.original),
        "candidate": instance(&broken.candidate),
        "reading": reading,
        "text": render_broken(broken).join("; "),
    })
}

fn witness(witness: &KernelWitness) -> Value {
    let memory: Vec<Value> = witness
        .memory
        .iter()
        .enumerate()
        .map(|(number, input)| {
            let types = input.types.iter().copied().cycle();
            let bytes: String = input.cells.iter().take(MOST_CELLS).zip(types).map(|(c, ty)| bytes(c, ty)).collect();
            // Addresses are symbolic: objects are apart from each other.
            json!({"address": format!("{:#x}", (number as u64 + 1) << 32), "object": input.name, "bytes": bytes})
        })
        .collect();
    let behaviour = |summary: &str, line: &Option<String>| json!({"summary": summary, "line": line});
    json!({
        "kind": witness.kind,
        "registers": {},
        "memory": memory,
        "calls": [],
        "original": behaviour(&witness.original, &witness.lines[0]),
        "candidate": behaviour(&witness.candidate, &witness.lines[1]),
        "replayed": witness.replayed,
        "cell": witness.cell,
        "wrong_cells": witness.wrong_cells,
        "dependence": witness.broken.as_ref().map(dependence),
        "weaker_mode": witness.weaker.map(|mode| mode.name()),
    })
}

fn bytes(constant: &updates::Constant, ty: updates::Scalar) -> String {
    let value = match constant {
        updates::Constant::F64(bits) => *bits,
        updates::Constant::F32(bits) => u64::from(*bits),
        updates::Constant::Int(value) => *value as u64,
        updates::Constant::Big(value) => *value,
    };
    value.to_le_bytes()[..ty.bytes() as usize].iter().map(|b| format!("{b:02x}")).collect()
}
