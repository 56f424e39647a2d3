//! Objects and functions of a file: linkage, sections, aliases, initial values, and who else reaches them.

use crate::builder::{Builder, Files, parameter_list};
use crate::spot::{droppable, spot};
use crate::types::{INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(12) {
        0..=4 => reached(b),
        5..=7 => identity(b),
        8 => replaceable(b),
        9 => indirect(b),
        10 => aligned(b),
        _ => two_names(b),
    }
}

fn int() -> Type {
    Type::Scalar(INTEGERS[0])
}

/// An object, and how others get at it: the harness's expression for its address.
fn object(b: &mut Builder, of: &str, start: &str) -> (String, String) {
    let cnt = b.name("cnt");
    let (get, out, set, alias) = (b.name("get"), b.name("out"), b.name("set"), b.name("alias"));
    // Optimisers do not believe that assembly or the linker's symbols lead to a static, and gcc does not believe it of an alias.
    let way = match b.random.below(17) {
        1 | 2 | 3 | 7 | 8 | 15 | 16 if !b.setting.plain => 4,
        // Neither is allowed in code that may lie anywhere.
        8 | 15 if b.setting.files == Files::Libraries => 4,
        way => way,
    };
    let address = match way {
        0 => {
            b.top(format!("{of} {cnt} = {start};"));
            b.harness(format!("extern {of} {cnt};"));
            format!("&{cnt}")
        }
        1 | 2 => {
            b.top(format!("static {of} {cnt} __attribute__((section(\"{set}\"), used)) = {start};"));
            b.harness(format!("extern {of} __start_{set}[];"));
            format!("__start_{set}")
        }
        3 => {
            // Without the attribute gcc believes that nobody else writes it.
            b.top(format!(
                "static {of} {cnt} __attribute__((used)) = {start};\nextern {of} {alias} __attribute__((alias(\"{cnt}\")));"
            ));
            b.harness(format!("extern {of} {alias};"));
            format!("&{alias}")
        }
        4 => {
            b.top(format!("static {of} {cnt} = {start};"));
            b.function(&get, format!("{of} *{get}(void) {{\n  return &{cnt};\n}}"));
            b.harness(format!("{of} *{get}(void);"));
            format!("{get}()")
        }
        5 => {
            b.top(format!("static {of} {cnt} = {start};\n{of} *const {out}[] = {{ 0, &{cnt} }};"));
            b.harness(format!("extern {of} *const {out}[];"));
            format!("{out}[1]")
        }
        6 => {
            b.top(format!("static {of} {cnt} = {start};\nextern {of} *{out};"));
            b.function(&get, format!("__attribute__((constructor)) static void {get}(void) {{\n  {out} = &{cnt};\n}}"));
            b.harness(format!("{of} *{out};"));
            out
        }
        7 => {
            b.top(format!(
                "static {of} {cnt} __attribute__((used)) = {start};\n__asm__(\".globl {alias}\\n.set {alias}, {cnt}\");"
            ));
            b.harness(format!("extern {of} {alias};"));
            format!("&{alias}")
        }
        8 => {
            b.top(format!("static {of} {cnt} __attribute__((used)) = {start};"));
            b.function(
                &get,
                format!(
                    "{of} *{get}(void) {{\n  {of} *p; __asm__ volatile(\"movq ${cnt}, %0\" : \"=r\"(p)); return p;\n}}"
                ),
            );
            b.harness(format!("{of} *{get}(void);"));
            format!("{get}()")
        }
        9 => {
            b.top(format!("__attribute__((weak)) {of} {cnt} = {start};"));
            b.harness(format!("extern {of} {cnt};"));
            format!("&{cnt}")
        }
        10 => {
            b.top(format!(
                "static struct {{ {of} a; {of} b; }} {cnt}_both = {{ 1, {start} }};\n#define {cnt} {cnt}_both.b"
            ));
            b.function(&get, format!("{of} *{get}(void) {{\n  {of} *p = (void *)&{cnt}_both; return p + 1;\n}}"));
            b.harness(format!("{of} *{get}(void);"));
            format!("{get}()")
        }
        11 => {
            b.top(format!("static {of} {cnt} = {start};\nvoid {out}({of} *);"));
            b.function(&get, format!("__attribute__((constructor)) void {get}(void) {{\n  {out}(&{cnt});\n}}"));
            b.harness(format!("static {of} *{out}_kept; void {out}({of} *p) {{ {out}_kept = p; }}"));
            format!("{out}_kept")
        }
        13 => {
            let packed = format!("const struct __attribute__((packed)) {{ char c; {of} *p; }} {out}");
            b.top(format!("static {of} {cnt} = {start};\n{packed} = {{ 1, &{cnt} }};"));
            b.harness(format!("extern {packed};"));
            format!("{out}.p")
        }
        14 => {
            b.top(format!("static {of} {cnt} __attribute__((section(\".data.rel.ro.local.{cnt}\"))) = {start};"));
            b.function(&get, format!("{of} *{get}(void) {{\n  return &{cnt};\n}}"));
            b.harness(format!("{of} *{get}(void);"));
            format!("{get}()")
        }
        15 | 16 => {
            // The address in half a word, or how far it is.
            let (word, address) = match way {
                15 => (cnt.clone(), format!("({of} *)(u64)(unsigned){out}")),
                _ => (format!("{cnt} - {out}"), format!("({of} *)((char *)&{out} + {out})")),
            };
            b.top(format!(
                "static {of} {cnt} __attribute__((used)) = {start};\n__asm__(\".data\\n.balign 4\\n.globl {out}\\n{out}: .long {word}\\n.text\");"
            ));
            b.harness(format!("extern int {out};"));
            address
        }
        _ => {
            b.top(format!("static {of} {cnt} = {start};"));
            b.harness(format!("ARENA {of} {out}_elsewhere;"));
            format!("&{out}_elsewhere")
        }
    };
    (cnt, address)
}

/// A store through a pointer between a store to an object and its use.
fn reached(b: &mut Builder) {
    b.shape("reached from elsewhere");
    let f = b.name("f");
    let of = b.integer();
    let c = of.c();
    let start = b.random.below(3) as i64;
    let (cnt, address) = object(b, &c, &start.to_string());
    let (first, second) = (b.random.below(9) as i64 + 10, b.random.below(9) as i64 + 30);
    let other = b.name("elsewhere");
    b.harness(format!("ARENA {c} {other};"));
    let mut pointer = b.by_value("v", &of);
    pointer.declaration = format!("{c} *p, {c} v");
    pointer.name = "p, v".into();
    pointer.prepare = format!("{c} *p = rnd() & 1 ? {address} : &{other}; {}", pointer.prepare);
    let parameters = vec![pointer];
    let declared = parameter_list(&parameters);
    let body = match b.random.below(5) {
        0 => format!(
            "{cnt} = {first};\n  {}\n  return {};",
            droppable(format!("*p = {second};")),
            spot("*believed content", &cnt, &[first.to_string(), second.to_string()])
        ),
        1 => format!("{c} t = {cnt};\n  *p = v;\n  return {} + t;", spot("*believed content", &cnt, &["t", "v"])),
        2 => {
            // Constants are all that the file stores.
            let set = b.name("store");
            b.function(
                &set,
                format!("void {set}({c} *p, {c} v) {{\n  {cnt} = v ? {first} : {second}; *p = *p + v;\n}}"),
            );
            b.harness(format!("void {set}({c} *, {c});"));
            b.run(format!("if (rnd() & 1) {set}({address}, any() & 3);"));
            let three = format!("{cnt} == {first} ? 1 : {cnt} == {second} ? 2 : {cnt} == {start} ? 3 : 4");
            let two = format!("{cnt} == {first} ? 1 : {cnt} == {second} ? 2 : 3");
            format!("return {};", spot("*believed content", three, &[two]))
        }
        3 => format!("return {} + v;", spot("*believed content", &cnt, &[start.to_string()])),
        _ => format!(
            "int n = 0;\n  {cnt} = {first};\n  for (int k = 0; k < 3; k++) {{ *p += v; n += {}; }}\n  return n;",
            spot("*believed content", &cnt, &[first.to_string()])
        ),
    };
    b.run(format!("if ((rnd() & 3) == 0) *({address}) = ({c})any();"));
    b.function(&f, format!("long {f}({declared}) {{\n  {body}\n}}"));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
    b.run(format!("see_number(*({address})); see_number({other});"));
}

/// Another object of the same name.
fn identity(b: &mut Builder) {
    b.shape("another object");
    let (f, x) = (b.name("f"), b.name("x"));
    let of = b.integer();
    let c = of.c();
    let n = b.random.below(50) as i64 + 1;
    let decorate = ["", "__attribute__((aligned(16))) ", "__attribute__((section(\".mine\"))) "][b.random.below(3)];
    let list =
        |count: usize, start: i64| (0..count).map(|k| (start + k as i64).to_string()).collect::<Vec<_>>().join(", ");
    // The harness has an object of this name too, which counts where the program does not define it for others.
    let mut array = 1;
    let declared = match b.random.below(7) {
        0 | 1 => spot(
            "*linkage",
            format!("static {decorate}{c} {x} = {n};"),
            &[
                format!("extern {c} {x};"),
                format!("{c} {x} = {n};"),
                format!("static {c} {x} = {};", n + 1),
                format!("static {c} {x};"),
            ],
        ),
        2 => spot(
            "*linkage",
            format!("{decorate}{c} {x} = {n};"),
            &[format!("static {c} {x} = {n};"), format!("{c} {x} = {};", n + 1)],
        ),
        3 => spot(
            "*linkage",
            format!("extern {c} {x};"),
            &[format!("static {c} {x};"), format!("static {c} {x} = 100;")],
        ),
        4 => spot(
            "*linkage",
            format!("static __thread {c} {x} = {n};"),
            &[
                format!("static __thread {c} {x} = {};", n + 1),
                format!("static {c} {x} = {};", n + 1),
                format!("static __thread {c} {x};"),
            ],
        ),
        5 => {
            array = 8;
            spot(
                "*content",
                format!("static {c} {x}[8] = {{{}}};", list(8, n)),
                &[
                    format!("static {c} {x}[8] = {{{}}};", list(7, n)),
                    format!("static {c} {x}[8] = {{{}}};", list(8, n + 1)),
                    format!("static {c} {x}[8];"),
                ],
            )
        }
        _ => {
            array = 8;
            // Smaller: what lies behind belongs to another object.
            let behind = b.name("behind");
            spot(
                "*size",
                format!("static {c} {x}[8] = {{{0}}}; {c} {behind}[8] = {{{0}}};", list(8, n)),
                &[
                    format!("static {c} {x}[4] = {{{}}}; {c} {behind}[8] = {{{}}};", list(4, n), list(8, n)),
                    format!("static {c} {x}[7] = {{{}}}; {c} {behind}[8] = {{{}}};", list(7, n), list(8, n)),
                ],
            )
        }
    };
    b.top(declared);
    if array == 1 {
        b.harness(format!("__attribute__((weak)) {c} {x} = 100;"));
        b.run(format!("if (rnd() & 1) {x} = ({c})any();"));
    }
    let place = if array == 1 { x.clone() } else { format!("{x}[i & 7]") };
    let i = b.by_value("i", &int());
    let parameters = vec![i];
    let body = match b.random.below(4) {
        0 => format!("return {place}++;"),
        1 => format!("{c} t = {place};\n  {place} = t + i;\n  return t;"),
        2 => format!("return {place} + {};", spot("constant", 1, &[2])),
        _ => format!("if (i & 1) {place} {} i;\n  return {place};", spot("operator", "+=", &["-=", "="])),
    };
    b.function(&f, format!("long {f}(int i) {{\n  {body}\n}}"));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
    if array == 1 {
        b.run(format!("see_number({x});"));
    }
}

/// A function that another file may define again.
fn replaceable(b: &mut Builder) {
    b.shape("replaceable function");
    let (f, w, implementation) = (b.name("f"), b.name("w"), b.name("impl"));
    let of = b.integer();
    let c = of.c();
    let n = b.random.below(50) as i64;
    let value = [n.to_string(), "x".into(), format!("x + {n}")][b.random.below(3)].clone();
    if b.random.one_in(2) {
        b.function(&implementation, format!("{c} {implementation}({c} x) {{\n  return {value};\n}}"));
        b.top(format!("{c} {w}({c}) __attribute__((weak, alias(\"{implementation}\")));"));
    } else {
        b.function(&w, format!("__attribute__((weak)) {c} {w}({c} x) {{\n  return {value};\n}}"));
    }
    if b.random.one_in(2) {
        b.callee(&w, std::slice::from_ref(&of), Some(&of));
    }
    let x = b.by_value("x", &of);
    let parameters = vec![x];
    let call = spot(
        "*believed result",
        format!("{w}({})", spot("*argument", "x", &["x + 1"])),
        &[value.clone(), format!("({w}(x), {value})"), format!("{w}({value})")],
    );
    b.function(&f, format!("{c} {f}({c} x) {{\n  return {call} + {};\n}}", spot("constant", 3, &[4])));
    b.call(&f, &parameters, Some(&of));
}

/// A function that is chosen when the program starts.
fn indirect(b: &mut Builder) {
    if !b.setting.gcc {
        return replaceable(b);
    }
    b.shape("ifunc");
    let (f, w, first, second, choose) = (b.name("f"), b.name("w"), b.name("first"), b.name("second"), b.name("choose"));
    let step = b.expression(&["x"], 2);
    b.function(&first, format!("static int {first}(int x) {{\n  return {step};\n}}"));
    b.function(&second, format!("static int {second}(int x) {{\n  return x - {};\n}}", spot("constant", 1, &[2])));
    b.function(
        &choose,
        format!("static void *{choose}(void) {{\n  return {};\n}}", spot("*chosen function", &first, &[&second])),
    );
    b.top(format!("int {w}(int) __attribute__((ifunc(\"{choose}\")));"));
    let x = b.by_value("x", &int());
    let parameters = vec![x];
    let call = spot(
        "*argument",
        format!("{w}(x)"),
        &[format!("{w}(x + 1)"), format!("{w}(0)"), format!("{second}(x)"), "x".into()],
    );
    b.function(&f, format!("int {f}(int x) {{\n  return {call};\n}}"));
    b.call(&f, &parameters, Some(&int()));
}

/// An object that is used as if it were aligned.
fn aligned(b: &mut Builder) {
    b.shape("alignment");
    let (f, t, v4) = (b.name("f"), b.name("t"), b.name("v4"));
    b.shared(&format!("typedef float {v4} __attribute__((vector_size(16)));"));
    let section = b.name(".place");
    let declared = spot(
        "*alignment",
        format!(
            "char {t}_pad __attribute__((section(\"{section}\"))) = 1; float {t}[8] __attribute__((section(\"{section}\"), aligned(16))) = {{1, 2, 3, 4, 5, 6, 7, 8}};"
        ),
        &[
            format!(
                "char {t}_pad __attribute__((section(\"{section}\"))) = 1; float {t}[8] __attribute__((section(\"{section}\"), aligned(1))) = {{1, 2, 3, 4, 5, 6, 7, 8}};"
            ),
            format!(
                "float {t}[8] __attribute__((section(\"{section}\"), aligned(16))) = {{1, 2, 3, 4, 5, 6, 7, 9}}; char {t}_pad = 1;"
            ),
        ],
    );
    b.top(declared);
    let i = b.by_value("i", &int());
    let parameters = vec![i];
    let at = b.random.below(2);
    b.function(
        &f,
        format!("float {f}(int i) {{\n  {v4} r; __asm__(\"movaps %1, %0\" : \"=x\"(r) : \"m\"(*({v4} *)({t} + {}))); {v4} s = *({v4} *){t};\n  return r[{}] + s[1] + i;\n}}", 4 * at, spot("index", 3, &[2])),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(crate::types::FLOATS[0])));
}

/// Two names for one object, or for two.
fn two_names(b: &mut Builder) {
    b.shape("two names");
    let (f, x, y) = (b.name("f"), b.name("x"), b.name("y"));
    let of = b.integer();
    let c = of.c();
    let n = b.random.below(9) as i64;
    let declared = match b.random.below(4) {
        0 => spot(
            "*alias",
            format!("{c} {x} = {n}; extern {c} {y} __attribute__((alias(\"{x}\")));"),
            &[format!("{c} {x} = {n}; {c} {y} = {n};")],
        ),
        1 => spot(
            "*alias",
            format!("static {c} {x} = {n}; static {c} {y} __attribute__((alias(\"{x}\")));"),
            &[format!("static {c} {x} = {n}; static {c} {y} = {n};")],
        ),
        2 => spot(
            "*alias",
            format!("{c} {x} = {n}; extern {c} {y} __attribute__((weak, alias(\"{x}\")));"),
            &[format!("{c} {x} = {n}; {c} {y} = {n};")],
        ),
        _ if b.setting.common => spot(
            "*linkage",
            format!("{c} {x}; {c} {y};"),
            &[format!("{c} {x} = 1; {c} {y};"), format!("{c} {x} = 0; static {c} {y};")],
        ),
        _ => spot(
            "*linkage",
            format!("{c} {x} = {n}; static {c} {y} = {n};"),
            &[format!("{c} {x} = {n}; {c} {y} = {n};"), format!("{c} {x} = {n}; extern {c} {y};")],
        ),
    };
    b.top(declared);
    b.harness(format!("__attribute__((weak)) {c} {y} = 50; extern {c} {x} __attribute__((weak));"));
    b.run(format!("if (rnd() & 1) {y} = ({c})any();"));
    let v = b.by_value("v", &of);
    let parameters = vec![v];
    b.function(
        &f,
        format!(
            "long {f}({c} v) {{\n  {x} = v;\n  {}\n  return {} + {y};\n}}",
            droppable(format!("{y} = {n};")),
            spot("*believed content", &x, &["v", &n.to_string()])
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
    b.run(format!("see_number({y}); if (&{x}) see_number({x});"));
}
