//! `lockstep guard` as scripts see it: what is written, what is refused, and that what is written runs.

mod lockstep;

use lockstep::Bench;
use std::process::Command;

/// Adds arrays, as C does and two at a time.
const ORIGINAL: &str = "void add(double *a, const double *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++) a[i] += b[i];
}
static int last;
int keep(int x) { last += x; return last; }
";
const CANDIDATE: &str = "#include <emmintrin.h>
void add(double *a, const double *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i += 2)
        _mm_store_pd(a + i, _mm_add_pd(_mm_load_pd(a + i), _mm_load_pd(b + i)));
}
static int other;
int keep(int x) { other += x; return other; }
";
const ENOUGH: &str = "--assume n%2==0 --assume aligned(a,16)&&aligned(b,16)";

fn compile(bench: &Bench, name: &str, text: &str) {
    bench.write(&format!("{name}.c"), text.as_bytes());
    let (source, object) = (bench.path(&format!("{name}.c")), bench.path(&format!("{name}.o")));
    let status =
        Command::new("cc").args(["-g", "-O1", "-c"]).arg(source).arg("-o").arg(object).status().expect("cc runs");
    assert!(status.success(), "{name}");
}

fn bench() -> Bench {
    let bench = Bench::new();
    compile(&bench, "o", ORIGINAL);
    compile(&bench, "c", CANDIDATE);
    bench
}

#[test]
fn what_is_written_runs_inside_at_and_outside_the_condition() {
    let bench = bench();
    let run = bench.run(&format!("guard o.o c.o --function add -o g.o --format json --certificates proofs {ENOUGH}"));
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let report = run.json();
    assert_eq!(report["verdict"], "guarded");
    assert!(report["guard"]["instructions"].as_u64().is_some_and(|n| n >= 6), "{report}");
    assert_eq!(report["condition"].as_array().map(Vec::len), Some(3));
    // The proof is a certificate like any other.
    let again = bench.run("verify proofs/add.json o.o g.o");
    assert_eq!(again.status, Some(0), "{}{}", again.out, again.err);
    let main = "#include <stdio.h>
        void add(double *, const double *, unsigned long);
        static double x[40] __attribute__((aligned(16))), y[40] __attribute__((aligned(16)));
        int main(void)
        {
            for (int from = 0; from < 2; from++)
                for (int to = 0; to < 2; to++)
                    for (unsigned long n = 0; n < 9; n++) {
                        for (int i = 0; i < 40; i++) { x[i] = i; y[i] = 3 * i; }
                        add(x + to, y + from, n);
                        for (unsigned long i = 0; i < 40; i++) {
                            double want = i;
                            if (i >= to && i < to + n) want += 3.0 * (i - to + from);
                            if (x[i] != want) { printf(\"%d %d %lu: %lu\\n\", from, to, n, i); return 1; }
                        }
                    }
            return 0;
        }";
    bench.write("main.c", main.as_bytes());
    let program = bench.path("program");
    let status = Command::new("cc").arg(bench.path("main.c")).arg(bench.path("g.o")).arg("-o").arg(&program).status();
    assert!(status.expect("cc runs").success());
    assert!(Command::new(&program).status().expect("it runs").success());
}

#[test]
fn assembly_is_proved_as_it_is_assembled_and_c_says_that_it_is_not() {
    let bench = bench();
    let run = bench.run(&format!("guard o.o c.o --function add -o g.s {ENOUGH}"));
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    assert_eq!(bench.run("check o.o g.s --function add --no-run").status, Some(0));
    let run = bench.run(&format!("guard o.o c.o --function add -o g.c {ENOUGH}"));
    assert_eq!(run.status, Some(0), "{}{}", run.out, run.err);
    let text = std::fs::read_to_string(bench.path("g.c")).expect("the text");
    assert!(text.contains("add_holds(") && text.contains("not proved"), "{text}");
    let whole = format!("void add(double *, const double *, unsigned long);\n{text}");
    bench.write("g.c", whole.as_bytes());
    let mut cc = Command::new("cc");
    cc.args(["-Wall", "-Werror", "-Wno-unused-function", "-c"]).arg(bench.path("g.c"));
    let status = cc.arg("-o").arg(bench.path("text.o")).status();
    assert!(status.expect("cc runs").success(), "{text}");
}

#[test]
fn checks_that_ask_too_little_are_not_written() {
    let bench = bench();
    for weak in ["n%2==0", "aligned(a,16)&&aligned(b,16)", "n%2==0&&aligned(a,16)&&aligned(b,8)"] {
        let run = bench.run(&format!("guard o.o c.o --function add -o g.o --timeout 6 --assume {weak}"));
        assert_eq!(run.status, Some(2), "{weak}: {}{}", run.out, run.err);
        assert!(run.out.contains("not guarded") && !bench.path("g.o").exists(), "{weak}: {}", run.out);
    }
    let left = std::fs::read_dir(bench.path("")).expect("the folder");
    let left = left
        .filter_map(Result::ok)
        .collect::<Vec<_>>()
        .iter()
        .any(|entry| entry.file_name().to_string_lossy().starts_with(".guard"));
    assert!(!left, "drafts do not stay");
}

#[test]
fn bad_input_and_what_no_code_can_check() {
    let bench = bench();
    let wrong = [
        "guard o.o c.o --function add -o g.txt --assume n==0",
        "guard o.o c.o --function nosuch -o g.o --assume n==0",
        "guard o.o c.o --function add -o g.o --assume fp(reassoc)",
        "guard o.o c.o --function add -o g.o --assume n<1&&n>1",
        "guard o.o c.o --function add -o g.o --assume m==0",
        "guard o.o c.o --function add -o nosuch/g.o --assume n==0",
        "guard o.o c.o --function add -o g.o --certificate nosuch.json",
        "guard o.o c.o --function add -o g.o --certificate o.o",
        "guard o.o c.o --function keep -o g.o --assume x%4==0",
    ];
    for words in wrong {
        bench.run(words).fails_cleanly(words);
    }
    let run = bench.run("guard o.o c.o --function keep -o g.o --assume x%4==0");
    assert!(run.err.contains("would be there twice"), "{}", run.err);
}
