//! Arguments that a function forgets: when it is done, nobody can find there the address that it was given.
//!
//! A compiler that sees such a function knows that a local object, whose address went only there, is the caller's own again
//! after the call: later callees cannot reach it, and it need not live any more when the last of them is jumped to.
//!
//! What an argument leads to is followed through registers and frame slots of unoptimised code, calls within the file
//! included: each value has the set of arguments that it may be made of. It is kept if it may be stored anywhere but in a
//! private slot, returned, or passed to a callee that may keep it. What is loaded through the address is another value.
//! Comparisons are no copies: nobody makes a pointer of their outcome. Starting from "everything is
//! forgotten", functions are visited until nothing changes.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`). Printed as `callers(f)` or `definition(f)`.

use super::{File, is_frame_address, named_callee};
use crate::ranges::{ANYTHING, Escapes, Held, Step, Summary, frame_address, mentions_frame, summarise};
use program::{Call, Callee, Function, Next, Op, Place, PointId, Register, Signature, call_that_returns_twice};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use symbolic::argument_registers;
use term::{Arena, Sort, TermId, VarId};

/// A set of argument registers, by their position in [`Register::ARGUMENTS`].
type Given = u8;

const ALL: Given = 0b11_1111;
/// In a register: it still holds what it held at entry. Unoptimised code loads every argument that it passes, so that is none.
const UNTOUCHED: Given = 0b1000_0000;
/// Points of a function that is looked at.
const MOST_POINTS: usize = 4000;

/// By name of the function: the argument registers that it forgets. The candidate's debug information repeats
/// declarations that the file's may lack.
pub(super) fn forgotten(
    file: &mut File,
    candidate: &[Function],
    twice: &BTreeSet<String>,
) -> FxHashMap<String, BTreeSet<Register>> {
    let functions = file.functions;
    let by_name: FxHashMap<&str, &Function> = functions.iter().map(|f| (f.name.as_str(), f)).collect();
    let repeated = candidate.iter().flat_map(|f| &f.callees).map(|(name, signature)| (name.as_str(), signature));
    let repeated: FxHashMap<&str, &Signature> = repeated.filter(|(_, s)| s.unsupported.is_none()).collect();
    let replaceable = &file.replaceable;
    let usable: FxHashMap<&str, &Function> = {
        let usable = functions.iter().filter(|f| own_arguments(f) != 0 && !replaceable.contains(&f.name));
        let usable = usable.filter(|f| call_that_returns_twice(f, twice).is_none());
        usable.map(|f| (f.name.as_str(), f)).collect()
    };
    // Only who is given an address in a frame matters, and whom that is passed on to.
    let mut wanted: BTreeSet<&str> = functions.iter().flat_map(|f| given_frame_addresses(file.arena, f)).collect();
    let mut chosen: Vec<(&Function, Vec<Summary>)> = Vec::new();
    let mut kept: FxHashMap<&str, Given> = FxHashMap::default();
    let mut changed = true;
    while changed {
        changed = false;
        for name in std::mem::take(&mut wanted) {
            if let Some(function) = usable.get(name).filter(|_| !kept.contains_key(name)) {
                kept.insert(&function.name, !own_arguments(function) & ALL);
                chosen.push((function, summarise(file.arena, function)));
            }
        }
        for (function, points) in &chosen {
            let name = function.name.as_str();
            if kept[name] == ALL {
                continue;
            }
            let mut visit = Visit {
                arena: file.arena,
                function,
                points,
                by_name: &by_name,
                usable: &usable,
                repeated: &repeated,
                known: &kept,
                wanted: BTreeSet::new(),
                slots: BTreeMap::new(),
                escapes: Escapes::default(),
                kept: kept[name],
            };
            visit.run();
            let now = visit.kept;
            wanted.extend(visit.wanted);
            changed |= now != kept[name] || !wanted.is_empty();
            kept.insert(name, now);
        }
    }
    let registers = |kept: Given| {
        Register::ARGUMENTS.iter().enumerate().filter(move |(i, _)| kept & 1 << i == 0).map(|(_, register)| *register)
    };
    kept.into_iter().filter(|(_, k)| *k != ALL).map(|(name, k)| (name.to_string(), registers(k).collect())).collect()
}

/// Functions that are called where an address in the frame has just been made.
fn given_frame_addresses<'f>(arena: &Arena, function: &'f Function) -> Vec<&'f str> {
    let is_it = |op: &Op| match op {
        Op::Set { var, value } => {
            let own = matches!(Register::of_var(*var), Some(Register::General(4 | 5)));
            !own && arena.sort(*value).width() == Some(64) && is_frame_address(arena, *value)
        }
        _ => false,
    };
    let gives = function.points.iter().filter(|point| point.ops.iter().any(|(_, op)| is_it(op)));
    gives.filter_map(named_callee).collect()
}

/// Arguments of a function that may be addresses; none if its code cannot be followed.
fn own_arguments(function: &Function) -> Given {
    let followed = function.is_unoptimised()
        && function.points.len() <= MOST_POINTS
        && function.volatile.unmodelled.is_none()
        && function.volatile.doubtful.is_empty();
    let signature = function.signature.as_ref().filter(|s| followed && s.unsupported.is_none());
    signature.map_or(0, |s| s.arguments.iter().filter(|v| v.bytes == 8).fold(0, |all, v| all | bit(v.place)))
}

fn bit(place: Place) -> Given {
    let at = Register::ARGUMENTS.iter().position(|r| Place::Register(*r) == place);
    at.map_or(0, |i| 1 << i)
}

/// What registers hold at a point.
#[derive(Clone, PartialEq, Eq)]
struct Holding {
    frames: [Held; 16],
    given: Vec<Given>,
}

struct Visit<'a, 'f> {
    arena: &'a Arena,
    function: &'f Function,
    points: &'a [Summary],
    by_name: &'a FxHashMap<&'f str, &'f Function>,
    repeated: &'a FxHashMap<&'a str, &'a Signature>,
    /// Functions whose code can be followed.
    usable: &'a FxHashMap<&'f str, &'f Function>,
    known: &'a FxHashMap<&'f str, Given>,
    /// Functions of which the same must be known.
    wanted: BTreeSet<&'f str>,
    /// What slots hold at any time, by their first byte and the one behind.
    slots: BTreeMap<(i64, i64), Given>,
    escapes: Escapes,
    kept: Given,
}

impl<'f> Visit<'_, 'f> {
    fn run(&mut self) {
        loop {
            let before = (self.slots.clone(), self.escapes.intervals.len(), self.escapes.everything);
            self.round();
            if self.escapes.everything {
                self.kept = ALL;
            }
            if self.kept == ALL || before == (self.slots.clone(), self.escapes.intervals.len(), false) {
                break;
            }
        }
        // Others can read a slot whose address they may know.
        for (from, to) in self.escapes.intervals.clone() {
            self.kept |= self.held(from, to);
        }
    }

    fn round(&mut self) {
        let mut first = Holding { frames: [ANYTHING; 16], given: vec![0; Register::COUNT] };
        first.frames[Register::RSP.index()] = Held::Frame(0);
        for (i, register) in Register::ARGUMENTS.iter().enumerate() {
            first.given[register.index()] = own_arguments(self.function) & 1 << i | UNTOUCHED;
        }
        let mut at: Vec<Option<Holding>> = vec![None; self.points.len()];
        at[Function::ENTRY.index()] = Some(first);
        let mut open = BTreeSet::from([Function::ENTRY]);
        while let Some(id) = open.pop_first() {
            let mut holding = at[id.index()].clone().expect("only reached points are open");
            self.point(id, &mut holding);
            let targets: Vec<PointId> = match &self.function.point(id).next {
                Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
                Next::Call(call) => call.returns.filter(|_| !call.tail).into_iter().collect(),
                Next::Return | Next::Fault(_) => Vec::new(),
            };
            for target in targets {
                let there = &mut at[target.index()];
                let joined = match there {
                    Some(there) => self.join(there, &holding),
                    None => holding.clone(),
                };
                if there.as_ref() != Some(&joined) {
                    *there = Some(joined);
                    open.insert(target);
                }
            }
        }
    }

    fn join(&mut self, a: &Holding, b: &Holding) -> Holding {
        let mut out = a.clone();
        for (i, (mine, theirs)) in out.frames.iter_mut().zip(b.frames).enumerate() {
            if *mine != theirs {
                // Where the frame is cannot be told any more. (The addresses in other registers were noted.)
                self.escapes.everything |= i == Register::RBP.index();
                *mine = ANYTHING;
            }
        }
        for (mine, theirs) in out.given.iter_mut().zip(&b.given) {
            *mine = (*mine | theirs) & ALL | *mine & theirs & UNTOUCHED;
        }
        out
    }

    fn point(&mut self, id: PointId, holding: &mut Holding) {
        let start = holding.frames;
        let before = holding.given.clone();
        let points = self.points;
        let summary = &points[id.index()];
        let mut loaded: FxHashMap<VarId, Given> = FxHashMap::default();
        // `alloca` moves the stack pointer by a variable distance: what is made of it then is a new object.
        let to = |register: Register| summary.registers.iter().find(|(r, _)| *r == register).map(|(_, value)| *value);
        let stack = to(Register::RSP);
        let fixed = stack.is_none_or(|v| matches!(frame_address(self.arena, v, &start), Some((_, true))));
        let mut outside = start;
        if !fixed {
            outside[Register::RSP.index()] = ANYTHING;
        }
        for value in summary.values.iter().filter(|value| mentions_frame(self.arena, **value, &outside)) {
            let wide = self.arena.sort(*value).width() == Some(64);
            match frame_address(self.arena, *value, &outside).filter(|_| wide) {
                Some((offset, _)) => self.escapes.add(self.function, offset),
                // A comparison with an address in the frame.
                None if self.arena.sort(*value) == Sort::Bool => {}
                None => self.escapes.everything = true,
            }
        }
        for step in &summary.steps {
            let (address, stored) = match step {
                Step::Load { address, .. } => (*address, None),
                Step::Store { address, value } => (*address, Some(*value)),
            };
            let slot = match frame_address(self.arena, address, &start) {
                Some((offset, true)) => Some(offset),
                Some((offset, false)) => {
                    self.escapes.add(self.function, offset);
                    None
                }
                None => {
                    self.escapes.everything |= mentions_frame(self.arena, address, &start);
                    None
                }
            };
            match (step, stored) {
                (Step::Load { var, bytes, .. }, _) => {
                    let held = slot.map_or(0, |at| self.held(at, at + i64::from(*bytes)));
                    loaded.insert(*var, held);
                }
                (_, Some(value)) => {
                    let given = self.made_of(value, &before, &loaded);
                    match slot {
                        _ if given == 0 => {}
                        Some(at) if at < 0 => {
                            let end = at + i64::from(self.arena.width(value) / 8);
                            *self.slots.entry((at, end)).or_insert(0) |= given;
                        }
                        _ => self.kept |= given,
                    }
                }
                (_, None) => {}
            }
        }
        for (register, value) in &summary.registers {
            if let Register::General(i) = register {
                holding.frames[usize::from(*i)] = match frame_address(self.arena, *value, &start) {
                    Some((offset, true)) => Held::Frame(offset),
                    _ => {
                        let base = *register == Register::RBP;
                        self.escapes.everything |= base && mentions_frame(self.arena, *value, &start);
                        ANYTHING
                    }
                };
            }
            holding.given[register.index()] = self.made_of(*value, &before, &loaded);
        }
        match &self.function.point(id).next {
            Next::Edges(_) | Next::Fault(_) => {}
            Next::Return => self.returned(holding),
            Next::Call(call) => self.call(call, holding),
        }
    }

    /// What slots in a part of the frame may hold.
    fn held(&self, from: i64, to: i64) -> Given {
        self.slots.iter().filter(|((a, b), _)| *a < to && *b > from).fold(0, |all, (_, given)| all | given)
    }

    /// The arguments that a value may be a copy of, or computed from.
    fn made_of(&self, value: TermId, registers: &[Given], loaded: &FxHashMap<VarId, Given>) -> Given {
        let (mut all, mut open) = (0, vec![value]);
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        while let Some(term) = open.pop() {
            if self.arena.sort(term) == Sort::Bool || !seen.insert(term) {
                continue;
            }
            open.extend(self.arena.args(term).iter().copied());
            let Some(var) = self.arena.as_var(term) else { continue };
            all |= match registers.get(var.index()) {
                Some(given) => *given & ALL,
                None if self.function.objects.contains_key(&var) => 0,
                None if self.arena.var_name(var).starts_with("unknown") => 0,
                // What another point has left in a temporary.
                None => loaded.get(&var).copied().unwrap_or(ALL),
            };
        }
        all
    }

    fn returned(&mut self, holding: &Holding) {
        let signature = self.function.signature.as_ref().filter(|s| s.unsupported.is_none());
        let results = [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)];
        for register in results {
            // Less than an address is none.
            let is_it = |s: &Signature| s.results.iter().any(|v| v.place == Place::Register(register) && v.bytes >= 8);
            if signature.is_none_or(is_it) {
                self.kept |= holding.given[register.index()] & ALL;
            }
        }
    }

    fn call(&mut self, call: &Call, holding: &mut Holding) {
        let depth = match holding.frames[Register::RSP.index()] {
            Held::Frame(depth) => Some(depth),
            Held::Number(_) => None,
        };
        let own = |name: &str| self.by_name.contains_key(name) || self.function.defined.contains(name);
        let row = |name: &str| library::row(name, self.function.callees.get(name)).filter(|_| !own(name));
        let mut result = 0;
        match &call.callee {
            Callee::Named(name) => {
                let definition = self.by_name.get(name.as_str()).and_then(|f| f.signature.as_ref());
                let declared = self.function.callees.get(name).or(definition);
                let declared = declared.or(self.repeated.get(name.as_str()).copied().filter(|_| !own(name))).cloned();
                let declared = declared.or_else(|| row(name).map(library::Contract::signature));
                let passed = self.passed(declared.as_ref(), depth, holding);
                match (self.known.get(name.as_str()), row(name)) {
                    (Some(keeps), _) => {
                        let keeps =
                            |(place, given): &(Place, Given)| if bit(*place) & !keeps == 0 { *given } else { 0 };
                        self.kept |= passed.iter().fold(0, |all, one| all | keeps(one));
                    }
                    (None, _) if self.usable.contains_key(name.as_str()) => {
                        // Nothing is kept as long as nobody has looked.
                        if passed.iter().any(|(_, given)| *given != 0) {
                            self.wanted.insert(self.usable[name.as_str()].name.as_str());
                        }
                    }
                    // It may return where it found something.
                    (None, Some(row)) if row.forgets() => result = passed.iter().fold(0, |all, (_, given)| all | given),
                    _ => self.kept |= passed.iter().fold(0, |all, (_, given)| all | given),
                }
            }
            Callee::Pointer(_) => {
                self.kept |= self.passed(None, depth, holding).iter().fold(0, |all, (_, given)| all | given);
            }
        }
        for register in Register::all() {
            let stays = register == Register::RSP || Register::CALLEE_SAVED.contains(&register);
            if !stays {
                holding.given[register.index()] = 0;
                if let Register::General(i) = register {
                    holding.frames[usize::from(i)] = ANYTHING;
                }
            }
        }
        holding.given[Register::General(0).index()] = result;
        if call.tail {
            self.returned(holding);
        }
    }

    /// What a call passes where, as far as it may be made of arguments. Without a signature that is what any argument register
    /// holds, and any slot that is no variable.
    fn passed(&self, signature: Option<&Signature>, depth: Option<i64>, holding: &Holding) -> Vec<(Place, Given)> {
        let held = |register: Register| {
            let given = holding.given[register.index()];
            (Place::Register(register), if given & UNTOUCHED == 0 { given } else { 0 })
        };
        match signature.filter(|s| s.unsupported.is_none() && !s.variadic) {
            Some(signature) => {
                let places = signature.arguments.iter().map(|value| match value.place {
                    Place::Register(register) => held(register),
                    Place::Stack(offset) => {
                        let at = depth.map(|depth| depth.saturating_add(i64::from(offset)));
                        let held = |at: i64| self.held(at, at.saturating_add(i64::from(value.bytes)));
                        (value.place, at.map_or(ALL, held))
                    }
                });
                places.collect()
            }
            None => {
                let behind = |l: &program::Local| l.offset.saturating_add_unsigned(l.size);
                let inside = |at: i64| self.function.locals.iter().any(|l| at >= l.offset && at < behind(l));
                let outgoing =
                    self.slots.iter().filter(|((at, _), _)| depth.is_none_or(|depth| *at >= depth) && !inside(*at));
                let stack = outgoing.fold(0, |all, (_, given)| all | given);
                let registers = argument_registers().chain([Register::General(10)]).map(held);
                registers.chain([(Place::Stack(0), stack)]).collect()
            }
        }
    }
}
