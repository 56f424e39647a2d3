//! Division by a constant as compilers emit it: multiplication by a magic number.
//!
//! Solvers do not find these equalities, so they are admitted with a theorem whose condition is evaluated at each use,
//! checked exhaustively at small widths, and fuzzed at the others.
//!
//! Theorem (unsigned). Let d ≥ 1, M·d = 2^L + e with 0 ≤ e and e·2^n ≤ 2^L. Then ⌊x·M / 2^L⌋ = ⌊x / d⌋ for 0 ≤ x < 2^n.
//! Proof: with x = q·d + r, x·M / 2^L = q + (r + x·e / 2^L) / d, and x·e / 2^L < 1, r ≤ d − 1.
//!
//! Theorem (signed). Let d ≥ 2, M·d = 2^L + e with 0 < e and e·2^(n−1) ≤ 2^L. Then ⌊x·M / 2^L⌋ + [x < 0] is x / d
//! rounded towards zero for −2^(n−1) ≤ x < 2^(n−1). Proof: for x ≥ 0 as above. For x = −(q·d + r) < 0,
//! x·M / 2^L = −q − (r + |x|·e / 2^L) / d, and 0 < r + |x|·e / 2^L ≤ d. With e·2^(n−1) < 2^L it also holds for
//! x = 2^(n−1).
//!
//! (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994.)

use crate::{Arena, Bits, Linear, Op, TermId};

/// Width in which the conditions of the theorems are evaluated: enough for any product of two numbers below 2^160.
const WIDE: u16 = 512;

fn power(exponent: u16) -> Bits {
    Bits::new(WIDE, 1).shl(Bits::new(16, u64::from(exponent)))
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

/// The divisor d of the signed theorem for M, L and dividends of n bits, or their negatives (2^(n−1) is one of them).
fn signed_divisor(m: Bits, l: u16, n: u16, negated: bool) -> Option<Bits> {
    if m.is_zero() || l + 2 >= WIDE {
        return None;
    }
    let limit = power(l);
    let d = limit.udiv(m).add(Bits::new(WIDE, 1));
    let e = m.mul(d).sub(limit);
    let holds = if negated { e.mul(power(n - 1)).ult(limit) } else { e.mul(power(n - 1)).ule(limit) };
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

/// A term that is ⌊x·M / 2^L⌋ as a signed number of its width: x, M, L. M may be negative if no correction is involved.
fn signed_scaled(arena: &Arena, term: TermId) -> Option<(TermId, Bits, u16)> {
    let high = if let Op::Sext(_) = arena.op(term) { arena.arg(term, 0) } else { term };
    let Op::Extract { hi, lo } = arena.op(high) else { return None };
    let inner = arena.arg(high, 0);
    if hi + 1 != arena.width(inner) {
        return None;
    }
    match signed_product(arena, inner) {
        Some((x, m)) => Some((x, m, lo)),
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
        // For M < 0 it is the quotient of −x, whose sign is that of the product.
        let negative = m.sign();
        let Some(d) = signed_divisor(if negative { m.neg() } else { m }, l, n, negative) else { continue };
        let signed = if negative { product_of(arena, *term) } else { x };
        let top = arena.width(signed) - 1;
        let sign = arena.extract(signed, top, top);
        let sign = arena.zext(sign, width);
        if !whole.terms.iter().any(|(t, e)| *t == sign && e == c) {
            continue;
        }
        let d = arena.constant(d);
        let quotient = arena.sdiv(x, d);
        let quotient = arena.sext(quotient, width);
        let mut out = whole.clone();
        out.terms.retain(|(t, _)| t != term && *t != sign);
        out.add_scaled(arena, quotient, if negative { c.neg() } else { *c });
        return Some(out.build(arena));
    }
    None
}

/// The product whose high bits a term takes, perhaps extended.
fn product_of(arena: &Arena, term: TermId) -> TermId {
    let high = if let Op::Sext(_) = arena.op(term) { arena.arg(term, 0) } else { term };
    arena.arg(high, 0)
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

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use super::*;
    use expect_test::expect;

    fn wide(x: u64) -> Bits {
        Bits::new(WIDE, x)
    }

    #[test]
    fn signed_quotients_as_gcc_and_clang_emit_them() {
        // movsxd; imul 0x66666667; shr 32; sar 2; minus sar 31
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m) = (a.sext(x, 64), a.bv(64, 0x6666_6667));
                let product = a.mul(wide, m);
                let high = a.extract(product, 63, 32);
                let (two, last) = (a.bv(32, 2), a.bv(32, 31));
                let (high, sign) = (a.ashr(high, two), a.ashr(x, last));
                a.sub(high, sign)
            },
            expect!["x /s 10"],
        );
        // the sign of the product instead, and 64-bit shifts
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m) = (a.sext(x, 64), a.bv(64, 0x6666_6667));
                let product = a.mul(wide, m);
                let (shift, last) = (a.bv(64, 34), a.bv(64, 63));
                let (high, sign) = (a.ashr(product, shift), a.lshr(product, last));
                let sum = a.add(high, sign);
                a.truncate(sum, 32)
            },
            expect!["x /s 10"],
        );
        // x % 7: the multiplier does not fit, x is added
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m) = (a.sext(x, 64), a.bv_i64(64, 0x9249_2493u32 as i32 as i64));
                let product = a.mul(wide, m);
                let high = a.extract(product, 63, 32);
                let sum = a.add(high, x);
                let (two, last, seven) = (a.bv(32, 2), a.bv(32, 31), a.bv(32, 7));
                let (high, sign) = (a.ashr(sum, two), a.lshr(sum, last));
                let quotient = a.add(high, sign);
                let multiple = a.mul(quotient, seven);
                a.sub(x, multiple)
            },
            expect!["x %s 7"],
        );
        // x / -5 with a negative multiplier
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m) = (a.sext(x, 64), a.bv_i64(64, 0x9999_9999u32 as i32 as i64));
                let product = a.mul(wide, m);
                let (shift, last) = (a.bv(64, 33), a.bv(64, 63));
                let (high, sign) = (a.ashr(product, shift), a.lshr(product, last));
                let sum = a.add(high, sign);
                a.truncate(sum, 32)
            },
            expect!["-(x /s 5)"],
        );
    }

    #[test]
    fn unsigned_quotients_as_compilers_emit_them() {
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m, shift) = (a.zext(x, 64), a.bv(64, 0xcccc_cccd), a.bv(64, 35));
                let product = a.mul(wide, m);
                a.lshr(product, shift)
            },
            expect!["zext64(x /u 10)"],
        );
        // Near miss: the multiplier is one too small.
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m, shift) = (a.zext(x, 64), a.bv(64, 0xcccc_cccc), a.bv(64, 35));
                let product = a.mul(wide, m);
                a.lshr(product, shift)
            },
            expect!["zext64((0xcccccccc*zext64(x))[63:35])"],
        );
        // x / 7: the average of x and the high product
        gives(
            |a| {
                let x = words(a).0;
                let (wide, m) = (a.zext(x, 64), a.bv(64, 0x2492_4925));
                let product = a.mul(wide, m);
                let high = a.extract(product, 63, 32);
                let (rest, one, two) = (a.sub(x, high), a.bv(32, 1), a.bv(32, 2));
                let half = a.lshr(rest, one);
                let sum = a.add(half, high);
                a.lshr(sum, two)
            },
            expect!["x /u 7"],
        );
    }

    #[test]
    fn unsigned_theorem_holds_for_all_dividends_of_8_bits() {
        let mut found = 0;
        for m in 1..1024u64 {
            for l in 1..=18 {
                let Some(d) = unsigned_divisor(wide(m), l, 8) else { continue };
                found += 1;
                for x in 0..256 {
                    assert_eq!((x * m) >> l, x / d.low(), "M {m}, L {l}, x {x}");
                }
            }
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn signed_theorem_holds_for_all_dividends_of_8_bits() {
        let mut found = 0;
        for m in 1..1024i64 {
            for l in 1..=18 {
                for negated in [false, true] {
                    let Some(d) = signed_divisor(wide(m as u64), l, 8, negated) else { continue };
                    found += 1;
                    for x in -128..128i64 {
                        let x = if negated { -x } else { x };
                        assert_eq!(((x * m) >> l) + i64::from(x < 0), x / d.low() as i64, "M {m}, L {l}, x {x}");
                    }
                }
            }
        }
        assert!(found > 300, "{found}");
    }

    #[test]
    fn theorems_hold_for_all_dividends_of_16_bits() {
        for d in (3..100u64).chain([125, 641, 1000, 10007]).filter(|d| !d.is_power_of_two()) {
            let log = 16 + d.ilog2() as u16;
            for l in log - 1..=log + 1 {
                let m = (1u64 << l) / d + 1;
                if let Some(found) = unsigned_divisor(wide(m), l, 16) {
                    assert!((0..1 << 16).all(|x| (x * m) >> l == x / found.low()), "{d}");
                }
                if let Some(found) = signed_divisor(wide(m), l, 16, false) {
                    let (m, d) = (m as i64, found.low() as i64);
                    assert!((-(1 << 15)..1 << 15).all(|x| ((x * m) >> l) + i64::from(x < 0) == x / d), "{d}");
                }
            }
        }
    }

    #[test]
    fn compilers_find_their_divisors() {
        // unsigned: 32-bit 10, 7 (33-bit multiplier), 64-bit 10
        assert_eq!(unsigned_divisor(wide(0xcccc_cccd), 35, 32), Some(Bits::new(32, 10)));
        assert_eq!(unsigned_divisor(wide(0x1_2492_4925), 35, 32), Some(Bits::new(32, 7)));
        assert_eq!(unsigned_divisor(wide(0xcccc_cccc_cccc_cccd), 67, 64), Some(Bits::new(64, 10)));
        // signed: 32-bit 10, 7
        assert_eq!(signed_divisor(wide(0x6666_6667), 34, 32, false), Some(Bits::new(32, 10)));
        assert_eq!(signed_divisor(wide(0x9249_2493), 34, 32, false), Some(Bits::new(32, 7)));
        // near misses
        assert_eq!(unsigned_divisor(wide(0xcccc_cccc), 35, 32), None);
        assert_eq!(signed_divisor(wide(0x6666_6666), 34, 32, false), None);
    }
}
