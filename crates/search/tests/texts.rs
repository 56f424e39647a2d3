//! The search on programs that are text: loops that need a correlation, guesses and refinement, and near misses. No compiler.

use kernel::Pair;
use kernel::lemma::Facts;
use program::{Register, Undefined, read_function};
use search::{Native, Options, Outcome, Session, Verdict};
use std::collections::BTreeSet;
use std::time::Duration;
use term::{Arena, Form};

/// As many iterations of one side for one of the other may be tried.
const UNROLL: u32 = 128;

fn decide(original: &str, candidate: &str, unroll: u32) -> Outcome {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let mut read =
        |text: &str| read_function(&mut arena, text, Form::Normal).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (original, candidate) = (read(original), read(candidate));
    let pair = Pair::new(original, candidate, &Facts::default(), &BTreeSet::new(), Undefined::Excused);
    let timeout = Duration::from_secs(60);
    let options = Options { timeout, unroll, native: Native::Forbidden, ..Options::default() };
    Session::new(options).check_pair(&mut arena, &pair)
}

fn verdict(original: &str, candidate: &str) -> String {
    word(decide(original, candidate, UNROLL).verdict)
}

fn word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Equivalent(_) => "equivalent".to_string(),
        Verdict::Different(_) => "different".to_string(),
        Verdict::Unknown(reason) => format!("unknown: {reason}"),
    }
}

/// The right candidate is proved, each wrong one refuted.
fn tells_apart(original: &str, right: &str, wrong: &[String]) {
    assert_eq!(verdict(original, right), "equivalent", "{right}");
    for wrong in wrong {
        assert!(wrong != right, "a near miss is another program");
        assert_eq!(verdict(original, wrong), "different", "{wrong}");
    }
}

/// Adds up an even number of times what `rsi` holds, xored with the number of the iteration.
const SUM: &str = "f(rdi:8, rsi:8) → rax:8
  p0:
    rdi := 2*(rdi & 1023)
    rax := 0
    rcx := 0
    → p1
  p1:
    → p2 if rcx <u rdi
    → p3
  p2:
    rax := rax + (rsi ^ rcx)
    rcx := rcx + 1
    → p1
  p3: return";

#[test]
fn correlation_in_step() {
    // Another register, counted down, tested at the end.
    let right = "f(rdi:8, rsi:8) → rax:8
  p0:
    rdi := 2*(rdi & 1023)
    rax := 0
    rdx := 0
    → p2 if rdi == 0
    → p1
  p1:
    r8 := rsi ^ rdx
    rax := rax + r8
    rdx := rdx + 1
    → p1 if rdx != rdi
    → p2
  p2: return";
    let wrong = [right.replace("rdx + 1", "rdx + 2"), right.replace("rsi ^ rdx", "rsi | rdx")];
    tells_apart(SUM, right, &wrong);
}

#[test]
fn correlation_of_an_unrolled_loop() {
    // Two iterations at a time.
    let right = "f(rdi:8, rsi:8) → rax:8
  p0:
    rdi := 2*(rdi & 1023)
    rax := 0
    rcx := 0
    → p1
  p1:
    → p2 if rcx <u rdi
    → p3
  p2:
    rax := rax + (rsi ^ rcx)
    rdx := rcx + 1
    rax := rax + (rsi ^ rdx)
    rcx := rcx + 2
    → p1
  p3: return";
    let wrong = [
        right.replace("rcx + 2", "rcx + 3"),
        right.replace("rsi ^ rdx", "rsi ^ rcx"),
        right.replace("& 1023", "& 1022"),
    ];
    tells_apart(SUM, right, &wrong);
    let found = decide(SUM, right, UNROLL);
    let edges = found.certificate.expect("a certificate").edges;
    assert!(edges.iter().any(|edge| (edge.original, edge.candidate) == (2, 1)), "{edges:?}");
    // Who may not look at two iterations together finds no proof, and no difference either.
    let unknown = word(decide(SUM, right, 1).verdict);
    assert!(unknown.starts_with("unknown: "), "{unknown}");
}

#[test]
fn guesses_of_what_registers_mean_to_each_other() {
    let original = "f(rdi:8, rsi:8) → rax:8
  p0:
    rsi := rsi & 15
    rcx := 0
    → p1
  p1:
    → p2 if rcx <u rsi
    → p3
  p2:
    mem[rdi + 8*rcx, 8] := 5*rcx
    rcx := rcx + 1
    → p1
  p3:
    rax := rcx
    return";
    // A pointer that is moved, and a multiple that is kept.
    let right = "f(rdi:8, rsi:8) → rax:8
  p0:
    rsi := rsi & 15
    rdx := 0
    r9 := rdi
    rax := 0
    → p1
  p1:
    → p2 if rax <u rsi
    → p3
  p2:
    mem[r9, 8] := rdx
    r9 := r9 + 8
    rdx := rdx + 5
    rax := rax + 1
    → p1
  p3: return";
    let wrong = [right.replace("r9 + 8", "r9 + 16"), right.replace("rdx + 5", "rdx + 6")];
    tells_apart(original, right, &wrong);
    let certificate = decide(original, right, UNROLL).certificate.expect("a certificate");
    let claims: Vec<&str> =
        certificate.points.iter().flat_map(|point| &point.define).map(|(place, _)| place.as_str()).collect();
    for register in ["c.r9", "c.rdx", "c.rax"] {
        assert!(claims.contains(&register), "{register} is not among {claims:?}");
    }
}

#[test]
fn what_the_kernel_refuses_is_refined() {
    // Few runs see the other number: what holds in all of them is not what holds.
    let original = "f(rdi:8, rsi:8) → rax:8
  p0:
    rdi := rdi & 15
    rax := 0
    r8 := 0
    → p1
  p1:
    → p2 if rax <u rdi
    → p3
  p2:
    r8 := rsi <u 1000000 ? r8 + 2 : r8 + 3
    rax := rax + 1
    → p1
  p3:
    rax := r8
    return";
    // What is added seldom has a register of its own.
    let right = "f(rdi:8, rsi:8) → rax:8
  p0:
    rdi := rdi & 15
    rcx := 0
    r8 := 0
    r10 := 0
    → p1
  p1:
    → p2 if rcx <u rdi
    → p3
  p2:
    r8 := r8 + 2
    r10 := rsi <u 1000000 ? r10 : r10 + 1
    rcx := rcx + 1
    → p1
  p3:
    rax := r8 + r10
    return";
    let statistics = decide(original, right, UNROLL).statistics;
    assert!(statistics.survivors > 0 && statistics.survivors < statistics.guesses, "{statistics:?}");
    let wrong = [right.replace("r10 + 1", "r10 + 2"), right.replace("r8 + 2", "r8 + 3")];
    tells_apart(original, right, &wrong);
}

#[test]
fn without_loops_one_step_is_enough() {
    let original = "f(rdi:8) → rax:8\n  p0:\n    rax := 3*rdi\n    return";
    let right = "f(rdi:8) → rax:8\n  p0:\n    rcx := rdi << 1\n    rax := rcx + rdi\n    return";
    tells_apart(original, right, &[right.replace("<< 1", "<< 2")]);
}
