//! The symbolic state of one side.

use crate::frame::Frame;
use program::Register;
use term::{Arena, TermId};

/// A call under another name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RenamedCall {
    /// The function that is called in effect.
    pub callee: &'static str,
    /// Its arguments, 64 bits each.
    pub arguments: Vec<TermId>,
    /// Is the result of the written call that of this one, or follows from it?
    pub keeps_result: bool,
    /// Does the written call return where the string at its first argument ends?
    pub returns_end: bool,
    /// Does the written call also fill what it allocates with zeros, so many bytes?
    pub zeroes: Option<TermId>,
}

/// Registers, frame, and memories of one side, as terms over the inputs.
#[derive(Clone, Debug)]
pub struct State {
    registers: Vec<TermId>,
    /// Registers that may have been written since entry, a bit each.
    written: u64,
    /// Stack slots.
    pub frame: Frame,
    /// Memory outside the frame.
    pub world: TermId,
    /// Memory of each local object (see [`crate::Binding`]) until it escapes.
    pub locals: Vec<TermId>,
    /// Which local objects have escaped: they live in the world.
    pub escaped: Vec<bool>,
    /// At a call through a pointer: the address called.
    pub call_target: Option<TermId>,
    /// At a call: is it a jump, so that the return address already lies below the stack arguments?
    pub tail: bool,
    /// At a library call: its general form, if it has another one.
    pub renamed: Option<RenamedCall>,
}

impl State {
    /// A state from its parts; `registers` in the order of [`Register::all`].
    pub fn new(registers: Vec<TermId>, frame: Frame, world: TermId, locals: Vec<TermId>) -> State {
        debug_assert_eq!(registers.len(), Register::COUNT);
        let escaped = vec![false; locals.len()];
        State { registers, written: 0, frame, world, locals, escaped, call_target: None, tail: false, renamed: None }
    }

    /// Value of a register.
    pub fn get(&self, register: Register) -> TermId {
        self.registers[register.index()]
    }

    /// Sets a register.
    pub fn set(&mut self, register: Register, value: TermId) {
        self.registers[register.index()] = value;
        self.written |= 1 << register.index();
    }

    /// Puts the same value in another form into a register.
    pub(crate) fn restate(&mut self, register: Register, value: TermId) {
        self.registers[register.index()] = value;
    }

    /// May the register have been written since entry?
    pub fn is_written(&self, register: Register) -> bool {
        self.written & 1 << register.index() != 0
    }

    /// Values of all registers, by index.
    pub fn registers(&self) -> &[TermId] {
        &self.registers
    }

    /// The state that is `then` where the condition holds and `other` elsewhere. The same local objects must have
    /// escaped in both: see [`crate::Context::merge`].
    pub(crate) fn merge(arena: &mut Arena, condition: TermId, then: &State, other: &State) -> State {
        let pick = |arena: &mut Arena, a: TermId, b: TermId| if a == b { a } else { arena.ite(condition, a, b) };
        let registers = then.registers.iter().zip(&other.registers).map(|(a, b)| pick(arena, *a, *b)).collect();
        let locals = then.locals.iter().zip(&other.locals).map(|(a, b)| pick(arena, *a, *b)).collect();
        let frame = Frame::merge(arena, condition, &then.frame, &other.frame);
        State {
            registers,
            written: then.written | other.written,
            frame,
            world: pick(arena, then.world, other.world),
            locals,
            escaped: then.escaped.clone(),
            call_target: None,
            tail: false,
            renamed: None,
        }
    }

    /// Changes every term of the state.
    pub fn map(&mut self, change: &mut dyn FnMut(TermId) -> TermId) {
        for value in self.registers.iter_mut().chain(&mut self.locals) {
            *value = change(*value);
        }
        self.frame.map(change);
        self.world = change(self.world);
        if let Some(target) = &mut self.call_target {
            *target = change(*target);
        }
        if let Some(renamed) = &mut self.renamed {
            renamed.arguments.iter_mut().chain(&mut renamed.zeroes).for_each(|a| *a = change(*a));
        }
    }
}
