//! What instructions lift to, as text.

use crate::{Builder, Operand, condition, decode, lift};
use expect_test::{Expect, expect};
use program::{Op, Register};
use std::collections::HashMap;
use term::{Arena, TermId, VarId};

pub(crate) fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

pub(crate) fn arena() -> Arena {
    let mut arena = Arena::new();
    Register::declare(&mut arena);
    arena
}

pub(crate) fn render(arena: &Arena, op: &Op) -> String {
    match op {
        Op::Set { var, value } => format!("{} := {}", arena.var_name(*var), arena.text(*value)),
        Op::Load { var, address, bytes } => {
            format!("{} := memory[{}, {bytes}]", arena.var_name(*var), arena.text(*address))
        }
        Op::Store { address, value } => format!("memory[{}] := {}", arena.text(*address), arena.text(*value)),
        Op::Unknown { var } => format!("{} := ?", arena.var_name(*var)),
        Op::Fault { condition, kind } => format!("fault {kind:?} if {}", arena.text(*condition)),
    }
}

/// Decodes and lifts the bytes; one line per instruction and operation.
fn lifts_to(hex: &str, expect: Expect) {
    let (mut arena, mut builder, code) = (arena(), Builder::new(), bytes(hex));
    let (mut at, mut out) = (0, String::new());
    while at < code.len() {
        let decoded = decode(&code[at..], at as u64).unwrap();
        out.push_str(&format!("{}\n", decoded.instruction));
        match lift(&decoded.instruction, &mut arena, &mut builder) {
            Ok(()) => builder.take().iter().for_each(|(_, op)| out.push_str(&format!("    {}\n", render(&arena, op)))),
            Err(error) => out.push_str(&format!("    {error}\n")),
        }
        at += decoded.length;
    }
    expect.assert_eq(&out);
}

/// Runs the bytes symbolically. Gives the condition of the last instruction, if it has one, the faults on the
/// way, and the registers asked for, as terms over the start.
fn runs_to(hex: &str, registers: &[Register], expect: Expect) {
    let (mut arena, mut builder, code) = (arena(), Builder::new(), bytes(hex));
    let mut state: HashMap<VarId, TermId> = HashMap::new();
    let (mut at, mut out) = (0, String::new());
    while at < code.len() {
        let decoded = decode(&code[at..], at as u64).unwrap();
        at += decoded.length;
        lift(&decoded.instruction, &mut arena, &mut builder).unwrap();
        for (_, op) in builder.take() {
            let mut now = |term| arena.substitute(term, &mut |var| state.get(&var).copied(), &mut Default::default());
            match op {
                Op::Set { var, value } => {
                    let value = now(value);
                    state.insert(var, value);
                }
                Op::Unknown { var } => {
                    state.insert(var, arena.fresh("unknown", arena.var_sort(var)));
                }
                Op::Fault { condition, kind } => {
                    let condition = now(condition);
                    out.push_str(&format!("fault {kind:?} if {}\n", arena.text(condition)));
                }
                other => panic!("{other:?} is not for this helper"),
            }
        }
        if at == code.len()
            && let Some(term) = condition(&decoded.instruction, &mut arena)
        {
            let term = arena.substitute(term, &mut |var| state.get(&var).copied(), &mut Default::default());
            out.push_str(&format!("{} if {}\n", decoded.instruction.mnemonic.name(), arena.text(term)));
        }
    }
    for register in registers {
        let term = register.term(&mut arena);
        let value = state[&arena.as_var(term).unwrap()];
        out.push_str(&format!("{} = {}\n", register.name(), arena.text(value)));
    }
    expect.assert_eq(&out);
}

/// The conditions of all 16 `jcc` after some code.
fn conditions_after(hex: &str, expect: Expect) {
    let (mut arena, mut builder, code) = (arena(), Builder::new(), bytes(hex));
    let instruction = decode(&code, 0).unwrap().instruction;
    lift(&instruction, &mut arena, &mut builder).unwrap();
    let mut state: HashMap<VarId, TermId> = HashMap::new();
    for (_, op) in builder.take() {
        match op {
            Op::Set { var, value } => drop(state.insert(var, value)),
            Op::Unknown { .. } => {}
            other => panic!("{other:?} is not for this helper"),
        }
    }
    let mut out = format!("{instruction}\n");
    for code in 0..16 {
        let jump = decode(&[0x70 + code, 0], 0).unwrap().instruction;
        let term = condition(&jump, &mut arena).unwrap();
        let term = arena.substitute(term, &mut |var| state.get(&var).copied(), &mut Default::default());
        out.push_str(&format!("{:4}{}\n", jump.mnemonic.name(), arena.text(term)));
    }
    expect.assert_eq(&out);
}

#[test]
fn lea_leaves_flags_alone() {
    lifts_to(
        "48 8d 04 7f",
        expect![[r#"
        lea rax, [rdi+rdi*2]
            rax := 3*rdi
    "#]],
    );
}

#[test]
fn results_are_assigned_as_if_at_once() {
    lifts_to(
        "48 87 d9  48 f7 d8",
        expect![[r#"
            xchg rcx, rbx
                t64.0 := rbx
                rbx := rcx
                rcx := t64.0
            neg rax
                sf := rax - 1 <u 0x8000000000000000
                pf := popcount(-rax[7:0])[0] != 1
                af := rax[4] ^ (-rax[4:0])[4] == 1
                cf := rax != 0
                zf := rax == 0
                of := (rax - 1 <u 0x8000000000000000) == (rax <s 1)
                rax := -rax
        "#]],
    );
}

#[test]
fn narrow_results() {
    lifts_to(
        "89 f8  66 89 f8  88 f8  88 f4  0f b6 c7  48 63 c7",
        expect![[r#"
        mov eax, edi
            rax := zext64(rdi[31:0])
        mov ax, di
            rax := rax[63:16] ++ rdi[15:0]
        mov al, bh
            rax := rax[63:8] ++ rbx[15:8]
        mov ah, dh
            rax := rax[63:16] ++ rdx[15:8] ++ rax[7:0]
        movzx eax, bh
            rax := zext64(rbx[15:8])
        movsxd rax, edi
            rax := sext64(rdi[31:0])
    "#]],
    );
}

#[test]
fn conditions_after_cmp_are_comparisons() {
    conditions_after(
        "39 f7",
        expect![[r#"
        cmp edi, esi
        jo  (rdi[31:0] - rsi[31:0] <s 0) != (rdi[31:0] <s rsi[31:0])
        jno (rdi[31:0] - rsi[31:0] <s 0) == (rdi[31:0] <s rsi[31:0])
        jb  rdi[31:0] <u rsi[31:0]
        jae rdi[31:0] >=u rsi[31:0]
        je  rdi[31:0] == rsi[31:0]
        jne rdi[31:0] != rsi[31:0]
        jbe rsi[31:0] >=u rdi[31:0]
        ja  rsi[31:0] <u rdi[31:0]
        js  rdi[31:0] - rsi[31:0] <s 0
        jns rdi[31:0] - rsi[31:0] >=s 0
        jp  popcount(rdi[7:0] - rsi[7:0])[0] != 1
        jnp popcount(rdi[7:0] - rsi[7:0])[0] == 1
        jl  rdi[31:0] <s rsi[31:0]
        jge rdi[31:0] >=s rsi[31:0]
        jle rsi[31:0] >=s rdi[31:0]
        jg  rsi[31:0] <s rdi[31:0]
    "#]],
    );
}

#[test]
fn conditions_after_test_are_comparisons_with_zero() {
    conditions_after(
        "48 85 ff",
        expect![[r#"
        test rdi, rdi
        jo  false
        jno true
        jb  false
        jae true
        je  rdi == 0
        jne rdi != 0
        jbe rdi == 0
        ja  rdi != 0
        js  rdi <s 0
        jns rdi >=s 0
        jp  popcount(rdi[7:0])[0] != 1
        jnp popcount(rdi[7:0])[0] == 1
        jl  rdi <s 0
        jge rdi >=s 0
        jle rdi <s 1
        jg  rdi >=s 1
    "#]],
    );
}

#[test]
fn conditions_after_ucomisd() {
    conditions_after(
        "66 0f 2e c1",
        expect![[r#"
            ucomisd xmm0, xmm1
            jo  false
            jno true
            jb  !feq64(xmm0[63:0], xmm1[63:0]) && !flt64(xmm1[63:0], xmm0[63:0])
            jae feq64(xmm0[63:0], xmm1[63:0]) || flt64(xmm1[63:0], xmm0[63:0])
            je  funo64(xmm0[63:0], xmm1[63:0]) || feq64(xmm0[63:0], xmm1[63:0])
            jne !funo64(xmm0[63:0], xmm1[63:0]) && !feq64(xmm0[63:0], xmm1[63:0])
            jbe !flt64(xmm1[63:0], xmm0[63:0])
            ja  flt64(xmm1[63:0], xmm0[63:0])
            js  false
            jns true
            jp  funo64(xmm0[63:0], xmm1[63:0])
            jnp !funo64(xmm0[63:0], xmm1[63:0])
            jl  false
            jge true
            jle funo64(xmm0[63:0], xmm1[63:0]) || feq64(xmm0[63:0], xmm1[63:0])
            jg  !funo64(xmm0[63:0], xmm1[63:0]) && !feq64(xmm0[63:0], xmm1[63:0])
        "#]],
    );
}

#[test]
fn a_division_after_cdq_is_one_of_the_operands_width() {
    runs_to(
        "89 f8  99  f7 fe",
        &[Register::General(0), Register::General(2)],
        expect![[r#"
        fault Divide if rsi[31:0] == 0 || rsi[31:0] == -1 && rdi[31:0] == 0x80000000
        rax = zext64(rdi[31:0] /s rsi[31:0])
        rdx = zext64(rdi[31:0] %s rsi[31:0])
    "#]],
    );
}

#[test]
fn a_division_after_xor_is_one_of_the_operands_width() {
    runs_to(
        "48 89 f8  31 d2  48 f7 f6",
        &[Register::General(0), Register::General(2)],
        expect![[r#"
        fault Divide if rsi == 0
        rax = rdi /u rsi
        rdx = rdi %u rsi
    "#]],
    );
}

#[test]
fn sbb_makes_a_mask_of_a_comparison() {
    runs_to(
        "48 39 f7  19 c0",
        &[Register::General(0)],
        expect![[r#"
        rax = rdi <u rsi ? 0xffffffff : 0
    "#]],
    );
}

#[test]
fn constant_shifts_have_clean_flags() {
    runs_to(
        "c1 e7 03  74 00",
        &[Register::General(7)],
        expect![[r#"
        je if rdi[28:0] == 0
        rdi = zext64(8*rdi[31:0])
    "#]],
    );
    runs_to(
        "48 d1 ff  72 00",
        &[Register::General(7)],
        expect![[r#"
        jb if rdi[0] == 1
        rdi = sext64(rdi[63:1])
    "#]],
    );
}

#[test]
fn variable_shifts_keep_flags_for_count_zero() {
    lifts_to(
        "d3 e0",
        expect![[r#"
            shl eax, cl
                tb.0 := ?
                tb.1 := ?
                zf := rcx[4:0] == 0 ? zf : rax[31:0] << zext32(rcx[4:0]) == 0
                sf := rcx[4:0] == 0 ? sf : rax[31:0] << zext32(rcx[4:0]) <s 0
                pf := rcx[4:0] == 0 ? pf : popcount((zext32(rax[7:0]) << zext32(rcx[4:0]))[7:0])[0] != 1
                cf := rcx[4:0] == 0 ? cf : zext33(rax[31:0]) << zext33(rcx[4:0]) <s 0
                of := rcx[4:0] == 0 ? of : rcx[4:0] == 1 ? (zext33(rax[31:0]) << zext33(rcx[4:0]) <s 0) != (rax[31:0] << zext32(rcx[4:0]) <s 0) : tb.0
                af := rcx[4:0] == 0 ? af : tb.1
                rax := zext64(rax[31:0] << zext32(rcx[4:0]))
        "#]],
    );
}

#[test]
fn the_stack() {
    lifts_to(
        "55  48 89 e5  6a ff  5c  8f 44 24 08  c9",
        expect![[r#"
        push rbp
            memory[rsp - 8] := rbp
            rsp := rsp - 8
        mov rbp, rsp
            rbp := rsp
        push 0xffffffffffffffff
            memory[rsp - 8] := -1
            rsp := rsp - 8
        pop rsp
            t64.0 := memory[rsp, 8]
            rsp := t64.0
        pop qword [rsp+0x8]
            t64.0 := memory[rsp, 8]
            memory[rsp + 16] := t64.0
            rsp := rsp + 8
        leave
            t64.0 := memory[rbp, 8]
            rsp := rbp + 8
            rbp := t64.0
    "#]],
    );
}

#[test]
fn aligned_accesses_fault() {
    lifts_to(
        "0f 28 07  66 0f 6f 44 24 10  0f 10 07  0f 58 07  c5 f8 58 07",
        expect![[r#"
        movaps xmm0, xmmword [rdi]
            fault Misaligned if rdi[3:0] != 0
            t128.0 := memory[rdi, 16]
            xmm0 := t128.0
        movdqa xmm0, xmmword [rsp+0x10]
            fault Misaligned if rsp[3:0] != 0
            t128.0 := memory[rsp + 16, 16]
            xmm0 := t128.0
        movups xmm0, xmmword [rdi]
            t128.0 := memory[rdi, 16]
            xmm0 := t128.0
        addps xmm0, xmmword [rdi]
            fault Misaligned if rdi[3:0] != 0
            t128.0 := memory[rdi, 16]
            xmm0 := fadd32(xmm0[127:96], t128.0[127:96]) ++ fadd32(xmm0[95:64], t128.0[95:64]) ++ fadd32(xmm0[63:32], t128.0[63:32]) ++ fadd32(xmm0[31:0], t128.0[31:0])
        vaddps xmm0, xmm0, xmmword [rdi]
            t128.0 := memory[rdi, 16]
            xmm0 := fadd32(xmm0[127:96], t128.0[127:96]) ++ fadd32(xmm0[95:64], t128.0[95:64]) ++ fadd32(xmm0[63:32], t128.0[63:32]) ++ fadd32(xmm0[31:0], t128.0[31:0])
            ymm0.high := 0
    "#]],
    );
}

#[test]
fn vex_clears_the_upper_half() {
    lifts_to(
        "0f 57 c0  c5 f8 57 c1  c5 fc 57 c1",
        expect![[r#"
        xorps xmm0, xmm0
            xmm0 := 0
        vxorps xmm0, xmm0, xmm1
            xmm0 := xmm0 ^ xmm1
            ymm0.high := 0
        vxorps ymm0, ymm0, ymm1
            xmm0 := xmm0 ^ xmm1
            ymm0.high := ymm0.high ^ ymm1.high
    "#]],
    );
}

#[test]
fn undefined_results_are_unknown() {
    lifts_to(
        "0f bc c7  21 c7",
        expect![[r#"
            bsf eax, edi
                t64.0 := ?
                zf := rdi[31:0] == 0
                rax := rdi[31:0] == 0 ? t64.0 : zext64(trailing_zeros(rdi[31:0]))
                cf := ?
                of := ?
                sf := ?
                af := ?
                pf := ?
            and edi, eax
                zf := rax[31:0] & rdi[31:0] == 0
                sf := rax[31:0] & rdi[31:0] <s 0
                pf := popcount(rax[7:0] & rdi[7:0])[0] != 1
                cf := false
                of := false
                rdi := zext64(rax[31:0] & rdi[31:0])
                af := ?
        "#]],
    );
}

#[test]
fn segments_add_their_base_but_not_for_lea() {
    lifts_to(
        "64 48 8b 04 25 28 00 00 00  64 48 8d 04 25 28 00 00 00  65 8b 07",
        expect![[r#"
        mov rax, qword fs:[0x28]
            t64.0 := memory[fs + 40, 8]
            rax := t64.0
        lea rax, fs:[0x28]
            rax := 40
        mov eax, dword gs:[rdi]
            t32.0 := memory[rdi + gs, 4]
            rax := zext64(t32.0)
    "#]],
    );
}

#[test]
fn unmodelled_instructions_are_named() {
    lifts_to(
        "f3 48 ab  f2 ae  f0 ff 07  87 07  0f a2  d9 07  62 f1 7c 48 58 c1  0f 6f c1  c8 00 00 00  66 c9",
        expect![[r#"
            rep stosq
                instruction `rep stosq` is not modelled
            repne scasb
                instruction `repne scasb` is not modelled
            lock inc dword [rdi]
                instruction `lock inc` is not modelled
            xchg dword [rdi], eax
                instruction `xchg with memory` is not modelled
            cpuid
                instruction `cpuid` is not modelled
            fld dword [rdi]
                instruction `fld` is not modelled
            vaddps
                instruction `vaddps` is not modelled
            movq
                instruction `movq` is not modelled
            enter 0x0, 0x0
                instruction `enter` is not modelled
            leave
                instruction `leave` is not modelled
        "#]],
    );
}

#[test]
fn addresses_are_resolved_through_symbols() {
    let (mut arena, mut builder) = (arena(), Builder::new());
    let decoded = decode(&bytes("48 8b 05 10 00 00 00"), 0x1000).unwrap();
    assert!(decoded.fields.rip_relative);
    let mut instruction = decoded.instruction;
    let error = lift(&instruction, &mut arena, &mut builder).unwrap_err();
    expect!["instruction `mov with an unresolved address` is not modelled"].assert_eq(&error.to_string());
    let symbol = arena.var("&table", term::Sort::Bv(64));
    let Operand::Memory(memory) = &mut instruction.operands[1] else { panic!("a memory operand") };
    assert_eq!(memory.displacement, 0x1017);
    (memory.symbol, memory.displacement, memory.rip_relative) = (Some(symbol), 24, false);
    lift(&instruction, &mut arena, &mut builder).unwrap();
    let ops: Vec<String> = builder.take().iter().map(|(_, op)| render(&arena, op)).collect();
    expect![[r#"
        t64.0 := memory[&table + 24, 8]
        rax := t64.0"#]]
    .assert_eq(&ops.join("\n"));
}

#[test]
fn immediates_may_be_addresses() {
    let (mut arena, mut builder) = (arena(), Builder::new());
    let mut instruction = decode(&bytes("bf 00 00 00 00"), 0).unwrap().instruction;
    let symbol = arena.var("&text", term::Sort::Bv(64));
    let Operand::Immediate(immediate) = &mut instruction.operands[1] else { panic!("an immediate") };
    immediate.symbol = Some(symbol);
    lift(&instruction, &mut arena, &mut builder).unwrap();
    let ops: Vec<String> = builder.take().iter().map(|(_, op)| render(&arena, op)).collect();
    expect!["rdi := zext64(&text[31:0])"].assert_eq(&ops.join("\n"));
}
