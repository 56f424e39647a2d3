//! Initializers: which cell each value of a list is for (C11 6.7.9).

use super::expressions::typed;
use super::values::Access;
use super::{Lowerer, Val};
use crate::ast::{self, Initializer};
use crate::ctype::CType;
use crate::error::Error;
use std::iter::Peekable;
use std::slice::Iter;
use updates::{Base, Constant, Data, Scalar, Stmt};

/// Most elements of an array with an initializer.
const MOST_ELEMENTS: usize = 1 << 16;

/// The values of the cells of an aggregate, as far as they are given.
type Cells = Vec<Option<Val>>;

impl<'a> Lowerer<'a> {
    /// The start value of a scalar or pointer.
    pub(super) fn initial_value(&mut self, init: &Initializer) -> Result<Val, Error> {
        match init {
            Initializer::Value(expr) => self.value(typed(expr)),
            Initializer::List(list) => match list.as_slice() {
                [Initializer::Value(expr)] => self.value(typed(expr)),
                _ => Err(self.malformed("a list for a single value")),
            },
            _ => Err(self.malformed("a designator outside a list")),
        }
    }

    /// Writes the values of a list to all cells of an object.
    pub(super) fn fill(
        &mut self,
        object: u32,
        list: &[Initializer],
        ty: &CType,
        site: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        for (cell, data) in self.initial_cells(list, ty)?.into_iter().enumerate() {
            let to = Access { base: Base::Object(object), index: Vec::new(), offset: cell as i64 };
            out.push(Stmt::Store(site, to.element(), data));
        }
        Ok(())
    }

    /// What all cells of an aggregate start with; those that the list does not mention are zero.
    pub(super) fn initial_cells(&mut self, list: &[Initializer], ty: &CType) -> Result<Vec<Data>, Error> {
        let count = ty.cells().filter(|cells| *cells <= MOST_ELEMENTS as u64);
        let Some(count) = count else { return Err(self.unsupported("an initializer of this size")) };
        let mut cells: Cells = vec![None; count as usize];
        self.list_values(list, ty, 0, &mut cells)?;
        let fields = ty.element().0.fields();
        let fields = fields.ok_or_else(|| self.unsupported(format!("memory of type `{}`", ty.name())))?;
        let mut out = Vec::with_capacity(cells.len());
        for (cell, value) in cells.into_iter().enumerate() {
            let scalar = fields[cell % fields.len()].ty;
            out.push(match value {
                Some(value) => self.data_of(value, scalar)?,
                None => Data::Const(zero(scalar)),
            });
        }
        Ok(out)
    }

    /// A part of an aggregate: its type, and its first cell counted from the aggregate's.
    fn part(&self, ty: &CType, at: usize) -> Result<(CType, usize), Error> {
        let found = match ty {
            CType::Array(element, Some(length)) if (at as u64) < *length => {
                element.cells().map(|cells| ((**element).clone(), at * cells as usize))
            }
            CType::Struct(layout) => layout.members.get(at).and_then(|(_, part)| {
                let before = layout.members[..at].iter().map(|(_, ty)| ty.cells()).sum::<Option<u64>>()?;
                Some((part.clone(), before as usize))
            }),
            _ => None,
        };
        found.ok_or_else(|| self.malformed("too many values for the aggregate"))
    }

    /// The values of a list in braces for the part whose first cell this is.
    fn list_values(&mut self, list: &[Initializer], ty: &CType, first: usize, cells: &mut Cells) -> Result<(), Error> {
        if let CType::Scalar(_) = ty {
            let [Initializer::Value(expr)] = list else { return Err(self.malformed("a list for a single value")) };
            return self.scalar_value(expr, ty, first, cells);
        }
        let mut rest = list.iter().peekable();
        let (mut at, mut nested) = (0, false);
        while let Some(init) = rest.peek().copied() {
            let designated = matches!(init, Initializer::At(..) | Initializer::Member(..));
            if nested && !designated {
                // It would be for the next part of the innermost one that was named.
                return Err(self.unsupported("a value after a designator of a designator"));
            }
            if designated {
                rest.next();
                let value = self.designated(init, ty, &mut at)?;
                nested = matches!(value, Initializer::At(..) | Initializer::Member(..));
                let (part, begin) = self.part(ty, at)?;
                self.named_value(value, &part, first + begin, cells)?;
            } else {
                let (part, begin) = self.part(ty, at)?;
                self.next_values(&mut rest, &part, first + begin, cells)?;
            }
            at += 1;
        }
        Ok(())
    }

    /// The position that a designator names, and what is to go there.
    fn designated<'i>(&mut self, init: &'i Initializer, ty: &CType, at: &mut usize) -> Result<&'i Initializer, Error> {
        match (init, ty) {
            (Initializer::At(index, value), CType::Array(..)) => {
                *at = self.array_length(index)? as usize;
                Ok(value)
            }
            (Initializer::Member(name, value), CType::Struct(layout)) => {
                let wanted = self.text(*name);
                let position = layout.members.iter().position(|(member, _)| member == wanted);
                *at = position.ok_or_else(|| self.malformed(format!("no member `{wanted}`")))?;
                Ok(value)
            }
            _ => Err(self.malformed("a designator that does not fit the type")),
        }
    }

    /// The value of a part that was named.
    fn named_value(&mut self, init: &Initializer, part: &CType, first: usize, cells: &mut Cells) -> Result<(), Error> {
        match (init, part) {
            (Initializer::List(inner), _) => {
                // The list is for the whole part, whatever was given for it before.
                let count = part.cells().unwrap_or(0) as usize;
                cells[first..first + count].fill_with(|| None);
                self.list_values(inner, part, first, cells)
            }
            (Initializer::Value(expr), CType::Scalar(_)) => self.scalar_value(expr, part, first, cells),
            (Initializer::Value(_), _) => Err(self.unsupported("an initializer without its inner braces")),
            (designator, _) => self.list_values(std::slice::from_ref(designator), part, first, cells),
        }
    }

    /// As many of the next values as the part takes: one list, or values without inner braces.
    fn next_values(
        &mut self,
        rest: &mut Peekable<Iter<'_, Initializer>>,
        part: &CType,
        first: usize,
        cells: &mut Cells,
    ) -> Result<(), Error> {
        match (rest.peek().copied(), part) {
            (Some(Initializer::List(inner)), _) => {
                rest.next();
                self.list_values(inner, part, first, cells)
            }
            (Some(Initializer::Value(expr)), CType::Scalar(_)) => {
                rest.next();
                self.scalar_value(expr, part, first, cells)
            }
            (Some(Initializer::Value(_)), CType::Array(..) | CType::Struct(_)) => {
                let mut at = 0;
                while matches!(rest.peek(), Some(Initializer::Value(_) | Initializer::List(_))) && at < parts(part) {
                    let (inner, begin) = self.part(part, at)?;
                    self.next_values(rest, &inner, first + begin, cells)?;
                    at += 1;
                }
                Ok(())
            }
            _ => Err(self.unsupported("this initializer")),
        }
    }

    fn scalar_value(&mut self, expr: &ast::Expr, ty: &CType, cell: usize, cells: &mut Cells) -> Result<(), Error> {
        let value = self.value(expr)?;
        let value = self.convert(value, ty)?;
        cells[cell] = Some(value);
        Ok(())
    }

    /// The type with its length taken from the list: `double w[] = {…}`.
    pub(super) fn sized(&mut self, ty: CType, init: Option<&Initializer>) -> Result<CType, Error> {
        let (CType::Array(element, None), Some(Initializer::List(list))) = (&ty, init) else { return Ok(ty) };
        let (mut at, mut length) = (0usize, 0usize);
        for init in list {
            match init {
                Initializer::At(index, _) => at = self.array_length(index)? as usize,
                Initializer::Value(_) if !matches!(**element, CType::Scalar(_)) => {
                    return Err(self.unsupported("an initializer without its inner braces"));
                }
                _ => {}
            }
            at += 1;
            length = length.max(at);
        }
        Ok(CType::Array(std::rc::Rc::clone(element), Some(length as u64)))
    }
}

/// Number of parts of an aggregate.
fn parts(ty: &CType) -> usize {
    match ty {
        CType::Array(_, Some(length)) => *length as usize,
        CType::Struct(layout) => layout.members.len(),
        _ => 0,
    }
}

pub(super) fn zero(ty: Scalar) -> Constant {
    if ty.is_float() { Constant::float(ty, 0.0) } else { Constant::Int(0) }
}
