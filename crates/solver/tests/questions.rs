//! Questions and answers through the public interface, with Z3.

use interrupt::Interrupt;
use solver::{Answer, Query, Solver, SolverOptions, SolverPool};
use tempfile::TempDir;
use term::eval::{Model, Value, eval};
use term::{Arena, Bits, FloatOp, Op, Sort, TermId};

fn options() -> SolverOptions {
    SolverOptions::default()
}

fn ask(arena: &mut Arena, hypotheses: &[TermId], goal: TermId) -> Answer {
    Solver::new(options()).ask(arena, &Query::new(hypotheses, goal))
}

fn proves(arena: &mut Arena, hypotheses: &[TermId], goal: TermId) {
    let answer = ask(arena, hypotheses, goal);
    assert!(matches!(answer, Answer::Proved), "{answer:?} for {}", arena.text(goal));
}

/// The question has a counterexample, and it is one.
fn refutes(arena: &mut Arena, hypotheses: &[TermId], goal: TermId) -> Model {
    match ask(arena, hypotheses, goal) {
        Answer::Refuted(model) => {
            assert_eq!(eval(arena, goal, &model), Value::Bool(false));
            assert!(hypotheses.iter().all(|h| eval(arena, *h, &model) == Value::Bool(true)));
            model
        }
        other => panic!("{other:?} for {}", arena.text(goal)),
    }
}

/// `[p, p + n)` and `[q, q + m)` have no byte in common.
fn disjoint(arena: &mut Arena, p: TermId, n: u64, q: TermId, m: u64) -> TermId {
    let (ahead, behind) = (arena.sub(p, q), arena.sub(q, p));
    let (n, m) = (arena.bv(64, n), arena.bv(64, m));
    let (after, before) = (arena.ule(m, ahead), arena.ule(n, behind));
    arena.bool_and(after, before)
}

fn addresses<const N: usize>(arena: &mut Arena, names: [&str; N]) -> [TermId; N] {
    names.map(|name| arena.var(name, Sort::Bv(64)))
}

#[test]
fn constants_need_no_solver() {
    let mut arena = Arena::new();
    let mut solver = Solver::new(SolverOptions { commands: Vec::new(), few_conflicts: 0, ..options() });
    let (yes, no) = (arena.bool(true), arena.bool(false));
    let a = arena.var("a", Sort::Bool);
    assert!(matches!(solver.ask(&mut arena, &Query::goal(yes)), Answer::Proved));
    assert!(matches!(solver.ask(&mut arena, &Query::goal(no)), Answer::Refuted(_)));
    assert!(matches!(solver.ask(&mut arena, &Query::new([no], no)), Answer::Proved));
    assert!(matches!(solver.ask(&mut arena, &Query::new([a], a)), Answer::Proved));
    assert_eq!(solver.statistics().trivial, 4);
    assert!(matches!(solver.ask(&mut arena, &Query::new([a], no)), Answer::Unknown(_)));
}

#[test]
fn a_contradiction_proves_everything() {
    let mut arena = Arena::new();
    let (x, y) = (arena.var("x", Sort::Bv(16)), arena.var("y", Sort::Bv(16)));
    let (less, more) = (arena.ult(x, y), arena.ult(y, x));
    let no = arena.bool(false);
    proves(&mut arena, &[less, more], no);
    refutes(&mut arena, &[less], no);
}

#[test]
fn arithmetic() {
    let mut arena = Arena::new();
    let (x, y) = (arena.var("x", Sort::Bv(32)), arena.var("y", Sort::Bv(32)));
    let (and, or) = (arena.raw(Op::BvAnd, &[x, y]), arena.raw(Op::BvOr, &[x, y]));
    let (sum, parts) = (arena.raw(Op::Add, &[x, y]), arena.raw(Op::Add, &[and, or]));
    let goal = arena.raw(Op::Eq, &[sum, parts]);
    proves(&mut arena, &[], goal);
    let goal = arena.raw(Op::Ult, &[and, or]);
    refutes(&mut arena, &[], goal);
}

#[test]
fn models_of_all_sorts() {
    let mut arena = Arena::new();
    let wide = arena.var("wide", Sort::Bv(256));
    let bit = arena.var("bit", Sort::Bv(1));
    let flag = arena.var("flag", Sort::Bool);
    let value = arena.constant(Bits::ones(256).lshr(Bits::new(256, 3)));
    let one = arena.bv(1, 1);
    let is = [arena.raw(Op::Eq, &[wide, value]), arena.raw(Op::Eq, &[bit, one]), flag];
    let all = arena.raw(Op::And, &is);
    let goal = arena.raw(Op::Not, &[all]);
    let model = refutes(&mut arena, &[], goal);
    assert_eq!(eval(&arena, wide, &model), Value::Bits(Bits::ones(256).lshr(Bits::new(256, 3))));
}

#[test]
fn a_load_sees_the_store_at_its_address() {
    let mut arena = Arena::new();
    let memory = arena.var("m", Sort::Memory);
    let [p, q] = addresses(&mut arena, ["p", "q"]);
    let v = arena.var("v", Sort::Bv(64));
    let stored = arena.store(memory, p, v);
    let loaded = arena.load(stored, q, 8);
    let goal = arena.eq(loaded, v);
    let same = arena.eq(p, q);
    proves(&mut arena, &[same], goal);
    let model = refutes(&mut arena, &[], goal);
    assert_ne!(eval(&arena, p, &model), eval(&arena, q, &model));
    // A near miss: one byte off.
    let next = arena.add_const(p, 1);
    let near = arena.eq(q, next);
    refutes(&mut arena, &[near], goal);
}

#[test]
fn a_load_does_not_see_a_store_elsewhere() {
    let mut arena = Arena::new();
    let memory = arena.var("m", Sort::Memory);
    let [p, q] = addresses(&mut arena, ["p", "q"]);
    let v = arena.var("v", Sort::Bv(32));
    let stored = arena.store(memory, p, v);
    let (after, before) = (arena.load(stored, q, 8), arena.load(memory, q, 8));
    let goal = arena.eq(after, before);
    let apart = disjoint(&mut arena, p, 4, q, 8);
    proves(&mut arena, &[apart], goal);
    let almost = disjoint(&mut arena, p, 4, q, 7);
    refutes(&mut arena, &[almost], goal);
}

#[test]
fn stores_to_different_places_commute() {
    let mut arena = Arena::new();
    let memory = arena.var("m", Sort::Memory);
    let [p, q, a] = addresses(&mut arena, ["p", "q", "a"]);
    let (v, w) = (arena.var("v", Sort::Bv(64)), arena.var("w", Sort::Bv(64)));
    let one = arena.store(memory, p, v);
    let one = arena.store(one, q, w);
    let two = arena.store(memory, q, w);
    let two = arena.store(two, p, v);
    let (x, y) = (arena.load(one, a, 1), arena.load(two, a, 1));
    let goal = arena.eq(x, y);
    let apart = disjoint(&mut arena, p, 8, q, 8);
    proves(&mut arena, &[apart], goal);
    refutes(&mut arena, &[], goal);
    let (x, y) = (arena.load(one, a, 4), arena.load(two, a, 4));
    let goal = arena.eq(x, y);
    proves(&mut arena, &[apart], goal);
}

#[test]
fn arrays_in_bounds_are_told_apart() {
    let mut arena = Arena::new();
    let mut memory = arena.var("m", Sort::Memory);
    let before = memory;
    let [a, b] = addresses(&mut arena, ["a", "b"]);
    let mut hypotheses = vec![disjoint(&mut arena, a, 400, b, 400)];
    let (mut left, mut right) = (arena.bv(32, 0), arena.bv(32, 0));
    let (four, hundred) = (arena.bv(64, 4), arena.bv(32, 100));
    for i in 0..6 {
        let element = |arena: &mut Arena, base: TermId, name: &str| {
            let index = arena.var(&format!("{name}{i}"), Sort::Bv(32));
            let in_bounds = arena.ult(index, hundred);
            let wide = arena.zext(index, 64);
            let offset = arena.mul(wide, four);
            (arena.add(base, offset), in_bounds)
        };
        let (p, i_in_bounds) = element(&mut arena, a, "i");
        let (q, j_in_bounds) = element(&mut arena, b, "j");
        hypotheses.extend([i_in_bounds, j_in_bounds]);
        let (x, y) = (arena.load(memory, p, 4), arena.load(before, p, 4));
        (left, right) = (arena.add(left, x), arena.add(right, y));
        memory = arena.store(memory, q, left);
    }
    let goal = arena.eq(left, right);
    proves(&mut arena, &hypotheses, goal);
    hypotheses.remove(3);
    refutes(&mut arena, &hypotheses, goal);
}

#[test]
fn copies_and_fills() {
    let mut arena = Arena::new();
    let memory = arena.var("m", Sort::Memory);
    let [to, from, n, a] = addresses(&mut arena, ["to", "from", "n", "a"]);
    let copied = arena.raw(Op::Copy, &[memory, to, memory, from, n]);
    let offset = arena.sub(a, to);
    let inside = arena.ult(offset, n);
    let source = arena.add(from, offset);
    let (after, before) = (arena.load(copied, a, 1), arena.load(memory, source, 1));
    let goal = arena.eq(after, before);
    proves(&mut arena, &[inside], goal);
    refutes(&mut arena, &[], goal);

    let byte = arena.var("byte", Sort::Bv(8));
    let filled = arena.raw(Op::Fill, &[memory, to, byte, n]);
    let word = arena.load(filled, to, 4);
    let low = arena.extract(word, 7, 0);
    let goal = arena.eq(low, byte);
    let zero = arena.bv(64, 0);
    let some = arena.ult(zero, n);
    proves(&mut arena, &[some], goal);
    refutes(&mut arena, &[], goal);
    let high = arena.extract(word, 31, 24);
    let goal = arena.eq(high, byte);
    refutes(&mut arena, &[some], goal);
}

#[test]
fn opaque_functions_are_functions() {
    let mut arena = Arena::new();
    let memory = arena.var("m", Sort::Memory);
    let [p, q] = addresses(&mut arena, ["p", "q"]);
    let same = arena.eq(p, q);
    let (a, b) = (arena.apply("hash", Sort::Bv(32), &[p]), arena.apply("hash", Sort::Bv(32), &[q]));
    let goal = arena.eq(a, b);
    proves(&mut arena, &[same], goal);
    refutes(&mut arena, &[], goal);
    // The same with the memory as an operand, and with a memory that differs by equal stores only.
    let v = arena.var("v", Sort::Bv(32));
    let (one, two) = (arena.store(memory, p, v), arena.store(memory, q, v));
    let (a, b) = (arena.apply("strlen", Sort::Bv(64), &[one, p]), arena.apply("strlen", Sort::Bv(64), &[two, q]));
    let goal = arena.eq(a, b);
    proves(&mut arena, &[same], goal);
    assert!(!matches!(ask(&mut arena, &[], goal), Answer::Proved));
}

#[test]
fn memories_of_functions_are_read() {
    let mut arena = Arena::new();
    let [p, q, a] = addresses(&mut arena, ["p", "q", "a"]);
    let (m, n) = (arena.apply("after", Sort::Memory, &[p]), arena.apply("after", Sort::Memory, &[q]));
    let (x, y) = (arena.load(m, a, 4), arena.load(n, a, 4));
    let goal = arena.eq(x, y);
    let same = arena.eq(p, q);
    proves(&mut arena, &[same], goal);
    // There is a model, but the evaluator cannot check it.
    assert!(matches!(ask(&mut arena, &[], goal), Answer::Unknown(_)));
}

#[test]
fn floats_are_functions_of_their_bits() {
    let mut arena = Arena::new();
    let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
    let same = arena.eq(x, y);
    let (a, b) = (arena.float(FloatOp::Sqrt(64), &[x]), arena.float(FloatOp::Sqrt(64), &[y]));
    let goal = arena.eq(a, b);
    proves(&mut arena, &[same], goal);
}

#[test]
fn too_costly_loads_may_still_be_proved() {
    let mut arena = Arena::new();
    let mut memory = arena.var("m", Sort::Memory);
    let v = arena.var("v", Sort::Bv(64));
    for i in 0..50 {
        let p = arena.var(&format!("p{i}"), Sort::Bv(64));
        memory = arena.store(memory, p, v);
    }
    let [a, b] = addresses(&mut arena, ["a", "b"]);
    let (x, y) = (arena.load(memory, a, 8), arena.load(memory, b, 8));
    let goal = arena.eq(x, y);
    let same = arena.eq(a, b);
    let mut solver = Solver::new(SolverOptions { expansion_budget: 5, ..options() });
    assert!(matches!(solver.ask(&mut arena, &Query::new([same], goal)), Answer::Proved));
    assert!(matches!(solver.ask(&mut arena, &Query::goal(goal)), Answer::Refuted(_) | Answer::Unknown(_)));
}

#[test]
fn answers_are_remembered() {
    let mut arena = Arena::new();
    let mut solver = Solver::new(options());
    let goal = |arena: &mut Arena, x: &str, y: &str| {
        let (x, y) = (arena.var(x, Sort::Bv(32)), arena.var(y, Sort::Bv(32)));
        let (a, b) = (arena.raw(Op::BvAnd, &[x, y]), arena.raw(Op::BvOr, &[x, y]));
        (arena.raw(Op::Ult, &[b, a]), arena.raw(Op::Ult, &[a, b]))
    };
    let (never, sometimes) = goal(&mut arena, "x", "y");
    let never = arena.raw(Op::Not, &[never]);
    for _ in 0..3 {
        assert!(matches!(solver.ask(&mut arena, &Query::goal(never)), Answer::Proved));
        assert!(matches!(solver.ask(&mut arena, &Query::goal(sometimes)), Answer::Refuted(_)));
    }
    let counts = solver.statistics();
    assert_eq!((counts.queries, counts.bit_calls, counts.full_calls), (6, 2, 0));
    assert_eq!((counts.cached, counts.known_state), (2, 2));

    // The same questions in another arena, with other names: the model is about that arena's variables.
    let mut other = Arena::new();
    other.var("filler", Sort::Bv(8));
    let (never, sometimes) = goal(&mut other, "p", "q");
    let never = other.raw(Op::Not, &[never]);
    assert!(matches!(solver.ask(&mut other, &Query::goal(never)), Answer::Proved));
    let Answer::Refuted(model) = solver.ask(&mut other, &Query::goal(sometimes)) else { panic!("not refuted") };
    assert_eq!(eval(&other, sometimes, &model), Value::Bool(false));
    assert_eq!(solver.statistics().bit_calls, 2);
}

#[test]
fn taught_states_refute_without_a_solver() {
    let mut arena = Arena::new();
    let mut solver = Solver::new(SolverOptions { commands: Vec::new(), few_conflicts: 0, ..options() });
    let x = arena.var("x", Sort::Bv(32));
    let (ten, five) = (arena.bv(32, 10), arena.bv(32, 5));
    let (small, smaller) = (arena.ult(x, ten), arena.ult(x, five));
    let query = Query::new([small], smaller);
    assert!(matches!(solver.ask(&mut arena, &query), Answer::Unknown(_)));
    let mut state = Model::default();
    state.set_bits(arena.as_var(x).unwrap(), Bits::new(32, 7));
    solver.learn(state);
    assert!(matches!(solver.ask(&mut arena, &query), Answer::Refuted(_)));
    assert_eq!(solver.statistics().known_state, 1);
}

#[test]
fn questions_are_dumped_and_stand_alone() {
    let dir = TempDir::new().unwrap();
    let target = dir.path().join("new/folder");
    let mut arena = Arena::new();
    let mut solver = Solver::new(SolverOptions { dump_queries: Some(target.clone()), ..options() });
    let memory = arena.var("memory", Sort::Memory);
    let [p, q] = addresses(&mut arena, ["p\n(exit)", "q"]);
    let (x, y) = (arena.load(memory, p, 2), arena.load(memory, q, 2));
    let goal = arena.eq(x, y);
    let same = arena.eq(p, q);
    assert!(matches!(solver.ask(&mut arena, &Query::goal(goal)), Answer::Refuted(_)));
    assert!(matches!(solver.ask(&mut arena, &Query::new([same], goal)), Answer::Proved));
    let mut files: Vec<_> = std::fs::read_dir(target).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut answers = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let noted = text.lines().last().unwrap().strip_prefix("; answer: ").unwrap().to_string();
        let said = std::process::Command::new("z3").arg(&file).output().unwrap();
        assert_eq!(String::from_utf8(said.stdout).unwrap().trim(), noted);
        answers.push(noted);
    }
    answers.sort();
    assert_eq!(answers, ["sat", "unsat"]);
    assert_eq!(solver.statistics().dump_failures, 0);
}

/// One function pair's worth of questions; what came out, as text.
fn work(pool: &SolverPool, seed: u64) -> String {
    let mut solver = pool.take(Interrupt::never());
    let mut arena = Arena::new();
    let mut out = String::new();
    for i in 0..6 {
        let width = 8 + ((seed + i) % 5) as u16;
        let (x, y) =
            (arena.var(&format!("x{width}"), Sort::Bv(width)), arena.var(&format!("y{width}"), Sort::Bv(width)));
        let k = arena.bv(width, seed + i);
        let (a, b) = (arena.raw(Op::Mul, &[x, y]), arena.raw(Op::Mul, &[y, x]));
        let c = arena.raw(Op::BvXor, &[b, k]);
        let goals = [arena.raw(Op::Eq, &[a, b]), arena.raw(Op::Eq, &[a, c])];
        for goal in goals {
            out += &match solver.ask(&mut arena, &Query::goal(goal)) {
                Answer::Proved => "proved;".to_string(),
                Answer::Refuted(model) => format!("{:?} {:?};", eval(&arena, x, &model), eval(&arena, y, &model)),
                Answer::Unknown(why) => format!("{why};"),
            };
        }
    }
    out
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let alone = SolverPool::new(options());
    let expected: Vec<String> = (0..12).map(|seed| work(&alone, seed)).collect();
    let shared = SolverPool::new(options());
    let got: Vec<String> = std::thread::scope(|scope| {
        let shared = &shared;
        let threads: Vec<_> = (0..3)
            .map(|t| {
                scope.spawn(move || {
                    (0..12).filter(|seed| seed % 3 == t).map(|s| (s, work(shared, s))).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut all: Vec<(u64, String)> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        all.sort();
        all.into_iter().map(|(_, text)| text).collect()
    });
    assert_eq!(expected, got);
    assert_eq!(alone.statistics().queries, shared.statistics().queries);
    assert_eq!(shared.statistics().queries, 12 * 12);
}

/// `s->count` behind stores through pointers that are loaded from `s`, and the pointers.
fn count_behind_stores(arena: &mut Arena) -> (TermId, Vec<TermId>) {
    let world = arena.var("world", Sort::Memory);
    let [s] = addresses(arena, ["s"]);
    let mut memory = world;
    let mut pointers = Vec::new();
    for field in 0..6 {
        let at = arena.add_const(s, 8 + 8 * field);
        let pointer = arena.load(memory, at, 8);
        let index = arena.var(&format!("i{field}"), Sort::Bv(32));
        let wide = arena.zext(index, 64);
        let target = arena.add(pointer, wide);
        let value = arena.var(&format!("v{field}"), Sort::Bv(32));
        memory = arena.store(memory, target, value);
        pointers.push(pointer);
    }
    (arena.load(memory, s, 4), pointers)
}

#[test]
fn a_state_with_far_pointers_refutes_without_the_full_tier() {
    let mut arena = Arena::new();
    let (count, _) = count_behind_stores(&mut arena);
    let seven = arena.bv(32, 7);
    let goal = arena.ult(count, seven);
    let mut solver = Solver::new(options());
    let answer = solver.ask(&mut arena, &Query::goal(goal));
    let Answer::Refuted(model) = answer else { panic!("{answer:?}") };
    assert_eq!(eval(&arena, goal, &model), Value::Bool(false));
    let statistics = solver.statistics();
    assert_eq!((statistics.bit_calls, statistics.full_calls, statistics.address_calls), (1, 0, 0));
}

/// States with far pointers are not all: what holds there need not hold where pointers meet.
#[test]
fn what_only_pointers_that_meet_refute_is_refuted() {
    let mut arena = Arena::new();
    let world = arena.var("world", Sort::Memory);
    let [p, q] = addresses(&mut arena, ["p", "q"]);
    let (before, value) = (arena.load(world, q, 4), arena.bv(32, 5));
    let stored = arena.store(world, p, value);
    let after = arena.load(stored, q, 4);
    let kept = arena.eq(before, after);
    let model = refutes(&mut arena, &[], kept);
    let [p, q] = [p, q].map(|address| eval(&arena, address, &model));
    let (Value::Bits(p), Value::Bits(q)) = (p, q) else { panic!("addresses") };
    assert!(p.low().abs_diff(q.low()) < 4 || p.low().abs_diff(q.low()) > u64::MAX - 4);
    // And where they must be equal, as a condition says.
    let (p, q) = (arena.var("p", Sort::Bv(64)), arena.var("q", Sort::Bv(64)));
    let same = arena.eq(p, q);
    refutes(&mut arena, &[same], kept);
    let apart = disjoint(&mut arena, p, 4, q, 4);
    proves(&mut arena, &[apart], kept);
}

#[test]
fn loaded_pointers_of_a_refuting_state_are_in_its_memory() {
    let mut arena = Arena::new();
    let (count, pointers) = count_behind_stores(&mut arena);
    // Another number for each pointer, so that none may be forgotten.
    let zero = arena.bv(64, 0);
    let hypotheses: Vec<TermId> = pointers
        .iter()
        .map(|pointer| {
            let is_null = arena.eq(*pointer, zero);
            arena.bool_not(is_null)
        })
        .collect();
    let nine = arena.bv(32, 9);
    let is_nine = arena.eq(count, nine);
    let goal = arena.bool_not(is_nine);
    let model = refutes(&mut arena, &hypotheses, goal);
    let places: std::collections::BTreeSet<String> =
        pointers.iter().map(|pointer| format!("{:?}", eval(&arena, *pointer, &model))).collect();
    assert_eq!(places.len(), pointers.len());
}
