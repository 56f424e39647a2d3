//! The binary as scripts see it: exit statuses, what goes to which stream, the form of the reports.

mod lockstep;
mod streaming;

use lockstep::{Bench, function};
use serde_json::Value;

/// `f` doubles, `g` calls, `h` only exists here.
const ORIGINAL: &[(&str, &str)] = &[
    ("f", "lea eax, [rdi + rdi]\nret"),
    ("g", "sub rsp, 8\nmov edi, 5\ncall puts\nadd rsp, 8\nret"),
    ("h", "mov eax, 1\nret"),
];
/// `f` doubles in another way, `g` is the same.
const CANDIDATE: &[(&str, &str)] =
    &[("f", "mov eax, edi\nshl eax, 1\nret"), ("g", "sub rsp, 8\nmov edi, 5\ncall puts\nadd rsp, 8\nret")];
/// `f` triples.
const WRONG: &[(&str, &str)] = &[("f", "lea eax, [rdi + 2*rdi]\nret"), ("extra", "ret")];

#[test]
fn help_and_version_are_no_errors() {
    let bench = Bench::new();
    for words in ["--help", "check --help", "show --help", "--version"] {
        let run = bench.run(words);
        assert_eq!(run.status, Some(0), "{words}");
        assert!(!run.out.is_empty() && run.err.is_empty(), "{words}");
    }
}

#[test]
fn usage_errors_are_3_and_leave_stdout_empty() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    let wrong = [
        "",
        "check",
        "check a.s",
        "check a.s a.s a.s",
        "check a.s a.s --frobnicate",
        "check a.s a.s --timeout -1",
        "check a.s a.s --timeout soon",
        "check a.s a.s --jobs 0",
        "check a.s a.s --format xml",
        "check a.s a.s --strategy guesswork",
        "check a.s a.s --function nosuch",
        "check a.s a.s --function f=nosuch",
        "check a.s a.s --function f --function f",
        "show",
        "show a.s a.s",
        "show a.s --function nosuch",
        "show a.s --format dot",
        "show --certificate a.s",
        "show --certificate a.s a.s",
        "verify a.s",
        "optimize a.s",
    ];
    for words in wrong {
        bench.run(words).fails_cleanly(words);
    }
}

#[test]
fn bad_files_are_3_and_leave_stdout_empty() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    let object = bench.object("a.s");
    bench.write("empty.o", b"");
    bench.write("text.o", b"int main(void) { return 0; }\n");
    bench.write("cut.o", &object[..100]);
    let mut narrow = object.clone();
    narrow[4] = 1; // ELFCLASS32
    bench.write("narrow.o", &narrow);
    let mut arm = object;
    arm[18] = 183; // EM_AARCH64
    bench.write("arm.o", &arm);
    bench.write("broken.s", b"frobnicate eax\n");
    for file in ["empty.o", "text.o", "cut.o", "narrow.o", "arm.o", "broken.s", "missing.o", "."] {
        bench.run(&format!("check a.s {file}")).fails_cleanly(file);
        bench.run(&format!("check {file} a.s")).fails_cleanly(file);
        bench.run(&format!("show {file}")).fails_cleanly(file);
    }
}

/// Of the same file twice a function need not be understood; of anything else it must.
#[test]
fn what_is_not_modelled_is_the_same_as_itself() {
    let bench = Bench::new();
    bench.assembly("a.s", &[("f", "fld st(0)\nfsincos\nret"), ("g", "fld st(0)\nfsincos\nret")]);
    bench.assembly("b.s", &[("f", "fld st(0)\nfsincos\nnop\nret"), ("g", "fld st(0)\nfsincos\nret")]);
    let run = bench.run("check a.s a.s --format json --certificates proofs");
    assert_eq!(run.status, Some(0), "{}", run.out);
    let report: Value = serde_json::from_str(&run.out).expect("a report");
    assert_eq!(function(&report, "f")["strategy"], "identical");
    assert_eq!(function(&report, "f")["assumptions"], serde_json::json!([]));
    let certificate = function(&report, "f")["certificate"].as_str().expect("a path").to_string();
    assert_eq!(bench.run(&format!("verify {certificate} a.s a.s")).status, Some(0));
    assert_ne!(bench.run(&format!("verify {certificate} a.s b.s")).status, Some(0));
    for words in ["check a.s b.s --function f", "check a.s a.s --function f=g"] {
        let run = bench.run(&format!("{words} --format json"));
        assert_eq!(run.status, Some(2), "{words}: {}", run.out);
        let report: Value = serde_json::from_str(&run.out).expect("a report");
        assert_eq!(function(&report, "f")["reason"]["kind"], "unsupported", "{words}");
    }
}

#[test]
fn mutated_objects_never_crash() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    let object = bench.object("a.s");
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    for round in 0..60 {
        let mut mutant = object.clone();
        for _ in 0..=random(4) {
            let place = random(mutant.len());
            mutant[place] = random(256) as u8;
        }
        if random(8) == 0 {
            mutant.truncate(random(object.len()));
        }
        bench.write("mutant.o", &mutant);
        let run = bench.run("show mutant.o");
        assert!(matches!(run.status, Some(0 | 3)), "round {round}: {:?} {}", run.status, run.err);
        assert!(!run.out.contains("internal:"), "round {round}: {}", run.out);
    }
}

#[test]
fn a_file_is_equivalent_to_itself() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    let run = bench.run("check a.s a.s");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("3 functions: 3 equivalent, 0 different, 0 unknown"), "{}", run.out);
    assert!(!run.out.contains('\u{1b}'), "no colour into a pipe");
    assert!(bench.run("check a.s a.s --color always").out.contains('\u{1b}'));
}

#[test]
fn a_function_that_the_candidate_lacks_is_unknown() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    let run = bench.run("check a.s b.s --format json");
    assert_eq!(run.status, Some(2), "{}{}", run.out, run.err);
    let report = run.json();
    let names: Vec<&str> = report["functions"].as_array().unwrap().iter().filter_map(|f| f["name"].as_str()).collect();
    assert_eq!(names, ["f", "g", "h"]);
    assert_eq!(function(&report, "f")["verdict"], "equivalent");
    assert_eq!(function(&report, "h")["verdict"], "unknown");
    assert_eq!(function(&report, "h")["reason"]["kind"], "missing-function");
    assert_eq!(report["summary"], serde_json::json!({"equivalent": 2, "different": 0, "unknown": 1}));
    assert_eq!((&report["version"], &report["original"]), (&Value::from(1), &Value::from("a.s")));
    assert_eq!(bench.run("check a.s b.s --function f").status, Some(0));
    assert_eq!(bench.run("check a.s b.s --function h").status, Some(2));
}

#[test]
fn a_difference_is_1_and_comes_with_a_replayed_witness() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", WRONG);
    let run = bench.run("check a.s b.s --format json");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.err.contains("only in the candidate: extra"), "{}", run.err);
    let report = run.json();
    let f = function(&report, "f");
    assert_eq!(f["verdict"], "different");
    assert_eq!(f["witness"]["replayed"], serde_json::json!(["interpreter", "cpu"]), "{f}");
    assert!(f["witness"]["registers"]["rdi"].is_string(), "{f}");
    let text = bench.run("check a.s b.s");
    let said = "f: the two functions disagree on this input (replayed: interpreter, cpu)";
    assert!(text.out.contains(said), "{}", text.out);
}

#[test]
fn start_states_of_the_user_are_tried() {
    let bench = Bench::new();
    let load = |step: &str| format!("mov eax, [rdi + 8*rsi]\ncmp eax, 0x5eed\njne 1f\nadd eax, {step}\n1: ret");
    bench.assembly("a.s", &[("f", &load("1")), ("g", &load("1"))]);
    bench.assembly("b.s", &[("f", &load("2")), ("g", &load("1"))]);
    let state = r#"{"registers":{"rdi":"0x7000","rsi":2},"memory":[{"address":"0x7010","bytes":"ed5e0000"}]}"#;
    bench.write("tests.json", format!(r#"{{"version":1,"tests":[{state}]}}"#).as_bytes());
    let run = bench.run("check a.s b.s --tests tests.json --format json");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    let report = run.json();
    let f = function(&report, "f");
    assert_eq!((f["verdict"].as_str(), f["strategy"].as_str()), (Some("different"), Some("tests")), "{f}");
    assert_eq!(function(&report, "g")["verdict"], "equivalent");

    // A witness is a start state.
    let witness = &f["witness"];
    let again = serde_json::json!({"version": 1, "tests": [{"function": "f", "registers": witness["registers"],
        "memory": witness["memory"], "calls": witness["calls"]}]});
    bench.write("again.json", again.to_string().as_bytes());
    let run = bench.run("check a.s b.s --tests again.json --format json --function f");
    assert_eq!(function(&run.json(), "f")["strategy"], "tests", "{}{}", run.out, run.err);

    bench.write("bad.json", b"{");
    bench.write("other.json", br#"{"version":1,"tests":[{"function":"nosuch"}]}"#);
    for name in ["bad.json", "other.json", "missing.json"] {
        bench.run(&format!("check a.s b.s --tests {name}")).fails_cleanly(name);
    }
}

#[test]
fn functions_of_different_names_can_be_compared() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", &[("twice", CANDIDATE[0].1)]);
    bench.run("check a.s b.s").fails_cleanly("no function in common");
    let run = bench.run("check a.s b.s --function f=twice --format json");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(function(&run.json(), "f")["candidate_name"], "twice");
}

#[test]
fn the_number_of_jobs_changes_nothing() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", WRONG);
    let report = |jobs: &str| {
        let mut report = bench.run(&format!("check a.s b.s --format json --stats --jobs {jobs}")).json();
        for function in report["functions"].as_array_mut().unwrap() {
            function["time_ms"] = Value::Null;
        }
        report.to_string()
    };
    assert_eq!(report("1"), report("4"));
    assert_eq!(report("1"), report("1"));
}

#[test]
fn certificates_are_saved_and_verified() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    bench.assembly("wrong.s", WRONG);
    let run = bench.run("check a.s b.s --function f --certificates proofs --format json");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(function(&run.json(), "f")["certificate"], "proofs/f.json");
    let accepted = bench.run("verify proofs/f.json a.s b.s");
    assert_eq!(accepted.status, Some(0), "{}{}", accepted.out, accepted.err);
    bench.run("verify proofs/f.json a.s wrong.s").fails_cleanly("another program");
    bench.run("verify a.s a.s b.s").fails_cleanly("not a certificate");
    bench.write("newer.json", br#"{"version": 99}"#);
    bench.run("verify newer.json a.s b.s").fails_cleanly("a newer version");
}

/// Two stores in one order and in the other: the same if two objects do not overlap.
#[test]
fn undefined_behaviour_can_be_taken_seriously() {
    let bench = Bench::new();
    let [g, h] = ["mov dword ptr [rip + g], edi\n", "mov dword ptr [rip + h], esi\n"];
    let objects = "ret\n.comm g, 4, 4\n.comm h, 4, 4";
    bench.assembly("a.s", &[("f", &format!("{g}{h}{objects}"))]);
    bench.assembly("b.s", &[("f", &format!("{h}{g}{objects}"))]);
    let run = bench.run("check a.s b.s --certificates proofs --format json");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(function(&run.json(), "f")["assumptions"][0], "disjoint-objects");
    assert_eq!(bench.run("check a.s b.s --no-ub").status, Some(2));
    assert_eq!(bench.run("check a.s a.s --no-ub").status, Some(0));
    assert_eq!(bench.run("verify proofs/f.json a.s b.s").status, Some(0));
    assert_eq!(bench.run("verify proofs/f.json a.s b.s --no-ub").status, Some(2));
    bench.write("k.c", b"void k(int *a) { a[0] = 1; }");
    bench.run("check k.c k.c --no-ub").fails_cleanly("not object code");
}

#[test]
fn questions_to_the_solver_can_be_saved() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    let run = bench.run("check a.s b.s --function f --dump-queries questions");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(bench.path("questions").is_dir());
}

#[test]
fn a_solver_that_is_missing_or_talks_nonsense_is_no_verdict() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", WRONG);
    for solver in ["no-such-solver", "cat", "true"] {
        let run = bench.run(&format!("check a.s b.s --function f --timeout 5 --solver {solver}"));
        assert!(matches!(run.status, Some(1 | 2)), "{solver}: {}{}", run.out, run.err);
    }
    let run = bench.run("check a.s b.s --function f --timeout 5 --solver no-such-solver");
    assert!(run.err.contains("`no-such-solver` is not on the PATH"), "{}", run.err);
}

#[test]
fn show_prints_the_graph() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    let run = bench.run("show a.s");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    for part in ["f\n", "\ng\n", "call puts", "return"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let one = bench.run("show a.s --function h");
    assert!(one.out.starts_with("h\n") && !one.out.contains("puts"), "{}", one.out);
}

#[test]
fn certificates_can_be_shown() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    let run = bench.run("check a.s b.s --function f --certificates proofs");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let plain = bench.run("show --certificate proofs/f.json a.s b.s");
    assert!(plain.out.starts_with("f: no pair of loop heads"), "{}{}", plain.out, plain.err);
    // Nothing is checked, so a claim about a loop can be added to any certificate.
    let text = std::fs::read(bench.path("proofs/f.json")).expect("a certificate");
    let mut certificate: Value = serde_json::from_slice(&text).expect("JSON");
    certificate["points"] = serde_json::json!([{"original": 0, "candidate": 0, "forget": ["o.rax", "c.rax"],
        "world": "kept", "define": [["c.rax", "(mul #64:2 o.rdi)"]], "hold": []}]);
    bench.write("loop.json", certificate.to_string().as_bytes());
    let alone = bench.run("show --certificate loop.json");
    assert!(alone.out.starts_with("f: 1 pair of loop heads, 1 definition"), "{}{}", alone.out, alone.err);
    assert!(alone.out.contains("c.rax = 2·o.rdi") && !alone.out.contains("+0x"), "{}", alone.out);
    let both = bench.run("show --certificate loop.json a.s b.s");
    assert!(both.out.contains("o p0 +0x0, c p0 +0x0"), "{}{}", both.out, both.err);
    let dot = bench.run("show --certificate loop.json --format dot");
    assert!(dot.out.starts_with("digraph \"f\" {") && dot.out.contains("p1 -> p1"), "{}{}", dot.out, dot.err);
    certificate["points"][0]["candidate"] = 99.into();
    bench.write("far.json", certificate.to_string().as_bytes());
    bench.run("show --certificate far.json a.s b.s").fails_cleanly("a point that is not there");
    bench.run("show --certificate proofs/f.json a.s a.s").fails_cleanly("another program");
    bench.run("show --certificate proofs/f.json a.s").fails_cleanly("one program");
}

#[test]
fn an_unknown_can_be_explained() {
    let bench = Bench::new();
    let programs = |of_loop: &'static str| [("f", of_loop), ("g", "ret")];
    bench.assembly("a.s", &programs("mov rax, rdi\n1: add rax, 3\ndec rsi\njne 1b\nret"));
    bench.assembly("b.s", &programs("xor eax, eax\n1: add rax, rdi\ndec rsi\njne 1b\nret"));
    let run = bench.run("show --why f a.s b.s --timeout 5");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.starts_with("f: different") || run.out.contains("fails at"), "{}", run.out);
    let same = bench.run("show --why g a.s b.s");
    assert!(same.out.contains("no certificate was refused"), "{}", same.out);
    bench.run("show --why nobody a.s b.s").fails_cleanly("no such function");
    bench.run("show --why f a.s").fails_cleanly("one program");
    bench.run("show a.s b.s").fails_cleanly("two files");
    bench.run("show a.s --timeout 3").fails_cleanly("a limit of nothing");
}

#[test]
fn certificates_of_other_kinds_are_shown_in_words() {
    let bench = Bench::new();
    bench.write(
        "updates.json",
        br#"{"kind": "updates", "version": 1, "original": "k", "candidate": "k", "original_hash": "", "candidate_hash": "",
            "parameters": [["n", 8]], "defines": [], "includes": [], "fp": "ieee", "strict": false, "flat": false}"#,
    );
    let updates = bench.run("show --certificate updates.json");
    assert!(updates.status == Some(0) && updates.out.contains("n=8"), "{}{}", updates.out, updates.err);
    bench.write(
        "regalloc.json",
        br#"{"kind": "regalloc", "version": 1, "original": "f", "candidate": "f", "original_hash": "", "candidate_hash": "",
            "points": [{"blocks": [0, 0], "equations": [["v1", "p0"]]}]}"#,
    );
    let allocation = bench.run("show --certificate regalloc.json");
    assert!(allocation.status == Some(0) && allocation.out.contains("v1 = p0"), "{}{}", allocation.out, allocation.err);
    bench.write("other.json", br#"{"kind": "tarot"}"#);
    bench.write("newer.json", br#"{"version": 99}"#);
    for words in ["other.json", "newer.json", "updates.json --format dot", "regalloc.json --format dot", "missing.json"]
    {
        bench.run(&format!("show --certificate {words}")).fails_cleanly(words);
    }
}

#[test]
fn proofs_are_run_unless_that_is_forbidden() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    bench.assembly("c.s", WRONG);
    let run = bench.run("check a.s b.s --function f --format json").json();
    // Five runs of each path that agree are enough; `f` has one path.
    assert!(function(&run, "f")["run"]["inputs"].as_u64().is_some_and(|inputs| inputs >= 5), "{run}");
    let quiet = bench.run("check a.s b.s --function f --format json --no-run").json();
    assert_eq!(function(&quiet, "f")["verdict"], "equivalent");
    assert!(function(&quiet, "f").get("run").is_none(), "{quiet}");
    // The witness is replayed on the CPU, or not.
    for (flag, replayed) in [("--run", vec!["interpreter", "cpu"]), ("--no-run", vec!["interpreter"])] {
        let report = bench.run(&format!("check a.s c.s --function f --format json {flag}")).json();
        assert_eq!(function(&report, "f")["witness"]["replayed"], serde_json::json!(replayed), "{flag}");
    }
}
