//! Structures that unoptimised code copies piece by piece.
//!
//! `*p = *q` becomes loads and stores of neighbouring pieces, from registers that hold the two addresses throughout. Two
//! statements look different: each loads its pointers again. C says of such an assignment what it says of `memcpy`: the
//! two objects are the same or do not overlap (C11 6.5.16.1), so this is `copies-apart`, too.
//!
//! Trust: full.

use crate::{Function, Op};
use rustc_hash::FxHashMap;
use term::{Arena, Linear, Op as TermOp, TermId, VarId};

/// A structure that is copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockCopy {
    /// The instruction that loads the first piece.
    pub load: u64,
    /// The instruction that stores it.
    pub store: u64,
    /// Size of all pieces.
    pub bytes: u64,
}

/// An address: what it is made of, each with the number of its writers so far, and the constant distance.
#[derive(Clone, PartialEq, Eq)]
struct Place {
    base: Vec<(TermId, u64, Vec<u32>)>,
    offset: i64,
}

impl Place {
    fn behind(&self, bytes: u16) -> Place {
        Place { base: self.base.clone(), offset: self.offset.wrapping_add(i64::from(bytes)) }
    }
}

/// A loaded piece.
#[derive(Clone)]
struct Piece {
    from: Place,
    bytes: u16,
    load: u64,
}

/// A copy under way, and where its next piece would come from and go to.
struct Open {
    copy: BlockCopy,
    pieces: u32,
    from: Place,
    to: Place,
}

/// The structures that a function copies.
pub fn block_copies(arena: &Arena, function: &Function) -> Vec<BlockCopy> {
    let mut out = Vec::new();
    if !function.is_unoptimised() {
        return out;
    }
    for point in &function.points {
        let mut writers: FxHashMap<VarId, u32> = FxHashMap::default();
        let mut held: FxHashMap<VarId, Piece> = FxHashMap::default();
        let mut open: Option<Open> = None;
        for (at, op) in &point.ops {
            let piece = match op {
                Op::Load { address, bytes, .. } => {
                    Some(Piece { from: place(arena, &writers, *address), bytes: *bytes, load: *at })
                }
                Op::Set { value, .. } => whole(arena, *value).and_then(|var| held.get(&var).cloned()),
                Op::Store { address, value } => {
                    let bytes = arena.width(*value) / 8;
                    let piece = whole(arena, *value).and_then(|var| held.get(&var)).filter(|p| p.bytes == bytes);
                    let to = place(arena, &writers, *address);
                    open = match (open, piece) {
                        (Some(mut open), Some(piece)) if open.from == piece.from && open.to == to => {
                            open.copy.bytes += u64::from(bytes);
                            open.pieces += 1;
                            (open.from, open.to) = (piece.from.behind(bytes), to.behind(bytes));
                            Some(open)
                        }
                        (before, piece) => {
                            out.extend(before.filter(|open| open.pieces > 1).map(|open| open.copy));
                            piece.map(|piece| Open {
                                copy: BlockCopy { load: piece.load, store: *at, bytes: u64::from(bytes) },
                                pieces: 1,
                                from: piece.from.behind(bytes),
                                to: to.behind(bytes),
                            })
                        }
                    };
                    None
                }
                Op::Unknown { .. } | Op::Fault { .. } => None,
            };
            if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op {
                *writers.entry(*var).or_default() += 1;
                match piece {
                    Some(piece) => held.insert(*var, piece),
                    None => held.remove(var),
                };
            }
        }
        out.extend(open.filter(|open| open.pieces > 1).map(|open| open.copy));
    }
    out
}

fn place(arena: &Arena, writers: &FxHashMap<VarId, u32>, address: TermId) -> Place {
    let linear = Linear::of(arena, address);
    let written = |term: TermId| {
        arena.free_vars(term).into_iter().map(|var| writers.get(&var).copied().unwrap_or(0)).collect::<Vec<u32>>()
    };
    let base = linear.terms.iter().map(|(term, factor)| (*term, factor.low(), written(*term))).collect();
    Place { base, offset: linear.constant.low() as i64 }
}

/// The variable that a value is the whole of, its low part, or its extension with zeros.
fn whole(arena: &Arena, value: TermId) -> Option<VarId> {
    match arena.op(value) {
        TermOp::Var(var) => Some(var),
        TermOp::Extract { lo: 0, .. } | TermOp::Zext(_) => arena.as_var(arena.arg(value, 0)),
        _ => None,
    }
}
