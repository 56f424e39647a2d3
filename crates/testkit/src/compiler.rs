//! Compilers of this machine, and C text to object files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The settings of the corpus: no inlining, no strict aliasing, wrapping arithmetic, debug information.
pub const PAPER_FLAGS: &[&str] = &[
    "-g",
    "-fno-inline",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-fcf-protection=none",
    "-fno-stack-protector",
    "-fno-asynchronous-unwind-tables",
    "-fno-pic",
    "-ffunction-sections",
    "-fdata-sections",
];

/// With these gcc keeps to the ABI at calls between functions of one file.
const GCC_ABI: &[&str] = &[
    "-fno-pie",
    "-fno-ipa-ra",
    "-fno-ipa-sra",
    "-fno-ipa-cp",
    "-fno-ipa-cp-clone",
    "-fno-ipa-pure-const",
    "-fno-ipa-modref",
    "-fno-ipa-icf",
    "-fno-ipa-vrp",
    "-fno-ipa-bit-cp",
    "-fno-ipa-reference",
    "-fno-partial-inlining",
    "-fno-ipa-stack-alignment",
];

/// A C compiler that this machine has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    /// Command.
    pub command: String,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Gcc,
    Clang,
}

impl Compiler {
    /// A compiler by its command, if this machine has it.
    pub fn find(command: &str) -> Option<Compiler> {
        let output = Command::new(command).arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&output.stdout);
        let kind = if version.contains("clang") { Kind::Clang } else { Kind::Gcc };
        output.status.success().then(|| Compiler { command: command.to_string(), kind })
    }

    /// One compiler of each kind that this machine has, gcc first.
    ///
    /// # Panics
    /// If there is none at all: tests that need one must not pass by doing nothing.
    pub fn all() -> Vec<Compiler> {
        let first = |commands: &[&str]| commands.iter().find_map(|c| Compiler::find(c));
        let found: Vec<Compiler> =
            [first(&["gcc-12", "gcc", "cc"]), first(&["clang-19", "clang"])].into_iter().flatten().collect();
        assert!(!found.is_empty(), "no C compiler: install gcc-12 or clang-19");
        found
    }

    /// Compiles C text with the corpus flags and these further ones.
    pub fn compile(&self, text: &str, flags: &[&str], object: &Path) -> Result<(), CompileError> {
        let source = object.with_extension("c");
        std::fs::write(&source, text).map_err(|e| self.error(&source, e.to_string()))?;
        self.compile_file(&source, flags, object)
    }

    /// Compiles a C file with the corpus flags and these further ones.
    pub fn compile_file(&self, source: &Path, flags: &[&str], object: &Path) -> Result<(), CompileError> {
        let abi = if self.kind == Kind::Gcc { GCC_ABI } else { &[] };
        let output = Command::new(&self.command)
            .arg("-c")
            .args(PAPER_FLAGS)
            .args(abi)
            .args(flags)
            .arg(source)
            .arg("-o")
            .arg(object)
            .output()
            .map_err(|e| self.error(source, e.to_string()))?;
        if output.status.success() {
            Ok(())
        } else {
            Err(self.error(source, String::from_utf8_lossy(&output.stderr).into_owned()))
        }
    }

    fn error(&self, source: &Path, message: String) -> CompileError {
        CompileError { command: self.command.clone(), source: source.to_owned(), message }
    }
}

/// A program of the test data that does not compile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    command: String,
    source: PathBuf,
    message: String,
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.source.display(), self.command, self.message)
    }
}

impl std::error::Error for CompileError {}
