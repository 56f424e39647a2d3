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
