//! Local objects that leave the function, and come back: between the memory of their own and the world.
//!
//! Trust: full. An object that others can reach must be in the world, where it is compared.

use super::{Context, Stuck};
use crate::State;
use program::Side;
use term::{Op as TermOp, TermId};

/// Which local objects have left the function, in the order of the bindings.
pub(crate) struct Escapes {
    /// The clock at that time.
    pub at: Vec<Option<u32>>,
    /// Those that have since the last [`Context::publish`].
    recent: Vec<usize>,
}

impl Escapes {
    /// None of so many.
    pub fn of(locals: usize) -> Escapes {
        Escapes { at: vec![None; locals], recent: Vec::new() }
    }
}

impl Context<'_> {
    /// Puts the local objects that have just escaped into the state's world.
    pub fn publish(&mut self, state: &mut State) {
        for local in std::mem::take(&mut self.escapes.recent) {
            self.publish_local(state, local);
        }
    }

    /// Puts every local object that ever escapes into the state's world: at a loop head, where some other turn of the
    /// loop may have let it escape already.
    pub fn publish_all(&mut self, state: &mut State) {
        for local in (0..self.bindings.len()).filter(|l| self.bindings[*l].escapes).collect::<Vec<_>>() {
            if self.escapes.at[local].is_none() {
                let now = self.tick();
                self.escapes.at[local] = Some(now);
            }
            self.publish_local(state, local);
        }
    }

    fn publish_local(&mut self, state: &mut State, local: usize) {
        if state.escaped[local] {
            return;
        }
        state.escaped[local] = true;
        let size = self.bindings[local].original.or(self.bindings[local].candidate).map_or(0, |i| i.size);
        let address = self.local_address(local);
        let length = self.arena.bv(64, size);
        let operands = [state.world, address, state.locals[local], address, length];
        state.world = self.arena.make(TermOp::Copy, &operands);
    }

    /// The world `after` a call with what the callee cannot reach: the local objects that have not escaped in `state`
    /// but will be `published`.
    pub fn kept_private(&mut self, state: &State, published: &[bool], after: TermId) -> TermId {
        let mut kept = state.clone();
        kept.world = after;
        for local in (0..published.len()).filter(|local| published[*local]) {
            self.publish_local(&mut kept, local);
        }
        kept.world
    }

    /// May the term be made of a local object's address?
    pub fn mentions_local(&mut self, term: TermId, local: usize) -> bool {
        self.facts(term).locals & 1 << local.min(63) != 0
    }

    /// Takes a local object back out of the world: nobody else can reach it any more.
    pub fn take_back(&self, state: &mut State, local: usize) {
        if state.escaped[local] {
            state.escaped[local] = false;
            state.locals[local] = state.world;
        }
    }

    /// Lets every local object that has escaped in one of the states be escaped in both.
    pub fn align_escapes(&mut self, a: &mut State, b: &mut State) {
        for local in 0..self.bindings.len() {
            if a.escaped[local] != b.escaped[local] {
                self.publish_local(a, local);
                self.publish_local(b, local);
            }
        }
    }

    /// The state that is `then` where the condition holds and `other` elsewhere.
    pub fn merge(&mut self, condition: TermId, mut then: State, mut other: State) -> State {
        self.align_escapes(&mut then, &mut other);
        State::merge(self.arena, condition, &then, &other)
    }

    /// Notes that every local object whose address occurs in the term has left the function.
    pub(super) fn note_escape(&mut self, term: TermId, side: Side, address: u64) -> Result<(), Stuck> {
        let mask = self.facts(term).locals;
        if mask == 0 {
            return Ok(());
        }
        for local in 0..self.bindings.len() {
            if mask & 1 << local.min(63) == 0 {
                continue;
            }
            if !self.bindings[local].escapes {
                // With 64 or more locals the last bit is shared: ask only about locals that really occur.
                if local < 63 || self.bindings.len() <= 64 {
                    let offset = self.bindings[local].interval(side).map_or(0, |i| i.offset);
                    return Err(Stuck::Unbound { side, address, offset, escapes: true, index: None, span: None });
                }
                continue;
            }
            self.escapes.recent.push(local);
            if self.escapes.at[local].is_none() {
                let now = self.tick();
                self.escapes.at[local] = Some(now);
            }
        }
        Ok(())
    }
}
