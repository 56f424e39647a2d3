//! Tests of the generator and of the command: right pairs do not differ, planted changes show, and a wrong verdict is caught.

use crate::areas::AREAS;
use crate::batch::{self, Built, Environment, Pair};
use crate::case::Line;
use crate::command::{self, Options};
use crate::native::{Assumed, Comparison};
use crate::toolchain::{self, Compilation, Compilations, Runtime, World};
use crate::verdicts::{Answer, Answers, Prover, Verdict};
use std::path::{Path, PathBuf};

/// A directory of this test.
fn directory(name: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("attack-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a temporary directory");
    directory
}

/// A prover that calls everything equivalent.
fn believer(directory: &Path) -> PathBuf {
    let script = directory.join("believer");
    let names = r#"nm --defined-only "$2" | awk '$2 ~ /[TtWi]/ { printf "%s{\"name\":\"%s\",\"verdict\":\"equivalent\",\"assumptions\":[]}", s, $3; s = "," }'"#;
    let text =
        format!("#!/bin/sh\ntest \"$2\" = --help && exit 0\nprintf '{{\"functions\":['\n{names}\nprintf ']}}'\n");
    toolchain::write(&script, &text).expect("a script");
    toolchain::run(std::process::Command::new("chmod").arg("+x").arg(&script)).expect("chmod");
    script
}

#[test]
fn the_same_seed_gives_the_same_pairs() {
    for area in AREAS {
        let [first, again, other] = [7, 7, 8].map(|seed| batch::texts(&batch::pairs(seed, 3, area, batch::PLANTED).0));
        assert_eq!(first, again, "{}", area.name);
        assert_ne!(first, other, "{}", area.name);
    }
}

#[test]
fn a_planted_change_is_one_line() {
    for area in AREAS.iter().filter(|a| a.name != "assembly") {
        for number in 0..20 {
            for pair in batch::pairs(5, number, *area, batch::PLANTED).0 {
                let changed = pair.lines.iter().filter(|l| l.original != l.candidate).count();
                // One line is written in two ways.
                let synonyms = usize::from(pair.shape == "early call");
                assert_eq!(changed, usize::from(pair.planted.is_some()) + synonyms, "{}: {pair:?}", area.name);
            }
        }
    }
}

/// All pairs of some batches are run, whatever a prover would say of them.
#[test]
fn right_pairs_never_differ_and_planted_changes_show() {
    let directory = directory("generator");
    let runtime = Runtime::build(&directory).expect("gcc-12 builds the runtime");
    let prover = Prover::new(&believer(&directory), 1).expect("the believer");
    for (number, area) in AREAS.iter().enumerate() {
        let scratch = batch::scratch(&directory, number).expect("a scratch directory");
        let environment = Environment {
            scratch,
            runtime: runtime.clone(),
            prover: prover.clone(),
            inputs: 500,
            seed: 1,
            planted: 80,
        };
        let (pairs, compilations) = batch::pairs(environment.seed, number as u64, *area, environment.planted);
        let built = batch::Built::compile(&environment, &pairs, &compilations).expect(area.name);
        built.link(&environment, &compilations, World::Any).expect(area.name);
        let ids: Vec<usize> = pairs.iter().map(|p| p.id).collect();
        let compared = built.run(&environment, &ids, World::Any).expect(area.name);
        let (mut planted, mut shown) = (0, 0);
        for (pair, comparison) in pairs.iter().zip(compared) {
            if pair.planted.is_none() {
                assert_eq!(comparison, Comparison::Same(500), "{}: {} {}", area.name, pair.shape, pair.id);
            } else {
                planted += 1;
                shown += usize::from(matches!(comparison, Comparison::Different(_)));
            }
        }
        assert!(shown * 10 >= planted * 5, "{}: {shown} of {planted} planted changes show", area.name);
    }
    std::fs::remove_dir_all(directory).expect("a temporary directory");
}

#[test]
fn a_wrong_verdict_is_caught_and_made_small() {
    let directory = directory("believer");
    let options =
        Options { batches: Some(1), area: crate::Area::named("loops"), inputs: 200, jobs: 1, ..Options::default() };
    let summary = command::run(options, &believer(&directory), &directory).expect("an attack");
    let total = summary.total();
    assert!(total.wrong >= 10, "{}", summary.render());
    assert_eq!(total.right[1] + total.right[2] + total.planted[1] + total.planted[2], 0, "{}", summary.render());
    let kept = std::fs::read_dir(directory.join("wrong"))
        .expect("reproducers")
        .next()
        .expect("one of them")
        .expect("a directory")
        .path();
    let [a, b] = ["a/program.c", "b/program.c"].map(|f| std::fs::read_to_string(kept.join(f)).expect("a side"));
    assert_eq!(a.lines().zip(b.lines()).filter(|(a, b)| a != b).count(), 1, "{a}\n{b}");
    assert!(a.lines().count() < 16, "{a}");
    std::fs::remove_dir_all(directory).expect("a temporary directory");
}

#[test]
fn without_planted_changes_all_pairs_are_right() {
    for area in AREAS.iter().filter(|a| a.name != "assembly") {
        let mut pairs = batch::pairs(5, 1, *area, 0).0;
        assert!(pairs.iter().all(|p| p.planted.is_none()));
        pairs.retain(|p| p.shape != "early call");
        assert!(pairs.iter().all(|p| p.lines.iter().all(|l| l.original == l.candidate)));
    }
}

/// What the judge says of a proof of `f_0` that assumes this, where one line of the body differs.
fn judged(
    name: &str,
    shape: &'static str,
    [top, harness]: [&str; 2],
    [a, b]: [&str; 2],
    assumption: &str,
) -> Comparison {
    let directory = directory(name);
    let runtime = Runtime::build(&directory).expect("gcc-12 builds the runtime");
    let prover = Prover::new(&believer(&directory), 1).expect("the believer");
    let scratch = batch::scratch(&directory, 0).expect("a scratch directory");
    let environment = Environment { scratch, runtime, prover, inputs: 50, seed: 1, planted: 100 };
    let line = |original: &str, candidate: &str| Line { original: original.into(), candidate: candidate.into() };
    let harness = format!("{harness}\nint f_0(int *, int); static void run_0(void) {{ run(); }}\n");
    let lines =
        vec![line(top, top), line("int f_0(int *p, int a) {", "int f_0(int *p, int a) {"), line(a, b), line("}", "}")];
    let pair = Pair { id: 0, shape, planted: None, lines, harness, judged: vec!["f_0".into()] };
    let compilation = |level: &str| Compilation {
        compiler: "gcc-12",
        flags: [level, "-g0", "-w", "-fno-builtin"].map(String::from).into(),
    };
    let compilations =
        Compilations { original: compilation("-O0"), candidate: compilation("-O1"), setting: Default::default() };
    let built = Built::compile(&environment, std::slice::from_ref(&pair), &compilations).expect(name);
    built.link(&environment, &compilations, World::Any).expect(name);
    let compared = built.run(&environment, &[0], World::Any).expect(name)[0];
    assert!(matches!(compared, Comparison::Different(_)), "{name}: {compared:?}");
    let answer =
        Answer { verdict: Verdict::Equivalent, assumptions: vec![assumption.into()], reason: String::new(), inputs: 0 };
    let answers: Answers = [("f_0".to_string(), answer)].into();
    let verdict = batch::judge(compared, &pair, &answers, &compilations, &built, &environment).expect(name);
    std::fs::remove_dir_all(directory).expect("a temporary directory");
    verdict
}

#[test]
fn a_name_of_the_library_excuses_what_the_library_would_do() {
    let world = [
        "int toupper(int);",
        "#ifndef ASSUMED\nint toupper(int a) { see_number(a); return (int)any(); }\n#endif\nint f_0(int *, int);\nstatic void run(void) { see_number(f_0(0, (int)any())); }",
    ];
    let of = |name: &str, lines: [&str; 2], assumption: &str| judged(name, "namesake", world, lines, assumption);
    let dropped = ["toupper(a); return a;", "return a;"];
    assert!(matches!(of("dropped", dropped, "library(toupper)"), Comparison::Covered(_, Assumed::Library)));
    assert!(matches!(of("other-name", dropped, "library(tolower)"), Comparison::Different(_)));
    assert!(matches!(of("other-assumption", dropped, "no-volatile-casts(f_0)"), Comparison::Different(_)));
    // The same call, and something else.
    let changed = ["toupper(a); return a;", "toupper(a); return a + 1;"];
    assert!(matches!(of("changed", changed, "library(toupper)"), Comparison::Different(_)));
}

#[test]
fn ordinary_memory_excuses_accesses_and_not_what_they_leave() {
    let world = [
        "",
        "DEVICE int g_0[2]; int f_0(int *, int);\nstatic void run(void) { int a = (int)any(); __builtin_memset(g_0, 1, sizeof g_0); device_on(); int r = f_0(g_0, a); device_off(); see_number(r); }",
    ];
    let of = |name: &str, lines: [&str; 2]| judged(name, "volatile cast", world, lines, "no-volatile-casts(f_0)");
    let twice = ["*(volatile int *)p = a; *(volatile int *)p = a; return 1;", "*p = a; return 1;"];
    assert!(matches!(of("twice", twice), Comparison::Covered(_, Assumed::NoVolatileCasts)));
    let other = ["*(volatile int *)p = a; return 1;", "p[1] = a; return 1;"];
    assert!(matches!(of("other-place", other), Comparison::Different(_)));
}
