//! Gaps between the members of structures.
//!
//! A store of the original that covers a gap leaves anything there. The bytes are unknowns, each with the address it was
//! stored at; who compares memories may take them to be what the candidate holds there.
//!
//! Trust: full.

use crate::Context;
use term::{Sort, TermId, VarId};

impl Context<'_> {
    /// A value of the original with the bytes of a mask, lowest first, that lie between members of a structure unknown:
    /// storing it leaves anything there.
    pub fn without_padding(&mut self, address: TermId, value: TermId, mask: u64) -> TermId {
        let bytes = self.arena.width(value) / 8;
        let mut out: Option<TermId> = None;
        let mut at = 0;
        while at < bytes.min(64) {
            let kind = mask >> at & 1;
            let end = (at..bytes.min(64)).find(|i| mask >> i & 1 != kind).unwrap_or(bytes);
            let part = if kind == 1 {
                let unknown = self.fresh("padding", Sort::Bv(8 * (end - at)));
                let there = self.arena.add_const(address, i64::from(at));
                self.paddings.extend(self.arena.as_var(unknown).map(|var| (var, there)));
                unknown
            } else {
                self.arena.extract(value, 8 * end - 1, 8 * at)
            };
            out = Some(out.map_or(part, |low| self.arena.concat(part, low)));
            at = end;
        }
        out.filter(|term| self.arena.width(*term) == 8 * bytes).unwrap_or(value)
    }

    /// What of a memory the original leaves open between members, and where it was stored.
    pub fn paddings_in(&self, memory: TermId) -> Vec<(VarId, TermId)> {
        if self.paddings.is_empty() {
            return Vec::new();
        }
        let vars = self.arena.free_vars(memory).into_iter();
        vars.filter_map(|var| self.paddings.get(&var).map(|address| (var, *address))).collect()
    }
}
