//! `cargo xtask bench regalloc`: register allocation of real programs, wrong allocations, and the time beside llc's.
//!
//! The files come from `mir.py build` and `mir.py mutate` (see docs/regalloc.md) and lie in `target/mir`, or where
//! `LOCKSTEP_MIR` points. Times of functions are those that lockstep reports, on one thread, parsing apart; llc's are its
//! own for the passes between the two files.

use crate::{build, harmless, root};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Passes of llc between the two files, as `-time-passes` names them.
const ALLOCATE: [&str; 5] = [
    "Fast Register Allocator",
    "Basic Register Allocator",
    "Greedy Register Allocator",
    "PBQP Register Allocator",
    "Virtual Register Rewriter",
];
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

#[derive(Default)]
struct Row {
    functions: usize,
    proved: usize,
    different: usize,
    unknown: usize,
    time: f64,
    slowest: f64,
    llc: f64,
    cpu: f64,
}

/// Runs everything and prints the tables.
pub fn run() -> Result<(), String> {
    let directory = std::env::var_os("LOCKSTEP_MIR").map_or_else(|| root().join("target/mir"), PathBuf::from);
    if !directory.join("mir").is_dir() {
        return Err(format!(
            "there is no Machine IR in {}; make some with\n  python3 ../shared/mir/mir.py build --dir target/mir\n  \
             python3 ../shared/mir/mir.py mutate --dir target/mir --count 560 --base O2.post-greedy,O2.post-basic,O0.post-fast",
            directory.display()
        ));
    }
    let lockstep = build::lockstep()?;
    let files = after_files(&directory.join("mir"))?;
    let mut lost = 0;
    for span in ["pre", "ssa"] {
        lost += pairs(&lockstep, &files, span)?;
    }
    mutants(&lockstep, &directory)?;
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

/// All pairs of one span. Returns how many were wrongly called different.
fn pairs(lockstep: &Path, files: &[PathBuf], span: &str) -> Result<usize, String> {
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for after in files {
        let Some((stem, level, allocator)) = parts(after) else { continue };
        let before = PathBuf::from(format!("{stem}.{span}.mir"));
        let cpu = children_cpu();
        let functions = check(lockstep, &before, after, None)?;
        let row = rows.entry((level.clone(), allocator.clone())).or_default();
        row.cpu += children_cpu() - cpu;
        for function in functions {
            let time = function["time_ms"].as_f64().unwrap_or(0.0);
            row.functions += 1;
            row.time += time;
            row.slowest = row.slowest.max(time);
            match function["verdict"].as_str() {
                Some("equivalent") => row.proved += 1,
                Some("different") => row.different += 1,
                _ => row.unknown += 1,
            }
        }
        row.llc += llc_time(&format!("{stem}.bc"), &level, &allocator, span);
    }
    println!(
        "\nspan {span} to post: milliseconds; mean and slowest of a function, ratio to llc's passes, CPU with parsing"
    );
    println!(
        "level allocator functions  proved       %  different unknown    mean  slowest   llc mean  ratio  cpu mean"
    );
    for ((level, allocator), row) in &rows {
        let n = row.functions.max(1) as f64;
        println!(
            "{level:5} {allocator:9} {:9} {:7} {:7.2} {:10} {:7} {:7.3} {:8.1} {:10.3} {:6.2} {:9.3}",
            row.functions,
            row.proved,
            100.0 * row.proved as f64 / n,
            row.different,
            row.unknown,
            row.time / n,
            row.slowest,
            row.llc / n,
            row.time / row.llc.max(1e-9),
            row.cpu / n
        );
    }
    Ok(rows.values().map(|row| row.different).sum())
}

/// What lockstep says about each function of a pair of files.
fn check(lockstep: &Path, before: &Path, after: &Path, function: Option<&str>) -> Result<Vec<Value>, String> {
    let mut command = Command::new(lockstep);
    command.arg("check").arg(before).arg(after).args(["--format", "json", "--jobs", "1"]);
    if let Some(name) = function {
        command.args(["--function", name]);
    }
    let output = command.output().map_err(|e| format!("lockstep: {e}"))?;
    let failed = || format!("{}: {}", after.display(), String::from_utf8_lossy(&output.stderr).trim());
    let value: Value = serde_json::from_slice(&output.stdout).map_err(|_| failed())?;
    value["functions"].as_array().cloned().ok_or_else(failed)
}

/// Milliseconds of CPU that finished children have used: clock ticks of 10 ms.
fn children_cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    let fields: Vec<f64> = after_name.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // After the state (which is a letter): cutime and cstime are fields 16 and 17 of the whole line.
    fields.get(12).zip(fields.get(13)).map_or(0.0, |(user, system)| (user + system) * 10.0)
}

/// Milliseconds that llc spends between the two files.
fn llc_time(bitcode: &str, level: &str, allocator: &str, span: &str) -> f64 {
    let mut command = Command::new("llc-19");
    command.arg(format!("-{level}")).arg(format!("-regalloc={allocator}")).args([
        "-time-passes",
        bitcode,
        "-o",
        "/dev/null",
    ]);
    let Ok(output) = command.output() else { return 0.0 };
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let wanted = |name: &str| ALLOCATE.contains(&name) || span == "ssa" && LOWER.contains(&name);
    let mut total = 0.0;
    for line in text.lines() {
        // `0.0012 ( 3.1%)   0.0003 (...)   0.0015 (...)   0.0015 (...)  Name #2`: user, system, both, wall.
        let Some((times, name)) = line.rsplit_once(")  ") else { continue };
        let name = name.split(" #").next().unwrap_or("").trim();
        let columns: Vec<f64> =
            times.split('(').filter_map(|c| c.rsplit(' ').find(|w| !w.is_empty())?.parse().ok()).collect();
        if wanted(name) {
            total += columns.iter().rev().nth(1).copied().unwrap_or(0.0);
        }
    }
    total * 1000.0
}

/// Wrong allocations: what lockstep says, whether it names the right place, and what llc's verifier says.
fn mutants(lockstep: &Path, directory: &Path) -> Result<(), String> {
    let Ok(text) = std::fs::read_to_string(directory.join("MUTANTS.csv")) else {
        println!("\nno mutants: make some with mir.py mutate");
        return Ok(());
    };
    let mut table: BTreeMap<String, [usize; 6]> = BTreeMap::new();
    let mut proved = Vec::new();
    let mut unshown = 0;
    for line in text.lines().skip(1) {
        let fields = csv_fields(line);
        let [path, function, number, kind, verifier, original, mutated] = fields.as_slice() else { continue };
        let after = directory.join(path);
        let before = path.split_once(".post-").map_or(path.clone(), |(stem, _)| format!("{stem}.pre.mir"));
        let found = check(lockstep, &directory.join(before), &after, Some(function))?;
        let Some(found) = found.first() else { continue };
        let block = block_of_line(&after, number.parse().unwrap_or(0));
        let path_holds = found["witness"]["allocation"]["path"]
            .as_array()
            .is_some_and(|path| path.iter().any(|b| b.as_u64() == block.map(u64::from)));
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
        }
        if found["verdict"] == "equivalent" {
            let why = why_harmless(&after, function);
            unshown += usize::from(why.is_none());
            let why = why.unwrap_or_else(|| "NOT SHOWN HARMLESS".to_string());
            proved.push(format!("  {path}:{number} {function}: `{original}` became `{mutated}`: {why}"));
        }
    }
    println!("\nmutants         count different unknown  proved  right place  llc's verifier");
    for (kind, [count, different, unknown, equivalent, place, rejected]) in &table {
        println!("{kind:14} {count:6} {different:9} {unknown:7} {equivalent:7} {place:12} {rejected:15}");
    }
    println!("\n{} proved, {unshown} of them not shown harmless otherwise:\n{}", proved.len(), proved.join("\n"));
    Ok(())
}

/// Why a mutant does what the file it was made from does.
fn why_harmless(mutant: &Path, function: &str) -> Option<String> {
    let (stem, _) = mutant.to_str()?.rsplit_once(".mut")?;
    let mut names = machine::Names::new();
    let mut read = |path: &Path| {
        let text = std::fs::read_to_string(path).ok()?;
        let module = lift_mir::Module::parse(&text, &mut names).ok()?;
        module.functions.into_iter().find(|f| f.name == function)
    };
    let (good, bad) = (read(Path::new(&format!("{stem}.mir")))?, read(mutant)?);
    harmless::argue(&good, &bad)
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
    let header = lines.into_iter().rev().find(|l| l.starts_with("  bb."))?;
    let digits: String = header[5..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_quoted() {
        assert_eq!(csv_fields(r#"a,"b, ""c""",d"#), ["a", r#"b, "c""#, "d"]);
    }

    #[test]
    fn names_of_dumps_have_three_parts() {
        let parts = parts(Path::new("x/lua.p01.O2.post-greedy.mir")).expect("a dump");
        assert_eq!(parts, ("x/lua.p01.O2".to_string(), "O2".to_string(), "greedy".to_string()));
    }
}
