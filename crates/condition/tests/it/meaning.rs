//! What texts become.

use crate::interface::{SOURCE, of};
use expect_test::expect;
use std::fmt::Write as _;

/// A line for each text: the conjuncts that it becomes.
pub fn table(source: &str, texts: &[&str]) -> String {
    let interface = of(source);
    let mut out = String::new();
    for text in texts {
        let shown = match condition::parse(text, &interface) {
            Ok(parsed) => {
                let mut parts: Vec<String> = parsed.conjuncts.iter().map(ToString::to_string).collect();
                parts.extend(parsed.axioms.iter().map(|axiom| format!("axiom {axiom}")));
                parts.join(" & ")
            }
            Err(error) => format!("column {}: {}", error.column + 1, error.message),
        };
        let _ = writeln!(out, "{text}  =>  {shown}");
    }
    out
}

#[test]
fn pointers_and_numbers() {
    let texts = [
        "aligned(p, 16)",
        "apart(p, 4*n, q, 4*n)",
        "apart(p, 8*k, q, 8*k)",
        "k < 1ul<<40 && apart(p, 8*k, q, 8*(k+1))",
        "apart(p, 4*n*m, q, 4)",
        "k % 4 == 0",
        "n % 4 == 0",
        "n % 3 == 0",
        "n <= 1<<24",
        "k <= 1<<24",
        "u < n",
        "m < u",
        "n < 0",
        "v->val == 0",
        "p[3] == q[0]",
        "p[n] == *q",
        "n < m || n == 7",
        "q == p + 1",
        "q != p",
        "p <= q - n",
        "q - p >= 4",
        "n == 0 || apart(p, 4*n, q, 4)",
        "x == x",
        "x < 0.5 && y >= 1",
        "-x != 0",
        "fp(reassoc, add-zero)",
        "v->next->in[1].w == 2.5f",
        "v->next->in[u].s == 3",
        "v->l == 0 && v->d == 0",
        "&v->in[1].w != &v->in[0].w",
        "g == 5 && head == v && first.val",
        "table[2] < x",
        "c == 'a' && b > 'z'",
        "c < b",
        "t",
        "!t",
        "e == FAST",
        "z.s == 1 && z.w == y",
        "grid[1][2] == 0",
        "(unsigned long)r % 32 == 0",
        "((int *)r)[1] == 0",
        "(char)n == n",
        "sizeof(struct node) == 48 && sizeof *v == 48 && sizeof n == 4",
        "n ? p == NULL : q == 0",
        "(n & 3) == 0",
        "~n == -1",
        "n >> 1 == u >> 1",
        "(u << m) == 0",
        "(n > 0) == (m > 0)",
        "(n > 0) == 1",
        "0x10u == u && 010 == n && 0b11 == n",
        "bits(x) == 0",
        "u - 1 > 5",
        "p",
        "n / 2 > 3 && u / 2 > 3",
        "{(= (slice 3 5 $rdx) #5:7)}",
        "16 > n",
    ];
    expect![[r#""#]].assert_eq(&table(SOURCE, &texts));
}
