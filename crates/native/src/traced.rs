//! A program of the user's that runs under our eyes: started, stopped and looked at by `ptrace`.
//!
//! Unlike a [`crate::Sandbox`] it is not confined: it is the command that the user gave, with the user's rights, and it shall run as it
//! would without us. All its threads are traced, and the processes that it forks until they are left alone. Requests must come from the
//! thread that started it, so the type cannot be sent to another.
//!
//! Trust: none. What is read here becomes start states, from which nothing is concluded.

use crate::sandbox::Processor;
use crate::sandbox::processor;
use crate::state::NativeError;
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::io;
use std::marker::PhantomData;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread of a traced program, by the system's number; that of a process is its first thread's.
pub type Thread = i32;

/// A program under our eyes. Killed when dropped before it has ended or was left alone.
pub struct Traced {
    main: Thread,
    /// All threads that we trace.
    threads: HashSet<Thread>,
    /// New ones that stand, and new ones that their maker has told us of.
    standing: HashSet<Thread>,
    announced: HashMap<Thread, (Thread, Birth)>,
    bound: PhantomData<*const ()>,
}

/// What a new thread is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Birth {
    /// A thread of the same process.
    Thread,
    /// A process with a copy of its maker's memory.
    Process,
    /// A process that uses its maker's memory until it executes a program (`vfork`).
    Guest,
}

/// How a thread ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ended {
    /// With this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
}

/// Something that happened. The thread stands until it is resumed, unless it is gone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Happened {
    /// It begins a new program: memory is new, other threads of the process are gone.
    Program(Thread),
    /// It has executed an `int3`, or was sent SIGTRAP.
    Trap(Thread),
    /// It is about to get a signal, which is to be given to [`Traced::resume`].
    Signal(Thread, i32),
    /// It was made by another thread and has not run yet. Its maker runs on already.
    Born {
        /// The new one.
        thread: Thread,
        /// Its maker.
        by: Thread,
        /// What it is.
        birth: Birth,
    },
    /// It is gone.
    Gone(Thread, Ended),
    /// We were asked to stop ([`interruptions`]).
    Interrupted,
}

/// How often we were asked to stop.
static INTERRUPTIONS: AtomicUsize = AtomicUsize::new(0);

/// The thread that waits: it must wake up, whichever thread got the signal.
static WAITING: AtomicUsize = AtomicUsize::new(0);

extern "C" fn interrupted(signal: libc::c_int) {
    let waiting = WAITING.load(Ordering::Relaxed) as libc::pthread_t;
    // SAFETY: both calls may be made in a handler (signal-safety(7)). The thread lives for as long as it is noted: `Traced` takes
    // the note away.
    unsafe {
        if waiting != 0 && libc::pthread_self() != waiting {
            libc::pthread_kill(waiting, signal);
            return;
        }
    }
    INTERRUPTIONS.fetch_add(1, Ordering::Relaxed);
}

/// From now on SIGINT and SIGTERM do not end this process but are counted.
pub fn count_interruptions() {
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only adds to an atomic number. Without SA_RESTART, so that waiting ends.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = interrupted as extern "C" fn(libc::c_int) as usize;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// How often this process was asked to stop since then.
pub fn interruptions() -> usize {
    INTERRUPTIONS.load(Ordering::Relaxed)
}

const OPTIONS: libc::c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK;
/// Offset of `rip` in the system's structure of a process, for PTRACE_POKEUSER.
const RIP: usize = std::mem::offset_of!(libc::user, regs) + std::mem::offset_of!(libc::user_regs_struct, rip);

impl Traced {
    /// Starts a command with our streams, environment and directory. It stands before its first instruction; no other process may be
    /// traced by this thread meanwhile. Addresses are not random, if the system lets us.
    pub fn start(command: &[OsString]) -> io::Result<Traced> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no command"));
        };
        let mut command = Command::new(program);
        command.args(arguments);
        // SAFETY: between fork and exec only two system calls are made, and nothing is allocated.
        unsafe {
            command.pre_exec(|| {
                libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong);
                match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                }
            });
        }
        let main = command.spawn()?.id() as Thread;
        // SAFETY: asks for a number.
        WAITING.store(unsafe { libc::pthread_self() } as usize, Ordering::Relaxed);
        let threads = HashSet::from([main]);
        let (standing, announced) = Default::default();
        let traced = Traced { main, threads, standing, announced, bound: PhantomData };
        let mut status = 0;
        // SAFETY: `status` is a place for one number; the options are a plain number.
        let ready = unsafe {
            while libc::waitpid(main, &mut status, libc::__WALL) < 0 {
                if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                    return Err(io::Error::last_os_error());
                }
            }
            libc::WIFSTOPPED(status) && libc::ptrace(libc::PTRACE_SETOPTIONS, main, 0, OPTIONS) == 0
        };
        if ready { Ok(traced) } else { Err(io::Error::other("the system does not let a program be traced")) }
    }

    /// The first process.
    pub fn main(&self) -> Thread {
        self.main
    }

    /// Is any thread left?
    pub fn is_running(&self) -> bool {
        !self.threads.is_empty()
    }

    /// Waits until something happens.
    pub fn wait(&mut self) -> Result<Happened, NativeError> {
        self.wait_for(-1)
    }

    /// The same for one thread; new threads may be told of as well.
    fn wait_for(&mut self, which: Thread) -> Result<Happened, NativeError> {
        loop {
            let mut status = 0;
            // SAFETY: `status` is a place for one number. Other threads' children are not looked at.
            let thread = unsafe { libc::waitpid(which, &mut status, libc::__WALL | libc::__WNOTHREAD) };
            if thread < 0 {
                if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted {
                    return Ok(Happened::Interrupted);
                }
                return Err(NativeError::last("wait for a program"));
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                self.threads.remove(&thread);
                let how = match libc::WIFEXITED(status) {
                    true => Ended::Status(libc::WEXITSTATUS(status)),
                    false => Ended::Signal(libc::WTERMSIG(status)),
                };
                return Ok(Happened::Gone(thread, how));
            }
            if !libc::WIFSTOPPED(status) {
                continue;
            }
            let signal = libc::WSTOPSIG(status);
            let birth = match status >> 16 {
                0 if !self.threads.contains(&thread) => {
                    self.standing.insert(thread);
                    match self.announced.remove(&thread) {
                        Some((by, birth)) => return Ok(self.born(thread, by, birth)),
                        None => continue,
                    }
                }
                0 if signal == libc::SIGTRAP => return Ok(Happened::Trap(thread)),
                0 => return Ok(Happened::Signal(thread, signal)),
                libc::PTRACE_EVENT_EXEC => return Ok(Happened::Program(thread)),
                libc::PTRACE_EVENT_CLONE => Birth::Thread,
                libc::PTRACE_EVENT_FORK => Birth::Process,
                libc::PTRACE_EVENT_VFORK => Birth::Guest,
                _ => {
                    self.resume(thread, 0);
                    continue;
                }
            };
            let child = self.event_message(thread);
            self.resume(thread, 0);
            if self.standing.contains(&child) {
                return Ok(self.born(child, thread, birth));
            }
            self.announced.insert(child, (thread, birth));
        }
    }

    fn born(&mut self, thread: Thread, by: Thread, birth: Birth) -> Happened {
        self.standing.remove(&thread);
        self.threads.insert(thread);
        Happened::Born { thread, by, birth }
    }

    fn event_message(&self, thread: Thread) -> Thread {
        let mut message: libc::c_ulong = 0;
        // SAFETY: the request fills one number; the thread is our tracee and stands.
        unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, thread, 0, std::ptr::from_mut(&mut message)) };
        message as Thread
    }

    /// Lets a thread that stands run on, with a signal or 0. One that is gone meanwhile tells so itself.
    pub fn resume(&mut self, thread: Thread, signal: i32) {
        // SAFETY: a request with plain numbers; of a thread that is not our tracee the system wants nothing to know.
        unsafe { libc::ptrace(libc::PTRACE_CONT, thread, 0, signal as libc::c_long) };
    }

    /// Has a thread that stands execute one instruction. Signals that arrive meanwhile are handed back. `Err` holds what happened
    /// instead.
    pub fn step(&mut self, thread: Thread) -> Result<Vec<i32>, Happened> {
        let mut signals = Vec::new();
        loop {
            // SAFETY: as in `resume`.
            if unsafe { libc::ptrace(libc::PTRACE_SINGLESTEP, thread, 0, 0) } != 0 {
                return Err(Happened::Interrupted);
            }
            let happened = loop {
                match self.wait_for(thread) {
                    Ok(Happened::Interrupted) => continue,
                    Ok(happened) => break happened,
                    Err(_) => return Err(Happened::Interrupted),
                }
            };
            match happened {
                Happened::Trap(_) => return Ok(signals),
                Happened::Signal(_, signal @ (libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL)) => {
                    // The instruction itself failed: stepping on would fail again.
                    signals.push(signal);
                    return Ok(signals);
                }
                Happened::Signal(_, signal) => signals.push(signal),
                other => return Err(other),
            }
        }
    }

    /// Lets a thread that stands go for good: nobody traces it any more.
    pub fn leave(&mut self, thread: Thread) {
        // SAFETY: as in `resume`.
        unsafe { libc::ptrace(libc::PTRACE_DETACH, thread, 0, 0) };
        self.threads.remove(&thread);
    }

    /// Ends everything that we trace.
    pub fn kill(&mut self) {
        for thread in &self.threads {
            // SAFETY: our own tracees, which are not reaped before `wait` has told so: their numbers are still theirs.
            unsafe { libc::kill(*thread, libc::SIGKILL) };
        }
    }

    /// The registers of a thread that stands.
    pub fn processor(&self, thread: Thread) -> Result<Processor, NativeError> {
        let registers = processor::general(thread)?;
        Ok(processor::decode(&registers, &processor::extended(thread, processor::DECODED)?))
    }

    /// Address of the next instruction of a thread that stands.
    pub fn next_instruction(&self, thread: Thread) -> Result<u64, NativeError> {
        // SAFETY: the request hands back one word of a structure of the system's; the offset is inside it. `errno` tells errors apart.
        unsafe {
            *libc::__errno_location() = 0;
            let word = libc::ptrace(libc::PTRACE_PEEKUSER, thread, RIP, 0);
            match *libc::__errno_location() {
                0 => Ok(word as u64),
                _ => Err(NativeError::last("read registers")),
            }
        }
    }

    /// Sets that address.
    pub fn set_next_instruction(&self, thread: Thread, address: u64) -> Result<(), NativeError> {
        // SAFETY: as above; the word is plain.
        match unsafe { libc::ptrace(libc::PTRACE_POKEUSER, thread, RIP, address) } {
            0 => Ok(()),
            _ => Err(NativeError::last("set registers")),
        }
    }

    /// Reads memory of a process; how many bytes are there.
    pub fn read(&self, process: Thread, address: u64, bytes: &mut [u8]) -> usize {
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes.len() };
        // SAFETY: the local vector is ours alone and as long as it says; the remote one is checked by the system.
        let done = unsafe { libc::process_vm_readv(process, &local, 1, &remote, 1, 0) };
        usize::try_from(done).unwrap_or(0)
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        WAITING.store(0, Ordering::Relaxed);
        self.kill();
        while self.is_running() {
            match self.wait() {
                Ok(Happened::Gone(..) | Happened::Interrupted) => {}
                Ok(
                    Happened::Program(thread)
                    | Happened::Trap(thread)
                    | Happened::Signal(thread, _)
                    | Happened::Born { thread, .. },
                ) => {
                    // SAFETY: as in `kill`.
                    unsafe { libc::kill(thread, libc::SIGKILL) };
                    self.resume(thread, 0);
                }
                Err(_) => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(script: &str) -> Traced {
        let command = ["/bin/sh", "-c", script].map(OsString::from);
        Traced::start(&command).unwrap()
    }

    /// Lets everything run; what happened besides.
    fn run(traced: &mut Traced) -> Vec<Happened> {
        let mut all = Vec::new();
        traced.resume(traced.main(), 0);
        while traced.is_running() {
            let happened = traced.wait().unwrap();
            match happened {
                Happened::Signal(thread, signal) => traced.resume(thread, signal),
                Happened::Trap(thread) | Happened::Program(thread) | Happened::Born { thread, .. } => {
                    traced.resume(thread, 0);
                }
                Happened::Gone(..) | Happened::Interrupted => {}
            }
            all.push(happened);
        }
        all
    }

    #[test]
    fn a_program_runs_to_its_end_and_its_status_is_told() {
        let mut traced = start("exit 7");
        let main = traced.main();
        assert_eq!(run(&mut traced).last(), Some(&Happened::Gone(main, Ended::Status(7))));
    }

    #[test]
    fn signals_reach_it() {
        let mut traced = start("trap 'exit 9' USR1; kill -USR1 $$; exit 1");
        let main = traced.main();
        let happened = run(&mut traced);
        assert!(happened.contains(&Happened::Signal(main, libc::SIGUSR1)));
        assert_eq!(happened.last(), Some(&Happened::Gone(main, Ended::Status(9))));
        let mut traced = start("kill -KILL $$");
        let main = traced.main();
        assert_eq!(run(&mut traced).last(), Some(&Happened::Gone(main, Ended::Signal(libc::SIGKILL))));
    }

    #[test]
    fn its_children_are_seen() {
        let mut traced = start("(exit 3); /bin/true; exit 4");
        let main = traced.main();
        let happened = run(&mut traced);
        let births = happened.iter().filter(|h| matches!(h, Happened::Born { .. })).count();
        assert!(births >= 2, "{happened:?}");
        assert!(happened.contains(&Happened::Gone(main, Ended::Status(4))));
    }

    #[test]
    fn registers_and_memory_can_be_read() {
        let traced = start("exit 0");
        let main = traced.main();
        let processor = traced.processor(main).unwrap();
        assert_eq!(traced.next_instruction(main).unwrap(), processor.rip);
        // argc lies at the top of the stack.
        let mut argc = [0; 8];
        assert_eq!(traced.read(main, processor.general[4], &mut argc), 8);
        assert_eq!(u64::from_le_bytes(argc), 3);
        assert_eq!(traced.read(main, 0x1000, &mut argc), 0);
    }

    #[test]
    fn what_is_dropped_is_gone() {
        let traced = start("sleep 1000");
        let main = traced.main();
        drop(traced);
        assert!(!std::path::Path::new(&format!("/proc/{main}")).exists());
    }

    #[test]
    fn a_command_that_is_not_there_is_an_error() {
        assert!(Traced::start(&[OsString::from("/no/such/program")]).is_err());
        assert!(Traced::start(&[]).is_err());
    }
}
