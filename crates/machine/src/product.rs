//! Both programs in step: which blocks are entered together, and what both do until they enter the next.
//!
//! A point is a pair of blocks. From a point both blocks are run to their ends; their ways out are paired (a condition
//! and its negation may be exchanged), and each pair leads to another point. On the way the candidate may pass through
//! blocks that the original does not have, if nothing happens in them that the world can see. So every step of the
//! original is one step of the candidate, and both terminate alike.

use crate::run::{Leaving, Run, State, execute};
use crate::values::{Id, Side, Values};
use crate::{Arg, Function, Lane, Location};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Most blocks that the candidate passes through on one edge.
const LONGEST_DETOUR: usize = 64;

/// What to do when the original enters one block and the candidate another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// They belong together.
    Together,
    /// The candidate's block is passed through.
    Through,
}

/// How to walk. Untrusted: whatever it says, a walk that succeeds covers all that the original can do.
pub trait Plan {
    /// The original enters one block, the candidate another.
    fn choose(&mut self, original: u32, candidate: u32) -> Choice;
    /// The order of the candidate's events at a point, as numbers of the original's; `None` if they are in step.
    fn order(&mut self, values: &mut Values, blocks: (u32, u32), original: &Run, candidate: &Run) -> Option<Vec<u32>>;
}

/// A way from one point to another, for one side.
#[derive(Clone, Debug)]
pub struct Way {
    /// State at the end.
    pub state: Rc<State>,
    /// The block that was left last.
    pub previous: u32,
    /// The block that is entered.
    pub next: u32,
    /// Blocks passed through.
    pub through: Vec<u32>,
}

/// A step of both programs.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where from.
    pub from: usize,
    /// Where to.
    pub to: usize,
    /// What the original does.
    pub original: Way,
    /// What the candidate does.
    pub candidate: Way,
}

/// A pair of blocks, and what they do.
#[derive(Clone, Debug)]
pub struct Point {
    /// The original's block and the candidate's.
    pub blocks: (u32, u32),
    /// What the original does.
    pub original: Run,
    /// What the candidate does.
    pub candidate: Run,
    /// Order of the candidate's events, if they are not in step.
    pub order: Option<Vec<u32>>,
    /// Pairs of conditions: the flags that both read must be the same.
    pub flags: Vec<(Id, Id, (u32, u32))>,
    /// Indices of the edges from here.
    pub out: Vec<usize>,
    /// Indices of the edges to here.
    pub into: Vec<usize>,
}

/// Why the two programs are not in step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Misfit {
    /// The blocks where it shows.
    pub blocks: (u32, u32),
    /// What is wrong.
    pub what: String,
}

/// Two programs in step.
pub struct Product<'a> {
    /// The original.
    pub original: &'a Function,
    /// The candidate.
    pub candidate: &'a Function,
    /// All values.
    pub values: Values,
    /// The first is the entry.
    pub points: Vec<Point>,
    /// All edges.
    pub edges: Vec<Edge>,
}

impl<'a> Product<'a> {
    /// Walks both programs from their entries.
    pub fn walk(original: &'a Function, candidate: &'a Function, plan: &mut dyn Plan) -> Result<Product<'a>, Misfit> {
        match Product::walk_until(original, candidate, plan) {
            (product, None) => Ok(product),
            (_, Some((misfit, _))) => Err(misfit),
        }
    }

    /// The same, but what was walked is kept where it ends, with the number of the point that could not be left.
    pub fn walk_until(
        original: &'a Function,
        candidate: &'a Function,
        plan: &mut dyn Plan,
    ) -> (Product<'a>, Option<(Misfit, usize)>) {
        let size = original.instructions.len() + candidate.instructions.len();
        let blocks = original.blocks.len();
        let mut product = Product {
            original,
            candidate,
            values: Values::with_room(4 * size),
            points: Vec::with_capacity(blocks),
            edges: Vec::with_capacity(2 * blocks),
        };
        if original.blocks.is_empty() || candidate.blocks.is_empty() {
            let misfit = Misfit { blocks: (0, 0), what: "a function has no block".to_string() };
            return (product, Some((misfit, 0)));
        }
        let mut numbers = FxHashMap::default();
        numbers.insert((0, 0), 0);
        product.add_point((0, 0), plan);
        let mut next = 0;
        while next < product.points.len() {
            if let Err(misfit) = product.leave(next, plan, &mut numbers) {
                return (product, Some((misfit, next)));
            }
            next += 1;
        }
        (product, None)
    }

    fn add_point(&mut self, blocks: (u32, u32), plan: &mut dyn Plan) {
        let (a, b) = (self.original, self.candidate);
        let original = execute(&mut self.values, a, Side::Original, blocks.0, State::default(), None);
        let mut candidate = execute(&mut self.values, b, Side::Candidate, blocks.1, State::default(), None);
        let order = plan.order(&mut self.values, blocks, &original, &candidate);
        if let Some(order) = &order {
            candidate = execute(&mut self.values, b, Side::Candidate, blocks.1, State::default(), Some(order));
        }
        self.points.push(Point {
            blocks,
            original,
            candidate,
            order,
            flags: Vec::new(),
            out: Vec::new(),
            into: Vec::new(),
        });
    }

    fn leave(
        &mut self,
        from: usize,
        plan: &mut dyn Plan,
        numbers: &mut FxHashMap<(u32, u32), usize>,
    ) -> Result<(), Misfit> {
        let point = &self.points[from];
        let (ours, theirs) = point.blocks;
        let misfit = |what: String| Misfit { blocks: (ours, theirs), what };
        let pairs = pair_exits(&point.original.leaving, &point.candidate.leaving).map_err(misfit)?;
        let exits = point.original.leaving.iter().zip(&point.candidate.leaving);
        let flags = exits.filter_map(|(a, b)| Some((a.when?.1, b.when?.1, (a.instruction, b.instruction)))).collect();
        self.points[from].flags = flags;
        for (i, j) in pairs {
            let point = &self.points[from];
            let (a, b) = (point.original.leaving[i].clone(), point.candidate.leaving[j].clone());
            if !is_closed(point.order.as_deref(), a.events, b.events) {
                return Err(misfit(self.first_difference(from)));
            }
            if a.by_event && self.address_of(Side::Original, a.target) != self.address_of(Side::Candidate, b.target) {
                return Err(misfit("an indirect jump leads to different places".to_string()));
            }
            let point = &self.points[from];
            let original = Way {
                state: point.original.states[a.state].clone(),
                previous: ours,
                next: a.target,
                through: Vec::new(),
            };
            let start = Way {
                state: point.candidate.states[b.state].clone(),
                previous: theirs,
                next: b.target,
                through: Vec::new(),
            };
            let candidate = self.follow(&original, start, plan)?;
            let blocks = (original.next, candidate.next);
            let to = match numbers.get(&blocks) {
                Some(to) => *to,
                None => {
                    numbers.insert(blocks, self.points.len());
                    self.add_point(blocks, plan);
                    self.points.len() - 1
                }
            };
            let index = self.edges.len();
            self.edges.push(Edge { from, to, original, candidate });
            self.points[from].out.push(index);
            self.points[to].into.push(index);
        }
        Ok(())
    }

    /// Where the events of a point begin to differ, in words.
    fn first_difference(&self, point: usize) -> String {
        let point = &self.points[point];
        let (ours, theirs) = (&point.original.events, &point.candidate.events);
        let at = ours.iter().zip(theirs).position(|(a, b)| a.kind != b.kind).unwrap_or(ours.len().min(theirs.len()));
        let text = |function: &Function, event: Option<&crate::Event>| match event {
            Some(event) => {
                let line = function.instructions[event.instruction as usize].line;
                format!("line {line} `{}`", function.instruction_text(event.instruction))
            }
            None => "nothing".to_string(),
        };
        format!("{} against {}", text(self.original, ours.get(at)), text(self.candidate, theirs.get(at)))
    }

    fn address_of(&self, side: Side, block: u32) -> Option<crate::Symbol> {
        let function = if side == Side::Original { self.original } else { self.candidate };
        function.blocks.get(block as usize).and_then(|block| block.address)
    }

    /// Takes the candidate through blocks that the original does not have.
    fn follow(&mut self, original: &Way, mut way: Way, plan: &mut dyn Plan) -> Result<Way, Misfit> {
        for _ in 0..LONGEST_DETOUR {
            if plan.choose(original.next, way.next) == Choice::Together {
                return Ok(way);
            }
            let misfit = |what: &str| Err(Misfit { blocks: (original.next, way.next), what: what.to_string() });
            if self.candidate.blocks.get(way.next as usize).is_none_or(|block| !block.phis.is_empty()) {
                return misfit("a block of the candidate has no counterpart");
            }
            let run =
                execute(&mut self.values, self.candidate, Side::Candidate, way.next, State::clone(&way.state), None);
            let [exit] = &run.leaving[..] else { return misfit("a block of the candidate has no counterpart") };
            if !run.events.is_empty() || !run.faultable.is_empty() || exit.when.is_some() || exit.by_event {
                return misfit("a block of the candidate has no counterpart");
            }
            let mut through = std::mem::take(&mut way.through);
            through.push(way.next);
            way = Way { state: run.states[exit.state].clone(), previous: way.next, next: exit.target, through };
        }
        Err(Misfit { blocks: (original.next, way.next), what: "the candidate goes round in circles".to_string() })
    }

    /// A value of a point, as of the end of an edge that leads there.
    pub fn carried(&mut self, edge: usize, id: Id) -> Id {
        carried_over(&mut self.values, self.original, self.candidate, &self.edges[edge], id)
    }
}

/// A value of the point where an edge leads, in terms of the point where it starts.
pub fn carried_over(values: &mut Values, original: &Function, candidate: &Function, edge: &Edge, id: Id) -> Id {
    let Edge { original: ours, candidate: theirs, .. } = edge;
    values.rebuild(id, &mut |values, side, location| match side {
        Side::Original => arriving(values, original, ours, side, location),
        Side::Candidate => arriving(values, candidate, theirs, side, location),
    })
}

/// What a location holds where a way ends.
fn arriving(values: &mut Values, function: &Function, way: &Way, side: Side, location: Location) -> Id {
    let block = &function.blocks[way.next as usize];
    let Some(phi) = block.phis.iter().find(|phi| phi.to.location == location) else {
        return way.state.whole(values, function, side, location);
    };
    let source = phi.sources.iter().find(|(block, _)| *block == way.previous).map(|(_, arg)| *arg);
    let bits = function.width(location);
    match source {
        Some(Arg::Lane(lane)) if lane.bits >= bits => way.state.read(values, function, side, Lane { bits, ..lane }),
        // A scalar in a vector register: the rest does not matter.
        Some(Arg::Lane(lane)) => {
            let (low, rest) = (way.state.read(values, function, side, lane), values.undefined(bits - lane.bits));
            values.concat(&[low, rest])
        }
        Some(Arg::Undefined(_)) => values.undefined(bits),
        _ => values.junk(bits),
    }
}

/// The state in which the block at the end of a way starts: what its phis choose is written.
pub fn entering(values: &mut Values, function: &Function, way: &Way, side: Side) -> State {
    let block = &function.blocks[way.next as usize];
    let mut chosen: Vec<(Lane, Id)> = Vec::with_capacity(block.phis.len());
    for phi in &block.phis {
        chosen.push((phi.to, arriving(values, function, way, side, phi.to.location)));
    }
    let mut state = State::clone(&way.state);
    for (lane, id) in chosen {
        state.write(values, function, side, lane, id);
    }
    state
}

/// Have the same events happened on both sides?
fn is_closed(order: Option<&[u32]>, ours: usize, theirs: usize) -> bool {
    ours == theirs
        && order.is_none_or(|order| order.get(..theirs).is_some_and(|seen| seen.iter().all(|n| (*n as usize) < ours)))
}

/// Pairs the ways out of two blocks.
pub fn pair_exits(ours: &[Leaving], theirs: &[Leaving]) -> Result<Vec<(usize, usize)>, String> {
    if ours.len() != theirs.len() {
        return Err(format!("the original has {} ways out, the candidate {}", ours.len(), theirs.len()));
    }
    let mut pairs: Vec<(usize, usize)> = (0..ours.len()).map(|i| (i, i)).collect();
    let code = |exit: &Leaving| exit.when.map(|(code, _)| code);
    for (i, (a, b)) in ours.iter().zip(theirs).enumerate() {
        if a.by_event != b.by_event || a.when.is_some() != b.when.is_some() {
            return Err("the ways out are decided differently".to_string());
        }
        if code(a) == code(b) {
            continue;
        }
        // `if c goto x else y` is `if not c goto y else x`, where nothing comes between.
        let negated = code(a).zip(code(b)).is_some_and(|(x, y)| x == y ^ 1);
        let last = i + 2 == ours.len();
        let always = |exits: &[Leaving]| exits.last().is_some_and(|e| e.when.is_none() && !e.by_event);
        if !(negated && last && always(ours) && always(theirs)) {
            return Err("the conditions of the ways out differ".to_string());
        }
        pairs[i] = (i, i + 1);
        pairs[i + 1] = (i + 1, i);
        break;
    }
    Ok(pairs)
}
