//! Inputs changed until they satisfy a condition.
//!
//! What a conjunct wants is traced back to what an input chooses: `a == b` sets one side to the other's value, and a value is set by
//! setting what it is computed from, down to an argument or a cell of memory. One repair may undo another, so it takes some rounds;
//! where nothing is known to help, an argument that the conjunct mentions becomes small.
//!
//! Trust: none. Whoever uses an input asks whether the condition holds.

use super::entry::{Entry, Reading, argument_named, holds};
use crate::objects::inputs::{Input, Stream};
use interpreter::{BUFFER_SPACING, BUFFERS};
use kernel::{Expression, FloatWord, Operator};
use program::Side;
use term::Bits;

/// Passes over the conjuncts.
const MOST_ROUNDS: usize = 12;
/// Rounds after which arguments of what still fails become small.
const PATIENCE: usize = 3;
/// No cell lies below.
const FIRST_CELL: u64 = 4096;

/// Changes an input until the conjuncts hold; says whether they do.
pub(crate) fn project(entry: &Entry, input: &mut Input, conjuncts: &[Expression], stream: &mut Stream) -> bool {
    // Where cells lie depends on the arguments, which come first.
    let (cells, plain): (Vec<&Expression>, Vec<&Expression>) = conjuncts.iter().partition(|c| loads(c));
    for round in 0..MOST_ROUNDS {
        if holds(entry, input, conjuncts) {
            return true;
        }
        for conjunct in plain.iter().chain(&cells) {
            let mut repair = Repair { entry, input, stream };
            if repair.truth(conjunct) != Some(true) && (!repair.make(conjunct, true) || round >= PATIENCE) {
                repair.shrink(conjunct);
            }
        }
    }
    holds(entry, input, conjuncts)
}

fn loads(expression: &Expression) -> bool {
    match expression {
        Expression::Apply(Operator::Load(..), _) => true,
        Expression::Apply(_, operands) => operands.iter().any(loads),
        _ => false,
    }
}

/// The arguments that an expression mentions.
fn names<'e>(expression: &'e Expression, out: &mut Vec<&'e str>) {
    match expression {
        Expression::Named(name) => out.push(name),
        Expression::Apply(_, operands) => operands.iter().for_each(|operand| names(operand, out)),
        _ => {}
    }
}

struct Repair<'r, 's> {
    entry: &'r Entry<'r>,
    input: &'s mut Input,
    stream: &'s mut Stream,
}

impl Repair<'_, '_> {
    fn truth(&self, expression: &Expression) -> Option<bool> {
        Reading::new(self.entry, self.input).truth(expression)
    }

    fn bits(&self, expression: &Expression) -> Option<Bits> {
        Reading::new(self.entry, self.input).bits(expression)
    }

    /// Tries to make a truth value what it should be.
    fn make(&mut self, expression: &Expression, wanted: bool) -> bool {
        if self.truth(expression) == Some(wanted) {
            return true;
        }
        let Expression::Apply(operator, operands) = expression else { return false };
        match (operator, &operands[..], wanted) {
            (Operator::Not, [inner], _) => self.make(inner, !wanted),
            (Operator::BvAnd, parts, true) | (Operator::Or, parts, false) => {
                let mut done = true;
                parts.iter().for_each(|part| done &= self.make(part, wanted));
                done
            }
            (Operator::BvAnd, parts, false) | (Operator::Or, parts, true) => self.make_one(parts, wanted),
            (Operator::Eq, [a, b], true) => self.equal(a, b),
            (Operator::Eq, [a, b], false) => self.unequal(a, b),
            (Operator::Ult | Operator::Slt, [a, b], _) => {
                let (signed, strict) = (*operator == Operator::Slt, wanted);
                if wanted { self.order(a, b, signed, strict) } else { self.order(b, a, signed, strict) }
            }
            (Operator::Ule | Operator::Sle, [a, b], _) => {
                let (signed, strict) = (*operator == Operator::Sle, !wanted);
                if wanted { self.order(a, b, signed, strict) } else { self.order(b, a, signed, strict) }
            }
            (Operator::Apart, [a, n, b, m], true) => self.apart([a, b], [n, m]),
            (Operator::Apart, [a, _, b, _], false) => self.equal(a, b),
            (Operator::Float(word), [a, b], _) => self.floats(*word, a, b, wanted),
            _ => false,
        }
    }

    /// Makes one of several what it should be, beginning anywhere.
    fn make_one(&mut self, parts: &[Expression], wanted: bool) -> bool {
        let first = self.stream.next() as usize % parts.len().max(1);
        (0..parts.len()).any(|i| self.make(&parts[(first + i) % parts.len()], wanted))
    }

    /// Gives one side the value of the other.
    fn equal(&mut self, a: &Expression, b: &Expression) -> bool {
        let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) else { return false };
        let ((first, to), (second, other)) = if self.stream.one_in(2) { ((a, y), (b, x)) } else { ((b, x), (a, y)) };
        self.set(first, to) || self.set(second, other)
    }

    fn unequal(&mut self, a: &Expression, b: &Expression) -> bool {
        let Some(x) = self.bits(a) else { return false };
        let by = Bits::new(x.width(), 1 + self.stream.next() % 3);
        self.set(a, x.add(by)) || self.bits(b).is_some_and(|y| self.set(b, y.add(by)))
    }

    /// Makes the first less than the second, or no greater.
    fn order(&mut self, a: &Expression, b: &Expression, signed: bool, strict: bool) -> bool {
        let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) else { return false };
        let width = x.width();
        if width > 64 {
            return self.set(a, y) && !strict;
        }
        // Of two addresses one stays where it is, and the other comes close.
        let addresses = x.low() >= BUFFERS && y.low() >= BUFFERS;
        let number = |bits: Bits| match signed {
            true => i128::from(bits.sext(64).low() as i64),
            false => i128::from(bits.zext(64).low()),
        };
        let half = 1i128 << (width - 1);
        let (least, most) = if signed { (-half, half - 1) } else { (0, 2 * half - 1) };
        let (x, y, gap) = (number(x), number(y), i128::from(strict));
        let near = i128::from(if self.stream.one_in(3) { 0 } else { self.stream.next() % 64 });
        let random = i128::from(self.stream.next() & (u64::MAX >> 1));
        // The first becomes less: at the border, near it, or anything that is allowed, small numbers first.
        let high = y - gap;
        let low = if signed && high < 0 { least } else { 0 };
        let lower = match self.stream.next() % 4 {
            0 => high - near,
            1 if !addresses && high >= low => low + random % (high - low + 1),
            _ if addresses => high - near % 12,
            _ => low + near,
        };
        let lower = Bits::new(width, lower.clamp(least, high.max(least)) as u64);
        // Or the second more.
        let from = x + gap;
        let higher = Bits::new(width, (from + if addresses { near % 12 } else { near }).min(most) as u64);
        let can = (high >= least, from <= most);
        let constant = |e: &Expression| matches!(e, Expression::Constant(_));
        if constant(a) || !constant(b) && self.stream.one_in(2) {
            return can.1 && self.set(b, higher) || can.0 && self.set(a, lower);
        }
        can.0 && self.set(a, lower) || can.1 && self.set(b, higher)
    }

    /// Moves one of two blocks: right behind the other, right before it, or elsewhere.
    fn apart(&mut self, starts: [&Expression; 2], lengths: [&Expression; 2]) -> bool {
        let values = [starts[0], starts[1], lengths[0], lengths[1]].map(|e| self.bits(e).and_then(Bits::to_u64));
        let [Some(a), Some(b), Some(n), Some(m)] = values else { return false };
        let which = self.stream.next() as usize % 2;
        for turn in [which, 1 - which] {
            let (own, size, other, length) = if turn == 0 { (a, n, b, m) } else { (b, m, a, n) };
            // Alignment stays what it was.
            let low = own & 63;
            let behind = (other.wrapping_add(length).wrapping_add(63 - low) & !63) + low;
            let before = (other.wrapping_sub(size).wrapping_sub(low) & !63).wrapping_add(low);
            let random = self.stream.next();
            let elsewhere = BUFFERS + (random % 61) * BUFFER_SPACING + low;
            let to = match random >> 8 & 3 {
                0 => behind,
                1 if before >= BUFFERS => before,
                _ => elsewhere,
            };
            if self.set(starts[turn], Bits::new(64, to)) {
                return true;
            }
        }
        false
    }

    fn floats(&mut self, word: FloatWord, a: &Expression, b: &Expression, wanted: bool) -> bool {
        let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) else { return false };
        let width = x.width();
        let value = |bits: Bits| match width {
            32 => f64::from(f32::from_bits(bits.low() as u32)),
            _ => f64::from_bits(bits.low()),
        };
        let bits = |value: f64| match width {
            32 => Bits::new(32, u64::from((value as f32).to_bits())),
            _ => Bits::new(64, value.to_bits()),
        };
        let (mut x, mut y) = (value(x), value(y));
        let small = (self.stream.next() % 200) as f64 / 4.0 - 20.0;
        if a == b {
            let new = if wanted { small } else { f64::NAN };
            return matches!(word, FloatWord::Equal | FloatWord::LessOrEqual) && self.set(a, bits(new));
        }
        if wanted && !x.is_finite() {
            x = small;
            self.set(a, bits(x));
        }
        if wanted && !y.is_finite() {
            y = small;
            self.set(b, bits(y));
        }
        let step = x.abs().max(y.abs()) / 1024.0 + 1.0;
        match (word, wanted) {
            (FloatWord::Equal | FloatWord::LessOrEqual, true) | (FloatWord::Less, false) => {
                self.set(a, bits(y)) || self.set(b, bits(x))
            }
            (FloatWord::Less, true) => self.set(a, bits(y - step)) || self.set(b, bits(x + step)),
            (FloatWord::Equal | FloatWord::LessOrEqual, false) => {
                self.set(a, bits(y + step)) || self.set(b, bits(x - step))
            }
            _ => false,
        }
    }

    /// Gives an expression a value by changing what it is computed from.
    fn set(&mut self, expression: &Expression, target: Bits) -> bool {
        let (operator, operands) = match expression {
            Expression::Named(name) => return self.set_argument(name, target),
            Expression::Apply(operator, operands) => (*operator, &operands[..]),
            _ => return false,
        };
        let width = target.width();
        match (operator, operands) {
            (Operator::Load(Side::Original, bytes), [address]) => {
                let Some(address) = self.bits(address).and_then(Bits::to_u64) else { return false };
                if address < FIRST_CELL || target.width() != 8 * bytes {
                    return false;
                }
                self.input.fixed.extend((0..).map(|i| address.wrapping_add(i)).zip(target.to_bytes()));
                self.bits(expression) == Some(target)
            }
            (Operator::Slice(low, bits), [inner]) => {
                let Some(old) = self.bits(inner).filter(|old| low + bits <= old.width()) else { return false };
                self.set(inner, with_bits(old, low, target))
            }
            (Operator::Concat, [high, low]) => {
                let Some(below) = self.bits(low).map(Bits::width) else { return false };
                self.set(high, target.extract(width - 1, below)) && self.set(low, target.extract(below - 1, 0))
            }
            (Operator::Sext(_) | Operator::Zext(_), [inner]) => {
                let Some(from) = self.bits(inner).map(Bits::width) else { return false };
                let low = target.extract(from - 1, 0);
                let again = if matches!(operator, Operator::Sext(_)) { low.sext(width) } else { low.zext(width) };
                again == target && self.set(inner, low)
            }
            (Operator::Add, parts) => (0..parts.len()).any(|i| {
                let others = (0..parts.len()).filter(|j| *j != i);
                let sum = others
                    .map(|j| self.bits(&parts[j]))
                    .try_fold(Bits::zero(width), |sum, part| part.map(|part| sum.add(part)));
                sum.is_some_and(|sum| self.set(&parts[i], target.sub(sum)))
            }),
            (Operator::Sub, [a, b]) => {
                let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) else { return false };
                self.set(a, target.add(y)) || self.set(b, x.sub(target))
            }
            (Operator::Mul, [a, b]) => self.set_factor(a, b, target) || self.set_factor(b, a, target),
            (Operator::BvNot, [inner]) => self.set(inner, target.not()),
            (Operator::BvXor, [a, b]) => {
                let (Some(x), Some(y)) = (self.bits(a), self.bits(b)) else { return false };
                self.set(a, target.xor(y)) || self.set(b, target.xor(x))
            }
            (Operator::BvAnd, [a, b]) => self.set_masked(a, b, target) || self.set_masked(b, a, target),
            (Operator::BvOr, parts) => {
                let mut done = true;
                for part in parts {
                    let within = self.bits(part).map(|bits| bits.and(target));
                    done &= within.is_some_and(|within| self.bits(part) == Some(within) || self.set(part, within));
                }
                done && (self.bits(expression) == Some(target) || parts.iter().any(|part| self.set(part, target)))
            }
            (Operator::Urem | Operator::Srem, [a, by]) => {
                let (Some(x), Some(rest)) = (self.bits(a), self.bits(expression)) else { return false };
                let fits = self.bits(by).is_some_and(|by| target.ult(by));
                // Below zero, and where the sum overflows, a smaller number will do.
                let next = x.sub(rest).add(target);
                let next = if x.sign() && operator == Operator::Srem { target } else { next };
                fits && self.set(a, next)
            }
            (Operator::Udiv | Operator::Sdiv, [a, by]) => {
                let Some(by) = self.bits(by) else { return false };
                self.set(a, target.mul(by)) && self.bits(expression) == Some(target)
            }
            (Operator::Lshr | Operator::Ashr, [a, by]) => {
                let Some(by) = self.bits(by) else { return false };
                self.set(a, target.shl(by)) && self.bits(expression) == Some(target)
            }
            (Operator::Shl, [a, by]) => {
                let Some(by) = self.bits(by) else { return false };
                self.set(a, target.lshr(by)) && self.bits(expression) == Some(target)
            }
            (Operator::Ite, [condition, a, b]) => {
                let branch = if self.truth(condition) == Some(true) { a } else { b };
                if let Expression::Constant(_) = branch {
                    let first = self.bits(a) == Some(target);
                    return (first || self.bits(b) == Some(target)) && self.make(condition, first);
                }
                self.set(branch, target)
            }
            (Operator::Extreme { .. }, parts) => parts.iter().all(|part| self.set(part, target)),
            _ => false,
        }
    }

    /// Sets the one factor so that the product comes out.
    fn set_factor(&mut self, factor: &Expression, other: &Expression, target: Bits) -> bool {
        let Some(by) = self.bits(other).filter(|by| !by.is_zero()) else { return false };
        self.set(factor, target.udiv(by)) && self.bits(factor).is_some_and(|now| now.mul(by) == target)
    }

    /// Sets the bits of a number that a mask lets through.
    fn set_masked(&mut self, value: &Expression, mask: &Expression, target: Bits) -> bool {
        let (Some(old), Some(mask)) = (self.bits(value), self.bits(mask)) else { return false };
        target.and(mask.not()).is_zero() && self.set(value, old.and(mask.not()).or(target))
    }

    fn set_argument(&mut self, name: &str, target: Bits) -> bool {
        let arguments = self.entry.arguments;
        let Some(i) = argument_named(name, arguments) else { return false };
        let argument = &arguments[i];
        if !argument.choices.is_empty() || argument.fit(target) != target {
            return false;
        }
        self.input.set(arguments, i, target);
        true
    }

    /// Makes an argument that the expression mentions small, or points it to a buffer of its own.
    fn shrink(&mut self, expression: &Expression) {
        let mut mentioned = Vec::new();
        names(expression, &mut mentioned);
        mentioned.retain(|name| argument_named(name, self.entry.arguments).is_some());
        if mentioned.is_empty() {
            return;
        }
        let name = self.stream.pick(&mentioned);
        let Some(i) = argument_named(name, self.entry.arguments) else { return };
        let argument = &self.entry.arguments[i];
        let random = self.stream.next();
        let value = match argument.pointer {
            true => BUFFERS + random % 61 * BUFFER_SPACING,
            false => random % 40,
        };
        self.set_argument(name, argument.fit(Bits::new(64, value).resize(argument.width())));
    }
}

/// A number with other bits from a position on.
fn with_bits(old: Bits, low: u16, bits: Bits) -> Bits {
    let end = low + bits.width();
    let high = (end < old.width()).then(|| old.extract(old.width() - 1, end));
    let upper = high.map_or(bits, |high| high.concat(bits));
    if low > 0 { upper.concat(old.extract(low - 1, 0)) } else { upper }
}
