//! Floating point: order of operations, signs of zero, comparisons with NaN, conversions.

use crate::builder::{Builder, parameter_list};
use crate::spot::spot;
use crate::types::{FLOATS, INTEGERS, Scalar, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(6) {
        0..=2 => expressions(b),
        3 => comparisons(b),
        4 => conversions(b),
        _ => vectors(b),
    }
}

fn expression(b: &mut Builder, variables: &[&str], depth: usize) -> String {
    if depth == 0 || b.random.one_in(6) {
        return if b.random.one_in(3) {
            let n = b.random.below(9);
            spot("constant", format!("{n}.5"), &[format!("{n}.25"), format!("-{n}.5")])
        } else {
            b.variable(variables)
        };
    }
    let (left, right) = (expression(b, variables, depth - 1), expression(b, variables, depth - 1));
    match b.random.below(8) {
        0..=3 => {
            let operators = ["+", "-", "*", "/"];
            let operator = *b.random.pick(&operators);
            format!("({left} {} {right})", spot("*operator", operator, &operators))
        }
        4 => {
            let third = b.variable(variables);
            let right_first = format!("({left} + ({right} + {third}))");
            spot("*association", format!("(({left} + {right}) + {third})"), &[right_first])
        }
        5 => spot("*sign of zero", format!("(0.0 - {left})"), &[format!("(-({left}))")]),
        6 => spot("*zero", format!("({left} + 0.0)"), &[left.clone(), format!("({left} - 0.0)")]),
        _ => format!("({} ? {left} : {right})", comparison(b, variables)),
    }
}

fn comparison(b: &mut Builder, variables: &[&str]) -> String {
    let (left, right) = (b.variable(variables), b.variable(variables));
    let operators = ["<", "<=", ">", ">=", "==", "!="];
    let opposite = [">=", ">", "<=", "<", "!=", "=="];
    let at = b.random.below(6);
    let plain = format!("({left} {} {right})", operators[at]);
    // Not the same with NaN.
    let negated = format!("(!({left} {} {right}))", opposite[at]);
    let other = format!("({left} {} {right})", operators[(at + 1) % 6]);
    if b.random.one_in(2) {
        spot("*comparison", plain, &[negated, other])
    } else {
        spot("*comparison", negated, &[plain, other])
    }
}

fn scalar(b: &mut Builder) -> Scalar {
    *b.random.pick(&FLOATS)
}

/// Sums, products and choices.
fn expressions(b: &mut Builder) {
    b.shape("expressions");
    let f = b.name("f");
    let of = Type::Scalar(scalar(b));
    let names = ["x", "y", "z"];
    let mut parameters: Vec<_> = names.iter().map(|n| b.by_value(n, &of)).collect();
    let p = b.by_pointer("p", &of, 2);
    parameters.push(p);
    let (first, second) = (expression(b, &["x", "y", "z", "p[1]"], 2), expression(b, &["x", "y", "z", "t"], 2));
    b.function(
        &f,
        format!(
            "{0} {f}({1}) {{\n  {0} t = {first};\n  p[0] = {2};\n  return {second};\n}}",
            of.c(),
            parameter_list(&parameters),
            spot("operand", "t", &["x", "y"])
        ),
    );
    b.call(&f, &parameters, Some(&of));
}

/// Comparisons as truth values and in branches.
fn comparisons(b: &mut Builder) {
    b.shape("comparisons");
    let (f, ext) = (b.name("f"), b.name("ext"));
    let of = Type::Scalar(scalar(b));
    let names = ["x", "y", "z"];
    let parameters: Vec<_> = names.iter().map(|n| b.by_value(n, &of)).collect();
    let int = Type::Scalar(INTEGERS[0]);
    b.top(format!("int {ext}({});", of.c()));
    b.callee(&ext, std::slice::from_ref(&of), Some(&int));
    let (one, two, three) = (comparison(b, &names), comparison(b, &names), comparison(b, &names));
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  if ({one}) return {ext}({});\n  return {two} {} {three};\n}}",
            parameter_list(&parameters),
            spot("*argument", "x", &["y", "-x", "x + 1"]),
            spot("operator", "+", &["-"])
        ),
    );
    b.call(&f, &parameters, Some(&int));
}

/// Between integers and floating point, in range.
fn conversions(b: &mut Builder) {
    b.shape("conversions");
    let f = b.name("f");
    let of = Type::Scalar(scalar(b));
    let from = b.integer();
    let (x, n) = (b.by_value("x", &of), b.by_value("n", &from));
    let parameters = vec![x, n];
    let c = of.c();
    let casts = ["(float)", "(double)", "(double)(float)", "(float)(int)"];
    let cast = *b.random.pick(&casts);
    let widen = spot("*conversion", cast, &casts);
    let body = match b.random.below(4) {
        0 => format!("return {widen}n * x;"),
        1 => format!(
            "if (!(x > -1000.0 && x < {})) return 7;\n  return {}x + ({c})n;",
            spot("*bound", "1000.0", &["100.0"]),
            spot("*conversion", "(int)", &["(long)(x + x) - (int)", "(signed char)(int)", ""])
        ),
        2 => format!(
            "union {{ {c} f; {} u; }} u; u.f = x; u.u ^= {};\n  return u.f;",
            if c == "float" { "unsigned" } else { "unsigned long" },
            spot("*bit", if c == "float" { "1u << 31" } else { "1ul << 63" }, &["0", "1"])
        ),
        _ => format!(
            "return (({})n {} 3) / {};",
            spot("*conversion", "double", &["float"]),
            spot("operator", "+", &["-"]),
            spot("*constant", "3.0", &["3.0f * 1.5f", "5.0"])
        ),
    };
    b.function(&f, format!("{c} {f}({}) {{\n  {body}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&of));
}

/// Vectors of the compilers' extension.
fn vectors(b: &mut Builder) {
    b.shape("vectors");
    let (f, v) = (b.name("f"), b.name("V"));
    let (element, count) =
        [(FLOATS[0], 4), (FLOATS[1], 2), (INTEGERS[0], 4), (INTEGERS[7], 8), (INTEGERS[4], 16)][b.random.below(5)];
    b.shared(&format!("typedef {} {v} __attribute__((vector_size(16)));", element.c));
    let of = Type::Vector(v.clone(), element, count);
    let (x, y) = (b.by_value("x", &of), b.by_pointer("y", &of, 2));
    let parameters = vec![x, y];
    let at = b.random.below(count);
    let operator = spot("*operator", "+", &["-", "*"]);
    b.function(
        &f,
        format!(
            "{v} {f}({}) {{\n  {v} t = x {operator} y[{}];\n  t[{}] = x[{at}];\n  y[1] = t {} x;\n  return t;\n}}",
            parameter_list(&parameters),
            spot("index", 0, &[1]),
            spot("*element", at, &[(at + 1) % count]),
            spot("operator", "-", &["+"])
        ),
    );
    b.call(&f, &parameters, Some(&of));
}
