//! The forms under test: every encoding that the encoder knows, with random operands.

use crate::random::Random;
use crate::states::SCRATCH;
use iced_x86::{Code, Encoder, Instruction, MemoryOperand, OpCodeOperandKind as Kind, OpKind, Register};
use x86::table::{Feature, Row, Vex};

/// One encoding.
pub struct Form {
    code: Code,
}

/// All encodings of 64-bit mode.
pub fn all() -> impl Iterator<Item = Form> {
    Code::values().filter(|code| code.op_code().mode64() && code.op_code().is_instruction()).map(Form::of)
}

/// Can this CPU run the row?
pub fn is_available(row: &Row) -> bool {
    let vex = match row.vex {
        Vex::No => true,
        Vex::Avx | Vex::Avx2 | Vex::Only => is_x86_feature_detected!("avx2"),
    };
    vex && match row.feature {
        Feature::Base | Feature::Sse | Feature::Sse2 => true,
        Feature::Sse3 => is_x86_feature_detected!("sse3"),
        Feature::Ssse3 => is_x86_feature_detected!("ssse3"),
        Feature::Sse41 => is_x86_feature_detected!("sse4.1"),
        Feature::Sse42 => is_x86_feature_detected!("sse4.2"),
        Feature::Popcnt => is_x86_feature_detected!("popcnt"),
        Feature::Lzcnt => is_x86_feature_detected!("lzcnt"),
        Feature::Movbe => is_x86_feature_detected!("movbe"),
        Feature::Bmi1 => is_x86_feature_detected!("bmi1"),
        Feature::Bmi2 => is_x86_feature_detected!("bmi2"),
        Feature::Adx => is_x86_feature_detected!("adx"),
        Feature::Avx => is_x86_feature_detected!("avx"),
        Feature::Avx2 => is_x86_feature_detected!("avx2"),
        Feature::Fma => is_x86_feature_detected!("fma"),
    }
}

impl Form {
    pub fn of(code: Code) -> Form {
        Form { code }
    }

    pub fn name(&self) -> String {
        format!("{:?}", self.code)
    }

    pub fn seed(&self) -> u64 {
        self.code as u64
    }

    /// The bytes of the form with random operands; `None` if it cannot be encoded or transfers control.
    pub fn encode(&self, random: &mut Random) -> Option<Vec<u8>> {
        if self.code.is_string_instruction() {
            return string_bytes(self.code);
        }
        let info = self.code.op_code();
        let mut instruction = Instruction::default();
        instruction.set_code(self.code);
        let in_memory = random.chance(2);
        for i in 0..info.op_count() {
            set_operand(&mut instruction, i, info.op_kind(i), in_memory, random)?;
        }
        let mut encoder = Encoder::new(64);
        encoder.encode(&instruction, 0x1000).ok()?;
        Some(encoder.take_buffer())
    }
}

fn set_operand(out: &mut Instruction, i: u32, kind: Kind, in_memory: bool, random: &mut Random) -> Option<()> {
    let register = match kind {
        Kind::mem | Kind::mem_mib => return set_memory(out, i, random),
        Kind::mem_offs => {
            out.set_op_kind(i, OpKind::Memory);
            out.set_memory_displ_size(8);
            out.set_memory_displacement64(SCRATCH.address + 256 + random.below(256));
            return Some(());
        }
        Kind::r8_or_mem
        | Kind::r16_or_mem
        | Kind::r32_or_mem
        | Kind::r64_or_mem
        | Kind::xmm_or_mem
        | Kind::ymm_or_mem
            if in_memory =>
        {
            return set_memory(out, i, random);
        }
        Kind::r8_or_mem | Kind::r8_reg | Kind::r8_opcode => {
            // Registers without and with REX prefix cannot be mixed; the encoder refuses, and we try again.
            let all = [
                Register::AL,
                Register::CL,
                Register::DL,
                Register::BL,
                Register::AH,
                Register::CH,
                Register::DH,
                Register::BH,
                Register::SPL,
                Register::SIL,
                Register::R8L,
                Register::R13L,
                Register::R15L,
            ];
            random.pick(&all)
        }
        Kind::r16_or_mem | Kind::r16_reg | Kind::r16_reg_mem | Kind::r16_rm | Kind::r16_opcode => {
            Register::AX + random.below(16) as u32
        }
        Kind::r32_or_mem | Kind::r32_reg | Kind::r32_reg_mem | Kind::r32_rm | Kind::r32_opcode | Kind::r32_vvvv => {
            Register::EAX + random.below(16) as u32
        }
        Kind::r64_or_mem | Kind::r64_reg | Kind::r64_reg_mem | Kind::r64_rm | Kind::r64_opcode | Kind::r64_vvvv => {
            Register::RAX + random.below(16) as u32
        }
        Kind::xmm_or_mem | Kind::xmm_reg | Kind::xmm_rm | Kind::xmm_vvvv | Kind::xmm_is4 => {
            Register::XMM0 + random.vector_number()
        }
        Kind::ymm_or_mem | Kind::ymm_reg | Kind::ymm_rm | Kind::ymm_vvvv | Kind::ymm_is4 => {
            Register::YMM0 + random.vector_number()
        }
        Kind::mm_reg | Kind::mm_rm | Kind::mm_or_mem => Register::MM0 + random.below(8) as u32,
        Kind::zmm_reg | Kind::zmm_rm | Kind::zmm_or_mem | Kind::zmm_vvvv => Register::ZMM0 + random.below(8) as u32,
        Kind::k_reg | Kind::k_rm | Kind::k_or_mem | Kind::k_vvvv => Register::K1,
        Kind::mem_vsib32x | Kind::mem_vsib64x => {
            set_memory(out, i, random)?;
            out.set_memory_index(Register::XMM5);
            return Some(());
        }
        Kind::al => Register::AL,
        Kind::cl => Register::CL,
        Kind::ax => Register::AX,
        Kind::dx => Register::DX,
        Kind::eax => Register::EAX,
        Kind::rax => Register::RAX,
        Kind::st0 => Register::ST0,
        Kind::sti_opcode => Register::ST1,
        other => return set_immediate(out, i, other, random),
    };
    out.set_op_kind(i, OpKind::Register);
    out.set_op_register(i, register);
    Some(())
}

fn set_immediate(out: &mut Instruction, i: u32, kind: Kind, random: &mut Random) -> Option<()> {
    let value = random.word();
    let (kind, value) = match kind {
        Kind::imm8 => (OpKind::Immediate8, random.next() & 0xff),
        Kind::imm8_const_1 => (OpKind::Immediate8, 1),
        Kind::imm8sex16 => (OpKind::Immediate8to16, value as i8 as u64),
        Kind::imm8sex32 => (OpKind::Immediate8to32, value as i8 as u64),
        Kind::imm8sex64 => (OpKind::Immediate8to64, value as i8 as u64),
        Kind::imm16 => (OpKind::Immediate16, value & 0xffff),
        Kind::imm32 => (OpKind::Immediate32, value & 0xffff_ffff),
        Kind::imm32sex64 => (OpKind::Immediate32to64, value as i32 as u64),
        Kind::imm64 => (OpKind::Immediate64, value),
        _ => return None,
    };
    out.set_op_kind(i, kind);
    out.set_immediate_u64(i, value);
    Some(())
}

/// A memory operand of some shape; the state generator makes the registers fit.
fn set_memory(out: &mut Instruction, i: u32, random: &mut Random) -> Option<()> {
    let mut bases = vec![Register::RAX, Register::RCX, Register::RDX, Register::RBX, Register::RSP, Register::RBP];
    bases.extend([Register::RSI, Register::RDI, Register::R8, Register::R12, Register::R13]);
    let base = random.pick(&bases);
    let indices: Vec<Register> =
        bases.iter().copied().chain([Register::R15]).filter(|r| *r != base && *r != Register::RSP).collect();
    let (index, scale) = (random.pick(&indices), random.pick(&[1, 2, 4, 8]));
    let absolute = (SCRATCH.address + 512) as i64;
    let small = random.below(256) as i64 - 128;
    let operand = match random.below(8) {
        0 | 1 => MemoryOperand::with_base(base),
        2 | 3 => MemoryOperand::with_base_displ_size(base, small, 1),
        4 => MemoryOperand::with_base_index_scale_displ_size(base, index, scale, 4 * small, 4),
        5 => MemoryOperand::with_base_index_scale(base, index, scale),
        6 => MemoryOperand::new(Register::None, index, scale, absolute, 8, false, Register::None),
        _ => MemoryOperand::new(Register::None, Register::None, 1, absolute + small, 8, false, Register::None),
    };
    let narrow = random.chance(16) && operand.index != Register::None && operand.base != Register::None;
    out.set_op_kind(i, OpKind::Memory);
    let half = |register: Register| match register {
        Register::None => Register::None,
        wide if narrow => Register::EAX + wide.number() as u32,
        wide => wide,
    };
    out.set_memory_base(half(operand.base));
    out.set_memory_index(half(operand.index));
    out.set_memory_index_scale(operand.scale);
    out.set_memory_displacement64(operand.displacement as u64);
    out.set_memory_displ_size(operand.displ_size);
    Some(())
}

/// The string instructions, which have no operands to choose.
fn string_bytes(code: Code) -> Option<Vec<u8>> {
    let (prefix, opcode): (&[u8], u8) = match code {
        Code::Movsb_m8_m8 => (&[], 0xa4),
        Code::Movsw_m16_m16 => (&[0x66], 0xa5),
        Code::Movsd_m32_m32 => (&[], 0xa5),
        Code::Movsq_m64_m64 => (&[0x48], 0xa5),
        Code::Cmpsb_m8_m8 => (&[], 0xa6),
        Code::Cmpsw_m16_m16 => (&[0x66], 0xa7),
        Code::Cmpsd_m32_m32 => (&[], 0xa7),
        Code::Cmpsq_m64_m64 => (&[0x48], 0xa7),
        Code::Stosb_m8_AL => (&[], 0xaa),
        Code::Stosw_m16_AX => (&[0x66], 0xab),
        Code::Stosd_m32_EAX => (&[], 0xab),
        Code::Stosq_m64_RAX => (&[0x48], 0xab),
        Code::Lodsb_AL_m8 => (&[], 0xac),
        Code::Lodsw_AX_m16 => (&[0x66], 0xad),
        Code::Lodsd_EAX_m32 => (&[], 0xad),
        Code::Lodsq_RAX_m64 => (&[0x48], 0xad),
        Code::Scasb_AL_m8 => (&[], 0xae),
        Code::Scasw_AX_m16 => (&[0x66], 0xaf),
        Code::Scasd_EAX_m32 => (&[], 0xaf),
        Code::Scasq_RAX_m64 => (&[0x48], 0xaf),
        _ => return None,
    };
    Some([prefix, &[opcode]].concat())
}
