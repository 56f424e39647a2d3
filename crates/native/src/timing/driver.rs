//! The code that times calls inside the sandbox, and the tables that tell it what to do.
//!
//! It goes through a table of steps. A step is a list of calls; for each it copies memory to its place, reads the clock, loads the
//! argument registers, calls as often as the call says, reads the clock again and adds the difference to the step's sum. Everything
//! that it keeps over a call lies in a page of its own behind the code, addressed relative to `rip`, so that the code under test may
//! have all registers and its own stack.

use std::mem::offset_of;

/// Distance of the driver's own data from its first instruction.
pub(super) const DATA: u64 = 4096;

/// What the driver keeps.
#[repr(C)]
pub(super) struct Control {
    /// The next step and the end of the table.
    pub step: u64,
    pub end: u64,
    call: u64,
    calls_left: u64,
    record: u64,
    target: u64,
    repeats_left: u64,
    begin: u64,
}

/// One entry of the table.
#[repr(C)]
pub(super) struct Step {
    /// Where the addresses of its [`Record`]s are.
    pub calls: u64,
    pub count: u64,
    /// Ticks, when it is done.
    pub sum: u64,
}

/// A call to be made.
#[repr(C)]
pub(super) struct Record {
    /// Where its [`Copy`]s are.
    pub copies: u64,
    pub count: u64,
    pub entry: u64,
    pub repeats: u64,
    /// 0: no vector registers, 1: their low halves, 2: all of them.
    pub loads: u64,
    /// Is there a result on the x87 stack, which must not fill up?
    pub pops: u64,
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8–r15; only the caller's ones are loaded.
    pub general: [u64; 16],
    pub vectors: [[u64; 4]; 8],
}

/// Bytes to be copied before a call.
#[repr(C)]
pub(super) struct Copy {
    pub to: u64,
    pub from: u64,
    pub length: u64,
}

std::arch::global_asm!(
    ".pushsection .text.lockstep_timing,\"ax\",@progbits",
    ".globl lockstep_timing_begin",
    ".hidden lockstep_timing_begin",
    ".globl lockstep_timing_end",
    ".hidden lockstep_timing_end",
    "lockstep_timing_begin:",
    // The next step.
    "20:",
    "mov rbx, [rip + lockstep_timing_begin + {step}]",
    "cmp rbx, [rip + lockstep_timing_begin + {end}]",
    "je 29f",
    "mov rax, [rbx + {step_calls}]",
    "mov [rip + lockstep_timing_begin + {call}], rax",
    "mov rax, [rbx + {step_count}]",
    "mov [rip + lockstep_timing_begin + {calls_left}], rax",
    // The next call: its memory.
    "21:",
    "cld",
    "mov rax, [rip + lockstep_timing_begin + {call}]",
    "mov r12, [rax]",
    "mov [rip + lockstep_timing_begin + {record}], r12",
    "mov r14, [r12 + {copies}]",
    "mov r15, [r12 + {count}]",
    "22:",
    "test r15, r15",
    "je 23f",
    "mov rdi, [r14 + {to}]",
    "mov rsi, [r14 + {from}]",
    "mov rcx, [r14 + {length}]",
    "rep movsb",
    "add r14, {copy_size}",
    "dec r15",
    "jmp 22b",
    "23:",
    "mov rax, [r12 + {repeats}]",
    "mov [rip + lockstep_timing_begin + {repeats_left}], rax",
    "mov rax, [r12 + {entry}]",
    "mov [rip + lockstep_timing_begin + {target}], rax",
    // Intel SDM vol. 2B, RDTSC: nothing before it is left, nothing behind it has begun.
    "lfence",
    "rdtsc",
    "lfence",
    "shl rdx, 32",
    "or rax, rdx",
    "mov [rip + lockstep_timing_begin + {begin}], rax",
    // Once more.
    "24:",
    "mov r11, [rip + lockstep_timing_begin + {record}]",
    "cmp qword ptr [r11 + {loads}], 1",
    "jb 27f",
    "je 26f",
    "vmovups ymm0, [r11 + {vectors}]",
    "vmovups ymm1, [r11 + {vectors} + 32]",
    "vmovups ymm2, [r11 + {vectors} + 64]",
    "vmovups ymm3, [r11 + {vectors} + 96]",
    "vmovups ymm4, [r11 + {vectors} + 128]",
    "vmovups ymm5, [r11 + {vectors} + 160]",
    "vmovups ymm6, [r11 + {vectors} + 192]",
    "vmovups ymm7, [r11 + {vectors} + 224]",
    "jmp 27f",
    "26:",
    "movups xmm0, [r11 + {vectors}]",
    "movups xmm1, [r11 + {vectors} + 32]",
    "movups xmm2, [r11 + {vectors} + 64]",
    "movups xmm3, [r11 + {vectors} + 96]",
    "movups xmm4, [r11 + {vectors} + 128]",
    "movups xmm5, [r11 + {vectors} + 160]",
    "movups xmm6, [r11 + {vectors} + 192]",
    "movups xmm7, [r11 + {vectors} + 224]",
    "27:",
    "mov rax, [r11 + {general}]",
    "mov rcx, [r11 + {general} + 8]",
    "mov rdx, [r11 + {general} + 16]",
    "mov rsp, [r11 + {general} + 32]",
    "mov rsi, [r11 + {general} + 48]",
    "mov rdi, [r11 + {general} + 56]",
    "mov r8, [r11 + {general} + 64]",
    "mov r9, [r11 + {general} + 72]",
    "mov r10, [r11 + {general} + 80]",
    "call [rip + lockstep_timing_begin + {target}]",
    "mov r11, [rip + lockstep_timing_begin + {record}]",
    "cmp qword ptr [r11 + {pops}], 0",
    "je 28f",
    "fstp st(0)",
    "28:",
    "dec qword ptr [rip + lockstep_timing_begin + {repeats_left}]",
    "jne 24b",
    "lfence",
    "rdtsc",
    "lfence",
    "shl rdx, 32",
    "or rax, rdx",
    "sub rax, [rip + lockstep_timing_begin + {begin}]",
    "mov rbx, [rip + lockstep_timing_begin + {step}]",
    "add [rbx + {sum}], rax",
    "add qword ptr [rip + lockstep_timing_begin + {call}], 8",
    "dec qword ptr [rip + lockstep_timing_begin + {calls_left}]",
    "jne 21b",
    "add rbx, {step_size}",
    "mov [rip + lockstep_timing_begin + {step}], rbx",
    "jmp 20b",
    "29:",
    "int3",
    "lockstep_timing_end:",
    ".popsection",
    step = const DATA as usize + offset_of!(Control, step),
    end = const DATA as usize + offset_of!(Control, end),
    call = const DATA as usize + offset_of!(Control, call),
    calls_left = const DATA as usize + offset_of!(Control, calls_left),
    record = const DATA as usize + offset_of!(Control, record),
    target = const DATA as usize + offset_of!(Control, target),
    repeats_left = const DATA as usize + offset_of!(Control, repeats_left),
    begin = const DATA as usize + offset_of!(Control, begin),
    step_calls = const offset_of!(Step, calls),
    step_count = const offset_of!(Step, count),
    sum = const offset_of!(Step, sum),
    step_size = const size_of::<Step>(),
    copies = const offset_of!(Record, copies),
    count = const offset_of!(Record, count),
    entry = const offset_of!(Record, entry),
    repeats = const offset_of!(Record, repeats),
    loads = const offset_of!(Record, loads),
    pops = const offset_of!(Record, pops),
    general = const offset_of!(Record, general),
    vectors = const offset_of!(Record, vectors),
    to = const offset_of!(Copy, to),
    from = const offset_of!(Copy, from),
    length = const offset_of!(Copy, length),
    copy_size = const size_of::<Copy>(),
);

unsafe extern "C" {
    static lockstep_timing_begin: u8;
    static lockstep_timing_end: u8;
}

/// The driver's code, for any place.
pub(super) fn code() -> Vec<u8> {
    // SAFETY: both symbols bound the code above, which is read as bytes; it is never executed here.
    let code = unsafe {
        let (begin, end) = (&raw const lockstep_timing_begin, &raw const lockstep_timing_end);
        std::slice::from_raw_parts(begin, end.addr() - begin.addr())
    };
    assert!(code.len() as u64 <= DATA, "the driver overlaps its data");
    code.to_vec()
}

/// A structure of words as bytes.
pub(super) trait Words {
    fn words(&self, out: &mut Vec<u64>);
}

impl Words for Control {
    fn words(&self, out: &mut Vec<u64>) {
        let Control { step, end, call, calls_left, record, target, repeats_left, begin } = *self;
        out.extend([step, end, call, calls_left, record, target, repeats_left, begin]);
    }
}

impl Words for Step {
    fn words(&self, out: &mut Vec<u64>) {
        out.extend([self.calls, self.count, self.sum]);
    }
}

impl Words for Copy {
    fn words(&self, out: &mut Vec<u64>) {
        out.extend([self.to, self.from, self.length]);
    }
}

impl Words for Record {
    fn words(&self, out: &mut Vec<u64>) {
        out.extend([self.copies, self.count, self.entry, self.repeats, self.loads, self.pops]);
        out.extend(self.general);
        out.extend(self.vectors.iter().flatten());
    }
}

impl Control {
    pub fn new(step: u64, end: u64) -> Control {
        Control { step, end, call: 0, calls_left: 0, record: 0, target: 0, repeats_left: 0, begin: 0 }
    }
}
