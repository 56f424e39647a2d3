//! Floating-point laws that IEEE 754 does not have.
//!
//! A proof may take them for granted if its user allows it; it names those that it used.

use std::fmt;

/// A law of real numbers that floating-point numbers do not satisfy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Axiom {
    /// Sums, and products, may be formed in any order.
    Reassociate,
    /// `x + 0 = x`.
    AddZero,
    /// `x · 0 = 0`.
    MulZero,
    /// `x · 1 = x`.
    MulOne,
    /// `a · (b + c) = a · b + a · c`.
    Distribute,
}

impl Axiom {
    /// All of them.
    pub const ALL: [Axiom; 5] = [Axiom::Reassociate, Axiom::AddZero, Axiom::MulZero, Axiom::MulOne, Axiom::Distribute];

    /// Name in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Axiom::Reassociate => "reassoc",
            Axiom::AddZero => "add-zero",
            Axiom::MulZero => "mul-zero",
            Axiom::MulOne => "mul-one",
            Axiom::Distribute => "distribute",
        }
    }

    /// The axiom of a name.
    pub fn parse(name: &str) -> Option<Axiom> {
        Axiom::ALL.into_iter().find(|axiom| axiom.name() == name)
    }
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
