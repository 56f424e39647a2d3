//! The registers of a process that stands, and how the system kernel hands them over.

use crate::state::NativeError;
use std::ptr;

/// Registers of the code in a sandbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Processor {
    /// rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8–r15.
    pub general: [u64; 16],
    /// Address of the next instruction.
    pub rip: u64,
    /// Base of the thread-local storage.
    pub fs_base: u64,
    /// The flags register; only CF, PF, AF, ZF, SF, DF and OF are set.
    pub flags: u64,
    /// ymm0–ymm15 as words, least significant first; only the low half without AVX.
    pub vectors: Vectors,
    /// The top of the x87 stack: 80 bits, and whether there is anything.
    pub x87: Option<[u8; 10]>,
}

/// The vector registers as words, least significant first.
pub type Vectors = [[u64; 4]; 16];

const FLAGS: u64 = crate::State::FLAGS;
/// Note type of the extended state.
const NT_X86_XSTATE: libc::c_int = 0x202;
/// Offsets in the extended state (Intel SDM vol. 1, 13.4): control word, tag byte, x87 registers, xmm, header, upper halves.
const CONTROL_WORD: usize = 0;
const STATUS_WORD: usize = 2;
const TAGS: usize = 4;
const MXCSR: usize = 24;
const X87: usize = 32;
const XMM: usize = 160;
const PRESENT: usize = 512;
const UPPER: usize = 576;
/// Components: x87, SSE, AVX.
const AVX: u64 = 4;

/// The extended state as bytes.
pub(crate) struct Extended {
    bytes: Vec<u8>,
}

/// Bytes of the extended state that [`decode`] looks at, and most that there are.
pub(crate) const DECODED: usize = UPPER + 256;
pub(crate) const WHOLE: usize = 16 << 10;

pub(crate) fn general(process: libc::pid_t) -> Result<libc::user_regs_struct, NativeError> {
    // SAFETY: the process is our tracee and stands; `user_regs_struct` is plain data and as large as the request fills.
    unsafe {
        let mut registers: libc::user_regs_struct = std::mem::zeroed();
        if libc::ptrace(libc::PTRACE_GETREGS, process, 0, ptr::from_mut(&mut registers)) != 0 {
            return Err(NativeError::last("read registers"));
        }
        Ok(registers)
    }
}

/// The extended state, at most so many bytes of it.
pub(crate) fn extended(process: libc::pid_t, most: usize) -> Result<Extended, NativeError> {
    let mut bytes = vec![0u8; most];
    let mut vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: the process is our tracee and stands; the vector holds as many bytes as its `iovec` says.
    if unsafe { libc::ptrace(libc::PTRACE_GETREGSET, process, NT_X86_XSTATE, ptr::from_mut(&mut vector)) } != 0 {
        return Err(NativeError::last("read vector registers"));
    }
    bytes.truncate(vector.iov_len);
    if bytes.len() < UPPER {
        return Err(NativeError::Unavailable("the system does not show vector registers"));
    }
    Ok(Extended { bytes })
}

pub(crate) fn set(
    process: libc::pid_t,
    registers: &libc::user_regs_struct,
    extended: &mut Extended,
) -> Result<(), NativeError> {
    // SAFETY: the process is our tracee and stands; both structures are as large as the requests read.
    unsafe {
        if libc::ptrace(libc::PTRACE_SETREGS, process, 0, ptr::from_ref(registers)) != 0 {
            return Err(NativeError::last("set registers"));
        }
        let bytes = &mut extended.bytes;
        let mut vector = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        if libc::ptrace(libc::PTRACE_SETREGSET, process, NT_X86_XSTATE, ptr::from_mut(&mut vector)) != 0 {
            return Err(NativeError::last("set vector registers"));
        }
    }
    Ok(())
}

impl Extended {
    fn word(&self, at: usize) -> u64 {
        self.bytes.get(at..at + 8).map_or(0, |b| b.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
    }

    fn set_word(&mut self, at: usize, value: u64) {
        if let Some(bytes) = self.bytes.get_mut(at..at + 8) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Intel SDM vol. 1, 10.2.3: bit 1 of MXCSR stays set once an operand was denormal.
    pub fn met_denormal(&self) -> bool {
        self.bytes[MXCSR] & 2 != 0
    }

    fn has_upper(&self) -> bool {
        self.bytes.len() >= UPPER + 256
    }
}

/// What the system kernel said as a [`Processor`].
pub(crate) fn decode(r: &libc::user_regs_struct, extended: &Extended) -> Processor {
    let general =
        [r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15];
    // A component that is in its initial state is not written.
    let upper = extended.has_upper() && extended.word(PRESENT) & AVX != 0;
    let lower = extended.word(PRESENT) & 2 != 0;
    let mut vectors = [[0; 4]; 16];
    for (i, vector) in vectors.iter_mut().enumerate() {
        for half in 0..2 {
            vector[half] = if lower { extended.word(XMM + 16 * i + 8 * half) } else { 0 };
            vector[2 + half] = if upper { extended.word(UPPER + 16 * i + 8 * half) } else { 0 };
        }
    }
    let top = usize::from(extended.bytes[STATUS_WORD + 1] >> 3 & 7);
    let used = extended.word(PRESENT) & 1 != 0 && extended.bytes[TAGS] >> top & 1 != 0;
    let x87 = used.then(|| std::array::from_fn(|i| extended.bytes[X87 + i]));
    Processor { general, rip: r.rip, fs_base: r.fs_base, flags: r.eflags & FLAGS, vectors, x87 }
}

/// The same in the other direction; everything else gets its default, so that no run sees what another left.
pub(crate) fn encode(processor: &Processor, extended: &mut Extended) -> libc::user_regs_struct {
    // SAFETY: plain numbers, for which zero is a value.
    let mut r: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    let g = &processor.general;
    (r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi) = (g[0], g[1], g[2], g[3], g[4], g[5], g[6], g[7]);
    (r.r8, r.r9, r.r10, r.r11, r.r12, r.r13, r.r14, r.r15) = (g[8], g[9], g[10], g[11], g[12], g[13], g[14], g[15]);
    r.rip = processor.rip;
    r.eflags = processor.flags & FLAGS | 0x202;
    // Not in a system call that could be begun again.
    r.orig_rax = u64::MAX;
    // The code may have changed these: 64-bit code, flat segments.
    (r.cs, r.ss, r.ds, r.es, r.fs, r.gs) = (0x33, 0x2b, 0, 0, 0, 0);
    (r.fs_base, r.gs_base) = (processor.fs_base, 0);
    extended.bytes[..PRESENT].fill(0);
    let upper = extended.has_upper();
    let most = if upper { UPPER + 256 } else { UPPER };
    extended.bytes[UPPER..most].fill(0);
    // Intel SDM vol. 1, 8.1.5 and 10.2.3: the defaults, all exceptions masked, round to nearest.
    extended.bytes[CONTROL_WORD..CONTROL_WORD + 2].copy_from_slice(&0x37fu16.to_le_bytes());
    extended.bytes[MXCSR..MXCSR + 4].copy_from_slice(&0x1f80u32.to_le_bytes());
    if let Some(x87) = processor.x87 {
        // One value: the top of the stack is register 7.
        extended.bytes[STATUS_WORD + 1] = 7 << 3;
        extended.bytes[TAGS] = 0x80;
        extended.bytes[X87..X87 + 10].copy_from_slice(&x87);
    }
    for (i, vector) in processor.vectors.iter().enumerate() {
        for half in 0..2 {
            extended.set_word(XMM + 16 * i + 8 * half, vector[half]);
            if upper {
                extended.set_word(UPPER + 16 * i + 8 * half, vector[2 + half]);
            }
        }
    }
    let present = if upper { 7 } else { 3 };
    extended.set_word(PRESENT, present);
    r
}
