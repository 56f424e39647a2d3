//! Where parameters and results live (System V ABI, AMD64 supplement, section 3.2.3).

use super::types::{Scalar, Shape};
use graph::{Narrow, Parameter, Place, Register, Signature, Value};

/// Places of a function's parameters and result.
#[derive(Default)]
pub(crate) struct Placement {
    general: usize,
    vector: u8,
    stack: u32,
    pub signature: Signature,
    pub parameters: Vec<Parameter>,
}

/// The class of eight bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    /// The upper half of a 16-byte vector.
    Up,
    Empty,
}

impl Placement {
    /// Starts with the result; `None` for `void`.
    pub fn new(result: Option<&Shape>) -> Placement {
        let mut placement = Placement::default();
        let Some(result) = result else { return placement };
        if let Some(what) = &result.unknown {
            placement.refuse(what);
            return placement;
        }
        if result.size == 0 {
            return placement;
        }
        if result.fields.iter().any(|f| f.2 == Scalar::X87) && result.size <= 16 {
            placement.refuse("a `long double` result");
            return placement;
        }
        match classes(result).filter(|_| !result.by_reference) {
            None => {
                // A hidden pointer comes first and is returned.
                let pointer = value(Place::Register(Register::ARGUMENTS[0]), 8);
                placement.general = 1;
                placement.signature.arguments.push(pointer);
                placement.signature.results.push(value(Place::Register(Register::General(0)), 8));
            }
            Some(classes) => {
                let (mut general, mut vector) = ([Register::General(0), Register::General(2)].into_iter(), 0u8..2);
                let values =
                    parts(result, classes, &mut || general.next(), &mut || vector.next().map(Register::Vector));
                placement.signature.results = values.unwrap_or_default();
            }
        }
        placement
    }

    fn refuse(&mut self, what: &str) {
        self.signature.unsupported.get_or_insert_with(|| what.to_string());
    }

    /// Adds a parameter. Without a prototype callers pass any `int` for a `char`.
    pub fn add(&mut self, name: String, shape: &Shape, prototyped: bool) {
        if let Some(what) = &shape.unknown {
            self.refuse(what);
            return;
        }
        let mut values = self.place(shape);
        if !prototyped {
            values.iter_mut().for_each(|value| value.narrow = None);
        }
        self.signature.arguments.extend(&values);
        let (pointer, restrict) = (shape.pointer || shape.by_reference, shape.restrict);
        let element = if shape.pointer { shape.element } else { 1 };
        self.parameters.push(Parameter { name, values, pointer, restrict, element, arrives: None, located: false });
    }

    fn place(&mut self, shape: &Shape) -> Vec<Value> {
        if shape.by_reference {
            let fields = vec![(0, 8, Scalar::Integer { boolean: false, signed: false })];
            return self.place(&Shape {
                size: 8,
                align: 8,
                by_reference: false,
                aggregate: false,
                fields,
                ..shape.clone()
            });
        }
        if shape.size == 0 {
            return Vec::new();
        }
        if let Some(classes) = classes(shape) {
            let (mut general, mut vector) = (self.general, self.vector);
            let values = parts(
                shape,
                classes,
                &mut || {
                    general += 1;
                    Register::ARGUMENTS.get(general - 1).copied()
                },
                &mut || {
                    vector += 1;
                    (vector <= 8).then(|| Register::Vector(vector - 1))
                },
            );
            // All of it in registers, or none.
            if let Some(mut values) = values {
                (self.general, self.vector) = (general, vector);
                extend_narrow(shape, &mut values);
                return values;
            }
        }
        if self.stack > 1 << 24 {
            self.refuse("more than 16 MiB of arguments");
            return Vec::new();
        }
        let align = shape.align.clamp(8, 64) as u32;
        let at = self.stack.next_multiple_of(align);
        let size = u32::try_from(shape.size).unwrap_or(u32::MAX / 2).min(1 << 24);
        self.stack = at + size.next_multiple_of(8);
        // The last six bytes of a `long double` are padding.
        let defined =
            if shape.fields.first().is_some_and(|f| f.2 == Scalar::X87) && !shape.aggregate { 10 } else { size };
        if defined > LARGEST {
            self.refuse("a structure of more than 4 KiB");
            return Vec::new();
        }
        if shape.aggregate {
            return (0..defined).step_by(8).map(|i| value(Place::Stack(at + i), (defined - i).min(8) as u16)).collect();
        }
        let mut values = vec![Value { boolean: is_boolean(shape), ..value(Place::Stack(at), defined as u16) }];
        extend_narrow(shape, &mut values);
        values
    }
}

/// Bytes of the largest argument. One on the stack is a value for each word.
const LARGEST: u32 = 4096;

fn value(place: Place, bytes: u16) -> Value {
    Value { place, bytes, boolean: false, narrow: None }
}

fn is_boolean(shape: &Shape) -> bool {
    !shape.aggregate && matches!(shape.fields[..], [(_, _, Scalar::Integer { boolean: true, .. })])
}

/// Callers extend `char` and `short` arguments to 32 bits; gcc and clang rely on it.
fn extend_narrow(shape: &Shape, values: &mut [Value]) {
    if let ([value], [(0, bytes @ 1..=2, Scalar::Integer { boolean: false, signed })]) = (values, &shape.fields[..])
        && !shape.aggregate
    {
        value.narrow = Some(Narrow { bytes: *bytes as u16, signed: *signed });
        value.bytes = 4;
    }
}

/// Classes of the one or two eightbytes; `None` for a value in memory.
fn classes(shape: &Shape) -> Option<[Class; 2]> {
    if shape.size > 16 {
        return None;
    }
    let mut out = [Class::Empty; 2];
    for (at, size, scalar) in shape.fields.iter().filter(|f| f.1 > 0) {
        let natural = if size.is_power_of_two() { *size } else { 1 };
        if at % natural != 0 || *scalar == Scalar::X87 || at + size > 16 {
            return None;
        }
        let class = if *scalar == Scalar::Float { Class::Float } else { Class::Integer };
        let first = (*at / 8) as usize;
        let last = ((at + size - 1) / 8) as usize;
        for (i, slot) in out.iter_mut().enumerate().take(last + 1).skip(first) {
            let class = if class == Class::Float && i > first { Class::Up } else { class };
            *slot = match (*slot, class) {
                (Class::Empty, class) => class,
                (Class::Integer, _) | (_, Class::Integer) => Class::Integer,
                (Class::Up, Class::Float) => Class::Float,
                (known, _) => known,
            };
        }
    }
    // An upper half whose lower half is no vector is a value of its own.
    if out[1] == Class::Up && out[0] != Class::Float {
        out[1] = Class::Float;
    }
    Some(out)
}

/// Values of a small type in registers; `None` if the registers do not suffice.
fn parts(
    shape: &Shape,
    classes: [Class; 2],
    general: &mut dyn FnMut() -> Option<Register>,
    vector: &mut dyn FnMut() -> Option<Register>,
) -> Option<Vec<Value>> {
    let mut out: Vec<Value> = Vec::new();
    for (i, class) in classes.into_iter().enumerate() {
        let start = 8 * i as u64;
        // Bytes up to the end of the last field in this eightbyte: padding behind it is not defined.
        let end = |(at, size, _): &(u64, u64, Scalar)| (at + size).min(start + 8);
        let inside = shape.fields.iter().filter(|(at, size, _)| *at < start + 8 && at + size > start);
        let bytes = inside.map(end).max().map_or(0, |end| (end - start) as u16);
        let register = match class {
            Class::Empty => continue,
            Class::Up => {
                if let Some(last) = out.last_mut() {
                    last.bytes = 8 + bytes;
                }
                continue;
            }
            Class::Integer => general()?,
            Class::Float => vector()?,
        };
        out.push(Value { boolean: is_boolean(shape), ..value(Place::Register(register), bytes) });
    }
    Some(out)
}
