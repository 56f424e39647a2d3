//! The shared memory of a batch, and what the child does.
//!
//! One mapping at the same address in both processes: code, a control page, the child's signal stack, statuses, inputs,
//! results. We only touch it while the child waits; the pipes order the accesses. What we read of it is numbers at places that
//! we chose, whatever the child has made of them.

use super::PROGRAMS;
use super::driver::{self, Word};
use crate::child::{self, Mapping};
use crate::runner::Scratch;
use crate::state::{NativeError, Signal};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(super) const PAGE: usize = 4096;
const SIGNAL_STACK_SIZE: usize = 32 * PAGE;
const CONTROL: usize = driver::CODE;
const SIGNAL_STACK: usize = CONTROL + PAGE;
const SIGNALS: usize = SIGNAL_STACK + SIGNAL_STACK_SIZE;
const INPUTS: usize = SIGNALS + PROGRAMS * 8;
/// Most bytes of the whole.
const MOST: usize = 1 << 30;

/// The control page.
pub(super) type Words = [u64; 16];

/// Where the driver finds things.
pub(super) struct Layout {
    pub control: usize,
    pub inputs: usize,
    pub input_stride: usize,
    pub output_stride: usize,
}

/// The mapping.
pub(super) struct Shared {
    base: NonNull<u8>,
    length: usize,
    inputs: usize,
    words_in: usize,
    words_out: usize,
}

// SAFETY: the mapping belongs to this value alone; nothing about it is bound to a thread.
unsafe impl Send for Shared {}

impl Shared {
    pub fn new(inputs: usize, words_in: usize, words_out: usize) -> Result<Shared, NativeError> {
        let results = PROGRAMS.checked_mul(inputs).and_then(|n| n.checked_mul(8 * words_out.max(1)));
        let given = inputs.checked_mul(8 * words_in.max(1));
        let length = results.zip(given).and_then(|(a, b)| a.checked_add(b)).and_then(|n| n.checked_add(INPUTS + PAGE));
        let Some(length) = length.filter(|length| *length <= MOST) else { return Err(NativeError::TooLarge) };
        // SAFETY: a new mapping at an address of the system's choice; no memory in use is affected.
        let base = unsafe {
            let protection = libc::PROT_READ | libc::PROT_WRITE;
            libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED | libc::MAP_ANONYMOUS, -1, 0)
        };
        if base == libc::MAP_FAILED {
            return Err(NativeError::last("map shared memory"));
        }
        let base = NonNull::new(base.cast()).ok_or(NativeError::TooLarge)?;
        Ok(Shared { base, length, inputs, words_in, words_out })
    }

    pub fn layout(&self) -> Layout {
        Layout {
            control: CONTROL,
            inputs: self.inputs,
            input_stride: 8 * self.words_in,
            output_stride: 8 * self.words_out,
        }
    }

    fn address(&self, offset: usize) -> u64 {
        self.base.as_ptr() as u64 + offset as u64
    }

    fn results_at(&self) -> usize {
        INPUTS + self.inputs * 8 * self.words_in
    }

    /// Copies bytes into the part that holds code.
    pub fn write_code(&mut self, offset: usize, bytes: &[u8]) {
        assert!(offset + bytes.len() <= driver::CODE, "code outside of its part");
        // SAFETY: the range was just checked to lie in the mapping, which is writable and ours alone while the child waits; a
        // Rust slice cannot overlap it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr().add(offset), bytes.len()) }
    }

    /// Words of the mapping.
    fn words(&self, offset: usize, count: usize) -> &[u64] {
        assert!(offset.is_multiple_of(8) && offset + 8 * count <= self.length, "words outside of the mapping");
        // SAFETY: the range was just checked, the base is page-aligned, every bit pattern is a number, and the child
        // waits while we hold `self`.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr().add(offset).cast(), count) }
    }

    fn words_mut(&mut self, offset: usize, count: usize) -> &mut [u64] {
        assert!(offset.is_multiple_of(8) && offset + 8 * count <= self.length, "words outside of the mapping");
        // SAFETY: as in `words`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.base.as_ptr().add(offset).cast(), count) }
    }

    pub fn set_input(&mut self, number: usize, words: &[u64]) {
        let count = self.words_in;
        self.words_mut(INPUTS + number * 8 * count, count).copy_from_slice(words);
    }

    /// Prepares the run of the programs from `first` on.
    pub fn begin(&mut self, first: usize, count: usize) {
        let inputs = self.inputs as u64;
        let (program, input) = (self.address(driver::program_offset(first)), self.address(INPUTS));
        let output = self.address(self.results_at() + first * self.inputs * 8 * self.words_out);
        self.words_mut(SIGNALS, PROGRAMS)[first..].fill(0);
        let words: &mut Words = self.words_mut(CONTROL, 16).try_into().expect("sixteen words");
        *Word::Program.of(words) = program;
        *Word::Input.of(words) = input;
        *Word::Output.of(words) = output;
        *Word::InputsLeft.of(words) = inputs;
        *Word::Done.of(words) = first as u64;
        *Word::Count.of(words) = count as u64;
    }

    /// Number of programs that are done.
    pub fn done(&self) -> usize {
        usize::try_from(self.words(CONTROL, 16)[Word::Done as usize]).unwrap_or(0)
    }

    /// The signal that ended a program.
    pub fn signal(&self, program: usize) -> Option<Signal> {
        Signal::of_number(self.words(SIGNALS, PROGRAMS)[program])
    }

    pub fn results(&self, program: usize) -> &[u64] {
        assert!(program < PROGRAMS, "no such program");
        let count = self.inputs * self.words_out;
        self.words(self.results_at() + program * 8 * count, count)
    }

    pub fn result(&self, program: usize, input: usize) -> &[u64] {
        &self.results(program)[input * self.words_out..][..self.words_out]
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made; references into it borrow `self` and are gone.
        unsafe { libc::munmap(self.base.as_ptr().cast(), self.length) };
    }
}

/// Base of the mapping, and where programs that fault go on. Only set in the child.
static BASE: AtomicUsize = AtomicUsize::new(0);
static ABORT: AtomicUsize = AtomicUsize::new(0);

/// Notes the signal and goes on with the next program.
extern "C" fn on_fault(signal: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let (base, abort) = (BASE.load(Ordering::SeqCst), ABORT.load(Ordering::SeqCst));
    // SAFETY: `base` is the mapping, to which nothing else refers while programs run; the index is bounded; the kernel passes
    // a valid `ucontext_t` to an SA_SIGINFO handler.
    unsafe {
        let done = *((base + CONTROL) as *const u64).add(Word::Done as usize);
        let signals = (base + SIGNALS) as *mut u64;
        *signals.add((done as usize).min(PROGRAMS - 1)) = signal as u64;
        let registers = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = abort as i64;
        // Clear the trap, direction and alignment-check flags that the program may have set.
        registers[libc::REG_EFL as usize] &= !(0x100 | 0x400 | 0x40000);
    }
}

/// The child: runs a batch for every byte that it reads, and answers with one.
pub(super) fn serve(
    shared: &Shared,
    (entry, abort): (usize, usize),
    memory: Option<Scratch>,
    (requests, answers): (libc::c_int, libc::c_int),
) -> ! {
    let base = shared.base.as_ptr();
    BASE.store(base as usize, Ordering::SeqCst);
    ABORT.store(base as usize + abort, Ordering::SeqCst);
    if let Some(scratch) = memory {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let mapping = Mapping { address: scratch.address, length: scratch.length, protection, file: None };
        if !child::map(&mapping) {
            child::leave(1);
        }
    }
    // SAFETY: a plain value; we end with our parent, even if the code never returns.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
    let stack = base.wrapping_add(SIGNAL_STACK);
    if !child::confine_code(base, driver::CODE, (stack, SIGNAL_STACK_SIZE), on_fault) {
        child::leave(1);
    }
    let code = base.wrapping_add(entry).cast_const().cast::<()>();
    let mut byte = [0u8];
    loop {
        // SAFETY: reads one byte into a buffer of one byte.
        if unsafe { libc::read(requests, byte.as_mut_ptr().cast(), 1) } != 1 {
            child::leave(0);
        }
        // The parent wrote new code: serialise before executing it.
        std::arch::x86_64::__cpuid(0);
        // SAFETY: the driver is executable code at the start of the mapping and follows the C calling convention: it keeps the
        // registers that a callee keeps on the stack and restores them. What programs do to memory stays in this process.
        unsafe {
            let run: extern "C" fn() = std::mem::transmute(code);
            run();
        }
        // SAFETY: writes one byte from a buffer of one byte.
        if unsafe { libc::write(answers, byte.as_ptr().cast(), 1) } != 1 {
            child::leave(0);
        }
    }
}
