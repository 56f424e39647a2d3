//! From what registers hold to values of the domain and back.

use crate::datum::{Datum, bits_of, constant_of, mask, signed_type, unsigned_type};
use crate::machine::{Machine, Run};
use crate::module::Kind;
use updates::{Domain, Scalar};

/// How the bits of an integer are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
}

impl Sign {
    /// The type of a width.
    pub fn of(self, bits: u8) -> Option<Scalar> {
        match self {
            Sign::Signed => signed_type(bits),
            Sign::Unsigned => unsigned_type(bits),
        }
    }
}

/// The type of a floating-point kind.
pub(crate) fn float_type(kind: Kind) -> Option<Scalar> {
    match kind {
        Kind::Float => Some(Scalar::F32),
        Kind::Double => Some(Scalar::F64),
        _ => None,
    }
}

impl<D: Domain> Machine<'_, D> {
    /// The content of a register or cell as a number of a type. It is the number modulo the type, which is not narrower than
    /// what holds it.
    pub(crate) fn number(&mut self, datum: Datum<D::Value>, ty: Scalar) -> Run<D::Value> {
        match datum {
            Datum::Bits(bits) => Ok(self.domain.constant(constant_of(bits, ty))),
            Datum::Value(value, of) if of == ty => Ok(value),
            // A conversion to `_Bool` is no conversion of bits.
            Datum::Value(value, of) if !of.is_float() && !ty.is_float() && ty != Scalar::Bool => {
                self.domain.convert(of, ty, value).map_err(|why| self.undefined(why.to_string()))
            }
            Datum::Value(..) => Err(self.unsupported("a value of one type is read as one of another")),
            other => Err(self.no_number(other)),
        }
    }

    #[cold]
    pub(crate) fn no_number(&self, datum: Datum<D::Value>) -> Box<updates::Fault> {
        match datum {
            Datum::Poison => self.undefined("something is read before it is written".to_string()),
            Datum::Lost => self.unsupported("what a branch on data leaves, or a piece of a value"),
            _ => self.unsupported("arithmetic with an address"),
        }
    }

    /// The type that two operands are numbers of, where the operation does not say: unsigned if one of them is.
    pub(crate) fn common(&self, bits: u8, operands: [Datum<D::Value>; 2]) -> Option<Scalar> {
        let unsigned = unsigned_type(bits)?;
        let is = |datum: &Datum<D::Value>| matches!(datum, Datum::Value(_, ty) if *ty == unsigned);
        if operands.iter().any(is) || bits == 1 { Some(unsigned) } else { signed_type(bits) }
    }

    /// What a register of this width holds if a value is put there.
    #[inline]
    pub(crate) fn held(&self, value: D::Value, ty: Scalar, bits: u8) -> Datum<D::Value> {
        match self.domain.known(value) {
            Some(constant) => Datum::Bits(bits_of(constant) & mask(bits)),
            None => Datum::Value(value, ty),
        }
    }

    /// The type that bits of a kind are taken as if nothing is known about them.
    pub(crate) fn plain(&self, kind: Kind) -> Option<Scalar> {
        match kind {
            Kind::Int(1) => Some(Scalar::Bool),
            Kind::Int(bits) => signed_type(bits),
            other => float_type(other),
        }
    }

    /// One of two contents of a register or cell of a kind.
    pub(crate) fn either(
        &mut self,
        cond: D::Value,
        kind: Option<Kind>,
        yes: Datum<D::Value>,
        no: Datum<D::Value>,
    ) -> Run<Datum<D::Value>> {
        if yes == no {
            return Ok(yes);
        }
        let numbers = |datum| matches!(datum, Datum::Value(..) | Datum::Bits(_));
        let (true, Some(kind)) = (numbers(yes) && numbers(no), kind) else { return Ok(Datum::Lost) };
        // Zero and one are truth values where the other one is, and where nobody says more: both are the same numbers of any type.
        let truth = |datum| matches!(datum, Datum::Value(_, Scalar::Bool) | Datum::Bits(0 | 1));
        let ty = match (yes, no, kind) {
            _ if kind == Kind::Int(8) && truth(yes) && truth(no) => Some(Scalar::Bool),
            // Also if it is wider or narrower than the place: the low bits of one of them are those of the choice.
            (Datum::Value(_, a), Datum::Value(_, b), _) if a == b => Some(a),
            // Any number with the constant's low bits will do.
            (Datum::Value(_, a), Datum::Bits(_), Kind::Int(bits))
            | (Datum::Bits(_), Datum::Value(_, a), Kind::Int(bits))
                if !a.is_float() && a.bits() > u32::from(bits) =>
            {
                Some(a)
            }
            (_, _, Kind::Int(bits)) => self.common(bits, [yes, no]),
            (_, _, other) => float_type(other),
        };
        let (Some(ty), bits) = (ty, kind.bits()) else { return Ok(Datum::Lost) };
        let (Ok(a), Ok(b)) = (self.number(yes, ty), self.number(no, ty)) else { return Ok(Datum::Lost) };
        let chosen = self.domain.choice(cond, a, b);
        Ok(self.held(chosen, ty, bits))
    }
}
