//! What a measurement says, as text or JSON.

use super::Outcome;
use crate::arguments::Format;
use crate::pairing::Selection;
use measure::{Claim, Interval};
use serde_json::{Value, json};

/// The report.
pub fn render(function: &Selection, outcome: &Outcome, format: Format) -> String {
    match format {
        Format::Text => text(function, outcome),
        Format::Json => format!("{:#}\n", value(function, outcome)),
    }
}

/// A ratio without more digits than its interval is worth.
fn ratio(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.1}") }
}

fn interval(of: Interval) -> String {
    format!("{}× [{}, {}]", ratio(of.median), ratio(of.low), ratio(of.high))
}

fn number(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

fn name(function: &Selection) -> String {
    match &function.other {
        Some(other) => format!("{} = {other}", function.name),
        None => function.name.clone(),
    }
}

fn text(function: &Selection, outcome: &Outcome) -> String {
    let Outcome { measurement, times, rounds, .. } = outcome;
    let speedup = interval(measurement.speedup);
    let said = match measurement.claim {
        Claim::Faster => format!("{speedup}  faster"),
        Claim::Slower => format!("{speedup}  slower"),
        Claim::None => format!("{speedup}  no claim: every layout must be beyond {}×", ratio(measurement.threshold())),
    };
    let worst = measurement.worst();
    let calls = times.calls.max(1) as f64;
    let each = worst.ticks.map(|ticks| format!("{:.1}", ticks as f64 / calls));
    let mut out = format!("{}  {said}\n", name(function));
    out += &format!(
        "  {}, {} each, {}; 99 % intervals\n",
        number(measurement.layouts.len(), "layout"),
        number(*rounds, "round"),
        number(times.states.len(), "start state")
    );
    out += &format!(
        "  worst layout {}×, {} → {} ticks a call; the original against itself: within {:.1} %\n",
        ratio(worst.speedup.median),
        each[0],
        each[1],
        100.0 * measurement.deviation
    );
    if !times.stand_ins.is_empty() {
        out += &format!("  stand-ins, which return at once: {}\n", times.stand_ins.join(", "));
    }
    if times.differing > 0 {
        out += &format!("  warning: on {} they do not do the same\n", number(times.differing, "start state"));
    }
    if times.denormal > 0 {
        out += &format!(
            "  warning: denormal numbers on {}, which some processors are slow with\n",
            number(times.denormal, "start state")
        );
    }
    let left_out = times.left_out.len() + outcome.undefined.iter().map(|(_, n)| n).sum::<usize>();
    if left_out > 0 {
        let first = outcome.undefined.iter().max_by_key(|(_, n)| *n).map(|(why, _)| why.clone());
        let first = times.left_out.first().map(|(_, why)| why.clone()).or(first).unwrap_or_default();
        out += &format!("  left out: {} ({first})\n", number(left_out, "start state"));
    }
    out
}

fn bounds(of: Interval) -> Value {
    json!({ "median": of.median, "low": of.low, "high": of.high })
}

fn value(function: &Selection, outcome: &Outcome) -> Value {
    let Outcome { measurement, times, rounds, undefined } = outcome;
    let layouts: Vec<Value> = measurement
        .layouts
        .iter()
        .map(|l| json!({ "speedup": bounds(l.speedup), "control": bounds(l.control), "ticks": l.ticks }))
        .collect();
    let claim = match measurement.claim {
        Claim::Faster => "faster",
        Claim::Slower => "slower",
        Claim::None => "none",
    };
    let early = undefined.iter().map(|(why, n)| json!({ "reason": why, "states": n }));
    let left_out: Vec<Value> =
        early.chain(times.left_out.iter().map(|(_, why)| json!({ "reason": why, "states": 1 }))).collect();
    json!({
        "version": 1,
        "function": function.name,
        "candidate": function.other.as_ref().unwrap_or(&function.name),
        "claim": claim,
        "speedup": bounds(measurement.speedup),
        "threshold": measurement.threshold(),
        "deviation": measurement.deviation,
        "layouts": layouts,
        "rounds": rounds,
        "calls": times.calls,
        "states": times.states.len(),
        "left_out": left_out,
        "differing": times.differing,
        "denormal": times.denormal,
        "stand_ins": times.stand_ins,
    })
}
