//! What a proof takes for granted: one variant per assumption, with what it is about.
//!
//! Trust: whoever uses something that is not proved notes it here, and the kernel asks of every noted assumption whether
//! the source may be believed that far (`needs_defined_source`). A new variant must answer: no match has a wildcard.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Something a proof takes for granted about the original or its environment (docs/soundness.md lists them).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Assumption {
    /// Registers and memory at the entry are as the calling convention says.
    AbiEntry,
    /// Arrays of kernels lie where their declarations say.
    ArrayPlacement,
    /// In which file, line and function this function of the C library says that an assertion failed is not observable.
    AssertText(String),
    /// A local function is called from the visible call sites only.
    Callers(String),
    /// An object of another file that is declared `const` keeps its value.
    ConstantObject(String),
    /// A local object that its file never writes keeps its value.
    ConstantStatic(String),
    /// A local function of the candidate is called in another way than the original's.
    Convention {
        /// Its name.
        function: String,
        /// How, in words.
        how: String,
    },
    /// Source and destination of a copy of the original do not overlap.
    CopiesApart,
    /// An object of another file is as large as its declaration says.
    DeclaredObject(String),
    /// Calls of this function go to the definition in this file.
    Definition(String),
    /// Variable addresses in an optimised original's frame are in described locals.
    DescribedLocals,
    /// Different arrays of kernels do not overlap.
    DisjointArrays,
    /// Differently named objects do not overlap.
    DisjointObjects,
    /// Allocations succeed.
    EnoughMemory,
    /// The stack has room for the candidate's frame.
    EnoughStack,
    /// No pointer points to `errno`.
    ErrnoPrivate,
    /// A kernel's array has the extent that its accesses show.
    Extent(String),
    /// A loop of the original that has an exit comes to its end.
    FiniteLoops {
        /// The function in which it is.
        function: String,
        /// Address of the loop's head.
        address: u64,
    },
    /// Arrays of kernels are flat: a row may be left through its end.
    FlatArrays,
    /// Floating-point operations of kernels are those of this mode.
    FloatingMode(String),
    /// No pointer from outside points into the frame.
    FramePrivate,
    /// Allocating functions return new objects.
    FreshAllocation,
    /// Different values have different hashes.
    Hash128,
    /// A function is what the C library's header defines.
    HeaderDefinition(String),
    /// Accesses derived from an object stay inside it.
    InBounds(String),
    /// A function without debug information is called as the user says.
    Interface(String),
    /// `noalias` of the intermediate representation holds.
    IrNoalias,
    /// A function of this name is the one of the C library.
    Library(String),
    /// Nothing depends on where anonymous read-only data lies.
    LiteralAddressOpaque,
    /// Nothing depends on where an escaped local lies.
    LocalAddressOpaque,
    /// A local without debug information ends where the certificate says.
    LocalExtent {
        /// Distance from the stack pointer at the entry.
        offset: i64,
        /// Bytes.
        size: u64,
    },
    /// Functions that kernels call depend on their arguments only.
    MathFunctions,
    /// Which payload a NaN carries is not observable.
    NanPayload,
    /// What the original accesses through a pointer to a type is aligned as the type is.
    NaturalAlignment,
    /// What the original accesses earlier or later can be read now, too.
    NoFault(String),
    /// A function accesses nothing as volatile but what declared types show.
    NoVolatileCasts(String),
    /// The proof was not confirmed by running both objects.
    NotRun,
    /// What C means is our own reading of it: a compiler's code was not compared.
    OwnFrontEnd,
    /// Which loops run in parallel, and how, is our own reading of the pragmas.
    PragmasAsRead,
    /// A parameter of kernels has this value, or one from it to the last.
    Parameter {
        /// Its name.
        name: String,
        /// The only or first value.
        first: i64,
        /// The last of several.
        last: Option<i64>,
    },
    /// A parameter that is declared as a pointer and followed is one.
    Pointer(String),
    /// `malloc` and its like change nothing that the program points to.
    PrivateHeap,
    /// What a `restrict` parameter promises.
    Restrict(String),
    /// Both versions were compiled from this file, whose text is the same, and from it come the same declarations.
    SameSource(String),
    /// Nobody else touches memory between events.
    Sequential,
    /// A callee reads and returns what the shape of its calls says.
    Signature(String),
    /// A static holds one of the constants that its file stores in it.
    StoredValues(String),
    /// The original does not come to a trap (`ud2`).
    TrapFree(String),
    /// A `_Bool` in memory is 0 or 1.
    TruthValues,
    /// No pointer points to a static whose address is never taken.
    UnaliasedStatic(String),
    /// What was never initialised is not read: of this local, or of all.
    UninitUnread(Option<String>),
    /// What the original accesses lies in user space.
    UserAddresses,
}

/// Whether it is observable where a failed assertion says that it is: in which file, line and function.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AssertTexts {
    /// Both may say what they like, as they do when a line is added above.
    #[default]
    Ignored,
    /// They are arguments like others.
    Compared,
}

/// Whether the source of the original may be taken to be free of undefined behaviour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Undefined {
    /// It may: what would be undefined does not happen.
    #[default]
    Excused,
    /// It may not: the machine code alone says what happens.
    Counted,
}

impl Undefined {
    /// May this be assumed?
    pub fn grants(self, assumption: &Assumption) -> bool {
        match self {
            Undefined::Excused => true,
            Undefined::Counted => !assumption.needs_defined_source(),
        }
    }
}

impl Assumption {
    /// Could only undefined behaviour of the source violate it? The others are about the machine, the calling convention,
    /// the environment, or what counts as the same.
    pub fn needs_defined_source(&self) -> bool {
        use Assumption::*;
        match self {
            ConstantObject(_)
            | ConstantStatic(_)
            | CopiesApart
            | DeclaredObject(_)
            | DisjointObjects
            | ErrnoPrivate
            | FiniteLoops { .. }
            | InBounds(_)
            | NaturalAlignment
            | NoFault(_)
            | Pointer(_)
            | PrivateHeap
            | Restrict(_)
            | StoredValues(_)
            | TrapFree(_)
            | TruthValues
            | UnaliasedStatic(_)
            | UninitUnread(_)
            | UserAddresses => true,
            AbiEntry
            | ArrayPlacement
            | AssertText(_)
            | Callers(_)
            | Convention { .. }
            | Definition(_)
            | DescribedLocals
            | DisjointArrays
            | EnoughMemory
            | EnoughStack
            | Extent(_)
            | FlatArrays
            | FloatingMode(_)
            | FramePrivate
            | FreshAllocation
            | Hash128
            | HeaderDefinition(_)
            | Interface(_)
            | IrNoalias
            | Library(_)
            | LiteralAddressOpaque
            | LocalAddressOpaque
            | LocalExtent { .. }
            | MathFunctions
            | NanPayload
            | NoVolatileCasts(_)
            | NotRun
            | OwnFrontEnd
            | PragmasAsRead
            | Parameter { .. }
            | SameSource(_)
            | Sequential
            | Signature(_) => false,
        }
    }

    /// Name, such as `in-bounds`.
    pub fn name(&self) -> &'static str {
        use Assumption::*;
        match self {
            AbiEntry => "abi-entry",
            ArrayPlacement => "array-placement",
            AssertText(_) => "assert-text",
            Callers(_) => "callers",
            ConstantObject(_) => "constant-object",
            ConstantStatic(_) => "constant-static",
            Convention { .. } => "convention",
            CopiesApart => "copies-apart",
            DeclaredObject(_) => "declared-object",
            Definition(_) => "definition",
            DescribedLocals => "described-locals",
            DisjointArrays => "disjoint-arrays",
            DisjointObjects => "disjoint-objects",
            EnoughMemory => "enough-memory",
            EnoughStack => "enough-stack",
            ErrnoPrivate => "errno-private",
            Extent(_) => "extent",
            FiniteLoops { .. } => "finite-loops",
            FlatArrays => "flat-arrays",
            FloatingMode(_) => "fp",
            FramePrivate => "frame-private",
            FreshAllocation => "fresh-allocation",
            Hash128 => "hash-128",
            HeaderDefinition(_) => "header-definition",
            InBounds(_) => "in-bounds",
            Interface(_) => "interface",
            IrNoalias => "ir-noalias",
            Library(_) => "library",
            LiteralAddressOpaque => "literal-address-opaque",
            LocalAddressOpaque => "local-address-opaque",
            LocalExtent { .. } => "local-extent",
            MathFunctions => "math-functions",
            NanPayload => "nan-payload",
            NaturalAlignment => "natural-alignment",
            NoFault(_) => "no-fault",
            NoVolatileCasts(_) => "no-volatile-casts",
            NotRun => "not-run",
            OwnFrontEnd => "own-front-end",
            PragmasAsRead => "pragmas-as-read",
            Parameter { .. } => "param",
            Pointer(_) => "pointer",
            PrivateHeap => "private-heap",
            Restrict(_) => "restrict",
            SameSource(_) => "same-source",
            Sequential => "sequential",
            Signature(_) => "signature",
            StoredValues(_) => "stored-values",
            TrapFree(_) => "trap-free",
            TruthValues => "truth-values",
            UnaliasedStatic(_) => "unaliased-static",
            UninitUnread(_) => "uninit-unread",
            UserAddresses => "user-addresses",
        }
    }

    /// What it is about, such as `g`; empty when it is about the whole function.
    pub fn entity(&self) -> Cow<'_, str> {
        use Assumption::*;
        match self {
            AssertText(entity)
            | Callers(entity)
            | ConstantObject(entity)
            | ConstantStatic(entity)
            | DeclaredObject(entity)
            | Definition(entity)
            | Extent(entity)
            | FloatingMode(entity)
            | HeaderDefinition(entity)
            | InBounds(entity)
            | Interface(entity)
            | Library(entity)
            | NoFault(entity)
            | NoVolatileCasts(entity)
            | Pointer(entity)
            | Restrict(entity)
            | SameSource(entity)
            | Signature(entity)
            | StoredValues(entity)
            | TrapFree(entity)
            | UnaliasedStatic(entity) => Cow::Borrowed(entity),
            Convention { function, how } => Cow::Owned(format!("{function}: {how}")),
            FiniteLoops { function, address } => Cow::Owned(format!("{function}+{address:#x}")),
            LocalExtent { offset, size } => Cow::Owned(format!("frame{offset:+}, {size} bytes")),
            Parameter { name, first, last: None } => Cow::Owned(format!("{name}={first}")),
            Parameter { name, first, last: Some(last) } => Cow::Owned(format!("{name}={first}..{last}")),
            UninitUnread(local) => Cow::Borrowed(local.as_deref().unwrap_or_default()),
            AbiEntry | ArrayPlacement | CopiesApart | DescribedLocals | DisjointArrays | DisjointObjects
            | EnoughMemory | EnoughStack | ErrnoPrivate | FlatArrays | FramePrivate | FreshAllocation | Hash128
            | IrNoalias | LiteralAddressOpaque | LocalAddressOpaque | MathFunctions | NanPayload | NaturalAlignment
            | NotRun | OwnFrontEnd | PragmasAsRead | PrivateHeap | Sequential | TruthValues | UserAddresses => {
                Cow::Borrowed("")
            }
        }
    }
}

/// As printed.
impl Ord for Assumption {
    fn cmp(&self, other: &Assumption) -> Ordering {
        self.name().cmp(other.name()).then_with(|| self.entity().cmp(&other.entity()))
    }
}

impl PartialOrd for Assumption {
    fn partial_cmp(&self, other: &Assumption) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entity = self.entity();
        if entity.is_empty() { write!(f, "{}", self.name()) } else { write!(f, "{}({entity})", self.name()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_name_and_entity() {
        let texts = [
            Assumption::InBounds("g".to_string()),
            Assumption::Convention { function: "g".to_string(), how: "no rdi".to_string() },
            Assumption::FiniteLoops { function: "f".to_string(), address: 0x1f },
            Assumption::LocalExtent { offset: -24, size: 16 },
            Assumption::Parameter { name: "n".to_string(), first: 4, last: None },
            Assumption::Parameter { name: "n".to_string(), first: 4, last: Some(8) },
            Assumption::Signature(String::new()),
            Assumption::UninitUnread(None),
            Assumption::UninitUnread(Some("x".to_string())),
            Assumption::Sequential,
        ]
        .map(|a| a.to_string());
        let expected = [
            "in-bounds(g)",
            "convention(g: no rdi)",
            "finite-loops(f+0x1f)",
            "local-extent(frame-24, 16 bytes)",
            "param(n=4)",
            "param(n=4..8)",
            "signature",
            "uninit-unread",
            "uninit-unread(x)",
            "sequential",
        ];
        assert_eq!(texts, expected);
    }

    #[test]
    fn sorts_as_printed() {
        let mut list = [
            Assumption::UserAddresses,
            Assumption::NotRun,
            Assumption::NoVolatileCasts("b".to_string()),
            Assumption::NoFault("p".to_string()),
            Assumption::InBounds("b".to_string()),
            Assumption::InBounds("a".to_string()),
            Assumption::AbiEntry,
        ];
        list.sort();
        let printed = list.map(|a| a.to_string());
        let mut sorted = printed.clone();
        sorted.sort();
        assert_eq!(printed, sorted);
    }

    #[test]
    fn without_defined_source_only_the_machine_is_believed() {
        assert!(Undefined::Excused.grants(&Assumption::Pointer("p".to_string())));
        assert!(!Undefined::Counted.grants(&Assumption::Pointer("p".to_string())));
        assert!(Undefined::Counted.grants(&Assumption::AbiEntry));
    }
}
