//! Random floating-point arithmetic: sums, differences, products and negations of variables and constants.

use super::Generator;
use crate::{Arena, Bits, FloatOp, Sort, TermId};

/// Constants of which most sums and products are exact, and two of which they are not.
const CONSTANTS: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 0.5, 0.1, -0.7];

impl Generator {
    /// Arithmetic of the width over the float variables `f0` to `f3`, nested at most so deep. `exact` leaves out the
    /// constants that round.
    pub fn arithmetic(&mut self, arena: &mut Arena, width: u16, depth: u32, exact: bool) -> TermId {
        if depth == 0 || self.below(7) == 0 {
            if self.below(4) > 0 {
                let name = format!("f{}.{width}", self.below(4));
                return arena.var(&name, Sort::Bv(width));
            }
            let value = CONSTANTS[self.below(if exact { 8 } else { 10 }) as usize];
            return arena.constant(float(width, value));
        }
        let a = self.arithmetic(arena, width, depth - 1, exact);
        if self.below(8) == 0 {
            let sign = arena.constant(float(width, -0.0));
            return arena.xor(a, sign);
        }
        let b = self.arithmetic(arena, width, depth - 1, exact);
        let op = match self.below(8) {
            0..=2 => FloatOp::Add(width),
            3 | 4 => FloatOp::Sub(width),
            _ => FloatOp::Mul(width),
        };
        arena.float(op, &[a, b])
    }
}

fn float(width: u16, value: f64) -> Bits {
    if width == 32 { Bits::new(32, u64::from((value as f32).to_bits())) } else { Bits::new(64, value.to_bits()) }
}
