//! Named axioms of real arithmetic that floating-point numbers do not obey.
//!
//! None is allowed unless somebody asks for it ([`crate::Arena::allow`]). A rewrite rule that rests on axioms runs only where all
//! of them are allowed, and an arena remembers which ones its rules have used ([`crate::Arena::used_axioms`]): what is then equal
//! is equal up to rewriting by these axioms, not bit for bit.
//!
//! Every rule that rests on axioms is a theorem about real numbers; constants are put together only where that rounds
//! nothing. Rounding, overflow, NaNs, infinities and the sign of zero are what the axioms give up.
//!
//! Trust: full. A rule that forgets its axiom would prove what is not so.

use std::fmt;

/// One axiom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Axiom {
    /// Sums and products may be grouped and ordered in any way; signs move through both.
    Reassociate,
    /// `x + 0 = x`, whatever the sign of the zero.
    AddZero,
    /// `x·0 = 0`, whatever x.
    MulZero,
    /// `x·1 = x`. No rule needs it: up to the payload of a NaN that is so.
    MulOne,
    /// `a·(b + c) = a·b + a·c`.
    Distribute,
}

impl Axiom {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Axiom; 5] = [Axiom::Reassociate, Axiom::AddZero, Axiom::MulZero, Axiom::MulOne, Axiom::Distribute];

    /// The name in conditions and certificates.
    pub fn name(self) -> &'static str {
        match self {
            Axiom::Reassociate => "reassoc",
            Axiom::AddZero => "add-zero",
            Axiom::MulZero => "mul-zero",
            Axiom::MulOne => "mul-one",
            Axiom::Distribute => "distribute",
        }
    }

    /// The axiom of that name.
    pub fn parse(name: &str) -> Option<Axiom> {
        Axiom::ALL.into_iter().find(|axiom| axiom.name() == name)
    }
}

impl fmt::Display for Axiom {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of axioms.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Axioms(u8);

impl Axioms {
    /// No axiom: what IEEE 754 says.
    pub(crate) const NONE: Axioms = Axioms(0);

    pub(crate) const fn of(axioms: &[Axiom]) -> Axioms {
        let (mut set, mut i) = (0, 0);
        while i < axioms.len() {
            set |= 1 << axioms[i] as u8;
            i += 1;
        }
        Axioms(set)
    }

    pub(crate) fn contains(self, other: Axioms) -> bool {
        self.0 & other.0 == other.0
    }

    pub(crate) fn with(self, other: Axioms) -> Axioms {
        Axioms(self.0 | other.0)
    }

    pub(crate) fn list(self) -> Vec<Axiom> {
        Axiom::ALL.into_iter().filter(|axiom| self.contains(Axioms::of(&[*axiom]))).collect()
    }
}
