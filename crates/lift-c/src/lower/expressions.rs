//! Expressions to values.

use super::values::{Access, common, convert_data, convert_int};
use super::{Lowerer, Lv, Val, constant};
use crate::ast::{self, Binary, Expr, ExprKind, StmtKind, Type, Unary};
use crate::ctype::CType;
use crate::error::Error;
use crate::literals;
use rustc_hash::FxHashMap;
use updates::{Base, Cond, Constant, Data, Int, Origin, Scalar, Stmt};

impl<'a> Lowerer<'a> {
    pub(super) fn value(&mut self, expr: &Expr) -> Result<Val, Error> {
        self.line = expr.line;
        self.count()?;
        match &expr.kind {
            ExprKind::Name(name) => match self.lookup(*name)?.0 {
                super::Binding::Known(value, ty) => Ok(Val::Int(Int::Const(value), ty)),
                _ => {
                    let place = self.place(expr)?;
                    self.content(place)
                }
            },
            ExprKind::Index(..) | ExprKind::Member(..) | ExprKind::Arrow(..) | ExprKind::Unary(Unary::Deref, _) => {
                let place = self.place(expr)?;
                self.content(place)
            }
            ExprKind::Number(name) => {
                let text = self.text(*name);
                let parsed = literals::number(text);
                let (value, ty) = parsed.ok_or_else(|| self.unsupported(format!("the number `{text}`")))?;
                Ok(match value {
                    Constant::Int(number) => Val::Int(Int::Const(number), ty),
                    Constant::Big(number) => Val::Int(Int::Const(number as i64), ty),
                    float => Val::Data(constant(float), ty),
                })
            }
            ExprKind::Char(name) => {
                let text = self.text(*name);
                let value =
                    literals::character(text).ok_or_else(|| self.unsupported(format!("the character {text}")))?;
                Ok(Val::Int(Int::Const(value), Scalar::I32))
            }
            ExprKind::Text => Err(self.unsupported("a string")),
            ExprKind::Unary(operator, inner) => self.unary(*operator, inner),
            ExprKind::Binary(Binary::LogicalAnd, a, b) => self.logical(a, b, true),
            ExprKind::Binary(Binary::LogicalOr, a, b) => self.logical(a, b, false),
            ExprKind::Binary(operator, a, b) => {
                let (left, right) = (self.value(a)?, self.value(b)?);
                self.line = expr.line;
                self.binary(*operator, left, right)
            }
            ExprKind::Assign(operator, left, right) => self.assignment(*operator, left, right, expr.line),
            ExprKind::Choice(cond, yes, no) => self.choice(cond, yes, no),
            ExprKind::Comma(a, b) => {
                let mut stmts = Vec::new();
                self.effect(a, &mut stmts)?;
                let value = self.value(b)?;
                self.after(stmts, value)
            }
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, expr.line),
            ExprKind::Cast(ty, inner) => {
                let ty = self.ctype(ty)?;
                let inner = if matches!(ty, CType::Pointer(_)) { typed(inner) } else { inner };
                let value = self.value(inner)?;
                self.line = expr.line;
                self.convert(value, &ty)
            }
            ExprKind::SizeofType(ty) => {
                let ty = self.ctype(ty)?;
                self.size_of(&ty)
            }
            ExprKind::SizeofExpr(inner) => {
                if let Some(ty) = self.type_of_value(inner)? {
                    return self.size_of(&ty);
                }
                let ty = match self.place(inner)? {
                    Lv::Slot(_, ty, _) => CType::Scalar(ty),
                    Lv::Pointer(_, target) => CType::Pointer(target),
                    // A parameter that is declared as an array is a pointer.
                    Lv::Memory(_, ty) if self.is_array_parameter(inner)? => CType::Pointer(std::rc::Rc::new(ty)),
                    Lv::Memory(_, ty) => ty,
                };
                self.size_of(&ty)
            }
            ExprKind::Compound(ty, list) => self.compound(ty, list),
            ExprKind::Statements(list) => self.statements_value(list),
        }
    }

    /// The type of an expression without effects that is no place.
    fn type_of_value(&mut self, expr: &Expr) -> Result<Option<CType>, Error> {
        if !is_plain(expr) {
            return Ok(None);
        }
        match &expr.kind {
            ExprKind::Cast(ty, _) => self.ctype(ty).map(Some),
            ExprKind::Unary(Unary::Not, _) => Ok(Some(CType::Scalar(Scalar::I32))),
            ExprKind::Binary(operator, ..) if operator.is_truth() => Ok(Some(CType::Scalar(Scalar::I32))),
            ExprKind::Number(_) | ExprKind::Char(_) | ExprKind::Unary(..) | ExprKind::Binary(..) => {
                Ok(match self.value(expr)? {
                    Val::Int(_, ty) | Val::Data(_, ty) => Some(CType::Scalar(ty)),
                    Val::Pointer(_, target) => Some(CType::Pointer(target)),
                    _ => None,
                })
            }
            _ => Ok(None),
        }
    }

    /// Is the expression the name of a parameter that is declared as an array?
    fn is_array_parameter(&mut self, expr: &Expr) -> Result<bool, Error> {
        let ExprKind::Name(name) = expr.kind else { return Ok(false) };
        Ok(match self.lookup(name)?.0 {
            super::Binding::Object(object, CType::Array(..)) => {
                matches!(self.program.objects[object as usize].origin, Origin::Parameter(_))
            }
            _ => false,
        })
    }

    fn size_of(&mut self, ty: &CType) -> Result<Val, Error> {
        let size = ty.size().ok_or_else(|| self.unsupported(format!("the size of `{}`", ty.name())))?;
        Ok(Val::Int(Int::Const(size as i64), Scalar::U64))
    }

    fn unary(&mut self, operator: Unary, inner: &Expr) -> Result<Val, Error> {
        match operator {
            Unary::Plus => {
                let value = self.value(inner)?;
                let zero = Val::Int(Int::Const(0), Scalar::I32);
                match value {
                    Val::Int(..) => self.binary(Binary::Add, value, zero),
                    other => Ok(other),
                }
            }
            Unary::Minus => {
                let value = self.value(inner)?;
                self.negate(value)
            }
            Unary::Complement => {
                let value = self.value(inner)?;
                self.complement(value)
            }
            Unary::Not => {
                let value = self.value(inner)?;
                Ok(match self.cond_of(value)? {
                    Cond::Int(value) => Val::Int(Int::Not(Box::new(value)), Scalar::I32),
                    Cond::Data(data) => Val::Data(Data::Not(Box::new(data)), Scalar::I32),
                })
            }
            Unary::Address => self.address(inner),
            Unary::Deref => Err(self.malformed("`*` in the wrong place")),
            Unary::PreIncrement => self.step(inner, 1, false),
            Unary::PreDecrement => self.step(inner, -1, false),
            Unary::PostIncrement => self.step(inner, 1, true),
            Unary::PostDecrement => self.step(inner, -1, true),
        }
    }

    /// Runs `lower` for a place that is reached only if data says so.
    pub(super) fn under<T>(
        &mut self,
        cond: &Cond,
        lower: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let data = u32::from(matches!(cond, Cond::Data(_)));
        self.uncertain += data;
        let result = lower(self);
        self.uncertain -= data;
        result
    }

    fn logical(&mut self, a: &Expr, b: &Expr, and: bool) -> Result<Val, Error> {
        let left = self.value(a)?;
        let left = self.cond_of(left)?;
        let right = self.under(&left, |l| {
            let value = l.value(b)?;
            l.cond_of(value)
        })?;
        Ok(match (left, right) {
            (Cond::Int(a), Cond::Int(b)) => {
                let pair = Box::new((a, b));
                Val::Int(if and { Int::And(pair) } else { Int::Or(pair) }, Scalar::I32)
            }
            (a, b) => {
                let pair = Box::new((a, b));
                Val::Data(if and { Data::And(pair) } else { Data::Or(pair) }, Scalar::I32)
            }
        })
    }

    fn choice(&mut self, cond: &Expr, yes: &Expr, no: &Expr) -> Result<Val, Error> {
        let cond = self.value(cond)?;
        let cond = self.cond_of(cond)?;
        let yes = self.under(&cond, |l| l.value(yes))?;
        let no = self.under(&cond, |l| l.value(no))?;
        match (cond, yes, no) {
            (Cond::Int(cond), Val::Int(a, left), Val::Int(b, right)) => {
                let ty = common(left, right);
                let (a, b) = (convert_int(a, left, ty), convert_int(b, right, ty));
                Ok(Val::Int(Int::Choice(Box::new((cond, a, b))), ty))
            }
            (Cond::Int(cond), Val::Pointer(a, target), Val::Pointer(b, _)) => {
                Ok(Val::Pointer(Int::Choice(Box::new((cond, a, b))), target))
            }
            (cond, yes, no) => {
                let ty = |value: &Val| match value {
                    Val::Int(_, ty) | Val::Data(_, ty) => Some(*ty),
                    _ => None,
                };
                let (Some(left), Some(right)) = (ty(&yes), ty(&no)) else {
                    return Err(self.unsupported("a data-dependent choice of pointers or structures"));
                };
                let ty = common(left, right);
                let (a, b) = (self.data_of(yes, left)?, self.data_of(no, right)?);
                let (a, b) = (convert_data(a, left, ty), convert_data(b, right, ty));
                Ok(Val::Data(Data::Choice(Box::new((cond, a, b))), ty))
            }
        }
    }

    /// Statements, then the value.
    pub(super) fn after(&mut self, stmts: Vec<Stmt>, value: Val) -> Result<Val, Error> {
        if stmts.is_empty() {
            return Ok(value);
        }
        Ok(match value {
            Val::Int(value, ty) => Val::Int(Int::Sequence(stmts, Box::new(value)), ty),
            Val::Data(value, ty) => Val::Data(Data::Sequence(stmts, Box::new(value)), ty),
            Val::Pointer(value, target) => Val::Pointer(Int::Sequence(stmts, Box::new(value)), target),
            // Nothing to wait for; the number is not looked at.
            Val::Void => Val::Int(Int::Sequence(stmts, Box::new(Int::Const(0))), Scalar::I32),
            Val::Struct(access, ty, before) => Val::Struct(access, ty, stmts.into_iter().chain(before).collect()),
            Val::Fresh(..) => return Err(self.unsupported("this value in an expression list")),
        })
    }

    /// The value of `({ …; value; })`.
    fn statements_value(&mut self, list: &[ast::Stmt]) -> Result<Val, Error> {
        self.scopes.push(FxHashMap::default());
        let result = self.statements_inside(list);
        self.scopes.pop();
        result
    }

    fn statements_inside(&mut self, list: &[ast::Stmt]) -> Result<Val, Error> {
        let (last, before) = match list.split_last() {
            Some((ast::Stmt { kind: StmtKind::Expr(last), .. }, before)) => (Some(last), before),
            _ => (None, list),
        };
        let stmts = self.list(before)?;
        let Some(last) = last else { return self.after(stmts, Val::Void) };
        let value = self.value(last)?;
        // Variables of their own and a value: what macros such as `min` are made of.
        let own = before.iter().all(|s| matches!(s.kind, StmtKind::Declare(_)));
        match value {
            Val::Int(value, ty) if own && stmts.iter().all(|s| bound(s).is_some()) => {
                Ok(Val::Int(Int::Let(stmts.iter().filter_map(bound).collect(), Box::new(value)), ty))
            }
            value => self.after(stmts, value),
        }
    }

    /// The value of `(type){…}`: an object of its own.
    fn compound(&mut self, ty: &ast::Type, list: &[ast::Initializer]) -> Result<Val, Error> {
        let ty = self.ctype(ty)?;
        match &ty {
            CType::Scalar(_) => match list {
                [ast::Initializer::Value(expr)] => {
                    let value = self.value(expr)?;
                    self.convert(value, &ty)
                }
                _ => Err(self.malformed("a list for a single value")),
            },
            CType::Struct(_) => {
                let object = self.new_object("literal".to_string(), &ty, Origin::Local)?;
                let mut stmts = Vec::new();
                let site = self.site(self.line);
                self.fill(object, list, &ty, site, &mut stmts)?;
                let access = Access { base: Base::Object(object), index: Vec::new(), offset: 0 };
                Ok(Val::Struct(access, ty, stmts))
            }
            CType::Array(element, _) => {
                let element = std::rc::Rc::clone(element);
                let ty = self.sized(ty.clone(), Some(&ast::Initializer::List(list.to_vec())))?;
                let object = self.new_object("literal".to_string(), &ty, Origin::Local)?;
                let mut stmts = Vec::new();
                let site = self.site(self.line);
                self.fill(object, list, &ty, site, &mut stmts)?;
                self.after(stmts, Val::Pointer(Int::Address(Box::new(updates::Place::Cell(object))), element))
            }
            _ => Err(self.unsupported(format!("a compound literal of type `{}`", ty.name()))),
        }
    }

    /// An expression for its effect.
    pub(super) fn effect(&mut self, expr: &Expr, out: &mut Vec<Stmt>) -> Result<(), Error> {
        if let ExprKind::Comma(a, b) = &expr.kind {
            self.effect(a, out)?;
            return self.effect(b, out);
        }
        if let ExprKind::Assign(operator, left, right) = &expr.kind
            && self.store(*operator, left, right, expr.line, out)?
        {
            return Ok(());
        }
        if let ExprKind::Cast(ty, inner) = &expr.kind
            && matches!(**ty, crate::ast::Type::Void)
        {
            return self.effect(inner, out);
        }
        if let ExprKind::Call(callee, arguments) = &expr.kind
            && let Some(stmts) = self.call_for_effect(callee, arguments, expr.line)?
        {
            out.extend(stmts);
            return Ok(());
        }
        let site = self.site(expr.line);
        match self.value(expr)? {
            Val::Int(value, _) | Val::Pointer(value, _) => out.push(Stmt::Int(site, value)),
            Val::Data(data, _) => out.push(Stmt::Data(site, data)),
            Val::Struct(_, _, before) => out.extend(before),
            Val::Fresh(..) | Val::Void => {}
        }
        Ok(())
    }
}

/// The pointer before a cast to `void *`: what is made of that next counts.
pub(super) fn typed(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(ty, inner) if matches!(&**ty, Type::Pointer(target) if matches!(**target, Type::Void)) => {
            typed(inner)
        }
        _ => expr,
    }
}

/// The slot that a statement sets, and its value.
pub(super) fn bound(stmt: &Stmt) -> Option<(u32, Int)> {
    match stmt {
        Stmt::Int(_, Int::Assign(slot, value)) => Some((*slot, (**value).clone())),
        _ => None,
    }
}

/// Does an expression have no effects, and no calls?
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Name(_) | ExprKind::Number(_) | ExprKind::Char(_) => true,
        ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => true,
        ExprKind::Unary(Unary::Plus | Unary::Minus | Unary::Not | Unary::Complement, inner) => is_plain(inner),
        ExprKind::Cast(_, inner) | ExprKind::Member(inner, _) => is_plain(inner),
        ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => is_plain(a) && is_plain(b),
        _ => false,
    }
}
