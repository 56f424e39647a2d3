//! The bundled sample of kernel variants: every right one is proved, every wrong one refuted.
//!
//! The expectations come from `bench/kernels/generate`, which compiled and ran each variant.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/kernels/sample")
}

/// Verdict of `lockstep check` on one entry of the manifest.
fn verdict(entry: &Value) -> String {
    let file = |key: &str| sample().join(entry[key].as_str().expect("a path"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockstep"));
    command.arg("check").args([file("original"), file("candidate")]).args(["--format", "json", "--timeout", "60"]);
    for (name, value) in entry["params"].as_object().expect("sizes") {
        command.args(["--param", &format!("{name}={value}")]);
    }
    let output = command.output().expect("lockstep runs");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let function = &report["functions"][0];
    match function["verdict"].as_str() {
        Some("unknown") => format!("unknown: {}", function["reason"]),
        Some(verdict) => verdict.to_string(),
        None => String::from_utf8_lossy(&output.stderr).trim().to_string(),
    }
}

#[test]
fn verdicts_are_those_of_the_manifest() {
    let text = std::fs::read_to_string(sample().join("manifest.json")).expect("the manifest");
    let entries: Vec<Value> = serde_json::from_str(&text).expect("JSON");
    assert!(entries.len() >= 60, "the sample is there");
    let wrong: Vec<String> = entries
        .iter()
        .filter_map(|entry| {
            let said = verdict(entry);
            (entry["expect"] != said.as_str()).then(|| format!("{}: {said}", entry["candidate"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
