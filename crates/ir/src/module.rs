//! The form: globals, and functions of blocks, instructions and registers.
//!
//! A function has a register for each constant, parameter and result, and for each local variable whose address nobody takes. Copies on the edges of the graph are what other forms write as phi.

/// What a register or a cell of memory holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// An integer of 1 to 64 bits.
    Int(u8),
    /// A `float`.
    Float,
    /// A `double`.
    Double,
    /// An address.
    Pointer,
}

impl Kind {
    /// Bytes in memory.
    pub fn bytes(self) -> u8 {
        match self {
            Kind::Int(bits) => bits.div_ceil(8),
            Kind::Float => 4,
            Kind::Double | Kind::Pointer => 8,
        }
    }

    /// Bits of the value.
    pub fn bits(self) -> u8 {
        match self {
            Kind::Int(bits) => bits,
            Kind::Float => 32,
            Kind::Double | Kind::Pointer => 64,
        }
    }
}

/// A constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Known {
    /// Bits, the rest zero.
    Bits(u64),
    /// So many bytes behind the start of a global.
    Address(u32, i64),
    /// No value.
    Poison,
}

/// All of a file.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Variables and constants.
    pub globals: Vec<Global>,
    /// Functions with a body.
    pub functions: Vec<Function>,
}

/// Who else knows a global.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Linkage {
    /// All files; another one defines it.
    Declared,
    /// All files.
    Exported,
    /// This file only.
    Internal,
}

/// What a global holds before the program starts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Start {
    /// Another file says so.
    Unknown,
    /// These cells, and zero elsewhere.
    Cells(Vec<Cell>),
}

/// A cell of an initial value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Bytes from the start.
    pub offset: u64,
    /// Width in bytes.
    pub bytes: u8,
    /// Content.
    pub value: Known,
}

/// A variable or constant.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Global {
    /// Name.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// The smallest cell that its type has.
    pub grain: u8,
    /// Who knows it.
    pub linkage: Linkage,
    /// Does the compiler or the file never let it change?
    pub constant: bool,
    /// What it holds first.
    pub start: Start,
    /// Identity of its definition's text.
    pub hash: String,
    /// Other globals that its definition mentions.
    pub mentions: Vec<u32>,
}

/// A parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name in the source.
    pub name: String,
    /// What is passed.
    pub kind: Kind,
    /// The register that it arrives in.
    pub register: u32,
    /// The bytes of the structure behind it, if that is the function's own copy.
    pub copied: Option<u64>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Name.
    pub name: String,
    /// What it takes.
    pub parameters: Vec<Parameter>,
    /// What it returns.
    pub result: Option<Kind>,
    /// Registers that hold constants.
    pub constants: Vec<(u32, Known)>,
    /// Kinds of all registers.
    pub registers: Vec<Kind>,
    /// The blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// Why the body could not be read, if it could not.
    pub refused: Option<String>,
    /// Identity of its text.
    pub hash: String,
    /// Globals that it mentions.
    pub mentions: Vec<u32>,
    /// Names of the functions that it calls.
    pub calls: Vec<String>,
    /// May it be called from elsewhere: from another file, or through its address?
    pub entered: bool,
}

/// Instructions without a jump, and what follows.
#[derive(Clone, Debug)]
pub struct Block {
    /// Name, for messages.
    pub name: String,
    /// Instructions.
    pub code: Vec<Inst>,
    /// What follows.
    pub end: End,
    /// The first block that every way to the return goes through, if there is one.
    pub meet: Option<u32>,
}

/// A way to a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// The block.
    pub to: u32,
    /// Registers that are set on the way, all at once: to, from.
    pub moves: Vec<(u32, u32)>,
}

/// The end of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// Goes on there.
    Jump(Edge),
    /// By a truth value: if it is one, if it is zero.
    Branch(u32, Box<[Edge; 2]>),
    /// By a number; the last edge is for all others.
    Switch(u32, Vec<u64>, Vec<Edge>),
    /// Ends the call.
    Return(Option<u32>),
    /// Never reached in a defined program.
    Unreachable,
}

/// Operations on integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum IntOp {
    Add,
    Sub,
    Mul,
    SignedDiv,
    UnsignedDiv,
    SignedRem,
    UnsignedRem,
    ShiftLeft,
    ArithmeticShift,
    LogicalShift,
    And,
    Or,
    Xor,
}

/// Comparisons; of floating-point numbers those that are false for NaN, and `NotEqual` and `Unordered`, which are true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    NotEqual,
    SignedLess,
    SignedLessEqual,
    UnsignedLess,
    UnsignedLessEqual,
    Less,
    LessEqual,
    Unordered,
}

/// Conversions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Conversion {
    SignExtend,
    ZeroExtend,
    Truncate,
    FloatToFloat,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    /// The same address.
    Address,
}

/// Who is called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Callee {
    /// A function of the module.
    Own(u32),
    /// A function of another file, by name.
    Named(String),
}

/// An instruction. Registers are numbers; `to` is set.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Inst {
    /// A variable without an address is read.
    Read {
        to: u32,
        from: u32,
    },
    /// A variable without an address is set.
    Write {
        to: u32,
        from: u32,
    },
    /// A variable without an address begins or ends its life.
    Forget {
        to: u32,
    },
    /// A variable with an address begins or ends its life.
    ForgetAt {
        at: u32,
    },
    Load {
        to: u32,
        at: u32,
        kind: Kind,
        truth: bool,
    },
    Store {
        at: u32,
        from: u32,
        kind: Kind,
    },
    /// Room for a variable: so many times `bytes`; `lasting`: for a structure that is a value and may be returned.
    Reserve {
        to: u32,
        bytes: u64,
        count: Option<u32>,
        grain: u8,
        lasting: bool,
    },
    /// `base + offset + sum of terms`: register, width of its type, bytes.
    Address {
        to: u32,
        base: u32,
        offset: i64,
        terms: Vec<(u32, u8, i64)>,
    },
    /// An operation on integers of so many bits; `exact`: what does not fit the signed type is undefined.
    Integer {
        to: u32,
        op: IntOp,
        bits: u8,
        exact: bool,
        a: u32,
        b: u32,
    },
    /// `+ - * /` of floating-point numbers.
    Float {
        to: u32,
        op: updates::Op,
        kind: Kind,
        a: u32,
        b: u32,
    },
    Negate {
        to: u32,
        kind: Kind,
        a: u32,
    },
    Compare {
        to: u32,
        how: Comparison,
        kind: Kind,
        a: u32,
        b: u32,
    },
    Convert {
        to: u32,
        how: Conversion,
        from: Kind,
        into: Kind,
        a: u32,
    },
    Select {
        to: u32,
        kind: Kind,
        cond: u32,
        a: u32,
        b: u32,
    },
    Call {
        to: Option<u32>,
        callee: Callee,
        arguments: Vec<u32>,
    },
    /// Which variables there are.
    Save {
        to: u32,
    },
    /// Variables since then are gone.
    Restore {
        from: u32,
    },
    /// Undefined behaviour that the compiler found.
    Trap,
}

impl Module {
    /// The function of a name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }
}
