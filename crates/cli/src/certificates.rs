//! Certificates on disk: one JSON file for each proof.

use crate::status::Failure;
use report::FunctionReport;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Longest file name used, the extension apart; file systems allow 255 bytes.
const LONGEST: usize = 120;

/// Writes the certificate of a proof into the directory and notes where.
pub fn save(directory: &Path, file: &Path, function: &mut FunctionReport) -> Result<(), Failure> {
    let Some(certificate) = &function.outcome.certificate else { return Ok(()) };
    let path = directory.join(file);
    let failed = |error: std::io::Error| Failure(format!("{}: {error}", path.display()));
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    std::fs::write(&path, certificate.to_json() + "\n").map_err(failed)?;
    function.certificate = Some(path.display().to_string());
    Ok(())
}

/// Where the certificates of one of several object files go: below its own path, `lib.a(member.o)` being two steps.
pub fn directory(label: &str) -> PathBuf {
    let parts = label.split(['/', '(']).map(|part| part.trim_end_matches(')'));
    let plain = parts.filter(|part| !part.is_empty() && *part != "." && *part != "..");
    plain.map(|part| part.replace('\0', "_")).collect()
}

/// A file name for the only function of its name.
pub fn harmless_name(function: &str) -> String {
    file_name(function, &mut BTreeSet::new())
}

/// A file name for a function: its name where that is harmless, made harmless and unique otherwise.
pub fn file_name(function: &str, taken: &mut BTreeSet<String>) -> String {
    let harmless = |c: char| if c.is_ascii_alphanumeric() || "_.-$:".contains(c) { c } else { '_' };
    let mut stem: String = function.chars().map(harmless).take(LONGEST).collect();
    if stem.starts_with(['.', '-']) {
        stem.insert(0, '_');
    }
    // Some file systems ignore case.
    let mut number = 1;
    let mut name = stem.clone();
    while !taken.insert(name.to_ascii_lowercase()) {
        number += 1;
        name = format!("{stem}.{number}");
    }
    format!("{name}.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_are_harmless_and_unique() {
        let mut taken = BTreeSet::new();
        let mut name = |function: &str| file_name(function, &mut taken);
        assert_eq!(name("clamp"), "clamp.json");
        assert_eq!(name("a.c:helper"), "a.c:helper.json");
        assert_eq!(name("../../etc/passwd"), "_.._.._etc_passwd.json");
        assert_eq!(name("f/g"), "f_g.json");
        assert_eq!(name("f g"), "f_g.2.json");
        assert_eq!(name("F_G"), "F_G.3.json");
        assert_eq!(name(&"x".repeat(4000)).len(), LONGEST + 5);
        assert_eq!(directory("src/../lib.a(x.o)"), Path::new("src/lib.a/x.o"));
    }
}
