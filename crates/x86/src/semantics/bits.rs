//! Single bits and bit counts: `bt`, `bts`, `btr`, `btc`, `bsf`, `bsr`, `tzcnt`, `lzcnt`, `popcnt`.

use crate::flags::is_zero;
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use crate::{Operand, Unsupported};
use program::Flag;
use term::{Arena, Sort, TermId};

const AFTER_BT: &[Flag] = &[Flag::Overflow, Flag::Sign, Flag::Adjust, Flag::Parity];
const AFTER_SCAN: &[Flag] = &[Flag::Carry, Flag::Overflow, Flag::Sign, Flag::Adjust, Flag::Parity];

pub(crate) const ROWS: &[Row] = &[
    Row::new("bt", Base, |s| bit_test(s, None)).undefined(AFTER_BT),
    Row::new("bts", Base, |s| bit_test(s, Some(Arena::or))).undefined(AFTER_BT),
    Row::new("btr", Base, |s| bit_test(s, Some(clear))).undefined(AFTER_BT),
    Row::new("btc", Base, |s| bit_test(s, Some(Arena::xor))).undefined(AFTER_BT),
    Row::new("bsf", Base, |s| scan(s, Arena::trailing_zeros)).undefined(AFTER_SCAN).undefined_result("source is zero"),
    Row::new("bsr", Base, |s| scan(s, highest)).undefined(AFTER_SCAN).undefined_result("source is zero"),
    Row::new("tzcnt", Bmi1, |s| count(s, Arena::trailing_zeros)).undefined(AFTER_BT),
    Row::new("lzcnt", Lzcnt, |s| count(s, Arena::leading_zeros)).undefined(AFTER_BT),
    Row::new("popcnt", Popcnt, popcnt),
];

fn clear(arena: &mut Arena, a: TermId, mask: TermId) -> TermId {
    let keep = arena.not(mask);
    arena.and(a, keep)
}

fn bit_test(s: &mut Step, change: Option<fn(&mut Arena, TermId, TermId) -> TermId>) -> Lifted {
    let width = s.bits(0)?;
    let index = s.read_general(1)?;
    if !matches!(width, 16 | 32 | 64) || s.arena.width(index) > width {
        return s.unsupported();
    }
    let by_register = matches!(s.operand(1)?, Operand::Register(_));
    let index = s.arena.zext(index, width);
    let mask = s.bv(width, u64::from(width) - 1);
    let position = s.arena.and(index, mask);
    let (address, value) = match s.operand(0)? {
        Operand::Memory(_) if by_register => {
            let address = bit_string_address(s, index)?;
            (Some(address), s.load(address, width / 8))
        }
        _ => (None, s.read(0)?),
    };
    let moved = s.arena.lshr(value, position);
    let bit = s.arena.bit(moved, 0);
    s.set_flag(Flag::Carry, bit);
    if let Some(change) = change {
        let one = s.bv(width, 1);
        let mask = s.arena.shl(one, position);
        let changed = change(s.arena, value, mask);
        match address {
            Some(address) => s.store(address, changed),
            None => s.write(0, changed)?,
        }
    }
    Ok(())
}

/// Intel SDM vol. 2A, BT: with a register index the operand is a bit string that extends to both sides; the
/// index is signed and selects the word that is accessed.
fn bit_string_address(s: &mut Step, index: TermId) -> Result<TermId, Unsupported> {
    let width = s.arena.width(index);
    let Operand::Memory(mut memory) = s.operand(0)? else { return s.unsupported() };
    let narrow = memory.address_bits < 64;
    memory.bytes = width / 8;
    if narrow {
        return s.unsupported();
    }
    let base = s.address(&memory)?;
    let log = s.bv(width, u64::from(width.trailing_zeros()));
    let word = s.arena.ashr(index, log);
    let word = s.arena.sext(word, 64);
    let bytes = s.bv(64, u64::from(width) / 8);
    let offset = s.arena.mul(word, bytes);
    Ok(s.arena.add(base, offset))
}

/// Index of the highest one.
fn highest(arena: &mut Arena, a: TermId) -> TermId {
    let width = arena.width(a);
    let zeros = arena.leading_zeros(a);
    let top = arena.bv(width, u64::from(width) - 1);
    arena.sub(top, zeros)
}

fn scan(s: &mut Step, index: fn(&mut Arena, TermId) -> TermId) -> Lifted {
    let (_, a) = s.read_pair(0, 1)?;
    let Operand::Register(lane) = s.operand(0)? else { return s.unsupported() };
    let none = is_zero(s.arena, a);
    let found = index(s.arena, a);
    let found = match lane.bits {
        16 => {
            let old = s.register(lane.register);
            s.insert(old, 0, found)
        }
        _ => s.arena.zext(found, 64),
    };
    let unknown = s.unknown(Sort::Bv(64));
    let value = s.arena.ite(none, unknown, found);
    s.set_flag(Flag::Zero, none);
    s.set(lane.register, value);
    Ok(())
}

fn count(s: &mut Step, op: fn(&mut Arena, TermId) -> TermId) -> Lifted {
    let a = s.read_general(1)?;
    let result = op(s.arena, a);
    let (none, zero) = (is_zero(s.arena, a), is_zero(s.arena, result));
    s.set_flag(Flag::Carry, none);
    s.set_flag(Flag::Zero, zero);
    s.write(0, result)
}

fn popcnt(s: &mut Step) -> Lifted {
    let a = s.read_general(1)?;
    let result = s.arena.popcount(a);
    s.clear_flags(&[Flag::Carry, Flag::Overflow, Flag::Sign, Flag::Adjust, Flag::Parity]);
    let none = is_zero(s.arena, a);
    s.set_flag(Flag::Zero, none);
    s.write(0, result)
}
