//! `lockstep optimize` as scripts see it: exit statuses, what is written, what is refused.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::Bench;

/// Doubles in two instructions more than it needs.
const ORIGINAL: &[(&str, &str)] = &[("f", "mov eax, edi\nmov ecx, edi\nadd eax, ecx\nret"), ("g", "call f\nret")];
const BETTER: &[(&str, &str)] = &[("f", "lea eax, [rdi + rdi]\nret")];
const WRONG: &[(&str, &str)] = &[("f", "mov eax, edi\nret")];

#[test]
fn bad_input_is_3_and_writes_nothing() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.write("broken.c", b"int f(");
    bench.write("broken.s", b"f:\n\tfrobnicate %eax\n");
    bench.write("a.S", b"f: ret\n");
    bench.write("tests.json", b"{");
    let wrong = [
        "optimize a.s",
        "optimize missing.s --function f",
        "optimize a.s --function nosuch",
        "optimize a.s --function f -o a.s",
        "optimize a.s --function f -o out.o",
        "optimize a.s --function f --merge out.o",
        "optimize a.s --function f --spec source",
        "optimize a.s --function f --goal speed",
        "optimize a.s --function f --cpu z80",
        "optimize a.s --function f --time 0",
        "optimize a.s --function f --time 5 --epochs 1",
        "optimize a.s --function f --tests tests.json",
        "optimize a.s --function f --propose missing.s",
        "optimize a.s --function f --arg n",
        "optimize broken.c --function f",
        "optimize broken.s --function f",
        "optimize a.S --function f",
    ];
    for words in wrong {
        bench.run(words).fails_cleanly(words);
        assert!(!bench.path("a.opt.s").exists(), "{words}");
    }
}

#[test]
fn what_is_proved_is_written_and_certified() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("better.s", BETTER);
    bench.assembly("wrong.s", WRONG);
    let run = bench.run(
        "optimize a.s --function f --goal size --propose wrong.s --propose better.s --certificates c -o out.s --format json --epochs 0",
    );
    assert_eq!(run.status, Some(0), "{}", run.err);
    let report = run.json();
    assert!(report["winner"]["origin"].as_str().is_some_and(|origin| origin.ends_with("better.s")), "{report}");
    assert_eq!(report["rows"][0]["state"], "refuted");
    // The file is a whole one: the other function is still there, and the proof can be checked.
    let run = bench.run("check a.s out.s --timeout 5");
    assert_eq!(run.status, Some(0), "{}", run.out);
    let run = bench.run("verify c/f.json a.s out.s");
    assert_eq!(run.status, Some(0), "{}", run.out);
}

#[test]
fn nothing_better_is_2_and_writes_nothing() {
    let bench = Bench::new();
    bench.assembly("a.s", BETTER);
    bench.assembly("wrong.s", WRONG);
    let run = bench.run("optimize a.s --function f --goal size --propose wrong.s -o out.s --epochs 0");
    assert_eq!(run.status, Some(2), "{}", run.err);
    assert!(run.out.starts_with("f  nothing better than"), "{}", run.out);
    assert!(!bench.path("out.s").exists());
}

#[test]
fn registers_that_callers_in_the_file_may_count_on_are_spared() {
    let bench = Bench::new();
    // A compiler that knows what `f` changes may keep something in rdx across the call.
    bench.assembly(
        "a.s",
        &[("f", "mov eax, edi\nadd eax, eax\nnop\nret"), ("g", "mov rdx, rdi\ncall f\nadd rax, rdx\nret")],
    );
    bench.assembly("greedy.s", &[("f", "mov edx, edi\nlea eax, [rdx + rdx]\nret")]);
    let run = bench.run("optimize a.s --function f --goal size --propose greedy.s -o out.s --epochs 0");
    assert_eq!(run.status, Some(2), "{}", run.out);
}

#[test]
fn an_object_gets_the_function_alone_and_merged() {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("better.s", BETTER);
    let object = bench.object("a.s");
    bench.write("a.o", &object);
    let words = "optimize a.o --function f --goal size --propose better.s --merge merged.o -o out.s --epochs 0";
    let run = bench.run(words);
    assert_eq!(run.status, Some(0), "{}", run.err);
    let run = bench.run("check a.o merged.o --timeout 5");
    assert_eq!(run.status, Some(0), "{}", run.out);
}
