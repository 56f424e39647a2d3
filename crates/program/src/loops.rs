//! Loops of a graph: heads that cut every cycle, an order of the points without the edges that go back to them, and
//! the points of each loop.
//!
//! Heads are the targets of retreating edges in one depth-first search from the entry, calls passed through, so that
//! irreducible cycles have one too. The search visits successors in the order in which the graph lists them: search and
//! kernel find the same heads.

use crate::{Function, Next, PointId};
use rustc_hash::FxHashSet;

/// The loops of a function.
#[derive(Clone, Debug)]
pub struct Loops {
    /// Loop heads, outer ones before inner ones.
    pub heads: Vec<PointId>,
    /// Position of every point in an order that all edges but those back to heads respect.
    pub ranks: Vec<usize>,
    predecessors: Vec<Vec<PointId>>,
}

/// Where control may go from a point, behind calls too.
pub fn successors(function: &Function, point: PointId) -> Vec<PointId> {
    match &function.point(point).next {
        Next::Edges(edges) => edges.iter().map(|e| e.target).collect(),
        Next::Call(call) => call.returns.into_iter().collect(),
        Next::Return | Next::Fault(_) => Vec::new(),
    }
}

impl Loops {
    /// Finds the loops.
    pub fn of(function: &Function) -> Loops {
        let count = function.points.len();
        let mut open: Vec<Option<bool>> = vec![None; count];
        let mut ranks = vec![0; count];
        let mut predecessors = vec![Vec::new(); count];
        let mut heads: FxHashSet<PointId> = FxHashSet::default();
        let mut next_rank = count;
        let entry = Function::ENTRY;
        let mut stack = vec![(entry, successors(function, entry), 0)];
        open[entry.index()] = Some(true);
        while let Some((point, next, at)) = stack.last_mut() {
            let Some(target) = next.get(*at).copied() else {
                open[point.index()] = Some(false);
                next_rank -= 1;
                ranks[point.index()] = next_rank;
                stack.pop();
                continue;
            };
            *at += 1;
            predecessors[target.index()].push(*point);
            match open[target.index()] {
                Some(true) => {
                    heads.insert(target);
                }
                Some(false) => {}
                None => {
                    open[target.index()] = Some(true);
                    stack.push((target, successors(function, target), 0));
                }
            }
        }
        let mut heads: Vec<PointId> = heads.into_iter().collect();
        heads.sort_by_key(|head| ranks[head.index()]);
        let mut loops = Loops { heads, ranks, predecessors };
        loops.put_exits_last(function);
        loops
    }

    /// Orders the points anew: a loop's own before those that follow it.
    fn put_exits_last(&mut self, function: &Function) {
        let bodies: Vec<FxHashSet<PointId>> = self.heads.iter().map(|h| self.body(*h).into_iter().collect()).collect();
        let onward = |point: PointId| {
            let rank = |p: PointId| self.ranks[p.index()];
            let mut out = successors(function, point);
            out.retain(|p| rank(*p) > rank(point));
            // Who leaves most loops is followed first and so comes last.
            out.sort_by_key(|p| bodies.iter().filter(|b| b.contains(&point) && b.contains(p)).count());
            out
        };
        let count = function.points.len();
        let mut ranks = self.ranks.clone();
        let mut seen = vec![false; count];
        let mut next_rank = count;
        let mut stack = vec![(Function::ENTRY, onward(Function::ENTRY), 0)];
        seen[Function::ENTRY.index()] = true;
        while let Some((point, next, at)) = stack.last_mut() {
            let Some(target) = next.get(*at).copied() else {
                next_rank -= 1;
                ranks[point.index()] = next_rank;
                stack.pop();
                continue;
            };
            *at += 1;
            if !std::mem::replace(&mut seen[target.index()], true) {
                stack.push((target, onward(target), 0));
            }
        }
        self.ranks = ranks;
        let ranks = &self.ranks;
        self.heads.sort_by_key(|head| ranks[head.index()]);
    }

    /// Is every cycle cut by these points?
    pub fn are_cut(function: &Function, heads: &FxHashSet<PointId>) -> bool {
        let mut open: Vec<Option<bool>> = vec![None; function.points.len()];
        let roots = [Function::ENTRY].into_iter().chain(heads.iter().copied());
        for root in roots.filter(|p| p.index() < function.points.len()).collect::<Vec<_>>() {
            if open[root.index()].is_some() {
                continue;
            }
            open[root.index()] = Some(true);
            let mut stack = vec![(root, successors(function, root), 0)];
            while let Some((point, next, at)) = stack.last_mut() {
                let Some(target) = next.get(*at).copied() else {
                    open[point.index()] = Some(false);
                    stack.pop();
                    continue;
                };
                *at += 1;
                match open[target.index()] {
                    _ if heads.contains(&target) => {}
                    Some(true) => return false,
                    Some(false) => {}
                    None => {
                        open[target.index()] = Some(true);
                        stack.push((target, successors(function, target), 0));
                    }
                }
            }
        }
        true
    }

    /// Does some way lead out of everything that goes through the head again, other than to a fault?
    pub fn can_be_left(&self, function: &Function, head: PointId) -> bool {
        let closure = |next: &dyn Fn(PointId) -> Vec<PointId>| {
            let mut seen: FxHashSet<PointId> = FxHashSet::from_iter([head]);
            let mut open = vec![head];
            while let Some(point) = open.pop() {
                open.extend(next(point).into_iter().filter(|p| seen.insert(*p)));
            }
            seen
        };
        let behind = closure(&|point| successors(function, point));
        let before = closure(&|point| self.predecessors[point.index()].clone());
        let leaves = |p: &PointId| !before.contains(p) && !matches!(function.point(*p).next, Next::Fault(_));
        behind.iter().any(leaves)
    }

    /// Points that cut the loop as well as its head: the head, and those that every turn passes next.
    pub fn alternatives(&self, function: &Function, head: PointId) -> Vec<PointId> {
        let body: FxHashSet<PointId> = self.body(head).into_iter().collect();
        let mut out = vec![head];
        loop {
            let last = *out.last().expect("the head");
            let mut inside: Vec<PointId> =
                successors(function, last).into_iter().filter(|p| body.contains(p)).collect();
            inside.dedup();
            match inside[..] {
                [next] if !self.heads.contains(&next) && !out.contains(&next) => out.push(next),
                _ => return out,
            }
        }
    }

    /// Points at which the loop may be cut: the alternatives, and of the others that every turn passes once the first and the
    /// last. A compiler may begin its turn in the middle: behind several tests, or where the variable is counted up.
    pub fn cuts(&self, function: &Function, head: PointId) -> Vec<PointId> {
        let mut out = self.alternatives(function, head);
        let body = self.body(head);
        let inside: FxHashSet<PointId> = body.iter().copied().collect();
        let inner: FxHashSet<PointId> = self
            .heads
            .iter()
            .filter(|other| **other != head && inside.contains(other))
            .flat_map(|other| self.body(*other))
            .collect();
        let returns_without = |point: PointId| {
            let mut seen: FxHashSet<PointId> = FxHashSet::from_iter([point]);
            let mut open = vec![head];
            while let Some(at) = open.pop() {
                for next in successors(function, at).into_iter().filter(|p| inside.contains(p)) {
                    if next == head {
                        return true;
                    }
                    if seen.insert(next) {
                        open.push(next);
                    }
                }
            }
            false
        };
        let others: Vec<PointId> =
            body.into_iter().filter(|p| !out.contains(p) && !inner.contains(p) && !returns_without(*p)).collect();
        out.extend(others.first());
        out.extend(others.last().filter(|_| others.len() > 1));
        out
    }

    /// The points of the loop at a head: those that lead back to it without leaving through an earlier head.
    pub fn body(&self, head: PointId) -> Vec<PointId> {
        let rank = |point: PointId| self.ranks[point.index()];
        let mut seen: FxHashSet<PointId> = FxHashSet::from_iter([head]);
        let mut open: Vec<PointId> = self.predecessors[head.index()].clone();
        open.retain(|p| rank(*p) >= rank(head));
        while let Some(point) = open.pop() {
            if seen.insert(point) {
                open.extend(self.predecessors[point.index()].iter().copied().filter(|p| rank(*p) >= rank(head)));
            }
        }
        let mut body: Vec<PointId> = seen.into_iter().collect();
        body.sort_by_key(|p| rank(*p));
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edge, Point};
    use term::Arena;

    /// A function of points with these successors, without operations.
    fn graph(arena: &mut Arena, edges: &[&[u32]]) -> Function {
        let guard = arena.bool(true);
        let edge = |target: &u32| Edge { guard, target: PointId(*target) };
        let next = |to: &&[u32]| if to.is_empty() { Next::Return } else { Next::Edges(to.iter().map(edge).collect()) };
        let points = edges.iter().map(|to| Point { address: 0, ops: Vec::new(), next: next(to) }).collect();
        Function { points, ..Function::default() }
    }

    #[test]
    fn nested_loops_have_their_heads_in_order() {
        let mut arena = Arena::new();
        // 1 heads the outer loop, 2 the inner one.
        let function = graph(&mut arena, &[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
        let loops = Loops::of(&function);
        assert_eq!(loops.heads, [PointId(1), PointId(2)]);
        let inner: Vec<u32> = loops.body(PointId(2)).iter().map(|p| p.0).collect();
        assert_eq!(inner, [2, 3]);
        assert_eq!(loops.body(PointId(1)).len(), 4);
        assert!(loops.ranks[5] > loops.ranks[1]);
    }

    #[test]
    fn what_follows_a_loop_comes_behind_its_body() {
        let mut arena = Arena::new();
        // Two loops, one behind the other, each tested at its end; the exits are listed last and first.
        let function = graph(&mut arena, &[&[2], &[2], &[1, 4], &[4], &[5, 3], &[]]);
        let ranks = Loops::of(&function).ranks;
        assert!(ranks[1] < ranks[4] && ranks[3] < ranks[5]);
    }

    #[test]
    fn a_loop_without_an_exit_cannot_be_left() {
        let mut arena = Arena::new();
        // 1 is left, 2 goes on for ever, and so does the nest of 3 and 4.
        let function = graph(&mut arena, &[&[1, 2, 3], &[1, 5], &[2], &[4], &[4, 3], &[]]);
        let loops = Loops::of(&function);
        let left = |head: u32| loops.can_be_left(&function, PointId(head));
        assert_eq!([1, 2, 3, 4].map(left), [true, false, false, false]);
    }

    #[test]
    fn every_cycle_of_an_irreducible_graph_is_cut() {
        let mut arena = Arena::new();
        let function = graph(&mut arena, &[&[1, 2], &[2, 3], &[1], &[]]);
        let loops = Loops::of(&function);
        assert_eq!(loops.heads.len(), 1);
    }
}
