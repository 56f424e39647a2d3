//! The program that a sandbox executes: a stub of ours and the segments, as an ELF file.
//!
//! Mapping the segments is left to the system kernel's loader: after `execve` there is nothing in the address space that we did
//! not ask for, except what the stub then unmaps. All mappings are private copies, so no process changes the file, and the next one
//! begins with the same content; an [`Image`] belongs to one sandbox at a time.

use super::Sandbox;
use super::launch;
use super::tracee::TICK;
use crate::function::Access;
use crate::state::NativeError;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A piece of a sandbox's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Where it lies; a multiple of 4096.
    pub address: u64,
    /// Its content; the rest of the last page is zero.
    pub bytes: Vec<u8>,
    /// What the code may do with it.
    pub access: Access,
}

/// A piece of a sandbox's memory that holds zeros at first and may be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zeros {
    /// Where it lies; a multiple of 4096.
    pub address: u64,
    /// Bytes.
    pub length: u64,
}

/// May the code of a sandbox read the processor's clock?
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Clock {
    /// `rdtsc` faults, where the system can do that: code of others measures nothing.
    #[default]
    Hidden,
    /// It may: for timing.
    Visible,
}

/// A file with the segments of sandboxes that are started one after the other.
#[derive(Debug)]
pub struct Image {
    file: File,
    placed: Vec<Placed>,
    /// Behind the segments: nothing is ever written there.
    hole: u64,
    clock: Clock,
}

/// A segment and where the file holds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Placed {
    address: u64,
    /// Whole pages.
    length: u64,
    /// The loader's flags.
    flags: u32,
    offset: u64,
}

const PAGE: u64 = 4096;
/// Where the stub lies.
const STUB: u64 = 0x10_0000;
/// Room for the headers, and the stub's offset in the file.
const HEADERS: u64 = 16 * PAGE;
/// The loader takes at most 64 KiB of program headers.
const MOST_SEGMENTS: usize = 1000;
/// Most memory of all segments.
pub(super) const MOST_BYTES: u64 = 256 << 20;

/// From here on the system kernel may put things of its own, wherever it likes.
const KERNEL_PART: u64 = 0x7800_0000_0000;
/// The stub has room for so many steps.
const MOST_GAPS: usize = 6;

const HEADER_SIZE: u16 = 64;
const PROGRAM_HEADER_SIZE: u16 = 56;

impl Image {
    /// Writes the file.
    pub fn new(segments: &[Segment]) -> Result<Image, NativeError> {
        let file = launch::memory_file()?;
        let mut offset = HEADERS + PAGE;
        let mut placed = Vec::with_capacity(segments.len());
        for segment in segments.iter().filter(|s| !s.bytes.is_empty()) {
            let length = whole_pages(segment.bytes.len() as u64)?;
            let flags = match segment.access {
                Access::Read => 4,
                Access::Write => 6,
                Access::Execute => 5,
            };
            placed.push(Placed { address: segment.address, length, flags, offset });
            if offset + length > MOST_BYTES {
                return Err(NativeError::TooLarge);
            }
            // What is not written is zero, and costs nothing.
            for (at, page) in (offset..).step_by(PAGE as usize).zip(segment.bytes.chunks(PAGE as usize)) {
                if page != &[0; PAGE as usize][..page.len()] {
                    file.write_all_at(page, at).map_err(failed)?;
                }
            }
            offset += length;
        }
        Ok(Image { file, placed, hole: offset, clock: Clock::default() })
    }

    /// The same, where the code may read the clock or not.
    pub fn with_clock(self, clock: Clock) -> Image {
        Image { clock, ..self }
    }

    /// The file as a program that has these pieces beside the segments.
    pub(super) fn program(&self, zeros: &[Zeros]) -> Result<&File, NativeError> {
        let mut sorted = self.segments(zeros)?;
        sorted.sort_by_key(|s| s.address);
        let (mut end, mut total) = (Sandbox::LOWEST, HEADERS + PAGE);
        for segment in &sorted {
            let apart = segment.address.is_multiple_of(PAGE) && segment.address >= end;
            end = segment.address.checked_add(segment.length).ok_or(NativeError::TooLarge)?;
            total += segment.length;
            if !apart || end > Sandbox::HIGHEST || total > MOST_BYTES {
                return Err(NativeError::TooLarge);
            }
        }
        let stub = stub(&gaps(&sorted)?, self.clock);
        let mut headers = elf_header(sorted.len() as u16 + 2);
        headers.extend(program_header(1, 5, HEADERS, STUB, stub.len() as u64));
        for s in &sorted {
            headers.extend(program_header(1, s.flags, s.offset, s.address, s.length));
        }
        // PT_GNU_STACK: without it, data would be executable, too.
        headers.extend(program_header(0x6474_e551, 6, 0, 0, 0));
        if headers.len() as u64 > HEADERS {
            return Err(NativeError::TooLarge);
        }
        let longest = zeros.iter().map(|z| z.length).max().unwrap_or(0);
        self.file.set_len(self.hole + whole_pages(longest)?).map_err(failed)?;
        self.file.write_all_at(&headers, 0).map_err(failed)?;
        self.file.write_all_at(&stub, HEADERS).map_err(failed)?;
        Ok(&self.file)
    }

    /// Everything that is mapped. Private copies of the same hole are pieces of their own.
    fn segments(&self, zeros: &[Zeros]) -> Result<Vec<Placed>, NativeError> {
        let mut out = self.placed.clone();
        for piece in zeros.iter().filter(|z| z.length > 0) {
            let (address, length) = (piece.address, whole_pages(piece.length)?);
            out.push(Placed { address, length, flags: 6, offset: self.hole });
        }
        if out.len() > MOST_SEGMENTS { Err(NativeError::TooLarge) } else { Ok(out) }
    }

    /// What can be read and written from outside, by address: first byte and end.
    pub(super) fn extents(&self, zeros: &[Zeros]) -> Vec<(u64, u64)> {
        let placed = self.placed.iter().map(|s| (s.address, s.address + s.length));
        let zeros = zeros.iter().filter(|z| z.length > 0);
        let mut out: Vec<_> = placed.chain(zeros.map(|z| (z.address, z.address + z.length))).collect();
        out.sort_unstable();
        out
    }
}

fn failed(error: std::io::Error) -> NativeError {
    NativeError::System { what: "write a memory file", error }
}

fn whole_pages(length: u64) -> Result<u64, NativeError> {
    length.checked_next_multiple_of(PAGE).ok_or(NativeError::TooLarge)
}

/// The file header of an executable at fixed addresses.
fn elf_header(segments: u16) -> Vec<u8> {
    let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for half in [2u16, 62] {
        out.extend(half.to_le_bytes()); // ET_EXEC, EM_X86_64
    }
    out.extend(1u32.to_le_bytes());
    for word in [STUB, u64::from(HEADER_SIZE), 0] {
        out.extend(word.to_le_bytes()); // entry, program headers, no sections
    }
    out.extend(0u32.to_le_bytes());
    for half in [HEADER_SIZE, PROGRAM_HEADER_SIZE, segments, 0, 0, 0] {
        out.extend(half.to_le_bytes());
    }
    out
}

fn program_header(kind: u32, flags: u32, offset: u64, address: u64, size: u64) -> Vec<u8> {
    let mut out = Vec::with_capacity(usize::from(PROGRAM_HEADER_SIZE));
    out.extend(kind.to_le_bytes());
    out.extend(flags.to_le_bytes());
    for word in [offset, address, address, size, size, PAGE] {
        out.extend(word.to_le_bytes());
    }
    out
}

/// The system call of a number; its arguments are set.
fn system_call(out: &mut Vec<u8>, number: u32) {
    out.push(0xb8); // mov eax, number
    out.extend(number.to_le_bytes());
    out.extend([0x0f, 0x05]); // syscall
}

/// `mov r64, imm64`.
fn set(out: &mut Vec<u8>, register: [u8; 2], value: u64) {
    out.extend(register);
    out.extend(value.to_le_bytes());
}

const RDI: [u8; 2] = [0x48, 0xbf];
const RSI: [u8; 2] = [0x48, 0xbe];
const RDX: [u8; 2] = [0x48, 0xba];
const R10: [u8; 2] = [0x49, 0xba];
const R8: [u8; 2] = [0x49, 0xb8];

/// What is left of the system kernel's part of the address space between the segments that lie in it.
fn gaps(sorted: &[Placed]) -> Result<Vec<(u64, u64)>, NativeError> {
    /// The end of what a process may have.
    const END: u64 = 0x7fff_ffff_f000;
    let mut from = KERNEL_PART;
    let mut out = Vec::new();
    for segment in sorted {
        let end = segment.address.saturating_add(segment.length).max(KERNEL_PART);
        if segment.address > from {
            out.push((from, segment.address));
        }
        from = from.max(end);
    }
    out.push((from, END));
    out.retain(|(from, to)| from < to);
    if out.len() > MOST_GAPS { Err(NativeError::TooLarge) } else { Ok(out) }
}

/// Must a step of the stub succeed?
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    May,
}

/// Gives up all rights; stops with `int3`, or with `ud2` if the system refused something.
///
/// Trust: read it as if the user's files depended on it.
fn stub(gaps: &[(u64, u64)], clock: Clock) -> Vec<u8> {
    /// Where the filter lies behind the code, and the timer.
    const DATA: u64 = 0x400;
    const TIMER: u64 = 0x500;
    let mut steps: Vec<(i64, [u64; 5], Need)> =
        vec![(libc::SYS_prctl, [libc::PR_SET_NO_NEW_PRIVS as u64, 1, 0, 0, 0], Need::Must)];
    if clock == Clock::Hidden {
        // Not every system can do that.
        steps.push((libc::SYS_prctl, [libc::PR_SET_TSC as u64, libc::PR_TSC_SIGSEGV as u64, 0, 0, 0], Need::May));
    }
    steps.push((libc::SYS_close_range, [0, u64::from(u32::MAX), 0, 0, 0], Need::Must));
    // The stack, the system kernel's own code and whatever else lies up there.
    steps.extend(gaps.iter().map(|(from, to)| (libc::SYS_munmap, [*from, to - from, 0, 0, 0], Need::Must)));
    steps.extend([
        // A signal, which stops the process for us, whenever it has used so much processor time.
        (libc::SYS_setitimer, [libc::ITIMER_PROF as u64, STUB + TIMER, 0, 0, 0], Need::Must),
        (libc::SYS_seccomp, [libc::SECCOMP_SET_MODE_FILTER as u64, 0, STUB + DATA, 0, 0], Need::Must),
    ]);
    let mut out = Vec::new();
    for (number, arguments, need) in steps {
        for (register, value) in [RDI, RSI, RDX, R10, R8].into_iter().zip(arguments) {
            set(&mut out, register, value);
        }
        system_call(&mut out, number as u32);
        if need == Need::Must {
            out.extend([0x85, 0xc0, 0x74, 0x02, 0x0f, 0x0b]); // test eax, eax; jz over; ud2
        }
    }
    out.push(0xcc); // int3
    assert!(out.len() < DATA as usize, "the stub overlaps its data");
    out.resize(DATA as usize, 0xcc);
    // struct sock_fprog: one instruction.
    out.extend(1u64.to_le_bytes());
    out.extend((STUB + DATA + 16).to_le_bytes());
    // struct sock_filter: return "kill the process", whatever the system call is.
    out.extend([libc::BPF_RET as u8 | libc::BPF_K as u8, 0, 0, 0]);
    out.extend(libc::SECCOMP_RET_KILL_PROCESS.to_le_bytes());
    out.resize(TIMER as usize, 0xcc);
    // struct itimerval: interval and first time, in seconds and microseconds.
    let microseconds = TICK.as_micros() as u64;
    out.extend([0, microseconds, 0, microseconds].into_iter().flat_map(u64::to_le_bytes));
    out
}
