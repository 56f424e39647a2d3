//! Where conditions are tried out: start states are changed to satisfy or to violate atoms, and both programs run on them.
//!
//! What runs agree on is remembered by the atoms that hold there: an atom that many agreeing runs violate says too much.

use super::atom::{Atom, Scene};
use super::number::{Form, Word, scalar_at, words};
use crate::objects::inputs::{Input, LOOP_ROUNDS, Stream};
use crate::objects::refute::{Judged, Runner};
use interpreter::Seed;
use program::Function;
use std::time::Instant;
use term::Arena;

/// How floating-point numbers of start states are chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Floats {
    /// In any way.
    Any,
    /// Small whole numbers above zero, on which the laws of real numbers hold.
    Exact,
}

/// An agreeing run.
struct Agreement {
    steps: usize,
    /// Does each atom of the pool hold?
    holds: Vec<bool>,
}

/// A pair under trial.
pub(crate) struct Lab<'r, 'a> {
    pub arena: &'r Arena,
    pub runner: Runner<'a>,
    pub original: &'a Function,
    pub words: Vec<Option<Word>>,
    pub pool: Vec<Atom>,
    pub floats: Floats,
    pub deadline: Instant,
    /// Start states on which the programs disagree.
    pub differing: Vec<Input>,
    agreements: Vec<Agreement>,
    seed: u64,
    round: u64,
}

/// Points that the original may enter.
const FUEL: usize = 5000;
/// Agreeing runs that are remembered.
const MOST_AGREEMENTS: usize = 400;
/// Start states on which the programs disagree that are remembered.
const MOST_DIFFERING: usize = 48;
/// How often all atoms are made to hold, one after the other.
const PROJECTIONS: usize = 4;
/// Bytes behind a pointer to floating-point numbers that are made exact.
const EXACT_BYTES: u64 = 4096;

impl<'r, 'a> Lab<'r, 'a> {
    pub fn new(arena: &'r Arena, runner: Runner<'a>, seed: u64, deadline: Instant) -> Lab<'r, 'a> {
        let original = runner.functions[0];
        let words = words(original, &runner.arguments);
        Lab {
            arena,
            runner,
            original,
            words,
            pool: Vec::new(),
            floats: Floats::Any,
            deadline,
            differing: Vec::new(),
            agreements: Vec::new(),
            seed,
            round: 0,
        }
    }

    pub fn scene(&mut self) -> Scene<'_, 'a> {
        Scene { arena: self.arena, words: &self.words, runner: &mut self.runner }
    }

    /// Is the time up?
    pub fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// A stream of random numbers that nobody else has.
    pub fn stream(&mut self) -> Stream {
        self.round += 1;
        Stream::new(Seed(self.seed).split(0x1ab0_0000 + self.round))
    }

    /// The next random start state; every second one makes loops go round.
    pub fn next_input(&mut self) -> Input {
        self.round += 1;
        let number = if self.round.is_multiple_of(2) { LOOP_ROUNDS + self.round } else { self.round % 509 };
        let mut input = self.runner.random_input(self.arena, Seed(self.seed), number);
        input.fuel = FUEL;
        input
    }

    /// Makes most of the numbers of turns so small that loops end.
    pub fn make_modest(&mut self, input: &mut Input, stream: &mut Stream) {
        for i in 0..self.words.len() {
            let number = self.words[i].as_ref().is_some_and(|w| matches!(w.form, Form::Signed | Form::Unsigned));
            if number && input.values[i].low() > 64 && !stream.one_in(4) {
                let value = 1 + stream.next() % 24;
                input.set(&self.runner.arguments, i, term::Bits::new(64, value));
            }
        }
    }

    /// The element size behind each argument that is a pointer.
    pub fn element(&self, argument: usize) -> Option<i64> {
        element(self.original, &self.words, argument)
    }

    /// The atom as `--assume` takes it.
    pub fn text(&self, atom: &Atom) -> String {
        atom.text(&self.words, |i| self.element(i))
    }

    /// Does an atom hold in a start state?
    pub fn holds(&mut self, atom: &Atom, input: &Input) -> bool {
        atom.holds(&mut self.scene(), input)
    }

    /// Do they all?
    pub fn all_hold<'b>(&mut self, atoms: impl IntoIterator<Item = &'b Atom>, input: &Input) -> bool {
        atoms.into_iter().all(|atom| self.holds(atom, input))
    }

    /// The start state, changed so that all atoms hold; `None` if that does not succeed.
    pub fn projected<'b>(&mut self, input: &Input, atoms: impl IntoIterator<Item = &'b Atom>) -> Option<Input> {
        let mut atoms: Vec<Atom> = atoms.into_iter().cloned().collect();
        join_multiples(&mut atoms);
        // Pointers and numbers first: what memory holds depends on where it is.
        atoms.sort_by_key(|atom| (atom.kind() == super::atom::Kind::Content, std::cmp::Reverse(atom.strength())));
        let mut out = input.clone();
        for _ in 0..PROJECTIONS {
            for atom in &atoms {
                atom.project(&mut self.scene(), &mut out);
            }
            if self.all_hold(&atoms, &out) {
                return Some(out);
            }
        }
        None
    }

    /// Runs both programs.
    pub fn judge(&mut self, input: &Input) -> Judged {
        let exact;
        let input = match self.floats {
            Floats::Any => input,
            Floats::Exact => {
                exact = self.made_exact(input);
                &exact
            }
        };
        let judged = self.runner.judged(self.arena, input);
        match &judged {
            Judged::Agrees { steps } if self.agreements.len() < MOST_AGREEMENTS => {
                let steps = *steps;
                let pool = std::mem::take(&mut self.pool);
                let holds = pool.iter().map(|atom| self.holds(atom, input)).collect();
                self.pool = pool;
                self.agreements.push(Agreement { steps, holds });
            }
            Judged::Differs(found) => {
                if self.differing.len() >= MOST_DIFFERING {
                    self.differing.remove(0);
                }
                self.differing.push(found.input.clone());
            }
            _ => {}
        }
        judged
    }

    /// How many agreeing runs that did something violate an atom of the pool, in thousandths.
    pub fn violations(&self) -> Vec<u32> {
        let least = self.agreements.iter().map(|a| a.steps).min().unwrap_or(0);
        let shortest = if program::order::has_cycle(self.original) { least } else { 0 };
        let telling: Vec<&Agreement> = self.agreements.iter().filter(|a| a.steps > shortest).collect();
        let violated = |i: usize| telling.iter().filter(|a| !a.holds.get(i).copied().unwrap_or(true)).count();
        (0..self.pool.len()).map(|i| (1000 * violated(i) / telling.len().max(1)) as u32).collect()
    }

    /// Forgets the runs so far: the pool is another one.
    pub fn forget(&mut self) {
        self.agreements.clear();
    }

    /// The start state with floating-point numbers that are not exact replaced; equal ones by equal ones.
    fn made_exact(&mut self, input: &Input) -> Input {
        let mut out = input.clone();
        for i in 0..self.words.len() {
            let Some(word) = self.words[i].clone() else { continue };
            if word.form == Form::Float {
                // A zero would bring signs of zeros.
                let now = input.values[i].low();
                let bits = exact(if now == 0 { u64::MAX >> 1 } else { now }, word.bytes, input.seed);
                out.set(&self.runner.arguments, i, term::Bits::new(64, bits));
            }
            let types = &self.original.source_types;
            let Some((_, bytes, Form::Float, _)) = scalar_at(types, &word, 0) else { continue };
            let start = input.values[i].low();
            for at in (0..EXACT_BYTES / u64::from(bytes)).map(|n| start.wrapping_add(n * u64::from(bytes))) {
                let now = self.runner.initial_bytes(self.arena, input, at, bytes);
                let bits = exact(now, bytes, input.seed);
                if bits != now {
                    out.fixed.extend((at..).zip(bits.to_le_bytes().into_iter().take(usize::from(bytes))));
                }
            }
        }
        out
    }
}

/// A floating-point number as it is if it is zero or small and above zero, else another one in its place.
fn exact(bits: u64, bytes: u16, seed: Seed) -> u64 {
    let value = if bytes == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) };
    let is_exact = value == 0.0 && value.is_sign_positive() || (1.0..=40.0).contains(&value) && value.fract() == 0.0;
    if is_exact {
        return bits;
    }
    let small = (1 + seed.mix(bits) % 24) as f64;
    if bytes == 4 { u64::from((small as f32).to_bits()) } else { small.to_bits() }
}

/// The element size behind an argument that is a pointer.
fn element(original: &Function, words: &[Option<Word>], argument: usize) -> Option<i64> {
    let pointee = words[argument].as_ref()?.pointee?;
    super::number::size_of(&original.source_types, pointee).and_then(|size| i64::try_from(size).ok())
}

/// Several multiples of one number are one multiple.
fn join_multiples(atoms: &mut Vec<Atom>) {
    let mut joined: Vec<Atom> = Vec::new();
    atoms.retain(|atom| {
        let Atom::Multiple { number, of } = atom else { return true };
        let same = joined.iter_mut().find_map(|known| match known {
            Atom::Multiple { number: other, of } if other == number => Some(of),
            _ => None,
        });
        match same {
            Some(known) => *known = *known / gcd(*known, *of) * of,
            None => joined.push(atom.clone()),
        }
        false
    });
    atoms.extend(joined);
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
