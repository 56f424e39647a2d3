//! The text form of terms: what is printed is read back as the same term, and no text makes the reader panic.

use expect_test::{Expect, expect};
use term::generate::Generator;
use term::{Arena, Form, Sort, TermId};

fn registers() -> Arena {
    let mut arena = Arena::new();
    for name in ["rax", "rdi", "rsi"] {
        arena.var(name, Sort::Bv(64));
    }
    arena.var("zf", Sort::Bool);
    arena.var("mem", Sort::Memory);
    arena
}

/// What is read from a text, printed; or what is wrong with it.
fn reads(text: &str, expected: Expect) {
    let mut arena = registers();
    let read = match arena.read(text, None, Form::Normal) {
        Ok(term) => format!("{}: {}", arena.text_alone(term), arena.sort(term)),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&read);
}

#[test]
fn widths_follow_from_what_stands_around() {
    reads("zext64(rdi[31:0] + 3)", expect!["zext64(rdi[31:0] + 3): bv64"]);
    reads("mem{rdi, 4 := zf ? 1 : 0}[rsi, 2]", expect!["mem{rdi, 4 := zf ? 1 : 0}[rsi, 2]: bv16"]);
    reads("zf ? 1:8 : 0", expect!["zf ? 1:8 : 0: bv8"]);
    reads("zext64(zf ? 1 : 0:8)", expect!["zf ? 1:64 : 0: bv64"]);
    reads("x:32 + 2*x == 7", expect!["x == 0xaaaaaaad: bool"]);
    reads("fadd64(rax, 0x3ff0000000000000)", expect!["fadd64(rax, 0x3ff0000000000000): bv64"]);
    reads("f:8(rdi, 3:16) ++ 0:8", expect!["0x100*zext16(f:8(rdi, 3:16)): bv16"]);
    reads("rdi <=u rsi", expect!["rsi >=u rdi: bool"]);
    reads("&a + 8", expect!["&a + 8: bv64"]);
    reads("let a = rdi*rsi\nlet b = a + a\nb ^ a", expect!["rdi*rsi ^ 2*(rdi*rsi): bv64"]);
    reads("`strange name`:bool && !zf // a remark", expect!["`strange name` && !zf: bool"]);
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    reads("", expect!["1:1: a term expected"]);
    reads("rdi +", expect!["1:6: a term expected"]);
    reads("rdi + r99", expect!["1:7: nothing of this name is known; a new variable shows its sort, as `r99:64`"]);
    reads("rdi + zf", expect!["1:7: this is a bool, not bits"]);
    reads("rdi + rsi[31:0]", expect!["1:10: this is a bv32, what it stands beside is a bv64"]);
    reads("rdi[64]", expect!["1:1: this has 64 bits, not bits 64 to 64"]);
    reads("zf ? 1 : 0", expect!["1:6: nothing tells the width; a constant can, as `1:8`"]);
    reads("zext64(1)", expect!["1:8: nothing tells the width; a constant can, as `1:8`"]);
    reads("zext64(rdi)", expect!["1:1: an extension makes its operand wider, up to 512 bits"]);
    reads("rdi:32", expect!["1:1: `rdi` is a bv64, not a bv32"]);
    reads("256:8", expect!["1:1: the number does not fit 8 bits"]);
    reads("mem == mem", expect!["1:1: memories are not compared"]);
    reads("mem[rdi, 0]", expect!["1:10: an access has 1 to 64 bytes"]);
    reads("fadd64(rdi)", expect!["1:1: 2 operands expected"]);
    reads("let a = rdi\n\na + ;", expect!["3:5: nothing begins with this character"]);
    reads("rdi rsi", expect!["1:5: the term should end here"]);
    reads(&"(".repeat(100_000), expect!["1:221: nested too deeply"]);
    reads(&"~".repeat(100_000), expect!["1:222: nested too deeply"]);
}

fn generated(seeds: std::ops::Range<u64>, steps: u32, mut check: impl FnMut(&mut Arena, TermId)) {
    for seed in seeds {
        let mut arena = Arena::new();
        let mut generator = Generator::new(&mut arena, seed << 32);
        for _ in 0..steps {
            let term = generator.step(&mut arena);
            check(&mut arena, term);
        }
    }
}

#[test]
fn what_is_printed_is_read_back_as_the_same_term() {
    generated(0..60, 200, |arena, term| {
        let text = arena.text_alone(term);
        for form in [Form::AsWritten, Form::Normal] {
            let read = arena.read(&text, None, form).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert_eq!(read, term, "{form:?}\n{text}\n{}", arena.text_alone(read));
        }
        let (sort, text) = (arena.sort(term), arena.text(term));
        assert_eq!(arena.read(&text, Some(sort), Form::AsWritten), Ok(term), "{text}");
    });
}

#[test]
fn another_arena_prints_what_it_has_read() {
    generated(60..90, 200, |arena, term| {
        let text = arena.text_alone(term);
        let mut other = Arena::new();
        for var in arena.free_vars(term) {
            other.var(arena.var_name(var), arena.var_sort(var));
        }
        let read = other.read(&text, None, Form::AsWritten).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(other.text_alone(read), text);
    });
}

/// A number that looks random.
fn mix(seed: u64) -> u64 {
    let x = (seed ^ seed >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 16
}

/// A text with one character left out, doubled, or replaced by one from elsewhere in it.
fn mutated(text: &str, seed: u64) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let pick = |salt: u64, length: usize| (mix(seed + salt) % length.max(1) as u64) as usize;
    let (at, other) = (pick(1, chars.len()), pick(2, chars.len()));
    match mix(seed) % 4 {
        0 => drop(chars.remove(at)),
        1 => chars.insert(at, chars[at]),
        2 => chars[at] = chars[other],
        _ => chars.swap(at, other),
    }
    chars.into_iter().collect()
}

#[test]
fn no_text_makes_the_reader_panic() {
    let (mut seed, mut read, mut refused) = (0, 0, 0);
    generated(90..110, 200, |arena, term| {
        let text = arena.text_alone(term);
        for _ in 0..3 {
            seed += 4;
            let mut other = Arena::new();
            for var in arena.free_vars(term) {
                other.var(arena.var_name(var), arena.var_sort(var));
            }
            match other.read(&mutated(&text, seed), None, Form::Normal) {
                Ok(_) => read += 1,
                Err(_) => refused += 1,
            }
        }
    });
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}
