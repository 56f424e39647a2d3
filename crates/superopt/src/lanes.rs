//! The evaluator: runs a program on 32 states at once, and after a change only what the change reaches.
//!
//! Single assignment: every slot owns two sets of buffers for what it writes. A proposal is run into the set that the
//! accepted program does not use; accepting it flips one bit per slot that was run. Inputs are found by walking the program
//! once, which also says which registers and flags hold a value: a program that reads anything else is refused before it
//! runs. Slots whose results nobody uses are not run.
//!
//! The distance to the goal is the number of wrong bits over all states; a result in the wrong register counts as its
//! distance and a little more.

use crate::cells::{self, CELLS};
use crate::memory::{Changed, Image, Stored, View, changed};
use crate::pool::{Pool, Slot, cell};
use crate::random::Random;
use crate::steps::{Buffer, Frame, PART, lane, popcount, run};
use crate::task::{DeadStack, Output, State, Task};
use crate::template::{MOST_INPUTS, MOST_OUTPUTS, MOST_TEMPORARIES, Template, lane_mask};
use program::Register;
use std::cell::Cell;
use std::sync::Arc;

pub use crate::steps::LANES;

/// Most instructions of a program.
pub(crate) const MOST_SLOTS: usize = 64;
/// No value.
const UNDEFINED: u16 = u16::MAX;
const UNKNOWN: u32 = u32::MAX;
/// Wrong bits that a state costs that faults.
const FAULT: u32 = 64;
/// Wrong bits per state for the right value in the wrong register.
const MISPLACED: u32 = 1;
const EMPTY: Buffer = [[0; PART]; LANES / PART];

/// A result that is wanted.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    cell: usize,
    mask: u64,
    buffer: usize,
    /// Cells where the value counts as misplaced: the same word of other registers.
    others: [u8; 16],
    others_count: u8,
    general: bool,
    /// Is it another word of the result before it?
    later: bool,
}

impl Wanted {
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        self.others.into_iter().take(self.others_count.into()).map(usize::from)
    }
}

/// What is known of a slot of a program.
#[derive(Clone, Copy)]
struct Placed {
    slot: Slot,
    inputs: [u16; MOST_INPUTS],
    count: u8,
    /// Flags that are computed, by their position in the template.
    flags: u8,
    /// Slots that it takes values from.
    uses: u64,
    /// States that fault.
    faults: u32,
    /// Do its flags depend on defined values only?
    flags_defined: bool,
}

const NOTHING: Placed = Placed {
    slot: Slot { opcode: 0, constant: 0, registers: [0; 4] },
    inputs: [UNDEFINED; MOST_INPUTS],
    count: 0,
    flags: 0,
    uses: 0,
    faults: 0,
    flags_defined: true,
};

/// Where a result may stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// In its register only.
    Exact,
    /// The best register counts.
    Anywhere,
}

/// The evaluator.
pub struct Lanes {
    /// Always there, but while a program runs.
    pool: Option<Arc<Pool>>,
    buffers: Vec<Buffer>,
    initial: [u16; CELLS],
    images: Vec<Arc<Image>>,
    /// Bytes that the original leaves changed, per state; addresses from which on they count.
    changed: Vec<Changed>,
    dead_below: Vec<u64>,
    has_memory: bool,
    wanted: Vec<Wanted>,
    distances: Vec<u32>,
    accepted: Vec<Placed>,
    proposed: Vec<Placed>,
    /// Which set of buffers each accepted slot uses, and which slots were not run.
    version: u64,
    stale: u64,
    /// Slots of the accepted program that are there.
    known: u64,
    next_version: u64,
    next_stale: u64,
    /// Buffers of the registers at the end of the proposal.
    last: [u16; CELLS],
    /// How results are looked for.
    pub placement: Placement,
    stores: Vec<Stored>,
    missing: Cell<Option<u64>>,
}

impl Lanes {
    const SLOTS: usize = CELLS;
    const TEMPORARIES: usize = Self::SLOTS + 2 * MOST_SLOTS * MOST_OUTPUTS;
    const CONSTANTS: usize = Self::TEMPORARIES + MOST_TEMPORARIES + 1;

    /// An evaluator for a pool and a task, without states yet.
    pub fn new(pool: Arc<Pool>, task: &Task) -> Lanes {
        let first_wanted = Self::CONSTANTS + pool.constants.len();
        let mut initial = [UNDEFINED; CELLS];
        for register in task.live_in.iter() {
            if let Some(first) = cells::of(register) {
                (first..first + cells::count(register)).for_each(|cell| initial[usize::from(cell)] = cell.into());
            }
        }
        let mut wanted = Vec::new();
        for output in &task.live_out {
            let (first, offset, bits, register) = match output {
                Output::Flag(flag) => (cells::of_flag(*flag), 0, 1, None),
                Output::Lane(lane) => match cells::of(lane.register) {
                    Some(first) => (first, lane.offset, lane.bits, Some(lane.register)),
                    None => continue,
                },
            };
            for word in 0..bits.div_ceil(64) as u8 {
                let cell = first + word;
                let all: Vec<u8> = match register {
                    None => Vec::new(),
                    Some(Register::General(_)) => pool.writable()[0].clone(),
                    Some(_) => pool.writable()[1].iter().map(|n| 16 + 4 * n + (cell - 16) % 4).collect(),
                };
                let mut others = [0; 16];
                let count =
                    others.iter_mut().zip(all.iter().filter(|other| **other != cell)).map(|(o, c)| *o = *c).count();
                wanted.push(Wanted {
                    cell: cell.into(),
                    mask: lane_mask(offset, bits - 64 * u16::from(word)),
                    buffer: first_wanted + wanted.len(),
                    others,
                    others_count: count as u8,
                    general: matches!(register, Some(Register::General(_))),
                    later: word > 0,
                });
            }
        }
        let mut buffers = vec![EMPTY; first_wanted + wanted.len()];
        for (i, value) in pool.constants.iter().enumerate().skip(1) {
            buffers[Self::CONSTANTS + i] = [[*value; PART]; LANES / PART];
        }
        let mut noise = Random::new(0, 77);
        buffers[Self::CONSTANTS] = std::array::from_fn(|_| std::array::from_fn(|_| noise.next()));
        let distances = vec![UNKNOWN; Self::TEMPORARIES * wanted.len().max(1)];
        Lanes {
            pool: Some(pool),
            buffers,
            initial,
            images: vec![Arc::default(); LANES],
            changed: vec![Changed::default(); LANES],
            dead_below: vec![0; LANES],
            has_memory: false,
            wanted,
            distances,
            accepted: vec![NOTHING; MOST_SLOTS],
            proposed: vec![NOTHING; MOST_SLOTS],
            version: 0,
            stale: 0,
            known: 0,
            next_version: 0,
            next_stale: 0,
            last: [UNDEFINED; CELLS],
            placement: Placement::Exact,
            stores: Vec::new(),
            missing: Cell::new(None),
        }
    }

    /// Takes these states (32 at most; the rest repeats them) and what the original makes of each. False if the
    /// original cannot be run or faults on one of them.
    pub fn load(&mut self, states: &[State], task: &Task, original: &[Slot]) -> bool {
        if states.is_empty() {
            return false;
        }
        self.set_states(states, task);
        let defined = |lanes: &Lanes| lanes.wanted.iter().all(|wanted| lanes.last[wanted.cell] != UNDEFINED);
        if self.run_original(original).is_none() || !defined(self) {
            return false;
        }
        for k in 0..self.wanted.len() {
            let Wanted { cell, buffer, .. } = self.wanted[k];
            self.buffers[buffer] = self.buffers[self.real(self.last[cell], self.next_version)];
        }
        let changed = self.left_changed();
        let Some(changed) = changed else { return false };
        self.has_memory = changed.iter().any(|changed| !changed.is_empty());
        self.changed = changed;
        self.reset();
        true
    }

    fn set_states(&mut self, states: &[State], task: &Task) {
        for i in 0..LANES {
            let state = &states[i % states.len()];
            let mut set = |cell: usize, value: u64| self.buffers[cell][i / PART][i % PART] = value;
            (0..16).for_each(|n| set(n, state.general[n]));
            (0..64).for_each(|n| set(16 + n, state.vector[n / 4][n % 4]));
            (0..cells::FLAG_COUNT).for_each(|n| set(cells::FLAGS + n, u64::from(state.flags[n])));
            self.images[i] = match i.checked_sub(states.len()) {
                None => Arc::new(Image::new(&state.memory)),
                Some(same) => self.images[same].clone(),
            };
            self.dead_below[i] = if task.dead_below_stack == DeadStack::Yes { state.general[4] } else { 0 };
            self.changed[i] = Changed::default();
        }
        self.reset();
    }

    /// Runs the original, which may read what it likes.
    fn run_original(&mut self, original: &[Slot]) -> Option<u32> {
        let initial = self.initial;
        self.initial = std::array::from_fn(|cell| cell as u16);
        let ran = self.run(original, u32::MAX, Purpose::Original);
        self.initial = initial;
        ran
    }

    /// Takes one state, and gives it the memory that the original asks for where it has none. False if the original
    /// faults on it for another reason, or asks for too much.
    pub fn load_one(&mut self, state: &mut State, task: &Task, original: &[Slot]) -> bool {
        for _ in 0..MOST_PIECES {
            self.missing.set(None);
            if self.load(std::slice::from_ref(state), task, original) {
                return true;
            }
            let Some(place) = self.missing.get() else { return false };
            state.map(place);
        }
        false
    }

    /// Runs code on one state, which gets the memory that it asks for; gives the state afterwards. Registers and flags that
    /// the code leaves undefined keep their values.
    pub(crate) fn run_one(&mut self, state: &mut State, task: &Task, code: &[Slot]) -> Option<State> {
        for _ in 0..MOST_PIECES {
            self.missing.set(None);
            self.set_states(std::slice::from_ref(state), task);
            if self.run_original(code).is_some()
                && let Some(changed) = self.left_changed()
            {
                let mut after = state.clone();
                for cell in (0..CELLS).filter(|cell| self.last[*cell] != UNDEFINED) {
                    let value = lane(&self.buffers, self.real(self.last[cell], self.next_version), 0);
                    match cell {
                        0..16 => after.general[cell] = value,
                        16..cells::FLAGS => after.vector[(cell - 16) / 4][cell % 4] = value,
                        _ => after.flags[cell - cells::FLAGS] = value & 1 == 1,
                    }
                }
                changed[0].iter().for_each(|(address, byte)| after.set_byte(*address, *byte));
                return Some(after);
            }
            state.map(self.missing.get()?);
        }
        None
    }

    /// Forgets the accepted program.
    fn reset(&mut self) {
        self.accepted.fill(NOTHING);
        (self.version, self.stale, self.known) = (0, u64::MAX, 0);
        self.distances.fill(UNKNOWN);
    }

    /// Wrong bits of a program, unless they are more than `room` or it reads what has no value.
    pub fn propose(&mut self, program: &[Slot], room: u32) -> Option<u32> {
        self.run(program, room, Purpose::Candidate)
    }

    /// Which results a program leaves, one bit each; `None` if it reads what has no value.
    pub(crate) fn defined_results(&mut self, program: &[Slot]) -> Option<u64> {
        let pool = self.pool.take()?;
        let walked = self.walk(&pool, program);
        self.pool = Some(pool);
        walked?;
        let left = |wanted: &Wanted| u64::from(self.last[wanted.cell] != UNDEFINED);
        Some(self.wanted.iter().enumerate().fold(0, |bits, (k, wanted)| bits | left(wanted) << k))
    }

    /// Does the original change memory?
    pub(crate) fn changes_memory(&self) -> bool {
        self.has_memory
    }

    /// The results: cell, bits that count, value in each state.
    pub(crate) fn wanted_columns(&self) -> Vec<(usize, u64, [u64; LANES])> {
        self.wanted.iter().map(|wanted| (wanted.cell, wanted.mask, self.column(wanted.buffer))).collect()
    }

    /// Forgets what it has run: the next proposal is run from its beginning.
    pub fn forget(&mut self) {
        self.stale = u64::MAX;
        self.distances.fill(UNKNOWN);
    }

    /// The proposal becomes the accepted program.
    pub fn accept(&mut self, program: &[Slot]) {
        self.accepted[..program.len()].copy_from_slice(&self.proposed[..program.len()]);
        (self.version, self.stale) = (self.next_version, self.next_stale);
        self.known = if program.len() >= 64 { u64::MAX } else { (1 << program.len()) - 1 };
    }

    /// The buffer that a symbolic number means: of slots the set in use.
    #[inline(always)]
    fn real(&self, symbolic: u16, version: u64) -> usize {
        let id = usize::from(symbolic);
        if id < Self::SLOTS {
            return id;
        }
        let slot = (id - Self::SLOTS) / (2 * MOST_OUTPUTS);
        id + if version >> slot & 1 == 1 { MOST_OUTPUTS } else { 0 }
    }

    fn run(&mut self, program: &[Slot], room: u32, purpose: Purpose) -> Option<u32> {
        debug_assert!(program.len() <= MOST_SLOTS);
        // Taken out and not cloned: threads would wait for each other's counts.
        let pool = self.pool.take()?;
        let cost = self.run_with(&pool, program, room, purpose);
        self.pool = Some(pool);
        cost
    }

    fn run_with(&mut self, pool: &Pool, program: &[Slot], room: u32, purpose: Purpose) -> Option<u32> {
        self.walk(pool, program)?;
        let mut needed = self.needed_at_end();
        let mut stores = 0u64;
        for (i, slot) in program.iter().enumerate() {
            stores |= u64::from(pool.template(*slot).stores.is_some()) << i;
        }
        needed |= stores;
        for i in (0..program.len()).rev() {
            if needed >> i & 1 == 1 {
                needed |= self.proposed[i].uses;
            }
        }
        self.execute(pool, program, needed);
        let mut cost = 0u32;
        for i in 0..program.len() {
            if needed >> i & 1 == 1 && self.proposed[i].faults != 0 {
                cost += FAULT * self.proposed[i].faults.count_ones();
            }
        }
        if purpose == Purpose::Original {
            return (cost == 0).then_some(0);
        }
        for k in 0..self.wanted.len() {
            cost = cost.saturating_add(self.distance_to(k));
            if cost > room {
                return None;
            }
        }
        if stores != 0 || self.has_memory {
            cost = cost.saturating_add(self.memory_distance());
        }
        (cost <= room).then_some(cost)
    }

    /// Finds where every slot's inputs come from, and which flags are asked for.
    fn walk(&mut self, pool: &Pool, program: &[Slot]) -> Option<()> {
        self.last = self.initial;
        let mut stores = 0u64;
        // Before the first slot that is not as it was, inputs are as they were, too.
        let mut as_before = true;
        for (i, slot) in program.iter().enumerate() {
            as_before &= *slot == self.accepted[i].slot;
            if slot.is_empty() {
                (self.proposed[i].slot, self.proposed[i].uses) = (*slot, 0);
                (self.proposed[i].count, self.proposed[i].faults, self.proposed[i].flags) = (0, 0, 0);
                continue;
            }
            let template = pool.template(*slot);
            if as_before && self.known >> i & 1 == 1 {
                self.proposed[i] = self.accepted[i];
                stores |= u64::from(template.stores.is_some()) << i;
                self.define_outputs(template, slot, i, self.accepted[i].flags_defined);
                continue;
            }
            let idiom = pool.is_idiom(*slot);
            let mut uses = 0u64;
            let count = template.inputs.len();
            let mut flags_defined = true;
            for (k, role) in template.inputs.iter().enumerate() {
                let cell = usize::from(cell(*role, slot));
                let mut from = *self.last.get(cell)?;
                if from == UNDEFINED {
                    // A flag that depends on a value that nobody defined has none itself.
                    flags_defined &= k < template.base_inputs;
                    if !(idiom && cell < cells::FLAGS) && k < template.base_inputs {
                        return None;
                    }
                    from = 0;
                }
                let id = usize::from(from);
                if id >= Self::SLOTS {
                    let producer = (id - Self::SLOTS) / (2 * MOST_OUTPUTS);
                    uses |= 1 << producer;
                    if cell >= cells::FLAGS {
                        let output = (id - Self::SLOTS) % (2 * MOST_OUTPUTS);
                        self.ask_flag(pool, producer, output);
                    }
                }
                self.proposed[i].inputs[k] = from;
            }
            if template.loads {
                uses |= stores;
            }
            stores |= u64::from(template.stores.is_some()) << i;
            let placed = &mut self.proposed[i];
            (placed.slot, placed.count, placed.flags, placed.uses, placed.faults) = (*slot, count as u8, 0, uses, 0);
            placed.flags_defined = flags_defined;
            self.define_outputs(template, slot, i, flags_defined);
        }
        for k in 0..self.wanted.len() {
            let from = self.last[self.wanted[k].cell];
            if self.wanted[k].cell >= cells::FLAGS && from != UNDEFINED && usize::from(from) >= Self::SLOTS {
                let id = usize::from(from) - Self::SLOTS;
                self.ask_flag(pool, id / (2 * MOST_OUTPUTS), id % (2 * MOST_OUTPUTS));
            }
        }
        Some(())
    }

    /// What a slot writes is found in its buffers from here on.
    #[inline(always)]
    fn define_outputs(&mut self, template: &Template, slot: &Slot, i: usize, flags_defined: bool) {
        let base = Self::SLOTS + i * 2 * MOST_OUTPUTS;
        let first = template.stores.map_or(0, |bytes| 1 + usize::from(bytes).div_ceil(8));
        for (k, role) in template.outputs.iter().enumerate() {
            self.last[usize::from(cell(*role, slot))] = (base + first + k) as u16;
        }
        let first = first + template.outputs.len();
        for (k, flag) in template.flags.iter().enumerate() {
            self.last[usize::from(flag.cell)] = if flags_defined { (base + first + k) as u16 } else { UNDEFINED };
        }
        template.undefined.iter().for_each(|cell| self.last[usize::from(*cell)] = UNDEFINED);
    }

    #[inline(always)]
    fn ask_flag(&mut self, pool: &Pool, producer: usize, output: usize) {
        let template = pool.template(self.proposed[producer].slot);
        let stored = template.stores.map_or(0, |bytes| 1 + usize::from(bytes).div_ceil(8));
        self.proposed[producer].flags |= 1 << (output - stored - template.outputs.len());
    }

    /// Slots whose values are looked at when the program is done.
    fn needed_at_end(&self) -> u64 {
        let mut needed = 0;
        let mut need = |from: u16| {
            if from != UNDEFINED && usize::from(from) >= Self::SLOTS {
                needed |= 1u64 << ((usize::from(from) - Self::SLOTS) / (2 * MOST_OUTPUTS));
            }
        };
        for wanted in &self.wanted {
            need(self.last[wanted.cell]);
            if self.placement == Placement::Anywhere {
                wanted.others().for_each(|cell| need(self.last[cell]));
            }
        }
        needed
    }

    /// Runs the slots that are needed and whose inputs, or which themselves, have changed.
    fn execute(&mut self, pool: &Pool, program: &[Slot], needed: u64) {
        let (mut touched, mut stale) = (0u64, 0u64);
        self.stores.clear();
        for (i, slot) in program.iter().enumerate() {
            if slot.is_empty() {
                stale |= 1 << i;
                continue;
            }
            let (new, old) = (&self.proposed[i], &self.accepted[i]);
            let count = usize::from(new.count);
            let same = new.slot == old.slot
                && new.inputs[..count] == old.inputs[..count]
                && new.uses == old.uses
                && new.flags & !old.flags == 0
                && new.uses & touched == 0
                && self.stale >> i & 1 == 0;
            let base = Self::SLOTS + i * 2 * MOST_OUTPUTS;
            if same {
                (self.proposed[i].faults, self.proposed[i].flags) = (old.faults, old.flags);
            } else if needed >> i & 1 == 0 {
                stale |= 1 << i;
                continue;
            } else {
                touched |= 1 << i;
                self.execute_slot(pool, i, base, touched);
            }
            if let Some(bytes) = pool.template(*slot).stores {
                let version = (self.version ^ touched) >> i & 1;
                self.stores.push(Stored { buffer: (base + version as usize * MOST_OUTPUTS) as u16, bytes });
            }
        }
        self.next_version = self.version ^ touched;
        self.next_stale = stale;
    }

    fn execute_slot(&mut self, pool: &Pool, i: usize, base: usize, touched: u64) {
        let version = self.version ^ touched;
        let placed = self.proposed[i];
        let template = pool.template(placed.slot);
        let mut inputs = [0u16; MOST_INPUTS];
        for (real, symbolic) in inputs.iter_mut().zip(&placed.inputs[..usize::from(placed.count)]) {
            *real = self.real(*symbolic, version) as u16;
        }
        let outputs = base + if version >> i & 1 == 1 { MOST_OUTPUTS } else { 0 };
        let frame = Frame { inputs: &inputs, temporaries: Self::TEMPORARIES, constants: Self::CONSTANTS, outputs };
        let view = View { images: &self.images, stores: &self.stores, missing: &self.missing };
        let mut faults = run(&template.steps, &template.slow, &pool.arena, &mut self.buffers, &frame, &view);
        for (k, flag) in template.flags.iter().enumerate() {
            if placed.flags >> k & 1 == 1 {
                faults |= run(&flag.steps, &template.slow, &pool.arena, &mut self.buffers, &frame, &view);
            }
        }
        self.proposed[i].faults = faults;
        let goals = self.wanted.len();
        self.distances[outputs * goals..(outputs + MOST_OUTPUTS) * goals].fill(UNKNOWN);
    }

    /// Distance of a buffer from a goal.
    fn distance(&mut self, buffer: usize, goal: usize) -> u32 {
        let at = buffer * self.wanted.len() + goal;
        if self.distances[at] == UNKNOWN {
            let wanted = self.wanted[goal];
            self.distances[at] = difference(&self.buffers[buffer], &self.buffers[wanted.buffer], wanted.mask);
        }
        self.distances[at]
    }

    /// Wrong bits of a result; all of them if no register that counts holds a value.
    fn distance_to(&mut self, goal: usize) -> u32 {
        let wanted = self.wanted[goal];
        let mut best = match self.last[wanted.cell] {
            UNDEFINED => wanted.mask.count_ones() * LANES as u32,
            from => {
                let buffer = self.real(from, self.next_version);
                self.distance(buffer, goal)
            }
        };
        if self.placement == Placement::Anywhere && best != 0 {
            for cell in wanted.others() {
                if self.last[cell] != UNDEFINED {
                    let buffer = self.real(self.last[cell], self.next_version);
                    best = best.min(self.distance(buffer, goal) + MISPLACED * LANES as u32);
                }
            }
        }
        best
    }

    /// What the stores of the last run leave changed; `None` if one was outside of memory.
    fn left_changed(&self) -> Option<Vec<Changed>> {
        let view = View { images: &self.images, stores: &self.stores, missing: &self.missing };
        (0..LANES)
            .map(|i| {
                let mut out = changed(&view, &self.buffers, i)?;
                out.retain(|address, _| !self.is_dead(*address, i));
                Some(out)
            })
            .collect()
    }

    /// Does the frame of the function end with it?
    fn is_dead(&self, address: u64, i: usize) -> bool {
        address < self.dead_below[i] && self.dead_below[i] - address <= DEEPEST
    }

    fn memory_distance(&self) -> u32 {
        let view = View { images: &self.images, stores: &self.stores, missing: &self.missing };
        let mut wrong = 0;
        for i in 0..LANES {
            let Some(left) = changed(&view, &self.buffers, i) else {
                wrong += FAULT;
                continue;
            };
            let wanted = &self.changed[i];
            for (address, byte) in &left {
                if !self.is_dead(*address, i) {
                    let goal = wanted.get(address).copied().or_else(|| self.images[i].byte(*address)).unwrap_or(0);
                    wrong += (goal ^ byte).count_ones();
                }
            }
            for (address, byte) in wanted {
                if !left.contains_key(address) {
                    wrong += (self.images[i].byte(*address).unwrap_or(0) ^ byte).count_ones();
                }
            }
        }
        wrong
    }

    /// The value that a wanted register holds after the original, in each state: for enumeration.
    pub(crate) fn goal(&self) -> Option<([u64; LANES], u64)> {
        match self.wanted[..] {
            [wanted] if wanted.general => Some((self.column(wanted.buffer), wanted.mask)),
            _ => None,
        }
    }

    /// What the original leaves in the first state: the words of each result, in the task's order.
    pub fn goals(&self) -> Vec<Vec<u64>> {
        let mut out: Vec<Vec<u64>> = Vec::new();
        for wanted in &self.wanted {
            let word = lane(&self.buffers, wanted.buffer, 0) & wanted.mask;
            match (out.last_mut(), wanted.later) {
                (Some(words), true) => words.push(word),
                _ => out.push(vec![word]),
            }
        }
        out
    }

    /// A register's value at the start, in each state.
    pub(crate) fn start(&self, register: u8) -> [u64; LANES] {
        self.column(usize::from(register))
    }

    fn column(&self, buffer: usize) -> [u64; LANES] {
        std::array::from_fn(|i| lane(&self.buffers, buffer, i))
    }

    /// What a slot makes of registers with these values; `None` if it faults or reads anything else. The states are lost.
    pub(crate) fn apply(&mut self, slot: Slot, values: &[(u8, &Buffer)]) -> Option<Buffer> {
        let pool = self.pool.clone()?;
        let template = pool.template(slot);
        let mut inputs = [0u16; MOST_INPUTS];
        for (input, role) in inputs.iter_mut().zip(&template.inputs) {
            let register = cell(*role, &slot);
            let (k, (_, value)) = values.iter().enumerate().find(|(_, (r, _))| *r == register)?;
            self.buffers[k] = **value;
            *input = k as u16;
        }
        let outputs = Self::SLOTS;
        let frame = Frame { inputs: &inputs, temporaries: Self::TEMPORARIES, constants: Self::CONSTANTS, outputs };
        let view = View { images: &self.images, stores: &[], missing: &self.missing };
        let faults = run(&template.steps, &template.slow, &pool.arena, &mut self.buffers, &frame, &view);
        let written = template.outputs.iter().position(|role| cell(*role, &slot) == slot.registers[0])?;
        (faults == 0 && template.outputs.len() == 1).then(|| self.buffers[outputs + written])
    }

    /// Which states of the last proposal are wrong.
    pub fn wrong_states(&mut self) -> Vec<usize> {
        let mut wrong = [false; LANES];
        for k in 0..self.wanted.len() {
            let wanted = self.wanted[k];
            let from = self.last[wanted.cell];
            if from == UNDEFINED {
                return (0..LANES).collect();
            }
            let buffer = self.real(from, self.next_version);
            for (i, wrong) in wrong.iter_mut().enumerate() {
                let (value, goal) = (lane(&self.buffers, buffer, i), lane(&self.buffers, wanted.buffer, i));
                *wrong |= (value ^ goal) & wanted.mask != 0;
            }
        }
        for placed in &self.proposed {
            (0..LANES).filter(|i| placed.faults >> i & 1 == 1).for_each(|i| wrong[i] = true);
        }
        (0..LANES).filter(|i| wrong[*i]).collect()
    }
}

/// Most pieces of memory that a state gets on demand.
const MOST_PIECES: usize = 256;
/// How far below the stack pointer a frame reaches.
const DEEPEST: u64 = 1 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// What comes out is the goal.
    Original,
    Candidate,
}

/// Bits in which two buffers differ.
fn difference(a: &Buffer, b: &Buffer, mask: u64) -> u32 {
    let mut sum = [0u64; PART];
    for (x, y) in a.iter().zip(b) {
        for i in 0..PART {
            sum[i] += popcount((x[i] ^ y[i]) & mask);
        }
    }
    sum.iter().sum::<u64>() as u32
}
