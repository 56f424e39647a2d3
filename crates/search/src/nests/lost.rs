//! The first value that the candidate never computes.
//!
//! Where the programs do not consist of the same instances (an update is missing, a sum is gathered in a scalar, an
//! array is copied first), cells say little about who corresponds to whom, but values do: an instance of the original is kept
//! if its value is one that the candidate computes, anywhere and as part of anything. The first instance
//! that a wrong cell needs and that is not kept is the broken one: all that it reads is still computed.
//! What the candidate computes but leaves in no cell that the caller sees does not count. Constants and copies say
//! nothing by their value; a write of one is lost if the candidate never writes it to that cell, although it does make other
//! instances of the same statement, or if the lost value reads it and the candidate writes something else in its place.
//!
//! Its counterpart is found by going down from a wrong cell through the terms of both sides in step: what stands in the
//! candidate's term where the lost value stands in the original's.

use super::explain::{Broken, Kind, Reading, Search, Side};
use super::instances::Matching;
use super::trace::{CONDITION, Read, Update};
use kernel::nests::CellPair;
use rustc_hash::FxHashSet;
use updates::{Equality, Shape, TermRef};

/// Most pairs of terms that are looked at on the way down from one cell.
const STEPS: usize = 200_000;
/// Most wrong cells that are tried.
const CELLS: usize = 64;

impl Search<'_> {
    /// The first lost instance, with its number.
    pub(super) fn first_lost(&self, wrong: &[CellPair], needed: &[bool], matching: &Matching) -> Option<(u32, Broken)> {
        let seen = |u: &Update| self.pairing.outputs.iter().any(|(object, _)| *object == u.object);
        let left = |u: &&Update| {
            let local = || u.object != CONDITION && !self.theirs.is_temporary(u.object);
            self.pairing.outputs.iter().any(|(_, other)| *other == u.object) || local()
        };
        let computed = self.terms.parts_of(self.theirs.trace.updates.iter().filter(left).map(|u| u.value));
        let made = |update: &Update| {
            let same = |other: &u32| self.theirs.update(*other).value == update.value;
            self.same_versions(update).iter().any(same)
        };
        let copies = self.ours.trace.updates.iter().filter(|u| u.object != CONDITION && self.is_copy(u));
        let kept: FxHashSet<u32> = copies.filter(|u| made(u)).map(|u| u.site).collect();
        let mut equality = Equality::new(self.terms, self.mode, 200_000);
        let mut lost = self.ours.trace.updates.iter().enumerate().filter(|(number, update)| {
            let copy = self.is_copy(update);
            needed[*number]
                && update.object != CONDITION
                && if copy {
                    kept.contains(&update.site) && seen(update) && !made(update)
                } else {
                    !computed.contains(update.value)
                }
        });
        // Choices that are nested otherwise are the same value in other words.
        let (number, update) = lost.find(|(number, update)| {
            if self.is_copy(update) {
                return true;
            }
            let mut others = matching.candidate[*number].into_iter().chain(self.same_versions(update).iter().copied());
            !others.any(|other| equality.equal(update.value, self.theirs.update(other).value))
        })?;
        let number = number as u32;
        if self.is_copy(update) {
            return Some((number, self.lost(number, None)));
        }
        // What it reads may be a copy of something else.
        let other_copy = |writer: u32| {
            let copy = self.ours.update(writer);
            let other = self.same_turn(writer).filter(|_| self.is_copy(copy) && !made(copy))?;
            (self.theirs.update(other).value != copy.value).then_some((writer, other))
        };
        let mut writers = self.ours.trace.reads(update).iter().filter_map(|read| read.writer.checked_sub(1));
        if let Some((writer, other)) = writers.find_map(other_copy) {
            return Some((writer, self.lost(writer, Some(other))));
        }
        let counterpart = self.replacement(wrong, update).or(matching.candidate[number as usize]);
        let counterpart = counterpart.or_else(|| self.same_turn(number));
        Some((number, self.lost(number, counterpart)))
    }

    /// Is the value a constant, or one that the update only reads?
    fn is_copy(&self, update: &Update) -> bool {
        matches!(self.terms.shape(update.value), Shape::Constant(_) | Shape::Input { .. } | Shape::Unwritten)
            || self.ours.trace.reads(update).iter().any(|read| read.value == update.value)
    }

    /// The candidate's updates of the same output cell.
    fn same_versions(&self, update: &Update) -> &[u32] {
        let pair = self.pairing.outputs.iter().find(|(object, _)| *object == update.object);
        pair.map_or(&[], |(_, other)| self.theirs.versions_of(*other, update.cell))
    }

    /// The candidate's update of what stands where the lost value should: one of the same cell if there is one.
    fn replacement(&self, wrong: &[CellPair], update: &Update) -> Option<u32> {
        let last = |side: &Side<'_>, object: u32, cell: u64| {
            side.versions_of(object, cell).last().map(|number| side.update(*number).value)
        };
        for pair in wrong.iter().take(CELLS) {
            let ends = (last(&self.ours, pair.original, pair.cell), last(&self.theirs, pair.candidate, pair.cell));
            let (Some(ours), Some(theirs)) = ends else { continue };
            let found = self.opposite(ours, theirs, update.value).filter(|found| self.is_akin(update.value, *found));
            let Some(found) = found else { continue };
            let made = |u: &Update| u.object != CONDITION && u.value.plain() == found.plain();
            let here = self.same_versions(update).iter().copied().find(|n| made(self.theirs.update(*n)));
            return here.or_else(|| self.theirs.trace.updates.iter().position(made).map(|n| n as u32));
        }
        None
    }

    /// The candidate's update of the same cell in the same place of its history, if that is as long.
    fn same_turn(&self, number: u32) -> Option<u32> {
        let update = self.ours.update(number);
        let (versions, others) = (self.ours.versions_of(update.object, update.cell), self.same_versions(update));
        let at = versions.iter().position(|v| *v == number).filter(|_| versions.len() == others.len())?;
        others.get(at).copied()
    }

    /// Do they have an operand in common? Where an update is missing, the rest of a sum is out of step.
    fn is_akin(&self, a: TermRef, b: TermRef) -> bool {
        let operands = self.terms.operands(b);
        self.terms.shape(a) == self.terms.shape(b)
            && self.terms.operands(a).iter().any(|x| operands.iter().any(|y| x.plain() == y.plain()))
    }

    /// What the candidate's term has where the original's has the value.
    fn opposite(&self, ours: TermRef, theirs: TermRef, value: TermRef) -> Option<TermRef> {
        let mut open = vec![(ours, theirs)];
        let mut seen = FxHashSet::default();
        while let Some((a, b)) = open.pop() {
            if a.plain() == value.plain() {
                return Some(b);
            }
            if a == b || !seen.insert((a, b)) || seen.len() > STEPS || self.terms.shape(a) != self.terms.shape(b) {
                continue;
            }
            let (left, mut right) = (self.terms.operands(a).to_vec(), self.terms.operands(b).to_vec());
            // Operands that both have belong together; the others follow in order.
            let rest: Vec<TermRef> = left
                .iter()
                .filter(|x| match right.iter().position(|y| y == *x) {
                    Some(at) => {
                        right.remove(at);
                        false
                    }
                    None => true,
                })
                .copied()
                .collect();
            open.extend(rest.into_iter().zip(right).rev());
        }
        None
    }

    /// What to say about a lost instance.
    fn lost(&self, number: u32, counterpart: Option<u32>) -> Broken {
        let update = self.ours.update(number);
        let missing = Broken {
            kind: Kind::Missing,
            cell: self.ours.cell_name(update.object, update.cell),
            original: Some(self.ours.instance(number)),
            candidate: None,
            reading: None,
            note: None,
        };
        let Some(other) = counterpart else { return missing };
        let theirs = self.theirs.update(other);
        let candidate = Some(self.theirs.instance(other));
        let reads = self.ours.trace.reads(update);
        if let Some((kind, reading)) = self.wrong_version(reads, self.theirs.trace.reads(theirs)) {
            return Broken { kind, candidate, reading: Some(reading), ..missing };
        }
        let has = |list: &[Read], read: &Read| list.iter().any(|r| r.value.plain() == read.value.plain());
        let sources = self.theirs.sources(other, &|read| has(reads, read));
        let found: Vec<Read> = sources.iter().map(|(read, _)| *read).collect();
        // The counterpart may be made in several steps: the one that reads this.
        let reader = |cell: &str| {
            let step = sources.iter().find(|(read, _)| self.theirs.cell_name(read.object, read.cell) == cell);
            step.map(|(_, number)| self.theirs.instance(*number)).or(candidate.clone())
        };
        if let Some((kind, reading)) = self.wrong_version(reads, &found) {
            return Broken { kind, candidate: reader(&reading.found_cell), reading: Some(reading), ..missing };
        }
        let (mine, own): (Vec<&Read>, Vec<&Read>) =
            (reads.iter().filter(|r| !has(&found, r)).collect(), found.iter().filter(|r| !has(reads, r)).collect());
        match (mine.first(), own.first()) {
            (None, None) => Broken { kind: Kind::Computation, candidate, ..missing },
            // What stands in its place was written before it was due: the update itself is not there.
            (Some(_), None) => missing,
            (Some(a), Some(b)) => Broken {
                kind: Kind::OtherCell,
                candidate: reader(&self.theirs.cell_name(b.object, b.cell)),
                reading: Some(Reading {
                    cell: self.ours.cell_name(a.object, a.cell),
                    expected: self.ours.writer(a),
                    found_cell: self.theirs.cell_name(b.object, b.cell),
                    found: self.theirs.writer(b),
                }),
                ..missing
            },
            (None, Some(_)) => Broken { kind: Kind::Computation, candidate, ..missing },
        }
    }
}

/// Most steps that a value is followed back.
const LONGEST: usize = 64;

impl Side<'_> {
    /// What an update reads, through the temporaries that it is made of; with the update that reads it. What `known`
    /// holds of is not looked into.
    fn sources(&self, number: u32, known: &dyn Fn(&Read) -> bool) -> Vec<(Read, u32)> {
        let mut found = Vec::new();
        let mut open = vec![number];
        let mut steps = 0;
        while let Some(number) = open.pop() {
            let mut inner = Vec::new();
            for read in self.trace.reads(self.update(number)) {
                steps += 1;
                let writer = read.writer.checked_sub(1).filter(|_| self.is_temporary(read.object) && !known(read));
                match writer {
                    Some(writer) if steps < LONGEST => inner.push(writer),
                    _ => found.push((*read, number)),
                }
            }
            open.extend(inner.into_iter().rev());
        }
        found
    }
}
