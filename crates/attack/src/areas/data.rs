//! Constant data: texts, tables, switches and the tables that compilers make of them.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::spot;
use crate::types::{INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(8) {
        0 | 1 => texts(b),
        2 | 3 => table(b),
        4 | 5 => switch(b),
        6 => pointers(b),
        _ => beyond(b),
    }
}

fn word(b: &mut Builder) -> String {
    (0..b.random.below(10) + 1).map(|_| (b'a' + b.random.below(4) as u8) as char).collect()
}

/// The word with one letter changed, and cut or longer.
fn others(b: &mut Builder, word: &str) -> Vec<String> {
    let at = b.random.below(word.len());
    let mut changed = word.to_string();
    changed.replace_range(at..=at, "z");
    vec![changed, format!("{word}a"), word[..word.len() - 1].into(), format!("{word}\\0x")]
}

/// Texts that are passed, with pointers into them elsewhere.
fn texts(b: &mut Builder) {
    b.shape("texts");
    let (f, k, ext) = (b.name("f"), b.name("k"), b.name("say"));
    let text = word(b);
    let wrong = others(b, &text);
    b.top(format!("int {ext}(const char *, int);"));
    b.harness(format!(
        "int {ext}(const char *t, int n) {{ see_label(\"{ext}\"); see_text(t); see_number(n); return (int)any(); }}"
    ));
    let x = b.by_value("x", &Type::Scalar(INTEGERS[0]));
    let parameters = vec![x];
    let condition = b.condition(&["x"]);
    let second = word(b);
    let inside = b.random.below(text.len() + 1);
    // The same change in both functions, as when a header changes.
    let both = b.name("TEXT");
    b.top(format!("#define {both} \"{}\"", spot("*text", &text, &wrong)));
    let here = if b.random.one_in(2) { both.clone() } else { format!("\"{}\"", spot("*text", &text, &wrong)) };
    b.function(
        &f,
        format!(
            "int {f}(int x) {{\n  if ({condition}) return {ext}({here}, {});\n  return {ext}(\"{}\", x);\n}}",
            spot("*argument", "x", &["x + 1", "1"]),
            spot("*text", &second, &[format!("{second}q")])
        ),
    );
    b.function(&k, format!("const char *{k}(void) {{\n  return {both} + {inside};\n}}"));
    b.harness(format!("const char *{k}(void);"));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[0])));
    b.run(format!("see_text({k}());"));
}

/// A table that is read at an index.
fn table(b: &mut Builder) {
    b.shape("table");
    let (f, t) = (b.name("f"), b.name("t"));
    let of = b.integer();
    let c = of.c();
    let count = b.random.below(30) + 2;
    let changed = b.random.below(count);
    let bits = of.scalar().map_or(32, |s| s.size * 8 - 1).min(30);
    let values: Vec<String> = (0..count)
        .map(|k| {
            let v = (b.random.next() & ((1 << bits) - 1)) as i64;
            if k == changed { spot("*element", v, &[v ^ 1, v ^ 64]) } else { v.to_string() }
        })
        .collect();
    let qualifier = ["static const ", "const ", "static ", ""][b.random.below(4)];
    let inside = b.random.one_in(4);
    let declared = format!("{qualifier}{c} {t}[{count}] = {{{}}};", values.join(", "));
    let i = Parameter {
        name: "i".into(),
        declaration: "unsigned i".into(),
        prepare: format!("unsigned i = rnd() % {};", count + 3),
        look: String::new(),
    };
    let parameters = vec![i];
    let local =
        if inside { format!("static const {c} {t}[{count}] = {{{}}};", values.join(", ")) } else { String::new() };
    if !inside {
        b.top(declared);
    }
    let bound = spot("*bound", count, &[count - 1]);
    let body = match b.random.below(4) {
        0 => format!("if (i >= {bound}) return -1;\n  return {t}[i];"),
        1 => format!("long s = 0;\n  for (unsigned k = 0; k < {bound} && k < i; k++) s = s * 3 + {t}[k];\n  return s;"),
        2 => format!("return {t}[i % {count}] + {t}[{}];", spot("index", changed, &[(changed + 1) % count])),
        _ => format!(
            "for (unsigned k = 0; k < {count}; k++) if ({t}[k] == (({c})i {} {t}[i % {count}])) return k;\n  return -1;",
            spot("operator", "|", &["&", "^"])
        ),
    };
    b.function(&f, format!("long {f}(unsigned i) {{\n  {local}\n  {body}\n}}"));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// A switch, dense or not.
fn switch(b: &mut Builder) {
    b.shape("switch");
    let (f, q) = (b.name("f"), b.name("q"));
    b.top(format!("int {q}(int);"));
    b.callee(&q, &[Type::Scalar(INTEGERS[0])], Some(&Type::Scalar(INTEGERS[0])));
    let count = b.random.below(12) + 3;
    let first = [0, 0, 1, -3, 97][b.random.below(5)];
    let sparse = b.random.one_in(4);
    let calls = b.random.one_in(2);
    let mut cases = String::new();
    for k in 0..count as i64 {
        let label = first + if sparse { k * k } else { k };
        let n = b.random.below(100) as i64;
        let value = spot("*branch", n, &[n + 1, n ^ 32]);
        let body = match b.random.below(4) {
            0 if k > 0 => String::new(),
            _ if calls => format!(" return {q}({value}) {} {k};", spot("operator", "+", &["-", "^"])),
            _ => format!(" return {value};"),
        };
        cases.push_str(&format!("  case {label}:{body}\n"));
    }
    let most = first + if sparse { (count * count) as i64 } else { count as i64 };
    let x = Parameter {
        name: "x".into(),
        declaration: "int x".into(),
        prepare: format!("int x = (long)(rnd() % {}) + {first} - 2; if (rnd() % 50 == 0) x = any();", most - first + 4),
        look: String::new(),
    };
    let z = Parameter {
        name: "z".into(),
        declaration: "unsigned z".into(),
        prepare: "unsigned z = rnd() % 3;".into(),
        look: String::new(),
    };
    let parameters = vec![x, z];
    let (guard, on) = match b.random.below(4) {
        0 => (
            "if (z) return -1;\n  if ((unsigned)x > 7) return -2;".to_string(),
            spot("*switched value", "x ^ 7", &["x", "7 - x + z", "x ^ 3"]),
        ),
        1 => (String::new(), spot("*switched value", "x", &["x + 1", "x ^ 1"])),
        2 => (format!("if (x < {first}) return -3;"), spot("*switched value", "x + (int)z", &["x", "x + 1"])),
        _ => (
            "if ((unsigned)x > 15) return -2;".into(),
            spot("*switched value", "(x & 7) + (int)z", &["x & 7", "(x & 15) + (int)z"]),
        ),
    };
    let rest = spot("*branch", 5, &[6]);
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  {guard}\n  switch ({on}) {{\n{cases}  default: break;\n  }}\n  return {rest};\n}}",
            parameter_list(&parameters)
        ),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[0])));
}

/// Tables of texts and functions.
fn pointers(b: &mut Builder) {
    b.shape("table of pointers");
    let (f, t, say) = (b.name("f"), b.name("t"), b.name("say"));
    let words: Vec<String> = (0..4).map(|_| word(b)).collect();
    let wrong = others(b, &words[2]);
    let i = b.index("i", 4);
    let parameters = vec![i];
    if b.random.one_in(2) {
        b.top(format!(
            "int {say}(const char *);\nstatic const char *const {t}[4] = {{\"{}\", \"{}\", \"{}\", \"{}\"}};",
            words[0],
            words[1],
            spot("*text", &words[2], &wrong),
            words[3]
        ));
        b.harness(format!("int {say}(const char *t) {{ see_label(\"{say}\"); see_text(t); return (int)any(); }}"));
        b.function(
            &f,
            format!(
                "int {f}({}) {{\n  return {say}({t}[{}]);\n}}",
                parameter_list(&parameters),
                spot("index", "i", &["i ^ 1", "0"])
            ),
        );
    } else {
        let (one, two) = (b.name("one"), b.name("two"));
        b.top(format!(
            "int {one}(int);\nint {two}(int);\nstatic int (*const {t}[2])(int) = {{{}}};",
            spot("*chosen function", format!("{one}, {two}"), &[format!("{two}, {one}"), format!("{one}, {one}")])
        ));
        for callee in [&one, &two] {
            b.callee(callee, &[Type::Scalar(INTEGERS[0])], Some(&Type::Scalar(INTEGERS[0])));
        }
        b.function(
            &f,
            format!(
                "int {f}({}) {{\n  return {t}[i & 1]({});\n}}",
                parameter_list(&parameters),
                spot("*argument", "(int)i", &["(int)i + 1", "1"])
            ),
        );
    }
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[0])));
}

/// Anonymous data that looks like other anonymous data.
fn beyond(b: &mut Builder) {
    b.shape("data as text");
    let f = b.name("f");
    let letters = 0x636261 + b.random.below(3) as i64;
    let i = Parameter {
        name: "i".into(),
        declaration: "unsigned i".into(),
        prepare: "unsigned i = rnd() % 7;".into(),
        look: String::new(),
    };
    let parameters = vec![i];
    let (second, last) = (b.random.below(2) as i64, b.random.below(2) as i64 * 0x6463);
    let as_switch = format!(
        "switch (i) {{ case 0: return {letters}; case 1: return {second}; case 2: return 0; case 3: return {}; case 4: return {last}; default: return -1; }}",
        spot("*branch", 0, &[97, 1])
    );
    let as_table = format!(
        "static const int t[] = {{{letters}, {second}, 0, {}, {last}}}; return i < 5 ? t[i] : -1;",
        spot("*element", 0, &[97, 1])
    );
    let body = if b.random.one_in(2) { as_switch } else { as_table };
    b.function(&f, format!("int {f}(unsigned i) {{\n  {body}\n}}"));
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[0])));
    let k = b.name("k");
    b.function(
        &k,
        format!("const char *{k}(void) {{\n  return \"{}\";\n}}", spot("*text", "abc", &["abd", "ab", "abcdefghijk"])),
    );
    b.harness(format!("const char *{k}(void);"));
    b.run(format!("see_text({k}());"));
}
