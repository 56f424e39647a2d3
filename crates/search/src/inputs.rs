//! Concrete inputs: random ones of the kinds that tell programs apart, and their variations.

use graph::interpreter::{Seed, plausible_word};
use graph::{Function, Place, Register};
use rustc_hash::FxHashMap;
use term::Bits;
use term::eval::Value;

/// A start state of both programs.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Registers by index; `rsp` is set by the machine.
    pub registers: Vec<Value>,
    /// Bytes of memory that are not seeded.
    pub fixed: FxHashMap<u64, u8>,
    /// Seed of the rest of memory, of callees and of undefined values.
    pub seed: Seed,
}

const BUFFERS: u64 = 0x2000_0000_0000;

/// A small stream of random numbers.
struct Stream {
    seed: Seed,
    count: u64,
}

impl Stream {
    fn next(&mut self) -> u64 {
        self.count += 1;
        self.seed.mix(self.count)
    }

    fn pick(&mut self, values: &[u64]) -> u64 {
        values[(self.next() % values.len() as u64) as usize]
    }
}

/// A register that carries an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Argument {
    pub register: Register,
    pub bytes: u16,
    pub pointer: bool,
    pub boolean: bool,
    pub narrow: Option<graph::Narrow>,
}

/// The registers that carry the function's arguments, as far as known.
pub(crate) fn arguments(function: &Function) -> Vec<Argument> {
    let plain = |register: Register, bytes: u16| Argument { register, bytes, pointer: false, boolean: false, narrow: None };
    let Some(signature) = function.signature.as_ref().filter(|s| s.unsupported.is_none()) else {
        let vectors = (0..8).map(|i| plain(Register::Vector(i), 16));
        return Register::ARGUMENTS.iter().map(|r| plain(*r, 8)).chain(vectors).collect();
    };
    let pointers: Vec<Place> =
        function.parameters.iter().filter(|p| p.pointer).flat_map(|p| p.values.iter().map(|v| v.place)).collect();
    let known = signature.arguments.iter().filter_map(|value| match value.place {
        Place::Register(register) => Some(Argument {
            register,
            bytes: value.bytes,
            pointer: pointers.contains(&value.place),
            boolean: value.boolean,
            narrow: value.narrow,
        }),
        Place::Stack(_) => None,
    });
    let mut out: Vec<Argument> = known.collect();
    if signature.variadic {
        let more = Register::ARGUMENTS.iter().copied().filter(|r| !out.iter().any(|a| a.register == *r));
        let more: Vec<Argument> = more.map(|r| plain(r, 8)).collect();
        out.extend(more);
    }
    out
}

impl Input {
    /// The input number `round` of a seed.
    pub fn random(function: &Function, seed: Seed, round: u64) -> Input {
        let seed = seed.split(round);
        let mut stream = Stream { seed: seed.split(1), count: 0 };
        let mut registers: Vec<Value> = Vec::with_capacity(Register::COUNT);
        for register in Register::all() {
            let random = stream.next();
            registers.push(match register.sort() {
                term::Sort::Bool => Value::Bool(random & 1 == 1 && register != Register::Flag(graph::Flag::Direction)),
                term::Sort::Bv(width) => Value::Bits(Bits::from_limbs(width, &[random, stream.next()])),
                term::Sort::Memory => Value::Bool(false),
            });
        }
        registers[Register::FsBase.index()] = Value::Bits(Bits::new(64, 0x7f00_0000_0000));
        let mut input = Input { registers, fixed: FxHashMap::default(), seed };
        let mut earlier: Vec<u64> = Vec::new();
        let calm = round.is_multiple_of(3);
        for argument in arguments(function) {
            let value = random_argument(&argument, &mut stream, &earlier, calm);
            if argument.register.sort().width() == Some(64) {
                earlier.push(value.low());
            }
            input.set(&argument, value);
        }
        input
    }

    /// Sets an argument; bits above its type keep the garbage they have.
    pub fn set(&mut self, argument: &Argument, value: Bits) {
        let Value::Bits(whole) = self.registers[argument.register.index()] else { return };
        let width = 8 * argument.bytes;
        let mut low = if value.width() >= width { value.extract(width - 1, 0) } else { value.zext(width) };
        if let Some(narrow) = argument.narrow {
            let inner = low.extract(8 * narrow.bytes - 1, 0);
            low = if narrow.signed { inner.sext(width) } else { inner.zext(width) };
        }
        if argument.boolean {
            low = Bits::new(width, low.low() & 1);
        }
        let full = if width < whole.width() { whole.extract(whole.width() - 1, width).concat(low) } else { low };
        self.registers[argument.register.index()] = Value::Bits(full);
    }

    /// The value of an argument at its width.
    pub fn get(&self, argument: &Argument) -> Bits {
        match self.registers[argument.register.index()] {
            Value::Bits(bits) => bits.extract(8 * argument.bytes - 1, 0),
            _ => Bits::zero(8 * argument.bytes),
        }
    }
}

fn random_argument(argument: &Argument, stream: &mut Stream, earlier: &[u64], calm: bool) -> Bits {
    let width = 8 * argument.bytes;
    if width == 128 || matches!(argument.register, Register::Vector(_)) {
        return random_float(stream, width);
    }
    let kind = stream.next() % 20;
    if argument.pointer || (argument.bytes == 8 && argument.narrow.is_none() && kind < 8) {
        let buffer = BUFFERS + (earlier.len() as u64 * 7 + 1) * 0x1_0000;
        let value = match stream.next() % 16 {
            0 if !calm => 0,
            1 | 2 if !earlier.is_empty() && !calm => stream.pick(earlier),
            3 | 4 if !earlier.is_empty() && !calm => {
                let delta = [1, 2, 3, 4, 5, 7, 8, 12, 16, 24];
                let up = stream.next() & 1 == 0;
                let by = stream.pick(&delta);
                let base = stream.pick(earlier);
                if up { base.wrapping_add(by) } else { base.wrapping_sub(by) }
            }
            _ => buffer + if stream.next() & 7 == 0 { stream.next() % 64 } else { 0 },
        };
        return Bits::new(64, value);
    }
    let bits = u32::from(width.min(64));
    let sign = 1u64 << (bits - 1);
    let value = match kind {
        0..=7 => stream.next() % 12,
        8 => (stream.next() % 12).wrapping_neg(),
        9 => sign,
        10 => sign - 1,
        11 => u64::MAX,
        12 if !earlier.is_empty() => stream.pick(earlier),
        13 if !earlier.is_empty() => stream.pick(earlier).wrapping_add(1),
        14 => 1 << (stream.next() % u64::from(bits)),
        15 => (1u64 << (stream.next() % u64::from(bits))).wrapping_sub(1),
        16 => stream.next() % 256,
        17 => plausible_word(stream.next()),
        _ => stream.next(),
    };
    Bits::new(64, value)
}

fn random_float(stream: &mut Stream, width: u16) -> Bits {
    let values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.25, -7.75, 100.0, 1e10, 1e-10, 1e300, 0.1, 16777217.0];
    let mut lane = |wide: bool| {
        let pick = values[(stream.next() % values.len() as u64) as usize];
        let value: f64 = match stream.next() % 12 {
            0 => f64::INFINITY,
            1 => f64::NAN,
            2..=5 => (stream.next() % 2000) as f64 / 16.0 - 50.0,
            _ => pick,
        };
        if wide { value.to_bits() } else { u64::from((value as f32).to_bits()) }
    };
    match width {
        32 => Bits::new(32, lane(false)),
        64 => Bits::new(64, lane(true)),
        _ => {
            let low = if lane(true) & 64 == 0 { lane(true) } else { lane(false) };
            Bits::from_limbs(width, &[low, lane(true)])
        }
    }
}
