//! Tail calls of a function to itself as jumps to its entry, which is what compilers make of them.
//!
//! What the function does behind such a call is to give the callee's result on and to take its frame down. Done before
//! the call, that leaves the registers as the callee finds them, and the stack as our own caller has left it: the call is a
//! jump. It is the same to everybody if the function never looks at where its frame lies, at what was in it before, or
//! at the registers that it saves for its caller, and if nobody else knows of the frame at the call; [`Checked`] is the
//! analysis that shows this. Once an address in the frame is known elsewhere, nothing is known of what the frame holds:
//! `uninit-unread` is assumed then.

use crate::{Callee, Edge, Folded, Function, Next, Op, Place, PointId, Register, Value};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use term::{Arena, Linear, TermId, VarId};

/// Largest frame that is looked at, byte by byte.
const LARGEST_FRAME: i64 = 2048;
/// Points that the way from a call to the return may have.
const LONGEST_WAY: usize = 16;

/// Number of places where a function calls itself by its name.
pub fn own_calls(function: &Function) -> usize {
    (0..function.points.len()).filter(|i| calls_itself(function, PointId(*i as u32)).is_some()).count()
}

/// The function with its tail calls to itself made jumps; nothing if it has none, or if it could tell the difference.
pub fn fold_tail_calls(arena: &mut Arena, function: &Function) -> Option<Function> {
    let calls: Vec<(PointId, Option<PointId>)> = (0..function.points.len() as u32)
        .map(PointId)
        .filter_map(|id| Some((id, calls_itself(function, id)?)))
        .collect();
    let signed = function.signature.as_ref().is_none_or(|s| s.unsupported.is_none() && !s.variadic);
    if calls.is_empty() || !signed {
        return None;
    }
    let checked = Checked::new(arena, function)?;
    let mut folded = function.clone();
    for (id, returns) in calls {
        if checked.ends.get(&id).is_none_or(|end| end.escaped) {
            continue;
        }
        let way: Vec<(u64, Op)> = match returns {
            None => Vec::new(),
            Some(behind) => match way_out(function, behind) {
                Some(way) if checked.gives_result_on(arena, function, id, &way) => way,
                _ => continue,
            },
        };
        let mut changed: BTreeSet<Register> = way.iter().filter_map(|(_, op)| Register::of_var(set_var(op)?)).collect();
        changed.retain(|r| *r != Register::RSP && !Register::CALLEE_SAVED.contains(r));
        let place = function.point(id).address;
        let point = &mut folded.points[id.index()];
        let mut restored = Vec::new();
        for register in changed {
            let (kept, now) = (arena.fresh("kept", register.sort()), register.term(arena));
            let (Some(kept_var), Some(var)) = (arena.as_var(kept), arena.as_var(now)) else { return None };
            point.ops.push((place, Op::Set { var: kept_var, value: now }));
            restored.push((place, Op::Set { var, value: kept }));
        }
        point.ops.extend(way);
        point.ops.extend(restored);
        point.next = Next::Edges(vec![Edge { guard: arena.bool(true), target: Function::ENTRY }]);
        let escapes = checked.ends.values().any(|end| end.escaped);
        folded.folded = Some(if escapes { Folded::WithLocals } else { Folded::Plain });
    }
    folded.folded.is_some().then_some(folded)
}

/// If the point ends with a call of the function itself: where it returns to, nowhere for a jump.
fn calls_itself(function: &Function, id: PointId) -> Option<Option<PointId>> {
    match &function.point(id).next {
        Next::Call(call) if call.callee == Callee::Named(function.name.clone()) => {
            (call.tail || call.returns.is_some()).then_some(call.returns)
        }
        _ => None,
    }
}

/// All that is done from a point to the return, if there is one way only.
fn way_out(function: &Function, from: PointId) -> Option<Vec<(u64, Op)>> {
    let (mut at, mut ops) = (from, Vec::new());
    for _ in 0..LONGEST_WAY {
        let point = function.point(at);
        ops.extend(point.ops.iter().cloned());
        match &point.next {
            Next::Return => return Some(ops),
            Next::Edges(edges) => match &edges[..] {
                [edge] => at = edge.target,
                _ => return None,
            },
            Next::Call(_) | Next::Fault(_) => return None,
        }
    }
    None
}

/// The registers that results are in, and how many of their low bits. Without a signature whatever could be one.
fn result_parts(function: &Function) -> Option<Vec<(Register, u16)>> {
    let Some(signature) = &function.signature else {
        let registers = [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)];
        return registers.into_iter().map(|r| Some((r, r.sort().width()?))).collect();
    };
    let part = |value: &Value| match value.place {
        Place::Register(register) => Some((register, 8 * value.bytes)),
        Place::Stack(_) => None,
    };
    signature.results.iter().map(part).collect()
}

fn set_var(op: &Op) -> Option<VarId> {
    match op {
        Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } => Some(*var),
        Op::Store { .. } | Op::Fault { .. } => None,
    }
}

/// What the function may not make anything of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Special {
    /// An address in the frame: the distance from the entry stack pointer.
    Frame(i64),
    /// What this register held at the entry.
    Saved(Register),
}

/// What is known between two operations. A variable that is not listed holds nothing special.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Known {
    vars: BTreeMap<VarId, Special>,
    /// Bytes of the frame that have been written, by their distance: of a saved register, which one and which byte.
    bytes: BTreeMap<i64, Option<(Register, i64)>>,
    /// May an address in the frame be known elsewhere, in memory or to a callee?
    escaped: bool,
}

/// A function that makes nothing of where its frame lies, of what the frame held before, and of the registers that it saves.
struct Checked {
    /// What is known behind each point that can be reached, its call included.
    ends: FxHashMap<PointId, Known>,
}

impl Checked {
    fn new(arena: &mut Arena, function: &Function) -> Option<Checked> {
        let mut start = Known::default();
        for register in Register::CALLEE_SAVED.into_iter().chain([Register::RSP]) {
            let term = register.term(arena);
            let special = if register == Register::RSP { Special::Frame(0) } else { Special::Saved(register) };
            start.vars.insert(arena.as_var(term)?, special);
        }
        let own = start.vars.clone();
        let mut begins = FxHashMap::from_iter([(Function::ENTRY, start)]);
        let mut ends = FxHashMap::default();
        let mut open = VecDeque::from([Function::ENTRY]);
        while let Some(id) = open.pop_front() {
            let mut now = begins[&id].clone();
            let point = function.point(id);
            for (_, op) in &point.ops {
                now.step(arena, op)?;
            }
            // Temporaries end with their point.
            now.vars.retain(|var, _| Register::of_var(*var).is_some());
            ends.insert(id, now.clone());
            let targets: Vec<PointId> = match &point.next {
                Next::Edges(edges) => {
                    for edge in edges {
                        now.has_nothing(arena, edge.guard)?;
                    }
                    edges.iter().map(|e| e.target).collect()
                }
                Next::Call(call) => {
                    if let Callee::Pointer(target) = call.callee {
                        now.has_nothing(arena, target)?;
                    }
                    now.call(&own)?;
                    ends.insert(id, now.clone());
                    if call.tail {
                        (now.vars == own).then_some(())?;
                    }
                    call.returns.into_iter().collect()
                }
                Next::Return => {
                    (now.vars == own).then_some(())?;
                    Vec::new()
                }
                Next::Fault(_) => Vec::new(),
            };
            for target in targets {
                let joined = match begins.get(&target) {
                    None => now.clone(),
                    Some(before) if before.vars == now.vars => {
                        let mut joined = before.clone();
                        joined.bytes.retain(|at, byte| now.bytes.get(at) == Some(byte));
                        joined.escaped |= now.escaped;
                        joined
                    }
                    Some(_) => return None,
                };
                if begins.get(&target) != Some(&joined) {
                    begins.insert(target, joined);
                    open.push_back(target);
                }
            }
        }
        Some(Checked { ends })
    }

    /// Does the way from a call to the return leave what the callee gives as it is, and touch the frame only?
    fn gives_result_on(&self, arena: &mut Arena, function: &Function, call: PointId, way: &[(u64, Op)]) -> bool {
        let Some(values) = self.results_behind(arena, call, way) else { return false };
        let Some(results) = result_parts(function) else { return false };
        results.into_iter().all(|(register, bits)| {
            let before = register.term(arena);
            let after = arena.as_var(before).and_then(|var| values.get(&var).copied()).unwrap_or(before);
            arena.truncate(before, bits) == arena.truncate(after, bits)
        })
    }

    /// What variables hold at the end of the way, in terms of what they hold behind the call.
    fn results_behind(&self, arena: &mut Arena, call: PointId, way: &[(u64, Op)]) -> Option<FxHashMap<VarId, TermId>> {
        let mut now = self.ends.get(&call)?.clone();
        let mut values: FxHashMap<VarId, TermId> = FxHashMap::default();
        let mut cells: BTreeMap<i64, TermId> = BTreeMap::new();
        for (_, op) in way {
            match op {
                Op::Set { var, value } => {
                    let value = arena.substitute(*value, &mut |v| values.get(&v).copied(), &mut FxHashMap::default());
                    values.insert(*var, value);
                }
                Op::Load { var, address, bytes } => {
                    let Some(Special::Frame(at)) = now.special(arena, *address)? else { return None };
                    let value = match cells.get(&at).copied() {
                        Some(cell) if arena.width(cell) >= 8 * bytes => arena.extract(cell, 8 * bytes - 1, 0),
                        _ => arena.fresh("loaded", term::Sort::Bv(8 * bytes)),
                    };
                    values.insert(*var, value);
                }
                Op::Store { address, value } => {
                    let Some(Special::Frame(at)) = now.special(arena, *address)? else { return None };
                    let value = arena.substitute(*value, &mut |v| values.get(&v).copied(), &mut FxHashMap::default());
                    let end = at + i64::from(arena.width(value) / 8);
                    cells.retain(|start, cell| *start >= end || start + i64::from(arena.width(*cell) / 8) <= at);
                    cells.insert(at, value);
                }
                Op::Unknown { var } => {
                    let value = arena.fresh("unknown", arena.var_sort(*var));
                    values.insert(*var, value);
                }
                Op::Fault { .. } => return None,
            }
            now.step(arena, op)?;
        }
        Some(values)
    }
}

impl Known {
    /// What a term has that nothing may be made of; the outer nothing if it makes something of it.
    fn special(&self, arena: &Arena, term: TermId) -> Option<Option<Special>> {
        if let Some(var) = arena.as_var(term) {
            return Some(self.vars.get(&var).copied());
        }
        if arena.sort(term).width() == Some(64) {
            let linear = Linear::of(arena, term);
            if let [(base, factor)] = &linear.terms[..]
                && factor.to_u64() == Some(1)
                && let Some(Special::Frame(at)) = arena.as_var(*base).and_then(|var| self.vars.get(&var))
            {
                return Some(Some(Special::Frame(at.checked_add(linear.constant.low() as i64)?)));
            }
        }
        self.has_nothing(arena, term).map(|()| None)
    }

    /// Does a term speak of nothing special?
    fn has_nothing(&self, arena: &Arena, term: TermId) -> Option<()> {
        arena.free_vars(term).iter().all(|var| !self.vars.contains_key(var)).then_some(())
    }

    /// The bytes of an access to the frame, which must lie between its limits.
    fn range(at: i64, bytes: i64) -> Option<std::ops::Range<i64>> {
        ((-LARGEST_FRAME..0).contains(&at) && at + bytes <= 0).then_some(at..at + bytes)
    }

    fn step(&mut self, arena: &Arena, op: &Op) -> Option<()> {
        let (var, special) = match op {
            Op::Set { var, value } => (*var, self.special(arena, *value)?),
            Op::Unknown { var } => (*var, None),
            Op::Fault { condition, .. } => return self.has_nothing(arena, *condition),
            Op::Load { var, address, bytes } => match self.special(arena, *address)? {
                None => (*var, None),
                Some(Special::Saved(_)) => return None,
                Some(Special::Frame(at)) => {
                    let range = Known::range(at, i64::from(*bytes))?;
                    let byte = |at: i64| self.bytes.get(&at).copied().or(self.escaped.then_some(None));
                    let bytes = range.map(byte).collect::<Option<Vec<_>>>()?;
                    match bytes[0] {
                        None => {
                            bytes.iter().all(Option::is_none).then_some(())?;
                            (*var, None)
                        }
                        Some((register, _)) => {
                            let whole = (0..8).map(|i| Some((register, i)));
                            bytes.iter().copied().eq(whole).then_some(())?;
                            (*var, Some(Special::Saved(register)))
                        }
                    }
                }
            },
            Op::Store { address, value } => {
                let what = self.special(arena, *value)?;
                match (self.special(arena, *address)?, what) {
                    (None, None) => {}
                    (None, Some(Special::Frame(_))) => self.escaped = true,
                    (Some(Special::Frame(at)), _) => {
                        self.escaped |= matches!(what, Some(Special::Frame(_)));
                        for byte in Known::range(at, i64::from(arena.width(*value) / 8))? {
                            let of = match what {
                                Some(Special::Saved(register)) => Some((register, byte - at)),
                                _ => None,
                            };
                            self.bytes.insert(byte, of);
                        }
                    }
                    _ => return None,
                }
                return Some(());
            }
        };
        match special {
            Some(special) => drop(self.vars.insert(var, special)),
            None => drop(self.vars.remove(&var)),
        }
        Some(())
    }

    /// A call: what registers hold that the callee may look at is known to it, and what lies below the stack pointer is lost.
    fn call(&mut self, kept: &BTreeMap<VarId, Special>) -> Option<()> {
        let escapes = |(var, special): (&VarId, &Special)| match special {
            Special::Frame(_) => Some(!kept.contains_key(var)),
            Special::Saved(_) => kept.contains_key(var).then_some(false),
        };
        let escaping = self.vars.iter().map(escapes).collect::<Option<Vec<bool>>>()?;
        self.escaped |= escaping.contains(&true);
        self.vars.retain(|var, _| kept.contains_key(var));
        let rsp = self.vars.iter().find_map(|(var, special)| match special {
            Special::Frame(at) if Register::of_var(*var) == Some(Register::RSP) => Some(*at),
            _ => None,
        })?;
        self.bytes.retain(|at, _| *at >= rsp);
        Some(())
    }
}
