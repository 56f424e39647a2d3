//! The machine registers as variables of a term arena.
//!
//! [`Register::declare`] must be the first thing done to an arena, so that a register's variable has the
//! register's own index in every arena. Operations of a graph mention registers as these variables: they stand
//! for the value before the operation.

use term::{Arena, Sort, TermId, VarId};

/// A register of the machine. Vector registers are split in two halves of 128 bits, so that SSE code never
/// mentions the upper one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Register {
    /// A general register by its encoding: 0 rax, 1 rcx, 2 rdx, 3 rbx, 4 rsp, 5 rbp, 6 rsi, 7 rdi, 8–15 r8–r15.
    General(u8),
    /// The low 128 bits of a vector register: xmm0–xmm15.
    Vector(u8),
    /// Bits 128–255 of a vector register.
    VectorHigh(u8),
    /// A flag, a truth value.
    Flag(Flag),
    /// Base of the `fs` segment (thread-local storage).
    FsBase,
    /// Base of the `gs` segment.
    GsBase,
}

/// The flags of the machine.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Flag {
    /// CF.
    Carry,
    /// PF.
    Parity,
    /// AF.
    Adjust,
    /// ZF.
    Zero,
    /// SF.
    Sign,
    /// OF.
    Overflow,
    /// DF.
    Direction,
}

const GENERAL: [&str; 16] =
    ["rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
const FLAGS: [(Flag, &str); 7] = [
    (Flag::Carry, "cf"),
    (Flag::Parity, "pf"),
    (Flag::Adjust, "af"),
    (Flag::Zero, "zf"),
    (Flag::Sign, "sf"),
    (Flag::Overflow, "of"),
    (Flag::Direction, "df"),
];

impl Register {
    /// Number of registers; their variables have the indices below it.
    pub const COUNT: usize = 57;
    /// The stack pointer.
    pub const RSP: Register = Register::General(4);
    /// The frame pointer, an ordinary callee-saved register.
    pub const RBP: Register = Register::General(5);
    /// General registers that carry integer arguments, in order (System V).
    pub const ARGUMENTS: [Register; 6] = [
        Register::General(7),
        Register::General(6),
        Register::General(2),
        Register::General(1),
        Register::General(8),
        Register::General(9),
    ];
    /// Registers that a callee preserves, the stack pointer apart.
    pub const CALLEE_SAVED: [Register; 6] = [
        Register::General(3),
        Register::General(5),
        Register::General(12),
        Register::General(13),
        Register::General(14),
        Register::General(15),
    ];

    /// All registers in the order of their indices.
    pub fn all() -> impl Iterator<Item = Register> {
        (0..16)
            .map(Register::General)
            .chain((0..16).map(Register::Vector))
            .chain((0..16).map(Register::VectorHigh))
            .chain(FLAGS.iter().map(|(flag, _)| Register::Flag(*flag)))
            .chain([Register::FsBase, Register::GsBase])
    }

    /// Position in [`Register::all`] and of its variable in every arena.
    pub fn index(self) -> usize {
        match self {
            Register::General(i) => usize::from(i),
            Register::Vector(i) => 16 + usize::from(i),
            Register::VectorHigh(i) => 32 + usize::from(i),
            Register::Flag(flag) => 48 + flag as usize,
            Register::FsBase => 55,
            Register::GsBase => 56,
        }
    }

    /// The register whose variable this is.
    pub fn of_var(var: VarId) -> Option<Register> {
        match var.index() {
            i @ 0..16 => Some(Register::General(i as u8)),
            i @ 16..32 => Some(Register::Vector(i as u8 - 16)),
            i @ 32..48 => Some(Register::VectorHigh(i as u8 - 32)),
            i @ 48..55 => Some(Register::Flag(FLAGS[i - 48].0)),
            55 => Some(Register::FsBase),
            56 => Some(Register::GsBase),
            _ => None,
        }
    }

    /// Sort of the register's value.
    pub fn sort(self) -> Sort {
        match self {
            Register::General(_) | Register::FsBase | Register::GsBase => Sort::Bv(64),
            Register::Vector(_) | Register::VectorHigh(_) => Sort::Bv(128),
            Register::Flag(_) => Sort::Bool,
        }
    }

    /// Name as assemblers write it.
    pub fn name(self) -> String {
        match self {
            Register::General(i) => GENERAL[usize::from(i)].to_string(),
            Register::Vector(i) => format!("xmm{i}"),
            Register::VectorHigh(i) => format!("ymm{i}.high"),
            Register::Flag(flag) => FLAGS[flag as usize].1.to_string(),
            Register::FsBase => "fs".to_string(),
            Register::GsBase => "gs".to_string(),
        }
    }

    /// Makes the registers' variables the first ones of an arena.
    pub fn declare(arena: &mut Arena) {
        for register in Register::all() {
            let term = arena.var(&register.name(), register.sort());
            debug_assert_eq!(arena.as_var(term).map(VarId::index), Some(register.index()));
        }
    }

    /// The register's variable as a term. The arena must have been declared.
    pub fn term(self, arena: &mut Arena) -> TermId {
        arena.var(&self.name(), self.sort())
    }
}
