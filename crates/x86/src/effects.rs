//! What an instruction reads and writes, derived from its operations: there is no second table to keep in step.
//!
//! Terms are simplified as they are built, so that `xor eax, eax` reads nothing. A write of a part of a register
//! reads the rest of it, as the operations say.
//!
//! Trust: none. The search leans on it; what it finds is proved afterwards.

use crate::{Builder, Instruction, Unsupported, condition, is_masked, lift, lift_lanes};
use program::{Op, Register};
use std::fmt;
use term::{Arena, TermId};

/// A set of registers and flags.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Registers(u64);

impl Registers {
    /// No register.
    pub const NONE: Registers = Registers(0);

    /// Adds one.
    pub fn insert(&mut self, register: Register) {
        self.0 |= 1 << register.index();
    }

    /// Takes one out.
    pub fn remove(&mut self, register: Register) {
        self.0 &= !(1 << register.index());
    }

    /// Is it in the set?
    pub fn contains(self, register: Register) -> bool {
        self.0 >> register.index() & 1 == 1
    }

    /// Those in either set.
    pub fn union(self, other: Registers) -> Registers {
        Registers(self.0 | other.0)
    }

    /// Those in both sets.
    pub fn intersection(self, other: Registers) -> Registers {
        Registers(self.0 & other.0)
    }

    /// Those that are not in the other set.
    pub fn without(self, other: Registers) -> Registers {
        Registers(self.0 & !other.0)
    }

    /// Is there none?
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its members in the order of their indices.
    pub fn iter(self) -> impl Iterator<Item = Register> {
        Register::all().filter(move |register| self.contains(*register))
    }
}

impl FromIterator<Register> for Registers {
    fn from_iter<I: IntoIterator<Item = Register>>(registers: I) -> Registers {
        let mut set = Registers::NONE;
        registers.into_iter().for_each(|register| set.insert(register));
        set
    }
}

impl fmt::Debug for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(Register::name).collect();
        write!(f, "{{{}}}", names.join(" "))
    }
}

/// What an instruction does besides its results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effects {
    /// Registers and flags whose old value matters.
    pub reads: Registers,
    /// Registers and flags that it may change.
    pub writes: Registers,
    /// Those of them that hold no defined value afterwards.
    pub undefined: Registers,
    /// Reads memory.
    pub loads: bool,
    /// Writes memory.
    pub stores: bool,
    /// May fault for another reason than memory that is not there.
    pub faults: bool,
}

/// The effects of an instruction whose addresses are resolved. What a jump does with them is not among them, but its
/// condition is read.
pub fn effects(instruction: &Instruction) -> Result<Effects, Unsupported> {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    // Symbols are terms of somebody else's arena; any address does for what is read and written.
    let mut plain = instruction.clone();
    for operand in &mut plain.operands {
        match operand {
            crate::Operand::Memory(memory) => (memory.symbol, memory.rip_relative) = (None, false),
            crate::Operand::Immediate(immediate) => immediate.symbol = None,
            crate::Operand::Register(_) => {}
        }
    }
    let mut out = Effects::default();
    if is_masked(&plain) {
        for lane in lift_lanes(&plain, &mut arena, 0)? {
            out.reads = out.reads.union(registers_of(&arena, lane.selected));
            lane.yes.iter().chain(&lane.no).for_each(|(_, op)| out.add(&arena, op));
        }
        return Ok(out);
    }
    let mut builder = Builder::new();
    lift(&plain, &mut arena, &mut builder)?;
    builder.ops.iter().for_each(|(_, op)| out.add(&arena, op));
    let jumps = !matches!(plain.flow(), crate::Flow::Next);
    if let (true, Some(term)) = (jumps, condition(&plain, &mut arena)) {
        out.reads = out.reads.union(registers_of(&arena, term));
    }
    Ok(out)
}

/// The registers that a term mentions.
fn registers_of(arena: &Arena, term: TermId) -> Registers {
    arena.free_vars(term).into_iter().filter_map(Register::of_var).collect()
}

impl Effects {
    fn add(&mut self, arena: &Arena, op: &Op) {
        // A register that was written earlier in the same instruction is read as its new value.
        let mut read = |term: TermId| {
            let mentioned = registers_of(arena, term).without(self.writes);
            self.reads = self.reads.union(mentioned);
        };
        match op {
            Op::Set { value, .. } => read(*value),
            Op::Load { address, .. } => {
                read(*address);
                self.loads = true;
            }
            Op::Store { address, value } => {
                read(*address);
                read(*value);
                self.stores = true;
            }
            Op::Fault { condition, .. } => {
                read(*condition);
                self.faults = true;
            }
            Op::Unknown { .. } => {}
        }
        let (Op::Set { var, .. } | Op::Load { var, .. } | Op::Unknown { var }) = op else { return };
        if let Some(register) = Register::of_var(*var) {
            self.writes.insert(register);
            if matches!(op, Op::Unknown { .. }) {
                self.undefined.insert(register);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;
    use crate::tests::bytes;
    use expect_test::expect;

    #[test]
    fn effects_follow_from_the_operations() {
        let mut out = String::new();
        for case in ["31 c0", "01 f8", "88 f8", "d1 e0", "48 03 07", "0f 45 c7", "f7 f6", "c5 fc 58 c1", "ab", "75 00"]
        {
            let instruction = decode(&bytes(case), 0).unwrap().instruction;
            let e = effects(&instruction).unwrap();
            let memory = match (e.loads, e.stores, e.faults) {
                (false, false, false) => "",
                (true, false, false) => " loads",
                (false, true, false) => " stores",
                _ => " faults",
            };
            out.push_str(&format!(
                "{instruction}: {:?} -> {:?}, undefined {:?}{memory}\n",
                e.reads, e.writes, e.undefined
            ));
        }
        expect![[r#"
            xor eax, eax: {} -> {rax cf pf af zf sf of}, undefined {af}
            add eax, edi: {rax rdi} -> {rax cf pf af zf sf of}, undefined {}
            mov al, bh: {rax rbx} -> {rax}, undefined {}
            shl eax, 0x1: {rax} -> {rax cf pf af zf sf of}, undefined {}
            add rax, qword [rdi]: {rax rdi} -> {rax cf pf af zf sf of}, undefined {} loads
            cmovne eax, edi: {rax rdi zf} -> {rax}, undefined {}
            div esi: {rax rdx rsi} -> {rax rdx cf pf af zf sf of}, undefined {cf pf af zf sf of} faults
            vaddps ymm0, ymm0, ymm1: {xmm0 xmm1 ymm0.high ymm1.high} -> {xmm0 ymm0.high}, undefined {}
            stosd: {rax rdi df} -> {rdi}, undefined {} stores
            jne 0x2: {zf} -> {}, undefined {}
        "#]]
        .assert_eq(&out);
    }
}
