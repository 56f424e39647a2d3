//! Integer addition, subtraction and comparison.

use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use crate::{Lane, Operand};
use program::{Flag, Register};
use term::TermId;

pub(crate) const ROWS: &[Row] = &[
    Row::new("add", Base, |s| update(s, Step::sum)),
    Row::new("adc", Base, |s| update(s, Step::sum_with_carry)),
    Row::new("sub", Base, |s| update(s, Step::subtract)),
    Row::new("sbb", Base, |s| update(s, Step::subtract_with_borrow)),
    Row::new("cmp", Base, cmp),
    Row::new("inc", Base, |s| by_one(s, Step::sum)),
    Row::new("dec", Base, |s| by_one(s, Step::subtract)),
    Row::new("neg", Base, neg),
    Row::new("adcx", Adx, |s| add_through(s, Flag::Carry)),
    Row::new("adox", Adx, |s| add_through(s, Flag::Overflow)),
    Row::new("xadd", Base, xadd),
    Row::new("cmpxchg", Base, cmpxchg),
];

/// `destination := op(destination, source)` with the operation's flags.
fn update<'a>(s: &mut Step<'a>, op: fn(&mut Step<'a>, TermId, TermId) -> TermId) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let result = op(s, a, b);
    s.write(0, result)
}

fn cmp(s: &mut Step) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    s.subtract(a, b);
    Ok(())
}

fn by_one<'a>(s: &mut Step<'a>, op: fn(&mut Step<'a>, TermId, TermId) -> TermId) -> Lifted {
    let a = s.read_general(0)?;
    let one = s.bv(s.arena.width(a), 1);
    let result = op(s, a, one);
    s.keep_flag(Flag::Carry);
    s.write(0, result)
}

fn neg(s: &mut Step) -> Lifted {
    let a = s.read_general(0)?;
    let zero = s.bv(s.arena.width(a), 0);
    let result = s.subtract(zero, a);
    s.write(0, result)
}

/// `adcx`, `adox`: addition with one flag as carry in and out, the others untouched.
fn add_through(s: &mut Step, flag: Flag) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let carry = s.flag(flag);
    let carry_in = s.arena.bool_to_bv(carry, s.arena.width(a));
    let sum = s.arena.add(a, b);
    let result = s.arena.add(sum, carry_in);
    let (at_most, below) = (s.arena.ule(result, a), s.arena.ult(result, a));
    let carry_out = s.arena.ite(carry, at_most, below);
    s.set_flag(flag, carry_out);
    s.write(0, result)
}

fn xadd(s: &mut Step) -> Lifted {
    let (a, b) = s.read_pair(0, 1)?;
    let result = s.sum(a, b);
    let (Operand::Register(source), destination) = (s.operand(1)?, s.operand(0)?) else { return s.unsupported() };
    match destination {
        Operand::Register(lane) if lane.register == source.register && lane != source => {
            // `xadd al, ah`: two lanes of one register, the sum written last.
            let old = s.register(lane.register);
            let half = s.insert(old, source.offset, a);
            let whole = s.insert(half, lane.offset, result);
            s.set(lane.register, whole);
            Ok(())
        }
        _ => {
            s.write(1, a)?;
            s.write(0, result)
        }
    }
}

fn cmpxchg(s: &mut Step) -> Lifted {
    let (old, new) = s.read_pair(0, 1)?;
    let bits = s.bits(0)?;
    let accumulator = Lane { register: Register::General(0), offset: 0, bits };
    let expected = s.read_lane(accumulator);
    s.subtract(expected, old);
    let equal = s.arena.eq(expected, old);
    match s.operand(0)? {
        Operand::Register(lane) if lane.register == accumulator.register => return s.unsupported(),
        Operand::Register(lane) if bits == 32 => {
            // The register that is not chosen keeps its upper half.
            let (whole, kept) = (s.arena.zext(new, 64), s.register(lane.register));
            let value = s.arena.ite(equal, whole, kept);
            s.set(lane.register, value);
        }
        _ => {
            let value = s.arena.ite(equal, new, old);
            s.write(0, value)?;
        }
    }
    if bits == 32 {
        let (whole, kept) = (s.arena.zext(old, 64), s.register(accumulator.register));
        let value = s.arena.ite(equal, kept, whole);
        s.set(accumulator.register, value);
        return Ok(());
    }
    let value = s.arena.ite(equal, expected, old);
    s.write_lane(accumulator, value)
}
