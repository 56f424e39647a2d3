//! The memory that we share with the child.
//!
//! One mapping: trampoline, snippet, control block, signal stack, then as many records as were asked for. It lies
//! at the same address in both processes. We only touch it while the child waits, so there are no races: the
//! pipes order the accesses.

use crate::state::{NativeError, State};
use std::ptr::NonNull;

pub(crate) const PAGE: usize = 4096;
/// Room for the trampoline.
pub(crate) const TRAMPOLINE: usize = 0;
/// Room for the snippet.
pub(crate) const SNIPPET: usize = PAGE;
pub(crate) const SNIPPET_SIZE: usize = PAGE;
pub(crate) const CONTROL: usize = 2 * PAGE;
pub(crate) const SIGNAL_STACK: usize = 3 * PAGE;
pub(crate) const SIGNAL_STACK_SIZE: usize = 32 * PAGE;
const RECORDS: usize = SIGNAL_STACK + SIGNAL_STACK_SIZE;

/// Values that trampoline, child and parent exchange. The trampoline knows the offsets.
#[repr(C)]
pub(crate) struct Control {
    /// State to be loaded, then the state that was saved.
    pub state: State,
    /// Stack pointer of the child while the code under test runs.
    pub host_stack: u64,
    /// Where the trampoline jumps.
    pub entry: u64,
    /// Where the code under test goes when it is done.
    pub finish: u64,
    /// Where the signal handler goes.
    pub abort: u64,
    /// MXCSR for the code under test.
    pub mxcsr: u64,
    /// Signal that ended the run; 0 if none.
    pub signal: u64,
    /// Address that came with it.
    pub fault_address: u64,
    /// Number of records to be run, and how many are done.
    pub count: u64,
    pub done: u64,
}

/// Start and end of one run. The scratch memory's content follows each record.
#[repr(C)]
pub(crate) struct Record {
    pub state: State,
    /// Signal that ended the run; 0 if none.
    pub signal: u64,
    pub fault_address: u64,
    padding: [u64; 2],
}

/// The shared mapping.
pub(crate) struct Region {
    base: NonNull<u8>,
    length: usize,
    /// Bytes of a record with its memory.
    stride: usize,
    memory: usize,
    capacity: usize,
}

impl Region {
    /// Maps a region for `capacity` records with `memory` bytes of scratch memory each.
    pub fn new(capacity: usize, memory: usize) -> Result<Region, NativeError> {
        let stride = (size_of::<Record>() + memory).next_multiple_of(64);
        let length = (RECORDS + capacity * stride).next_multiple_of(PAGE);
        // SAFETY: a new anonymous mapping at an address of the kernel's choice; no existing memory is affected.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if base == libc::MAP_FAILED {
            return Err(NativeError::last("map shared memory"));
        }
        let base = NonNull::new(base.cast()).ok_or(NativeError::TooLarge)?;
        Ok(Region { base, length, stride, memory, capacity })
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Address of an offset, as the code under test sees it.
    pub fn address(&self, offset: usize) -> u64 {
        self.base.as_ptr() as u64 + offset as u64
    }

    pub fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Copies bytes into the region.
    pub fn write(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= self.length, "write outside the region");
        // SAFETY: the range was just checked to lie in the mapping, which is writable and ours alone while the
        // child waits; `bytes` is a Rust slice and cannot overlap it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr().add(offset), bytes.len()) }
    }

    pub fn control(&mut self) -> &mut Control {
        // SAFETY: CONTROL is page-aligned and inside the mapping; every bit pattern is a valid `Control`; the
        // borrow of `self` keeps other references away, and the child waits.
        unsafe { &mut *self.base.as_ptr().add(CONTROL).cast::<Control>() }
    }

    /// A record and its memory.
    pub fn record(&mut self, i: usize) -> (&mut Record, &mut [u8]) {
        assert!(i < self.capacity, "record {i} of {}", self.capacity);
        let offset = RECORDS + i * self.stride;
        // SAFETY: `new` made room for `capacity` records of `stride` bytes (a multiple of 64, so aligned), the
        // record first and `memory` bytes after it; every bit pattern is valid; the two references do not
        // overlap, and the borrow of `self` keeps others away while the child waits.
        unsafe {
            let record = self.base.as_ptr().add(offset);
            let memory = std::slice::from_raw_parts_mut(record.add(size_of::<Record>()), self.memory);
            (&mut *record.cast::<Record>(), memory)
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; all references into it borrow `self` and are gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}
