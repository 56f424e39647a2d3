//! Every rule that rests on axioms is a theorem about real numbers.
//!
//! Random arithmetic makes the rules fire, with every set of axioms; instances are put to z3 in the theory of the reals.

use audit::over_reals;
use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};
use term::generate::Generator;
use term::{Arena, Axiom, Firing, FloatOp, Sort};

/// Instances of one rule that are put to z3.
const SAMPLE: usize = 60;
/// Larger instances are not.
const MAX_TERMS: usize = 40;

/// What z3 says of each question.
fn ask(questions: &[String]) -> Vec<String> {
    let mut text = String::new();
    for question in questions {
        text.push_str(&format!("(push)\n{question}(check-sat)\n(pop)\n"));
    }
    let mut z3 = Command::new("z3")
        .args(["-in", "-T:100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 runs");
    z3.stdin.take().expect("a pipe").write_all(text.as_bytes()).expect("z3 reads");
    let output = z3.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}

#[test]
fn every_axiom_rule_holds_for_real_numbers() {
    let mut sampled: BTreeMap<&str, usize> = BTreeMap::new();
    let rests: Vec<&str> = term::rules::resting_on_axioms().iter().map(|rule| rule.name).collect();
    let (mut questions, mut said) = (Vec::new(), Vec::new());
    for seed in 0..2000u64 {
        let mut arena = Arena::new();
        let chosen = Axiom::ALL.into_iter().filter(|axiom| seed >> *axiom as u64 & 1 == 0);
        chosen.for_each(|axiom| arena.allow(axiom));
        arena.log = Some(Vec::new());
        let mut generator = Generator::new(&mut arena, seed << 20 | 5);
        generator.arithmetic(&mut arena, if seed % 3 == 0 { 64 } else { 32 }, 5, seed % 2 == 0);
        for firing in arena.log.take().unwrap_or_default().into_iter().filter(|f| rests.contains(&f.rule)) {
            let done = sampled.entry(firing.rule).or_default();
            if *done < SAMPLE && arena.topological(&[firing.before, firing.after]).len() <= MAX_TERMS {
                *done += 1;
                questions.push(over_reals(&arena, firing));
                said.push(format!("{}: {} to {}", firing.rule, arena.text(firing.before), arena.text(firing.after)));
            }
        }
    }
    assert!(rests.iter().all(|rule| sampled.get(rule).is_some_and(|n| *n >= SAMPLE / 2)), "{sampled:?}");
    let answers = ask(&questions);
    assert_eq!(answers.len(), questions.len(), "{:?}", answers.last());
    for (answer, said) in answers.iter().zip(said) {
        assert_eq!(answer, "unsat", "{said}");
    }
}

#[test]
fn what_does_not_hold_for_real_numbers_is_found() {
    let mut arena = Arena::new();
    let (x, y, z) = (arena.var("x", Sort::Bv(32)), arena.var("y", Sort::Bv(32)), arena.var("z", Sort::Bv(32)));
    let sum = arena.float(FloatOp::Add(32), &[x, y]);
    let first = arena.float(FloatOp::Mul(32), &[sum, z]);
    let product = arena.float(FloatOp::Mul(32), &[y, z]);
    let second = arena.float(FloatOp::Add(32), &[x, product]);
    let difference = arena.float(FloatOp::Sub(32), &[x, y]);
    let other = arena.float(FloatOp::Sub(32), &[y, x]);
    let pairs = [(first, second), (difference, other), (x, y)];
    let questions = pairs.map(|(before, after)| over_reals(&arena, Firing { rule: "forged", before, after })).to_vec();
    assert_eq!(ask(&questions), ["sat", "sat", "sat"]);
}
