//! Runs the twins of `tests/twins` (no loops) and `tests/twins-loops`: C files whose functions come in two variants.
//!
//! Each file is compiled with `-DVARIANT=0` (the original) and `-DVARIANT=1` (the candidate). In `*.wrong.c`
//! every function differs between the variants, in `*.right.c` none does. Functions are compared at one
//! optimisation level and across two, since a difference must show and a proof must hold at every level.

use crate::compiler::Compiler;
use crate::lockstep::{self, Verdict};
use crate::score::{Mark, Score};
use std::fs;
use std::path::{Path, PathBuf};

/// Levels of the original and the candidate.
pub const LEVELS: &[(&str, &str)] = &[("-O0", "-O0"), ("-O0", "-O2"), ("-O2", "-O2")];

/// All files of twins in a folder of the tests, and the verdict that their functions deserve.
pub fn files(folder: &str) -> Vec<(PathBuf, Verdict)> {
    let folder = crate::data().join(folder);
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<(PathBuf, Verdict)> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .filter_map(|path| {
            let name = path.file_name()?.to_string_lossy().into_owned();
            let verdict = match name.as_str() {
                n if n.ends_with(".wrong.c") => Verdict::Different,
                n if n.ends_with(".right.c") => Verdict::Equivalent,
                _ => return None,
            };
            Some((path, verdict))
        })
        .collect();
    files.sort();
    files
}

/// One file of twins, to be compiled and compared.
struct Case<'a> {
    file: &'a Path,
    truth: Verdict,
    compiler: &'a Compiler,
    levels: (&'static str, &'static str),
}

/// Runs the twins of a folder that deserve this verdict, with all compilers; each file is a row of the score.
pub fn run(binary: &Path, folder: &str, deserved: Verdict) -> Score {
    let compilers = Compiler::all();
    let files: Vec<_> = files(folder).into_iter().filter(|(_, truth)| *truth == deserved).collect();
    let mut cases = Vec::new();
    for (file, truth) in &files {
        for compiler in &compilers {
            cases.extend(LEVELS.iter().map(|levels| Case { file, truth: *truth, compiler, levels: *levels }));
        }
    }
    Score::of_all(&cases, |case, score| run_one(binary, case, score))
}

fn run_one(binary: &Path, case: &Case, score: &mut Score) {
    let row = case.file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let place = format!("{row}: {} {}/{}", case.compiler.command, case.levels.0, case.levels.1);
    match answers(binary, case) {
        Ok(answers) => {
            for answer in answers {
                let mark = Mark::of(answer.verdict, case.truth);
                score.add(&row, mark, || {
                    format!("{place}: {}: {} {}", answer.name, answer.verdict.name(), answer.detail)
                });
            }
        }
        Err(why) => score.add(&row, Mark::Broken, || format!("{place}: {why}")),
    }
}

fn answers(binary: &Path, case: &Case) -> Result<Vec<lockstep::Answer>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let build = |variant: &str, level: &str, name: &str| {
        let object = folder.path().join(name);
        let built = case.compiler.compile_file(case.file, &[variant, level, "-std=gnu11"], &object);
        built.map(|()| object).map_err(|e| e.to_string())
    };
    let original = build("-DVARIANT=0", case.levels.0, "original.o")?;
    let candidate = build("-DVARIANT=1", case.levels.1, "candidate.o")?;
    lockstep::check(binary, &original, &candidate, None)
}
