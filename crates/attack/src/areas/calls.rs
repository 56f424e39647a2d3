//! Calls: what is passed and what comes back, for all types and all ways to call.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::{extra, spot};
use crate::types::{INTEGERS, Type};

/// How the callee is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reached {
    Prototype,
    Variadic,
    Unprototyped,
    Argument,
    CastMember,
    Foreign,
}

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(14) {
        0 if b.setting.gcc => return nested(b),
        1 => return incremented(b),
        2 => return callback(b),
        _ => {}
    }
    let reached = match b.random.below(14) {
        0..=5 => Reached::Prototype,
        6..=8 => Reached::Variadic,
        9 => Reached::Unprototyped,
        10 => Reached::Argument,
        11 | 12 => Reached::CastMember,
        _ => Reached::Foreign,
    };
    b.shape(match reached {
        Reached::Prototype => "prototype",
        Reached::Variadic => "variadic",
        Reached::Unprototyped => "unprototyped",
        Reached::Argument => "function pointer",
        Reached::CastMember => "cast of a function pointer",
        Reached::Foreign => "ms_abi",
    });
    call(b, reached);
}

fn call(b: &mut Builder, reached: Reached) {
    let (f, ext) = (b.name("f"), b.name("ext"));
    let int = Type::Scalar(INTEGERS[0]);
    let mut parameters: Vec<Parameter> = ["x", "y", "z"].iter().map(|n| b.by_value(n, &int)).collect();
    let mut types = Vec::new();
    let mut body = Vec::new();
    let mut passed = Vec::new();
    if reached == Reached::Variadic {
        types.push(int.clone());
        passed.push("3".to_string());
    }
    let most = if b.random.one_in(3) { 10 } else { 4 };
    for number in 0..b.random.below(most) + 1 {
        // The compilers disagree about some records of the foreign convention.
        let of = if reached == Reached::Foreign || b.random.one_in(3) { b.integer() } else { b.any_type() };
        // Without a prototype a callee gets promoted values; a record stays what it is.
        let of = if matches!(reached, Reached::Variadic | Reached::Unprototyped) { of.promoted() } else { of };
        passed.push(argument(b, number, &of, &mut parameters, &mut body));
        types.push(of);
    }
    let result = if b.random.one_in(3) {
        None
    } else {
        Some(if reached == Reached::Foreign || b.random.one_in(2) { b.integer() } else { b.any_type() })
    };
    let callee = callee(b, reached, &ext, &types, result.as_ref(), &mut parameters);
    if passed.len() > 2 && b.random.one_in(6) {
        let same: Vec<usize> = (1..passed.len() - 1).filter(|i| types[*i].c() == types[i + 1].c()).collect();
        if let Some(at) = same.first().copied() {
            let (left, right) = (passed[at].clone(), passed.remove(at + 1));
            passed[at] = spot("*exchanged arguments", format!("{left}, {right}"), &[format!("{right}, {left}")]);
        }
    }
    let made = format!("{callee}({})", passed.join(", "));
    let result_type = result.as_ref().map_or("void".into(), Type::c);
    match &result {
        None => {
            body.push(spot("dropped call", format!("{made};"), &[""]));
            body.push(store_behind(b, &mut parameters));
        }
        Some(_) if b.random.one_in(3) => body.push(format!("return {made};")),
        Some(of) => {
            body.push(format!("{} r = {made};", of.c()));
            body.push(extra("*result", &of.changes("r")));
            body.push(store_behind(b, &mut parameters));
            body.push("return r;".into());
        }
    }
    let text = format!("{result_type} {f}({}) {{\n  {}\n}}", parameter_list(&parameters), body.join("\n  "));
    b.function(&f, text);
    b.call(&f, &parameters, result.as_ref());
}

/// One argument: where it comes from and how it is written at the call.
fn argument(
    b: &mut Builder,
    number: usize,
    of: &Type,
    parameters: &mut Vec<Parameter>,
    body: &mut Vec<String>,
) -> String {
    if of.is_integer() && b.random.one_in(2) {
        return match b.random.below(7) {
            6 => spot(
                "*extension",
                format!("({})(unsigned)x", of.c()),
                &[format!("({})x", of.c()), format!("({})y", of.c())],
            ),
            // A variable of its own: the order in which arguments are evaluated is not known.
            0 => {
                let own = format!("u{number}");
                body.push(format!("int {own} = x;"));
                spot("*argument", format!("++{own}"), &[own.clone(), format!("{own}++"), format!("++{own} + 1")])
            }
            1 => {
                let own = format!("t{number}");
                body.push(format!("int {own};"));
                spot("*argument", format!("({own} = y)"), &[format!("({own} = x)"), format!("({own} = y + 1)")])
            }
            2 => {
                let e = b.expression(&["x", "y", "z"], 2);
                format!("({}){e}", of.c())
            }
            3 => b.constant(),
            _ => {
                let v = *b.random.pick(&["x", "y", "z"]);
                spot("*argument", v, &["x", "y", "z", "0"])
            }
        };
    }
    let local = format!("a{number}");
    let changes = of.changes(&local);
    match b.random.below(3) {
        0 => {
            let parameter = b.by_value(&local, of);
            parameters.push(parameter);
        }
        1 => {
            let source = format!("p{number}");
            let parameter = b.by_pointer(&source, of, 1);
            parameters.push(parameter);
            body.push(format!("{} {local} = *{source};", of.c()));
        }
        _ => {
            // Handed on as it lies in memory; the wrong version changes a copy.
            let source = format!("p{number}");
            let parameter = b.by_pointer(&source, of, 2);
            parameters.push(parameter);
            let in_place: Vec<String> =
                changes.iter().map(|c| format!("({{ {} {local} = {source}[1]; {c} {local}; }})", of.c())).collect();
            return spot("*argument", format!("{source}[1]"), &in_place);
        }
    }
    body.push(extra("*argument", &changes));
    local
}

/// Declares the callee on both sides and in the harness; what is called.
fn callee(
    b: &mut Builder,
    reached: Reached,
    ext: &str,
    types: &[Type],
    result: Option<&Type>,
    parameters: &mut Vec<Parameter>,
) -> String {
    let result_type = result.map_or("void".into(), Type::c);
    let list = types.iter().map(Type::c).collect::<Vec<_>>().join(", ");
    match reached {
        Reached::Variadic => {
            b.top(format!("{result_type} {ext}(int, ...);"));
            let take: String = types[1..]
                .iter()
                .enumerate()
                .map(|(i, t)| format!("{{ {0} v{i} = __builtin_va_arg(l, {0}); {1}}} ", t.c(), t.see(&format!("v{i}"))))
                .collect();
            let give = result.map_or(String::new(), |t| {
                format!("{} r; __builtin_memset(&r, 0, sizeof r); {}return r; ", t.c(), t.seed("r"))
            });
            b.harness(format!("{result_type} {ext}(int n, ...) {{ va_list l; see_label(\"{ext}\"); see_number(n); __builtin_va_start(l, n); {take}__builtin_va_end(l); {give}}}"));
            ext.into()
        }
        Reached::Foreign => {
            b.top(format!("__attribute__((ms_abi)) {result_type} {ext}({list});"));
            b.callee_with("__attribute__((ms_abi)) ", ext, types, result);
            ext.into()
        }
        Reached::Unprototyped => {
            b.top(format!("{result_type} {ext}();"));
            b.callee(ext, types, result);
            ext.into()
        }
        Reached::Prototype => {
            b.top(format!("{result_type} {ext}({list});"));
            b.callee(ext, types, result);
            ext.into()
        }
        Reached::Argument => {
            b.callee(ext, types, result);
            parameters.push(Parameter {
                name: "fn".into(),
                declaration: format!("{result_type} (*fn)({list})"),
                prepare: format!("{result_type} (*fn)({list}) = {ext};"),
                look: String::new(),
            });
            "fn".into()
        }
        Reached::CastMember => {
            b.callee(ext, types, result);
            let holder = b.name("Holder");
            // Declared otherwise: as nothing, or with narrower types at the same places.
            let narrow = |of: &Type| match of {
                Type::Scalar(s) if of.is_integer() && s.size == 8 => "int".to_string(),
                Type::Scalar(s) if s.c == "double" => "float".into(),
                _ => of.c(),
            };
            let other = match b.random.below(2) {
                0 => "void".to_string(),
                _ => types.iter().map(narrow).collect::<Vec<_>>().join(", "),
            };
            b.shared(&format!("struct {holder} {{ int k; void (*fn)({other}); }};"));
            parameters.push(Parameter {
                name: "h".into(),
                declaration: format!("struct {holder} *h"),
                prepare: format!("struct {holder} holder = {{ 1, (void *){ext} }}; struct {holder} *h = &holder;"),
                look: String::new(),
            });
            format!("(({result_type} (*)({list}))h->fn)")
        }
    }
}

/// A store after the call.
fn store_behind(b: &mut Builder, parameters: &mut Vec<Parameter>) -> String {
    if b.random.one_in(2) {
        return String::new();
    }
    let of = b.integer();
    let parameter = b.by_pointer("out", &of, 2);
    parameters.push(parameter);
    let value = b.expression(&["x", "y", "z"], 1);
    let index = b.random.below(2);
    format!("out[{}] = {value};", spot("index", index, &[1 - index]))
}

/// Arguments that are also stored or computed again, at several calls.
fn incremented(b: &mut Builder) {
    b.shape("several calls");
    let (f, ext, other) = (b.name("f"), b.name("ext"), b.name("other"));
    let of = b.integer();
    let int = Type::Scalar(INTEGERS[0]);
    let parameters: Vec<Parameter> = ["x", "y", "z", "u"].iter().map(|n| b.by_value(n, &of)).collect();
    let types = vec![of.clone(), of.clone(), of.clone()];
    b.top(format!("int {ext}({0}, {0}, {0});\nvoid {other}({0}, {0});", of.c()));
    b.callee(&ext, &types, Some(&int));
    b.callee(&other, &types[..2], None);
    let names = ["x", "y", "z"];
    let a = b.variable(&names);
    let (c, d, e) = (b.expression(&names, 2), b.variable(&names), b.expression(&names, 1));
    let condition = b.condition(&names);
    let extra_call = extra("added call", &[format!("{other}(x, y);")]);
    let text = format!(
        "int {f}({}) {{\n  {} t = {a};\n  int r = {ext}({}, t, {c});\n  if ({condition}) {other}({d}, t++);\n  {extra_call}\n  {other}(t, {e});\n  return r + {};\n}}",
        parameter_list(&parameters),
        of.c(),
        spot("*argument", "++u", &["u", "u + 2", "++u + 1"]),
        spot("*result", "t + u", &["t", "u", "0"]),
    );
    b.function(&f, text);
    b.call(&f, &parameters, Some(&int));
}

/// A function of the file is called back by one of another file.
fn callback(b: &mut Builder) {
    b.shape("callback");
    let (f, cb, ext) = (b.name("f"), b.name("cb"), b.name("each"));
    let record = b.name("State");
    b.shared(&format!("struct {record} {{ int n; long sum; }};"));
    let of = b.integer();
    b.top(format!("int {ext}(int (*)(void *, {0}), void *, {0});", of.c()));
    b.harness(format!("int {ext}(int (*fn)(void *, {0}), void *s, {0} v) {{ see_label(\"{ext}\"); see_number(v); int r = 0; for (int i = 0; i < 3; i++) r += fn(s, v + i); return r; }}", of.c()));
    let value = b.expression(&["v", "s->n"], 2);
    let step = b.constant();
    let text = format!(
        "static int {cb}(void *p, {} v) {{\n  struct {record} *s = p;\n  s->n += {step};\n  s->sum {} {value};\n  return v & s->n;\n}}",
        of.c(),
        spot("operator", "+=", &["-=", "^="])
    );
    b.function(&cb, text);
    let int = Type::Scalar(INTEGERS[0]);
    let x = b.by_value("x", &of);
    let y = b.by_value("y", &int);
    let start = b.constant();
    let parameters = vec![x, y];
    let text = format!(
        "long {f}({}) {{\n  struct {record} s;\n  s.n = {start};\n  s.sum = y;\n  int r = {ext}({cb}, &s, {});\n  return r + {};\n}}",
        parameter_list(&parameters),
        spot("*argument", "x", &["x + 1", "y"]),
        spot("*memory behind a call", "s.sum", &["y", "s.n", "0"])
    );
    b.function(&f, text);
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// A function inside a function, which gets the frame of the outer one (GNU C).
fn nested(b: &mut Builder) {
    b.shape("nested function");
    let (f, inner) = (b.name("f"), b.name("inner"));
    let int = Type::Scalar(INTEGERS[0]);
    let a = b.by_value("a", &int);
    let parameters = vec![a];
    let (first, second) = (b.constant(), b.constant());
    let stored = crate::spot::render(&first, crate::spot::Side::Original, None);
    let text = format!(
        "int {f}({}) {{\n  int x = {first};\n  int y = a;\n  void {inner}(int d) {{ x += d; y = {second}; }}\n  {inner}(a);\n  return {} + y;\n}}",
        parameter_list(&parameters),
        spot("*memory behind a call", "x", &[stored, "a".into(), "y".into()])
    );
    b.function_inside(&inner);
    b.function(&f, text);
    b.call(&f, &parameters, Some(&int));
}
