//! Instructions that exist with VEX only: broadcasts, permutations across halves, clearing of registers.

use super::sse_shuffle::two_bits;
use crate::step::{Lifted, Step};
use crate::table::{Feature, Feature::*, Row, Vex};
use crate::vector::{join, split};
use crate::{Operand, Unsupported};
use program::Register;
use term::TermId;

const fn only(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
    Row::new(name, feature, lift).vex(Vex::Only)
}

pub(crate) const ROWS: &[Row] = &[
    only("vbroadcastss", Avx, |s| broadcast(s, 32)),
    only("vbroadcastsd", Avx, |s| broadcast(s, 64)),
    only("vbroadcastf128", Avx, |s| broadcast(s, 128)),
    only("vbroadcasti128", Avx2, |s| broadcast(s, 128)),
    only("vpbroadcastb", Avx2, |s| broadcast(s, 8)),
    only("vpbroadcastw", Avx2, |s| broadcast(s, 16)),
    only("vpbroadcastd", Avx2, |s| broadcast(s, 32)),
    only("vpbroadcastq", Avx2, |s| broadcast(s, 64)),
    only("vinsertf128", Avx, insert_half),
    only("vinserti128", Avx2, insert_half),
    only("vextractf128", Avx, extract_half),
    only("vextracti128", Avx2, extract_half),
    only("vperm2f128", Avx, permute_halves),
    only("vperm2i128", Avx2, permute_halves),
    only("vpermq", Avx2, permute_quarters),
    only("vpermpd", Avx2, permute_quarters),
    only("vpermd", Avx2, permute_variable),
    only("vpermps", Avx2, permute_variable),
    only("vpermilps", Avx, permute_in_halves_32),
    only("vpermilpd", Avx, permute_in_halves_64),
    only("vzeroupper", Avx, |s| clear(s, Clear::Upper)),
    only("vzeroall", Avx, |s| clear(s, Clear::All)),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Clear {
    Upper,
    All,
}

fn broadcast(s: &mut Step, width: u16) -> Lifted {
    let lane = s.read_low(1, width)?;
    let lanes = vec![lane; usize::from(s.lanes(width)?)];
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

fn insert_half(s: &mut Step) -> Lifted {
    let (old, half) = (s.read_full(1)?, s.read_low(2, 128)?);
    let offset = 128 * (s.selector()? as u16 & 1);
    if s.bits(0)? != 256 {
        return s.unsupported();
    }
    let value = s.insert(old, offset, half);
    s.write(0, value)
}

fn extract_half(s: &mut Step) -> Lifted {
    if s.bits(1)? != 256 {
        return s.unsupported();
    }
    let source = s.read(1)?;
    let offset = 128 * (s.selector()? as u16 & 1);
    let value = s.arena.extract(source, offset + 127, offset);
    s.write(0, value)
}

/// An operand of 256 bits.
fn wide(s: &mut Step, i: usize) -> Result<TermId, Unsupported> {
    if s.bits(i)? == 256 { s.read(i) } else { s.unsupported() }
}

/// Each half of the result is one of the four source halves, or zero.
fn permute_halves(s: &mut Step) -> Lifted {
    let (a, b) = (wide(s, 1)?, wide(s, 2)?);
    let imm = s.selector()?;
    let mut all = split(s.arena, a, 128);
    all.extend(split(s.arena, b, 128));
    let zero = s.bv(128, 0);
    let choose = |control: u64| if control & 8 != 0 { zero } else { all[(control & 3) as usize] };
    let halves = [choose(imm), choose(imm >> 4)];
    let value = join(s.arena, &halves);
    s.write(0, value)
}

fn permute_quarters(s: &mut Step) -> Lifted {
    let source = wide(s, 1)?;
    let imm = s.selector()?;
    let lanes = split(s.arena, source, 64);
    let chosen: Vec<TermId> = (0..4).map(|i| lanes[two_bits(imm, i)]).collect();
    let value = join(s.arena, &chosen);
    s.write(0, value)
}

/// Lane of a vector at an index given by the low bits of another lane.
fn choose(s: &mut Step, source: TermId, index: TermId, width: u16) -> TermId {
    let total = s.arena.width(source);
    let index = s.arena.zext(index, total);
    let size = s.bv(total, u64::from(width));
    let amount = s.arena.mul(index, size);
    let moved = s.arena.lshr(source, amount);
    s.arena.truncate(moved, width)
}

/// `vpermd dst, indices, source`.
fn permute_variable(s: &mut Step) -> Lifted {
    let (indices, source) = (wide(s, 1)?, wide(s, 2)?);
    let mut lanes = Vec::with_capacity(8);
    for index in split(s.arena, indices, 32) {
        let index = s.arena.truncate(index, 3);
        lanes.push(choose(s, source, index, 32));
    }
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

fn permute_in_halves_32(s: &mut Step) -> Lifted {
    permute_in_halves(s, 32, 0, 2, |imm, i| two_bits(imm, i % 4))
}

fn permute_in_halves_64(s: &mut Step) -> Lifted {
    permute_in_halves(s, 64, 1, 1, |imm, i| (imm >> i & 1) as usize)
}

/// `vpermilps`, `vpermilpd`: control by an immediate or by bits `low..low + bits` of each control lane.
fn permute_in_halves(s: &mut Step, width: u16, low: u16, bits: u16, by_imm: fn(u64, usize) -> usize) -> Lifted {
    let source = s.read_full(1)?;
    let per_half = usize::from(128 / width);
    let halves = split(s.arena, source, 128);
    let mut lanes = Vec::with_capacity(8);
    match s.operand(2)? {
        Operand::Immediate(_) => {
            let imm = s.selector()?;
            let all = split(s.arena, source, width);
            for i in 0..all.len() {
                lanes.push(all[i / per_half * per_half + by_imm(imm, i)]);
            }
        }
        _ => {
            let control = s.read_full(2)?;
            for (i, control) in split(s.arena, control, width).into_iter().enumerate() {
                let index = s.arena.extract(control, low + bits - 1, low);
                lanes.push(choose(s, halves[i / per_half], index, width));
            }
        }
    }
    let value = join(s.arena, &lanes);
    s.write(0, value)
}

fn clear(s: &mut Step, what: Clear) -> Lifted {
    let zero = s.bv(128, 0);
    for number in 0..16 {
        s.set(Register::VectorHigh(number), zero);
        if what == Clear::All {
            s.set(Register::Vector(number), zero);
        }
    }
    Ok(())
}
