//! What a term is made of.

use crate::{FloatOp, Sort};
use smallvec::SmallVec;

/// Handle of a term in its [`crate::Arena`]. Equal handles are equal terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TermId(pub(crate) u32);

/// Handle of a variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct VarId(pub(crate) u32);

/// Handle of an interned constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct ConstId(pub(crate) u32);

/// Handle of a function symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct FuncId(pub(crate) u32);

impl TermId {
    /// Position in the arena; operands come before the terms that use them.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl VarId {
    /// Position in the arena's list of variables, in order of creation.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A function symbol that the solver does not interpret.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Func {
    /// A floating-point operation on bit patterns. The evaluator computes it, the solver sees only a name.
    Float(FloatOp),
    /// A function known by name and result only, such as a pure library function.
    Opaque {
        /// Name, part of the identity.
        name: String,
        /// Sort of the result.
        result: Sort,
    },
}

/// The operator of a term. Operands follow the order of the doc line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Op {
    /// Truth.
    True,
    /// Falsehood.
    False,
    /// A bit-vector constant.
    Const(ConstId),
    /// A free variable of any sort.
    Var(VarId),
    /// Boolean negation.
    Not,
    /// Conjunction, two or more operands.
    And,
    /// Disjunction, two or more operands.
    Or,
    /// `ite(condition, then, else)` of any sort.
    Ite,
    /// Equality of two bit vectors or truth values.
    Eq,
    /// Unsigned less-than.
    Ult,
    /// Signed less-than.
    Slt,
    /// Sum modulo 2^w, two or more operands, constant last.
    Add,
    /// Product modulo 2^w of two operands, constant last.
    Mul,
    /// Unsigned quotient (SMT-LIB on zero).
    Udiv,
    /// Unsigned remainder.
    Urem,
    /// Signed quotient towards zero.
    Sdiv,
    /// Signed remainder.
    Srem,
    /// Bitwise complement.
    BvNot,
    /// Bitwise and of two operands, constant last.
    BvAnd,
    /// Bitwise or of two operands, constant last.
    BvOr,
    /// Bitwise exclusive or of two operands, constant last.
    BvXor,
    /// Shift left by an amount of the same width.
    Shl,
    /// Logical shift right.
    Lshr,
    /// Arithmetic shift right.
    Ashr,
    /// Bits `lo..=hi`.
    Extract {
        /// Highest bit taken.
        hi: u16,
        /// Lowest bit taken.
        lo: u16,
    },
    /// Concatenation, two or more operands, most significant first.
    Concat,
    /// Zero extension to the width.
    Zext(u16),
    /// Sign extension to the width.
    Sext(u16),
    /// Number of one bits, same width as the operand.
    Popcount,
    /// Zero bits below the lowest one; the width for zero.
    TrailingZeros,
    /// Zero bits above the highest one; the width for zero.
    LeadingZeros,
    /// Application of a function symbol.
    Apply(FuncId),
    /// `load(memory, address)`: that many bytes, little-endian.
    Load(u16),
    /// `store(memory, address, value)`: that many bytes, little-endian.
    Store(u16),
    /// `fill(memory, address, byte, length)`: what memset does.
    Fill,
    /// `copy(memory, address, source memory, source address, length)`: what memmove does.
    Copy,
}

/// A term: operator, operands, sort.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Operator.
    pub op: Op,
    /// Operands.
    pub args: SmallVec<[TermId; 3]>,
    /// Sort of the whole.
    pub sort: Sort,
}
