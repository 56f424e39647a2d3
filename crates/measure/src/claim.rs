//! From layouts to a claim, or none.

use crate::interval::{Interval, Round, middle};
use std::fmt;

/// What was measured in one layout.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Layout {
    /// Time of the original over that of the candidate.
    pub speedup: Interval,
    /// Time of the original over that of its copy.
    pub control: Interval,
    /// Median ticks of a round: original and candidate.
    pub ticks: [u64; 2],
}

/// What a session says.
#[derive(Clone, PartialEq, Debug)]
pub struct Measurement {
    /// In the order in which they were measured; never empty.
    pub layouts: Vec<Layout>,
    /// Time of the original over that of the candidate: the median over layouts, with the widest interval over all of them.
    pub speedup: Interval,
    /// How far the control was from 1 in its worst layout, as a factor above 1.
    pub deviation: f64,
    /// Is there anything to claim?
    pub claim: Claim,
}

/// What may be said.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// The candidate is faster in every layout.
    Faster,
    /// It is slower in every layout.
    Slower,
    /// Noise or layout could explain what was measured.
    None,
}

/// The least that is ever claimed.
const LEAST: f64 = 0.01;

impl Layout {
    /// `None` if there are too few rounds, or times of nothing.
    pub fn of(rounds: &[Round]) -> Option<Layout> {
        let ratios = |of: fn(&Round) -> u64| rounds.iter().map(|r| r.original as f64 / of(r) as f64).collect();
        let ticks = |of: fn(&Round) -> u64| {
            let mut ticks: Vec<u64> = rounds.iter().map(of).collect();
            ticks.sort_unstable();
            ticks.get(ticks.len() / 2).copied()
        };
        Some(Layout {
            speedup: Interval::of(ratios(|r| r.candidate))?,
            control: Interval::of(ratios(|r| r.control))?,
            ticks: [ticks(|r| r.original)?, ticks(|r| r.candidate)?],
        })
    }
}

impl Measurement {
    /// What these layouts say together; `None` if there are none.
    pub fn of(layouts: Vec<Layout>) -> Option<Measurement> {
        let mut medians: Vec<f64> = layouts.iter().map(|layout| layout.speedup.median).collect();
        medians.sort_by(f64::total_cmp);
        let low = layouts.iter().map(|layout| layout.speedup.low).min_by(f64::total_cmp)?;
        let high = layouts.iter().map(|layout| layout.speedup.high).max_by(f64::total_cmp)?;
        let deviation = layouts.iter().map(|layout| layout.control.deviation()).max_by(f64::total_cmp)?;
        let least = 1.0 + deviation.max(LEAST);
        let claim = match (low > least, high < 1.0 / least) {
            (true, _) => Claim::Faster,
            (_, true) => Claim::Slower,
            _ => Claim::None,
        };
        let speedup = Interval { low, median: middle(&medians), high };
        Some(Measurement { layouts, speedup, deviation, claim })
    }

    /// The layout with the least speed-up.
    pub fn worst(&self) -> Layout {
        let least = |a: &&Layout, b: &&Layout| a.speedup.median.total_cmp(&b.speedup.median);
        *self.layouts.iter().min_by(least).unwrap_or(&self.layouts[0])
    }

    /// What a ratio must exceed to be claimed.
    pub fn threshold(&self) -> f64 {
        1.0 + self.deviation.max(LEAST)
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Claim::Faster => "faster",
            Claim::Slower => "slower",
            Claim::None => "no claim",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounds with noise that hits a whole round, and a little that does not.
    fn layout(original: u64, candidate: u64, control: u64) -> Layout {
        let rounds = (0..401u64).map(|i| {
            let slow = if i % 17 == 0 { 3 } else { 1 };
            let time = |ticks: u64, k: u64| slow * (ticks + (i * 7 + k * 13) % 23);
            Round { original: time(original, 0), candidate: time(candidate, 1), control: time(control, 2) }
        });
        Layout::of(&rounds.collect::<Vec<_>>()).unwrap()
    }

    fn claim(layouts: &[Layout]) -> Claim {
        Measurement::of(layouts.to_vec()).unwrap().claim
    }

    #[test]
    fn a_claim_needs_every_layout() {
        let (faster, same) = (layout(20_000, 16_000, 20_000), layout(20_000, 20_000, 20_000));
        assert_eq!(claim(&[faster, faster, faster]), Claim::Faster);
        assert_eq!(claim(&[faster, faster, same]), Claim::None);
        let measurement = Measurement::of(vec![faster, same, faster]).unwrap();
        assert!((measurement.speedup.median - 1.25).abs() < 0.01);
        assert!((measurement.worst().speedup.median - 1.0).abs() < 0.01);
        let slower = layout(20_000, 24_000, 20_000);
        assert_eq!(claim(&[slower, slower]), Claim::Slower);
        assert_eq!(claim(&[slower, faster]), Claim::None);
    }

    #[test]
    fn less_than_one_percent_is_no_claim() {
        assert_eq!(claim(&[layout(20_000, 19_850, 20_000)]), Claim::None);
        assert_eq!(claim(&[layout(20_000, 19_000, 20_000)]), Claim::Faster);
    }

    #[test]
    fn what_the_control_is_off_by_is_no_claim() {
        let off = layout(20_000, 19_000, 18_800);
        assert_eq!(claim(&[off]), Claim::None);
        // One layout's control holds for all.
        assert_eq!(claim(&[layout(20_000, 19_000, 20_000), off]), Claim::None);
        assert_eq!(claim(&[layout(20_000, 15_000, 18_800)]), Claim::Faster);
        // To the other side, too.
        assert_eq!(claim(&[layout(20_000, 19_000, 21_400)]), Claim::None);
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert!(Measurement::of(Vec::new()).is_none());
        assert!(Layout::of(&[]).is_none());
        let zero = Round { original: 5, candidate: 0, control: 5 };
        assert!(Layout::of(&[zero; 401]).is_none());
    }
}
