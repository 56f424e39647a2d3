//! Values as numbers: the program as it runs on one concrete input.

use crate::domain::Domain;
use crate::hash::name_key;
use crate::scalar::{self, Cmp, Constant, Op, Scalar, Undefined};

/// A concrete value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// Nobody wrote the cell.
    Unwritten,
    /// Known.
    Value(Constant),
}

/// What integer overflow does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Overflow {
    /// It is undefined: the input does not count.
    Undefined,
    /// It wraps, as with `-fwrapv`: also where a negative number is shifted.
    Wraps,
}

/// Concrete values; inputs come from a function.
pub struct Numbers<F> {
    /// The start value of a cell: key, cell, type.
    pub inputs: F,
    /// What integer overflow does.
    pub overflow: Overflow,
}

fn constant(value: Number) -> Constant {
    match value {
        Number::Value(constant) => constant,
        // The machine refuses to use a cell that nobody wrote.
        Number::Unwritten => Constant::Int(0),
    }
}

impl<F: FnMut(u64, u64, Scalar) -> Constant> Domain for Numbers<F> {
    type Value = Number;

    fn unwritten(&self) -> Number {
        Number::Unwritten
    }

    fn is_unwritten(&self, value: Number) -> bool {
        value == Number::Unwritten
    }

    fn constant(&mut self, constant: Constant) -> Number {
        Number::Value(constant)
    }

    fn known(&self, value: Number) -> Option<Constant> {
        match value {
            Number::Value(constant) => Some(constant),
            Number::Unwritten => None,
        }
    }

    fn input(&mut self, key: u64, cell: u64, ty: Scalar) -> Number {
        Number::Value((self.inputs)(key, cell, ty))
    }

    fn binary(&mut self, op: Op, ty: Scalar, a: Number, b: Number) -> Result<Number, Undefined> {
        let (a, b) = (constant(a), constant(b));
        // The first operand that is a NaN is the result, as on the hardware.
        if let Some(nan) = [a, b].into_iter().find(|c| c.as_float().is_some_and(f64::is_nan)) {
            return Ok(Number::Value(nan));
        }
        let amount = b.as_integer().is_some_and(|b| (0..i128::from(ty.bits())).contains(&b));
        match scalar::fold(op, ty, a, b) {
            Err(Undefined::Shift) if self.overflow == Overflow::Wraps && amount => {
                let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) else { return Err(Undefined::Shift) };
                Ok(Number::Value(Constant::integer(ty.wrap(a << b))))
            }
            Err(Undefined::Overflow) if self.overflow == Overflow::Wraps => {
                let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) else { return Err(Undefined::Overflow) };
                let value = match op {
                    Op::Add => a + b,
                    Op::Sub => a - b,
                    Op::Mul => a.wrapping_mul(b),
                    Op::Shl => a << b,
                    // Only the lowest value divided by -1 overflows, which traps on the hardware.
                    _ => return Err(Undefined::Overflow),
                };
                Ok(Number::Value(Constant::integer(ty.wrap(value))))
            }
            other => other.map(Number::Value),
        }
    }

    fn negate(&mut self, ty: Scalar, value: Number) -> Result<Number, Undefined> {
        match constant(value) {
            Constant::F64(bits) => Ok(Number::Value(Constant::F64(bits ^ (1 << 63)))),
            Constant::F32(bits) => Ok(Number::Value(Constant::F32(bits ^ (1 << 31)))),
            _ => self.binary(Op::Sub, ty, Number::Value(Constant::Int(0)), value),
        }
    }

    fn compare(&mut self, cmp: Cmp, _ty: Scalar, a: Number, b: Number) -> Number {
        Number::Value(Constant::Int(i64::from(scalar::compare(cmp, constant(a), constant(b)))))
    }

    fn not(&mut self, value: Number) -> Number {
        Number::Value(Constant::Int(i64::from(!constant(value).is_true())))
    }

    fn convert(&mut self, _from: Scalar, to: Scalar, value: Number) -> Result<Number, Undefined> {
        scalar::convert(constant(value), to).map(Number::Value)
    }

    fn choice(&mut self, cond: Number, yes: Number, no: Number) -> Number {
        if constant(cond).is_true() { yes } else { no }
    }

    fn call(&mut self, name: &str, ty: Scalar, arguments: &[Number]) -> Number {
        let values: Vec<Constant> = arguments.iter().map(|a| constant(*a)).collect();
        Number::Value(eval_call(name, ty, &values))
    }
}

/// The functions of the mathematical library in a precision; each is that library's own, so that the compiled program gives
/// the same bits.
macro_rules! library {
    ($name:ident, $float:ty) => {
        fn $name(function: &str, values: &[$float]) -> Option<$float> {
            Some(match (function, values) {
                ("sqrt", [x]) => x.sqrt(),
                ("fabs", [x]) => x.abs(),
                ("exp", [x]) => x.exp(),
                ("exp2", [x]) => x.exp2(),
                ("expm1", [x]) => x.exp_m1(),
                ("log", [x]) => x.ln(),
                ("log2", [x]) => x.log2(),
                ("log10", [x]) => x.log10(),
                ("log1p", [x]) => x.ln_1p(),
                ("sin", [x]) => x.sin(),
                ("cos", [x]) => x.cos(),
                ("tan", [x]) => x.tan(),
                ("asin", [x]) => x.asin(),
                ("acos", [x]) => x.acos(),
                ("atan", [x]) => x.atan(),
                ("sinh", [x]) => x.sinh(),
                ("cosh", [x]) => x.cosh(),
                ("tanh", [x]) => x.tanh(),
                ("cbrt", [x]) => x.cbrt(),
                ("floor", [x]) => x.floor(),
                ("ceil", [x]) => x.ceil(),
                ("trunc", [x]) => x.trunc(),
                ("round", [x]) => x.round(),
                ("rint", [x]) => x.round_ties_even(),
                ("nearbyint", [x]) => x.round_ties_even(),
                ("pow", [x, y]) => x.powf(*y),
                ("fmod", [x, y]) => x % y,
                ("atan2", [x, y]) => x.atan2(*y),
                ("hypot", [x, y]) => x.hypot(*y),
                ("fmin", [x, y]) => x.min(*y),
                ("fmax", [x, y]) => x.max(*y),
                ("copysign", [x, y]) => x.copysign(*y),
                ("fma", [x, y, z]) => x.mul_add(*y, *z),
                _ => return None,
            })
        }
    };
}

library!(single, f32);
library!(double, f64);

/// Is the function's value that of the library, not an invented one?
pub fn is_evaluated(name: &str) -> bool {
    let known = |name: &str| (1..=3).any(|count| double(name, &[1.0; 3][..count]).is_some());
    matches!(name, "abs" | "labs" | "llabs") || known(name) || name.strip_suffix('f').is_some_and(known)
}

/// A library function; functions that nobody knows get a value that depends on name and arguments only.
pub(crate) fn eval_call(name: &str, ty: Scalar, arguments: &[Constant]) -> Constant {
    let floats: Option<Vec<f64>> = arguments.iter().map(|a| a.as_float()).collect();
    if let Some(values) = floats {
        let base = match name.strip_suffix('f') {
            // `erf` and `modf` end in f without being the float version of something.
            Some(base) if ty == Scalar::F32 && name != "erf" => base,
            _ => name,
        };
        if ty == Scalar::F32 {
            let values: Vec<f32> = values.iter().map(|x| *x as f32).collect();
            if let Some(value) = single(base, &values) {
                return Constant::F32(value.to_bits());
            }
        }
        let value = double(base, &values);
        if let Some(value) = value {
            return Constant::float(ty, value);
        }
    }
    if let ("abs" | "labs" | "llabs", [value]) = (name, arguments) {
        let magnitude = value.as_integer().unwrap_or(0).abs();
        return Constant::integer(ty.wrap(magnitude));
    }
    let mut state = name_key(name);
    for argument in arguments {
        let bits = match argument {
            Constant::Int(value) => *value as u64,
            Constant::Big(value) | Constant::F64(value) => *value,
            Constant::F32(value) => u64::from(*value),
        };
        state = (state ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
    let small = (state >> 40) as i64;
    if ty.is_float() {
        Constant::float(ty, small as f64 / 65536.0)
    } else {
        Constant::integer(ty.wrap(i128::from(small & 127)))
    }
}
