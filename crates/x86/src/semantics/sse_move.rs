//! Moves of vector registers, whole and in part.

use crate::step::{Lifted, Step};
use crate::table::{Alignment::*, Feature::*, Row, Vex};
use crate::vector::{join, split};
use crate::{Operand, Unsupported};
use term::{Arena, TermId};

const fn full(name: &'static str, feature: crate::table::Feature) -> Row {
    Row::new(name, feature, copy).vex(Vex::Avx)
}

pub(crate) const ROWS: &[Row] = &[
    full("movaps", Sse).alignment(Always),
    full("movapd", Sse2).alignment(Always),
    full("movdqa", Sse2).alignment(Always),
    full("movntps", Sse).alignment(Always),
    full("movntpd", Sse2).alignment(Always),
    full("movntdq", Sse2).alignment(Always),
    full("movntdqa", Sse41).alignment(Always).vex(Vex::Avx2),
    full("movups", Sse).alignment(Never),
    full("movupd", Sse2).alignment(Never),
    full("movdqu", Sse2).alignment(Never),
    full("lddqu", Sse3).alignment(Never),
    Row::new("movss", Sse, |s| scalar(s, 32)).vex(Vex::Avx),
    Row::new("movsd", Sse2, |s| scalar(s, 64)).vex(Vex::Avx),
    Row::new("movd", Sse2, movd).vex(Vex::Avx),
    Row::new("movq", Sse2, movd).vex(Vex::Avx),
    Row::new("movlps", Sse, |s| half(s, Half::Low)).vex(Vex::Avx),
    Row::new("movlpd", Sse2, |s| half(s, Half::Low)).vex(Vex::Avx),
    Row::new("movhps", Sse, |s| half(s, Half::High)).vex(Vex::Avx),
    Row::new("movhpd", Sse2, |s| half(s, Half::High)).vex(Vex::Avx),
    Row::new("movhlps", Sse, |s| s.halves(high_to_low)).vex(Vex::Avx),
    Row::new("movlhps", Sse, |s| s.halves(low_to_high)).vex(Vex::Avx),
    Row::new("movddup", Sse3, movddup).vex(Vex::Avx),
    Row::new("movsldup", Sse3, |s| s.map(64, |arena, a| twice(arena, a, 31, 0))).vex(Vex::Avx),
    Row::new("movshdup", Sse3, |s| s.map(64, |arena, a| twice(arena, a, 63, 32))).vex(Vex::Avx),
    Row::new("movmskps", Sse, |s| sign_mask(s, 32)).vex(Vex::Avx),
    Row::new("movmskpd", Sse2, |s| sign_mask(s, 64)).vex(Vex::Avx),
    Row::new("pmovmskb", Sse2, |s| sign_mask(s, 8)).vex(Vex::Avx2),
];

#[derive(Clone, Copy)]
enum Half {
    Low,
    High,
}

fn copy(s: &mut Step) -> Lifted {
    let value = s.read(1)?;
    s.write(0, value)
}

/// `movss`, `movsd`: a load clears the rest of the register, a move between registers keeps it.
fn scalar(s: &mut Step, width: u16) -> Lifted {
    match (s.operand(0)?, s.operand(1)?) {
        (Operand::Memory(_), _) => {
            let value = s.read_low(1, width)?;
            s.write(0, value)
        }
        (_, Operand::Memory(_)) => {
            let value = s.read(1)?;
            s.write_extended(value)
        }
        _ => {
            let value = s.read_low(s.first_source() + 1, width)?;
            s.write_scalar(value)
        }
    }
}

/// `movd`, `movq`: between a vector register, whose rest is cleared, and a general register or memory.
fn movd(s: &mut Step) -> Lifted {
    let source = s.read(1)?;
    match s.bits(0)? {
        128 => {
            let value = match s.arena.width(source) {
                128 => s.arena.truncate(source, 64),
                _ => source,
            };
            s.write_extended(value)
        }
        bits if bits <= s.arena.width(source) => {
            let value = s.arena.truncate(source, bits);
            s.write(0, value)
        }
        _ => s.unsupported(),
    }
}

/// `movlps`, `movhps` and the like: 64 bits between memory and one half of a register.
fn half(s: &mut Step, half: Half) -> Lifted {
    let offset = match half {
        Half::Low => 0,
        Half::High => 64,
    };
    if s.operand(0)?.is_memory() {
        let value = s.read_vector(1)?;
        let value = s.arena.extract(value, offset + 63, offset);
        return s.write(0, value);
    }
    let first = s.first_source();
    if s.bits(first + 1)? != 64 {
        return s.unsupported();
    }
    let (old, value) = (s.read_full(first)?, s.read(first + 1)?);
    let whole = s.insert(old, offset, value);
    s.write(0, whole)
}

fn high_to_low(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let (high, low) = (arena.extract(a, 127, 64), arena.extract(b, 127, 64));
    arena.concat(high, low)
}

fn low_to_high(arena: &mut Arena, a: TermId, b: TermId) -> TermId {
    let (high, low) = (arena.truncate(b, 64), arena.truncate(a, 64));
    arena.concat(high, low)
}

fn twice(arena: &mut Arena, a: TermId, hi: u16, lo: u16) -> TermId {
    let part = arena.extract(a, hi, lo);
    arena.concat(part, part)
}

fn movddup(s: &mut Step) -> Lifted {
    if s.bits(0)? == 128 {
        let low = s.read_low(1, 64)?;
        let value = s.arena.concat(low, low);
        return s.write(0, value);
    }
    s.map(128, |arena, a| twice(arena, a, 63, 0))
}

/// The sign bits of the lanes as a number.
fn signs(s: &mut Step, i: usize, width: u16) -> Result<TermId, Unsupported> {
    let value = s.read_vector(i)?;
    let lanes = split(s.arena, value, width);
    let bits: Vec<TermId> = lanes.into_iter().map(|lane| s.arena.extract(lane, width - 1, width - 1)).collect();
    Ok(join(s.arena, &bits))
}

fn sign_mask(s: &mut Step, width: u16) -> Lifted {
    let mask = signs(s, 1, width)?;
    s.write_extended(mask)
}
