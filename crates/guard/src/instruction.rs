//! The few instructions that guards are made of, by operation and width.

use iced_x86::{Code, IcedError, Instruction, MemoryOperand, Register};

/// An instruction, or why it cannot be made.
pub(crate) type Made = Result<Instruction, IcedError>;

/// Operations of two operands whose first is the result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Arithmetic {
    Add,
    Or,
    And,
    Sub,
    Xor,
    Cmp,
}

/// A general register by its number, in a width.
pub(crate) fn general(number: u8, bits: u16) -> Register {
    let n = u32::from(number);
    match bits {
        64 => Register::RAX + n,
        32 => Register::EAX + n,
        16 => Register::AX + n,
        // AH, CH, DH and BH stand between BL and SPL.
        _ if n < 4 => Register::AL + n,
        _ => Register::SPL + (n - 4),
    }
}

/// `op first, second`. Only comparisons have 8 and 16 bits.
pub(crate) fn with_register(op: Arithmetic, bits: u16, first: u8, second: u8) -> Made {
    Instruction::with2(of_register(op, bits), general(first, bits), general(second, bits))
}

/// `op first, [memory]`.
pub(crate) fn with_memory(op: Arithmetic, bits: u16, first: u8, memory: MemoryOperand) -> Made {
    Instruction::with2(of_register(op, bits), general(first, bits), memory)
}

fn of_register(op: Arithmetic, bits: u16) -> Code {
    match (op, bits) {
        (Arithmetic::Add, 64) => Code::Add_r64_rm64,
        (Arithmetic::Add, _) => Code::Add_r32_rm32,
        (Arithmetic::Or, 64) => Code::Or_r64_rm64,
        (Arithmetic::Or, _) => Code::Or_r32_rm32,
        (Arithmetic::And, 64) => Code::And_r64_rm64,
        (Arithmetic::And, _) => Code::And_r32_rm32,
        (Arithmetic::Sub, 64) => Code::Sub_r64_rm64,
        (Arithmetic::Sub, _) => Code::Sub_r32_rm32,
        (Arithmetic::Xor, 64) => Code::Xor_r64_rm64,
        (Arithmetic::Xor, _) => Code::Xor_r32_rm32,
        (Arithmetic::Cmp, 64) => Code::Cmp_r64_rm64,
        (Arithmetic::Cmp, 32) => Code::Cmp_r32_rm32,
        (Arithmetic::Cmp, 16) => Code::Cmp_r16_rm16,
        (Arithmetic::Cmp, _) => Code::Cmp_r8_rm8,
    }
}

/// `op register, number`.
pub(crate) fn with_number(op: Arithmetic, bits: u16, register: u8, number: i32) -> Made {
    Instruction::with2(of_number(op, bits, number), general(register, bits), number)
}

/// `cmp [memory], number`.
pub(crate) fn compare_memory(bits: u16, memory: MemoryOperand, number: i32) -> Made {
    Instruction::with2(of_number(Arithmetic::Cmp, bits, number), memory, number)
}

fn of_number(op: Arithmetic, bits: u16, number: i32) -> Code {
    let short = i8::try_from(number).is_ok();
    match (op, bits, short) {
        (Arithmetic::Add, 64, true) => Code::Add_rm64_imm8,
        (Arithmetic::Add, 64, false) => Code::Add_rm64_imm32,
        (Arithmetic::Add, _, true) => Code::Add_rm32_imm8,
        (Arithmetic::Add, _, false) => Code::Add_rm32_imm32,
        (Arithmetic::Or, 64, true) => Code::Or_rm64_imm8,
        (Arithmetic::Or, 64, false) => Code::Or_rm64_imm32,
        (Arithmetic::Or, _, true) => Code::Or_rm32_imm8,
        (Arithmetic::Or, _, false) => Code::Or_rm32_imm32,
        (Arithmetic::And, 64, true) => Code::And_rm64_imm8,
        (Arithmetic::And, 64, false) => Code::And_rm64_imm32,
        (Arithmetic::And, _, true) => Code::And_rm32_imm8,
        (Arithmetic::And, _, false) => Code::And_rm32_imm32,
        (Arithmetic::Sub, 64, true) => Code::Sub_rm64_imm8,
        (Arithmetic::Sub, 64, false) => Code::Sub_rm64_imm32,
        (Arithmetic::Sub, _, true) => Code::Sub_rm32_imm8,
        (Arithmetic::Sub, _, false) => Code::Sub_rm32_imm32,
        (Arithmetic::Xor, 64, true) => Code::Xor_rm64_imm8,
        (Arithmetic::Xor, 64, false) => Code::Xor_rm64_imm32,
        (Arithmetic::Xor, _, true) => Code::Xor_rm32_imm8,
        (Arithmetic::Xor, _, false) => Code::Xor_rm32_imm32,
        (Arithmetic::Cmp, 64, true) => Code::Cmp_rm64_imm8,
        (Arithmetic::Cmp, 64, false) => Code::Cmp_rm64_imm32,
        (Arithmetic::Cmp, 32, true) => Code::Cmp_rm32_imm8,
        (Arithmetic::Cmp, 32, false) => Code::Cmp_rm32_imm32,
        (Arithmetic::Cmp, 16, true) => Code::Cmp_rm16_imm8,
        (Arithmetic::Cmp, 16, false) => Code::Cmp_rm16_imm16,
        (Arithmetic::Cmp, ..) => Code::Cmp_rm8_imm8,
    }
}

/// `test register, register`.
pub(crate) fn test(bits: u16, register: u8) -> Made {
    let code = match bits {
        64 => Code::Test_rm64_r64,
        32 => Code::Test_rm32_r32,
        16 => Code::Test_rm16_r16,
        _ => Code::Test_rm8_r8,
    };
    Instruction::with2(code, general(register, bits), general(register, bits))
}

/// `test register, mask`: 8 or 32 bits of the register.
pub(crate) fn test_mask(register: u8, mask: u32) -> Made {
    match u8::try_from(mask) {
        Ok(mask) => Instruction::with2(Code::Test_rm8_imm8, general(register, 8), u32::from(mask)),
        Err(_) => Instruction::with2(Code::Test_rm32_imm32, general(register, 32), mask),
    }
}

/// `mov to, from`; 32 bits clear the others.
pub(crate) fn copy(bits: u16, to: u8, from: u8) -> Made {
    match bits {
        64 => Instruction::with2(Code::Mov_r64_rm64, general(to, 64), general(from, 64)),
        32 => Instruction::with2(Code::Mov_r32_rm32, general(to, 32), general(from, 32)),
        16 => Instruction::with2(Code::Movzx_r32_rm16, general(to, 32), general(from, 16)),
        _ => Instruction::with2(Code::Movzx_r32_rm8, general(to, 32), general(from, 8)),
    }
}

/// Sign extension of 8, 16 or 32 bits to 64.
pub(crate) fn extend(bits: u16, to: u8, from: u8) -> Made {
    let code = match bits {
        32 => Code::Movsxd_r64_rm32,
        16 => Code::Movsx_r64_rm16,
        _ => Code::Movsx_r64_rm8,
    };
    Instruction::with2(code, general(to, 64), general(from, bits))
}

/// `to` = 1, 2, 4 or 8 bytes of memory; the other bits are cleared.
pub(crate) fn load(bytes: u16, to: u8, memory: MemoryOperand) -> Made {
    match bytes {
        8 => Instruction::with2(Code::Mov_r64_rm64, general(to, 64), memory),
        4 => Instruction::with2(Code::Mov_r32_rm32, general(to, 32), memory),
        2 => Instruction::with2(Code::Movzx_r32_rm16, general(to, 32), memory),
        _ => Instruction::with2(Code::Movzx_r32_rm8, general(to, 32), memory),
    }
}

/// `to` = a number.
pub(crate) fn set(to: u8, number: u64) -> Made {
    if u32::try_from(number).is_ok() {
        Instruction::with2(Code::Mov_r32_imm32, general(to, 32), number as u32)
    } else if i32::try_from(number as i64).is_ok() {
        Instruction::with2(Code::Mov_rm64_imm32, general(to, 64), number as i32)
    } else {
        Instruction::with2(Code::Mov_r64_imm64, general(to, 64), number)
    }
}

/// `lea to, memory`.
pub(crate) fn address(to: u8, memory: MemoryOperand) -> Made {
    Instruction::with2(Code::Lea_r64_m, general(to, 64), memory)
}

/// `imul to, by`.
pub(crate) fn multiply(bits: u16, to: u8, by: u8) -> Made {
    let code = if bits == 64 { Code::Imul_r64_rm64 } else { Code::Imul_r32_rm32 };
    Instruction::with2(code, general(to, bits), general(by, bits))
}

/// `imul to, from, number`.
pub(crate) fn multiply_by(bits: u16, to: u8, from: u8, number: i32) -> Made {
    let code = if bits == 64 { Code::Imul_r64_rm64_imm32 } else { Code::Imul_r32_rm32_imm32 };
    Instruction::with3(code, general(to, bits), general(from, bits), number)
}

/// Shifts by a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Shift {
    Left,
    Right,
    /// With copies of the sign.
    Signed,
}

/// `shl`, `shr` or `sar`.
pub(crate) fn shift(shift: Shift, bits: u16, register: u8, by: u16) -> Made {
    let code = match (shift, bits) {
        (Shift::Left, 64) => Code::Shl_rm64_imm8,
        (Shift::Left, _) => Code::Shl_rm32_imm8,
        (Shift::Right, 64) => Code::Shr_rm64_imm8,
        (Shift::Right, _) => Code::Shr_rm32_imm8,
        (Shift::Signed, 64) => Code::Sar_rm64_imm8,
        (Shift::Signed, _) => Code::Sar_rm32_imm8,
    };
    Instruction::with2(code, general(register, bits), u32::from(by))
}

/// `not`.
pub(crate) fn complement(register: u8) -> Made {
    Instruction::with1(Code::Not_rm64, general(register, 64))
}

/// The instructions of a division of `rax` by a register: `rdx` is set first, quotient and remainder are in `rax` and `rdx`.
pub(crate) fn divide(bits: u16, signed: bool, by: u8) -> [Made; 2] {
    let (code, prepare) = match (bits, signed) {
        (64, true) => (Code::Idiv_rm64, Ok(Instruction::with(Code::Cqo))),
        (_, true) => (Code::Idiv_rm32, Ok(Instruction::with(Code::Cdq))),
        (64, false) => (Code::Div_rm64, with_register(Arithmetic::Xor, 32, 2, 2)),
        (_, false) => (Code::Div_rm32, with_register(Arithmetic::Xor, 32, 2, 2)),
    };
    [prepare, Instruction::with1(code, general(by, bits))]
}

/// A vector register by its number.
pub(crate) fn vector(number: u8) -> Register {
    Register::XMM0 + u32::from(number)
}

/// `movd` or `movq` from a vector register to a general one.
pub(crate) fn from_vector(bits: u16, to: u8, from: u8) -> Made {
    match bits {
        64 => Instruction::with2(Code::Movq_rm64_xmm, general(to, 64), vector(from)),
        _ => Instruction::with2(Code::Movd_rm32_xmm, general(to, 32), vector(from)),
    }
}

/// `movd` or `movq` from a general register to a vector one.
pub(crate) fn to_vector(bits: u16, to: u8, from: u8) -> Made {
    match bits {
        64 => Instruction::with2(Code::Movq_xmm_rm64, vector(to), general(from, 64)),
        _ => Instruction::with2(Code::Movd_xmm_rm32, vector(to), general(from, 32)),
    }
}

/// `movss` or `movsd` from memory.
pub(crate) fn load_vector(bits: u16, to: u8, memory: MemoryOperand) -> Made {
    let code = if bits == 64 { Code::Movsd_xmm_xmmm64 } else { Code::Movss_xmm_xmmm32 };
    Instruction::with2(code, vector(to), memory)
}

/// `movaps`.
pub(crate) fn copy_vector(to: u8, from: u8) -> Made {
    Instruction::with2(Code::Movaps_xmm_xmmm128, vector(to), vector(from))
}

/// An instruction of two vector registers.
pub(crate) fn of_vectors(code: Code, first: u8, second: u8) -> Made {
    Instruction::with2(code, vector(first), vector(second))
}
