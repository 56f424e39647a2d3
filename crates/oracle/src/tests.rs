//! Pairs of functions compiled for the test.

use crate::{Input, Limits, Objects, Pair, Report, Shape};
use lift_elf::Image;
use std::process::Command;
use std::sync::Arc;
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
    compare_on(&inputs(), original, candidate)
}

fn compare_on(inputs: &[Input], original: &str, candidate: &str) -> Report {
    let objects = [compile(original, &["-O0"]), compile(candidate, &["-O2"])];
    let pair = Pair::link([&objects[0], &objects[1]], ["f", "f"]).unwrap();
    let images = [0, 1].map(|i| Image::parse(objects[i].clone(), "a.o").unwrap());
    let shape = Shape::of([&images[0], &images[1]], "f", &pair.callees());
    pair.compare(inputs.to_vec(), shape, LIMITS)
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
fn a_few_runs_of_one_path_are_enough() {
    let source = "int f(int a, int b) { return a + b; }";
    let mut inputs = inputs();
    assert_eq!(compare_on(&inputs, source, source).ran, inputs.len());
    inputs.iter_mut().for_each(|input| input.path = 7);
    assert_eq!(compare_on(&inputs, source, source).ran, 5);
    // One that goes another way is run, however late it comes.
    let other = "int f(int a, int b) { return a == 77 ? 0 : a + b; }";
    let last = inputs.last_mut().unwrap();
    (last.path, last.general[0]) = (8, 77);
    assert_eq!(compare_on(&inputs, source, source).ran, 6);
    assert!(compare_on(&inputs, source, other).difference.is_some());
    // What is not defined does not count.
    let divides = "int f(int *p, int b) { return *p / 3; }";
    inputs.iter_mut().for_each(|input| input.general[0] %= BUFFER);
    inputs.iter_mut().skip(8).for_each(|input| input.general[0] = BUFFER);
    let report = compare_on(&inputs, divides, divides);
    assert_eq!((report.undefined, report.ran), (8, 6), "{report:?}");
}

#[test]
fn runs_with_many_calls_are_fewer() {
    let source = "int g(int); int f(int a) { for (int i = 0; i < 23; i++) a = g(a); return a; }";
    assert_eq!(compare(source, source).ran, 5);
    let source = "int g(int); int f(int a) { return g(g(a)); }";
    assert_eq!(compare(source, source).ran, 16);
}

#[test]
fn a_used_sandbox_is_as_good_as_a_new_one() {
    let page = BUFFER / 4096;
    let source = |add: u32, poke: &str| {
        format!(
            "int n; static int m; int f(int *p, int a) {{ n += a; m++; return n + m; }}
             int g(int *p, int a) {{ {poke} return n + m + {add}; }}
             void h(char *p) {{ p[3] += 5; }}"
        )
    };
    let objects = |candidate: &str| {
        let objects = [compile(&source(0, ""), &["-O0"]), compile(candidate, &["-O2"])];
        let images = [0, 1].map(|i| Image::parse(objects[i].clone(), "a.o").unwrap());
        let usual = [page, page + 1, page + 2].into();
        (Arc::new(Objects::for_inputs([&objects[0], &objects[1]], usual).unwrap()), images)
    };
    let compare = |(objects, images): &(Arc<Objects>, [Image; 2]), name: &str| {
        let pair = objects.pair([name, name]).unwrap();
        let shape = Shape::of([&images[0], &images[1]], name, &pair.callees());
        let mut inputs = inputs();
        inputs.iter_mut().for_each(|input| input.general[0] = BUFFER);
        pair.compare(inputs, shape, LIMITS)
    };
    // What one function leaves behind no other finds.
    let same = objects(&source(0, ""));
    for name in ["f", "g", "h", "g", "f"] {
        let report = compare(&same, name);
        assert_eq!((report.ran, &report.difference), (20, &None), "{name}: {report:?}");
    }
    let other = objects(&source(1, ""));
    for (name, differs) in [("f", false), ("g", true), ("f", false), ("g", true)] {
        let report = compare(&other, name);
        assert_eq!(report.difference.is_some(), differs, "{name}: {report:?}");
    }
    // A store to a page that is there for other inputs is one to nowhere.
    let poke = format!("*(volatile char *){:#x} = 1;", 4096 * (page + 1));
    let report = compare(&objects(&source(0, &poke)), "g");
    assert_eq!(report.difference.map(|d| d.what), Some("how it ends".to_string()));
}

#[test]
fn tasks_are_done_beside_each_other() {
    let source = "int g(int); int f(int a, int b) { return g(a) + b; }";
    let objects = [compile(source, &["-O0"]), compile(source, &["-O2"])];
    let pair = Pair::link([&objects[0], &objects[1]], ["f", "f"]).unwrap();
    let images = [0, 1].map(|i| Image::parse(objects[i].clone(), "a.o").unwrap());
    let shape = Shape::of([&images[0], &images[1]], "f", &pair.callees());
    let pending: Vec<_> = (0..12).map(|_| pair.submit(inputs(), shape.clone(), LIMITS)).collect();
    for pending in pending {
        assert_eq!(pending.wait().ran, 20);
    }
}

#[test]
fn what_depends_on_where_the_stack_lies_is_no_difference() {
    let source = "unsigned long f(int a) { char b[64]; char *volatile p = b; return ((unsigned long)p >> 4) * 5; }";
    let other = source.replace("char b[64];", "volatile char c[700]; c[a & 7] = 1; char b[64];");
    let report = compare(source, &other);
    assert_eq!((report.difference, report.ran, report.undefined), (None, 0, 20));
    assert!(report.misbehaviour.unwrap().contains("leaves open"));
}

#[test]
fn a_difference_tells_whom_the_runs_called() {
    let source = "int g(int); int k(int); int f(int a) { return a == 5 ? k(a) : g(a); }";
    let report = compare(source, &source.replace("g(a)", "g(a) + 1"));
    assert_eq!(report.difference.unwrap().called, ["g".to_string()].into());
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
