//! Random kernels: all operators and scalar types, enumerations, structures, statics, globals, macros, `switch`, `sizeof`.
//! Nothing in them is undefined once overflow wraps: shifts and divisors are bounded, floating-point numbers stay such.

use crate::random::Random;
use std::fmt::Write;

/// A kernel: lines of C that can be changed one by one.
#[derive(Clone)]
pub struct Kernel {
    /// Declarations before the function.
    pub before: Vec<String>,
    /// Statements of the function.
    pub body: Vec<String>,
    /// Element types of the arrays `p0`, `p1`, …; all have eight elements.
    pub arrays: Vec<&'static str>,
}

const INTEGERS: [&str; 10] = [
    "int",
    "unsigned",
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "long",
    "unsigned long",
    "_Bool",
];
const FLOATS: [&str; 2] = ["double", "float"];

impl Kernel {
    /// The file.
    pub fn text(&self) -> String {
        let mut text = self.before.join("\n");
        let parameters: Vec<String> = self.arrays.iter().enumerate().map(|(i, ty)| format!("{ty} p{i}[8]")).collect();
        let _ = write!(text, "\nvoid k({})\n{{\n  {}\n}}\n", parameters.join(", "), self.body.join("\n  "));
        text
    }

    /// A program that calls the kernel and prints what it leaves, bit for bit but for NaN.
    pub fn main(&self) -> String {
        let mut text = String::from("#include <stdio.h>\n#include <string.h>\n");
        let parameters: Vec<String> = self.arrays.iter().map(|ty| format!("{ty} *")).collect();
        let _ = writeln!(text, "void k({});", parameters.join(", "));
        text.push_str(
            "static unsigned long s = 88172645463325252ul;\nstatic unsigned long r(void) { s ^= s << 13; s ^= s >> 7; s ^= s << 17; return s >> 8; }\n\
             static const long c[] = { 0, 1, -1, 2, 3, 7, 8, 127, 128, -128, 255, 256, 32767, 32768, 65535, 65536, 2147483647, -2147483647 - 1, 4294967295, 4294967296, 9223372036854775807, -9223372036854775807 - 1, 100, 65 };\n\
             static long v(void) { unsigned long x = r() % 4; return x == 0 ? (long)(r() << 32 ^ r()) : x == 1 ? (long)(r() % 17) - 8 : c[r() % 24]; }\n\
             static double f(void) { unsigned long x = r() % 8; return x == 0 ? 0.0 : x == 1 ? -0.0 : x == 2 ? 1e300 * 1e300 : (double)(long)(r() % 2001 - 1000) / (x == 3 ? 1 : 7); }\n\
             int main(void) {\n",
        );
        for (i, ty) in self.arrays.iter().enumerate() {
            let _ = writeln!(text, "  static {ty} p{i}[8];");
        }
        text.push_str("  for (int n = 0; n < 400; n++) {\n");
        for (i, ty) in self.arrays.iter().enumerate() {
            let value = if FLOATS.contains(ty) { "f()" } else { "v()" };
            let _ = writeln!(text, "    for (int i = 0; i < 8; i++) p{i}[i] = ({ty}){value};");
        }
        let arguments: Vec<String> = (0..self.arrays.len()).map(|i| format!("p{i}")).collect();
        let _ = writeln!(text, "    k({});", arguments.join(", "));
        for (i, ty) in self.arrays.iter().enumerate() {
            let print = if FLOATS.contains(ty) {
                format!("if (p{i}[i] != p{i}[i]) puts(\"nan\"); else printf(\"%a \", (double)p{i}[i]);")
            } else {
                format!("printf(\"%ld \", (long)p{i}[i]);")
            };
            let _ = writeln!(text, "    for (int i = 0; i < 8; i++) {{ {print} }}");
        }
        text.push_str("    puts(\"\");\n  }\n  return 0;\n}\n");
        text
    }
}

struct Maker<'r> {
    random: &'r mut Random,
    arrays: Vec<&'static str>,
    /// Integer expressions without effects that are in scope, with their types.
    names: Vec<String>,
    /// Is there a loop variable?
    iterator: bool,
}

impl Maker<'_> {
    fn subscript(&mut self) -> String {
        match self.random.below(3) {
            0 if self.iterator => self.random.word(&["i", "7 - i", "(i + 3) % 8", "i ^ 1"]).to_string(),
            _ => self.random.below(8).to_string(),
        }
    }

    fn element(&mut self, float: bool) -> Option<String> {
        let fit: Vec<usize> = (0..self.arrays.len()).filter(|i| FLOATS.contains(&self.arrays[*i]) == float).collect();
        let array = *fit.get(self.random.below(fit.len()))?;
        let subscript = self.subscript();
        Some(format!("p{array}[{subscript}]"))
    }

    fn literal(&mut self) -> String {
        let number = [
            "0",
            "1",
            "2",
            "3",
            "7",
            "10",
            "31",
            "100",
            "127",
            "128",
            "255",
            "256",
            "32768",
            "65535",
            "2147483647",
            "0x80000000",
            "0xffffffff",
            "4294967296",
            "017",
            "0x7fff",
        ];
        match self.random.below(8) {
            0 => self.random.word(&["'a'", "'0'", "'\\n'", "'\\0'"]).to_string(),
            1 => format!(
                "sizeof({})",
                self.random.word(&["int", "char", "long", "short", "p0", "p0[0]", "1 + 1", "1.0f", "(char)1"])
            ),
            _ => format!(
                "{}{}",
                self.random.word(&number),
                self.random.word(&["", "", "", "", "u", "l", "ul", "L", "U"])
            ),
        }
    }

    /// An integer expression.
    fn integer(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.below(6) == 0 {
            return match self.random.below(5) {
                0 | 1 => self.element(false).unwrap_or_else(|| "3".to_string()),
                2 if !self.names.is_empty() => self.names[self.random.below(self.names.len())].clone(),
                3 if self.iterator => "i".to_string(),
                _ => self.literal(),
            };
        }
        let a = self.integer(depth - 1);
        let b = self.integer(depth - 1);
        match self.random.below(14) {
            0..=3 => format!("({a} {} {b})", self.random.word(&["+", "-", "*", "&", "|", "^"])),
            4 => format!("({a} {} {b})", self.random.word(&["<", "<=", ">", ">=", "==", "!="])),
            5 => format!("({a} {} ({b} & 7))", self.random.word(&["<<", ">>"])),
            6 => format!("({a} {} (({b} & 15) + 1))", self.random.word(&["/", "%"])),
            7 => format!("({a} ? {b} : {})", self.integer(depth - 1)),
            8 => format!("(({}){a})", INTEGERS[self.random.below(INTEGERS.len())]),
            9 => format!("({}{a})", self.random.word(&["-", "~", "!", "+"])),
            10 => format!("({a} {} {b})", self.random.word(&["&&", "||"])),
            11 => match (self.element(true), self.float(depth - 1)) {
                (Some(x), y) => format!("({x} {} {y})", self.random.word(&["<", "<=", "==", "!="])),
                (None, _) => a,
            },
            12 => format!("f0({a}, {b})"),
            _ => format!("MAC({a}, {b})"),
        }
    }

    /// A floating-point expression.
    fn float(&mut self, depth: u32) -> String {
        if depth == 0 || self.random.below(5) == 0 {
            return match self.element(true) {
                Some(element) if self.random.below(4) > 0 => element,
                _ => self.random.word(&["1.0", "2.0f", "0.5", "3", "0.1", "0.1f", "1e3", "0x1p-2"]).to_string(),
            };
        }
        let (a, b) = (self.float(depth - 1), self.float(depth - 1));
        match self.random.below(8) {
            0..=3 => format!("({a} {} {b})", self.random.word(&["+", "-", "*", "/"])),
            4 => format!("({} ? {a} : {b})", self.integer(depth - 1)),
            5 => format!("(({}){a})", self.random.word(&FLOATS)),
            6 => format!("(-{a})"),
            _ => format!("({a} + {})", self.integer(depth - 1)),
        }
    }

    fn assignment(&mut self) -> String {
        let array = self.random.below(self.arrays.len());
        let subscript = self.subscript();
        let target = format!("p{array}[{subscript}]");
        let operator = self.random.word(&["=", "=", "=", "+=", "-=", "*="]);
        if FLOATS.contains(&self.arrays[array]) {
            return format!("{target} {operator} {};", self.float(3));
        }
        let operator = if self.random.below(4) == 0 { self.random.word(&["&=", "|=", "^="]) } else { operator };
        format!("{target} {operator} {};", self.integer(3))
    }

    fn statement(&mut self) -> String {
        match self.random.below(9) {
            0..=3 => self.assignment(),
            4 => format!("if ({}) {}", self.integer(2), self.assignment()),
            5 => format!("if ({}) {{ {} }} else {{ {} }}", self.integer(1), self.assignment(), self.assignment()),
            6 if !self.iterator => {
                self.iterator = true;
                let bound = self.random.word(&["8", "7", "4", "sizeof(short) * 3", "(int)E2 + 5"]);
                let ty = self.random.word(&["int", "unsigned", "long", "short", "unsigned char"]);
                // Sometimes a number goes along whose value is known in each iteration.
                let along = self.random.below(2) == 0;
                if along {
                    self.names.push("along".to_string());
                }
                let (first, second) = (self.statement(), self.assignment());
                self.iterator = false;
                if !along {
                    return format!("for ({ty} i = 0; i < {bound}; i++) {{ {first} {second} }}");
                }
                self.names.pop();
                let kind = INTEGERS[self.random.below(INTEGERS.len())];
                let start = self.random.word(&["0", "1", "250", "-3", "32766", "2147483645", "4294967293"]);
                let step = self.random.word(&["along++", "along += 2", "along -= 3", "along *= 3", "along = i"]);
                format!(
                    "{{ {kind} along = {start}; for ({ty} i = 0; i < {bound}; i++) {{ {first} {second} {step}; }} p0[7] += along; }}"
                )
            }
            7 => {
                let (value, label) =
                    (self.integer(1), self.random.word(&["3", "1", "E1", "'\\1'", "0x100000001", "-1", "255"]));
                let other = self.random.word(&["2", "7u", "E2", "4294967295", "128"]);
                format!(
                    "switch ({value}) {{ case {label}: {} break; case {other}: {} default: {} }}",
                    self.assignment(),
                    self.assignment(),
                    self.assignment()
                )
            }
            _ => {
                let ty = INTEGERS[self.random.below(INTEGERS.len())];
                let name = format!("t{}", self.names.len());
                let made = format!("{ty} {name} = {};", self.integer(2));
                // Declared at the top level of the function only, so that it stays in scope.
                if self.iterator {
                    return self.assignment();
                }
                self.names.push(name);
                made
            }
        }
    }
}

/// A random kernel.
pub fn generate(random: &mut Random) -> Kernel {
    let mut arrays = Vec::new();
    for _ in 0..2 + random.below(3) {
        let float = random.below(3) == 0;
        arrays.push(if float { FLOATS[random.below(2)] } else { INTEGERS[random.below(INTEGERS.len())] });
    }
    let [result, first, second] = [(); 3].map(|()| INTEGERS[random.below(INTEGERS.len())]);
    let mut before = vec![
        format!("enum e {{ E0, E1 = {}, E2 }};", random.word(&["1", "2", "-1", "'\\1'", "1 << 2"])),
        format!(
            "#define MAC(x, y) {}",
            random.word(&["((x) + (y))", "((x) * 2 - (y))", "((x) > (y) ? (x) : (y))", "((x) ^ (y))"])
        ),
        format!(
            "static {result} f0({first} x, {second} y) {{ {}return x {} y; }}",
            random.word(&["", "", "static unsigned calls; calls++; ", "x++; "]),
            random.word(&["+", "-", "^", "<", "&"])
        ),
        format!(
            "static {} st = {};",
            INTEGERS[random.below(INTEGERS.len())],
            random.word(&["0", "1", "3", "-2", "200"])
        ),
        format!(
            "static const {} table[4] = {{ {}, 2, [3] = 5 }};",
            INTEGERS[random.below(INTEGERS.len())],
            random.word(&["1", "300", "-1", "'x'"])
        ),
        format!(
            "typedef struct {{ {} x; {} y; }} pair;",
            INTEGERS[random.below(INTEGERS.len())],
            INTEGERS[random.below(INTEGERS.len())]
        ),
        format!(
            "#if {}\n#define LIM {}\n#else\n#define LIM 2\n#endif",
            random.word(&[
                "-1 > 0u",
                "defined __x86_64__",
                "3 / 2 == 1",
                "(2 || 1 / 0)",
                "__STDC_VERSION__ > 199901L",
                "0"
            ]),
            random.word(&["3", "1", "4u"])
        ),
    ];
    if random.below(3) == 0 {
        before.push("// nothing \\\n#define LIM 77".to_string());
    }
    let names =
        ["st", "table[1]", "LIM", "(int)sizeof(pair)", "E1", "(enum e)1", "q.x", "q.y"].map(str::to_string).to_vec();
    let mut maker = Maker { random, arrays, names, iterator: false };
    let mut body = vec![format!("pair q = {{ {}, {} }};", maker.literal(), maker.literal())];
    for _ in 0..2 + maker.random.below(4) {
        body.push(maker.statement());
    }
    match maker.random.below(4) {
        0 => body.push("st++;".to_string()),
        1 => body.push(format!("static int calls = {}; p0[0] += calls++;", maker.random.word(&["0", "1", "5"]))),
        _ => {}
    }
    let arrays = maker.arrays;
    Kernel { before, body, arrays }
}
