//! Parts of conditions: what an inferred condition is made of.
//!
//! An atom knows three things: how it is written (a text that `--assume` takes), whether a start state satisfies it, and how a start
//! state is changed so that it does, or does not. What the kernel is asked to prove is made of the text alone, so that a mistake in
//! the rest can only cost a proof.

use super::number::{Form, Number, What, Word};
use crate::objects::inputs::{Input, Stream};
use crate::objects::refute::Runner;
use interpreter::{BUFFER_SPACING, BUFFERS};
use term::{Arena, Bits};

/// A sum of products of integer arguments, in bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Extent {
    pub constant: i64,
    /// Factors, and the positions of the arguments that are multiplied.
    pub terms: Vec<(i64, Vec<usize>)>,
}

/// Bytes from a distance behind a pointer on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Block {
    pub base: usize,
    pub from: i64,
    pub extent: Extent,
}

/// Which of two blocks may lie first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// They do not overlap.
    Apart,
    /// They do not overlap, unless the first does not begin behind the second.
    FirstBelow,
    /// They do not overlap, unless the second does not begin behind the first.
    SecondBelow,
}

/// A part of a condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Atom {
    /// A pointer is a multiple of a power of two.
    Aligned { pointer: usize, to: u64 },
    /// A number is a multiple.
    Multiple { number: Number, of: u64 },
    /// The second pointer is not so many bytes behind the first.
    Distance { pointers: [usize; 2], by: i64 },
    /// Two blocks do not overlap.
    Apart { blocks: [Block; 2], order: Order },
    /// A number is smaller, without a sign.
    Below { number: Number, bound: u64 },
    /// A number is at least so large, with the sign it has.
    AtLeast { number: Number, bound: i64 },
    /// A number is at most so large, with the sign it has.
    AtMost { number: Number, bound: i64 },
    /// A number is another one.
    Unequal { number: Number, value: u64 },
    /// A number has these bits.
    Equal { number: Number, value: u64 },
    /// Two numbers have the same bits.
    Same { numbers: [Number; 2] },
    /// A number is so many times another one, and so much more.
    Affine { number: Number, of: Number, factor: i64, plus: i64 },
    /// A number is less than another one, or no greater; with the sign that both have.
    Less { numbers: [Number; 2], or_equal: bool },
    /// A floating-point number is a number.
    IsNumber { number: Number },
}

/// Names of kinds, in the order in which they are preferred.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Multiples of pointers.
    Aligned,
    /// Multiples of numbers.
    Multiple,
    /// An excluded distance of pointers.
    Distance,
    /// Two blocks that do not overlap.
    Apart,
    /// A bound.
    Range,
    /// A value that is excluded.
    Excluded,
    /// An equality of arguments.
    Equality,
    /// What memory holds.
    Content,
    /// A law of real numbers.
    Axiom,
}

impl Kind {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Aligned => "alignment",
            Kind::Multiple => "multiple",
            Kind::Distance => "distance",
            Kind::Apart => "apart",
            Kind::Range => "range",
            Kind::Excluded => "excluded",
            Kind::Equality => "equality",
            Kind::Content => "content",
            Kind::Axiom => "axiom",
        }
    }
}

impl Extent {
    /// The bytes in a start state.
    pub fn of(&self, words: &[Option<Word>], input: &Input) -> i128 {
        let value = |i: &usize| {
            let bits = input.values[*i].low();
            match &words[*i] {
                Some(word) if word.form == Form::Signed && word.bytes == 4 => i128::from(bits as i32),
                Some(word) if word.form == Form::Signed && word.bytes == 8 => i128::from(bits as i64),
                Some(word) if word.bytes < 8 => i128::from(bits & ((1 << (8 * word.bytes)) - 1)),
                _ => i128::from(bits),
            }
        };
        let term = |(factor, of): &(i64, Vec<usize>)| {
            of.iter().fold(i128::from(*factor), |product, i| product.saturating_mul(value(i)))
        };
        self.terms.iter().map(term).fold(i128::from(self.constant), i128::saturating_add)
    }

    fn text(&self, words: &[Option<Word>]) -> String {
        let name = |i: &usize| words[*i].as_ref().map_or("?", |w| w.text.as_str());
        let mut out = String::new();
        for (factor, of) in &self.terms {
            let product = of.iter().map(name).collect::<Vec<_>>().join("*");
            let sign = if out.is_empty() { "" } else { " + " };
            out.push_str(&if *factor == 1 { format!("{sign}{product}") } else { format!("{sign}{factor}*{product}") });
        }
        match (out.is_empty(), self.constant) {
            (true, constant) => constant.to_string(),
            (false, 0) => out,
            (false, constant @ ..0) => format!("{out} - {}", constant.unsigned_abs()),
            (false, constant) => format!("{out} + {constant}"),
        }
    }
}

impl Block {
    fn start(&self, input: &Input) -> i128 {
        i128::from(input.values[self.base].low()) + i128::from(self.from)
    }

    fn text(&self, words: &[Option<Word>], element: impl Fn(usize) -> Option<i64>) -> String {
        let name = words[self.base].as_ref().map_or("?", |w| w.text.as_str());
        let sign = if self.from < 0 { '-' } else { '+' };
        let start = match (self.from, element(self.base)) {
            (0, _) => name.to_string(),
            (from, Some(size)) if from % size == 0 => format!("{name} {sign} {}", (from / size).abs()),
            (from, _) => format!("(char *){name} {sign} {}", from.abs()),
        };
        format!("{start}, {}", self.extent.text(words))
    }
}

/// What an atom needs to know of the pair.
pub(crate) struct Scene<'s, 'a> {
    pub arena: &'s Arena,
    pub words: &'s [Option<Word>],
    pub runner: &'s mut Runner<'a>,
}

impl Atom {
    pub fn kind(&self) -> Kind {
        match self {
            Atom::Aligned { .. } => Kind::Aligned,
            Atom::Multiple { .. } => Kind::Multiple,
            Atom::Distance { .. } => Kind::Distance,
            Atom::Apart { .. } => Kind::Apart,
            Atom::Below { number, .. } | Atom::AtLeast { number, .. } | Atom::AtMost { number, .. }
                if number.is_cell() =>
            {
                Kind::Content
            }
            Atom::Below { .. }
            | Atom::AtLeast { .. }
            | Atom::AtMost { .. }
            | Atom::Less { .. }
            | Atom::IsNumber { .. } => Kind::Range,
            Atom::Unequal { .. } => Kind::Excluded,
            Atom::Equal { number, .. } if number.is_cell() => Kind::Content,
            Atom::Same { numbers } if numbers.iter().all(Number::is_cell) => Kind::Content,
            Atom::Equal { .. } | Atom::Same { .. } | Atom::Affine { .. } => Kind::Equality,
        }
    }

    /// Among atoms of a kind the larger the stronger.
    pub fn strength(&self) -> u64 {
        match self {
            Atom::Aligned { to, .. } => *to,
            Atom::Multiple { of, .. } => *of,
            Atom::Below { bound, .. } => u64::MAX - bound,
            Atom::AtLeast { bound, .. } => (*bound as u64) ^ (1 << 63),
            Atom::AtMost { bound, .. } => !((*bound as u64) ^ (1 << 63)),
            Atom::Apart { order: Order::Apart, .. } => 1,
            Atom::Equal { value, .. } => 1 + u64::from(*value != 0),
            Atom::Less { or_equal, .. } => 2 - u64::from(*or_equal),
            _ => 0,
        }
    }

    /// As `--assume` takes it.
    pub fn text(&self, words: &[Option<Word>], element: impl Fn(usize) -> Option<i64> + Copy) -> String {
        let name = |i: usize| words[i].as_ref().map_or("?", |w| w.text.as_str());
        match self {
            Atom::Aligned { pointer, to } => format!("aligned({}, {to})", name(*pointer)),
            Atom::Multiple { number, of } => format!("{} % {of} == 0", number.text),
            Atom::Distance { pointers: [a, b], by: 0 } => format!("(char *){} != (char *){}", name(*a), name(*b)),
            Atom::Distance { pointers: [a, b], by } => {
                let sign = if *by < 0 { '-' } else { '+' };
                format!("(char *){} != (char *){} {sign} {}", name(*b), name(*a), by.unsigned_abs())
            }
            Atom::Apart { blocks: [a, b], order } => {
                let apart = format!("apart({}, {})", a.text(words, element), b.text(words, element));
                match order {
                    Order::Apart => apart,
                    Order::FirstBelow => format!("(char *){} <= (char *){} || {apart}", name(a.base), name(b.base)),
                    Order::SecondBelow => format!("(char *){} <= (char *){} || {apart}", name(b.base), name(a.base)),
                }
            }
            Atom::Below { number, bound } if bound.is_power_of_two() && *bound > 1 << 10 => {
                format!("{} < 1ul << {}", number.unsigned(), bound.trailing_zeros())
            }
            Atom::Below { number, bound } => format!("{} < {bound}", number.unsigned()),
            Atom::AtLeast { number, bound } => format!("{} >= {bound}", number.text),
            Atom::AtMost { number, bound } => format!("{} <= {bound}", number.text),
            Atom::Unequal { number, value } if number.form == Form::Pointer && *value == 0 => {
                format!("{} != NULL", number.text)
            }
            Atom::Unequal { number, value } => format!("{} != {}", number.raw(), constant(number, *value)),
            Atom::Equal { number, value } if number.form == Form::Pointer && *value == 0 => {
                format!("{} == NULL", number.text)
            }
            Atom::Equal { number, value } => format!("{} == {}", number.raw(), constant(number, *value)),
            Atom::Same { numbers: [a, b] } => format!("{} == {}", a.raw(), b.raw()),
            Atom::Affine { number, of, factor, plus } => {
                let product = if *factor == 1 { of.text.clone() } else { format!("{factor}*{}", of.text) };
                match plus {
                    0 => format!("{} == {product}", number.text),
                    ..0 => format!("{} == {product} - {}", number.text, plus.unsigned_abs()),
                    _ => format!("{} == {product} + {plus}", number.text),
                }
            }
            Atom::Less { numbers: [a, b], or_equal } => {
                format!("{} {} {}", a.text, if *or_equal { "<=" } else { "<" }, b.text)
            }
            Atom::IsNumber { number } => format!("{0} == {0}", number.text),
        }
    }

    /// Does a start state satisfy it?
    pub fn holds(&self, scene: &mut Scene, input: &Input) -> bool {
        let address = |i: usize| input.values[i].low();
        let mut bits = |number: &Number| number.bits(scene.arena, scene.runner, input);
        match self {
            Atom::Aligned { pointer, to } => address(*pointer).is_multiple_of(*to),
            Atom::Multiple { number, of } => {
                let bits = bits(number);
                number.value(bits) % i128::from(*of) == 0
            }
            Atom::Distance { pointers: [a, b], by } => address(*b) != address(*a).wrapping_add(*by as u64),
            Atom::Apart { blocks: [a, b], order } => {
                let lengths = [a, b].map(|block| block.extent.of(scene.words, input));
                let starts = [a.start(input), b.start(input)];
                let first = address(a.base) <= address(b.base);
                let excused = match order {
                    Order::Apart => false,
                    Order::FirstBelow => first,
                    Order::SecondBelow => !first || address(a.base) == address(b.base),
                };
                excused
                    || lengths.contains(&0)
                    || lengths[0] > 0 && starts[0] + lengths[0] <= starts[1]
                    || lengths[1] > 0 && starts[1] + lengths[1] <= starts[0]
            }
            Atom::Below { number, bound } => bits(number) < *bound,
            Atom::AtLeast { number, bound } => number.value(bits(number)) >= i128::from(*bound),
            Atom::AtMost { number, bound } => number.value(bits(number)) <= i128::from(*bound),
            Atom::Unequal { number, value } => bits(number) != *value,
            Atom::Equal { number, value } => bits(number) == *value,
            Atom::Same { numbers: [a, b] } => bits(a) == bits(b),
            Atom::Affine { number, of, factor, plus } => {
                let value = bits(of).wrapping_mul(*factor as u64).wrapping_add(*plus as u64);
                bits(number) == cut(value, number.bytes)
            }
            Atom::Less { numbers: [a, b], or_equal } => {
                let (x, y) = (a.value(bits(a)), b.value(bits(b)));
                x < y || *or_equal && x == y
            }
            Atom::IsNumber { number } => {
                let bits = bits(number);
                if number.bytes == 4 { !f32::from_bits(bits as u32).is_nan() } else { !f64::from_bits(bits).is_nan() }
            }
        }
    }

    /// Changes a start state so that it satisfies the atom, as little as can be; may fail.
    pub fn project(&self, scene: &mut Scene, input: &mut Input) {
        if self.holds(scene, input) {
            return;
        }
        let bits = |scene: &mut Scene, number: &Number, input: &Input| number.bits(scene.arena, scene.runner, input);
        match self {
            Atom::Aligned { pointer, to } => {
                let value = input.values[*pointer].low() & !(to - 1);
                input.set(&scene.runner.arguments, *pointer, Bits::new(64, value));
            }
            Atom::Multiple { number, of } => {
                // Upwards: fewer turns of a loop are nearer to none, on which all programs agree.
                let value = number.value(bits(scene, number, input));
                let up = value + i128::from(*of) - value.rem_euclid(i128::from(*of));
                number.set(scene.runner, input, up as u64);
            }
            Atom::Distance { pointers: [_, b], .. } => move_away(scene, input, *b),
            Atom::Apart { blocks: [_, b], .. } => move_away(scene, input, b.base),
            Atom::Below { number, bound } => {
                let rest = bits(scene, number, input) % bound;
                number.set(scene.runner, input, if rest == 0 { bound / 2 } else { rest });
            }
            Atom::AtLeast { number, bound } | Atom::AtMost { number, bound } => {
                number.set(scene.runner, input, *bound as u64);
            }
            Atom::Unequal { number, .. } if number.form == Form::Pointer && !number.is_cell() => {
                if let What::Argument(pointer) = number.what {
                    move_away(scene, input, pointer);
                }
            }
            Atom::Unequal { number, value } => number.set(scene.runner, input, value.wrapping_add(1)),
            Atom::Equal { number, value } => number.set(scene.runner, input, *value),
            Atom::Same { numbers: [a, b] } => {
                let value = bits(scene, a, input);
                b.set(scene.runner, input, value);
            }
            Atom::Affine { number, of, factor, plus } => {
                let value = bits(scene, of, input).wrapping_mul(*factor as u64).wrapping_add(*plus as u64);
                number.set(scene.runner, input, value);
            }
            Atom::Less { numbers: [a, b], or_equal } => {
                // The one becomes larger, or both change places.
                let [x, y] = [a, b].map(|number| bits(scene, number, input));
                if x == y {
                    b.set(scene.runner, input, x.wrapping_add(u64::from(!or_equal)));
                } else {
                    a.set(scene.runner, input, y);
                    b.set(scene.runner, input, x);
                }
            }
            Atom::IsNumber { number } => {
                let one = if number.bytes == 4 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() };
                number.set(scene.runner, input, one);
            }
        }
    }

    /// Changes a start state so that it just violates the atom.
    pub fn violate(&self, scene: &mut Scene, input: &mut Input, stream: &mut Stream) {
        let arguments = scene.runner.arguments.clone();
        let place = |input: &mut Input, i: usize, value: u64| input.set(&arguments, i, Bits::new(64, value));
        match self {
            Atom::Aligned { pointer, to } => {
                let value = input.values[*pointer].low();
                let by = if stream.one_in(4) { 1 + stream.next() % (to - 1) } else { to / 2 };
                place(input, *pointer, value.wrapping_add(by));
            }
            Atom::Multiple { number, of } => {
                let value = number.bits(scene.arena, scene.runner, input);
                let by = if stream.one_in(2) { of / 2 } else { 1 + stream.next() % (of - 1).max(1) };
                number.set(scene.runner, input, value.wrapping_add(by.max(1)));
            }
            Atom::Distance { pointers: [a, b], by } => {
                let value = input.values[*a].low().wrapping_add(*by as u64);
                place(input, *b, value);
            }
            Atom::Apart { blocks: [a, b], .. } => {
                let from = input.values[a.base].low();
                let by = stream.pick(&[4, 8, 8, 12, 16, 16, 20, 24, 32, 1, 2, 48, 64, 0]);
                place(input, b.base, if stream.one_in(2) { from.wrapping_add(by) } else { from.wrapping_sub(by) });
            }
            Atom::Below { number, bound } => {
                let value = number.bits(scene.arena, scene.runner, input);
                let more = if stream.one_in(2) { *bound } else { value.wrapping_add(*bound) };
                number.set(scene.runner, input, more);
            }
            Atom::AtLeast { number, bound } => {
                let by = if stream.one_in(2) { 1 } else { 1 + (stream.next() % 40) as i64 };
                number.set(scene.runner, input, bound.wrapping_sub(by) as u64);
            }
            Atom::AtMost { number, bound } => {
                let by = if stream.one_in(2) { 1 } else { 1 + (stream.next() % 40) as i64 };
                number.set(scene.runner, input, bound.wrapping_add(by) as u64);
            }
            Atom::Unequal { number, value } => number.set(scene.runner, input, *value),
            Atom::Equal { number, value } => number.set(scene.runner, input, other(number, *value, stream)),
            Atom::Same { numbers: [a, b] } => {
                let value = a.bits(scene.arena, scene.runner, input);
                b.set(scene.runner, input, other(b, value, stream));
            }
            Atom::Affine { number, .. } => {
                let value = number.bits(scene.arena, scene.runner, input);
                number.set(scene.runner, input, other(number, value, stream));
            }
            Atom::Less { numbers: [a, b], .. } => {
                let value = b.bits(scene.arena, scene.runner, input);
                a.set(scene.runner, input, value.wrapping_add(stream.next() % 3));
            }
            Atom::IsNumber { number } => {
                let nan = if number.bytes == 4 { u64::from(f32::NAN.to_bits()) } else { f64::NAN.to_bits() };
                number.set(scene.runner, input, nan);
            }
        }
    }
}

/// Another value than a given one.
fn other(number: &Number, value: u64, stream: &mut Stream) -> u64 {
    match number.form {
        Form::Float => {
            let small = (1 + stream.next() % 40) as f64;
            if number.bytes == 4 { u64::from((small as f32).to_bits()) } else { small.to_bits() }
        }
        _ if stream.one_in(2) => value.wrapping_add(1),
        _ => value.wrapping_add(1 + stream.next() % 200),
    }
}

/// A pointer to where nothing else points, as aligned as it was.
fn move_away(scene: &mut Scene, input: &mut Input, pointer: usize) {
    let value = input.values[pointer].low();
    let others = input.values.iter().enumerate().filter(|(i, _)| *i != pointer).map(|(_, v)| v.low());
    let others: Vec<u64> = others.collect();
    let taken = |at: u64| others.iter().any(|other| other.abs_diff(at) < 3 * BUFFER_SPACING);
    let free = (1..60).map(|i| BUFFERS + i * BUFFER_SPACING + value % 4096).find(|at| !taken(*at));
    if let Some(to) = free {
        input.set(&scene.runner.arguments, pointer, Bits::new(64, to));
    }
}

fn cut(value: u64, bytes: u16) -> u64 {
    if bytes >= 8 { value } else { value & ((1 << (8 * bytes)) - 1) }
}

/// A constant beside a number.
fn constant(number: &Number, value: u64) -> String {
    match number.form {
        Form::Float | Form::Unsigned | Form::Pointer if value > u64::from(u32::MAX) => format!("{value:#x}"),
        Form::Float | Form::Unsigned | Form::Pointer if value > 4096 => format!("{value:#x}"),
        _ => number.value(value).to_string(),
    }
}
