//! C kernels against object code that compilers made of them, and of wrong variants.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::{Bench, Run};
use std::path::Path;
use std::process::Command;

/// Kernels of the bench with their parameters; `-D` for macros, arguments otherwise.
const KERNELS: [(&str, &str, &str); 5] = [
    ("gemm", "-DN=16", "--param N=16"),
    ("jacobi-1d", "-DN=16 -DSTEPS=6", "--param N=16 --param STEPS=6"),
    ("jacobi-2d", "-DN=16", "--param N=16 --param n=16 --param steps=4"),
    ("mvt", "-DN=16", "--param N=16 --param n=16"),
    ("trmm", "-DN=16", "--param N=16"),
];

fn source(kernel: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../bench/kernels/src/{kernel}.c"));
    std::fs::read_to_string(path).expect("a kernel of the bench")
}

/// The ways to compile that this machine has; `cc` it must have.
fn ways() -> Vec<&'static str> {
    let all = ["cc -O0", "gcc -O3", "gcc -O3 -mavx2 -ffp-contract=off", "clang-19 -O3", "clang-19 -O3 -mllvm -polly"];
    let bench = Bench::new();
    bench.write("empty.c", b"int x;\n");
    let works = |way: &&&str| compiles(&bench, way, "empty");
    let found: Vec<&str> = all.iter().filter(works).copied().collect();
    assert!(found.contains(&"cc -O0"), "no C compiler");
    found
}

fn compiles(bench: &Bench, way: &str, name: &str) -> bool {
    let mut words = way.split_whitespace();
    let mut command = Command::new(words.next().expect("a compiler"));
    command.args(words).arg("-c").arg(bench.path(&format!("{name}.c"))).arg("-o").arg(bench.path(&format!("{name}.o")));
    command.output().is_ok_and(|output| output.status.success())
}

fn check(bench: &Bench, words: &str) -> (String, Run) {
    let run = bench.run(&format!("check {words} --format json"));
    assert!(!run.out.is_empty(), "{words}: {}", run.err);
    let verdict = run.json()["functions"][0]["verdict"].as_str().expect("a verdict").to_string();
    (verdict, run)
}

#[test]
fn compiled_kernels_are_equivalent_in_both_directions() {
    let bench = Bench::new();
    for (kernel, macros, parameters) in KERNELS {
        bench.write("a.c", source(kernel).as_bytes());
        for way in ways() {
            assert!(compiles(&bench, &format!("{way} {macros}"), "a"), "{kernel} {way}");
            for sides in ["a.c a.o", "a.o a.c"] {
                let (verdict, run) = check(&bench, &format!("{sides} {parameters}"));
                assert_eq!(verdict, "equivalent", "{kernel} {way} {sides}: {}", run.out);
                assert!(run.out.contains("array-placement"), "{}", run.out);
            }
        }
    }
}

/// A kernel, what is replaced, by what, and whether the bounds stay right, so that a difference can be shown.
const WRONG: [(usize, &str, &str, bool); 7] = [
    (0, "alpha * A[i][k] * B[k][j]", "alpha * (A[i][k] * B[k][j])", true),
    (0, "k < N", "k < N - 1", true),
    (1, "0.33333 * (A", "0.33334 * (A", true),
    (1, "A[i - 1] + A[i] + A[i + 1]", "A[i - 1] + (A[i] + A[i + 1])", true),
    (3, "int j = 0; j < n; j++", "int j = n - 1; j >= 0; j--", true),
    (4, "k = i + 1", "k = i", true),
    (4, "k < N", "k <= N", false),
];

#[test]
fn compiled_wrong_variants_are_never_equivalent() {
    let bench = Bench::new();
    for (number, from, to, inside) in WRONG {
        let (kernel, macros, parameters) = KERNELS[number];
        let right = source(kernel);
        let wrong = right.replace(from, to);
        assert_ne!(right, wrong, "{kernel}: `{from}` is not there");
        bench.write("a.c", right.as_bytes());
        bench.write("b.c", wrong.as_bytes());
        for way in ways() {
            assert!(compiles(&bench, &format!("{way} {macros}"), "b"), "{kernel} {way}");
            let (verdict, run) = check(&bench, &format!("a.c b.o {parameters}"));
            let wanted = if inside { "different" } else { "unknown" };
            assert_eq!(verdict, wanted, "{kernel} {way} `{to}`: {}", run.out);
        }
    }
}

#[test]
fn a_fused_multiplication_needs_contraction() {
    let bench = Bench::new();
    bench.write("a.c", b"void f(double a[4], double b[4]) { for (int i = 0; i < 4; i++) a[i] = a[i] * b[i] + 1.5; }");
    assert!(compiles(&bench, "cc -O2 -mfma -ffp-contract=fast", "a"));
    assert_eq!(check(&bench, "a.c a.o").0, "different");
    assert_eq!(check(&bench, "a.c a.o --fp contract").0, "equivalent");
}

#[test]
fn stores_past_the_end_are_seen() {
    let bench = Bench::new();
    let text = |end: u32| format!("void f(double a[4]) {{ for (int i = 0; i < {end}; i++) a[i] = 2.0; }}");
    bench.write("a.c", text(4).as_bytes());
    bench.write("b.c", text(5).replace("a[4]", "*a").as_bytes());
    assert!(compiles(&bench, "cc -O1", "b"));
    let (verdict, run) = check(&bench, "a.c b.o");
    assert_eq!(verdict, "different", "{}", run.out);
    assert!(run.out.contains("a store outside `a`"), "{}", run.out);
}

#[test]
fn what_is_not_handled_is_named() {
    let bench = Bench::new();
    bench.write("a.c", b"void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = 3 * a[i] + 1; }");
    bench.write("b.c", b"void f(int a[4], double b[4]) { for (int i = 0; i < 4; i++) if (a[i] > 1) b[i] = 2.0; }");
    for (name, why) in [("a", "an integer operation on data"), ("b", "control depends on data")] {
        assert!(compiles(&bench, "cc -O0", name));
        let (verdict, run) = check(&bench, &format!("{name}.c {name}.o"));
        assert_eq!(verdict, "unknown");
        assert!(run.out.contains(why) && run.out.contains("f+0x"), "{}", run.out);
    }
    let run = bench.run("check a.o b.o --strategy updates");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("--interface"), "{}", run.err);
    let run = bench.run("check a.c a.o --interface a.c");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("--interface a.c"), "{}", run.err);
    let run = bench.run("check a.c a.o --param M=3");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("no parameter of that name"), "{}", run.err);
    let (verdict, _) = check(&bench, "a.c a.o --function f=g");
    assert_eq!(verdict, "unknown");
    let run = bench.run("check a.c a.o --function g");
    assert_eq!(run.status, Some(3), "{}", run.out);
}

/// Compiles a text under a name.
fn compiled(bench: &Bench, way: &str, name: &str, text: &str) {
    bench.write(&format!("{name}.c"), text.as_bytes());
    assert!(compiles(bench, way, name), "{name}: {way}");
}

#[test]
fn two_objects_are_compared_as_a_c_file_says() {
    let bench = Bench::new();
    let (kernel, macros, parameters) = KERNELS[0];
    let right = source(kernel);
    bench.write("kernel.c", right.as_bytes());
    compiled(&bench, &format!("cc -O0 {macros}"), "a", &right);
    compiled(&bench, &format!("cc -O3 {macros}"), "b", &right);
    compiled(&bench, &format!("cc -O3 {macros}"), "c", &right.replace("k < N", "k < N - 1"));
    let (verdict, run) = check(&bench, &format!("a.o b.o --interface kernel.c {parameters}"));
    assert_eq!(verdict, "equivalent", "{}", run.out);
    let (verdict, run) = check(&bench, &format!("a.o c.o --interface kernel.c {parameters}"));
    assert_eq!(verdict, "different", "{}", run.out);
    assert!(run.out.contains("\"cpu\""), "{}", run.out);
    let run = bench.run(&format!("check a.o b.o --interface missing.c {parameters}"));
    assert_eq!(run.status, Some(3), "{}", run.err);
    bench.write("other.c", b"void other(double a[4]) { a[0] = 1; }");
    let run = bench.run("check a.o b.o --interface other.c");
    assert_eq!(run.status, Some(3), "{}", run.err);
}

#[test]
fn certificates_are_about_the_code_and_its_interface() {
    let bench = Bench::new();
    let text = "void f(double a[8], double s) { for (int i = 0; i < 8; i++) a[i] = a[i] * s + 1.5; }";
    compiled(&bench, "cc -O2 -ffp-contract=off", "a", text);
    compiled(&bench, "cc -O1 -ffp-contract=off", "b", &text.replace("a[i] * s", "s * a[i]"));
    compiled(&bench, "cc -O2 -ffp-contract=off", "c", &text.replace("1.5", "2.5"));
    for (number, sides) in ["a.c a.o", "b.o a.c", "b.o a.o --interface a.c"].into_iter().enumerate() {
        let run = bench.run(&format!("check {sides} --certificates out{number}"));
        assert_eq!(run.status, Some(0), "{sides}: {} {}", run.out, run.err);
        let run = bench.run(&format!("verify out{number}/f.json {sides}"));
        assert_eq!(run.status, Some(0), "{sides}: {} {}", run.out, run.err);
        assert!(run.out.contains("accepted") && !run.out.contains("hash-128"), "{}", run.out);
    }
    for other in ["a.c c.o", "c.c a.o", "a.o a.c", "a.c a.c"] {
        let run = bench.run(&format!("verify out0/f.json {other}"));
        assert_eq!(run.status, Some(3), "{other}: {} {}", run.out, run.err);
        assert!(run.err.contains("another version"), "{other}: {}", run.err);
    }
    let run = bench.run("verify out2/f.json b.o a.o --interface c.c");
    assert_eq!(run.status, Some(3), "the interface is another: {} {}", run.out, run.err);
}

#[test]
fn differences_of_object_code_are_replayed_on_the_cpu() {
    let bench = Bench::new();
    let text =
        "double f(int n, double a[8], float s) { double t = 0; for (int i = 0; i < n; i++) t += a[i] * s; return t; }";
    bench.write("a.c", text.as_bytes());
    compiled(&bench, "cc -O2 -ffp-contract=off", "b", &text.replace("i < n", "i < n - 1"));
    for sides in ["a.c b.o", "b.o a.c"] {
        let (verdict, run) = check(&bench, &format!("{sides} --param n=8"));
        assert_eq!(verdict, "different", "{}", run.out);
        assert!(run.out.contains("\"cpu\""), "{sides}: {}", run.out);
    }
}

/// Branches on data: a square root whose argument is tested first, so that a negative one sets `errno`.
const BRANCHES: &str = "#include <math.h>
void f(double a[8], double b[8]) {
  for (int i = 0; i < 8; i++) {
    double r = sqrt(a[i]);
    b[i] = r * b[i];
    a[i] = r + 1.0;
  }
}
";

#[test]
fn branches_on_data_are_followed_on_both_sides() {
    let bench = Bench::new();
    bench.write("a.c", BRANCHES.as_bytes());
    for way in ways() {
        let same = ("r + 1.0", "1.0 + r", "equivalent");
        for (from, to, wanted) in [same, ("r * b[i]", "r * a[i]", "different"), ("i < 8", "i < 7", "different")] {
            bench.write("b.c", BRANCHES.replace(from, to).as_bytes());
            assert!(compiles(&bench, way, "b"), "{way}");
            let (verdict, run) = check(&bench, "a.c b.o");
            assert_eq!(verdict, wanted, "{way} {to}: {}", run.out);
        }
    }
}
