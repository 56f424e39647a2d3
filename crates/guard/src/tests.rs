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
    checks(
        &[&a, &b],
        Accumulator::Free,
        expect![[r#"
        00 test dil,0Fh
        04 jne 000000000000000Ah  Original
        0a test sil,0Fh
        0e jne 0000000000000014h  Original
    "#]],
    );
    checks(
        &[&a, &b, &c],
        Accumulator::Free,
        expect![[r#"
        00 mov r11d,edi
        03 or r11d,esi
        06 or r11d,edx
        09 test r11b,0Fh
        0d jne 0000000000000013h  Original
    "#]],
    );
}

#[test]
fn bounds_and_multiples() {
    free(
        "(<u $rdx #64:1099511627776)",
        expect![[r#"
        00 mov r11,rdx
        03 shr r11,28h
        07 jne 000000000000000Dh  Original
    "#]],
    );
    free(
        "(<=u $rdx #64:100)",
        expect![[r#"
        00 cmp rdx,64h
        04 ja 000000000000000Ah  Original
    "#]],
    );
    free(
        "(<s #64:-1 $rdx)",
        expect![[r#"
        00 cmp rdx,0FFFFFFFFFFFFFFFFh
        04 jle 000000000000000Ah  Original
    "#]],
    );
    free(
        "(= (urem $rdx #64:8) #64:0)",
        expect![[r#"
        00 test dl,7
        03 jne 9  Original
    "#]],
    );
    free(
        "(= (urem $rdx #64:3) #64:0)",
        expect![[r#"
        00 mov rax,rdx
        03 mov r11d,3
        09 mov r10,rdx
        0c xor edx,edx
        0e div r11
        11 mov rax,rdx
        14 mov rdx,r10
        17 test rax,rax
        1a jne 0000000000000020h  Original
    "#]],
    );
    free(
        "(= (srem (slice 0 32 $rdx) #32:4) #32:0)",
        expect![[r#"
        00 test dl,3
        03 jne 9  Original
    "#]],
    );
    free(
        "(<u (slice 0 32 $rdx) #32:100)",
        expect![[r#"
        00 cmp edx,64h
        03 jae 9  Original
    "#]],
    );
    free(
        "(<u (slice 0 24 $rdx) #24:100)",
        expect![[r#"
        00 mov r11,rdx
        03 and r11d,0FFFFFFh
        0a mov r10d,64h
        10 cmp r11,r10
        13 jae 0000000000000019h  Original
    "#]],
    );
}

#[test]
fn blocks_apart_are_compared_with_their_ends() {
    free(
        "(apart $rdi (mul #64:8 $rdx) $rsi (mul #64:8 $rdx))",
        expect![[r#"
        00 lea r11,[rdx*8]
        08 add r11,rdi
        0b jb short 0000000000000012h
        0d cmp r11,rsi
        10 jbe short 000000000000002Ch
        12 lea r11,[rdx*8]
        1a add r11,rsi
        1d jb 0000000000000023h  Original
        23 cmp r11,rdi
        26 ja 000000000000002Ch  Original
    "#]],
    );
    free(
        "(apart $rdi (mul #64:4 $rdx) $rsi #64:4)",
        expect![[r#"
        00 lea r11,[rdx*4]
        08 add r11,rdi
        0b jb short 0000000000000012h
        0d cmp r11,rsi
        10 jbe short 0000000000000028h
        12 mov r11,rsi
        15 add r11,4
        19 jb 000000000000001Fh  Original
        1f cmp r11,rdi
        22 ja 0000000000000028h  Original
    "#]],
    );
    free(
        "(or (= $rdx #64:0) (apart $rdi $rdx $rsi $rdx))",
        expect![[r#"
        00 test rdx,rdx
        03 je short 0000000000000027h
        05 mov r11,rdx
        08 add r11,rdi
        0b jb short 0000000000000012h
        0d cmp r11,rsi
        10 jbe short 0000000000000027h
        12 mov r11,rdx
        15 add r11,rsi
        18 jb 000000000000001Eh  Original
        1e cmp r11,rdi
        21 ja 0000000000000027h  Original
    "#]],
    );
}

#[test]
fn cells_come_last() {
    let cell = "(= (load 4 (add $rdi #64:8)) #32:0)";
    checks(
        &[cell, "(= $rsi #64:32)"],
        Accumulator::Free,
        expect![[r#"
        00 cmp rsi,20h
        04 jne 000000000000000Ah  Original
        0a cmp dword ptr [rdi+8],0
        0e jne 0000000000000014h  Original
    "#]],
    );
    free(
        "(or (= (load 8 (add $rdi (mul #64:8 $rsi))) (load 8 $rdi)) (= $rdx #64:0))",
        expect![[r#"
        00 test rdx,rdx
        03 je short 0000000000000012h
        05 mov r11,[rdi+rsi*8]
        09 cmp r11,[rdi]
        0c jne 0000000000000012h  Original
    "#]],
    );
    free(
        "(= (load 16 $rdi) (load 16 $rsi))",
        expect![[r#"
        00 mov r11,[rdi]
        03 mov r10,[rsi]
        06 cmp r11,r10
        09 jne 000000000000000Fh  Original
        0f mov r11,[rdi+8]
        13 mov r10,[rsi+8]
        17 cmp r11,r10
        1a jne 0000000000000020h  Original
    "#]],
    );
    free(
        "(= (load 4 &table) #32:1)",
        expect![[r#"
        00 mov r11,[7]  Slot("table")
        07 cmp dword ptr [r11],1
        0b jne 0000000000000011h  Original
    "#]],
    );
}

#[test]
fn floating_point_comparisons() {
    free(
        "(feq (slice 0 64 $xmm0) (slice 0 64 $xmm0))",
        expect![[r#"
        00 ucomisd xmm0,xmm0
        04 jp 000000000000000Ah  Original
    "#]],
    );
    free(
        "(flt (slice 0 32 $xmm0) (load 4 $rdi))",
        expect![[r#"
        00 movss xmm15,[rdi]
        05 ucomiss xmm15,xmm0
        09 jbe 000000000000000Fh  Original
    "#]],
    );
    free(
        "(not (fle (slice 0 64 $xmm0) #64:4607182418800017408))",
        expect![[r#"
        00 mov r11,3FF0000000000000h
        0a movq xmm15,r11
        0f ucomisd xmm15,xmm0
        14 jae 000000000000001Ah  Original
    "#]],
    );
}

#[test]
fn choices_and_extremes() {
    free(
        "(= (ite (<u $rdi $rsi) $rdi $rsi) #64:1)",
        expect![[r#"
        00 cmp rdi,rsi
        03 jae short 000000000000000Ah
        05 mov r11,rdi
        08 jmp short 000000000000000Dh
        0a mov r11,rsi
        0d cmp r11,1
        11 jne 0000000000000017h  Original
    "#]],
    );
    free(
        "(<s (maxs (slice 0 32 $rdi) (slice 0 32 $rsi)) #32:7)",
        expect![[r#"
        00 movsxd r11,edi
        03 movsxd r10,esi
        06 cmp r11,r10
        09 jge short 000000000000000Eh
        0b mov r11,r10
        0e cmp r11d,7
        12 jge 0000000000000018h  Original
    "#]],
    );
    free(
        "(not (or (= $rdi #64:0) (= $rsi #64:0)))",
        expect![[r#"
        00 test rdi,rdi
        03 je 9  Original
        09 test rsi,rsi
        0c je 0000000000000012h  Original
    "#]],
    );
}

#[test]
fn what_code_cannot_check_is_refused() {
    free(
        "(= (udiv $rdi $rsi) #64:0)",
        expect!["the condition `(udiv $rdi $rsi)` cannot be checked at run time: it divides by what may be zero"],
    );
    free(
        "(= (shl $rdi $rsi) #64:0)",
        expect!["the condition `(shl $rdi $rsi)` cannot be checked at run time: it shifts by what is no constant"],
    );
    checks(
        &["(= (urem $rdx #64:3) #64:0)"],
        Accumulator::Kept,
        expect![
            "the condition `(urem $rdx #64:3)` cannot be checked at run time: a division needs `rax` and two other registers, which are not free"
        ],
    );
}
