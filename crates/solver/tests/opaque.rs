//! Every theorem about opaque products and quotients is proved by the solver at small widths.

use solver::{Answer, Query, Solver, SolverOptions};
use term::{Arena, Sort};

#[test]
fn theorems_hold() {
    let mut proved = 0;
    for (wide, narrow) in [(8, 4), (6, 5), (4, 4)] {
        let mut arena = Arena::new();
        let theorems = solver::theorems(&mut arena, wide, narrow);
        let mut solver = Solver::new(SolverOptions::default());
        for theorem in theorems {
            let answer = solver.ask(&mut arena, &Query::goal(theorem));
            assert!(matches!(answer, Answer::Proved), "{}: {answer:?}", arena.text(theorem));
            proved += 1;
        }
    }
    assert!(proved > 150, "only {proved}");
}

/// A 64-bit division that is done in 32 bits when both operands are small.
#[test]
fn narrowed_division() {
    let mut arena = Arena::new();
    let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
    let any = arena.or(x, y);
    let high = arena.extract(any, 63, 32);
    let nothing = arena.bv(32, 0);
    let small = arena.eq(high, nothing);
    let (low_x, low_y) = (arena.truncate(x, 32), arena.truncate(y, 32));
    let narrow = arena.udiv(low_x, low_y);
    let narrow = arena.zext(narrow, 64);
    let wide = arena.sdiv(x, y);
    let chosen = arena.ite(small, narrow, wide);
    let goal = arena.eq(chosen, wide);
    let zero = arena.bv(64, 0);
    let divisible = arena.ne(y, zero);
    let mut solver = Solver::new(SolverOptions::default());
    assert!(matches!(solver.ask(&mut arena, &Query::new([divisible], goal)), Answer::Proved));
    // Without the divisor's condition it is wrong: x / 0 is all ones at either width.
    assert!(!matches!(solver.ask(&mut arena, &Query::goal(goal)), Answer::Proved));
}
