//! Memory: stores and loads that meet, structures, unions, bit fields and casts.

use crate::builder::{Builder, parameter_list};
use crate::spot::{droppable, extra, spot};
use crate::types::{INTEGERS, Scalar, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(20) / 2 {
        9 if b.random.one_in(4) => volatile_cast(b),
        // Without debug information nothing says what is volatile.
        9 if b.setting.described => volatile(b),
        0..=2 => accesses(b),
        3 => copies(b),
        4 | 5 => casts(b),
        6 => fields(b),
        7 => globals(b),
        _ => records(b),
    }
}

fn long() -> Type {
    Type::Scalar(INTEGERS[2])
}

/// Loads and stores through two pointers into one array.
fn accesses(b: &mut Builder) {
    b.shape("accesses");
    let f = b.name("f");
    let of = b.integer();
    let c = of.c();
    let mut parameters = b.aliasing(&["p", "q"], &of, 4);
    let (x, i) = (b.by_value("x", &of), b.index("i", 4));
    parameters.extend([x, i]);
    let mut lines = Vec::new();
    let (mut value, mut names) = (0, vec!["x".to_string()]);
    for _ in 0..b.random.below(4) + 2 {
        let at = b.random.below(4);
        let places = [format!("p[{at}]"), format!("q[{at}]"), "p[i]".to_string(), "q[3 - i]".into()];
        let place = b.random.pick(&places).clone();
        let place = spot("*address", &place, &places);
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        if b.random.one_in(2) {
            let from = b.expression(&known, 1);
            lines.push(droppable(format!("{place} = {from};")));
        } else {
            lines.push(format!("{c} v{value} = {place};"));
            names.push(format!("v{value}"));
            value += 1;
        }
    }
    // Two neighbouring statements in the other order, where that compiles.
    let at = b.random.below(lines.len() - 1);
    let (first, second) = (lines[at].clone(), lines[at + 1].clone());
    let plain = |s: &str| crate::spot::render(s, crate::spot::Side::Original, None);
    let declares = plain(&first).split(' ').nth(1).filter(|w| w.starts_with('v')).map(str::to_string);
    if declares.is_none_or(|v| !plain(&second).contains(&v)) {
        lines[at] = spot("*exchanged statements", format!("{first} {second}"), &[format!("{second} {first}")]);
        lines.remove(at + 1);
    }
    let known: Vec<&str> = names.iter().map(String::as_str).collect();
    let result = b.expression(&known, 2);
    b.function(
        &f,
        format!("long {f}({}) {{\n  {}\n  return {result};\n}}", parameter_list(&parameters), lines.join("\n  ")),
    );
    b.call(&f, &parameters, Some(&long()));
}

/// Structures that are copied as a whole or member by member, perhaps onto themselves.
fn copies(b: &mut Builder) {
    b.shape("copies");
    let (f, record) = (b.name("f"), b.name("S"));
    let scalar = INTEGERS[2 * b.random.below(2)];
    b.shared(&format!("struct {record} {{ {0} a, b, c; }};", scalar.c));
    let array = b.aliasing(&["x", "y"], &Type::Scalar(scalar), 4);
    let register = if b.random.one_in(2) { "register " } else { "" };
    let c = scalar.c;
    let by_member = "p->a = q->a; p->b = q->b; p->c = q->c;";
    let through = format!("{c} t = q->a, u = q->b, v = q->c; p->a = t; p->b = u; p->c = v;");
    let backwards = "p->c = q->c; p->b = q->b; p->a = q->a;";
    let body = spot("*copy", by_member, &[through, backwards.into(), format!("struct {record} t = *q; *p = t;")]);
    let parameters = array;
    b.function(
        &f,
        format!("long {f}({}) {{\n  {register}struct {record} *p = (void *)x; {register}struct {record} *q = (void *)y;\n  {body}\n  return p->b + {};\n}}", parameter_list(&parameters), spot("operand", "q->a", &["p->a", "q->c"])),
    );
    b.call(&f, &parameters, Some(&long()));
}

/// Accesses through casts: other widths than the type that a variable was declared with.
fn casts(b: &mut Builder) {
    b.shape("casts");
    let (f, record) = (b.name("f"), b.name("S"));
    let outer = [INTEGERS[4], INTEGERS[7]][b.random.below(2)];
    b.shared(&format!("struct {record} {{ {} c; int i; char d; long l; }};", outer.c));
    let object = b.fresh("object");
    b.harness(format!("ARENA struct {record} {object}[2];"));
    let v = b.by_value("v", &long());
    let mut pointer = v.clone();
    pointer.declaration = format!("struct {record} *p, long v");
    pointer.name = "p, v".into();
    pointer.prepare = format!(
        "{} for (u64 k_ = 0; k_ < sizeof {object}; k_++) ((char *){object})[k_] = rnd(); struct {record} *p = {object};",
        v.prepare
    );
    pointer.look = format!("see_bytes({object}, sizeof {object});");
    let parameters = vec![pointer];
    let body = match b.random.below(6) {
        0 => spot(
            "*width",
            "*(long *)p = v;",
            &["p->c = v; p->i = v >> 32;", "*(int *)p = v;", "*(long *)p = v & ~0xff00l;"],
        ),
        1 => spot("*width", "*((int *)p + 2) = v;", &["p->d = v;", "*((short *)p + 4) = v;"]),
        2 => {
            spot("*width", "__builtin_memcpy(p, &v, 8);", &["p->c = v; p->i = v >> 32;", "__builtin_memcpy(p, &v, 7);"])
        }
        3 => spot("*width", "((char *)p)[1] = v;", &["", "((char *)p)[2] = v;"]),
        4 => spot("*width", "*(unsigned char *)&p->d = 2 + (v & 7);", &["*(_Bool *)&p->d = 2 + (v & 7);", "p->d = 2;"]),
        _ => spot(
            "*width",
            "*(long *)(p + 1) = *(long *)p;",
            &["p[1].c = p->c; p[1].i = p->i;", "*(int *)(p + 1) = *(int *)p;"],
        ),
    };
    let read = match b.random.below(4) {
        0 => spot("*width", "*(unsigned char *)p", &["!!*(unsigned char *)p", "*(char *)p"]),
        1 => spot("*width", "*(long *)p", &["p->c", "p->i"]),
        2 => spot("*width", "((unsigned char *)p)[3]", &["((unsigned char *)p)[4]", "0"]),
        _ => "0".into(),
    };
    b.function(&f, format!("long {f}({}) {{\n  {body}\n  return {read};\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&long()));
}

/// Bit fields.
fn fields(b: &mut Builder) {
    b.shape("bit fields");
    let (f, record) = (b.name("f"), b.name("B"));
    let (w0, w1, w2) = (b.random.below(12) + 1, b.random.below(20) + 1, b.random.below(30) + 1);
    let sign = ["unsigned", "int"][b.random.below(2)];
    let packed = if b.random.one_in(3) { " __attribute__((packed))" } else { "" };
    b.shared(&format!(
        "struct {record} {{ {sign} a : {w0}; unsigned b : {w1}; {sign} c : {w2}; unsigned char d; }}{packed};"
    ));
    let object = b.fresh("object");
    b.harness(format!("ARENA struct {record} {object};"));
    let v = b.by_value("v", &Type::Scalar(INTEGERS[0]));
    let mut pointer = v.clone();
    pointer.declaration = format!("struct {record} *p, int v");
    pointer.name = "p, v".into();
    pointer.prepare = format!(
        "{} for (u64 k_ = 0; k_ < sizeof {object}; k_++) ((char *)&{object})[k_] = rnd(); struct {record} *p = &{object};",
        v.prepare
    );
    pointer.look = format!("see_bytes(&{object}, sizeof {object});");
    let parameters = vec![pointer];
    let members = ["p->a", "p->b", "p->c", "p->d"];
    let (to, from) = (*b.random.pick(&members), *b.random.pick(&members));
    let n = b.constant();
    let body = format!(
        "{}\n  {}\n  return {} + {};",
        droppable(format!("{} = v + {n};", spot("*field", to, &members))),
        extra("added statement", &[format!("{from} += 1;")]),
        spot("*field", from, &members),
        spot("*field", "p->c", &members)
    );
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&long()));
}

/// Globals of another file and pointers that may point to them.
fn globals(b: &mut Builder) {
    b.shape("globals");
    let (f, g, ext) = (b.name("f"), b.name("g"), b.name("ext"));
    let of = b.integer();
    let c = of.c();
    b.top(format!("extern {c} {g}[2];\nint {ext}({c} *);"));
    b.harness(format!("ARENA {c} {g}[2]; ARENA {c} {g}_else[2];\nint {ext}({c} *p) {{ see_label(\"{ext}\"); see_number(p[0]); see_number({g}[0]); see_number({g}[1]); if (rnd() & 1) {g}[rnd() & 1] = ({c})any(); return (int)any(); }}"));
    let v = b.by_value("v", &of);
    let mut pointer = v.clone();
    pointer.declaration = format!("{c} *p, {c} v");
    pointer.name = "p, v".into();
    pointer.prepare =
        format!("{} {g}[0] = ({c})any(); {g}[1] = ({c})any(); {c} *p = rnd() & 1 ? {g} : {g}_else;", v.prepare);
    pointer.look = format!("see_bytes({g}, sizeof {g}); see_bytes({g}_else, sizeof {g}_else);");
    let parameters = vec![pointer];
    let n = b.random.below(60);
    let call = droppable(format!("{ext}({});", spot("*argument", "p", &["p + 1", "&v"])));
    let body = format!(
        "{c} t = {g}[{}];\n  {}\n  {call}\n  {}\n  return {} + t;",
        spot("index", 0, &[1]),
        droppable(format!("p[0] = {};", spot("constant", n, &[n + 1]))),
        droppable(format!("{g}[1] {} v;", spot("operator", "=", &["+=", "^="]))),
        spot("*believed content", format!("{g}[0]"), &["t".into(), n.to_string(), "p[0]".into()])
    );
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&long()));
}

/// Random structures: members are read, written and returned.
fn records(b: &mut Builder) {
    b.shape("records");
    let f = b.name("f");
    let of = loop {
        let of = b.any_type();
        if matches!(of, Type::Record(..)) {
            break of;
        }
    };
    let p = b.by_pointer("p", &of, 2);
    let x = b.by_value("x", &Type::Scalar(INTEGERS[0]));
    let parameters = vec![p, x];
    let leaves: Vec<(String, Scalar)> =
        of.leaves("p[0]").into_iter().chain(of.leaves("p[1]")).map(|l| (l.lvalue, l.scalar)).collect();
    let number = |(_, s): &&(String, Scalar)| matches!(s.kind, crate::types::Kind::Integer | crate::types::Kind::Truth);
    let numbers: Vec<&str> = leaves.iter().filter(number).map(|(l, _)| l.as_str()).collect();
    let changes = of.changes("p[1]");
    if numbers.is_empty() {
        b.function(
            &f,
            format!(
                "{} {f}({}) {{\n  {}\n  p[1] = p[0];\n  return p[1];\n}}",
                of.c(),
                parameter_list(&parameters),
                extra("*added statement", &changes)
            ),
        );
        return b.call(&f, &parameters, Some(&of));
    }
    let (to, from) = (*b.random.pick(&numbers), *b.random.pick(&numbers));
    let value = b.expression(&["x", from], 1);
    b.function(
        &f,
        format!(
            "{} {f}({}) {{\n  {}\n  p[1] = p[{}];\n  {}\n  if ({} & 1) p[0] = p[1];\n  return p[1];\n}}",
            of.c(),
            parameter_list(&parameters),
            droppable(format!("{} = {value};", spot("*field", to, &numbers))),
            spot("index", 0, &[1]),
            extra("*added statement", &changes),
            spot("*field", from, &numbers)
        ),
    );
    b.call(&f, &parameters, Some(&of));
}

/// Volatile accesses that only a cast makes.
fn volatile_cast(b: &mut Builder) {
    b.shape("volatile cast");
    let (f, g) = (b.name("f"), b.name("g"));
    let of = b.integer();
    let c = of.c();
    b.harness(format!("DEVICE {c} {g}[2];"));
    let x = b.by_value("x", &of);
    let mut pointer = x.clone();
    pointer.declaration = format!("{c} *p, {c} x");
    pointer.name = "p, x".into();
    pointer.prepare = format!("{} {c} *p = {g}; __builtin_memset({g}, 1, sizeof {g}); device_on();", x.prepare);
    pointer.look = "device_off();".into();
    let parameters = vec![pointer];
    let place = format!("*(volatile {c} *)p");
    let body = match b.random.below(3) {
        0 => format!(
            "return {};",
            spot("*volatile access", format!("{place} - {place}"), &["0".into(), format!("({place}, 0)")])
        ),
        1 => format!("{place} = x;\n  {}\n  return x;", spot("*volatile access", format!("{place} = x;"), &[""])),
        _ => format!(
            "{c} t = {place};\n  {c} u = {};\n  return t * 2 + u;",
            spot("*volatile access", &place, &["t".to_string(), "p[1]".into()])
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&long()));
}

/// Volatile objects: each access counts, and finds something else.
fn volatile(b: &mut Builder) {
    b.shape("volatile");
    let (f, g, record) = (b.name("f"), b.name("g"), b.name("Port"));
    let of = b.integer();
    let c = of.c();
    let (place, other) = match b.random.below(4) {
        0 => {
            b.top(format!("extern volatile {c} {g}[2];"));
            (format!("{g}[0]"), format!("{g}[1]"))
        }
        1 => {
            b.top(format!("extern volatile {c} {g}; extern volatile {c} {g}_next;"));
            (g.clone(), format!("{g}_next"))
        }
        2 => {
            b.shared(&format!("struct {record} {{ {c} n; volatile {c} a; volatile {c} b; }};"));
            b.top(format!("extern struct {record} {g};"));
            (format!("{g}.a"), format!("{g}.b"))
        }
        _ => ("p[0]".into(), "p[1]".into()),
    };
    b.harness(match place.as_str() {
        p if p == g => format!("DEVICE {c} {g}; DEVICE {c} {g}_next; DEVICE {c} {g}_pointed[2];"),
        p if p.ends_with(".a") => format!("DEVICE struct {record} {g}; DEVICE {c} {g}_pointed[2];"),
        _ => format!("DEVICE {c} {g}[2]; DEVICE {c} {g}_pointed[2];"),
    });
    let x = b.by_value("x", &of);
    let mut pointer = x.clone();
    pointer.declaration = format!("volatile {c} *p, {c} x");
    pointer.name = "p, x".into();
    pointer.prepare = format!(
        "{} volatile {c} *p = {g}_pointed; __builtin_memset(&{g}, 1, sizeof {g}); __builtin_memset({g}_pointed, 2, sizeof {g}_pointed); device_on();",
        x.prepare
    );
    pointer.look = "device_off();".into();
    let parameters = vec![pointer];
    let body = match b.random.below(5) {
        0 => format!(
            "return {};",
            spot("*volatile access", format!("{place} - {place}"), &["0".into(), format!("({place}, 0)")])
        ),
        1 => format!(
            "{}\n  return {};",
            droppable(format!("{place};")),
            spot("*volatile access", format!("{place} + x"), &["x".into(), format!("{other} + x")])
        ),
        2 => format!(
            "{place} = x;\n  {}\n  return x;",
            spot(
                "*volatile access",
                format!("{place} = x;"),
                &[String::new(), format!("{other} = x;"), format!("{place} = x + 1;")]
            )
        ),
        3 => format!(
            "{c} t = {place};\n  {c} u = {};\n  return t * 2 + u;",
            spot("*volatile access", &place, &["t".into(), other.clone()])
        ),
        _ => format!(
            "{}\n  while ({place} & 1) x++;\n  return x;",
            spot(
                "*volatile access",
                format!("{place} = 1; {other} = 2;"),
                &[format!("{other} = 2; {place} = 1;"), format!("{place} = 1;")]
            )
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&long()));
}
