//! Bitwise logic on general registers, and the flag instructions.

use crate::Lane;
use crate::flags::ADJUST;
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use program::{Flag, Register};
use term::{Arena, TermId};

pub(crate) const ROWS: &[Row] = &[
    Row::new("and", Base, |s| update(s, Arena::and)).undefined(ADJUST),
    Row::new("or", Base, |s| update(s, Arena::or)).undefined(ADJUST),
    Row::new("xor", Base, |s| update(s, Arena::xor)).undefined(ADJUST),
    Row::new("test", Base, test).undefined(ADJUST),
    Row::new("not", Base, not),
    Row::new("clc", Base, |s| constant(s, Flag::Carry, false)),
    Row::new("stc", Base, |s| constant(s, Flag::Carry, true)),
    Row::new("cmc", Base, cmc),
    Row::new("cld", Base, |s| constant(s, Flag::Direction, false)),
    Row::new("std", Base, |s| constant(s, Flag::Direction, true)),
    Row::new("lahf", Base, lahf),
    Row::new("sahf", Base, sahf),
];

fn update(s: &mut Step, op: fn(&mut Arena, TermId, TermId) -> TermId) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let result = op(s.arena, a, b);
    s.set_logic_flags(result);
    s.write(0, result)
}

fn test(s: &mut Step) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let result = s.arena.and(a, b);
    s.set_logic_flags(result);
    Ok(())
}

fn not(s: &mut Step) -> Lifted {
    let a = s.read_general(0)?;
    let result = s.arena.not(a);
    s.write(0, result)
}

fn constant(s: &mut Step, flag: Flag, value: bool) -> Lifted {
    let value = s.arena.bool(value);
    s.set_flag(flag, value);
    Ok(())
}

fn cmc(s: &mut Step) -> Lifted {
    let carry = s.flag(Flag::Carry);
    let flipped = s.arena.bool_not(carry);
    s.set_flag(Flag::Carry, flipped);
    Ok(())
}

const AH: Lane = Lane { register: Register::General(0), offset: 8, bits: 8 };

/// Flags in the bits of `ah`, most significant first; `None` is a bit that reads as the given value.
const IN_AH: [Result<Flag, u64>; 8] =
    [Ok(Flag::Sign), Ok(Flag::Zero), Err(0), Ok(Flag::Adjust), Err(0), Ok(Flag::Parity), Err(1), Ok(Flag::Carry)];

fn lahf(s: &mut Step) -> Lifted {
    let mut parts = Vec::with_capacity(8);
    for bit in IN_AH {
        parts.push(match bit {
            Ok(flag) => {
                let flag = s.flag(flag);
                s.arena.bool_to_bv(flag, 1)
            }
            Err(value) => s.bv(1, value),
        });
    }
    let value = s.arena.concat_all(&parts);
    s.write_lane(AH, value)
}

fn sahf(s: &mut Step) -> Lifted {
    let value = s.read_lane(AH);
    for (i, bit) in IN_AH.iter().rev().enumerate() {
        if let Ok(flag) = bit {
            let value = s.arena.bit(value, i as u16);
            s.set_flag(*flag, value);
        }
    }
    Ok(())
}
