	.file	"account.c"
	.text
.Ltext0:
	.cfi_sections	.debug_frame
	.file 0 "." "account.c"
	.p2align 4
	.globl	clamp
	.type	clamp, @function
clamp:
.LVL0:
.LFB11:
	.file 1 "account.c"
	.loc 1 8 1 view -0
	.cfi_startproc
	.loc 1 9 5 view .LVU1
	cmpl	%edx, %edi
	movl	%esi, %eax
	cmovle	%edi, %edx
.LVL1:
	.loc 1 9 5 is_stmt 0 view .LVU2
	cmpl	%esi, %edi
	cmovge	%edx, %eax
	.loc 1 14 1 view .LVU3
	ret
	.cfi_endproc
.LFE11:
	.size	clamp, .-clamp
	.p2align 4
	.globl	days
	.type	days, @function
days:
.LVL2:
.LFB12:
	.loc 1 18 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 19 5 view .LVU5
	.loc 1 19 38 is_stmt 0 view .LVU6
	movl	%edi, %edx
	shrl	$5, %edx
	imulq	$95443718, %rdx, %rdx
	shrq	$32, %rdx
	imull	$1440, %edx, %eax
	.loc 1 19 45 view .LVU7
	cmpl	%eax, %edi
	setne	%al
	movzbl	%al, %eax
	.loc 1 19 27 view .LVU8
	addl	%edx, %eax
	.loc 1 20 1 view .LVU9
	ret
	.cfi_endproc
.LFE12:
	.size	days, .-days
	.p2align 4
	.globl	total
	.type	total, @function
total:
.LVL3:
.LFB13:
	.loc 1 24 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 25 5 view .LVU11
	.loc 1 26 5 view .LVU12
	.loc 1 26 19 view .LVU13
	testl	%edi, %edi
	jle	.L10
	leaq	balances(%rip), %rax
	movslq	%edi, %rdi
	.loc 1 25 12 is_stmt 0 view .LVU14
	xorl	%edx, %edx
	leaq	(%rax,%rdi,4), %rdi
.LVL4:
	.p2align 4,,10
	.p2align 3
.L9:
	.loc 1 27 9 is_stmt 1 view .LVU15
	.loc 1 27 21 is_stmt 0 view .LVU16
	movl	(%rax), %ecx
	.loc 1 28 17 view .LVU17
	testl	%ecx, %ecx
	leal	(%rdx,%rcx), %esi
	cmovg	%esi, %edx
.LVL5:
	.loc 1 26 25 is_stmt 1 view .LVU18
	.loc 1 26 19 view .LVU19
	addq	$4, %rax
.LVL6:
	.loc 1 26 19 is_stmt 0 view .LVU20
	cmpq	%rax, %rdi
	jne	.L9
	.loc 1 30 1 view .LVU21
	movl	%edx, %eax
.LVL7:
	.loc 1 30 1 view .LVU22
	ret
.LVL8:
	.p2align 4,,10
	.p2align 3
.L10:
	.loc 1 25 12 view .LVU23
	xorl	%edx, %edx
	.loc 1 29 5 is_stmt 1 view .LVU24
	.loc 1 30 1 is_stmt 0 view .LVU25
	movl	%edx, %eax
	ret
	.cfi_endproc
.LFE13:
	.size	total, .-total
	.section	.rodata.str1.1,"aMS",@progbits,1
.LC0:
	.string	"account %d\n"
.LC1:
	.string	"done"
	.text
	.p2align 4
	.globl	report
	.type	report, @function
report:
.LVL9:
.LFB14:
	.loc 1 34 1 is_stmt 1 view -0
	.cfi_startproc
	.loc 1 35 5 view .LVU27
	.loc 1 34 1 is_stmt 0 view .LVU28
	subq	$8, %rsp
	.cfi_def_cfa_offset 16
	.loc 1 34 1 view .LVU29
	movl	%edi, %esi
	.loc 1 35 5 view .LVU30
	leaq	.LC0(%rip), %rdi
.LVL10:
	.loc 1 35 5 view .LVU31
	xorl	%eax, %eax
	call	printf@PLT
.LVL11:
	.loc 1 36 5 is_stmt 1 view .LVU32
	leaq	.LC1(%rip), %rdi
	.loc 1 37 1 is_stmt 0 view .LVU33
	addq	$8, %rsp
	.cfi_def_cfa_offset 8
	.loc 1 36 5 view .LVU34
	jmp	puts@PLT
.LVL12:
	.cfi_endproc
.LFE14:
	.size	report, .-report
	.globl	balances
	.bss
	.align 32
	.type	balances, @object
	.size	balances, 256
balances:
	.zero	256
	.text
.Letext0:
	.file 2 "/usr/include/stdio.h"
	.file 3 "<built-in>"
	.section	.debug_info,"",@progbits
.Ldebug_info0:
	.long	0x201
	.value	0x5
	.byte	0x1
	.byte	0x8
	.long	.Ldebug_abbrev0
	.uleb128 0x7
	.long	.LASF16
	.byte	0x1d
	.long	.LASF0
	.long	.LASF1
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.long	.Ldebug_line0
	.uleb128 0x1
	.byte	0x8
	.byte	0x7
	.long	.LASF2
	.uleb128 0x1
	.byte	0x4
	.byte	0x7
	.long	.LASF3
	.uleb128 0x1
	.byte	0x1
	.byte	0x8
	.long	.LASF4
	.uleb128 0x1
	.byte	0x2
	.byte	0x7
	.long	.LASF5
	.uleb128 0x1
	.byte	0x1
	.byte	0x6
	.long	.LASF6
	.uleb128 0x1
	.byte	0x2
	.byte	0x5
	.long	.LASF7
	.uleb128 0x8
	.byte	0x4
	.byte	0x5
	.string	"int"
	.uleb128 0x1
	.byte	0x8
	.byte	0x5
	.long	.LASF8
	.uleb128 0x1
	.byte	0x1
	.byte	0x6
	.long	.LASF9
	.uleb128 0x9
	.long	0x66
	.uleb128 0xa
	.long	0x58
	.long	0x82
	.uleb128 0xb
	.long	0x2e
	.byte	0x3f
	.byte	0
	.uleb128 0xc
	.long	.LASF10
	.byte	0x1
	.byte	0x4
	.byte	0x5
	.long	0x72
	.uleb128 0x9
	.byte	0x3
	.quad	balances
	.uleb128 0xd
	.long	.LASF17
	.byte	0x2
	.value	0x164
	.byte	0xc
	.long	0x58
	.long	0xb0
	.uleb128 0xe
	.long	0xb0
	.uleb128 0xf
	.byte	0
	.uleb128 0x10
	.byte	0x8
	.long	0x6d
	.uleb128 0x11
	.long	.LASF18
	.byte	0x1
	.byte	0x21
	.byte	0x6
	.quad	.LFB14
	.quad	.LFE14-.LFB14
	.uleb128 0x1
	.byte	0x9c
	.long	0x128
	.uleb128 0x4
	.string	"id"
	.byte	0x21
	.byte	0x11
	.long	0x58
	.long	.LLST4
	.long	.LVUS4
	.uleb128 0x12
	.quad	.LVL11
	.long	0x98
	.long	0x10c
	.uleb128 0x2
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x9
	.byte	0x3
	.quad	.LC0
	.uleb128 0x2
	.uleb128 0x1
	.byte	0x54
	.uleb128 0x3
	.byte	0xa3
	.uleb128 0x1
	.byte	0x55
	.byte	0
	.uleb128 0x13
	.quad	.LVL12
	.long	0x1f9
	.uleb128 0x2
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x9
	.byte	0x3
	.quad	.LC1
	.byte	0
	.byte	0
	.uleb128 0x3
	.long	.LASF11
	.byte	0x17
	.byte	0x5
	.long	0x58
	.quad	.LFB13
	.quad	.LFE13-.LFB13
	.uleb128 0x1
	.byte	0x9c
	.long	0x17d
	.uleb128 0x4
	.string	"n"
	.byte	0x17
	.byte	0xf
	.long	0x58
	.long	.LLST1
	.long	.LVUS1
	.uleb128 0x5
	.string	"i"
	.byte	0x9
	.long	0x58
	.long	.LLST2
	.long	.LVUS2
	.uleb128 0x5
	.string	"sum"
	.byte	0xc
	.long	0x58
	.long	.LLST3
	.long	.LVUS3
	.byte	0
	.uleb128 0x3
	.long	.LASF12
	.byte	0x11
	.byte	0xa
	.long	0x35
	.quad	.LFB12
	.quad	.LFE12-.LFB12
	.uleb128 0x1
	.byte	0x9c
	.long	0x1ad
	.uleb128 0x14
	.long	.LASF14
	.byte	0x1
	.byte	0x11
	.byte	0x18
	.long	0x35
	.uleb128 0x1
	.byte	0x55
	.byte	0
	.uleb128 0x3
	.long	.LASF13
	.byte	0x7
	.byte	0x5
	.long	0x58
	.quad	.LFB11
	.quad	.LFE11-.LFB11
	.uleb128 0x1
	.byte	0x9c
	.long	0x1f9
	.uleb128 0x6
	.string	"x"
	.byte	0xf
	.long	0x58
	.uleb128 0x1
	.byte	0x55
	.uleb128 0x6
	.string	"low"
	.byte	0x16
	.long	0x58
	.uleb128 0x1
	.byte	0x54
	.uleb128 0x15
	.long	.LASF15
	.byte	0x1
	.byte	0x7
	.byte	0x1f
	.long	0x58
	.long	.LLST0
	.long	.LVUS0
	.byte	0
	.uleb128 0x16
	.long	.LASF19
	.long	.LASF20
	.byte	0x3
	.byte	0
	.byte	0
	.section	.debug_abbrev,"",@progbits
.Ldebug_abbrev0:
	.uleb128 0x1
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0xe
	.byte	0
	.byte	0
	.uleb128 0x2
	.uleb128 0x49
	.byte	0
	.uleb128 0x2
	.uleb128 0x18
	.uleb128 0x7e
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x3
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x4
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x5
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 25
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x6
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0x8
	.uleb128 0x3a
	.uleb128 0x21
	.sleb128 1
	.uleb128 0x3b
	.uleb128 0x21
	.sleb128 7
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x7
	.uleb128 0x11
	.byte	0x1
	.uleb128 0x25
	.uleb128 0xe
	.uleb128 0x13
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x1f
	.uleb128 0x1b
	.uleb128 0x1f
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x10
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x8
	.uleb128 0x24
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x3e
	.uleb128 0xb
	.uleb128 0x3
	.uleb128 0x8
	.byte	0
	.byte	0
	.uleb128 0x9
	.uleb128 0x26
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xa
	.uleb128 0x1
	.byte	0x1
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xb
	.uleb128 0x21
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2f
	.uleb128 0xb
	.byte	0
	.byte	0
	.uleb128 0xc
	.uleb128 0x34
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0xd
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0x5
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xe
	.uleb128 0x5
	.byte	0
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0xf
	.uleb128 0x18
	.byte	0
	.byte	0
	.byte	0
	.uleb128 0x10
	.uleb128 0xf
	.byte	0
	.uleb128 0xb
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x11
	.uleb128 0x2e
	.byte	0x1
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x27
	.uleb128 0x19
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.uleb128 0x40
	.uleb128 0x18
	.uleb128 0x7a
	.uleb128 0x19
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x12
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x7f
	.uleb128 0x13
	.uleb128 0x1
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x13
	.uleb128 0x48
	.byte	0x1
	.uleb128 0x7d
	.uleb128 0x1
	.uleb128 0x82
	.uleb128 0x19
	.uleb128 0x7f
	.uleb128 0x13
	.byte	0
	.byte	0
	.uleb128 0x14
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x18
	.byte	0
	.byte	0
	.uleb128 0x15
	.uleb128 0x5
	.byte	0
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.uleb128 0x39
	.uleb128 0xb
	.uleb128 0x49
	.uleb128 0x13
	.uleb128 0x2
	.uleb128 0x17
	.uleb128 0x2137
	.uleb128 0x17
	.byte	0
	.byte	0
	.uleb128 0x16
	.uleb128 0x2e
	.byte	0
	.uleb128 0x3f
	.uleb128 0x19
	.uleb128 0x3c
	.uleb128 0x19
	.uleb128 0x6e
	.uleb128 0xe
	.uleb128 0x3
	.uleb128 0xe
	.uleb128 0x3a
	.uleb128 0xb
	.uleb128 0x3b
	.uleb128 0xb
	.byte	0
	.byte	0
	.byte	0
	.section	.debug_loclists,"",@progbits
	.long	.Ldebug_loc3-.Ldebug_loc2
.Ldebug_loc2:
	.value	0x5
	.byte	0x8
	.byte	0
	.long	0
.Ldebug_loc0:
.LVUS4:
	.uleb128 0
	.uleb128 .LVU31
	.uleb128 .LVU31
	.uleb128 .LVU32
	.uleb128 .LVU32
	.uleb128 0
.LLST4:
	.byte	0x4
	.uleb128 .LVL9-.Ltext0
	.uleb128 .LVL10-.Ltext0
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL10-.Ltext0
	.uleb128 .LVL11-1-.Ltext0
	.uleb128 0x1
	.byte	0x54
	.byte	0x4
	.uleb128 .LVL11-1-.Ltext0
	.uleb128 .LFE14-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x55
	.byte	0x9f
	.byte	0
.LVUS1:
	.uleb128 0
	.uleb128 .LVU15
	.uleb128 .LVU15
	.uleb128 .LVU23
	.uleb128 .LVU23
	.uleb128 0
.LLST1:
	.byte	0x4
	.uleb128 .LVL3-.Ltext0
	.uleb128 .LVL4-.Ltext0
	.uleb128 0x1
	.byte	0x55
	.byte	0x4
	.uleb128 .LVL4-.Ltext0
	.uleb128 .LVL8-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x55
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LFE13-.Ltext0
	.uleb128 0x1
	.byte	0x55
	.byte	0
.LVUS2:
	.uleb128 .LVU13
	.uleb128 .LVU15
	.uleb128 .LVU15
	.uleb128 .LVU19
	.uleb128 .LVU19
	.uleb128 .LVU20
	.uleb128 .LVU20
	.uleb128 .LVU22
	.uleb128 .LVU23
	.uleb128 0
.LLST2:
	.byte	0x4
	.uleb128 .LVL3-.Ltext0
	.uleb128 .LVL4-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL4-.Ltext0
	.uleb128 .LVL5-.Ltext0
	.uleb128 0xf
	.byte	0x70
	.sleb128 0
	.byte	0x3
	.quad	balances
	.byte	0x1c
	.byte	0x32
	.byte	0x25
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL5-.Ltext0
	.uleb128 .LVL6-.Ltext0
	.uleb128 0x11
	.byte	0x70
	.sleb128 0
	.byte	0x3
	.quad	balances
	.byte	0x1c
	.byte	0x32
	.byte	0x25
	.byte	0x23
	.uleb128 0x1
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL6-.Ltext0
	.uleb128 .LVL7-.Ltext0
	.uleb128 0x11
	.byte	0x70
	.sleb128 0
	.byte	0x3
	.quad	balances+4
	.byte	0x1c
	.byte	0x32
	.byte	0x25
	.byte	0x23
	.uleb128 0x1
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LFE13-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0
.LVUS3:
	.uleb128 .LVU12
	.uleb128 .LVU15
	.uleb128 .LVU15
	.uleb128 .LVU23
	.uleb128 .LVU23
	.uleb128 0
.LLST3:
	.byte	0x4
	.uleb128 .LVL3-.Ltext0
	.uleb128 .LVL4-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0x4
	.uleb128 .LVL4-.Ltext0
	.uleb128 .LVL8-.Ltext0
	.uleb128 0x1
	.byte	0x51
	.byte	0x4
	.uleb128 .LVL8-.Ltext0
	.uleb128 .LFE13-.Ltext0
	.uleb128 0x2
	.byte	0x30
	.byte	0x9f
	.byte	0
.LVUS0:
	.uleb128 0
	.uleb128 .LVU2
	.uleb128 .LVU2
	.uleb128 0
.LLST0:
	.byte	0x4
	.uleb128 .LVL0-.Ltext0
	.uleb128 .LVL1-.Ltext0
	.uleb128 0x1
	.byte	0x51
	.byte	0x4
	.uleb128 .LVL1-.Ltext0
	.uleb128 .LFE11-.Ltext0
	.uleb128 0x4
	.byte	0xa3
	.uleb128 0x1
	.byte	0x51
	.byte	0x9f
	.byte	0
.Ldebug_loc3:
	.section	.debug_aranges,"",@progbits
	.long	0x2c
	.value	0x2
	.long	.Ldebug_info0
	.byte	0x8
	.byte	0
	.value	0
	.value	0
	.quad	.Ltext0
	.quad	.Letext0-.Ltext0
	.quad	0
	.quad	0
	.section	.debug_line,"",@progbits
.Ldebug_line0:
	.section	.debug_str,"MS",@progbits,1
.LASF3:
	.string	"unsigned int"
.LASF10:
	.string	"balances"
.LASF19:
	.string	"puts"
.LASF14:
	.string	"minutes"
.LASF15:
	.string	"high"
.LASF20:
	.string	"__builtin_puts"
.LASF2:
	.string	"long unsigned int"
.LASF12:
	.string	"days"
.LASF16:
	.string	"GNU C17 12.2.0"
.LASF9:
	.string	"char"
.LASF4:
	.string	"unsigned char"
.LASF8:
	.string	"long int"
.LASF18:
	.string	"report"
.LASF5:
	.string	"short unsigned int"
.LASF17:
	.string	"printf"
.LASF11:
	.string	"total"
.LASF7:
	.string	"short int"
.LASF13:
	.string	"clamp"
.LASF6:
	.string	"signed char"
	.section	.debug_line_str,"MS",@progbits,1
.LASF1:
	.string	"."
.LASF0:
	.string	"account.c"
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
