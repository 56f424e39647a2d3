//! The check of a claim.

use super::{Claim, ClaimedPoint};
use crate::{CheckedProof, Counts};
use machine::{
    Agreement, Choice, Event, EventKind, Evidence, Function, Hypotheses, Id, Kind, Location, Matcher, Memory, Misfit,
    Place, Plan, Point, Product, Run, Side, Values, overlap,
};
use program::Assumption;
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a claim was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Rejected {
    /// The claim is nonsense.
    Malformed(String),
    /// Something in a function has no meaning here: line and what.
    Unsupported(u32, String),
    /// The programs are not in step as claimed.
    OutOfStep(Misfit),
    /// The functions' frames or data differ.
    Frame(String),
    /// An instruction breaks a constraint of the machine: line and what.
    Violation(u32, String),
    /// Something is not equal: the blocks, and what.
    Unequal((u32, u32), String),
}

/// Checks a claim about two functions.
pub fn check(original: &Function, candidate: &Function, claim: &Claim) -> Result<CheckedProof, Rejected> {
    for function in [original, candidate] {
        if let Some((line, what)) = &function.gap {
            return Err(Rejected::Unsupported(*line, what.clone()));
        }
        if let Some((line, what)) = &function.violation {
            return Err(Rejected::Violation(*line, what.clone()));
        }
    }
    check_frames(original, candidate)?;
    let mut plan = Claimed::new(claim)?;
    let product = Product::walk(original, candidate, &mut plan).map_err(Rejected::OutOfStep)?;
    let mut checker = Checker { product, known: Vec::new(), memories: Vec::new(), counts: Counts::default() };
    checker.learn(&plan)?;
    checker.entry()?;
    for point in 0..checker.product.points.len() {
        checker.point(point)?;
    }
    let mut assumptions = Vec::new();
    if checker.memories.iter().any(|m| !m.unaliased.is_empty()) || checker.reordered() {
        assumptions.push(Assumption::IrNoalias);
    }
    if checker.memories.iter().any(|m| m.nan_payload) {
        assumptions.push(Assumption::NanPayload);
    }
    Ok(CheckedProof::new(original.name.clone(), candidate.name.clone(), assumptions, checker.counts))
}

/// The allocator adds spill slots; everything else of the frame and the data stays.
fn check_frames(original: &Function, candidate: &Function) -> Result<(), Rejected> {
    // A rematerialised constant may be put into the constant pool.
    let kept = |o: &&machine::Object| original.objects.binary_search(o).is_ok() || is_new_constant(original, o);
    let differs = original.objects.iter().find(|o| candidate.objects.binary_search(o).is_err());
    let differs = differs.or_else(|| candidate.objects.iter().find(|o| !kept(o)));
    if differs.is_some() {
        let name = differs.map_or("", |o| o.name.as_str());
        return Err(Rejected::Frame(format!("{name} is not the same in both functions")));
    }
    if original.module != candidate.module {
        return Err(Rejected::Frame("the functions belong to different modules".to_string()));
    }
    if let Some(need) = candidate.needs.iter().find(|need| !original.needs.contains(need)) {
        return Err(Rejected::Frame(format!("the candidate needs a processor with `{need}`")));
    }
    let shape = |function: &Function| function.tables.iter().map(Vec::len).collect::<Vec<usize>>();
    if shape(original) != shape(candidate) {
        return Err(Rejected::Frame("the jump tables differ".to_string()));
    }
    let reserved = |function: &Function| function.reserved.clone();
    if reserved(original) != reserved(candidate) {
        return Err(Rejected::Frame("the functions reserve different registers".to_string()));
    }
    Ok(())
}

fn is_new_constant(original: &Function, object: &machine::Object) -> bool {
    object.name.starts_with("%const.") && !original.objects.iter().any(|o| o.name == object.name)
}

/// The claim's points by their blocks.
struct Claimed<'a> {
    points: FxHashMap<(u32, u32), &'a ClaimedPoint>,
}

impl<'a> Claimed<'a> {
    fn new(claim: &'a Claim) -> Result<Claimed<'a>, Rejected> {
        let mut points = FxHashMap::default();
        for point in &claim.points {
            if points.insert(point.blocks, point).is_some() {
                return Err(Rejected::Malformed("a pair of blocks is claimed twice".to_string()));
            }
        }
        Ok(Claimed { points })
    }
}

impl Plan for Claimed<'_> {
    fn choose(&mut self, original: u32, candidate: u32) -> Choice {
        if self.points.contains_key(&(original, candidate)) { Choice::Together } else { Choice::Through }
    }

    fn order(&mut self, _: &mut Values, blocks: (u32, u32), _: &Run, candidate: &Run) -> Option<Vec<u32>> {
        let order = self.points.get(&blocks)?.order.clone()?;
        // Anything but a permutation is refused later, as events that differ.
        (order.len() == candidate.events.len()).then_some(order)
    }
}

/// The equations of one point.
#[derive(Default)]
struct Known {
    list: Vec<(Id, Id)>,
    exact: FxHashSet<(Id, Id)>,
    /// Equations by the location of the original's or of the candidate's side, once it is asked for.
    by_location: Option<ByLocation>,
    is_entry: bool,
}

/// A part of a location.
fn lane_of(values: &Values, id: Id) -> Option<(Side, Location, u16)> {
    let (of, low) = match values.kind(id) {
        Kind::Extract(low) => (values.arg(id, 0), low),
        _ => (id, 0),
    };
    match values.kind(of) {
        Kind::Input(side, location) => Some((side, location, low)),
        _ => None,
    }
}

impl Known {
    /// Is the equation, or one about more bits, among the known ones?
    fn holds(&mut self, values: &mut Values, a: Id, b: Id) -> bool {
        if self.exact.contains(&(a, b)) {
            return true;
        }
        let bits = values.bits(a);
        let by_location = self.by_location.get_or_insert_with(|| by_location(values, &self.list));
        for (id, ours) in [(a, true), (b, false)] {
            let Some((side, location, low)) = lane_of(values, id) else { continue };
            let Some(equations) = by_location.get(&(side, location)) else { continue };
            for (x, y) in equations {
                let (here, there) = if ours { (*x, *y) } else { (*y, *x) };
                let Some((_, _, first)) = lane_of(values, here) else { continue };
                if first > low || low + bits > first + values.bits(here) {
                    continue;
                }
                let part = values.extract(there, low - first, bits);
                if part == if ours { b } else { a } {
                    return true;
                }
            }
        }
        false
    }
}

/// Equations by the locations that they speak of.
type ByLocation = FxHashMap<(Side, Location), Vec<(Id, Id)>>;

fn by_location(values: &Values, equations: &[(Id, Id)]) -> ByLocation {
    let mut sorted = ByLocation::default();
    for (a, b) in equations {
        for id in [a, b] {
            if let Some((side, location, _)) = lane_of(values, *id) {
                sorted.entry((side, location)).or_default().push((*a, *b));
            }
        }
    }
    sorted
}

/// Both functions start in the same machine state: equal registers are equal.
fn same_at_entry(values: &Values, a: Id, b: Id) -> bool {
    match (lane_of(values, a), lane_of(values, b)) {
        (Some((_, ours, low)), Some((_, theirs, first))) => {
            ours == theirs && low == first && matches!(ours.place(), Place::Physical(_))
        }
        _ => false,
    }
}

impl Hypotheses for Known {
    const EXACT: bool = true;

    fn agree(&mut self, _: &mut Values, _: Id, _: Id) -> Agreement {
        Agreement::Unclear
    }

    fn evidence(&mut self, values: &mut Values, a: Id, b: Id) -> Evidence {
        if self.is_entry {
            return if same_at_entry(values, a, b) { Evidence::Yes } else { Evidence::No };
        }
        if self.exact.contains(&(a, b)) {
            return Evidence::Yes;
        }
        if self.holds(values, a, b) { Evidence::Yes } else { Evidence::No }
    }

    fn require(&mut self, values: &mut Values, a: Id, b: Id) -> bool {
        if self.is_entry { same_at_entry(values, a, b) } else { self.holds(values, a, b) }
    }

    fn postpone(&mut self) -> bool {
        false
    }
}

struct Checker<'a> {
    product: Product<'a>,
    known: Vec<Known>,
    memories: Vec<Memory>,
    counts: Counts,
}

impl Checker<'_> {
    /// Builds the claimed equations.
    fn learn(&mut self, plan: &Claimed<'_>) -> Result<(), Rejected> {
        let (original, candidate) = (self.product.original, self.product.candidate);
        for point in &self.product.points {
            let mut known = Known::default();
            let claimed = plan.points.get(&point.blocks).map_or(&[][..], |p| &p.equations);
            known.list.reserve(claimed.len());
            known.exact.reserve(claimed.len());
            for (ours, theirs) in claimed {
                let a = ours.build(&mut self.product.values, &|l| original.width(l), Side::Original);
                let b = theirs.build(&mut self.product.values, &|l| candidate.width(l), Side::Candidate);
                let (Some(a), Some(b)) = (a, b) else {
                    return Err(Rejected::Malformed("an equation makes no sense".to_string()));
                };
                let values = &self.product.values;
                if values.bits(a) != values.bits(b) {
                    return Err(Rejected::Malformed("an equation between different widths".to_string()));
                }
                if known.exact.insert((a, b)) {
                    known.list.push((a, b));
                }
            }
            self.known.push(known);
            self.memories.push(Memory::new(self.product.original.may_reorder));
        }
        self.counts.points = self.product.points.len();
        Ok(())
    }

    /// The first point's equations hold when the functions are entered.
    fn entry(&mut self) -> Result<(), Rejected> {
        let mut entry = Known { is_entry: true, ..Known::default() };
        let equations = self.known[0].list.clone();
        let nothing = Run::default();
        let mut memory = Memory::default();
        for (a, b) in equations {
            let mut matcher = Matcher::new(&mut self.product.values, &nothing, &nothing, &mut entry, &mut memory);
            if !matcher.same(a, b) {
                return Err(Rejected::Unequal((0, 0), "an equation does not hold at the entry".to_string()));
            }
            self.counts.obligations += 1;
        }
        Ok(())
    }

    fn same(&mut self, point: usize, a: Id, b: Id) -> bool {
        self.counts.obligations += 1;
        if a == b || self.known[point].exact.contains(&(a, b)) {
            return true;
        }
        let Point { original, candidate, .. } = &self.product.points[point];
        let mut matcher = Matcher::new(
            &mut self.product.values,
            original,
            candidate,
            &mut self.known[point],
            &mut self.memories[point],
        );
        matcher.same(a, b)
    }

    fn point(&mut self, index: usize) -> Result<(), Rejected> {
        let blocks = self.product.points[index].blocks;
        let unequal = |what: String| Err(Rejected::Unequal(blocks, what));
        let pairs = match self.pair_events(index) {
            Ok(pairs) => pairs,
            Err(what) => return unequal(what),
        };
        for (i, j) in pairs {
            let point = &self.product.points[index];
            let (ours, theirs) = (point.original.events[i].clone(), point.candidate.events[j].clone());
            if ours.kind != theirs.kind || ours.args.len() != theirs.args.len() {
                return unequal(format!("event {i} is not the same"));
            }
            for (a, b) in ours.args.iter().zip(&theirs.args) {
                if !self.same(index, *a, *b) {
                    return unequal(format!("event {i} reads something else"));
                }
            }
        }
        for (a, b, _) in self.product.points[index].flags.clone() {
            if !self.same(index, a, b) {
                return unequal("a branch depends on something else".to_string());
            }
        }
        if !self.covers_faults(index) {
            return unequal("the candidate may fault where the original does not".to_string());
        }
        for edge in self.product.points[index].out.clone() {
            let to = self.product.edges[edge].to;
            let mut chosen: FxHashMap<Location, Vec<(u16, Id)>> = FxHashMap::default();
            for k in 0..self.known[to].list.len() {
                let (a, b) = self.known[to].list[k];
                let (x, y) = (self.product.carried(edge, a), self.product.carried(edge, b));
                if !self.same(index, x, y) {
                    return unequal("an equation does not hold behind the block".to_string());
                }
                if self.product.values.is_free(x) && !self.choose_once(&mut chosen, a, y) {
                    return unequal("an undefined value would have to be two values".to_string());
                }
            }
        }
        Ok(())
    }

    /// A value of the original that does not matter becomes, on one edge, one value of the candidate.
    fn choose_once(&mut self, chosen: &mut FxHashMap<Location, Vec<(u16, Id)>>, original: Id, candidate: Id) -> bool {
        let values = &mut self.product.values;
        let Some((_, location, low)) = lane_of(values, original) else { return false };
        let end = low + values.bits(candidate);
        let before = chosen.entry(location).or_default();
        for (first, other) in before.iter() {
            let (from, to) = (low.max(*first), end.min(first + values.bits(*other)));
            if from >= to {
                continue;
            }
            let (x, y) =
                (values.extract(candidate, from - low, to - from), values.extract(*other, from - first, to - from));
            if x != y {
                return false;
            }
        }
        before.push((low, candidate));
        true
    }

    /// Which event of the original is which of the candidate. Stores may change places if they do not overlap.
    fn pair_events(&mut self, index: usize) -> Result<Vec<(usize, usize)>, String> {
        let point = &self.product.points[index];
        let (ours, theirs) = (&point.original.events, &point.candidate.events);
        if ours.len() != theirs.len() {
            return Err(format!("the original has {} events, the candidate {}", ours.len(), theirs.len()));
        }
        let Some(order) = &point.order else { return Ok((0..ours.len()).map(|i| (i, i)).collect()) };
        if !self.product.original.may_reorder {
            return Err("the allocator does not reorder stores".to_string());
        }
        let mut seen = vec![false; ours.len()];
        for number in order {
            match seen.get_mut(*number as usize) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err("the claimed order is no order".to_string()),
            }
        }
        for (j, later) in order.iter().enumerate() {
            for earlier in order[..j].iter().filter(|earlier| *earlier > later) {
                let (a, b) = (&ours[*earlier as usize], &ours[*later as usize]);
                if !may_swap(&self.product.values, a, b) {
                    return Err("events that may not change places did".to_string());
                }
            }
        }
        Ok(order.iter().enumerate().map(|(j, i)| (*i as usize, j)).collect())
    }

    /// Were stores taken not to overlap because they changed places?
    fn reordered(&self) -> bool {
        self.product.points.iter().any(|point| point.order.is_some())
    }

    /// What may fault in the candidate is computed by the original too, between the same events; and a division of the
    /// original is not left out.
    fn covers_faults(&mut self, index: usize) -> bool {
        let point = &self.product.points[index];
        let (ours, theirs) = (point.original.faultable.clone(), point.candidate.faultable.clone());
        let may_reorder = self.product.original.may_reorder;
        let mut next = 0;
        let mut done = vec![false; ours.len()];
        for fault in theirs {
            let mut found = false;
            for k in 0..ours.len() {
                let at = (next + k) % ours.len();
                if ours[at].is_when(&fault, may_reorder) && self.same(index, ours[at].value, fault.value) {
                    next = at + 1;
                    done[at] = true;
                    found = true;
                    break;
                }
            }
            if !found {
                return false;
            }
        }
        // Two of the original that compute the same are done by one of the candidate.
        (0..ours.len()).all(|i| {
            let fault = &ours[i];
            !fault.required
                || done[i]
                || (0..ours.len())
                    .any(|j| done[j] && ours[j].value == fault.value && ours[j].is_when(fault, may_reorder))
        })
    }
}

/// Two plain stores whose bytes are not known to overlap.
fn may_swap(values: &Values, a: &Event, b: &Event) -> bool {
    match (a.kind, b.kind) {
        (EventKind::Store(x), EventKind::Store(y)) => overlap(values, a.args[1], x / 8, b.args[1], y / 8) != Some(true),
        _ => false,
    }
}
