//! Control integers: slots, arithmetic as C does it, pointers.
//!
//! A pointer is a number: object and cell. Null is zero.

use super::{DEPENDS, Machine, Run, compare_control};
use crate::domain::Domain;
use crate::observe::Observer;
use crate::program::{Data, Int, Origin, Place, Program, UNWRITTEN};
use crate::scalar::{self, Op, Scalar, Undefined};

/// Offsets of pointers are within this many cells of the object's start.
pub(super) const REACH: i64 = 1 << 35;

pub(super) fn make_pointer(object: u32, cell: i64) -> Option<i64> {
    ((-REACH..REACH).contains(&cell) && object < 1 << 26).then(|| (i64::from(object) + 1) << 36 | (cell + REACH))
}

pub(super) fn split_pointer(pointer: i64) -> Option<(u32, i64)> {
    (pointer >= 1 << 36).then(|| (((pointer >> 36) - 1) as u32, (pointer & ((1 << 36) - 1)) - REACH))
}

/// The mathematical value of a control integer.
pub(super) fn number(ty: Scalar, value: i64) -> i128 {
    if ty == Scalar::U64 { i128::from(value as u64) } else { i128::from(value) }
}

/// The parameter passed by value that an expression reads.
pub(super) fn needed_parameter(program: &Program, data: &Data) -> Option<String> {
    let of = |d: &Data| needed_parameter(program, d);
    match data {
        Data::Load(Place::Cell(object)) => {
            let object = &program.objects[*object as usize];
            let needed = matches!(object.origin, Origin::Value(_)) && !object.fields[0].ty.is_float();
            needed.then(|| object.name.clone())
        }
        Data::Binary(_, _, parts) | Data::Compare(_, _, parts) => of(&parts.0).or_else(|| of(&parts.1)),
        Data::Neg(_, inner) | Data::Not(inner) | Data::Convert(_, _, inner) | Data::Sequence(_, inner) => of(inner),
        Data::Choice(parts) => of(&parts.1).or_else(|| of(&parts.2)),
        Data::Assign(_, parts) => of(&parts.1),
        _ => None,
    }
}

#[inline]
pub(super) fn arithmetic(op: Op, ty: Scalar, a: i64, b: i64) -> Result<i64, Undefined> {
    if ty == Scalar::I32 {
        let value = match op {
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            _ => return general(op, ty, a, b),
        };
        return if i64::from(value as i32) == value { Ok(value) } else { Err(Undefined::Overflow) };
    }
    general(op, ty, a, b)
}

fn general(op: Op, ty: Scalar, a: i64, b: i64) -> Result<i64, Undefined> {
    scalar::fold_integer(op, ty, number(ty, a), number(ty, b)).map(|value| value as i64)
}

impl<'p, D: Domain, O: Observer<D::Value>> Machine<'p, D, O> {
    pub(super) fn write_slot(&mut self, slot: u32, value: i64) {
        self.set_slot(slot, value);
        if O::ACTIVE {
            self.observer.slot(slot, self.site);
        }
    }

    /// Sets a slot where the program does not.
    pub(super) fn set_slot(&mut self, slot: u32, value: i64) {
        if let Some(branch) = self.branches.last_mut() {
            branch.slots.push((slot, self.slots[slot as usize]));
        }
        self.slots[slot as usize] = value;
    }

    fn assign_slot(&mut self, slot: u32, value: i64) -> Run<()> {
        if value == UNWRITTEN || value == DEPENDS {
            return Err(self.unsupported(format!("the number {value}")));
        }
        self.write_slot(slot, value);
        Ok(())
    }

    #[inline]
    pub(super) fn read_slot(&self, slot: u32) -> Run<i64> {
        let value = self.slots[slot as usize];
        if value == UNWRITTEN || value == DEPENDS { Err(self.bad_slot(value)) } else { Ok(value) }
    }

    #[cold]
    fn bad_slot(&self, value: i64) -> Box<crate::Fault> {
        if value == DEPENDS {
            self.unsupported("data-dependent control: a variable whose value depends on data")
        } else {
            self.undefined("a variable is read before it is written")
        }
    }

    /// As [`Machine::int`], without a call for variables and numbers.
    #[inline(always)]
    pub(super) fn leaf(&mut self, int: &'p Int) -> Run<i64> {
        match int {
            Int::Slot(slot) => self.read_slot(*slot),
            Int::Const(value) => Ok(*value),
            other => self.int(other),
        }
    }

    pub(super) fn int(&mut self, int: &'p Int) -> Run<i64> {
        match int {
            Int::Const(value) => Ok(*value),
            Int::Slot(slot) => self.read_slot(*slot),
            Int::Binary(op, ty, operands) => {
                let a = self.leaf(&operands.0)?;
                let b = self.leaf(&operands.1)?;
                arithmetic(*op, *ty, a, b).map_err(|why| self.undefined(why.to_string()))
            }
            Int::Compare(cmp, ty, operands) => {
                let a = self.leaf(&operands.0)?;
                let b = self.leaf(&operands.1)?;
                Ok(i64::from(compare_control(*cmp, *ty, a, b)))
            }
            Int::Not(value) => Ok(i64::from(self.int(value)? == 0)),
            Int::Convert(to, value) => {
                let value = self.int(value)?;
                Ok(to.wrap_control(value))
            }
            Int::And(parts) => Ok(i64::from(self.int(&parts.0)? != 0 && self.int(&parts.1)? != 0)),
            Int::Or(parts) => Ok(i64::from(self.int(&parts.0)? != 0 || self.int(&parts.1)? != 0)),
            Int::Choice(parts) => {
                if self.int(&parts.0)? != 0 {
                    self.int(&parts.1)
                } else {
                    self.int(&parts.2)
                }
            }
            Int::Assign(slot, value) => {
                let value = self.int(value)?;
                self.assign_slot(*slot, value)?;
                Ok(value)
            }
            Int::PostStep(slot, ty, by) => {
                let old = self.read_slot(*slot)?;
                let new = arithmetic(Op::Add, *ty, old, *by).map_err(|why| self.undefined(why.to_string()))?;
                self.assign_slot(*slot, new)?;
                Ok(old)
            }
            Int::FromData(ty, data) => {
                let value = self.data(data)?;
                match self.domain.known(value).and_then(|constant| constant.as_integer()) {
                    Some(value) if *ty == Scalar::U64 => Ok(value as u64 as i64),
                    Some(value) => Ok(value as i64),
                    None => Err(self.data_dependent(data, "subscript or control value")),
                }
            }
            Int::Sequence(stmts, value) => {
                self.sequence(stmts)?;
                self.int(value)
            }
            Int::Let(parts, value) => {
                for (slot, part) in parts {
                    let part = self.leaf(part)?;
                    self.assign_slot(*slot, part)?;
                }
                self.int(value)
            }
            Int::Address(place) => {
                let (object, cell) = match &**place {
                    Place::Cell(object) => (*object, 0),
                    Place::Element(element) => self.address(element)?,
                };
                make_pointer(object, cell).ok_or_else(|| self.undefined("a pointer far outside its object"))
            }
            Int::Offset(parts, scale) => {
                let pointer = self.int(&parts.0)?;
                let by = self.int(&parts.1)?;
                let (object, cell) = self.pointer_parts(pointer)?;
                let moved = by.checked_mul(*scale).and_then(|by| cell.checked_add(by));
                let made = moved.and_then(|cell| make_pointer(object, cell));
                made.ok_or_else(|| self.undefined("a pointer far outside its object"))
            }
            Int::Distance(parts, scale) => {
                let (a, b) = (self.int(&parts.0)?, self.int(&parts.1)?);
                let ((first, x), (second, y)) = (self.pointer_parts(a)?, self.pointer_parts(b)?);
                if first != second {
                    return Err(self.undefined("difference of pointers to different objects"));
                }
                Ok((x - y) / scale)
            }
        }
    }

    /// The cell an element would have; it need not exist, one past the end is a legal address.
    fn address(&mut self, element: &'p crate::program::Element) -> Run<(u32, i64)> {
        let (object, start) = match &element.base {
            crate::program::Base::Object(object) => (*object, 0),
            crate::program::Base::Pointer(pointer) => {
                let value = self.int(pointer)?;
                self.pointer_parts(value)?
            }
        };
        let mut cell = start + element.offset;
        for index in &element.index {
            let value = self.int(&index.value)?;
            let step = value.checked_mul(index.stride).and_then(|step| cell.checked_add(step));
            cell = step.ok_or_else(|| self.undefined("subscript overflows"))?;
        }
        Ok((object, cell))
    }
}

impl Scalar {
    /// Conversion of a control integer to this type.
    pub(super) fn wrap_control(self, value: i64) -> i64 {
        match self {
            Scalar::I32 => i64::from(value as i32),
            Scalar::U32 => i64::from(value as u32),
            Scalar::I64 | Scalar::U64 => value,
            Scalar::Bool => i64::from(value != 0),
            _ => self.wrap(i128::from(value)) as i64,
        }
    }
}
