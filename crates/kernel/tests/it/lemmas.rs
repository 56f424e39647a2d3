//! Facts about functions: true ones are proved, forged ones are dropped, whoever proposes them.

use graph::contract::{Fixed, FixedResult, LocalContract, LocalEffect};
use graph::{Contracts, Function, Register, Side, ValueRange};
use kernel::lemma::{OriginalFile, prove};
use pair::File;
use solver::{Solver, SolverOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use term::Arena;
use testkit::compiler::Compiler;

/// A contract that says nothing but that all callers are known.
fn blank() -> LocalContract {
    LocalContract {
        private: true,
        ranges: BTreeMap::new(),
        result_range: None,
        noreturn: false,
        arguments: BTreeMap::new(),
        moved: BTreeMap::new(),
        promoted: BTreeMap::new(),
        reads: BTreeSet::new(),
        result_unused: false,
        result: None,
        result_bytes: 0,
        returns_fresh: false,
        forgets: BTreeSet::new(),
        effect: LocalEffect::Unknown,
        assumptions: BTreeSet::new(),
    }
}

/// A name, and what is proposed about that function.
type Proposal<'a> = (&'a str, &'a dyn Fn(&mut LocalContract));

/// What is left of proposals about the functions of a C file, compiled with -O0.
fn proved(c: &str, complete: bool, proposals: &[Proposal]) -> Contracts {
    let mut contracts = Contracts::new();
    for (name, propose) in proposals {
        let mut contract = contracts.get(*name).cloned().unwrap_or_else(blank);
        propose(&mut contract);
        contracts.insert(name.to_string(), contract);
    }
    left_of(c, complete, contracts)
}

fn left_of(c: &str, complete: bool, contracts: Contracts) -> Contracts {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("original.o");
    Compiler::all()[0].compile(c, &["-O0"], &object).unwrap_or_else(|e| panic!("{e}"));
    let file = File::read(&object).expect("an object file");
    let mut arena = pair::new_arena();
    let lift = |i: usize, arena: &mut Arena| file.lift(i, Side::Original, arena).expect("a function");
    let mut functions: Vec<Function> = (0..file.names().len()).map(|i| lift(i, &mut arena)).collect();
    let replaceable = BTreeSet::new();
    let file = OriginalFile { arena: &mut arena, functions: &mut functions, complete, replaceable: &replaceable };
    let mut solver = Solver::new(SolverOptions::default());
    prove(file, contracts, &mut solver, Instant::now() + Duration::from_secs(60))
}

fn number(value: u64) -> FixedResult {
    FixedResult::Value(Fixed::Number(value))
}

fn returns(value: u64) -> impl Fn(&mut LocalContract) {
    move |contract| {
        contract.result = Some(number(value));
        contract.result_bytes = 4;
    }
}

const RDI: Register = Register::ARGUMENTS[0];

#[test]
fn a_result_must_be_that_of_every_path() {
    let holds = |c: &str, value| proved(c, true, &[("g", &returns(value))])["g"].result.is_some();
    assert!(holds("int g(int i){ int a[2]; a[0] = 1; a[1] = i; return a[0]; }", 1));
    assert!(!holds("int g(int i){ int a[2]; a[0] = 1; a[i] = 7; return a[0]; }", 1));
    assert!(!holds("int g(int i){ return 1; }", 2));
    assert!(!holds("int g(int n){ int r = 1; for (int i = 0; i < n; i++) r = i; return r; }", 1));
    assert!(holds("int g(int n){ int r = 1; for (int i = 0; i < n; i++) ; return r; }", 1));
    assert!(!holds("int g(void){ union { int i; unsigned char c; } u; u.i = 0x1ff; return u.c; }", 0x1ff));
    assert!(!holds("void e(int *); int g(void){ int x = 1; e(&x); return x; }", 1));
}

#[test]
fn recursion_is_induction() {
    let c = "int g(int n){ if (n == 0) return 1; return g(n - 1); }";
    assert!(proved(c, true, &[("g", &returns(1))])["g"].result.is_some());
    let c = "int g(int n){ if (n == 0) return 1; return g(n - 1) + 1; }";
    assert!(proved(c, true, &[("g", &returns(1))])["g"].result.is_none());
    // Each is true if the other is.
    let c = "int o(int n); int e(int n){ return n ? o(n - 1) : 1; } int o(int n){ return n ? e(n - 1) : 0; }";
    let left = proved(c, true, &[("e", &returns(1)), ("o", &returns(1))]);
    assert!(left["o"].result.is_none() && left["e"].result.is_none());
}

#[test]
fn a_range_is_one_of_all_paths() {
    let range = |low, span| move |c: &mut LocalContract| c.result_range = Some(ValueRange { width: 32, low, span });
    let holds = |c: &str, low, span| proved(c, true, &[("g", &range(low, span))])["g"].result_range.is_some();
    assert!(holds("int g(int i){ return i ? 3 : 5; }", 3, 2));
    assert!(!holds("int g(int i){ return i ? 3 : 6; }", 3, 2));
    assert!(!holds("int g(int i){ return i == 77 ? -1 : 4; }", 0, 9));
}

#[test]
fn what_ends_is_shown_by_the_call_graph() {
    let effect = |c: &mut LocalContract| c.effect = LocalEffect::Pure;
    let of = |c: &str| proved(c, true, &[("g", &effect), ("h", &effect)])["g"].effect;
    assert_eq!(of("int g(int i){ int a[2] = {0, 0}; a[i] = 1; return a[1]; }"), LocalEffect::Pure);
    assert_eq!(of("extern int z; int g(int i){ return z + i; }"), LocalEffect::Reads);
    assert_eq!(of("extern int z; int g(int i){ z = i; return 1; }"), LocalEffect::Unknown);
    assert_eq!(of("int g(int *p){ *p = 1; return 1; }"), LocalEffect::Unknown);
    assert_eq!(of("int g(int n){ while (n != 5) n++; return 1; }"), LocalEffect::Preserves);
    assert_eq!(of("int h(int n); int g(int n){ return h(n); } int h(int n){ return g(n); }"), LocalEffect::Preserves);
    assert_eq!(
        of("int z; int h(int n); int g(int n){ return h(n); } int h(int n){ z = n; return 1; }"),
        LocalEffect::Unknown
    );
}

#[test]
fn never_to_return_is_more_than_not_always() {
    let never = |c: &mut LocalContract| c.noreturn = true;
    let holds = |c: &str| proved(c, true, &[("g", &never)])["g"].noreturn;
    let exit = "void exit(int) __attribute__((noreturn)); ";
    assert!(holds(&format!("{exit} void g(int n){{ if (n) exit(1); exit(2); }}")));
    assert!(!holds(&format!("{exit} void g(int n){{ if (n) exit(1); }}")));
    assert!(!holds("void g(int n){ while (n) n--; }"));
}

#[test]
fn new_objects_come_from_allocating_functions() {
    let fresh = |c: &mut LocalContract| c.returns_fresh = true;
    let holds = |c: &str| proved(&format!("#include <stdlib.h>\n{c}"), true, &[("g", &fresh)])["g"].returns_fresh;
    assert!(holds("int *g(int n){ int *p = malloc(8); if (!p) return 0; *p = n; return p; }"));
    assert!(!holds("extern int *o; int *g(int n){ int *p = malloc(8); if (n == 77) p = o; return p; }"));
    assert!(!holds("static int *c; int *g(void){ if (!c) c = malloc(8); return c; }"));
    assert!(!holds("extern int *o; int *g(int i){ int *a[2]; a[0] = malloc(8); a[i] = o; return a[0]; }"));
}

#[test]
fn what_is_passed_is_shown_at_every_call_site() {
    let only =
        |value| move |c: &mut LocalContract| drop(c.arguments.insert(RDI, BTreeSet::from([Fixed::Number(value)])));
    let small = |c: &mut LocalContract| {
        c.ranges.insert(RDI, ValueRange { width: 32, low: 0, span: 9 });
    };
    let h = "static int h(int x){ return x; } ";
    let passed = |c: &str, complete| {
        let left = proved(&format!("{h}{c}"), complete, &[("h", &only(1)), ("h", &small)]);
        (!left["h"].arguments.is_empty(), !left["h"].ranges.is_empty())
    };
    assert_eq!(passed("int a(void){ return h(1); }", true), (true, true));
    assert_eq!(passed("int a(void){ return h(1); }", false), (false, false));
    assert_eq!(passed("int a(int n){ return h(n ? 1 : 2); }", true), (false, true));
    assert_eq!(passed("int a(int i, int v){ int t[2]; t[0] = 1; t[i] = v; return h(t[0]); }", true), (false, false));
    assert_eq!(passed("int a(int n){ for (int i = 0; i < n; i++) h(i); return 0; }", true), (false, false));
}

#[test]
fn an_address_is_forgotten_or_kept() {
    let forgets = |c: &mut LocalContract| c.forgets.extend([RDI]);
    let holds = |c: &str| !proved(c, true, &[("g", &forgets)])["g"].forgets.is_empty();
    assert!(holds("int g(int *p){ if (!p) return 0; *p = 3; return p[1]; }"));
    assert!(holds("int g(char *p){ int n = 0; while (*p) { p++; n++; } return n; }"));
    assert!(!holds("unsigned long k; void g(int *p){ k = (unsigned long)p + 1; }"));
    assert!(!holds("int *g(int *p){ return p + 1; }"));
    assert!(!holds("void e(int *); void g(int *p){ e(p); }"));
    assert!(!holds("void g(int *p, int **q){ *q = p; }"));
    assert!(!holds(
        "long k; void g(char *p){ long r = 0; for (int i = 0; i < 64; i++) if ((long)p >> i & 1) r |= 1l << i; k = r; }"
    ));
    assert!(!holds("long k; void g(char *p){ long r = 0; while ((char *)r != p) r++; k = r; }"));
}

#[test]
fn behind_a_second_return_nothing_is_known() {
    let c = "#include <setjmp.h>\nstatic jmp_buf b; void e(void);\n\
             int g(void){ int x = 1; if (!setjmp(b)) { x = 1; e(); } return x; }";
    assert!(proved(c, true, &[("g", &returns(1))])["g"].result.is_none());
}

#[test]
fn statics_hold_what_is_stored() {
    let holds = |c: &str| {
        let mut contracts = Contracts::new();
        contracts.statics.insert("s".to_string(), BTreeSet::from([1, 2]));
        !left_of(c, true, contracts).statics.is_empty()
    };
    assert!(holds("static int s = 1; void set(int v){ s = v ? 1 : 2; } int get(void){ return s; }"));
    assert!(!holds("static int s = 1; void set(int v){ s = v ? 1 : 3; } int get(void){ return s; }"));
    assert!(!holds("static int s = 1; void set(int v){ s = v; } int get(void){ return s; }"));
    assert!(!holds("void e(void); static int s = 1; void set(void){ s = 7; e(); s = 1; } int get(void){ return s; }"));
}

#[test]
fn facts_about_functions_that_are_not_there_are_dropped() {
    let left = proved("int f(void){ return 1; }", true, &[("g", &returns(1))]);
    assert!(left["g"].result.is_none());
}
