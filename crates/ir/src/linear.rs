//! Numbers that grow by the same step from one iteration of a loop to the next, and for how many iterations what was found out about them
//! holds.
//!
//! A number is the signed one that its bits are in its width, and every rule first narrows the span to iterations in which it fits that
//! width, so nothing wraps inside a span. A rule that cannot say anything about the first iteration says nothing at all.

use crate::module::{Comparison, IntOp};

/// `start + t * step` in iteration `t`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Linear {
    pub start: i64,
    pub step: i64,
}

/// The number of iterations, from the first, in which everything holds that was said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Span(pub u64);

/// Further away than any difference of two numbers.
const FAR: i128 = 1 << 120;

impl Linear {
    pub fn fixed(start: i64) -> Linear {
        Linear { start, step: 0 }
    }

    /// The number in an iteration of a span.
    pub fn at(self, iteration: u64) -> i64 {
        self.start.wrapping_add(self.step.wrapping_mul(iteration as i64))
    }
}

impl Span {
    /// Keeps the iterations in which `start + t * step` lies between two bounds.
    fn keep(&mut self, start: i128, step: i128, least: i128, most: i128) -> Option<()> {
        if start < least || start > most {
            return None;
        }
        let room = match step {
            0 => return Some(()),
            1.. => most - start,
            _ => start - least,
        };
        let count = room / step.abs() + 1;
        self.0 = self.0.min(u64::try_from(count).unwrap_or(u64::MAX));
        Some(())
    }

    /// A number that lies between two bounds.
    pub fn within(&mut self, x: Linear, least: i64, most: i64) -> Option<()> {
        self.keep(x.start.into(), x.step.into(), least.into(), most.into())
    }

    /// A number of a width.
    pub fn fit(&mut self, start: i128, step: i128, bits: u8) -> Option<Linear> {
        let most = i128::from(i64::MAX >> (64 - u32::from(bits)));
        self.keep(start, step, -most - 1, most)?;
        Some(Linear { start: i64::try_from(start).ok()?, step: i64::try_from(step).ok()? })
    }

    /// An operation, if its result is linear and does not wrap.
    pub fn integer(&mut self, op: IntOp, bits: u8, a: Linear, b: Linear) -> Option<Linear> {
        let [(x, dx), (y, dy)] = [a, b].map(|n| (i128::from(n.start), i128::from(n.step)));
        match op {
            IntOp::Add => self.fit(x + y, dx + dy, bits),
            IntOp::Sub => self.fit(x - y, dx - dy, bits),
            IntOp::Mul if dx == 0 || dy == 0 => self.fit(x * y, dx * y + x * dy, bits),
            IntOp::ShiftLeft if dy == 0 && (0..i128::from(bits) - 1).contains(&y) => self.fit(x << y, dx << y, bits),
            _ => None,
        }
    }

    /// A comparison, if it has the same answer in some iterations from the first.
    pub fn compare(&mut self, how: Comparison, a: Linear, b: Linear) -> Option<bool> {
        let (start, step) = (i128::from(a.start) - i128::from(b.start), i128::from(a.step) - i128::from(b.step));
        if matches!(how, Comparison::UnsignedLess | Comparison::UnsignedLessEqual) {
            self.within(a, 0, i64::MAX)?;
            self.within(b, 0, i64::MAX)?;
        }
        let below = match how {
            Comparison::SignedLess | Comparison::UnsignedLess => -1,
            Comparison::SignedLessEqual | Comparison::UnsignedLessEqual => 0,
            Comparison::Equal | Comparison::NotEqual => {
                let equal = start == 0;
                if equal && step != 0 {
                    self.0 = self.0.min(1);
                } else if !equal && step != 0 && start % step == 0 && (start < 0) != (step < 0) {
                    self.0 = self.0.min(u64::try_from(start / -step).unwrap_or(u64::MAX));
                }
                return Some(equal == (how == Comparison::Equal));
            }
            _ => return None,
        };
        let holds = start <= below;
        if holds { self.keep(start, step, -FAR, below) } else { self.keep(start, step, below + 1, FAR) }?;
        Some(holds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datum::{mask, signed};
    use crate::integers::fold;

    const OPS: [IntOp; 5] = [IntOp::Add, IntOp::Sub, IntOp::Mul, IntOp::ShiftLeft, IntOp::And];
    const HOWS: [Comparison; 6] = [
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::SignedLess,
        Comparison::SignedLessEqual,
        Comparison::UnsignedLess,
        Comparison::UnsignedLessEqual,
    ];

    fn random(seed: &mut u64) -> i64 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*seed >> 33) as i64
    }

    /// A number of eight bits and the iterations in which it fits.
    fn number(seed: &mut u64, span: &mut Span) -> Linear {
        let (start, step) = (random(seed) % 256 - 128, [0, 0, 1, -1, 2, 3, -5, 16][random(seed) as usize % 8]);
        span.fit(start.into(), step.into(), 8).expect("it starts inside")
    }

    fn holds(how: Comparison, x: u64, y: u64) -> bool {
        match how {
            Comparison::Equal => x == y,
            Comparison::NotEqual => x != y,
            Comparison::SignedLess => signed(x, 8) < signed(y, 8),
            Comparison::SignedLessEqual => signed(x, 8) <= signed(y, 8),
            Comparison::UnsignedLess => x < y,
            _ => x <= y,
        }
    }

    #[test]
    fn what_is_said_holds_in_every_iteration_of_the_span() {
        let (mut seed, mut said, mut longest) = (1, 0, 0);
        for _ in 0..60_000 {
            let mut span = Span(64);
            let (a, b) = (number(&mut seed, &mut span), number(&mut seed, &mut span));
            let bits = |x: Linear, t: u64| x.at(t) as u64 & mask(8);
            let op = OPS[random(&mut seed) as usize % OPS.len()];
            let mut narrowed = span;
            if let Some(result) = narrowed.integer(op, 8, a, b) {
                said += 1;
                longest = longest.max(narrowed.0);
                for t in 0..narrowed.0 {
                    for exact in [false, op != IntOp::ShiftLeft] {
                        assert_eq!(
                            fold(op, 8, exact, bits(a, t), bits(b, t)),
                            Ok(bits(result, t)),
                            "{op:?} {a:?} {b:?} {t}"
                        );
                    }
                }
            }
            let how = HOWS[random(&mut seed) as usize % HOWS.len()];
            let mut narrowed = span;
            if let Some(truth) = narrowed.compare(how, a, b) {
                said += 1;
                for t in 0..narrowed.0 {
                    assert_eq!(holds(how, bits(a, t), bits(b, t)), truth, "{how:?} {a:?} {b:?} {t}");
                }
            }
        }
        assert!(said > 40_000 && longest == 64, "{said} {longest}");
    }

    #[test]
    fn a_span_ends_where_the_answer_changes() {
        let turns = |how, start, step, bound| {
            let mut span = Span(1000);
            let truth = span.compare(how, Linear { start, step }, Linear::fixed(bound));
            (truth, span.0)
        };
        assert_eq!(turns(Comparison::SignedLess, 0, 1, 16), (Some(true), 16));
        assert_eq!(turns(Comparison::SignedLess, 0, 3, 16), (Some(true), 6));
        assert_eq!(turns(Comparison::SignedLess, 20, -1, 16), (Some(false), 5));
        assert_eq!(turns(Comparison::NotEqual, 0, 4, 16), (Some(true), 4));
        assert_eq!(turns(Comparison::NotEqual, 0, 3, 16), (Some(true), 1000));
        assert_eq!(turns(Comparison::UnsignedLess, 5, -1, 16), (Some(true), 6), "then it is a large number");
        assert_eq!(turns(Comparison::UnsignedLess, -5, 1, 16), (None, 1000));
        assert_eq!(turns(Comparison::UnsignedLess, 15, 1, 16), (Some(true), 1));
    }

    #[test]
    fn ends_of_types_end_spans() {
        let mut span = Span(u64::MAX);
        assert_eq!(span.fit(i128::from(i64::MAX) - 5, 1, 64).map(|x| x.step), Some(1));
        assert_eq!(span.0, 6);
        assert_eq!(span.fit(1 << 64, 0, 64), None);
        let (big, mut span) = (Linear { start: 1 << 40, step: 1 << 40 }, Span(100));
        assert_eq!(span.integer(IntOp::Mul, 64, big, big), None, "a square");
        assert_eq!(span.integer(IntOp::Mul, 64, big, Linear::fixed(1 << 20)).map(|x| x.step), Some(1 << 60));
        assert_eq!(span.0, 7);
    }
}
