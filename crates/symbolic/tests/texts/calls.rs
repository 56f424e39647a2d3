//! Calls: what a callee is taken to read, what it leaves, and what stays.

use crate::execution::{Fixture, run};
use expect_test::{Expect, expect};

/// A function `f(rdi, rsi)` of which what is known of callees, and the points, are written.
fn finds(rest: &str, expected: Expect) {
    let programs = format!("f(rdi:8, rsi:8) → rax:8\n{rest}");
    let found = run(Fixture { programs: &programs, ..Fixture::default() });
    let assumed = if found.assumed.is_empty() { String::new() } else { format!("\n{}", found.assumed.join(", ")) };
    expected.assert_eq(&(found.events.join("\n") + &assumed));
}

/// The same, where the call is all that there is.
fn passes(callee: &str, ops: &str, expected: Expect) {
    let ops: String = ops.lines().map(|op| format!("    {}\n", op.trim())).collect();
    finds(
        &format!("{callee}\n  p0:\n    rsp := rsp - 8\n{ops}    call g → p1\n  p1:\n    rsp := rsp + 8\n    return\n"),
        expected,
    );
}

/// A declaration does not hide what the original has set up, or still holds of its own arguments: the callee may look at it.
#[test]
fn what_is_set_up_is_passed_whatever_is_declared() {
    passes(
        "  callee g(rdi:4) → rax:8",
        "rdi := rsi",
        expect![[r#"
            calls g(rsi, rsi)
            returns g#"#]],
    );
    passes(
        "  callee g(rdi:8, rsi:8) → rax:8",
        "rdx := 5",
        expect![[r#"
            calls g(rdi, rsi, 5)
            returns g#"#]],
    );
    passes(
        "  callee g() → rax:8",
        "rdi := 5",
        expect![[r#"
            calls g(5, rsi)
            returns g#"#]],
    );
}

#[test]
fn without_a_declaration_all_that_was_set_up_is_passed() {
    passes(
        "",
        "rdi := 5",
        expect![[r#"
        calls g(5, rsi)
        returns g#"#]],
    );
    passes(
        "",
        "rdi := 5\nrsi := 6\nrdx := 7",
        expect![[r#"
        calls g(5, 6, 7)
        returns g#"#]],
    );
}

#[test]
fn narrow_arguments_are_as_wide_as_what_is_set_up() {
    passes(
        "  callee g(rdi:1 bool) → rax:8",
        "rdi := zext64(rsi[0])",
        expect![[r#"
            calls g(zext32(rsi[0]), rsi)
            returns g#"#]],
    );
    passes(
        "  callee g(rdi:4 from signed 2 bytes) → rax:8",
        "rdi := rsi",
        expect![[r#"
        calls g(rsi, rsi)
        returns g#"#]],
    );
}

#[test]
fn stack_arguments_lie_above_the_return_address() {
    passes(
        "  callee g(stack+0:8) → rax:8",
        "mem[rsp, 8] := rdi",
        expect![[r#"
        calls g(rdi, rdi, rsi)
        returns g#"#]],
    );
    passes(
        "  callee g(stack+0:8) → rax:8",
        "rsp := rsp - 8\nmem[rsp, 8] := rdi\nrsp := rsp + 8",
        expect![[r#"
        calls g(frame.original[-8, 8], rdi, rsi)
        returns g#"#]],
    );
}

#[test]
fn what_cannot_be_placed_is_refused() {
    passes(
        "  callee g(rdi:8), unsupported \"x87\"",
        "rdi := 5",
        expect![[r#"
        calls g(5, rsi), refused: x87
        returns g#"#]],
    );
}

#[test]
fn results_are_as_wide_as_they_are_declared() {
    passes(
        "  callee g() → rax:4",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        returns rax.original# ++ g#"#]],
    );
    passes(
        "  callee g() → rax:1 bool",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        returns rax.original# ++ 0x0:7 ++ g#"#]],
    );
    passes(
        "  callee g()",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        returns rax.original#"#]],
    );
}

#[test]
fn saved_registers_stay_and_others_do_not() {
    let program = |register: &str| {
        format!(
            "  callee g()\n  p0:\n    rsp := rsp - 8\n    {register} := rdi\n    call g → p1\n  p1:\n    rsp := rsp + 8\n    rax := {register}\n    return"
        )
    };
    finds(
        &program("rbx"),
        expect![[r#"
        calls g(rdi, rsi)
        returns rdi"#]],
    );
    finds(
        &program("rcx"),
        expect![[r#"
        calls g(rdi, rsi, rdi)
        returns rcx.original#"#]],
    );
}

#[test]
fn callees_change_the_world_and_not_the_frame() {
    let program = |contract: &str, place: &str| {
        format!(
            "  callee g() → rax:8\n{contract}  p0:\n    rbx := rdi\n    rsp := rsp - 24\n    mem[{place}, 8] := 1\n    call g → p1\n  p1:\n    rax := mem[{place}, 8]\n    rsp := rsp + 24\n    return"
        )
    };
    finds(
        &program("", "rbx"),
        expect![[r#"
            calls g(rdi, rsi)
            returns world#[rdi, 8]"#]],
    );
    finds(
        &program("", "rsp"),
        expect![[r#"
        calls g(rdi, rsi)
        returns 1"#]],
    );
    finds(
        &program("  contract g: effect preserves\n", "rbx"),
        expect![[r#"
            calls g(rdi, rsi)
            returns 1
            definition(g)"#]],
    );
}

#[test]
fn contracts_say_what_is_returned() {
    passes(
        "  callee g() → rax:8\n  contract g: result 5, result bytes 8",
        "rdi := 0",
        expect![[r#"
            calls g(0, rsi)
            returns 5
            definition(g)"#]],
    );
    passes(
        "  callee g(rdi:8) → rax:8\n  contract g: result is rdi, result bytes 8",
        "rdi := rsi",
        expect![[r#"
            calls g(rsi, rsi)
            returns rsi
            definition(g)"#]],
    );
    passes(
        "  callee g() → rax:8\n  contract g: result in 0..=7:64",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        returns zext64(g#)
        definition(g)"#]],
    );
    passes(
        "  callee g(rdi:8) → rax:8\n  contract g: effect pure",
        "rdi := rsi",
        expect![[r#"
        returns g.0(rsi)
        definition(g)"#]],
    );
}

#[test]
fn callees_that_never_return_end_the_path() {
    passes(
        "  callee g() never returns",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        does not return"#]],
    );
    passes(
        "  callee g()\n  contract g: never returns",
        "rdi := 0",
        expect![[r#"
        calls g(0, rsi)
        does not return
        definition(g)"#]],
    );
}

#[test]
fn library_functions_that_only_compute_are_no_calls() {
    let call = |name: &str| format!("  p0:\n    call {name} → p1\n  p1: return");
    finds(&call("strlen"), expect!["returns strlen(rdi, world)"]);
    finds(
        &call("puts"),
        expect![[r#"
        calls puts(rdi)
        returns rax.original# ++ puts#"#]],
    );
    // A definition of the file's own is not the library's.
    finds(
        &format!("  defines strlen\n  callee strlen(rdi:8) → rax:8\n{}", call("strlen")),
        expect![[r#"
        calls strlen(rdi)
        returns strlen#"#]],
    );
}
