//! Sums and products of floats as the real numbers' are: taken apart, and put together in one form.
//!
//! A sum is a list of addends with signs, a product a list of factors, a constant and a sign. The form of a sum adds its
//! addends from the left in the order of their handles, as [`crate::Linear`] does, then subtracts those with a minus, then
//! adds the constant; that of a product is the same with one sign in front, which the constant takes if there is one. Each
//! single sum and product has its operands in the order of the rule `float-order`. Twice something is its sum with
//! itself, as the rule `float-double` has it.
//!
//! Constants that would round are not put together: they stay beside each other.

use super::exact;
use super::float::{applied, negated, negation, number};
use crate::{Arena, Bits, FloatOp, Op, TermId};

/// Longer sums and products stay as they are.
const MOST_PARTS: usize = 512;

/// An addend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Addend {
    pub term: TermId,
    pub minus: bool,
}

impl Addend {
    pub(super) fn new(term: TermId, minus: bool) -> Addend {
        Addend { term, minus }
    }
}

/// A product taken apart.
#[derive(Default)]
pub(super) struct Product {
    pub factors: Vec<TermId>,
    pub constants: Vec<Bits>,
    pub minus: bool,
}

/// A constant that is a number.
pub(super) fn finite(arena: &Arena, term: TermId) -> Option<Bits> {
    arena.as_const(term).filter(|c| exact::is_finite(*c))
}

/// `−x`.
pub(super) fn negate(arena: &mut Arena, term: TermId) -> TermId {
    let sign = arena.constant(number(arena.width(term), -0.0));
    arena.xor(term, sign)
}

/// The addends of a sum of sums, none of which is a sum or a product with a negative constant. Nothing if there are too
/// many.
pub(super) fn addends(arena: &mut Arena, width: u16, sum: &[Addend]) -> Option<Vec<Addend>> {
    let mut todo: Vec<Addend> = sum.iter().rev().copied().collect();
    let mut out = Vec::new();
    while let Some(Addend { term, minus }) = todo.pop() {
        if out.len() + todo.len() >= MOST_PARTS {
            return None;
        }
        let operands = arena.args(term).first().copied().zip(arena.args(term).get(1).copied());
        match (applied(arena, term), operands) {
            (Some(FloatOp::Add(w)), Some((a, b))) if w == width => {
                todo.extend([Addend::new(b, minus), Addend::new(a, minus)]);
            }
            (Some(FloatOp::Sub(w)), Some((a, b))) if w == width => {
                todo.extend([Addend::new(b, !minus), Addend::new(a, minus)]);
            }
            (Some(FloatOp::Mul(w)), Some((a, b)))
                if w == width && finite(arena, b).is_some_and(|c| c.sign()) && arena.as_const(a).is_none() =>
            {
                let c = finite(arena, b).map_or(b, |c| arena.constant(negated(c)));
                let positive = arena.float(FloatOp::Mul(width), &[a, c]);
                todo.push(Addend::new(positive, !minus));
            }
            _ => match negation(arena, term) {
                Some(inner) => todo.push(Addend::new(inner, !minus)),
                None => out.push(Addend { term, minus }),
            },
        }
    }
    Some(out)
}

/// The sum of addends that [`addends`] gave.
pub(super) fn sum(arena: &mut Arena, width: u16, addends: &[Addend]) -> TermId {
    let mut sorted = addends.to_vec();
    sorted.sort_unstable();
    let mut constants: Vec<Bits> = Vec::new();
    let (mut plus, mut minus) = (Vec::new(), Vec::new());
    for addend in sorted {
        match finite(arena, addend.term) {
            Some(c) => constants.push(if addend.minus { negated(c) } else { c }),
            None if addend.minus => minus.push(addend.term),
            None => plus.push(addend.term),
        }
    }
    exact::merge(&mut constants, exact::sum);
    // A zero is the only constant then. It goes last: whether it goes away is the business of other rules.
    let zero = constants.pop_if(|c| is_zero(*c));
    let mut constants = constants.into_iter();
    let mut total = chain(arena, FloatOp::Add(width), &plus);
    if total.is_none() && !minus.is_empty() {
        total = constants.next().map(|c| arena.constant(c));
    }
    total = match total {
        Some(first) => Some(minus.iter().fold(first, |sum, term| apply(arena, FloatOp::Sub(width), sum, *term))),
        None => chain(arena, FloatOp::Add(width), &minus).map(|sum| negate(arena, sum)),
    };
    for c in constants {
        let c = arena.constant(c);
        total = Some(total.map_or(c, |sum| apply(arena, FloatOp::Add(width), sum, c)));
    }
    let zero = zero.map(|c| arena.constant(c));
    match (total, zero) {
        (Some(sum), Some(zero)) => arena.float(FloatOp::Add(width), &[sum, zero]),
        (Some(only), None) | (None, Some(only)) => only,
        (None, None) => arena.constant(Bits::zero(width)),
    }
}

/// The factors of a product of products. Nothing if there are too many.
pub(super) fn factors(arena: &Arena, width: u16, product: &[TermId]) -> Option<Product> {
    let mut todo: Vec<TermId> = product.to_vec();
    let mut out = Product::default();
    while let Some(term) = todo.pop() {
        if out.factors.len() + out.constants.len() + todo.len() >= MOST_PARTS {
            return None;
        }
        match (applied(arena, term), arena.args(term)) {
            (Some(FloatOp::Mul(w)), args) if w == width => todo.extend_from_slice(args),
            (Some(FloatOp::Add(w)), [a, b]) if w == width && a == b => {
                out.constants.push(number(width, 2.0));
                todo.push(*a);
            }
            _ => match (negation(arena, term), finite(arena, term)) {
                (Some(inner), _) => {
                    out.minus = !out.minus;
                    todo.push(inner);
                }
                (None, Some(c)) => {
                    out.minus ^= c.sign();
                    out.constants.push(if c.sign() { negated(c) } else { c });
                }
                (None, None) => out.factors.push(term),
            },
        }
    }
    Some(out)
}

/// The product of factors that [`factors`] gave.
pub(super) fn product(arena: &mut Arena, width: u16, mut parts: Product) -> TermId {
    parts.factors.sort_unstable();
    exact::merge(&mut parts.constants, exact::product);
    let Some(mut total) = chain(arena, FloatOp::Mul(width), &parts.factors) else {
        let one = arena.constant(number(width, 1.0));
        let total = parts.constants.iter().fold(one, |all, c| {
            let c = arena.constant(*c);
            arena.float(FloatOp::Mul(width), &[all, c])
        });
        return if parts.minus { negate(arena, total) } else { total };
    };
    let (one, two) = (number(width, 1.0), number(width, 2.0));
    parts.constants.retain(|c| *c != one);
    // Twice something, and minus it, are no products.
    let takes_sign = parts.constants.last().is_some_and(|c| *c != two);
    let last = parts.constants.len().wrapping_sub(1);
    for (i, c) in parts.constants.into_iter().enumerate() {
        if c == two {
            total = arena.float(FloatOp::Add(width), &[total, total]);
            continue;
        }
        let signed = i == last && parts.minus;
        let factor = arena.constant(if signed { negated(c) } else { c });
        total = match is_zero(c) {
            true => arena.float(FloatOp::Mul(width), &[total, factor]),
            false => apply(arena, FloatOp::Mul(width), total, factor),
        };
    }
    if parts.minus && !takes_sign { negate(arena, total) } else { total }
}

/// Terms put together from the left.
fn chain(arena: &mut Arena, op: FloatOp, terms: &[TermId]) -> Option<TermId> {
    let (first, rest) = terms.split_first()?;
    Some(rest.iter().fold(*first, |all, term| apply(arena, op, all, *term)))
}

/// An operation as written, its operands in the order of `float-order`.
fn apply(arena: &mut Arena, op: FloatOp, a: TermId, b: TermId) -> TermId {
    let func = arena.func_id(crate::Func::Float(op));
    let swapped = match op {
        FloatOp::Sub(_) => false,
        _ => arena.as_const(a).is_some() || arena.as_const(b).is_none() && b < a,
    };
    arena.raw(Op::Apply(func), &if swapped { [b, a] } else { [a, b] })
}

fn is_zero(c: Bits) -> bool {
    c.shl(Bits::new(c.width(), 1)).is_zero()
}
