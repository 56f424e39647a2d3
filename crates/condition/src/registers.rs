//! Values by where they arrive: parameters of every type, and registers by their names.

use crate::Interface;
use crate::build;
use crate::interface::{Named, place_name};
use crate::types::Type;
use crate::value::{Number, Room, Value};
use kernel::Expression;
use program::{Place, Register, Value as Passed};

/// The value of a parameter; `None` if nothing says where it is.
pub(crate) fn parameter(parameter: &Named) -> Option<Value> {
    let (mut pieces, mut at) = (Vec::new(), 0u64);
    for value in &parameter.values {
        let value = value.as_passed();
        pieces.push((at, Expression::Named(place_name(value.place)), value.bytes));
        at += u64::from(value.bytes.next_multiple_of(8));
    }
    let (_, _, bytes) = pieces.first()?;
    let ty = match &parameter.ty {
        Some(ty) => ty.clone(),
        None if pieces.len() > 1 => return None,
        None if parameter.pointer => Type::Pointer(Box::new(Type::Void)),
        None => Type::integer(*bytes, false),
    };
    // A register is not memory: an array of arguments does not decay.
    Some(Value::Object { ty, place: Room::Arguments { pieces, at: 0 } })
}

/// The names of the parts of a vector register that debuggers use.
const VIEWS: [(&str, Type, u64); 6] = [
    ("v4_float", Type::Float { bytes: 4 }, 4),
    ("v2_double", Type::Float { bytes: 8 }, 2),
    ("v16_int8", Type::integer(1, true), 16),
    ("v8_int16", Type::integer(2, true), 8),
    ("v4_int32", Type::integer(4, true), 4),
    ("v2_int64", Type::integer(8, true), 2),
];

/// One of them, of a register that is whole.
pub(crate) fn view(of: &Expression, name: &str, interface: &Interface) -> Option<Value> {
    if interface.width(of)? != 128 {
        return None;
    }
    let (_, element, count) = VIEWS.into_iter().find(|(view, ..)| *view == name)?;
    let place = Room::Arguments { pieces: vec![(0, of.clone(), 16)], at: 0 };
    Some(Value::Object { ty: Type::Vector(Box::new(element), count), place })
}

/// A register by its name; `None` if it is no register. Numbers have no sign.
pub(crate) fn named(name: &str, interface: &Interface) -> Option<Result<Value, String>> {
    let (register, bytes) = register(name)?;
    let place = place_name(Place::Register(register));
    let Some(passed) = interface.arguments.get(&place) else {
        let function = &interface.function;
        return Some(Err(match &interface.refused {
            Some(why) => format!("how {function} is called is not known: {why}"),
            None => format!("`{name}` is no argument of {function}"),
        }));
    };
    Some(part(name, Expression::Named(place), passed, bytes))
}

fn part(name: &str, atom: Expression, passed: &Passed, bytes: u16) -> Result<Value, String> {
    if let Place::Register(Register::Vector(_)) = passed.place {
        return Ok(match passed.bytes {
            4 | 8 => Value::Number(Number::new(Type::Float { bytes: passed.bytes }, atom)),
            size => {
                let place = Room::Arguments { pieces: vec![(0, atom, size)], at: 0 };
                Value::Object {
                    ty: Type::Other(
                        format!("{name}, a vector of {size} bytes; name a part of it, such as {name}.v4_float[0]"),
                        0,
                    ),
                    place,
                }
            }
        });
    }
    if bytes > passed.bytes {
        let narrower = format!("only {} bytes of `{name}` are an argument", passed.bytes);
        return Err(narrower);
    }
    let bits = build::slice(0, 8 * bytes, atom, 8 * passed.bytes);
    Ok(Value::Number(Number::new(Type::integer(bytes, false), bits)))
}

/// A register, and how many of its bytes the name means.
fn register(name: &str) -> Option<(Register, u16)> {
    if let Some(register) = Register::all().find(|r| r.name() == name) {
        return match register {
            Register::General(_) => Some((register, 8)),
            Register::Vector(_) => Some((register, 16)),
            _ => None,
        };
    }
    let numbered = |suffix: &str, bytes| {
        let whole = name.strip_suffix(suffix).filter(|w| w.starts_with('r') && w[1..].parse::<u8>().is_ok())?;
        Some((Register::all().find(|r| r.name() == whole)?, bytes))
    };
    const PARTS: [(&str, &str, &str, &str); 8] = [
        ("rax", "eax", "ax", "al"),
        ("rcx", "ecx", "cx", "cl"),
        ("rdx", "edx", "dx", "dl"),
        ("rbx", "ebx", "bx", "bl"),
        ("rsp", "esp", "sp", "spl"),
        ("rbp", "ebp", "bp", "bpl"),
        ("rsi", "esi", "si", "sil"),
        ("rdi", "edi", "di", "dil"),
    ];
    let part = PARTS.iter().find_map(|(whole, four, two, one)| {
        let bytes = [(four, 4), (two, 2), (one, 1)].into_iter().find(|(part, _)| **part == name)?.1;
        Some((Register::all().find(|r| r.name() == *whole)?, bytes))
    });
    part.or_else(|| numbered("d", 4)).or_else(|| numbered("w", 2)).or_else(|| numbered("b", 1))
}
