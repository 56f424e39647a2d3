//! How a compiler is asked for a version of the function: level, processor, form of loops.
//!
//! Nothing that a recipe says is believed; what comes out is proved or not used. `-ffp-contract=off` is always there, because a
//! fused multiplication rounds once where the source rounds twice.

use crate::compilers::{Compiler, Family};
use crate::cpu::Cpu;
use crate::hints::Wrapped;
use std::fmt;

/// What is to be done to loops.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Loops {
    /// What the level does.
    Usual,
    /// Neither unrolled nor interleaved: the prover pairs iterations.
    Plain,
    /// Vectors of 128 bits at most.
    Narrow,
    /// Unrolled.
    Unrolled,
}

/// One version to ask for.
#[derive(Clone, Debug)]
pub struct Recipe {
    /// Who makes it.
    pub compiler: Compiler,
    /// `-O2` without the dash.
    pub level: &'static str,
    /// For which processor.
    pub cpu: Cpu,
    /// What is done to loops.
    pub loops: Loops,
    /// What else the compiler is told about the function's arguments.
    pub hints: Option<Wrapped>,
}

impl Recipe {
    /// All versions that are asked for, the likely best first.
    pub fn all(compilers: &[Compiler], cpu: Cpu, hints: &[Wrapped]) -> Vec<Recipe> {
        let mut out = Vec::new();
        let hints: Vec<Option<Wrapped>> = std::iter::once(None).chain(hints.iter().cloned().map(Some)).collect();
        let mut cpus = cpu.and_below();
        cpus.reverse();
        for (level, loops) in SHAPES {
            for hints in &hints {
                // Hints are about loops and memory.
                if hints.is_some() && !["O3", "O2"].contains(level) {
                    continue;
                }
                for cpu in &cpus {
                    out.extend(compilers.iter().map(|compiler| Recipe {
                        compiler: compiler.clone(),
                        level,
                        cpu: *cpu,
                        loops: *loops,
                        hints: hints.clone(),
                    }));
                }
            }
        }
        out
    }

    /// The compiler's arguments for assembly of one function, without those of the file.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = vec![format!("-{}", self.level), format!("-march={}", self.cpu.march())];
        let more: &[&str] = match (self.compiler.family, self.loops) {
            (_, Loops::Usual) => &[],
            (Family::Gcc, Loops::Plain) => &["-fno-unroll-loops", "-fno-tree-loop-distribute-patterns"],
            (Family::Clang, Loops::Plain) => &["-fno-unroll-loops", "-mllvm", "-force-vector-interleave=1"],
            (_, Loops::Narrow) => &["-mprefer-vector-width=128"],
            (_, Loops::Unrolled) => &["-funroll-loops"],
        };
        flags.extend(more.iter().map(|flag| flag.to_string()));
        flags.extend(alone(self.compiler.family));
        flags.push("-S".to_string());
        flags
    }
}

/// Levels and forms, each of which is worth a try.
const SHAPES: &[(&str, Loops)] = &[
    ("O3", Loops::Usual),
    ("O3", Loops::Plain),
    ("O2", Loops::Usual),
    ("O2", Loops::Plain),
    ("O3", Loops::Narrow),
    ("O1", Loops::Usual),
    ("Os", Loops::Usual),
    ("O3", Loops::Unrolled),
];

/// Flags that keep a function in one piece, called as the ABI says, with its own names.
pub fn alone(family: Family) -> Vec<String> {
    let flags: &[&str] = match family {
        Family::Gcc => &[
            "-ffp-contract=off",
            "-fno-reorder-blocks-and-partition",
            "-fno-partial-inlining",
            "-fno-ipa-cp",
            "-fno-ipa-sra",
            "-fno-ipa-icf",
            "-fno-ipa-ra",
            "-fkeep-static-functions",
            "-fno-stack-protector",
            "-fcf-protection=none",
            "-w",
        ],
        Family::Clang => &["-ffp-contract=off", "-fno-stack-protector", "-fcf-protection=none", "-w"],
    };
    flags.iter().map(|flag| flag.to_string()).collect()
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -{} -march={}", self.compiler.family, self.level, self.cpu)?;
        match self.loops {
            Loops::Usual => {}
            Loops::Plain => f.write_str(", plain loops")?,
            Loops::Narrow => f.write_str(", narrow vectors")?,
            Loops::Unrolled => f.write_str(", unrolled")?,
        }
        match &self.hints {
            Some(hints) => write!(f, ", told: {hints}"),
            None => Ok(()),
        }
    }
}
