//! What is told about a difference.

use super::compare::show;
use super::replay::{Refutation, Replay};
use super::runner::{Found, Runner};
use crate::objects::inputs::Input;
use crate::{Behaviour, Witness, WitnessBytes, WitnessCall, WitnessKind, WitnessRegister};
use interpreter::{Called, Target, Write};
use program::{Place, Register};
use std::time::Instant;
use term::Arena;

impl<'a> Runner<'a> {
    /// Makes the input small and says what it does.
    pub(super) fn witness(&mut self, arena: &Arena, found: Found, until: Instant) -> Refutation {
        let found = self.minimise(arena, found, until);
        self.told(arena, found)
    }

    /// Says what an input does.
    pub(crate) fn told(&mut self, arena: &Arena, Found { input, difference }: Found) -> Refutation {
        let traces = self.traces(arena, &input);
        let memory = self.witness_memory(&input);
        let replayed = match self.replay(arena, &input, &traces) {
            Replay::Impossible => vec!["interpreter"],
            Replay::Agrees => vec!["interpreter", "cpu"],
            Replay::Disagrees(what) => return Refutation::Disputed(what),
        };
        let shown = self.arguments.iter().zip(&input.values).filter(|(a, _)| !a.guessed || is_plain(a.place));
        let registers = shown.map(|(argument, value)| WitnessRegister {
            name: match argument.place {
                Place::Register(register) => register.name(),
                Place::Stack(offset) => format!("[rsp+{:#x}]", offset + 8),
            },
            parameter: self.parameter(argument.place),
            value: *value,
        });
        let behaviour = |side: usize| Behaviour {
            summary: difference.summaries[side].clone(),
            line: self.functions[side].lines.find(difference.places[side]).cloned(),
        };
        let witness = Witness {
            kind: WitnessKind::Input,
            registers: registers.collect(),
            memory,
            calls: traces[0].calls.iter().map(|c| self.witness_call(c)).collect(),
            original: behaviour(0),
            candidate: behaviour(1),
            replayed,
            allocation: None,
        };
        Refutation::Different(Box::new(witness))
    }

    fn parameter(&self, place: Place) -> Option<String> {
        let parameters = &self.functions[0].parameters;
        parameters.iter().find(|p| p.values.iter().any(|v| v.place == place)).map(|p| p.name.clone())
    }

    fn witness_call(&self, called: &Called) -> WitnessCall {
        let arguments = called.callee.signature.iter().flat_map(|s| &s.arguments);
        let values = arguments.filter_map(|v| match v.place {
            Place::Register(register) => {
                let position = Called::position(register)?;
                Some(show(called.registers[position].bits.extract(8 * v.bytes - 1, 0)))
            }
            Place::Stack(_) => None,
        });
        WitnessCall {
            callee: called.callee.name.to_string(),
            arguments: values.collect(),
            result: format!("{:#x}", called.result),
            writes: called.writes.iter().map(|write| self.witness_write(write)).collect(),
        }
    }

    fn witness_write(&self, write: &Write) -> WitnessBytes {
        let (address, object) = match write.target {
            Target::World(address) => (address, self.layout.describe(address)),
            Target::Passed(_, offset) => (offset, Some(format!("local+{offset:#x}"))),
            Target::Frame(offset) => (offset as u64, Some("local".to_string())),
        };
        WitnessBytes { address, object, bytes: write.bytes.iter().take(16).copied().collect() }
    }

    fn witness_memory(&self, input: &Input) -> Vec<WitnessBytes> {
        let mut out: Vec<WitnessBytes> = Vec::new();
        for (address, byte) in self.looked_at(input) {
            match out.last_mut() {
                Some(last) if last.address + last.bytes.len() as u64 == address && last.bytes.len() < 16 => {
                    last.bytes.push(byte);
                }
                _ => {
                    let object = self.layout.describe(address);
                    out.push(WitnessBytes { address, object, bytes: vec![byte] });
                }
            }
        }
        out
    }
}

/// A general register that carries arguments.
fn is_plain(place: Place) -> bool {
    matches!(place, Place::Register(register) if Register::ARGUMENTS.contains(&register))
}
