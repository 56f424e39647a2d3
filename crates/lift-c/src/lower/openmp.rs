//! OpenMP directives on loops: which turns are claimed to be independent, and of which variables each has its own.

use super::reduction::Reduction;
use super::region::{is_region, is_single};
use super::values::Lv;
use super::{Binding, Lowerer};
use crate::ast::{For, Stmt, StmtKind};
use crate::error::Error;
use crate::lexer::Name;
use updates::{Base, Parallel, Variable};

impl<'a> Lowerer<'a> {
    /// What the pragma before a loop with this body says about its turns.
    pub(super) fn directive(&mut self, pragma: Option<Name>, body: &Stmt) -> Result<Option<Parallel>, Error> {
        let Some(pragma) = pragma else { return Ok(None) };
        let text = self.text(pragma);
        let Some(rest) = text.strip_prefix("omp ") else { return Ok(None) };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let head: Vec<&str> =
            words.iter().copied().take_while(|w| w.chars().all(|c| c.is_ascii_alphabetic())).collect();
        // Lanes of a vector run at once, so what `simd` claims is held against the same rules.
        if !head.contains(&"for") && !head.contains(&"simd") {
            return Ok(None);
        }
        let mut parallel = Parallel::default();
        let mut at = 0;
        while at < words.len() {
            let clause = words[at];
            at += 1;
            if words.get(at) != Some(&"(") {
                continue;
            }
            let end = (at..words.len()).find(|i| words[*i] == ")").unwrap_or(words.len());
            let inside = &words[at + 1..end];
            at = end + 1;
            if clause == "collapse" {
                let depth = inside.first().and_then(|n| n.parse::<u32>().ok()).unwrap_or(u32::MAX);
                self.collapse = Some((pragma, depth.saturating_sub(1)));
            }
            self.clause(clause, inside, body, &mut parallel)?;
        }
        Ok(Some(parallel))
    }

    /// Refuses directives that change who runs what, other than loops.
    pub(super) fn accept_directive(&self, pragma: Name) -> Result<(), Error> {
        let text = self.text(pragma);
        let Some(rest) = text.strip_prefix("omp ") else { return Ok(()) };
        let head: Vec<&str> = rest.split_whitespace().take_while(|w| w.chars().all(char::is_alphabetic)).collect();
        let known = ["for", "simd", "barrier", "flush", "atomic", "critical", "declare"];
        if is_region(text) || is_single(text) && self.region.is_some() {
            return Ok(());
        }
        // Memory of another device, and copies of globals, are not modelled.
        let elsewhere = head.iter().any(|word| ["target", "teams", "threadprivate"].contains(word));
        if !elsewhere && head.iter().any(|word| known.contains(word)) {
            return Ok(());
        }
        Err(self.unsupported(format!("`#pragma {text}`")))
    }

    /// The directive of an outer loop that reaches this one (`collapse`).
    pub(super) fn collapsed(&mut self, pragma: Option<Name>) -> Option<Name> {
        let outer = self.collapse.take();
        match (pragma, outer) {
            (None, Some((name, depth))) if depth > 0 => {
                self.collapse = Some((name, depth - 1));
                Some(name)
            }
            (own, _) => own,
        }
    }

    /// Integers that other turns leave to each other in no order must be data, where this is watched; so must those
    /// of clauses that set them. Iterators of a `collapse` belong to the turn, and so does what each thread of a parallel
    /// region has of its own. The result says what holds nothing behind the loop: which turns a thread ran last
    /// is not known.
    pub(super) fn share(
        &mut self,
        parts: &For,
        variable: Option<Variable>,
        parallel: &mut Parallel,
    ) -> Vec<updates::Stmt> {
        let mut lost = (Vec::new(), Vec::new());
        if let (Some(Variable::Slot(slot)), false) = (variable, declares(parts)) {
            lost.0.push(slot);
        }
        let own = |slot: u32| variable == Some(Variable::Slot(slot));
        parallel.fresh_slots.retain(|slot| !own(*slot));
        let mut body = &parts.body;
        for _ in 0..self.collapse.map_or(0, |(_, depth)| depth) {
            let Some(inner) = only_loop(body) else { break };
            let iterator = self.iterator(inner).map(|name| self.lookup(name));
            if let Some(Ok((Binding::Slot(slot, _), _))) = iterator {
                parallel.private_slots.push(slot);
                if !declares(inner) {
                    lost.0.push(slot);
                }
            }
            body = &inner.body;
        }
        let mut assigned: Vec<Name> = super::assigned_names(std::slice::from_ref(&parts.body)).into_iter().collect();
        assigned.sort_unstable_by_key(|name| name.0);
        for name in assigned {
            let Ok((binding, key)) = self.lookup(name) else { continue };
            let threads_own = self.is_threads_own(name);
            match binding {
                Binding::Slot(slot, _) | Binding::Pointer(slot, _) if threads_own && !own(slot) => {
                    parallel.private_slots.push(slot);
                    parallel.fresh_slots.push(slot);
                    lost.0.push(slot);
                }
                Binding::Object(object, _) if threads_own => {
                    parallel.private_objects.push(object);
                    lost.1.push(object);
                }
                Binding::Slot(slot, _) if !own(slot) && !parallel.private_slots.contains(&slot) => {
                    self.make_data(key);
                }
                _ => {}
            }
        }
        let mut after = Vec::new();
        if !lost.0.is_empty() {
            after.push(updates::Stmt::Forget(lost.0));
        }
        if !lost.1.is_empty() {
            after.push(updates::Stmt::Enter(lost.1));
        }
        after
    }

    fn clause(&mut self, clause: &str, inside: &[&str], body: &Stmt, parallel: &mut Parallel) -> Result<(), Error> {
        match clause {
            "private" | "firstprivate" | "lastprivate" | "reduction" => {}
            "shared" | "schedule" | "num_threads" | "collapse" | "safelen" | "simdlen" | "default" | "proc_bind" => {
                return Ok(());
            }
            // `if` chooses between this and running in order; both are checked.
            "if" => return Ok(()),
            _ => return Err(self.unsupported(format!("the clause `{clause}` of a parallel loop"))),
        }
        let colon = inside.iter().position(|w| *w == ":").filter(|_| clause == "reduction");
        let operator = colon.map_or(String::new(), |at| inside[..at].concat());
        let listed = &inside[colon.map_or(0, |at| at + 1)..];
        for word in listed.iter().filter(|w| w.chars().all(|c| c.is_alphanumeric() || c == '_')) {
            let Some(name) = self.known_name(word) else { continue };
            let reduction = Reduction { name, operator: &operator, names: self.names };
            // The parts are joined by the operator even if there are no iterations, which makes 5 a 1.
            if clause == "reduction" && matches!(operator.as_str(), "&&" | "||") {
                return Err(self.unsupported(format!("the reduction of `{word}` by `{operator}`")));
            }
            if clause == "reduction" && !reduction.is_all(body) {
                return Err(self.unsupported(format!("`{word}`, which is used other than in its reduction")));
            }
            match self.named(name) {
                Ok(Lv::Slot(slot, ..) | Lv::Pointer(slot, _)) if clause == "private" => {
                    parallel.private_slots.push(slot);
                    parallel.fresh_slots.push(slot);
                }
                Ok(Lv::Slot(_, _, key)) => self.make_data(key),
                Ok(Lv::Pointer(..)) => return Err(self.unsupported(format!("the pointer `{word}` in `{clause}`"))),
                Ok(Lv::Memory(access, _)) => {
                    let Base::Object(object) = access.base else { continue };
                    match clause {
                        "reduction" => parallel.reductions.push(object),
                        "private" => parallel.private_objects.push(object),
                        "firstprivate" => parallel.copied_objects.push(object),
                        _ => parallel.last_objects.push(object),
                    }
                }
                // Words such as the `+` of a reduction name no variable.
                Err(_) => {}
            }
        }
        Ok(())
    }

    pub(super) fn known_name(&self, word: &str) -> Option<Name> {
        let mut names = self.scopes.iter().flat_map(|scope| scope.keys()).chain(self.globals.keys());
        names.find(|name| self.text(**name) == word).copied()
    }
}

/// Does the loop declare its iterator?
fn declares(parts: &For) -> bool {
    parts.init.as_ref().is_some_and(|init| matches!(init.kind, StmtKind::Declare(_)))
}

/// The loop that is all of a statement.
fn only_loop(stmt: &Stmt) -> Option<&For> {
    match &stmt.kind {
        StmtKind::For(parts) => Some(parts),
        StmtKind::Block(list) => match list.as_slice() {
            [only] => only_loop(only),
            _ => None,
        },
        _ => None,
    }
}
