//! Loops: bounds, steps, exits, and what they carry from one iteration to the next.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::{droppable, spot};
use crate::types::{INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(7) {
        0 | 1 => sums(b),
        2 => stores(b),
        3 => searches(b),
        4 => numbers(b),
        5 => calls(b),
        _ => nested(b),
    }
}

fn count(b: &mut Builder, most: usize) -> Parameter {
    let c = ["int", "long", "unsigned", "unsigned long"][b.random.below(4)];
    Parameter {
        name: "n".into(),
        declaration: format!("{c} n"),
        prepare: format!("{c} n = rnd() % {};", most + 1),
        look: String::new(),
    }
}

/// The head of a loop over `0..n`.
fn head(b: &mut Builder) -> String {
    let start = spot("*start", 0, &[1]);
    let bound = spot("*bound", "k < n", &["k <= n - 1 && k + 1 < n", "k + 1 < n", "k < n && k < 11"]);
    match b.random.below(3) {
        0 => format!("for (unsigned long k = {start}; {bound}; k++)"),
        1 => format!(
            "for (long k = {start}; {}; k += {})",
            spot("*bound", "k < (long)n", &["k < (long)n - 1"]),
            spot("*step", 1, &[2])
        ),
        _ => format!(
            "for (int k = {start}; {}; ++k)",
            spot("*bound", "k < (int)n", &["k != (int)n && k < 10", "k + 1 < (int)n"])
        ),
    }
}

/// Values gathered from an array.
fn sums(b: &mut Builder) {
    b.shape("sums");
    let f = b.name("f");
    let of = b.integer();
    let p = b.by_pointer("p", &of, 12);
    let n = count(b, 12);
    let x = b.by_value("x", &Type::Scalar(INTEGERS[0]));
    let parameters = vec![p, n, x];
    let head = head(b);
    let start = b.constant();
    let body = match b.random.below(4) {
        0 => format!("s {} p[k];", spot("*operator", "+=", &["-=", "^="])),
        1 => format!("if (p[k] {} x) s++;", spot("*comparison", "<", &["<=", ">", "=="])),
        2 => format!("s = s * {} + p[k];", spot("*constant", 31, &[33, 30])),
        _ => format!("{{ {} }}", droppable(format!("s += {};", b.expression(&["p[k]", "x", "(int)k"], 2)))),
    };
    b.function(
        &f,
        format!(
            "long {f}({}) {{\n  long s = {start};\n  {head}\n    {body}\n  return s;\n}}",
            parameter_list(&parameters)
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Arrays that are filled or copied, perhaps onto themselves.
fn stores(b: &mut Builder) {
    b.shape("stores");
    let f = b.name("f");
    let of = b.integer();
    let mut parameters = b.aliasing(&["p", "q"], &of, 12);
    let (n, x) = (count(b, 11), b.by_value("x", &of));
    parameters.extend([n, x]);
    let head = head(b);
    let body = match b.random.below(5) {
        0 => format!("p[k] = {};", spot("*stored value", "x", &["0", "x + 1"])),
        1 => format!("p[k] = q[{}];", spot("*index", "k", &["0", "k + 1"])),
        2 => format!("p[k] {} q[k] + x;", spot("*operator", "=", &["+=", "^="])),
        3 => format!("p[{}] = p[k] + 1;", spot("*index", "k + 1", &["k"])),
        _ => format!("{{ p[k] = q[k]; {} }}", droppable("if (p[k] == x) break;")),
    };
    let behind = droppable(format!("p[0] {} 1;", spot("operator", "+=", &["-="])));
    b.function(&f, format!("void {f}({}) {{\n  {head}\n    {body}\n  {behind}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, None);
}

/// Loops that end when something is found.
fn searches(b: &mut Builder) {
    b.shape("searches");
    let f = b.name("f");
    let (s, x) = (b.text("s"), b.by_value("x", &Type::Scalar(INTEGERS[0])));
    let parameters = vec![s, x];
    let letter = spot("*constant", "'b'", &["'a'", "'c'"]);
    let body = match b.random.below(4) {
        0 => format!("char *t = s;\n  while (*t{}) t++;\n  return t - s;", spot("*condition", "", &[" && *t != 'c'"])),
        1 => format!(
            "for (int k = 0; s[k]; k++) if (s[k] == {letter}) return {};\n  return -1;",
            spot("*result", "k", &["k + 1", "x"])
        ),
        2 => format!(
            "long n = 0;\n  do {{ n += *s {} {letter}; }} while (*{});\n  return n;",
            spot("comparison", "==", &["!=", "<"]),
            spot("*step", "++s", &["s++"])
        ),
        _ => format!(
            "long v = 0;\n  for (; *s {} 'a' && *s <= {}; s++) v = v * 3 + (*s - 'a');\n  return {};",
            spot("comparison", ">=", &[">"]),
            spot("*constant", "'c'", &["'b'"]),
            spot("*result", "v", &["v + x * 0 + 1", "-v"])
        ),
    };
    b.function(&f, format!("long {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Loops over numbers alone: closed forms, bits, division.
fn numbers(b: &mut Builder) {
    b.shape("numbers");
    let f = b.name("f");
    let n = count(b, 40);
    let x = b.by_value("x", &Type::Scalar(INTEGERS[1]));
    let parameters = vec![n, x];
    let body = match b.random.below(5) {
        0 => format!(
            "for (unsigned k = {}; k {} n; k++) s += k;",
            spot("*start", 0, &[1, 2]),
            spot("*bound", "<", &["<="])
        ),
        1 => format!(
            "while (x) {{ s {} x & 1; x >>= {}; }}",
            spot("*operator", "+=", &["^=", "|="]),
            spot("*step", 1, &[2])
        ),
        2 => format!(
            "for (unsigned k = 0; k < n; k++) x = x * {} + {}; s = x;",
            spot("*constant", 1103515245, &[1103515247]),
            spot("*constant", 12345, &[12346])
        ),
        3 => format!(
            "while (x >= {}) {{ x {} 10; s++; }}",
            spot("*bound", 10, &[9, 11]),
            spot("*operator", "/=", &["-="])
        )
        .replace("x -= 10", "x = (x - 10) & 1023"),
        _ => format!(
            "unsigned long a = 0, c = 1; for (unsigned k = 0; k < n; k++) {{ unsigned long t = a + c; a = {}; c = t; }} s = a;",
            spot("*operand", "c", &["t", "a"])
        ),
    };
    b.function(
        &f,
        format!(
            "unsigned long {f}({}) {{\n  unsigned long s = 0;\n  {body}\n  return s;\n}}",
            parameter_list(&parameters)
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[3])));
}

/// Loops that call.
fn calls(b: &mut Builder) {
    b.shape("calls");
    let (f, ext) = (b.name("f"), b.name("ext"));
    let int = Type::Scalar(INTEGERS[0]);
    b.top(format!("int {ext}(int, int);"));
    b.callee(&ext, &[int.clone(), int.clone()], Some(&int));
    let (p, n) = (b.by_pointer("p", &int, 6), count(b, 6));
    let parameters = vec![p, n];
    let head = head(b);
    let second = spot("*argument", "s", &["0", "s + 1", "(int)k"]);
    let call = format!("s += {ext}({}, {second});", spot("*argument", "p[k]", &["p[0]", "p[k] + 1", "(int)k"]));
    let body = match b.random.below(3) {
        0 => call,
        1 => format!("{{ if (p[k] & 1) continue; {call} }}"),
        _ => format!("{{ {call} p[k] = {}; if (s < 0) break; }}", spot("*stored value", "s", &["0", "p[0]"])),
    };
    b.function(
        &f,
        format!("int {f}({}) {{\n  int s = 0;\n  {head}\n    {body}\n  return s;\n}}", parameter_list(&parameters)),
    );
    b.call(&f, &parameters, Some(&int));
}

/// A loop in a loop.
fn nested(b: &mut Builder) {
    b.shape("nested loops");
    let f = b.name("f");
    let of = b.integer();
    let p = b.by_pointer("p", &of, 12);
    let n = Parameter {
        name: "n".into(),
        declaration: "int n".into(),
        prepare: "int n = rnd() % 4;".into(),
        look: String::new(),
    };
    let m = Parameter {
        name: "m".into(),
        declaration: "int m".into(),
        prepare: "int m = rnd() % 5;".into(),
        look: String::new(),
    };
    let parameters = vec![p, n, m];
    let body = match b.random.below(3) {
        0 => format!("s += p[i * {} + j];", spot("*index", 4, &[3])).replace("j];", "(j & 3)];"),
        1 => format!("if (p[i] {} p[j]) {{ s++; p[i] = p[j]; }}", spot("*comparison", ">", &["<", ">="])),
        _ => format!("p[i] {} p[j];", spot("*operator", "+=", &["-=", "^="])),
    };
    b.function(
        &f,
        format!(
            "long {f}({}) {{\n  long s = 0;\n  for (int i = {}; i < n; i++)\n    for (int j = {}; j < {}; j++)\n      {body}\n  return s;\n}}",
            parameter_list(&parameters),
            spot("*start", 0, &[1]),
            spot("*start", 0, &["i & 1"]),
            spot("*bound", "m", &["n", "m - 1"])
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}
