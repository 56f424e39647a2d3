//! Addresses: which object an address is in when constants, signs and factors hide it.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::{droppable, spot};
use crate::types::{INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(10) {
        0..=3 => neighbours(b),
        4 => literals(b),
        5 => ends(b),
        6 | 7 => factors(b),
        8 => rows(b),
        _ => tagged(b),
    }
}

fn int() -> Type {
    Type::Scalar(INTEGERS[0])
}

/// An index that runs from `shift`, so that `name - shift` is inside an array of `count`.
fn shifted(b: &mut Builder, name: &str, count: usize, shift: i64) -> Parameter {
    let c = ["int", "long", "long", "unsigned long", "short"][b.random.below(5)];
    Parameter {
        name: name.into(),
        declaration: format!("{c} {name}"),
        prepare: format!("{c} {name} = rnd() % {count} + {shift};"),
        look: String::new(),
    }
}

/// Two arrays side by side; an index that begins elsewhere.
fn neighbours(b: &mut Builder) {
    b.shape("neighbours");
    let f = b.name("f");
    let of = b.integer();
    let c = of.c();
    let count = b.random.below(6) + 2;
    let shift = [1, 1, -1, 2, count as i64, -(count as i64), 100, 5][b.random.below(8)];
    let i = shifted(b, "i", count, shift);
    let v = b.by_value("v", &of);
    let (h, rare) = b.rare("h");
    let guarded = b.random.one_in(2);
    let parameters = vec![i, v, h];
    let at = if shift >= 0 { format!("i - {shift}") } else { format!("i + {}", -shift) };
    let values: Vec<i64> = (0..2 * count).map(|_| b.random.below(60) as i64 + 1).collect();
    let (a, e) = (b.name("a"), b.name("e"));
    let (declared, in_function) = match b.random.below(6) {
        0 => (format!("static {c} {a}[{count}], {e}[{count}];"), String::new()),
        1 => (format!("{c} {a}[{count}]; {c} {e}[{count}];"), String::new()),
        2 => (String::new(), format!("struct {{ {c} a[{count}], e[{count}]; }} s;")),
        _ => (String::new(), format!("{c} {a}[{count}], {e}[{count}];")),
    };
    let (a, e) = if in_function.starts_with("struct") { ("s.a".to_string(), "s.e".to_string()) } else { (a, e) };
    if !declared.is_empty() {
        b.top(declared);
    }
    let mut fill = String::new();
    for k in 0..count {
        fill.push_str(&format!(
            "{a}[{k}] = {}; {e}[{k}] = {}; ",
            spot("constant", values[k], &[values[k] + 1]),
            spot("constant", values[count + k], &[values[count + k] + 1])
        ));
    }
    let read = b.random.below(count);
    let condition = if guarded { format!("if ({rare}) ") } else { String::new() };
    let target = if b.random.one_in(3) { &a } else { &e };
    let body = match b.random.below(4) {
        0 | 1 => format!(
            "{}\n  return {}[{}] + {}[v & 1];",
            droppable(format!("{condition}{target}[{at}] = v;")),
            e,
            read,
            spot("operand", &a, &[&e])
        )
        .replace(
            &format!("return {e}[{read}]"),
            &format!(
                "return {}",
                spot("*believed content", format!("{e}[{read}]"), &[values[count + read].to_string(), "v".into()])
            ),
        ),
        2 => format!(
            "if ({rare}) return {a}[v & 1];\n  return {};",
            spot(
                "*address",
                format!("{target}[{at}]"),
                &[format!("{e}[{read}]"), format!("{a}[{at}]"), format!("{e}[{}]", at.replace("i", "i + 0 * v"))]
            )
        ),
        _ => format!(
            "{c} *p = {target} {};\n  {}\n  return {};",
            if shift >= 0 { format!("- {shift}") } else { format!("+ {}", -shift) },
            droppable(format!("{condition}p[i] = v;")),
            spot(
                "*believed content",
                format!("{a}[{read}] - {e}[{read}]"),
                &[
                    format!("{} - {}", values[read], values[count + read]),
                    format!("{a}[{read}] - {}", values[count + read])
                ]
            )
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {in_function}\n  {fill}\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Objects without names.
fn literals(b: &mut Builder) {
    b.shape("compound literal");
    let f = b.name("f");
    let i = b.index("i", 4);
    let v = b.by_value("v", &int());
    let parameters = vec![i, v];
    let n: Vec<i64> = (0..4).map(|_| b.random.below(50) as i64).collect();
    let last = spot("*element", n[3], &[n[3] + 1]);
    let first = b.random.below(9);
    let body = match b.random.below(3) {
        0 => format!(
            "int a[4]; a[0] = v; a[1] = 2; a[2] = 3; a[3] = {first};\n  if (v == 77) return a[i];\n  return ((int[4]){{{}, {}, {}, {last} + v}})[i];",
            n[0], n[1], n[2]
        ),
        1 => format!(
            "int *p = (int[]){{v, {}, {last}, {}}};\n  p[i] {} 5;\n  return {};",
            n[0],
            n[1],
            spot("operator", "=", &["+="]),
            spot("*believed content", "p[0]", &["v", "5", "p[2]"])
        ),
        _ => format!(
            "int a[4] = {{ v, {}, {last} }};\n  int *p = i & 1 ? a : (int[4]){{ {}, v, {} }};\n  return {};",
            n[0],
            n[1],
            n[2],
            spot("*address", "p[i]", &["a[i]", "p[i & 1]"])
        ),
    };
    b.function(&f, format!("int {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&int()));
}

/// The end of one object is not the start of the next.
fn ends(b: &mut Builder) {
    b.shape("ends");
    let (f, s, g, x, y) = (b.name("f"), b.name("s"), b.name("g"), b.name("x"), b.name("y"));
    let size = [4, 7, 8, 12, 16, 32][b.random.below(6)];
    let of = ["char", "int"][b.random.below(2)];
    b.top(format!("static {of} {x}[{size}]; static int {y}[3];\nvoid {g}(void *);"));
    b.harness(format!(
        "static int {g}_near; void {g}(void *p) {{ see_label(\"{g}\"); if ({g}_near) see_number(*(({of} *)p - 1)); }}"
    ));
    b.function(
        &s,
        format!(
            "void {s}(int v) {{\n  {x}[{}] = v; {y}[2] = v + 1; {y}[0] = 5; {g}({x} + 1); {g}({y} + 1);\n}}",
            size - 1
        ),
    );
    b.function(
        &f,
        format!(
            "void {f}(void) {{\n  {g}({});\n}}",
            spot(
                "*address",
                format!("{x} + {size}"),
                &[y.clone(), format!("{x} + {}", size - 1), format!("(char *){y} + 4")]
            )
        ),
    );
    b.harness(format!("void {s}(int);"));
    b.run(format!("{g}_near = 0; {s}((int)any()); {g}_near = 1;"));
    b.call(&f, &[], None);
}

/// Factors, signs and wrapped sums in addresses.
fn factors(b: &mut Builder) {
    b.shape("factors");
    let f = b.name("f");
    let of = b.integer();
    let c = of.c();
    let mut parameters = b.aliasing(&["p", "q"], &of, 8);
    let (h, rare) = b.rare("h");
    parameters.push(h);
    let size = of.scalar().map_or(4, |s| s.size);
    // What is added is 0 or a small multiple, however it is written.
    let (index, at) = match b.random.below(8) {
        0 => (
            "unsigned long k = rnd() % 4 * 2;".to_string(),
            format!("p[(k << 63) / {size}]").replace(&format!(" / {size}"), if size == 1 { "" } else { " << 3" }),
        ),
        1 => ("unsigned long k = rnd() % 8;".into(), "p[k & 3]".into()),
        2 => ("long k = -(long)(rnd() % 8);".into(), "p[-k]".into()),
        3 => ("unsigned k = rnd() % 8 + 4294967290u;".into(), "p[k - 4294967290u]".into()),
        4 => (
            "long k = rnd() % 8 + 0x4000000000000000;".into(),
            format!("*({c} *)((char *)p + (k - 0x4000000000000000) * {size})"),
        ),
        5 => ("long k = rnd() % 4;".into(), "p[k * 2 + 1]".into()),
        6 => ("signed char k = rnd() % 8 - 4;".into(), "p[(unsigned char)(k + 4)]".into()),
        _ => ("int k = rnd() % 8;".into(), "(&p[4])[k - 4]".into()),
    };
    let declared = index.split(" = ").next().unwrap_or("long k").to_string();
    parameters.push(Parameter { name: "k".into(), declaration: declared, prepare: index, look: String::new() });
    let n = b.random.below(50);
    let moved = format!("{{ long t = {at}; *q = {n}; s += t; }}");
    let stored = format!("{{ *q = {n}; s += {at}; }}");
    let guard = if b.random.one_in(2) { rare } else { "q != p".into() };
    let body = spot(
        "*moved access",
        &stored,
        &[moved, format!("{{ s += {at}; *q = {n}; }}"), format!("{{ *q = {n} + 1; s += {at}; }}")],
    );
    b.function(
        &f,
        format!("long {f}({}) {{\n  long s = 0;\n  if ({guard}) {body}\n  return s;\n}}", parameter_list(&parameters)),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Arrays of arrays and pointers into them.
fn rows(b: &mut Builder) {
    b.shape("rows");
    let (f, t) = (b.name("f"), b.name("t"));
    let of = b.integer();
    let c = of.c();
    let (i, j) = (b.index("i", 3), b.index("j", 4));
    let v = b.by_value("v", &of);
    let parameters = vec![i, j, v];
    let local = b.random.one_in(2);
    if !local {
        b.top(format!("static {c} {t}[3][4];"));
    }
    let declared = if local { format!("{c} {t}[3][4]; __builtin_memset({t}, 1, sizeof {t});") } else { String::new() };
    let n = b.random.below(50);
    let body = match b.random.below(3) {
        0 => format!(
            "{t}[1][2] = {n};\n  {t}[{}][j] = v;\n  return {};",
            spot("index", "i", &["1", "2 - i"]),
            spot("*believed content", format!("{t}[1][2]"), &[n.to_string(), "v".into()])
        ),
        1 => format!(
            "{c} (*p)[4] = {t} + 1;\n  p[(long)i - 1][3 - j] = v;\n  {t}[1][0] ^= {n};\n  return {};",
            spot(
                "*address",
                format!("{t}[i][j]"),
                &["p[(long)i - 1][3 - j]".to_string(), "v".into(), format!("{t}[1][j]")]
            )
        ),
        _ => format!(
            "{c} *p = &{t}[2][0];\n  p[(long)j - 4] = {n};\n  return {} + {t}[i][0];",
            spot(
                "*believed content",
                format!("{t}[1][j]"),
                &[format!("{t}[2][j]"), format!("{n} + 1"), format!("{t}[1][3]")]
            )
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {declared}\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Pointers with marks in their low bits, rounded, compared and subtracted.
fn tagged(b: &mut Builder) {
    b.shape("tagged pointers");
    let f = b.name("f");
    let of = Type::Scalar(INTEGERS[2]);
    let mut parameters = b.aliasing(&["p", "q"], &of, 4);
    let mark = b.index("m", 4);
    parameters.push(mark);
    let body = match b.random.below(5) {
        0 => format!(
            "unsigned long w = (unsigned long)p | m;\n  *q = 5;\n  return *(long *)(w & {}) + (w & 3);",
            spot("*mask", "~3ul", &["~7ul", "~15ul", "-32l"])
        ),
        1 => format!("char *w = (char *)p + m;\n  *(w - m + {}) = 1;\n  return *p;", spot("*displacement", 3, &[2, 4])),
        2 => format!("return p {} q ? p[m] : q[m];", spot("comparison", "<", &["<=", ">", "=="])),
        3 => format!(
            "long d = q - p;\n  p[{}] = 7;\n  return q[m] + d;",
            spot("*displacement", "m", &["m + d", "0", "3 - m"])
        ),
        _ => format!(
            "long *r = m & 1 ? p : q;\n  long t = *p;\n  r[m] {} 9;\n  return {};",
            spot("operator", "=", &["+="]),
            spot("*believed content", "*p", &["t", "9"])
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&of));
}
