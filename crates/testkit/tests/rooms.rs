//! Modules of a crate import each other in one direction (`testkit::rooms` says what counts).

use std::fs;
use std::path::Path;
use testkit::rooms::{imports, in_circles};

/// Crates whose modules still import each other in circles, and how many modules do. Only smaller numbers may be written here.
const CIRCLES: &[(&str, usize)] = &[
    ("cli", 11),
    ("ir", 7),
    ("kernel", 7),
    ("lift-elf", 12),
    ("lift-llvm", 4),
    ("lift-mir", 2),
    ("machine", 2),
    ("native", 2),
    ("oracle", 7),
    ("report", 6),
    ("search", 7),
    ("solver", 14),
    ("term", 4),
    ("updates", 5),
    ("x86", 7),
];

#[test]
fn modules_import_in_one_direction() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found: Vec<String> = Vec::new();
    let mut names: Vec<String> = fs::read_dir(&crates)
        .expect("the crates")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(names.len() > 20, "the crates are elsewhere: {names:?}");
    for name in names {
        let circles = in_circles(&imports(&crates.join(&name).join("src")));
        let known = CIRCLES.iter().find(|(of, _)| *of == name).map_or(0, |(_, count)| *count);
        if circles.len() != known {
            found.push(format!("{name}: {} modules in circles, {known} are written down: {circles:?}", circles.len()));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
