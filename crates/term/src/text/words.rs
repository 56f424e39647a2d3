//! Words of the text form: the functions that it knows by name.

use crate::FloatOp;

/// Widths that floating-point operations and conversions have.
const FLOATS: [u16; 2] = [32, 64];
const INTEGERS: [u16; 4] = [8, 16, 32, 64];

/// A function of the text form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    Zext(u16),
    Sext(u16),
    Popcount,
    TrailingZeros,
    LeadingZeros,
    Fill,
    Copy,
    Float(FloatOp),
}

/// What a function's name means.
pub(super) fn builtin(name: &str) -> Option<Builtin> {
    let extension = |prefix: &str| name.strip_prefix(prefix).and_then(|width| width.parse().ok());
    Some(match name {
        "popcount" => Builtin::Popcount,
        "trailing_zeros" => Builtin::TrailingZeros,
        "leading_zeros" => Builtin::LeadingZeros,
        "fill" => Builtin::Fill,
        "copy" => Builtin::Copy,
        _ => match (extension("zext"), extension("sext")) {
            (Some(width), _) => Builtin::Zext(width),
            (_, Some(width)) => Builtin::Sext(width),
            _ => Builtin::Float(float(name)?),
        },
    })
}

/// Must a function symbol of this name be quoted?
pub(super) fn is_builtin(name: &str) -> bool {
    builtin(name).is_some()
}

fn float(name: &str) -> Option<FloatOp> {
    use crate::Rounding::{Down, Nearest, Up, Zero};
    use FloatOp::{
        Add, Convert, Div, Eq, Fma, FromInt, Integral, Lt, Max, Min, Mul, Round, Sqrt, Sub, Truncate, Unordered,
    };
    if !name.starts_with(['f', 'i']) {
        return None;
    }
    let of_one_width = FLOATS.into_iter().flat_map(|w| {
        let roundings = [Nearest, Down, Up, Zero].map(|rounding| Integral { width: w, rounding });
        let others = [Add, Sub, Mul, Div, Sqrt, Min, Max, Lt, Eq, Unordered, Fma].map(|op| op(w));
        others.into_iter().chain(roundings)
    });
    let conversions = FLOATS.into_iter().flat_map(|from| {
        let to_floats = FLOATS.into_iter().filter(move |to| *to != from).map(move |to| Convert { from, to });
        let integers = INTEGERS
            .into_iter()
            .flat_map(move |to| [Truncate { from, to }, Round { from, to }, FromInt { from: to, to: from }]);
        to_floats.chain(integers)
    });
    of_one_width.chain(conversions).find(|op| op.name() == name)
}
