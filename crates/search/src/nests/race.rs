//! OpenMP: turns of a loop marked parallel that touch a cell which another turn writes.
//!
//! One run with everybody watched finds the first conflict. Other orders of the turns show whether the result
//! depends on it: the last turn first, all turns from the same start, and statement by statement.

use super::explain::{Broken, Instance, Kind, Reading, text};
use super::inputs::{Inputs, PATTERNS};
use super::witness::{KernelWitness, memory, run_alone, show};
use super::{KernelOptions, KernelVerdict, unknown};
use crate::ReasonKind;
use crate::WitnessKind;
use crate::watchdog::interrupt_at;
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::time::Instant;
use updates::{
    FaultKind, Floating, Hashed, Hashes, Limits, Observer, Parallel, Program, Schedule, Stmt, Symbolic, execute,
};

/// An access of a turn.
#[derive(Clone, Debug)]
struct Access {
    iterators: Vec<i64>,
    site: u32,
    write: bool,
}

/// Two turns that conflict.
#[derive(Clone, Debug)]
struct Conflict {
    object: Option<(u32, u64)>,
    first: Access,
    second: Access,
    number: u32,
}

/// The last access of its kind to a cell: by which turn, where.
#[derive(Clone, Copy, Default)]
struct Mark {
    turn: u64,
    site: u32,
}

/// What a parallel loop does with an object.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// All turns have the same one.
    Shared,
    /// Each turn has its own.
    Own,
    /// Each thread has a copy, or the last turn's is kept.
    Copy,
    /// The turns' parts are joined at the end.
    Reduction,
}

/// What a parallel loop does with objects and slots, by number; what is not listed is shared.
struct Roles {
    objects: Vec<Role>,
    own_slots: Vec<bool>,
}

impl Roles {
    fn of(parallel: &Parallel) -> Roles {
        let mut roles = Roles { objects: Vec::new(), own_slots: Vec::new() };
        let copied = parallel.copied_objects.iter().chain(&parallel.last_objects);
        copied.for_each(|object| roles.set(*object, Role::Copy));
        parallel.reductions.iter().for_each(|object| roles.set(*object, Role::Reduction));
        let own = parallel.private_objects.iter().chain(&parallel.inner_objects).chain(&parallel.iterator);
        own.for_each(|object| roles.set(*object, Role::Own));
        for slot in &parallel.private_slots {
            let slot = *slot as usize;
            if roles.own_slots.len() <= slot {
                roles.own_slots.resize(slot + 1, false);
            }
            roles.own_slots[slot] = true;
        }
        roles
    }

    fn set(&mut self, object: u32, role: Role) {
        let object = object as usize;
        if self.objects.len() <= object {
            self.objects.resize(object + 1, Role::Shared);
        }
        self.objects[object] = role;
    }
}

struct Frame {
    number: u32,
    roles: Rc<Roles>,
    /// The number of what comes before the first turn; turns have larger ones.
    start: u64,
    turn: u64,
    /// Iterators of all turns so far, with the numbers of the turns.
    turns: Vec<(u64, Vec<i64>)>,
    slots: FxHashMap<u32, Mark>,
}

impl Frame {
    fn access(&self, mark: Mark, write: bool) -> Access {
        let found = self.turns.binary_search_by_key(&mark.turn, |(turn, _)| *turn);
        let iterators = found.map_or_else(|_| Vec::new(), |at| self.turns[at].1.clone());
        Access { iterators, site: mark.site, write }
    }
}

/// Last read and last write of each cell, by object.
type Table = Vec<Vec<[Mark; 2]>>;

/// Watches parallel loops. Turns are numbered through, so that a mark of a loop that is over is older than any of the next.
#[derive(Default)]
struct Watch {
    frames: Vec<Frame>,
    /// By depth of parallel loops inside each other.
    tables: Vec<Table>,
    roles: FxHashMap<u32, Rc<Roles>>,
    last_turn: u64,
    conflict: Option<Conflict>,
    /// A floating-point reduction: its order is not fixed.
    reduction: Option<u32>,
}

impl Watch {
    fn access(&mut self, object: u32, cell: u64, site: u32, write: bool) {
        if self.conflict.is_some() {
            return;
        }
        let at = (object as usize, cell as usize);
        for (frame, table) in self.frames.iter().zip(&mut self.tables) {
            let role = frame.roles.objects.get(at.0).copied().unwrap_or(Role::Shared);
            match role {
                Role::Own => continue,
                Role::Reduction => {
                    self.reduction.get_or_insert(object);
                    continue;
                }
                Role::Shared | Role::Copy => {}
            }
            if table.len() <= at.0 {
                table.resize_with(at.0 + 1, Vec::new);
            }
            let cells = &mut table[at.0];
            if cells.len() <= at.1 {
                cells.resize(at.1 + 1, [Mark::default(); 2]);
            }
            let marks = &mut cells[at.1];
            let now = Mark { turn: frame.turn, site };
            // A write conflicts with any access of another turn, a read with a write. A variable with a copy per
            // thread conflicts only if a turn may see what another left there.
            let others = match (write, role) {
                (true, Role::Copy) => 0..0,
                (true, _) => 0..2,
                (false, _) => 1..2,
            };
            let other = |mark: &Mark| mark.turn >= frame.start && mark.turn != frame.turn;
            if let Some(kind) = others.into_iter().find(|kind| other(&marks[*kind])) {
                self.conflict = Some(Conflict {
                    object: Some((object, cell)),
                    first: frame.access(marks[kind], kind == 1),
                    second: frame.access(now, write),
                    number: frame.number,
                });
                return;
            }
            let place = &mut marks[usize::from(write)];
            // Of a shared cell the first access is kept: a later one of another turn would have been a conflict, or is harmless.
            if role == Role::Copy || place.turn < frame.start {
                *place = now;
            }
        }
    }
}

impl Observer<Hashed> for Watch {
    const ACTIVE: bool = true;

    fn load(&mut self, object: u32, cell: u64, _value: Hashed, site: u32) {
        if !self.frames.is_empty() {
            self.access(object, cell, site, false);
        }
    }

    fn store(&mut self, object: u32, cell: u64, _value: Hashed, site: u32, _iterators: &dyn Fn() -> Vec<i64>) {
        if !self.frames.is_empty() {
            self.access(object, cell, site, true);
        }
    }

    fn slot(&mut self, slot: u32, site: u32) {
        if self.conflict.is_some() {
            return;
        }
        for frame in &mut self.frames {
            let own = frame.roles.own_slots.get(slot as usize).copied().unwrap_or(false);
            if own || frame.turn == frame.start {
                continue;
            }
            let now = Mark { turn: frame.turn, site };
            let first = *frame.slots.entry(slot).or_insert(now);
            if first.turn != frame.turn {
                let (first, second) = (frame.access(first, true), frame.access(now, true));
                self.conflict = Some(Conflict { object: None, first, second, number: frame.number });
                return;
            }
        }
    }

    fn enter(&mut self, number: u32, parallel: &Parallel) {
        self.last_turn += 1;
        let roles = self.roles.entry(number).or_insert_with(|| Rc::new(Roles::of(parallel)));
        self.frames.push(Frame {
            number,
            roles: Rc::clone(roles),
            start: self.last_turn,
            turn: self.last_turn,
            turns: Vec::new(),
            slots: FxHashMap::default(),
        });
        if self.tables.len() < self.frames.len() {
            self.tables.push(Table::new());
        }
    }

    fn turn(&mut self, iterators: Vec<i64>) {
        if let Some(frame) = self.frames.last_mut() {
            self.last_turn += 1;
            frame.turn = self.last_turn;
            frame.turns.push((self.last_turn, iterators));
        }
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        // Reads of control variables are not heard: who writes one of several turns may be read by another.
        let written = frame.slots.values().min_by_key(|mark| mark.turn);
        if let (Some(first), None, 2..) = (written, &self.conflict, frame.turns.len()) {
            let first = frame.access(*first, true);
            self.conflict = Some(Conflict { object: None, second: first.clone(), first, number: frame.number });
        }
    }
}

fn has_parallel(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Loop(body) => body.parallel.is_some() || has_parallel(&body.body),
        Stmt::If(_, parts) => has_parallel(&parts.1) || has_parallel(&parts.2),
        Stmt::Block(list) | Stmt::Call(list) => has_parallel(list),
        Stmt::Switch(_, switch) => has_parallel(&switch.body),
        _ => false,
    })
}

/// Looks for races in both programs; nothing if there are none.
pub(super) fn find_races(
    original: &Program,
    candidate: &Program,
    options: KernelOptions,
    deadline: Instant,
) -> Option<KernelVerdict> {
    let limits = &Limits { interrupt: interrupt_at(deadline), flat: options.flat, ..Limits::default() };
    for (side, program) in [("original", original), ("candidate", candidate)] {
        if !has_parallel(&program.body) {
            continue;
        }
        let mut watch = Watch::default();
        let mut domain = Symbolic::new(Hashes, options.mode);
        // A run that stops early is reported by the comparison.
        if let (Err(fault), None) = (execute(program, &mut domain, &mut watch, limits, &[]), &watch.conflict) {
            // Nobody knows whether the rest of it races; and it is this file that took the time.
            return (fault.kind == FaultKind::Time)
                .then(|| unknown(ReasonKind::Timeout, format!("looking for races in the {side}: {}", fault.detail)));
        }
        if let Some(conflict) = &watch.conflict {
            let detail = format!("{side}: {}", describe(program, conflict));
            if side == "candidate"
                && let Some(witness) = witness(original, candidate, conflict, options, limits)
            {
                return Some(KernelVerdict::Different(witness));
            }
            return Some(unknown(ReasonKind::Race, detail));
        }
        if let (Some(object), true) = (watch.reduction, options.mode != Floating::Reassoc) {
            let object = &program.objects[object as usize];
            if object.fields[0].ty.is_float() {
                let name = &object.name;
                let what =
                    format!("{side}: the order of the reduction of `{name}` is not fixed; --fp reassoc accepts any");
                return Some(unknown(ReasonKind::Race, what));
            }
        }
    }
    None
}

fn instance(program: &Program, access: &Access, number: u32) -> Instance {
    // The turn's own iterator and those around it.
    let site = program.sites.iter().find(|s| s.loops.last() == Some(&number));
    let names = site.map_or(&[][..], |s| s.loops.as_slice()).iter();
    let names = names.map(|l| program.loops[*l as usize].iterator.clone());
    let iterators = names.zip(&access.iterators).filter_map(|(n, v)| Some((n?, *v))).collect();
    Instance::new(program, access.site, iterators)
}

fn describe(program: &Program, conflict: &Conflict) -> String {
    let verb = |write: bool| if write { "writes" } else { "reads" };
    let what = match conflict.object {
        Some((object, cell)) => format!("`{}`", program.objects[object as usize].cell_name(cell)),
        None => "a shared variable".to_string(),
    };
    let place = |access: &Access| text(&instance(program, access, conflict.number));
    format!(
        "{} {} {what}, which {} {} in the same parallel loop",
        place(&conflict.second),
        verb(conflict.second.write),
        place(&conflict.first),
        verb(conflict.first.write)
    )
}

/// An input on which another order of the turns gives another result than the original.
fn witness(
    original: &Program,
    candidate: &Program,
    conflict: &Conflict,
    options: KernelOptions,
    limits: &Limits,
) -> Option<Box<KernelWitness>> {
    for (schedule, words) in [
        (Schedule::Reverse, "with its turns in reverse"),
        (Schedule::Together, "with its turns all at once"),
        (Schedule::Interleaved, "with each statement of all its turns before the next"),
    ] {
        for pattern in 0..PATTERNS {
            let inputs = Inputs { seed: options.seed, pattern };
            let other = &Limits { schedule, ..limits.clone() };
            let Some((ours, Some((cell, a, b)))) = run_alone(original, candidate, inputs, limits, other) else {
                continue;
            };
            let second = instance(candidate, &conflict.second, conflict.number);
            let first = instance(candidate, &conflict.first, conflict.number);
            let named = conflict.object.map_or_else(String::new, |(o, c)| candidate.objects[o as usize].cell_name(c));
            let file = candidate.file.rsplit('/').next().unwrap_or(&candidate.file);
            return Some(Box::new(KernelWitness {
                kind: WitnessKind::Race,
                inputs,
                memory: memory(original, &ours, inputs),
                original: format!("leaves {} in {cell}", show(a)),
                candidate: format!("leaves {} in {cell} {words}", show(b)),
                cell,
                lines: [None, Some(format!("{file}:{}", second.line))],
                wrong_cells: 0,
                broken: Some(Broken {
                    kind: Kind::Race,
                    cell: named.clone(),
                    original: None,
                    candidate: Some(second),
                    reading: Some(Reading {
                        cell: named.clone(),
                        expected: None,
                        found_cell: named,
                        found: Some(first),
                    }),
                    note: Some(describe(candidate, conflict)),
                }),
                weaker: None,
                replayed: vec!["interpreter"],
            }));
        }
    }
    None
}
