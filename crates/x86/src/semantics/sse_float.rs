//! Floating-point arithmetic and comparison, scalar and packed.
//!
//! Every operation is a function of bit patterns (`term::FloatOp`), applied lane by lane, so that scalar and
//! vector code meet in the same terms. The environment is the default one: round to nearest, nothing masked in.

use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{join, mask, split};
use program::Flag;
use term::{Arena, FloatOp, Rounding, TermId};

const fn float(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx)
}

pub(crate) const ROWS: &[Row] = &[
    float("addss", Sse, |s| scalar(s, FloatOp::Add(32))).nan_lanes(32),
    float("addsd", Sse2, |s| scalar(s, FloatOp::Add(64))).nan_lanes(64),
    float("addps", Sse, |s| packed(s, FloatOp::Add(32))).nan_lanes(32),
    float("addpd", Sse2, |s| packed(s, FloatOp::Add(64))).nan_lanes(64),
    float("subss", Sse, |s| scalar(s, FloatOp::Sub(32))).nan_lanes(32),
    float("subsd", Sse2, |s| scalar(s, FloatOp::Sub(64))).nan_lanes(64),
    float("subps", Sse, |s| packed(s, FloatOp::Sub(32))).nan_lanes(32),
    float("subpd", Sse2, |s| packed(s, FloatOp::Sub(64))).nan_lanes(64),
    float("mulss", Sse, |s| scalar(s, FloatOp::Mul(32))).nan_lanes(32),
    float("mulsd", Sse2, |s| scalar(s, FloatOp::Mul(64))).nan_lanes(64),
    float("mulps", Sse, |s| packed(s, FloatOp::Mul(32))).nan_lanes(32),
    float("mulpd", Sse2, |s| packed(s, FloatOp::Mul(64))).nan_lanes(64),
    float("divss", Sse, |s| scalar(s, FloatOp::Div(32))).nan_lanes(32),
    float("divsd", Sse2, |s| scalar(s, FloatOp::Div(64))).nan_lanes(64),
    float("divps", Sse, |s| packed(s, FloatOp::Div(32))).nan_lanes(32),
    float("divpd", Sse2, |s| packed(s, FloatOp::Div(64))).nan_lanes(64),
    float("minss", Sse, |s| scalar(s, FloatOp::Min(32))),
    float("minsd", Sse2, |s| scalar(s, FloatOp::Min(64))),
    float("minps", Sse, |s| packed(s, FloatOp::Min(32))),
    float("minpd", Sse2, |s| packed(s, FloatOp::Min(64))),
    float("maxss", Sse, |s| scalar(s, FloatOp::Max(32))),
    float("maxsd", Sse2, |s| scalar(s, FloatOp::Max(64))),
    float("maxps", Sse, |s| packed(s, FloatOp::Max(32))),
    float("maxpd", Sse2, |s| packed(s, FloatOp::Max(64))),
    float("sqrtss", Sse, |s| scalar_unary(s, FloatOp::Sqrt(32))),
    float("sqrtsd", Sse2, |s| scalar_unary(s, FloatOp::Sqrt(64))),
    float("sqrtps", Sse, |s| s.map(32, |arena, a| arena.float(FloatOp::Sqrt(32), &[a]))),
    float("sqrtpd", Sse2, |s| s.map(64, |arena, a| arena.float(FloatOp::Sqrt(64), &[a]))),
    float("roundss", Sse41, |s| round(s, 32, true)),
    float("roundsd", Sse41, |s| round(s, 64, true)),
    float("roundps", Sse41, |s| round(s, 32, false)),
    float("roundpd", Sse41, |s| round(s, 64, false)),
    float("haddps", Sse3, |s| horizontal(s, FloatOp::Add(32))).nan_lanes(32),
    float("haddpd", Sse3, |s| horizontal(s, FloatOp::Add(64))).nan_lanes(64),
    float("hsubps", Sse3, |s| horizontal(s, FloatOp::Sub(32))).nan_lanes(32),
    float("hsubpd", Sse3, |s| horizontal(s, FloatOp::Sub(64))).nan_lanes(64),
    float("addsubps", Sse3, |s| alternate(s, 32)).nan_lanes(32),
    float("addsubpd", Sse3, |s| alternate(s, 64)).nan_lanes(64),
    float("ucomiss", Sse, |s| order(s, 32)),
    float("ucomisd", Sse2, |s| order(s, 64)),
    float("comiss", Sse, |s| order(s, 32)),
    float("comisd", Sse2, |s| order(s, 64)),
    float("cmpss", Sse, |s| compare_scalar(s, 32)),
    float("cmpsd", Sse2, |s| compare_scalar(s, 64)),
    float("cmpps", Sse, |s| compare_packed(s, 32)),
    float("cmppd", Sse2, |s| compare_packed(s, 64)),
];

/// Width of an operation's operands.
fn width(op: FloatOp) -> u16 {
    op.operands().0
}

fn packed(s: &mut Step, op: FloatOp) -> Lifted {
    s.zip(width(op), |arena, a, b| arena.float(op, &[a, b]))
}

fn scalar(s: &mut Step, op: FloatOp) -> Lifted {
    let first = s.first_source();
    let (a, b) = (s.read_low(first, width(op))?, s.read_low(first + 1, width(op))?);
    let value = s.arena.float(op, &[a, b]);
    s.write_scalar(value)
}

fn scalar_unary(s: &mut Step, op: FloatOp) -> Lifted {
    let a = s.read_low(s.first_source() + 1, width(op))?;
    let value = s.arena.float(op, &[a]);
    s.write_scalar(value)
}

/// The immediate of `roundss` and the like. Bit 2 means the mode of MXCSR, which is the default one.
fn rounding(imm: u64) -> Rounding {
    match imm & 7 {
        1 => Rounding::Down,
        2 => Rounding::Up,
        3 => Rounding::Zero,
        _ => Rounding::Nearest,
    }
}

fn round(s: &mut Step, width: u16, is_scalar: bool) -> Lifted {
    let op = FloatOp::Integral { width, rounding: rounding(s.selector()?) };
    match is_scalar {
        true => scalar_unary(s, op),
        false => s.map(width, |arena, a| arena.float(op, &[a])),
    }
}

fn horizontal(s: &mut Step, op: FloatOp) -> Lifted {
    s.halves(|arena, a, b| {
        let mut lanes = split(arena, a, width(op));
        lanes.extend(split(arena, b, width(op)));
        let sums: Vec<TermId> = lanes.chunks(2).map(|pair| arena.float(op, pair)).collect();
        join(arena, &sums)
    })
}

/// `addsub`: even lanes are subtracted, odd ones added.
fn alternate(s: &mut Step, width: u16) -> Lifted {
    let (a, b) = s.full_sources()?;
    let (a, b) = (split(s.arena, a, width), split(s.arena, b, width));
    let mut lanes = Vec::with_capacity(a.len());
    for (i, (a, b)) in a.into_iter().zip(b).enumerate() {
        let op = if i % 2 == 0 { FloatOp::Sub(width) } else { FloatOp::Add(width) };
        lanes.push(s.arena.float(op, &[a, b]));
    }
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

/// `ucomis`, `comis`: ZF, PF, CF are 1,1,1 if unordered, else they say greater, less, equal as unsigned
/// comparisons do.
fn order(s: &mut Step, width: u16) -> Lifted {
    let (a, b) = (s.read_low(0, width)?, s.read_low(1, width)?);
    let unordered = s.arena.float(FloatOp::Unordered(width), &[a, b]);
    let equal = s.arena.float(FloatOp::Eq(width), &[a, b]);
    let less = s.arena.float(FloatOp::Lt(width), &[a, b]);
    let (zero, carry) = (s.arena.bool_or(unordered, equal), s.arena.bool_or(unordered, less));
    s.set_flag(Flag::Zero, zero);
    s.set_flag(Flag::Parity, unordered);
    s.set_flag(Flag::Carry, carry);
    s.clear_flags(&[Flag::Overflow, Flag::Sign, Flag::Adjust]);
    Ok(())
}

/// Intel SDM vol. 2A, CMPPD, table 3-1. The upper half of the predicates differs in exceptions only.
fn predicate(arena: &mut Arena, imm: u64, a: TermId, b: TermId) -> TermId {
    let width = arena.width(a);
    let mut op = |op: fn(u16) -> FloatOp, a, b| arena.float(op(width), &[a, b]);
    let (equal, unordered) = (op(FloatOp::Eq, a, b), op(FloatOp::Unordered, a, b));
    let (less, greater) = (op(FloatOp::Lt, a, b), op(FloatOp::Lt, b, a));
    let positive = match imm & 15 {
        0 | 4 => equal,
        1 | 5 => less,
        2 | 6 => arena.bool_or(less, equal),
        3 | 7 => unordered,
        8 | 12 => arena.bool_or(equal, unordered),
        9 | 13 => arena.bool_or(greater, equal),
        10 | 14 => greater,
        _ => arena.bool(false),
    };
    match imm & 15 {
        4..=7 | 9 | 10 | 12 | 15 => arena.bool_not(positive),
        _ => positive,
    }
}

/// The predicate number: three bits in the legacy form, five with VEX.
fn predicate_number(s: &Step) -> Result<u64, crate::Unsupported> {
    Ok(s.selector()? & if s.is_vex() { 31 } else { 7 })
}

fn compare_scalar(s: &mut Step, width: u16) -> Lifted {
    let imm = predicate_number(s)?;
    let first = s.first_source();
    let (a, b) = (s.read_low(first, width)?, s.read_low(first + 1, width)?);
    let condition = predicate(s.arena, imm, a, b);
    let value = mask(s.arena, condition, width);
    s.write_scalar(value)
}

fn compare_packed(s: &mut Step, width: u16) -> Lifted {
    let imm = predicate_number(s)?;
    s.zip(width, |arena, a, b| {
        let condition = predicate(arena, imm, a, b);
        mask(arena, condition, width)
    })
}
