//! Inputs from a solver's counterexample.
//!
//! A failed obligation comes with a state of the symbolic variables that violates it. What it says about arguments,
//! memory, addresses of objects and results of calls becomes an input. It may say too little (what the obligation does
//! not mention) or something impossible (the obligation knows less than the machine), so variations are tried too.

use super::replay::Refutation;
use super::runner::Runner;
use crate::objects::inputs::{Input, Stream};
use interpreter::{Effects, STACK_ARGUMENTS, STACK_TOP, Script, Seed, Target, Write};
use kernel::LocalClaim;
use program::{Call, Callee, Function, Next, Place, Register};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::time::Instant;
use term::eval::{Model, Value};
use term::{Arena, Bits, VarId};

/// Variations of a model that are tried.
const TRIES: u64 = 60;

/// What a model says, sorted.
#[derive(Debug, Default)]
struct Said {
    /// Values of registers, at the width that the model has for them.
    registers: FxHashMap<Register, Bits>,
    /// Bytes of the world and of the stack arguments at entry.
    bytes: BTreeMap<u64, u8>,
    /// Addresses of objects.
    objects: FxHashMap<VarId, u64>,
    /// Results of calls: callee, position of the result, value; in the order of the calls.
    results: Vec<(String, usize, u64)>,
    /// Bytes of the world after calls: callee if known, address, byte.
    after: Vec<(Option<String>, u64, u8)>,
    /// Addresses of local objects, by their number.
    locals: BTreeMap<usize, u64>,
}

impl<'a> Runner<'a> {
    /// Looks for a witness near a solver's model.
    pub fn model(
        &mut self,
        arena: &Arena,
        model: &Model,
        locals: &[LocalClaim],
        seed: u64,
        until: Instant,
    ) -> Option<Refutation> {
        let said = Said::of(arena, model, self.functions);
        for attempt in 0..TRIES {
            if Instant::now() >= until {
                return None;
            }
            let input = self.modelled_input(arena, &said, locals, Seed(seed).split(0x0de1 + attempt), attempt);
            if let Some(found) = self.try_input(arena, &input) {
                return Some(self.witness(arena, found, until));
            }
        }
        None
    }

    /// Inputs near a solver's model.
    pub fn inputs_near(&self, arena: &Arena, model: &Model, locals: &[LocalClaim], seed: u64) -> Vec<Input> {
        let said = Said::of(arena, model, self.functions);
        let one = |attempt| self.modelled_input(arena, &said, locals, Seed(seed).split(0x4ea7 + attempt), attempt);
        (0..TRIES).map(one).collect()
    }

    fn modelled_input(&self, arena: &Arena, said: &Said, locals: &[LocalClaim], seed: Seed, attempt: u64) -> Input {
        let mut stream = Stream::new(seed.split(7));
        let mut input = self.random_input(arena, seed, if attempt < 8 { 0 } else { attempt });
        input.effects = if attempt % 3 == 2 { Effects::Writes } else { Effects::Quiet };
        if attempt % 8 != 7 {
            input.places = said.objects.clone();
        }
        let moved = self.moved(arena, &input.places, said);
        let away = |address: u64| {
            moved.iter().find_map(|(from, to, size)| {
                let offset = address.wrapping_sub(*from);
                (offset < *size).then(|| to.wrapping_add(offset))
            })
        };
        for i in 0..self.arguments.len() {
            let Place::Register(register) = self.arguments[i].place else { continue };
            let Some(value) = said.registers.get(&register) else { continue };
            // Some of the later tries keep some registers only.
            if attempt >= 16 && stream.one_in(6) {
                continue;
            }
            let value = match away(value.low()) {
                Some(address) if value.width() == 64 => Bits::new(64, address),
                _ => *value,
            };
            input.set(&self.arguments, i, value);
        }
        for (address, byte) in &said.bytes {
            input.fixed.insert(away(*address).unwrap_or(*address), *byte);
        }
        input.take_stack(&self.arguments);
        input.scripts = self.scripts(said, locals, &mut stream, attempt, &away);
        self.project(arena, &mut input);
        input
    }

    /// Objects that cannot lie where the model has them: from, to, size.
    fn moved(&self, arena: &Arena, places: &FxHashMap<VarId, u64>, said: &Said) -> Vec<(u64, u64, u64)> {
        let layout = interpreter::Layout::new(arena, self.functions, places);
        let object = |var: &VarId| self.functions.iter().find_map(|f| f.objects.get(var));
        let mut out: Vec<(u64, u64, u64)> = said
            .objects
            .iter()
            .filter_map(|(var, from)| {
                let to = layout.address(*var)?;
                (to != *from).then(|| (*from, to, object(var).and_then(|o| o.size).unwrap_or(4096).max(1)))
            })
            .collect();
        out.sort_unstable();
        out
    }

    /// What callees do: their results in order, and what they leave in memory.
    fn scripts(
        &self,
        said: &Said,
        locals: &[LocalClaim],
        stream: &mut Stream,
        attempt: u64,
        away: &dyn Fn(u64) -> Option<u64>,
    ) -> Vec<Script> {
        let mut scripts: Vec<Script> = Vec::new();
        for (callee, position, value) in &said.results {
            let open = scripts
                .iter_mut()
                .rev()
                .find(|s| s.callee == *callee && s.results[..=*position].iter().all(Option::is_none));
            let result = Some(away(*value).unwrap_or(*value));
            match open {
                Some(script) => script.results[*position] = result,
                None => {
                    let mut script = Script { callee: callee.clone(), ..Script::default() };
                    script.results[*position] = result;
                    scripts.push(script);
                }
            }
        }
        if attempt % 4 == 1 {
            // The calls that the model speaks of may come later: the first ones do as they please.
            for callee in scripts.iter().map(|s| s.callee.clone()).collect::<std::collections::BTreeSet<_>>() {
                scripts.insert(0, Script { callee, ..Script::default() });
            }
        }
        if attempt % 4 == 2 {
            let all = scripts.clone();
            scripts =
                (0..2 * all.len().min(8)).map(|_| all[(stream.next() % all.len() as u64) as usize].clone()).collect();
        }
        let callees: Vec<&str> = called(self.functions[0]).collect();
        for (callee, address, byte) in &said.after {
            let guess = || callees.get((attempt as usize).checked_rem(callees.len())?).map(|name| (*name).to_string());
            let Some(name) = callee.clone().or_else(guess) else { continue };
            let target = self.target(said, locals, *address, away);
            let write = Write { target, bytes: vec![*byte] };
            match scripts.iter_mut().find(|s| s.callee == name) {
                Some(script) => script.writes.push(write),
                None => scripts.push(Script { callee: name, writes: vec![write], ..Script::default() }),
            }
        }
        scripts
    }

    /// Where a byte lies: in a local object of both frames, or in the world.
    fn target(&self, said: &Said, locals: &[LocalClaim], address: u64, away: &dyn Fn(u64) -> Option<u64>) -> Target {
        for (i, start) in &said.locals {
            let Some(LocalClaim { original: Some(original), size, .. }) = locals.get(*i) else {
                continue;
            };
            let offset = address.wrapping_sub(*start);
            if offset < *size {
                return Target::Frame(original + offset as i64);
            }
        }
        Target::World(away(address).unwrap_or(address))
    }
}

/// Names of the functions that a function calls.
fn called(function: &Function) -> impl Iterator<Item = &str> {
    function.points.iter().filter_map(|point| match &point.next {
        Next::Call(Call { callee: Callee::Named(name), .. }) => Some(name.as_str()),
        Next::Call(_) => Some("pointer"),
        _ => None,
    })
}

impl Said {
    fn of(arena: &Arena, model: &Model, functions: [&Function; 2]) -> Said {
        let mut said = Said::default();
        let mut stated: Vec<(VarId, Value)> = model.stated().collect();
        stated.sort_by_key(|(var, _)| *var);
        for (var, value) in stated {
            let bits = match value {
                Value::Bits(bits) => bits,
                Value::Bool(bit) => Bits::new(1, u64::from(bit)),
                Value::Memory(_) => continue,
            };
            said.variable(arena, var, bits);
        }
        let mut bytes: Vec<(VarId, u64, u8)> = model.stated_bytes().collect();
        bytes.sort_unstable();
        for (memory, address, byte) in bytes {
            let name = arena.var_name(memory);
            match name {
                "world" => {
                    said.bytes.insert(address, byte);
                }
                "stack-arguments" => {
                    said.bytes.insert(STACK_ARGUMENTS.wrapping_add(address), byte);
                }
                _ if name.starts_with("world#") => {
                    // The results of the call that made this memory were made just before.
                    let mut callees = functions.iter().flat_map(|f| called(f));
                    let callee = callees.find(|name| made_before(arena, name, memory, 1));
                    said.after.push((callee.map(str::to_string), address, byte));
                }
                _ => {}
            }
        }
        // The initial bytes of a local object are nobody's.
        said.bytes.retain(|address, _| *address >= STACK_TOP || !interpreter::is_stack(*address));
        said
    }

    fn variable(&mut self, arena: &Arena, var: VarId, bits: Bits) {
        let name = arena.var_name(var);
        if let Some(register) = Register::of_var(var) {
            self.registers.insert(register, bits);
        } else if let Some(number) = name.strip_prefix("§local.") {
            if let Ok(i) = number.parse() {
                self.locals.insert(i, bits.low());
            }
        } else if name.starts_with('&') {
            self.objects.insert(var, bits.low());
        } else if let Some((hint, _)) = name.split_once('#') {
            let before = (1..4).take_while(|back| made_before(arena, hint, var, *back)).count();
            let position = if bits.width() == 128 { 2 + before.saturating_sub(2) } else { before };
            self.results.push((hint.to_string(), position.min(3), bits.low()));
        } else if let Some((register, _)) = name.split_once('.') {
            // A narrow argument: the rest of the register follows from its type.
            if let Some(register) = Register::all().find(|r| r.name() == register) {
                self.registers.insert(register, bits);
            }
        }
    }
}

/// Is this the hint of the variable that was made `back` variables before?
fn made_before(arena: &Arena, hint: &str, var: VarId, back: usize) -> bool {
    let number = var.index().checked_sub(back);
    number.is_some_and(|n| arena.find_var(&format!("{hint}#{n}")).is_some())
}
