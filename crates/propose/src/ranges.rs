//! Ranges of arguments and results of a file's functions, from the code of all of them.
//!
//! What optimisers know about a local function: its arguments are what the visible call sites pass, and a call's result
//! is what the body can return; both as ranges ([`ValueRange`]), refined by the conditions on the way. The file is
//! unoptimised code, which keeps everything in frame slots.
//!
//! An abstract state has a range for each general register and frame slot. States are joined where paths meet, until
//! nothing changes; what keeps changing becomes unknown. Over the whole file the same is done with arguments and results,
//! starting from "never called" and "never returns". So a function that nobody calls has no arguments, and one that
//! cannot return has no result.
//!
//! Slots are private (`frame-private`) unless their address is used as a value. Then the local variable around it (from
//! debug information) is unknown everywhere; without such a variable the whole function is given up: it may pass and
//! return anything.
//!
//! Trust: none. The kernel proves what is found here (`kernel::lemma`). Printed as `callers(f)`.

mod fields;

use crate::value_range::{ValueRange, consequences, range_of};
use fields::{Fields, Path};
use program::loops::Loops;
use program::{
    Callee, Function, Next, Object, ObjectKind, Op, Place, PointId, Register, Undefined, call_that_returns_twice,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use term::{Arena, Linear, Sort, TermId, VarId};

/// By loop head: ranges of slots, by their offset from the stack pointer at the entry.
pub(crate) type SlotRanges = BTreeMap<PointId, Vec<(i64, ValueRange)>>;

/// What is known about a function of the file.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FunctionRanges {
    /// Does any call site reach it?
    pub called: bool,
    /// Ranges of the low bits of argument registers, at the argument's width. A register that is not here can hold
    /// anything.
    pub arguments: BTreeMap<Register, ValueRange>,
    /// Can it return?
    pub returns: bool,
    /// Range of the result in `rax`, at its width.
    pub result: Option<ValueRange>,
    /// Ranges of slots at loop heads.
    pub heads: SlotRanges,
}

/// Where memory begins (`user-addresses`), and an end that leaves pointers 64 bits wide.
const FIRST_ADDRESS: u64 = 4096;
const LAST_ADDRESS: u64 = u64::MAX;
const POINTER: ValueRange = ValueRange { width: 64, low: FIRST_ADDRESS, span: LAST_ADDRESS - FIRST_ADDRESS };
/// Rounds over the file, and visits of one point, before a change makes a value unknown.
const PATIENCE: usize = 5;
/// Rounds over the file before everything is given up.
const MOST_ROUNDS: usize = 24;
/// Steps before everything is given up.
const MOST_STEPS: usize = 400_000;

/// Ranges for all functions. `private` are those called from visible call sites only; none is if call sites may be
/// missing. Empty if it takes too long.
pub(crate) fn ranges(
    arena: &mut Arena,
    functions: &[Function],
    private: &BTreeSet<String>,
    undefined: Undefined,
    twice: &BTreeSet<String>,
) -> FxHashMap<String, FunctionRanges> {
    let summaries: Vec<Vec<Summary>> = functions.iter().map(|f| summarise(arena, f)).collect();
    let defined: FxHashSet<&str> = functions.iter().map(|f| f.name.as_str()).collect();
    let mut file = Analysis { arena, private, defined, known: FxHashMap::default(), undefined, steps: 0 };
    let by_name: FxHashMap<&str, &Function> = functions.iter().map(|f| (f.name.as_str(), f)).collect();
    for function in functions {
        let called = !private.contains(&function.name);
        file.known.insert(function.name.clone(), FunctionRanges { called, ..FunctionRanges::default() });
    }
    let mut escapes: Vec<Escapes> = vec![Escapes::default(); functions.len()];
    for (function, escapes) in functions.iter().zip(&mut escapes) {
        // Behind the second return of a call slots hold what was stored behind the first.
        escapes.everything = call_that_returns_twice(function, twice).is_some();
    }
    for round in 0..MOST_ROUNDS {
        let mut changed = false;
        for (i, function) in functions.iter().enumerate() {
            if !file.known[&function.name].called {
                continue;
            }
            let found = file.function(function, &summaries[i], &mut escapes[i]);
            if file.steps > MOST_STEPS {
                return FxHashMap::default();
            }
            if let Some(known) = file.known.get_mut(&function.name) {
                known.heads = found.heads;
            }
            changed |= file.learn_result(&function.name, found.exit, round);
            for (callee, arguments) in found.calls {
                if let Some(callee) = by_name.get(callee.as_str()) {
                    changed |= file.learn_arguments(callee, &arguments, round);
                }
            }
        }
        if !changed {
            return file.known;
        }
    }
    FxHashMap::default()
}

/// A point as terms over the registers at its start and over what it loads.
pub(crate) struct Summary {
    pub(crate) steps: Vec<Step>,
    /// Registers that the point sets, at its end.
    pub(crate) registers: Vec<(Register, TermId)>,
    /// Guards of the edges.
    guards: Vec<TermId>,
    /// Terms that are used as values.
    pub(crate) values: Vec<TermId>,
}

pub(crate) enum Step {
    Load { var: VarId, address: TermId, bytes: u16 },
    Store { address: TermId, value: TermId },
}

pub(crate) fn summarise(arena: &mut Arena, function: &Function) -> Vec<Summary> {
    function.points.iter().map(|point| summarise_point(arena, point)).collect()
}

fn summarise_point(arena: &mut Arena, point: &program::Point) -> Summary {
    let mut now: FxHashMap<VarId, TermId> = FxHashMap::default();
    let mut out = Summary { steps: Vec::new(), registers: Vec::new(), guards: Vec::new(), values: Vec::new() };
    let current = |arena: &mut Arena, now: &FxHashMap<VarId, TermId>, term: TermId| {
        let mut memo = FxHashMap::default();
        arena.substitute(term, &mut |var| now.get(&var).copied(), &mut memo)
    };
    for (_, op) in &point.ops {
        match op {
            Op::Set { var, value } => {
                let value = current(arena, &now, *value);
                now.insert(*var, value);
            }
            Op::Load { var, address, bytes } => {
                let address = current(arena, &now, *address);
                let sort = arena.var_sort(*var);
                let loaded = arena.fresh("loaded", sort);
                let name = arena.as_var(loaded).expect("a variable");
                out.steps.push(Step::Load { var: name, address, bytes: *bytes });
                now.insert(*var, loaded);
            }
            Op::Unknown { var } => {
                let sort = arena.var_sort(*var);
                let unknown = arena.fresh("unknown", sort);
                now.insert(*var, unknown);
            }
            Op::Store { address, value } => {
                let (address, value) = (current(arena, &now, *address), current(arena, &now, *value));
                out.values.push(value);
                out.steps.push(Step::Store { address, value });
            }
            Op::Fault { .. } => {}
        }
    }
    if let Next::Edges(edges) = &point.next {
        out.guards = edges.iter().map(|e| current(arena, &now, e.guard)).collect();
    }
    if let Next::Call(program::Call { callee: Callee::Pointer(target), .. }) = &point.next {
        let target = current(arena, &now, *target);
        out.values.push(target);
    }
    for register in Register::all() {
        let changed = now.iter().find(|(var, _)| var.index() == register.index());
        if let Some((_, value)) = changed {
            if !matches!(register, Register::General(4 | 5) | Register::Flag(_)) {
                out.values.push(*value);
            }
            out.registers.push((register, *value));
        }
    }
    out.values.extend(out.guards.iter().copied());
    out
}

/// Value of a general register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Held {
    /// A number, or the low bits of one.
    Number(ValueRange),
    /// An address in the frame, relative to the stack pointer at entry.
    Frame(i64),
}

pub(crate) const ANYTHING: Held = Held::Number(ValueRange { width: 64, low: 0, span: u64::MAX });

/// What is known at a point.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Facts {
    registers: [Held; 16],
    slots: BTreeMap<i64, ValueRange>,
    fields: Fields,
}

impl Facts {
    /// Holds in both states. True if that is less than before.
    fn join(&mut self, other: &Facts, impatient: bool) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.registers.iter_mut().zip(&other.registers) {
            let joined = match (*mine, *theirs) {
                (a, b) if a == b => a,
                (Held::Number(a), Held::Number(b)) if a.width == b.width && !impatient => Held::Number(a.join(&b)),
                (Held::Number(a), Held::Number(b)) if a.width != b.width && !impatient => {
                    let width = a.width.min(b.width);
                    Held::Number(a.truncate(width).join(&b.truncate(width)))
                }
                _ => ANYTHING,
            };
            changed |= joined != *mine;
            *mine = joined;
        }
        let before = (self.slots.clone(), self.fields.clone());
        self.fields.join(&other.fields, impatient);
        self.slots.retain(|offset, range| match other.slots.get(offset) {
            Some(theirs) if theirs.width == range.width => {
                let joined = range.join(theirs);
                let keep = joined == *range || !impatient;
                *range = joined;
                keep && !joined.is_full()
            }
            _ => false,
        });
        changed || before.0 != self.slots || before.1 != self.fields
    }

    /// Forgets the slots that share a byte with an interval.
    fn forget(&mut self, from: i64, to: i64) {
        self.slots.retain(|offset, range| *offset >= to || offset + i64::from(range.width / 8) <= from);
    }
}

/// Parts of a frame whose address is used as a value.
#[derive(Clone, Default)]
pub(crate) struct Escapes {
    pub(crate) intervals: BTreeSet<(i64, i64)>,
    /// Nothing is known: any slot may change.
    pub(crate) everything: bool,
}

/// Where the values that a point has loaded came from, and are still.
#[derive(Default)]
struct Sources {
    /// Slots that hold what was loaded from them, or was stored to them.
    slots: Vec<(VarId, i64)>,
    fields: FxHashMap<VarId, Path>,
}

/// What the code of one function does to others.
struct Found {
    /// The result where it returns, if it does.
    exit: Option<Option<ValueRange>>,
    calls: Vec<(String, Option<[Held; 16]>)>,
    heads: SlotRanges,
}

struct Analysis<'a> {
    arena: &'a mut Arena,
    private: &'a BTreeSet<String>,
    defined: FxHashSet<&'a str>,
    known: FxHashMap<String, FunctionRanges>,
    undefined: Undefined,
    steps: usize,
}

impl Analysis<'_> {
    fn learn_result(&mut self, name: &str, exit: Option<Option<ValueRange>>, round: usize) -> bool {
        let known = self.known.get_mut(name).expect("all functions are there");
        let before = known.clone();
        if let Some(result) = exit {
            known.result = match (known.returns, known.result, result) {
                (false, _, result) => result,
                (true, Some(a), Some(b)) if a.width == b.width => Some(a.join(&b)).filter(|r| !r.is_full()),
                _ => None,
            };
            known.returns = true;
        }
        if *known != before && round > PATIENCE && before.returns {
            known.result = None;
        }
        *known != before
    }

    fn learn_arguments(&mut self, callee: &Function, passed: &Option<[Held; 16]>, round: usize) -> bool {
        let known = self.known.get_mut(&callee.name).expect("all functions are there");
        let before = known.clone();
        let first = !known.called;
        known.called = true;
        if !self.private.contains(&callee.name) {
            return false;
        }
        let signature = callee.signature.as_ref().filter(|s| s.unsupported.is_none());
        let mut here = BTreeMap::new();
        for value in signature.into_iter().flat_map(|s| &s.arguments) {
            let (Place::Register(register), Some(passed)) = (value.place, passed) else { continue };
            if !Register::ARGUMENTS.contains(&register) || value.bytes > 8 {
                continue;
            }
            let range = match passed[register.index()] {
                Held::Number(range) => range,
                Held::Frame(_) if self.undefined == Undefined::Excused => POINTER,
                Held::Frame(_) => continue,
            };
            if range.width >= 8 * value.bytes {
                let range = range.truncate(8 * value.bytes);
                if !range.is_full() {
                    here.insert(register, range);
                }
            }
        }
        if first {
            known.arguments = here;
            return true;
        }
        known.arguments.retain(|register, range| {
            let Some(other) = here.get(register) else { return false };
            let joined = range.join(other);
            let keep = joined == *range || round <= PATIENCE;
            *range = joined;
            keep && !joined.is_full()
        });
        *known != before
    }

    /// Executes one function until nothing changes.
    fn function(&mut self, function: &Function, points: &[Summary], escapes: &mut Escapes) -> Found {
        loop {
            let before = (escapes.intervals.len(), escapes.everything);
            let found = self.attempt(function, points, escapes);
            if before == (escapes.intervals.len(), escapes.everything) || self.steps > MOST_STEPS {
                return found;
            }
        }
    }

    fn attempt(&mut self, function: &Function, points: &[Summary], escapes: &mut Escapes) -> Found {
        let mut found = Found { exit: None, calls: Vec::new(), heads: SlotRanges::new() };
        let mut registers = [ANYTHING; 16];
        registers[Register::RSP.index()] = Held::Frame(0);
        escapes.everything |= function.volatile.unmodelled.is_some() || !function.volatile.doubtful.is_empty();
        for (register, range) in &self.known[&function.name].arguments {
            registers[register.index()] = Held::Number(*range);
        }
        let mut at: Vec<Option<Facts>> = vec![None; points.len()];
        let mut visits = vec![0usize; points.len()];
        at[Function::ENTRY.index()] = Some(Facts { registers, slots: BTreeMap::new(), fields: Fields::default() });
        let mut open = BTreeSet::from([Function::ENTRY]);
        while let Some(id) = open.pop_first() {
            self.steps += 1 + points[id.index()].steps.len();
            if self.steps > MOST_STEPS {
                break;
            }
            visits[id.index()] += 1;
            let facts = at[id.index()].clone().expect("only reached points are open");
            for (target, facts) in self.point(function, id, &points[id.index()], facts, escapes, &mut found) {
                let impatient = visits[target.index()] > PATIENCE;
                let news = match &mut at[target.index()] {
                    Some(known) => known.join(&facts, impatient),
                    empty => {
                        *empty = Some(facts);
                        true
                    }
                };
                if news {
                    open.insert(target);
                }
            }
        }
        for head in Loops::of(function).heads {
            if let Some(facts) = &at[head.index()] {
                found.heads.insert(head, facts.slots.iter().map(|(at, range)| (*at, *range)).collect());
            }
        }
        found
    }

    /// Objects of the program lie in memory.
    fn addresses(&self, function: &Function) -> FxHashMap<VarId, ValueRange> {
        let certain = |o: &&Object| matches!(o.kind, ObjectKind::Literal | ObjectKind::Named { weak: false, .. });
        match self.undefined {
            Undefined::Excused => function.objects.values().filter(certain).map(|o| (o.var, POINTER)).collect(),
            Undefined::Counted => FxHashMap::default(),
        }
    }

    /// An access near the pointer that a slot or a field holds: it points to memory (`user-addresses`), so it is not null.
    fn note_pointer(
        &self,
        address: TermId,
        sources: &Sources,
        facts: &mut Facts,
        loaded: &mut FxHashMap<VarId, ValueRange>,
    ) {
        if self.undefined == Undefined::Counted {
            return;
        }
        let linear = Linear::of(self.arena, address);
        let [(base, one)] = linear.terms[..] else { return };
        let Some(var) = self.arena.as_var(base).filter(|_| one.to_u64() == Some(1)) else { return };
        let Some(distance) = linear.constant.to_u64().filter(|k| *k < FIRST_ADDRESS) else { return };
        let low = FIRST_ADDRESS - distance;
        let pointer = ValueRange { width: 64, low, span: LAST_ADDRESS - low };
        if let Some(path) = sources.fields.get(&var).filter(|_| self.arena.var_sort(var) == Sort::Bv(64)) {
            let known = facts.fields.get(path, 8);
            if let Some(range) = known.map_or(Some(pointer), |known| known.meet(&pointer)) {
                facts.fields.learn(path, range);
                loaded.insert(var, range);
            }
        }
        let slots = sources.slots.iter();
        for (_, offset) in slots.filter(|(v, _)| *v == var && self.arena.var_sort(*v) == Sort::Bv(64)) {
            let known = facts.slots.get(offset).filter(|r| r.width == 64);
            let Some(range) = known.map_or(Some(pointer), |known| known.meet(&pointer)) else { continue };
            facts.forget(*offset, offset + 8);
            facts.slots.insert(*offset, range);
            loaded.insert(var, range);
        }
    }

    fn point(
        &mut self,
        function: &Function,
        id: PointId,
        summary: &Summary,
        mut facts: Facts,
        escapes: &mut Escapes,
        found: &mut Found,
    ) -> Vec<(PointId, Facts)> {
        let start = facts.registers;
        let mut loaded = self.addresses(function);
        let mut sources = Sources::default();
        let steady = function.volatile.is_none();
        let is_object = |var: VarId| function.objects.get(&var).is_some_and(|o| o.kind != ObjectKind::Section);
        for value in &summary.values {
            self.note_escape(function, *value, &start, escapes);
        }
        for step in &summary.steps {
            match step {
                Step::Load { var, address, bytes } => {
                    let Some(offset) = self.slot(function, *address, &start, escapes) else {
                        self.note_pointer(*address, &sources, &mut facts, &mut loaded);
                        let path = Path::of(self.arena, *address, &sources.slots, &sources.fields, is_object);
                        if let Some(path) = path.filter(|_| steady && *bytes <= 8) {
                            if let Some(range) = facts.fields.get(&path, *bytes) {
                                loaded.insert(*var, range);
                            }
                            sources.fields.insert(*var, path);
                        }
                        continue;
                    };
                    let range = facts.slots.get(&offset).filter(|r| r.width >= 8 * bytes);
                    if let Some(range) = range {
                        loaded.insert(*var, range.truncate(8 * bytes));
                    }
                    if *bytes <= 8 && escapes.is_private(offset, *bytes) {
                        sources.slots.push((*var, offset));
                    }
                }
                Step::Store { address, value } => {
                    let bytes = self.arena.width(*value) / 8;
                    let Some(offset) = self.slot(function, *address, &start, escapes) else {
                        self.note_pointer(*address, &sources, &mut facts, &mut loaded);
                        facts.fields.forget();
                        sources.fields.clear();
                        continue;
                    };
                    facts.forget(offset, offset + i64::from(bytes));
                    let end = offset + i64::from(bytes);
                    if escapes.is_private(offset, bytes) {
                        facts.fields.forget_from(offset, end);
                        sources.fields.retain(|_, path| !path.begins_in(offset, end));
                    } else {
                        facts.fields.forget();
                        sources.fields.clear();
                    }
                    sources.slots.retain(|(var, at)| {
                        *at >= end || at + i64::from(self.arena.var_sort(*var).width().unwrap_or(512) / 8) <= offset
                    });
                    if bytes <= 8 && escapes.is_private(offset, bytes) {
                        let range = range_of(self.arena, *value, &|var| number(var, &start, &loaded));
                        if !range.is_full() {
                            facts.slots.insert(offset, range);
                        }
                        // What is learned of the value later holds for the slot.
                        if let Some(var) = self.arena.as_var(*value) {
                            sources.slots.push((var, offset));
                        }
                    }
                }
            }
        }
        for (register, value) in &summary.registers {
            let Register::General(i) = register else { continue };
            facts.registers[usize::from(*i)] = match frame_address(self.arena, *value, &start) {
                Some((offset, true)) => Held::Frame(offset),
                _ => {
                    if mentions_frame(self.arena, *value, &start) && matches!(i, 4 | 5) {
                        // A stack pointer at a variable distance: what it points to cannot be told.
                        escapes.everything = true;
                    }
                    // The low half may be known where the whole is not.
                    let known = |var: VarId| number(var, &start, &loaded);
                    let whole = range_of(self.arena, *value, &known);
                    let low = self.arena.truncate(*value, 32);
                    let low = range_of(self.arena, low, &known);
                    Held::Number(if whole.is_full() && !low.is_full() { low } else { whole })
                }
            };
        }
        match &function.point(id).next {
            Next::Edges(edges) => {
                let mut out = Vec::new();
                for (edge, guard) in edges.iter().zip(&summary.guards) {
                    let known = |var: VarId| number(var, &start, &loaded);
                    let Some(news) = consequences(self.arena, *guard, &known) else { continue };
                    let mut facts = facts.clone();
                    for (var, range) in news {
                        if let Some(path) = sources.fields.get(&var) {
                            facts.fields.learn(path, range);
                        }
                        for (_, offset) in sources.slots.iter().filter(|(v, _)| *v == var) {
                            if range.width % 8 == 0 && facts.slots.get(offset).map_or(0, |r| r.width) <= range.width {
                                facts.forget(*offset, offset + i64::from(range.width / 8));
                                facts.slots.insert(*offset, range);
                            }
                        }
                        let unchanged = !summary.registers.iter().any(|(r, _)| r.index() == var.index());
                        if var.index() < 16 && unchanged {
                            facts.registers[var.index()] = Held::Number(range);
                        }
                    }
                    out.push((edge.target, facts));
                }
                out
            }
            Next::Call(call) => self.call(function, call, facts, found),
            Next::Return => {
                found.returned(function, &facts);
                Vec::new()
            }
            Next::Fault(_) => Vec::new(),
        }
    }

    fn call(
        &mut self,
        function: &Function,
        call: &program::Call,
        mut facts: Facts,
        found: &mut Found,
    ) -> Vec<(PointId, Facts)> {
        facts.fields.forget();
        let mut result = None;
        if let Callee::Named(name) = &call.callee {
            let declared = function.callees.get(name).is_some_and(|s| s.noreturn);
            match self.known.get(name) {
                Some(callee) => {
                    found.calls.push((name.clone(), Some(facts.registers)));
                    if !callee.returns {
                        return Vec::new();
                    }
                    result = callee.result;
                }
                None if declared => return Vec::new(),
                None => {
                    let own = self.defined.contains(name.as_str()) || function.defined.contains(name);
                    let row = library::row(name, function.callees.get(name)).filter(|_| !own);
                    if row.is_some_and(|c| c.noreturn) {
                        return Vec::new();
                    }
                }
            }
        }
        if let Held::Frame(depth) = facts.registers[Register::RSP.index()] {
            facts.forget(i64::MIN / 2, depth);
            // What was passed on the stack is the callee's.
            let mut end = depth;
            while let Some((_, range)) = facts.slots.range(end..end + 8).next() {
                end += i64::from(range.width / 8).max(8);
            }
            let inside = |offset: i64| {
                function.locals.iter().any(|l| offset >= l.offset && offset < l.offset.saturating_add_unsigned(l.size))
            };
            facts.slots.retain(|offset, _| *offset >= end || inside(*offset));
        } else {
            facts.slots.clear();
        }
        for i in 0..16 {
            let register = Register::General(i as u8);
            if register != Register::RSP && !Register::CALLEE_SAVED.contains(&register) {
                facts.registers[i] = ANYTHING;
            }
        }
        if let Some(range) = result {
            facts.registers[0] = Held::Number(range);
        }
        match call.returns {
            Some(next) if !call.tail => vec![(next, facts)],
            _ => {
                if call.tail {
                    found.returned(function, &facts);
                }
                Vec::new()
            }
        }
    }

    /// The frame offset of an access, if it is a slot. Variable accesses make the local around them unknown.
    fn slot(&mut self, function: &Function, address: TermId, start: &[Held; 16], escapes: &mut Escapes) -> Option<i64> {
        match frame_address(self.arena, address, start) {
            Some((offset, true)) => Some(offset),
            Some((offset, false)) => {
                escapes.add(function, offset);
                None
            }
            None => {
                if mentions_frame(self.arena, address, start) {
                    escapes.everything = true;
                }
                None
            }
        }
    }

    fn note_escape(&mut self, function: &Function, value: TermId, start: &[Held; 16], escapes: &mut Escapes) {
        if !mentions_frame(self.arena, value, start) {
            return;
        }
        match self.arena.sort(value).width().filter(|w| *w == 64).and_then(|_| frame_address(self.arena, value, start))
        {
            Some((offset, _)) => escapes.add(function, offset),
            None => escapes.everything = true,
        }
    }
}

impl Found {
    fn returned(&mut self, function: &Function, facts: &Facts) {
        let signature = function.signature.as_ref().filter(|s| s.unsupported.is_none());
        let result = signature.and_then(|s| match s.results[..] {
            [value] if value.place == Place::Register(Register::General(0)) && value.bytes <= 8 => {
                match facts.registers[0] {
                    Held::Number(range) if range.width >= 8 * value.bytes => Some(range.truncate(8 * value.bytes)),
                    _ => None,
                }
            }
            _ => None,
        });
        let result = result.filter(|r| !r.is_full());
        self.exit = Some(match (self.exit.take(), result) {
            (None, result) => result,
            (Some(Some(a)), Some(b)) => Some(a.join(&b)).filter(|r| !r.is_full()),
            _ => None,
        });
    }
}

impl Escapes {
    /// The local variable at an offset is no longer private. An optimiser may have folded a constant of the index into the
    /// address: then nobody can tell which variable it is.
    pub(crate) fn add(&mut self, function: &Function, offset: i64) {
        if !function.is_unoptimised() {
            self.everything = true;
        }
        let local = function.locals.iter().filter(|l| {
            let end = l.offset.saturating_add_unsigned(l.size);
            offset >= l.offset && offset <= end
        });
        let mut any = false;
        for local in local {
            any = true;
            self.intervals.insert((local.offset, local.offset.saturating_add_unsigned(local.size)));
        }
        // The stack arguments of callees and of variadic functions are no slots either.
        if !any {
            self.everything = true;
        }
    }

    fn is_private(&self, offset: i64, bytes: u16) -> bool {
        let end = offset + i64::from(bytes);
        offset < 0 && end <= 0 && !self.everything && !self.intervals.iter().any(|(a, b)| *a < end && *b > offset)
    }
}

fn number(var: VarId, start: &[Held; 16], loaded: &FxHashMap<VarId, ValueRange>) -> Option<ValueRange> {
    match start.get(var.index()) {
        Some(Held::Number(range)) => Some(*range),
        Some(Held::Frame(_)) => None,
        None => loaded.get(&var).copied(),
    }
}

/// `frame + constant`, and whether there is nothing else in the sum.
pub(crate) fn frame_address(arena: &Arena, term: TermId, start: &[Held; 16]) -> Option<(i64, bool)> {
    if arena.sort(term).width() != Some(64) {
        return None;
    }
    let linear = Linear::of(arena, term);
    let mut base = None;
    for (part, coefficient) in &linear.terms {
        if !mentions_frame(arena, *part, start) {
            continue;
        }
        let var = arena.as_var(*part).filter(|_| coefficient.to_u64() == Some(1) && base.is_none())?;
        let Some(Held::Frame(offset)) = start.get(var.index()) else { return None };
        base = Some(*offset);
    }
    let offset = base?.wrapping_add(linear.constant.low() as i64);
    (offset.unsigned_abs() < 1 << 40).then_some((offset, linear.terms.len() == 1))
}

pub(crate) fn mentions_frame(arena: &Arena, term: TermId, start: &[Held; 16]) -> bool {
    arena.free_vars(term).iter().any(|var| matches!(start.get(var.index()), Some(Held::Frame(_))))
}
