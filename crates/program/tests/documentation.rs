//! Every assumption that a verdict can print is explained.

use std::fs;
use std::path::Path;

/// The names that `Assumption::name` can return, from its source: no list of the variants exists at run time.
fn names() -> Vec<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/assumption.rs");
    let text = fs::read_to_string(source).expect("the source of assumptions");
    let from = text.find("pub fn name(&self)").expect("the names");
    let until = from + text[from..].find("pub fn entity(&self)").expect("what follows the names");
    let quoted = text[from..until].split("=> \"").skip(1);
    quoted.filter_map(|rest| rest.split('"').next()).map(str::to_string).collect()
}

#[test]
fn every_assumption_has_a_row_in_a_document() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let read = |name: &str| fs::read_to_string(docs.join(name)).expect("a document");
    let text = [read("soundness.md"), read("kernels.md"), read("regalloc.md")].concat();
    let names = names();
    assert!(names.len() > 40, "the names are elsewhere: {names:?}");
    let is_explained = |name: &String| {
        let row = |line: &str| line.starts_with(&format!("| `{name}`")) || line.starts_with(&format!("| `{name}("));
        text.lines().any(row)
    };
    let missing: Vec<&String> = names.iter().filter(|name| !is_explained(name)).collect();
    assert!(missing.is_empty(), "no table has a row for {missing:?}");
}
