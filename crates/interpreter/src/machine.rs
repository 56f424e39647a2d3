//! The machine: runs a program step by step on cells and memory.
//!
//! The run of an original is instrumented. It ends at the first thing that a proof could have assumed away.

use super::callee::Callees;
use super::cells::{Cells, Origin, Shadow, Tracking, evaluate};
use super::layout::Placed;
use super::memory::{Memory, Pages, STACK_ARGUMENTS, STACK_TOP, Start, extent_of, is_stack};
use super::program::{Action, Address, ByteUse, Cell, Expression, Extent, Program};
use super::trace::{Called, End, Passed, ResultUse, SetUp, Trace, Write};
use super::watch::{FRAME_ABOVE, FRAME_BELOW, MOST_TOUCHES, Touch, Visit, Watch, WatchBase};
use program::{Callee, FaultKind, Flag, Function, Next, Place, Register, Side, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use term::{Arena, Bits};

/// Do unknown callees write memory?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effects {
    /// They leave it alone.
    Quiet,
    /// They write seeded bytes to local objects whose address they were given.
    Fills,
    /// Those whose result is looked at do that, since they may be `pure`; the others write seeded bytes where they may.
    FillsIfLookedAt,
    /// They write seeded bytes where they may.
    Writes,
}

/// What a callee does at some call of it, chosen instead of seeded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Script {
    /// The callee's name.
    pub callee: String,
    /// Its results in `rax`, `rdx`, `xmm0` and `xmm1`, the low words.
    pub results: [Option<u64>; 4],
    /// What it writes.
    pub writes: Vec<Write>,
}

/// Everything that a run depends on besides the program.
#[derive(Clone, Copy)]
pub struct Situation<'r, 'a> {
    /// Owner of function symbols.
    pub arena: &'r Arena,
    /// Memory at the start.
    pub start: Start<'r>,
    /// Callees of the pair.
    pub callees: &'r Callees<'a>,
    /// Which program.
    pub side: Side,
    /// Registers with a defined value: their low bits.
    pub arguments: &'r [(Register, Bits)],
    /// Addresses that arguments point to and callees may write to.
    pub reachable: &'r [u64],
    /// Chosen behaviour of callees; the n-th script of a callee is for its n-th call.
    pub scripts: &'r [Script],
    /// Seeded behaviour of callees.
    pub effects: Effects,
    /// What library functions return whose result is defined in sign only, as a positive number.
    pub magnitude: u64,
    /// The original's calls, for the candidate.
    pub earlier: &'r [Called<'a>],
    /// Points to be entered at most.
    pub fuel: usize,
    /// Points at which the state is noted.
    pub watch: Option<&'r Watch>,
    /// Are all addresses among the arguments multiples of 8?
    pub aligned: bool,
    /// Pages of the buffers that are there; all of them if nothing is said.
    pub pages: Option<&'r Pages>,
    /// What the candidate may compute without ending there.
    pub faults: Faults,
}

/// What computations come to that have no value: an access to memory that is not there, a division by zero.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faults {
    /// The run ends.
    End,
    /// Something, since nobody may need it. What is stored stays: it is needed if it is not what was there.
    GoOn,
}

/// A pointer to a local object that a call passed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassedPointer {
    pub address: u64,
    /// Bytes to the end of the object.
    pub room: u64,
    /// May the callee have kept it, so that a later call writes there? What a compiler sees or knows of a function tells
    /// it that the function does not.
    pub kept: bool,
}

/// A run under way.
pub(super) struct Machine<'m, 'r, 'a> {
    pub program: &'m Program<'a>,
    pub cells: &'m mut Cells,
    pub memory: &'m mut Memory,
    pub situation: Situation<'r, 'a>,
    pub tracking: Tracking,
    pub calls: Vec<Called<'a>>,
    /// Pointers to local objects that calls passed so far.
    pub passed: Vec<PassedPointer>,
    pub made_up: Vec<u64>,
    pub sign_only: bool,
    /// Was a local variable accessed at a computed address?
    pub computed_locals: bool,
    pub local_calls: bool,
    odd_bytes: Vec<(u64, ByteUse)>,
    /// Bytes of the frame that callees have written.
    pub filled: FxHashSet<u64>,
    last_load: u64,
    /// Does the load under way read an entry of a jump table? Only the jump needs it.
    reads_entry: bool,
    undefined: Option<String>,
    wild: Option<u64>,
    doubtful: Option<&'static str>,
    /// Objects that stored pointers point to: by address of the pointer, with its value.
    pointers: FxHashMap<u64, (u64, Origin)>,
    /// General registers written and not read since the last call, and those that hold what they held at entry.
    unread: u32,
    untouched: u32,
    /// General registers written since the last branch.
    recent: u32,
    result: ResultUse,
    extents: [Extent; 16],
    unknowns: u64,
    /// Is the run watched for going in circles?
    watched: bool,
    pub place: u64,
    /// Is the call under way a jump?
    pub tail: bool,
    visits: Vec<Visit>,
    /// A bit for each point that was entered.
    entered: Vec<u64>,
    touches: Vec<Touch>,
    /// Is its result looked at right behind it?
    pub result_used: bool,
}

/// Visits of watched points that are noted in one run.
const MOST_VISITS: usize = 400;
/// Bytes of the world that were loaded as such and are not 0 or 1: the most that are noted.
const MOST_ODD_BYTES: usize = 256;
/// The state of a run at a point.
#[derive(PartialEq, Eq)]
struct StateImage {
    at: program::PointId,
    narrow: Vec<u64>,
    wide: Vec<Bits>,
    /// How often memory changed.
    memory: u64,
    chosen: [usize; 2],
}

/// Points in which a run that is out of fuel is watched for going in circles.
const MOST_TURNS: usize = 4096;
/// Calls in one run.
pub(super) const MOST_CALLS: usize = 200;

pub(super) fn narrow(register: Register) -> Cell {
    Cell::Narrow(register.index() as u32)
}

/// The cell of a register.
pub(super) fn cell_of(register: Register) -> Cell {
    match register {
        Register::Vector(_) | Register::VectorHigh(_) => Cell::Wide(register.index() as u32),
        _ => narrow(register),
    }
}

/// Runs a program.
pub fn run<'a>(
    program: &Program<'a>,
    cells: &mut Cells,
    memory: &mut Memory,
    situation: Situation<'_, 'a>,
) -> Trace<'a> {
    memory.reset();
    let tracking = if situation.side == Side::Original { Tracking::On } else { Tracking::Off };
    let mut machine = Machine {
        program,
        cells,
        memory,
        situation,
        tracking,
        calls: Vec::new(),
        passed: Vec::new(),
        made_up: Vec::new(),
        sign_only: false,
        computed_locals: false,
        local_calls: false,
        odd_bytes: Vec::new(),
        filled: FxHashSet::default(),
        last_load: 0,
        reads_entry: false,
        undefined: None,
        wild: None,
        doubtful: None,
        pointers: FxHashMap::default(),
        unread: 0,
        untouched: u32::MAX,
        recent: 0,
        result: ResultUse::None,
        extents: [Extent::Whole; 16],
        unknowns: 0,
        watched: false,
        place: 0,
        tail: false,
        visits: Vec::new(),
        entered: vec![0; program.points.len() / 64 + 1],
        touches: Vec::new(),
        result_used: false,
    };
    machine.enter();
    let saved: Vec<u64> = saved_registers().map(|r| machine.cells.low(cell_of(r))).collect();
    let (end, steps) = machine.go();
    machine.trace(end, steps, &saved)
}

fn saved_registers() -> impl Iterator<Item = Register> {
    [Register::RSP].into_iter().chain(Register::CALLEE_SAVED).chain([Register::Flag(Flag::Direction)])
}

impl<'a> Machine<'_, '_, 'a> {
    /// Registers at entry: garbage, except what is known.
    fn enter(&mut self) {
        let garbage = self.situation.start.garbage;
        self.cells.copies.reset();
        (self.cells.inexact, self.cells.far, self.cells.outside) = (false, false, false);
        for register in Register::all() {
            let random = garbage.mix(register.index() as u64);
            let (value, shadow) = match register {
                Register::RSP => (STACK_TOP, Shadow { taint: 0, origin: Origin::Frame }),
                Register::FsBase => (0x7f00_0000_0000, Shadow::CLEAN),
                Register::GsBase => (0x7e00_0000_0000, Shadow::CLEAN),
                Register::Flag(Flag::Direction) => (0, Shadow::CLEAN),
                Register::Flag(_) => (random & 1, Shadow::UNDEFINED),
                _ => (random, Shadow::UNDEFINED),
            };
            self.set_register(register, value, shadow);
        }
        for (register, bits) in self.situation.arguments {
            let cell = cell_of(*register);
            let bytes = u32::from(bits.width() / 8);
            let shadow = Shadow { taint: u64::MAX.checked_shl(bytes).unwrap_or(0), origin: Origin::None };
            match cell {
                Cell::Narrow(index) => {
                    let old = self.cells.narrow[index as usize];
                    let high = if bits.width() < 64 { old >> bits.width() << bits.width() } else { 0 };
                    self.cells.narrow[index as usize] = high | bits.low();
                    let taint = shadow.taint & 0xff;
                    self.cells.set_shadow(cell, Shadow { taint, ..shadow });
                }
                Cell::Wide(index) => {
                    let old = self.cells.wide[index as usize];
                    let whole = if bits.width() < 128 { old.extract(127, bits.width()).concat(*bits) } else { *bits };
                    self.cells.wide[index as usize] = whole;
                    self.cells.set_shadow(cell, Shadow { taint: shadow.taint & 0xffff, ..shadow });
                }
            }
        }
    }

    pub fn set_register(&mut self, register: Register, value: u64, shadow: Shadow) {
        let cell = cell_of(register);
        match cell {
            Cell::Narrow(index) => self.cells.narrow[index as usize] = value,
            Cell::Wide(index) => {
                let more = value.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.cells.wide[index as usize] = Bits::from_limbs(128, &[value, more]);
            }
        }
        if self.tracking == Tracking::On {
            self.cells.set_shadow(cell, shadow);
        }
    }

    pub fn register(&self, register: Register) -> u64 {
        self.cells.low(cell_of(register))
    }

    /// A number that differs each time, of this side's garbage.
    pub fn garbage(&mut self) -> u64 {
        self.unknowns += 1;
        // Undefined values of a candidate may be anything, so they may be the same from turn to turn.
        let number = if self.watched { 0 } else { self.unknowns };
        self.situation.start.garbage.mix(0x1_0000 + number)
    }

    /// The run is no evidence: an original may do that only where it is undefined.
    pub fn reject(&mut self, why: impl FnOnce() -> String) -> End {
        if self.undefined.is_none() {
            self.undefined = Some(why());
        }
        End::Unsupported
    }

    fn go(&mut self) -> (End, usize) {
        let mut at = Function::ENTRY;
        for step in 0..self.situation.fuel {
            if let Some(watch) = self.situation.watch
                && (watch.points.get(at.index()) == Some(&true) || watch.waits.get(at.index()) == Some(&true))
                && self.visits.len() < MOST_VISITS
            {
                let visit = self.visit(at, watch);
                self.visits.push(visit);
            }
            self.entered[at.index() / 64] |= 1 << (at.index() % 64);
            match self.point(at) {
                Ok(next) => at = next,
                Err(end) => return (end, step + 1),
            }
        }
        let turns = if self.tracking == Tracking::Off { self.situation.fuel.min(MOST_TURNS) } else { 0 };
        let end = if self.goes_round(at, turns) { End::Forever } else { End::Fuel };
        (end, self.situation.fuel + turns)
    }

    /// Does the run come back to a point in the same state? Brent's algorithm: the state is compared with one that is
    /// kept, and a later one is kept after twice as many points.
    fn goes_round(&mut self, mut at: program::PointId, turns: usize) -> bool {
        self.watched = true;
        let mut kept = self.image(at);
        let (mut since, mut patience) = (0, 1);
        for _ in 0..turns {
            match self.point(at) {
                Ok(next) => at = next,
                Err(_) => return false,
            }
            if self.chosen() != kept.chosen {
                return false;
            }
            if at == kept.at && self.memory.version() == kept.memory && self.image(at) == kept {
                return true;
            }
            since += 1;
            if since == patience {
                kept = self.image(at);
                (since, patience) = (0, 2 * patience);
            }
        }
        false
    }

    /// How many calls were made so far: their results differ from turn to turn.
    fn chosen(&self) -> [usize; 2] {
        [self.calls.len(), self.made_up.len()]
    }

    /// Everything that what comes next depends on.
    fn image(&self, at: program::PointId) -> StateImage {
        StateImage {
            at,
            narrow: self.cells.narrow.clone(),
            wide: self.cells.wide.clone(),
            memory: self.memory.version(),
            chosen: self.chosen(),
        }
    }

    /// The state at a watched point.
    fn visit(&mut self, point: program::PointId, watch: &Watch) -> Visit {
        let general = std::array::from_fn(|i| self.cells.narrow[i]);
        let halves = (0..16).map(Register::Vector).chain((0..16).map(Register::VectorHigh));
        let word = |half: Register| {
            let limbs = self.cells.wide[half.index()].limbs();
            u128::from(limbs[1]) << 64 | u128::from(limbs[0])
        };
        let vectors = halves.map(word).collect();
        let mut frame = vec![0; FRAME_BELOW + FRAME_ABOVE];
        self.memory.peek_frame(&self.situation.start, STACK_TOP - FRAME_BELOW as u64, &mut frame);
        let mut loads = Vec::with_capacity(watch.loads.len());
        for load in &watch.loads {
            let base = match load.base {
                WatchBase::Address(address) => address,
                WatchBase::Register(i) => self.cells.narrow[usize::from(i)],
                WatchBase::Indexed { base, index, scale } => {
                    let [base, index] = [base, index].map(|i| self.cells.narrow[usize::from(i)]);
                    base.wrapping_add(index.wrapping_mul(u64::from(scale)))
                }
                WatchBase::Slot(offset) => {
                    let at = (offset + FRAME_BELOW as i64) as usize;
                    frame.get(at..at + 8).map_or(0, |b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
                }
            };
            loads.push(self.memory.peek(&self.situation.start, base.wrapping_add(load.offset as u64), load.bytes));
        }
        Visit {
            point,
            calls: self.calls.len(),
            general,
            vectors,
            frame,
            world: self.memory.fingerprint(),
            loads,
            waits: watch.waits.get(point.index()) == Some(&true),
            touches: std::mem::take(&mut self.touches),
        }
    }

    fn touch(&mut self, address: u64, data: &[u8], write: bool) {
        if self.situation.watch.is_some() && self.touches.len() < MOST_TOUCHES {
            self.touches.extend(Touch::of(address, data, write));
        }
    }

    fn point(&mut self, at: program::PointId) -> Result<program::PointId, End> {
        let program = self.program;
        let (point, code) = (program.function.point(at), &program.points[at.index()]);
        for step in &program.steps[code.steps.start as usize..code.steps.end as usize] {
            self.place = step.place;
            self.action(&step.action)?;
            if let Some(written) = step.writes {
                let bit = 1 << written.register;
                self.untouched &= !bit;
                self.recent |= bit;
                self.extents[usize::from(written.register)] = written.extent;
                self.unread = if written.alone { self.unread | bit } else { self.unread & !bit };
            }
        }
        match &point.next {
            Next::Edges(edges) => {
                for (edge, guard) in edges.iter().zip(&code.guards) {
                    let taken = self.evaluate(guard) != 0;
                    if self.tracking == Tracking::On && self.cells.shadow(guard.cell).taint & 1 != 0 {
                        return Err(self.reject(|| "condition on something that nobody defined".to_string()));
                    }
                    if taken {
                        if edges.len() > 1 {
                            self.cells.copies.interrupt();
                            self.recent = 0;
                        }
                        return Ok(edge.target);
                    }
                }
                Err(End::Unsupported)
            }
            Next::Call(call) => {
                let callees = self.situation.callees;
                let info = match (&call.callee, &code.target) {
                    (Callee::Named(name), _) => callees.find(name),
                    (Callee::Pointer(_), Some(target)) => {
                        let address = self.evaluate(target);
                        self.check_defined(target, "call through a pointer")?;
                        match self.pointed_name(address) {
                            Some(name) => callees.find(&name),
                            None => callees.at_address(address, program.function.pointer_calls.get(&at)),
                        }
                    }
                    (Callee::Pointer(_), None) => return Err(End::Unsupported),
                };
                (self.tail, self.result_used) = (call.tail, code.result_used);
                self.call(&info, code.byte_result)?;
                (self.unread, self.untouched, self.recent) = (0, 0, 0);
                match call.returns {
                    _ if call.tail => Err(End::Return),
                    Some(next) => Ok(next),
                    None => Err(End::NoReturn),
                }
            }
            Next::Return => {
                self.result = match (self.unread & 1, self.recent & 1) {
                    (0, _) => ResultUse::None,
                    (_, 0) => ResultUse::Possible,
                    _ => ResultUse::Certain,
                };
                Err(End::Return)
            }
            Next::Fault(kind) => Err(self.fault(*kind)),
        }
    }

    fn pointed_name(&self, address: u64) -> Option<String> {
        let layout = self.situation.start.layout;
        let (placed, offset) = layout.object_at(layout.translate(address))?;
        (offset == 0).then(|| placed.object.name.clone())
    }

    fn fault(&mut self, kind: FaultKind) -> End {
        if self.tracking == Tracking::On {
            return self.reject(|| format!("fault: {}", kind.name()));
        }
        End::Fault(kind, self.place)
    }

    pub fn evaluate(&mut self, expression: &Expression) -> u64 {
        self.unread &= !expression.reads;
        evaluate(self.cells, self.program, self.situation.arena, expression, self.tracking);
        self.cells.low(expression.cell)
    }

    fn check_defined(&mut self, expression: &Expression, what: &str) -> Result<(), End> {
        if self.tracking == Tracking::On && self.cells.shadow(expression.cell).taint & 0xff != 0 {
            return Err(self.reject(|| format!("{what} that nobody defined")));
        }
        Ok(())
    }

    fn action(&mut self, action: &Action) -> Result<(), End> {
        match action {
            Action::Set { to, value } => {
                self.evaluate(value);
                self.cells.copy(*to, value.cell);
                if self.tracking == Tracking::On {
                    let mut shadow = self.cells.shadow(value.cell);
                    let frame = *to == narrow(Register::RSP) || *to == narrow(Register::RBP);
                    if frame && matches!(shadow.origin, Origin::Local(_)) {
                        shadow.origin = Origin::Frame;
                    }
                    self.cells.set_shadow(*to, shadow);
                    let source = if value.code.is_empty() { self.cells.copies.source(value.cell) } else { None };
                    self.cells.copies.set(*to, source);
                }
            }
            Action::Load { to, address, bytes, taken_for } => {
                self.load(*to, address, *bytes)?;
                if *bytes == 1 {
                    self.note_byte(*to, *taken_for);
                }
            }
            Action::Store { address, value, bytes } => self.store(address, value, *bytes)?,
            Action::Unknown { to, width } => {
                let random = self.garbage();
                match to {
                    Cell::Narrow(index) => {
                        let bits = (*width).max(1);
                        self.cells.narrow[*index as usize] = Bits::new(bits, random).low();
                    }
                    Cell::Wide(index) => self.cells.wide[*index as usize] = Bits::from_limbs(*width, &[random, random]),
                }
                if self.tracking == Tracking::On {
                    self.cells.set_shadow(*to, Shadow::UNDEFINED);
                }
            }
            Action::Fault { condition, kind } => {
                let holds = self.evaluate(condition) != 0;
                self.check_defined(condition, "fault condition")?;
                let passed_over = *kind == FaultKind::Divide && self.situation.faults == Faults::GoOn;
                if holds && !passed_over {
                    return Err(self.fault(*kind));
                }
            }
            Action::Unsupported => return Err(End::Unsupported),
        }
        Ok(())
    }

    fn locate(&mut self, address: &Address, bytes: u16, write: bool) -> Result<u64, End> {
        let at = self.evaluate(&address.expression);
        self.check_defined(&address.expression, "address")?;
        let origin = match self.tracking {
            Tracking::On if !address.direct => self.cells.shadow(address.expression.cell).origin,
            _ => Origin::Slot,
        };
        self.access(at, u64::from(bytes), origin, write)
    }

    fn load(&mut self, to: Cell, address: &Address, bytes: u16) -> Result<(), End> {
        let at = self.locate(address, bytes, false)?;
        self.last_load = at;
        let mut data = [0u8; 64];
        let out = &mut data[..usize::from(bytes)];
        let mut taint = self.memory.read(&self.situation.start, at, out);
        if std::mem::take(&mut self.reads_entry) {
            taint = u64::MAX;
        }
        self.touch(at, &data[..usize::from(bytes)], false);
        if self.tracking == Tracking::On {
            if is_stack(at) {
                self.cells.copies.interrupt();
            }
            self.cells.copies.set(to, Some((at, bytes)).filter(|_| !is_stack(at)));
        }
        match to {
            Cell::Narrow(index) => {
                let word = u64::from_le_bytes(data[..8].try_into().expect("eight bytes"));
                self.cells.narrow[index as usize] = word;
                if self.tracking == Tracking::On {
                    let origin = if bytes == 8 { self.stored_origin(at, word) } else { Origin::None };
                    self.cells.set_shadow(to, Shadow { taint, origin });
                }
            }
            Cell::Wide(index) => {
                self.cells.wide[index as usize] = Bits::from_bytes(&data[..usize::from(bytes)]);
                if self.tracking == Tracking::On {
                    self.cells.set_shadow(to, Shadow { taint, origin: Origin::None });
                }
            }
        }
        Ok(())
    }

    /// Notes a byte that was loaded as such: no truth value, by the look of it.
    fn note_byte(&mut self, to: Cell, taken_for: ByteUse) {
        let at = self.last_load;
        // So may an argument on the stack that no declaration describes.
        let argument = at >= STACK_ARGUMENTS && self.program.function.signature.is_none();
        let may_be_truth = !is_stack(at) || argument || self.filled.contains(&at);
        if self.cells.low(to) > 1 && may_be_truth && self.odd_bytes.len() < MOST_ODD_BYTES {
            self.odd_bytes.push((at, taken_for));
        }
    }

    fn stored_origin(&self, at: u64, value: u64) -> Origin {
        match self.pointers.get(&at) {
            Some((stored, origin)) if *stored == value => *origin,
            _ if is_stack(value) => Origin::Frame,
            _ => Origin::None,
        }
    }

    fn store(&mut self, address: &Address, value: &Expression, bytes: u16) -> Result<(), End> {
        let at = self.locate(address, bytes, true)?;
        let word = self.evaluate(value);
        let mut data = [0u8; 64];
        match value.cell {
            Cell::Narrow(_) => data[..8].copy_from_slice(&word.to_le_bytes()),
            Cell::Wide(index) => {
                for (chunk, limb) in data.chunks_mut(8).zip(self.cells.wide[index as usize].limbs()) {
                    chunk.copy_from_slice(&limb.to_le_bytes());
                }
            }
        }
        let mut taint = 0;
        if self.tracking == Tracking::On {
            let shadow = self.cells.shadow(value.cell);
            taint = if self.has_left_object(word, shadow.origin) { u64::MAX } else { shadow.taint };
            taint |= self.program.function.paddings.get(&self.place).copied().unwrap_or(0);
            if bytes == 8
                && matches!(shadow.origin, Origin::Local(_) | Origin::Object(_) | Origin::Near(_) | Origin::Section)
            {
                self.pointers.insert(at, (word, shadow.origin));
            }
            let source = self.program.moved_cell(value).and_then(|cell| self.cells.copies.source(cell));
            if !is_stack(at) && self.cells.copies.store(at, bytes, source) {
                self.doubt("a block that overlaps its copy");
            }
        }
        self.memory.write(&self.situation.start, at, &data[..usize::from(bytes)], taint);
        self.touch(at, &data[..usize::from(bytes)], true);
        Ok(())
    }

    /// How the general argument registers came to their values.
    pub fn set_up(&self) -> [SetUp; 6] {
        Register::ARGUMENTS.map(|register| {
            let bit = 1 << register.index();
            if self.untouched & bit != 0 {
                SetUp::Entry
            } else if self.unread & bit != 0 {
                SetUp::Written(self.extents[register.index()])
            } else {
                SetUp::Unknown
            }
        })
    }

    /// The real address of an access, checked against everything a proof may assume of it. The candidate may access
    /// what it likes, as long as that can be mapped.
    pub fn access(&mut self, address: u64, bytes: u64, origin: Origin, write: bool) -> Result<u64, End> {
        let at = self.situation.start.layout.translate(address);
        let last = at.wrapping_add(bytes.max(1) - 1);
        if at < 4096 || last >= (1 << 47) - 4096 || last < at {
            if self.tracking == Tracking::On {
                self.wild = Some(at);
                return Err(self.reject(|| format!("access at {at:#x}")));
            }
            if self.situation.faults == Faults::GoOn && last >= at {
                return Ok(at);
            }
            return Err(End::BadAddress(at, self.place));
        }
        let top = self.register(Register::RSP);
        if self.tracking == Tracking::On && (!is_stack(top) || top > STACK_TOP) {
            self.doubt("an array of variable size for which there is no stack");
        }
        if is_stack(at) {
            let below = at < top.wrapping_sub(128) && is_stack(top);
            if below {
                return Err(self.fault(FaultKind::BelowStack));
            }
            if write && at < STACK_ARGUMENTS && last >= STACK_TOP {
                return Err(self.fault(FaultKind::ReturnAddress));
            }
        }
        let layout = &self.situation.start.layout;
        if layout.is_half(at) {
            return Err(match self.tracking {
                Tracking::On => self.reject(|| "access at half an address".to_string()),
                Tracking::Off => End::Unsupported,
            });
        }
        let unknown = |(placed, offset): (Placed, u64)| {
            let behind = placed.object.size.is_some_and(|size| offset.saturating_add(bytes) > size);
            placed.object.read_only && (placed.object.content.is_none() || behind)
        };
        if !write && ((!layout.free && layout.is_nowhere(at)) || layout.object_at(at).is_some_and(unknown)) {
            // A constant that the frontend does not know: any value we made up would be wrong.
            if self.program.function.surroundings.table_loads.contains(&self.place) {
                self.reads_entry = true;
            } else if self.tracking == Tracking::Off {
                return Err(End::Unsupported);
            } else {
                self.doubt("read of a constant that is not known");
            }
        }
        if self.tracking == Tracking::Off {
            let read_only = write && self.situation.start.layout.has_content(at, bytes.max(1));
            let missing = self.situation.faults == Faults::End
                && self.situation.pages.is_some_and(|pages| !pages.have(at) || !pages.have(last));
            return if read_only || missing { Err(End::BadAddress(at, self.place)) } else { Ok(at) };
        }
        self.check_access(at, bytes, origin, write)?;
        Ok(at)
    }

    /// The run shows that the original can run, but compilers may have counted on something that it violates.
    pub fn doubt(&mut self, why: &'static str) {
        self.doubtful.get_or_insert(why);
    }

    fn trace(mut self, end: End, steps: usize, saved: &[u64]) -> Trace<'a> {
        let spoiled =
            saved_registers().zip(saved).find(|(r, value)| self.cells.low(cell_of(*r)) != **value).map(|(r, _)| r);
        if let (End::Return, Some(register), Tracking::On) = (end, spoiled, self.tracking) {
            self.reject(|| format!("{} is not restored", register.name()));
        }
        let result = |register: Register| {
            let cell = cell_of(register);
            let bits = match cell {
                Cell::Narrow(index) => Bits::new(64, self.cells.narrow[index as usize]),
                Cell::Wide(index) => self.cells.wide[index as usize],
            };
            Passed { bits, taint: if self.tracking == Tracking::On { self.cells.shadow(cell).taint } else { 0 } }
        };
        let results =
            [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)].map(result);
        let doubts = [
            (self.cells.inexact, "pointers apart by no multiple of their type"),
            (self.cells.far, "a shift by more bits than there are"),
            (self.cells.outside, "an index that leads from one member to another"),
        ];
        let doubt = doubts.into_iter().find_map(|(holds, why)| holds.then_some(why));
        let gone = self.memory.allocations.iter().filter(|a| a.freed).map(|a| (a.start, a.size));
        let freed = gone.chain(self.memory.freed.iter().map(|start| (*start, extent_of(*start)))).collect();
        // A result that the function passes on is looked at by its caller.
        let signature = self.program.function.signature.as_ref();
        let rax = |value: &Value| value.place == Place::Register(Register::General(0));
        let passes_on = self.result == ResultUse::None && signature.is_some_and(|s| s.results.iter().any(rax));
        if let (End::Return, true, Some(last)) = (end, passes_on, self.calls.last_mut()) {
            last.result_used = true;
        }
        Trace {
            end,
            results,
            spoiled: spoiled.filter(|_| end == End::Return),
            changes: self.memory.changes(),
            undefined: self.undefined,
            wild: self.wild,
            doubtful: self.doubtful.or(doubt),
            place: self.place,
            entered: self.entered,
            made_up: self.made_up,
            sign_only: self.sign_only,
            computed_locals: self.computed_locals,
            local_calls: self.local_calls,
            odd_bytes: self.odd_bytes,
            freed,
            unknowns: self.unknowns,
            result: self.result,
            steps,
            calls: self.calls,
            visits: self.visits,
            touches: self.touches,
        }
    }
}
