//! What the branches that lead to a cut point say about the state there.
//!
//! A loop that is tested at its end is entered, and entered again, under a condition: the digit that was read is one, the
//! pointer is not null. Runs need not show where the limit lies, the code does. A condition is followed back from its
//! branch: flags and temporaries are replaced by what they were made of, the original's registers too (its variables are in
//! the frame), until only places are left whose value is still the same at the cut point.

use super::fields::{keeps_registers, rbp_offset};
use kernel::{Location, Spot};
use program::loops::{Loops, successors};
use program::{Function, Next, Op, PointId, Register, Side};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Sort, TermId, VarId};

/// Branches that are looked at before a cut point, one behind the other.
const FARTHEST: usize = 4;
/// Larger conditions are no guesses.
const LARGEST: usize = 40;

/// Conditions, as certificates write them, under which some way leads to a point.
pub(crate) fn guards(arena: &mut Arena, function: &Function, loops: &Loops, cut: PointId, side: Side) -> Vec<String> {
    let body: Vec<PointId> = loops.heads.iter().flat_map(|head| loops.body(*head)).collect();
    let before = |point: PointId| -> Vec<PointId> {
        let all = (0..function.points.len() as u32).map(PointId);
        all.filter(|p| successors(function, *p).contains(&point)).collect()
    };
    let mut out = Vec::new();
    if !body.contains(&cut) {
        return out;
    }
    for last in before(cut) {
        let mut later = Later { in_registers: keeps_registers(function), ..Later::default() };
        let (mut point, mut next) = (last, cut);
        for _ in 0..FARTHEST {
            let Next::Edges(edges) = &function.point(point).next else { break };
            for edge in edges.iter().filter(|e| e.target == next) {
                let known = resolve(arena, side, edge.guard, &function.point(point).ops, &later);
                let Some((term, markers)) = known else { continue };
                let parts = if arena.op(term) == term::Op::And { arena.args(term).to_vec() } else { vec![term] };
                for part in parts.into_iter().filter_map(|part| text(arena, &markers, side, part)) {
                    if !out.contains(&part) {
                        out.push(part);
                    }
                }
            }
            later.pass(arena, &function.point(point).ops);
            match before(point)[..] {
                [one] if point != cut => (point, next) = (one, point),
                _ => break,
            }
        }
    }
    out
}

/// What happens between a branch and the cut point.
#[derive(Clone, Default)]
struct Later {
    /// Is `rbp` a register like others?
    in_registers: bool,
    set: FxHashSet<VarId>,
    /// Offsets and sizes of slots that are written.
    stored: Vec<(i64, u16)>,
    /// Is something else written?
    writes: bool,
    /// Variables that stand for places at the cut point.
    markers: FxHashMap<VarId, Spot>,
}

impl Later {
    fn pass(&mut self, arena: &Arena, ops: &[(u64, Op)]) {
        for (_, op) in ops {
            match op {
                Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => {
                    self.set.insert(*var);
                }
                Op::Store { address, value } => self.store(arena, *address, *value),
                Op::Fault { .. } => {}
            }
        }
    }

    fn store(&mut self, arena: &Arena, address: TermId, value: TermId) {
        match self.slot(arena, address) {
            Some(at) => self.stored.push((at, arena.width(value) / 8)),
            None => self.writes = true,
        }
    }

    fn slot(&self, arena: &Arena, address: TermId) -> Option<i64> {
        if self.in_registers { None } else { rbp_offset(arena, address) }
    }

    fn keeps(&self, offset: i64, bytes: u16) -> bool {
        self.stored.iter().all(|(at, n)| *at + i64::from(*n) <= offset || offset + i64::from(bytes) <= *at)
    }
}

/// A variable for what a place holds at the cut point.
fn marker(arena: &mut Arena, markers: &mut FxHashMap<VarId, Spot>, spot: Spot) -> Option<TermId> {
    let name = match spot {
        Spot::Register(register) => format!("guard.{}", register.name()),
        Spot::Slot { offset, bytes } => format!("guard.{offset}.{bytes}"),
    };
    let term = arena.var(&name, Sort::Bv(spot.width()?));
    markers.insert(arena.as_var(term)?, spot);
    Some(term)
}

/// A condition at the end of some operations, over places that are still the same later.
fn resolve(
    arena: &mut Arena,
    side: Side,
    guard: TermId,
    ops: &[(u64, Op)],
    later: &Later,
) -> Option<(TermId, FxHashMap<VarId, Spot>)> {
    let mut term = guard;
    let mut later = later.clone();
    for (_, op) in ops.iter().rev() {
        let (var, value) = match op {
            Op::Store { address, value } => {
                later.store(arena, *address, *value);
                continue;
            }
            Op::Fault { .. } => continue,
            Op::Set { var, .. } | Op::Unknown { var } | Op::Load { var, .. }
                if !arena.free_vars(term).contains(var) =>
            {
                later.set.insert(*var);
                continue;
            }
            Op::Unknown { .. } => return None,
            Op::Load { var, address, bytes } => match later.slot(arena, *address).filter(|_| side == Side::Original) {
                Some(offset) if later.keeps(offset, *bytes) => {
                    (*var, marker(arena, &mut later.markers, Spot::Slot { offset, bytes: *bytes })?)
                }
                None if !later.writes && (later.stored.is_empty() || side == Side::Original) => {
                    let world = arena.var("guard.world", Sort::Memory);
                    (*var, arena.load(world, *address, *bytes))
                }
                _ => return None,
            },
            Op::Set { var, value } => {
                let register = Register::of_var(*var).filter(|r| matches!(r, Register::General(_)));
                let stays = register.filter(|_| side == Side::Candidate && !later.set.contains(var));
                match stays {
                    Some(register) => (*var, marker(arena, &mut later.markers, Spot::Register(register))?),
                    None => (*var, *value),
                }
            }
        };
        later.set.insert(var);
        term = arena.substitute(term, &mut |v| (v == var).then_some(value), &mut FxHashMap::default());
        if arena.topological(&[term]).len() > LARGEST {
            return None;
        }
    }
    // What is left was there before.
    for var in arena.free_vars(term) {
        if later.markers.contains_key(&var) || arena.var_sort(var) == Sort::Memory {
            continue;
        }
        let register = Register::of_var(var).filter(|r| matches!(r, Register::General(_)))?;
        if later.set.contains(&var) || register == Register::RSP {
            return None;
        }
        let value = marker(arena, &mut later.markers, Spot::Register(register))?;
        term = arena.substitute(term, &mut |v| (v == var).then_some(value), &mut FxHashMap::default());
    }
    Some((term, later.markers))
}

/// A condition as certificates write it.
fn text(arena: &Arena, markers: &FxHashMap<VarId, Spot>, side: Side, term: TermId) -> Option<String> {
    use term::Op;
    if let Some(constant) = arena.as_const(term) {
        return Some(format!("#{}:{}", constant.width(), constant.to_i64()?));
    }
    if let Some(var) = arena.as_var(term) {
        return Some(Location::whole(side, *markers.get(&var)?)?.to_string());
    }
    if let Op::Load(bytes) = arena.op(term) {
        let address = text(arena, markers, side, arena.arg(term, 1))?;
        let read = if side == Side::Original { "load" } else { "peek" };
        return Some(format!("({read} {bytes} {address})"));
    }
    let operands: Option<Vec<String>> = arena.args(term).iter().map(|t| text(arena, markers, side, *t)).collect();
    let operands = operands?.join(" ");
    Some(match arena.op(term) {
        Op::Eq if arena.sort(arena.arg(term, 0)).width().is_some() => format!("(= {operands})"),
        Op::Ult => format!("(<u {operands})"),
        Op::Slt => format!("(<s {operands})"),
        Op::Not => format!("(not {operands})"),
        Op::Or => format!("(or {operands})"),
        Op::Add => format!("(add {operands})"),
        Op::Mul => format!("(mul {operands})"),
        Op::BvAnd => format!("(and {operands})"),
        Op::BvOr => format!("(bitor {operands})"),
        Op::BvXor => format!("(bitxor {operands})"),
        Op::Lshr => format!("(lshr {operands})"),
        Op::Concat => format!("(concat {operands})"),
        Op::Ite => format!("(ite {operands})"),
        Op::Zext(width) => format!("(zext {width} {operands})"),
        Op::Sext(width) => format!("(sext {width} {operands})"),
        Op::Extract { hi, lo } => format!("(slice {lo} {} {operands})", hi - lo + 1),
        _ => return None,
    })
}
