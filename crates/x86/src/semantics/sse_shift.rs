//! Bitwise logic and shifts of vector registers.

use crate::Unsupported;
use crate::flags::is_zero;
use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{Binary, join, split, zip};
use program::Flag;
use term::{Arena, TermId};

const fn float(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx)
}

const fn integer(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx2)
}

pub(crate) const ROWS: &[Row] = &[
    float("andps", Sse, |s| bitwise(s, Arena::and)),
    float("andpd", Sse2, |s| bitwise(s, Arena::and)),
    integer("pand", Sse2, |s| bitwise(s, Arena::and)),
    float("andnps", Sse, |s| bitwise(s, and_not)),
    float("andnpd", Sse2, |s| bitwise(s, and_not)),
    integer("pandn", Sse2, |s| bitwise(s, and_not)),
    float("orps", Sse, |s| bitwise(s, Arena::or)),
    float("orpd", Sse2, |s| bitwise(s, Arena::or)),
    integer("por", Sse2, |s| bitwise(s, Arena::or)),
    float("xorps", Sse, |s| bitwise(s, Arena::xor)),
    float("xorpd", Sse2, |s| bitwise(s, Arena::xor)),
    integer("pxor", Sse2, |s| bitwise(s, Arena::xor)),
    integer("psllw", Sse2, |s| shift(s, 16, Kind::Left)),
    integer("pslld", Sse2, |s| shift(s, 32, Kind::Left)),
    integer("psllq", Sse2, |s| shift(s, 64, Kind::Left)),
    integer("psrlw", Sse2, |s| shift(s, 16, Kind::Right)),
    integer("psrld", Sse2, |s| shift(s, 32, Kind::Right)),
    integer("psrlq", Sse2, |s| shift(s, 64, Kind::Right)),
    integer("psraw", Sse2, |s| shift(s, 16, Kind::Arithmetic)),
    integer("psrad", Sse2, |s| shift(s, 32, Kind::Arithmetic)),
    integer("pslldq", Sse2, |s| shift_bytes(s, Kind::Left)),
    integer("psrldq", Sse2, |s| shift_bytes(s, Kind::Right)),
    Row::new("vpsllvd", Avx2, |s| each(s, 32, Kind::Left)).vex(Vex::Only),
    Row::new("vpsllvq", Avx2, |s| each(s, 64, Kind::Left)).vex(Vex::Only),
    Row::new("vpsrlvd", Avx2, |s| each(s, 32, Kind::Right)).vex(Vex::Only),
    Row::new("vpsrlvq", Avx2, |s| each(s, 64, Kind::Right)).vex(Vex::Only),
    Row::new("vpsravd", Avx2, |s| each(s, 32, Kind::Arithmetic)).vex(Vex::Only),
    float("ptest", Sse41, |s| test(s, None)),
    Row::new("vtestps", Avx, |s| test(s, Some(32))).vex(Vex::Only),
    Row::new("vtestpd", Avx, |s| test(s, Some(64))).vex(Vex::Only),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Left,
    Right,
    Arithmetic,
}

fn and_not(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let keep = arena.not(a);
    arena.and(keep, b)
}

/// Whole registers at once: lanes do not matter.
fn bitwise(s: &mut Step, op: Binary) -> Lifted {
    s.halves(op)
}

/// One lane shifted by a count of its own width: zero or the sign once the count reaches the width.
fn shifted(arena: &mut Arena, a: TermId, count: TermId, kind: Kind) -> TermId {
    match kind {
        Kind::Left => arena.shl(a, count),
        Kind::Right => arena.lshr(a, count),
        Kind::Arithmetic => arena.ashr(a, count),
    }
}

/// The common count of a packed shift at the lanes' width, the width itself standing for everything above.
fn common_count(s: &mut Step, width: u16) -> Result<TermId, Unsupported> {
    let count = s.read(s.first_source() + 1)?;
    let count = if s.arena.width(count) > 64 { s.arena.truncate(count, 64) } else { s.arena.zext(count, 64) };
    let size = s.bv(64, u64::from(width));
    let below = s.arena.ult(count, size);
    let capped = s.arena.ite(below, count, size);
    Ok(s.arena.truncate(capped, width))
}

fn shift(s: &mut Step, width: u16, kind: Kind) -> Lifted {
    let a = s.read_full(s.first_source())?;
    let count = common_count(s, width)?;
    let lanes = split(s.arena, a, width);
    let lanes: Vec<TermId> = lanes.into_iter().map(|lane| shifted(s.arena, lane, count, kind)).collect();
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

fn each(s: &mut Step, width: u16, kind: Kind) -> Lifted {
    s.zip(width, |arena, a, count| shifted(arena, a, count, kind))
}

/// Each 128-bit half by a number of bytes.
fn shift_bytes(s: &mut Step, kind: Kind) -> Lifted {
    let first = s.first_source();
    let (a, bytes) = (s.read_full(first)?, s.constant(first + 1)?.min(16));
    let bits = s.bv(128, 8 * bytes);
    let halves = split(s.arena, a, 128);
    let halves: Vec<TermId> = halves.into_iter().map(|half| shifted(s.arena, half, bits, kind)).collect();
    let value = join(s.arena, &halves);
    s.write(0, value)
}

/// ZF: no common bit. CF: no bit of the second operand outside the first. With lanes, of their signs only.
fn test(s: &mut Step, signs: Option<u16>) -> Lifted {
    let (a, b) = (s.read_full(0)?, s.read_full(1)?);
    let (both, rest) = (s.arena.and(a, b), and_not(s.arena, a, b));
    for (flag, value) in [(Flag::Zero, both), (Flag::Carry, rest)] {
        let value = match signs {
            None => value,
            Some(width) => {
                zip(s.arena, value, value, width, |arena, lane, _| arena.extract(lane, width - 1, width - 1))
            }
        };
        let none = is_zero(s.arena, value);
        s.set_flag(flag, none);
    }
    s.clear_flags(&[Flag::Overflow, Flag::Adjust, Flag::Parity, Flag::Sign]);
    Ok(())
}
