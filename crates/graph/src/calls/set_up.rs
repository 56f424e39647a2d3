//! Arguments that no declaration names: those of variadic calls, and of calls of which nothing is known.
//!
//! A known format tells exactly. Otherwise an argument is what the original has set up: the argument registers in the
//! order of the convention up to the first that nobody wrote, and outgoing stack words behind them. Unoptimised code
//! also computes in these registers. There a value that is read again between its last write and the call, on every way, was such a
//! temporary: what unoptimised code puts into an argument register for a callee, it does not look at any more. It may
//! copy one constant or address into several argument registers, so a plain copy of one says nothing.
//!
//! Trust: full, under `signature(callee)`.

use crate::library::{self, Contract, Known};
use crate::{Callee, Context, Function, Next, Op, Place, PointId, Register, State, Value};
use std::collections::BTreeSet;
use term::{Arena, Op as TermOp, TermId, VarId};

/// Who may read more arguments than a declaration names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reader {
    /// A function that is known to be variadic: `al` bounds its vector arguments.
    Variadic,
    /// A function of which nothing is known.
    Unknown,
}

impl Context<'_> {
    /// The arguments of a variadic function of the library, if a literal format tells.
    pub(super) fn asked_for(&mut self, contract: &Contract, state: &State) -> Option<Vec<Value>> {
        let mut known: Vec<Option<Known>> = Vec::new();
        for argument in contract.signature().arguments {
            let Place::Register(register) = argument.place else { return None };
            let value = self.canonical_value(state.get(register));
            let value = if argument.bytes < 8 { self.arena.truncate(value, 8 * argument.bytes) } else { value };
            known.push(self.literal(value));
        }
        library::variadic_arguments(contract, &|i| known.get(i).cloned().flatten())
    }

    /// Every argument register that the original wrote since the last call, as a prefix of the convention's
    /// order, and the outgoing stack words if all general argument registers are in use.
    pub(super) fn set_up(&mut self, call: Option<PointId>, state: &State, reader: Reader) -> Vec<Value> {
        let mut out = Vec::new();
        let value = |register: Register, bytes: u16| Value {
            place: Place::Register(register),
            bytes,
            boolean: false,
            narrow: None,
        };
        let (mut all, mut all_vectors) = (true, true);
        // Unoptimised code loads every argument, even one that is still where it arrived.
        let loads = self.functions[0].is_unoptimised();
        let temporaries = if loads { self.temporaries(call, state) } else { BTreeSet::new() };
        let unused = |context: &Self, register: Register| {
            context.is_undefined(state.get(register))
                || loads && !state.is_written(register)
                || temporaries.contains(&register)
        };
        for register in Register::ARGUMENTS {
            if unused(self, register) {
                all = false;
                break;
            }
            out.push(value(register, self.defined_bytes(state.get(register))));
        }
        let vectors = match reader {
            Reader::Variadic if loads => {
                let al = self.arena.truncate(state.get(Register::General(0)), 8);
                self.arena.as_u64(al).map_or(8, |n| n.min(8)) as u8
            }
            _ => 8,
        };
        for i in 0..8 {
            let register = Register::Vector(i);
            if i >= vectors || unused(self, register) {
                all_vectors = false;
                break;
            }
            out.push(value(register, 8));
        }
        if all || all_vectors {
            out.extend(self.outgoing_words(state));
        }
        out
    }

    /// Argument registers that hold what unoptimised code computed for itself before the call.
    fn temporaries(&mut self, call: Option<PointId>, state: &State) -> BTreeSet<Register> {
        let function = self.functions[0];
        let Some(id) = call else { return BTreeSet::new() };
        let entries = match self.read_again.take() {
            Some(entries) => entries,
            None => read_again(self.arena, function),
        };
        let mut out = entries.get(id.index()).cloned().unwrap_or_default();
        self.read_again = Some(entries);
        let point = function.point(id);
        for (_, op) in &point.ops {
            let fixed = match op {
                Op::Set { value, .. } => {
                    copied_register(self.arena, *value).is_none_or(|from| self.is_fixed(state.get(from)))
                }
                _ => true,
            };
            follow(self.arena, op, fixed, &mut out);
        }
        if let Next::Call(call) = &point.next
            && let Callee::Pointer(target) = &call.callee
        {
            out.extend(self.arena.free_vars(*target).into_iter().filter_map(argument_register));
        }
        out
    }

    /// Is this a number, or the address of an object: something that need not be computed twice?
    fn is_fixed(&self, value: TermId) -> bool {
        let low = self.arena.as_u64(value).is_some() || self.frame_offset(value).is_some();
        low || self.base_object(value).is_some()
    }

    /// Bytes of a register that its value defines: less than eight if nobody defined what is above.
    pub fn defined_bytes(&self, held: TermId) -> u16 {
        let high = self.arena.args(held).first().copied();
        let undefined = high.filter(|t| self.arena.op(held) == TermOp::Concat && self.is_undefined(*t));
        undefined.map_or(8, |t| 8 - self.arena.width(t) / 8)
    }

    /// Stack words just above `rsp`, up to the first one that holds nothing.
    fn outgoing_words(&self, state: &State) -> Vec<Value> {
        let Some(depth) = state.stack_depth(self) else { return Vec::new() };
        let mut out = Vec::new();
        let first = depth + if state.tail { 8 } else { 0 };
        for word in 0..32i64 {
            let at = first + 8 * word;
            let cell = state
                .frame
                .cells()
                .find(|(offset, value)| *offset < at + 8 && offset + i64::from(self.arena.width(*value) / 8) > at);
            let Some((offset, cell)) = cell else { break };
            if at >= 0 {
                break;
            }
            // A register that is kept for the caller, or pushed to make room, is no argument.
            if self.is_undefined(cell) {
                continue;
            }
            let bytes = (offset + i64::from(self.arena.width(cell) / 8) - at).min(8) as u16;
            out.push(Value { place: Place::Stack(8 * word as u32), bytes, boolean: false, narrow: None });
        }
        out
    }
}

/// Argument registers that were read since they were written, on every way to each point. A call leaves nothing in them.
fn read_again(arena: &mut Arena, function: &Function) -> Vec<BTreeSet<Register>> {
    let all: BTreeSet<Register> = Register::ARGUMENTS.into_iter().chain((0..8).map(Register::Vector)).collect();
    let mut entries: Vec<BTreeSet<Register>> = vec![all.clone(); function.points.len()];
    let mut open: BTreeSet<PointId> = (0..function.points.len()).map(|i| PointId(i as u32)).collect();
    while let Some(id) = open.pop_first() {
        let point = function.point(id);
        let mut known = entries[id.index()].clone();
        for (_, op) in &point.ops {
            follow(arena, op, true, &mut known);
        }
        let targets: Vec<PointId> = match &point.next {
            Next::Edges(edges) => edges.iter().map(|edge| edge.target).collect(),
            Next::Call(_) | Next::Return | Next::Fault(_) => continue,
        };
        for target in targets {
            let Some(there) = entries.get_mut(target.index()) else { continue };
            let before = there.len();
            there.retain(|register| known.contains(register));
            if there.len() != before {
                open.insert(target);
            }
        }
    }
    entries
}

/// What an operation does to the registers that were read since they were written; a copy between argument registers reads
/// nothing where that may be two arguments alike.
fn follow(arena: &mut Arena, op: &Op, alike: bool, out: &mut BTreeSet<Register>) {
    let read = |arena: &Arena, term: TermId, out: &mut BTreeSet<Register>| {
        out.extend(arena.free_vars(term).into_iter().filter_map(argument_register));
    };
    match op {
        Op::Set { var, value } => {
            let to_argument = Register::of_var(*var).is_some_and(|r| Register::ARGUMENTS.contains(&r));
            let copied = copied_register(arena, *value).filter(|_| to_argument);
            if copied.is_none() || !alike {
                read(arena, *value, out);
            }
        }
        Op::Load { address, .. } => read(arena, *address, out),
        Op::Store { address, value } => {
            read(arena, *address, out);
            read(arena, *value, out);
        }
        Op::Fault { condition, .. } => read(arena, *condition, out),
        Op::Unknown { .. } => {}
    }
    if let Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var } = op
        && let Some(register) = Register::of_var(*var)
    {
        out.remove(&register);
    }
}

/// The register that may carry an argument behind a variable.
fn argument_register(var: VarId) -> Option<Register> {
    let register = Register::of_var(var)?;
    let carries = Register::ARGUMENTS.contains(&register) || matches!(register, Register::Vector(0..8));
    carries.then_some(register)
}

/// The argument register whose value, or low half, this is.
fn copied_register(arena: &mut Arena, value: TermId) -> Option<Register> {
    let [var] = arena.free_vars(value)[..] else { return None };
    let register = argument_register(var).filter(|r| matches!(r, Register::General(_)))?;
    let whole = arena.var_term(var);
    let low = arena.truncate(whole, 32);
    let half = arena.zext(low, 64);
    (value == whole || value == half).then_some(register)
}
