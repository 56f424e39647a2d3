//! A function: its graph and what is known about it besides the code.

use crate::{
    AssertTexts, Callee, Contracts, LocalContract, Next, Object, Place, Point, PointId, Register, Signature,
    SourceText, SourceTypeId, SourceTypes, Undefined, Value,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use term::VarId;

/// A lifted function of one program.
#[derive(Clone, Default, Debug)]
pub struct Function {
    /// Unique name in its program.
    pub name: String,
    /// Points; the entry is the first.
    pub points: Vec<Point>,
    /// Objects whose address variables occur in the points, their contents included.
    pub objects: BTreeMap<VarId, Object>,
    /// Own signature, if debug information has it.
    pub signature: Option<Signature>,
    /// The source's parameters in order, if debug information has them; their values are the signature's arguments.
    pub parameters: Vec<Parameter>,
    /// Types of the source, if debug information has them. No proof rests on them.
    pub source_types: Arc<SourceTypes>,
    /// Signatures of direct callees by name, if debug information has them.
    pub callees: BTreeMap<String, Signature>,
    /// Those of them that only the other version's debug information has ([`Function::adopt_declarations`]).
    pub adopted: BTreeSet<String>,
    /// The source text of its unit, if debug information identifies it.
    pub source: Option<Arc<SourceText>>,
    /// The file that both versions were compiled from, if it is one text: then adopted declarations are its own.
    pub same_source: Option<String>,
    /// Signatures of calls through pointers, by the point that ends with the call, if debug information has them.
    pub pointer_calls: BTreeMap<PointId, Signature>,
    /// Addresses of the instructions that load a `_Bool` from memory, if debug information says so.
    pub truths: BTreeSet<u64>,
    /// What debug information says about accesses to volatile objects.
    pub volatile: Volatile,
    /// Alignments of what instructions access, by their addresses, if debug information has the type.
    pub alignments: BTreeMap<u64, u64>,
    /// The same, if no structure is packed whose layout does not tell. No proof rests on it; a witness does not contradict it.
    pub likely_alignments: BTreeMap<u64, u64>,
    /// Bytes between the members of structures that instructions store, lowest first, by the addresses of the instructions.
    /// Does the code use bytes of the frame that no local of the debug information holds, other than to save registers? Then
    /// there may be objects that nothing describes: compound literals, temporaries, locals that move.
    pub undescribed_frame: bool,
    /// Offsets from `rsp` at entry at which locals end that an address of the function may mean the end of: arrays and structures with
    /// arrays in unoptimised code, which shows the others, else any.
    pub local_ends: std::collections::BTreeSet<i64>,
    /// Registers that debug information says calls pass, by the points that end with them. There may be more.
    pub passed: BTreeMap<PointId, BTreeSet<Register>>,
    /// What they hold is nobody's business.
    pub paddings: BTreeMap<u64, u64>,
    /// Names of direct callees that the program itself defines.
    pub defined: BTreeSet<String>,
    /// Does debug information say that no optimiser saw the function, and does it begin by setting up a frame pointer?
    pub unoptimised: bool,
    /// Local variables in the frame, if debug information has them.
    pub locals: Vec<Local>,
    /// Source lines of instruction addresses.
    pub lines: LineTable,
    /// Hash of the code and of the data that it refers to, for certificates.
    pub hash: String,
    /// Contracts of the file's local functions, this one included.
    pub contracts: Arc<Contracts>,
    /// What only the file around the function tells.
    pub surroundings: Surroundings,
    /// Are its tail calls to itself jumps to the entry here ([`crate::fold_tail_calls`])?
    pub folded: Option<Folded>,
    /// As an original: may it be taken to have no undefined behaviour?
    pub undefined: Undefined,
    /// As an original: is it observable where a failed assertion says that it is?
    pub assert_texts: AssertTexts,
}

/// How the tail calls of a function to itself could be made jumps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Folded {
    /// The addresses of its locals are its own.
    Plain,
    /// Others learn of its locals, but not before such a call.
    WithLocals,
}

/// Accesses of a function that must be made exactly as written.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Volatile {
    /// Addresses of the instructions that access memory so, outside the frame.
    pub places: BTreeSet<u64>,
    /// Addresses of the instructions of which nobody can tell.
    pub doubtful: BTreeSet<u64>,
    /// Sizes of the accesses that may be volatile by a cast of which nothing tells.
    pub casts: Casts,
    /// Something that is not modelled: where, and what.
    pub unmodelled: Option<(u64, String)>,
}

/// Which accesses of a function could be volatile by a cast without a trace in its debug information.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Casts {
    /// Any.
    Hidden,
    /// Those of these sizes: casts are described, and these types have volatile parts.
    Sizes(BTreeSet<u64>),
}

impl Default for Casts {
    /// Without debug information nothing tells.
    fn default() -> Casts {
        Casts::Hidden
    }
}

impl Volatile {
    /// Is nothing volatile in the function?
    pub fn is_none(&self) -> bool {
        self.places.is_empty() && self.doubtful.is_empty() && self.unmodelled.is_none()
    }

    /// May a cast that nobody sees make an access of so many bytes volatile?
    pub fn may_be_cast(&self, bytes: u16) -> bool {
        match &self.casts {
            Casts::Hidden => true,
            Casts::Sizes(sizes) => sizes.contains(&u64::from(bytes)),
        }
    }

    /// How an instruction accesses memory, if not surely in the ordinary way.
    pub fn care(&self, place: u64) -> Option<Care> {
        if self.places.contains(&place) {
            Some(Care::Volatile)
        } else if self.doubtful.contains(&place) {
            Some(Care::Doubtful)
        } else {
            None
        }
    }
}

/// How an access must be made.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Care {
    /// Exactly as written; what is read is nobody's to foresee.
    Volatile,
    /// Exactly as written; what is read may be what memory holds, or something else.
    Doubtful,
}

/// What looks like a variable in a register that calls preserve.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RegisterVariable {
    /// No function reads one as it arrives.
    #[default]
    None,
    /// One reads what a write of the lowest byte has left.
    Rest,
    /// One reads all of it.
    Whole,
}

/// What the file around a function tells about it.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// Digest of the whole file: where it is the same, so is everything in it.
    pub file: Option<[u8; 32]>,
    /// Is the function called from its file only? Then a compiler may know all its callers.
    pub private: bool,
    /// Is it local to a linked file? Nobody but its compiler knows who calls it then, and how.
    pub unseen_callers: bool,
    /// Names of the direct callees that are invisible outside their file.
    pub local_callees: BTreeSet<String>,
    /// Names of the direct callees that another file's definition may replace, or that may be missing.
    pub weak_callees: BTreeSet<String>,
    /// Names of the direct callees that not all files of a program see, or that no other definition can replace.
    pub hidden_callees: BTreeSet<String>,
    /// Names of the direct callees, functions of the same file, that read `r10` as it arrives: nested functions.
    pub chained_callees: BTreeSet<String>,
    /// If it calls somebody: does its file keep a variable in a register that calls preserve? Then callees may look at it.
    pub register_variable: RegisterVariable,
    /// May a function of its file that it calls tell it where `errno` is?
    pub errno: bool,
    /// Names that other files see and that the code does not go by: it means the definitions in its own file.
    pub by_place: BTreeSet<String>,
    /// Versions of names that the linker has chosen for it.
    pub versions: BTreeMap<String, String>,
    /// Could memory hold values of a type that is only 0 or 1?
    pub truth_values: bool,
    /// The machine code, if it is in one piece and nothing in it depends on where it lies.
    pub code: Option<Arc<[u8]>>,
    /// Instructions that load an entry of a jump table. The edges say where it leads; the entry itself is nobody's business.
    pub table_loads: BTreeSet<u64>,
    /// Is it unoptimised C without inlined bodies and with all its variables in memory? Then what it loads is for one use.
    pub loads_once: bool,
    /// Registers that calls through pointers can pass at most, by the points that end with them, where debug information tells: in
    /// unoptimised code that describes every type that a pointer is cast to. What is set up for nobody else it may have missed.
    pub pointer_arguments: BTreeMap<PointId, BTreeSet<Register>>,
    /// Offsets from the entry stack pointer at which members of local structures begin, apart from the first of each. Only
    /// refutation looks at them: an index does not lead from one member to another.
    pub member_starts: BTreeSet<i64>,
}

/// A parameter as the source names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Name in the source.
    pub name: String,
    /// Where it arrives; several values for a struct in registers.
    pub values: Vec<Value>,
    /// Is it a pointer?
    pub pointer: bool,
    /// Is it a `restrict` pointer?
    pub restrict: bool,
    /// The size of the numbers or pointers that it points to, if their addresses are multiples of it; else 1.
    pub element: u16,
    /// The register in which it is at the first instruction, if debug information says so. Nothing may be believed
    /// because of it: optimisers lose track.
    pub arrives: Option<Register>,
    /// Does debug information say at any instruction where it is?
    pub located: bool,
    /// Its type in [`Function::source_types`], if debug information has it.
    pub source_type: Option<SourceTypeId>,
}

/// A local variable that lives in the frame for the whole function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Name in the source.
    pub name: String,
    /// Offset of its first byte from the value of `rsp` at entry (so negative).
    pub offset: i64,
    /// Size in bytes.
    pub size: u64,
    /// Alignment that its declaration asks for, 1 when unknown.
    pub align: u64,
}

/// Source lines by instruction address (relative to the function's start), sorted.
#[derive(Clone, Debug, Default)]
pub struct LineTable {
    /// (first address, line) pairs.
    pub rows: Vec<(u64, SourceLine)>,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// File name without directories.
    pub file: String,
    /// Line number, from 1.
    pub line: u32,
}

impl LineTable {
    /// The line that the instruction at this address came from.
    pub fn find(&self, address: u64) -> Option<&SourceLine> {
        let after = self.rows.partition_point(|(start, _)| *start <= address);
        after.checked_sub(1).map(|i| &self.rows[i].1)
    }
}

impl Function {
    /// The first point.
    pub const ENTRY: PointId = PointId(0);

    /// Names of the functions that are called directly, as often as they are.
    pub fn named_callees(&self) -> impl Iterator<Item = &str> {
        self.points.iter().filter_map(|point| match &point.next {
            crate::Next::Call(crate::Call { callee: crate::Callee::Named(name), .. }) => Some(name.as_str()),
            _ => None,
        })
    }

    /// Takes over the declarations of callees that only the other version's debug information has: clang leaves them out at
    /// -O0. They are this version's own if both were compiled from the same text, and hearsay otherwise.
    pub fn adopt_declarations(&mut self, other: &Function) {
        self.same_source = match (&self.source, &other.source) {
            (Some(ours), Some(theirs)) => ours.is_same_as(theirs).then(|| ours.name().to_string()),
            _ => None,
        };
        for (name, signature) in &other.callees {
            if !self.callees.contains_key(name) {
                self.callees.insert(name.clone(), signature.clone());
                self.adopted.insert(name.clone());
            }
        }
    }

    /// The declaration of a callee by the source of this version.
    pub fn own_declaration(&self, name: &str) -> Option<&Signature> {
        self.callees.get(name).filter(|_| !self.adopted.contains(name) || self.same_source.is_some())
    }

    /// The contract of the function itself, if only visible call sites call it.
    pub fn contract(&self) -> Option<&LocalContract> {
        self.contracts.get(&self.name).filter(|c| c.private)
    }

    /// Does the function look at `errno` by its name?
    pub fn uses_errno(&self) -> bool {
        let errno = |name: &str| name.contains("errno");
        let called = |p: &Point| matches!(&p.next, Next::Call(c) if matches!(&c.callee, Callee::Named(n) if errno(n)));
        self.surroundings.errno || self.points.iter().any(called) || self.objects.values().any(|o| errno(&o.name))
    }

    /// Is this code as no optimiser leaves it: made without one by its debug information, with a frame pointer, and every
    /// parameter with a home in the frame? Then the constant part of a frame address lies in the object that it is about.
    pub fn is_unoptimised(&self) -> bool {
        let homed = self.parameters.iter().all(|p| self.locals.iter().any(|l| l.name == p.name));
        self.unoptimised && homed && !self.locals.is_empty()
    }

    /// The first offset from the entry stack pointer behind the incoming stack arguments;
    /// [`Function::NO_LIMIT`] if nobody knows.
    pub fn argument_limit(&self) -> i64 {
        match self.signature.as_ref().filter(|s| s.unsupported.is_none() && !s.variadic) {
            None => Function::NO_LIMIT,
            Some(signature) => {
                let words = signature.arguments.iter().filter_map(|a| match a.place {
                    Place::Stack(offset) => Some(i64::from(offset) + i64::from(a.bytes.next_multiple_of(8))),
                    Place::Register(_) => None,
                });
                8 + words.max().unwrap_or(0)
            }
        }
    }

    /// More stack than there is.
    pub const NO_LIMIT: i64 = i64::MAX / 2;

    /// A point by its handle.
    pub fn point(&self, id: PointId) -> &Point {
        &self.points[id.index()]
    }
}
