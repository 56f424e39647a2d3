//! The pool: every atom that a condition of this pair might have.
//!
//! Atoms come from what arguments are (pointers, whole numbers, floating-point numbers), from what the programs touch, from constants
//! that they mention, and from the start states that the user gives. What does not hold in all of these is no atom.

use super::atom::{Atom, Order};
use super::lab::Lab;
use super::number::{Form, Number, What, Word};
use super::survey::Survey;
use crate::objects::inputs::Input;

/// Alignments, divisors of numbers of turns, and bits of bounds that are tried.
const ALIGNMENTS: [u64; 6] = [2, 4, 8, 16, 32, 64];
const DIVISORS: [u64; 12] = [2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64];
const BOUND_BITS: [u32; 16] = [1, 4, 7, 8, 10, 12, 15, 16, 20, 24, 28, 30, 31, 32, 48, 62];
/// Constants of the programs that are tried for each number.
const MOST_CONSTANTS: usize = 24;
/// With more cells only those are compared with each other that are the same in all tests.
const FEW_CELLS: usize = 6;
/// Cells whose sizes are bounded.
const MOST_BOUNDED_CELLS: usize = 4;

impl Lab<'_, '_> {
    /// Fills the pool.
    pub(super) fn fill_pool(&mut self, survey: &Survey, tests: &[Input]) {
        let mut pool = Vec::new();
        let loops = program::order::has_cycle(self.original);
        let words: Vec<(usize, Word)> =
            self.words.iter().enumerate().filter_map(|(i, w)| Some((i, w.clone()?))).collect();
        let pointers: Vec<usize> = words.iter().filter(|(_, w)| w.form == Form::Pointer).map(|(i, _)| *i).collect();
        for pointer in &pointers {
            pool.extend(ALIGNMENTS.map(|to| Atom::Aligned { pointer: *pointer, to }));
            pool.push(Atom::Unequal { number: argument(*pointer, &words), value: 0 });
        }
        let constants: Vec<u64> = self.runner.constants().iter().copied().take(MOST_CONSTANTS).collect();
        let numbers: Vec<Number> = words
            .iter()
            .filter(|(_, w)| matches!(w.form, Form::Signed | Form::Unsigned))
            .map(|(i, _)| argument(*i, &words))
            .collect();
        for number in &numbers {
            pool.extend(DIVISORS.map(|of| Atom::Multiple { number: number.clone(), of }));
            pool.extend(ranges(number, &constants).into_iter().filter(|atom| !(loops && says_little(atom))));
        }
        for (k, a) in numbers.iter().enumerate() {
            for b in &numbers[k + 1..] {
                if (a.bytes, a.form) == (b.bytes, b.form) {
                    pool.push(Atom::Same { numbers: [a.clone(), b.clone()] });
                    for numbers in [[a, b], [b, a]] {
                        let less = |or_equal| Atom::Less { numbers: numbers.map(Clone::clone), or_equal };
                        pool.extend([less(true), less(false)]);
                    }
                }
            }
        }
        for (i, word) in words.iter().filter(|(_, w)| w.form == Form::Float) {
            pool.push(Atom::IsNumber { number: argument(*i, &words) });
            let one = if word.bytes == 4 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
            pool.extend([0, one].map(|value| Atom::Equal { number: argument(*i, &words), value }));
        }
        for (k, a) in pointers.iter().enumerate() {
            for b in &pointers[k + 1..] {
                pool.push(Atom::Distance { pointers: [*a, *b], by: 0 });
                if self.element(*a) == self.element(*b) {
                    for pair in [[*a, *b], [*b, *a]] {
                        let less = |or_equal| Atom::Less { numbers: pair.map(|i| argument(i, &words)), or_equal };
                        pool.extend([less(true), less(false)]);
                    }
                }
                if let (Some(x), Some(y)) = (self.element(*a), self.element(*b))
                    && x == y
                {
                    let names = [a, b].map(|i| argument(*i, &words).text);
                    let text = format!("((char *){} - (char *){})", names[1], names[0]);
                    let what = What::Difference(*b, *a);
                    let number = Number { what, text, bytes: 8, form: Form::Signed };
                    pool.extend([4, 8, 16, 32].map(|of| Atom::Multiple { number: number.clone(), of }));
                }
            }
        }
        for apart in survey.apart() {
            if let Atom::Apart { blocks, .. } = &apart {
                let orders = [Order::FirstBelow, Order::SecondBelow];
                pool.extend(orders.map(|order| Atom::Apart { blocks: blocks.clone(), order }));
            }
            pool.push(apart);
        }
        pool.extend(self.contents(&survey.cells, tests));
        for number in &numbers {
            pool.extend(self.constants_of(number, tests, &constants));
        }
        pool.extend(self.equalities(&numbers, tests));
        let mut kept: Vec<Atom> = Vec::new();
        for atom in pool {
            if !kept.contains(&atom) && tests.iter().all(|test| self.holds(&atom, test)) {
                kept.push(atom);
            }
        }
        self.pool = kept;
        self.forget();
    }

    /// What cells hold.
    fn contents(&mut self, cells: &[Number], tests: &[Input]) -> Vec<Atom> {
        let mut out = Vec::new();
        // Without tests there would be too much to choose from.
        let many = cells.len() > FEW_CELLS && tests.is_empty();
        for cell in cells.iter().filter(|_| !many) {
            if cell.form != Form::Pointer {
                out.push(Atom::Equal { number: cell.clone(), value: 0 });
            }
            if let Some(value) = self.value_in(cell, tests).filter(|value| *value != 0) {
                out.push(Atom::Equal { number: cell.clone(), value });
            }
        }
        if cells.len() <= FEW_CELLS && tests.is_empty() {
            let constants: Vec<u64> = self.runner.constants().iter().copied().take(MOST_CONSTANTS).collect();
            for cell in cells.iter().filter(|cell| matches!(cell.form, Form::Signed | Form::Unsigned)) {
                let fits = |c: &&u64| cell.bytes >= 8 || **c >> (8 * cell.bytes) == 0;
                out.extend(constants.iter().filter(fits).map(|c| Atom::Equal { number: cell.clone(), value: *c }));
            }
        }
        for (k, a) in cells.iter().enumerate() {
            for b in &cells[k + 1..] {
                if cells.len() <= FEW_CELLS && a.bytes == b.bytes && a.form != Form::Pointer {
                    out.push(Atom::Same { numbers: [a.clone(), b.clone()] });
                }
            }
        }
        for cell in cells.iter().take(MOST_BOUNDED_CELLS).filter(|_| cells.len() <= FEW_CELLS) {
            if matches!(cell.form, Form::Signed | Form::Unsigned) {
                out.extend(ranges(cell, &[]));
            }
        }
        out
    }

    /// Values that a number may have to have.
    fn constants_of(&mut self, number: &Number, tests: &[Input], constants: &[u64]) -> Vec<Atom> {
        let known = self.value_in(number, tests);
        let mut values: Vec<u64> = known.into_iter().collect();
        if tests.is_empty() {
            values.extend([0, 1]);
            // What is masked with 63 may be meant modulo 64.
            let masks = constants.iter().filter(|c| (**c).wrapping_add(1).is_power_of_two()).map(|c| c.wrapping_add(1));
            let near: Vec<u64> = constants.iter().copied().chain(masks).collect();
            values.extend(near.into_iter().filter(|c| number.bytes >= 8 || *c >> (8 * number.bytes) == 0));
        }
        values.dedup();
        values.into_iter().map(|value| Atom::Equal { number: number.clone(), value }).collect()
    }

    /// Linear relations between whole numbers that all tests show.
    fn equalities(&mut self, numbers: &[Number], tests: &[Input]) -> Vec<Atom> {
        let mut out = Vec::new();
        if tests.len() < 3 {
            return out;
        }
        let columns: Vec<Vec<u64>> = numbers
            .iter()
            .map(|number| tests.iter().map(|t| number.bits(self.arena, &mut self.runner, t)).collect())
            .collect();
        let ones = vec![1u64; tests.len()];
        for (i, number) in numbers.iter().enumerate() {
            for (j, of) in numbers.iter().enumerate().filter(|(j, _)| *j != i) {
                let varies = columns[j].iter().any(|v| *v != columns[j][0]);
                let sound = number.bytes == of.bytes && varies;
                let Some(found) = crate::objects::loops::affine::solve(&[&ones, &columns[j]], &columns[i], 64) else {
                    continue;
                };
                let (plus, factor) = (found[0] as i64, found[1] as i64);
                if sound && (1..=64).contains(&factor) && plus.abs() < 1 << 16 && (factor, plus) != (1, 0) {
                    out.push(Atom::Affine { number: number.clone(), of: of.clone(), factor, plus });
                }
            }
        }
        out
    }

    /// The bits that a number has in all tests.
    fn value_in(&mut self, number: &Number, tests: &[Input]) -> Option<u64> {
        let mut values = tests.iter().map(|test| number.bits(self.arena, &mut self.runner, test));
        let first = values.next()?;
        values.all(|value| value == first).then_some(first)
    }
}

/// Bounds of a number.
fn ranges(number: &Number, constants: &[u64]) -> Vec<Atom> {
    let bits = 8 * u32::from(number.bytes);
    let below = |bound: u64| Atom::Below { number: number.clone(), bound };
    let mut out: Vec<Atom> = BOUND_BITS.iter().filter(|k| **k < bits).map(|k| below(1 << k)).collect();
    let small = constants.iter().filter(|c| (2..1 << 20).contains(*c) && !c.is_power_of_two());
    out.extend(small.map(|c| below(*c)));
    let least = |bound: i64| Atom::AtLeast { number: number.clone(), bound };
    let most = |bound: i64| Atom::AtMost { number: number.clone(), bound };
    out.push(Atom::Unequal { number: number.clone(), value: 0 });
    if number.form == Form::Signed {
        out.extend([least(0), least(-128), least(-32768)]);
        out.extend([most(127), most(255), most(32767)]);
    }
    out.extend([1, 2, 4, 8, 16].map(least));
    out.extend(constants.iter().filter(|c| (3..1 << 16).contains(*c)).map(|c| least(*c as i64)));
    out
}

/// Few turns of a loop hide most differences.
fn says_little(atom: &Atom) -> bool {
    match atom {
        Atom::Below { bound, .. } => *bound < 256,
        Atom::AtMost { bound, .. } => *bound < 255,
        _ => false,
    }
}

/// An argument as a number.
pub(super) fn argument(i: usize, words: &[(usize, Word)]) -> Number {
    let word = words.iter().find(|(at, _)| *at == i).map(|(_, word)| word);
    let (text, bytes, form) = word.map_or((String::new(), 8, Form::Unsigned), |w| (w.text.clone(), w.bytes, w.form));
    Number { what: What::Argument(i), text, bytes, form }
}
