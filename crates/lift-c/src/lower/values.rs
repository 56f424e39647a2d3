//! Values and places during lowering, and conversions between them.

use super::{Lowerer, constant};
use crate::ctype::CType;
use crate::error::Error;
use std::rc::Rc;
use updates::{Base, Cmp, Cond, Constant, Data, Element, Index, Int, Op, Place, Scalar, Stmt};

/// A value of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Val {
    /// A control integer.
    Int(Int, Scalar),
    /// Data.
    Data(Data, Scalar),
    /// A pointer and what it points to.
    Pointer(Int, Rc<CType>),
    /// A structure in memory, after these statements.
    Struct(Access, CType, Vec<Stmt>),
    /// Fresh memory of so many bytes; zeroed if asked.
    Fresh(u64, bool),
    /// Nothing.
    Void,
}

/// A place of an expression.
#[derive(Clone, Debug)]
pub(crate) enum Lv {
    /// A control integer.
    Slot(u32, Scalar, super::Key),
    /// A pointer variable.
    Pointer(u32, Rc<CType>),
    /// Memory of a type.
    Memory(Access, CType),
}

/// A path into memory.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub base: Base,
    pub index: Vec<Index>,
    pub offset: i64,
}

impl Access {
    pub fn place(self) -> Place {
        match self {
            Access { base: Base::Object(object), index, offset: 0 } if index.is_empty() => Place::Cell(object),
            Access { base, index, offset } => Place::Element(Box::new(Element { base, index, offset })),
        }
    }
}

/// Is the value zero or one by its form?
pub(super) fn is_truth(data: &Data) -> bool {
    match data {
        Data::Compare(..) | Data::Not(_) | Data::And(_) | Data::Or(_) => true,
        Data::Const(Constant::Int(value)) => *value == 0 || *value == 1,
        Data::Convert(_, Scalar::Bool, _) => true,
        _ => false,
    }
}

/// Functions whose value on constants is exact, so that bounds written with them are known.
const EXACT: [&str; 14] = [
    "floor", "ceil", "trunc", "round", "fabs", "sqrt", "fmin", "fmax", "floorf", "ceilf", "fabsf", "sqrtf", "abs",
    "labs",
];

/// Does the value not depend on any cell?
pub(super) fn is_closed(data: &Data, functions: &[String]) -> bool {
    let closed = |d: &Data| is_closed(d, functions);
    match data {
        Data::Const(_) | Data::FromInt(..) => true,
        Data::Binary(_, _, parts) | Data::Compare(_, _, parts) => closed(&parts.0) && closed(&parts.1),
        Data::Neg(_, inner) | Data::Not(inner) | Data::Convert(_, _, inner) => closed(inner),
        Data::Call(_, function, arguments) => {
            EXACT.contains(&functions[*function as usize].as_str()) && arguments.iter().all(closed)
        }
        _ => false,
    }
}

/// Does evaluating it write something?
pub(super) fn has_effects(int: &Int) -> bool {
    match int {
        Int::Const(_) | Int::Slot(_) => false,
        Int::Binary(_, _, parts) | Int::Compare(_, _, parts) | Int::And(parts) | Int::Or(parts) => {
            has_effects(&parts.0) || has_effects(&parts.1)
        }
        Int::Offset(parts, _) | Int::Distance(parts, _) => has_effects(&parts.0) || has_effects(&parts.1),
        Int::Not(inner) | Int::Convert(_, inner) => has_effects(inner),
        Int::Choice(parts) => has_effects(&parts.0) || has_effects(&parts.1) || has_effects(&parts.2),
        Int::Assign(..) | Int::PostStep(..) | Int::Sequence(..) => true,
        Int::Let(parts, value) => parts.iter().any(|(_, part)| has_effects(part)) || has_effects(value),
        Int::FromData(_, data) => !matches!(**data, Data::Load(Place::Cell(_))),
        Int::Address(place) => place_has_effects(place),
    }
}

pub(super) fn place_has_effects(place: &Place) -> bool {
    match place {
        Place::Cell(_) => false,
        Place::Element(element) => {
            let base = match &element.base {
                Base::Object(_) => false,
                Base::Pointer(pointer) => has_effects(pointer),
            };
            base || element.index.iter().any(|i| has_effects(&i.value))
        }
    }
}

/// Integer promotion (C11 6.3.1.1).
pub(super) fn promote(ty: Scalar) -> Scalar {
    if ty.is_float() || ty.bits() >= 32 { ty } else { Scalar::I32 }
}

/// The usual arithmetic conversions (C11 6.3.1.8).
pub(super) fn common(a: Scalar, b: Scalar) -> Scalar {
    if a == Scalar::F64 || b == Scalar::F64 {
        return Scalar::F64;
    }
    if a == Scalar::F32 || b == Scalar::F32 {
        return Scalar::F32;
    }
    let (a, b) = (promote(a), promote(b));
    // `int`, `unsigned`, `long`, `unsigned long`: the later one holds or wins.
    a.max(b)
}

/// A control integer converted to a type.
pub(super) fn convert_int(value: Int, from: Scalar, to: Scalar) -> Int {
    let ((low, high), (least, most)) = (from.range(), to.range());
    if least <= low && high <= most {
        return value;
    }
    match value {
        Int::Const(number) => {
            let number = if from == Scalar::U64 { i128::from(number as u64) } else { i128::from(number) };
            let wrapped = if to == Scalar::Bool { i128::from(number != 0) } else { to.wrap(number) };
            Int::Const(wrapped as i64)
        }
        other => Int::Convert(to, Box::new(other)),
    }
}

/// Data converted to a type.
pub(super) fn convert_data(value: Data, from: Scalar, to: Scalar) -> Data {
    if from == to {
        return value;
    }
    if let Data::Const(known) = value
        && let Ok(converted) = updates::convert(known, to)
    {
        return Data::Const(converted);
    }
    Data::Convert(from, to, Box::new(value))
}

impl<'a> Lowerer<'a> {
    /// The value as data of a type.
    pub(super) fn data_of(&mut self, value: Val, to: Scalar) -> Result<Data, Error> {
        match value {
            Val::Int(Int::Const(number), from) => {
                let number = if from == Scalar::U64 { i128::from(number as u64) } else { i128::from(number) };
                Ok(convert_data(constant(Constant::integer(number)), from, to))
            }
            Val::Int(value, from) => Ok(convert_data(Data::FromInt(from, Box::new(value)), from, to)),
            Val::Data(value, from) => Ok(convert_data(value, from, to)),
            Val::Pointer(..) | Val::Fresh(..) => Err(self.unsupported("a pointer used as a number")),
            Val::Struct(..) => Err(self.unsupported("a structure used as a number")),
            Val::Void => Err(self.malformed("a value of type void is used")),
        }
    }

    /// The value as a control integer, and its type.
    pub(super) fn int_of(&mut self, value: Val) -> Result<(Int, Scalar), Error> {
        match value {
            Val::Int(value, ty) => Ok((value, ty)),
            Val::Data(data, ty) if !ty.is_float() => Ok((Int::FromData(ty, Box::new(data)), ty)),
            Val::Data(..) => Err(self.malformed("a floating-point number where an integer is needed")),
            Val::Pointer(..) | Val::Fresh(..) => Err(self.unsupported("a pointer used as a number")),
            Val::Struct(..) => Err(self.unsupported("a structure used as a number")),
            Val::Void => Err(self.malformed("a value of type void is used")),
        }
    }

    /// The value as a condition.
    pub(super) fn cond_of(&mut self, value: Val) -> Result<Cond, Error> {
        match value {
            Val::Int(value, _) => Ok(Cond::Int(value)),
            Val::Pointer(value, _) => Ok(Cond::Int(value)),
            Val::Data(data, ty) => {
                let closed = is_closed(&data, &self.program.functions);
                let truth = self.truth(data, ty);
                Ok(if closed { Cond::Int(Int::FromData(Scalar::I32, Box::new(truth))) } else { Cond::Data(truth) })
            }
            _ => Err(self.malformed("this cannot be a condition")),
        }
    }

    /// Data as zero or one.
    pub(super) fn truth(&self, data: Data, ty: Scalar) -> Data {
        if is_truth(&data) {
            return data;
        }
        let zero = if ty.is_float() { Constant::float(ty, 0.0) } else { Constant::Int(0) };
        Data::Compare(Cmp::Ne, ty, Box::new((data, constant(zero))))
    }

    /// The value converted as by a cast or an assignment.
    pub(super) fn convert(&mut self, value: Val, to: &CType) -> Result<Val, Error> {
        match (value, to) {
            (value, CType::Void) => {
                drop(value);
                Ok(Val::Void)
            }
            (Val::Int(value, from), CType::Scalar(to)) if !to.is_float() => {
                Ok(Val::Int(convert_int(value, from, *to), *to))
            }
            (Val::Data(data, from), CType::Scalar(to)) => {
                let closed = !to.is_float() && is_closed(&data, &self.program.functions);
                let converted = convert_data(data, from, *to);
                Ok(if closed {
                    Val::Int(Int::FromData(*to, Box::new(converted)), *to)
                } else {
                    Val::Data(converted, *to)
                })
            }
            (value @ Val::Int(..), CType::Scalar(to)) => Ok(Val::Data(self.data_of(value, *to)?, *to)),
            (Val::Int(Int::Const(0), _), CType::Pointer(target)) => Ok(Val::Pointer(Int::Const(0), Rc::clone(target))),
            (Val::Pointer(value, from), CType::Pointer(to)) => {
                let same = from.same_cells(to) || **to == CType::Void || value_is_null(&value);
                if !same {
                    return Err(self.unsupported(format!("a cast from `{} *` to `{} *`", from.name(), to.name())));
                }
                Ok(Val::Pointer(value, Rc::clone(to)))
            }
            (Val::Fresh(bytes, zeroed), CType::Pointer(to)) => self.allocate(bytes, zeroed, to),
            (value @ Val::Struct(..), CType::Struct(_)) => Ok(value),
            _ => Err(self.unsupported(format!("a conversion to `{}`", to.name()))),
        }
    }

    /// Pointer plus or minus an integer.
    pub(super) fn offset(&mut self, pointer: Int, target: &Rc<CType>, by: Val, op: Op) -> Result<Val, Error> {
        let (by, ty) = self.int_of(by)?;
        let by = convert_int(by, ty, Scalar::I64);
        let scale = target.cells().ok_or_else(|| self.unsupported("arithmetic on a pointer without a size"))? as i64;
        let scale = if op == Op::Sub { -scale } else { scale };
        Ok(Val::Pointer(Int::Offset(Box::new((pointer, by)), scale), Rc::clone(target)))
    }
}

fn value_is_null(value: &Int) -> bool {
    matches!(value, Int::Const(0))
}
