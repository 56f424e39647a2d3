//! `cargo xtask bench regalloc`: register allocation of real programs, wrong allocations, and the time beside llc's.
//!
//! The files come from `mir.py build` and `mir.py mutate` (see docs/regalloc.md) and lie in `target/mir`, or where
//! `LOCKSTEP_MIR` points. All times are processor time, because the clock on the wall also measures what else the machine
//! does: lockstep's is that of the checking thread, reading the files apart; llc's is its own for the passes between the
//! two files, user and system together, as a thread's time is.

use crate::{build, harmless, root};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes of llc between the two files, as `-time-passes` names them.
const ALLOCATE: [&str; 2] = ["Greedy Register Allocator", "Virtual Register Rewriter"];
const LOWER: [&str; 8] = [
    "Live Variable Analysis",
    "Eliminate PHI nodes for register allocation",
    "Two-Address instruction pass",
    "Slot index numbering",
    "Live Interval Analysis",
    "Register Coalescer",
    "Rename Disconnected Subregister Components",
    "Machine Instruction Scheduler",
];

/// One level and allocator; times in milliseconds.
#[derive(Default)]
struct Row {
    functions: usize,
    proved: usize,
    different: usize,
    unknown: usize,
    cpu: f64,
    slowest: f64,
    reading: f64,
}

/// The rows of one span, and its largest function.
#[derive(Default)]
struct Table {
    rows: BTreeMap<(String, String), Row>,
    /// What llc's greedy allocator took for all functions, in milliseconds.
    greedy: f64,
    /// The allocator's pass alone, user time only: the least that one may compare with.
    alone: f64,
    largest: Option<Large>,
}

struct Large {
    /// Instructions before allocation.
    size: usize,
    name: String,
    allocator: String,
    verdict: String,
    cpu: f64,
}

/// What to measure, and with which binary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    mutants_only: bool,
    /// `None` builds the release binary.
    lockstep: Option<PathBuf>,
}

impl Request {
    /// From the words after `bench regalloc`; `None` if they make no sense.
    pub fn parse(words: &[&str]) -> Option<Request> {
        let (mutants_only, rest) = match words {
            ["mutants", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        match rest {
            [] => Some(Request { mutants_only, lockstep: None }),
            ["--lockstep", path] => Some(Request { mutants_only, lockstep: Some(PathBuf::from(path)) }),
            _ => None,
        }
    }
}

/// Runs everything and prints the tables.
pub fn run(request: Request) -> Result<(), String> {
    let directory = std::env::var_os("LOCKSTEP_MIR").map_or_else(|| root().join("target/mir"), PathBuf::from);
    if !directory.join("mir").is_dir() {
        return Err(format!(
            "there is no Machine IR in {}; make some with\n  python3 ../shared/mir/mir.py build --dir target/mir\n  \
             python3 ../shared/mir/mir.py mutate --dir target/mir --count 560 --base O2.post-greedy,O2.post-basic,O0.post-fast",
            directory.display()
        ));
    }
    let lockstep = request.lockstep.map_or_else(build::lockstep, Ok)?;
    if request.mutants_only {
        println!("{}", mutants(&lockstep, &directory)?);
        return Ok(());
    }
    let files = after_files(&directory.join("mir"))?;
    // Two at a time: what is measured is processor time.
    let (lost, mutants) = std::thread::scope(|scope| {
        let mutants = scope.spawn(|| mutants(&lockstep, &directory));
        (pairs(&lockstep, &files), mutants.join().unwrap_or_else(|_| Err("a panic about the mutants".to_string())))
    });
    let lost = lost?;
    println!("\n{}", mutants?);
    if lost > 0 {
        return Err(format!("{lost} false alarms"));
    }
    Ok(())
}

/// Dumps from after allocation, mutants left out.
fn after_files(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let list = |path: &Path| {
        let entries = std::fs::read_dir(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok::<Vec<PathBuf>, String>(entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
    };
    let mut files = Vec::new();
    for program in list(directory)? {
        files.extend(list(&program)?.into_iter().filter(|path| {
            let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            name.contains(".post-") && name.ends_with(".mir") && !name.contains(".mut")
        }));
    }
    files.sort();
    Ok(files)
}

/// Stem, level and allocator of `stem.O2.post-greedy.mir`.
fn parts(after: &Path) -> Option<(String, String, String)> {
    let text = after.to_str()?;
    let (stem, rest) = text.rsplit_once(".post-")?;
    let level = stem.rsplit_once('.')?.1;
    Some((stem.to_string(), level.to_string(), rest.strip_suffix(".mir")?.to_string()))
}

const SPANS: [&str; 2] = ["pre", "ssa"];

/// All pairs of both spans. Returns how many were wrongly called different.
fn pairs(lockstep: &Path, files: &[PathBuf]) -> Result<usize, String> {
    let mut tables: [Table; SPANS.len()] = Default::default();
    for after in files {
        let Some((stem, level, allocator)) = parts(after) else { continue };
        // llc and lockstep in turn, so that a slow minute of the machine slows both. Only the greedy allocator is timed.
        let greedy = if allocator == "greedy" { llc_passes(&format!("{stem}.bc"), &level)? } else { String::new() };
        for (span, table) in SPANS.iter().zip(&mut tables) {
            let before = PathBuf::from(format!("{stem}.{span}.mir"));
            let report = check(lockstep, &before, after, None)?;
            let row = table.rows.entry((level.clone(), allocator.clone())).or_default();
            table.greedy += milliseconds_between(&greedy, span);
            table.alone += milliseconds_of(&greedy, USER, |pass| pass == ALLOCATE[0]);
            row.reading += report["reading_cpu_ms"].as_f64().ok_or("lockstep gives no `reading_cpu_ms`")?;
            table.add(&report, &before, (level.clone(), allocator.clone()))?;
        }
    }
    for (span, table) in SPANS.iter().zip(&tables) {
        table.print(span);
    }
    Ok(tables.iter().flat_map(|table| table.rows.values()).map(|row| row.different).sum())
}

impl Table {
    fn add(&mut self, report: &Value, before: &Path, key: (String, String)) -> Result<(), String> {
        let row = self.rows.entry(key.clone()).or_default();
        let text = std::fs::read_to_string(before).map_err(|e| format!("{}: {e}", before.display()))?;
        let sizes = sizes(&text);
        for function in functions(report) {
            let cpu = function["statistics"]["cpu_ms"].as_f64().unwrap_or(0.0);
            row.functions += 1;
            row.cpu += cpu;
            row.slowest = row.slowest.max(cpu);
            match function["verdict"].as_str() {
                Some("equivalent") => row.proved += 1,
                Some("different") => row.different += 1,
                _ => row.unknown += 1,
            }
            let name = function["name"].as_str().unwrap_or_default();
            let size = sizes.get(name).copied().unwrap_or(0);
            if self.largest.as_ref().is_none_or(|l| l.size < size || l.size == size && l.cpu < cpu) {
                self.largest = Some(Large {
                    size,
                    name: name.to_string(),
                    allocator: format!("{} {}", key.0, key.1),
                    verdict: function["verdict"].as_str().unwrap_or_default().to_string(),
                    cpu,
                });
            }
        }
        Ok(())
    }

    fn greedy_row(&self) -> Option<&Row> {
        self.rows.iter().find(|((_, allocator), _)| allocator == "greedy").map(|(_, row)| row)
    }

    fn print(&self, span: &str) {
        println!(
            "\nspan {span} to post: milliseconds of processor time a function; ratio: all checks to llc with greedy"
        );
        println!("level allocator functions  proved       %  different unknown   check  slowest  reading   ratio");
        for ((level, allocator), row) in &self.rows {
            let n = row.functions.max(1) as f64;
            // At -O0 llc runs other passes.
            let ratio = if level == "O0" { "-".to_string() } else { format!("{:.2}", row.cpu / self.greedy.max(1e-9)) };
            println!(
                "{level:5} {allocator:9} {:9} {:7} {:7.2} {:10} {:7} {:7.3} {:8.1} {:8.3} {ratio:>7}",
                row.functions,
                row.proved,
                100.0 * row.proved as f64 / n,
                row.different,
                row.unknown,
                row.cpu / n,
                row.slowest,
                row.reading / n
            );
        }
        if let Some(row) = self.greedy_row() {
            let mean = self.greedy / row.functions.max(1) as f64;
            println!("llc with greedy: {:.1} ms, {mean:.3} a function", self.greedy);
            let ratio = row.cpu / self.alone.max(1e-9);
            println!(
                "its allocator's pass alone, user time only: {:.1} ms, ratio of the greedy row {ratio:.2}",
                self.alone
            );
        }
        if let Some(Large { size, name, allocator, verdict, cpu }) = &self.largest {
            println!("largest: {name}, {size} instructions before allocation, {allocator}: {verdict} in {cpu:.1} ms");
        }
    }
}

fn functions(report: &Value) -> &[Value] {
    report["functions"].as_array().map_or(&[], Vec::as_slice)
}

/// How many instructions each function of a dump has: one a line, indented below its block.
fn sizes(text: &str) -> HashMap<&str, usize> {
    let mut sizes = HashMap::new();
    let (mut name, mut in_body) = ("", false);
    for line in text.lines() {
        if let Some(new) = line.strip_prefix("name:") {
            name = new.trim().trim_matches(['\'', '"']);
        }
        if !line.starts_with(' ') {
            in_body = line.starts_with("body:");
        }
        let inside = line.strip_prefix("    ").map(str::trim_start).filter(|_| in_body).unwrap_or("");
        let other = ["successors:", "liveins:", "}", ";"];
        if !inside.is_empty() && !other.iter().any(|start| inside.starts_with(start)) {
            *sizes.entry(name).or_default() += 1;
        }
    }
    sizes
}

/// What lockstep says about a pair of files.
fn check(lockstep: &Path, before: &Path, after: &Path, function: Option<&str>) -> Result<Value, String> {
    let mut command = Command::new(lockstep);
    command.arg("check").arg(before).arg(after).args(["--format", "json", "--jobs", "1", "--stats"]);
    if let Some(name) = function {
        command.args(["--function", name]);
    }
    let output = command.output().map_err(|e| format!("lockstep: {e}"))?;
    let failed = || format!("{}: {}", after.display(), String::from_utf8_lossy(&output.stderr).trim());
    let report: Value = serde_json::from_slice(&output.stdout).map_err(|_| failed())?;
    if report["functions"].is_array() { Ok(report) } else { Err(failed()) }
}

/// What llc prints about the time of its passes with the greedy allocator.
fn llc_passes(bitcode: &str, level: &str) -> Result<String, String> {
    let mut command = Command::new("llc-19");
    command.arg(format!("-{level}")).args(["-regalloc=greedy", "-time-passes", bitcode, "-o", "/dev/null"]);
    let output = command.output().map_err(|e| format!("llc-19: {e}"))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(text) } else { Err(format!("{bitcode}: llc-19: {}", text.trim())) }
}

/// Milliseconds of processor time, user and system, that llc spent between the two files of a span.
fn milliseconds_between(passes: &str, span: &str) -> f64 {
    milliseconds_of(passes, BOTH, |name| ALLOCATE.contains(&name) || span == "ssa" && LOWER.contains(&name))
}

/// Columns of llc's table, counted from the last: wall, user and system, system, user.
const BOTH: usize = 1;
const USER: usize = 3;

fn milliseconds_of(passes: &str, column: usize, wanted: impl Fn(&str) -> bool) -> f64 {
    let mut total = 0.0;
    for line in passes.lines() {
        // `0.0012 ( 3.1%)   0.0003 (...)   0.0015 (...)   0.0015 (...)  Name #2`.
        let Some((times, name)) = line.rsplit_once(")  ") else { continue };
        let columns: Vec<f64> =
            times.split('(').filter_map(|c| c.rsplit(' ').find(|w| !w.is_empty())?.parse().ok()).collect();
        if wanted(name.split(" #").next().unwrap_or("").trim()) {
            total += columns.iter().rev().nth(column).copied().unwrap_or(0.0);
        }
    }
    total * 1000.0
}

/// Wrong allocations: what lockstep says, whether it names the right place, and what llc's verifier says.
fn mutants(lockstep: &Path, directory: &Path) -> Result<String, String> {
    let Ok(text) = std::fs::read_to_string(directory.join("MUTANTS.csv")) else {
        return Ok("no mutants: make some with mir.py mutate".to_string());
    };
    let mut table: BTreeMap<String, [usize; 7]> = BTreeMap::new();
    let (mut proved, mut open) = (Vec::new(), Vec::new());
    let mut unshown = 0;
    let mut code = Code::default();
    for line in text.lines().skip(1) {
        let fields = csv_fields(line);
        let [path, function, number, kind, verifier, original, mutated] = fields.as_slice() else { continue };
        let after = directory.join(path);
        let before = path.split_once(".post-").map_or(path.clone(), |(stem, _)| format!("{stem}.pre.mir"));
        let report = check(lockstep, &directory.join(before), &after, Some(function))?;
        let Some(found) = functions(&report).first() else { continue };
        let block = block_of_line(&after, number.parse().unwrap_or(0));
        let path_holds = found["witness"]["allocation"]["path"]
            .as_array()
            .is_some_and(|path| block.is_none_or(|block| path.iter().any(|b| b.as_u64() == Some(u64::from(block)))));
        // A mutant that was refuted is not harmless; of the others it is asked.
        let why = if found["verdict"] == "different" { None } else { why_harmless(&after, function, &mut code) };
        for key in [kind.as_str(), "total"] {
            let row = table.entry(key.to_string()).or_default();
            row[0] += 1;
            match found["verdict"].as_str() {
                Some("different") => row[1] += 1,
                Some("equivalent") => row[3] += 1,
                _ => row[2] += 1,
            }
            row[4] += usize::from(path_holds);
            row[5] += usize::from(verifier != "accepts");
            row[6] += usize::from(why.is_some());
        }
        let line = format!("  {path}:{number} {function}: `{original}` became `{mutated}`");
        match (found["verdict"].as_str(), why) {
            (Some("equivalent"), why) => {
                unshown += usize::from(why.is_none());
                proved.push(format!("{line}: {}", why.unwrap_or_else(|| "NOT SHOWN HARMLESS".to_string())));
            }
            (Some("different"), _) | (_, Some(_)) => {}
            (_, None) => open.push(format!("{line}: {}", found["reason"]["detail"].as_str().unwrap_or_default())),
        }
    }
    let mut out =
        "mutants            count different unknown  proved  harmless  right place  of harmful  llc's verifier\n"
            .to_string();
    for (kind, [count, different, unknown, equivalent, place, rejected, harmless]) in &table {
        let share = 100.0 * *place as f64 / (count - harmless).max(1) as f64;
        out += &format!(
            "{kind:18} {count:5} {different:9} {unknown:7} {equivalent:7} {harmless:9} {place:12} {share:10.1}% {rejected:15}\n"
        );
    }
    out +=
        &format!("\n{} proved, {unshown} of them not shown harmless otherwise:\n{}", proved.len(), proved.join("\n"));
    out += &format!("\n\n{} unknown and not shown harmless:\n{}", open.len(), open.join("\n"));
    Ok(out)
}

/// What llc makes of files from after allocation.
#[derive(Default)]
struct Code {
    known: HashMap<PathBuf, Option<Vec<u8>>>,
}

impl Code {
    fn of(&mut self, file: &Path) -> Option<Vec<u8>> {
        if let Some(known) = self.known.get(file) {
            return known.clone();
        }
        let unoptimised = file.to_str().is_some_and(|name| name.contains(".O0."));
        let (level, pass) = if unoptimised { ("-O0", "regallocfast") } else { ("-O2", "virtregrewriter") };
        let mut command = Command::new("llc-19");
        command.args([level, &format!("-start-after={pass}"), "-filetype=obj", "-o", "-"]).arg(file);
        let output = command.output().ok();
        let made = output.filter(|output| output.status.success()).map(|output| output.stdout);
        self.known.insert(file.to_path_buf(), made.clone());
        made
    }
}

/// Why a mutant does what the file it was made from does.
fn why_harmless(mutant: &Path, function: &str, code: &mut Code) -> Option<String> {
    let (stem, _) = mutant.to_str()?.rsplit_once(".mut")?;
    let (right, changed) = (code.of(Path::new(&format!("{stem}.mir"))), code.of(mutant));
    if right.is_some() && right == changed {
        return Some("it becomes the same object code".to_string());
    }
    let mut names = machine::Names::new();
    let mut read = |path: &Path| {
        let text = std::fs::read_to_string(path).ok()?;
        let module = lift_mir::Module::parse(&text, &mut names).ok()?;
        module.functions.into_iter().find(|f| f.name == function)
    };
    let (good, bad) = (read(Path::new(&format!("{stem}.mir")))?, read(mutant)?);
    harmless::argue(&good, &bad, &names)
}

fn csv_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                fields.last_mut().expect("one field at least").push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => fields.last_mut().expect("one field at least").push(other),
        }
    }
    fields
}

/// Number of the block that a line of a dump belongs to.
fn block_of_line(file: &Path, line: usize) -> Option<u32> {
    let text = std::fs::read_to_string(file).ok()?;
    let lines: Vec<&str> = text.lines().take(line).collect();
    // A line of the header belongs to no block.
    let header = lines.into_iter().rev().take_while(|l| *l != "---").find(|l| l.starts_with("  bb."))?;
    let digits: String = header[5..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_names_a_part_and_a_binary() {
        let request = Request { mutants_only: true, lockstep: Some(PathBuf::from("x/lockstep")) };
        assert_eq!(Request::parse(&["mutants", "--lockstep", "x/lockstep"]), Some(request));
        assert_eq!(Request::parse(&[]), Some(Request { mutants_only: false, lockstep: None }));
        assert_eq!(Request::parse(&["pairs"]), None);
    }

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(csv_fields(r#"a,"b, ""c""",d"#), ["a", r#"b, "c""#, "d"]);
    }

    #[test]
    fn llc_gives_user_and_system_time() {
        let passes = "   ---User Time---   --System Time--   --User+System--   ---Wall Time---  --- Name ---\n   \
                      0.0040 (  3.0%)   0.0012 (  2.6%)   0.0051 (  2.9%)   0.7383 (  8.4%)  Greedy Register Allocator\n   \
                      0.0031 (  1.6%)   0.0005 (  1.5%)   0.0036 (  1.6%)   0.0036 (  0.0%)  Register Coalescer #2\n   \
                      0.0001 (  0.1%)   0.0000 (  0.1%)   0.0001 (  0.1%)   0.0001 (  0.0%)  Virtual Register Map\n";
        assert_eq!((milliseconds_between(passes, "pre") * 10.0).round(), 51.0);
        assert_eq!((milliseconds_between(passes, "ssa") * 10.0).round(), 87.0);
        assert_eq!((milliseconds_of(passes, USER, |pass| pass == ALLOCATE[0]) * 10.0).round(), 40.0);
    }

    #[test]
    fn instructions_are_lines_of_a_body() {
        let text = "---\nname:            f\nstack:\n    x: 1\nbody:             |\n  bb.0:\n    successors: %bb.1\n  \n    \
                    %0:gr64 = COPY $rdi\n    JMP_1 %bb.1\n  bb.1:\n    RET 0\n...\n";
        assert_eq!(sizes(text), HashMap::from([("f", 3)]));
    }

    #[test]
    fn names_of_dumps_have_three_parts() {
        let parts = parts(Path::new("x/lua.p01.O2.post-greedy.mir")).expect("a dump");
        assert_eq!(parts, ("x/lua.p01.O2".to_string(), "O2".to_string(), "greedy".to_string()));
    }
}
