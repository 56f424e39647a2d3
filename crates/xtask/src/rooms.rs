//! `cargo xtask rooms`: how large the rooms are, counted from their sources.
//!
//! Lines are those of `src` without tests, comments included. A module with `#[cfg(test)]`, in its file or in one of its own, is a test. What is
//! believed is said here, by room, as ARCHITECTURE.md says it; the numbers there are the output of this command.

use crate::root;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use testkit::rooms::{imports, in_circles, rust_files};

/// Rooms on which `equivalent` for functions of object files rests, meaning of terms, instructions, files and library included.
const BELIEVED: &[&str] =
    &["abi", "kernel", "library", "lift-elf", "pair", "program", "solver", "symbolic", "term", "x86"];
/// Rows of the tables of types and functions.
const MOST: usize = 10;

#[derive(Default)]
struct Room {
    lines: usize,
    tests: usize,
    circles: usize,
}

#[derive(Default)]
struct Type {
    fields: usize,
    methods: usize,
}

#[derive(Default)]
struct Counts {
    tests: usize,
    /// Lines of test modules in the file.
    test_lines: usize,
    /// Files that hold nothing but tests: names of modules declared behind `#[cfg(test)]`.
    test_modules: Vec<String>,
    types: BTreeMap<String, Type>,
    functions: Vec<(usize, String)>,
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string() == "test",
        _ => false,
    })
}

fn lines(of: &impl Spanned) -> usize {
    of.span().end().line + 1 - of.span().start().line
}

impl<'a> Visit<'a> for Counts {
    fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
        if !is_test(&item.attrs) {
            return visit::visit_item_mod(self, item);
        }
        match &item.content {
            Some((_, items)) => {
                self.test_lines += lines(item);
                let mut inside = Counts::default();
                items.iter().for_each(|item| inside.visit_item(item));
                self.tests += inside.tests;
            }
            None => self.test_modules.push(item.ident.to_string()),
        }
    }

    fn visit_item_struct(&mut self, item: &'a syn::ItemStruct) {
        self.types.entry(item.ident.to_string()).or_default().fields += item.fields.len();
    }

    fn visit_item_impl(&mut self, item: &'a syn::ItemImpl) {
        if let (None, syn::Type::Path(path)) = (&item.trait_, &*item.self_ty)
            && let Some(last) = path.path.segments.last()
        {
            let methods = item.items.iter().filter(|i| matches!(i, syn::ImplItem::Fn(_))).count();
            self.types.entry(last.ident.to_string()).or_default().methods += methods;
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.functions.push((lines(&item.block), item.sig.ident.to_string()));
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        let test = item.attrs.iter().any(|a| a.path().is_ident("test"));
        self.tests += usize::from(test);
        if !test {
            self.functions.push((lines(&item.block), item.sig.ident.to_string()));
        }
        visit::visit_item_fn(self, item);
    }
}

fn read(file: &Path) -> Result<(Counts, usize), String> {
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    let text = fs::read_to_string(file).map_err(|e| failed(&e))?;
    let mut counts = Counts::default();
    counts.visit_file(&syn::parse_file(&text).map_err(|e| failed(&e))?);
    Ok((counts, text.lines().count()))
}

/// Is this file, or a folder that it is in, a module that is only there in tests?
fn stands_in(file: &Path, modules: &[(PathBuf, String)]) -> bool {
    modules
        .iter()
        .any(|(folder, name)| file == folder.join(format!("{name}.rs")) || file.starts_with(folder.join(name)))
}

struct Survey {
    rooms: BTreeMap<String, Room>,
    types: Vec<(usize, usize, String)>,
    functions: Vec<(usize, String)>,
}

fn survey(crates: &Path) -> Result<Survey, String> {
    let mut survey = Survey { rooms: BTreeMap::new(), types: Vec::new(), functions: Vec::new() };
    let entries = fs::read_dir(crates).map_err(|e| format!("{}: {e}", crates.display()))?;
    let mut names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    for name in names.into_iter().filter(|name| crates.join(name).join("src").is_dir()) {
        let source = crates.join(&name).join("src");
        let mut room = Room { circles: in_circles(&imports(&source)).len(), ..Room::default() };
        let mut files = Vec::new();
        rust_files(&source, &mut files);
        files.sort();
        let mut found = Vec::new();
        let mut test_modules = Vec::new();
        for file in files {
            let (counts, lines) = read(&file)?;
            let parent = file.parent().unwrap_or(&source);
            let own = match file.file_stem().and_then(|s| s.to_str()) {
                Some("lib" | "main" | "mod") | None => parent.to_path_buf(),
                Some(stem) => parent.join(stem),
            };
            test_modules.extend(counts.test_modules.iter().map(|name| (own.clone(), name.clone())));
            found.push((file, counts, lines));
        }
        let mut types: BTreeMap<String, Type> = BTreeMap::new();
        for (file, counts, lines) in found {
            room.tests += counts.tests;
            if stands_in(&file, &test_modules) {
                continue;
            }
            room.lines += lines - counts.test_lines;
            for (of, Type { fields, methods }) in counts.types {
                let all = types.entry(of).or_default();
                all.fields += fields;
                all.methods += methods;
            }
            let place = file.strip_prefix(crates).unwrap_or(&file).display().to_string();
            survey.functions.extend(counts.functions.into_iter().map(|(n, f)| (n, format!("`{f}` {place}"))));
        }
        for folder in ["tests", "examples"] {
            let mut files = Vec::new();
            let folder = crates.join(&name).join(folder);
            if folder.is_dir() {
                rust_files(&folder, &mut files);
            }
            for file in files {
                room.tests += read(&file)?.0.tests;
            }
        }
        survey.types.extend(types.into_iter().map(|(of, t)| (t.fields, t.methods, format!("`{of}` {name}"))));
        survey.rooms.insert(name, room);
    }
    survey.types.sort_by_key(|(fields, methods, of)| (std::cmp::Reverse(fields + methods), of.clone()));
    survey.functions.sort_by(|a, b| b.cmp(a));
    Ok(survey)
}

fn render(survey: &Survey) -> String {
    let mut out = String::from("| room | lines | tests | modules in circles | believed |\n|---|---|---|---|---|\n");
    let mut believed = 0;
    for (name, Room { lines, tests, circles }) in &survey.rooms {
        let trusted = BELIEVED.contains(&name.as_str());
        believed += if trusted { *lines } else { 0 };
        let mark = if trusted { "yes" } else { "" };
        let _ = writeln!(out, "| `{name}` | {lines} | {tests} | {circles} | {mark} |");
    }
    let all = |of: fn(&Room) -> usize| survey.rooms.values().map(of).sum::<usize>();
    let (lines, tests, circles) = (all(|r| r.lines), all(|r| r.tests), all(|r| r.circles));
    let _ = writeln!(out, "| all | {lines} | {tests} | {circles} | {believed} lines |");
    out += "\n| type | fields | methods |\n|---|---|---|\n";
    for (fields, methods, of) in survey.types.iter().take(MOST) {
        let _ = writeln!(out, "| {of} | {fields} | {methods} |");
    }
    out += "\n| function | lines |\n|---|---|\n";
    for (lines, of) in survey.functions.iter().take(MOST) {
        let _ = writeln!(out, "| {of} | {lines} |");
    }
    out
}

/// Counts and prints.
pub fn run() -> Result<(), String> {
    print!("{}", render(&survey(&root().join("crates"))?));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_do_not_count_as_lines() {
        let folder = std::env::temp_dir().join(format!("rooms-{}", std::process::id()));
        let source = folder.join("a/src");
        fs::create_dir_all(&source).unwrap();
        fs::write(source.join("lib.rs"), "mod b;\nstruct S { x: u8 }\nimpl S {\n    fn f(&self) {}\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() {}\n}\n#[cfg(test)]\nmod c;\n").unwrap();
        fs::write(source.join("b.rs"), "fn g() {\n    f()\n}\n").unwrap();
        fs::write(source.join("c.rs"), "fn only_in_tests() {\n    f();\n    f();\n}\n").unwrap();
        let survey = survey(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
        let room = &survey.rooms["a"];
        assert_eq!((room.lines, room.tests, room.circles), (10, 1, 0));
        assert_eq!(survey.types, [(1, 1, "`S` a".to_string())]);
        assert_eq!(survey.functions[0], (3, "`g` a/src/b.rs".to_string()));
        assert!(survey.functions.iter().all(|(_, of)| !of.contains("only_in_tests")));
    }
}
