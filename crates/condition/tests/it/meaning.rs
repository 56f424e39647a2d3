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
        "sizeof(struct node) == 56 && sizeof *v == 56 && sizeof n == 4",
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
    expect![[r#"
        aligned(p, 16)  =>  (= (slice 0 4 $rdi) #4:0)
        apart(p, 4*n, q, 4*n)  =>  (apart $rdi (mul #64:4 (sext 64 $rdx)) $rsi (mul #64:4 (sext 64 $rdx)))
        apart(p, 8*k, q, 8*k)  =>  (<u $r9 #64:1152921504606846976) & (apart $rdi (mul #64:8 $r9) $rsi (mul #64:8 $r9))
        k < 1ul<<40 && apart(p, 8*k, q, 8*(k+1))  =>  (<u $r9 #64:1099511627776) & (apart $rdi (mul #64:8 $r9) $rsi (mul #64:8 (add $r9 #64:1)))
        apart(p, 4*n*m, q, 4)  =>  (= (sext 128 (mul (mul #64:4 (sext 64 $rdx)) $r8)) (mul (mul (sext 128 #64:4) (sext 128 $rdx)) (sext 128 $r8))) & (apart $rdi (mul (mul #64:4 (sext 64 $rdx)) $r8) $rsi #64:4)
        k % 4 == 0  =>  (= (urem $r9 #64:4) #64:0)
        n % 4 == 0  =>  (= (urem $rdx #32:4) #32:0)
        n % 3 == 0  =>  (= (srem $rdx #32:3) #32:0)
        n <= 1<<24  =>  (<=s $rdx #32:16777216)
        k <= 1<<24  =>  (<=u $r9 #64:16777216)
        u < n  =>  (<u $rcx $rdx)
        m < u  =>  (<s $r8 (zext 64 $rcx))
        n < 0  =>  (<s $rdx #32:0)
        v->val == 0  =>  (= (load 4 $stack.0) #32:0)
        p[3] == q[0]  =>  (= (load 4 (add $rdi #64:12)) (load 4 $rsi))
        p[n] == *q  =>  (= (load 4 (add $rdi (mul #64:4 (sext 64 $rdx)))) (load 4 $rsi))
        n < m || n == 7  =>  (or (<s (sext 64 $rdx) $r8) (= $rdx #32:7))
        q == p + 1  =>  (= $rsi (add $rdi #64:4))
        q != p  =>  (not (= $rsi $rdi))
        p <= q - n  =>  (<=u $rdi (sub $rsi (mul #64:4 (sext 64 $rdx))))
        q - p >= 4  =>  (<=s #64:4 (sdiv (sub $rsi $rdi) #64:4))
        n == 0 || apart(p, 4*n, q, 4)  =>  (or (= $rdx #32:0) (apart $rdi (mul #64:4 (sext 64 $rdx)) $rsi #64:4))
        x == x  =>  (feq $xmm0 $xmm0)
        x < 0.5 && y >= 1  =>  (flt $xmm0 #64:4602678819172646912) & (fle #32:1065353216 $xmm1)
        -x != 0  =>  (not (feq (bitxor $xmm0 #64:-9223372036854775808) #64:0))
        fp(reassoc, add-zero)  =>  axiom reassoc & axiom add-zero
        v->next->in[1].w == 2.5f  =>  (feq (load 4 (add (load 8 (add $stack.0 #64:8)) #64:28)) #32:1075838976)
        v->next->in[u].s == 3  =>  (= (sext 32 (load 2 (add (load 8 (add $stack.0 #64:8)) (mul #64:8 (zext 64 $rcx)) #64:16))) #32:3)
        v->l == 0 && v->d == 0  =>  (= (load 8 (add $stack.0 #64:40)) #64:0) & (feq (load 8 (add $stack.0 #64:40)) #64:0)
        &v->in[1].w != &v->in[0].w  =>  (not (= (add $stack.0 #64:28) (add $stack.0 #64:20)))
        g == 5 && head == v && first.val  =>  (= (load 4 &g) #32:5) & (= (load 8 &head) $stack.0) & (not (= (load 4 &first) #32:0))
        table[2] < x  =>  (flt (load 8 (add &table #64:16)) $xmm0)
        c == 'a' && b > 'z'  =>  (= $stack.8 #32:97) & (<s #32:122 $stack.16)
        c < b  =>  (<s $stack.8 $stack.16)
        t  =>  (not (= (slice 0 8 $stack.24) #8:0))
        !t  =>  (= (slice 0 8 $stack.24) #8:0)
        e == FAST  =>  (= $stack.32 #32:7)
        z.s == 1 && z.w == y  =>  (= (sext 32 (slice 0 16 $stack.40)) #32:1) & (feq (slice 32 32 $stack.40) $xmm1)
        grid[1][2] == 0  =>  (= (load 4 (add $stack.48 #64:48)) #32:0)
        (unsigned long)r % 32 == 0  =>  (= (urem $stack.56 #64:32) #64:0)
        ((int *)r)[1] == 0  =>  (= (load 4 (add $stack.56 #64:4)) #32:0)
        (char)n == n  =>  (= (sext 32 (slice 0 8 $rdx)) $rdx)
        sizeof(struct node) == 56 && sizeof *v == 56 && sizeof n == 4  =>  
        n ? p == NULL : q == 0  =>  (or (and (not (= $rdx #32:0)) (= $rdi #64:0)) (and (= $rdx #32:0) (= $rsi #64:0)))
        (n & 3) == 0  =>  (= (and $rdx #32:3) #32:0)
        ~n == -1  =>  (= (bitnot $rdx) #32:-1)
        n >> 1 == u >> 1  =>  (= (ashr $rdx #32:1) (lshr $rcx #32:1))
        (u << m) == 0  =>  (= (slice 0 32 (shl (zext 64 $rcx) $r8)) #32:0)
        (n > 0) == (m > 0)  =>  (= (ite (<s #32:0 $rdx) #32:1 #32:0) (ite (<s #64:0 $r8) #32:1 #32:0))
        (n > 0) == 1  =>  (<s #32:0 $rdx)
        0x10u == u && 010 == n && 0b11 == n  =>  (= $rcx #32:16) & (= $rdx #32:8) & (= $rdx #32:3)
        bits(x) == 0  =>  (= $xmm0 #64:0)
        u - 1 > 5  =>  (<u #32:5 (add $rcx #32:-1))
        p  =>  (not (= $rdi #64:0))
        n / 2 > 3 && u / 2 > 3  =>  (<s #32:3 (sdiv $rdx #32:2)) & (<u #32:3 (udiv $rcx #32:2))
        {(= (slice 3 5 $rdx) #5:7)}  =>  (= (slice 3 5 $rdx) #5:7)
        16 > n  =>  (<s $rdx #32:16)
    "#]].assert_eq(&table(SOURCE, &texts));
}
