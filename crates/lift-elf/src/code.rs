//! The instructions of a function, found by following control flow from its first one.
//!
//! Nothing is assumed about code that control does not reach, and instructions may overlap: each is known by its
//! place. Jumps to the start of another function leave; jumps into a function's outlined pieces, or into the
//! middle of any function, are followed.

use crate::container::{Kind, Place};
use crate::functions::FunctionEntry;
use crate::layout::{Base, Location};
use crate::objects::Objects;
use crate::operands::{self, Resolved};
use crate::{Error, Gap, Image};
use std::collections::{BTreeMap, BTreeSet};
use term::Arena;
use x86::{Flow, Operand};

/// Instructions of one function, at most.
const MAX_INSTRUCTIONS: usize = 1 << 18;
/// Functions whose code one function may reach by jumps.
const MAX_PARTS: usize = 64;

/// An instruction and where control goes after it.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub resolved: Resolved,
    pub length: u64,
    pub exit: Exit,
}

/// Where control goes after an instruction.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Exit {
    /// To the next instruction.
    Next,
    /// To a place of this graph.
    Jump(Place),
    /// To a place of this graph if the condition holds, else to the next instruction.
    Branch(Place),
    /// Out of the function to another one.
    Leave(Target),
    /// Out of the function if the condition holds, else to the next instruction.
    LeaveIf(Target),
    /// To an address that is computed.
    Computed,
    /// A call.
    Call(Target),
    /// A call of a computed address.
    ComputedCall,
    /// A string instruction with a repeat prefix: again or to the next instruction.
    Repeat,
    /// An access of the lanes that a mask selects, then to the next instruction.
    Masked,
    /// The address of a thread-local object (`None`: of the module's storage), by a call of the loader.
    ThreadAddress(Option<Location>),
    /// To the caller.
    Return,
    /// Nowhere.
    Trap,
}

/// A function by its name and, for the object table, its symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Target {
    pub name: String,
    pub symbol: Option<u32>,
}

/// The code of a function under discovery.
pub(crate) struct Code<'a> {
    image: &'a Image,
    function: &'a FunctionEntry,
    /// Functions whose code is part of the graph, with the address their first byte gets.
    parts: Vec<(usize, u64)>,
    pub steps: BTreeMap<Place, Step>,
    /// Places where a point begins.
    pub leaders: BTreeSet<Place>,
    /// Functions that other files see and that branches lead to without their names.
    pub by_place: BTreeSet<String>,
    todo: Vec<Place>,
}

impl<'a> Code<'a> {
    pub fn new(image: &'a Image, index: usize) -> Code<'a> {
        let function = &image.functions()[index];
        let mut code = Code {
            image,
            function,
            parts: vec![(index, 0)],
            steps: BTreeMap::new(),
            leaders: BTreeSet::new(),
            by_place: BTreeSet::new(),
            todo: Vec::new(),
        };
        code.reach(function.place);
        code
    }

    /// Adds a place that control reaches.
    pub fn reach(&mut self, place: Place) {
        if self.leaders.insert(place) && !self.steps.contains_key(&place) {
            self.todo.push(place);
        }
    }

    /// Address of a place relative to the function's first byte. Other parts follow the function one by one.
    pub fn address(&self, place: Place) -> u64 {
        for (part, start) in &self.parts {
            let function = &self.image.functions()[*part];
            // The end of a function is a place too.
            let at = place.offset.wrapping_sub(function.place.offset);
            if place.section == function.place.section && at <= function.size {
                return start.wrapping_add(at);
            }
        }
        place.offset.wrapping_sub(self.function.place.offset)
    }

    /// Functions whose code is part of the graph, with the address their first byte gets.
    pub fn parts(&self) -> &[(usize, u64)] {
        &self.parts
    }

    pub fn gap(&self, place: Place, construct: impl Into<String>, text: impl Into<String>) -> Error {
        let address = self.address(place);
        let line = self.image.line(place);
        let gap = Gap {
            place: Some((self.function.name.clone(), address)),
            construct: construct.into(),
            text: text.into(),
            line,
        };
        Error::Unsupported { file: self.image.name.clone(), gap: Box::new(gap) }
    }

    /// Decodes everything that is reached and not decoded yet.
    pub fn discover(&mut self, arena: &mut Arena, objects: &mut Objects) -> Result<(), Error> {
        while let Some(start) = self.todo.pop() {
            let mut place = start;
            let mut thread = None;
            while !self.steps.contains_key(&place) && self.part_of(place).is_some() {
                if self.steps.len() >= MAX_INSTRUCTIONS {
                    return Err(self.gap(place, "size", "a function of more than 2^18 instructions"));
                }
                let step = self.step(arena, objects, place, thread.take())?;
                thread = step.resolved.thread;
                let next = Place { offset: place.offset + step.length, ..place };
                let exit = step.exit.clone();
                self.steps.insert(place, step);
                match exit {
                    Exit::Next => {
                        place = next;
                        // Overlapping code may run into the middle of a known run.
                        if self.steps.contains_key(&place) {
                            self.leaders.insert(place);
                        }
                        continue;
                    }
                    Exit::Jump(target) => self.reach(target),
                    Exit::Branch(target) => {
                        self.reach(target);
                        self.reach(next);
                    }
                    Exit::LeaveIf(_) | Exit::ThreadAddress(_) | Exit::Masked => self.reach(next),
                    Exit::Repeat => {
                        self.leaders.insert(place);
                        self.reach(next);
                    }
                    Exit::Call(_) | Exit::ComputedCall => {
                        if !self.ends(next) {
                            self.reach(next);
                        }
                    }
                    Exit::Leave(_) | Exit::Computed | Exit::Return | Exit::Trap => {}
                }
                break;
            }
        }
        Ok(())
    }

    /// Is everything decoded that is known to be reached?
    pub fn is_discovered(&self) -> bool {
        self.todo.is_empty()
    }

    /// The function of this graph whose code holds the place.
    pub fn part_of(&self, place: Place) -> Option<usize> {
        self.parts.iter().map(|(part, _)| *part).find(|part| self.image.functions()[*part].contains(place))
    }

    /// Does the code end here: is there nothing but padding up to the function's end?
    pub fn ends(&self, place: Place) -> bool {
        let Some(part) = self.part_of(place) else { return true };
        let function = &self.image.functions()[part];
        let end = function.place.offset + function.size;
        let bytes = self.image.data(place.section);
        let mut at = place.offset;
        while at < end {
            match bytes.get(at as usize..end as usize).map(|bytes| x86::decode(bytes, at)) {
                Some(Ok(decoded)) if matches!(decoded.instruction.mnemonic.name(), "nop" | "int3") => {
                    at += decoded.length as u64;
                }
                _ => return false,
            }
        }
        true
    }

    fn step(
        &mut self,
        arena: &mut Arena,
        objects: &mut Objects,
        place: Place,
        thread: Option<Option<Location>>,
    ) -> Result<Step, Error> {
        let bytes = self.image.data(place.section).get(place.offset as usize..).unwrap_or(&[]);
        let bytes = &bytes[..bytes.len().min(15)];
        let decoded = x86::decode(bytes, self.number(place)).map_err(|e| self.gap(place, "bytes", e.to_string()))?;
        let resolved = operands::resolve(self.image, arena, objects, place, &decoded).map_err(|what| {
            let text = format!("`{}` with {what}", self.text(place));
            self.gap(place, what, text)
        })?;
        let exit = match (decoded.instruction.flow(), resolved.branch) {
            (Flow::Unsupported, _) => {
                return Err(self.gap(place, decoded.instruction.name(), format!("`{}`", self.text(place))));
            }
            _ if decoded.instruction.repeat.is_some() => Exit::Repeat,
            _ if x86::is_masked(&decoded.instruction) => Exit::Masked,
            (Flow::Next, _) => Exit::Next,
            (Flow::Return, _) => Exit::Return,
            (Flow::Trap, _) => Exit::Trap,
            (Flow::Jump(to), branch) => match self.jump(place, branch, to)? {
                Ok(inside) => Exit::Jump(inside),
                Err(target) => Exit::Leave(target),
            },
            (Flow::ConditionalJump(to), branch) => match self.jump(place, branch, to)? {
                Ok(inside) => Exit::Branch(inside),
                Err(target) => Exit::LeaveIf(target),
            },
            (Flow::IndirectJump(_), Some(branch)) => match self.jump(place, Some(branch), 0)? {
                Ok(inside) => Exit::Jump(inside),
                Err(target) => Exit::Leave(target),
            },
            (Flow::Call(to), branch) => self.call(place, branch, to)?,
            (Flow::IndirectCall(_), Some(branch)) => self.call(place, Some(branch), 0)?,
            (Flow::IndirectJump(operand), None) => self.computed(place, operand, Exit::Computed)?,
            (Flow::IndirectCall(operand), None) => self.computed(place, operand, Exit::ComputedCall)?,
        };
        let exit = match (thread, exit) {
            (None, exit) => exit,
            (Some(object), Exit::Call(target)) if target.name == "__tls_get_addr" => Exit::ThreadAddress(object),
            (Some(_), _) => return Err(self.gap(place, "thread-local", "a thread-local access of unknown form")),
        };
        Ok(Step { resolved, length: decoded.length as u64, exit })
    }

    /// The instruction at a place as text.
    pub fn text(&self, place: Place) -> String {
        let bytes = self.image.data(place.section).get(place.offset as usize..).unwrap_or(&[]);
        render(&bytes[..bytes.len().min(15)], self.number(place))
    }

    /// The address that the bytes of a place were made for.
    fn number(&self, place: Place) -> u64 {
        self.image.sections[place.section as usize].address.wrapping_add(place.offset)
    }

    fn computed(&self, place: Place, operand: Operand, exit: Exit) -> Result<Exit, Error> {
        match operand.bits() {
            64 => Ok(exit),
            _ => Err(self.gap(place, "branch", "a branch to less than a whole address")),
        }
    }

    /// The place that a branch goes to, or the undefined symbol.
    fn destination(&self, place: Place, branch: Option<Location>, to: u64) -> Result<Result<Place, u32>, Error> {
        let relocatable = self.image.kind == Kind::Relocatable;
        let location = match branch {
            Some(location) => location,
            None if relocatable => Location { base: Base::Section(place.section), offset: to as i64 },
            None => match self.image.at_address(to) {
                Some(location) => location,
                None => return Err(self.gap(place, "branch", "a branch outside of all sections")),
            },
        };
        if !relocatable && let Some(symbol) = self.image.stub(location) {
            return Ok(Err(symbol));
        }
        match self.image.place_of(location) {
            Some(_) if self.image.is_replaceable_alias(location) => match location {
                Location { base: Base::Symbol(symbol), offset: 0 } => Ok(Err(symbol)),
                _ => Err(self.gap(place, "branch", "a branch into a function that another file may define")),
            },
            Some(place) => Ok(Ok(place)),
            None => match location {
                Location { base: Base::Symbol(symbol), offset: 0 } => Ok(Err(symbol)),
                _ => Err(self.gap(place, "branch", "a branch to an unknown place")),
            },
        }
    }

    /// A piece that its function does not jump to is compared by nobody.
    fn check_whole(&self, place: Place, index: usize) -> Result<(), Error> {
        match self.image.functions()[index].parent {
            Some(_) => Err(self.gap(place, "call", "a call of an outlined piece of a function")),
            None => Ok(()),
        }
    }

    /// A weak name is whatever the linker puts there; who goes to the place itself means another function.
    fn check_named(&mut self, place: Place, branch: Option<Location>, index: usize) -> Result<(), Error> {
        let entry = &self.image.functions()[index];
        if branch.is_none() && !entry.local && self.image.kind != Kind::Executable {
            self.by_place.insert(entry.name.clone());
        }
        // Whoever goes by a name leaves it to the linker.
        let own = index == self.parts[0].0;
        match self.image.kind == Kind::Relocatable && !own && branch.is_none() && self.image.functions()[index].weak {
            true => Err(self.gap(place, "branch", "a branch to the place of a function that another file may replace")),
            false => Ok(()),
        }
    }

    /// Where a jump goes: inside the graph, or to another function.
    fn jump(&mut self, place: Place, branch: Option<Location>, to: u64) -> Result<Result<Place, Target>, Error> {
        let symbolic = matches!(branch, Some(Location { base: Base::Symbol(_), .. }));
        let target = match self.destination(place, branch, to)? {
            Err(symbol) => return Ok(Err(self.image.undefined(symbol))),
            Ok(target) => target,
        };
        if let Some(index) = self.image.function_at(target) {
            let ours = self.parts.iter().any(|(part, _)| *part == index) || self.is_piece(index);
            // A jump to the own name is a tail call of itself; to the own first instruction it is a loop.
            if !ours || symbolic && index == self.parts[0].0 {
                self.check_whole(place, index)?;
                self.check_named(place, branch, index)?;
                return Ok(Err(self.image.target(index)));
            }
        }
        self.include(place, target)?;
        Ok(Ok(target))
    }

    /// First instruction of the function.
    pub fn entry(&self) -> Place {
        self.function.place
    }

    /// Can a jump table of this function lead to the place?
    pub fn may_reach(&self, place: Place) -> bool {
        self.part_of(place).is_some() || self.image.function_holding(place).is_some_and(|other| self.is_piece(other))
    }

    /// Is the other function an outlined piece of this one, or this one a piece of it?
    fn is_piece(&self, other: usize) -> bool {
        let root = |mut index: usize| {
            while let Some(parent) = self.image.functions()[index].parent {
                index = parent;
            }
            index
        };
        root(other) == root(self.parts[0].0)
    }

    /// Makes the function that holds a place part of the graph.
    pub fn include(&mut self, from: Place, place: Place) -> Result<(), Error> {
        if self.part_of(place).is_some() {
            return Ok(());
        }
        let Some(index) = self.image.function_holding(place) else {
            return Err(self.gap(from, "branch", "a jump out of the function to no other function"));
        };
        if self.parts.len() >= MAX_PARTS {
            return Err(self.gap(from, "branch", "jumps into the middle of too many functions"));
        }
        let (last, start) = self.parts[self.parts.len() - 1];
        let end = start + self.image.functions()[last].size;
        self.parts.push((index, (end + 1).next_multiple_of(16)));
        Ok(())
    }

    fn call(&mut self, place: Place, branch: Option<Location>, to: u64) -> Result<Exit, Error> {
        match self.destination(place, branch, to)? {
            Err(symbol) => Ok(Exit::Call(self.image.undefined(symbol))),
            Ok(target) => match self.image.function_at(target) {
                Some(index) => {
                    self.check_whole(place, index)?;
                    self.check_named(place, branch, index)?;
                    Ok(Exit::Call(self.image.target(index)))
                }
                None => Err(self.gap(place, "call", "a call into the middle of a function")),
            },
        }
    }
}

/// An instruction as text.
pub(crate) fn render(bytes: &[u8], address: u64) -> String {
    use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
    let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
    let mut text = String::new();
    IntelFormatter::new().format(&decoder.decode(), &mut text);
    text
}
