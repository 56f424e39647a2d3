//! Every rewrite rule is proved by the solver.
//!
//! Random terms make the rules fire; of each rule some firings, at different widths, are put to the solver: the term
//! before and the term after must be equal for all values of the variables. Rules that no solver proves are listed
//! with the reason, and checked in another way.

use solver::{Answer, Query, Solver, SolverOptions, Why};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use term::generate::Generator;
use term::{Arena, Firing, Func, Op, Sort};

/// Firings of one rule that are put to the solver.
const SAMPLE: usize = 6;
/// Larger terms are not put to the solver.
const MAX_TERMS: usize = 24;

/// Rules that solvers do not prove, and what stands in for the proof.
const EXEMPT: &[(&str, &str)] = &[
    ("extract-quotient", "theorem in division.rs, exhaustive tests there"),
    ("sum-signed-quotient", "theorem in division.rs, exhaustive tests there"),
];

/// Rules about floating-point functions, which are uninterpreted in questions: they are proved in float arithmetic.
fn is_float(rule: &str) -> bool {
    rule.starts_with("float-")
}

/// Does the rule's firing rest on the meaning of a floating-point function?
fn mentions_float(arena: &Arena, firing: Firing) -> bool {
    arena.topological(&[firing.before, firing.after]).into_iter().any(|t| match arena.op(t) {
        Op::Apply(func) => matches!(arena.func(func), Func::Float(_)),
        _ => false,
    })
}

/// How much work the solver has with a firing, roughly; products and quotients are what it finds hard.
fn weight(arena: &Arena, firing: Firing) -> usize {
    arena
        .topological(&[firing.before, firing.after])
        .into_iter()
        .map(|t| match (arena.op(t), arena.sort(t).width().unwrap_or(1)) {
            (Op::Udiv | Op::Urem | Op::Sdiv | Op::Srem, w) => usize::from(w) * usize::from(w),
            (Op::Mul, w) if arena.as_const(arena.arg(t, 1)).is_none() => usize::from(w) * usize::from(w) / 4,
            (Op::Mul, w) => usize::from(w),
            _ => 1,
        })
        .sum()
}

/// Width that the firing is about.
fn width(arena: &Arena, firing: Firing) -> u16 {
    let first = arena.args(firing.before).first().copied().unwrap_or(firing.before);
    arena.sort(first).width().unwrap_or(0)
}

#[test]
fn every_rule_is_proved() {
    let mut solver = Solver::new(SolverOptions {
        deadline: Instant::now() + Duration::from_secs(600),
        question_time: Duration::from_secs(5),
        ..SolverOptions::default()
    });
    let mut proved: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in 0..60 {
        let mut arena = Arena::new();
        let mut generator = Generator::new(&mut arena, seed << 32);
        arena.log = Some(Vec::new());
        for _ in 0..400 {
            generator.step(&mut arena);
        }
        let mut firings = arena.log.take().unwrap_or_default();
        firings.retain(|firing| arena.topological(&[firing.before, firing.after]).len() <= MAX_TERMS);
        firings.sort_by_key(|firing| weight(&arena, *firing));
        for firing in firings {
            let done = proved.entry(firing.rule).or_default();
            let width = width(&arena, firing);
            let exempt = EXEMPT.iter().any(|(rule, _)| *rule == firing.rule) || is_float(firing.rule);
            if exempt || done.len() >= SAMPLE || done.contains(&width) || mentions_float(&arena, firing) {
                continue;
            }
            let (mut before, mut after) = (firing.before, firing.after);
            if arena.sort(before) == Sort::Memory {
                let address = arena.fresh("at", Sort::Bv(64));
                before = arena.raw(Op::Load(1), &[before, address]);
                after = arena.raw(Op::Load(1), &[after, address]);
            }
            let goal = arena.raw(Op::Eq, &[before, after]);
            match solver.ask(&mut arena, &Query::goal(goal)) {
                Answer::Proved => done.push(width),
                Answer::Refuted(_) => failures.push(format!(
                    "{} is wrong: {} is not {}",
                    firing.rule,
                    arena.text(firing.before),
                    arena.text(firing.after)
                )),
                // Another firing of the rule may be easier.
                Answer::Unknown(Why::Timeout | Why::ResourceLimit | Why::GaveUp(_)) => {}
                Answer::Unknown(why) => failures.push(format!("{}: {why}", firing.rule)),
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let unproved: Vec<&str> = term::rules::all()
        .iter()
        .map(|rule| rule.name)
        .filter(|rule| !is_float(rule) && !EXEMPT.iter().any(|(name, _)| name == rule))
        .filter(|rule| proved.get(rule).is_none_or(|widths| widths.is_empty()))
        .collect();
    assert!(unproved.is_empty(), "never proved: {unproved:?}");
    println!("{proved:?}\n{:?}", solver.statistics());
}
