//! Promoted arguments: a local function that takes a pointer and only loads through it may be given the loaded values.
//!
//! LLVM does that at -O3 to functions whose callers are all visible, again and again: `f(fs)` becomes `f(fs->ls)`, then
//! `f(fs->ls->token)`. What the candidate takes in a register is then a chain of loads from one of the original's
//! arguments, made at the call. Debug information still lists the parameter, without a place at the first instruction.
//!
//! [`Search::infer`] guesses which register carries which chain: registers are given out in the order of the
//! parameters, the parts of one parameter in the order of their offsets; what the candidate's call sites load just
//! before the call decides between several ways. The guess is safe because the function is compared with the register
//! *defined* as the chain, and every call must pass that chain's value.
//!
//! [`Search::reads`] are loads that the original makes in every run before anything else can be seen. A candidate's call
//! site may make them a little earlier.
//!
//! Trust: none. The kernel proves what is read first, and holds body and calls to the chains that were chosen.

use program::contract::Fixed;
use program::loops::Loops;
use program::{Callee, Function, Loaded, Next, Op, Place, PointId, Register, Side, Signature};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use symbolic::{Context, Event, Joins, Known};
use term::{Arena, Linear, Op as TermOp, TermId, VarId};

/// What a function does before anything else can be seen.
#[derive(Clone, Default, Debug)]
pub(crate) struct Entry {
    /// Loads through its arguments, on some path.
    loads: BTreeSet<Loaded>,
    /// Those that every path makes.
    certain: BTreeSet<Loaded>,
}

/// Who takes what where.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Guess {
    /// Where the candidate expects what the original takes in a register; `None` if nowhere.
    pub moved: BTreeMap<Register, Option<Register>>,
    /// What else the candidate takes in a register.
    pub promoted: BTreeMap<Register, Loaded>,
}

/// What a block puts into a register.
#[derive(Clone, Copy, Debug)]
enum Put {
    /// A load, at this distance from its base, of so many bytes.
    Load(i64, u16),
    /// Something else.
    Other,
}

/// Loads behind one another that are worth following.
const LONGEST_CHAIN: usize = 8;
/// Calls behind one another that are looked into.
const DEEPEST_CALL: usize = 4;
/// Ways to split one argument, and to split all.
const MOST_WAYS: usize = 64;
const MOST_STEPS: usize = 20_000;

/// Looks for promoted arguments in two files.
pub(crate) struct Search<'a> {
    functions: FxHashMap<&'a str, &'a Function>,
    replaceable: &'a BTreeSet<String>,
    entries: FxHashMap<String, Rc<Entry>>,
    /// By callee and register: what the candidate's call sites put into it just before the call.
    passed: FxHashMap<(String, Register), Vec<Put>>,
}

impl<'a> Search<'a> {
    pub fn new(
        original: &'a [Function],
        candidate: &[Function],
        arena: &Arena,
        replaceable: &'a BTreeSet<String>,
    ) -> Self {
        let functions = original.iter().map(|f| (f.name.as_str(), f)).collect();
        let mut passed: FxHashMap<(String, Register), Vec<Put>> = FxHashMap::default();
        for function in candidate {
            for (name, register, put) in put_before_calls(arena, function) {
                passed.entry((name, register)).or_default().push(put);
            }
        }
        Search { functions, replaceable, entries: FxHashMap::default(), passed }
    }

    /// Does a call site of the candidate put something into the register just before the call?
    pub fn is_put(&self, callee: &str, register: Register) -> bool {
        self.passed.contains_key(&(callee.to_string(), register))
    }

    /// The loads that the original's function makes first, in every run.
    pub fn reads(&mut self, arena: &mut Arena, name: &str) -> BTreeSet<Loaded> {
        self.entry(arena, name, 0).certain.clone()
    }

    fn entry(&mut self, arena: &mut Arena, name: &str, depth: usize) -> Rc<Entry> {
        if let Some(known) = self.entries.get(name) {
            return Rc::clone(known);
        }
        // A function that calls itself first knows nothing about itself.
        self.entries.insert(name.to_string(), Rc::default());
        let entry = Rc::new(self.look_at(arena, name, depth).unwrap_or_default());
        self.entries.insert(name.to_string(), Rc::clone(&entry));
        entry
    }

    fn look_at(&mut self, arena: &mut Arena, name: &str, depth: usize) -> Option<Entry> {
        if depth > DEEPEST_CALL || self.replaceable.contains(name) {
            return None;
        }
        let function: &'a Function = self.functions.get(name).copied()?;
        let heads: FxHashSet<PointId> = Loops::of(function).heads.into_iter().collect();
        let mut context = Context::new(arena, function, function, Vec::new());
        let state = context.entry_state(Side::Original);
        let run =
            context.execute(Side::Original, Function::ENTRY, state, &heads, &Known::default(), Joins::Merge).ok()?;
        let mut entry = Entry::default();
        for access in run.accesses.iter().filter(|a| !a.write) {
            let Some((argument, offsets)) = chain(arena, access.address, 0) else { continue };
            let loaded = Loaded { argument, offsets, bytes: access.bytes };
            if arena.as_bool(access.guard) == Some(true) {
                entry.certain.insert(loaded.clone());
            }
            entry.loads.insert(loaded);
        }
        // What all first callees do first is done, too.
        let mut by_all: Option<BTreeSet<Loaded>> = None;
        for arrival in &run.arrivals {
            let mut here = BTreeSet::new();
            if let Event::Call(point) = arrival.event
                && let Next::Call(call) = &function.point(point).next
                && let Callee::Named(callee) = &call.callee
            {
                let theirs = self.entry(arena, callee, depth + 1);
                // A chain of several loads is the same one only in the memory at entry.
                let at_entry = is_entry_world(arena, arrival.state.world);
                let mut ours = |loaded: &Loaded| -> Option<Loaded> {
                    if loaded.offsets.len() > 1 && !at_entry {
                        return None;
                    }
                    let (argument, mut offsets) = chain(arena, arrival.state.get(loaded.argument), 0)?;
                    let last = offsets.last_mut()?;
                    *last = last.wrapping_add(*loaded.offsets.first()?);
                    offsets.extend_from_slice(&loaded.offsets[1..]);
                    let fits = offsets.len() <= LONGEST_CHAIN;
                    fits.then_some(Loaded { argument, offsets, bytes: loaded.bytes })
                };
                here = theirs.certain.iter().filter_map(&mut ours).collect();
                entry.loads.extend(theirs.loads.iter().filter_map(&mut ours));
            }
            by_all = Some(match by_all {
                None => here,
                Some(all) => all.intersection(&here).cloned().collect(),
            });
        }
        entry.certain.extend(by_all.unwrap_or_default());
        Some(entry)
    }

    /// Guesses what the candidate takes in its registers, if some of it is loaded from an argument or is elsewhere by its
    /// debug information. `live_in` are the registers that its body reads, `constants` the arguments that are the same at
    /// all call sites.
    pub fn infer(
        &mut self,
        arena: &mut Arena,
        candidate: &Function,
        signature: &Signature,
        live_in: u64,
        constants: &BTreeMap<Register, BTreeSet<Fixed>>,
    ) -> Option<Guess> {
        let original: &'a Function = self.functions.get(candidate.name.as_str()).copied()?;
        if original.parameters.len() != candidate.parameters.len() {
            return None;
        }
        let mut units = Vec::new();
        for value in &signature.arguments {
            let Place::Register(register) = value.place else { return None };
            if !Register::ARGUMENTS.contains(&register) {
                continue;
            }
            let of = |p: &program::Parameter| p.values.iter().any(|v| v.place == value.place);
            let at = original.parameters.iter().position(of);
            let parameter = at.map(|i| (&original.parameters[i], &candidate.parameters[i]));
            let whole = parameter.filter(|(p, _)| p.values.len() == 1);
            let arrives = match whole {
                Some((_, theirs)) => theirs.arrives,
                // A part of a struct, or the hidden address of one.
                None => Some(register),
            };
            let constant = constants.get(&register).is_some_and(|values| values.len() == 1);
            // What is loaded in place of a parameter is nowhere described as the parameter.
            let pointer = whole.is_some_and(|(ours, theirs)| ours.pointer && !theirs.located) && !constant;
            let located = whole.is_some_and(|(_, theirs)| theirs.located);
            units.push(Unit { register, arrives, ways: Vec::new(), pointer, located });
        }
        let elsewhere = units.iter().any(|u| u.arrives.is_some_and(|r| r != u.register));
        if !elsewhere && !units.iter().any(|u| u.pointer && u.arrives.is_none()) {
            return None;
        }
        let entry = self.entry(arena, &candidate.name, 0);
        for unit in units.iter_mut().filter(|u| u.pointer && u.arrives.is_none()) {
            let loads = entry.loads.iter().filter(|l| l.argument == unit.register).collect::<Vec<_>>();
            unit.ways = ways(&loads, unit.register, &[]);
            unit.ways.retain(|(parts, _)| !parts.is_empty());
        }
        let reads = |r: Register| live_in & 1 << r.index() != 0;
        let taken = |r: &Register| reads(*r) || units.iter().any(|u| u.arrives == Some(*r));
        let slots = Register::ARGUMENTS.iter().rposition(taken).map_or(0, |last| last + 1);
        let mut fitting =
            Fitting { search: self, name: &candidate.name, units: &units, slots, reads: &reads, best: None, steps: 0 };
        fitting.place(0, 0, 0, &mut Vec::new());
        let (_, choice) = fitting.best?;
        let mut guess = Guess::default();
        let mut slot = Register::ARGUMENTS.into_iter();
        for (unit, part) in units.iter().zip(choice) {
            match part {
                Part::Gone => drop(guess.moved.insert(unit.register, None)),
                Part::Kept => drop(guess.moved.insert(unit.register, slot.next().filter(|r| reads(*r)))),
                Part::Promoted(way) => {
                    guess.moved.insert(unit.register, None);
                    for loaded in &unit.ways[way].0 {
                        let register = slot.next()?;
                        if reads(register) {
                            guess.promoted.insert(register, loaded.clone());
                        }
                    }
                }
            }
        }
        for value in &signature.arguments {
            if let Place::Register(register @ Register::Vector(_)) = value.place {
                guess.moved.insert(register, Some(register).filter(|r| reads(*r)));
            }
        }
        (elsewhere || !guess.promoted.is_empty()).then_some(guess)
    }
}

/// One of the original's general arguments.
struct Unit {
    register: Register,
    /// Where the candidate has it at entry, by its debug information.
    arrives: Option<Register>,
    /// Ways to split it, and what each leaves out.
    ways: Vec<(Vec<Loaded>, usize)>,
    /// A pointer that may have been replaced.
    pointer: bool,
    /// Does the candidate's debug information know it at all?
    located: bool,
}

/// What became of an argument.
#[derive(Clone, Copy, Debug)]
enum Part {
    Gone,
    Kept,
    Promoted(usize),
}

/// Gives registers to arguments and their parts, in order, at the least cost.
struct Fitting<'s, 'a> {
    search: &'s Search<'a>,
    name: &'s str,
    units: &'s [Unit],
    slots: usize,
    reads: &'s dyn Fn(Register) -> bool,
    best: Option<(i64, Vec<Part>)>,
    steps: usize,
}

impl Fitting<'_, '_> {
    fn place(&mut self, unit: usize, slot: usize, cost: i64, chosen: &mut Vec<Part>) {
        self.steps += 1;
        if self.steps > MOST_STEPS {
            return;
        }
        let Some(this) = self.units.get(unit) else {
            if slot == self.slots && self.best.as_ref().is_none_or(|(least, _)| cost < *least) {
                self.best = Some((cost, chosen.clone()));
            }
            return;
        };
        let mut attempts: Vec<(Part, usize, i64)> = Vec::new();
        match this.arrives {
            Some(register) => {
                if Register::ARGUMENTS.get(slot) == Some(&register) && slot < self.slots {
                    attempts.push((Part::Kept, 1, 0));
                }
            }
            None => {
                for (i, (parts, left_out)) in this.ways.iter().enumerate() {
                    if slot + parts.len() <= self.slots {
                        let mut price = 2 * *left_out as i64;
                        for (loaded, register) in parts.iter().zip(&Register::ARGUMENTS[slot..]) {
                            price += self.price(loaded, *register);
                        }
                        attempts.push((Part::Promoted(i), parts.len(), price));
                    }
                }
                if !this.located {
                    attempts.push((Part::Gone, 0, 1));
                }
                if slot < self.slots {
                    let read = (self.reads)(Register::ARGUMENTS[slot]);
                    attempts.push((Part::Kept, 1, if read { 3 } else { 1 }));
                }
            }
        }
        for (part, taken, price) in attempts {
            chosen.push(part);
            self.place(unit + 1, slot + taken, cost + price, chosen);
            chosen.pop();
        }
    }

    /// How unlikely it is that a register carries the value.
    fn price(&self, loaded: &Loaded, register: Register) -> i64 {
        let mut price = if (self.reads)(register) { 0 } else { 2 };
        let seen = self.search.passed.get(&(self.name.to_string(), register));
        // One call site that loads it there says more than many that have it already.
        let (mut loads, mut has) = (false, false);
        for put in seen.into_iter().flatten() {
            match put {
                Put::Load(offset, bytes) if loaded.offsets.last() == Some(offset) && loaded.bytes == *bytes => {
                    loads = true
                }
                Put::Load(..) => price += 6,
                Put::Other => has = true,
            }
        }
        price += if loads { -8 } else { 0 } + if has { 4 } else { 0 };
        price
    }
}

/// The ways to pass what is loaded behind a chain: its parts in the order of their offsets, and how many are left out.
fn ways(loads: &[&Loaded], argument: Register, prefix: &[i64]) -> Vec<(Vec<Loaded>, usize)> {
    let mut next: BTreeMap<i64, u16> = BTreeMap::new();
    for load in loads.iter().filter(|l| l.offsets.len() == prefix.len() + 1 && l.offsets.starts_with(prefix)) {
        next.entry(load.offsets[prefix.len()]).or_insert(load.bytes);
    }
    let mut out: Vec<(Vec<Loaded>, usize)> = vec![(Vec::new(), 0)];
    for (offset, bytes) in next {
        let mut offsets = prefix.to_vec();
        offsets.push(offset);
        let mut options = ways(loads, argument, &offsets);
        options.retain(|(parts, _)| bytes == 8 && !parts.is_empty());
        options.push((vec![Loaded { argument, offsets, bytes }], 0));
        options.push((Vec::new(), 1));
        let mut longer = Vec::new();
        for (parts, left_out) in &out {
            for (more, also) in &options {
                longer.push(([&parts[..], more].concat(), left_out + also));
            }
        }
        longer.truncate(MOST_WAYS);
        out = longer;
    }
    out
}

/// An address as a chain of loads from an argument, and what is added to the last.
fn chain(arena: &Arena, address: TermId, depth: usize) -> Option<(Register, Vec<i64>)> {
    if depth >= LONGEST_CHAIN || arena.sort(address).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, address);
    let [(base, one)] = linear.terms[..] else { return None };
    if one.to_u64() != Some(1) {
        return None;
    }
    let offset = linear.constant.low() as i64;
    if let Some(var) = arena.as_var(base) {
        let register = Register::of_var(var).filter(|r| Register::ARGUMENTS.contains(r))?;
        return Some((register, vec![offset]));
    }
    if arena.op(base) != TermOp::Load(8) || !is_entry_world(arena, arena.arg(base, 0)) {
        return None;
    }
    let (register, mut offsets) = chain(arena, arena.arg(base, 1), depth + 1)?;
    offsets.push(offset);
    Some((register, offsets))
}

/// Is this the memory at entry, before anything was written?
fn is_entry_world(arena: &Arena, memory: TermId) -> bool {
    arena.as_var(memory).is_some_and(|memory| arena.var_name(memory) == "world")
}

/// What is put into argument registers just before calls.
fn put_before_calls(arena: &Arena, function: &Function) -> Vec<(String, Register, Put)> {
    let mut out = Vec::new();
    for point in &function.points {
        let Next::Call(call) = &point.next else { continue };
        let Callee::Named(name) = &call.callee else { continue };
        let mut held: FxHashMap<VarId, Put> = FxHashMap::default();
        for (_, op) in &point.ops {
            match op {
                Op::Load { var, address, bytes } => {
                    let linear = Linear::of(arena, *address);
                    held.insert(*var, Put::Load(linear.constant.low() as i64, *bytes));
                }
                Op::Set { var, value } => {
                    let extended = matches!(arena.op(*value), TermOp::Zext(_) | TermOp::Sext(_));
                    let copied = if extended { arena.arg(*value, 0) } else { *value };
                    let source = arena.as_var(copied).and_then(|source| held.get(&source).copied());
                    held.insert(*var, source.unwrap_or(Put::Other));
                }
                Op::Unknown { var } => drop(held.insert(*var, Put::Other)),
                Op::Store { .. } | Op::Fault { .. } => {}
            }
        }
        for register in Register::ARGUMENTS {
            let put = held.iter().find(|(var, _)| var.index() == register.index());
            out.extend(put.map(|(_, put)| (name.clone(), register, *put)));
        }
    }
    out
}
