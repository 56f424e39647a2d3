//! Symbolic execution of one block of one side.
//!
//! A block is run from its entry, where every location holds an input. The run yields the events in order (what the
//! world can see: stores, calls, everything not known to be harmless), what faultable things were computed, and the
//! ways out with the state on each.
//!
//! Memory is the number of events so far. That is right because a checker compares events pairwise: equal memory at
//! the entry and equal events so far mean equal memory now. Where the candidate's events come in another order, its
//! versions are sets of the original's numbers ([`Order`]).

use crate::values::{IMMUTABLE, Id, Ids, Side, Terms, Values};
use crate::{Arg, Commute, Condition, Effect, Function, Lane, Location, Mask, MemoryKind, Place, Step, Symbol};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// What locations hold; what was not written holds its input.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Virtual registers and slots.
    written: FxHashMap<Location, Id>,
    /// Physical units, by number.
    physical: Vec<Option<Id>>,
    /// Temporaries of the current instruction, by number.
    temporaries: Vec<Option<Id>>,
    /// Units that every call so far has preserved, and the junk that the others hold; `None` before the first call.
    kept: Option<([u64; 4], u32)>,
}

impl State {
    fn get(&self, location: Location) -> Option<Id> {
        match location.place() {
            Place::Physical(unit) => self.physical.get(unit as usize).copied().flatten(),
            Place::Temporary(number) => self.temporaries.get(number as usize).copied().flatten(),
            Place::Virtual(_) | Place::Slot(_) => self.written.get(&location).copied(),
        }
    }

    fn put(&mut self, location: Location, value: Id) {
        let (list, number) = match location.place() {
            Place::Physical(unit) => (&mut self.physical, unit as usize),
            Place::Temporary(number) => (&mut self.temporaries, number as usize),
            Place::Virtual(_) | Place::Slot(_) => {
                self.written.insert(location, value);
                return;
            }
        };
        if list.len() <= number {
            list.resize(number + 1, None);
        }
        list[number] = Some(value);
    }

    /// Everything that a location holds.
    pub fn whole(&self, values: &mut Values, function: &Function, side: Side, location: Location) -> Id {
        if let Some(id) = self.get(location) {
            return id;
        }
        let bits = function.width(location);
        if let (Some((kept, junk)), Place::Physical(unit)) = (&self.kept, location.place())
            && !has(kept, unit)
        {
            return values.reserved_junk(junk + unit % UNITS, bits);
        }
        if let Place::Temporary(_) = location.place() {
            // Read before it was written: a frontend's mistake, which must not prove anything.
            return values.junk(bits);
        }
        values.input(side, location, bits)
    }

    /// Reads a lane.
    pub fn read(&self, values: &mut Values, function: &Function, side: Side, lane: Lane) -> Id {
        let whole = self.whole(values, function, side, lane.location);
        values.extract(whole, lane.low, lane.bits)
    }

    /// Writes a lane.
    pub fn write(&mut self, values: &mut Values, function: &Function, side: Side, lane: Lane, value: Id) {
        let width = match lane.location.place() {
            Place::Temporary(_) => self.get(lane.location).map_or(0, |old| values.bits(old)).max(lane.low + lane.bits),
            _ => function.width(lane.location),
        };
        let end = lane.low.saturating_add(lane.bits);
        if lane.low == 0 && end >= width {
            let value = if end > width { values.extract(value, 0, width) } else { value };
            self.put(lane.location, value);
            return;
        }
        let old = self.whole(values, function, side, lane.location);
        let mut parts: SmallVec<[Id; 3]> = SmallVec::new();
        if lane.low > 0 {
            parts.push(values.extract(old, 0, lane.low.min(width)));
        }
        if lane.low < width {
            let fits = lane.bits.min(width - lane.low);
            parts.push(values.extract(value, 0, fits));
        }
        if end < width {
            parts.push(values.extract(old, end, width - end));
        }
        let new = values.concat(&parts);
        self.put(lane.location, new);
    }

    fn clobber(&mut self, values: &mut Values, function: &Function, mask: Mask) {
        let mut kept = [0u64; 4];
        let units = match mask {
            Mask::Known(index) => function.target.masks.get(usize::from(index)),
            Mask::Own(index) => function.masks.get(usize::from(index)),
            Mask::Unknown => None,
        };
        for unit in units.into_iter().flatten() {
            kept[(*unit as usize / 64) % 4] |= 1 << (unit % 64);
        }
        for (unit, held) in self.physical.iter_mut().enumerate() {
            if !has(&kept, unit as u32) {
                *held = None;
            }
        }
        // A new call loses everything anew.
        if let Some((before, _)) = self.kept {
            kept = std::array::from_fn(|i| before[i] & kept[i]);
        }
        self.kept = Some((kept, values.reserve_junk(UNITS)));
    }
}

/// Most units of a machine.
const UNITS: u32 = 256;

fn has(units: &[u64; 4], unit: u32) -> bool {
    units[(unit as usize / 64) % 4] >> (unit % 64) & 1 == 1
}

/// What kind of event it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EventKind {
    /// A plain store of so many bits: arguments are value, address, and segment if any.
    Store(u16),
    /// A volatile or atomic store.
    OrderedStore(u16),
    /// A volatile or atomic load.
    OrderedLoad(u16),
    /// Everything else.
    Other(Symbol),
}

/// Something the world can see.
#[derive(Clone, Debug)]
pub struct Event {
    /// What.
    pub kind: EventKind,
    /// All that it reads.
    pub args: Ids,
    /// Which instruction did it.
    pub instruction: u32,
}

/// Something that may fault.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    /// What is computed.
    pub value: Id,
    /// Which instruction does it.
    pub instruction: u32,
    /// Number of events before.
    pub events: usize,
    /// Number of events before that are not plain stores.
    pub barriers: usize,
    /// Number of ways out before.
    pub exits: usize,
    /// Must the candidate do it too? What only reads memory may be left out.
    pub required: bool,
}

impl Fault {
    /// Does it happen at the same time as another, as far as the world can see? Where the program may have been
    /// reordered, plain stores do not count.
    pub fn is_when(&self, other: &Fault, may_reorder: bool) -> bool {
        self.barriers == other.barriers && self.exits == other.exits && (may_reorder || self.events == other.events)
    }
}

/// A way out of a block.
#[derive(Clone, Debug)]
pub struct Leaving {
    /// Condition code and flags; `None` if always or decided by an event.
    pub when: Option<(u8, Id)>,
    /// Is it decided by an event?
    pub by_event: bool,
    /// Index of the next block.
    pub target: u32,
    /// Index of the state in [`Run::states`].
    pub state: usize,
    /// Number of events before.
    pub events: usize,
    /// Which instruction.
    pub instruction: u32,
}

/// The original's numbers of the candidate's events, in the candidate's order.
pub type Order = [u32];

/// What a block does.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Events, in program order.
    pub events: Vec<Event>,
    /// Ways out, in program order.
    pub leaving: Vec<Leaving>,
    /// States that the ways out refer to.
    pub states: Vec<Rc<State>>,
    /// Plain loads and other things that may fault.
    pub faultable: Vec<Fault>,
    /// Applications and loads, and the instruction that computed them first.
    producers: Vec<(Id, u32)>,
    /// Sets of events that are no prefix of the original's: version `SET + i`.
    pub sets: Vec<Vec<u32>>,
}

impl Run {
    /// The instruction that computed an application or load first.
    pub fn producer(&self, id: Id) -> Option<u32> {
        self.producers.iter().find(|(made, _)| *made == id).map(|(_, instruction)| *instruction)
    }
}

/// Versions from here on are indices of sets.
pub const SET: u32 = 1 << 30;

/// State of an exit that is still the current one.
const CURRENT: usize = usize::MAX;

/// Runs a block. `order` gives the numbers of the events if they are not simply counted.
pub fn execute(
    values: &mut Values,
    function: &Function,
    side: Side,
    block: u32,
    state: State,
    order: Option<&Order>,
) -> Run {
    let mut executor = Executor {
        values,
        function,
        side,
        state,
        run: Run::default(),
        order,
        instruction: 0,
        shared: false,
        barriers: 0,
    };
    executor.block(block);
    executor.run
}

struct Executor<'a> {
    values: &'a mut Values,
    function: &'a Function,
    side: Side,
    state: State,
    run: Run,
    order: Option<&'a Order>,
    instruction: u32,
    /// Does an exit refer to the current state?
    shared: bool,
    /// Events so far that are not plain stores.
    barriers: usize,
}

impl Executor<'_> {
    fn block(&mut self, block: u32) {
        let function = self.function;
        let Some(block) = function.blocks.get(block as usize) else { return };
        for index in block.instructions.range() {
            self.instruction = index as u32;
            self.state.temporaries.clear();
            for step in &function.steps[function.instructions[index].steps.range()] {
                self.step(step);
                if matches!(step, Step::Leave(exit) if exit.when == Condition::Always) {
                    self.finish();
                    return;
                }
            }
        }
        self.finish();
    }

    /// The exits that refer to the current state get the state itself.
    fn finish(&mut self) {
        self.state.temporaries.clear();
        if self.shared {
            let state = std::mem::take(&mut self.state);
            self.share(state);
        }
    }

    /// Gives the exits that refer to the current state a copy of it.
    fn share_out(&mut self) {
        if self.shared {
            self.share(self.state.clone());
        }
    }

    fn share(&mut self, state: State) {
        self.shared = false;
        let index = self.run.states.len();
        self.run.states.push(Rc::new(state));
        for exit in self.run.leaving.iter_mut().rev().take_while(|exit| exit.state == CURRENT) {
            exit.state = index;
        }
    }

    fn read(&mut self, lane: Lane) -> Id {
        self.state.read(self.values, self.function, self.side, lane)
    }

    fn write(&mut self, lane: Lane, value: Id) {
        self.share_out();
        self.state.write(self.values, self.function, self.side, lane, value);
    }

    fn value(&mut self, arg: Arg) -> Id {
        match arg {
            Arg::Lane(lane) => self.read(lane),
            Arg::Padded(lane, bits) => {
                let low = self.read(lane);
                if lane.bits >= bits {
                    return self.values.extract(low, 0, bits);
                }
                let rest = self.whatever(bits - lane.bits);
                self.values.concat(&[low, rest])
            }
            Arg::Undefined(bits) => self.whatever(bits),
            Arg::Constant(value, bits) => self.values.constant(value, bits),
            Arg::Symbol(symbol, bits) => self.values.symbol(symbol, bits),
        }
    }

    /// A value that does not matter. Of the original it may become anything; of the candidate it equals nothing but
    /// another such value.
    fn whatever(&mut self, bits: u16) -> Id {
        self.values.undefined(bits)
    }

    fn operand(&mut self, arg: Arg) -> Id {
        let id = self.value(arg);
        self.values.read_once(id)
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Move { to, from } => {
                let value = self.value(from);
                self.write(to, value);
            }
            Step::Linear { to, constant, terms } => {
                let function = self.function;
                let terms: Terms =
                    function.terms[terms.range()].iter().map(|(f, arg)| (*f as u64, self.operand(*arg))).collect();
                let value = self.values.linear(constant as u64, &terms, to.bits);
                self.write(to, value);
            }
            Step::Apply { name, args, results, commute, effect, preserved } => {
                let function = self.function;
                let args: Ids = function.args[args.range()].iter().map(|arg| self.operand(*arg)).collect();
                let result = self.apply(name, args, commute, effect);
                if let Some(mask) = preserved {
                    self.share_out();
                    self.state.clobber(self.values, self.function, mask);
                }
                for (index, lane) in function.lanes[results.range()].iter().enumerate() {
                    let whole = self.values.result(result, index as u16);
                    let value = self.values.extract(whole, 0, lane.bits);
                    self.write(*lane, value);
                }
            }
            Step::Load { to, address, segment, kind } => {
                let address = self.operand(Arg::Lane(address));
                let segment = segment.map(|lane| self.operand(Arg::Lane(lane)));
                let value = self.load(to.bits, address, segment, kind);
                self.write(to, value);
            }
            Step::Store { value, address, segment, kind } => {
                let stored = self.operand(value);
                let bits = self.values.bits(stored);
                let mut args: Ids = smallvec![stored, self.operand(Arg::Lane(address))];
                args.extend(segment.map(|lane| self.operand(Arg::Lane(lane))));
                let plain = kind != MemoryKind::Ordered;
                self.event(if plain { EventKind::Store(bits) } else { EventKind::OrderedStore(bits) }, args);
            }
            Step::Undefine(lane) => {
                let value = self.whatever(lane.bits);
                self.write(lane, value);
            }
            Step::Forget(lane) => {
                let value = self.values.junk(lane.bits);
                self.write(lane, value);
            }
            Step::Leave(exit) => {
                let when = match exit.when {
                    Condition::Flags(code, flags) => Some((code, self.operand(Arg::Lane(flags)))),
                    Condition::Always | Condition::Event => None,
                };
                self.run.leaving.push(Leaving {
                    when,
                    by_event: exit.when == Condition::Event,
                    target: exit.target,
                    state: CURRENT,
                    events: self.run.events.len(),
                    instruction: self.instruction,
                });
                self.shared = true;
            }
        }
    }

    fn apply(&mut self, name: Symbol, mut args: Ids, commute: Commute, effect: Effect) -> Id {
        if effect == Effect::Event {
            return self.event(EventKind::Other(name), args);
        }
        if effect == Effect::Reads {
            let version = self.version();
            args.push(self.values.memory(version));
        }
        let id = self.values.apply(name, commute, &args);
        self.run.producers.push((id, self.instruction));
        if effect != Effect::Pure {
            self.may_fault(id, effect == Effect::Faults);
        }
        id
    }

    fn may_fault(&mut self, value: Id, required: bool) {
        let (events, exits) = (self.run.events.len(), self.run.leaving.len());
        let (instruction, barriers) = (self.instruction, self.barriers);
        self.run.faultable.push(Fault { value, instruction, events, barriers, exits, required });
    }

    fn event(&mut self, kind: EventKind, args: Ids) -> Id {
        let count = self.run.events.len();
        let number = self.order.and_then(|order| order.get(count).copied()).unwrap_or(count as u32);
        self.barriers += usize::from(!matches!(kind, EventKind::Store(_)));
        self.run.events.push(Event { kind, args, instruction: self.instruction });
        self.values.event(number)
    }

    fn load(&mut self, bits: u16, address: Id, segment: Option<Id>, kind: MemoryKind) -> Id {
        match kind {
            MemoryKind::Ordered => {
                let args = std::iter::once(address).chain(segment).collect();
                let event = self.event(EventKind::OrderedLoad(bits), args);
                let whole = self.values.result(event, 0);
                self.values.extract(whole, 0, bits)
            }
            MemoryKind::Immutable => {
                let id = self.values.load(bits, IMMUTABLE, address, segment);
                self.run.producers.push((id, self.instruction));
                id
            }
            MemoryKind::Invariant => {
                let id = self.values.load(bits, IMMUTABLE, address, segment);
                self.run.producers.push((id, self.instruction));
                self.may_fault(id, false);
                id
            }
            MemoryKind::Plain => {
                let version = self.version();
                let id = self.values.load(bits, version, address, segment);
                self.run.producers.push((id, self.instruction));
                self.may_fault(id, false);
                id
            }
        }
    }

    /// The version of memory: how many of the original's events have happened, or which.
    fn version(&mut self) -> u32 {
        let count = self.run.events.len();
        let Some(order) = self.order else { return count as u32 };
        let mut before: Vec<u32> = order[..count.min(order.len())].to_vec();
        before.sort_unstable();
        if before.iter().enumerate().all(|(i, n)| i as u32 == *n) {
            return count as u32;
        }
        if self.run.sets.last() != Some(&before) {
            self.run.sets.push(before);
        }
        SET + self.run.sets.len() as u32 - 1
    }
}
