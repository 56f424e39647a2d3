//! Each operator means to the solver what it means to the evaluator.

use solver::{Answer, Query, Solver, SolverOptions};
use term::eval::{Model, Value, eval};
use term::{Arena, Bits, Op, Sort, TermId};

#[test]
fn operators_agree_with_the_evaluator() {
    let mut arena = Arena::new();
    let mut solver = Solver::new(SolverOptions::default());
    let binary = [
        Op::Eq,
        Op::Ult,
        Op::Slt,
        Op::Add,
        Op::Mul,
        Op::Udiv,
        Op::Urem,
        Op::Sdiv,
        Op::Srem,
        Op::BvAnd,
        Op::BvOr,
        Op::BvXor,
        Op::Shl,
        Op::Lshr,
        Op::Ashr,
        Op::Concat,
    ];
    let unary = [Op::BvNot, Op::Popcount, Op::TrailingZeros, Op::LeadingZeros];
    let mut seed = 0;
    for width in [1, 2, 5, 8, 17, 32, 64, 100] {
        let x = arena.var(&format!("x{width}"), Sort::Bv(width));
        let y = arena.var(&format!("y{width}"), Sort::Bv(width));
        let mut terms: Vec<TermId> = binary.iter().map(|op| arena.raw(*op, &[x, y])).collect();
        terms.extend(unary.iter().map(|op| arena.raw(*op, &[x])));
        terms.push(arena.raw(Op::Add, &[x, y, x]));
        terms.push(arena.raw(Op::Concat, &[x, y, x]));
        terms.push(arena.raw(Op::Zext(width + 3), &[x]));
        terms.push(arena.raw(Op::Sext(width + 3), &[x]));
        terms.push(arena.raw(Op::Extract { hi: width - 1, lo: width / 2 }, &[x]));
        let minus_one = arena.constant(Bits::ones(width));
        terms.push(arena.raw(Op::Mul, &[x, minus_one]));
        let less = arena.raw(Op::Ult, &[x, y]);
        terms.push(arena.raw(Op::Ite, &[less, x, y]));
        let same = arena.raw(Op::Eq, &[x, y]);
        let either = arena.raw(Op::Or, &[same, less]);
        let not = arena.raw(Op::Not, &[either]);
        terms.push(arena.raw(Op::And, &[not, either]));
        for round in 0..6 {
            seed += 1;
            let model = Model::seeded(seed);
            let (a, b) = match round {
                0 => (Bits::zero(width), Bits::zero(width)),
                _ => (eval(&arena, x, &model).bits(), eval(&arena, y, &model).bits()),
            };
            let mut fixed = Model::default();
            fixed.set_bits(arena.as_var(x).unwrap(), a);
            fixed.set_bits(arena.as_var(y).unwrap(), b);
            let (a, b) = (arena.constant(a), arena.constant(b));
            let hypotheses = vec![arena.raw(Op::Eq, &[x, a]), arena.raw(Op::Eq, &[y, b])];
            let goals: Vec<TermId> = terms
                .iter()
                .map(|term| match eval(&arena, *term, &fixed) {
                    Value::Bool(true) => *term,
                    Value::Bool(false) => arena.raw(Op::Not, &[*term]),
                    Value::Bits(bits) => {
                        let value = arena.constant(bits);
                        arena.raw(Op::Eq, &[*term, value])
                    }
                    Value::Memory(_) => unreachable!("no memories here"),
                })
                .collect();
            // Not rewritten: the solver has to understand the operators themselves.
            let goal = arena.raw(Op::And, &goals);
            let query = Query::new(hypotheses, goal);
            assert!(matches!(solver.ask(&mut arena, &query), Answer::Proved), "{}", arena.text(goal));
        }
    }
}
