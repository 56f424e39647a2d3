//! What an execution of a piece finds: values, memory, faults, and where it stops.

use crate::execution::{Fixture, run};
use expect_test::{Expect, expect};

/// A function `f(rdi, rsi)` of which only the points are written.
fn finds(points: &str, expected: Expect) {
    let programs = format!("f(rdi:8, rsi:8) → rax:8\n{points}");
    let found = run(Fixture { programs: &programs, ..Fixture::default() });
    expected.assert_eq(&found.events.join("\n"));
}

#[test]
fn operations_of_a_point_run_one_after_another() {
    finds(
        "  p0:\n    rax := rdi + 1\n    rdi := 2*rax\n    rax := rax ^ rdi\n    return",
        expect!["returns rdi + 1 ^ 2*rdi + 2"],
    );
}

#[test]
fn paths_meet_in_a_choice() {
    finds(
        "  p0:\n    → p1 if rdi <u 8\n    → p2\n  p1:\n    rax := rsi\n    → p3\n  p2:\n    rax := 7\n    → p3\n  p3: return",
        expect!["returns rdi <u 8 ? rsi : 7"],
    );
    // Both ways set the same.
    finds(
        "  p0:\n    → p1 if rdi <u 8\n    → p2\n  p1:\n    rax := 7\n    → p3\n  p2:\n    rax := 7\n    → p3\n  p3: return",
        expect!["returns 7"],
    );
}

#[test]
fn two_returns_are_two_arrivals() {
    finds(
        "  p0:\n    → p1 if rdi <u 8\n    → p2\n  p1:\n    rax := rsi\n    return\n  p2:\n    rax := 7\n    return",
        expect![[r#"
            returns 7 if rdi >=u 8
            returns rsi if rdi <u 8"#]],
    );
}

#[test]
fn the_frame_keeps_what_is_stored() {
    finds("  p0:\n    mem[rsp - 8, 8] := rdi\n    rax := mem[rsp - 8, 8]\n    return", expect!["returns rdi"]);
    finds(
        "  p0:\n    mem[rsp - 8, 8] := rdi\n    mem[rsp - 6, 2] := rsi[15:0]\n    rax := mem[rsp - 8, 8]\n    return",
        expect!["returns rdi[63:32] ++ rsi[15:0] ++ rdi[15:0]"],
    );
    // Not what was never stored.
    finds(
        "  p0:\n    mem[rsp - 8, 4] := rdi[31:0]\n    rax := mem[rsp - 8, 8]\n    return",
        expect!["returns frame.original[-4, 4] ++ rdi[31:0]"],
    );
}

#[test]
fn the_world_keeps_whole_and_partial_stores() {
    finds("  p0:\n    mem[rdi, 8] := rsi\n    rax := mem[rdi, 8]\n    return", expect!["returns rsi"]);
    finds(
        "  p0:\n    mem[rdi, 8] := rsi\n    mem[rdi + 4, 1] := 5\n    rax := mem[rdi, 8]\n    return",
        expect!["returns rsi[63:40] ++ 0x5:8 ++ rsi[31:0]"],
    );
    finds(
        "  p0:\n    mem[rdi, 4] := rsi[31:0]\n    rax := mem[rdi + 2, 8]\n    return",
        expect!["returns world[rdi + 4, 6] ++ rsi[31:16]"],
    );
}

#[test]
fn constant_objects_are_read_and_others_are_not() {
    let program = |object: &str| {
        format!("  object &a data local {object}8 bytes content \"abcdefgh\"\n  p0:\n    rax := mem[&a, 8]\n    return")
    };
    finds(&program("read only "), expect!["returns 0x6867666564636261"]);
    let changing = "  object &a data local 8 bytes start \"abcdefgh\"\n  p0:\n    rax := mem[&a, 8]\n    return";
    finds(changing, expect!["returns world[&a, 8]"]);
}

#[test]
fn faults_are_found_where_they_can_happen() {
    finds(
        "  p0:\n    fault (divide) if rdi == 0\n    rax := rsi /u rdi\n    return",
        expect![[r#"
        faults (division) if rdi == 0
        returns rsi /u rdi"#]],
    );
    finds(
        "  p0:\n    rdi := 3\n    fault (divide) if rdi == 0\n    rax := rsi /u rdi\n    return",
        expect!["returns rsi /u 3"],
    );
    finds(
        "  p0:\n    → p1 if rdi == 0\n    → p2\n  p1: fault (trap)\n  p2:\n    rax := 1\n    return",
        expect![[r#"
        faults (trap) if rdi == 0
        returns 1"#]],
    );
}

#[test]
fn the_return_address_and_the_callers_frame_are_not_written() {
    finds(
        "  p0:\n    mem[rsp, 8] := rdi\n    rax := 1\n    return",
        expect![[r#"stuck: Unsupported { side: Original, address: 0, what: "return address overwritten" }"#]],
    );
    finds(
        "  p0:\n    mem[rsp + 8, 8] := rdi\n    rax := 1\n    return",
        expect![[r#"stuck: Unsupported { side: Original, address: 0, what: "access to the caller's frame" }"#]],
    );
    finds(
        "  p0:\n    mem[rsp - 200, 8] := rdi\n    rax := 1\n    return",
        expect![[r#"stuck: Unsupported { side: Original, address: 0, what: "access below the stack" }"#]],
    );
    finds("  p0:\n    mem[rsp - 100, 8] := rdi\n    rax := 1\n    return", expect!["returns 1"]);
}

#[test]
fn loops_are_no_pieces() {
    finds(
        "  p0: → p1\n  p1:\n    rdi := rdi - 1\n    → p1 if rdi != 0\n    → p2\n  p2: return",
        expect!["stuck: Loop { side: Original, address: 1 }"],
    );
    finds(
        "  p0: → p1\n  p1:\n    rdi := rdi - 1\n    → p2\n  p2:\n    rax := rdi\n    return",
        expect!["returns rdi - 1"],
    );
}

#[test]
fn unknown_values_are_new_variables() {
    finds("  p0:\n    rax := unknown\n    return", expect!["returns undefined.original#"]);
    finds("  p0:\n    rax := unknown\n    rax := rdi\n    return", expect!["returns rdi"]);
}

#[test]
fn variable_frame_addresses_need_an_object() {
    finds(
        "  p0:\n    rax := mem[rsp - 32 + 8*(rdi & 3), 8]\n    return",
        expect![[
            r#"stuck: Unsupported { side: Original, address: 0, what: "variable frame access, of no local that is known" }"#
        ]],
    );
    finds(
        "  p0:\n    rax := rsp - 32\n    mem[rdi, 8] := rax\n    return",
        expect!["stuck: Unbound { side: Original, address: 1, offset: -32, escapes: true, index: None, span: None }"],
    );
    finds("  p0:\n    rax := rsp - 32\n    rax := rsp - rax\n    return", expect!["returns 32"]);
}
