//! The median of paired ratios and its interval.

/// Ticks of one round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Round {
    /// The original.
    pub original: u64,
    /// The candidate.
    pub candidate: u64,
    /// The original again, at another place.
    pub control: u64,
}

/// A median and the interval that holds the true one in 99 of 100 sessions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// The median.
    pub median: f64,
    /// Upper end.
    pub high: f64,
}

/// One session in so many has its median on one side outside the interval.
const ONE_SIDE: f64 = 0.005;

/// Of `n` sorted values, how many are left out on each side of an interval that holds the median of what they were drawn from with 99 %:
/// the largest k with P(B < k) ≤ 0.005 for B binomial (n, ½). `None` for so few that not even all of them are enough.
pub fn rank(n: usize) -> Option<usize> {
    // By logarithms: 2⁻ⁿ is too small for a number.
    let mut term = -(n as f64) * std::f64::consts::LN_2;
    let (mut sum, mut k) = (0.0, 0_usize);
    loop {
        sum += term.exp();
        if sum > ONE_SIDE {
            return k.checked_sub(1);
        }
        k += 1;
        term += ((n - k + 1) as f64 / k as f64).ln();
    }
}

impl Interval {
    /// The interval of these values; `None` if they are too few, or one is no number.
    pub fn of(mut values: Vec<f64>) -> Option<Interval> {
        if values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let out = rank(values.len())?;
        values.sort_by(f64::total_cmp);
        let (low, high) = (values[out], values[values.len() - 1 - out]);
        Some(Interval { low, median: middle(&values), high })
    }

    /// How far it is from 1, at its far end, as a factor above 1.
    pub fn deviation(&self) -> f64 {
        (self.high.max(1.0 / self.low) - 1.0).max(0.0)
    }
}

/// The median of sorted values, of which there is at least one.
pub(crate) fn middle(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of values left out on each side, by summing binomial coefficients.
    fn slow_rank(n: u32) -> Option<usize> {
        let (mut coefficient, mut sum, mut k) = (1.0f64, 0.0, 0);
        loop {
            sum += coefficient / 2f64.powi(n as i32);
            if sum > 0.005 {
                return (k as usize).checked_sub(1);
            }
            k += 1;
            coefficient *= f64::from(n - k + 1) / f64::from(k);
        }
    }

    #[test]
    fn ranks_are_those_of_the_binomial_distribution() {
        for n in 1..200 {
            assert_eq!(rank(n as usize), slow_rank(n), "{n}");
        }
        // A table of the sign test: 8 values are the fewest.
        assert_eq!((rank(7), rank(8)), (None, Some(0)));
        // The normal approximation: n/2 - 2.576 √n / 2.
        let near = |n: usize| n as f64 / 2.0 - 2.576 * (n as f64).sqrt() / 2.0;
        for n in [401, 1001, 20_001] {
            assert!((rank(n).unwrap() as f64 - near(n)).abs() < 2.0, "{n}");
        }
    }

    #[test]
    fn the_interval_is_between_values_and_ignores_a_few_wild_ones() {
        let mut values: Vec<f64> = (0..401).map(|i| 1.0 + f64::from(i % 11) / 1000.0).collect();
        let quiet = Interval::of(values.clone()).unwrap();
        for value in values.iter_mut().take(20) {
            *value = 1e6;
        }
        let wild = Interval::of(values).unwrap();
        assert!(quiet.low <= quiet.median && quiet.median <= quiet.high);
        assert!((wild.median - quiet.median).abs() < 0.002 && wild.high < 1.011);
        assert_eq!(Interval::of(vec![1.0; 7]), None);
        assert_eq!(Interval::of([vec![1.0; 400], vec![f64::NAN]].concat()), None);
    }

    #[test]
    fn the_interval_covers_the_median_as_often_as_it_says() {
        let mut state = 1u64;
        let mut next = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let outside = (0..2000).filter(|_| {
            let interval = Interval::of((0..101).map(|_| next().powi(3)).collect()).unwrap();
            !(interval.low..=interval.high).contains(&0.125)
        });
        // One in a hundred is 20; forty would be five standard deviations off.
        assert!(outside.count() < 40);
    }
}
