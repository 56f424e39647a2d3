//! What registers and cells hold.

use updates::{Constant, Scalar};

/// A value in a register or cell. Its width is that of the register or cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Datum<V> {
    /// Known bits, the rest zero.
    Bits(u64),
    /// The low bits of a number of a type, in two's complement, or a floating-point number; never a known one.
    Value(V, Scalar),
    /// A place: region and bytes from its start.
    Place(u32, i64),
    /// Nothing was written.
    Poison,
    /// It depends on data what this is, and not in a way that can be said.
    Lost,
}

/// What a cell holds at the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leaf<V> {
    /// Known bits.
    Bits(u64),
    /// A number of a type, of which the cell holds the low bits.
    Value(V, Scalar),
}

/// All bits below this width.
#[inline]
pub(crate) fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// The number that bits of a width are in two's complement.
#[inline]
pub(crate) fn signed(bits: u64, width: u8) -> i64 {
    let shift = 64 - u32::from(width);
    ((bits << shift) as i64) >> shift
}

/// The constant of a type with these bits.
pub(crate) fn constant_of(bits: u64, ty: Scalar) -> Constant {
    match ty {
        Scalar::F64 => Constant::F64(bits),
        Scalar::F32 => Constant::F32(bits as u32),
        Scalar::Bool => Constant::Int((bits & 1) as i64),
        _ if ty.is_signed() => Constant::Int(signed(bits, ty.bits() as u8)),
        _ => Constant::integer(i128::from(bits & mask(ty.bits() as u8))),
    }
}

/// The bits of a constant.
pub(crate) fn bits_of(constant: Constant) -> u64 {
    match constant {
        Constant::Int(value) => value as u64,
        Constant::Big(value) | Constant::F64(value) => value,
        Constant::F32(value) => u64::from(value),
    }
}

/// The signed type of a width.
pub(crate) fn signed_type(bits: u8) -> Option<Scalar> {
    Some(match bits {
        8 => Scalar::I8,
        16 => Scalar::I16,
        32 => Scalar::I32,
        64 => Scalar::I64,
        _ => return None,
    })
}

/// The unsigned type of a width.
pub(crate) fn unsigned_type(bits: u8) -> Option<Scalar> {
    Some(match bits {
        1 => Scalar::Bool,
        8 => Scalar::U8,
        16 => Scalar::U16,
        32 => Scalar::U32,
        64 => Scalar::U64,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbers_of_both_kinds() {
        assert_eq!(constant_of(0xff, Scalar::I8), Constant::Int(-1));
        assert_eq!(constant_of(0xff, Scalar::U8), Constant::Int(255));
        assert_eq!(constant_of(u64::MAX, Scalar::U64), Constant::Big(u64::MAX));
        assert_eq!(signed(0x8000, 16), -32768);
        assert_eq!(signed(1, 1), -1);
        assert_eq!(bits_of(Constant::Int(-1)) & mask(32), 0xffff_ffff);
    }
}
