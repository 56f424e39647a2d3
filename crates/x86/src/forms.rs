//! Every modelled form of instruction, as a prototype whose operands can be exchanged.
//!
//! A search that makes up code starts here: it learns from the codec library which operands go together, and from
//! the table which of these forms we understand. Nobody keeps a list of instructions by hand.
//!
//! Trust: none. A prototype has been encoded, decoded and lifted; what is made of it is proved like any other code.

use crate::{Flow, Instruction, Operand, decode, effects};
use iced_x86::{self as iced, Code, Encoder, OpCodeOperandKind as Kind, OpKind, Register as R};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::sync::OnceLock;

/// A form of an instruction.
#[derive(Clone, Debug)]
pub struct Form {
    /// One instruction of this form. Registers that may be chosen are all different, and different from the fixed ones.
    pub prototype: Instruction,
    /// Which operands may be exchanged.
    pub choices: SmallVec<[Choice; 4]>,
}

/// What may stand in the place of a prototype's operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Choice {
    /// Any register of the same kind and width.
    Register,
    /// Any place in memory of the same size.
    Memory,
    /// Any constant of the same width that can be encoded.
    Immediate,
    /// Nothing else.
    Fixed,
}

/// All forms without control flow, in a fixed order.
pub fn forms() -> &'static [Form] {
    static FORMS: OnceLock<Vec<Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let mut seen = FxHashSet::default();
        let codes = Code::values().filter(|code| code.op_code().mode64() && code.op_code().is_instruction());
        codes
            .flat_map(|code| [false, true].into_iter().filter_map(move |in_memory| form(code, in_memory)))
            .filter(|form| seen.insert((form.prototype.to_string(), form.prototype.encoding)))
            .collect()
    })
}

/// Numbers of the registers in a prototype: none that any instruction uses without saying so.
const NUMBERS: [u32; 4] = [8, 9, 10, 11];
/// Base of a prototype's memory operand.
const BASE: R = R::R12;

fn form(code: Code, in_memory: bool) -> Option<Form> {
    let info = code.op_code();
    let mut raw = iced::Instruction::default();
    raw.set_code(code);
    let mut choices = SmallVec::new();
    for i in 0..info.op_count() {
        choices.push(set(&mut raw, i, info.op_kind(i), in_memory)?);
    }
    if in_memory && !choices.contains(&Choice::Memory) {
        return None;
    }
    let mut encoder = Encoder::new(64);
    encoder.encode(&raw, 0).ok()?;
    let prototype = decode(&encoder.take_buffer(), 0).ok()?.instruction;
    let modelled = prototype.mnemonic.row().is_some() && prototype.flow() == Flow::Next;
    let whole = prototype.operands.len() == choices.len();
    (modelled && whole && effects(&prototype).is_ok()).then_some(Form { prototype, choices })
}

/// Chooses an operand of the library's instruction.
fn set(raw: &mut iced::Instruction, i: u32, kind: Kind, in_memory: bool) -> Option<Choice> {
    let number = *NUMBERS.get(i as usize)?;
    let (first, choice) = match kind {
        Kind::mem => (R::None, Choice::Memory),
        Kind::r8_or_mem | Kind::r16_or_mem | Kind::r32_or_mem | Kind::r64_or_mem if in_memory => {
            (R::None, Choice::Memory)
        }
        Kind::xmm_or_mem | Kind::ymm_or_mem if in_memory => (R::None, Choice::Memory),
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => (R::R8L, Choice::Register),
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_rm | Kind::r16_opcode => (R::R8W, Choice::Register),
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => {
            (R::R8D, Choice::Register)
        }
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => {
            (R::R8, Choice::Register)
        }
        Kind::xmm_or_mem | Kind::xmm_reg | Kind::xmm_rm | Kind::xmm_vvvv | Kind::xmm_is4 => (R::XMM8, Choice::Register),
        Kind::ymm_or_mem | Kind::ymm_reg | Kind::ymm_rm | Kind::ymm_vvvv | Kind::ymm_is4 => (R::YMM8, Choice::Register),
        Kind::al => (R::AL, Choice::Fixed),
        Kind::cl => (R::CL, Choice::Fixed),
        Kind::ax => (R::AX, Choice::Fixed),
        Kind::eax => (R::EAX, Choice::Fixed),
        Kind::rax => (R::RAX, Choice::Fixed),
        other => return set_immediate(raw, i, other),
    };
    if choice == Choice::Memory {
        raw.set_op_kind(i, OpKind::Memory);
        raw.set_memory_base(BASE);
        raw.set_memory_displ_size(0);
        return Some(choice);
    }
    raw.set_op_kind(i, OpKind::Register);
    raw.set_op_register(i, if choice == Choice::Register { first + (number - NUMBERS[0]) } else { first });
    Some(choice)
}

fn set_immediate(raw: &mut iced::Instruction, i: u32, kind: Kind) -> Option<Choice> {
    let kind = match kind {
        Kind::imm8 => OpKind::Immediate8,
        Kind::imm8sex16 => OpKind::Immediate8to16,
        Kind::imm8sex32 => OpKind::Immediate8to32,
        Kind::imm8sex64 => OpKind::Immediate8to64,
        Kind::imm64 => OpKind::Immediate64,
        // The longer encodings of the same forms, and a shift by 1, give nothing new.
        _ => return None,
    };
    raw.set_op_kind(i, kind);
    raw.set_immediate_u64(i, 3);
    Some(Choice::Immediate)
}

impl Form {
    /// The operands that may be exchanged.
    pub fn exchangeable(&self) -> impl Iterator<Item = (usize, &Operand, Choice)> {
        let operands = self.prototype.operands.iter().zip(&self.choices).enumerate();
        operands
            .filter(|(_, (_, choice))| **choice != Choice::Fixed)
            .map(|(i, (operand, choice))| (i, operand, *choice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn forms_say_what_may_be_exchanged() {
        let wanted = ["add", "shl", "lea", "popcnt", "vaddps", "imul", "andn", "pshufd"];
        let mut out = String::new();
        for form in forms().iter().filter(|form| wanted.contains(&form.prototype.mnemonic.name())) {
            let narrow = form.prototype.operands.iter().any(|operand| matches!(operand.bits(), 8 | 16));
            if !narrow || form.prototype.mnemonic.name() == "shl" && form.prototype.width == 32 {
                let choices: Vec<String> = form.choices.iter().map(|choice| format!("{choice:?}")).collect();
                out.push_str(&format!("{}  {}\n", form.prototype, choices.join(" ")));
            }
        }
        expect![[r#"
            add r8d, r9d  Register Register
            add dword [r12], r9d  Memory Register
            add r8, r9  Register Register
            add qword [r12], r9  Memory Register
            add r8d, dword [r12]  Register Memory
            add r8, qword [r12]  Register Memory
            imul r8d, r9d, 0x3  Register Register Immediate
            imul r8d, dword [r12], 0x3  Register Memory Immediate
            imul r8, r9, 0x3  Register Register Immediate
            imul r8, qword [r12], 0x3  Register Memory Immediate
            add r8d, 0x3  Register Immediate
            add dword [r12], 0x3  Memory Immediate
            add r8, 0x3  Register Immediate
            add qword [r12], 0x3  Memory Immediate
            lea r8d, [r12]  Register Memory
            lea r8, [r12]  Register Memory
            shl r8d, 0x3  Register Immediate
            shl dword [r12], 0x3  Memory Immediate
            shl r8d, cl  Register Fixed
            shl dword [r12], cl  Memory Fixed
            imul r8d  Register
            imul dword [r12]  Memory
            imul r8  Register
            imul qword [r12]  Memory
            vaddps xmm8, xmm9, xmm10  Register Register Register
            vaddps xmm8, xmm9, xmmword [r12]  Register Register Memory
            vaddps ymm8, ymm9, ymm10  Register Register Register
            vaddps ymm8, ymm9, ymmword [r12]  Register Register Memory
            imul r8d, r9d  Register Register
            imul r8d, dword [r12]  Register Memory
            imul r8, r9  Register Register
            imul r8, qword [r12]  Register Memory
            popcnt r8d, r9d  Register Register
            popcnt r8d, dword [r12]  Register Memory
            popcnt r8, r9  Register Register
            popcnt r8, qword [r12]  Register Memory
            andn r8d, r9d, r10d  Register Register Register
            andn r8d, r9d, dword [r12]  Register Register Memory
            andn r8, r9, r10  Register Register Register
            andn r8, r9, qword [r12]  Register Register Memory
        "#]]
        .assert_eq(&out);
        assert!(forms().len() > 800, "only {} forms", forms().len());
    }
}
