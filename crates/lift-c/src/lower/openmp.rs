//! OpenMP directives on loops: which turns are claimed to be independent, and of which variables each has its own.

use super::Lowerer;
use super::values::Lv;
use crate::error::Error;
use crate::lexer::Name;
use updates::{Base, Parallel};

impl<'a> Lowerer<'a> {
    /// What the pragma before a loop says about its turns.
    pub(super) fn directive(&mut self, pragma: Option<Name>) -> Result<Option<Parallel>, Error> {
        let Some(pragma) = pragma else { return Ok(None) };
        let text = self.text(pragma);
        let Some(rest) = text.strip_prefix("omp ") else { return Ok(None) };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let head: Vec<&str> =
            words.iter().copied().take_while(|w| w.chars().all(|c| c.is_ascii_alphabetic())).collect();
        let simd = head.contains(&"simd") && !head.contains(&"for");
        if !head.contains(&"for") && !simd {
            return Ok(None);
        }
        let mut parallel = Parallel { simd, ..Parallel::default() };
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
            self.clause(clause, inside, &mut parallel)?;
        }
        Ok(Some(parallel))
    }

    /// Refuses directives that change who runs what, other than loops.
    pub(super) fn accept_directive(&self, pragma: Name) -> Result<(), Error> {
        let text = self.text(pragma);
        let Some(rest) = text.strip_prefix("omp ") else { return Ok(()) };
        let head: Vec<&str> = rest.split_whitespace().take_while(|w| w.chars().all(char::is_alphabetic)).collect();
        let known = ["for", "simd", "barrier", "flush", "atomic", "critical", "declare", "threadprivate"];
        if head.iter().any(|word| known.contains(word)) {
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

    fn clause(&mut self, clause: &str, inside: &[&str], parallel: &mut Parallel) -> Result<(), Error> {
        let (copies, reduction) = match clause {
            "private" | "firstprivate" | "lastprivate" | "linear" => (true, false),
            "reduction" => (false, true),
            _ => return Ok(()),
        };
        for word in inside.iter().filter(|w| w.chars().all(|c| c.is_alphanumeric() || c == '_')) {
            let Some(name) = self.known_name(word) else { continue };
            match self.named(name) {
                Ok(Lv::Slot(slot, _, _) | Lv::Pointer(slot, _)) => parallel.private_slots.push(slot),
                Ok(Lv::Memory(access, _)) => {
                    let Base::Object(object) = access.base else { continue };
                    if reduction {
                        parallel.reductions.push(object);
                    } else if copies && clause == "private" {
                        parallel.private_objects.push(object);
                    } else if clause == "firstprivate" {
                        parallel.copied_objects.push(object);
                    } else {
                        parallel.last_objects.push(object);
                    }
                }
                // Words such as the `+` of a reduction name no variable.
                Err(_) => {}
            }
        }
        Ok(())
    }

    fn known_name(&self, word: &str) -> Option<Name> {
        let mut names = self.scopes.iter().flat_map(|scope| scope.keys()).chain(self.globals.keys());
        names.find(|name| self.text(**name) == word).copied()
    }
}
