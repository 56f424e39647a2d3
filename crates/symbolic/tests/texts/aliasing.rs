//! Every rule of aliasing: a program in which it decides that a read sees through a write, and one in which it must not.
//!
//! A program ends with a read and returns what it has read. Where the rule holds, that is 1, which was stored there first.

use crate::execution::{Fixture, run};

/// The fixtures of one rule. What is assumed where it decides is part of it.
struct Rule<'t> {
    name: &'static str,
    assumed: &'t [&'t str],
    decides: Fixture<'t>,
    must_not: &'t [Fixture<'t>],
}

fn shows(rule: Rule) -> &'static str {
    let found = run(rule.decides);
    assert!(
        found.rules.contains(rule.name),
        "{} does not decide {:?}\n{}",
        rule.name,
        found.rules,
        rule.decides.programs
    );
    assert_eq!(found.events.last().map(String::as_str), Some("returns 1"), "{}\n{}", rule.name, rule.decides.programs);
    assert_eq!(found.assumed, rule.assumed, "{}", rule.name);
    for fixture in rule.must_not {
        let found = run(*fixture);
        assert!(!found.rules.contains(rule.name), "{} decides\n{}", rule.name, fixture.programs);
        let last = found.events.last().map_or("", String::as_str);
        assert!(last.starts_with("returns ") && last != "returns 1", "{}: {last}\n{}", rule.name, fixture.programs);
    }
    rule.name
}

fn text(programs: &str) -> Fixture<'_> {
    Fixture { programs, ..Fixture::default() }
}

#[test]
fn every_rule_has_fixtures() {
    let groups: [fn() -> Vec<&'static str>; 6] =
        [by_address, of_two_objects, of_locals, of_statics, of_allocations, behind_objects];
    let shown: Vec<&str> = groups.iter().flat_map(|group| group()).collect();
    // Nothing but a compiler makes the frame of a variadic function: tests/pairs/stack has its pairs.
    let elsewhere = ["variadic-arguments"];
    let missing: Vec<&str> =
        symbolic::alias_rules().into_iter().filter(|name| !shown.contains(name) && !elsewhere.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

fn by_address() -> Vec<&'static str> {
    let first = shows(Rule {
        name: "known-distance",
        assumed: &[],
        decides: text(
            "
            f(rdi:8) → rax:8
              p0:
                mem[rdi, 8] := 1
                mem[rdi + 8, 8] := 2
                rax := mem[rdi, 8]
                return",
        ),
        must_not: &[
            text(
                "
            f(rdi:8) → rax:8
              p0:
                mem[rdi, 8] := 1
                mem[rdi + 7, 8] := 2
                rax := mem[rdi, 8]
                return",
            ),
            text(
                "
            f(rdi:8, rsi:8) → rax:8
              p0:
                mem[rdi, 8] := 1
                mem[rdi + 8*rsi, 8] := 2
                rax := mem[rdi, 8]
                return",
            ),
        ],
    });
    let second = shows(Rule {
        name: "volatile-trace",
        assumed: &[],
        decides: text(
            "
            f(rdi:8, rsi:8) → rax:8
              volatile at +0x1
              p0:
                mem[rdi, 8] := 1
                rcx := mem[rsi, 8]
                rax := mem[rdi, 8]
                return",
        ),
        must_not: &[text(
            "
            f(rdi:8, rsi:8) → rax:8
              p0:
                mem[rdi, 8] := 1
                mem[rsi, 8] := 2
                rax := mem[rdi, 8]
                return",
        )],
    });
    let two_pointers = "
            f(rdi:8, rsi:8) → rax:8
              p0:
                mem[rdi, 8] := 1
                mem[rsi, 8] := 2
                rax := mem[rdi, 8]
                return";
    let third = shows(Rule {
        name: "compared-distance",
        assumed: &[],
        decides: Fixture { given: Some("rsi - rdi + 7 >u 14"), ..text(two_pointers) },
        must_not: &[
            Fixture { given: Some("rsi - rdi + 7 >u 13"), ..text(two_pointers) },
            Fixture { given: Some("rsi - rdi + 6 >u 14"), ..text(two_pointers) },
            text(two_pointers),
        ],
    });
    let fourth = shows(Rule {
        name: "thread-address",
        assumed: &["errno-private"],
        decides: text(
            "
            f(rdi:8) → rax:8
              p0:
                rbx := rdi
                mem[rdi, 8] := 1
                call __errno_location → p1
              p1:
                mem[rax, 4] := 5
                rax := mem[rbx, 8]
                return",
        ),
        must_not: &[
            text(
                "
            f(rdi:8) → rax:8
              undefined behaviour counts
              p0:
                rbx := rdi
                mem[rdi, 8] := 1
                call __errno_location → p1
              p1:
                mem[rax, 4] := 5
                rax := mem[rbx, 8]
                return",
            ),
            text(
                "
            f(rdi:8) → rax:8
              p0:
                rbx := rdi
                mem[rdi, 8] := 1
                call __errno_location → p1
              p1:
                rcx := mem[rax, 8]
                mem[rcx, 4] := 5
                rax := mem[rbx, 8]
                return",
            ),
        ],
    });
    vec![first, second, third, fourth]
}

fn of_two_objects() -> Vec<&'static str> {
    let first = shows(Rule {
        name: "different-objects",
        assumed: &["disjoint-objects"],
        decides: text(
            "
            f() → rax:8
              object &a data 8 bytes
              object &b data 8 bytes
              p0:
                mem[&a, 8] := 1
                mem[&b, 8] := 2
                rax := mem[&a, 8]
                return",
        ),
        must_not: &[
            text(
                "
            f() → rax:8
              undefined behaviour counts
              object &a data 8 bytes
              object &b data 8 bytes
              p0:
                mem[&a, 8] := 1
                mem[&b, 8] := 2
                rax := mem[&a, 8]
                return",
            ),
            text(
                "
            f() → rax:8
              object &a data 8 bytes
              object &b data 8 bytes shared
              p0:
                mem[&a, 8] := 1
                mem[&b, 8] := 2
                rax := mem[&a, 8]
                return",
            ),
            text(
                "
            f(rdi:8) → rax:8
              object &a data 80 bytes
              p0:
                mem[&a, 8] := 1
                mem[&a + 8*rdi, 8] := 2
                rax := mem[&a, 8]
                return",
            ),
        ],
    });
    vec![first]
}

fn of_locals() -> Vec<&'static str> {
    // A local of eight bytes whose address is given away, then what `write` stores.
    let escaped = |write: &str| {
        format!(
            "
            f(rdi:8) → rax:8
              parameter p in rdi:8, pointer
              callee g(rdi:8) → rax:8
              p0:
                rbx := rdi
                rdi := rsp - 24
                rsp := rsp - 32
                call g → p1
              p1:
                rsp := rsp + 32
                mem[rsp - 24, 8] := 1
                {write}
                rax := mem[rsp - 24, 8]
                return"
        )
    };
    let locals: &[(i64, u64)] = &[(-24, 8)];
    let [before, result, index, sum] =
        ["mem[rbx, 8] := 2", "mem[rax, 8] := 2", "mem[rbx + 4*zext64(rax[31:0]), 4] := 2", "mem[rbx + rax, 4] := 2"]
            .map(escaped);
    let first = shows(Rule {
        name: "private-local",
        assumed: &[],
        decides: Fixture { locals, ..text(&before) },
        must_not: &[Fixture { locals, ..text(&result) }],
    });
    let second = shows(Rule {
        name: "local-escaped-later",
        assumed: &["in-bounds(rdi)"],
        decides: Fixture { locals, ..text(&index) },
        must_not: &[Fixture { locals, ..text(&sum) }],
    });
    vec![first, second]
}

fn of_statics() -> Vec<&'static str> {
    let program = |object: &str, write: &str| {
        format!(
            "
            f(rdi:8) → rax:8
              object &s data local 8 bytes{object}
              p0:
                mem[&s, 8] := 1
                {write}
                rax := mem[&s, 8]
                return"
        )
    };
    let first = shows(Rule {
        name: "unaliased-static",
        assumed: &["disjoint-objects", "unaliased-static(s)"],
        decides: text(&program(" unaliased", "mem[rdi, 8] := 2")),
        must_not: &[text(&program("", "mem[rdi, 8] := 2")), text(&program(" unaliased", "mem[&s + rdi, 8] := 2"))],
    });
    vec![first]
}

fn of_allocations() -> Vec<&'static str> {
    let program = |allocate: &str, write: &str| {
        format!(
            "
            f(rdi:8) → rax:8
              parameter p in rdi:8, pointer
              callee {allocate}(rdi:8) → rax:8
              callee g(rdi:8) → rax:8
              p0:
                rbx := rdi
                rdi := 64
                call {allocate} → p1
              p1:
                rbp := rax
                rdi := 0
                call g → p2
              p2:
                mem[rbp, 8] := 1
                {write}
                rax := mem[rbp, 8]
                return"
        )
    };
    let first = shows(Rule {
        name: "fresh-allocation",
        assumed: &["errno-private", "fresh-allocation", "in-bounds(malloc#)", "private-heap"],
        decides: text(&program("malloc", "mem[rbx, 8] := 2")),
        must_not: &[text(&program("h", "mem[rbx, 8] := 2")), text(&program("malloc", "mem[rax, 8] := 2"))],
    });
    let second = shows(Rule {
        name: "allocated-later",
        assumed: &["errno-private", "fresh-allocation", "in-bounds(malloc#)", "in-bounds(rdi)", "private-heap"],
        decides: text(&program("malloc", "mem[rbx + 4*zext64(rax[31:0]), 4] := 2")),
        must_not: &[
            text(&program("malloc", "mem[rbx + rax, 4] := 2")),
            text(&program("malloc", "mem[rbp + 4*zext64(rax[31:0]), 4] := 2")),
        ],
    });
    vec![first, second]
}

fn behind_objects() -> Vec<&'static str> {
    let program = |pointer: &str, distance: u64| {
        format!(
            "
            f(rdi:8) → rax:8
              parameter p in rdi:8{pointer}
              object &a data 16 bytes
              p0:
                mem[&a, 8] := 1
                mem[rdi + {distance}, 8] := 2
                rax := mem[&a, 8]
                return"
        )
    };
    let first = shows(Rule {
        name: "behind-object",
        assumed: &["disjoint-objects", "in-bounds(rdi)"],
        decides: text(&program(", pointer", 8)),
        must_not: &[
            text(&program(", pointer", 7)),
            text(&program("", 8)),
            text(&program(", pointer", 4096)),
            text(&program(", pointer", 0)),
        ],
    });
    vec![first]
}
