//! Stack slots that a function reads behind its calls.
//!
//! What a caller reads behind a call without writing it is its own: the words of stack arguments belong to the callee.
//! Distances of `rsp` and `rbp` from the entry stack pointer are followed forwards, reads of bytes at constant places backwards.
//! An address that cannot be followed reads nothing here: then more is taken for an argument.
//!
//! Trust: full.

use program::{Function, Next, Op, PointId, Register};
use std::collections::BTreeSet;
use term::{Arena, Linear, TermId};

/// Distances of `rsp` and `rbp` from the entry stack pointer.
pub(super) type Depths = [Option<i64>; 2];

/// Most bytes of a function's frame that are followed.
const MOST_BYTES: usize = 4096;

/// Bytes of the frame that are read behind each call.
pub(crate) struct Slots {
    behind: Vec<BTreeSet<i64>>,
    /// Read anywhere.
    read: BTreeSet<i64>,
    /// Written anywhere.
    written: BTreeSet<i64>,
    /// Where `rsp` is behind each point's operations, if that is known.
    depths: Vec<Option<i64>>,
}

impl Slots {
    /// Is the byte at this offset from the entry stack pointer read behind the call at a point?
    pub fn is_read_behind(&self, call: PointId, offset: i64) -> bool {
        self.behind.get(call.index()).is_some_and(|read| read.contains(&offset))
    }

    /// Does the function read or write the byte at this offset anywhere?
    pub fn is_mentioned(&self, offset: i64) -> bool {
        self.read.contains(&offset) || self.written.contains(&offset)
    }

    /// Is a byte read behind the call at a point that lies below the stack pointer there? The callee may have overwritten it.
    pub fn is_read_below(&self, call: PointId) -> bool {
        let (behind, depth) = (self.behind.get(call.index()), self.depths.get(call.index()).copied().flatten());
        behind.zip(depth).is_some_and(|(read, depth)| read.first().is_some_and(|first| *first < depth))
    }

    /// Looks at a function.
    pub fn of(arena: &Arena, function: &Function) -> Slots {
        let depths = depths(arena, function);
        let count = function.points.len();
        let mut before: Vec<BTreeSet<i64>> = vec![BTreeSet::new(); count];
        let (mut anywhere, mut written) = (BTreeSet::new(), BTreeSet::new());
        let behind = |i: usize| {
            let mut at = depths[i]?;
            function.points[i].ops.iter().for_each(|(_, op)| step(arena, &mut at, op));
            at[0]
        };
        let behind: Vec<Option<i64>> = (0..count).map(behind).collect();
        let mut changed = true;
        while changed {
            changed = false;
            for i in (0..count).rev() {
                let point = &function.points[i];
                let mut read = reads_behind(function, i, &before);
                let Some(mut at) = depths[i] else { continue };
                // Forwards first: addresses are those of their own operation.
                let places: Vec<Option<i64>> = point
                    .ops
                    .iter()
                    .map(|(_, op)| {
                        let place = match op {
                            Op::Load { address, .. } | Op::Store { address, .. } => offset(arena, at, *address),
                            _ => None,
                        };
                        step(arena, &mut at, op);
                        place
                    })
                    .collect();
                for ((instruction, op), place) in point.ops.iter().zip(places).rev() {
                    let Some(place) = place else { continue };
                    // `pop` may only give words back.
                    let moves = |(at, op): &(u64, Op)| at == instruction && sets_rsp(op);
                    if matches!(op, Op::Load { .. }) && point.ops.iter().any(moves) {
                        continue;
                    }
                    match op {
                        Op::Store { value, .. } => {
                            let bytes = i64::from(arena.width(*value) / 8);
                            written.extend(place..place.saturating_add(bytes));
                            (place..place.saturating_add(bytes)).for_each(|b| {
                                read.remove(&b);
                            });
                        }
                        Op::Load { bytes, .. } => {
                            let bytes = place..place.saturating_add(i64::from(*bytes));
                            anywhere.extend(bytes.clone());
                            read.extend(bytes);
                        }
                        _ => {}
                    }
                }
                if read.len() <= MOST_BYTES && read != before[i] {
                    before[i] = read;
                    changed = true;
                }
            }
        }
        let reads = (0..count).map(|i| reads_behind(function, i, &before)).collect();
        Slots { behind: reads, read: anywhere, written, depths: behind }
    }
}

fn reads_behind(function: &Function, i: usize, before: &[BTreeSet<i64>]) -> BTreeSet<i64> {
    let at = |target: &PointId| before.get(target.index()).cloned().unwrap_or_default();
    match &function.points[i].next {
        Next::Edges(edges) => edges.iter().flat_map(|edge| at(&edge.target)).collect(),
        Next::Call(call) => call.returns.iter().flat_map(at).collect(),
        Next::Return | Next::Fault(_) => BTreeSet::new(),
    }
}

fn sets_rsp(op: &Op) -> bool {
    matches!(op, Op::Set { var, .. } if Register::of_var(*var) == Some(Register::RSP))
}

pub(super) fn depths(arena: &Arena, function: &Function) -> Vec<Option<Depths>> {
    let mut out: Vec<Option<Depths>> = vec![None; function.points.len()];
    if let Some(first) = out.first_mut() {
        *first = Some([Some(0), None]);
    }
    let mut open = BTreeSet::from([Function::ENTRY]);
    while let Some(id) = open.pop_first() {
        let Some(mut at) = out.get(id.index()).copied().flatten() else { continue };
        let point = function.point(id);
        point.ops.iter().for_each(|(_, op)| step(arena, &mut at, op));
        let targets: Vec<PointId> = match &point.next {
            Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
            Next::Call(call) => call.returns.into_iter().collect(),
            Next::Return | Next::Fault(_) => continue,
        };
        for target in targets {
            let Some(there) = out.get_mut(target.index()) else { continue };
            let joined = match there {
                None => at,
                Some(there) => std::array::from_fn(|i| there[i].filter(|d| Some(*d) == at[i])),
            };
            if *there != Some(joined) {
                *there = Some(joined);
                open.insert(target);
            }
        }
    }
    out
}

pub(super) fn step(arena: &Arena, at: &mut Depths, op: &Op) {
    let (var, value) = match op {
        Op::Set { var, value } => (*var, Some(*value)),
        Op::Load { var, .. } | Op::Unknown { var } => (*var, None),
        Op::Store { .. } | Op::Fault { .. } => return,
    };
    let known = value.and_then(|value| offset(arena, *at, value));
    match Register::of_var(var) {
        Some(Register::RSP) => at[0] = known,
        Some(Register::RBP) => at[1] = known,
        _ => {}
    }
}

/// Distance of an address from the entry stack pointer.
pub(super) fn offset(arena: &Arena, at: Depths, address: TermId) -> Option<i64> {
    if arena.sort(address).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, address);
    let [(base, one)] = linear.terms[..] else { return None };
    let register = arena.as_var(base).and_then(Register::of_var).filter(|_| one.to_u64() == Some(1))?;
    let depth = match register {
        Register::RSP => at[0],
        Register::RBP => at[1],
        _ => None,
    };
    depth?.checked_add(linear.constant.low() as i64)
}
