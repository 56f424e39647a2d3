//! Solvers that are missing, die, hang, talk nonsense or lie: the answer is `Unknown` with a reason, in time.

use expect_test::{Expect, expect};
use interrupt::Interrupt;
use solver::{Answer, Effort, Hard, Query, Record, Solver, SolverOptions, SolverPool};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use term::{Arena, Op, Sort, TermId};

/// A shell script that plays a solver. Scripts named `z3…` get the treatment of Z3.
fn fake(dir: &Path, name: &str, body: &str) -> String {
    let path: PathBuf = dir.join(name);
    fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_string()
}

/// `x·y = y·x + 1` as written: refuted by everything, proved by nobody.
fn question(arena: &mut Arena) -> Query {
    let (x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
    let (xy, yx) = (arena.raw(Op::Mul, &[x, y]), arena.raw(Op::Mul, &[y, x]));
    let one = arena.bv(64, 1);
    let sum = arena.raw(Op::Add, &[yx, one]);
    Query::goal(arena.raw(Op::Eq, &[xy, sum]))
}

/// A valid goal that costs a solver more than a moment: `x·y = (x&y)·(x|y) + (x&~y)·(~x&y)`. Products taken as opaque
/// values do not help.
fn hard_goal(arena: &mut Arena, width: u16) -> TermId {
    let (x, y) = (arena.var(&format!("x{width}"), Sort::Bv(width)), arena.var(&format!("y{width}"), Sort::Bv(width)));
    let (not_x, not_y) = (arena.raw(Op::BvNot, &[x]), arena.raw(Op::BvNot, &[y]));
    let (and, or) = (arena.raw(Op::BvAnd, &[x, y]), arena.raw(Op::BvOr, &[x, y]));
    let (only_x, only_y) = (arena.raw(Op::BvAnd, &[x, not_y]), arena.raw(Op::BvAnd, &[not_x, y]));
    let left = arena.raw(Op::Mul, &[x, y]);
    let (first, second) = (arena.raw(Op::Mul, &[and, or]), arena.raw(Op::Mul, &[only_x, only_y]));
    let right = arena.raw(Op::Add, &[first, second]);
    arena.raw(Op::Eq, &[left, right])
}

fn say(answer: &Answer) -> String {
    match answer {
        Answer::Proved => "proved".to_string(),
        Answer::Refuted(_) => "refuted".to_string(),
        Answer::Unknown(why) => format!("unknown: {why}"),
    }
}

/// An interrupt that is tripped after some time.
fn interrupt_after(time: Duration) -> Interrupt {
    let (interrupt, tripwire) = Interrupt::new();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        tripwire.trip();
    });
    interrupt
}

/// Every question goes to the processes.
fn options(commands: &[String], time: Duration) -> SolverOptions {
    let interrupt = interrupt_after(time);
    SolverOptions { commands: commands.to_vec(), interrupt, few_conflicts: 0, ..SolverOptions::default() }
}

/// The answer of a solver that runs `body`, with the directory's name removed, and that it came in time.
fn script_answers(name: &str, body: &str, limit: Duration, expected: Expect) {
    let dir = TempDir::new().unwrap();
    let command = fake(dir.path(), name, body);
    let mut arena = Arena::new();
    let query = question(&mut arena);
    let start = Instant::now();
    let mut solver = Solver::new(options(&[command], limit));
    let answer = say(&solver.ask(&mut arena, &query));
    drop(solver);
    assert!(start.elapsed() < limit + Duration::from_millis(500), "took {:?}", start.elapsed());
    expected.assert_eq(&answer.replace(dir.path().to_str().unwrap(), "DIR"));
}

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(400);

#[test]
fn missing_solver() {
    let mut arena = Arena::new();
    let query = question(&mut arena);
    for command in ["no-such-solver-here", "/nonexistent/z3", ""] {
        let mut solver = Solver::new(options(&[command.to_string()], LONG));
        assert!(say(&solver.ask(&mut arena, &query)).starts_with("unknown: "), "{command}");
    }
    let mut solver = Solver::new(options(&[], LONG));
    expect!["unknown: no solver is configured"].assert_eq(&say(&solver.ask(&mut arena, &query)));
    let mut solver = Solver::new(options(&["no-such-solver-here".to_string()], LONG));
    expect!["unknown: solver `no-such-solver-here` was not found"].assert_eq(&say(&solver.ask(&mut arena, &query)));
}

#[test]
fn solver_that_dies_at_once() {
    script_answers("fake", "exit 3", LONG, expect!["unknown: solver `DIR/fake` died"]);
    script_answers("z3-fake", "exit 3", LONG, expect!["unknown: solver `DIR/z3-fake` died"]);
}

#[test]
fn solver_that_dies_of_memory() {
    script_answers(
        "z3",
        "echo '(error \"out of memory\")'; exit 101",
        LONG,
        expect!["unknown: the solver ran out of memory"],
    );
}

#[test]
fn solver_that_hangs_while_it_reads() {
    script_answers("fake", "cat >/dev/null", SHORT, expect!["unknown: time limit reached"]);
    script_answers("z3", "cat >/dev/null", SHORT, expect!["unknown: time limit reached"]);
}

#[test]
fn solver_that_hangs_and_does_not_read() {
    script_answers("fake", "exec sleep 30", SHORT, expect!["unknown: time limit reached"]);
}

/// A question longer than any pipe holds.
fn long_question(arena: &mut Arena) -> Query {
    let (mut x, y) = (arena.var("x", Sort::Bv(64)), arena.var("y", Sort::Bv(64)));
    for _ in 0..5000 {
        let sum = arena.raw(Op::BvXor, &[x, y]);
        x = arena.raw(Op::Mul, &[sum, sum]);
    }
    Query::goal(arena.raw(Op::Eq, &[x, y]))
}

#[test]
fn long_questions_are_written_without_waiting() {
    let dir = TempDir::new().unwrap();
    let command = fake(dir.path(), "fake", "exec sleep 30");
    let mut arena = Arena::new();
    let query = long_question(&mut arena);
    let start = Instant::now();
    let mut solver = Solver::new(options(&[command], SHORT));
    expect!["unknown: time limit reached"].assert_eq(&say(&solver.ask(&mut arena, &query)));
    assert!(start.elapsed() < SHORT + Duration::from_millis(500), "took {:?}", start.elapsed());
    // A solver that reads answers a long question, and another one after that.
    let mut solver = Solver::new(options(&["z3".to_string()], LONG));
    solver.set_interrupt(interrupt_after(Duration::from_secs(2)));
    solver.ask(&mut arena, &query);
    let easy = question(&mut arena);
    solver.set_interrupt(interrupt_after(LONG));
    expect!["refuted"].assert_eq(&say(&solver.ask(&mut arena, &easy)));
}

#[test]
fn solver_that_talks_nonsense() {
    let reply = |text: &str| {
        format!(
            "while read -r l; do case \"$l\" in '(echo'*) echo '{text}'; echo \"$l\" | sed 's/.*\"\\(.*\\)\".*/\\1/';; esac; done"
        )
    };
    script_answers(
        "fake",
        &reply("perhaps"),
        LONG,
        expect!["unknown: solver `DIR/fake` gave a reply that is none: `perhaps`"],
    );
    script_answers(
        "fake",
        &reply("(error \"no\") unsat"),
        LONG,
        expect![[r#"unknown: solver `DIR/fake` gave a reply that is none: `(error "no") unsat`"#]],
    );
    script_answers("fake", &reply("unknown"), LONG, expect!["unknown: the solver gave up: unknown"]);
    // The second reply, to `get-value`, is `sat` again.
    script_answers("fake", &reply("sat"), LONG, expect!["unknown: solver `DIR/fake` gave a reply that is none: `sat`"]);
    script_answers("fake", &reply(""), LONG, expect!["unknown: solver `DIR/fake` gave a reply that is none: ``"]);
}

#[test]
fn solver_that_never_stops_writing() {
    script_answers("fake", "exec yes unsat", LONG, expect!["unknown: solver `DIR/fake` does not stop writing"]);
}

#[test]
fn solver_that_invents_models() {
    // Says `sat`, then that both variables are zero, which satisfies nothing here.
    let body = "n=0; while read -r l; do case \"$l\" in '(echo'*) n=$((n+1));
        if [ $n = 1 ]; then echo sat; else echo '((v0 #x0000000000000000) (v1 #x0000000000000000))'; fi;
        echo \"$l\" | sed 's/.*\"\\(.*\\)\".*/\\1/';; esac; done";
    let dir = TempDir::new().unwrap();
    let command = fake(dir.path(), "fake", body);
    let mut arena = Arena::new();
    let goal = hard_goal(&mut arena, 64);
    let mut solver = Solver::new(options(&[command], LONG));
    expect!["unknown: the solver's model does not hold under evaluation"]
        .assert_eq(&say(&solver.ask(&mut arena, &Query::goal(goal))));
}

/// Z3's limit may end the list of a model's values. That is no failure of the solver: it is asked again and again.
#[test]
fn values_that_a_limit_ends_are_no_nonsense() {
    let body = "n=0; while read -r l; do case \"$l\" in '(echo'*) n=$((n+1));
        if [ $((n % 2)) = 1 ]; then echo sat; else printf '((v0 #x00)'; echo '(error \"max. resource limit exceeded\")'; fi;
        echo \"$l\" | sed 's/.*\"\\(.*\\)\".*/\\1/';; esac; done";
    let dir = TempDir::new().unwrap();
    let command = fake(dir.path(), "z3fake", body);
    let mut arena = Arena::new();
    let mut solver = Solver::new(options(&[command], LONG));
    for width in [8, 16, 24, 32, 40] {
        let goal = hard_goal(&mut arena, width);
        expect!["unknown: resource limit of the solver reached"]
            .assert_eq(&say(&solver.ask(&mut arena, &Query::goal(goal))));
    }
}

#[test]
fn a_broken_solver_is_not_started_for_ever() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("starts");
    let command = fake(dir.path(), "fake", &format!("echo x >> {}; exit 1", log.display()));
    let mut arena = Arena::new();
    let query = question(&mut arena);
    let mut solver = Solver::new(options(&[command], LONG));
    for _ in 0..20 {
        assert!(say(&solver.ask(&mut arena, &query)).starts_with("unknown: solver"));
    }
    assert_eq!(fs::read_to_string(log).unwrap().lines().count(), 3);
}

/// What failed for one pair of functions is tried again for the next: no answer depends on which pairs went before.
#[test]
fn a_solver_that_failed_is_started_for_the_next_pair() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("starts");
    let command = fake(dir.path(), "fake", &format!("echo x >> {}; exit 1", log.display()));
    let mut arena = Arena::new();
    let query = question(&mut arena);
    let pool = SolverPool::new(options(&[command], LONG));
    for pair in 1..=3 {
        let mut solver = pool.take(interrupt_after(LONG));
        for _ in 0..5 {
            assert!(say(&solver.ask(&mut arena, &query)).starts_with("unknown: solver"));
        }
        drop(solver);
        assert_eq!(fs::read_to_string(&log).unwrap().lines().count(), 3 * pair);
    }
}

#[test]
fn an_interrupt_ends_a_hard_question() {
    let mut arena = Arena::new();
    let query = Query::goal(hard_goal(&mut arena, 64));
    for limit in [100, 700] {
        let limit = Duration::from_millis(limit);
        let start = Instant::now();
        let mut solver = Solver::new(options(&["z3".to_string()], limit));
        expect!["unknown: time limit reached"].assert_eq(&say(&solver.ask(&mut arena, &query)));
        assert!(start.elapsed() < limit + Duration::from_millis(400), "{:?}", start.elapsed());
        // And afterwards nothing is asked any more.
        let start = Instant::now();
        expect!["unknown: time limit reached"].assert_eq(&say(&solver.ask(&mut arena, &query)));
        assert!(start.elapsed() < Duration::from_millis(50));
    }
}

#[test]
fn a_killed_solver_is_started_again() {
    let mut arena = Arena::new();
    let hard = Query::goal(hard_goal(&mut arena, 64));
    let easy = question(&mut arena);
    let mut solver = Solver::new(options(&["z3".to_string()], LONG));
    solver.set_interrupt(interrupt_after(Duration::from_millis(300)));
    expect!["unknown: time limit reached"].assert_eq(&say(&solver.ask(&mut arena, &hard)));
    solver.set_interrupt(interrupt_after(LONG));
    expect!["refuted"].assert_eq(&say(&solver.ask(&mut arena, &easy)));
}

#[test]
fn resource_limits_end_a_question() {
    let mut arena = Arena::new();
    let query = Query::goal(hard_goal(&mut arena, 64));
    let efforts = vec![Effort { resources: 100_000, propagations: 0 }];
    let limits = SolverOptions { efforts, ..options(&["z3".to_string()], LONG) };
    let mut solver = Solver::new(limits);
    expect!["unknown: resource limit of the solver reached"].assert_eq(&say(&solver.ask(&mut arena, &query)));
}

#[test]
fn the_first_definite_answer_wins() {
    let dir = TempDir::new().unwrap();
    let hanging = fake(dir.path(), "hanging", "exec sleep 30");
    let dying = fake(dir.path(), "dying", "exit 1");
    let mut arena = Arena::new();
    let query = Query::goal(hard_goal(&mut arena, 6));
    let commands = [hanging.clone(), dying.clone(), "z3".to_string()];
    let start = Instant::now();
    let mut solver = Solver::new(options(&commands, LONG));
    expect!["proved"].assert_eq(&say(&solver.ask(&mut arena, &query)));
    let query = question(&mut arena);
    expect!["refuted"].assert_eq(&say(&solver.ask(&mut arena, &query)));
    assert!(start.elapsed() < Duration::from_secs(10));
    let mut solver = Solver::new(options(&[hanging, dying], SHORT));
    expect!["unknown: time limit reached"].assert_eq(&say(&solver.ask(&mut arena, &query)));
}

#[test]
fn solvers_that_contradict_each_other_are_not_believed() {
    let dir = TempDir::new().unwrap();
    let marker = "echo \"$l\" | sed 's/.*\"\\(.*\\)\".*/\\1/'";
    let wrong_model = "((v0 #x0000000000000000) (v1 #x0000000000000000))";
    let says_sat = format!(
        "n=0; while read -r l; do case \"$l\" in '(echo'*) n=$((n+1));
         if [ $n = 1 ]; then echo sat; else echo '{wrong_model}'; fi; {marker};; esac; done"
    );
    let says_unsat = format!("while read -r l; do case \"$l\" in '(echo'*) sleep 1; echo unsat; {marker};; esac; done");
    let commands = [fake(dir.path(), "sat", &says_sat), fake(dir.path(), "unsat", &says_unsat)];
    let mut arena = Arena::new();
    let goal = hard_goal(&mut arena, 64);
    let mut solver = Solver::new(options(&commands, LONG));
    expect!["unknown: the solvers contradict each other"].assert_eq(&say(&solver.ask(&mut arena, &Query::goal(goal))));
}

#[test]
fn memory_of_other_solvers_is_limited() {
    let dir = TempDir::new().unwrap();
    let log = dir.path().join("limit");
    let command = fake(dir.path(), "fake", &format!("ulimit -v > {}", log.display()));
    let mut arena = Arena::new();
    let query = question(&mut arena);
    let mut solver = Solver::new(SolverOptions { memory_mb: 100, ..options(&[command], LONG) });
    assert!(say(&solver.ask(&mut arena, &query)).starts_with("unknown"));
    assert_eq!(fs::read_to_string(log).unwrap().trim(), "102400");
}

/// How hard a question is does not depend on how busy the machine is: the same counts, whoever else runs.
#[test]
fn limits_are_counts() {
    let ask = || {
        let mut arena = Arena::new();
        let hard = Query::goal(hard_goal(&mut arena, 24));
        let efforts = vec![Effort { resources: 300_000, propagations: 400_000 }];
        let mut solver = Solver::new(SolverOptions { efforts, ..SolverOptions::default() });
        let said = say(&solver.ask(&mut arena, &hard));
        (said, solver.statistics(), solver.record().clone())
    };
    let quiet = ask();
    let stop = std::sync::atomic::AtomicBool::new(false);
    let busy = std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let busy = ask();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        busy
    });
    assert_eq!(quiet, busy);
    assert_eq!(quiet.0, "unknown: resource limit of the solver reached");
    assert!(quiet.1.propagations >= 400_000 && quiet.1.propagations < 4_000_000, "{:?}", quiet.1);
}

/// A record of hard questions saves the work, and never turns an answer into another one than "unknown".
#[test]
fn a_record_of_hard_questions_saves_work_and_proves_nothing() {
    let mut arena = Arena::new();
    let right = Query::goal(hard_goal(&mut arena, 6));
    let wrong = question(&mut arena);
    let effort = Effort { resources: 8_000_000, propagations: 5_000_000 };
    let options = SolverOptions { efforts: vec![effort], few_conflicts: 10, ..SolverOptions::default() };
    let mut solver = Solver::new(options.clone());
    assert_eq!(say(&solver.ask(&mut arena, &right)), "proved");
    let record = solver.record().clone();
    let (key, _) = record.0.iter().next().expect("a hard question");
    for hard in [Hard::Open(0), Hard::Open(u64::MAX), Hard::Clauses(1), Hard::Clauses(u64::MAX), Hard::Process(1)] {
        let forged = Record([(*key, hard)].into());
        let mut solver = Solver::new(options.clone());
        solver.expect(forged);
        let said = say(&solver.ask(&mut arena, &right));
        let skipped = hard == Hard::Open(u64::MAX);
        assert_eq!(said == "proved", !skipped, "{hard:?}: {said}");
        assert_eq!(solver.statistics().bit_calls + solver.statistics().full_calls == 0, skipped);
    }
    // What is false stays unproved, whatever a record says of it.
    let nothing = vec![Effort { resources: 1, propagations: 0 }];
    let mut solver = Solver::new(SolverOptions { efforts: nothing, few_conflicts: 1, ..options.clone() });
    assert_eq!(say(&solver.ask(&mut arena, &wrong)), "unknown: resource limit of the solver reached");
    let keys: Vec<u64> = solver.record().0.keys().copied().collect();
    assert_eq!(keys.len(), 1);
    for hard in [Hard::Open(0), Hard::Open(u64::MAX), Hard::Clauses(1), Hard::Clauses(0), Hard::Process(u64::MAX)] {
        let mut solver = Solver::new(options.clone());
        solver.expect(Record([(keys[0], hard)].into()));
        assert_ne!(say(&solver.ask(&mut arena, &wrong)), "proved");
    }
}
