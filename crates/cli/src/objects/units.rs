//! What is compared: two object files, or all that two archives or two build trees have in common.
//!
//! Objects belong together by their paths in the trees, or by their names in the archives; functions by their names in
//! the objects. An object that the candidate lacks is not left out in silence: each of its functions is `unknown`.

use crate::arguments::{CheckArguments, assert_texts, undefined};
use crate::check::describe_extras;
use crate::complain;
use crate::objects::input;
use crate::pairing::{Matched, Names, Pairing, Selection, pair_functions, unknown_selection};
use crate::status::Failure;
use pair::{File, Files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Two files that are compared.
pub struct Unit {
    /// Which of several, as its functions are reported.
    pub label: Option<String>,
    pub files: Arc<Files>,
    pub pairs: Vec<Matched>,
}

/// Object files below these are not looked for: nothing that a build makes is deeper.
const DEEPEST: usize = 64;
/// More objects are not read.
const MOST: usize = 100_000;

/// An object file somewhere.
#[derive(Clone)]
enum Source {
    At(PathBuf),
    /// In an archive, with its name for messages.
    Member(PathBuf, Vec<u8>),
}

/// Reads everything that is to be compared.
pub fn read(arguments: &CheckArguments) -> Result<Vec<Unit>, Failure> {
    let paths = [&arguments.original, &arguments.candidate];
    let several = paths.map(|path| path.is_dir() || input::is_archive(path));
    match several {
        [false, false] => Ok(vec![single(arguments)?]),
        [true, true] if paths[0].is_dir() == paths[1].is_dir() => many(arguments),
        _ => {
            let what = |path: &Path| match (path.is_dir(), input::is_archive(path)) {
                (true, _) => "a directory",
                (_, true) => "an archive",
                _ => "one file",
            };
            let shown = paths.map(|path| format!("{} is {}", path.display(), what(path)));
            let hint = "compare two of a kind, or name a member of an archive: `lib.a(member.o)`";
            Err(Failure(format!("{}, {}; {hint}", shown[0], shown[1])))
        }
    }
}

fn files(arguments: &CheckArguments, original: File, candidate: File) -> Files {
    let files = Files::new(original, candidate, undefined(arguments.no_ub));
    files.with_assert_texts(assert_texts(arguments.strict_assert))
}

fn single(arguments: &CheckArguments) -> Result<Unit, Failure> {
    let (original, candidate) = (input::read(&arguments.original)?, input::read(&arguments.candidate)?);
    let Pairing { pairs, extras } = pair_functions(&original.names(), &candidate.names(), &arguments.functions)?;
    if !extras.is_empty() {
        let names: Vec<&str> = extras.iter().map(|e| candidate.name(*e)).collect();
        complain(&describe_extras(&arguments.candidate, &names));
    }
    let files = arguments.calls.apply(files(arguments, original, candidate), &pairs)?;
    Ok(Unit { label: None, files: Arc::new(files), pairs })
}

fn many(arguments: &CheckArguments) -> Result<Vec<Unit>, Failure> {
    if !arguments.calls.is_empty() {
        let what = "--prototype, --header, --live-in and --live-out are for functions of two object files";
        return Err(Failure(what.to_string()));
    }
    let (ours, mut theirs) = (sources(&arguments.original)?, sources(&arguments.candidate)?);
    let (mut units, mut lost, mut found): (Vec<Unit>, Vec<String>, BTreeSet<usize>) = Default::default();
    let mut all_names: Vec<String> = Vec::new();
    for (label, source) in ours {
        let Some(original) = load(source.clone())? else { continue };
        let counterpart = theirs.remove(&label).map(load).transpose()?.flatten();
        if counterpart.is_none() {
            lost.push(label.clone());
        }
        let pairs = {
            let names = original.names();
            all_names.extend(names.iter().flatten().map(|name| name.to_string()));
            let here = |s: &Selection| {
                let plain = Selection { other: None, ..s.clone() };
                pair_functions(&names, &names, &[plain]).is_ok()
            };
            let chosen = arguments.functions.iter().enumerate().filter(|(_, selection)| here(selection));
            let (positions, selected): (Vec<usize>, Vec<Selection>) = chosen.map(|(i, s)| (i, s.clone())).unzip();
            found.extend(positions);
            if names.is_empty() || selected.is_empty() && !arguments.functions.is_empty() {
                continue;
            }
            let theirs = counterpart.as_ref().map(File::names).unwrap_or_default();
            match pair_functions(&names, &theirs, &selected) {
                Ok(pairing) => pairing.pairs,
                Err(failure) if !selected.is_empty() => return Err(failure),
                Err(_) => alone(&names),
            }
        };
        // Without a counterpart nothing is compared, and the file stands for itself.
        let Some(candidate) = counterpart.map_or_else(|| load(source), |found| Ok(Some(found)))? else { continue };
        let files = Arc::new(files(arguments, original, candidate));
        units.push(Unit { label: Some(label), files, pairs });
    }
    if let Some(selection) = arguments.functions.iter().enumerate().find(|(i, _)| !found.contains(i)).map(|(_, s)| s) {
        return Err(unknown_selection(&selection.name, &all_names));
    }
    if units.iter().all(|unit| unit.pairs.iter().all(|pair| pair.candidate.is_none())) {
        let [a, b] = [&arguments.original, &arguments.candidate].map(|path| path.display());
        return Err(Failure(format!("{a} and {b} have no function in common, in objects of the same names")));
    }
    note(&arguments.candidate, "objects only in the original", lost);
    note(&arguments.candidate, "objects only in the candidate", theirs.into_keys().collect());
    Ok(units)
}

/// Functions without counterparts.
fn alone(names: &[Names<'_>]) -> Vec<Matched> {
    let lonely =
        |(original, names): (usize, &Names<'_>)| Matched { name: names[0].to_string(), original, candidate: None };
    names.iter().enumerate().map(lonely).collect()
}

fn note(path: &Path, what: &str, labels: Vec<String>) {
    const MOST_SHOWN: usize = 8;
    if labels.is_empty() {
        return;
    }
    let more = labels.len().saturating_sub(MOST_SHOWN);
    let shown = labels[..labels.len() - more].join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    complain(&format!("{}: {what}: {shown}{more}", path.display()));
}

/// An object with code; what has none is no part of the comparison.
fn load(source: Source) -> Result<Option<File>, Failure> {
    let (path, bytes) = match source {
        Source::Member(path, bytes) => (path, bytes),
        Source::At(path) => {
            let bytes = std::fs::read(&path).map_err(|e| Failure(format!("{}: {e}", path.display())))?;
            (path, bytes)
        }
    };
    let file = input::parse(bytes, &path)?;
    match input::code(file, &path) {
        Ok(file) => Ok(Some(file)),
        Err(input::NoCode::Data(_)) => Ok(None),
        Err(input::NoCode::Intermediate(failure)) => Err(failure),
    }
}

/// The objects of an archive or a directory, by what both sides call them.
fn sources(path: &Path) -> Result<BTreeMap<String, Source>, Failure> {
    let mut out = BTreeMap::new();
    if path.is_dir() {
        walk(path, Path::new(""), 0, &mut out)?;
        if out.is_empty() {
            return Err(Failure(format!("{}: no object files in it", path.display())));
        }
    } else {
        add_members(path, "", &mut out)?;
        if out.is_empty() {
            return Err(Failure(format!("{}: no object files in the archive", path.display())));
        }
    }
    Ok(out)
}

fn add_members(archive: &Path, before: &str, out: &mut BTreeMap<String, Source>) -> Result<(), Failure> {
    for (name, bytes) in input::members(archive)? {
        let label = if before.is_empty() { name.clone() } else { format!("{before}({name})") };
        let shown = PathBuf::from(format!("{}({name})", archive.display()));
        // What is no object, such as a list of exports, is not compared; bitcode is no such thing.
        if input::is_relocatable(&bytes) || input::is_bitcode(&bytes) {
            out.insert(label, Source::Member(shown, bytes));
        }
    }
    Ok(())
}

fn walk(root: &Path, below: &Path, depth: usize, out: &mut BTreeMap<String, Source>) -> Result<(), Failure> {
    let here = root.join(below);
    let failed = |e: std::io::Error| Failure(format!("{}: {e}", here.display()));
    if depth > DEEPEST || out.len() > MOST {
        return Err(Failure(format!("{}: too deep, or too many objects", here.display())));
    }
    let mut entries = std::fs::read_dir(&here).map_err(failed)?.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
        let label = below.join(entry.file_name());
        // Links may lead in circles, and what they lead to is somewhere else, too.
        if kind.is_dir() {
            walk(root, &label, depth + 1, out)?;
        } else if kind.is_file() {
            let shown = label.display().to_string();
            let object = path.extension().is_some_and(|e| e == "o" || e == "obj" || e == "os" || e == "lo");
            if input::is_object(&path) || object && input::beginning(&path).is_some_and(|b| input::is_bitcode(&b)) {
                out.insert(shown, Source::At(path));
            } else if input::is_archive(&path) {
                add_members(&path, &shown, out)?;
            }
        }
    }
    Ok(())
}
