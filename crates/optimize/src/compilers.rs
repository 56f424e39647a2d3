//! The compilers of this machine.

use crate::process::{Ran, run};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Whose flags a compiler has.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Family {
    /// GNU.
    Gcc,
    /// LLVM.
    Clang,
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Family::Gcc => "gcc",
            Family::Clang => "clang",
        })
    }
}

/// A compiler that is there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    /// Whose flags it has.
    pub family: Family,
    program: PathBuf,
}

/// What a compiler was asked for and did not do, in words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CannotCompile(pub String);

/// Longest that one compilation may take.
const LIMIT: Duration = Duration::from_secs(20);

/// Newest first; Debian has clang by its version only.
const CLANGS: std::ops::RangeInclusive<u32> = 11..=23;

impl Compiler {
    /// The compilers on the search path, and the names of those that are not.
    pub fn find() -> (Vec<Compiler>, Vec<Family>) {
        let clangs = std::iter::once("clang".to_string()).chain(CLANGS.rev().map(|n| format!("clang-{n}")));
        let named = [(Family::Gcc, vec!["gcc".to_string()]), (Family::Clang, clangs.collect())];
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (family, names) in named {
            match names.iter().find_map(|name| on_path(name)) {
                Some(program) => found.push(Compiler { family, program }),
                None => missing.push(family),
            }
        }
        (found, missing)
    }

    /// Compiles a file to what the flags say.
    pub fn compile(&self, flags: &[String], source: &Path, output: &Path) -> Result<(), CannotCompile> {
        let mut command = Command::new(&self.program);
        command.args(flags).arg("-o").arg(output).arg("-x").arg("c").arg(source);
        // Messages are shown in the language of this program.
        command.env("LC_ALL", "C");
        let failed = |what: String| Err(CannotCompile(format!("{}: {what}", self.family)));
        match run(&mut command, LIMIT) {
            Ran::Good => Ok(()),
            Ran::Failed(said) => failed(first_error(&said)),
            Ran::Overdue => failed(format!("not done after {} s", LIMIT.as_secs())),
            Ran::Missing(what) => failed(what),
        }
    }
}

/// The line that says what is wrong.
fn first_error(said: &str) -> String {
    let error = said.lines().find(|line| line.contains("error:")).or(said.lines().next());
    error.unwrap_or("failed without a message").to_string()
}

/// A program by its name, in the folders of PATH.
pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}
