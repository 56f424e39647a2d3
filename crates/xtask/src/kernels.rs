//! `cargo xtask bench kernels`: every variant of every C kernel, what lockstep says about it, and at what cost.
//!
//! The variants are made by the generator in `bench/kernels`, which has shown each right one to be right and each
//! wrong one to be wrong by running it. Its manifest says what to expect; here lockstep is held against it, one
//! process for all variants of a kernel.

use crate::{build, root, tools};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Most variants of one kernel.
    limit: usize,
}

impl Request {
    /// From the words after `bench kernels`.
    pub fn parse(words: &[&str]) -> Option<Request> {
        match words {
            [] => Some(Request { limit: usize::MAX }),
            ["--limit", number] => number.parse().ok().map(|limit| Request { limit }),
            _ => None,
        }
    }
}

/// The paper's time for its 1,487 variants (Schordan et al., ISoLA 2014).
const PAPER_SECONDS: f64 = 6521.0;
/// Seconds for one pair.
const TIMEOUT: &str = "300";
/// How often a single measurement is repeated; the best counts, because anything else on the machine only adds.
const REPEATS: usize = 15;

/// One variant and its expected verdict.
struct Case {
    kernel: String,
    original: PathBuf,
    candidate: PathBuf,
    params: Vec<(String, u64)>,
    expect: String,
    kind: String,
    place: Value,
}

/// What lockstep said.
struct Answer {
    verdict: String,
    detail: String,
    function: Value,
    seconds: f64,
}

impl Answer {
    fn updates(&self) -> u64 {
        self.function["updates"].as_u64().unwrap_or(0)
    }
}

/// Counts of one kernel.
#[derive(Default)]
struct Tally {
    variants: usize,
    right: usize,
    wrong: usize,
    unknown: usize,
    different: usize,
    exact: usize,
    near: usize,
    seconds: f64,
    /// Processor time, start and parsing included.
    processor: f64,
    updates: u64,
    /// Updates and processor time of one right variant at larger sizes.
    large: (u64, f64),
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.variants += other.variants;
        self.right += other.right;
        self.wrong += other.wrong;
        self.unknown += other.unknown;
        self.different += other.different;
        self.exact += other.exact;
        self.near += other.near;
        self.seconds += other.seconds;
        self.processor += other.processor;
        self.updates += other.updates;
        self.large = (self.large.0 + other.large.0, self.large.1 + other.large.1);
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name:16} {:>8} {:>6} {:>6} {:>8} {:>12} {:>9.1} {:>12} {:>11}",
            self.variants,
            self.right,
            self.wrong,
            self.unknown,
            format!("{}+{}/{}", self.exact, self.near, self.different),
            self.seconds * 1e3,
            self.updates,
            rate(self.large.0, self.large.1)
        )
    }
}

/// Million updates a second of processor time. That comes in hundredths of a second: too little of it says nothing.
fn rate(updates: u64, seconds: f64) -> String {
    if seconds >= 0.05 { format!("{:.1}", updates as f64 / seconds / 1e6) } else { "-".to_string() }
}

/// Generates, checks, prints. An error if a verdict is wrong or unknown.
pub fn run(request: Request) -> Result<(), String> {
    tools::require(&[&tools::CC, &tools::GCC, &tools::PYTHON])?;
    let lockstep = build::lockstep()?;
    let set = generate()?;
    let cases = cases(&set, request.limit)?;
    println!(
        "{:16} {:>8} {:>6} {:>6} {:>8} {:>12} {:>9} {:>12} {:>11}",
        "kernel", "variants", "right", "wrong", "unknown", "place", "ms", "updates", "large M/s"
    );
    println!(
        "large: updates a second of processor time, start and parsing included, of one right variant at {LARGE} times the sizes; - if too quick to measure"
    );
    let mut total = Tally::default();
    let mut failures = Vec::new();
    for group in cases.chunk_by(|a, b| a.kernel == b.kernel) {
        let before = children_seconds();
        let mut tally = measure(&lockstep, group, &mut failures)?;
        tally.processor = children_seconds() - before;
        tally.large = large(&lockstep, group)?;
        println!("{}", tally.line(&group[0].kernel));
        total.add(&tally);
    }
    println!("{}", total.line("all"));
    println!();
    let each = 1e3 / total.variants.max(1) as f64;
    println!(
        "{} variants, a process for each kernel: {:.1} s, {:.1} s of processor time; {:.1} and {:.1} ms a pair; the paper: 1487 variants in {PAPER_SECONDS:.0} s",
        total.variants,
        total.seconds,
        total.processor,
        total.seconds * each,
        total.processor * each
    );
    singles(&lockstep, &set, &cases)?;
    let list = set.join("failures.txt");
    std::fs::write(&list, failures.join("\n")).map_err(|e| format!("{}: {e}", list.display()))?;
    if failures.is_empty() {
        return Ok(());
    }
    for failure in failures.iter().take(20) {
        println!("{failure}");
    }
    Err(format!("{} variants are not judged as they should be: {}", failures.len(), list.display()))
}

fn measure(lockstep: &Path, group: &[Case], failures: &mut Vec<String>) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for (case, answer) in group.iter().zip(check_all(lockstep, group)?) {
        tally.variants += 1;
        tally.seconds += answer.seconds;
        tally.updates += answer.updates();
        let as_expected = answer.verdict == case.expect;
        if as_expected {
            tally.right += 1;
        } else if answer.verdict == "unknown" {
            tally.unknown += 1;
        } else {
            tally.wrong += 1;
        }
        let mut complaint = None;
        if !as_expected {
            complaint = Some(format!("{} instead of {} {}", answer.verdict, case.expect, answer.detail));
        }
        if as_expected && case.expect == "different" {
            tally.different += 1;
            match named_place(case, &answer.function) {
                Named::Exactly => tally.exact += 1,
                Named::Nearly => tally.near += 1,
                Named::Otherwise(why) => complaint = Some(format!("place: {why}")),
            }
        }
        if let Some(text) = complaint {
            failures.push(format!("{} [{}]: {text}", case.candidate.display(), case.kind));
        }
    }
    Ok(tally)
}

/// Sizes of the measurement where updates count and starting does not.
const LARGE: u64 = 4;

/// Updates and processor time of the first right variant of a kernel, with all its sizes larger.
fn large(lockstep: &Path, group: &[Case]) -> Result<(u64, f64), String> {
    let tiled = |c: &&Case| c.expect == "equivalent" && c.kind.contains("tiled");
    let right = |c: &&Case| c.expect == "equivalent";
    let Some(case) = group.iter().find(tiled).or_else(|| group.iter().find(right)) else { return Ok((0, 0.0)) };
    let sizes: Vec<(String, u64)> = case.params.iter().map(|(name, value)| (name.clone(), LARGE * value)).collect();
    let before = children_seconds();
    let answer = check(lockstep, case, &sizes)?;
    let seconds = children_seconds() - before;
    Ok(if answer.verdict == "equivalent" { (answer.updates(), seconds) } else { (0, 0.0) })
}

/// Mistakes inside one statement: the first instance that goes wrong must be one of that statement.
const IN_STATEMENT: [&str; 7] =
    ["operator", "operand", "operand-order", "reassociation", "constant", "comparison", "precision"];

/// How well a report names the place of a difference.
enum Named {
    /// The instance or statement that the generator knows to be the first.
    Exactly,
    /// Another end of a broken dependence; or the generator knows only the cells, and they agree.
    Nearly,
    /// Something else.
    Otherwise(String),
}

/// Holds the place named in a report against what the generator knows.
fn named_place(case: &Case, function: &Value) -> Named {
    let (place, witness) = (&case.place, &function["witness"]);
    let dependence = &witness["dependence"];
    let named = &dependence["original"];
    if dependence["kind"] == "undefined" && !dependence["candidate"].is_null() {
        return Named::Exactly;
    }
    if place["lines"].is_array() {
        let lines = place["lines"].as_array().map_or(&[][..], Vec::as_slice);
        let first = if place["first"].is_null() { &place["first_end"] } else { &place["first"] };
        return if same_instance(named, first) {
            Named::Exactly
        } else if lines.contains(&named["line"]) {
            Named::Nearly
        } else {
            Named::Otherwise(format!("{named} instead of {first}"))
        };
    }
    if IN_STATEMENT.contains(&case.kind.as_str()) && !place["original_line"].is_null() {
        // The statement may be one of a helper function.
        let own = if named["inside"].is_null() { &named["line"] } else { &named["inside"]["line"] };
        let same = *own == place["original_line"];
        let other = || Named::Otherwise(format!("{named} instead of line {}", place["original_line"]));
        return if same { Named::Exactly } else { other() };
    }
    if place["broken"].is_object() {
        return broken_instance(&place["broken"], dependence);
    }
    let cells = place["cells"].as_array().map_or(&[][..], Vec::as_slice);
    let array = witness["cell"].as_str().unwrap_or_default().split('[').next().unwrap_or_default();
    let least: u64 = cells.iter().filter_map(|c| c["count"].as_u64()).sum();
    let count = witness["wrong_cells"].as_u64().unwrap_or(0);
    if !cells.is_empty() && !cells.iter().any(|c| c["array"] == array) {
        Named::Otherwise(format!("cell {} instead of {}", witness["cell"], place["cells"]))
    } else if count < least {
        Named::Otherwise(format!("{count} wrong cells, a run shows {least}"))
    } else {
        Named::Nearly
    }
}

/// Holds the named dependence against the first write that a run of the kernel makes and one of the variant does not (or the
/// reverse). It may be either end: the instance that reads something else, or the write that it should have read.
fn broken_instance(broken: &Value, dependence: &Value) -> Named {
    let (original, candidate) = (&broken["original"], &broken["candidate"]);
    let exact = if original.is_null() {
        same_instance(&dependence["candidate"], candidate)
    } else {
        let ends = [&dependence["original"], &dependence["reading"]["expected"]];
        ends.iter().any(|end| same_instance(end, original))
    };
    let known = if original.is_null() { candidate } else { original };
    let named = if original.is_null() { &dependence["candidate"] } else { &dependence["original"] };
    if exact {
        Named::Exactly
    } else if named.is_null() {
        Named::Otherwise(format!("no instance instead of {known}"))
    } else {
        Named::Nearly
    }
}

/// Is this the statement instance that the generator means? A choice on data is one statement of several lines to it.
fn same_instance(named: &Value, known: &Value) -> bool {
    let (Some(line), Some(from)) = (named["line"].as_u64(), known["line"].as_u64()) else { return false };
    let until = known["until"].as_u64().unwrap_or(from);
    (from..=until).contains(&line) && named["iterators"] == known["iterators"]
}

/// Checks all variants of a kernel, those of the same sizes in one process; the answers in the same order.
fn check_all(lockstep: &Path, group: &[Case]) -> Result<Vec<Answer>, String> {
    let mut answers: Vec<Option<Answer>> = group.iter().map(|_| None).collect();
    while let Some(first) = answers.iter().position(Option::is_none) {
        let params = &group[first].params;
        let members: Vec<usize> =
            (0..group.len()).filter(|at| answers[*at].is_none() && group[*at].params == *params).collect();
        let directory = root().join("target/kernels/members");
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).map_err(|e| format!("{}: {e}", directory.display()))?;
        let mut files = Vec::new();
        for at in &members {
            let copy = directory.join(group[*at].candidate.file_name().unwrap_or_default());
            std::fs::copy(&group[*at].candidate, &copy).map_err(|e| format!("{}: {e}", copy.display()))?;
            files.push(copy);
        }
        let start = Instant::now();
        let output = command(lockstep, &group[first].original, &directory, params).output();
        let output = output.map_err(|e| e.to_string())?;
        let seconds = start.elapsed().as_secs_f64() / members.len() as f64;
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        let functions = report["functions"].as_array().map_or(&[][..], Vec::as_slice);
        for (at, file) in members.iter().zip(files) {
            let name = file.display().to_string();
            let function = functions.iter().find(|f| f["candidate_file"] == name.as_str());
            answers[*at] = Some(answer(function.cloned().unwrap_or(Value::Null), &output, seconds));
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

fn command(lockstep: &Path, original: &Path, candidate: &Path, params: &[(String, u64)]) -> Command {
    let mut command = Command::new(lockstep);
    command.arg("check").args([original, candidate]);
    for (name, value) in params {
        command.args(["--param", &format!("{name}={value}")]);
    }
    command.args(["--format", "json", "--stats", "--timeout", TIMEOUT]);
    command
}

fn check(lockstep: &Path, case: &Case, params: &[(String, u64)]) -> Result<Answer, String> {
    let start = Instant::now();
    let output = command(lockstep, &case.original, &case.candidate, params).output().map_err(|e| e.to_string())?;
    let seconds = start.elapsed().as_secs_f64();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ok(answer(report["functions"][0].clone(), &output, seconds))
}

/// What lockstep said about a function.
fn answer(function: Value, output: &Output, seconds: f64) -> Answer {
    let verdict = function["verdict"].as_str().unwrap_or("unknown").to_string();
    let detail = if function.is_null() {
        format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())
    } else {
        let reason = &function["reason"];
        [&reason["kind"], &reason["detail"]].iter().filter_map(|v| v.as_str()).collect::<Vec<_>>().join(": ")
    };
    Answer { verdict, detail, function, seconds }
}

/// The two measurements of one pair: small, where starting and parsing count, and large, where updates do.
fn singles(lockstep: &Path, set: &Path, cases: &[Case]) -> Result<(), String> {
    let tiled = |c: &&Case| c.kernel == "3mm" && c.expect == "equivalent" && c.kind.contains("tiled");
    let Some(case) = cases.iter().find(tiled) else {
        println!("no tiled 3mm in the set: the single measurements are left out");
        return Ok(());
    };
    let name = case.candidate.strip_prefix(set).unwrap_or(&case.candidate).display();
    let before = children_seconds();
    let best = (0..REPEATS)
        .map(|_| check(lockstep, case, &case.params).map(|a| a.seconds))
        .collect::<Result<Vec<f64>, String>>()?
        .into_iter()
        .fold(f64::INFINITY, f64::min);
    println!(
        "3mm against {name} at N=16: {:.1} ms, the best of {REPEATS}; {:.1} ms of processor time on average (the paper: 12,700 ms)",
        best * 1e3,
        (children_seconds() - before) / REPEATS as f64 * 1e3
    );
    let before = children_seconds();
    let large = [("N".to_string(), 256)];
    let start = Instant::now();
    let mut child = command(lockstep, &case.original, &case.candidate, &large)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    let status = PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak = 0;
    while child.try_wait().map_err(|e| e.to_string())?.is_none() {
        peak = peak.max(resident_kilobytes(&status));
        std::thread::sleep(Duration::from_millis(10));
    }
    let seconds = start.elapsed().as_secs_f64();
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    let function = &report["functions"][0];
    let (updates, processor) = (function["updates"].as_u64().unwrap_or(0), children_seconds() - before);
    println!(
        "3mm against {name} at N=256: {} in {seconds:.1} s, {processor:.1} s of processor time, {:.0} MB at the peak, {updates} updates, {:.1} M updates/s",
        function["verdict"].as_str().unwrap_or("no verdict"),
        peak as f64 / 1024.0,
        updates as f64 / processor.max(0.01) / 1e6
    );
    Ok(())
}

/// Processor time of all child processes that have ended, in seconds: what counts when the machine has other work.
fn children_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in parentheses: state is field 3, cutime and cstime are 16 and 17, in hundredths (proc(5)).
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(13).take(2);
    fields.filter_map(|f| f.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Most memory the process ever had, in kilobytes; 0 when it is gone.
fn resident_kilobytes(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.split_whitespace().next()).and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// Makes the set under `target`, unless it is there and newer than the generator.
fn generate() -> Result<PathBuf, String> {
    let base = root().join("target/kernels");
    let (environment, set) = (base.join("python"), base.join("set"));
    let sources = root().join("bench/kernels");
    let manifest = set.join("manifest.json");
    if changed(&manifest) > newest(&sources)? {
        println!("variants of {}", set.display());
        return Ok(set);
    }
    let python = environment.join("bin/python");
    if !python.exists() {
        let venv = || {
            let mut command = Command::new("python3");
            command.args(["-m", "venv", "--clear"]).arg(&environment);
            build::succeed(&mut command, "python3 -m venv")
        };
        // Debian has python3 without venv.
        if venv().is_err() {
            tools::fetch(&["python3-venv"]);
            venv()?;
        }
    }
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
    install.arg(sources.join("requirements.txt"));
    build::succeed(&mut install, "pip install")?;
    println!("generating the variants in {}", set.display());
    let mut generator = Command::new(&python);
    generator.arg(sources.join("generate/generate.py")).arg("--out").arg(&set);
    build::succeed(&mut generator, "generating the variants")?;
    Ok(set)
}

fn changed(file: &Path) -> Option<std::time::SystemTime> {
    file.metadata().and_then(|m| m.modified()).ok()
}

fn newest(directory: &Path) -> Result<Option<std::time::SystemTime>, String> {
    let entries = std::fs::read_dir(directory).map_err(|e| format!("{}: {e}", directory.display()))?;
    let mut latest = None;
    for path in entries.filter_map(|e| e.ok().map(|e| e.path())) {
        let skip = path.ends_with("__pycache__") || path.ends_with("sample");
        let time = if path.is_dir() && !skip { newest(&path)? } else { changed(&path).filter(|_| !skip) };
        latest = latest.max(time);
    }
    Ok(latest)
}

fn cases(set: &Path, limit: usize) -> Result<Vec<Case>, String> {
    let manifest = set.join("manifest.json");
    let text = std::fs::read_to_string(&manifest).map_err(|e| format!("{}: {e}", manifest.display()))?;
    let entries: Vec<Value> = serde_json::from_str(&text).map_err(|e| format!("{}: {e}", manifest.display()))?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let all = entries.iter().map(|e| Case {
        kernel: word(&e["kernel"]),
        original: set.join(word(&e["original"])),
        candidate: set.join(word(&e["candidate"])),
        params: e["params"]
            .as_object()
            .map(|o| o.iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap_or(0))).collect())
            .unwrap_or_default(),
        expect: word(&e["expect"]),
        kind: word(&e["kind"]),
        place: e["place"].clone(),
    });
    // A third of a limited set is wrong variants, as in the whole.
    let wrong = limit.div_ceil(3);
    let mut kept: Vec<Case> = Vec::new();
    for case in all {
        let most = if case.expect == "different" { wrong } else { limit - wrong };
        let same = |k: &&Case| k.kernel == case.kernel && k.expect == case.expect;
        if kept.iter().filter(same).count() < most {
            kept.push(case);
        }
    }
    Ok(kept)
}
