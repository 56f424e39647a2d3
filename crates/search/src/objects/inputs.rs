//! Concrete inputs: random ones of the kinds that tell programs apart, and their variations.

use crate::objects::constants::Constants;
use interpreter::{
    BUFFER_SPACING, BUFFERS, Effects, Fabric, Layout, STACK_ARGUMENTS, Script, Seed, Start, bytes_read, plausible_word,
};
use program::contract::Fixed;
use program::{Function, Narrow, Place, Register, Side, Value};
use rustc_hash::FxHashMap;
use term::{Arena, Bits, VarId};

/// A start state of both programs.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    /// Values of the arguments, in the order of the list of arguments.
    pub values: Vec<Bits>,
    /// The arguments that point to buffers, and the addresses of objects.
    pub pointers: Vec<u64>,
    /// Bytes of memory that are not seeded.
    pub fixed: FxHashMap<u64, u8>,
    /// Seed of the rest of memory, of callees and of undefined values.
    pub seed: Seed,
    /// Do unknown callees write?
    pub effects: Effects,
    /// Chosen behaviour of callees.
    pub scripts: Vec<Script>,
    /// Chosen places of objects.
    pub places: FxHashMap<VarId, u64>,
    /// Points that the original may enter.
    pub fuel: usize,
    /// Are single bytes of memory fit to be truth values?
    pub sane: bool,
    /// What memory is like.
    pub fabric: Fabric,
    /// Do all buffers hold the same?
    pub alike: bool,
}

/// Inputs with this number and above make loops go round.
pub(crate) const LOOP_ROUNDS: u64 = 1 << 40;

/// Where `restrict` pointers point: nothing else does.
pub(crate) const RESTRICTED: u64 = 0x2800_0000_0000;

/// A small stream of random numbers.
pub(crate) struct Stream {
    seed: Seed,
    count: u64,
}

impl Stream {
    pub fn new(seed: Seed) -> Stream {
        Stream { seed, count: 0 }
    }

    pub fn next(&mut self) -> u64 {
        self.count += 1;
        self.seed.mix(self.count)
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[(self.next() % values.len() as u64) as usize]
    }
}

/// Something that the caller passes.
#[derive(Clone, Debug)]
pub(crate) struct Argument {
    pub place: Place,
    /// Defined bytes.
    pub bytes: u16,
    pub pointer: bool,
    pub restrict: bool,
    /// Is it where the result goes?
    pub result: bool,
    pub boolean: bool,
    pub narrow: Option<Narrow>,
    /// Is it known only from the convention, because there is no debug information?
    pub guessed: bool,
    /// The values that all callers pass, if these are known.
    pub choices: Vec<Fixed>,
}

impl Argument {
    fn plain(place: Place, bytes: u16) -> Argument {
        let choices = Vec::new();
        Argument {
            place,
            bytes,
            pointer: false,
            restrict: false,
            result: false,
            boolean: false,
            narrow: None,
            guessed: false,
            choices,
        }
    }

    pub fn width(&self) -> u16 {
        8 * self.bytes
    }

    pub fn is_vector(&self) -> bool {
        matches!(self.place, Place::Register(Register::Vector(_)))
    }

    /// The value that the type allows and that has these low bits.
    pub fn fit(&self, value: Bits) -> Bits {
        let low = value.resize(self.width());
        if self.boolean {
            return Bits::new(self.width(), low.low() & 1);
        }
        match self.narrow {
            Some(narrow) => {
                let inner = low.extract(8 * narrow.bytes - 1, 0);
                if narrow.signed { inner.sext(self.width()) } else { inner.zext(self.width()) }
            }
            None => low,
        }
    }
}

/// The arguments of the original, as far as known.
pub(crate) fn arguments(arena: &Arena, function: &Function) -> Vec<Argument> {
    let Some(signature) = function.signature.as_ref().filter(|s| s.unsupported.is_none()) else {
        return guessed_arguments(arena, function);
    };
    let parameter = |place: Place| function.parameters.iter().find(|p| p.values.iter().any(|v| v.place == place));
    let constants = function.contract().map(|c| &c.arguments);
    // Where the result goes: a place of the caller's that nothing else points to.
    let first = Place::Register(Register::ARGUMENTS[0]);
    let named = function.parameters.iter().any(|p| p.values.iter().any(|v| v.place == first));
    let address = |value: Option<&Value>| value.is_some_and(|v| v.bytes == 8);
    let hides = !named && address(signature.arguments.first()) && address(signature.results.first());
    let hidden = |place: Place| place == first && hides;
    let known = signature.arguments.iter().map(|value| {
        let parameter = parameter(value.place);
        let choices = match value.place {
            Place::Register(register) => constants.and_then(|c| c.get(&register)),
            Place::Stack(_) => None,
        };
        Argument {
            place: value.place,
            // A truth value arrives extended to 32 bits, as both compilers rely on.
            bytes: if value.boolean { value.bytes.max(4) } else { value.bytes },
            pointer: hidden(value.place) || parameter.is_some_and(|p| p.pointer),
            restrict: hidden(value.place) || parameter.is_some_and(|p| p.restrict),
            result: hidden(value.place),
            boolean: value.boolean,
            narrow: value.narrow,
            guessed: false,
            choices: choices.map_or(Vec::new(), |c| c.iter().cloned().collect()),
        }
    });
    let mut out: Vec<Argument> = known.collect();
    if signature.variadic {
        for register in convention().filter(|r| *r != Register::General(0)) {
            if !out.iter().any(|a| a.place == Place::Register(register)) {
                let bytes = if matches!(register, Register::Vector(_)) { 16 } else { 8 };
                out.push(Argument::plain(Place::Register(register), bytes));
            }
        }
        out.push(count_of_vectors());
    }
    out
}

fn convention() -> impl Iterator<Item = Register> {
    Register::ARGUMENTS.into_iter().chain((0..8).map(Register::Vector))
}

/// `al`: callers of a variadic function say how many vector registers they use.
fn count_of_vectors() -> Argument {
    let choices = [0, 1, 8].into_iter().map(Fixed::Number).collect();
    Argument { choices, ..Argument::plain(Place::Register(Register::General(0)), 8) }
}

/// Without debug information: every register of the convention. Who looks only at the low part of one may expect a
/// narrow type, whose values are few.
fn guessed_arguments(arena: &Arena, function: &Function) -> Vec<Argument> {
    let entry = function.point(Function::ENTRY);
    let one = |register: Register| {
        let place = Place::Register(register);
        if matches!(register, Register::Vector(_)) {
            return Argument { guessed: true, ..Argument::plain(place, 16) };
        }
        match bytes_read(arena, entry, register) {
            Some(1) => Argument { boolean: true, guessed: true, ..Argument::plain(place, 8) },
            Some(2) => {
                let narrow = Some(Narrow { bytes: 1, signed: false });
                Argument { narrow, guessed: true, ..Argument::plain(place, 8) }
            }
            _ => Argument { guessed: true, ..Argument::plain(place, 8) },
        }
    };
    convention().map(one).chain([Argument { guessed: true, ..count_of_vectors() }]).collect()
}

/// What random inputs are made from.
pub(crate) struct Ingredients<'a> {
    pub arguments: &'a [Argument],
    pub constants: &'a Constants,
    /// Addresses of named objects.
    pub objects: &'a [u64],
    /// Addresses of objects to which memory may point.
    pub targets: &'a [u64],
    /// Does one of the programs have a loop?
    pub loops: bool,
    /// Address of a constant argument.
    pub fixed: &'a dyn Fn(&Fixed) -> Option<u64>,
}

impl Input {
    /// The input number `round` of a seed.
    pub fn random(ingredients: &Ingredients, seed: Seed, round: u64) -> Input {
        let seed = seed.split(round);
        let mut stream = Stream::new(seed.split(1));
        let mood = match round % 6 {
            _ if round >= LOOP_ROUNDS => Mood::Loops,
            _ if ingredients.loops && is_longest(round) => Mood::Longest,
            _ if ingredients.loops && is_long(round) => Mood::Long,
            _ if ingredients.loops && is_near(round) => Mood::Near,
            0 | 3 => Mood::Calm,
            5 => Mood::Constants,
            _ => Mood::Wild,
        };
        let effects = if round % 4 == 1 || round % 4 == 2 { Effects::Writes } else { Effects::Quiet };
        let mut input = Input {
            values: Vec::with_capacity(ingredients.arguments.len()),
            pointers: Vec::new(),
            fixed: FxHashMap::default(),
            seed,
            effects,
            scripts: Vec::new(),
            places: FxHashMap::default(),
            fuel: fuel(ingredients, round),
            sane: false,
            fabric: Fabric::Mixed,
            alike: false,
        };
        if ingredients.loops && (mood == Mood::Loops || round % 4 == 2) {
            input.fabric = stream.pick(&Fabric::ALL);
            input.alike = stream.one_in(3);
        }
        let same = stream.one_in(24);
        let mut earlier: Vec<u64> = Vec::new();
        for argument in ingredients.arguments {
            let value = match earlier.first() {
                Some(first) if same && !argument.is_vector() && argument.choices.is_empty() => Bits::new(64, *first),
                _ => random_argument(ingredients, argument, &mut stream, &earlier, mood),
            };
            let value = argument.fit(value);
            if !argument.is_vector() && !argument.restrict {
                earlier.push(value.low());
            }
            if argument.pointer && !argument.restrict && value.low() >= BUFFERS {
                input.pointers.push(value.low());
            }
            input.values.push(value);
            input.place(argument, value);
        }
        // A compiler may know more about a static than that its address is taken: no difference is looked for there.
        input.pointers.extend(if mood == Mood::Loops { ingredients.targets } else { ingredients.objects });
        input
    }

    /// Sets an argument.
    pub fn set(&mut self, arguments: &[Argument], i: usize, value: Bits) {
        let value = arguments[i].fit(value);
        self.values[i] = value;
        self.place(&arguments[i], value);
    }

    /// Takes the values of stack arguments from memory, as far as their types have them.
    pub fn take_stack(&mut self, arguments: &[Argument]) {
        for (i, argument) in arguments.iter().enumerate() {
            let Place::Stack(offset) = argument.place else { continue };
            let start = STACK_ARGUMENTS + u64::from(offset);
            let known = self.values[i].to_bytes();
            let bytes: Vec<u8> =
                (start..).zip(known).map(|(at, byte)| self.fixed.get(&at).copied().unwrap_or(byte)).collect();
            self.set(arguments, i, Bits::from_bytes(&bytes));
        }
    }

    /// A stack argument is memory.
    fn place(&mut self, argument: &Argument, value: Bits) {
        if let Place::Stack(offset) = argument.place {
            for (i, byte) in value.to_bytes().into_iter().enumerate() {
                self.fixed.insert(STACK_ARGUMENTS + u64::from(offset) + i as u64, byte);
            }
        }
    }
}

/// What an input is like as a whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mood {
    /// Distinct buffers, small numbers.
    Calm,
    /// Everything.
    Wild,
    /// Numbers that the programs mention.
    Constants,
    /// Distinct buffers, and numbers that loops count to.
    Loops,
    /// Distinct buffers, and numbers that make loops run long.
    Long,
    /// The same, as long as can be: where a short or a count of 16 bits ends.
    Longest,
    /// Buffers a few bytes apart, and as many turns as an unrolled loop needs.
    Near,
}

/// Once in eight times loops run long.
fn is_long(round: u64) -> bool {
    round % 8 == 7
}

/// Some of these are as long as can be.
fn is_longest(round: u64) -> bool {
    round % 256 == 255
}

/// Once in eight times buffers overlap.
fn is_near(round: u64) -> bool {
    round % 8 == 3
}

/// Points that the original may enter: mostly few, since many a random number of turns is larger than any fuel.
fn fuel(ingredients: &Ingredients, round: u64) -> usize {
    match round {
        _ if !ingredients.loops || round >= LOOP_ROUNDS => 4000,
        _ if is_longest(round) => 400_000,
        _ if round % 64 == 63 => 40_000,
        _ if is_long(round) => 8000,
        _ if is_near(round) => 2000,
        _ => 500,
    }
}

fn random_argument(
    ingredients: &Ingredients,
    argument: &Argument,
    stream: &mut Stream,
    earlier: &[u64],
    mood: Mood,
) -> Bits {
    if !argument.choices.is_empty() {
        let choice = &argument.choices[(stream.next() % argument.choices.len() as u64) as usize];
        // An object that neither function mentions may lie anywhere.
        let elsewhere = BUFFERS + (earlier.len() as u64 * 7 + 1) % 61 * BUFFER_SPACING;
        return Bits::new(64, (ingredients.fixed)(choice).unwrap_or(elsewhere));
    }
    if argument.is_vector() {
        return random_float(ingredients, stream, argument.width());
    }
    let constants = ingredients.constants.words();
    if mood == Mood::Constants && !argument.pointer && !constants.is_empty() && !stream.one_in(4) {
        return Bits::new(64, stream.pick(constants));
    }
    let word_sized = argument.bytes == 8 && argument.narrow.is_none() && !argument.boolean;
    if argument.pointer || (word_sized && stream.next() % 5 < 2) {
        return Bits::new(64, random_pointer(ingredients, argument, stream, earlier, mood));
    }
    if mood == Mood::Loops {
        let value = match stream.next() % 16 {
            0 => stream.next() % 3,
            1..=6 => stream.next() % 24,
            7..=11 => stream.next() % 80,
            12 | 13 => stream.next() % 400,
            14 if !constants.is_empty() => stream.pick(constants),
            _ => stream.next() % (1 << 16),
        };
        return Bits::new(64, value);
    }
    if mood == Mood::Longest && !stream.one_in(8) {
        return Bits::new(64, longest_number(constants, stream));
    }
    if mood == Mood::Near && !stream.one_in(4) {
        let most = stream.pick(&[8, 20, 80]);
        return Bits::new(64, stream.next() % most);
    }
    if mood == Mood::Long && !stream.one_in(4) {
        return Bits::new(64, long_number(constants, stream));
    }
    let bits = u32::from(argument.width().min(64));
    let sign = 1u64 << (bits - 1);
    let value = match stream.next() % 24 {
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
        17 => plausible_word(stream.next(), constants),
        18..=20 if !constants.is_empty() => stream.pick(constants),
        21 if earlier.len() > 1 => stream.pick(earlier).wrapping_add(stream.pick(earlier)),
        _ => stream.next(),
    };
    Bits::new(64, value)
}

/// A number of turns that is large and can still be run.
fn long_number(constants: &[u64], stream: &mut Stream) -> u64 {
    let known = if constants.is_empty() { 0 } else { stream.pick(constants) };
    match stream.next() % 8 {
        0 | 1 => stream.next() % 64,
        2 => 64 + stream.next() % 256,
        3 => 250 + stream.next() % 12,
        4 => 1000 + stream.next() % 40,
        5 => stream.next() % 3000,
        6 if (8..100_000).contains(&known) => known + stream.next() % 16,
        6 => 65_530 + stream.next() % 12,
        _ => 1 << (stream.next() % 12),
    }
}

/// A number of turns at which narrow counters end.
fn longest_number(constants: &[u64], stream: &mut Stream) -> u64 {
    let known: Vec<u64> = constants.iter().copied().filter(|c| (4000..90_000).contains(c)).collect();
    match stream.next() % 4 {
        0 if !known.is_empty() => stream.pick(&known) + stream.next() % 4,
        0 | 1 => 32_760 + stream.next() % 16,
        2 => 65_530 + stream.next() % 12,
        _ => stream.next() % 90_000,
    }
}

fn random_pointer(
    ingredients: &Ingredients,
    argument: &Argument,
    stream: &mut Stream,
    earlier: &[u64],
    mood: Mood,
) -> u64 {
    let number = earlier.len() as u64;
    if argument.restrict {
        let position = ingredients.arguments.iter().position(|a| a.place == argument.place).unwrap_or(0) as u64;
        let along = if mood == Mood::Loops { 16 * (stream.next() % 1024) } else { 0 };
        return RESTRICTED + position * BUFFER_SPACING * 4 + along;
    }
    let buffer = BUFFERS + (number * 7 + 1) % 61 * BUFFER_SPACING;
    if mood == Mood::Loops {
        // A pointer behind another may be the end of what that one begins.
        if let (Some(last), true) = (earlier.last(), stream.one_in(3))
            && *last >= BUFFERS
        {
            return last.wrapping_add(16 * (stream.next() % 40));
        }
        // Buffers that hold the same hold it at the same distance.
        let along = if stream.one_in(2) { stream.seed.mix(0xa11e) } else { stream.next() };
        return buffer + 16 * (along % 64);
    }
    if matches!(mood, Mood::Calm | Mood::Longest) || (mood == Mood::Long && !stream.one_in(3)) {
        return buffer;
    }
    if let (Mood::Near, Some(base)) = (mood, earlier.iter().rev().find(|a| **a >= BUFFERS)) {
        let by = stream.pick(&[1, 1, 2, 3, 4, 4, 8, 12, 16, 20, 36]);
        return if stream.one_in(3) { base.wrapping_sub(by) } else { base.wrapping_add(by) };
    }
    match stream.next() % 20 {
        0 => 0,
        1 | 2 if !earlier.is_empty() => stream.pick(earlier),
        3..=5 if !earlier.is_empty() => {
            let by = stream.pick(&[1, 2, 4, 4, 8, 8, 8, 12, 16, 24, 32]);
            let base = stream.pick(earlier);
            if stream.one_in(2) { base.wrapping_add(by) } else { base.wrapping_sub(by) }
        }
        6..=8 if !ingredients.objects.is_empty() => {
            stream.pick(ingredients.objects).wrapping_add(stream.pick(&[0, 0, 0, 4, 8, 16]))
        }
        9 | 10 => buffer + 8 * (stream.next() % 8),
        _ => buffer,
    }
}

fn random_float(ingredients: &Ingredients, stream: &mut Stream, width: u16) -> Bits {
    let values = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.25, -7.75, 100.0, 1e10, 1e-10, 1e300, 0.1, 16777217.0];
    let mut lane = |wide: bool| {
        let known = if wide { ingredients.constants.doubles() } else { ingredients.constants.floats() };
        if !known.is_empty() && stream.one_in(5) {
            return stream.pick(known);
        }
        let pick = stream.pick(&values);
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
            let low = if lane(true) & 64 == 0 { lane(true) } else { lane(false) | lane(false) << 32 };
            Bits::from_limbs(width, &[low, lane(true)])
        }
    }
}

/// Memory at the start of a side's run; `words` are the constants of which it may be made.
pub(crate) fn memory_at_start<'r>(
    layout: &'r Layout,
    words: &'r [u64],
    floats: bool,
    side: Side,
    input: &'r Input,
) -> Start<'r> {
    Start {
        layout,
        fixed: &input.fixed,
        seed: input.seed,
        garbage: input.seed.split(0x9a_4ba9e + side.index() as u64),
        constants: words,
        pointers: &input.pointers,
        // Half of the inputs: the numbers may be integers all the same.
        floats: floats && input.seed.mix(0xf10a7) & 1 == 0,
        fabric: input.fabric,
        alike: input.alike,
        backing: None,
    }
}
