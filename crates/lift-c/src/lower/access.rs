//! Places: names, subscripts, members, and what pointers point to.

use super::values::{Access, convert_int};
use super::{Binding, Lowerer, Lv, Val};
use crate::ast::{Expr, ExprKind, Unary};
use crate::ctype::CType;
use crate::error::Error;
use crate::lexer::Name;
use std::rc::Rc;
use updates::{Base, Data, Index, Int, Scalar};

impl<'a> Lowerer<'a> {
    /// Could the expression be a place?
    fn is_place(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(_) | ExprKind::Index(..) | ExprKind::Arrow(..) | ExprKind::Unary(Unary::Deref, _) => true,
            ExprKind::Member(inner, _) => self.is_place(inner),
            _ => false,
        }
    }

    pub(super) fn place(&mut self, expr: &Expr) -> Result<Lv, Error> {
        self.line = expr.line;
        self.count()?;
        match &expr.kind {
            ExprKind::Name(name) => self.named(*name),
            ExprKind::Index(array, index) => self.element(array, index),
            ExprKind::Unary(Unary::Deref, inner) => {
                if let ExprKind::Binary(crate::ast::Binary::Add, array, index) = &inner.kind
                    && self.is_place(array)
                    && matches!(self.place(array)?, Lv::Memory(_, CType::Array(..)))
                {
                    return self.element(array, index);
                }
                match self.value(inner)? {
                    Val::Pointer(pointer, target) => Ok(self.behind(pointer, &target)),
                    _ => Err(self.malformed("`*` of something that is no pointer")),
                }
            }
            ExprKind::Member(inner, member) => match self.place(inner)? {
                Lv::Memory(access, CType::Struct(layout)) => self.member(access, &layout, *member),
                _ => Err(self.malformed("`.` of something that is no structure")),
            },
            ExprKind::Arrow(inner, member) => match self.value(inner)? {
                Val::Pointer(pointer, target) => match &*target {
                    CType::Struct(layout) => {
                        let Lv::Memory(access, _) = self.behind(pointer, &target) else {
                            return Err(self.malformed("`->` of something that is no pointer"));
                        };
                        self.member(access, layout, *member)
                    }
                    _ => Err(self.malformed("`->` of something that is no pointer to a structure")),
                },
                _ => Err(self.malformed("`->` of something that is no pointer")),
            },
            ExprKind::Cast(..) | ExprKind::Call(..) => Err(self.malformed("an assignment to a value")),
            ExprKind::Compound(..) => Err(self.unsupported("a compound literal as a place")),
            _ => Err(self.malformed("this is no place in memory")),
        }
    }

    /// The place of a variable.
    pub(super) fn named(&mut self, name: Name) -> Result<Lv, Error> {
        let (binding, key) = self.lookup(name)?;
        Ok(match binding {
            Binding::Slot(slot, ty) => Lv::Slot(slot, ty, key),
            Binding::Pointer(slot, target) => Lv::Pointer(slot, target),
            Binding::Object(object, ty) => {
                Lv::Memory(Access { base: Base::Object(object), index: Vec::new(), offset: 0 }, ty)
            }
            Binding::Known(..) => {
                return Err(self.unsupported(format!("a change of the constant `{}`", self.text(name))));
            }
        })
    }

    /// The place behind a pointer.
    fn behind(&mut self, pointer: Int, target: &Rc<CType>) -> Lv {
        // `*&x` and decayed arrays keep their subscripts, so that rows stay rows.
        if let Int::Address(place) = &pointer
            && let updates::Place::Cell(object) = **place
        {
            // A flat pointer has as many cells as are touched, and only subscripts touch.
            let flat = self.program.objects[object as usize].cells.is_none();
            let first = Index { value: Int::Const(0), stride: 1, extent: None };
            let index = if flat { vec![first] } else { Vec::new() };
            return Lv::Memory(Access { base: Base::Object(object), index, offset: 0 }, (**target).clone());
        }
        Lv::Memory(Access { base: Base::Pointer(pointer), index: Vec::new(), offset: 0 }, (**target).clone())
    }

    fn element(&mut self, array: &Expr, index: &Expr) -> Result<Lv, Error> {
        let base = if self.is_place(array) {
            let place = self.place(array)?;
            match place {
                Lv::Memory(access, CType::Array(element, length)) => Some((access, element, length)),
                Lv::Pointer(slot, target) => {
                    let access = Access { base: Base::Pointer(Int::Slot(slot)), index: Vec::new(), offset: 0 };
                    Some((access, target, None))
                }
                _ => None,
            }
        } else {
            match self.value(array)? {
                Val::Pointer(pointer, target) => {
                    let access = Access { base: Base::Pointer(pointer), index: Vec::new(), offset: 0 };
                    Some((access, target, None))
                }
                _ => None,
            }
        };
        let Some((mut access, element, length)) = base else {
            // `3[A]` is legal C and nobody writes it.
            return Err(self.malformed("a subscript of something that is no array"));
        };
        let value = self.value(index)?;
        let (value, ty) = self.int_of(value)?;
        self.line = index.line;
        let stride =
            element.cells().ok_or_else(|| self.unsupported(format!("elements of type `{}`", element.name())))?;
        let stride = i64::try_from(stride).map_err(|_| self.unsupported("an array of this size"))?;
        let extent = length.map(|l| l as i64);
        access.index.push(Index { value: convert_int(value, ty, Scalar::I64), stride, extent });
        Ok(Lv::Memory(access, (*element).clone()))
    }

    fn member(&mut self, mut access: Access, layout: &crate::ctype::Layout, member: Name) -> Result<Lv, Error> {
        let wanted = self.text(member);
        let mut offset = 0i64;
        for (name, ty) in &layout.members {
            if name == wanted {
                access.offset += offset;
                return Ok(Lv::Memory(access, ty.clone()));
            }
            let cells = ty.cells().ok_or_else(|| self.unsupported("a structure with pointers"))?;
            offset += cells as i64;
        }
        Err(self.malformed(format!("struct `{}` has no member `{wanted}`", layout.name)))
    }

    /// The content of a place; arrays become pointers to their first element.
    pub(super) fn content(&mut self, place: Lv) -> Result<Val, Error> {
        Ok(match place {
            Lv::Slot(slot, ty, _) => Val::Int(Int::Slot(slot), ty),
            Lv::Pointer(slot, target) => Val::Pointer(Int::Slot(slot), target),
            Lv::Memory(access, CType::Scalar(ty)) => Val::Data(Data::Load(access.place()), ty),
            Lv::Memory(access, CType::Array(element, _)) => {
                Val::Pointer(Int::Address(Box::new(access.place())), element)
            }
            Lv::Memory(access, ty @ CType::Struct(_)) => Val::Struct(access, ty, Vec::new()),
            Lv::Memory(_, ty) => return Err(self.unsupported(format!("a value of type `{}` in memory", ty.name()))),
        })
    }

    /// `&expr`.
    pub(super) fn address(&mut self, expr: &Expr) -> Result<Val, Error> {
        Ok(match self.place(expr)? {
            Lv::Slot(_, ty, key) => {
                self.make_data(key);
                Val::Pointer(Int::Const(0), Rc::new(CType::Scalar(ty)))
            }
            Lv::Pointer(..) => return Err(self.unsupported("the address of a pointer")),
            Lv::Memory(access, ty) => Val::Pointer(Int::Address(Box::new(access.place())), Rc::new(ty)),
        })
    }
}
