//! The table of modelled instructions: one row per mnemonic family.
//!
//! A row lives beside the function that gives its semantics; this module defines what a row says and finds rows
//! by name. The table of the documentation is printed from the rows, and the tests against the CPU enumerate
//! them, so there is no second list to keep in step.

use crate::semantics;
use crate::step::{Lifted, Step};
use program::Flag;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// One modelled mnemonic (or family: `jcc`, `setcc`, `cmovcc`, `movs`, …).
pub struct Row {
    /// Mnemonic in lower case; VEX forms of a legacy instruction go without their `v`.
    pub name: &'static str,
    /// What the CPU needs to have.
    pub feature: Feature,
    /// VEX forms.
    pub vex: Vex,
    /// Flags that are undefined after the instruction.
    pub undefined: &'static [Flag],
    /// Flags that are undefined after the instruction in some cases only.
    pub sometimes: &'static [Flag],
    /// Result that is undefined in some cases, in words.
    pub undefined_result: Option<&'static str>,
    /// Which memory operands must be aligned.
    pub alignment: Alignment,
    /// Takes a condition code.
    pub conditional: bool,
    /// Width of the floating-point lanes whose NaN payloads are exact only up to the operands' order.
    pub nan_lanes: Option<u16>,
    pub(crate) lift: fn(&mut Step) -> Lifted,
}

/// CPU features as the manuals name them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Feature {
    /// Every x86-64 CPU without vector registers.
    Base,
    /// SSE.
    Sse,
    /// SSE2.
    Sse2,
    /// SSE3.
    Sse3,
    /// SSSE3.
    Ssse3,
    /// SSE4.1.
    Sse41,
    /// SSE4.2.
    Sse42,
    /// POPCNT.
    Popcnt,
    /// LZCNT.
    Lzcnt,
    /// MOVBE.
    Movbe,
    /// BMI1.
    Bmi1,
    /// BMI2.
    Bmi2,
    /// ADX.
    Adx,
    /// AVX.
    Avx,
    /// AVX2.
    Avx2,
    /// FMA.
    Fma,
}

/// VEX forms of a row.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Vex {
    /// There is none, or it is not modelled.
    No,
    /// AVX, for both vector lengths where they exist.
    Avx,
    /// AVX for `xmm`, AVX2 for `ymm`.
    Avx2,
    /// There is no legacy form.
    Only,
}

/// Which memory operands of an instruction must be aligned to their size.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alignment {
    /// None.
    Never,
    /// Those of 16 bytes in the legacy encoding: the rule for SSE.
    Legacy,
    /// Those of 16 bytes and more in any encoding.
    Always,
}

impl Row {
    pub(crate) const fn new(name: &'static str, feature: Feature, lift: fn(&mut Step) -> Lifted) -> Row {
        Row {
            name,
            feature,
            vex: Vex::No,
            undefined: &[],
            sometimes: &[],
            undefined_result: None,
            alignment: Alignment::Legacy,
            conditional: false,
            nan_lanes: None,
            lift,
        }
    }

    pub(crate) const fn vex(mut self, vex: Vex) -> Row {
        self.vex = vex;
        self
    }

    pub(crate) const fn undefined(mut self, flags: &'static [Flag]) -> Row {
        self.undefined = flags;
        self
    }

    pub(crate) const fn sometimes(mut self, flags: &'static [Flag]) -> Row {
        self.sometimes = flags;
        self
    }

    pub(crate) const fn undefined_result(mut self, when: &'static str) -> Row {
        self.undefined_result = Some(when);
        self
    }

    pub(crate) const fn alignment(mut self, alignment: Alignment) -> Row {
        self.alignment = alignment;
        self
    }

    pub(crate) const fn conditional(mut self) -> Row {
        self.conditional = true;
        self
    }

    pub(crate) const fn nan_lanes(mut self, width: u16) -> Row {
        self.nan_lanes = Some(width);
        self
    }
}

/// Rows that belong together.
pub struct Area {
    /// What they do.
    pub title: &'static str,
    /// The rows.
    pub rows: &'static [Row],
}

/// All areas.
pub static AREAS: &[Area] = semantics::AREAS;

/// All rows.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    AREAS.iter().flat_map(|area| area.rows)
}

/// The row of that name.
pub fn find(name: &str) -> Option<&'static Row> {
    static INDEX: OnceLock<FxHashMap<&'static str, &'static Row>> = OnceLock::new();
    let index = INDEX.get_or_init(|| rows().map(|row| (row.name, row)).collect());
    index.get(name).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = rows().map(|row| row.name).collect();
        names.sort_unstable();
        let repeated: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
        assert!(repeated.is_empty(), "{repeated:?}");
    }
}
