//! Conditions that were inferred: what must hold, and why each part is needed.

use crate::json::{JsonWitness, witness as json_witness};
use crate::palette::{Look, printable};
use crate::{Colour, witness};
use search::{Conjunct, Hint, Inferred, Need, Witness};
use serde::Serialize;

/// Parts shown to people before the rest is only counted.
const MOST_SHOWN: usize = 40;
/// Longer texts push their reason to the right instead of widening the column for all.
const WIDEST: usize = 48;

#[derive(Serialize)]
pub(crate) struct JsonConjunct<'a> {
    kind: &'static str,
    text: &'a str,
    expression: Vec<String>,
    needed: &'static str,
    witness: Option<JsonWitness<'a>>,
}

/// The parts of a condition for programs.
pub(crate) fn json<'a>(inferred: &'a Inferred) -> Vec<JsonConjunct<'a>> {
    let one = |conjunct: &'a Conjunct| {
        let Conjunct { kind, text, expressions, need } = conjunct;
        let (needed, witness) = match need {
            Need::Shown(witness) => ("witness", Some(json_witness(witness))),
            Need::NotShown => ("not-shown", None),
        };
        let expression = expressions.iter().map(ToString::to_string).collect();
        JsonConjunct { kind: kind.name(), text, expression, needed, witness }
    };
    inferred.conjuncts.iter().map(one).collect()
}

/// The parts of a condition for people, each with what happens without it.
pub(crate) fn render(title: &str, inferred: &Inferred, colour: Colour) -> String {
    let from = match inferred.tests {
        0 => String::new(),
        1 => " (the start state of --tests satisfies it)".to_string(),
        n => format!(" (all {n} start states of --tests satisfy it)"),
    };
    let mut out = format!("  {}: the two functions do the same if{from}\n", colour.paint(Look::Name, title));
    let shown = &inferred.conjuncts[..inferred.conjuncts.len().min(MOST_SHOWN)];
    let width = shown.iter().map(|c| c.text.chars().count()).filter(|w| *w <= WIDEST).max().unwrap_or(0);
    for conjunct in shown {
        let why = match &conjunct.need {
            Need::Shown(witness) => format!("needed: {}", without(witness)),
            Need::NotShown => "not shown to be needed".to_string(),
        };
        let text = printable(&conjunct.text);
        out.push_str(&format!("      {text:width$}   {}\n", colour.paint(Look::Aside, printable(&why))));
    }
    let rest = &inferred.conjuncts[shown.len()..];
    if !rest.is_empty() {
        let needed = rest.iter().filter(|c| matches!(c.need, Need::Shown(_))).count();
        out.push_str(&format!("      … and {} more, {needed} of them needed (--format json lists all)\n", rest.len()));
    }
    out
}

/// What happens on an input outside.
fn without(witness: &Witness) -> String {
    let named = witness.registers.iter().filter_map(|r| Some((r.parameter.as_ref()?, r.value)));
    let values: Vec<String> = named.map(|(name, value)| format!("{name} = {}", witness::value(value))).collect();
    let (original, candidate) = (&witness.original.summary, &witness.candidate.summary);
    format!("with {} the original {original}, the candidate {candidate}", values.join(", "))
}

/// What would make the functions agree on an input; it says nothing about others.
pub(crate) fn render_hint(hint: &Hint, colour: Colour) -> String {
    let text = format!("would agree on this input if {}; try --conditional", printable(&hint.text));
    format!("      {}\n", colour.paint(Look::Aside, text))
}
