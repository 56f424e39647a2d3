//! Which bytes of a result nobody defined, given which bytes of the operands.
//!
//! Precise for what moves and masks bytes, since programs copy padding around; everything else depends on all.
//!
//! Trust: full, in one direction: a byte that depends on an undefined one must not be called defined.

use super::program::{Instruction, Kind};
use term::Op;
use term::eval::Value;

/// All bytes of a width (one for truth values).
fn all(width: u16) -> u64 {
    match width.div_ceil(8) {
        0 => 1,
        64 => u64::MAX,
        bytes => (1 << bytes) - 1,
    }
}

/// From the lowest tainted byte upwards: what a carry can reach.
fn upwards(taint: u64, width: u16) -> u64 {
    if taint == 0 { 0 } else { (u64::MAX << taint.trailing_zeros()) & all(width) }
}

/// Bytes that equal `byte`, as a mask.
fn bytes_equal(value: Value, byte: u8) -> u64 {
    match value {
        Value::Bool(bit) => u64::from(u8::from(bit) == byte),
        Value::Bits(bits) => {
            let limbs = bits.limbs();
            let equals = |i: &usize| (limbs[i / 8] >> (8 * (i % 8))) as u8 == byte;
            (0..usize::from(bits.width()).div_ceil(8)).filter(equals).fold(0, |mask, i| mask | 1 << i)
        }
        Value::Memory(_) => 0,
    }
}

/// A byte stays undefined unless the other operand decides it alone.
fn masked(a: (Value, u64), b: (Value, u64), decides: u8) -> u64 {
    let decided = |(value, taint): (Value, u64)| bytes_equal(value, decides) & !taint;
    a.1 & !decided(b) | b.1 & !decided(a)
}

/// The taint of an operator's result; `width` is 0 for a truth value. Some operand is tainted.
pub(super) fn of(op: Op, args: &[(Value, u64)], width: u16) -> u64 {
    let any = args.iter().any(|(_, taint)| *taint != 0);
    let everything = if any { all(width) } else { 0 };
    let union = args.iter().fold(0, |mask, (_, taint)| mask | taint);
    let inner = match args[0].0 {
        Value::Bits(bits) => bits.width(),
        _ => 0,
    };
    match op {
        Op::And | Op::Or => {
            let decides = op == Op::Or;
            let decided = args.iter().any(|(value, taint)| *taint == 0 && *value == Value::Bool(decides));
            if decided { 0 } else { everything }
        }
        Op::Ite if args[0].1 != 0 => everything,
        Op::Ite => args[if args[0].0 == Value::Bool(true) { 1 } else { 2 }].1,
        Op::BvAnd if args.len() == 2 => masked(args[0], args[1], 0),
        Op::BvOr if args.len() == 2 => masked(args[0], args[1], 0xff),
        Op::BvXor | Op::BvNot => union & all(width),
        Op::Add | Op::Mul => upwards(union & all(width), width),
        Op::Zext(_) => args[0].1 & all(inner),
        Op::Sext(_) => upwards_if_top(args[0].1 & all(inner), inner, width),
        Op::Extract { hi, lo } if lo % 8 == 0 && hi < inner => args[0].1 >> (lo / 8) & all(hi - lo + 1),
        Op::Extract { hi, lo } => {
            let touched = args[0].1 >> (lo / 8) & all(hi - lo / 8 * 8 + 1);
            if touched == 0 { 0 } else { all(width) }
        }
        Op::Concat => concat(args),
        Op::Shl | Op::Lshr if args[1].1 == 0 => {
            let Value::Bits(amount) = args[1].0 else { return everything };
            match amount.to_u64() {
                Some(bits) if bits % 8 == 0 && bits < 512 => {
                    let bytes = (bits / 8) as u32;
                    let moved = if op == Op::Shl { args[0].1 << bytes } else { (args[0].1 & all(width)) >> bytes };
                    moved & all(width)
                }
                _ => everything,
            }
        }
        _ => everything,
    }
}

/// The bytes that tainted bytes of the parts reach, most significant part first.
fn concat(args: &[(Value, u64)]) -> u64 {
    let (mut mask, mut offset) = (0, 0);
    for (value, taint) in args.iter().rev() {
        let Value::Bits(bits) = value else { return u64::MAX };
        let width = u32::from(bits.width());
        for byte in (0..width.div_ceil(8)).filter(|byte| taint >> byte & 1 == 1) {
            let (first, last) = (offset + 8 * byte, offset + (8 * byte + 7).min(width - 1));
            mask |= 1u64.checked_shl(first / 8).unwrap_or(0) | 1u64.checked_shl(last / 8).unwrap_or(0);
        }
        offset += width;
    }
    mask
}

fn upwards_if_top(taint: u64, inner: u16, width: u16) -> u64 {
    let top = inner.div_ceil(8).saturating_sub(1);
    if taint >> top & 1 == 1 { taint | (u64::MAX << top) & all(width) } else { taint }
}

/// The same for an instruction on narrow cells.
pub(super) fn narrow(i: &Instruction, taints: [u64; 3], value: &dyn Fn(u32, u16) -> Value) -> u64 {
    let [a, b, c] = taints;
    let two = |op: Op, width: u16| of(op, &[(value(i.a, i.width), a), (value(i.b, i.width), b)], width);
    match i.kind {
        Kind::Not => 1,
        Kind::And | Kind::Or => {
            let op = if i.kind == Kind::And { Op::And } else { Op::Or };
            of(op, &[(value(i.a, 0), a), (value(i.b, 0), b)], 0)
        }
        Kind::Ite => of(Op::Ite, &[(value(i.a, 0), a), (value(i.b, i.width), b), (value(i.c, i.width), c)], i.width),
        Kind::Eq | Kind::Ult | Kind::Slt => 1,
        Kind::Add => two(Op::Add, i.width),
        Kind::Mul => two(Op::Mul, i.width),
        Kind::BvNot => a & all(i.width),
        Kind::BvAnd => two(Op::BvAnd, i.width),
        Kind::BvOr => two(Op::BvOr, i.width),
        Kind::BvXor => two(Op::BvXor, i.width),
        Kind::Shl => two(Op::Shl, i.width),
        Kind::Lshr => two(Op::Lshr, i.width),
        Kind::Ashr => all(i.width),
        Kind::Extract => {
            let lo = i.c as u16;
            of(Op::Extract { hi: lo + i.width - 1, lo }, &[(value(i.a, 64), a)], i.width)
        }
        Kind::Concat => {
            let low = i.c as u16;
            of(Op::Concat, &[(value(i.a, i.width - low), a), (value(i.b, low), b)], i.width)
        }
        Kind::Sext => of(Op::Sext(i.width), &[(value(i.a, i.c as u16), a)], i.width),
        Kind::FrameBase
        | Kind::ObjectBase
        | Kind::NearBase
        | Kind::SectionBase
        | Kind::Difference
        | Kind::Quotient
        | Kind::ShiftCount
        | Kind::General(_) => all(i.width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use term::Bits;

    fn bits(width: u16, value: u64) -> Value {
        Value::Bits(Bits::new(width, value))
    }

    #[test]
    fn moved_bytes_keep_their_taint() {
        let x = (bits(64, 0x1122), 0b1111_0000);
        assert_eq!(of(Op::Extract { hi: 31, lo: 0 }, &[x], 32), 0);
        assert_eq!(of(Op::Extract { hi: 47, lo: 16 }, &[x], 32), 0b1100);
        assert_eq!(of(Op::Extract { hi: 36, lo: 4 }, &[x], 33), 0b1_1111);
        assert_eq!(of(Op::Zext(128), &[x], 128), 0b1111_0000);
        assert_eq!(of(Op::Sext(128), &[x], 128), 0xfff0);
        assert_eq!(of(Op::Concat, &[(bits(16, 0), 0b01), (bits(8, 0), 0b1)], 24), 0b011);
        let parts = [(bits(56, 0), 0x7f), (bits(7, 0), 0), (bits(1, 0), 0)];
        assert_eq!(of(Op::Concat, &parts, 64), 0xfe);
        assert_eq!(of(Op::Concat, &[(bits(4, 0), 0b1), (bits(12, 0), 0b10)], 16), 0b10);
        assert_eq!(of(Op::Shl, &[(bits(32, 0), 0b1), (bits(32, 16), 0)], 32), 0b100);
    }

    #[test]
    fn masks_decide_bytes() {
        let x = (bits(32, 0), 0b1111);
        assert_eq!(of(Op::BvAnd, &[x, (bits(32, 0xff), 0)], 32), 0b0001);
        assert_eq!(of(Op::BvOr, &[x, (bits(32, 0xff), 0)], 32), 0b1110);
        assert_eq!(of(Op::Add, &[(bits(32, 0), 0b0100), (bits(32, 1), 0)], 32), 0b1100);
        let no = (Value::Bool(false), 0);
        assert_eq!(of(Op::And, &[(Value::Bool(true), 1), no], 0), 0);
        assert_eq!(of(Op::Or, &[(Value::Bool(true), 1), no], 0), 1);
    }
}
