//! Runs the binary in a directory of its own. Not every test needs all of it.
#![allow(dead_code)]

use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

/// A scratch directory for one test.
pub struct Bench {
    directory: tempfile::TempDir,
}

/// What a run of the binary did.
pub struct Run {
    pub status: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Bench {
    pub fn new() -> Bench {
        Bench { directory: tempfile::tempdir().expect("a scratch directory") }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("the scratch directory is writable");
    }

    /// An assembly file of these functions.
    pub fn assembly(&self, name: &str, functions: &[(&str, &str)]) {
        let mut text = ".intel_syntax noprefix\n.text\n".to_string();
        for (function, body) in functions {
            text += &format!(".globl {function}\n.type {function}, @function\n{function}:\n{body}\n");
            text += &format!(".size {function}, .-{function}\n");
        }
        self.write(name, text.as_bytes());
    }

    /// The object that the system assembler makes of an assembly file.
    pub fn object(&self, name: &str) -> Vec<u8> {
        let object = self.path("assembled.o");
        let status = Command::new("as").arg(self.path(name)).arg("-o").arg(&object).status().expect("as runs");
        assert!(status.success());
        std::fs::read(object).expect("as writes its output")
    }

    /// Runs the binary with these words as arguments.
    pub fn run(&self, words: &str) -> Run {
        let output = Command::new(env!("CARGO_BIN_EXE_lockstep"))
            .args(words.split_whitespace())
            .current_dir(self.directory.path())
            .output()
            .expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("reports are UTF-8");
        Run { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {}{}", self.out, self.err))
    }

    /// Asserts what bad input and usage give: status 3, a message, nothing on stdout, no panic.
    pub fn fails_cleanly(&self, what: &str) {
        assert_eq!(self.status, Some(3), "{what}: {}{}", self.out, self.err);
        assert!(self.out.is_empty(), "{what}: {}", self.out);
        assert!(!self.err.is_empty() && !self.err.contains("panicked"), "{what}: {}", self.err);
    }
}

/// The entry of a function in a JSON report.
pub fn function<'a>(report: &'a Value, name: &str) -> &'a Value {
    let functions = report["functions"].as_array().expect("a list of functions");
    functions.iter().find(|f| f["name"] == name).unwrap_or_else(|| panic!("no {name} in {report}"))
}
