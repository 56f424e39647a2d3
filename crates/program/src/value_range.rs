//! Ranges of values: intervals on the circle of numbers modulo 2^w, so that `-1..=255` is one of them.
//!
//! Trust: full, for what a range means.

/// The numbers `low, low + 1, …, low + span` modulo 2^width; width at most 64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ValueRange {
    /// Bits of the value.
    pub width: u16,
    /// First number.
    pub low: u64,
    /// Distance of the last one.
    pub span: u64,
}

impl ValueRange {
    /// The largest number of the width.
    fn last(&self) -> u64 {
        u64::MAX >> (64 - self.width.clamp(1, 64))
    }

    /// Are width and numbers those of a range?
    pub fn is_sane(&self) -> bool {
        matches!(self.width, 1..=64) && self.low <= self.last() && self.span <= self.last()
    }

    /// Is a number among them? What is above the width does not count.
    pub fn has(&self, number: u64) -> bool {
        number.wrapping_sub(self.low) & self.last() <= self.span
    }

    /// Smallest and largest number without a sign.
    pub fn unsigned(&self) -> (u64, u64) {
        let high = self.low.wrapping_add(self.span) & self.last();
        if high < self.low || self.span == self.last() { (0, self.last()) } else { (self.low, high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_lie_between_the_ends() {
        for low in 0..8 {
            for span in 0..8 {
                let range = ValueRange { width: 3, low, span };
                let (first, last) = range.unsigned();
                assert!((0..=span).all(|d| (first..=last).contains(&((low + d) & 7))), "{range:?}");
            }
        }
    }

    #[test]
    fn numbers_fit_the_width() {
        assert!(ValueRange { width: 64, low: 1, span: u64::MAX }.is_sane());
        assert!(!ValueRange { width: 65, low: 1, span: 1 }.is_sane());
        assert!(!ValueRange { width: 0, low: 0, span: 0 }.is_sane());
        assert!(!ValueRange { width: 8, low: 256, span: 0 }.is_sane());
    }
}
