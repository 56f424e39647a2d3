//! Which instructions code may use.

use std::fmt;

/// A processor to compile for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cpu {
    /// The one on which this runs.
    Native,
    /// Every x86-64: SSE2.
    Baseline,
    /// Since 2009: SSE4.2, `popcnt`.
    V2,
    /// Since 2013: AVX2, FMA, BMI.
    V3,
}

impl Cpu {
    /// All, by their names on the command line.
    pub const ALL: [(&'static str, Cpu); 4] =
        [("native", Cpu::Native), ("x86-64", Cpu::Baseline), ("v2", Cpu::V2), ("v3", Cpu::V3)];

    /// What compilers call it.
    pub fn march(self) -> &'static str {
        match self {
            Cpu::Native => "native",
            Cpu::Baseline => "x86-64",
            Cpu::V2 => "x86-64-v2",
            Cpu::V3 => "x86-64-v3",
        }
    }

    /// It, and lesser ones whose code runs there too: compilers do not always make the best of the newest instructions, and what
    /// the newest do may not be modelled.
    pub fn and_below(self) -> Vec<Cpu> {
        match self {
            Cpu::Native => [Cpu::Baseline, Cpu::V3, Cpu::Native].into_iter().filter(|cpu| cpu.is_here()).collect(),
            Cpu::Baseline => vec![Cpu::Baseline],
            other => vec![Cpu::Baseline, other],
        }
    }

    /// Can this machine run such code?
    pub fn is_here(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        let v2 = has!("sse4.2") && has!("popcnt");
        match self {
            Cpu::Native | Cpu::Baseline => true,
            Cpu::V2 => v2,
            Cpu::V3 => v2 && has!("avx2") && has!("fma") && has!("bmi1") && has!("bmi2") && has!("lzcnt"),
        }
    }
}

impl fmt::Display for Cpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.march())
    }
}
