//! `cargo xtask demo`: the bundled programs at -O0 against -O2, against their wrong twins, against hand-written assembly;
//! a function under a condition, and the guard for it; a C kernel against its tiled form; a function before and after register allocation.

use crate::{build, root, tools};
use std::path::Path;
use std::process::Command;

/// What a C compiler makes of the examples: object, source, flags.
const OBJECTS: [(&str, &str, &[&str]); 8] = [
    ("old.o", "account.c", &["-g", "-O0"]),
    ("new.o", "account.c", &["-g", "-O2"]),
    ("wrong.o", "account_wrong.c", &["-g", "-O2"]),
    ("loops.old.o", "loops.c", &["-g", "-O0"]),
    ("loops.new.o", "loops.c", &["-g", "-O1"]),
    ("loops.wrong.o", "loops_wrong.c", &["-g", "-O1"]),
    ("bucket.o", "bucket.c", &["-g", "-O0"]),
    ("bucket.fast.o", "bucket_fast.c", &["-g", "-O2"]),
];

/// The session: each command, what it shows, and the exit status that it should have.
const SESSION: [Step; 12] = [
    Step {
        says: "The optimised object does what the unoptimised one does: proved for all inputs.",
        words: "check old.o new.o --certificates proofs",
        status: 0,
    },
    Step {
        says: "Each proof is a file that the small trusted kernel checks again on its own.",
        words: "verify proofs/clamp.json old.o new.o",
        status: 0,
    },
    Step {
        says: "Hand-written assembly against the compiler's.",
        words: "check new.o clamp.s --function clamp",
        status: 0,
    },
    Step {
        says: "A twin with one mistake in each function: refuted, each with an input that was replayed.",
        words: "check old.o wrong.o",
        status: 1,
    },
    Step { says: "Loops: proved for any number of rounds.", words: "check loops.old.o loops.new.o", status: 0 },
    Step { says: "Loops with one mistake each.", words: "check loops.old.o loops.wrong.o", status: 1 },
    Step {
        says: "Faster code that is right under a condition, which is found.",
        words: "check bucket.o bucket.fast.o --conditional",
        status: 4,
    },
    Step {
        says: "An object that checks the condition and goes to the original elsewhere: proved without any.",
        words: "guard bucket.o bucket.fast.o --function bucket --assume key>=0 -o bucket.guarded.o",
        status: 0,
    },
    Step {
        says: "A C kernel against its tiled form, for one size.",
        words: "check product.c product_tiled.c --param n=30",
        status: 0,
    },
    Step {
        says: "Tiles that forget the last columns: the update that is missing.",
        words: "check product.c product_wrong.c --param n=30",
        status: 1,
    },
    Step {
        says: "LLVM Machine IR before and after register allocation.",
        words: "check total.before.mir total.after.mir",
        status: 0,
    },
    Step {
        says: "An allocation that keeps a value in a register which the call destroys.",
        words: "check total.before.mir total.wrong.mir",
        status: 1,
    },
];

/// Builds everything and runs the commands; an error if one of them ends otherwise than it should.
pub fn run() -> Result<(), String> {
    tools::require(&[&tools::CC, &tools::Z3])?;
    let lockstep = build::lockstep()?;
    let compiler = tools::CC.find().ok_or("no C compiler")?;
    let directory = root().join("target/demo");
    let examples = root().join("examples");
    println!();
    for (object, source, flags) in OBJECTS {
        println!("$ cc {} -c {source} -o {object}", flags.join(" "));
        build::compile(&compiler, flags, &examples.join(source), &directory.join(object))?;
    }
    for entry in std::fs::read_dir(&examples).map_err(|e| format!("{}: {e}", examples.display()))? {
        let file = entry.map_err(|e| e.to_string())?;
        if file.path().is_dir() {
            continue;
        }
        std::fs::copy(file.path(), directory.join(file.file_name())).map_err(|e| format!("{:?}: {e}", file.path()))?;
    }
    let failed = SESSION.iter().filter(|step| !step.run(&lockstep, &directory)).count();
    if failed == 0 { Ok(()) } else { Err(format!("demo: {failed} of {} commands ended unexpectedly", SESSION.len())) }
}

struct Step {
    says: &'static str,
    words: &'static str,
    /// Exit status that it should have.
    status: i32,
}

impl Step {
    fn run(&self, lockstep: &Path, directory: &Path) -> bool {
        println!("\n# {}\n$ lockstep {}", self.says, self.words);
        match Command::new(lockstep).args(self.words.split(' ')).current_dir(directory).status() {
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
