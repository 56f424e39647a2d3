//! Why an execution stopped before its end.

/// A stop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What kind of stop.
    pub kind: FaultKind,
    /// Where: an index of [`crate::Program::sites`].
    pub site: u32,
    /// In words.
    pub detail: String,
    /// Values of the enclosing iterators, such as `i=3, j=4`; may be empty.
    pub instance: String,
    /// Did it happen under a condition that depends on data? Then some inputs may never reach it.
    pub conditional: bool,
}

/// Kinds of stops.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultKind {
    /// The program does something undefined.
    Undefined,
    /// Control or a subscript depends on data, or the form cannot say it.
    Unsupported,
    /// This parameter needs a value.
    Parameter(String),
    /// Out of time or turns.
    Time,
    /// Too many cells.
    Memory,
}
