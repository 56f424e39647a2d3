//! Our instruction form back to machine code.
//!
//! The library has one code for every encoding of every instruction. We try those with the right name and number of
//! operands, let the library check whether the operands fit, decode what it wrote, and keep the shortest bytes that
//! mean *exactly* the instruction that was asked for. So `decode(encode(i)) = i` holds by construction, and what has
//! no encoding is an error instead of a near miss.
//!
//! Trust: none. What is proved is read back from the bytes that were written.

use crate::{Condition, Encoding, Immediate, Instruction, Lane, Memory, Operand, Repeat, decode};
use iced_x86::{self as iced, Code, Encoder, EncodingKind, OpCodeOperandKind as Kind, OpKind};
use program::Register;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::OnceLock;

/// Why an instruction has no bytes or no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EncodeError {
    /// No encoding means this instruction: the operands do not go together, or a constant does not fit.
    NoEncoding(String),
    /// An operand is an address that only a linker knows, or that depends on where the code lies.
    Unresolved(String),
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeError::NoEncoding(text) => write!(f, "instruction `{text}` has no encoding"),
            EncodeError::Unresolved(text) => write!(f, "instruction `{text}` mentions an address without a name"),
        }
    }
}

impl std::error::Error for EncodeError {}

/// The shortest bytes that mean this instruction at address `ip`.
pub fn encode(instruction: &Instruction, ip: u64) -> Result<Vec<u8>, EncodeError> {
    let symbolic = instruction.operands.iter().any(|operand| match operand {
        Operand::Memory(memory) => memory.symbol.is_some(),
        Operand::Immediate(immediate) => immediate.symbol.is_some(),
        Operand::Register(_) => false,
    });
    if symbolic {
        return Err(EncodeError::Unresolved(instruction.to_string()));
    }
    raw(instruction, ip).map(|(_, bytes)| bytes)
}

/// The library's instruction and its bytes. No operand may have a symbol.
pub(crate) fn raw(instruction: &Instruction, ip: u64) -> Result<(iced::Instruction, Vec<u8>), EncodeError> {
    let mut best: Option<(iced::Instruction, Vec<u8>)> = None;
    let mut encoder = Encoder::new(64);
    for code in codes(instruction) {
        let Some(raw) = fill(*code, instruction) else { continue };
        let written = encoder.encode(&raw, ip).is_ok();
        let bytes = encoder.take_buffer();
        let shorter = best.as_ref().is_none_or(|(_, best)| bytes.len() < best.len());
        if written && shorter && decode(&bytes, ip).is_ok_and(|decoded| is_same(&decoded.instruction, instruction)) {
            best = Some((raw, bytes));
        }
    }
    best.ok_or_else(|| EncodeError::NoEncoding(instruction.to_string()))
}

/// Equal, and with the same row behind the name.
fn is_same(a: &Instruction, b: &Instruction) -> bool {
    let row = |instruction: &Instruction| instruction.mnemonic.row().map(|row| row.name);
    a == b && row(a) == row(b)
}

/// The library's codes for instructions of this name and kind of encoding.
fn codes(instruction: &Instruction) -> &'static [Code] {
    type Codes = FxHashMap<(String, Encoding), Vec<Code>>;
    static CODES: OnceLock<Codes> = OnceLock::new();
    let codes = CODES.get_or_init(|| {
        let mut codes = Codes::default();
        for code in Code::values().filter(|code| code.op_code().mode64() && code.op_code().is_instruction()) {
            let encoding = match code.encoding() {
                EncodingKind::Legacy => Encoding::Legacy,
                EncodingKind::VEX => Encoding::Vex,
                _ => continue,
            };
            let name = format!("{:?}", code.mnemonic()).to_lowercase();
            codes.entry((name, encoding)).or_default().push(code);
        }
        codes
    });
    let name = instruction.mnemonic.name().to_string();
    codes.get(&(name, instruction.encoding)).map_or(&[], Vec::as_slice)
}

fn fill(code: Code, instruction: &Instruction) -> Option<iced::Instruction> {
    if code.is_string_instruction() {
        return string(code, instruction);
    }
    let info = code.op_code();
    if info.op_count() as usize != instruction.operands.len() || instruction.repeat.is_some() {
        return None;
    }
    let mut out = iced::Instruction::default();
    out.set_code(code);
    out.set_has_lock_prefix(instruction.lock);
    for (i, operand) in (0..).zip(&instruction.operands) {
        match operand {
            Operand::Register(lane) => {
                out.set_op_kind(i, OpKind::Register);
                out.set_op_register(i, register(*lane)?);
            }
            Operand::Memory(memory) => set_memory(&mut out, i, memory)?,
            Operand::Immediate(immediate) => set_immediate(&mut out, i, info.op_kind(i), immediate)?,
        }
    }
    Some(out)
}

/// The library's name of a lane.
fn register(lane: Lane) -> Option<iced::Register> {
    use iced::Register as R;
    const BYTES: [R; 16] = [
        R::AL,
        R::CL,
        R::DL,
        R::BL,
        R::SPL,
        R::BPL,
        R::SIL,
        R::DIL,
        R::R8L,
        R::R9L,
        R::R10L,
        R::R11L,
        R::R12L,
        R::R13L,
        R::R14L,
        R::R15L,
    ];
    let number = match lane.register {
        Register::General(number) | Register::Vector(number) if number < 16 => u32::from(number),
        _ => return None,
    };
    Some(match (lane.register, lane.offset, lane.bits) {
        (Register::General(_), 8, 8) if number < 4 => R::AH + number,
        (Register::General(_), 0, 8) => BYTES[number as usize],
        (Register::General(_), 0, 16) => R::AX + number,
        (Register::General(_), 0, 32) => R::EAX + number,
        (Register::General(_), 0, 64) => R::RAX + number,
        (Register::Vector(_), 0, 128) => R::XMM0 + number,
        (Register::Vector(_), 0, 256) => R::YMM0 + number,
        _ => return None,
    })
}

fn set_memory(out: &mut iced::Instruction, i: u32, memory: &Memory) -> Option<()> {
    use iced::Register as R;
    let part = |register: Option<Register>| match register {
        None => Some(R::None),
        Some(Register::General(number)) if memory.address_bits == 64 => Some(R::RAX + u32::from(number)),
        Some(Register::General(number)) if memory.address_bits == 32 => Some(R::EAX + u32::from(number)),
        Some(_) => None,
    };
    let (base, index) = (part(memory.base)?, part(memory.index)?);
    let segment = match memory.segment {
        None => R::None,
        Some(Register::FsBase) => R::FS,
        Some(Register::GsBase) => R::GS,
        Some(_) => return None,
    };
    let full = if memory.address_bits == 64 { 8 } else { 4 };
    // 1 lets the library choose between one byte and four; without a base there is always a full displacement.
    let (base, size) = match (memory.rip_relative, base, memory.displacement) {
        (true, R::None, _) if index == R::None => (R::RIP, 8),
        (true, ..) => return None,
        (false, R::None, _) => (base, full),
        (false, _, 0) => (base, 0),
        (false, ..) => (base, 1),
    };
    out.set_op_kind(i, OpKind::Memory);
    out.set_memory_base(base);
    out.set_memory_index(index);
    out.set_memory_index_scale(u32::from(memory.scale));
    out.set_memory_displacement64(memory.displacement as u64);
    out.set_memory_displ_size(size);
    out.set_segment_prefix(segment);
    Some(())
}

fn set_immediate(out: &mut iced::Instruction, i: u32, kind: Kind, immediate: &Immediate) -> Option<()> {
    let value = immediate.value.low();
    let kind = match kind {
        Kind::imm8 | Kind::imm8_const_1 | Kind::imm4_m2z => OpKind::Immediate8,
        Kind::imm8sex16 => OpKind::Immediate8to16,
        Kind::imm8sex32 => OpKind::Immediate8to32,
        Kind::imm8sex64 => OpKind::Immediate8to64,
        Kind::imm16 => OpKind::Immediate16,
        Kind::imm32 => OpKind::Immediate32,
        Kind::imm32sex64 => OpKind::Immediate32to64,
        Kind::imm64 => OpKind::Immediate64,
        Kind::br64_1 | Kind::br64_4 => {
            out.set_op_kind(i, OpKind::NearBranch64);
            out.set_near_branch64(value);
            return Some(());
        }
        _ => return None,
    };
    let second = i > 0 && out.op_kind(i - 1) == OpKind::Immediate16 && kind == OpKind::Immediate8;
    out.set_op_kind(i, if second { OpKind::Immediate8_2nd } else { kind });
    out.set_immediate_u64(i, value);
    Some(())
}

/// String instructions have no operands in our form: the width says which one it is.
fn string(code: Code, instruction: &Instruction) -> Option<iced::Instruction> {
    use iced::Register::None as NONE;
    use iced::{Instruction as I, RepPrefixKind as Rep};
    let rep = match instruction.repeat {
        None => Rep::None,
        Some(Repeat::Equal) => Rep::Repe,
        Some(Repeat::NotEqual) => Rep::Repne,
    };
    let made = match code {
        Code::Movsb_m8_m8 => I::with_movsb(64, NONE, rep),
        Code::Movsw_m16_m16 => I::with_movsw(64, NONE, rep),
        Code::Movsd_m32_m32 => I::with_movsd(64, NONE, rep),
        Code::Movsq_m64_m64 => I::with_movsq(64, NONE, rep),
        Code::Cmpsb_m8_m8 => I::with_cmpsb(64, NONE, rep),
        Code::Cmpsw_m16_m16 => I::with_cmpsw(64, NONE, rep),
        Code::Cmpsd_m32_m32 => I::with_cmpsd(64, NONE, rep),
        Code::Cmpsq_m64_m64 => I::with_cmpsq(64, NONE, rep),
        Code::Stosb_m8_AL => I::with_stosb(64, rep),
        Code::Stosw_m16_AX => I::with_stosw(64, rep),
        Code::Stosd_m32_EAX => I::with_stosd(64, rep),
        Code::Stosq_m64_RAX => I::with_stosq(64, rep),
        Code::Lodsb_AL_m8 => I::with_lodsb(64, NONE, rep),
        Code::Lodsw_AX_m16 => I::with_lodsw(64, NONE, rep),
        Code::Lodsd_EAX_m32 => I::with_lodsd(64, NONE, rep),
        Code::Lodsq_RAX_m64 => I::with_lodsq(64, NONE, rep),
        Code::Scasb_AL_m8 => I::with_scasb(64, rep),
        Code::Scasw_AX_m16 => I::with_scasw(64, rep),
        Code::Scasd_EAX_m32 => I::with_scasd(64, rep),
        Code::Scasq_RAX_m64 => I::with_scasq(64, rep),
        _ => return None,
    };
    made.ok()
}

impl Condition {
    /// The suffix that `j`, `set` and `cmov` take for it.
    pub fn suffix(self) -> &'static str {
        const SUFFIXES: [&str; 16] =
            ["o", "no", "b", "ae", "e", "ne", "be", "a", "s", "ns", "p", "np", "l", "ge", "le", "g"];
        SUFFIXES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bytes;
    use expect_test::expect;

    #[test]
    fn the_shortest_encoding_is_taken() {
        let mut out = String::new();
        for case in ["81 c7 01 00 00 00", "c1 e0 01", "48 8b 84 24 08 00 00 00", "0f 84 10 00 00 00", "f3 48 ab"] {
            let instruction = decode(&bytes(case), 0x1000).unwrap().instruction;
            let hex: Vec<String> =
                encode(&instruction, 0x1000).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
            out.push_str(&format!("{instruction}: {}\n", hex.join(" ")));
        }
        expect![[r#"
            add edi, 0x1: 83 c7 01
            shl eax, 0x1: d1 e0
            mov rax, qword [rsp+0x8]: 48 8b 44 24 08
            je 0x1016: 74 14
            rep stosq: f3 48 ab
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn what_has_no_encoding_is_an_error() {
        let mut instruction = decode(&bytes("48 01 f8"), 0).unwrap().instruction;
        instruction.operands[1] = Operand::Register(Lane { register: Register::General(0), offset: 0, bits: 32 });
        assert_eq!(encode(&instruction, 0), Err(EncodeError::NoEncoding("add rax, eax".to_string())));
    }
}
