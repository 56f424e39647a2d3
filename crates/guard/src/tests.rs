//! What conditions become, as listings.

use crate::compiler::Accumulator;
use crate::dispatcher;
use condition::Interface;
use expect_test::{Expect, expect};
use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};
use kernel::Expression;
use kernel::lemma::Facts;
use pair::{File, Files};
use program::Undefined;

/// An interface without debug information: every register that arguments arrive in, by its name.
fn interface() -> Interface {
    let folder = tempfile::tempdir().expect("a scratch directory");
    let path = folder.path().join("f.s");
    std::fs::write(
        &path,
        ".intel_syntax noprefix\n.globl f\n.type f, @function\nf: mov eax, [rip + table]\nret\n.size f, .-f\n",
    )
    .expect("the scratch directory is writable");
    let read = || File::read(&path).expect("an assembly file");
    let files = Files::new(read(), read(), Undefined::Excused);
    let prepared = files.prepare([0, 0], &Facts::default()).expect("a pair");
    Interface::new(prepared.pair.original(), &prepared.arena)
}

/// The code of a condition, or why there is none.
fn checks(parts: &[&str], accumulator: Accumulator, expect: Expect) {
    let parts: Vec<Expression> = parts.iter().map(|part| Expression::parse(part).expect("an expression")).collect();
    let text = match dispatcher::compile(&parts, &interface(), accumulator) {
        Ok(dispatcher) => {
            let (bytes, fields) = dispatcher.code.encode().expect("code that can be encoded");
            let mut decoder = Decoder::with_ip(64, &bytes, 0, DecoderOptions::NONE);
            let mut lines = String::new();
            while decoder.can_decode() {
                let instruction = decoder.decode();
                let mut line = String::new();
                IntelFormatter::new().format(&instruction, &mut line);
                let range = instruction.ip()..instruction.next_ip();
                let field = fields.iter().find(|field| range.contains(&field.offset));
                let field = field.map_or(String::new(), |field| format!("  {:?}", field.names));
                lines += &format!("{:02x} {line}{field}\n", instruction.ip());
            }
            lines
        }
        Err(refusal) => refusal.to_string(),
    };
    expect.assert_eq(&text);
}

fn free(part: &str, expect: Expect) {
    checks(&[part], Accumulator::Free, expect);
}

#[test]
fn alignment_is_one_test_each_or_one_for_three() {
    let aligned = |name: &str| format!("(= (slice 0 4 ${name}) #4:0)");
    let [a, b, c] = ["rdi", "rsi", "rdx"].map(aligned);
    checks(&[&a, &b], Accumulator::Free, expect![[r#""#]]);
    checks(&[&a, &b, &c], Accumulator::Free, expect![[r#""#]]);
}

#[test]
fn bounds_and_multiples() {
    free("(<u $rdx #64:1099511627776)", expect![[r#""#]]);
    free("(<=u $rdx #64:100)", expect![[r#""#]]);
    free("(<s #64:-1 $rdx)", expect![[r#""#]]);
    free("(= (urem $rdx #64:8) #64:0)", expect![[r#""#]]);
    free("(= (urem $rdx #64:3) #64:0)", expect![[r#""#]]);
    free("(= (srem (slice 0 32 $rdx) #32:4) #32:0)", expect![[r#""#]]);
    free("(<u (slice 0 32 $rdx) #32:100)", expect![[r#""#]]);
    free("(<u (slice 0 24 $rdx) #24:100)", expect![[r#""#]]);
}

#[test]
fn blocks_apart_are_compared_with_their_ends() {
    free("(apart $rdi (mul #64:8 $rdx) $rsi (mul #64:8 $rdx))", expect![[r#""#]]);
    free("(apart $rdi (mul #64:4 $rdx) $rsi #64:4)", expect![[r#""#]]);
    free("(or (= $rdx #64:0) (apart $rdi $rdx $rsi $rdx))", expect![[r#""#]]);
}

#[test]
fn cells_come_last() {
    let cell = "(= (load 4 (add $rdi #64:8)) #32:0)";
    checks(&[cell, "(= $rsi #64:32)"], Accumulator::Free, expect![[r#""#]]);
    free("(or (= (load 8 (add $rdi (mul #64:8 $rsi))) (load 8 $rdi)) (= $rdx #64:0))", expect![[r#""#]]);
    free("(= (load 16 $rdi) #128:1)", expect![[r#""#]]);
    free("(= (load 4 &table) #32:1)", expect![[r#""#]]);
}

#[test]
fn floating_point_comparisons() {
    free("(feq (slice 0 64 $xmm0) (slice 0 64 $xmm0))", expect![[r#""#]]);
    free("(flt (slice 0 32 $xmm0) (load 4 $rdi))", expect![[r#""#]]);
    free("(not (fle (slice 0 64 $xmm0) #64:4607182418800017408))", expect![[r#""#]]);
}

#[test]
fn choices_and_extremes() {
    free("(= (ite (<u $rdi $rsi) $rdi $rsi) #64:1)", expect![[r#""#]]);
    free("(<s (maxs (slice 0 32 $rdi) (slice 0 32 $rsi)) #32:7)", expect![[r#""#]]);
    free("(not (or (= $rdi #64:0) (= $rsi #64:0)))", expect![[r#""#]]);
}

#[test]
fn what_code_cannot_check_is_refused() {
    free("(= (udiv $rdi $rsi) #64:0)", expect![[r#""#]]);
    free("(= (shl $rdi $rsi) #64:0)", expect![[r#""#]]);
    checks(&["(= (urem $rdx #64:3) #64:0)"], Accumulator::Kept, expect![[r#""#]]);
}
