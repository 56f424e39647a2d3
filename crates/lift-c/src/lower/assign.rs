//! Assignments, `++` and `--`.

use super::expressions::typed;
use super::values::{Access, convert_int, place_has_effects};
use super::{Key, Lowerer, Lv, Val};
use crate::ast::{Binary, Expr};
use crate::ctype::CType;
use crate::error::Error;
use std::rc::Rc;
use updates::{Base, Constant, Data, Int, Op, Place, Scalar, Stmt};

impl<'a> Lowerer<'a> {
    /// An assignment as a statement. False if it must be lowered as an expression.
    pub(super) fn store(
        &mut self,
        operator: Option<Binary>,
        left: &Expr,
        right: &Expr,
        line: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<bool, Error> {
        let place = self.place(left)?;
        match place {
            Lv::Memory(access, CType::Scalar(ty)) => {
                let (access, before) = self.fixed(access, operator.is_some());
                out.extend(before);
                let data = self.new_content(operator, &access, ty, right)?;
                let site = self.site(line);
                out.push(Stmt::Store(site, access.place(), data));
                Ok(true)
            }
            Lv::Memory(access, CType::Struct(layout)) if operator.is_none() => {
                let ty = CType::Struct(Rc::clone(&layout));
                let value = self.value(right)?;
                let Val::Struct(from, other, before) = value else {
                    return Err(self.malformed("an assignment to a structure"));
                };
                if other != ty {
                    return Err(self.malformed("an assignment of another structure"));
                }
                let site = self.site(line);
                out.extend(before);
                self.copy_struct(site, &access, &from, &ty, out)?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    pub(super) fn copy_struct(
        &mut self,
        site: u32,
        to: &Access,
        from: &Access,
        ty: &CType,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        if place_has_effects(&to.clone().place()) || place_has_effects(&from.clone().place()) {
            return Err(self.unsupported("side effects in the copy of a structure"));
        }
        let cells = ty.cells().ok_or_else(|| self.unsupported("a structure with pointers"))?;
        for cell in 0..cells as i64 {
            let part = |access: &Access| Access { offset: access.offset + cell, ..access.clone() }.element();
            out.push(Stmt::Store(site, part(to), Data::Load(part(from))));
        }
        Ok(())
    }

    /// The place, with its side effects taken out if it is used twice.
    fn fixed(&mut self, access: Access, twice: bool) -> (Access, Vec<Stmt>) {
        let place = access.clone().place();
        if !twice || !place_has_effects(&place) {
            return (access, Vec::new());
        }
        let slot = self.new_slot();
        let site = self.site(self.line);
        let before = vec![Stmt::Int(site, Int::Assign(slot, Box::new(Int::Address(Box::new(place)))))];
        (Access { base: Base::Pointer(Int::Slot(slot)), index: Vec::new(), offset: 0 }, before)
    }

    /// What an assignment writes to a cell of a type.
    fn new_content(
        &mut self,
        operator: Option<Binary>,
        access: &Access,
        ty: Scalar,
        right: &Expr,
    ) -> Result<Data, Error> {
        let value = self.value(right)?;
        let value = match operator {
            None => value,
            Some(operator) => {
                let old = Val::Data(Data::Load(access.clone().place()), ty);
                self.binary(operator, old, value)?
            }
        };
        let value = self.convert(value, &CType::Scalar(ty))?;
        self.data_of(value, ty)
    }

    /// An assignment as an expression.
    pub(super) fn assignment(
        &mut self,
        operator: Option<Binary>,
        left: &Expr,
        right: &Expr,
        line: u32,
    ) -> Result<Val, Error> {
        match self.place(left)? {
            Lv::Memory(access, CType::Scalar(ty)) => {
                let (access, before) = self.fixed(access, operator.is_some());
                let data = self.new_content(operator, &access, ty, right)?;
                let site = self.site(line);
                let value = Val::Data(Data::Assign(site, Box::new((access.place(), data))), ty);
                self.after(before, value)
            }
            Lv::Slot(slot, ty, key) => {
                let value = self.value(right)?;
                let value = match operator {
                    None => value,
                    Some(operator) => self.binary(operator, Val::Int(Int::Slot(slot), ty), value)?,
                };
                let value = self.convert(value, &CType::Scalar(ty))?;
                self.write_slot(slot, ty, key, value)
            }
            Lv::Pointer(slot, target) => {
                let value = self.value(typed(right))?;
                let value = match operator {
                    None => value,
                    Some(operator) => {
                        self.binary(operator, Val::Pointer(Int::Slot(slot), Rc::clone(&target)), value)?
                    }
                };
                match self.convert(value, &CType::Pointer(Rc::clone(&target)))? {
                    Val::Pointer(value, _) => Ok(Val::Pointer(Int::Assign(slot, Box::new(value)), target)),
                    _ => Err(self.malformed("an assignment to a pointer")),
                }
            }
            Lv::Memory(_, ty) => {
                Err(self.unsupported(format!("an assignment to `{}` inside an expression", ty.name())))
            }
        }
    }

    /// Writes a control slot, or finds that it must not be one.
    pub(super) fn write_slot(&mut self, slot: u32, ty: Scalar, key: Key, value: Val) -> Result<Val, Error> {
        match value {
            Val::Int(value, _) if self.uncertain == 0 => Ok(Val::Int(Int::Assign(slot, Box::new(value)), ty)),
            Val::Int(..) | Val::Data(..) => {
                self.make_data(key);
                Ok(Val::Int(Int::Const(0), ty))
            }
            _ => Err(self.malformed("an assignment to an integer")),
        }
    }

    /// `++` and `--`.
    pub(super) fn step(&mut self, target: &Expr, by: i64, post: bool) -> Result<Val, Error> {
        let line = target.line;
        match self.place(target)? {
            Lv::Slot(_, ty, key) if self.uncertain > 0 => {
                self.make_data(key);
                Ok(Val::Int(Int::Const(0), ty))
            }
            Lv::Slot(slot, ty, _) => {
                let wide = super::values::promote(ty);
                if post && wide == ty {
                    return Ok(Val::Int(Int::PostStep(slot, ty, by), ty));
                }
                let old = Int::Slot(slot);
                let new = Int::Binary(Op::Add, wide, Box::new((old.clone(), Int::Const(by))));
                let write = Int::Assign(slot, Box::new(convert_int(new, wide, ty)));
                if !post {
                    return Ok(Val::Int(write, ty));
                }
                let saved = self.new_slot();
                let site = self.site(line);
                let before = vec![Stmt::Int(site, Int::Assign(saved, Box::new(old))), Stmt::Int(site, write)];
                Ok(Val::Int(Int::Sequence(before, Box::new(Int::Slot(saved))), ty))
            }
            Lv::Pointer(slot, pointed) => {
                let scale = pointed.cells().ok_or_else(|| self.unsupported("a step of this pointer"))? as i64;
                Ok(if post {
                    Val::Pointer(Int::PostStep(slot, Scalar::I64, by * scale), pointed)
                } else {
                    let moved = Int::Offset(Box::new((Int::Slot(slot), Int::Const(by))), scale);
                    Val::Pointer(Int::Assign(slot, Box::new(moved)), pointed)
                })
            }
            Lv::Memory(access, CType::Scalar(ty)) => {
                let site = self.site(line);
                let one = if ty.is_float() { Constant::float(ty, by as f64) } else { Constant::Int(by) };
                let unsigned_step = !ty.is_float() && !ty.is_signed() && by < 0;
                if post && (ty.is_float() || ty.bits() >= 32) && !unsigned_step {
                    return Ok(Val::Data(Data::PostStep(site, ty, Box::new(access.place()), one), ty));
                }
                let (access, before) = self.fixed(access, true);
                let old = Val::Data(Data::Load(access.clone().place()), ty);
                let new = self.binary(Binary::Add, old.clone(), Val::Int(Int::Const(by), Scalar::I32))?;
                let new = self.convert(new, &CType::Scalar(ty))?;
                let new = self.data_of(new, ty)?;
                let stored = Data::Assign(site, Box::new((access.place(), new)));
                if !post {
                    return self.after(before, Val::Data(stored, ty));
                }
                // The old value is the new one minus the step: exact for integers.
                let back = self.binary(Binary::Sub, Val::Data(stored, ty), Val::Int(Int::Const(by), Scalar::I32))?;
                let back = self.convert(back, &CType::Scalar(ty))?;
                self.after(before, back)
            }
            Lv::Memory(_, ty) => Err(self.unsupported(format!("a step of a `{}`", ty.name()))),
        }
    }
}

impl Access {
    /// Always an element, also of cell zero.
    pub(super) fn element(self) -> Place {
        Place::Element(Box::new(updates::Element { base: self.base, index: self.index, offset: self.offset }))
    }
}
