//! How a function takes its arguments and gives its results (System V x86-64).

use crate::Register;

/// Where the values of a call live.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Signature {
    /// Parameters in order; one C parameter may be several values (a struct in two registers).
    pub arguments: Vec<Value>,
    /// Results: none for `void`, one, or several for a struct in registers.
    pub results: Vec<Value>,
    /// Takes further arguments after the named ones; `al` then bounds the vector registers used.
    pub variadic: bool,
    /// Never returns.
    pub noreturn: bool,
    /// A parameter or result that we cannot place (x87, vectors above 16 bytes, …), in words.
    pub unsupported: Option<String>,
}

impl Signature {
    /// What `unsupported` says if an optimiser has changed how the function is called.
    pub const CHANGED: &str = "a changed calling convention";

    /// The results of a function of which an optimiser has changed how it is called: it may have dropped them, not moved
    /// them, if there is only one.
    pub fn changed_results(&self) -> Option<&[Value]> {
        let changed = self.unsupported.as_deref() == Some(Signature::CHANGED);
        (changed && self.results.len() <= 1).then_some(&self.results)
    }
}

/// One value at a call boundary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value {
    /// Where.
    pub place: Place,
    /// Number of defined bytes, from the low end.
    pub bytes: u16,
    /// Is it a `_Bool`, whose value is 0 or 1?
    pub boolean: bool,
    /// For a `char` or `short` argument (`bytes` is 4 then): the type that was extended to 32 bits.
    pub narrow: Option<Narrow>,
}

impl Value {
    /// The argument as its callee may look at it: compilers rely on a `_Bool` being extended to 32 bits (`abi-entry`).
    pub fn as_passed(&self) -> Value {
        Value { bytes: if self.boolean { self.bytes.max(4) } else { self.bytes }, ..*self }
    }
}

/// The type of a narrow argument before its extension to 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Narrow {
    /// Its size, 1 or 2.
    pub bytes: u16,
    /// Sign-extended rather than zero-extended?
    pub signed: bool,
}

/// A register or a stack word at a call boundary.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// A general or vector register.
    Register(Register),
    /// The stack, at this offset from the first stack argument (`rsp + 8` at the callee's entry).
    Stack(u32),
}
