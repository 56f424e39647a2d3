//! What a proof takes for granted, by name.

use std::fmt;

/// Something a proof takes for granted about the original or its environment (docs/soundness.md lists them).
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Assumption {
    /// Name, such as `in-bounds`.
    pub name: &'static str,
    /// Program entity, such as `g`; empty when it is about the whole function.
    pub entity: String,
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

/// The assumptions that only undefined behaviour of the source could violate. The others are about the machine, the
/// calling convention, the environment, or what counts as the same.
const ABOUT_UNDEFINED: [&str; 19] = [
    "pointer",
    "in-bounds",
    "disjoint-objects",
    "unaliased-static",
    "constant-static",
    "constant-object",
    "user-addresses",
    "uninit-unread",
    "padding-unread",
    "finite-loops",
    "no-fault",
    "copies-apart",
    "private-heap",
    "stored-values",
    "errno-private",
    "truth-values",
    "declared-object",
    "natural-alignment",
    "restrict",
];

impl Undefined {
    /// May an assumption of this name be made?
    pub fn grants(self, name: &str) -> bool {
        self == Undefined::Excused || !ABOUT_UNDEFINED.contains(&name)
    }
}

impl Assumption {
    /// About the whole function.
    pub fn global(name: &'static str) -> Assumption {
        Assumption { name, entity: String::new() }
    }

    /// About one entity.
    pub fn about(name: &'static str, entity: impl Into<String>) -> Assumption {
        Assumption { name, entity: entity.into() }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.entity.is_empty() { write!(f, "{}", self.name) } else { write!(f, "{}({})", self.name, self.entity) }
    }
}
