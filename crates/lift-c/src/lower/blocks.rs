//! `memcpy` and `memset` of whole elements: loops over them.

use super::{Lowerer, Val};
use crate::ast::Expr;
use crate::ctype::CType;
use crate::error::Error;
use std::sync::OnceLock;
use updates::{Base, Cmp, Cond, Constant, Data, Element, Index, Int, Loop, LoopStmt, Place, Scalar, Stmt};

impl<'a> Lowerer<'a> {
    /// The loop that a call of `memcpy` or `memset` is.
    pub(super) fn block_call(&mut self, name: &str, arguments: &[Expr], line: u32) -> Result<Vec<Stmt>, Error> {
        let [to, from, size] = arguments else { return Err(self.malformed(format!("the arguments of `{name}`"))) };
        let (to, ty) = self.block_pointer(name, to)?;
        let from = if name.ends_with("memset") {
            let value = self.value(from)?;
            Err(self.filled(name, value, ty)?)
        } else {
            let (from, other) = self.block_pointer(name, from)?;
            if other != ty {
                return Err(self.unsupported(format!("`{name}` between elements of different types")));
            }
            Ok(from)
        };
        let count = match self.value(size)? {
            Val::Int(Int::Const(bytes), _) if bytes >= 0 && (bytes as u64).is_multiple_of(ty.bytes()) => {
                bytes / ty.bytes() as i64
            }
            _ => return Err(self.unsupported(format!("`{name}` of a size that is no constant number of elements"))),
        };
        let site = self.site(line);
        let [pointer, other, index] = [self.new_slot(), self.new_slot(), self.new_slot()];
        let assign = |slot, value| Stmt::Int(site, Int::Assign(slot, Box::new(value)));
        let element = |slot| {
            let index = vec![Index { value: Int::Slot(index), stride: 1, extent: None }];
            Place::Element(Box::new(Element { base: Base::Pointer(Int::Slot(slot)), index, offset: 0 }))
        };
        let mut stmts = vec![assign(pointer, to)];
        let data = match from {
            Ok(from) => {
                stmts.push(assign(other, from));
                Data::Load(element(other))
            }
            Err(constant) => Data::Const(constant),
        };
        stmts.push(assign(index, Int::Const(0)));
        let number = self.program.loops.len() as u32;
        self.program.loops.push(Loop { line, iterator: None, variable: None });
        let below = Int::Compare(Cmp::Lt, Scalar::I64, Box::new((Int::Slot(index), Int::Const(count))));
        stmts.push(Stmt::Loop(Box::new(LoopStmt {
            site,
            number,
            cond: Some(Cond::Int(below)),
            step: vec![Stmt::Int(site, Int::PostStep(index, Scalar::I64, 1))],
            body: vec![Stmt::Store(site, element(pointer), data)],
            test_first: true,
            parallel: None,
            strided: OnceLock::new(),
        })));
        Ok(stmts)
    }

    /// A pointer and the scalar type of what it points to.
    fn block_pointer(&mut self, name: &str, expr: &Expr) -> Result<(Int, Scalar), Error> {
        let Val::Pointer(pointer, target) = self.value(expr)? else {
            return Err(self.malformed(format!("`{name}` of something that is no pointer")));
        };
        match target.element().0 {
            CType::Scalar(ty) => Ok((pointer, *ty)),
            other => Err(self.unsupported(format!("`{name}` of elements of type `{}`", other.name()))),
        }
    }

    /// The element that `memset` writes.
    fn filled(&mut self, name: &str, value: Val, ty: Scalar) -> Result<Constant, Error> {
        match value {
            Val::Int(Int::Const(0), _) if ty.is_float() => Ok(Constant::float(ty, 0.0)),
            Val::Int(Int::Const(0), _) => Ok(Constant::Int(0)),
            Val::Int(Int::Const(byte), _) if ty.bits() == 8 => Ok(Constant::integer(ty.wrap(i128::from(byte as u8)))),
            _ => Err(self.unsupported(format!("`{name}` with this value"))),
        }
    }
}
