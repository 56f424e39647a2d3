//! Single string instructions. The repeated ones are not modelled here.

use crate::Lane;
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use program::{Flag, Register};
use term::TermId;

pub(crate) const ROWS: &[Row] = &[
    Row::new("movs", Base, movs),
    Row::new("stos", Base, stos),
    Row::new("lods", Base, lods),
    Row::new("scas", Base, scas),
    Row::new("cmps", Base, cmps),
];

const RSI: Register = Register::General(6);
const RDI: Register = Register::General(7);

/// Moves a pointer to the next element, downwards if DF is set.
fn advance(s: &mut Step, pointer: Register) {
    let bytes = i64::from(s.instruction.width / 8);
    let old = s.register(pointer);
    let (up, down) = (s.arena.add_const(old, bytes), s.arena.add_const(old, -bytes));
    let direction = s.flag(Flag::Direction);
    let next = s.arena.ite(direction, down, up);
    s.set(pointer, next);
}

fn element(s: &mut Step, pointer: Register) -> TermId {
    let address = s.register(pointer);
    s.load(address, s.instruction.width / 8)
}

fn accumulator(s: &Step) -> Lane {
    Lane { register: Register::General(0), offset: 0, bits: s.instruction.width }
}

fn movs(s: &mut Step) -> Lifted {
    let value = element(s, RSI);
    let to = s.register(RDI);
    s.store(to, value);
    advance(s, RSI);
    advance(s, RDI);
    Ok(())
}

fn stos(s: &mut Step) -> Lifted {
    let value = s.read_lane(accumulator(s));
    let to = s.register(RDI);
    s.store(to, value);
    advance(s, RDI);
    Ok(())
}

fn lods(s: &mut Step) -> Lifted {
    let value = element(s, RSI);
    advance(s, RSI);
    s.write_lane(accumulator(s), value)
}

fn scas(s: &mut Step) -> Lifted {
    let value = s.read_lane(accumulator(s));
    let element = element(s, RDI);
    s.subtract(value, element);
    advance(s, RDI);
    Ok(())
}

fn cmps(s: &mut Step) -> Lifted {
    let (a, b) = (element(s, RSI), element(s, RDI));
    s.subtract(a, b);
    advance(s, RSI);
    advance(s, RDI);
    Ok(())
}
