//! Loops that the original never leaves: where a path contradicts every exit, and where it only seems to.

use crate::loops::{claimed, heads, point};
use crate::programs::{Programs, render_rejection};
use kernel::Certificate;

/// `for (i = 0; i <= n; i++) s++;`, with something more in each turn.
fn original(turn: &str) -> String {
    format!("xor eax, eax\nxor ecx, ecx\n1: cmp ecx, edi\njg 2f\nadd eax, 1\n{turn}inc ecx\njmp 1b\n2: ret")
}

/// The same as a count of `n + 1` turns, which ends for the largest `n`.
fn counted(turn: &str, count: &str) -> String {
    format!(
        "xor eax, eax\nxor ecx, ecx\ntest edi, edi\njs 2f\n{count}\n1: add eax, 1\n{turn}inc ecx\ncmp ecx, edx\njne 1b\n2: ret"
    )
}

/// What the kernel says if both count alike while `i <= n`.
fn verdict(original: &str, candidate: &str, both: &[&str], holds: &[&str]) -> String {
    let programs = Programs::assembly("prototype: int f(long n)", original, candidate);
    let claim = point(heads(&programs), both, &[], holds);
    render(&programs, &claimed(&programs, vec![claim]))
}

fn render(programs: &Programs, certificate: &Certificate) -> String {
    match programs.check(certificate) {
        Ok(proof) => {
            let used: Vec<String> = proof.assumptions().iter().map(ToString::to_string).collect();
            format!("accepted: {}", used.join(", "))
        }
        Err(rejection) => format!("rejected: {}", render_rejection(&rejection)),
    }
}

const ORDER: &[&str] = &["(<=s o.rcx{0,32} o.rdi{0,32})", "(<=s #32:0 o.rcx{0,32})"];

#[test]
fn a_loop_that_cannot_be_left_is_taken_to_end() {
    let found = verdict(&original(""), &counted("", "lea edx, [rdi + 1]"), &["rax", "rcx"], ORDER);
    assert!(found.starts_with("accepted") && found.contains("finite-loops(f+0x4)"), "{found}");
}

#[test]
fn one_turn_less_is_not_excused() {
    let found = verdict(&original(""), &counted("", "lea edx, [rdi + 2]"), &["rax", "rcx"], ORDER);
    assert!(found.starts_with("rejected"), "{found}");
}

/// The bound of the loop changes in it: it is left, though no turn with the first bound leaves it.
#[test]
fn a_bound_that_changes_does_not_hold_for_ever() {
    let shrinking = original("dec edi\n");
    let early = shrinking.replace("1: cmp ecx, edi", "cmp edi, 0x7fffffff\nje 2f\n1: cmp ecx, edi");
    let both = ["rax", "rcx", "rdi"];
    assert_eq!(verdict(&shrinking, &shrinking, &both, &[]), "accepted: ");
    let found = verdict(&shrinking, &early, &both, &[]);
    assert!(found.starts_with("rejected: obligation: the original loops, the candidate returns"), "{found}");
}

/// What a callee does in each turn can be observed, so the loop may go on for ever.
#[test]
fn a_loop_with_calls_may_go_on() {
    let call = "push rdi\npush rcx\npush rax\nmov edi, ecx\ncall g\npop rax\npop rcx\npop rdi\n";
    let with_call = original(call);
    let early = with_call.replace("1: cmp ecx, edi", "cmp edi, 0x7fffffff\nje 2f\n1: cmp ecx, edi");
    let found = verdict(&with_call, &early, &["rax", "rcx"], &[]);
    assert!(found.starts_with("rejected"), "{found}");
}

/// A loop without an exit is never taken to end.
#[test]
fn a_loop_without_an_exit_goes_on() {
    let endless = "xor eax, eax\nxor ecx, ecx\n1: inc ecx\njmp 1b";
    let programs = Programs::assembly("prototype: int f(long n)", endless, "xor eax, eax\nret");
    let found = render(&programs, &programs.certificate(&[]));
    assert!(found.starts_with("rejected"), "{found}");
}
