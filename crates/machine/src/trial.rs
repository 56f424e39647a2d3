//! Concrete numbers along a path: every function that is not known is a seeded hash of its inputs.
//!
//! Both sides start from the same registers and walk the same path; a value of either side is then a number. Values that
//! are equal in every run have equal numbers; two numbers that differ show that the values differ in this run, in the
//! interpretation that the hash gives to unknown functions. Sums, extraction and concatenation have their real meaning.
//! What depends on something undefined or unknown has no number.

use crate::product::{Edge, Point, carried_over};
use crate::values::{Id, Kind, Values, low_mask};
use crate::{Commute, Function, Place};
use rustc_hash::FxHashMap;

/// A bit string of up to 512 bits; the rest is zero.
pub type Number = [u64; 8];

/// One visit of a point, and how it was reached.
#[derive(Clone, Copy, Debug)]
struct Visit {
    point: usize,
    /// Edge and visit before; `None` for the entry.
    before: Option<(usize, usize)>,
}

/// Numbers of values at visits.
#[derive(Debug)]
pub struct Trial {
    visits: Vec<Visit>,
    memo: FxHashMap<(u32, Id), Option<Number>>,
    seed: u64,
}

/// What a trial runs on.
pub struct Stage<'a> {
    /// The original.
    pub original: &'a Function,
    /// The candidate.
    pub candidate: &'a Function,
    /// Points of the product.
    pub points: &'a [Point],
    /// Its edges.
    pub edges: &'a mut [Edge],
}

/// Deepest evaluation.
const DEEPEST: usize = 20_000;

impl Trial {
    /// Two visits of every point: one on a shortest path, and one that prefers to go round a loop once.
    pub fn everywhere(points: &[Point], edges: &[Edge], seed: u64) -> Trial {
        let count = points.len();
        let mut visits = Vec::with_capacity(2 * count);
        for (index, point) in points.iter().enumerate() {
            let before = point.into.first().filter(|_| index > 0).map(|e| (*e, edges[*e].from));
            visits.push(Visit { point: index, before });
        }
        for (index, point) in points.iter().enumerate() {
            let before = match point.into[..] {
                [] => None,
                [.., last] if point.into.len() > 1 => Some((last, edges[last].from)),
                _ if index == 0 => None,
                [only, ..] => Some((only, count + edges[only].from)),
            };
            visits.push(Visit { point: index, before });
        }
        Trial { visits, memo: FxHashMap::default(), seed }
    }

    /// The visits along a path of edges from the entry.
    pub fn along(edges: &[Edge], path: &[usize], seed: u64) -> Trial {
        let mut visits = vec![Visit { point: 0, before: None }];
        for (index, edge) in path.iter().enumerate() {
            visits.push(Visit { point: edges[*edge].to, before: Some((*edge, index)) });
        }
        Trial { visits, memo: FxHashMap::default(), seed }
    }

    /// May the two values be equal at a point? Only if they are on both visits.
    pub fn agree(&mut self, values: &mut Values, stage: &mut Stage<'_>, point: usize, a: Id, b: Id) -> bool {
        let count = self.visits.len() / 2;
        [point, count + point].into_iter().all(|visit| {
            match (self.number(values, stage, visit, a, 0), self.number(values, stage, visit, b, 0)) {
                (Some(x), Some(y)) => x == y,
                _ => true,
            }
        })
    }

    /// The number of a value at a visit.
    pub fn at(&mut self, values: &mut Values, stage: &mut Stage<'_>, visit: usize, id: Id) -> Option<Number> {
        self.number(values, stage, visit, id, 0)
    }

    fn number(&mut self, values: &mut Values, stage: &mut Stage<'_>, visit: usize, id: Id, depth: usize) -> Option<Number> {
        if depth > DEEPEST {
            return None;
        }
        let key = (visit as u32, id);
        if let Some(known) = self.memo.get(&key) {
            return *known;
        }
        // A loop of visits cannot be; but a value must not depend on itself either way.
        self.memo.insert(key, None);
        let number = self.compute(values, stage, visit, id, depth);
        self.memo.insert(key, number);
        number
    }

    fn compute(&mut self, values: &mut Values, stage: &mut Stage<'_>, visit: usize, id: Id, depth: usize) -> Option<Number> {
        let bits = values.bits(id);
        let kind = values.kind(id);
        if crate::is_input(values, id) {
            return self.input(values, stage, visit, id, depth);
        }
        let mut number = |trial: &mut Trial, values: &mut Values, id: Id| trial.number(values, stage, visit, id, depth + 1);
        let raw = match kind {
            Kind::Constant(value) => {
                let mut number = [0; 8];
                number[0] = value;
                return Some(number);
            }
            Kind::Symbol(symbol) => self.hash(&[1, u64::from(symbol.0)]),
            Kind::Undefined(..) | Kind::Junk(_) | Kind::Input(..) => return None,
            Kind::Event(event) => self.hash(&[2, visit as u64, u64::from(event)]),
            Kind::Extract(low) => {
                let of = number(self, values, values.arg(id, 0))?;
                return Some(cut(shift_right(of, low), bits));
            }
            Kind::Concat => {
                let parts: Vec<Id> = values.args(id).collect();
                let mut total = [0; 8];
                let mut at = 0;
                for part in parts {
                    let piece = number(self, values, part)?;
                    let piece = shift_left(piece, at);
                    (0..8).for_each(|i| total[i] |= piece[i]);
                    at += values.bits(part);
                }
                return Some(cut(total, bits));
            }
            Kind::Linear(constant) => {
                let (_, terms) = values.terms(id);
                let mut sum = constant;
                for (factor, term) in terms {
                    sum = sum.wrapping_add(factor.wrapping_mul(number(self, values, term)?[0]));
                }
                let mut total = [0; 8];
                total[0] = sum & low_mask(bits);
                return Some(total);
            }
            Kind::Apply(name, commute) => {
                let args: Vec<Id> = values.args(id).collect();
                let mut words = vec![3, u64::from(name.0)];
                let mut numbers = Vec::with_capacity(args.len());
                for arg in args {
                    numbers.push(number(self, values, arg)?);
                }
                if commute != Commute::Never && numbers.len() >= 2 && numbers[0] > numbers[1] {
                    numbers.swap(0, 1);
                }
                words.extend(numbers.into_iter().flatten());
                self.hash(&words)
            }
            Kind::Result(index) => {
                let of = number(self, values, values.arg(id, 0))?;
                let words: Vec<u64> = [4, u64::from(index)].into_iter().chain(of).collect();
                self.hash(&words)
            }
            Kind::Load(version) => {
                let args: Vec<Id> = values.args(id).collect();
                let place = if version == crate::values::IMMUTABLE { 0 } else { visit as u64 + 1 };
                let mut words = vec![5, place, u64::from(version)];
                for arg in args {
                    words.extend(number(self, values, arg)?);
                }
                self.hash(&words)
            }
        };
        Some(cut(raw, bits))
    }

    /// What a location held at a visit: what the visit before left there.
    fn input(&mut self, values: &mut Values, stage: &mut Stage<'_>, visit: usize, id: Id, depth: usize) -> Option<Number> {
        let Visit { before, .. } = *self.visits.get(visit)?;
        if let Some((edge, previous)) = before {
            let edge = &mut stage.edges[edge];
            let carried = carried_over(values, stage.original, stage.candidate, edge, id);
            return self.number(values, stage, previous, carried, depth + 1);
        }
        let (of, low) = match values.kind(id) {
            Kind::Extract(low) => (values.arg(id, 0), low),
            _ => (id, 0),
        };
        let Kind::Input(_, location) = values.kind(of) else { return None };
        if !matches!(location.place(), Place::Physical(_)) {
            return None;
        }
        let whole = self.hash(&[6, u64::from(location.number())]);
        Some(cut(shift_right(whole, low), values.bits(id)))
    }

    fn hash(&self, words: &[u64]) -> Number {
        let mut state = self.seed ^ 0x9e37_79b9_7f4a_7c15;
        for word in words {
            state = mix(state ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd));
        }
        std::array::from_fn(|i| mix(state.wrapping_add(i as u64 + 1)))
    }
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn cut(number: Number, bits: u16) -> Number {
    std::array::from_fn(|i| {
        let below = (bits as usize).saturating_sub(64 * i);
        if below >= 64 { number[i] } else { number[i] & low_mask(below as u16) }
    })
}

fn shift_right(number: Number, low: u16) -> Number {
    let (words, bits) = (low as usize / 64, u32::from(low) % 64);
    std::array::from_fn(|i| {
        let at = |k: usize| number.get(k).copied().unwrap_or(0);
        if bits == 0 { at(i + words) } else { at(i + words) >> bits | at(i + words + 1) << (64 - bits) }
    })
}

fn shift_left(number: Number, by: u16) -> Number {
    let (words, bits) = (by as usize / 64, u32::from(by) % 64);
    std::array::from_fn(|i| {
        let at = |k: usize| if i >= k { number[i - k] } else { 0 };
        let low = if i >= words { at(words) } else { 0 };
        if bits == 0 {
            low
        } else {
            let carry = if i > words { at(words + 1) >> (64 - bits) } else { 0 };
            low << bits | carry
        }
    })
}
