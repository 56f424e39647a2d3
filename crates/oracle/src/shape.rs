//! What is known of the types of a function and of its callees: which bytes of which registers are compared.

use lift_elf::Image;
use std::collections::BTreeMap;

/// Where a value lives at a call boundary.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Place {
    /// A general register by its number: rax 0, rcx 1, rdx 2, rsi 6, rdi 7, r8 8, r9 9.
    General(u8),
    /// A vector register.
    Vector(u8),
    /// The stack, at this offset from the first stack argument.
    Stack(u32),
    /// The top of the x87 stack, as a result.
    X87,
}

/// A value at a call boundary: so many bytes from the low end of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// Where.
    pub place: Place,
    /// How many bytes.
    pub bytes: u16,
    /// Is it a `_Bool`, whose value is 0 or 1?
    pub boolean: bool,
}

/// How a function is called.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Prototype {
    /// Arguments.
    pub arguments: Vec<Piece>,
    /// Results; none for `void`.
    pub results: Vec<Piece>,
    /// Never returns.
    pub noreturn: bool,
}

/// What is known of the functions of a pair.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shape {
    /// The function itself. Without it, a difference between results is a doubt.
    pub own: Option<Prototype>,
    /// Undefined callees by name. Without one, arguments are not compared.
    pub callees: BTreeMap<String, Prototype>,
}

impl Shape {
    /// The shape of a function by the debug information of the original; that of callees also by the candidate's, and by the library
    /// table.
    pub fn of(images: [&Image; 2], function: &str, callees: &[String]) -> Shape {
        let own = images[0].signature(function).and_then(prototype);
        let known = |name: &String| {
            let declared = images.iter().find_map(|image| image.signature(name)).and_then(prototype);
            let known = || library::contract(name).and_then(|contract| prototype(&contract.signature()));
            Some((name.clone(), declared.or_else(known)?))
        };
        Shape { own, callees: callees.iter().filter_map(known).collect() }
    }
}

/// A signature in our words; `None` if something in it cannot be placed.
pub(crate) fn prototype(signature: &program::Signature) -> Option<Prototype> {
    if signature.unsupported.is_some() {
        return None;
    }
    let piece = |value: &program::Value| {
        let place = match value.place {
            program::Place::Register(program::Register::General(i)) => Place::General(i),
            program::Place::Register(program::Register::Vector(i)) => Place::Vector(i),
            program::Place::Register(_) => return None,
            program::Place::Stack(offset) => Place::Stack(offset),
        };
        Some(Piece { place, bytes: value.bytes, boolean: value.boolean })
    };
    Some(Prototype {
        arguments: signature.arguments.iter().map(piece).collect::<Option<_>>()?,
        results: signature.results.iter().map(piece).collect::<Option<_>>()?,
        noreturn: signature.noreturn,
    })
}
