//! A failure in words.

use super::infer::{Failure, Unmet};
use crate::{Reason, ReasonKind};
use kernel::regalloc::Rejected;
use machine::{Function, Id, Kind, Names, Side, Values};

/// The reason for an `unknown`.
pub fn reason(original: &Function, candidate: &Function, names: &Names, failure: &Failure<'_>) -> Reason {
    match failure {
        Failure::OutOfStep(misfit, ..) => Reason::new(
            ReasonKind::NoCorrelation,
            format!(
                "{} (bb.{} against bb.{})",
                misfit.what,
                number(original, misfit.blocks.0),
                number(candidate, misfit.blocks.1)
            ),
        ),
        Failure::Events(what, ..) => Reason::new(ReasonKind::NoCorrelation, what.clone()),
        Failure::Need(unmet) => Reason::new(ReasonKind::NoInvariant, describe(original, candidate, names, unmet)),
    }
}

fn number(function: &Function, index: u32) -> u32 {
    function.blocks.get(index as usize).map_or(0, |block| block.number)
}

/// The reason for an `unknown` of the kernel.
pub fn rejection(rejected: &Rejected) -> Reason {
    match rejected {
        Rejected::Malformed(what) => Reason::new(ReasonKind::Internal, what.clone()),
        Rejected::Unsupported(line, what) => Reason::new(ReasonKind::Unsupported, format!("{what} (line {line})")),
        Rejected::Violation(line, what) => Reason::new(ReasonKind::NoInvariant, format!("{what} (line {line})")),
        Rejected::OutOfStep(misfit) => Reason::new(ReasonKind::NoCorrelation, misfit.what.clone()),
        Rejected::Frame(what) => Reason::new(ReasonKind::NoCorrelation, what.clone()),
        Rejected::Unequal(_, what) => Reason::new(ReasonKind::NoInvariant, what.clone()),
    }
}

fn describe(original: &Function, candidate: &Function, names: &Names, unmet: &Unmet<'_>) -> String {
    let need = &unmet.inference.needs[unmet.need];
    let values = &unmet.inference.product.values;
    let blocks = unmet.inference.product.points[need.point].blocks;
    let (a, b) = unmet.mismatch.trail.last().copied().unwrap_or((need.original, need.candidate));
    format!(
        "bb.{}: {} against {}",
        number(original, blocks.0),
        render(values, names, original, candidate, a, 4),
        render(values, names, original, candidate, b, 4)
    )
}

/// A value in words.
pub fn render(
    values: &Values,
    names: &Names,
    original: &Function,
    candidate: &Function,
    id: Id,
    depth: usize,
) -> String {
    let inner = |id: Id| {
        if depth == 0 { "…".to_string() } else { render(values, names, original, candidate, id, depth - 1) }
    };
    let list = |id: Id| values.args(id).map(inner).collect::<Vec<String>>().join(", ");
    let bits = values.bits(id);
    match values.kind(id) {
        Kind::Input(Side::Original, location) => original.location_name(location),
        Kind::Input(Side::Candidate, location) => candidate.location_name(location),
        Kind::Constant(value) => format!("{value}"),
        Kind::Symbol(symbol) => names.text(symbol).to_string(),
        Kind::Undefined(..) => "undefined".to_string(),
        Kind::Junk(_) => "nothing known".to_string(),
        Kind::Extract(0) if matches!(values.kind(values.arg(id, 0)), Kind::Result(_)) => inner(values.arg(id, 0)),
        Kind::Extract(low) => format!("{}[{low}..{}]", inner(values.arg(id, 0)), low + bits),
        Kind::Concat => format!("({})", list(id)),
        Kind::Linear(constant) => {
            let (_, terms) = values.terms(id);
            let mut text: Vec<String> = terms
                .into_iter()
                .map(
                    |(factor, term)| {
                        if factor == 1 { inner(term) } else { format!("{}*{}", factor as i64, inner(term)) }
                    },
                )
                .collect();
            if constant != 0 {
                text.push(format!("{}", constant as i64));
            }
            text.join(" + ")
        }
        Kind::Apply(name, _) => format!("{}({})", names.text(name), list(id)),
        Kind::Result(0) => inner(values.arg(id, 0)),
        Kind::Result(index) => format!("{}#{index}", inner(values.arg(id, 0))),
        Kind::Event(number) => format!("event {number}"),
        Kind::Load(u32::MAX) => format!("constant memory[{}]", list(id)),
        Kind::Load(version) => format!("memory {version}[{}]", list(id)),
    }
}
