//! Rules about floats that hold for real numbers only. Each runs where its axioms are allowed, and is remembered.
//!
//! With `reassoc` sums and products are flattened and have one form (`polynomial.rs`). With `distribute` a product with a
//! sum is a sum of products, never the other way round, unless that would have more than [`MOST_PRODUCTS`] addends;
//! multiples of one term by constants are one multiple. Both together make sums of products with coefficients.
//!
//! Termination: products with sums become smaller products, which no rule turns back. Collecting leaves fewer addends.
//! The forms of `polynomial.rs` are their own forms.

use super::float::{applied, float, negation, number};
use super::polynomial::{Addend, addends, factors, finite, negate, product, sum};
use super::{Rule, axiom, exact};
use crate::{Arena, Axiom, Bits, FloatOp, Op, TermId};
use std::collections::BTreeMap;

/// A product of sums with more addends than this stays one.
const MOST_PRODUCTS: usize = 64;

pub(super) const ADD_ZERO: Rule = axiom("real-add-zero", &[Axiom::AddZero], add_zero);
pub(super) const MUL_ZERO: Rule = axiom("real-mul-zero", &[Axiom::MulZero], mul_zero);
pub(super) const DISTRIBUTE: Rule = axiom("real-distribute", &[Axiom::Distribute], distribute);
pub(super) const COEFFICIENTS: Rule = axiom("real-coefficients", &[Axiom::Distribute], coefficients);
pub(super) const COLLECT: Rule = axiom("real-collect", &[Axiom::Reassociate, Axiom::Distribute], collect);
pub(super) const REASSOCIATE: Rule = axiom("real-reassociate", &[Axiom::Reassociate], reassociate);
/// For the exclusive or with the sign.
pub(super) const NEGATE: Rule = axiom("real-negate", &[Axiom::Reassociate], negate_parts);

/// `x + 0 = x` and `0 − x = −x`.
fn add_zero(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let zero = |arena: &Arena, i: usize, w: u16| {
        let c = args.get(i).and_then(|arg| arena.as_const(*arg));
        c.is_some_and(|c| c == number(w, 0.0) || c == number(w, -0.0))
    };
    match float(arena, op)? {
        FloatOp::Add(w) if zero(arena, 1, w) => Some(args[0]),
        FloatOp::Sub(w) if zero(arena, 0, w) => Some(negate(arena, args[1])),
        _ => None,
    }
}

/// `x·0 = 0`.
fn mul_zero(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Mul(w) = float(arena, op)? else { return None };
    let c = arena.as_const(args[1])?;
    (c == number(w, 0.0) || c == number(w, -0.0)).then(|| arena.constant(Bits::zero(w)))
}

/// `(a ± b)·c = a·c ± b·c`.
fn distribute(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Mul(w) = float(arena, op)? else { return None };
    let &[a, b] = args else { return None };
    let (left, right) = (count(arena, w, a), count(arena, w, b));
    if left * right < 2 || left * right > MOST_PRODUCTS {
        return None;
    }
    let (sum, factor) = if left > 1 { (a, b) } else { (b, a) };
    let of = arena.args(sum).to_vec();
    if let Some(inner) = negation(arena, sum) {
        let positive = arena.float(FloatOp::Mul(w), &[inner, factor]);
        return Some(negate(arena, positive));
    }
    let operation = applied(arena, sum)?;
    let &[x, y] = &of[..] else { return None };
    let (x, y) = (arena.float(FloatOp::Mul(w), &[x, factor]), arena.float(FloatOp::Mul(w), &[y, factor]));
    Some(arena.float(operation, &[x, y]))
}

/// How many addends a sum has, at most a little more than may be multiplied.
fn count(arena: &Arena, width: u16, term: TermId) -> usize {
    let (mut todo, mut found) = (vec![term], 0);
    while let Some(term) = todo.pop() {
        match applied(arena, term) {
            Some(FloatOp::Add(w) | FloatOp::Sub(w)) if w == width => todo.extend_from_slice(arena.args(term)),
            _ => match negation(arena, term) {
                Some(inner) => todo.push(inner),
                None => found += 1,
            },
        }
        if found + todo.len() > MOST_PRODUCTS {
            return MOST_PRODUCTS + 1;
        }
    }
    found
}

/// The operands of a sum or a difference.
fn operands(arena: &Arena, op: Op, args: &[TermId]) -> Option<(u16, [Addend; 2])> {
    let (width, minus) = match float(arena, op)? {
        FloatOp::Add(width) => (width, false),
        FloatOp::Sub(width) => (width, true),
        _ => return None,
    };
    Some((width, [Addend::new(args[0], false), Addend::new(args[1], minus)]))
}

/// `c·x ± d·x = (c ± d)·x`.
fn coefficients(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (width, both) = operands(arena, op, args)?;
    let [(x, c), (y, d)] = both.map(|addend| multiple(arena, width, addend));
    if x != y || args[0] == args[1] && both[1].minus == both[0].minus {
        return None;
    }
    let both = exact::sum(c, d)?;
    let both = arena.constant(both);
    Some(arena.float(FloatOp::Mul(width), &[x, both]))
}

/// An addend as a term and a coefficient.
fn multiple(arena: &Arena, width: u16, addend: Addend) -> (TermId, Bits) {
    let (mut term, mut minus) = (addend.term, addend.minus);
    if let Some(inner) = negation(arena, term) {
        (term, minus) = (inner, !minus);
    }
    let one = number(width, if minus { -1.0 } else { 1.0 });
    let &[x, c] = arena.args(term) else { return (term, one) };
    match (applied(arena, term), finite(arena, c)) {
        (Some(FloatOp::Mul(w)), Some(c)) if w == width && arena.as_const(x).is_none() => {
            (x, if minus { super::float::negated(c) } else { c })
        }
        (Some(FloatOp::Add(w)), _) if w == width && x == c => (x, number(width, if minus { -2.0 } else { 2.0 })),
        _ => (term, one),
    }
}

/// Multiples of the same term in a sum are one multiple.
fn collect(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (width, both) = operands(arena, op, args)?;
    let mut parts = addends(arena, width, &both)?;
    let mut multiples: BTreeMap<TermId, Vec<Bits>> = BTreeMap::new();
    let mut collected: Vec<Addend> = Vec::new();
    for part in &parts {
        if finite(arena, part.term).is_some() {
            collected.push(*part);
            continue;
        }
        let (term, coefficient) = multiple(arena, width, *part);
        multiples.entry(term).or_default().push(coefficient);
    }
    for (term, mut coefficients) in multiples {
        exact::merge(&mut coefficients, exact::sum);
        for c in coefficients {
            let (size, minus) = if c.sign() { (super::float::negated(c), true) } else { (c, false) };
            let addend = Addend::new(term, minus);
            if size == number(width, 1.0) {
                collected.push(addend);
            } else if size == number(width, 2.0) {
                collected.extend([addend, addend]);
            } else {
                let size = arena.constant(size);
                collected.push(Addend::new(arena.float(FloatOp::Mul(width), &[term, size]), minus));
            }
        }
    }
    parts.sort_unstable();
    collected.sort_unstable();
    (parts != collected).then(|| sum(arena, width, &collected))
}

/// Sums and products in the form of `polynomial.rs`.
fn reassociate(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if let FloatOp::Mul(width) = float(arena, op)? {
        let parts = factors(arena, width, args)?;
        return Some(product(arena, width, parts));
    }
    let (width, both) = operands(arena, op, args)?;
    let parts = addends(arena, width, &both)?;
    Some(sum(arena, width, &parts))
}

/// `−(a − b) = b − a` and `−(x·c) = x·(−c)`.
fn negate_parts(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    if !matches!(width, 32 | 64) || arena.as_const(args[1])? != number(width, -0.0) {
        return None;
    }
    match applied(arena, args[0])? {
        FloatOp::Add(_) | FloatOp::Sub(_) => {
            let parts = addends(arena, width, &[Addend::new(args[0], true)])?;
            Some(sum(arena, width, &parts))
        }
        FloatOp::Mul(_) => {
            let mut parts = factors(arena, width, &args[..1])?;
            parts.minus = !parts.minus;
            Some(product(arena, width, parts))
        }
        _ => None,
    }
}
