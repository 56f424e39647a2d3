//! `cargo xtask bench conditional`: pairs that are the same under conditions that somebody wrote down.
//!
//! `bench/conditional` has the functions, and in `kernels.txt` the conditions of each. Originals are compiled as they stand (-O0),
//! candidates as their authors would (-O2).

use crate::guards::Kernel;
use crate::{build, guards, root};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What to run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Request {
    /// Only these functions.
    functions: Vec<String>,
    /// The binary, if it is not to be built.
    binary: Option<PathBuf>,
    /// What is made of the pairs.
    wanted: Wanted,
}

/// What is made of the pairs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Wanted {
    /// Proofs under their conditions.
    #[default]
    Proofs,
    /// Guards that check the conditions.
    Guards,
}

impl Request {
    /// From the words after `bench conditional`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request = Request::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--lockstep" => request.binary = Some(PathBuf::from(words.next()?)),
                "--guards" => request.wanted = Wanted::Guards,
                option if option.starts_with('-') => return None,
                function => request.functions.push(function.to_string()),
            }
        }
        Some(request)
    }
}

/// Reads the list: a name a line, its conditions indented below.
pub fn kernels(text: &str) -> Result<Vec<Kernel>, String> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let word = line.trim();
        if word.is_empty() || word.starts_with('#') {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let kernel = kernels.last_mut().ok_or_else(|| format!("line {}: a condition of nothing", number + 1))?;
            kernel.conditions.push(word.to_string());
        } else {
            kernels.push(Kernel { name: word.to_string(), conditions: Vec::new() });
        }
    }
    Ok(kernels)
}

/// Checks all pairs and prints a row for each. Fails if one has no proof.
pub fn run(request: &Request) -> Result<(), String> {
    let lockstep = match &request.binary {
        Some(binary) => binary.clone(),
        None => build::lockstep()?,
    };
    let sources = root().join("bench/conditional");
    let list = sources.join("kernels.txt");
    let text = std::fs::read_to_string(&list).map_err(|e| format!("{}: {e}", list.display()))?;
    let folder = root().join("target/conditional");
    let objects = [("original", "-O0"), ("candidate", "-O2")].map(|(name, level)| {
        let object = folder.join(format!("{name}.o"));
        build::compile(Path::new("gcc"), &["-g", level], &sources.join(format!("{name}.c")), &object).map(|()| object)
    });
    let [original, candidate] = objects;
    let objects = [original?, candidate?];
    if request.wanted == Wanted::Guards {
        let mut all = kernels(&text)?;
        all.retain(|kernel| request.functions.is_empty() || request.functions.contains(&kernel.name));
        return guards::run(&lockstep, &objects, &all, &folder);
    }
    println!("{:<12} {:>10}  {:>10} {:>8}", "function", "conditions", "verdict", "seconds");
    let (mut proved, mut all, mut total) = (0, 0, 0.0);
    for kernel in kernels(&text)? {
        if !request.functions.is_empty() && !request.functions.contains(&kernel.name) {
            continue;
        }
        let start = Instant::now();
        let (verdict, detail) = check(&lockstep, &objects, &kernel)?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{:<12} {:>10}  {verdict:>10} {seconds:>8.2}  {detail}", kernel.name, kernel.conditions.len());
        (all, total) = (all + 1, total + seconds);
        proved += usize::from(verdict == "equivalent");
    }
    println!("{proved} of {all} equivalent, {total:.1} s");
    if proved == all { Ok(()) } else { Err(format!("{} pairs without a proof", all - proved)) }
}

fn check(lockstep: &Path, [original, candidate]: &[PathBuf; 2], kernel: &Kernel) -> Result<(String, String), String> {
    let mut command = Command::new(lockstep);
    command.args(["check", "--format", "json", "--jobs", "1", "--function", &kernel.name]).args([original, candidate]);
    command.args(kernel.conditions.iter().flat_map(|condition| ["--assume", condition]));
    let output = command.output().map_err(|e| format!("{}: {e}", lockstep.display()))?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("{}: {e}: {}", kernel.name, String::from_utf8_lossy(&output.stderr)))?;
    let function = &report["functions"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_string();
    Ok((text(&function["verdict"]), text(&function["reason"]["detail"])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_belong_to_the_name_above() {
        let read = kernels("# x\nf\n    n < 4\n    aligned(p, 16)\n\ng\n").expect("a list");
        let all: Vec<(&str, usize)> = read.iter().map(|k| (k.name.as_str(), k.conditions.len())).collect();
        assert_eq!(all, [("f", 2), ("g", 0)]);
        assert!(kernels("  n < 4\n").is_err());
    }

    #[test]
    fn the_list_names_functions_of_both_files() {
        let folder = root().join("bench/conditional");
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("a file of the repository");
        let listed = kernels(&read("kernels.txt")).expect("a list");
        assert_eq!(listed.len(), 18);
        for kernel in listed {
            let defined = |text: &str| text.contains(&format!(" {}(", kernel.name));
            assert!(defined(&read("original.c")) && defined(&read("candidate.c")), "{}", kernel.name);
        }
    }

    #[test]
    fn requests() {
        let words = Request::parse(&["test1", "--lockstep", "x"]).expect("a request");
        assert_eq!((words.functions, words.binary), (vec!["test1".to_string()], Some(PathBuf::from("x"))));
        assert_eq!(Request::parse(&["--frob"]), None);
    }
}
