//! Registers that hold different things depending on how control came to a point.
//!
//! What a vectorised loop leaves over begins at zero where that loop was not entered, and behind its last turn where it was.
//! The kernel knows such a register as a choice between the two, and everything that is computed from it has the choice
//! inside. Where the register is forgotten at the head of the loop for the rest, and defined by what both ways have in
//! common, the choice is gone.
//!
//! A forward analysis: at entry each register is itself, every assignment gives it a name of its own, and where two
//! names meet, or something is computed from what has no name, there is none.

use program::loops::Loops;
use program::{Function, Next, Op, Register};
use rustc_hash::FxHashMap;
use term::{Arena, TermId, VarId};

const REGISTERS: usize = 16;

/// Where the value of a register comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// No way has been followed yet.
    Nowhere,
    /// This assignment, or the entry.
    One(u32),
    /// It depends on the way.
    Merged,
}

type Origins = [Origin; REGISTERS];

/// For each point the general registers, one bit each, that hold different things depending on the way there.
pub(crate) fn merged(arena: &Arena, function: &Function) -> Vec<u64> {
    let ranks = Loops::of(function).ranks;
    let mut order: Vec<usize> = (0..function.points.len()).collect();
    order.sort_by_key(|i| ranks[*i]);
    let mut at: Vec<Origins> = vec![[Origin::Nowhere; REGISTERS]; function.points.len()];
    at[Function::ENTRY.index()] = std::array::from_fn(|i| Origin::One(i as u32));
    let mut reads = FxHashMap::default();
    let mut changed = true;
    while changed {
        changed = false;
        for index in &order {
            let mut here = at[*index];
            if here[0] == Origin::Nowhere {
                continue;
            }
            after(arena, function, *index, &mut here, &mut reads);
            for target in program::loops::successors(function, program::PointId(*index as u32)) {
                for (known, new) in at[target.index()].iter_mut().zip(here) {
                    let joined = match (*known, new) {
                        (Origin::Nowhere, new) => new,
                        (known, new) if known == new => known,
                        _ => Origin::Merged,
                    };
                    changed |= joined != *known;
                    *known = joined;
                }
            }
        }
    }
    let bits = |origins: &Origins| {
        (0..REGISTERS)
            .filter(|i| origins[*i] == Origin::Merged)
            .fold(0, |bits, i| bits | 1 << Register::General(i as u8).index())
    };
    at.iter().map(bits).collect()
}

/// The origins behind the operations of a point.
fn after(
    arena: &Arena,
    function: &Function,
    index: usize,
    here: &mut Origins,
    reads: &mut FxHashMap<TermId, Vec<VarId>>,
) {
    let point = function.point(program::PointId(index as u32));
    // Names of assignments: the point and the position in it.
    let name = |position: usize| Origin::One((index as u32 + 1) << 12 | position.min(4095) as u32);
    let mut temporaries: FxHashMap<VarId, bool> = FxHashMap::default();
    for (position, (_, op)) in point.ops.iter().enumerate() {
        let (var, from) = match op {
            Op::Set { var, value } => (*var, Some(*value)),
            Op::Load { var, address, .. } => (*var, Some(*address)),
            Op::Unknown { var } => (*var, None),
            Op::Store { .. } | Op::Fault { .. } => continue,
        };
        let is_merged = |v: &VarId| match Register::of_var(*v) {
            Some(Register::General(i)) => here[usize::from(i)] == Origin::Merged,
            Some(_) => false,
            None => temporaries.get(v).copied().unwrap_or(false),
        };
        let vars = from.map(|term| reads.entry(term).or_insert_with(|| arena.free_vars(term)).iter().any(is_merged));
        let doubtful = vars.unwrap_or(false);
        match Register::of_var(var) {
            Some(Register::General(i)) => here[usize::from(i)] = if doubtful { Origin::Merged } else { name(position) },
            Some(_) => {}
            None => {
                temporaries.insert(var, doubtful);
            }
        }
    }
    if let Next::Call(_) = point.next {
        for (i, origin) in here.iter_mut().enumerate() {
            if !Register::CALLEE_SAVED.contains(&Register::General(i as u8)) && i != 4 {
                *origin = name(4095);
            }
        }
    }
}
