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
        if let Val::Data(..) = known {
            return self.switch_on_data(value, list, out);
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

    /// A value that is not known: whoever runs, runs one section from its label to its `break`.
    fn switch_on_data(&mut self, value: &Expr, list: &[ast::Stmt], out: &mut Vec<Stmt>) -> Result<(), Error> {
        let refuse = |this: &Self| this.unsupported("a switch on data whose cases do not each end with `break`");
        // The value is compared once for each label.
        if self.has_effects(value) {
            return Err(self.unsupported("a switch on data with side effects"));
        }
        let mut sections: Vec<Section<'_>> = Vec::new();
        let mut open = false;
        for stmt in list {
            self.line = stmt.line;
            let label = matches!(stmt.kind, StmtKind::Case(_) | StmtKind::Default);
            if label && !open {
                sections.push(Section::default());
            }
            open = !matches!(stmt.kind, StmtKind::Break | StmtKind::Return(_));
            let Some(section) = sections.last_mut() else { return Err(refuse(self)) };
            match &stmt.kind {
                StmtKind::Case(expr) if section.body.is_empty() => section.cases.push(expr),
                StmtKind::Default if section.body.is_empty() => section.default = true,
                StmtKind::Case(_) | StmtKind::Default => return Err(refuse(self)),
                StmtKind::Break => {}
                _ if leaves(stmt) => return Err(refuse(self)),
                _ => section.body.push(stmt.clone()),
            }
        }
        let block = |section: Section<'_>| {
            let line = section.body.first().map_or(value.line, |stmt| stmt.line);
            Box::new(ast::Stmt { kind: StmtKind::Block(section.body), line })
        };
        let (default, labelled): (Vec<_>, Vec<_>) = sections.into_iter().partition(|section| section.default);
        let mut rest = default.into_iter().next().map(block);
        for section in labelled.into_iter().rev() {
            let equal = |case: &&Expr| binary(Binary::Eq, value.clone(), (*case).clone());
            let either = |a, b| binary(Binary::LogicalOr, a, b);
            let Some(cond) = section.cases.iter().map(equal).reduce(either) else { return Err(refuse(self)) };
            rest = Some(Box::new(ast::Stmt { kind: StmtKind::If(cond, block(section), rest), line: value.line }));
        }
        match rest {
            Some(chain) => self.statement(&chain, out),
            None => Ok(()),
        }
    }
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
