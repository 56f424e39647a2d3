//! Lemmas: true ones are proved, forged ones are refused, whoever states them.

use kernel::lemma::{
    Chain, Claim, Constant, Convention, Effect, File, Lemma, Range, RegisterName, Returned, Surroundings, Unproved,
    prove_stated,
};
use pair::new_arena;
use program::{Function, Side, Undefined};
use solver::{Solver, SolverOptions};
use std::collections::BTreeSet;
use testkit::compiler::Compiler;

const RDI: RegisterName = RegisterName(program::Register::ARGUMENTS[0]);
const RSI: RegisterName = RegisterName(program::Register::ARGUMENTS[1]);

/// Are all functions of the file known?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    All,
    NotAll,
}

/// The functions of a C file, compiled with -O0.
fn lifted(c: &str, known: Known) -> File {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("original.o");
    Compiler::all()[0].compile(c, &["-O0"], &object).unwrap_or_else(|e| panic!("{e}"));
    let file = pair::File::read(&object).expect("an object file");
    let mut arena = new_arena();
    let lift = |i: usize| file.lift(i, Side::Original, &mut arena).expect("a function");
    let functions: Vec<Function> = (0..file.names().len()).map(lift).collect();
    let is_static = |name: &&String| c.contains(&format!("static int {name}(")) && !c.contains(&format!("&{name}"));
    let private = functions.iter().map(|f| &f.name).filter(is_static).cloned().collect();
    let weak = |name: &&String| c.contains(&format!("__attribute__((weak)) int {name}("));
    let replaceable = functions.iter().map(|f| &f.name).filter(weak).cloned().collect();
    File::new(arena, functions, known == Known::All, private, replaceable)
}

/// What becomes of lemmas about a C file, of which a copy is the candidate.
fn stated(c: &str, known: Known, lemmas: &[Lemma]) -> Result<(), Unproved> {
    let mut around = Surroundings::new(lifted(c, known), lifted(c, known), Undefined::Excused);
    let mut solver = Solver::new(SolverOptions::default());
    prove_stated(&mut around, lemmas, &mut solver).map(|_| ())
}

/// Are the lemmas shown? They make sense in any case.
#[track_caller]
fn shown(c: &str, lemmas: &[Lemma]) -> bool {
    match stated(c, Known::All, lemmas) {
        Ok(()) => true,
        Err(Unproved::NotShown(_)) => false,
        Err(senseless) => panic!("{senseless}"),
    }
}

/// Why lemmas make no sense.
#[track_caller]
fn senseless(c: &str, known: Known, lemmas: &[Lemma]) -> String {
    match stated(c, known, lemmas) {
        Err(Unproved::Senseless { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

fn about(function: &str, claim: Claim) -> Lemma {
    Lemma::Original { function: function.to_string(), claim }
}

fn called(function: &str, convention: Convention) -> Lemma {
    Lemma::Candidate { function: function.to_string(), convention }
}

fn returns(value: u64) -> Claim {
    Claim::Returns(Returned::Constant(Constant::Number(value)))
}

fn given(value: u64) -> Claim {
    Claim::Given { register: RDI, values: BTreeSet::from([Constant::Number(value)]) }
}

fn holds(object: &str, values: &[u64]) -> Lemma {
    Lemma::Static { object: object.to_string(), holds: values.iter().copied().collect() }
}

#[test]
fn a_result_must_be_that_of_every_path() {
    let holds = |c: &str, value| shown(c, &[about("g", returns(value))]);
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
    assert!(shown(c, &[about("g", returns(1))]));
    let c = "int g(int n){ if (n == 0) return 1; return g(n - 1) + 1; }";
    assert!(!shown(c, &[about("g", returns(1))]));
    // Each is true if the other is.
    let c = "int o(int n); int e(int n){ return n ? o(n - 1) : 1; } int o(int n){ return n ? e(n - 1) : 0; }";
    assert!(!shown(c, &[about("e", returns(1)), about("o", returns(1))]));
}

#[test]
fn a_range_is_one_of_all_paths() {
    let holds = |c: &str, low, span| shown(c, &[about("g", Claim::ReturnsIn(Range { width: 32, low, span }))]);
    assert!(holds("int g(int i){ return i ? 3 : 5; }", 3, 2));
    assert!(!holds("int g(int i){ return i ? 3 : 6; }", 3, 2));
    assert!(!holds("int g(int i){ return i == 77 ? -1 : 4; }", 0, 9));
}

#[test]
fn what_ends_is_shown_by_the_call_graph() {
    let all = [Effect::Nothing, Effect::Reads, Effect::Preserves, Effect::Heap];
    let of = |c: &str, names: &[&str]| {
        let does = |effect| names.iter().map(|name| about(name, Claim::Does(effect))).collect::<Vec<_>>();
        all.into_iter().find(|effect| shown(c, &does(*effect)))
    };
    assert_eq!(of("int g(int i){ int a[2] = {0, 0}; a[i] = 1; return a[1]; }", &["g"]), Some(Effect::Nothing));
    assert_eq!(of("extern int z; int g(int i){ return z + i; }", &["g"]), Some(Effect::Reads));
    assert_eq!(of("extern int z; int g(int i){ z = i; return 1; }", &["g"]), None);
    assert_eq!(of("int g(int *p){ *p = 1; return 1; }", &["g"]), None);
    assert_eq!(of("int g(int n){ while (n != 5) n++; return 1; }", &["g"]), Some(Effect::Preserves));
    let c = "int h(int n); int g(int n){ return h(n); } int h(int n){ return g(n); }";
    assert_eq!(of(c, &["g", "h"]), Some(Effect::Preserves));
    // What is not said of a callee is not known.
    assert_eq!(of(c, &["g"]), None);
    let c = "int z; int h(int n); int g(int n){ return h(n); } int h(int n){ z = n; return 1; }";
    assert_eq!(of(c, &["g", "h"]), None);
}

#[test]
fn never_to_return_is_more_than_not_always() {
    let holds = |c: &str| shown(c, &[about("g", Claim::NeverReturns)]);
    let exit = "void exit(int) __attribute__((noreturn)); ";
    assert!(holds(&format!("{exit} void g(int n){{ if (n) exit(1); exit(2); }}")));
    assert!(!holds(&format!("{exit} void g(int n){{ if (n) exit(1); }}")));
    assert!(!holds("void g(int n){ while (n) n--; }"));
}

#[test]
fn new_objects_come_from_allocating_functions() {
    let holds = |c: &str| shown(&format!("#include <stdlib.h>\n{c}"), &[about("g", Claim::ReturnsNew)]);
    assert!(holds("int *g(int n){ int *p = malloc(8); if (!p) return 0; *p = n; return p; }"));
    assert!(!holds("extern int *o; int *g(int n){ int *p = malloc(8); if (n == 77) p = o; return p; }"));
    assert!(!holds("static int *c; int *g(void){ if (!c) c = malloc(8); return c; }"));
    assert!(!holds("extern int *o; int *g(int i){ int *a[2]; a[0] = malloc(8); a[i] = o; return a[0]; }"));
}

#[test]
fn what_is_passed_is_shown_at_every_call_site() {
    let small = Claim::GivenIn { register: RDI, range: Range { width: 32, low: 0, span: 9 } };
    let h = "static int h(int x){ return x; } ";
    let passed = |c: &str| {
        let c = format!("{h}{c}");
        (shown(&c, &[about("h", given(1))]), shown(&c, &[about("h", small.clone())]))
    };
    assert_eq!(passed("int a(void){ return h(1); }"), (true, true));
    assert_eq!(passed("int a(int n){ return h(n ? 1 : 2); }"), (false, true));
    assert_eq!(passed("int a(int i, int v){ int t[2]; t[0] = 1; t[i] = v; return h(t[0]); }"), (false, false));
    assert_eq!(passed("int a(int n){ for (int i = 0; i < n; i++) h(i); return 0; }"), (false, false));
}

#[test]
fn an_address_is_forgotten_or_kept() {
    let holds = |c: &str| shown(c, &[about("g", Claim::Forgets(RDI))]);
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
    // Where something is stored, or found in a table, is a copy, too.
    assert!(!holds("char k[256]; void g(char *p){ k[(long)p & 255] = 1; }"));
    assert!(!holds("extern const unsigned char t[256]; long k; void g(char *p){ k = t[(long)p & 255]; }"));
    assert!(!holds(
        "char k[4096]; void g(char *p){ for (int i = 0; i < 8; i++) k[256 * i + ((long)p >> 8 * i & 255)] = 1; }"
    ));
    assert!(holds("int g(int *p, long i){ p[i] = 3; return p[2 * i]; }"));
    // What is printed, others can read; a string is not printed as an address.
    let print = |c: &str| holds(&format!("#include <stdio.h>\n{c}"));
    assert!(print("void g(char *p){ printf(\"%s %d\", p, 3); }"));
    assert!(!print("void g(char *p){ printf(\"%p\", p); }"));
    assert!(!print("void g(char *p, char *b){ sprintf(b, \"%lu\", (long)p); }"));
    assert!(!print("void g(char *p, const char *format){ printf(format, p); }"));
    assert!(print("void g(char *p, const char *s){ sprintf(p, \"%s\", s); }"));
}

#[test]
fn behind_a_second_return_nothing_is_known() {
    let c = "#include <setjmp.h>\nstatic jmp_buf b; void e(void);\n\
             int g(void){ int x = 1; if (!setjmp(b)) { x = 1; e(); } return x; }";
    assert!(!shown(c, &[about("g", returns(1))]));
}

#[test]
fn statics_hold_what_is_stored() {
    let holds = |c: &str| shown(c, &[holds("s", &[1, 2])]);
    assert!(holds("static int s = 1; void set(int v){ s = v ? 1 : 2; } int get(void){ return s; }"));
    assert!(!holds("static int s = 1; void set(int v){ s = v ? 1 : 3; } int get(void){ return s; }"));
    assert!(!holds("static int s = 1; void set(int v){ s = v; } int get(void){ return s; }"));
    assert!(!holds("void e(void); static int s = 1; void set(void){ s = 7; e(); s = 1; } int get(void){ return s; }"));
}

fn chain(offsets: &[i64], bytes: u16) -> Chain {
    Chain { argument: RDI, offsets: offsets.to_vec(), bytes }
}

/// A candidate's call site may load it a little earlier, so no run may come to anything else before.
#[test]
fn what_is_read_first_is_read_in_every_run() {
    let first = |c: &str, loads: Chain| shown(c, &[about("g", Claim::ReadsFirst(loads))]);
    assert!(first("int g(int *p){ return p[1]; }", chain(&[4], 4)));
    assert!(!first("int g(int *p){ return p[1]; }", chain(&[8], 4)));
    assert!(!first("int g(int *p){ return p[1]; }", chain(&[4], 8)));
    assert!(first("int g(int **p){ return p[1][2]; }", chain(&[8, 8], 4)));
    assert!(!first("int g(int *p, int n){ if (n) return p[1]; return 0; }", chain(&[4], 4)));
    assert!(!first("void e(void); int g(int *p){ e(); return p[1]; }", chain(&[4], 4)));
    assert!(!first("int g(int *p){ while (p[2]) p++; return p[1]; }", chain(&[4], 4)));
    // Whoever is called first reads it; but not another place, nor only on some ways.
    let h = "int h(int *q){ return q[1]; } ";
    let through = |c: &str| {
        let theirs = about("h", Claim::ReadsFirst(chain(&[4], 4)));
        shown(&format!("{h}{c}"), &[about("g", Claim::ReadsFirst(chain(&[8], 4))), theirs])
    };
    assert!(through("int g(int *p){ return h(p + 1); }"));
    assert!(!through("int g(int *p){ return h(p); }"));
    assert!(!through("int g(int *p, int n){ if (n) return 0; return h(p + 1); }"));
    assert!(!through("void e(void); int g(int *p){ e(); return h(p + 1); }"));
    let c = "int h(int *q){ return q[1]; } int g(int *p){ return h(p); }";
    assert!(!shown(c, &[about("g", Claim::ReadsFirst(chain(&[4], 4)))]), "nothing is said of h");
}

const G: &str =
    "int x, y; int g(int a, int b){ return 7; } static int h(int a){ return a; } int f(int n){ return h(5); }";

#[test]
fn lemmas_are_about_functions_of_the_file() {
    let other = "the original's file does not define it";
    assert_eq!(senseless(G, Known::All, &[about("nobody", returns(1))]), other);
    assert_eq!(senseless(G, Known::All, &[called("nobody", Convention::ResultUnread)]), other);
    let c = "__attribute__((weak)) int g(int a){ return 7; }";
    assert_eq!(senseless(c, Known::All, &[about("g", returns(7))]), "another file can replace it");
    let c = "int g(int a, ...){ return 7; }";
    assert_eq!(senseless(c, Known::All, &[about("g", returns(7))]), "what it takes is not known");
    let none = "the original's file has no object of that name";
    assert_eq!(senseless(G, Known::All, &[holds("nothing", &[1])]), none);
}

/// `rdi` in one function is not `rdi` in another.
#[test]
fn values_mean_the_same_everywhere() {
    let c = "static int h(long a, long b){ return b == 5; } int f(long n){ return h(5, n); }";
    let unknown = "it speaks of an object that no function has";
    for object in ["rdi", "rsi", "world", "rsp.original", "&nothing", ""] {
        let address = Constant::Address { object: object.to_string(), offset: 0 };
        let claim = Claim::Given { register: RSI, values: BTreeSet::from([address.clone()]) };
        assert_eq!(senseless(c, Known::All, &[about("h", claim)]), unknown);
        let claim = Claim::Returns(Returned::Constant(address));
        assert_eq!(senseless("long g(long n){ return n; }", Known::All, &[about("g", claim)]), unknown);
    }
    let c = "int x; int *g(void){ return &x; }";
    let at = |offset| about("g", Claim::Returns(Returned::Constant(Constant::Address { object: "&x".into(), offset })));
    assert!(shown(c, &[at(0)]));
    assert!(!shown(c, &[at(4)]));
    for offset in [i64::MIN, i64::MAX, 1 << 40] {
        assert_eq!(senseless(c, Known::All, &[at(offset)]), unknown);
    }
}

#[test]
fn callers_are_spoken_of_only_if_all_are_known() {
    assert!(shown(G, &[about("h", given(5))]));
    assert!(!shown(G, &[about("h", given(6))]));
    assert_eq!(senseless(G, Known::NotAll, &[about("h", given(5))]), "not all functions of the file are known");
    assert_eq!(senseless(G, Known::All, &[about("g", given(5))]), "others may call it, too");
    let c = "static int s = 1; int f(int n){ if (n) s = 1; return s; }";
    assert!(shown(c, &[holds("s", &[1])]));
    assert_eq!(senseless(c, Known::NotAll, &[holds("s", &[1])]), "not all functions of the file are known");
}

/// Nothing is stored to it, but it does not start with what the lemma says.
#[test]
fn statics_start_with_one_of_their_values() {
    let what = "it is no number of which all uses are known, or starts with another";
    for c in [
        "static int s = 1; int f(int n){ if (n) s = 5; return s; }",
        "int s = 5; int f(int n){ if (n) s = 5; return s; }",
    ] {
        assert_eq!(senseless(c, Known::All, &[holds("s", &[5])]), what);
    }
    let c = "static int s = 5; int *g(void){ return &s; }";
    assert_eq!(senseless(c, Known::All, &[holds("s", &[5])]), what);
}

#[test]
fn absurd_lemmas_are_refused() {
    let range = |width, low, span| about("g", Claim::ReturnsIn(Range { width, low, span }));
    for absurd in [range(0, 0, 0), range(65, 0, 0), range(7, 0, 0), range(8, 256, 0), range(32, 0, 1 << 40)] {
        assert_eq!(senseless(G, Known::All, &[absurd]), "the range is none");
    }
    let many = Claim::Given { register: RDI, values: (0..1000).map(Constant::Number).collect() };
    assert_eq!(senseless(G, Known::All, &[about("h", many)]), "it lists no values, or too many");
    let none = Claim::Given { register: RDI, values: BTreeSet::new() };
    assert_eq!(senseless(G, Known::All, &[about("h", none)]), "it lists no values, or too many");
    let c = "int g(int *p){ return *p; }";
    for absurd in [chain(&[], 4), chain(&[0; 9], 4), chain(&[i64::MIN], 4), chain(&[0], 3), chain(&[0], 0)] {
        assert_eq!(senseless(c, Known::All, &[about("g", Claim::ReadsFirst(absurd))]), "the loads are none");
    }
    for (point, slot) in [(9999, -8), (0, i64::MIN)] {
        let at = Claim::AtHead { point, slot, range: Range { width: 32, low: 0, span: 1 } };
        assert_eq!(senseless(G, Known::All, &[about("g", at)]), "the slot or the point is none");
    }
    let twice = [about("g", returns(7)), about("g", returns(8))];
    assert_eq!(senseless(G, Known::All, &twice), "another lemma says something else");
    let huge =
        vec![about("g", Claim::AtHead { point: 0, slot: -8, range: Range { width: 32, low: 0, span: 1 } }); 60_000];
    assert_eq!(senseless(G, Known::All, &huge), "there are more than 50000");
}

#[test]
fn conventions_are_one_register_for_one_argument() {
    let takes = |name, register, place| called(name, Convention::Takes { register, place });
    let loaded = |register| called("h", Convention::TakesLoaded { register, chain: chain(&[0], 4) });
    // Others call it by the book.
    assert_eq!(senseless(G, Known::All, &[takes("g", RSI, Some(RDI))]), "others may call it, too");
    let read = "its code reads the register, and others may call it";
    assert_eq!(senseless(G, Known::All, &[takes("g", RDI, None)]), read);
    assert_eq!(senseless(G, Known::All, &[called("g", Convention::ResultUnread)]), "others may call it, too");
    let c = "static int h(int *p, int b){ return *p + b; } int f(int *p){ return h(p, 2); }";
    assert!(shown(c, &[takes("h", RSI, Some(RDI)), takes("h", RDI, None)]));
    assert_eq!(senseless(c, Known::All, &[takes("h", RSI, Some(RDI))]), "rdi would carry two arguments");
    assert!(shown(c, &[takes("h", RDI, None), loaded(RDI)]));
    assert_eq!(senseless(c, Known::All, &[loaded(RSI)]), "rsi would carry two arguments");
    let vector = RegisterName(program::Register::Vector(0));
    let none = "it would be in a register that carries no such argument";
    assert_eq!(senseless(c, Known::All, &[takes("h", RDI, Some(vector))]), none);
    let rdx = RegisterName(program::Register::ARGUMENTS[2]);
    assert_eq!(senseless(c, Known::All, &[takes("h", rdx, None)]), "it takes no such argument");
}

/// The text form, with names of registers.
#[test]
fn lemmas_are_written_and_read() {
    let lemmas = vec![
        about("g", returns(7)),
        about("g", Claim::NeverReturns),
        about("g", Claim::Does(Effect::Reads)),
        called("h", Convention::TakesLoaded { register: RDI, chain: chain(&[8, -4], 4) }),
        holds("s", &[u64::MAX]),
    ];
    let text = serde_json::to_string(&lemmas).expect("plain data");
    assert!(text.contains(r#"{"original":{"function":"g","claim":{"returns":{"constant":{"number":7}}}}}"#), "{text}");
    let read: Vec<Lemma> = serde_json::from_str(&text).expect("the same");
    assert_eq!(read, lemmas);
    for wrong in
        [text.replace("rdi", "rdo"), text.replace("never-returns", "never"), text.replace("\"holds\"", "\"has\"")]
    {
        assert!(serde_json::from_str::<Vec<Lemma>>(&wrong).is_err(), "{wrong}");
    }
}

/// What is proved of a function that is compared without lemmas holds for the original's convention, so its callers use that.
#[test]
fn what_is_compared_alone_is_called_as_the_original_is() {
    let c = "static int h(int a, int b) { return a; } int f(int x) { return h(x, 1); }";
    let dropped = called("h", Convention::Takes { register: RSI, place: None });
    let refused = |lemma: &Lemma, alone: &[&str]| {
        let mut around = Surroundings::new(lifted(c, Known::All), lifted(c, Known::All), Undefined::Excused);
        around.compared_alone(alone.iter().map(|name| name.to_string()).collect());
        let mut solver = Solver::new(SolverOptions::default());
        match prove_stated(&mut around, std::slice::from_ref(lemma), &mut solver) {
            Err(Unproved::Senseless { what, .. }) => Some(what),
            _ => None,
        }
    };
    let reads = Some("its code reads the register, and others may call it".to_string());
    assert_eq!(refused(&dropped, &["h"]), reads);
    assert_eq!(refused(&dropped, &["f"]), None);
    assert_eq!(refused(&dropped, &[]), None);
    let unread = called("h", Convention::ResultUnread);
    assert_eq!(refused(&unread, &["h"]), Some("others may call it, too".to_string()));
    assert_eq!(refused(&unread, &[]), None);
    // What is said of the original is no convention.
    assert_eq!(refused(&about("h", Claim::ReturnsIn(Range { low: 0, span: 9, width: 32 })), &["h"]), None);
}
