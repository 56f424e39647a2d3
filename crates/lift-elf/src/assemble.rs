//! Assembly files, by way of the system's own assembler.

use crate::Error;
use std::path::Path;
use std::process::Command;

/// Is this an assembly file, by its name?
pub(crate) fn is_assembly(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "s" || e == "S")
}

/// The object file that the assembler makes of an assembly file. `.S` files go through the C preprocessor.
pub(crate) fn assemble(path: &Path) -> Result<Vec<u8>, Error> {
    let file = path.display().to_string();
    let unreadable = |e: std::io::Error| Error::Unreadable { file: file.clone(), what: e.to_string() };
    let folder = tempfile::tempdir().map_err(unreadable)?;
    let output = folder.path().join("assembled.o");
    let preprocessed = path.extension().is_some_and(|e| e == "S");
    let mut command = Command::new(if preprocessed { "cc" } else { "as" });
    if preprocessed {
        command.arg("-c");
    } else {
        command.arg("--64");
    }
    // Joined to the current folder, a name that begins with a dash is no option.
    let run = command.arg("-o").arg(&output).arg(Path::new(".").join(path)).output().map_err(|e| {
        let program = if preprocessed { "cc" } else { "as" };
        Error::Unreadable { file: file.clone(), what: format!("cannot run the assembler `{program}`: {e}") }
    })?;
    if !run.status.success() {
        let message = String::from_utf8_lossy(&run.stderr).trim().to_string();
        return Err(Error::Assembly { file, message });
    }
    std::fs::read(&output).map_err(unreadable)
}
