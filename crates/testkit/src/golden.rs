//! Runs the golden pairs of `tests/pairs/<area>/<name>.pair`.

use crate::compiler::Compiler;
use crate::lockstep::{self, Verdict};
use crate::pair::Pair;
use crate::score::{Mark, Score};
use std::fs;
use std::path::{Path, PathBuf};

/// All golden pairs, by area and name.
pub fn files() -> Vec<PathBuf> {
    let list = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        entries.map(|entry| entry.expect("a readable folder").path()).collect()
    };
    let areas = list(&crate::data().join("pairs")).into_iter().filter(|area| area.is_dir());
    let mut files: Vec<PathBuf> =
        areas.flat_map(|area| list(&area)).filter(|f| f.extension().is_some_and(|e| e == "pair")).collect();
    files.sort();
    files
}

/// Runs every pair; each area is a row of the score.
pub fn run(binary: &Path) -> Score {
    let compilers = Compiler::all();
    Score::of_all(&files(), |file, score| {
        let area = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy().into_owned();
        let name = format!("{area}/{}", file.file_stem().unwrap_or_default().to_string_lossy());
        match run_one(binary, &compilers, file) {
            Ok((mark, why)) => score.add(&area, mark, || format!("{name}: {why}")),
            Err(why) => score.add(&area, Mark::Broken, || format!("{name}: {why}")),
        }
    })
}

fn run_one(binary: &Path, compilers: &[Compiler], file: &Path) -> Result<(Mark, String), String> {
    let pair = Pair::parse(&fs::read_to_string(file).map_err(|e| e.to_string())?)?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let wanted = |c: &&Compiler| pair.compiler.as_ref().is_none_or(|begin| c.command.starts_with(begin));
    let compiler = compilers.iter().find(wanted).ok_or("the compiler it needs is not there")?;
    pair.build(compiler, folder.path()).map_err(|e| e.to_string())?;
    let (original, candidate) = (folder.path().join("original.o"), folder.path().join("candidate.o"));
    let answers = lockstep::check_under(binary, &original, &candidate, Some(&pair.function), &pair.options())?;
    let answer = answers.iter().find(|a| a.name == pair.function).ok_or("no answer for the function")?;
    if pair.open && answer.verdict != Verdict::Unknown {
        println!("{}: {} now, so its `yet: unknown` can go", file.display(), answer.verdict.name());
    }
    Ok(match pair.judge(answer) {
        Ok(()) => (Mark::Right, String::new()),
        Err(why) if answer.verdict == Verdict::Unknown => (Mark::GaveUp, why),
        Err(why) => (Mark::Wrong, why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(file: &Path) -> Pair {
        let text = fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        Pair::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()))
    }

    #[test]
    fn every_equivalent_pair_has_a_twin_that_is_not() {
        let files = files();
        assert!(files.len() >= 120, "only {} pairs", files.len());
        for file in &files {
            let pair = parsed(file);
            let proved = [Verdict::Equivalent, Verdict::EquivalentIf];
            if let Some(verdict) = proved.into_iter().find(|verdict| pair.verdicts.contains(verdict)) {
                assert_eq!(pair.verdicts, [verdict], "{}", file.display());
                let twin = parsed(&file.with_extension("twin.pair"));
                assert!(proved.iter().all(|v| !twin.verdicts.contains(v)), "{}", file.display());
            }
        }
    }
}
