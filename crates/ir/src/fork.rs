//! Branches on data: both sides run, one after the other, to where they meet, and what they changed becomes choices.
//!
//! Every change is noted while a side runs, so that it can be taken back. The sides meet at the first block that all ways to the return
//! go through, or at the return.

use crate::datum::Datum;
use crate::machine::{Arrival, Machine, Run};
use crate::module::{Edge, Kind};
use crate::region::{Slot, TAIL, UNTOUCHED};
use rustc_hash::FxHashMap;
use updates::{Cmp, Constant, Domain};

/// Most branches inside each other.
const DEEPEST: usize = 48;
/// Most branches of a run.
const MOST: usize = 4_000_000;

/// How a change is taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Undo<V> {
    /// A register, by number from the outermost call's first, held this.
    Register(usize, Datum<V>),
    /// A cell of a region held this.
    Slot(u32, u32, Slot<V>),
    /// A region was alive.
    Life(u32),
}

/// A place that a side may change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
enum Site {
    Register(usize),
    Slot(u32, u32),
    Life(u32),
}

/// What a place holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Content<V> {
    Register(Datum<V>),
    Slot(Slot<V>),
    Dead,
}

impl<V> Undo<V> {
    fn site(&self) -> Site {
        match self {
            Undo::Register(index, _) => Site::Register(*index),
            Undo::Slot(region, index, _) => Site::Slot(*region, *index),
            Undo::Life(region) => Site::Life(*region),
        }
    }
}

/// How a side starts.
enum Start<'a> {
    Edge(&'a Edge),
    /// The cases of a switch from this one on.
    Rest(usize),
}

/// A switch on data.
struct Cases<'a, V> {
    value: V,
    numbers: Vec<V>,
    ty: updates::Scalar,
    edges: &'a [Edge],
}

type Changes<V> = FxHashMap<Site, Content<V>>;
/// What one side leaves.
type Attempt<V> = (Arrival<V>, Changes<V>);

impl<D: Domain> Machine<'_, D> {
    /// Runs both sides of a branch to where they meet.
    pub(crate) fn fork(&mut self, cond: D::Value, meet: Option<u32>, yes: &Edge, no: &Edge) -> Run<Arrival<D::Value>> {
        self.both(cond, meet, [Start::Edge(yes), Start::Edge(no)], None)
    }

    /// Runs all sides of a switch on data.
    pub(crate) fn switch(
        &mut self,
        datum: Datum<D::Value>,
        kind: Kind,
        meet: Option<u32>,
        cases: &[u64],
        edges: &[Edge],
    ) -> Run<Arrival<D::Value>> {
        let Some(ty) = self.common(kind.bits(), [datum, datum]) else {
            return Err(self.unsupported("a switch on an integer of an unusual width"));
        };
        let value = self.number(datum, ty)?;
        let mut numbers = Vec::with_capacity(cases.len());
        for case in cases {
            numbers.push(self.number(Datum::Bits(*case), ty)?);
        }
        self.case(&Cases { value, numbers, ty, edges }, 0, meet)
    }

    fn case(&mut self, cases: &Cases<'_, D::Value>, number: usize, meet: Option<u32>) -> Run<Arrival<D::Value>> {
        let Some(case) = cases.numbers.get(number) else {
            return self.side(&Start::Edge(&cases.edges[number]), None, meet);
        };
        let cond = self.domain.compare(Cmp::Eq, cases.ty, cases.value, *case);
        match self.domain.known(cond).map(Constant::is_true) {
            Some(true) => self.side(&Start::Edge(&cases.edges[number]), None, meet),
            Some(false) => self.case(cases, number + 1, meet),
            None => self.both(cond, meet, [Start::Edge(&cases.edges[number]), Start::Rest(number + 1)], Some(cases)),
        }
    }

    fn side(
        &mut self,
        start: &Start<'_>,
        cases: Option<&Cases<'_, D::Value>>,
        meet: Option<u32>,
    ) -> Run<Arrival<D::Value>> {
        match (start, cases) {
            (Start::Edge(edge), _) => {
                if self.arrive(edge, meet) {
                    return Ok(Arrival::Met);
                }
                self.run(meet)
            }
            (Start::Rest(number), Some(cases)) => self.case(cases, *number, meet),
            (Start::Rest(_), None) => Err(self.unsupported("a switch without cases")),
        }
    }

    fn both(
        &mut self,
        cond: D::Value,
        meet: Option<u32>,
        starts: [Start<'_>; 2],
        cases: Option<&Cases<'_, D::Value>>,
    ) -> Run<Arrival<D::Value>> {
        self.forks += 1;
        if self.journals.len() >= DEEPEST || self.forks > MOST {
            return Err(self.unsupported("control depends on data in too many places"));
        }
        let block = self.block;
        let [yes, no] = starts;
        let not = self.domain.not(cond);
        let (first, changed) = self.attempt(&yes, cases, meet, cond)?;
        self.block = block;
        let (second, other) = self.attempt(&no, cases, meet, not)?;
        self.merge(cond, changed, other)?;
        match (first, second) {
            (Arrival::Met, Arrival::Met) => {
                self.block = meet.unwrap_or(block);
                Ok(Arrival::Met)
            }
            (Arrival::Returned(a), Arrival::Returned(b)) => {
                let kind = self.function.result;
                Ok(Arrival::Returned(self.either(cond, kind, a, b)?))
            }
            _ => Err(self.unsupported("one side of a branch on data returns, the other does not")),
        }
    }

    /// Runs a side, takes it back, and says what it changed.
    fn attempt(
        &mut self,
        start: &Start<'_>,
        cases: Option<&Cases<'_, D::Value>>,
        meet: Option<u32>,
        cond: D::Value,
    ) -> Run<Attempt<D::Value>> {
        self.journals.push(Vec::new());
        self.path.push(cond);
        let arrival = self.side(start, cases, meet)?;
        self.path.pop();
        let journal = self.journals.pop().unwrap_or_default();
        let end = self.base + self.function.registers.len();
        let mut changes = Changes::default();
        for undo in journal.iter().rev() {
            // The registers of calls that are over hold nothing.
            if matches!(undo, Undo::Register(index, _) if *index >= end) {
                continue;
            }
            let now = match *undo {
                Undo::Register(index, old) => Content::Register(std::mem::replace(&mut self.registers[index], old)),
                Undo::Slot(region, index, old) => {
                    let region = &mut self.regions[region as usize];
                    region.dirty = true;
                    Content::Slot(std::mem::replace(&mut region.cells[index as usize], old))
                }
                Undo::Life(region) => {
                    let region = &mut self.regions[region as usize];
                    region.alive = true;
                    self.cells += region.cells.len() as u64;
                    Content::Dead
                }
            };
            changes.entry(undo.site()).or_insert(now);
        }
        Ok((arrival, changes))
    }

    fn merge(&mut self, cond: D::Value, yes: Changes<D::Value>, no: Changes<D::Value>) -> Run<()> {
        let mut sites: Vec<Site> = yes.keys().chain(no.keys()).copied().collect();
        sites.sort_unstable();
        sites.dedup();
        // What a value takes apart is only seen where it starts.
        for site in sites {
            match site {
                Site::Register(index) => {
                    let old = self.registers[index];
                    let of = |changes: &Changes<D::Value>| match changes.get(&site) {
                        Some(Content::Register(datum)) => *datum,
                        _ => old,
                    };
                    let kind = index.checked_sub(self.base).and_then(|i| self.function.registers.get(i).copied());
                    let (a, b) = (of(&yes), of(&no));
                    let merged = if a == b { a } else { self.either(cond, kind, a, b)? };
                    if let Some(journal) = self.journals.last_mut() {
                        journal.push(Undo::Register(index, old));
                    }
                    self.registers[index] = merged;
                }
                Site::Slot(region, index) => {
                    let old = self.regions[region as usize].cells[index as usize];
                    let of = |changes: &Changes<D::Value>| match changes.get(&site) {
                        Some(Content::Slot(slot)) => *slot,
                        _ => old,
                    };
                    let merged = self.either_slot(cond, (region, index), of(&yes), of(&no))?;
                    if let Some(journal) = self.journals.last_mut() {
                        journal.push(Undo::Slot(region, index, old));
                    }
                    let region = &mut self.regions[region as usize];
                    (region.cells[index as usize], region.dirty) = (merged, true);
                }
                Site::Life(number) => {
                    let region = &mut self.regions[number as usize];
                    region.alive = false;
                    self.cells -= region.cells.len() as u64;
                    if let Some(journal) = self.journals.last_mut() {
                        journal.push(Undo::Life(number));
                    }
                }
            }
        }
        Ok(())
    }

    fn either_slot(
        &mut self,
        cond: D::Value,
        (region, index): (u32, u32),
        yes: Slot<D::Value>,
        no: Slot<D::Value>,
    ) -> Run<Slot<D::Value>> {
        if yes == no {
            return Ok(yes);
        }
        // The rest of a value that starts in a cell before, which both sides then have.
        if let (UNTOUCHED, TAIL) | (TAIL, UNTOUCHED) = (yes.bytes, no.bytes) {
            return Ok(if yes.bytes == TAIL { yes } else { no });
        }
        let [yes, no] = [(yes, no), (no, yes)].map(|(slot, other)| self.touched(region, index, slot, other));
        let (yes, no) = (yes?, no?);
        if yes.bytes != no.bytes || yes.bytes == UNTOUCHED || yes.bytes == TAIL {
            return Err(self.unsupported("a branch on data leaves cells of different widths"));
        }
        let float = yes.float || no.float;
        let kind = match (float, yes.bytes) {
            (true, 4) => Kind::Float,
            (true, _) => Kind::Double,
            (false, bytes) => Kind::Int(8 * bytes),
        };
        let datum = self.either(cond, Some(kind), yes.datum, no.datum)?;
        Ok(Slot { datum, bytes: yes.bytes, float })
    }

    /// A cell that nobody touched, as the other side knows it.
    fn touched(&mut self, region: u32, index: u32, slot: Slot<D::Value>, other: Slot<D::Value>) -> Run<Slot<D::Value>> {
        if slot.bytes != UNTOUCHED || other.bytes == TAIL || other.bytes == UNTOUCHED {
            return Ok(slot);
        }
        let datum = self.untouched(region as usize, index as usize, other)?;
        Ok(Slot { datum, ..other })
    }
}
