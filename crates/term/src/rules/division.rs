//! Quotients and remainders.
//!
//! Remainders by a constant are written as the dividend minus the divisor times the quotient. Quotients by a power of
//! two are shifts. What compilers emit for other constant divisors is recognised as the quotient it computes; solvers
//! do not find these equalities, so they are admitted with a theorem whose condition is evaluated at each use.
//!
//! Theorem (unsigned). Let d ≥ 1, M·d = 2^L + e with 0 ≤ e and e·2^n ≤ 2^L. Then ⌊x·M / 2^L⌋ = ⌊x / d⌋ for 0 ≤ x < 2^n.
//! Proof: with x = q·d + r, x·M / 2^L = q + (r + x·e / 2^L) / d, and x·e / 2^L < 1, r ≤ d − 1.
//!
//! Theorem (signed). Let d ≥ 2, M·d = 2^L + e with 0 < e and e·2^(n−1) ≤ 2^L. Then ⌊x·M / 2^L⌋ + [x < 0] is x / d rounded
//! towards zero for −2^(n−1) ≤ x < 2^(n−1). Proof: for x ≥ 0 as above. For x = −(q·d + r) < 0,
//! x·M / 2^L = −q − (r + |x|·e / 2^L) / d, and 0 < r + |x|·e / 2^L ≤ d.
//!
//! (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994.)

use super::interval::signed_min;
use super::{FOLD, Rule, rule, view};
use crate::{Arena, Bits, Linear, Op, TermId};

/// Rules for unsigned quotients.
pub(super) const UDIV: &[Rule] = &[
    FOLD,
    rule("udiv-constant", udiv_constant),
    rule("udiv-narrow", udiv_narrow),
    rule("udiv-nested", udiv_nested),
    rule("udiv-shifted", udiv_shifted),
];

/// Rules for unsigned remainders.
pub(super) const UREM: &[Rule] = &[FOLD, rule("urem-constant", urem_constant), rule("urem-narrow", urem_narrow)];

/// Rules for signed quotients.
pub(super) const SDIV: &[Rule] = &[
    FOLD,
    rule("sdiv-constant", sdiv_constant),
    rule("sdiv-nonnegative", signed_nonnegative),
    rule("sdiv-narrow", sdiv_narrow),
];

/// Rules for signed remainders.
pub(super) const SREM: &[Rule] = &[
    FOLD,
    rule("srem-constant", srem_constant),
    rule("srem-nonnegative", signed_nonnegative),
    rule("srem-narrow", srem_narrow),
];

/// Width in which the conditions of the theorems are evaluated: enough for any product of two numbers below 2^160.
const WIDE: u16 = 512;

fn power(exponent: u16) -> Bits {
    Bits::new(WIDE, 1).shl(Bits::new(16, u64::from(exponent)))
}

fn exact_log(c: Bits) -> Option<u16> {
    (c.count_ones() == 1).then(|| c.trailing_zeros())
}

fn udiv_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    if c.is_zero() {
        return Some(arena.constant(Bits::ones(c.width())));
    }
    let k = exact_log(c)?;
    let k = arena.bv(c.width(), u64::from(k));
    Some(arena.lshr(args[0], k))
}

/// `zext(x) / c = zext(x / c)`.
fn udiv_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let Op::Zext(width) = arena.op(args[0]) else { return None };
    let x = arena.arg(args[0], 0);
    let n = arena.width(x);
    if width - c.leading_zeros() > n {
        return Some(arena.constant(Bits::zero(width)));
    }
    let c = arena.constant(c.resize(n));
    let quotient = arena.make(op, &[x, c]);
    Some(arena.zext(quotient, width))
}

/// `x / a / b = x / (a·b)`.
fn udiv_nested(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let b = arena.as_const(args[1])?;
    if arena.op(args[0]) != Op::Udiv {
        return None;
    }
    let (x, a) = (arena.arg(args[0], 0), arena.as_const(arena.arg(args[0], 1))?);
    let width = a.width();
    if 2 * width > WIDE || a.is_zero() || b.is_zero() {
        return None;
    }
    let product = a.zext(2 * width).mul(b.zext(2 * width));
    if product.leading_zeros() < width {
        return Some(arena.constant(Bits::zero(width)));
    }
    let product = arena.constant(product.resize(width));
    Some(arena.make(op, &[x, product]))
}

/// `(x >> k) / d = x / (2^k·d)`, the shifted number being taken at its own width.
fn udiv_shifted(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let d = arena.as_const(args[1])?;
    let Op::Extract { hi, lo } = arena.op(args[0]) else { return None };
    let x = arena.arg(args[0], 0);
    let width = arena.width(x);
    if hi + 1 != width || lo == 0 || d.is_zero() {
        return None;
    }
    let divisor = arena.constant(d.concat(Bits::zero(lo)));
    let quotient = arena.make(op, &[x, divisor]);
    Some(arena.truncate(quotient, width - lo))
}

/// `x % c = x − c·(x / c)`.
fn urem_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    arena.as_const(args[1])?;
    let quotient = arena.udiv(args[0], args[1]);
    let multiple = arena.mul(quotient, args[1]);
    Some(arena.sub(args[0], multiple))
}

/// `zext(x) % zext(y) = zext(x % y)`.
fn urem_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let (Op::Zext(_), Op::Zext(_)) = (arena.op(args[0]), arena.op(args[1])) else { return None };
    let (x, y) = view::same_extension(arena, args[0], args[1])?;
    let rest = arena.make(op, &[x, y]);
    Some(arena.zext(rest, width))
}

fn sdiv_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let width = c.width();
    let min = signed_min(width);
    if c.is_zero() || c == min {
        return None;
    }
    if c.sign() {
        let positive = arena.constant(c.neg());
        let quotient = arena.make(op, &[args[0], positive]);
        return Some(arena.neg(quotient));
    }
    // Rounding towards zero: a negative dividend gets 2^k − 1 added before the shift.
    let k = exact_log(c)?;
    let sign = arena.extract(args[0], width - 1, width - 1);
    let sign = arena.zext(sign, width);
    let most = arena.constant(c.sub(Bits::new(width, 1)));
    let bias = arena.mul(sign, most);
    let biased = arena.add(args[0], bias);
    let k = arena.bv(width, u64::from(k));
    Some(arena.ashr(biased, k))
}

fn srem_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    if c == signed_min(c.width()) {
        return None;
    }
    let quotient = arena.sdiv(args[0], args[1]);
    let multiple = arena.mul(quotient, args[1]);
    Some(arena.sub(args[0], multiple))
}

/// Numbers whose sign bits are zero are divided as unsigned ones.
fn signed_nonnegative(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.iter().any(|arg| view::leading_zeros(arena, *arg) == 0) {
        return None;
    }
    // A zero divisor gives −1 for a signed quotient with nonnegative dividend, all ones for an unsigned one: the same.
    Some(arena.make(if op == Op::Sdiv { Op::Udiv } else { Op::Urem }, args))
}

/// `sext(x) / c = sext(x / c)` for a divisor that fits.
fn sdiv_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let Op::Sext(width) = arena.op(args[0]) else { return None };
    let x = arena.arg(args[0], 0);
    let n = arena.width(x);
    let low = c.resize(n);
    if c.is_zero() || c.sign() || low.sext(width) != c {
        return None;
    }
    let c = arena.constant(low);
    let quotient = arena.make(op, &[x, c]);
    Some(arena.sext(quotient, width))
}

/// `sext(x) % sext(y) = sext(x % y)`.
fn srem_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let width = arena.width(args[0]);
    let (Op::Sext(_), Op::Sext(_)) = (arena.op(args[0]), arena.op(args[1])) else { return None };
    let (x, y) = view::same_extension(arena, args[0], args[1])?;
    let rest = arena.make(op, &[x, y]);
    Some(arena.sext(rest, width))
}

/// Low bits of a quotient of extended numbers are those of the quotient before extension.
pub(super) fn extract_quotient_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo } = op else { return None };
    let (kind, parts) = view::open(arena, args[0]);
    let extension = match kind {
        Op::Udiv => matches!((arena.op(parts[0]), arena.op(parts[1])), (Op::Zext(_), Op::Zext(_))),
        Op::Sdiv => matches!((arena.op(parts[0]), arena.op(parts[1])), (Op::Sext(_), Op::Sext(_))),
        _ => return None,
    };
    if !extension {
        return None;
    }
    let (x, y) = view::same_extension(arena, parts[0], parts[1])?;
    let n = arena.width(x);
    if hi < n {
        let quotient = arena.make(kind, &[x, y]);
        return Some(arena.extract(quotient, hi, lo));
    }
    if kind == Op::Udiv && lo >= n {
        // Only the division by zero sets high bits.
        let zero = arena.constant(Bits::zero(n));
        let by_zero = arena.eq(y, zero);
        let (ones, none) = (Bits::ones(hi - lo + 1), Bits::zero(hi - lo + 1));
        let (ones, none) = (arena.constant(ones), arena.constant(none));
        return Some(arena.ite(by_zero, ones, none));
    }
    None
}

/// `sext(x / y) = sext(x) / sext(y)` fails only for the smallest x and y = −1.
pub(super) fn eq_quotient_fits(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    for (narrow, wide) in [(args[0], args[1]), (args[1], args[0])] {
        let (Op::Sext(_), Op::Sdiv) = (arena.op(narrow), arena.op(wide)) else { continue };
        let quotient = arena.arg(narrow, 0);
        if arena.op(quotient) != Op::Sdiv {
            continue;
        }
        let (x, y) = (arena.arg(quotient, 0), arena.arg(quotient, 1));
        let width = arena.width(wide);
        let (wide_x, wide_y) = (arena.sext(x, width), arena.sext(y, width));
        if arena.args(wide) != [wide_x, wide_y] {
            continue;
        }
        let n = arena.width(x);
        let (min, minus_one) = (arena.constant(signed_min(n)), arena.constant(Bits::ones(n)));
        let (smallest, negated) = (arena.eq(x, min), arena.eq(y, minus_one));
        let overflow = arena.bool_and(smallest, negated);
        return Some(arena.bool_not(overflow));
    }
    None
}

/// The divisor d of the unsigned theorem for M, L and dividends of n bits.
fn unsigned_divisor(m: Bits, l: u16, n: u16) -> Option<Bits> {
    if m.is_zero() || l + 2 >= WIDE {
        return None;
    }
    let limit = power(l);
    let d = limit.add(m).sub(Bits::new(WIDE, 1)).udiv(m);
    let e = m.mul(d).sub(limit);
    let holds = e.mul(power(n)).ule(limit);
    (holds && d.count_ones() > 1 && WIDE - d.leading_zeros() <= n).then(|| d.resize(n))
}

/// The divisor d of the signed theorem for M, L and dividends of n bits.
fn signed_divisor(m: Bits, l: u16, n: u16) -> Option<Bits> {
    if m.is_zero() || l + 2 >= WIDE {
        return None;
    }
    let limit = power(l);
    let d = limit.udiv(m).add(Bits::new(WIDE, 1));
    let e = m.mul(d).sub(limit);
    let holds = e.mul(power(n - 1)).ule(limit);
    (holds && d.count_ones() > 1 && WIDE - d.leading_zeros() < n).then(|| d.resize(n))
}

/// `Mul(zext(x), M)` without overflow: x and M.
fn unsigned_product(arena: &Arena, term: TermId) -> Option<(TermId, Bits)> {
    if arena.op(term) != Op::Mul {
        return None;
    }
    let m = arena.as_const(arena.arg(term, 1))?;
    let Op::Zext(width) = arena.op(arena.arg(term, 0)) else { return None };
    let x = arena.arg(arena.arg(term, 0), 0);
    (width <= 160 && m.leading_zeros() >= arena.width(x)).then(|| (x, m.zext(WIDE)))
}

/// `Mul(sext(x), M)` without overflow: x and M, which may be negative.
fn signed_product(arena: &Arena, term: TermId) -> Option<(TermId, Bits)> {
    if arena.op(term) != Op::Mul {
        return None;
    }
    let m = arena.as_const(arena.arg(term, 1))?;
    let Op::Sext(width) = arena.op(arena.arg(term, 0)) else { return None };
    let x = arena.arg(arena.arg(term, 0), 0);
    let fits = m.resize(width - arena.width(x) + 1).sext(width) == m;
    (width <= 160 && fits).then(|| (x, m.sext(WIDE)))
}

/// High bits of a product with a magic number are a quotient.
pub(super) fn extract_quotient(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo } = op else { return None };
    let (x, d) = match unsigned_product(arena, args[0]) {
        Some((x, m)) => (x, unsigned_divisor(m, lo, arena.width(x))?),
        None => {
            let (x, m, l) = averaged_product(arena, args[0])?;
            if hi + 1 != arena.width(args[0]) {
                return None;
            }
            (x, unsigned_divisor(m, l + lo, arena.width(x))?)
        }
    };
    let d = arena.constant(d);
    let quotient = arena.udiv(x, d);
    let (n, width) = (arena.width(x), hi - lo + 1);
    Some(if width >= n { arena.zext(quotient, width) } else { arena.truncate(quotient, width) })
}

/// `((x − t) >> 1) + t` with t = ⌊x·M' / 2^n⌋: that is ⌊x·(2^n + M') / 2^(n+1)⌋, without overflow since t ≤ x.
/// Returns x, 2^n + M' and n + 1.
fn averaged_product(arena: &Arena, term: TermId) -> Option<(TermId, Bits, u16)> {
    let [a, b] = *arena.args(term) else { return None };
    if arena.op(term) != Op::Add {
        return None;
    }
    let n = arena.width(term);
    for (t, half) in [(a, b), (b, a)] {
        let Op::Extract { hi, lo } = arena.op(t) else { continue };
        let Some((x, m)) = unsigned_product(arena, arena.arg(t, 0)) else { continue };
        let whole = lo == n && hi + 1 == 2 * n && arena.width(x) == n;
        let Op::Zext(_) = arena.op(half) else { continue };
        let shifted = arena.arg(half, 0);
        let Op::Extract { hi, lo: 1 } = arena.op(shifted) else { continue };
        let difference = arena.arg(shifted, 0);
        if !whole || hi + 1 != n || arena.width(difference) != n {
            continue;
        }
        let difference = Linear::of(arena, difference);
        let mut expected = Linear::zero(n);
        expected.add_scaled(arena, x, Bits::new(n, 1));
        expected.add_scaled(arena, t, Bits::ones(n));
        if difference == expected {
            return Some((x, m.add(power(n)), n + 1));
        }
    }
    None
}

/// A term that is ⌊x·M / 2^L⌋ as a signed number of its width, M > 0: x, M, L.
fn signed_scaled(arena: &Arena, term: TermId) -> Option<(TermId, Bits, u16)> {
    let high = if let Op::Sext(_) = arena.op(term) { arena.arg(term, 0) } else { term };
    let Op::Extract { hi, lo } = arena.op(high) else { return None };
    let inner = arena.arg(high, 0);
    if hi + 1 != arena.width(inner) {
        return None;
    }
    match signed_product(arena, inner) {
        Some((x, m)) => (!m.sign()).then_some((x, m, lo)),
        None => {
            let (x, m, l) = corrected_product(arena, inner)?;
            Some((x, m, l + lo))
        }
    }
}

/// `x + ⌊x·M' / 2^n⌋` with −2^n < M' < 0: that is ⌊x·(2^n + M') / 2^n⌋, without overflow. Returns x, 2^n + M', n.
fn corrected_product(arena: &Arena, term: TermId) -> Option<(TermId, Bits, u16)> {
    let [a, b] = *arena.args(term) else { return None };
    if arena.op(term) != Op::Add {
        return None;
    }
    let n = arena.width(term);
    for (t, other) in [(a, b), (b, a)] {
        let Op::Extract { hi, lo } = arena.op(t) else { continue };
        let Some((x, m)) = signed_product(arena, arena.arg(t, 0)) else { continue };
        let sum = m.add(power(n));
        if lo == n && hi + 1 == 2 * n && x == other && m.sign() && !sum.sign() && !sum.is_zero() {
            return Some((x, sum, n));
        }
    }
    None
}

/// `⌊x·M / 2^L⌋ + [x < 0]` in a sum is a signed quotient.
pub(super) fn sum_signed_quotient(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let candidate = |arena: &Arena, t: TermId| {
        let t = if arena.op(t) == Op::Mul { arena.arg(t, 0) } else { t };
        matches!(arena.op(t), Op::Sext(_) | Op::Extract { .. })
    };
    if !args.iter().any(|arg| candidate(arena, *arg)) {
        return None;
    }
    let whole = Linear::of(arena, arena.lookup(op, args)?);
    let width = whole.constant.width();
    for (term, c) in whole.terms.iter() {
        let Some((x, m, l)) = signed_scaled(arena, *term) else { continue };
        let n = arena.width(x);
        if n > width {
            continue;
        }
        let Some(d) = signed_divisor(m, l, n) else { continue };
        let sign = arena.extract(x, n - 1, n - 1);
        let sign = arena.zext(sign, width);
        if !whole.terms.iter().any(|(t, e)| *t == sign && e == c) {
            continue;
        }
        let d = arena.constant(d);
        let quotient = arena.sdiv(x, d);
        let quotient = arena.sext(quotient, width);
        let mut out = whole.clone();
        out.terms.retain(|(t, _)| t != term && *t != sign);
        out.add_scaled(arena, quotient, *c);
        return Some(out.build(arena));
    }
    None
}

/// The sign of a product with a positive constant is the sign of the other factor.
pub(super) fn extract_product_sign(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo } = op else { return None };
    if hi != lo || hi + 1 != arena.width(args[0]) {
        return None;
    }
    let x = match signed_product(arena, args[0]) {
        Some((x, m)) => (!m.sign()).then_some(x)?,
        None => corrected_product(arena, args[0])?.0,
    };
    let top = arena.width(x) - 1;
    Some(arena.extract(x, top, top))
}
