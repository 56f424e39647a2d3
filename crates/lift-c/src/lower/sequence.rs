//! Expressions whose parts C may evaluate in any order (C11 6.5 paragraphs 2 and 3): refused where the order could matter.
//!
//! Lowering goes from left to right. That is one of the allowed orders, so it says what every compiler does only if no
//! operand writes what its neighbour reads or writes. Variables are told apart by name; memory behind pointers
//! and in arrays is one thing.

use super::{Lowerer, parts};
use crate::ast::{Binary, Expr, ExprKind, For, Function, Initializer, Stmt, StmtKind, Type, Unary, Variable};
use crate::error::Error;
use crate::lexer::Name;
use rustc_hash::FxHashSet;

/// What evaluating an expression does besides its value.
#[derive(Default)]
struct Effects {
    reads: FxHashSet<Name>,
    writes: FxHashSet<Name>,
    loads: bool,
    stores: bool,
}

impl Effects {
    fn join(&mut self, other: Effects) {
        self.reads.extend(other.reads);
        self.writes.extend(other.writes);
        self.loads |= other.loads;
        self.stores |= other.stores;
    }

    /// Does it write what the other reads or writes?
    fn disturbs(&self, other: &Effects) -> bool {
        let named = |name: &Name| other.reads.contains(name) || other.writes.contains(name);
        self.writes.iter().any(named) || self.stores && (other.loads || other.stores)
    }
}

/// What a function may write that its caller, or a later call of it, sees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Writes {
    Nothing,
    /// Static variables of functions: numbers whose address nobody takes, so only another call of the same function meets them.
    Statics,
    Memory,
}

/// Longest chain of calls that is looked through.
const DEEPEST: usize = 8;

fn is_step(operator: Unary) -> bool {
    matches!(operator, Unary::PreIncrement | Unary::PreDecrement | Unary::PostIncrement | Unary::PostDecrement)
}

impl<'a> Lowerer<'a> {
    /// Refuses a statement's own expressions if their value depends on an order that C leaves open.
    pub(super) fn check_order(&mut self, stmt: &Stmt) -> Result<(), Error> {
        match &stmt.kind {
            StmtKind::Expr(expr)
            | StmtKind::If(expr, ..)
            | StmtKind::While(expr, _)
            | StmtKind::DoWhile(_, expr)
            | StmtKind::Switch(expr, _)
            | StmtKind::Return(Some(expr)) => self.check_expression(expr),
            StmtKind::For(parts) => {
                let For { cond, step, .. } = &**parts;
                cond.iter().chain(step).try_for_each(|expr| self.check_expression(expr))
            }
            StmtKind::Declare(variables) => variables.iter().try_for_each(|variable| match &variable.init {
                Some(Initializer::Value(expr)) => self.check_expression(expr),
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    fn check_expression(&mut self, expr: &Expr) -> Result<(), Error> {
        // Nearly all expressions write nothing but their target.
        let plain = match &expr.kind {
            ExprKind::Assign(_, target, value) => !self.has_effects(target) && !self.has_effects(value),
            _ => !self.has_effects(expr),
        };
        if plain { Ok(()) } else { self.effects(expr).map(|_| ()) }
    }

    fn own_function(&self, callee: &Expr) -> Option<&'a Function> {
        let ExprKind::Name(name) = callee.kind else { return None };
        self.file.functions.iter().find(|f| f.name == name)
    }

    pub(super) fn has_effects(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(..) | ExprKind::Statements(_) => true,
            ExprKind::Unary(operator, _) if is_step(*operator) => true,
            ExprKind::Call(callee, _)
                if self.own_function(callee).is_some_and(|f| self.stores(f, &[]) != Writes::Nothing) =>
            {
                true
            }
            _ => parts(expr).into_iter().any(|part| self.has_effects(part)),
        }
    }

    fn effects(&mut self, expr: &Expr) -> Result<Effects, Error> {
        let mut found = Effects::default();
        match &expr.kind {
            ExprKind::Name(name) => drop(found.reads.insert(*name)),
            ExprKind::Unary(operator, target) if is_step(*operator) => {
                found = self.place_effects(target)?;
                written(target, &mut found);
            }
            ExprKind::Unary(Unary::Deref, inner) | ExprKind::Arrow(inner, _) => {
                found = self.effects(inner)?;
                found.loads = true;
            }
            ExprKind::Index(..) => {
                found = self.place_effects(expr)?;
                found.loads = true;
            }
            ExprKind::Assign(operator, target, value) => {
                let mut left = self.place_effects(target)?;
                if operator.is_some() {
                    left.join(self.read_name(target));
                    left.loads |= !matches!(target.kind, ExprKind::Name(_));
                }
                let right = self.effects(value)?;
                let mut own = Effects::default();
                written(target, &mut own);
                // The store itself comes behind both; only another write of the variable disturbs it.
                let twice = own.writes.iter().any(|name| left.writes.contains(name) || right.writes.contains(name));
                if twice || left.disturbs(&right) || right.disturbs(&left) {
                    return Err(self.out_of_order(expr));
                }
                found.join(left);
                found.join(right);
                found.join(own);
            }
            ExprKind::Binary(Binary::LogicalAnd | Binary::LogicalOr, a, b) | ExprKind::Comma(a, b) => {
                found = self.effects(a)?;
                found.join(self.effects(b)?);
            }
            ExprKind::Binary(_, a, b) => found = self.apart(&[a, b])?,
            ExprKind::Call(callee, arguments) => {
                found = self.apart(&arguments.iter().collect::<Vec<_>>())?;
                if let Some(function) = self.own_function(callee) {
                    found.loads = true;
                    match self.stores(function, &[]) {
                        Writes::Nothing => {}
                        Writes::Statics => found.writes.extend(self.statics_of_functions()),
                        Writes::Memory => found.stores = true,
                    }
                }
            }
            ExprKind::Statements(list) => {
                found.writes.extend(super::assigned_names(list));
                found.loads = true;
                let stores = list.iter().map(|stmt| self.stores_in(stmt, &FxHashSet::default(), &[])).max();
                found.stores = stores.is_some_and(|stores| stores != Writes::Nothing);
            }
            _ => {
                for part in parts(expr) {
                    found.join(self.effects(part)?);
                }
            }
        }
        Ok(found)
    }

    /// The effects of finding a place, without reading or writing it.
    fn place_effects(&mut self, target: &Expr) -> Result<Effects, Error> {
        match &target.kind {
            ExprKind::Name(_) => Ok(Effects::default()),
            ExprKind::Index(array, index) => {
                // A row of an array is a place, not a load; a pointer is read.
                let mut found = self.place_effects(array)?;
                found.join(self.read_name(array));
                let index = self.effects(index)?;
                if found.disturbs(&index) || index.disturbs(&found) {
                    return Err(self.out_of_order(target));
                }
                found.join(index);
                Ok(found)
            }
            ExprKind::Member(inner, _) => self.place_effects(inner),
            ExprKind::Unary(Unary::Deref, inner) | ExprKind::Arrow(inner, _) => self.effects(inner),
            _ => self.effects(target),
        }
    }

    fn read_name(&self, expr: &Expr) -> Effects {
        let mut found = Effects::default();
        if let ExprKind::Name(name) = expr.kind {
            found.reads.insert(name);
        }
        found
    }

    /// Operands in no order.
    fn apart(&mut self, operands: &[&Expr]) -> Result<Effects, Error> {
        let mut found = Effects::default();
        for operand in operands {
            let next = self.effects(operand)?;
            if found.disturbs(&next) || next.disturbs(&found) {
                return Err(self.out_of_order(operand));
            }
            found.join(next);
        }
        Ok(found)
    }

    fn out_of_order(&mut self, expr: &Expr) -> Error {
        self.line = expr.line;
        self.unsupported("an expression whose value depends on the order in which its parts are evaluated")
    }

    /// What the function may write besides its own variables. `chain` are the calls that lead here; deeper ones than a few are
    /// taken to write memory. One that comes back is refused as recursion where it is lowered.
    fn stores(&self, function: &Function, chain: &[Name]) -> Writes {
        if chain.contains(&function.name) {
            return Writes::Nothing;
        }
        let chain = [chain, &[function.name]].concat();
        let mut own: FxHashSet<Name> = function.parameters.iter().filter_map(|p| p.name).collect();
        let declared = |kind: &dyn Fn(&Variable) -> bool, names: &mut FxHashSet<Name>| {
            function.body.iter().for_each(|stmt| declared_here(stmt, kind, names));
        };
        declared(&|v| !v.is_static, &mut own);
        let mut local = FxHashSet::default();
        declared(&|v| !v.is_static && !matches!(v.ty, Type::Pointer(_)), &mut local);
        let mut statics = FxHashSet::default();
        declared(&is_static_number, &mut statics);
        let assigned = super::assigned_names(&function.body);
        // A name with two meanings may be the other one.
        let mut doubtful = FxHashSet::default();
        declared(&|v| v.is_static, &mut doubtful);
        doubtful.extend(self.globals.keys());
        let foreign: Vec<&Name> =
            assigned.iter().filter(|name| !own.contains(name) || doubtful.contains(name)).collect();
        let named = match foreign.as_slice() {
            [] => Writes::Nothing,
            names if names.iter().all(|name| statics.contains(name)) && !takes_address(&function.body) => {
                Writes::Statics
            }
            _ => Writes::Memory,
        };
        if chain.len() > DEEPEST {
            return Writes::Memory;
        }
        function.body.iter().map(|stmt| self.stores_in(stmt, &local, &chain)).fold(named, Writes::max)
    }

    /// Names of the static variables of all functions.
    fn statics_of_functions(&self) -> FxHashSet<Name> {
        let mut names = FxHashSet::default();
        let body = self.file.functions.iter().flat_map(|function| &function.body);
        body.for_each(|stmt| declared_here(stmt, &|v| v.is_static, &mut names));
        names
    }

    fn stores_in(&self, stmt: &Stmt, local: &FxHashSet<Name>, chain: &[Name]) -> Writes {
        let inner = |stmt: &Stmt| self.stores_in(stmt, local, chain);
        let own = |expr: &Expr| self.stores_by(expr, local, chain);
        let most = |found: &mut dyn Iterator<Item = Writes>| found.max().unwrap_or(Writes::Nothing);
        match &stmt.kind {
            StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) | StmtKind::Case(expr) => own(expr),
            StmtKind::If(cond, yes, no) => {
                own(cond).max(inner(yes)).max(most(&mut no.as_deref().into_iter().map(inner)))
            }
            StmtKind::For(parts) => {
                let expressions = most(&mut parts.cond.iter().chain(&parts.step).map(own));
                most(&mut parts.init.as_ref().into_iter().map(&inner)).max(expressions).max(inner(&parts.body))
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
                own(cond).max(inner(body))
            }
            StmtKind::Block(list) => most(&mut list.iter().map(inner)),
            StmtKind::Declare(variables) => most(&mut variables.iter().map(|variable| match &variable.init {
                Some(Initializer::Value(expr)) => own(expr),
                _ => Writes::Nothing,
            })),
            _ => Writes::Nothing,
        }
    }

    fn stores_by(&self, expr: &Expr, local: &FxHashSet<Name>, chain: &[Name]) -> Writes {
        // A variable, or a part of one that is declared here and is no pointer.
        let outside = |target: &Expr| {
            let (mut base, mut whole) = (target, true);
            while let ExprKind::Index(inner, _) | ExprKind::Member(inner, _) = &base.kind {
                (base, whole) = (inner, false);
            }
            !matches!(base.kind, ExprKind::Name(name) if whole || local.contains(&name))
        };
        let memory = |writes: bool| if writes { Writes::Memory } else { Writes::Nothing };
        let here = match &expr.kind {
            ExprKind::Assign(_, target, _) => memory(outside(target)),
            ExprKind::Unary(operator, target) if is_step(*operator) => memory(outside(target)),
            ExprKind::Call(callee, _) => match self.own_function(callee) {
                Some(function) => self.stores(function, chain),
                None => memory(matches!(callee.kind, ExprKind::Name(name) if self.text(name).contains("mem"))),
            },
            ExprKind::Statements(list) => {
                list.iter().map(|stmt| self.stores_in(stmt, local, chain)).max().unwrap_or(Writes::Nothing)
            }
            _ => Writes::Nothing,
        };
        parts(expr).into_iter().map(|part| self.stores_by(part, local, chain)).fold(here, Writes::max)
    }
}

/// Is it a static number?
fn is_static_number(variable: &Variable) -> bool {
    variable.is_static && matches!(variable.ty, Type::Basic(_))
}

/// Is there an address operator in the statements, at any depth?
fn takes_address(body: &[Stmt]) -> bool {
    fn in_expr(expr: &Expr) -> bool {
        match &expr.kind {
            // Rare enough to be taken for one.
            ExprKind::Unary(Unary::Address, _) | ExprKind::Statements(_) | ExprKind::Compound(..) => true,
            _ => parts(expr).into_iter().any(in_expr),
        }
    }
    let all = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::Return(Some(expr)) | StmtKind::Case(expr) => in_expr(expr),
        StmtKind::If(cond, yes, no) => {
            in_expr(cond)
                || takes_address(std::slice::from_ref(yes))
                || no.as_deref().is_some_and(|no| takes_address(std::slice::from_ref(no)))
        }
        StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
            in_expr(cond) || takes_address(std::slice::from_ref(body))
        }
        StmtKind::Block(list) => takes_address(list),
        StmtKind::Declare(variables) => variables.iter().any(|variable| match &variable.init {
            Some(Initializer::Value(expr)) => in_expr(expr),
            Some(_) => true,
            None => false,
        }),
        StmtKind::Empty | StmtKind::Break | StmtKind::Continue | StmtKind::Default | StmtKind::Return(None) => false,
        _ => true,
    };
    body.iter().any(all)
}

/// Notes a write of a place.
fn written(target: &Expr, found: &mut Effects) {
    match target.kind {
        ExprKind::Name(name) => drop(found.writes.insert(name)),
        _ => found.stores = true,
    }
}

/// Names of the variables of a kind that a statement declares, at any depth.
fn declared_here(stmt: &Stmt, kind: &dyn Fn(&Variable) -> bool, names: &mut FxHashSet<Name>) {
    let mut inner = |stmt: &Stmt| declared_here(stmt, kind, names);
    match &stmt.kind {
        StmtKind::Declare(variables) => names.extend(variables.iter().filter(|v| kind(v)).map(|v| v.name)),
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
        _ => {}
    }
}
