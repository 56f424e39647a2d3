//! Runs of both programs with the states at loop heads.

use crate::objects::inputs::{Input, LOOP_ROUNDS};
use crate::objects::refute::Runner;
use interpreter::{End, Seed, Touch, Visit, Watch, WatchedLoad};
use program::loops::Loops;
use program::{Function, Next, PointId};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use term::Arena;

/// One input: what the two programs visited.
pub(crate) struct Run {
    /// Visits in order, by side.
    pub visits: [Vec<Visit>; 2],
    /// Accesses behind the last visit, by side.
    pub touches: [Vec<Touch>; 2],
    /// Did both runs end by themselves, with all visits noted?
    pub complete: bool,
}

const MOST_RUNS: usize = 64;
/// Fewer runs tell little: some more time is taken for so many.
const FEWEST_RUNS: usize = 24;
const MOST_DELAY: Duration = Duration::from_millis(300);
/// Runs of about the same length through the same loops at most.
const MOST_ALIKE: usize = 12;
/// Rounds in a row that brought nothing new, after which no more are made if every loop was seen often.
const MOST_BARREN: usize = 16;
/// Fewer visits of a loop head are few.
const FEW: usize = 40;
const MOST_ROUNDS: u64 = 1500;
/// Runs that were cut short tell something if they have so many visits.
const FEWEST_VISITS: usize = 2;
/// Visits that are noted in one run at most.
const MOST_VISITS: usize = 400;

/// One run in so many finds the statics of the file as they are at the start.
const STATICS_AS_AT_START: u64 = 4;

/// Points that the original may enter in runs on given inputs.
const GIVEN_FUEL: usize = 4000;

/// How many loops of the two programs no run has seen.
pub(crate) fn unseen(loops: &[Loops; 2], runs: &[Run]) -> usize {
    let seen = |i: usize, head: &PointId| runs.iter().any(|r| r.visits[i].iter().any(|v| v.point == *head));
    (0..2).map(|i| loops[i].heads.iter().filter(|head| !seen(i, head)).count()).sum()
}

/// The points where states are noted: loop heads, and what cuts the original's loops as well.
pub(crate) fn watched(function: &Function, loops: &Loops) -> Vec<PointId> {
    loops.heads.iter().flat_map(|head| loops.cuts(function, *head)).collect()
}

/// Runs both programs on many inputs, the given ones first.
pub(crate) fn collect(
    runner: &mut Runner,
    arena: &Arena,
    loops: &[Loops; 2],
    loads: [Vec<WatchedLoad>; 2],
    given: &[Input],
    seed: u64,
    until: Instant,
) -> Vec<Run> {
    let functions = runner.functions;
    let watch = [0, 1].map(|i| {
        let mut points = vec![false; functions[i].points.len()];
        for point in watched(functions[i], &loops[i]) {
            points[point.index()] = true;
        }
        let mut waits = vec![false; functions[i].points.len()];
        if i == 1 {
            waits[Function::ENTRY.index()] = true;
        }
        if i == 1 && super::correlate::may_wait(functions, loops) {
            for point in &functions[1].points {
                if let Next::Call(call) = &point.next
                    && let Some(next) = call.returns
                {
                    waits[next.index()] = true;
                }
            }
        }
        Watch { points, loads: loads[i].clone(), waits }
    });
    runner.watches = Some(watch);
    let free = runner.layout.free;
    let mut out = Vec::new();
    let mut kinds: BTreeMap<(Vec<PointId>, u32), usize> = BTreeMap::new();
    let mut seen: [BTreeMap<PointId, usize>; 2] = Default::default();
    let mut barren = 0;
    let mut ends: BTreeMap<String, usize> = BTreeMap::new();
    let heads: Vec<(usize, PointId)> = (0..2).flat_map(|i| loops[i].heads.iter().map(move |head| (i, *head))).collect();
    for round in 0..MOST_ROUNDS {
        // More runs are made where a loop was not seen often enough.
        let rare = |(i, head): &(usize, PointId)| seen[*i].get(head).copied().unwrap_or(0) < FEW;
        let fresh = out.len() < MOST_RUNS && (out.len() < FEWEST_RUNS || barren < MOST_BARREN);
        let enough = out.len() >= 2 * MOST_RUNS || !(fresh || heads.iter().any(rare));
        barren += 1;
        // On a busy machine the time is up after a few runs.
        let late = Instant::now();
        if enough || (late >= until && (out.len() >= FEWEST_RUNS || late >= until + MOST_DELAY)) {
            break;
        }
        let number = if round % 4 == 3 { round } else { LOOP_ROUNDS + round };
        let input = match given.get(round as usize) {
            Some(input) => Input { fuel: GIVEN_FUEL, ..input.clone() },
            None => runner.random_input(arena, Seed(seed), number),
        };
        if !runner.satisfies(arena, &input) {
            continue;
        }
        // Statics hold what they were given last, not only what they hold at the start.
        runner.layout.free = round % STATICS_AS_AT_START != 0;
        let mut traces = runner.traces(arena, &input);
        if traces[0].wild.is_some()
            && let Some(better) = runner.repaired(arena, &input, &traces[0])
            && runner.satisfies(arena, &better)
        {
            traces = runner.traces(arena, &better);
        }
        let [original, candidate] = traces;
        if tracing::enabled!(tracing::Level::DEBUG) {
            let why = original.undefined.clone().unwrap_or_else(|| format!("{:?}", original.end));
            *ends.entry(why).or_default() += 1;
        }
        let ended = |end: End| matches!(end, End::Return | End::NoReturn);
        runner.evidence += usize::from(original.undefined.is_none() && ended(original.end));
        // What came before something undefined counts.
        let cut = original.undefined.is_some() || !matches!(original.end, End::Return | End::NoReturn | End::Fuel);
        if cut && original.visits.len() < FEWEST_VISITS {
            continue;
        }
        if original.visits.is_empty() && candidate.visits.iter().all(|v| v.waits) {
            continue;
        }
        let length = original.visits.len().max(candidate.visits.len());
        let count = |visits: &[Visit], head: PointId| visits.iter().filter(|v| v.point == head).count();
        let visits = [&original.visits, &candidate.visits];
        let again: Vec<PointId> =
            heads.iter().filter(|(i, head)| count(visits[*i], *head) > 2).map(|(_, head)| *head).collect();
        let alike = kinds.entry((again, length.ilog2())).or_default();
        *alike += 1;
        if *alike > MOST_ALIKE {
            continue;
        }
        for (i, head) in &heads {
            *seen[*i].entry(*head).or_default() += count(visits[*i], *head);
        }
        let complete = !cut
            && ended(original.end)
            && ended(candidate.end)
            && original.visits.len() < MOST_VISITS
            && candidate.visits.len() < MOST_VISITS;
        let touches = [original.touches, candidate.touches];
        barren = 0;
        out.push(Run { visits: [original.visits, candidate.visits], touches, complete });
    }
    runner.watches = None;
    runner.layout.free = free;
    tracing::debug!(runs = out.len(), ?seen, ?ends, "runs");
    out
}
