//! Quotients and remainders.
//!
//! Quotients and remainders by a power of two are shifts and masks. The dividend minus the divisor times the quotient is
//! the remainder. What compilers emit for other constant divisors is recognised in the module `magic`.

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
    if 2 * width > Bits::MAX_WIDTH || a.is_zero() || b.is_zero() {
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

fn urem_constant(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    let width = c.width();
    if c.is_zero() {
        return Some(args[0]);
    }
    // Smaller than the divisor already?
    let bits = width - view::leading_zeros(arena, args[0]);
    if bits < width - c.leading_zeros() {
        return Some(args[0]);
    }
    match exact_log(c)? {
        0 => Some(arena.constant(Bits::zero(width))),
        k => {
            let low = arena.truncate(args[0], k);
            Some(arena.zext(low, width))
        }
    }
}

/// `zext(x) % zext(y) = zext(x % y)`, also for a constant that fits.
fn urem_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Zext(width) = arena.op(args[0]) else { return None };
    let (x, y) = match arena.as_const(args[1]) {
        Some(c) => {
            let x = arena.arg(args[0], 0);
            let n = arena.width(x);
            if c.leading_zeros() < width - n {
                return None;
            }
            (x, arena.constant(c.resize(n)))
        }
        None => view::same_extension(arena, args[0], args[1])?,
    };
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

fn srem_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let c = arena.as_const(args[1])?;
    if c == signed_min(c.width()) || c.is_zero() {
        return None;
    }
    if c.sign() {
        // The remainder has the dividend's sign.
        let positive = arena.constant(c.neg());
        return Some(arena.make(op, &[args[0], positive]));
    }
    exact_log(c)?;
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

/// `sext(x) % sext(y) = sext(x % y)`, also for a positive constant that fits.
fn srem_narrow(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Sext(width) = arena.op(args[0]) else { return None };
    let (x, y) = match arena.as_const(args[1]) {
        Some(c) => {
            let x = arena.arg(args[0], 0);
            let low = c.resize(arena.width(x));
            if c.sign() || low.sext(width) != c {
                return None;
            }
            (x, arena.constant(low))
        }
        None => view::same_extension(arena, args[0], args[1])?,
    };
    let rest = arena.make(op, &[x, y]);
    Some(arena.sext(rest, width))
}

/// A quotient by a constant, perhaps extended or cut: the divisor, the dividend and the remainder in the same shape.
fn quotient(arena: &mut Arena, term: TermId) -> Option<(Bits, TermId, TermId)> {
    let width = arena.width(term);
    let shape = arena.op(term);
    let inner = match shape {
        Op::Udiv | Op::Sdiv => term,
        Op::Zext(_) | Op::Sext(_) | Op::Extract { lo: 0, .. } => arena.arg(term, 0),
        _ => return None,
    };
    let remainder = match (arena.op(inner), shape) {
        (Op::Udiv, Op::Sext(_)) | (Op::Sdiv, Op::Zext(_)) => return None,
        (Op::Udiv, _) => Op::Urem,
        (Op::Sdiv, _) => Op::Srem,
        _ => return None,
    };
    let (x, divisor) = (arena.arg(inner, 0), arena.arg(inner, 1));
    let c = arena.as_const(divisor)?;
    if c.is_zero() || (c.sign() && remainder == Op::Srem) || c.resize(width).zext(512) != c.zext(512) {
        return None;
    }
    let rest = arena.make(remainder, &[x, divisor]);
    let shaped = |arena: &mut Arena, t: TermId| match shape {
        Op::Zext(_) => arena.zext(t, width),
        Op::Sext(_) => arena.sext(t, width),
        Op::Extract { .. } => arena.truncate(t, width),
        _ => t,
    };
    Some((c.resize(width), shaped(arena, x), shaped(arena, rest)))
}

/// `x − c·(x / c)` is the remainder, also when `x`'s terms are spread over the sum.
pub(super) fn sum_remainder(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if !args.iter().any(|arg| arena.op(*arg) == Op::Mul) {
        return None;
    }
    let whole = Linear::of(arena, arena.lookup(op, args)?);
    for (term, k) in whole.terms.iter() {
        let Some((c, dividend, rest)) = quotient(arena, *term) else { continue };
        // k = −m·c: then k·quotient = m·remainder − m·dividend.
        let m = k.neg().sdiv(c);
        if c.sign() || m.is_zero() || m.mul(c) != k.neg() {
            continue;
        }
        let inner = Linear::of(arena, dividend);
        let Some((first, e)) = inner.terms.first() else { continue };
        if !whole.terms.iter().any(|(t, f)| t == first && *f == e.mul(m)) {
            continue;
        }
        let mut out = whole.clone();
        out.add_scaled(arena, *term, k.neg());
        out.add_scaled(arena, dividend, m.neg());
        out.add_scaled(arena, rest, m);
        return Some(out.build(arena));
    }
    None
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

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::Sort;
    use expect_test::expect;

    #[test]
    fn signed_quotient_by_a_power_of_two_is_what_compilers_emit() {
        gives(
            |a| {
                let (x, four) = (words(a).0, a.bv(32, 4));
                a.sdiv(x, four)
            },
            expect!["sext32((x + 3*zext32(x[31]))[31:2])"],
        );
        // lea edx, [x + 3]; test x, x; cmovs; sar 2
        gives(
            |a| {
                let (x, two) = (words(a).0, a.bv(32, 2));
                let (zero, more) = (a.bv(32, 0), a.add_const(x, 3));
                let negative = a.slt(x, zero);
                let biased = a.ite(negative, more, x);
                a.ashr(biased, two)
            },
            expect!["sext32((x + 3*zext32(x[31]))[31:2])"],
        );
        // sar 31; shr 30; add; sar 2
        gives(
            |a| {
                let (x, two) = (words(a).0, a.bv(32, 2));
                let (last, thirty) = (a.bv(32, 31), a.bv(32, 30));
                let sign = a.ashr(x, last);
                let bias = a.lshr(sign, thirty);
                let biased = a.add(x, bias);
                a.ashr(biased, two)
            },
            expect!["sext32((x + 3*zext32(x[31]))[31:2])"],
        );
    }

    #[test]
    fn signed_remainder_by_a_power_of_two_has_one_form() {
        gives(
            |a| {
                let (x, four) = (words(a).0, a.bv(32, 4));
                a.srem(x, four)
            },
            expect!["-3*zext32(x[31]) + zext32(x[1:0] + sext2(x[31]))"],
        );
        gives(
            |a| {
                let x = words(a).0;
                let (zero, more, mask) = (a.bv(32, 0), a.add_const(x, 3), a.bv_i64(32, -4));
                let negative = a.slt(x, zero);
                let biased = a.ite(negative, more, x);
                let aligned = a.and(biased, mask);
                a.sub(x, aligned)
            },
            expect!["-3*zext32(x[31]) + zext32(x[1:0] + sext2(x[31]))"],
        );
    }

    #[test]
    fn the_divide_instruction_narrows() {
        gives(
            |a| {
                let (x, y) = words(a);
                let (wide_x, wide_y) = (a.sext(x, 64), a.sext(y, 64));
                let quotient = a.sdiv(wide_x, wide_y);
                a.truncate(quotient, 32)
            },
            expect!["x /s y"],
        );
        gives(
            |a| {
                let (x, y) = words(a);
                let (wide_x, wide_y) = (a.sext(x, 64), a.sext(y, 64));
                let quotient = a.sdiv(wide_x, wide_y);
                let low = a.truncate(quotient, 32);
                let back = a.sext(low, 64);
                a.ne(back, quotient)
            },
            expect!["x == 0x80000000 && y == -1"],
        );
    }

    #[test]
    fn remainders_by_constants_are_differences() {
        gives(
            |a| {
                let (c, ten) = (a.var("c", Sort::Bv(8)), a.bv(32, 10));
                let wide = a.zext(c, 32);
                a.srem(wide, ten)
            },
            expect!["zext32(c %u 10)"],
        );
    }
}
