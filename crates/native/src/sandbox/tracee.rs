//! A process that we trace: it runs only when we let it.
//!
//! All requests must come from the thread that started it, so the type cannot be sent to another.

use super::Limits;
use super::processor::{self, Extended, Processor};
use crate::state::{NativeError, Signal};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::time::{Duration, Instant};

/// A living tracee; killed when dropped.
pub(super) struct Tracee {
    process: libc::pid_t,
    /// Has its end been seen? Then its number may be another process's.
    gone: Cell<bool>,
    /// The vector registers as the system kernel has them, for their size.
    extended: RefCell<Option<Extended>>,
    /// Requests are bound to this thread.
    thread: PhantomData<*const ()>,
}

/// Why it stands.
pub(super) enum Event {
    /// A signal of the processor, and the address that came with it.
    Stopped(Signal, u64),
    /// We stopped it.
    OutOfTime,
}

/// Processor time between two signals of the timer that the stub sets.
pub(super) const TICK: Duration = Duration::from_millis(10);

impl Tracee {
    /// Takes over a process that has asked for it and is about to execute its program.
    pub fn new(process: libc::pid_t) -> Result<Tracee, NativeError> {
        let tracee = Tracee { process, gone: Cell::new(false), extended: RefCell::default(), thread: PhantomData };
        match tracee.wait(Limits { processor: Duration::from_secs(1), clock: Duration::from_secs(10) })? {
            Event::Stopped(Signal::Trap, _) => {}
            _ => return Err(NativeError::Unavailable("the system does not let a process be traced")),
        }
        let options = libc::PTRACE_O_EXITKILL;
        // SAFETY: a request with plain numbers about our tracee, which stands.
        if unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, process, 0, options) } != 0 {
            return Err(NativeError::last("trace a process"));
        }
        Ok(tracee)
    }

    /// Lets it run until something happens.
    pub fn resume(&mut self, limits: Limits) -> Result<Event, NativeError> {
        // SAFETY: a request with plain numbers about our tracee, which stands. No signal is delivered.
        if unsafe { libc::ptrace(libc::PTRACE_CONT, self.process, 0, 0) } != 0 {
            return Err(NativeError::last("let a process run"));
        }
        self.wait(limits)
    }

    /// Waits until it stands. It stands at every tick of its timer, too, which counts its own processor time: so we wake up, however
    /// long it runs, and need not look in between.
    fn wait(&self, limits: Limits) -> Result<Event, NativeError> {
        let begin = Instant::now();
        let mut ticks = 0;
        loop {
            let mut status = 0;
            // SAFETY: `status` is a place for one number.
            let changed = unsafe { libc::waitpid(self.process, &mut status, libc::__WALL) };
            if changed < 0 && std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            if changed != self.process || !libc::WIFSTOPPED(status) {
                self.gone.set(true);
                return Err(NativeError::Killed);
            }
            match (libc::WSTOPSIG(status), Signal::of_number(libc::WSTOPSIG(status) as u64)) {
                (_, Some(signal)) => return Ok(Event::Stopped(signal, self.fault_address())),
                (libc::SIGPROF, _) => {
                    ticks += 1;
                    if TICK * ticks > limits.processor {
                        return Ok(Event::OutOfTime);
                    }
                    if begin.elapsed() > limits.clock {
                        return Err(NativeError::Busy);
                    }
                    self.go_on()?;
                }
                // A signal from elsewhere: not for the code.
                (_, None) => self.go_on()?,
            }
        }
    }

    fn go_on(&self) -> Result<(), NativeError> {
        // SAFETY: as in `resume`.
        match unsafe { libc::ptrace(libc::PTRACE_CONT, self.process, 0, 0) } {
            0 => Ok(()),
            _ => Err(NativeError::last("let a process run")),
        }
    }

    fn fault_address(&self) -> u64 {
        // SAFETY: `siginfo_t` is plain data and as large as the request fills; `si_addr` is there for the processor's signals, and
        // otherwise any number will do.
        unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            match libc::ptrace(libc::PTRACE_GETSIGINFO, self.process, 0, std::ptr::from_mut(&mut info)) {
                0 => info.si_addr() as u64,
                _ => 0,
            }
        }
    }

    /// Its number, for tests that look at it from outside.
    #[cfg(test)]
    pub fn process(&self) -> libc::pid_t {
        self.process
    }

    pub fn processor(&self) -> Result<Processor, NativeError> {
        let (registers, extended) = processor::get(self.process)?;
        Ok(processor::decode(&registers, &extended))
    }

    pub fn set_processor(&self, to: &Processor) -> Result<(), NativeError> {
        let mut known = self.extended.borrow_mut();
        let extended = match &mut *known {
            Some(extended) => extended,
            None => known.insert(processor::get(self.process)?.1),
        };
        let registers = processor::encode(to, extended);
        processor::set(self.process, &registers, extended)
    }

    pub fn write(&self, address: u64, bytes: &[u8]) -> Result<(), NativeError> {
        let local = libc::iovec { iov_base: bytes.as_ptr() as *mut _, iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
        // SAFETY: the local vector is only read from; the remote one is checked by the system kernel.
        let done = unsafe { libc::process_vm_writev(self.process, &local, 1, &remote, 1, 0) };
        if done == bytes.len() as isize { Ok(()) } else { Err(NativeError::last("write memory")) }
    }

    pub fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), NativeError> {
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
        // SAFETY: the local vector is ours and as long as it says; the remote one is checked by the system kernel.
        let done = unsafe { libc::process_vm_readv(self.process, &local, 1, &remote, 1, 0) };
        if done == bytes.len() as isize { Ok(()) } else { Err(NativeError::last("read memory")) }
    }
}

impl Drop for Tracee {
    fn drop(&mut self) {
        if self.gone.get() {
            return;
        }
        // SAFETY: kills and reaps our own child, which has not been reaped yet, so that its number is still its own.
        unsafe {
            libc::kill(self.process, libc::SIGKILL);
            let mut status = 0;
            while libc::waitpid(self.process, &mut status, libc::__WALL) == self.process && libc::WIFSTOPPED(status) {}
        }
    }
}
