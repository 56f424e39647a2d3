//! A process that we trace: it runs only when we let it.
//!
//! All requests must come from the thread that started it, so the type cannot be sent to another.

use super::Limits;
use super::processor::{self, Extended, Processor};
use crate::state::{NativeError, Signal};
use std::cell::{Cell, OnceCell, RefCell};
use std::fs::File;
use std::marker::PhantomData;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// A living tracee; killed when dropped.
pub(super) struct Tracee {
    process: libc::pid_t,
    /// Has its end been seen? Then its number may be another process's.
    gone: Cell<bool>,
    /// The vector registers as the system kernel has them, for their size.
    extended: RefCell<Option<Extended>>,
    /// What the system kernel says about its pages.
    pages: OnceCell<File>,
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
/// Pieces of memory that the system kernel takes at once.
const MOST_PIECES: usize = 1024;
const PAGE: u64 = 4096;

impl Tracee {
    /// Takes over a process that has asked for it and is about to execute its program.
    pub fn new(process: libc::pid_t) -> Result<Tracee, NativeError> {
        let (gone, extended, pages) = (Cell::new(false), RefCell::default(), OnceCell::new());
        let tracee = Tracee { process, gone, extended, pages, thread: PhantomData };
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
                (_, Some(Signal::Trap)) => return Ok(Event::Stopped(Signal::Trap, 0)),
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

    /// Which of so many pages from an address on are its own: no longer those of the file that it was started from.
    pub fn own_pages(&self, address: u64, count: usize) -> Result<Vec<u64>, NativeError> {
        /// Present or in the swap; still the file's (proc_pid_pagemap(5)).
        const THERE: u64 = 3 << 62;
        const OF_FILE: u64 = 1 << 61;
        let failed = |error| NativeError::System { what: "look at pages", error };
        let pages = match self.pages.get() {
            Some(pages) => pages,
            None => {
                let file = File::open(format!("/proc/{}/pagemap", self.process)).map_err(failed)?;
                self.pages.get_or_init(|| file)
            }
        };
        let mut bytes = vec![0; 8 * count];
        pages.read_exact_at(&mut bytes, address / PAGE * 8).map_err(failed)?;
        let entries = bytes.as_chunks::<8>().0.iter().map(|entry| u64::from_le_bytes(*entry));
        let own = |(_, entry): &(u64, u64)| entry & THERE != 0 && entry & OF_FILE == 0;
        Ok((address / PAGE * PAGE..).step_by(PAGE as usize).zip(entries).filter(own).map(|(at, _)| at).collect())
    }

    /// Its number, for tests that look at it from outside.
    #[cfg(test)]
    pub fn process(&self) -> libc::pid_t {
        self.process
    }

    pub fn processor(&self) -> Result<Processor, NativeError> {
        let registers = processor::general(self.process)?;
        Ok(processor::decode(&registers, &processor::extended(self.process, processor::DECODED)?))
    }

    /// Is the processor's note set that an operand was denormal?
    pub fn met_denormal(&self) -> Result<bool, NativeError> {
        Ok(processor::extended(self.process, processor::DECODED)?.met_denormal())
    }

    pub fn set_processor(&self, to: &Processor) -> Result<(), NativeError> {
        let mut known = self.extended.borrow_mut();
        let extended = match &mut *known {
            Some(extended) => extended,
            None => known.insert(processor::extended(self.process, processor::WHOLE)?),
        };
        let registers = processor::encode(to, extended);
        processor::set(self.process, &registers, extended)
    }

    pub fn write(&self, pieces: &[(u64, &[u8])]) -> Result<(), NativeError> {
        for pieces in pieces.chunks(MOST_PIECES) {
            let local: Vec<_> = pieces.iter().map(|(_, bytes)| vector(bytes.as_ptr() as usize, bytes.len())).collect();
            let remote: Vec<_> = pieces.iter().map(|(address, bytes)| vector(*address as usize, bytes.len())).collect();
            let count = pieces.len() as libc::c_ulong;
            // SAFETY: the local vectors are only read from; the remote ones are checked by the system kernel.
            let done =
                unsafe { libc::process_vm_writev(self.process, local.as_ptr(), count, remote.as_ptr(), count, 0) };
            if done != pieces.iter().map(|(_, bytes)| bytes.len() as isize).sum() {
                return Err(NativeError::last("write memory"));
            }
        }
        Ok(())
    }

    pub fn read(&self, pieces: &mut [(u64, &mut [u8])]) -> Result<(), NativeError> {
        for pieces in pieces.chunks_mut(MOST_PIECES) {
            let remote: Vec<_> = pieces.iter().map(|(address, bytes)| vector(*address as usize, bytes.len())).collect();
            let place = |(_, bytes): &mut (u64, &mut [u8])| vector(bytes.as_mut_ptr() as usize, bytes.len());
            let local: Vec<_> = pieces.iter_mut().map(place).collect();
            let count = pieces.len() as libc::c_ulong;
            // SAFETY: the local vectors are ours alone, and as long as they say; the remote ones are checked by the system kernel.
            let done =
                unsafe { libc::process_vm_readv(self.process, local.as_ptr(), count, remote.as_ptr(), count, 0) };
            if done != pieces.iter().map(|(_, bytes)| bytes.len() as isize).sum() {
                return Err(NativeError::last("read memory"));
            }
        }
        Ok(())
    }
}

fn vector(address: usize, length: usize) -> libc::iovec {
    libc::iovec { iov_base: address as *mut libc::c_void, iov_len: length }
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
