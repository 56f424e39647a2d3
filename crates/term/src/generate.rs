//! Random terms for tests and fuzzing: structured enough that every rewrite rule fires.
//!
//! A [`Generator`] keeps a pool of terms per sort and combines them, mostly recent ones, with random operators and
//! with the idioms that compilers emit. Everything is made with the normalising constructors, so an arena whose `log`
//! is on collects the rules that fired.

use crate::eval::mix;
use crate::{Arena, Bits, FloatOp, Linear, Op, Sort, TermId};
use rustc_hash::FxHashMap;

/// The widths at which terms are generated.
pub const WIDTHS: [u16; 7] = [1, 7, 8, 16, 32, 64, 128];

/// A deterministic source of random terms.
pub struct Generator {
    state: u64,
    pools: FxHashMap<Sort, Vec<TermId>>,
}

impl Generator {
    /// A generator with a few variables and constants of every sort.
    pub fn new(arena: &mut Arena, seed: u64) -> Generator {
        let mut generator = Generator { state: seed, pools: FxHashMap::default() };
        for name in ["p", "q", "r"] {
            let var = arena.var(name, Sort::Bool);
            generator.add(arena, var);
        }
        for width in WIDTHS {
            for name in ["x", "y", "z"] {
                let var = arena.var(&format!("{name}{width}"), Sort::Bv(width));
                generator.add(arena, var);
            }
        }
        let memory = arena.var("m", Sort::Memory);
        generator.add(arena, memory);
        generator
    }

    /// A random number below `limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.state = self.state.wrapping_add(1);
        mix(self.state) % limit
    }

    /// Adds a term to the pool of its sort.
    pub fn add(&mut self, arena: &Arena, term: TermId) {
        self.pools.entry(arena.sort(term)).or_default().push(term);
    }

    /// A term of the sort: usually a recent one, sometimes any.
    pub fn pick(&mut self, arena: &mut Arena, sort: Sort) -> TermId {
        if let Sort::Bv(width) = sort
            && self.below(5) == 0
        {
            return self.constant(arena, width);
        }
        let length = self.pools.get(&sort).map_or(0, Vec::len);
        if length == 0 {
            return arena.var(&format!("v{sort}"), sort);
        }
        let back = if self.below(2) == 0 { self.below(length as u64) } else { self.below(length.min(6) as u64) };
        self.pools[&sort][length - 1 - back as usize]
    }

    /// A constant with a structure that rules look for.
    pub fn constant(&mut self, arena: &mut Arena, width: u16) -> TermId {
        let one = Bits::new(width, 1);
        let shift = Bits::new(16, self.below(u64::from(width)));
        let bits = match self.below(9) {
            0 => Bits::zero(width),
            1 => one,
            2 => Bits::ones(width),
            3 => one.shl(shift),
            4 => one.shl(shift).sub(one),
            5 => one.shl(shift).neg(),
            6 => Bits::from_i64(width, self.below(40) as i64 - 20),
            7 => Bits::ones(width).lshr(shift),
            _ => Bits::from_limbs(width, &[mix(self.state), mix(self.state + 7)]),
        };
        arena.constant(bits)
    }

    fn width(&mut self) -> u16 {
        // Wide terms are slow to check: few of them.
        WIDTHS[if self.below(8) == 0 { 6 } else { self.below(6) as usize }]
    }

    /// Makes one more term, adds it to the pool and returns it.
    pub fn step(&mut self, arena: &mut Arena) -> TermId {
        let term = match self.below(16) {
            0..=2 => self.truth(arena),
            3..=5 => self.slice(arena),
            6..=8 => self.idiom(arena),
            9 => self.memory(arena),
            11 => self.related(arena),
            10 => self.float(arena),
            _ => self.word(arena),
        };
        if arena.topological(&[term]).len() < 60 {
            self.add(arena, term);
        }
        term
    }

    fn truth(&mut self, arena: &mut Arena) -> TermId {
        let width = self.width();
        let sort = if self.below(3) == 0 { Sort::Bool } else { Sort::Bv(width) };
        let (p, q) = (self.pick(arena, Sort::Bool), self.pick(arena, Sort::Bool));
        let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
        match self.below(9) {
            0 => arena.bool_not(p),
            1 => arena.bool_and(p, q),
            2 => arena.bool_or(p, q),
            3 => arena.eq(p, q),
            4 => {
                let (x, y) = (self.pick(arena, sort), self.pick(arena, sort));
                arena.ite(p, x, y)
            }
            5 => arena.eq(a, b),
            6 => arena.ult(a, b),
            7 => arena.slt(a, b),
            _ => {
                let r = self.pick(arena, Sort::Bool);
                arena.ite(p, q, r)
            }
        }
    }

    fn word(&mut self, arena: &mut Arena) -> TermId {
        const BINARY: [Op; 13] = [
            Op::Add, Op::Add, Op::Mul, Op::Udiv, Op::Urem, Op::Sdiv, Op::Srem, Op::BvAnd, Op::BvOr, Op::BvXor, Op::Shl,
            Op::Lshr, Op::Ashr,
        ];
        let width = self.width();
        let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
        match self.below(16) {
            0 => arena.not(a),
            1 => arena.neg(a),
            2 => arena.sub(a, b),
            3 => {
                let c = self.pick(arena, Sort::Bool);
                arena.ite(c, a, b)
            }
            4 => {
                let op = [Op::Popcount, Op::TrailingZeros, Op::LeadingZeros][self.below(3) as usize];
                arena.make(op, &[a])
            }
            _ => {
                let op = BINARY[self.below(13) as usize];
                arena.make(op, &[a, b])
            }
        }
    }

    fn slice(&mut self, arena: &mut Arena) -> TermId {
        let width = self.width();
        let a = self.pick(arena, Sort::Bv(width));
        match self.below(6) {
            0 => {
                let lo = self.below(u64::from(width)) as u16;
                let hi = lo + self.below(u64::from(width - lo)) as u16;
                arena.make(Op::Extract { hi, lo }, &[a])
            }
            1 => {
                let other = self.width();
                let b = self.pick(arena, Sort::Bv(other));
                arena.concat(a, b)
            }
            2 => {
                let to = self.width().max(width);
                arena.zext(a, to)
            }
            3 => {
                let to = self.width().max(width);
                arena.sext(a, to)
            }
            4 => {
                let to = self.width().min(width);
                arena.truncate(a, to)
            }
            _ => {
                // A partial write of a register.
                let to = self.width().min(width);
                let low = self.pick(arena, Sort::Bv(to));
                if to == width {
                    return low;
                }
                let high = arena.extract(a, width - 1, to);
                arena.concat(high, low)
            }
        }
    }

    /// Pairs of terms that have something in common.
    fn related(&mut self, arena: &mut Arena) -> TermId {
        let width = [7, 8, 16, 32][self.below(4) as usize];
        let wide = 2 * width;
        let (a, b) = (self.pick(arena, Sort::Bv(width)), self.pick(arena, Sort::Bv(width)));
        let c = self.pick(arena, Sort::Bool);
        let compare = [Op::Eq, Op::Ult, Op::Slt][self.below(3) as usize];
        match self.below(14) {
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
    fn idiom(&mut self, arena: &mut Arena) -> TermId {
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

    fn memory(&mut self, arena: &mut Arena) -> TermId {
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

    fn float(&mut self, arena: &mut Arena) -> TermId {
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
                match self.below(3) {
                    0 => arena.float(FloatOp::Lt(64), &[x, y]),
                    1 => arena.float(FloatOp::Eq(64), &[x, y]),
                    _ => arena.float(FloatOp::Convert { from: 64, to: 32 }, &[x]),
                }
            }
            12 => arena.float(FloatOp::Truncate { from: width, to: 32 }, &[a]),
            _ => arena.float(FloatOp::Round { from: width, to: 64 }, &[a]),
        }
    }
}
