//! The report about kernels for programs. The fields of the general report in their order, and below `witness` what is
//! known about the broken dependence.

use super::{KernelFunction, KernelReport, SweepRow, assumptions, reason, render_broken, word};
use crate::{Summary, render_jsonl_start};
use search::nests::{Broken, Instance, KernelVerdict, KernelWitness};
use serde::Serialize;

/// Cells of one object that are listed before the rest is left out.
const MOST_CELLS: usize = 8192;

/// An object with its fields in this order; values are JSON already.
fn object(fields: &[(&str, String)]) -> String {
    let parts: Vec<String> = fields.iter().map(|(name, value)| format!("{}:{value}", plain(name))).collect();
    format!("{{{}}}", parts.join(","))
}

fn list(values: impl Iterator<Item = String>) -> String {
    format!("[{}]", values.collect::<Vec<_>>().join(","))
}

fn plain(value: impl Serialize) -> String {
    serde_json::to_string(&value).expect("strings, numbers and lists always serialise")
}

fn optional(value: Option<String>) -> String {
    value.unwrap_or_else(|| "null".to_string())
}

pub(super) fn render(report: &KernelReport) -> String {
    let text = object(&[
        ("version", plain(1)),
        ("original", plain(&report.original)),
        ("candidate", plain(&report.candidate)),
        ("functions", list(report.functions.iter().map(|f| object(&function(f))))),
        ("summary", summary(report.summary())),
    ]);
    format!("{text}\n")
}

/// The same as lines of JSON, each of which says what it is.
pub(super) fn render_lines(report: &KernelReport) -> String {
    let mut out = render_jsonl_start([&report.original, &report.candidate], report.functions.len());
    for one in &report.functions {
        let fields: Vec<Field<'_>> = [("line", plain("function"))].into_iter().chain(function(one)).collect();
        out += &format!("{}\n", object(&fields));
    }
    let end = [
        ("line", plain("end")),
        ("time_ms", milliseconds(report.time)),
        ("summary", summary(report.summary())),
        ("stopped", plain(None::<()>)),
    ];
    format!("{out}{}\n", object(&end))
}

fn summary(summary: Summary) -> String {
    object(&[
        ("equivalent", plain(summary.equivalent)),
        ("different", plain(summary.different)),
        ("unknown", plain(summary.unknown)),
    ])
}

/// A field of an object, its value as JSON.
type Field<'a> = (&'a str, String);

fn milliseconds(time: std::time::Duration) -> String {
    plain((time.as_secs_f64() * 1e6).round() / 1e3)
}

fn why(verdict: &KernelVerdict) -> String {
    optional(reason(verdict).map(|(kind, detail)| object(&[("kind", plain(kind)), ("detail", plain(detail))])))
}

fn function(function: &KernelFunction) -> Vec<Field<'static>> {
    let verdict = &function.outcome.verdict;
    let witness = match verdict {
        KernelVerdict::Different(found) => Some(witness(found)),
        _ => None,
    };
    let mut fields = vec![("name", plain(&function.name))];
    if let Some(other) = &function.candidate_name {
        fields.push(("candidate_name", plain(other)));
    }
    if let Some(file) = &function.file {
        fields.push(("candidate_file", plain(file)));
    }
    fields.extend([
        ("verdict", plain(word(verdict))),
        ("reason", why(verdict)),
        ("strategy", plain("updates")),
        ("time_ms", milliseconds(function.time)),
        ("assumptions", plain(assumptions(&function.outcome))),
        ("witness", optional(witness)),
        ("certificate", plain(&function.certificate)),
    ]);
    if function.outcome.updates > 0 {
        fields.push(("updates", plain(function.outcome.updates)));
    }
    if !function.also.is_empty() {
        let sizes: Vec<(&str, String)> =
            function.also.iter().map(|(name, value)| (name.as_str(), plain(value))).collect();
        fields.push(("also", object(&sizes)));
    }
    if !function.sweep.is_empty() {
        fields.push(("sweep", list(function.sweep.iter().map(sweep_row))));
    }
    fields
}

fn sweep_row(row: &SweepRow) -> String {
    object(&[
        ("parameter", plain(&row.parameter)),
        ("value", plain(row.value)),
        ("verdict", plain(word(&row.outcome.verdict))),
        ("reason", why(&row.outcome.verdict)),
        ("time_ms", milliseconds(row.time)),
    ])
}

fn instance(instance: &Option<Instance>) -> String {
    optional(instance.as_ref().map(|instance| {
        let iterators: Vec<(&str, String)> =
            instance.iterators.iter().map(|(name, value)| (name.as_str(), plain(value))).collect();
        let inside = instance.inside.as_ref();
        let inside = inside.map(|i| object(&[("function", plain(&i.function)), ("line", plain(i.line))]));
        object(&[("line", plain(instance.line)), ("iterators", object(&iterators)), ("inside", optional(inside))])
    }))
}

fn dependence(broken: &Broken) -> String {
    let reading = broken.reading.as_ref().map(|reading| {
        object(&[
            ("cell", plain(&reading.cell)),
            ("expected", instance(&reading.expected)),
            ("found_cell", plain(&reading.found_cell)),
            ("found", instance(&reading.found)),
        ])
    });
    object(&[
        ("kind", plain(broken.kind.name())),
        ("cell", plain(&broken.cell)),
        ("original", instance(&broken.original)),
        ("candidate", instance(&broken.candidate)),
        ("reading", optional(reading)),
        ("text", plain(render_broken(broken).join("; "))),
    ])
}

fn witness(witness: &KernelWitness) -> String {
    let memory = witness.memory.iter().enumerate().map(|(number, input)| {
        let types = input.types.iter().copied().cycle();
        let bytes: String = input.cells.iter().take(MOST_CELLS).zip(types).map(|(c, ty)| bytes(c, ty)).collect();
        // Addresses are symbolic: objects are apart from each other.
        let address = format!("{:#x}", (number as u64 + 1) << 32);
        object(&[("address", plain(address)), ("object", plain(&input.name)), ("bytes", plain(bytes))])
    });
    let behaviour =
        |summary: &str, line: &Option<String>| object(&[("summary", plain(summary)), ("line", plain(line))]);
    object(&[
        ("kind", plain(witness.kind.name())),
        ("registers", object(&[])),
        ("memory", list(memory)),
        ("calls", list(std::iter::empty())),
        ("original", behaviour(&witness.original, &witness.lines[0])),
        ("candidate", behaviour(&witness.candidate, &witness.lines[1])),
        ("replayed", plain(&witness.replayed)),
        ("cell", plain(&witness.cell)),
        ("wrong_cells", plain(witness.wrong_cells)),
        ("dependence", optional(witness.broken.as_ref().map(dependence))),
        ("weaker_mode", plain(witness.weaker.map(|mode| mode.name()))),
    ])
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
