//! Floating-point operations as functions on bit patterns.
//!
//! The solver treats them as uninterpreted; the evaluator computes them with the host's IEEE arithmetic in the
//! default environment (round to nearest even, no traps), following x86 where IEEE leaves a choice.

use crate::{Bits, Sort};

/// One scalar floating-point operation. `width` is 32 or 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FloatOp {
    /// Sum.
    Add(u16),
    /// Difference.
    Sub(u16),
    /// Product.
    Mul(u16),
    /// Quotient.
    Div(u16),
    /// Square root.
    Sqrt(u16),
    /// x86 `min`: the second operand if either is NaN or both are zero.
    Min(u16),
    /// x86 `max`: the second operand if either is NaN or both are zero.
    Max(u16),
    /// Ordered less-than, a truth value.
    Lt(u16),
    /// Ordered equality, a truth value.
    Eq(u16),
    /// Is either operand NaN? A truth value.
    Unordered(u16),
    /// Conversion between the two float widths.
    Convert {
        /// Width of the operand.
        from: u16,
        /// Width of the result.
        to: u16,
    },
    /// Signed integer to float, rounded to nearest even.
    FromInt {
        /// Width of the integer.
        from: u16,
        /// Width of the float.
        to: u16,
    },
    /// Float to signed integer, truncated; x86's "integer indefinite" when out of range.
    Truncate {
        /// Width of the float.
        from: u16,
        /// Width of the integer.
        to: u16,
    },
    /// Float to signed integer, rounded to nearest even; "integer indefinite" when out of range.
    Round {
        /// Width of the float.
        from: u16,
        /// Width of the integer.
        to: u16,
    },
    /// `x * y + z` rounded once.
    Fma(u16),
    /// Rounded to an integer that stays a float.
    Integral {
        /// Width of the float.
        width: u16,
        /// Direction.
        rounding: Rounding,
    },
}

/// Directions of rounding to an integer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards minus infinity.
    Down,
    /// Towards plus infinity.
    Up,
    /// Towards zero.
    Zero,
}

impl FloatOp {
    /// Sort of the result.
    pub fn result(self) -> Sort {
        use FloatOp::*;
        match self {
            Add(w) | Sub(w) | Mul(w) | Div(w) | Sqrt(w) | Min(w) | Max(w) | Fma(w) => Sort::Bv(w),
            Integral { width, .. } => Sort::Bv(width),
            Lt(_) | Eq(_) | Unordered(_) => Sort::Bool,
            Convert { to, .. } | FromInt { to, .. } | Truncate { to, .. } | Round { to, .. } => Sort::Bv(to),
        }
    }

    /// Widths of the operands, all equal; and how many there are.
    pub fn operands(self) -> (u16, usize) {
        use FloatOp::*;
        match self {
            Add(w) | Sub(w) | Mul(w) | Div(w) | Min(w) | Max(w) | Lt(w) | Eq(w) | Unordered(w) => (w, 2),
            Fma(w) => (w, 3),
            Sqrt(w) => (w, 1),
            Integral { width, .. } => (width, 1),
            Convert { from, .. } | FromInt { from, .. } | Truncate { from, .. } | Round { from, .. } => (from, 1),
        }
    }

    /// Name in the text form and in questions to solvers.
    pub fn name(self) -> String {
        use FloatOp::*;
        match self {
            Add(w) => format!("fadd{w}"),
            Sub(w) => format!("fsub{w}"),
            Mul(w) => format!("fmul{w}"),
            Div(w) => format!("fdiv{w}"),
            Sqrt(w) => format!("fsqrt{w}"),
            Min(w) => format!("fmin{w}"),
            Max(w) => format!("fmax{w}"),
            Lt(w) => format!("flt{w}"),
            Eq(w) => format!("feq{w}"),
            Unordered(w) => format!("funo{w}"),
            Convert { from, to } => format!("f{from}tof{to}"),
            FromInt { from, to } => format!("i{from}tof{to}"),
            Truncate { from, to } => format!("f{from}toi{to}"),
            Round { from, to } => format!("f{from}roundi{to}"),
            Fma(w) => format!("ffma{w}"),
            Integral { width, rounding: Rounding::Nearest } => format!("fnearest{width}"),
            Integral { width, rounding: Rounding::Down } => format!("ffloor{width}"),
            Integral { width, rounding: Rounding::Up } => format!("fceil{width}"),
            Integral { width, rounding: Rounding::Zero } => format!("ftrunc{width}"),
        }
    }

    /// The result on concrete operands: a bit vector, or 0/1 of width 1 for a truth value.
    pub fn eval(self, args: &[Bits]) -> Bits {
        use FloatOp::*;
        let bool_bits = |b: bool| Bits::new(1, u64::from(b));
        match self {
            Add(32) => f32_op(args, |a, b| a + b),
            Sub(32) => f32_op(args, |a, b| a - b),
            Mul(32) => f32_op(args, |a, b| a * b),
            Div(32) => f32_op(args, |a, b| a / b),
            Add(_) => f64_op(args, |a, b| a + b),
            Sub(_) => f64_op(args, |a, b| a - b),
            Mul(_) => f64_op(args, |a, b| a * b),
            Div(_) => f64_op(args, |a, b| a / b),
            Sqrt(w) => {
                let x = args[0];
                if is_nan(x) {
                    return quiet(x);
                }
                let negative = x.sign() && !x.extract(w - 2, 0).is_zero();
                if negative {
                    return default_nan(w);
                }
                if w == 32 { f32_bits(as_f32(x).sqrt()) } else { f64_bits(as_f64(x).sqrt()) }
            }
            Min(_) => {
                if less(args[0], args[1]) {
                    args[0]
                } else {
                    args[1]
                }
            }
            Max(_) => {
                if less(args[1], args[0]) {
                    args[0]
                } else {
                    args[1]
                }
            }
            Lt(_) => bool_bits(less(args[0], args[1])),
            Eq(w) => {
                bool_bits(if w == 32 { as_f32(args[0]) == as_f32(args[1]) } else { as_f64(args[0]) == as_f64(args[1]) })
            }
            Unordered(_) => bool_bits(is_nan(args[0]) || is_nan(args[1])),
            Convert { from: 32, .. } => convert_up(args[0]),
            Convert { .. } => convert_down(args[0]),
            FromInt { from, to } => {
                let x = if from == 32 { i64::from(args[0].low() as i32) } else { args[0].low() as i64 };
                if to == 32 { f32_bits(x as f32) } else { f64_bits(x as f64) }
            }
            Truncate { from, to } => to_int(value(args[0], from).trunc(), to),
            Round { from, to } => to_int(value(args[0], from).round_ties_even(), to),
            Fma(w) => nan_result(args).unwrap_or_else(|| {
                let out = match w {
                    32 => f32_bits(as_f32(args[0]).mul_add(as_f32(args[1]), as_f32(args[2]))),
                    _ => f64_bits(as_f64(args[0]).mul_add(as_f64(args[1]), as_f64(args[2]))),
                };
                if is_nan(out) { default_nan(w) } else { out }
            }),
            Integral { .. } if is_nan(args[0]) => quiet(args[0]),
            Integral { width: 32, rounding } => f32_bits(match rounding {
                Rounding::Nearest => as_f32(args[0]).round_ties_even(),
                Rounding::Down => as_f32(args[0]).floor(),
                Rounding::Up => as_f32(args[0]).ceil(),
                Rounding::Zero => as_f32(args[0]).trunc(),
            }),
            Integral { rounding, .. } => f64_bits(match rounding {
                Rounding::Nearest => as_f64(args[0]).round_ties_even(),
                Rounding::Down => as_f64(args[0]).floor(),
                Rounding::Up => as_f64(args[0]).ceil(),
                Rounding::Zero => as_f64(args[0]).trunc(),
            }),
        }
    }
}

fn value(x: Bits, width: u16) -> f64 {
    if width == 32 { f64::from(as_f32(x)) } else { as_f64(x) }
}

fn to_int(x: f64, to: u16) -> Bits {
    let limit = 2f64.powi(i32::from(to) - 1);
    if x >= -limit && x < limit { Bits::from_i64(to, x as i64) } else { Bits::from_u128(to, 1 << (to - 1)) }
}

fn as_f32(x: Bits) -> f32 {
    f32::from_bits(x.low() as u32)
}

fn as_f64(x: Bits) -> f64 {
    f64::from_bits(x.low())
}

fn f32_bits(x: f32) -> Bits {
    Bits::new(32, u64::from(x.to_bits()))
}

fn f64_bits(x: f64) -> Bits {
    Bits::new(64, x.to_bits())
}

fn mantissa(width: u16) -> u16 {
    if width == 32 { 23 } else { 52 }
}

fn is_nan(x: Bits) -> bool {
    if x.width() == 32 { as_f32(x).is_nan() } else { as_f64(x).is_nan() }
}

fn quiet(x: Bits) -> Bits {
    let bit = Bits::from_u128(x.width(), 1 << (mantissa(x.width()) - 1));
    x.or(bit)
}

/// What x86 produces for an invalid operation: the negative quiet NaN.
fn default_nan(width: u16) -> Bits {
    if width == 32 { Bits::new(32, 0xffc0_0000) } else { Bits::new(64, 0xfff8_0000_0000_0000) }
}

fn less(a: Bits, b: Bits) -> bool {
    if a.width() == 32 { as_f32(a) < as_f32(b) } else { as_f64(a) < as_f64(b) }
}

/// Intel SDM vol. 1, table 4-7: a NaN result is the quieted first operand if that is NaN, else the second.
fn nan_result(args: &[Bits]) -> Option<Bits> {
    args.iter().find(|x| is_nan(**x)).map(|x| quiet(*x))
}

fn f32_op(args: &[Bits], op: fn(f32, f32) -> f32) -> Bits {
    nan_result(args).unwrap_or_else(|| {
        let out = op(as_f32(args[0]), as_f32(args[1]));
        if out.is_nan() { default_nan(32) } else { f32_bits(out) }
    })
}

fn f64_op(args: &[Bits], op: fn(f64, f64) -> f64) -> Bits {
    nan_result(args).unwrap_or_else(|| {
        let out = op(as_f64(args[0]), as_f64(args[1]));
        if out.is_nan() { default_nan(64) } else { f64_bits(out) }
    })
}

fn convert_up(x: Bits) -> Bits {
    if is_nan(x) {
        let sign = u64::from(x.sign()) << 63;
        let payload = (x.low() & 0x7f_ffff) << 29;
        return Bits::new(64, sign | 0x7ff8_0000_0000_0000 | payload);
    }
    f64_bits(f64::from(as_f32(x)))
}

fn convert_down(x: Bits) -> Bits {
    if is_nan(x) {
        let sign = u64::from(x.sign()) << 31;
        let payload = (x.low() >> 29) & 0x3f_ffff;
        return Bits::new(32, sign | 0x7fc0_0000 | payload);
    }
    f32_bits(as_f64(x) as f32)
}
