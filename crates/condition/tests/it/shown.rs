//! What is shown of expressions, and that it means the same.

use crate::interface::{SOURCE, of};
use condition::Interface;
use expect_test::expect;
use kernel::Expression;
use proptest::prelude::*;
use std::sync::OnceLock;

/// Reads texts together, shows what they mean, and reads that again.
fn again(texts: &[&str], interface: &Interface) -> Vec<String> {
    let first = condition::parse_all(texts, interface).unwrap_or_else(|(_, error)| panic!("{}", error.message));
    let shown = condition::render_all(&first.conjuncts, interface);
    let again: Vec<&str> = shown.iter().map(String::as_str).collect();
    let mut second = condition::parse_all(&again, interface).unwrap_or_else(|(_, error)| panic!("{}", error.message));
    let missing = first.conjuncts.iter().filter(|c| !second.conjuncts.contains(c)).count();
    second.conjuncts.retain(|c| !first.conjuncts.contains(c));
    assert!(missing == 0 && second.conjuncts.is_empty(), "{texts:?}\n{shown:?}\n{:?}", second.conjuncts);
    shown
}

#[test]
fn conditions_are_shown_as_they_are_written() {
    let interface = of(SOURCE);
    let texts = [
        "aligned(p, 16)",
        "k < 1ul<<40 && apart(p, 8*k, q, 8*k + 8)",
        "apart(p, 4*n, q, 64)",
        "k % 4 == 0",
        "k % 24 == 7",
        "n % 3 == 0",
        "n <= 1<<24 && n > -5",
        "u < n",
        "m < 7 && u >= 3000000000",
        "v->val == 0",
        "p[3] == q[0]",
        "p[n + 1] == *q",
        "p[-1] != 5",
        "n < m || n == 7 && m != 3",
        "q == p + 1",
        "q < p && q != 0",
        "x == x",
        "x < 0.5 && y >= 1",
        "v->next->in[1].w == 2.5f",
        "v->next->in[2].s == 3",
        "v->l == 0 && v->d == 0",
        "g == 5 && head == v && first.val",
        "table[2] < x && table[n] == 0",
        "c == 'a' && b > 'z'",
        "t && !b",
        "z.s == 3 && z.w < 1",
        "grid[2][3] == 7 && grid[n][3] == 1",
        "(n & 3) == 1 && (n | 8) != 9 && ~n < 5",
        "n >> 3 == m",
        "bits(y) == 0 && bits(v->d) == bits(x)",
        "*(int *)r == 4 && *((long *)r + 2) == 5",
        "(n == 0 ? 1 : m) == 3",
        "x - 2 == 0 || y / 2 < 1",
        "aligned(p, 256) && c == 0",
    ];
    let mut out = String::new();
    for text in texts {
        out += &format!("{text}  =>  {}\n", again(&[text], &interface).join("  &  "));
    }
    expect![[r#"
        aligned(p, 16)  =>  aligned(p, 16)
        k < 1ul<<40 && apart(p, 8*k, q, 8*k + 8)  =>  k < 1ul<<40  &  apart(p, 8 * k, q, 8 * k + 8)
        apart(p, 4*n, q, 64)  =>  apart(p, 4 * n, q, 64)
        k % 4 == 0  =>  k % 4 == 0
        k % 24 == 7  =>  k % 24 == 7
        n % 3 == 0  =>  n % 3 == 0
        n <= 1<<24 && n > -5  =>  n <= 1<<24  &  n > -5
        u < n  =>  u < (unsigned int)n
        m < 7 && u >= 3000000000  =>  m < 7  &  (long)u >= 3000000000
        v->val == 0  =>  v->val == 0
        p[3] == q[0]  =>  p[3] == *q
        p[n + 1] == *q  =>  p[n + 1] == *q
        p[-1] != 5  =>  p[-1] != 5
        n < m || n == 7 && m != 3  =>  n < m || n == 7 && m != 3
        q == p + 1  =>  q == p + 1
        q < p && q != 0  =>  q < p  &  q != 0
        x == x  =>  x == x
        x < 0.5 && y >= 1  =>  x < 0.5  &  y >= 1.0f
        v->next->in[1].w == 2.5f  =>  v->next->in[1].w == 2.5f
        v->next->in[2].s == 3  =>  v->next->in[2].s == 3
        v->l == 0 && v->d == 0  =>  v->l == 0  &  as_double((unsigned long)v->l) == 0.0
        g == 5 && head == v && first.val  =>  g == 5  &  head == v  &  first.val != 0
        table[2] < x && table[n] == 0  =>  table[2] < x  &  table[n] == 0.0
        c == 'a' && b > 'z'  =>  c == 97  &  b > 122
        t && !b  =>  t  &  !b
        z.s == 3 && z.w < 1  =>  z.s == 3  &  z.w < 1.0f
        grid[2][3] == 7 && grid[n][3] == 1  =>  grid[2][3] == 7  &  grid[n][3] == 1
        (n & 3) == 1 && (n | 8) != 9 && ~n < 5  =>  (n & 3) == 1  &  (n | 8) != 9  &  ~n < 5
        n >> 3 == m  =>  n >> 3 == m
        bits(y) == 0 && bits(v->d) == bits(x)  =>  bits(y) == 0  &  v->l == bits(x)
        *(int *)r == 4 && *((long *)r + 2) == 5  =>  *(unsigned int *)r == 4  &  *(unsigned long *)(r + 16) == 5
        (n == 0 ? 1 : m) == 3  =>  (n == 0 ? 1 : m) == 3
        x - 2 == 0 || y / 2 < 1  =>  x - 2.0 == 0.0 || y / 2.0f < 1.0f
        aligned(p, 256) && c == 0  =>  aligned(p, 256)  &  c == 0
    "#]]
    .assert_eq(&out);
}

fn interface() -> &'static Interface {
    static INTERFACE: OnceLock<Interface> = OnceLock::new();
    INTERFACE.get_or_init(|| of(SOURCE))
}

/// Numbers in C's words.
fn number(depth: u32) -> BoxedStrategy<String> {
    let names =
        ["n", "u", "m", "k", "c", "b", "g", "p[1]", "*q", "v->val", "v->next->l", "table[1] < x", "z.s", "grid[1][2]"];
    let atom = prop_oneof![
        3 => (0..names.len()).prop_map(move |i| format!("({})", names[i])),
        1 => prop_oneof![-20i64..20, Just(1 << 20), Just(-(1 << 31)), Just(0xffff_ffff), Just(1 << 40)]
            .prop_map(|n| format!("({n})")),
    ];
    if depth == 0 {
        return atom.boxed();
    }
    let signs = ["+", "-", "*", "&", "|", "^", "<<", ">>"];
    let both = (0..signs.len(), number(depth - 1), number(depth - 1));
    let casts = ["int", "unsigned", "long", "unsigned long", "short", "unsigned char"];
    prop_oneof![
        2 => atom,
        4 => both.prop_map(move |(i, a, b)| format!("({a} {} {b})", signs[i])),
        1 => (number(depth - 1), 1u32..40, any::<bool>())
            .prop_map(|(a, n, rest)| format!("({a} {} {n})", if rest { "%" } else { "/" })),
        1 => (0..casts.len(), number(depth - 1)).prop_map(move |(i, a)| format!("(({}){a})", casts[i])),
        1 => number(depth - 1).prop_map(|a| format!("(-{a})")),
        1 => number(depth - 1).prop_map(|a| format!("(p[{a}])")),
    ]
    .boxed()
}

fn truth(depth: u32) -> BoxedStrategy<String> {
    let signs = ["==", "!=", "<", "<=", ">", ">="];
    let compared = (0..signs.len(), number(depth), number(depth));
    let atom = prop_oneof![
        4 => compared.prop_map(move |(i, a, b)| format!("({a} {} {b})", signs[i])),
        1 => (number(0), 1u32..8).prop_map(|(a, k)| format!("aligned({a}, {})", 1 << k)),
        1 => number(0).prop_map(|a| format!("(q - {a} <= p)")),
    ];
    if depth == 0 {
        return atom.boxed();
    }
    prop_oneof![
        3 => atom,
        1 => (truth(depth - 1), truth(depth - 1)).prop_map(|(a, b)| format!("({a} || {b})")),
        1 => (truth(depth - 1), truth(depth - 1)).prop_map(|(a, b)| format!("({a} && {b})")),
        1 => truth(depth - 1).prop_map(|a| format!("(!{a})")),
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 300, ..ProptestConfig::default() })]

    /// What is shown means what was read, whatever it is.
    #[test]
    fn what_is_shown_is_read_to_the_same(text in truth(2)) {
        if let Ok(parsed) = condition::parse(&text, interface()) {
            let shown = condition::render_all(&parsed.conjuncts, interface());
            let texts: Vec<&str> = shown.iter().map(String::as_str).collect();
            let again = condition::parse_all(&texts, interface()).expect("a text that can be read");
            prop_assert_eq!(&again.conjuncts, &parsed.conjuncts, "{} shown as {:?}", text, shown);
        }
    }
}

/// Without debug information registers have their names.
#[test]
fn registers_without_debug_information() {
    let interface = crate::interface::compiled("long f(long a, int b) { return a + b; }", &["-O2"]);
    for (text, shown) in [("rdi < 5", "rdi < 5"), ("esi == 3", "esi == 3"), ("aligned(rdx, 8)", "aligned(rdx, 8)")] {
        assert_eq!(again(&[text], &interface), [shown]);
    }
    let raw = Expression::parse("(= (slice 3 7 $rdi) #7:1)").expect("an expression");
    assert_eq!(condition::render(&raw, &interface), "{(= (slice 3 7 $rdi) #7:1)}");
}
