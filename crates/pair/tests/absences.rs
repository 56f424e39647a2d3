//! What must not be in the sources: things that no type can forbid.

use std::path::{Path, PathBuf};

/// All sources of the workspace's crates, without tests.
fn sources() -> Vec<(PathBuf, String)> {
    fn collect(folder: &Path, out: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("tests.rs") {
                let text = std::fs::read_to_string(&path).expect("a source file");
                let code = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default().to_string();
                out.push((path, code));
            }
        }
    }
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crates");
    let mut out = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the crates") {
        let source = entry.expect("a crate").path().join("src");
        if source.is_dir() {
            collect(&source, &mut out);
        }
    }
    assert!(out.len() > 100, "the sources are somewhere else");
    out
}

/// Lines of code, outside some places, that contain something.
fn lines_with(what: &[&str], allowed: &[&str]) -> Vec<String> {
    let mut out = Vec::new();
    for (path, code) in sources() {
        let path = path.to_string_lossy().replace('\\', "/");
        if allowed.iter().any(|place| path.contains(place)) {
            continue;
        }
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        out.extend(lines.filter(|line| what.iter().any(|w| line.contains(w))).map(|line| format!("{path}: {line}")));
    }
    out
}

#[test]
fn only_the_door_makes_pairs() {
    // `attack` has a type of its own by that name.
    let makers = ["Pair::new(", "lemma::File::new(", "Surroundings::new("];
    let found = lines_with(&makers, &["crates/pair/src/files.rs", "crates/attack/src/"]);
    assert!(found.is_empty(), "{found:#?}");
    let changes = [".contracts = ", "original.undefined = ", "ours.undefined = ", ".adopt_declarations("];
    // The kernel proves lemmas under what it has proved so far.
    let allowed =
        ["crates/kernel/src/objects/pair.rs", "crates/kernel/src/objects/lemma.rs", "crates/pair/src/files.rs"];
    let found = lines_with(&changes, &allowed);
    assert!(found.is_empty(), "{found:#?}");
}

/// Whoever looks for lemmas is not believed, so nobody who is believed asks them.
#[test]
fn finders_are_asked_by_the_command_line_only() {
    let found = lines_with(&["propose::"], &["crates/cli/src/check.rs", "crates/cli/src/objects/comparison.rs"]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn object_files_are_read_only_behind_the_door() {
    // The oracle only runs them.
    let allowed = ["crates/pair/src/", "crates/lift-elf/src/", "crates/oracle/src/"];
    let found = lines_with(&["lift_elf::", "Image::read"], &allowed);
    assert!(found.is_empty(), "{found:#?}");
}

/// What a message says is for people. Whoever reacts to it has a variant to look at.
#[test]
fn nobody_reads_messages() {
    let messages = ["what", "why", "detail", "reason", "rejection", "failure", "message", "error"];
    let readers = [".starts_with(", ".ends_with(", ".contains(", ".find(", " == \"", ".strip_prefix(", ".as_str() =="];
    let mut patterns: Vec<String> = Vec::new();
    for message in messages {
        for reader in readers {
            for prefix in ["(", " ", "&", ".", "*", "!"] {
                patterns.push(format!("{prefix}{message}{reader}"));
                patterns.push(format!("{prefix}{message}.to_string(){reader}"));
            }
        }
    }
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    // Solvers are other programs, and words are all that they say; so is the binary to those who run it. Reports sort reasons
    // under causes by what they say, and nothing but a piece of advice depends on it.
    let allowed = [
        "crates/xtask/src/",
        "crates/testkit/src/",
        "crates/attack/src/",
        "crates/solver/src/backend.rs",
        "crates/report/src/reasons.rs",
    ];
    let found = lines_with(&patterns, &allowed);
    assert!(found.is_empty(), "{found:#?}");
}

/// Who is believed counts: an answer that depends on how busy the machine is cannot be checked again. Time is for those who
/// search, run code and report.
#[test]
fn nobody_who_is_believed_looks_at_a_clock() {
    let clocks = ["Instant", "SystemTime", "UNIX_EPOCH", ".elapsed("];
    let timed = ["search", "optimize", "record", "cli", "report", "native", "oracle", "attack", "xtask", "testkit"];
    // Random programs for as long as somebody wants them.
    let fuzzers = ["lift-elf/src/fuzz.rs", "lift-c/src/fuzz.rs"];
    let allowed: Vec<String> =
        timed.iter().map(|name| format!("crates/{name}/src/")).chain(fuzzers.map(|f| format!("crates/{f}"))).collect();
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    let found = lines_with(&clocks, &allowed);
    assert!(found.is_empty(), "{found:#?}");
    // The test can fail: where there are clocks it finds them.
    assert!(!lines_with(&clocks, &allowed[1..]).is_empty());
    // Waiting for a pipe is not knowing how late it is.
    let found = lines_with(&["Duration"], &[&allowed[..], &["crates/solver/src/process.rs"]].concat());
    assert!(found.is_empty(), "{found:#?}");
}
