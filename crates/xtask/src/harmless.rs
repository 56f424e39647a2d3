//! Why a planted error that was proved does no harm, by an argument that uses neither the search nor the kernel.
//!
//! The right output and the mutant differ in one block. A forward pass over the right output finds which locations hold
//! equal values wherever a block is entered (value numbers, merged at joins lane by lane). From such a state both versions
//! of the block are run. If they do the same, and what they leave differs only in lanes that the mutant never uses again,
//! then by induction over the blocks both programs do the same.

use machine::{
    Arg, Block, Condition, Effect, Function, Id, Lane, Leaving, Location, Mask, MemoryKind, Names, Place, Run, Side,
    State, Step, Values, execute,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Why the mutant does what the right output does; `None` if this does not show it.
pub fn argue(good: &Function, mutant: &Function, names: &Names) -> Option<String> {
    let changed = changed_blocks(good, mutant)?;
    if changed.is_empty() {
        return Some("it does nothing: a copy of a register to itself".to_string());
    }
    let lanes = lanes([good, mutant]);
    let mut numbering = Numbering { function: good, lanes: &lanes, values: Values::new(), names };
    let entries = numbering.entries();
    let live = live_lanes(mutant, &lanes);
    let mut dead = Vec::new();
    for block in changed {
        // A block that cannot be reached does no harm.
        let Some(entry) = &entries[block as usize] else { continue };
        if numbering.exchanges_apart(mutant, block, entry) {
            return Some("two accesses that do not overlap changed places".to_string());
        }
        let (ours, theirs) = (numbering.run(good, block, entry), numbering.run(mutant, block, entry));
        dead.extend(numbering.left_behind(&ours, &theirs, &live)?);
    }
    dead.sort_unstable();
    dead.dedup();
    if dead.is_empty() {
        return Some("the right value is already there, or nothing is read later".to_string());
    }
    let names: Vec<String> = dead.iter().map(|lane| lane_name(good, lanes[*lane])).collect();
    Some(format!("never read again: {}", names.join(", ")))
}

fn lane_name(function: &Function, lane: Lane) -> String {
    let name = function.location_name(lane.location);
    if lane.bits == function.width(lane.location) {
        return name;
    }
    format!("{name}[{}..{}]", lane.low, lane.low + lane.bits)
}

/// Blocks whose instructions differ; `None` if the functions are not one with another block.
fn changed_blocks(good: &Function, mutant: &Function) -> Option<Vec<u32>> {
    if good.gap.is_some() || mutant.gap.is_some() || good.blocks.len() != mutant.blocks.len() {
        return None;
    }
    let frame = |f: &Function| (f.slots.clone(), f.objects.clone(), f.tables.clone(), f.reserved.clone());
    if frame(good) != frame(mutant) {
        return None;
    }
    let texts = |function: &Function, block: &Block| -> Vec<String> {
        block.instructions.range().map(|i| function.instruction_text(i as u32).to_string()).collect()
    };
    let both = good.blocks.iter().zip(&mutant.blocks).enumerate();
    let changed = both.filter(|(_, (a, b))| texts(good, a) != texts(mutant, b));
    Some(changed.map(|(index, _)| index as u32).collect())
}

/// Where registers of different widths end.
const CUTS: [u16; 6] = [8, 16, 32, 64, 128, 256];

/// The registers and spill slots of both, cut into pieces that are written apart.
fn lanes(functions: [&Function; 2]) -> Vec<Lane> {
    let mut lanes = Vec::new();
    let mentioned: BTreeSet<Location> = functions.into_iter().flat_map(mentioned).collect();
    let function = functions[0];
    for location in mentioned.into_iter().filter(|l| !matches!(l.place(), Place::Temporary(_))) {
        let width = function.width(location);
        let ends = CUTS.iter().copied().filter(|cut| *cut < width).chain([width]);
        let mut low = 0;
        for end in ends {
            lanes.push(Lane::new(location, low, end - low));
            low = end;
        }
    }
    lanes
}

fn mentioned(function: &Function) -> Vec<Location> {
    let args = function.args.iter().chain(function.terms.iter().map(|(_, arg)| arg)).copied();
    let mut lanes: Vec<Lane> = function.lanes.clone();
    let mut of = |arg: Arg| {
        if let Arg::Lane(lane) | Arg::Padded(lane, _) = arg {
            lanes.push(lane);
        }
    };
    args.for_each(&mut of);
    for step in &function.steps {
        match *step {
            Step::Move { to, from } => {
                of(Arg::Lane(to));
                of(from);
            }
            Step::Linear { to: lane, .. } | Step::Undefine(lane) | Step::Forget(lane) => of(Arg::Lane(lane)),
            Step::Load { to, address, segment, .. } => {
                [to, address].into_iter().chain(segment).for_each(|lane| of(Arg::Lane(lane)));
            }
            Step::Store { value, address, segment, .. } => {
                of(value);
                std::iter::once(address).chain(segment).for_each(|lane| of(Arg::Lane(lane)));
            }
            Step::Leave(exit) => {
                if let Condition::Flags(_, lane) = exit.when {
                    of(Arg::Lane(lane));
                }
            }
            Step::Apply { .. } => {}
        }
    }
    lanes.into_iter().map(|lane| lane.location).collect()
}

/// Value numbers of the right output.
struct Numbering<'a> {
    function: &'a Function,
    lanes: &'a [Lane],
    values: Values,
    names: &'a Names,
}

impl Numbering<'_> {
    /// What the lanes hold where each block is entered: equal numbers are equal values.
    fn entries(&mut self) -> Vec<Option<Vec<Id>>> {
        let count = self.function.blocks.len();
        let mut entries: Vec<Option<Vec<Id>>> = vec![None; count];
        let mut arriving: Vec<HashMap<(u32, usize), Vec<Id>>> = vec![HashMap::new(); count];
        entries[0] = Some((0..self.lanes.len()).map(|lane| self.fresh(0, lane)).collect());
        let mut work = BTreeSet::from([0u32]);
        while let Some(block) = work.pop_first() {
            let Some(entry) = entries[block as usize].clone() else { continue };
            let run = self.run(self.function, block, &entry);
            for (index, exit) in run.leaving.iter().enumerate() {
                let held = self.held(&run.states[exit.state]);
                arriving[exit.target as usize].insert((block, index), held);
                let merged = self.merge(exit.target, &arriving[exit.target as usize]);
                // Classes only ever split, so this ends.
                if entries[exit.target as usize].as_ref() != Some(&merged) {
                    entries[exit.target as usize] = Some(merged);
                    work.insert(exit.target);
                }
            }
        }
        entries
    }

    /// An unknown value, named by a block and a lane.
    fn fresh(&mut self, block: u32, lane: usize) -> Id {
        let number = block * self.lanes.len() as u32 + lane as u32;
        self.values.input(Side::Original, Location::virtual_register(number), self.lanes[lane].bits)
    }

    /// Lanes that are equal on every way are equal; a number stays the same number.
    fn merge(&mut self, block: u32, ways: &HashMap<(u32, usize), Vec<Id>>) -> Vec<Id> {
        let mut classes: HashMap<Vec<Id>, Id> = HashMap::new();
        let mut merged = Vec::with_capacity(self.lanes.len());
        let mut rows: Vec<(&(u32, usize), &Vec<Id>)> = ways.iter().collect();
        rows.sort_unstable();
        for lane in 0..self.lanes.len() {
            let tuple: Vec<Id> = rows.iter().map(|(_, held)| held[lane]).collect();
            let constant = matches!(self.values.kind(tuple[0]), machine::Kind::Constant(_));
            // At the entry of the function everything is possible.
            if block == 0 || tuple.iter().any(|id| self.values.is_free(*id)) {
                merged.push(self.fresh(block, lane));
            } else if constant && tuple.iter().all(|id| *id == tuple[0]) {
                merged.push(tuple[0]);
            } else {
                let fresh = self.fresh(block, lane);
                merged.push(*classes.entry(tuple).or_insert(fresh));
            }
        }
        merged
    }

    fn run(&mut self, function: &Function, block: u32, entry: &[Id]) -> Run {
        let mut state = State::default();
        for (lane, id) in self.lanes.iter().zip(entry) {
            state.write(&mut self.values, function, Side::Candidate, *lane, *id);
        }
        execute(&mut self.values, function, Side::Candidate, block, state, None)
    }

    fn held(&mut self, state: &State) -> Vec<Id> {
        let read = |lane: &Lane| state.read(&mut self.values, self.function, Side::Candidate, *lane);
        self.lanes.iter().map(read).collect()
    }

    /// Are the two versions of a block one with two neighbouring accesses to memory exchanged, which do not overlap and
    /// of which neither needs the other's result?
    fn exchanges_apart(&mut self, mutant: &Function, block: u32, entry: &[Id]) -> bool {
        let good = self.function;
        let texts = |function: &Function| -> Vec<String> {
            let range = function.blocks[block as usize].instructions.range();
            range.map(|i| function.instruction_text(i as u32).to_string()).collect()
        };
        let (before, after) = (texts(good), texts(mutant));
        let Some(at) = before.iter().zip(&after).position(|(a, b)| a != b) else { return false };
        let mut exchanged = before.clone();
        if before.len() != after.len() || at + 1 >= before.len() {
            return false;
        }
        exchanged.swap(at, at + 1);
        if exchanged != after {
            return false;
        }
        // Apart from memory both do the same.
        let still = |function: &Function| {
            let mut still = function.clone();
            for step in &mut still.steps {
                if let Step::Load { kind: kind @ (MemoryKind::Plain | MemoryKind::Invariant), .. } = step {
                    *kind = MemoryKind::Immutable;
                }
            }
            still
        };
        let (ours, theirs) = (self.run(&still(good), block, entry), self.run(&still(mutant), block, entry));
        let left = |run: &Run| run.leaving.iter().map(|exit| exit.state).collect::<Vec<usize>>();
        let states: Vec<(usize, usize)> = left(&ours).into_iter().zip(left(&theirs)).collect();
        if ours.leaving.len() != theirs.leaving.len()
            || states.iter().any(|(a, b)| self.held(&ours.states[*a]) != self.held(&theirs.states[*b]))
        {
            return false;
        }
        let sorted = |run: &Run| {
            let mut events: Vec<_> = run.events.iter().map(|e| (format!("{:?}", e.kind), e.args.to_vec())).collect();
            events.sort();
            events
        };
        if sorted(&ours) != sorted(&theirs) {
            return false;
        }
        let run = self.run(good, block, entry);
        let first = good.blocks[block as usize].instructions.range().start + at;
        let (Some(one), Some(other)) = (self.accesses(&run, first as u32), self.accesses(&run, first as u32 + 1))
        else {
            return false;
        };
        !one.is_empty() && !other.is_empty() && one.iter().all(|a| other.iter().all(|b| self.is_apart(*a, *b)))
    }

    /// Addresses and bytes that an instruction touches; `None` if it does something else that the world sees.
    fn accesses(&self, run: &Run, instruction: u32) -> Option<Vec<(Id, u16)>> {
        let mut found = Vec::new();
        for event in run.events.iter().filter(|event| event.instruction == instruction) {
            let machine::EventKind::Store(bits) = event.kind else { return None };
            found.push((event.args[1], bits / 8));
        }
        for fault in run.faultable.iter().filter(|fault| fault.instruction == instruction) {
            match self.values.kind(fault.value) {
                machine::Kind::Load(_) => {
                    found.push((self.values.arg(fault.value, 0), self.values.bits(fault.value) / 8));
                }
                // What a memory operand says, and alignment.
                machine::Kind::Apply(..) if !fault.required => {}
                _ => return None,
            }
        }
        Some(found)
    }

    /// Other bytes of one object, or different objects of the frame.
    fn is_apart(&self, (a, m): (Id, u16), (b, n): (Id, u16)) -> bool {
        let object = |id: Id| match self.values.terms(id).1[..] {
            [(1, term)] => match self.values.kind(term) {
                machine::Kind::Symbol(symbol) => Some(symbol),
                _ => None,
            },
            _ => None,
        };
        match machine::overlap(&self.values, a, m, b, n) {
            Some(overlap) => !overlap,
            None => object(a).zip(object(b)).is_some_and(|(x, y)| x != y),
        }
    }

    /// The condition that says the same of these flags with the least number. After a comparison with zero and after a
    /// logical operation neither carry nor overflow is set (Intel SDM vol. 2, CMP, TEST, AND), so that below or equal is
    /// equal, and less is negative.
    fn condition(&self, code: u8, flags: Id) -> u8 {
        let mut at = flags;
        while let machine::Kind::Result(0) | machine::Kind::Extract(0) = self.values.kind(at) {
            at = self.values.arg(at, 0);
        }
        let machine::Kind::Apply(name, _) = self.values.kind(at) else { return code };
        let name = self.names.text(name);
        let logical = ["TEST", "AND", "OR", "XOR"].iter().any(|stem| name.starts_with(stem));
        let zero = |id: Id| matches!(self.values.kind(id), machine::Kind::Constant(0));
        let compared = name.starts_with("CMP") && self.values.arity(at) == 2 && zero(self.values.arg(at, 1));
        match code & !1 {
            6 if name.ends_with(" flags") && (logical || compared) => 4 | code & 1,
            12 if name.ends_with(" flags") && (logical || compared) => 8 | code & 1,
            _ => code,
        }
    }

    /// Lanes that hold something else after the second run, none of them live; `None` if the runs differ otherwise.
    fn left_behind(&mut self, ours: &Run, theirs: &Run, live: &[HashSet<usize>]) -> Option<Vec<usize>> {
        let events = |run: &Run| run.events.iter().map(|e| (e.kind, e.args.to_vec())).collect::<Vec<_>>();
        let when = |exit: &Leaving| exit.when.map(|(code, flags)| (self.condition(code, flags), flags));
        let way = |exit: &Leaving| (when(exit), exit.by_event, exit.target, exit.events);
        let ways = |run: &Run| run.leaving.iter().map(way).collect::<Vec<_>>();
        let faults = |run: &Run| run.faultable.iter().map(|fault| fault.value).collect::<HashSet<Id>>();
        if events(ours) != events(theirs) || ways(ours) != ways(theirs) || !faults(theirs).is_subset(&faults(ours)) {
            return None;
        }
        let mut different = Vec::new();
        for (a, b) in ours.leaving.iter().zip(&theirs.leaving) {
            let (left, right) = (self.held(&ours.states[a.state]), self.held(&theirs.states[b.state]));
            for lane in (0..self.lanes.len()).filter(|lane| left[*lane] != right[*lane]) {
                // The low bits of a sum are a sum; bits from the middle have no such form.
                let Lane { location, low, bits } = self.lanes[lane];
                let [x, y] = [&ours.states[a.state], &theirs.states[b.state]].map(|state| {
                    let below = Lane::new(location, 0, low + bits);
                    state.read(&mut self.values, self.function, Side::Candidate, below)
                });
                if x == y {
                    continue;
                }
                if live[a.target as usize].contains(&lane) {
                    return None;
                }
                // What both lost in a call is no difference worth a name.
                if !self.values.has_junk(left[lane]) || !self.values.has_junk(right[lane]) {
                    different.push(lane);
                }
            }
        }
        Some(different)
    }
}

/// Lanes that something observable still depends on where each block is entered.
fn live_lanes(function: &Function, lanes: &[Lane]) -> Vec<HashSet<usize>> {
    let mut at: HashMap<Location, Vec<usize>> = HashMap::new();
    lanes.iter().enumerate().for_each(|(index, lane)| at.entry(lane.location).or_default().push(index));
    let mut live = vec![HashSet::new(); function.blocks.len()];
    loop {
        let mut changed = false;
        for index in (0..function.blocks.len()).rev() {
            let mut now = Live { function, lanes, at: &at, live: HashSet::new(), temporaries: HashSet::new() };
            for instruction in function.blocks[index].instructions.range().rev() {
                now.temporaries.clear();
                for step in function.steps[function.instructions[instruction].steps.range()].iter().rev() {
                    now.before(step, &live);
                }
            }
            changed |= now.live != live[index];
            live[index] = now.live;
        }
        if !changed {
            return live;
        }
    }
}

/// What is live, going backwards through a block.
struct Live<'a> {
    function: &'a Function,
    lanes: &'a [Lane],
    at: &'a HashMap<Location, Vec<usize>>,
    live: HashSet<usize>,
    temporaries: HashSet<Location>,
}

impl Live<'_> {
    fn pieces(&self, lane: Lane) -> Vec<usize> {
        let all = self.at.get(&lane.location).into_iter().flatten();
        all.copied().filter(|piece| self.lanes[*piece].overlaps(lane)).collect()
    }

    fn read(&mut self, lane: Lane) {
        if matches!(lane.location.place(), Place::Temporary(_)) {
            self.temporaries.insert(lane.location);
        }
        let pieces = self.pieces(lane);
        self.live.extend(pieces);
    }

    fn read_arg(&mut self, arg: Arg) {
        if let Arg::Lane(lane) | Arg::Padded(lane, _) = arg {
            self.read(lane);
        }
    }

    /// Was the lane live? Afterwards what it covers is not.
    fn write(&mut self, lane: Lane) -> bool {
        let pieces = self.pieces(lane);
        let used = self.temporaries.contains(&lane.location) || pieces.iter().any(|piece| self.live.contains(piece));
        for piece in pieces {
            let Lane { low, bits, .. } = self.lanes[piece];
            if lane.low <= low && low + bits <= lane.low + lane.bits {
                self.live.remove(&piece);
            }
        }
        used
    }

    fn before(&mut self, step: &Step, entered: &[HashSet<usize>]) {
        let function = self.function;
        match *step {
            Step::Move { to, from: Arg::Lane(from) } if self.at.contains_key(&to.location) && from.bits >= to.bits => {
                // Only the parts that are used later are read.
                let pieces = self.pieces(to);
                let used: Vec<Lane> =
                    pieces.into_iter().filter(|p| self.live.contains(p)).map(|p| self.lanes[p]).collect();
                self.write(to);
                for piece in used {
                    let (low, end) = (piece.low.max(to.low), (piece.low + piece.bits).min(to.low + to.bits));
                    self.read(Lane::new(from.location, from.low + (low - to.low), end - low));
                }
            }
            Step::Move { to, from } => {
                if self.write(to) {
                    self.read_arg(from);
                }
            }
            Step::Linear { to, terms, .. } => {
                if self.write(to) {
                    function.terms[terms.range()].iter().for_each(|(_, arg)| self.read_arg(*arg));
                }
            }
            Step::Apply { args, results, effect, preserved, .. } => {
                let mut used = effect != Effect::Pure;
                for lane in &function.lanes[results.range()] {
                    used |= self.write(*lane);
                }
                if let Some(mask) = preserved {
                    self.clobber(mask);
                }
                if used {
                    function.args[args.range()].iter().for_each(|arg| self.read_arg(*arg));
                }
            }
            Step::Load { to, address, segment, .. } => {
                self.write(to);
                self.read(address);
                segment.into_iter().for_each(|lane| self.read(lane));
            }
            Step::Store { value, address, segment, .. } => {
                self.read_arg(value);
                self.read(address);
                segment.into_iter().for_each(|lane| self.read(lane));
            }
            Step::Undefine(lane) | Step::Forget(lane) => {
                self.write(lane);
            }
            Step::Leave(exit) => {
                let there = &entered[exit.target as usize];
                match exit.when {
                    Condition::Always => self.live = there.clone(),
                    Condition::Event => self.live.extend(there),
                    Condition::Flags(_, flags) => {
                        self.live.extend(there);
                        self.read(flags);
                    }
                }
            }
        }
    }

    fn clobber(&mut self, mask: Mask) {
        let kept: &[u32] = match mask {
            Mask::Known(index) => self.function.target.masks.get(usize::from(index)).map_or(&[], |units| units),
            Mask::Own(index) => self.function.masks.get(usize::from(index)).map_or(&[], |units| units),
            Mask::Unknown => &[],
        };
        let lanes = self.lanes;
        self.live.retain(|piece| match lanes[*piece].location.place() {
            Place::Physical(unit) => kept.contains(&unit),
            _ => true,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argued(good: &str, mutant: &str) -> Option<String> {
        let mut names = machine::Names::new();
        let [good, mutant] = [good, mutant].map(|body| {
            let text = format!(
                "--- |\n  target triple = \"x86_64-unknown-linux-gnu\"\n  define i64 @f(i64 %a, i64 %b) {{\n    ret i64 %a\n  }}\n...\n---\n\
                 name:            f\nstack:\n  \
                 - {{ id: 0, type: spill-slot, size: 8, alignment: 8 }}\nbody:             |\n  bb.0:\n    \
                 liveins: $rdi, $rsi\n{body}...\n"
            );
            lift_mir::Module::parse(&text, &mut names).expect("Machine IR").functions.remove(0)
        });
        argue(&good, &mutant, &names)
    }

    const SPILL: &str = "    MOV64mr %stack.0, 1, $noreg, 0, $noreg, $rdi :: (store (s64) into %stack.0)\n";
    const RELOAD: &str = "    $rax = MOV64rm %stack.0, 1, $noreg, 0, $noreg :: (load (s64) from %stack.0)\n";
    const COPY: &str = "    $rax = COPY $rdi\n";
    const RETURN: &str = "    RET64 implicit $rax\n";

    #[test]
    fn a_reload_of_what_is_there_may_go() {
        let why = argued(&format!("{SPILL}{COPY}{RELOAD}{RETURN}"), &format!("{SPILL}{COPY}{RETURN}"));
        assert_eq!(why.as_deref(), Some("the right value is already there, or nothing is read later"));
    }

    #[test]
    fn a_spill_that_nobody_reads_may_go() {
        let why = argued(&format!("{SPILL}{COPY}{RETURN}"), &format!("{COPY}{RETURN}"));
        // The block returns, so nothing is left behind at all.
        assert_eq!(why.as_deref(), Some("the right value is already there, or nothing is read later"));
    }

    #[test]
    fn after_a_comparison_with_zero_below_or_equal_is_equal() {
        let branch = |compare: &str, code: u8| {
            format!(
                "    {compare}, implicit-def $eflags\n    JCC_1 %bb.1, {code}, implicit $eflags\n  bb.1:\n{COPY}{RETURN}"
            )
        };
        let [zero, other] = ["CMP64ri32 $rdi, 0", "CMP64rr $rdi, $rsi"];
        assert!(argued(&branch(zero, 4), &branch(zero, 6)).is_some());
        assert_eq!(argued(&branch(zero, 4), &branch(zero, 14)), None);
        assert_eq!(argued(&branch(other, 4), &branch(other, 6)), None);
    }

    #[test]
    fn a_spill_that_is_read_may_not_go() {
        assert_eq!(argued(&format!("{SPILL}{RELOAD}{RETURN}"), &format!("{RELOAD}{RETURN}")), None);
    }

    #[test]
    fn a_reload_over_something_else_may_not_go() {
        let other = "    $rax = COPY $rsi\n";
        assert_eq!(argued(&format!("{SPILL}{other}{RELOAD}{RETURN}"), &format!("{SPILL}{other}{RETURN}")), None);
    }
}
