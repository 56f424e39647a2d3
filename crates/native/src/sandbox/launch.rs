//! Starts the process of a sandbox.
//!
//! As `posix_spawn` does it: the child shares our memory only until it executes the program, while this thread waits.
//! Copying the page tables of a large process would cost more than everything else.

use super::image::MOST_BYTES;
use super::tracee::Tracee;
use crate::state::NativeError;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr;

/// Processor seconds after which the system kernel ends a sandbox, whoever watches it.
const CPU_SECONDS: u64 = 60;
/// Stack of the child before it executes the program.
const STACK: usize = 16 << 10;

/// What the child needs to know.
struct Order {
    program: libc::c_int,
    signals: libc::sigset_t,
}

/// Executes a program in a process that we trace; it stands at its first instruction.
pub(super) fn launch(file: &File) -> Result<Tracee, NativeError> {
    let mut stack = vec![0u8; STACK];
    let process = blocking_signals(|signals| {
        let order = Order { program: file.as_raw_fd(), signals: *signals };
        let top = stack.as_mut_ptr().wrapping_add(STACK - 64);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the child runs `begin` on a stack of its own, which lives until `clone` returns: CLONE_VFORK holds this thread
        // until the child has executed the program or ended. `begin` only makes system calls. The order lives as long.
        unsafe { libc::clone(begin, top.map_addr(|a| a & !15).cast(), flags, ptr::from_ref(&order) as *mut _) }
    });
    if process < 0 {
        return Err(NativeError::last("start a process"));
    }
    let tracee = Tracee::new(process)?;
    limit(process)?;
    Ok(tracee)
}

/// An empty file that has no name.
pub(super) fn memory_file() -> Result<File, NativeError> {
    // SAFETY: a NUL-terminated name and a flag; the descriptor is new and owned by the `File` from here on.
    unsafe {
        let fd = libc::memfd_create(c"lockstep".as_ptr(), libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(NativeError::last("make a memory file"));
        }
        Ok(File::from_raw_fd(fd))
    }
}

/// Calls `work` with all signals blocked, so that no handler of ours runs in a child that shares our memory; hands over the mask
/// that was in force.
fn blocking_signals(work: impl FnOnce(&libc::sigset_t) -> libc::pid_t) -> libc::pid_t {
    // SAFETY: both sets are plain data that the calls fill in; the mask is this thread's own and is restored.
    unsafe {
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        if libc::pthread_sigmask(libc::SIG_BLOCK, &all, &mut before) != 0 {
            return -1;
        }
        let process = work(&before);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
        process
    }
}

/// The child until it executes the program. Only system calls: it shares the memory of a process with threads.
extern "C" fn begin(order: *mut libc::c_void) -> libc::c_int {
    let none: [*const libc::c_char; 1] = [ptr::null()];
    let name: [*const libc::c_char; 2] = [c"lockstep".as_ptr(), ptr::null()];
    // SAFETY: `order` points to the parent's `Order`, which outlives this function; signal handlers become the default ones at
    // `execveat`, and the mask is emptied so that faults stop the program. The arguments are NUL-terminated arrays.
    unsafe {
        let order = &mut *order.cast::<Order>();
        if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) == 0 {
            // No random addresses, if the system lets us: sandboxes are all alike.
            libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
            libc::sigemptyset(&mut order.signals);
            libc::sigprocmask(libc::SIG_SETMASK, &order.signals, ptr::null_mut());
            let flags = libc::AT_EMPTY_PATH;
            libc::syscall(libc::SYS_execveat, order.program, c"".as_ptr(), name.as_ptr(), none.as_ptr(), flags);
        }
        libc::_exit(127)
    }
}

/// Limits the process, which has not run an instruction yet.
fn limit(process: libc::pid_t) -> Result<(), NativeError> {
    let limits = [
        (libc::RLIMIT_CORE, 0),
        (libc::RLIMIT_CPU, CPU_SECONDS),
        (libc::RLIMIT_AS, MOST_BYTES + (64 << 20)),
        (libc::RLIMIT_DATA, MOST_BYTES + (64 << 20)),
        (libc::RLIMIT_FSIZE, 0),
        (libc::RLIMIT_MEMLOCK, 0),
        (libc::RLIMIT_NOFILE, 0),
        (libc::RLIMIT_NPROC, 0),
    ];
    for (which, most) in limits {
        let limit = libc::rlimit64 { rlim_cur: most, rlim_max: most };
        // SAFETY: one structure in, none out.
        if unsafe { libc::prlimit64(process, which, &limit, ptr::null_mut()) } != 0 {
            return Err(NativeError::last("limit a process"));
        }
    }
    Ok(())
}
