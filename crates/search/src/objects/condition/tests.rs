//! Values of conditions against those of their terms, and how many inputs can be made to satisfy one.

use crate::objects::refute::Runner;
use interpreter::Seed;
use kernel::{Expression, Precondition};
use program::{Function, Register, Side, read_function};
use proptest::prelude::*;
use symbolic::Context;
use term::eval::{Model, Value, eval};
use term::{Arena, Bits, Form};

/// A function of three numbers that follows the first.
fn function() -> (Arena, Function) {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let text = "f(rdi:8, rsi:8, rdx:4) → rax:8\n  p0:\n  rax := mem[rdi, 8]\n  return\n";
    let function = read_function(&mut arena, text, Form::Normal).expect("a function");
    (arena, function)
}

fn precondition(texts: &[&str], function: &Function, arena: &Arena) -> Precondition {
    let conjuncts = texts.iter().map(|text| Expression::parse(text).expect("an expression")).collect();
    Precondition::new(conjuncts, Vec::new(), function, arena).expect("a condition")
}

fn number(depth: u32) -> BoxedStrategy<String> {
    let atom = prop_oneof![
        Just("$rdi".to_string()),
        Just("$rsi".to_string()),
        Just("(zext 64 $rdx)".to_string()),
        Just("(sext 64 (slice 3 7 $rdx))".to_string()),
        (-9i64..9).prop_map(|n| format!("#64:{n}")),
        (0u64..24).prop_map(|at| format!("(load 8 #64:{})", 0x2000_0000_0000u64 + at)),
        (0u64..24).prop_map(|at| format!("(zext 64 (load 3 #64:{}))", 0x2000_0000_0000u64 + at)),
    ];
    if depth == 0 {
        return atom.boxed();
    }
    let words = ["add", "sub", "mul", "udiv", "urem", "sdiv", "srem", "shl", "lshr", "ashr", "and", "bitor", "bitxor"];
    let both = (0..words.len(), number(depth - 1), number(depth - 1));
    let more = ["maxs", "maxu", "mins", "minu"];
    let extreme = (0..more.len(), number(depth - 1), number(depth - 1), number(0));
    prop_oneof![
        atom,
        both.prop_map(move |(word, a, b)| format!("({} {a} {b})", words[word])),
        extreme.prop_map(move |(word, a, b, c)| format!("({} {a} {b} {c})", more[word])),
        number(depth - 1).prop_map(|a| format!("(bitnot {a})")),
        (number(depth - 1), number(depth - 1))
            .prop_map(|(a, b)| format!("(concat (slice 40 24 {a}) (slice 0 40 {b}))")),
        (truth(depth - 1), number(depth - 1), number(depth - 1)).prop_map(|(c, a, b)| format!("(ite {c} {a} {b})")),
    ]
    .boxed()
}

fn truth(depth: u32) -> BoxedStrategy<String> {
    let words = ["=", "<u", "<=u", "<s", "<=s", "feq", "flt", "fle"];
    let compared = (0..words.len(), number(depth), number(depth));
    let atom = compared.prop_map(move |(word, a, b)| format!("({} {a} {b})", words[word])).boxed();
    if depth == 0 {
        return atom;
    }
    let part = || truth(depth - 1);
    let four = (number(depth - 1), number(0), number(depth - 1), number(0));
    prop_oneof![
        atom,
        part().prop_map(|a| format!("(not {a})")),
        (part(), part()).prop_map(|(a, b)| format!("(or {a} {b})")),
        (part(), part(), part()).prop_map(|(a, b, c)| format!("(and {a} {b} {c})")),
        four.prop_map(|(a, n, b, m)| format!("(apart {a} {n} {b} {m})")),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 400, ..ProptestConfig::default() })]

    /// An input satisfies a condition exactly if the term that proofs assume is true of it.
    #[test]
    fn values_are_those_of_terms(text in truth(3), seed in 0u64..1 << 32, round in 0u64..64) {
        let (mut arena, function) = function();
        let precondition = precondition(&[&text], &function, &arena);
        let mut context = Context::new(&mut arena, &function, &function, Vec::new());
        let states = Side::BOTH.map(|side| context.entry_state(side));
        let term = precondition.term(&mut context, &states).expect("a term");
        let mut input = Runner::new(&arena, &function, &function).random_input(&arena, Seed(seed), round);
        let mut model = Model::default();
        for (i, register) in [Register::General(7), Register::General(6), Register::General(2)].into_iter().enumerate() {
            model.set_bits(arena.find_var(&register.name()).expect("a register"), input.values[i].resize(64));
        }
        let narrow = arena.find_var("rdx.32");
        narrow.into_iter().for_each(|var| model.set_bits(var, input.values[2].resize(32)));
        let world = arena.find_var("world").expect("memory");
        for at in 0..40u64 {
            let byte = Seed(seed).mix(at) as u8;
            input.fixed.insert(0x2000_0000_0000 + at, byte);
            model.set_byte(world, 0x2000_0000_0000 + at, byte);
        }
        let mut runner = Runner::new(&arena, &function, &function).under(&precondition);
        prop_assert_eq!(Value::Bool(runner.satisfies(&arena, &input)), eval(&arena, term, &model), "{}", text);
    }
}

/// How many of a hundred random inputs satisfy a condition after all.
fn satisfied(texts: &[&str]) -> usize {
    let (arena, function) = function();
    let precondition = precondition(texts, &function, &arena);
    let mut runner = Runner::new(&arena, &function, &function).under(&precondition);
    let one = |round| {
        let input = runner.random_input(&arena, Seed(7), round);
        runner.satisfies(&arena, &input)
    };
    (0..100).map(one).filter(|holds| *holds).count()
}

#[test]
fn random_inputs_satisfy_what_people_write() {
    for texts in [
        &["(= $rsi (add $rdi #64:4))"][..],
        &["(= (urem $rsi #64:24) #64:7)", "(<u $rsi #64:4096)"],
        &["(= (slice 0 4 $rdi) #4:0)", "(= (slice 0 4 $rsi) #4:0)", "(apart $rdi #64:64 $rsi #64:64)"],
        &["(<u (zext 64 $rdx) #64:1000)", "(apart $rdi (mul #64:8 (zext 64 $rdx)) $rsi (mul #64:8 (zext 64 $rdx)))"],
        &["(= (load 4 (add $rdi #64:12)) #32:0)", "(= (load 8 $rsi) $rdi)"],
        &["(<=s #32:3 $rdx)", "(<s $rdx #32:5)"],
        &["(or (= $rsi #64:5) (not (<u $rsi #64:70000)))"],
        &["(flt (load 8 $rdi) (load 8 $rsi))", "(feq (load 8 $rdi) (load 8 $rdi))"],
        &["(= (and $rsi #64:255) #64:18)", "(= (mul #64:6 $rsi) (mul #64:6 $rdi))"],
        &["(= (slice 4 8 (load 4 $rdi)) #8:-1)", "(not (= $rsi $rdi))"],
        &["(= (add (mul #64:4 $rsi) #64:12) $rdi)"],
    ] {
        let satisfied = satisfied(texts);
        assert!(satisfied >= 90, "{texts:?}: {satisfied} of 100");
    }
    assert_eq!(satisfied(&["(= $rsi #64:5)", "(= $rsi #64:6)"]), 0);
}

/// The constant of a test that is wider than a word.
#[test]
fn cells_are_as_wide_as_they_are_read() {
    assert_eq!(Bits::from_bytes(&[1; 16]).width(), 128);
    assert!(satisfied(&["(= (load 16 $rdi) (load 16 $rsi))"]) >= 90);
}
