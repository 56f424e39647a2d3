//! Operators on values, with the conversions of C made explicit.

use super::values::{common, convert_data, convert_int, is_closed, promote};
use super::{Lowerer, Val, constant};
use crate::ast::Binary;
use crate::error::Error;
use updates::{Cmp, Constant, Data, Int, Op, Scalar};

fn op(binary: Binary) -> Option<Op> {
    Some(match binary {
        Binary::Add => Op::Add,
        Binary::Sub => Op::Sub,
        Binary::Mul => Op::Mul,
        Binary::Div => Op::Div,
        Binary::Rem => Op::Rem,
        Binary::And => Op::And,
        Binary::Or => Op::Or,
        Binary::Xor => Op::Xor,
        Binary::Shl => Op::Shl,
        Binary::Shr => Op::Shr,
        _ => return None,
    })
}

/// The comparison and whether its operands are swapped.
fn comparison(binary: Binary) -> Option<(Cmp, bool)> {
    Some(match binary {
        Binary::Lt => (Cmp::Lt, false),
        Binary::Gt => (Cmp::Lt, true),
        Binary::Le => (Cmp::Le, false),
        Binary::Ge => (Cmp::Le, true),
        Binary::Eq => (Cmp::Eq, false),
        Binary::Ne => (Cmp::Ne, false),
        _ => return None,
    })
}

/// The object that a pointer points into, if that is plain to see.
fn root(pointer: &Int) -> Option<u32> {
    match pointer {
        Int::Address(place) => match &**place {
            updates::Place::Cell(object) => Some(*object),
            updates::Place::Element(element) => match &element.base {
                updates::Base::Object(object) => Some(*object),
                updates::Base::Pointer(inner) => root(inner),
            },
        },
        Int::Offset(parts, _) => root(&parts.0),
        _ => None,
    }
}

fn type_of(value: &Val) -> Option<Scalar> {
    match value {
        Val::Int(_, ty) | Val::Data(_, ty) => Some(*ty),
        _ => None,
    }
}

impl<'a> Lowerer<'a> {
    pub(super) fn binary(&mut self, binary: Binary, a: Val, b: Val) -> Result<Val, Error> {
        self.count()?;
        if let Some((cmp, swapped)) = comparison(binary) {
            return if swapped { self.compare(cmp, b, a) } else { self.compare(cmp, a, b) };
        }
        let Some(op) = op(binary) else { return Err(self.malformed("an operator in the wrong place")) };
        match (a, b) {
            (Val::Pointer(pointer, target), by @ (Val::Int(..) | Val::Data(..))) if matches!(op, Op::Add | Op::Sub) => {
                self.offset(pointer, &target, by, op)
            }
            (by @ (Val::Int(..) | Val::Data(..)), Val::Pointer(pointer, target)) if op == Op::Add => {
                self.offset(pointer, &target, by, op)
            }
            (Val::Pointer(a, target), Val::Pointer(b, other)) if op == Op::Sub => {
                let scale = target.cells().filter(|_| target == other).unwrap_or(0) as i64;
                if scale == 0 {
                    return Err(self.unsupported("a difference of these pointers"));
                }
                Ok(Val::Int(Int::Distance(Box::new((a, b)), scale), Scalar::I64))
            }
            (a, b) => self.arithmetic(op, a, b),
        }
    }

    fn arithmetic(&mut self, op: Op, a: Val, b: Val) -> Result<Val, Error> {
        let (Some(left), Some(right)) = (type_of(&a), type_of(&b)) else {
            return Err(self.unsupported("this operator on pointers or structures"));
        };
        let shift = matches!(op, Op::Shl | Op::Shr);
        let ty = if shift { promote(left) } else { common(left, right) };
        if ty.is_float() && !matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div) || shift && right.is_float() {
            return Err(self.malformed("an integer operator on floating-point numbers"));
        }
        if !ty.is_float()
            && let (Val::Int(a, left), Val::Int(b, right)) = (&a, &b)
        {
            let a = convert_int(a.clone(), *left, ty);
            let b = if shift { b.clone() } else { convert_int(b.clone(), *right, ty) };
            return Ok(Val::Int(self.fold(op, ty, a, b), ty));
        }
        let a = self.data_of(a, ty)?;
        let b = if shift { self.data_of(b, promote(right))? } else { self.data_of(b, ty)? };
        if let (Data::Const(left), Data::Const(right)) = (&a, &b)
            && let Ok(folded) = updates::fold(op, ty, *left, *right)
        {
            return Ok(Val::Data(constant(folded), ty));
        }
        Ok(Val::Data(Data::Binary(op, ty, Box::new((a, b))), ty))
    }

    fn fold(&self, op: Op, ty: Scalar, a: Int, b: Int) -> Int {
        if let (Int::Const(left), Int::Const(right)) = (&a, &b) {
            let known = |v: i64| if ty == Scalar::U64 { i128::from(v as u64) } else { i128::from(v) };
            let folded = updates::fold(op, ty, Constant::integer(known(*left)), Constant::integer(known(*right)));
            if let Ok(Some(value)) = folded.map(Constant::as_integer) {
                return Int::Const(value as i64);
            }
        }
        Int::Binary(op, ty, Box::new((a, b)))
    }

    pub(super) fn compare(&mut self, cmp: Cmp, a: Val, b: Val) -> Result<Val, Error> {
        let pointer = |value: &Val| matches!(value, Val::Pointer(..));
        if pointer(&a) || pointer(&b) {
            let number = |value: Val| match value {
                Val::Pointer(value, _) => Some(value),
                Val::Int(Int::Const(0), _) => Some(Int::Const(0)),
                _ => None,
            };
            let (Some(a), Some(b)) = (number(a), number(b)) else {
                return Err(self.unsupported("a comparison of a pointer with a number"));
            };
            // Where different objects lie is not known, so the distance must be one inside an object; null is no place.
            let null = |value: &Int| matches!(value, Int::Const(0));
            if let (Cmp::Eq | Cmp::Ne, Some(first), Some(second)) = (cmp, root(&a), root(&b))
                && first != second
            {
                return Err(self.unsupported("a comparison of pointers to different objects"));
            }
            let (a, b) =
                if null(&a) || null(&b) { (a, b) } else { (Int::Distance(Box::new((a, b)), 1), Int::Const(0)) };
            return Ok(Val::Int(Int::Compare(cmp, Scalar::I64, Box::new((a, b))), Scalar::I32));
        }
        let (Some(left), Some(right)) = (type_of(&a), type_of(&b)) else {
            return Err(self.malformed("a comparison of these operands"));
        };
        let ty = common(left, right);
        if !ty.is_float()
            && let (Val::Int(a, left), Val::Int(b, right)) = (&a, &b)
        {
            let a = convert_int(a.clone(), *left, ty);
            let b = convert_int(b.clone(), *right, ty);
            return Ok(Val::Int(Int::Compare(cmp, ty, Box::new((a, b))), Scalar::I32));
        }
        let (a, b) = (self.data_of(a, ty)?, self.data_of(b, ty)?);
        let data = Data::Compare(cmp, ty, Box::new((a, b)));
        if is_closed(&data, &self.program.functions) {
            return Ok(Val::Int(Int::FromData(Scalar::I32, Box::new(data)), Scalar::I32));
        }
        Ok(Val::Data(data, Scalar::I32))
    }

    pub(super) fn negate(&mut self, value: Val) -> Result<Val, Error> {
        match value {
            Val::Int(value, ty) => {
                let promoted = promote(ty);
                let value = convert_int(value, ty, promoted);
                Ok(Val::Int(self.fold(Op::Sub, promoted, Int::Const(0), value), promoted))
            }
            Val::Data(Data::Const(known), ty) if ty.is_float() => {
                let value = known.as_float().unwrap_or(0.0);
                Ok(Val::Data(constant(Constant::float(ty, -value)), ty))
            }
            Val::Data(data, ty) => {
                let promoted = promote(ty);
                let data = convert_data(data, ty, promoted);
                Ok(Val::Data(Data::Neg(promoted, Box::new(data)), promoted))
            }
            _ => Err(self.malformed("a negation of this")),
        }
    }

    pub(super) fn complement(&mut self, value: Val) -> Result<Val, Error> {
        let ones = Val::Int(Int::Const(-1), Scalar::I32);
        let promoted = match type_of(&value) {
            Some(ty) if !ty.is_float() => promote(ty),
            _ => return Err(self.malformed("a complement of this")),
        };
        let ones = self.convert(ones, &crate::ctype::CType::Scalar(promoted))?;
        self.arithmetic(Op::Xor, value, ones)
    }
}
