//! The kernel on programs that are text: what it accepts, and near misses that it refuses, with the reason. No compiler.

use kernel::lemma::{
    Claim, Constant, Facts, File, Lemma, RegisterName, Returned, Surroundings, Unproved, prove_stated,
};
use kernel::{Certificate, Failure, Pair, PointClaim, Rejection, VERSION};
use program::{Function, Register, Undefined, loops::Loops, read_function, read_functions};
use solver::{Solver, SolverOptions};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use term::{Arena, Form};

fn arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}

fn functions(text: &str) -> (Arena, Vec<Function>) {
    let mut arena = arena();
    let functions = read_functions(&mut arena, text, Form::Normal).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (arena, functions)
}

/// Checks two programs under claims about their first loops.
fn check(original: &str, candidate: &str, claims: impl Fn([u32; 2]) -> Vec<PointClaim>) -> String {
    let mut arena = arena();
    let mut read =
        |text: &str| read_function(&mut arena, text, Form::Normal).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (original, candidate) = (read(original), read(candidate));
    let heads = [&original, &candidate].map(|f| Loops::of(f).heads.first().map_or(0, |head| head.0));
    let pair = Pair::new(original, candidate, &Facts::default(), &BTreeSet::new(), Undefined::Excused);
    let certificate = Certificate {
        version: VERSION,
        original: pair.original().name.clone(),
        candidate: pair.candidate().name.clone(),
        original_hash: String::new(),
        candidate_hash: String::new(),
        locals: Vec::new(),
        cuts: Default::default(),
        points: claims(heads),
        edges: Vec::new(),
        lemmas: Vec::new(),
    };
    let mut solver = Solver::new(SolverOptions::default());
    let deadline = Some(Instant::now() + Duration::from_secs(120));
    match kernel::check(&mut arena, &pair, &certificate, &mut solver, deadline) {
        Ok(_) => "accepted".to_string(),
        Err(Rejection::Obligation { what, failure: Failure::NotShown | Failure::Refuted(..), .. }) => what.to_string(),
        Err(other) => format!("{other:?}"),
    }
}

/// The first candidate is accepted, the others are refused for these reasons. All are the points of a function whose first
/// lines are the header.
fn tells_apart(header: &str, original: &str, accepted: &str, refused: &[(&str, &str)]) {
    let function = |points: &str| {
        let lines: Vec<String> = points.lines().map(|line| format!("  {}\n", line.trim())).collect();
        format!("{header}\n{}", lines.concat())
    };
    let verdict = |candidate: &str| check(&function(original), &function(candidate), |_| Vec::new());
    assert_eq!(verdict(accepted), "accepted", "{accepted}");
    for (candidate, reason) in refused {
        assert_eq!(verdict(candidate), *reason, "{candidate}");
    }
}

#[test]
fn results() {
    tells_apart(
        "f(rdi:8, rsi:8) → rax:8",
        "p0:
        rax := rdi + rsi
        return",
        "p0:
        rcx := rsi + 1
        rax := rcx + rdi
        rax := rax - 1
        return",
        &[(
            "p0:
            rax := rdi - rsi
            return",
            "the result",
        )],
    );
    // Only as many bytes as are returned.
    tells_apart(
        "f(rdi:8) → rax:4",
        "p0:
        rax := rdi
        return",
        "p0:
        rax := zext64(rdi[31:0])
        return",
        &[(
            "p0:
            rax := zext64(rdi[15:0])
            return",
            "the result",
        )],
    );
}

#[test]
fn memory() {
    tells_apart(
        "f(rdi:8, rsi:8)",
        "p0:
        mem[rdi, 8] := rsi
        mem[rdi + 8, 8] := 1
        return",
        "p0:
        mem[rdi + 8, 8] := 1
        mem[rdi, 8] := rsi
        return",
        &[
            (
                "p0:
                mem[rdi + 8, 8] := 2
                mem[rdi, 8] := rsi
                return",
                "memory at the return, at rdi + 8",
            ),
            (
                "p0:
                mem[rdi, 8] := rsi
                return",
                "memory at the return, at rdi + 8",
            ),
        ],
    );
}

#[test]
fn reads() {
    tells_apart(
        "f(rdi:8) → rax:8",
        "p0:
        rax := mem[rdi, 8]
        return",
        "p0:
        rax := mem[rdi, 8]
        t := mem[rdi, 4]
        return",
        &[(
            "p0:
            rax := mem[rdi, 8]
            t := mem[rdi + 8, 4]
            return",
            "the candidate reads rdi + 8, which the original does not",
        )],
    );
}

#[test]
fn faults() {
    tells_apart(
        "f(rdi:8) → rax:8",
        "p0:
        → p1 if rdi == 0
        → p2
        p1:
        rax := 0
        return
        p2:
        rax := 100 /u rdi
        return",
        "p0:
        → p1 if rdi == 0
        → p2
        p1:
        rax := 0
        return
        p2:
        fault (divide) if rdi == 0
        rax := 100 /u rdi
        return",
        &[(
            "p0:
            fault (divide) if rdi == 0
            → p1 if rdi == 0
            → p2
            p1:
        rax := 0
        return
            p2:
            rax := 100 /u rdi
            return",
            "the candidate may fault (division)",
        )],
    );
}

#[test]
fn saved_registers_and_the_stack_pointer() {
    tells_apart(
        "f(rdi:8)",
        "p0: return",
        "p0:
        rcx := rdi
        return",
        &[
            (
                "p0:
                rbx := rdi
                return",
                "the candidate does not restore rbx",
            ),
            (
                "p0:
                rsp := rsp - 8
                return",
                "the candidate does not restore rsp",
            ),
        ],
    );
}

#[test]
fn calls() {
    let call = |argument: &str, callee: &str| {
        format!("p0:\nrsp := rsp - 8\n{argument}\ncall {callee} → p1\np1:\nrsp := rsp + 8\nreturn")
    };
    let header = "f(rdi:8) → rax:8\n  callee g(rdi:8) → rax:8\n  callee h(rdi:8) → rax:8";
    tells_apart(
        header,
        &call("rdi := 2*rdi", "g"),
        &call("rdi := rdi + rdi", "g"),
        &[
            (&call("rdi := 3*rdi", "g"), "argument 1 of g"),
            (&call("rdi := 2*rdi", "h"), "the original calls g, the candidate calls h"),
        ],
    );
}

#[test]
fn events() {
    let call = "p0:
        rsp := rsp - 8
        call g → p1
        p1:
        rsp := rsp + 8
        return";
    let header = "f(rdi:8)\n  callee g(rdi:8)";
    tells_apart(
        header,
        call,
        "p0: → p1
        p1:
        rsp := rsp - 24
        call g → p2
        p2:
        rsp := rsp + 24
        return",
        &[
            ("p0: return", "the original calls, the candidate returns"),
            (
                "p0:
                rsp := rsp - 16
                call g → p1
                p1:
                rsp := rsp + 16
                return",
                "the candidate's stack is misaligned at a call",
            ),
            (
                "p0:
                rsp := rsp - 8
                call g, does not return",
                "the candidate's code ends after a call that returns",
            ),
        ],
    );
}

#[test]
fn calls_through_pointers() {
    let call = |target: &str| format!("p0:\nrsp := rsp - 8\ncall *({target}) → p1\np1:\nrsp := rsp + 8\nreturn");
    let header = "f(rdi:8, rsi:8) → rax:8\n  object &g function undefined\n  callee g(rdi:8) → rax:8";
    tells_apart(header, &call("rsi"), &call("rdi + rsi - rdi"), &[(&call("rdi"), "the address called")]);
}

#[test]
fn writes_that_the_original_does_not_make() {
    tells_apart(
        "f(rdi:8, rsi:8)",
        "p0:
        → p1 if rsi == 0
        → p2
        p1: return
        p2:
        mem[rdi, 8] := rsi
        return",
        "p0:
        → p1 if rsi != 0
        → p2
        p1:
        mem[rdi, 8] := rsi
        return
        p2: return",
        &[(
            "p0:
            rax := mem[rdi, 8]
            mem[rdi, 8] := rsi == 0 ? rax : rsi
            return",
            "the candidate reads rdi, which the original does not",
        )],
    );
}

#[test]
fn objects() {
    let function =
        |object: &str| format!("f() → rax:8\n  object &a data {object}\n  p0:\n    rax := mem[&a, 8]\n    return");
    let verdict = |original: &str, candidate: &str| check(&function(original), &function(candidate), |_| Vec::new());
    assert_eq!(verdict("8 bytes identity \"0\"", "8 bytes identity \"0\""), "accepted");
    for (candidate, reason) in [
        ("8 bytes identity \"1\"", "the initial content of `a` is another"),
        ("16 bytes identity \"0\"", "the size of `a` is another"),
        ("8 bytes", "the initial content of `a` is another"),
        ("weak 8 bytes identity \"0\"", "the linkage of `a` is another"),
    ] {
        assert_eq!(verdict("8 bytes identity \"0\"", candidate), reason, "{candidate}");
    }
}

#[test]
fn the_direction_flag() {
    tells_apart(
        "f(rdi:8)",
        "p0: return",
        "p0:
        df := true
        df := false
        return",
        &[(
            "p0:
            df := true
            return",
            "the candidate leaves the direction flag set",
        )],
    );
}

const COUNT: &str = "f(rdi:8) → rax:8
  p0:
    rax := 0
    rcx := 0
    → p1
  p1:
    → p2 if rcx <u rdi
    → p3
  p2:
    rax := rax + 3
    rcx := rcx + 1
    → p1
  p3: return";

/// The places that are forgotten on both sides and claimed to be equal, and what holds.
fn claim(heads: [u32; 2], both: &[&str], candidate: &[&str], hold: &[&str]) -> PointClaim {
    let sided = |side: char| both.iter().map(move |name| format!("{side}.{name}"));
    PointClaim {
        original: heads[0],
        candidate: heads[1],
        forget: sided('o').chain(sided('c')).chain(candidate.iter().map(|f| (*f).to_string())).collect(),
        define: sided('c').zip(sided('o')).collect(),
        hold: hold.iter().map(|h| (*h).to_string()).collect(),
        ..PointClaim::default()
    }
}

#[test]
fn loops_need_claims_that_hold() {
    let equal = |heads| vec![claim(heads, &["rax", "rcx"], &[], &[])];
    // Counts in another register, and adds in two steps.
    let other = COUNT.replace("rax := rax + 3", "rax := rax + 1\n    rax := rax + 2");
    assert_eq!(check(COUNT, &other, equal), "accepted");
    for wrong in [
        COUNT.replace("rax + 3", "rax + 4"),
        COUNT.replace("rcx + 1", "rcx + 2"),
        COUNT.replace("rcx <u rdi", "rcx <s rdi"),
        COUNT.replace("rax := 0", "rax := 1"),
    ] {
        assert_ne!(check(COUNT, &wrong, equal), "accepted", "{wrong}");
    }
    // Without a claim about what the loop changes, the right one is not accepted either.
    assert_ne!(check(COUNT, &other, |heads| vec![claim(heads, &["rax"], &[], &[])]), "accepted");
    assert_ne!(check(COUNT, &other, |_| Vec::new()), "accepted");
}

fn returns_five() -> Lemma {
    Lemma::Original { function: "g".to_string(), claim: Claim::Returns(Returned::Constant(Constant::Number(5))) }
}

fn given_seven() -> Lemma {
    Lemma::Original {
        function: "g".to_string(),
        claim: Claim::Given {
            register: RegisterName(Register::ARGUMENTS[0]),
            values: BTreeSet::from([Constant::Number(7)]),
        },
    }
}

/// Is a lemma about `g` shown in a file of these functions?
fn shown(text: &str, lemma: Lemma) -> bool {
    let file = || {
        let (arena, functions) = functions(text);
        File::new(arena, functions, true, BTreeSet::from(["g".to_string()]), BTreeSet::new())
    };
    let mut around = Surroundings::new(file(), file(), Undefined::Excused);
    let mut solver = Solver::new(SolverOptions::default());
    match prove_stated(&mut around, &[lemma], &mut solver) {
        Ok(_) => true,
        Err(Unproved::NotShown(_)) => false,
        Err(senseless) => panic!("{senseless}"),
    }
}

#[test]
fn lemmas() {
    let file = |given: &str, returned: &str| {
        format!(
            "
            f(rdi:8) → rax:8
              callee g(rdi:8) → rax:8
              defines g
              p0:
                rsp := rsp - 8
                rdi := {given}
                call g → p1
              p1:
                rsp := rsp + 8
                return
            g(rdi:8) → rax:8
              p0:
                → p1 if rdi == 7
                → p2
              p1:
                rax := 5
                return
              p2:
                rax := {returned}
                return"
        )
    };
    assert!(shown(&file("7", "5"), returns_five()));
    assert!(!shown(&file("7", "6"), returns_five()));
    assert!(shown(&file("7", "6"), given_seven()));
    assert!(!shown(&file("rdi", "6"), given_seven()));
}
