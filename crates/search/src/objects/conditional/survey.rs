//! What both programs touch behind each pointer: which blocks, in terms of the arguments, and which cells.

use super::atom::{Atom, Block, Extent};
use super::lab::Lab;
use super::number::{Form, Number, What, scalar_at};
use crate::objects::inputs::Input;
use crate::objects::loops::affine::solve;
use interpreter::{BUFFER_SPACING, BUFFERS};
use program::Side;
use std::collections::{BTreeMap, BTreeSet};
use term::Bits;

/// What was touched behind a pointer in one run.
#[derive(Clone, Default, Debug)]
struct Touched {
    read: BTreeSet<i64>,
    written: BTreeSet<i64>,
}

/// One run: the values of the arguments, and what was touched by the argument that points there.
struct Visit {
    values: Vec<u64>,
    touched: BTreeMap<usize, Touched>,
}

/// What is known of a pointer.
#[derive(Clone, Debug)]
pub(super) struct Surveyed {
    pub block: Option<Block>,
    pub written: bool,
}

/// What both programs touch.
#[derive(Default, Debug)]
pub(super) struct Survey {
    pub pointers: Vec<Surveyed>,
    pub cells: Vec<Number>,
}

/// Runs that are looked at, and distances from a pointer that count.
const RUNS: usize = 40;
const NEAR: i64 = BUFFER_SPACING as i64;
/// Cells beyond these are not looked at.
const MOST_CELLS: usize = 400;

impl Lab<'_, '_> {
    /// Looks where the programs go.
    pub(super) fn survey(&mut self, tests: &[Input]) -> Survey {
        let mut visits: Vec<Visit> = Vec::new();
        let of = |lab: &Lab, form: Form| -> Vec<usize> {
            (0..lab.words.len()).filter(|i| lab.words[*i].as_ref().is_some_and(|w| w.form == form)).collect()
        };
        let pointers = of(self, Form::Pointer);
        let mut numbers = of(self, Form::Unsigned);
        numbers.extend(of(self, Form::Signed));
        for n in 0..RUNS as u64 {
            if self.is_late() {
                break;
            }
            let mut input = self.next_input();
            // Every second run is near a test, if there is one.
            if let (false, Some(test)) = (tests.is_empty(), tests.get(n as usize / 2 % tests.len().max(1)))
                && n.is_multiple_of(2)
            {
                input = test.clone();
            }
            for (k, i) in pointers.iter().enumerate() {
                let at = BUFFERS + (k as u64 * 5 + 2) % 60 * BUFFER_SPACING + 0x4000;
                self.move_block(&mut input, *i, at);
            }
            if !n.is_multiple_of(2) || tests.is_empty() {
                for (k, i) in numbers.iter().enumerate() {
                    let value = input.seed.mix(0x5e1 + k as u64) % 30;
                    let value = if n.is_multiple_of(3) { value * 16 % 256 } else { value };
                    input.set(&self.runner.arguments, *i, Bits::new(64, value));
                }
            }
            let [original, _] = self.runner.traces(self.arena, &input);
            if original.undefined.is_some() || !matches!(original.end, interpreter::End::Return) {
                continue;
            }
            let values = input.values.iter().map(|v| v.low()).collect();
            let mut touched: BTreeMap<usize, Touched> = BTreeMap::new();
            for side in [Side::Original] {
                for (address, read, written) in self.runner.accesses(side) {
                    let base = pointers.iter().copied().find(|i| near(input.values[*i].low(), address).is_some());
                    let Some((i, offset)) = base.and_then(|i| Some((i, near(input.values[i].low(), address)?))) else {
                        continue;
                    };
                    let at = touched.entry(i).or_default();
                    let bytes = |mask: u8| (0..8i64).filter(move |k| mask >> k & 1 == 1).map(move |k| offset + k);
                    at.read.extend(bytes(read));
                    at.written.extend(bytes(written));
                }
            }
            visits.push(Visit { values, touched });
        }
        let pointers = pointers.iter().map(|pointer| self.surveyed(*pointer, &numbers, &visits)).collect();
        let cells = self.cells(&visits, &numbers);
        Survey { pointers, cells }
    }

    /// Moves what a pointer points to, as far as the start state says what is there.
    fn move_block(&mut self, input: &mut Input, pointer: usize, to: u64) {
        let from = input.values[pointer].low();
        let moved: Vec<(u64, u8)> = input
            .fixed
            .iter()
            .filter(|(at, _)| at.wrapping_sub(from) < BUFFER_SPACING / 2)
            .map(|(at, byte)| (at.wrapping_sub(from).wrapping_add(to), *byte))
            .collect();
        input.fixed.extend(moved);
        input.set(&self.runner.arguments, pointer, Bits::new(64, to));
    }

    fn surveyed(&self, pointer: usize, numbers: &[usize], visits: &[Visit]) -> Surveyed {
        let seen: Vec<(&Visit, i64, i64)> = visits
            .iter()
            .filter_map(|visit| {
                let touched = visit.touched.get(&pointer)?;
                let all = || touched.read.iter().chain(&touched.written);
                Some((visit, *all().min()?, *all().max()? + 1))
            })
            .collect();
        let written = visits.iter().any(|v| v.touched.get(&pointer).is_some_and(|t| !t.written.is_empty()));
        Surveyed { block: fitted(pointer, numbers, &seen), written }
    }

    /// The cells that every run touches at the same place, or at an index that is an argument.
    fn cells(&self, visits: &[Visit], numbers: &[usize]) -> Vec<Number> {
        let mut out: Vec<Number> = Vec::new();
        let Some(first) = visits.first() else { return out };
        let types = &self.original.source_types;
        for (base, touched) in &first.touched {
            let Some(word) = &self.words[*base] else { continue };
            let all: BTreeSet<i64> = touched.read.union(&touched.written).copied().collect();
            let always = |offset: &i64| {
                let has = |t: &Touched| t.read.contains(offset) || t.written.contains(offset);
                visits.iter().all(|v| v.touched.get(base).is_some_and(has))
            };
            for offset in all.iter().filter(|offset| always(offset)) {
                let Some((text, bytes, form, 0)) = scalar_at(types, word, *offset) else { continue };
                let whole = (0..i64::from(bytes)).all(|k| always(&(offset + k)));
                if whole && out.len() < MOST_CELLS {
                    out.push(Number {
                        what: What::Cell { base: *base, index: None, offset: *offset },
                        text,
                        bytes,
                        form,
                    });
                }
            }
            // `p[i]`, where i is an argument.
            let Some((_, bytes, form, 0)) = scalar_at(types, word, 0) else { continue };
            let size = self.element(*base).filter(|size| *size == i64::from(bytes));
            for index in numbers.iter().filter(|_| size.is_some()) {
                let at = |visit: &Visit| (visit.values[*index] as i64).wrapping_mul(i64::from(bytes));
                let has = |v: &Visit| v.touched.get(base).is_some_and(|t| t.read.contains(&at(v)));
                let varies = visits.iter().any(|v| v.values[*index] != first.values[*index]);
                if varies
                    && visits.iter().all(has)
                    && out.len() < MOST_CELLS
                    && let Some(number) = &self.words[*index]
                {
                    let text = format!("{}[{}]", word.text, number.text);
                    let what = What::Cell { base: *base, index: Some((*index, u64::from(bytes))), offset: 0 };
                    out.push(Number { what, text, bytes, form });
                }
            }
        }
        out
    }
}

/// The distance of an address from a pointer, if it is near.
fn near(pointer: u64, address: u64) -> Option<i64> {
    let offset = address.wrapping_sub(pointer) as i64;
    (-NEAR..2 * NEAR).contains(&offset).then_some(offset)
}

/// The block that all runs stay in, in terms of the arguments.
fn fitted(pointer: usize, numbers: &[usize], seen: &[(&Visit, i64, i64)]) -> Option<Block> {
    let from = seen.iter().map(|(_, from, _)| *from).min()?;
    // The block must begin at one place.
    if seen.iter().filter(|(_, first, _)| *first == from).count() * 2 < seen.len() {
        return None;
    }
    let ends: Vec<u64> = seen.iter().map(|(.., end)| (*end - from) as u64).collect();
    let ones = vec![1u64; seen.len()];
    let column = |of: &[usize]| -> Vec<u64> {
        seen.iter().map(|(v, ..)| of.iter().fold(1, |product: u64, i| product.wrapping_mul(v.values[*i]))).collect()
    };
    let mut bases: Vec<Vec<Vec<usize>>> = vec![Vec::new()];
    bases.extend(numbers.iter().map(|i| vec![vec![*i]]));
    for (k, i) in numbers.iter().enumerate() {
        for j in &numbers[k + 1..] {
            bases.push(vec![vec![*i, *j]]);
            bases.push(vec![vec![*i], vec![*j]]);
            bases.push(vec![vec![*i], vec![*j], vec![*i, *j]]);
        }
    }
    for basis in bases {
        let columns: Vec<Vec<u64>> = std::iter::once(ones.clone()).chain(basis.iter().map(|of| column(of))).collect();
        if seen.len() < columns.len() + 2 && !basis.is_empty() {
            continue;
        }
        let columns: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
        let Some(found) = solve(&columns, &ends, 64) else { continue };
        let found: Vec<i64> = found.into_iter().map(|c| c as i64).collect();
        if found.iter().any(|c| c.abs() > 1 << 20) || found[1..].iter().any(|c| *c < 0) {
            continue;
        }
        let terms = found[1..].iter().zip(basis).filter(|(c, _)| **c != 0).map(|(c, of)| (*c, of)).collect();
        return Some(Block { base: pointer, from, extent: Extent { constant: found[0], terms } });
    }
    None
}

impl Survey {
    /// Pairs of blocks of which one is written.
    pub fn apart(&self) -> Vec<Atom> {
        let mut out = Vec::new();
        for (k, first) in self.pointers.iter().enumerate() {
            for second in &self.pointers[k + 1..] {
                if !first.written && !second.written {
                    continue;
                }
                if let (Some(a), Some(b)) = (&first.block, &second.block) {
                    let blocks = [a.clone(), b.clone()];
                    out.push(Atom::Apart { blocks, order: super::atom::Order::Apart });
                }
            }
        }
        out
    }
}
