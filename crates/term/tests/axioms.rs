//! Axioms of real arithmetic: nothing without leave, one form with it, and never more than real numbers allow.

use std::collections::BTreeMap;
use term::eval::{Model, Value, eval};
use term::generate::Generator;
use term::{Arena, Axiom, Bits, Firing, FloatOp, Sort, TermId};

use Axiom::{AddZero, Distribute, MulOne, MulZero, Reassociate};

fn float(width: u16, value: f64) -> Bits {
    if width == 32 { Bits::new(32, u64::from((value as f32).to_bits())) } else { Bits::new(64, value.to_bits()) }
}

/// An arena with axioms, and arithmetic of one width in it.
struct Reals {
    arena: Arena,
    width: u16,
}

impl Reals {
    fn new(width: u16, axioms: &[Axiom]) -> Reals {
        let mut arena = Arena::new();
        axioms.iter().for_each(|axiom| arena.allow(*axiom));
        Reals { arena, width }
    }

    fn var(&mut self, name: &str) -> TermId {
        self.arena.var(name, Sort::Bv(self.width))
    }

    fn number(&mut self, value: f64) -> TermId {
        self.arena.constant(float(self.width, value))
    }

    fn add(&mut self, a: TermId, b: TermId) -> TermId {
        self.arena.float(FloatOp::Add(self.width), &[a, b])
    }

    fn sub(&mut self, a: TermId, b: TermId) -> TermId {
        self.arena.float(FloatOp::Sub(self.width), &[a, b])
    }

    fn mul(&mut self, a: TermId, b: TermId) -> TermId {
        self.arena.float(FloatOp::Mul(self.width), &[a, b])
    }

    fn neg(&mut self, a: TermId) -> TermId {
        let sign = self.number(-0.0);
        self.arena.xor(a, sign)
    }

    fn sum(&mut self, terms: &[TermId]) -> TermId {
        terms[1..].iter().fold(terms[0], |sum, term| self.add(sum, *term))
    }

    fn used(&self) -> Vec<Axiom> {
        self.arena.used_axioms()
    }
}

/// Are two terms the same with these axioms, at both widths? If so exactly these are used; with one of them less, or
/// with all others, they are not the same.
fn needs(axioms: &[Axiom], pair: impl Fn(&mut Reals) -> (TermId, TermId)) {
    for width in [32, 64] {
        let mut reals = Reals::new(width, axioms);
        let (a, b) = pair(&mut reals);
        assert_eq!(a, b, "{} is not {}", reals.arena.text(a), reals.arena.text(b));
        assert_eq!(reals.used(), axioms);
        for left_out in axioms {
            let others: Vec<Axiom> = Axiom::ALL.into_iter().filter(|axiom| axiom != left_out).collect();
            let mut reals = Reals::new(width, &others);
            let (a, b) = pair(&mut reals);
            assert_ne!(a, b, "without {left_out}: {}", reals.arena.text(a));
        }
    }
}

#[test]
fn names_are_read_back() {
    for axiom in Axiom::ALL {
        assert_eq!(Axiom::parse(axiom.name()), Some(axiom));
        assert_eq!(axiom.to_string(), axiom.name());
    }
    for bad in ["", "Reassoc", "reassoc ", "fast"] {
        assert_eq!(Axiom::parse(bad), None);
    }
}

#[test]
fn zeros_vanish() {
    for zero in [0.0, -0.0] {
        needs(&[MulZero], |r| {
            let (x, zero) = (r.var("x"), r.number(zero));
            (r.mul(zero, x), r.number(0.0))
        });
    }
    needs(&[AddZero], |r| {
        let (x, zero) = (r.var("x"), r.number(0.0));
        (r.add(zero, x), x)
    });
    needs(&[AddZero], |r| {
        let (x, zero) = (r.var("x"), r.number(0.0));
        (r.sub(zero, x), r.neg(x))
    });
    // delta: a part that is multiplied by a zero.
    needs(&[AddZero, MulZero], |r| {
        let (x, y, zero) = (r.var("x"), r.var("y"), r.number(0.0));
        let nothing = r.mul(y, zero);
        let sum = r.add(x, nothing);
        (r.add(sum, zero), x)
    });
}

#[test]
fn what_holds_anyhow_rests_on_no_axiom() {
    let mut r = Reals::new(64, &Axiom::ALL);
    let (x, y, one, zero, minus) = (r.var("x"), r.var("y"), r.number(1.0), r.number(0.0), r.number(-0.0));
    assert_eq!(r.mul(one, x), x);
    assert_eq!(r.sub(x, zero), x);
    assert_eq!(r.add(x, minus), x);
    assert_eq!(r.add(x, y), r.add(y, x));
    let negated = r.neg(y);
    assert_eq!(r.add(x, negated), r.sub(x, y));
    let (two, quarter) = (r.number(2.0), r.number(0.25));
    assert_eq!(r.mul(x, two), r.add(x, x));
    r.mul(x, quarter);
    assert_eq!(r.used(), []);
    let mut r = Reals::new(32, &[MulOne]);
    let (x, one) = (r.var("x"), r.number(1.0));
    assert_eq!(r.mul(x, one), x);
    assert_eq!(r.used(), []);
}

#[test]
fn sums_have_one_order() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    needs(&[Reassociate], |r| {
        let x: Vec<TermId> = names.iter().map(|name| r.var(name)).collect();
        let from_left = r.sum(&x);
        // Four lanes, and a horizontal sum of these in pairs.
        let lanes: Vec<TermId> = (0..4).map(|i| r.add(x[i + 4], x[i])).collect();
        let (even, odd) = (r.add(lanes[2], lanes[0]), r.add(lanes[1], lanes[3]));
        (from_left, r.add(odd, even))
    });
    // Any order.
    let mut r = Reals::new(32, &[Reassociate]);
    let mut x: Vec<TermId> = names.iter().map(|name| r.var(name)).collect();
    let first = r.sum(&x);
    let mut state = 7u64;
    for _ in 0..200 {
        for i in (1..x.len()).rev() {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            x.swap(i, (state >> 33) as usize % (i + 1));
        }
        let split = 1 + (state >> 20) as usize % 7;
        let (left, right) = (r.sum(&x[..split]), r.sum(&x[split..]));
        assert_eq!(r.add(left, right), first);
    }
    // One that is missing, and one that comes twice.
    assert_ne!(r.sum(&x[1..]), first);
    assert_ne!(r.add(first, x[0]), first);
}

#[test]
fn lanes_of_sixteen_elements_are_the_sum_from_the_left() {
    for width in [32, 64] {
        let build = |axioms: &[Axiom]| {
            let mut r = Reals::new(width, axioms);
            let memory = r.arena.var("m", Sort::Memory);
            let base = r.arena.var("a", Sort::Bv(64));
            let bytes = width / 8;
            let cell = |r: &mut Reals, i: u64| {
                let address = r.arena.add_const(base, (i * u64::from(bytes)) as i64);
                r.arena.load(memory, address, bytes)
            };
            let zero = r.number(0.0);
            let mut lanes = [zero; 4];
            for i in 0..16 {
                let x = cell(&mut r, i);
                lanes[i as usize % 4] = r.add(lanes[i as usize % 4], x);
            }
            let vector = r.sum(&lanes);
            let mut scalar = zero;
            for i in 0..16 {
                let x = cell(&mut r, i);
                scalar = r.add(scalar, x);
            }
            (scalar == vector, r.used())
        };
        // The zero that each sum begins with needs no axiom: four zeros are exactly one.
        assert_eq!(build(&[Reassociate]), (true, vec![Reassociate]));
        assert_eq!(build(&[Reassociate, AddZero]), (true, vec![Reassociate, AddZero]));
        assert!(!build(&[AddZero, MulZero, MulOne, Distribute]).0);
    }
}

#[test]
fn differences_are_sums() {
    needs(&[Reassociate], |r| {
        let (x, y, z) = (r.var("x"), r.var("y"), r.var("z"));
        let inner = r.sub(y, z);
        let (first, sum) = (r.sub(x, inner), r.add(x, z));
        (first, r.sub(sum, y))
    });
    needs(&[Reassociate], |r| {
        let (x, y) = (r.var("x"), r.var("y"));
        let difference = r.sub(x, y);
        (r.neg(difference), r.sub(y, x))
    });
    needs(&[Reassociate], |r| {
        let (x, y, c) = (r.var("x"), r.var("y"), r.number(3.0));
        let (minus, plus) = (r.neg(x), r.mul(x, c));
        let product = r.mul(minus, c);
        (r.sub(y, plus), r.add(y, product))
    });
    // x − y is not y − x.
    let mut r = Reals::new(64, &Axiom::ALL);
    let (x, y) = (r.var("x"), r.var("y"));
    assert_ne!(r.sub(x, y), r.sub(y, x));
}

#[test]
fn products_have_one_order() {
    needs(&[Reassociate], |r| {
        let (x, y, z, c) = (r.var("x"), r.var("y"), r.var("z"), r.number(99.0));
        let inner = r.mul(y, z);
        let (first, scaled) = (r.mul(x, inner), r.mul(z, c));
        let other = r.mul(y, x);
        (r.mul(c, first), r.mul(other, scaled))
    });
    // Signs and doubling.
    needs(&[Reassociate], |r| {
        let (x, y, two) = (r.var("x"), r.var("y"), r.number(2.0));
        let (minus, twice) = (r.neg(x), r.mul(y, two));
        let (first, product) = (r.mul(minus, twice), r.mul(y, x));
        let product = r.mul(product, two);
        (first, r.neg(product))
    });
    // A dot product.
    needs(&[Reassociate], |r| {
        let x: Vec<TermId> = ["a", "b", "c", "d"].iter().map(|name| r.var(name)).collect();
        let y: Vec<TermId> = ["e", "f", "g", "h"].iter().map(|name| r.var(name)).collect();
        let products: Vec<TermId> = (0..4).map(|i| r.mul(x[i], y[i])).collect();
        let (even, odd) = (r.add(products[0], products[2]), r.add(products[3], products[1]));
        (r.sum(&products), r.add(odd, even))
    });
}

#[test]
fn constants_are_put_together_only_exactly() {
    for width in [32, 64] {
        let mut r = Reals::new(width, &[Reassociate]);
        let sum_of = |r: &mut Reals, c: f64, d: f64| {
            let (x, c, d) = (r.var("x"), r.number(c), r.number(d));
            let sum = r.add(x, c);
            r.add(sum, d)
        };
        let together = sum_of(&mut r, 1.0, 2.5);
        let (x, c) = (r.var("x"), r.number(3.5));
        assert_eq!(r.add(x, c), together);
        let apart = sum_of(&mut r, 0.1, 0.7);
        let rounded = r.number(0.1 + 0.7);
        assert_ne!(r.add(x, rounded), apart);
        assert_eq!(sum_of(&mut r, 0.7, 0.1), apart);
        // A large number swallows a small one, and gives nothing back.
        let swallowed = sum_of(&mut r, 1e30, 1.0);
        let large = r.number(1e30);
        assert_ne!(r.add(x, large), swallowed);
        // Constants that are no numbers stay.
        let infinite = sum_of(&mut r, f64::INFINITY, 1.0);
        assert_ne!(infinite, x);
        let odd = sum_of(&mut r, f64::NAN, f64::INFINITY);
        assert_ne!(odd, infinite);
    }
}

#[test]
fn products_with_sums_are_sums_of_products() {
    needs(&[Distribute], |r| {
        let (x, y, z) = (r.var("x"), r.var("y"), r.var("z"));
        let (sum, left, right) = (r.add(y, z), r.mul(x, y), r.mul(x, z));
        (r.mul(x, sum), r.add(left, right))
    });
    needs(&[Distribute], |r| {
        let (x, c, d, both) = (r.var("x"), r.number(3.0), r.number(4.0), r.number(7.0));
        let (left, right) = (r.mul(x, c), r.mul(x, d));
        (r.add(left, right), r.mul(x, both))
    });
    // (x + y)² = x² + 2xy + y²
    needs(&[Reassociate, Distribute], |r| {
        let (x, y, two) = (r.var("x"), r.var("y"), r.number(2.0));
        let sum = r.add(x, y);
        let square = r.mul(sum, sum);
        let (xx, xy, yy) = (r.mul(x, x), r.mul(x, y), r.mul(y, y));
        let twice = r.mul(two, xy);
        let left = r.add(yy, xx);
        (square, r.add(twice, left))
    });
    // x + x + x = 3x, and what is left of x − x is nothing with the zeros.
    needs(&[Reassociate, Distribute], |r| {
        let (x, y, three) = (r.var("x"), r.var("y"), r.number(3.0));
        let (twice, product) = (r.add(x, x), r.mul(x, three));
        let (sum, first) = (r.add(twice, y), r.add(product, y));
        (first, r.add(x, sum))
    });
    needs(&[Reassociate, AddZero, MulZero, Distribute], |r| {
        let (x, y) = (r.var("x"), r.var("y"));
        let sum = r.add(x, y);
        (r.sub(sum, x), y)
    });
}

#[test]
fn large_products_of_sums_stay() {
    let mut r = Reals::new(32, &Axiom::ALL);
    let x: Vec<TermId> = (0..20).map(|i| r.var(&format!("x{i}"))).collect();
    let y: Vec<TermId> = (0..20).map(|i| r.var(&format!("y{i}"))).collect();
    let (sum, other) = (r.sum(&x), r.sum(&y));
    let before = r.arena.len();
    let mut product = r.mul(sum, other);
    assert!(r.arena.len() < before + 10);
    assert_eq!(product, r.mul(other, sum));
    // Nor does anything else grow without end.
    for _ in 0..40 {
        product = r.mul(product, product);
        product = r.add(product, product);
        product = r.sub(product, x[0]);
    }
    assert!(r.arena.len() < 200_000, "{}", r.arena.len());
}

#[test]
fn long_sums_cost_little() {
    let mut r = Reals::new(32, &Axiom::ALL);
    let x: Vec<TermId> = (0..2000).map(|i| r.var(&format!("x{i}"))).collect();
    let from_left = r.sum(&x);
    assert!(r.arena.text(from_left).len() > 2000);
    let reversed: Vec<TermId> = x.into_iter().take(400).rev().collect();
    r.sum(&reversed);
    assert!(r.arena.len() < 200_000, "{}", r.arena.len());
}

#[test]
fn nothing_is_kept_from_before_an_axiom_was_allowed() {
    let mut r = Reals::new(32, &[]);
    let (x, zero) = (r.var("x"), r.number(0.0));
    let as_written = r.add(x, zero);
    assert_ne!(as_written, x);
    r.arena.allow(AddZero);
    assert!(r.arena.allows(AddZero) && !r.arena.allows(MulZero));
    assert_eq!(r.used(), []);
    assert_eq!(r.add(x, zero), x);
    assert_eq!(r.used(), [AddZero]);
}

#[test]
fn without_axioms_nothing_changes() {
    let names: Vec<&str> = term::rules::resting_on_axioms().iter().map(|rule| rule.name).collect();
    for seed in 0..20 {
        let mut arena = Arena::new();
        arena.log = Some(Vec::new());
        let mut generator = Generator::new(&mut arena, seed << 32);
        for width in [32, 64] {
            generator.arithmetic(&mut arena, width, 6, false);
        }
        for _ in 0..200 {
            generator.step(&mut arena);
        }
        let log = arena.log.take().expect("a log");
        assert!(log.iter().all(|firing| !names.contains(&firing.rule)));
        assert_eq!(arena.used_axioms(), []);
    }
}

/// The firings of a term's making, and the subset of axioms that a seed stands for.
fn random(seed: u64, exact: bool) -> (Arena, TermId, Vec<Firing>) {
    let mut arena = Arena::new();
    let chosen = Axiom::ALL.into_iter().filter(|axiom| seed >> *axiom as u64 & 1 == 0);
    chosen.for_each(|axiom| arena.allow(axiom));
    arena.log = Some(Vec::new());
    let mut generator = Generator::new(&mut arena, seed << 20);
    let width = if seed >> 5 & 1 == 0 { 32 } else { 64 };
    let term = generator.arithmetic(&mut arena, width, 5, exact);
    let log = arena.log.take().unwrap_or_default();
    (arena, term, log)
}

#[test]
fn small_integers_do_not_tell_the_terms_apart() {
    // Where nothing rounds, floats are real numbers.
    let mut fired: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..3000u64 {
        let (mut arena, _, log) = random(seed, true);
        let zeroless = |value: Value| match value {
            Value::Bits(bits) if bits.width() == 32 => f64::from(f32::from_bits(bits.low() as u32)),
            Value::Bits(bits) => f64::from_bits(bits.low()),
            other => panic!("{other:?} is no float"),
        };
        let mut model = Model::seeded(seed);
        for width in [32, 64] {
            for i in 0..4u64 {
                arena.var(&format!("f{i}.{width}"), Sort::Bv(width));
                let value = ((seed * 31 + i * 7) % 7) as f64 - 3.0;
                let var = arena.find_var(&format!("f{i}.{width}")).expect("made");
                model.set_bits(var, float(width, value));
            }
        }
        for firing in log {
            if firing.rule.starts_with("real-") {
                *fired.entry(firing.rule).or_insert(0) += 1;
            }
            let [before, after] = [firing.before, firing.after].map(|term| zeroless(eval(&arena, term, &model)));
            let exact = before.abs() < 1e6;
            assert!(
                !exact || before == after,
                "{} (seed {seed}): {} to {}",
                firing.rule,
                arena.text(firing.before),
                arena.text(firing.after)
            );
        }
    }
    for rule in term::rules::resting_on_axioms() {
        assert!(fired.get(rule.name).is_some_and(|n| *n > 10), "{} fires seldom: {fired:?}", rule.name);
    }
}

#[test]
fn forms_are_their_own_forms() {
    for seed in 0..3000 {
        let (mut arena, _, log) = random(seed, false);
        for firing in log {
            let (op, args) = (arena.op(firing.after), arena.args(firing.after).to_vec());
            if args.is_empty() {
                continue;
            }
            let again = arena.make(op, &args);
            assert_eq!(
                again,
                firing.after,
                "{} (seed {seed}): {} gives {} which becomes {}",
                firing.rule,
                arena.text(firing.before),
                arena.text(firing.after),
                arena.text(again)
            );
        }
    }
}

#[test]
fn used_axioms_are_those_of_the_rules_that_fired() {
    for seed in 0..500 {
        let (arena, _, log) = random(seed, false);
        let rests: BTreeMap<&str, Vec<Axiom>> =
            term::rules::resting_on_axioms().iter().map(|rule| (rule.name, rule.axioms())).collect();
        let fired: Vec<Axiom> = log.iter().filter_map(|firing| rests.get(firing.rule)).flatten().copied().collect();
        let expected: Vec<Axiom> = Axiom::ALL.into_iter().filter(|axiom| fired.contains(axiom)).collect();
        assert_eq!(arena.used_axioms(), expected, "seed {seed}");
        assert!(expected.iter().all(|axiom| arena.allows(*axiom)));
    }
}
