//! Start states that the user gives: inputs on which both programs are run before any random one.

use crate::objects::inputs::{Argument, Input};
use interpreter::{Layout, STACK_TOP, Script, Target, Write};
use program::{Function, Parameter, Place};
use term::Bits;

/// A start state for one function, or for all. What it does not mention is seeded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartState {
    /// Name of the function in the original; all functions if absent.
    pub function: Option<String>,
    /// Arguments by parameter, register (`rdi`, `xmm0`) or place on the stack (`[rsp+0x8]`), with 128-bit values.
    pub registers: Vec<(String, Bits)>,
    /// Initial bytes.
    pub memory: Vec<StartBytes>,
    /// What calls return, in the order of the calls of each callee.
    pub calls: Vec<StartCall>,
    /// Seed of the rest.
    pub seed: u64,
}

/// Initial bytes of a start state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartBytes {
    /// Where.
    pub place: StartPlace,
    /// What.
    pub bytes: Vec<u8>,
}

/// Where bytes of a start state lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StartPlace {
    /// At an address.
    Address(u64),
    /// In an object, by its name and the offset from its start.
    Object(String, u64),
    /// In an object if there is one of that name, else at the address, where it lay when this was recorded.
    Recorded {
        /// The object's name.
        object: String,
        /// The offset from its start.
        offset: u64,
        /// The address of the bytes.
        address: u64,
    },
}

/// Objects that lie elsewhere than where they were recorded: the words that point to them change.
struct Moves {
    /// First address, bytes, and where the object lies now.
    all: Vec<(u64, u64, u64)>,
}

impl Moves {
    fn new(memory: &[StartBytes], layout: &Layout) -> Moves {
        let mut all: Vec<(u64, u64, u64)> = memory
            .iter()
            .filter_map(|bytes| match &bytes.place {
                StartPlace::Recorded { object, offset, address } => {
                    let placed = layout.objects().iter().find(|p| p.object.name == *object)?;
                    Some((address.wrapping_sub(*offset), placed.object.size.unwrap_or(1), placed.start))
                }
                StartPlace::Address(_) | StartPlace::Object(..) => None,
            })
            .collect();
        all.sort_unstable();
        all.dedup();
        Moves { all }
    }

    fn word(&self, word: u64) -> u64 {
        let inside = |(from, size, _): &&(u64, u64, u64)| word.wrapping_sub(*from) <= *size;
        self.all.iter().find(inside).map_or(word, |(from, _, to)| to.wrapping_add(word - from))
    }

    /// The aligned words of bytes that were recorded at an address.
    fn bytes(&self, address: u64, bytes: &[u8]) -> Vec<u8> {
        let mut out = bytes.to_vec();
        let first = (address.wrapping_neg() % 8) as usize;
        if let Some(words) = out.get_mut(first..).filter(|_| !self.all.is_empty()) {
            for word in words.as_chunks_mut::<8>().0 {
                *word = self.word(u64::from_le_bytes(*word)).to_le_bytes();
            }
        }
        out
    }
}

impl StartPlace {
    /// The address, if there is such an object.
    fn address(&self, layout: &Layout) -> Option<u64> {
        let object = |name: &str, offset: u64| {
            let placed = layout.objects().iter().find(|p| p.object.name == *name);
            placed.map(|p| p.start.wrapping_add(offset))
        };
        match self {
            StartPlace::Address(address) => Some(*address),
            StartPlace::Object(name, offset) => object(name, *offset),
            StartPlace::Recorded { object: name, offset, address } => object(name, *offset).or(Some(*address)),
        }
    }
}

impl StartBytes {
    fn written(&self, layout: &Layout) -> Option<Write> {
        let target = Target::World(self.place.address(layout)?);
        Some(Write { target, bytes: self.bytes.clone() })
    }
}

/// What a call returns and writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartCall {
    /// Who is called.
    pub callee: String,
    /// The result in `rax`.
    pub result: u64,
    /// What it writes.
    pub writes: Vec<StartBytes>,
}

/// Points that the original may enter on a start state that somebody asked for.
pub(crate) const FUEL: usize = 1_000_000;

impl StartState {
    /// Is it meant for this function?
    pub fn concerns(&self, name: &str) -> bool {
        self.function.as_ref().is_none_or(|function| function == name)
    }

    /// The argument names that the function does not have.
    pub fn unknown_names(&self, function: &Function) -> Vec<&str> {
        let values = function.signature.iter().flat_map(|s| &s.arguments);
        let places: Vec<Place> = values.map(|value| value.place).collect();
        let known = |name: &str| places.iter().any(|place| is_named(name, *place, &function.parameters));
        let guessed = function.signature.as_ref().is_none_or(|s| s.unsupported.is_some() || s.variadic);
        self.registers.iter().map(|(name, _)| name.as_str()).filter(|name| !guessed && !known(name)).collect()
    }

    /// Puts the state into an input. Names that the function does not have are left out.
    pub(crate) fn apply(&self, input: &mut Input, arguments: &[Argument], parameters: &[Parameter], layout: &Layout) {
        input.fuel = FUEL;
        let moves = Moves::new(&self.memory, layout);
        for (i, argument) in arguments.iter().enumerate() {
            if let Some((_, value)) = self.registers.iter().find(|(name, _)| is_named(name, argument.place, parameters))
            {
                let value = value.resize(argument.width());
                let address = argument.width() == 64 && !argument.is_vector();
                let value = if address { Bits::new(64, moves.word(value.low())) } else { value };
                input.set(arguments, i, value);
            }
        }
        for StartBytes { place, bytes } in &self.memory {
            let Some(start) = place.address(layout) else { continue };
            let recorded = match place {
                StartPlace::Recorded { address, .. } => *address,
                StartPlace::Address(_) | StartPlace::Object(..) => start,
            };
            for (i, byte) in (0..).zip(moves.bytes(recorded, bytes)) {
                input.fixed.insert(start.wrapping_add(i), byte);
            }
        }
        let script = |call: &StartCall| Script {
            callee: call.callee.clone(),
            results: [Some(call.result), None, None, None],
            writes: call.writes.iter().filter_map(|write| write.written(layout)).collect(),
        };
        input.scripts = self.calls.iter().map(script).collect();
    }
}

/// Does a name mean the argument at this place?
pub(crate) fn is_named(name: &str, place: Place, parameters: &[Parameter]) -> bool {
    let by_place = match place {
        Place::Register(register) => register.name() == name,
        Place::Stack(offset) => format!("[rsp+{:#x}]", offset + 8) == name,
    };
    // A parameter in several registers has no name of its own in any of them.
    by_place || parameters.iter().any(|p| p.name == name && p.values.len() == 1 && p.values[0].place == place)
}

/// Highest address that bytes of a start state may have below the programs' stack.
pub const HIGHEST_ADDRESS: u64 = STACK_TOP - (1 << 25);

/// Addresses above that stack, where a recorded program has its own.
pub const ABOVE_STACK: std::ops::Range<u64> = STACK_TOP + (1 << 25)..0x7fff_ffff_f000;
