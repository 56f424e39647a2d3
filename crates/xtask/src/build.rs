//! Building lockstep and compiling C for it.

use crate::root;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds the release binary and returns its path.
pub fn lockstep() -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--package", "cli"]).current_dir(root());
    succeed(&mut command, "building lockstep")?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(root().join(target).join("release/lockstep"))
}

/// Compiles one C file to an object.
pub fn compile(compiler: &Path, flags: &[&str], source: &Path, object: &Path) -> Result<(), String> {
    if let Some(directory) = object.parent() {
        std::fs::create_dir_all(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    }
    let mut command = Command::new(compiler);
    command.args(flags).arg("-c").arg(source).arg("-o").arg(object);
    succeed(&mut command, &format!("compiling {}", source.display()))
}

/// Runs the command; an error if it cannot be started or fails.
pub fn succeed(command: &mut Command, what: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{what} failed: {status}")),
        Err(error) => Err(format!("{what} failed: {error}")),
    }
}

/// Builds and runs an example of a crate.
pub fn example(of: &str, name: &str, words: &[&str]) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    cargo
        .args(["run", "--release", "--quiet", "-p", of, "--example", name, "--"])
        .args(words)
        .current_dir(crate::root());
    succeed(&mut cargo, name)
}
