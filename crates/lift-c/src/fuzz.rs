//! Hostile text for the frontend, and the properties that it must have: an answer, never a panic, a hang or a stack
//! overflow; and the same answer whether innermost loops run in chunks or statement by statement. The fuzz target calls [`check_text`]; the tests call [`check_seeds`] for a second.

use crate::source::Source;
use std::path::Path;
use std::time::{Duration, Instant};
use updates::{Fault, FaultKind, Final, Floating, Hashed, Hashes, Limits, Nobody, Observer, Symbolic, execute};

/// Texts that mutation starts from: they reach every part of the grammar.
const SEEDS: [&str; 6] = [
    "void f(int n, double A[4][4], const float *x) {\n#pragma scop\nfor (int i = 0; i < ((n)<(4)?(n):(4)); i++) A[i][i] += x[i] * 0.5f;\n}\n",
    "struct p { double x, y[2]; };\nstatic inline int g(int a) { switch (a % 3) { case 0: return 1; default: break; } return -a; }\ndouble f(struct p *s, int k) { double t = 0; while (k-- > 0) { if (s->x > t) t = s->x; else continue; } do t += s->y[g(k) & 1]; while (0); return t; }\n",
    "typedef unsigned char u8; enum { A = 2, B };\nu8 buf[A][B];\nvoid f(u8 q[8], long n) { u8 *p = q, *e = q + 8; for (; p != e; p++) *p = (u8)(*p << 1 | *p >> 7); (void)n; buf[1][0] ^= q[~0 & 1 ? 2 : 3]; }\n",
    "int f(int a[2][2]) { int *p = &a[0][1]; return *p++ + p[-1] - (int)((2)*(double)sizeof(int)), !a[1][1]; }\n",
    "static int lo(int a, int b) { return a < b ? a : b; }\nvoid f(int n, double A[9][8], double *x) { for (int t = 0; t < 9; t += n) for (int i = t; i <= lo(t + 2, 8); i++) for (int j = 1; j < 7; j++) { if (j == i) A[i][j] = 0; if (i + j > 6 && j != 3) x[j - 1] += A[i][j + 1] * (j < 4 ? x[2 * j] : i); else A[8 - i][j] -= 2.5; } }\n",
    "void f(unsigned char n, float y[20], int c[20]) { double s = 1; unsigned i; for (i = 15; i < 16; i--) y[i] = c[i] > 2 ? y[i + 1] : s; signed char k = 100; int q = 0; while (k > 90) { int m = 3 * q - 2; y[q] = m; c[m > 0 ? m % 20 : 0] = k; q = q + 1; k -= 2; } do { s += y[q--]; } while (q > 1); y[0] = s; (void)n; }\n",
];

/// One text through the whole frontend, with small bounds.
pub fn check_text(text: &str) {
    let Ok(source) = Source::from_preprocessed(Path::new("fuzz.c"), text) else { return };
    let parameters = [("n".to_string(), 3), ("k".to_string(), 2)];
    for entry in source.functions() {
        let Ok(program) = source.lower(&entry.name, &parameters) else { continue };
        let mut domain = Symbolic::new(Hashes, Floating::Ieee);
        let limits = &Limits { cells: 100_000, turns: 100_000, ..Limits::default() };
        // A fault is an answer, too.
        let fast = execute(&program, &mut domain, &mut Nobody, limits, &[]);
        let slow = execute(&program, &mut domain, &mut Watching, limits, &[]);
        if let Some((fast, slow)) = differing(fast, slow) {
            panic!("{text}\nin chunks: {fast}\nby statements: {slow}");
        }
    }
}

/// Sees every statement, so that no loop is run in chunks.
pub struct Watching;

impl<V> Observer<V> for Watching {
    const ACTIVE: bool = true;
}

type Ended = Result<Final<Hashed>, Box<Fault>>;

/// How two runs of one program differ; runs that a limit ended may.
pub fn differing(fast: Ended, slow: Ended) -> Option<(String, String)> {
    let limited = |run: &Ended| matches!(run, Err(f) if matches!(f.kind, FaultKind::Time | FaultKind::Memory));
    if limited(&fast) || limited(&slow) {
        return None;
    }
    let shown = |run: Ended| match run {
        Ok(end) => format!("{:?} {} {:?}", end.objects, end.updates, end.divisions),
        Err(fault) => format!("{:?} {} [{}] {}", fault.kind, fault.detail, fault.instance, fault.conditional),
    };
    let (fast, slow) = (shown(fast), shown(slow));
    (fast != slow).then_some((fast, slow))
}

/// Random numbers below a bound, from a seed.
fn numbers(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    }
}

/// A loop whose turns depend on each other in many ways: cells at several distances, scalars, other steps, values that
/// nobody wrote.
pub fn carried(number: u64) -> String {
    let mut random = numbers(number);
    let (first, step) = (40 + random(3) as i64, [1, 1, 2, 3, -1, -2][random(6)]);
    let turns = [3, 5, 9, 130, 300][random(5)];
    let last = first + step * turns;
    let (start, test) = if step > 0 { (first, "<") } else { (first + 300, ">") };
    let behind = if step > 0 { last } else { start + step * turns };
    let cell = |random: &mut dyn FnMut(usize) -> usize| {
        let by = [1, 1, 1, 1, 2, 0, -1][random(7)];
        let offset = [0, 0, 1, -1, 2, -3, 7, -129][random(8)];
        let array = ["a", "b", "l"][random(3)];
        match by {
            0 => format!("{array}[{}]", 50 + random(3)),
            -1 => format!("{array}[1400 - i + {offset}]"),
            _ => format!("{array}[{by} * i + 200 + {offset}]"),
        }
    };
    let value = |random: &mut dyn FnMut(usize) -> usize| match random(7) {
        0 => "s".to_string(),
        1 => "t".to_string(),
        2 => "i".to_string(),
        3 => "2.5".to_string(),
        _ => cell(random),
    };
    let mut body = String::new();
    for _ in 0..1 + random(4) {
        let target = match random(6) {
            0 => "s".to_string(),
            1 => "t".to_string(),
            _ => value(&mut random),
        };
        let target = if target == "i" || target == "2.5" { "s".to_string() } else { target };
        let (x, y, z) = (value(&mut random), value(&mut random), value(&mut random));
        let op = ["=", "=", "+=", "-="][random(4)];
        let expr = match random(6) {
            0 => x,
            1 => format!("{x} * {y} + {z}"),
            2 => format!("{x} < {y} ? {y} : {z}"),
            3 => format!("sqrt({x}) / {y}"),
            4 => format!("(float)({x} - {y}) * {z}"),
            _ => format!("{x} + {y}"),
        };
        body += &match random(8) {
            0 => format!("double u = {expr}; {target} {op} u; "),
            1 => format!("if (i % 7 < 3) {target} {op} {expr}; "),
            _ => format!("{target} {op} {expr}; "),
        };
        if random(6) == 0 {
            body = format!("{{ {body} }}");
        }
    }
    let filled = if random(8) == 0 { "" } else { "for (int i = 0; i < 2000; i++) l[i] = i; " };
    format!(
        "double sqrt(double); double f(double a[2000], double b[2000], double s) {{ double l[2000], t = 1; {filled}for (int i = {start}; i {test} {behind}; i += {step}) {{ {body} }} a[0] += t; b[1] = l[60]; return s; }}"
    )
}

/// Mutations of the seeds, by a number.
pub fn mutated(number: u64) -> String {
    let mut random = numbers(number);
    let mut words: Vec<String> =
        SEEDS[random(SEEDS.len())].split_inclusive(|c: char| !c.is_alphanumeric()).map(str::to_string).collect();
    for _ in 0..1 + random(6) {
        let at = random(words.len());
        match random(6) {
            0 => drop(words.remove(at)),
            1 => words.insert(at, words[random(words.len())].clone()),
            2 => {
                let other = random(words.len());
                words.swap(at, other);
            }
            3 => {
                words[at] =
                    ["(", "[", "*", "9999999999999999999", "0x", "'", "int ", "for(", "}", "#"][random(10)].into()
            }
            4 => words[at] = "(".repeat(1 + random(3000)),
            _ => words.truncate(at.max(1)),
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

/// The property on as many mutations as fit the time.
pub fn check_seeds(time: Duration) -> u64 {
    let start = Instant::now();
    let mut count = 0;
    while start.elapsed() < time {
        check_text(&mutated(count));
        check_text(&carried(count));
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutated_kernels_get_an_answer() {
        let run = || check_seeds(Duration::from_secs(1));
        // Programs are walked recursively; the command line uses a thread with a large stack, too.
        let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run).expect("a thread");
        assert!(thread.join().expect("no panic") > 10);
    }

    #[test]
    fn most_carried_loops_run_to_their_end() {
        let ends = |number: u64| {
            let source = Source::from_preprocessed(Path::new("k.c"), &carried(number)).ok()?;
            let program = source.lower("f", &[]).ok()?;
            let mut domain = Symbolic::new(Hashes, Floating::Ieee);
            execute(&program, &mut domain, &mut Nobody, &Limits::default(), &[]).ok()
        };
        let count = (0..200).filter(|n| ends(*n).is_some()).count();
        assert!(count > 120, "{count} of 200");
    }

    #[test]
    fn deep_nesting_is_refused() {
        for text in ["(", "[", "{", "-", "a?", "a+", "*", "if(a)", "for(;;)"] {
            check_text(&format!("int f(int a) {{ return {}a; }}", text.repeat(20_000)));
        }
        check_text(&format!("int {}a{};", "(".repeat(50_000), ")".repeat(50_000)));
        check_text(&format!("#define a {}\n{}", "a b".repeat(10), "a ".repeat(100)));
    }
}
