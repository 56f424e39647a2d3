//! `cargo xtask bench conditional --infer`: which conditions lockstep infers, whether they say no more than was written down, and
//! whether anything less is believed.
//!
//! `bench/conditional` has pairs of functions with the conditions of Sharma et al. (OOPSLA 2015, figure 9), and `bench/conditional/own`
//! pairs as people write them. Each condition that is inferred is held against the one that is written down: the certificate must be
//! accepted under that. Twins are made of it: without a part that is said to be needed, the functions must not be equivalent.

use crate::{build, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Only these functions.
    functions: Vec<String>,
    /// Are conditions tried that are too weak?
    twins: Twins,
    /// The binary, if it is not to be built.
    binary: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Twins {
    #[default]
    Tried,
    LeftOut,
}

impl Request {
    /// From the words after `bench conditional --infer`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request = Request::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--no-twins" => request.twins = Twins::LeftOut,
                "--lockstep" => request.binary = Some(PathBuf::from(words.next()?)),
                option if option.starts_with('-') => return None,
                function => request.functions.push(function.to_string()),
            }
        }
        Some(request)
    }
}

/// Two objects of the same functions.
struct Files {
    original: PathBuf,
    candidate: PathBuf,
    tests: Option<PathBuf>,
}

/// What came of a set of pairs.
#[derive(Default, Debug)]
struct Tally {
    pairs: usize,
    equivalent: usize,
    inferred: usize,
    weaker: usize,
    stronger: usize,
    twins: usize,
    different: usize,
    accepted: usize,
    seconds: f64,
}

const SECONDS: &str = "30";
/// Parts of one condition that are left out, one at a time.
const MOST_TWINS: usize = 8;

/// Runs both sets; fails if something that is too weak was believed.
pub fn run(request: &Request) -> Result<(), String> {
    let binary = request.binary.clone().map_or_else(build::lockstep, Ok)?;
    let folder = root().join("bench/conditional");
    let target = root().join("target/bench-conditional");
    std::fs::create_dir_all(&target).map_err(|e| e.to_string())?;
    let written = conditions(&std::fs::read_to_string(folder.join("kernels.txt")).map_err(|e| e.to_string())?);
    let papers = Files { tests: Some(folder.join("tests.json")), ..compile(&folder, &target, "paper")? };
    let own = compile(&folder.join("own"), &target, "own")?;
    let mut accepted = 0;
    for (title, files, written) in [("figure 9", &papers, &written), ("own", &own, &BTreeMap::new())] {
        println!("{title:<17} verdict         seconds  twins  different  condition");
        let mut tally = Tally::default();
        for function in functions(&files.original)? {
            if request.functions.is_empty() || request.functions.contains(&function) {
                one(&binary, files, &function, written, request.twins, &target, &mut tally)?;
            }
        }
        let Tally { pairs, equivalent, inferred, weaker, stronger, twins, different, seconds, .. } = tally;
        println!("{pairs} pairs, {equivalent} equivalent, {inferred} under a condition, {seconds:.1} s");
        if !written.is_empty() {
            println!("{stronger} conditions say more than figure 9, {weaker} say less");
        }
        println!("{twins} twins, {different} different, {} accepted\n", tally.accepted);
        accepted += tally.accepted;
    }
    if accepted > 0 { Err(format!("{accepted} conditions that are too weak were accepted")) } else { Ok(()) }
}

/// Compiles `original.c` without and `candidate.c` with optimisation.
fn compile(folder: &Path, target: &Path, name: &str) -> Result<Files, String> {
    let object = |part: &str, level: &str| -> Result<PathBuf, String> {
        let out = target.join(format!("{name}-{part}.o"));
        let status = Command::new("gcc-12")
            .args([
                "-c",
                "-g",
                level,
                "-fwrapv",
                "-fno-strict-aliasing",
                "-fno-inline",
                "-fcf-protection=none",
                "-fno-pic",
            ])
            .args(["-fno-stack-protector", "-fno-asynchronous-unwind-tables", "-ffunction-sections", "-fdata-sections"])
            .arg(folder.join(format!("{part}.c")))
            .arg("-o")
            .arg(&out)
            .status()
            .map_err(|e| format!("gcc-12: {e}"))?;
        if status.success() { Ok(out) } else { Err(format!("{part}.c does not compile")) }
    };
    Ok(Files { original: object("original", "-O0")?, candidate: object("candidate", "-O2")?, tests: None })
}

/// The functions of an object, in order.
fn functions(object: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("nm").arg("-n").arg(object).output().map_err(|e| format!("nm: {e}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let of_line = |line: &str| line.split_once(" T ").map(|(_, name)| name.to_string());
    let mut names: Vec<String> = text.lines().filter_map(of_line).collect();
    names.sort();
    Ok(names)
}

/// Conditions by function: a name a line, what must hold indented below it.
fn conditions(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut last = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if line.starts_with(' ') {
            out.entry(last.clone()).or_default().push(line.trim().to_string());
        } else {
            last = line.trim().to_string();
            out.insert(last.clone(), Vec::new());
        }
    }
    out
}

fn check(binary: &Path, files: &Files, function: &str, more: &[String]) -> Result<Value, String> {
    let mut command = Command::new(binary);
    command.arg("check").arg(&files.original).arg(&files.candidate).args(["--function", function, "--format", "json"]);
    command.args(["--timeout", SECONDS]).args(more);
    let output = command.output().map_err(|e| e.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("{function}: {}", String::from_utf8_lossy(&output.stderr).trim()))?;
    Ok(report["functions"][0].clone())
}

fn one(
    binary: &Path,
    files: &Files,
    function: &str,
    written: &BTreeMap<String, Vec<String>>,
    twins: Twins,
    target: &Path,
    tally: &mut Tally,
) -> Result<(), String> {
    let certificates = target.join("certificates");
    let _ = std::fs::remove_dir_all(&certificates);
    let mut more = vec!["--conditional".to_string(), "--certificates".to_string(), certificates.display().to_string()];
    let known = written.get(function);
    if known.is_some_and(|parts| parts.iter().any(|part| part.contains("fp("))) {
        more.push("--fp-axioms".to_string());
    }
    if let Some(tests) = &files.tests {
        more.extend(["--tests".to_string(), tests.display().to_string()]);
    }
    let answer = check(binary, files, function, &more)?;
    let verdict = answer["verdict"].as_str().unwrap_or("?").to_string();
    let seconds = answer["time_ms"].as_f64().unwrap_or(0.0) / 1e3;
    let parts: Vec<(String, bool)> = answer["condition"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|part| (part["text"].as_str().unwrap_or("?").to_string(), part["needed"] == "witness"))
        .collect();
    tally.pairs += 1;
    tally.seconds += seconds;
    tally.equivalent += usize::from(verdict == "equivalent");
    tally.inferred += usize::from(verdict == "equivalent-if");
    let mut note = String::new();
    if let (Some(known), "equivalent-if") = (known, verdict.as_str()) {
        let certificate = certificates.join(format!("{function}.json"));
        let implied = accepts(binary, &certificate, files, known)?;
        // What is needed of the one that is written down and follows from the inferred one says that both are the same.
        let converse = implied && {
            let texts: Vec<String> = parts.iter().map(|(text, _)| text.clone()).collect();
            texts.len() >= known.iter().map(|part| part.split("&&").count()).sum::<usize>()
        };
        note = match (implied, converse) {
            (false, _) => "more than figure 9: ".to_string(),
            (true, true) => "as figure 9: ".to_string(),
            (true, false) => "less than figure 9: ".to_string(),
        };
        tally.stronger += usize::from(!implied);
        tally.weaker += usize::from(implied && !converse);
    }
    let (mut tried, mut different) = (0, 0);
    if twins == Twins::Tried && verdict == "equivalent-if" {
        let needed: Vec<usize> = (0..parts.len()).filter(|i| parts[*i].1).collect();
        let step = needed.len().div_ceil(MOST_TWINS).max(1);
        for i in needed.into_iter().step_by(step) {
            let rest = parts.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, (text, _))| text.clone());
            for twin in weaker(&parts[i].0).into_iter().map(Some).chain([None]) {
                let assumed = rest.clone().chain(twin).flat_map(|text| ["--assume".to_string(), text]);
                let answer = check(binary, files, function, &assumed.collect::<Vec<_>>())?;
                tried += 1;
                match answer["verdict"].as_str() {
                    Some("different") => different += 1,
                    Some("equivalent") => {
                        println!("  {function}: equivalent without {}", parts[i].0);
                        tally.accepted += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    tally.twins += tried;
    tally.different += different;
    let mut shown: Vec<String> =
        parts.iter().take(6).map(|(text, needed)| if *needed { text.clone() } else { format!("{text}?") }).collect();
    if parts.len() > shown.len() {
        shown.push(format!("… {} more", parts.len() - shown.len()));
    }
    println!("{function:<17} {verdict:<14} {seconds:>8.2} {tried:>6} {different:>10}  {note}{}", shown.join(", "));
    Ok(())
}

/// Is a certificate accepted under a condition?
fn accepts(binary: &Path, certificate: &Path, files: &Files, condition: &[String]) -> Result<bool, String> {
    let assumed = condition.iter().flat_map(|part| ["--assume", part]);
    let output = Command::new(binary)
        .arg("verify")
        .arg(certificate)
        .args([&files.original, &files.candidate])
        .args(assumed)
        .output()
        .map_err(|e| e.to_string())?;
    Ok(output.status.success())
}

/// The same with a smaller multiple.
fn weaker(part: &str) -> Option<String> {
    if let Some((pointer, to)) = part.strip_prefix("aligned(")?.strip_suffix(')')?.rsplit_once(", ") {
        let to: u64 = to.parse().ok()?;
        return (to > 2).then(|| format!("aligned({pointer}, {})", to / 2));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_by_function() {
        let read = conditions("# text\nf\n    n % 2 == 0\n    aligned(a, 16)\ng\n");
        assert_eq!(read["f"], ["n % 2 == 0", "aligned(a, 16)"]);
        assert!(read["g"].is_empty());
    }

    #[test]
    fn alignments_are_halved() {
        assert_eq!(weaker("aligned(a, 16)").as_deref(), Some("aligned(a, 8)"));
        assert_eq!(weaker("n % 2 == 0"), None);
    }

    #[test]
    fn words_choose() {
        let request = Request::parse(&["test1", "--no-twins"]).expect("a request");
        assert_eq!(request.functions, ["test1"]);
        assert_eq!(request.twins, Twins::LeftOut);
        assert!(Request::parse(&["--what"]).is_none());
    }
}
