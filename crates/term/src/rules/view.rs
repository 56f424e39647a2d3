//! Cheap questions about terms that several rule families ask.

use crate::{Arena, Bits, Linear, Op, TermId};
use smallvec::SmallVec;

/// Analyses look at most this many levels deep.
const MAX_LEVELS: u32 = 4;

/// Operator and operands, copied out of the arena.
pub(super) fn open(arena: &Arena, term: TermId) -> (Op, SmallVec<[TermId; 3]>) {
    let node = arena.node(term);
    (node.op, node.args.clone())
}

/// Two terms that are the same kind of extension to one width, or one such extension and a constant among its
/// values: the terms before extension, brought to the larger of their widths.
pub(super) fn same_extension(arena: &mut Arena, a: TermId, b: TermId) -> Option<(TermId, TermId)> {
    let (op_a, op_b) = (arena.op(a), arena.op(b));
    match (op_a, op_b) {
        (Op::Zext(_), Op::Zext(_)) => {
            let (x, y) = (arena.arg(a, 0), arena.arg(b, 0));
            let width = arena.width(x).max(arena.width(y));
            Some((arena.zext(x, width), arena.zext(y, width)))
        }
        (Op::Sext(_), Op::Sext(_)) => {
            let (x, y) = (arena.arg(a, 0), arena.arg(b, 0));
            let width = arena.width(x).max(arena.width(y));
            Some((arena.sext(x, width), arena.sext(y, width)))
        }
        _ => None,
    }
}

/// `2^k·(y >> k) + j` with j < 2^k: the number `y`, its k low bits, and `j` in k bits.
pub(super) fn aligned(arena: &mut Arena, term: TermId) -> Option<(TermId, TermId, TermId)> {
    let width = arena.width(term);
    let sum = Linear::of(arena, term);
    let [(high, factor)] = sum.terms[..] else { return None };
    let Op::Zext(_) = arena.op(high) else { return None };
    let part = arena.arg(high, 0);
    let Op::Extract { hi, lo: k } = arena.op(part) else { return None };
    let power = k > 0 && factor.count_ones() == 1 && factor.trailing_zeros() == k;
    if !power || hi + 1 > width || width - sum.constant.leading_zeros() > k {
        return None;
    }
    let source = arena.arg(part, 0);
    let y = arena.extract(source, hi, 0);
    let (y, low) = (arena.zext(y, width), arena.extract(source, k - 1, 0));
    let rest = arena.constant(sum.constant.extract(k - 1, 0));
    Some((y, low, rest))
}

/// A number of high bits that are certainly zero.
pub(super) fn leading_zeros(arena: &Arena, term: TermId) -> u16 {
    let width = arena.width(term);
    width - significant(arena, term, MAX_LEVELS)
}

/// A number of bits such that the value fits in them, unsigned.
fn significant(arena: &Arena, term: TermId, levels: u32) -> u16 {
    let node = arena.node(term);
    let width = arena.width(term);
    let of = |i: usize| match levels {
        0 => arena.width(node.args[i]),
        _ => significant(arena, node.args[i], levels - 1),
    };
    match node.op {
        Op::Const(_) => width - arena.as_const(term).expect("a constant").leading_zeros(),
        Op::Zext(_) => of(0),
        Op::Ite => of(1).max(of(2)),
        Op::BvAnd => of(0).min(of(1)),
        Op::BvOr | Op::BvXor => of(0).max(of(1)),
        Op::Concat => {
            let below = width - arena.width(node.args[0]);
            below + of(0)
        }
        Op::Udiv => match arena.as_const(node.args[1]) {
            Some(c) if !c.is_zero() => of(0).saturating_sub(width - 1 - c.leading_zeros()),
            _ => width,
        },
        Op::Urem => match arena.as_const(node.args[1]) {
            Some(c) if !c.is_zero() => of(0).min(width - c.sub(Bits::new(width, 1)).leading_zeros()),
            _ => of(0),
        },
        Op::Lshr => of(0),
        Op::Extract { lo, .. } => of(0).saturating_sub(lo).min(width),
        Op::Mul => (of(0) + of(1)).min(width),
        Op::Add if node.args.len() <= 8 => {
            let extra = usize::BITS - (node.args.len() - 1).leading_zeros();
            let most = (0..node.args.len()).map(of).max().unwrap_or(width);
            (most + extra as u16).min(width)
        }
        Op::Popcount | Op::TrailingZeros | Op::LeadingZeros => (16 - width.leading_zeros() as u16).min(width),
        _ => width,
    }
}

/// A number of bits such that the term is the sign extension of that many low bits.
pub(super) fn signed_bits(arena: &Arena, term: TermId) -> u16 {
    fn go(arena: &Arena, term: TermId, levels: u32) -> u16 {
        let node = arena.node(term);
        let width = arena.width(term);
        let of = |i: usize| match levels {
            0 => arena.width(node.args[i]),
            _ => go(arena, node.args[i], levels - 1),
        };
        match node.op {
            Op::Const(_) => {
                let c = arena.as_const(term).expect("a constant");
                let magnitude = if c.sign() { c.not() } else { c };
                (width - magnitude.leading_zeros() + 1).min(width)
            }
            Op::Sext(_) => of(0),
            Op::Zext(_) => arena.width(node.args[0]) + 1,
            Op::Ite => of(1).max(of(2)),
            // The remainder is smaller than the divisor and not larger than the dividend.
            Op::Srem => match arena.as_const(node.args[1]) {
                Some(c) if !c.is_zero() && !c.sign() => {
                    let below = width - c.sub(Bits::new(width, 1)).leading_zeros();
                    (below + 1).min(of(0))
                }
                _ => width,
            },
            _ => width,
        }
    }
    go(arena, term, MAX_LEVELS)
}

/// A number of low bits that are certainly zero.
pub(super) fn trailing_zeros(arena: &Arena, term: TermId) -> u16 {
    fn go(arena: &Arena, term: TermId, levels: u32) -> u16 {
        let node = arena.node(term);
        let of = |i: usize| if levels == 0 { 0 } else { go(arena, node.args[i], levels - 1) };
        let width = arena.width(term);
        match node.op {
            Op::Const(_) => arena.as_const(term).expect("a constant").trailing_zeros(),
            Op::Mul => (of(0) + of(1)).min(width),
            Op::Add => (0..node.args.len()).map(of).min().unwrap_or(0),
            Op::Ite => of(1).min(of(2)),
            Op::BvAnd => of(0).max(of(1)),
            Op::BvOr | Op::BvXor => of(0).min(of(1)),
            Op::Zext(_) | Op::Sext(_) => {
                let inner = of(0);
                if inner == arena.width(node.args[0]) { width } else { inner }
            }
            Op::Concat => {
                let last = node.args.len() - 1;
                of(last)
            }
            _ => 0,
        }
    }
    go(arena, term, MAX_LEVELS)
}

/// The one-bit term of which this is the zero extension.
pub(super) fn extended_bit(arena: &Arena, term: TermId) -> Option<TermId> {
    match arena.op(term) {
        Op::Zext(_) if arena.width(arena.arg(term, 0)) == 1 => Some(arena.arg(term, 0)),
        _ => None,
    }
}

/// The one-bit term of which this is the sign extension.
pub(super) fn repeated_bit(arena: &Arena, term: TermId) -> Option<TermId> {
    match arena.op(term) {
        Op::Sext(_) if arena.width(arena.arg(term, 0)) == 1 => Some(arena.arg(term, 0)),
        _ => None,
    }
}

/// A term with only two possible values: condition, value if it holds, value if not.
pub(super) fn two_valued(arena: &mut Arena, term: TermId) -> Option<(TermId, Bits, Bits)> {
    two_valued_within(arena, term, MAX_LEVELS)
}

fn two_valued_within(arena: &mut Arena, term: TermId, levels: u32) -> Option<(TermId, Bits, Bits)> {
    let width = arena.sort(term).width()?;
    let (op, args) = open(arena, term);
    match op {
        Op::Ite => Some((args[0], arena.as_const(args[1])?, arena.as_const(args[2])?)),
        Op::Zext(_) | Op::Sext(_) if arena.width(args[0]) == 1 => {
            let c = arena.bit(args[0], 0);
            let yes = if op == Op::Sext(width) { Bits::ones(width) } else { Bits::new(width, 1) };
            Some((c, yes, Bits::zero(width)))
        }
        Op::Mul | Op::Add if args.len() == 2 && levels > 0 => {
            let k = arena.as_const(args[1])?;
            if !matches!(arena.op(args[0]), Op::Ite | Op::Zext(_) | Op::Sext(_) | Op::Mul) {
                return None;
            }
            let (c, a, b) = two_valued_within(arena, args[0], levels - 1)?;
            Some(if op == Op::Mul { (c, a.mul(k), b.mul(k)) } else { (c, a.add(k), b.add(k)) })
        }
        _ => None,
    }
}

/// The condition that a one-bit term is one, without making it: the bit itself if the term is `bit = 1`.
pub(super) fn as_bit_test(arena: &Arena, condition: TermId) -> Option<TermId> {
    if arena.op(condition) != Op::Eq {
        return None;
    }
    let (x, c) = (arena.arg(condition, 0), arena.arg(condition, 1));
    match arena.as_const(c) {
        Some(c) if c.width() == 1 && !c.is_zero() => Some(x),
        _ => None,
    }
}
