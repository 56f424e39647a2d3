//! The machine: registers, the sparse memory, and the instrumented run.

use super::memory::{Layout, Memory, STACK_TOP, is_stack};
use super::values::{Seed, plausible_word};
use crate::library::{self, Effect};
use crate::{Callee, FaultKind, Function, Next, Op, Place, Register, Signature, Value as Passed};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use term::eval::{Value, apply};
use term::{Arena, Bits, Func, Op as TermOp, Sort, TermId, VarId};

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Returned.
    Return,
    /// Called a function that does not return.
    NoReturn,
    /// Faulted, at an instruction.
    Fault(FaultKind, u64),
    /// Ran out of fuel.
    Fuel,
    /// Something the interpreter does not do.
    Unsupported,
}

/// A call that is an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Called {
    /// Callee, or the address called.
    pub callee: String,
    /// General argument registers and vector ones (low 128 bits).
    pub registers: Vec<Bits>,
    /// First eight outgoing stack words.
    pub stack: Vec<u64>,
    /// The seeded result in `rax`.
    pub result: u64,
    /// Changed bytes of the world at the call.
    pub changes: BTreeMap<u64, u8>,
    /// Argument registers that were written since the last call.
    pub fresh: Vec<bool>,
    /// Instruction.
    pub place: u64,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Trace {
    /// How it ended.
    pub end: End,
    /// Calls in order.
    pub calls: Vec<Called>,
    /// Registers at the end.
    pub registers: Vec<Value>,
    /// Changed bytes of the world at the end.
    pub changes: BTreeMap<u64, u8>,
    /// The first thing that makes the run no evidence, if it is an original's.
    pub undefined: Option<String>,
    /// Where control was last.
    pub place: u64,
    /// World bytes that hold addresses of the own frame, which differ from program to program.
    pub frame_pointers: FxHashSet<u64>,
    /// Initial bytes that the run looked at.
    pub read: BTreeMap<u64, u8>,
}

/// Where a pointer came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// The own frame.
    Frame,
    /// An object variable.
    Object(VarId),
}

/// One function, ready to run.
pub struct Machine<'a> {
    arena: &'a Arena,
    function: &'a Function,
    layout: &'a Layout,
    /// Signatures of callees by name, of either program.
    signatures: &'a dyn Fn(&str) -> Option<Signature>,
    defined: &'a dyn Fn(&str) -> bool,
    seed: Seed,
    registers: Vec<Value>,
    origins: Vec<Option<Origin>>,
    fresh: FxHashSet<VarId>,
    memory: Memory<'a>,
    memory_origins: FxHashMap<u64, Origin>,
    initialised: FxHashSet<u64>,
    frame_pointers: FxHashSet<u64>,
    undefined: Option<String>,
    unknowns: u64,
}

const CALLEE_KEEPS: u64 = 0x00ca_11ee;

impl<'a> Machine<'a> {
    /// A machine at the entry of a function, with registers and memory as given.
    pub fn new(
        arena: &'a Arena,
        function: &'a Function,
        layout: &'a Layout,
        signatures: &'a dyn Fn(&str) -> Option<Signature>,
        defined: &'a dyn Fn(&str) -> bool,
        seed: Seed,
        mut registers: Vec<Value>,
        memory: Memory<'a>,
    ) -> Machine<'a> {
        registers[Register::RSP.index()] = Value::Bits(Bits::new(64, STACK_TOP));
        let mut origins = vec![None; Register::COUNT];
        origins[Register::RSP.index()] = Some(Origin::Frame);
        Machine {
            arena,
            function,
            layout,
            signatures,
            defined,
            seed,
            registers,
            origins,
            fresh: FxHashSet::default(),
            memory,
            memory_origins: FxHashMap::default(),
            initialised: FxHashSet::default(),
            frame_pointers: FxHashSet::default(),
            undefined: None,
            unknowns: 0,
        }
    }

    /// Runs to the end or until the fuel (points entered) is used up.
    pub fn run(mut self, fuel: usize) -> Trace {
        let mut calls = Vec::new();
        let mut at = Function::ENTRY;
        let mut place = 0;
        let mut end = End::Fuel;
        'run: for _ in 0..fuel {
            let point = self.function.point(at);
            let mut temporaries = Temporaries::default();
            for (address, op) in &point.ops {
                place = *address;
                if let Err(stop) = self.step(op, *address, &mut temporaries) {
                    end = stop;
                    break 'run;
                }
            }
            match &point.next {
                Next::Edges(edges) => {
                    let taken = edges.iter().find(|e| matches!(self.eval(e.guard, &temporaries), Some(Value::Bool(true))));
                    match taken {
                        Some(edge) => at = edge.target,
                        None => {
                            end = End::Unsupported;
                            break;
                        }
                    }
                }
                Next::Call(call) => {
                    let target = match &call.callee {
                        Callee::Named(name) => Some(name.clone()),
                        Callee::Pointer(term) => self.eval(*term, &temporaries).map(|v| self.pointed_name(v.bits().low())),
                    };
                    let Some(name) = target else {
                        end = End::Unsupported;
                        break;
                    };
                    match self.call(&name, place, &mut calls) {
                        Ok(()) => {}
                        Err(stop) => {
                            end = stop;
                            break;
                        }
                    }
                    match call.returns {
                        _ if call.tail => {
                            end = End::Return;
                            break;
                        }
                        Some(next) => at = next,
                        None => {
                            end = End::NoReturn;
                            break;
                        }
                    }
                }
                Next::Return => {
                    end = End::Return;
                    break;
                }
                Next::Fault(kind) => {
                    end = End::Fault(*kind, place);
                    break;
                }
            }
        }
        if let End::Fault(kind, _) = end {
            self.note(|| format!("fault: {}", kind.name()));
        }
        Trace {
            end,
            calls,
            changes: self.memory.changes(),
            registers: self.registers,
            undefined: self.undefined,
            place,
            frame_pointers: self.frame_pointers,
            read: self.memory.read,
        }
    }

    fn note(&mut self, what: impl FnOnce() -> String) {
        if self.undefined.is_none() {
            self.undefined = Some(what());
        }
    }

    fn pointed_name(&self, address: u64) -> String {
        match self.layout.object_at(self.layout.translate(address)) {
            Some((name, 0, ..)) => name.to_string(),
            _ => format!("{address:#x}"),
        }
    }

    fn register(&self, register: Register) -> Bits {
        match self.registers[register.index()] {
            Value::Bits(bits) => bits,
            Value::Bool(bit) => Bits::new(1, u64::from(bit)),
            Value::Memory(_) => Bits::zero(64),
        }
    }

    fn step(&mut self, op: &Op, place: u64, temporaries: &mut Temporaries) -> Result<(), End> {
        let (var, value, origin) = match op {
            Op::Set { var, value } => {
                let result = self.eval(*value, temporaries).ok_or(End::Unsupported)?;
                (*var, result, self.origin(*value, temporaries))
            }
            Op::Load { var, address, bytes } => {
                let at = self.eval(*address, temporaries).ok_or(End::Unsupported)?.bits().low();
                let from = self.origin(*address, temporaries);
                let at = self.access(at, *bytes, from, false);
                let data: Vec<u8> = (0..u64::from(*bytes)).map(|i| self.memory.load(at.wrapping_add(i))).collect();
                let origin = if *bytes == 8 { self.memory_origins.get(&at).copied() } else { None };
                (*var, Value::Bits(Bits::from_bytes(&data)), origin)
            }
            Op::Unknown { var } => {
                self.unknowns += 1;
                let random = self.seed.split(77).mix(self.unknowns);
                let value = match self.arena.var_sort(*var) {
                    Sort::Bool => Value::Bool(random & 1 == 1),
                    Sort::Bv(width) => Value::Bits(Bits::from_limbs(width, &[random, random])),
                    Sort::Memory => return Err(End::Unsupported),
                };
                (*var, value, None)
            }
            Op::Store { address, value } => {
                let at = self.eval(*address, temporaries).ok_or(End::Unsupported)?.bits().low();
                let bits = self.eval(*value, temporaries).ok_or(End::Unsupported)?.bits();
                let from = self.origin(*address, temporaries);
                let origin = self.origin(*value, temporaries);
                self.store(at, bits, from, origin);
                return Ok(());
            }
            Op::Fault { condition, kind } => {
                let holds = self.eval(*condition, temporaries).ok_or(End::Unsupported)?.bool();
                return if holds { Err(End::Fault(*kind, place)) } else { Ok(()) };
            }
        };
        match Register::of_var(var) {
            Some(register) => {
                self.registers[register.index()] = value;
                self.origins[register.index()] = origin;
                self.fresh.insert(var);
            }
            None => {
                temporaries.values.insert(var, (value, origin));
            }
        }
        Ok(())
    }

    fn store(&mut self, at: u64, bits: Bits, from: Option<Origin>, origin: Option<Origin>) {
        let bytes = bits.width() / 8;
        let at = self.access(at, bytes, from, true);
        let bits = if bytes == 8 { Bits::new(64, self.layout.translate(bits.low())) } else { bits };
        let points_to_frame = bytes == 8 && is_stack(bits.low());
        for (i, byte) in bits.to_bytes().into_iter().enumerate() {
            let address = at.wrapping_add(i as u64);
            self.memory.store(address, byte);
            self.initialised.insert(address);
            self.memory_origins.remove(&address);
            if points_to_frame && !is_stack(address) {
                self.frame_pointers.insert(address);
            } else {
                self.frame_pointers.remove(&address);
            }
        }
        if let (8, Some(origin)) = (bytes, origin) {
            self.memory_origins.insert(at, origin);
        }
    }

    /// The real address of an access, checked against everything a proof may assume of it.
    fn access(&mut self, address: u64, bytes: u16, from: Option<Origin>, write: bool) -> u64 {
        let at = self.layout.translate(address);
        let last = at.wrapping_add(u64::from(bytes) - 1);
        if at < 4096 || last >= (1 << 47) - 4096 || last < at {
            self.note(|| format!("access at {at:#x}"));
            return at;
        }
        if is_stack(at) {
            if from != Some(Origin::Frame) {
                self.note(|| format!("access to the own frame through another pointer at {at:#x}"));
            }
            let uninitialised = |a: u64| a < STACK_TOP && !self.initialised.contains(&a);
            if !write && (at..=last).any(uninitialised) {
                self.note(|| format!("uninitialised frame byte at {:#x}", at.wrapping_sub(STACK_TOP)));
            }
            if write && at < STACK_TOP + 8 && last >= STACK_TOP {
                self.note(|| "return address overwritten".to_string());
            }
            return at;
        }
        if from == Some(Origin::Frame) {
            self.note(|| "access outside the frame through a frame pointer".to_string());
        }
        if let Some((name, offset, size, read_only)) = self.layout.object_at(at) {
            let outside = size.is_some_and(|s| offset + u64::from(bytes) > s);
            let strange = match from {
                Some(Origin::Object(var)) => self.layout.address(var).is_some_and(|base| base != at - offset),
                _ => false,
            };
            if outside || strange || (write && read_only) {
                let name = name.to_string();
                self.note(|| format!("access outside {name} at offset {offset}"));
            }
        } else if matches!(from, Some(Origin::Object(_))) {
            self.note(|| format!("access outside its object at {at:#x}"));
        }
        at
    }

    /// Value of a term in the current state; `None` for what has no value here.
    fn eval(&self, term: TermId, temporaries: &Temporaries) -> Option<Value> {
        let node = self.arena.node(term);
        match node.op {
            TermOp::Const(_) => self.arena.as_const(term).map(Value::Bits),
            TermOp::Var(var) => self.variable(var, temporaries),
            TermOp::Ite => {
                let condition = self.eval(node.args[0], temporaries)?.bool();
                self.eval(node.args[if condition { 1 } else { 2 }], temporaries)
            }
            TermOp::Load(_) | TermOp::Store(_) | TermOp::Fill | TermOp::Copy => None,
            TermOp::Apply(func) => {
                let args: Option<Vec<Value>> = node.args.iter().map(|a| self.eval(*a, temporaries)).collect();
                match self.arena.func(func) {
                    Func::Float(_) => Some(apply(self.arena, node.op, &args?)),
                    Func::Opaque { .. } => None,
                }
            }
            op => {
                let mut args = smallvec::SmallVec::<[Value; 4]>::new();
                for arg in &node.args {
                    args.push(self.eval(*arg, temporaries)?);
                }
                Some(apply(self.arena, op, &args))
            }
        }
    }

    fn variable(&self, var: VarId, temporaries: &Temporaries) -> Option<Value> {
        if let Some(value) = self.registers.get(var.index()) {
            return Some(*value);
        }
        if let Some((value, _)) = temporaries.values.get(&var) {
            return Some(*value);
        }
        self.layout.address(var).map(|address| Value::Bits(Bits::new(64, address)))
    }

    /// Which object a computed address came from: through sums, choices and copies only.
    fn origin(&self, term: TermId, temporaries: &Temporaries) -> Option<Origin> {
        let node = self.arena.node(term);
        match node.op {
            TermOp::Var(var) => {
                if let Some(origin) = self.origins.get(var.index()) {
                    return *origin;
                }
                if let Some((_, origin)) = temporaries.values.get(&var) {
                    return *origin;
                }
                let object = self.function.objects.get(&var)?;
                (object.kind != crate::ObjectKind::Section).then_some(Origin::Object(var))
            }
            TermOp::Add => {
                let mut found = node.args.iter().filter_map(|a| self.origin(*a, temporaries));
                let first = found.next()?;
                found.next().is_none().then_some(first)
            }
            TermOp::BvAnd => self.origin(node.args[0], temporaries).filter(|o| *o == Origin::Frame),
            TermOp::Ite => {
                let condition = self.eval(node.args[0], temporaries)?.bool();
                self.origin(node.args[if condition { 1 } else { 2 }], temporaries)
            }
            _ => None,
        }
    }

    fn call(&mut self, name: &str, place: u64, calls: &mut Vec<Called>) -> Result<(), End> {
        let contract = if (self.defined)(name) { None } else { library::contract(name) };
        let argument = |machine: &Self, i: usize| machine.register(Register::ARGUMENTS[i]).low();
        let effect = contract.map(|c| c.effect);
        let mut result = None;
        let mut vector_result = None;
        match effect {
            Some(Effect::CopyMemory) => {
                let (to, from, n) = (argument(self, 0), argument(self, 1), argument(self, 2));
                self.copy(to, from, n)?;
                result = Some(to);
            }
            Some(Effect::FillMemory) => {
                let (to, byte, n) = (argument(self, 0), argument(self, 1), argument(self, 2));
                self.block(to, n)?;
                let origin = self.origins[Register::ARGUMENTS[0].index()];
                for i in 0..n {
                    self.store(to.wrapping_add(i), Bits::new(8, byte), origin, None);
                }
                result = Some(to);
            }
            Some(Effect::Pure { .. } | Effect::ReadsThreadLocalAddress) => {
                let contract = contract.expect("has an effect");
                let (value, vector) = self.pure(contract)?;
                result = value;
                vector_result = vector;
            }
            _ => {}
        }
        if effect.is_none_or(|e| matches!(e, Effect::Event | Effect::Allocate)) {
            let seeded = self.event(name, place, calls, effect == Some(Effect::Allocate));
            let noreturn = contract.is_some_and(|c| c.noreturn) || (self.signatures)(name).is_some_and(|s| s.noreturn);
            if noreturn {
                return Err(End::NoReturn);
            }
            result = Some(seeded);
        }
        self.clobber(name);
        if let Some(value) = result {
            self.registers[0] = Value::Bits(Bits::new(64, value));
        }
        if let Some(value) = vector_result {
            self.registers[Register::Vector(0).index()] = Value::Bits(Bits::from_limbs(128, &[value]));
        }
        Ok(())
    }

    fn block(&self, _at: u64, n: u64) -> Result<(), End> {
        if n > 1 << 16 { Err(End::Fuel) } else { Ok(()) }
    }

    fn copy(&mut self, to: u64, from: u64, n: u64) -> Result<(), End> {
        self.block(to, n)?;
        let origins = [0, 1].map(|i| self.origins[Register::ARGUMENTS[i].index()]);
        let mut data = Vec::new();
        for i in 0..n {
            let at = self.access(from.wrapping_add(i), 1, origins[1], false);
            data.push(self.memory.load(at));
        }
        for (i, byte) in data.into_iter().enumerate() {
            self.store(to.wrapping_add(i as u64), Bits::new(8, u64::from(byte)), origins[0], None);
        }
        Ok(())
    }

    fn pure(&mut self, contract: &library::Contract) -> Result<(Option<u64>, Option<u64>), End> {
        let signature = contract.signature();
        let mut arguments = Vec::new();
        for passed in &signature.arguments {
            let Place::Register(register) = passed.place else { return Err(End::Unsupported) };
            let bits = self.register(register);
            arguments.push(bits.extract(8 * passed.bytes - 1, 0).low());
        }
        let mut touched = Vec::new();
        let memory = &mut self.memory;
        let mut read = |address: u64| {
            touched.push(address);
            Some(memory.load(address))
        };
        let value = library::eval_pure(contract.name, &arguments, &mut read);
        for address in touched {
            let origin = if is_stack(address) { Some(Origin::Frame) } else { None };
            self.access(address, 1, origin, false);
        }
        let value = value.unwrap_or_else(|| {
            let key = arguments.iter().fold(text_key(contract.name), |key, a| self.seed.split(key).mix(*a));
            plausible_word(self.seed.mix(key))
        });
        match signature.results.first().map(|r| r.place) {
            Some(Place::Register(Register::Vector(_))) => Ok((None, Some(value))),
            _ => Ok((Some(value), None)),
        }
    }

    fn event(&mut self, name: &str, place: u64, calls: &mut Vec<Called>, allocates: bool) -> u64 {
        let key = calls.iter().filter(|c| c.callee == name).count() as u64;
        let random = self.seed.split(text_key(name)).mix(key);
        let result = if allocates && !random.is_multiple_of(4) {
            0x3000_0000_0000 + (random >> 16 << 20) % (1 << 40)
        } else {
            plausible_word(random)
        };
        let mut registers: Vec<Bits> = Register::ARGUMENTS.iter().map(|r| self.register(*r)).collect();
        for bits in &mut registers {
            *bits = Bits::new(64, self.layout.translate(bits.low()));
        }
        registers.extend((0..8).map(|i| self.register(Register::Vector(i))));
        registers.push(self.register(Register::General(0)));
        let rsp = self.register(Register::RSP).low();
        let stack = (0..8u64).map(|i| {
            let bytes: Vec<u8> = (0..8).map(|j| self.memory.load(rsp.wrapping_add(8 * i + j))).collect();
            self.layout.translate(Bits::from_bytes(&bytes).low())
        });
        let stack = stack.collect();
        let is_fresh = |register: &Register| self.fresh.iter().any(|v| v.index() == register.index());
        let fresh = Register::ARGUMENTS.iter().copied().chain((0..8).map(Register::Vector)).map(|r| is_fresh(&r)).collect();
        let changes = self.memory.changes();
        calls.push(Called { callee: name.to_string(), registers, stack, result, changes, fresh, place });
        result
    }

    /// Registers that a callee may change get values that depend on the call only.
    fn clobber(&mut self, name: &str) {
        let signature = (self.signatures)(name);
        for register in Register::all() {
            let keep = match register {
                Register::General(_) => register == Register::RSP || Register::CALLEE_SAVED.contains(&register),
                Register::Flag(flag) => flag == crate::Flag::Direction,
                Register::FsBase | Register::GsBase => true,
                Register::Vector(_) | Register::VectorHigh(_) => false,
            };
            if keep {
                continue;
            }
            let random = self.seed.split(CALLEE_KEEPS ^ text_key(name)).mix(register.index() as u64);
            let word = plausible_word(random);
            self.registers[register.index()] = match register.sort() {
                Sort::Bool => Value::Bool(random & 1 == 1),
                Sort::Bv(width) => Value::Bits(Bits::from_limbs(width, &[word])),
                Sort::Memory => Value::Bool(false),
            };
            self.origins[register.index()] = None;
        }
        let boolean = |v: &Passed| v.boolean && v.place == Place::Register(Register::General(0));
        if signature.is_some_and(|s| s.results.iter().any(boolean)) {
            let bit = self.register(Register::General(0)).low() & 1;
            self.registers[0] = Value::Bits(Bits::new(64, bit));
        }
        self.fresh.clear();
    }
}

/// A number for a name.
fn text_key(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3))
}

#[derive(Default)]
struct Temporaries {
    values: FxHashMap<VarId, (Value, Option<Origin>)>,
}
