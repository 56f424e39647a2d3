//! One accepted and one rejected case for each rule of the kernel.

use crate::programs::Programs;
use kernel::LocalClaim;

/// The candidate `right` is accepted, `wrong` is not and for this reason.
fn tells_apart(header: &str, original: &str, right: &str, wrong: &str, reason: &str) {
    assert_eq!(Programs::assembly(header, original, right).verdict(&[]), "accepted", "the right candidate");
    assert_eq!(Programs::assembly(header, original, wrong).verdict(&[]), reason, "the wrong candidate");
}

const INT: &str = "prototype: int f(int a, int b)";
const POINTER: &str = "prototype: int f(int *p)";
const CALLS: &str = "prototype: int f(int a, int b)\ncalls: int g(int);\ncalls: int h(int);";
const WRITES_AND_CALLS: &str = "prototype: int f(int *p)\ncalls: int g(int *);";
const BY_POINTER: &str = "prototype: int f(int (*a)(void), int (*b)(void))";

#[test]
fn results_are_equal() {
    let original = "lea eax, [rdi + rsi]\nret";
    tells_apart(
        INT,
        original,
        "mov eax, esi\nadd eax, edi\nret",
        "mov eax, esi\nsub eax, edi\nret",
        "obligation: the result",
    );
}

#[test]
fn results_are_equal_on_every_path() {
    let original = "mov eax, edi\ntest edi, edi\njns 1f\nneg eax\n1: ret";
    let right = "mov eax, edi\nsar edi, 31\nxor eax, edi\nsub eax, edi\nret";
    tells_apart(INT, original, right, "mov eax, edi\nret", "obligation: the result");
}

/// What lies between two bytes that the original reads is on the page of one of them.
#[test]
fn reads_between_reads_of_the_original_are_possible() {
    let original = "mov eax, [rdi]\nadd eax, [rdi + 8]\nret";
    let right = "mov rax, [rdi]\nadd eax, [rdi + 8]\nret";
    let behind = "mov rax, [rdi + 8]\nadd eax, [rdi]\nret";
    tells_apart(
        POINTER,
        original,
        right,
        behind,
        "obligation: the candidate reads rdi + 8, which the original does not",
    );
    let before = "mov rax, [rdi - 4]\nshr rax, 32\nadd eax, [rdi + 8]\nret";
    tells_apart(
        POINTER,
        original,
        right,
        before,
        "obligation: the candidate reads rdi - 4, which the original does not",
    );
    let writes = "mov eax, [rdi]\nadd eax, [rdi + 8]\nmov ecx, [rdi + 4]\nmov [rdi + 4], ecx\nret";
    tells_apart(
        POINTER,
        original,
        right,
        writes,
        "obligation: the candidate writes rdi + 4, which the original does not",
    );
}

/// A whole page may be missing between two bytes that are further apart.
#[test]
fn reads_between_reads_on_distant_pages_are_not() {
    let original = "mov eax, [rdi]\nadd eax, [rdi + 4092]\nret";
    let far = "mov eax, [rdi]\nadd eax, [rdi + 4096]\nret";
    let between = |end: u32| format!("mov ecx, [rdi + 2048]\nmov eax, [rdi]\nadd eax, [rdi + {end}]\nret");
    assert_eq!(Programs::assembly(POINTER, original, &between(4092)).verdict(&[]), "accepted");
    let refused = "obligation: the candidate reads rdi + 0x800, which the original does not";
    assert_eq!(Programs::assembly(POINTER, far, &between(4096)).verdict(&[]), refused);
    // A byte that is read on one way only is no neighbour on the other.
    let guarded = "mov eax, [rdi]\ntest eax, eax\nje 1f\nadd eax, [rdi + 8]\n1: ret";
    let always = "mov rcx, [rdi]\nmov eax, ecx\ntest eax, eax\nje 1f\nadd eax, [rdi + 8]\n1: ret";
    let within = "mov eax, [rdi]\ntest eax, eax\nje 1f\nmov rcx, [rdi]\nadd eax, [rdi + 8]\n1: ret";
    tells_apart(POINTER, guarded, within, always, "obligation: the candidate reads rdi, which the original does not");
}

#[test]
fn callees_are_the_same() {
    let original = "sub rsp, 8\ncall g\nadd rsp, 8\nret";
    tells_apart(CALLS, original, "jmp g", "jmp h", "obligation: the original calls g, the candidate calls h");
}

#[test]
fn arguments_are_equal() {
    let original = "sub rsp, 8\ninc edi\ncall g\nadd rsp, 8\nret";
    tells_apart(CALLS, original, "add edi, 1\njmp g", "add edi, 2\njmp g", "obligation: argument 1 of g");
}

#[test]
fn no_call_is_left_out() {
    let original = "push rbx\nmov ebx, edi\ncall g\nmov eax, ebx\npop rbx\nret";
    let right = "push rbp\nmov ebp, edi\ncall g\nmov eax, ebp\npop rbp\nret";
    tells_apart(CALLS, original, right, "mov eax, edi\nret", "obligation: the original calls, the candidate returns");
}

#[test]
fn no_call_is_added() {
    let right = "xor eax, eax\nret";
    let wrong = "sub rsp, 8\ncall g\nadd rsp, 8\nxor eax, eax\nret";
    tells_apart(CALLS, "mov eax, 0\nret", right, wrong, "obligation: the original returns, the candidate calls");
}

#[test]
fn called_pointers_are_equal() {
    let original = "sub rsp, 8\ncall rdi\nadd rsp, 8\nret";
    tells_apart(BY_POINTER, original, "jmp rdi", "jmp rsi", "obligation: the address called");
}

#[test]
fn the_stack_is_aligned_at_calls() {
    let original = "sub rsp, 8\ncall g\nadd rsp, 8\nret";
    let right = "sub rsp, 24\ncall g\nadd rsp, 24\nret";
    tells_apart(CALLS, original, right, "call g\nret", "obligation: the candidate's stack is misaligned at a call");
}

#[test]
fn callee_saved_registers_are_restored() {
    let original = "mov eax, edi\nret";
    let right = "push rbx\nmov ebx, edi\nmov eax, ebx\npop rbx\nret";
    tells_apart(
        INT,
        original,
        right,
        "mov ebx, edi\nmov eax, ebx\nret",
        "obligation: the candidate does not restore rbx",
    );
}

#[test]
fn callee_saved_registers_are_restored_before_a_tail_call() {
    let original = "sub rsp, 8\ncall g\nadd rsp, 8\nret";
    let right = "push rbx\nmov ebx, edi\npop rbx\njmp g";
    tells_apart(CALLS, original, right, "mov ebx, edi\njmp g", "obligation: the candidate does not restore rbx");
}

#[test]
fn the_direction_flag_is_clear() {
    let wrong = "std\nmov eax, edi\nret";
    let reason = "obligation: the candidate leaves the direction flag set";
    tells_apart(INT, "mov eax, edi\nret", "std\nmov eax, edi\ncld\nret", wrong, reason);
}

#[test]
fn the_candidate_faults_only_where_the_original_does() {
    let original = "mov eax, edi\ncdq\nidiv esi\nmov eax, edx\nret";
    let right = "mov eax, edi\ncdq\nidiv esi\nxchg eax, edx\nret";
    assert_eq!(Programs::assembly(INT, original, right).verdict(&[]), "accepted");
    let verdict =
        Programs::assembly(INT, "xor eax, eax\nret", "mov eax, edi\ncdq\nidiv esi\nxor eax, eax\nret").verdict(&[]);
    assert!(verdict.starts_with("obligation: the candidate may fault"), "{verdict}");
}

#[test]
fn the_candidate_writes_only_where_the_original_does() {
    let reason = "obligation: the candidate writes rdi, which the original does not";
    tells_apart(POINTER, "mov eax, [rdi]\nret", "mov eax, [rdi]\nret", "mov eax, [rdi]\nmov [rdi], eax\nret", reason);
}

#[test]
fn the_candidate_reads_only_where_the_original_does() {
    let reason = "obligation: the candidate reads rdi, which the original does not";
    tells_apart(POINTER, "mov eax, 0\nret", "xor eax, eax\nret", "mov eax, [rdi]\nxor eax, eax\nret", reason);
}

#[test]
fn memory_is_equal_at_returns() {
    let (original, right) = ("mov dword ptr [rdi], 1\nret", "mov eax, 1\nmov [rdi], eax\nret");
    let header = "prototype: void f(int *p)";
    tells_apart(header, original, right, "mov dword ptr [rdi], 2\nret", "obligation: memory at the return, at rdi");
}

#[test]
fn memory_is_equal_at_calls() {
    let original = "sub rsp, 8\nmov dword ptr [rdi], 1\ncall g\nadd rsp, 8\nret";
    let reason = "obligation: memory at the call of g, at rdi";
    tells_apart(WRITES_AND_CALLS, original, "mov dword ptr [rdi], 1\njmp g", "mov dword ptr [rdi], 2\njmp g", reason);
}

#[test]
fn loops_are_not_walked() {
    let right = "mov eax, edi\nret";
    let wrong = "mov eax, edi\n1: dec esi\njnz 1b\nret";
    tells_apart(INT, right, right, wrong, "obligation: the original returns, the candidate loops");
    assert_eq!(
        Programs::assembly(INT, wrong, right).verdict(&[]),
        "obligation: the original loops, the candidate returns"
    );
}

#[test]
fn certificates_are_about_this_version() {
    let programs = Programs::assembly(INT, "mov eax, edi\nret", "mov eax, edi\nret");
    let certificate = programs.certificate(&[]);
    assert!(programs.check(&certificate).is_ok());
    let mut wrong = certificate.clone();
    wrong.original_hash = "0".repeat(wrong.original_hash.len());
    assert!(matches!(programs.check(&wrong), Err(kernel::Rejection::Malformed(_))));
    let mut wrong = certificate;
    wrong.candidate_hash.pop();
    assert!(matches!(programs.check(&wrong), Err(kernel::Rejection::Malformed(_))));
}

/// A claim about an object at these offsets.
fn claim(original: i64, candidate: i64, size: u64) -> LocalClaim {
    LocalClaim { original: Some(original), candidate: Some(candidate), size, escapes: false }
}

#[test]
fn claims_lie_apart_and_inside_the_frame() {
    let programs = Programs::assembly(INT, "mov eax, edi\nret", "mov eax, edi\nret");
    assert_eq!(programs.verdict(&[claim(-16, -8, 8), claim(-8, -16, 8)]), "accepted");
    assert_eq!(programs.verdict(&[claim(-16, -16, 9), claim(-8, -32, 8)]), "malformed: local objects overlap");
    assert_eq!(programs.verdict(&[claim(-32, -16, 9), claim(-16, -8, 8)]), "malformed: local objects overlap");
    assert_eq!(programs.verdict(&[claim(-8, -16, 9)]), "malformed: a local object lies outside the frame");
    assert_eq!(programs.verdict(&[claim(-16, -8, 9)]), "malformed: a local object lies outside the frame");
    for impossible in [claim(-8, -8, 0), claim(i64::MIN, -8, 8), claim(-8, i64::MAX, 8), claim(-8, -8, u64::MAX)] {
        assert_eq!(programs.verdict(&[impossible]), "malformed: a local object has an impossible size or offset");
    }
}

#[test]
fn claims_do_not_cut_what_debug_information_describes() {
    let text = "void fill(int *); int f(void) { int a[4]; a[1] = 7; fill(a); return a[1]; }";
    let programs = Programs::c(text, text);
    let a = programs.prepare().pair.original().locals[0].clone();
    let cut = |offset, size| programs.verdict(&[claim(offset, -64, size)]);
    assert_eq!(cut(a.offset, a.size - 4), "malformed: a local object cuts the original's `a`");
    assert_eq!(cut(a.offset + 4, a.size - 4), "malformed: a local object cuts the original's `a`");
    assert!(!cut(a.offset, a.size).starts_with("malformed"));
}

#[test]
fn the_end_of_an_object_is_not_where_the_next_one_is_compared() {
    // What lies behind a claimed object may be another one: its content counts.
    let header = "prototype: void f(int a)\ncalls: void g(int *p, int *q);";
    let text = |second: &str| {
        format!(
            "sub rsp, 24\nmov dword ptr [rsp + 8], edi\nmov dword ptr [rsp + 12], {second}\nlea rdi, [rsp + 8]
             lea rsi, [rsp + 12]\ncall g\nadd rsp, 24\nret"
        )
    };
    let escaping = |offset, size| LocalClaim { escapes: true, ..claim(offset, offset, size) };
    let wrong = Programs::assembly(header, &text("edi"), &text("eax"));
    assert_eq!(wrong.verdict(&[escaping(-16, 4)]), "unbound: -12 and -12");
    assert!(wrong.verdict(&[escaping(-16, 4), escaping(-12, 4)]).starts_with("obligation: memory"));
    let right = Programs::assembly(header, &text("edi"), &text("edi"));
    assert_eq!(right.verdict(&[escaping(-16, 4)]), "unbound: -12 and -12");
    assert_eq!(right.verdict(&[escaping(-16, 4), escaping(-12, 4)]), "accepted");
}
