//! What a `restrict` parameter says: `restrict(p)`.
//!
//! Bytes that the original accesses at an address made of such a parameter, and bytes that it accesses at an address that is
//! made of another parameter or object and not of this one, are different bytes if one of the two accesses writes. That is a
//! fact only where both accesses have happened: on the edge itself, or before it, in blocks that the point where the edge
//! begins claims as accessed.
//!
//! Trust: full. What an address is made of is read from its sum: the parameter itself must be one of its terms. That a number
//! added to another parameter is not computed from this one is part of the assumption.

use crate::objects::pointers::pointer_parameters;
use crate::objects::product::{Checker, Point};
use program::{Assumption, Parameter};
use symbolic::{Known, Run};
use term::{Linear, TermId, VarId};

/// More pairs are not kept apart.
const MOST_PAIRS: usize = 16;
/// More pieces are not looked at.
const MOST_PIECES: usize = 64;

/// Bytes that the original has accessed.
struct Piece {
    /// The parameter or object that the address is made of.
    base: VarId,
    address: TermId,
    length: TermId,
    write: bool,
}

/// Accesses at constant distances from each other.
struct Row {
    base: VarId,
    address: TermId,
    /// Distances from the address, sizes, and whether they are written.
    parts: Vec<(i64, i64, bool)>,
}

impl Row {
    /// Reads and writes side by side.
    fn spans(&mut self) -> Vec<(i64, i64, bool)> {
        let mut out: Vec<(i64, i64, bool)> = Vec::new();
        self.parts.sort_unstable_by_key(|(at, bytes, write)| (*write, *at, *bytes));
        for (at, bytes, write) in self.parts.drain(..) {
            match out.last_mut() {
                Some((start, length, same)) if *same == write && at <= start.saturating_add(*length) => {
                    *length = (*length).max(at.saturating_add(bytes).saturating_sub(*start));
                }
                _ => out.push((at, bytes, write)),
            }
        }
        out
    }
}

impl Checker<'_, '_> {
    /// Adds to the condition what `restrict` parameters say about the accesses of the original up to here.
    pub(crate) fn learn_restrict(&mut self, at: &mut Point, original: &Run) {
        let parameters = pointer_parameters(self.context.arena, self.context.functions[0]);
        if !parameters.iter().any(|(_, p)| p.restrict) || !self.context.may_assume_defined() {
            return;
        }
        let pieces = self.pieces(at, original, &parameters);
        let mut apart = Vec::new();
        for (var, parameter) in parameters.iter().filter(|(_, p)| p.restrict) {
            let (own, others): (Vec<&Piece>, Vec<&Piece>) = pieces.iter().partition(|piece| piece.base == *var);
            for mine in own {
                for other in others.iter().filter(|other| mine.write || other.write) {
                    let made_of = self.context.arena.free_vars(other.address);
                    if made_of.contains(var) || apart.len() >= MOST_PAIRS {
                        continue;
                    }
                    let arena = &mut *self.context.arena;
                    let (ahead, back) =
                        (arena.sub(other.address, mine.address), arena.sub(mine.address, other.address));
                    let (behind, before) = (arena.ule(mine.length, ahead), arena.ule(other.length, back));
                    // A block without bytes lies anywhere.
                    let zero = arena.bv(64, 0);
                    let [first, second] = [mine.length, other.length].map(|length| arena.eq(length, zero));
                    let holds = arena.bool_and(behind, before);
                    let holds = arena.bool_or_all(&[first, second, holds]);
                    if arena.as_bool(holds).is_none() && !apart.contains(&holds) {
                        apart.push(holds);
                        self.context.assume(Assumption::Restrict(parameter.name.clone()));
                    }
                }
            }
        }
        apart.push(at.condition);
        at.condition = self.context.arena.bool_and_all(&apart);
    }

    /// What the original has certainly accessed: on the edge, and in the blocks that it had accessed before.
    fn pieces(&mut self, at: &Point, original: &Run, parameters: &[(VarId, &Parameter)]) -> Vec<Piece> {
        let known = Known::from_condition(self.context.arena, at.condition);
        let mut out = Vec::new();
        for block in at.touched.iter().chain(&original.blocks).take(MOST_PIECES) {
            let guard = known.simplify(self.context.arena, block.guard);
            let [address, length] = [block.address, block.length].map(|term| self.wide(&known, term));
            if let (Some(true), Some(base)) = (self.context.arena.as_bool(guard), self.made_of(address, parameters)) {
                out.push(Piece { base, address, length, write: block.write });
            }
        }
        let mut rows: Vec<Row> = Vec::new();
        for access in original.accesses.iter().take(MOST_PIECES) {
            let guard = known.simplify(self.context.arena, access.guard);
            let address = self.wide(&known, access.address);
            let (Some(true), Some(base)) = (self.context.arena.as_bool(guard), self.made_of(address, parameters))
            else {
                continue;
            };
            let offset = Linear::of(self.context.arena, address).constant.low() as i64;
            let address = self.context.arena.add_const(address, offset.wrapping_neg());
            let part = (offset, i64::from(access.bytes), access.write);
            match rows.iter_mut().find(|row| row.address == address) {
                Some(row) => row.parts.push(part),
                None => rows.push(Row { base, address, parts: vec![part] }),
            }
        }
        for row in &mut rows {
            for (start, length, write) in row.spans() {
                let address = self.context.arena.add_const(row.address, start);
                let length = self.context.arena.bv(64, length as u64);
                let grown = out.iter_mut().find(|piece| {
                    let end = self.context.arena.add(piece.address, piece.length);
                    piece.write == write && end == address
                });
                match grown {
                    Some(piece) => piece.length = self.context.arena.add(piece.length, length),
                    None => out.push(Piece { base: row.base, address, length, write }),
                }
            }
        }
        out
    }

    /// The pointer parameter or the object that an address is made of.
    fn made_of(&self, address: TermId, parameters: &[(VarId, &Parameter)]) -> Option<VarId> {
        let linear = Linear::of(self.context.arena, address);
        let mut found = self.context.base_object(address).map(|(var, _)| var);
        for (term, coefficient) in &linear.terms {
            let Some(var) = self.context.arena.as_var(*term) else { continue };
            if parameters.iter().any(|(parameter, ..)| *parameter == var) {
                if found.is_some() || coefficient.to_u64() != Some(1) {
                    return None;
                }
                found = Some(var);
            }
        }
        found
    }
}
