//! How the function is called: where arguments and globals lie at the start, and what the caller sees at the end.

use crate::lane::{Content, Lane, Lanes, Value, push};
use crate::machine::{Machine, Placement, Run};
use crate::memory::{GARBAGE, Region, STACK, STACK_BYTES, STACK_END, base_of};
use crate::values::constant_of;
use program::{ObjectKind, Register};
use term::Bits;
use updates::{Argument, Domain, Final, Object, Origin, Scalar, input_key};

/// The stack pointer at entry, as after a call: 8 below a multiple of 16, the arguments on the stack above.
const TOP: u64 = STACK_END - 4096 - 8;
/// Key of the values that callee-saved registers hold at entry; no object of a program has it.
const SAVED: u64 = 0x5a5e_d000_0000_0000;

/// Type of all cells of an object; structures of several types would need a layout.
fn cell_type(object: &Object) -> Option<Scalar> {
    let first = object.fields.first()?.ty;
    object.fields.iter().all(|f| f.ty == first).then_some(first)
}

impl<D: Domain> Machine<'_, '_, D> {
    /// Sets up registers and memory. `extents` are those of objects whose extent the interface does not state.
    pub(crate) fn enter(&mut self, extents: &[Option<u64>], placement: Placement) -> Run<()> {
        let stack = Region {
            name: "the stack".to_string(),
            base: STACK_END - STACK_BYTES,
            bytes: vec![Content::Lost(GARBAGE); STACK_BYTES as usize],
            writable: true,
        };
        self.memory.add(STACK, stack);
        for register in Register::all() {
            let value = match register.sort() {
                term::Sort::Bv(width) => Value::lost(width, GARBAGE),
                _ => Value::LostTruth(GARBAGE),
            };
            self.set_register(register, value);
        }
        self.set_register(Register::Flag(program::Flag::Direction), Value::Bool(false));
        self.set_register(Register::RSP, Value::Bits(Bits::new(64, TOP)));
        for register in Register::CALLEE_SAVED {
            let value = self.saved(register);
            self.set_register(register, value);
        }
        self.place_objects(extents, placement)?;
        self.place_symbols()?;
        self.pass_arguments(TOP)
    }

    /// What a callee-saved register holds at entry.
    fn saved(&mut self, register: Register) -> Value<D::Value> {
        let value = self.values.domain.input(SAVED, register.index() as u64, Scalar::U64);
        Value::from_lanes([self.values.lane(value, Scalar::U64)].into_iter().collect())
    }

    /// Arrays that parameters point to, and globals that the interface knows: each its own region.
    fn place_objects(&mut self, extents: &[Option<u64>], placement: Placement) -> Run<()> {
        let interface = self.interface;
        let mut total = 0u64;
        for (number, object) in interface.objects.iter().enumerate() {
            let Some(key) = input_key(&object.origin).filter(|_| object.is_output()) else { continue };
            if object.is_static() {
                return Err(self.unsupported(format!("the static variable `{}`", object.name)));
            }
            let Some(ty) = cell_type(object) else {
                return Err(self.unsupported(format!("`{}`, whose elements have fields of several types", object.name)));
            };
            let Some(cells) = object.cells.or(extents.get(number).copied().flatten()) else {
                return Err(self.unsupported(format!("`{}`, whose extent is not declared", object.name)));
            };
            total = total.saturating_add(cells.saturating_mul(ty.bytes()));
            if total > self.limits.cells.saturating_mul(8) {
                return Err(self.fault(updates::FaultKind::Memory, "the objects are too large".to_string()));
            }
            let mut bytes = Vec::with_capacity((cells * ty.bytes()) as usize);
            for cell in 0..cells {
                let value = self.values.domain.input(key, cell, ty);
                let lane = self.values.lane(value, ty);
                bytes.extend((0..ty.bytes() as u16).map(|i| lane.slice(8 * i, 8).content));
            }
            let global = matches!(object.origin, Origin::Global(_));
            let slot = self.slot_of(number, placement);
            // A parameter is aligned as its type asks for, no more.
            let skew = if global || placement == Placement::Aligned { 0 } else { ty.bytes() };
            let region = Region { name: object.name.clone(), base: base_of(slot) + skew, bytes, writable: true };
            if !self.memory.add(slot, region) {
                return Err(self.unsupported("more objects than there is room for".to_string()));
            }
            self.visible[slot] = true;
            self.slots.insert(number, slot);
        }
        Ok(())
    }

    fn slot_of(&self, number: usize, placement: Placement) -> usize {
        match placement {
            Placement::Aligned => number + 1,
            Placement::Skewed => self.interface.objects.len() + 1 - number,
        }
    }

    /// Addresses of the symbols that the code mentions.
    fn place_symbols(&mut self) -> Run<()> {
        let (function, interface) = (self.code.function, self.interface);
        let mut next = interface.objects.len() + 2;
        let global = |name: &str| {
            let named = |o: &Object| matches!(&o.origin, Origin::Global(of) if of == name);
            interface.objects.iter().position(named)
        };
        for (var, object) in &function.objects {
            if let Some(slot) = global(&object.name).and_then(|number| self.slots.get(&number).copied())
                && matches!(object.kind, ObjectKind::Named { .. })
            {
                let region = self.memory.region(slot).map_or((0, 0), |r| (r.base, r.bytes.len() as u64));
                if object.size.is_some_and(|size| size != region.1) {
                    return Err(self.unsupported(format!("`{}` has another size than in C", object.name)));
                }
                self.set_var(*var, Value::Bits(Bits::new(64, region.0)));
                continue;
            }
            let known = object.content.as_ref().filter(|c| object.read_only && c.pointers.is_empty());
            // Whatever else it is, its address may be computed; its content is not known.
            let bytes = match known {
                Some(content) => content.bytes.iter().map(|b| Content::Known(u64::from(*b))).collect(),
                None => Vec::new(),
            };
            let region = Region { name: object.name.clone(), base: base_of(next), bytes, writable: false };
            if !self.memory.add(next, region) {
                return Err(self.unsupported("more objects than there is room for".to_string()));
            }
            self.set_var(*var, Value::Bits(Bits::new(64, base_of(next))));
            next += 1;
        }
        Ok(())
    }

    /// Arguments as System V places them: integers and pointers, floating-point numbers, then the stack.
    fn pass_arguments(&mut self, top: u64) -> Run<()> {
        let interface = self.interface;
        let (mut integers, mut floats, mut stack) = (0, 0u8, top + 8);
        for argument in &interface.arguments {
            let (lane, float) = match *argument {
                Argument::Known(value, ty) => (self.integer_argument(Lane::known(64, value as u64), ty), false),
                Argument::Memory(object) => {
                    let slot = self.slots.get(&(object as usize)).copied();
                    let base = slot.and_then(|slot| self.memory.region(slot)).map(|r| r.base);
                    let Some(base) = base else { return Err(self.unsupported("a pointer to nothing known".into())) };
                    (Value::Bits(Bits::new(64, base)), false)
                }
                Argument::Value(object) => {
                    let object = &interface.objects[object as usize];
                    let (Some(ty), Some(key), 1) = (cell_type(object), input_key(&object.origin), object.fields.len())
                    else {
                        return Err(self.unsupported(format!("the structure `{}` passed by value", object.name)));
                    };
                    let value = self.values.domain.input(key, 0, ty);
                    let lane = self.values.lane(value, ty);
                    match ty.is_float() {
                        true => (widened(lane, 128), true),
                        false if ty.bits() < 32 => {
                            return Err(self.unsupported(format!("the narrow argument `{}`", object.name)));
                        }
                        false => (widened(lane, 64), false),
                    }
                }
                Argument::Unnamed => return Err(self.unsupported("a parameter without a name".to_string())),
            };
            match float {
                true if floats < 8 => {
                    self.set_register(Register::Vector(floats), lane);
                    floats += 1;
                }
                false if integers < Register::ARGUMENTS.len() => {
                    self.set_register(Register::ARGUMENTS[integers], lane);
                    integers += 1;
                }
                _ => {
                    let word = Value::from_lanes(crate::lane::slice(&lane.lanes(), 0, 64));
                    if self.memory.store(stack, &word).is_err() {
                        return Err(self.unsupported("too many arguments".to_string()));
                    }
                    stack += 8;
                }
            }
        }
        self.frame = [top, stack];
        Ok(())
    }

    /// Narrow types are extended to 32 bits by the caller; nobody sets the rest.
    fn integer_argument(&self, lane: Lane<D::Value>, ty: Scalar) -> Value<D::Value> {
        match ty.bits() {
            64 => widened(lane, 64),
            _ => widened(lane.slice(0, 32), 64),
        }
    }

    /// The cells that the caller sees, after checking what a callee must leave as it was.
    pub(crate) fn leave(&mut self) -> Run<Final<D::Value>> {
        if self.register(Register::RSP) != Value::Bits(Bits::new(64, TOP)) {
            return Err(self.unsupported("the stack pointer is not restored".to_string()));
        }
        for register in Register::CALLEE_SAVED {
            if self.register(register) != self.saved(register) {
                return Err(self.unsupported(format!("`{}` is not restored", register.name())));
            }
        }
        if self.register(Register::Flag(program::Flag::Direction)) != Value::Bool(false) {
            return Err(self.unsupported("the direction flag is not clear".to_string()));
        }
        let interface = self.interface;
        let mut objects = Vec::with_capacity(interface.objects.len());
        for (number, object) in interface.objects.iter().enumerate() {
            objects.push(match self.slots.get(&number).copied() {
                Some(slot) => self.cells(slot, object)?,
                None => Vec::new(),
            });
        }
        if let Some(number) = interface.result {
            let Some(ty) = cell_type(&interface.objects[number as usize]) else {
                return Err(self.unsupported("the type of the result".to_string()));
            };
            let register = if ty.is_float() { Register::Vector(0) } else { Register::General(0) };
            let lanes = crate::lane::slice(&self.register(register).lanes(), 0, 8 * ty.bytes() as u16);
            let value = self.cell(&lanes, ty, "the result")?;
            objects[number as usize] = vec![value];
        }
        Ok(Final { objects, updates: self.updates, divisions: Vec::new() })
    }

    fn cells(&mut self, slot: usize, object: &Object) -> Run<Vec<D::Value>> {
        let (Some(ty), Some(region)) = (cell_type(object), self.memory.region(slot)) else { return Ok(Vec::new()) };
        let size = ty.bytes() as usize;
        let bytes = region.bytes.clone();
        let mut cells = Vec::with_capacity(bytes.len() / size);
        for (number, chunk) in bytes.chunks(size).enumerate() {
            let mut lanes = Lanes::new();
            for content in chunk {
                push(&mut lanes, Lane { width: 8, content: *content });
            }
            let name = object.cell_name(number as u64);
            cells.push(self.cell(&lanes, ty, &name)?);
        }
        Ok(cells)
    }

    fn cell(&mut self, lanes: &Lanes<D::Value>, ty: Scalar, name: &str) -> Run<D::Value> {
        let found = match lanes.as_slice() {
            [Lane { content: Content::Known(bits), .. }] => Ok(self.values.domain.constant(constant_of(*bits, ty))),
            [lane] => match (lane.whole(), lane.content) {
                (Some((value, of)), _) if of == ty => Ok(value),
                (_, Content::Lost(why)) => Err(why),
                _ => Err("bits of a value of another type"),
            },
            _ => Err("pieces of several values"),
        };
        found.map_err(|why| self.unsupported(format!("`{name}` ends as {why}")))
    }
}

/// The lane at the low end of a register; nobody sets the rest.
fn widened<V: Copy + Eq>(lane: Lane<V>, width: u16) -> Value<V> {
    let mut lanes = Lanes::new();
    push(&mut lanes, lane);
    push(&mut lanes, Lane::lost(width - lane.width, GARBAGE));
    Value::from_lanes(lanes)
}
