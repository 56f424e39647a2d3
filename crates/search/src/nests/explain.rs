//! Which dependence broke: the first statement instance of the original whose counterpart computes something else.
//!
//! Both programs are traced over one arena of terms. Instances correspond by the cells that they read and write
//! ([`super::instances`]). The one to name is the first in the original's order whose counterpart reads a value that
//! another instance wrote, or computes something else from the same values. If the programs do not consist of the
//! same instances, updates of output cells correspond by cell and version: the k-th is the k-th; the first that
//! differs and that a wrong final value depends on is named.

use super::instances::Matching;
use super::trace::{CONDITION, Read, Trace, Update};
use kernel::nests::{CellPair, Claim, Pairing};
use updates::{Equality, Fault, Final, Floating, Limits, Origin, Program, Symbolic, TermRef, Terms, execute};

/// A statement instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// Line in the kernel: of the call, if the statement is in a function that it calls.
    pub line: u32,
    /// The called function that the statement is in.
    pub inside: Option<Inside>,
    /// Iterators and their values, the outermost first.
    pub iterators: Vec<(String, i64)>,
}

/// Place of a statement in a function that the kernel calls.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inside {
    /// Name of the function.
    pub function: String,
    /// Line.
    pub line: u32,
}

impl Instance {
    pub(super) fn new(program: &Program, site: u32, iterators: Vec<(String, i64)>) -> Instance {
        let (line, inside) = program.lines(site);
        let inside = inside.map(|(function, line)| Inside { function: function.to_string(), line });
        Instance { line, inside, iterators }
    }
}

/// What kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A read comes before the write that it needs.
    Flow,
    /// A read comes after the cell was overwritten.
    Anti,
    /// Two writes of a cell changed places.
    Output,
    /// The candidate does not make this update.
    Missing,
    /// The candidate makes an update too many.
    Extra,
    /// The counterpart reads another cell.
    OtherCell,
    /// The counterpart computes something else from the same values.
    Computation,
    /// The candidate does something undefined.
    Undefined,
    /// Two turns of a parallel loop conflict.
    Race,
}

impl Kind {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Flow => "flow",
            Kind::Anti => "anti",
            Kind::Output => "output",
            Kind::Missing => "missing-update",
            Kind::Extra => "extra-update",
            Kind::OtherCell => "other-cell",
            Kind::Computation => "computation",
            Kind::Undefined => "undefined",
            Kind::Race => "race",
        }
    }
}

/// A read that went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    /// The cell that the original reads.
    pub cell: String,
    /// Who wrote what the original reads; nothing for the input.
    pub expected: Option<Instance>,
    /// The cell that the candidate reads.
    pub found_cell: String,
    /// Who wrote what the candidate reads.
    pub found: Option<Instance>,
}

/// The first broken instance.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Broken {
    /// Kind.
    pub kind: Kind,
    /// The cell that is written.
    pub cell: String,
    /// The instance in the original.
    pub original: Option<Instance>,
    /// Its counterpart in the candidate.
    pub candidate: Option<Instance>,
    /// The read that makes the difference.
    pub reading: Option<Reading>,
    /// Further words, such as what is undefined.
    pub note: Option<String>,
}

impl Broken {
    /// A candidate that does something undefined.
    pub(super) fn undefined(candidate: &Program, fault: &Fault) -> Broken {
        let pairs = fault.instance.split(", ").filter_map(|pair| pair.split_once('='));
        let iterators = pairs.filter_map(|(name, value)| Some((name.to_string(), value.parse().ok()?))).collect();
        Broken {
            kind: Kind::Undefined,
            cell: String::new(),
            original: None,
            candidate: Some(Instance::new(candidate, fault.site, iterators)),
            reading: None,
            note: Some(fault.detail.clone()),
        }
    }
}

pub(super) struct Side<'a> {
    pub program: &'a Program,
    pub trace: Trace,
    versions: Vec<Vec<Vec<u32>>>,
}

impl Side<'_> {
    pub fn update(&self, number: u32) -> &Update {
        &self.trace.updates[number as usize]
    }

    pub fn versions_of(&self, object: u32, cell: u64) -> &[u32] {
        let cells = self.versions.get(object as usize);
        cells.and_then(|cells| cells.get(cell as usize)).map_or(&[], Vec::as_slice)
    }

    pub fn instance(&self, number: u32) -> Instance {
        let update = self.update(number);
        let site = &self.program.sites[update.site as usize];
        let names = site.loops.iter().map(|l| self.program.loops[*l as usize].iterator.clone());
        let values = self.trace.iterators(update);
        let iterators = names.zip(values).filter_map(|(name, value)| Some((name?, *value))).collect();
        Instance::new(self.program, update.site, iterators)
    }

    /// Who made the value of a read; nothing for the input.
    pub fn writer(&self, read: &Read) -> Option<Instance> {
        read.writer.checked_sub(1).map(|number| self.instance(number))
    }

    /// Is it written anew for each use? A scalar is, mostly, and what belongs to a call.
    pub fn is_temporary(&self, object: u32) -> bool {
        let found = self.program.objects.get(object as usize);
        found.is_some_and(|o| o.origin == Origin::Local && (o.call.is_some() || o.dims.is_empty()))
    }

    /// Does the update set a temporary, or is it a condition on temporaries alone?
    pub fn is_passing(&self, update: &Update) -> bool {
        let condition = || self.trace.reads(update).iter().all(|read| self.is_temporary(read.object));
        if update.object == CONDITION { condition() } else { self.is_temporary(update.object) }
    }

    pub fn cell_name(&self, object: u32, cell: u64) -> String {
        if object == CONDITION {
            return "the condition".to_string();
        }
        self.program.objects[object as usize].cell_name(cell)
    }
}

/// Most terms kept for an explanation.
const MOST_TERMS: usize = 12_000_000;

/// Finds the first broken instance, if the programs are small enough to trace.
pub(super) fn explain(
    original: &Program,
    candidate: &Program,
    pairing: &Pairing,
    claim: Claim,
    limits: &Limits,
) -> Option<Broken> {
    let mode = if claim.mode == Floating::Reassoc { Floating::Ieee } else { claim.mode };
    let mut domain = Symbolic::new(Terms::new(MOST_TERMS), mode);
    let mut traces = [Trace::default(), Trace::default()];
    let ours = execute(original, &mut domain, &mut traces[0], limits, &[]).ok()?;
    let extents = pairing.extents_for(&ours, candidate);
    let theirs = execute(candidate, &mut domain, &mut traces[1], limits, &extents).ok()?;
    if traces.iter().any(|t| t.overflow) || domain.backing.exhausted() {
        return None;
    }
    let wrong = wrong_cells(&ours, &theirs, original, pairing, &mut domain);
    let [first, second] = traces.map(|trace| {
        let versions = trace.versions();
        (trace, versions)
    });
    let ours = Side { program: original, trace: first.0, versions: first.1 };
    let theirs = Side { program: candidate, trace: second.0, versions: second.1 };
    Search { ours, theirs, pairing, terms: &domain.backing, mode }.find(&wrong)
}

fn wrong_cells(
    ours: &Final<TermRef>,
    theirs: &Final<TermRef>,
    original: &Program,
    pairing: &Pairing,
    domain: &mut Symbolic<Terms>,
) -> Vec<CellPair> {
    let mut pairs = Vec::new();
    let visited = pairing.each(ours, theirs, original, domain, |pair, a, b| {
        if a != b {
            pairs.push((pair, a, b));
        }
    });
    if visited.is_err() {
        return Vec::new();
    }
    let mut equality = Equality::new(&domain.backing, domain.mode, 2_000_000);
    pairs.into_iter().filter(|(_, a, b)| !equality.equal(*a, *b)).map(|(pair, ..)| pair).collect()
}

pub(super) struct Search<'a> {
    pub ours: Side<'a>,
    pub theirs: Side<'a>,
    pub pairing: &'a Pairing,
    pub terms: &'a Terms,
    pub mode: Floating,
}

impl Search<'_> {
    fn find(&self, wrong: &[CellPair]) -> Option<Broken> {
        let needed = self.needed(wrong);
        let matching = Matching::of(&self.ours, &self.theirs);
        let by_instance = self.first_instance(&matching, &needed);
        if let (Some((_, broken)), true) = (&by_instance, matching.complete) {
            return Some(broken.clone());
        }
        if let Some((_, broken)) = self.first_lost(wrong, &needed, &matching) {
            return Some(broken);
        }
        let by_version = self.first_version(wrong, &needed);
        match (by_instance, by_version) {
            (Some((first, broken)), Some((Some(second), other))) => Some(if first <= second { broken } else { other }),
            (Some((_, broken)), _) => Some(broken),
            (None, found) => found.map(|(_, broken)| broken),
        }
    }

    /// The first update whose counterpart read what another instance wrote, or made something else of it.
    fn first_instance(&self, matching: &Matching, needed: &[bool]) -> Option<(u32, Broken)> {
        let mut equality = Equality::new(self.terms, self.mode, 2_000_000);
        for (number, counterpart) in matching.candidate.iter().enumerate() {
            let Some(other) = counterpart else { continue };
            let (update, theirs) = (self.ours.update(number as u32), self.theirs.update(*other));
            if !matching.complete && !needed[number] && update.object != CONDITION {
                continue;
            }
            // Where all instances are there, the first that reads another write counts, even if it finds the same
            // value: it is where the order broke.
            let same = equality.equal(update.value, theirs.value);
            if same && (!matching.complete || self.ours.is_passing(update)) {
                continue;
            }
            if !matching.complete && self.is_merged(update, theirs) {
                continue;
            }
            let mut same_values = true;
            for (read, found) in self.pairs(self.ours.trace.reads(update), self.theirs.trace.reads(theirs)) {
                let equal = equality.equal(read.value, found.value);
                // Which of several writes of this value to a temporary it was does not matter.
                if equal && (!matching.complete || self.ours.is_temporary(read.object)) {
                    continue;
                }
                same_values &= equal;
                let expected = read.writer.checked_sub(1).map(|w| matching.candidate[w as usize]);
                // The counterpart of the right write, which is wrong itself: look there, it comes first.
                let right = match expected {
                    None => found.writer == 0,
                    Some(Some(writer)) => found.writer == writer + 1,
                    Some(None) => true,
                };
                if !right {
                    let (kind, reading) = self.reading(&read, &found);
                    return Some((number as u32, self.broken(number as u32, *other, kind, Some(reading))));
                }
            }
            if same_values && !same {
                return Some((number as u32, self.broken(number as u32, *other, Kind::Computation, None)));
            }
        }
        None
    }

    /// Does the candidate make at once what the original makes of the cell in several steps?
    fn is_merged(&self, update: &Update, theirs: &Update) -> bool {
        let versions = self.ours.versions_of(update.object, update.cell);
        versions.last().is_some_and(|last| self.ours.update(*last).value == theirs.value)
            && self.theirs.versions_of(theirs.object, theirs.cell).len() < versions.len()
    }

    fn broken(&self, number: u32, other: u32, kind: Kind, reading: Option<Reading>) -> Broken {
        let update = self.ours.update(number);
        Broken {
            kind,
            cell: self.ours.cell_name(update.object, update.cell),
            original: Some(self.ours.instance(number)),
            candidate: Some(self.theirs.instance(other)),
            reading,
            note: None,
        }
    }

    /// The first output cell, by version, that differs; with the number of its update if it is one of the original.
    fn first_version(&self, wrong: &[CellPair], needed: &[bool]) -> Option<(Option<u32>, Broken)> {
        let mut first: Option<(u32, Option<u32>)> = None;
        let mut extra: Option<(u32, CellPair)> = None;
        let mut equality = Equality::new(self.terms, self.mode, 2_000_000);
        for (object, other) in &self.pairing.outputs {
            let cells = self.ours.versions.get(*object as usize).map_or(0, Vec::len);
            let other_cells = self.theirs.versions.get(*other as usize).map_or(0, Vec::len);
            for cell in 0..cells.max(other_cells) as u64 {
                let a = self.ours.versions_of(*object, cell);
                let b = self.theirs.versions_of(*other, cell);
                let mut same = |k: &usize, l: &usize| {
                    let other = b.get(*l).map(|v| self.theirs.update(*v).value);
                    other.is_some_and(|other| equality.equal(self.ours.update(a[*k]).value, other))
                };
                let diverging = (0..a.len()).find(|k| !same(k, k));
                match diverging {
                    Some(k) if needed[a[k] as usize] => {
                        // A different number of versions from the start: the candidate gathers elsewhere.
                        let regrouped = a.len() != b.len() && k == 0 && a.len() > 1 && b.len() == 1;
                        if regrouped && same(&(a.len() - 1), &0) {
                            continue;
                        }
                        let (number, counterpart) =
                            if regrouped { (a[a.len() - 1], b.last()) } else { (a[k], b.get(k)) };
                        if first.is_none_or(|(known, _)| number < known) {
                            first = Some((number, counterpart.copied()));
                        }
                    }
                    None if b.len() > a.len() => {
                        let pair = CellPair { original: *object, candidate: *other, cell };
                        let number = b[a.len()];
                        let earlier = extra.as_ref().is_none_or(|(known, _)| number < *known);
                        if earlier && wrong.contains(&pair) {
                            extra = Some((number, pair));
                        }
                    }
                    _ => {}
                }
            }
        }
        match (first, extra) {
            (Some((number, counterpart)), _) => Some((Some(number), self.describe(number, counterpart))),
            (None, Some((number, pair))) => {
                let broken = Broken {
                    kind: Kind::Extra,
                    cell: self.theirs.cell_name(pair.candidate, pair.cell),
                    original: None,
                    candidate: Some(self.theirs.instance(number)),
                    reading: None,
                    note: None,
                };
                Some((None, broken))
            }
            (None, None) => None,
        }
    }

    /// Updates of the original that some wrong final value depends on.
    fn needed(&self, wrong: &[CellPair]) -> Vec<bool> {
        let mut needed = vec![false; self.ours.trace.updates.len()];
        let mut stack: Vec<u32> = Vec::new();
        for pair in wrong {
            // Also the updates that were overwritten: one of them may be the write that came too late.
            stack.extend(self.ours.versions_of(pair.original, pair.cell));
        }
        while let Some(number) = stack.pop() {
            if std::mem::replace(&mut needed[number as usize], true) {
                continue;
            }
            let reads = self.ours.trace.reads(self.ours.update(number));
            stack.extend(reads.iter().filter_map(|read| read.writer.checked_sub(1)));
        }
        needed
    }

    fn describe(&self, mut number: u32, mut counterpart: Option<u32>) -> Broken {
        // Each is earlier than the one before.
        while let Some((first, second)) = counterpart.and_then(|other| {
            let (ours, theirs) = (self.ours.update(number), self.theirs.update(other));
            self.wrong_local(self.ours.trace.reads(ours), self.theirs.trace.reads(theirs))
        }) {
            (number, counterpart) = (first, second);
        }
        let update = self.ours.update(number);
        let cell = self.ours.cell_name(update.object, update.cell);
        let original = Some(self.ours.instance(number));
        let Some(other) = counterpart else {
            return Broken { kind: Kind::Missing, cell, original, candidate: None, reading: None, note: None };
        };
        let candidate = Some(self.theirs.instance(other));
        let theirs = self.theirs.update(other);
        let (ours_reads, their_reads) = (self.ours.trace.reads(update), self.theirs.trace.reads(theirs));
        if let Some((kind, reading)) = self.wrong_version(ours_reads, their_reads) {
            return Broken { kind, cell, original, candidate, reading: Some(reading), note: None };
        }
        // What the counterpart writes is written by the original, too, at another time.
        let versions = self.ours.versions_of(update.object, update.cell);
        if let Some(moved) = versions.iter().find(|v| **v != number && self.ours.update(**v).value == theirs.value) {
            let from = self.ours.instance(*moved);
            let note = Some(format!("the candidate writes here what the original writes at {}", text(&from)));
            let kind =
                if moved > &number && self.missing_in_candidate(update, other) { Kind::Missing } else { Kind::Output };
            return Broken { kind, cell, original, candidate, reading: None, note };
        }
        if let Some(reading) = self.other_cell(ours_reads, their_reads) {
            return Broken { kind: Kind::OtherCell, cell, original, candidate, reading: Some(reading), note: None };
        }
        Broken { kind: Kind::Computation, cell, original, candidate, reading: None, note: None }
    }

    /// Does the candidate never write this value to the cell?
    fn missing_in_candidate(&self, update: &Update, other: u32) -> bool {
        let theirs = self.theirs.update(other);
        let versions = self.theirs.versions_of(theirs.object, theirs.cell);
        !versions.iter().any(|v| self.theirs.update(*v).value == update.value)
    }

    /// Is it the same cell? Locals are matched by name.
    fn same_cell(&self, a: &Read, b: &Read) -> bool {
        let (x, y) = (&self.ours.program.objects[a.object as usize], &self.theirs.program.objects[b.object as usize]);
        let shared = updates::input_key(&x.origin).is_some() && x.origin == y.origin;
        let local = x.origin == Origin::Local && y.origin == Origin::Local && x.name == y.name;
        a.cell == b.cell && (shared || local)
    }

    /// Reads of the same cell on both sides, in the original's order; those of the same value first find each other.
    fn pairs(&self, ours: &[Read], theirs: &[Read]) -> Vec<(Read, Read)> {
        let mut rest = theirs.to_vec();
        let mut found: Vec<Option<Read>> = vec![None; ours.len()];
        for same_value in [true, false] {
            for (a, slot) in ours.iter().zip(&mut found).filter(|(_, slot)| slot.is_none()) {
                let fits = |b: &Read| self.same_cell(a, b) && (a.value == b.value || !same_value);
                *slot = rest.iter().position(fits).map(|at| rest.remove(at));
            }
        }
        ours.iter().zip(found).filter_map(|(a, b)| Some((*a, b?))).collect()
    }

    /// A local variable that is read with another value: its first update that differs, and the counterpart.
    fn wrong_local(&self, ours: &[Read], theirs: &[Read]) -> Option<(u32, Option<u32>)> {
        let local = |read: &Read| self.ours.program.objects[read.object as usize].origin == Origin::Local;
        let own = |read: &Read| self.ours.program.objects[read.object as usize].call.is_some();
        let pairs = self.pairs(ours, theirs);
        let mut wrong = pairs.iter().filter(|(a, b)| local(a) && a.value != b.value);
        wrong.find_map(|(a, b)| {
            // A variable of a call is written in each: the mistake is in what wrote it.
            if let (true, Some(first), Some(second)) = (own(a), a.writer.checked_sub(1), b.writer.checked_sub(1)) {
                return Some((first, Some(second)));
            }
            let first = self.ours.versions_of(a.object, a.cell);
            let second = self.theirs.versions_of(b.object, b.cell);
            let upto = first.iter().position(|v| v + 1 == a.writer)?;
            // The right version with a wrong value: the mistake came before.
            second.iter().position(|v| v + 1 == b.writer).filter(|at| *at == upto)?;
            let value = |side: &Side<'_>, number: u32| side.update(number).value;
            let at = (0..=upto).find(|k| value(&self.ours, first[*k]) != value(&self.theirs, second[*k]))?;
            Some((first[at], Some(second[at])))
        })
    }

    /// A read of the same cell that got another version.
    pub(super) fn wrong_version(&self, ours: &[Read], theirs: &[Read]) -> Option<(Kind, Reading)> {
        let pairs = self.pairs(ours, theirs);
        let (a, b) = pairs.iter().find(|(a, b)| a.value != b.value)?;
        Some(self.reading(a, b))
    }

    /// A read of the right cell that got another version: too early or too late?
    fn reading(&self, a: &Read, b: &Read) -> (Kind, Reading) {
        let position = |side: &Side<'_>, read: &Read| {
            let versions = side.versions_of(read.object, read.cell);
            read.writer.checked_sub(1).map_or(0, |w| versions.iter().position(|v| *v == w).map_or(0, |p| p + 1))
        };
        let (expected, found) = (position(&self.ours, a), position(&self.theirs, b));
        // Where the value that was read stands in the original's own history says more than its number.
        let versions = self.ours.versions_of(a.object, a.cell);
        let known = versions.iter().position(|v| self.ours.update(*v).value == b.value).map(|p| p + 1);
        let found = known.unwrap_or(found);
        let kind = if found > expected { Kind::Anti } else { Kind::Flow };
        let reading = Reading {
            cell: self.ours.cell_name(a.object, a.cell),
            expected: self.ours.writer(a),
            found_cell: self.theirs.cell_name(b.object, b.cell),
            found: self.theirs.writer(b),
        };
        (kind, reading)
    }

    fn other_cell(&self, ours: &[Read], theirs: &[Read]) -> Option<Reading> {
        let differs = |(a, b): &(&Read, &Read)| a.value != b.value;
        let (a, b) = ours.iter().zip(theirs).find(differs)?;
        Some(Reading {
            cell: self.ours.cell_name(a.object, a.cell),
            expected: self.ours.writer(a),
            found_cell: self.theirs.cell_name(b.object, b.cell),
            found: self.theirs.writer(b),
        })
    }
}

/// The called function in words: ` in f (line 3)`.
pub(super) fn inside(place: &Option<Inside>) -> String {
    place.as_ref().map_or(String::new(), |p| format!(" in {} (line {})", p.function, p.line))
}

/// An instance in words: `line 9 at t=0, i=2`.
pub(super) fn text(instance: &Instance) -> String {
    let pairs: Vec<String> = instance.iterators.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let at = if pairs.is_empty() { String::new() } else { format!(" at {}", pairs.join(", ")) };
    format!("line {}{at}{}", instance.line, inside(&instance.inside))
}
