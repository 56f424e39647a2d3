//! `switch`: a jump into a list of statements if the value is known, a chain of `if` if it is data.

use super::{Lowerer, Val, nothing};
use crate::ast::{self, Binary, Expr, ExprKind, StmtKind};
use crate::error::Error;
use rustc_hash::FxHashMap;
use updates::{Int, Stmt, SwitchStmt};

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
        // The value is compared once for each label.
        if let (Val::Data(..), false) = (&known, self.has_effects(value))
            && let Some(chain) = chain(value, list)
        {
            return self.statement(&chain, out);
        }
        let (number, _) = self.int_of(known)?;
        let (mut cases, mut default, mut stmts) = (Vec::new(), None, Vec::new());
        self.scopes.push(FxHashMap::default());
        for stmt in list {
            match &stmt.kind {
                StmtKind::Case(expr) => {
                    self.line = stmt.line;
                    match self.value(expr)? {
                        Val::Int(Int::Const(case), _) => cases.push((case, stmts.len())),
                        _ => return Err(self.malformed("a case that is not a constant")),
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
fn chain(value: &Expr, list: &[ast::Stmt]) -> Option<ast::Stmt> {
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
        let equal = |case: &&Expr| binary(Binary::Eq, value.clone(), (*case).clone());
        let cond = section.cases.iter().map(equal).reduce(|a, b| binary(Binary::LogicalOr, a, b))?;
        rest = Some(Box::new(ast::Stmt { kind: StmtKind::If(cond, block(number), rest), line: value.line }));
    }
    rest.map(|chain| *chain)
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
