//! Functions that the clauses say nothing about: equal operands have equal results.
//!
//! Required lazily. A model of the clauses gives values to all operands and results; where two places of one function
//! have equal operands and different results, a lemma is added that says so of their words, and the model is gone.
//! There are finitely many pairs of places, so this ends: without a model there is none of the functions either, and a
//! model without such pairs is a model of the functions.
//!
//! What would go wrong if this module were wrong: a lemma that does not hold would give false proofs; one that is
//! missing gives a model that the evaluator rejects.

use crate::blast::Base;
use crate::circuit::{Circuit, Clauses, Lit, Word};
use crate::smt::Symbol;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use term::TermId;

/// How many lemmas are added before the clauses are asked again.
const LEMMAS_AT_ONCE: usize = 256;

/// Where a function is applied.
struct Place {
    operands: Vec<Word>,
    result: Word,
}

/// The bytes of a memory near one address.
pub(crate) struct Bytes {
    function: Symbol,
    /// Operands beside the address.
    operands: Vec<Word>,
    address: Word,
    /// By distance from the address.
    pub(crate) at: BTreeMap<u64, Word>,
}

/// All places.
#[derive(Default)]
pub(crate) struct Functions {
    /// By function; may its two operands change places?
    places: Vec<(bool, Vec<Place>)>,
    index: FxHashMap<Symbol, usize>,
    /// By memory and sum.
    pub(crate) bytes: FxHashMap<(TermId, Base), Bytes>,
    /// The keys of `bytes` in the order of their coming.
    order: Vec<(TermId, Base)>,
}

/// What a word is in a model: 64 bits at a time.
type Number = Vec<u64>;

/// The number that a word has.
pub(crate) fn number(word: &[Lit], value: &dyn Fn(Lit) -> bool) -> Number {
    word.chunks(64)
        .map(|bits| bits.iter().enumerate().fold(0, |sum, (i, lit)| sum | u64::from(value(*lit)) << i))
        .collect()
}

impl Functions {
    /// Notes a place of a function.
    pub(crate) fn note(&mut self, function: Symbol, commutes: bool, operands: Vec<Word>, result: Word) {
        let at = *self.index.entry(function).or_insert_with(|| {
            self.places.push((commutes, Vec::new()));
            self.places.len() - 1
        });
        self.places[at].1.push(Place { operands, result });
    }

    /// Notes an address near which bytes are read.
    pub(crate) fn add_base(
        &mut self,
        memory: TermId,
        base: Base,
        function: Symbol,
        operands: Vec<Word>,
        address: Word,
    ) {
        self.order.push((memory, base.clone()));
        self.bytes.insert((memory, base), Bytes { function, operands, address, at: BTreeMap::new() });
    }

    /// Adds lemmas that a model violates; how many.
    pub(crate) fn refine<C: Clauses>(&self, circuit: &mut Circuit<C>, value: &dyn Fn(Lit) -> bool) -> usize {
        let mut lemmas = 0;
        for (commutes, places) in &self.places {
            let mut seen: FxHashMap<Vec<Number>, (&Place, Number, bool)> = FxHashMap::default();
            for place in places {
                let mut operands: Vec<Number> = place.operands.iter().map(|word| number(word, value)).collect();
                let swapped = *commutes && operands[0] > operands[1];
                if swapped {
                    operands.swap(0, 1);
                }
                let result = number(&place.result, value);
                match seen.entry(operands) {
                    Entry::Vacant(free) => drop(free.insert((place, result, swapped))),
                    Entry::Occupied(found) => {
                        let (other, known, other_swapped) = found.get();
                        if *known != result && lemmas < LEMMAS_AT_ONCE {
                            lemmas += 1;
                            let mut operands: Vec<&Word> = place.operands.iter().collect();
                            if swapped != *other_swapped {
                                operands.swap(0, 1);
                            }
                            let equal: Vec<Lit> =
                                operands.iter().zip(&other.operands).map(|(a, b)| circuit.equal(a, b)).collect();
                            let same = circuit.all(&equal);
                            require_if(circuit, same, &place.result, &other.result);
                        }
                    }
                }
            }
        }
        lemmas + self.refine_bytes(circuit, value, LEMMAS_AT_ONCE - lemmas)
    }

    fn refine_bytes<C: Clauses>(&self, circuit: &mut Circuit<C>, value: &dyn Fn(Lit) -> bool, most: usize) -> usize {
        type Seen<'a> = FxHashMap<(&'a Symbol, Vec<Number>, u64), (&'a Bytes, u64, Number)>;
        let mut seen: Seen<'_> = FxHashMap::default();
        let mut lemmas = 0;
        for key in &self.order {
            let bytes = &self.bytes[key];
            let operands: Vec<Number> = bytes.operands.iter().map(|word| number(word, value)).collect();
            let address = number(&bytes.address, value)[0];
            let mut done: Vec<(*const Bytes, u64)> = Vec::new();
            for (distance, byte) in &bytes.at {
                let place = (&bytes.function, operands.clone(), address.wrapping_add(*distance));
                let byte = number(byte, value);
                match seen.entry(place) {
                    Entry::Vacant(free) => drop(free.insert((bytes, *distance, byte))),
                    Entry::Occupied(found) => {
                        let (other, at, known) = found.get();
                        let apart = distance.wrapping_sub(*at);
                        let lemma = (std::ptr::from_ref(*other), apart);
                        if *known != byte && !done.contains(&lemma) && lemmas < most {
                            done.push(lemma);
                            lemmas += 1;
                            meet(circuit, bytes, other, apart);
                        }
                    }
                }
            }
        }
        lemmas
    }
}

/// If `a + apart = b`, the bytes of both that are at the same place are equal.
fn meet<C: Clauses>(circuit: &mut Circuit<C>, a: &Bytes, b: &Bytes, apart: u64) {
    let constant: Word = (0..64).map(|i| Lit::constant(apart >> i & 1 == 1)).collect();
    let moved = circuit.add(&a.address, &constant);
    let mut equal: Vec<Lit> = a.operands.iter().zip(&b.operands).map(|(a, b)| circuit.equal(a, b)).collect();
    equal.push(circuit.equal(&moved, &b.address));
    let same = circuit.all(&equal);
    for (distance, byte) in &a.at {
        if let Some(other) = b.at.get(&distance.wrapping_sub(apart)) {
            require_if(circuit, same, byte, other);
        }
    }
}

/// If the condition holds, two words are equal.
fn require_if<C: Clauses>(circuit: &mut Circuit<C>, condition: Lit, a: &[Lit], b: &[Lit]) {
    for (a, b) in a.iter().zip(b) {
        circuit.require(&[!condition, *a, !*b]);
        circuit.require(&[!condition, !*a, *b]);
    }
}
