//! Runs of both programs with the states at loop heads.

use crate::inputs::LOOP_ROUNDS;
use crate::refute::Runner;
use graph::interpreter::{End, Seed, Visit, Watch, WatchedLoad};
use graph::loops::Loops;
use graph::{Function, Next, PointId};
use std::time::Instant;
use term::Arena;

/// One input: what the two programs visited.
pub(crate) struct Run {
    /// Visits in order, by side.
    pub visits: [Vec<Visit>; 2],
    /// Did both runs end by themselves, with all visits noted?
    pub complete: bool,
}

const MOST_RUNS: usize = 64;
/// Runs of about the same length at most.
const MOST_ALIKE: usize = 14;
const MOST_ROUNDS: u64 = 1500;
/// Runs that were cut short tell something if they have so many visits.
const FEWEST_VISITS: usize = 2;
/// Visits that are noted in one run at most.
const MOST_VISITS: usize = 400;

/// The points where states are noted: loop heads, and what cuts the original's loops as well.
pub(crate) fn watched(function: &Function, loops: &Loops) -> Vec<PointId> {
    loops.heads.iter().flat_map(|head| loops.alternatives(function, *head)).collect()
}

/// Runs both programs on many inputs.
pub(crate) fn collect(
    runner: &mut Runner,
    arena: &Arena,
    loops: &[Loops; 2],
    loads: [Vec<WatchedLoad>; 2],
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
        if i == 1 && loops[1].heads.len() < loops[0].heads.len() {
            waits[Function::ENTRY.index()] = true;
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
    let mut out = Vec::new();
    let mut lengths: [usize; 64] = [0; 64];
    for round in 0..MOST_ROUNDS {
        if out.len() >= MOST_RUNS || Instant::now() >= until {
            break;
        }
        let number = if round % 4 == 3 { round } else { LOOP_ROUNDS + round };
        let input = runner.random_input(arena, Seed(seed), number);
        let [original, candidate] = runner.traces(arena, &input);
        // What came before something undefined counts.
        let cut = original.undefined.is_some() || !matches!(original.end, End::Return | End::NoReturn | End::Fuel);
        if cut && original.visits.len() < FEWEST_VISITS {
            continue;
        }
        if original.visits.is_empty() && candidate.visits.is_empty() {
            continue;
        }
        let length = original.visits.len().max(candidate.visits.len());
        let alike = &mut lengths[length.ilog2() as usize];
        *alike += 1;
        if *alike > MOST_ALIKE {
            continue;
        }
        let ended = |end: End| matches!(end, End::Return | End::NoReturn);
        let complete = !cut
            && ended(original.end)
            && ended(candidate.end)
            && original.visits.len() < MOST_VISITS
            && candidate.visits.len() < MOST_VISITS;
        out.push(Run { visits: [original.visits, candidate.visits], complete });
    }
    runner.watches = None;
    out
}
