//! Golden pairs and twins, on the real binary. A wrong verdict fails, whatever else happens; a verdict that is
//! missing fails where it is not expected.

use std::path::Path;
use testkit::lockstep::Verdict;
use testkit::score::{Mark, Score};

fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_lockstep"))
}

/// Prints the table and everything that is not right, and fails if more than `allowed` answers are missing.
fn hold(what: &str, score: &Score, allowed: usize) {
    println!("{what}: {} answers\n{score}", score.total());
    for mark in [Mark::GaveUp, Mark::Wrong, Mark::Broken] {
        for note in score.notes(mark) {
            println!("{mark:?}: {note}");
        }
    }
    assert_eq!(score.count(Mark::Wrong), 0, "{what}: wrong verdicts");
    assert_eq!(score.count(Mark::Broken), 0, "{what}: no verdicts");
    let missing = score.count(Mark::GaveUp);
    assert!(missing <= allowed, "{what}: {missing} verdicts missing, {allowed} allowed");
}

/// Verdicts that the tool does not find yet, with room for a busy machine.
const MISSING_PAIRS: usize = 5;
const MISSING_WRONG_TWINS: usize = 6;
/// Of these 2 are registers beyond a declaration, or of variadic calls, that are compared now; 18 are texts known by a part of their content (8), accesses of undescribed objects that may be volatile (5), structures
/// copied piece by piece (3) and tables without a bound that is known to suffice (2): proofs that rested on guesses.
const MISSING_RIGHT_TWINS: usize = 22;
const MISSING_WRONG_LOOP_TWINS: usize = 24;
const MISSING_RIGHT_LOOP_TWINS: usize = 90;

#[test]
fn pairs() {
    hold("golden pairs", &testkit::golden::run(binary()), MISSING_PAIRS);
}

fn hold_twins(folder: &str, deserved: Verdict, allowed: usize) {
    hold(&format!("{folder}, {}", deserved.name()), &testkit::twins::run(binary(), folder, deserved), allowed);
}

#[test]
fn wrong_twins() {
    hold_twins("twins", Verdict::Different, MISSING_WRONG_TWINS);
}

#[test]
fn right_twins() {
    hold_twins("twins", Verdict::Equivalent, MISSING_RIGHT_TWINS);
}

#[test]
fn wrong_loop_twins() {
    hold_twins("twins-loops", Verdict::Different, MISSING_WRONG_LOOP_TWINS);
}

#[test]
fn right_loop_twins() {
    hold_twins("twins-loops", Verdict::Equivalent, MISSING_RIGHT_LOOP_TWINS);
}
