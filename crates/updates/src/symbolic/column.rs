//! Operations on many operands at once: what [`super::Symbolic`] does to one pair, without looking anew at what is the same
//! for all of them.

use super::{Backing, Symbolic, Tag};
use crate::domain::{Domain, Floating};
use crate::scalar::{Op, Scalar, Undefined};

impl<B: Backing> Symbolic<B> {
    /// A sum or product of two floating-point values that are no constants.
    #[inline(always)]
    fn plain(&mut self, op: Op, ty: Scalar, a: B::Value, b: B::Value, ordered: bool) -> B::Value {
        let (a, b, negative) = if op == Op::Mul {
            let ((a, first), (b, second)) = (self.backing.split(a), self.backing.split(b));
            (a, b, first != second)
        } else {
            (a, b, false)
        };
        let pair = if ordered { [a, b] } else { self.backing.sorted(a, b) };
        let value = self.backing.apply(Tag::Binary(op, ty), &pair);
        if negative { self.backing.turned(value) } else { value }
    }

    #[inline(always)]
    fn each(
        &mut self,
        op: Op,
        ty: Scalar,
        (a, b): (&[B::Value], &[B::Value]),
        out: &mut [B::Value],
    ) -> Result<(), Undefined> {
        let ordered = self.mode == Floating::Ordered;
        self.used_nan_payload |= !ordered || op == Op::Mul;
        for (value, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
            *value = if self.backing.is_symbolic(*a) && self.backing.is_symbolic(*b) {
                self.plain(op, ty, *a, *b, ordered)
            } else {
                self.binary(op, ty, *a, *b)?
            };
        }
        Ok(())
    }

    pub(super) fn many(
        &mut self,
        op: Op,
        ty: Scalar,
        (a, b): (&[B::Value], &[B::Value]),
        out: &mut [B::Value],
    ) -> Result<(), Undefined> {
        match (op, ty) {
            (Op::Add, Scalar::F64) => self.each(Op::Add, Scalar::F64, (a, b), out),
            (Op::Mul, Scalar::F64) => self.each(Op::Mul, Scalar::F64, (a, b), out),
            (Op::Add | Op::Mul, Scalar::F32) => self.each(op, Scalar::F32, (a, b), out),
            _ => {
                for (value, (a, b)) in out.iter_mut().zip(a.iter().zip(b)) {
                    *value = self.binary(op, ty, *a, *b)?;
                }
                Ok(())
            }
        }
    }

    /// `start op b[0] op b[1] …`, from left to right.
    pub(super) fn gathered(
        &mut self,
        op: Op,
        ty: Scalar,
        start: B::Value,
        column: &[B::Value],
    ) -> Result<B::Value, Undefined> {
        let ordered = self.mode == Floating::Ordered;
        let float_sum = op == Op::Add && ty.is_float();
        let mut sum = start;
        for value in column {
            sum = if float_sum && self.backing.is_symbolic(sum) && self.backing.is_symbolic(*value) {
                self.used_nan_payload |= !ordered;
                self.plain(Op::Add, ty, sum, *value, ordered)
            } else {
                self.binary(op, ty, sum, *value)?
            };
        }
        Ok(sum)
    }
}
