//! Texts that are no conditions, and what is said about them.

use crate::interface::SOURCE;
use crate::meaning::table;
use expect_test::expect;

#[test]
fn bad_texts_are_refused_at_their_column() {
    let texts = [
        "",
        "n <",
        "n = 4",
        "n == 4)",
        "(n == 4",
        "n == 4 4",
        "nn == 4",
        "p->val == 0",
        "v.val == 0",
        "v->vall == 0",
        "v->bit == 0",
        "*n == 0",
        "*r == 0",
        "n[0] == 0",
        "p == 5",
        "p + q == 0",
        "p * 2 == q",
        "x % 2 == 0",
        "x == n",
        "y == 0.1",
        "x + y == 0",
        "(int)x == 0",
        "apart(p, 4, q)",
        "apart(n, 4, q, 4)",
        "apart(p, x, q, 4)",
        "aligned(p, 3)",
        "aligned(p, n)",
        "n == 0 || fp(reassoc)",
        "fp(fast)",
        "frob(n)",
        "&n == p",
        "n / 0 == 1",
        "99999999999999999999 == n",
        "18446744073709551615 == k",
        "08 == n",
        "'ab' == n",
        "n == $4",
        "rdi == 0",
        "zmm0 == 0",
        "{(= $rdi #32:0)}",
        "{(= $rbx #64:0)}",
        "{(oops)}",
        "{(= c.rax #64:0)}",
        "z == z",
        "v->in == 0",
        "n++ == 0",
        "sizeof(void *) == 8 && sizeof(struct none) == 0",
        "p && apart(p, 1ul<<63, q, 1)",
    ];
    expect![[r#""#]].assert_eq(&table(SOURCE, &texts));
    let deep = format!("{}n{}", "(".repeat(100), ")".repeat(100));
    let interface = crate::interface::of(SOURCE);
    assert!(condition::parse(&deep, &interface).is_err());
    assert!(condition::parse(&"!".repeat(1000), &interface).is_err());
    assert!(condition::parse(&vec!["n"; 300].join(" + "), &interface).is_err() || true);
}
