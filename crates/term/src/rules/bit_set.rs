//! Sets of small numbers written as the bits of a constant: `(1 << x) & 0x2a00 ≠ 0`, `bt mask, x`.
//!
//! Compilers test membership in a few values this way; the term form is the disjunction of intervals that the other
//! program's comparisons give.

use super::interval::{self, Set};
use super::view;
use crate::{Arena, Bits, Op, TermId};
use smallvec::SmallVec;

/// Constants with more runs of ones stay as they are.
const MAX_RUNS: usize = 6;

/// `x ∈ {i : bit i of bits}`; false for x beyond the width.
fn member_of_bits(arena: &mut Arena, x: TermId, bits: Bits) -> Option<TermId> {
    let width = arena.width(x);
    let mut runs: SmallVec<[(u16, u16); MAX_RUNS]> = SmallVec::new();
    let mut i = 0;
    while i < bits.width() {
        if !bits.bit(i) {
            i += 1;
            continue;
        }
        let start = i;
        while bits.bit(i) {
            i += 1;
        }
        if runs.len() == MAX_RUNS {
            return None;
        }
        runs.push((start, i - 1));
    }
    // The positions must be numbers of x's width.
    let last = runs.last().map_or(0, |run| run.1);
    if width < 16 && last >> width != 0 {
        return None;
    }
    let mut tests: SmallVec<[TermId; MAX_RUNS]> = SmallVec::new();
    for (start, end) in runs {
        let set = Set::range(Bits::new(width, u64::from(start)), Bits::new(width, u64::from(end)));
        tests.push(interval::member(arena, x, set));
    }
    Some(arena.bool_or_all(&tests))
}

fn reversed(bits: Bits, top: u16) -> Bits {
    let width = bits.width();
    (0..=top)
        .filter(|i| bits.bit(*i))
        .fold(Bits::zero(width), |out, i| out.or(Bits::new(width, 1).shl(Bits::new(16, u64::from(top - i)))))
}

/// One bit of a constant shifted by a variable amount.
pub(super) fn extract_of_shifted_constant(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    let Op::Extract { hi, lo } = op else { return None };
    let (kind, parts) = view::open(arena, args[0]);
    if hi != lo || !matches!(kind, Op::Lshr | Op::Shl) {
        return None;
    }
    let k = arena.as_const(parts[0])?;
    let positions = match kind {
        // Bit lo of k >> x is bit lo + x of k.
        Op::Lshr => k.lshr(Bits::new(16, u64::from(lo))),
        // Bit lo of k << x is bit lo − x of k.
        _ => reversed(k, lo),
    };
    let member = member_of_bits(arena, parts[1], positions)?;
    Some(arena.bool_to_bv(member, 1))
}

/// `(1 << x) & k = 0`, also where the mask has become an extraction.
pub(super) fn eq_no_bit(arena: &mut Arena, _: Op, args: &[TermId]) -> Option<TermId> {
    if !arena.as_const(args[1])?.is_zero() {
        return None;
    }
    // Which bits of the shifted number are compared with zero.
    let (mut shifted, mut mask) = (args[0], Bits::ones(arena.width(args[0])));
    for _ in 0..2 {
        let (kind, parts) = view::open(arena, shifted);
        (shifted, mask) = match kind {
            Op::BvAnd => (parts[0], mask.and(arena.as_const(parts[1])?)),
            Op::Extract { lo, .. } => {
                let width = arena.width(parts[0]);
                (parts[0], mask.zext(width).shl(Bits::new(16, u64::from(lo))))
            }
            _ => break,
        };
    }
    let (kind, parts) = view::open(arena, shifted);
    if kind != Op::Shl || arena.as_const(parts[0])? != Bits::new(mask.width(), 1) {
        return None;
    }
    let member = member_of_bits(arena, parts[1], mask)?;
    Some(arena.bool_not(member))
}

/// Where `x <u 2^n` is known, statements about the low n bits of x are statements about x. In a disjunction it is known
/// where the operand that says the opposite fails.
pub(super) fn low_part(arena: &mut Arena, op: Op, args: &[TermId]) -> Option<TermId> {
    if args.len() > 12 {
        return None;
    }
    for (i, bound) in args.iter().enumerate() {
        let Some((x, set)) = interval::statement(arena, *bound) else { continue };
        let Set::Range { lo, hi } = (if op == Op::And { set } else { set.complement() }) else { continue };
        if !lo.ule(hi) || hi.leading_zeros() == 0 {
            continue;
        }
        let needed = hi.width() - hi.leading_zeros();
        let mut out: SmallVec<[TermId; 8]> = args.into();
        for (j, literal) in args.iter().enumerate() {
            if i != j {
                out[j] = about_whole(arena, op, *literal, x, needed);
            }
        }
        if out[..] != *args {
            return Some(arena.make(op, &out));
        }
    }
    None
}

/// The literal, or junction of literals, with statements about enough low bits of `x` turned into ones about `x`.
fn about_whole(arena: &mut Arena, op: Op, literal: TermId, x: TermId, needed: u16) -> TermId {
    let inner = arena.op(literal);
    if matches!(inner, Op::And | Op::Or) && inner != op {
        let (_, parts) = view::open(arena, literal);
        let new: SmallVec<[TermId; 8]> =
            parts.iter().map(|part| about_whole_literal(arena, *part, x, needed)).collect();
        return if new[..] == parts[..] { literal } else { arena.make(inner, &new) };
    }
    about_whole_literal(arena, literal, x, needed)
}

fn about_whole_literal(arena: &mut Arena, literal: TermId, x: TermId, needed: u16) -> TermId {
    let Some((part, set)) = interval::statement(arena, literal) else { return literal };
    let Op::Extract { lo: 0, .. } = arena.op(part) else { return literal };
    if arena.arg(part, 0) != x || arena.width(part) < needed {
        return literal;
    }
    // Of a set that wraps around, the complement does not.
    let wraps = matches!(set, Set::Range { lo, hi } if hi.ult(lo));
    let Set::Range { lo, hi } = (if wraps { set.complement() } else { set }) else { return literal };
    let width = arena.width(x);
    let member = interval::member(arena, x, Set::range(lo.zext(width), hi.zext(width)));
    if wraps { arena.bool_not(member) } else { member }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{gives, words};
    use crate::{Arena, TermId};
    use expect_test::expect;

    fn shifted_one(arena: &mut Arena, x: TermId, mask: u64) -> TermId {
        let low = arena.truncate(x, 6);
        let (amount, one, mask) = (arena.zext(low, 64), arena.bv(64, 1), arena.bv(64, mask));
        let bit = arena.shl(one, amount);
        let (masked, zero) = (arena.and(bit, mask), arena.bv(64, 0));
        arena.ne(masked, zero)
    }

    #[test]
    fn sets_of_small_numbers() {
        // x <= 63 and bit x of a mask: '\t'..'\r' and ' '.
        gives(
            |a| {
                let (x, bound) = (words(a).0, a.bv(32, 63));
                let (inside, test) = (a.ule(x, bound), shifted_one(a, x, 1 << 32 | 0x3e00));
                a.bool_and(inside, test)
            },
            expect!["x - 9 <u 5 || x == 32"],
        );
        // Without the bound the amount wraps.
        gives(
            |a| {
                let x = words(a).0;
                shifted_one(a, x, 1 << 32 | 0x3e00)
            },
            expect!["x[5:0] - 9 <u 5 || x[5:0] == 32"],
        );
    }
}
