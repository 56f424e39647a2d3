//! Functions of the file: what they return, write, keep and promise, with stores through every kind of address.
//!
//! The wrong versions are what a reader in a hurry would believe: the result is the constant that was stored first, the
//! local still holds what it held before the call, the argument has the value of the other call site.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::{droppable, extra, same, spot};
use crate::types::{INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(15) {
        14 => early_call(b),
        0..=2 => indexed(b),
        3 | 4 => call_sites(b),
        5 | 6 => effects(b),
        7 => kept(b),
        8 => fresh(b),
        9 => never_returns(b),
        10 => returns_twice(b),
        11 => recursion(b),
        12 => by_value(b),
        _ => widths(b),
    }
}

fn int() -> Type {
    Type::Scalar(INTEGERS[0])
}

/// Who can call the function: its file alone, everybody, everybody unless another file defines it.
fn linkage(b: &mut Builder) -> &'static str {
    ["static ", "static ", "static ", "", "__attribute__((noinline)) ", "__attribute__((visibility(\"hidden\"))) "]
        [b.random.below(6)]
}

/// What a call of `g` is taken to return: the call, or the call and one of the values.
fn believed(call: &str, values: &[String]) -> String {
    let wrong: Vec<String> = values.iter().map(|v| format!("({call}, {v})")).collect();
    spot("*believed result", call, &wrong)
}

/// A local array with a store at a variable index, read again at a constant one.
fn indexed(b: &mut Builder) {
    b.shape("indexed store");
    let (f, g) = (b.name("f"), b.name("g"));
    let of = b.integer();
    let count = b.random.below(4) + 2;
    let linkage = linkage(b);
    let constants: Vec<i64> = (0..count).map(|_| (b.random.number() & 63) + 1).collect();
    let index = b.index("i", count);
    let value = b.by_value("v", &of);
    let (condition_parameter, condition) = b.rare("h");
    let mut parameters = vec![index, value];
    let guard = if b.random.one_in(3) {
        parameters.push(condition_parameter);
        format!("if ({condition}) ")
    } else {
        String::new()
    };
    let read = b.random.below(count);
    let (open, member, array) = match b.random.below(4) {
        0 => (format!("struct {{ {0} a[{count}]; {0} b[{count}]; }} s;", of.c()), "s.a", "s.a"),
        1 => (format!("{} b[{count}], a[{count}]; {0} *p = a;", of.c()), "a", "p"),
        2 => (format!("{} a[{count}]; {0} *p = a + {}; p -= {};", of.c(), count, count), "a", "p"),
        _ => (format!("{} a[{count}];", of.c()), "a", "a"),
    };
    let fill: String = constants
        .iter()
        .enumerate()
        .map(|(k, c)| format!("{member}[{k}] = {}; ", spot("constant", c, &[c + 1])))
        .collect();
    let stored = match b.random.below(4) {
        0 => format!("{array}[i] = v;"),
        1 => format!("*({array} + i) = v;"),
        2 => format!("{array}[{} - i] = v;", count - 1),
        _ => format!("__builtin_memcpy(&{array}[i], &v, sizeof v);"),
    };
    let stored = droppable(format!("{guard}{stored}"));
    let declared = parameter_list(&parameters);
    b.function(
        &g,
        format!(
            "{linkage}{} {g}({declared}) {{\n  {open}\n  {fill}\n  {stored}\n  return {member}[{}];\n}}",
            of.c(),
            spot("index", read, &[(read + 1) % count])
        ),
    );
    let arguments = parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>().join(", ");
    let call = believed(
        &format!("{g}({arguments})"),
        &[constants[read].to_string(), "v".into(), constants[(read + 1) % count].to_string()],
    );
    b.function(&f, format!("{} {f}({declared}) {{\n  return {call};\n}}", of.c()));
    b.call(&f, &parameters, Some(&of));
}

/// A function that behaves differently for an argument which most of its call sites do not pass.
fn call_sites(b: &mut Builder) {
    b.shape("call sites");
    let (f, f2, h, ext) = (b.name("f"), b.name("second"), b.name("h"), b.name("change"));
    let of = b.integer();
    let (usual, other) = (b.random.below(20) as i64, b.random.below(20) as i64 + 30);
    let (yes, no) = (b.random.number(), b.random.number());
    let tested = [
        format!("x == {usual}"),
        format!("x < {}", usual + 1),
        format!("x != {other}"),
        format!("(x & 31) == {usual}"),
    ][b.random.below(4)]
    .clone();
    let linkage = linkage(b);
    let body = spot("*believed condition", format!("{tested} ? {yes} : {no}"), &[yes.to_string(), no.to_string()]);
    b.function(&h, format!("{linkage}int {h}({} x) {{\n  return {body};\n}}", of.c()));
    let index = b.index("i", 2);
    let v = b.driven("v", &of, &[usual, other]);
    let (rare, condition) = b.rare("k");
    let parameters = vec![index, v, rare];
    let declared = parameter_list(&parameters);
    let c = of.c();
    let lines = match b.random.below(7) {
        0 => format!("{c} a[2]; a[0] = {usual}; a[1] = {usual}; a[i] = v;\n  return {h}(a[0]);"),
        1 => {
            b.top(format!("void {ext}({c} *);"));
            b.harness(format!(
                "void {ext}({c} *p) {{ see_label(\"{ext}\"); see_number(*p); if (rnd() & 1) *p = {other}; }}"
            ));
            format!("{c} x = {usual}; {ext}(&x);\n  return {h}(x);")
        }
        2 => format!("{c} x = {usual}; {c} *p = i ? &x : &v; *p = {other};\n  return {h}(x);"),
        3 => format!("{c} x = {usual};\n  if ({condition}) x = {other};\n  return {h}(x);"),
        4 => {
            format!("int s = 0;\n  for (int n = 0; n < 3; n++) s += {h}({usual} + n * {});\n  return s;", other - usual)
        }
        5 => format!(
            "union {{ {c} x; unsigned char b[sizeof({c})]; }} u; u.x = {usual};\n  u.b[0] = {other};\n  return {h}(u.x);"
        ),
        _ => format!("int (*p)({c}) = {h};\n  return p(v) + {h}({usual});"),
    };
    b.function(&f, format!("int {f}({declared}) {{\n  {lines}\n}}"));
    b.function(&f2, format!("int {f2}(void) {{\n  return {h}({usual});\n}}"));
    b.call(&f, &parameters, Some(&int()));
    b.call(&f2, &[], Some(&int()));
}

/// A function that writes somewhere; its caller reads what may be there.
fn effects(b: &mut Builder) {
    b.shape("effects");
    let (f, g) = (b.name("f"), b.name("g"));
    let of = b.integer();
    let c = of.c();
    let linkage = linkage(b);
    let mut parameters = b.aliasing(&["p", "q"], &of, 4);
    let index = b.index("i", 4);
    let v = b.by_value("v", &of);
    parameters.push(index);
    parameters.push(v);
    let global = b.name("global");
    let (written, setup) = match b.random.below(8) {
        0 => ("p[i] = v;".to_string(), String::new()),
        1 => ("*(p + (i & 3)) = v; p[3 - i] ^= v;".into(), String::new()),
        2 => (format!("{c} *t[2]; t[0] = p; t[1] = p + 1; *t[i & 1] = v;"), String::new()),
        3 => {
            b.top(format!("static {c} *{global};"));
            (format!("*{global} = v;"), format!("{global} = i ? q : p;"))
        }
        4 => {
            b.top(format!("static struct {{ {c} *at; int n; }} {global};"));
            (format!("{global}.at[{global}.n & 3] = v;"), format!("{global}.at = p; {global}.n = i;"))
        }
        5 => (format!("{c} **t = &p; if (i == 2) (*t)++; p[0] = v;"), String::new()),
        6 => (format!("__builtin_memset(p + i, v, sizeof({c}));"), String::new()),
        _ => (
            format!(
                "for (int k = 0; k < 4; k++) if (k == i) p[k] = v; else p[k] {} 1;",
                spot("operator", "+=", &["-=", "="])
            ),
            String::new(),
        ),
    };
    b.function(
        &g,
        format!(
            "{linkage}int {g}({c} *p, long i, {c} v) {{\n  {}\n  return {};\n}}",
            droppable(written),
            spot("constant", "i + 1", &["i + 2"])
        ),
    );
    let at = b.random.below(4);
    let declared = parameter_list(&parameters);
    b.function(
        &f,
        format!(
            "long {f}({declared}) {{\n  {setup}\n  {c} before = q[{at}];\n  int r = {g}(p, i, v);\n  return {} + (long){} * 7;\n}}",
            spot("*believed result", "r", &["i + 1", "1"]),
            spot("*memory behind a call", format!("q[{at}]"), &["before", "v"])
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// A function keeps the address of a local, and somebody writes there later.
fn kept(b: &mut Builder) {
    b.shape("kept address");
    let (f, g, poke, ext, cell) = (b.name("f"), b.name("g"), b.name("poke"), b.name("ext"), b.name("cell"));
    let of = b.integer();
    let c = of.c();
    let linkage = linkage(b);
    b.top(format!("static {c} *{cell}[2];\nvoid {ext}(void);"));
    let (rare, condition) = b.rare("h");
    let keep = match b.random.below(4) {
        0 => format!("if ({condition}) {cell}[1] = p;"),
        1 => format!("{c} *t[2]; t[0] = 0; t[h & 1] = p; {cell}[1] = t[0];"),
        2 => format!("if (h & 1) {cell}[h >> 1 & 1] = p;"),
        _ => format!("{c} **s = &{cell}[0]; s[h & 1] = p;"),
    };
    b.function(&g, format!("{linkage}void {g}({c} *p, unsigned h) {{\n  {}\n}}", droppable(keep)));
    let n = b.random.number() & 127;
    b.function(&poke, format!("void {poke}({c} v) {{\n  if ({cell}[1]) *{cell}[1] = v;\n}}"));
    b.harness(format!("void {poke}({c}); void {ext}(void) {{ see_label(\"{ext}\"); {poke}(({c})any()); }}"));
    let parameters = vec![rare];
    b.function(
        &f,
        format!(
            "{c} {f}(unsigned h) {{\n  {c} x = {n}; {c} y = 1;\n  {g}(&x, h);\n  {}\n  y = {} + y;\n  {cell}[1] = {cell}[0] = 0;\n  return y;\n}}",
            droppable(format!("{ext}();")),
            spot("*memory behind a call", "x", &[n.to_string(), "0".into()])
        ),
    );
    b.call(&f, &parameters, Some(&of));
}

/// A function that mostly returns new memory.
fn fresh(b: &mut Builder) {
    b.shape("allocator");
    let (f, get, other) = (b.name("f"), b.name("get"), b.name("other"));
    let linkage = linkage(b);
    b.top(format!("void *malloc(unsigned long);\nextern int *{other};"));
    b.harness(format!("ARENA int {other}_object[4]; int *{other} = {other}_object;"));
    let index = b.index("i", 2);
    let (rare, condition) = b.rare("h");
    let body = match b.random.below(4) {
        0 => format!("int *a[2]; a[0] = malloc(16); a[i] = {other}; return a[0];"),
        1 => format!("int *p = malloc(16); if ({condition}) p = {other}; return p;"),
        2 => format!("int *p; int **q = i ? &p : &{other}; p = malloc(16); *q = {other}; return p;"),
        _ => format!(
            "struct {{ int *p; int *q; }} s; int **t = &s.p; s.p = malloc(16); s.q = {other}; if (h & 1) t[0] = s.q; return s.p;"
        ),
    };
    b.function(&get, format!("{linkage}int *{get}(long i, unsigned h) {{\n  {body}\n}}"));
    let parameters = vec![index, rare];
    let (first, second) = (b.random.below(9) as i64, b.random.below(9) as i64 + 20);
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  int *p = {get}(i, h); int *q = {other};\n  *q = {first};\n  *p = {};\n  return {};\n}}",
            parameter_list(&parameters),
            spot("constant", second, &[second + 1]),
            spot("*memory behind a store", "*q", &[first.to_string(), second.to_string()])
        ),
    );
    b.run(format!("{other}_object[0] = any();"));
    b.call(&f, &parameters, Some(&int()));
    b.run(format!("see_number({other}_object[0]);"));
}

/// A function that returns only in rare cases.
fn never_returns(b: &mut Builder) {
    b.shape("never returns");
    let (f, die, stop) = (b.name("f"), b.name("die"), b.name("stop"));
    let linkage = linkage(b);
    b.top(format!("void {stop}(int) __attribute__((noreturn));"));
    b.harness(format!("void {stop}(int c) {{ see_label(\"{stop}\"); see_number(c); leave(); }}"));
    let (rare, condition) = b.rare("h");
    let body = match b.random.below(4) {
        0 => format!("if ({condition}) return; {stop}(1);"),
        1 => format!("int a[2]; a[0] = 1; a[h & 1] = 0; if (a[0]) {stop}(2);"),
        2 => format!("for (unsigned k = 0; k < 4; k++) if ((h & 3) == k) return; {stop}(3);"),
        _ => format!("if ((h & 7) != 5) {stop}(4);"),
    };
    b.function(&die, format!("{linkage}void {die}(unsigned h) {{\n  {body}\n}}"));
    let x = b.by_value("x", &int());
    let out = b.by_pointer("out", &int(), 1);
    let parameters = vec![rare, x, out];
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  {}\n  *out = {};\n  return {};\n}}",
            parameter_list(&parameters),
            droppable(format!("if (x & 1) {die}(h);")),
            spot("*behind a call", "x", &["x + 1", "0"]),
            spot("*behind a call", "x + 3", &["x + 4", "0"])
        ),
    );
    b.call(&f, &parameters, Some(&int()));
}

/// A local function that the candidate's compiler knows not to be called with some arguments; a call that is made too early.
fn early_call(b: &mut Builder) {
    b.shape("early call");
    let (f, g) = (b.name("f"), b.name("g"));
    let of = Type::Scalar(INTEGERS[b.random.below(4)]);
    let c = of.c();
    let most = b.random.below(40) as i64 + 2;
    let value = b.expression(&["x"], 1);
    let body = match b.random.below(3) {
        0 => format!("if (x > {most}) __builtin_trap(); return {value};"),
        1 => format!("return {value} + (7 / (x <= {most}) - 7);"),
        _ => format!("if (x > {most}) *(volatile int *)8 = 1; return {value};"),
    };
    b.function(&g, format!("static {c} {g}({c} x) {{\n  {}\n}}", same(format!("return {};", plain(&value)), body)));
    let x = b.driven("x", &of, &[0, 1, most, most + 1]);
    let parameters = vec![x];
    let call = spot(
        "*early call",
        format!("if (x >= 0 && x <= {most}) r = {g}(x);"),
        &[
            format!("{{ {c} t = {g}(x); if (x >= 0 && x <= {most}) r = t; }}"),
            format!("if (x >= 0 && x <= {}) r = {g}(x);", most + 1),
            format!("if (x >= 0 && x <= {most}) r = {g}(x) + 1;"),
        ],
    );
    b.function(&f, format!("{c} {f}({c} x) {{\n  {c} r = 0;\n  {call}\n  return r;\n}}"));
    b.call(&f, &parameters, Some(&of));
}

/// The right text.
fn plain(text: &str) -> String {
    crate::spot::render(text, crate::spot::Side::Original, None)
}

/// `setjmp`: code that runs again with other values.
fn returns_twice(b: &mut Builder) {
    b.shape("returns twice");
    let (f, g, h, buffer) = (b.name("f"), b.name("g"), b.name("h"), b.name("buffer"));
    // A function of another file may return twice, too.
    let save = if b.random.one_in(2) { "_setjmp".to_string() } else { b.name("save") };
    if save != "_setjmp" {
        b.harness(format!("__asm__(\".text\\n.globl {save}\\n{save}: jmp _setjmp\\n\");"));
    }
    b.top(format!("extern int {save}(long *) __attribute__((returns_twice));\nextern void longjmp(long *, int) __attribute__((noreturn));"));
    b.top(format!("static long {buffer}[32];"));
    let (first, second) = (b.random.below(9) as i64 + 1, b.random.below(9) as i64 + 20);
    let x = b.by_value("x", &int());
    let parameters = vec![x];
    b.function(
        &h,
        format!(
            "static int {h}(int v) {{\n  return {};\n}}",
            spot(
                "*believed condition",
                format!("v == {first} ? {} : {}", first + 100, second + 100),
                &[first + 100, second + 100]
            )
        ),
    );
    let inside = ["x", "h(v)", "v"][b.random.below(3)].replace("h(", &format!("{h}("));
    b.function(
        &g,
        format!("static int {g}(int x) {{\n  volatile int v = {first};\n  if ({save}({buffer}) == 0) {{\n    v = {second};\n    longjmp({buffer}, {});\n  }}\n  return {inside} + v;\n}}", 1),
    );
    let call = believed(
        &format!("{g}(x)"),
        &[first.to_string(), (first + second + 100).to_string(), format!("(x + {first})")],
    );
    b.function(&f, format!("int {f}(int x) {{\n  return {call} + {h}({first});\n}}"));
    b.call(&f, &parameters, Some(&int()));
}

/// A function that calls itself.
fn recursion(b: &mut Builder) {
    b.shape("recursion");
    let (f, g) = (b.name("f"), b.name("g"));
    let linkage = linkage(b);
    let of = b.integer();
    let c = of.c();
    let base = b.random.below(9) as i64;
    let step = b.expression(&["n", "acc"], 2);
    let body = match b.random.below(3) {
        0 => format!("if (n == 0) return acc; return {g}(n - 1, ({c}){step});"),
        1 => format!(
            "if (n <= 0) return {base}; {c} t = {g}(n - {}, acc); return t + {step};",
            spot("constant", 1, &[2])
        ),
        _ => format!(
            "{c} a[2]; a[0] = {base}; a[n & 1] = acc; if (n > 1) a[1] = {g}(n - 2, a[1]); return a[0] + ({c}){step};"
        ),
    };
    b.function(&g, format!("{linkage}{c} {g}(int n, {c} acc) {{\n  {body}\n}}"));
    let n = Parameter {
        name: "n".into(),
        declaration: "int n".into(),
        prepare: "int n = rnd() % 6;".into(),
        look: String::new(),
    };
    let acc = b.by_value("acc", &of);
    let parameters = vec![n, acc];
    let call = believed(&format!("{g}(n, acc)"), &["acc".into(), base.to_string()]);
    b.function(&f, format!("{c} {f}(int n, {c} acc) {{\n  return {call};\n}}"));
    b.call(&f, &parameters, Some(&of));
}

/// Structures by value, changed in the callee's copy.
fn by_value(b: &mut Builder) {
    b.shape("structure by value");
    let (f, g, record) = (b.name("f"), b.name("g"), b.name("S"));
    let of = b.integer();
    let c = of.c();
    let count = b.random.below(4) + 2;
    b.shared(&format!("struct {record} {{ {c} a[{count}]; }};"));
    let linkage = linkage(b);
    let store = droppable(
        ["s.a[i] = 9;", "struct R *p = &s; p->a[i] = 9;", "*(s.a + i) += 5;"][b.random.below(3)]
            .replace("struct R", &format!("struct {record}")),
    );
    b.function(
        &g,
        format!(
            "{linkage}{c} {g}(struct {record} s, long i) {{\n  {store}\n  return s.a[{}];\n}}",
            spot("index", 0, &[1])
        ),
    );
    let x = b.by_value("x", &of);
    let index = b.index("i", count);
    let parameters = vec![x, index];
    let call = believed(&format!("{g}(s, i)"), &["x".into(), "9".into(), "2".into()]);
    b.function(
        &f,
        format!(
            "long {f}({}) {{\n  struct {record} s; __builtin_memset(&s, 0, sizeof s);\n  s.a[0] = x; s.a[1] = 2;\n  {}\n  long r = {call};\n  return r + {};\n}}",
            parameter_list(&parameters),
            extra("*argument", &["s.a[0]++;", "s.a[1]++;"]),
            spot("*memory behind a call", "s.a[0]", &["x + 1", "s.a[1]"])
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// A result that is stored in one width and loaded in another.
fn widths(b: &mut Builder) {
    b.shape("widths");
    let (f, g) = (b.name("f"), b.name("g"));
    let wide = [INTEGERS[2], INTEGERS[3], INTEGERS[0], INTEGERS[1]][b.random.below(4)];
    let narrow = INTEGERS[4 + b.random.below(5)];
    let linkage = linkage(b);
    let constant = 0x1ff + b.random.below(0x1000) as i64;
    let (x, y) = (b.by_value("x", &Type::Scalar(wide)), b.by_value("y", &Type::Scalar(narrow)));
    let at = b.random.below(wide.size / narrow.size);
    let body = match b.random.below(4) {
        0 => format!(
            "union {{ {} l; {} c[8]; }} u; u.l = x; return u.c[{}];",
            wide.c,
            narrow.c,
            spot("index", at, &[if at == 0 { 1 } else { 0 }])
        ),
        1 => format!("union {{ {} l; {} c[8]; }} u; u.l = {constant}; return u.c[{at}];", wide.c, narrow.c),
        2 => format!("union {{ {} l; {} c[8]; }} u; u.l = x; u.c[{at}] = y; return u.l;", wide.c, narrow.c),
        _ => format!("{} l = x; *(({} *)&l + {at}) = y; return l;", wide.c, narrow.c),
    };
    b.function(&g, format!("{linkage}long {g}({} x, {} y) {{\n  {body}\n}}", wide.c, narrow.c));
    let parameters = vec![x, y];
    let call =
        believed(&format!("{g}(x, y)"), &["x".into(), "y".into(), constant.to_string(), format!("({})x", narrow.c)]);
    b.function(&f, format!("long {f}({}) {{\n  return {call};\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}
