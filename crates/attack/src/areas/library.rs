//! Functions of the C library: their arguments and results, and functions that only have such a name.

use crate::builder::{Builder, Parameter, parameter_list};
use crate::spot::{droppable, spot};
use crate::types::{FLOATS, INTEGERS, Type};

/// One case.
pub fn generate(b: &mut Builder) {
    match b.random.below(6) {
        3 if b.random.one_in(3) => early_division(b),
        0 | 1 if !b.setting.builtin => namesake(b),
        2 if !b.setting.builtin => own_definition(b),
        3 => output(b),
        _ => genuine(b),
    }
}

/// Names of the library that the runtime of the harness does not need itself.
const NAMES: [&str; 64] = [
    "index",
    "rindex",
    "err",
    "errx",
    "warn",
    "warnx",
    "finite",
    "gamma",
    "y0",
    "y1",
    "yn",
    "j0",
    "j1",
    "jn",
    "abs",
    "labs",
    "llabs",
    "div",
    "ffs",
    "select",
    "remove",
    "rename",
    "link",
    "unlink",
    "bcmp",
    "bcopy",
    "bzero",
    "basename",
    "dirname",
    "getopt",
    "tolower",
    "toupper",
    "isalpha",
    "isdigit",
    "isspace",
    "isupper",
    "strtol",
    "strdup",
    "random",
    "drand48",
    "qsort",
    "bsearch",
    "hypot",
    "fmin",
    "fmax",
    "floor",
    "round",
    "log",
    "exp",
    "pow",
    "perror",
    "error",
    "stpcpy",
    "mempcpy",
    "strspn",
    "strpbrk",
    "memccpy",
    "sqrt",
    "fabs",
    "ceil",
    "trunc",
    "exit_group",
    "usleep",
    "access",
];

/// What a function of the library does, as far as a proof that takes another one for it may have used.
enum Doing {
    /// It computes a result, whatever it is called with.
    Computes,
    /// So does it, of arguments that it may fault for.
    Reads,
    /// It does not return.
    Ends,
    /// More, with so many arguments, in general registers.
    Acts(usize),
}

fn doing(name: &str) -> Doing {
    match name {
        "finite" | "gamma" | "y0" | "y1" | "yn" | "j0" | "j1" | "jn" | "abs" | "labs" | "llabs" | "ffs" | "tolower"
        | "toupper" | "hypot" | "fmin" | "fmax" | "floor" | "round" | "log" | "exp" | "pow" | "sqrt" | "fabs"
        | "ceil" | "trunc" => Doing::Computes,
        "index" | "rindex" | "div" | "bcmp" | "isalpha" | "isdigit" | "isspace" | "isupper" | "strtol" | "bsearch"
        | "strspn" | "strpbrk" => Doing::Reads,
        "err" | "errx" => Doing::Ends,
        "random" | "drand48" => Doing::Acts(0),
        "remove" | "unlink" | "basename" | "dirname" | "strdup" | "perror" | "usleep" => Doing::Acts(1),
        "rename" | "link" | "bzero" | "stpcpy" | "access" => Doing::Acts(2),
        _ => Doing::Acts(usize::MAX),
    }
}

/// A name that is free in this batch, taken now.
fn take(b: &mut Builder) -> Option<&'static str> {
    let free: Vec<&str> = NAMES.into_iter().filter(|n| !b.taken.iter().any(|t| t == n)).collect();
    let name = *free.get(b.random.below(free.len()))?;
    b.taken.push(name.into());
    Some(name)
}

/// Whether functions of the library can be declared as such; then nothing else may have their names.
fn genuinely(b: &mut Builder, names: &[&str]) -> bool {
    let own = |n: &&str| b.taken.iter().any(|t| t == n) && !b.taken.contains(&format!("genuine {n}"));
    let free = !names.iter().any(own);
    if free {
        b.taken.extend(names.iter().flat_map(|n| [n.to_string(), format!("genuine {n}")]));
    }
    free
}

fn int() -> Type {
    Type::Scalar(INTEGERS[0])
}

/// A function of another file that has a library function's name and is declared otherwise.
fn namesake(b: &mut Builder) {
    b.shape("namesake");
    let Some(name) = take(b) else { return genuine(b) };
    let (f, z) = (b.name("f"), b.name("z"));
    let count = b.random.below(3) + 1;
    let types: Vec<Type> =
        (0..count).map(|_| if b.random.one_in(4) { Type::Scalar(FLOATS[1]) } else { b.integer() }).collect();
    let result = if b.random.one_in(3) { None } else { Some(b.integer()) };
    let list = types.iter().map(Type::c).collect::<Vec<_>>().join(", ");
    let result_type = result.as_ref().map_or("void".into(), Type::c);
    b.top(format!("{result_type} {name}({list});\nextern int {z};"));
    // The stub writes z, as no library function would.
    b.harness(format!("int {z};"));
    let see: String = types.iter().enumerate().map(|(i, t)| t.see(&format!("p{i}"))).collect();
    let named = types.iter().enumerate().map(|(i, t)| format!("{} p{i}", t.c())).collect::<Vec<_>>().join(", ");
    let give = result.as_ref().map_or(String::new(), |t| format!("return ({})any();", t.c()));
    let general = types.iter().enumerate().filter(|(_, t)| !t.c().contains("double"));
    let seen = format!("see_label(\"{name}\"); {see}see_number({z});");
    let of_arguments = (0..types.len()).fold("7".to_string(), |sum, i| format!("({sum}) * 31 + (long)p{i}"));
    let computed = result.as_ref().map_or(String::new(), |t| format!("return ({})({of_arguments});", t.c()));
    // Nor does the library's write to z.
    let assumed = match doing(name) {
        Doing::Computes => String::new(),
        Doing::Reads => format!("{result_type} {name}({named}) {{ {computed} }}"),
        Doing::Ends => format!("{result_type} {name}({named}) {{ {seen} leave(); }}"),
        Doing::Acts(count) => {
            // What the library's function does not take, nobody passes.
            let see: String = general.take(count).map(|(i, t)| t.see(&format!("p{i}"))).collect();
            format!("{result_type} {name}({named}) {{ see_label(\"{name}\"); {see}see_number({z}); {give} }}")
        }
    };
    b.harness(format!(
        "\n#ifdef ASSUMED\n{assumed}\n#else\n{result_type} {name}({named}) {{ {seen} {z} = (int)any(); {give} }}\n#endif\n"
    ));
    let mut parameters: Vec<Parameter> =
        types.iter().enumerate().map(|(i, t)| b.by_value(&format!("a{i}"), t)).collect();
    let spare = b.by_value("b", &int());
    parameters.push(spare);
    let passed: Vec<String> = (0..count)
        .map(|i| spot("*argument", format!("a{i}"), &[format!("a{i} + 1"), "b".into(), "0".into()]))
        .collect();
    let call = format!("{name}({})", passed.join(", "));
    let used = match (&result, b.random.below(2)) {
        (Some(t), 0) => format!(
            "{} r = {call};\n  {z} += {};\n  return {};",
            t.c(),
            spot("constant", 1, &[2]),
            spot("*result", format!("r + {z}"), &[z.clone(), "r".into()])
        ),
        _ => format!(
            "{}\n  {z} = {};\n  return {};",
            droppable(format!("{call};")),
            spot("*behind a call", format!("{z} ^ b"), &[format!("{z} ^ b ^ 1"), "b".into()]),
            spot("*behind a call", z.clone(), &["0", "b"])
        ),
    };
    let first = droppable(format!("{z} = {};", b.random.below(5)));
    b.function(&f, format!("int {f}({}) {{\n  {first}\n  {used}\n}}", parameter_list(&parameters)));
    b.call(&f, &parameters, Some(&int()));
    b.run(format!("see_number({z});"));
}

/// The file defines a function of that name itself.
fn own_definition(b: &mut Builder) {
    b.shape("own definition");
    let Some(name) = take(b) else { return genuine(b) };
    let (f, z) = (b.name("f"), b.name("z"));
    let of = b.integer();
    let value = b.expression(&["x", "y"], 2);
    b.top(format!("static int {z};"));
    b.function(
        name,
        format!(
            "static int {name}({0} x, {0} y) {{\n  {z} += {1};\n  return {value};\n}}",
            of.c(),
            spot("constant", 1, &[2])
        ),
    );
    let (x, y) = (b.by_value("x", &of), b.by_value("y", &of));
    let parameters = vec![x, y];
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  int r = {name}({}, {});\n  {}\n  return r + {};\n}}",
            parameter_list(&parameters),
            spot("*argument", "x", &["x + 1", "y"]),
            spot("*argument", "y", &["y + 1", "x", "0"]),
            droppable(format!("{name}(y, x);")),
            spot("*behind a call", z.clone(), &["1", "0"])
        ),
    );
    b.call(&f, &parameters, Some(&int()));
}

/// Text that a program writes.
fn output(b: &mut Builder) {
    b.shape("output");
    let f = b.name("f");
    b.top("int puts(const char *);\nint putchar(int);\nint printf(const char *, ...);");
    let (x, y) = (b.by_value("x", &int()), b.by_value("y", &int()));
    let mut parameters = vec![x, y];
    let word: String = (0..b.random.below(6) + 1).map(|_| (b'a' + b.random.below(26) as u8) as char).collect();
    let mut other = word.clone();
    other.replace_range(..1, if word.starts_with('q') { "r" } else { "q" });
    let mut lines = Vec::new();
    for _ in 0..b.random.below(2) + 1 {
        lines.push(match b.random.below(6) {
            0 => format!("puts(\"{}\");", spot("*text", &word, &[other.clone(), format!("{word}x")])),
            1 => format!("printf(\"{}\\n\");", spot("*text", &word, &[&other])),
            2 => format!(
                "printf(\"{} %d\\n\", {});",
                spot("*text", &word, &[&other]),
                spot("*argument", "x", &["y", "x + 1"])
            ),
            3 => format!(
                "printf(\"{} %s %d\\n\", x, \"{word}\", {});",
                spot("*text", "%x", &["%d", "%u"]),
                spot("*argument", "y", &["x", "y + 1"])
            ),
            4 => {
                let t = b.text("t");
                if !parameters.iter().any(|p| p.name == "t") {
                    parameters.push(t);
                }
                format!("printf(\"%s\\n\", {});", spot("*argument", "t", &["t + 1", "\"\""]))
            }
            _ => format!("putchar({});", spot("*argument", "x", &["y", "x + 1", "'a'"])),
        });
    }
    let condition = b.condition(&["x", "y"]);
    b.function(
        &f,
        format!(
            "int {f}({}) {{\n  if ({condition}) {{ {} }}\n  else {}\n  return x;\n}}",
            parameter_list(&parameters),
            droppable(&lines[0]),
            lines.last().expect("a line")
        ),
    );
    b.call(&f, &parameters, Some(&int()));
}

/// Divisions by functions of the library, which fault where the divisor is zero, so that they cannot be made before it is tested.
fn early_division(b: &mut Builder) {
    b.shape("early division");
    let f = b.name("f");
    let c = ["int", "long"][b.random.below(2)];
    let name = if c == "int" { "div" } else { "ldiv" };
    let whole = if genuinely(b, &[name]) {
        b.top(format!(
            "#ifndef {name}_declared\n#define {name}_declared\nstruct {name}_result {{ {c} quot, rem; }};\nstruct {name}_result {name}({c}, {c});\n#endif"
        ));
        format!("({name}(x, y).quot)")
    } else {
        "((__int128)x * 3 / y)".into()
    };
    let of = Type::Scalar(if c == "int" { INTEGERS[0] } else { INTEGERS[2] });
    let (x, y) = (b.by_value("x", &of), b.driven("y", &of, &[0, 1, 7]));
    let parameters = vec![x, y];
    let guard = ["y > 0", "y && y != -1"][b.random.below(2)];
    let part = spot("*argument", "y", &["(y | 8)", "y + 1"]);
    let body = spot(
        "*early call",
        format!("if ({guard}) r = {whole};"),
        &[format!("{{ {c} t = {whole}; if ({guard}) r = t; }}"), format!("if (y) r = {whole} + 1;")],
    );
    b.function(
        &f,
        format!("long {f}({}) {{\n  long r = 5;\n  {body}\n  return r + {part};\n}}", parameter_list(&parameters)),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}

/// Calls of functions that are the library's.
fn genuine(b: &mut Builder) {
    b.shape("library function");
    let f = b.name("f");
    let (s, t) = (b.text("s"), b.text("t"));
    let n = Parameter {
        name: "n".into(),
        declaration: "unsigned long n".into(),
        prepare: "unsigned long n = rnd() % 8;".into(),
        look: String::new(),
    };
    let x = b.by_value("x", &int());
    let letter = spot("*argument", "'b'", &["'a'", "'c'", "0"]);
    let length = spot("*length", "n", &["n + 1", "8", "n / 2"]);
    let size = spot("*length", 4, &[3, 5]);
    let sign = |call: String| format!("({call} {} 0)", spot("comparison", "<", &["<=", ">", "!="]));
    let (left, right) = (spot("*argument", "s", &["t", "s + 1"]), spot("*argument", "t", &["s", "t + 1"]));
    let value = match b.random.below(20) {
        0 => {
            b.top("unsigned long strlen(const char *);");
            format!("strlen({left})")
        }
        1 => {
            b.top("int strcmp(const char *, const char *);");
            sign(format!("strcmp({left}, {right})"))
        }
        2 => {
            b.top("int strncmp(const char *, const char *, unsigned long);");
            sign(format!("strncmp({left}, {right}, {length})"))
        }
        3 => {
            b.top("int memcmp(const void *, const void *, unsigned long);");
            sign(format!("memcmp({left}, {right}, {})", if b.random.one_in(2) { length } else { size }))
        }
        4 => {
            b.top("char *strchr(const char *, int);\nchar *strrchr(const char *, int);");
            format!("({}({left}, {letter}) != 0)", spot("callee", "strchr", &["strrchr"]))
        }
        5 => {
            b.top("void *memchr(const void *, int, unsigned long);");
            format!("((char *)memchr({left}, {letter}, {length}) == s + 1)")
        }
        6 => {
            b.top("char *strstr(const char *, const char *);");
            format!("(strstr({left}, \"{}\") != 0)", spot("*text", "ab", &["a", "ba"]))
        }
        7 | 8 => {
            b.top("void *memcpy(void *, const void *, unsigned long);");
            format!(
                "(memcpy(t + {}, s, {}), t[{}])",
                spot("*destination", 8, &[9, 7]),
                if b.random.one_in(2) { length } else { size },
                spot("index", 9, &[8])
            )
        }
        9 => {
            b.top("void *memmove(void *, const void *, unsigned long);");
            format!("(memmove(s + {}, s, {length}), s[1])", spot("*destination", 1, &[2, 0]))
        }
        10 | 11 => {
            b.top("void *memset(void *, int, unsigned long);");
            format!("(memset(t, {}, {length}), t[3])", spot("*argument", "x", &["x + 1", "0", "x | 128"]))
        }
        12 => {
            b.top("char *strcpy(char *, const char *);\nchar *strncpy(char *, const char *, unsigned long);");
            if b.random.one_in(2) {
                format!("(strcpy(t + 16, {left}), t[17])")
            } else {
                format!("(strncpy(t + 16, {left}, {length}), t[17])")
            }
        }
        13 => {
            b.top("char *strcat(char *, const char *);");
            format!("(strcat(t, {}), t[2])", spot("*text", "\"xy\"", &["\"xz\"", "\"x\"", "s"]))
        }
        14 if genuinely(b, &["abs", "labs"]) => {
            b.top("int abs(int);\nlong labs(long);");
            format!(
                "({} + abs({}))",
                spot("*callee", "labs(x)", &["abs(x)", "x"]),
                spot("*argument", "x / 2", &["x", "-x"])
            )
        }
        15 if genuinely(b, &["strtol"]) => {
            b.top("int atoi(const char *);\nlong strtol(const char *, char **, int);");
            format!("strtol({left}, 0, {})", spot("*argument", 16, &[10, 11, 13]))
        }
        16 if genuinely(b, &["tolower", "toupper", "isdigit", "isalpha"]) => {
            b.top("int tolower(int);\nint toupper(int);\nint isdigit(int);\nint isalpha(int);");
            format!(
                "({}(x & 127) + {}(s[0]))",
                spot("*callee", "toupper", &["tolower", "isalpha"]),
                spot("*callee", "isalpha", &["isdigit", "tolower"])
            )
        }
        17 => {
            b.top("void *calloc(unsigned long, unsigned long);\nvoid free(void *);");
            format!(
                "({{ int *p = calloc({}, 4); p[1] = x; int r = p[{}] + p[1]; free(p); r; }})",
                spot("*argument", 8, &[4]),
                spot("index", 2, &[1])
            )
        }
        18 if genuinely(b, &["sqrt", "fabs", "floor"]) => {
            b.top("double sqrt(double);\ndouble fabs(double);\ndouble floor(double);");
            format!(
                "(long){}((double){}(x & 1023) + 0.5)",
                spot("*callee", "floor", &["sqrt", "fabs"]),
                spot("*callee", "sqrt", &["fabs"])
            )
        }
        19 if genuinely(b, &["strspn"]) => {
            b.top(
                "unsigned long strspn(const char *, const char *);\nunsigned long strcspn(const char *, const char *);",
            );
            format!("{}(s, \"{}\")", spot("*callee", "strspn", &["strcspn"]), spot("*text", "ab", &["a", "abc"]))
        }
        _ => {
            b.top("unsigned long strnlen(const char *, unsigned long);");
            format!("strnlen({left}, {length})")
        }
    };
    let parameters = vec![s, t, n, x];
    let add = b.expression(&["x", "(int)n"], 1);
    b.function(
        &f,
        format!("long {f}({}) {{\n  long r = (long){value};\n  return r + {add};\n}}", parameter_list(&parameters)),
    );
    b.call(&f, &parameters, Some(&Type::Scalar(INTEGERS[2])));
}
