//! Random terms for tests and fuzzing: structured enough that every rewrite rule fires.
//!
//! A [`Generator`] keeps a pool of terms per sort and combines them, mostly recent ones, with random operators and
//! with the idioms that compilers emit. Everything is made with the normalising constructors, so an arena whose `log`
//! is on collects the rules that fired.

mod arithmetic;
mod idioms;
mod worlds;

use crate::eval::mix;
use crate::{Arena, Bits, Op, Sort, TermId};
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
            Op::Add,
            Op::Add,
            Op::Mul,
            Op::Udiv,
            Op::Urem,
            Op::Sdiv,
            Op::Srem,
            Op::BvAnd,
            Op::BvOr,
            Op::BvXor,
            Op::Shl,
            Op::Lshr,
            Op::Ashr,
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
}
