//! The text form of functions: what is read is printed again as it was, and no text makes the reader panic.

use expect_test::{Expect, expect};
use program::{Function, Next, Op, Register, read_function, read_functions, write_function};
use term::{Arena, Form};

/// Every part of a function, in the form in which it is printed.
const EVERYTHING: &str = include_str!("everything.program");

fn arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}

fn read(text: &str) -> Function {
    read_function(&mut arena(), text, Form::AsWritten).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// What is read of a short text, printed.
fn reads(text: &str, expected: Expect) {
    let mut arena = arena();
    expected.assert_eq(&match read_functions(&mut arena, text, Form::Normal) {
        Ok(functions) => functions.iter().map(|function| write_function(&arena, function)).collect(),
        Err(error) => error.to_string(),
    });
}

#[test]
fn every_part_of_a_function_is_read_and_printed_again() {
    let mut arena = arena();
    let function = read_function(&mut arena, EVERYTHING, Form::AsWritten).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(write_function(&arena, &function), EVERYTHING);
    let again = read_function(&mut arena, EVERYTHING, Form::Normal).unwrap();
    assert_eq!(format!("{:?}", again.objects), format!("{:?}", function.objects));
}

#[test]
fn what_is_usual_need_not_be_said() {
    let text = "
        f(rdi:8) → rax:8
          object &a data 8 bytes
          p0:
            rax := mem[&a, 8]
            rax := rax + 1
            -> p1 if rax == 0
            -> p2
          p1: fault (trap)
          p2: return
        g
          p0: tail call f // a remark
    ";
    reads(
        text,
        expect![[r#"
            f(rdi:8) → rax:8
              object &a data 8 bytes
              p0:
                rax := mem[&a, 8]
                rax := rax + 1
                → p1 if rax == 0
                → p2
              p1: fault (trap)
              p2: return
            g
              p0: tail call f
        "#]],
    );
    let function = read(text.split("        g\n").next().unwrap());
    let object = function.objects.values().next().unwrap();
    assert_eq!((object.align, object.promised_align, object.linkage), (1, 1, program::Linkage::External));
    assert_eq!(function.points[0].ops.iter().map(|(place, _)| *place).collect::<Vec<_>>(), [0, 1]);
    assert!(matches!(function.points[0].ops[0].1, Op::Load { bytes: 8, .. }));
    assert!(matches!(&function.points[0].next, Next::Edges(edges) if edges.len() == 2));
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    reads("f\n", expect!["2:1: `f` has no point"]);
    reads("f\n  p0: return\n  p0: return\n", expect!["3:3: the next point is p1"]);
    reads("f\n  p0: → p1\n", expect!["2:9: there is no such point"]);
    reads("f\n  p0:\n    rax := 1\n", expect!["4:1: the point does not say where control goes"]);
    reads("f\n  p0:\n    rax := zf\n    return\n", expect!["3:12: this is a bool, not a bv64"]);
    reads("f\n  p0:\n    t := 1\n    return\n", expect!["3:10: nothing tells the width; a constant can, as `1:8`"]);
    reads("f\n  p0:\n    rax := mem[rdi, 4]\n    return\n", expect!["3:5: `rax` does not have 4 bytes"]);
    reads("f\n  p0:\n    rax := mem[rdi, 8] + 1\n    return\n", expect!["3:24: the line should end here"]);
    reads("f\n  p0:\n    → p0\n    → p0\n", expect!["4:5: only the last edge leaves out its guard"]);
    reads("f\n  p0: call g\n", expect!["2:13: `,` expected"]);
    reads("f\n  object a data\n  p0: return\n", expect!["2:10: the name of an address expected: `&name`"]);
    reads("f\n  frobs\n  p0: return\n", expect!["2:3: neither a point nor anything known of a function"]);
    reads(
        "f\n  p0: return\n  private\n",
        expect!["3:3: a point expected: what is known of a function stands before its points"],
    );
    reads("f(rax)\n  p0: return\n", expect!["1:6: `:` expected"]);
    reads("f(eax:4)\n  p0: return\n", expect!["1:3: a register expected"]);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let (mut read, mut refused) = (0, 0);
    let chars: Vec<char> = EVERYTHING.chars().collect();
    let mut state = 1u64;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % limit
    };
    for _ in 0..4000 {
        let mut text = chars.clone();
        for _ in 0..1 + below(3) {
            let (at, other) = (below(text.len()), below(text.len()));
            match below(8) {
                0 | 1 => drop(text.remove(at)),
                2 | 3 => text.insert(at, text[at]),
                4 | 5 => text[at] = text[other],
                6 => text.swap(at, other),
                _ => text.truncate(text.len() - below(40)),
            }
        }
        match read_functions(&mut arena(), &text.into_iter().collect::<String>(), Form::Normal) {
            Ok(_) => read += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

/// The example of docs/program-text.md is what is printed of what is read.
#[test]
fn the_example_of_the_document() {
    let page = include_str!("../../../docs/program-text.md");
    let example = page.split("```program\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let mut arena = arena();
    let function = read_function(&mut arena, example, Form::Normal).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(write_function(&arena, &function), example);
}
