//! Points of a program graph: straight-line operations, then where to go.

use term::{TermId, VarId};

/// Handle of a point in its function.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct PointId(pub u32);

impl PointId {
    /// Position in [`crate::Function::points`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A place in the program: operations in order, then the next step.
#[derive(Clone, Debug)]
pub struct Point {
    /// Address of the first instruction, relative to the start of the function's main part.
    pub address: u64,
    /// Operations, each tagged with the address of its instruction (relative in the same way).
    pub ops: Vec<(u64, Op)>,
    /// Where control goes after the operations.
    pub next: Next,
}

impl Point {
    /// Address of the last instruction, as far as it has operations.
    pub fn last_address(&self) -> u64 {
        self.ops.last().map_or(self.address, |(place, _)| *place)
    }
}

/// One operation. Terms mention registers and temporaries as the variables that hold them *now*: operations
/// of one point run one after another. Temporaries live until the end of the point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Op {
    /// `var := value`.
    Set {
        /// Register or temporary.
        var: VarId,
        /// New value.
        value: TermId,
    },
    /// `var := memory[address]`, little-endian.
    Load {
        /// Register or temporary.
        var: VarId,
        /// 64-bit address.
        address: TermId,
        /// Number of bytes, 1 to 64.
        bytes: u16,
    },
    /// `memory[address] := value`, little-endian.
    Store {
        /// 64-bit address.
        address: TermId,
        /// Value; its width gives the number of bytes.
        value: TermId,
    },
    /// `var` gets a value that the architecture leaves undefined.
    Unknown {
        /// Register or temporary.
        var: VarId,
    },
    /// The machine faults here if the condition holds.
    Fault {
        /// When.
        condition: TermId,
        /// Why.
        kind: FaultKind,
    },
}

/// Why a program faults.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FaultKind {
    /// Division by zero or overflow of the quotient.
    Divide,
    /// An aligned access at a misaligned address.
    Misaligned,
    /// `ud2`, `hlt`, `int3`.
    Trap,
    /// Control runs off the function's code or through a jump table's end.
    OffTheEnd,
    /// A stack access below the red zone.
    BelowStack,
    /// The return address is overwritten.
    ReturnAddress,
    /// A stack access above the incoming arguments.
    CallersFrame,
}

impl FaultKind {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::Divide => "division",
            FaultKind::Misaligned => "misaligned access",
            FaultKind::Trap => "trap",
            FaultKind::OffTheEnd => "end of the code",
            FaultKind::BelowStack => "access below the stack",
            FaultKind::ReturnAddress => "return address overwritten",
            FaultKind::CallersFrame => "access to the caller's frame",
        }
    }
}

/// Where control goes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Next {
    /// To the one edge whose guard holds. Guards are exclusive and exhaustive.
    Edges(Vec<Edge>),
    /// A call, then on to `returns`.
    Call(Call),
    /// Return to the caller; the operations have not popped the return address.
    Return,
    /// Always faults.
    Fault(FaultKind),
}

/// A guarded edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Edge {
    /// Taken when this holds in the state after the operations.
    pub guard: TermId,
    /// Target.
    pub target: PointId,
}

/// A call. The return address is not pushed by the operations: `rsp` is as before the instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// Who is called.
    pub callee: Callee,
    /// Where the call returns to; `None` for a tail jump, which then returns to our caller, and for code that
    /// ends after the call.
    pub returns: Option<PointId>,
    /// Is this a jump that leaves the function (`jmp f`) rather than a call?
    pub tail: bool,
}

/// Who is called.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// A function by its linker name (for a local function the name of its symbol).
    Named(String),
    /// Through a pointer.
    Pointer(TermId),
}
