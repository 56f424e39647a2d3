//! Weaker conditions of the same kind, and bounds that no run can show.

use super::atom::{Atom, Order};
use super::lab::Lab;
use super::learn::Part;
use super::number::{Form, What};
use super::templates::argument;
use crate::objects::inputs::Input;
use crate::objects::refute::{Found, Judged};
use interpreter::Trace;
use program::{Place, Register};
use term::Bits;

/// Start states on which it is tried whether the candidate looks at the high half of a number.
const CUT_TRIALS: usize = 12;

impl Lab<'_, '_> {
    /// Replaces parts by weaker ones as long as runs find no difference then.
    pub(super) fn weaken(&mut self, parts: &mut [Part]) {
        for i in 0..parts.len() {
            for weaker in self.weaker(&parts[i].atom.clone()) {
                if matches!(weaker, Atom::Apart { .. }) || self.is_late() {
                    continue;
                }
                let mut others: Vec<Atom> =
                    parts.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, part)| part.atom.clone()).collect();
                others.push(weaker.clone());
                if self.violation(&others, &parts[i].atom.clone()).is_none() {
                    others.pop();
                    let needed = self.violation(&others, &weaker);
                    parts[i] = Part { atom: weaker, needed };
                    break;
                }
            }
        }
    }

    /// Atoms of the pool that an atom implies, the weakest first.
    pub(super) fn weaker(&self, atom: &Atom) -> Vec<Atom> {
        let implied = |other: &&Atom| match (atom, other) {
            (Atom::Aligned { pointer, to }, Atom::Aligned { pointer: p, to: t }) => p == pointer && t < to,
            (Atom::Multiple { number, of }, Atom::Multiple { number: n, of: o }) => {
                n == number && o < of && of.is_multiple_of(*o)
            }
            (Atom::Below { number, bound }, Atom::Below { number: n, bound: b }) => n == number && b > bound,
            (Atom::AtLeast { number, bound }, Atom::AtLeast { number: n, bound: b }) => n == number && b < bound,
            (Atom::AtMost { number, bound }, Atom::AtMost { number: n, bound: b }) => n == number && b > bound,
            (Atom::Less { numbers, or_equal: false }, Atom::Less { numbers: n, or_equal: true }) => n == numbers,
            (Atom::AtLeast { number, bound: 1.. }, Atom::Unequal { number: n, value: 0 }) => n == number,
            (Atom::Apart { blocks, order: Order::Apart }, Atom::Apart { blocks: b, order }) => {
                b == blocks && *order != Order::Apart
            }
            _ => false,
        };
        let mut out: Vec<Atom> = self.pool.iter().filter(implied).cloned().collect();
        out.sort_by_key(Atom::strength);
        out
    }

    /// Bounds of wide numbers of which the candidate looks at the low half only.
    pub(super) fn cut_numbers(&mut self) -> Vec<Atom> {
        let wide: Vec<usize> = (0..self.words.len())
            .filter(|i| {
                let word = self.words[*i].as_ref();
                word.is_some_and(|w| w.bytes == 8 && matches!(w.form, Form::Signed | Form::Unsigned))
            })
            .collect();
        let results = self.original.signature.iter().flat_map(|s| &s.results).filter_map(|value| match value.place {
            Place::Register(register) => Some(register),
            Place::Stack(_) => None,
        });
        let results: Vec<Register> = results.collect();
        let mut out = Vec::new();
        for i in wide {
            let (mut alike, mut telling, mut looked_at) = (true, false, false);
            for _ in 0..CUT_TRIALS {
                let mut input = self.next_input();
                let low = input.seed.mix(0xc07) % 20;
                input.set(&self.runner.arguments, i, Bits::new(64, low));
                let mut high = input.clone();
                high.set(&self.runner.arguments, i, Bits::new(64, low | 1 << 32));
                let mut more = input.clone();
                more.set(&self.runner.arguments, i, Bits::new(64, low + 1 + high.seed.mix(0xc08) % 20));
                let [here, there, beside] = [&input, &high, &more].map(|input| self.runner.traces(self.arena, input));
                let ended = |end| matches!(end, interpreter::End::Return);
                if !ended(here[1].end) {
                    continue;
                }
                let same = |side: usize, other: &[Trace; 2]| {
                    let (a, b) = (&here[side], &other[side]);
                    let result = |register| a.result(register).map(|r| r.bits) == b.result(register).map(|r| r.bits);
                    let equal = a.end == b.end && a.steps == b.steps && a.changes == b.changes;
                    equal && results.iter().all(|register| result(*register))
                };
                alike &= same(1, &there);
                looked_at |= !same(1, &beside);
                telling |= ended(here[0].end) && !same(0, &there);
            }
            if alike && telling && looked_at {
                let words = [(i, self.words[i].clone())];
                let [(i, Some(word))] = words else { continue };
                // What has a sign keeps it.
                let bits = if word.form == Form::Signed { 31 } else { 32 };
                out.push(Atom::Below { number: argument(i, &[(i, word)]), bound: 1 << bits });
            }
        }
        out
    }

    /// Every wide number bounded, and what has a sign not below zero.
    pub(super) fn bounds_of_all(&self, bits: u32) -> Vec<Atom> {
        let wanted = |atom: &&Atom| match atom {
            Atom::Below { number, bound } => {
                matches!(number.what, What::Argument(_)) && *bound == 1 << bits && number.bytes == 8
            }
            Atom::AtLeast { number, bound: 0 } => matches!(number.what, What::Argument(_)) && number.bytes == 4,
            _ => false,
        };
        self.pool.iter().filter(wanted).cloned().collect()
    }

    /// Pointers aligned as their elements are.
    pub(super) fn natural_alignments(&self) -> Vec<Atom> {
        let wanted = |atom: &&Atom| match atom {
            Atom::Aligned { pointer, to } => self.element(*pointer) == i64::try_from(*to).ok() && *to <= 8,
            _ => false,
        };
        self.pool.iter().filter(wanted).cloned().collect()
    }

    /// The difference on a start state with smaller numbers, as long as a condition holds.
    pub(super) fn smallest(&mut self, input: Input, condition: &[Atom]) -> Option<Found> {
        let Judged::Differs(mut best) = self.judge(&input) else { return None };
        let quiet = Input { effects: interpreter::Effects::Quiet, ..best.input.clone() };
        self.smaller(quiet, condition, &mut best);
        for i in 0..self.words.len() {
            let Some(form) = self.words[i].as_ref().map(|word| word.form).filter(|form| *form != Form::Pointer) else {
                continue;
            };
            for value in [0, 1, 2, 3, 4, 5, 8, 16] {
                if best.input.values[i].low() <= value && form != Form::Float {
                    break;
                }
                let mut smaller = best.input.clone();
                smaller.set(&self.runner.arguments, i, Bits::new(64, value));
                if self.smaller(smaller, condition, &mut best) {
                    break;
                }
            }
        }
        Some(*best)
    }

    fn smaller(&mut self, input: Input, condition: &[Atom], best: &mut Box<Found>) -> bool {
        if !self.all_hold(condition, &input) {
            return false;
        }
        match self.judge(&input) {
            Judged::Differs(found) => {
                *best = found;
                true
            }
            _ => false,
        }
    }
}
