//! Branches on data: both sides run until they meet again, and what they left is merged into choices.
//!
//! The side that is behind goes on: the one that went back to a loop head less often, then the one whose point comes first
//! in topological order. They meet where both are at the same point, or at the return. A place in which both
//! left the same holds that; values of one type become a choice; anything else is lost, and whoever needs it says so.

use crate::lane::{Content, Lane, Lanes, Value, aligned, push};
use crate::machine::{Machine, Run};
use crate::memory::{Memory, STACK};
use crate::values::constant_of;
use program::{Function, Next, PointId};
use std::mem::swap;
use std::rc::Rc;
use updates::{Domain, Scalar};

/// Most branches inside each other.
const DEEPEST: usize = 48;
/// Most branches of a run.
const MOST: usize = 20_000;
const EITHER: &str = "what a branch on data leaves";

/// What one side of a branch leaves.
struct Left<V> {
    memory: Memory<V>,
    variables: Vec<Option<Value<V>>>,
}

/// The points of a function in topological order, edges back to loop heads aside: the number of each.
pub(crate) fn order(function: &Function) -> Vec<usize> {
    let count = function.points.len();
    let ways = |at: usize| -> Vec<usize> {
        let targets: Vec<PointId> = match &function.points[at].next {
            Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
            Next::Call(call) => call.returns.into_iter().collect(),
            _ => Vec::new(),
        };
        targets.into_iter().map(PointId::index).filter(|target| *target < count).collect()
    };
    let (mut number, mut seen) = (vec![count; count], vec![false; count]);
    let mut left = count;
    let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
    if count > 0 {
        seen[0] = true;
        open.push((0, ways(0)));
    }
    while let Some((at, rest)) = open.last_mut() {
        match rest.pop() {
            Some(next) if !seen[next] => {
                seen[next] = true;
                open.push((next, ways(next)));
            }
            Some(_) => {}
            None => {
                left -= 1;
                number[*at] = left;
                open.pop();
            }
        }
    }
    number
}

impl<D: Domain> Machine<'_, '_, D> {
    /// Runs both sides of a branch; where they meet, or nothing if that is the return.
    pub(crate) fn fork(&mut self, cond: D::Value, sides: [PointId; 2]) -> Run<Option<PointId>> {
        if self.depth >= DEEPEST || self.forks >= MOST {
            return Err(self.unsupported("control depends on data in too many places".to_string()));
        }
        let function = self.code.function;
        let order = Rc::clone(self.order.get_or_insert_with(|| Rc::new(order(function))));
        let number = |at: PointId| order.get(at.index()).copied().unwrap_or(usize::MAX);
        let mut parked = Left { memory: self.memory.clone(), variables: self.variables.clone() };
        (self.depth, self.forks) = (self.depth + 1, self.forks + 1);
        // The machine has the state of one side, the other is parked.
        let (mut at, mut back, mut here) = (sides.map(Some), [0usize; 2], 0);
        while at[0] != at[1] {
            let next = match at {
                [Some(first), Some(second)] => usize::from((back[1], number(second)) < (back[0], number(first))),
                [None, _] => 1,
                [_, None] => 0,
            };
            if next != here {
                swap(&mut self.memory, &mut parked.memory);
                swap(&mut self.variables, &mut parked.variables);
                here = next;
            }
            let Some(from) = at[next] else { break };
            at[next] = self.step(from).map_err(conditional)?;
            back[next] += usize::from(at[next].is_some_and(|to| number(to) <= number(from)));
        }
        if here == 0 {
            swap(&mut self.memory, &mut parked.memory);
            swap(&mut self.variables, &mut parked.variables);
        }
        self.depth -= 1;
        self.merge(cond, parked);
        Ok(at[0])
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
