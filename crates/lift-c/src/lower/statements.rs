//! Statements.

use super::region::{is_region, is_single};
use super::values::Access;
use super::{Binding, Lowerer, Val};
use crate::ast::{self, Expr, ExprKind, For, StmtKind};
use crate::ctype::CType;
use crate::error::Error;
use crate::lexer::Name;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;
use updates::{Base, Cond, Int, Loop, LoopStmt, Place, Stmt, Variable};

/// Does control leave the enclosing list from inside the statement, other than at its end?
fn has_exit(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Continue | StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(has_exit),
        StmtKind::If(_, yes, no) => has_exit(yes) || no.as_deref().is_some_and(has_exit),
        _ => false,
    }
}

/// Does the statement never reach what follows it?
fn always_exits(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Return(_) | StmtKind::Continue | StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(always_exits),
        StmtKind::If(_, yes, Some(no)) => always_exits(yes) && always_exits(no),
        _ => false,
    }
}

impl<'a> Lowerer<'a> {
    /// A list of statements in the current scope.
    pub(super) fn list(&mut self, stmts: &[ast::Stmt]) -> Result<Vec<Stmt>, Error> {
        let mut out = Vec::new();
        for (index, stmt) in stmts.iter().enumerate() {
            if let StmtKind::If(cond, yes, no) = &stmt.kind
                && has_exit(stmt)
                && self.split_list(stmt, cond, (yes, no.as_deref()), &stmts[index + 1..], &mut out)?
            {
                return Ok(out);
            }
            self.statement(stmt, &mut out)?;
        }
        Ok(out)
    }

    /// `if (data) return a; rest` is `if (data) return a; else rest`: both sides then end alike.
    fn split_list(
        &mut self,
        stmt: &ast::Stmt,
        cond: &Expr,
        (yes, no): (&ast::Stmt, Option<&ast::Stmt>),
        rest: &[ast::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Result<bool, Error> {
        let value = self.value(cond)?;
        let cond = self.cond_of(value)?;
        if matches!(cond, Cond::Int(_)) || self.loops.is_empty() && rest.is_empty() {
            return Ok(false);
        }
        let site = self.site(stmt.line);
        self.uncertain += 1;
        let mut sides = Vec::new();
        for side in [Some(yes), no] {
            let mut list = Vec::new();
            self.scopes.push(FxHashMap::default());
            if let Some(side) = side {
                self.statement(side, &mut list)?;
            }
            self.scopes.pop();
            if side.is_none_or(|s| !always_exits(s)) {
                self.scopes.push(FxHashMap::default());
                list.extend(self.list(rest)?);
                self.scopes.pop();
            }
            // The end of a loop's body is where `continue` goes; the end of a void function where `return` does.
            sides.push(list);
        }
        self.uncertain -= 1;
        let (Some(no), Some(yes)) = (sides.pop(), sides.pop()) else { return Ok(false) };
        let (yes, no) = self.same_end(yes, no, site);
        out.push(Stmt::If(site, Box::new((cond, yes, no))));
        Ok(true)
    }

    /// If one side ends in `continue` or a return and the other falls off the end, let both do it.
    fn same_end(&mut self, mut yes: Vec<Stmt>, mut no: Vec<Stmt>, site: u32) -> (Vec<Stmt>, Vec<Stmt>) {
        let void = self.results.last().is_some_and(Option::is_none);
        let jump = |list: &[Stmt]| match list.last() {
            Some(Stmt::Continue) => Some(Stmt::Continue),
            Some(Stmt::Return(_)) if void => Some(Stmt::Return(site)),
            _ => None,
        };
        let (first, second) = (jump(&yes), jump(&no));
        let open = |list: &[Stmt]| !matches!(list.last(), Some(Stmt::Continue | Stmt::Return(_) | Stmt::Break));
        if let Some(stmt) = first.filter(|_| open(&no)) {
            no.push(stmt);
        } else if let Some(stmt) = second.filter(|_| open(&yes)) {
            yes.push(stmt);
        }
        (yes, no)
    }

    /// Is it a directive for the block behind it?
    fn is_for_block(&self, pragma: Name) -> bool {
        let text = self.text(pragma);
        is_region(text) || is_single(text)
    }

    fn scoped(&mut self, stmt: &ast::Stmt) -> Result<Vec<Stmt>, Error> {
        self.scopes.push(FxHashMap::default());
        let mut out = Vec::new();
        let result = match &stmt.kind {
            StmtKind::Block(list) => self.list(list).map(|list| out = list),
            _ => self.statement(stmt, &mut out),
        };
        self.scopes.pop();
        result.map(|()| out)
    }

    pub(super) fn statement(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) -> Result<(), Error> {
        self.line = stmt.line;
        self.count()?;
        self.check_order(stmt)?;
        let pragma = self.pragma.take();
        if let Some(name) = pragma
            && self.is_for_block(name)
        {
            match &stmt.kind {
                StmtKind::Block(list) if is_region(self.text(name)) => return self.parallel_region(name, list, out),
                StmtKind::For(_) | StmtKind::While(..) if is_region(self.text(name)) => {
                    return self.parallel_region(name, std::slice::from_ref(stmt), out);
                }
                StmtKind::Block(_) if self.region.is_some() => {}
                _ => return Err(self.unsupported(format!("`#pragma {}`", self.text(name)))),
            }
        }
        match &stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Pragma(name) => {
                self.accept_directive(*name)?;
                // A pragma for the compiler does not hide the directive before it.
                let directive = |name: &Name| self.text(*name).starts_with("omp ");
                self.pragma = if directive(name) { Some(*name) } else { pragma.filter(directive).or(Some(*name)) };
            }
            StmtKind::Declare(variables) => {
                for variable in variables {
                    self.declare(variable, out)?;
                }
            }
            StmtKind::Expr(expr) => self.effect(expr, out)?,
            StmtKind::Block(list) => {
                self.scopes.push(FxHashMap::default());
                let list = self.list(list)?;
                self.scopes.pop();
                match list.len() {
                    1 => out.extend(list),
                    _ => out.push(Stmt::Block(list)),
                }
            }
            StmtKind::If(cond, yes, no) => {
                let site = self.site(stmt.line);
                let value = self.value(cond)?;
                let cond = self.cond_of(value)?;
                let yes = self.under(&cond, |l| l.scoped(yes))?;
                let no = match no {
                    Some(no) => self.under(&cond, |l| l.scoped(no))?,
                    None => Vec::new(),
                };
                out.push(Stmt::If(site, Box::new((cond, yes, no))));
            }
            StmtKind::For(parts) => self.for_loop(stmt.line, parts, pragma, out)?,
            StmtKind::While(cond, body) => self.while_loop(stmt.line, cond, body, true, out)?,
            StmtKind::DoWhile(body, cond) => self.while_loop(stmt.line, cond, body, false, out)?,
            StmtKind::Switch(value, body) => self.switch(stmt.line, value, body, out)?,
            StmtKind::Case(_) | StmtKind::Default => {
                return Err(self.unsupported("a case outside the switch's own block"));
            }
            StmtKind::Break => out.push(Stmt::Break),
            StmtKind::Continue => out.push(Stmt::Continue),
            StmtKind::Return(value) => self.return_value(value.as_ref(), stmt.line, out)?,
            StmtKind::Unsupported(what) => return Err(self.unsupported(what.clone())),
        }
        Ok(())
    }

    fn return_structure(
        &mut self,
        object: u32,
        ty: &CType,
        value: Val,
        site: u32,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let Val::Struct(from, other, before) = value else {
            return Err(self.malformed("a result that is no structure"));
        };
        if other != *ty {
            return Err(self.malformed("a result of another structure"));
        }
        out.extend(before);
        let to = Access { base: Base::Object(object), index: Vec::new(), offset: 0 };
        self.copy_struct(site, &to, &from, ty, out)
    }

    fn return_value(&mut self, value: Option<&Expr>, line: u32, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let result = self.results.last().cloned().flatten();
        let site = self.site(line);
        match (result, value) {
            (None, None) => {}
            (None, Some(expr)) => self.effect(expr, out)?,
            (Some(_), None) => {}
            (Some((binding, key)), Some(expr)) => {
                let value = self.value(expr)?;
                match binding {
                    Binding::Slot(slot, ty) => {
                        let value = self.convert(value, &CType::Scalar(ty))?;
                        if let Val::Int(value, _) = self.write_slot(slot, ty, key, value)? {
                            out.push(Stmt::Int(site, value));
                        }
                    }
                    Binding::Pointer(slot, target) => {
                        let Val::Pointer(value, _) = self.convert(value, &CType::Pointer(target))? else {
                            return Err(self.malformed("a result that is no pointer"));
                        };
                        out.push(Stmt::Int(site, Int::Assign(slot, Box::new(value))));
                    }
                    Binding::Object(object, ty) => {
                        let CType::Scalar(scalar) = ty else {
                            self.return_structure(object, &ty, value, site, out)?;
                            out.push(Stmt::Return(site));
                            return Ok(());
                        };
                        let value = self.convert(value, &ty)?;
                        let data = self.data_of(value, scalar)?;
                        out.push(Stmt::Store(site, Place::Cell(object), data));
                    }
                    Binding::Known(..) => {}
                }
            }
        }
        out.push(Stmt::Return(site));
        Ok(())
    }

    /// The variable that a loop counts with: the one its step changes, else the one its start sets.
    pub(super) fn iterator(&mut self, parts: &For) -> Option<Name> {
        let by_step = parts.step.as_ref().and_then(step_target);
        by_step.or_else(|| match &parts.init.as_ref()?.kind {
            StmtKind::Expr(expr) => step_target(expr),
            StmtKind::Declare(variables) => variables.first().map(|v| v.name),
            _ => None,
        })
    }

    fn for_loop(&mut self, line: u32, parts: &For, pragma: Option<Name>, out: &mut Vec<Stmt>) -> Result<(), Error> {
        self.scopes.push(FxHashMap::default());
        let mut list = Vec::new();
        if let Some(init) = &parts.init {
            self.statement(init, &mut list)?;
        }
        let name = self.iterator(parts);
        let variable = match name.map(|name| self.lookup(name)) {
            Some(Ok((Binding::Slot(slot, _), _))) => Some(Variable::Slot(slot)),
            Some(Ok((Binding::Object(object, CType::Scalar(_)), _))) => Some(Variable::Cell(object)),
            _ => None,
        };
        let iterator = name.filter(|_| variable.is_some()).map(|name| self.text(name).to_string());
        let number = self.program.loops.len() as u32;
        self.program.loops.push(Loop { line, iterator, variable });
        let reached = self.collapse;
        let pragma = self.collapsed(pragma);
        let inherited = self.collapse;
        let mut parallel = self.directive(pragma, &parts.body)?;
        // An inner loop repeats the directive; only the outermost counts its depth.
        if reached.is_some() {
            self.collapse = inherited;
        }
        let after = match parallel.as_mut() {
            Some(parallel) => self.share(parts, variable, parallel),
            None => Vec::new(),
        };
        let (objects, slots) = (self.program.objects.len() as u32, self.program.slots as u32);
        self.loops.push(number);
        let site = self.site(line);
        let cond = match &parts.cond {
            Some(cond) => {
                let value = self.value(cond)?;
                Some(self.cond_of(value)?)
            }
            None => None,
        };
        // Loops inside are shared out among other threads.
        let region = if parallel.is_some() { self.region.take() } else { None };
        let body = self.scoped(&parts.body)?;
        self.region = self.region.or(region);
        let mut step = Vec::new();
        if let Some(expr) = &parts.step {
            self.effect(expr, &mut step)?;
        }
        self.loops.pop();
        self.scopes.pop();
        if let Some(parallel) = &mut parallel {
            // What is declared inside belongs to the turn, and so does the iterator.
            let inside = objects..self.program.objects.len() as u32;
            let own = |o: &u32| matches!(self.program.objects[*o as usize].origin, updates::Origin::Local);
            parallel.inner_objects = inside.filter(own).collect();
            parallel.private_slots.extend(slots..self.program.slots as u32);
            match variable {
                Some(Variable::Slot(slot)) => parallel.private_slots.push(slot),
                Some(Variable::Cell(object)) => parallel.iterator = Some(object),
                None => {}
            }
        }
        let strided = OnceLock::new();
        let stmt = LoopStmt { site, number, cond, step, body, test_first: true, parallel, strided };
        list.push(Stmt::Loop(Box::new(stmt)));
        list.extend(after);
        match list.len() {
            1 => out.extend(list),
            _ => out.push(Stmt::Block(list)),
        }
        Ok(())
    }

    /// The variable that stands for the turns of a `while` loop in messages: one that is asked for and changed.
    fn while_iterator(&mut self, cond: &Expr, body: &ast::Stmt) -> (Option<String>, Option<Variable>) {
        let mut assigned = super::assigned_names(std::slice::from_ref(body));
        super::assigned_in(cond, &mut assigned);
        let mut open = vec![cond];
        while let Some(expr) = open.pop() {
            if let ExprKind::Name(name) = expr.kind
                && assigned.contains(&name)
                && let Ok((Binding::Slot(slot, _), _)) = self.lookup(name)
            {
                return (Some(self.text(name).to_string()), Some(Variable::Slot(slot)));
            }
            open.extend(super::parts(expr).into_iter().rev());
        }
        (None, None)
    }

    fn while_loop(
        &mut self,
        line: u32,
        cond: &Expr,
        body: &ast::Stmt,
        test_first: bool,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let number = self.program.loops.len() as u32;
        let (iterator, variable) = self.while_iterator(cond, body);
        self.program.loops.push(Loop { line, iterator, variable });
        self.loops.push(number);
        let site = self.site(line);
        let value = self.value(cond)?;
        let cond = Some(self.cond_of(value)?);
        let body = self.scoped(body)?;
        self.loops.pop();
        let (step, strided) = (Vec::new(), OnceLock::new());
        let stmt = LoopStmt { site, number, cond, step, body, test_first, parallel: None, strided };
        out.push(Stmt::Loop(Box::new(stmt)));
        Ok(())
    }
}

fn step_target(expr: &Expr) -> Option<Name> {
    match &expr.kind {
        ExprKind::Assign(_, left, _) | ExprKind::Unary(_, left) => match left.kind {
            ExprKind::Name(name) => Some(name),
            _ => None,
        },
        ExprKind::Comma(first, _) => step_target(first),
        _ => None,
    }
}
