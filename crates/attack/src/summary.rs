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
            Some(Comparison::Covered(_)) => counts.run += 1,
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
            total.generator += counts.generator;
        }
        total
    }

    /// The table.
    pub fn render(&self) -> String {
        let mut text = String::from(
            "area        right: equivalent different unknown   planted: equivalent different unknown   run natively  of these unseen   wrong proofs\n",
        );
        for (name, counts) in &self.areas {
            text.push_str(&row(name, counts));
        }
        text.push_str(&row("all", &self.total()));
        if self.total().generator > 0 {
            text.push_str(&format!("{} originals failed in their own runs\n", self.total().generator));
        }
        for complaint in self.failed.iter().take(5) {
            text.push_str(&format!("not attacked: {complaint}\n"));
        }
        text
    }
}

fn row(name: &str, c: &Counts) -> String {
    let (right, planted): (usize, usize) = (c.right.iter().sum(), c.planted.iter().sum());
    format!(
        "{name:<10} {right:>6}: {:>10} {:>9} {:>7}  {planted:>8}: {:>10} {:>9} {:>7}   {:>12}  {:>15}   {:>12}\n",
        c.right[0], c.right[1], c.right[2], c.planted[0], c.planted[1], c.planted[2], c.run, c.unseen, c.wrong
    )
}
