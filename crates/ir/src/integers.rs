//! Operations on integers.

use crate::datum::{Datum, mask, signed};
use crate::machine::{Machine, Run};
use crate::module::IntOp;
use crate::values::Sign;
use updates::{Constant, Division, Domain, Op, Scalar, Undefined};

impl<D: Domain> Machine<'_, D> {
    #[inline]
    pub(crate) fn integer(
        &mut self,
        op: IntOp,
        bits: u8,
        exact: bool,
        a: Datum<D::Value>,
        b: Datum<D::Value>,
    ) -> Run<Datum<D::Value>> {
        match (a, b) {
            (Datum::Bits(x), Datum::Bits(y)) => match fold(op, bits, exact, x, y) {
                Ok(value) => Ok(Datum::Bits(value)),
                Err(why) => Err(self.undefined(why.to_string())),
            },
            (Datum::Place(first, x), Datum::Place(second, y)) if op == IntOp::Sub && first == second => {
                Ok(Datum::Bits(x.wrapping_sub(y) as u64))
            }
            _ => self.symbolic(op, bits, exact, a, b),
        }
    }

    fn symbolic(
        &mut self,
        op: IntOp,
        bits: u8,
        exact: bool,
        a: Datum<D::Value>,
        b: Datum<D::Value>,
    ) -> Run<Datum<D::Value>> {
        if bits == 1 {
            return self.truth(op, a, b);
        }
        let sum = if exact { Sign::Signed } else { Sign::Unsigned };
        let (op, sign, b) = match (op, b) {
            // `x - c` is `x + (2^n - c)` where it wraps.
            (IntOp::Sub, Datum::Bits(c)) if !exact => (Op::Add, Some(sum), Datum::Bits(c.wrapping_neg() & mask(bits))),
            (IntOp::Add, _) => (Op::Add, Some(sum), b),
            (IntOp::Sub, _) => (Op::Sub, Some(sum), b),
            (IntOp::Mul, _) => (Op::Mul, Some(sum), b),
            (IntOp::SignedDiv, _) => (Op::Div, Some(Sign::Signed), b),
            (IntOp::UnsignedDiv, _) => (Op::Div, Some(Sign::Unsigned), b),
            (IntOp::SignedRem, _) => (Op::Rem, Some(Sign::Signed), b),
            (IntOp::UnsignedRem, _) => (Op::Rem, Some(Sign::Unsigned), b),
            (IntOp::ShiftLeft, _) => (Op::Shl, Some(Sign::Unsigned), b),
            (IntOp::ArithmeticShift, _) => (Op::Shr, Some(Sign::Signed), b),
            (IntOp::LogicalShift, _) => (Op::Shr, Some(Sign::Unsigned), b),
            (IntOp::And, _) => (Op::And, None, b),
            (IntOp::Or, _) => (Op::Or, None, b),
            (IntOp::Xor, _) => (Op::Xor, None, b),
        };
        let ty = match sign {
            Some(sign) => sign.of(bits),
            None => self.common(bits, [a, b]),
        };
        let Some(ty) = ty else { return Err(self.unsupported("an integer of an unusual width")) };
        let (x, y) = (self.number(a, ty)?, self.number(b, ty)?);
        if matches!(op, Op::Div | Op::Rem) {
            self.note_division(ty, x, y);
        }
        let value = self.domain.binary(op, ty, x, y).map_err(|why| self.undefined(why.to_string()))?;
        Ok(self.held(value, ty, bits))
    }

    /// An operation on truth values.
    fn truth(&mut self, op: IntOp, a: Datum<D::Value>, b: Datum<D::Value>) -> Run<Datum<D::Value>> {
        let (x, y) = (self.number(a, Scalar::Bool)?, self.number(b, Scalar::Bool)?);
        let [no, yes] = [0, 1].map(|bit| self.domain.constant(Constant::Int(bit)));
        let value = match op {
            IntOp::And => self.domain.choice(x, y, no),
            IntOp::Or => self.domain.choice(x, yes, y),
            IntOp::Xor => {
                let not = self.domain.not(y);
                self.domain.choice(x, not, y)
            }
            _ => return Err(self.unsupported("arithmetic with truth values")),
        };
        Ok(self.held(value, Scalar::Bool, 1))
    }

    /// A division by data may trap.
    fn note_division(&mut self, ty: Scalar, dividend: D::Value, divisor: D::Value) {
        match self.domain.known(divisor).map(|known| known.as_integer()) {
            // Zero traps whatever is divided.
            Some(Some(0)) => {}
            Some(Some(-1)) if ty.is_signed() && self.domain.known(dividend).is_none() => {}
            Some(_) => return,
            None => {}
        }
        let division = Division { ty, dividend, divisor, path: self.path.clone(), site: 0 };
        let known = self.divisions.entry(divisor).or_default();
        if !known.iter().any(|d| d.covers(&division)) {
            known.push(division);
        }
    }
}

/// An operation on known numbers.
#[inline]
pub(crate) fn fold(op: IntOp, bits: u8, exact: bool, a: u64, b: u64) -> Result<u64, Undefined> {
    let (x, y) = (i128::from(signed(a, bits)), i128::from(signed(b, bits)));
    let wide = match op {
        IntOp::Add => x + y,
        IntOp::Sub => x - y,
        IntOp::Mul => x * y,
        _ => return fold_rarely(op, bits, a, b),
    };
    if exact {
        let fits = if bits == 64 { i64::try_from(wide).is_ok() } else { i128::from(signed(wide as u64, bits)) == wide };
        if !fits {
            return Err(Undefined::Overflow);
        }
    }
    Ok(wide as u64 & mask(bits))
}

fn fold_rarely(op: IntOp, bits: u8, a: u64, b: u64) -> Result<u64, Undefined> {
    let (x, y) = (signed(a, bits), signed(b, bits));
    let shift = || if b < u64::from(bits) { Ok(b as u32) } else { Err(Undefined::Shift) };
    let value = match op {
        IntOp::SignedDiv | IntOp::SignedRem => {
            if y == 0 {
                return Err(Undefined::Division);
            }
            let lowest = i64::MIN >> (64 - u32::from(bits));
            if x == lowest && y == -1 {
                return Err(Undefined::Overflow);
            }
            if op == IntOp::SignedDiv { (x / y) as u64 } else { (x % y) as u64 }
        }
        IntOp::UnsignedDiv => a.checked_div(b).ok_or(Undefined::Division)?,
        IntOp::UnsignedRem => a.checked_rem(b).ok_or(Undefined::Division)?,
        IntOp::ShiftLeft => a << shift()?,
        IntOp::ArithmeticShift => (x >> shift()?) as u64,
        IntOp::LogicalShift => a >> shift()?,
        IntOp::And => a & b,
        IntOp::Or => a | b,
        IntOp::Xor => a ^ b,
        IntOp::Add | IntOp::Sub | IntOp::Mul => return Err(Undefined::Overflow),
    };
    Ok(value & mask(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers_wrap_or_overflow() {
        assert_eq!(fold(IntOp::Add, 32, true, 0x7fff_ffff, 1), Err(Undefined::Overflow));
        assert_eq!(fold(IntOp::Add, 32, false, 0x7fff_ffff, 1), Ok(0x8000_0000));
        assert_eq!(fold(IntOp::Mul, 64, true, 1 << 62, 2), Err(Undefined::Overflow));
        assert_eq!(fold(IntOp::Mul, 64, false, u64::MAX, u64::MAX), Ok(1));
        assert_eq!(fold(IntOp::SignedDiv, 32, false, 0x8000_0000, 0xffff_ffff), Err(Undefined::Overflow));
        assert_eq!(fold(IntOp::SignedRem, 8, false, 0xf9, 3), Ok(0xff), "-7 % 3 is -1");
        assert_eq!(fold(IntOp::UnsignedDiv, 64, false, 1, 0), Err(Undefined::Division));
        assert_eq!(fold(IntOp::ShiftLeft, 32, false, 1, 32), Err(Undefined::Shift));
        assert_eq!(fold(IntOp::ArithmeticShift, 16, false, 0x8000, 15), Ok(0xffff));
        assert_eq!(fold(IntOp::LogicalShift, 16, false, 0x8000, 15), Ok(1));
    }
}
