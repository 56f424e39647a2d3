//! Values of C expressions, and what C does to them before it computes: promotion, conversion, decay.

use crate::Interface;
use crate::build;
use crate::types::Type;
use kernel::Expression;

/// What a part of a condition is.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// A truth value, an `int` of 0 or 1 to C.
    Truth(Expression),
    /// A number or pointer.
    Number(Number),
    /// Something with a place: what is in it depends on its type.
    Object { ty: Type, place: Room },
}

/// A number or pointer with its type.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub ty: Type,
    pub bits: Expression,
}

/// Where an object is.
#[derive(Clone, Debug)]
pub(crate) enum Room {
    /// In memory, at an address.
    Memory(Expression),
    /// In the arguments: pieces by the offset at which they begin, and where the object begins in them.
    Arguments { pieces: Vec<(u64, Expression, u16)>, at: u64 },
}

impl Number {
    pub fn int(value: i64) -> Number {
        Number { ty: Type::INT, bits: build::constant(32, value as u64) }
    }

    pub fn new(ty: Type, bits: Expression) -> Number {
        Number { ty, bits }
    }

    /// Width in bits.
    pub fn width(&self) -> u16 {
        match self.ty {
            Type::Integer { bytes, .. } | Type::Float { bytes } => 8 * bytes,
            _ => 64,
        }
    }

    /// Made `int` if it is smaller.
    pub fn promoted(self, interface: &Interface) -> Number {
        let to = self.ty.promoted();
        if let Type::Integer { bytes, signed, .. } = self.ty
            && bytes < 4
            && let Some(bits) = passed_extended(&self.bits, bytes, signed, interface)
        {
            return Number { ty: to, bits };
        }
        self.converted(&to)
    }

    /// As a number of another integer type, or a pointer. `_Bool` asks whether it is zero.
    pub fn converted(self, to: &Type) -> Number {
        let (from, signed) = (self.width(), self.ty.is_signed());
        let bits = match to {
            Type::Integer { boolean: true, .. } => {
                let holds = build::not(build::compare(kernel::Operator::Eq, self.bits, build::constant(from, 0)));
                build::choice(holds, build::constant(8, 1), build::constant(8, 0))
            }
            _ => resized(self.bits, signed, from, width_of(to)),
        };
        Number { ty: to.clone(), bits }
    }

    /// Widened or cut to 64 bits.
    pub fn wide(self) -> Expression {
        let (from, signed) = (self.width(), self.ty.is_signed());
        resized(self.bits, signed, from, 64)
    }
}

/// Width in bits of a number's type.
pub(crate) fn width_of(ty: &Type) -> u16 {
    match ty {
        Type::Integer { bytes, .. } | Type::Float { bytes } => 8 * bytes,
        _ => 64,
    }
}

/// The low bits of a number, or the number extended.
pub(crate) fn resized(bits: Expression, signed: bool, from: u16, to: u16) -> Expression {
    if to < from { build::slice(0, to, bits, from) } else { build::extend(signed, bits, from, to) }
}

/// A small argument as 32 bits, which whoever calls has extended.
fn passed_extended(bits: &Expression, bytes: u16, signed: bool, interface: &Interface) -> Option<Expression> {
    let Expression::Apply(kernel::Operator::Slice(0, width), operands) = bits else { return None };
    let [Expression::Named(name)] = &operands[..] else { return None };
    let value = interface.arguments.get(name).filter(|value| value.bytes == 4 && *width == 8 * bytes)?;
    let extended = match value.narrow {
        Some(narrow) => narrow.bytes == bytes && narrow.signed == signed,
        None => value.boolean && bytes == 1 && !signed,
    };
    extended.then(|| operands[0].clone())
}

impl Room {
    /// The place so many bytes further on.
    pub fn moved(self, by: u64) -> Room {
        match self {
            Room::Memory(address) => {
                let offset = build::constant(64, by);
                Room::Memory(build::arithmetic(kernel::Operator::Add, address, offset))
            }
            Room::Arguments { pieces, at } => Room::Arguments { pieces, at: at.saturating_add(by) },
        }
    }

    /// The bytes there.
    pub fn read(&self, bytes: u16) -> Option<Expression> {
        match self {
            Room::Memory(address) => Some(build::load(bytes, address.clone())),
            Room::Arguments { pieces, at } => {
                let (mut found, mut next, end) = (None::<(Expression, u16)>, *at, at.checked_add(u64::from(bytes))?);
                while next < end {
                    let holds =
                        |(start, _, size): &&(u64, Expression, u16)| *start <= next && next < start + u64::from(*size);
                    let (start, atom, size) = pieces.iter().find(holds)?;
                    let until = end.min(start + u64::from(*size));
                    let width = 8 * u16::try_from(until - next).ok()?;
                    let low = 8 * u16::try_from(next - start).ok()?;
                    let part = build::slice(low, width, atom.clone(), 8 * size);
                    found = Some(match found {
                        None => (part, width),
                        Some((low, known)) => (build::apply(kernel::Operator::Concat, vec![part, low]), known + width),
                    });
                    next = until;
                }
                found.map(|(bits, _)| bits)
            }
        }
    }
}
