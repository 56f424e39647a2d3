//! Pairs of functions compiled for the test.

use crate::{Input, Limits, Pair, Report, Shape};
use lift_elf::Image;
use std::process::Command;
use std::time::Duration;

const LIMITS: Limits = Limits { processor: Duration::from_millis(50), clock: Duration::from_secs(20) };

/// Compiles C.
fn compile(source: &str, flags: &[&str]) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let (c, o) = (dir.path().join("a.c"), dir.path().join("a.o"));
    std::fs::write(&c, source).unwrap();
    let status = Command::new("gcc").args(["-c", "-g", "-w", "-o"]).arg(&o).arg(&c).args(flags).status().unwrap();
    assert!(status.success());
    std::fs::read(o).unwrap()
}

const BUFFER: u64 = 0x2000_0000_0000;

/// Numbers and pointers to a buffer.
fn inputs() -> Vec<Input> {
    let inputs = (0..20u64).map(|seed| {
        let mut input = Input::new(seed);
        input.general = std::array::from_fn(|i| crate::Seed(seed).number(i as u64) % 24);
        input.vectors = [[0; 32]; 8];
        for (i, vector) in input.vectors.iter_mut().enumerate() {
            vector[..8].copy_from_slice(&((seed + i as u64) as f64 / 4.0).to_le_bytes());
        }
        input.memory = vec![(BUFFER, (0..256).map(|i| crate::Seed(seed).number(i) as u8 % 50).collect())];
        if seed % 2 == 0 {
            input.general[0] = BUFFER;
        }
        input
    });
    inputs.collect()
}

/// Compares `f` of two sources, both unoptimised and optimised.
fn compare(original: &str, candidate: &str) -> Report {
    let objects = [compile(original, &["-O0"]), compile(candidate, &["-O2"])];
    let pair = Pair::link([&objects[0], &objects[1]], ["f", "f"]).unwrap();
    let images = [0, 1].map(|i| Image::parse(objects[i].clone(), "a.o").unwrap());
    let shape = Shape::of([&images[0], &images[1]], "f", &pair.callees());
    pair.compare(&inputs(), &shape, LIMITS)
}

/// The same source twice agrees; the other one does not, and says so.
fn tells_apart(source: &str, other: &str, what: &str) {
    let same = compare(source, source);
    assert_eq!((same.difference.clone(), same.doubtful, same.not_run.clone()), (None, 0, None), "{same:?}");
    assert!(same.ran >= 5, "{same:?}");
    let report = compare(source, other);
    let difference = report.difference.clone().unwrap_or_else(|| panic!("no difference: {report:?}"));
    assert!(difference.what.contains(what), "{difference:?}");
}

#[test]
fn results() {
    tells_apart("int f(int a, int b) { return a + b; }", "int f(int a, int b) { return a - b; }", "result rax");
    tells_apart(
        "double f(double a, double b) { return a * b; }",
        "double f(double a, double b) { return a / b; }",
        "result xmm0",
    );
}

#[test]
fn memory_behind_pointers() {
    tells_apart(
        "void f(char *p) { p[3] = 7; p[4] = 1; }",
        "void f(char *p) { p[3] = 7; p[5] = 1; }",
        "memory at the end",
    );
}

#[test]
fn globals_by_name() {
    let source = "int x, y = 4; static int n[3]; int *f(int i) { n[i % 3]++; x = y + n[1]; return &n[i % 3]; }";
    let other = "int y = 4, x; static int n[3]; int *f(int i) { n[i % 3]++; x = y + n[1] + 1; return &n[i % 3]; }";
    tells_apart(source, other, "memory at the end: x");
    let other = "int y = 4, x; static int n[3]; int *f(int i) { n[i % 3]++; x = y + n[1]; return &n[i % 2]; }";
    tells_apart(source, other, "result rax");
}

#[test]
fn calls_and_their_arguments() {
    let source = "int g(int, long); extern int k; int f(int a, int b) { int s = g(a, b); k = s; return g(s, 3) + k; }";
    tells_apart(source, &source.replace("g(s, 3)", "g(s, 4)"), "argument rsi of call 2 (g)");
    tells_apart(source, &source.replace("k = s;", "k = s + 1;"), "memory at call 2 (g)");
    tells_apart(source, &source.replace("return g(s, 3) + k", "return k"), "how it ends");
}

#[test]
fn texts_by_content() {
    let source = "int puts(const char *); int f(int a) { return puts(a > 3 ? \"foobar\" : \"no\"); }";
    tells_apart(source, &source.replace("foobar", "fooxyz"), "argument rdi of call 1 (puts)");
}

#[test]
fn arguments_on_the_stack() {
    let source =
        "struct s { long a[5]; }; void g(struct s); void f(long a, long b) { struct s s = {{a, b, 3, a, 5}}; g(s); }";
    tells_apart(source, &source.replace("3, a, 5", "3, a, 6"), "argument [rsp+0x28] of call 1 (g)");
}

#[test]
fn statics_with_function_scope_and_thread_local_data() {
    let source = "static __thread int t = 5; int f(int a) { static int n; n += a; t += n; return n + t; }";
    tells_apart(source, &source.replace("t += n", "t += n + 1"), "result rax");
}

#[test]
fn local_functions_run_as_they_are() {
    let source = "static __attribute__((noinline)) int g(int *p, int i) { p[0] = 1; p[i & 1] = 7; return p[0]; }
        int f(int i) { int a[2]; return g(a, i); }";
    tells_apart(source, &source.replace("return p[0]", "return 1"), "result rax");
}

#[test]
fn what_the_original_leaves_open_is_no_difference() {
    // Uninitialised; padding; addresses as numbers.
    for source in [
        "int f(int a) { int x; int *volatile p = &x; return a > 100 ? a : *p; }",
        "struct s { char c; long l; }; void f(struct s *p, int a) { struct s s; s.c = a; s.l = 3; *p = s; }",
        "int x, y; int f(void) { return (unsigned long)&x >> 3; }",
    ] {
        let report = compare(source, source);
        assert_eq!(report.difference, None, "{report:?}");
    }
}

#[test]
fn the_candidate_must_not_fault_or_run_forever() {
    let source = "int f(int *p, int n) { return n ? 3 : 4; }";
    tells_apart(source, "int f(int *p, int n) { return n ? *(volatile int *)8 : 4; }", "how it ends");
    tells_apart(source, "int f(int *p, int n) { while (n) asm volatile(\"\"); return 4; }", "how it ends");
    tells_apart(
        source,
        "int f(int *p, int n) { asm volatile(\"syscall\" ::: \"rax\", \"rcx\", \"r11\"); return n ? 3 : 4; }",
        "how it ends",
    );
}

#[test]
fn what_cannot_be_linked_is_refused() {
    let object = compile("int f(void) { return 1; }", &[]);
    assert!(Pair::link([&object, &object], ["f", "g"]).is_err());
    assert!(Pair::link([&object[..100], &object], ["f", "f"]).is_err());
    assert!(Pair::link([b"", &object], ["f", "f"]).is_err());
    let dynamic = compile("extern __thread int t; int f(void) { return t; }", &["-fPIC"]);
    assert!(Pair::link([&dynamic, &object], ["f", "f"]).is_err());
}
