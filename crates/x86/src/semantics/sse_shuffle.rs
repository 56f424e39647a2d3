//! Shuffles, unpacks, packs, blends, insertions and extractions of lanes.

use super::sse_int::{saturate_signed, saturate_unsigned};
use crate::Operand;
use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{join, split};
use program::Register;
use term::{Arena, TermId};

const fn float(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx)
}

const fn integer(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Avx2)
}

pub(crate) const ROWS: &[Row] = &[
    integer("pshufd", Sse2, |s| permute(s, 32, two_bits)),
    integer("pshuflw", Sse2, |s| permute(s, 16, |imm, i| if i < 4 { two_bits(imm, i) } else { i })),
    integer("pshufhw", Sse2, |s| permute(s, 16, |imm, i| if i < 4 { i } else { 4 + two_bits(imm, i - 4) })),
    integer("pshufb", Ssse3, |s| s.halves(shuffle_bytes)),
    float("shufps", Sse, shufps),
    float("shufpd", Sse2, shufpd),
    float("unpcklps", Sse, |s| unpack(s, 32, Half::Low)),
    float("unpckhps", Sse, |s| unpack(s, 32, Half::High)),
    float("unpcklpd", Sse2, |s| unpack(s, 64, Half::Low)),
    float("unpckhpd", Sse2, |s| unpack(s, 64, Half::High)),
    integer("punpcklbw", Sse2, |s| unpack(s, 8, Half::Low)),
    integer("punpcklwd", Sse2, |s| unpack(s, 16, Half::Low)),
    integer("punpckldq", Sse2, |s| unpack(s, 32, Half::Low)),
    integer("punpcklqdq", Sse2, |s| unpack(s, 64, Half::Low)),
    integer("punpckhbw", Sse2, |s| unpack(s, 8, Half::High)),
    integer("punpckhwd", Sse2, |s| unpack(s, 16, Half::High)),
    integer("punpckhdq", Sse2, |s| unpack(s, 32, Half::High)),
    integer("punpckhqdq", Sse2, |s| unpack(s, 64, Half::High)),
    integer("packsswb", Sse2, |s| s.halves(|a, x, y| pack(a, x, y, 16, saturate_signed))),
    integer("packssdw", Sse2, |s| s.halves(|a, x, y| pack(a, x, y, 32, saturate_signed))),
    integer("packuswb", Sse2, |s| s.halves(|a, x, y| pack(a, x, y, 16, saturate_unsigned))),
    integer("packusdw", Sse41, |s| s.halves(|a, x, y| pack(a, x, y, 32, saturate_unsigned))),
    integer("palignr", Ssse3, palignr),
    float("blendps", Sse41, |s| blend(s, 32)),
    float("blendpd", Sse41, |s| blend(s, 64)),
    integer("pblendw", Sse41, |s| blend(s, 16)),
    Row::new("vpblendd", Avx2, |s| blend(s, 32)).vex(Vex::Only),
    float("blendvps", Sse41, |s| blend_variable(s, 32)),
    float("blendvpd", Sse41, |s| blend_variable(s, 64)),
    integer("pblendvb", Sse41, |s| blend_variable(s, 8)),
    float("pinsrb", Sse41, |s| insert(s, 8)),
    float("pinsrw", Sse2, |s| insert(s, 16)),
    float("pinsrd", Sse41, |s| insert(s, 32)),
    float("pinsrq", Sse41, |s| insert(s, 64)),
    float("pextrb", Sse41, |s| extract(s, 8)),
    float("pextrw", Sse2, |s| extract(s, 16)),
    float("pextrd", Sse41, |s| extract(s, 32)),
    float("pextrq", Sse41, |s| extract(s, 64)),
    float("extractps", Sse41, |s| extract(s, 32)),
    float("insertps", Sse41, insertps),
    integer("pmovzxbw", Sse41, |s| widen(s, 8, 16, Arena::zext)),
    integer("pmovzxbd", Sse41, |s| widen(s, 8, 32, Arena::zext)),
    integer("pmovzxbq", Sse41, |s| widen(s, 8, 64, Arena::zext)),
    integer("pmovzxwd", Sse41, |s| widen(s, 16, 32, Arena::zext)),
    integer("pmovzxwq", Sse41, |s| widen(s, 16, 64, Arena::zext)),
    integer("pmovzxdq", Sse41, |s| widen(s, 32, 64, Arena::zext)),
    integer("pmovsxbw", Sse41, |s| widen(s, 8, 16, Arena::sext)),
    integer("pmovsxbd", Sse41, |s| widen(s, 8, 32, Arena::sext)),
    integer("pmovsxbq", Sse41, |s| widen(s, 8, 64, Arena::sext)),
    integer("pmovsxwd", Sse41, |s| widen(s, 16, 32, Arena::sext)),
    integer("pmovsxwq", Sse41, |s| widen(s, 16, 64, Arena::sext)),
    integer("pmovsxdq", Sse41, |s| widen(s, 32, 64, Arena::sext)),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Low,
    High,
}

/// Two-bit field `i` of a selector.
pub(crate) fn two_bits(imm: u64, i: usize) -> usize {
    (imm >> (2 * i) & 3) as usize
}

/// Lanes of each half of the source, chosen by the selector.
fn permute(s: &mut Step, width: u16, choose: fn(u64, usize) -> usize) -> Lifted {
    let imm = s.selector()?;
    s.map(128, |arena, half| {
        let lanes = split(arena, half, width);
        let chosen: Vec<TermId> = (0..lanes.len()).map(|i| lanes[choose(imm, i)]).collect();
        join(arena, &chosen)
    })
}

/// `pshufb`: each control byte chooses a byte of the source, or zero.
fn shuffle_bytes(arena: &mut Arena, source: TermId, control: TermId) -> TermId {
    let controls = split(arena, control, 8);
    let zero = arena.bv(8, 0);
    let bytes: Vec<TermId> = controls
        .into_iter()
        .map(|control| {
            let index = arena.truncate(control, 4);
            let index = arena.zext(index, 128);
            let eight = arena.bv(128, 8);
            let amount = arena.mul(index, eight);
            let moved = arena.lshr(source, amount);
            let byte = arena.truncate(moved, 8);
            let clear = arena.bit(control, 7);
            arena.ite(clear, zero, byte)
        })
        .collect();
    join(arena, &bytes)
}

fn shufps(s: &mut Step) -> Lifted {
    let imm = s.selector()?;
    s.halves(|arena, a, b| {
        let (a, b) = (split(arena, a, 32), split(arena, b, 32));
        let lanes = [a[two_bits(imm, 0)], a[two_bits(imm, 1)], b[two_bits(imm, 2)], b[two_bits(imm, 3)]];
        join(arena, &lanes)
    })
}

fn shufpd(s: &mut Step) -> Lifted {
    let imm = s.selector()?;
    let (a, b) = s.full_sources()?;
    let (a, b) = (split(s.arena, a, 64), split(s.arena, b, 64));
    let lanes: Vec<TermId> = (0..a.len())
        .map(|i| {
            let from = if i % 2 == 0 { &a } else { &b };
            from[i / 2 * 2 + (imm >> i & 1) as usize]
        })
        .collect();
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

/// Lanes of both sources in turn, from the low or the high half of each.
fn unpack(s: &mut Step, width: u16, half: Half) -> Lifted {
    s.halves(|arena, a, b| {
        let (a, b) = (split(arena, a, width), split(arena, b, width));
        let skip = if half == Half::High { a.len() / 2 } else { 0 };
        let lanes: Vec<TermId> = a.iter().zip(&b).skip(skip).take(a.len() / 2).flat_map(|(a, b)| [*a, *b]).collect();
        join(arena, &lanes)
    })
}

fn pack(arena: &mut Arena, a: TermId, b: TermId, width: u16, cut: fn(&mut Arena, TermId, u16) -> TermId) -> TermId {
    let mut lanes = split(arena, a, width);
    lanes.extend(split(arena, b, width));
    let lanes: Vec<TermId> = lanes.into_iter().map(|lane| cut(arena, lane, width / 2)).collect();
    join(arena, &lanes)
}

fn palignr(s: &mut Step) -> Lifted {
    let bytes = s.selector()? as usize;
    s.halves(|arena, a, b| {
        let mut all = split(arena, b, 8);
        all.extend(split(arena, a, 8));
        let zero = arena.bv(8, 0);
        let chosen: Vec<TermId> = (0..16).map(|i| all.get(i + bytes).copied().unwrap_or(zero)).collect();
        join(arena, &chosen)
    })
}

fn blend(s: &mut Step, width: u16) -> Lifted {
    let imm = s.selector()?;
    let (a, b) = s.full_sources()?;
    let (a, b) = (split(s.arena, a, width), split(s.arena, b, width));
    // `vpblendw ymm` uses its eight bits for both halves.
    let lanes: Vec<TermId> = (0..a.len()).map(|i| if imm >> (i % 8) & 1 == 1 { b[i] } else { a[i] }).collect();
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

/// Blend by the lanes' signs in a third operand, `xmm0` in the legacy form.
fn blend_variable(s: &mut Step, width: u16) -> Lifted {
    let (a, b) = s.full_sources()?;
    let control = match s.is_vex() {
        true => s.read_full(3)?,
        false => s.register(Register::Vector(0)),
    };
    let (a, b, control) = (split(s.arena, a, width), split(s.arena, b, width), split(s.arena, control, width));
    let mut lanes = Vec::with_capacity(a.len());
    for ((a, b), control) in a.into_iter().zip(b).zip(control) {
        let second = s.arena.bit(control, width - 1);
        lanes.push(s.arena.ite(second, b, a));
    }
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

/// A lane replaced by the low bits of a general register or by memory.
fn insert(s: &mut Step, width: u16) -> Lifted {
    let first = s.first_source();
    let old = s.read_full(first)?;
    let value = s.read_low(first + 1, width)?;
    let lane = s.selector()? as u16 % (128 / width);
    let whole = s.insert(old, lane * width, value);
    s.write(0, whole)
}

/// A lane into a general register, extended with zeros, or into memory.
fn extract(s: &mut Step, width: u16) -> Lifted {
    let value = s.read_vector(1)?;
    let lane = s.selector()? as u16 % (128 / width);
    let value = s.arena.extract(value, lane * width + width - 1, lane * width);
    s.write_extended(value)
}

fn insertps(s: &mut Step) -> Lifted {
    let first = s.first_source();
    let imm = s.selector()?;
    let old = s.read_full(first)?;
    let value = match s.operand(first + 1)? {
        Operand::Memory(_) => s.read(first + 1)?,
        _ => {
            let source = s.read_full(first + 1)?;
            split(s.arena, source, 32)[two_bits(imm, 3)]
        }
    };
    if s.arena.width(old) != 128 || s.arena.width(value) != 32 {
        return s.unsupported();
    }
    let zero = s.bv(32, 0);
    let mut lanes = split(s.arena, old, 32);
    lanes[two_bits(imm, 2)] = value;
    for (i, lane) in lanes.iter_mut().enumerate() {
        if imm >> i & 1 == 1 {
            *lane = zero;
        }
    }
    let whole = join(s.arena, &lanes);
    s.write(0, whole)
}

/// The low lanes of the source, each extended.
fn widen(s: &mut Step, from: u16, to: u16, extend: fn(&mut Arena, TermId, u16) -> TermId) -> Lifted {
    let count = s.lanes(to)?;
    let source = s.read_low(1, count * from)?;
    let lanes = split(s.arena, source, from);
    let lanes: Vec<TermId> = lanes.into_iter().map(|lane| extend(s.arena, lane, to)).collect();
    let value = join(s.arena, &lanes);
    s.write(0, value)
}
