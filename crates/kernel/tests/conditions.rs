//! Proofs under conditions: what the kernel accepts because of one, near misses of it, and conditions that may not be stated.

use kernel::lemma::Facts;
use kernel::{Certificate, Expression, Failure, Operator, Pair, Rejection, VERSION};
use program::{Function, Register, Undefined, read_function};
use proptest::prelude::*;
use solver::{Solver, SolverOptions};
use std::collections::BTreeSet;
use symbolic::{Context, State};
use term::{Arena, Form, Sort};

/// Checks two programs in the start states that satisfy the conditions. Both are points of a function with this first line.
fn check(header: &str, [original, candidate]: [&str; 2], conditions: &[&str]) -> String {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    let mut read = |points: &str| {
        let lines: Vec<String> = points.split(';').map(|line| format!("  {}\n", line.trim())).collect();
        let text = format!("{header}\n{}", lines.concat());
        read_function(&mut arena, &text, Form::Normal).unwrap_or_else(|error| panic!("{error}\n{text}"))
    };
    let functions = [read(original), read(candidate)];
    let [original, candidate] = functions;
    let pair = Pair::new(original, candidate, &Facts::default(), &BTreeSet::new(), Undefined::Excused);
    let certificate = Certificate {
        version: VERSION,
        original: pair.original().name.clone(),
        candidate: pair.candidate().name.clone(),
        original_hash: String::new(),
        candidate_hash: String::new(),
        assume: conditions.iter().map(|text| text.to_string()).collect(),
        axioms: Vec::new(),
        locals: Vec::new(),
        cuts: Default::default(),
        points: Vec::new(),
        edges: Vec::new(),
        lemmas: Vec::new(),
        effort: None,
    };
    let mut solver = Solver::new(SolverOptions::default());
    match kernel::check(&mut arena, &pair, &certificate, &mut solver) {
        Ok(proof) => {
            let stated: Vec<String> = proof.precondition().conjuncts().iter().map(Expression::to_string).collect();
            // What holds without a condition may be proved without it.
            assert!(stated.is_empty() || stated == conditions, "{stated:?}");
            "accepted".to_string()
        }
        Err(Rejection::Obligation { what, failure: Failure::NotShown | Failure::Refuted(..), .. }) => what.to_string(),
        Err(Rejection::Malformed(what)) => what,
        Err(other) => format!("{other:?}"),
    }
}

const TWO: &str = "f(rdi:8, rsi:8) → rax:8";

#[test]
fn equal_arguments() {
    let pair = ["p0:; rax := rdi; return", "p0:; rax := rsi; return"];
    assert_eq!(check(TWO, pair, &["(= $rdi $rsi)"]), "accepted");
    assert_eq!(check(TWO, pair, &["(<=u $rdi $rsi)", "(<=u $rsi $rdi)"]), "accepted");
    assert_eq!(check(TWO, pair, &["(<=u $rdi $rsi)"]), "the result");
    assert_eq!(check(TWO, pair, &["(= (slice 0 63 $rdi) (slice 0 63 $rsi))"]), "the result");
    assert_eq!(check(TWO, pair, &[]), "the result");
}

#[test]
fn values_and_ranges_of_arguments() {
    let low = ["p0:; rax := rdi; return", "p0:; rax := zext64(rdi[23:0]); return"];
    assert_eq!(check(TWO, low, &["(<u $rdi #64:16777216)"]), "accepted");
    assert_eq!(check(TWO, low, &["(<=u $rdi #64:16777215)"]), "accepted");
    assert_eq!(check(TWO, low, &["(<=u $rdi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<s $rdi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<u $rsi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<=s #64:0 $rdi)", "(<s $rdi #64:16777216)"]), "accepted");
    assert_eq!(check(TWO, low, &["(<=s #64:0 $rdi)", "(<=s $rdi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<s #64:-1 $rdi)", "(<=s $rdi #64:16777215)"]), "accepted");
    assert_eq!(check(TWO, low, &["(<=s #64:-1 $rdi)", "(<s $rdi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<=s #64:0 $rsi)", "(<s $rdi #64:16777216)"]), "the result");
    assert_eq!(check(TWO, low, &["(<=s #64:0 $rdi)", "(<s $rsi #64:16777216)"]), "the result");
    let five = ["p0:; rax := rdi; return", "p0:; rax := 5; return"];
    assert_eq!(check(TWO, five, &["(= $rdi #64:5)"]), "accepted");
    assert_eq!(check(TWO, five, &["(or (= $rdi #64:5) (= $rdi #64:6))"]), "the result");
    // Of two values that exclude each other nothing is left; the search asks for a state that satisfies the condition.
    assert_eq!(check(TWO, five, &["(= $rdi #64:6)", "(= $rdi #64:5)"]), "accepted");
}

#[test]
fn cells() {
    let header = "f(rdi:8, rsi:8) → rax:4";
    let pair = ["p0:; t := mem[rdi + 4, 4]; rax := zext64(t); return", "p0:; rax := 0; return"];
    assert_eq!(check(header, pair, &["(= (load 4 (add $rdi #64:4)) #32:0)"]), "accepted");
    assert_eq!(check(header, pair, &["(= (load 4 $rdi) #32:0)"]), "the result");
    assert_eq!(check(header, pair, &["(= (load 3 (add $rdi #64:4)) #24:0)"]), "the result");
}

/// A condition about a cell does not let the candidate touch it.
#[test]
fn conditions_grant_no_access() {
    let header = "f(rdi:8, rsi:8) → rax:4";
    let pair = ["p0:; rax := 0; return", "p0:; t := mem[rdi, 4]; rax := zext64(t); return"];
    assert_ne!(check(header, pair, &["(= (load 4 $rdi) #32:0)"]), "accepted");
}

#[test]
fn blocks_apart() {
    let pair =
        ["p0:; mem[rdi, 8] := 1; rax := mem[rsi, 8]; return", "p0:; rax := mem[rsi, 8]; mem[rdi, 8] := 1; return"];
    let apart = |n: u32, m: u32| format!("(apart $rdi #64:{n} $rsi #64:{m})");
    assert_eq!(check(TWO, pair, &[&apart(8, 8)]), "accepted");
    assert_eq!(check(TWO, pair, &[&apart(9, 8)]), "accepted");
    assert_eq!(check(TWO, pair, &[&apart(7, 8)]), "the result");
    assert_eq!(check(TWO, pair, &[&apart(8, 7)]), "the result");
    assert_eq!(check(TWO, pair, &["(<=u (add $rdi #64:8) $rsi)"]), "accepted");
    assert_eq!(check(TWO, pair, &["(<=u (add $rdi #64:7) $rsi)"]), "the result");
    assert_eq!(check(TWO, pair, &["(not (= $rdi $rsi))"]), "the result");
}

#[test]
fn what_may_not_be_said() {
    let pair = ["p0:; rax := rdi; return", "p0:; rax := rsi; return"];
    for condition in [
        "(= o.rdi o.rsi)",
        "(= c.rax $rdi)",
        "(= o.rbx #64:0)",
        "(= $rbx #64:0)",
        "(= $rax $rdi)",
        "(= $rdx $rdi)",
        "(= $rsp.candidate $rdi)",
        "(= $rdi.8 #8:0)",
        "(= (peek 8 $rdi) $rsi)",
        "(= (load 8 c.rdi) $rsi)",
        "(= o[-8,8] $rdi)",
        "(= &nothing $rdi)",
        "(= $&nothing $rdi)",
        "(= $§local.0 $rdi)",
        "(= $§trace $rdi)",
        "(= $world $rdi)",
        "(= $stack.0 $rdi)",
        "$rdi",
        "(add $rdi $rsi)",
        "(= $rdi #32:0)",
        "(apart $rdi $rsi $rdi)",
        "(load 8 $rdi)",
        "(what $rdi)",
        "(= $rdi",
        "",
    ] {
        let said = check(TWO, pair, &[condition]);
        assert!(said != "accepted" && said != "the result", "{condition}: {said}");
    }
}

/// Of a narrow argument only what its type holds can be said: the rest of the register is the candidate's to fear.
#[test]
fn narrow_arguments() {
    let header = "f(rdi:4) → rax:8";
    let pair = ["p0:; rax := zext64(rdi[31:0]); return", "p0:; rax := rdi; return"];
    assert_eq!(check(header, pair, &["(= $rdi #32:5)"]), "the result");
    let refused = check(header, pair, &["(<u $rdi #64:100)"]);
    assert!(refused.contains("do not fit"), "{refused}");
}

fn expression() -> impl Strategy<Value = Expression> {
    let leaf = prop::sample::select(vec!["$rdi", "$rsi", "#64:3", "#32:-1", "#8:255", "(true)", "(load 4 $rdi)"])
        .prop_map(|text| Expression::parse(text).expect("well formed"));
    leaf.prop_recursive(4, 24, 4, |inner| {
        let words = vec![
            "add",
            "sub",
            "mul",
            "udiv",
            "urem",
            "sdiv",
            "srem",
            "concat",
            "shl",
            "lshr",
            "ashr",
            "bitnot",
            "and",
            "bitor",
            "bitxor",
            "maxs",
            "minu",
            "=",
            "<u",
            "<=u",
            "<s",
            "<=s",
            "not",
            "or",
            "ite",
            "apart",
            "feq",
            "flt",
            "fle",
            "fadd",
            "fsub",
            "fmul",
            "fdiv",
            "sext 64",
            "zext 64",
            "slice 0 8",
            "load 8",
        ];
        (prop::sample::select(words), prop::collection::vec(inner, 1..4)).prop_map(|(word, operands)| {
            let operands: Vec<String> = operands.iter().map(Expression::to_string).collect();
            Expression::parse(&format!("({word} {})", operands.join(" "))).expect("well formed")
        })
    })
}

proptest! {
    /// The text form is read back, and the sort that is said to come out is that of the term.
    #[test]
    fn expressions_are_what_they_say(expression in expression()) {
        prop_assert_eq!(Expression::parse(&expression.to_string()), Ok(expression.clone()));
        let mut arena = Arena::new();
        Register::declare(&mut arena);
        let function = Function::default();
        let mut context = Context::new(&mut arena, &function, &function, Vec::new());
        let states: [State; 2] = program::Side::BOTH.map(|side| context.entry_state(side));
        let made = expression.term(&mut context, &states).map(|term| context.arena.sort(term));
        prop_assert_eq!(made.ok(), sort(&expression));
    }
}

fn sort(expression: &Expression) -> Option<Sort> {
    match expression {
        Expression::Constant(bits) => Some(Sort::Bv(bits.width())),
        Expression::Named(_) => Some(Sort::Bv(64)),
        Expression::Place(_) => None,
        Expression::Apply(operator, operands) => {
            let sorts: Vec<Sort> = operands.iter().map(sort).collect::<Option<_>>()?;
            Operator::result(*operator, &sorts)
        }
    }
}
