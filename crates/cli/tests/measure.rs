//! `lockstep measure` as scripts see it. No test says how long anything takes, but as a large ratio.

// This file uses a part of the helpers.
mod lockstep;

use lockstep::Bench;

/// `f` adds up 40 bytes one by one, `g` does it four times.
const FUNCTIONS: &[(&str, &str)] = &[
    (
        "f",
        "xor eax, eax\nxor ecx, ecx\n1: movzx edx, byte ptr [rdi+rcx]\nadd eax, edx\ninc ecx\ncmp ecx, 40\njne 1b\nret",
    ),
    (
        "g",
        "mov r8d, 9\n2: xor eax, eax\nxor ecx, ecx\n1: movzx edx, byte ptr [rdi+rcx]\nadd eax, edx\ninc ecx\ncmp ecx, 40\n\
         jne 1b\ndec r8d\njne 2b\nret",
    ),
    ("h", "mov eax, edi\nimul eax, esi\nret"),
    ("other", "lea eax, [rdi + rsi]\nret"),
    ("calls", "sub rsp, 8\ncall stranger\nadd eax, 1\nadd rsp, 8\nret"),
    ("traps", "ud2"),
];

const QUICK: &str = "--rounds 41 --layouts 3 --states 2";

#[test]
fn one_that_does_nine_times_the_work_is_slower() {
    let bench = Bench::new();
    bench.assembly("a.s", FUNCTIONS);
    let run = bench.run(&format!("measure a.s a.s --function g=f --format json {QUICK}"));
    assert_eq!(run.status, Some(0), "{}", run.err);
    let report = run.json();
    assert_eq!((&report["function"], &report["candidate"]), (&"g".into(), &"f".into()));
    assert_eq!(report["claim"], "faster", "{report}");
    assert!(report["speedup"]["median"].as_f64().unwrap() > 2.0, "{report}");
    assert_eq!(report["layouts"].as_array().unwrap().len(), 3);
    assert_eq!((&report["differing"], &report["stand_ins"]), (&0.into(), &serde_json::json!([])));
    let text = bench.run(&format!("measure a.s a.s --function f=g {QUICK}")).out;
    assert!(text.starts_with("f = g  0.") && text.contains("]  slower\n"), "{text}");
    assert!(text.contains("  3 layouts, 41 rounds each, "), "{text}");
}

#[test]
fn nothing_is_claimed_of_a_function_against_itself() {
    let bench = Bench::new();
    bench.assembly("a.s", FUNCTIONS);
    for seed in 0..10 {
        let function = ["f", "h"][seed % 2];
        let run = bench.run(&format!("measure a.s a.s --function {function} --seed {seed} --format json --rounds 101"));
        assert_eq!(run.json()["claim"], "none", "{}", run.out);
    }
}

#[test]
fn what_cannot_be_compared_is_told() {
    let bench = Bench::new();
    bench.assembly("a.s", FUNCTIONS);
    let text = bench.run(&format!("measure a.s a.s --function h=other --arg edi=5 --arg rsi=9 {QUICK}"));
    text.fails_cleanly("an argument of another name");
    let text = bench.run(&format!("measure a.s a.s --function calls {QUICK}")).out;
    assert!(text.contains("  stand-ins, which return at once: stranger\n"), "{text}");
}

#[test]
fn start_states_of_a_file() {
    let bench = Bench::new();
    bench.assembly("a.s", FUNCTIONS);
    bench.write(
        "tests.json",
        br#"{"version":1,"tests":[{"function":"f","registers":{"rdi":"0x7fffffffe000"},
            "memory":[{"address":"0x7fffffffe000","bytes":"01020304 05060708 090a0b0c 0d0e0f10 11121314 15161718 191a1b1c 1d1e1f20 21222324 25262728"}]}]}"#,
    );
    let report = bench.run(&format!("measure a.s a.s --function f=g --tests tests.json --format json {QUICK}")).json();
    assert_eq!((&report["states"], &report["claim"]), (&1.into(), &"slower".into()), "{report}");
    let none = bench.run("measure a.s a.s --function h --tests tests.json");
    none.fails_cleanly("no test for the function");
    assert!(none.err.contains("tests.json: no test is for `h`"), "{}", none.err);
}

#[test]
fn bad_input_is_3_and_leaves_stdout_empty() {
    let bench = Bench::new();
    bench.assembly("a.s", FUNCTIONS);
    for words in [
        "measure a.s a.s",
        "measure a.s --function f",
        "measure a.s a.s --function nosuch",
        "measure a.s a.s --function f=nosuch",
        "measure a.s nosuch.s --function f",
        "measure a.s a.s --function f --rounds 3",
        "measure a.s a.s --function f --layouts 0",
        "measure a.s a.s --function f --arg n",
        "measure a.s a.s --function f --arg n=x",
        "measure a.s a.s --function f --cpu z80",
        "measure a.s a.s --function f --tests nosuch.json",
        "measure a.s a.s --function traps",
    ] {
        bench.run(words).fails_cleanly(words);
    }
}
