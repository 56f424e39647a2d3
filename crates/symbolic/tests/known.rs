//! What is known changes no value: every rewriting under facts agrees with the evaluator in all states in which the
//! facts hold.
//!
//! Numbers have eight bits, so that sums wrap often and the ends of the ranges are met. The facts are made to hold in
//! one state, and are tried in many.

use proptest::prelude::*;
use rustc_hash::FxHashMap;
use symbolic::Known;
use term::eval::{Evaluator, Model, Value};
use term::{Arena, Bits, Op, Sort, TermId};

/// Names as the kernel gives them: those with `@` are forgotten places, which equalities may replace.
const NAMES: [&str; 4] = ["x@0", "y@0", "n", "m"];

/// A number as a sum: a factor for each variable, and a constant.
type Sum = ([i8; 4], i8);

#[derive(Clone, Debug)]
enum Number {
    Sum(Sum),
    /// The upper bits of a sum, as a smaller number extended again.
    Shifted(Sum, u16),
    /// A sum rounded down to a power of two, and a constant.
    Rounded(Sum, u16, i8),
    /// The lower four bits of a sum.
    Low(Sum),
    /// A sum with some of its bits masked.
    Masked(Sum, u8),
    /// One of two sums, by whether a variable is below another.
    Either(Sum, Sum),
    /// The lower bits of a wider number: a sum shifted to the right.
    Halved(Sum, u16),
}

#[derive(Clone, Copy, Debug)]
enum Compare {
    Signed,
    Unsigned,
    Equal,
}

/// Values at the ends and near zero, and any.
fn value() -> impl Strategy<Value = u8> {
    prop_oneof![
        prop::sample::select(vec![0u8, 1, 2, 3, 4, 7, 8, 100, 124, 126, 127, 128, 129, 130, 253, 254, 255]),
        any::<u8>(),
    ]
}

fn factor() -> impl Strategy<Value = i8> {
    prop::sample::select(vec![0i8, 0, 0, 0, 1, 1, 1, -1, 2, 4, -128])
}

fn sum() -> impl Strategy<Value = Sum> {
    let constant = prop_oneof![Just(0i8), -5..=5i8, prop::sample::select(vec![-128i8, -127, 126, 127]), any::<i8>()];
    let single = (0..4usize, Just(1i8)).prop_map(|(i, f)| {
        let mut factors = [0; 4];
        factors[i] = f;
        factors
    });
    (prop_oneof![2 => single, 1 => prop::array::uniform4(factor())], constant)
}

fn number() -> impl Strategy<Value = Number> {
    prop_oneof![
        6 => sum().prop_map(Number::Sum),
        1 => (sum(), 1..4u16).prop_map(|(s, by)| Number::Shifted(s, by)),
        2 => (sum(), 1..4u16, -9..9i8).prop_map(|(s, by, more)| Number::Rounded(s, by, more)),
        1 => sum().prop_map(Number::Low),
        1 => (sum(), value()).prop_map(|(s, mask)| Number::Masked(s, mask)),
        1 => (sum(), sum()).prop_map(|(a, b)| Number::Either(a, b)),
        1 => (sum(), 1..4u16).prop_map(|(s, by)| Number::Halved(s, by)),
    ]
}

fn compare() -> impl Strategy<Value = Compare> {
    prop_oneof![4 => Just(Compare::Signed), 4 => Just(Compare::Unsigned), 1 => Just(Compare::Equal)]
}

type Atom = (Compare, Number, Number);

fn atom() -> impl Strategy<Value = Atom> {
    (compare(), number(), number())
}

fn build_sum(arena: &mut Arena, (factors, constant): &Sum) -> TermId {
    let mut out = arena.constant(Bits::from_i64(8, i64::from(*constant)));
    for (name, factor) in NAMES.iter().zip(factors) {
        let var = arena.var(name, Sort::Bv(8));
        let factor = arena.constant(Bits::from_i64(8, i64::from(*factor)));
        let part = arena.mul(factor, var);
        out = arena.add(out, part);
    }
    out
}

fn build(arena: &mut Arena, number: &Number) -> TermId {
    match number {
        Number::Sum(sum) => build_sum(arena, sum),
        Number::Shifted(sum, by) => {
            let sum = build_sum(arena, sum);
            let upper = arena.extract(sum, 7, *by);
            arena.zext(upper, 8)
        }
        Number::Rounded(sum, by, more) => {
            let sum = build_sum(arena, sum);
            let upper = arena.extract(sum, 7, *by);
            let upper = arena.zext(upper, 8);
            let size = arena.bv(8, 1 << by);
            let rounded = arena.mul(upper, size);
            arena.add_const(rounded, i64::from(*more))
        }
        Number::Low(sum) => {
            let sum = build_sum(arena, sum);
            let low = arena.extract(sum, 3, 0);
            arena.zext(low, 8)
        }
        Number::Masked(sum, mask) => {
            let sum = build_sum(arena, sum);
            let mask = arena.bv(8, u64::from(*mask));
            arena.and(sum, mask)
        }
        Number::Either(a, b) => {
            let (a, b) = (build_sum(arena, a), build_sum(arena, b));
            let [x, n] = [NAMES[0], NAMES[2]].map(|name| arena.var(name, Sort::Bv(8)));
            let below = arena.slt(x, n);
            arena.ite(below, a, b)
        }
        Number::Halved(sum, by) => {
            let sum = build_sum(arena, sum);
            let wide = arena.zext(sum, 16);
            let more = arena.add_const(wide, 2);
            let upper = arena.extract(more, 15, *by);
            let upper = arena.zext(upper, 16);
            arena.extract(upper, 7, 0)
        }
    }
}

fn build_atom(arena: &mut Arena, (compare, a, b): &Atom) -> TermId {
    let (a, b) = (build(arena, a), build(arena, b));
    match compare {
        Compare::Signed => arena.slt(a, b),
        Compare::Unsigned => arena.ult(a, b),
        Compare::Equal => arena.eq(a, b),
    }
}

fn model(arena: &mut Arena, values: &[u8; 4]) -> Model {
    let mut model = Model::seeded(1);
    for (name, value) in NAMES.iter().zip(values) {
        let var = arena.var(name, Sort::Bv(8));
        let var = arena.as_var(var).expect("a variable");
        model.set_bits(var, Bits::new(8, u64::from(*value)));
    }
    model
}

fn value_of(arena: &Arena, model: &Model, term: TermId) -> Value {
    Evaluator::new(arena, model).eval(term)
}

/// A term to be rewritten: the atom, the numbers, their extensions and a choice, all in one.
fn build_target(arena: &mut Arena, condition: &Atom, numbers: &[Number; 2]) -> [TermId; 4] {
    let condition = build_atom(arena, condition);
    let [a, b] = [0, 1].map(|i| build(arena, &numbers[i]));
    let (signed, unsigned) = (arena.sext(a, 32), arena.zext(b, 32));
    let four = arena.bv(32, 4);
    let scaled = arena.mul(four, signed);
    let address = arena.add(scaled, unsigned);
    let choice = arena.ite(condition, signed, address);
    let memory = arena.var("memory", Sort::Memory);
    let wide = arena.sext(choice, 64);
    let loaded = arena.load(memory, wide, 1);
    [condition, address, choice, loaded]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn rewriting_keeps_the_value(
        at in prop::array::uniform4(value()),
        others in prop::collection::vec(prop::array::uniform4(value()), 24),
        facts in prop::collection::vec(atom(), 1..6),
        condition in atom(),
        numbers in prop::array::uniform2(number()),
    ) {
        let mut arena = Arena::new();
        let here = model(&mut arena, &at);
        let mut conjuncts = Vec::new();
        for fact in &facts {
            let fact = build_atom(&mut arena, fact);
            let holds = Evaluator::new(&arena, &here).bool(fact);
            conjuncts.push(if holds { fact } else { arena.bool_not(fact) });
        }
        let fact = arena.bool_and_all(&conjuncts);
        let known = Known::from_condition(&mut arena, fact);
        let targets = build_target(&mut arena, &condition, &numbers);
        let mut rewritten = Vec::new();
        for target in targets {
            let mut memo = FxHashMap::default();
            rewritten.push((target, "widen", known.widen(&mut arena, target)));
            rewritten.push((target, "widen_all", known.widen_all(&mut arena, target, &mut memo)));
            rewritten.push((target, "rewrite", known.rewrite(&mut arena, target)));
            rewritten.push((target, "settle", known.settle(&mut arena, target)));
            if arena.sort(target) == Sort::Bool {
                rewritten.push((target, "simplify", known.simplify(&mut arena, target)));
            }
        }
        // Also values near the state in which the facts hold.
        let near = (0..24usize).map(|i| {
            let mut values = at;
            values[i % 4] = values[i % 4].wrapping_add([1u8, 255, 2, 254, 4, 128][i / 4]);
            values
        });
        for values in std::iter::once(at).chain(near).chain(others) {
            let state = model(&mut arena, &values);
            if value_of(&arena, &state, fact) != Value::Bool(true) {
                continue;
            }
            for (target, how, out) in &rewritten {
                let (before, after) = (value_of(&arena, &state, *target), value_of(&arena, &state, *out));
                prop_assert_eq!(before, after, "{} of {} is {} under {} in {:?}",
                    how, arena.text(*target), arena.text(*out), arena.text(fact), values);
            }
        }
    }
}

/// Variables of 32 bits and a fact as text, for cases that are written down.
struct Case {
    arena: Arena,
}

impl Case {
    fn new() -> Case {
        Case { arena: Arena::new() }
    }

    fn var(&mut self, name: &str) -> TermId {
        self.arena.var(name, Sort::Bv(32))
    }

    /// `sext64(i + 1)` or `zext64(i + 1)` with a fact known: is the sum widened?
    fn widens(&mut self, signed: bool, fact: TermId) -> bool {
        let i = self.var("i@0");
        let next = self.arena.add_const(i, 1);
        let wide = if signed { self.arena.sext(next, 64) } else { self.arena.zext(next, 64) };
        let known = Known::from_condition(&mut self.arena, fact);
        let out = known.widen(&mut self.arena, wide);
        !matches!(self.arena.op(out), Op::Sext(_) | Op::Zext(_))
    }
}

/// Facts that say that `i + 1` does not wrap, and facts that nearly do.
#[test]
fn near_misses_of_bounds() {
    for signed in [true, false] {
        let mut case = Case::new();
        let (i, n) = (case.var("i@0"), case.var("n"));
        let below = |arena: &mut Arena, a, b| if signed { arena.slt(a, b) } else { arena.ult(a, b) };
        let other = |arena: &mut Arena, a, b| if signed { arena.ult(a, b) } else { arena.slt(a, b) };
        let strict = below(&mut case.arena, i, n);
        assert!(case.widens(signed, strict), "i < n");
        let greater = below(&mut case.arena, n, i);
        let at_most = case.arena.bool_not(greater);
        assert!(!case.widens(signed, at_most), "i ≤ n");
        assert!(!case.widens(signed, greater), "n < i");
        let wrong = other(&mut case.arena, i, n);
        assert!(!case.widens(signed, wrong), "i < n in the other order");
        let unequal = case.arena.eq(i, n);
        let unequal = case.arena.bool_not(unequal);
        assert!(!case.widens(signed, unequal), "i ≠ n");
        // `i + 1 < n` says nothing about i: the sum itself may have wrapped.
        let next = case.arena.add_const(i, 1);
        let later = below(&mut case.arena, next, n);
        assert!(!case.widens(signed, later), "i + 1 < n");
        let top = case.arena.bv(32, if signed { 0x7fff_ffff } else { 0xffff_ffff });
        let last = case.arena.eq(i, top);
        let last = case.arena.bool_not(last);
        assert!(case.widens(signed, last), "i is not the largest number");
        let second = case.arena.bv(32, if signed { 0x7fff_fffe } else { 0xffff_fffe });
        let last = case.arena.eq(i, second);
        let last = case.arena.bool_not(last);
        assert!(!case.widens(signed, last), "i is not the second largest number");
    }
}

/// `8·((n − 1) >> 3) − 6`, an index of the last vector, does not wrap where n is large enough, and may below that.
#[test]
fn the_end_of_a_vectorised_loop_widens() {
    let mut arena = Arena::new();
    let n = arena.var("n", Sort::Bv(32));
    let less = arena.add_const(n, -1);
    let high = arena.extract(less, 31, 3);
    let (high, eight) = (arena.zext(high, 32), arena.bv(32, 8));
    let end = arena.mul(high, eight);
    let index = arena.add_const(end, -6);
    let wide = arena.sext(index, 64);
    let mut widened = |least: u64| {
        let least = arena.bv(32, least);
        let below = arena.slt(n, least);
        let enough = arena.bool_not(below);
        let known = Known::from_condition(&mut arena, enough);
        let out = known.widen(&mut arena, wide);
        arena.text(out)
    };
    assert_eq!(widened(9), "8*zext64((n - 1)[31:3]) - 6");
    // Not for n = 0, where it is the largest multiple of eight that is shifted.
    assert_eq!(widened(0), "sext64(8*zext32((n - 1)[31:3]) - 6)");
}

/// The low bits of a number, extended, are the number where it has no other bits, and nowhere else. All numbers are tried.
#[test]
fn low_bits_of_a_number_that_has_no_others() {
    let ends = [2i64, 3, 100, 127, 128, 129, 200, 255, 256, 257, 1000];
    for (signed, holds, end, more) in
        ends.iter().flat_map(|end| (0..8).map(move |i| (i & 1 == 1, i & 2 == 2, *end, if i & 4 == 4 { 3 } else { 0 })))
    {
        let mut arena = Arena::new();
        let x = arena.var("x@0", Sort::Bv(16));
        let limit = arena.bv_i64(16, end);
        let low = if signed { arena.slt(x, limit) } else { arena.ult(x, limit) };
        let zero = arena.bv(16, 0);
        let positive = arena.slt(x, zero);
        let positive = arena.bool_not(positive);
        let fact = if holds { arena.bool_and(low, positive) } else { low };
        let known = Known::from_condition(&mut arena, fact);
        let part = arena.extract(x, 7, 0);
        let part = arena.add_const(part, more);
        let targets = [arena.zext(part, 16), arena.sext(part, 16)];
        for (target, most) in targets.into_iter().zip([255i64, 127]) {
            let out = known.widen(&mut arena, target);
            let whole = arena.add_const(x, more);
            let expected = end - 1 + more <= most && (holds || !signed);
            assert_eq!(out == whole, expected, "{} under {}", arena.text(target), arena.text(fact));
            for value in 0..=u16::MAX {
                let mut state = Model::default();
                state.set_bits(arena.find_var("x@0").expect("declared"), Bits::new(16, u64::from(value)));
                if value_of(&arena, &state, fact) == Value::Bool(true) {
                    assert_eq!(value_of(&arena, &state, target), value_of(&arena, &state, out), "{value}");
                }
            }
        }
    }
}

/// `((n − 2) >> 1) + 1`, of which the low bits are used, is the same number computed with all bits.
#[test]
fn shifted_sums_get_their_bits_back() {
    let mut arena = Arena::new();
    let n = arena.var("n", Sort::Bv(32));
    let wide = arena.zext(n, 64);
    let less = arena.add_const(wide, -2);
    let half = arena.extract(less, 63, 1);
    let half = arena.zext(half, 64);
    let turns = arena.add_const(half, 1);
    let eighth = arena.extract(turns, 63, 3);
    let eighth = arena.zext(eighth, 64);
    let low = arena.extract(eighth, 31, 0);
    let again = arena.zext(low, 64);
    let mut widened = |least: u64| {
        let least = arena.bv(32, least);
        let below = arena.ult(n, least);
        let enough = arena.bool_not(below);
        let known = Known::from_condition(&mut arena, enough);
        let mut memo = FxHashMap::default();
        known.widen_all(&mut arena, again, &mut memo)
    };
    assert_eq!(widened(2), eighth);
    assert_ne!(widened(1), eighth);
}

/// The four ways to ask for the smaller or the larger of two numbers.
fn extremes(arena: &mut Arena, op: Op, n: TermId, m: TermId) -> [TermId; 4] {
    [(n, m, n, m), (m, n, m, n), (n, m, m, n), (m, n, n, m)].map(|(a, b, then, other)| {
        let less = arena.make(op, &[a, b]);
        arena.ite(less, then, other)
    })
}

/// A comparison tells which of two numbers is the smaller one, ties included, however a choice asks; and nothing of the other
/// order, or of other numbers.
#[test]
fn comparisons_decide_extremes() {
    for (op, other_op) in [(Op::Ult, Op::Slt), (Op::Slt, Op::Ult)] {
        for holds in [true, false] {
            let mut arena = Arena::new();
            let [n, m, x] = ["n", "m", "x@0"].map(|name| arena.var(name, Sort::Bv(8)));
            let less = arena.make(op, &[n, m]);
            let fact = if holds { less } else { arena.bool_not(less) };
            let known = Known::from_condition(&mut arena, fact);
            let (small, large) = if holds { (n, m) } else { (m, n) };
            let decided = extremes(&mut arena, op, n, m).map(|choice| known.rewrite(&mut arena, choice));
            assert_eq!(decided, [small, small, large, large], "{op:?} {holds}");
            for (op, a, b) in [(other_op, n, m), (op, n, x)] {
                for choice in extremes(&mut arena, op, a, b) {
                    assert_eq!(known.rewrite(&mut arena, choice), choice, "{op:?} {holds}");
                }
            }
            for values in (0..=255u8).flat_map(|n| [0, 1, n, 127, 128, 254].map(|m| [0, 0, n, m])) {
                let model = model(&mut arena, &values);
                if value_of(&arena, &model, fact) != Value::Bool(true) {
                    continue;
                }
                for (choice, is) in extremes(&mut arena, op, n, m).into_iter().zip([small, small, large, large]) {
                    assert_eq!(value_of(&arena, &model, choice), value_of(&arena, &model, is), "{op:?} {values:?}");
                }
            }
        }
    }
}
