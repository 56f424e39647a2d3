//! Control flow of an instruction, kept apart from its operations: the frontend makes edges of it.

use crate::step::Step;
use crate::{Builder, Condition, Instruction, Operand, Unsupported};
use graph::{Flag, Register};
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
pub fn lift_target(
    instruction: &Instruction,
    arena: &mut Arena,
    builder: &mut Builder,
) -> Result<TermId, Unsupported> {
    let mut step = Step::new(instruction, arena, builder)?;
    match instruction.operands.first() {
        Some(operand) if operand.bits() == 64 => step.read(0),
        _ => Err(Unsupported::of(instruction)),
    }
}
