//! `cargo xtask bench optimize`: how much faster `lockstep optimize` makes known kernels, beside what papers report.
//!
//! The kernels and how they are timed stand in `bench/optimize/table.json`. Programs of Hacker's Delight are all functions of one file, made
//! smaller by `--goal size`. `--wrong N` puts N wrong versions before a right one instead and counts what gets out.

use crate::{build, root, tools};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to run.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    only: Option<String>,
    limit: usize,
    time: u32,
    cpu: String,
    wrong: Option<usize>,
    binary: Option<PathBuf>,
}

impl Request {
    /// From the words after `bench optimize`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let mut request =
            Request { only: None, limit: usize::MAX, time: 60, cpu: "x86-64".to_string(), wrong: None, binary: None };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let value = words.next()?;
            match *word {
                "--only" => request.only = Some(value.to_string()),
                "--limit" => request.limit = value.parse().ok()?,
                "--time" => request.time = value.parse().ok().filter(|time| *time > 0)?,
                "--cpu" => request.cpu = value.to_string(),
                "--wrong" => request.wrong = Some(value.parse().ok()?),
                "--lockstep" => request.binary = Some(PathBuf::from(value)),
                _ => return None,
            }
        }
        Some(request)
    }
}

/// Faster by so much counts.
const FASTER: f64 = 1.15;
/// Programs of Hacker's Delight.
const DELIGHT: usize = 25;

/// A function and how it is run.
struct Case {
    group: String,
    file: String,
    function: String,
    arguments: Vec<String>,
    goal: String,
    options: Vec<String>,
    paper: Option<f64>,
}

/// Runs the table.
pub fn run(request: Request) -> Result<(), String> {
    tools::require(&[&tools::Z3, &tools::GCC, &tools::BINUTILS])?;
    tools::prefer(&[&tools::CLANG_19]);
    let binary = match &request.binary {
        Some(binary) => binary.canonicalize().map_err(|error| format!("{}: {error}", binary.display()))?,
        None => build::lockstep()?,
    };
    let folder = root().join("target/optimize");
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    if let Some(count) = request.wrong {
        return wrong(&binary, &folder, count);
    }
    let mut cases = cases()?;
    let wanted = |case: &Case| request.only.as_ref().is_none_or(|only| case.function == *only || case.group == *only);
    cases.retain(wanted);
    cases.truncate(request.limit);
    println!(
        "{:<12} {:<10} {:>8} {:>16} {:>7} {:>9} {:>7} {:>6}  origin",
        "group", "function", "speed-up", "interval", "paper", "bytes", "proof s", "s"
    );
    let mut gains = Vec::new();
    for case in &cases {
        match optimise(&binary, &folder, case, &request) {
            Ok(report) => {
                println!("{}", row(case, &report));
                gains.extend(speedup(&report).filter(|_| case.group == "conditional"));
            }
            Err(what) => println!("{:<12} {:<10} {what}", case.group, case.function),
        }
    }
    let faster: Vec<f64> = gains.iter().copied().filter(|gain| *gain >= FASTER).collect();
    if !gains.is_empty() {
        let mean = (faster.iter().map(|gain| gain.ln()).sum::<f64>() / faster.len().max(1) as f64).exp();
        println!("conditional: {} faster by {FASTER} or more, geometric mean of these {mean:.2}", faster.len());
    }
    Ok(())
}

fn cases() -> Result<Vec<Case>, String> {
    let path = root().join("bench/optimize/table.json");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let rows: Value = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let words = |value: &Value| value.as_array().into_iter().flatten().map(word).collect::<Vec<_>>();
    let case = |row: &Value| Case {
        group: word(&row["group"]),
        file: word(&row["file"]),
        function: word(&row["function"]),
        arguments: words(&row["arguments"]),
        goal: row["goal"].as_str().unwrap_or("latency").to_string(),
        options: words(&row["options"]),
        paper: row["paper"].as_f64(),
    };
    let mut out: Vec<Case> = rows.as_array().into_iter().flatten().map(case).collect();
    out.extend((1..=DELIGHT).map(|number| Case {
        group: "delight".to_string(),
        file: format!("hackers_delight/p{number:02}.c"),
        function: format!("p{number:02}"),
        arguments: Vec::new(),
        goal: "size".to_string(),
        options: Vec::new(),
        paper: None,
    }));
    Ok(out)
}

fn optimise(binary: &Path, folder: &Path, case: &Case, request: &Request) -> Result<Value, String> {
    let source = root().join("bench/optimize");
    let mut command = Command::new(binary);
    command.arg("optimize").arg(source.join(&case.file)).args(["--function", &case.function, "--format", "json"]);
    command.args(["--goal", &case.goal, "--cpu", &request.cpu, "--time", &request.time.to_string()]);
    command.args(case.arguments.iter().flat_map(|argument| ["--arg", argument]));
    for option in &case.options {
        // Files are named from the folder of the table.
        let path = source.join(option);
        if path.is_file() {
            command.arg(path)
        } else {
            command.arg(option)
        };
    }
    command.arg("-o").arg(folder.join(format!("{}.s", case.function)));
    let output = command.stderr(Stdio::piped()).output().map_err(|error| error.to_string())?;
    match output.status.code() {
        Some(0 | 2) => serde_json::from_slice(&output.stdout).map_err(|error| error.to_string()),
        _ => Err(String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or("failed").to_string()),
    }
}

fn speedup(report: &Value) -> Option<f64> {
    report["winner"]["speed"]["speedup"].as_f64()
}

fn row(case: &Case, report: &Value) -> String {
    let winner = &report["winner"];
    let number = |value: &Value, digits: usize| value.as_f64().map_or("-".to_string(), |n| format!("{n:.digits$}"));
    let interval = &winner["speed"]["interval"];
    let interval = match interval[0].as_f64() {
        Some(_) => format!("[{}, {}]", number(&interval[0], 2), number(&interval[1], 2)),
        None => "-".to_string(),
    };
    let bytes = format!("{}/{}", number(&winner["bytes"], 0), number(&report["rival_bytes"], 0));
    format!(
        "{:<12} {:<10} {:>8} {interval:>16} {:>7} {bytes:>9} {:>7} {:>6}  {}",
        case.group,
        case.function,
        number(&winner["speed"]["speedup"], 2),
        case.paper.map_or("-".to_string(), |paper| format!("{paper:.2}")),
        number(&winner["proof_seconds"], 1),
        number(&report["seconds"], 0),
        winner["origin"].as_str().unwrap_or("nothing better")
    )
}

/// Puts wrong versions, each smaller than the right one, into one run.
fn wrong(binary: &Path, folder: &Path, count: usize) -> Result<(), String> {
    let written = |name: String, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<_, String>(path)
    };
    let function = |body: &str| format!("\t.text\n\t.globl f\n\t.type f, @function\nf:\n{body}\tret\n\t.size f, .-f\n");
    let original = "\tmovl %edi, %eax\n\txorl %esi, %eax\n\timull $1000003, %eax, %eax\n\taddl %esi, %eax\n";
    let original = written("original.s".to_string(), function(original))?;
    let mut command = Command::new(binary);
    command.arg("optimize").arg(&original).args(["--function", "f", "--goal", "size", "--format", "json"]);
    for number in 0..count {
        // Another factor than the original's.
        let body = format!("\tmovl %edi, %eax\n\txorl %esi, %eax\n\timull ${number}, %eax, %eax\n");
        command.arg("--propose").arg(written(format!("wrong{number}.s"), function(&body))?);
    }
    let out = folder.join("wrong.s");
    let _ = std::fs::remove_file(&out);
    let output = command.args(["--time", "3600", "-o"]).arg(&out).output().map_err(|error| error.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
    let rows = report["rows"].as_array().map_or(0, |rows| rows.iter().filter(|row| row["state"] == "refuted").count());
    println!("{count} wrong versions: {rows} refuted, written: {}", if out.exists() { "one" } else { "none" });
    if out.exists() { Err("a wrong version was written".to_string()) } else { Ok(()) }
}
