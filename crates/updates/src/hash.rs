//! Values as 128-bit hashes: no table, no memory per value.
//!
//! A symbolic value is the hash of its operator, its type and its operands' hashes. Two programs whose values have equal
//! hashes compute equal terms unless the hash collides: the assumption `hash-128`. An operand is added to the 128-bit
//! state and mixed in by a multiplication modulo 2^128 and a shift; each step is a bijection of the state, so no
//! operand can cancel another. One more such step ends it.
//!
//! Two of the 128 bits are spent: the top bit tells symbolic values from constants, the next is the flag of
//! [`crate::symbolic`].

use crate::scalar::{Cmp, Constant, Op, Scalar};
use crate::symbolic::{Backing, Tag};

/// A hash, or a constant as itself.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Hashed {
    high: u64,
    low: u64,
}

const SYMBOLIC: u64 = 1 << 63;
const FLAG: u64 = 1 << 62;
const UNWRITTEN: u64 = 0;
const INT: u64 = 1;
const BIG: u64 = 2;
const F32: u64 = 3;
const F64: u64 = 4;

/// Values as hashes.
#[derive(Clone, Copy, Default, Debug)]
pub struct Hashes;

/// The state of hashing: 128 bits.
struct Mixer(u128);

/// Odd, so that multiplication is a bijection; random bits otherwise.
const K1: u128 = 0xda94_2042_e4dd_58b5_9fb2_1c65_1e98_df25;
const K2: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;

impl Mixer {
    #[inline]
    fn new(seed: u64) -> Mixer {
        Mixer(u128::from(seed) << 64 | u128::from(!seed))
    }

    #[inline]
    fn block(&mut self, low: u64, high: u64) {
        let mixed = (self.0 ^ (u128::from(high) << 64 | u128::from(low))).wrapping_mul(K1);
        self.0 = mixed ^ (mixed >> 67);
    }

    #[inline]
    fn finish(self) -> Hashed {
        let mut mixed = self.0 ^ (self.0 >> 64);
        mixed = mixed.wrapping_mul(K2);
        mixed ^= mixed >> 61;
        Hashed { high: ((mixed >> 64) as u64 | SYMBOLIC) & !FLAG, low: mixed as u64 }
    }
}

/// A number for a name, the same in every run.
pub fn name_key(name: &str) -> u64 {
    let mut mixer = Mixer::new(name.len() as u64);
    for chunk in name.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        mixer.block(u64::from_le_bytes(bytes), 1);
    }
    mixer.finish().low
}

/// Folds a value into a running hash: the history of a cell.
pub fn chain(history: Hashed, value: Hashed) -> Hashed {
    let mut mixer = Mixer::new(7);
    mixer.block(history.low, history.high);
    mixer.block(value.low, value.high);
    mixer.finish()
}

#[inline]
fn seed(tag: Tag<'_>) -> u64 {
    let pack = |kind: u64, a: u64, b: u64| kind << 32 | a << 16 | b;
    match tag {
        Tag::Binary(op, ty) => pack(1, op as u64, ty as u64),
        Tag::Compare(cmp, ty) => pack(2, cmp as u64, ty as u64),
        Tag::Convert(from, to) => pack(3, from as u64, to as u64),
        Tag::Choice => pack(4, 0, 0),
        Tag::Call(name, ty) => name_key(name) ^ pack(5, 0, ty as u64),
    }
}

impl Backing for Hashes {
    type Value = Hashed;

    #[inline]
    fn unwritten(&self) -> Hashed {
        Hashed { high: UNWRITTEN, low: 0 }
    }

    #[inline]
    fn constant(&mut self, constant: Constant) -> Hashed {
        let (high, low) = match constant {
            Constant::Int(value) => (INT, value as u64),
            Constant::Big(value) => (BIG, value),
            Constant::F32(bits) => (F32, u64::from(bits)),
            Constant::F64(bits) => (F64, bits),
        };
        Hashed { high, low }
    }

    #[inline]
    fn known(&self, value: Hashed) -> Option<Constant> {
        if value.high & SYMBOLIC != 0 {
            return None;
        }
        match value.high {
            INT => Some(Constant::Int(value.low as i64)),
            BIG => Some(Constant::Big(value.low)),
            F32 => Some(Constant::F32(value.low as u32)),
            F64 => Some(Constant::F64(value.low)),
            _ => None,
        }
    }

    #[inline]
    fn is_symbolic(&self, value: Hashed) -> bool {
        value.high & SYMBOLIC != 0
    }

    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> Hashed {
        let mut mixer = Mixer::new(6 << 32 | ty as u64);
        mixer.block(key, cell);
        mixer.finish()
    }

    #[inline]
    fn apply(&mut self, tag: Tag<'_>, arguments: &[Hashed]) -> Hashed {
        let mut mixer = Mixer::new(seed(tag));
        for argument in arguments {
            mixer.block(argument.low, argument.high);
        }
        mixer.finish()
    }

    /// Without a branch: which hash is the smaller one cannot be predicted.
    #[inline]
    fn sorted(&self, a: Hashed, b: Hashed) -> [Hashed; 2] {
        let number = |v: Hashed| u128::from(v.high) << 64 | u128::from(v.low);
        let swap = 0u64.wrapping_sub(u64::from(number(a) > number(b)));
        let (high, low) = ((a.high ^ b.high) & swap, (a.low ^ b.low) & swap);
        [Hashed { high: a.high ^ high, low: a.low ^ low }, Hashed { high: b.high ^ high, low: b.low ^ low }]
    }

    #[inline]
    fn turned(&self, value: Hashed) -> Hashed {
        Hashed { high: value.high ^ FLAG, low: value.low }
    }

    #[inline]
    fn split(&self, value: Hashed) -> (Hashed, bool) {
        (Hashed { high: value.high & !FLAG, low: value.low }, value.high & SYMBOLIC != 0 && value.high & FLAG != 0)
    }
}

/// Names of operations for the tag numbers above must not move: checked by the tests.
const _: () = assert!(Op::Add as u64 == 0 && Cmp::Lt as u64 == 0 && Scalar::Bool as u64 == 0);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Floating};
    use crate::symbolic::Symbolic;
    use std::collections::HashSet;

    fn domain(mode: Floating) -> Symbolic<Hashes> {
        Symbolic::new(Hashes, mode)
    }

    #[test]
    fn sums_commute_only_where_the_mode_says_so() {
        for (mode, same) in [(Floating::Ieee, true), (Floating::Ordered, false)] {
            let mut d = domain(mode);
            let (a, b) = (d.input(1, 0, Scalar::F64), d.input(1, 1, Scalar::F64));
            let first = d.binary(Op::Add, Scalar::F64, a, b).expect("floats");
            let second = d.binary(Op::Add, Scalar::F64, b, a).expect("floats");
            assert_eq!(first == second, same);
        }
    }

    #[test]
    fn signs_leave_products_and_differences_are_sums() {
        let mut d = domain(Floating::Ieee);
        let (a, b) = (d.input(1, 0, Scalar::F64), d.input(1, 1, Scalar::F64));
        let minus_b = d.negate(Scalar::F64, b).expect("a float");
        let first = d.binary(Op::Sub, Scalar::F64, a, b);
        assert_eq!(first, d.binary(Op::Add, Scalar::F64, a, minus_b));
        let product = d.binary(Op::Mul, Scalar::F64, a, minus_b).expect("floats");
        let other = d.binary(Op::Mul, Scalar::F64, a, b).expect("floats");
        assert_eq!(Ok(product), d.negate(Scalar::F64, other));
        assert_ne!(product, other);
    }

    #[test]
    fn no_collisions_among_small_applications() {
        let mut d = domain(Floating::Ordered);
        let leaves: Vec<Hashed> = (0..64).map(|i| d.input(i / 8, i % 8, Scalar::F64)).collect();
        let mut seen: HashSet<Hashed> = leaves.iter().copied().collect();
        for a in &leaves {
            for b in &leaves {
                for op in [Op::Add, Op::Mul, Op::Div] {
                    for ty in [Scalar::F32, Scalar::F64] {
                        assert!(seen.insert(d.backing.apply(Tag::Binary(op, ty), &[*a, *b])));
                    }
                }
            }
        }
        assert_eq!(seen.len(), 64 + 64 * 64 * 6);
    }
}
