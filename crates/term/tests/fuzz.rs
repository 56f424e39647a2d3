//! Every firing of every rewrite rule, on random terms, is compared with the evaluator.

use std::collections::BTreeMap;
use term::eval::{Evaluator, Model, Value};
use term::generate::Generator;
use term::{Arena, Firing, Func, Op, Sort};

const MODELS: u64 = 24;

/// Rules that hold up to the payload and sign of a NaN, or whose result such a rule rewrites further.
const NAN_PAYLOAD: [&str; 6] =
    ["float-order", "float-one", "float-add-negated", "float-convert", "float-divide-power", "float-subtract-constant"];

fn is_nan(value: Value) -> bool {
    match value {
        Value::Bits(bits) if bits.width() == 32 => f32::from_bits(bits.low() as u32).is_nan(),
        Value::Bits(bits) if bits.width() == 64 => f64::from_bits(bits.low()).is_nan(),
        _ => false,
    }
}

fn check(arena: &mut Arena, firing: Firing, seed: u64) {
    let (mut before, mut after) = (firing.before, firing.after);
    assert_eq!(arena.sort(before), arena.sort(after), "{}: sorts differ", firing.rule);
    if arena.sort(before) == Sort::Memory {
        let func = arena.func_id(Func::Opaque { name: "content".to_string(), result: Sort::Bv(64) });
        before = arena.raw(Op::Apply(func), &[before]);
        after = arena.raw(Op::Apply(func), &[after]);
    }
    for i in 0..MODELS {
        let model = Model::seeded(seed * MODELS + i);
        let mut evaluator = Evaluator::new(arena, &model);
        let (x, y) = (evaluator.eval(before), evaluator.eval(after));
        let agree = x == y || (NAN_PAYLOAD.contains(&firing.rule) && is_nan(x) && is_nan(y));
        assert!(
            agree,
            "{} (seed {seed}, model {i})\n  before {}\n  after  {}\n  {x:?} is not {y:?}",
            firing.rule,
            arena.text(before),
            arena.text(after)
        );
    }
}

/// What a rule returns is in normal form: making it again changes nothing.
fn check_stable(arena: &mut Arena, firing: Firing) {
    let (op, args) = (arena.op(firing.after), arena.args(firing.after).to_vec());
    if args.is_empty() {
        return;
    }
    let again = arena.make(op, &args);
    assert_eq!(
        again,
        firing.after,
        "{}: {} gives {} which becomes {}",
        firing.rule,
        arena.text(firing.before),
        arena.text(firing.after),
        arena.text(again)
    );
}

/// Fires rules on random terms and checks each firing; returns how often each rule fired.
fn fuzz(seeds: std::ops::Range<u64>, steps: u32) -> BTreeMap<&'static str, u32> {
    let mut fired = BTreeMap::new();
    for seed in seeds {
        let mut arena = Arena::new();
        let mut generator = Generator::new(&mut arena, seed << 32);
        arena.log = Some(Vec::new());
        for _ in 0..steps {
            generator.step(&mut arena);
        }
        for firing in arena.log.take().unwrap_or_default() {
            *fired.entry(firing.rule).or_insert(0) += 1;
            check_stable(&mut arena, firing);
            check(&mut arena, firing, seed);
        }
    }
    fired
}

#[test]
fn every_rule_fires_and_agrees_with_the_evaluator() {
    let rounds: u64 = std::env::var("LOCKSTEP_FUZZ_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let fired = fuzz(0..rounds, 400);
    let silent: Vec<&str> =
        term::rules::all().iter().map(|rule| rule.name).filter(|name| !fired.contains_key(name)).collect();
    assert!(silent.is_empty(), "rules that never fired: {silent:?}\nfired: {fired:?}");
}
