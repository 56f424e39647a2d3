//! Instances of true rules are proved, also at widths and depths that no test of the rules has; false ones are found.

use audit::{RuleAudit, axioms_of, proved_elsewhere};
use term::generate::Generator;
use term::{Arena, Axiom, Firing, Op, Sort, TermId};

fn only(arena: &Arena, before: TermId, after: TermId) -> audit::RuleRow {
    let mut audit = RuleAudit::default();
    audit.look_at(arena, &[Firing { rule: "forged", before, after }]);
    audit.rows()["forged"].clone()
}

#[test]
fn what_fires_on_random_terms_is_proved() {
    let mut audit = RuleAudit::default();
    for seed in 0..4 {
        let mut arena = Arena::new();
        let mut generator = Generator::new(&mut arena, seed << 40 | 77);
        arena.log = Some(Vec::new());
        for _ in 0..100 {
            generator.step(&mut arena);
        }
        let firings = arena.log.take().expect("a log");
        assert!(!firings.is_empty());
        audit.look_at(&arena, &firings);
    }
    let rows = audit.rows();
    let wrong: Vec<&String> = rows.values().flat_map(|row| &row.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let sum = |count: fn(&audit::RuleRow) -> u64| rows.values().map(count).sum::<u64>();
    let (instances, proved) = (sum(|r| r.instances), sum(|r| r.by_clauses + r.by_process));
    assert!(instances > 300, "{instances}");
    assert!(proved * 10 > instances * 8, "{proved} of {instances}: {rows:?}");
}

#[test]
fn a_rule_that_is_wrong_is_found() {
    let mut arena = Arena::new();
    let (x, y) = (arena.var("x", Sort::Bv(32)), arena.var("y", Sort::Bv(32)));
    let sum = arena.raw(Op::Add, &[x, y]);
    let or = arena.raw(Op::BvOr, &[x, y]);
    let row = only(&arena, sum, or);
    assert_eq!((row.by_clauses, row.wrong.len()), (0, 1), "{row:?}");
    // The twin that is right: the sum the other way round.
    let other = arena.raw(Op::Add, &[y, x]);
    assert_eq!(only(&arena, sum, other).by_clauses, 1);
}

#[test]
fn what_matters_below_the_cut_is_found_deeper() {
    let mut arena = Arena::new();
    let x = arena.var("x", Sort::Bv(64));
    let mut inner = x;
    for _ in 0..4 {
        inner = arena.raw(Op::BvNot, &[inner]);
    }
    let row = only(&arena, inner, x);
    assert_eq!((row.by_clauses, row.open), (1, 0), "{row:?}");
    let odd = arena.raw(Op::BvNot, &[inner]);
    assert_eq!(only(&arena, odd, x).wrong.len(), 1);
}

#[test]
fn every_exception_is_a_rule() {
    let names: Vec<&str> = term::rules::all().iter().map(|rule| rule.name).collect();
    for name in ["extract-quotient", "sum-signed-quotient", "ult-divisible", "and-divisible", "or-divisible"] {
        assert!(names.contains(&name) && proved_elsewhere(name).is_some(), "{name}");
    }
    assert!(proved_elsewhere("add-zero").is_none());
}

#[test]
fn what_rests_on_an_axiom_is_said_to() {
    let mut audit = RuleAudit::default();
    for seed in 0..20 {
        let mut arena = Arena::new();
        Axiom::ALL.into_iter().for_each(|axiom| arena.allow(axiom));
        let mut generator = Generator::new(&mut arena, seed << 40);
        arena.log = Some(Vec::new());
        generator.arithmetic(&mut arena, 32, 4, false);
        (0..20).for_each(|_| {
            generator.step(&mut arena);
        });
        let firings = arena.log.take().expect("a log");
        audit.look_at(&arena, &firings);
    }
    for rule in term::rules::resting_on_axioms() {
        let row = &audit.rows()[rule.name];
        assert!(row.instances > 0 && row.elsewhere == row.instances, "{}: {row:?}", rule.name);
        let why = proved_elsewhere(rule.name).unwrap_or_default();
        assert!(axioms_of(rule.name).iter().all(|axiom| why.contains(axiom.name())), "{}: {why}", rule.name);
    }
    let wrong: Vec<&String> = audit.rows().values().flat_map(|row| &row.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert_eq!(axioms_of("float-order"), []);
}
