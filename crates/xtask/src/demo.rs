//! `cargo xtask demo`: the bundled program at -O0 against -O2, against its wrong twin, against hand-written assembly.

use crate::{build, root, tools};
use std::path::Path;
use std::process::Command;

/// Builds everything and runs the four commands; an error if one of them ends otherwise than it should.
pub fn run() -> Result<(), String> {
    tools::require(&[&tools::CC, &tools::Z3])?;
    let lockstep = build::lockstep()?;
    let compiler = tools::CC.find().ok_or("no C compiler")?;
    let directory = root().join("target/demo");
    let examples = root().join("examples");
    let objects = [("old.o", "account.c", "-O0"), ("new.o", "account.c", "-O2"), ("wrong.o", "account_wrong.c", "-O2")];
    println!();
    for (object, source, level) in objects {
        println!("$ cc -g {level} -c {source} -o {object}");
        build::compile(&compiler, &["-g", level], &examples.join(source), &directory.join(object))?;
    }
    std::fs::copy(examples.join("clamp.s"), directory.join("clamp.s")).map_err(|e| format!("clamp.s: {e}"))?;

    let session = [
        Step {
            says: "The optimised object does what the unoptimised one does: proved for all inputs.",
            words: &["check", "old.o", "new.o", "--certificates", "proofs"],
            status: 0,
        },
        Step {
            says: "Each proof is a file that the small trusted kernel checks again on its own.",
            words: &["verify", "proofs/clamp.json", "old.o", "new.o"],
            status: 0,
        },
        Step {
            says: "Hand-written assembly against the compiler's.",
            words: &["check", "new.o", "clamp.s", "--function", "clamp"],
            status: 0,
        },
        Step {
            says: "A twin with one mistake in each function: refuted, each with an input that was replayed.",
            words: &["check", "old.o", "wrong.o"],
            status: 1,
        },
    ];
    let failed = session.iter().filter(|step| !step.run(&lockstep, &directory)).count();
    if failed == 0 { Ok(()) } else { Err(format!("demo: {failed} of {} commands ended unexpectedly", session.len())) }
}

struct Step {
    says: &'static str,
    words: &'static [&'static str],
    /// Exit status that it should have.
    status: i32,
}

impl Step {
    fn run(&self, lockstep: &Path, directory: &Path) -> bool {
        println!("\n# {}\n$ lockstep {}", self.says, self.words.join(" "));
        match Command::new(lockstep).args(self.words).current_dir(directory).status() {
            Ok(status) if status.code() == Some(self.status) => true,
            Ok(status) => {
                println!("[{status}, expected {}]", self.status);
                false
            }
            Err(error) => {
                println!("[{error}]");
                false
            }
        }
    }
}
