//! Branches on data: both sides run to where they meet again, and what they left is merged into choices.
//!
//! The two sides meet at the nearest point that every way to the end passes (the immediate post-dominator), or at the
//! end itself. A place in which both left the same holds that; values of one type become a choice; anything else
//! is lost, and whoever needs it says so.

use crate::lane::{Content, Lane, Lanes, Value, aligned, push};
use crate::machine::{Machine, Run};
use crate::memory::{Memory, STACK};
use crate::values::constant_of;
use graph::{Function, Next, PointId};
use updates::{Domain, Scalar};

/// Most branches inside each other.
const DEEPEST: usize = 48;
const EITHER: &str = "what a branch on data leaves";

/// What one side of a branch leaves.
struct Left<V> {
    memory: Memory<V>,
    variables: Vec<Option<Value<V>>>,
}

/// Where ways that part at a point meet again: for each point the next one that all of them pass.
#[derive(Clone, Debug)]
pub(crate) struct Meetings {
    next: Vec<Option<usize>>,
}

impl Meetings {
    pub fn of(function: &Function) -> Meetings {
        let (count, exit) = (function.points.len(), function.points.len());
        let ways = |at: usize| -> Vec<usize> {
            let inside = |target: PointId| target.index().min(exit);
            match &function.points[at].next {
                Next::Edges(edges) => edges.iter().map(|edge| inside(edge.target)).collect(),
                Next::Call(call) => vec![call.returns.map_or(exit, inside)],
                _ => vec![exit],
            }
        };
        // Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm", on the reversed graph.
        let mut from: Vec<Vec<usize>> = vec![Vec::new(); count + 1];
        for at in 0..count {
            for target in ways(at) {
                from[target].push(at);
            }
        }
        let (mut order, mut seen) = (Vec::new(), vec![false; count + 1]);
        let mut open = vec![(exit, 0)];
        seen[exit] = true;
        while let Some((at, done)) = open.pop() {
            match from[at].get(done) {
                Some(next) => {
                    open.push((at, done + 1));
                    if !std::mem::replace(&mut seen[*next], true) {
                        open.push((*next, 0));
                    }
                }
                None => order.push(at),
            }
        }
        let mut number = vec![0; count + 1];
        order.iter().enumerate().for_each(|(place, at)| number[*at] = place);
        let mut next: Vec<Option<usize>> = vec![None; count + 1];
        next[exit] = Some(exit);
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in order.iter().rev().copied().filter(|at| *at != exit) {
                let mut known = ways(at).into_iter().filter(|target| next[*target].is_some());
                let Some(first) = known.next() else { continue };
                let meeting = known.fold(first, |mut a, mut b| {
                    while a != b {
                        while number[a] < number[b] {
                            a = next[a].unwrap_or(exit);
                        }
                        while number[b] < number[a] {
                            b = next[b].unwrap_or(exit);
                        }
                    }
                    a
                });
                changed |= next[at].replace(meeting) != Some(meeting);
            }
        }
        Meetings { next }
    }

    /// The point where ways from this one meet; nothing if that is the end.
    fn after(&self, at: PointId) -> Option<usize> {
        self.next.get(at.index()).copied().flatten().filter(|next| *next + 1 < self.next.len())
    }
}

impl<D: Domain> Machine<'_, '_, D> {
    /// Runs both sides of a branch at a point; where they meet, or nothing if that is behind the return.
    pub(crate) fn fork(&mut self, at: PointId, cond: D::Value, sides: [PointId; 2]) -> Run<Option<PointId>> {
        if self.depth >= DEEPEST {
            return Err(self.unsupported("branches on data inside each other, too many".to_string()));
        }
        let function = self.code.function;
        let meetings = self.meetings.get_or_insert_with(|| std::rc::Rc::new(Meetings::of(function)));
        let meeting = meetings.after(at).map(|next| PointId(next as u32));
        let start = Left { memory: self.memory.clone(), variables: self.variables.clone() };
        self.depth += 1;
        self.go(sides[0], meeting).map_err(conditional)?;
        let first = Left {
            memory: std::mem::replace(&mut self.memory, start.memory),
            variables: std::mem::replace(&mut self.variables, start.variables),
        };
        self.go(sides[1], meeting).map_err(conditional)?;
        self.depth -= 1;
        self.merge(cond, first);
        Ok(meeting)
    }

    /// Merges what the first side left into the state, which is the second's.
    fn merge(&mut self, cond: D::Value, first: Left<D::Value>) {
        let count = self.variables.len().max(first.variables.len());
        self.variables.resize(count, None);
        for index in 0..count {
            let yes = first.variables.get(index).cloned().flatten();
            if yes != self.variables[index] {
                let no = self.variables[index].take();
                self.variables[index] = yes.zip(no).map(|(yes, no)| self.either(cond, &yes, &no));
            }
        }
        let Left { memory: mut taken, .. } = first;
        // The stack may have grown on one side only.
        let (ours, other) = (self.memory.base(STACK), taken.base(STACK));
        let (Ok(()), Ok(())) = (taken.reach(ours), self.memory.reach(other)) else { return self.memory.lose(EITHER) };
        for number in 0..=STACK {
            let Some(region) = self.memory.region(number) else { continue };
            let Some(other) = taken.region(number).filter(|o| o.bytes.len() == region.bytes.len()) else {
                return self.memory.lose(EITHER);
            };
            let (yes, no) = (other.bytes.clone(), region.bytes.clone());
            let mut at = 0;
            while at < no.len() {
                if yes[at] == no[at] {
                    at += 1;
                    continue;
                }
                let bytes = [yes[at], no[at]].into_iter().find_map(value_type).map_or(1, |ty| ty.bytes() as usize);
                let end = (at + bytes).min(no.len());
                let whole = |bytes: &[Content<D::Value>]| {
                    let mut lanes = Lanes::new();
                    bytes.iter().for_each(|content| push(&mut lanes, Lane { width: 8, content: *content }));
                    Value::from_lanes(lanes)
                };
                let merged = self.either(cond, &whole(&yes[at..end]), &whole(&no[at..end]));
                if let Some(region) = self.memory.region_mut(number) {
                    let mut contents = Vec::new();
                    for lane in merged.lanes() {
                        contents.extend((0..lane.width / 8).map(|i| lane.slice(8 * i, 8).content));
                    }
                    region.bytes[at..end].copy_from_slice(&contents);
                }
                at = end;
            }
        }
    }

    /// One of two values.
    fn either(&mut self, cond: D::Value, yes: &Value<D::Value>, no: &Value<D::Value>) -> Value<D::Value> {
        if yes == no {
            return yes.clone();
        }
        let truth = |machine: &mut Self, value: &Value<D::Value>| match value {
            Value::Bool(known) => Some(machine.values.domain.constant(updates::Constant::Int(i64::from(*known)))),
            Value::Truth(value) => Some(*value),
            _ => None,
        };
        let (a, b) = (yes.lanes(), no.lanes());
        if a.is_empty() && b.is_empty() {
            return match (truth(self, yes), truth(self, no)) {
                (Some(yes), Some(no)) => {
                    let chosen = self.values.domain.choice(cond, yes, no);
                    self.values.truth(chosen)
                }
                _ => Value::LostTruth(EITHER),
            };
        }
        let mut out = Lanes::new();
        for (x, y) in aligned(&a, &b) {
            let lane = if x == y { x } else { self.either_lane(cond, x, y) };
            push(&mut out, lane);
        }
        Value::from_lanes(out)
    }

    fn either_lane(&mut self, cond: D::Value, x: Lane<D::Value>, y: Lane<D::Value>) -> Lane<D::Value> {
        let Some(ty) = [x, y].iter().find_map(|lane| lane.whole()).map(|(_, ty)| ty) else {
            return Lane::lost(x.width, EITHER);
        };
        let operand = |machine: &mut Self, lane: Lane<D::Value>| match lane.content {
            Content::Known(bits) => Some(machine.values.domain.constant(constant_of(bits, ty))),
            _ => lane.whole().filter(|(_, of)| *of == ty).map(|(value, _)| value),
        };
        match (operand(self, x), operand(self, y)) {
            (Some(yes), Some(no)) => {
                let chosen = self.values.domain.choice(cond, yes, no);
                self.values.lane(chosen, ty)
            }
            _ => Lane::lost(x.width, EITHER),
        }
    }
}

/// The type of a value whose first byte this is.
fn value_type<V>(content: Content<V>) -> Option<Scalar> {
    match content {
        Content::Part { ty, low: 0, .. } => Some(ty),
        _ => None,
    }
}

/// What happens on one side of a branch happens only for some data.
fn conditional(mut fault: Box<updates::Fault>) -> Box<updates::Fault> {
    fault.conditional = true;
    fault
}
