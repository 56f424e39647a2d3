//! Random memories and floating-point terms.

use super::Generator;
use crate::{Arena, Bits, FloatOp, Sort, TermId};

impl Generator {
    pub(super) fn memory(&mut self, arena: &mut Arena) -> TermId {
        let memory = self.pick(arena, Sort::Memory);
        let base = arena.var("x64", Sort::Bv(64));
        let near = arena.add_const(base, self.below(12) as i64 - 6);
        let address = if self.below(6) == 0 { self.pick(arena, Sort::Bv(64)) } else { near };
        let bytes = [1u16, 2, 4, 8][self.below(4) as usize];
        match self.below(11) {
            10 => {
                // Both branches store to one place.
                let c = self.pick(arena, Sort::Bool);
                let (x, y) = (self.pick(arena, Sort::Bv(8 * bytes)), self.pick(arena, Sort::Bv(8 * bytes)));
                let base = arena.var("m", Sort::Memory);
                let (then, other) = (arena.store(base, near, x), arena.store(base, near, y));
                arena.ite(c, then, other)
            }
            0 => {
                let byte = self.pick(arena, Sort::Bv(8));
                let length = arena.bv(64, [0, 3, 5, 70, 100][self.below(5) as usize]);
                arena.fill(memory, address, byte, length)
            }
            1 => {
                let source = self.pick(arena, Sort::Memory);
                let from = arena.add_const(base, self.below(12) as i64 - 6);
                let length = arena.bv(64, [0, 3, 5, 70, 100][self.below(5) as usize]);
                arena.copy(memory, address, source, from, length)
            }
            2 => {
                let (c, other) = (self.pick(arena, Sort::Bool), self.pick(arena, Sort::Memory));
                arena.ite(c, memory, other)
            }
            3 => {
                let value = arena.load(memory, address, bytes);
                arena.store(memory, address, value)
            }
            4..=6 => {
                let value = self.pick(arena, Sort::Bv(8 * bytes));
                arena.store(memory, address, value)
            }
            _ => arena.load(memory, address, bytes),
        }
    }

    pub(super) fn float(&mut self, arena: &mut Arena) -> TermId {
        let width = if self.below(2) == 0 { 32 } else { 64 };
        let number = |value: f64| match width {
            32 => Bits::new(32, u64::from((value as f32).to_bits())),
            _ => Bits::new(64, value.to_bits()),
        };
        let a = self.pick(arena, Sort::Bv(width));
        let b = match self.below(3) {
            0 => {
                let value = [1.0, 2.0, -1.0, -0.0, 4.0, 0.25, -8.0, 3.0, 0.0][self.below(9) as usize];
                arena.constant(number(value))
            }
            1 => {
                let b = self.pick(arena, Sort::Bv(width));
                let sign = arena.constant(number(-0.0));
                arena.xor(b, sign)
            }
            _ => self.pick(arena, Sort::Bv(width)),
        };
        match self.below(14) {
            0 => arena.float(FloatOp::Add(width), &[a, b]),
            1 => arena.float(FloatOp::Sub(width), &[a, b]),
            2 => arena.float(FloatOp::Mul(width), &[a, b]),
            3 => arena.float(FloatOp::Div(width), &[a, b]),
            4 => arena.float(FloatOp::Sqrt(width), &[a]),
            5 => arena.float(FloatOp::Min(width), &[a, b]),
            6 => arena.float(FloatOp::Max(width), &[a, b]),
            7 | 8 => {
                // Conditions after a comparison.
                let pair = [a, b];
                let unordered = arena.float(FloatOp::Unordered(width), &pair);
                let less = arena.float(FloatOp::Lt(width), &pair);
                let equal = arena.float(FloatOp::Eq(width), &pair);
                let (carry, zero) = (arena.bool_or(unordered, less), arena.bool_or(unordered, equal));
                match self.below(5) {
                    0 => arena.bool_or(carry, zero),
                    1 => arena.bool_not(carry),
                    2 => arena.bool_and(carry, zero),
                    3 => arena.float(FloatOp::Lt(width), &[b, a]),
                    _ => {
                        let not_zero = arena.bool_not(zero);
                        arena.bool_and(carry, not_zero)
                    }
                }
            }
            9 => {
                let x = self.pick(arena, Sort::Bv(32));
                let x = if self.below(2) == 0 { arena.sext(x, 64) } else { arena.zext(x, 64) };
                arena.float(FloatOp::FromInt { from: 64, to: width }, &[x])
            }
            10 => {
                let x = self.pick(arena, Sort::Bv(32));
                let wide = arena.float(FloatOp::FromInt { from: 32, to: 64 }, &[x]);
                arena.float(FloatOp::Convert { from: 64, to: 32 }, &[wide])
            }
            11 => {
                let (x, y) = (self.pick(arena, Sort::Bv(32)), self.pick(arena, Sort::Bv(32)));
                let up = FloatOp::Convert { from: 32, to: 64 };
                let (x, y) = (arena.float(up, &[x]), arena.float(up, &[y]));
                let down = FloatOp::Convert { from: 64, to: 32 };
                let wide = match self.below(8) {
                    0 => return arena.float(FloatOp::Lt(64), &[x, y]),
                    1 => return arena.float(FloatOp::Eq(64), &[x, y]),
                    2 => arena.float(FloatOp::Add(64), &[x, y]),
                    3 => arena.float(FloatOp::Sub(64), &[x, y]),
                    4 => arena.float(FloatOp::Mul(64), &[x, y]),
                    5 => arena.float(FloatOp::Div(64), &[x, y]),
                    6 => arena.float(FloatOp::Sqrt(64), &[x]),
                    _ => x,
                };
                arena.float(down, &[wide])
            }
            12 => arena.float(FloatOp::Truncate { from: width, to: 32 }, &[a]),
            _ => arena.float(FloatOp::Round { from: width, to: 64 }, &[a]),
        }
    }
}
