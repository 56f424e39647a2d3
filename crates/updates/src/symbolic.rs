//! Symbolic values in normal form, over hashes or over terms.
//!
//! The rules here are exact: IEEE identities that hold for every operand up to the payload and sign of a NaN (the
//! assumption `nan-payload`), and integer identities without overflow conditions. A value carries one flag: of a
//! floating-point value its arithmetic negation, of a truth value its logical one; so `x - y` is `x + (-y)`, double
//! negation is free, and signs move out of products.

use crate::domain::{Domain, Floating};
use crate::scalar::{self, Cmp, Constant, Op, Scalar, Undefined};
use rustc_hash::FxHashMap;

mod column;
#[cfg(test)]
mod tests;

/// Where symbolic values are kept.
pub trait Backing {
    /// A value with a flag.
    type Value: Copy + Eq + Ord + std::hash::Hash + std::fmt::Debug;

    /// What a cell holds that nobody wrote.
    fn unwritten(&self) -> Self::Value;
    /// A known value.
    fn constant(&mut self, constant: Constant) -> Self::Value;
    /// The value if it is known.
    fn known(&self, value: Self::Value) -> Option<Constant>;
    /// Is the value of a cell that was written not known?
    #[inline]
    fn is_symbolic(&self, value: Self::Value) -> bool {
        self.known(value).is_none()
    }
    /// An input.
    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> Self::Value;
    /// An application.
    fn apply(&mut self, tag: Tag<'_>, arguments: &[Self::Value]) -> Self::Value;
    /// The two values in the order of their numbers.
    fn sorted(&self, a: Self::Value, b: Self::Value) -> [Self::Value; 2] {
        if a <= b { [a, b] } else { [b, a] }
    }
    /// The value with its flag turned; never of a constant.
    fn turned(&self, value: Self::Value) -> Self::Value;
    /// The value without its flag, and the flag.
    fn split(&self, value: Self::Value) -> (Self::Value, bool);
    /// The operation of types and its operands that the value is, flag aside, if that is still known.
    fn opened(&self, _value: Self::Value) -> Option<(Opened, &[Self::Value])> {
        None
    }
}

/// What a value was made by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Opened {
    /// An operation of a type.
    Binary(Op, Scalar),
    /// A conversion, from and to.
    Convert(Scalar, Scalar),
    /// A square root of a type.
    Root(Scalar),
}

/// What is applied.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tag<'a> {
    /// An operation of a type.
    Binary(Op, Scalar),
    /// A comparison of a type.
    Compare(Cmp, Scalar),
    /// A conversion, from and to.
    Convert(Scalar, Scalar),
    /// A choice by a truth value.
    Choice,
    /// A library function with its result type.
    Call(&'a str, Scalar),
}

/// Symbolic values.
#[derive(Debug)]
pub struct Symbolic<B: Backing> {
    /// The values.
    pub backing: B,
    /// Which floating-point rules apply.
    pub mode: Floating,
    /// Were floating-point identities used that may change a NaN?
    pub used_nan_payload: bool,
    /// Were there choices or conversions, which terms understand better than hashes?
    pub used_cases: bool,
    /// Integers known to fit a type narrower than their operations: inputs and results of conversions.
    narrow: FxHashMap<B::Value, Scalar>,
    /// Operands of the comparisons `a < b` of integers.
    below: FxHashMap<B::Value, (B::Value, B::Value)>,
}

impl<B: Backing> Symbolic<B> {
    /// An empty domain.
    pub fn new(backing: B, mode: Floating) -> Symbolic<B> {
        Symbolic {
            backing,
            mode,
            used_nan_payload: false,
            used_cases: false,
            narrow: FxHashMap::default(),
            below: FxHashMap::default(),
        }
    }

    #[inline]
    fn ordered_pair(&mut self, a: B::Value, b: B::Value, float: bool) -> [B::Value; 2] {
        if float {
            if self.mode == Floating::Ordered {
                return [a, b];
            }
            self.used_nan_payload = true;
        }
        self.backing.sorted(a, b)
    }

    /// Value without sign, and whether it had one; signs of constants count.
    fn magnitude(&mut self, value: B::Value) -> (B::Value, bool) {
        match self.backing.known(value) {
            Some(Constant::F64(bits)) if bits >> 63 == 1 => {
                (self.backing.constant(Constant::F64(bits & !(1 << 63))), true)
            }
            Some(Constant::F32(bits)) if bits >> 31 == 1 => {
                (self.backing.constant(Constant::F32(bits & !(1 << 31))), true)
            }
            Some(_) => (value, false),
            None => self.backing.split(value),
        }
    }

    /// Is the value known to be zero or one?
    fn is_truth(&self, value: B::Value) -> bool {
        match self.backing.known(value) {
            Some(constant) => matches!(constant, Constant::Int(0 | 1)),
            None => self.narrow.get(&self.backing.split(value).0) == Some(&Scalar::Bool),
        }
    }

    fn note_truth(&mut self, value: B::Value) -> B::Value {
        self.narrow.insert(value, Scalar::Bool);
        value
    }

    fn truth_is(&mut self, value: B::Value, expected: bool) -> B::Value {
        if expected { value } else { self.not(value) }
    }

    fn float_negate(&mut self, value: B::Value) -> B::Value {
        match self.backing.known(value) {
            Some(Constant::F64(bits)) => self.backing.constant(Constant::F64(bits ^ (1 << 63))),
            Some(Constant::F32(bits)) => self.backing.constant(Constant::F32(bits ^ (1 << 31))),
            _ => self.backing.turned(value),
        }
    }

    fn float_binary(&mut self, op: Op, ty: Scalar, a: B::Value, b: B::Value) -> B::Value {
        match op {
            Op::Add => {
                for (x, other) in [(a, b), (b, a)] {
                    // x + (-0.0) is x for every x.
                    if matches!(
                        self.backing.known(other),
                        Some(Constant::F64(0x8000_0000_0000_0000) | Constant::F32(0x8000_0000))
                    ) {
                        return x;
                    }
                }
                let pair = self.ordered_pair(a, b, true);
                self.backing.apply(Tag::Binary(Op::Add, ty), &pair)
            }
            Op::Sub => {
                let negated = self.float_negate(b);
                self.float_binary(Op::Add, ty, a, negated)
            }
            Op::Mul => {
                let ((a, first), (b, second)) = (self.magnitude(a), self.magnitude(b));
                for (x, other) in [(a, b), (b, a)] {
                    match self.backing.known(other).and_then(Constant::as_float) {
                        Some(1.0) => return self.signed(x, first != second),
                        Some(2.0) => {
                            let sum = self.backing.apply(Tag::Binary(Op::Add, ty), &[x, x]);
                            return self.signed(sum, first != second);
                        }
                        _ => {}
                    }
                }
                let pair = self.ordered_pair(a, b, true);
                let product = self.backing.apply(Tag::Binary(Op::Mul, ty), &pair);
                self.signed(product, first != second)
            }
            Op::Div => {
                let ((a, first), (b, second)) = (self.magnitude(a), self.magnitude(b));
                if let Some(inverse) = self.backing.known(b).and_then(exact_inverse) {
                    let inverse = self.backing.constant(inverse);
                    let product = self.float_binary(Op::Mul, ty, a, inverse);
                    return self.signed(product, first != second);
                }
                let quotient = self.backing.apply(Tag::Binary(Op::Div, ty), &[a, b]);
                self.signed(quotient, first != second)
            }
            _ => self.backing.apply(Tag::Binary(op, ty), &[a, b]),
        }
    }

    fn signed(&mut self, value: B::Value, negative: bool) -> B::Value {
        self.used_nan_payload = true;
        if negative { self.float_negate(value) } else { value }
    }

    fn int_binary(&mut self, op: Op, ty: Scalar, a: B::Value, b: B::Value) -> B::Value {
        let (left, right) = (self.backing.known(a), self.backing.known(b));
        let zero = Some(Constant::Int(0));
        let one = Some(Constant::Int(1));
        match op {
            Op::Add | Op::Or | Op::Xor if right == zero => a,
            Op::Add | Op::Or | Op::Xor if left == zero => b,
            Op::Sub | Op::Shl | Op::Shr if right == zero => a,
            Op::Mul | Op::Div if right == one => a,
            Op::Mul if left == one => b,
            Op::Mul | Op::And if left == zero || right == zero => self.backing.constant(Constant::Int(0)),
            // Of unsigned numbers a shift is the product with a power of two; of signed ones it is undefined more often.
            Op::Shl if !ty.is_signed() => match right {
                Some(Constant::Int(by @ 0..64)) if by < i64::from(ty.bits()) => {
                    let factor = self.backing.constant(Constant::integer(1 << by));
                    self.int_binary(Op::Mul, ty, a, factor)
                }
                _ => self.backing.apply(Tag::Binary(op, ty), &[a, b]),
            },
            Op::Sub if a == b => self.backing.constant(Constant::Int(0)),
            Op::Sub => match right.and_then(Constant::as_integer) {
                // x - c is x + (-c): the same number, so the same overflow. The lowest value has no negation.
                Some(c) if ty.is_signed() && c != ty.range().0 => {
                    let negated = self.backing.constant(Constant::integer(-c));
                    self.int_binary(Op::Add, ty, a, negated)
                }
                _ => self.backing.apply(Tag::Binary(op, ty), &[a, b]),
            },
            // A truth value is a number by cases, so `n += c` is `if (c) n++`.
            Op::Add | Op::Mul if right.is_none() && self.is_truth(b) && !self.is_truth(a) => {
                self.by_cases(op, ty, b, a)
            }
            Op::Add | Op::Mul if left.is_none() && self.is_truth(a) && !self.is_truth(b) => self.by_cases(op, ty, a, b),
            Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor => {
                let pair = self.ordered_pair(a, b, false);
                self.backing.apply(Tag::Binary(op, ty), &pair)
            }
            _ => self.backing.apply(Tag::Binary(op, ty), &[a, b]),
        }
    }
}

impl<B: Backing> Symbolic<B> {
    /// A sum or product with a truth value that is not known.
    fn by_cases(&mut self, op: Op, ty: Scalar, truth: B::Value, other: B::Value) -> B::Value {
        let [zero, one] = [0, 1].map(|n| self.backing.constant(Constant::Int(n)));
        let (yes, no) = (self.int_binary(op, ty, other, one), self.int_binary(op, ty, other, zero));
        self.choice(truth, yes, no)
    }
}

impl<B: Backing> Symbolic<B> {
    /// The larger or the smaller of two integers is the same whichever is compared with which.
    fn larger_or_smaller(&mut self, cond: B::Value, yes: B::Value, no: B::Value) -> (B::Value, B::Value, B::Value) {
        match self.below.get(&cond) {
            Some((a, b)) if a > b && ((yes, no) == (*a, *b) || (yes, no) == (*b, *a)) => {
                // Where they are equal, either may be taken.
                let (a, b) = (*a, *b);
                (self.compare(Cmp::Lt, Scalar::I64, b, a), no, yes)
            }
            _ => (cond, yes, no),
        }
    }

    /// An operation of `double` on values of `float`, rounded to `float`, is the operation of `float`: 53 bits are more than
    /// twice 24 and two, so the first rounding does not disturb the second (Figueroa, "When is double rounding innocuous?").
    fn rounded(&mut self, value: B::Value) -> Option<Result<B::Value, Undefined>> {
        let (plain, negative) = self.backing.split(value);
        let (made, operands) = self.backing.opened(plain)?;
        let operands = operands.to_vec();
        let single = match (made, operands.as_slice()) {
            (Opened::Convert(Scalar::F32, Scalar::F64), [x]) => *x,
            (Opened::Binary(op @ (Op::Add | Op::Mul | Op::Div), Scalar::F64), [a, b]) => {
                let (a, b) = (self.single(*a)?, self.single(*b)?);
                match self.binary(op, Scalar::F32, a, b) {
                    Ok(value) => value,
                    undefined => return Some(undefined),
                }
            }
            (Opened::Root(Scalar::F64), [x]) => {
                let x = self.single(*x)?;
                self.call("sqrtf", Scalar::F32, &[x])
            }
            _ => return None,
        };
        self.used_nan_payload = true;
        Some(Ok(if negative { self.float_negate(single) } else { single }))
    }

    /// The value of `float` that this one of `double` is.
    fn single(&mut self, value: B::Value) -> Option<B::Value> {
        if let Some(Constant::F64(bits)) = self.backing.known(value) {
            let (wide, narrow) = (f64::from_bits(bits), f64::from_bits(bits) as f32);
            let exact = f64::from(narrow).to_bits() == wide.to_bits();
            return exact.then(|| self.backing.constant(Constant::F32(narrow.to_bits())));
        }
        let (plain, negative) = self.backing.split(value);
        match self.backing.opened(plain)? {
            (Opened::Convert(Scalar::F32, Scalar::F64), [x]) => {
                let x = *x;
                Some(if negative { self.float_negate(x) } else { x })
            }
            _ => None,
        }
    }
}

/// `1 / c` where that is exact and neither is subnormal: `c` is a power of two.
fn exact_inverse(c: Constant) -> Option<Constant> {
    match c {
        Constant::F64(bits) => {
            let inverse = 1.0 / f64::from_bits(bits);
            let power = bits & ((1 << 52) - 1) == 0 && inverse.is_normal() && f64::from_bits(bits).is_normal();
            power.then_some(Constant::F64(inverse.to_bits()))
        }
        Constant::F32(bits) => {
            let inverse = 1.0 / f32::from_bits(bits);
            let power = bits & ((1 << 23) - 1) == 0 && inverse.is_normal() && f32::from_bits(bits).is_normal();
            power.then_some(Constant::F32(inverse.to_bits()))
        }
        _ => None,
    }
}

impl<B: Backing> Domain for Symbolic<B> {
    type Value = B::Value;

    fn unwritten(&self) -> B::Value {
        self.backing.unwritten()
    }

    #[inline]
    fn is_unwritten(&self, value: B::Value) -> bool {
        value == self.backing.unwritten()
    }

    fn constant(&mut self, constant: Constant) -> B::Value {
        self.backing.constant(constant)
    }

    #[inline]
    fn known(&self, value: B::Value) -> Option<Constant> {
        self.backing.known(value)
    }

    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> B::Value {
        let value = self.backing.input(key, cell, ty);
        if !ty.is_float() && ty.bits() < 64 {
            self.narrow.insert(value, ty);
        }
        value
    }

    #[inline]
    fn binary(&mut self, op: Op, ty: Scalar, a: B::Value, b: B::Value) -> Result<B::Value, Undefined> {
        match (self.backing.known(a), self.backing.known(b)) {
            (Some(left), Some(right)) => {
                let folded = scalar::fold(op, ty, left, right)?;
                return Ok(self.backing.constant(folded));
            }
            // The usual case by far: no constant to look at.
            (None, None) if ty.is_float() => match op {
                Op::Add => {
                    let pair = self.ordered_pair(a, b, true);
                    return Ok(self.backing.apply(Tag::Binary(Op::Add, ty), &pair));
                }
                Op::Mul => {
                    let ((a, first), (b, second)) = (self.backing.split(a), self.backing.split(b));
                    let pair = self.ordered_pair(a, b, true);
                    let product = self.backing.apply(Tag::Binary(Op::Mul, ty), &pair);
                    self.used_nan_payload = true;
                    return Ok(if first != second { self.backing.turned(product) } else { product });
                }
                _ => {}
            },
            _ => {}
        }
        Ok(if ty.is_float() { self.float_binary(op, ty, a, b) } else { self.int_binary(op, ty, a, b) })
    }

    fn binary_column(
        &mut self,
        op: Op,
        ty: Scalar,
        a: &[B::Value],
        b: &[B::Value],
        out: &mut [B::Value],
    ) -> Result<(), Undefined> {
        self.many(op, ty, (a, b), out)
    }

    fn gather(&mut self, op: Op, ty: Scalar, start: B::Value, column: &[B::Value]) -> Result<B::Value, Undefined> {
        self.gathered(op, ty, start, column)
    }

    fn negate(&mut self, ty: Scalar, value: B::Value) -> Result<B::Value, Undefined> {
        if ty.is_float() {
            self.used_nan_payload = true;
            return Ok(self.float_negate(value));
        }
        let zero = self.backing.constant(Constant::Int(0));
        self.binary(Op::Sub, ty, zero, value)
    }

    fn compare(&mut self, cmp: Cmp, ty: Scalar, a: B::Value, b: B::Value) -> B::Value {
        if let (Some(left), Some(right)) = (self.backing.known(a), self.backing.known(b)) {
            let holds = scalar::compare(cmp, left, right);
            return self.backing.constant(Constant::Int(i64::from(holds)));
        }
        if a == b && !ty.is_float() {
            return self.backing.constant(Constant::Int(i64::from(matches!(cmp, Cmp::Le | Cmp::Eq))));
        }
        for (truth, other) in [(a, b), (b, a)] {
            // A truth value compared with zero or one is itself or its negation.
            let expected = match self.backing.known(other) {
                Some(Constant::Int(bit @ (0 | 1))) if self.is_truth(truth) => bit == 1,
                _ => continue,
            };
            match cmp {
                Cmp::Eq => return self.truth_is(truth, expected),
                Cmp::Ne => return self.truth_is(truth, !expected),
                _ => {}
            }
        }
        match cmp {
            Cmp::Ne => {
                let equal = self.compare(Cmp::Eq, ty, a, b);
                self.not(equal)
            }
            // Of integers one of `a <= b` and `b < a` holds; of floating-point numbers neither may.
            Cmp::Le if !ty.is_float() => {
                let above = self.compare(Cmp::Lt, ty, b, a);
                self.not(above)
            }
            Cmp::Eq => {
                let pair = if a <= b { [a, b] } else { [b, a] };
                let value = self.backing.apply(Tag::Compare(Cmp::Eq, class(ty)), &pair);
                self.note_truth(value)
            }
            _ => {
                let value = self.backing.apply(Tag::Compare(cmp, class(ty)), &[a, b]);
                if cmp == Cmp::Lt && !ty.is_float() {
                    self.below.insert(value, (a, b));
                }
                self.note_truth(value)
            }
        }
    }

    fn not(&mut self, value: B::Value) -> B::Value {
        match self.backing.known(value) {
            Some(constant) => self.backing.constant(Constant::Int(i64::from(!constant.is_true()))),
            None => self.backing.turned(value),
        }
    }

    fn convert(&mut self, from: Scalar, to: Scalar, value: B::Value) -> Result<B::Value, Undefined> {
        if let Some(constant) = self.backing.known(value) {
            let converted = scalar::convert(constant, to)?;
            return Ok(self.backing.constant(converted));
        }
        if to == Scalar::Bool && from != Scalar::Bool {
            let zero =
                self.backing.constant(if from.is_float() { Constant::float(from, 0.0) } else { Constant::Int(0) });
            return Ok(self.compare(Cmp::Ne, from, value, zero));
        }
        if from == to {
            return Ok(value);
        }
        self.used_cases = true;
        if !from.is_float() && !to.is_float() {
            let (least, most) = to.range();
            let fits = |ty: Scalar| least <= ty.range().0 && ty.range().1 <= most;
            if fits(from) || self.narrow.get(&value).copied().is_some_and(fits) {
                return Ok(value);
            }
            let converted = self.backing.apply(Tag::Convert(Scalar::I64, to), &[value]);
            self.narrow.insert(converted, to);
            return Ok(converted);
        }
        if from.is_float() && to.is_float() {
            if let (Scalar::F64, Some(rounded)) = (from, self.rounded(value)) {
                return rounded;
            }
            // Rounding is to nearest, so it does not see the sign.
            let (value, negative) = self.backing.split(value);
            let converted = self.backing.apply(Tag::Convert(from, to), &[value]);
            return Ok(if negative { self.signed(converted, true) } else { converted });
        }
        // Integers are numbers whatever their type, so the source type matters for floats only.
        let source = if from.is_float() { from } else { Scalar::I64 };
        Ok(self.backing.apply(Tag::Convert(source, to), &[value]))
    }

    fn choice(&mut self, cond: B::Value, yes: B::Value, no: B::Value) -> B::Value {
        if let Some(constant) = self.backing.known(cond) {
            return if constant.is_true() { yes } else { no };
        }
        if yes == no {
            return yes;
        }
        self.used_cases = true;
        let (cond, negated) = self.backing.split(cond);
        let (yes, no) = if negated { (no, yes) } else { (yes, no) };
        let (cond, yes, no) = self.larger_or_smaller(cond, yes, no);
        match (self.backing.known(yes), self.backing.known(no)) {
            (Some(Constant::Int(1)), Some(Constant::Int(0))) => cond,
            (Some(Constant::Int(0)), Some(Constant::Int(1))) => self.backing.turned(cond),
            _ => {
                let value = self.backing.apply(Tag::Choice, &[cond, yes, no]);
                if self.is_truth(yes) && self.is_truth(no) { self.note_truth(value) } else { value }
            }
        }
    }

    fn call(&mut self, name: &str, ty: Scalar, arguments: &[B::Value]) -> B::Value {
        // Which zero is the larger one is the library's choice.
        let zeros = || arguments.iter().all(|a| self.backing.known(*a).and_then(Constant::as_float) == Some(0.0));
        if EXACT.contains(&name.trim_end_matches('f'))
            && !(name.starts_with("fm") && zeros())
            && let Some(known) = arguments.iter().map(|a| self.backing.known(*a)).collect::<Option<Vec<_>>>()
        {
            let value = crate::number::eval_call(name, ty, &known);
            return self.backing.constant(value);
        }
        match (name, arguments) {
            ("fabs" | "fabsf", [x]) => {
                let (x, _) = self.magnitude(*x);
                self.used_nan_payload = true;
                match self.backing.known(x) {
                    Some(_) => x,
                    None => self.backing.apply(Tag::Call("fabs", ty), &[x]),
                }
            }
            ("fma" | "fmaf", [a, b, c]) if self.mode == Floating::Contract => {
                let product = self.float_binary(Op::Mul, ty, *a, *b);
                self.float_binary(Op::Add, ty, product, *c)
            }
            ("fma" | "fmaf", [a, b, c]) => {
                let ((a, first), (b, second)) = (self.magnitude(*a), self.magnitude(*b));
                let [a, b] = self.ordered_pair(a, b, true);
                let a = self.signed(a, first != second);
                self.backing.apply(Tag::Call("fma", ty), &[a, b, *c])
            }
            _ => self.backing.apply(Tag::Call(name, ty), arguments),
        }
    }
}

/// Functions whose result on constants every library agrees on.
const EXACT: [&str; 10] = ["floor", "ceil", "trunc", "round", "fabs", "sqrt", "fmin", "fmax", "abs", "labs"];

/// Comparisons of integers do not depend on their width.
fn class(ty: Scalar) -> Scalar {
    if ty.is_float() { ty } else { Scalar::I64 }
}
