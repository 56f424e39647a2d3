//! Expressions of proofs, with constants folded.
//!
//! What is written with constants only is a constant, so that `n <= 1<<24` is a bound that everybody recognises as one.

use kernel::{Expression, FloatWord, Operator};
use program::Side;
use term::Bits;

pub(crate) fn apply(operator: Operator, operands: Vec<Expression>) -> Expression {
    Expression::Apply(operator, operands)
}

pub(crate) fn constant(width: u16, value: u64) -> Expression {
    Expression::Constant(Bits::new(width, value))
}

pub(crate) fn value_of(expression: &Expression) -> Option<Bits> {
    match expression {
        Expression::Constant(bits) => Some(*bits),
        _ => None,
    }
}

/// Is it a constant that is zero?
pub(crate) fn is_zero(expression: &Expression) -> bool {
    value_of(expression).is_some_and(Bits::is_zero)
}

pub(crate) fn truth(holds: bool) -> Expression {
    apply(if holds { Operator::True } else { Operator::False }, Vec::new())
}

fn as_truth(expression: &Expression) -> Option<bool> {
    match expression {
        Expression::Apply(Operator::True, _) => Some(true),
        Expression::Apply(Operator::False, _) => Some(false),
        _ => None,
    }
}

pub(crate) fn not(a: Expression) -> Expression {
    match a {
        Expression::Apply(Operator::Not, mut operands) if operands.len() == 1 => operands.remove(0),
        a => match as_truth(&a) {
            Some(holds) => truth(!holds),
            None => apply(Operator::Not, vec![a]),
        },
    }
}

pub(crate) fn and(a: Expression, b: Expression) -> Expression {
    joined(Operator::BvAnd, true, a, b)
}

pub(crate) fn or(a: Expression, b: Expression) -> Expression {
    joined(Operator::Or, false, a, b)
}

/// Conjunction or disjunction; `neutral` changes nothing.
fn joined(operator: Operator, neutral: bool, a: Expression, b: Expression) -> Expression {
    match (as_truth(&a), as_truth(&b)) {
        (Some(holds), _) if holds == neutral => return b,
        (_, Some(holds)) if holds == neutral => return a,
        (Some(_), _) | (_, Some(_)) => return truth(!neutral),
        _ => {}
    }
    let mut operands = Vec::new();
    for part in [a, b] {
        match part {
            // Operands of this operator are truth values here, so its own are, too.
            Expression::Apply(inner, parts) if inner == operator => operands.extend(parts),
            part => operands.push(part),
        }
    }
    apply(operator, operands)
}

pub(crate) fn choice(condition: Expression, a: Expression, b: Expression) -> Expression {
    match as_truth(&condition) {
        Some(true) => a,
        Some(false) => b,
        None if a == b => a,
        None => apply(Operator::Ite, vec![condition, a, b]),
    }
}

/// A comparison of two numbers.
pub(crate) fn compare(operator: Operator, a: Expression, b: Expression) -> Expression {
    if let (Some(x), Some(y)) = (value_of(&a), value_of(&b)) {
        let holds = match operator {
            Operator::Eq => Some(x == y),
            Operator::Ult => Some(x.ult(y)),
            Operator::Ule => Some(x.ule(y)),
            Operator::Slt => Some(x.slt(y)),
            Operator::Sle => Some(!y.slt(x)),
            _ => None,
        };
        if let Some(holds) = holds {
            return truth(holds);
        }
    }
    // The constant comes last.
    match operator {
        Operator::Eq if value_of(&a).is_some() => apply(operator, vec![b, a]),
        _ => apply(operator, vec![a, b]),
    }
}

/// An operation on two numbers of one width.
pub(crate) fn arithmetic(operator: Operator, a: Expression, b: Expression) -> Expression {
    if let (Some(x), Some(y)) = (value_of(&a), value_of(&b)) {
        let folded = match operator {
            Operator::Add => Some(x.add(y)),
            Operator::Sub => Some(x.sub(y)),
            Operator::Mul => Some(x.mul(y)),
            Operator::Udiv => Some(x.udiv(y)),
            Operator::Urem => Some(x.urem(y)),
            Operator::Sdiv => Some(x.sdiv(y)),
            Operator::Srem => Some(x.srem(y)),
            Operator::Shl => Some(x.shl(y)),
            Operator::Lshr => Some(x.lshr(y)),
            Operator::Ashr => Some(x.ashr(y)),
            Operator::BvAnd => Some(x.and(y)),
            Operator::BvOr => Some(x.or(y)),
            Operator::BvXor => Some(x.xor(y)),
            _ => None,
        };
        if let Some(bits) = folded {
            return Expression::Constant(bits);
        }
    }
    match operator {
        Operator::Add => add(a, b),
        Operator::Sub => match value_of(&b) {
            Some(bits) => add(a, Expression::Constant(bits.neg())),
            None => apply(Operator::Sub, vec![a, b]),
        },
        Operator::Mul if value_of(&b).is_some() => times(b, a),
        Operator::Mul => times(a, b),
        Operator::Shl | Operator::Lshr | Operator::Ashr if is_zero(&b) => a,
        _ => apply(operator, vec![a, b]),
    }
}

/// A sum with its constant last.
fn add(a: Expression, b: Expression) -> Expression {
    let mut sum = None::<Bits>;
    let mut operands = Vec::new();
    for part in [a, b] {
        let parts = match part {
            Expression::Apply(Operator::Add, parts) => parts,
            part => vec![part],
        };
        for part in parts {
            match part {
                Expression::Constant(bits) => sum = Some(sum.map_or(bits, |sum| sum.add(bits))),
                part => operands.push(part),
            }
        }
    }
    match sum.filter(|sum| !sum.is_zero()) {
        _ if operands.is_empty() => return Expression::Constant(sum.unwrap_or(Bits::zero(64))),
        Some(sum) => operands.push(Expression::Constant(sum)),
        None => {}
    }
    match operands.len() {
        1 => operands.remove(0),
        _ => apply(Operator::Add, operands),
    }
}

/// A product with its constant first.
fn times(a: Expression, b: Expression) -> Expression {
    match value_of(&a) {
        Some(factor) if factor.is_zero() => a,
        Some(factor) if factor == Bits::new(factor.width(), 1) => b,
        Some(factor) => match b {
            Expression::Apply(Operator::Mul, mut parts) if parts.len() == 2 && value_of(&parts[0]).is_some() => {
                let inner = parts.remove(1);
                let factor = value_of(&parts[0]).map_or(factor, |own| own.mul(factor));
                times(Expression::Constant(factor), inner)
            }
            b => apply(Operator::Mul, vec![a, b]),
        },
        None => apply(Operator::Mul, vec![a, b]),
    }
}

/// Bits of a number of `full` bits.
pub(crate) fn slice(low: u16, width: u16, a: Expression, full: u16) -> Expression {
    if low == 0 && width == full {
        return a;
    }
    match a {
        Expression::Constant(bits) => Expression::Constant(bits.extract(low + width - 1, low)),
        // The low bits of an extended number are its own.
        Expression::Apply(Operator::Slice(inner, _), mut operands) => {
            apply(Operator::Slice(inner + low, width), vec![operands.remove(0)])
        }
        a => apply(Operator::Slice(low, width), vec![a]),
    }
}

/// A number made wider.
pub(crate) fn extend(signed: bool, a: Expression, from: u16, to: u16) -> Expression {
    if from == to {
        return a;
    }
    match a {
        Expression::Constant(bits) if signed => Expression::Constant(bits.sext(to)),
        Expression::Constant(bits) => Expression::Constant(bits.zext(to)),
        // What was extended without a sign has none.
        Expression::Apply(Operator::Zext(_), operands) => apply(Operator::Zext(to), operands),
        Expression::Apply(Operator::Sext(_), operands) if signed => apply(Operator::Sext(to), operands),
        a => apply(if signed { Operator::Sext(to) } else { Operator::Zext(to) }, vec![a]),
    }
}

/// Every bit the other way.
pub(crate) fn complement(a: Expression) -> Expression {
    match value_of(&a) {
        Some(bits) => Expression::Constant(bits.not()),
        None => apply(Operator::BvNot, vec![a]),
    }
}

pub(crate) fn negative(a: Expression, width: u16) -> Expression {
    match value_of(&a) {
        Some(bits) => Expression::Constant(bits.neg()),
        None => apply(Operator::Sub, vec![constant(width, 0), a]),
    }
}

/// Bytes of memory at entry.
pub(crate) fn load(bytes: u16, address: Expression) -> Expression {
    apply(Operator::Load(Side::Original, bytes), vec![address])
}

/// An operation on floating-point numbers of a width.
pub(crate) fn float(word: FloatWord, a: Expression, b: Expression) -> Expression {
    apply(Operator::Float(word), vec![a, b])
}

/// The number that a constant is, read with or without a sign.
pub(crate) fn integer(bits: Bits, signed: bool) -> i128 {
    if signed { i128::from(bits.to_i64().unwrap_or(0)) } else { i128::from(bits.to_u64().unwrap_or(0)) }
}
