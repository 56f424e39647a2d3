//! C kernels against object code that compilers made of them, and of wrong variants.

// This file uses a part of the helpers.
#[allow(dead_code)]
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
    bench.write("b.c", b"void f(double a[4]) { for (int i = 0; i < 4; i++) if (a[i] > 1) a[i] = a[i] / a[0]; }");
    for (name, why) in [("a", "an integer operation on data"), ("b", "control depends on data")] {
        assert!(compiles(&bench, "cc -O0", name));
        let (verdict, run) = check(&bench, &format!("{name}.c {name}.o"));
        assert_eq!(verdict, "unknown");
        assert!(run.out.contains(why) && run.out.contains("f+0x"), "{}", run.out);
    }
    let run = bench.run("check a.o b.o --strategy updates");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("needs a C file on one side"), "{}", run.err);
    let run = bench.run("check a.c a.o --certificates out");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("--certificates"), "{}", run.err);
    let run = bench.run("check a.c a.o --param M=3");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("no parameter of that name"), "{}", run.err);
    let (verdict, _) = check(&bench, "a.c a.o --function f=g");
    assert_eq!(verdict, "unknown");
    let run = bench.run("check a.c a.o --function g");
    assert_eq!(run.status, Some(3), "{}", run.out);
}
