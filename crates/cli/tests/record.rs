//! `lockstep record` as scripts see it.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::Bench;
use std::process::Command;

/// `f` adds up numbers behind a pointer; `g` does it wrongly for more than three; `never` is not called.
const SOURCE: &str = "
    int bias = 2;
    __attribute__((noinline)) int f(const int *p, int n) { int s = bias; for (int i = 0; i < n; i++) s += p[i]; return s; }
    __attribute__((noinline)) int never(int x) { return x; }
    int main(int argc, char **argv) {
        int a[8] = {1, 2, 3, 4, 5, 6, 7, 8}, s = 0;
        for (int i = 0; i < 30; i++) { a[i & 7] += i; s += f(a, i & 7); bias++; }
        return argc > 8 ? never(s) : s & 31;
    }";

fn compile(bench: &Bench, name: &str, source: &str, flags: &[&str]) {
    bench.write("source.c", source.as_bytes());
    let mut command = Command::new("gcc");
    let status =
        command.args(["-g", "-w", "-o"]).arg(bench.path(name)).arg(bench.path("source.c")).args(flags).status();
    assert!(status.expect("gcc runs").success());
}

#[test]
fn recorded_states_are_tests() {
    let bench = Bench::new();
    compile(&bench, "program", SOURCE, &["-O1"]);
    let run = bench.run("record --function f -o tests.json -- ./program");
    assert_eq!((run.status, run.out.as_str()), (Some(0), ""), "{}", run.err);
    assert!(run.err.starts_with("lockstep: 30 start states of `f` by "), "{}", run.err);
    assert!(
        run.err.contains("30 of 30 that were compared did in the program what the interpreter says"),
        "{}",
        run.err
    );
    compile(&bench, "a.o", SOURCE, &["-O1", "-c"]);
    compile(
        &bench,
        "b.o",
        &SOURCE.replace("s += p[i];", "s += i == 6 && p[i] > 30 && bias > 20 ? 0 : p[i];"),
        &["-O2", "-c"],
    );
    compile(&bench, "c.o", SOURCE, &["-O2", "-c"]);
    let check = bench.run("check a.o b.o --function f --tests tests.json --format json");
    assert_eq!(check.status, Some(1), "{}{}", check.out, check.err);
    assert_eq!(lockstep::function(&check.json(), "f")["strategy"], "tests", "{}", check.out);
    let same = bench.run("check a.o c.o --function f --tests tests.json");
    assert_eq!(same.status, Some(0), "{}{}", same.out, same.err);
    let measured = bench.run("measure a.o c.o --function f --tests tests.json --rounds 21 --layouts 1 --format json");
    let report = measured.json();
    assert_eq!((&report["states"], &report["differing"]), (&16.into(), &0.into()), "{report}");
}

#[test]
fn limits() {
    let bench = Bench::new();
    compile(&bench, "program", SOURCE, &["-O1"]);
    let run = bench.run("record --function f --max 20 -o tests.json -- ./program");
    assert!(
        run.err.starts_with("lockstep: 20 start states of `f` by ") && run.err.contains(" of 30 entries"),
        "{}",
        run.err
    );
}

#[test]
fn a_function_that_is_never_entered_is_2() {
    let bench = Bench::new();
    compile(&bench, "program", SOURCE, &["-O1"]);
    let run = bench.run("record --function never -o tests.json -- ./program");
    assert_eq!(run.status, Some(2), "{}", run.err);
    assert!(run.err.contains("program was never entered; the program exited with status "), "{}", run.err);
}

#[test]
fn bad_input_is_3() {
    let bench = Bench::new();
    compile(&bench, "program", SOURCE, &["-O1"]);
    bench.write("script", b"not a program");
    for words in [
        "record --function f -o tests.json",
        "record -o tests.json -- ./program",
        "record --function f -- ./program",
        "record --function f -o nosuch/tests.json -- ./program",
        "record --function nosuch -o tests.json -- ./program",
        "record --function f -o tests.json -- ./nosuch",
        "record --function f -o tests.json -- ./script",
        "record --function f -o tests.json --max 0 -- ./program",
        "record --function f -o tests.json --seconds 0 -- ./program",
    ] {
        bench.run(words).fails_cleanly(words);
    }
}
