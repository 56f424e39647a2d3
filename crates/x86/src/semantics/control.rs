//! Instructions without operations: control flow (made edges by the frontend) and hints.

use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use program::Register;

pub(crate) const ROWS: &[Row] = &[
    Row::new("jmp", Base, nothing),
    Row::new("jcc", Base, nothing).conditional(),
    Row::new("jrcxz", Base, nothing),
    Row::new("loop", Base, count_down),
    Row::new("call", Base, nothing),
    Row::new("ret", Base, ret),
    Row::new("ud2", Base, nothing),
    Row::new("int3", Base, nothing),
    Row::new("hlt", Base, nothing),
    Row::new("nop", Base, nothing),
    Row::new("pause", Base, nothing),
    Row::new("endbr64", Base, nothing),
    Row::new("endbr32", Base, nothing),
    Row::new("prefetchnta", Sse, nothing),
    Row::new("prefetcht0", Sse, nothing),
    Row::new("prefetcht1", Sse, nothing),
    Row::new("prefetcht2", Sse, nothing),
    Row::new("prefetchw", Base, nothing),
];

fn nothing(_: &mut Step) -> Lifted {
    Ok(())
}

fn ret(s: &mut Step) -> Lifted {
    // `ret n` pops arguments, which no System V function does.
    if s.count() == 0 { Ok(()) } else { s.unsupported() }
}

fn count_down(s: &mut Step) -> Lifted {
    let rcx = s.register(Register::General(1));
    let less = s.arena.add_const(rcx, -1);
    s.set(Register::General(1), less);
    Ok(())
}
