//! The report about kernels for people.

use super::{KernelFunction, KernelReport, assumptions, reason, render_broken, word};
use crate::Colour;
use crate::palette::{Look, printable};
use search::WitnessKind;
use search::nests::{KernelVerdict, KernelWitness};
use updates::Floating;

pub(super) fn render(report: &KernelReport, colour: Colour) -> String {
    let width = report.functions.iter().map(|f| title(f).chars().count()).max().unwrap_or(0);
    let mut out = String::new();
    for function in &report.functions {
        out.push_str(&line(function, width, colour));
    }
    for function in &report.functions {
        if !function.sweep.is_empty() {
            out.push_str(&sweep(function, colour));
        }
        if let KernelVerdict::Different(witness) = &function.outcome.verdict {
            out.push_str(&different(function, witness, colour));
        }
    }
    let summary = report.summary();
    let kernels = if report.functions.len() == 1 { "kernel" } else { "kernels" };
    out.push_str(&format!(
        "\n{} {kernels}: {} equivalent, {} different, {} unknown          {:.2} s\n",
        report.functions.len(),
        summary.equivalent,
        summary.different,
        summary.unknown,
        report.time.as_secs_f64()
    ));
    // A proof is about its sizes only; that must not be overlooked.
    for function in report.functions.iter().filter(|f| f.sweep.is_empty()) {
        let sizes: Vec<String> = function.outcome.assumptions.iter().filter_map(size).collect();
        if matches!(function.outcome.verdict, KernelVerdict::Equivalent(_)) && !sizes.is_empty() {
            let also: Vec<String> = function.also.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let also = if also.is_empty() { also.concat() } else { format!(" (and compared at {})", also.join(", ")) };
            out.push_str(&format!(
                "{} was proved at {} only{also}; --sweep checks more sizes\n",
                title(function),
                sizes.join(", ")
            ));
        }
    }
    out
}

fn size(assumption: &program::Assumption) -> Option<String> {
    matches!(assumption, program::Assumption::Parameter { .. }).then(|| assumption.entity().into_owned())
}

fn title(function: &KernelFunction) -> String {
    let name = match &function.candidate_name {
        Some(other) => format!("{}={other}", function.name),
        None => function.name.clone(),
    };
    match &function.file {
        Some(file) => printable(&format!("{file}: {name}")),
        None => printable(&name),
    }
}

fn look(verdict: &KernelVerdict) -> Look {
    match verdict {
        KernelVerdict::Equivalent(_) => Look::Equivalent,
        KernelVerdict::Different(_) => Look::Different,
        KernelVerdict::Unknown(_) | KernelVerdict::Parameter(_) => Look::Unknown,
    }
}

fn line(function: &KernelFunction, width: usize, colour: Colour) -> String {
    let verdict = &function.outcome.verdict;
    let word = word(verdict);
    let padding = " ".repeat(10 - word.len());
    let painted = colour.paint(look(verdict), word);
    let millis = function.time.as_secs_f64() * 1e3;
    let assumed = assumptions(&function.outcome);
    let mut rest = if assumed.is_empty() { String::new() } else { format!("   assumes {}", assumed.join(", ")) };
    if let Some((kind, detail)) = reason(verdict) {
        rest = format!("   {kind}: {}{rest}", printable(&detail));
    }
    format!("  {:width$}   {painted}{padding} {millis:8.1} ms{rest}\n", title(function))
}

fn sweep(function: &KernelFunction, colour: Colour) -> String {
    let mut out = String::new();
    let name = function.sweep.first().map_or("", |row| row.parameter.as_str());
    out.push_str(&format!("\n  {}: verdicts at {} sizes\n", title(function), function.sweep.len()));
    for row in &function.sweep {
        let what = word(&row.outcome.verdict);
        let detail =
            reason(&row.outcome.verdict).map_or(String::new(), |(kind, detail)| format!("   {kind}: {detail}"));
        let painted = colour.paint(look(&row.outcome.verdict), what);
        out.push_str(&format!("      {name}={:<6} {painted}{}\n", row.value, printable(&detail)));
    }
    let different = |row: &&super::SweepRow| matches!(row.outcome.verdict, KernelVerdict::Different(_));
    if let Some(first) = function.sweep.iter().find(different) {
        out.push_str(&format!("      smallest size at which it shows: {name}={}\n", first.value));
    }
    out
}

fn different(function: &KernelFunction, witness: &KernelWitness, colour: Colour) -> String {
    let name = colour.paint(Look::Name, title(function));
    let mut out = String::from("\n");
    let head = match witness.kind {
        WitnessKind::Undefined => "the candidate does something undefined".to_string(),
        WitnessKind::Race => "parallel iterations conflict".to_string(),
        WitnessKind::Input | WitnessKind::OperandOrder | WitnessKind::Uninterpreted if witness.wrong_cells == 1 => {
            "1 cell is wrong".to_string()
        }
        WitnessKind::Input | WitnessKind::OperandOrder | WitnessKind::Uninterpreted => {
            format!("{} cells are wrong", witness.wrong_cells)
        }
    };
    out.push_str(&format!("  {name}: {head} (replayed: {})\n", witness.replayed.join(", ")));
    if let Some(broken) = &witness.broken {
        let mut prefix = format!("{:<11}", broken.kind.name());
        for line in render_broken(broken) {
            out.push_str(&format!("      {prefix} {}\n", printable(&line)));
            prefix = " ".repeat(prefix.len());
        }
    }
    out.push_str(&format!("      original    {}\n", printable(&witness.original)));
    out.push_str(&format!("      candidate   {}\n", printable(&witness.candidate)));
    if witness.kind == WitnessKind::Input {
        out.push_str(&format!("      on inputs of pattern {}, seed {}\n", witness.inputs.pattern, witness.inputs.seed));
    }
    if let Some(mode) = witness.weaker {
        out.push_str(&format!("      equivalent only under {}\n", describe(mode)));
    }
    out
}

fn describe(mode: Floating) -> &'static str {
    match mode {
        Floating::Ieee => "a change of the operands' order (--fp ieee)",
        Floating::Ordered => "nothing",
        Floating::Contract => "contraction of * and + to fma (--fp contract)",
        Floating::Reassoc => "reassociation of + or * (--fp reassoc)",
    }
}
