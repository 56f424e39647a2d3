//! Concrete numbers along a path: every function that is not known is a seeded hash of its inputs.
//!
//! Both sides start from the same registers and walk the same path; a value of either side is then a number. Values that
//! are equal in every run have equal numbers; two numbers that differ show that the values differ in this run, in the
//! interpretation that the hash gives to unknown functions. Sums, extraction and concatenation have their real meaning.
//! Stores are not seen by loads of the same visit. Undefined values
//! of the original are zero, and what depends on one is tainted: its number proves nothing.

use crate::product::{Edge, Point, carried_over};
use crate::values::{Id, Ids, Kind, Side, Values, low_mask};
use crate::{Commute, Function, Place};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A bit string of up to 512 bits; the rest is zero.
type Words = [u64; 8];

/// What a value is in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Number {
    /// The bits.
    pub words: [u64; 8],
    /// Does it depend on something undefined?
    pub tainted: bool,
}

/// What a run says about two values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Agreement {
    /// They differ.
    Differ,
    /// Nothing.
    Unclear,
    /// They are the same number.
    Equal,
}

impl Agreement {
    /// Of two numbers.
    pub fn of(a: Option<Number>, b: Option<Number>) -> Agreement {
        match (a, b) {
            (Some(x), Some(y)) if x.words == y.words => Agreement::Equal,
            (Some(x), Some(y)) if !x.tainted && !y.tainted => Agreement::Differ,
            _ => Agreement::Unclear,
        }
    }
}

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
    /// By visit and side: what is undefined means something else on each.
    memo: FxHashMap<(u32, Id), Slot>,
    /// Numbers that do not fit one word.
    wide: Vec<Words>,
    seed: u64,
    /// Whose values are being computed. What we do not know of the original proves nothing.
    side: Side,
    purpose: Purpose,
}

/// What a run is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// To decide between ways of pairing, on paths that may be impossible.
    Compare,
    /// To show a mistake.
    Refute,
}

/// A remembered number: its lowest word, or where the words are if there are more.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Unknown,
    Narrow(u64, bool),
    Wide(u32, bool),
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
    pub edges: &'a [Edge],
}

/// Visits of each point.
const LEVELS: usize = 4;
/// Deepest evaluation.
const DEEPEST: usize = 20_000;

impl Trial {
    /// A few visits of every point: one on a shortest path, the others by way of other edges, loops among them.
    pub fn everywhere(points: &[Point], edges: &[Edge], seed: u64) -> Trial {
        let count = points.len();
        let mut visits = Vec::with_capacity(LEVELS * count);
        for level in 0..LEVELS {
            for (index, point) in points.iter().enumerate() {
                let ways = point.into.len();
                let before = if level > 0 && ways > 1 {
                    let edge = point.into[ways - 1 - (level - 1) % ways];
                    Some((edge, (level - 1) * count + edges[edge].from))
                } else {
                    point.into.first().filter(|_| index > 0).map(|e| (*e, level * count + edges[*e].from))
                };
                visits.push(Visit { point: index, before });
            }
        }
        Trial::over(visits, seed, Purpose::Compare)
    }

    fn over(visits: Vec<Visit>, seed: u64, purpose: Purpose) -> Trial {
        Trial { visits, memo: FxHashMap::default(), wide: Vec::new(), seed, side: Side::Candidate, purpose }
    }

    /// The visits along a path of edges from the entry.
    pub fn along(edges: &[Edge], path: &[usize], seed: u64) -> Trial {
        let mut visits = vec![Visit { point: 0, before: None }];
        for (index, edge) in path.iter().enumerate() {
            visits.push(Visit { point: edges[*edge].to, before: Some((*edge, index)) });
        }
        Trial::over(visits, seed, Purpose::Refute)
    }

    /// May the two values be equal at a point? Only if they are on all visits.
    pub fn agree(&mut self, values: &mut Values, stage: &mut Stage<'_>, point: usize, a: Id, b: Id) -> Agreement {
        let count = self.visits.len() / LEVELS;
        let mut worst = Agreement::Equal;
        for visit in (0..LEVELS).map(|level| level * count + point) {
            let (x, y) =
                (self.at(values, stage, visit, Side::Original, a), self.at(values, stage, visit, Side::Candidate, b));
            worst = worst.min(Agreement::of(x, y));
            if worst == Agreement::Differ {
                break;
            }
        }
        worst
    }

    /// All visits.
    pub fn visits(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let points: Vec<usize> = self.visits.iter().map(|visit| visit.point).collect();
        points.into_iter().enumerate()
    }

    /// The edges that lead to a visit from the entry.
    pub fn path_to(&self, visit: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = visit;
        while let Some((edge, before)) = self.visits.get(at).and_then(|visit| visit.before) {
            path.push(edge);
            at = before;
        }
        path.reverse();
        path
    }

    /// The number of a value at a visit.
    pub fn at(
        &mut self,
        values: &mut Values,
        stage: &mut Stage<'_>,
        visit: usize,
        side: Side,
        id: Id,
    ) -> Option<Number> {
        self.side = side;
        self.number(values, stage, visit, id, 0)
    }

    fn number(
        &mut self,
        values: &mut Values,
        stage: &mut Stage<'_>,
        visit: usize,
        id: Id,
        depth: usize,
    ) -> Option<Number> {
        if depth > DEEPEST {
            return None;
        }
        let key = (2 * visit as u32 + u32::from(self.side == Side::Original), id);
        if let Some(known) = self.memo.get(&key) {
            return match *known {
                Slot::Unknown => None,
                Slot::Narrow(word, tainted) => Some(Number { words: single(word), tainted }),
                Slot::Wide(index, tainted) => Some(Number { words: self.wide[index as usize], tainted }),
            };
        }
        // Each visit depends on earlier ones only, so no value depends on itself.
        let number = self.compute(values, stage, visit, id, depth);
        let slot = match number {
            None => Slot::Unknown,
            Some(Number { words, tainted }) if words[1..] == [0; 7] => Slot::Narrow(words[0], tainted),
            Some(Number { words, tainted }) => {
                self.wide.push(words);
                Slot::Wide(self.wide.len() as u32 - 1, tainted)
            }
        };
        self.memo.insert(key, slot);
        number
    }

    fn compute(
        &mut self,
        values: &mut Values,
        stage: &mut Stage<'_>,
        visit: usize,
        id: Id,
        depth: usize,
    ) -> Option<Number> {
        let bits = values.bits(id);
        let kind = values.kind(id);
        if crate::is_input(values, id) {
            return self.input(values, stage, visit, id, depth);
        }
        let mut tainted = false;
        let mut number = |trial: &mut Trial, values: &mut Values, id: Id| -> Option<Words> {
            let number = trial.number(values, stage, visit, id, depth + 1)?;
            tainted |= number.tainted;
            Some(number.words)
        };
        let words = match kind {
            Kind::Constant(value) => single(value),
            Kind::Symbol(symbol) => self.hash(&[1, u64::from(symbol.0)]),
            // What the candidate leaves undefined may be anything, as what it has lost.
            Kind::Undefined(number, first) if self.side == Side::Candidate && self.purpose == Purpose::Refute => {
                let whole = self.hash(&[8, visit as u64, u64::from(number)]);
                return Some(Number { words: cut(shift_right(whole, first), bits), tainted: false });
            }
            Kind::Undefined(..) => return Some(Number { words: [0; 8], tainted: true }),
            Kind::Junk(junk) => {
                // Each side has its own unknown values, so a remembered number is never one of the other side.
                let words = cut(self.hash(&[7, u64::from(junk)]), bits);
                return Some(Number { words, tainted: self.side == Side::Original });
            }
            Kind::Input(..) => return None,
            Kind::Event(event) => self.hash(&[2, visit as u64, u64::from(event)]),
            Kind::Extract(low) => shift_right(number(self, values, values.arg(id, 0))?, low),
            Kind::Concat => {
                let parts: Ids = values.args(id).collect();
                let mut total = [0; 8];
                let mut at = 0;
                for part in parts {
                    let piece = shift_left(number(self, values, part)?, at);
                    (0..8).for_each(|i| total[i] |= piece[i]);
                    at += values.bits(part);
                }
                total
            }
            Kind::Linear(constant) => {
                let (_, terms) = values.terms(id);
                let mut sum = constant;
                for (factor, term) in terms {
                    sum = sum.wrapping_add(factor.wrapping_mul(number(self, values, term)?[0]));
                }
                single(sum)
            }
            Kind::Apply(name, commute) => {
                let args: Ids = values.args(id).collect();
                let mut words: SmallVec<[u64; 32]> = smallvec![3, u64::from(name.0)];
                let mut numbers: SmallVec<[Words; 4]> = SmallVec::new();
                for arg in args {
                    numbers.push(number(self, values, arg)?);
                }
                if commute != Commute::Never && numbers.len() >= 2 && numbers[0] > numbers[1] {
                    numbers.swap(0, 1);
                }
                words.extend(numbers.into_iter().flatten());
                tainted |= commute == Commute::Rewritten;
                self.hash(&words)
            }
            Kind::Result(index) => {
                let of = number(self, values, values.arg(id, 0))?;
                let [a, b, c, d, e, f, g, h] = of;
                self.hash(&[4, u64::from(index), a, b, c, d, e, f, g, h])
            }
            Kind::Load(version) => {
                let args: Ids = values.args(id).collect();
                // Stores between two loads of one address are ignored: a load may have been moved across them.
                let place = if version == crate::values::IMMUTABLE { 0 } else { visit as u64 + 1 };
                let mut words: SmallVec<[u64; 20]> = smallvec![5, place, u64::from(bits)];
                for arg in args {
                    words.extend(number(self, values, arg)?);
                }
                self.hash(&words)
            }
        };
        Some(Number { words: cut(words, bits), tainted })
    }

    /// What a location held at a visit: what the visit before left there.
    fn input(
        &mut self,
        values: &mut Values,
        stage: &mut Stage<'_>,
        visit: usize,
        id: Id,
        depth: usize,
    ) -> Option<Number> {
        let Visit { before, .. } = *self.visits.get(visit)?;
        if let Some((edge, previous)) = before {
            let edge = &stage.edges[edge];
            let carried = carried_over(values, stage.original, stage.candidate, edge, id);
            return self.number(values, stage, previous, carried, depth + 1);
        }
        let (of, low) = match values.kind(id) {
            Kind::Extract(low) => (values.arg(id, 0), low),
            _ => (id, 0),
        };
        let Kind::Input(side, location) = values.kind(of) else { return None };
        // Both start with the same registers. What a slot of the candidate holds at entry may be anything.
        let tainted = side == Side::Original && !matches!(location.place(), Place::Physical(_));
        let whole = self.hash(&[6, u64::from(location.number())]);
        Some(Number { words: cut(shift_right(whole, low), values.bits(id)), tainted })
    }

    fn hash(&self, words: &[u64]) -> Words {
        let mut state = self.seed ^ 0x9e37_79b9_7f4a_7c15;
        for word in words {
            state = mix(state ^ word.wrapping_mul(0xff51_afd7_ed55_8ccd));
        }
        std::array::from_fn(|i| mix(state.wrapping_add(i as u64 + 1)))
    }
}

fn single(value: u64) -> Words {
    let mut words = [0; 8];
    words[0] = value;
    words
}

fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

fn cut(number: Words, bits: u16) -> Words {
    std::array::from_fn(|i| {
        let below = (bits as usize).saturating_sub(64 * i);
        if below >= 64 { number[i] } else { number[i] & low_mask(below as u16) }
    })
}

fn shift_right(number: Words, low: u16) -> Words {
    let (words, bits) = (low as usize / 64, u32::from(low) % 64);
    std::array::from_fn(|i| {
        let at = |k: usize| number.get(k).copied().unwrap_or(0);
        if bits == 0 { at(i + words) } else { at(i + words) >> bits | at(i + words + 1) << (64 - bits) }
    })
}

fn shift_left(number: Words, by: u16) -> Words {
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
