//! What is known of the functions of a file: contracts.
//!
//! A local function whose address is never taken is called from the visible call sites only, so compilers drop
//! arguments that are constant or unread, propagate constant results, ignore unused ones, and delete calls without an
//! effect, even with inlining off. A contract says, of the original: the constants that all call sites pass, what it
//! returns, what it does to memory and to addresses; and how the candidate takes its arguments.
//!
//! The function is compared under the contract, and every call of it against the contract. Printed as `callers(f)`, or
//! as `definition(f)` where others may call it, too.
//!
//! Trust: full for what a contract means, which is how [`symbolic::Context`] uses it. Whoever proposes one is not believed: what is
//! said of the original is a lemma that the kernel proves (`kernel::lemma`); how the candidate takes its arguments (`moved`,
//! `promoted`, `result_unused`) is a convention that body and calls are both held to, printed as `convention(f: …)`.

use crate::{Assumption, Loaded, Register, ValueRange};
use std::collections::{BTreeMap, BTreeSet};

/// A value that does not depend on an arena.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Fixed {
    /// A number.
    Number(u64),
    /// An address: variable and offset.
    Address(String, i64),
}

/// What a function always returns.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FixedResult {
    /// This value.
    Value(Fixed),
    /// What it was given in this register.
    Argument(Register),
}

/// What a local function does besides returning a result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LocalEffect {
    /// Nothing, whatever memory holds: its result is a function of the arguments.
    Pure,
    /// Nothing: its result is a function of the arguments and memory.
    Reads,
    /// It writes no memory outside its frame and calls nobody, but may not return.
    Preserves,
    /// The same, but for calls of functions that manage the heap.
    Heap,
    /// Anything.
    Unknown,
}

/// The contract of one local function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocalContract {
    /// Is it called from the visible call sites only? If not, the contract says nothing about its arguments.
    pub private: bool,
    /// Ranges of arguments at every call site of the original, at the argument's width.
    pub ranges: BTreeMap<Register, ValueRange>,
    /// Range of the original's result, at its width.
    pub result_range: Option<ValueRange>,
    /// Does the original never return?
    pub noreturn: bool,
    /// Argument registers whose value is one of these at every call site of the original.
    pub arguments: BTreeMap<Register, BTreeSet<Fixed>>,
    /// Where the candidate expects what the original takes in a register; `None` if nowhere.
    pub moved: BTreeMap<Register, Option<Register>>,
    /// What the candidate takes instead of a pointer: the value that a chain of loads has at the call.
    pub promoted: BTreeMap<Register, Loaded>,
    /// Loads that the original makes before anything else, in every run.
    pub reads: BTreeSet<Loaded>,
    /// Does no call site of the candidate read the result?
    pub result_unused: bool,
    /// What the original always returns.
    pub result: Option<FixedResult>,
    /// Bytes of its result that this is said of.
    pub result_bytes: u16,
    /// Is what the original returns null, or what it has just been given by an allocating function?
    pub returns_fresh: bool,
    /// Argument registers whose address nobody can find when the original is done.
    pub forgets: BTreeSet<Register>,
    /// What the original does.
    pub effect: LocalEffect,
    /// What was taken for granted where this was proved.
    pub assumptions: BTreeSet<Assumption>,
}

impl LocalContract {
    /// How the candidate is called, if that is not as the original is. Body and calls must agree about it, and they may be
    /// compared by different certificates; so it is printed with every proof. (What anybody's code shows need not be.)
    pub fn convention(&self) -> Option<String> {
        let moved = self.moved.iter().filter(|(from, to)| **to != Some(**from)).map(|(from, to)| match to {
            Some(to) => format!("{} in {}", from.name(), to.name()),
            None => format!("no {}", from.name()),
        });
        let promoted = self.promoted.iter().map(|(register, loaded)| {
            let offsets: String = loaded.offsets.iter().map(|offset| format!("[{offset}]")).collect();
            format!("{}{offsets} in {}", loaded.argument.name(), register.name())
        });
        let unread = self.result_unused.then(|| "result unread".to_string());
        let all: Vec<String> = moved.chain(promoted).chain(unread).collect();
        (self.private && !all.is_empty()).then(|| all.join(", "))
    }

    /// May a compiler that knows it change calls of the function, other than by what happens to local objects?
    pub fn changes_calls(&self) -> bool {
        self.private
            || self.moved.values().any(Option::is_none)
            || self.result.is_some()
            || self.result_range.is_some()
            || self.noreturn
            || self.returns_fresh
            || self.effect != LocalEffect::Unknown
    }
}

/// What all code of the original's file says.
#[derive(Clone, Default, Debug)]
pub struct Contracts {
    /// Contracts by name of the function.
    functions: BTreeMap<String, LocalContract>,
    /// By name: the numbers that a static can hold, as every store of the file is one of a constant.
    pub statics: BTreeMap<String, BTreeSet<u64>>,
    /// Functions that return twice, in either file, because they jump to one that does.
    pub twice: BTreeSet<String>,
}

impl Contracts {
    /// None.
    pub fn new() -> Contracts {
        Contracts::default()
    }
}

impl std::ops::Deref for Contracts {
    type Target = BTreeMap<String, LocalContract>;

    fn deref(&self) -> &Self::Target {
        &self.functions
    }
}

impl std::ops::DerefMut for Contracts {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.functions
    }
}
