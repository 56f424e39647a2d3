//! Floating-point operations.
//!
//! Rules that hold bit for bit need no remark. Where two forms differ only in the sign or payload of a NaN, the arena
//! remembers that the assumption `nan-payload` was used ([`Arena::used_nan_payload`]).
//!
//! Of two floats exactly one holds: less, equal, greater, unordered. Conditions on one pair are sets of these outcomes;
//! [`both`] writes equal sets as equal terms.

use super::{FOLD, Rule, axioms, rule, view};
use crate::{Arena, Bits, FloatOp, Func, Op, TermId};

/// Rules for applications.
pub(super) const APPLY: &[Rule] = &[
    FOLD,
    rule("float-order", order),
    rule("float-minimum", minimum),
    rule("float-double", double),
    rule("float-one", one),
    rule("float-divide-power", divide_power),
    rule("float-subtract-constant", subtract_constant),
    rule("float-add-negated", add_negated),
    rule("float-compare-same", compare_same),
    rule("float-compare-constant", compare_constant),
    rule("float-compare-converted", compare_converted),
    rule("float-convert", convert),
    rule("float-narrow", narrow),
    rule("float-from-extended", from_extended),
    // Last, so that what holds anyhow does not rest on an axiom.
    axioms::ADD_ZERO,
    axioms::MUL_ZERO,
    axioms::DISTRIBUTE,
    axioms::COEFFICIENTS,
    axioms::COLLECT,
    axioms::REASSOCIATE,
];

pub(super) fn float(arena: &Arena, op: Op) -> Option<FloatOp> {
    match op {
        Op::Apply(func) => match arena.func(func) {
            Func::Float(float) => Some(*float),
            Func::Opaque { .. } => None,
        },
        _ => None,
    }
}

pub(super) fn applied(arena: &Arena, term: TermId) -> Option<FloatOp> {
    float(arena, arena.op(term))
}

fn is_nan(c: Bits) -> bool {
    FloatOp::Unordered(c.width()).eval(&[c, c]).low() == 1
}

/// The float with this value, of width 32 or 64.
pub(super) fn number(width: u16, value: f64) -> Bits {
    if width == 32 { Bits::new(32, u64::from((value as f32).to_bits())) } else { Bits::new(64, value.to_bits()) }
}

pub(super) fn negated(c: Bits) -> Bits {
    c.xor(super::interval::signed_min(c.width()))
}

/// Operands of commutative operations sorted, constant last.
fn order(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let operation = float(arena, op)?;
    if !matches!(operation, FloatOp::Add(_) | FloatOp::Mul(_) | FloatOp::Eq(_) | FloatOp::Unordered(_)) {
        return None;
    }
    let (first, second) = (arena.as_const(args[0]), arena.as_const(args[1]));
    let wrong = match (first, second) {
        (Some(_), _) => true,
        (None, None) => args[1] < args[0],
        (None, Some(_)) => false,
    };
    if !wrong {
        return None;
    }
    // With one operand certainly no NaN the result's payload has one source only.
    let sensitive = matches!(operation, FloatOp::Add(_) | FloatOp::Mul(_)) && first.is_none_or(is_nan);
    arena.swapped_float |= sensitive;
    Some(arena.make(op, &[args[1], args[0]]))
}

/// x86's minimum and maximum are choices.
fn minimum(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let operation = float(arena, op)?;
    let &[a, b] = args else { return None };
    let less = match operation {
        FloatOp::Min(w) => arena.float(FloatOp::Lt(w), &[a, b]),
        FloatOp::Max(w) => arena.float(FloatOp::Lt(w), &[b, a]),
        _ => return None,
    };
    Some(arena.ite(less, a, b))
}

/// `x·2 = x + x`.
fn double(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Mul(width) = float(arena, op)? else { return None };
    let c = arena.as_const(args[1])?;
    (c == number(width, 2.0)).then(|| arena.float(FloatOp::Add(width), &[args[0], args[0]]))
}

/// `x·1 = x`, `x·(−1) = −x`, `x + (−0) = x`, up to the quieting and sign of a NaN.
fn one(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let operation = float(arena, op)?;
    let c = args.get(1).and_then(|arg| arena.as_const(*arg))?;
    let out = match operation {
        FloatOp::Mul(w) if c == number(w, 1.0) => args[0],
        FloatOp::Add(w) if c == number(w, -0.0) => args[0],
        FloatOp::Mul(w) if c == number(w, -1.0) => {
            let sign = arena.constant(number(w, -0.0));
            arena.xor(args[0], sign)
        }
        _ => return None,
    };
    arena.swapped_float = true;
    Some(out)
}

/// Division by a power of two is multiplication by its inverse when that is a normal number.
fn divide_power(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Div(width) = float(arena, op)? else { return None };
    let c = arena.as_const(args[1])?;
    let (mantissa, bias) = if width == 32 { (23, 127u64) } else { (52, 1023) };
    let exponent = c.extract(width - 2, mantissa).low();
    // Exponent fields 1 .. 2·bias − 1 are normal numbers and so is the inverse's field, 2·bias − exponent.
    if !c.extract(mantissa - 1, 0).is_zero() || exponent == 0 || exponent > 2 * bias - 1 {
        return None;
    }
    let inverse = Bits::new(width, (2 * bias - exponent) << mantissa);
    let inverse = arena.constant(if c.sign() { negated(inverse) } else { inverse });
    Some(arena.float(FloatOp::Mul(width), &[args[0], inverse]))
}

/// `x − c = x + (−c)`.
fn subtract_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Sub(width) = float(arena, op)? else { return None };
    let c = arena.as_const(args[1])?;
    if is_nan(c) {
        return None;
    }
    let c = arena.constant(negated(c));
    Some(arena.float(FloatOp::Add(width), &[args[0], c]))
}

/// `−x` as bits.
pub(super) fn negation(arena: &Arena, term: TermId) -> Option<TermId> {
    if arena.op(term) != Op::BvXor {
        return None;
    }
    let c = arena.as_const(arena.arg(term, 1))?;
    (c == super::interval::signed_min(c.width())).then(|| arena.arg(term, 0))
}

/// `x + (−y) = x − y` and `x − (−y) = x + y`, up to the sign of a NaN.
fn add_negated(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let (a, b, result) = match float(arena, op)? {
        FloatOp::Add(w) => match (negation(arena, args[0]), negation(arena, args[1])) {
            (_, Some(y)) => (args[0], y, FloatOp::Sub(w)),
            (Some(x), None) => (args[1], x, FloatOp::Sub(w)),
            (None, None) => return None,
        },
        FloatOp::Sub(w) => (args[0], negation(arena, args[1])?, FloatOp::Add(w)),
        _ => return None,
    };
    arena.swapped_float = true;
    Some(arena.float(result, &[a, b]))
}

/// `x < x` is false; `x = x` says that x is no NaN.
fn compare_same(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let operation = float(arena, op)?;
    if args.len() != 2 || args[0] != args[1] {
        return None;
    }
    match operation {
        FloatOp::Lt(_) => Some(arena.bool(false)),
        FloatOp::Eq(w) => {
            let nan = arena.float(FloatOp::Unordered(w), args);
            Some(arena.bool_not(nan))
        }
        _ => None,
    }
}

/// A constant that is no NaN does not make a comparison unordered.
fn compare_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Unordered(_) = float(arena, op)? else { return None };
    let c = arena.as_const(args[1])?;
    if is_nan(c) {
        return Some(arena.bool(true));
    }
    Some(arena.make(op, &[args[0], args[0]]))
}

/// Comparisons of converted floats are comparisons before conversion.
fn compare_converted(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let narrow = match float(arena, op)? {
        FloatOp::Lt(64) => FloatOp::Lt(32),
        FloatOp::Eq(64) => FloatOp::Eq(32),
        FloatOp::Unordered(64) => FloatOp::Unordered(32),
        _ => return None,
    };
    if args.iter().all(|arg| arena.as_const(*arg).is_some()) {
        return None;
    }
    let (a, b) = (widened(arena, args[0])?, widened(arena, args[1])?);
    Some(arena.float(narrow, &[a, b]))
}

/// The 32-bit float that a 64-bit one was converted from, a constant if that loses nothing.
fn widened(arena: &mut Arena, term: TermId) -> Option<TermId> {
    let up = FloatOp::Convert { from: 32, to: 64 };
    if applied(arena, term) == Some(up) {
        return Some(arena.arg(term, 0));
    }
    let c = arena.as_const(term)?;
    let low = FloatOp::Convert { from: 64, to: 32 }.eval(&[c]);
    (!is_nan(c) && up.eval(&[low]) == c).then(|| arena.constant(low))
}

/// An operation of 64 bits on floats of 32, rounded to 32, is the operation of 32, up to the quieting of a NaN.
///
/// Theorem (Figueroa 1995; with underflow Roux 2014): rounding to `q` digits and then to `p` is rounding to `p` for sums, differences,
/// products, quotients and square roots of numbers of `p` digits, if `q ≥ 2p + 2` and the range of exponents is twice as large. Here
/// `p` is 24 and `q` is 53.
fn narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Convert { from: 64, to: 32 } = float(arena, op)? else { return None };
    let narrow = match applied(arena, args[0])? {
        FloatOp::Add(64) => FloatOp::Add(32),
        FloatOp::Sub(64) => FloatOp::Sub(32),
        FloatOp::Mul(64) => FloatOp::Mul(32),
        FloatOp::Div(64) => FloatOp::Div(32),
        FloatOp::Sqrt(64) => FloatOp::Sqrt(32),
        _ => return None,
    };
    let operands: Vec<TermId> = arena.args(args[0]).to_vec();
    let operands = operands.into_iter().map(|term| widened(arena, term)).collect::<Option<Vec<TermId>>>()?;
    arena.swapped_float = true;
    Some(arena.float(narrow, &operands))
}

/// Conversions that lose nothing cancel or fuse.
fn convert(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::Convert { from: 64, to: 32 } = float(arena, op)? else { return None };
    let inner = arena.args(args[0]).first().copied();
    match applied(arena, args[0])? {
        FloatOp::Convert { from: 32, to: 64 } => {
            // A signalling NaN comes back quiet.
            arena.swapped_float = true;
            inner
        }
        // Every 32-bit integer is a 64-bit float, so there is one rounding only.
        FloatOp::FromInt { from: 32, to: 64 } => Some(arena.float(FloatOp::FromInt { from: 32, to: 32 }, &[inner?])),
        _ => None,
    }
}

/// The float of an extended integer is the float of the integer.
fn from_extended(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let FloatOp::FromInt { from: 64, to } = float(arena, op)? else { return None };
    let (kind, parts) = view::open(arena, args[0]);
    let inner = match kind {
        Op::Sext(_) if arena.width(parts[0]) <= 32 => arena.sext(parts[0], 32),
        Op::Zext(_) if arena.width(parts[0]) < 32 => arena.zext(parts[0], 32),
        _ => return None,
    };
    Some(arena.float(FloatOp::FromInt { from: 32, to }, &[inner]))
}

const LESS: u8 = 1;
const EQUAL: u8 = 2;
const GREATER: u8 = 4;
const UNORDERED: u8 = 8;
const ALL: u8 = 15;

/// A condition on two floats (in the order of their handles) as a set of outcomes.
fn outcomes(arena: &Arena, term: TermId) -> Option<(TermId, TermId, u16, u8)> {
    match arena.op(term) {
        Op::Not => {
            let (a, b, width, set) = outcomes(arena, arena.arg(term, 0))?;
            Some((a, b, width, ALL & !set))
        }
        Op::And | Op::Or if arena.args(term).len() == 2 => {
            let (a, b, width, first) = atom(arena, arena.arg(term, 0))?;
            let (c, d, _, second) = atom(arena, arena.arg(term, 1))?;
            let set = if arena.op(term) == Op::And { first & second } else { first | second };
            ((a, b) == (c, d)).then_some((a, b, width, set))
        }
        _ => atom(arena, term),
    }
}

fn atom(arena: &Arena, term: TermId) -> Option<(TermId, TermId, u16, u8)> {
    if arena.op(term) == Op::Not {
        let (a, b, width, set) = atom(arena, arena.arg(term, 0))?;
        return Some((a, b, width, ALL & !set));
    }
    let (width, set) = match applied(arena, term)? {
        FloatOp::Lt(w) => (w, LESS),
        FloatOp::Eq(w) => (w, EQUAL),
        FloatOp::Unordered(w) => (w, UNORDERED),
        _ => return None,
    };
    let (a, b) = (arena.arg(term, 0), arena.arg(term, 1));
    if a == b {
        return None;
    }
    let swapped = b < a;
    let (a, b) = if swapped { (b, a) } else { (a, b) };
    Some((a, b, width, if swapped && set == LESS { GREATER } else { set }))
}

/// `p ∧ q` for two conditions on the same floats, in canonical form.
pub(super) fn both(arena: &mut Arena, p: TermId, q: TermId) -> Option<TermId> {
    let (a, b, width, first) = outcomes(arena, p)?;
    let (c, d, _, second) = outcomes(arena, q)?;
    if (a, b) != (c, d) {
        return None;
    }
    let set = first & second;
    if set == first {
        return Some(p);
    }
    if set == second {
        return Some(q);
    }
    if set == 0 || set == ALL {
        return Some(arena.bool(set == ALL));
    }
    let one = |arena: &mut Arena, outcome: u8| match outcome {
        LESS => arena.float(FloatOp::Lt(width), &[a, b]),
        EQUAL => arena.float(FloatOp::Eq(width), &[a, b]),
        GREATER => arena.float(FloatOp::Lt(width), &[b, a]),
        _ => arena.float(FloatOp::Unordered(width), &[a, b]),
    };
    match set.count_ones() {
        1 => Some(one(arena, set)),
        3 => {
            let other = one(arena, ALL & !set);
            Some(arena.bool_not(other))
        }
        _ => {
            // A pair with `equal` is a disjunction, a pair without it the negation of one.
            let pair = if set & EQUAL != 0 { set } else { ALL & !set };
            let other = one(arena, pair & !EQUAL);
            let equal = one(arena, EQUAL);
            let mut both = [equal, other];
            both.sort_unstable();
            let either = arena.raw(Op::Or, &both);
            if set & EQUAL != 0 {
                return Some(either);
            }
            let mut neither = both.map(|t| arena.bool_not(t));
            neither.sort_unstable();
            let mut given = [p, q];
            given.sort_unstable();
            (neither != given).then(|| arena.raw(Op::And, &neither))
        }
    }
}

/// Is this a condition that [`both`] understands?
pub(super) fn is_condition(arena: &Arena, term: TermId) -> bool {
    outcomes(arena, term).is_some()
}

#[cfg(test)]
mod tests {
    use super::super::testing::gives;
    use crate::{Arena, Bits, FloatOp, Sort, TermId};
    use expect_test::expect;

    fn doubles(arena: &mut Arena) -> (TermId, TermId) {
        (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)))
    }

    fn number(arena: &mut Arena, value: f64) -> TermId {
        arena.constant(Bits::new(64, value.to_bits()))
    }

    #[test]
    fn conditions_after_ucomisd() {
        // ja: neither CF (unordered or less) nor ZF (unordered or equal).
        gives(
            |a| {
                let (x, y) = doubles(a);
                let unordered = a.float(FloatOp::Unordered(64), &[x, y]);
                let (less, equal) = (a.float(FloatOp::Lt(64), &[x, y]), a.float(FloatOp::Eq(64), &[x, y]));
                let (carry, zero) = (a.bool_or(unordered, less), a.bool_or(unordered, equal));
                let either = a.bool_or(carry, zero);
                a.bool_not(either)
            },
            expect!["flt64(y, x)"],
        );
        // jae
        gives(
            |a| {
                let (x, y) = doubles(a);
                let unordered = a.float(FloatOp::Unordered(64), &[x, y]);
                let less = a.float(FloatOp::Lt(64), &[x, y]);
                let carry = a.bool_or(unordered, less);
                a.bool_not(carry)
            },
            expect!["flt64(y, x) || feq64(x, y)"],
        );
    }

    #[test]
    fn arithmetic_has_one_form() {
        gives(
            |a| {
                let ((x, _), c) = (doubles(a), number(a, 1.5));
                a.float(FloatOp::Sub(64), &[x, c])
            },
            expect!["fadd64(x, 0xbff8000000000000)"],
        );
        gives(
            |a| {
                let ((x, _), c) = (doubles(a), number(a, 2.0));
                a.float(FloatOp::Mul(64), &[c, x])
            },
            expect!["fadd64(x, x)"],
        );
        gives(
            |a| {
                let ((x, _), c) = (doubles(a), number(a, 8.0));
                a.float(FloatOp::Div(64), &[x, c])
            },
            expect!["fmul64(x, 0x3fc0000000000000)"],
        );
        gives(
            |a| {
                let ((x, _), c) = (doubles(a), number(a, 3.0));
                a.float(FloatOp::Div(64), &[x, c])
            },
            expect!["fdiv64(x, 0x4008000000000000)"],
        );
        gives(
            |a| {
                let (x, y) = doubles(a);
                a.float(FloatOp::Min(64), &[x, y])
            },
            expect!["flt64(x, y) ? x : y"],
        );
    }

    #[test]
    fn operations_on_widened_floats_are_narrow() {
        let wide = |a: &mut Arena, name: &str| {
            let x = a.var(name, Sort::Bv(32));
            a.float(FloatOp::Convert { from: 32, to: 64 }, &[x])
        };
        let down = FloatOp::Convert { from: 64, to: 32 };
        gives(
            |a| {
                let (x, y) = (wide(a, "x"), wide(a, "y"));
                let quotient = a.float(FloatOp::Div(64), &[x, y]);
                a.float(down, &[quotient])
            },
            expect!["fdiv32(x, y)"],
        );
        gives(
            |a| {
                let (x, c) = (wide(a, "x"), number(a, 1.5));
                let difference = a.float(FloatOp::Sub(64), &[x, c]);
                a.float(down, &[difference])
            },
            expect!["fadd32(x, 0xbfc00000)"],
        );
        // 0.1 is no float.
        gives(
            |a| {
                let (x, c) = (wide(a, "x"), number(a, 0.1));
                let sum = a.float(FloatOp::Add(64), &[x, c]);
                a.float(down, &[sum])
            },
            expect!["f64tof32(fadd64(f32tof64(x), 0x3fb999999999999a))"],
        );
        // Two operations round twice.
        gives(
            |a| {
                let (x, y) = (wide(a, "x"), wide(a, "y"));
                let sum = a.float(FloatOp::Add(64), &[x, y]);
                let product = a.float(FloatOp::Mul(64), &[sum, y]);
                a.float(down, &[product])
            },
            expect!["f64tof32(fmul64(f32tof64(y), fadd64(f32tof64(x), f32tof64(y))))"],
        );
    }

    #[test]
    fn rounding_twice_is_rounding_once() {
        // Mantissas and exponents where a result may lie next to the middle of two floats, or underflow.
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as u32
        };
        let mut random = || {
            let mantissa = match next() % 4 {
                0 => next() & 0x7f_ffff,
                1 => 1u32 << (next() % 23),
                2 => 0x7f_ffff & !(1 << (next() % 23)),
                _ => (next() & 0xf) << (next() % 20),
            };
            let exponent = [0, 1, 2, 103, 104, 126, 127, 128, 150, 151, 253, 254][(next() % 12) as usize];
            f32::from_bits((next() & 1) << 31 | (exponent + next() % 2) << 23 | mantissa & 0x7f_ffff)
        };
        for _ in 0..400_000 {
            let (x, y) = (random(), random());
            let (wide_x, wide_y) = (f64::from(x), f64::from(y));
            for (twice, once) in [
                ((wide_x + wide_y) as f32, x + y),
                ((wide_x - wide_y) as f32, x - y),
                ((wide_x * wide_y) as f32, x * y),
                ((wide_x / wide_y) as f32, x / y),
                (wide_x.sqrt() as f32, x.sqrt()),
            ] {
                assert!(twice.to_bits() == once.to_bits() || twice.is_nan() && once.is_nan(), "{x:e} {y:e}");
            }
        }
    }

    #[test]
    fn only_payload_sensitive_swaps_are_noted() {
        let mut arena = Arena::new();
        let (x, y) = doubles(&mut arena);
        let c = number(&mut arena, 1.5);
        arena.float(FloatOp::Add(64), &[c, x]);
        arena.float(FloatOp::Eq(64), &[y, x]);
        arena.float(FloatOp::Add(64), &[x, y]);
        assert!(!arena.used_nan_payload());
        arena.float(FloatOp::Add(64), &[y, x]);
        assert!(arena.used_nan_payload());
    }
}
