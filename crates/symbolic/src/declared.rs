//! Objects of other files: how much of one is certainly there.
//!
//! The linker finds a definition for every name that is not weak, and the source's declaration of it says how large the
//! object is. Code shows a part of that: bytes that the original accesses by the object's name, in whatever run, belong
//! to it in every run (`declared-object`). So the candidate may read them where the original does not.
//!
//! Trust: full.

use crate::Context;
use crate::named::{named_accesses, place};
use program::{Assumption, ObjectKind};
use rustc_hash::FxHashMap;
use term::TermId;

impl Context<'_> {
    /// Are these bytes part of an object that both programs know by name, as the original's own accesses show?
    pub fn is_declared(&mut self, address: TermId, bytes: u16) -> bool {
        if !self.may_assume_defined() {
            return false;
        }
        let [original, _] = self.functions;
        let Some((var, offset)) = place(self.arena, original, &FxHashMap::default(), address) else { return false };
        let Some(object) = original.objects.get(&var).filter(|_| self.is_certain_object(var)) else { return false };
        if !matches!(object.kind, ObjectKind::Named { function: false, .. }) {
            return false;
        }
        let accesses = self.shown.named.get_or_insert_with(|| named_accesses(self.arena, original));
        let Some(accessed) = accesses.get(&var) else { return false };
        let covered = |byte: i64| accessed.iter().any(|(at, n)| byte >= *at && byte - at < i64::from(*n));
        let all = (0..i64::from(bytes)).all(|i| offset.checked_add(i).is_some_and(covered));
        if all {
            let name = object.name.clone();
            self.assume(Assumption::DeclaredObject(name));
        }
        all
    }
}
