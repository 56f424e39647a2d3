//! Machine code to our instruction form. Only this module, `encode` and `text` know the codec library.

use crate::{Condition, Encoding, Immediate, Instruction, Lane, Memory, Mnemonic, Operand, Repeat};
use iced_x86::{self as iced, Decoder, DecoderOptions, EncodingKind, OpKind};
use program::Register;
use smallvec::SmallVec;
use std::fmt;
use std::sync::OnceLock;
use term::Bits;

/// A decoded instruction and where its constant fields are.
#[derive(Clone, PartialEq, Debug)]
pub struct Decoded {
    /// The instruction, its addresses not yet resolved.
    pub instruction: Instruction,
    /// Number of bytes.
    pub length: usize,
    /// Where relocations can apply.
    pub fields: Fields,
}

/// Constant fields in the bytes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fields {
    /// Displacement of the memory operand.
    pub displacement: Option<Field>,
    /// Immediate, or the relative target of a direct branch.
    pub immediate: Option<Field>,
    /// Is the displacement relative to the next instruction?
    pub rip_relative: bool,
}

/// Place of a field in the bytes of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Offset of the first byte.
    pub offset: usize,
    /// Number of bytes.
    pub size: usize,
}

/// Why bytes are no instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// The bytes end before the instruction does.
    Truncated,
    /// No instruction begins like this.
    Invalid,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DecodeError::Truncated => "the code ends inside an instruction",
            DecodeError::Invalid => "the bytes are no instruction",
        })
    }
}

impl std::error::Error for DecodeError {}

/// Decodes the instruction at the start of `bytes`, as if it lay at address `ip`.
pub fn decode(bytes: &[u8], ip: u64) -> Result<Decoded, DecodeError> {
    let mut decoder = Decoder::with_ip(64, bytes, ip, DecoderOptions::NONE);
    let raw = decoder.decode();
    if raw.is_invalid() {
        return Err(match decoder.last_error() {
            iced::DecoderError::NoMoreBytes => DecodeError::Truncated,
            _ => DecodeError::Invalid,
        });
    }
    let offsets = decoder.get_constant_offsets(&raw);
    let field = |present: bool, offset, size| present.then_some(Field { offset, size });
    let fields = Fields {
        displacement: field(offsets.has_displacement(), offsets.displacement_offset(), offsets.displacement_size()),
        immediate: field(offsets.has_immediate(), offsets.immediate_offset(), offsets.immediate_size()),
        rip_relative: raw.is_ip_rel_memory_operand(),
    };
    Ok(Decoded { instruction: convert(&raw), length: raw.len(), fields })
}

fn convert(raw: &iced::Instruction) -> Instruction {
    let encoding = match raw.code().encoding() {
        EncodingKind::Legacy => Encoding::Legacy,
        EncodingKind::VEX => Encoding::Vex,
        _ => Encoding::Other,
    };
    let mut out = Instruction {
        mnemonic: mnemonic(raw, encoding),
        operands: SmallVec::new(),
        width: 0,
        condition: None,
        encoding,
        lock: raw.has_lock_prefix(),
        repeat: None,
    };
    if raw.is_string_instruction() {
        out.width = 8 * raw.memory_size().size() as u16;
        out.repeat = match (raw.has_repe_prefix(), raw.has_repne_prefix()) {
            (true, _) => Some(Repeat::Equal),
            (_, true) => Some(Repeat::NotEqual),
            _ => None,
        };
        // A segment override or a 32-bit address size changes what is accessed.
        let plain = raw.segment_prefix() == iced::Register::None
            && (0..raw.op_count()).all(|i| {
                !matches!(raw.op_kind(i), OpKind::MemorySegESI | OpKind::MemorySegSI)
                    && !matches!(raw.op_kind(i), OpKind::MemoryESEDI | OpKind::MemoryESDI)
            });
        if !plain {
            out.mnemonic = Mnemonic::new(out.mnemonic.name(), "");
        }
        return out;
    }
    if out.mnemonic.row().is_some_and(|row| row.conditional) {
        let code = raw.condition_code() as u8;
        out.condition = code.checked_sub(1).map(Condition::from_code);
    }
    for i in 0..raw.op_count() {
        match operand(raw, i) {
            Some(operand) => out.operands.push(operand),
            // An operand that our form cannot express: the instruction is not modelled.
            None => out.mnemonic = Mnemonic::new(out.mnemonic.name(), ""),
        }
    }
    out.width = out.operands.first().map_or(0, Operand::bits);
    out
}

/// Name and row. The decoder's names are turned into rows once.
fn mnemonic(raw: &iced::Instruction, encoding: Encoding) -> Mnemonic {
    type Rows = Vec<(&'static str, Mnemonic, Mnemonic)>;
    static ROWS: OnceLock<Rows> = OnceLock::new();
    let rows = ROWS.get_or_init(|| {
        iced::Mnemonic::values()
            .map(|mnemonic| {
                let name: &'static str = Box::leak(format!("{mnemonic:?}").to_lowercase().into_boxed_str());
                let legacy = Mnemonic::new(name, row_name(name));
                let exact = Mnemonic::new(name, name);
                let vex = match (exact.row(), name.strip_prefix('v')) {
                    (None, Some(rest)) => Mnemonic::new(name, rest),
                    _ => exact,
                };
                (name, legacy, vex)
            })
            .collect()
    });
    let (name, legacy, vex) = rows[raw.mnemonic() as usize];
    if raw.is_string_instruction() {
        return Mnemonic::new(name, &name[..4]);
    }
    use iced::Code;
    match (encoding, raw.code()) {
        // Forms whose operand size shows in no operand.
        (_, Code::Loop_rel8_64_ECX | Code::Loop_rel8_16_RCX | Code::Leavew | Code::Leaved | Code::Retnw) => {
            Mnemonic::new(name, "")
        }
        (Encoding::Vex, _) => vex,
        _ => legacy,
    }
}

/// The row of a legacy mnemonic: its own name, except for the families that take a condition.
fn row_name(name: &'static str) -> &'static str {
    let is_condition = |rest: &str| {
        let all = "o no b ae e ne be a s ns p np l ge le g";
        all.split(' ').any(|condition| condition == rest)
    };
    for (prefix, row) in [("j", "jcc"), ("set", "setcc"), ("cmov", "cmovcc")] {
        if name.strip_prefix(prefix).is_some_and(is_condition) {
            return row;
        }
    }
    match name {
        "jecxz" => "jrcxz",
        _ => name,
    }
}

fn operand(raw: &iced::Instruction, i: u32) -> Option<Operand> {
    let immediate = |width: u16| {
        let value = Bits::new(width, raw.immediate(i));
        Some(Operand::Immediate(Immediate { value, symbol: None }))
    };
    match raw.op_kind(i) {
        OpKind::Register => lane(raw.op_register(i)).map(Operand::Register),
        OpKind::Memory => memory(raw).map(Operand::Memory),
        OpKind::Immediate8 | OpKind::Immediate8_2nd => immediate(8),
        OpKind::Immediate16 | OpKind::Immediate8to16 => immediate(16),
        OpKind::Immediate32 | OpKind::Immediate8to32 => immediate(32),
        OpKind::Immediate64 | OpKind::Immediate8to64 | OpKind::Immediate32to64 => immediate(64),
        OpKind::NearBranch64 => {
            let value = Bits::new(64, raw.near_branch64());
            Some(Operand::Immediate(Immediate { value, symbol: None }))
        }
        _ => None,
    }
}

fn lane(register: iced::Register) -> Option<Lane> {
    let number = register.number() as u8;
    let general = |bits| Some(Lane { register: Register::General(number), offset: 0, bits });
    if register.is_gpr8() {
        use iced::Register as R;
        let high = match register {
            R::AH => Some(0),
            R::CH => Some(1),
            R::DH => Some(2),
            R::BH => Some(3),
            _ => None,
        };
        return Some(match high {
            Some(number) => Lane { register: Register::General(number), offset: 8, bits: 8 },
            None => Lane { register: Register::General(register.full_register().number() as u8), offset: 0, bits: 8 },
        });
    }
    match register {
        r if r.is_gpr16() => general(16),
        r if r.is_gpr32() => general(32),
        r if r.is_gpr64() => general(64),
        r if r.is_xmm() && number < 16 => Some(Lane { register: Register::Vector(number), offset: 0, bits: 128 }),
        r if r.is_ymm() && number < 16 => Some(Lane { register: Register::Vector(number), offset: 0, bits: 256 }),
        _ => None,
    }
}

fn memory(raw: &iced::Instruction) -> Option<Memory> {
    let register = |register: iced::Register| -> Option<Option<Register>> {
        match register {
            iced::Register::None | iced::Register::RIP => Some(None),
            r if r.is_gpr64() || r.is_gpr32() => Some(Some(Register::General(r.number() as u8))),
            _ => None,
        }
    };
    let (base, index) = (raw.memory_base(), raw.memory_index());
    let segment = match raw.memory_segment() {
        iced::Register::FS => Some(Register::FsBase),
        iced::Register::GS => Some(Register::GsBase),
        _ => None,
    };
    // `eip`-relative addresses are refused by `register`; a bare displacement has the width of its field.
    let narrow = base.is_gpr32() || index.is_gpr32() || (absolute(base, index) && raw.memory_displ_size() == 4);
    Some(Memory {
        segment,
        base: register(base)?,
        index: register(index)?,
        scale: raw.memory_index_scale() as u8,
        displacement: raw.memory_displacement64() as i64,
        symbol: None,
        rip_relative: raw.is_ip_rel_memory_operand(),
        address_bits: if narrow { 32 } else { 64 },
        bytes: raw.memory_size().size() as u16,
    })
}

fn absolute(base: iced::Register, index: iced::Register) -> bool {
    base == iced::Register::None && index == iced::Register::None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::bytes;
    use expect_test::expect;

    #[test]
    fn fields_say_where_relocations_apply() {
        let mut out = String::new();
        for case in
            ["e8 00 00 00 00", "48 b8 00 00 00 00 00 00 00 00", "c7 84 24 00 01 00 00 05 00 00 00", "89 05 00 00 00 00"]
        {
            let decoded = decode(&bytes(case), 0).unwrap();
            let field = |field: Option<Field>| field.map_or("-".to_string(), |f| format!("{}+{}", f.offset, f.size));
            let (displacement, immediate) = (field(decoded.fields.displacement), field(decoded.fields.immediate));
            out.push_str(&format!("{}: displacement {displacement}, immediate {immediate}\n", decoded.instruction));
        }
        expect![[r#"
            call 0x5: displacement -, immediate 1+4
            mov rax, 0x0: displacement -, immediate 2+8
            mov dword [rsp+0x100], 0x5: displacement 3+4, immediate 7+4
            mov dword [rip:0x6], eax: displacement 2+4, immediate -
        "#]]
        .assert_eq(&out);
    }

    #[test]
    fn truncated_and_invalid_bytes_are_errors() {
        assert_eq!(decode(&[0x48, 0x8b], 0), Err(DecodeError::Truncated));
        assert_eq!(decode(&[0x06; 16], 0), Err(DecodeError::Invalid));
    }
}
