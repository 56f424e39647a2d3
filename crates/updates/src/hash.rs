//! Values as 128-bit hashes: no table, no memory per value.
//!
//! A symbolic value is the hash of its operator, its type and its operands' hashes. Two programs whose values have equal
//! hashes compute equal terms unless the hash collides: the assumption `hash-128`. What is applied is the first block, the operands
//! are the next ones: each block is added to the 128-bit state, which a permutation then mixes completely, so that
//! nothing small in one block (a type, a cell) can cancel against something small in another. Only the first permutation is worked out
//! beforehand: what is applied is one of few.
//!
//! Two of the 128 bits are spent: the top bit tells symbolic values from constants, the next is the flag of
//! [`crate::symbolic`].

use crate::scalar::{Constant, Op, Scalar};
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
#[derive(Clone, Copy)]
struct Mixer(u128);

/// Odd, so that multiplication is a bijection; random bits otherwise.
const K1: u128 = 0xda94_2042_e4dd_58b5_9fb2_1c65_1e98_df25;
const K2: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
/// The state before the first block.
const START: u128 = 0x2438_6a8f_885a_308d_3131_98a2_e037_0734;

/// A permutation of all states in which every bit depends on every bit.
#[inline]
const fn permuted(state: u128) -> u128 {
    let state = (state ^ (state >> 64)).wrapping_mul(K1);
    let state = (state ^ (state >> 65)).wrapping_mul(K2);
    state ^ (state >> 63)
}

impl Mixer {
    /// The state after a first block that says what is hashed.
    #[inline]
    const fn new(kind: u64, a: u64, b: u64) -> Mixer {
        Mixer(permuted(START ^ ((kind as u128) << 64 | (a as u128) << 16 | b as u128)))
    }

    #[inline]
    fn block(&mut self, low: u64, high: u64) {
        self.0 = permuted(self.0 ^ (u128::from(high) << 64 | u128::from(low)));
    }

    #[inline]
    fn finish(self) -> Hashed {
        Hashed { high: ((self.0 >> 64) as u64 | SYMBOLIC) & !FLAG, low: self.0 as u64 }
    }
}

const NAME: u64 = 0;
const BINARY: u64 = 1;
const COMPARE: u64 = 2;
const CONVERT: u64 = 3;
const CHOICE: u64 = 4;
const CALL: u64 = 5;
const INPUT: u64 = 6;
const HISTORY: u64 = 7;

/// First states of operations by operator and type.
const OPERATIONS: [[Mixer; TYPES]; OPERATORS] = {
    let mut table = [[Mixer(0); TYPES]; OPERATORS];
    let mut op = 0;
    while op < OPERATORS {
        let mut ty = 0;
        while ty < TYPES {
            table[op][ty] = Mixer::new(BINARY, op as u64, ty as u64);
            ty += 1;
        }
        op += 1;
    }
    table
};
const TYPES: usize = Scalar::ALL.len();
const OPERATORS: usize = Op::ALL.len();

/// A number for a name, the same in every run.
pub fn name_key(name: &str) -> u64 {
    let mut mixer = Mixer::new(NAME, 0, name.len() as u64);
    for chunk in name.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        mixer.block(u64::from_le_bytes(bytes), 1);
    }
    mixer.finish().low
}

/// Folds a value into a running hash: the history of a cell.
pub fn chain(history: Hashed, value: Hashed) -> Hashed {
    let mut mixer = Mixer::new(HISTORY, 0, 0);
    mixer.block(history.low, history.high);
    mixer.block(value.low, value.high);
    mixer.finish()
}

#[inline]
fn start(tag: Tag<'_>) -> Mixer {
    match tag {
        Tag::Binary(op, ty) => OPERATIONS[op as usize][ty as usize],
        Tag::Compare(cmp, ty) => Mixer::new(COMPARE, cmp as u64, ty as u64),
        Tag::Convert(from, to) => Mixer::new(CONVERT, from as u64, to as u64),
        Tag::Choice => const { Mixer::new(CHOICE, 0, 0) },
        Tag::Call(name, ty) => {
            let mut mixer = Mixer::new(CALL, 0, ty as u64);
            mixer.block(name_key(name), 0);
            mixer
        }
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
        let mut mixer = Mixer::new(INPUT, 0, ty as u64);
        mixer.block(key, cell);
        mixer.finish()
    }

    #[inline]
    fn apply(&mut self, tag: Tag<'_>, arguments: &[Hashed]) -> Hashed {
        let mut mixer = start(tag);
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

/// The table of first states is indexed by these numbers.
const _: () = {
    let mut at = 0;
    while at < TYPES {
        assert!(Scalar::ALL[at] as usize == at);
        at += 1;
    }
    at = 0;
    while at < OPERATORS {
        assert!(Op::ALL[at] as usize == at);
        at += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Domain, Floating};
    use crate::scalar::Cmp;
    use crate::symbolic::Symbolic;
    use crate::terms::{TermRef, Terms};
    use std::collections::{HashMap, HashSet};

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
    fn inputs_of_all_types_positions_and_cells_differ() {
        let mut d = domain(Floating::Ordered);
        let mut seen = HashSet::new();
        let globals = ["g", "h", "static c"].map(|name| name_key(name) | 1 << 63);
        for key in (0..128).chain(globals) {
            for cell in (0..96).chain((7..33).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1])) {
                for ty in Scalar::ALL {
                    assert!(seen.insert(d.backing.input(key, cell, ty)), "{key} {cell} {ty:?}");
                }
            }
        }
    }

    #[test]
    fn applications_to_small_constants_and_inputs_differ() {
        let mut d = domain(Floating::Ordered);
        let mut leaves: Vec<Hashed> = (0..8).map(|i| d.input(i / 4, i % 4, Scalar::ALL[i as usize])).collect();
        for n in [0, 1, 2, 3, 4, 7, 8, 1 << 16, 1 << 32, -1] {
            leaves.push(d.constant(Constant::Int(n)));
            leaves.push(d.constant(Constant::F64(n as u64)));
            leaves.push(d.constant(Constant::F32(n as u32)));
        }
        let leaves: HashSet<Hashed> = leaves.into_iter().collect();
        let mut seen: HashSet<Hashed> = HashSet::new();
        let mut tags: Vec<Tag<'_>> = vec![Tag::Choice];
        for ty in Scalar::ALL {
            tags.extend(Op::ALL.map(|op| Tag::Binary(op, ty)));
            tags.extend([Cmp::Lt, Cmp::Le, Cmp::Eq, Cmp::Ne].map(|cmp| Tag::Compare(cmp, ty)));
            tags.extend(Scalar::ALL.map(|to| Tag::Convert(ty, to)));
            tags.extend(["pow", "powf", "q"].map(|name| Tag::Call(name, ty)));
        }
        for tag in tags {
            for a in &leaves {
                assert!(seen.insert(d.backing.apply(tag, &[*a])));
                for b in &leaves {
                    assert!(seen.insert(d.backing.apply(tag, &[*a, *b])));
                }
            }
        }
    }

    #[test]
    fn every_bit_of_a_block_reaches_every_bit() {
        let samples = 512u64;
        for bit in 0..128 {
            let mut flipped = [0u64; 128];
            for sample in 0..samples {
                // Small numbers, as keys and cells are, and any others.
                let low = if sample % 2 == 0 { sample } else { name_key(&sample.to_string()) };
                let block = u128::from(low) | u128::from(sample / 3) << 64;
                let difference = permuted(START ^ block) ^ permuted(START ^ block ^ (1 << bit));
                for (at, count) in flipped.iter_mut().enumerate() {
                    *count += (difference >> at) as u64 & 1;
                }
            }
            for (at, count) in flipped.iter().enumerate() {
                assert!((samples / 4..=3 * samples / 4).contains(count), "bit {bit} to {at}: {count} of {samples}");
            }
        }
    }

    /// Random programs over both kinds of values: what has one hash is one term.
    #[test]
    fn equal_hashes_are_equal_terms() {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = move |below: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 11) as usize % below
        };
        for _ in 0..300 {
            let mut hashes = domain(Floating::Ieee);
            let mut terms = Symbolic::new(Terms::new(1 << 20), Floating::Ieee);
            let mut values: Vec<(Scalar, Hashed, TermRef)> = Vec::new();
            let mut known: HashMap<Hashed, TermRef> = HashMap::new();
            for ty in Scalar::ALL {
                for cell in 0..2 {
                    values.push((ty, hashes.input(cell % 3, cell, ty), terms.input(cell % 3, cell, ty)));
                }
                let one = if ty.is_float() { Constant::float(ty, 1.0) } else { Constant::Int(1) };
                values.push((ty, hashes.constant(one), terms.constant(one)));
            }
            for _ in 0..200 {
                let (ty, a, x) = values[next(values.len())];
                let same: Vec<_> = values.iter().filter(|v| v.0 == ty).copied().collect();
                let (_, b, y) = same[next(same.len())];
                let to = Scalar::ALL[next(TYPES)];
                let made = match next(5) {
                    0 => (to, hashes.convert(ty, to, a), terms.convert(ty, to, x)),
                    1 => (ty, hashes.negate(ty, a), terms.negate(ty, x)),
                    2 => {
                        let cmp = [Cmp::Lt, Cmp::Le, Cmp::Eq, Cmp::Ne][next(4)];
                        (Scalar::I32, Ok(hashes.compare(cmp, ty, a, b)), Ok(terms.compare(cmp, ty, x, y)))
                    }
                    3 => {
                        let (cond, other) = (hashes.compare(Cmp::Lt, ty, a, b), terms.compare(Cmp::Lt, ty, x, y));
                        (ty, Ok(hashes.choice(cond, a, b)), Ok(terms.choice(other, x, y)))
                    }
                    _ => {
                        let op = Op::ALL[next(if ty.is_float() { 4 } else { OPERATORS })];
                        (ty, hashes.binary(op, ty, a, b), terms.binary(op, ty, x, y))
                    }
                };
                let (ty, Ok(hash), Ok(term)) = made else { continue };
                assert_eq!(*known.entry(hash).or_insert(term), term, "one hash, two terms");
                values.push((ty, hash, term));
            }
        }
    }
}
