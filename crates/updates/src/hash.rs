//! Values as 128-bit hashes: no table, no memory per value.
//!
//! A symbolic value is the hash of its operator, its type and its operands' hashes. Two programs whose values have equal
//! hashes compute equal terms unless the hash collides: the assumption `hash-128`. The mix is MurmurHash3's 128-bit
//! body and finaliser; each step is a bijection of the state, so no operand can cancel another.
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

struct Mixer {
    one: u64,
    two: u64,
    length: u64,
}

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

impl Mixer {
    #[inline]
    fn new(seed: u64) -> Mixer {
        Mixer { one: seed, two: seed, length: 0 }
    }

    #[inline]
    fn block(&mut self, low: u64, high: u64) {
        let first = low.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2);
        self.one = (self.one ^ first).rotate_left(27).wrapping_add(self.two).wrapping_mul(5).wrapping_add(0x52dc_e729);
        let second = high.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1);
        self.two = (self.two ^ second).rotate_left(31).wrapping_add(self.one).wrapping_mul(5).wrapping_add(0x3849_5ab5);
        self.length += 16;
    }

    #[inline]
    fn finish(self) -> Hashed {
        let (mut one, mut two) = (self.one ^ self.length, self.two ^ self.length);
        one = one.wrapping_add(two);
        two = two.wrapping_add(one);
        one = finalise(one);
        two = finalise(two);
        one = one.wrapping_add(two);
        two = two.wrapping_add(one);
        Hashed { high: (two | SYMBOLIC) & !FLAG, low: one }
    }
}

#[inline]
fn finalise(mut k: u64) -> u64 {
    k ^= k >> 33;
    k = k.wrapping_mul(0xff51_afd7_ed55_8ccd);
    k ^= k >> 33;
    k = k.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    k ^ (k >> 33)
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
