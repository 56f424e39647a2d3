//! Names that a file's functions may write through: assigned, stepped, or with an address that goes anywhere.
//!
//! Scopes are not told apart: a name that is written somewhere counts as written everywhere.

use super::{assigned_in, parts};
use crate::ast::{Expr, ExprKind, File, Initializer, Stmt, StmtKind, Type, Unary, Variable};
use crate::lexer::Name;
use rustc_hash::{FxHashMap, FxHashSet};

struct Writes {
    /// Dimensions of variables; nothing if two of one name have different ones.
    dims: FxHashMap<Name, Option<usize>>,
    names: FxHashSet<Name>,
}

/// All names that some function of the file may write through.
pub(super) fn written_names(file: &File) -> FxHashSet<Name> {
    let mut writes = Writes { dims: FxHashMap::default(), names: FxHashSet::default() };
    file.globals.iter().for_each(|variable| writes.declare(variable));
    let bodies = || file.functions.iter().flat_map(|f| &f.body);
    bodies().for_each(|stmt| writes.declarations(stmt));
    for parameter in file.functions.iter().flat_map(|f| &f.parameters) {
        // A pointer moves around without anything being written; what counts is how it is used.
        if let Some(name) = parameter.name {
            writes.dims.insert(name, None);
        }
    }
    for init in file.globals.iter().filter_map(|g| g.init.as_ref()) {
        writes.init(init);
    }
    bodies().for_each(|stmt| writes.statement(stmt));
    writes.names
}

impl Writes {
    fn declare(&mut self, variable: &Variable) {
        let (mut ty, mut count) = (&variable.ty, 0);
        while let Type::Array(element, _) = ty {
            (ty, count) = (element, count + 1);
        }
        let simple = matches!(ty, Type::Basic(_));
        let dims = self.dims.entry(variable.name).or_insert(Some(count));
        if *dims != Some(count) || !simple {
            *dims = None;
        }
    }

    fn declarations(&mut self, stmt: &Stmt) {
        let mut inner = |stmt: &Stmt| self.declarations(stmt);
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(inner),
            StmtKind::If(_, yes, no) => {
                inner(yes);
                no.iter().for_each(|no| inner(no));
            }
            StmtKind::For(parts) => {
                parts.init.iter().for_each(&mut inner);
                inner(&parts.body);
            }
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => inner(body),
            StmtKind::Declare(variables) => variables.iter().for_each(|variable| self.declare(variable)),
            _ => {}
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(list) => list.iter().for_each(|stmt| self.statement(stmt)),
            StmtKind::If(cond, yes, no) => {
                self.read(cond);
                self.statement(yes);
                no.iter().for_each(|no| self.statement(no));
            }
            StmtKind::For(parts) => {
                parts.init.iter().for_each(|init| self.statement(init));
                parts.cond.iter().chain(&parts.step).for_each(|e| self.read(e));
                self.statement(&parts.body);
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
                self.read(cond);
                self.statement(body);
            }
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) | StmtKind::Case(expr) => self.read(expr),
            StmtKind::Declare(variables) => variables.iter().filter_map(|v| v.init.as_ref()).for_each(|i| self.init(i)),
            _ => {}
        }
    }

    fn init(&mut self, init: &Initializer) {
        match init {
            Initializer::Value(expr) => self.read(expr),
            Initializer::List(list) => list.iter().for_each(|i| self.init(i)),
            Initializer::At(index, inner) => {
                self.read(index);
                self.init(inner);
            }
            Initializer::Member(_, inner) => self.init(inner),
        }
    }

    /// An expression that is used as a value. An element of an array is read if all its subscripts are there; anything less
    /// is an address that may go anywhere.
    fn read(&mut self, expr: &Expr) {
        let (mut base, mut subscripts) = (expr, 0);
        while let ExprKind::Index(array, index) = &base.kind {
            self.read(index);
            (base, subscripts) = (array, subscripts + 1);
        }
        match &base.kind {
            ExprKind::Name(name) => {
                if self.dims.get(name).copied().flatten().is_some_and(|dims| dims != subscripts)
                    || self.dims.get(name) == Some(&None)
                {
                    self.names.insert(*name);
                }
            }
            ExprKind::Assign(_, target, value) => {
                self.write(target);
                self.read(value);
            }
            ExprKind::Unary(
                Unary::Address
                | Unary::PreIncrement
                | Unary::PreDecrement
                | Unary::PostIncrement
                | Unary::PostDecrement,
                target,
            ) => self.write(target),
            ExprKind::SizeofExpr(_) | ExprKind::SizeofType(_) => {}
            ExprKind::Statements(list) => list.iter().for_each(|stmt| self.statement(stmt)),
            ExprKind::Compound(_, list) => list.iter().for_each(|i| self.init(i)),
            _ => parts(base).into_iter().for_each(|part| self.read(part)),
        }
        // Anything that is missed above.
        assigned_in(base, &mut self.names);
    }

    /// An expression that is written to: every name in it counts.
    fn write(&mut self, expr: &Expr) {
        if let ExprKind::Name(name) = &expr.kind {
            self.names.insert(*name);
        }
        parts(expr).into_iter().for_each(|part| self.write(part));
        self.read(expr);
    }
}
