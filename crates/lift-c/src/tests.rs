//! C in, numbers or messages out.

use crate::preprocess::Settings;
use crate::source::Source;
use expect_test::{Expect, expect};
use std::path::Path;
use updates::{Constant, Limits, Nobody, Number, Numbers, Overflow, Scalar, execute};

fn source(text: &str) -> Result<Source, crate::Error> {
    Source::from_text(Path::new("k.c"), text, &Settings::default())
}

/// Runs `f` on inputs that count: cell c of every input is c + 1. Shows the outputs.
fn runs_to(text: &str, parameters: &[(&str, i64)], expect: Expect) {
    let parameters: Vec<(String, i64)> = parameters.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let program = source(text).and_then(|s| s.lower("f", &parameters));
    let shown = match program {
        Err(error) => error.to_string(),
        Ok(program) => {
            let inputs = |_key, cell: u64, ty: Scalar| {
                if ty.is_float() { Constant::float(ty, cell as f64 + 1.0) } else { Constant::Int(cell as i64 + 1) }
            };
            let mut numbers = Numbers { inputs, overflow: Overflow::Undefined };
            match execute(&program, &mut numbers, &mut Nobody, &Limits::default(), &[]) {
                Err(fault) => {
                    let line = program.sites[fault.site as usize].line;
                    format!("{:?} line {line} [{}]: {}", fault.kind, fault.instance, fault.detail)
                }
                Ok(end) => {
                    let result = program.result.map(|r| r as usize);
                    let shown = program.objects.iter().enumerate().filter(|(i, o)| o.is_output() || Some(*i) == result);
                    let text = |n: &Number| match n {
                        Number::Value(c) => c.to_string(),
                        Number::Unwritten => "?".to_string(),
                    };
                    let lines = shown.map(|(i, o)| {
                        format!("{}: {}", o.name, end.objects[i].iter().map(text).collect::<Vec<_>>().join(" "))
                    });
                    lines.collect::<Vec<_>>().join("\n")
                }
            }
        }
    };
    expect.assert_eq(&shown);
}

#[test]
fn sizes_of_values_are_those_of_their_types() {
    runs_to(
        "int f(double y[4], char c) { return sizeof(1 + 1) + 10 * sizeof((char)1) + 100 * sizeof(c + c) + 1000 * sizeof(1.0f * 2) + 10000 * sizeof(y[0] < 1) + 100000 * sizeof(-1l); }",
        &[("c", 1)],
        expect!["y: 1.0 2.0 3.0 4.0\nresult: 844414"],
    );
}

#[test]
fn loops_of_all_kinds() {
    runs_to(
        "void f(double y[4]) { int i; for (i = 3; i >= 0; i--) y[i] = y[i] * 2; i = 0; while (i < 2) y[i++] += 1; do y[3] -= i; while (--i); }",
        &[],
        expect!["y: 3.0 5.0 6.0 5.0"],
    );
    runs_to(
        "int f(void) { int s = 0; for (int i = 0; ; i++) { if (i == 7) break; if (i % 2) continue; s += i; } return s; }",
        &[],
        expect!["result: 12"],
    );
}

#[test]
fn integers_convert_and_divide_as_in_c() {
    runs_to("int f(void) { return -7 / 2 * 100 + -7 % 2; }", &[], expect!["result: -301"]);
    runs_to("int f(void) { unsigned u = 0; u--; return u > 0 ? (int)(u >> 28) : -1; }", &[], expect!["result: 15"]);
    runs_to("void f(unsigned char p[2]) { p[0] = p[0] * 300; p[1] = (char)200 < 0; }", &[], expect!["p: 44 1"]);
    runs_to("long f(int n) { return (long)n << 33; }", &[("n", 3)], expect!["result: 25769803776"]);
    runs_to("int f(int n) { return n * n; }", &[("n", 65536)], expect![[r#"Undefined line 1 []: signed overflow"#]]);
}

#[test]
fn bounds_by_floating_point_are_known() {
    runs_to(
        "#define floord(n,d) floor(((double)(n))/((double)(d)))\n#define ceild(n,d) ceil(((double)(n))/((double)(d)))\nvoid f(int n, double y[4]) { for (int i = ceild(n-3,2); i <= floord(n,2); i++) y[i] = i; }",
        &[("n", 5)],
        expect!["y: 1.0 1.0 2.0 4.0"],
    );
}

#[test]
fn pointers_walk() {
    runs_to(
        "void f(double a[2][3]) { double *p = &a[0][0], *e = p + 6; while (p < e) { *p++ *= 10; } p[-1] = e - p; (*(a + 1))[0] = *(a[0] + 2); }",
        &[],
        expect!["a: 10.0 20.0 30.0 30.0 50.0 0.0"],
    );
    runs_to(
        "void f(int n, double *x) { double (*m)[n] = (double (*)[n])x; for (int i = 0; i < 2; i++) m[i][i] = 0; }",
        &[("n", 3)],
        expect!["x: 0.0 2.0 3.0 4.0 0.0"],
    );
}

#[test]
fn helpers_are_inlined() {
    runs_to(
        "static inline double clamp(double v, double hi) { if (v > hi) return hi; return v; }\nstatic void row(int n, double r[n]) { for (int i = 0; i < n; i++) r[i] = clamp(r[i], 2.5); }\nvoid f(double a[2][3]) { for (int i = 0; i < 2; i++) row(3, a[i]); }",
        &[],
        expect!["a: 1.0 2.0 2.5 2.5 2.5 2.5"],
    );
}

#[test]
fn structures_switches_and_tables() {
    runs_to(
        "struct s { double x; int k; };\nstatic const double w[] = {0.5, 0.25};\nvoid f(struct s *p) { struct s t = p[0]; t.x += w[1]; switch (p[1].k) { case 4: t.k = 9; break; case 5: t.k = 1; default: t.k++; } p[1] = t; }",
        &[],
        expect!["p: 1.0 2 1.25 9"],
    );
}

#[test]
fn undefined_behaviour_has_a_place() {
    runs_to(
        "void f(double a[2][3]) {\n for (int i = 0; i < 2; i++)\n  for (int j = 0; j < 4; j++)\n   a[i][j] = 0; }",
        &[],
        expect!["Undefined line 4 [i=0, j=3]: subscript 3 of `a` is outside 0..3"],
    );
    runs_to(
        "double f(void) { double t; return t; }",
        &[],
        expect!["Undefined line 1 []: `t` is read before it is written"],
    );
    runs_to("int f(int n) { return 1 / n; }", &[("n", 0)], expect!["Undefined line 1 []: division by zero"]);
}

#[test]
fn what_is_not_handled_is_named() {
    runs_to("void f(double *x) {\n goto e; e: x[0] = 0; }", &[], expect!["k.c:2: `goto`"]);
    runs_to("void f(double *x) {\n printf(x); }", &[], expect!["k.c:2: a call of `printf`"]);
    runs_to("void f(double **x) { x[0][0] = 1; }", &[], expect!["k.c:1: memory of type `double *[]`"]);
    runs_to("int f(int n) { return n ? f(n - 1) : 0; }", &[("n", 2)], expect!["k.c:1: recursion in `f`"]);
    runs_to("void f(long double x) { }", &[], expect!["k.c:1: type `long double`"]);
    runs_to("void f(double a[M]) { a[0] = 0; }", &[], expect!["parameter `M` needs a value: --param M=NUMBER"]);
    runs_to("void f(double a[2]) { a[0] = ; }", &[], expect!["k.c:1: expected an expression, found `;`"]);
    runs_to("void f(double a[2]) { a[0] = 1\n}", &[], expect!["k.c:2: expected `;`, found `}`"]);
}

#[test]
fn the_kernel_is_found() {
    let kernel = |text: &str| source(text).and_then(|s| s.kernel()).map_err(|e| e.to_string());
    assert_eq!(kernel("static int h(int a) { return a; }\nvoid k(void) { h(1); }"), Ok("k".to_string()));
    assert_eq!(kernel("void a(void) {\n#pragma scop\n}\nvoid b(void) { a(); }"), Ok("a".to_string()));
    assert_eq!(
        kernel("void a(void) {}\nvoid b(void) {}"),
        Err("k.c: which function? choose with --function: a, b".to_string())
    );
    assert_eq!(kernel("int x;"), Err("k.c: no function".to_string()));
}

/// The kernels of the bench, with the sizes in their first line.
fn bench_kernels() -> Vec<(String, Vec<(String, i64)>)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/kernels/src");
    let entries = std::fs::read_dir(directory).expect("the kernels").map(|e| e.expect("an entry").path());
    let mut paths: Vec<_> = entries.collect();
    paths.sort();
    let read = |path: &std::path::PathBuf| {
        let text = std::fs::read_to_string(path).expect("a kernel");
        let words = text.lines().next().and_then(|l| l.split_once("params:")).map_or("", |(_, w)| w);
        let pairs = words.split_whitespace().map(|w| w.trim_end_matches(';')).filter_map(|w| w.split_once('='));
        let parameters = pairs.filter_map(|(n, v)| Some((n.to_string(), v.parse().ok()?))).collect();
        (text, parameters)
    };
    paths.iter().map(read).collect()
}

#[test]
fn loops_in_chunks_leave_what_loops_by_statements_leave() {
    use crate::fuzz::{Watching, differing};
    let mut count = 0;
    for (text, parameters) in bench_kernels() {
        let settings = Settings { parameters: parameters.clone(), ..Settings::default() };
        let source = Source::from_text(Path::new("k.c"), &text, &settings).expect("a kernel");
        let program = source.lower(&source.kernel().expect("a name"), &parameters).expect("a program");
        let mut domain = updates::Symbolic::new(updates::Hashes, updates::Floating::Ieee);
        let fast = execute(&program, &mut domain, &mut Nobody, &Limits::default(), &[]);
        let slow = execute(&program, &mut domain, &mut Watching, &Limits::default(), &[]);
        assert!(fast.is_ok(), "{text}");
        assert_eq!(differing(fast, slow), None, "{text}");
        count += 1;
    }
    assert!(count > 30, "{count} kernels");
}

#[test]
fn statements_in_expressions_and_their_types() {
    runs_to(
        "#define min(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })\nvoid f(double y[6]) { for (int i = 0; i <= min(4, 7 - 4); i++) y[i] = min(y[i], 2.5); }",
        &[],
        expect!["y: 1.0 2.0 2.5 2.5 5.0 6.0"],
    );
}

#[test]
fn initializers_with_designators() {
    runs_to(
        "struct p { int x, y; }; void f(int a[5]) { int w[] = { [3] = 7, 8, [0] = 1 }; struct p q = { .y = 5 }, r[2] = { [1] = { 3, 4 } }; double z[2][2] = {0}; a[0] = w[0] + sizeof w / sizeof w[0]; a[1] = w[3] + w[4]; a[2] = q.x + q.y; a[3] = r[1].y - r[0].x; a[4] = z[1][1]; }",
        &[],
        expect!["a: 6 15 5 4 0"],
    );
}

#[test]
fn structures_as_values() {
    runs_to(
        "typedef struct { double re, im; } c; static c mul(c a, c b) { c r; r.re = a.re * b.re - a.im * b.im; r.im = a.re * b.im + a.im * b.re; return r; } static c swap(c a) { return (c){ a.im, a.re }; } void f(double x[4]) { c u = { x[0], x[1] }; u = mul(u, swap(u)); x[2] = u.re; x[3] = u.im; }",
        &[],
        expect!["x: 1.0 2.0 0.0 5.0"],
    );
}

#[test]
fn blocks_of_memory() {
    runs_to(
        "#include <string.h>\nvoid f(double a[3], double b[3], unsigned char c[2]) { memcpy(a, b + 1, 2 * sizeof(double)); memset(&b[1], 0, sizeof *b); memset(c, 255, 2); }",
        &[],
        expect![["a: 2.0 3.0 3.0\nb: 1.0 0.0 3.0\nc: 255 255"]],
    );
    runs_to(
        "void f(double a[3]) { __builtin_memset(a, 1, 8); }",
        &[],
        expect!["k.c:1: `__builtin_memset` with this value"],
    );
}

#[test]
fn enumerators_are_constant_expressions() {
    runs_to(
        "enum { N = 0x10, M = N / 4, K = M > 3 ? M << 1 : 1, L = 'a' }; void f(int a[M]) { a[0] = N + K; a[1] = L; a[2] = -M % 3; a[3] = M; }",
        &[],
        expect!["a: 24 97 -1 4"],
    );
}

#[test]
fn a_flat_pointer_may_be_used_without_a_subscript() {
    let text = "void f(const double *x, double *sum) { *sum = 0; for (int i = 0; i < 3; i++) *sum += *(x + i); }";
    runs_to(
        text,
        &[],
        expect![[r#"
            x: 1.0 2.0 3.0
            sum: 6.0"#]],
    );
    let text = "struct p { double re, im; }; void f(struct p *a) { a->re = a->im; (*a).im += 1; }";
    runs_to(text, &[], expect!["a: 2.0 3.0"]);
}

#[test]
fn volatile_is_refused_behind_names_and_pointers() {
    for text in [
        "void f(volatile double x[2]) { x[0] = 1; }",
        "typedef volatile double v; void f(v *x) { x[0] = 1; }",
        "void f(double *x) { *(volatile double *)x = 1; }",
        "void f(double *volatile x) { x[0] = 1; }",
    ] {
        runs_to(text, &[], expect!["k.c:1: type `volatile`"]);
    }
}

#[test]
fn directives_that_move_memory_are_refused() {
    let text = |directive: &str| {
        format!("void f(double y[2]) {{\n#pragma omp {directive}\nfor (int i = 0; i < 2; i++) y[i] = 3 * i;\n}}")
    };
    runs_to(&text("parallel for schedule(static)"), &[], expect!["y: 0.0 3.0"]);
    runs_to(
        &text("target teams distribute parallel for map(to: y)"),
        &[],
        expect!["k.c:2: `#pragma omp target teams distribute parallel for map ( to : y )`"],
    );
    runs_to(&text("single"), &[], expect!["k.c:2: `#pragma omp single`"]);
}

#[test]
fn designators_of_designators_and_values_without_inner_braces() {
    runs_to(
        "struct p { int x, y; }; struct q { struct p a[2]; int k; }; void f(int o[8]) { struct q v = { .a[1].x = 5, .a[0] = { .y = 7 }, .k = 9 }; int m[2][3] = { 1, 2, 3, 4 }; int *r = (int[]){ 11, [2] = 13 }; o[0] = v.a[1].x; o[1] = v.a[0].y + v.a[0].x; o[2] = v.k; o[3] = v.a[1].y; o[4] = m[1][0]; o[5] = m[1][2]; o[6] = r[0] + r[2]; o[7] = r[1]; }",
        &[],
        expect!["o: 5 7 9 0 4 0 24 0"],
    );
    runs_to(
        "struct p { int x, y; }; void f(int o[1]) { struct p v[2] = { [0].x = 1, 2 }; o[0] = v[0].y; }",
        &[],
        expect!["k.c:1: a value after a designator of a designator"],
    );
}

#[test]
fn a_name_means_the_variable_in_its_own_start_value() {
    runs_to(
        "#include <stdlib.h>\nvoid f(double a[2]) { double *t = calloc(2, sizeof *t); a[0] = t[1]; t[0] = 4; a[1] = t[0]; free(t); }",
        &[],
        expect!["a: 0.0 4.0"],
    );
    runs_to(
        "void f(double a[2]) { double t = 2; { double t = t + 1; a[0] = t; } a[1] = t; }",
        &[],
        expect!["Undefined line 1 []: `t` is read before it is written"],
    );
}

#[test]
fn blocks_may_overlap_only_in_memmove() {
    let text = |call: &str| format!("#include <string.h>\nvoid f(int a[5]) {{ {call}; }}");
    runs_to(&text("memmove(a, a + 1, 16)"), &[], expect!["a: 2 3 4 5 5"]);
    runs_to(&text("memmove(a + 1, a, 16)"), &[], expect!["a: 1 1 2 3 4"]);
    runs_to(&text("memcpy(a + 3, a, 8)"), &[], expect!["a: 1 2 3 1 2"]);
    runs_to(
        &text("memcpy(a + 1, a, 8)"),
        &[],
        expect!["Undefined line 2 []: a copy of `a` to a block that overlaps it"],
    );
}

#[test]
fn orders_that_c_leaves_open_are_refused() {
    let refused = |body: &str| {
        let text = format!(
            "static int g(int *p) {{ *p += 1; return *p; }} static int h(int k) {{ int t[2]; t[0] = k; t[1] = 2; return t[0] * t[1]; }} void f(int a[4], int i) {{ {body} }}"
        );
        runs_to(
            &text,
            &[("i", 1)],
            expect!["k.c:1: an expression whose value depends on the order in which its parts are evaluated"],
        );
    };
    for body in [
        "a[0] = g(a) - g(a);",
        "i = i++ + 1;",
        "a[i] = i++;",
        "a[i++] = i;",
        "a[0] += g(a);",
        "a[1] = g(a) + a[0];",
        "a[a[0]] = a[1] = 2;",
    ] {
        refused(body);
    }
    runs_to(
        "static int g(int *p) { *p += 1; return *p; } static int h(int k) { int t[2]; t[0] = k; t[1] = 2; return t[0] * t[1]; } void f(int a[4], int b[4], int i) { int m[2][2]; m[0][1] = m[1][0] = i; int *p = a, *q = b; *p++ = *q++; *p++ += h(i) + h(a[0]); a[3] = g(b), a[3] += 1; if (i++ && i) a[2] = i; }",
        &[("i", 1)],
        expect![[r#"
            a: 1 6 2 3
            b: 2 2 3 4"#]],
    );
}

#[test]
fn threads_of_a_region_touch_only_what_is_theirs() {
    let text = |body: &str| {
        format!(
            "void f(int n, double a[8], double b[8]) {{ double t = 1; int i;\n#pragma omp parallel private(i)\n{{\n{body}\n}}\n}}"
        )
    };
    let refused = |body: &str, why: Expect| runs_to(&text(body), &[("n", 8)], why);
    refused("a[0] = 1;", expect!["k.c:4: memory or a call in what every thread of a parallel region does"]);
    refused("t = 2;", expect!["k.c:4: `t`, which every thread of a parallel region assigns"]);
    refused("double s = a[0];", expect!["k.c:4: memory or a call in what every thread of a parallel region does"]);
    refused(
        "#pragma omp for nowait\nfor (i = 0; i < 8; i++) a[i] = 1;\n#pragma omp for\nfor (i = 0; i < 8; i++) b[i] = a[7 - i];",
        expect!["k.c:5: `#pragma omp for nowait` in a parallel region"],
    );
    runs_to(
        &text(
            "double s = 2;\n#pragma omp for\nfor (i = 0; i < 8; i++) a[i] = s;\n#pragma omp single\n{ t = 5; }\n#pragma omp for nowait\nfor (i = 0; i < n; i++) b[i] = t + a[7 - i];",
        ),
        &[("n", 8)],
        expect![[r#"
            a: 2.0 2.0 2.0 2.0 2.0 2.0 2.0 2.0
            b: 7.0 7.0 7.0 7.0 7.0 7.0 7.0 7.0"#]],
    );
    // What a turn left in a thread's own variable is nobody's to read.
    runs_to(
        &text(
            "double s = 2;\n#pragma omp for\nfor (i = 0; i < 8; i++) { s = a[i]; b[i] = s; }\n#pragma omp for\nfor (i = 0; i < 8; i++) a[i] = s;",
        ),
        &[("n", 8)],
        expect!["Undefined line 8 [i=0]: `s` is read before it is written"],
    );
}
