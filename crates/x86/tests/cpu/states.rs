//! Machine states for a decoded instruction: random and corner values, with addresses that hit the scratch memory.

use crate::random::Random;
use native::{Input, Scratch, State};
use program::Register;
use x86::{Instruction, Memory, Operand};

/// Memory of the code under test, below 2 GiB so that absolute addresses reach it. The rest of its page is
/// mapped, but not compared.
pub const SCRATCH: Scratch = Scratch { address: 0x5000_0000, length: 1024 };

pub fn generate(instruction: &Instruction, random: &mut Random) -> Input {
    let mut state = State::default();
    for i in 0..16 {
        state.general[i] = random.word();
        state.vector[i] = random.vector();
    }
    // Equal operands make interesting flags.
    if random.chance(4) {
        let (from, to) = (random.below(16) as usize, random.below(16) as usize);
        state.general[to] = state.general[from];
        state.vector[to] = state.vector[from];
    }
    if random.chance(4) {
        narrow_dividend(&mut state, random);
    }
    state.flags = random.next() & State::FLAGS;
    for number in [4, 5, 6, 7] {
        state.general[number] = place(random, 16);
    }
    for operand in &instruction.operands {
        if let Operand::Memory(memory) = operand {
            aim(&mut state, memory, random);
        }
    }
    if let [Operand::Memory(memory), Operand::Register(lane)] = &instruction.operands[..]
        && instruction.mnemonic.name().starts_with("bt")
        && Some(lane.register) != memory.base
        && let Register::General(number) = lane.register
    {
        state.general[usize::from(number)] = random.below(1024).wrapping_sub(512);
    }
    let mut memory = Vec::with_capacity(SCRATCH.length);
    while memory.len() < SCRATCH.length {
        random.vector().iter().for_each(|word| memory.extend_from_slice(&word.to_le_bytes()));
    }
    let mut input = Input { state, memory };
    if matches!(instruction.mnemonic.name(), "div" | "idiv") && random.chance(2) {
        divisible(instruction, &mut input, random);
    }
    input
}

/// A dividend that is near quotient times divisor, so that the quotient just fits or just does not.
fn divisible(instruction: &Instruction, input: &mut Input, random: &mut Random) {
    let Some(operand) = instruction.operands.first() else { return };
    let bits = u32::from(operand.bits());
    let edges = [0, 1, 2, (1i128 << (bits - 1)) - 1, 1 << (bits - 1), (1 << bits) - 1, -1, -(1 << (bits - 1))];
    let (divisor, quotient) = (random.pick(&edges), random.pick(&edges));
    let dividend = divisor.wrapping_mul(quotient).wrapping_add(random.below(5) as i128 - 2);
    let (low, high) = (dividend as u64, (dividend >> bits) as u64);
    match bits {
        8 => input.state.general[0] = low & 0xffff,
        _ => (input.state.general[0], input.state.general[2]) = (low, high),
    }
    match operand {
        Operand::Register(lane) => {
            if let Register::General(number) = lane.register {
                input.state.general[usize::from(number)] = (divisor as u64) << lane.offset;
            }
        }
        Operand::Memory(memory) => {
            let register = |register: Option<Register>| match register {
                Some(Register::General(number)) => input.state.general[usize::from(number)],
                _ => 0,
            };
            let scaled = register(memory.index).wrapping_mul(u64::from(memory.scale));
            let address = register(memory.base).wrapping_add(scaled).wrapping_add(memory.displacement as u64);
            let at = address.wrapping_sub(SCRATCH.address);
            if at < SCRATCH.length as u64 - 8 {
                let at = at as usize;
                input.memory[at..at + 8].copy_from_slice(&(divisor as u64).to_le_bytes());
            }
        }
        Operand::Immediate(_) => {}
    }
}

/// rdx:rax as `cdq` and the like leave it, or a small high half, so that divisions do not all overflow.
fn narrow_dividend(state: &mut State, random: &mut Random) {
    let rax = state.general[0];
    state.general[2] = match random.below(4) {
        0 => 0,
        1 => (rax as i64 >> 63) as u64,
        2 => u64::from((rax as i32 >> 31) as u32),
        _ => random.below(4),
    };
    if random.chance(4) {
        state.general[0] = (state.general[0] as i8 as i16) as u64;
    }
}

/// An address in the middle of the scratch memory, often aligned.
fn place(random: &mut Random, alignment: u64) -> u64 {
    let offset = 448 + random.below(128);
    SCRATCH.address + if random.chance(3) { offset } else { offset / alignment * alignment }
}

/// Sets the registers of a memory operand so that it lies in the scratch memory.
fn aim(state: &mut State, memory: &Memory, random: &mut Random) {
    let number = |register: Option<Register>| match register {
        Some(Register::General(number)) => Some(usize::from(number)),
        _ => None,
    };
    let target = place(random, 32);
    let mut rest = target.wrapping_sub(memory.displacement as u64);
    if let Some(index) = number(memory.index) {
        let value = if memory.base.is_some() && random.chance(4) { random.word() } else { random.below(16) };
        state.general[index] = value;
        rest = rest.wrapping_sub(value.wrapping_mul(u64::from(memory.scale)));
    }
    if let Some(base) = number(memory.base) {
        state.general[base] = rest;
        if memory.address_bits == 32 && random.chance(2) {
            state.general[base] = rest & 0xffff_ffff | random.next() << 32;
        }
    }
}
