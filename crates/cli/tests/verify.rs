//! `verify` as scripts see it: one certificate or many, an audit, and the same answer however busy the machine is.

mod lockstep;

use lockstep::Bench;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};

/// A product of small numbers, a loop, and a call.
const ORIGINAL: &[(&str, &str)] = &[
    ("f", "and edi, 7\nand esi, 7\nmov eax, edi\nimul eax, esi\nret"),
    ("g", "sub rsp, 8\nmov edi, 5\ncall puts\nadd rsp, 8\nret"),
];
/// The product by parts that have no bits in common.
const CANDIDATE: &[(&str, &str)] = &[
    (
        "f",
        "and edi, 7\nand esi, 7\nmov eax, edi\nmov ecx, edi\nand eax, esi\nor ecx, esi\nimul eax, ecx\n\
         mov ecx, esi\nnot ecx\nand ecx, edi\nnot edi\nand edi, esi\nimul ecx, edi\nadd eax, ecx\nret",
    ),
    ("g", "sub rsp, 8\nmov edi, 4\ninc edi\ncall puts\nadd rsp, 8\nret"),
];

fn proved() -> Bench {
    let bench = Bench::new();
    bench.assembly("a.s", ORIGINAL);
    bench.assembly("b.s", CANDIDATE);
    let run = bench.run("check a.s b.s --certificates proofs --no-run");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    bench
}

#[test]
fn a_directory_is_verified_at_once() {
    let bench = proved();
    let run = bench.run("verify proofs a.s b.s");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines.len() == 2 && lines.iter().all(|line| line.contains("accepted")), "{}", run.out);
    let json = bench.run("verify proofs a.s b.s --format json --jobs 2").json();
    assert_eq!(json["certificates"][1]["function"], "g");
    assert_eq!(json["certificates"][1]["result"], "accepted");
    // One that is none does not hide the others.
    bench.write("proofs/h.json", b"{}");
    let run = bench.run("verify proofs a.s b.s");
    assert_eq!(run.status, Some(3));
    assert!(run.err.contains("h.json") && run.out.lines().count() == 2, "{}{}", run.out, run.err);
    bench.run("verify nothing a.s b.s").fails_cleanly("no such file");
}

#[test]
fn an_audit_says_who_is_believed() {
    let bench = proved();
    let run = bench.run("verify proofs a.s b.s --audit");
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert!(run.out.contains("rewrite rules") && run.out.contains("not confirmed 0"), "{}", run.out);
    let json = bench.run("verify proofs a.s b.s --audit --format json").json();
    let audit = &json["audit"];
    let number = |value: &Value| value.as_u64().expect("a number");
    assert!(number(&audit["refutations"]) > 0, "{audit}");
    assert_eq!(audit["refutations"], audit["refutations_confirmed"]);
    let rules = audit["rules"].as_array().expect("rules");
    assert!(!rules.is_empty());
    for rule in rules {
        let known: u64 = ["by_clauses", "by_process", "elsewhere", "open"].iter().map(|k| number(&rule[*k])).sum();
        assert_eq!(known, number(&rule["instances"]), "{rule}");
        assert_eq!(rule["wrong"], serde_json::json!([]));
    }
    assert!(run.out.contains("terms and rules alone"));
    assert_eq!(bench.run("verify proofs a.s b.s --format json").json()["audit"], Value::Null);
}

/// The same bytes, alone and beside many threads that want the processor.
#[test]
fn load_changes_nothing() {
    let bench = proved();
    let verify = || bench.run("verify proofs a.s b.s --audit --format json").out;
    let quiet = verify();
    let stop = AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let busy = verify();
        stop.store(true, Ordering::Relaxed);
        busy
    });
    assert_eq!(quiet, busy);
}

/// What is written about effort may be forged: no answer becomes better by that.
#[test]
fn forged_effort_is_refused_or_harmless() {
    let bench = proved();
    let text = std::fs::read_to_string(bench.path("proofs/f.json")).expect("a certificate");
    let certificate: Value = serde_json::from_str(&text).expect("a certificate");
    assert!(certificate["effort"]["limits"].is_array(), "{certificate}");
    let mut forged = certificate.clone();
    forged["effort"]["limits"] = serde_json::json!([]);
    bench.write("forged.json", forged.to_string().as_bytes());
    bench.run("verify forged.json a.s b.s").fails_cleanly("impossible limits");
    let mut poor = certificate.clone();
    poor["effort"] = serde_json::json!({"limits": [[1, 0]]});
    bench.write("poor.json", poor.to_string().as_bytes());
    let run = bench.run("verify poor.json a.s b.s");
    assert!(matches!(run.status, Some(0 | 2)), "{}{}", run.out, run.err);
    let mut without = certificate;
    without.as_object_mut().expect("an object").remove("effort");
    bench.write("without.json", without.to_string().as_bytes());
    assert_eq!(bench.run("verify without.json a.s b.s").status, Some(0));
}
