//! The checker of update sequences: each rule accepts and rejects.

use interrupt::Interrupt;
use kernel::nests::{Claim, Method, UpdateRejection, check_updates};
use lift_c::{Settings, Source};
use std::path::Path;
use updates::{Floating, Program};

fn program(text: &str) -> Program {
    let source = Source::from_text(Path::new("k.c"), text, &Settings::default()).expect("C");
    source.lower("f", &[("n".to_string(), 4)]).expect("a kernel")
}

const EXACT: Claim = Claim { mode: Floating::Ieee, method: Method::Terms, strict: false, flat: false };
const FAST: Claim = Claim { method: Method::Hashes, ..EXACT };

/// Both methods give the same answer: the assumptions, or the rejection.
fn answer(original: &str, candidate: &str, claim: Claim) -> Result<String, UpdateRejection> {
    let proof = check_updates(&program(original), &program(candidate), claim, &Interrupt::never())?;
    let assumptions: Vec<String> = proof.assumptions().iter().map(|a| a.to_string()).collect();
    Ok(assumptions.join(" "))
}

fn accepts(original: &str, candidate: &str, claim: Claim) {
    let found = answer(original, candidate, claim);
    assert!(found.is_ok(), "{candidate}: {found:?}");
}

fn rejects(original: &str, candidate: &str, claim: Claim) -> UpdateRejection {
    let found = answer(original, candidate, claim);
    found.expect_err(candidate)
}

const SUM: &str = "void f(int n, double x[n]) { for (int i = 1; i < n; i++) x[i] = x[i-1] + x[i] * 0.5; }";

#[test]
fn final_cells_must_be_equal() {
    let same = "void f(int n, double x[n]) { for (int i = 1; i < n; i++) x[i] = 0.5 * x[i] + x[i-1]; }";
    let reversed = "void f(int n, double x[n]) { for (int i = n - 1; i > 0; i--) x[i] = x[i-1] + x[i] * 0.5; }";
    for claim in [FAST, EXACT] {
        accepts(SUM, same, claim);
        assert!(matches!(rejects(SUM, reversed, claim), UpdateRejection::Different { count: 2, .. }));
        let ordered = Claim { mode: Floating::Ordered, ..claim };
        assert!(matches!(rejects(SUM, same, ordered), UpdateRejection::Different { count: 3, .. }));
        accepts(SUM, SUM, ordered);
    }
}

#[test]
fn only_hashes_assume_that_none_collide() {
    assert_eq!(answer(SUM, SUM, FAST), Ok("disjoint-arrays hash-128 nan-payload param(n=4)".to_string()));
    assert_eq!(answer(SUM, SUM, EXACT), Ok("disjoint-arrays nan-payload param(n=4)".to_string()));
}

#[test]
fn strict_mode_compares_every_version() {
    let once = "void f(int n, double x[n]) { x[0] = 2; }";
    let twice = "void f(int n, double x[n]) { x[0] = 1; x[0] = 2; }";
    for claim in [FAST, EXACT] {
        accepts(once, twice, claim);
        let strict = Claim { strict: true, ..claim };
        assert!(matches!(rejects(once, twice, strict), UpdateRejection::Different { .. }));
        accepts(twice, twice, strict);
    }
}

#[test]
fn the_candidate_may_not_fault_or_divide_more() {
    let sum = "void f(int n, int x[n]) { x[0] = x[1] != 0 ? x[0] / x[1] : 0; }";
    let bare = "void f(int n, int x[n]) { int q = x[0] / x[1]; x[0] = x[1] != 0 ? q : 0; }";
    let outside = "void f(int n, int x[n]) { x[0] = x[1] != 0 ? x[0] / x[1] : 0; x[n] = 0; }";
    for claim in [FAST, EXACT] {
        assert_eq!(rejects(sum, bare, claim), UpdateRejection::Division(1));
        accepts(bare, bare, claim);
        assert!(matches!(rejects(sum, outside, claim), UpdateRejection::Fault(program::Side::Candidate, _)));
        assert!(matches!(rejects(outside, sum, claim), UpdateRejection::Fault(program::Side::Original, _)));
    }
}

#[test]
fn arguments_must_match() {
    let fewer = "void f(int n) { }";
    let float = "void f(int n, float x[n]) { x[0] = 0; }";
    let longer = "void f(int n, double x[n + 1]) { x[0] = 0; }";
    let result = "int f(int n, double x[n]) { return 0; }";
    for other in [fewer, float, longer, result] {
        assert!(matches!(rejects(SUM, other, FAST), UpdateRejection::Malformed(_)), "{other}");
    }
}

#[test]
fn globals_are_outputs_and_statics_are_not() {
    let plain = "double g; void f(int n, double x[n]) { g = x[0]; }";
    let none = "double g; void f(int n, double x[n]) { x[0] = x[0]; }";
    let scratch = "static double t; double g; void f(int n, double x[n]) { t = x[0]; g = t; }";
    let public = "double t; double g; void f(int n, double x[n]) { t = x[0]; g = t; }";
    assert!(matches!(rejects(plain, none, FAST), UpdateRejection::Unmatched(_)));
    accepts(plain, scratch, FAST);
    assert_eq!(rejects(plain, public, FAST), UpdateRejection::Unmatched("t".to_string()));
}

#[test]
fn sums_regroup_only_when_asked() {
    let left = "double f(int n, double x[n]) { return x[0] + x[1] + x[2] - x[3]; }";
    let right = "double f(int n, double x[n]) { return (x[2] - x[3]) + (x[1] + x[0]); }";
    let wrong = "double f(int n, double x[n]) { return (x[2] - x[3]) + (x[1] - x[0]); }";
    assert!(matches!(rejects(left, right, EXACT), UpdateRejection::Different { .. }));
    let regroup = Claim { mode: Floating::Reassoc, ..EXACT };
    accepts(left, right, regroup);
    assert!(matches!(rejects(left, wrong, regroup), UpdateRejection::Different { .. }));
}

#[test]
fn choices_are_compared_by_cases() {
    let nested = "void f(int n, double x[n]) { if (x[1] < x[2]) { if (x[2] < x[3]) x[0] = x[1]; } }";
    let flat = "void f(int n, double x[n]) { if (x[2] < x[3] && x[1] < x[2]) x[0] = x[1]; }";
    let wrong = "void f(int n, double x[n]) { if (x[2] < x[3] || x[1] < x[2]) x[0] = x[1]; }";
    let moved = "void f(int n, double x[n]) { double t = x[1] < x[2] ? x[1] : x[2]; x[0] = t + 1; }";
    let apart = "void f(int n, double x[n]) { if (x[1] < x[2]) x[0] = x[1] + 1; else x[0] = 1 + x[2]; }";
    // Not the same for NaN.
    let unordered = "void f(int n, double x[n]) { if (x[1] >= x[2]) x[0] = x[2] + 1; else x[0] = 1 + x[1]; }";
    accepts(nested, flat, EXACT);
    assert!(matches!(rejects(nested, wrong, EXACT), UpdateRejection::Different { .. }));
    accepts(moved, apart, EXACT);
    assert!(matches!(rejects(moved, unordered, EXACT), UpdateRejection::Different { .. }));
}
