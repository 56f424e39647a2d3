//! What is decided about a pair before the kernel sees it.

use kernel::lemma::Facts;
use pair::{Alone, Error, File, Files, Prepared};
use program::Undefined;
use testkit::compiler::Compiler;

/// C of both versions, the original compiled with -O0 and the candidate with -O2.
fn files(original: &str, candidate: &str) -> Files {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let build = |text: &str, level: &str, name: &str| {
        let object = folder.path().join(name);
        Compiler::all()[0].compile(text, &[level], &object).unwrap_or_else(|e| panic!("{e}"));
        File::read(&object).expect("an object file")
    };
    Files::new(build(original, "-O0", "original.o"), build(candidate, "-O2", "candidate.o"), Undefined::Excused)
}

fn prepare(files: &Files, name: &str, facts: &Facts) -> Result<Prepared, Error> {
    let index = |file: &File| file.find(name).unwrap_or_else(|| panic!("no function `{name}`"));
    files.prepare([index(files.original()), index(files.candidate())], facts)
}

#[test]
fn only_a_recursion_that_nobody_can_replace_is_a_loop() {
    let text =
        |linkage: &str| format!("{linkage} int f(int n, int sum) {{ return n == 0 ? sum : f(n - 1, sum + n); }}");
    let is_folded = |linkage: &str| {
        let text = text(linkage);
        let prepared = prepare(&files(&text, &text), "f", &Facts::default()).expect("functions");
        prepared.pair.original().folded.is_some()
    };
    assert!(is_folded(""));
    assert!(!is_folded("__attribute__((weak))"));
}

#[test]
fn only_functions_that_nobody_else_calls_are_private() {
    let text = |helper: &str, taken: &str| {
        format!(
            "{helper} __attribute__((noinline)) int g(int x) {{ return 2 * x; }} {taken} int f(int x) {{ return g(x) + g(3); }}"
        )
    };
    let is_private = |helper: &str, taken: &str| {
        let text = text(helper, taken);
        let files = files(&text, &text);
        let mut around = files.surroundings();
        let lemmas = propose::propose(&mut around);
        let f = [files.original(), files.candidate()].map(|file| file.find("f").expect("a function f"));
        let prepared = prepare(&files, "f", &files.prove(around, &lemmas, &[f], &[])).expect("functions");
        prepared.pair.original().contracts.get("g").is_some_and(|c| c.private)
    };
    assert!(is_private("static", ""));
    assert!(!is_private("", ""));
    assert!(!is_private("static", "int (*pointer)(int) = g;"));
    assert!(!is_private("__attribute__((weak))", ""));
}

#[test]
fn without_facts_nothing_is_known_of_callees() {
    let text = "static __attribute__((noinline)) int g(int x) { return 2 * x; } int f(int x) { return g(x) + g(3); }";
    let prepared = prepare(&files(text, text), "f", &Facts::default()).expect("functions");
    assert!(prepared.pair.original().contracts.get("g").is_none());
}

/// Code that is not modelled is the same only as that of a copy of the file.
#[test]
fn what_is_not_read_is_the_same_only_in_the_same_file() {
    let text = |more: &str| format!("void f(void) {{ __asm__ volatile(\"rdpmc{more}\"); }}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let build = |text: &str, name: &str| {
        let object = folder.path().join(name);
        Compiler::all()[0].compile(text, &["-O2"], &object).unwrap_or_else(|e| panic!("{e}"));
        object
    };
    let (first, second) = (build(&text(""), "first.o"), build(&text("\\n\\tnop"), "second.o"));
    let prepared = |candidate: &std::path::Path| {
        let read = |path: &std::path::Path| File::read(path).expect("an object file");
        prepare(&Files::new(read(&first), read(candidate), Undefined::Excused), "f", &Facts::default())
    };
    let same = prepared(&first).expect("a copy");
    assert_eq!(same.pair.original().hash, same.pair.candidate().hash);
    assert!(matches!(prepared(&second), Err(Error::Unsupported { .. })));
}

#[test]
fn declarations_of_either_version_are_known() {
    let original = "int puts(const char *); int f(void) { return puts(\"x\"); }";
    let prepared = prepare(&files(original, original), "f", &Facts::default()).expect("functions");
    let [ours, theirs] = prepared.pair.functions();
    assert!(theirs.callees.keys().all(|name| ours.callees.contains_key(name)));
}

#[test]
fn the_original_says_whether_its_source_is_believed() {
    let text = "int f(int x) { return x; }";
    let folder = tempfile::tempdir().expect("a temporary folder");
    let object = folder.path().join("f.o");
    Compiler::all()[0].compile(text, &["-O2"], &object).unwrap_or_else(|e| panic!("{e}"));
    for undefined in [Undefined::Excused, Undefined::Counted] {
        let read = || File::read(&object).expect("an object file");
        let prepared = prepare(&Files::new(read(), read(), undefined), "f", &Facts::default());
        assert_eq!(prepared.expect("functions").pair.original().undefined, undefined);
    }
}

/// Who jumps to a function that returns twice does, too; that is no lemma, which somebody might leave out.
#[test]
fn who_returns_twice_is_known_without_facts() {
    // Compilers do not jump there; people do.
    let text = "__asm__(\".globl save\\n.type save,@function\\nsave: jmp setjmp\\n.size save, .-save\");\n\
                int save(void *); int f(void *b) { return save(b) + 1; }";
    let prepared = prepare(&files(text, text), "f", &Facts::default()).expect("functions");
    assert!(prepared.pair.original().contracts.twice.contains("save"));
}

/// Lemmas are about callees, statics and what callers pass: what has none of these is decided without them.
#[test]
fn what_stands_alone_needs_nothing_around_it() {
    let alone = |text: &str| {
        let files = files(text, text);
        let f = [files.original(), files.candidate()].map(|file| file.find("f").expect("a function f"));
        files.prepare_alone(f).expect("functions").map(|(_, alone)| alone)
    };
    assert_eq!(alone("int f(int x) { return x + 1; }"), Some(Alone::Settled));
    assert_eq!(alone("extern int g; int f(int x) { return x + g; }"), Some(Alone::Settled));
    assert_eq!(alone("int g(int); int f(int x) { return g(x) + 1; }"), None);
    assert_eq!(alone("int g(int); int f(int x) { return g(x); }"), None);
    // What a static holds, and what callers pass, lemmas may say.
    let counter = "static int n; int f(int x) { return x + n; } void set(int x) { n = x; }";
    assert_eq!(alone(counter), Some(Alone::ProofOnly));
    let private =
        "__attribute__((noinline)) static int f(int x) { return x + 1; } int g(int x) { return f(x) + f(3); }";
    assert_eq!(alone(private), Some(Alone::ProofOnly));
    // Nor is a loop tried twice.
    let looping =
        "static int n; int f(int x) { int s = 0; while (x-- > n) s += x; return s; } void set(int x) { n = x; }";
    assert_eq!(alone(looping), None);
}
