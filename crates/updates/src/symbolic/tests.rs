//! Rules of the normal form: what they join, and what they must keep apart.

use super::*;
use crate::terms::{TermRef, Terms};

fn domain() -> Symbolic<Terms> {
    Symbolic::new(Terms::new(10_000), Floating::Ieee)
}

fn inputs(d: &mut Symbolic<Terms>, ty: Scalar) -> [TermRef; 2] {
    [0, 1].map(|cell| d.input(1, cell, ty))
}

/// `op` of `double` on two values of `float`, rounded.
fn through_double(d: &mut Symbolic<Terms>, op: Op, [a, b]: [TermRef; 2]) -> TermRef {
    let [a, b] = [a, b].map(|x| d.convert(Scalar::F32, Scalar::F64, x).expect("a float"));
    let wide = d.binary(op, Scalar::F64, a, b).expect("floats");
    d.convert(Scalar::F64, Scalar::F32, wide).expect("a float")
}

#[test]
fn one_operation_through_double_is_the_operation_of_float() {
    let mut d = domain();
    let pair = inputs(&mut d, Scalar::F32);
    for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
        let direct = d.binary(op, Scalar::F32, pair[0], pair[1]);
        assert_eq!(Ok(through_double(&mut d, op, pair)), direct, "{op:?}");
    }
}

#[test]
fn two_operations_through_double_are_not() {
    let mut d = domain();
    let [a, b] = inputs(&mut d, Scalar::F32);
    let wide = [a, b].map(|x| d.convert(Scalar::F32, Scalar::F64, x).expect("a float"));
    let product = d.binary(Op::Mul, Scalar::F64, wide[0], wide[1]).expect("floats");
    let sum = d.binary(Op::Add, Scalar::F64, product, wide[1]).expect("floats");
    let rounded = d.convert(Scalar::F64, Scalar::F32, sum).expect("a float");
    let product = d.binary(Op::Mul, Scalar::F32, a, b).expect("floats");
    assert_ne!(Ok(rounded), d.binary(Op::Add, Scalar::F32, product, b));
    // A constant that `float` does not hold stays one of `double`.
    let tenth = d.constant(Constant::F64(0.1f64.to_bits()));
    let scaled = d.binary(Op::Mul, Scalar::F64, wide[0], tenth).expect("floats");
    let rounded = d.convert(Scalar::F64, Scalar::F32, scaled).expect("a float");
    let narrow = d.constant(Constant::F32(0.1f32.to_bits()));
    assert_ne!(Ok(rounded), d.binary(Op::Mul, Scalar::F32, a, narrow));
}

#[test]
fn rounding_twice_is_innocuous_on_numbers() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Any bits, or few of them: subnormal numbers and ties are rare otherwise.
        let bits = (state >> 16) as u32;
        f32::from_bits(if state & 1 == 0 { bits } else { bits & 0x80ff_0007 })
    };
    for _ in 0..200_000 {
        let (a, b) = (next(), next());
        let (x, y) = (f64::from(a), f64::from(b));
        let pairs = [(a + b, x + y), (a - b, x - y), (a * b, x * y), (a / b, x / y), (a.sqrt(), x.sqrt())];
        for (single, double) in pairs {
            let rounded = double as f32;
            assert!(single.to_bits() == rounded.to_bits() || single.is_nan() && rounded.is_nan(), "{a:e} {b:e}");
        }
    }
}

/// `cond ? yes : no` with `cond` being `x < y`.
fn by_order(d: &mut Symbolic<Terms>, ty: Scalar, [x, y]: [TermRef; 2], [yes, no]: [TermRef; 2]) -> TermRef {
    let less = d.compare(Cmp::Lt, ty, x, y);
    d.choice(less, yes, no)
}

#[test]
fn the_larger_integer_does_not_depend_on_who_is_asked() {
    let mut d = domain();
    let [a, b] = inputs(&mut d, Scalar::I32);
    let larger = by_order(&mut d, Scalar::I32, [a, b], [b, a]);
    assert_eq!(larger, by_order(&mut d, Scalar::I32, [b, a], [a, b]));
    assert_ne!(larger, by_order(&mut d, Scalar::I32, [b, a], [b, a]), "the smaller one");
    let other = d.input(1, 2, Scalar::I32);
    assert_ne!(larger, by_order(&mut d, Scalar::I32, [b, a], [a, other]));
}

#[test]
fn the_larger_float_does() {
    let mut d = domain();
    let [a, b] = inputs(&mut d, Scalar::F64);
    let larger = by_order(&mut d, Scalar::F64, [a, b], [b, a]);
    assert_ne!(larger, by_order(&mut d, Scalar::F64, [b, a], [a, b]), "zeros of both signs, and NaN");
}

#[test]
fn shifts_of_unsigned_numbers_are_products() {
    let mut d = domain();
    for (ty, same) in [(Scalar::U32, true), (Scalar::I32, false)] {
        let a = d.input(1, 0, ty);
        let [three, eight, four] = [3, 8, 4].map(|n| d.constant(Constant::Int(n)));
        let shifted = d.binary(Op::Shl, ty, a, three);
        assert_eq!(shifted == d.binary(Op::Mul, ty, a, eight), same, "{ty:?}");
        assert_ne!(shifted, d.binary(Op::Mul, ty, a, four));
    }
}
