//! Shared libraries: what a linked file does not tell about its statics and local functions excuses a witness, and nothing else does.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::{Bench, function};
use std::process::Command;

/// Makes a shared library of C text.
fn library(bench: &Bench, name: &str, level: &str, text: &str) {
    let source = format!("{name}.c");
    bench.write(&source, text.as_bytes());
    let words = ["-g", "-fPIC", "-fno-inline", "-shared", "-nostdlib", "-fcf-protection=none", level, "-o"];
    let status = Command::new("gcc-12").args(words).arg(bench.path(name)).arg(bench.path(&source)).status();
    assert!(status.expect("gcc-12 runs").success(), "{name}");
}

/// The verdict about a function of two libraries, the candidate optimised.
fn verdict(original: &str, candidate: &str, name: &str) -> String {
    verdict_at("-O1", original, candidate, name)
}

/// The same for another level of the candidate.
fn verdict_at(level: &str, original: &str, candidate: &str, name: &str) -> String {
    let bench = Bench::new();
    library(&bench, "a.so", "-O0", original);
    library(&bench, "b.so", level, candidate);
    let run = bench.run(&format!("check a.so b.so --function {name} --format json --timeout 5"));
    function(&run.json(), name)["verdict"].as_str().expect("a verdict").to_string()
}

#[test]
fn nobody_knows_who_calls_a_local_function() {
    let with = |check: &str, otherwise: &str| {
        format!(
            "static long g(unsigned long x) {{ {check} return x * 3 + 1; }}
             long f(unsigned long x) {{ return x < 14 ? g(x) : {otherwise}; }}"
        )
    };
    let checked = "if (x > 13) __builtin_trap();";
    assert_eq!(verdict_at("-O0", &with("", "0"), &with(checked, "0"), "g"), "unknown");
    // No compiler that does not optimise makes this of it.
    assert_eq!(verdict_at("-O0", &with("", "0"), &with("x++;", "0"), "g"), "different");
    assert_eq!(verdict(&with("", "0"), &with("x++;", "0"), "g"), "unknown");
    assert_eq!(verdict(&with("", "0"), &with("", "1"), "f"), "different");
}

#[test]
fn the_loader_knows_what_thread_local_variables_hold() {
    let of = |small: &str| {
        format!("static __thread long x = 36; long f(long i) {{ if (i < 9) return {small}; return x + 1; }}")
    };
    assert_eq!(verdict(&of("i"), &of("i"), "f"), "unknown");
    assert_eq!(verdict(&of("i"), &of("i + 1"), "f"), "different");
}

#[test]
fn no_argument_points_to_a_static() {
    let of =
        |result: &str| format!("static char x = 0; long f(char *p, char v) {{ char t = x; *p = v; return {result}; }}");
    assert_ne!(verdict(&of("x + t"), &of("x + t"), "f"), "different");
    assert_eq!(verdict(&of("x + t"), &of("x + t + v"), "f"), "different");
}

#[test]
fn what_a_function_passes_on_is_a_result() {
    // Of `g` there is no debug information, so that it may return nothing.
    let of = |result: &str| {
        format!(
            "__asm__(\".globl g\\n.type g, @function\\ng: mov %rdi, %rax\\nimul %rax, %rax\\nret\\n.size g, .-g\");
             long g(long); long f(long x, long y) {{ return {result}; }}"
        )
    };
    assert_ne!(verdict(&of("g(x + y)"), &of("g(x + y)"), "f"), "different");
    assert_eq!(verdict(&of("g(x + y)"), &of("g(x + y) + 1"), "f"), "different");
}
