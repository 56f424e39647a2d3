//! Control flow of an instruction, kept apart from its operations: the frontend makes edges of it.

use crate::step::Step;
use crate::{Builder, Condition, Instruction, Operand, Unsupported};
use program::{Flag, Register};
use term::{Arena, TermId};

/// Where control goes after an instruction.
#[derive(Clone, PartialEq, Debug)]
pub enum Flow {
    /// To the next instruction.
    Next,
    /// To this address, as the bytes say it (a relocation of the field may say otherwise).
    Jump(u64),
    /// To this address if [`condition`] holds in the state after the operations, else to the next instruction.
    ConditionalJump(u64),
    /// To the address in this operand; [`lift_target`] gives the term.
    IndirectJump(Operand),
    /// A call of this address.
    Call(u64),
    /// A call through this operand; [`lift_target`] gives the term.
    IndirectCall(Operand),
    /// To the caller.
    Return,
    /// Nowhere: the machine faults.
    Trap,
    /// Somewhere that is not modelled (`syscall`, far jumps, transactions).
    Unsupported,
}

impl Instruction {
    /// Where control goes after this instruction.
    pub fn flow(&self) -> Flow {
        let target = match self.operands.first() {
            Some(Operand::Immediate(immediate)) => immediate.value.to_u64(),
            _ => None,
        };
        match (self.mnemonic.name(), target, self.operands.first()) {
            ("jmp", Some(target), _) => Flow::Jump(target),
            ("jmp", None, Some(operand)) => Flow::IndirectJump(*operand),
            ("call", Some(target), _) => Flow::Call(target),
            ("call", None, Some(operand)) => Flow::IndirectCall(*operand),
            ("ret", _, None) => Flow::Return,
            ("ud0" | "ud1" | "ud2" | "int3" | "int1" | "hlt", _, _) => Flow::Trap,
            (name, Some(target), _) if is_conditional(name) && self.operands.len() == 1 => {
                Flow::ConditionalJump(target)
            }
            (name, _, _) if leaves(name) => Flow::Unsupported,
            _ => Flow::Next,
        }
    }
}

fn is_conditional(name: &str) -> bool {
    name.starts_with('j') || name.starts_with("loop")
}

/// Instructions that go elsewhere in ways we do not model. Their rows do not exist either, so a frontend that
/// ignored this would still hit [`Unsupported`].
fn leaves(name: &str) -> bool {
    matches!(name, "ret" | "retf" | "iret" | "iretd" | "iretq" | "syscall" | "sysenter" | "sysexit" | "sysexitq")
        || matches!(name, "sysret" | "sysretq" | "int" | "into" | "xbegin" | "xabort" | "rsm" | "uiret" | "jmpe")
}

/// The condition of a `jcc`, `setcc`, `cmovcc`, `jrcxz` or `loop` as a term over flags and registers; `None` for
/// other instructions. For the jumps it is meant in the state after the operations.
pub fn condition(instruction: &Instruction, arena: &mut Arena) -> Option<TermId> {
    if let Some(condition) = instruction.condition {
        return Some(condition_term(condition, arena));
    }
    let bits = match instruction.mnemonic.name() {
        "jrcxz" | "loop" => 64,
        "jecxz" => 32,
        _ => return None,
    };
    let rcx = Register::General(1).term(arena);
    let rcx = arena.truncate(rcx, bits);
    let zero = arena.bv(bits, 0);
    let is_zero = arena.eq(rcx, zero);
    Some(if instruction.mnemonic.name() == "loop" { arena.bool_not(is_zero) } else { is_zero })
}

/// A condition code over the flag variables.
pub(crate) fn condition_term(condition: Condition, arena: &mut Arena) -> TermId {
    let mut flag = |flag: Flag| Register::Flag(flag).term(arena);
    let (cf, zf) = (flag(Flag::Carry), flag(Flag::Zero));
    let (sf, of, pf) = (flag(Flag::Sign), flag(Flag::Overflow), flag(Flag::Parity));
    let positive = match Condition::from_code(condition as u8 & !1) {
        Condition::Overflow => of,
        Condition::Below => cf,
        Condition::Equal => zf,
        Condition::BelowEqual => arena.bool_or(cf, zf),
        Condition::Sign => sf,
        Condition::Parity => pf,
        Condition::Less => arena.bool_xor(sf, of),
        _ => {
            let less = arena.bool_xor(sf, of);
            arena.bool_or(less, zf)
        }
    };
    if condition as u8 & 1 == 1 { arena.bool_not(positive) } else { positive }
}

/// The target of an indirect jump or call. Appends the load if the target is in memory.
pub fn lift_target(instruction: &Instruction, arena: &mut Arena, builder: &mut Builder) -> Result<TermId, Unsupported> {
    let mut step = Step::new(instruction, arena, builder)?;
    match instruction.operands.first() {
        Some(operand) if operand.bits() == 64 => step.read(0),
        _ => Err(Unsupported::of(instruction)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode;
    use crate::tests::{arena, bytes, render};
    use expect_test::expect;

    #[test]
    fn flows() {
        let cases = [
            "90",
            "eb 05",
            "0f 84 10 00 00 00",
            "e8 00 00 00 00",
            "ff e0",
            "ff 24 c5 00 00 00 00",
            "ff d0",
            "c3",
            "f3 c3",
            "c2 08 00",
            "0f 0b",
            "cc",
            "e3 02",
            "e2 fe",
            "0f 05",
            "f2 e9 00 00 00 00",
            "3e ff e0",
        ];
        let mut out = String::new();
        for case in cases {
            let instruction = decode(&bytes(case), 0x1000).unwrap().instruction;
            let flow = match instruction.flow() {
                Flow::IndirectJump(operand) => format!("jump to {operand}"),
                Flow::IndirectCall(operand) => format!("call of {operand}"),
                Flow::Jump(target) => format!("jump to {target:#x}"),
                Flow::ConditionalJump(target) => format!("conditional jump to {target:#x}"),
                Flow::Call(target) => format!("call of {target:#x}"),
                other => format!("{other:?}"),
            };
            out.push_str(&format!("{instruction}: {flow}\n"));
        }
        expect![[r#"
            nop: Next
            jmp 0x1007: jump to 0x1007
            je 0x1016: conditional jump to 0x1016
            call 0x1005: call of 0x1005
            jmp rax: jump to rax
            jmp qword [rax*8]: jump to qword [rax*8]
            call rax: call of rax
            ret: Return
            ret: Return
            ret 0x8: Unsupported
            ud2: Trap
            int3: Trap
            jrcxz 0x1004: conditional jump to 0x1004
            loop 0x1000: conditional jump to 0x1000
            syscall: Unsupported
            jmp 0x1006: jump to 0x1006
            jmp rax: jump to rax
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn the_target_of_a_jump_through_memory_is_loaded() {
        let (mut arena, mut builder) = (arena(), Builder::new());
        let instruction = decode(&bytes("ff 24 c5 40 00 00 00"), 0).unwrap().instruction;
        let target = lift_target(&instruction, &mut arena, &mut builder).unwrap();
        let ops: Vec<String> = builder.take().iter().map(|(_, op)| render(&arena, op)).collect();
        expect![[r#"
            t64.0 := memory[8*rax + 64, 8]
            jump to t64.0"#]]
        .assert_eq(&format!("{}\njump to {}", ops.join("\n"), arena.text(target)));
        let far = decode(&bytes("ff 2f"), 0).unwrap().instruction;
        assert!(lift_target(&far, &mut arena, &mut builder).is_err());
    }
}
