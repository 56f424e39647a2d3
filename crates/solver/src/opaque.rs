//! Products and quotients as opaque values, for questions that no solver answers by their bits.
//!
//! Each product of two variable factors and each quotient or remainder becomes a new variable, and the assertions get
//! instances of theorems about them: equal operands give equal values; a signed operation on two numbers without a sign
//! is the unsigned one; a narrow operation on the low parts is the wide one if nothing is cut off (what compilers make of
//! a 64-bit division whose operands turn out small); quotient and remainder by a constant belong together.
//!
//! Replacing terms by variables only adds models, and theorems take none away: if the new assertions have no model,
//! the old ones have none. Nothing else is concluded.
//!
//! Trust: full. A wrong theorem makes wrong proofs; `crates/solver/tests/opaque.rs` proves each of them at small widths.

use rustc_hash::FxHashMap;
use term::{Arena, Op, Sort, TermId};

/// More opaque values than this make too many pairs.
const MOST_VALUES: usize = 24;
/// Operations narrower than this are left to the solver.
const NARROWEST: u16 = 16;

/// One operation that became a variable.
#[derive(Clone, Copy)]
struct Opaque {
    op: Op,
    /// Operands, in which inner operations are variables too.
    a: TermId,
    b: TermId,
    value: TermId,
}

/// The assertions with opaque products and quotients; `None` if there are none or too many.
pub(crate) fn abstracted(arena: &mut Arena, assertions: &[TermId]) -> Option<Vec<TermId>> {
    let found: Vec<TermId> = arena.topological(assertions).into_iter().filter(|t| is_hard(arena, *t)).collect();
    if found.is_empty() || found.len() > MOST_VALUES {
        return None;
    }
    let mut variables: FxHashMap<TermId, TermId> = FxHashMap::default();
    let mut values: Vec<Opaque> = Vec::new();
    for (i, term) in found.into_iter().enumerate() {
        let (op, sort) = (arena.op(term), arena.sort(term));
        let operands = [0, 1].map(|i| arena.arg(term, i));
        let [a, b] = operands.map(|t| arena.replace(t, &variables));
        let width = arena.width(term);
        let value = arena.var(&format!("opaque!{i}.{width}"), sort);
        variables.insert(term, value);
        values.push(Opaque { op, a, b, value });
    }
    let mut out: Vec<TermId> = assertions.iter().map(|t| arena.replace(*t, &variables)).collect();
    for (i, x) in values.iter().enumerate() {
        out.extend(bounds(arena, x));
        for y in &values[..i] {
            out.extend(relation(arena, y, x));
        }
    }
    Some(out)
}

fn is_hard(arena: &Arena, term: TermId) -> bool {
    let variable = |i: usize| arena.as_const(arena.arg(term, i)).is_none();
    match arena.op(term) {
        Op::Mul => variable(1) && arena.width(term) >= NARROWEST,
        Op::Udiv | Op::Urem | Op::Sdiv | Op::Srem => arena.width(term) >= NARROWEST,
        _ => false,
    }
}

fn is_signed(op: Op) -> bool {
    matches!(op, Op::Sdiv | Op::Srem)
}

/// Are both quotients, or both remainders?
fn same_kind(a: Op, b: Op) -> bool {
    let kind = |op: Op| match op {
        Op::Udiv | Op::Sdiv => 0,
        Op::Urem | Op::Srem => 1,
        _ => 2,
    };
    kind(a) == kind(b)
}

/// What is known of one value alone.
fn bounds(arena: &mut Arena, x: &Opaque) -> Option<TermId> {
    let zero = zero(arena, x.b);
    let by_zero = arena.eq(x.b, zero);
    let fine = match x.op {
        Op::Udiv => arena.ule(x.value, x.a),
        Op::Urem => arena.ult(x.value, x.b),
        Op::Mul => {
            // A factor of zero.
            let a_zero = arena.eq(x.a, zero);
            let any = arena.bool_or(a_zero, by_zero);
            let nothing = arena.eq(x.value, zero);
            return Some(arena.implies(any, nothing));
        }
        _ => return None,
    };
    Some(arena.bool_or(by_zero, fine))
}

fn zero(arena: &mut Arena, like: TermId) -> TermId {
    let width = arena.width(like);
    arena.bv(width, 0)
}

/// What two values have to do with each other.
fn relation(arena: &mut Arena, x: &Opaque, y: &Opaque) -> Option<TermId> {
    let (wide, narrow) = if arena.width(x.value) >= arena.width(y.value) { (x, y) } else { (y, x) };
    if wide.op == Op::Mul || narrow.op == Op::Mul {
        return products(arena, wide, narrow);
    }
    if !same_kind(wide.op, narrow.op) {
        return parts(arena, wide, narrow);
    }
    let width = arena.width(wide.value);
    let same_width = width == arena.width(narrow.value);
    if same_width && wide.op == narrow.op {
        let (a, b, value) =
            (arena.eq(wide.a, narrow.a), arena.eq(wide.b, narrow.b), arena.eq(wide.value, narrow.value));
        let equal = arena.bool_and(a, b);
        return Some(arena.implies(equal, value));
    }
    // Numbers without a sign in both readings, the narrow ones extended; the divisor is not zero.
    let [a, b, value] = [narrow.a, narrow.b, narrow.value].map(|t| arena.zext(t, width));
    let mut when = vec![arena.eq(wide.a, a), arena.eq(wide.b, b)];
    let nothing = zero(arena, narrow.b);
    when.push(arena.ne(narrow.b, nothing));
    for operation in [wide, narrow].into_iter().filter(|o| is_signed(o.op)) {
        for operand in [operation.a, operation.b] {
            let nothing = zero(arena, operand);
            when.push(arena.sle(nothing, operand));
        }
    }
    let when = arena.bool_and_all(&when);
    let equal = arena.eq(wide.value, value);
    Some(arena.implies(when, equal))
}

/// Two products with the same factors.
fn products(arena: &mut Arena, x: &Opaque, y: &Opaque) -> Option<TermId> {
    if x.op != y.op || arena.width(x.value) != arena.width(y.value) {
        return None;
    }
    let mut same = Vec::new();
    for (a, b) in [(y.a, y.b), (y.b, y.a)] {
        let (first, second) = (arena.eq(x.a, a), arena.eq(x.b, b));
        same.push(arena.bool_and(first, second));
    }
    let same = arena.bool_or_all(&same);
    let equal = arena.eq(x.value, y.value);
    Some(arena.implies(same, equal))
}

/// A quotient and a remainder of the same operands, by a constant: `a = q·b + r`.
fn parts(arena: &mut Arena, x: &Opaque, y: &Opaque) -> Option<TermId> {
    let (quotient, rest) = if matches!(x.op, Op::Udiv | Op::Sdiv) { (x, y) } else { (y, x) };
    let same = is_signed(quotient.op) == is_signed(rest.op)
        && arena.sort(quotient.value) == arena.sort(rest.value)
        && quotient.b == rest.b
        && arena.as_const(rest.b).is_some();
    if !same {
        return None;
    }
    let product = arena.mul(quotient.value, quotient.b);
    let sum = arena.add(product, rest.value);
    let (a, equal) = (arena.eq(quotient.a, rest.a), arena.eq(sum, quotient.a));
    Some(arena.implies(a, equal))
}

/// The theorems as statements about real operations, for the tests: each must hold for all operands.
#[doc(hidden)]
pub fn theorems(arena: &mut Arena, wide: u16, narrow: u16) -> Vec<TermId> {
    let mut values = Vec::new();
    for width in [wide, narrow] {
        for op in [Op::Udiv, Op::Urem, Op::Sdiv, Op::Srem, Op::Mul] {
            for i in 0..2 {
                let [a, b] = ["a", "b"].map(|n| arena.var(&format!("{n}{i}.{width}"), Sort::Bv(width)));
                let value = arena.raw(op, &[a, b]);
                values.push(Opaque { op, a, b, value });
            }
        }
    }
    let five = arena.bv(wide, 5);
    for op in [Op::Udiv, Op::Urem, Op::Sdiv, Op::Srem] {
        let a = arena.var(&format!("a0.{wide}"), Sort::Bv(wide));
        let value = arena.raw(op, &[a, five]);
        values.push(Opaque { op, a, b: five, value });
    }
    let mut out = Vec::new();
    for (i, x) in values.iter().enumerate() {
        out.extend(bounds(arena, x));
        for y in &values[..i] {
            out.extend(relation(arena, y, x));
        }
    }
    out
}
