//! OpenMP regions: `omp parallel` around a block or a loop, with `omp for`, `omp single` and `omp barrier` inside.
//!
//! Every thread runs the block. Outside the loops and blocks that are shared out, it may touch only what is its own: the
//! variables of the clauses `private` and `firstprivate` and those declared inside. It may read variables that nobody in the
//! region assigns, but no memory: another thread may have gone on and be writing it. So all threads do the same
//! there, and a loop that is shared out starts behind everything that its region did before, because each
//! such loop and each `single` ends with a barrier. `nowait` is accepted only at the end of the region, where there is
//! a barrier anyway. Anything else is refused.

use super::{Binding, Key, Lowerer, assigned_in, assigned_names, parts};
use crate::ast::{self, Expr, ExprKind, Initializer, StmtKind, Unary};
use crate::ctype::CType;
use crate::error::Error;
use crate::lexer::Name;
use rustc_hash::{FxHashMap, FxHashSet};
use updates::{Data, Int, Origin, Place, Stmt};

/// The words of a directive before its clauses.
fn head(text: &str) -> Option<Vec<&str>> {
    let rest = text.strip_prefix("omp ")?;
    Some(rest.split_whitespace().take_while(|w| w.chars().all(|c| c.is_ascii_alphabetic())).collect())
}

/// Is it `omp parallel` for the block behind it?
pub(super) fn is_region(text: &str) -> bool {
    let clauses = ["private", "firstprivate", "shared", "default", "if", "reduction", "copyin"];
    let Some(head) = head(text) else { return false };
    let known = |word: &&str| clauses.contains(word) || *word == "num_threads" || *word == "proc_bind";
    head.first() == Some(&"parallel") && head[1..].iter().all(known)
}

/// Is it `omp single`?
pub(super) fn is_single(text: &str) -> bool {
    head(text).is_some_and(|head| head == ["single"])
}

/// Names that belong to each thread.
type Own = FxHashSet<Name>;

impl<'a> Lowerer<'a> {
    /// Does each thread of the region around this place have the variable for itself?
    pub(super) fn is_threads_own(&self, name: Name) -> bool {
        let place = self.scopes.iter().rposition(|scope| scope.contains_key(&name));
        self.region.is_some_and(|depth| place.is_some_and(|at| at >= depth))
    }

    /// The block of a parallel region.
    pub(super) fn parallel_region(
        &mut self,
        pragma: Name,
        list: &[ast::Stmt],
        out: &mut Vec<Stmt>,
    ) -> Result<(), Error> {
        if self.region.is_some() || self.uncertain > 0 {
            return Err(self.unsupported("a parallel region inside another or under a condition on data"));
        }
        let mut stmts = Vec::new();
        let depth = self.scopes.len();
        self.scopes.push(FxHashMap::default());
        let mut own = self.region_variables(pragma, &mut stmts)?;
        let shared = assigned_names(list);
        self.region = Some(depth);
        let result = self.check_region(list, &mut own, &shared, End::OfRegion).and_then(|()| self.list(list));
        self.region = None;
        self.scopes.pop();
        stmts.extend(result?);
        out.push(Stmt::Block(stmts));
        Ok(())
    }

    /// Declares the variables of the clauses anew.
    fn region_variables(&mut self, pragma: Name, out: &mut Vec<Stmt>) -> Result<Own, Error> {
        let mut own = Own::default();
        let words: Vec<&str> = self.text(pragma).split_whitespace().skip(2).collect();
        let mut at = 0;
        while at < words.len() {
            let clause = words[at];
            let end = (at..words.len()).find(|i| words[*i] == ")").unwrap_or(words.len());
            let inside = words.get(at + 2..end).unwrap_or_default();
            at = end + 1;
            let copied = match clause {
                "private" => false,
                "firstprivate" => true,
                "shared" | "default" | "if" | "num_threads" | "proc_bind" => continue,
                _ => return Err(self.unsupported(format!("the clause `{clause}` of a parallel region"))),
            };
            for word in inside.iter().filter(|w| **w != ",") {
                let Some(name) = self.known_name(word) else {
                    return Err(self.malformed(format!("`{word}`, which nobody declares")));
                };
                self.declare_anew(name, copied, out)?;
                own.insert(name);
            }
        }
        Ok(own)
    }

    fn declare_anew(&mut self, name: Name, copied: bool, out: &mut Vec<Stmt>) -> Result<(), Error> {
        let (outer, key) = self.lookup(name)?;
        let site = self.site(self.line);
        let key: Key = (key.0 ^ 1 << 60 ^ u64::from(self.line) << 20, key.1);
        match outer {
            Binding::Slot(old, ty) if !self.data.contains(&key) => {
                let slot = self.new_slot();
                out.push(match copied {
                    true => Stmt::Int(site, Int::Assign(slot, Box::new(Int::Slot(old)))),
                    false => Stmt::Forget(vec![slot]),
                });
                self.bind(name, Binding::Slot(slot, ty), key);
            }
            Binding::Pointer(old, target) => {
                let slot = self.new_slot();
                out.push(match copied {
                    true => Stmt::Int(site, Int::Assign(slot, Box::new(Int::Slot(old)))),
                    false => Stmt::Forget(vec![slot]),
                });
                self.bind(name, Binding::Pointer(slot, target), key);
            }
            Binding::Slot(old, ty) => {
                let object = self.new_object(self.text(name).to_string(), &CType::Scalar(ty), Origin::Local)?;
                out.push(match copied {
                    true => Stmt::Store(site, Place::Cell(object), Data::FromInt(ty, Box::new(Int::Slot(old)))),
                    false => Stmt::Enter(vec![object]),
                });
                self.bind(name, Binding::Object(object, CType::Scalar(ty)), key);
            }
            Binding::Object(old, ty) => {
                let object = self.new_object(self.text(name).to_string(), &ty, Origin::Local)?;
                out.push(match (&ty, copied) {
                    (CType::Scalar(_), true) => Stmt::Store(site, Place::Cell(object), Data::Load(Place::Cell(old))),
                    (_, true) => return Err(self.unsupported("an array in `firstprivate` of a parallel region")),
                    (_, false) => Stmt::Enter(vec![object]),
                });
                self.bind(name, Binding::Object(object, ty), key);
            }
            Binding::Known(..) => {
                return Err(self.unsupported(format!("the parameter `{}` in a clause", self.text(name))));
            }
        }
        Ok(())
    }

    /// Refuses what threads of a region could do to each other outside shared-out loops.
    fn check_region(&mut self, list: &[ast::Stmt], own: &mut Own, shared: &Own, end: End) -> Result<(), Error> {
        let mut directive = None;
        for (index, stmt) in list.iter().enumerate() {
            self.line = stmt.line;
            let last = end == End::OfRegion && index + 1 == list.len();
            if let StmtKind::Pragma(name) = stmt.kind {
                let text = self.text(name);
                if text.starts_with("omp ") {
                    self.accept_directive(name)?;
                    directive = Some(text).filter(|text| head(text) != Some(vec!["barrier"]));
                }
                continue;
            }
            match directive.take() {
                None => self.check_all(stmt, own, shared)?,
                Some(text) => self.check_shared_out(text, stmt, own, last)?,
            }
        }
        Ok(())
    }

    /// A statement with a directive inside a region.
    fn check_shared_out(&mut self, text: &str, stmt: &ast::Stmt, own: &Own, last: bool) -> Result<(), Error> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let refuse = |this: &Self| Err(this.unsupported(format!("`#pragma {text}` in a parallel region")));
        if words.contains(&"nowait") && !last {
            return refuse(self);
        }
        match (head(text).unwrap_or_default().as_slice(), &stmt.kind) {
            (["for", rest @ ..], StmtKind::For(_)) if !rest.contains(&"ordered") => Ok(()),
            (["single"], kind) if text == "omp single" && !has_pragma(stmt) => {
                let assigned = assigned_names(std::slice::from_ref(stmt));
                let mut declared = Own::default();
                if let StmtKind::Block(list) = kind {
                    for stmt in list {
                        if let StmtKind::Declare(variables) = &stmt.kind {
                            declared.extend(variables.iter().map(|v| v.name));
                        }
                    }
                }
                if assigned.iter().any(|name| own.contains(name) && !declared.contains(name)) {
                    return Err(self.unsupported("a private variable that only one thread sets"));
                }
                Ok(())
            }
            _ => refuse(self),
        }
    }

    /// A statement that all threads run.
    fn check_all(&mut self, stmt: &ast::Stmt, own: &mut Own, shared: &Own) -> Result<(), Error> {
        self.line = stmt.line;
        match &stmt.kind {
            StmtKind::Empty | StmtKind::Break | StmtKind::Continue => Ok(()),
            StmtKind::Expr(expr) => self.check_alone(expr, own, shared),
            StmtKind::Declare(variables) => {
                for variable in variables {
                    if variable.is_static {
                        return Err(self.unsupported("a static variable in a parallel region"));
                    }
                    own.insert(variable.name);
                    match &variable.init {
                        None => {}
                        Some(Initializer::Value(expr)) => self.check_alone(expr, own, shared)?,
                        Some(_) => return Err(self.unsupported("a list in a parallel region")),
                    }
                }
                Ok(())
            }
            StmtKind::Block(list) => self.check_region(list, &mut own.clone(), shared, End::OfBlock),
            StmtKind::If(cond, yes, no) => {
                self.check_alone(cond, own, shared)?;
                self.check_all(yes, &mut own.clone(), shared)?;
                no.as_ref().map_or(Ok(()), |no| self.check_all(no, &mut own.clone(), shared))
            }
            StmtKind::For(parts) => {
                let mut own = own.clone();
                if let Some(init) = &parts.init {
                    self.check_all(init, &mut own, shared)?;
                }
                for expr in parts.cond.iter().chain(&parts.step) {
                    self.check_alone(expr, &own, shared)?;
                }
                self.check_all(&parts.body, &mut own, shared)
            }
            StmtKind::While(cond, body) | StmtKind::DoWhile(body, cond) => {
                self.check_alone(cond, own, shared)?;
                self.check_all(body, &mut own.clone(), shared)
            }
            _ => Err(self.unsupported("this statement in a parallel region")),
        }
    }

    /// An expression that all threads evaluate: it reads and writes nothing that another thread writes.
    fn check_alone(&mut self, expr: &Expr, own: &Own, shared: &Own) -> Result<(), Error> {
        let mut assigned = Own::default();
        assigned_in(expr, &mut assigned);
        if let Some(name) = assigned.iter().find(|name| !own.contains(*name)) {
            let text = self.text(*name);
            return Err(self.unsupported(format!("`{text}`, which every thread of a parallel region assigns")));
        }
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            self.line = expr.line;
            match &expr.kind {
                ExprKind::Name(name) if own.contains(name) || !shared.contains(name) => {}
                ExprKind::Name(name) => {
                    let text = self.text(*name);
                    return Err(self.unsupported(format!("`{text}`, which others in the parallel region assign")));
                }
                ExprKind::Index(..)
                | ExprKind::Member(..)
                | ExprKind::Arrow(..)
                | ExprKind::Call(..)
                | ExprKind::Statements(_)
                | ExprKind::Compound(..)
                | ExprKind::Unary(Unary::Deref | Unary::Address, _) => {
                    return Err(self.unsupported("memory or a call in what every thread of a parallel region does"));
                }
                _ => {}
            }
            open.extend(parts(expr));
        }
        Ok(())
    }
}

/// What comes behind a list of statements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    OfRegion,
    OfBlock,
}

fn has_pragma(stmt: &ast::Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Pragma(_) => true,
        StmtKind::Block(list) => list.iter().any(has_pragma),
        StmtKind::If(_, yes, no) => has_pragma(yes) || no.as_deref().is_some_and(has_pragma),
        StmtKind::For(parts) => has_pragma(&parts.body),
        StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::Switch(_, body) => has_pragma(body),
        _ => false,
    }
}
