//! Divisibility by a constant as compilers test it: a product with the inverse of the divisor, compared.
//!
//! Solvers do not find these equalities, so they are admitted with a theorem whose condition is evaluated at each use,
//! checked exhaustively at small widths, and fuzzed at the others.
//!
//! Theorem (divisibility). Let M·d' ≡ 1 mod 2^n, d = 2^k·d', r < d. The x with x ≡ r mod 2^k and x·M − r·M ∈ S mod 2^n
//! are the numbers r + d·t mod 2^n for 2^k·t ∈ S. If those t are exactly 0 … ⌊(2^n − 1 − r) / d⌋, they are the unsigned x
//! with x mod d = r; if r = 0 and they are exactly −⌊2^(n−1) / d⌋ … ⌊(2^(n−1) − 1) / d⌋, they are the signed multiples
//! of d. Proof: x·M − r·M = 2^k·t if and only if x − r = 2^k·d'·t.
//!
//! (Granlund and Montgomery, Division by Invariant Integers using Multiplication, PLDI 1994, section 9.)

use super::interval::{self, Set, signed_min};
use super::{equality, view};
use crate::{Arena, Bits, Op, TermId};

/// A divisor and which x it leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Divisible {
    /// x mod d = r as unsigned numbers.
    Unsigned { d: Bits, r: Bits },
    /// d divides x as signed numbers.
    Signed { d: Bits },
}

/// What `x·M ∈ [lo, hi]` and `x ≡ low` modulo 2^k say together, if the theorem applies.
fn divisibility(m: Bits, lo: Bits, hi: Bits, k: u16, low: Bits) -> Option<Divisible> {
    let n = m.width();
    if m.trailing_zeros() != 0 || k + 2 >= n {
        return None;
    }
    let odd = equality::inverse(m);
    // Small multipliers have large inverses: those products are ordinary arithmetic.
    if !odd.ult(m) || odd == Bits::new(n, 1) || odd.leading_zeros() <= k + 1 {
        return None;
    }
    let shift = Bits::new(16, u64::from(k));
    let d = odd.shl(shift);
    let block = Bits::new(n, 1).shl(shift).sub(Bits::new(n, 1));
    // Unsigned: t = 0 is the set's first element, so r = lo / M.
    let r = lo.mul(odd);
    if r.ult(d) && r.and(block) == low && hi.sub(lo).lshr(shift) == Bits::ones(n).sub(r).udiv(d) {
        return Some(Divisible::Unsigned { d, r });
    }
    // Signed: the first and the last multiple of 2^k around zero.
    let (first, last) = (lo.add(block).ashr(shift), hi.ashr(shift));
    let all = (signed_min(n).udiv(d).neg(), signed_min(n).not().udiv(d));
    (low.is_zero() && lo.sign() && !hi.sign() && (first, last) == all).then_some(Divisible::Signed { d })
}

/// The condition on `x` that `x·M ∈ set` expresses together with `x ≡ low` modulo 2^k.
fn divisible(arena: &mut Arena, product: TermId, set: Set, k: u16, low: Bits) -> Option<TermId> {
    if arena.op(product) != Op::Mul {
        return None;
    }
    let (x, m) = (arena.arg(product, 0), arena.as_const(arena.arg(product, 1))?);
    let Set::Range { lo, hi } = set else { return None };
    let low = low.resize(m.width());
    // Statements are made about sums whose first coefficient is positive: M or −M.
    let claim = divisibility(m, lo, hi, k, low).or_else(|| divisibility(m.neg(), hi.neg(), lo.neg(), k, low))?;
    Some(claimed(arena, x, claim))
}

/// The term of what is claimed about `x`.
fn claimed(arena: &mut Arena, x: TermId, claim: Divisible) -> TermId {
    let (rest, value) = match claim {
        Divisible::Unsigned { d, r } => {
            let d = arena.constant(d);
            (arena.urem(x, d), r)
        }
        Divisible::Signed { d } => {
            let zero = Bits::zero(d.width());
            let d = arena.constant(d);
            (arena.srem(x, d), zero)
        }
    };
    let value = arena.constant(value);
    arena.eq(rest, value)
}

/// `x·M + a <u c`, or the opposite with the constant first, where M is the inverse of an odd divisor.
pub(super) fn ult_divisible(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let (x, below, holds) = match (arena.as_const(args[0]), arena.as_const(args[1])) {
        (None, Some(c)) => (args[0], c, true),
        // c < x is not x < c + 1.
        (Some(c), None) => (args[1], c.add(Bits::new(c.width(), 1)), false),
        _ => return None,
    };
    let (base, set) = interval::strip_offset(arena, x, Set::below(below));
    let divides = divisible(arena, base, set, 0, Bits::zero(below.width()))?;
    Some(if holds { divides } else { arena.bool_not(divides) })
}

/// `part = c`, part being the lowest bits of something.
fn low_bits_test(arena: &Arena, literal: TermId) -> Option<(TermId, Bits)> {
    let (part, value) = match arena.op(literal) {
        Op::Eq => (arena.arg(literal, 0), arena.as_const(arena.arg(literal, 1))?),
        Op::Not => (view::as_bit_test(arena, arena.arg(literal, 0))?, Bits::zero(1)),
        _ => return None,
    };
    matches!(arena.op(part), Op::Extract { lo: 0, .. }).then_some((part, value))
}

/// `x mod d = r` with an odd d as x and what it says.
fn residue_test(arena: &Arena, literal: TermId) -> Option<(TermId, Divisible)> {
    let rest = match arena.op(literal) {
        Op::Eq => arena.arg(literal, 0),
        _ => return None,
    };
    let r = arena.as_const(arena.arg(literal, 1))?;
    if !matches!(arena.op(rest), Op::Urem | Op::Srem) {
        return None;
    }
    let (x, d) = (arena.arg(rest, 0), arena.as_const(arena.arg(rest, 1))?);
    match arena.op(rest) {
        _ if d.trailing_zeros() > 0 => None,
        Op::Urem if r.ult(d) => Some((x, Divisible::Unsigned { d, r })),
        Op::Srem if r.is_zero() && !d.sign() => Some((x, Divisible::Signed { d })),
        _ => None,
    }
}

/// `x ≡ low` modulo 2^k and a residue modulo an odd divisor, as a residue modulo the product (Chinese remainders).
fn joined_residue(claim: Divisible, low: Bits) -> Option<Divisible> {
    let k = Bits::new(16, u64::from(low.width()));
    let (Divisible::Unsigned { d, .. } | Divisible::Signed { d }) = claim;
    let n = d.width();
    if d.leading_zeros() <= low.width() + 1 {
        return None;
    }
    match claim {
        Divisible::Signed { d } => low.is_zero().then(|| Divisible::Signed { d: d.shl(k) }),
        Divisible::Unsigned { d, r } => {
            // r + d·t ≡ low modulo 2^k for exactly one t < 2^k.
            let t = low.resize(n).sub(r).mul(equality::inverse(d));
            let t = t.resize(low.width()).resize(n);
            Some(Divisible::Unsigned { d: d.shl(k), r: r.add(d.mul(t)) })
        }
    }
}

/// The same for an even divisor: the low bits of `x` are tested apart.
pub(super) fn and_divisible(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > 8 {
        return None;
    }
    for (i, literal) in args.iter().enumerate() {
        let Some((part, low)) = low_bits_test(arena, *literal) else { continue };
        for (j, other) in args.iter().enumerate() {
            let both = match residue_test(arena, *other) {
                Some((x, claim)) => {
                    if !is_low_part(arena, x, part) {
                        continue;
                    }
                    let Some(claim) = joined_residue(claim, low) else { continue };
                    claimed(arena, x, claim)
                }
                None => {
                    let Some((base, set)) = interval::statement(arena, *other) else { continue };
                    if arena.op(base) != Op::Mul || !is_low_part(arena, arena.arg(base, 0), part) {
                        continue;
                    }
                    if let Some(both) = divisible(arena, base, set, low.width(), low) {
                        both
                    } else {
                        // low ∧ x·M ∉ S is low ∧ ¬(low ∧ x·M ∈ S).
                        let outside = set.complement();
                        let Some(divides) = divisible(arena, base, outside, low.width(), low) else { continue };
                        let not = arena.bool_not(divides);
                        let mut all: Vec<TermId> = args.to_vec();
                        all[j] = not;
                        return Some(arena.make(op, &all));
                    }
                }
            };
            let mut rest: Vec<TermId> = args.to_vec();
            rest[i] = both;
            rest.remove(j);
            return Some(if rest.len() == 1 { both } else { arena.make(op, &rest) });
        }
    }
    None
}

/// The dual, through the negated operands.
pub(super) fn or_divisible(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    let product = |arena: &Arena, t: TermId| match arena.op(t) {
        Op::Not => !arena.args(arena.arg(t, 0)).is_empty(),
        op => matches!(op, Op::Eq | Op::Ult),
    };
    if args.len() > 4 || !args.iter().all(|arg| product(arena, *arg)) {
        return None;
    }
    let negated: Vec<TermId> = args.iter().map(|arg| arena.bool_not(*arg)).collect();
    let both = and_divisible(arena, Op::And, &negated)?;
    Some(arena.bool_not(both))
}

fn is_low_part(arena: &mut Arena, x: TermId, part: TermId) -> bool {
    let k = arena.width(part);
    k < arena.width(x) && arena.truncate(x, k) == part
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use super::*;
    use expect_test::expect;

    #[test]
    fn divisibility_as_compilers_test_it() {
        // x % 3 == 0, unsigned and signed
        gives(
            |a| {
                let (x, m, most) = (words(a).0, a.bv(32, 0xaaaa_aaab), a.bv(32, 0x5555_5555));
                let product = a.mul(x, m);
                a.ule(product, most)
            },
            expect!["x %u 3 == 0"],
        );
        gives(
            |a| {
                let (x, m, most) = (words(a).0, a.bv(32, 0xaaaa_aaab), a.bv(32, 0x5555_5554));
                let product = a.mul(x, m);
                let moved = a.add_const(product, 0x2aaa_aaaa);
                a.ule(moved, most)
            },
            expect!["x %s 3 == 0"],
        );
        // x % 10 == 3: multiply, subtract, rotate, compare
        gives(
            |a| {
                let (x, m, most) = (words(a).0, a.bv(32, 0xcccc_cccd), a.bv(32, 0x1999_9999));
                let product = a.mul(x, m);
                let moved = a.add_const(product, -0x6666_6667);
                let (high, low) = (a.extract(moved, 0, 0), a.extract(moved, 31, 1));
                let rotated = a.concat(high, low);
                a.ule(rotated, most)
            },
            expect!["x %u 10 == 3"],
        );
    }

    #[test]
    fn joined_residues_hold_for_all_numbers_of_8_bits() {
        for (d, k) in (3..64u64).step_by(2).flat_map(|d| (1..4u16).map(move |k| (d, k))) {
            for low in 0..1 << k {
                let low_bits = Bits::new(k, low);
                let (wide, zero) = (Bits::new(8, d), Bits::zero(8));
                for r in 0..d {
                    let claim = Divisible::Unsigned { d: wide, r: Bits::new(8, r) };
                    let Some(Divisible::Unsigned { d: all, r: rest }) = joined_residue(claim, low_bits) else {
                        continue;
                    };
                    for x in 0..256 {
                        assert_eq!(
                            x % d == r && x % (1 << k) == low,
                            x % all.low() == rest.low(),
                            "{x}, {d}, {k}, {low}"
                        );
                    }
                }
                let Some(Divisible::Signed { d: all }) = joined_residue(Divisible::Signed { d: wide }, low_bits) else {
                    continue;
                };
                for x in (0..256).map(|x| Bits::new(8, x)) {
                    let expected = x.srem(wide) == zero && x.low() % (1 << k) == low;
                    assert_eq!(expected, x.srem(all) == zero, "{x}, {d}, {k}");
                }
            }
        }
    }

    #[test]
    fn divisibility_theorem_holds_for_all_sets_of_7_bits() {
        let n = 7;
        let mut found = 0;
        for m in (1..128u64).step_by(2) {
            for k in 0..3u16 {
                for (low, lo, hi) in
                    (0..1u64 << k).flat_map(|low| (0..128).flat_map(move |lo| (0..128).map(move |hi| (low, lo, hi))))
                {
                    let set = Set::range(Bits::new(n, lo), Bits::new(n, hi));
                    let claim = divisibility(Bits::new(n, m), Bits::new(n, lo), Bits::new(n, hi), k, Bits::new(n, low));
                    let Some(claim) = claim else { continue };
                    found += 1;
                    for x in 0..128u64 {
                        let inside = set.contains(Bits::new(n, x * m)) && x % (1 << k) == low;
                        let x = Bits::new(n, x);
                        let divides = match claim {
                            Divisible::Unsigned { d, r } => x.urem(d) == r,
                            Divisible::Signed { d } => x.srem(d).is_zero(),
                        };
                        assert_eq!(inside, divides, "M {m}, k {k}, low {low}, [{lo}, {hi}], x {x}: {claim:?}");
                    }
                }
            }
        }
        assert!(found > 100, "{found}");
    }
}
