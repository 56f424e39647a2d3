//! Functions without debug information: what a prototype, a header or lists of registers say, and what is compared without them.

mod lockstep;

use lockstep::{Bench, Run, function};

/// Checks two bodies of `f`, each an assembly file.
fn check(bodies: [&str; 2], options: &str) -> (Bench, Run) {
    let bench = Bench::new();
    bench.assembly("a.s", &[("f", bodies[0])]);
    bench.assembly("b.s", &[("f", bodies[1])]);
    let run = bench.run(&format!("check a.s b.s --no-run --format json {options}"));
    (bench, run)
}

fn verdict(bodies: [&str; 2], options: &[&str]) -> String {
    let bench = Bench::new();
    bench.assembly("a.s", &[("f", bodies[0])]);
    bench.assembly("b.s", &[("f", bodies[1])]);
    bench.write("f.h", b"#ifndef F_H\n#define F_H\ntypedef unsigned char byte;\nextern int f(byte x, const int *p);\nint g(void);\n#endif\n");
    bench.write("g.h", b"int g(void);\n");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lockstep"))
        .args(["check", "--no-run", "--format", "json", "--timeout", "10"])
        .args([bench.path("a.s"), bench.path("b.s")])
        .args(options.iter().map(|option| option.replace("DIR", &bench.path("").display().to_string())))
        .output()
        .expect("the binary runs");
    if output.status.code() == Some(3) {
        return String::from_utf8_lossy(&output.stderr).trim().to_string();
    }
    let report = serde_json::from_slice(&output.stdout).expect("a report");
    function(&report, "f")["verdict"].as_str().expect("a verdict").to_string()
}

/// The upper half of a result counts unless the prototype says that it is an `int`.
const HALF: [&str; 2] = ["mov rax, rdi\nret", "mov eax, edi\nret"];

#[test]
fn a_prototype_says_what_counts() {
    assert_ne!(verdict(HALF, &[]), "equivalent");
    assert_eq!(verdict(HALF, &["--prototype", "int f(int x)"]), "equivalent");
    assert_eq!(verdict(HALF, &["--prototype", "int f(long x);"]), "equivalent");
    assert_eq!(verdict(HALF, &["--prototype", "void f(long x)"]), "equivalent");
    assert_eq!(verdict(HALF, &["--prototype", "long f(long x)"]), "different");
    // What a caller leaves in a register that carries no argument is anything.
    assert_ne!(verdict(["mov eax, edi\nret", "mov eax, esi\nret"], &["--prototype", "int f(int x)"]), "equivalent");
    let bad = verdict(HALF, &["--prototype", "int f(strange x)"]);
    assert!(bad.contains("unknown type name"), "{bad}");
    let other = verdict(HALF, &["--prototype", "int g(int x)"]);
    assert!(other.contains("no function `g` is compared"), "{other}");
    let no = verdict(HALF, &["--prototype", "int f"]);
    assert!(no.contains("a declaration such as"), "{no}");
}

#[test]
fn names_of_parameters_are_for_conditions() {
    let pair = ["mov eax, [rsi]\nadd eax, edi\nret", "mov eax, edi\nret"];
    let assume = ["--function", "f", "--prototype", "int f(int n, const int *p)", "--assume"];
    let with = |condition| verdict(pair, &[&assume[..], &[condition]].concat());
    assert_eq!(with("p[0] == 0"), "equivalent");
    assert_eq!(with("p[1] == 0"), "different");
    assert_eq!(with("rsi != 0 && *(int *)rsi == 0"), "equivalent");
}

#[test]
fn a_header_declares_functions() {
    let pair = ["movzx eax, dil\nret", "mov eax, edi\nret"];
    assert_ne!(verdict(pair, &[]), "equivalent");
    assert_eq!(verdict(pair, &["--header", "DIR/f.h"]), "equivalent");
    let none = verdict(pair, &["--header", "DIR/g.h"]);
    assert!(none.contains("declares no function without debug information"), "{none}");
    assert!(verdict(pair, &["--header", "DIR/nothing.h"]).contains("nothing.h"));
}

#[test]
fn registers_that_live() {
    // A piece of code with registers of its own.
    let pair = ["lea rcx, [rbx+r15*4]\nmov edx, 1\nret", "mov rcx, r15\nshl rcx, 2\nadd rcx, rbx\nxor edx, edx\nret"];
    assert_ne!(verdict(pair, &[]), "equivalent");
    assert_eq!(verdict(pair, &["--live-in", "rbx,r15", "--live-out", "rcx"]), "equivalent");
    assert_eq!(verdict(pair, &["--live-in", "rbx,r15", "--live-out", "rcx,rdx"]), "different");
    // What does not live at the start may differ.
    assert_ne!(verdict(pair, &["--live-in", "rbx", "--live-out", "rcx"]), "equivalent");
    let bad = verdict(pair, &["--live-in", "rbx,rip", "--live-out", "rcx"]);
    assert!(bad.contains("`rip` is no general or vector register"), "{bad}");
    let kept = verdict(pair, &["--live-out", "rbx"]);
    assert!(kept.contains("must be left as it was"), "{kept}");
}

#[test]
fn what_is_never_written_is_no_result() {
    let pair = ["mov [rdi], esi\nret", "mov eax, esi\nmov [rdi], eax\nret"];
    let (bench, run) = check(pair, "--certificates proofs");
    let report = run.json();
    assert_eq!(function(&report, "f")["verdict"], "equivalent", "{}", run.out);
    assert_eq!(bench.run("verify proofs/f.json a.s b.s").status, Some(0));
    // Written on one path only, it is one.
    let some = "test esi, esi\nje 1f\nmov eax, 1\n1: mov [rdi], esi\nret";
    assert_ne!(verdict([some, "mov eax, 1\nmov [rdi], esi\nret"], &[]), "equivalent");
    // So it is if somebody is called.
    let called = "push rbx\ncall g\npop rbx\nret";
    assert_ne!(verdict([called, "push rbx\ncall g\nxor eax, eax\npop rbx\nret"], &[]), "equivalent");
}

#[test]
fn show_has_the_interface() {
    let bench = Bench::new();
    bench.assembly("a.s", &[("f", HALF[0])]);
    let run = bench.run("show a.s --function f --live-in edi,rbx --live-out rcx");
    assert!(run.out.contains("f(rdi:4, rbx:8) → rcx:8"), "{}{}", run.out, run.err);
}

#[test]
fn an_interface_is_an_assumption() {
    let bench = Bench::new();
    bench.assembly("a.s", &[("f", HALF[0])]);
    bench.assembly("b.s", &[("f", HALF[1])]);
    let run = bench.run("check a.s b.s --no-run --format json --live-in rdi --live-out eax --certificates proofs");
    let report = run.json();
    let assumptions = function(&report, "f")["assumptions"].to_string();
    assert!(assumptions.contains("interface(f)"), "{assumptions}");
    let run = bench.run("verify proofs/f.json a.s b.s --live-in rdi --live-out eax");
    assert!(run.status == Some(0) && run.out.contains("interface(f)"), "{}{}", run.out, run.err);
    // Without it, or with a wider one, the same certificate proves nothing.
    assert_eq!(bench.run("verify proofs/f.json a.s b.s").status, Some(2));
    assert_eq!(bench.run("verify proofs/f.json a.s b.s --live-in rdi --live-out rax").status, Some(2));
}
