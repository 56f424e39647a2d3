//! `memcpy`, `memmove` and `memset` of whole elements: loops over them.

use super::initializers::zero;
use super::{Lowerer, Val};
use crate::ast::Expr;
use crate::ctype::CType;
use crate::error::Error;
use std::sync::OnceLock;
use updates::{Base, Cmp, Cond, Constant, Data, Element, Index, Int, Loop, LoopStmt, Place, Scalar, Stmt};

/// Which way a block is copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Forward,
    Backward,
}

/// Where the elements of a block come from.
#[derive(Clone, Copy)]
enum Source {
    /// From behind the pointer in this slot.
    Slot(u32),
    /// All are this.
    Constant(Constant),
}

impl<'a> Lowerer<'a> {
    /// The loop that a call of `memcpy`, `memmove` or `memset` is.
    pub(super) fn block_call(&mut self, name: &str, arguments: &[Expr], line: u32) -> Result<Vec<Stmt>, Error> {
        let [to, from, size] = arguments else { return Err(self.malformed(format!("the arguments of `{name}`"))) };
        let (to, ty) = self.block_pointer(name, to)?;
        let site = self.site(line);
        let assign = |slot, value| Stmt::Int(site, Int::Assign(slot, Box::new(value)));
        let pointer = self.new_slot();
        let mut stmts = vec![assign(pointer, to)];
        let source = if name.ends_with("memset") {
            let value = self.value(from)?;
            Source::Constant(self.filled(name, value, ty)?)
        } else {
            let (from, other) = self.block_pointer(name, from)?;
            if other != ty {
                return Err(self.unsupported(format!("`{name}` between elements of different types")));
            }
            let slot = self.new_slot();
            stmts.push(assign(slot, from));
            Source::Slot(slot)
        };
        let count = match self.value(size)? {
            Val::Int(Int::Const(bytes), _) if bytes >= 0 && (bytes as u64).is_multiple_of(ty.bytes()) => {
                bytes / ty.bytes() as i64
            }
            _ => return Err(self.unsupported(format!("`{name}` of a size that is no constant number of elements"))),
        };
        match source {
            Source::Slot(from) if name.ends_with("memmove") => {
                // Pointers are ordered as the cells that they point to; of different arrays any order will do.
                let below = Int::Compare(Cmp::Le, Scalar::I64, Box::new((Int::Slot(pointer), Int::Slot(from))));
                let forward = self.block_loop(pointer, source, count, Way::Forward, line);
                let backward = self.block_loop(pointer, source, count, Way::Backward, line);
                stmts.push(Stmt::If(site, Box::new((Cond::Int(below), forward, backward))));
            }
            Source::Slot(from) => {
                stmts.push(Stmt::Apart(site, Box::new((Int::Slot(pointer), Int::Slot(from))), count));
                stmts.extend(self.block_loop(pointer, source, count, Way::Forward, line));
            }
            Source::Constant(_) => stmts.extend(self.block_loop(pointer, source, count, Way::Forward, line)),
        }
        Ok(stmts)
    }

    /// Statements that write zero to all elements behind a pointer.
    pub(super) fn zeroed(&mut self, pointer: Int, count: i64, ty: Scalar) -> Vec<Stmt> {
        let (slot, site) = (self.new_slot(), self.site(self.line));
        let mut stmts = vec![Stmt::Int(site, Int::Assign(slot, Box::new(pointer)))];
        stmts.extend(self.block_loop(slot, Source::Constant(zero(ty)), count, Way::Forward, self.line));
        stmts
    }

    /// Writes the elements one after the other to where the pointer in a slot points.
    fn block_loop(&mut self, to: u32, source: Source, count: i64, way: Way, line: u32) -> Vec<Stmt> {
        let site = self.site(line);
        let index = self.new_slot();
        let element = |slot| {
            let index = vec![Index { value: Int::Slot(index), stride: 1, extent: None }];
            Place::Element(Box::new(Element { base: Base::Pointer(Int::Slot(slot)), index, offset: 0 }))
        };
        let data = match source {
            Source::Slot(from) => Data::Load(element(from)),
            Source::Constant(constant) => Data::Const(constant),
        };
        let (start, cond, step) = match way {
            Way::Forward => (0, (Int::Slot(index), Int::Const(count)), 1),
            Way::Backward => (count - 1, (Int::Const(-1), Int::Slot(index)), -1),
        };
        let number = self.program.loops.len() as u32;
        self.program.loops.push(Loop { line, iterator: None, variable: None });
        let goes_on = Int::Compare(Cmp::Lt, Scalar::I64, Box::new(cond));
        let turns = Stmt::Loop(Box::new(LoopStmt {
            site,
            number,
            cond: Some(Cond::Int(goes_on)),
            step: vec![Stmt::Int(site, Int::PostStep(index, Scalar::I64, step))],
            body: vec![Stmt::Store(site, element(to), data)],
            test_first: true,
            parallel: None,
            strided: OnceLock::new(),
        }));
        vec![Stmt::Int(site, Int::Assign(index, Box::new(Int::Const(start)))), turns]
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
            Val::Int(Int::Const(0), _) => Ok(zero(ty)),
            Val::Int(Int::Const(byte), _) if ty.bits() == 8 => Ok(Constant::integer(ty.wrap(i128::from(byte as u8)))),
            _ => Err(self.unsupported(format!("`{name}` with this value"))),
        }
    }
}
