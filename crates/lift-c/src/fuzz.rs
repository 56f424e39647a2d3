//! Hostile text for the frontend, and the property that it must have: an answer, never a panic, a hang or a stack
//! overflow. The fuzz target calls [`check_text`]; the tests call [`check_seeds`] for a second.

use crate::preprocess::Settings;
use crate::source::Source;
use std::path::Path;
use std::time::{Duration, Instant};
use updates::{Floating, Hashes, Limits, Nobody, Symbolic, execute};

/// Texts that mutation starts from: they reach every part of the grammar.
const SEEDS: [&str; 4] = [
    "#define N 4\n#define min(a,b) ((a)<(b)?(a):(b))\nvoid f(int n, double A[N][N], const float *x) {\n#pragma scop\nfor (int i = 0; i < min(n, N); i++) A[i][i] += x[i] * 0.5f;\n}\n",
    "struct p { double x, y[2]; };\nstatic inline int g(int a) { switch (a % 3) { case 0: return 1; default: break; } return -a; }\ndouble f(struct p *s, int k) { double t = 0; while (k-- > 0) { if (s->x > t) t = s->x; else continue; } do t += s->y[g(k) & 1]; while (0); return t; }\n",
    "typedef unsigned char u8; enum { A = 2, B };\nu8 buf[A][B];\nvoid f(u8 q[8], long n) { u8 *p = q, *e = q + 8; for (; p != e; p++) *p = (u8)(*p << 1 | *p >> 7); (void)n; buf[1][0] ^= q[~0 & 1 ? 2 : 3]; }\n",
    "#if defined(X) && X > 2\nbad\n#elif 1\n#define C(i) ((i)*(double)sizeof(int))\n#endif\nint f(int a[2][2]) { int *p = &a[0][1]; return *p++ + p[-1] - (int)C(2), !a[1][1]; }\n",
];

/// One text through the whole frontend, with small bounds.
pub fn check_text(text: &str) {
    let settings = Settings::default();
    // Texts that would start the system's preprocessor are another matter.
    if text.contains("include") || text.contains("##") {
        return;
    }
    let Ok(source) = Source::from_text(Path::new("fuzz.c"), text, &settings) else { return };
    let parameters = [("n".to_string(), 3), ("k".to_string(), 2)];
    for entry in source.functions() {
        let Ok(program) = source.lower(&entry.name, &parameters) else { continue };
        let mut domain = Symbolic::new(Hashes, Floating::Ieee);
        let limits = Limits {
            deadline: Some(Instant::now() + Duration::from_millis(20)),
            cells: 100_000,
            turns: 100_000,
            ..Limits::default()
        };
        // A fault is an answer, too.
        let _ = execute(&program, &mut domain, &mut Nobody, limits, &[]);
    }
}

/// Mutations of the seeds, by a number.
pub fn mutated(number: u64) -> String {
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
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
    fn deep_nesting_is_refused() {
        for text in ["(", "[", "{", "-", "a?", "a+", "*", "if(a)", "for(;;)"] {
            check_text(&format!("int f(int a) {{ return {}a; }}", text.repeat(20_000)));
        }
        check_text(&format!("int {}a{};", "(".repeat(50_000), ")".repeat(50_000)));
        check_text(&format!("#define a {}\n{}", "a b".repeat(10), "a ".repeat(100)));
    }
}
