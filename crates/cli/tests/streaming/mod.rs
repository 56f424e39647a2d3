//! Answers as they come: lines of JSON, early ends, and what they leave behind.

use crate::lockstep::Bench;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A function that adds in a way that no solver undoes quickly, so that it keeps a run busy.
const SLOW: [&str; 2] = [
    "mov eax, 0\n1: mov edx, [rdi + 4*rax]\nimul edx, edx\nimul edx, [rsi]\nadd [rsi], edx\ninc eax\ncmp eax, 1000000\njne 1b\nret",
    "mov eax, 0\n1: mov edx, [rdi + 4*rax]\nimul edx, [rsi]\nimul edx, [rdi + 4*rax]\nsub [rsi], edx\nadd eax, 1\ncmp eax, 1000000\njne 1b\nret",
];

const QUICK: [&str; 2] = ["lea eax, [rdi + rdi]\nret", "mov eax, edi\nshl eax, 1\nret"];

/// `quick` is proved at once, `wrong` refuted, `missing` has no counterpart.
fn mixed() -> Bench {
    let bench = Bench::new();
    bench.assembly("a.s", &[("quick", QUICK[0]), ("wrong", "mov eax, 1\nret"), ("missing", "ret"), ("last", QUICK[0])]);
    bench.assembly("b.s", &[("quick", QUICK[1]), ("wrong", "mov eax, 2\nret"), ("last", QUICK[1])]);
    bench
}

#[test]
fn lines_of_json_say_what_the_one_object_says() {
    let bench = mixed();
    let run = bench.run("check a.s b.s --format jsonl");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    let lines: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(
        lines[0],
        serde_json::json!({"line": "start", "version": 1, "original": "a.s", "candidate": "b.s", "total": 4})
    );
    let names: Vec<&str> = lines[1..5].iter().filter_map(|line| line["name"].as_str()).collect();
    assert_eq!(names, ["quick", "wrong", "missing", "last"]);
    assert_eq!(lines[5]["summary"], serde_json::json!({"equivalent": 2, "different": 1, "unknown": 1}));
    assert_eq!((&lines[5]["line"], &lines[5]["stopped"]), (&Value::from("end"), &Value::Null));
    let whole = bench.run("check a.s b.s --format json").json();
    for (line, function) in lines[1..5].iter().zip(whole["functions"].as_array().expect("functions")) {
        let mut line = line.clone();
        line.as_object_mut().expect("an object").remove("line");
        let times = |mut value: Value| {
            value["time_ms"] = Value::Null;
            value
        };
        assert_eq!(times(line), times(function.clone()));
    }
}

#[test]
fn the_first_difference_can_end_the_run() {
    let bench = mixed();
    let run = bench.run("check a.s b.s --fail-fast --jobs 1 --format json");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    let report = run.json();
    assert_eq!(report["stopped"], serde_json::json!({"why": "fail-fast", "undecided": 2}));
    assert_eq!(report["functions"].as_array().map(Vec::len), Some(2));
    let text = bench.run("check a.s b.s --fail-fast --jobs 1");
    assert!(text.out.contains("stopped: fail-fast; 2 functions not decided"), "{}", text.out);
}

#[test]
fn the_whole_run_can_be_limited() {
    let bench = Bench::new();
    bench.assembly("a.s", &[("quick", QUICK[0]), ("slow", SLOW[0])]);
    bench.assembly("b.s", &[("quick", QUICK[1]), ("slow", SLOW[1])]);
    let start = Instant::now();
    let run = bench.run("check a.s b.s --time-limit 1.5 --format json --no-run");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
    let report = run.json();
    if report.get("stopped").is_some() {
        assert_eq!(run.status, Some(2), "{}{}", run.out, run.err);
        assert_eq!(report["stopped"]["why"], "time-limit");
        assert_eq!(report["functions"][0]["name"], "quick");
    }
}

/// A run that is interrupted has printed what it knew, says what is missing, and ends with the status of interrupted runs.
#[test]
fn an_interrupted_run_reports_what_is_done() {
    let bench = Bench::new();
    bench.assembly("a.s", &[("quick", QUICK[0]), ("slow", SLOW[0])]);
    bench.assembly("b.s", &[("quick", QUICK[1]), ("slow", SLOW[1])]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args(["check", "a.s", "b.s", "--timeout", "600", "--no-run"])
        .current_dir(bench.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.starts_with("  quick   equivalent"), "{first}");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(kill.success());
    let rest: Vec<String> = lines.map(|line| line.expect("text")).collect();
    let status = child.wait().expect("an end").code();
    // Where `slow` was decided first, the run was over.
    if rest.iter().any(|line| line.starts_with("stopped: ")) {
        assert_eq!(status, Some(130), "{rest:?}");
        assert!(rest.contains(&"stopped: interrupted; 1 function not decided".to_string()), "{rest:?}");
        assert!(rest.iter().any(|line| line.starts_with("1 function: 1 equivalent")), "{rest:?}");
    }
}

#[test]
fn what_is_no_object_file_is_called_by_its_name() {
    let bench = mixed();
    let object = bench.object("a.s");
    bench.write("a.o", &object);
    bench.write("data.s", b".data\n.long 1\n");
    bench.write("bitcode.o", b"BC\xc0\xde\x35\x14\x00\x00");
    bench.write("text.o", b"int main(void) { return 0; }\n");
    bench.write("archive.o", b"!<arch>\n");
    for (file, said) in [
        ("bitcode.o", "LLVM bitcode"),
        ("text.o", "text, not an object file"),
        ("archive.o", "an archive"),
        ("data.s", "no code in it"),
        (".", "a directory"),
    ] {
        let run = bench.run(&format!("check a.o {file}"));
        run.fails_cleanly(file);
        assert!(run.err.contains(said), "{file}: {}", run.err);
    }
}
