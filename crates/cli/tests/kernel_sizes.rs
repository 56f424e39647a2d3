//! Sizes of C kernels and sets of candidates through the binary.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::Bench;

const ADD: &str = "#ifndef N\n#define N 16\n#endif\nvoid k(int a[N]) { for (int i = 0; i < N; i++) a[i]++; }\n";
/// Four at a time, and what is left over.
const FOURS: &str =
    "int i = 0; for (; i + 3 < N; i += 4) { a[i]++; a[i + 1]++; a[i + 2]++; a[i + 3]++; } for (; i < N; i++) a[i]++;";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("a.c", ADD.as_bytes());
    let fours = ADD.replace("for (int i = 0; i < N; i++) a[i]++;", FOURS);
    bench.write("fours.c", fours.as_bytes());
    bench.write("rest.c", fours.replace("for (; i < N; i++) a[i]++;", "").as_bytes());
    bench
}

#[test]
fn sizes_of_the_files_are_named_and_another_is_tried() {
    let bench = bench();
    let run = bench.run("check a.c fours.c");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("k was proved at N=16 only (and compared at N=15)"), "{}", run.out);
    let report = bench.run("check a.c fours.c --format json").json();
    let function = &report["functions"][0];
    assert_eq!(function["also"]["N"], 15, "{function}");
    assert!(function["assumptions"].to_string().contains("param(N=16)"), "{function}");
    // What is left over does not show at 16.
    let run = bench.run("check a.c rest.c");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    assert!(run.out.contains("param(N=15)") && run.out.contains("interpreter, cpu"), "{}", run.out);
    let run = bench.run("check a.c rest.c -D N=16");
    assert_eq!(run.status, Some(0), "who gives a macro knows its value: {}{}", run.out, run.err);
}

#[test]
fn only_numbers_that_arrays_have_are_sizes() {
    let bench = Bench::new();
    let tiled = "#ifndef N\n#define N 16\n#endif\n#ifndef T\n#define T 4\n#endif\nvoid k(int a[N]) { for (int i = 0; i < 16; i += T) { a[i] = 1; a[i + 1] = 1; a[i + 2] = 1; a[i + 3] = 1; } }\n";
    // Four at a time is four at a time, whatever the macro could be.
    bench.write("a.c", tiled.replace("[N]", "[16]").as_bytes());
    bench.write(
        "b.c",
        tiled.replace("[N]", "[16]").replace("a[i] = 1; a[i + 1] = 1;", "a[i + 1] = 1; a[i] = 1;").as_bytes(),
    );
    let report = bench.run("check a.c b.c --format json").json();
    assert_eq!(report["functions"][0]["verdict"], "equivalent", "{report}");
    assert!(report["functions"][0]["also"].is_null(), "{report}");
}

#[test]
fn a_directory_is_a_set_of_candidates() {
    let bench = bench();
    std::fs::create_dir(bench.path("set")).expect("a directory");
    for name in ["fours.c", "rest.c", "a.c"] {
        std::fs::copy(bench.path(name), bench.path(&format!("set/{name}"))).expect("a copy");
    }
    bench.write("set/notes.txt", b"no kernel");
    bench.write("set/broken.c", b"void k(");
    let run = bench.run("check set/a.c set --format json");
    assert_eq!(run.status, Some(1), "{}{}", run.out, run.err);
    let report = run.json();
    let functions = report["functions"].as_array().expect("a list");
    let told: Vec<String> =
        functions.iter().map(|f| format!("{} {}", f["candidate_file"], f["verdict"]).replace('"', "")).collect();
    assert_eq!(told, ["set/broken.c unknown", "set/fours.c equivalent", "set/rest.c different"]);
    // The same answers as alone.
    for function in functions.iter().skip(1) {
        let file = function["candidate_file"].as_str().expect("a path");
        let alone = bench.run(&format!("check set/a.c {file} --format json")).json();
        for field in ["verdict", "assumptions", "witness", "also"] {
            assert_eq!(alone["functions"][0][field], function[field], "{file}: {field}");
        }
    }
    let text = bench.run("check set/a.c set").out;
    assert!(text.contains("set/fours.c: k was proved at N=16 only"), "{text}");
    std::fs::create_dir(bench.path("none")).expect("a directory");
    bench.run("check a.c none").fails_cleanly("no candidates");
    bench.run("check set/broken.c set").fails_cleanly("an original that cannot be read");
}

#[test]
fn certificates_of_a_set_are_each_of_its_file() {
    let bench = bench();
    std::fs::create_dir(bench.path("set")).expect("a directory");
    std::fs::copy(bench.path("fours.c"), bench.path("set/fours.c")).expect("a copy");
    let run = bench.run("check a.c set --certificates proofs");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(bench.run("verify proofs/fours.c/k.json a.c fours.c").status, Some(0));
    assert_ne!(bench.run("verify proofs/fours.c/k.json a.c rest.c").status, Some(0));
}

#[test]
fn all_parameters_of_both_files_are_asked_for_at_once() {
    let bench = Bench::new();
    let text =
        "void k(int n, int m, double a[n][m]) { for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = P; }";
    bench.write("a.c", text.as_bytes());
    bench.write("b.c", text.replace("= P;", "= P; for (int i = 0; i < R; i++) a[0][0] += 1;").as_bytes());
    for (words, wanted) in [
        ("check a.c a.c", "--param m=NUMBER --param n=NUMBER --param P=NUMBER"),
        ("check a.c b.c", "--param m=NUMBER --param n=NUMBER --param P=NUMBER --param R=NUMBER"),
        ("check b.c a.c", "--param m=NUMBER --param n=NUMBER --param P=NUMBER --param R=NUMBER"),
        ("check a.c b.c --param m=2 --param P=1 --param n=2", "parameter `R` needs a value"),
    ] {
        let run = bench.run(words);
        run.fails_cleanly(words);
        assert!(run.err.trim_end().ends_with(wanted) || run.err.contains("`R`"), "{words}: {}", run.err);
    }
}
