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
use ::updates::{Floating, Hashed, Hashes, Limits, Observer, Parallel, Program, Schedule, Stmt, Symbolic, execute};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// An access of a turn.
#[derive(Clone, Debug)]
struct Access {
    turn: u32,
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

struct Frame {
    number: u32,
    parallel: Parallel,
    turn: u32,
    iterators: Vec<i64>,
    cells: FxHashMap<(u32, u64), [Option<Access>; 2]>,
    slots: FxHashMap<u32, Access>,
}

/// Watches parallel loops.
#[derive(Default)]
struct Watch {
    frames: Vec<Frame>,
    conflict: Option<Conflict>,
    /// A floating-point reduction: its order is not fixed.
    reduction: Option<u32>,
}

impl Watch {
    fn access(&mut self, object: u32, cell: u64, site: u32, write: bool) {
        for frame in &mut self.frames {
            let p = &frame.parallel;
            let own = p.private_objects.contains(&object)
                || p.inner_objects.binary_search(&object).is_ok()
                || p.iterator == Some(object);
            if own || self.conflict.is_some() {
                continue;
            }
            if p.reductions.contains(&object) {
                self.reduction.get_or_insert(object);
                continue;
            }
            let now = Access { turn: frame.turn, iterators: frame.iterators.clone(), site, write };
            let entry = frame.cells.entry((object, cell)).or_default();
            // A write conflicts with any access of another turn, a read with a write. A variable with a copy per
            // thread conflicts only if a turn may see what another left there.
            let copy = p.copied_objects.contains(&object) || p.last_objects.contains(&object);
            let others = match (write, copy) {
                (true, true) => &entry[..0],
                (true, false) => &entry[..],
                (false, _) => &entry[1..],
            };
            if let Some(first) = others.iter().flatten().find(|a| a.turn != frame.turn) {
                let number = frame.number;
                self.conflict =
                    Some(Conflict { object: Some((object, cell)), first: first.clone(), second: now, number });
                return;
            }
            let place = &mut entry[usize::from(write)];
            if copy {
                *place = Some(now);
            } else {
                place.get_or_insert(now);
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
        for frame in &mut self.frames {
            if frame.turn == 0 || frame.parallel.private_slots.contains(&slot) || self.conflict.is_some() {
                continue;
            }
            let now = Access { turn: frame.turn, iterators: frame.iterators.clone(), site, write: true };
            match frame.slots.get(&slot) {
                Some(first) if first.turn != frame.turn => {
                    let number = frame.number;
                    self.conflict = Some(Conflict { object: None, first: first.clone(), second: now, number });
                    return;
                }
                Some(_) => {}
                None => {
                    frame.slots.insert(slot, now);
                }
            }
        }
    }

    fn enter(&mut self, number: u32, parallel: &Parallel) {
        self.frames.push(Frame {
            number,
            parallel: parallel.clone(),
            turn: 0,
            iterators: Vec::new(),
            cells: FxHashMap::default(),
            slots: FxHashMap::default(),
        });
    }

    fn turn(&mut self, iterators: Vec<i64>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.turn += 1;
            frame.iterators = iterators;
        }
    }

    fn leave(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        // Reads of control variables are not heard: who writes one of several turns may be read by another.
        let written = frame.slots.into_values().min_by_key(|a| a.turn);
        if let (Some(first), None, 2..) = (written, &self.conflict, frame.turn) {
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
    let limits = Limits { deadline: Some(deadline), flat: options.flat, ..Limits::default() };
    for (side, program) in [("original", original), ("candidate", candidate)] {
        if !has_parallel(&program.body) {
            continue;
        }
        let mut watch = Watch::default();
        let mut domain = Symbolic::new(Hashes, options.mode);
        // A run that stops early is reported by the comparison.
        if execute(program, &mut domain, &mut watch, limits, &[]).is_err() && watch.conflict.is_none() {
            return None;
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
    limits: Limits,
) -> Option<Box<KernelWitness>> {
    for (schedule, words) in [
        (Schedule::Reverse, "with its turns in reverse"),
        (Schedule::Together, "with its turns all at once"),
        (Schedule::Interleaved, "with each statement of all its turns before the next"),
    ] {
        for pattern in 0..PATTERNS {
            let inputs = Inputs { seed: options.seed, pattern };
            let other = Limits { schedule, ..limits };
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
