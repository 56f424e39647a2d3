//! Data movement between general registers, memory and the stack.

use crate::flow::condition_term;
use crate::step::{Lifted, Step};
use crate::table::{Feature::*, Row};
use crate::{Lane, Operand};
use program::Register;
use term::{Arena, TermId};

pub(crate) const ROWS: &[Row] = &[
    Row::new("mov", Base, mov),
    Row::new("movzx", Base, |s| extend(s, Arena::zext)),
    Row::new("movsx", Base, |s| extend(s, Arena::sext)),
    Row::new("movsxd", Base, |s| extend(s, Arena::sext)),
    Row::new("movnti", Sse2, mov),
    Row::new("movbe", Movbe, movbe),
    Row::new("bswap", Base, bswap),
    Row::new("lea", Base, lea),
    Row::new("xchg", Base, xchg),
    Row::new("push", Base, push),
    Row::new("pop", Base, pop),
    Row::new("leave", Base, leave),
    Row::new("cmovcc", Base, cmov).conditional(),
    Row::new("setcc", Base, set).conditional(),
    Row::new("cbw", Base, |s| widen(s, 8)),
    Row::new("cwde", Base, |s| widen(s, 16)),
    Row::new("cdqe", Base, |s| widen(s, 32)),
    Row::new("cwd", Base, |s| spread_sign(s, 16)),
    Row::new("cdq", Base, |s| spread_sign(s, 32)),
    Row::new("cqo", Base, |s| spread_sign(s, 64)),
];

const RAX: Register = Register::General(0);
const RDX: Register = Register::General(2);

fn mov(s: &mut Step) -> Lifted {
    let value = s.read(1)?;
    s.write(0, value)
}

/// `movzx`, `movsx`, `movsxd`.
fn extend(s: &mut Step, how: fn(&mut Arena, TermId, u16) -> TermId) -> Lifted {
    let (value, bits) = (s.read_general(1)?, s.bits(0)?);
    if s.arena.width(value) > bits {
        return s.unsupported();
    }
    let value = how(s.arena, value, bits);
    s.write(0, value)
}

/// The bytes of a value in reverse order.
fn reverse_bytes(s: &mut Step, value: TermId) -> TermId {
    let bytes: Vec<TermId> = (0..s.arena.width(value) / 8).map(|i| s.arena.extract(value, 8 * i + 7, 8 * i)).collect();
    s.arena.concat_all(&bytes)
}

fn movbe(s: &mut Step) -> Lifted {
    let value = s.read_general(1)?;
    let value = reverse_bytes(s, value);
    s.write(0, value)
}

fn bswap(s: &mut Step) -> Lifted {
    // Intel SDM vol. 2A, BSWAP: undefined for 16-bit registers.
    if s.bits(0)? == 16 {
        return s.unsupported();
    }
    let value = s.read_general(0)?;
    let value = reverse_bytes(s, value);
    s.write(0, value)
}

fn lea(s: &mut Step) -> Lifted {
    let Operand::Memory(memory) = s.operand(1)? else { return s.unsupported() };
    let (address, bits) = (s.offset(&memory)?, s.bits(0)?);
    if !matches!(bits, 16 | 32 | 64) {
        return s.unsupported();
    }
    let address = s.arena.truncate(address, bits);
    s.write(0, address)
}

fn xchg(s: &mut Step) -> Lifted {
    if s.instruction.operands.iter().any(Operand::is_memory) {
        return Err(crate::Unsupported { name: "xchg with memory".to_string() });
    }
    let (a, b) = s.read_pair(0, 1)?;
    let (Operand::Register(first), Operand::Register(second)) = (s.operand(0)?, s.operand(1)?) else {
        return s.unsupported();
    };
    if first.register == second.register && first != second {
        // `xchg al, ah`: two lanes of one register.
        let old = s.register(first.register);
        let half = s.insert(old, first.offset, b);
        let whole = s.insert(half, second.offset, a);
        s.set(first.register, whole);
        return Ok(());
    }
    s.write(0, b)?;
    s.write(1, a)
}

fn push(s: &mut Step) -> Lifted {
    let value = s.read_general(0)?;
    let bytes = i64::from(s.bits(0)? / 8);
    let rsp = s.register(Register::RSP);
    let top = s.arena.add_const(rsp, -bytes);
    s.store(top, value);
    s.set(Register::RSP, top);
    Ok(())
}

fn pop(s: &mut Step) -> Lifted {
    let bytes = s.bits(0)? / 8;
    if !matches!(bytes, 2 | 8) {
        return s.unsupported();
    }
    let rsp = s.register(Register::RSP);
    let value = s.load(rsp, bytes);
    let top = s.arena.add_const(rsp, i64::from(bytes));
    match s.operand(0)? {
        Operand::Memory(mut memory) => {
            // Intel SDM vol. 2B, POP: an address based on rsp is computed after the increment.
            if memory.base == Some(Register::RSP) {
                memory.displacement = memory.displacement.wrapping_add(i64::from(bytes));
            }
            let address = s.address(&memory)?;
            s.store(address, value);
            s.set(Register::RSP, top);
        }
        Operand::Register(lane) if lane.register == Register::RSP => {
            let whole = if lane.bits == 64 { value } else { s.insert(top, 0, value) };
            s.set(Register::RSP, whole);
        }
        _ => {
            s.set(Register::RSP, top);
            s.write(0, value)?;
        }
    }
    Ok(())
}

fn leave(s: &mut Step) -> Lifted {
    let rbp = s.register(Register::RBP);
    let saved = s.load(rbp, 8);
    let top = s.arena.add_const(rbp, 8);
    s.set(Register::RSP, top);
    s.set(Register::RBP, saved);
    Ok(())
}

fn condition(s: &mut Step) -> Result<TermId, crate::Unsupported> {
    match s.instruction.condition {
        Some(condition) => Ok(condition_term(condition, s.arena)),
        None => s.unsupported(),
    }
}

fn cmov(s: &mut Step) -> Lifted {
    let condition = condition(s)?;
    let (old, new) = s.read_pair(0, 1)?;
    let value = s.arena.ite(condition, new, old);
    s.write(0, value)
}

fn set(s: &mut Step) -> Lifted {
    let condition = condition(s)?;
    let value = s.arena.bool_to_bv(condition, 8);
    s.write(0, value)
}

/// `cbw`, `cwde`, `cdqe`: the low `bits` of rax sign-extended to twice as many.
fn widen(s: &mut Step, bits: u16) -> Lifted {
    let low = s.general(0, bits);
    let wide = s.arena.sext(low, 2 * bits);
    s.write_lane(Lane { register: RAX, offset: 0, bits: 2 * bits }, wide)
}

/// `cwd`, `cdq`, `cqo`: the sign of the low `bits` of rax in all bits of rdx.
fn spread_sign(s: &mut Step, bits: u16) -> Lifted {
    let low = s.general(0, bits);
    let amount = s.bv(bits, u64::from(bits) - 1);
    let sign = s.arena.ashr(low, amount);
    s.write_lane(Lane { register: RDX, offset: 0, bits }, sign)
}
