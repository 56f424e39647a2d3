//! How the modules of a crate import each other, read from its sources.
//!
//! A module's imports are what it names through `crate::`, tests apart, also those in a file `tests.rs`; a name that the crate's root re-exports counts as the module
//! that it comes from. In the folders of the engines (`objects`, `regalloc`, `nests`) each module counts for
//! itself; in `objects` neighbours may also be named through `super::`.
//! Crates themselves cannot import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which modules of a crate name which others.
pub type Imports = BTreeMap<String, BTreeSet<String>>;

/// All Rust files below a folder.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn rust_files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, out);
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push(path);
        }
    }
}

/// The text without comments and without tests, which stand at its end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..end].lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

/// The parts of `{a, b::{c, d}, e}` at its own level; the text begins with the brace.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut out) = (0, 1, Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => {
                out.push(text[start..at].trim());
                return out;
            }
            '}' => depth -= 1,
            ',' if depth == 1 => {
                out.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    out
}

/// What the crate's root re-exports, and from which of its modules.
fn exports(
    root: &str,
    modules: &BTreeSet<String>,
    folders: &BTreeMap<&str, BTreeSet<String>>,
) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    for (at, _) in root.match_indices("use ") {
        let statement = root[at + 4..].split(';').next().unwrap_or_default();
        if !modules.contains(word(statement)) {
            continue;
        }
        let last = statement.rsplit("::").next().unwrap_or_default();
        let names = statement.find('{').map_or(last, |brace| &statement[brace..]);
        let separators = |c: char| !c.is_alphanumeric() && c != '_';
        for module in module_of(statement, folders).into_iter().take(1) {
            let names = names.split(separators).filter(|name| !name.is_empty());
            out.extend(names.map(|name| (name.to_string(), module.clone())));
        }
    }
    out
}

/// Folders whose modules count for themselves.
const FOLDERS: &[&str] = &["objects", "regalloc", "nests"];

/// The modules that a source declares.
fn declared(root: &str) -> BTreeSet<String> {
    let words = root.match_indices("mod ").map(|(at, _)| word(&root[at + 4..]).to_string());
    words.filter(|m| !m.is_empty()).collect()
}

/// What stands behind each of a prefix's occurrences: one name, or those in braces.
fn named<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let behind = text.match_indices(prefix).map(|(at, _)| &text[at + prefix.len()..]);
    behind.flat_map(|behind| if behind.starts_with('{') { parts(behind) } else { vec![behind] }).collect()
}

/// The modules that a path behind the crate's root names: those in a folder, or the folder itself for what stands in its own file.
fn module_of(path: &str, folders: &BTreeMap<&str, BTreeSet<String>>) -> Vec<String> {
    let first = word(path);
    let (Some(inside), Some(rest)) = (folders.get(first), path[first.len()..].strip_prefix("::")) else {
        return vec![first.to_string()];
    };
    let names = if rest.starts_with('{') { parts(rest) } else { vec![rest] };
    let module = |name| if inside.contains(name) { format!("{first}::{name}") } else { first.to_string() };
    names.into_iter().map(word).map(module).collect()
}

/// The imports of the crate with this source folder.
///
/// # Panics
///
/// If the folder cannot be read.
pub fn imports(source: &Path) -> Imports {
    let root = ["lib.rs", "main.rs"].iter().find_map(|f| fs::read_to_string(source.join(f)).ok()).expect("a root");
    let root = code(&root);
    let modules = declared(&root);
    let mut folders: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for folder in FOLDERS.iter().filter(|folder| modules.contains(**folder)) {
        let own = [format!("{folder}.rs"), format!("{folder}/mod.rs")];
        if let Some(text) = own.iter().find_map(|file| fs::read_to_string(source.join(file)).ok()) {
            folders.insert(folder, declared(&code(&text)));
        }
    }
    let exports = exports(&root, &modules, &folders);
    let mut files = Vec::new();
    rust_files(source, &mut files);
    files.retain(|file| file.file_stem().is_none_or(|stem| stem != "tests"));
    let mut out = Imports::new();
    for file in files {
        let inside = file.strip_prefix(source).expect("below the folder").with_extension("");
        let path: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        let folder = folders.contains_key(path[0].as_str()).then_some(path[0].as_str());
        let own = match folder {
            Some(_) if path.len() > 1 && path[1] != "mod" => path[..2].join("::"),
            _ => path[0].clone(),
        };
        if !modules.contains(&path[0]) {
            continue;
        }
        let text = code(&fs::read_to_string(&file).expect("a source"));
        let from_root = named(&text, "crate::").into_iter().flat_map(|path| module_of(path, &folders));
        let mut found: Vec<String> = from_root.map(|name| exports.get(&name).cloned().unwrap_or(name)).collect();
        if let (Some(folder @ "objects"), 2) = (folder, path.len()) {
            found.extend(named(&text, "super::").into_iter().map(|name| format!("{folder}::{}", word(name))));
        }
        let known = |name: &String| match name.split_once("::") {
            Some((folder, name)) => folders.get(folder).is_some_and(|inside| inside.contains(name)),
            None => modules.contains(name),
        };
        for module in found.into_iter().filter(|name| known(name) && *name != own) {
            out.entry(own.clone()).or_default().insert(module);
        }
    }
    out
}

fn reached(imports: &Imports, from: &str) -> BTreeSet<String> {
    let (mut open, mut seen) = (vec![from.to_string()], BTreeSet::new());
    while let Some(module) = open.pop() {
        for next in imports.get(&module).into_iter().flatten() {
            if seen.insert(next.clone()) {
                open.push(next.clone());
            }
        }
    }
    seen
}

/// The modules that reach themselves.
pub fn in_circles(imports: &Imports) -> Vec<String> {
    imports.keys().filter(|module| reached(imports, module).contains(*module)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_seen() {
        let imports = |pairs: &[(&str, &str)]| {
            let mut out = Imports::new();
            for (from, to) in pairs {
                out.entry(from.to_string()).or_default().insert(to.to_string());
            }
            out
        };
        assert!(in_circles(&imports(&[("a", "b"), ("b", "c")])).is_empty());
        assert_eq!(in_circles(&imports(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")])), ["a", "b", "c"]);
        assert_eq!(parts("{a, b::{c, d}, e}; f"), ["a", "b::{c, d}", "e"]);
    }
}
