//! Truths of a condition, as branches.
//!
//! [`Compiler::branch`] goes to a place if a truth is the one asked for, and on behind it otherwise. Operands of `and` and `or` are looked
//! at in order, those that read memory last: an earlier one may be what makes the read safe.

use crate::Refusal;
use crate::compiler::{Compiler, Held, plain_argument};
use crate::instruction::{self, Arithmetic};
use crate::listing::{Target, Truth, When};
use crate::number::{reads_memory, small};
use kernel::{Expression, Operator};
use program::Side;
use term::Bits;

/// A comparison that has been made: what the flags then say if it holds.
type Holds = When;

impl Compiler<'_> {
    /// Goes to a place if the expression is (or is not) true.
    pub fn branch(&mut self, expression: &Expression, truth: Truth, to: Target) -> Result<(), Refusal> {
        let Expression::Apply(operator, operands) = expression else {
            return Err(self.refuse(expression, "it is no truth value"));
        };
        match (operator, &operands[..]) {
            (Operator::True, _) | (Operator::False, _) => {
                let value = if *operator == Operator::True { Truth::Holds } else { Truth::Fails };
                if truth == value {
                    self.code.jump(to);
                }
                Ok(())
            }
            (Operator::Not, [a]) => self.branch(a, truth.negated(), to),
            (Operator::Or, all) => self.several(all, Truth::Holds, truth, to),
            (Operator::BvAnd, all) => self.several(all, Truth::Fails, truth, to),
            (Operator::Apart, [a, n, b, m]) => self.apart(expression, [a, n, b, m], truth, to),
            (Operator::Float(word), [a, b]) => self.float_branch(expression, *word, [a, b], truth, to),
            (Operator::Eq, [a, b]) if self.width(a)? > 64 => {
                let parts = self.halves(expression, a, b)?;
                self.several(&parts, Truth::Fails, truth, to)
            }
            (Operator::Eq, [a, b]) => {
                let holds = self.equal(a, b)?;
                self.code.branch(holds.if_is(truth), to);
                Ok(())
            }
            (Operator::Ult | Operator::Ule | Operator::Slt | Operator::Sle, [a, b]) => {
                let holds = self.ordered(*operator, a, b)?;
                self.code.branch(holds.if_is(truth), to);
                Ok(())
            }
            _ => Err(self.refuse(expression, "there is no code for it")),
        }
    }

    /// `or` (one decides by being true) or `and` (one decides by being false).
    fn several(&mut self, all: &[Expression], decides: Truth, truth: Truth, to: Target) -> Result<(), Refusal> {
        let mut all: Vec<&Expression> = all.iter().collect();
        all.sort_by_key(|part| reads_memory(part));
        let Some((last, earlier)) = all.split_last() else { return Ok(()) };
        if truth == decides {
            return all.iter().try_for_each(|part| self.branch(part, decides, to));
        }
        let end = self.code.label();
        for part in earlier {
            self.branch(part, decides, Target::Inside(end))?;
        }
        self.branch(last, truth, to)?;
        self.code.bind(end);
        Ok(())
    }

    /// Equality of what is wider than a register, by its parts.
    fn halves(&self, expression: &Expression, a: &Expression, b: &Expression) -> Result<Vec<Expression>, Refusal> {
        let width = self.width(a)?;
        if !width.is_multiple_of(64) {
            return Err(self.refuse(expression, "it is wider than a register"));
        }
        let part = |of: &Expression, low: u16| match of {
            Expression::Constant(bits) => {
                let bytes = bits.to_bytes();
                let at = usize::from(low / 8);
                let word = bytes.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().unwrap_or_default()));
                Expression::Constant(Bits::new(64, word))
            }
            other => Expression::Apply(Operator::Slice(low, 64), vec![other.clone()]),
        };
        let parts = (0..width / 64).map(|i| Expression::Apply(Operator::Eq, vec![part(a, 64 * i), part(b, 64 * i)]));
        Ok(parts.collect())
    }

    fn equal(&mut self, a: &Expression, b: &Expression) -> Result<Holds, Refusal> {
        let (a, b) = if matches!(a, Expression::Constant(_)) { (b, a) } else { (a, b) };
        if let Some((register, mask)) = low_bits_clear(a, b) {
            self.code.push(instruction::test_mask(register, mask));
            return Ok(When::Equal);
        }
        if let Some((of, bits)) = clear_part(a, b) {
            let held = self.number(of)?;
            self.release(&held);
            self.code.push(instruction::test_mask(held.register, low_mask(bits)));
            return Ok(When::Equal);
        }
        self.compare(a, b, Extension::Zeros)?;
        Ok(When::Equal)
    }

    fn ordered(&mut self, op: Operator, a: &Expression, b: &Expression) -> Result<Holds, Refusal> {
        let signed = matches!(op, Operator::Slt | Operator::Sle);
        let strict = matches!(op, Operator::Ult | Operator::Slt);
        let extension = if signed { Extension::Sign } else { Extension::Zeros };
        // x < 2^k: nothing is left behind the low k bits.
        if let (Operator::Ult | Operator::Ule, Expression::Constant(most)) = (op, b)
            && let Some(bits) =
                if strict { exact_log(most.low()) } else { most.low().checked_add(1).and_then(exact_log) }
            && self.width(a)? == 64
            && (32..64).contains(&bits)
        {
            let held = self.number(a)?;
            let to = if held.owner == crate::compiler::Owner::Guard { held.register } else { self.take(a)? };
            if to != held.register {
                self.code.push(instruction::copy(64, to, held.register));
            }
            self.code.push(instruction::shift(instruction::Shift::Right, 64, to, bits as u16));
            self.free.push(to);
            return Ok(When::Equal);
        }
        // A constant stands better on the right.
        let swapped = matches!(a, Expression::Constant(_));
        let (first, second) = if swapped { (b, a) } else { (a, b) };
        self.compare(first, second, extension)?;
        Ok(match (swapped, strict, signed) {
            (false, true, false) => When::Below,
            (false, false, false) => When::NotAbove,
            (false, true, true) => When::Less,
            (false, false, true) => When::NotGreater,
            (true, true, false) => When::Above,
            (true, false, false) => When::NotBelow,
            (true, true, true) => When::Greater,
            (true, false, true) => When::NotLess,
        })
    }

    /// Sets the flags by the difference of two numbers.
    fn compare(&mut self, a: &Expression, b: &Expression, extension: Extension) -> Result<(), Refusal> {
        let width = self.width(a)?;
        if width > 64 {
            return Err(self.refuse(a, "it is wider than a register"));
        }
        let whole = matches!(width, 8 | 16 | 32 | 64);
        let number = whole.then(|| comparable(b, width)).flatten();
        if let (Expression::Apply(Operator::Load(Side::Original, bytes @ (1 | 2 | 4 | 8)), operands), Some(number)) =
            (a, number)
            && let [address] = &operands[..]
        {
            let address = self.address(address)?;
            self.release_address(&address);
            self.code.push(instruction::compare_memory(8 * bytes, address.operand(), number));
            return Ok(());
        }
        let held = self.number(a)?;
        let first = self.comparand(held, width, extension, a)?;
        let bits = if whole { width } else { 64 };
        match (number, b) {
            (Some(0), _) if extension == Extension::Zeros => {
                self.code.push(instruction::test(bits, first.register));
            }
            (Some(number), _) => {
                self.code.push(instruction::with_number(Arithmetic::Cmp, bits, first.register, number))
            }
            (None, Expression::Apply(Operator::Load(Side::Original, _), operands)) if whole && operands.len() == 1 => {
                let address = self.address(&operands[0])?;
                self.release_address(&address);
                self.code.push(instruction::with_memory(Arithmetic::Cmp, bits, first.register, address.operand()));
            }
            (None, _) => {
                let held = self.number(b)?;
                let second = self.comparand(held, width, extension, b)?;
                self.code.push(instruction::with_register(Arithmetic::Cmp, bits, first.register, second.register));
                self.release(&second);
            }
        }
        self.release(&first);
        Ok(())
    }

    /// Numbers of a width that no instruction compares are extended.
    fn comparand(
        &mut self,
        held: Held,
        width: u16,
        extension: Extension,
        expression: &Expression,
    ) -> Result<Held, Refusal> {
        match (width, extension) {
            (8 | 16 | 32 | 64, _) => Ok(held),
            (_, Extension::Zeros) => self.clean(held, width, expression),
            (_, Extension::Sign) => self.signed(held, width, expression),
        }
    }

    /// `a + n` does not wrap and is at most `b`, or the other way round.
    fn apart(
        &mut self,
        expression: &Expression,
        [a, n, b, m]: [&Expression; 4],
        truth: Truth,
        to: Target,
    ) -> Result<(), Refusal> {
        let (second, end) = (self.code.label(), self.code.label());
        let (apart, overlapping) =
            if truth == Truth::Holds { (to, Target::Inside(end)) } else { (Target::Inside(end), to) };
        self.end_before(expression, a, n, b, Target::Inside(second))?;
        self.code.branch(When::NotAbove, apart);
        self.code.bind(second);
        self.end_before(expression, b, m, a, overlapping)?;
        self.code.branch(When::NotAbove.if_is(truth), to);
        self.code.bind(end);
        Ok(())
    }

    /// Compares `start + length` with the other address; goes away if the sum wraps.
    fn end_before(
        &mut self,
        expression: &Expression,
        start: &Expression,
        length: &Expression,
        other: &Expression,
        wraps: Target,
    ) -> Result<(), Refusal> {
        let from = self.number(start)?;
        let end = match small(length, 64) {
            Some(number) => {
                let to =
                    if from.owner == crate::compiler::Owner::Guard { from.register } else { self.take(expression)? };
                if to != from.register {
                    self.code.push(instruction::copy(64, to, from.register));
                }
                self.code.push(instruction::with_number(Arithmetic::Add, 64, to, number));
                to
            }
            None => {
                let sum = self.number(length)?;
                let to = if sum.owner == crate::compiler::Owner::Guard { sum.register } else { self.take(expression)? };
                if to != sum.register {
                    self.code.push(instruction::copy(64, to, sum.register));
                }
                self.code.push(instruction::with_register(Arithmetic::Add, 64, to, from.register));
                self.release(&from);
                to
            }
        };
        self.code.branch(When::Below, wraps);
        let held = self.number(other)?;
        self.code.push(instruction::with_register(Arithmetic::Cmp, 64, end, held.register));
        self.release(&held);
        self.free.push(end);
        Ok(())
    }
}

/// What stands above numbers that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extension {
    Zeros,
    Sign,
}

/// The number for a comparison of this width.
fn comparable(expression: &Expression, width: u16) -> Option<i32> {
    let Expression::Constant(bits) = expression else { return None };
    Some(match width {
        8 => i32::from(bits.low() as u8 as i8),
        16 => i32::from(bits.low() as u16 as i16),
        32 => bits.low() as u32 as i32,
        _ => i32::try_from(bits.low() as i64).ok()?,
    })
}

fn exact_log(number: u64) -> Option<u32> {
    number.is_power_of_two().then(|| number.trailing_zeros())
}

/// The lowest bits.
pub(crate) fn low_mask(bits: u16) -> u32 {
    if bits >= 32 { u32::MAX } else { (1 << bits) - 1 }
}

/// Says an equality that low bits of an argument are clear? Its register, and which.
pub(crate) fn low_bits_clear(a: &Expression, b: &Expression) -> Option<(u8, u32)> {
    let (of, bits) = clear_part(a, b)?;
    Some((plain_argument(of)?, low_mask(bits)))
}

/// Says an equality that the low bits of a number are clear? The number, and how many.
fn clear_part<'e>(a: &'e Expression, b: &Expression) -> Option<(&'e Expression, u16)> {
    let Expression::Constant(zero) = b else { return None };
    if !zero.is_zero() {
        return None;
    }
    match a {
        Expression::Apply(Operator::Slice(0, bits @ 1..32), operands) => match &operands[..] {
            [of] if !matches!(of, Expression::Apply(Operator::Load(..), _)) => Some((of, *bits)),
            _ => None,
        },
        // Whatever the sign, the remainder is zero if the low bits are.
        Expression::Apply(Operator::Urem | Operator::Srem, operands) => match &operands[..] {
            [of, Expression::Constant(by)]
                if by.low().is_power_of_two() && (1..31).contains(&by.low().trailing_zeros()) =>
            {
                Some((of, by.low().trailing_zeros() as u16))
            }
            _ => None,
        },
        _ => None,
    }
}
