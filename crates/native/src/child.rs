//! What the forked child does.
//!
//! Between `fork` and its end the child only uses system calls and the shared region: no allocation, no locks, no
//! thread-local storage, since the process may have had other threads. After [`confine`] it may only read, write
//! and exit.

use crate::region::{CONTROL, Control, PAGE, Region, SIGNAL_STACK, SIGNAL_STACK_SIZE, TRAMPOLINE};
use crate::state::{Signal, State};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Processor time after which the kernel ends a child.
const CPU_SECONDS: u64 = 300;

/// Base of the region, for the signal handler. Only set in the child.
static REGION: AtomicUsize = AtomicUsize::new(0);

/// A place in the child's memory for the code under test.
#[derive(Clone, Copy)]
pub(crate) struct Mapping {
    pub address: u64,
    pub length: usize,
    pub protection: libc::c_int,
    /// File and offset of a shared mapping; private memory otherwise.
    pub file: Option<(libc::c_int, i64)>,
}

/// Ends the child at once. `exit` and not `exit_group`: the only one that seccomp's strict mode lets pass.
pub(crate) fn leave(status: i32) -> ! {
    loop {
        // SAFETY: `exit` takes a number and does not return.
        unsafe { libc::syscall(libc::SYS_exit, status) };
    }
}

/// Maps memory for the code under test at a chosen address that must be free.
pub(crate) fn map(mapping: &Mapping) -> bool {
    let (shared, fd, offset) = match mapping.file {
        Some((fd, offset)) => (libc::MAP_SHARED, fd, offset),
        None => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0),
    };
    let wanted = mapping.address as *mut libc::c_void;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping, so no memory in use is affected.
    let got = unsafe {
        libc::mmap(wanted, mapping.length, mapping.protection, shared | libc::MAP_FIXED_NOREPLACE, fd, offset)
    };
    got == wanted
}

/// Makes the code executable, catches faults, gives up all rights. False if the system refuses.
pub(crate) fn confine(region: &Region) -> bool {
    REGION.store(region.base() as usize, Ordering::SeqCst);
    let (code, stack) = (region.base().wrapping_add(TRAMPOLINE), region.base().wrapping_add(SIGNAL_STACK));
    confine_code(code, 2 * PAGE, (stack, SIGNAL_STACK_SIZE), on_fault)
}

/// A signal handler.
pub(crate) type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

/// The same for any code: `length` bytes at an address, with a stack of so many bytes for the handler.
pub(crate) fn confine_code(code: *mut u8, length: usize, stack: (*mut u8, usize), handler: Handler) -> bool {
    // SAFETY: the pages hold code only and are not written by the child; the signal stack is memory that nothing else uses; the
    // handler has the signature that SA_SIGINFO demands; zeroed `sigaction` and `stack_t` are valid and then
    // filled in; `prctl` and `setrlimit` take plain values.
    unsafe {
        if libc::mprotect(code.cast(), length, libc::PROT_READ | libc::PROT_EXEC) != 0 {
            return false;
        }
        let mut alternative: libc::stack_t = std::mem::zeroed();
        (alternative.ss_sp, alternative.ss_size) = (stack.0.cast(), stack.1);
        if libc::sigaltstack(&alternative, std::ptr::null_mut()) != 0 {
            return false;
        }
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER;
        for (_, number) in Signal::ALL {
            if libc::sigaction(number, &action, std::ptr::null_mut()) != 0 {
                return false;
            }
        }
        let limit = |seconds| libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
        libc::setrlimit(libc::RLIMIT_CORE, &limit(0));
        // Our parent kills us when it runs out of patience; this is for the case that it was killed itself.
        libc::setrlimit(libc::RLIMIT_CPU, &limit(CPU_SECONDS));
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_STRICT, 0, 0, 0) == 0
    }
}

/// Notes the signal and continues in the trampoline's abort path.
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let base = REGION.load(Ordering::SeqCst);
    // SAFETY: `base` is the region, whose control block nothing else refers to while code under test runs; the
    // kernel passes a valid `siginfo_t` and `ucontext_t` to an SA_SIGINFO handler.
    unsafe {
        let control = (base + CONTROL) as *mut Control;
        (*control).signal = signal as u64;
        (*control).fault_address = (*info).si_addr() as u64;
        let context = &mut *context.cast::<libc::ucontext_t>();
        let registers = &mut context.uc_mcontext.gregs;
        registers[libc::REG_RIP as usize] = (*control).abort as i64;
        // Clear the trap, direction and alignment-check flags that the code may have set.
        registers[libc::REG_EFL as usize] &= !(0x100 | 0x400 | 0x40000);
    }
}

/// Runs the code under test once on the state in the control block.
pub(crate) fn run_once(region: &mut Region) {
    let trampoline = region.address(TRAMPOLINE) as *const ();
    let control = region.control();
    control.signal = 0;
    control.state.flags = control.state.flags & State::FLAGS | 0x202;
    // SAFETY: the trampoline is executable code in the first page of the region that follows the C calling
    // convention: it keeps callee-saved registers on the stack and restores them on both ways out. What the code
    // under test does to the child's memory is confined to the child.
    unsafe {
        let enter: extern "C" fn() = std::mem::transmute(trampoline);
        enter();
    }
}

/// Serves batches until the parent closes the pipe: a byte in, the batch run, a byte out.
pub(crate) fn serve(region: &mut Region, scratch: &Mapping, requests: libc::c_int, answers: libc::c_int) -> ! {
    if !map(scratch) || !confine(region) {
        leave(1);
    }
    let mut byte = [0u8];
    loop {
        // SAFETY: reads one byte into a buffer of one byte.
        if unsafe { libc::read(requests, byte.as_mut_ptr().cast(), 1) } != 1 {
            leave(0);
        }
        // The parent wrote new code: serialise before executing it.
        std::arch::x86_64::__cpuid(0);
        let start = region.control().done;
        for i in start..region.control().count {
            run_record(region, i as usize, scratch);
            region.control().done = i + 1;
        }
        // SAFETY: writes one byte from a buffer of one byte.
        if unsafe { libc::write(answers, byte.as_ptr().cast(), 1) } != 1 {
            leave(0);
        }
    }
}

fn run_record(region: &mut Region, i: usize, scratch: &Mapping) {
    let (record, memory) = region.record(i);
    let (state, content) = (record.state, memory.as_ptr());
    // SAFETY: `map` made the scratch memory writable with this length, and each record has as many bytes of
    // memory; the two do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(content, scratch.address as *mut u8, memory.len()) };
    region.control().state = state;
    run_once(region);
    let control = region.control();
    let (state, signal, fault_address) = (control.state, control.signal, control.fault_address);
    let (record, memory) = region.record(i);
    (record.state, record.signal, record.fault_address) = (state, signal, fault_address);
    // SAFETY: as above, in the other direction.
    unsafe { std::ptr::copy_nonoverlapping(scratch.address as *const u8, memory.as_mut_ptr(), memory.len()) };
}
