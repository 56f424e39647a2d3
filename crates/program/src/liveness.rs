//! Removal of flag updates that nobody reads.
//!
//! Most x86 instructions set six flags and almost all are overwritten unread. Backward liveness over the flag
//! registers (lattice: sets of flags, join: union) finds them; dropping a dead `Set` or `Unknown` changes no
//! observable. Flags are dead at calls and returns (System V), `df` excepted.

use crate::{Flag, Function, Next, Op, Register};
use term::{Arena, TermId, VarId};

type Flags = u64;

fn flag_bit(var: VarId) -> Flags {
    match Register::of_var(var) {
        Some(Register::Flag(_)) => 1 << var.index(),
        _ => 0,
    }
}

struct Reads<'a> {
    arena: &'a Arena,
    memo: rustc_hash::FxHashMap<TermId, Flags>,
}

impl Reads<'_> {
    fn of(&mut self, term: TermId) -> Flags {
        if let Some(flags) = self.memo.get(&term) {
            return *flags;
        }
        let flags = self.arena.free_vars(term).into_iter().fold(0, |flags, var| flags | flag_bit(var));
        self.memo.insert(term, flags);
        flags
    }
}

fn step(op: &Op, live: Flags, reads: &mut Reads) -> Flags {
    match op {
        Op::Set { var, value } => live & !flag_bit(*var) | reads.of(*value),
        Op::Load { var, address, .. } => live & !flag_bit(*var) | reads.of(*address),
        Op::Store { address, value } => live | reads.of(*address) | reads.of(*value),
        Op::Unknown { var } => live & !flag_bit(*var),
        Op::Fault { condition, .. } => live | reads.of(*condition),
    }
}

/// Drops updates of dead flags from every point.
pub fn drop_dead_flags(function: &mut Function, arena: &Arena) {
    let direction = 1 << Register::Flag(Flag::Direction).index();
    let mut reads = Reads { arena, memo: Default::default() };
    let mut live_in: Vec<Flags> = vec![0; function.points.len()];
    let live_out = |next: &Next, live_in: &[Flags], reads: &mut Reads| match next {
        Next::Edges(edges) => {
            edges.iter().fold(0, |live, edge| live | reads.of(edge.guard) | live_in[edge.target.index()])
        }
        Next::Call(_) | Next::Return => direction,
        Next::Fault(_) => 0,
    };
    let mut changed = true;
    while changed {
        changed = false;
        for (i, point) in function.points.iter().enumerate().rev() {
            let out = live_out(&point.next, &live_in, &mut reads);
            let live = point.ops.iter().rev().fold(out, |live, (_, op)| step(op, live, &mut reads));
            changed |= live_in[i] != live;
            live_in[i] = live;
        }
    }
    for i in 0..function.points.len() {
        let mut live = live_out(&function.points[i].next, &live_in, &mut reads);
        let ops = std::mem::take(&mut function.points[i].ops);
        let mut kept = Vec::with_capacity(ops.len());
        for (address, op) in ops.into_iter().rev() {
            let dead = match &op {
                Op::Set { var, .. } | Op::Unknown { var } => flag_bit(*var) != 0 && flag_bit(*var) & live == 0,
                _ => false,
            };
            if !dead {
                live = step(&op, live, &mut reads);
                kept.push((address, op));
            }
        }
        kept.reverse();
        function.points[i].ops = kept;
    }
}
