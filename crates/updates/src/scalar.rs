//! Scalar types of C and exact arithmetic on their constants.
//!
//! Integer constants are mathematical values, so that a widening conversion is the identity; the type of an operation
//! says where it wraps or overflows. Floating-point constants are folded in round-to-nearest, which is what the
//! compiled program would do at run time.

use std::fmt;

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// All types, in the order of their numbers.
    pub const ALL: [Scalar; 11] = [
        Scalar::Bool,
        Scalar::I8,
        Scalar::U8,
        Scalar::I16,
        Scalar::U16,
        Scalar::I32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Is it `float` or `double`?
    #[inline]
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Is it a signed integer type?
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// Width in bits; one for `_Bool`.
    pub fn bits(self) -> u32 {
        match self {
            Scalar::Bool => 1,
            Scalar::I8 | Scalar::U8 => 8,
            Scalar::I16 | Scalar::U16 => 16,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 32,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 64,
        }
    }

    /// Size in memory.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits().div_ceil(8))
    }

    /// Smallest and largest value of an integer type.
    pub fn range(self) -> (i128, i128) {
        let bits = self.bits();
        if self.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
    }

    /// The value modulo the type's width.
    pub fn wrap(self, value: i128) -> i128 {
        let (low, high) = self.range();
        if (low..=high).contains(&value) {
            return value;
        }
        if self == Scalar::Bool {
            return 1;
        }
        let bits = self.bits();
        let low_bits = value & ((1 << bits) - 1);
        if self.is_signed() && low_bits > high { low_bits - (1 << bits) } else { low_bits }
    }

    /// Name in C.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "_Bool",
            Scalar::I8 => "signed char",
            Scalar::U8 => "unsigned char",
            Scalar::I16 => "short",
            Scalar::U16 => "unsigned short",
            Scalar::I32 => "int",
            Scalar::U32 => "unsigned int",
            Scalar::I64 => "long",
            Scalar::U64 => "unsigned long",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }
}

/// A known value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Constant {
    /// An integer that fits 64 bits with sign.
    Int(i64),
    /// An unsigned 64-bit integer above `i64::MAX`.
    Big(u64),
    /// The bits of a `float`.
    F32(u32),
    /// The bits of a `double`.
    F64(u64),
}

/// Operators with two operands of the same type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

impl Op {
    /// All operators, in the order of their numbers.
    pub const ALL: [Op; 10] = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::And, Op::Or, Op::Xor, Op::Shl, Op::Shr];
}

/// Comparisons; the others swap operands or negate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Cmp {
    Lt,
    Le,
    Eq,
    Ne,
}

/// Undefined behaviour of an operation on constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// Signed overflow.
    Overflow,
    /// Division or remainder by zero.
    Division,
    /// Shift by a negative amount or by the width or more.
    Shift,
    /// A floating-point value outside the integer type.
    Conversion,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Undefined::Overflow => "signed overflow",
            Undefined::Division => "division by zero",
            Undefined::Shift => "shift by an impossible amount",
            Undefined::Conversion => "conversion to an integer type that cannot hold the value",
        })
    }
}

impl Constant {
    /// The constant of a mathematical integer.
    pub fn integer(value: i128) -> Constant {
        match i64::try_from(value) {
            Ok(small) => Constant::Int(small),
            Err(_) => Constant::Big(value as u64),
        }
    }

    /// The mathematical integer.
    pub fn as_integer(self) -> Option<i128> {
        match self {
            Constant::Int(value) => Some(i128::from(value)),
            Constant::Big(value) => Some(i128::from(value)),
            _ => None,
        }
    }

    /// A `double` or a `float`.
    pub fn float(ty: Scalar, value: f64) -> Constant {
        if ty == Scalar::F32 { Constant::F32((value as f32).to_bits()) } else { Constant::F64(value.to_bits()) }
    }

    /// The value as a `double`, exact for `float`.
    pub fn as_float(self) -> Option<f64> {
        match self {
            Constant::F32(bits) => Some(f64::from(f32::from_bits(bits))),
            Constant::F64(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// Is it different from zero, as a condition sees it?
    pub fn is_true(self) -> bool {
        match self {
            Constant::Int(value) => value != 0,
            Constant::Big(_) => true,
            other => other.as_float().is_some_and(|value| value != 0.0),
        }
    }
}

/// One operation on constants. Operands have the type `ty`; shift amounts are any integer.
pub fn fold(op: Op, ty: Scalar, a: Constant, b: Constant) -> Result<Constant, Undefined> {
    match (a, b) {
        (Constant::F64(a), Constant::F64(b)) => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let value = match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                _ => return Err(Undefined::Conversion),
            };
            Ok(Constant::F64(value.to_bits()))
        }
        (Constant::F32(a), Constant::F32(b)) => {
            let (a, b) = (f32::from_bits(a), f32::from_bits(b));
            let value = match op {
                Op::Add => a + b,
                Op::Sub => a - b,
                Op::Mul => a * b,
                Op::Div => a / b,
                _ => return Err(Undefined::Conversion),
            };
            Ok(Constant::F32(value.to_bits()))
        }
        _ => match (a.as_integer(), b.as_integer()) {
            (Some(a), Some(b)) => fold_integer(op, ty, a, b).map(Constant::integer),
            _ => Err(Undefined::Conversion),
        },
    }
}

/// One integer operation; the result is in the type's range.
pub fn fold_integer(op: Op, ty: Scalar, a: i128, b: i128) -> Result<i128, Undefined> {
    let value = match op {
        Op::Add => a + b,
        Op::Sub => a - b,
        // Operands have at most 64 bits, so only two large unsigned ones could leave 127 bits.
        Op::Mul => a.wrapping_mul(b),
        Op::Div | Op::Rem if b == 0 => return Err(Undefined::Division),
        Op::Div => a / b,
        // The quotient must be representable too (C11 6.5.5).
        Op::Rem if ty.is_signed() && a == ty.range().0 && b == -1 => return Err(Undefined::Overflow),
        Op::Rem => a % b,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Shl | Op::Shr if b < 0 || b >= i128::from(ty.bits()) => return Err(Undefined::Shift),
        Op::Shl if ty.is_signed() && a < 0 => return Err(Undefined::Shift),
        Op::Shl => a << b,
        Op::Shr => a >> b,
    };
    let (low, high) = ty.range();
    match (low..=high).contains(&value) {
        true => Ok(value),
        false if ty.is_signed() => Err(Undefined::Overflow),
        false => Ok(ty.wrap(value)),
    }
}

/// A comparison of two constants of one type.
pub fn compare(cmp: Cmp, a: Constant, b: Constant) -> bool {
    if let (Some(a), Some(b)) = (a.as_integer(), b.as_integer()) {
        return match cmp {
            Cmp::Lt => a < b,
            Cmp::Le => a <= b,
            Cmp::Eq => a == b,
            Cmp::Ne => a != b,
        };
    }
    let (Some(a), Some(b)) = (a.as_float(), b.as_float()) else { return false };
    match cmp {
        Cmp::Lt => a < b,
        Cmp::Le => a <= b,
        Cmp::Eq => a == b,
        Cmp::Ne => a != b,
    }
}

/// A conversion between scalar types (C11 6.3.1).
pub fn convert(value: Constant, to: Scalar) -> Result<Constant, Undefined> {
    if let Some(integer) = value.as_integer() {
        return Ok(match to {
            // `as` rounds to nearest even, as the hardware does; from i128 it is exact for both sources.
            Scalar::F32 => Constant::F32((integer as f32).to_bits()),
            Scalar::F64 => Constant::F64((integer as f64).to_bits()),
            Scalar::Bool => Constant::Int(i64::from(integer != 0)),
            // Out of range is implementation-defined for signed types: every compiler here wraps.
            _ => Constant::integer(to.wrap(integer)),
        });
    }
    let Some(float) = value.as_float() else { return Err(Undefined::Conversion) };
    match to {
        Scalar::F32 | Scalar::F64 => Ok(Constant::float(to, float)),
        Scalar::Bool => Ok(Constant::Int(i64::from(float != 0.0))),
        _ => {
            let (low, high) = to.range();
            let whole = float.trunc();
            // Both bounds are exact or rounded outwards by the comparison with an i128.
            if !whole.is_finite() || whole.abs() >= 1e30 || !(low..=high).contains(&(whole as i128)) {
                return Err(Undefined::Conversion);
            }
            Ok(Constant::integer(whole as i128))
        }
    }
}

impl fmt::Display for Constant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Constant::Int(value) => write!(f, "{value}"),
            Constant::Big(value) => write!(f, "{value}"),
            Constant::F32(bits) if f32::from_bits(*bits).is_nan() && bits & 0x3f_ffff != 0 => {
                write!(f, "NaN(0x{:x})", bits & 0x3f_ffff)
            }
            Constant::F64(bits) if f64::from_bits(*bits).is_nan() && bits << 13 != 0 => {
                write!(f, "NaN(0x{:x})", bits << 13 >> 13)
            }
            Constant::F32(bits) => write!(f, "{:?}f", f32::from_bits(*bits)),
            Constant::F64(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_arithmetic_overflows_and_unsigned_wraps() {
        let int = |v| Constant::Int(v);
        assert_eq!(fold(Op::Add, Scalar::I32, int(i64::from(i32::MAX)), int(1)), Err(Undefined::Overflow));
        assert_eq!(fold(Op::Add, Scalar::U32, int(0xffff_ffff), int(1)), Ok(int(0)));
        assert_eq!(fold(Op::Sub, Scalar::U64, int(0), int(1)), Ok(Constant::Big(u64::MAX)));
        assert_eq!(fold(Op::Mul, Scalar::U64, Constant::Big(u64::MAX), Constant::Big(u64::MAX)), Ok(int(1)));
    }

    #[test]
    fn division_truncates_towards_zero() {
        assert_eq!(fold_integer(Op::Div, Scalar::I32, -7, 2), Ok(-3));
        assert_eq!(fold_integer(Op::Rem, Scalar::I32, -7, 2), Ok(-1));
        assert_eq!(fold_integer(Op::Div, Scalar::I32, 1, 0), Err(Undefined::Division));
        assert_eq!(fold_integer(Op::Div, Scalar::I32, -(1 << 31), -1), Err(Undefined::Overflow));
        assert_eq!(fold_integer(Op::Shl, Scalar::I32, 1, 32), Err(Undefined::Shift));
    }

    #[test]
    fn conversions() {
        assert_eq!(convert(Constant::Int(300), Scalar::U8), Ok(Constant::Int(44)));
        assert_eq!(convert(Constant::Int(-1), Scalar::U64), Ok(Constant::Big(u64::MAX)));
        assert_eq!(convert(Constant::Int(200), Scalar::I8), Ok(Constant::Int(-56)));
        assert_eq!(convert(Constant::F64((-2.9f64).to_bits()), Scalar::I32), Ok(Constant::Int(-2)));
        assert_eq!(convert(Constant::F64(3e9f64.to_bits()), Scalar::I32), Err(Undefined::Conversion));
        assert_eq!(convert(Constant::Int(1), Scalar::F32), Ok(Constant::F32(1f32.to_bits())));
    }
}
