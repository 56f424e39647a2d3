//! Backward inference of equations.
//!
//! A need says: at a point, this value of the original and that of the candidate must be equal. Needs come from events,
//! branches and whatever may fault. Comparing the two values at their point ([`machine::Matcher`]) leaves equations
//! between what locations hold at the block's entry; each is carried over the edges that lead there and becomes a need
//! of the blocks before. This ends because equations are between lanes of finitely many locations, or small closed terms.
//!
//! Where operands commute the pairing may be open. Then the comparison is put off until nothing else is left to do, when
//! the equations found meanwhile mostly decide it.

use super::plan::{Guess, is_physical};
use kernel::regalloc::{Claim, ClaimedPoint, Expression};
use machine::{
    Agreement, Evidence, Function, Hypotheses, Id, Kind, Location, Matcher, Memory, Misfit, Mismatch, Point, Product,
    Stage, Trial, Values, is_input,
};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// Most nodes of a term in an equation; more means that it grows around a loop.
const LARGEST_TERM: usize = 24;
/// Most equations of one function.
const MOST_EQUATIONS: usize = 2_000_000;

/// Seed of the runs that decide between pairings.
const SEED: u64 = 1;

/// Where a need comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// An argument of an event: number of the original's event, of the candidate's, and of the argument.
    Event(usize, usize, usize),
    /// The flags of a branch, by number.
    Branch(usize),
    /// Something that may fault: numbers of both.
    Fault(usize, usize),
    /// An equation of the point where an edge leads: the edge, and the two values there.
    Edge(usize, (Id, Id)),
}

/// Two values that must be equal at a point.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Index of the point.
    pub point: usize,
    /// The original's value.
    pub original: Id,
    /// The candidate's.
    pub candidate: Id,
    /// Why.
    pub source: Source,
}

/// Why there are no equations.
pub enum Failure<'a> {
    /// The programs are not in step: why, as far as they were, and the last point.
    OutOfStep(Misfit, Box<Product<'a>>, usize),
    /// Numbers and kinds of events differ: what, in which product and at which point.
    Events(String, Box<Product<'a>>, usize),
    /// A need that cannot be met: everything about it.
    Need(Box<Unmet<'a>>),
}

/// A need that cannot be met.
pub struct Unmet<'a> {
    /// What was found until then.
    pub inference: Inference<'a>,
    /// The need.
    pub need: usize,
    /// Where in the two values.
    pub mismatch: Mismatch,
}

/// Why an equation is there.
#[derive(Clone, Copy, Debug)]
pub struct Because {
    /// The need whose comparison asked for it.
    pub need: usize,
    /// What the two sides compute from it, if it is not the need itself.
    pub user: Option<(Id, Id)>,
}

/// What was inferred.
pub struct Inference<'a> {
    /// Both programs in step.
    pub product: Product<'a>,
    /// All needs, in order of discovery.
    pub needs: Vec<Need>,
    /// Equations by point.
    pub equations: Vec<FxHashMap<(Id, Id), Because>>,
}

impl Inference<'_> {
    /// The claim for the kernel.
    pub fn claim(&self) -> Claim {
        let mut points = Vec::with_capacity(self.product.points.len());
        let values = &self.product.values;
        for (point, equations) in self.product.points.iter().zip(&self.equations) {
            let mut pairs: Vec<&(Id, Id)> = equations.keys().collect();
            pairs.sort_unstable();
            let equations = pairs
                .into_iter()
                .filter_map(|(a, b)| Some((Expression::of(values, *a)?, Expression::of(values, *b)?)))
                .collect();
            points.push(ClaimedPoint { blocks: point.blocks, order: point.order.clone(), equations });
        }
        Claim { points }
    }
}

/// Infers equations for two functions.
pub fn infer<'a>(original: &'a Function, candidate: &'a Function) -> Result<Inference<'a>, Box<Failure<'a>>> {
    let mut guess = Guess::new(original, candidate);
    let product = match Product::walk_until(original, candidate, &mut guess) {
        (product, None) => product,
        (product, Some((misfit, point))) => {
            return Err(Box::new(Failure::OutOfStep(misfit, Box::new(product), point)));
        }
    };
    let count = product.points.len();
    let trial = Trial::everywhere(&product.points, &product.edges, SEED);
    let mut worker = Worker {
        product,
        needs: Vec::new(),
        equations: vec![FxHashMap::default(); count],
        memories: vec![Memory::new(original.may_reorder); count],
        queue: VecDeque::new(),
        late: VecDeque::new(),
        total: 0,
        final_round: false,
        trial,
    };
    if let Err((point, what)) = worker.collect() {
        return Err(Box::new(Failure::Events(what, Box::new(worker.product), point)));
    }
    match worker.run() {
        Ok(()) => Ok(worker.finish()),
        Err((need, mismatch)) => {
            let inference = worker.finish();
            Err(Box::new(Failure::Need(Box::new(Unmet { inference, need, mismatch }))))
        }
    }
}

struct Worker<'a> {
    product: Product<'a>,
    needs: Vec<Need>,
    equations: Vec<FxHashMap<(Id, Id), Because>>,
    memories: Vec<Memory>,
    queue: VecDeque<usize>,
    late: VecDeque<usize>,
    total: usize,
    final_round: bool,
    trial: Trial,
}

/// The equations of one point, growing.
struct Growing<'a> {
    equations: &'a mut FxHashMap<(Id, Id), Because>,
    need: usize,
    is_entry: bool,
    final_round: bool,
    added: Vec<(Id, Id)>,
    user: Option<(Id, Id)>,
    point: usize,
    trial: &'a mut Trial,
    stage: Stage<'a>,
}

impl Growing<'_> {
    fn same_at_entry(values: &Values, a: Id, b: Id) -> bool {
        match (lane_of(values, a), lane_of(values, b)) {
            (Some(x), Some(y)) => x == y && is_physical(x.0),
            _ => false,
        }
    }
}

impl Hypotheses for Growing<'_> {
    const EXACT: bool = false;

    fn agree(&mut self, values: &mut Values, a: Id, b: Id) -> Agreement {
        self.trial.agree(values, &mut self.stage, self.point, a, b)
    }

    fn evidence(&mut self, values: &mut Values, a: Id, b: Id) -> Evidence {
        if self.equations.contains_key(&(a, b)) {
            Evidence::Yes
        } else if self.is_entry && !Self::same_at_entry(values, a, b) || self.agree(values, a, b) == Agreement::Differ {
            Evidence::No
        } else if is_input(values, a) && is_input(values, b) {
            Evidence::Maybe
        } else {
            Evidence::Unlikely
        }
    }

    fn require(&mut self, values: &mut Values, a: Id, b: Id) -> bool {
        if self.equations.contains_key(&(a, b)) {
            return true;
        }
        if self.is_entry && !Self::same_at_entry(values, a, b) {
            return false;
        }
        if size(values, a, LARGEST_TERM) + size(values, b, LARGEST_TERM) > LARGEST_TERM {
            return false;
        }
        self.equations.insert((a, b), Because { need: self.need, user: self.user });
        self.added.push((a, b));
        true
    }

    fn used_by(&mut self, user: Option<(Id, Id)>) {
        self.user = user;
    }

    fn postpone(&mut self) -> bool {
        !self.final_round
    }
}

fn lane_of(values: &Values, id: Id) -> Option<(Location, u16)> {
    let (of, low) = match values.kind(id) {
        Kind::Extract(low) => (values.arg(id, 0), low),
        _ => (id, 0),
    };
    match values.kind(of) {
        Kind::Input(_, location) => Some((location, low)),
        _ => None,
    }
}

fn size(values: &Values, id: Id, limit: usize) -> usize {
    let mut total = 1;
    if total > limit {
        return total;
    }
    if let Kind::Linear(_) = values.kind(id) {
        for (_, term) in values.terms(id).1 {
            total += size(values, term, limit.saturating_sub(total));
        }
        return total;
    }
    for arg in values.args(id) {
        if total > limit {
            break;
        }
        total += size(values, arg, limit.saturating_sub(total));
    }
    total
}

impl<'a> Worker<'a> {
    fn need(&mut self, point: usize, original: Id, candidate: Id, source: Source) {
        self.queue.push_back(self.needs.len());
        self.needs.push(Need { point, original, candidate, source });
    }

    /// The needs of all points.
    fn collect(&mut self) -> Result<(), (usize, String)> {
        for index in 0..self.product.points.len() {
            let point = &self.product.points[index];
            let (ours, theirs) = (&point.original.events, &point.candidate.events);
            if ours.len() != theirs.len() {
                let what = self.different_counts(index);
                return Err((index, what));
            }
            let mut found = Vec::new();
            for j in 0..theirs.len() {
                let i = point.order.as_ref().map_or(j, |order| order[j] as usize);
                if ours[i].kind != theirs[j].kind || ours[i].args.len() != theirs[j].args.len() {
                    let what = self.different_kinds(index, i, j);
                    return Err((index, what));
                }
                for (k, (a, b)) in ours[i].args.iter().zip(&theirs[j].args).enumerate() {
                    found.push((*a, *b, Source::Event(i, j, k)));
                }
            }
            for (k, (a, b, _)) in point.flags.iter().enumerate() {
                found.push((*a, *b, Source::Branch(k)));
            }
            for (a, b, source) in found {
                self.need(index, a, b, source);
            }
        }
        Ok(())
    }

    fn different_counts(&self, index: usize) -> String {
        let point = &self.product.points[index];
        let (ours, theirs) = (&point.original.events, &point.candidate.events);
        let at = ours.iter().zip(theirs).position(|(a, b)| a.kind != b.kind).unwrap_or(ours.len().min(theirs.len()));
        format!("{} against {} events, {}", ours.len(), theirs.len(), self.different_kinds(index, at, at))
    }

    fn different_kinds(&self, index: usize, i: usize, j: usize) -> String {
        let point = &self.product.points[index];
        let text = |function: &Function, event: Option<&machine::Event>| match event {
            Some(event) => {
                let line = function.instructions[event.instruction as usize].line;
                format!("line {line} `{}`", function.instruction_text(event.instruction))
            }
            None => "nothing".to_string(),
        };
        let ours = text(self.product.original, point.original.events.get(i));
        let theirs = text(self.product.candidate, point.candidate.events.get(j));
        format!("{ours} against {theirs}")
    }

    fn run(&mut self) -> Result<(), (usize, Mismatch)> {
        loop {
            while let Some(need) = self.queue.pop_front() {
                self.meet(need)?;
            }
            match self.late.pop_front() {
                Some(need) => {
                    self.final_round = true;
                    self.meet(need)?;
                    self.final_round = false;
                }
                None => break,
            }
        }
        self.cover_faults()
    }

    /// Compares the two values of a need; new equations become needs of the blocks before.
    fn meet(&mut self, index: usize) -> Result<(), (usize, Mismatch)> {
        let Need { point, original, candidate, .. } = self.needs[index];
        let values = &self.product.values;
        let plain = point != 0
            && values.bits(original) == values.bits(candidate)
            && is_input(values, original)
            && is_input(values, candidate);
        let added = if plain {
            // The commonest case: a location against a location.
            let because = Because { need: index, user: None };
            match self.equations[point].entry((original, candidate)) {
                Entry::Vacant(entry) => {
                    entry.insert(because);
                    vec![(original, candidate)]
                }
                Entry::Occupied(_) => return Ok(()),
            }
        } else {
            let Product { original: before, candidate: after, values, points, edges } = &mut self.product;
            let Point { original: ours, candidate: theirs, .. } = &points[point];
            let mut growing = Growing {
                equations: &mut self.equations[point],
                need: index,
                is_entry: point == 0,
                final_round: self.final_round,
                added: Vec::new(),
                user: None,
                point,
                trial: &mut self.trial,
                stage: Stage { original: before, candidate: after, points, edges },
            };
            let mut matcher = Matcher::new(values, ours, theirs, &mut growing, &mut self.memories[point]);
            let same = matcher.same(original, candidate);
            let (mismatch, postponed) = (matcher.mismatch.take(), matcher.postponed);
            if !same {
                return Err((index, mismatch.unwrap_or(Mismatch { trail: vec![(original, candidate)] })));
            }
            if postponed {
                self.late.push_back(index);
            }
            growing.added
        };
        self.total += added.len();
        if self.total > MOST_EQUATIONS {
            return Err((index, Mismatch { trail: vec![(original, candidate)] }));
        }
        for (a, b) in added {
            for k in 0..self.product.points[point].into.len() {
                let edge = self.product.points[point].into[k];
                let (x, y) = (self.product.carried(edge, a), self.product.carried(edge, b));
                let from = self.product.edges[edge].from;
                if x != y && !self.equations[from].contains_key(&(x, y)) {
                    self.need(from, x, y, Source::Edge(edge, (a, b)));
                }
            }
        }
        Ok(())
    }

    /// What may fault in the candidate and was not needed for anything must still be something of the original.
    fn cover_faults(&mut self) -> Result<(), (usize, Mismatch)> {
        for point in 0..self.product.points.len() {
            let ours = self.product.points[point].original.faultable.clone();
            let theirs = self.product.points[point].candidate.faultable.clone();
            let may_reorder = self.product.original.may_reorder;
            let mut next = 0;
            for (j, fault) in theirs.iter().enumerate() {
                let b = &fault.value;
                let mut best = None;
                for k in 0..ours.len() {
                    let at = (next + k) % ours.len();
                    if !ours[at].is_when(fault, may_reorder) {
                        continue;
                    }
                    match self.plausible(point, ours[at].value, *b) {
                        Evidence::Yes => {
                            best = Some(at);
                            break;
                        }
                        Evidence::Maybe | Evidence::Unlikely if best.is_none() => best = Some(at),
                        _ => {}
                    }
                }
                let at = best.unwrap_or(0);
                let need = self.needs.len();
                let a = ours.get(at).map_or(*b, |fault| fault.value);
                self.needs.push(Need { point, original: a, candidate: *b, source: Source::Fault(at, j) });
                if best.is_none() {
                    return Err((need, Mismatch { trail: vec![(a, *b)] }));
                }
                next = at + 1;
                self.final_round = true;
                self.meet(need)?;
                while let Some(need) = self.queue.pop_front() {
                    self.meet(need)?;
                }
            }
        }
        Ok(())
    }

    fn plausible(&mut self, point: usize, a: Id, b: Id) -> Evidence {
        let Product { original: before, candidate: after, values, points, edges } = &mut self.product;
        let Point { original: ours, candidate: theirs, .. } = &points[point];
        let mut growing = Growing {
            equations: &mut self.equations[point],
            need: 0,
            is_entry: point == 0,
            final_round: true,
            added: Vec::new(),
            user: None,
            point,
            trial: &mut self.trial,
            stage: Stage { original: before, candidate: after, points, edges },
        };
        let mut matcher = Matcher::new(values, ours, theirs, &mut growing, &mut self.memories[point]);
        matcher.plausible(a, b)
    }

    fn finish(self) -> Inference<'a> {
        Inference { product: self.product, needs: self.needs, equations: self.equations }
    }
}
