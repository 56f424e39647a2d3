//! Parameters and results of functions, at the places that [`abi`] gives to their types.

use super::types::Shape;
use abi::{Convention, Piece, Returned};
use program::{Narrow, Parameter, Place, Register, Signature, Value};

/// Places of a function's parameters and result.
#[derive(Default)]
pub(crate) struct Placement {
    convention: Convention,
    pub signature: Signature,
    pub parameters: Vec<Parameter>,
}

impl Placement {
    /// Starts with the result; `None` for `void`. `ymm` says whether vectors of 32 bytes are in registers, if that is known.
    pub fn new(result: Option<&Shape>, ymm: Option<bool>) -> Placement {
        let convention = Convention::new(ymm);
        let mut placement = Placement { convention, ..Placement::default() };
        let Some(result) = result else { return placement };
        if let Some(what) = &result.unknown {
            placement.refuse(what);
            return placement;
        }
        let returned = match result.by_reference {
            true => placement.convention.result(&hidden()),
            false => placement.convention.result(&result.layout),
        };
        match returned {
            Err(refusal) => placement.refuse(&refusal.0),
            Ok(Returned::Hidden) => {
                // A hidden pointer comes first and is returned.
                placement.signature.arguments.push(plain(Place::Register(Register::ARGUMENTS[0]), 8));
                placement.signature.results.push(plain(Place::Register(Register::General(0)), 8));
            }
            Ok(Returned::Registers(pieces)) => {
                let boolean = result.layout.is_boolean();
                let value = |piece: &Piece| Value { boolean, ..at_piece(piece) };
                placement.signature.results = pieces.iter().map(value).collect();
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
        let layout = if shape.by_reference { pointer() } else { shape.layout.clone() };
        let pieces = match self.convention.argument(&layout) {
            Ok(pieces) => pieces,
            Err(refusal) => {
                self.refuse(&refusal.0);
                return;
            }
        };
        let mut values: Vec<Value> = pieces.iter().map(at_piece).collect();
        if let [value] = &mut values[..] {
            value.boolean = layout.is_boolean();
            // Callers extend `char` and `short` arguments to 32 bits; gcc and clang rely on it.
            if let Some((bytes, signed)) = layout.extended() {
                value.bytes = 4;
                value.narrow = prototyped.then_some(Narrow { bytes: bytes as u16, signed });
            }
        }
        self.signature.arguments.extend(&values);
        let (pointer, restrict) = (shape.pointer || shape.by_reference, shape.restrict);
        let element = if shape.pointer { shape.element } else { 1 };
        let parameter =
            Parameter { name, values, pointer, restrict, element, arrives: None, located: false, source_type: None };
        self.parameters.push(parameter);
    }
}

/// A pointer.
fn pointer() -> abi::Type {
    abi::Type::scalar(8, abi::Scalar::INTEGER)
}

/// Some type in memory.
fn hidden() -> abi::Type {
    abi::Type { size: 128, align: 8, members: Vec::new(), aggregate: true }
}

fn plain(place: Place, bytes: u16) -> Value {
    Value { place, bytes, boolean: false, narrow: None }
}

fn at_piece(piece: &Piece) -> Value {
    let place = match piece.place {
        abi::Place::General(i) => Place::Register(Register::General(i)),
        abi::Place::Vector(i) => Place::Register(Register::Vector(i)),
        abi::Place::VectorHigh(i) => Place::Register(Register::VectorHigh(i)),
        abi::Place::Stack(offset) => Place::Stack(offset),
    };
    plain(place, piece.bytes)
}
