//! Conversions between integers and floating-point numbers.

use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{join, split};
use term::{FloatOp, TermId};

const fn float(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx)
}

pub(crate) const ROWS: &[Row] = &[
    float("cvtsi2ss", Sse, |s| from_integer(s, 32)),
    float("cvtsi2sd", Sse2, |s| from_integer(s, 64)),
    float("cvtss2si", Sse, |s| to_integer(s, 32, |from, to| FloatOp::Round { from, to })),
    float("cvtsd2si", Sse2, |s| to_integer(s, 64, |from, to| FloatOp::Round { from, to })),
    float("cvttss2si", Sse, |s| to_integer(s, 32, |from, to| FloatOp::Truncate { from, to })),
    float("cvttsd2si", Sse2, |s| to_integer(s, 64, |from, to| FloatOp::Truncate { from, to })),
    float("cvtss2sd", Sse2, |s| between(s, 32, 64)),
    float("cvtsd2ss", Sse2, |s| between(s, 64, 32)),
    float("cvtps2pd", Sse2, |s| packed(s, FloatOp::Convert { from: 32, to: 64 })),
    float("cvtpd2ps", Sse2, |s| packed(s, FloatOp::Convert { from: 64, to: 32 })),
    float("cvtdq2ps", Sse2, |s| packed(s, FloatOp::FromInt { from: 32, to: 32 })),
    float("cvtdq2pd", Sse2, |s| packed(s, FloatOp::FromInt { from: 32, to: 64 })),
    float("cvtps2dq", Sse2, |s| packed(s, FloatOp::Round { from: 32, to: 32 })),
    float("cvttps2dq", Sse2, |s| packed(s, FloatOp::Truncate { from: 32, to: 32 })),
    float("cvtpd2dq", Sse2, |s| packed(s, FloatOp::Round { from: 64, to: 32 })),
    float("cvttpd2dq", Sse2, |s| packed(s, FloatOp::Truncate { from: 64, to: 32 })),
];

fn from_integer(s: &mut Step, to: u16) -> Lifted {
    let a = s.read_general(s.first_source() + 1)?;
    let from = s.arena.width(a);
    let value = s.arena.float(FloatOp::FromInt { from, to }, &[a]);
    s.write_scalar(value)
}

fn to_integer(s: &mut Step, from: u16, op: fn(u16, u16) -> FloatOp) -> Lifted {
    let a = s.read_low(1, from)?;
    let bits = s.bits(0)?;
    if !matches!(bits, 32 | 64) {
        return s.unsupported();
    }
    let value = s.arena.float(op(from, bits), &[a]);
    s.write(0, value)
}

fn between(s: &mut Step, from: u16, to: u16) -> Lifted {
    let a = s.read_low(s.first_source() + 1, from)?;
    let value = s.arena.float(FloatOp::Convert { from, to }, &[a]);
    s.write_scalar(value)
}

/// As many lanes as both source and destination hold; a narrower result is extended with zeros.
fn packed(s: &mut Step, op: FloatOp) -> Lifted {
    let from = op.operands().0;
    let to = op.result().width().unwrap_or(from);
    let source = s.read(1)?;
    let count = (s.arena.width(source) / from).min(s.lanes(to)?);
    if count == 0 {
        return s.unsupported();
    }
    let source = s.arena.truncate(source, count * from);
    let lanes = split(s.arena, source, from);
    let lanes: Vec<TermId> = lanes.into_iter().map(|lane| s.arena.float(op, &[lane])).collect();
    let value = join(s.arena, &lanes);
    s.write_extended(value)
}
