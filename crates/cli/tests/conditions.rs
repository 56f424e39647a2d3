//! `--assume` as users and scripts meet it: what is said of bad conditions, and what a certificate under a condition is good for.

mod lockstep;

use lockstep::{Bench, function};
use serde_json::{Value, json};
use std::process::Command;

/// A product that fits into 32 bits if the number is small.
fn bench() -> Bench {
    let bench = Bench::new();
    for (name, text) in [
        (
            "a",
            "struct s { int x, y; }; unsigned long f(unsigned long n, const struct s *p) { return n * 8; } int g(int x) { return x; }",
        ),
        (
            "b",
            "struct s { int x, y; }; unsigned long f(unsigned long n, const struct s *p) { return (unsigned)n << 3; } int g(int x) { return x; }",
        ),
    ] {
        bench.write(&format!("{name}.c"), text.as_bytes());
        let (source, object) = (bench.path(&format!("{name}.c")), bench.path(&format!("{name}.o")));
        let status = Command::new("cc").args(["-c", "-g", "-O1"]).arg(&source).arg("-o").arg(&object).status();
        assert!(status.expect("a compiler").success());
    }
    bench
}

/// The certificate under a bound.
fn proved() -> (Bench, Value) {
    let bench = bench();
    let run = bench.run("check a.o b.o --function f --assume n<1<<28 --certificates proofs --no-run --format json");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let report = run.json();
    let assumed = &function(&report, "f")["assumed"];
    assert_eq!(*assumed, json!([{"kind": "range", "text": "n < 1<<28", "expression": "(<u $rdi #64:268435456)"}]));
    let text = std::fs::read_to_string(bench.path("proofs/f.json")).expect("a certificate");
    let certificate: Value = serde_json::from_str(&text).expect("json");
    assert_eq!(certificate["assume"], json!(["(<u $rdi #64:268435456)"]));
    (bench, certificate)
}

#[test]
fn bad_conditions_are_shown_with_their_column() {
    let bench = bench();
    for (condition, said) in [
        ("n<", "column 3"),
        ("m<4", "column 1: f has no `m`; it knows n, p"),
        ("p->z==0", "column 2: `struct s` has no member `z`"),
        ("n=4", "column 2: `=` changes something"),
        ("apart(p,4,n)", "column 1"),
        ("fp(fast)", "column 4: `fast` is no axiom"),
        ("n<4&&n>5", "the condition can never hold"),
        ("{(=$rax#64:0)}", "column 1"),
    ] {
        let run = bench.run(&format!("check a.o b.o --function f --assume {condition}"));
        run.fails_cleanly(condition);
        assert!(run.err.contains(said), "{condition}: {}", run.err);
    }
    bench.run("check a.o b.o --assume n<4").fails_cleanly("a condition about two functions");
}

#[test]
fn a_condition_is_in_the_report() {
    let bench = bench();
    let run = bench.run("check a.o b.o --function f --assume n<1<<28 --no-run");
    assert!(run.out.contains("under --assume") && run.out.contains("n < 1<<28"), "{}", run.out);
    let run = bench.run("check a.o b.o --function f --assume n<=1ul<<29 --no-run --format json");
    assert_eq!(run.status, Some(1), "{}", run.out);
    // The only input that satisfies the condition and tells the two apart.
    assert_eq!(function(&run.json(), "f")["witness"]["registers"]["rdi"], "0x20000000");
    // The same code twice says nothing where no state satisfies the condition.
    let run = bench.run("check a.o a.o --function f --no-run --assume n*n==2&&n<1<<28");
    assert!(run.status == Some(3) || run.status == Some(2), "{}{}", run.out, run.err);
}

#[test]
fn verify_says_under_which_condition_a_proof_holds() {
    let (bench, _) = proved();
    let run = bench.run("verify proofs/f.json a.o b.o");
    assert!(run.status == Some(0) && run.out.contains("f   accepted if n < 1<<28"), "{}{}", run.out, run.err);
    let json = bench.run("verify proofs/f.json a.o b.o --format json").json();
    assert_eq!(json["certificates"][0]["condition"][0]["text"], "n < 1<<28");
    // What implies the condition will do, what does not will not.
    for (condition, status, said) in [
        ("n<1<<28", 0, "accepted under --assume"),
        ("n==7||n==9", 0, "accepted under --assume"),
        ("n<=1<<28", 2, "does not follow from --assume"),
        ("p->x==0", 2, "does not follow from --assume"),
    ] {
        let run = bench.run(&format!("verify proofs/f.json a.o b.o --assume {condition}"));
        assert!(run.status == Some(status) && run.out.contains(said), "{condition}: {}{}", run.out, run.err);
    }
    bench.run("verify proofs/f.json a.o b.o --assume n<3&&n>5").fails_cleanly("a contradiction");
    bench.run("verify proofs/f.json a.o b.o --assume q<3").fails_cleanly("no such name");
}

#[test]
fn forged_conditions_are_refused() {
    let (bench, certificate) = proved();
    for (conditions, status) in [
        (json!(["(<u $rdi #64:268435456)"]), 0),
        // Weaker than what is needed, or about something else.
        (json!([]), 2),
        (json!(["(<=u $rdi #64:536870912)"]), 2),
        (json!(["(<u $rsi #64:268435456)"]), 2),
        // No state satisfies these.
        (json!(["(false)"]), 2),
        (json!(["(= $rdi #64:1)", "(= $rdi #64:2)"]), 2),
        (json!(["(<u $rdi #64:0)"]), 2),
        // Not for a condition to say.
        (json!(["(<u c.rdi #64:268435456)"]), 3),
        (json!(["(<u o.rdi #64:268435456)"]), 3),
        (json!(["(= (peek 8 $rsi) $rdi)"]), 3),
        (json!(["(= $rax $rdi)"]), 3),
        (json!(["(= $rsp.candidate $rdi)"]), 3),
        (json!(["(<u $rdi.8 #8:9)"]), 3),
        (json!(["(<u $rdi #32:9)"]), 3),
        (json!(["$rdi"]), 3),
        (json!(["(<u $rdi"]), 3),
    ] {
        let mut forged = certificate.clone();
        forged["assume"] = conditions.clone();
        bench.write("forged.json", forged.to_string().as_bytes());
        let run = bench.run("verify forged.json a.o b.o");
        assert_eq!(run.status, Some(status), "{conditions}: {}{}", run.out, run.err);
    }
    for axioms in [json!(["fast"]), json!([7])] {
        let mut forged = certificate.clone();
        forged["axioms"] = axioms.clone();
        bench.write("forged.json", forged.to_string().as_bytes());
        assert_eq!(bench.run("verify forged.json a.o b.o").status, Some(3), "{axioms}");
    }
}
