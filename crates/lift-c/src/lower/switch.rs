//! `switch`: a jump into a list of statements if the value is known, a chain of `if` if it is data.

use super::values::{convert_int, promote};
use super::{Lowerer, Val, nothing};
use crate::ast::{self, Binary, Expr, ExprKind, StmtKind};
use crate::error::Error;
use rustc_hash::FxHashMap;
use updates::{Int, Scalar, Stmt, SwitchStmt};

/// The statements between two labels, with the labels before them.
#[derive(Default)]
struct Section<'s> {
    cases: Vec<&'s Expr>,
    default: bool,
    body: Vec<ast::Stmt>,
    /// Does it end with a `break`, or go on with the next?
    ends: bool,
}

impl<'a> Lowerer<'a> {
    pub(super) fn switch(
        &mut self,
        line: u32,
        value: &Expr,
        body: &ast::Stmt,
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        let site = self.site(line);
        let StmtKind::Block(list) = &body.kind else { return Err(self.unsupported("a switch without a block")) };
        let known = self.value(value)?;
        let promoted = match &known {
            Val::Int(_, ty) | Val::Data(_, ty) if !ty.is_float() => promote(*ty),
            _ => return Err(self.unsupported("a switch on this")),
        };
        // The value is compared once for each label.
        if let (Val::Data(..), false) = (&known, self.has_effects(value))
            && let Some(chain) = chain(value, promoted, list)
        {
            return self.statement(&chain, out);
        }
        let (number, from) = self.int_of(known)?;
        let number = convert_int(number, from, promoted);
        let (mut cases, mut default, mut stmts) = (Vec::new(), None, Vec::new());
        self.scopes.push(FxHashMap::default());
        for stmt in list {
            match &stmt.kind {
                StmtKind::Case(expr) => {
                    self.line = stmt.line;
                    // C11 6.8.4.2: labels are converted to the promoted type of the value.
                    let case = self.value(expr)?;
                    match self.convert(case, &crate::ctype::CType::Scalar(promoted))? {
                        Val::Int(Int::Const(case), _) => cases.push((case, stmts.len())),
                        _ => return Err(self.unsupported("a case that is not a constant")),
                    }
                }
                StmtKind::Default => default = Some(stmts.len()),
                _ => {
                    // One entry per statement, so that cases find their place.
                    let mut part = Vec::new();
                    self.statement(stmt, &mut part)?;
                    stmts.push(match part.len() {
                        0 => nothing(),
                        1 => part.remove(0),
                        _ => Stmt::Block(part),
                    });
                }
            }
        }
        self.scopes.pop();
        out.push(Stmt::Switch(site, Box::new(SwitchStmt { value: number, cases, default, body: stmts })));
        Ok(())
    }
}

/// The switch as a chain of `if`, each with all statements from its label to a `break`. Nothing if one is left from inside a
/// statement.
fn chain(value: &Expr, promoted: Scalar, list: &[ast::Stmt]) -> Option<ast::Stmt> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut behind = true;
    for stmt in list {
        let label = matches!(stmt.kind, StmtKind::Case(_) | StmtKind::Default);
        if label && behind {
            sections.push(Section::default());
        }
        behind = !label;
        let section = sections.last_mut()?;
        match &stmt.kind {
            StmtKind::Case(expr) => section.cases.push(expr),
            StmtKind::Default => section.default = true,
            // What stands behind is never reached.
            _ if section.ends => {}
            StmtKind::Break => section.ends = true,
            _ if leaves(stmt) => return None,
            _ => {
                section.ends = matches!(stmt.kind, StmtKind::Return(_));
                section.body.push(stmt.clone());
            }
        }
    }
    let block = |number: usize| {
        let mut body = Vec::new();
        for section in &sections[number..] {
            body.extend(section.body.iter().cloned());
            if section.ends {
                break;
            }
        }
        let line = body.first().map_or(value.line, |stmt| stmt.line);
        Box::new(ast::Stmt { kind: StmtKind::Block(body), line })
    };
    let mut rest = sections.iter().position(|section| section.default).map(block);
    for (number, section) in sections.iter().enumerate().rev().filter(|(_, section)| !section.default) {
        let equal = |case: &&Expr| binary(Binary::Eq, value.clone(), converted((*case).clone(), promoted));
        let cond = section.cases.iter().map(equal).reduce(|a, b| binary(Binary::LogicalOr, a, b))?;
        rest = Some(Box::new(ast::Stmt { kind: StmtKind::If(cond, block(number), rest), line: value.line }));
    }
    rest.map(|chain| *chain)
}

/// A label, converted to the promoted type of the value.
fn converted(case: Expr, promoted: Scalar) -> Expr {
    let basic = match promoted {
        Scalar::U32 => ast::Basic::Unsigned,
        Scalar::I64 => ast::Basic::Long,
        Scalar::U64 => ast::Basic::UnsignedLong,
        _ => ast::Basic::Int,
    };
    let (line, depth) = (case.line, case.depth.saturating_add(1));
    Expr { kind: ExprKind::Cast(Box::new(ast::Type::Basic(basic)), Box::new(case)), line, depth }
}

fn binary(operator: Binary, a: Expr, b: Expr) -> Expr {
    let (line, depth) = (a.line, a.depth.max(b.depth).saturating_add(1));
    Expr { kind: ExprKind::Binary(operator, Box::new(a), Box::new(b)), line, depth }
}

/// Is there a `break` inside that leaves the switch?
fn leaves(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::Block(list) => list.iter().any(leaves),
        StmtKind::If(_, yes, no) => leaves(yes) || no.as_deref().is_some_and(leaves),
        _ => false,
    }
}
