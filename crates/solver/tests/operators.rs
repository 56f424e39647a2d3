//! Each operator means to the solvers what it means to the evaluator.

use solver::{Answer, Query, Solver, SolverOptions};
use term::eval::{Model, Value, eval};
use term::{Arena, Bits, Op, Sort, TermId};

/// How the operands are told to be constants.
#[derive(Clone, Copy, PartialEq)]
enum Told {
    /// By equations, which a solver may substitute.
    Equal,
    /// By comparisons: the operands remain variables.
    Between,
}

/// To the SAT solver in this process.
const BITS: SolverOptionsOf = || SolverOptions { commands: Vec::new(), ..SolverOptions::default() };
/// To solver processes.
const PROCESSES: SolverOptionsOf = || SolverOptions { few_conflicts: 0, ..SolverOptions::default() };

type SolverOptionsOf = fn() -> SolverOptions;

#[test]
fn operators_agree_with_the_evaluator() {
    agree(BITS, Told::Equal, &[1, 2, 5, 8, 17, 32, 64, 100]);
    // Conflicts in a divider of 64 bits whose inputs are known by comparison are many.
    agree(BITS, Told::Between, &[1, 2, 3, 5, 8, 13]);
    agree(PROCESSES, Told::Equal, &[1, 2, 5, 8, 17, 32, 64, 100]);
}

/// All operands of three bits, by gates.
#[test]
fn small_operators_agree_everywhere() {
    let mut arena = Arena::new();
    let mut solver = Solver::new(BITS());
    let (x, y) = (arena.var("x", Sort::Bv(3)), arena.var("y", Sort::Bv(3)));
    let terms = terms(&mut arena, x, y);
    for (a, b) in (0..8).flat_map(|a| (0..8).map(move |b| (Bits::new(3, a), Bits::new(3, b)))) {
        check(&mut arena, &mut solver, Told::Between, (x, y), (a, b), &terms);
    }
}

fn agree(options: SolverOptionsOf, told: Told, widths: &[u16]) {
    let mut arena = Arena::new();
    let mut solver = Solver::new(options());
    let mut seed = 0;
    for width in widths {
        let x = arena.var(&format!("x{width}"), Sort::Bv(*width));
        let y = arena.var(&format!("y{width}"), Sort::Bv(*width));
        let terms = terms(&mut arena, x, y);
        for round in 0..6 {
            seed += 1;
            let model = Model::seeded(seed);
            let values = match round {
                0 => (Bits::zero(*width), Bits::zero(*width)),
                _ => (eval(&arena, x, &model).bits(), eval(&arena, y, &model).bits()),
            };
            check(&mut arena, &mut solver, told, (x, y), values, &terms);
        }
    }
}

/// Terms with every operator.
fn terms(arena: &mut Arena, x: TermId, y: TermId) -> Vec<TermId> {
    let width = arena.width(x);
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
    terms
}

/// The solver proves what the evaluator computes.
fn check(
    arena: &mut Arena,
    solver: &mut Solver,
    told: Told,
    (x, y): (TermId, TermId),
    (a, b): (Bits, Bits),
    terms: &[TermId],
) {
    let mut fixed = Model::default();
    fixed.set_bits(arena.as_var(x).unwrap(), a);
    fixed.set_bits(arena.as_var(y).unwrap(), b);
    let (a, b) = (arena.constant(a), arena.constant(b));
    let hypotheses: Vec<TermId> = match told {
        Told::Equal => vec![arena.raw(Op::Eq, &[x, a]), arena.raw(Op::Eq, &[y, b])],
        Told::Between => [(x, a), (a, x), (y, b), (b, y)]
            .into_iter()
            .map(|(low, high)| {
                let above = arena.raw(Op::Ult, &[low, high]);
                arena.raw(Op::Not, &[above])
            })
            .collect(),
    };
    let goals: Vec<TermId> = terms
        .iter()
        .map(|term| match eval(arena, *term, &fixed) {
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
    assert!(matches!(solver.ask(arena, &query), Answer::Proved), "{}", arena.text(goal));
}
