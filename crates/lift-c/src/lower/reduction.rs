//! Is a variable of a `reduction` clause used for that reduction alone?
//!
//! Each thread starts from the operator's neutral element, and the parts are combined at the end in any order. A turn
//! that sees the variable other than in `s = s op e`, or that combines it by another operator, computes something that
//! depends on the threads. What is not one of the forms below is refused.

use crate::ast::{Binary, Expr, ExprKind, Stmt, StmtKind, Unary};
use crate::lexer::{Name, Names};

/// A variable and the operator of its clause.
pub(super) struct Reduction<'a> {
    pub name: Name,
    pub operator: &'a str,
    pub names: &'a Names,
}

impl Reduction<'_> {
    /// Do the statements do nothing else with the variable?
    pub fn is_all(&self, stmt: &Stmt) -> bool {
        let silent = |expr: &Expr| !self.mentions(expr);
        match &stmt.kind {
            StmtKind::Expr(expr) => silent(expr) || self.updates(expr),
            StmtKind::Block(list) => list.iter().all(|s| self.is_all(s)),
            StmtKind::If(cond, yes, no) => {
                no.is_none() && self.extreme_by_branch(cond, yes)
                    || silent(cond) && self.is_all(yes) && no.as_ref().is_none_or(|no| self.is_all(no))
            }
            StmtKind::For(parts) => {
                parts.init.as_ref().is_none_or(|init| self.is_all(init))
                    && parts.cond.iter().chain(&parts.step).all(silent)
                    && self.is_all(&parts.body)
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) | StmtKind::Switch(cond, body) => {
                silent(cond) && self.is_all(body)
            }
            StmtKind::Case(expr) | StmtKind::Return(Some(expr)) => silent(expr),
            // A second variable of that name would need scopes.
            StmtKind::Declare(variables) => {
                let other = variables.iter().all(|v| v.name != self.name);
                other && variables.iter().all(|v| v.init.as_ref().is_none_or(|init| !self.initializer(init)))
            }
            StmtKind::Empty | StmtKind::Default | StmtKind::Break | StmtKind::Continue | StmtKind::Return(None) => true,
            StmtKind::Pragma(_) => true,
            StmtKind::Unsupported(_) => false,
        }
    }

    fn initializer(&self, init: &crate::ast::Initializer) -> bool {
        use crate::ast::Initializer;
        match init {
            Initializer::Value(expr) => self.mentions(expr),
            Initializer::List(list) => list.iter().any(|i| self.initializer(i)),
            Initializer::At(_, inner) | Initializer::Member(_, inner) => self.initializer(inner),
        }
    }

    fn mentions(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => *name == self.name,
            // Rare enough to be taken for a use.
            ExprKind::Statements(_) => true,
            ExprKind::Compound(_, list) => list.iter().any(|i| self.initializer(i)),
            _ => super::parts(expr).into_iter().any(|part| self.mentions(part)),
        }
    }

    /// The variable, or an element of it.
    fn is_target(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => *name == self.name,
            ExprKind::Index(array, index) => self.is_target(array) && !self.mentions(index),
            _ => false,
        }
    }

    fn combines(&self, operator: Binary) -> bool {
        match self.operator {
            "+" | "-" => matches!(operator, Binary::Add | Binary::Sub),
            "*" => operator == Binary::Mul,
            "&" => operator == Binary::And,
            "|" => operator == Binary::Or,
            "^" => operator == Binary::Xor,
            "&&" => operator == Binary::LogicalAnd,
            "||" => operator == Binary::LogicalOr,
            _ => false,
        }
    }

    /// `s op= e`, `s = s op e`, `s++`, `s = max(s, e)`.
    fn updates(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Assign(Some(operator), target, value) => {
                self.is_target(target) && self.combines(*operator) && !self.mentions(value)
            }
            ExprKind::Assign(None, target, value) => {
                self.is_target(target) && (self.accumulates(value, target) || self.is_extreme(value, target))
            }
            ExprKind::Unary(
                Unary::PreIncrement | Unary::PostIncrement | Unary::PreDecrement | Unary::PostDecrement,
                target,
            ) => self.is_target(target) && self.combines(Binary::Add),
            _ => false,
        }
    }

    fn accumulates(&self, value: &Expr, target: &Expr) -> bool {
        match &value.kind {
            ExprKind::Binary(operator, a, b) if self.combines(*operator) => {
                let left = (same(a, target) || self.accumulates(a, target)) && !self.mentions(b);
                let right = (same(b, target) || self.accumulates(b, target)) && !self.mentions(a);
                left || right && *operator != Binary::Sub
            }
            _ => false,
        }
    }

    fn is_extreme(&self, value: &Expr, target: &Expr) -> bool {
        match &value.kind {
            ExprKind::Call(callee, arguments) => {
                let ExprKind::Name(callee) = callee.kind else { return false };
                let wanted = match self.operator {
                    "max" => ["fmax", "fmaxf"],
                    "min" => ["fmin", "fminf"],
                    _ => return false,
                };
                let [a, b] = arguments.as_slice() else { return false };
                let one = same(a, target) && !self.mentions(b) || same(b, target) && !self.mentions(a);
                one && wanted.contains(&self.names.text(callee))
            }
            ExprKind::Choice(cond, yes, no) => {
                let other = if same(yes, target) { no } else { yes };
                let whole = same(yes, target) != same(no, target) && !self.mentions(other);
                whole && self.chooses(cond, yes, no)
            }
            _ => false,
        }
    }

    /// `if (e > s) s = e;`.
    fn extreme_by_branch(&self, cond: &Expr, yes: &Stmt) -> bool {
        match &yes.kind {
            StmtKind::Block(list) => matches!(list.as_slice(), [only] if self.extreme_by_branch(cond, only)),
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                self.is_target(target) && !self.mentions(value) && self.chooses(cond, value, target)
            }
            _ => false,
        }
    }

    /// Does the condition choose the larger (or smaller) of the two?
    fn chooses(&self, cond: &Expr, yes: &Expr, no: &Expr) -> bool {
        let ExprKind::Binary(operator, a, b) = &cond.kind else { return false };
        let larger = match operator {
            Binary::Gt | Binary::Ge => a,
            Binary::Lt | Binary::Le => b,
            _ => return false,
        };
        let smaller = if std::ptr::eq(larger, a) { b } else { a };
        match self.operator {
            "max" => same(larger, yes) && same(smaller, no),
            "min" => same(smaller, yes) && same(larger, no),
            _ => false,
        }
    }
}

/// Are they written alike?
fn same(a: &Expr, b: &Expr) -> bool {
    let kinds = match (&a.kind, &b.kind) {
        (ExprKind::Name(a), ExprKind::Name(b)) => a == b,
        (ExprKind::Number(a), ExprKind::Number(b)) => a == b,
        (ExprKind::Unary(a, _), ExprKind::Unary(b, _)) => a == b,
        (ExprKind::Binary(a, ..), ExprKind::Binary(b, ..)) => a == b,
        (ExprKind::Index(..), ExprKind::Index(..)) => true,
        (ExprKind::Member(_, a), ExprKind::Member(_, b)) | (ExprKind::Arrow(_, a), ExprKind::Arrow(_, b)) => a == b,
        (ExprKind::Call(a, _), ExprKind::Call(b, _)) => same(a, b),
        _ => false,
    };
    let (first, second) = (super::parts(a), super::parts(b));
    kinds && first.len() == second.len() && first.into_iter().zip(second).all(|(a, b)| same(a, b))
}
