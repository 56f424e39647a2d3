//! The shape of an acyclic piece of a graph: order of execution and where paths rejoin.

use crate::{Function, Next, PointId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Does execution go on after a call, without an event?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    /// Always.
    Goes,
    /// It depends on the arguments.
    Perhaps,
    /// Never.
    Stops,
}

/// The points between a start and the next events, in an order in which every point follows its predecessors.
pub struct Region {
    /// Topological order, the start first.
    pub order: Vec<PointId>,
    /// Number of paths through the piece (saturating).
    pub paths: u64,
    dominator: FxHashMap<PointId, PointId>,
    rejoin: FxHashMap<PointId, Option<PointId>>,
}

/// Can a run of the function come back to a point?
pub fn has_cycle(function: &Function) -> bool {
    let none = FxHashSet::default();
    Region::explore(function, Function::ENTRY, &none, |_| Passing::Goes).is_err()
}

impl Region {
    /// Explores from `from` without entering `heads` or going on after calls, except those that `passes` lets
    /// through. The error is the head of a cycle.
    pub fn explore(
        function: &Function,
        from: PointId,
        heads: &FxHashSet<PointId>,
        passes: impl Fn(PointId) -> Passing,
    ) -> Result<Region, PointId> {
        let successors = |point: PointId| -> Vec<PointId> {
            let all: Vec<PointId> = match &function.point(point).next {
                Next::Edges(edges) => edges.iter().map(|e| e.target).collect(),
                Next::Call(call) if passes(point) != Passing::Stops => call.returns.into_iter().collect(),
                Next::Call(_) | Next::Return | Next::Fault(_) => Vec::new(),
            };
            all.into_iter().filter(|p| !heads.contains(p)).collect()
        };
        // Depth-first search; a successor that is still open closes a cycle.
        let mut done: FxHashMap<PointId, bool> = FxHashMap::default();
        let mut order = Vec::new();
        let mut stack = vec![(from, successors(from), 0)];
        done.insert(from, false);
        while let Some((point, next, at)) = stack.last_mut() {
            if *at == next.len() {
                done.insert(*point, true);
                order.push(*point);
                stack.pop();
                continue;
            }
            let target = next[*at];
            *at += 1;
            match done.get(&target) {
                Some(false) => return Err(target),
                Some(true) => {}
                None => {
                    done.insert(target, false);
                    stack.push((target, successors(target), 0));
                }
            }
        }
        order.reverse();
        let position: FxHashMap<PointId, usize> = order.iter().enumerate().map(|(i, p)| (*p, i)).collect();
        let mut predecessors: FxHashMap<PointId, Vec<PointId>> = FxHashMap::default();
        for point in &order {
            for target in successors(*point) {
                predecessors.entry(target).or_default().push(*point);
            }
        }
        let mut dominator: FxHashMap<PointId, PointId> = FxHashMap::default();
        for point in &order[1..] {
            let mut meet: Option<PointId> = None;
            for p in predecessors.get(point).into_iter().flatten() {
                meet = Some(match meet {
                    None => *p,
                    Some(m) => intersect(m, *p, &dominator, &position),
                });
            }
            if let Some(meet) = meet {
                dominator.insert(*point, meet);
            }
        }
        // Where all paths from a point meet again; paths that end in a fault do not count.
        let mut rejoin: FxHashMap<PointId, Option<PointId>> = FxHashMap::default();
        let mut faults: FxHashSet<PointId> = FxHashSet::default();
        for point in order.iter().rev() {
            let next: Vec<PointId> = successors(*point).into_iter().filter(|p| !faults.contains(p)).collect();
            let ends = match &function.point(*point).next {
                Next::Edges(edges) => edges.iter().any(|e| heads.contains(&e.target)),
                Next::Call(call) => call.tail || passes(*point) != Passing::Goes,
                Next::Return => true,
                Next::Fault(_) => {
                    faults.insert(*point);
                    continue;
                }
            };
            if next.is_empty() && !ends {
                faults.insert(*point);
                continue;
            }
            let mut meet = if ends { None } else { next.first().copied() };
            for target in next.iter().skip(1) {
                meet = meet.and_then(|m| later(m, *target, &rejoin, &position));
            }
            rejoin.insert(*point, meet);
        }
        let mut paths: FxHashMap<PointId, u64> = FxHashMap::default();
        for point in order.iter().rev() {
            let heads_reached = match &function.point(*point).next {
                Next::Edges(edges) => edges.iter().filter(|e| heads.contains(&e.target)).count() as u64,
                _ => 0,
            };
            let next = successors(*point);
            let through = next.iter().fold(heads_reached, |sum, p| sum.saturating_add(paths[p]));
            paths.insert(*point, through.max(1));
        }
        Ok(Region { paths: paths[&from], order, dominator, rejoin })
    }

    /// The immediate dominator of the point, if all paths from there lead here (faults apart): then this point is
    /// reached exactly when that one is.
    pub fn rejoins(&self, point: PointId) -> Option<PointId> {
        let dominator = *self.dominator.get(&point)?;
        let mut at = dominator;
        loop {
            at = (*self.rejoin.get(&at)?)?;
            if at == point {
                return Some(dominator);
            }
        }
    }
}

fn intersect(
    mut a: PointId,
    mut b: PointId,
    dominator: &FxHashMap<PointId, PointId>,
    position: &FxHashMap<PointId, usize>,
) -> PointId {
    while a != b {
        if position[&a] > position[&b] {
            a = dominator[&a];
        } else {
            b = dominator[&b];
        }
    }
    a
}

fn later(
    a: PointId,
    b: PointId,
    rejoin: &FxHashMap<PointId, Option<PointId>>,
    position: &FxHashMap<PointId, usize>,
) -> Option<PointId> {
    let (mut a, mut b) = (a, b);
    while a != b {
        if position[&a] < position[&b] {
            a = (*rejoin.get(&a)?)?;
        } else {
            b = (*rejoin.get(&b)?)?;
        }
    }
    Some(a)
}
