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
    expect![[r#"
          =>  column 1: a value expected
        n <  =>  column 4: a value expected
        n = 4  =>  column 3: `=` changes something, a condition cannot; equality is `==`
        n == 4)  =>  column 7: an operator or the end expected
        (n == 4  =>  column 8: `)` expected
        n == 4 4  =>  column 8: an operator or the end expected
        nn == 4  =>  column 1: f has no `nn`; it knows p, q, n, u, m, k, v, x, y, c, b, t, e, z, grid, r, g, head, first, table
        p->val == 0  =>  column 2: `int` has no members
        v.val == 0  =>  column 2: `struct node *` is a pointer: write `->`
        v->vall == 0  =>  column 2: `struct node` has no member `vall`
        v->bit == 0  =>  column 2: `bit` is a bit field, which conditions cannot read
        *n == 0  =>  column 1: `int` is no pointer
        *r == 0  =>  column 1: a pointer to `void` points to nothing that has a value; cast it
        n[0] == 0  =>  column 2: `int` is no array
        p == 5  =>  column 3: a pointer is compared with a number; cast one of them
        p + q == 0  =>  column 3: a pointer moves by a whole number, not by `int *`
        p * 2 == q  =>  column 3: `*` of `int *` and `int`
        x % 2 == 0  =>  column 3: `%` of a floating-point number
        x == n  =>  column 3: only a constant can be made a floating-point number, or one of another size
        y == 0.1  =>  column 3: the constant is no `float`; write it with an `f` to have it rounded to one
        x + y == 0  =>  column 3: only a constant can be made a floating-point number, or one of another size
        (int)x == 0  =>  column 1: `double` cannot be made `int`
        apart(p, 4, q)  =>  column 1: apart(p, BYTES, q, BYTES) expected
        apart(n, 4, q, 4)  =>  column 7: an address expected
        apart(p, x, q, 4)  =>  column 10: a number of bytes expected
        aligned(p, 3)  =>  column 12: a power of two expected
        aligned(p, n)  =>  column 12: a power of two expected
        n == 0 || fp(reassoc)  =>  column 11: an axiom is a condition of its own, not a part of another
        fp(fast)  =>  column 4: `fast` is no axiom; there are reassoc, add-zero, mul-zero, mul-one, distribute
        frob(n)  =>  column 1: `frob` is no function of conditions; there are apart, aligned, fp, bits
        &n == p  =>  column 1: a parameter has no address at entry
        n / 0 == 1  =>  column 3: division by zero
        99999999999999999999 == n  =>  column 1: `99999999999999999999` does not fit into 64 bits
        18446744073709551615 == k  =>  column 1: the number is too large for its type; write it with `ul`
        08 == n  =>  column 1: `08` is no number
        'ab' == n  =>  column 1: a character between quotes expected
        n == $4  =>  column 6: `$` has no meaning here
        rdi == 0  =>  (= $rdi #64:0)
        zmm0 == 0  =>  column 1: f has no `zmm0`; it knows p, q, n, u, m, k, v, x, y, c, b, t, e, z, grid, r, g, head, first, table
        {(= $rdi #32:0)}  =>  column 1: `(= $rdi #32:0)` does not fit f
        {(= $rbx #64:0)}  =>  column 1: `(= $rbx #64:0)` does not fit f
        {(oops)}  =>  column 1: `oops` is no operator
        {(= c.rax #64:0)}  =>  column 1: `(= c.rax #64:0)` does not fit f
        z == z  =>  column 1: `struct inner` is neither a number nor a pointer
        v->in == 0  =>  (= (add $stack.0 #64:16) #64:0)
        n++ == 0  =>  column 2: `++` changes something, a condition cannot
        sizeof(void *) == 8 && sizeof(struct none) == 0  =>  column 31: no `struct none` is known
        p && apart(p, 1ul<<63, q, 1)  =>  column 18: the extent does not fit into 64 bits
    "#]].assert_eq(&table(SOURCE, &texts));
    let deep = format!("{}n{}", "(".repeat(100), ")".repeat(100));
    let interface = crate::interface::of(SOURCE);
    assert!(condition::parse(&deep, &interface).is_err());
    assert!(condition::parse(&"!".repeat(1000), &interface).is_err());
    assert!(condition::parse(&format!("{} == 0", vec!["n"; 300].join(" * ")), &interface).is_err());
}
