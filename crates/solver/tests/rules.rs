//! Every rewrite rule is proved by the solver.
//!
//! Random terms make the rules fire; of each rule some firings, at different widths, are put to the solver: the term
//! before and the term after must be equal for all values of the variables. Rules that no solver proves are listed in
//! the crate `audit` with the reason, and checked in another way.

use audit::{is_float, proved_elsewhere};
use solver::{Answer, Effort, Query, Solver, SolverOptions, Why};
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use term::generate::Generator;
use term::{Arena, Firing, Func, Op, Sort};

/// Firings of one rule that are put to the solver.
const SAMPLE: usize = 6;
/// Larger terms are not put to the solver.
const MAX_TERMS: usize = 24;

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

/// The floating-point rules in the solver's own float arithmetic, at a small format. That theory has a single NaN, so it
/// proves them up to a NaN's payload and sign, which is what `nan-payload` allows. `fp` is a small format and `big` a
/// larger one that contains it; `x` and `y` are floats, `i` is an integer that `big` represents.
const FLOAT_PROOFS: &[(&str, &str)] = &[
    ("float-order", "(= (fp.add RNE x y) (fp.add RNE y x))"),
    ("float-order", "(= (fp.mul RNE x y) (fp.mul RNE y x))"),
    ("float-order", "(= (fp.eq x y) (fp.eq y x))"),
    // Intel SDM vol. 2, MINSD and MAXSD: the definition is the choice.
    ("float-minimum", "true"),
    ("float-double", "(= (fp.mul RNE x two) (fp.add RNE x x))"),
    ("float-one", "(= (fp.mul RNE x one) x)"),
    ("float-one", "(= (fp.mul RNE x (fp.neg one)) (fp.neg x))"),
    ("float-one", "(= (fp.add RNE x (_ -zero 4 5)) x)"),
    (
        "float-divide-power",
        "(=> (and (= ((_ extract 3 0) c) #x0) (bvult #x0 exponent) (bvult exponent #xe))
        (= (fp.div RNE x ((_ to_fp 4 5) c)) (fp.mul RNE x (fp.div RNE one ((_ to_fp 4 5) c)))))",
    ),
    (
        "float-divide-power",
        "(=> (and (= ((_ extract 3 0) c) #x0) (bvult #x0 exponent) (bvult exponent #xe))
        (= (fp.div RNE one ((_ to_fp 4 5) c)) ((_ to_fp 4 5) (concat ((_ extract 8 8) c) (bvsub #xe exponent) #x0))))",
    ),
    ("float-subtract-constant", "(= (fp.sub RNE x y) (fp.add RNE x (fp.neg y)))"),
    ("float-add-negated", "(= (fp.add RNE x (fp.neg y)) (fp.sub RNE x y))"),
    ("float-add-negated", "(= (fp.sub RNE x (fp.neg y)) (fp.add RNE x y))"),
    ("float-compare-same", "(not (fp.lt x x))"),
    ("float-compare-same", "(= (fp.eq x x) (not (fp.isNaN x)))"),
    ("float-compare-constant", "(=> (not (fp.isNaN y)) (= (or (fp.isNaN x) (fp.isNaN y)) (fp.isNaN x)))"),
    ("float-compare-converted", "(= (fp.lt ((_ to_fp 5 11) RNE x) ((_ to_fp 5 11) RNE y)) (fp.lt x y))"),
    ("float-compare-converted", "(= (fp.eq ((_ to_fp 5 11) RNE x) ((_ to_fp 5 11) RNE y)) (fp.eq x y))"),
    ("float-compare-converted", "(= (fp.isNaN ((_ to_fp 5 11) RNE x)) (fp.isNaN x))"),
    ("float-convert", "(= ((_ to_fp 4 5) RNE ((_ to_fp 5 11) RNE x)) x)"),
    ("float-convert", "(= ((_ to_fp 4 5) RNE ((_ to_fp 5 11) RNE i)) ((_ to_fp 4 5) RNE i))"),
    // A wide format of 2p + 2 digits; with fewer z3 finds quotients that are rounded twice.
    ("float-narrow", "(= ((_ to_fp 3 3) RNE (fp.add RNE wide-u wide-v)) (fp.add RNE u v))"),
    ("float-narrow", "(= ((_ to_fp 3 3) RNE (fp.sub RNE wide-u wide-v)) (fp.sub RNE u v))"),
    ("float-narrow", "(= ((_ to_fp 3 3) RNE (fp.mul RNE wide-u wide-v)) (fp.mul RNE u v))"),
    ("float-narrow", "(= ((_ to_fp 3 3) RNE (fp.div RNE wide-u wide-v)) (fp.div RNE u v))"),
    ("float-narrow", "(= ((_ to_fp 3 3) RNE (fp.sqrt RNE wide-u)) (fp.sqrt RNE u))"),
    ("float-from-extended", "(= ((_ to_fp 5 11) RNE ((_ sign_extend 8) i)) ((_ to_fp 5 11) RNE i))"),
    // The outcomes of a comparison exclude each other and are all there are.
    ("and-pair", "(not (and (fp.lt x y) (or (fp.eq x y) (fp.lt y x) (fp.isNaN x) (fp.isNaN y))))"),
    ("and-pair", "(not (and (fp.eq x y) (or (fp.isNaN x) (fp.isNaN y))))"),
    ("and-pair", "(or (fp.lt x y) (fp.eq x y) (fp.lt y x) (fp.isNaN x) (fp.isNaN y))"),
];

#[test]
fn every_float_rule_is_proved() {
    let mut text = String::from(
        "(define-sort fp () (_ FloatingPoint 4 5)) (declare-const x fp) (declare-const y fp)
         (declare-const i (_ BitVec 8)) (declare-const c (_ BitVec 9))
         (define-fun exponent () (_ BitVec 4) ((_ extract 7 4) c))
         (declare-const u (_ FloatingPoint 3 3)) (declare-const v (_ FloatingPoint 3 3))
         (define-fun wide-u () (_ FloatingPoint 5 8) ((_ to_fp 5 8) RNE u))
         (define-fun wide-v () (_ FloatingPoint 5 8) ((_ to_fp 5 8) RNE v))
         (define-fun one () fp ((_ to_fp 4 5) RNE 1.0)) (define-fun two () fp ((_ to_fp 4 5) RNE 2.0))\n",
    );
    for (_, claim) in FLOAT_PROOFS {
        text.push_str(&format!("(push) (assert (not {claim})) (check-sat) (pop)\n"));
    }
    let mut z3 = Command::new("z3")
        .args(["-in", "-T:200"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 runs");
    z3.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("z3 reads");
    let output = z3.wait_with_output().expect("z3 ends");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let answers: Vec<&str> = output.lines().collect();
    assert_eq!(answers.len(), FLOAT_PROOFS.len(), "{output}");
    for ((rule, claim), answer) in FLOAT_PROOFS.iter().zip(answers) {
        assert_eq!(answer, "unsat", "{rule}: {claim}");
    }
    for rule in term::rules::all().iter().map(|rule| rule.name).filter(|rule| is_float(rule)) {
        assert!(FLOAT_PROOFS.iter().any(|(name, _)| *name == rule), "{rule} has no proof");
    }
}

#[test]
fn every_rule_is_proved() {
    let mut solver = Solver::new(SolverOptions {
        efforts: vec![Effort { resources: 8_000_000, propagations: 8_000_000 }],
        ..SolverOptions::default()
    });
    let mut proved: BTreeMap<&str, Vec<u16>> = BTreeMap::new();
    let mut failures = Vec::new();
    for seed in 0..100 {
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
            // Truth values and memories have no width: several firings then.
            let enough = if width == 0 { SAMPLE } else { 1 };
            let repeated = done.iter().filter(|w| **w == width).count() >= enough;
            let exempt = proved_elsewhere(firing.rule).is_some();
            if exempt || done.len() >= SAMPLE || repeated || mentions_float(&arena, firing) {
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
        .filter(|rule| proved_elsewhere(rule).is_none())
        .filter(|rule| proved.get(rule).is_none_or(|widths| widths.is_empty()))
        .collect();
    assert!(unproved.is_empty(), "never proved: {unproved:?}");
    println!("{proved:?}\n{:?}", solver.statistics());
}
