//! Asks the kernel about a plan and gives up what does not hold, until it accepts or nothing is left to give up.

use super::Guidance;
use super::LoopSearch;
use super::alone;
use super::columns::Row;
use super::correlate::Plan;
use super::fields::keeps_registers;
use super::from_code;
use super::guards::guards;
use super::guess::{Guesses, Names, guess};
use super::merged::merged;
use super::streams::Extent;
use crate::objects::bindings::Bindings;
use crate::objects::timed::check_until;
use crate::reason::reason;
use kernel::{
    Certificate, Change, ChangeClaim, CheckedProof, FailedClaim, Location, MemoryClaim, PointClaim, Rejection, Spot,
};
use library::Effect;
use program::contract::LocalEffect;
use program::loops::Loops;
use program::{Callee, Function, Next, Op, PointId, Register, Side};
use std::collections::BTreeSet;
use std::time::Instant;
use symbolic::Stuck;
use symbolic::liveness;
use term::Arena;

/// What is claimed about one meeting so far.
struct Claim {
    heads: [PointId; 2],
    waits: bool,
    alone: bool,
    /// Is it the candidate that is ahead?
    behind: bool,
    forget: BTreeSet<Location>,
    world: MemoryClaim,
    locals: Vec<MemoryClaim>,
    /// Guesses that did not hold.
    dropped: BTreeSet<String>,
    guesses: Guesses,
    /// What the original may have accessed before it comes here.
    seen: Vec<(String, u16)>,
    /// Conditions of the branches that lead here.
    guards: Vec<String>,
    /// Are registers what the original loads each time?
    loaded: bool,
}

const MOST_ROUNDS: usize = 60;

/// What runs do not tell.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Choice {
    /// Prefer the other extension of a variable where both fit.
    pub flip: bool,
    /// Forget what the candidate keeps in registers that hold different things depending on the way to the loop.
    pub merged: bool,
    /// The side that is ahead with blocks that the other writes at once.
    pub apart: Option<Side>,
    /// Forget registers that hold what the original loads each time: they are what it loads then, rather than what was
    /// loaded before the loop.
    pub loaded: bool,
}

/// Looks for claims that make the kernel accept the plan.
pub(crate) fn refine(
    search: &mut LoopSearch,
    arena: &mut Arena,
    plan: &Plan,
    rows: &[Vec<Row>],
    choice: Choice,
) -> (Result<CheckedProof, Rejection>, Certificate) {
    let known = std::mem::take(&mut search.bindings);
    let borrowed = !known.is_empty();
    let (result, certificate) = refine_from(search, arena, plan, rows, choice, known);
    // Another correlation may have taken other objects for the same.
    let about_locals = matches!(
        &result,
        Err(Rejection::Malformed(_)
            | Rejection::Unbound { .. }
            | Rejection::Stuck(Stuck::Unbound { .. } | Stuck::Unsupported { .. }))
    );
    if borrowed && about_locals && Instant::now() < search.deadline {
        return refine_from(search, arena, plan, rows, choice, Bindings::default());
    }
    (result, certificate)
}

fn refine_from(
    search: &mut LoopSearch,
    arena: &mut Arena,
    plan: &Plan,
    rows: &[Vec<Row>],
    choice: Choice,
    mut bindings: Bindings,
) -> (Result<CheckedProof, Rejection>, Certificate) {
    let functions = search.pair.functions();
    let loops = functions.map(Loops::of);
    let live = functions.map(|f| liveness(arena, f, &|_| None));
    let ways = if choice.merged { merged(arena, functions[1]) } else { Vec::new() };
    let mut claims: Vec<Claim> = Vec::new();
    for (point, rows) in plan.points.iter().zip(rows) {
        let mut forget = BTreeSet::new();
        let mut world = MemoryClaim::Kept;
        let sides = match (point.waits, point.alone) {
            (true, _) => &Side::BOTH[..1],
            (_, true) => &Side::BOTH[1..],
            _ => &Side::BOTH[..],
        };
        for side in sides {
            let (i, side) = (side.index(), *side);
            let body = bodies(functions[i], &loops[i], point.heads[i]);
            forget.extend(written(functions[i], &body, side));
            if search.guidance == Guidance::Code && side == Side::Original {
                forget.extend(super::slots::stored(arena, functions[i], side, &body));
            }
            if changes_world(arena, functions, i, &body) {
                world = MemoryClaim::Equal;
            }
            forget.extend(changing(arena, functions[i], side, &body, rows));
        }
        if choice.merged && !point.alone && !point.waits {
            forget.extend(merged_registers(&ways, live[1].get(point.heads[1].index()).copied(), point.heads[1]));
        }
        let sides = if point.waits || point.alone { &Side::BOTH[..1] } else { &Side::BOTH[..] };
        let guards = sides.iter().filter(|_| search.patience.guards && !point.alone).flat_map(|side| {
            let i = side.index();
            guards(arena, functions[i], &loops[i], point.heads[i], *side)
        });
        let guards = guards.collect();
        claims.push(Claim {
            heads: point.heads,
            waits: point.waits,
            alone: point.alone,
            behind: choice.apart == Some(Side::Candidate) && !point.waits && !point.alone,
            forget,
            world,
            locals: Vec::new(),
            dropped: BTreeSet::new(),
            guesses: Guesses::default(),
            seen: Vec::new(),
            guards,
            loaded: choice.loaded,
        });
    }
    // Points of which guesses are to be made, anew where something was given up.
    let every: BTreeSet<usize> = (0..claims.len()).collect();
    let mut stale = every.clone();
    let mut patient = false;
    for round in 0.. {
        let given_up = search.solver.statistics().given_up;
        for i in std::mem::take(&mut stale) {
            let claim = &mut claims[i];
            let zeroed = [0, 1].map(|i: usize| {
                let in_registers = i == 1 || keeps_registers(functions[0]);
                let body = || bodies(functions[i], &loops[i], claim.heads[i]);
                if in_registers { zeroed(arena, functions[i], &body()) } else { 0 }
            });
            let names = Names {
                arena,
                layout: &search.runner.layout,
                functions,
                zeroed,
                compared: &search.compared,
                behind: &search.behind,
                bound: bindings.reachable(),
                period: plan.points.iter().flat_map(|p| p.turns).max().unwrap_or(1),
                flip: choice.flip,
            };
            let here = [0, 1].map(|side: usize| live[side].get(claim.heads[side].index()).copied().unwrap_or(0));
            claim.guesses = match search.guidance {
                Guidance::Runs if claim.alone => {
                    let (bound, dropped) = (bindings.all(), &claim.dropped);
                    alone::candidate_alone(&names, &bound, &rows[i], &claim.forget, here[1], claim.heads[1], dropped)
                }
                Guidance::Runs => {
                    guess(&names, &rows[i], &claim.forget, here, &plan.points[i], &claim.dropped, &search.fields)
                }
                Guidance::Code => {
                    let around = from_code::Surroundings {
                        arena,
                        functions,
                        bodies: [0, 1].map(|side: usize| bodies(functions[side], &loops[side], claim.heads[side])),
                        live: here,
                        zeroed: names.zeroed[1],
                        compared: &search.compared,
                        fields: &search.fields,
                    };
                    from_code::guess(&around, &claim.forget)
                }
            };
            let new = claim.guards.iter().filter(|text| !claim.guesses.hold.contains(text));
            let new: Vec<String> = new.cloned().collect();
            claim.guesses.hold.extend(new);
            // Where both go round, one may be ahead with what the other writes at once.
            let extent = match choice.apart {
                _ if claim.waits => Some(Extent::SoFar),
                _ if claim.alone => None,
                apart => apart.map(|side| if side == Side::Original { Extent::SoFar } else { Extent::Left }),
            };
            if let Some(extent) = extent.filter(|_| search.guidance == Guidance::Runs) {
                let (bound, meeting) = (bindings.all(), &plan.points[i]);
                claim.guesses.blocks =
                    alone::original_blocks(&names, &bound, &rows[i], &claim.forget, here, meeting, extent);
            }
            search.effort.guesses += claim.guesses.define.len() + claim.guesses.hold.len();
        }
        let mut certificate = bindings.certificate(search.pair.original(), search.pair.candidate());
        certificate.cuts = plan.cuts.clone().map(|cuts| cuts.iter().map(|c| c.0).collect());
        certificate.points = claims.iter().map(Claim::to_point).collect();
        certificate.edges = plan.edges();
        let result = check_until(search.deadline, arena, search.pair, &mut certificate, search.solver);
        if let Err(rejection) = &result {
            let why = reason(rejection, search.pair.original(), search.pair.candidate());
            tracing::debug!(round, patient, why = why.detail, "rejected");
            tracing::trace!(points = ?certificate.points, rejection = ?rejection);
        }
        let progress = match &result {
            Ok(_) => false,
            Err(Rejection::Claims(failed)) => give_up(&mut claims, failed, &mut stale),
            Err(Rejection::Unbound { original: at, candidate: other }) => {
                stale = every.clone();
                bindings.pair(search.pair.original(), *at, *other)
            }
            Err(Rejection::Stuck(Stuck::Unbound { offset, span: Some(span), index, escapes, .. })) => {
                stale = every.clone();
                bindings.span(search.pair.original(), search.pair.candidate(), *span, (*offset, *index, *escapes))
            }
            Err(Rejection::Stuck(Stuck::Unbound { side, offset, escapes, index, .. })) => {
                stale = every.clone();
                bindings.single(search.pair.original(), *side, *offset, *escapes, *index)
            }
            // The candidate may load what the original has loaded before.
            Err(rejection) if rejection.is_unmade_read() => claims.iter_mut().fold(false, |any, claim| {
                let asked = !claim.seen.is_empty() || claim.waits;
                if !asked {
                    claim.seen = search.behind.iter().map(|f| (f.address().to_string(), f.watched.bytes)).collect();
                }
                any | !asked && !claim.seen.is_empty()
            }),
            Err(_) => false,
        };
        // Nothing is left to give up, and some questions were too hard: once more, with more effort.
        let hard = search.solver.statistics().given_up > given_up;
        let more = search.patience.more().filter(|_| !progress && hard && !patient);
        if let Some(more) = more.filter(|_| matches!(result, Err(Rejection::Obligation { .. }))) {
            patient = true;
            more.apply(search.solver);
            continue;
        }
        if !progress || round >= MOST_ROUNDS || Instant::now() >= search.deadline {
            search.patience.apply(search.solver);
            search.bindings = bindings;
            if let Err(rejection) = &result {
                let strategy = search.guidance.name();
                search.journal.note(arena, search.pair, strategy, round + 1, (&certificate, rejection));
            }
            search.effort.survivors += certificate.points.iter().map(|p| p.define.len() + p.hold.len()).sum::<usize>();
            return (result, certificate);
        }
    }
    unreachable!("the loop returns")
}

/// A condition which says that a register of the candidate holds what the original loads: the place, and the load.
fn loaded(text: &str) -> Option<(Location, String)> {
    let (place, value) = text.strip_prefix("(= ")?.strip_suffix(')')?.split_once(' ')?;
    let location = place.parse::<Location>().ok().filter(|_| value.starts_with("(load "))?;
    (location.side == Side::Candidate).then(|| (location, value.to_string()))
}

/// Do claims say what registers hold of the original's loads?
pub(crate) fn has_loaded(certificate: &Certificate) -> bool {
    let open = |p: &PointClaim| p.world == MemoryClaim::Equal && p.hold.iter().any(|text| loaded(text).is_some());
    certificate.points.iter().any(open)
}

/// Is there a loop of the plan that the candidate enters with registers that depend on the way?
pub(crate) fn has_merged(search: &LoopSearch, arena: &mut Arena, plan: &Plan) -> bool {
    let live = liveness(arena, search.pair.candidate(), &|_| None);
    let ways = merged(arena, search.pair.candidate());
    let loops = Loops::of(search.pair.candidate());
    plan.points.iter().filter(|p| !p.alone && !p.waits).any(|point| {
        let head = point.heads[1];
        let changed = written(search.pair.candidate(), &bodies(search.pair.candidate(), &loops, head), Side::Candidate);
        merged_registers(&ways, live.get(head.index()).copied(), head).iter().any(|l| !changed.contains(l))
    })
}

/// The live registers at a head that depend on the way there.
fn merged_registers(ways: &[u64], live: Option<u64>, head: PointId) -> Vec<Location> {
    let bits = ways.get(head.index()).copied().unwrap_or(0) & live.unwrap_or(0);
    let registers = (0..16).map(Register::General).filter(|r| bits >> r.index() & 1 == 1 && *r != Register::RSP);
    registers.filter_map(|r| Location::whole(Side::Candidate, Spot::Register(r))).collect()
}

impl Claim {
    fn to_point(&self) -> PointClaim {
        let kept = |text: &str| !self.dropped.contains(text);
        let define = self.guesses.define.iter().map(|(l, text)| (l.to_string(), text.clone()));
        let blocks = self.guesses.blocks.clone().unwrap_or_default();
        let mut locals = self.locals.clone();
        for local in blocks.locals() {
            locals.resize(locals.len().max(local + 1), MemoryClaim::Kept);
            locals[local] = MemoryClaim::Equal;
        }
        let whole = blocks.changes.iter().any(|c| c.local.is_none());
        let world = if whole { MemoryClaim::Equal } else { self.world };
        let stored = self.guesses.ahead.iter().filter(|_| world == MemoryClaim::Equal);
        let stored = stored.map(|(address, value)| {
            let what = Change::Store(address.clone(), value.clone());
            ChangeClaim { local: None, source: None, what }
        });
        let mut forget = self.forget.clone();
        let mut hold: Vec<String> = self.guesses.hold.iter().filter(|text| kept(text)).cloned().collect();
        let mut define: Vec<(String, String)> = define.filter(|(l, text)| kept(&format!("{l} := {text}"))).collect();
        if self.loaded && world == MemoryClaim::Equal && !self.waits && !self.alone {
            hold.retain(|text| {
                let Some((location, value)) = loaded(text) else { return true };
                let Some(whole) = Location::whole(location.side, location.spot) else { return true };
                if forget.iter().any(|l| l.overlaps(&whole)) || !kept(&format!("{location} := {value}")) {
                    return true;
                }
                forget.insert(whole);
                // Others are said with it.
                define.insert(0, (location.to_string(), value));
                false
            });
        }
        PointClaim {
            original: if self.alone { 0 } else { self.heads[0].0 },
            candidate: self.heads[1].0,
            waits: self.waits,
            forget: forget.iter().map(Location::to_string).collect(),
            world,
            ahead: if self.behind { Vec::new() } else { blocks.changes.iter().cloned().chain(stored).collect() },
            behind: if self.behind { blocks.changes.clone() } else { Vec::new() },
            accessed: blocks.accessed.clone(),
            // Without a number that becomes smaller there is no proof; any will do to learn what else fails.
            alone: self.alone.then(|| blocks.left.clone().unwrap_or_else(|| "#64:0".to_string())),
            locals,
            define,
            hold,
            seen: self.seen.iter().filter(|(address, bytes)| kept(&seen(address, *bytes))).cloned().collect(),
        }
    }
}

/// The claim that the original has accessed something, in words.
fn seen(address: &str, bytes: u16) -> String {
    format!("{bytes} bytes seen at {address}")
}

/// Drops what failed, and notes the points that need new guesses. True if anything changed.
fn give_up(claims: &mut [Claim], failed: &[FailedClaim], stale: &mut BTreeSet<usize>) -> bool {
    let mut progress = false;
    let points: Vec<PointClaim> = claims.iter().map(Claim::to_point).collect();
    // A place that changes explains other failures: forget it first.
    let structural = failed
        .iter()
        .any(|f| matches!(f, FailedClaim::Changed { .. } | FailedClaim::World { .. } | FailedClaim::Local { .. }));
    for failure in failed {
        match failure {
            FailedClaim::Changed { point, location } => {
                let Ok(location) = location.parse::<Location>() else { continue };
                let claim = &mut claims[*point];
                // A slot may be forgotten in other pieces already.
                if !claim.forget.iter().any(|l| l.overlaps(&location)) {
                    progress |= claim.forget.insert(location);
                    stale.insert(*point);
                }
            }
            FailedClaim::World { point } => {
                progress |= claims[*point].world == MemoryClaim::Kept;
                claims[*point].world = MemoryClaim::Equal;
            }
            FailedClaim::Local { point, local } => {
                let locals = &mut claims[*point].locals;
                locals.resize(locals.len().max(local + 1), MemoryClaim::Kept);
                let next = match locals[*local] {
                    MemoryClaim::Kept => MemoryClaim::Equal,
                    _ => MemoryClaim::Apart,
                };
                progress |= locals[*local] != next;
                locals[*local] = next;
            }
            FailedClaim::Definition { point, index } if !structural => {
                let (location, text) = &points[*point].define[*index];
                progress |= claims[*point].dropped.insert(format!("{location} := {text}"));
                stale.insert(*point);
            }
            FailedClaim::Condition { point, index } if !structural => {
                progress |= claims[*point].dropped.insert(points[*point].hold[*index].clone());
            }
            FailedClaim::Seen { point, index } if !structural => {
                let (address, bytes) = &points[*point].seen[*index];
                progress |= claims[*point].dropped.insert(seen(address, *bytes));
            }
            FailedClaim::Accessed { point, index } if !structural => {
                if let Some(blocks) = &mut claims[*point].guesses.blocks {
                    let failed = &points[*point].accessed[*index];
                    let before = blocks.accessed.len();
                    blocks.accessed.retain(|block| block != failed);
                    progress |= blocks.accessed.len() < before;
                }
            }
            FailedClaim::Definition { .. }
            | FailedClaim::Condition { .. }
            | FailedClaim::Seen { .. }
            | FailedClaim::Accessed { .. } => {}
        }
    }
    progress
}

/// The points of all loops that a cut point belongs to, the innermost of which it cuts.
fn bodies(function: &Function, loops: &Loops, cut: PointId) -> Vec<PointId> {
    let owner = loops.heads.iter().rev().find(|head| loops.cuts(function, **head).contains(&cut));
    owner.map_or(Vec::new(), |head| loops.body(*head))
}

/// Registers that some point of a loop writes.
fn written(function: &Function, body: &[PointId], side: Side) -> BTreeSet<Location> {
    let mut out = BTreeSet::new();
    let mut add = |register: Register| {
        if register != Register::RSP
            && let Some(location) = Location::whole(side, Spot::Register(register))
        {
            out.insert(location);
        }
    };
    for point in body {
        let point = function.point(*point);
        for (_, op) in &point.ops {
            if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op
                && let Some(register) = Register::of_var(*var)
            {
                add(register);
            }
        }
        if let Next::Call(_) = &point.next {
            let clobbered = |r: &Register| {
                matches!(r, Register::General(_) | Register::Vector(_) | Register::VectorHigh(_))
                    && !Register::CALLEE_SAVED.contains(r)
            };
            Register::all().filter(clobbered).for_each(&mut add);
        }
    }
    out
}

/// Does the loop seem to write memory outside the frame?
fn changes_world(arena: &Arena, functions: [&Function; 2], side: usize, body: &[PointId]) -> bool {
    let stack = |address| {
        let linear = term::Linear::of(arena, address);
        let register = |t: &term::TermId| arena.as_var(*t).and_then(Register::of_var);
        linear.terms.iter().any(|(t, _)| matches!(register(t), Some(Register::RSP | Register::RBP)))
    };
    body.iter().any(|point| {
        let point = functions[side].point(*point);
        let stores = point.ops.iter().any(|(_, op)| matches!(op, Op::Store { address, .. } if !stack(*address)));
        stores || matches!(&point.next, Next::Call(call) if !leaves_world(functions, &call.callee))
    })
}

/// Does a call leave memory as it is, as far as its name tells?
fn leaves_world(functions: [&Function; 2], callee: &Callee) -> bool {
    let Callee::Named(name) = callee else { return false };
    if let Some(contract) = functions[0].contracts.get(name) {
        return contract.effect != LocalEffect::Unknown;
    }
    let quiet = |effect: &Effect| matches!(effect, Effect::Pure { .. } | Effect::ReadsThreadLocalAddress);
    let foreign = !functions.iter().any(|f| f.defined.contains(name));
    foreign && (library::manages_heap(name) || library::contract(name).is_some_and(|c| quiet(&c.effect)))
}

/// Registers that every write in the loop extends with zeros.
fn zeroed(arena: &Arena, function: &Function, body: &[PointId]) -> u64 {
    let (mut zero, mut other) = (0u64, 0u64);
    for point in body {
        for (_, op) in &function.point(*point).ops {
            if let Op::Set { var, value } = op
                && let Some(register @ Register::General(_)) = Register::of_var(*var)
            {
                let extended = match arena.op(*value) {
                    term::Op::Zext(_) => true,
                    term::Op::Const(_) => arena.as_u64(*value).is_some_and(|v| v >> 32 == 0),
                    _ => false,
                };
                *(if extended { &mut zero } else { &mut other }) |= 1 << register.index();
            }
        }
    }
    zero & !other
}

/// Variables of a frame, and other slots that the loop stores to, that differ between two meetings of one run.
fn changing(arena: &Arena, function: &Function, side: Side, body: &[PointId], rows: &[Row]) -> BTreeSet<Location> {
    let slot = |row: &Row, offset: i64, bytes: u16| match side {
        Side::Original => row.original.slot(offset, bytes),
        Side::Candidate => row.candidate.slot(offset, bytes),
    };
    let mut out = BTreeSet::new();
    let variables = super::columns::variables(function, side);
    for place in variables.into_iter().chain(super::slots::stored(arena, function, side, body)) {
        let Spot::Slot { offset, bytes } = place.spot else { continue };
        let changes = rows.windows(2).any(|w| {
            let [a, b] = [&w[0], &w[1]];
            a.run == b.run && b.again && slot(a, offset, bytes) != slot(b, offset, bytes)
        });
        let overlaps = out.iter().any(|l: &Location| l.overlaps(&place));
        if changes && !overlaps {
            out.insert(place);
        }
    }
    out
}
