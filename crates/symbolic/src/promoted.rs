//! Promoted arguments at the entry of a function and at its calls: what [`program::Loaded`] means.
//!
//! LLVM gives a local function that takes a pointer and only loads through it the loaded values instead, again and again:
//! `f(fs)` becomes `f(fs->ls)`, then `f(fs->ls->token)`. What the candidate takes in a register is then a chain of loads
//! from one of the original's arguments, made at the call. The function is compared with the register *defined* as the
//! chain, and every call must pass that chain's value.
//!
//! Trust: full.

use crate::{Context, Shape, State, Stuck};
use program::{Loaded, Place, Register, Side};
use term::{Sort, TermId};

impl Context<'_> {
    /// What the candidate is given in a register instead of a pointer: memory is still that of the call.
    pub(crate) fn promoted_at_entry(&mut self, side: Side, register: Register) -> Option<TermId> {
        let loaded = self.own_contract().filter(|_| side == Side::Candidate)?.promoted.get(&register)?;
        let signature = self.functions[0].signature.as_ref()?;
        let pointer = signature.arguments.iter().find(|a| a.place == Place::Register(loaded.argument)).copied()?;
        let base = self.given_argument(&pointer, loaded.argument);
        let world = self.arena.var("world", Sort::Memory);
        let (address, bytes) = self.chain_end(world, base, loaded)?;
        let value = self.read(world, address, bytes);
        Some(self.widen(side, register, value))
    }

    /// The address of the last load of a chain that begins at `base`, and how many bytes it loads.
    pub fn chain_end(&mut self, world: TermId, base: TermId, loaded: &Loaded) -> Option<(TermId, u16)> {
        let (last, before) = loaded.offsets.split_last()?;
        let mut base = base;
        for offset in before {
            let address = self.arena.add_const(base, *offset);
            let address = self.canonical_address(address);
            base = self.read(world, address, 8);
        }
        let address = self.arena.add_const(base, *last);
        Some((self.canonical_address(address), loaded.bytes))
    }

    /// What a call passes in place of pointers: the original's loads in its memory at the call, and the candidate's
    /// registers. The pointers leave the function on the original's side as if they were passed.
    pub fn promoted_arguments(
        &mut self,
        side: Side,
        place: u64,
        state: &mut State,
        shape: &Shape,
    ) -> Result<Vec<TermId>, Stuck> {
        let mut out = Vec::with_capacity(shape.promoted.len());
        for (register, loaded) in &shape.promoted {
            let value = match side {
                Side::Original => {
                    let base = self.canonical_value(state.get(loaded.argument));
                    let base = self.outward(side, place, base, true)?;
                    self.publish(state);
                    let Some((address, bytes)) = self.chain_end(state.world, base, loaded) else { continue };
                    self.read(state.world, address, bytes)
                }
                Side::Candidate => {
                    let value = self.arena.truncate(state.get(*register), 8 * loaded.bytes);
                    let value = self.canonical_value(value);
                    self.outward(side, place, value, true)?
                }
            };
            out.push(value);
        }
        Ok(out)
    }

    /// Where a callee of the original begins by reading, in every run. (Of a pointer into the frame nobody needs to
    /// know.)
    pub fn first_reads(&mut self, name: &str, state: &State) -> Vec<(TermId, u16)> {
        let Some(contract) = self.functions[0].contracts.get(name) else { return Vec::new() };
        let mut out = Vec::new();
        for loaded in &contract.reads {
            let base = self.canonical_value(state.get(loaded.argument));
            if !self.depends_on_frame(base) {
                out.extend(self.chain_end(state.world, base, loaded));
            }
        }
        out
    }
}
