//! How far below its entry value the stack pointer is in the body of a function.
//!
//! LLVM describes the locals of optimised code by their distance from `rsp`, and means `rsp` as the prologue leaves it. The
//! code shows how far down that is: forward analysis of `rsp` as a constant distance from its value at entry. All calls,
//! and all instructions that use an address in the frame without moving `rsp`, must agree; where some do not (arguments
//! are pushed, the frame is aligned, its size varies) nothing is known.
//!
//! Trust: full. A wrong depth gives local objects a wrong place, and their extents are believed.

use program::{Next, Op, Point, PointId, Register};
use rustc_hash::FxHashMap;
use term::{Arena, Linear, TermId, VarId};

/// Distance of `rsp` in the body of a function from its value at entry, if all of the body agrees.
pub(crate) fn frame_depth(points: &[Point], arena: &Arena) -> Option<i64> {
    let mut depths: Vec<Option<i64>> = vec![None; points.len()];
    *depths.first_mut()? = Some(0);
    let mut waiting = vec![PointId(0)];
    let mut used = None;
    let mut agree = |depth: i64| *used.get_or_insert(depth) == depth;
    while let Some(id) = waiting.pop() {
        let (Some(point), Some(Some(start))) = (points.get(id.index()), depths.get(id.index())) else { continue };
        let mut here = Here { arena, depth: *start, temporaries: FxHashMap::default() };
        for (at, (place, op)) in point.ops.iter().enumerate() {
            let moves = |op: &Op| matches!(op, Op::Set { var, .. } if Register::of_var(*var) == Some(Register::RSP));
            // `push` and `pop` say nothing about where the body's `rsp` is.
            let before = point.ops[..at].iter().rev().take_while(|(other, _)| other == place);
            let mut instruction = point.ops[at..].iter().take_while(|(other, _)| other == place).chain(before);
            let is_move = instruction.any(|(_, op)| moves(op));
            let term = match op {
                Op::Set { value, .. } => *value,
                Op::Load { address, .. } | Op::Store { address, .. } => *address,
                Op::Unknown { var } if Register::of_var(*var) == Some(Register::RSP) => return None,
                Op::Unknown { .. } | Op::Fault { .. } => continue,
            };
            let offset = here.offset(term);
            if !is_move && offset.is_some_and(|o| o < 0) && !agree(here.depth) {
                return None;
            }
            if let Op::Set { var, .. } | Op::Load { var, .. } = op {
                let value = offset.filter(|_| matches!(op, Op::Set { .. }));
                match (Register::of_var(*var), value) {
                    (Some(Register::RSP), value) => here.depth = value.filter(|_| here.is_constant(term))?,
                    (None, Some(value)) if here.is_constant(term) => {
                        here.temporaries.insert(*var, value);
                    }
                    _ => {
                        here.temporaries.remove(var);
                    }
                }
            }
        }
        let targets: Vec<PointId> = match &point.next {
            Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
            Next::Call(call) => {
                // At depth 0 it is a jump to another function.
                if here.depth != 0 && !agree(here.depth) {
                    return None;
                }
                call.returns.into_iter().collect()
            }
            Next::Return | Next::Fault(_) => Vec::new(),
        };
        for target in targets {
            match depths.get_mut(target.index())? {
                Some(known) if *known == here.depth => {}
                Some(_) => return None,
                unknown => {
                    *unknown = Some(here.depth);
                    waiting.push(target);
                }
            }
        }
    }
    used
}

struct Here<'a> {
    arena: &'a Arena,
    depth: i64,
    /// Temporaries that are a constant distance from `rsp` at entry.
    temporaries: FxHashMap<VarId, i64>,
}

impl Here<'_> {
    fn base(&self, term: TermId) -> Option<i64> {
        let var = self.arena.as_var(term)?;
        match Register::of_var(var) {
            Some(register) => (register == Register::RSP).then_some(self.depth),
            None => self.temporaries.get(&var).copied(),
        }
    }

    /// The constant part of an address in the frame, from `rsp` at entry.
    fn offset(&self, term: TermId) -> Option<i64> {
        if self.arena.sort(term).width() != Some(64) {
            return None;
        }
        let sum = Linear::of(self.arena, term);
        let (base, _) = sum.terms.iter().find(|(t, c)| c.to_u64() == Some(1) && self.base(*t).is_some())?;
        Some(self.base(*base)?.wrapping_add(sum.constant.low() as i64))
    }

    fn is_constant(&self, term: TermId) -> bool {
        Linear::of(self.arena, term).terms.len() == 1
    }
}
