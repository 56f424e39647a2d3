//! Calls: what a callee does to registers and memory, and what is noted about the call.

use super::callee::CalleeInfo;
use super::cells::{Origin, Shadow, Tracking};
use super::machine::{Effects, MOST_CALLS, Machine, PassedPointer, Script, cell_of};
use super::memory::{STACK_TOP, is_stack};
use super::program::Cell;
use super::trace::{Called, End, Form, Passed, Pointed, SetUp, Target, Write};
use super::values::{plausible_word, text_key};
use library::Effect;
use program::contract::{Fixed, FixedResult, LocalContract, LocalEffect};
use program::{Place, Register, Side, Value};
use std::rc::Rc;
use term::Bits;

/// Registers in which results arrive.
pub(super) const RESULTS: [Register; 4] =
    [Register::General(0), Register::General(2), Register::Vector(0), Register::Vector(1)];

/// Registers that callees of `ms_abi` keep and ours need not: `rsi`, `rdi`, `xmm6` and up.
const KEPT_BY_OTHERS: [Register; 12] = [
    Register::General(6),
    Register::General(7),
    Register::Vector(6),
    Register::Vector(7),
    Register::Vector(8),
    Register::Vector(9),
    Register::Vector(10),
    Register::Vector(11),
    Register::Vector(12),
    Register::Vector(13),
    Register::Vector(14),
    Register::Vector(15),
];

/// Longest local object that is compared or written at a call.
const LONGEST_LOCAL: u64 = 512;
/// Where objects lie that callees make of which only that is known.
const NEW_OBJECTS: u64 = 0x3f00_0000_0000;

/// The value of a result register: low word, and bytes that are defined.
pub(super) type Answer = [Option<(u64, u16)>; 4];

/// What is special about an event.
#[derive(Default)]
pub(super) struct Special {
    /// Is only the low byte of the result looked at?
    pub byte_result: bool,
    /// General form of the call, if it differs.
    pub form: Option<Form>,
    /// The function whose result this is, if it is another's.
    pub result_of: Option<&'static str>,
    /// The result, if it is not made up.
    pub answer: Option<Answer>,
}

impl Special {
    /// An event with a known result.
    pub fn answered(answer: Answer) -> Special {
        Special { answer: Some(answer), ..Special::default() }
    }
}

impl<'a> Machine<'_, '_, 'a> {
    /// Makes a call and leaves the state behind it.
    pub fn call(&mut self, info: &Rc<CalleeInfo<'a>>, byte_result: bool) -> Result<(), End> {
        let answer = match self.library_call(info)? {
            Some(answer) => answer,
            None if info.is_silent_local() => {
                self.local_calls = true;
                self.silent_local(info)
            }
            None => self.event(info, Special { byte_result, ..Special::default() })?,
        };
        // A compiler that sees the callee's code may know which registers it leaves alone.
        let seen = info.defined && self.situation.side == Side::Candidate;
        if !seen {
            self.forget_registers(info);
        }
        self.leave(&answer);
        Ok(())
    }

    /// Garbage in the registers that a callee need not keep. One that nobody declares may be of another convention (`ms_abi`),
    /// whose callees keep more; the candidate's compiler knew.
    fn forget_registers(&mut self, info: &CalleeInfo) {
        let random = self.garbage();
        let undeclared = info.signature.is_none() && info.library.is_none();
        let other_convention = undeclared && self.situation.side == Side::Candidate;
        for register in Register::all() {
            let keep = match register {
                _ if other_convention && KEPT_BY_OTHERS.contains(&register) => true,
                Register::General(_) => register == Register::RSP || Register::CALLEE_SAVED.contains(&register),
                Register::Flag(flag) => flag == program::Flag::Direction,
                Register::FsBase | Register::GsBase => true,
                Register::Vector(_) | Register::VectorHigh(_) => false,
            };
            if !keep {
                let value = random.wrapping_mul(2 * register.index() as u64 + 1);
                let truth = matches!(register, Register::Flag(_));
                self.set_register(register, if truth { value >> 63 } else { value }, Shadow::UNDEFINED);
            }
        }
    }

    /// Results and stack behind a call.
    fn leave(&mut self, answer: &Answer) {
        for (register, result) in RESULTS.into_iter().zip(answer) {
            let Some((value, bytes)) = result else { continue };
            let old = self.register(register);
            let low = if *bytes < 8 { (1 << (8 * bytes)) - 1 } else { u64::MAX };
            let taint = if *bytes >= 16 { 0 } else { u64::MAX << bytes };
            let taint = if matches!(register, Register::General(_)) { taint & 0xff } else { taint & 0xffff };
            let shadow = Shadow { taint, ..Shadow::CLEAN };
            self.set_register(register, old & !low | value & low, shadow);
        }
        let rsp = self.register(Register::RSP);
        self.memory.forget_below(rsp);
    }

    /// A general argument register at a call.
    pub fn argument(&self, i: usize) -> u64 {
        self.register(Register::ARGUMENTS[i])
    }

    /// Where a value that the original passes in a register is on this side; `None` if the candidate does not take it.
    fn on_side(&self, info: &CalleeInfo, register: Register) -> Option<Register> {
        match info.local.and_then(|local| local.moved.get(&register)) {
            None => Some(register),
            Some(None) => None,
            Some(Some(to)) if self.situation.side == Side::Candidate => Some(*to),
            Some(Some(_)) => Some(register),
        }
    }

    /// What the results of a call are, from a stream of random numbers, given how wide the original takes the first
    /// to be.
    fn seeded_answer(&self, info: &CalleeInfo, whose: &str, key: u64, byte_result: bool, wide: u16) -> Answer {
        let seed = self.situation.start.seed.split(key);
        let start = &self.situation.start;
        let habit = start.seed.split(0x0ab17).mix(text_key(whose));
        let word = |i: usize| start.fabric.result(seed.mix(i as u64), habit, wide, start.constants);
        let mut answer = [None; 4];
        match &info.signature {
            Some(signature) => {
                for value in &signature.results {
                    let Place::Register(register) = value.place else { continue };
                    let Some(i) = RESULTS.iter().position(|r| *r == register) else { continue };
                    let result = if matches!(register, Register::Vector(_)) {
                        seeded_float(seed.mix(i as u64), value.bytes)
                    } else {
                        word(i)
                    };
                    answer[i] = Some((if value.boolean { result & 1 } else { result }, value.bytes));
                }
            }
            None => {
                // Who only looks at a byte may have called a function that returns a truth value.
                answer[0] = Some(if byte_result { (word(0) & 1, 1) } else { (word(0), 8) });
                // Where the compiler sees the callee, it knows which of the others it leaves alone.
                if !info.defined {
                    answer[1] = Some((word(1), 8));
                    answer[2] = Some((seeded_float(seed.mix(2), 8), 16));
                    answer[3] = Some((seeded_float(seed.mix(3), 8), 16));
                }
            }
        }
        answer
    }

    /// What a local function is known to return.
    fn fixed_result(&self, info: &CalleeInfo, answer: &mut Answer) {
        let Some((_, bytes)) = answer[0] else { return };
        if info.library.is_some_and(|c| c.returns_first_argument()) {
            answer[0] = Some((self.argument(0), bytes));
        }
        let Some(fixed) = info.local.and_then(|local| local.result.as_ref()) else { return };
        let value = match fixed {
            FixedResult::Value(Fixed::Number(number)) => Some(*number),
            FixedResult::Value(Fixed::Address(name, offset)) => {
                let var = self.situation.arena.find_var(name);
                let address = var.and_then(|var| self.situation.start.layout.address(var));
                address.map(|base| base.wrapping_add(*offset as u64))
            }
            FixedResult::Argument(register) => self.on_side(info, *register).map(|r| self.register(r)),
        };
        if let Some(value) = value {
            answer[0] = Some((value, bytes));
        }
    }

    /// A local function that only computes a result: the same for the same arguments.
    fn silent_local(&mut self, info: &CalleeInfo<'a>) -> Answer {
        let mut key = text_key(&info.name);
        let arguments = info.signature.iter().flat_map(|s| &s.arguments);
        for value in arguments {
            let Place::Register(register) = value.place else { continue };
            let Some(register) = self.on_side(info, register) else { continue };
            let held = self.register(register);
            let cut = if value.bytes < 8 { held & ((1 << (8 * value.bytes)) - 1) } else { held };
            key = self.situation.start.seed.split(key).mix(cut);
        }
        let mut answer = self.seeded_answer(info, &info.name, key, false, 0);
        self.fixed_result(info, &mut answer);
        answer
    }

    /// A call that everybody sees.
    pub fn event(&mut self, info: &Rc<CalleeInfo<'a>>, special: Special) -> Result<Answer, End> {
        let number = self.calls.len();
        if number >= MOST_CALLS {
            return Err(End::Fuel);
        }
        self.local_calls |= info.local.is_some_and(LocalContract::changes_calls) || info.hidden;
        let name = &info.name;
        let same = self.calls.iter().filter(|c| c.callee.name == *name).count();
        let script: Option<&Script> = self.situation.scripts.iter().filter(|s| s.callee == **name).nth(same);
        // Calls of the same function at the same place in the order have the same result on both sides. If the
        // functions differ, the results have nothing to do with each other.
        let whose = special.result_of.unwrap_or(name);
        let key = text_key(whose) ^ (number as u64).wrapping_mul(0x9e37_79b9);
        // The original decides what kind of result it is.
        let declared = |info: &CalleeInfo| {
            let results = info.signature.as_ref().map(|s| s.results.as_slice());
            results.map_or(8, |r| r.first().map_or(0, |value| value.bytes))
        };
        let wide = match self.situation.side {
            Side::Original => declared(info),
            Side::Candidate => self.situation.earlier.get(number).map_or(0, |e| declared(&e.callee)),
        };
        let mut answer =
            special.answer.unwrap_or_else(|| self.seeded_answer(info, whose, key, special.byte_result, wide));
        for (i, (result, wanted)) in answer.iter_mut().zip(script.map_or([None; 4], |s| s.results)).enumerate() {
            // Nobody chooses where a new object lies.
            if let (Some((value, _)), Some(wanted)) = (result, wanted)
                && (wanted == 0 || !info.returns_fresh())
            {
                // A result that may be a truth value is one.
                let truth = i == 0 && special.byte_result && info.signature.is_none();
                *value = if truth { wanted & 1 } else { wanted };
            }
        }
        let allocated = info.library.is_some_and(|c| c.effect == Effect::Allocate);
        if let Some((value, _)) = &mut answer[0]
            && *value != 0
            && info.returns_fresh()
            && !allocated
        {
            *value = NEW_OBJECTS + ((number as u64) << 28);
        }
        self.fixed_result(info, &mut answer);
        // What the original takes for the result of an undeclared function, it is for both.
        let earlier = self.situation.earlier.get(number).filter(|e| e.callee.name == *name && info.signature.is_none());
        if let (Some(earlier), Side::Candidate) = (earlier, self.situation.side) {
            answer[0] = (earlier.result_used || !info.defined).then_some((earlier.result, 8));
        }
        let pointed = self.pointed(info, number);
        let called = Called {
            callee: Rc::clone(info),
            registers: self.passed_registers(),
            set_up: self.set_up(),
            stack: self.outgoing(),
            form: special.form,
            result: answer[0].map_or(0, |(value, _)| value),
            changes: self.memory.changes(),
            pointed,
            aligned: self.register(Register::RSP) % 16 == if self.tail { 8 } else { 0 },
            writes: Vec::new(),
            result_used: self.result_used,
            place: self.place,
        };
        let given = self.passed.len() - called.pointed.len();
        let scripted = script.map_or(&[][..], |s| &s.writes).iter();
        let scripted = scripted.filter(|_| info.library.is_none() && !info.defined);
        let scripted: Vec<Write> = scripted.filter_map(|write| self.possible(write, given)).collect();
        self.calls.push(called);
        if info.never_returns {
            return Err(End::NoReturn);
        }
        let writes = match self.situation.side {
            Side::Original => [scripted, self.seeded_writes(info, number, key)].concat(),
            Side::Candidate => match self.situation.earlier.get(number) {
                Some(earlier) if earlier.callee.name == *name || earlier.form.is_some() => earlier.writes.clone(),
                _ => Vec::new(),
            },
        };
        for write in &writes {
            self.apply(write);
        }
        self.calls[number].writes = writes;
        Ok(answer)
    }

    fn apply(&mut self, write: &Write) {
        let at = match write.target {
            Target::World(address) => address,
            Target::Passed(pointer, offset) => match self.passed.get(pointer) {
                Some(pointer) => pointer.address.wrapping_add(offset),
                None => return,
            },
            Target::Frame(offset) => STACK_TOP.wrapping_add(offset as u64),
        };
        if is_stack(at) {
            self.filled.extend((at..).take(write.bytes.len()));
        }
        self.memory.write(&self.situation.start, at, &write.bytes, 0);
    }

    fn passed_registers(&self) -> Vec<Passed> {
        let vectors = (0..8).map(Register::Vector);
        let registers = Register::ARGUMENTS.into_iter().chain(vectors).chain([Register::General(0)]);
        let one = |register: Register| {
            let cell = cell_of(register);
            let tracked = self.tracking == Tracking::On;
            let shadow = if tracked { self.cells.shadow(cell) } else { Shadow::CLEAN };
            match cell {
                Cell::Narrow(index) => {
                    let held = self.cells.narrow[index as usize];
                    let taint = if self.has_left_object(held, shadow.origin) { u64::MAX } else { shadow.taint };
                    // Whose border it is, is not for us to say.
                    let layout = self.situation.start.layout;
                    let bits = Bits::new(64, if layout.is_border(held) { held } else { layout.translate(held) });
                    Passed { bits, taint }
                }
                Cell::Wide(index) => Passed { bits: self.cells.wide[index as usize], taint: shadow.taint },
            }
        };
        registers.map(one).collect()
    }

    /// Was a value made from the address of an object, and points no longer into it? What it is depends on where the frame and
    /// the objects lie.
    pub fn has_left_object(&self, value: u64, origin: Origin) -> bool {
        match origin {
            Origin::Local(local) => {
                let local = &self.program.function.locals[local as usize];
                value.wrapping_sub(STACK_TOP.wrapping_add(local.offset as u64)) > local.size
            }
            Origin::Frame | Origin::Slot => !is_stack(value),
            Origin::Object(start) | Origin::Near(start) => {
                let layout = self.situation.start.layout;
                layout.object_at(start).is_some_and(|(placed, _)| {
                    let size = placed.object.size.filter(|_| placed.start == start);
                    size.is_some_and(|size| layout.translate(value).wrapping_sub(start) >= size)
                })
            }
            Origin::Section => true,
            Origin::None | Origin::Difference | Origin::Rest => false,
        }
    }

    fn outgoing(&mut self) -> Vec<Passed> {
        let below = if self.tail { 8 } else { 0 };
        let first = self.register(Register::RSP).wrapping_add(below);
        let mut out = Vec::with_capacity(8);
        for i in 0..8 {
            let mut bytes = [0; 8];
            let taint = self.memory.read(&self.situation.start, first.wrapping_add(8 * i), &mut bytes);
            let word = self.situation.start.layout.translate(u64::from_le_bytes(bytes));
            out.push(Passed { bits: Bits::new(64, word), taint });
        }
        out
    }

    /// Is an argument register certainly an argument?
    fn is_argument(&self, info: &CalleeInfo, i: usize, set_up: &[SetUp; 6]) -> bool {
        let register = Register::ARGUMENTS[i];
        let declared = |v: &Value| v.place == Place::Register(register);
        match &info.signature {
            Some(signature) if signature.arguments.iter().any(declared) => true,
            Some(signature) if !signature.variadic => false,
            _ => matches!(set_up[i], SetUp::Written(_)),
        }
    }

    /// Local objects whose address the call passes. The original decides which arguments these are.
    fn pointed(&mut self, info: &CalleeInfo, number: usize) -> Vec<Pointed> {
        let mut out = Vec::new();
        let kept = !info.defined && info.library.is_none();
        if self.situation.side == Side::Candidate {
            let earlier = self.situation.earlier;
            for pointed in earlier.get(number).iter().flat_map(|e| &e.pointed) {
                let register = self.on_side(info, Register::ARGUMENTS[pointed.argument]);
                let address = register.map_or(0, |r| self.register(r));
                let mut bytes = vec![0; pointed.bytes.len()];
                if is_stack(address) {
                    self.memory.read(&self.situation.start, address, &mut bytes);
                }
                self.passed.push(PassedPointer { address, room: pointed.bytes.len() as u64, kept });
                out.push(Pointed { argument: pointed.argument, bytes: bytes.into_iter().map(|b| (b, true)).collect() });
            }
            return out;
        }
        let set_up = self.set_up();
        for i in 0..6 {
            let address = self.argument(i);
            if !is_stack(address)
                || !self.is_argument(info, i, &set_up)
                || self.on_side(info, Register::ARGUMENTS[i]).is_none()
            {
                continue;
            }
            let locals = &self.program.function.locals;
            // Behind the end of the object that a pointer was made from lies another.
            let made_from = match self.cells.shadow(cell_of(Register::ARGUMENTS[i])).origin {
                Origin::Local(local) => Some(local),
                _ => super::cells::local_at(locals, address),
            };
            let room = made_from.map_or(0, |l| {
                let local = &locals[l as usize];
                let inside = address.wrapping_sub(STACK_TOP.wrapping_add(local.offset as u64));
                local.size.saturating_sub(inside)
            });
            let mut bytes = vec![0; room.min(LONGEST_LOCAL) as usize];
            let taints: Vec<u64> = bytes
                .chunks_mut(32)
                .enumerate()
                .map(|(n, chunk)| self.memory.read(&self.situation.start, address + 32 * n as u64, chunk))
                .collect();
            let defined = |i: usize| taints[i / 32] >> (i % 32) & 1 == 0;
            self.passed.push(PassedPointer { address, room, kept });
            out.push(Pointed { argument: i, bytes: bytes.iter().enumerate().map(|(i, b)| (*b, defined(i))).collect() });
        }
        out
    }

    /// What a callee of the original writes: into local objects that it was given, and to the world.
    fn seeded_writes(&mut self, info: &CalleeInfo<'a>, number: usize, key: u64) -> Vec<Write> {
        let preserves = info.local.is_some_and(|l| l.effect <= LocalEffect::Preserves);
        // What a compiler sees of a function it may know not to write.
        if preserves || info.defined && !self.situation.start.layout.free {
            return Vec::new();
        }
        let seed = self.situation.start.seed.split(key).split(0xeffec7);
        let constants = self.situation.start.constants;
        let bytes = |stream: u64, n: u64| -> Vec<u8> {
            let words =
                (0..n.div_ceil(8)).flat_map(|i| plausible_word(seed.split(stream).mix(i), constants).to_le_bytes());
            words.take(n as usize).collect()
        };
        if info.library.is_some() {
            return self.library_writes(info, number, &bytes);
        }
        let first = self.passed.len() - self.calls[number].pointed.len();
        if self.situation.effects == Effects::Quiet {
            let given = if self.situation.start.layout.free { &self.calls[number].pointed[..] } else { &[] };
            let fill = |(i, object): (usize, &Pointed)| undefined_runs(object, first + i, &bytes);
            return given.iter().enumerate().flat_map(fill).collect();
        }
        let mut out = Vec::new();
        for (i, pointer) in self.passed.iter().enumerate() {
            let wanted = if i >= first { 4 } else { u64::from(pointer.kept) };
            if pointer.room > 0 && seed.mix(100 + i as u64) % 5 < wanted {
                let bytes = bytes(100 + i as u64, pointer.room.min(LONGEST_LOCAL));
                out.push(Write { target: Target::Passed(i, 0), bytes });
            }
        }
        let may_be_pure = self.situation.effects == Effects::FillsIfLookedAt && self.result_used;
        if self.situation.effects == Effects::Fills || may_be_pure {
            return out;
        }
        let set_up = self.calls[number].set_up;
        let arguments: Vec<u64> =
            (0..6).filter(|i| self.is_argument(info, *i, &set_up)).map(|i| self.argument(i)).collect();
        let mut places: Vec<(u64, u64)> = arguments.into_iter().map(|at| (at, 2)).collect();
        places.extend(self.situation.reachable.iter().map(|at| (*at, 2)));
        let recent: Vec<u64> = self.memory.accessed().collect();
        let recent = recent.into_iter().rev().take(16).filter(|at| self.memory.allocation_at(*at).is_none());
        places.extend(recent.map(|at| (at, 4)));
        places.extend(self.situation.start.layout.objects().iter().map(|placed| (placed.start, 3)));
        for (i, (address, rarity)) in places.into_iter().enumerate() {
            let random = seed.mix(200 + i as u64);
            let at = self.situation.start.layout.translate(address);
            if random.is_multiple_of(rarity) && self.is_writable(at) && out.len() < 12 {
                out.push(Write { target: Target::World(at), bytes: bytes(200 + i as u64, self.room(at).min(8)) });
            }
        }
        out
    }

    /// A write that a callee can make: to the world, or to a local object whose address it was given (from `first` on), or
    /// that an earlier one may have kept. Where that lies in the candidate's frame, the pointer says.
    fn possible(&self, write: &Write, first: usize) -> Option<Write> {
        match write.target {
            Target::World(address) => {
                (!is_stack(address) && self.situation.start.layout.may_change(address)).then(|| write.clone())
            }
            Target::Passed(..) => Some(write.clone()),
            Target::Frame(offset) => {
                let at = STACK_TOP.wrapping_add(offset as u64);
                let holds =
                    |(i, p): &(usize, &PassedPointer)| at.wrapping_sub(p.address) < p.room && (*i >= first || p.kept);
                let (i, pointer) = self.passed.iter().enumerate().rev().find(holds)?;
                let target = Target::Passed(i, at.wrapping_sub(pointer.address));
                Some(Write { target, bytes: write.bytes.clone() })
            }
        }
    }

    /// Bytes from a writable address that a callee may overwrite.
    fn room(&self, at: u64) -> u64 {
        match self.situation.start.layout.object_at(at) {
            Some((placed, offset)) => placed.object.size.map_or(8, |size| size.saturating_sub(offset)),
            None => self.memory.allocation_at(at).map_or(8, |a| (a.start + a.size).saturating_sub(at)),
        }
    }

    /// May an unknown callee write there? Static variables are left alone: it may not know them.
    pub fn is_writable(&self, at: u64) -> bool {
        if is_stack(at) || self.memory.is_freed(at) {
            return false;
        }
        match self.situation.start.layout.object_at(at) {
            Some((placed, _)) => {
                let visible =
                    matches!(placed.object.kind, program::ObjectKind::Named { local: false, function: false, .. });
                visible && self.situation.start.layout.may_change(at)
            }
            None => self.memory.allocation_at(at).is_some() || super::values::is_buffer(at),
        }
    }
}

/// Writes that define what nobody has defined of a local object: it is passed to be filled.
fn undefined_runs(object: &Pointed, pointer: usize, bytes: &dyn Fn(u64, u64) -> Vec<u8>) -> Vec<Write> {
    let fresh = bytes(100 + pointer as u64, object.bytes.len() as u64);
    let mut out: Vec<Write> = Vec::new();
    let mut open = false;
    for (at, ((_, defined), byte)) in object.bytes.iter().zip(fresh).enumerate() {
        match out.last_mut().filter(|_| open && !defined) {
            Some(run) => run.bytes.push(byte),
            None if !defined => out.push(Write { target: Target::Passed(pointer, at as u64), bytes: vec![byte] }),
            None => {}
        }
        open = !defined;
    }
    out
}

/// A floating-point number of some width, as bits.
fn seeded_float(random: u64, bytes: u16) -> u64 {
    let values = [0.0, 1.0, -1.0, 2.5, 1e10, -0.125, 3.0, 1e-5, -0.0, f64::INFINITY];
    let value =
        values[(random % 16).min(9) as usize] + if random % 16 > 9 { (random >> 8) as f64 % 1000.0 } else { 0.0 };
    if bytes == 4 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
}
