//! What is known of an opcode, from its name.
//!
//! LLVM's names say what the operands are: `ADD32rr`, `ADD32ri`, `ADD32rm`, `ADD32mi` are one operation on registers,
//! numbers and memory. An opcode that is not recognised here is not an error: it is an uninterpreted function of all it
//! reads, and an event. So a missing row loses proofs, a wrong row loses soundness.

/// How the two sources of an operation are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// Register and register, or register and number.
    Registers,
    /// Register and memory.
    Load,
    /// Memory and register or number: read, and written unless the operation only sets flags.
    Memory,
}

/// What an instruction does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing that anybody sees: labels, debug information.
    Nothing,
    Kill,
    Copy,
    Undefined,
    Phi,
    SubregisterToRegister,
    InsertSubregister,
    ExtractSubregister,
    RegisterSequence,
    /// Zero in all bits of the destination.
    Zero,
    /// One in all bits of the destination.
    Ones,
    /// The number or symbol.
    Immediate,
    /// Register to register, the low bits of the source, zeros above.
    Move(u16),
    /// Load, zeros above.
    Load,
    /// Store of so many low bits.
    Store(u16),
    /// Address arithmetic in so many bits.
    Address(u16),
    /// Two sources and flags.
    Binary {
        name: &'static str,
        bits: u16,
        form: Form,
    },
    /// One source and flags.
    Unary {
        name: &'static str,
        bits: u16,
        form: Form,
    },
    /// One source shifted by a number or by `cl`.
    Shift {
        name: &'static str,
        bits: u16,
        form: Form,
        once: bool,
    },
    /// Two sources shifted by a number: left if true.
    DoubleShift {
        left: bool,
        bits: u16,
        form: Form,
    },
    /// One of two sources by a condition.
    Choose {
        bits: u16,
        form: Form,
    },
    /// A condition as a byte, into a register or memory.
    Condition(Form),
    /// Zero extension from so many bits.
    ZeroExtend(u16, Form),
    /// Sign extension from, to.
    SignExtend(u16, u16, Form),
    BranchIf,
    Branch,
    /// An indirect jump.
    Jump,
    /// Control does not come back.
    Return,
    /// A function of its operands without effects.
    Pure {
        faults: bool,
        commutes: Order,
    },
    /// Anything.
    Event,
}

/// May the first two operands change places?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    Fixed,
    /// LLVM knows an opcode or immediate with which they may.
    Rewritten,
    Free,
    /// Up to the payload of NaNs.
    FreeButNan,
}

const BINARY: [&str; 9] = ["ADD", "SUB", "AND", "OR", "XOR", "ADC", "SBB", "CMP", "TEST"];
const UNARY: [&str; 4] = ["INC", "DEC", "NEG", "NOT"];
const SHIFTS: [&str; 7] = ["SHL", "SHR", "SAR", "ROL", "ROR", "RCL", "RCR"];

/// What reaches neither the code nor its tables.
const NOTHING: [&str; 10] = [
    "DBG_VALUE",
    "DBG_VALUE_LIST",
    "DBG_INSTR_REF",
    "DBG_PHI",
    "DBG_LABEL",
    "EH_LABEL",
    "LIFETIME_START",
    "LIFETIME_END",
    "JUMP_TABLE_DEBUG_INFO",
    "FAKE_USE",
];

/// Vector and bit operations that only compute, by how their names begin (an AVX `V` apart).
const PURE: [&str; 96] = [
    "ADDP",
    "ADDS",
    "SUBP",
    "SUBS",
    "MULP",
    "MULS",
    "DIVP",
    "DIVS",
    "MAXP",
    "MAXS",
    "MINP",
    "MINS",
    "MAXC",
    "MINC",
    "SQRTP",
    "SQRTS",
    "RCPP",
    "RCPS",
    "RSQRT",
    "ANDP",
    "ANDNP",
    "ORP",
    "XORP",
    "UNPCK",
    "SHUFP",
    "CMPP",
    "CMPS",
    "UCOMI",
    "COMI",
    "BLEND",
    "PBLEND",
    "CVT",
    "PADD",
    "PSUB",
    "PMUL",
    "PMADD",
    "PAND",
    "POR",
    "PXOR",
    "PCMPEQ",
    "PCMPGT",
    "PAVG",
    "PMAX",
    "PMIN",
    "PSAD",
    "PSLL",
    "PSRL",
    "PSRA",
    "PSHUF",
    "PUNPCK",
    "PACK",
    "PEXTR",
    "PINSR",
    "PMOVMSK",
    "PMOVSX",
    "PMOVZX",
    "PABS",
    "PSIGN",
    "PALIGN",
    "PHADD",
    "PHSUB",
    "HADD",
    "HSUB",
    "ADDSUB",
    "MOVMSK",
    "MOVSSrr",
    "MOVSDrr",
    "MOVHLPS",
    "MOVLHPS",
    "MOVDDUPrr",
    "MOVSHDUPrr",
    "MOVSLDUPrr",
    "ROUNDS",
    "ROUNDP",
    "INSERTPS",
    "EXTRACTPS",
    "PTEST",
    "DPP",
    "BT32r",
    "BT64r",
    "BT16r",
    "BTC",
    "BTR",
    "BTS",
    "BSWAP",
    "BSF",
    "BSR",
    "LZCNT",
    "TZCNT",
    "POPCNT",
    "ANDN",
    "FMADD",
    "FNMADD",
    "FMSUB",
    "FNMSUB",
    "PERM",
];

/// Scalar operations on general registers that only compute, exactly.
const PURE_NAMES: [&str; 27] = [
    "CDQ",
    "CQO",
    "CWD",
    "CBW",
    "CWDE",
    "CDQE",
    "KSET0W",
    "KSET0D",
    "KSET0Q",
    "KSET1W",
    "KSET1D",
    "KSET1Q",
    "SETB_C32r",
    "SETB_C64r",
    "MOV32ImmSExti8x",
    "BEXTR32rr",
    "BEXTR64rr",
    "BZHI32rr",
    "BZHI64rr",
    "RORX32ri",
    "RORX64ri",
    "MULX32rr",
    "MULX64rr",
    "PDEP64rr",
    "PEXT64rr",
    "PDEP32rr",
    "PEXT32rr",
];

/// Operations whose first two operands may change places, by how their names begin.
const INTEGER_COMMUTES: [&str; 22] = [
    "PADD", "PMULL", "PMULH", "PMULU", "PMULD", "PMADDWD", "PAND", "POR", "PXOR", "PCMPEQ", "PAVG", "PMAX", "PMIN",
    "PSAD", "ANDPS", "ANDPD", "ORPS", "ORPD", "XORPS", "XORPD", "MAXC", "MINC",
];
const FLOAT_COMMUTES: [&str; 4] = ["ADDS", "ADDP", "MULS", "MULP"];

/// What the name says.
pub fn meaning(opcode: &str) -> Meaning {
    match opcode {
        "COPY" | "ARITH_FENCE" => return Meaning::Copy,
        "KILL" => return Meaning::Kill,
        "IMPLICIT_DEF" => return Meaning::Undefined,
        "PHI" => return Meaning::Phi,
        "SUBREG_TO_REG" => return Meaning::SubregisterToRegister,
        "INSERT_SUBREG" => return Meaning::InsertSubregister,
        "EXTRACT_SUBREG" => return Meaning::ExtractSubregister,
        "REG_SEQUENCE" => return Meaning::RegisterSequence,
        "MOV32r0" | "V_SET0" | "AVX_SET0" | "FsFLD0SS" | "FsFLD0SD" | "FsFLD0SH" | "FsFLD0F128" | "AVX512_FsFLD0SS"
        | "AVX512_FsFLD0SD" | "AVX512_128_SET0" | "AVX512_256_SET0" | "AVX512_512_SET0" | "LD_Fp032" | "LD_Fp064"
        | "LD_Fp080" => return Meaning::Zero,
        "V_SETALLONES" | "AVX1_SETALLONES" | "AVX2_SETALLONES" | "AVX512_512_SETALLONES" => return Meaning::Ones,
        "JCC_1" | "JCC_4" => return Meaning::BranchIf,
        "JMP_1" | "JMP_4" => return Meaning::Branch,
        "JMP64r" | "JMP64m" | "JMP64r_NT" | "JMP64m_NT" | "JMP64r_REX" | "JMP64m_REX" => return Meaning::Jump,
        "SETCCr" => return Meaning::Condition(Form::Registers),
        "SETCCm" => return Meaning::Condition(Form::Memory),
        "LEA64r" => return Meaning::Address(64),
        "LEA64_32r" | "LEA32r" => return Meaning::Address(32),
        "LEA16r" => return Meaning::Address(16),
        // The whole register, as it is.
        "LD_Fp80m" => return Meaning::Load,
        "ST_FpP80m" => return Meaning::Store(80),
        "UD2" | "TRAP" | "UBSAN_UD1" => return Meaning::Return,
        _ => {}
    }
    if NOTHING.contains(&opcode) {
        return Meaning::Nothing;
    }
    if opcode.starts_with("RET")
        || opcode.starts_with("TCRETURN")
        || opcode.starts_with("TAILJMP")
        || opcode.starts_with("IRET")
    {
        return Meaning::Return;
    }
    if let Some(meaning) = vector_move(opcode).or_else(|| mask_move(opcode)).or_else(|| scalar(opcode)) {
        return meaning;
    }
    let plain = opcode.strip_prefix('V').unwrap_or(opcode);
    let begins = |list: &[&str]| list.iter().any(|prefix| plain.starts_with(prefix));
    if opcode.starts_with("DIV") || opcode.starts_with("IDIV") {
        let integer =
            opcode.trim_start_matches('I').trim_start_matches("DIV").starts_with(|c: char| c.is_ascii_digit());
        if integer {
            return Meaning::Pure { faults: true, commutes: Order::Fixed };
        }
    }
    let multiply = opcode.strip_prefix('I').unwrap_or(opcode).strip_prefix("MUL");
    if multiply.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
        // Two-operand IMUL commutes; one-operand forms name their second source implicitly.
        let two = opcode.starts_with("IMUL") && (opcode.ends_with("rr") || opcode.ends_with("rm"));
        return Meaning::Pure { faults: false, commutes: if two { Order::Free } else { Order::Fixed } };
    }
    let string = matches!(plain, "CMPSB" | "CMPSW" | "CMPSL" | "CMPSQ");
    if !string && (begins(&PURE) || PURE_NAMES.contains(&opcode)) {
        let masked = opcode.ends_with('k') || opcode.ends_with("kz");
        let commutes = if masked {
            Order::Fixed
        } else if begins(&INTEGER_COMMUTES) && !plain.starts_with("PANDN") {
            Order::Free
        } else if begins(&FLOAT_COMMUTES) && !plain.starts_with("ADDSUB") && !opcode.contains("_Int") {
            Order::FreeButNan
        } else {
            Order::Fixed
        };
        return Meaning::Pure { faults: false, commutes };
    }
    Meaning::Event
}

/// Moves between vector registers, general registers and memory.
fn vector_move(opcode: &str) -> Option<Meaning> {
    let name = opcode.strip_prefix('V').unwrap_or(opcode);
    let name = ["Z128", "Z256", "Z", "Y"].iter().fold(name.to_string(), |name, infix| {
        ["rr", "rm", "mr"].iter().fold(name, |name, form| name.replace(&format!("{infix}{form}"), form))
    });
    let load = [
        "MOVSSrm",
        "MOVSSrm_alt",
        "MOVSDrm",
        "MOVSDrm_alt",
        "MOVAPSrm",
        "MOVUPSrm",
        "MOVAPDrm",
        "MOVUPDrm",
        "MOVDQArm",
        "MOVDQUrm",
        "MOVQI2PQIrm",
        "MOVDI2PDIrm",
        "MOV64toPQIrm",
        "MOV64toSDrm",
        "MOVDI2SSrm",
        "MMX_MOVD64rm",
        "MMX_MOVQ64rm",
    ];
    if load.contains(&name.as_str()) {
        return Some(Meaning::Load);
    }
    Some(match name.as_str() {
        "MOVSSmr" | "MOVPDI2DImr" | "MOVSS2DImr" | "MMX_MOVD64mr" => Meaning::Store(32),
        "MOVSDmr" | "MOVPQI2QImr" | "MOVLPDmr" | "MOVLPSmr" | "MOVPQIto64mr" | "MOVSDto64mr" | "MMX_MOVQ64mr" => {
            Meaning::Store(64)
        }
        "MOVAPSmr" | "MOVUPSmr" | "MOVAPDmr" | "MOVUPDmr" | "MOVDQAmr" | "MOVDQUmr" => Meaning::Store(0),
        "MOVAPSrr" | "MOVAPDrr" | "MOVUPSrr" | "MOVUPDrr" | "MOVDQArr" | "MOVDQUrr" => Meaning::Move(0),
        "MOVDI2PDIrr" | "MOVDI2SSrr" | "MOVPDI2DIrr" | "MOVSS2DIrr" | "MMX_MOVD64rr" | "MMX_MOVD64grr" => {
            Meaning::Move(32)
        }
        "MOV64toPQIrr" | "MOV64toSDrr" | "MOVPQIto64rr" | "MOVSDto64rr" | "MOVZPQILo2PQIrr" | "MMX_MOVD64to64rr"
        | "MMX_MOVD64from64rr" | "MMX_MOVQ64rr" => Meaning::Move(64),
        _ => return None,
    })
}

/// Moves between mask registers, general registers and memory; the rest of the destination is cleared.
fn mask_move(opcode: &str) -> Option<Meaning> {
    let mut rest = opcode.strip_prefix("KMOV")?.chars();
    let bits = match rest.next()? {
        'B' => 8,
        'W' => 16,
        'D' => 32,
        'Q' => 64,
        _ => return None,
    };
    Some(match rest.as_str() {
        "km" => Meaning::Load,
        "mk" => Meaning::Store(bits),
        "kk" | "kr" | "rk" => Meaning::Move(bits),
        _ => return None,
    })
}

/// Operations on general registers.
fn scalar(opcode: &str) -> Option<Meaning> {
    let letters = opcode.bytes().take_while(u8::is_ascii_uppercase).count();
    let (base, rest) = opcode.split_at(letters);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let bits: u16 = rest[..digits].parse().ok()?;
    let form = rest[digits..].trim_end_matches("_REV").trim_end_matches("_NOREX").trim_end_matches("_DB");
    if !matches!(bits, 8 | 16 | 32 | 64) {
        return None;
    }
    let find = |list: &[&'static str]| list.iter().copied().find(|name| *name == base);
    if let Some(name) = find(&BINARY) {
        let form = match form {
            "rr" | "ri" | "ri8" | "ri32" => Form::Registers,
            "rm" => Form::Load,
            "mr" | "mi" | "mi8" | "mi32" => Form::Memory,
            _ => return None,
        };
        return Some(Meaning::Binary { name, bits, form });
    }
    if let Some(name) = find(&UNARY) {
        let form = match form {
            "r" => Form::Registers,
            "m" => Form::Memory,
            _ => return None,
        };
        return Some(Meaning::Unary { name, bits, form });
    }
    if let Some(name) = find(&SHIFTS) {
        let (form, once) = match form {
            "ri" | "rCL" => (Form::Registers, false),
            "r1" => (Form::Registers, true),
            "mi" | "mCL" => (Form::Memory, false),
            "m1" => (Form::Memory, true),
            _ => return None,
        };
        return Some(Meaning::Shift { name, bits, form, once });
    }
    Some(match (base, form) {
        ("SHLD", "rri8") => Meaning::DoubleShift { left: true, bits, form: Form::Registers },
        ("SHRD", "rri8") => Meaning::DoubleShift { left: false, bits, form: Form::Registers },
        ("SHLD", "mri8") => Meaning::DoubleShift { left: true, bits, form: Form::Memory },
        ("SHRD", "mri8") => Meaning::DoubleShift { left: false, bits, form: Form::Memory },
        ("CMOV", "rr") => Meaning::Choose { bits, form: Form::Registers },
        ("CMOV", "rm") => Meaning::Choose { bits, form: Form::Load },
        ("MOV", "rr") => Meaning::Move(bits),
        ("MOV", "ri" | "ri32" | "ri64" | "ri_alt" | "ImmSExti8") => Meaning::Immediate,
        ("MOV", "rm") => Meaning::Load,
        ("MOV", "mr" | "mi" | "mi32") => Meaning::Store(bits),
        ("MOVZX", "rr8") => Meaning::ZeroExtend(8, Form::Registers),
        ("MOVZX", "rr16") => Meaning::ZeroExtend(16, Form::Registers),
        ("MOVZX", "rr32") => Meaning::ZeroExtend(32, Form::Registers),
        ("MOVZX", "rm8") => Meaning::ZeroExtend(8, Form::Load),
        ("MOVZX", "rm16") => Meaning::ZeroExtend(16, Form::Load),
        ("MOVZX", "rm32") => Meaning::ZeroExtend(32, Form::Load),
        ("MOVSX", "rr8") => Meaning::SignExtend(8, bits, Form::Registers),
        ("MOVSX", "rr16") => Meaning::SignExtend(16, bits, Form::Registers),
        ("MOVSX", "rr32") => Meaning::SignExtend(32, bits, Form::Registers),
        ("MOVSX", "rm8") => Meaning::SignExtend(8, bits, Form::Load),
        ("MOVSX", "rm16") => Meaning::SignExtend(16, bits, Form::Load),
        ("MOVSX", "rm32") => Meaning::SignExtend(32, bits, Form::Load),
        _ => return None,
    })
}

/// The name of the same operation on registers only, for an opcode that reads memory.
pub fn register_form(opcode: &str) -> Option<String> {
    if opcode == "PUSH64rmm" {
        return Some("PUSH64r".to_string());
    }
    if let Some(at) = opcode.rfind("rm") {
        return Some(format!("{}rr{}", &opcode[..at], &opcode[at + 2..]));
    }
    for (memory, register) in [("mr", "rr"), ("mi", "ri"), ("mi8", "ri8"), ("mi32", "ri32"), ("mCL", "rCL"), ("m", "r")]
    {
        if let Some(stem) = opcode.strip_suffix(memory) {
            return Some(format!("{stem}{register}"));
        }
    }
    // TCRETURNmi64, CALL64m_NT, VFMADD213SDZm_Int and such.
    let at = opcode.rfind("m_").or_else(|| opcode.rfind("mi"))?;
    Some(format!("{}r{}", &opcode[..at], &opcode[at + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_the_operands_are() {
        let binary = |form| Meaning::Binary { name: "ADD", bits: 32, form };
        assert_eq!(meaning("ADD32rr"), binary(Form::Registers));
        assert_eq!(meaning("ADD32rr_DB"), binary(Form::Registers));
        assert_eq!(meaning("ADD32mi8"), binary(Form::Memory));
        assert_eq!(meaning("MOV64ri32"), Meaning::Immediate);
        assert_eq!(meaning("MOVSX64rr32"), Meaning::SignExtend(32, 64, Form::Registers));
        assert_eq!(meaning("VMOVUPSYmr"), Meaning::Store(0));
        assert_eq!(meaning("DIV32r"), Meaning::Pure { faults: true, commutes: Order::Fixed });
        assert_eq!(meaning("DIVSDrr"), Meaning::Pure { faults: false, commutes: Order::Fixed });
        assert_eq!(meaning("PANDrr"), Meaning::Pure { faults: false, commutes: Order::Free });
        assert_eq!(meaning("PANDNrr"), Meaning::Pure { faults: false, commutes: Order::Fixed });
        assert_eq!(meaning("VPANDNDZ128rr"), Meaning::Pure { faults: false, commutes: Order::Fixed });
        assert_eq!(meaning("RDTSC"), Meaning::Event);
        assert_eq!(meaning("LOCK_ADD32mr"), Meaning::Event);
        assert_eq!(meaning("XCHG32rm"), Meaning::Event);
        assert_eq!(meaning("ADD_Fp64"), Meaning::Event);
    }

    #[test]
    fn memory_forms_have_register_forms() {
        let form = |name: &str| register_form(name).unwrap_or_default();
        assert_eq!(form("ADDSDrm"), "ADDSDrr");
        assert_eq!(form("CMPSDrmi"), "CMPSDrri");
        assert_eq!(form("PSHUFDmi"), "PSHUFDri");
        assert_eq!(form("CALL64m"), "CALL64r");
        assert_eq!(form("DIV32m"), "DIV32r");
        assert_eq!(form("IMUL32rmi"), "IMUL32rri");
        assert_eq!(form("TCRETURNmi64"), "TCRETURNri64");
    }
}
