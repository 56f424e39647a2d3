//! Abstraction points: pairs of loop heads where what the loop changes is forgotten, except for what a certificate
//! says about it.
//!
//! The state that the loop is entered with keeps its terms wherever the certificate does not forget: each time an edge
//! comes back, what was kept must be unchanged and what was claimed must hold again. Forgotten places are new variables,
//! or terms over others where a definition says so.
//!
//! Trust: full. Nothing that a claim says is used before the arrivals that it rests on are checked; the walk checks all.

use crate::objects::certificate::{MemoryClaim, PointClaim};
use crate::objects::changes::{ReadBlock, ReadChange, read_blocks, read_changes};
use crate::objects::exits::{Gaps, NOWHERE, accesses_before};
use crate::objects::expression::Expression;
use crate::objects::location::{Location, Spot};
use crate::objects::obligation::{FactKind, Failure, Ignored};
use crate::objects::product::{Checker, Entered, MemoryAt, MemoryPart, Obligation, Point, Rejection};
use program::{Flag, PointId, Register, Side};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use symbolic::{Access, Event, Known, Run, State};
use term::{Sort, TermId};

/// A claim that did not hold where it must.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FailedClaim {
    /// A place that was to stay unchanged changes.
    Changed {
        /// Index of the point.
        point: usize,
        /// The place.
        location: String,
    },
    /// A definition does not hold.
    Definition {
        /// Index of the point.
        point: usize,
        /// Index of the definition.
        index: usize,
    },
    /// A condition does not hold.
    Condition {
        /// Index of the point.
        point: usize,
        /// Index of the condition.
        index: usize,
    },
    /// The original need not have accessed bytes that it was to have accessed.
    Seen {
        /// Index of the point.
        point: usize,
        /// Index of the claim.
        index: usize,
    },
    /// The original need not have accessed a block that it was to have accessed.
    Accessed {
        /// Index of the point.
        point: usize,
        /// Index of the claim.
        index: usize,
    },
    /// The world changes though it was to stay as it is.
    World {
        /// Index of the point.
        point: usize,
    },
    /// The memory of a local object is not what was claimed.
    Local {
        /// Index of the point.
        point: usize,
        /// Index of the local object.
        local: usize,
    },
}

/// A claim about a point, read and checked for sense.
#[derive(Clone)]
pub(crate) struct Abstraction {
    /// Number of the claim.
    pub number: usize,
    /// The points of both sides; where the original rests, that of its event is filled in when it is known.
    pub heads: [PointId; 2],
    /// Where the original rests.
    pub resting: Option<Event>,
    pub waits: bool,
    forget: Vec<Location>,
    world: MemoryClaim,
    pub ahead: Vec<ReadChange>,
    pub behind: Vec<ReadChange>,
    pub accessed: Vec<ReadBlock>,
    /// What becomes smaller with every turn of the candidate, where the original rests.
    pub alone: Option<Expression>,
    locals: Vec<MemoryClaim>,
    define: Vec<(Location, Expression)>,
    hold: Vec<Expression>,
    seen: Vec<(Expression, u16)>,
}

impl Abstraction {
    /// Reads a claim.
    pub fn read(number: usize, claim: &PointClaim) -> Result<Abstraction, String> {
        let forget: Vec<Location> = claim.forget.iter().map(|t| t.parse()).collect::<Result<_, _>>()?;
        let whole = |l: &Location| Some(l.width) == l.spot.width();
        if forget.iter().any(|l| !whole(l) || l.spot == Spot::Register(Register::RSP)) {
            return Err("a part of a place or the stack pointer is forgotten".to_string());
        }
        if forget.iter().enumerate().any(|(i, a)| forget[..i].iter().any(|b| a.overlaps(b))) {
            return Err("a place is forgotten twice".to_string());
        }
        if claim.world == MemoryClaim::Apart {
            return Err("the worlds must be equal".to_string());
        }
        let mut define: Vec<(Location, Expression)> = Vec::new();
        let mut read: Vec<Location> = Vec::new();
        for (target, text) in &claim.define {
            let (target, expression) = (target.parse::<Location>()?, Expression::parse(text)?);
            if !forget.iter().any(|l| l.side == target.side && l.spot == target.spot) {
                return Err(format!("{target} is defined but not forgotten"));
            }
            expression.places(&mut read);
            if read.iter().chain(define.iter().map(|(l, _)| l)).any(|l| l.overlaps(&target)) {
                return Err(format!("{target} is used before it is defined, or defined twice"));
            }
            define.push((target, expression));
        }
        let (ahead, behind) = (read_changes(&claim.ahead)?, read_changes(&claim.behind)?);
        let changes: Vec<&ReadChange> = ahead.iter().chain(&behind).collect();
        let compared = |local: Option<usize>| {
            let memory = local.map_or(claim.world, |l| claim.locals.get(l).copied().unwrap_or_default());
            memory == MemoryClaim::Equal
        };
        if !(ahead.is_empty() || behind.is_empty()) || changes.iter().any(|c| !compared(c.local())) {
            return Err("a memory that is not compared is excepted".to_string());
        }
        let alone = claim.alone.as_deref().map(Expression::parse).transpose()?;
        if alone.is_some() && (claim.waits || forget.iter().any(|l| l.side == Side::Original)) {
            return Err("what rests does not change".to_string());
        }
        let hold = claim.hold.iter().map(|t| Expression::parse(t)).collect::<Result<_, _>>()?;
        let mut seen = Vec::new();
        for (address, bytes) in &claim.seen {
            if !(1..=64).contains(bytes) {
                return Err(format!("{bytes} bytes at once are said to be accessed"));
            }
            seen.push((Expression::parse(address)?, *bytes));
        }
        let heads = [PointId(claim.original), PointId(claim.candidate)];
        Ok(Abstraction {
            number,
            heads,
            resting: None,
            waits: claim.waits,
            forget,
            world: claim.world,
            ahead,
            behind,
            accessed: read_blocks(&claim.accessed)?,
            alone,
            locals: claim.locals.clone(),
            define,
            hold,
            seen,
        })
    }

    /// The claim for an event at which the original rests.
    pub fn resting_at(&self, event: Event) -> Abstraction {
        Abstraction { heads: [event.point(), self.heads[1]], resting: Some(event), ..self.clone() }
    }

    /// Which claim this is, and for which event.
    fn key(&self) -> (usize, Option<Event>) {
        (self.number, self.resting)
    }

    /// Do both sides go on from here, rather than one alone?
    pub fn is_meeting(&self) -> bool {
        !self.waits && self.alone.is_none()
    }

    fn local(&self, index: usize) -> MemoryClaim {
        self.locals.get(index).copied().unwrap_or_default()
    }

    /// A forgotten place, cut where definitions of parts of it begin and end: each piece is a variable of its own.
    fn pieces(&self, location: &Location) -> Vec<Location> {
        let same = |l: &&Location| l.side == location.side && l.spot == location.spot;
        let mut cuts = vec![0, location.width];
        cuts.extend(self.define.iter().map(|(l, _)| l).filter(same).flat_map(|l| [l.low, l.low + l.width]));
        cuts.sort_unstable();
        cuts.dedup();
        cuts.windows(2).map(|w| Location { low: w[0], width: w[1] - w[0], ..*location }).collect()
    }

    fn forgets(&self, location: &Location) -> bool {
        self.forget.iter().any(|l| l.overlaps(location))
    }
}

/// What a forgotten place holds on the edges that lead to its point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// No frame address.
    Other,
    /// An address made from one in the own frame by adding to it.
    Frame,
    /// Anything else that depends on where the frame is.
    Mixed,
}

/// What forgotten places hold, by their points.
pub(crate) type Frames = BTreeMap<((usize, Option<Event>), Location), Held>;

impl FailedClaim {
    /// The same failure, said of the claim of a point instead of the point.
    pub(crate) fn of_claim(mut self, points: &[Abstraction]) -> FailedClaim {
        let (FailedClaim::Changed { point, .. }
        | FailedClaim::Definition { point, .. }
        | FailedClaim::Condition { point, .. }
        | FailedClaim::Seen { point, .. }
        | FailedClaim::Accessed { point, .. }
        | FailedClaim::World { point }
        | FailedClaim::Local { point, .. }) = &mut self;
        *point = points[*point].number;
        self
    }
}

impl Checker<'_, '_> {
    /// The states at a point that edges lead to for the first time: what the loop changes is forgotten.
    pub(crate) fn forget(&mut self, index: usize, mut point: Point) -> Result<Point, Rejection> {
        let malformed = |what: String| Rejection::Malformed(what);
        let [a, b] = &mut point.states;
        self.context.publish_all(a);
        self.context.publish_all(b);
        self.context.tick();
        self.free.clear();
        let claim = &self.points[index];
        for location in claim.forget.clone() {
            for piece in self.points[index].pieces(&location) {
                let hint = format!("{piece}@{index}");
                let held = self.frames.get(&(self.points[index].key(), location)).copied().unwrap_or(Held::Other);
                let mut fresh = match held {
                    Held::Mixed => self.context.fresh_frame_value(&hint, Sort::Bv(piece.width)),
                    Held::Other | Held::Frame => self.context.fresh(&hint, Sort::Bv(piece.width)),
                };
                self.free.extend(self.context.arena.as_var(fresh));
                if piece.side == Side::Candidate {
                    self.context.note_candidate_value(fresh);
                }
                if held == Held::Frame {
                    // Any distance from the stack pointer; what it was derived from says that it points into the frame.
                    let base = self.context.entry_rsp(piece.side);
                    fresh = self.context.arena.add(base, fresh);
                }
                piece.write(self.context.arena, &mut point.states[piece.side.index()], fresh);
            }
        }
        for side in Side::BOTH {
            let state = &mut point.states[side.index()];
            for register in Register::all().filter(|r| is_scratch(*r)) {
                let value = self.context.fresh_undefined(&format!("{}@{index}", register.name()), register.sort());
                state.set(register, value);
            }
            state.frame.base = self.context.fresh(&format!("frame.{}", side.name()), Sort::Memory);
            // The original may rest at a call.
            if side == Side::Candidate || self.points[index].alone.is_none() {
                (state.call_target, state.renamed, state.tail) = (None, None, false);
            }
        }
        let claim = &self.points[index];
        if claim.world == MemoryClaim::Equal {
            let world = self.context.fresh("world", Sort::Memory);
            point.states.iter_mut().for_each(|s| s.world = world);
        }
        for local in 0..point.states[0].locals.len() {
            match claim.local(local) {
                MemoryClaim::Kept => {}
                MemoryClaim::Equal => {
                    let memory = self.context.fresh("local", Sort::Memory);
                    point.states.iter_mut().for_each(|s| s.locals[local] = memory);
                }
                MemoryClaim::Apart => {
                    for state in &mut point.states {
                        state.locals[local] = self.context.fresh("local", Sort::Memory);
                    }
                    self.context.note_candidate_value(point.states[1].locals[local]);
                }
            }
        }
        for (target, expression) in claim.define.clone() {
            let value = expression.term(self.context, &point.states).map_err(malformed)?;
            if self.context.arena.sort(value) != Sort::Bv(target.width) {
                return Err(Rejection::Malformed(format!("{target} is defined at another width")));
            }
            target.write(self.context.arena, &mut point.states[target.side.index()], value);
        }
        self.put_ahead(index, &mut point.states)?;
        point.touched = self.accessed(index, &point.states)?;
        self.note_blocks(&point, index)?;
        for expression in self.points[index].hold.clone() {
            let holds = expression.term(self.context, &point.states).map_err(malformed)?;
            if self.context.arena.sort(holds) != Sort::Bool {
                return Err(Rejection::Malformed("a condition is no truth value".to_string()));
            }
            point.condition = self.context.arena.bool_and(point.condition, holds);
        }
        Ok(point)
    }

    /// An edge arrives at a point: what is claimed there must hold, and if it comes back, what was kept must be
    /// unchanged. What fails is noted; the error is for what no other claim could mend.
    pub(crate) fn check_arrival(&mut self, index: usize, at: &mut Point, original: &Run) -> Result<(), Rejection> {
        let [a, b] = &mut at.states;
        self.context.publish_all(a);
        self.context.publish_all(b);
        let known = Known::from_condition(self.context.arena, at.condition);
        if let Some(entered) = self.entered[index].clone() {
            self.check_entered(index, at, &entered, &known)?;
            self.check_kept(index, at, &entered.point, &known);
        }
        self.note_frames(index, at);
        let states = self.defined_over(index, &at.states);
        self.check_memories(index, at, &known, &states)?;
        let mut goals: Vec<(TermId, FailedClaim)> = Vec::new();
        for (i, (target, expression)) in self.points[index].define.clone().into_iter().enumerate() {
            let wanted = expression.term(self.context, &states).map_err(Rejection::Malformed)?;
            let value = target.read(self.context.arena, &at.states[target.side.index()]);
            if self.context.arena.sort(wanted) != self.context.arena.sort(value) {
                return Err(Rejection::Malformed(format!("{target} is defined at another width")));
            }
            let same = self.equality(&known, value, wanted);
            goals.push((same, FailedClaim::Definition { point: index, index: i }));
        }
        for (i, expression) in self.points[index].hold.clone().into_iter().enumerate() {
            let holds = expression.term(self.context, &at.states).map_err(Rejection::Malformed)?;
            if self.context.arena.sort(holds) != Sort::Bool {
                return Err(Rejection::Malformed("a condition is no truth value".to_string()));
            }
            goals.push((holds, FailedClaim::Condition { point: index, index: i }));
        }
        self.prove_all(at, &known, goals);
        for (i, block) in self.accessed(index, &at.states)?.into_iter().enumerate() {
            if self.covers_block(at, &known, &block, original).is_err() {
                self.failed.insert(FailedClaim::Accessed { point: index, index: i });
            }
        }
        for (i, read) in self.seen(index, at)?.into_iter().enumerate() {
            let before = accesses_before(at);
            let others: Vec<&Access> = before.iter().collect();
            if !self.covers(at, &known, &read, &others, Gaps::Open) {
                self.failed.insert(FailedClaim::Seen { point: index, index: i });
            }
        }
        Ok(())
    }

    /// Is there a definition of the point that certainly does not hold? A wrong answer costs a proof, nothing else.
    pub(crate) fn is_refuted(&mut self, index: usize, at: &Point) -> bool {
        let known = Known::from_condition(self.context.arena, at.condition);
        let states = self.defined_over(index, &at.states);
        self.points[index].define.clone().into_iter().any(|(target, expression)| {
            let Ok(wanted) = expression.term(self.context, &states) else { return false };
            let value = target.read(self.context.arena, &at.states[target.side.index()]);
            if self.context.arena.sort(wanted) != self.context.arena.sort(value) {
                return false;
            }
            let same = self.equality(&known, value, wanted);
            let same = known.simplify(self.context.arena, same);
            self.context.arena.as_bool(same) == Some(false)
        })
    }

    /// What the original is said to have accessed when both sides are at a point.
    fn seen(&mut self, index: usize, at: &Point) -> Result<Vec<Access>, Rejection> {
        let mut out = Vec::new();
        for (address, bytes) in self.points[index].seen.clone() {
            let address = address.term(self.context, &at.states).map_err(Rejection::Malformed)?;
            if self.context.arena.sort(address) != Sort::Bv(64) {
                return Err(Rejection::Malformed("what is accessed is no address".to_string()));
            }
            let address = self.context.canonical_address(address);
            let guard = self.context.arena.bool(true);
            out.push(Access { guard, address, bytes, write: false, place: NOWHERE });
        }
        Ok(out)
    }

    /// The point with what the original is said to have accessed before as a fact.
    pub(crate) fn with_seen(&mut self, index: usize, mut point: Point) -> Result<Point, Rejection> {
        for read in self.seen(index, &point)? {
            let kind = FactKind::Access { address: read.address, bytes: read.bytes, called_since: false };
            let fact = self.fact(point.condition, kind);
            point.facts.push(fact);
        }
        Ok(point)
    }

    /// The memories are the same, but for what one side is ahead.
    fn check_memories(
        &mut self,
        index: usize,
        at: &Point,
        known: &Known,
        defined: &[State; 2],
    ) -> Result<(), Rejection> {
        let heads = self.points[index].heads;
        let ahead = self.changes(index).map(|(side, _)| side);
        let (expected, excepted) = self.expected(index, defined)?;
        // The original's side first: what it never initialised need not be the same.
        let sides = match ahead {
            Some(Side::Original) => [at.states[0].clone(), expected],
            Some(Side::Candidate) => [expected, at.states[1].clone()],
            None => at.states.clone(),
        };
        let compared = Point { states: sides, ..at.clone() };
        let changed: Vec<Option<usize>> =
            self.changes(index).map_or(Vec::new(), |(_, changes)| changes.iter().map(ReadChange::local).collect());
        let last = changed.last().copied();
        if self.points[index].world == MemoryClaim::Equal {
            match excepted.filter(|_| last == Some(None)) {
                None => self.check_worlds(&compared, known, heads, Ignored::Nothing, MemoryAt::LoopHead)?,
                Some(_) => {
                    let whole = || Obligation::Memory { at: MemoryAt::LoopHead, part: MemoryPart::Whole };
                    let memories = [0, 1].map(|i| compared.states[i].world);
                    self.same_everywhere(at, known, memories, excepted)
                        .map_err(|failure| self.refuse(whole(), heads, failure))?;
                }
            }
        }
        for local in 0..at.states[0].locals.len() {
            let is_changed = changed.contains(&Some(local));
            let escaped = at.states[0].escaped[local];
            if is_changed && self.entered[index].as_ref().is_some_and(|e| e.point.states[0].escaped[local] != escaped) {
                return Err(self.refuse(Obligation::KeepsChanging, heads, Failure::NotShown));
            }
            if self.points[index].local(local) != MemoryClaim::Equal || escaped {
                continue;
            }
            let [a, b] = [0, 1].map(|i| compared.states[i].locals[local]);
            let same = match excepted.filter(|_| last == Some(Some(local))) {
                None => self.prove_same_memory(at, known, a, b, Ignored::Nothing).is_ok(),
                Some(_) => self.same_everywhere(at, known, [a, b], excepted).is_ok(),
            };
            if !same {
                self.failed.insert(FailedClaim::Local { point: index, local });
            }
        }
        Ok(())
    }

    /// Notes which forgotten places hold frame addresses: a variable for one is no pointer to the world.
    fn note_frames(&mut self, index: usize, at: &Point) {
        for location in self.points[index].forget.clone() {
            if self.points[index].define.iter().any(|(target, _)| *target == location) {
                continue;
            }
            let value = location.read(self.context.arena, &at.states[location.side.index()]);
            let whole = location.width == 64 && self.points[index].pieces(&location).len() == 1;
            let held = if !self.context.depends_on_frame(value) {
                Held::Other
            } else if whole {
                let base = self.context.entry_rsp(location.side);
                let distance = self.context.arena.sub(value, base);
                if self.context.depends_on_frame(distance) { Held::Mixed } else { Held::Frame }
            } else {
                Held::Mixed
            };
            let key = (self.points[index].key(), location);
            let before = self.frames.get(&key).copied();
            let joined = if before.is_none_or(|b| b == held) { held } else { Held::Mixed };
            if before != Some(joined) {
                self.frames.insert(key, joined);
                self.late |= self.entered[index].is_some();
            }
        }
    }

    /// What was known when the point was entered must be known on every other edge that leads there.
    fn check_entered(&mut self, index: usize, at: &Point, entered: &Entered, known: &Known) -> Result<(), Rejection> {
        let heads = self.points[index].heads;
        let numbers: FxHashSet<u32> = at.facts.iter().map(|f| f.number).collect();
        if entered.point.facts.iter().any(|f| !numbers.contains(&f.number)) {
            return Err(self.refuse(Obligation::EnteredAgain, heads, Failure::NotShown));
        }
        self.prove(at, known, entered.base).map_err(|failure| self.refuse(Obligation::EnteredAgain, heads, failure))
    }

    /// Proves many goals with few questions: all at once, and without those that a counterexample violates.
    fn prove_all(&mut self, at: &Point, known: &Known, mut goals: Vec<(TermId, FailedClaim)>) {
        for (goal, _) in &mut goals {
            *goal = known.simplify(self.context.arena, *goal);
        }
        goals.retain(|(goal, _)| self.context.arena.as_bool(*goal) != Some(true));
        // Where no counterexample tells, halves are asked about.
        let mut open = vec![goals];
        while let Some(mut goals) = open.pop() {
            let terms: Vec<TermId> = goals.iter().map(|(goal, _)| *goal).collect();
            let all = self.context.arena.bool_and_all(&terms);
            // What is too hard is made smaller first.
            let answer = if goals.len() > 1 {
                self.counts.obligations += 1;
                self.attributed(|checker| checker.ask(at, known, all))
            } else {
                self.prove(at, known, all)
            };
            let Err(failure) = answer else { continue };
            if let Failure::Refuted(model) = &failure {
                let mut evaluator = term::eval::Evaluator::new(self.context.arena, model);
                let (false_ones, rest): (Vec<_>, Vec<_>) =
                    goals.into_iter().partition(|(goal, _)| !evaluator.bool(*goal));
                goals = rest;
                if !false_ones.is_empty() {
                    self.failed.extend(false_ones.into_iter().map(|(_, claim)| claim));
                    open.push(goals);
                    continue;
                }
            }
            if let [(_, claim)] = &goals[..] {
                self.failed.insert(claim.clone());
                continue;
            }
            let rest = goals.split_off(goals.len() / 2);
            open.extend([rest, goals]);
        }
    }

    /// What a point keeps must be as it was when the loop was entered.
    fn check_kept(&mut self, index: usize, at: &Point, entered: &Point, known: &Known) {
        for side in Side::BOTH {
            let (now, then) = (&at.states[side.index()], &entered.states[side.index()]);
            for register in Register::all().filter(|r| !is_scratch(*r)) {
                let (a, b) = (now.get(register), then.get(register));
                let location = Location::whole(side, Spot::Register(register));
                if a == b || location.is_some_and(|l| self.points[index].forgets(&l)) {
                    continue;
                }
                if self.prove_equal(at, known, a, b).is_err() {
                    let location = location.map_or_else(|| "df".to_string(), |l| l.to_string());
                    self.failed.insert(FailedClaim::Changed { point: index, location });
                }
            }
            for (offset, bytes) in self.slots(&[now, then]) {
                let location = Location { side, spot: Spot::Slot { offset, bytes }, low: 0, width: 8 * bytes };
                if self.points[index].forgets(&location) {
                    continue;
                }
                let (a, b) = (location.read(self.context.arena, now), location.read(self.context.arena, then));
                if a != b && self.prove_equal(at, known, a, b).is_err() {
                    self.failed.insert(FailedClaim::Changed { point: index, location: location.to_string() });
                }
            }
            for local in 0..now.locals.len() {
                let kept = self.points[index].local(local) == MemoryClaim::Kept && !then.escaped[local];
                if kept && self.is_changed(at, known, now.locals[local], then.locals[local]) {
                    self.failed.insert(FailedClaim::Local { point: index, local });
                }
            }
            let kept = self.points[index].world == MemoryClaim::Kept;
            if kept && self.is_changed(at, known, now.world, then.world) {
                self.failed.insert(FailedClaim::World { point: index });
            }
        }
    }

    fn is_changed(&mut self, at: &Point, known: &Known, now: TermId, then: TermId) -> bool {
        now != then && self.prove_same_memory(at, known, now, then, Ignored::Exact).is_err()
    }

    /// The stack slots of several states, cut at all borders.
    pub(crate) fn slots(&self, states: &[&State]) -> Vec<(i64, u16)> {
        let mut cells: Vec<(i64, i64)> = Vec::new();
        for state in states {
            let sized =
                state.frame.cells().map(|(at, value)| (at, at + i64::from(self.context.arena.width(value) / 8)));
            cells.extend(sized);
        }
        let mut cuts: Vec<i64> = cells.iter().flat_map(|(a, b)| [*a, *b]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        cells.sort_unstable();
        let covered = |at: i64| {
            let upto = cells.partition_point(|(start, _)| *start <= at);
            cells[..upto].iter().rev().take(128).any(|(_, end)| *end > at)
        };
        cuts.windows(2).filter(|w| covered(w[0])).map(|w| (w[0], (w[1] - w[0]) as u16)).collect()
    }
}

/// Registers that nobody expects to survive a loop head: flags, the direction apart.
pub(crate) fn is_scratch(register: Register) -> bool {
    matches!(register, Register::Flag(flag) if flag != Flag::Direction)
}
