//! The kernel on programs that are text: what it accepts, and near misses that it refuses, with the reason. No compiler.

use kernel::lemma::{
    Chain, Claim, Constant, Effect, Facts, File, Lemma, Range, RegisterName, Returned, Surroundings, Unproved,
    prove_stated,
};
use kernel::{Certificate, Failure, Pair, PointClaim, Rejection, VERSION};
use program::{Function, Register, Undefined, loops::Loops, read_function, read_functions};
use solver::{Solver, SolverOptions};
use std::collections::BTreeSet;
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
        assume: Vec::new(),
        axioms: Vec::new(),
        locals: Vec::new(),
        cuts: Default::default(),
        points: claims(heads),
        edges: Vec::new(),
        lemmas: Vec::new(),
        effort: None,
    };
    let mut solver = Solver::new(SolverOptions::default());
    match kernel::check(&mut arena, &pair, &certificate, &mut solver) {
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
fn writes() {
    tells_apart(
        "f(rdi:8) → rax:8",
        "p0:
        rax := mem[rdi, 8]
        return",
        "p0:
        rax := mem[rdi, 8]
        mem[rsp - 8, 8] := rax
        return",
        &[(
            "p0:
            rax := mem[rdi, 8]
            mem[rdi, 8] := rax
            return",
            "the candidate writes rdi, which the original does not",
        )],
    );
}

#[test]
fn names_and_pointers() {
    let call = |callee: &str| format!("p0:\nrsp := rsp - 8\ncall {callee} → p1\np1:\nrsp := rsp + 8\nreturn");
    tells_apart(
        "f(rdi:8) → rax:8\n  object &g function undefined\n  callee g(rdi:8) → rax:8",
        &call("g"),
        &call("*(&g)"),
        &[(&call("*(rdi)"), "one side calls a function by name, the other a pointer")],
    );
}

#[test]
fn numbers_of_vector_arguments() {
    let call = |count: &str| {
        format!("p0:\nrsp := rsp - 8\nrax := {count}\ncall g → p1\np1:\nrsp := rsp + 8\nrax := 0\nreturn")
    };
    tells_apart(
        "f(rdi:8) → rax:4\n  callee g(rdi:8, …) → rax:4",
        &call("1"),
        &call("zext64(rax[63:8] == 0 ? 1:8 : 1)"),
        &[(&call("0"), "number of vector arguments")],
    );
}

#[test]
fn copies() {
    let copy = |name: &str| format!("p0:\nrsp := rsp - 8\ncall {name} → p1\np1:\nrsp := rsp + 8\nreturn");
    let header = "f(rdi:8, rsi:8, rdx:8)
  parameter to in rdi:8, pointer
  parameter from in rsi:8, pointer";
    tells_apart(
        header,
        &copy("memmove"),
        &copy("memmove"),
        &[(&copy("memcpy"), "the candidate copies with memcpy what may overlap")],
    );
    tells_apart(
        header,
        &copy("memcpy"),
        &copy("memmove"),
        &[("p0: return", "memory at the return: a block of variable length")],
    );
}

#[test]
fn calls_that_only_read() {
    let lengths = |points: &[&str]| {
        let mut out = String::from("p0: → p1\n");
        for (i, argument) in points.iter().enumerate() {
            let (call, behind, next) = (2 * i + 1, 2 * i + 2, 2 * i + 3);
            out.push_str(&format!("p{call}:\nrsp := rsp - 8\nrdi := {argument}\ncall strlen → p{behind}\n"));
            out.push_str(&format!("p{behind}:\nrsp := rsp + 8\n→ p{next}\n"));
        }
        out + &format!("p{}:\nrax := 0\nreturn", 2 * points.len() + 1)
    };
    let length_of = lengths(&["rdi"]);
    tells_apart(
        "f(rdi:8, rsi:8) → rax:8",
        &length_of,
        &lengths(&["rdi + 0"]),
        &[(&lengths(&["rsi"]), "the candidate calls a library function on what the original does not")],
    );
}

#[test]
fn linkage_of_callees() {
    let function = |fact: &str| format!("f(rdi:8)\n  callee g(rdi:8)\n  defines g\n{fact}  p0:\n    tail call g");
    let verdict = |candidate: &str| check(&function("  local callees g\n"), &function(candidate), |_| Vec::new());
    assert_eq!(verdict("  local callees g\n"), "accepted");
    assert_eq!(verdict(""), "the linkage of `g` is another");
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

const RDI: RegisterName = RegisterName(Register::ARGUMENTS[0]);

/// Is a lemma about `g` shown in a file of these functions?
fn shown(text: &str, claim: Claim) -> bool {
    let lemma = Lemma::Original { function: "g".to_string(), claim };
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
    let returns_five = || Claim::Returns(Returned::Constant(Constant::Number(5)));
    let given_seven = || Claim::Given { register: RDI, values: BTreeSet::from([Constant::Number(7)]) };
    // Of all arguments, and of what callers pass only if a lemma says so.
    assert!(shown(&file("7", "5"), returns_five()));
    assert!(!shown(&file("7", "6"), returns_five()));
    assert!(shown(&file("7", "6"), given_seven()));
    assert!(!shown(&file("rdi", "6"), given_seven()));
}

/// `g` alone, of which only the points are written, called by nobody but `f`.
fn callee(points: &str) -> String {
    let points: String = points.lines().map(|line| format!("  {}\n", line.trim())).collect();
    format!("f(rdi:8) → rax:8\n  callee g(rdi:8) → rax:8\n  defines g\n  p0: tail call g\ng(rdi:8) → rax:8\n{points}")
}

#[test]
fn lemmas_about_results() {
    let masked = "p0:\nrax := rdi & 7\nreturn";
    let up_to = |span| Claim::ReturnsIn(Range { width: 64, low: 0, span });
    assert!(shown(&callee(masked), up_to(7)));
    assert!(!shown(&callee(masked), up_to(6)));
    let argument = || Claim::Returns(Returned::Argument(RDI));
    assert!(shown(&callee("p0:\nrax := rdi\nreturn"), argument()));
    assert!(!shown(&callee("p0:\nrax := rdi + 1\nreturn"), argument()));
    assert!(shown(&callee("p0: fault (trap)"), Claim::NeverReturns));
    assert!(!shown(&callee("p0:\n→ p1 if rdi == 0\n→ p2\np1: fault (trap)\np2: return"), Claim::NeverReturns));
}

#[test]
fn lemmas_about_effects() {
    let computes = "p0:\nrax := 2*rdi\nreturn";
    let reads = "p0:\nrax := mem[rdi, 8]\nreturn";
    let writes = "p0:\nmem[rdi, 8] := 1\nrax := 0\nreturn";
    let saves = "p0:\nmem[rsp - 8, 8] := rdi\nrax := mem[rsp - 8, 8]\nreturn";
    for (effect, shown_of) in
        [(Effect::Nothing, [true, false, false, true]), (Effect::Reads, [true, true, false, true])]
    {
        for (points, expected) in [computes, reads, writes, saves].into_iter().zip(shown_of) {
            assert_eq!(shown(&callee(points), Claim::Does(effect)), expected, "{effect:?}\n{points}");
        }
    }
    assert!(shown(&callee("p0:\nmem[rdi, 8] := 1\nrax := 0\nreturn"), Claim::Forgets(RDI)));
    // The address itself stays behind, or comes back in another form.
    assert!(!shown(&callee(computes), Claim::Forgets(RDI)));
    assert!(!shown(&callee("p0:\nmem[rdi, 8] := rdi\nrax := 0\nreturn"), Claim::Forgets(RDI)));
    let first = |offset| Claim::ReadsFirst(Chain { argument: RDI, offsets: vec![offset], bytes: 8 });
    assert!(shown(&callee(reads), first(0)));
    assert!(!shown(&callee(reads), first(8)));
}
