//! C kernels through the binary: the pairs of tests/kernels, the command line, bad input.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::Bench;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn pairs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kernels")
}

fn sorted(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).expect("the directory of pairs");
    let mut paths: Vec<PathBuf> = entries.map(|e| e.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// What the first line of a candidate demands.
struct Expectation {
    verdict: String,
    kind: Option<String>,
    /// Words that the report must name the place with.
    place: String,
    options: String,
}

fn expectation(candidate: &Path) -> Expectation {
    let text = std::fs::read_to_string(candidate).expect("a candidate");
    let line = text.lines().next().and_then(|l| l.strip_prefix("// ")).expect("the expectation");
    let (words, options) = match line.split_once(" --") {
        Some((words, options)) => (words, format!("--{options}")),
        None => (line, String::new()),
    };
    let mut words = words.split_whitespace();
    Expectation {
        verdict: words.next().expect("a verdict").to_string(),
        kind: words.next().map(str::to_string),
        place: words.collect::<Vec<_>>().join(" "),
        options,
    }
}

#[test]
fn every_pair_gets_its_verdict_and_has_a_near_miss() {
    let bench = Bench::new();
    let mut count = 0;
    for directory in sorted(&pairs()).into_iter().filter(|p| p.is_dir()) {
        let mut verdicts = Vec::new();
        let original = directory.join("original.c");
        for candidate in sorted(&directory).into_iter().filter(|p| *p != original) {
            let Expectation { verdict, kind, place, options } = expectation(&candidate);
            let run =
                bench.run(&format!("check {} {} {options} --format json", original.display(), candidate.display()));
            let name = candidate.display();
            assert!(!run.out.is_empty(), "{name}: {}", run.err);
            let report = run.json();
            let function = &report["functions"][0];
            assert_eq!(function["verdict"], verdict.as_str(), "{name}: {function}");
            let found = match verdict.as_str() {
                "different" => &function["witness"]["dependence"]["kind"],
                _ => &function["reason"]["kind"],
            };
            if let Some(kind) = kind {
                assert_eq!(*found, kind.as_str(), "{name}: {function}");
            }
            let assumptions = function["assumptions"].to_string();
            let sized = assumptions.contains("param(") || !options.contains("--param");
            let listed = sized && assumptions.contains("disjoint-arrays");
            assert!(listed || verdict == "unknown", "{name}: {assumptions}");
            if verdict == "different" {
                assert_eq!(function["witness"]["replayed"][0], "interpreter", "{name}");
                let text = function["witness"]["dependence"]["text"].to_string();
                assert!(text.contains(&place), "{name}: {text}");
            }
            verdicts.push(verdict);
            count += 1;
        }
        for wanted in ["equivalent", "different"] {
            assert!(verdicts.iter().any(|v| v == wanted), "{}: no {wanted}", directory.display());
        }
    }
    assert!(count >= 20, "{count} pairs");
}

const MATVEC: &str = "void mv(int n, double A[n][n], double x[n], double y[n]) {\n  for (int i = 0; i < n; i++) {\n    y[i] = 0;\n    for (int j = 0; j < n; j++)\n      y[i] += A[i][j] * x[j];\n  }\n}\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.c", MATVEC.as_bytes());
    bench.write("short.c", MATVEC.replace("j < n;", "j < n - n / 4;").as_bytes());
    bench
}

#[test]
fn the_broken_instance_is_named() {
    let bench = bench();
    let run = bench.run("check a.c short.c --param n=6");
    assert_eq!(run.status, Some(1), "{}", run.err);
    let wanted = "missing-update the candidate never makes the update of y[0] at line 5 at i=0,j=5 of the original";
    assert!(run.out.contains(wanted), "{}", run.out);
    assert!(run.out.contains("6 cells are wrong"), "{}", run.out);
}

/// Calls of a helper in each turn, then sums that need them.
const HELPER: &str = "static double twice(double v)
{
  double d = v + v;
  return d * d;
}
void f(double x[6], double y[6], double s[6])
{
  for (int i = 0; i < 6; i++)
    y[i] = twice(x[i]);
  for (int i = 1; i < 6; i++)
    s[i] = s[i - 1] + y[i];
}
";

#[test]
fn calls_that_were_moved_are_not_the_broken_instance() {
    let bench = Bench::new();
    bench.write("a.c", HELPER.as_bytes());
    // The calls may come in any order, the sums may not.
    let reversed = HELPER
        .replace("int i = 0; i < 6; i++", "int i = 5; i >= 0; i--")
        .replace("int i = 1; i < 6; i++", "int i = 5; i >= 1; i--");
    bench.write("reversed.c", reversed.as_bytes());
    let report = bench.run("check a.c reversed.c --format json").json();
    let named = &report["functions"][0]["witness"]["dependence"]["original"];
    assert_eq!(named["line"], 11, "{report}");
    assert_eq!(named["iterators"]["i"], 2, "{report}");
    assert!(named["inside"].is_null(), "{report}");
}

#[test]
fn a_mistake_in_a_helper_is_named_with_its_call() {
    let bench = Bench::new();
    bench.write("a.c", HELPER.as_bytes());
    bench.write("wrong.c", HELPER.replace("v + v", "v - v").as_bytes());
    let report = bench.run("check a.c wrong.c --format json").json();
    let named = &report["functions"][0]["witness"]["dependence"]["original"];
    assert_eq!(named["line"], 9, "{report}");
    assert_eq!(named["inside"]["function"], "twice", "{report}");
    assert_eq!(named["inside"]["line"], 3, "{report}");
}

#[test]
fn a_sweep_shows_the_smallest_size() {
    let bench = bench();
    let run = bench.run("check a.c short.c --sweep n=1..6 --format json");
    assert_eq!(run.status, Some(1), "{}", run.err);
    let report = run.json();
    let rows = report["functions"][0]["sweep"].as_array().expect("a sweep").clone();
    let verdicts: Vec<&str> = rows.iter().filter_map(|r| r["verdict"].as_str()).collect();
    assert_eq!(verdicts, ["equivalent", "equivalent", "equivalent", "different", "different", "different"]);
    let text = bench.run("check a.c short.c --sweep n=1..6").out;
    assert!(text.contains("smallest size at which it shows: n=4"), "{text}");
    let all = bench.run("check a.c a.c --sweep n=1..6");
    assert_eq!(all.status, Some(0));
    assert!(all.out.contains("param(n=1..6)"), "{}", all.out);
}

#[test]
fn a_weaker_mode_is_suggested() {
    let bench = Bench::new();
    bench.write("a.c", b"double f(double x[4]) { return x[0] + x[1] + (x[2] + x[3]); }");
    bench.write("b.c", b"double f(double x[4]) { return x[3] + (x[1] + x[0]) + x[2]; }");
    let run = bench.run("check a.c b.c");
    assert_eq!(run.status, Some(1));
    assert!(run.out.contains("equivalent only under reassociation of +"), "{}", run.out);
    assert_eq!(bench.run("check a.c b.c --fp reassoc").status, Some(0));
}

#[test]
fn certificates_are_verified_by_the_kernel_alone() {
    let bench = bench();
    let saved = bench.run("check a.c a.c --param n=5 --certificates proofs --format json");
    assert_eq!(saved.status, Some(0), "{}", saved.err);
    let assumptions = saved.json()["functions"][0]["assumptions"].to_string();
    assert!(!assumptions.contains("hash-128"), "{assumptions}");
    assert_eq!(saved.json()["functions"][0]["certificate"], "proofs/mv.json");
    let verified = bench.run("verify proofs/mv.json a.c a.c");
    assert_eq!(verified.status, Some(0), "{}{}", verified.out, verified.err);
    // A certificate for other files, a changed one, and no certificate at all.
    bench.run("verify proofs/mv.json a.c short.c").fails_cleanly("another candidate");
    let text = std::fs::read_to_string(bench.path("proofs/mv.json")).expect("the certificate");
    let mut forged: Value = serde_json::from_str(&text).expect("JSON");
    let run = bench.run("check short.c short.c --param n=5 --certificates short");
    assert_eq!(run.status, Some(0), "{}", run.err);
    let short = std::fs::read_to_string(bench.path("short/mv.json")).expect("a certificate");
    let short: Value = serde_json::from_str(&short).expect("JSON");
    forged["candidate_hash"] = short["original_hash"].clone();
    bench.write("forged.json", forged.to_string().as_bytes());
    let rejected = bench.run("verify forged.json a.c short.c");
    assert_eq!(rejected.status, Some(2), "{}{}", rejected.out, rejected.err);
    bench.write("broken.json", &text.as_bytes()[..text.len() / 2]);
    bench.run("verify broken.json a.c a.c").fails_cleanly("half a certificate");
}

#[test]
fn bad_input_is_3_and_named() {
    let bench = bench();
    bench.write("syntax.c", b"void mv(int n) { for (;; }");
    bench.write("two.c", b"void p(double x[2]) {}\nvoid q(double x[2]) {}");
    bench.write("shape.c", MATVEC.replace("A[n][n]", "A[n][n+1]").as_bytes());
    bench.write("binary.c", &[0xff, 0xfe, 0, 1]);
    let cases = [
        ("check a.c a.c", "parameter `n` needs a value"),
        ("check a.c a.c --param n=5 --param m=3", "--param m: neither file has a parameter of that name"),
        ("check a.c a.c --param n=5 --param n=6", "--param n: given twice"),
        ("check a.c a.c --param n", "expected NAME=NUMBER"),
        ("check a.c a.c --sweep n=5..1", "expected NAME=FIRST..LAST"),
        ("check a.c a.c --fp sloppy", "invalid value 'sloppy'"),
        ("check a.c syntax.c --param n=5", "syntax.c:1: expected an expression, found `}`"),
        ("check a.c missing.c --param n=5", "missing.c: No such file"),
        ("check a.c binary.c --param n=5", "binary.c: not a text file"),
        ("check two.c two.c", "which function? choose with --function: p, q"),
        ("check a.c a.c --function nosuch --param n=5", "the original has no function of that name"),
        ("check a.c shape.c --param n=5", "argument 2 `A` is `double[5][5]` in the original and `double[5][6]`"),
    ];
    for (words, wanted) in cases {
        let run = bench.run(words);
        run.fails_cleanly(words);
        assert!(run.err.contains(wanted), "{words}: {}", run.err);
    }
}

#[test]
fn what_has_no_answer_says_why() {
    let bench = bench();
    bench.write("forever.c", MATVEC.replace("j < n; j++", "j < n; j += 0").as_bytes());
    bench.write("other.c", b"void other(int n) {}");
    bench.write("bound.c", b"void f(int n, double x[4], int k[1]) {\n  for (int i = 0; i < k[0]; i++) x[i] = n; }");
    bench.write("uninit.c", b"double f(double x[4]) { double t; return x[0] + t; }");
    let cases = [
        ("check a.c forever.c --param n=5 --timeout 0.3", "timeout", "the time limit ended the loop"),
        ("check a.c other.c --function mv --param n=5", "missing-function", "no function `mv`"),
        ("check bound.c bound.c --param n=5", "unsupported", "bound.c:2 at i=0: data-dependent loop bound"),
        ("check uninit.c uninit.c", "undefined-original", "`t` is read before it is written"),
    ];
    for (words, kind, detail) in cases {
        let run = bench.run(&format!("{words} --format json"));
        assert_eq!(run.status, Some(2), "{words}: {}{}", run.out, run.err);
        let report = run.json();
        let reason = &report["functions"][0]["reason"];
        assert_eq!(reason["kind"], kind, "{words}: {reason}");
        assert!(reason["detail"].to_string().contains(detail), "{words}: {reason}");
    }
}

#[test]
fn what_is_not_read_is_a_gap_and_no_bad_input() {
    let bench = Bench::new();
    bench.write("plain.c", b"void k(int a[4]) { a[0] = 1; }");
    let cases = [
        ("a[0] = '\\x41'; a[1] = '\\101'; a[2] = '\\xff';", "equivalent"),
        ("a[0] = L'a';", "unknown"),
        ("a[0] = 'ab';", "unknown"),
        ("a[0] = _Alignof(int);", "unknown"),
        ("a[0] = _Generic(a[0], int: 1, default: 2);", "unknown"),
        ("switch (a[0]) { case 1 ... 3: a[1] = 1; }", "unknown"),
        ("a[0] = __func__[0];", "unknown"),
        ("goto end; end: a[0] = 1;", "unknown"),
        ("a[0] = ({ int t = 1; t; });", "equivalent"),
        ("__auto_type t = 1; a[0] = t;", "unknown"),
        ("_Atomic int t = 1; a[0] = t;", "unknown"),
    ];
    for (body, verdict) in cases {
        bench.write("a.c", format!("void k(int a[4]) {{ {body} }}").as_bytes());
        let run = bench.run("check a.c a.c --format json");
        let function = &run.json()["functions"][0];
        assert_eq!(function["verdict"], verdict, "{body}: {function}");
        if verdict == "unknown" {
            assert_eq!(function["reason"]["kind"], "unsupported", "{body}: {function}");
            assert_eq!(bench.run("check plain.c a.c").status, Some(2), "{body}");
        }
    }
    bench.write("a.c", b"void k(int a[4]) { a[0] = ; }");
    bench.run("check a.c a.c").fails_cleanly("what the compiler refuses, too");
}

#[test]
fn what_changes_floating_point_is_refused() {
    let bench = Bench::new();
    let sum = |before: &str, inside: &str| {
        format!(
            "{before}\nvoid k(double a[8], double r[1]) {{\n{inside}\ndouble s = 0; for (int i = 0; i < 8; i++) s += a[i] * 0.1; r[0] = s; }}"
        )
    };
    bench.write("a.c", sum("", "").as_bytes());
    let before = [
        "#pragma GCC optimize (\"-ffast-math\")",
        "#pragma GCC target (\"fma\")",
        "#pragma GCC push_options",
        "#pragma STDC FP_CONTRACT ON",
        "#pragma STDC FENV_ACCESS ON",
        "#pragma STDC FENV_ROUND FE_UPWARD",
        "#pragma fp_contract (on)",
        "#pragma float_control (precise, off)",
        "#pragma fenv_access (on)",
        "#pragma clang fp contract(fast)",
        "_Pragma(\"GCC optimize (\\\"-Ofast\\\")\")",
        "__attribute__((optimize(\"fast-math\")))",
        "__attribute__((__target__(\"avx2,fma\")))",
        "[[gnu::optimize(\"fast-math\")]]",
    ];
    let inside = [
        "#pragma clang fp reassociate(on)",
        "#pragma STDC FP_CONTRACT ON",
        "#pragma clang loop vectorize(assume_safety)",
        "#pragma GCC ivdep",
    ];
    let texts = before.iter().map(|b| (*b, sum(b, ""))).chain(inside.iter().map(|i| (*i, sum("", i))));
    for (what, text) in texts {
        bench.write("b.c", text.as_bytes());
        let run = bench.run("check a.c b.c --format json");
        assert_eq!(run.status, Some(2), "{what}: {}{}", run.out, run.err);
        assert_eq!(run.json()["functions"][0]["reason"]["kind"], "unsupported", "{what}");
    }
    // Marks and hints are not.
    for (what, text) in [("scop", sum("", "#pragma scop")), ("hot", sum("__attribute__((hot))", ""))] {
        bench.write("b.c", text.as_bytes());
        assert_eq!(bench.run("check a.c b.c").status, Some(0), "{what}");
    }
}

#[test]
fn a_timeout_names_the_side_that_took_the_time() {
    let bench = bench();
    bench.write("forever.c", MATVEC.replace("j < n; j++", "j < n; j += 0").as_bytes());
    let parallel = "void p(double a[N]) {\n#pragma omp parallel for\n  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) a[i] = a[i] + 1; }";
    bench.write("parallel.c", parallel.as_bytes());
    bench.write("serial.c", parallel.replace("#pragma omp parallel for", "").as_bytes());
    let cases = [
        ("a.c forever.c --param n=5", "forever.c:5"),
        ("forever.c a.c --param n=5", "forever.c:5"),
        ("serial.c parallel.c --param N=40 --param M=100000000", "looking for races in the candidate"),
        ("parallel.c serial.c --param N=40 --param M=100000000", "looking for races in the original"),
    ];
    for (words, wanted) in cases {
        let report = bench.run(&format!("check {words} --timeout 0.4 --format json")).json();
        let reason = &report["functions"][0]["reason"];
        assert_eq!(reason["kind"], "timeout", "{words}: {reason}");
        assert!(reason["detail"].to_string().contains(wanted), "{words}: {reason}");
    }
}

#[test]
fn rows_are_rows_unless_told_otherwise() {
    let bench = Bench::new();
    bench.write("a.c", b"void f(double A[4][4]) { for (int i = 0; i < 16; i++) A[0][i] = 0; }");
    let run = bench.run("check a.c a.c --format json");
    assert_eq!(run.json()["functions"][0]["reason"]["kind"], "undefined-original");
    let flat = bench.run("check a.c a.c --flat-arrays");
    assert_eq!(flat.status, Some(0), "{}", flat.out);
    assert!(flat.out.contains("flat-arrays"), "{}", flat.out);
}

#[test]
fn headers_and_definitions_reach_the_preprocessor() {
    let bench = Bench::new();
    bench.write(
        "a.c",
        b"#include \"size.h\"\nvoid f(double x[SIZE]) { for (int i = 0; i < SIZE; i++) x[i] = SCALE * x[i]; }",
    );
    std::fs::create_dir(bench.path("inc")).expect("a directory");
    bench.write("inc/size.h", b"#define PASTE(a, b) a##b\n#define SIZE PASTE(1, 2)\n");
    let run = bench.run("check a.c a.c -I inc -D SCALE=2");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    bench.run("check a.c a.c -D SCALE=2").fails_cleanly("no such header");
}
