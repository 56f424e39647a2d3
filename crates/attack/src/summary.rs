//! The table that the command prints.

use crate::batch::Outcome;
use crate::native::Comparison;
use crate::verdicts::Verdict;
use std::collections::BTreeMap;

/// Counts of one area.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Verdicts of right pairs: equivalent, different, unknown.
    pub right: [usize; 3],
    /// Verdicts of pairs with a planted change.
    pub planted: [usize; 3],
    /// `equivalent` verdicts that were run natively.
    pub run: usize,
    /// Of these, pairs with a planted change that no run shows.
    pub unseen: usize,
    /// `equivalent` verdicts that a run refutes.
    pub wrong: usize,
    /// Of what was run, differences that an assumption of the proof names, by assumption.
    pub covered: BTreeMap<&'static str, usize>,
    /// Right pairs whose original fails, or that differ although nothing was planted.
    pub generator: usize,
}

/// Counts by area.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// One line for each pair: area, batch, number, shape, what was planted, verdict, what the runs showed, why it is unknown.
    pub log: String,
    areas: BTreeMap<String, Counts>,
    /// Batches that could not be built or checked, with the complaint.
    pub failed: Vec<String>,
}

impl Summary {
    /// Adds one outcome.
    pub fn add(&mut self, area: &str, batch: u64, outcome: &Outcome, reason: &str) {
        let planted =
            outcome.pair.planted.as_ref().map_or(String::new(), |p| format!("{}: {} -> {}", p.kind, p.right, p.wrong));
        let native = outcome.native.map_or(String::new(), |n| format!("{n:?}"));
        self.log.push_str(&format!(
            "{area}\t{batch}\t{}\t{}\t{planted}\t{:?}\t{native}\t{reason}\n",
            outcome.pair.id, outcome.pair.shape, outcome.verdict
        ));
        let counts = self.areas.entry(area.into()).or_default();
        let verdicts = if outcome.pair.planted.is_some() { &mut counts.planted } else { &mut counts.right };
        verdicts[outcome.verdict as usize] += 1;
        match outcome.native {
            Some(Comparison::Same(_)) => {
                counts.run += 1;
                counts.unseen += usize::from(outcome.pair.planted.is_some());
            }
            Some(Comparison::Different(_)) => {
                counts.run += 1;
                counts.wrong += 1;
            }
            Some(Comparison::Covered(_, assumed)) => {
                counts.run += 1;
                *counts.covered.entry(assumed.name()).or_default() += 1;
            }
            Some(Comparison::OriginalFaults(_)) => counts.generator += 1,
            Some(Comparison::Nothing) | None => {}
        }
        debug_assert!(outcome.native.is_none() || outcome.verdict == Verdict::Equivalent);
    }

    /// All areas together.
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for counts in self.areas.values() {
            for k in 0..3 {
                total.right[k] += counts.right[k];
                total.planted[k] += counts.planted[k];
            }
            total.run += counts.run;
            total.unseen += counts.unseen;
            total.wrong += counts.wrong;
            for (assumption, count) in &counts.covered {
                *total.covered.entry(assumption).or_default() += count;
            }
            total.generator += counts.generator;
        }
        total
    }

    /// The table, and what was left out of it.
    pub fn render(&self) -> String {
        let mut text = String::from(
            "                              right pairs                     planted pairs            run natively\n\
             area           pairs     all equiv.  differ unknown     all equiv.  differ unknown     all unseen  covered   wrong\n",
        );
        for (name, counts) in &self.areas {
            text.push_str(&row(name, counts));
        }
        let total = self.total();
        text.push_str(&row("all", &total));
        for (assumption, count) in &total.covered {
            text.push_str(&format!("covered by `{assumption}`, which these proofs print: {count}\n"));
        }
        if total.right[1] > 0 {
            text.push_str(&format!("false alarms: {}, right pairs that are `different`\n", total.right[1]));
        }
        if total.generator > 0 {
            text.push_str(&format!("{} originals failed in their own runs\n", total.generator));
        }
        for complaint in self.failed.iter().take(5) {
            text.push_str(&format!("not attacked: {complaint}\n"));
        }
        text
    }
}

fn row(name: &str, c: &Counts) -> String {
    let (right, planted): (usize, usize) = (c.right.iter().sum(), c.planted.iter().sum());
    let covered: usize = c.covered.values().sum();
    format!(
        "{name:<12} {:>7} {right:>7} {:>6} {:>7} {:>7} {planted:>7} {:>6} {:>7} {:>7} {:>7} {:>6} {covered:>8} {:>7}\n",
        right + planted,
        c.right[0],
        c.right[1],
        c.right[2],
        c.planted[0],
        c.planted[1],
        c.planted[2],
        c.run,
        c.unseen,
        c.wrong
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batch::Pair;
    use crate::native::Assumed;

    fn outcome(verdict: Verdict, native: Option<Comparison>) -> Outcome {
        let pair =
            Pair { id: 0, shape: "", planted: None, lines: Vec::new(), harness: String::new(), judged: Vec::new() };
        Outcome { pair, verdict, native }
    }

    #[test]
    fn what_an_assumption_names_is_counted_apart() {
        let mut summary = Summary::default();
        for native in [
            Comparison::Same(9),
            Comparison::Covered(3, Assumed::Library),
            Comparison::Different(2),
            Comparison::Nothing,
        ] {
            summary.add("calls", 0, &outcome(Verdict::Equivalent, Some(native)), "");
        }
        summary.add("loops", 0, &outcome(Verdict::Different, None), "");
        let total = summary.total();
        assert_eq!((total.run, total.wrong, total.right), (3, 1, [4, 1, 0]));
        assert_eq!(total.covered.into_iter().collect::<Vec<_>>(), [("library", 1)]);
        let text = summary.render();
        assert!(text.contains("covered by `library`, which these proofs print: 1"), "{text}");
        assert!(text.contains("false alarms: 1"), "{text}");
        let widths: Vec<usize> = text.lines().skip(1).take(4).map(str::len).collect();
        assert!(widths.iter().all(|w| *w == widths[0]), "{text}");
    }
}
