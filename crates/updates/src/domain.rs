//! What data values are: hashes, terms or numbers. The machine is the same for all.

use crate::scalar::{Cmp, Constant, Op, Scalar, Undefined};
use std::fmt::Debug;
use std::hash::Hash;

/// A kind of data values.
pub trait Domain {
    /// A value.
    type Value: Copy + Eq + Hash + Debug;

    /// What a cell holds that nobody wrote.
    fn unwritten(&self) -> Self::Value;
    /// Is the value the one of a cell that nobody wrote?
    fn is_unwritten(&self, value: Self::Value) -> bool;
    /// A known value.
    fn constant(&mut self, constant: Constant) -> Self::Value;
    /// The value if it is known.
    fn known(&self, value: Self::Value) -> Option<Constant>;
    /// The start value of a cell of an input; `key` names the input on both sides.
    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> Self::Value;
    /// An operation.
    fn binary(&mut self, op: Op, ty: Scalar, a: Self::Value, b: Self::Value) -> Result<Self::Value, Undefined>;
    /// An operation on many pairs of operands.
    fn binary_column(
        &mut self,
        op: Op,
        ty: Scalar,
        a: &[Self::Value],
        b: &[Self::Value],
        out: &mut [Self::Value],
    ) -> Result<(), Undefined> {
        for (value, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *value = self.binary(op, ty, *a, *b)?;
        }
        Ok(())
    }
    /// `start op column[0] op column[1] …`, from left to right.
    fn gather(
        &mut self,
        op: Op,
        ty: Scalar,
        start: Self::Value,
        column: &[Self::Value],
    ) -> Result<Self::Value, Undefined> {
        column.iter().try_fold(start, |sum, value| self.binary(op, ty, sum, *value))
    }
    /// Arithmetic negation.
    fn negate(&mut self, ty: Scalar, value: Self::Value) -> Result<Self::Value, Undefined>;
    /// A comparison of values of a type: zero or one.
    fn compare(&mut self, cmp: Cmp, ty: Scalar, a: Self::Value, b: Self::Value) -> Self::Value;
    /// Negation of a value that is zero or one.
    fn not(&mut self, value: Self::Value) -> Self::Value;
    /// A conversion.
    fn convert(&mut self, from: Scalar, to: Scalar, value: Self::Value) -> Result<Self::Value, Undefined>;
    /// One of two values, by a condition that is zero or one and not known.
    fn choice(&mut self, cond: Self::Value, yes: Self::Value, no: Self::Value) -> Self::Value;
    /// Result of a function without side effects.
    fn call(&mut self, name: &str, ty: Scalar, arguments: &[Self::Value]) -> Self::Value;
}

/// Which rewriting of floating-point operations counts as the same computation.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub enum Floating {
    /// Every operation is an IEEE function; `+` and `*` commute, which is exact up to the payload of NaNs.
    #[default]
    Ieee,
    /// Also the order of operands must match.
    Ordered,
    /// Sums and products are multisets.
    Reassoc,
    /// `a * b + c` and `fma(a, b, c)` are the same.
    Contract,
}

impl Floating {
    /// All modes, the strictest first.
    pub const ALL: [Floating; 4] = [Floating::Ordered, Floating::Ieee, Floating::Contract, Floating::Reassoc];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Floating::Ieee => "ieee",
            Floating::Ordered => "ordered",
            Floating::Reassoc => "reassoc",
            Floating::Contract => "contract",
        }
    }

    /// The mode of a name.
    pub fn from_name(name: &str) -> Option<Floating> {
        Floating::ALL.into_iter().find(|mode| mode.name() == name)
    }
}
