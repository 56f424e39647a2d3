//! What compilers and instruction semantics emit, and pairs of terms that have something in common.

use super::Generator;
use crate::{Arena, Bits, Linear, Op, Sort, TermId};

impl Generator {
    /// Pairs of terms that have something in common.
    pub(super) fn related(&mut self, arena: &mut Arena) -> TermId {
        let width = [7, 8, 16, 32][self.below(4) as usize];
        let wide = 2 * width;
        let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
        let c = self.pick(arena, Sort::Bool);
        let compare = [Op::Eq, Op::Ult, Op::Slt][self.below(3) as usize];
        match self.below(19) {
            18 => {
                // A piece several times, by a product, and by itself.
                let repeated = arena.bv(wide, 1 << width | 1);
                let extended = arena.zext(a, wide);
                let product = arena.mul(extended, repeated);
                let other = self.pick(arena, Sort::Bv(wide));
                arena.make(compare, &[product, other])
            }
            17 => {
                // An unsigned comparison by a signed one.
                let flip = arena.bv(width, 1 << (width - 1));
                let [x, y] = [a, b].map(|t| if a < b { arena.add(t, flip) } else { arena.xor(t, flip) });
                arena.slt(x, y)
            }
            16 => {
                // The largest or smallest of some numbers, in any order.
                let less = [Op::Ult, Op::Slt][self.below(2) as usize];
                let most = self.below(2) == 0;
                let extreme = |arena: &mut Arena, x: TermId, y: TermId| {
                    let below = arena.make(less, &[x, y]);
                    if most { arena.ite(below, y, x) } else { arena.ite(below, x, y) }
                };
                let c = self.pick(arena, Sort::Bv(width));
                let (first, second) = (extreme(arena, a, b), extreme(arena, b, c));
                let other = if self.below(2) == 0 { second } else { c };
                extreme(arena, first, other)
            }
            15 => {
                // A number without its low bits, which a vectorised loop stops at, and the number itself.
                let source = self.pick(arena, Sort::Bv(wide));
                let x = if self.below(2) == 0 { a } else { arena.extract(source, width - 1, 0) };
                let k = 1 + self.below(u64::from(width) - 1) as u16;
                let high = arena.extract(x, width - 1, k);
                let high = arena.zext(high, width);
                let power = arena.bv(width, 1 << k);
                let multiple = arena.mul(high, power);
                let offset = arena.bv(width, self.below(1 << k.min(4)));
                let sum = arena.add(multiple, offset);
                if self.below(3) == 0 {
                    return arena.extract(sum, width - 1, k);
                }
                let pair = if self.below(2) == 0 { [x, sum] } else { [sum, x] };
                arena.make(compare, &pair)
            }
            14 => {
                // What is left after a division, sometimes in a wider or narrower type.
                let c = arena.bv(width, 3 + 2 * self.below(6));
                let signed = self.below(2) == 0;
                let quotient = if signed { arena.sdiv(a, c) } else { arena.udiv(a, c) };
                let narrow = width / 2 + 2;
                let shape = self.below(3);
                let mut shaped = |t: TermId| match shape {
                    0 => t,
                    1 if signed => arena.sext(t, wide),
                    1 => arena.zext(t, wide),
                    _ => arena.truncate(t, narrow),
                };
                let (x, quotient, c) = (shaped(a), shaped(quotient), shaped(c));
                let multiple = arena.mul(quotient, c);
                arena.sub(x, multiple)
            }
            13 => {
                // The high half of a signed product from the unsigned one; narrow ones are within a solver's reach.
                let width = [4, width][self.below(2) as usize];
                let wide = 2 * width;
                let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
                let (x, y) = (arena.zext(a, wide), arena.zext(b, wide));
                let product = arena.mul(x, y);
                let mut high = arena.extract(product, wide - 1, width);
                let last = arena.bv(width, u64::from(width - 1));
                for (x, y) in [(a, b), (b, a)] {
                    let sign = arena.ashr(x, last);
                    let correction = arena.mul(sign, y);
                    high = arena.add(high, correction);
                }
                high
            }
            12 => {
                // A set as the bits of a constant, with and without a bound.
                let x = arena.var("x32", Sort::Bv(32));
                let bound = arena.bv(32, 64);
                let bound = arena.ult(x, bound);
                let low = arena.truncate(x, 6);
                let amount = arena.zext(low, 64);
                let mask = arena.bv(64, [0x2a00, 0x1_0000_3e00, 0xff0, 1 << 40][self.below(4) as usize]);
                let one = arena.bv(64, 1);
                let test = if self.below(2) == 0 {
                    let shifted = arena.lshr(mask, amount);
                    arena.bit(shifted, self.below(2) as u16)
                } else {
                    let shifted = arena.shl(one, amount);
                    let masked = arena.and(shifted, mask);
                    let zero = arena.bv(64, 0);
                    arena.ne(masked, zero)
                };
                match self.below(3) {
                    0 => test,
                    1 => arena.bool_and(bound, test),
                    _ => {
                        let (beyond, fails) = (arena.bool_not(bound), arena.bool_not(test));
                        arena.bool_or(beyond, fails)
                    }
                }
            }
            8 => self.divisible(arena, a),
            9 => {
                let k = arena.bv(width, self.below(u64::from(width)));
                let back = arena.bv(width, u64::from(width));
                let back = arena.sub(back, k);
                let (high, low) = (arena.shl(a, k), arena.lshr(a, back));
                arena.or(high, low)
            }
            10 => {
                // Minimum, maximum, clamp.
                let less = [Op::Ult, Op::Slt][self.below(2) as usize];
                let (x, y) = if self.below(2) == 0 { (a, b) } else { (a, self.constant(arena, width)) };
                let less = if self.below(2) == 0 { arena.make(less, &[x, y]) } else { arena.make(less, &[y, x]) };
                if self.below(2) == 0 { arena.ite(less, x, y) } else { arena.ite(less, y, x) }
            }
            11 => {
                let (x, y) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
                let op = [Op::BvAnd, Op::BvOr, Op::BvXor][self.below(3) as usize];
                let (left, right) = (arena.make(op, &[a, b]), arena.make(op, &[x, y]));
                arena.make(op, &[left, right])
            }
            0 => {
                let extend = [Op::Zext(wide), Op::Sext(wide)][self.below(2) as usize];
                let (x, y) = (arena.make(extend, &[a]), arena.make(extend, &[b]));
                let op = [compare, Op::BvAnd, Op::BvOr, Op::BvXor][self.below(4) as usize];
                arena.make(op, &[x, y])
            }
            1 => {
                let (p, q) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
                let (x, y) = (arena.ite(c, a, b), arena.ite(c, p, q));
                arena.make(compare, &[x, y])
            }
            2 => {
                let same = arena.eq(a, b);
                arena.ite(same, a, b)
            }
            3 => {
                let op = [Op::BvAnd, Op::BvOr, Op::BvXor][self.below(3) as usize];
                let outer = [Op::BvAnd, Op::BvOr, Op::BvXor][self.below(3) as usize];
                let inner = arena.make(op, &[a, b]);
                let again = if self.below(2) == 0 { a } else { arena.not(b) };
                arena.make(outer, &[inner, again])
            }
            4 => {
                let d = self.constant(arena, width);
                let moved = arena.add(a, d);
                if self.below(2) == 0 { arena.ite(c, moved, a) } else { arena.make(compare, &[moved, a]) }
            }
            5 => {
                let (p, q) = (self.pick(arena, Sort::Bool), self.pick(arena, Sort::Bool));
                let not_c = arena.bool_not(c);
                let (x, y) = (arena.bool_or(not_c, p), arena.bool_or(c, q));
                arena.bool_and(x, y)
            }
            6 => {
                let extend = [Op::Zext(wide), Op::Sext(wide)][self.below(2) as usize];
                let (x, y) = (arena.make(extend, &[a]), arena.make(extend, &[b]));
                arena.ite(c, x, y)
            }
            _ => {
                let top = arena.extract(a, width - 1, width - 1);
                let high = arena.sext(top, width);
                arena.concat(high, a)
            }
        }
    }

    /// What compilers and instruction semantics emit.
    pub(super) fn idiom(&mut self, arena: &mut Arena) -> TermId {
        let width = [7, 8, 8, 16, 32, 64][self.below(6) as usize];
        let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
        match self.below(14) {
            0 | 1 => {
                // Conditions of a comparison.
                let zero = arena.bv(width, 0);
                let difference = arena.sub(a, b);
                let (less, below) = (arena.slt(a, b), arena.ult(a, b));
                let sign = arena.slt(difference, zero);
                let equal = arena.eq(difference, zero);
                let overflow = arena.bool_xor(less, sign);
                let signed = arena.bool_xor(sign, overflow);
                match self.below(4) {
                    0 => arena.bool_or(equal, signed),
                    1 => arena.bool_or(equal, below),
                    2 => {
                        let either = arena.bool_or(equal, below);
                        arena.bool_not(either)
                    }
                    _ => signed,
                }
            }
            2 => {
                let c = self.pick(arena, Sort::Bool);
                arena.bool_to_bv(c, width)
            }
            3 => {
                // Choice by mask.
                let c = self.pick(arena, Sort::Bool);
                let mask = arena.bool_to_bv(c, width);
                let mask = arena.neg(mask);
                match self.below(3) {
                    0 => arena.and(mask, a),
                    1 => arena.xor(mask, a),
                    _ => {
                        let flipped = arena.xor(mask, a);
                        arena.sub(flipped, mask)
                    }
                }
            }
            4 => {
                let c = self.constant(arena, width);
                let range = arena.sub(a, c);
                let limit = self.constant(arena, width);
                arena.ult(range, limit)
            }
            5 => self.unsigned_magic(arena, a),
            6 => self.signed_magic(arena, a),
            7 => {
                // Two bounds.
                let (c, d) = (self.constant(arena, width), self.constant(arena, width));
                let (low, high) = if self.below(2) == 0 {
                    (arena.ult(a, c), arena.ult(a, d))
                } else {
                    (arena.slt(a, c), arena.slt(a, d))
                };
                let low = arena.bool_not(low);
                if self.below(2) == 0 { arena.bool_and(low, high) } else { arena.bool_or(low, high) }
            }
            8 => {
                let half = width / 2;
                let (x, y) = (self.pick(arena, Sort::Bv(8)), self.pick(arena, Sort::Bv(8)));
                let (x, y) = (arena.zext(x, 32), arena.zext(y, 32));
                let n = arena.bv(32, u64::from(half.max(8)));
                let high = arena.shl(x, n);
                match self.below(3) {
                    0 => arena.or(high, y),
                    1 => arena.add(high, y),
                    _ => arena.xor(high, y),
                }
            }
            9 => {
                // Division at double width, as the instruction does it; narrow ones are within a solver's reach.
                let width = [4, width][self.below(2) as usize];
                let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
                let wide = 2 * width;
                let signed = self.below(2) == 0;
                let (x, y) = if signed {
                    (arena.sext(a, wide), arena.sext(b, wide))
                } else {
                    (arena.zext(a, wide), arena.zext(b, wide))
                };
                let quotient = if signed { arena.sdiv(x, y) } else { arena.udiv(x, y) };
                match self.below(4) {
                    0 => arena.truncate(quotient, width),
                    1 => arena.extract(quotient, wide - 1, width),
                    2 => {
                        let low = arena.truncate(quotient, width);
                        let back = if signed { arena.sext(low, wide) } else { arena.zext(low, wide) };
                        arena.eq(back, quotient)
                    }
                    _ if signed && self.below(2) == 0 => {
                        let c = arena.bv(width, 3 + self.below(4));
                        let rest = arena.srem(a, c);
                        let low = arena.truncate(rest, width - 1);
                        arena.sext(low, wide)
                    }
                    _ if signed => arena.srem(x, y),
                    _ => arena.urem(x, y),
                }
            }
            10 => {
                // Align down, and the rest.
                let mask = self.below(u64::from(width - 1)) as u16 + 1;
                let mask = arena.constant(Bits::ones(mask).zext(width));
                let up = arena.not(mask);
                let aligned = arena.and(a, up);
                if self.below(2) == 0 { arena.sub(a, aligned) } else { aligned }
            }
            11 => {
                // Nested choices with shared branches.
                let (c, d) = (self.pick(arena, Sort::Bool), self.pick(arena, Sort::Bool));
                let inner = arena.ite(c, a, b);
                let other = if self.below(2) == 0 { a } else { b };
                if self.below(2) == 0 { arena.ite(d, inner, other) } else { arena.ite(d, other, inner) }
            }
            12 => {
                let c = self.pick(arena, Sort::Bool);
                let d = self.pick(arena, Sort::Bool);
                let not_c = arena.bool_not(c);
                let (left, right) = (arena.bool_and(c, d), arena.bool_or(not_c, d));
                match self.below(3) {
                    0 => arena.bool_or(not_c, left),
                    1 => arena.bool_and(c, right),
                    _ => {
                        let other = self.pick(arena, Sort::Bool);
                        let rest = arena.bool_and(not_c, other);
                        arena.bool_or(left, rest)
                    }
                }
            }
            _ => {
                // A linear equation.
                let mut sum = Linear::of(arena, a);
                let factor = Bits::from_i64(width, self.below(12) as i64 - 6);
                sum.add_scaled(arena, b, factor);
                let left = sum.build(arena);
                let right = self.pick(arena, Sort::Bv(width));
                arena.eq(left, right)
            }
        }
    }

    /// Division by a constant as a multiplication, sometimes with a wrong magic number.
    fn unsigned_magic(&mut self, arena: &mut Arena, x: TermId) -> TermId {
        let n = arena.width(x);
        let d = 3 + 2 * self.below(if n > 8 { 500 } else { 30 });
        let s = 64 - d.leading_zeros() as u16;
        let (one, l) = (Bits::new(256, 1), n + s);
        let m = one.shl(Bits::new(16, u64::from(l))).udiv(Bits::new(256, d)).add(one);
        let m = m.add(Bits::new(256, u64::from(self.below(8) == 0)));
        let wide = arena.zext(x, 2 * n);
        if m.leading_zeros() >= 256 - n {
            let m = arena.constant(m.resize(2 * n));
            let product = arena.mul(wide, m);
            return arena.extract(product, 2 * n - 1, l.min(2 * n - 1));
        }
        let m = arena.constant(m.resize(n).zext(2 * n));
        let product = arena.mul(wide, m);
        let t = arena.extract(product, 2 * n - 1, n);
        let difference = arena.sub(x, t);
        let one = arena.bv(n, 1);
        let half = arena.lshr(difference, one);
        let sum = arena.add(half, t);
        let shift = arena.bv(n, u64::from(s - 1));
        arena.lshr(sum, shift)
    }

    /// `x mod d = r` as a product with the inverse of the odd part, rotated and compared.
    fn divisible(&mut self, arena: &mut Arena, x: TermId) -> TermId {
        let n = arena.width(x);
        let k = self.below(3) as u16;
        let odd = 3 + 2 * self.below(4);
        let d = Bits::new(n, odd << k);
        let mut m = Bits::new(n, odd);
        for _ in 0..8 {
            m = m.mul(Bits::new(n, 2).sub(m.mul(Bits::new(n, odd))));
        }
        let (r, signed) = (Bits::new(n, self.below(odd << k)), self.below(2) == 0);
        let multiple = Bits::ones(n).lshr(Bits::new(n, 1)).udiv(d);
        let (offset, last) = match signed {
            true => (multiple.shl(Bits::new(16, u64::from(k))), multiple.add(multiple)),
            false => (r.mul(m).neg(), Bits::ones(n).sub(r).udiv(d)),
        };
        let (m, offset, last) = (arena.constant(m), arena.constant(offset), arena.constant(last));
        let product = arena.mul(x, m);
        let product = arena.add(product, offset);
        let rotated = match k {
            0 => product,
            _ => {
                let (low, high) = (arena.truncate(product, k), arena.extract(product, n - 1, k));
                let rotated = arena.concat(low, high);
                if self.below(3) == 0 {
                    // As the negated flags after a comparison.
                    let (carry, zero) = (arena.ult(rotated, last), arena.eq(rotated, last));
                    let (carry, zero) = (arena.bool_not(carry), arena.bool_not(zero));
                    let part = arena.truncate(x, k);
                    let zeros = arena.bv(k, 0);
                    let aligned = arena.eq(part, zeros);
                    return arena.bool_and_all(&[aligned, zero, carry]);
                }
                if self.below(3) == 0 {
                    let part = arena.truncate(x, k);
                    let residue = arena.constant(r.resize(k));
                    let apart = arena.ne(part, residue);
                    let most = arena.as_const(last).unwrap_or(Bits::ones(n));
                    let block = Bits::ones(k).zext(n);
                    let most = arena.constant(most.shl(Bits::new(16, u64::from(k))).or(block));
                    let outside = arena.ult(most, product);
                    return arena.bool_or(apart, outside);
                }
                rotated
            }
        };
        arena.ule(rotated, last)
    }

    fn signed_magic(&mut self, arena: &mut Arena, x: TermId) -> TermId {
        let n = arena.width(x);
        let d = 3 + self.below(if n > 8 { 500 } else { 30 });
        let negative = self.below(4) == 0;
        let s = 64 - (d - 1).leading_zeros() as u16 - 1;
        let (one, l) = (Bits::new(256, 1), n + s);
        let m = one.shl(Bits::new(16, u64::from(l))).udiv(Bits::new(256, d)).add(one);
        let m = m.add(Bits::new(256, u64::from(self.below(8) == 0)));
        let wide = arena.sext(x, 2 * n);
        let corrected = m.bit(n - 1);
        let m = arena.constant(if corrected { m.resize(n).sext(2 * n) } else { m.resize(2 * n) });
        let m = if negative { arena.neg(m) } else { m };
        let product = arena.mul(wide, m);
        let high = arena.extract(product, 2 * n - 1, n);
        let high = if corrected { arena.add(high, x) } else { high };
        let shift = arena.bv(n, u64::from(s));
        let shifted = arena.ashr(high, shift);
        let last = arena.bv(n, u64::from(n - 1));
        let sign = if self.below(2) == 0 { arena.ashr(x, last) } else { arena.ashr(high, last) };
        match self.below(3) {
            0 => arena.sub(sign, shifted),
            _ => arena.sub(shifted, sign),
        }
    }
}
