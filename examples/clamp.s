# Hand-written: clamp of account.c without a branch.
        .intel_syntax noprefix
        .text
        .globl  clamp
        .type   clamp, @function
clamp:
        cmp     edi, edx
        mov     eax, edi
        cmovg   eax, edx
        cmp     edi, esi
        cmovl   eax, esi
        ret
        .size   clamp, .-clamp
        .section .note.GNU-stack, "", @progbits
